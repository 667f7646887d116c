#include "app/page_data.h"

#include <glib/gi18n.h>

#include "ui/adaptive.h"
#include "ui/class_toggles.h"
#include "ui/gallery.h"
#include "ui/mask_view.h"
#include "ui/share_bars.h"
#include "ui/words.h"

enum { MOST_FINDINGS = 200, N_SPLIT_BUTTONS = TM_N_SPLITS + 1 };

struct _TmPageData {
  GtkBox parent;
  GtkWidget *header, *splits, *back, *add, *panel_button, *stack, *empty, *page_bin, *flap, *cards_bin,
      *top_row, *shares_card, *void_share, *shares_waiting, *checks_card, *checks_count, *rescan, *scanning,
      *scanning_text, *scanning_bar, *cancel, *findings, *gallery_box, *panel, *panel_box, *name, *previous,
      *next, *about, *view_box, *pixel, *opacity_scale, *opacity_value, *all_classes;
  GtkWidget *split_button[N_SPLIT_BUTTONS]; /* all, then by split */
  TmGallery *gallery;
  TmShareBars *bars;
  TmClassToggles *toggles;
  TmMaskView *view;
  TmProject *project;
  TmDataset *shown;         /* only compared */
  const TmScan *shown_scan; /* only compared */
  gint64 scan_began;
  guint entry; /* in the panel */
  GCancellable *reading;
};

static void page_iface(TmPageInterface *i);

G_DEFINE_FINAL_TYPE_WITH_CODE(TmPageData, tm_page_data, GTK_TYPE_BOX,
                              G_IMPLEMENT_INTERFACE(TM_TYPE_PAGE, page_iface))

/* ---- one picture in large ---- */

typedef struct {
  TmDataset *dataset;
  guint entry;
} Reading;

static void reading_free(gpointer data) {
  Reading *r = data;
  tm_dataset_unref(r->dataset);
  g_free(r);
}

static void read_picture(GTask *task, gpointer source, gpointer data, GCancellable *cancel) {
  (void)source;
  Reading *r = data;
  if (g_cancellable_is_cancelled(cancel)) { /* the person went on before its turn came */
    g_task_return_pointer(task, NULL, NULL);
    return;
  }
  g_auto(TmSample) s = {0};
  GError *error = NULL;
  if (!tm_dataset_read(r->dataset, r->entry, &s, &error))
    g_task_return_error(task, error);
  else
    g_task_return_pointer(task,
                          tm_scene_new(s.w, s.h, g_steal_pointer(&s.rgb), NULL, g_steal_pointer(&s.labels),
                                       tm_dataset_classes(r->dataset)),
                          (GDestroyNotify)tm_scene_unref);
}

static const char *split_words(TmSplit s) {
  return s == TM_SPLIT_TRAIN ? _("Training") : s == TM_SPLIT_VAL ? _("Validation") : _("Test");
}

static void picture_read(GObject *source, GAsyncResult *result, gpointer user) {
  (void)user;
  TmPageData *p = TM_PAGE_DATA(source);
  g_autoptr(GError) error = NULL;
  g_autoptr(TmScene) scene = g_task_propagate_pointer(G_TASK(result), &error);
  const Reading *r = g_task_get_task_data(G_TASK(result));
  if (!p->view || r->dataset != p->shown || r->entry != p->entry || (!scene && !error)) return;
  tm_mask_view_set_placeholder(p->view, error ? error->message : NULL);
  tm_mask_view_set_scene(p->view, scene);
  const TmEntry *e = tm_dataset_entry(r->dataset, r->entry);
  g_autofree char *about = scene ? g_strdup_printf("%s · %d × %d", split_words(e->split), scene->w, scene->h)
                                 : g_strdup(split_words(e->split));
  gtk_label_set_label(GTK_LABEL(p->about), about);
  if (!scene || !scene->truth) {
    tm_class_toggles_set_shares(p->toggles, NULL);
    return;
  }
  g_autofree double *shares = g_new(double, scene->classes->n + 1);
  tm_scene_shares(scene, scene->truth, shares);
  tm_class_toggles_set_shares(p->toggles, shares);
}

