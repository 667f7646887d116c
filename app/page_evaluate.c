#include "app/page_evaluate_private.h"

#include <glib/gi18n.h>
#include <string.h>

#include "app/match_dialog.h"
#include "app/run_source.h"
#include "ui/adaptive.h"
#include "ui/short_list.h"
#include "ui/view_switcher.h"
#include "ui/words.h"

enum { MAP_HEIGHT = 376 };

static void page_iface(TmPageInterface *i);

G_DEFINE_FINAL_TYPE_WITH_CODE(TmPageEvaluate, tm_page_evaluate, GTK_TYPE_BOX,
                              G_IMPLEMENT_INTERFACE(TM_TYPE_PAGE, page_iface))

static void project_changed(TmPageEvaluate *p) {
  TmDataset *d = tm_project_dataset(p->project);
  if (d == p->dataset) {
    if (tm_project_state(p->project) == TM_PROJECT_READY && !tm_evaluator_is_busy(p->evaluator))
      tm_page_evaluate_show(p, NULL); /* which pictures look alike may be known now */
    return;
  }
  tm_evaluator_stop(p->evaluator);
  tm_evaluator_cancel_looks(p->evaluator);
  g_clear_pointer(&p->dataset, tm_dataset_unref);
  p->dataset = d ? tm_dataset_ref(d) : NULL;
  g_clear_pointer(&p->shown, tm_evaluation_free);
  g_clear_pointer(&p->other, tm_evaluation_free);
  tm_page_evaluate_fill_splits(p);
  tm_page_evaluate_fill_networks(p);
}

static void choice_changed(TmPageEvaluate *p) {
  if (!p->quiet) tm_page_evaluate_read_scores(p);
}

/* ---- what is shown ---- */

static gboolean may_match(TmPageEvaluate *p);

static void enable(TmPageEvaluate *p, const char *name, gboolean on) {
  g_simple_action_set_enabled(G_SIMPLE_ACTION(g_action_map_lookup_action(G_ACTION_MAP(p->actions), name)), on);
}

static void show_progress(TmPageEvaluate *p) {
  guint done, total;
  tm_evaluator_progress(p->evaluator, &done, &total);
  g_autofree char *a = tm_words_count(done), *b = tm_words_count(total),
                  *words = total ? g_strdup_printf(_("Predicting %s of %s"), a, b) : g_strdup(_("Opening the network"));
  tm_notice_show(p->notice, TM_NOTICE_INFO, NULL, words, "");
  tm_notice_set_buttons(p->notice, NULL, NULL, _("Cancel"), "evaluate.go");
  gtk_progress_bar_set_fraction(GTK_PROGRESS_BAR(p->progress), total ? (double)done / total : 0);
}

