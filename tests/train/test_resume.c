/* A resumed run is the unbroken run, bit for bit: after a pause, a stop, a kill in the middle of an epoch,
 * and a spoilt checkpoint. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"

enum { TRAIN = 24, VAL = 2, STEPS = TRAIN / 4, EPOCHS = 4 };

/* Everything that draws random numbers, carries state, or depends on the step. */
static TmSettings make_settings(const char *backend) {
  TmSettings s;
  fixture_settings(&s);
  s.epochs = EPOCHS;
  s.dropout = 0.2;
  s.ema = 0.9;
  s.clip = 1;
  s.crop = 24;
  s.scale_min = 0.75;
  s.scale_max = 1.5;
  s.threads = 2;
  s.loader_threads = 2;
  g_assert_true(tm_settings_set(&s, "backend", backend, NULL) &&
                tm_settings_set(&s, "class_weights", "sqrt", NULL));
  g_assert_true(tm_settings_set(&s, "precision", "auto", NULL));
  return s;
}

typedef struct {
  GArray *steps, *epochs;
} Rows;

static void rows_clear(Rows *r) {
  g_array_unref(r->steps);
  g_array_unref(r->epochs);
}

static Rows run_to_end(TmDataset *d, const TmSettings *s, const char *folder, gboolean resume) {
  g_autoptr(TmTrainer) t = fixture_trainer(d, s, folder, resume);
  tm_trainer_start(t);
  g_autoptr(GError) e = NULL;
  g_assert_true(tm_trainer_wait(t, &e));
  g_assert_no_error(e);
  g_assert_cmpint(tm_trainer_state(t), ==, TM_STATE_FINISHED);
  return (Rows){fixture_steps(t), fixture_epochs(t)};
}

static void same_bits(float a, float b) {
  g_assert_cmpmem(&a, sizeof a, &b, sizeof b);
}

static void same_rows(const Rows *a, const Rows *b) {
  g_assert_cmpuint(a->steps->len, ==, b->steps->len);
  for (guint i = 0; i < a->steps->len; i++) {
    const TmStepRow *x = &g_array_index(a->steps, TmStepRow, i), *y = &g_array_index(b->steps, TmStepRow, i);
    g_assert_cmpuint(x->step, ==, y->step);
    same_bits(x->loss, y->loss);
    same_bits(x->lr, y->lr);
    same_bits(x->grad_norm, y->grad_norm);
  }
  g_assert_cmpuint(a->epochs->len, ==, b->epochs->len);
  for (guint i = 0; i < a->epochs->len; i++) {
    const TmEpochRow *x = &g_array_index(a->epochs, TmEpochRow, i),
                     *y = &g_array_index(b->epochs, TmEpochRow, i);
    g_assert_cmpuint(x->epoch, ==, y->epoch);
    same_bits(x->train_loss, y->train_loss);
    same_bits(x->val_loss, y->val_loss);
    same_bits(x->miou, y->miou);
    g_assert_cmpint(x->best, ==, y->best);
  }
}

/* The files say the same as the trainer did, each step once. */
static void check_files(const char *folder, const Rows *want) {
  Rows read = {g_array_new(FALSE, FALSE, sizeof(TmStepRow)), g_array_new(FALSE, FALSE, sizeof(TmEpochRow))};
  g_autoptr(GError) e = NULL;
  g_assert_true(tm_run_read_history(folder, read.steps, read.epochs, &e));
  g_assert_no_error(e);
  same_rows(&read, want);
  rows_clear(&read);
}

/* B07 and the house rule: kill -9 in the middle of an epoch. The child kills itself when it has got so far.
 */
static void kill_at(TmTrainer *t, gpointer user) {
  TmSnapshot s;
  tm_trainer_snapshot(t, &s);
  if (s.total_step >= (guint64)GPOINTER_TO_UINT(user)) kill(getpid(), SIGKILL);
  tm_snapshot_clear(&s);
}

static int child_main(const char *backend, const char *folder, guint at) {
  const TmSettings s = make_settings(backend);
  g_autoptr(TmDataset) d = fixture_roads(TRAIN, VAL, 32, 24);
  g_autoptr(TmTrainer) t = fixture_trainer(d, &s, folder, FALSE);
  tm_trainer_set_notify(t, kill_at, GUINT_TO_POINTER(at));
  tm_trainer_start(t);
  tm_trainer_wait(t, NULL);
  return 0;
}

static char *program;

