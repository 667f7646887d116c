#include "app/window.h"

#include <glib/gi18n.h>
#include <math.h>

#include "app/page_data.h"
#include "app/page_train.h"
#include "app/run_words.h"
#include "ui/adaptive.h"
#include "ui/mask_view.h"
#include "ui/meter.h"
#include "ui/thumbs.h"
#include "ui/words.h"

typedef enum { PAGE_DATA, PAGE_TRAIN, N_PAGES } Page;
enum { METER_SAMPLES = 4 * TM_SPARK_SECONDS + 8 };

struct _TmWindow {
  AdwApplicationWindow parent;
  GtkWidget *toasts, *leaflet, *sidebar, *sidebar_header, *menu, *project_button, *project_box,
      *project_title, *project_subtitle, *pages, *device, *device_name, *device_text, *content_bin, *stack;
  GtkWidget *row[N_PAGES], *badge[N_PAGES];
  TmPageTrain *train;
  TmPageData *data;
  TmSpark *spark;
  TmMaskView *picture; /* of the project */
  TmProject *project;
  TmDataset *shown; /* only compared */
  TmThumbs *thumbs; /* for the project's picture */
  TmMonitor *monitor;
  gboolean has_gpu;
  gsize memory, gpu_memory;
  guint meter_source;
  guint inhibit; /* cookie while a run is alive */
  gboolean closing;
  TmTrainerState last_state;
};

G_DEFINE_FINAL_TYPE(TmWindow, tm_window, ADW_TYPE_APPLICATION_WINDOW)

static const char *const page_names[N_PAGES] = {"data", "train"};

/* ---- pages ---- */

static void show_page(TmWindow *w, Page page) {
  gtk_list_box_select_row(GTK_LIST_BOX(w->pages), GTK_LIST_BOX_ROW(w->row[page]));
  gtk_stack_set_visible_child_name(GTK_STACK(w->stack), page_names[page]);
  adw_leaflet_set_visible_child_name(ADW_LEAFLET(w->leaflet), "content");
}

static void row_activated(GtkListBox *list, GtkListBoxRow *row, TmWindow *w) {
  (void)list;
  show_page(w, (Page)gtk_list_box_row_get_index(row));
}

static void make_row(TmWindow *w, Page page, const char *icon, const char *name) {
  GtkWidget *row = gtk_list_box_row_new(), *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12),
            *label = gtk_label_new(name);
  gtk_label_set_xalign(GTK_LABEL(label), 0);
  gtk_widget_set_hexpand(label, TRUE);
  w->badge[page] = gtk_label_new(NULL);
  gtk_widget_add_css_class(w->badge[page], "tm-pill");
  gtk_widget_add_css_class(w->badge[page], "numeric");
  gtk_widget_set_valign(w->badge[page], GTK_ALIGN_CENTER);
  gtk_widget_set_visible(w->badge[page], FALSE);
  gtk_box_append(GTK_BOX(box), gtk_image_new_from_icon_name(icon));
  gtk_box_append(GTK_BOX(box), label);
  gtk_box_append(GTK_BOX(box), w->badge[page]);
  gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), box);
  gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  g_autofree char *tip = g_strdup_printf(_("%s (Alt+%d)"), name, (int)page + 1);
  gtk_widget_set_tooltip_text(row, tip);
  gtk_list_box_append(GTK_LIST_BOX(w->pages), row);
  w->row[page] = row;
}

