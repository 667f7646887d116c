/* test_loader.c: batches depend on (seed, epoch, step) and on nothing else; a bad file is named and another
 * stands in for it;
 * nothing is left behind. */
#include <string.h>

#include "engine/core/error.h"
#include "engine/data/loader.h"
#include "tests/data/pictures.h"

enum { W = 48, H = 32 };

static TmDataset *demo(int train) {
  g_autoptr(GError) error = NULL;
  const TmDatasetOptions o = {
      .seed = 4, .demo_train = train, .demo_val = 3, .demo_width = 64, .demo_height = 48};
  TmDataset *d = tm_dataset_open("demo", &o, &error);
  g_assert_no_error(error);
  return d;
}

static TmLoaderOptions options(int batch, int threads) {
  TmLoaderOptions o = {
      .split = TM_SPLIT_TRAIN, .batch = batch, .shuffle = TRUE, .seed = 99, .threads = threads};
  o.augment = (TmAugment){.scale_min = 0.8f,
                          .scale_max = 1.4f,
                          .flip = 0.5f,
                          .rotate = 4,
                          .brightness = 0.2f,
                          .offset = 10,
                          .crop_w = W,
                          .crop_h = H};
  return o;
}

static TmLoader *start(TmDataset *d, const TmLoaderOptions *o, guint epoch, guint step) {
  g_autoptr(GError) error = NULL;
  TmLoader *l = tm_loader_new(d, o, epoch, step, &error);
  g_assert_no_error(error);
  g_assert_nonnull(l);
  return l;
}

static const TmBatch *next(TmLoader *l) {
  g_autoptr(GError) error = NULL;
  const TmBatch *b = tm_loader_next(l, &error);
  g_assert_no_error(error);
  g_assert_nonnull(b);
  return b;
}

/* The order as loader.h words it, worked out here a second time. */
static void expected_order(guint64 seed, guint epoch, guint *order, guint n) {
  TmRandom r;
  for (guint i = 0; i < n; i++) order[i] = i;
  tm_random_seed(&r, tm_random_hash(seed, epoch, G_MAXUINT64));
  tm_random_shuffle(&r, order, n);
}

/* Entries, pixels and labels of every batch against the plain way: read, augment, one after the other. */
static void test_content(gconstpointer data) {
  const int threads = GPOINTER_TO_INT(data);
  enum { N = 11, B = 3 };
  g_autoptr(TmDataset) d = demo(N);
  const TmLoaderOptions o = options(B, threads);
  g_autoptr(TmLoader) l = start(d, &o, 0, 0);
  g_assert_cmpuint(tm_loader_steps(l), ==, 3);
  for (guint epoch = 0; epoch < 3; epoch++) {
    guint order[N];
    expected_order(o.seed, epoch, order, N);
    for (guint step = 0; step < 3; step++) {
      const TmBatch *b = next(l);
      g_assert_cmpuint(b->epoch, ==, epoch);
      g_assert_cmpuint(b->step, ==, step);
      g_assert_cmpint(b->n, ==, B);
      for (guint i = 0; i < B; i++) {
        const guint k = step * B + i;
        g_auto(TmSample) in = {0}, out = {0};
        TmRandom r;
        tm_random_seed(&r, tm_random_hash(o.seed, epoch, k));
        g_assert_cmpuint(b->entries[i], ==, order[k]);
        g_assert_true(tm_dataset_read(d, order[k], &in, NULL));
        g_assert_true(tm_augment_apply(&o.augment, &r, &in, &out, NULL));
        g_assert_cmpmem(b->pixels + i * W * H * 3, W * H * 3, out.rgb, W * H * 3);
        g_assert_cmpmem(b->labels + i * W * H, W * H, out.labels, W * H);
      }
    }
  }
}

static guint64 batch_hash(const TmBatch *b) {
  guint64 h = tm_random_hash(b->epoch, b->step, (guint64)b->n);
  for (int i = 0; i < b->n * b->w * b->h * 3; i++) h = h * 31 + b->pixels[i];
  for (int i = 0; i < b->n * b->w * b->h; i++) h = h * 31 + b->labels[i];
  return h;
}

