#include "app/page_predict.h"

#include <gdk/gdkkeysyms.h>
#include <glib/gi18n.h>
#include <math.h>

#include "app/page_predict_private.h"
#include "engine/run/run_dir.h"
#include "ui/adaptive.h"
#include "ui/short_list.h"

static void page_iface(TmPageInterface *i);

G_DEFINE_FINAL_TYPE_WITH_CODE(TmPagePredict, tm_page_predict, GTK_TYPE_BOX,
                              G_IMPLEMENT_INTERFACE(TM_TYPE_PAGE, page_iface))

GtkWindow *tm_page_predict_window(TmPagePredict *p) {
  GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(p));
  return GTK_IS_WINDOW(root) ? GTK_WINDOW(root) : NULL;
}

/* ---- networks ---- */

const TmRunInfo *tm_page_predict_network(TmPagePredict *p) {
  return p->networks && p->chosen < p->networks->len ? p->networks->pdata[p->chosen] : NULL;
}

/* Its weights change while it is used. */
static gboolean in_training(const TmRunInfo *r) {
  return g_str_equal(r->state, "running");
}

static char *network_words(const TmRunInfo *r) {
  if (in_training(r)) return g_strdup_printf(_("%s · now in training"), r->name);
  return isnan(r->best_miou) ? g_strdup(r->name) : g_strdup_printf(_("%s · epoch %u"), r->name, r->best_epoch + 1);
}

void tm_page_predict_fill_networks(TmPagePredict *p) {
  const TmRunInfo *before = tm_page_predict_network(p);
  g_autofree char *chosen = before ? g_strdup(before->path) : NULL;
  TmDataset *d = tm_project_dataset(p->project);
  g_autofree char *root = d ? tm_run_default_root(tm_dataset_path(d), tm_dataset_title(d)) : NULL;
  g_clear_pointer(&p->networks, g_ptr_array_unref);
  p->networks = root ? tm_run_list(root) : g_ptr_array_new_with_free_func((GDestroyNotify)tm_run_info_free);
  for (guint i = p->networks->len; i > 0; i--)
    if (!((TmRunInfo *)p->networks->pdata[i - 1])->has_network) g_ptr_array_remove_index(p->networks, i - 1);
  if (p->opened) g_ptr_array_insert(p->networks, 0, tm_run_info_of_file(p->opened));
  g_autoptr(GtkStringList) names = gtk_string_list_new(NULL);
  p->chosen = 0;
  for (guint i = 0; i < p->networks->len; i++) {
    const TmRunInfo *r = p->networks->pdata[i];
    g_autofree char *words = network_words(r);
    gtk_string_list_append(names, words);
    if (g_strcmp0(r->path, chosen) == 0) p->chosen = i;
  }
  if (!p->networks->len) gtk_string_list_append(names, _("No network yet"));
  gtk_string_list_append(names, _("Open Checkpoint…"));
  p->quiet = TRUE;
  gtk_drop_down_set_model(GTK_DROP_DOWN(p->network), G_LIST_MODEL(names));
  gtk_drop_down_set_selected(GTK_DROP_DOWN(p->network), p->chosen);
  p->quiet = FALSE;
  tm_page_predict_refresh(p);
}

static void checkpoint_chosen(GtkNativeDialog *dialog, int answer, TmPagePredict *p) {
  if (answer == GTK_RESPONSE_ACCEPT) {
    g_autoptr(GFile) file = gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog));
    g_free(p->opened);
    p->opened = g_file_get_path(file);
    p->chosen = G_MAXUINT;
    tm_page_predict_fill_networks(p);
  }
  g_object_unref(dialog);
}

