/* folder.c: a folder of pictures to a folder of masks. One file at a time; a file that fails is told and the
 * next one follows. */
#include <errno.h>
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <string.h>

#include "engine/data/image.h"
#include "engine/predict/out_dir.h"
#include "engine/predict/out_names.h"
#include "engine/predict/predictor-private.h"
#include "engine/predict/write_mask.h"
#include "engine/run/atomic.h"
#include "engine/run/history_csv.h"

#define SHARES "classes.csv"

enum { SHARE_DIGITS = 6 };

typedef struct {
  TmPredictor *p;
  const char *folder, *out_dir;
  GPtrArray *names; /* char*, sorted */
  char **stems;
  GString *shares;
  TmFolderResult *result;
} Job;

void tm_folder_result_clear(TmFolderResult *r) {
  g_clear_pointer(&r->errors, g_ptr_array_unref);
  *r = (TmFolderResult){0};
}

static int by_name(gconstpointer a, gconstpointer b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static gboolean list_pictures(Job *j, GError **error) {
  g_autoptr(GError) why = NULL;
  g_autoptr(GDir) d = g_dir_open(j->folder, 0, &why);
  g_autofree char *shown = g_filename_display_name(j->folder);
  guint other = 0;
  if (!d) {
    g_set_error(error, TM_ERROR, TM_ERROR_FILE, _("The folder “%s” cannot be read: %s."), shown,
                why->message);
    return FALSE;
  }
  for (const char *name; (name = g_dir_read_name(d));) {
    g_autofree char *full = g_build_filename(j->folder, name, NULL);
    if (name[0] == '.' || g_file_test(full, G_FILE_TEST_IS_DIR)) continue;
    if (tm_image_name_is_read(name))
      g_ptr_array_add(j->names, g_strdup(name));
    else
      other += tm_image_name_is_other(name) ? 1 : 0;
  }
  g_ptr_array_sort(j->names, by_name);
  if (j->names->len > 0) return TRUE;
  if (other)
    g_set_error(error, TM_ERROR, TM_ERROR_DATA,
                _("“%s” holds pictures of other kinds only. Tarmac reads PNG and JPEG: convert them first."),
                shown);
  else
    g_set_error(error, TM_ERROR, TM_ERROR_DATA,
                _("“%s” holds no pictures (PNG or JPEG). Subfolders are not looked into."), shown);
  return FALSE;
}

static char *out_path(const Job *j, guint i, const char *suffix) {
  g_autofree char *name = g_strconcat(j->stems[i], suffix, NULL);
  return g_build_filename(j->out_dir, name, NULL);
}

static char *mask_path(const Job *j, guint i) {
  return out_path(j, i, ".png");
}
static char *overlay_path(const Job *j, guint i) {
  return out_path(j, i, TM_OVERLAY_SUFFIX ".png");
}

/* Asked before the first picture is predicted, not when half of them are written. */
static gboolean check_existing(const Job *j, GError **error) {
  guint n = 0;
  g_autofree char *first = NULL;
  for (guint i = 0; i <= j->names->len; i++) {
    const gboolean table = i == j->names->len;
    g_autofree char *mask = table ? g_build_filename(j->out_dir, SHARES, NULL) : mask_path(j, i);
    g_autofree char *overlay = table ? NULL : overlay_path(j, i);
    const gboolean there = g_file_test(mask, G_FILE_TEST_EXISTS);
    if (!there && (table || !g_file_test(overlay, G_FILE_TEST_EXISTS))) continue;
    if (n++ == 0) first = g_filename_display_name(there ? mask : overlay);
  }
  if (n == 0) return TRUE;
  g_set_error(
      error, TM_ERROR, TM_ERROR_FILE,
      ngettext(
          "%u result is there already (“%s”). Choose an empty folder, or allow replacing.",
          "%u results are there already (“%s” is the first). Choose an empty folder, or allow replacing.", n),
      n, first);
  return FALSE;
}

static void begin_shares(Job *j) {
  const TmClassTable *t = j->p->meta.classes;
  j->shares = g_string_new("picture,mask");
  for (guint i = 0; i < t->n; i++) {
    g_string_append_c(j->shares, ',');
    tm_csv_text(j->shares, t->classes[i].name);
  }
  g_string_append_c(j->shares, '\n');
}

static void add_shares(Job *j, guint i, const guint8 *labels, gsize pixels) {
  guint64 count[256] = {0};
  g_autofree char *name = g_filename_display_name(j->names->pdata[i]),
                  *stem = g_filename_display_name(j->stems[i]);
  g_autofree char *mask = g_strconcat(stem, ".png", NULL);
  for (gsize k = 0; k < pixels; k++) count[labels[k]]++;
  tm_csv_text(j->shares, name);
  g_string_append_c(j->shares, ',');
  tm_csv_text(j->shares, mask);
  for (guint c = 0; c < j->p->meta.classes->n; c++) {
    g_string_append_c(j->shares, ',');
    tm_csv_number(j->shares, (double)count[c] / (double)pixels, SHARE_DIGITS);
  }
  g_string_append_c(j->shares, '\n');
}

static gboolean do_picture(Job *j, guint i, GError **error) {
  g_auto(TmPicture) picture = {0};
  g_autofree char *in = g_build_filename(j->folder, j->names->pdata[i], NULL), *mask = mask_path(j, i),
                  *overlay = overlay_path(j, i);
  if (!tm_image_read_picture(in, NULL, &picture, error)) return FALSE;
  const gsize pixels = (gsize)picture.w * (gsize)picture.h;
  g_autofree guint8 *labels = g_try_malloc(pixels);
  if (!labels) {
    g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY, _("There is no memory for a mask of %d×%d pixels."),
                picture.w, picture.h);
    return FALSE;
  }
  const TmClassTable *t = j->p->meta.classes;
  if (!tm_predictor_run(j->p, picture.rgb, picture.w, picture.h, labels, error) ||
      !tm_write_mask(mask, t, labels, picture.w, picture.h, error) ||
      !tm_write_overlay(overlay, t, picture.rgb, labels, picture.w, picture.h, error))
    return FALSE;
  add_shares(j, i, labels, pixels);
  return TRUE;
}

