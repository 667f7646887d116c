/* The scan: every file that is wrong is named before training, with what is wrong and the way out; numbers
 * are those of the pixels. */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <utime.h>

#include "engine/data/sample_cache.h"
#include "engine/data/scan.h"
#include "tests/data/folders.h"

static TmScan *scan(Folder *f) {
  TmScan *s = tm_scan_run(f->d, 2, NULL, NULL, &f->error);
  g_assert_no_error(f->error);
  return s;
}

/* The only finding of @kind, with all of @words in its sentence. */
static const TmFinding *expect_one(const TmScan *s, TmFindingKind kind, const char *words[]) {
  const TmFinding *found = NULL;
  guint n = 0;
  for (guint i = 0; i < s->findings->len; i++) {
    const TmFinding *x = s->findings->pdata[i];
    if (x->kind != kind) continue;
    found = x;
    n++;
  }
  g_assert_cmpuint(n, ==, 1);
  for (guint i = 0; words[i]; i++)
    if (!strstr(found->text, words[i])) g_error("“%s” does not say “%s”", found->text, words[i]);
  return found;
}

static guint count(const TmScan *s, TmFindingKind kind) {
  guint n = 0;
  for (guint i = 0; i < s->findings->len; i++) n += ((TmFinding *)s->findings->pdata[i])->kind == kind;
  return n;
}

#define WORDS(...) ((const char *[]){__VA_ARGS__, NULL})

static TmClassTable *two_classes(void) {
  TmClassTable *t = tm_class_table_new(TM_MASK_INDEX);
  tm_class_table_add(t, "Ground", 0, 0);
  tm_class_table_add(t, "Thing", 0xffffff, 1);
  return t;
}

/* Half 0, half 255, two classes, void unset: the value never reaches a kernel. */
static void test_out_of_range(Folder *f, gconstpointer data) {
  (void)data;
  guint8 px[64 * 64];
  for (guint i = 0; i < sizeof px; i++) px[i] = i % 64 < 32 ? 0 : 255;
  put_picture(f->dir, "images/a.png", 64, 64);
  put_grey(f->dir, "masks/a.png", 64, 64, px, 0);
  g_autoptr(TmClassTable) t = two_classes();
  folder_open(f, &(TmDatasetOptions){.classes = t});
  g_autoptr(TmScan) s = scan(f);
  const TmFinding *x =
      expect_one(s, TM_FINDING_UNKNOWN, WORDS("masks/a.png", "255", "2048", "x 32, y 0", "class", "void"));
  g_assert_cmpuint(x->entry, ==, 0);
  g_assert_false(x->leaves_out);
  g_assert_cmpuint(s->pixels[TM_SPLIT_TRAIN][TM_MAX_CLASSES], ==, 2048);
  expect_one(s, TM_FINDING_ALL_VOID, WORDS("50.0 %")); /* the share of void is shown */
  expect_one(s, TM_FINDING_CLASS_ABSENT, WORDS("Thing"));
  g_auto(TmSample) sample = {0};
  g_assert_true(tm_dataset_read(f->d, 0, &sample, NULL));
  for (guint i = 0; i < sizeof px; i++) g_assert_true(sample.labels[i] == 0 || sample.labels[i] == 255);
}

static void test_one_line_for_a_soft_mask(Folder *f, gconstpointer data) {
  (void)data;
  guint8 px[96 * 96];
  for (int y = 0; y < 96; y++)
    for (int x = 0; x < 96; x++) {
      const double r = 30 - sqrt((x - 48.3) * (x - 48.3) + (y - 47.6) * (y - 47.6));
      px[y * 96 + x] = (guint8)(CLAMP(r / 4 + 0.5, 0.0, 1.0) * 255);
    }
  put_picture(f->dir, "images/a.png", 96, 96);
  put_grey(f->dir, "masks/a.png", 96, 96, px, 0);
  folder_open(f, NULL);
  g_autoptr(TmScan) s = scan(f);
  expect_one(s, TM_FINDING_ANTIALIASED, WORDS("masks/a.png", "different values", "anti-aliased"));
  g_assert_cmpuint(count(s, TM_FINDING_UNKNOWN), ==, 0);
}

