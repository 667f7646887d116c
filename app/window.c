#include "app/window.h"

#include <glib/gi18n.h>
#include <math.h>

#include "app/compare_window.h"
#include "app/device_line.h"
#include "app/frame_times.h"
#include "app/nav_list.h"
#include "app/page_data.h"
#include "app/page_devices.h"
#include "app/page_evaluate.h"
#include "app/page_predict.h"
#include "app/page_train.h"
#include "app/project_card.h"
#include "app/runs_view.h"
#include "app/run_words.h"
#include "app/welcome.h"
#include "app/preferences.h"
#include "app/window_state.h"
#include "engine/run/run_dir.h"
#include "ui/adaptive.h"
#include "ui/meter.h"

/* The pages, in the order of the sidebar. */
static const struct {
  const char *name, *icon, *title;
  TmPage *(*make)(TmProject *project);
} pages[] = {
    {"data", "tm-data-symbolic", N_("Data"), tm_page_data_new},
    {"train", "tm-train-symbolic", N_("Train"), tm_page_train_new},
    {"evaluate", "tm-evaluate-symbolic", N_("Evaluate"), tm_page_evaluate_new},
    {"predict", "tm-predict-symbolic", N_("Predict"), tm_page_predict_new},
    {"devices", "tm-devices-symbolic", N_("Devices"), tm_page_devices_new},
};

enum { N_PAGES = G_N_ELEMENTS(pages), METER_SAMPLES = 4 * TM_SPARK_SECONDS + 8, UNDO_SECONDS = 8 };

struct _TmWindow {
  AdwApplicationWindow parent;
  GtkWidget *toasts, *root, *welcome_bin, *leaflet, *sidebar, *sidebar_header, *menu, *content_bin, *stack;
  TmProjectCard *project_card;
  TmNavList *nav;
  TmDeviceLine *device;
  TmRunsView *runs;
  char *removed; /* the run that was put aside last */
  GMenuModel *main_menu, *project_menu;
  TmPage *page[N_PAGES];
  TmPageTrain *train; /* one of the pages; NULL once the window is disposed of */
  TmWelcome *welcome;
  TmProject *project;
  gboolean opening; /* told of its end by project_changed() */
  AdwToast *toast;  /* with a way back; only compared */
  TmMonitor *monitor;
  guint meter_source;
  guint inhibit; /* cookie while a run is alive */
  gboolean closing;
  TmTrainerState last_state;
};

G_DEFINE_FINAL_TYPE(TmWindow, tm_window, ADW_TYPE_APPLICATION_WINDOW)

/* ---- pages ---- */

static void show_page(TmWindow *w, const char *name) {
  if (!gtk_stack_get_child_by_name(GTK_STACK(w->stack), name)) return;
  tm_nav_list_select(w->nav, name);
  gtk_stack_set_visible_child_name(GTK_STACK(w->stack), name);
  adw_leaflet_set_visible_child_name(ADW_LEAFLET(w->leaflet), "content");
}

static void page_badge(TmPage *page, const char *text, const char *name, gboolean warning, TmWindow *w) {
  tm_nav_list_set_badge(w->nav, gtk_widget_get_name(GTK_WIDGET(page)), text, name, warning);
}

static void folded(TmWindow *w) {
  gboolean f = adw_leaflet_get_folded(ADW_LEAFLET(w->leaflet));
  for (int i = 0; i < N_PAGES; i++) tm_page_set_folded(w->page[i], f);
}

static void make_pages(TmWindow *w) {
  for (int i = 0; i < N_PAGES; i++) {
    TmPage *page = w->page[i] = pages[i].make(w->project);
    gtk_widget_set_name(GTK_WIDGET(page), pages[i].name);
    tm_nav_list_add(w->nav, pages[i].name, pages[i].icon, _(pages[i].title));
    gtk_stack_add_named(GTK_STACK(w->stack), GTK_WIDGET(page), pages[i].name);
    g_signal_connect_object(page, "badge", G_CALLBACK(page_badge), w, 0);
    GActionGroup *actions = tm_page_actions(page);
    if (actions) gtk_widget_insert_action_group(GTK_WIDGET(w), pages[i].name, actions);
    if (TM_IS_PAGE_TRAIN(page)) w->train = TM_PAGE_TRAIN(page);
  }
}

/* ---- projects ---- */

static void show_welcome(TmWindow *w, gboolean welcome) {
  tm_welcome_set_can_go_back(w->welcome, tm_project_dataset(w->project) != NULL);
  gtk_stack_set_visible_child_name(GTK_STACK(w->root), welcome ? "welcome" : "studio");
}