static void open_checkpoint(TmPagePredict *p) {
  GtkFileChooserNative *d = gtk_file_chooser_native_new(_("Open a Checkpoint"), tm_page_predict_window(p),
                                                        GTK_FILE_CHOOSER_ACTION_OPEN, _("_Open"), NULL);
  g_autoptr(GtkFileFilter) filter = gtk_file_filter_new();
  gtk_file_filter_set_name(filter, _("Checkpoints (.safetensors)"));
  gtk_file_filter_add_suffix(filter, "safetensors");
  gtk_file_chooser_add_filter(GTK_FILE_CHOOSER(d), filter);
  gtk_native_dialog_set_modal(GTK_NATIVE_DIALOG(d), TRUE);
  g_signal_connect_object(d, "response", G_CALLBACK(checkpoint_chosen), p, 0);
  gtk_native_dialog_show(GTK_NATIVE_DIALOG(d));
}

static void network_chosen(TmPagePredict *p) {
  const guint i = gtk_drop_down_get_selected(GTK_DROP_DOWN(p->network));
  if (p->quiet) return;
  if (i < p->networks->len) {
    p->chosen = i;
  } else if (i >= MAX(p->networks->len, 1u)) {
    p->quiet = TRUE;
    gtk_drop_down_set_selected(GTK_DROP_DOWN(p->network), p->chosen);
    p->quiet = FALSE;
    open_checkpoint(p);
  }
  tm_page_predict_refresh(p);
}

/* ---- folders ---- */

/* Beside the pictures, never in them. */
static char *default_out(const char *from) {
  g_autofree char *folder = g_path_get_dirname(from), *base = g_path_get_basename(from),
                  *name = g_strconcat(base, "-masks", NULL);
  return g_build_filename(folder, name, NULL);
}

static gboolean alive(TmPagePredict *p) {
  return p->run && tm_folder_run_is_alive(p->run);
}

static void set_from(TmPagePredict *p, const char *path) {
  if (alive(p)) tm_folder_job_stop(tm_folder_run_job(p->run));
  g_free(p->from);
  p->from = g_strdup(path);
  if (!p->to_chosen) {
    g_free(p->to);
    p->to = default_out(path);
  }
  tm_page_predict_refresh(p);
}

static void set_to(TmPagePredict *p, const char *path) {
  g_free(p->to);
  p->to = g_strdup(path);
  p->to_chosen = TRUE;
  if (alive(p)) {
    tm_folder_job_set_out_dir(tm_folder_run_job(p->run), path);
    tm_folder_job_resume(tm_folder_run_job(p->run));
  }
  tm_page_predict_refresh(p);
}

static void folder_chosen(GtkNativeDialog *dialog, int answer, TmPagePredict *p) {
  if (answer == GTK_RESPONSE_ACCEPT) {
    g_autoptr(GFile) file = gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog));
    g_autofree char *path = file ? g_file_get_path(file) : NULL;
    if (path && g_object_get_data(G_OBJECT(dialog), "to"))
      set_to(p, path);
    else if (path)
      set_from(p, path);
  }
  g_object_unref(dialog);
}

static void choose_folder(TmPagePredict *p, gboolean to) {
  GtkFileChooserNative *d =
      gtk_file_chooser_native_new(to ? _("Write the Results Into") : _("Choose a Folder of Pictures"),
                                  tm_page_predict_window(p), GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER, _("_Choose"), NULL);
  if (to) g_object_set_data(G_OBJECT(d), "to", d);
  gtk_native_dialog_set_modal(GTK_NATIVE_DIALOG(d), TRUE);
  g_signal_connect_object(d, "response", G_CALLBACK(folder_chosen), p, 0);
  gtk_native_dialog_show(GTK_NATIVE_DIALOG(d));
}

static gboolean dropped(GtkDropTarget *t, const GValue *value, double x, double y, TmPagePredict *p) {
  (void)t;
  (void)x;
  (void)y;
  g_autofree char *path = g_file_get_path(g_value_get_object(value));
  if (!path || !g_file_test(path, G_FILE_TEST_IS_DIR)) return FALSE;
  set_from(p, path);
  return TRUE;
}

/* ---- the job ---- */

static void forget_run(TmPagePredict *p) {
  if (p->run) g_signal_handlers_disconnect_by_data(p->run, p);
  g_clear_object(&p->run);
}

