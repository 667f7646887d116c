/* The trainer as other threads see it: states, commands, snapshots, ends. */
#include <glib/gstdio.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "engine/core/random.h"
#include "fixture.h"
#include "tests/data/pictures.h"

typedef struct {
  TmDataset *data;
  char *folder;
  TmTrainer *t;
  gint calls; /* atomic */
} Run;

static void count_call(TmTrainer *t, gpointer user) {
  TmSnapshot s;
  tm_trainer_snapshot(t, &s); /* what a callback does must not lock up */
  tm_snapshot_clear(&s);
  g_atomic_int_inc(&((Run *)user)->calls);
}

static void open_run(Run *r, const TmSettings *s, int train, int val) {
  *r = (Run){.data = fixture_roads(train, val, 32, 24), .folder = fixture_folder()};
  g_autoptr(GError) e = NULL;
  r->t = tm_trainer_new(r->data, NULL, s, r->folder, FALSE, &e);
  g_assert_no_error(e);
  tm_trainer_set_notify(r->t, count_call, r);
}

static void close_run(Run *r) {
  tm_trainer_free(r->t);
  const gint calls = g_atomic_int_get(&r->calls);
  g_usleep(2000);
  g_assert_cmpint(g_atomic_int_get(&r->calls), ==, calls); /* none after the end */
  fixture_remove(r->folder);
  tm_dataset_unref(r->data);
}

static gboolean has_file(const Run *r, const char *name) {
  g_autofree char *path = g_build_filename(r->folder, name, NULL);
  return g_file_test(path, G_FILE_TEST_EXISTS);
}

static TmSnapshot snapshot(TmTrainer *t) {
  TmSnapshot s;
  tm_trainer_snapshot(t, &s);
  return s;
}

static guint64 total_step(TmTrainer *t) {
  TmSnapshot s = snapshot(t);
  const guint64 n = s.total_step;
  tm_snapshot_clear(&s);
  return n;
}

/* Long enough that a test always meets it in training. */
static TmSettings endless(void) {
  TmSettings s;
  fixture_settings(&s);
  s.epochs = 10000;
  return s;
}

/* ---- a whole run ---- */

static void test_whole_run(void) {
  TmSettings s;
  fixture_settings(&s);
  s.epochs = 3;
  Run r;
  open_run(&r, &s, 12, 2);
  g_assert_cmpint(tm_trainer_state(r.t), ==, TM_STATE_IDLE);
  tm_trainer_start(r.t);
  g_autoptr(GError) e = NULL;
  g_assert_true(tm_trainer_wait(r.t, &e));
  g_assert_no_error(e);
  g_auto(TmSnapshot) x = snapshot(r.t);
  g_assert_cmpint(x.state, ==, TM_STATE_FINISHED);
  g_assert_cmpuint(x.epoch, ==, 3);
  g_assert_cmpuint(x.total_step, ==, 9);
  g_assert_true(isfinite(x.best_miou) && isfinite(x.val_loss) && isfinite(x.loss) && isfinite(x.smooth_loss));
  g_assert_true(x.seconds > 0 && x.images_per_s > 0 && x.times.step > 0 && x.memory > 0 &&
                x.times.network > 0);
  g_assert_cmpfloat(x.seconds_left, ==, 0);
  g_assert_null(x.error);
  g_assert_true(g_str_has_prefix(x.device, "ref: "));
  g_autoptr(GArray) steps = fixture_steps(r.t), epochs = fixture_epochs(r.t);
  g_assert_cmpuint(steps->len, ==, 9);
  g_assert_cmpuint(epochs->len, ==, 3);
  for (guint i = 0; i < 9; i++) g_assert_cmpuint(g_array_index(steps, TmStepRow, i).step, ==, i);
  for (guint i = 0; i < 3; i++) {
    const TmEpochRow *row = &g_array_index(epochs, TmEpochRow, i);
    g_assert_cmpuint(row->epoch, ==, i);
    g_assert_cmpuint(row->step, ==, 3 * i + 2);
    g_assert_true(isfinite(row->train_loss) && isfinite(row->miou));
  }
  g_assert_true(has_file(&r, "checkpoints/last.safetensors") &&
                has_file(&r, "checkpoints/best.safetensors") && has_file(&r, "run.json"));
  g_assert_cmpint(g_atomic_int_get(&r.calls), >=, 5);
  g_autoptr(TmProbe) p = tm_trainer_probe(r.t, NULL);
  g_assert_nonnull(p);
  g_assert_cmpuint(p->entry, ==, 12); /* the first validation picture */
  g_assert_null(tm_trainer_probe(r.t, p));
  close_run(&r);
}