static void show_picture(TmPageData *p, guint entry) {
  if (!p->shown || entry >= tm_dataset_n(p->shown)) return;
  p->entry = entry;
  gtk_label_set_label(GTK_LABEL(p->name), tm_dataset_entry(p->shown, entry)->name);
  if (p->reading) g_cancellable_cancel(p->reading);
  g_clear_object(&p->reading);
  p->reading = g_cancellable_new();
  Reading *r = g_new(Reading, 1);
  r->dataset = tm_dataset_ref(p->shown);
  r->entry = entry;
  g_autoptr(GTask) task = g_task_new(p, p->reading, picture_read, NULL);
  g_task_set_check_cancellable(task, FALSE);
  g_task_set_task_data(task, r, reading_free);
  g_task_run_in_thread(task, read_picture);
}

static void selected(TmGallery *g, guint entry, TmPageData *p) {
  (void)g;
  show_picture(p, entry);
}

static void activated(TmGallery *g, guint entry, TmPageData *p) {
  (void)g;
  show_picture(p, entry);
  adw_flap_set_reveal_flap(ADW_FLAP(p->flap), TRUE);
}

static void pointed(TmMaskView *v, int x, int y, TmPageData *p) {
  TmScene *s = tm_mask_view_get_scene(v);
  if (!s || x < 0) {
    gtk_label_set_label(GTK_LABEL(p->pixel), " ");
    return;
  }
  gsize at = (gsize)y * s->w + x;
  g_autofree char *what =
      s->truth ? g_strdup_printf("%s %u", tm_scene_class_name(s, s->truth[at]), s->truth[at]) : g_strdup("");
  g_autofree char *text = g_strdup_printf("%s · %u %u %u · x %d, y %d", what, s->rgb[at * 3],
                                          s->rgb[at * 3 + 1], s->rgb[at * 3 + 2], x, y);
  gtk_label_set_label(GTK_LABEL(p->pixel), text);
}

static void go_previous(TmPageData *p) {
  tm_gallery_go(p->gallery, -1);
}
static void go_next(TmPageData *p) {
  tm_gallery_go(p->gallery, 1);
}
static void show_all(TmPageData *p) {
  tm_class_toggles_only(p->toggles, G_MAXUINT);
}

static void opacity_changed(TmPageData *p) {
  double v = gtk_range_get_value(GTK_RANGE(p->opacity_scale)) / 100;
  g_autofree char *text = tm_words_percent(v);
  gtk_label_set_label(GTK_LABEL(p->opacity_value), text);
  tm_mask_view_set_opacity(p->view, v);
  tm_gallery_set_opacity(p->gallery, v);
}

static void hidden_changed(TmPageData *p) {
  guint n;
  const gboolean *hidden = tm_class_toggles_hidden(p->toggles, &n);
  tm_mask_view_set_hidden(p->view, hidden, n);
}

static gboolean key(GtkEventControllerKey *k, guint val, guint code, GdkModifierType state, TmPageData *p) {
  (void)k;
  (void)code;
  if (state & (GDK_CONTROL_MASK | GDK_ALT_MASK)) return FALSE;
  double v = gtk_range_get_value(GTK_RANGE(p->opacity_scale));
  switch (val) {
  case GDK_KEY_Page_Up:
    go_previous(p);
    return TRUE;
  case GDK_KEY_Page_Down:
    go_next(p);
    return TRUE;
  case GDK_KEY_bracketleft:
    gtk_range_set_value(GTK_RANGE(p->opacity_scale), v - 5);
    return TRUE;
  case GDK_KEY_bracketright:
    gtk_range_set_value(GTK_RANGE(p->opacity_scale), v + 5);
    return TRUE;
  default:
    return FALSE;
  }
}

/* ---- the scan ---- */

static const char *finding_icon(TmFindingKind k) {
  if (k == TM_FINDING_NOTE) return "dialog-information-symbolic";
  return k == TM_FINDING_UNREADABLE ? "dialog-error-symbolic" : "dialog-warning-symbolic";
}

static void add_row(TmPageData *p, const char *icon, const char *text, const char *subtitle) {
  GtkWidget *row = adw_action_row_new();
  g_autofree char *title = g_markup_escape_text(text, -1);
  adw_preferences_row_set_title(ADW_PREFERENCES_ROW(row), title);
  if (subtitle) adw_action_row_set_subtitle(ADW_ACTION_ROW(row), subtitle);
  adw_action_row_set_icon_name(ADW_ACTION_ROW(row), icon);
  adw_action_row_set_title_lines(ADW_ACTION_ROW(row), 4);
  gtk_widget_set_tooltip_text(row, text);
  gtk_list_box_append(GTK_LIST_BOX(p->findings), row);
}

static void clear_rows(TmPageData *p) {
  for (GtkWidget *row; (row = gtk_widget_get_first_child(p->findings));)
    gtk_list_box_remove(GTK_LIST_BOX(p->findings), row);
}