/* What stands in the way of scores, or of trusting them. */
static void show_notice(TmPageEvaluate *p) {
  const GError *error = tm_evaluator_error(p->evaluator);
  const TmRunInfo *chosen = tm_page_evaluate_chosen(p), *compared = tm_page_evaluate_compared(p);
  if (error && may_match(p)) {
    const guint data = tm_dataset_classes(p->dataset)->n;
    g_autofree char *words =
        p->net_classes->n != data
            ? g_strdup_printf(_("The checkpoint has %u classes, the data %u."), p->net_classes->n, data)
            : g_strdup(_("The checkpoint's classes have other names than the data's."));
    tm_notice_show(p->notice, TM_NOTICE_WARNING, NULL, words, _("Say which is which."));
    tm_notice_set_buttons(p->notice, _("Match Classes…"), "evaluate.match", NULL, NULL);
  } else if (error) {
    tm_notice_show(p->notice, TM_NOTICE_ERROR, NULL, _("This network could not be scored."), error->message);
    tm_notice_set_buttons(p->notice, NULL, NULL, NULL, NULL);
  } else if (!p->shown && chosen) {
    g_autofree char *words = g_strdup_printf(_("%s has not been scored on these pictures yet."), chosen->name);
    tm_notice_show(p->notice, TM_NOTICE_INFO, NULL, words, "");
    tm_notice_set_buttons(p->notice, _("Evaluate"), "evaluate.go", NULL, NULL);
  } else if (p->stale) {
    tm_notice_show(p->notice, TM_NOTICE_INFO, NULL, _("The network was trained on since it was scored."), "");
    tm_notice_set_buttons(p->notice, _("Evaluate Again"), "evaluate.go", NULL, NULL);
  } else if (compared && !p->other) {
    g_autofree char *words = g_strdup_printf(_("%s has not been scored on these pictures yet."), compared->name);
    tm_notice_show(p->notice, TM_NOTICE_INFO, NULL, words, "");
    tm_notice_set_buttons(p->notice, _("Evaluate It Too"), "evaluate.go-other", NULL, NULL);
  } else if (p->shown && p->shown->unreadable->len) {
    g_autofree char *words = g_strdup_printf(ngettext("%u picture could not be read and is left out.",
                                                      "%u pictures could not be read and are left out.",
                                                      p->shown->unreadable->len),
                                             p->shown->unreadable->len);
    tm_notice_show(p->notice, TM_NOTICE_WARNING, NULL, words, p->shown->unreadable->pdata[0]);
    tm_notice_set_buttons(p->notice, NULL, NULL, NULL, NULL);
  } else {
    tm_notice_show(p->notice, TM_NOTICE_INFO, NULL, NULL, NULL);
  }
}

void tm_page_evaluate_refresh(TmPageEvaluate *p) {
  const gboolean busy = tm_evaluator_is_busy(p->evaluator), any = tm_page_evaluate_chosen(p) != NULL;
  gtk_stack_set_visible_child_name(GTK_STACK(p->stack), any && p->dataset ? "scores" : "empty");
  gtk_widget_set_visible(p->choices, any);
  gtk_widget_set_visible(p->split, any);
  gtk_widget_set_visible(p->progress, busy);
  gtk_label_set_label(GTK_LABEL(p->go_label), busy ? _("Cancel") : _("Evaluate"));
  gtk_image_set_from_icon_name(GTK_IMAGE(p->go_icon),
                               busy ? "media-playback-stop-symbolic" : "media-playback-start-symbolic");
  gtk_accessible_update_property(GTK_ACCESSIBLE(p->go), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                 busy ? _("Cancel Evaluating") : _("Evaluate"), -1);
  enable(p, "go", any && p->dataset);
  enable(p, "go-other", !busy && tm_page_evaluate_compared(p) != NULL);
  enable(p, "report", !busy && p->shown);
  enable(p, "match", !busy && may_match(p));
  enable(p, "show-files", any);
  g_autoptr(TmConfusion) so_far = busy ? tm_evaluator_so_far(p->evaluator) : NULL;
  const TmRunInfo *chosen = tm_page_evaluate_chosen(p);
  const gboolean of_this = busy && chosen && g_strcmp0(tm_evaluator_network(p->evaluator), chosen->path) == 0;
  tm_page_evaluate_show(p, of_this ? so_far : NULL);
  if (busy)
    show_progress(p);
  else
    show_notice(p);
  gtk_widget_set_visible(p->notices, gtk_widget_get_visible(GTK_WIDGET(p->notice)));
  if (!busy) tm_page_evaluate_show_worst(p);
}

static void evaluator_changed(TmPageEvaluate *p) {
  TmEvaluation *e = tm_evaluator_take(p->evaluator);
  if (e) {
    const TmRunInfo *chosen = tm_page_evaluate_chosen(p), *compared = tm_page_evaluate_compared(p);
    const char *network = tm_evaluator_network(p->evaluator);
    if (chosen && g_str_equal(network, chosen->path)) {
      g_clear_pointer(&p->shown, tm_evaluation_free);
      p->shown = e;
      p->stale = FALSE;
    } else if (compared && g_str_equal(network, compared->path)) {
      g_clear_pointer(&p->other, tm_evaluation_free);
      p->other = e;
    } else {
      tm_evaluation_free(e);
    }
  }
  TmClassTable *net = tm_evaluator_differing_classes(p->evaluator);
  if (net) {
    g_clear_pointer(&p->net_classes, tm_class_table_free);
    g_free(p->foreign);
    p->net_classes = net;
    p->foreign = g_strdup(tm_evaluator_network(p->evaluator));
  }
  tm_page_evaluate_refresh(p);
}

