#include "ui/settings_form.h"

#include <glib/gi18n.h>
#include <math.h>

#include "ui/words.h"

typedef struct {
  const TmOption *option;
  GtkWidget *row, *editor, *value, *lock;
  GPtrArray *texts; /* TEXT: the values behind the drop-down's items; else NULL */
} Field;

struct _TmSettingsForm {
  GtkBox parent;
  Field *fields;
  guint n_fields;
  GtkWidget *preset, *preset_row, *preset_lock;
  gboolean quiet, locked;
};

enum { CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(TmSettingsForm, tm_settings_form, GTK_TYPE_BOX)

const char *tm_settings_choice_text(const char *choice) {
  static const struct {
    const char *choice, *text;
  } texts[] = {
      {"transposed", N_("Transposed")},
      {"bilinear", N_("Bilinear")},
      {"auto", N_("Automatic")},
      {"first", N_("The first")},
      {"f32", N_("32 bit")},
      {"bf16", N_("bfloat16")},
      {"f16", N_("float16")},
      {"cuda", N_("CUDA")},
      {"cpu", N_("Processor")},
      {"ref", N_("Reference")},
      {"cross-entropy", N_("Cross-entropy")},
      {"focal", N_("Focal")},
      {"dice", N_("Dice")},
      {"cross-entropy+dice", N_("Cross-entropy + Dice")},
      {"focal+dice", N_("Focal + Dice")},
      {"none", N_("None")},
      {"median", N_("Median")},
      {"sqrt", N_("Square root")},
      {"log", N_("Logarithm")},
      {"sgd", N_("SGD")},
      {"adam", N_("Adam")},
      {"adamw", N_("AdamW")},
      {"constant", N_("Constant")},
      {"step", N_("Step")},
      {"poly", N_("Poly")},
      {"cosine", N_("Cosine")},
      {"one-cycle", N_("One-cycle")},
  };
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
    if (strcmp(texts[i].choice, choice) == 0) return _(texts[i].text);
  return choice;
}

static void show_value(Field *f) {
  g_autofree char *text = NULL;
  if (GTK_IS_SPIN_BUTTON(f->editor)) {
    double v = gtk_spin_button_get_value(GTK_SPIN_BUTTON(f->editor));
    text = f->option->type == TM_OPTION_INT ? tm_words_count((guint64)v) : tm_words_value(v);
  } else if (GTK_IS_SWITCH(f->editor)) {
    text = g_strdup(gtk_switch_get_active(GTK_SWITCH(f->editor)) ? _("On") : _("Off"));
  } else if (f->texts) {
    GtkStringObject *item = gtk_drop_down_get_selected_item(GTK_DROP_DOWN(f->editor));
    text = g_strdup(item ? gtk_string_object_get_string(item) : "");
  } else {
    text = g_strdup(
        tm_settings_choice_text(f->option->choices[gtk_drop_down_get_selected(GTK_DROP_DOWN(f->editor))]));
  }
  gtk_label_set_label(GTK_LABEL(f->value), text);
}

/* Which preset holds these settings; the number after the last when none does. */
static guint find_preset(TmSettingsForm *f) {
  const char *const *names = tm_settings_presets();
  TmSettings now;
  tm_settings_form_get(f, &now);
  g_autoptr(JsonNode) mine = tm_settings_to_json(&now);
  guint i = 0;
  for (; names[i]; i++) {
    TmSettings s;
    tm_settings_defaults(&s);
    if (!tm_settings_preset(&s, names[i], NULL)) continue;
    g_autoptr(JsonNode) theirs = tm_settings_to_json(&s);
    if (json_node_equal(mine, theirs)) break;
  }
  return i;
}

static void show_preset(TmSettingsForm *f) {
  const char *const *names = tm_settings_presets();
  guint at = find_preset(f);
  gboolean before = f->quiet;
  f->quiet = TRUE;
  gtk_drop_down_set_selected(GTK_DROP_DOWN(f->preset), at);
  f->quiet = before;
  gtk_widget_set_tooltip_text(f->preset_row,
                              names[at] ? _(tm_settings_preset_text(names[at])) : _("Settings of your own"));
}

static void changed(TmSettingsForm *f) {
  if (f->quiet) return;
  show_preset(f);
  g_signal_emit(f, signals[CHANGED], 0);
}

static void edited(GObject *editor, TmSettingsForm *f) {
  for (guint i = 0; i < f->n_fields; i++)
    if (G_OBJECT(f->fields[i].editor) == editor) show_value(&f->fields[i]);
  changed(f);
}

static void edited_notify(GObject *editor, GParamSpec *ps, TmSettingsForm *f) {
  (void)ps;
  edited(editor, f);
}

static gboolean spin_output(GtkSpinButton *b, gpointer user) {
  (void)user;
  double v = gtk_spin_button_get_value(b);
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  g_snprintf(text, sizeof text, "%.6g", v);
  if (v != 0 && fabs(v) < 1e-4) {
    g_snprintf(text, sizeof text, "%.9f", v);
    for (char *end = text + strlen(text) - 1; *end == '0'; end--) *end = 0;
  }
  if (strcmp(text, gtk_editable_get_text(GTK_EDITABLE(b))) != 0) gtk_editable_set_text(GTK_EDITABLE(b), text);
  return TRUE;
}

static int spin_input(GtkSpinButton *b, double *out, gpointer user) {
  (void)user;
  g_autofree char *text = g_strdelimit(g_strdup(gtk_editable_get_text(GTK_EDITABLE(b))), ",", '.');
  char *end = NULL;
  *out = g_ascii_strtod(text, &end);
  while (end && g_ascii_isspace(*end)) end++;
  return end && end != text && *end == 0 ? TRUE : GTK_INPUT_ERROR;
}

/* The wheel scrolls the panel; it must not change a number that happens to pass under the pointer. */
static void no_wheel(GtkWidget *w) {
  g_autoptr(GListModel) all = gtk_widget_observe_controllers(w);
  for (guint i = g_list_model_get_n_items(all); i-- > 0;) {
    g_autoptr(GtkEventController) c = g_list_model_get_item(all, i);
    if (GTK_IS_EVENT_CONTROLLER_SCROLL(c)) gtk_widget_remove_controller(w, c);
  }
}

static GtkWidget *spin_new(const TmOption *o, TmSettingsForm *f) {
  double step = 1;
  if (o->type == TM_OPTION_FLOAT) {
    double size = o->def > 0 ? o->def : (o->hi - o->lo) / 10;
    step = pow(10, floor(log10(MIN(size, (o->hi - o->lo) / 4)))) / 2;
  }
  GtkWidget *b = gtk_spin_button_new(gtk_adjustment_new(o->def, o->lo, o->hi, step, step * 10, 0), 0,
                                     o->type == TM_OPTION_INT ? 0 : 9);
  gtk_spin_button_set_update_policy(GTK_SPIN_BUTTON(b),
                                    GTK_UPDATE_IF_VALID); /* what is no number changes nothing */
  gtk_editable_set_width_chars(GTK_EDITABLE(b), 6);
  gtk_editable_set_max_width_chars(GTK_EDITABLE(b), 6);
  gtk_widget_add_css_class(b, "tm-spin");
  no_wheel(b);
  if (o->type == TM_OPTION_FLOAT) {
    g_signal_connect(b, "output", G_CALLBACK(spin_output), NULL);
    g_signal_connect(b, "input", G_CALLBACK(spin_input), NULL);
    gtk_spin_button_update(GTK_SPIN_BUTTON(b));
  }
  g_signal_connect(b, "value-changed", G_CALLBACK(edited), f);
  return b;
}

static GtkWidget *editor_new(const TmOption *o, TmSettingsForm *f) {
  if (o->type == TM_OPTION_INT || o->type == TM_OPTION_FLOAT) return spin_new(o, f);
  if (o->type == TM_OPTION_BOOL) {
    GtkWidget *s = gtk_switch_new();
    g_signal_connect(s, "notify::active", G_CALLBACK(edited_notify), f);
    return s;
  }
  GtkStringList *names = gtk_string_list_new(NULL);
  if (o->type == TM_OPTION_TEXT) gtk_string_list_append(names, tm_settings_choice_text(o->def_choice));
  for (guint i = 0; o->choices && o->choices[i]; i++)
    gtk_string_list_append(names, tm_settings_choice_text(o->choices[i]));
  GtkWidget *d = gtk_drop_down_new(G_LIST_MODEL(names), NULL);
  g_signal_connect(d, "notify::selected", G_CALLBACK(edited_notify), f);
  return d;
}

static void add_field(TmSettingsForm *f, Field *field, const TmOption *o, AdwExpanderRow *group) {
  field->option = o;
  field->row = adw_action_row_new();
  if (o->type == TM_OPTION_TEXT) {
    field->texts = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(field->texts, g_strdup(o->def_choice));
    gtk_widget_set_visible(field->row, FALSE); /* until there is something to choose from */
  }
  adw_preferences_row_set_title(ADW_PREFERENCES_ROW(field->row), _(o->label));
  gtk_widget_set_tooltip_text(field->row, _(o->help));
  field->editor = editor_new(o, f);
  gtk_widget_set_valign(field->editor, GTK_ALIGN_CENTER);
  /* Its name comes from the row, whose activatable widget it is. */
  gtk_accessible_update_property(GTK_ACCESSIBLE(field->editor), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                 _(o->help), -1);
  field->value = gtk_label_new(NULL);
  gtk_widget_add_css_class(field->value, "tm-small");
  gtk_widget_add_css_class(field->value, "numeric");
  field->lock = gtk_image_new_from_icon_name("changes-prevent-symbolic");
  gtk_widget_add_css_class(field->lock, "tm-lock");
  gtk_accessible_update_property(GTK_ACCESSIBLE(field->lock), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                 _("Fixed for this run"), -1);
  adw_action_row_add_suffix(ADW_ACTION_ROW(field->row), field->editor);
  adw_action_row_add_suffix(ADW_ACTION_ROW(field->row), field->value);
  adw_action_row_add_suffix(ADW_ACTION_ROW(field->row), field->lock);
  adw_action_row_set_activatable_widget(ADW_ACTION_ROW(field->row), field->editor);
  adw_expander_row_add_row(group, field->row);
}

static void preset_chosen(GObject *d, GParamSpec *ps, TmSettingsForm *f) {
  (void)ps;
  if (f->quiet) return;
  const char *const *names = tm_settings_presets();
  guint at = gtk_drop_down_get_selected(GTK_DROP_DOWN(d));
  if (at >= g_strv_length((char **)names)) return; /* "Own": what is there stays */
  TmSettings s;
  tm_settings_defaults(&s);
  if (tm_settings_preset(&s, names[at], NULL)) tm_settings_form_set(f, &s);
  changed(f);
}

static const char *preset_title(const char *name) {
  if (strcmp(name, "quick") == 0) return _("Small and quick");
  if (strcmp(name, "camvid") == 0) return _("CamVid");
  if (strcmp(name, "road64") == 0) return _("Road 64");
  return name;
}

static void add_preset(TmSettingsForm *f) {
  GtkWidget *group = adw_preferences_group_new();
  GtkStringList *names = gtk_string_list_new(NULL);
  for (const char *const *n = tm_settings_presets(); *n; n++) gtk_string_list_append(names, preset_title(*n));
  gtk_string_list_append(names, _("Own"));
  f->preset_row = adw_action_row_new();
  adw_preferences_row_set_title(ADW_PREFERENCES_ROW(f->preset_row), _("Preset"));
  f->preset = gtk_drop_down_new(G_LIST_MODEL(names), NULL);
  gtk_widget_set_valign(f->preset, GTK_ALIGN_CENTER);
  g_signal_connect(f->preset, "notify::selected", G_CALLBACK(preset_chosen), f);
  f->preset_lock = gtk_image_new_from_icon_name("changes-prevent-symbolic");
  gtk_widget_add_css_class(f->preset_lock, "tm-lock");
  gtk_widget_set_visible(f->preset_lock, FALSE);
  adw_action_row_add_suffix(ADW_ACTION_ROW(f->preset_row), f->preset);
  adw_action_row_add_suffix(ADW_ACTION_ROW(f->preset_row), f->preset_lock);
  adw_action_row_set_activatable_widget(ADW_ACTION_ROW(f->preset_row), f->preset);
  adw_preferences_group_add(ADW_PREFERENCES_GROUP(group), f->preset_row);
  gtk_box_append(GTK_BOX(f), group);
}

static void finalize(GObject *o) {
  TmSettingsForm *f = TM_SETTINGS_FORM(o);
  for (guint i = 0; i < f->n_fields; i++) g_clear_pointer(&f->fields[i].texts, g_ptr_array_unref);
  g_free(f->fields);
  G_OBJECT_CLASS(tm_settings_form_parent_class)->finalize(o);
}

static void tm_settings_form_class_init(TmSettingsFormClass *c) {
  G_OBJECT_CLASS(c)->finalize = finalize;
  signals[CHANGED] =
      g_signal_new("changed", TM_TYPE_SETTINGS_FORM, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void tm_settings_form_init(TmSettingsForm *f) {
  gtk_orientable_set_orientation(GTK_ORIENTABLE(f), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing(GTK_BOX(f), 12);
  gtk_widget_add_css_class(GTK_WIDGET(f), "tm-form");
  f->quiet = TRUE;
  add_preset(f);
  guint n;
  const TmOption *options = tm_options(&n);
  f->fields = g_new0(Field, n);
  f->n_fields = n;
  AdwExpanderRow *section = NULL;
  const char *group = NULL;
  GtkWidget *list = adw_preferences_group_new();
  for (guint i = 0, sections = 0; i < n; i++) {
    if (!group || strcmp(group, options[i].group) != 0) {
      group = options[i].group;
      section = ADW_EXPANDER_ROW(adw_expander_row_new());
      adw_preferences_row_set_title(ADW_PREFERENCES_ROW(section), _(group));
      adw_expander_row_set_expanded(section, sections++ < 2);
      adw_preferences_group_add(ADW_PREFERENCES_GROUP(list), GTK_WIDGET(section));
    }
    add_field(f, &f->fields[i], &options[i], section);
  }
  gtk_box_append(GTK_BOX(f), list);
  TmSettings s;
  tm_settings_defaults(&s);
  tm_settings_form_set(f, &s);
  tm_settings_form_set_locked(f, FALSE);
  f->quiet = FALSE;
}

GtkWidget *tm_settings_form_new(void) {
  return g_object_new(TM_TYPE_SETTINGS_FORM, NULL);
}

/* The item of @text, added when it is none yet: settings may name a GPU of another machine. */
static guint item_of(Field *f, const char *text, const char *label) {
  for (guint i = 0; i < f->texts->len; i++)
    if (g_str_equal(f->texts->pdata[i], text)) return i;
  g_ptr_array_add(f->texts, g_strdup(text));
  gtk_string_list_append(GTK_STRING_LIST(gtk_drop_down_get_model(GTK_DROP_DOWN(f->editor))), label);
  return f->texts->len - 1;
}

void tm_settings_form_offer(TmSettingsForm *f, const char *key, guint n, const char *const *values,
                            const char *const *labels) {
  const gboolean before = f->quiet;
  f->quiet = TRUE;
  for (guint i = 0; i < f->n_fields; i++) {
    Field *field = &f->fields[i];
    if (!field->texts || strcmp(field->option->key, key) != 0) continue;
    for (guint k = 0; k < n; k++) item_of(field, values[k], labels[k]);
    gtk_widget_set_visible(field->row, field->texts->len > 2);
  }
  f->quiet = before;
}

static void set_field(Field *f, const TmSettings *s) {
  const char *at = (const char *)s + f->option->offset;
  switch (f->option->type) {
  case TM_OPTION_INT:
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(f->editor), *(const int *)(const void *)at);
    break;
  case TM_OPTION_FLOAT:
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(f->editor), *(const double *)(const void *)at);
    break;
  case TM_OPTION_BOOL:
    gtk_switch_set_active(GTK_SWITCH(f->editor), *(const gboolean *)(const void *)at);
    break;
  case TM_OPTION_CHOICE:
    for (guint i = 0; f->option->choices[i]; i++)
      if (g_strcmp0(f->option->choices[i], *(const char *const *)(const void *)at) == 0)
        gtk_drop_down_set_selected(GTK_DROP_DOWN(f->editor), i);
    break;
  case TM_OPTION_TEXT: {
    const char *text = *(const char *const *)(const void *)at;
    gtk_drop_down_set_selected(GTK_DROP_DOWN(f->editor), item_of(f, text, text));
    break;
  }
  }
  show_value(f);
}

void tm_settings_form_set(TmSettingsForm *f, const TmSettings *s) {
  gboolean before = f->quiet;
  f->quiet = TRUE;
  for (guint i = 0; i < f->n_fields; i++) set_field(&f->fields[i], s);
  show_preset(f);
  f->quiet = before;
}

void tm_settings_form_get(TmSettingsForm *f, TmSettings *out) {
  tm_settings_defaults(out);
  for (guint i = 0; i < f->n_fields; i++) {
    const Field *field = &f->fields[i];
    char *at = (char *)out + field->option->offset;
    switch (field->option->type) {
    case TM_OPTION_INT:
      *(int *)(void *)at = gtk_spin_button_get_value_as_int(GTK_SPIN_BUTTON(field->editor));
      break;
    case TM_OPTION_FLOAT:
      *(double *)(void *)at = gtk_spin_button_get_value(GTK_SPIN_BUTTON(field->editor));
      break;
    case TM_OPTION_BOOL:
      *(gboolean *)(void *)at = gtk_switch_get_active(GTK_SWITCH(field->editor));
      break;
    case TM_OPTION_CHOICE:
      *(const char **)(void *)at =
          field->option->choices[gtk_drop_down_get_selected(GTK_DROP_DOWN(field->editor))];
      break;
    case TM_OPTION_TEXT:
      *(const char **)(void *)at =
          g_intern_string(field->texts->pdata[gtk_drop_down_get_selected(GTK_DROP_DOWN(field->editor))]);
      break;
    }
  }
}

void tm_settings_form_set_locked(TmSettingsForm *f, gboolean locked) {
  f->locked = locked;
  for (guint i = 0; i < f->n_fields; i++) {
    gtk_widget_set_visible(f->fields[i].editor, !locked);
    gtk_widget_set_visible(f->fields[i].value, locked);
    gtk_widget_set_visible(f->fields[i].lock, locked);
  }
  gtk_widget_set_sensitive(f->preset, !locked);
  gtk_widget_set_visible(f->preset_lock, locked);
}

GtkWidget *tm_settings_form_editor(TmSettingsForm *f, const char *key) {
  for (guint i = 0; i < f->n_fields; i++)
    if (strcmp(f->fields[i].option->key, key) == 0) return f->fields[i].editor;
  return NULL;
}
