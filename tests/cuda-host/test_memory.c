/* test_memory.c: the whole trainer on the cuda backend when the GPU has no memory left, or is lost, at every
 * call that is made to it: a run goes on with its batch in parts, or ends with a sentence and a checkpoint to
 * go on from; the process goes on, and nothing leaks. The module is loaded as the program loads it; the
 * stand-in for the runtime within it is told what to fail. */
#include <glib/gstdio.h>
#include <gmodule.h>
#include <math.h>
#include <string.h>

#include "tests/train/fixture.h"

enum { OUT_OF_MEMORY = 2, LAUNCH_FAILED = 719 };

/* The stand-in's controls, inside the module (tm_host.h). */
static struct {
  void (*fail)(const char *call, long nth, int error);
  int (*fired)(void);
  void (*sticky)(int on);
  long (*live)(void);
} host;

static void find_controls(void) {
  g_autofree char *file = g_build_filename(g_getenv("TARMAC_MODULES"), "tarmac-cuda.so", NULL);
  g_autoptr(GError) error = NULL;
  g_assert_true(tm_backend_available("cuda", &error)); /* loads it */
  GModule *m = g_module_open(file, G_MODULE_BIND_LOCAL);
  g_assert_nonnull(m);
  g_assert_true(g_module_symbol(m, "tm_host_fail", (gpointer *)&host.fail) &&
                g_module_symbol(m, "tm_host_fault_fired", (gpointer *)&host.fired) &&
                g_module_symbol(m, "tm_host_sticky", (gpointer *)&host.sticky) &&
                g_module_symbol(m, "tm_host_live", (gpointer *)&host.live));
  g_module_make_resident(m);
}

static void settings_of(TmSettings *s) {
  fixture_settings(s);
  s->base = 1;
  s->epochs = 1;
  g_assert_true(tm_settings_set(s, "backend", "cuda", NULL));
}

/* ---- a step that does not fit ---- */

typedef struct {
  double losses[4];
  int parts;
  char *said;
} Course;

/* Four steps; before the third either memory runs out, or the batch is split by hand. */
static void take_course(gboolean by_hand, Course *c) {
  g_autoptr(GError) error = NULL;
  TmSettings settings;
  settings_of(&settings);
  TmDataset *data = fixture_roads(16, 1, 16, 16);
  char *folder = fixture_folder();
  TmSession *s = fixture_session(data, &settings, folder, FALSE);
  for (int i = 0; i < 4; i++) {
    TmStepResult r;
    if (i == 2 && by_hand) g_assert_true(tm_session_change(s, "accumulate", "2", FALSE, NULL, &error));
    if (i == 2 && !by_hand) host.fail("cudaGraphLaunch", 1, OUT_OF_MEMORY);
    g_assert_true(tm_session_step(s, &r, &error));
    g_assert_no_error(error);
    c->losses[i] = r.loss;
    g_assert_cmpint(s->at.step, ==, i + 1); /* done once */
    g_assert_true((r.made != NULL) == (i == 2 && !by_hand));
    if (!r.made) continue;
    g_assert_cmpuint(r.made->step, ==, 2);
    g_assert_cmpstr(r.made->key, ==, "accumulate");
    g_assert_cmpstr(r.made->to, ==, "2");
    c->said = g_strdup(r.why);
    g_free(r.why);
    tm_change_free(r.made);
  }
  host.fail(NULL, 0, 0);
  c->parts = s->settings->accumulate;
  tm_session_close(s);
  g_autoptr(GPtrArray) changes = tm_run_read_changes(folder);
  g_assert_cmpuint(changes->len, ==, 1); /* in the run, so that its bits can be made again */
  fixture_remove(folder);
  tm_dataset_unref(data);
  g_assert_cmpint(host.live(), ==, 0);
}

/* It is rolled back and done again in two parts, to the same bits as a run that was split there by hand. */
static void test_split(void) {
  Course forced = {0}, chosen = {0};
  take_course(FALSE, &forced);
  take_course(TRUE, &chosen);
  g_test_message("%s", forced.said);
  g_assert_nonnull(strstr(forced.said, "step 2"));
  g_assert_nonnull(strstr(forced.said, "2 × 2 = 4 stays"));
  g_assert_cmpint(forced.parts, ==, 2);
  for (int i = 0; i < 4; i++) g_assert_true(forced.losses[i] == chosen.losses[i]);
  g_free(forced.said);
}