static gboolean is_on(GtkWidget *toggle) {
  return gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(toggle));
}

static gboolean shows_sureness(TmPagePredict *p) {
  return is_on(p->view_button[TM_SWIPE_SURE]);
}

void tm_page_predict_begin(TmPagePredict *p) {
  const TmRunInfo *r = tm_page_predict_network(p);
  if (!r || !p->from) return;
  forget_run(p);
  tm_page_predict_clear(p);
  const gboolean writes = is_on(p->masks) || is_on(p->overlays) || is_on(p->table);
  const TmFolderOptions o = {.network = r->path,
                             .follow = in_training(r),
                             .folder = p->from,
                             .out_dir = writes ? p->to : NULL,
                             .masks = is_on(p->masks),
                             .overlays = is_on(p->overlays),
                             .table = is_on(p->table),
                             .watch = gtk_switch_get_active(GTK_SWITCH(p->watch))};
  p->last_state = TM_FOLDER_LOADING;
  p->run = tm_folder_run_new(&o);
  tm_folder_job_set_sure(tm_folder_run_job(p->run), shows_sureness(p));
  g_signal_connect_swapped(p->run, "changed", G_CALLBACK(tm_page_predict_refresh), p);
  tm_page_predict_refresh(p);
}

/* ---- actions ---- */

static void do_go(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  TmPagePredict *p = user;
  if (!alive(p))
    tm_page_predict_begin(p);
  else if (tm_folder_run_snapshot(p->run)->state == TM_FOLDER_PAUSED)
    tm_folder_job_resume(tm_folder_run_job(p->run));
  else
    tm_folder_job_pause(tm_folder_run_job(p->run));
}

static void do_stop(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  TmPagePredict *p = user;
  if (alive(p)) tm_folder_job_stop(tm_folder_run_job(p->run));
}

static void do_choose_from(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  choose_folder(user, FALSE);
}

static void do_choose_to(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  choose_folder(user, TRUE);
}

static void do_show_skipped(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  tm_page_predict_show_skipped(user);
}

static void do_show_files(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  TmPagePredict *p = user;
  g_autofree char *uri = p->to ? g_filename_to_uri(p->to, NULL, NULL) : NULL;
  if (uri) gtk_show_uri(tm_page_predict_window(p), uri, GDK_CURRENT_TIME);
}

static void do_zoom(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  tm_swipe_view_zoom(TM_PAGE_PREDICT(user)->view, g_variant_get_double(v));
}

/* A folder named on the command line. */
static void do_from(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  set_from(user, g_variant_get_bytestring(v));
}

static const GActionEntry entries[] = {
    {.name = "from", .activate = do_from, .parameter_type = "ay"},
    {.name = "go", .activate = do_go},
    {.name = "stop", .activate = do_stop},
    {.name = "choose-from", .activate = do_choose_from},
    {.name = "choose-to", .activate = do_choose_to},
    {.name = "show-skipped", .activate = do_show_skipped},
    {.name = "show-files", .activate = do_show_files},
    {.name = "zoom", .activate = do_zoom, .parameter_type = "d"},
};

/* ---- views ---- */

static void set_view(TmPagePredict *p, TmSwipeMode mode) {
  tm_swipe_view_set_mode(p->view, mode);
  gtk_widget_set_sensitive(p->opacity_scale, mode != TM_SWIPE_SURE);
  gtk_drop_down_set_selected(GTK_DROP_DOWN(p->view_list), mode);
  if (!p->run) return;
  TmFolderJob *j = tm_folder_run_job(p->run);
  tm_folder_job_set_sure(j, mode == TM_SWIPE_SURE);
  /* The picture on the screen was predicted without. */
  if (mode == TM_SWIPE_SURE && p->shown && !p->shown->sure) tm_folder_job_look(j, p->shown->index);
}

