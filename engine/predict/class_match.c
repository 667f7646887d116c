#include "engine/predict/class_match.h"

/* "Road Marking", "road_marking" and "RoadMarking" are one name. */
static char *plain(const char *name) {
  g_autofree char *folded = g_utf8_casefold(name, -1);
  GString *s = g_string_new(NULL);
  for (const char *p = folded; *p; p = g_utf8_next_char(p)) {
    const gunichar c = g_utf8_get_char(p);
    if (g_unichar_isalnum(c)) g_string_append_unichar(s, c);
  }
  return g_string_free(s, FALSE);
}

guint tm_class_match_by_name(const TmClassTable *net, const TmClassTable *data, guint8 *match) {
  guint missing = 0;
  for (guint i = 0; i < net->n; i++) {
    g_autofree char *name = plain(net->classes[i].name);
    match[i] = TM_NO_MATCH;
    for (guint k = 0; k < data->n && match[i] == TM_NO_MATCH; k++) {
      g_autofree char *other = plain(data->classes[k].name);
      if (g_str_equal(name, other)) match[i] = (guint8)k;
    }
    missing += match[i] == TM_NO_MATCH;
  }
  return missing;
}

char *tm_class_match_unknown(const TmClassTable *data, const guint8 *match, guint n) {
  g_autoptr(GString) names = g_string_new(NULL);
  for (guint k = 0; k < data->n; k++) {
    gboolean known = FALSE;
    for (guint i = 0; i < n; i++) known |= match[i] == k;
    if (!known) g_string_append_printf(names, "%s%s", names->len ? ", " : "", data->classes[k].name);
  }
  return names->len ? g_strdup(names->str) : NULL;
}