/* ---- actions ---- */

static void begin(TmPageEvaluate *p, const TmRunInfo *r) {
  if (!r || !p->dataset) return;
  tm_evaluator_cancel_looks(p->evaluator);
  p->by_cell = FALSE;
  tm_evaluator_begin(p->evaluator, r->path, p->dataset, tm_page_evaluate_split(p), tm_page_evaluate_match(p));
}

static void do_go(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  TmPageEvaluate *p = user;
  if (tm_evaluator_is_busy(p->evaluator))
    tm_evaluator_stop(p->evaluator);
  else
    begin(p, tm_page_evaluate_chosen(p));
}

static void do_go_other(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  begin(user, tm_page_evaluate_compared(user));
}

static void checkpoint_chosen(GtkNativeDialog *dialog, int answer, TmPageEvaluate *p) {
  if (answer == GTK_RESPONSE_ACCEPT) {
    g_autoptr(GFile) file = gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog));
    g_free(p->opened);
    p->opened = g_file_get_path(file);
    p->quiet = TRUE;
    gtk_drop_down_set_selected(GTK_DROP_DOWN(p->run), GTK_INVALID_LIST_POSITION);
    p->quiet = FALSE;
    tm_page_evaluate_fill_networks(p);
  }
  g_object_unref(dialog);
}

static GtkWindow *window_of(TmPageEvaluate *p) {
  GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(p));
  return GTK_IS_WINDOW(root) ? GTK_WINDOW(root) : NULL;
}

static void do_open(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  TmPageEvaluate *p = user;
  GtkFileChooserNative *d = gtk_file_chooser_native_new(_("Open a Checkpoint"), window_of(p),
                                                        GTK_FILE_CHOOSER_ACTION_OPEN, _("_Open"), NULL);
  g_autoptr(GtkFileFilter) filter = gtk_file_filter_new();
  gtk_file_filter_set_name(filter, _("Checkpoints (.safetensors)"));
  gtk_file_filter_add_suffix(filter, "safetensors");
  gtk_file_chooser_add_filter(GTK_FILE_CHOOSER(d), filter);
  gtk_native_dialog_set_modal(GTK_NATIVE_DIALOG(d), TRUE);
  g_signal_connect_object(d, "response", G_CALLBACK(checkpoint_chosen), p, 0);
  gtk_native_dialog_show(GTK_NATIVE_DIALOG(d));
}

static void matched(const guint8 *match, gpointer user) {
  TmPageEvaluate *p = user;
  const TmRunInfo *r = tm_page_evaluate_chosen(p);
  if (!r) return;
  memcpy(p->match, match, sizeof p->match);
  g_free(p->matched);
  p->matched = g_strdup(r->path);
  begin(p, r);
}

static gboolean may_match(TmPageEvaluate *p) {
  const TmRunInfo *r = tm_page_evaluate_chosen(p);
  return r && p->dataset && g_strcmp0(r->path, p->foreign) == 0;
}

static void do_match(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  TmPageEvaluate *p = user;
  if (may_match(p))
    tm_match_dialog_show(window_of(p), p->net_classes, tm_dataset_classes(p->dataset), matched, G_OBJECT(p));
}

static void do_show_files(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  const TmRunInfo *r = tm_page_evaluate_chosen(user);
  g_autofree char *folder = r ? tm_run_source_folder(r->path) : NULL,
                  *uri = folder ? g_filename_to_uri(folder, NULL, NULL) : NULL;
  if (uri) gtk_show_uri(window_of(user), uri, GDK_CURRENT_TIME);
}

