/* Settings changed while a run goes on: they hold from the step that is written down, can be taken back, and the run can be made again,
 * bit for bit; and a run that gives its device back goes on as if it had not. */
#include <math.h>
#include <string.h>

#include "engine/run/run_names.h"
#include "engine/train/steer.h"
#include "fixture.h"

enum { TRAIN = 24, VAL = 2 };

static TmSettings make_settings(const char *backend) {
  TmSettings s;
  fixture_settings(&s);
  s.epochs = 4;
  s.dropout = 0.2;
  s.ema = 0.9;
  s.crop = 24;
  s.threads = 2;
  s.loader_threads = 2;
  g_assert_true(tm_settings_set(&s, "backend", backend, NULL) && tm_settings_set(&s, "precision", "auto", NULL));
  return s;
}

static void wait_steps(TmTrainer *t, guint64 n) {
  for (guint i = 0; i < 20000; i++) {
    g_auto(TmSnapshot) s = {0};
    tm_trainer_snapshot(t, &s);
    if (s.total_step >= n && s.state == TM_STATE_PAUSED) return;
    g_assert_cmpint(s.state, <, TM_STATE_FINISHED);
    g_usleep(1000);
  }
  g_assert_not_reached();
}

static void steps(TmTrainer *t, guint64 from, guint n) {
  for (guint i = 0; i < n; i++) {
    tm_trainer_step(t);
    wait_steps(t, from + i + 1);
  }
}

static TmTrainer *begin_paused(TmDataset *d, const TmSettings *s, const char *folder) {
  TmTrainer *t = fixture_trainer(d, s, folder, FALSE);
  tm_trainer_start(t);
  tm_trainer_pause(t);
  g_assert_true(fixture_until(t, TM_STATE_PAUSED));
  return t;
}

static void finish(TmTrainer *t, TmTrainerState state) {
  g_autoptr(GError) e = NULL;
  g_assert_true(tm_trainer_wait(t, &e));
  g_assert_no_error(e);
  g_assert_cmpint(tm_trainer_state(t), ==, state);
}

/* ---- the same bits ---- */

static TmCheckpoint *last_of(const char *folder) {
  g_autofree char *path = g_build_filename(folder, TM_RUN_CHECKPOINTS, TM_RUN_LAST, NULL);
  g_autoptr(GError) e = NULL;
  TmCheckpoint *c = tm_checkpoint_read(path, &e);
  g_assert_no_error(e);
  return c;
}

static void same_checkpoints(const char *a, const char *b) {
  g_autoptr(TmCheckpoint) x = last_of(a), y = last_of(b);
  g_auto(GStrv) names = tm_checkpoint_names(x), others = tm_checkpoint_names(y);
  g_assert_cmpuint(g_strv_length(names), ==, g_strv_length(others));
  g_assert_cmpuint(g_strv_length(names), >, 20);
  for (guint i = 0; names[i]; i++) {
    const TmTensor *p = tm_checkpoint_tensor(x, names[i]), *q = tm_checkpoint_tensor(y, names[i]);
    g_assert_nonnull(q);
    g_assert_true(tm_shape_equal(p->shape, q->shape));
    fixture_same_bytes(p->data, q->data, tm_shape_count(p->shape) * sizeof(float));
  }
}

static void same_steps(TmTrainer *a, TmTrainer *b) {
  g_autoptr(GArray) x = fixture_steps(a), y = fixture_steps(b);
  g_assert_cmpuint(x->len, ==, y->len);
  for (guint i = 0; i < x->len; i++) {
    const TmStepRow *p = &g_array_index(x, TmStepRow, i), *q = &g_array_index(y, TmStepRow, i);
    g_assert_cmpuint(p->step, ==, q->step);
    fixture_same_bytes(&p->epoch, &q->epoch, sizeof p->epoch);
    fixture_same_bytes(&p->loss, &q->loss, sizeof p->loss);
    fixture_same_bytes(&p->lr, &q->lr, sizeof p->lr);
    fixture_same_bytes(&p->grad_norm, &q->grad_norm, sizeof p->grad_norm);
  }
}

