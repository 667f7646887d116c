/* test_int8.c: nets of bytes: their numbers, the ranges they need and where those are kept, and that they
 * answer as the trained net does, with the same bits on every engine. */
#include "engine/predict/calibrate.h"
#include "engine/predict/range.h"
#include "tests/predict/predict_test.h"

/* ---- ranges ---- */

static void test_range_of_zeros(void) {
  g_autofree TmRange *r = g_new0(TmRange, 1);
  const float zeros[8] = {0};
  tm_range_add(r, zeros, 8);
  g_assert_cmpfloat(tm_range_limit(r, 255), ==, 1);
}

/* Numbers spread evenly are not cut, whatever size came first. */
static void test_range_even(void) {
  enum { N = 20000 };
  g_autofree TmRange *r = g_new0(TmRange, 1);
  g_autofree float *x = g_new(float, N);
  for (int i = 0; i < N; i++) x[i] = (i % 2 ? -1.0f : 1.0f) * 100 * (float)i / N;
  tm_range_add(r, x, 50);
  tm_range_add(r, x, N);
  const double limit = tm_range_limit(r, 127);
  g_assert_cmpfloat(limit, >, 97);
  g_assert_cmpfloat(limit, <, 103);
}

/* A few very large numbers are not worth coarser steps for all others. */
static void test_range_cuts_outliers(void) {
  enum { N = 400000 };
  g_autofree TmRange *r = g_new0(TmRange, 1);
  g_autofree float *x = g_new(float, N);
  for (int i = 0; i < N; i++) x[i] = (float)i / N;
  x[5] = 40;
  tm_range_add(r, x, N);
  const double limit = tm_range_limit(r, 15);
  g_assert_cmpfloat(limit, >=, 0.9);
  g_assert_cmpfloat(limit, <, 20);
  g_assert_cmpfloat(tm_range_limit(r, 100000), >, 30); /* with many steps they are */
}

/* ---- a net with normalisation, of random numbers ---- */

typedef struct {
  TmUNet net;
  TmBackend *backend;
  TmGraph *graph;
  TmNode *picture, *logits, *labels;
  TmParams *params;
} Net;

static TmBackend *open_backend(const char *name) {
  g_autoptr(GError) error = NULL;
  TmBackend *b = tm_backend_open(name, &(TmBackendOptions){.threads = 2}, &error);
  g_assert_no_error(error);
  return b;
}

static void net_open(Net *n, const char *backend, TmShape picture) {
  n->net = (TmUNet){.classes = 5, .base = 8, .depth = 2, .batch_norm = TRUE, .bn_momentum = 0.1f};
  n->backend = open_backend(backend);
  n->graph = tm_graph_new();
  n->labels = tm_infer_graph(n->graph, &n->net, picture, &n->picture, &n->logits);
  g_assert_true(tm_graph_check(n->graph, NULL));
  n->params = tm_params_new(n->backend, n->graph, NULL);
  g_assert_nonnull(n->params);
  g_assert_true(tm_params_init(n->params, 3, NULL));
  for (guint i = 0; i < n->params->list->len; i++) { /* the vectors' first values are all alike */
    const TmParam *p = &g_array_index(n->params->list, TmParam, i);
    if (p->fan_in > 0) continue;
    const gboolean std = g_str_equal(p->name, "input.std"), mean = g_str_equal(p->name, "input.mean"),
                   around_1 = g_str_has_suffix(p->name, "weight") || g_str_has_suffix(p->name, "var");
    const gsize count = tm_shape_count(p->shape);
    g_autofree float *x = g_new(float, count);
    TmRandom r;
    tm_random_seed(&r, g_str_hash(p->name));
    for (gsize k = 0; k < count; k++)
      x[k] = std        ? 60 + 5 * (float)k
             : mean     ? 110.3f
             : around_1 ? tm_random_range(&r, 0.3f, 1)
                        : tm_random_range(&r, -0.2f, 0.2f);
    g_assert_true(tm_params_write(n->params, p, x, NULL));
  }
}

static void net_close(Net *n) {
  tm_params_free(n->params);
  tm_graph_free(n->graph);
  tm_backend_close(n->backend);
}

