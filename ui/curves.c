#include "ui/curves.h"

#include <glib/gi18n.h>
#include <math.h>

#include "ui/epoch_table.h"

/* In the order of tm_plot_add_series(). */
enum { S_RAW, S_RATE, S_TRAIN, S_VAL, S_MIOU, S_NORM, S_SCALE, N_SERIES };

struct _TmCurves {
  GtkBox parent;
  GtkWidget *smooth, *smooth_label, *log, *unit, *table_button, *stack, *overlay, *activity_box, *activity;
  TmPlot *plot;
  TmEpochTable *table;
  TmSeries *series[N_SERIES];
};

G_DEFINE_FINAL_TYPE(TmCurves, tm_curves, GTK_TYPE_BOX)

/* The slider's share of the way becomes the mean's weight: a third looks back about ten steps, the end about
 * a thousand. */
static double smoothing_weight(double percent) {
  return percent <= 0 ? 0 : 1 - pow(10, -3 * percent / 100);
}

static void smooth(TmCurves *c) {
  tm_series_smooth(c->series[S_TRAIN], c->series[S_RAW],
                   smoothing_weight(gtk_range_get_value(GTK_RANGE(c->smooth))));
  tm_plot_changed(c->plot);
}

static void log_toggled(TmCurves *c) {
  tm_plot_set_log(c->plot, gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(c->log)));
}

static void unit_chosen(TmCurves *c) {
  tm_plot_set_unit(c->plot, (TmUnit)gtk_drop_down_get_selected(GTK_DROP_DOWN(c->unit)));
}

static void table_toggled(TmCurves *c) {
  gboolean table = gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(c->table_button));
  gtk_stack_set_visible_child_name(GTK_STACK(c->stack), table ? "table" : "plot");
  gtk_widget_set_sensitive(c->smooth, !table);
  gtk_widget_set_sensitive(c->log, !table);
  gtk_widget_set_sensitive(c->unit, !table);
}

void tm_curves_set_sheet(TmCurves *c, GtkWidget *sheet) {
  gtk_stack_add_named(GTK_STACK(c->stack), sheet, "sheet");
}

void tm_curves_show_sheet(TmCurves *c, gboolean show) {
  table_toggled(c);
  if (show) gtk_stack_set_visible_child_name(GTK_STACK(c->stack), "sheet");
  gtk_widget_set_sensitive(c->table_button, !show);
}

static gboolean toggle(GtkWidget *w, GVariant *args, gpointer button) {
  (void)w;
  (void)args;
  GtkToggleButton *b = GTK_TOGGLE_BUTTON(button);
  gtk_toggle_button_set_active(b, !gtk_toggle_button_get_active(b));
  return TRUE;
}

/* L and T work while the focus is in the card, where nobody types. */
static void add_shortcuts(TmCurves *c) {
  GtkEventController *keys = gtk_shortcut_controller_new();
  gtk_shortcut_controller_add_shortcut(GTK_SHORTCUT_CONTROLLER(keys),
                                       gtk_shortcut_new(gtk_shortcut_trigger_parse_string("l"),
                                                        gtk_callback_action_new(toggle, c->log, NULL)));
  gtk_shortcut_controller_add_shortcut(
      GTK_SHORTCUT_CONTROLLER(keys),
      gtk_shortcut_new(gtk_shortcut_trigger_parse_string("t"),
                       gtk_callback_action_new(toggle, c->table_button, NULL)));
  gtk_widget_add_controller(GTK_WIDGET(c), keys);
}

static void dispose(GObject *o) {
  TmCurves *c = TM_CURVES(o);
  for (int i = 0; i < N_SERIES; i++) g_clear_pointer(&c->series[i], tm_series_unref);
  gtk_widget_dispose_template(GTK_WIDGET(o), TM_TYPE_CURVES);
  G_OBJECT_CLASS(tm_curves_parent_class)->dispose(o);
}