/* 255 taken as void leaves nothing of the second class: that is said. */
static void test_void_swallows(Folder *f, gconstpointer data) {
  (void)data;
  put_pair(f->dir, "images/a.png", "masks/a.png", 0, 255);
  put_pair(f->dir, "images/b.png", "masks/b.png", 255, 255);
  g_autoptr(TmClassTable) t = two_classes();
  tm_class_table_add_void(t, 255);
  folder_open(f, &(TmDatasetOptions){.classes = t});
  g_autoptr(TmScan) s = scan(f);
  expect_one(s, TM_FINDING_CLASS_ABSENT, WORDS("Thing", "training"));
  g_assert_cmpuint(count(s, TM_FINDING_ALL_VOID), ==, 2);
  g_assert_true(s->leave_out[1]); /* void everywhere */
  g_assert_false(s->leave_out[0]);
  g_assert_cmpuint(s->n_left_out, ==, 1);
}

static void test_unknown_colour(Folder *f, gconstpointer data) {
  (void)data;
  guint8 rgb[32 * 32 * 3];
  for (guint i = 0; i < 32 * 32; i++)
    memcpy(rgb + 3 * i, i < 512 ? (const guint8[]){64, 128, 64} : (const guint8[]){128, 64, 128}, 3);
  for (guint k = 0; k < 3; k++) memcpy(rgb + 3 * (5 * 32 + 7 + k), (const guint8[]){64, 128, 65}, 3);
  put_text(f->dir, "label_colors.txt", "64 128 64\tAnimal\n128 64 128\tRoad\n");
  put_picture(f->dir, "a.png", 32, 32);
  put_rgb(f->dir, "a_L.png", 32, 32, rgb, 0);
  folder_open(f, NULL);
  g_autoptr(TmScan) s = scan(f);
  expect_one(s, TM_FINDING_UNKNOWN, WORDS("a_L.png", "64 128 65", "3 pixels", "x 7, y 5"));
  g_assert_cmpuint(s->pixels[TM_SPLIT_TRAIN][TM_MAX_CLASSES], ==, 3);
  g_assert_cmpuint(s->pixels[TM_SPLIT_TRAIN][0], ==, 509);
  g_assert_cmpuint(s->pixels[TM_SPLIT_TRAIN][1], ==, 512);
}

static void test_colour_mask_among_indices(Folder *f, gconstpointer data) {
  (void)data;
  put_pair(f->dir, "images/a.png", "masks/a.png", 0, 1);
  put_picture(f->dir, "images/b.png", 16, 12);
  put_rgb(f->dir, "masks/b.png", 16, 12, NULL, 0x804000);
  g_autoptr(TmClassTable) t = two_classes();
  folder_open(f, &(TmDatasetOptions){.classes = t});
  g_autoptr(TmScan) s = scan(f);
  expect_one(s, TM_FINDING_UNREADABLE, WORDS("masks/b.png", "colour-coded", "label_colors.txt"));
  g_assert_true(s->leave_out[1]);
}

static void cut_jpeg(const char *dir, const char *name) {
  GByteArray *b = jpeg_make(&(JpegSpec){.w = 160, .h = 120, .components = 3, .gradient = TRUE});
  g_byte_array_set_size(b, b->len * 6 / 10);
  put_array(dir, name, b);
}

/* Cut, empty, no picture at all, too tall, broken checksum: listed by name, left out, and the scan goes on.
 */