static void view_toggled(GtkToggleButton *b, TmPagePredict *p) {
  if (!gtk_toggle_button_get_active(b)) return;
  for (int i = 0; i < TM_PREDICT_VIEWS; i++)
    if (p->view_button[i] == GTK_WIDGET(b)) set_view(p, (TmSwipeMode)i);
}

static void view_listed(TmPagePredict *p) {
  const guint i = gtk_drop_down_get_selected(GTK_DROP_DOWN(p->view_list));
  if (i < TM_PREDICT_VIEWS) gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(p->view_button[i]), TRUE);
}

static void opacity_changed(TmPagePredict *p) {
  tm_swipe_view_set_opacity(p->view, gtk_range_get_value(GTK_RANGE(p->opacity_scale)) / 100);
}

static void picture_selected(TmFilmStrip *s, guint index, TmPagePredict *p) {
  (void)s;
  if (p->run) tm_folder_job_look(tm_folder_run_job(p->run), index);
}

static void watch_switched(TmPagePredict *p) {
  if (p->run) tm_folder_job_set_watch(tm_folder_run_job(p->run), gtk_switch_get_active(GTK_SWITCH(p->watch)));
}

static gboolean key(GtkEventControllerKey *k, guint val, guint code, GdkModifierType state, TmPagePredict *p) {
  (void)k;
  (void)code;
  static const guint views[TM_PREDICT_VIEWS] = {GDK_KEY_s, GDK_KEY_d, GDK_KEY_v, GDK_KEY_u};
  if (state & GDK_ALT_MASK) return FALSE;
  if (state & GDK_CONTROL_MASK) {
    const double factor = val == GDK_KEY_plus || val == GDK_KEY_equal || val == GDK_KEY_KP_Add ? 1.25
                          : val == GDK_KEY_minus || val == GDK_KEY_KP_Subtract                 ? 0.8
                                                                                               : 0;
    if (factor <= 0 && val != GDK_KEY_0) return FALSE;
    tm_swipe_view_zoom(p->view, factor);
    return TRUE;
  }
  for (int i = 0; i < TM_PREDICT_VIEWS; i++)
    if (val == views[i]) {
      gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(p->view_button[i]), TRUE);
      return TRUE;
    }
  const double opacity = gtk_range_get_value(GTK_RANGE(p->opacity_scale));
  if (val == GDK_KEY_Page_Up)
    tm_film_strip_go(p->strip, -1);
  else if (val == GDK_KEY_Page_Down)
    tm_film_strip_go(p->strip, 1);
  else if (val == GDK_KEY_bracketleft)
    gtk_range_set_value(GTK_RANGE(p->opacity_scale), opacity - 5);
  else if (val == GDK_KEY_bracketright)
    gtk_range_set_value(GTK_RANGE(p->opacity_scale), opacity + 5);
  else
    return FALSE;
  return TRUE;
}

static void lay_out(TmPagePredict *p) {
  const gboolean narrow = tm_adaptive_get_narrow(TM_ADAPTIVE(p->page_bin));
  gtk_widget_set_visible(p->views, !narrow);
  gtk_widget_set_visible(p->view_list, narrow);
  gtk_widget_set_visible(p->opacity_label, !narrow);
  gtk_widget_set_visible(p->zooms, !narrow);
  gtk_widget_set_visible(p->go_label, !narrow);
  gtk_widget_set_visible(p->open, !narrow);
  adw_header_bar_set_decoration_layout(ADW_HEADER_BAR(p->header), narrow ? ":close" : NULL);
}

/* ---- the type ---- */

static void map(GtkWidget *w) {
  GTK_WIDGET_CLASS(tm_page_predict_parent_class)->map(w);
  TmPagePredict *p = TM_PAGE_PREDICT(w);
  if (!alive(p)) tm_page_predict_fill_networks(p); /* there may be new ones */
}