static void tm_curves_class_init(TmCurvesClass *k) {
  GtkWidgetClass *wc = GTK_WIDGET_CLASS(k);
  G_OBJECT_CLASS(k)->dispose = dispose;
  gtk_widget_class_set_template_from_resource(wc, "/io/github/tarmac/Tarmac/ui/curves.ui");
  gtk_widget_class_bind_template_child(wc, TmCurves, smooth);
  gtk_widget_class_bind_template_child(wc, TmCurves, smooth_label);
  gtk_widget_class_bind_template_child(wc, TmCurves, log);
  gtk_widget_class_bind_template_child(wc, TmCurves, unit);
  gtk_widget_class_bind_template_child(wc, TmCurves, table_button);
  gtk_widget_class_bind_template_child(wc, TmCurves, stack);
  gtk_widget_class_bind_template_child(wc, TmCurves, overlay);
  gtk_widget_class_bind_template_child(wc, TmCurves, activity_box);
  gtk_widget_class_bind_template_child(wc, TmCurves, activity);
}

/* ---- the lower pane ---- */

static const struct {
  const char *name, *title;
  int series;
} lowers[] = {{"miou", N_("Mean IoU, validation"), S_MIOU}, {"norm", N_("Gradient norm"), S_NORM}, {"scale", N_("Loss scale"), S_SCALE}};

static void show_lower(TmCurves *c, guint which) {
  for (guint i = 0; i < G_N_ELEMENTS(lowers); i++) tm_plot_set_shown(c->plot, (guint)lowers[i].series, i == which);
  tm_plot_set_title(c->plot, 1, _(lowers[which].title));
}

static void lower_chosen(GSimpleAction *a, GVariant *v, gpointer user) {
  for (guint i = 0; i < G_N_ELEMENTS(lowers); i++)
    if (strcmp(lowers[i].name, g_variant_get_string(v, NULL)) == 0) {
      g_simple_action_set_state(a, v);
      show_lower(user, i);
    }
}

/* ---- export ---- */

static gboolean write_csv(TmCurves *c, const char *path, char **why) {
  g_autofree char *csv = tm_plot_csv(c->plot);
  g_autoptr(GError) error = NULL;
  if (g_file_set_contents(path, csv, -1, &error)) return TRUE;
  *why = g_strdup(error->message);
  return FALSE;
}

static void told_done(GtkDialog *d, int answer, gpointer user) {
  (void)answer;
  (void)user;
  gtk_window_destroy(GTK_WINDOW(d));
}

static void file_chosen(GtkNativeDialog *dialog, int answer, TmCurves *c) {
  g_autoptr(GFile) file = answer == GTK_RESPONSE_ACCEPT ? gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog)) : NULL;
  g_autofree char *path = file ? g_file_get_path(file) : NULL, *why = NULL;
  const char *kind = g_object_get_data(G_OBJECT(dialog), "kind");
  gboolean ok = TRUE;
  if (path) ok = tm_curves_export(c, path, kind, &why);
  if (!ok) {
    GtkWidget *d = gtk_message_dialog_new(GTK_WINDOW(gtk_widget_get_root(GTK_WIDGET(c))), GTK_DIALOG_MODAL, GTK_MESSAGE_ERROR,
                                          GTK_BUTTONS_CLOSE, "%s", why);
    g_signal_connect(d, "response", G_CALLBACK(told_done), NULL);
    gtk_window_present(GTK_WINDOW(d));
  }
  g_object_unref(dialog);
}

gboolean tm_curves_export(TmCurves *c, const char *path, const char *kind, char **why) {
  if (strcmp(kind, "csv") == 0) return write_csv(c, path, why);
  return tm_plot_write(c->plot, path, strcmp(kind, "svg") == 0 ? TM_PLOT_SVG : TM_PLOT_PNG, why);
}

