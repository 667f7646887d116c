#include "app/page_train_private.h"

#include <glib/gi18n.h>
#include <math.h>

#include "app/run_words.h"
#include "ui/meter.h"
#include "ui/read_scene.h"
#include "ui/view_switcher.h"
#include "ui/words.h"

enum { RUN_CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

static void page_iface(TmPageInterface *i);

G_DEFINE_FINAL_TYPE_WITH_CODE(TmPageTrain, tm_page_train, GTK_TYPE_BOX,
                              G_IMPLEMENT_INTERFACE(TM_TYPE_PAGE, page_iface))

void tm_page_train_emit_changed(TmPageTrain *p) {
  g_signal_emit(p, signals[RUN_CHANGED], 0);
}

/* ---- commands ---- */

static gboolean alive(TmPageTrain *p) {
  return p->run && tm_live_run_alive(p->run);
}

static void start_with(TmPageTrain *p, TmRunCommand first) {
  TmSettings s;
  tm_settings_form_get(p->form, &s);
  tm_page_train_begin(p, NULL, &s, first);
}

static void do_go(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  TmPageTrain *p = user;
  if (!alive(p))
    start_with(p, TM_RUN_START);
  else
    tm_live_run_command(p->run, tm_live_run_snapshot(p->run)->state == TM_STATE_PAUSED ? TM_RUN_RESUME
                                                                                       : TM_RUN_PAUSE);
}

static void do_step(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  TmPageTrain *p = user;
  if (!alive(p)) start_with(p, TM_RUN_START);
  tm_live_run_command(p->run, TM_RUN_STEP);
}

static void do_stop(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  tm_live_run_command(TM_PAGE_TRAIN(user)->run, TM_RUN_STOP);
}

static void do_stop_save(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  tm_live_run_command(TM_PAGE_TRAIN(user)->run, TM_RUN_STOP_SAVE);
}

static void do_stop_now(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  tm_live_run_command(TM_PAGE_TRAIN(user)->run, TM_RUN_STOP_NOW);
}

static void do_save(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  tm_live_run_command(TM_PAGE_TRAIN(user)->run, TM_RUN_SAVE);
}

static void forget_run(TmPageTrain *p) {
  if (p->run) g_signal_handlers_disconnect_by_data(p->run, p);
  g_clear_object(&p->run);
  p->shown_probe = 0;
}

static void do_new(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  TmPageTrain *p = user;
  forget_run(p);
  tm_curves_clear(p->curves);
  tm_page_train_show_dataset(p, tm_project_dataset(p->project));
  tm_page_train_refresh(p);
  tm_page_train_choose_probe(p, p->probe_place);
}

static void go_on(TmPageTrain *p, double rate_factor) {
  if (!p->run || !tm_live_run_folder(p->run)) return;
  g_autofree char *folder = g_strdup(tm_live_run_folder(p->run));
  TmSettings s;
  if (!tm_run_settings(folder, FALSE, &s, NULL)) s = *tm_live_run_settings(p->run);
  s.lr *= rate_factor;
  tm_page_train_begin(p, folder, &s, TM_RUN_START);
}

static void do_resume_run(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  go_on(user, 1);
}

static void do_resume_halved(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  go_on(user, 0.5);
}

/* The GPU is gone: the same run, from its last checkpoint, on what always works. */
static void do_resume_cpu(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  TmPageTrain *p = user;
  if (!p->run || !tm_live_run_folder(p->run)) return;
  g_autofree char *folder = g_strdup(tm_live_run_folder(p->run));
  TmSettings s;
  if (!tm_run_settings(folder, FALSE, &s, NULL)) s = *tm_live_run_settings(p->run);
  tm_settings_set(&s, "backend", "cpu", NULL);
  tm_page_train_begin(p, folder, &s, TM_RUN_START);
}

/* Later runs begin with the parts that this one was split into. */
static void do_keep_split(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  TmPageTrain *p = user;
  const TmSnapshot *snap = p->run ? tm_live_run_snapshot(p->run) : NULL;
  if (!snap || !snap->parts) return;
  TmSettings s;
  tm_settings_form_get(p->form, &s);
  s.accumulate = (int)snap->parts;
  tm_settings_form_set(p->form, &s);
  p->kept_parts = snap->parts;
  tm_page_train_refresh(p);
}

static void do_show_files(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  TmPageTrain *p = user;
  if (!p->run || !tm_live_run_folder(p->run)) return;
  g_autofree char *uri = g_filename_to_uri(tm_live_run_folder(p->run), NULL, NULL);
  GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(p));
  if (uri) gtk_show_uri(GTK_IS_WINDOW(root) ? GTK_WINDOW(root) : NULL, uri, GDK_CURRENT_TIME);
}