static void test_resume(void) {
  g_autoptr(TmDataset) d = demo(10);
  const TmLoaderOptions o = options(3, 2);
  guint64 whole[9];
  {
    g_autoptr(TmLoader) l = start(d, &o, 0, 0);
    for (int i = 0; i < 9; i++) whole[i] = batch_hash(next(l));
  }
  for (guint at = 0; at < 9; at++) {
    TmLoaderOptions other = o;
    other.threads = 1 + (int)at % 3;
    other.ahead = 1 + (int)at;
    g_autoptr(TmLoader) l = start(d, &other, at / 3, at % 3);
    for (guint i = at; i < 9; i++) g_assert_cmpuint(batch_hash(next(l)), ==, whole[i]);
  }
  g_autoptr(TmLoader) l = start(d, &o, 0, 4); /* a step beyond the epoch counts on */
  g_assert_cmpuint(batch_hash(next(l)), ==, whole[4]);
}

static void test_plain_order(void) {
  g_autoptr(TmDataset) d = demo(5);
  TmLoaderOptions o = options(2, 1);
  o.shuffle = FALSE;
  o.last = TM_LAST_KEEP;
  g_autoptr(TmLoader) l = start(d, &o, 0, 0);
  for (guint epoch = 0; epoch < 2; epoch++)
    for (guint k = 0; k < 5;) {
      const TmBatch *b = next(l);
      for (int i = 0; i < b->n; i++) g_assert_cmpuint(b->entries[i], ==, k++);
    }
}

/* Datasets of 1, 2, 5 pictures and a batch of 4: never an empty epoch. */
static void test_small(void) {
  static const struct {
    int pictures;
    TmLastBatch last;
    guint steps;
    int sizes[2];
  } cases[] = {{1, TM_LAST_DROP, 1, {4}}, {1, TM_LAST_KEEP, 1, {4}}, {2, TM_LAST_DROP, 1, {4}},
               {3, TM_LAST_DROP, 1, {4}}, {5, TM_LAST_DROP, 1, {4}}, {5, TM_LAST_KEEP, 2, {4, 1}}};
  for (gsize c = 0; c < G_N_ELEMENTS(cases); c++) {
    g_autoptr(TmDataset) d = demo(cases[c].pictures);
    TmLoaderOptions o = options(4, 2);
    o.last = cases[c].last;
    g_autoptr(TmLoader) l = start(d, &o, 0, 0);
    g_assert_cmpuint(tm_loader_steps(l), ==, cases[c].steps);
    for (guint epoch = 0; epoch < 3; epoch++)
      for (guint step = 0; step < cases[c].steps; step++) {
        const TmBatch *b = next(l);
        g_assert_cmpint(b->n, ==, cases[c].sizes[step]);
        g_assert_cmpuint(b->epoch, ==, epoch);
        int count[5] = {0};
        for (int i = 0; i < b->n; i++) count[b->entries[i]]++;
        for (int i = 0; step == 0 && i < cases[c].pictures; i++)
          g_assert_cmpint(count[i], <=, (4 + cases[c].pictures - 1) / cases[c].pictures);
      }
  }
}

/* Six pictures, of which those whose bit is set in @cut are cut off. */
static TmDataset *with_cut(char **dir, guint cut) {
  *dir = tmp_new();
  for (int i = 0; i < 6; i++) {
    g_autofree char *image = g_strdup_printf("images/p%d.png", i),
                    *mask = g_strdup_printf("masks/p%d.png", i);
    put_picture(*dir, image, 40, 30);
    put_grey(*dir, mask, 40, 30, NULL, (guint8)(i % 2));
  }
  for (int i = 0; i < 6; i++) {
    g_autofree char *image = g_strdup_printf("images/p%d.png", i);
    if (cut >> i & 1) put_text(*dir, image, "\x89PNG\r\n\x1a\nno more");
  }
  g_autoptr(GError) error = NULL;
  TmDataset *d = tm_dataset_open(*dir, NULL, &error);
  g_assert_no_error(error);
  return d;
}