static void do_export(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  TmCurves *c = user;
  const char *kind = g_intern_string(g_variant_get_string(v, NULL));
  GtkFileChooserNative *d = gtk_file_chooser_native_new(_("Export the Curves"), GTK_WINDOW(gtk_widget_get_root(GTK_WIDGET(c))),
                                                        GTK_FILE_CHOOSER_ACTION_SAVE, _("_Save"), NULL);
  g_autofree char *name = g_strdup_printf("%s.%s", _("curves"), kind);
  gtk_file_chooser_set_current_name(GTK_FILE_CHOOSER(d), name);
  g_object_set_data(G_OBJECT(d), "kind", (gpointer)kind);
  gtk_native_dialog_set_modal(GTK_NATIVE_DIALOG(d), TRUE);
  g_signal_connect_object(d, "response", G_CALLBACK(file_chosen), c, 0);
  gtk_native_dialog_show(GTK_NATIVE_DIALOG(d));
}

static const GActionEntry entries[] = {
    {.name = "lower", .activate = lower_chosen, .parameter_type = "s", .state = "'miou'"},
    {.name = "export", .activate = do_export, .parameter_type = "s"},
};

static void add_series(TmCurves *c) {
  const TmPlotStyle styles[N_SERIES] = {
      [S_RAW] = {.ink = TM_INK_TRAINING, .faint = TRUE},
      [S_RATE] = {.name = _("learning rate"), .ink = TM_INK_RATE, .right = TRUE, .dash = {1.5, 3}},
      [S_TRAIN] = {.name = _("training"), .ink = TM_INK_TRAINING},
      [S_VAL] = {.name = _("validation"), .ink = TM_INK_VALIDATION, .dash = {6, 3.5}, .dots = TRUE},
      [S_MIOU] = {.name = _("mean IoU"),
                  .ink = TM_INK_VALIDATION,
                  .pane = 1,
                  .dash = {6, 3.5},
                  .dots = TRUE,
                  .end_value = TRUE},
      [S_NORM] = {.name = _("gradient norm"), .ink = TM_INK_TRAINING, .pane = 1},
      [S_SCALE] = {.name = _("loss scale"), .ink = TM_INK_LIVE, .pane = 1},
  };
  tm_plot_add_pane(c->plot, _("Loss"), _("Rate"), 0.64);
  tm_plot_add_pane(c->plot, _("Mean IoU, validation"), NULL, 0.36);
  for (int i = 0; i < N_SERIES; i++) {
    c->series[i] = tm_series_new();
    tm_plot_add_series(c->plot, c->series[i], &styles[i]);
  }
  show_lower(c, 0);
}

static void tm_curves_init(TmCurves *c) {
  gtk_widget_init_template(GTK_WIDGET(c));
  c->plot = tm_plot_new();
  add_series(c);
  gtk_accessible_update_property(GTK_ACCESSIBLE(c->plot), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                 _("Loss and learning rate"), -1);
  gtk_overlay_set_child(GTK_OVERLAY(c->overlay), GTK_WIDGET(c->plot));
  c->table = TM_EPOCH_TABLE(tm_epoch_table_new());
  gtk_stack_add_named(GTK_STACK(c->stack), GTK_WIDGET(c->table), "table");
  GtkStringList *units = gtk_string_list_new((const char *[]){_("Epochs"), _("Steps"), _("Minutes"), NULL});
  gtk_drop_down_set_model(GTK_DROP_DOWN(c->unit), G_LIST_MODEL(units));
  g_object_unref(units);
  g_signal_connect_swapped(c->smooth, "value-changed", G_CALLBACK(smooth), c);
  g_signal_connect_swapped(c->log, "toggled", G_CALLBACK(log_toggled), c);
  g_signal_connect_swapped(c->unit, "notify::selected", G_CALLBACK(unit_chosen), c);
  g_signal_connect_swapped(c->table_button, "toggled", G_CALLBACK(table_toggled), c);
  add_shortcuts(c);
  g_autoptr(GSimpleActionGroup) actions = g_simple_action_group_new();
  g_action_map_add_action_entries(G_ACTION_MAP(actions), entries, G_N_ELEMENTS(entries), c);
  gtk_widget_insert_action_group(GTK_WIDGET(c), "curves", G_ACTION_GROUP(actions));
  log_toggled(c);
}

