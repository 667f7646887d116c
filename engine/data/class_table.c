#include "engine/data/class_table.h"

#include <glib/gi18n.h>

#include "engine/core/label.h"

TmClassTable *tm_class_table_new(TmMaskCode code) {
  TmClassTable *t = g_new0(TmClassTable, 1);
  t->code = code;
  return t;
}

TmClassTable *tm_class_table_copy(const TmClassTable *t) {
  TmClassTable *c = tm_class_table_new(t->code);
  for (guint i = 0; i < t->n; i++) {
    const guint8 *k = t->classes[i].colour;
    tm_class_table_add(c, t->classes[i].name, (guint32)k[0] << 16 | (guint32)k[1] << 8 | k[2],
                       t->classes[i].value);
  }
  for (guint i = 0; i < t->n_also; i++) tm_class_table_add_also(c, t->also[i].value, t->also[i].index);
  for (guint i = 0; i < t->n_void; i++) tm_class_table_add_void(c, t->void_values[i]);
  c->source = g_strdup(t->source);
  return c;
}

void tm_class_table_free(TmClassTable *t) {
  if (!t) return;
  for (guint i = 0; i < t->n; i++) g_free(t->classes[i].name);
  g_free(t->classes);
  g_free(t->also);
  g_free(t->void_values);
  g_free(t->source);
  g_free(t);
}

void tm_class_table_add(TmClassTable *t, const char *name, guint32 rgb, gint32 value) {
  g_return_if_fail(t->n < TM_MAX_CLASSES);
  t->classes = g_renew(TmClass, t->classes, t->n + 1);
  t->classes[t->n++] = (TmClass){
      .name = g_strdup(name), .colour = {rgb >> 16 & 0xff, rgb >> 8 & 0xff, rgb & 0xff}, .value = value};
}

void tm_class_table_add_also(TmClassTable *t, gint32 value, guint index) {
  g_return_if_fail(index < t->n);
  if (tm_class_table_index(t, value) >= 0) return;
  t->also = g_renew(TmClassAlso, t->also, t->n_also + 1);
  t->also[t->n_also++] = (TmClassAlso){.value = value, .index = (guint8)index};
}

void tm_class_table_add_void(TmClassTable *t, gint32 value) {
  for (guint i = 0; i < t->n_void; i++)
    if (t->void_values[i] == value) return;
  t->void_values = g_renew(gint32, t->void_values, t->n_void + 1);
  t->void_values[t->n_void++] = value;
}

int tm_class_table_index(const TmClassTable *t, gint32 value) {
  for (guint i = 0; i < t->n_void; i++)
    if (t->void_values[i] == value) return TM_VOID;
  for (guint i = 0; i < t->n; i++)
    if (t->classes[i].value == value) return (int)i;
  for (guint i = 0; i < t->n_also; i++)
    if (t->also[i].value == value) return t->also[i].index;
  return -1;
}

/* Every value that @a knows means the same in @b. */
static gboolean covers(const TmClassTable *a, const TmClassTable *b) {
  for (guint i = 0; i < a->n; i++)
    if (tm_class_table_index(b, a->classes[i].value) != (int)i) return FALSE;
  for (guint i = 0; i < a->n_also; i++)
    if (tm_class_table_index(b, a->also[i].value) != a->also[i].index) return FALSE;
  for (guint i = 0; i < a->n_void; i++)
    if (tm_class_table_index(b, a->void_values[i]) != TM_VOID) return FALSE;
  return TRUE;
}

gboolean tm_class_table_same_labels(const TmClassTable *a, const TmClassTable *b) {
  return a == b || (a->code == b->code && a->n == b->n && covers(a, b) && covers(b, a));
}

TmClassTable *tm_class_table_camvid(void) {
  static const char *const names[] = {"Sky",  "Building", "Pole", "Road",       "Pavement", "Tree",
                                      "Sign", "Fence",    "Car",  "Pedestrian", "Bicyclist"};
  TmClassTable *t = tm_class_table_new(TM_MASK_INDEX);
  for (guint i = 0; i < G_N_ELEMENTS(names); i++)
    tm_class_table_add(t, names[i], tm_class_default_colour(i), (gint32)i);
  tm_class_table_add_void(t, 11);
  tm_class_table_add_void(t, 255);
  t->source = g_strdup(_("CamVid preset: 11 classes, void 11 and 255"));
  return t;
}
