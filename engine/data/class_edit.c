#include "engine/data/class_edit.h"

#include <glib/gi18n.h>

static guint32 rgb_of(const TmClass *c) {
  return (guint32)c->colour[0] << 16 | (guint32)c->colour[1] << 8 | c->colour[2];
}

static gboolean check(const TmClassTable *t, guint a, guint b, GError **error) {
  if (a < t->n && b < t->n && a != b && t->n > 2) return TRUE;
  g_set_error_literal(error, TM_ERROR, TM_ERROR_SETTING,
                      t->n <= 2 ? _("A net needs at least two classes to tell apart.")
                                : _("A class can only be merged into another class."));
  return FALSE;
}

/* @t without class @gone, whose values go to class @into of the new table, or become void (-1). */
static TmClassTable *without(const TmClassTable *t, guint gone, int into) {
  TmClassTable *r = tm_class_table_new(t->code);
  for (guint i = 0; i < t->n; i++)
    if (i != gone) tm_class_table_add(r, t->classes[i].name, rgb_of(&t->classes[i]), t->classes[i].value);
  for (guint i = 0; i < t->n_also; i++)
    if (t->also[i].index != gone)
      tm_class_table_add_also(r, t->also[i].value, t->also[i].index - (t->also[i].index > gone));
  for (guint i = 0; i < t->n_void; i++) tm_class_table_add_void(r, t->void_values[i]);
  const gint32 value = t->classes[gone].value;
  for (guint i = 0; i <= t->n_also; i++) {
    if (i < t->n_also && t->also[i].index != gone) continue;
    const gint32 v = i < t->n_also ? t->also[i].value : value;
    if (into >= 0)
      tm_class_table_add_also(r, v, (guint)into);
    else
      tm_class_table_add_void(r, v);
  }
  r->source = g_strdup(t->source);
  return r;
}

TmClassTable *tm_class_table_merge(const TmClassTable *t, guint from, guint into, GError **error) {
  return check(t, from, into, error) ? without(t, from, (int)into - (into > from)) : NULL;
}

TmClassTable *tm_class_table_drop(const TmClassTable *t, guint index, GError **error) {
  return check(t, index, index ? 0 : 1, error) ? without(t, index, -1) : NULL;
}

TmClassTable *tm_class_table_give(const TmClassTable *t, gint32 value, const char *name, GError **error) {
  if (tm_class_table_index(t, value) >= 0 || t->n == TM_MAX_CLASSES) {
    g_set_error(error, TM_ERROR, TM_ERROR_SETTING,
                t->n == TM_MAX_CLASSES
                    ? _("There is no room for value %d: a table holds at most 254 classes.")
                    : _("Value %d has a meaning already."),
                value);
    return NULL;
  }
  TmClassTable *r = tm_class_table_copy(t);
  tm_class_table_add(r, name, tm_class_default_colour(t->n), value);
  return r;
}

TmClassTable *tm_class_table_safe(const TmClassTable *t) {
  TmClassTable *r = tm_class_table_copy(t);
  for (guint i = 0; i < r->n; i++) {
    const guint32 rgb = tm_class_default_colour(i);
    for (int k = 0; k < 3; k++) r->classes[i].colour[k] = (guint8)(rgb >> (16 - 8 * k) & 0xff);
  }
  return r;
}