static void test_bad_files(Folder *f, gconstpointer data) {
  (void)data;
  const char *const names[] = {"cut.jpg", "empty.jpg", "letter.jpg", "tall.png", "crc.png"};
  cut_jpeg(f->dir, "images/cut.jpg");
  put_text(f->dir, "images/empty.jpg", "");
  put_text(f->dir, "images/letter.jpg", "Dear reader,\n");
  put_array(f->dir, "images/tall.png", png_make(&(PngSpec){.w = 8, .h = 1000001, .depth = 8, .type = GREY}));
  GByteArray *b = png_make(&(PngSpec){.w = 160, .h = 120, .depth = 8, .type = RGB});
  b->data[b->len - 14] ^= 1;
  put_array(f->dir, "images/crc.png", b);
  put_pair(f->dir, "images/good.png", "masks/good.png", 0, 1);
  for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
    g_autofree char *stem = g_strndup(names[i], strlen(names[i]) - 4),
                    *mask = g_strdup_printf("masks/%s.png", stem);
    put_grey(f->dir, mask, 160, 120, NULL, 1);
  }
  folder_open(f, NULL);
  g_autoptr(TmScan) s = scan(f);
  g_assert_cmpuint(count(s, TM_FINDING_UNREADABLE), ==, 5);
  g_assert_cmpuint(s->n_left_out, ==, 5);
  for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
    gboolean named = FALSE;
    for (guint k = 0; k < s->findings->len; k++) {
      const TmFinding *x = s->findings->pdata[k];
      named |= x->kind == TM_FINDING_UNREADABLE && x->leaves_out && strstr(x->text, names[i]);
    }
    g_assert_true(named);
  }
  g_autoptr(TmDataset) rest = tm_dataset_subset(f->d, s->leave_out, NULL);
  g_assert_cmpuint(tm_dataset_n(rest), ==, 1);
  g_assert_cmpstr(tm_dataset_entry(rest, 0)->name, ==, "good");
}

static void test_bad_mask(Folder *f, gconstpointer data) {
  (void)data;
  put_pair(f->dir, "images/a.png", "masks/a.png", 0, 1);
  put_picture(f->dir, "images/b.png", 16, 12);
  put_jpeg(f->dir, "masks/b.jpg", 16, 12);
  put_picture(f->dir, "images/c.png", 16, 12);
  folder_open(f, NULL);
  g_autoptr(TmScan) s = scan(f);
  expect_one(s, TM_FINDING_UNREADABLE, WORDS("masks/b.jpg", "JPEG"));
  expect_one(s, TM_FINDING_NO_MASK, WORDS("images/c.png"));
  g_assert_cmpuint(s->n_left_out, ==, 2);
}

static void test_size_mismatch(Folder *f, gconstpointer data) {
  (void)data;
  put_picture(f->dir, "images/a.png", 700, 370);
  put_grey(f->dir, "masks/a.png", 702, 370, NULL, 1);
  put_pair(f->dir, "images/b.png", "masks/b.png", 0, 1);
  folder_open(f, NULL);
  g_autoptr(TmScan) s = scan(f);
  const TmFinding *x =
      expect_one(s, TM_FINDING_SIZE, WORDS("images/a.png", "700×370", "masks/a.png", "702×370"));
  g_assert_true(x->leaves_out && s->leave_out[0]);
}

/* Harmless things are counted in one line each, however many files have them. */
static void test_counted_notes(Folder *f, gconstpointer data) {
  (void)data;
  g_autoptr(GByteArray) junk = g_byte_array_new();
  png_chunk(junk, "iCCP", (const guint8 *)"x\0\0junkjunkjunk", 15);
  guint8 rgba[16 * 12 * 4];
  memset(rgba, 9, sizeof rgba);
  for (int i = 0; i < 20; i++) {
    g_autofree char *image = g_strdup_printf("images/%02d.png", i),
                    *mask = g_strdup_printf("masks/%02d.png", i);
    put_pair(f->dir, image, mask, 0, 1);
    put_array(f->dir, image,
              png_make(&(PngSpec){.w = 16,
                                  .h = 12,
                                  .depth = 8,
                                  .type = RGB,
                                  .samples = rgba,
                                  .extra = junk->data,
                                  .n_extra = junk->len}));
  }
  put_array(f->dir, "images/20.jpg", jpeg_make(&(JpegSpec){.w = 16, .h = 12, .components = 1, .fill = {80}}));
  put_grey(f->dir, "masks/20.png", 16, 12, NULL, 1);
  put_array(f->dir, "images/21.png",
            png_make(&(PngSpec){.w = 16, .h = 12, .depth = 8, .type = RGBA, .samples = rgba}));
  put_grey(f->dir, "masks/21.png", 16, 12, NULL, 0);
  folder_open(f, NULL);
  g_autoptr(TmScan) s = scan(f);
  g_assert_cmpuint(count(s, TM_FINDING_NOTE), ==, 3);
  g_assert_cmpuint(s->findings->len, ==, 3);
  g_assert_cmpuint(s->n_left_out, ==, 0);
  gboolean profile = FALSE, grey = FALSE, alpha = FALSE;
  for (guint i = 0; i < 3; i++) {
    const TmFinding *x = s->findings->pdata[i];
    profile |= strstr(x->text, "20 pictures") && x->entry == G_MAXUINT;
    grey |= strstr(x->text, "grey") && x->entry != G_MAXUINT;
    alpha |= strstr(x->text, "transparency") != NULL;
  }
  g_assert_true(profile && grey && alpha);
}

