#include "engine/predict/folder_work.h"

#include <errno.h>
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <string.h>

#include "engine/predict/out_dir.h"
#include "engine/predict/out_names.h"
#include "engine/predict/write_mask.h"
#include "engine/run/atomic.h"
#include "engine/run/history_csv.h"

enum { SHARE_DIGITS = 6, MOST_TABLES = 10000 };

void tm_folder_work_clear(TmFolderWork *w) {
  g_free(w->folder);
  g_free(w->out_dir);
  g_clear_pointer(&w->names, g_ptr_array_unref);
  g_strfreev(w->stems);
  g_clear_pointer(&w->rows, g_hash_table_unref);
  g_free(w->table_path);
  *w = (TmFolderWork){0};
}

static int by_name(gconstpointer a, gconstpointer b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static void name_outputs(TmFolderWork *w) {
  g_strfreev(w->stems);
  w->stems = tm_out_stems((const char *const *)w->names->pdata, w->names->len);
}

static gboolean no_pictures(const TmFolderWork *w, guint other, GError **error) {
  g_autofree char *shown = g_filename_display_name(w->folder);
  if (other)
    g_set_error(error, TM_ERROR, TM_ERROR_DATA,
                _("“%s” holds pictures of other kinds only. Tarmac reads PNG and JPEG: convert them first."),
                shown);
  else
    g_set_error(error, TM_ERROR, TM_ERROR_DATA,
                _("“%s” holds no pictures (PNG or JPEG). Subfolders are not looked into."), shown);
  return FALSE;
}

gboolean tm_folder_work_list(TmFolderWork *w, gboolean may_be_empty, GError **error) {
  g_autoptr(GError) why = NULL;
  g_autoptr(GDir) d = g_dir_open(w->folder, 0, &why);
  guint other = 0;
  if (!d) {
    g_autofree char *shown = g_filename_display_name(w->folder);
    g_set_error(error, TM_ERROR, TM_ERROR_FILE, _("The folder “%s” cannot be read: %s."), shown,
                why->message);
    return FALSE;
  }
  w->names = g_ptr_array_new_with_free_func(g_free);
  w->rows = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  for (const char *name; (name = g_dir_read_name(d));) {
    g_autofree char *full = g_build_filename(w->folder, name, NULL);
    if (name[0] == '.' || g_file_test(full, G_FILE_TEST_IS_DIR)) continue;
    if (tm_image_name_is_read(name))
      g_ptr_array_add(w->names, g_strdup(name));
    else
      other += tm_image_name_is_other(name) ? 1 : 0;
  }
  g_ptr_array_sort(w->names, by_name);
  if (w->names->len == 0 && !may_be_empty) return no_pictures(w, other, error);
  name_outputs(w);
  return !w->out_dir || tm_out_dir_check(w->folder, w->out_dir, error);
}

guint tm_folder_work_add(TmFolderWork *w, const char *name) {
  for (guint i = 0; i < w->names->len; i++)
    if (g_str_equal(w->names->pdata[i], name)) return i;
  g_ptr_array_add(w->names, g_strdup(name));
  name_outputs(w); /* what comes last changes no name given before */
  return w->names->len - 1;
}

/* ---- places ---- */

static char *out_path(const TmFolderWork *w, guint i, const char *suffix) {
  g_autofree char *name = g_strconcat(w->stems[i], suffix, NULL);
  return g_build_filename(w->out_dir, name, NULL);
}

/* NULL when it is not asked for. */
static char *mask_path(const TmFolderWork *w, guint i) {
  return w->masks ? out_path(w, i, ".png") : NULL;
}
static char *overlay_path(const TmFolderWork *w, guint i) {
  return w->overlays ? out_path(w, i, TM_OVERLAY_SUFFIX ".png") : NULL;
}

static gboolean is_there(const char *path) {
  return path && g_file_test(path, G_FILE_TEST_EXISTS);
}

static char *table_name(const TmFolderWork *w, guint number) {
  g_autofree char *name =
      number < 2 ? g_strdup("classes.csv") : g_strdup_printf("classes-%u.csv", number);
  return g_build_filename(w->out_dir, name, NULL);
}

guint tm_folder_work_existing(const TmFolderWork *w, char **first) {
  guint n = 0;
  if (first) *first = NULL;
  for (guint i = 0; w->out_dir && i <= w->names->len; i++) {
    const gboolean table = i == w->names->len;
    g_autofree char *one = !table ? mask_path(w, i) : w->table ? table_name(w, 1) : NULL,
                    *two = table ? NULL : overlay_path(w, i);
    const char *there = is_there(one) ? one : is_there(two) ? two : NULL;
    if (there && n++ == 0 && first) *first = g_filename_display_name(there);
  }
  return n;
}

gboolean tm_folder_work_has(const TmFolderWork *w, guint i) {
  if (!w->out_dir || (!w->masks && !w->overlays)) return FALSE;
  g_autofree char *mask = mask_path(w, i), *overlay = overlay_path(w, i);
  return (!mask || is_there(mask)) && (!overlay || is_there(overlay));
}

gboolean tm_folder_work_begin(TmFolderWork *w, gboolean replace, GError **error) {
  if (!w->out_dir) return TRUE;
  if (g_mkdir_with_parents(w->out_dir, 0777) != 0) {
    tm_write_error(error, errno, w->out_dir, 0);
    return FALSE;
  }
  g_free(w->table_path);
  w->table_path = table_name(w, 1);
  for (guint k = 2; !replace && is_there(w->table_path) && k < MOST_TABLES; k++) {
    g_free(w->table_path);
    w->table_path = table_name(w, k);
  }
  return TRUE;
}

/* ---- one picture ---- */

void tm_folder_shares(const TmClassTable *t, const guint8 *labels, gsize pixels, double *shares) {
  guint64 count[256] = {0};
  for (gsize k = 0; k < pixels; k++) count[labels[k]]++;
  for (guint c = 0; c < t->n; c++) shares[c] = (double)count[c] / (double)MAX(pixels, 1);
}

static void note_row(TmFolderWork *w, guint i, const TmClassTable *t, const double *shares) {
  g_autofree char *name = g_filename_display_name(w->names->pdata[i]),
                  *stem = g_filename_display_name(w->stems[i]);
  g_autofree char *mask = w->masks ? g_strconcat(stem, ".png", NULL) : g_strdup("");
  GString *row = g_string_new(NULL);
  tm_csv_text(row, name);
  g_string_append_c(row, ',');
  tm_csv_text(row, mask);
  for (guint c = 0; c < t->n; c++) {
    g_string_append_c(row, ',');
    tm_csv_number(row, shares[c], SHARE_DIGITS);
  }
  g_string_append_c(row, '\n');
  g_hash_table_replace(w->rows, g_strdup(w->names->pdata[i]), g_string_free(row, FALSE));
}

gboolean tm_folder_work_save(TmFolderWork *w, guint i, const TmClassTable *t, const TmPicture *p,
                             const guint8 *labels, const double *shares, GError **error) {
  if (!w->out_dir) return TRUE;
  g_autofree char *mask = mask_path(w, i), *overlay = overlay_path(w, i);
  if (mask && !tm_write_mask(mask, t, labels, p->w, p->h, error)) return FALSE;
  if (overlay && !tm_write_overlay(overlay, t, p->rgb, labels, p->w, p->h, error)) return FALSE;
  note_row(w, i, t, shares);
  return TRUE;
}

gboolean tm_folder_work_write_table(TmFolderWork *w, const TmClassTable *t, GError **error) {
  if (!w->out_dir || !w->table || !w->table_path) return TRUE;
  g_autoptr(GString) text = g_string_new("picture,mask");
  for (guint c = 0; c < t->n; c++) {
    g_string_append_c(text, ',');
    tm_csv_text(text, t->classes[c].name);
  }
  g_string_append_c(text, '\n');
  for (guint i = 0; i < w->names->len; i++) {
    const char *row = g_hash_table_lookup(w->rows, w->names->pdata[i]);
    if (row) g_string_append(text, row);
  }
  return tm_atomic_write_file(w->table_path, text->str, text->len, error);
}

gboolean tm_folder_ends_job(const GError *e) {
  return g_error_matches(e, TM_ERROR, TM_ERROR_NO_SPACE) || g_error_matches(e, TM_ERROR, TM_ERROR_DEVICE);
}
