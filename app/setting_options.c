#include "app/setting_options.h"

#include <string.h>

#include <glib/gi18n.h>

struct _TmSettingOptions {
  GPtrArray *given;   /* key, text, key, text, …; owned strings */
  GPtrArray *groups;  /* NULL-terminated */
  GPtrArray *strings; /* names and descriptions that the entries point to */
};

static char *dashed(const char *key) {
  return g_strdelimit(g_strdup(key), "_", '-');
}

static gboolean take_setting(const char *option, const char *value, gpointer data, GError **error) {
  TmSettingOptions *o = data;
  g_autofree char *key = g_strdelimit(g_strdup(option + 2), "-", '_');
  TmSettings scratch; /* a wrong value is a mistake in the words, to be said before anything is opened */
  tm_settings_defaults(&scratch);
  g_autoptr(GError) wrong = NULL;
  if (!tm_settings_set(&scratch, key, value, &wrong)) {
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "%s: %s", option, wrong->message);
    return FALSE;
  }
  g_ptr_array_add(o->given, g_steal_pointer(&key));
  g_ptr_array_add(o->given, g_strdup(value));
  return TRUE;
}

/* "Base width: 16 (1 to 256)": what it is, what it is unless said, what may be said. */
static char *describe(const TmOption *option) {
  const char *label = _(option->label);
  switch (option->type) {
  case TM_OPTION_INT:
  case TM_OPTION_FLOAT:
    return g_strdup_printf(_("%s: %.10g (%.10g to %.10g)"), label, option->def, option->lo, option->hi);
  case TM_OPTION_BOOL:
    return g_strdup_printf(_("%s: %s (true, false)"), label, option->def != 0 ? "true" : "false");
  case TM_OPTION_CHOICE: {
    g_autofree char *choices = g_strjoinv(", ", (char **)option->choices);
    return g_strdup_printf("%s: %s (%s)", label, option->def_choice, choices);
  }
  case TM_OPTION_TEXT:
    return g_strdup_printf(_("%s: %s (or such as %s)"), label, option->def_choice, option->example);
  }
  return g_strdup(label);
}

static const char *argument_name(TmOptionType type) {
  static const char *const names[] = {N_("NUMBER"), N_("NUMBER"), N_("YES"), N_("WORD"), N_("TEXT")};
  return names[type];
}

static gpointer keep(TmSettingOptions *o, char *string) {
  g_ptr_array_add(o->strings, string);
  return string;
}

static void add_group(TmSettingOptions *o, const TmOption *first, const TmOption *end) {
  g_autofree char *name = g_ascii_strdown(first->group, -1);
  g_autofree char *title = g_strdup_printf(_("%s:"), _(first->group));
  GOptionGroup *group = g_option_group_new(name, title, title, o, NULL);
  g_autoptr(GArray) entries = g_array_new(TRUE, TRUE, sizeof(GOptionEntry));
  for (const TmOption *option = first; option < end; option++) {
    if (strcmp(option->group, first->group) != 0) continue;
    GOptionEntry entry = {.long_name = keep(o, dashed(option->key)),
                          .arg = G_OPTION_ARG_CALLBACK,
                          .arg_data = (gpointer)take_setting,
                          .description = keep(o, describe(option)),
                          .arg_description = _(argument_name(option->type))};
    g_array_append_val(entries, entry);
  }
  g_option_group_add_entries(group, (const GOptionEntry *)(gpointer)entries->data);
  g_ptr_array_add(o->groups, group);
}

TmSettingOptions *tm_setting_options_new(void) {
  TmSettingOptions *o = g_new0(TmSettingOptions, 1);
  o->given = g_ptr_array_new_with_free_func(g_free);
  o->strings = g_ptr_array_new_with_free_func(g_free);
  o->groups = g_ptr_array_new();
  guint n;
  const TmOption *table = tm_options(&n);
  for (guint i = 0; i < n; i++) {
    gboolean seen = FALSE;
    for (guint k = 0; k < i && !seen; k++) seen = strcmp(table[k].group, table[i].group) == 0;
    if (!seen) add_group(o, &table[i], table + n);
  }
  g_ptr_array_add(o->groups, NULL);
  return o;
}

void tm_setting_options_free(TmSettingOptions *o) {
  if (!o) return;
  g_ptr_array_unref(o->given);
  g_ptr_array_unref(o->groups);
  g_ptr_array_unref(o->strings);
  g_free(o);
}

GOptionGroup **tm_setting_options_groups(TmSettingOptions *o) {
  return (GOptionGroup **)o->groups->pdata;
}

gboolean tm_setting_options_given(const TmSettingOptions *o) {
  return o->given->len > 0;
}

gboolean tm_setting_options_apply(const TmSettingOptions *o, TmSettings *s, GError **error) {
  for (guint i = 0; i < o->given->len; i += 2)
    if (!tm_settings_set(s, o->given->pdata[i], o->given->pdata[i + 1], error)) return FALSE;
  return TRUE;
}

gboolean tm_setting_explain(const char *name, GError **error) {
  g_autofree char *key = g_strdelimit(g_strdup(name + strspn(name, "-")), "-", '_');
  const TmOption *option = tm_option_find(key);
  if (!option) {
    g_set_error(error, TM_ERROR, TM_ERROR_SETTING, _("There is no setting “%s”. See tarmac train --help."),
                name);
    return FALSE;
  }
  g_autofree char *line = describe(option), *dashes = dashed(option->key);
  g_print("--%s  %s\n%s\n", dashes, line, _(option->help));
  return TRUE;
}
