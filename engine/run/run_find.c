/* run_find.c: making run folders and finding what is in them, without opening them to write. */
#include "engine/run/run_dir.h"

#include <errno.h>
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <string.h>

#include "engine/run/atomic.h"
#include "engine/run/history_cut.h"
#include "engine/run/run_names.h"

enum { MOST_RUNS = 100000 };

/* Nothing is written into a dataset: its runs go where the system keeps a user's data. The hash keeps two
 * folders of one name apart. */
char *tm_run_default_root(const char *dataset_path, const char *title) {
  g_autofree char *real = strcmp(dataset_path, "demo") == 0 ? g_strdup(dataset_path) : g_canonicalize_filename(dataset_path, NULL),
                  *safe = tm_run_safe_name(title, 100);
  g_autofree char *hash = g_compute_checksum_for_string(G_CHECKSUM_SHA256, real, -1);
  g_autofree char *project = g_strdup_printf("%s-%.8s", safe, hash);
  return g_build_filename(g_get_user_data_dir(), "tarmac", "projects", project, "runs", NULL);
}

static gboolean check_name(const char *name, GError **error) {
  if (*name && !strchr(name, '/') && !g_str_equal(name, ".") && !g_str_equal(name, "..") &&
      strlen(name) <= 240)
    return TRUE;
  g_set_error(error, TM_ERROR, TM_ERROR_SETTING,
              _("“%s” cannot be a run's name: give one word without “/”, at most 240 bytes long."), name);
  return FALSE;
}

static char *default_name(void) {
  g_autoptr(GDateTime) now = g_date_time_new_now_local();
  return g_date_time_format(now, "run-%Y-%m-%d-%H%M%S");
}

char *tm_run_create(const char *root, const char *name, GError **error) {
  g_autofree char *base = name ? g_strdup(name) : default_name(), *path = NULL;
  if (!check_name(base, error)) return NULL;
  if (g_mkdir_with_parents(root, 0777) != 0) {
    tm_write_error(error, errno, root, 0);
    return NULL;
  }
  for (guint i = 1; i < MOST_RUNS; i++) {
    g_autofree char *numbered = i == 1 ? g_strdup(base) : g_strdup_printf("%s-%u", base, i);
    g_free(path);
    path = g_build_filename(root, numbered, NULL);
    if (g_mkdir(path, 0777) == 0) break; /* mkdir decides: two programs never get one folder */
    if (errno != EEXIST || i + 1 == MOST_RUNS) {
      tm_write_error(error, errno, path, 0);
      return NULL;
    }
  }
  const char *const parts[] = {TM_RUN_CHECKPOINTS, TM_RUN_PROBES};
  for (guint i = 0; i < G_N_ELEMENTS(parts); i++) {
    g_autofree char *part = g_build_filename(path, parts[i], NULL);
    if (g_mkdir(part, 0777) != 0) {
      tm_write_error(error, errno, part, 0);
      return NULL;
    }
  }
  return g_steal_pointer(&path);
}

static char *checkpoint_path(const char *run, const char *name) {
  return g_build_filename(run, TM_RUN_CHECKPOINTS, name, NULL);
}

TmCheckpoint *tm_run_read_last(const char *path, char **note, GError **error) {
  g_autofree char *last = checkpoint_path(path, TM_RUN_LAST),
                  *previous = checkpoint_path(path, TM_RUN_PREVIOUS);
  g_autoptr(GError) why = NULL;
  if (note) *note = NULL;
  TmCheckpoint *c = tm_checkpoint_read(last, &why);
  if (c) return c;
  const gboolean older_helps =
      g_error_matches(why, TM_ERROR, TM_ERROR_CORRUPT) || g_error_matches(why, TM_ERROR, TM_ERROR_FILE);
  if (older_helps && (c = tm_checkpoint_read(previous, NULL))) {
    if (note)
      *note = g_strdup_printf(
          _("%s The checkpoint before it is whole and is used instead; what came after it is repeated."),
          why->message);
    return c;
  }
  g_autofree char *shown = g_filename_display_name(path);
  if (older_helps && !g_file_test(last, G_FILE_TEST_EXISTS) && !g_file_test(previous, G_FILE_TEST_EXISTS))
    g_set_error(error, TM_ERROR, TM_ERROR_FILE,
                _("The run “%s” has no checkpoint yet, so it cannot be resumed. Start a new run."), shown);
  else
    g_propagate_error(error, g_steal_pointer(&why));
  return NULL;
}

char *tm_run_best_path(const char *path, GError **error) {
  const char *const names[] = {TM_RUN_BEST, TM_RUN_LAST, TM_RUN_PREVIOUS};
  g_autofree char *shown = g_filename_display_name(path);
  if (!g_file_test(path, G_FILE_TEST_IS_DIR)) {
    if (g_file_test(path, G_FILE_TEST_EXISTS)) return g_strdup(path);
    g_set_error(error, TM_ERROR, TM_ERROR_FILE,
                _("There is no “%s”. Give the folder of a run or a checkpoint file."), shown);
    return NULL;
  }
  for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
    g_autofree char *full = checkpoint_path(path, names[i]);
    if (g_file_test(full, G_FILE_TEST_EXISTS)) return g_steal_pointer(&full);
  }
  g_set_error(error, TM_ERROR, TM_ERROR_FILE,
              _("“%s” holds no checkpoint. A run keeps them in “checkpoints”: choose its folder, or a "
                "“.safetensors” file."),
              shown);
  return NULL;
}