static void test_several_sizes(Folder *f, gconstpointer data) {
  (void)data;
  put_picture(f->dir, "images/a.png", 54, 38);
  put_grey(f->dir, "masks/a.png", 54, 38, NULL, 0);
  put_picture(f->dir, "images/b.png", 79, 58);
  put_grey(f->dir, "masks/b.png", 79, 58, NULL, 1);
  folder_open(f, &(TmDatasetOptions){0});
  g_autoptr(TmScan) s = scan(f);
  expect_one(s, TM_FINDING_NOTE, WORDS("54", "79", "38", "58", "crops", "void"));
  g_assert_cmpint(s->min_w, ==, 54);
  g_assert_cmpint(s->max_h, ==, 58);
}

static void test_turned(Folder *f, gconstpointer data) {
  (void)data;
  for (int k = 0; k < 2; k++) {
    GByteArray *b = jpeg_make(&(JpegSpec){.w = 64, .h = 48, .components = 3, .gradient = TRUE});
    jpeg_add_orientation(b, 6);
    put_array(f->dir, k ? "images/b.jpg" : "images/a.jpg", b);
  }
  put_grey(f->dir, "masks/a.png", 64, 48, NULL, 1);
  put_grey(f->dir, "masks/b.png", 48, 64, NULL, 0);
  folder_open(f, &(TmDatasetOptions){0});
  g_autoptr(TmScan) s = scan(f);
  g_assert_cmpuint(s->n_left_out, ==, 0);
  gboolean turned = FALSE, not_turned = FALSE;
  for (guint i = 0; i < s->findings->len; i++) {
    turned |= strstr(((TmFinding *)s->findings->pdata[i])->text, "turned upright") != NULL;
    not_turned |= strstr(((TmFinding *)s->findings->pdata[i])->text, "not followed") != NULL;
  }
  g_assert_true(turned && not_turned);
}

/* Mean and standard deviation of the pixels, as a plain second implementation has them; files left out have
 * no part. */
static void test_statistics(Folder *f, gconstpointer data) {
  (void)data;
  double sum[3] = {0}, squares[3] = {0};
  guint8 rgb[16 * 12 * 3];
  for (int k = 0; k < 4; k++) {
    for (guint i = 0; i < sizeof rgb; i++) rgb[i] = (guint8)(i * (7u + (guint)k) + (guint)k * 31u);
    for (guint i = 0; i < sizeof rgb; i++) {
      sum[i % 3] += rgb[i];
      squares[i % 3] += rgb[i] * rgb[i];
    }
    g_autofree char *image = g_strdup_printf("train/%d.png", k),
                    *mask = g_strdup_printf("trainannot/%d.png", k);
    put_rgb(f->dir, image, 16, 12, rgb, 0);
    put_grey(f->dir, mask, 16, 12, NULL, (guint8)k);
  }
  put_rgb(f->dir, "train/9.png", 16, 12, NULL, 0xffffff);
  put_grey(f->dir, "trainannot/9.png", 17, 12, NULL, 1);
  put_rgb(f->dir, "val/v.png", 16, 12, NULL, 0xffffff);
  put_grey(f->dir, "valannot/v.png", 16, 12, NULL, 2);
  folder_open(f, NULL);
  g_autoptr(TmScan) one = tm_scan_run(f->d, 1, NULL, NULL, NULL),
                    many = tm_scan_run(f->d, 7, NULL, NULL, NULL);
  const double n = 4 * 16 * 12;
  for (int c = 0; c < 3; c++) {
    const double mean = sum[c] / n;
    g_assert_cmpfloat_with_epsilon(one->mean[c], mean, 1e-9);
    g_assert_cmpfloat_with_epsilon(one->std[c], sqrt(squares[c] / n - mean * mean), 1e-9);
    g_assert_cmpfloat(one->mean[c], ==, many->mean[c]); /* bit for bit, whatever the threads */
    g_assert_cmpfloat(one->std[c], ==, many->std[c]);
  }
  for (guint c = 0; c < 4; c++) {
    g_assert_cmpuint(one->pixels[TM_SPLIT_TRAIN][c], ==, 16 * 12);
    g_assert_cmpuint(one->pictures[TM_SPLIT_TRAIN][c], ==, 1);
  }
  g_assert_cmpuint(one->findings->len, ==, many->findings->len);
  for (guint i = 0; i < one->findings->len; i++)
    g_assert_cmpstr(((TmFinding *)one->findings->pdata[i])->text, ==,
                    ((TmFinding *)many->findings->pdata[i])->text);
}

