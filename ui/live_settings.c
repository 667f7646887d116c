#include "ui/live_settings.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "ui/schedule_view.h"
#include "ui/settings_form.h"
#include "ui/words.h"

enum { N_STRENGTHS = 5, PATIENCE = 8, SETTLED_MS = 350 };
static const double strengths[N_STRENGTHS] = {0, 0.5, 1, 1.5, 2};
static const char *const strength_names[N_STRENGTHS] = {N_("Off"), N_("Half"), N_("As Begun"), N_("Stronger"), N_("Double")};
static const char *const augmentation[] = {"scale_min", "scale_max", "flip",       "rotate", "brightness",
                                           "offset",    "contrast",  "saturation", "hue",    NULL};

struct _TmLiveSettings {
  GtkBox parent;
  GtkWidget *rate_row, *rate, *batch_row, *batch, *weights, *strength, *patience_row, *patience, *schedule;
  GtkWidget *changes, *undo, *schedule_view;
  TmSettings begun, now;
  double rate_now;
  int next_batch;
  guint rate_source;
  gboolean quiet, shown;
};

enum { CHANGE, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(TmLiveSettings, tm_live_settings, GTK_TYPE_BOX)

static void dispose(GObject *o) {
  g_clear_handle_id(&TM_LIVE_SETTINGS(o)->rate_source, g_source_remove);
  G_OBJECT_CLASS(tm_live_settings_parent_class)->dispose(o);
}

static void tm_live_settings_class_init(TmLiveSettingsClass *c) {
  G_OBJECT_CLASS(c)->dispose = dispose;
  signals[CHANGE] = g_signal_new("change", TM_TYPE_LIVE_SETTINGS, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 2,
                                 G_TYPE_STRING, G_TYPE_STRING);
}

static void change(TmLiveSettings *l, const char *key, const char *to) {
  if (!l->quiet) g_signal_emit(l, signals[CHANGE], 0, key, to);
}

/* ---- the rate: a number that steps by a tenth of itself ---- */

static int rate_input(GtkSpinButton *b, double *out, gpointer user) {
  (void)user;
  g_autofree char *text = g_strdelimit(g_strdup(gtk_editable_get_text(GTK_EDITABLE(b))), ",", '.');
  char *end = NULL;
  *out = g_ascii_strtod(text, &end);
  return end == text || *end || !(*out > 0) ? GTK_INPUT_ERROR : TRUE;
}

static gboolean rate_output(GtkSpinButton *b, gpointer user) {
  (void)user;
  char text[32];
  g_snprintf(text, sizeof text, "%.3g", gtk_spin_button_get_value(b));
  if (strcmp(text, gtk_editable_get_text(GTK_EDITABLE(b))) != 0) gtk_editable_set_text(GTK_EDITABLE(b), text);
  return TRUE;
}

static gboolean send_rate(gpointer user) {
  TmLiveSettings *l = user;
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  l->rate_source = 0;
  change(l, "rate", g_ascii_dtostr(text, sizeof text, gtk_spin_button_get_value(GTK_SPIN_BUTTON(l->rate))));
  return G_SOURCE_REMOVE;
}

/* A row of clicks is one change. */
static void rate_changed(GtkSpinButton *b, TmLiveSettings *l) {
  const double rate = gtk_spin_button_get_value(b);
  gtk_spin_button_set_increments(b, rate / 10, rate);
  if (l->quiet || !(l->rate_now > 0)) return;
  g_clear_handle_id(&l->rate_source, g_source_remove);
  l->rate_source = g_timeout_add(SETTLED_MS, send_rate, l);
}

/* ---- the others ---- */

static void batch_changed(GtkSpinButton *b, TmLiveSettings *l) {
  g_autofree char *to = g_strdup_printf("%d", gtk_spin_button_get_value_as_int(b));
  change(l, "batch", to);
}

static void choice_changed(GObject *d, GParamSpec *ps, TmLiveSettings *l) {
  (void)ps;
  const char *key = g_object_get_data(d, "key");
  const guint at = gtk_drop_down_get_selected(GTK_DROP_DOWN(d));
  const TmOption *o = tm_option_find(key);
  if (at != GTK_INVALID_LIST_POSITION) change(l, key, o->choices[at]);
}

static double stronger(double from, double strength) { return 1 + (from - 1) * strength; }

void tm_live_settings_strengthen(TmSettings *s, const TmSettings *begun, double strength) {
  s->scale_min = CLAMP(stronger(begun->scale_min, strength), 0.1, 4);
  s->scale_max = CLAMP(stronger(begun->scale_max, strength), 0.1, 4);
  s->flip = strength > 0 ? begun->flip : 0;
  s->rotate = MIN(begun->rotate * strength, 180);
  s->brightness = MIN(begun->brightness * strength, 1);
  s->offset = MIN(begun->offset * strength, 128);
  s->contrast = MIN(begun->contrast * strength, 1);
  s->saturation = MIN(begun->saturation * strength, 1);
  s->hue = MIN(begun->hue * strength, 180);
}

static void strength_changed(GObject *d, GParamSpec *ps, TmLiveSettings *l) {
  (void)ps;
  const guint at = gtk_drop_down_get_selected(GTK_DROP_DOWN(d));
  if (l->quiet || at >= N_STRENGTHS) return;
  TmSettings to = l->now;
  tm_live_settings_strengthen(&to, &l->begun, strengths[at]);
  /* The range of zooms must never be upside down between two changes. */
  const gboolean wider = to.scale_max >= l->now.scale_max;
  for (guint k = 0; augmentation[k]; k++) {
    const char *key = k > 1 || !wider ? augmentation[k] : augmentation[1 - k];
    g_autofree char *is = tm_settings_get(&l->now, key), *value = tm_settings_get(&to, key);
    if (strcmp(is, value) != 0) change(l, key, value);
  }
}

static guint strength_of(const TmLiveSettings *l) {
  for (guint i = 0; i < N_STRENGTHS; i++) {
    const guint at = (i + 2) % N_STRENGTHS; /* "As Begun" first: nothing doubled is nothing, too */
    TmSettings s = l->now;
    gboolean same = TRUE;
    tm_live_settings_strengthen(&s, &l->begun, strengths[at]);
    for (guint k = 0; augmentation[k] && same; k++) {
      g_autofree char *a = tm_settings_get(&s, augmentation[k]), *b = tm_settings_get(&l->now, augmentation[k]);
      same = strcmp(a, b) == 0;
    }
    if (same) return at;
  }
  return GTK_INVALID_LIST_POSITION;
}

static void patience_changed(GObject *s, GParamSpec *ps, TmLiveSettings *l) {
  (void)ps;
  const int epochs = l->begun.stop_after > 0 ? l->begun.stop_after : PATIENCE;
  g_autofree char *to = g_strdup_printf("%d", gtk_switch_get_active(GTK_SWITCH(s)) ? epochs : 0);
  change(l, "stop_after", to);
}

/* ---- making ---- */

static GtkWidget *row_new(GtkWidget *group, const char *title, const char *help, GtkWidget *editor) {
  GtkWidget *row = adw_action_row_new();
  adw_preferences_row_set_title(ADW_PREFERENCES_ROW(row), title);
  gtk_widget_set_tooltip_text(row, help);
  gtk_widget_set_valign(editor, GTK_ALIGN_CENTER);
  /* Its name comes from the row, whose activatable widget it is. */
  gtk_accessible_update_property(GTK_ACCESSIBLE(editor), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, help, -1);
  adw_action_row_add_suffix(ADW_ACTION_ROW(row), editor);
  adw_action_row_set_activatable_widget(ADW_ACTION_ROW(row), editor);
  adw_preferences_group_add(ADW_PREFERENCES_GROUP(group), row);
  return row;
}

static GtkWidget *choice_new(TmLiveSettings *l, const char *key) {
  const TmOption *o = tm_option_find(key);
  GtkStringList *names = gtk_string_list_new(NULL);
  for (guint i = 0; o->choices[i]; i++) gtk_string_list_append(names, tm_settings_choice_text(o->choices[i]));
  GtkWidget *d = gtk_drop_down_new(G_LIST_MODEL(names), NULL);
  g_object_set_data(G_OBJECT(d), "key", (gpointer)o->key);
  g_signal_connect(d, "notify::selected", G_CALLBACK(choice_changed), l);
  return d;
}

static GtkWidget *strength_new(TmLiveSettings *l) {
  GtkStringList *names = gtk_string_list_new(NULL);
  for (guint i = 0; i < N_STRENGTHS; i++) gtk_string_list_append(names, _(strength_names[i]));
  GtkWidget *d = gtk_drop_down_new(G_LIST_MODEL(names), NULL);
  g_signal_connect(d, "notify::selected", G_CALLBACK(strength_changed), l);
  return d;
}

static void make_editors(TmLiveSettings *l) {
  l->rate = gtk_spin_button_new(gtk_adjustment_new(1e-3, 1e-12, 1000, 1e-4, 1e-3, 0), 0, 12);
  gtk_spin_button_set_update_policy(GTK_SPIN_BUTTON(l->rate), GTK_UPDATE_IF_VALID);
  gtk_editable_set_width_chars(GTK_EDITABLE(l->rate), 7);
  gtk_editable_set_max_width_chars(GTK_EDITABLE(l->rate), 7);
  gtk_widget_add_css_class(l->rate, "tm-spin");
  g_signal_connect(l->rate, "input", G_CALLBACK(rate_input), NULL);
  g_signal_connect(l->rate, "output", G_CALLBACK(rate_output), NULL);
  g_signal_connect(l->rate, "value-changed", G_CALLBACK(rate_changed), l);
  l->batch = gtk_spin_button_new_with_range(1, 1024, 1);
  gtk_editable_set_width_chars(GTK_EDITABLE(l->batch), 4);
  gtk_widget_add_css_class(l->batch, "tm-spin");
  g_signal_connect(l->batch, "value-changed", G_CALLBACK(batch_changed), l);
  l->weights = choice_new(l, "class_weights");
  l->strength = strength_new(l);
  l->patience = gtk_switch_new();
  g_signal_connect(l->patience, "notify::active", G_CALLBACK(patience_changed), l);
  l->schedule = choice_new(l, "schedule");
}

static void make_rows(TmLiveSettings *l) {
  GtkWidget *group = adw_preferences_group_new(), *hint = gtk_label_new(_("change while it runs"));
  adw_preferences_group_set_title(ADW_PREFERENCES_GROUP(group), _("Live settings"));
  gtk_widget_add_css_class(hint, "tm-small");
  gtk_widget_add_css_class(hint, "tm-dim");
  adw_preferences_group_set_header_suffix(ADW_PREFERENCES_GROUP(group), hint);
  l->rate_row = row_new(group, _("Learning rate"), _("The rate from the next step on. Up and Down change it by a tenth."), l->rate);
  GtkWidget *test = gtk_button_new_with_label(_("Test…"));
  gtk_actionable_set_action_name(GTK_ACTIONABLE(test), "train.range-test");
  GtkWidget *row = row_new(group, _("Find the rate"), _("Tries rates on a net of its own; the run waits and then goes on."), test);
  adw_action_row_set_subtitle(ADW_ACTION_ROW(row), _("Range test, then go on"));
  row_new(group, _("Class weights"), _(tm_option_find("class_weights")->help), l->weights);
  row_new(group, _("Augmentation"), _("How strongly pictures are varied, beside what the run began with."), l->strength);
  l->batch_row = row_new(group, _("Batch"), _("Pictures in one step, from the next epoch on."), l->batch);
  l->patience_row = row_new(group, _("Stop early"), _(tm_option_find("stop_after")->help), l->patience);
  gtk_box_append(GTK_BOX(l), group);
}

static void make_rest(TmLiveSettings *l) {
  GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6), *head = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
  GtkWidget *title = gtk_label_new(_("Rate schedule"));
  l->changes = gtk_label_new(NULL);
  gtk_label_set_xalign(GTK_LABEL(l->changes), 0);
  gtk_widget_set_hexpand(l->changes, TRUE);
  l->undo = gtk_button_new_with_label(_("Undo Last"));
  gtk_actionable_set_action_name(GTK_ACTIONABLE(l->undo), "train.undo");
  gtk_widget_set_tooltip_text(l->undo, _("Undo last live change (Ctrl+Z)"));
  gtk_accessible_update_property(GTK_ACCESSIBLE(l->undo), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Undo Last Live Change"), -1);
  gtk_widget_add_css_class(l->undo, "flat");
  gtk_widget_add_css_class(l->changes, "tm-small");
  gtk_widget_add_css_class(l->changes, "tm-strong");
  gtk_box_append(GTK_BOX(line), l->changes);
  gtk_box_append(GTK_BOX(line), l->undo);
  gtk_label_set_xalign(GTK_LABEL(title), 0);
  gtk_widget_set_hexpand(title, TRUE);
  gtk_widget_add_css_class(title, "tm-small");
  gtk_widget_add_css_class(title, "tm-strong");
  gtk_accessible_update_property(GTK_ACCESSIBLE(l->schedule), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Rate schedule"), -1);
  gtk_widget_set_tooltip_text(l->schedule, _(tm_option_find("schedule")->help));
  gtk_box_append(GTK_BOX(head), title);
  gtk_box_append(GTK_BOX(head), l->schedule);
  l->schedule_view = tm_schedule_view_new();
  gtk_box_append(GTK_BOX(l), line);
  gtk_box_append(GTK_BOX(l), head);
  gtk_box_append(GTK_BOX(l), l->schedule_view);
}

static void tm_live_settings_init(TmLiveSettings *l) {
  gtk_orientable_set_orientation(GTK_ORIENTABLE(l), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing(GTK_BOX(l), 8);
  gtk_widget_add_css_class(GTK_WIDGET(l), "tm-form");
  l->quiet = TRUE;
  tm_settings_defaults(&l->begun);
  l->now = l->begun;
  l->rate_now = NAN;
  make_editors(l);
  make_rows(l);
  make_rest(l);
  tm_live_settings_set_note(l, NULL, 0);
  l->quiet = FALSE;
}

GtkWidget *tm_live_settings_new(void) {
  return g_object_new(TM_TYPE_LIVE_SETTINGS, NULL);
}

/* ---- showing ---- */

void tm_live_settings_set_begun(TmLiveSettings *l, const TmSettings *begun) {
  l->begun = *begun;
  l->shown = FALSE;
  tm_schedule_view_add_past(TM_SCHEDULE_VIEW(l->schedule_view), NAN, NAN);
}

/* The person is in it: what they type is theirs. */
static gboolean busy(GtkWidget *editor) {
  return (gtk_widget_get_state_flags(editor) & GTK_STATE_FLAG_FOCUS_WITHIN) != 0;
}

static void select_choice(GtkWidget *d, const char *value) {
  const TmOption *o = tm_option_find(g_object_get_data(G_OBJECT(d), "key"));
  for (guint i = 0; o->choices[i]; i++)
    if (strcmp(o->choices[i], value) == 0 && gtk_drop_down_get_selected(GTK_DROP_DOWN(d)) != i)
      gtk_drop_down_set_selected(GTK_DROP_DOWN(d), i);
}

static void set_subtitle(GtkWidget *row, const char *text) {
  if (g_strcmp0(adw_action_row_get_subtitle(ADW_ACTION_ROW(row)), text) != 0)
    adw_action_row_set_subtitle(ADW_ACTION_ROW(row), text);
}

static void show_choices(TmLiveSettings *l) {
  select_choice(l->weights, l->now.class_weights);
  select_choice(l->schedule, l->now.schedule);
  const guint strength = strength_of(l);
  if (gtk_drop_down_get_selected(GTK_DROP_DOWN(l->strength)) != strength)
    gtk_drop_down_set_selected(GTK_DROP_DOWN(l->strength), strength);
  gtk_switch_set_active(GTK_SWITCH(l->patience), l->now.stop_after > 0);
  const int epochs = l->now.stop_after > 0 ? l->now.stop_after : l->begun.stop_after > 0 ? l->begun.stop_after : PATIENCE;
  g_autofree char *after =
      g_strdup_printf(ngettext("After %d epoch without gain", "After %d epochs without gain", (gulong)epochs), epochs);
  set_subtitle(l->patience_row, after);
}

void tm_live_settings_show(TmLiveSettings *l, const TmSettings *now, double rate, double factor, int next_batch, double share) {
  const gboolean same = l->shown && memcmp(&l->now, now, sizeof *now) == 0;
  l->quiet = TRUE;
  l->shown = TRUE;
  l->now = *now;
  l->rate_now = rate;
  if (rate > 0 && !l->rate_source && !busy(l->rate)) gtk_spin_button_set_value(GTK_SPIN_BUTTON(l->rate), rate);
  if (!busy(l->batch)) gtk_spin_button_set_value(GTK_SPIN_BUTTON(l->batch), next_batch ? next_batch : now->batch);
  if (next_batch != l->next_batch) set_subtitle(l->batch_row, next_batch ? _("From the next epoch on") : "");
  l->next_batch = next_batch;
  if (!same) show_choices(l);
  tm_schedule_view_add_past(TM_SCHEDULE_VIEW(l->schedule_view), isnan(share) ? 0 : share, rate);
  tm_schedule_view_set(TM_SCHEDULE_VIEW(l->schedule_view), now, factor, share);
  l->quiet = FALSE;
}

void tm_live_settings_set_note(TmLiveSettings *l, const char *note, guint n_changes) {
  set_subtitle(l->rate_row, note ? note : "");
  g_autofree char *text =
      n_changes ? g_strdup_printf(ngettext("%u live change", "%u live changes", n_changes), n_changes) : g_strdup(_("No live changes"));
  gtk_label_set_label(GTK_LABEL(l->changes), text);
}