/* Takes each class's mean score off, so that no class wins everywhere. */
static void balance(Net *n, const guint8 *rgb) {
  const TmProgramOptions options = {.precision = TM_F32, .n_outputs = 1, .outputs = &n->logits};
  g_autoptr(TmProgram) p = tm_program_new(n->backend, n->params, n->graph, &options, NULL);
  const gsize count = tm_shape_count(n->logits->shape), classes = (gsize)n->net.classes;
  g_autofree float *x = g_new(float, count);
  float bias[8];
  const TmParam *b = tm_params_find(n->params, "head.bias");
  g_assert_true(tm_program_write(p, n->picture, rgb, TM_U8, NULL) && tm_program_run(p, NULL) &&
                tm_program_read(p, n->logits, x, TM_F32, NULL) &&
                tm_params_read(n->params, b, FALSE, bias, NULL));
  for (gsize i = 0; i < count; i++) bias[i % classes] -= x[i] * (float)classes / (float)count;
  g_assert_true(tm_params_write(n->params, b, bias, NULL));
}

static guint8 *answer(TmBackend *b, TmParams *params, const TmGraph *g, TmNode *picture, TmNode *labels,
                      const guint8 *rgb) {
  g_autoptr(GError) error = NULL;
  const TmProgramOptions options = {.precision = TM_F32, .n_outputs = 1, .outputs = &labels};
  g_autoptr(TmProgram) p = tm_program_new(b, params, g, &options, &error);
  g_assert_no_error(error);
  guint8 *out = g_malloc(tm_shape_count(labels->shape));
  g_assert_true(tm_program_write(p, picture, rgb, TM_U8, NULL) && tm_program_run(p, NULL) &&
                tm_program_read(p, labels, out, TM_U8, NULL));
  return out;
}

/* The limits a picture's own numbers give. */
static GHashTable *limits_of(Net *n, const TmQuantised *q, const guint8 *rgb) {
  GHashTable *limits = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
  const TmProgramOptions options = {
      .precision = TM_F32, .n_outputs = 1, .outputs = &n->labels, .keep_all = TRUE};
  g_autoptr(TmProgram) p = tm_program_new(n->backend, n->params, n->graph, &options, NULL);
  g_assert_true(tm_program_write(p, n->picture, rgb, TM_U8, NULL) && tm_program_run(p, NULL));
  for (guint i = 0; i < q->layers->len; i++) {
    const TmNode *out = g_array_index(q->layers, TmQuantisedLayer, i).out;
    if (!out) continue;
    const gsize count = tm_shape_count(out->shape);
    g_autofree float *x = g_new(float, count);
    g_autofree TmRange *r = g_new0(TmRange, 1);
    g_assert_true(tm_program_read(p, out, x, TM_F32, NULL));
    tm_range_add(r, x, count);
    const double limit = tm_range_limit(r, tm_quantised_positive(out) ? 255 : 127);
    g_hash_table_insert(limits, (gpointer)out->name, g_memdup2(&limit, sizeof limit));
  }
  return limits;
}

static guint8 *answer_in_bytes(Net *n, GHashTable *limits, const char *backend, const guint8 *rgb) {
  g_autoptr(GError) error = NULL;
  g_autoptr(TmQuantised) q = tm_quantised_new(n->graph, n->labels, &error);
  g_assert_no_error(error);
  TmBackend *b = open_backend(backend);
  TmParams *bytes = tm_params_new(b, q->graph, &error);
  g_assert_no_error(error);
  g_assert_true(tm_quantised_fill(q, bytes, n->params, limits, &error));
  guint8 *out = answer(b, bytes, q->graph, q->picture, q->labels, rgb);
  tm_params_free(bytes);
  tm_backend_close(b);
  return out;
}