static void do_report(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  tm_page_evaluate_report(user);
}

static void show_cell(TmPageEvaluate *p) {
  p->by_cell = tm_confusion_map_get_selected(p->map, &p->truth, &p->call);
  p->n_pictures = TM_EVALUATE_PICTURES;
  tm_page_evaluate_show_worst(p);
}

static void do_show_cell(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  show_cell(user);
  if (gtk_widget_get_visible(TM_PAGE_EVALUATE(user)->switcher))
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(TM_PAGE_EVALUATE(user)->view_button[TM_EVALUATE_WORST]), TRUE);
}

static void do_show_all(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  TmPageEvaluate *p = user;
  p->by_cell = FALSE;
  p->n_pictures = TM_EVALUATE_PICTURES;
  tm_page_evaluate_show_worst(p);
}

static void do_more_pictures(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  TmPageEvaluate *p = user;
  p->n_pictures += 4 * TM_EVALUATE_PICTURES;
  tm_page_evaluate_show_worst(p);
}

static void do_choose(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  TmPageEvaluate *p = user;
  GtkWidget *lists[] = {p->run, p->compare, p->split};
  const int i = g_variant_get_int32(v);
  if (i >= 0 && i < 3) gtk_widget_activate(lists[i]);
}

static const GActionEntry entries[] = {
    {.name = "go", .activate = do_go},
    {.name = "go-other", .activate = do_go_other},
    {.name = "open", .activate = do_open},
    {.name = "match", .activate = do_match},
    {.name = "show-files", .activate = do_show_files},
    {.name = "report", .activate = do_report},
    {.name = "show-cell", .activate = do_show_cell},
    {.name = "show-all", .activate = do_show_all},
    {.name = "more-pictures", .activate = do_more_pictures},
    {.name = "choose", .activate = do_choose, .parameter_type = "i"},
};

static void cell_selected(TmConfusionMap *m, guint truth, guint call, TmPageEvaluate *p) {
  (void)m;
  (void)truth;
  (void)call;
  tm_page_evaluate_show_sentence(p);
}

static void class_activated(TmScoreBars *b, guint row, TmPageEvaluate *p) {
  (void)b;
  if (row >= p->class_order->len) return;
  p->worst_class = g_array_index(p->class_order, guint, row);
  p->by_cell = FALSE;
  gtk_drop_down_set_selected(GTK_DROP_DOWN(p->worst_order), 2);
  tm_page_evaluate_show_worst(p);
}

static void scale_chosen(TmPageEvaluate *p) {
  tm_confusion_map_set_scale(p->map, (TmConfusionScale)gtk_drop_down_get_selected(GTK_DROP_DOWN(p->scale)));
  static const char *const words[] = {N_("% of true pixels"), N_("% of called pixels"), N_("% of all pixels")};
  gtk_label_set_label(GTK_LABEL(p->scale_words), _(words[MIN(gtk_drop_down_get_selected(GTK_DROP_DOWN(p->scale)), 2)]));
}

static void table_toggled(TmPageEvaluate *p) {
  const gboolean table = gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(p->table_button));
  gtk_stack_set_visible_child_name(GTK_STACK(p->map_stack), table ? "table" : "map");
  gtk_widget_set_visible(p->sentence_box, !table);
  gtk_widget_set_sensitive(p->scale, !table);
}

/* ---- layout ---- */

static TmEvaluateView chosen_view(TmPageEvaluate *p) {
  for (int i = 0; i < TM_EVALUATE_N_VIEWS; i++)
    if (gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(p->view_button[i]))) return (TmEvaluateView)i;
  return TM_EVALUATE_SCORES;
}

