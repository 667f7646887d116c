/* test_nvml.c: GPUs through a stand-in for NVIDIA's library, and the sentence for every way in which there is
 * none. */
#include <math.h>
#include <string.h>
#include <unistd.h>

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
  g_assert_cmpfloat(s.value[TM_READING_GPU_MEMORY_LOAD], ==, 9);
  g_assert_cmpfloat(s.value[TM_READING_GPU_MEMORY_CLOCK], ==, 2619);
  g_assert_cmpfloat(s.value[TM_READING_GPU_THROTTLE], ==, TM_THROTTLE_HEAT);
  g_assert_cmpfloat(s.value[TM_READING_GPU_PCIE_GENERATION], ==, 1);
  g_assert_cmpfloat(s.value[TM_READING_GPU_PCIE_LANES], ==, 8);
}

/* In and out are not mixed up, come in bytes, and are asked for once a second, for each GPU by itself. */
static void test_pcie(void) {
  begin("");
  g_autoptr(TmNvml) n = open_fake();
  TmMonitorSample a = {.time_us = 1000}, b = {.time_us = 900000}, c = {.time_us = 1100000},
                  other = {.time_us = 1000};
  tm_nvml_sample_gpu(n, 0, &a);
  tm_nvml_sample_gpu(n, 0, &b);
  tm_nvml_sample_gpu(n, 1, &other);
  tm_nvml_sample_gpu(n, 0, &c);
  const double in = a.value[TM_READING_GPU_PCIE_IN], out = a.value[TM_READING_GPU_PCIE_OUT];
  g_assert_cmpfloat(in - out, ==, 1000 * 1024);
  g_assert_cmpfloat(in, >=, 2000 * 1024);
  g_assert_cmpfloat(b.value[TM_READING_GPU_PCIE_IN], ==, in);
  g_assert_true(b.valid >> TM_READING_GPU_PCIE_IN & 1);
  g_assert_cmpfloat(other.value[TM_READING_GPU_PCIE_IN], ==, in + 1024);
  g_assert_cmpfloat(c.value[TM_READING_GPU_PCIE_IN], ==, in + 2048);
}

static void test_gpus(void) {
  begin("");
  g_setenv("CUDA_VISIBLE_DEVICES", "1", TRUE);
  TmMachine m;
  tm_machine_read(&m);
  g_assert_cmpstr(m.gpu, ==, "NVIDIA Fake 200"); /* the one that programs see */
  g_assert_cmpuint(m.n_gpus, ==, 2);             /* but all are told of */
  const TmGpu *g = &m.gpus[0];
  g_assert_cmpstr(g->name, ==, "NVIDIA Fake 100");
  g_assert_cmpstr(g->uuid, ==, "GPU-11111111-aaaa");
  g_assert_cmpstr(g->bus, ==, "00000000:01:00.0");
  g_assert_cmpuint(g->memory, ==, 80ull << 30);
  g_assert_cmpfloat(g->power_limit, ==, 700);
  g_assert_cmpfloat(g->clock, ==, 1980);
  g_assert_cmpfloat(g->memory_clock, ==, 3201);
  g_assert_cmpfloat(g->slow_at, ==, 89);
  g_assert_cmpfloat(g->off_at, ==, 92);
  g_assert_cmpfloat(g->pcie_generation, ==, 5);
  g_assert_cmpint(g->pcie_lanes, ==, 16);
  g_assert_cmpint(g->compute_major * 10 + g->compute_minor, ==, 90);
  g_assert_true(g->knows_persistence && g->persistence);
  g_assert_cmpstr(m.gpus[1].bus, ==, "00000000:C1:00.0");
  g_assert_true(m.gpus[1].knows_persistence && !m.gpus[1].persistence);
  tm_machine_clear(&m);
  g_assert_cmpuint(m.n_gpus, ==, 0);
}

/* This process among them; what is not known is not 0; more than were counted are not written past the end.
 */