static gboolean spawn_killed(const char *backend, const char *folder, guint at) {
  g_autofree char *number = g_strdup_printf("%u", at);
  char *args[] = {program, (char *)"--child", (char *)backend, (char *)folder, number, NULL};
  int status = 0;
  g_autoptr(GError) e = NULL;
  g_assert_true(g_spawn_sync(NULL, args, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL, &status, &e));
  g_assert_no_error(e);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

static void check_kill(gconstpointer data) {
  const char *backend = data;
  const TmSettings s = make_settings(backend);
  g_autoptr(TmDataset) d = fixture_roads(TRAIN, VAL, 32, 24);
  g_autoptr(FixtureFolder) a = fixture_folder(), b = fixture_folder();
  Rows whole = run_to_end(d, &s, a, FALSE);
  g_assert_true(spawn_killed(backend, b, STEPS + 2));
  Rows resumed = run_to_end(d, &s, b, TRUE);
  same_rows(&whole, &resumed);
  check_files(b, &whole);
  rows_clear(&whole);
  rows_clear(&resumed);
}

/* B11: the same seed gives the same bits; another one does not. */
static void check_seed(gconstpointer data) {
  TmSettings s = make_settings(data);
  s.epochs = 2;
  g_assert_true(tm_settings_set(&s, "upsampling", "bilinear", NULL));
  g_autoptr(TmDataset) d = fixture_roads(TRAIN, VAL, 32, 24);
  g_autoptr(FixtureFolder) a = fixture_folder(), b = fixture_folder(), c = fixture_folder();
  Rows x = run_to_end(d, &s, a, FALSE), y = run_to_end(d, &s, b, FALSE);
  same_rows(&x, &y);
  s.seed++;
  Rows z = run_to_end(d, &s, c, FALSE);
  g_assert_cmpfloat(g_array_index(x.steps, TmStepRow, 3).loss, !=, g_array_index(z.steps, TmStepRow, 3).loss);
  rows_clear(&x);
  rows_clear(&y);
  rows_clear(&z);
}

static void wait_for_step(TmTrainer *t, guint64 n) {
  for (guint64 at = 0; at < n && tm_trainer_state(t) < TM_STATE_FINISHED;) {
    TmSnapshot s;
    tm_trainer_snapshot(t, &s);
    at = s.total_step;
    tm_snapshot_clear(&s);
    g_usleep(200);
  }
}

/* Stopped in the middle of an epoch, over and over, each time by another trainer. */
static void check_pieces(gconstpointer data) {
  const TmSettings s = make_settings(data);
  g_autoptr(TmDataset) d = fixture_roads(TRAIN, VAL, 32, 24);
  g_autoptr(FixtureFolder) a = fixture_folder(), b = fixture_folder();
  Rows whole = run_to_end(d, &s, a, FALSE);
  guint64 at = 0;
  for (guint i = 0; i < 5; i++) {
    g_autoptr(TmTrainer) t = fixture_trainer(d, &s, b, i > 0);
    tm_trainer_start(t);
    tm_trainer_pause(t);
    fixture_until(t, TM_STATE_PAUSED);
    for (guint k = 0; k < 3; k++)
      tm_trainer_step(t), wait_for_step(t, ++at), fixture_until(t, TM_STATE_PAUSED);
    tm_trainer_stop_now(t, TRUE);
    g_assert_true(tm_trainer_wait(t, NULL));
  }
  Rows resumed = run_to_end(d, &s, b, TRUE);
  same_rows(&whole, &resumed);
  check_files(b, &whole);
  rows_clear(&whole);
  rows_clear(&resumed);
}

/* Pausing, stepping and looking at other pictures change nothing of what is learnt. */
static void test_pauses(void) {
  const TmSettings s = make_settings("ref");
  g_autoptr(TmDataset) d = fixture_roads(TRAIN, VAL, 32, 24);
  g_autoptr(FixtureFolder) a = fixture_folder(), b = fixture_folder();
  Rows whole = run_to_end(d, &s, a, FALSE);
  g_autoptr(TmTrainer) t = fixture_trainer(d, &s, b, FALSE);
  tm_trainer_start(t);
  for (guint i = 0; i < 30; i++) {
    if (i % 3 == 0) tm_trainer_pause(t);
    if (i % 3 == 1) tm_trainer_step(t);
    tm_trainer_set_probe(t, i % (TRAIN + VAL));
    if (i % 7 == 0) tm_trainer_save(t);
    g_usleep(1000);
    if (i % 3 == 2) tm_trainer_resume(t);
  }
  tm_trainer_resume(t);
  g_assert_true(tm_trainer_wait(t, NULL));
  Rows paused = {fixture_steps(t), fixture_epochs(t)};
  same_rows(&whole, &paused);
  rows_clear(&whole);
  rows_clear(&paused);
}

/* B08: the last checkpoint is cut in half: the one before is used, and it is said. */
static void test_spoilt(void) {
  const TmSettings s = make_settings("ref");
  g_autoptr(TmDataset) d = fixture_roads(TRAIN, VAL, 32, 24);
  g_autoptr(FixtureFolder) a = fixture_folder(), b = fixture_folder();
  Rows whole = run_to_end(d, &s, a, FALSE);
  g_assert_true(spawn_killed("ref", b, 2 * STEPS + 1));
  g_autofree char *last = g_build_filename(b, "checkpoints", "last.safetensors", NULL), *bytes = NULL;
  gsize n;
  g_assert_true(g_file_get_contents(last, &bytes, &n, NULL));
  g_assert_cmpint(truncate(last, (off_t)n / 2), ==, 0);
  g_autoptr(TmTrainer) t = fixture_trainer(d, &s, b, TRUE);
  tm_trainer_start(t);
  tm_trainer_pause(t);
  g_assert_true(fixture_until(t, TM_STATE_PAUSED));
  TmSnapshot x;
  tm_trainer_snapshot(t, &x);
  g_assert_nonnull(x.notice);
  tm_snapshot_clear(&x);
  tm_trainer_resume(t);
  g_assert_true(tm_trainer_wait(t, NULL));
  Rows resumed = {fixture_steps(t), fixture_epochs(t)};
  same_rows(&whole, &resumed);
  rows_clear(&whole);
  rows_clear(&resumed);
}

/* A changed rate is part of what is kept. */
static void test_rate_kept(void) {
  const TmSettings s = make_settings("ref");
  g_autoptr(TmDataset) d = fixture_roads(TRAIN, VAL, 32, 24);
  g_autoptr(FixtureFolder) a = fixture_folder(), b = fixture_folder();
  g_autoptr(TmTrainer) x = fixture_trainer(d, &s, a, FALSE);
  tm_trainer_set_lr(x, 0.3);
  tm_trainer_start(x);
  g_assert_true(tm_trainer_wait(x, NULL));
  Rows whole = {fixture_steps(x), fixture_epochs(x)};
  TmTrainer *y = fixture_trainer(d, &s, b, FALSE);
  tm_trainer_set_lr(y, 0.3);
  tm_trainer_start(y);
  wait_for_step(y, 3);
  tm_trainer_stop_now(y, TRUE);
  g_assert_true(tm_trainer_wait(y, NULL));
  tm_trainer_free(y);
  Rows resumed = run_to_end(d, &s, b, TRUE);
  same_rows(&whole, &resumed);
  rows_clear(&whole);
  rows_clear(&resumed);
}

/* A run that has ended stays ended; with more epochs it goes on. */
static void test_finished(void) {
  TmSettings s = make_settings("ref");
  s.epochs = 1;
  g_autoptr(TmDataset) d = fixture_roads(TRAIN, VAL, 32, 24);
  g_autoptr(FixtureFolder) folder = fixture_folder();
  Rows first = run_to_end(d, &s, folder, FALSE), again = run_to_end(d, &s, folder, TRUE);
  same_rows(&first, &again);
  s.epochs = 2;
  Rows more = run_to_end(d, &s, folder, TRUE);
  g_assert_cmpuint(more.steps->len, ==, 2 * STEPS);
  g_assert_cmpuint(more.epochs->len, ==, 2);
  rows_clear(&first);
  rows_clear(&again);
  rows_clear(&more);
}

int main(int argc, char **argv) {
  if (argc == 5 && g_str_equal(argv[1], "--child")) return child_main(argv[2], argv[3], (guint)atoi(argv[4]));
  program = argv[0];
  g_test_init(&argc, &argv, NULL);
  static const char *const backends[] = {"ref", "cpu"};
  for (guint i = 0; i < G_N_ELEMENTS(backends); i++) {
    if (!tm_backend_available(backends[i], NULL)) continue;
    g_autofree char *kill_path = g_strdup_printf("/resume/%s/kill", backends[i]);
    g_autofree char *seed_path = g_strdup_printf("/resume/%s/seed", backends[i]);
    g_autofree char *pieces_path = g_strdup_printf("/resume/%s/pieces", backends[i]);
    g_test_add_data_func(kill_path, backends[i], check_kill);
    g_test_add_data_func(seed_path, backends[i], check_seed);
    g_test_add_data_func(pieces_path, backends[i], check_pieces);
  }
  g_test_add_func("/resume/pauses", test_pauses);
  g_test_add_func("/resume/spoilt", test_spoilt);
  g_test_add_func("/resume/rate-kept", test_rate_kept);
  g_test_add_func("/resume/finished", test_finished);
  return g_test_run();
}
