#include "engine/run/history_cut.h"

#include <glib/gi18n.h>
#include <string.h>

#include "engine/run/atomic.h"
#include "engine/run/history_csv.h"
#include "engine/run/json_text.h"
#include "engine/run/run_dir.h"
#include "engine/run/run_names.h"

/* Is the line a record from before the step? The header counts as one. */
typedef gboolean (*Keep)(const char *line, gboolean first, guint64 step);

static gboolean keep_step(const char *line, gboolean first, guint64 step) {
  TmStepRow row;
  return (first && g_str_has_prefix(line, "step,")) || (tm_csv_parse_step(line, &row) && row.step < step);
}

static gboolean keep_epoch(const char *line, gboolean first, guint64 step) {
  TmEpochRow row;
  return (first && g_str_has_prefix(line, "epoch,")) || (tm_csv_parse_epoch(line, &row) && row.step < step);
}

/* A change made at the very step of the checkpoint is in it. */
static gboolean keep_change(const char *line, gboolean first, guint64 step) {
  (void)first;
  g_autoptr(JsonNode) node = tm_json_parse(line, strlen(line), 64, NULL);
  if (!node || !JSON_NODE_HOLDS_OBJECT(node)) return FALSE;
  JsonNode *at = json_object_get_member(json_node_get_object(node), "step");
  return step > 0 && (!at || !JSON_NODE_HOLDS_VALUE(at) || json_node_get_int(at) <= (gint64)step);
}

/* The text of a file of the run, "" where there is none yet. */
static gboolean load(const char *path, const char *name, char **text, gsize *size, GError **error) {
  g_autofree char *full = g_build_filename(path, name, NULL), *shown = g_filename_display_name(full);
  g_autoptr(GError) why = NULL;
  if (g_file_get_contents(full, text, size, &why)) return TRUE;
  if (g_error_matches(why, G_FILE_ERROR, G_FILE_ERROR_NOENT)) {
    *text = g_strdup("");
    *size = 0;
    return TRUE;
  }
  g_set_error(error, TM_ERROR, TM_ERROR_FILE, _("“%s” cannot be read: %s."), shown, why->message);
  return FALSE;
}

/* The next whole line of @text from @at on, its end made a NUL; NULL at the end, where half a line is none.
 */
static char *next_line(char *text, gsize size, gsize *at) {
  char *line = text + *at, *end = *at < size ? memchr(line, '\n', size - *at) : NULL;
  if (!end) return NULL;
  *end = '\0';
  *at = (gsize)(end - text) + 1;
  return line;
}

static gboolean cut_file(const char *path, const char *name, Keep keep, guint64 step, GError **error) {
  g_autofree char *text = NULL, *full = g_build_filename(path, name, NULL);
  gsize size, at = 0;
  if (!load(path, name, &text, &size, error)) return FALSE;
  g_autoptr(GString) kept = g_string_sized_new(size + 1);
  gboolean first = TRUE;
  for (char *line; (line = next_line(text, size, &at)); first = FALSE) {
    const gsize length = strlen(line);
    if (line + length + 1 == text + at && keep(line, first, step)) g_string_append_printf(kept, "%s\n", line);
  }
  return kept->len == size || tm_atomic_write_file(full, kept->str, kept->len, error);
}

gboolean tm_history_cut(const char *path, guint64 step, GError **error) {
  return cut_file(path, TM_RUN_STEPS, keep_step, step, error) &&
         cut_file(path, TM_RUN_EPOCHS, keep_epoch, step, error) &&
         cut_file(path, TM_RUN_CHANGES, keep_change, step, error);
}

gboolean tm_run_read_history(const char *path, GArray *steps, GArray *epochs, GError **error) {
  g_autofree char *step_text = NULL, *epoch_text = NULL;
  gsize step_size, epoch_size, at = 0;
  TmStepRow step;
  TmEpochRow epoch;
  if ((steps && !load(path, TM_RUN_STEPS, &step_text, &step_size, error)) ||
      !load(path, TM_RUN_EPOCHS, &epoch_text, &epoch_size, error))
    return FALSE;
  for (char *line; steps && (line = next_line(step_text, step_size, &at));)
    if (tm_csv_parse_step(line, &step)) g_array_append_val(steps, step);
  at = 0;
  for (char *line; (line = next_line(epoch_text, epoch_size, &at));)
    if (tm_csv_parse_epoch(line, &epoch)) g_array_append_val(epochs, epoch);
  return TRUE;
}

char *tm_run_safe_name(const char *name, gsize most) {
  g_autofree char *valid = g_utf8_make_valid(name && *name ? name : "run", -1);
  for (char *p = valid; *p; p++)
    if (*p == '/' || *p == '\\' || (guchar)*p < 0x20 || *p == 0x7f || (p == valid && *p == '.')) *p = '_';
  const char *end = valid + MIN(strlen(valid), most);
  while (end > valid && (*end & 0xc0) == 0x80) end--; /* not through the middle of a character */
  return g_strndup(valid, (gsize)(end - valid));
}
