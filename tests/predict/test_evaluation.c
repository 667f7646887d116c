/* test_evaluation.c: the scores of a net whose answers are known, against numpy and scipy, by hand, and through
 * the file they are kept in. */
#include "engine/predict/boundary.h"
#include "engine/predict/class_match.h"
#include "engine/predict/evaluate.h"

#include "engine/core/label.h"
#include "engine/data/png_write.h"
#include "engine/run/json_text.h"
#include "tests/predict/predict_test.h"

enum { W = 150, H = 110, PICTURES = 7, SEEDS = 28 };

/* ---- pictures with regions of all sizes ---- */

static guint nearest(const int seeds[SEEDS][2], int x, int y) {
  guint best = 0;
  int least = G_MAXINT;
  for (guint i = 0; i < SEEDS; i++) {
    const int dx = x - seeds[i][0], dy = y - seeds[i][1], d = dx * dx + dy * dy;
    if (d < least) {
      least = d;
      best = i;
    }
  }
  return best;
}

/* Light and dark cells, with some noise; the mask has them two pixels to the right, some of the third class, some
 * void, and dots. */
static void put_pair(const char *folder, guint number) {
  int seeds[SEEDS][2];
  guint8 *rgb = g_malloc(W * H * 3), *mask = g_malloc(W * H);
  TmRandom r;
  tm_random_seed(&r, number + 1);
  for (guint i = 0; i < SEEDS; i++) {
    seeds[i][0] = (int)tm_random_int(&r, W);
    seeds[i][1] = (int)tm_random_int(&r, H);
  }
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) {
      const gsize i = (gsize)y * W + (gsize)x;
      const guint cell = nearest(seeds, x, y), shifted = nearest(seeds, MAX(x - 2, 0), y);
      const gboolean noise = tm_random_int(&r, 60) == 0, light = (cell % 3 == 0) != noise;
      for (gsize k = 0; k < 3; k++)
        rgb[i * 3 + k] = (guint8)((light ? 135 : 0) + tm_random_int(&r, 110));
      mask[i] = shifted % 7 == 6 ? 9 : shifted % 5 == 4 ? 7 : shifted % 3 == 0 ? 200 : 3;
      if (number && tm_random_int(&r, 200) == 0) mask[i] = 7;
    }
  const guint32 palette[256] = {0};
  g_autofree char *name = g_strdup_printf("p%u.png", number),
                  *image = g_build_filename(folder, "images", "val", name, NULL),
                  *truth = g_build_filename(folder, "masks", "val", name, NULL);
  g_assert_true(tm_png_write_rgb(image, rgb, W, H, NULL));
  g_assert_true(tm_png_write_index(truth, mask, W, H, palette, 256, NULL));
  g_free(rgb);
  g_free(mask);
}

typedef struct {
  char *root, *net;
  TmPredictor *p;
  TmDataset *d;
} Place;