static void do_panel(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  AdwFlap *flap = ADW_FLAP(TM_PAGE_TRAIN(user)->flap);
  adw_flap_set_reveal_flap(flap, !adw_flap_get_reveal_flap(flap));
}

static void do_undo(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  tm_page_train_undo(user);
}

static void do_range_test(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  tm_page_train_test_range(user);
}

static void do_park(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  tm_live_run_command(TM_PAGE_TRAIN(user)->run, TM_RUN_PARK);
}

static void do_probe(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  tm_probe_card_go(TM_PAGE_TRAIN(user)->probe, g_variant_get_int32(v));
}

static void form_changed(TmPageTrain *p) {
  p->preset_chosen = TRUE;
  tm_page_train_replan(p);
}

/* Another page proposes a setting for the next run: "class_weights", "median". */
static void do_set(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  TmPageTrain *p = user;
  const char *option, *text;
  TmSettings s;
  g_variant_get(v, "(&s&s)", &option, &text);
  tm_settings_form_get(p->form, &s);
  if (!tm_settings_set(&s, option, text, NULL)) return;
  tm_settings_form_set(p->form, &s);
  form_changed(p);
}

static const GActionEntry entries[] = {
    {.name = "set", .activate = do_set, .parameter_type = "(ss)"},
    {.name = "go", .activate = do_go},
    {.name = "step", .activate = do_step},
    {.name = "stop", .activate = do_stop},
    {.name = "stop-save", .activate = do_stop_save},
    {.name = "stop-now", .activate = do_stop_now},
    {.name = "save", .activate = do_save},
    {.name = "new", .activate = do_new},
    {.name = "resume-run", .activate = do_resume_run},
    {.name = "resume-halved", .activate = do_resume_halved},
    {.name = "resume-cpu", .activate = do_resume_cpu},
    {.name = "keep-split", .activate = do_keep_split},
    {.name = "show-files", .activate = do_show_files},
    {.name = "panel", .activate = do_panel},
    {.name = "range-test", .activate = do_range_test},
    {.name = "undo", .activate = do_undo},
    {.name = "park", .activate = do_park},
    {.name = "probe", .activate = do_probe, .parameter_type = "i"},
};

static void live_change(TmLiveSettings *l, const char *key, const char *to, TmPageTrain *p) {
  (void)l;
  tm_page_train_change(p, key, to);
}

static void probe_chosen(TmProbeCard *card, guint place, TmPageTrain *p) {
  (void)card;
  tm_page_train_choose_probe(p, place);
}

/* ---- layout ---- */

static TmTrainView chosen_view(TmPageTrain *p) {
  for (int i = 0; i < TM_TRAIN_N_VIEWS; i++)
    if (gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(p->view_button[i]))) return (TmTrainView)i;
  return TM_TRAIN_CURVES;
}