/* Everything that can be steered, at the begin of an epoch, within and at its end, and taken back. */
static void steer_all(TmTrainer *t) {
  steps(t, 0, 2);
  tm_trainer_change(t, TM_RATE_FACTOR, "0.5", FALSE);
  tm_trainer_change(t, "class_weights", "sqrt", FALSE);
  steps(t, 2, 2);
  tm_trainer_change(t, "flip", "0", FALSE);
  tm_trainer_change(t, "brightness", "0.6", FALSE);
  tm_trainer_change(t, "batch", "8", FALSE); /* waits */
  steps(t, 4, 2);                            /* to the epoch's end */
  tm_trainer_change(t, "schedule", "cosine", FALSE);
  steps(t, 6, 2); /* batch 8: 3 steps an epoch */
  tm_trainer_change(t, "flip", "0.5", TRUE);
  tm_trainer_change(t, "accumulate", "2", FALSE);
  tm_trainer_change(t, "lr", "0.02", FALSE);
  tm_trainer_resume(t);
}

static void replay_of(TmDataset *d, const char *was, const char *folder, guint64 until, TmTrainerState end, TmTrainer *like) {
  TmSettings s;
  g_autoptr(GError) e = NULL;
  g_assert_true(tm_run_settings(was, TRUE, &s, &e));
  g_assert_no_error(e);
  g_autoptr(GPtrArray) changes = tm_run_read_changes(was);
  g_autoptr(TmTrainer) again = fixture_trainer(d, &s, folder, FALSE);
  tm_trainer_set_replay(again, changes, until);
  tm_trainer_start(again);
  finish(again, end);
  if (like) same_steps(like, again);
  same_checkpoints(was, folder);
  g_autoptr(GPtrArray) made = tm_run_read_changes(folder);
  g_assert_cmpuint(made->len, ==, changes->len);
  for (guint i = 0; i < made->len; i++) {
    const TmChange *p = changes->pdata[i], *q = made->pdata[i];
    g_assert_cmpuint(p->step, ==, q->step);
    g_assert_cmpstr(p->key, ==, q->key);
    g_assert_cmpstr(p->from, ==, q->from);
    g_assert_cmpstr(p->to, ==, q->to);
    g_assert_cmpint(p->undo, ==, q->undo);
  }
}

static void test_replay(gconstpointer backend) {
  if (strcmp(backend, "cpu") == 0 && !fixture_has_cpu()) {
    g_test_skip("the cpu backend is not built in");
    return;
  }
  const TmSettings s = make_settings(backend);
  g_autoptr(TmDataset) d = fixture_roads(TRAIN, VAL, 32, 24);
  g_autoptr(FixtureFolder) a = fixture_folder(), b = fixture_folder();
  g_autoptr(TmTrainer) t = begin_paused(d, &s, a);
  steer_all(t);
  finish(t, TM_STATE_FINISHED);
  g_autoptr(GArray) rows = fixture_steps(t), epochs = fixture_epochs(t);
  g_assert_cmpuint(rows->len, ==, 6 + 3 * 3); /* the first epoch with batches of 4, the others of 8 */
  g_assert_cmpuint(epochs->len, ==, 4);
  for (guint i = 0; i < rows->len; i++) g_assert_cmpuint(g_array_index(rows, TmStepRow, i).step, ==, i);
  g_assert_cmpfloat_with_epsilon(g_array_index(rows, TmStepRow, 7).epoch, 1 + 1 / 3.0, 1e-6);
  g_autoptr(GPtrArray) made = tm_trainer_changes(t, 0);
  static const struct {
    const char *key;
    guint64 step;
  } wanted[] = {{"lr_factor", 2}, {"class_weights", 2}, {"flip", 4},       {"brightness", 4}, {"schedule", 6},
                {"batch", 6},     {"flip", 8},          {"accumulate", 8}, {"lr", 8}};
  g_assert_cmpuint(made->len, ==, G_N_ELEMENTS(wanted));
  for (guint i = 0; i < made->len; i++) {
    g_assert_cmpstr(((TmChange *)made->pdata[i])->key, ==, wanted[i].key);
    g_assert_cmpuint(((TmChange *)made->pdata[i])->step, ==, wanted[i].step);
  }
  g_assert_true(((TmChange *)made->pdata[6])->undo);
  replay_of(d, a, b, 0, TM_STATE_FINISHED, t);
}

