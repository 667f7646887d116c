#include "app/page_data.h"

#include <glib/gi18n.h>

#include "app/class_editor.h"
#include "app/data_checks.h"
#include "app/data_inspector.h"
#include "app/split_editor.h"
#include "ui/adaptive.h"
#include "ui/class_chips.h"
#include "ui/gallery.h"
#include "ui/picture_query.h"
#include "ui/share_bars.h"
#include "ui/words.h"

enum { N_SPLIT_BUTTONS = TM_N_SPLITS + 1, CHIPS_WIDE = 6, CHIPS_STACKED = 2 };

struct _TmPageData {
  GtkBox parent;
  GtkWidget *header, *splits, *back, *add, *panel_button, *search_bar, *search, *stack, *empty, *page_bin,
      *flap, *cards_bin, *top_row, *shares_card, *void_share, *shares_waiting, *checks_card, *checks_count,
      *rescan, *scanning, *scanning_text, *scanning_bar, *cancel, *checks_bin, *filter_row, *chips_bin,
      *no_filter, *matches, *gallery_stack, *gallery_box, *nothing, *panel, *panel_box;
  GtkWidget *split_button[N_SPLIT_BUTTONS]; /* all, then by split */
  TmGallery *gallery;
  TmShareBars *bars;
  TmClassChips *chips;
  TmDataInspector *inspector;
  GSimpleActionGroup *actions;
  TmPictureQuery *query;
  GArray *issue_entries; /* guint: of the finding whose pictures are shown; NULL: none */
  int split;             /* -1: all */
  TmProject *project;
  TmDataset *shown;         /* only compared */
  char *shown_path;         /* of its folder */
  char *looked_at;          /* key of the picture in the panel */
  const TmScan *shown_scan; /* only compared */
  gint64 scan_began;
};

static void page_iface(TmPageInterface *i);

G_DEFINE_FINAL_TYPE_WITH_CODE(TmPageData, tm_page_data, GTK_TYPE_BOX,
                              G_IMPLEMENT_INTERFACE(TM_TYPE_PAGE, page_iface))

/* ---- which pictures ---- */

static gboolean wanted(guint entry, gpointer user) {
  TmPageData *p = user;
  return tm_picture_query_matches(p->query, p->shown, p->shown_scan, tm_project_alike(p->project), entry);
}

static void show_matches(TmPageData *p) {
  const guint all = p->shown ? tm_dataset_n(p->shown) : 0;
  guint n = 0;
  for (guint i = 0; i < all; i++) n += wanted(i, p);
  g_autofree char *count = tm_words_count(n),
                  *text = n == all ? NULL : g_strdup_printf(ngettext("%s match", "%s match", n), count);
  gtk_label_set_label(GTK_LABEL(p->matches), text ? text : "");
  gtk_stack_set_visible_child_name(GTK_STACK(p->gallery_stack), n || !all ? "some" : "none");
  gtk_widget_set_visible(p->no_filter, p->issue_entries != NULL);
}

static void filter(TmPageData *p) {
  if (!p->shown) return;
  g_clear_pointer(&p->query, tm_picture_query_free);
  p->query =
      tm_picture_query_new(gtk_editable_get_text(GTK_EDITABLE(p->search)), tm_dataset_classes(p->shown));
  const GArray *chosen = tm_class_chips_chosen(p->chips);
  for (guint i = 0; i < chosen->len; i++)
    tm_picture_query_add_class(p->query, g_array_index(chosen, guint, i));
  if (p->split >= 0) tm_picture_query_set_split(p->query, (TmSplit)p->split);
  if (p->issue_entries) tm_picture_query_set_entries(p->query, p->issue_entries);
  tm_gallery_set_filter(p->gallery, tm_picture_query_asks(p->query) ? wanted : NULL, p);
  show_matches(p);
}

static void clear_filter(TmPageData *p) {
  g_clear_pointer(&p->issue_entries, g_array_unref);
  gtk_editable_set_text(GTK_EDITABLE(p->search), "");
  gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(p->split_button[0]), TRUE);
  tm_class_chips_clear(p->chips); /* which filters */
}

static void show_issue(TmDataChecks *c, guint index, TmPageData *p) {
  (void)c;
  GPtrArray *all = tm_project_issues(p->project);
  if (!all || index >= all->len) return;
  clear_filter(p);
  p->issue_entries = g_array_copy(((TmIssue *)all->pdata[index])->entries);
  filter(p);
}