static void lay_out(TmPageEvaluate *p) {
  const gboolean narrow = tm_adaptive_get_narrow(TM_ADAPTIVE(p->page_bin)),
                 stacked = tm_adaptive_get_narrow(TM_ADAPTIVE(p->cards_bin)), all = !narrow;
  const GtkOrientation turn = stacked ? GTK_ORIENTATION_VERTICAL : GTK_ORIENTATION_HORIZONTAL;
  const guint tiles = narrow ? 2 : stacked ? 3 : TM_EVALUATE_TILES;
  gtk_orientable_set_orientation(GTK_ORIENTABLE(p->middle), turn);
  gtk_orientable_set_orientation(GTK_ORIENTABLE(p->bottom), turn);
  gtk_box_set_homogeneous(GTK_BOX(p->middle), !stacked);
  gtk_box_set_homogeneous(GTK_BOX(p->bottom), !stacked);
  gtk_flow_box_set_min_children_per_line(GTK_FLOW_BOX(p->tiles), tiles);
  gtk_flow_box_set_max_children_per_line(GTK_FLOW_BOX(p->tiles), tiles);
  tm_confusion_map_set_compact(p->map, narrow);
  gtk_widget_set_size_request(GTK_WIDGET(p->map), -1, narrow ? 300 : MAP_HEIGHT);
  gtk_widget_set_size_request(GTK_WIDGET(p->bars), -1, narrow ? -1 : MAP_HEIGHT);
  gtk_widget_set_visible(p->switcher, narrow);
  gtk_widget_set_visible(p->go_label, !stacked);
  gtk_widget_set_visible(p->report, !stacked);
  gtk_widget_set_visible(p->compared_label, !stacked);
  gtk_widget_set_visible(p->compare, !narrow);
  gtk_widget_set_visible(p->split, !narrow && p->n_splits > 0 && tm_page_evaluate_chosen(p));
  adw_header_bar_set_decoration_layout(ADW_HEADER_BAR(p->header), narrow ? ":close" : NULL);
  const TmEvaluateView view = chosen_view(p);
  gtk_widget_set_visible(p->tiles, all || view == TM_EVALUATE_SCORES);
  gtk_widget_set_visible(p->bottom, all || view == TM_EVALUATE_SCORES);
  gtk_widget_set_visible(p->middle, all || view == TM_EVALUATE_CLASSES || view == TM_EVALUATE_CONFUSION);
  gtk_widget_set_visible(p->bars_card, all || view == TM_EVALUATE_CLASSES);
  gtk_widget_set_visible(p->map_card, all || view == TM_EVALUATE_CONFUSION);
  gtk_widget_set_visible(p->worst_card, all || view == TM_EVALUATE_WORST);
}

static void view_toggled(GtkToggleButton *b, TmPageEvaluate *p) {
  if (gtk_toggle_button_get_active(b)) lay_out(p);
}

static void make_switcher(TmPageEvaluate *p) {
  static const char *const names[] = {N_("Scores"), N_("Classes"), N_("Confusion"), N_("Worst")};
  static const char *const icons[] = {"tm-speed-symbolic", "tm-evaluate-symbolic", "view-grid-symbolic",
                                      "image-x-generic-symbolic"};
  tm_view_switcher_fill(GTK_BOX(p->switcher), names, icons, TM_EVALUATE_N_VIEWS, p->view_button,
                        G_CALLBACK(view_toggled), p);
}

/* ---- the type ---- */

static void map(GtkWidget *w) {
  GTK_WIDGET_CLASS(tm_page_evaluate_parent_class)->map(w);
  TmPageEvaluate *p = TM_PAGE_EVALUATE(w);
  if (!tm_evaluator_is_busy(p->evaluator)) tm_page_evaluate_fill_networks(p); /* there may be new ones */
}