/* Odd sizes are padded and cut again. */
static void test_answers_alike(void) {
  static const int sizes[][2] = {{32, 24}, {37, 51}, {16, 5}};
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
    const int w = sizes[i][0], h = sizes[i][1], pixels = w * h;
    Net n;
    net_open(&n, "ref", TM_SHAPE(1, 3, h, w));
    g_autofree guint8 *rgb = pt_picture(w, h, 90, 5);
    balance(&n, rgb);
    g_autoptr(TmQuantised) q = tm_quantised_new(n.graph, n.labels, NULL);
    g_autoptr(GHashTable) limits = limits_of(&n, q, rgb);
    g_autofree guint8 *real = answer(n.backend, n.params, n.graph, n.picture, n.labels, rgb);
    g_autofree guint8 *ref = answer_in_bytes(&n, limits, "ref", rgb);
    int same = 0, classes = 0;
    for (int k = 0; k < pixels; k++) {
      same += real[k] == ref[k] ? 1 : 0;
      classes |= 1 << real[k];
    }
    g_test_message("%d of %d pixels alike", same, pixels);
    g_assert_cmpint(same * 100, >=, pixels * 80);    /* of random scores many are close */
    g_assert_cmpint(classes & (classes - 1), !=, 0); /* not all of one class */
    if (tm_backend_available("cpu", NULL)) {
      g_autofree guint8 *cpu = answer_in_bytes(&n, limits, "cpu", rgb);
      g_assert_cmpmem(cpu, pixels, ref, pixels);
    }
    net_close(&n);
  }
}