/* One that was killed and went on, and was stopped in the middle of an epoch: with what held at the checkpoint. */
static void test_replay_resumed(void) {
  const TmSettings s = make_settings("ref");
  g_autoptr(TmDataset) d = fixture_roads(TRAIN, VAL, 32, 24);
  g_autoptr(FixtureFolder) a = fixture_folder(), b = fixture_folder();
  TmTrainer *t = begin_paused(d, &s, a);
  steps(t, 0, 3);
  tm_trainer_change(t, "hue", "20", FALSE);
  steps(t, 3, 1);
  tm_trainer_save(t);
  tm_trainer_change(t, "class_weights", "log", FALSE); /* after the checkpoint: forgotten with the step it was made for */
  steps(t, 4, 1);
  tm_trainer_change(t, "class_weights", "median", FALSE);
  tm_trainer_free(t); /* as a kill: nothing more is saved */
  TmSettings on;
  g_assert_true(tm_run_settings(a, FALSE, &on, NULL));
  g_assert_cmpfloat(on.hue, ==, 20);
  g_assert_cmpstr(on.class_weights, ==, "none");
  on.clip = 0.5; /* the user resumes with another setting: that is a change, too */
  g_autoptr(TmTrainer) r = fixture_trainer(d, &on, a, TRUE);
  tm_trainer_start(r);
  tm_trainer_pause(r);
  g_assert_true(fixture_until(r, TM_STATE_PAUSED));
  steps(r, 4, 4);
  tm_trainer_stop(r);
  finish(r, TM_STATE_STOPPED);
  TmSettings begun;
  g_assert_true(tm_run_settings(a, TRUE, &begun, NULL));
  g_assert_cmpfloat(begun.hue, ==, 0);
  g_assert_cmpfloat(begun.clip, ==, 0);
  g_autoptr(GPtrArray) changes = tm_run_read_changes(a);
  g_assert_cmpstr(((TmChange *)changes->pdata[0])->key, ==, "hue");
  g_assert_cmpstr(((TmChange *)changes->pdata[changes->len - 1])->key, ==, "clip");
  replay_of(d, a, b, 8, TM_STATE_STOPPED, r);
}

/* ---- what cannot be ---- */

static void test_refused(void) {
  const TmSettings s = make_settings("ref");
  g_autoptr(TmDataset) d = fixture_roads(TRAIN, VAL, 32, 24);
  g_autoptr(FixtureFolder) a = fixture_folder();
  g_autoptr(TmTrainer) t = begin_paused(d, &s, a);
  static const char *const wrong[][2] = {{"base", "4"},      {"batch", "0"},    {"class_weights", "odd"}, {"lr_factor", "nan"},
                                         {"scale_min", "2"}, {"lr", "word"},    {"accumulate", "3"},      {"lr_factor", "-1"},
                                         {"nothing", "1"},   {"lr_factor", ""}};
  for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
    tm_trainer_change(t, wrong[i][0], wrong[i][1], FALSE);
    steps(t, i, 1);
    g_auto(TmSnapshot) now = {0};
    tm_trainer_snapshot(t, &now);
    g_assert_nonnull(now.notice);
    g_test_message("%s", now.notice);
    g_assert_cmpuint(now.n_changes, ==, 0);
    g_assert_true(now.settings.batch == 4 && now.settings.scale_min == 1 && now.settings.accumulate == 1 && now.lr_factor == 1);
  }
  g_assert_false(tm_steerable("base"));
  g_assert_true(tm_steerable("lr_factor") && tm_steerable("hue"));
}

/* A run that needs what a replay cannot give ends with the reason. */
static void test_replay_refused(void) {
  const TmSettings s = make_settings("ref");
  g_autoptr(TmDataset) d = fixture_roads(TRAIN, VAL, 32, 24);
  g_autoptr(FixtureFolder) a = fixture_folder();
  g_autoptr(TmTrainer) t = fixture_trainer(d, &s, a, FALSE);
  g_autoptr(GPtrArray) changes = g_ptr_array_new_with_free_func((GDestroyNotify)tm_change_free);
  g_ptr_array_add(changes, tm_change_new(2, "dropout", "0", "0.5", FALSE));
  tm_trainer_set_replay(t, changes, 0);
  tm_trainer_start(t);
  g_autoptr(GError) e = NULL;
  g_assert_false(tm_trainer_wait(t, &e));
  g_assert_error(e, TM_ERROR, TM_ERROR_SETTING);
  g_assert_nonnull(strstr(e->message, "dropout"));
}

/* ---- lines of the file ---- */