/* Where opening ends in nothing, the welcome says why. */
static void project_changed(TmWindow *w) {
  const TmProjectState state = tm_project_state(w->project);
  if (state == TM_PROJECT_OPENING || !w->opening) return;
  w->opening = FALSE;
  if (state != TM_PROJECT_FAILED) return;
  tm_welcome_set_error(w->welcome, tm_project_error(w->project));
  show_welcome(w, TRUE);
}

static void open_path(TmWindow *w, const char *path, const TmDatasetOptions *options) {
  w->opening = TRUE;
  tm_welcome_set_error(w->welcome, NULL);
  tm_project_open(w->project, path, options);
  show_welcome(w, FALSE);
}

/* A person who opens something wants to see what is in it. */
static void look_into(TmWindow *w, const char *path) {
  open_path(w, path, NULL);
  show_page(w, "data");
}

static void toast_gone(AdwToast *toast, TmWindow *w) {
  if (w->toast == toast) w->toast = NULL;
}

/* One at a time: the way back is that of the last thing done. */
static void say(TmWindow *w, const char *sentence, const char *undo_action) {
  AdwToast *toast = adw_toast_new(sentence);
  if (undo_action) {
    if (w->toast) adw_toast_dismiss(w->toast);
    w->toast = toast;
    adw_toast_set_button_label(toast, _("Undo"));
    adw_toast_set_action_name(toast, undo_action);
    adw_toast_set_timeout(toast, UNDO_SECONDS);
    g_signal_connect_object(toast, "dismissed", G_CALLBACK(toast_gone), w, 0);
  }
  adw_toast_overlay_add_toast(ADW_TOAST_OVERLAY(w->toasts), toast);
}

static void project_amended(TmWindow *w, const char *sentence) {
  say(w, sentence, "win.undo-change");
}
static void project_trouble(TmWindow *w, const char *sentence) {
  say(w, sentence, NULL);
}
static void project_forgotten(TmWindow *w, const char *sentence) {
  say(w, sentence, "win.undo-forget");
}

static void make_welcome(TmWindow *w) {
  w->welcome = tm_welcome_new(w->main_menu);
  gtk_widget_set_hexpand(GTK_WIDGET(w->welcome), TRUE);
  gtk_box_append(GTK_BOX(w->welcome_bin), GTK_WIDGET(w->welcome));
  g_signal_connect_object(w->welcome, "open", G_CALLBACK(look_into), w, G_CONNECT_SWAPPED);
  g_signal_connect_object(w->welcome, "say", G_CALLBACK(project_forgotten), w, G_CONNECT_SWAPPED);
  g_signal_connect_object(w->project, "changed", G_CALLBACK(project_changed), w, G_CONNECT_SWAPPED);
  g_signal_connect_object(w->project, "amended", G_CALLBACK(project_amended), w, G_CONNECT_SWAPPED);
  g_signal_connect_object(w->project, "trouble", G_CALLBACK(project_trouble), w, G_CONNECT_SWAPPED);
}

/* ---- the runs ---- */

static void show_runs(TmWindow *w) {
  TmDataset *d = tm_project_dataset(w->project);
  g_autofree char *root = d ? tm_run_default_root(tm_dataset_path(d), tm_dataset_title(d)) : NULL;
  tm_runs_view_set_root(w->runs, root);
}

static void run_opened(TmWindow *w, const char *folder) {
  if (tm_page_train_open_run(w->train, folder))
    show_page(w, "train");
  else
    say(w, _("Another run is in training. Stop it before you open this one."), NULL);
}

static void run_compared(TmWindow *w, const char *folder) {
  TmLiveRun *shown = tm_page_train_run(w->train);
  const char *with = shown ? tm_live_run_folder(shown) : NULL;
  if (with && strcmp(with, folder) != 0)
    tm_compare_window_show(GTK_WINDOW(w), with, folder);
  else
    say(w, _("Open another run first: this one is then compared with it."), NULL);
}

static void run_removed(TmWindow *w, const char *folder) {
  g_free(w->removed);
  w->removed = g_strdup(folder);
  say(w, _("Run removed"), "win.undo-remove");
}

static void do_undo_remove(GtkWidget *widget, const char *name, GVariant *v) {
  (void)name;
  (void)v;
  TmWindow *w = TM_WINDOW(widget);
  if (w->removed) tm_runs_view_restore(w->runs, w->removed);
  g_clear_pointer(&w->removed, g_free);
}

