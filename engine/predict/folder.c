/* folder.c: a folder of pictures to a folder of masks, on the caller's thread. One file at a time; a file that fails
 * is told and the next one follows. */
#include <glib/gi18n.h>
#include <string.h>

#include "engine/predict/folder_work.h"
#include "engine/predict/predictor-private.h"

void tm_folder_result_clear(TmFolderResult *r) {
  g_clear_pointer(&r->errors, g_ptr_array_unref);
  *r = (TmFolderResult){0};
}

/* Asked before the first picture is predicted, not when half of them are written. */
static gboolean check_existing(const TmFolderWork *w, GError **error) {
  g_autofree char *first = NULL;
  const guint n = tm_folder_work_existing(w, &first);
  if (n == 0) return TRUE;
  g_set_error(
      error, TM_ERROR, TM_ERROR_FILE,
      ngettext(
          "%u result is there already (“%s”). Choose an empty folder, or allow replacing.",
          "%u results are there already (“%s” is the first). Choose an empty folder, or allow replacing.", n),
      n, first);
  return FALSE;
}

static gboolean do_picture(TmPredictor *p, TmFolderWork *w, guint i, GError **error) {
  g_auto(TmPicture) picture = {0};
  g_autofree char *in = g_build_filename(w->folder, w->names->pdata[i], NULL);
  const TmClassTable *t = p->meta.classes;
  if (!tm_image_read_picture(in, NULL, &picture, error)) return FALSE;
  const gsize pixels = (gsize)picture.w * (gsize)picture.h;
  g_autofree guint8 *labels = g_try_malloc(pixels);
  g_autofree double *shares = g_new(double, MAX(t->n, 1));
  if (!labels) {
    g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY, _("There is no memory for a mask of %d×%d pixels."),
                picture.w, picture.h);
    return FALSE;
  }
  if (!tm_predictor_run(p, picture.rgb, picture.w, picture.h, labels, error)) return FALSE;
  tm_folder_shares(t, labels, pixels, shares);
  return tm_folder_work_save(w, i, t, &picture, labels, shares, error);
}

static void note_failure(const TmFolderWork *w, guint i, const GError *why, TmFolderResult *out) {
  g_autofree char *name = g_filename_display_name(w->names->pdata[i]);
  out->failed++;
  /* Errors of files name them; others, such as memory, do not. */
  g_ptr_array_add(out->errors, strstr(why->message, name) ? g_strdup(why->message)
                                                          : g_strdup_printf("%s: %s", name, why->message));
}

static gboolean do_pictures(TmPredictor *p, TmFolderWork *w, TmFolderResult *out,
                            gboolean (*progress)(guint done, guint total, gpointer user), gpointer user,
                            GError **error) {
  for (guint i = 0; i < w->names->len; i++) {
    g_autoptr(GError) why = NULL;
    if (do_picture(p, w, i, &why)) {
      out->done++;
    } else if (tm_folder_ends_job(why)) {
      g_propagate_error(error, g_steal_pointer(&why));
      return FALSE;
    } else {
      note_failure(w, i, why, out);
    }
    if (progress && !progress(i + 1, w->names->len, user)) {
      g_set_error_literal(error, TM_ERROR, TM_ERROR_CANCELLED, _("The predictions were stopped."));
      return FALSE;
    }
  }
  return TRUE;
}

gboolean tm_predictor_folder(TmPredictor *p, const char *folder, const char *out_dir, gboolean replace,
                             TmFolderResult *out,
                             gboolean (*progress)(guint done, guint total, gpointer user), gpointer user,
                             GError **error) {
  g_auto(TmFolderWork) w = {.folder = g_strdup(folder),
                            .out_dir = g_strdup(out_dir),
                            .masks = TRUE,
                            .overlays = TRUE,
                            .table = TRUE};
  const gint64 begin = g_get_monotonic_time();
  *out = (TmFolderResult){.errors = g_ptr_array_new_with_free_func(g_free)};
  gboolean ok = tm_folder_work_list(&w, FALSE, error) && (replace || check_existing(&w, error)) &&
                tm_folder_work_begin(&w, TRUE, error);
  if (ok) {
    ok = do_pictures(p, &w, out, progress, user, error);
    /* The table tells of what was done, also when the job was stopped. */
    ok = tm_folder_work_write_table(&w, p->meta.classes, ok ? error : NULL) && ok;
  }
  out->seconds = (double)(g_get_monotonic_time() - begin) / G_USEC_PER_SEC;
  return ok;
}