static JsonObject *read_info(const Run *r, JsonNode **keep) {
  g_autoptr(GError) e = NULL;
  *keep = tm_run_read_info(r->folder, &e);
  g_assert_no_error(e);
  return json_node_get_object(*keep);
}

/* run.json says what was run on what, and how it ended. */
static void test_run_json(void) {
  TmSettings s;
  fixture_settings(&s);
  s.epochs = 1;
  Run r;
  open_run(&r, &s, 4, 1);
  tm_trainer_start(r.t);
  g_assert_true(tm_trainer_wait(r.t, NULL));
  g_autoptr(JsonNode) node = NULL;
  JsonObject *o = read_info(&r, &node);
  g_assert_cmpstr(json_object_get_string_member(o, "state"), ==, "finished");
  TmSettings back;
  tm_settings_defaults(&back);
  g_assert_true(tm_settings_from_json(&back, json_object_get_member(o, "settings"), NULL));
  g_assert_cmpint(back.base, ==, s.base);
  JsonObject *data = json_object_get_object_member(o, "data");
  g_assert_cmpstr(json_object_get_string_member(data, "hash"), ==, tm_dataset_hash(r.data));
  g_assert_cmpint(json_object_get_int_member(data, "train"), ==, 4);
  g_assert_true(json_object_has_member(o, "version") && json_object_has_member(o, "machine") &&
                json_object_has_member(o, "result"));
  close_run(&r);
}

/* ---- the table: each command in each state ---- */

typedef void (*Call)(TmTrainer *t);
static void call_start(TmTrainer *t) {
  tm_trainer_start(t);
}
static void call_stop_now(TmTrainer *t) {
  tm_trainer_stop_now(t, FALSE);
}
static void call_stop_now_save(TmTrainer *t) {
  tm_trainer_stop_now(t, TRUE);
}
static void call_lr(TmTrainer *t) {
  tm_trainer_set_lr(t, 0.5);
}
static void call_probe(TmTrainer *t) {
  tm_trainer_set_probe(t, 1);
}

typedef struct {
  const char *name;
  Call call;
  TmTrainerState from_idle, from_training, from_paused, from_finished;
} Row;

static const Row table[] = {
    {"start", call_start, TM_STATE_TRAINING, TM_STATE_TRAINING, TM_STATE_PAUSED, TM_STATE_FINISHED},
    {"pause", tm_trainer_pause, TM_STATE_IDLE, TM_STATE_PAUSED, TM_STATE_PAUSED, TM_STATE_FINISHED},
    {"resume", tm_trainer_resume, TM_STATE_IDLE, TM_STATE_TRAINING, TM_STATE_TRAINING, TM_STATE_FINISHED},
    {"step", tm_trainer_step, TM_STATE_IDLE, TM_STATE_PAUSED, TM_STATE_PAUSED, TM_STATE_FINISHED},
    {"stop", tm_trainer_stop, TM_STATE_IDLE, TM_STATE_STOPPED, TM_STATE_STOPPED, TM_STATE_FINISHED},
    {"stop-now", call_stop_now, TM_STATE_IDLE, TM_STATE_STOPPED, TM_STATE_STOPPED, TM_STATE_FINISHED},
    {"stop-now-save", call_stop_now_save, TM_STATE_IDLE, TM_STATE_STOPPED, TM_STATE_STOPPED,
     TM_STATE_FINISHED},
    {"save", tm_trainer_save, TM_STATE_IDLE, TM_STATE_TRAINING, TM_STATE_PAUSED, TM_STATE_FINISHED},
    {"lr", call_lr, TM_STATE_IDLE, TM_STATE_TRAINING, TM_STATE_PAUSED, TM_STATE_FINISHED},
    {"probe", call_probe, TM_STATE_IDLE, TM_STATE_TRAINING, TM_STATE_PAUSED, TM_STATE_FINISHED},
};

