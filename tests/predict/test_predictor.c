/* test_predictor.c: what a trained net says of a picture is as large as the picture, in its place, and from
 * the checkpoint alone. */
#include <sys/resource.h>
#include <unistd.h>

#include "tests/predict/predict_test.h"

static void run_and_check(TmPredictor *p, int w, int h, guint64 seed) {
  g_autofree guint8 *rgb = pt_picture(w, h, 64, seed), *labels = g_malloc((gsize)w * (gsize)h + 1);
  g_autoptr(GError) error = NULL;
  labels[(gsize)w * (gsize)h] = 99;
  g_assert_true(tm_predictor_run(p, rgb, w, h, labels, &error));
  g_assert_no_error(error);
  pt_assert_labels(rgb, w, h, labels);
  g_assert_cmpint(labels[(gsize)w * (gsize)h], ==, 99);
}

static void test_sizes(void) {
  const int sizes[][2] = {{1, 1}, {2, 1}, {1, 9}, {17, 31}, {64, 48}, {5, 4}, {17, 31}, {350, 525}, {16, 16}};
  g_autofree char *folder = rt_folder();
  g_autoptr(TmClassTable) classes = pt_classes();
  g_autofree char *path = pt_write(folder, classes);
  g_autoptr(TmPredictor) p = pt_open(path);
  g_assert_cmpstr(tm_predictor_checkpoint(p), ==, path);
  g_assert_cmpuint(tm_predictor_epoch(p), ==, 5);
  g_assert_cmpuint(tm_predictor_classes(p)->n, ==, 3);
  g_assert_cmpint(tm_predictor_settings(p)->base, ==, 3);
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) run_and_check(p, sizes[i][0], sizes[i][1], i);
  rt_remove(folder);
}

/* A one-pixel cross in a corner of 1052x744 stays in the corner. */
static void test_aligned(void) {
  enum { W = 1052, H = 744 };
  g_autofree char *folder = rt_folder();
  g_autoptr(TmClassTable) classes = pt_classes();
  g_autofree char *path = pt_write(folder, classes);
  g_autoptr(TmPredictor) p = pt_open(path);
  g_autoptr(GError) error = NULL;
  g_autofree guint8 *rgb = g_malloc0((gsize)W * H * 3), *labels = g_malloc0((gsize)W * H);
  for (int i = 0; i < 3; i++) {
    memset(rgb + ((gsize)1 * W + i) * 3, 255, 3);
    memset(rgb + ((gsize)i * W + 1) * 3, 255, 3);
    memset(rgb + ((gsize)(H - 2) * W + W - 1 - i) * 3, 255, 3);
    memset(rgb + ((gsize)(H - 1 - i) * W + W - 2) * 3, 255, 3);
  }
  g_assert_true(tm_predictor_run(p, rgb, W, H, labels, &error));
  g_assert_no_error(error);
  pt_assert_labels(rgb, W, H, labels);
  rt_remove(folder);
}

static void test_keeps_programs(void) {
  g_autofree char *folder = rt_folder();
  g_autoptr(TmClassTable) classes = pt_classes();
  g_autofree char *path = pt_write(folder, classes);
  g_autoptr(TmPredictor) p = pt_open(path);
  run_and_check(p, 8, 8, 0);
  run_and_check(p, 12, 8, 1);
  run_and_check(p, 16, 8, 2);
  const TmProgram *first = p->programs[0].program, *second = p->programs[1].program;
  g_assert_nonnull(p->programs[2].program);
  run_and_check(p, 8, 8, 3); /* used again: not the one to go */
  run_and_check(p, 20, 8, 4);
  g_assert_true(p->programs[0].program == first);
  g_assert_true(p->programs[1].w == 20 && p->programs[1].program != NULL);
  (void)second;
  for (int i = 0; i < 20; i++) run_and_check(p, 4 + i, 9, (guint64)i);
  rt_remove(folder);
}

static void test_tiled(void) {
  const int sizes[][2] = {{300, 200}, {129, 500}, {128, 128}, {40, 700}, {1000, 3}};
  g_autofree char *folder = rt_folder();
  g_autoptr(TmClassTable) classes = pt_classes();
  g_autofree char *path = pt_write(folder, classes);
  g_autoptr(TmPredictor) p = pt_open(path);
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
    const int w = sizes[i][0], h = sizes[i][1];
    g_autofree guint8 *rgb = pt_picture(w, h, 100, i), *labels = g_malloc((gsize)w * (gsize)h);
    g_autoptr(GError) error = NULL;
    memset(labels, 77, (gsize)w * (gsize)h);
    g_assert_true(tm_predictor_run_tiled(p, rgb, w, h, 128, 32, labels, NULL, &error));
    g_assert_no_error(error);
    pt_assert_labels(rgb, w, h, labels);
  }
  rt_remove(folder);
}

/* Bytes of address space this process has. */
static gsize address_space(void) {
  g_autofree char *text = rt_read("/proc/self/statm", NULL);
  return (gsize)g_ascii_strtoull(text, NULL, 10) * (gsize)sysconf(_SC_PAGESIZE);
}

