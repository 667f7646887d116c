#include "engine/run/history_columns.h"

#include <string.h>

#include "engine/run/history_csv.h"

struct _TmColumns {
  guint n, n_from;
  int *from; /* n: where each column's cell stood; -1: nowhere */
};

/* One cell, from @p to the comma or the end, which is returned. */
static const char *read_cell(const char *p, GString *cell) {
  const gboolean quoted = *p == '"';
  if (quoted) p++;
  for (; *p && (quoted || *p != ','); p++) {
    if (quoted && *p == '"' && *++p != '"') break;
    g_string_append_c(cell, *p);
  }
  return p + strcspn(p, ",");
}

GPtrArray *tm_columns_cells(const char *line) {
  GPtrArray *cells = g_ptr_array_new_with_free_func(g_free);
  g_autofree char *whole = g_strndup(line, strcspn(line, "\r\n"));
  for (const char *p = whole;; p++) {
    GString *cell = g_string_new(NULL);
    p = read_cell(p, cell);
    g_ptr_array_add(cells, g_string_free(cell, FALSE));
    if (!*p) return cells;
  }
}

TmColumns *tm_columns_new(const char *from, const char *to) {
  g_autoptr(GPtrArray) old = tm_columns_cells(from), new = tm_columns_cells(to);
  TmColumns *c = g_new0(TmColumns, 1);
  gboolean same = old->len == new->len;
  c->n = new->len;
  c->n_from = old->len;
  c->from = g_new(int, c->n);
  for (guint i = 0; i < c->n; i++) {
    guint at = i; /* where it was, if it may: two classes may have one name */
    const gboolean there = (i < old->len && g_str_equal(old->pdata[i], new->pdata[i])) ||
                           g_ptr_array_find_with_equal_func(old, new->pdata[i], g_str_equal, &at);
    c->from[i] = there ? (int)at : -1;
    same &= there && at == i;
  }
  if (!same) return c;
  tm_columns_free(c);
  return NULL;
}

void tm_columns_free(TmColumns *c) {
  if (!c) return;
  g_free(c->from);
  g_free(c);
}

char *tm_columns_move(const TmColumns *c, const char *row) {
  g_autoptr(GPtrArray) cells = tm_columns_cells(row);
  if (cells->len != c->n_from) return NULL;
  GString *out = g_string_new(NULL);
  for (guint i = 0; i < c->n; i++) {
    if (i) g_string_append_c(out, ',');
    if (c->from[i] >= 0) tm_csv_text(out, cells->pdata[c->from[i]]);
  }
  return g_string_free(out, FALSE);
}