/* A cut file is named and counted, and the next of the order stands in for it, epoch after epoch and whatever
 * the threads. */
static void test_bad_file(void) {
  char *dir;
  g_autoptr(TmDataset) d = with_cut(&dir, 1 << 2 | 1 << 3);
  TmLoaderOptions o = options(4, 3);
  o.shuffle = FALSE;
  o.last = TM_LAST_KEEP;
  const guint n = tm_dataset_n_split(d, TM_SPLIT_TRAIN);
  g_assert_cmpuint(n, >=, 5);
  g_autoptr(TmLoader) l = start(d, &o, 0, 0);
  guint64 hash = 0;
  for (guint epoch = 0; epoch < 3; epoch++) {
    const TmBatch *b = next(l);
    const guint want[4] = {0, 1, 4, 4};
    g_assert_cmpint(b->n, ==, 4);
    for (int i = 0; i < 4; i++) g_assert_cmpuint(b->entries[i], ==, want[i]);
    g_assert_cmpuint(b->replaced, ==, 2);
    g_assert_nonnull(strstr(b->why, "p2.png"));
    b = next(l);
    g_assert_cmpuint(b->replaced, ==, 0);
    g_assert_null(b->why);
  }
  for (int threads = 1; threads < 5; threads++) {
    o.shuffle = TRUE;
    o.threads = threads;
    g_autoptr(TmLoader) other = start(d, &o, 0, 0);
    guint64 h = 0;
    for (int i = 0; i < 6; i++) h = h * 31 + batch_hash(next(other));
    if (threads > 1) g_assert_cmpuint(h, ==, hash);
    hash = h;
  }
  tmp_remove(dir);
}

/* A stand-in may come from beyond the batch, and from the order's beginning. */
static void test_bad_last(void) {
  char *dir;
  g_autoptr(TmDataset) d = with_cut(&dir, 1 << 4 | 1 << 5);
  TmLoaderOptions o = options(1, 1);
  o.shuffle = FALSE;
  g_autoptr(TmLoader) l = start(d, &o, 0, 4);
  const TmBatch *b = next(l);
  g_assert_cmpuint(b->entries[0], ==, 0);
  g_assert_nonnull(strstr(b->why, "p4.png"));
  tmp_remove(dir);
}

static void test_all_bad(void) {
  char *dir;
  g_autoptr(TmDataset) d = with_cut(&dir, 63);
  const TmLoaderOptions o = options(3, 2);
  g_autoptr(TmLoader) l = start(d, &o, 0, 0);
  for (int i = 0; i < 3; i++) {
    g_autoptr(GError) error = NULL;
    g_assert_null(tm_loader_next(l, &error));
    g_assert_error(error, TM_ERROR, TM_ERROR_DATA);
    g_assert_nonnull(strstr(error->message, "train"));
    g_assert_nonnull(strstr(error->message, ".png"));
  }
  tmp_remove(dir);
}