GtkWidget *tm_curves_new(void) {
  return g_object_new(TM_TYPE_CURVES, NULL);
}

void tm_curves_clear(TmCurves *c) {
  for (int i = 0; i < N_SERIES; i++) tm_series_clear(c->series[i]);
  tm_epoch_table_clear(c->table);
  tm_plot_set_ring(c->plot, S_MIOU, NAN, NULL);
  tm_plot_clear_markers(c->plot);
  tm_plot_zoom(c->plot, 0, 0);
  tm_plot_set_cross(c->plot, NAN);
}

void tm_curves_add_steps(TmCurves *c, const TmStepRow *rows, guint n) {
  for (guint i = 0; i < n; i++) {
    double step = (double)rows[i].step, epoch = (double)rows[i].epoch, minutes = (double)rows[i].seconds / 60;
    tm_series_add(c->series[S_RAW], step, epoch, minutes, (double)rows[i].loss);
    tm_series_add(c->series[S_RATE], step, epoch, minutes, (double)rows[i].lr);
    tm_series_add(c->series[S_NORM], step, epoch, minutes, (double)rows[i].grad_norm);
    if (rows[i].loss_scale > 0) tm_series_add(c->series[S_SCALE], step, epoch, minutes, (double)rows[i].loss_scale);
  }
  if (n) smooth(c);
}

/* Where an epoch's scores stand: after the step they were taken at, which for a stopped run is inside the
 * epoch. */
static double score_place(TmCurves *c, const TmEpochRow *row) {
  const TmSeries *raw = c->series[S_RAW];
  guint at = tm_series_find(raw, TM_UNIT_STEPS, (double)row->step);
  if (at >= tm_series_n(raw) || at == 0) return row->epoch + 1.0;
  double x = tm_series_x(raw, TM_UNIT_EPOCHS, at);
  return x + (x - tm_series_x(raw, TM_UNIT_EPOCHS, at - 1));
}

void tm_curves_add_epochs(TmCurves *c, const TmEpochRow *rows, guint n) {
  for (guint i = 0; i < n; i++) {
    double step = (double)rows[i].step, epoch = score_place(c, &rows[i]),
           minutes = (double)rows[i].seconds / 60;
    if (isfinite((double)rows[i].val_loss))
      tm_series_add(c->series[S_VAL], step, epoch, minutes, (double)rows[i].val_loss);
    if (isfinite((double)rows[i].miou))
      tm_series_add(c->series[S_MIOU], step, epoch, minutes, (double)rows[i].miou);
    if (rows[i].best && isfinite((double)rows[i].miou))
      tm_plot_set_ring(c->plot, S_MIOU, step, _("best so far, saved"));
    tm_epoch_table_add(c->table, &rows[i]);
  }
  if (n) tm_plot_changed(c->plot);
}

void tm_curves_clear_marks(TmCurves *c) {
  tm_plot_clear_markers(c->plot);
}

void tm_curves_mark(TmCurves *c, double step, const char *label) {
  tm_plot_add_marker(c->plot, step, label);
}

void tm_curves_set_activity(TmCurves *c, const char *text) {
  gtk_widget_set_visible(c->activity_box, text != NULL);
  if (text) gtk_label_set_label(GTK_LABEL(c->activity), text);
}

void tm_curves_set_compact(TmCurves *c, gboolean compact) {
  gtk_widget_set_visible(c->smooth, !compact);
  gtk_widget_set_visible(c->smooth_label, !compact);
}

TmPlot *tm_curves_plot(TmCurves *c) {
  return c->plot;
}