/* In training it also validates now and then: that counts as training here. */
static void expect(TmTrainer *t, TmTrainerState want) {
  for (guint i = 0; i < 10000; i++) {
    TmTrainerState s = tm_trainer_state(t);
    if (s == TM_STATE_VALIDATING || s == TM_STATE_PREPARING) s = TM_STATE_TRAINING;
    if (s == want && i >= 5) return; /* and it stays so for a while */
    g_usleep(1000);
  }
  g_assert_cmpint(tm_trainer_state(t), ==, want);
}

static void test_table_row(gconstpointer data) {
  const Row *row = data;
  const TmSettings s = endless();
  for (guint from = 0; from < 3; from++) {
    Run r;
    open_run(&r, &s, 8, 1);
    if (from > 0) tm_trainer_start(r.t);
    if (from > 0) g_assert_true(fixture_until(r.t, TM_STATE_TRAINING));
    if (from == 2) {
      tm_trainer_pause(r.t);
      g_assert_true(fixture_until(r.t, TM_STATE_PAUSED));
    }
    row->call(r.t);
    expect(r.t, from == 0 ? row->from_idle : from == 1 ? row->from_training : row->from_paused);
    close_run(&r);
  }
  TmSettings quick;
  fixture_settings(&quick);
  quick.epochs = 1;
  Run r;
  open_run(&r, &quick, 4, 1);
  tm_trainer_start(r.t);
  g_assert_true(tm_trainer_wait(r.t, NULL));
  row->call(r.t);
  expect(r.t, row->from_finished);
  close_run(&r);
}

/* ---- pause, step, resume ---- */

static void test_step(void) {
  const TmSettings s = endless();
  Run r;
  open_run(&r, &s, 8, 1);
  tm_trainer_start(r.t);
  tm_trainer_pause(r.t); /* at once: carried out when preparing is over */
  g_assert_true(fixture_until(r.t, TM_STATE_PAUSED));
  guint64 at = total_step(r.t);
  for (guint i = 0; i < 5; i++) {
    tm_trainer_step(r.t);
    for (guint k = 0; k < 10000 && (total_step(r.t) == at || tm_trainer_state(r.t) != TM_STATE_PAUSED); k++)
      g_usleep(500);
    g_assert_cmpuint(total_step(r.t), ==, at + 1);
    at++;
  }
  g_usleep(20000);
  g_assert_cmpuint(total_step(r.t), ==, at); /* paused is paused */
  tm_trainer_resume(r.t);
  for (guint k = 0; k < 10000 && total_step(r.t) < at + 5; k++) g_usleep(500);
  g_assert_cmpuint(total_step(r.t), >=, at + 5);
  close_run(&r);
}

static void test_learning_rate(void) {
  TmSettings s = endless();
  g_assert_true(tm_settings_set(&s, "schedule", "constant", NULL));
  s.warmup = 0;
  s.lr = 0.01;
  Run r;
  open_run(&r, &s, 8, 1);
  tm_trainer_set_lr(r.t, NAN);
  tm_trainer_set_lr(r.t, -1);
  tm_trainer_start(r.t);
  tm_trainer_pause(r.t);
  g_assert_true(fixture_until(r.t, TM_STATE_PAUSED));
  tm_trainer_step(r.t); /* what comes after a step waits for it */
  tm_trainer_set_lr(r.t, 0.25);
  tm_trainer_step(r.t);
  tm_trainer_stop_now(r.t, FALSE);
  g_assert_true(tm_trainer_wait(r.t, NULL));
  g_autoptr(GArray) steps = fixture_steps(r.t);
  g_assert_cmpuint(steps->len, ==, 2);
  g_assert_cmpfloat_with_epsilon(g_array_index(steps, TmStepRow, 0).lr, 0.01, 1e-8);
  g_assert_cmpfloat_with_epsilon(g_array_index(steps, TmStepRow, 1).lr, 0.0025, 1e-8);
  g_autofree char *path = g_build_filename(r.folder, "steering.jsonl", NULL), *text = NULL;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_assert_nonnull(strstr(text, "0.25"));
  close_run(&r);
}