static void test_flat_picture(Folder *f, gconstpointer data) {
  (void)data;
  put_rgb(f->dir, "images/a.png", 16, 12, NULL, 0x404040);
  put_grey(f->dir, "masks/a.png", 16, 12, NULL, 0);
  folder_open(f, NULL);
  g_autoptr(TmScan) s = scan(f);
  g_assert_cmpfloat(s->mean[0], ==, 64);
  g_assert_cmpfloat(s->std[0], ==, 1); /* the net divides by it */
}

typedef struct {
  guint calls, last, stop_after;
} Progress;

static gboolean on_progress(guint done, guint total, gpointer user) {
  Progress *p = user;
  g_assert_cmpuint(done, <=, total);
  p->calls++;
  p->last = done;
  return p->calls < p->stop_after;
}

/* ---- what was learned before ---- */

/* All that a scan says, as one text. */
static char *told(const TmScan *s) {
  GString *all = g_string_new(NULL);
  for (guint i = 0; i < s->findings->len; i++) {
    const TmFinding *f = s->findings->pdata[i];
    g_string_append_printf(all, "%d %u %d %s\n", f->kind, f->entry, f->leaves_out, f->text);
  }
  for (int c = 0; c < 3; c++) g_string_append_printf(all, "%.17g %.17g ", s->mean[c], s->std[c]);
  for (guint k = 0; k < TM_N_SPLITS; k++)
    for (guint c = 0; c <= TM_MAX_CLASSES; c++)
      if (s->pixels[k][c]) g_string_append_printf(all, "%u %u %" G_GUINT64_FORMAT "\n", k, c, s->pixels[k][c]);
  g_string_append_printf(all, "%u %d %d %d %d\n", s->n_left_out, s->min_w, s->min_h, s->max_w, s->max_h);
  for (guint i = 0; i < s->n_entries; i++)
    for (guint k = 0; s->entries[i].unknown && k < s->entries[i].unknown->len; k++) {
      const TmUnknown *u = &g_array_index(s->entries[i].unknown, TmUnknown, k);
      g_string_append_printf(all, "%u: %d %u\n", i, u->value, u->pixels);
    }
  return g_string_free(all, FALSE);
}

/* As old as files usually are. The one @spoiled holds no picture any more, with the same size and time. */
static void age(const char *dir, const char *name, gboolean spoiled) {
  g_autofree char *path = g_build_filename(dir, name, NULL), *text = NULL;
  gsize size;
  if (spoiled) {
    g_assert_true(g_file_get_contents(path, &text, &size, NULL));
    memset(text, 'x', size);
    g_assert_true(g_file_set_contents(path, text, (gssize)size, NULL));
  }
  g_assert_cmpint(g_utime(path, &(struct utimbuf){1000000000, 1000000000}), ==, 0);
}

static void put_two(Folder *f) {
  put_pair(f->dir, "images/a.png", "masks/a.png", 0, 255);
  put_pair(f->dir, "images/b.png", "masks/b.png", 255, 255);
  static const char *const names[] = {"images/a.png", "images/b.png", "masks/a.png", "masks/b.png"};
  for (guint i = 0; i < G_N_ELEMENTS(names); i++) age(f->dir, names[i], FALSE);
}