static void test_programs(void) {
  static const char *const modes[] = {"", "busy"};
  for (gsize i = 0; i < G_N_ELEMENTS(modes); i++) {
    begin(modes[i]);
    g_autoptr(TmNvml) n = open_fake();
    g_autoptr(GArray) all = tm_nvml_programs(n, 0), other = tm_nvml_programs(n, 1);
    g_assert_cmpuint(other->len, ==, 1);
    g_assert_cmpuint(all->len, ==,
                     i == 0 ? 3 : 1); /* busy: the driver says "too small"; the next look has them */
    const TmGpuProgram *last = &g_array_index(all, TmGpuProgram, all->len - 1);
    g_assert_true(last->draws);
    if (i > 0) continue;
    const TmGpuProgram *me = &g_array_index(all, TmGpuProgram, 0), *unseen = me + 1;
    g_assert_cmpuint(me->pid, ==, (guint)getpid());
    g_assert_cmpstr(me->name, ==, "test_nvml");
    g_assert_cmpfloat(me->memory, ==, (double)(2ull << 30));
    g_assert_false(me->draws);
    g_assert_null(unseen->name);
    g_assert_true(isnan(unseen->memory));
  }
}

/* A GPU that fell off its bus gives no reading, and no fact is made up. */
static void test_lost(void) {
  begin("lost");
  g_autoptr(TmNvml) n = open_fake();
  TmMonitorSample s = {.time_us = 1};
  tm_nvml_sample(n, &s);
  g_assert_cmpuint(s.valid, ==, 0);
  TmGpu g;
  tm_nvml_gpu(n, 0, &g);
  g_assert_cmpstr(g.name, ==, "NVIDIA GPU");
  g_assert_null(g.uuid);
  g_assert_null(g.bus);
  g_assert_true(isnan(g.power_limit) && isnan(g.slow_at) && isnan(g.pcie_generation));
  g_assert_cmpint(g.pcie_lanes + g.compute_major, ==, 0);
  g_assert_false(g.knows_persistence);
  tm_gpu_clear(&g);
  g_autoptr(GArray) all = tm_nvml_programs(n, 0);
  g_assert_cmpuint(all->len, ==, 0);
}

static void test_throttle(void) {
  static const struct {
    guint bits;
    const char *text;
  } cases[] = {{0, NULL},
               {TM_THROTTLE_IDLE, NULL},
               {TM_THROTTLE_HEAT, "slowed down by heat"},
               {TM_THROTTLE_HARDWARE | TM_THROTTLE_HARDWARE_HEAT | TM_THROTTLE_POWER,
                "slowed down by heat, by its power limit"},
               {TM_THROTTLE_HARDWARE, "slowed down by its hardware"},
               {1u << 20, NULL}};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = tm_throttle_text(cases[i].bits);
    g_assert_cmpstr(text, ==, cases[i].text);
  }
}

/* What the GPU does not give is invalid; the rest stays. */
static void test_partly(void) {
  begin("quiet old");
  g_autoptr(TmNvml) n = open_fake();
  TmMonitorSample s = {0};
  tm_nvml_sample(n, &s);
  g_assert_cmpuint(
      s.valid, ==,
      ((1u << TM_N_READINGS) - (1u << TM_READING_GPU_LOAD)) &
          ~(1u << TM_READING_GPU_LOAD | 1u << TM_READING_GPU_MEMORY_LOAD | 1u << TM_READING_GPU_POWER));
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
  g_test_add_func("/nvml/pcie", test_pcie);
  g_test_add_func("/nvml/partly", test_partly);
  g_test_add_func("/nvml/gpus", test_gpus);
  g_test_add_func("/nvml/programs", test_programs);
  g_test_add_func("/nvml/lost", test_lost);
  g_test_add_func("/nvml/throttle", test_throttle);
  g_test_add_func("/nvml/machine", test_machine);
  g_test_add_func("/nvml/absent", test_absent);
  g_test_add_func("/nvml/visible", test_visible);
  g_test_add_func("/nvml/select", test_select);
  g_test_add_func("/nvml/balance", test_balance);
  return g_test_run();
}
