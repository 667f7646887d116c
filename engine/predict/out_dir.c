#include "engine/predict/out_dir.h"

#include <glib/gi18n.h>
#include <stdlib.h>
#include <string.h>

#include "engine/data/dataset.h"

enum { LEVELS = 4 }; /* SegNet's, and images/ + masks/ with splits, are three deep at most */

/* The path without links; of a folder that is not there yet, its nearest ancestor's with the rest. */
static char *resolve(const char *path) {
  g_autofree char *at = g_canonicalize_filename(path, NULL), *rest = g_strdup("");
  while (TRUE) {
    g_autofree char *name = NULL, *parent = NULL;
    char *real = realpath(at, NULL);
    if (real) {
      char *whole = *rest ? g_build_filename(real, rest, NULL) : g_strdup(real);
      free(real);
      return whole;
    }
    name = g_path_get_basename(at);
    parent = g_path_get_dirname(at);
    if (g_str_equal(parent, at)) return g_canonicalize_filename(path, NULL);
    char *longer = *rest ? g_build_filename(name, rest, NULL) : g_strdup(name);
    g_free(rest);
    rest = longer;
    g_free(at);
    at = g_steal_pointer(&parent);
  }
}

static gboolean lies_in(const char *path, const char *folder) {
  const gsize n = strlen(folder);
  return strncmp(path, folder, n) == 0 && (path[n] == '/' || (n == 1 && path[1] != '\0'));
}

/* A folder of pictures alone is no dataset; one with masks is. */
static gboolean is_dataset(const char *folder) {
  g_autoptr(TmDataset) d =
      g_file_test(folder, G_FILE_TEST_IS_DIR) ? tm_dataset_open(folder, NULL, NULL) : NULL;
  for (guint i = 0; d && i < tm_dataset_n(d); i++)
    if (tm_dataset_entry(d, i)->mask) return TRUE;
  return FALSE;
}

/* Folders that hold everything a user has are not looked through. */
static gboolean is_common(const char *folder) {
  return g_str_equal(folder, "/") || g_str_equal(folder, g_get_home_dir()) ||
         g_str_equal(folder, g_get_tmp_dir());
}

gboolean tm_out_dir_check(const char *folder, const char *out_dir, GError **error) {
  g_autofree char *in = resolve(folder), *out = resolve(out_dir), *shown = g_filename_display_name(out);
  if (g_str_equal(in, out) || lies_in(out, in)) {
    g_set_error(error, TM_ERROR, TM_ERROR_FILE,
                _("Predictions cannot be written to “%s”, because the pictures are read from there. Choose a "
                  "folder elsewhere."),
                shown);
    return FALSE;
  }
  g_autofree char *at = g_strdup(out);
  for (int i = 0; i < LEVELS && !is_common(at); i++) {
    if (is_dataset(at)) {
      g_autofree char *dataset = g_filename_display_name(at);
      g_set_error(error, TM_ERROR, TM_ERROR_FILE,
                  _("Predictions cannot be written to “%s”, because “%s” is a dataset and is left as it is. "
                    "Choose a folder elsewhere."),
                  shown, dataset);
      return FALSE;
    }
    char *parent = g_path_get_dirname(at);
    g_free(at);
    at = parent;
  }
  return TRUE;
}
