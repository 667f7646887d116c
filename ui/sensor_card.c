#include "ui/sensor_card.h"

#include <glib/gi18n.h>
#include <math.h>

#include "ui/words.h"

struct _TmSensorCard {
  GtkBox parent;
  TmUnit unit;
  char *title;
  GtkWidget *value, *spark, *menu;
  gint64 described; /* monotonic time of the last description */
};

G_DEFINE_FINAL_TYPE(TmSensorCard, tm_sensor_card, GTK_TYPE_BOX)

char *tm_sensor_text(TmUnit unit, double value) {
  if (isnan(value)) return g_strdup(_("not available"));
  switch (unit) {
  case TM_UNIT_PERCENT:
    return g_strdup_printf("%.0f\u2009%%", value);
  case TM_UNIT_CELSIUS:
    return g_strdup_printf("%.0f\u2009°C", value);
  case TM_UNIT_WATTS:
    return g_strdup_printf("%.0f\u2009W", value);
  case TM_UNIT_MEGAHERTZ: {
    g_autofree char *count = tm_words_count((guint64)(value + 0.5));
    return g_strdup_printf("%s\u2009MHz", count);
  }
  case TM_UNIT_BYTES_A_SECOND: {
    g_autofree char *bytes = tm_words_bytes(value);
    return g_strdup_printf(_("%s/s"), bytes);
  }
  default:
    return tm_words_bytes(value);
  }
}

TmInk tm_sensor_ink(TmUnit unit) {
  static const TmInk inks[] = {
      [TM_UNIT_PERCENT] = TM_INK_TRAINING,   [TM_UNIT_BYTES] = TM_INK_RATE,
      [TM_UNIT_CELSIUS] = TM_INK_VALIDATION, [TM_UNIT_WATTS] = TM_INK_GOOD,
      [TM_UNIT_MEGAHERTZ] = TM_INK_LIVE,     [TM_UNIT_BYTES_A_SECOND] = TM_INK_VALIDATION,
  };
  return inks[unit];
}

static void finalize(GObject *o) {
  g_free(TM_SENSOR_CARD(o)->title);
  G_OBJECT_CLASS(tm_sensor_card_parent_class)->finalize(o);
}

static void dispose(GObject *o) {
  g_clear_pointer(&TM_SENSOR_CARD(o)->menu, gtk_widget_unparent);
  G_OBJECT_CLASS(tm_sensor_card_parent_class)->dispose(o);
}

static void tm_sensor_card_class_init(TmSensorCardClass *c) {
  G_OBJECT_CLASS(c)->dispose = dispose;
  G_OBJECT_CLASS(c)->finalize = finalize;
}

static void tm_sensor_card_init(TmSensorCard *c) {
  gtk_orientable_set_orientation(GTK_ORIENTABLE(c), GTK_ORIENTATION_VERTICAL);
  gtk_widget_set_hexpand(GTK_WIDGET(c), TRUE);
}

static GtkWidget *label_new(const char *text, const char *style, gboolean strong) {
  GtkWidget *l = gtk_label_new(text);
  gtk_label_set_xalign(GTK_LABEL(l), 0);
  gtk_widget_add_css_class(l, style);
  if (strong) gtk_widget_add_css_class(l, "tm-strong");
  return l;
}

static GtkWidget *caption_new(const char *caption) {
  GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6), *left = label_new(_("60 s"), "tm-tiny", FALSE),
            *right = label_new(caption, "tm-tiny", FALSE);
  gtk_widget_add_css_class(left, "tm-dim");
  gtk_widget_add_css_class(right, "tm-dim");
  gtk_label_set_xalign(GTK_LABEL(right), 1);
  gtk_label_set_ellipsize(GTK_LABEL(right), PANGO_ELLIPSIZE_END);
  gtk_label_set_max_width_chars(GTK_LABEL(right), 1); /* takes what there is, asks for nothing */
  gtk_widget_set_tooltip_text(right, caption);
  gtk_widget_set_hexpand(right, TRUE);
  gtk_box_append(GTK_BOX(box), left);
  gtk_box_append(GTK_BOX(box), right);
  return box;
}