static void connect_runs(TmWindow *w) {
  g_signal_connect_object(w->runs, "opened", G_CALLBACK(run_opened), w, G_CONNECT_SWAPPED);
  g_signal_connect_object(w->runs, "compare", G_CALLBACK(run_compared), w, G_CONNECT_SWAPPED);
  g_signal_connect_object(w->runs, "removed", G_CALLBACK(run_removed), w, G_CONNECT_SWAPPED);
  g_signal_connect_object(w->runs, "failed", G_CALLBACK(project_trouble), w, G_CONNECT_SWAPPED);
  g_signal_connect_object(w->project, "changed", G_CALLBACK(show_runs), w, G_CONNECT_SWAPPED);
  show_runs(w);
}

/* ---- what is there again at the next start ---- */

static void keep_state(TmWindow *w) {
  g_auto(TmWindowState) s = {0};
  gtk_window_get_default_size(GTK_WINDOW(w), &s.width, &s.height);
  s.maximized = gtk_window_is_maximized(GTK_WINDOW(w));
  s.page = g_strdup(gtk_stack_get_visible_child_name(GTK_STACK(w->stack)));
  const TmProjectFile *p = tm_project_file(w->project);
  s.project = p ? g_strdup(p->path) : NULL;
  tm_window_state_write(&s);
}

void tm_window_restore(TmWindow *w, gboolean size) {
  g_auto(TmWindowState) s = {0};
  tm_window_state_read(&s);
  if (size && s.width) gtk_window_set_default_size(GTK_WINDOW(w), s.width, s.height);
  if (size && s.maximized) gtk_window_maximize(GTK_WINDOW(w));
  if (!s.project) return;
  open_path(w, s.project, NULL);
  show_page(w, s.page ? s.page : "data");
}

/* ---- the run ---- */

static gboolean run_alive(TmWindow *w) {
  TmLiveRun *r = tm_page_train_run(w->train);
  return r && tm_live_run_alive(r);
}

static void notify_end(TmWindow *w, const TmSnapshot *s) {
  if (gtk_window_is_active(GTK_WINDOW(w)) || w->closing || !tm_preferences_get_flag("notify")) return;
  g_autoptr(GNotification) n =
      g_notification_new(s->state == TM_STATE_FAILED ? _("Training failed") : _("Training finished"));
  g_autofree char *body = s->state == TM_STATE_FAILED ? g_strdup(s->error)
                          : isnan(s->best_miou)       ? tm_run_subtitle(s)
                                                      : g_strdup_printf(_("Best mean IoU %.3f at epoch %u."),
                                                                        s->best_miou, s->best_epoch + 1);
  if (body) g_notification_set_body(n, body);
  g_notification_set_default_action(n, "app.show");
  g_application_send_notification(G_APPLICATION(gtk_window_get_application(GTK_WINDOW(w))), "run-ended", n);
}

static void hold_session(TmWindow *w, gboolean hold) {
  GtkApplication *app = gtk_window_get_application(GTK_WINDOW(w));
  const GtkApplicationInhibitFlags awake =
      tm_preferences_get_flag("keep-awake") ? GTK_APPLICATION_INHIBIT_SUSPEND : 0;
  if (hold && !w->inhibit && app)
    w->inhibit = gtk_application_inhibit(app, GTK_WINDOW(w),
                                         GTK_APPLICATION_INHIBIT_LOGOUT | awake,
                                         _("A network is in training"));
  if (!hold && w->inhibit) {
    if (app) gtk_application_uninhibit(app, w->inhibit);
    w->inhibit = 0;
  }
}

static void run_changed(TmWindow *w) {
  TmLiveRun *r = tm_page_train_run(w->train);
  const TmSnapshot *s = r ? tm_live_run_snapshot(r) : NULL;
  gboolean alive = run_alive(w);
  hold_session(w, alive);
  g_autofree char *words = alive ? tm_run_subtitle(s) : NULL;
  tm_runs_view_set_live(w->runs, alive ? tm_live_run_folder(r) : NULL, words);
  TmTrainerState state = s && !tm_live_run_is_past(r) ? s->state : TM_STATE_IDLE;
  if (state != w->last_state) tm_runs_view_refresh(w->runs);
  if (state != w->last_state && (state == TM_STATE_FINISHED || state == TM_STATE_FAILED)) notify_end(w, s);
  w->last_state = state;
  if (w->monitor && s && s->device_uuid) tm_monitor_follow(w->monitor, s->device_uuid);
  if (w->closing && !alive) gtk_window_destroy(GTK_WINDOW(w));
}