/* Memory that suffices for one picture only: the split goes on until it fits, already before the first step.
 */
static void test_split_at_start(void) {
  g_autoptr(GError) error = NULL;
  TmSettings settings;
  settings_of(&settings);
  TmDataset *data = fixture_roads(8, 1, 16, 16);
  char *folder = fixture_folder();
  host.fail("cudaGraphLaunch", 0, 0);
  TmSession *all = fixture_session(data, &settings, NULL, FALSE);
  tm_session_close(all);
  const TmSessionPlan plan = {.data = data, .settings = &settings, .run_dir = folder};
  host.fail("cudaMalloc", 8, OUT_OF_MEMORY); /* the step's arena */
  TmSession *s = tm_session_open(&plan, &error);
  const int fired = host.fired();
  host.fail(NULL, 0, 0);
  g_assert_no_error(error);
  g_assert_true(fired);
  g_assert_cmpint(s->settings->accumulate, ==, 2);
  g_assert_nonnull(strstr(s->note, "2 × 2 = 4 stays"));
  tm_session_close(s);
  /* Who resumes goes on in parts. */
  g_autoptr(GPtrArray) changes = tm_run_read_changes(folder);
  g_assert_cmpuint(changes->len, ==, 1);
  fixture_remove(folder);
  tm_dataset_unref(data);
  g_assert_cmpint(host.live(), ==, 0);
}

/* When even single pictures do not fit the run ends with the reason. */
static void test_hopeless(void) {
  g_autoptr(GError) error = NULL;
  TmSettings settings;
  settings_of(&settings);
  TmDataset *data = fixture_roads(8, 1, 16, 16);
  char *folder = fixture_folder();
  TmSession *s = fixture_session(data, &settings, folder, FALSE);
  TmStepResult r;
  g_assert_true(tm_session_step(s, &r, &error));
  host.sticky(1);
  host.fail("cudaMemcpyAsync", 1, OUT_OF_MEMORY);
  g_assert_false(tm_session_step(s, &r, &error));
  host.sticky(0);
  host.fail(NULL, 0, 0);
  g_assert_error(error, TM_ERROR, TM_ERROR_NO_MEMORY);
  g_free(r.why);
  tm_change_free(r.made);
  tm_session_close(s);
  fixture_remove(folder);
  tm_dataset_unref(data);
  g_assert_cmpint(host.live(), ==, 0);
}

/* ---- every call ---- */

typedef struct {
  TmTrainerState state;
  gboolean fired, lost;
  guint parts;
  char *error;
} End;

static void end_clear(End *e) {
  g_free(e->error);
}

/* A whole run in @folder in which call number @nth (of those named @call, if it is not NULL) fails. A run
 * that waits, because a checkpoint could not be written, is told to go on. */
static End run(TmDataset *data, const TmSettings *settings, const char *folder, gboolean resume,
               const char *call, long nth, int error_code) {
  g_autoptr(GError) error = NULL;
  TmTrainer *t = tm_trainer_new(data, NULL, settings, folder, resume, &error);
  g_assert_no_error(error);
  host.fail(call, nth, error_code);
  tm_trainer_start(t);
  for (guint i = 0; tm_trainer_state(t) < TM_STATE_FINISHED; i++) {
    g_assert_cmpuint(i, <, 60000);
    if (tm_trainer_state(t) == TM_STATE_PAUSED) tm_trainer_resume(t);
    g_usleep(500);
  }
  g_auto(TmSnapshot) s = {0};
  tm_trainer_snapshot(t, &s);
  End end = {s.state, host.fired() != 0, s.lost, s.parts, g_strdup(s.error)};
  tm_trainer_free(t);
  host.fail(NULL, 0, 0);
  g_assert_cmpint(host.live(), ==, 0);
  return end;
}

