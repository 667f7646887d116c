#include "engine/run/history_cut.h"

#include <glib/gi18n.h>
#include <string.h>

#include "engine/run/atomic.h"
#include "engine/run/history_columns.h"
#include "engine/run/history_csv.h"
#include "engine/run/json_text.h"
#include "engine/run/run_dir.h"
#include "engine/run/run_names.h"

/* One of a run's histories. */
typedef struct {
  const char *name;
  char *(*header)(const char *old); /* this version's, without its end, for a file that begins with @old; NULL when
                                       that is none */
  gboolean (*keep)(const char *line, guint64 step); /* is it a record from before the step? */
} History;

static char *steps_header(const char *old) {
  return g_str_has_prefix(old, "step,") ? g_strndup(TM_STEPS_HEADER, strlen(TM_STEPS_HEADER) - 1) : NULL;
}

/* With the old one's classes. */
static char *epochs_header(const char *old) {
  if (!g_str_has_prefix(old, "epoch,")) return NULL;
  g_autoptr(GPtrArray) cells = tm_columns_cells(old), names = g_ptr_array_new();
  for (guint i = 0; i < cells->len; i++)
    if (g_str_has_prefix(cells->pdata[i], TM_IOU_COLUMN))
      g_ptr_array_add(names, (char *)cells->pdata[i] + strlen(TM_IOU_COLUMN));
  g_autoptr(GString) header = g_string_new(NULL);
  tm_csv_epoch_header(header, names->len, (const char *const *)names->pdata);
  return g_strndup(header->str, header->len - 1);
}

static gboolean keep_step(const char *line, guint64 step) {
  TmStepRow row;
  return tm_csv_parse_step(line, &row) && row.step < step;
}

static gboolean keep_epoch(const char *line, guint64 step) {
  TmEpochRow row;
  return tm_csv_parse_epoch(line, &row) && row.step < step;
}

/* A change made at the very step of the checkpoint is in it. */
static gboolean keep_change(const char *line, guint64 step) {
  g_autoptr(JsonNode) node = tm_json_parse(line, strlen(line), 64, NULL);
  if (!node || !JSON_NODE_HOLDS_OBJECT(node)) return FALSE;
  JsonNode *at = json_object_get_member(json_node_get_object(node), "step");
  return step > 0 && (!at || !JSON_NODE_HOLDS_VALUE(at) || json_node_get_int(at) <= (gint64)step);
}

static const History steps_history = {TM_RUN_STEPS, steps_header, keep_step},
                     epochs_history = {TM_RUN_EPOCHS, epochs_header, keep_epoch},
                     changes_history = {TM_RUN_CHANGES, NULL, keep_change};

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

/* A history's lines one by one, under this version's columns, whichever it was written with. */
typedef struct {
  const History *history;
  char *text, *moved;
  gsize size, at;
  gboolean first;
  TmColumns *columns; /* NULL: it has this version's, or none */
} Lines;

static void lines_clear(Lines *l) {
  g_free(l->text);
  g_free(l->moved);
  tm_columns_free(l->columns);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Lines, lines_clear)

static gboolean lines_open(Lines *l, const char *path, const History *h, GError **error) {
  *l = (Lines){.history = h, .first = TRUE};
  return load(path, h->name, &l->text, &l->size, error);
}

/* NULL at the end. @header: it is one. Lines with a NUL in them, or with other cells than the header
 * names, are no records. */
static const char *lines_next(Lines *l, gboolean *header) {
  for (char *line; (line = next_line(l->text, l->size, &l->at));) {
    char *now = l->first && l->history->header ? l->history->header(line) : NULL;
    l->first = FALSE;
    if (line + strlen(line) + 1 != l->text + l->at) continue;
    *header = now != NULL;
    if (now)
      l->columns = tm_columns_new(line, now);
    else if (!l->columns)
      return line;
    else if (!(now = tm_columns_move(l->columns, line)))
      continue;
    g_free(l->moved);
    return l->moved = now;
  }
  return NULL;
}

static gboolean cut_file(const char *path, const History *h, guint64 step, GError **error) {
  g_auto(Lines) l;
  gboolean header;
  if (!lines_open(&l, path, h, error)) return FALSE;
  g_autofree char *full = g_build_filename(path, h->name, NULL);
  g_autoptr(GString) kept = g_string_sized_new(l.size + 1);
  for (const char *line; (line = lines_next(&l, &header));)
    if (header || h->keep(line, step)) g_string_append_printf(kept, "%s\n", line);
  return (!l.columns && kept->len == l.size) || tm_atomic_write_file(full, kept->str, kept->len, error);
}

gboolean tm_history_cut(const char *path, guint64 step, GError **error) {
  return cut_file(path, &steps_history, step, error) && cut_file(path, &epochs_history, step, error) &&
         cut_file(path, &changes_history, step, error);
}

gboolean tm_run_read_history(const char *path, GArray *steps, GArray *epochs, GError **error) {
  g_auto(Lines) s = {0}, e = {0};
  TmStepRow step;
  TmEpochRow epoch;
  gboolean header;
  if ((steps && !lines_open(&s, path, &steps_history, error)) || !lines_open(&e, path, &epochs_history, error))
    return FALSE;
  for (const char *line; steps && (line = lines_next(&s, &header));)
    if (tm_csv_parse_step(line, &step)) g_array_append_val(steps, step);
  for (const char *line; (line = lines_next(&e, &header));)
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