static void test_probe(void) {
  const TmSettings s = endless();
  Run r;
  open_run(&r, &s, 8, 2);
  tm_trainer_set_probe(r.t, 3);  /* before the start: kept */
  tm_trainer_set_probe(r.t, 99); /* not a picture: ignored */
  tm_trainer_start(r.t);
  tm_trainer_pause(r.t);
  g_assert_true(fixture_until(r.t, TM_STATE_PAUSED));
  g_autoptr(TmProbe) a = tm_trainer_probe(r.t, NULL);
  g_assert_nonnull(a);
  g_assert_cmpuint(a->entry, ==, 3);
  g_assert_true(a->w == 32 && a->h == 24 && a->truth && isfinite(a->miou) && a->wrong >= 0 && a->wrong <= 1);
  tm_trainer_set_probe(r.t, 5); /* while paused: shown at once, though no step was made */
  g_autoptr(TmProbe) b = NULL;
  for (guint i = 0; i < 5000 && !b; i++) {
    b = tm_trainer_probe(r.t, a);
    g_usleep(1000);
  }
  g_assert_nonnull(b);
  g_assert_cmpuint(b->entry, ==, 5);
  close_run(&r);
}

/* ---- ends ---- */

/* D10: stopping keeps the work: scored, saved, best kept. */
static void test_stop(void) {
  const TmSettings s = endless();
  Run r;
  open_run(&r, &s, 8, 2);
  tm_trainer_start(r.t);
  while (total_step(r.t) < 3) g_usleep(1000);
  tm_trainer_stop(r.t);
  g_assert_true(tm_trainer_wait(r.t, NULL));
  g_auto(TmSnapshot) x = snapshot(r.t);
  g_assert_cmpint(x.state, ==, TM_STATE_STOPPED);
  g_assert_true(isfinite(x.val_miou) && isfinite(x.best_miou));
  g_assert_true(has_file(&r, "checkpoints/best.safetensors"));
  g_autoptr(TmCheckpoint) c = tm_run_read_last(r.folder, NULL, NULL);
  g_assert_nonnull(c);
  g_assert_cmpint(json_object_get_int_member(tm_checkpoint_meta(c), "total_step"), ==, (gint64)x.total_step);
  g_autoptr(JsonNode) node = NULL;
  g_assert_cmpstr(json_object_get_string_member(read_info(&r, &node), "state"), ==, "stopped");
  close_run(&r);
}

static void test_stop_now(void) {
  for (guint save = 0; save < 2; save++) {
    TmSettings s = endless();
    Run r;
    open_run(&r, &s, 400, 1); /* a long epoch: no checkpoint but the first within it */
    tm_trainer_start(r.t);
    while (total_step(r.t) < 3) g_usleep(500);
    tm_trainer_stop_now(r.t, save);
    g_assert_true(tm_trainer_wait(r.t, NULL));
    g_autoptr(TmCheckpoint) c = tm_run_read_last(r.folder, NULL, NULL);
    const gint64 kept = json_object_get_int_member(tm_checkpoint_meta(c), "total_step");
    g_assert_cmpint(kept, ==, save ? (gint64)total_step(r.t) : 0);
    close_run(&r);
  }
}

static void test_free_anywhere(void) {
  const TmSettings s = endless();
  for (guint i = 0; i < 12; i++) {
    Run r;
    open_run(&r, &s, 8, 2);
    if (i > 0) tm_trainer_start(r.t);
    g_usleep(i * i * 300);
    if (i % 3 == 2) tm_trainer_pause(r.t);
    close_run(&r);
  }
}

/* Early stopping: with rate 0 nothing ever gets better after the first epoch. */
static void test_early_stop(void) {
  TmSettings s = endless();
  s.lr = 0;
  s.batch_norm = FALSE;
  s.stop_after = 3;
  Run r;
  open_run(&r, &s, 4, 1);
  tm_trainer_start(r.t);
  g_assert_true(tm_trainer_wait(r.t, NULL));
  g_auto(TmSnapshot) x = snapshot(r.t);
  g_assert_cmpint(x.state, ==, TM_STATE_FINISHED);
  g_assert_cmpuint(x.epoch, ==, 4);
  g_assert_cmpuint(x.best_epoch, ==, 0);
  g_assert_nonnull(x.notice);
  close_run(&r);
}