static void set_up(Place *x, gconstpointer data) {
  (void)data;
  g_autoptr(GError) error = NULL;
  g_autoptr(TmClassTable) classes = pt_classes();
  x->root = rt_folder();
  x->net = pt_write(x->root, classes);
  x->p = pt_open(x->net);
  const char *const parts[] = {"data/images/val", "data/masks/val", "data/images/train", "data/masks/train"};
  for (guint i = 0; i < G_N_ELEMENTS(parts); i++) {
    g_autofree char *part = g_build_filename(x->root, parts[i], NULL);
    g_assert_cmpint(g_mkdir_with_parents(part, 0700), ==, 0);
  }
  g_autofree char *folder = g_build_filename(x->root, "data", NULL);
  for (guint i = 0; i < PICTURES; i++) put_pair(folder, i);
  const TmDatasetOptions options = {.classes = classes};
  x->d = tm_dataset_open(folder, &options, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(tm_dataset_n_split(x->d, TM_SPLIT_VAL), ==, PICTURES);
}

static void tear_down(Place *x, gconstpointer data) {
  (void)data;
  tm_predictor_free(x->p);
  tm_dataset_unref(x->d);
  rt_remove(x->root);
  g_free(x->root);
  g_free(x->net);
}

static const TmEvaluateOptions val = {.split = TM_SPLIT_VAL};

static TmEvaluation *evaluate(const Place *x) {
  g_autoptr(GError) error = NULL;
  TmEvaluation *e = tm_evaluate(x->p, x->d, &val, NULL, NULL, &error);
  g_assert_no_error(error);
  return e;
}

/* ---- against numpy and scipy ---- */

static double difference(JsonObject *o, const char *key) {
  g_assert_true(json_object_has_member(o, key));
  const double v = json_object_get_double_member(o, key);
  g_test_message("%s: %g", key, v);
  return v;
}

static void test_against_scipy(Place *x, gconstpointer data) {
  (void)data;
  g_autofree char *python = rt_python();
  if (!python) return;
  g_autoptr(TmEvaluation) e = evaluate(x);
  g_autoptr(GError) error = NULL;
  g_assert_true(tm_evaluation_write(e, x->root, &error));
  g_autofree char *script = g_test_build_filename(G_TEST_DIST, "predict", "check_evaluation.py", NULL),
                  *folder = g_build_filename(x->root, "data", NULL),
                  *json = tm_evaluation_path(x->root, TM_SPLIT_VAL),
                  *seed = g_strdup_printf("%d", TM_BOOTSTRAP_SEED),
                  *out = rt_run((const char *[]){python, script, folder, json, seed, NULL});
  g_autoptr(JsonNode) node = tm_json_parse(out, strlen(out), 3, &error);
  g_assert_no_error(error);
  JsonObject *o = json_node_get_object(node);
  g_assert_cmpint(json_object_get_int_member(o, "pictures_n"), ==, PICTURES);
  static const char *const exact[] = {"iou",      "precision", "recall",   "f1",       "miou",
                                      "accuracy", "weighted",  "pictures", "boundary", "boundary_class",
                                      "regions",  "boundary_picture", "bootstrap"};
  for (guint i = 0; i < G_N_ELEMENTS(exact); i++) g_assert_cmpfloat(difference(o, exact[i]), <, 1e-9);
  /* The net's scores are f32, scipy's f64: a pixel may fall on the other side of a bin's edge. */
  g_assert_cmpfloat(difference(o, "calibration"), <, 1e-6);
  g_assert_cmpfloat(difference(o, "bins"), <=, 3);
  /* Other draws than ours, of numpy's own generator. */
  const double width = difference(o, "bootstrap_width");
  g_assert_cmpfloat(width, >, 0);
  g_assert_cmpfloat(difference(o, "bootstrap_numpy"), <, width * 0.15);
}

/* ---- by hand ---- */

static void test_boundary(void) {
  g_autoptr(GError) error = NULL;
  enum { SIDE = 12 };
  guint8 truth[SIDE * SIDE], call[SIDE * SIDE];
  double f1[3];
  for (int shift = 0; shift <= 5; shift++) { /* an upright edge, moved */
    for (int i = 0; i < SIDE * SIDE; i++) {
      truth[i] = i % SIDE >= 4;
      call[i] = i % SIDE >= 4 + shift;
    }
    g_assert_true(tm_boundary_f1(truth, call, SIDE, SIDE, 3, 3, f1, &error));
    g_assert_cmpfloat(f1[0], ==, shift <= 3 ? 1 : 0);
    g_assert_cmpfloat(f1[1], ==, shift <= 3 ? 1 : 0);
    g_assert_true(isnan(f1[2])); /* in neither */
  }
  memset(call, 0, sizeof call); /* no edge at all where there is one */
  g_assert_true(tm_boundary_f1(truth, call, SIDE, SIDE, 3, 3, f1, &error));
  g_assert_cmpfloat(f1[0], ==, 0);
  /* What lies beside void is no boundary, and what is called there is not held against the net. */
  for (int i = 0; i < SIDE * SIDE; i++) truth[i] = i % SIDE >= 4 ? TM_VOID : 0;
  for (int i = 0; i < SIDE * SIDE; i++) call[i] = i % SIDE >= 4;
  g_assert_true(tm_boundary_f1(truth, call, SIDE, SIDE, 3, 3, f1, &error));
  for (int c = 0; c < 3; c++) g_assert_true(isnan(f1[c]));
}

/* Two true regions under one predicted one: each is judged without the other. */
static void test_regions(void) {
  g_autoptr(GError) error = NULL;
  enum { WIDTH = 40, HEIGHT = 10 };
  guint8 truth[WIDTH * HEIGHT] = {0}, call[WIDTH * HEIGHT] = {0};
  TmRegionScore scores[2 * TM_REGION_SIZES] = {{0}};
  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH; x++) {
      truth[y * WIDTH + x] = x < 15 || x >= 20; /* 150 and 200 pixels, 50 between them */
      call[y * WIDTH + x] = 1;
    }
  g_assert_true(tm_regions_add(truth, call, WIDTH, HEIGHT, 2, scores, &error));
  g_assert_cmpuint(scores[TM_REGION_SIZES + 1].n, ==, 2);
  g_assert_cmpfloat_with_epsilon(scores[TM_REGION_SIZES + 1].sum, 150.0 / 200 + 200.0 / 250, 1e-12);
  g_assert_cmpuint(scores[0].n, ==, 1); /* the gap, missed */
  g_assert_cmpfloat(scores[0].sum, ==, 0);
}