/* Nothing is re-parented: boxes turn, and in narrow windows all cards but the chosen ones hide. */
static void lay_out(TmPageTrain *p) {
  gboolean narrow = tm_adaptive_get_narrow(TM_ADAPTIVE(p->page_bin)),
           stacked = tm_adaptive_get_narrow(TM_ADAPTIVE(p->cards_bin));
  gtk_orientable_set_orientation(GTK_ORIENTABLE(p->top_row),
                                 stacked ? GTK_ORIENTATION_VERTICAL : GTK_ORIENTATION_HORIZONTAL);
  gtk_widget_set_size_request(GTK_WIDGET(p->probe), stacked ? -1 : 376, -1);
  gtk_widget_set_size_request(GTK_WIDGET(p->curves), -1, stacked ? 440 : -1);
  guint meters = 0;
  for (guint i = 0; i < p->n_meters; i++) meters += gtk_widget_get_visible(p->meter[i]);
  gtk_flow_box_set_min_children_per_line(GTK_FLOW_BOX(p->meters), stacked ? 2 : meters);
  gtk_flow_box_set_max_children_per_line(GTK_FLOW_BOX(p->meters), stacked ? 2 : meters);
  gtk_widget_set_visible(p->switcher, narrow);
  gtk_widget_set_visible(p->go_label, !narrow);
  tm_curves_set_compact(p->curves, narrow);
  adw_header_bar_set_decoration_layout(ADW_HEADER_BAR(p->header), narrow ? ":close" : NULL);
  gtk_widget_set_visible(p->step, !narrow);
  gtk_widget_set_visible(p->stop, !narrow);
  gtk_widget_set_visible(p->more, !narrow);
  gtk_widget_set_visible(p->save, !narrow);
  gtk_widget_set_visible(p->panel_button, !narrow);
  gtk_widget_set_visible(p->menu, narrow);
  TmTrainView view = chosen_view(p);
  gboolean all = !narrow;
  gtk_widget_set_visible(GTK_WIDGET(p->curves), all || view == TM_TRAIN_CURVES || view == TM_TRAIN_SETTINGS);
  gtk_widget_set_visible(GTK_WIDGET(p->probe), all || view == TM_TRAIN_PROBE);
  gtk_widget_set_visible(p->top_row, all || view != TM_TRAIN_SPEED);
  gtk_widget_set_visible(p->meters, all || view == TM_TRAIN_SPEED);
  gtk_widget_set_visible(p->timeline_card, all || view == TM_TRAIN_SPEED);
  if (narrow) adw_flap_set_reveal_flap(ADW_FLAP(p->flap), view == TM_TRAIN_SETTINGS);
}

static void view_toggled(GtkToggleButton *b, TmPageTrain *p) {
  if (gtk_toggle_button_get_active(b)) lay_out(p);
}

/* Closing the settings by a swipe or F9 goes back to the curves, so that the switcher tells the truth. */
static void flap_changed(TmPageTrain *p) {
  if (!tm_adaptive_get_narrow(TM_ADAPTIVE(p->page_bin))) return;
  gboolean open = adw_flap_get_reveal_flap(ADW_FLAP(p->flap));
  if (open != (chosen_view(p) == TM_TRAIN_SETTINGS))
    gtk_toggle_button_set_active(
        GTK_TOGGLE_BUTTON(p->view_button[open ? TM_TRAIN_SETTINGS : TM_TRAIN_CURVES]), TRUE);
}

static void make_switcher(TmPageTrain *p) {
  static const char *const names[] = {N_("Curves"), N_("Probe"), N_("Speed"), N_("Settings")};
  static const char *const icons[] = {"tm-train-symbolic", "image-x-generic-symbolic", "tm-speed-symbolic",
                                      "emblem-system-symbolic"};
  tm_view_switcher_fill(GTK_BOX(p->switcher), names, icons, TM_TRAIN_N_VIEWS, p->view_button,
                        G_CALLBACK(view_toggled), p);
}

static void add_meter(TmPageTrain *p, const char *title, TmReading reading, TmInk ink) {
  GtkWidget *m = tm_meter_new(title, reading, ink);
  p->meter[p->n_meters++] = m;
  gtk_flow_box_insert(GTK_FLOW_BOX(p->meters), m, -1);
  gtk_widget_set_focusable(gtk_widget_get_parent(m), FALSE);
}

