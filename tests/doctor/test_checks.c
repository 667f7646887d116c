/* test_checks.c: each check's verdict, sentence and way out from facts made up here, and the self-tests on
 * the back ends of this machine. */
#include <math.h>
#include <string.h>

#include "engine/backend/backend.h"
#include "engine/doctor/doctor.h"
#include "engine/doctor/self_test.h"

static const TmCheck *only(const GPtrArray *checks, const char *id, TmVerdict verdict) {
  g_assert_cmpuint(checks->len, ==, 1);
  const TmCheck *c = checks->pdata[0];
  g_assert_cmpstr(c->id, ==, id);
  g_test_message("%s: %s | %s | %s", c->title, c->detail, c->way_out, c->command);
  g_assert_cmpint(c->verdict, ==, verdict);
  g_assert_cmpuint(strlen(c->title), >, 0);
  g_assert_cmpuint(tm_checks_good(checks), ==, verdict == TM_CHECK_GOOD);
  return c;
}

static void assert_has(const char *text, const char *words) {
  g_assert_nonnull(text);
  g_assert_nonnull(strstr(text, words));
}

static GPtrArray *looks(gboolean cuda, gboolean cpu) {
  static TmBackendLook all[3];
  all[0] =
      (TmBackendLook){.name = "cuda", .usable = cuda, .device = "Fake 100", .reason = "It has gone fishing."};
  all[1] = (TmBackendLook){
      .name = "cpu", .usable = cpu, .device = "Test 9000", .detail = "2 threads", .reason = "No oneDNN."};
  all[2] = (TmBackendLook){.name = "ref", .usable = TRUE, .device = "Reference"};
  GPtrArray *a = g_ptr_array_new();
  for (int i = 0; i < 3; i++) g_ptr_array_add(a, &all[i]);
  return a;
}

static void test_engine(void) {
  g_autoptr(GPtrArray) slow = looks(FALSE, FALSE), a = tm_checks_new(), b = tm_checks_new(),
                       c = tm_checks_new();
  tm_check_engine(a, slow);
  const TmCheck *one = only(a, "engine", TM_CHECK_WARNING);
  assert_has(one->way_out, "bootstrap");
  assert_has(one->detail, "oneDNN");
  g_autoptr(GPtrArray) cpu = looks(FALSE, TRUE);
  tm_check_engine(b, cpu);
  assert_has(only(b, "engine", TM_CHECK_GOOD)->detail, "Test 9000: 2 threads");
  g_autoptr(GPtrArray) none = g_ptr_array_new();
  tm_check_engine(c, none);
  only(c, "engine", TM_CHECK_BAD);
}

static void test_driver(void) {
  g_autoptr(GPtrArray) l = looks(FALSE, TRUE);
  const TmMachine no_gpu = {0};
  const struct {
    TmCudaDriver driver;
    TmVerdict verdict;
    const char *says, *command;
  } cases[] = {
      {{0}, TM_CHECK_NOTE, "processor", NULL},
      {{.library = TRUE}, TM_CHECK_WARNING, "modprobe nvidia", "sudo modprobe nvidia"},
      {{.version = "535.104.05", .device = TRUE, .library = TRUE},
       TM_CHECK_WARNING,
       "nvidia-uvm",
       "sudo modprobe nvidia_uvm"},
      {{.version = "535.104.05", .library = TRUE}, TM_CHECK_WARNING, "--gpus all", NULL},
      {{.version = "535.104.05", .device = TRUE, .uvm = TRUE, .library = TRUE},
       TM_CHECK_WARNING,
       "gone fishing",
       NULL},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GPtrArray) a = tm_checks_new();
    tm_check_driver(a, &cases[i].driver, &no_gpu, l);
    const TmCheck *c = only(a, "driver", cases[i].verdict);
    assert_has(c->detail, cases[i].says);
    g_assert_cmpstr(c->command, ==, cases[i].command);
  }
  g_autoptr(GPtrArray) with = looks(TRUE, TRUE), a = tm_checks_new();
  tm_check_driver(a, &cases[4].driver, &no_gpu, with);
  assert_has(only(a, "driver", TM_CHECK_GOOD)->detail, "535.104.05");
}

static void test_versions(void) {
  const TmCudaDriver d = {.version = "535.104.05"}, none = {0};
  g_autoptr(GPtrArray) a = tm_checks_new(), b = tm_checks_new(), c = tm_checks_new(), e = tm_checks_new();
  tm_check_versions(a, &d, &(TmMachine){.driver = "535.104.05"});
  only(a, "versions", TM_CHECK_GOOD);
  tm_check_versions(b, &d, &(TmMachine){.driver = "550.54.14"});
  const TmCheck *bad = only(b, "versions", TM_CHECK_BAD);
  assert_has(bad->detail, "535.104.05");
  assert_has(bad->detail, "550.54.14");
  assert_has(bad->way_out, "Restart");
  tm_check_versions(c, &d, &(TmMachine){.gpu_reason = "It sleeps."});
  assert_has(only(c, "versions", TM_CHECK_WARNING)->detail, "sleeps");
  tm_check_versions(e, &none, &(TmMachine){0});
  g_assert_cmpuint(e->len, ==, 0);
}