static void show_notes(TmPageData *p) {
  for (const char *const *note = tm_dataset_notes(p->shown); note && *note; note++)
    add_row(p, "dialog-information-symbolic", *note, NULL);
}

static void show_findings(TmPageData *p, const TmScan *s) {
  clear_rows(p);
  guint open = 0, shown = 0;
  for (guint i = 0; i < s->findings->len; i++)
    open += ((TmFinding *)s->findings->pdata[i])->kind != TM_FINDING_NOTE;
  for (guint pass = 0; pass < 2; pass++) { /* what needs a look first, then the harmless */
    for (guint i = 0; i < s->findings->len && shown < MOST_FINDINGS; i++) {
      const TmFinding *f = s->findings->pdata[i];
      if ((f->kind == TM_FINDING_NOTE) != (pass == 1)) continue;
      add_row(p, finding_icon(f->kind), f->text, f->leaves_out ? _("Left out of training") : NULL);
      shown++;
    }
  }
  if (s->findings->len > shown) {
    g_autofree char *more =
        g_strdup_printf(_("And %u more. “tarmac inspect” lists all of them."), s->findings->len - shown);
    add_row(p, "dialog-information-symbolic", more, NULL);
  }
  show_notes(p);
  g_autofree char *n = tm_words_count(s->n_entries - s->n_left_out), *all = tm_words_count(s->n_entries);
  g_autofree char *good = g_strdup_printf(_("%s of %s pictures can be trained on"), n, all);
  g_autofree char *sizes =
      s->min_w == s->max_w && s->min_h == s->max_h
          ? g_strdup_printf(_("All are %d × %d"), s->min_w, s->min_h)
          : g_strdup_printf(_("From %d × %d to %d × %d"), s->min_w, s->min_h, s->max_w, s->max_h);
  add_row(p, "object-select-symbolic", good, sizes);
  g_autofree char *count = g_strdup_printf(ngettext("%u to look at", "%u to look at", open), open);
  gtk_label_set_label(GTK_LABEL(p->checks_count), count);
  gtk_widget_set_visible(p->checks_count, open > 0);
}

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
  if (!s) {
    clear_rows(p);
    gtk_widget_set_visible(p->checks_count, FALSE);
    gtk_label_set_label(GTK_LABEL(p->void_share), "");
    tm_gallery_set_flagged(p->gallery, NULL);
    return;
  }
  show_findings(p, s);
  show_shares(p, s, tm_dataset_classes(p->shown));
  g_autofree gboolean *flagged = g_new0(gboolean, MAX(tm_dataset_n(p->shown), 1u));
  for (guint i = 0; i < s->findings->len; i++) {
    const TmFinding *f = s->findings->pdata[i];
    if (f->kind != TM_FINDING_NOTE && f->entry < tm_dataset_n(p->shown)) flagged[f->entry] = TRUE;
  }
  tm_gallery_set_flagged(p->gallery, flagged);
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
    if (p->split_button[i] == GTK_WIDGET(b)) tm_gallery_set_split(p->gallery, i - 1);
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
  const TmScan *s = tm_project_scan(p->project);
  guint open = 0;
  for (guint i = 0; s && i < s->findings->len; i++)
    open += ((TmFinding *)s->findings->pdata[i])->kind != TM_FINDING_NOTE;
  g_autofree char *text = open ? g_strdup_printf("%u", open) : NULL;
  g_autofree char *name = open
                              ? g_strdup_printf(ngettext("Data, %u finding", "Data, %u findings", open), open)
                              : g_strdup(_("Data"));
  tm_page_badge(TM_PAGE(p), text, name, TRUE);
}

static void project_changed(TmPageData *p) {
  TmDataset *d = tm_project_dataset(p->project);
  if (d != p->shown) {
    p->shown = d;
    p->shown_scan = NULL;
    tm_mask_view_set_scene(p->view, NULL);
    tm_class_toggles_set_classes(p->toggles, d ? tm_dataset_classes(d) : NULL);
    if (d) hidden_changed(p);
    clear_rows(p);
    if (d) show_notes(p);
    show_splits(p);
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(p->split_button[0]), TRUE);
    tm_gallery_set_dataset(p->gallery, d);
    gtk_stack_set_visible_child_name(GTK_STACK(p->stack), d ? "pictures" : "empty");
  }
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
  adw_header_bar_set_decoration_layout(ADW_HEADER_BAR(p->header), narrow ? ":close" : NULL);
  show_splits(p);
}