/* Where the whole picture does not fit into memory, tiles do, and the answer is the same. */
static void test_little_memory(void) {
#if defined(__SANITIZE_ADDRESS__)
  g_test_skip("the address sanitizer ends the program when memory is refused");
#else
  enum { W = 700, H = 500, ROOM = 16 << 20 };
  g_autofree char *folder = rt_folder();
  g_autoptr(TmClassTable) classes = pt_classes();
  g_autofree char *path = pt_write(folder, classes);
  g_autoptr(TmPredictor) p = pt_open(path);
  g_autofree guint8 *rgb = pt_picture(W, H, 100, 3), *labels = g_malloc0((gsize)W * H);
  g_autoptr(GError) error = NULL, whole_error = NULL;
  struct rlimit before, limit;
  g_assert_cmpint(getrlimit(RLIMIT_AS, &before), ==, 0);
  limit = before;
  limit.rlim_cur = address_space() + ROOM;
  g_assert_cmpint(setrlimit(RLIMIT_AS, &limit), ==, 0);
  const gboolean whole = tm_predictor_run_whole(p, rgb, W, H, labels, NULL, &whole_error);
  const gboolean ok = tm_predictor_run(p, rgb, W, H, labels, &error);
  g_assert_cmpint(setrlimit(RLIMIT_AS, &before), ==, 0);
  g_assert_false(whole);
  g_assert_error(whole_error, TM_ERROR, TM_ERROR_NO_MEMORY);
  g_assert_no_error(error);
  g_assert_true(ok);
  pt_assert_labels(rgb, W, H, labels);
  rt_remove(folder);
#endif
}

