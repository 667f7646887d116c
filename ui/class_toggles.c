#include "ui/class_toggles.h"

#include <glib/gi18n.h>

#include "ui/swatch.h"
#include "ui/words.h"

struct _TmClassToggles {
  GtkBox parent;
  gboolean chips, quiet;
  GtkWidget *flow;
  guint n; /* classes + 1 */
  gboolean hidden[TM_MAX_CLASSES + 1];
  GtkWidget *button[TM_MAX_CLASSES + 1], *share[TM_MAX_CLASSES + 1];
  char *name[TM_MAX_CLASSES + 1];
};

enum { CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(TmClassToggles, tm_class_toggles, GTK_TYPE_BOX)

static void clear(TmClassToggles *c) {
  for (guint i = 0; i < c->n; i++) g_clear_pointer(&c->name[i], g_free);
  c->n = 0;
  g_clear_pointer(&c->flow, gtk_widget_unparent);
}

static void dispose(GObject *o) {
  clear(TM_CLASS_TOGGLES(o));
  G_OBJECT_CLASS(tm_class_toggles_parent_class)->dispose(o);
}

static void tm_class_toggles_class_init(TmClassTogglesClass *c) {
  G_OBJECT_CLASS(c)->dispose = dispose;
  signals[CHANGED] =
      g_signal_new("changed", TM_TYPE_CLASS_TOGGLES, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void tm_class_toggles_init(TmClassToggles *c) {
  gtk_orientable_set_orientation(GTK_ORIENTABLE(c), GTK_ORIENTATION_VERTICAL);
}

GtkWidget *tm_class_toggles_new(gboolean chips) {
  TmClassToggles *c = g_object_new(TM_TYPE_CLASS_TOGGLES, NULL);
  c->chips = chips;
  return GTK_WIDGET(c);
}

static void name_button(TmClassToggles *c, guint i) {
  g_autofree char *label = g_strdup_printf(c->hidden[i] ? _("Show %s") : _("Hide %s"), c->name[i]);
  gtk_accessible_update_property(GTK_ACCESSIBLE(c->button[i]), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
  gtk_widget_set_tooltip_text(c->button[i], label);
  if (!c->chips)
    gtk_button_set_icon_name(GTK_BUTTON(c->button[i]),
                             c->hidden[i] ? "view-conceal-symbolic" : "view-reveal-symbolic");
}

static void toggled(GtkToggleButton *b, TmClassToggles *c) {
  for (guint i = 0; i < c->n; i++) {
    if (c->button[i] != GTK_WIDGET(b)) continue;
    c->hidden[i] = !gtk_toggle_button_get_active(b);
    name_button(c, i);
  }
  if (!c->quiet) g_signal_emit(c, signals[CHANGED], 0);
}

static GtkWidget *label_new(const char *text, const char *css) {
  GtkWidget *l = gtk_label_new(text);
  gtk_widget_add_css_class(l, css);
  gtk_label_set_ellipsize(GTK_LABEL(l), PANGO_ELLIPSIZE_END);
  gtk_label_set_xalign(GTK_LABEL(l), 0);
  return l;
}

static void add_chip(TmClassToggles *c, guint i, GtkWidget *swatch) {
  GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 5);
  gtk_box_append(GTK_BOX(row), swatch);
  gtk_box_append(GTK_BOX(row), label_new(c->name[i], "tm-small"));
  c->button[i] = gtk_toggle_button_new();
  gtk_button_set_child(GTK_BUTTON(c->button[i]), row);
  gtk_widget_add_css_class(c->button[i], "tm-chip");
  gtk_flow_box_insert(GTK_FLOW_BOX(c->flow), c->button[i], -1);
  gtk_widget_set_focusable(gtk_widget_get_parent(c->button[i]), FALSE);
}

static void add_row(TmClassToggles *c, guint i, GtkWidget *swatch) {
  GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8), *name = label_new(c->name[i], "tm-small");
  gtk_widget_set_hexpand(name, TRUE);
  c->share[i] = label_new("", "tm-small");
  gtk_widget_add_css_class(c->share[i], "tm-dim");
  gtk_widget_add_css_class(c->share[i], "numeric");
  c->button[i] = gtk_toggle_button_new();
  gtk_widget_add_css_class(c->button[i], "flat");
  gtk_widget_add_css_class(c->button[i], "tm-eye");
  gtk_box_append(GTK_BOX(row), swatch);
  gtk_box_append(GTK_BOX(row), name);
  gtk_box_append(GTK_BOX(row), c->share[i]);
  gtk_box_append(GTK_BOX(row), c->button[i]);
  gtk_box_append(GTK_BOX(c->flow), row);
}

void tm_class_toggles_set_classes(TmClassToggles *c, const TmClassTable *t) {
  clear(c);
  if (!t) return;
  if (c->chips) {
    c->flow = gtk_flow_box_new();
    gtk_flow_box_set_selection_mode(GTK_FLOW_BOX(c->flow), GTK_SELECTION_NONE);
    gtk_flow_box_set_max_children_per_line(GTK_FLOW_BOX(c->flow), 30);
    gtk_widget_add_css_class(c->flow, "tm-chips");
    gtk_flow_box_set_column_spacing(GTK_FLOW_BOX(c->flow), 4);
    gtk_flow_box_set_row_spacing(GTK_FLOW_BOX(c->flow), 4);
  } else {
    c->flow = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
  }
  gtk_box_append(GTK_BOX(c), c->flow);
  c->n = t->n + 1;
  for (guint i = 0; i < c->n; i++) {
    gboolean is_void = i == t->n;
    const guint8 *rgb = is_void ? NULL : t->classes[i].colour;
    c->hidden[i] = FALSE;
    c->name[i] = g_strdup(is_void ? _("Void") : t->classes[i].name);
    GtkWidget *swatch =
        tm_swatch_new(is_void ? G_MAXUINT32 : (guint32)rgb[0] << 16 | (guint32)rgb[1] << 8 | rgb[2]);
    if (c->chips)
      add_chip(c, i, swatch);
    else
      add_row(c, i, swatch);
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(c->button[i]), TRUE);
    name_button(c, i);
    g_signal_connect(c->button[i], "toggled", G_CALLBACK(toggled), c);
  }
}

const gboolean *tm_class_toggles_hidden(TmClassToggles *c, guint *n) {
  *n = c->n;
  return c->hidden;
}

void tm_class_toggles_only(TmClassToggles *c, guint label) {
  c->quiet = TRUE;
  for (guint i = 0; i < c->n; i++)
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(c->button[i]),
                                 label == G_MAXUINT || i == MIN(label, c->n - 1));
  c->quiet = FALSE;
  g_signal_emit(c, signals[CHANGED], 0);
}

void tm_class_toggles_flip(TmClassToggles *c, guint index) {
  if (index >= c->n) return;
  GtkToggleButton *b = GTK_TOGGLE_BUTTON(c->button[index]);
  gtk_toggle_button_set_active(b, !gtk_toggle_button_get_active(b));
}

void tm_class_toggles_set_shares(TmClassToggles *c, const double *shares) {
  for (guint i = 0; i < c->n && !c->chips; i++) {
    g_autofree char *text = shares ? tm_words_percent(shares[i]) : g_strdup("");
    gtk_label_set_label(GTK_LABEL(c->share[i]), text);
  }
}