static void make_cards(TmPageTrain *p) {
  gtk_widget_set_can_focus(
      p->meters, FALSE); /* nothing in it takes the keyboard, and a flow box would keep Tab from going on */
  TmNotice **notices[] = {&p->message, &p->notice, &p->project_notice};
  for (guint i = 0; i < G_N_ELEMENTS(notices); i++) {
    *notices[i] = TM_NOTICE(tm_notice_new());
    gtk_box_append(GTK_BOX(p->notices), GTK_WIDGET(*notices[i]));
  }
  p->curves = TM_CURVES(tm_curves_new());
  p->probe = TM_PROBE_CARD(tm_probe_card_new());
  gtk_widget_set_hexpand(GTK_WIDGET(p->curves), TRUE);
  gtk_box_append(GTK_BOX(p->top_row), GTK_WIDGET(p->curves));
  /* A row asks its parts for their widths at its height, which pictures have none for: the bin does not pass
   * that on. */
  GtkWidget *bin = tm_adaptive_new();
  tm_adaptive_set_child(TM_ADAPTIVE(bin), GTK_WIDGET(p->probe));
  g_object_bind_property(p->probe, "visible", bin, "visible", G_BINDING_SYNC_CREATE);
  gtk_box_append(GTK_BOX(p->top_row), bin);
  p->timeline = TM_TIMELINE(tm_timeline_new());
  p->advice = TM_NOTICE(tm_notice_new());
  gtk_box_append(GTK_BOX(p->timeline_card), GTK_WIDGET(p->timeline));
  gtk_box_append(GTK_BOX(p->timeline_card), GTK_WIDGET(p->advice));
  p->live = TM_LIVE_SETTINGS(tm_live_settings_new());
  p->form = TM_SETTINGS_FORM(tm_settings_form_new());
  p->about_run = gtk_label_new(NULL);
  gtk_label_set_wrap(GTK_LABEL(p->about_run), TRUE);
  gtk_label_set_wrap_mode(GTK_LABEL(p->about_run), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_xalign(GTK_LABEL(p->about_run), 0);
  gtk_label_set_selectable(GTK_LABEL(p->about_run), TRUE);
  gtk_widget_add_css_class(p->about_run, "tm-tiny");
  gtk_widget_add_css_class(p->about_run, "tm-dim");
  gtk_box_prepend(GTK_BOX(p->panel_box), GTK_WIDGET(p->live));
  tm_page_train_make_plan(p);
  gtk_box_append(GTK_BOX(p->panel_box), GTK_WIDGET(p->form));
  gtk_box_append(GTK_BOX(p->panel_box), p->about_run);
  add_meter(p, _("Processor"), TM_READING_CPU_LOAD, TM_INK_LIVE);
  add_meter(p, _("Memory"), TM_READING_MEMORY, TM_INK_RATE);
  add_meter(p, _("GPU"), TM_READING_GPU_LOAD, TM_INK_TRAINING);
  add_meter(p, _("GPU memory"), TM_READING_GPU_MEMORY, TM_INK_RATE);
  add_meter(p, _("GPU temperature"), TM_READING_GPU_TEMPERATURE, TM_INK_VALIDATION);
}

/* ---- the type ---- */

static void project_changed(TmPageTrain *p) {
  tm_page_train_replan(p);
  if (!alive(p))
    tm_page_train_show_dataset(p, tm_project_dataset(p->project)); /* a run keeps its own to its end */
  tm_page_train_refresh(p);
}

static void dispose(GObject *o) {
  TmPageTrain *p = TM_PAGE_TRAIN(o);
  forget_run(p);
  tm_read_scene_cancel(&p->reading);
  if (p->project) g_signal_handlers_disconnect_by_data(p->project, p);
  g_clear_object(&p->project);
  g_clear_object(&p->actions);
  tm_page_train_end_plan(p);
  g_clear_pointer(&p->probes, g_array_unref);
  g_clear_pointer(&p->base, tm_scene_unref);
  g_clear_pointer(&p->now, tm_scene_unref);
  g_clear_pointer(&p->swipe, tm_scene_unref);
  g_clear_pointer(&p->probe_dataset, tm_dataset_unref);
  gtk_widget_dispose_template(GTK_WIDGET(o), TM_TYPE_PAGE_TRAIN);
  G_OBJECT_CLASS(tm_page_train_parent_class)->dispose(o);
}

static void tm_page_train_class_init(TmPageTrainClass *c) {
  GtkWidgetClass *wc = GTK_WIDGET_CLASS(c);
  G_OBJECT_CLASS(c)->dispose = dispose;
  g_type_ensure(TM_TYPE_ADAPTIVE);
  gtk_widget_class_set_template_from_resource(wc, "/io/github/tarmac/Tarmac/page_train.ui");
#define BIND(name) gtk_widget_class_bind_template_child(wc, TmPageTrain, name)
  BIND(header), BIND(title), BIND(back), BIND(controls), BIND(go), BIND(go_icon), BIND(go_label), BIND(step),
      BIND(stop), BIND(more), BIND(menu);
  BIND(panel_button), BIND(save), BIND(progress), BIND(page_bin), BIND(flap), BIND(cards_bin), BIND(cards),
      BIND(notices), BIND(top_row);
  BIND(meters), BIND(timeline_card), BIND(speed), BIND(switcher), BIND(panel), BIND(panel_box),
      BIND(panel_title);
#undef BIND
  signals[RUN_CHANGED] =
      g_signal_new("run-changed", TM_TYPE_PAGE_TRAIN, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void tm_page_train_init(TmPageTrain *p) {
  gtk_widget_init_template(GTK_WIDGET(p));
  p->probes = g_array_new(FALSE, FALSE, sizeof(guint));
  p->shown_state = TM_STATE_IDLE;
  make_cards(p);
  make_switcher(p);
  p->actions = g_simple_action_group_new();
  g_action_map_add_action_entries(G_ACTION_MAP(p->actions), entries, G_N_ELEMENTS(entries), p);
  g_signal_connect_swapped(p->form, "changed", G_CALLBACK(form_changed), p);
  g_signal_connect(p->live, "change", G_CALLBACK(live_change), p);
  g_signal_connect(p->probe, "probe-chosen", G_CALLBACK(probe_chosen), p);
  tm_page_train_connect_probe(p);
  g_signal_connect_swapped(p->page_bin, "notify::narrow", G_CALLBACK(lay_out), p);
  g_signal_connect_swapped(p->cards_bin, "notify::narrow", G_CALLBACK(lay_out), p);
  g_signal_connect_swapped(p->flap, "notify::reveal-flap", G_CALLBACK(flap_changed), p);
  lay_out(p);
}

TmPage *tm_page_train_new(TmProject *project) {
  TmPageTrain *p = g_object_new(TM_TYPE_PAGE_TRAIN, NULL);
  p->project = g_object_ref(project);
  g_signal_connect_swapped(project, "changed", G_CALLBACK(project_changed), p);
  project_changed(p);
  return TM_PAGE(p);
}

void tm_page_train_begin(TmPageTrain *p, const char *run_dir, const TmSettings *s, TmRunCommand first) {
  TmDataset *d = tm_project_dataset(p->project);
  if (run_dir && p->run) d = tm_live_run_dataset(p->run); /* a run goes on with the data it had */
  if (!d) return;
  const TmScan *scan = d == tm_project_dataset(p->project) ? tm_project_scan(p->project) : NULL;
  g_autoptr(TmDataset) keep G_GNUC_UNUSED = tm_dataset_ref(d);
  TmLiveRun *run = tm_live_run_new(d, scan, s, run_dir);
  forget_run(p);
  tm_page_train_show_dataset(p, d);
  p->run = run;
  tm_curves_clear(p->curves);
  tm_live_settings_set_begun(p->live, s);
  p->shown_changes = G_MAXUINT;
  g_signal_connect_swapped(run, "changed", G_CALLBACK(tm_page_train_refresh), p);
  if (p->probes->len) tm_live_run_set_probe(run, g_array_index(p->probes, guint, p->probe_place));
  tm_page_train_send_probes(p);
  p->shown_epochs = G_MAXUINT - 1;
  g_clear_pointer(&p->now, tm_scene_unref);
  tm_live_run_command(run, first);
  tm_page_train_refresh(p);
}

gboolean tm_page_train_open_run(TmPageTrain *p, const char *folder) {
  TmDataset *d = tm_project_dataset(p->project);
  if (p->run && g_strcmp0(tm_live_run_folder(p->run), folder) == 0) return TRUE;
  if (alive(p) || !d) return FALSE;
  forget_run(p);
  tm_page_train_show_dataset(p, d);
  p->run = tm_live_run_new_past(d, folder);
  p->shown_changes = G_MAXUINT;
  tm_curves_clear(p->curves);
  g_signal_connect_swapped(p->run, "changed", G_CALLBACK(tm_page_train_refresh), p);
  tm_page_train_choose_probe(p, p->probe_place);
  tm_page_train_refresh(p);
  return TRUE;
}

TmLiveRun *tm_page_train_run(TmPageTrain *p) {
  return p->run;
}

/* ---- as a page ---- */

static void update_meters(TmPage *page, const TmMonitorSample *samples, guint n) {
  TmPageTrain *p = TM_PAGE_TRAIN(page);
  if (!gtk_widget_get_mapped(GTK_WIDGET(p))) return;
  for (guint i = 0; i < p->n_meters; i++)
    if (gtk_widget_get_visible(p->meter[i])) tm_meter_update(TM_METER(p->meter[i]), samples, n);
}

static void offer_gpus(TmPageTrain *p, const TmMachine *m) {
  g_autoptr(GPtrArray) values = g_ptr_array_new(), labels = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < m->n_gpus; i++) {
    if (!m->gpus[i].uuid) continue;
    g_ptr_array_add(values, m->gpus[i].uuid);
    g_ptr_array_add(labels, g_strdup_printf(_("GPU %u: %s"), i, m->gpus[i].name));
  }
  tm_settings_form_offer(p->form, "device", values->len, (const char *const *)values->pdata,
                         (const char *const *)labels->pdata);
}

static void set_machine(TmPage *page, const TmMachine *m) {
  TmPageTrain *p = TM_PAGE_TRAIN(page);
  g_autofree char *memory = tm_words_bytes((double)m->memory),
                  *of_memory = g_strdup_printf(_("of %s"), memory);
  g_autofree char *cores = g_strdup_printf(ngettext("%d core · %s", "%d cores · %s", (gulong)m->cores),
                                           m->cores, m->cpu ? m->cpu : "");
  tm_meter_set_full(TM_METER(p->meter[0]), 100);
  tm_meter_set_caption(TM_METER(p->meter[0]), cores, NULL);
  tm_meter_set_full(TM_METER(p->meter[1]), (double)m->memory);
  p->room = m->gpu ? m->gpu_memory : m->memory;
  tm_page_train_replan(p);
  tm_meter_set_caption(TM_METER(p->meter[1]), of_memory, NULL);
  tm_meter_set_full(TM_METER(p->meter[2]), 100);
  tm_meter_set_caption(TM_METER(p->meter[2]), m->gpu, m->gpu_reason ? m->gpu_reason : _("No readings"));
  g_autofree char *gpu_memory = tm_words_bytes((double)m->gpu_memory),
                  *of_gpu = g_strdup_printf(_("of %s"), gpu_memory);
  tm_meter_set_full(TM_METER(p->meter[3]), (double)m->gpu_memory);
  tm_meter_set_caption(TM_METER(p->meter[3]), of_gpu, NULL);
  tm_meter_set_full(TM_METER(p->meter[4]), 100);
  offer_gpus(p, m);
  /* Without a GPU one meter says so; two more would say the same. */
  for (int i = 3; i < 5; i++) {
    gtk_widget_set_visible(p->meter[i], m->gpu != NULL);
    gtk_widget_set_visible(gtk_widget_get_parent(p->meter[i]), m->gpu != NULL);
  }
  lay_out(p);
}

static void set_folded(TmPage *page, gboolean folded) {
  gtk_widget_set_visible(TM_PAGE_TRAIN(page)->back, folded);
}

static void toggle_panel(TmPage *page) {
  g_action_group_activate_action(G_ACTION_GROUP(TM_PAGE_TRAIN(page)->actions), "panel", NULL);
}

static GActionGroup *actions(TmPage *page) {
  return G_ACTION_GROUP(TM_PAGE_TRAIN(page)->actions);
}

static void page_iface(TmPageInterface *i) {
  i->set_folded = set_folded;
  i->toggle_panel = toggle_panel;
  i->actions = actions;
  i->update_meters = update_meters;
  i->set_machine = set_machine;
}