static void set_badge(TmWindow *w, Page page, const char *text, const char *name, gboolean warning) {
  gtk_widget_set_visible(w->badge[page], text != NULL);
  gtk_label_set_label(GTK_LABEL(w->badge[page]), text ? text : "");
  if (warning)
    gtk_widget_add_css_class(w->badge[page], "warning");
  else
    gtk_widget_remove_css_class(w->badge[page], "warning");
  gtk_accessible_update_property(GTK_ACCESSIBLE(w->row[page]), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
}

static void folded(TmWindow *w) {
  gboolean f = adw_leaflet_get_folded(ADW_LEAFLET(w->leaflet));
  tm_page_train_set_folded(w->train, f);
  tm_page_data_set_folded(w->data, f);
}

/* ---- project ---- */

static void thumb_ready(guint entry, TmScene *scene, const GError *error, gpointer user) {
  (void)entry;
  (void)error;
  tm_mask_view_set_scene(TM_WINDOW(user)->picture, scene);
}

static void show_project(TmWindow *w) {
  TmDataset *d = tm_project_dataset(w->project);
  const char *title = d ? tm_dataset_title(d) : _("No dataset");
  gtk_label_set_label(GTK_LABEL(w->project_title), title);
  g_autofree char *n = d ? tm_words_count(tm_dataset_n(d)) : NULL;
  guint classes = d ? tm_dataset_classes(d)->n : 0;
  g_autofree char *text =
      d ? g_strdup_printf(ngettext("%s pictures · %u class", "%s pictures · %u classes", classes), n, classes)
        : g_strdup(tm_project_state(w->project) == TM_PROJECT_OPENING ? _("Opening…") : _("Open a folder"));
  gtk_label_set_label(GTK_LABEL(w->project_subtitle), text);
  g_autofree char *name = g_strdup_printf(_("Project %s, %s"), title, text);
  gtk_accessible_update_property(GTK_ACCESSIBLE(w->project_button), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  if (d == w->shown) return;
  w->shown = d;
  tm_mask_view_set_scene(w->picture, NULL);
  g_clear_pointer(&w->thumbs, tm_thumbs_free);
  if (!d || !tm_dataset_n(d)) return;
  w->thumbs = tm_thumbs_new(d, 96, 1 << 20);
  guint id;
  g_autoptr(TmScene) kept G_GNUC_UNUSED = tm_thumbs_request(w->thumbs, 0, thumb_ready, w, &id);
}

static void project_changed(TmWindow *w) {
  show_project(w);
  const TmScan *s = tm_project_scan(w->project);
  guint open = 0;
  for (guint i = 0; s && i < s->findings->len; i++)
    open += ((TmFinding *)s->findings->pdata[i])->kind != TM_FINDING_NOTE;
  g_autofree char *text = open ? g_strdup_printf("%u", open) : NULL;
  g_autofree char *name = open
                              ? g_strdup_printf(ngettext("Data, %u finding", "Data, %u findings", open), open)
                              : g_strdup(_("Data"));
  set_badge(w, PAGE_DATA, text, name, TRUE);
}

/* ---- the run ---- */

static gboolean run_alive(TmWindow *w) {
  TmLiveRun *r = tm_page_train_run(w->train);
  return r && tm_live_run_alive(r);
}

static void notify_end(TmWindow *w, const TmSnapshot *s) {
  if (gtk_window_is_active(GTK_WINDOW(w)) || w->closing) return;
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
  if (hold && !w->inhibit && app)
    w->inhibit = gtk_application_inhibit(app, GTK_WINDOW(w),
                                         GTK_APPLICATION_INHIBIT_LOGOUT | GTK_APPLICATION_INHIBIT_SUSPEND,
                                         _("A network is in training"));
  if (!hold && w->inhibit) {
    if (app) gtk_application_uninhibit(app, w->inhibit);
    w->inhibit = 0;
  }
}

static void run_changed(TmWindow *w) {
  TmLiveRun *r = tm_page_train_run(w->train);
  const TmSnapshot *s = r ? tm_live_run_snapshot(r) : NULL;
  g_autofree char *badge = s ? tm_run_badge(s) : NULL, *sub = s ? tm_run_subtitle(s) : NULL;
  g_autofree char *name = sub ? g_strdup_printf(_("Train, %s"), sub) : g_strdup(_("Train"));
  set_badge(w, PAGE_TRAIN, badge, name, FALSE);
  gboolean alive = run_alive(w);
  hold_session(w, alive);
  TmTrainerState state = s ? s->state : TM_STATE_IDLE;
  if (state != w->last_state && (state == TM_STATE_FINISHED || state == TM_STATE_FAILED)) notify_end(w, s);
  w->last_state = state;
  if (w->closing && !alive) gtk_window_destroy(GTK_WINDOW(w));
}

/* ---- meters ---- */

static gboolean update_meters(gpointer user) {
  TmWindow *w = user;
  if (!w->monitor || !gtk_widget_get_mapped(GTK_WIDGET(w))) return G_SOURCE_CONTINUE;
  TmMonitorSample samples[METER_SAMPLES];
  guint n = tm_monitor_read(w->monitor, samples, METER_SAMPLES);
  tm_page_train_update_meters(w->train, samples, n);
  double load = tm_meter_feed(w->spark, w->has_gpu ? TM_READING_GPU_LOAD : TM_READING_CPU_LOAD, samples, n);
  if (!n) return G_SOURCE_CONTINUE;
  const TmMonitorSample *last = &samples[n - 1];
  TmReading memory = w->has_gpu ? TM_READING_GPU_MEMORY : TM_READING_MEMORY,
            heat = w->has_gpu ? TM_READING_GPU_TEMPERATURE : TM_READING_CPU_TEMPERATURE;
  GString *text = g_string_new(NULL);
  g_autofree char *percent = tm_meter_text(TM_READING_CPU_LOAD, load);
  g_string_append(text, percent);
  if (last->valid & (1u << memory)) {
    g_autofree char *used = tm_words_bytes(last->value[memory]),
                    *all = tm_words_bytes((double)(w->has_gpu ? w->gpu_memory : w->memory));
    g_string_append_printf(text, _(" · %s of %s"), used, all);
  }
  if (last->valid & (1u << heat)) {
    g_autofree char *degrees = tm_meter_text(heat, last->value[heat]);
    g_string_append_printf(text, " · %s", degrees);
  }
  gtk_label_set_label(GTK_LABEL(w->device_text), text->str);
  gtk_widget_set_tooltip_text(w->device, text->str);
  gtk_accessible_update_property(GTK_ACCESSIBLE(w->spark), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text->str,
                                 -1);
  g_string_free(text, TRUE);
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
    const TmMachine *m = &f->machine;
    w->monitor = g_steal_pointer(&f->monitor);
    w->has_gpu = m->gpu != NULL;
    w->memory = m->memory;
    w->gpu_memory = m->gpu_memory;
    const char *name = m->gpu ? m->gpu : m->cpu ? m->cpu : _("Processor");
    gtk_label_set_label(GTK_LABEL(w->device_name), name);
    gtk_accessible_update_property(GTK_ACCESSIBLE(w->spark), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
    tm_page_train_set_machine(w->train, m);
    update_meters(w);
  }
  found_free(f);
}

/* ---- closing ---- */

static void end_run(TmWindow *w, TmRunCommand how) {
  w->closing = TRUE;
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
    if (path) tm_window_open(w, path, NULL);
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
  tm_window_open(TM_WINDOW(widget), "demo", NULL);
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
  for (int i = 0; i < N_PAGES; i++)
    if (strcmp(g_variant_get_string(v, NULL), page_names[i]) == 0) show_page(TM_WINDOW(widget), (Page)i);
}

static void do_back(GtkWidget *widget, const char *name, GVariant *v) {
  (void)name;
  (void)v;
  adw_leaflet_navigate(ADW_LEAFLET(TM_WINDOW(widget)->leaflet), ADW_NAVIGATION_DIRECTION_BACK);
}

static void do_panel(GtkWidget *widget, const char *name, GVariant *v) {
  (void)name;
  (void)v;
  TmWindow *w = TM_WINDOW(widget);
  if (strcmp(gtk_stack_get_visible_child_name(GTK_STACK(w->stack)), page_names[PAGE_DATA]) == 0)
    tm_page_data_toggle_panel(w->data);
  else
    g_action_group_activate_action(tm_page_train_actions(w->train), "panel", NULL);
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
  g_clear_pointer(&w->thumbs, tm_thumbs_free);
  if (w->project) g_signal_handlers_disconnect_by_data(w->project, w);
  if (w->train) g_signal_handlers_disconnect_by_data(w->train, w);
  w->train = NULL;
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
  gtk_widget_class_set_template_from_resource(wc, "/io/github/tarmac/Tarmac/window.ui");
#define BIND(name) gtk_widget_class_bind_template_child(wc, TmWindow, name)
  BIND(toasts), BIND(leaflet), BIND(sidebar), BIND(sidebar_header), BIND(menu), BIND(project_button),
      BIND(project_box), BIND(project_title);
  BIND(project_subtitle), BIND(pages), BIND(device), BIND(device_name), BIND(device_text), BIND(content_bin),
      BIND(stack);
#undef BIND
  gtk_widget_class_install_action(wc, "win.open", NULL, do_open);
  gtk_widget_class_install_action(wc, "win.demo", NULL, do_demo);
  gtk_widget_class_install_action(wc, "win.rescan", NULL, do_rescan);
  gtk_widget_class_install_action(wc, "win.cancel-scan", NULL, do_cancel_scan);
  gtk_widget_class_install_action(wc, "win.page", "s", do_page);
  gtk_widget_class_install_action(wc, "win.back", NULL, do_back);
  gtk_widget_class_install_action(wc, "win.panel", NULL, do_panel);
  gtk_widget_class_install_action(wc, "win.fullscreen", NULL, do_fullscreen);
}

static void tm_window_init(TmWindow *w) {
  gtk_widget_init_template(GTK_WIDGET(w));
  make_row(w, PAGE_DATA, "tm-data-symbolic", _("Data"));
  make_row(w, PAGE_TRAIN, "tm-train-symbolic", _("Train"));
  w->spark = TM_SPARK(tm_spark_new(TM_INK_TRAINING));
  tm_spark_set_full(w->spark, 100);
  gtk_widget_set_size_request(GTK_WIDGET(w->spark), 46, 20);
  gtk_widget_set_valign(GTK_WIDGET(w->spark), GTK_ALIGN_CENTER);
  gtk_box_append(GTK_BOX(w->device), GTK_WIDGET(w->spark));
  w->picture = TM_MASK_VIEW(tm_mask_view_new(TM_VIEW_TRUTH, _("First picture")));
  tm_mask_view_set_width(w->picture, 40);
  gtk_widget_set_focusable(GTK_WIDGET(w->picture), FALSE);
  gtk_widget_set_valign(GTK_WIDGET(w->picture), GTK_ALIGN_CENTER);
  gtk_widget_set_halign(gtk_widget_get_parent(w->project_box),
                        GTK_ALIGN_FILL); /* a menu button centres its child */
  gtk_box_prepend(GTK_BOX(w->project_box), GTK_WIDGET(w->picture));
  w->project = tm_project_new();
  w->data = tm_page_data_new(w->project);
  w->train = tm_page_train_new(w->project);
  gtk_stack_add_named(GTK_STACK(w->stack), GTK_WIDGET(w->data), page_names[PAGE_DATA]);
  gtk_stack_add_named(GTK_STACK(w->stack), GTK_WIDGET(w->train), page_names[PAGE_TRAIN]);
  gtk_widget_insert_action_group(GTK_WIDGET(w), "train", tm_page_train_actions(w->train));
  g_signal_connect_swapped(w->project, "changed", G_CALLBACK(project_changed), w);
  g_signal_connect_swapped(w->train, "run-changed", G_CALLBACK(run_changed), w);
  g_signal_connect(w->pages, "row-activated", G_CALLBACK(row_activated), w);
  g_signal_connect_swapped(w->leaflet, "notify::folded", G_CALLBACK(folded), w);
  show_page(w, PAGE_TRAIN);
  project_changed(w);
  folded(w);
  g_autoptr(GTask) task = g_task_new(w, NULL, looked, NULL);
  g_task_run_in_thread(task, look);
  w->meter_source = g_timeout_add_seconds(1, update_meters, w);
}

TmWindow *tm_window_new(GtkApplication *app) {
  return g_object_new(TM_TYPE_WINDOW, "application", app, NULL);
}

void tm_window_open(TmWindow *w, const char *path, const TmDatasetOptions *options) {
  tm_project_open(w->project, path, options);
}