/* ---- meters ---- */

static gboolean update_meters(gpointer user) {
  TmWindow *w = user;
  if (!w->monitor || !gtk_widget_get_mapped(GTK_WIDGET(w))) return G_SOURCE_CONTINUE;
  TmMonitorSample samples[METER_SAMPLES];
  guint n = tm_monitor_read(w->monitor, samples, METER_SAMPLES);
  tm_device_line_update(w->device, samples, n);
  for (int i = 0; i < N_PAGES; i++) tm_page_update_meters(w->page[i], samples, n);
  return G_SOURCE_CONTINUE;
}

/* Looking the machine over loads the driver's library: away from the main loop. */
typedef struct {
  TmMachine machine;
  TmMonitor *monitor;
} Found;

static void found_free(gpointer data) {
  Found *f = data;
  tm_machine_clear(&f->machine);
  g_clear_pointer(&f->monitor, tm_monitor_free);
  g_free(f);
}

static void look(GTask *task, gpointer source, gpointer data, GCancellable *cancel) {
  (void)source;
  (void)data;
  (void)cancel;
  Found *f = g_new0(Found, 1);
  tm_machine_read(&f->machine);
  f->monitor = tm_monitor_new();
  g_task_return_pointer(task, f, found_free);
}

static void looked(GObject *source, GAsyncResult *result, gpointer user) {
  (void)user;
  TmWindow *w = TM_WINDOW(source);
  Found *f = g_task_propagate_pointer(G_TASK(result), NULL);
  if (w->train) {
    w->monitor = g_steal_pointer(&f->monitor);
    tm_device_line_set_machine(w->device, &f->machine);
    tm_welcome_set_machine(w->welcome, &f->machine);
    for (int i = 0; i < N_PAGES; i++) tm_page_set_machine(w->page[i], &f->machine);
    update_meters(w);
  }
  found_free(f);
}

/* ---- closing ---- */

static void end_run(TmWindow *w, TmRunCommand how) {
  w->closing = TRUE;
  keep_state(w);
  TmLiveRun *r = tm_page_train_run(w->train);
  if (!run_alive(w)) {
    gtk_window_destroy(GTK_WINDOW(w));
    return;
  }
  tm_live_run_command(r, how);
  if (how == TM_RUN_STOP_NOW)
    gtk_widget_set_visible(GTK_WIDGET(w), FALSE);
  else
    adw_toast_overlay_add_toast(ADW_TOAST_OVERLAY(w->toasts), adw_toast_new(_("Saving, then closing")));
}

static void close_answered(AdwMessageDialog *dialog, const char *answer, TmWindow *w) {
  (void)dialog;
  if (strcmp(answer, "save") == 0)
    end_run(w, TM_RUN_STOP_SAVE);
  else if (strcmp(answer, "stop") == 0)
    end_run(w, TM_RUN_STOP_NOW);
}

static gboolean close_request(GtkWindow *window) {
  TmWindow *w = TM_WINDOW(window);
  if (w->closing) return run_alive(w);
  keep_state(w);
  if (!run_alive(w)) return FALSE;
  GtkWidget *d = adw_message_dialog_new(window, _("Stop training?"), NULL);
  const TmSnapshot *s = tm_live_run_snapshot(tm_page_train_run(w->train));
  g_autofree char *body =
      g_strdup_printf(_("The run is at epoch %u of %u. Saved, it can go on later where it was, bit for bit."),
                      MIN(s->epoch + 1, s->epochs), s->epochs);
  adw_message_dialog_set_body(ADW_MESSAGE_DIALOG(d), body);
  adw_message_dialog_add_responses(ADW_MESSAGE_DIALOG(d), "keep", _("Keep Training"), "stop", _("Just Stop"),
                                   "save", _("Stop and Save"), NULL);
  adw_message_dialog_set_response_appearance(ADW_MESSAGE_DIALOG(d), "save", ADW_RESPONSE_SUGGESTED);
  adw_message_dialog_set_response_appearance(ADW_MESSAGE_DIALOG(d), "stop", ADW_RESPONSE_DESTRUCTIVE);
  adw_message_dialog_set_default_response(ADW_MESSAGE_DIALOG(d), "save");
  adw_message_dialog_set_close_response(ADW_MESSAGE_DIALOG(d), "keep");
  g_signal_connect_object(d, "response", G_CALLBACK(close_answered), w, 0);
  gtk_window_present(GTK_WINDOW(d));
  return TRUE;
}