/* Validated every second epoch and after the last; early stopping counts epochs all the same. */
static void test_validate_every(void) {
  TmSettings s;
  fixture_settings(&s);
  s.epochs = 5;
  s.validate_every = 2;
  Run r;
  open_run(&r, &s, 4, 1);
  tm_trainer_start(r.t);
  g_assert_true(tm_trainer_wait(r.t, NULL));
  g_autoptr(GArray) epochs = fixture_epochs(r.t);
  g_assert_cmpuint(epochs->len, ==, 5);
  for (guint i = 0; i < 5; i++) {
    const TmEpochRow *row = &g_array_index(epochs, TmEpochRow, i);
    g_assert_true(isfinite(row->train_loss));
    g_assert_cmpint(isfinite(row->miou) != 0, ==, i % 2 == 1 || i == 4);
    g_assert_true(!row->best || isfinite(row->miou));
  }
  close_run(&r);

  s = endless();
  s.lr = 0;
  s.batch_norm = FALSE;
  s.validate_every = 2;
  s.stop_after = 3;
  open_run(&r, &s, 4, 1);
  tm_trainer_start(r.t);
  g_assert_true(tm_trainer_wait(r.t, NULL));
  g_auto(TmSnapshot) x = snapshot(r.t);
  g_assert_cmpint(x.state, ==, TM_STATE_FINISHED);
  g_assert_cmpuint(x.epoch, ==, 6); /* scored after 2, 4 and 6: two epochs without gain, then four */
  g_assert_cmpuint(x.best_epoch, ==, 1);
  close_run(&r);
}

/* B01: numbers that stay not finite end the run with a reason; the best is not replaced by them. */
static void test_not_finite(void) {
  TmSettings s = endless();
  g_assert_true(tm_settings_set(&s, "optimizer", "sgd", NULL) &&
                tm_settings_set(&s, "schedule", "constant", NULL));
  s.warmup = 0;
  s.batch_norm = FALSE;
  s.lr = 1000;
  s.momentum = 0.99;
  s.depth = 4;
  Run r;
  open_run(&r, &s, 8, 1);
  tm_trainer_start(r.t);
  g_autoptr(GError) e = NULL;
  g_assert_false(tm_trainer_wait(r.t, &e));
  g_assert_error(e, TM_ERROR, TM_ERROR_NON_FINITE);
  g_auto(TmSnapshot) x = snapshot(r.t);
  g_assert_cmpint(x.state, ==, TM_STATE_FAILED);
  g_assert_cmpstr(x.error, ==, e->message);
  g_assert_cmpuint(x.skipped, >=, 10);
  g_assert_false(isinf(x.best_miou));
  g_autoptr(TmCheckpoint) c = tm_run_read_last(r.folder, NULL, NULL);
  g_assert_nonnull(c);
  g_auto(GStrv) names = tm_checkpoint_names(c);
  for (guint i = 0; names[i]; i++) {
    const TmTensor *t = tm_checkpoint_tensor(c, names[i]);
    for (gsize k = 0; k < tm_shape_count(t->shape); k++) g_assert_true(isfinite(((const float *)t->data)[k]));
  }
  close_run(&r);
}

/* B06: a net that does not fit is a failed run with advice, not a dead process. */
static void test_no_memory(void) {
  TmSettings s = endless();
  s.batch = 1024;
  s.crop = 8192;
  s.base = 256;
  Run r;
  open_run(&r, &s, 4, 1);
  tm_trainer_start(r.t);
  g_autoptr(GError) e = NULL;
  g_assert_false(tm_trainer_wait(r.t, &e));
  g_assert_error(e, TM_ERROR, TM_ERROR_NO_MEMORY);
  g_assert_nonnull(strstr(e->message, "smaller batch"));
  close_run(&r);
}

/* B09: no room for a checkpoint: paused with the reason, the old file whole; with room again the run goes on
 * to its end. */