static char *state_in(const char *folder) {
  g_autofree char *file = g_build_filename(folder, "run.json", NULL), *text = NULL;
  g_autoptr(GError) error = NULL;
  g_assert_true(g_file_get_contents(file, &text, NULL, &error));
  const char *at = strstr(text, "\"state\"");
  g_assert_nonnull(at);
  at = strchr(strchr(at, ':'), '"') + 1;
  return g_strndup(at, strcspn(at, "\""));
}

/* Every call with "-m slow", else every 97th, which takes seconds instead of minutes. */
static void sweep(int error_code, guint *split, guint *lost, guint *absorbed) {
  TmSettings settings;
  settings_of(&settings);
  settings.batch = 2;
  TmDataset *data = fixture_roads(4, 1, 16, 16);
  for (long nth = 1;; nth += g_test_slow() ? 1 : 97) {
    char *folder = fixture_folder();
    End end = run(data, &settings, folder, FALSE, NULL, nth, error_code);
    if (!end.fired) {
      g_test_message("about %ld calls", nth);
      g_assert_cmpint(end.state, ==, TM_STATE_FINISHED);
      end_clear(&end);
      fixture_remove(folder);
      break;
    }
    g_assert_true(end.state == TM_STATE_FINISHED ||
                  (end.state == TM_STATE_FAILED && end.error && *end.error));
    *split += end.parts > 1;
    *absorbed += end.state == TM_STATE_FINISHED && end.parts == 0;
    if (end.lost) {
      ++*lost;
      g_autofree char *state = state_in(folder);
      g_assert_cmpstr(state, ==, "interrupted");
      g_assert_nonnull(strstr(end.error, "last.safetensors"));
    }
    end_clear(&end);
    fixture_remove(folder);
  }
  tm_dataset_unref(data);
}

static void test_out_of_memory_anywhere(void) {
  guint split = 0, lost = 0, absorbed = 0;
  sweep(OUT_OF_MEMORY, &split, &lost, &absorbed);
  g_test_message("%u runs went on in parts, %u did not notice", split, absorbed);
  g_assert_cmpuint(split, >, 0);
}

static void test_lost_anywhere(void) {
  guint split = 0, lost = 0, absorbed = 0;
  host.sticky(1);
  sweep(LAUNCH_FAILED, &split, &lost, &absorbed);
  host.sticky(0);
  g_test_message("%u runs were interrupted", lost);
  g_assert_cmpuint(lost, >, 1);
  g_assert_cmpuint(split, ==, 0);
}

/* What was interrupted on the GPU ends on another engine. */
static void test_goes_on_elsewhere(void) {
  TmSettings settings;
  settings_of(&settings);
  TmDataset *data = fixture_roads(16, 1, 16, 16);
  char *folder = fixture_folder();
  host.sticky(1);
  End end = run(data, &settings, folder, FALSE, "cudaGraphLaunch", 2, LAUNCH_FAILED);
  host.sticky(0);
  g_test_message("%s", end.error);
  g_assert_cmpint(end.state, ==, TM_STATE_FAILED);
  g_assert_true(end.lost);
  end_clear(&end);
  g_assert_true(tm_settings_set(&settings, "backend", "ref", NULL));
  end = run(data, &settings, folder, TRUE, NULL, 0, 0);
  g_assert_cmpint(end.state, ==, TM_STATE_FINISHED);
  end_clear(&end);
  g_autofree char *state = state_in(folder);
  g_assert_cmpstr(state, ==, "finished");
  fixture_remove(folder);
  tm_dataset_unref(data);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  find_controls();
  g_test_add_func("/cuda-host/memory/split", test_split);
  g_test_add_func("/cuda-host/memory/split-at-start", test_split_at_start);
  g_test_add_func("/cuda-host/memory/hopeless", test_hopeless);
  g_test_add_func("/cuda-host/memory/anywhere", test_out_of_memory_anywhere);
  g_test_add_func("/cuda-host/lost/anywhere", test_lost_anywhere);
  g_test_add_func("/cuda-host/lost/goes-on-elsewhere", test_goes_on_elsewhere);
  return g_test_run();
}