/* What would fail with the next picture too. */
static gboolean ends_job(const GError *e) {
  return g_error_matches(e, TM_ERROR, TM_ERROR_NO_SPACE) || g_error_matches(e, TM_ERROR, TM_ERROR_DEVICE);
}

static void note_failure(Job *j, guint i, const GError *why) {
  g_autofree char *name = g_filename_display_name(j->names->pdata[i]);
  j->result->failed++;
  /* Errors of files name them; others, such as memory, do not. */
  g_ptr_array_add(j->result->errors, strstr(why->message, name)
                                         ? g_strdup(why->message)
                                         : g_strdup_printf("%s: %s", name, why->message));
}

static gboolean do_pictures(Job *j, gboolean (*progress)(guint done, guint total, gpointer user),
                            gpointer user, GError **error) {
  for (guint i = 0; i < j->names->len; i++) {
    g_autoptr(GError) why = NULL;
    if (do_picture(j, i, &why)) {
      j->result->done++;
    } else if (ends_job(why)) {
      g_propagate_error(error, g_steal_pointer(&why));
      return FALSE;
    } else {
      note_failure(j, i, why);
    }
    if (progress && !progress(i + 1, j->names->len, user)) {
      g_set_error_literal(error, TM_ERROR, TM_ERROR_CANCELLED, _("The predictions were stopped."));
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean run_job(Job *j, gboolean replace,
                        gboolean (*progress)(guint done, guint total, gpointer user), gpointer user,
                        GError **error) {
  if (!list_pictures(j, error) || !tm_out_dir_check(j->folder, j->out_dir, error)) return FALSE;
  j->stems = tm_out_stems((const char *const *)j->names->pdata, j->names->len);
  if (!replace && !check_existing(j, error)) return FALSE;
  if (g_mkdir_with_parents(j->out_dir, 0777) != 0) {
    tm_write_error(error, errno, j->out_dir, 0);
    return FALSE;
  }
  begin_shares(j);
  const gboolean whole = do_pictures(j, progress, user, error);
  g_autofree char *path = g_build_filename(j->out_dir, SHARES, NULL);
  /* The table tells of what was done, also when the job was stopped. */
  return tm_atomic_write_file(path, j->shares->str, j->shares->len, whole ? error : NULL) && whole;
}

gboolean tm_predictor_folder(TmPredictor *p, const char *folder, const char *out_dir, gboolean replace,
                             TmFolderResult *out,
                             gboolean (*progress)(guint done, guint total, gpointer user), gpointer user,
                             GError **error) {
  Job j = {.p = p,
           .folder = folder,
           .out_dir = out_dir,
           .names = g_ptr_array_new_with_free_func(g_free),
           .result = out};
  const gint64 begin = g_get_monotonic_time();
  *out = (TmFolderResult){.errors = g_ptr_array_new_with_free_func(g_free)};
  const gboolean ok = run_job(&j, replace, progress, user, error);
  out->seconds = (double)(g_get_monotonic_time() - begin) / G_USEC_PER_SEC;
  g_strfreev(j.stems);
  g_ptr_array_unref(j.names);
  if (j.shares) g_string_free(j.shares, TRUE);
  return ok;
}
