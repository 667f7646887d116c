#include "fixture.h"

#include <glib/gstdio.h>

/* The tests of the trainer can be run on another one. */
#ifndef FIXTURE_BACKEND
#define FIXTURE_BACKEND "ref"
#endif

TmDataset *fixture_roads(int train, int val, int w, int h) {
  const TmDatasetOptions o = {
      .seed = 7, .demo_train = train, .demo_val = val, .demo_width = w, .demo_height = h};
  g_autoptr(GError) e = NULL;
  TmDataset *d = tm_dataset_open("demo", &o, &e);
  g_assert_no_error(e);
  return d;
}

void fixture_settings(TmSettings *s) {
  tm_settings_defaults(s);
  s->base = 2;
  s->depth = 2;
  s->batch = 4;
  s->epochs = 2;
  s->threads = 1;
  s->loader_threads = 1;
  s->seed = 5;
  s->lr = 0.01;
  g_assert_true(tm_settings_set(s, "backend", FIXTURE_BACKEND, NULL));
  g_assert_true(tm_settings_set(s, "precision", "f32", NULL));
}

char *fixture_folder(void) {
  g_autoptr(GError) e = NULL;
  char *path = g_dir_make_tmp("tarmac-train-XXXXXX", &e);
  g_assert_no_error(e);
  return path;
}

static void remove_tree(const char *path) {
  GDir *dir = g_file_test(path, G_FILE_TEST_IS_SYMLINK) ? NULL : g_dir_open(path, 0, NULL);
  for (const char *name; dir && (name = g_dir_read_name(dir));) {
    g_autofree char *child = g_build_filename(path, name, NULL);
    remove_tree(child);
  }
  if (dir) g_dir_close(dir);
  g_remove(path);
}

void fixture_remove(char *folder) {
  if (folder) remove_tree(folder);
  g_free(folder);
}

TmSession *fixture_session(TmDataset *d, const TmSettings *s, const char *folder, gboolean resume) {
  const TmSessionPlan plan = {.data = d, .settings = s, .run_dir = folder, .resume = resume};
  g_autoptr(GError) e = NULL;
  TmSession *session = tm_session_open(&plan, &e);
  g_assert_no_error(e);
  return session;
}

TmTrainer *fixture_trainer(TmDataset *d, const TmSettings *s, const char *folder, gboolean resume) {
  g_autoptr(GError) e = NULL;
  TmTrainer *t = tm_trainer_new(d, NULL, s, folder, resume, &e);
  g_assert_no_error(e);
  return t;
}

gboolean fixture_until(TmTrainer *t, TmTrainerState state) {
  for (guint i = 0; i < 20000; i++) {
    const TmTrainerState now = tm_trainer_state(t);
    if (now == state) return TRUE;
    if (now >= TM_STATE_FINISHED) return FALSE;
    g_usleep(1000);
  }
  return FALSE;
}

gboolean fixture_has_cpu(void) {
  return tm_backend_available("cpu", NULL);
}

GArray *fixture_steps(TmTrainer *t) {
  GArray *rows = g_array_new(FALSE, FALSE, sizeof(TmStepRow));
  tm_trainer_steps(t, 0, rows);
  return rows;
}

GArray *fixture_epochs(TmTrainer *t) {
  GArray *rows = g_array_new(FALSE, FALSE, sizeof(TmEpochRow));
  tm_trainer_epochs(t, 0, rows);
  return rows;
}

static TmView flat(float *array, gsize n) {
  return (TmView){.data = array, .dtype = TM_F32, .shape = TM_SHAPE(1, (int)n, 1, 1), .ld = (int)n};
}

float *fixture_read(TmSession *s, float *array, gsize n) {
  float *out = g_new(float, MAX(n, 1));
  const TmView v = flat(array, n);
  g_assert_true(tm_backend_read(s->backend, &v, out, TM_F32, NULL));
  return out;
}

void fixture_write(TmSession *s, float *array, const float *values, gsize n) {
  const TmView v = flat(array, n);
  g_assert_true(tm_backend_write(s->backend, &v, values, TM_F32, NULL));
  s->params->version++;
}