static void test_refused(void) {
  g_autoptr(TmDataset) d = demo(3);
  TmLoaderOptions o = options(2, 1);
  g_autoptr(GError) error = NULL;
  o.split = TM_SPLIT_TEST; /* the demo has none */
  g_assert_null(tm_loader_new(d, &o, 0, 0, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_DATA);
  g_clear_error(&error);
  o = options(0, 1);
  g_assert_null(tm_loader_new(d, &o, 0, 0, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_SETTING);
  g_clear_error(&error);
  o = options(2, 1);
  o.augment.crop_w = 0;
  g_assert_null(tm_loader_new(d, &o, 0, 0, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_SETTING);
  g_clear_error(&error);
  o = options(65536, 1); /* terabytes */
  o.augment.crop_w = o.augment.crop_h = 1 << 15;
  g_assert_null(tm_loader_new(d, &o, 0, 0, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_NO_MEMORY);
}

static int threads_now(void) {
  g_autoptr(GDir) tasks = g_dir_open("/proc/self/task", 0, NULL);
  int n = 0;
  while (tasks && g_dir_read_name(tasks)) n++;
  return n;
}

/* Started and stopped at any moment, with work under way: no thread stays. */
static void test_no_thread_stays(void) {
  g_autoptr(TmDataset) d = demo(8);
  const int before = threads_now();
  for (int i = 0; i < 40; i++) {
    const TmLoaderOptions o = options(2, 1 + i % 4);
    g_autoptr(TmLoader) l = start(d, &o, 0, 0);
    for (int k = 0; k < i % 5; k++) next(l);
  }
  /* A joined thread's entry may linger for a moment. */
  for (int i = 0; i < 100 && threads_now() > before; i++) g_usleep(10000);
  g_assert_cmpint(threads_now(), ==, before);
}

/* The ring fills while the trainer works, and then it need not wait; every picture is decoded once. */
static void test_times(void) {
  g_autoptr(TmDataset) d = demo(12);
  const TmLoaderOptions o = options(2, 2);
  g_autoptr(TmLoader) l = start(d, &o, 0, 0);
  double waited, later, decode, again, augment;
  next(l);
  for (int i = 0; i < 12; i++) next(l);
  tm_loader_times(l, &waited, &decode, &augment);
  g_assert_cmpfloat(waited, >, 0); /* the first batch cannot be there at once */
  g_assert_cmpfloat(decode, >, 0);
  g_assert_cmpfloat(augment, >, 0);
  g_usleep(400000);
  tm_loader_times(l, &waited, NULL, NULL);
  for (int i = 0; i < 4; i++) next(l); /* as many as the ring holds */
  tm_loader_times(l, &later, &again, NULL);
  g_assert_cmpfloat(later - waited, <, 0.05);
  g_assert_cmpfloat(again, ==, decode);
}

/* A change of augmentation comes through, after what the ring already holds; the size stays. */
static void test_set_augment(void) {
  g_autoptr(TmDataset) d = demo(1);
  TmLoaderOptions o = options(1, 1);
  tm_augment_none(&o.augment);
  o.augment.crop_w = 64;
  o.augment.crop_h = 48;
  g_autoptr(TmLoader) l = start(d, &o, 0, 0);
  g_auto(TmSample) in = {0};
  g_assert_true(tm_dataset_read(d, 0, &in, NULL));
  g_assert_cmpmem(next(l)->pixels, 64 * 48 * 3, in.rgb, 64 * 48 * 3);
  TmAugment flipped;
  tm_augment_none(&flipped);
  flipped.flip = 1;
  flipped.crop_w = 7;
  tm_loader_set_augment(l, &flipped);
  const TmBatch *b = NULL;
  for (int i = 0; i < 12; i++) b = next(l);
  g_assert_cmpint(b->w, ==, 64);
  for (int y = 0; y < 48; y++)
    for (int x = 0; x < 64; x++) g_assert_cmpint(b->labels[y * 64 + x], ==, in.labels[y * 64 + 63 - x]);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_data_func("/loader/content/1-thread", GINT_TO_POINTER(1), test_content);
  g_test_add_data_func("/loader/content/2-threads", GINT_TO_POINTER(2), test_content);
  g_test_add_data_func("/loader/content/7-threads", GINT_TO_POINTER(7), test_content);
  g_test_add_func("/loader/resume", test_resume);
  g_test_add_func("/loader/plain-order", test_plain_order);
  g_test_add_func("/loader/small", test_small);
  g_test_add_func("/loader/bad-file", test_bad_file);
  g_test_add_func("/loader/bad-last", test_bad_last);
  g_test_add_func("/loader/all-bad", test_all_bad);
  g_test_add_func("/loader/refused", test_refused);
  g_test_add_func("/loader/no-thread-stays", test_no_thread_stays);
  g_test_add_func("/loader/times", test_times);
  g_test_add_func("/loader/set-augment", test_set_augment);
  return g_test_run();
}