static void test_no_room(void) {
  struct rlimit old, none;
  g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &old), ==, 0);
  none = old;
  none.rlim_cur = 256;
  signal(SIGXFSZ, SIG_IGN);
  TmSettings s;
  fixture_settings(&s);
  s.epochs = 4;
  Run r;
  open_run(&r, &s, 8, 1);
  tm_trainer_start(r.t);
  tm_trainer_pause(r.t);
  g_assert_true(fixture_until(r.t, TM_STATE_PAUSED));
  g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &none), ==, 0);
  tm_trainer_resume(r.t);
  g_usleep(1000);
  g_assert_true(fixture_until(r.t, TM_STATE_PAUSED));
  for (guint i = 0; i < 2000 && total_step(r.t) == 0; i++) g_usleep(1000);
  g_assert_true(fixture_until(r.t, TM_STATE_PAUSED));
  TmSnapshot x = snapshot(r.t);
  g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &old), ==, 0);
  g_assert_nonnull(x.notice);
  tm_snapshot_clear(&x);
  g_autoptr(TmCheckpoint) c = tm_run_read_last(r.folder, NULL, NULL);
  g_assert_nonnull(c);
  g_autoptr(GError) e = NULL;
  for (guint i = 0; i < 10 && tm_trainer_state(r.t) != TM_STATE_FINISHED; i++) {
    tm_trainer_resume(r.t);
    fixture_until(r.t, TM_STATE_FINISHED);
  }
  g_assert_true(tm_trainer_wait(r.t, &e));
  g_assert_cmpuint(total_step(r.t), ==, 8);
  close_run(&r);
}

/* ---- wrong from the beginning ---- */

static void test_refused(void) {
  g_autoptr(TmDataset) d = fixture_roads(4, 1, 32, 24);
  g_autoptr(FixtureFolder) folder = fixture_folder();
  TmSettings s;
  fixture_settings(&s);
  s.scale_min = 2;
  g_autoptr(GError) e = NULL;
  g_assert_null(tm_trainer_new(d, NULL, &s, folder, FALSE, &e));
  g_assert_error(e, TM_ERROR, TM_ERROR_SETTING);
  g_clear_error(&e);
  fixture_settings(&s);
  g_assert_null(tm_trainer_new(d, NULL, &s, "/proc/nowhere", FALSE, &e));
  g_assert_error(e, TM_ERROR, TM_ERROR_FILE);
  g_clear_error(&e);
  g_autoptr(TmTrainer) t = tm_trainer_new(d, NULL, &s, folder, TRUE, NULL); /* nothing to resume */
  g_assert_false(tm_trainer_wait(t, &e)); /* not started: told, not waited for */
  g_clear_error(&e);
  tm_trainer_start(t);
  g_assert_false(tm_trainer_wait(t, &e));
  g_assert_nonnull(e);
}

/* A scan made before is used, and may be freed by its owner at once. */
static void test_given_scan(void) {
  g_autoptr(TmDataset) d = fixture_roads(8, 2, 32, 24);
  g_autoptr(FixtureFolder) folder = fixture_folder();
  TmScan *scan = tm_scan_run(d, 1, NULL, NULL, NULL);
  scan->leave_out[0] = TRUE;
  scan->n_left_out = 1;
  TmSettings s;
  fixture_settings(&s);
  s.batch = 1;
  s.epochs = 1;
  g_autoptr(TmTrainer) t = tm_trainer_new(d, scan, &s, folder, FALSE, NULL);
  scan->leave_out[0] = FALSE;
  tm_scan_free(scan);
  tm_trainer_start(t);
  g_assert_true(tm_trainer_wait(t, NULL));
  g_assert_cmpuint(total_step(t), ==, 7); /* eight pictures less the one left out */
}

/* A picture that goes bad after the scan is named and counted, and the run goes on to its end with another in its
 * place; when none is left, it ends with the reason. */