static void test_one_picture_has_no_interval(Place *x, gconstpointer data) {
  (void)data;
  g_autoptr(TmEvaluation) e = evaluate(x);
  double low, high, low2, high2;
  g_assert_true(tm_evaluation_interval(e, 200, 3, &low, &high));
  g_assert_true(tm_evaluation_interval(e, 200, 3, &low2, &high2));
  g_assert_true(low == low2 && high == high2 && low < high);
  g_assert_true(low <= tm_confusion_miou(e->confusion) && tm_confusion_miou(e->confusion) <= high);
  g_ptr_array_set_size(e->pictures, 1);
  g_assert_false(tm_evaluation_interval(e, 200, 3, &low, &high));
  g_assert_true(isnan(low) && isnan(high));
}

/* The picture's cells are what the whole matrix is made of. */
static void test_cells(Place *x, gconstpointer data) {
  (void)data;
  g_autoptr(TmEvaluation) e = evaluate(x);
  gboolean leave_out[PICTURES] = {FALSE};
  g_autoptr(TmConfusion) all = tm_evaluation_without(e, leave_out);
  g_assert_cmpmem(all->pixels, 9 * sizeof(guint64), e->confusion->pixels, 9 * sizeof(guint64));
  leave_out[2] = TRUE;
  g_autoptr(TmConfusion) fewer = tm_evaluation_without(e, leave_out);
  const TmPictureScore *p = e->pictures->pdata[2];
  g_assert_cmpuint(fewer->pixels[1] + tm_picture_pixels(p, 0, 1), ==, all->pixels[1]);
  TmCell worst;
  g_assert_true(tm_picture_mistake(p, &worst));
  g_assert_cmpuint(worst.truth, !=, worst.call);
  for (guint t = 0; t < 3; t++)
    for (guint c = 0; c < 3; c++)
      if (t != c) g_assert_cmpuint(tm_picture_pixels(p, t, c), <=, worst.pixels);
}

/* ---- what goes wrong ---- */

static gboolean stop_at_three(const TmEvaluation *so_far, guint done, guint total, gpointer user) {
  guint *calls = user;
  g_assert_cmpuint(done, ==, ++*calls);
  g_assert_cmpuint(total, ==, PICTURES);
  g_assert_cmpuint(so_far->pictures->len, ==, done);
  return done < 3;
}

