#include "engine/train/settings.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

/* The names of each choice, from the same rows: choices_loss, choices_optimizer ... */
#define UNPACK(...) __VA_ARGS__
#define TM_INT(field, def, lo, hi, group, label, help)
#define TM_FLOAT(field, def, lo, hi, group, label, help)
#define TM_BOOL(field, def, group, label, help)
#define TM_CHOICE(field, def, names, group, label, help)                                                     \
  static const char *const choices_##field[] = {UNPACK names, NULL};
#define TM_TEXT(field, def, pattern, example, group, label, help)
#include "engine/train/options.def"
#undef TM_INT
#undef TM_FLOAT
#undef TM_BOOL
#undef TM_CHOICE
#undef TM_TEXT

#define ROW(type_, field, group_, label_, help_, ...)                                                        \
  {.key = #field,                                                                                            \
   .type = type_,                                                                                            \
   .group = group_,                                                                                          \
   .label = label_,                                                                                          \
   .help = help_,                                                                                            \
   .offset = G_STRUCT_OFFSET(TmSettings, field),                                                             \
   __VA_ARGS__},
#define TM_INT(field, d, l, h, group_, label_, help_)                                                        \
  ROW(TM_OPTION_INT, field, group_, label_, help_, .def = d, .lo = l, .hi = h)
#define TM_FLOAT(field, d, l, h, group_, label_, help_)                                                      \
  ROW(TM_OPTION_FLOAT, field, group_, label_, help_, .def = d, .lo = l, .hi = h)
#define TM_BOOL(field, d, group_, label_, help_)                                                             \
  ROW(TM_OPTION_BOOL, field, group_, label_, help_, .def = d, .lo = 0, .hi = 1)