static void dispose(GObject *o) {
  TmPageEvaluate *p = TM_PAGE_EVALUATE(o);
  if (p->reading) g_cancellable_cancel(p->reading);
  g_clear_object(&p->reading);
  if (p->project) g_signal_handlers_disconnect_by_data(p->project, p);
  g_clear_object(&p->project);
  if (p->evaluator) {
    g_signal_handlers_disconnect_by_data(p->evaluator, p);
    tm_evaluator_cancel_looks(p->evaluator);
  }
  g_clear_object(&p->evaluator);
  g_clear_object(&p->actions);
  g_clear_pointer(&p->dataset, tm_dataset_unref);
  g_clear_pointer(&p->networks, g_ptr_array_unref);
  g_clear_pointer(&p->opened, g_free);
  g_clear_pointer(&p->matched, g_free);
  g_clear_pointer(&p->foreign, g_free);
  g_clear_pointer(&p->net_classes, tm_class_table_free);
  g_clear_pointer(&p->shown, tm_evaluation_free);
  g_clear_pointer(&p->other, tm_evaluation_free);
  g_clear_pointer(&p->class_order, g_array_unref);
  gtk_widget_dispose_template(GTK_WIDGET(o), TM_TYPE_PAGE_EVALUATE);
  G_OBJECT_CLASS(tm_page_evaluate_parent_class)->dispose(o);
}

static void tm_page_evaluate_class_init(TmPageEvaluateClass *c) {
  GtkWidgetClass *wc = GTK_WIDGET_CLASS(c);
  G_OBJECT_CLASS(c)->dispose = dispose;
  wc->map = map;
  g_type_ensure(TM_TYPE_ADAPTIVE);
  gtk_widget_class_set_template_from_resource(wc, "/io/github/tarmac/Tarmac/page_evaluate.ui");
#define BIND(name) gtk_widget_class_bind_template_child(wc, TmPageEvaluate, name)
  BIND(header), BIND(title), BIND(back), BIND(go), BIND(go_icon), BIND(go_label), BIND(choices_place), BIND(choices),
      BIND(run), BIND(compared_label), BIND(compare), BIND(more), BIND(report), BIND(split), BIND(progress);
  BIND(stack), BIND(page_bin), BIND(scroller), BIND(cards_bin), BIND(cards), BIND(notices), BIND(tiles), BIND(middle),
      BIND(bars_card), BIND(tick_label), BIND(order), BIND(map_card), BIND(scale_words), BIND(scale);
  BIND(table_button), BIND(map_stack), BIND(sentence), BIND(sentence_box), BIND(show_pictures), BIND(worst_card),
      BIND(worst_title), BIND(worst_words), BIND(all_pictures), BIND(worst_order), BIND(worst), BIND(more_pictures);
  BIND(bottom), BIND(sizes_card), BIND(sizes_words), BIND(calibration_card), BIND(calibration_words), BIND(switcher);
#undef BIND
}

static void set_words(GtkWidget *list, const char *const *words) {
  g_autoptr(GtkStringList) model = gtk_string_list_new(NULL);
  for (; *words; words++) gtk_string_list_append(model, _(*words));
  gtk_drop_down_set_model(GTK_DROP_DOWN(list), G_LIST_MODEL(model));
}

static void make_lists(TmPageEvaluate *p) {
  static const char *const orders[] = {N_("By score"), N_("By name"), N_("By change"), NULL},
                           *const scales[] = {N_("By truth"), N_("By call"), N_("Pixels"), NULL},
                           *const worst[] = {N_("By mean IoU"), N_("By boundary"), N_("By class"), NULL};
  tm_short_list_set_up(GTK_DROP_DOWN(p->run), 6);
  tm_short_list_set_up(GTK_DROP_DOWN(p->compare), 5);
  tm_short_list_set_up(GTK_DROP_DOWN(p->split), 4);
  set_words(p->order, orders);
  set_words(p->scale, scales);
  set_words(p->worst_order, worst);
  g_signal_connect_swapped(p->order, "notify::selected", G_CALLBACK(tm_page_evaluate_refresh), p);
  g_signal_connect_swapped(p->scale, "notify::selected", G_CALLBACK(scale_chosen), p);
  g_signal_connect_swapped(p->worst_order, "notify::selected", G_CALLBACK(tm_page_evaluate_show_worst), p);
  g_signal_connect_swapped(p->run, "notify::selected", G_CALLBACK(choice_changed), p);
  g_signal_connect_swapped(p->compare, "notify::selected", G_CALLBACK(choice_changed), p);
  g_signal_connect_swapped(p->split, "notify::selected", G_CALLBACK(choice_changed), p);
}

