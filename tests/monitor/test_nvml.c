/* test_nvml.c: GPUs through a stand-in for NVIDIA's library, and the sentence for every way in which there is
 * none. */
#include <string.h>

#include <glib/gstdio.h>

#include "engine/monitor/monitor.h"
#include "engine/monitor/nvml.h"

static const char *fake, *empty;

/* Every test begins with the stand-in, two GPUs and nothing hidden. */
static void begin(const char *mode) {
  g_setenv("TARMAC_NVML", fake, TRUE);
  g_setenv("FAKE_NVML", mode, TRUE);
  g_unsetenv("CUDA_VISIBLE_DEVICES");
  g_unsetenv("FAKE_NVML_LOG");
}

static TmNvml *open_fake(void) {
  g_autoptr(GError) error = NULL;
  TmNvml *n = tm_nvml_open(&error);
  g_assert_no_error(error);
  g_assert_nonnull(n);
  return n;
}

static void refuse(const char *words) {
  g_autoptr(GError) error = NULL;
  g_assert_null(tm_nvml_open(&error));
  g_assert_error(error, TM_ERROR, TM_ERROR_DEVICE);
  g_test_message("%s", error->message);
  g_assert_nonnull(strstr(error->message, words));
}

static char *uuid_of(TmNvml *n) {
  TmMachine m = {0};
  tm_nvml_machine(n, &m);
  char *uuid = g_steal_pointer(&m.gpu_uuid);
  tm_machine_clear(&m);
  return uuid;
}

static void test_values(void) {
  begin("");
  g_autoptr(TmNvml) n = open_fake();
  TmMonitorSample s = {0};
  tm_nvml_sample(n, &s);
  for (int r = TM_READING_GPU_LOAD; r < TM_N_READINGS; r++) g_assert_true(s.valid >> r & 1);
  g_assert_cmpfloat(s.value[TM_READING_GPU_LOAD], ==, 62);
  g_assert_cmpfloat(s.value[TM_READING_GPU_MEMORY], ==,
                    (double)(3ull << 30)); /* without the driver's reserve */
  g_assert_cmpfloat(s.value[TM_READING_GPU_TEMPERATURE], ==, 61);
  g_assert_cmpfloat(s.value[TM_READING_GPU_POWER], ==, 250.5);
  g_assert_cmpfloat(s.value[TM_READING_GPU_CLOCK], ==, 1410);
}

/* What the GPU does not give is invalid; the rest stays. */
static void test_partly(void) {
  begin("quiet old");
  g_autoptr(TmNvml) n = open_fake();
  TmMonitorSample s = {0};
  tm_nvml_sample(n, &s);
  g_assert_cmpuint(s.valid, ==,
                   1u << TM_READING_GPU_MEMORY | 1u << TM_READING_GPU_TEMPERATURE |
                       1u << TM_READING_GPU_CLOCK);
  g_assert_cmpfloat(s.value[TM_READING_GPU_MEMORY], ==, (double)(4ull << 30));
}

static void test_machine(void) {
  begin("");
  TmMachine m;
  tm_machine_read(&m);
  g_assert_cmpstr(m.gpu, ==, "NVIDIA Fake 100");
  g_assert_cmpstr(m.gpu_uuid, ==, "GPU-11111111-aaaa");
  g_assert_cmpuint(m.gpu_memory, ==, 80ull << 30);
  g_assert_cmpstr(m.driver, ==, "550.54.14");
  g_assert_cmpstr(m.cuda, ==, "12.4");
  g_assert_null(m.gpu_reason);
  g_assert_nonnull(m.cpu);
  g_assert_cmpint(m.cores, >=, 1);
  tm_machine_clear(&m);
  g_assert_null(m.cpu);
}

