/* Which of cuDNN's engines a convolution gets: those that keep to what was asked, the fastest of them, and
 * the same one again from the file where it was written down. On the stand-in, whose engines are in
 * cudnn_engines.c. */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <tm_host.h>

#include "engine/backend/cuda/plan.h"
#include "tests/cuda-host/host_bench.h"

typedef struct {
  CudnnTarget target;
  CudnnSpec spec;
} Fixture;

static const TmShape x_shape = {2, 8, 6, 5}, w_shape = {16, 8, 3, 3}, y_shape = {2, 16, 6, 5};

static void set_up(Fixture *f, gconstpointer data) {
  (void)data;
  *f = (Fixture){
      .target = {.api = tm_cudnn(NULL), .most_workspace = 1 << 20},
      .spec = {
          .type = TM_BF16, .x = x_shape, .w = w_shape, .y = y_shape, .pad = 1, .stride = 1, .dilation = 1}};
  g_assert_cmpint(cudaStreamCreateWithFlags(&f->target.stream, cudaStreamNonBlocking), ==, cudaSuccess);
  g_assert_cmpint(f->target.api->cudnnCreate(&f->target.handle), ==, CUDNN_STATUS_SUCCESS);
  f->target.api->cudnnSetStream(f->target.handle, f->target.stream);
}

static void tear_down(Fixture *f, gconstpointer data) {
  (void)data;
  f->target.api->cudnnDestroy(f->target.handle);
  cudaStreamDestroy(f->target.stream);
  g_assert_cmpint(tm_host_live(), ==, 0);
}

static CudnnPlan *plan(const Fixture *f) {
  g_autoptr(GError) error = NULL;
  CudnnPlan *p = tm_cudnn_plan_new(&f->target, &f->spec, &error);
  g_assert_no_error(error);
  return p;
}

static void assert_engine(const Fixture *f, const char *pattern, int candidates) {
  CudnnPlan *p = plan(f);
  if (!g_pattern_match_simple(pattern, tm_cudnn_plan_engine(p)))
    g_test_fail_printf("engine %s, not %s", tm_cudnn_plan_engine(p), pattern);
  g_assert_cmpint(tm_cudnn_plan_candidates(p), ==, candidates);
  tm_cudnn_plan_free(p);
}

/* Heuristics A name 20, 62 4, 62 1; B 62 1, 62 5; the fallback 1 (too much work space), 25 (sums in 16 bits),
 * 0. */
static void test_filters(Fixture *f, gconstpointer data) {
  (void)data;
  assert_engine(f, "*", 5); /* 20, 62 thrice, 0: each once */
  f->target.deterministic = TRUE;
  assert_engine(f, "*", 4);
  f->spec.type = TM_F32; /* tensor cores would round it */
  assert_engine(f, "0", 1);
  f->target.tf32 = TRUE;
  assert_engine(f, "*", 4);
  f->target.tf32 = FALSE;
  f->target.most_workspace = (gsize)1 << 34;
  assert_engine(f, "*", 2); /* 1 and 0 */
  f->spec.type = TM_BF16;
  f->target.most_workspace = 0;
  assert_engine(f, "0", 1);
}