static void make_cards(TmPageEvaluate *p) {
  p->notice = TM_NOTICE(tm_notice_new());
  gtk_box_append(GTK_BOX(p->notices), GTK_WIDGET(p->notice));
  tm_page_evaluate_make_tiles(p);
  p->bars = TM_SCORE_BARS(tm_score_bars_new(_("IoU by class")));
  gtk_widget_set_vexpand(GTK_WIDGET(p->bars), TRUE);
  gtk_box_append(GTK_BOX(p->bars_card), GTK_WIDGET(p->bars));
  p->map = TM_CONFUSION_MAP(tm_confusion_map_new());
  p->table = TM_CONFUSION_TABLE(tm_confusion_table_new());
  gtk_stack_add_named(GTK_STACK(p->map_stack), GTK_WIDGET(p->map), "map");
  gtk_stack_add_named(GTK_STACK(p->map_stack), GTK_WIDGET(p->table), "table");
  p->sizes = TM_SCORE_BARS(tm_score_bars_new(_("IoU by size of region")));
  gtk_box_append(GTK_BOX(p->sizes_card), GTK_WIDGET(p->sizes));
  p->calibration = TM_RELIABILITY_PLOT(tm_reliability_plot_new());
  gtk_widget_set_vexpand(GTK_WIDGET(p->calibration), TRUE);
  gtk_box_append(GTK_BOX(p->calibration_card), GTK_WIDGET(p->calibration));
  g_signal_connect(p->map, "selected", G_CALLBACK(cell_selected), p);
  g_signal_connect_swapped(p->map, "activated", G_CALLBACK(show_cell), p);
  g_signal_connect(p->bars, "activated", G_CALLBACK(class_activated), p);
  g_signal_connect_swapped(p->table_button, "toggled", G_CALLBACK(table_toggled), p);
}

static void tm_page_evaluate_init(TmPageEvaluate *p) {
  p->class_order = g_array_new(FALSE, FALSE, sizeof(guint));
  p->worst_class = G_MAXUINT;
  p->n_pictures = TM_EVALUATE_PICTURES;
  p->evaluator = tm_evaluator_new();
  p->actions = g_simple_action_group_new();
  g_action_map_add_action_entries(G_ACTION_MAP(p->actions), entries, G_N_ELEMENTS(entries), p);
  gtk_widget_init_template(GTK_WIDGET(p));
  make_cards(p);
  make_lists(p);
  make_switcher(p);
  scale_chosen(p);
  g_signal_connect_swapped(p->evaluator, "changed", G_CALLBACK(evaluator_changed), p);
  g_signal_connect_swapped(p->page_bin, "notify::narrow", G_CALLBACK(lay_out), p);
  g_signal_connect_swapped(p->cards_bin, "notify::narrow", G_CALLBACK(lay_out), p);
  lay_out(p);
}

TmPage *tm_page_evaluate_new(TmProject *project) {
  TmPageEvaluate *p = g_object_new(TM_TYPE_PAGE_EVALUATE, NULL);
  p->project = g_object_ref(project);
  g_signal_connect_swapped(project, "changed", G_CALLBACK(project_changed), p);
  project_changed(p);
  tm_page_evaluate_fill_networks(p);
  return TM_PAGE(p);
}

static void set_folded(TmPage *page, gboolean folded) {
  gtk_widget_set_visible(TM_PAGE_EVALUATE(page)->back, folded);
}

static GActionGroup *actions(TmPage *page) {
  return G_ACTION_GROUP(TM_PAGE_EVALUATE(page)->actions);
}

static void page_iface(TmPageInterface *i) {
  i->set_folded = set_folded;
  i->actions = actions;
}
