/* class_file.c: tables of colours and names that come with datasets. Three ways of writing a line are known:
 *   "R G B<blanks>Name"   CamVid's label_colors.txt
 *   "Name,R,G,B"          class_dict.csv
 *   "Name:R,G,B:..."      labelmap.txt of annotation tools */
#include <glib/gi18n.h>
#include <stdio.h>
#include <string.h>

#include "engine/core/error.h"
#include "engine/data/class_guess.h"
#include "engine/data/text_lines.h"

typedef struct {
  guint32 rgb;
  guint line;
  gboolean is_void;
  char *name;
} Row;

static void row_free(gpointer p) {
  g_free(((Row *)p)->name);
  g_free(p);
}

static gboolean channel_ok(int r, int g, int b) {
  return MIN(r, MIN(g, b)) >= 0 && MAX(r, MAX(g, b)) <= 255;
}

/* "R G B Name": @name points into @line. */
static gboolean parse_blanks(const char *line, int c[3], char **name) {
  int end = 0;
  if (sscanf(line, "%d %d %d %n", &c[0], &c[1], &c[2], &end) < 3 || end == 0) return FALSE;
  *name = g_strstrip(g_strdup(line + end));
  return **name != 0;
}

/* "Name<separator>R,G,B" and anything after. */
static gboolean parse_named(const char *line, char separator, int c[3], char **name) {
  const char *at = strchr(line, separator);
  if (!at || at == line || sscanf(at + 1, " %d , %d , %d", &c[0], &c[1], &c[2]) != 3) return FALSE;
  *name = g_strstrip(g_strndup(line, (gsize)(at - line)));
  return **name != 0;
}

static gboolean means_void(const char *name) {
  static const char *const words[] = {"void", "unlabelled", "unlabeled", "ignore", "ignored"};
  for (guint i = 0; i < G_N_ELEMENTS(words); i++)
    if (g_ascii_strcasecmp(name, words[i]) == 0) return TRUE;
  return FALSE;
}

static Row *parse_line(const char *line, guint number, const char *file, GError **error) {
  int c[3] = {0};
  g_autofree char *name = NULL;
  gboolean ok = parse_blanks(line, c, &name);
  if (!ok) {
    g_clear_pointer(&name, g_free);
    ok = parse_named(line, ':', c, &name);
  }
  if (!ok) {
    g_clear_pointer(&name, g_free);
    ok = parse_named(line, ',', c, &name);
  }
  if (!ok || !channel_ok(c[0], c[1], c[2])) {
    g_autofree char *shown = g_strescape(line, NULL);
    g_set_error(error, TM_ERROR, TM_ERROR_DATA,
                _("“%s”, line %u: “%s” is not “R G B name” with three numbers from 0 to 255."), file, number,
                shown);
    return NULL;
  }
  Row *row = g_new(Row, 1);
  *row = (Row){.rgb = (guint32)c[0] << 16 | (guint32)c[1] << 8 | (guint32)c[2],
               .line = number,
               .name = g_utf8_make_valid(name, -1)};
  row->is_void = means_void(row->name);
  return row;
}

/* One colour for two classes would make masks ambiguous; both lines are named, since either may be the wrong
 * one. */
static gboolean check_colour(GPtrArray *rows, const Row *row, const char *file, GError **error) {
  for (guint i = 0; i < rows->len; i++) {
    const Row *r = rows->pdata[i];
    if (r->rgb != row->rgb) continue;
    g_set_error(error, TM_ERROR, TM_ERROR_DATA,
                _("“%s”: line %u (%s) and line %u (%s) give the same colour %u %u %u. Each class needs a "
                  "colour of its own."),
                file, r->line, r->name, row->line, row->name, row->rgb >> 16, row->rgb >> 8 & 0xff,
                row->rgb & 0xff);
    return FALSE;
  }
  return TRUE;
}

static gboolean is_heading(const char *line, guint kept) {
  return *line == 0 || *line == '#' || (kept == 0 && g_ascii_strncasecmp(line, "name,", 5) == 0);
}

static GPtrArray *read_rows(const char *path, const char *file, GError **error) {
  g_autoptr(GPtrArray) lines = tm_text_lines_read(path, error);
  if (!lines) return NULL;
  g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(row_free);
  for (guint i = 0; i < lines->len; i++) {
    char *line = lines->pdata[i];
    if (is_heading(g_strstrip(line), rows->len)) continue;
    Row *row = parse_line(line, i + 1, file, error);
    if (!row) return NULL;
    const gboolean ok = check_colour(rows, row, file, error);
    g_ptr_array_add(rows, row);
    if (!ok) return NULL;
  }
  return g_steal_pointer(&rows);
}

static TmClassTable *read_table(const char *path, TmMaskCode code, GError **error) {
  g_autofree char *file = g_filename_display_name(path), *base = g_filename_display_basename(path);
  g_autoptr(GPtrArray) rows = read_rows(path, file, error);
  if (!rows) return NULL;
  g_autoptr(TmClassTable) t = tm_class_table_new(code);
  for (guint i = 0; i < rows->len; i++) {
    const Row *r = rows->pdata[i];
    const gint32 value = code == TM_MASK_COLOUR ? (gint32)r->rgb : (gint32)i;
    if (!r->is_void && t->n == TM_MAX_CLASSES) {
      g_set_error(error, TM_ERROR, TM_ERROR_DATA,
                  _("“%s” has more than %d classes, which is the most that masks of one byte can hold."),
                  file, TM_MAX_CLASSES);
      return NULL;
    }
    if (r->is_void)
      tm_class_table_add_void(t, value);
    else
      tm_class_table_add(t, r->name, r->rgb, value);
  }
  if (t->n == 0) {
    g_set_error(error, TM_ERROR, TM_ERROR_DATA, _("“%s” names no class. Lines look like “128 64 128 Road”."),
                file);
    return NULL;
  }
  t->source = g_strdup_printf(_("%s: %u classes, %u void"), base, t->n, t->n_void);
  return g_steal_pointer(&t);
}

TmClassTable *tm_class_table_read_colours(const char *path, GError **error) {
  return read_table(path, TM_MASK_COLOUR, error);
}

TmClassTable *tm_class_table_read_names(const char *path, GError **error) {
  return read_table(path, TM_MASK_INDEX, error);
}