static void test_stopped(Place *x, gconstpointer data) {
  (void)data;
  g_autoptr(GError) error = NULL;
  guint calls = 0;
  g_assert_null(tm_evaluate(x->p, x->d, &val, stop_at_three, &calls, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_CANCELLED);
  g_assert_cmpuint(calls, ==, 3);
  g_clear_error(&error);
  const TmEvaluateOptions test = {.split = TM_SPLIT_TEST};
  g_assert_null(tm_evaluate(x->p, x->d, &test, NULL, NULL, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_DATA);
}

/* A picture that cannot be read is left out and named; the others are judged. When all are, that is an error. */
static void test_unreadable(Place *x, gconstpointer data) {
  (void)data;
  g_autoptr(GError) error = NULL;
  g_autofree char *image = g_build_filename(x->root, "data", "images", "val", "p3.png", NULL);
  rt_write(image, "no picture", 10);
  g_autoptr(TmEvaluation) e = evaluate(x);
  g_assert_cmpuint(e->pictures->len, ==, PICTURES - 1);
  g_assert_cmpuint(e->unreadable->len, ==, 1);
  g_assert_nonnull(strstr(e->unreadable->pdata[0], "p3.png"));
  for (guint i = 0; i < PICTURES; i++) {
    g_autofree char *name = g_strdup_printf("p%u.png", i),
                    *each = g_build_filename(x->root, "data", "images", "val", name, NULL);
    rt_write(each, "no picture", 10);
  }
  g_assert_null(tm_evaluate(x->p, x->d, &val, NULL, NULL, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_DATA);
  g_assert_nonnull(strstr(error->message, "p0.png"));
}

/* Classes of other names and another number: told, then matched, two of the net's with one of the data's. */
static void test_match(Place *x, gconstpointer data) {
  (void)data;
  g_autoptr(GError) error = NULL;
  g_autoptr(TmClassTable) other = tm_class_table_new(TM_MASK_INDEX);
  tm_class_table_add(other, "Extra", 0xff00ff, 7);
  tm_class_table_add(other, "dark", 0x102030, 3);
  tm_class_table_add(other, "Bright", 0xffffff, 200);
  tm_class_table_add(other, "More", 0x00ffff, 201);
  g_autoptr(TmDataset) d = tm_dataset_subset(x->d, NULL, other);
  g_assert_null(tm_evaluate(x->p, d, &val, NULL, NULL, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_DATA);
  g_assert_nonnull(strstr(error->message, "knows 3 classes"));
  g_clear_error(&error);
  guint8 match[3];
  g_assert_cmpuint(tm_class_match_by_name(tm_predictor_classes(x->p), other, match), ==, 2);
  g_assert_cmpuint(match[0], ==, 1);
  g_assert_cmpuint(match[1], ==, TM_NO_MATCH);
  const TmEvaluateOptions matched = {.split = TM_SPLIT_VAL, .match = match};
  g_assert_null(tm_evaluate(x->p, d, &matched, NULL, NULL, &error));
  g_assert_nonnull(strstr(error->message, "Light"));
  g_clear_error(&error);
  match[1] = match[2] = 2;
  g_autoptr(TmEvaluation) e = tm_evaluate(x->p, d, &matched, NULL, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpstr(e->left_out, ==, "Extra, More");
  g_autoptr(TmEvaluation) same = evaluate(x);
  g_assert_cmpuint(e->confusion->pixels[1 * 4 + 1], ==, same->confusion->pixels[0]);
  g_assert_cmpuint(e->confusion->pixels[2 * 4 + 1], ==, same->confusion->pixels[1 * 3 + 0]);
  g_assert_cmpuint(tm_confusion_truth(e->confusion, 0), ==, 0); /* what the net does not know is not judged */
}

/* ---- the file ---- */

static void test_written_and_read(Place *x, gconstpointer data) {
  (void)data;
  g_autoptr(GError) error = NULL;
  g_autoptr(TmEvaluation) e = evaluate(x);
  g_ptr_array_add(e->unreadable, g_strdup("“a, \"b\"” is cut"));
  g_assert_true(tm_evaluation_write(e, x->root, &error));
  g_autofree char *path = tm_evaluation_path(x->root, TM_SPLIT_VAL);
  g_autoptr(TmEvaluation) r = tm_evaluation_read(path, &error);
  g_assert_no_error(error);
  g_assert_cmpmem(r->confusion->pixels, 9 * sizeof(guint64), e->confusion->pixels, 9 * sizeof(guint64));
  g_assert_cmpuint(r->pictures->len, ==, PICTURES);
  g_assert_cmpfloat(tm_evaluation_boundary_f1(r), ==, tm_evaluation_boundary_f1(e));
  g_assert_cmpfloat(tm_reliability_error(r->bins), ==, tm_reliability_error(e->bins));
  for (guint k = 0; k < TM_REGION_SIZES; k++)
    g_assert_cmpfloat(tm_evaluation_regions(r, TM_MAX_CLASSES, k).sum, ==,
                      tm_evaluation_regions(e, TM_MAX_CLASSES, k).sum);
  g_assert_cmpstr(r->classes->classes[1].name, ==, e->classes->classes[1].name);
  g_assert_cmpstr(r->unreadable->pdata[0], ==, e->unreadable->pdata[0]);
  g_assert_cmpuint(r->epoch, ==, 5);
  g_autofree char *classes = tm_evaluation_class_csv(e), *again = tm_evaluation_class_csv(r);
  g_assert_cmpstr(classes, ==, again);
  g_assert_nonnull(strstr(classes, "\"Light, \"\"bright\"\"\","));
}

/* Whatever the file holds: read or refused by name, never a crash. */
static void test_damaged_file(Place *x, gconstpointer data) {
  (void)data;
  g_autoptr(GError) error = NULL;
  g_autoptr(TmEvaluation) e = evaluate(x);
  g_assert_true(tm_evaluation_write(e, x->root, &error));
  g_autofree char *path = tm_evaluation_path(x->root, TM_SPLIT_VAL);
  gsize size;
  g_autofree char *text = rt_read(path, &size);
  const char *const wrong[][2] = {{"\"cells\"", "\"sells\""},
                                  {"0 0 ", "0 9 "},
                                  {"\"pictures\"", "\"pixtures\""},
                                  {"evaluation 1", "evaluation 9"},
                                  {"\"split\" : \"val\"", "\"split\" : \"sun\""},
                                  {"\"boundary_sum\" : ", "\"boundary_sum\" : -"}};
  for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
    g_auto(GStrv) parts = g_strsplit(text, wrong[i][0], 2);
    g_assert_nonnull(parts[1]);
    g_autofree char *bad = g_strjoinv(wrong[i][1], parts);
    rt_write(path, bad, strlen(bad));
    g_autoptr(TmEvaluation) r = tm_evaluation_read(path, &error);
    if (i == G_N_ELEMENTS(wrong) - 1) continue; /* a number like others */
    g_assert_null(r);
    g_assert_error(error, TM_ERROR, TM_ERROR_CORRUPT);
    g_assert_nonnull(strstr(error->message, "evaluation-val.json"));
    g_clear_error(&error);
  }
  TmRandom random;
  tm_random_seed(&random, 5);
  for (int i = 0; i < 300; i++) {
    g_autofree char *bad = g_memdup2(text, size + 1);
    for (int k = 0; k < 3; k++) bad[tm_random_int(&random, (guint)size)] = (char)(32 + tm_random_int(&random, 90));
    rt_write(path, bad, tm_random_int(&random, 4) ? size : tm_random_int(&random, (guint)size));
    g_autoptr(TmEvaluation) r = tm_evaluation_read(path, NULL);
    if (r) tm_confusion_miou(r->confusion);
  }
  g_unlink(path);
  g_assert_null(tm_evaluation_read(path, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_FILE);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/evaluation/boundary", test_boundary);
  g_test_add_func("/evaluation/regions", test_regions);
#define ADD(name, func) g_test_add("/evaluation/" name, Place, NULL, set_up, func, tear_down)
  ADD("against-scipy", test_against_scipy);
  ADD("interval", test_one_picture_has_no_interval);
  ADD("cells", test_cells);
  ADD("stopped", test_stopped);
  ADD("unreadable", test_unreadable);
  ADD("match", test_match);
  ADD("written-and-read", test_written_and_read);
  ADD("damaged-file", test_damaged_file);
  return g_test_run();
}