static void dispose(GObject *o) {
  TmPageData *p = TM_PAGE_DATA(o);
  if (p->reading) g_cancellable_cancel(p->reading);
  g_clear_object(&p->reading);
  if (p->project) g_signal_handlers_disconnect_by_data(p->project, p);
  g_clear_object(&p->project);
  p->view = NULL;
  gtk_widget_dispose_template(GTK_WIDGET(o), TM_TYPE_PAGE_DATA);
  G_OBJECT_CLASS(tm_page_data_parent_class)->dispose(o);
}

static void tm_page_data_class_init(TmPageDataClass *c) {
  GtkWidgetClass *wc = GTK_WIDGET_CLASS(c);
  G_OBJECT_CLASS(c)->dispose = dispose;
  g_type_ensure(TM_TYPE_ADAPTIVE);
  gtk_widget_class_set_template_from_resource(wc, "/io/github/tarmac/Tarmac/page_data.ui");
#define BIND(name) gtk_widget_class_bind_template_child(wc, TmPageData, name)
  BIND(header), BIND(splits), BIND(back), BIND(add), BIND(panel_button), BIND(stack), BIND(empty),
      BIND(page_bin), BIND(flap), BIND(cards_bin), BIND(top_row);
  BIND(shares_card), BIND(void_share), BIND(shares_waiting), BIND(checks_card), BIND(checks_count),
      BIND(rescan), BIND(scanning);
  BIND(scanning_text), BIND(scanning_bar), BIND(cancel), BIND(findings), BIND(gallery_box), BIND(panel),
      BIND(panel_box), BIND(name);
  BIND(previous), BIND(next), BIND(about), BIND(view_box), BIND(pixel), BIND(opacity_scale),
      BIND(opacity_value), BIND(all_classes);
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

static void tm_page_data_init(TmPageData *p) {
  gtk_widget_init_template(GTK_WIDGET(p));
  p->gallery = TM_GALLERY(tm_gallery_new());
  gtk_widget_set_hexpand(GTK_WIDGET(p->gallery), TRUE);
  gtk_box_append(GTK_BOX(p->gallery_box), GTK_WIDGET(p->gallery));
  p->bars = TM_SHARE_BARS(tm_share_bars_new());
  gtk_box_append(GTK_BOX(p->shares_card), GTK_WIDGET(p->bars));
  p->view = TM_MASK_VIEW(tm_mask_view_new(TM_VIEW_TRUTH, _("Picture with its mask")));
  gtk_box_append(GTK_BOX(p->view_box), GTK_WIDGET(p->view));
  p->toggles = TM_CLASS_TOGGLES(tm_class_toggles_new(FALSE));
  gtk_box_append(GTK_BOX(p->panel_box), GTK_WIDGET(p->toggles));
  make_splits(p);
  g_signal_connect(p->gallery, "selected", G_CALLBACK(selected), p);
  g_signal_connect(p->gallery, "activated", G_CALLBACK(activated), p);
  g_signal_connect(p->view, "pointed", G_CALLBACK(pointed), p);
  g_signal_connect_swapped(p->toggles, "changed", G_CALLBACK(hidden_changed), p);
  g_signal_connect_swapped(p->previous, "clicked", G_CALLBACK(go_previous), p);
  g_signal_connect_swapped(p->next, "clicked", G_CALLBACK(go_next), p);
  g_signal_connect_swapped(p->all_classes, "clicked", G_CALLBACK(show_all), p);
  g_signal_connect_swapped(p->opacity_scale, "value-changed", G_CALLBACK(opacity_changed), p);
  g_signal_connect_swapped(p->page_bin, "notify::narrow", G_CALLBACK(lay_out), p);
  g_signal_connect_swapped(p->cards_bin, "notify::narrow", G_CALLBACK(lay_out), p);
  GtkEventController *keys = gtk_event_controller_key_new();
  g_signal_connect(keys, "key-pressed", G_CALLBACK(key), p);
  gtk_widget_add_controller(GTK_WIDGET(p), keys);
  opacity_changed(p);
  lay_out(p);
}

TmPage *tm_page_data_new(TmProject *project) {
  TmPageData *p = g_object_new(TM_TYPE_PAGE_DATA, NULL);
  p->project = g_object_ref(project);
  g_signal_connect_swapped(project, "changed", G_CALLBACK(project_changed), p);
  project_changed(p);
  return TM_PAGE(p);
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
}