static void dispose(GObject *o) {
  TmPagePredict *p = TM_PAGE_PREDICT(o);
  forget_run(p);
  if (p->project) g_signal_handlers_disconnect_by_data(p->project, p);
  g_clear_object(&p->project);
  g_clear_object(&p->actions);
  g_clear_pointer(&p->networks, g_ptr_array_unref);
  g_clear_pointer(&p->opened, g_free);
  g_clear_pointer(&p->from, g_free);
  g_clear_pointer(&p->to, g_free);
  g_clear_pointer(&p->lowest_name, g_free);
  g_clear_pointer(&p->shown, tm_folder_picture_unref);
  gtk_widget_dispose_template(GTK_WIDGET(o), TM_TYPE_PAGE_PREDICT);
  G_OBJECT_CLASS(tm_page_predict_parent_class)->dispose(o);
}

static void tm_page_predict_class_init(TmPagePredictClass *c) {
  GtkWidgetClass *wc = GTK_WIDGET_CLASS(c);
  G_OBJECT_CLASS(c)->dispose = dispose;
  wc->map = map;
  g_type_ensure(TM_TYPE_ADAPTIVE);
  gtk_widget_class_set_template_from_resource(wc, "/io/github/tarmac/Tarmac/page_predict.ui");
#define BIND(name) gtk_widget_class_bind_template_child(wc, TmPagePredict, name)
  BIND(header), BIND(title), BIND(back), BIND(go), BIND(go_icon), BIND(go_label), BIND(stop), BIND(panel_button),
      BIND(open), BIND(progress), BIND(page_bin), BIND(flap), BIND(stack), BIND(empty), BIND(notices), BIND(tools);
  BIND(views), BIND(view_list), BIND(opacity_label), BIND(opacity_scale), BIND(zooms), BIND(viewer), BIND(waiting),
      BIND(waiting_label), BIND(strip_box), BIND(panel_box), BIND(job_card), BIND(count), BIND(pill), BIND(bar);
  BIND(left), BIND(skipped), BIND(show_skipped), BIND(speed_card), BIND(speed), BIND(times), BIND(share_card),
      BIND(share_title), BIND(share), BIND(share_words), BIND(network), BIND(from_row), BIND(to_row), BIND(watch);
  BIND(masks), BIND(overlays), BIND(table);
#undef BIND
}

static void make_views(TmPagePredict *p) {
  static const char *const names[TM_PREDICT_VIEWS] = {N_("Swipe"), N_("Side by Side"), N_("Overlay"), N_("Sureness")},
                           *const keys[TM_PREDICT_VIEWS] = {"S", "D", "V", "U"};
  g_autoptr(GtkStringList) list = gtk_string_list_new(NULL);
  for (int i = 0; i < TM_PREDICT_VIEWS; i++) {
    GtkWidget *b = gtk_toggle_button_new_with_label(_(names[i]));
    g_autofree char *tip = g_strdup_printf("%s (%s)", _(names[i]), keys[i]);
    gtk_widget_set_tooltip_text(b, tip);
    if (i) gtk_toggle_button_set_group(GTK_TOGGLE_BUTTON(b), GTK_TOGGLE_BUTTON(p->view_button[0]));
    p->view_button[i] = b;
    gtk_box_append(GTK_BOX(p->views), b);
    gtk_string_list_append(list, _(names[i]));
  }
  gtk_drop_down_set_model(GTK_DROP_DOWN(p->view_list), G_LIST_MODEL(list));
  gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(p->view_button[0]), TRUE);
  for (int i = 0; i < TM_PREDICT_VIEWS; i++)
    g_signal_connect(p->view_button[i], "toggled", G_CALLBACK(view_toggled), p);
  g_signal_connect_swapped(p->view_list, "notify::selected", G_CALLBACK(view_listed), p);
}

