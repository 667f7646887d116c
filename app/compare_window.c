#include "app/compare_window.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "engine/run/run_card.h"
#include "engine/run/run_dir.h"
#include "engine/train/trainer.h"
#include "ui/plot.h"
#include "ui/settings_form.h"
#include "ui/words.h"

enum { N_RUNS = 2 };

typedef struct {
  char *title;
  TmSettings settings;
  GArray *epochs; /* TmEpochRow */
  guint64 steps;
} Run;

typedef struct {
  char *folder[N_RUNS];
  Run run[N_RUNS];
  GtkWidget *box; /* main thread; the window's, which the task keeps */
} Pair;

static void pair_free(gpointer data) {
  Pair *p = data;
  for (int i = 0; i < N_RUNS; i++) {
    g_free(p->folder[i]);
    g_free(p->run[i].title);
    if (p->run[i].epochs) g_array_unref(p->run[i].epochs);
  }
  g_free(p);
}

/* ---- reading ---- */

static gboolean read_run(const char *folder, Run *r, GError **error) {
  g_autoptr(GArray) steps = g_array_new(FALSE, FALSE, sizeof(TmStepRow));
  g_autofree char *base = g_path_get_basename(folder);
  r->epochs = g_array_new(FALSE, FALSE, sizeof(TmEpochRow));
  tm_run_card_read(folder, &r->title, NULL, NULL);
  if (!r->title) r->title = g_filename_display_name(base);
  if (!tm_run_settings(folder, FALSE, &r->settings, error) || !tm_run_read_history(folder, steps, r->epochs, error)) return FALSE;
  r->steps = steps->len ? g_array_index(steps, TmStepRow, steps->len - 1).step + 1 : 0;
  return TRUE;
}

static void read_both(GTask *task, gpointer source, gpointer data, GCancellable *cancel) {
  (void)source;
  (void)cancel;
  Pair *p = data;
  GError *error = NULL;
  for (int i = 0; i < N_RUNS; i++)
    if (!read_run(p->folder[i], &p->run[i], &error)) {
      g_task_return_error(task, error);
      return;
    }
  g_task_return_boolean(task, TRUE);
}

/* ---- showing ---- */

static void cell(GtkWidget *grid, int column, int row, const char *text, gboolean strong) {
  GtkWidget *l = gtk_label_new(text);
  gtk_label_set_xalign(GTK_LABEL(l), column == 0 ? 0 : 1);
  gtk_label_set_ellipsize(GTK_LABEL(l), column == 0 ? PANGO_ELLIPSIZE_NONE : PANGO_ELLIPSIZE_END);
  gtk_widget_set_hexpand(l, column > 0);
  gtk_widget_add_css_class(l, strong ? "tm-strong" : "numeric");
  gtk_grid_attach(GTK_GRID(grid), l, column, row, 1, 1);
}

static GtkWidget *grid_new(Pair *p, const char *title) {
  GtkWidget *head = gtk_label_new(title), *grid = gtk_grid_new();
  gtk_label_set_xalign(GTK_LABEL(head), 0);
  gtk_widget_add_css_class(head, "tm-h2");
  gtk_grid_set_column_spacing(GTK_GRID(grid), 24);
  gtk_grid_set_row_spacing(GTK_GRID(grid), 4);
  for (int i = 0; i < N_RUNS; i++) cell(grid, i + 1, 0, p->run[i].title, TRUE);
  gtk_box_append(GTK_BOX(p->box), head);
  gtk_box_append(GTK_BOX(p->box), grid);
  return grid;
}

static const TmEpochRow *best_of(const Run *r) {
  const TmEpochRow *best = NULL;
  for (guint i = 0; i < r->epochs->len; i++) {
    const TmEpochRow *e = &g_array_index(r->epochs, TmEpochRow, i);
    if (isfinite((double)e->miou) && (!best || e->miou > best->miou)) best = e;
  }
  return best;
}

/* Text of the @row-th result, NULL behind the last. */
static char *result_of(const Run *r, int row) {
  const TmEpochRow *best = best_of(r), *last = r->epochs->len ? &g_array_index(r->epochs, TmEpochRow, r->epochs->len - 1) : NULL;
  if (row < 4 && !best) return g_strdup("–");
  switch (row) {
  case 0:
    return g_strdup_printf("%.3f", (double)best->miou);
  case 1:
    return g_strdup_printf("%u", best->epoch + 1);
  case 2:
    return tm_words_value((double)best->val_loss);
  case 3:
    return g_strdup_printf("%.3f", (double)best->accuracy);
  case 4:
    return tm_words_count(r->steps);
  default:
    return last ? tm_words_duration((double)last->seconds) : g_strdup("–");
  }
}

static void show_results(Pair *p) {
  static const char *const names[] = {N_("Best mean IoU"),        N_("At epoch"), N_("Validation loss there"),
                                      N_("Pixel accuracy there"), N_("Steps"),    N_("Training")};
  GtkWidget *grid = grid_new(p, _("Results"));
  for (int row = 0; row < (int)G_N_ELEMENTS(names); row++) {
    cell(grid, 0, row + 1, _(names[row]), FALSE);
    for (int i = 0; i < N_RUNS; i++) {
      g_autofree char *text = result_of(&p->run[i], row);
      cell(grid, i + 1, row + 1, text, FALSE);
    }
  }
}