GtkWidget *tm_sensor_card_new(const TmSensor *sensor, TmInk ink, gboolean small) {
  TmSensorCard *c = g_object_new(TM_TYPE_SENSOR_CARD, NULL);
  c->unit = sensor->unit;
  c->title = g_strdup(sensor->title);
  GtkWidget *head = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6),
            *title = label_new(sensor->title, small ? "tm-tiny" : "tm-h2", FALSE);
  gtk_label_set_ellipsize(GTK_LABEL(title), PANGO_ELLIPSIZE_END);
  gtk_widget_set_hexpand(title, TRUE);
  c->value = label_new("–", small ? "tm-tiny" : "tm-h2", TRUE);
  gtk_widget_add_css_class(c->value, "numeric");
  gtk_box_append(GTK_BOX(head), title);
  gtk_box_append(GTK_BOX(head), c->value);
  c->spark = tm_spark_new(ink);
  tm_spark_set_full(TM_SPARK(c->spark), sensor->full);
  gtk_widget_set_size_request(c->spark, small ? 72 : 120, small ? 30 : 88);
  gtk_widget_set_focusable(c->spark, !small); /* hundreds of cores are no tab stops; the table has them all */
  gtk_widget_add_css_class(c->spark, "tm-graph");
  gtk_accessible_update_property(GTK_ACCESSIBLE(c->spark), GTK_ACCESSIBLE_PROPERTY_LABEL, sensor->title, -1);
  gtk_box_set_spacing(GTK_BOX(c), small ? 2 : 6);
  gtk_box_append(GTK_BOX(c), head);
  gtk_box_append(GTK_BOX(c), c->spark);
  if (!small) {
    gtk_widget_add_css_class(GTK_WIDGET(c), "card");
    gtk_widget_add_css_class(GTK_WIDGET(c), "tm-card");
    gtk_box_append(GTK_BOX(c), caption_new(sensor->caption ? sensor->caption : ""));
  }
  return GTK_WIDGET(c);
}

void tm_sensor_card_set_graph_height(TmSensorCard *c, int height) {
  gtk_widget_set_size_request(c->spark, 120, height);
}

/* ---- the graph's menu ---- */

static void pressed(GtkGestureClick *g, int n, double x, double y, TmSensorCard *c) {
  (void)n;
  gtk_gesture_set_state(GTK_GESTURE(g), GTK_EVENT_SEQUENCE_CLAIMED);
  gtk_popover_set_pointing_to(GTK_POPOVER(c->menu), &(GdkRectangle){(int)x, (int)y, 1, 1});
  gtk_popover_popup(GTK_POPOVER(c->menu));
}

static gboolean open_by_key(GtkWidget *w, GVariant *args, gpointer card) {
  (void)args;
  TmSensorCard *c = card;
  gtk_popover_set_pointing_to(GTK_POPOVER(c->menu),
                              &(GdkRectangle){gtk_widget_get_width(w) / 2, 0, 1, gtk_widget_get_height(w)});
  gtk_popover_popup(GTK_POPOVER(c->menu));
  return TRUE;
}

void tm_sensor_card_set_menu(TmSensorCard *c, GMenuModel *menu) {
  c->menu = gtk_popover_menu_new_from_model(menu);
  gtk_popover_set_has_arrow(GTK_POPOVER(c->menu), FALSE);
  gtk_widget_set_parent(c->menu, c->spark);
  GtkGesture *click = gtk_gesture_click_new();
  gtk_gesture_single_set_button(GTK_GESTURE_SINGLE(click), GDK_BUTTON_SECONDARY);
  g_signal_connect(click, "pressed", G_CALLBACK(pressed), c);
  gtk_widget_add_controller(c->spark, GTK_EVENT_CONTROLLER(click));
  GtkEventController *keys = gtk_shortcut_controller_new();
  gtk_shortcut_controller_add_shortcut(
      GTK_SHORTCUT_CONTROLLER(keys),
      gtk_shortcut_new(gtk_shortcut_trigger_parse_string("Menu|<Shift>F10|space|Return"),
                       gtk_callback_action_new(open_by_key, c, NULL)));
  gtk_widget_add_controller(c->spark, keys);
}

void tm_sensor_card_update(TmSensorCard *c, const float *ages, const float *values, guint n) {
  tm_spark_set_points(TM_SPARK(c->spark), ages, values, n);
  const double newest = n ? (double)values[n - 1] : NAN;
  g_autofree char *text = n ? tm_sensor_text(c->unit, newest) : g_strdup("–");
  gtk_label_set_label(GTK_LABEL(c->value), text);
  if (isnan(newest))
    gtk_widget_add_css_class(c->value, "tm-dim");
  else
    gtk_widget_remove_css_class(c->value, "tm-dim");
  const gint64 now = g_get_monotonic_time();
  if (now - c->described < G_USEC_PER_SEC) return;
  c->described = now;
  g_autofree char *words = g_strdup_printf(_("%s %s, last minute"), c->title, text);
  gtk_accessible_update_property(GTK_ACCESSIBLE(c->spark), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, words, -1);
}