static void test_missing_limit(void) {
  Net n;
  net_open(&n, "ref", TM_SHAPE(1, 3, 8, 8));
  g_autoptr(GError) error = NULL;
  g_autoptr(TmQuantised) q = tm_quantised_new(n.graph, n.labels, NULL);
  g_autoptr(TmParams) bytes = tm_params_new(n.backend, q->graph, NULL);
  g_autoptr(GHashTable) none = g_hash_table_new(g_str_hash, g_str_equal);
  g_assert_false(tm_quantised_fill(q, bytes, n.params, none, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_DATA);
  g_clear_pointer(&bytes, tm_params_free);
  net_close(&n);
}

static void test_bilinear_cannot(void) {
  const TmUNet net = {.classes = 3, .base = 4, .depth = 2, .bilinear = TRUE, .batch_norm = TRUE};
  g_autoptr(TmGraph) g = tm_graph_new();
  g_autoptr(GError) error = NULL;
  TmNode *labels = tm_infer_graph(g, &net, TM_SHAPE(1, 3, 8, 8), NULL, NULL);
  g_assert_null(tm_quantised_new(g, labels, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_UNSUPPORTED);
}

/* ---- the predictor ---- */

static TmDataset *roads(void) {
  g_autoptr(GError) error = NULL;
  const TmDatasetOptions options = {.demo_train = 3, .demo_val = 1, .demo_width = 64, .demo_height = 40};
  TmDataset *d = tm_dataset_open("demo", &options, &error);
  g_assert_no_error(error);
  return d;
}

static void check_known_answer(TmPredictor *p) {
  enum { W = 50, H = 31 };
  g_autofree guint8 *rgb = pt_picture(W, H, 64, 8), *labels = g_malloc(W * H);
  g_assert_true(tm_predictor_run(p, rgb, W, H, labels, NULL));
  for (int i = 0; i < W * H; i++) {
    const int sum = rgb[3 * i] + rgb[3 * i + 1] + rgb[3 * i + 2];
    if (ABS(sum - 382) > 25) g_assert_cmpint(labels[i], ==, pt_truth(rgb + 3 * i));
  }
}

static void test_predictor(void) {
  g_autofree char *folder = rt_folder();
  g_autoptr(TmClassTable) classes = pt_classes();
  g_autofree char *path = pt_write(folder, classes);
  g_autofree char *ranges = g_build_filename(folder, "net.int8.json", NULL);
  g_autoptr(TmDataset) d = roads();
  g_autoptr(GError) error = NULL;
  {
    g_autoptr(TmPredictor) p = pt_open(path);
    g_assert_false(tm_predictor_is_calibrated(p));
    g_assert_false(tm_predictor_set_precision(p, "int8", &error));
    g_assert_error(error, TM_ERROR, TM_ERROR_DATA);
    g_clear_error(&error);
    g_assert_cmpstr(tm_predictor_precision(p), ==, "f32");
    g_assert_true(tm_predictor_calibrate(p, d, NULL, NULL, &error));
    g_assert_true(tm_predictor_set_precision(p, "int8", &error));
    g_assert_cmpstr(tm_predictor_precision(p), ==, "int8");
    check_known_answer(p);
    g_assert_true(tm_predictor_set_precision(p, "f32", &error));
    g_assert_cmpstr(tm_predictor_precision(p), ==, "f32");
    check_known_answer(p);
    g_assert_false(tm_predictor_set_precision(p, "int4", &error));
    g_assert_error(error, TM_ERROR, TM_ERROR_SETTING);
  }
  g_assert_true(g_file_test(ranges, G_FILE_TEST_EXISTS));
  g_autoptr(TmPredictor) again = pt_open(path);
  g_assert_true(tm_predictor_is_calibrated(again));
  g_assert_true(tm_predictor_set_precision(again, "int8", NULL));
  check_known_answer(again);
  rt_remove(folder);
}

/* Ranges of other weights, and a file that was changed or broken, count as none. */
static void test_other_weights(void) {
  g_autofree char *folder = rt_folder();
  g_autofree char *path = g_build_filename(folder, "x.int8.json", NULL);
  g_autofree char *stem = tm_calibration_path("/a/b/x.safetensors");
  g_assert_cmpstr(stem, ==, "/a/b/x.int8.json");
  g_autoptr(GHashTable) limits = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  const double limit = 2.5;
  g_hash_table_insert(limits, g_strdup("enc.0.2"), g_memdup2(&limit, sizeof limit));
  g_assert_null(tm_calibration_read(path, 7));
  g_assert_true(tm_calibration_write(path, limits, 7, NULL));
  g_autoptr(GHashTable) same = tm_calibration_read(path, 7);
  g_assert_nonnull(same);
  g_assert_cmpfloat(*(double *)g_hash_table_lookup(same, "enc.0.2"), ==, 2.5);
  g_assert_null(tm_calibration_read(path, 8));
  static const char *const changes[][2] = {{"2.5", "3.5"}, {"2.5", "[2.5]"}, {"2.5", "1e999"}, {"0.2", "0.3"}};
  gsize size;
  g_autofree char *good = rt_read(path, &size);
  for (guint i = 0; i < G_N_ELEMENTS(changes); i++) {
    g_autoptr(GString) text = g_string_new(good);
    g_assert_cmpuint(g_string_replace(text, changes[i][0], changes[i][1], 0), >, 0);
    rt_write(path, text->str, text->len);
    g_assert_null(tm_calibration_read(path, 7));
  }
  static const char *const broken[] = {"", "{", "[]", "{\"weights_crc32c\":7}",
                                       "{\"weights_crc32c\":7,\"limits\":3}"};
  for (guint i = 0; i < G_N_ELEMENTS(broken); i++) {
    rt_write(path, broken[i], strlen(broken[i]));
    g_assert_null(tm_calibration_read(path, 7));
  }
  rt_remove(folder);
}

static gboolean stop(guint done, guint total, gpointer user) {
  (void)done;
  (void)total;
  (void)user;
  return FALSE;
}

static void test_stopped(void) {
  g_autofree char *folder = rt_folder();
  g_autoptr(TmClassTable) classes = pt_classes();
  g_autofree char *path = pt_write(folder, classes);
  g_autoptr(TmPredictor) p = pt_open(path);
  g_autoptr(TmDataset) d = roads();
  g_autoptr(GError) error = NULL;
  g_assert_false(tm_predictor_calibrate(p, d, stop, NULL, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_CANCELLED);
  g_assert_false(tm_predictor_is_calibrated(p));
  rt_remove(folder);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/predict/int8/range/zeros", test_range_of_zeros);
  g_test_add_func("/predict/int8/range/even", test_range_even);
  g_test_add_func("/predict/int8/range/outliers", test_range_cuts_outliers);
  g_test_add_func("/predict/int8/answers-alike", test_answers_alike);
  g_test_add_func("/predict/int8/missing-limit", test_missing_limit);
  g_test_add_func("/predict/int8/bilinear", test_bilinear_cannot);
  g_test_add_func("/predict/int8/predictor", test_predictor);
  g_test_add_func("/predict/int8/other-weights", test_other_weights);
  g_test_add_func("/predict/int8/stopped", test_stopped);
  return g_test_run();
}