void tm_window_save_and_close(TmWindow *w) {
  end_run(w, TM_RUN_STOP_SAVE);
}

/* ---- actions ---- */

static void folder_chosen(GtkNativeDialog *dialog, int answer, TmWindow *w) {
  if (answer == GTK_RESPONSE_ACCEPT) {
    g_autoptr(GFile) file = gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog));
    g_autofree char *path = file ? g_file_get_path(file) : NULL;
    if (path) look_into(w, path);
  }
  g_object_unref(dialog);
}

static void do_open(GtkWidget *widget, const char *name, GVariant *v) {
  (void)name;
  (void)v;
  GtkFileChooserNative *d =
      gtk_file_chooser_native_new(_("Open a Dataset Folder"), GTK_WINDOW(widget),
                                  GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER, _("_Open"), NULL);
  gtk_native_dialog_set_modal(GTK_NATIVE_DIALOG(d), TRUE);
  g_signal_connect_object(d, "response", G_CALLBACK(folder_chosen), widget, 0);
  gtk_native_dialog_show(GTK_NATIVE_DIALOG(d));
}

static void do_demo(GtkWidget *widget, const char *name, GVariant *v) {
  (void)name;
  (void)v;
  open_path(TM_WINDOW(widget), "demo", &(TmDatasetOptions){.val_fraction = 0.2f});
  show_page(TM_WINDOW(widget), "data");
}

static void do_welcome(GtkWidget *widget, const char *name, GVariant *v) {
  (void)name;
  (void)v;
  show_welcome(TM_WINDOW(widget), TRUE);
}

static void do_undo_change(GtkWidget *widget, const char *name, GVariant *v) {
  (void)name;
  (void)v;
  tm_project_undo(TM_WINDOW(widget)->project);
}

static void do_undo_forget(GtkWidget *widget, const char *name, GVariant *v) {
  (void)name;
  (void)v;
  tm_welcome_undo(TM_WINDOW(widget)->welcome);
}

static void do_rescan(GtkWidget *widget, const char *name, GVariant *v) {
  (void)name;
  (void)v;
  tm_project_rescan(TM_WINDOW(widget)->project);
}

static void do_cancel_scan(GtkWidget *widget, const char *name, GVariant *v) {
  (void)name;
  (void)v;
  tm_project_cancel(TM_WINDOW(widget)->project);
}

static void do_page(GtkWidget *widget, const char *name, GVariant *v) {
  (void)name;
  TmWindow *w = TM_WINDOW(widget);
  show_page(w, g_variant_get_string(v, NULL));
  if (tm_project_dataset(w->project)) show_welcome(w, FALSE);
}

static void do_back(GtkWidget *widget, const char *name, GVariant *v) {
  (void)name;
  (void)v;
  TmWindow *w = TM_WINDOW(widget);
  if (strcmp(gtk_stack_get_visible_child_name(GTK_STACK(w->root)), "studio") == 0)
    adw_leaflet_navigate(ADW_LEAFLET(w->leaflet), ADW_NAVIGATION_DIRECTION_BACK);
  else if (tm_project_dataset(w->project))
    show_welcome(w, FALSE);
}

static void do_panel(GtkWidget *widget, const char *name, GVariant *v) {
  (void)name;
  (void)v;
  tm_page_toggle_panel(TM_PAGE(gtk_stack_get_visible_child(GTK_STACK(TM_WINDOW(widget)->stack))));
}

/* F5 and Ctrl+. mean what the page on the screen makes of them; a page without has the run in mind. */
static void page_action(TmWindow *w, const char *action) {
  GActionGroup *group = tm_page_actions(TM_PAGE(gtk_stack_get_visible_child(GTK_STACK(w->stack))));
  if (!group || !g_action_group_has_action(group, action)) group = tm_page_actions(TM_PAGE(w->train));
  g_action_group_activate_action(group, action, NULL);
}

static void do_go(GtkWidget *widget, const char *name, GVariant *v) {
  (void)name;
  (void)v;
  page_action(TM_WINDOW(widget), "go");
}

static void do_stop(GtkWidget *widget, const char *name, GVariant *v) {
  (void)name;
  (void)v;
  page_action(TM_WINDOW(widget), "stop");
}

static void do_fullscreen(GtkWidget *widget, const char *name, GVariant *v) {
  (void)name;
  (void)v;
  if (gtk_window_is_fullscreen(GTK_WINDOW(widget)))
    gtk_window_unfullscreen(GTK_WINDOW(widget));
  else
    gtk_window_fullscreen(GTK_WINDOW(widget));
}

