/* Before a run begins: the schedule, what it will take, and the test that finds its learning rate. */
#include <glib/gi18n.h>
#include <math.h>

#include "app/page_train_private.h"
#include "app/range_test.h"

enum { SETTLED_MS = 500 };

/* ---- the estimate: on a thread, for the settings that have settled ---- */

typedef struct {
  TmDataset *dataset;
  TmScan scan;
  TmSettings settings;
} Wanted;

static void wanted_free(gpointer data) {
  Wanted *w = data;
  tm_dataset_unref(w->dataset);
  g_free(w->scan.leave_out);
  g_free(w);
}

static void estimate(GTask *task, gpointer source, gpointer data, GCancellable *cancel) {
  (void)source;
  (void)cancel;
  Wanted *w = data;
  GError *error = NULL;
  TmEstimate *e = tm_estimate_new(w->dataset, &w->scan, &w->settings, &error);
  if (e)
    g_task_return_pointer(task, e, (GDestroyNotify)tm_estimate_free);
  else
    g_task_return_error(task, error);
}

static void estimated(GObject *source, GAsyncResult *result, gpointer user) {
  (void)user;
  TmPageTrain *p = TM_PAGE_TRAIN(source);
  g_autoptr(GError) error = NULL;
  g_autoptr(TmEstimate) e = g_task_propagate_pointer(G_TASK(result), &error);
  const Wanted *w = g_task_get_task_data(G_TASK(result));
  if (!p->probes) return; /* disposed of meanwhile */
  p->estimating = FALSE;
  tm_plan_view_set(p->plan, e, error ? error->message : NULL, (guint)w->settings.epochs, p->room);
  if (p->estimate_again) tm_page_train_replan(p);
}

static gboolean plan_now(gpointer user) {
  TmPageTrain *p = user;
  p->plan_source = 0;
  const TmScan *scan = tm_project_scan(p->project);
  TmDataset *d = tm_project_dataset(p->project);
  if (!d || !scan || (p->run && tm_live_run_alive(p->run))) return G_SOURCE_REMOVE;
  p->estimate_again = p->estimating; /* one at a time */
  if (p->estimating) return G_SOURCE_REMOVE;
  p->estimating = TRUE;
  Wanted *w = g_new0(Wanted, 1);
  w->dataset = tm_dataset_ref(d);
  w->scan = *scan;
  w->scan.findings = NULL;
  w->scan.leave_out = g_memdup2(scan->leave_out, scan->n_entries * sizeof *scan->leave_out);
  tm_settings_form_get(p->form, &w->settings);
  g_autoptr(GTask) task = g_task_new(p, NULL, estimated, NULL);
  g_task_set_task_data(task, w, wanted_free);
  g_task_run_in_thread(task, estimate);
  return G_SOURCE_REMOVE;
}

void tm_page_train_replan(TmPageTrain *p) {
  TmSettings s;
  tm_settings_form_get(p->form, &s);
  tm_schedule_view_set(p->schedule, &s, 1, NAN);
  g_clear_handle_id(&p->plan_source, g_source_remove);
  p->plan_source = g_timeout_add(SETTLED_MS, plan_now, p);
}

/* ---- the range test ---- */

static void close_sheet(TmPageTrain *p) {
  g_clear_pointer(&p->range, tm_range_test_free);
  tm_curves_show_sheet(p->curves, FALSE);
  if (p->range_pauses && p->run && tm_live_run_alive(p->run)) tm_live_run_command(p->run, TM_RUN_RESUME);
  p->range_pauses = FALSE;
  tm_page_train_refresh(p);
}

static void use_rate(TmPageTrain *p, double rate) {
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  g_ascii_formatd(text, sizeof text, "%.2g", rate);
  if (p->run && tm_live_run_alive(p->run)) {
    tm_live_run_change(p->run, "lr", text, FALSE);
  } else {
    TmSettings s;
    tm_settings_form_get(p->form, &s);
    s.lr = g_ascii_strtod(text, NULL);
    tm_settings_form_set(p->form, &s);
    p->preset_chosen = TRUE;
    tm_page_train_replan(p);
  }
  close_sheet(p);
}