/* No library, no function in it, no driver, no GPU: the machine is read all the same, with a reason. */
static void test_absent(void) {
  begin("");
  g_setenv("TARMAC_NVML", "libtarmac-there-is-no-such-library.so.1", TRUE);
  refuse("libnvidia-ml.so.1");
  TmMachine m;
  tm_machine_read(&m);
  g_assert_null(m.gpu);
  g_assert_null(m.gpu_uuid);
  g_assert_cmpuint(m.gpu_memory, ==, 0);
  g_assert_nonnull(m.gpu_reason);
  tm_machine_clear(&m);
  g_setenv("TARMAC_NVML", empty, TRUE);
  refuse("nvmlInit_v2");
  begin("init=9");
  refuse("not loaded");
  begin("init=18");
  refuse("Restart");
  begin("init=999");
  refuse("Unknown Error");
  begin("count=0");
  refuse("no GPU");
}

/* The GPU that CUDA would use first, not number 0 of another list. */
static void test_visible(void) {
  static const struct {
    const char *visible, *uuid;
  } cases[] = {{"1,0", "GPU-22222222-bbbb"},
               {"0,1", "GPU-11111111-aaaa"},
               {" 1 ", "GPU-22222222-bbbb"},
               {"GPU-22222222-bbbb", "GPU-22222222-bbbb"},
               {"GPU-2222,GPU-1111", "GPU-22222222-bbbb"}};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    begin("");
    g_setenv("CUDA_VISIBLE_DEVICES", cases[i].visible, TRUE);
    g_autoptr(TmNvml) n = open_fake();
    g_autofree char *uuid = uuid_of(n);
    g_assert_cmpstr(uuid, ==, cases[i].uuid);
  }
  static const char *const hiding[] = {"", "-1", "NoDevFiles", "2", "GPU-3333"};
  for (gsize i = 0; i < G_N_ELEMENTS(hiding); i++) {
    begin("");
    g_setenv("CUDA_VISIBLE_DEVICES", hiding[i], TRUE);
    refuse("CUDA_VISIBLE_DEVICES");
  }
}

static void test_select(void) {
  begin("");
  g_autoptr(TmNvml) n = open_fake();
  g_assert_true(tm_nvml_select(n, "GPU-22222222-bbbb"));
  g_autofree char *second = uuid_of(n);
  g_assert_cmpstr(second, ==, "GPU-22222222-bbbb");
  g_assert_false(tm_nvml_select(n, "GPU-9"));
  g_assert_false(tm_nvml_select(n, ""));
  g_autofree char *still = uuid_of(n);
  g_assert_cmpstr(still, ==, "GPU-22222222-bbbb");
}

/* Every start has its end, also where opening fails half-way. */
static void test_balance(void) {
  g_autofree char *dir = g_dir_make_tmp("tarmac-nvml-XXXXXX", NULL),
                  *log = g_build_filename(dir, "log", NULL), *text = NULL;
  static const char *const modes[] = {"", "count=0", "quiet"};
  for (gsize i = 0; i < G_N_ELEMENTS(modes); i++) {
    begin(modes[i]);
    g_setenv("FAKE_NVML_LOG", log, TRUE);
    g_autoptr(TmNvml) n G_GNUC_UNUSED = tm_nvml_open(NULL);
  }
  g_assert_true(g_file_get_contents(log, &text, NULL, NULL));
  g_assert_cmpstr(text, ==, "init\nshutdown\ninit\nshutdown\ninit\nshutdown\n");
  g_unlink(log);
  g_rmdir(dir);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  if (argc < 3) {
    g_printerr("usage: test_nvml FAKE_NVML EMPTY_LIBRARY\n");
    return 2;
  }
  fake = argv[1];
  empty = argv[2];
  g_test_add_func("/nvml/values", test_values);
  g_test_add_func("/nvml/partly", test_partly);
  g_test_add_func("/nvml/machine", test_machine);
  g_test_add_func("/nvml/absent", test_absent);
  g_test_add_func("/nvml/visible", test_visible);
  g_test_add_func("/nvml/select", test_select);
  g_test_add_func("/nvml/balance", test_balance);
  return g_test_run();
}