static void test_lines(void) {
  g_autoptr(FixtureFolder) a = fixture_folder();
  g_autofree char *path = g_build_filename(a, TM_RUN_CHANGES, NULL);
  static const char text[] = "{\"step\":3,\"change\":\"lr_factor\",\"from\":1.0,\"to\":0.5}\n"
                             "{\"step\":-1,\"change\":\"lr\",\"to\":1}\nnot json\n[1,2]\n{\"step\":4}\n{\"step\":\"4\",\"change\":\"lr\",\"to\":1}\n"
                             "{\"step\":5,\"change\":\"class_weights\",\"from\":\"none\",\"to\":\"sqrt\",\"undo\":true}\n"
                             "{\"step\":6,\"change\":\"lr\",\"to\":null}\n{\"step\":7,\"change\":\"flip\",\"to\":0";
  g_assert_true(g_file_set_contents(path, text, -1, NULL));
  g_autoptr(GPtrArray) list = tm_run_read_changes(a);
  g_assert_cmpuint(list->len, ==, 2);
  const TmChange *p = list->pdata[0], *q = list->pdata[1];
  g_assert_cmpuint(p->step, ==, 3);
  g_assert_cmpstr(p->to, ==, "0.5");
  g_assert_cmpstr(q->from, ==, "none");
  g_assert_true(q->undo && !p->undo);
  g_autoptr(GPtrArray) none = tm_run_read_changes("/nonexistent");
  g_assert_cmpuint(none->len, ==, 0);
}

/* ---- the device given back ---- */

static void test_parked(gconstpointer backend) {
  if (strcmp(backend, "cpu") == 0 && !fixture_has_cpu()) {
    g_test_skip("the cpu backend is not built in");
    return;
  }
  const TmSettings s = make_settings(backend);
  g_autoptr(TmDataset) d = fixture_roads(TRAIN, VAL, 32, 24);
  g_autoptr(FixtureFolder) a = fixture_folder(), b = fixture_folder();
  g_autoptr(TmTrainer) whole = begin_paused(d, &s, a);
  steps(whole, 0, 3);
  tm_trainer_change(whole, "class_weights", "sqrt", FALSE);
  tm_trainer_resume(whole);
  finish(whole, TM_STATE_FINISHED);
  g_autoptr(TmTrainer) t = begin_paused(d, &s, b);
  steps(t, 0, 2);
  tm_trainer_park(t);
  for (guint i = 0; i < 10000; i++) {
    g_auto(TmSnapshot) now = {0};
    tm_trainer_snapshot(t, &now);
    if (now.parked) {
      g_assert_cmpuint(now.memory, ==, 0);
      g_assert_cmpint(now.state, ==, TM_STATE_PAUSED);
      break;
    }
    g_usleep(1000);
  }
  tm_trainer_set_probe(t, 3); /* waits for the device */
  tm_trainer_save(t);
  steps(t, 2, 1); /* takes it again */
  tm_trainer_park(t);
  tm_trainer_change(t, "class_weights", "sqrt", FALSE);
  tm_trainer_resume(t);
  finish(t, TM_STATE_FINISHED);
  same_steps(whole, t);
  same_checkpoints(a, b);
}

static void test_parked_stop(void) {
  const TmSettings s = make_settings("ref");
  g_autoptr(TmDataset) d = fixture_roads(TRAIN, VAL, 32, 24);
  for (guint how = 0; how < 3; how++) {
    g_autoptr(FixtureFolder) a = fixture_folder();
    g_autoptr(TmTrainer) t = begin_paused(d, &s, a);
    steps(t, 0, 2);
    tm_trainer_park(t);
    if (how == 0)
      tm_trainer_stop(t); /* scores, for which it takes the device */
    else
      tm_trainer_stop_now(t, how == 1);
    finish(t, TM_STATE_STOPPED);
    g_autoptr(GArray) epochs = fixture_epochs(t);
    g_assert_cmpuint(epochs->len, ==, how == 0);
    g_autoptr(TmCheckpoint) c = last_of(a);
    g_assert_nonnull(c);
  }
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_data_func("/steer/replay/ref", "ref", test_replay);
  g_test_add_data_func("/steer/replay/cpu", "cpu", test_replay);
  g_test_add_func("/steer/replay/resumed", test_replay_resumed);
  g_test_add_func("/steer/replay/refused", test_replay_refused);
  g_test_add_func("/steer/refused", test_refused);
  g_test_add_func("/steer/lines", test_lines);
  g_test_add_data_func("/steer/parked/ref", "ref", test_parked);
  g_test_add_data_func("/steer/parked/cpu", "cpu", test_parked);
  g_test_add_func("/steer/parked/stop", test_parked_stop);
  return g_test_run();
}