static void selected(TmGallery *g, guint entry, TmPageData *p) {
  (void)g;
  if (!p->shown || entry >= tm_dataset_n(p->shown)) return;
  g_free(p->looked_at);
  p->looked_at = tm_dataset_key(p->shown, entry);
  tm_data_inspector_show(p->inspector, entry);
}

static void activated(TmGallery *g, guint entry, TmPageData *p) {
  (void)g;
  tm_data_inspector_show(p->inspector, entry);
  adw_flap_set_reveal_flap(ADW_FLAP(p->flap), TRUE);
}

static void go(TmDataInspector *i, int by, TmPageData *p) {
  (void)i;
  tm_gallery_go(p->gallery, by);
}

static void overlay(TmDataInspector *i, double opacity, TmPageData *p) {
  (void)i;
  tm_gallery_set_opacity(p->gallery, opacity);
}

/* Not while something is typed. */
static gboolean key(GtkEventControllerKey *k, guint val, guint code, GdkModifierType state, TmPageData *p) {
  (void)k;
  (void)code;
  GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(p));
  GtkWidget *focus = root ? gtk_root_get_focus(root) : NULL;
  return !(focus && GTK_IS_EDITABLE(focus)) && tm_data_inspector_key(p->inspector, val, state);
}

/* ---- the scan ---- */

static void show_shares(TmPageData *p, const TmScan *s, const TmClassTable *t) {
  g_autofree double *shares = g_new0(double, t->n);
  double all = 0, empty = 0;
  for (int split = 0; split < TM_N_SPLITS; split++) {
    for (guint c = 0; c < t->n; c++) {
      shares[c] += (double)s->pixels[split][c];
      all += (double)s->pixels[split][c];
    }
    empty += (double)s->pixels[split][TM_MAX_CLASSES];
  }
  for (guint c = 0; c < t->n; c++) shares[c] /= all > 0 ? all : 1;
  tm_share_bars_set(p->bars, t, shares);
  g_autofree char *share = tm_words_percent(all + empty > 0 ? empty / (all + empty) : 0),
                  *text = g_strdup_printf(_("void %s"), share);
  gtk_label_set_label(GTK_LABEL(p->void_share), text);
}

static void show_scan(TmPageData *p) {
  const TmScan *s = tm_project_scan(p->project);
  if (s == p->shown_scan) return;
  p->shown_scan = s;
  gtk_widget_set_visible(p->shares_waiting, !s);
  gtk_widget_set_visible(GTK_WIDGET(p->bars), s != NULL);
  gtk_widget_set_sensitive(GTK_WIDGET(p->chips), s != NULL);
  const guint open = tm_data_checks_open(p->project);
  g_autofree char *count = g_strdup_printf(ngettext("%u to fix", "%u to fix", open), open);
  gtk_label_set_label(GTK_LABEL(p->checks_count), count);
  gtk_widget_set_visible(p->checks_count, open > 0);
  if (!s) {
    gtk_label_set_label(GTK_LABEL(p->void_share), "");
    tm_gallery_set_flagged(p->gallery, NULL);
    return;
  }
  show_shares(p, s, tm_dataset_classes(p->shown));
  g_autofree gboolean *flagged = g_new0(gboolean, MAX(tm_dataset_n(p->shown), 1u));
  GPtrArray *issues = tm_project_issues(p->project);
  for (guint i = 0; issues && i < issues->len; i++) {
    const TmIssue *x = issues->pdata[i];
    for (guint k = 0; x->level != TM_ISSUE_HINT && k < x->entries->len; k++)
      flagged[g_array_index(x->entries, guint, k)] = TRUE;
  }
  tm_gallery_set_flagged(p->gallery, flagged);
  if (p->query && tm_picture_query_asks(p->query)) filter(p);
}

/* Nothing for the first seconds, then how far it is. */
static void show_progress(TmPageData *p) {
  gboolean scanning = tm_project_state(p->project) == TM_PROJECT_SCANNING;
  gint64 now = g_get_monotonic_time();
  if (!scanning)
    p->scan_began = 0;
  else if (!p->scan_began)
    p->scan_began = now;
  gtk_widget_set_visible(p->scanning, scanning && now - p->scan_began > 2 * G_USEC_PER_SEC);
  if (!scanning) return;
  guint done, total;
  tm_project_progress(p->project, &done, &total);
  g_autofree char *a = tm_words_count(done), *b = tm_words_count(total),
                  *text = g_strdup_printf(_("Reading the masks: %s of %s"), a, b);
  gtk_label_set_label(GTK_LABEL(p->scanning_text), text);
  gtk_progress_bar_set_fraction(GTK_PROGRESS_BAR(p->scanning_bar), total ? (double)done / total : 0);
}

