/* folder_picture.c: one picture of a folder job: read, predicted, written, shown. */
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/data/resample.h"
#include "engine/predict/folder_job-private.h"
#include "engine/run/run_dir.h"

TmFolderPicture *tm_folder_picture_ref(TmFolderPicture *p) {
  g_atomic_ref_count_inc(&p->refs);
  return p;
}

void tm_folder_picture_unref(TmFolderPicture *p) {
  if (!p || !g_atomic_ref_count_dec(&p->refs)) return;
  g_free(p->name);
  g_free(p->rgb);
  g_free(p->labels);
  g_free(p->sure);
  g_free(p->shares);
  tm_class_table_free(p->classes);
  g_free(p);
}

static TmFolderPicture *picture_new(const TmFolderJob *j, guint i, int w, int h) {
  TmFolderPicture *p = g_new0(TmFolderPicture, 1);
  const TmClassTable *t = tm_predictor_classes(j->p);
  g_atomic_ref_count_init(&p->refs);
  p->index = i;
  p->name = g_filename_display_name(j->work.names->pdata[i]);
  p->w = w;
  p->h = h;
  p->classes = tm_class_table_copy(t);
  p->shares = g_new0(double, MAX(t->n, 1));
  return p;
}

/* ---- the network ---- */

static gint64 file_time(const char *path) {
  GStatBuf st;
  return g_stat(path, &st) == 0 ? (gint64)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec : 0;
}

/* A network in training is used as it is now, not as it was best. */
static char *weights_path(const TmFolderJob *j, GError **error) {
  if (j->follow) {
    g_autofree char *last = g_build_filename(j->network, "checkpoints", "last.safetensors", NULL);
    if (g_file_test(last, G_FILE_TEST_EXISTS)) return g_steal_pointer(&last);
  }
  return tm_run_best_path(j->network, error);
}

gboolean tm_folder_job_load(TmFolderJob *j, GError **error) {
  g_autofree char *path = weights_path(j, error);
  if (!path) return FALSE;
  const gint64 time = file_time(path);
  TmPredictor *p = tm_predictor_open(path, j->backend, NULL, error);
  if (!p) return FALSE;
  g_clear_pointer(&j->p, tm_predictor_free);
  j->p = p;
  j->weights_time = time;
  g_mutex_lock(&j->mutex);
  g_free(j->snap.checkpoint);
  j->snap.checkpoint = g_filename_display_name(path);
  j->snap.epoch = tm_predictor_epoch(p);
  g_mutex_unlock(&j->mutex);
  return TRUE;
}

void tm_folder_job_reload(TmFolderJob *j) {
  if (!j->follow) return;
  g_autofree char *path = weights_path(j, NULL);
  /* What cannot be read now is tried again before the next picture; the weights at hand serve meanwhile. */
  if (path && file_time(path) != j->weights_time) tm_folder_job_load(j, NULL);
}

/* ---- a picture ---- */

/* The small one for the strip. */
static TmFolderPicture *shrink(const TmFolderJob *j, const TmFolderPicture *p) {
  const double f = MIN(1.0, (double)TM_FOLDER_THUMB / MAX(p->w, p->h));
  const int w = MAX(1, (int)lround(p->w * f)), h = MAX(1, (int)lround(p->h * f));
  TmFolderPicture *s = picture_new(j, p->index, w, h);
  const TmSample in = {.w = p->w, .h = p->h, .rgb = p->rgb, .labels = p->labels};
  const TmWindow window = {.sw = w, .sh = h, .w = w, .h = h};
  memcpy(s->shares, p->shares, p->classes->n * sizeof *s->shares);
  s->rgb = g_malloc((gsize)w * (gsize)h * 3);
  s->labels = g_malloc((gsize)w * (gsize)h);
  if (tm_resample_rgb(&in, &window, (const guint8[3]){0}, s->rgb) && tm_resample_labels(&in, &window, s->labels))
    return s;
  tm_folder_picture_unref(s);
  return NULL;
}

static gboolean predict(TmFolderJob *j, TmFolderPicture *p, gboolean sure, GError **error) {
  const gsize pixels = (gsize)p->w * (gsize)p->h;
  p->labels = g_try_malloc(pixels);
  g_autofree float *share = sure ? g_try_malloc(pixels * sizeof *share) : NULL;
  if (!p->labels || (sure && (!share || !(p->sure = g_try_malloc(pixels))))) {
    g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY, _("There is no memory for a mask of %d×%d pixels."), p->w,
                p->h);
    return FALSE;
  }
  if (sure ? !tm_predictor_run_sure(j->p, p->rgb, p->w, p->h, p->labels, share, error)
           : !tm_predictor_run(j->p, p->rgb, p->w, p->h, p->labels, error))
    return FALSE;
  for (gsize i = 0; sure && i < pixels; i++) p->sure[i] = (guint8)lroundf(share[i] * 255);
  tm_folder_shares(p->classes, p->labels, pixels, p->shares);
  return TRUE;
}

/* @show: as what to look at. */
static void publish(TmFolderJob *j, TmFolderPicture *p, gboolean show, gboolean only_look) {
  TmFolderPicture *small = only_look ? NULL : shrink(j, p);
  g_mutex_lock(&j->mutex);
  if (show) {
    g_clear_pointer(&j->picture, tm_folder_picture_unref);
    j->picture = tm_folder_picture_ref(p);
  }
  if (small) g_ptr_array_add(j->taken, small);
  g_mutex_unlock(&j->mutex);
}

static void note_times(TmFolderJob *j, const gint64 at[4]) {
  double mean[3] = {0};
  for (int k = 0; k < 3; k++)
    j->times[j->n_times % TM_FOLDER_TIMES][k] = (double)(at[k + 1] - at[k]) / G_USEC_PER_SEC;
  j->n_times++;
  const guint n = MIN(j->n_times, TM_FOLDER_TIMES);
  for (guint i = 0; i < n; i++)
    for (int k = 0; k < 3; k++) mean[k] += j->times[i][k] / n;
  g_mutex_lock(&j->mutex);
  j->snap.decode = mean[0];
  j->snap.network = mean[1];
  j->snap.write = mean[2];
  g_mutex_unlock(&j->mutex);
}

gboolean tm_folder_job_do(TmFolderJob *j, guint i, gboolean only_look, GError **error) {
  g_auto(TmPicture) picture = {0};
  g_autofree char *in = g_build_filename(j->work.folder, j->work.names->pdata[i], NULL);
  gint64 at[4] = {g_get_monotonic_time()};
  g_mutex_lock(&j->mutex);
  const gboolean show = only_look || j->look == G_MAXUINT || j->look == i,
                 sure = show && j->sure && tm_predictor_tells_sureness(j->p);
  g_mutex_unlock(&j->mutex);
  if (!tm_image_read_picture(in, NULL, &picture, error)) return FALSE;
  g_autoptr(TmFolderPicture) p = picture_new(j, i, picture.w, picture.h);
  p->rgb = g_steal_pointer(&picture.rgb);
  at[1] = g_get_monotonic_time();
  if (!predict(j, p, sure, error)) return FALSE;
  at[2] = g_get_monotonic_time();
  picture.rgb = p->rgb; /* lent */
  const gboolean saved = only_look || tm_folder_work_save(&j->work, i, p->classes, &picture, p->labels, p->shares,
                                                          error);
  picture.rgb = NULL;
  if (!saved) return FALSE;
  at[3] = g_get_monotonic_time();
  if (!only_look) note_times(j, at);
  publish(j, p, show, only_look);
  return TRUE;
}
