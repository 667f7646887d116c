#include "ui/share_bars.h"

#include <glib/gi18n.h>

#include "ui/swatch.h"
#include "ui/ink.h"
#include "ui/words.h"

/* One bar: drawn, because a level bar's colour cannot be set per instance. */
#define TM_TYPE_SHARE_BAR (tm_share_bar_get_type())
G_DECLARE_FINAL_TYPE(TmShareBar, tm_share_bar, TM, SHARE_BAR, GtkWidget)

struct _TmShareBar {
  GtkWidget parent;
  GdkRGBA colour;
  double share;
};

G_DEFINE_FINAL_TYPE(TmShareBar, tm_share_bar, GTK_TYPE_WIDGET)

static void bar_snapshot(GtkWidget *w, GtkSnapshot *s) {
  TmShareBar *b = TM_SHARE_BAR(w);
  float width = (float)gtk_widget_get_width(w), h = 14, y = ((float)gtk_widget_get_height(w) - h) / 2;
  GskRoundedRect r;
  GdkRGBA well = tm_ink_text(w, 0.05), edge = tm_ink_text(w, 0.25);
  gsk_rounded_rect_init_from_rect(&r, &GRAPHENE_RECT_INIT(0, y, width, h), 3);
  gtk_snapshot_push_rounded_clip(s, &r);
  gtk_snapshot_append_color(s, &well, &r.bounds);
  gtk_snapshot_pop(s);
  if (b->share <= 0) return;
  gsk_rounded_rect_init_from_rect(&r, &GRAPHENE_RECT_INIT(0, y, MAX(2.0f, width * (float)b->share), h), 3);
  gtk_snapshot_push_rounded_clip(s, &r);
  gtk_snapshot_append_color(s, &b->colour, &r.bounds);
  gtk_snapshot_pop(s);
  gtk_snapshot_append_border(s, &r, (float[]){1, 1, 1, 1}, (GdkRGBA[]){edge, edge, edge, edge});
}

static void bar_measure(GtkWidget *w, GtkOrientation o, int for_size, int *min, int *nat, int *min_base,
                        int *nat_base) {
  (void)w;
  (void)for_size;
  *min = o == GTK_ORIENTATION_HORIZONTAL ? 40 : 16;
  *nat = o == GTK_ORIENTATION_HORIZONTAL ? 140 : 18;
  *min_base = *nat_base = -1;
}

static void tm_share_bar_class_init(TmShareBarClass *c) {
  GTK_WIDGET_CLASS(c)->snapshot = bar_snapshot;
  GTK_WIDGET_CLASS(c)->measure = bar_measure;
  gtk_widget_class_set_accessible_role(GTK_WIDGET_CLASS(c), GTK_ACCESSIBLE_ROLE_PRESENTATION);
}

static void tm_share_bar_init(TmShareBar *b) {
  tm_ink_watch(GTK_WIDGET(b));
}

struct _TmShareBars {
  GtkWidget parent;
  GtkWidget *grid;
};

G_DEFINE_FINAL_TYPE(TmShareBars, tm_share_bars, GTK_TYPE_WIDGET)

static void dispose(GObject *o) {
  g_clear_pointer(&TM_SHARE_BARS(o)->grid, gtk_widget_unparent);
  G_OBJECT_CLASS(tm_share_bars_parent_class)->dispose(o);
}

static void tm_share_bars_class_init(TmShareBarsClass *c) {
  G_OBJECT_CLASS(c)->dispose = dispose;
  gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(c), GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_accessible_role(GTK_WIDGET_CLASS(c), GTK_ACCESSIBLE_ROLE_IMG);
}

static void tm_share_bars_init(TmShareBars *b) {
  gtk_accessible_update_property(GTK_ACCESSIBLE(b), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Class share of pixels"),
                                 -1);
}

GtkWidget *tm_share_bars_new(void) {
  return g_object_new(TM_TYPE_SHARE_BARS, NULL);
}

static int by_share(gconstpointer a, gconstpointer b, gpointer shares) {
  const double *s = shares;
  guint i = *(const guint *)a, j = *(const guint *)b;
  return s[i] > s[j] ? -1 : s[i] < s[j] ? 1 : (int)i - (int)j;
}

static void add_row(TmShareBars *b, int row, const TmClass *k, double share, double most) {
  guint32 rgb = (guint32)k->colour[0] << 16 | (guint32)k->colour[1] << 8 | k->colour[2];
  GtkWidget *name = gtk_label_new(k->name);
  g_autofree char *percent = share > 0 ? g_strdup_printf("%.1f\u2009%%", share * 100) : g_strdup(_("none"));
  GtkWidget *text = gtk_label_new(percent);
  gtk_label_set_xalign(GTK_LABEL(name), 0);
  gtk_label_set_ellipsize(GTK_LABEL(name), PANGO_ELLIPSIZE_END);
  gtk_label_set_xalign(GTK_LABEL(text), 1);
  gtk_widget_add_css_class(name, "tm-small");
  gtk_widget_add_css_class(text, "tm-small");
  gtk_widget_add_css_class(text, "tm-dim");
  gtk_widget_add_css_class(text, "numeric");
  TmShareBar *bar = g_object_new(TM_TYPE_SHARE_BAR, "hexpand", TRUE, NULL);
  bar->colour = (GdkRGBA){(float)k->colour[0] / 255, (float)k->colour[1] / 255, (float)k->colour[2] / 255, 1};
  bar->share = most > 0 ? share / most : 0;
  gtk_grid_attach(GTK_GRID(b->grid), tm_swatch_new(rgb), 0, row, 1, 1);
  gtk_grid_attach(GTK_GRID(b->grid), name, 1, row, 1, 1);
  gtk_grid_attach(GTK_GRID(b->grid), GTK_WIDGET(bar), 2, row, 1, 1);
  gtk_grid_attach(GTK_GRID(b->grid), text, 3, row, 1, 1);
}

void tm_share_bars_set(TmShareBars *b, const TmClassTable *t, const double *shares) {
  g_clear_pointer(&b->grid, gtk_widget_unparent);
  if (!t) return;
  b->grid = gtk_grid_new();
  gtk_grid_set_column_spacing(GTK_GRID(b->grid), 8);
  gtk_grid_set_row_spacing(GTK_GRID(b->grid), 2);
  gtk_widget_set_parent(b->grid, GTK_WIDGET(b));
  g_autofree guint *order = g_new(guint, t->n);
  for (guint i = 0; i < t->n; i++) order[i] = i;
  g_qsort_with_data(order, (int)t->n, sizeof *order, by_share, (gpointer)shares);
  GString *words = g_string_new(NULL);
  for (guint i = 0; i < t->n; i++) {
    const TmClass *k = &t->classes[order[i]];
    add_row(b, (int)i, k, shares[order[i]], shares[order[0]]);
    g_string_append_printf(words, _("%s%s %.1f percent"), i ? ", " : "", k->name, shares[order[i]] * 100);
  }
  gtk_accessible_update_property(GTK_ACCESSIBLE(b), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, words->str, -1);
  g_string_free(words, TRUE);
}