static void make_parts(TmPagePredict *p) {
  p->notice = TM_NOTICE(tm_notice_new());
  gtk_box_append(GTK_BOX(p->notices), GTK_WIDGET(p->notice));
  p->view = TM_SWIPE_VIEW(tm_swipe_view_new());
  gtk_overlay_set_child(GTK_OVERLAY(p->viewer), GTK_WIDGET(p->view));
  p->strip = TM_FILM_STRIP(tm_film_strip_new());
  gtk_widget_set_hexpand(GTK_WIDGET(p->strip), TRUE);
  gtk_box_append(GTK_BOX(p->strip_box), GTK_WIDGET(p->strip));
  p->speed_spark = TM_SPARK(tm_spark_new(TM_INK_TRAINING));
  p->share_spark = TM_SPARK(tm_spark_new(TM_INK_RATE));
  gtk_accessible_update_property(GTK_ACCESSIBLE(p->speed_spark), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Speed"), -1);
  gtk_widget_set_size_request(GTK_WIDGET(p->speed_spark), -1, 40);
  gtk_widget_set_size_request(GTK_WIDGET(p->share_spark), -1, 40);
  gtk_box_insert_child_after(GTK_BOX(p->speed_card), GTK_WIDGET(p->speed_spark),
                             gtk_widget_get_first_child(p->speed_card));
  gtk_box_insert_child_after(GTK_BOX(p->share_card), GTK_WIDGET(p->share_spark),
                             gtk_widget_get_first_child(p->share_card));
  p->bars = TM_SHARE_BARS(tm_share_bars_new());
  gtk_box_append(GTK_BOX(p->share_card), GTK_WIDGET(p->bars));
}

static void tm_page_predict_init(TmPagePredict *p) {
  p->actions = g_simple_action_group_new();
  p->lowest = INFINITY;
  g_action_map_add_action_entries(G_ACTION_MAP(p->actions), entries, G_N_ELEMENTS(entries), p);
  gtk_widget_init_template(GTK_WIDGET(p));
  make_parts(p);
  make_views(p);
  tm_short_list_set_up(GTK_DROP_DOWN(p->network), 9);
  g_signal_connect_swapped(p->network, "notify::selected", G_CALLBACK(network_chosen), p);
  g_signal_connect_swapped(p->watch, "notify::active", G_CALLBACK(watch_switched), p);
  g_signal_connect_swapped(p->opacity_scale, "value-changed", G_CALLBACK(opacity_changed), p);
  g_signal_connect_swapped(p->page_bin, "notify::narrow", G_CALLBACK(lay_out), p);
  g_signal_connect(p->strip, "selected", G_CALLBACK(picture_selected), p);
  GtkEventController *keys = gtk_event_controller_key_new();
  g_signal_connect(keys, "key-pressed", G_CALLBACK(key), p);
  gtk_widget_add_controller(GTK_WIDGET(p), keys);
  GtkDropTarget *drop = gtk_drop_target_new(G_TYPE_FILE, GDK_ACTION_COPY);
  g_signal_connect(drop, "drop", G_CALLBACK(dropped), p);
  gtk_widget_add_controller(p->stack, GTK_EVENT_CONTROLLER(drop));
  lay_out(p);
}

static void project_changed(TmPagePredict *p) {
  if (!alive(p)) tm_page_predict_fill_networks(p);
}

TmPage *tm_page_predict_new(TmProject *project) {
  TmPagePredict *p = g_object_new(TM_TYPE_PAGE_PREDICT, NULL);
  p->project = g_object_ref(project);
  g_signal_connect_swapped(project, "changed", G_CALLBACK(project_changed), p);
  tm_page_predict_fill_networks(p);
  return TM_PAGE(p);
}

static void set_folded(TmPage *page, gboolean folded) {
  gtk_widget_set_visible(TM_PAGE_PREDICT(page)->back, folded);
}

static void toggle_panel(TmPage *page) {
  AdwFlap *flap = ADW_FLAP(TM_PAGE_PREDICT(page)->flap);
  adw_flap_set_reveal_flap(flap, !adw_flap_get_reveal_flap(flap));
}

static GActionGroup *actions(TmPage *page) {
  return G_ACTION_GROUP(TM_PAGE_PREDICT(page)->actions);
}

static void page_iface(TmPageInterface *i) {
  i->set_folded = set_folded;
  i->toggle_panel = toggle_panel;
  i->actions = actions;
}