/* The second scan says the same without looking into any file; one that changed is read. */
static void test_learned_once(Folder *f, gconstpointer data) {
  (void)data;
  g_autoptr(TmClassTable) t = two_classes();
  put_two(f);
  folder_open(f, &(TmDatasetOptions){.classes = t});
  g_autoptr(TmScan) first = scan(f);
  g_autofree char *said = told(first);
  age(f->dir, "images/a.png", TRUE);
  age(f->dir, "masks/b.png", TRUE);
  g_autoptr(TmScan) again = scan(f);
  g_autofree char *said_again = told(again);
  g_assert_cmpstr(said, ==, said_again);
  g_autofree char *path = g_build_filename(f->dir, "images/a.png", NULL);
  g_assert_cmpint(g_utime(path, &(struct utimbuf){1000000001, 1000000001}), ==, 0);
  g_autoptr(TmScan) changed = scan(f);
  expect_one(changed, TM_FINDING_UNREADABLE, WORDS("images/a.png"));
}

/* The demo roads' scenes are drawn for the first scan of a size only, and each size has numbers of its own. */
static void test_learned_demo(void) {
  g_autofree char *before = NULL;
  for (int i = 0; i < 4; i++) {
    const TmDatasetOptions o = {.demo_train = 4, .demo_val = 2, .demo_width = i < 2 ? 48 : 64, .demo_height = 32};
    g_autoptr(TmDataset) d = tm_dataset_open("demo", &o, NULL);
    g_autoptr(TmScan) s = tm_scan_run(d, 2, NULL, NULL, NULL);
    g_autofree char *now = told(s);
    g_assert_cmpint(s->max_w, ==, o.demo_width);
    if (i % 2) g_assert_cmpstr(now, ==, before);
    if (i == 2) g_assert_cmpstr(now, !=, before);
    g_free(before);
    before = g_steal_pointer(&now);
  }
}

/* What the scan decoded for training is not decoded again. */
static void test_decoded_once(Folder *f, gconstpointer data) {
  (void)data;
  g_autoptr(TmClassTable) t = two_classes();
  put_two(f);
  folder_open(f, &(TmDatasetOptions){.classes = t});
  g_autofree char *folder = g_build_filename(f->dir, "kept", NULL);
  g_autoptr(TmPictureStore) store = tm_picture_store_new(folder, 1 << 30);
  g_autoptr(TmScan) s = tm_scan_keep(f->d, store, 2, NULL, NULL, &f->error);
  g_assert_no_error(f->error);
  g_auto(TmSample) before = {0}, own = {0};
  g_assert_true(tm_dataset_read(f->d, 0, &before, NULL));
  age(f->dir, "images/a.png", TRUE);
  g_autoptr(TmSampleCache) cache = tm_sample_cache_new(f->d, 1 << 20, store);
  double seconds = 0;
  const TmSample *sample = tm_sample_cache_get(cache, 0, &own, &seconds, &f->error);
  g_assert_no_error(f->error);
  const int n = before.w * before.h;
  g_assert_cmpmem(sample->rgb, n * 3, before.rgb, n * 3);
  g_assert_cmpmem(sample->labels, n, before.labels, n);
}

/* A file that was damaged, at any byte, is as none. */
static void test_learned_damaged(Folder *f, gconstpointer data) {
  (void)data;
  g_autoptr(TmClassTable) t = two_classes();
  put_two(f);
  folder_open(f, &(TmDatasetOptions){.classes = t});
  g_autoptr(TmScan) first = scan(f);
  g_autofree char *said = told(first), *scans = g_build_filename(g_get_user_cache_dir(), "tarmac", "scans", NULL);
  g_autoptr(GDir) dir = g_dir_open(scans, 0, NULL);
  guint n = 0;
  for (const char *name; (name = g_dir_read_name(dir)); n++) {
    g_autofree char *path = g_build_filename(scans, name, NULL), *text = NULL;
    gsize size;
    g_assert_true(g_file_get_contents(path, &text, &size, NULL));
    for (gsize at = 0; at < size; at += 7) {
      text[at] = (char)(text[at] ^ 0x41);
      g_assert_true(g_file_set_contents(path, text, (gssize)(at % 2 ? size : at), NULL));
      g_autoptr(TmScan) again = scan(f);
      g_autofree char *said_again = told(again);
      g_assert_cmpstr(said, ==, said_again);
      text[at] = (char)(text[at] ^ 0x41);
    }
  }
  g_assert_cmpuint(n, >, 0);
}