static void test_none(Fixture *f, gconstpointer data) {
  (void)data;
  g_autoptr(GError) error = NULL;
  f->spec.epilogue = CUDNN_SUMS; /* of bf16: nobody has that */
  g_assert_null(tm_cudnn_plan_new(&f->target, &f->spec, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_UNSUPPORTED);
  f->spec.type = TM_F16;
  assert_engine(f, "2 2:*", 2);
  f->target.most_workspace = 0;
  g_clear_error(&error);
  g_assert_null(tm_cudnn_plan_new(&f->target, &f->spec, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_UNSUPPORTED);
}

static char *cache_file(void) {
  return g_build_filename(g_get_user_cache_dir(), "tarmac", "engines-test.ini", NULL);
}

static void open_cache(Fixture *f, const char *machine) {
  tm_machine_cache_free(f->target.cache);
  f->target.cache = tm_machine_cache_new("engines-test.ini", machine);
}

static void test_remembered(Fixture *f, gconstpointer data) {
  (void)data;
  g_autofree char *file = cache_file();
  g_unlink(file);
  open_cache(f, "A100");
  CudnnPlan *first = plan(f);
  g_assert_cmpint(tm_cudnn_plan_candidates(first), ==, 5);
  g_assert_cmpfloat(tm_cudnn_plan_time(first), >=, 0);
  open_cache(f, "A100"); /* as the next start of the program does */
  CudnnPlan *again = plan(f);
  g_assert_cmpint(tm_cudnn_plan_candidates(again), ==, 1);
  g_assert_cmpstr(tm_cudnn_plan_engine(again), ==, tm_cudnn_plan_engine(first));
  g_assert_cmpfloat(fabsf(tm_cudnn_plan_time(again) - tm_cudnn_plan_time(first)), <,
                    1e-4f * tm_cudnn_plan_time(first) + 1e-9f);
  g_assert_cmpuint(tm_cudnn_plan_workspace(again), ==, tm_cudnn_plan_workspace(first));
  tm_cudnn_plan_free(again);
  tm_cudnn_plan_free(first);
  open_cache(f, "H200");
  assert_engine(f, "*", 5);
  assert_engine(f, "*", 1);
  f->spec.pad = 0, f->spec.y.h = 4, f->spec.y.w = 3; /* another convolution */
  assert_engine(f, "*", 5);
  f->target.most_workspace = 0; /* other conditions */
  assert_engine(f, "*", 2);     /* 20 and 0 */
  g_clear_pointer(&f->target.cache, tm_machine_cache_free);
}

/* Has the one convolution that the file knows, or will, run by the engine in @line. */
static void write_engine(Fixture *f, const char *file, const char *line) {
  tm_cudnn_plan_free(plan(f));
  g_autoptr(GKeyFile) keys = g_key_file_new();
  g_assert_true(g_key_file_load_from_file(keys, file, G_KEY_FILE_NONE, NULL));
  g_auto(GStrv) key = g_key_file_get_keys(keys, "A100", NULL, NULL);
  g_assert_cmpuint(g_strv_length(key), ==, 1);
  g_key_file_set_string(keys, "A100", key[0], line);
  g_assert_true(g_key_file_save_to_file(keys, file, NULL));
  open_cache(f, "A100");
}

/* The file is the user's: what stands there need not be true. */
static void test_spoilt(Fixture *f, gconstpointer data) {
  (void)data;
  static const char *const lines[] = {
      "",           "nonsense",       "1",         "0.1 ",  "0.1 99", "0.1 62 2:77", "0.1 62 2",
      "0.1 62 9:1", "0.1 62 2:4 and", "0.1 2 2:4", "0.1 1", "0.1 25", "0.1 -1",      "0.1 20"};
  f->target.deterministic = TRUE;
  g_autofree char *file = cache_file(), *text = NULL;
  g_unlink(file);
  open_cache(f, "A100");
  assert_engine(f, "*", 4);
  assert_engine(f, "*", 1);
  for (guint i = 0; i < G_N_ELEMENTS(lines); i++) {
    write_engine(f, file, lines[i]);
    CudnnPlan *p = plan(f);
    if (tm_cudnn_plan_candidates(p) != 4) g_test_fail_printf("“%s” was believed", lines[i]);
    tm_cudnn_plan_free(p);
  }
  g_assert_true(g_file_set_contents(file, "[A100\n\xff", -1, NULL));
  open_cache(f, "A100");
  assert_engine(f, "*", 4);
  g_clear_pointer(&f->target.cache, tm_machine_cache_free);
}

/* What could not be timed is not written down. */
static void test_untimed(Fixture *f, gconstpointer data) {
  (void)data;
  g_autofree char *file = cache_file();
  g_unlink(file);
  open_cache(f, "A100");
  tm_host_fail("cudaMalloc", 1, cudaErrorMemoryAllocation);
  CudnnPlan *p = plan(f);
  g_assert_cmpstr(tm_cudnn_plan_engine(p), ==, "20"); /* the heuristics' first */
  g_assert_cmpfloat(tm_cudnn_plan_time(p), <, 0);
  tm_cudnn_plan_free(p);
  tm_host_fail(NULL, 0, cudaSuccess);
  assert_engine(f, "*", 5);
  g_clear_pointer(&f->target.cache, tm_machine_cache_free);
}

/* One product a pixel: y = x w, whose rounding shows what was multiplied. */
static float product(const Fixture *f, float x, float w) {
  float *memory, y;
  CudnnPlan *p = plan(f);
  g_assert_cmpint(cudaMalloc((void **)&memory, 1 << 16), ==, cudaSuccess);
  const CudnnOperands o = {.x = memory, .w = memory + 64, .y = memory + 128, .workspace = memory + 4096};
  for (int i = 0; i < 8; i++) memory[i] = i ? 0 : x, memory[64 + i] = i ? 0 : w; /* the stand-in's memory */
  g_assert_true(tm_cudnn_plan_bind(p, &o, NULL) && tm_cudnn_plan_run(p, NULL));
  cudaStreamSynchronize(f->target.stream);
  cudaMemcpy(&y, o.y, sizeof y, cudaMemcpyDeviceToHost);
  cudaFree(memory);
  tm_cudnn_plan_free(p);
  return y;
}

static void test_tf32(Fixture *f, gconstpointer data) {
  (void)data;
  const float x = 1 + 0x1p-10f + 0x1p-20f, w = 1 - 0x1p-12f;
  f->spec = (CudnnSpec){
      .type = TM_F32, .x = {1, 8, 1, 1}, .w = {1, 8, 1, 1}, .y = {1, 1, 1, 1}, .stride = 1, .dilation = 1};
  f->target.deterministic = TRUE;
  g_assert_true(product(f, x, w) == x * w);
  f->target.tf32 = TRUE;
  g_autofree char *file = cache_file();
  g_unlink(file);
  open_cache(f, "A100");
  write_engine(f, file, "0.1 62 2:4");
  g_assert_true(product(f, x, w) == 1 + 0x1p-10f);
  write_engine(f, file, "0.1 0");
  g_assert_true(product(f, x, w) == x * w);
  g_clear_pointer(&f->target.cache, tm_machine_cache_free);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  host_bench_own_cache();
#define ADD(name, function) g_test_add("/cuda-host/engines/" name, Fixture, NULL, set_up, function, tear_down)
  ADD("filters", test_filters);
  ADD("none", test_none);
  ADD("remembered", test_remembered);
  ADD("spoilt", test_spoilt);
  ADD("untimed", test_untimed);
  ADD("tf32", test_tf32);
  return g_test_run();
}