/* ---- the dataset ---- */

static void split_toggled(GtkToggleButton *b, TmPageData *p) {
  if (!gtk_toggle_button_get_active(b)) return;
  for (int i = 0; i < N_SPLIT_BUTTONS; i++)
    if (p->split_button[i] == GTK_WIDGET(b)) p->split = i - 1;
  filter(p);
}

static void show_splits(TmPageData *p) {
  gboolean narrow = tm_adaptive_get_narrow(TM_ADAPTIVE(p->page_bin));
  static const char *const names[N_SPLIT_BUTTONS] = {N_("All"), N_("Train"), N_("Val"), N_("Test")};
  for (int i = 0; i < N_SPLIT_BUTTONS; i++) {
    guint n = !p->shown ? 0 : i ? tm_dataset_n_split(p->shown, (TmSplit)(i - 1)) : tm_dataset_n(p->shown);
    g_autofree char *count = tm_words_count(n),
                    *text = narrow ? g_strdup(_(names[i])) : g_strdup_printf("%s %s", _(names[i]), count);
    gtk_button_set_label(GTK_BUTTON(p->split_button[i]), text);
    gtk_widget_set_visible(p->split_button[i], n > 0);
  }
}

static void show_badge(TmPageData *p) {
  const guint open = tm_data_checks_open(p->project);
  g_autofree char *text = open ? g_strdup_printf("%u", open) : NULL;
  g_autofree char *name = open
                              ? g_strdup_printf(ngettext("Data, %u finding", "Data, %u findings", open), open)
                              : g_strdup(_("Data"));
  tm_page_badge(TM_PAGE(p), text, name, TRUE);
}

/* Another dataset begins anew; the same one after a change keeps what was looked at. */
static void show_dataset(TmPageData *p, TmDataset *d) {
  const char *path = d ? tm_dataset_path(d) : NULL;
  const gboolean same = d && g_strcmp0(path, p->shown_path) == 0;
  g_autofree char *looked_at =
      same ? g_strdup(p->looked_at) : NULL; /* the gallery selects its first meanwhile */
  p->shown = d;
  p->shown_scan = NULL;
  g_free(p->shown_path);
  p->shown_path = g_strdup(path);
  g_clear_pointer(&p->issue_entries, g_array_unref);
  tm_gallery_set_filter(p->gallery, NULL, NULL);
  g_clear_pointer(&p->query, tm_picture_query_free);
  const GArray *chosen = tm_class_chips_chosen(p->chips);
  if (!same || chosen->len == 0 || !d) tm_class_chips_set_classes(p->chips, d ? tm_dataset_classes(d) : NULL);
  if (!same) gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(p->split_button[0]), TRUE);
  show_splits(p);
  tm_gallery_set_dataset(p->gallery, d);
  gtk_stack_set_visible_child_name(GTK_STACK(p->stack), d ? "pictures" : "empty");
  filter(p);
  for (guint i = 0; looked_at && i < tm_dataset_n(d); i++) {
    g_autofree char *key = tm_dataset_key(d, i);
    if (strcmp(key, looked_at) == 0) tm_gallery_select(p->gallery, i);
  }
}

static void project_changed(TmPageData *p) {
  TmDataset *d = tm_project_dataset(p->project);
  if (d != p->shown) show_dataset(p, d);
  if (d) show_scan(p);
  show_badge(p);
  show_progress(p);
  const char *error = tm_project_error(p->project);
  gboolean opening = tm_project_state(p->project) == TM_PROJECT_OPENING;
  adw_status_page_set_title(ADW_STATUS_PAGE(p->empty), opening ? _("Opening the Folder")
                                                       : error ? _("This Cannot Be Opened")
                                                               : _("No Pictures Yet"));
  g_autofree char *text = error ? g_markup_escape_text(error, -1) : NULL;
  adw_status_page_set_description(
      ADW_STATUS_PAGE(p->empty),
      text ? text : _("Open a folder with pictures and masks, or look at the demo roads."));
}