static void test_progress_and_cancel(void) {
  const TmDatasetOptions o = {.demo_train = 30, .demo_val = 5, .demo_width = 32, .demo_height = 32};
  g_autoptr(TmDataset) d = tm_dataset_open("demo", &o, NULL);
  Progress p = {.stop_after = G_MAXUINT};
  g_autoptr(GError) e = NULL;
  g_autoptr(TmScan) s = tm_scan_run(d, 2, on_progress, &p, &e);
  g_assert_no_error(e);
  g_assert_cmpuint(s->n_entries, ==, 35);
  g_assert_cmpuint(p.last, ==, 35);
  Progress stop = {.stop_after = 1};
  g_assert_null(tm_scan_run(d, 2, on_progress, &stop, &e));
  g_assert_error(e, TM_ERROR, TM_ERROR_CANCELLED);
}

static void test_demo(void) {
  const TmDatasetOptions o = {.demo_train = 4, .demo_val = 2, .demo_width = 40, .demo_height = 30};
  g_autoptr(TmDataset) d = tm_dataset_open("demo", &o, NULL);
  g_autoptr(TmScan) s = tm_scan_run(d, 0, NULL, NULL, NULL);
  guint64 n = 0;
  for (guint c = 0; c <= TM_MAX_CLASSES; c++) n += s->pixels[TM_SPLIT_TRAIN][c];
  g_assert_cmpuint(n, ==, 4 * 40 * 30);
  g_assert_cmpuint(s->n_left_out, ==, 0);
  g_assert_cmpfloat(s->std[0], >, 1);
}

/* One picture, two pictures: the scan has no division by nothing. */
static void test_tiny(Folder *f, gconstpointer data) {
  (void)data;
  put_picture(f->dir, "images/a.png", 1, 1);
  put_grey(f->dir, "masks/a.png", 1, 1, NULL, 0);
  folder_open(f, NULL);
  g_autoptr(TmScan) s = scan(f);
  g_assert_true(isfinite(s->mean[0]) && isfinite(s->std[0]));
  put_text(f->dir, "images/a.png", "");
  g_autoptr(TmScan) none = scan(f);
  g_assert_cmpuint(none->n_left_out, ==, 1);
  g_assert_cmpfloat(none->mean[0], ==, 0);
  g_assert_cmpfloat(none->std[0], ==, 1);
}

int main(int argc, char **argv) {
  char *cache = g_dir_make_tmp("tarmac-scan-XXXXXX", NULL);
  g_setenv("XDG_CACHE_HOME", cache, TRUE);
  g_test_init(&argc, &argv, NULL);
  FOLDER_TEST("/data/scan/learned-damaged", test_learned_damaged); /* first: its file is the only one */
  FOLDER_TEST("/data/scan/learned-once", test_learned_once);
  FOLDER_TEST("/data/scan/decoded-once", test_decoded_once);
  FOLDER_TEST("/data/scan/out-of-range", test_out_of_range);
  FOLDER_TEST("/data/scan/soft-mask", test_one_line_for_a_soft_mask);
  FOLDER_TEST("/data/scan/void-swallows", test_void_swallows);
  FOLDER_TEST("/data/scan/unknown-colour", test_unknown_colour);
  FOLDER_TEST("/data/scan/colour-mask-among-indices", test_colour_mask_among_indices);
  FOLDER_TEST("/data/scan/bad-files", test_bad_files);
  FOLDER_TEST("/data/scan/bad-mask", test_bad_mask);
  FOLDER_TEST("/data/scan/size-mismatch", test_size_mismatch);
  FOLDER_TEST("/data/scan/counted-notes", test_counted_notes);
  FOLDER_TEST("/data/scan/several-sizes", test_several_sizes);
  FOLDER_TEST("/data/scan/turned", test_turned);
  FOLDER_TEST("/data/scan/statistics", test_statistics);
  FOLDER_TEST("/data/scan/flat-picture", test_flat_picture);
  FOLDER_TEST("/data/scan/tiny", test_tiny);
  g_test_add_func("/data/scan/progress-and-cancel", test_progress_and_cancel);
  g_test_add_func("/data/scan/learned-demo", test_learned_demo);
  g_test_add_func("/data/scan/demo", test_demo);
  const int code = g_test_run();
  tmp_remove(cache);
  return code;
}