static void test_persistence(void) {
  g_autoptr(GPtrArray) a = tm_checks_new(), b = tm_checks_new(), c = tm_checks_new();
  tm_check_persistence(a, &(TmGpu){.knows_persistence = TRUE});
  assert_has(only(a, "persistence", TM_CHECK_NOTE)->command, "nvidia-smi -pm 1");
  tm_check_persistence(b, &(TmGpu){.knows_persistence = TRUE, .persistence = TRUE});
  only(b, "persistence", TM_CHECK_GOOD);
  tm_check_persistence(c, &(TmGpu){0}); /* not known is no finding */
  g_assert_cmpuint(c->len, ==, 0);
}

static void test_host(void) {
  g_autoptr(GPtrArray) a = tm_checks_new(), b = tm_checks_new(), c = tm_checks_new(), d = tm_checks_new(),
                       e = tm_checks_new(), f = tm_checks_new(), g = tm_checks_new(), h = tm_checks_new();
  tm_check_processor(a, "Old 386", 0);
  assert_has(only(a, "processor", TM_CHECK_WARNING)->title, "AVX2");
  tm_check_cores(b, 2, 64);
  assert_has(only(b, "cores", TM_CHECK_NOTE)->detail, "2 of 64");
  tm_check_governor(c, "acpi-cpufreq", "powersave");
  assert_has(only(c, "governor", TM_CHECK_WARNING)->command, "performance");
  tm_check_governor(d, "intel_pstate", "powersave"); /* its balanced way */
  only(d, "governor", TM_CHECK_GOOD);
  tm_check_governor(e, NULL, NULL);
  g_assert_cmpuint(e->len, ==, 0);
  tm_check_memory(f, 100 << 20, (gsize)8 << 30);
  assert_has(only(f, "memory", TM_CHECK_WARNING)->way_out, "batch");
  tm_check_memory(g, 0, 0); /* not known is no finding */
  g_assert_cmpuint(g->len, ==, 0);
  tm_check_disk(h, "/data/runs", 1000);
  assert_has(only(h, "disk", TM_CHECK_WARNING)->detail, "/data/runs");
}

static void test_outcomes(void) {
  g_autoptr(GPtrArray) a = tm_checks_new(), b = tm_checks_new(), c = tm_checks_new(), d = tm_checks_new();
  g_autoptr(GError) error = g_error_new_literal(TM_ERROR, TM_ERROR_DEVICE, "It burns.");
  tm_check_convolution(a, "cuda", 0.5, NULL);
  only(a, "convolution", TM_CHECK_BAD);
  tm_check_convolution(b, "cuda", (double)NAN, NULL); /* not a number is not small */
  only(b, "convolution", TM_CHECK_BAD);
  tm_check_convolution(c, "cuda", 0, error);
  assert_has(only(c, "convolution", TM_CHECK_BAD)->detail, "burns");
  tm_check_pattern(d, "cuda", 1000, 3, NULL);
  assert_has(only(d, "pattern", TM_CHECK_BAD)->detail, "3 numbers");
}

static void test_self_tests(void) {
  for (const char *const *n = tm_backend_names(); *n; n++) {
    if (!tm_backend_available(*n, NULL)) continue;
    g_autoptr(GError) error = NULL;
    double difference = -1;
    guint64 wrong = 1;
    g_assert_true(tm_self_test_convolution(*n, &difference, &error));
    g_assert_no_error(error);
    g_assert_cmpfloat(difference, >=, 0);
    g_assert_cmpfloat(difference, <=, TM_SELF_TEST_BOUND);
    g_assert_true(tm_self_test_memory(*n, 9 << 20, &wrong, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(wrong, ==, 0);
  }
  g_autoptr(GError) error = NULL;
  double difference;
  g_assert_false(tm_self_test_convolution("abacus", &difference, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_SETTING);
}

/* The whole list here: every check speaks, and what is wrong has a way out or a reason. */
static void test_here(void) {
  g_autoptr(TmDoctor) d = tm_doctor_new();
  g_assert_cmpuint(d->checks->len, >=, 5);
  for (guint i = 0; i < d->checks->len; i++) {
    const TmCheck *c = d->checks->pdata[i];
    g_test_message("%s: %s: %s", tm_verdict_name(c->verdict), c->title, c->detail);
    g_assert_true(c->verdict == TM_CHECK_GOOD || c->way_out || c->detail);
    for (guint k = 0; k < i; k++) g_assert_cmpstr(c->id, !=, ((TmCheck *)d->checks->pdata[k])->id);
  }
  g_assert_nonnull(d->cuda);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/checks/engine", test_engine);
  g_test_add_func("/checks/driver", test_driver);
  g_test_add_func("/checks/versions", test_versions);
  g_test_add_func("/checks/persistence", test_persistence);
  g_test_add_func("/checks/host", test_host);
  g_test_add_func("/checks/outcomes", test_outcomes);
  g_test_add_func("/checks/self-tests", test_self_tests);
  g_test_add_func("/checks/here", test_here);
  return g_test_run();
}