static char *value_words(const TmSettings *s, const TmOption *o) {
  g_autofree char *text = tm_settings_get(s, o->key);
  if (o->type == TM_OPTION_CHOICE) return g_strdup(tm_settings_choice_text(text));
  if (o->type == TM_OPTION_BOOL) return g_strdup(strcmp(text, "true") == 0 ? _("On") : _("Off"));
  return g_steal_pointer(&text);
}

static void show_settings(Pair *p) {
  guint n;
  int row = 0;
  const TmOption *options = tm_options(&n);
  GtkWidget *grid = grid_new(p, _("Settings that differ"));
  for (guint k = 0; k < n; k++) {
    g_autofree char *a = value_words(&p->run[0].settings, &options[k]), *b = value_words(&p->run[1].settings, &options[k]);
    if (strcmp(a, b) == 0) continue;
    cell(grid, 0, ++row, _(options[k].label), FALSE);
    cell(grid, 1, row, a, FALSE);
    cell(grid, 2, row, b, FALSE);
  }
  if (row == 0) cell(grid, 0, 1, _("None: all settings are the same."), FALSE);
}

static void add_curve(TmPlot *plot, const Run *r, guint pane, TmInk ink, gboolean dashed, const char *name,
                      double (*value)(const TmEpochRow *)) {
  g_autoptr(TmSeries) s = tm_series_new();
  for (guint i = 0; i < r->epochs->len; i++) {
    const TmEpochRow *e = &g_array_index(r->epochs, TmEpochRow, i);
    tm_series_add(s, (double)e->step, e->epoch + 1.0, (double)e->seconds / 60, value(e));
  }
  const TmPlotStyle style = {.name = name, .ink = ink, .pane = pane, .dots = TRUE, .dash = {dashed ? 6 : 0, dashed ? 3.5 : 0}};
  tm_plot_add_series(plot, s, &style);
}

static double val_loss(const TmEpochRow *e) { return (double)e->val_loss; }
static double mean_iou(const TmEpochRow *e) { return (double)e->miou; }

static void show_curves(Pair *p) {
  TmPlot *plot = tm_plot_new();
  tm_plot_add_pane(plot, _("Validation loss"), NULL, 0.5);
  tm_plot_add_pane(plot, _("Mean IoU, validation"), NULL, 0.5);
  for (int i = 0; i < N_RUNS; i++) {
    const TmInk ink = i ? TM_INK_VALIDATION : TM_INK_TRAINING;
    const char *name = g_intern_string(p->run[i].title); /* the plot keeps no copy */
    add_curve(plot, &p->run[i], 0, ink, i > 0, name, val_loss);
    add_curve(plot, &p->run[i], 1, ink, i > 0, name, mean_iou);
  }
  gtk_widget_set_size_request(GTK_WIDGET(plot), -1, 380);
  gtk_accessible_update_property(GTK_ACCESSIBLE(plot), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Curves of both runs"), -1);
  gtk_box_append(GTK_BOX(p->box), GTK_WIDGET(plot));
}

static void both_read(GObject *source, GAsyncResult *result, gpointer user) {
  (void)user;
  Pair *p = g_task_get_task_data(G_TASK(result));
  g_autoptr(GError) error = NULL;
  if (!gtk_widget_get_mapped(GTK_WIDGET(source))) return; /* closed meanwhile */
  if (!g_task_propagate_boolean(G_TASK(result), &error)) {
    GtkWidget *l = gtk_label_new(error->message);
    gtk_label_set_wrap(GTK_LABEL(l), TRUE);
    gtk_box_append(GTK_BOX(p->box), l);
    return;
  }
  show_curves(p);
  show_results(p);
  show_settings(p);
}

void tm_compare_window_show(GtkWindow *parent, const char *run, const char *other) {
  GtkWidget *window = adw_window_new(), *page = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0), *scroller = gtk_scrolled_window_new(),
            *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 10), *header = adw_header_bar_new();
  gtk_window_set_title(GTK_WINDOW(window), _("Compare Runs"));
  gtk_window_set_default_size(GTK_WINDOW(window), 720, 760);
  gtk_window_set_transient_for(GTK_WINDOW(window), parent);
  gtk_widget_set_margin_start(box, 18);
  gtk_widget_set_margin_end(box, 18);
  gtk_widget_set_margin_top(box, 12);
  gtk_widget_set_margin_bottom(box, 18);
  gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), box);
  gtk_widget_set_vexpand(scroller, TRUE);
  gtk_box_append(GTK_BOX(page), header);
  gtk_box_append(GTK_BOX(page), scroller);
  adw_window_set_content(ADW_WINDOW(window), page);
  Pair *p = g_new0(Pair, 1);
  p->folder[0] = g_strdup(run);
  p->folder[1] = g_strdup(other);
  p->box = box;
  g_autoptr(GTask) task = g_task_new(window, NULL, both_read, NULL);
  g_task_set_task_data(task, p, pair_free);
  g_task_run_in_thread(task, read_both);
  gtk_window_present(GTK_WINDOW(window));
}