static void test_no_size(void) {
  g_autofree char *folder = rt_folder();
  g_autoptr(TmClassTable) classes = pt_classes();
  g_autofree char *path = pt_write(folder, classes);
  g_autoptr(TmPredictor) p = pt_open(path);
  g_autoptr(GError) error = NULL;
  guint8 one[3] = {0};
  g_assert_false(tm_predictor_run(p, one, 0, 5, one, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_SHAPE);
  rt_remove(folder);
}

/* ---- what is opened ---- */

static void test_run_folder(void) {
  g_autofree char *folder = rt_folder();
  g_autoptr(TmClassTable) classes = pt_classes();
  g_autoptr(GError) error = NULL;
  g_autofree char *run = tm_run_create(folder, "r", &error);
  g_autoptr(TmRunDir) r = tm_run_open(run, 0, &error);
  g_autoptr(TmCheckpoint) c = pt_checkpoint(classes);
  g_assert_null(tm_predictor_open(run, "ref", NULL, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_FILE);
  g_clear_error(&error);
  g_assert_true(tm_run_write_last(r, c, &error));
  g_autoptr(TmPredictor) last = pt_open(run);
  g_assert_true(g_str_has_suffix(tm_predictor_checkpoint(last), "last.safetensors"));
  g_assert_true(tm_run_write_best(r, c, &error));
  g_autoptr(TmPredictor) best = pt_open(run);
  g_assert_true(g_str_has_suffix(tm_predictor_checkpoint(best), "best.safetensors"));
  rt_remove(folder);
}

/* The network comes from the checkpoint, whatever is set elsewhere; both ways of upsampling open. */
static void test_architecture(void) {
  const char *const ways[] = {"transposed", "bilinear"};
  g_autofree char *folder = rt_folder(), *path = g_build_filename(folder, "net.safetensors", NULL);
  g_autoptr(TmClassTable) classes = pt_classes();
  for (guint i = 0; i < 2; i++)
    for (int batch_norm = 0; batch_norm < 2; batch_norm++) {
      TmSettings s;
      g_autoptr(GError) error = NULL;
      pt_settings(&s);
      g_assert_true(tm_settings_set(&s, "upsampling", ways[i], &error));
      s.batch_norm = batch_norm;
      g_autoptr(TmCheckpoint) c = tm_checkpoint_new();
      g_auto(TmNetMeta) m = {.settings = tm_settings_to_json(&s),
                             .classes = tm_class_table_copy(classes),
                             .std = {255, 255, 255}};
      tm_net_meta_write(tm_checkpoint_meta(c), &m);
      pt_weights(c, &s, 3);
      g_assert_true(tm_checkpoint_write(c, path, &error));
      g_autoptr(TmPredictor) p = pt_open(path);
      g_assert_cmpstr(tm_predictor_settings(p)->upsampling, ==, ways[i]);
      if (!batch_norm) run_and_check(p, 21, 13, i);
    }
  rt_remove(folder);
}

static void open_fails(const char *path, int code, const char *names) {
  g_autoptr(GError) error = NULL;
  g_autoptr(TmPredictor) p = tm_predictor_open(path, "ref", NULL, &error);
  g_assert_null(p);
  g_assert_error(error, TM_ERROR, code);
  g_assert_nonnull(strstr(error->message, path));
  if (!strstr(error->message, names)) g_printerr("%s\n", error->message);
  g_assert_nonnull(strstr(error->message, names));
}

/* Weights of another shape than the checkpoint says, and weights that are missing, are named with both
 * shapes. */
static void test_mismatch(void) {
  g_autofree char *folder = rt_folder(), *path = g_build_filename(folder, "net.safetensors", NULL);
  g_autoptr(TmClassTable) classes = pt_classes();
  g_autoptr(TmCheckpoint) c = pt_checkpoint(classes);
  g_autoptr(GError) error = NULL;
  pt_add(c, "up.1.weight", TM_SHAPE(6, 12, 1, 1)); /* as bilinear upsampling has it */
  g_assert_true(tm_checkpoint_write(c, path, &error));
  open_fails(path, TM_ERROR_DATA, "“up.1.weight” (6×12×1×1 there, 12×6×2×2 wanted)");
  g_autoptr(TmCheckpoint) none = tm_checkpoint_new();
  TmSettings s;
  pt_settings(&s);
  g_auto(TmNetMeta) m = {
      .settings = tm_settings_to_json(&s), .classes = tm_class_table_copy(classes), .std = {255, 255, 255}};
  tm_net_meta_write(tm_checkpoint_meta(none), &m);
  g_assert_true(tm_checkpoint_write(none, path, &error));
  open_fails(path, TM_ERROR_DATA, "“enc.0.0.weight” (not there)");
  rt_remove(folder);
}

static void test_foreign_and_damaged(void) {
  g_autofree char *folder = rt_folder(), *path = g_build_filename(folder, "net.safetensors", NULL);
  g_autoptr(TmCheckpoint) c = tm_checkpoint_new();
  g_autoptr(GError) error = NULL;
  pt_add(c, "enc.0.0.weight", TM_SHAPE(3, 3, 3, 3));
  g_assert_true(tm_checkpoint_write(c, path, &error));
  open_fails(path, TM_ERROR_DATA, "settings");
  rt_write(path, "no checkpoint at all", 20);
  open_fails(path, TM_ERROR_CORRUPT, "damaged");
  g_unlink(path);
  open_fails(path, TM_ERROR_FILE, "Give the folder of a run");
  rt_remove(folder);
}

/* A run with an average of its weights is judged by the average, also where only last.safetensors is there.
 */
static void test_average(void) {
  g_autofree char *folder = rt_folder(), *path = g_build_filename(folder, "net.safetensors", NULL);
  g_autoptr(TmClassTable) classes = pt_classes();
  g_autoptr(TmCheckpoint) c = pt_checkpoint(classes);
  g_autoptr(GError) error = NULL;
  g_auto(GStrv) names = tm_checkpoint_names(c);
  for (guint i = 0; names[i]; i++) {
    const TmTensor *t = tm_checkpoint_tensor(c, names[i]);
    g_autofree char *average = g_strconcat("ema.", names[i], NULL);
    TmTensor *copy = tm_tensor_new(TM_F32, t->shape, &error);
    memcpy(copy->data, t->data, tm_tensor_bytes(t));
    tm_checkpoint_add(c, average, copy);
    memset(t->data, 0, tm_tensor_bytes(t));
  }
  g_assert_true(tm_checkpoint_write(c, path, &error));
  g_autoptr(TmPredictor) p = pt_open(path);
  run_and_check(p, 33, 20, 1);
  rt_remove(folder);
}

static void test_other_classes(void) {
  g_autoptr(TmClassTable) three = pt_classes(), camvid = tm_class_table_camvid(), renamed = pt_classes();
  g_autoptr(GError) error = NULL;
  g_assert_false(tm_predictor_same_classes(three, camvid, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_DATA);
  g_assert_nonnull(strstr(error->message, "11"));
  g_clear_error(&error);
  g_free(renamed->classes[2].name);
  renamed->classes[2].name = g_strdup("Sometimes");
  g_assert_false(tm_predictor_same_classes(three, renamed, &error));
  g_assert_nonnull(
      strstr(error->message, "Class 2 is “Never” in the network and “Sometimes” in the dataset"));
  g_clear_error(&error);
  g_assert_true(tm_predictor_same_classes(three, three, &error));
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/predictor/sizes", test_sizes);
  g_test_add_func("/predictor/aligned", test_aligned);
  g_test_add_func("/predictor/keeps-programs", test_keeps_programs);
  g_test_add_func("/predictor/tiled", test_tiled);
  g_test_add_func("/predictor/little-memory", test_little_memory);
  g_test_add_func("/predictor/no-size", test_no_size);
  g_test_add_func("/predictor/run-folder", test_run_folder);
  g_test_add_func("/predictor/architecture-from-checkpoint", test_architecture);
  g_test_add_func("/predictor/mismatch-is-named", test_mismatch);
  g_test_add_func("/predictor/foreign-and-damaged", test_foreign_and_damaged);
  g_test_add_func("/predictor/average", test_average);
  g_test_add_func("/predictor/other-classes", test_other_classes);
  return g_test_run();
}