static void test_gone_bad(void) {
  char *dir = tmp_new();
  for (int i = 0; i < 6; i++) {
    g_autofree char *image = g_strdup_printf("images/p%d.png", i),
                    *mask = g_strdup_printf("masks/p%d.png", i);
    put_picture(dir, image, 32, 24);
    put_grey(dir, mask, 32, 24, NULL, (guint8)(i % 2));
  }
  g_autoptr(TmDataset) d = tm_dataset_open(dir, NULL, NULL);
  g_autoptr(TmScan) scan = tm_scan_run(d, 1, NULL, NULL, NULL);
  g_assert_cmpuint(scan->n_left_out, ==, 0);
  TmSettings s;
  fixture_settings(&s);
  s.batch = tm_dataset_n_split(d, TM_SPLIT_TRAIN) > 4 ? 5 : 4;
  put_text(dir, "images/p1.png", "\x89PNG\r\n\x1a\nno more");
  {
    g_autoptr(FixtureFolder) folder = fixture_folder();
    g_autoptr(TmTrainer) t = tm_trainer_new(d, scan, &s, folder, FALSE, NULL);
    tm_trainer_start(t);
    g_autoptr(GError) e = NULL;
    tm_trainer_wait(t, &e);
    g_assert_no_error(e);
    g_auto(TmSnapshot) x = snapshot(t);
    g_assert_cmpuint(x.replaced, ==, 2); /* once an epoch */
    g_assert_cmpuint(x.skipped, ==, 0);
  }
  for (int i = 0; i < 6; i++) {
    g_autofree char *image = g_strdup_printf("images/p%d.png", i);
    put_text(dir, image, "gone");
  }
  g_autoptr(FixtureFolder) folder = fixture_folder();
  g_autoptr(TmTrainer) t = tm_trainer_new(d, scan, &s, folder, FALSE, NULL);
  tm_trainer_start(t);
  g_autoptr(GError) e = NULL;
  g_assert_false(tm_trainer_wait(t, &e));
  g_assert_error(e, TM_ERROR, TM_ERROR_DATA);
  g_assert_nonnull(strstr(e->message, ".png"));
  tmp_remove(dir);
}

/* ---- races ---- */

static void test_random_sequences(void) {
  TmSettings s = endless();
  s.base = 1;
  s.depth = 2;
  TmRandom random;
  tm_random_seed(&random, (guint64)g_test_rand_int());
  for (guint i = 0; i < 100; i++) {
    Run r;
    open_run(&r, &s, 6, 1);
    tm_trainer_start(r.t);
    const guint n = 3 + tm_random_int(&random, 10);
    for (guint k = 0; k < n; k++) {
      table[tm_random_int(&random, G_N_ELEMENTS(table))].call(r.t);
      if (tm_random_int(&random, 2)) g_usleep(tm_random_int(&random, 1500));
      TmSnapshot x = snapshot(r.t);
      g_assert_cmpint(x.state, !=, TM_STATE_FAILED);
      g_assert_cmpuint(x.steps == 0 || x.step <= x.steps, ==, TRUE);
      tm_snapshot_clear(&x);
    }
    if (i % 2) { /* whatever was asked for, stop now ends it */
      tm_trainer_stop_now(r.t, i % 4 == 1);
      g_assert_true(tm_trainer_wait(r.t, NULL));
      g_assert_cmpint(tm_trainer_state(r.t), ==, TM_STATE_STOPPED);
    }
    close_run(&r);
  }
}

static void test_names(void) {
  for (TmTrainerState i = TM_STATE_IDLE; i <= TM_STATE_FAILED; i++)
    for (TmTrainerState k = TM_STATE_IDLE; k < i; k++)
      g_assert_cmpstr(tm_trainer_state_name(i), !=, tm_trainer_state_name(k));
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/trainer/whole-run", test_whole_run);
  g_test_add_func("/trainer/run-json", test_run_json);
  for (guint i = 0; i < G_N_ELEMENTS(table); i++) {
    g_autofree char *path = g_strconcat("/trainer/table/", table[i].name, NULL);
    g_test_add_data_func(path, &table[i], test_table_row);
  }
  g_test_add_func("/trainer/step", test_step);
  g_test_add_func("/trainer/learning-rate", test_learning_rate);
  g_test_add_func("/trainer/probe", test_probe);
  g_test_add_func("/trainer/stop", test_stop);
  g_test_add_func("/trainer/validate-every", test_validate_every);
  g_test_add_func("/trainer/stop-now", test_stop_now);
  g_test_add_func("/trainer/free-anywhere", test_free_anywhere);
  g_test_add_func("/trainer/early-stop", test_early_stop);
  g_test_add_func("/trainer/not-finite", test_not_finite);
  g_test_add_func("/trainer/no-memory", test_no_memory);
  g_test_add_func("/trainer/no-room", test_no_room);
  g_test_add_func("/trainer/refused", test_refused);
  g_test_add_func("/trainer/given-scan", test_given_scan);
  g_test_add_func("/trainer/gone-bad", test_gone_bad);
  g_test_add_func("/trainer/random-sequences", test_random_sequences);
  g_test_add_func("/trainer/names", test_names);
  return g_test_run();
}
