/* The run as the window sees it: started and ended many times, never blocking the main loop, never called
 * after its end. */
#include <glib.h>
#include <glib/gstdio.h>
#include <math.h>
#include <time.h>

#include "app/live_run.h"
#include "ui/thumbs.h"

static TmDataset *demo(void) {
  const TmDatasetOptions o = {.demo_train = 8, .demo_val = 2, .demo_width = 48, .demo_height = 32};
  g_autoptr(GError) error = NULL;
  TmDataset *d = tm_dataset_open("demo", &o, &error);
  g_assert_no_error(error);
  return d;
}

static TmSettings tiny(void) {
  TmSettings s;
  tm_settings_defaults(&s);
  s.base = 2;
  s.depth = 2;
  s.batch = 2;
  s.epochs = 1000;
  s.threads = 1;
  s.loader_threads = 1;
  return s;
}

static double cpu_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Turns the main loop until @done or the deadline; returns the longest turn in processor time of this thread.
 */
static double turn(gboolean (*done)(gpointer), gpointer user, double seconds) {
  gint64 end = g_get_monotonic_time() + (gint64)(seconds * 1e6);
  double longest = 0;
  while (!done(user) && g_get_monotonic_time() < end) {
    double begin = cpu_ms();
    if (!g_main_context_iteration(NULL, FALSE)) g_usleep(500);
    longest = MAX(longest, cpu_ms() - begin);
  }
  return longest;
}

static gboolean has_epoch(gpointer r) {
  return tm_live_run_snapshot(r)->epoch >= 1;
}
static gboolean has_steps(gpointer r) {
  return tm_live_run_snapshot(r)->total_step >= 2;
}
static gboolean is_paused(gpointer r) {
  return tm_live_run_snapshot(r)->state == TM_STATE_PAUSED;
}
static gboolean is_over(gpointer r) {
  return !tm_live_run_alive(r);
}
static gboolean never(gpointer r) {
  (void)r;
  return FALSE;
}

static void count(TmLiveRun *r, int *n) {
  (void)r;
  ++*n;
}

static void test_commands(void) {
  g_autoptr(TmDataset) d = demo();
  TmSettings s = tiny();
  g_autoptr(TmLiveRun) r = tm_live_run_new(d, NULL, &s, NULL);
  tm_live_run_command(r, TM_RUN_START); /* before the trainer is there: waits for it */
  double longest = turn(has_epoch, r, 60);
  g_assert_cmpuint(tm_live_run_snapshot(r)->epoch, >=, 1);
  g_assert_cmpfloat(longest, <, 100); /* the main loop is never blocked */
  g_assert_nonnull(tm_live_run_probe(r));
  g_autoptr(GArray) steps = tm_live_run_take_steps(r);
  g_assert_cmpuint(steps->len, >=, 4);
  g_autoptr(GArray) epochs = tm_live_run_take_epochs(r);
  g_assert_cmpuint(epochs->len, >=, 1);
  tm_live_run_command(r, TM_RUN_PAUSE);
  turn(is_paused, r, 30);
  g_assert_true(is_paused(r));
  guint64 at = tm_live_run_snapshot(r)->total_step;
  tm_live_run_command(r, TM_RUN_STEP);
  gint64 end = g_get_monotonic_time() + 30 * G_USEC_PER_SEC;
  while ((tm_live_run_snapshot(r)->total_step == at || !is_paused(r)) && g_get_monotonic_time() < end)
    g_main_context_iteration(NULL, TRUE);
  g_assert_cmpuint(tm_live_run_snapshot(r)->total_step, ==, at + 1);
  tm_live_run_command(r, TM_RUN_STOP_NOW);
  turn(is_over, r, 30);
  g_assert_cmpint(tm_live_run_snapshot(r)->state, ==, TM_STATE_STOPPED);
}

/* Stop and Save, then the same folder goes on. */
static void test_resume(void) {
  g_autoptr(TmDataset) d = demo();
  TmSettings s = tiny();
  TmLiveRun *r = tm_live_run_new(d, NULL, &s, NULL);
  tm_live_run_command(r, TM_RUN_START);
  turn(has_epoch, r, 60);
  tm_live_run_command(r, TM_RUN_STOP_SAVE);
  turn(is_over, r, 30);
  guint64 done = tm_live_run_snapshot(r)->total_step;
  g_autofree char *folder = g_strdup(tm_live_run_folder(r));
  g_object_unref(r);
  r = tm_live_run_new(d, NULL, &s, folder);
  tm_live_run_command(r, TM_RUN_START);
  gint64 end = g_get_monotonic_time() + 60 * G_USEC_PER_SEC;
  while (tm_live_run_snapshot(r)->total_step <= done && tm_live_run_alive(r) && g_get_monotonic_time() < end)
    g_main_context_iteration(NULL, TRUE);
  g_assert_cmpuint(tm_live_run_snapshot(r)->total_step, >, done);
  g_autoptr(GArray) steps = tm_live_run_take_steps(r);
  for (guint i = 1; i < steps->len; i++) /* the curve has every step once, from the beginning */
    g_assert_cmpuint(g_array_index(steps, TmStepRow, i).step, ==,
                     g_array_index(steps, TmStepRow, i - 1).step + 1);
  g_object_unref(r);
}

