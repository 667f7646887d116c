#include "ui/probe_card.h"

#include <glib/gi18n.h>
#include <math.h>

#include "ui/class_toggles.h"
#include "ui/mask_view.h"
#include "ui/picture_chooser.h"
#include "ui/words.h"

enum { N_VIEWS = 4, MOST_PROBES = 12 };

struct _TmProbeCard {
  GtkBox parent;
  GtkWidget *previous, *next, *place, *grid, *opacity_scale, *opacity_label, *opacity_value, *toggles_box;
  GtkWidget *view[N_VIEWS], *detail[N_VIEWS];
  GtkWidget *choose, *scrubber_box;
  TmClassToggles *toggles;
  TmScrubber *scrubber;
  TmPictureChooser *chooser;
  guint at, n;
};

enum { PROBE_CHOSEN, PROBES_CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(TmProbeCard, tm_probe_card, GTK_TYPE_BOX)

static void show_place(TmProbeCard *p) {
  g_autofree char *text = p->n ? g_strdup_printf(_("%u of %u"), p->at + 1, p->n) : g_strdup("");
  gtk_label_set_label(GTK_LABEL(p->place), text);
  gtk_widget_set_sensitive(p->previous, p->n > 1);
  gtk_widget_set_sensitive(p->next, p->n > 1);
}

void tm_probe_card_go(TmProbeCard *p, int by) {
  if (p->n < 2) return;
  p->at = (guint)(((int)p->at + by + (int)p->n) % (int)p->n);
  show_place(p);
  g_signal_emit(p, signals[PROBE_CHOSEN], 0, p->at);
}

static void previous_clicked(TmProbeCard *p) {
  tm_probe_card_go(p, -1);
}
static void next_clicked(TmProbeCard *p) {
  tm_probe_card_go(p, 1);
}

static void opacity_changed(TmProbeCard *p) {
  double v = gtk_range_get_value(GTK_RANGE(p->opacity_scale)) / 100;
  g_autofree char *text = tm_words_percent(v);
  gtk_label_set_label(GTK_LABEL(p->opacity_value), text);
  for (int i = 0; i < N_VIEWS; i++) tm_mask_view_set_opacity(TM_MASK_VIEW(p->view[i]), v);
}

static void hidden_changed(TmProbeCard *p) {
  guint n;
  const gboolean *hidden = tm_class_toggles_hidden(p->toggles, &n);
  for (int i = 0; i < N_VIEWS; i++) tm_mask_view_set_hidden(TM_MASK_VIEW(p->view[i]), hidden, n);
}

static void swiped(TmMaskView *v, double split, TmProbeCard *p) {
  (void)v;
  tm_scrubber_set_split(p->scrubber, split);
}

static void probes_changed(TmProbeCard *p) { g_signal_emit(p, signals[PROBES_CHANGED], 0); }

static void make_chooser(TmProbeCard *p) {
  GtkWidget *popover = gtk_popover_new();
  p->chooser = TM_PICTURE_CHOOSER(tm_picture_chooser_new(MOST_PROBES));
  gtk_popover_set_child(GTK_POPOVER(popover), GTK_WIDGET(p->chooser));
  gtk_menu_button_set_popover(GTK_MENU_BUTTON(p->choose), popover);
  g_signal_connect_swapped(p->chooser, "changed", G_CALLBACK(probes_changed), p);
}

static gboolean key(GtkEventControllerKey *k, guint val, guint code, GdkModifierType state, TmProbeCard *p) {
  (void)k;
  (void)code;
  if (state & (GDK_CONTROL_MASK | GDK_ALT_MASK)) return FALSE;
  if (val == GDK_KEY_Page_Up || val == GDK_KEY_Page_Down) {
    tm_probe_card_go(p, val == GDK_KEY_Page_Up ? -1 : 1);
    return TRUE;
  }
  if (val == GDK_KEY_bracketleft || val == GDK_KEY_bracketright) {
    double v = gtk_range_get_value(GTK_RANGE(p->opacity_scale));
    gtk_range_set_value(GTK_RANGE(p->opacity_scale), v + (val == GDK_KEY_bracketleft ? -5 : 5));
    return TRUE;
  }
  return FALSE;
}

static void dispose(GObject *o) {
  gtk_widget_dispose_template(GTK_WIDGET(o), TM_TYPE_PROBE_CARD);
  G_OBJECT_CLASS(tm_probe_card_parent_class)->dispose(o);
}

static void tm_probe_card_class_init(TmProbeCardClass *c) {
  GtkWidgetClass *wc = GTK_WIDGET_CLASS(c);
  G_OBJECT_CLASS(c)->dispose = dispose;
  gtk_widget_class_set_template_from_resource(wc, "/io/github/tarmac/Tarmac/ui/probe_card.ui");
  gtk_widget_class_bind_template_child(wc, TmProbeCard, previous);
  gtk_widget_class_bind_template_child(wc, TmProbeCard, next);
  gtk_widget_class_bind_template_child(wc, TmProbeCard, place);
  gtk_widget_class_bind_template_child(wc, TmProbeCard, grid);
  gtk_widget_class_bind_template_child(wc, TmProbeCard, opacity_scale);
  gtk_widget_class_bind_template_child(wc, TmProbeCard, opacity_label);
  gtk_widget_class_bind_template_child(wc, TmProbeCard, opacity_value);
  gtk_widget_class_bind_template_child(wc, TmProbeCard, toggles_box);
  gtk_widget_class_bind_template_child(wc, TmProbeCard, choose);
  gtk_widget_class_bind_template_child(wc, TmProbeCard, scrubber_box);
  signals[PROBES_CHANGED] =
      g_signal_new("probes-changed", TM_TYPE_PROBE_CARD, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[PROBE_CHOSEN] = g_signal_new("probe-chosen", TM_TYPE_PROBE_CARD, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                       NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
}

static void add_view(TmProbeCard *p, int i) {
  static const char *const titles[N_VIEWS] = {N_("Input"), N_("Prediction"), N_("Truth"), N_("Errors")};
  GtkWidget *head = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6), *title = gtk_label_new(_(titles[i]));
  gtk_widget_add_css_class(title, "tm-tiny");
  gtk_widget_add_css_class(title, "tm-strong");
  p->detail[i] = gtk_label_new(NULL);
  gtk_widget_add_css_class(p->detail[i], "tm-tiny");
  gtk_widget_add_css_class(p->detail[i], "tm-dim");
  gtk_widget_add_css_class(p->detail[i], "numeric");
  gtk_label_set_ellipsize(GTK_LABEL(p->detail[i]), PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_xalign(GTK_LABEL(p->detail[i]), 1);
  gtk_widget_set_hexpand(p->detail[i], TRUE);
  gtk_box_append(GTK_BOX(head), title);
  gtk_box_append(GTK_BOX(head), p->detail[i]);
  p->view[i] = tm_mask_view_new((TmViewRole)i, _(titles[i]));
  gtk_widget_set_hexpand(p->view[i], TRUE);
  gtk_widget_set_margin_bottom(p->view[i], 4);
  gtk_grid_attach(GTK_GRID(p->grid), head, i % 2, i / 2 * 2, 1, 1);
  gtk_grid_attach(GTK_GRID(p->grid), p->view[i], i % 2, i / 2 * 2 + 1, 1, 1);
}

static void tm_probe_card_init(TmProbeCard *p) {
  gtk_widget_init_template(GTK_WIDGET(p));
  for (int i = 0; i < N_VIEWS; i++) add_view(p, i);
  p->toggles = TM_CLASS_TOGGLES(tm_class_toggles_new(TRUE));
  gtk_widget_set_hexpand(GTK_WIDGET(p->toggles), TRUE);
  p->scrubber = TM_SCRUBBER(tm_scrubber_new());
  gtk_widget_set_hexpand(GTK_WIDGET(p->scrubber), TRUE);
  gtk_box_append(GTK_BOX(p->scrubber_box), GTK_WIDGET(p->scrubber));
  g_signal_connect(p->view[TM_VIEW_PREDICTION], "swiped", G_CALLBACK(swiped), p);
  make_chooser(p);
  gtk_box_append(GTK_BOX(p->toggles_box), GTK_WIDGET(p->toggles));
  g_signal_connect_swapped(p->toggles, "changed", G_CALLBACK(hidden_changed), p);
  g_signal_connect_swapped(p->previous, "clicked", G_CALLBACK(previous_clicked), p);
  g_signal_connect_swapped(p->next, "clicked", G_CALLBACK(next_clicked), p);
  g_signal_connect_swapped(p->opacity_scale, "value-changed", G_CALLBACK(opacity_changed), p);
  GtkEventController *keys = gtk_event_controller_key_new();
  g_signal_connect(keys, "key-pressed", G_CALLBACK(key), p);
  gtk_widget_add_controller(GTK_WIDGET(p), keys);
  opacity_changed(p);
  show_place(p);
}

GtkWidget *tm_probe_card_new(void) {
  return g_object_new(TM_TYPE_PROBE_CARD, NULL);
}

void tm_probe_card_set_choice(TmProbeCard *p, guint place, guint n) {
  p->at = place;
  p->n = n;
  show_place(p);
}

void tm_probe_card_set_classes(TmProbeCard *p, const TmClassTable *t) {
  tm_class_toggles_set_classes(p->toggles, t);
  if (t) hidden_changed(p);
}

TmScrubber *tm_probe_card_scrubber(TmProbeCard *p) { return p->scrubber; }

void tm_probe_card_set_swipe(TmProbeCard *p, TmScene *other) {
  double split;
  tm_scrubber_get_swipe(p->scrubber, &split);
  tm_mask_view_set_swipe(TM_MASK_VIEW(p->view[TM_VIEW_PREDICTION]), other, split);
}

void tm_probe_card_set_choices(TmProbeCard *p, const char *const *names, const guint *chosen, guint n) {
  tm_picture_chooser_set(p->chooser, names, chosen, n);
}

GArray *tm_probe_card_get_choices(TmProbeCard *p) { return tm_picture_chooser_get(p->chooser); }

void tm_probe_card_set_scene(TmProbeCard *p, TmScene *scene, const char *name, double miou, double wrong) {
  for (int i = 0; i < N_VIEWS; i++) tm_mask_view_set_scene(TM_MASK_VIEW(p->view[i]), scene);
  g_autofree char *iou = isnan(miou) ? g_strdup("") : g_strdup_printf(_("IoU %.3f"), miou);
  g_autofree char *share = isnan(wrong) ? NULL : tm_words_percent(wrong);
  g_autofree char *errors = share ? g_strdup_printf(_("%s wrong"), share) : g_strdup("");
  gtk_label_set_label(GTK_LABEL(p->detail[TM_VIEW_INPUT]), name ? name : "");
  gtk_label_set_label(GTK_LABEL(p->detail[TM_VIEW_PREDICTION]), iou);
  gtk_label_set_label(GTK_LABEL(p->detail[TM_VIEW_ERRORS]), errors);
}

void tm_probe_card_set_placeholder(TmProbeCard *p, const char *text) {
  tm_mask_view_set_placeholder(TM_MASK_VIEW(p->view[TM_VIEW_PREDICTION]), text);
  tm_mask_view_set_placeholder(TM_MASK_VIEW(p->view[TM_VIEW_ERRORS]), text);
}
