#include "ui/class_chips.h"

#include <glib/gi18n.h>

#include "ui/swatch.h"

struct _TmClassChips {
  GtkBox parent;
  GtkWidget *all, *row, *more, *flow;
  GtkWidget *chip[TM_MAX_CLASSES];
  guint n, room;
  GArray *chosen;
  gboolean quiet;
};

enum { CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(TmClassChips, tm_class_chips, GTK_TYPE_BOX)

static void collect(TmClassChips *c) {
  g_array_set_size(c->chosen, 0);
  guint hidden = 0;
  for (guint i = 0; i < c->n; i++) {
    if (!gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(c->chip[i]))) continue;
    g_array_append_val(c->chosen, i);
    hidden += i >= c->room;
  }
  g_autofree char *text = hidden ? g_strdup_printf(_("More (%u)"), hidden) : g_strdup(_("More"));
  gtk_menu_button_set_label(GTK_MENU_BUTTON(c->more), text);
  gtk_widget_set_sensitive(c->all, c->chosen->len > 0);
}

static void toggled(TmClassChips *c) {
  if (c->quiet) return;
  collect(c);
  g_signal_emit(c, signals[CHANGED], 0);
}

void tm_class_chips_clear(TmClassChips *c) {
  c->quiet = TRUE;
  for (guint i = 0; i < c->n; i++) gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(c->chip[i]), FALSE);
  c->quiet = FALSE;
  toggled(c);
}

/* One tab stop; arrows go from chip to chip. */
static void place(TmClassChips *c) {
  for (guint i = 0; i < c->n; i++) {
    GtkWidget *chip = c->chip[i], *parent = gtk_widget_get_parent(chip);
    const gboolean in_row = i < c->room;
    if (parent == (in_row ? c->row : c->flow)) continue;
    g_object_ref(chip);
    if (parent == c->row)
      gtk_box_remove(GTK_BOX(c->row), chip);
    else if (parent)
      gtk_box_remove(GTK_BOX(c->flow), chip);
    gtk_box_append(GTK_BOX(in_row ? c->row : c->flow), chip);
    g_object_unref(chip);
  }
  gtk_widget_set_visible(c->more, c->n > c->room);
  collect(c);
}

static GtkWidget *chip_new(TmClassChips *c, const TmClass *k) {
  GtkWidget *chip = gtk_toggle_button_new(), *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
  gtk_box_append(GTK_BOX(box),
                 tm_swatch_new((guint32)k->colour[0] << 16 | (guint32)k->colour[1] << 8 | k->colour[2]));
  gtk_box_append(GTK_BOX(box), gtk_label_new(k->name));
  gtk_button_set_child(GTK_BUTTON(chip), box);
  gtk_widget_add_css_class(chip, "tm-filter");
  g_autofree char *name = g_strdup_printf(_("Show pictures with %s"), k->name);
  gtk_widget_set_tooltip_text(chip, name);
  gtk_accessible_update_property(GTK_ACCESSIBLE(chip), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  g_signal_connect_swapped(chip, "toggled", G_CALLBACK(toggled), c);
  return g_object_ref_sink(chip);
}

void tm_class_chips_set_classes(TmClassChips *c, const TmClassTable *t) {
  for (guint i = 0; i < c->n; i++) {
    GtkWidget *parent = gtk_widget_get_parent(c->chip[i]);
    if (parent) gtk_box_remove(GTK_BOX(parent), c->chip[i]);
    g_object_unref(c->chip[i]);
  }
  c->n = t ? t->n : 0;
  for (guint i = 0; i < c->n; i++) c->chip[i] = chip_new(c, &t->classes[i]);
  place(c);
  gtk_widget_set_visible(GTK_WIDGET(c), c->n > 0);
}

void tm_class_chips_set_room(TmClassChips *c, guint n) {
  if (c->room == n) return;
  c->room = n;
  tm_class_chips_clear(c);
  place(c);
}

const GArray *tm_class_chips_chosen(TmClassChips *c) {
  return c->chosen;
}

static void dispose(GObject *o) {
  TmClassChips *c = TM_CLASS_CHIPS(o);
  if (c->row) tm_class_chips_set_classes(c, NULL);
  c->row = NULL;
  g_clear_pointer(&c->chosen, g_array_unref);
  G_OBJECT_CLASS(tm_class_chips_parent_class)->dispose(o);
}

static void tm_class_chips_class_init(TmClassChipsClass *c) {
  G_OBJECT_CLASS(c)->dispose = dispose;
  signals[CHANGED] =
      g_signal_new("changed", TM_TYPE_CLASS_CHIPS, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void tm_class_chips_init(TmClassChips *c) {
  c->chosen = g_array_new(FALSE, FALSE, sizeof(guint));
  c->room = 6;
  gtk_box_set_spacing(GTK_BOX(c), 6);
  c->all = gtk_button_new_with_label(_("All classes"));
  gtk_widget_add_css_class(c->all, "tm-filter");
  gtk_widget_set_tooltip_text(c->all, _("Whatever their classes"));
  c->row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
  c->flow = gtk_box_new(GTK_ORIENTATION_VERTICAL, 4);
  GtkWidget *popover = gtk_popover_new(), *scroller = gtk_scrolled_window_new();
  gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_max_content_height(GTK_SCROLLED_WINDOW(scroller), 320);
  gtk_scrolled_window_set_propagate_natural_height(GTK_SCROLLED_WINDOW(scroller), TRUE);
  gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), c->flow);
  gtk_popover_set_child(GTK_POPOVER(popover), scroller);
  c->more = gtk_menu_button_new();
  gtk_menu_button_set_popover(GTK_MENU_BUTTON(c->more), popover);
  gtk_menu_button_set_label(GTK_MENU_BUTTON(c->more), _("More"));
  gtk_widget_set_tooltip_text(c->more, _("More classes"));
  gtk_box_append(GTK_BOX(c), c->all);
  gtk_box_append(GTK_BOX(c), c->row);
  gtk_box_append(GTK_BOX(c), c->more);
  g_signal_connect_swapped(c->all, "clicked", G_CALLBACK(tm_class_chips_clear), c);
}

GtkWidget *tm_class_chips_new(void) {
  return g_object_new(TM_TYPE_CLASS_CHIPS, NULL);
}