static void lay_out(TmPageData *p) {
  gboolean narrow = tm_adaptive_get_narrow(TM_ADAPTIVE(p->page_bin)),
           stacked = tm_adaptive_get_narrow(TM_ADAPTIVE(p->cards_bin));
  gtk_orientable_set_orientation(GTK_ORIENTABLE(p->top_row),
                                 stacked ? GTK_ORIENTATION_VERTICAL : GTK_ORIENTATION_HORIZONTAL);
  gtk_box_set_homogeneous(GTK_BOX(p->top_row), !stacked);
  gtk_widget_set_visible(p->shares_card, !narrow);
  gtk_widget_set_visible(p->add, !narrow);
  tm_class_chips_set_room(p->chips, narrow ? 1 : stacked ? CHIPS_STACKED : CHIPS_WIDE);
  adw_header_bar_set_decoration_layout(ADW_HEADER_BAR(p->header), narrow ? ":close" : NULL);
  show_splits(p);
}

static void dispose(GObject *o) {
  TmPageData *p = TM_PAGE_DATA(o);
  if (p->project) g_signal_handlers_disconnect_by_data(p->project, p);
  if (p->gallery) tm_gallery_set_filter(p->gallery, NULL, NULL);
  p->gallery = NULL;
  g_clear_object(&p->project);
  g_clear_object(&p->actions);
  g_clear_pointer(&p->query, tm_picture_query_free);
  g_clear_pointer(&p->issue_entries, g_array_unref);
  g_clear_pointer(&p->shown_path, g_free);
  g_clear_pointer(&p->looked_at, g_free);
  gtk_widget_dispose_template(GTK_WIDGET(o), TM_TYPE_PAGE_DATA);
  G_OBJECT_CLASS(tm_page_data_parent_class)->dispose(o);
}

static void tm_page_data_class_init(TmPageDataClass *c) {
  GtkWidgetClass *wc = GTK_WIDGET_CLASS(c);
  G_OBJECT_CLASS(c)->dispose = dispose;
  g_type_ensure(TM_TYPE_ADAPTIVE);
  gtk_widget_class_set_template_from_resource(wc, "/io/github/tarmac/Tarmac/page_data.ui");
#define BIND(name) gtk_widget_class_bind_template_child(wc, TmPageData, name)
  BIND(header), BIND(splits), BIND(back), BIND(add), BIND(panel_button), BIND(search_bar), BIND(search),
      BIND(stack), BIND(empty);
  BIND(page_bin), BIND(flap), BIND(cards_bin), BIND(top_row), BIND(shares_card), BIND(void_share),
      BIND(shares_waiting);
  BIND(checks_card), BIND(checks_count), BIND(rescan), BIND(scanning), BIND(scanning_text),
      BIND(scanning_bar), BIND(cancel);
  BIND(checks_bin), BIND(filter_row), BIND(chips_bin), BIND(no_filter), BIND(matches), BIND(gallery_stack),
      BIND(gallery_box);
  BIND(nothing), BIND(panel), BIND(panel_box);
#undef BIND
}

static void make_splits(TmPageData *p) {
  for (int i = 0; i < N_SPLIT_BUTTONS; i++) {
    p->split_button[i] = gtk_toggle_button_new();
    if (i)
      gtk_toggle_button_set_group(GTK_TOGGLE_BUTTON(p->split_button[i]),
                                  GTK_TOGGLE_BUTTON(p->split_button[0]));
    gtk_box_append(GTK_BOX(p->splits), p->split_button[i]);
  }
  for (int i = 0; i < N_SPLIT_BUTTONS; i++)
    g_signal_connect(p->split_button[i], "toggled", G_CALLBACK(split_toggled), p);
}

static void do_clear_filter(GSimpleAction *a, GVariant *v, gpointer p) {
  (void)a;
  (void)v;
  clear_filter(p);
}

static void do_search(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  TmPageData *p = user;
  gtk_search_bar_set_search_mode(GTK_SEARCH_BAR(p->search_bar), TRUE);
  gtk_widget_grab_focus(p->search);
}

static void do_classes(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  TmPageData *p = user;
  tm_class_editor_present(GTK_WINDOW(gtk_widget_get_root(GTK_WIDGET(p))), p->project);
}

static void do_split(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  TmPageData *p = user;
  tm_split_editor_present(GTK_WINDOW(gtk_widget_get_root(GTK_WIDGET(p))), p->project);
}

static const GActionEntry entries[] = {
    {.name = "classes", .activate = do_classes},
    {.name = "split", .activate = do_split},
    {.name = "clear-filter", .activate = do_clear_filter},
    {.name = "search", .activate = do_search},
};