static void range_changed(TmRangeTest *t, gpointer user) {
  TmPageTrain *p = user;
  g_autoptr(GArray) rates = g_array_new(FALSE, FALSE, sizeof(double)), losses = g_array_new(FALSE, FALSE, sizeof(double));
  const guint total = tm_range_test_points(t, rates, losses);
  if (!tm_range_test_ended(t)) {
    tm_range_sheet_set_points(p->sheet, (const double *)(const void *)rates->data, (const double *)(const void *)losses->data, NULL,
                              rates->len, total);
    return;
  }
  const GError *error = NULL;
  const TmLrRange *r = tm_range_test_result(t, &error);
  if (r) tm_range_sheet_set_points(p->sheet, r->rate, r->loss, r->smooth, r->n, 0);
  tm_range_sheet_end(p->sheet, r ? r->suggested : NAN, r ? r->reason : error ? error->message : NULL);
}

void tm_page_train_test_range(TmPageTrain *p) {
  const gboolean alive = p->run && tm_live_run_alive(p->run);
  TmDataset *d = alive ? tm_live_run_dataset(p->run) : tm_project_dataset(p->project);
  if (p->range || !d) return;
  TmSettings s;
  tm_settings_form_get(p->form, &s);
  if (alive) {
    const TmSnapshot *now = tm_live_run_snapshot(p->run);
    s = now->settings;
    p->range_pauses = now->state != TM_STATE_PAUSED;
    if (p->range_pauses) tm_live_run_command(p->run, TM_RUN_PAUSE);
  }
  tm_range_sheet_begin(p->sheet, _("Preparing the test on a network of its own; nothing of your run is touched."));
  tm_curves_show_sheet(p->curves, TRUE);
  p->range = tm_range_test_new(d, d == tm_project_dataset(p->project) ? tm_project_scan(p->project) : NULL, &s, range_changed, p);
  tm_page_train_refresh(p);
}

/* ---- making ---- */

static GtkWidget *head_new(const char *title) {
  GtkWidget *l = gtk_label_new(title);
  gtk_label_set_xalign(GTK_LABEL(l), 0);
  gtk_widget_set_hexpand(l, TRUE);
  gtk_widget_add_css_class(l, "tm-small");
  gtk_widget_add_css_class(l, "tm-strong");
  return l;
}

void tm_page_train_make_plan(TmPageTrain *p) {
  GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6), *test = gtk_button_new_with_label(_("Find the Rate…"));
  gtk_actionable_set_action_name(GTK_ACTIONABLE(test), "train.range-test");
  gtk_widget_set_tooltip_text(test, _("Tries learning rates from small to large on a network of its own and suggests one"));
  p->before = gtk_box_new(GTK_ORIENTATION_VERTICAL, 8);
  p->schedule = TM_SCHEDULE_VIEW(tm_schedule_view_new());
  p->plan = TM_PLAN_VIEW(tm_plan_view_new());
  gtk_box_append(GTK_BOX(line), head_new(_("Rate schedule")));
  gtk_box_append(GTK_BOX(line), test);
  gtk_box_append(GTK_BOX(p->before), line);
  gtk_box_append(GTK_BOX(p->before), GTK_WIDGET(p->schedule));
  gtk_box_append(GTK_BOX(p->before), GTK_WIDGET(p->plan));
  gtk_box_append(GTK_BOX(p->panel_box), p->before);
  p->sheet = TM_RANGE_SHEET(tm_range_sheet_new());
  tm_curves_set_sheet(p->curves, GTK_WIDGET(p->sheet));
  g_signal_connect_swapped(p->sheet, "closed", G_CALLBACK(close_sheet), p);
  g_signal_connect_object(p->sheet, "use", G_CALLBACK(use_rate), p, G_CONNECT_SWAPPED);
}

void tm_page_train_end_plan(TmPageTrain *p) {
  g_clear_handle_id(&p->plan_source, g_source_remove);
  g_clear_pointer(&p->range, tm_range_test_free);
}