#define TM_CHOICE(field, d, names, group_, label_, help_)                                                    \
  ROW(TM_OPTION_CHOICE, field, group_, label_, help_, .choices = choices_##field, .def_choice = d)
#define TM_TEXT(field, d, pattern_, example_, group_, label_, help_)                                         \
  ROW(TM_OPTION_TEXT, field, group_, label_, help_, .def_choice = d, .pattern = pattern_, .example = example_)

static const TmOption options[] = {
#include "engine/train/options.def"
};
#undef TM_INT
#undef TM_FLOAT
#undef TM_BOOL
#undef TM_CHOICE
#undef TM_TEXT

const TmOption *tm_options(guint *n) {
  if (n) *n = G_N_ELEMENTS(options);
  return options;
}

/* The command line writes weight-decay where the files write weight_decay: both name one setting. */
static gboolean same_key(const char *a, const char *b) {
  for (; *a && *b; a++, b++)
    if (*a != *b && !(*a == '_' && *b == '-')) return FALSE;
  return *a == *b;
}

const TmOption *tm_option_find(const char *key) {
  for (guint i = 0; key && i < G_N_ELEMENTS(options); i++)
    if (same_key(options[i].key, key)) return &options[i];
  return NULL;
}

static void *field_of(const TmSettings *s, const TmOption *o) {
  return G_STRUCT_MEMBER_P(s, o->offset);
}

void tm_settings_defaults(TmSettings *s) {
  memset(s, 0, sizeof *s);
  for (guint i = 0; i < G_N_ELEMENTS(options); i++) {
    const TmOption *o = &options[i];
    switch (o->type) {
    case TM_OPTION_INT:
      *(int *)field_of(s, o) = (int)o->def;
      break;
    case TM_OPTION_FLOAT:
      *(double *)field_of(s, o) = o->def;
      break;
    case TM_OPTION_BOOL:
      *(gboolean *)field_of(s, o) = o->def != 0;
      break;
    case TM_OPTION_CHOICE:
    case TM_OPTION_TEXT:
      *(const char **)field_of(s, o) = o->def_choice;
      break;
    }
  }
}

/* The shortest decimal text that reads back as the same double, with a point in every locale. */
static char *double_text(double x) {
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  static const char *const formats[] = {"%.6g", "%.9g", "%.15g", "%.17g"};
  for (guint i = 0; i < G_N_ELEMENTS(formats); i++) {
    g_ascii_formatd(text, sizeof text, formats[i], x);
    if (g_ascii_strtod(text, NULL) == x) break;
  }
  return g_strdup(text);
}

static gboolean range_error(const TmOption *o, const char *given, GError **error) {
  g_autofree char *lo = double_text(o->lo), *hi = double_text(o->hi);
  if (o->type == TM_OPTION_INT)
    g_set_error(error, TM_ERROR, TM_ERROR_SETTING,
                _("%s (%s) must be a whole number from %s to %s, not “%s”."), _(o->label), o->key, lo, hi,
                given);
  else
    g_set_error(error, TM_ERROR, TM_ERROR_SETTING, _("%s (%s) must be a number from %s to %s, not “%s”."),
                _(o->label), o->key, lo, hi, given);
  return FALSE;
}

static gboolean set_number(TmSettings *s, const TmOption *o, double x, const char *given, GError **error) {
  const gboolean whole = o->type != TM_OPTION_INT || x == floor(x);
  if (!isfinite(x) || x < o->lo || x > o->hi || !whole) return range_error(o, given, error);
  if (o->type == TM_OPTION_INT)
    *(int *)field_of(s, o) = (int)x;
  else
    *(double *)field_of(s, o) = x;
  return TRUE;
}

static gboolean set_bool(TmSettings *s, const TmOption *o, const char *text, GError **error) {
  static const char *const yes[] = {"true", "yes", "on", "1", NULL}, *const no[] = {"false", "no", "off", "0",
                                                                                    NULL};
  g_autofree char *lower = g_ascii_strdown(text, -1);
  const gboolean is_yes = g_strv_contains(yes, lower);
  if (!is_yes && !g_strv_contains(no, lower)) {
    g_set_error(error, TM_ERROR, TM_ERROR_SETTING, _("%s (%s) must be “true” or “false”, not “%s”."),
                _(o->label), o->key, text);
    return FALSE;
  }
  *(gboolean *)field_of(s, o) = is_yes;
  return TRUE;
}

static gboolean set_choice(TmSettings *s, const TmOption *o, const char *text, GError **error) {
  for (guint i = 0; o->choices[i]; i++)
    if (g_str_equal(o->choices[i], text)) {
      *(const char **)field_of(s, o) = o->choices[i];
      return TRUE;
    }
  g_autofree char *all = g_strjoinv(", ", (char **)o->choices);
  g_set_error(error, TM_ERROR, TM_ERROR_SETTING, _("%s (%s) must be one of %s, not “%s”."), _(o->label),
              o->key, all, text);
  return FALSE;
}

static gboolean set_text(TmSettings *s, const TmOption *o, const char *text, GError **error) {
  if (g_regex_match_simple(o->pattern, text, 0, 0)) {
    *(const char **)field_of(s, o) = g_intern_string(text);
    return TRUE;
  }
  g_set_error(error, TM_ERROR, TM_ERROR_SETTING, _("%s (%s) must be like “%s” or “%s”, not “%s”."), _(o->label), o->key,
              o->def_choice, o->example, text);
  return FALSE;
}

static gboolean unknown_key(const char *key, GError **error) {
  g_autoptr(GString) all = g_string_new(NULL);
  for (guint i = 0; i < G_N_ELEMENTS(options); i++)
    g_string_append_printf(all, "%s%s", i ? ", " : "", options[i].key);
  g_set_error(error, TM_ERROR, TM_ERROR_SETTING, _("There is no setting “%s”. There are: %s."),
              key ? key : "", all->str);
  return FALSE;
}

gboolean tm_settings_set(TmSettings *s, const char *key, const char *text, GError **error) {
  const TmOption *o = tm_option_find(key);
  if (!o) return unknown_key(key, error);
  g_autofree char *trimmed = g_strstrip(g_strdup(text ? text : ""));
  if (o->type == TM_OPTION_BOOL) return set_bool(s, o, trimmed, error);
  if (o->type == TM_OPTION_CHOICE) return set_choice(s, o, trimmed, error);
  if (o->type == TM_OPTION_TEXT) return set_text(s, o, trimmed, error);
  char *end = NULL;
  const double x = g_ascii_strtod(trimmed, &end);
  if (end == trimmed || *end) return range_error(o, trimmed, error);
  return set_number(s, o, x, trimmed, error);
}

char *tm_settings_get(const TmSettings *s, const char *key) {
  const TmOption *o = tm_option_find(key);
  if (!o) return NULL;
  switch (o->type) {
  case TM_OPTION_INT:
    return g_strdup_printf("%d", *(const int *)field_of(s, o));
  case TM_OPTION_FLOAT:
    return double_text(*(const double *)field_of(s, o));
  case TM_OPTION_BOOL:
    return g_strdup(*(const gboolean *)field_of(s, o) ? "true" : "false");
  default:
    return g_strdup(*(const char *const *)field_of(s, o));
  }
}

JsonNode *tm_settings_to_json(const TmSettings *s) {
  JsonObject *json = json_object_new();
  for (guint i = 0; i < G_N_ELEMENTS(options); i++) {
    const TmOption *o = &options[i];
    switch (o->type) {
    case TM_OPTION_INT:
      json_object_set_int_member(json, o->key, *(const int *)field_of(s, o));
      break;
    case TM_OPTION_FLOAT:
      json_object_set_double_member(json, o->key, *(const double *)field_of(s, o));
      break;
    case TM_OPTION_BOOL:
      json_object_set_boolean_member(json, o->key, *(const gboolean *)field_of(s, o));
      break;
    default:
      json_object_set_string_member(json, o->key, *(const char *const *)field_of(s, o));
      break;
    }
  }
  JsonNode *node = json_node_new(JSON_NODE_OBJECT);
  json_node_take_object(node, json);
  return node;
}

static gboolean set_from_node(TmSettings *s, const TmOption *o, JsonNode *node, GError **error) {
  const GType type = JSON_NODE_HOLDS_VALUE(node) ? json_node_get_value_type(node) : G_TYPE_INVALID;
  if ((o->type == TM_OPTION_INT || o->type == TM_OPTION_FLOAT) &&
      (type == G_TYPE_INT64 || type == G_TYPE_DOUBLE)) {
    const double x = type == G_TYPE_INT64 ? (double)json_node_get_int(node) : json_node_get_double(node);
    g_autofree char *given = double_text(x);
    return set_number(s, o, x, given, error);
  }
  if (o->type == TM_OPTION_BOOL && type == G_TYPE_BOOLEAN) {
    *(gboolean *)field_of(s, o) = json_node_get_boolean(node);
    return TRUE;
  }
  if (o->type == TM_OPTION_CHOICE && type == G_TYPE_STRING)
    return set_choice(s, o, json_node_get_string(node), error);
  if (o->type == TM_OPTION_TEXT && type == G_TYPE_STRING) return set_text(s, o, json_node_get_string(node), error);
  g_set_error(error, TM_ERROR, TM_ERROR_SETTING, _("The setting %s (%s) has a value of the wrong kind."),
              _(o->label), o->key);
  return FALSE;
}

gboolean tm_settings_from_json(TmSettings *s, JsonNode *node, GError **error) {
  if (!node || !JSON_NODE_HOLDS_OBJECT(node)) {
    g_set_error_literal(error, TM_ERROR, TM_ERROR_SETTING, _("The settings are not a JSON object."));
    return FALSE;
  }
  JsonObject *json = json_node_get_object(node);
  TmSettings copy = *s; /* all or nothing */
  for (guint i = 0; i < G_N_ELEMENTS(options); i++) {
    JsonNode *member = json_object_get_member(json, options[i].key);
    if (member && !set_from_node(&copy, &options[i], member, error)) return FALSE;
  }
  *s = copy;
  return TRUE;
}