/* Within the page, since other pages have a search and an undo of their own. */
static void add_shortcuts(TmPageData *p) {
  static const struct {
    guint key;
    const char *action;
  } all[] = {{GDK_KEY_f, "data.search"}, {GDK_KEY_z, "win.undo-change"}};
  GtkEventController *c = gtk_shortcut_controller_new();
  for (guint i = 0; i < G_N_ELEMENTS(all); i++)
    gtk_shortcut_controller_add_shortcut(
        GTK_SHORTCUT_CONTROLLER(c), gtk_shortcut_new(gtk_keyval_trigger_new(all[i].key, GDK_CONTROL_MASK),
                                                     gtk_named_action_new(all[i].action)));
  gtk_widget_add_controller(GTK_WIDGET(p), c);
}

static void tm_page_data_init(TmPageData *p) {
  gtk_widget_init_template(GTK_WIDGET(p));
  p->split = -1;
  p->gallery = TM_GALLERY(tm_gallery_new());
  gtk_widget_set_hexpand(GTK_WIDGET(p->gallery), TRUE);
  gtk_box_append(GTK_BOX(p->gallery_box), GTK_WIDGET(p->gallery));
  p->bars = TM_SHARE_BARS(tm_share_bars_new());
  gtk_box_append(GTK_BOX(p->shares_card), GTK_WIDGET(p->bars));
  p->chips = TM_CLASS_CHIPS(tm_class_chips_new());
  gtk_box_append(GTK_BOX(p->chips_bin), GTK_WIDGET(p->chips));
  gtk_search_bar_connect_entry(GTK_SEARCH_BAR(p->search_bar), GTK_EDITABLE(p->search));
  make_splits(p);
  p->actions = g_simple_action_group_new();
  g_action_map_add_action_entries(G_ACTION_MAP(p->actions), entries, G_N_ELEMENTS(entries), p);
  g_signal_connect(p->gallery, "selected", G_CALLBACK(selected), p);
  g_signal_connect(p->gallery, "activated", G_CALLBACK(activated), p);
  g_signal_connect_swapped(p->chips, "changed", G_CALLBACK(filter), p);
  g_signal_connect_swapped(p->search, "search-changed", G_CALLBACK(filter), p);
  g_signal_connect_swapped(p->no_filter, "clicked", G_CALLBACK(clear_filter), p);
  g_signal_connect_swapped(p->page_bin, "notify::narrow", G_CALLBACK(lay_out), p);
  g_signal_connect_swapped(p->cards_bin, "notify::narrow", G_CALLBACK(lay_out), p);
  GtkEventController *keys = gtk_event_controller_key_new();
  g_signal_connect(keys, "key-pressed", G_CALLBACK(key), p);
  gtk_widget_add_controller(GTK_WIDGET(p), keys);
  add_shortcuts(p);
  lay_out(p);
}

TmPage *tm_page_data_new(TmProject *project) {
  TmPageData *p = g_object_new(TM_TYPE_PAGE_DATA, NULL);
  p->project = g_object_ref(project);
  TmDataChecks *checks = tm_data_checks_new(project);
  gtk_box_append(GTK_BOX(p->checks_bin), GTK_WIDGET(checks));
  p->inspector = tm_data_inspector_new(project); /* before the page: it must know a new dataset first */
  gtk_box_append(GTK_BOX(p->panel_box), GTK_WIDGET(p->inspector));
  g_signal_connect(checks, "show-pictures", G_CALLBACK(show_issue), p);
  g_signal_connect(p->inspector, "go", G_CALLBACK(go), p);
  g_signal_connect(p->inspector, "overlay", G_CALLBACK(overlay), p);
  g_signal_connect_swapped(project, "changed", G_CALLBACK(project_changed), p);
  project_changed(p);
  return TM_PAGE(p);
}

static GActionGroup *actions(TmPage *page) {
  return G_ACTION_GROUP(TM_PAGE_DATA(page)->actions);
}

static void set_folded(TmPage *page, gboolean folded) {
  gtk_widget_set_visible(TM_PAGE_DATA(page)->back, folded);
}

static void toggle_panel(TmPage *page) {
  AdwFlap *flap = ADW_FLAP(TM_PAGE_DATA(page)->flap);
  adw_flap_set_reveal_flap(flap, !adw_flap_get_reveal_flap(flap));
}

static void page_iface(TmPageInterface *i) {
  i->set_folded = set_folded;
  i->toggle_panel = toggle_panel;
  i->actions = actions;
}