/* ---- the type ---- */

static void dispose(GObject *o) {
  TmWindow *w = TM_WINDOW(o);
  g_clear_handle_id(&w->meter_source, g_source_remove);
  hold_session(w, FALSE);
  if (w->train) g_signal_handlers_disconnect_by_data(w->train, w);
  w->train = NULL;
  g_clear_pointer(&w->removed, g_free);
  g_clear_object(&w->project);
  g_clear_pointer(&w->monitor, tm_monitor_free);
  gtk_widget_dispose_template(GTK_WIDGET(o), TM_TYPE_WINDOW);
  G_OBJECT_CLASS(tm_window_parent_class)->dispose(o);
}

static void tm_window_class_init(TmWindowClass *c) {
  GtkWidgetClass *wc = GTK_WIDGET_CLASS(c);
  G_OBJECT_CLASS(c)->dispose = dispose;
  GTK_WINDOW_CLASS(c)->close_request = close_request;
  g_type_ensure(TM_TYPE_ADAPTIVE);
  g_type_ensure(TM_TYPE_DEVICE_LINE);
  g_type_ensure(TM_TYPE_NAV_LIST);
  g_type_ensure(TM_TYPE_PROJECT_CARD);
  g_type_ensure(TM_TYPE_RUNS_VIEW);
  gtk_widget_class_set_template_from_resource(wc, "/io/github/tarmac/Tarmac/window.ui");
#define BIND(name) gtk_widget_class_bind_template_child(wc, TmWindow, name)
  BIND(toasts), BIND(root), BIND(welcome_bin), BIND(main_menu), BIND(leaflet), BIND(sidebar),
      BIND(sidebar_header), BIND(menu), BIND(content_bin), BIND(stack);
  BIND(project_card), BIND(nav), BIND(runs), BIND(device), BIND(project_menu);
#undef BIND
  gtk_widget_class_install_action(wc, "win.open", NULL, do_open);
  gtk_widget_class_install_action(wc, "win.demo", NULL, do_demo);
  gtk_widget_class_install_action(wc, "win.welcome", NULL, do_welcome);
  gtk_widget_class_install_action(wc, "win.undo-remove", NULL, do_undo_remove);
  gtk_widget_class_install_action(wc, "win.undo-change", NULL, do_undo_change);
  gtk_widget_class_install_action(wc, "win.undo-forget", NULL, do_undo_forget);
  gtk_widget_class_install_action(wc, "win.rescan", NULL, do_rescan);
  gtk_widget_class_install_action(wc, "win.cancel-scan", NULL, do_cancel_scan);
  gtk_widget_class_install_action(wc, "win.page", "s", do_page);
  gtk_widget_class_install_action(wc, "win.back", NULL, do_back);
  gtk_widget_class_install_action(wc, "win.panel", NULL, do_panel);
  gtk_widget_class_install_action(wc, "win.go", NULL, do_go);
  gtk_widget_class_install_action(wc, "win.stop", NULL, do_stop);
  gtk_widget_class_install_action(wc, "win.fullscreen", NULL, do_fullscreen);
}

static void tm_window_init(TmWindow *w) {
  gtk_widget_init_template(GTK_WIDGET(w));
  w->project = tm_project_new();
  tm_project_card_set_project(w->project_card, w->project, w->project_menu);
  make_welcome(w);
  make_pages(w);
  connect_runs(w);
  g_signal_connect_swapped(w->train, "run-changed", G_CALLBACK(run_changed), w);
  g_signal_connect_swapped(w->nav, "chosen", G_CALLBACK(show_page), w);
  g_signal_connect_swapped(w->leaflet, "notify::folded", G_CALLBACK(folded), w);
  show_page(w, "train");
  folded(w);
  tm_frame_times_watch(GTK_WIDGET(w));
  g_autoptr(GTask) task = g_task_new(w, NULL, looked, NULL);
  g_task_run_in_thread(task, look);
  w->meter_source = g_timeout_add_seconds(1, update_meters, w);
}

const char *tm_window_page(guint n) {
  return n < N_PAGES ? pages[n].name : NULL;
}

TmWindow *tm_window_new(GtkApplication *app) {
  return g_object_new(TM_TYPE_WINDOW, "application", app, NULL);
}

void tm_window_open(TmWindow *w, const char *path, const TmDatasetOptions *options) {
  open_path(w, path, options);
}