static void test_ten_cycles(void) {
  g_autoptr(TmDataset) d = demo();
  TmSettings s = tiny();
  int calls[10] = {0};
  for (int i = 0; i < 10; i++) {
    TmLiveRun *r = tm_live_run_new(d, NULL, &s, NULL);
    g_signal_connect(r, "changed", G_CALLBACK(count), &calls[i]);
    if (i % 3) tm_live_run_command(r, TM_RUN_START); /* every third never runs */
    if (i % 3 && i % 2) turn(has_steps, r, 20);      /* others are let go in the middle of preparing */
    g_object_unref(r);
  }
  turn(never, NULL, 0.5);
  int before = 0, after = 0;
  for (int i = 0; i < 10; i++) before += calls[i];
  turn(never, NULL, 0.5);
  for (int i = 0; i < 10; i++) after += calls[i];
  g_assert_cmpint(before, ==, after); /* nothing comes from runs that are gone */
}

static void test_cannot_begin(void) {
  g_autoptr(TmDataset) d = demo();
  TmSettings s = tiny();
  s.scale_min = 2; /* larger than the largest */
  s.scale_max = 1;
  g_autoptr(TmLiveRun) r = tm_live_run_new(d, NULL, &s, NULL);
  tm_live_run_command(r, TM_RUN_START);
  turn(is_over, r, 20);
  g_assert_cmpint(tm_live_run_snapshot(r)->state, ==, TM_STATE_FAILED);
  g_assert_nonnull(tm_live_run_snapshot(r)->error);
}

typedef struct {
  int arrived;
  guint last;
} Thumbs;

static void ready(guint entry, TmScene *scene, const GError *error, gpointer user) {
  Thumbs *t = user;
  g_assert_no_error(error);
  g_assert_nonnull(scene);
  g_assert_cmpint(MAX(scene->w, scene->h), <=, 32);
  t->arrived++;
  t->last = entry;
}

static gboolean four_arrived(gpointer t) {
  return ((Thumbs *)t)->arrived >= 4;
}

static void test_thumbs(void) {
  g_autoptr(TmDataset) d = demo();
  Thumbs t = {0};
  TmThumbs *thumbs = tm_thumbs_new(d, 32, 3 * 32 * 32 * 4);
  guint id[6];
  for (guint i = 0; i < 6; i++) g_assert_null(tm_thumbs_request(thumbs, i, ready, &t, &id[i]));
  tm_thumbs_cancel(thumbs, id[4]);
  tm_thumbs_cancel(thumbs, id[5]);
  turn(four_arrived, &t, 20);
  turn(never, NULL, 0.2);
  g_assert_cmpint(t.arrived, ==, 4); /* what was cancelled does not come */
  g_assert_cmpuint(tm_thumbs_size(thumbs), <=, 3 * 32 * 32 * 4);
  guint again;
  g_autoptr(TmScene) kept = tm_thumbs_request(thumbs, t.last, ready, &t, &again);
  g_assert_nonnull(kept); /* the newest is kept */
  g_assert_cmpuint(again, ==, 0);
  g_assert_null(tm_thumbs_request(thumbs, 5, ready, &t, &again));
  tm_thumbs_free(thumbs); /* with a request under way */
  turn(never, NULL, 0.3);
  g_assert_cmpint(t.arrived, ==, 4);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_autofree char *home = g_dir_make_tmp("tarmac-run-XXXXXX", NULL);
  g_setenv("XDG_DATA_HOME", home, TRUE);
  g_test_add_func("/ui/live-run/commands", test_commands);
  g_test_add_func("/ui/live-run/resume", test_resume);
  g_test_add_func("/ui/live-run/ten-cycles", test_ten_cycles);
  g_test_add_func("/ui/live-run/cannot-begin", test_cannot_begin);
  g_test_add_func("/ui/thumbs", test_thumbs);
  int status = g_test_run();
  g_autofree char *command = g_strdup_printf("rm -rf '%s'", home);
  if (!g_spawn_command_line_sync(command, NULL, NULL, NULL, NULL)) g_rmdir(home);
  return status;
}
