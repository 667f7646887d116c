#include "ui/score_bars.h"

#include <gdk/gdkkeysyms.h>
#include <glib/gi18n.h>
#include <math.h>

#include "ui/draw_text.h"
#include "ui/ink.h"

enum { ROW_LEAST = 24, ROW_MOST = 40, AXIS = 24, GAP = 10, SWATCH = 12, NUMBER_GAP = 12 };

typedef struct {
  char *name, *absent;
  guint32 rgb;
  double value, other;
} Row;

struct _TmScoreBars {
  GtkWidget parent;
  GArray *rows; /* Row */
  guint at;     /* the row under the keyboard */
};

enum { ACTIVATED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(TmScoreBars, tm_score_bars, GTK_TYPE_WIDGET)

static const Row *row_at(TmScoreBars *b, guint i) {
  return &g_array_index(b->rows, Row, i);
}

static void row_clear(gpointer data) {
  Row *r = data;
  g_free(r->name);
  g_free(r->absent);
}

/* ---- drawing ---- */

typedef struct {
  double names, bars, bars_end, numbers, changes; /* left or right ends of the columns */
  double row;                                     /* height */
  gboolean compared, swatches;
} Columns;

static void lay_out(TmScoreBars *b, double w, double h, Columns *c) {
  GtkWidget *widget = GTK_WIDGET(b);
  int name = 0;
  *c = (Columns){0};
  for (guint i = 0; i < b->rows->len; i++) {
    name = MAX(name, tm_text_width(widget, row_at(b, i)->name, TM_TEXT_SMALL, 0, NULL));
    c->compared |= !isnan(row_at(b, i)->other);
    c->swatches |= row_at(b, i)->rgb != G_MAXUINT32;
  }
  const int number = tm_text_width(widget, "0.000", TM_TEXT_SMALL, TM_TEXT_BOLD, NULL),
            change = tm_text_width(widget, "+0.000", TM_TEXT_TINY, 0, NULL);
  c->names = c->swatches ? SWATCH + 7 : 0;
  c->bars = c->names + MIN(name, w * 0.3) + GAP;
  c->changes = w;
  c->numbers = c->compared ? w - change - 6 : w;
  c->bars_end = MAX(c->bars + 20, c->numbers - number - NUMBER_GAP);
  c->row = b->rows->len ? CLAMP((h - AXIS) / b->rows->len, ROW_LEAST, ROW_MOST) : ROW_LEAST;
}

static void rounded(cairo_t *cr, double x, double y, double w, double h, double r) {
  r = MIN(r, MIN(w, h) / 2);
  cairo_new_sub_path(cr);
  cairo_arc(cr, x + w - r, y + r, r, -G_PI / 2, 0);
  cairo_arc(cr, x + w - r, y + h - r, r, 0, G_PI / 2);
  cairo_arc(cr, x + r, y + h - r, r, G_PI / 2, G_PI);
  cairo_arc(cr, x + r, y + r, r, G_PI, 1.5 * G_PI);
  cairo_close_path(cr);
}

static void draw_axis(TmScoreBars *b, cairo_t *cr, const Columns *c) {
  GdkRGBA text = tm_ink_text(GTK_WIDGET(b), 1), dim = tm_ink_text(GTK_WIDGET(b), 0.74);
  const double bottom = c->row * b->rows->len;
  static const char *const labels[] = {"0", "0.25", "0.5", "0.75", "1"};
  for (int i = 0; i <= 4; i++) {
    const double x = floor(c->bars + (c->bars_end - c->bars) * i / 4) + 0.5;
    tm_ink_set(cr, &text, tm_ink_high_contrast() ? 0.5 : 0.1);
    cairo_set_line_width(cr, 1);
    cairo_move_to(cr, x, 0);
    cairo_line_to(cr, x, bottom + 3);
    cairo_stroke(cr);
    tm_text_draw(GTK_WIDGET(b), cr, labels[i], x, bottom + AXIS / 2.0 + 1, TM_TEXT_TINY,
                 i == 4 ? TM_TEXT_RIGHT : i ? TM_TEXT_CENTRE : 0, 0, &dim);
  }
}

static GdkRGBA colour_of(guint32 rgb) {
  if (rgb == G_MAXUINT32) return tm_ink(TM_INK_TRAINING);
  return (GdkRGBA){(float)(rgb >> 16 & 255) / 255, (float)(rgb >> 8 & 255) / 255, (float)(rgb & 255) / 255, 1};
}

static void fill_with_rim(cairo_t *cr, const GdkRGBA *fill, const GdkRGBA *rim) {
  tm_ink_set(cr, fill, 1);
  cairo_fill_preserve(cr);
  tm_ink_set(cr, rim, 1);
  cairo_set_line_width(cr, 1);
  cairo_stroke(cr);
}

/* The change in words, with its sign; green up, amber down. */
static void draw_change(TmScoreBars *b, cairo_t *cr, const Columns *c, const Row *r, double y) {
  const double change = r->value - r->other;
  if (isnan(change)) return;
  g_autofree char *text = fabs(change) < 0.0005 ? g_strdup("±0") : g_strdup_printf("%s%.3f", change > 0 ? "+" : "−", fabs(change));
  GdkRGBA ink = tm_ink(change >= 0 ? TM_INK_GOOD : TM_INK_WARNING);
  tm_text_draw(GTK_WIDGET(b), cr, text, c->changes, y, TM_TEXT_TINY, TM_TEXT_RIGHT, 0, &ink);
}

static void draw_row(TmScoreBars *b, cairo_t *cr, const Columns *c, guint i) {
  GtkWidget *w = GTK_WIDGET(b);
  const Row *r = row_at(b, i);
  const double top = c->row * i, y = top + c->row / 2, bar = c->row * 0.78, length = c->bars_end - c->bars;
  GdkRGBA text = tm_ink_text(w, 1), dim = tm_ink_text(w, 0.74), rim = tm_ink_text(w, 0.3), fill = colour_of(r->rgb);
  if (gtk_widget_has_visible_focus(w) && i == b->at) {
    rounded(cr, 0.5, top + 0.5, gtk_widget_get_width(w) - 1, c->row - 1, 5);
    GdkRGBA focus = tm_ink(TM_INK_TRAINING);
    tm_ink_set(cr, &focus, 0.16);
    cairo_fill(cr);
  }
  if (r->rgb != G_MAXUINT32) {
    rounded(cr, 0.5, y - SWATCH / 2.0 + 0.5, SWATCH - 1, SWATCH - 1, 3);
    fill_with_rim(cr, &fill, &rim);
  }
  tm_text_draw(w, cr, r->name, c->names, y, TM_TEXT_SMALL, 0, (int)(c->bars - c->names - GAP / 2.0), &text);
  if (isnan(r->value)) {
    tm_text_draw(w, cr, r->absent ? r->absent : "–", c->bars + 6, y, TM_TEXT_TINY, 0, (int)length, &dim);
    return;
  }
  rounded(cr, c->bars + 0.5, top + (c->row - bar) / 2 + 0.5, MAX(3, length * CLAMP(r->value, 0.0, 1.0)) - 1, bar - 1, 4);
  fill_with_rim(cr, &fill, &rim);
  if (!isnan(r->other)) { /* a dark tick with a light rim shows on every colour */
    const double x = c->bars + length * CLAMP(r->other, 0.0, 1.0);
    GdkRGBA light = {1, 1, 1, 1}, dark = {0.1f, 0.1f, 0.1f, 1};
    tm_ink_set(cr, text.red > 0.5f ? &dark : &light, 1);
    cairo_rectangle(cr, x - 2.5, top + 1, 5, c->row - 2);
    cairo_fill(cr);
    tm_ink_set(cr, text.red > 0.5f ? &light : &dark, 1);
    cairo_rectangle(cr, x - 1.25, top + 1, 2.5, c->row - 2);
    cairo_fill(cr);
  }
  g_autofree char *number = g_strdup_printf("%.3f", r->value);
  tm_text_draw(w, cr, number, c->numbers, y, TM_TEXT_SMALL, TM_TEXT_RIGHT | TM_TEXT_BOLD, 0, &text);
  draw_change(b, cr, c, r, y);
}

static void snapshot(GtkWidget *w, GtkSnapshot *s) {
  TmScoreBars *b = TM_SCORE_BARS(w);
  const int width = gtk_widget_get_width(w), height = gtk_widget_get_height(w);
  if (!b->rows->len || width < 1 || height < 1) return;
  Columns c;
  lay_out(b, width, height, &c);
  cairo_t *cr = gtk_snapshot_append_cairo(s, &GRAPHENE_RECT_INIT(0, 0, (float)width, (float)height));
  draw_axis(b, cr, &c);
  for (guint i = 0; i < b->rows->len; i++) draw_row(b, cr, &c, i);
  cairo_destroy(cr);
}

static void measure(GtkWidget *w, GtkOrientation o, int for_size, int *min, int *nat, int *min_base, int *nat_base) {
  (void)for_size;
  const int n = (int)TM_SCORE_BARS(w)->rows->len;
  *min = o == GTK_ORIENTATION_HORIZONTAL ? 200 : n * ROW_LEAST + AXIS;
  *nat = o == GTK_ORIENTATION_HORIZONTAL ? 420 : n * 36 + AXIS;
  *min_base = *nat_base = -1;
}

/* ---- keyboard and pointer ---- */

static void name_row(TmScoreBars *b) {
  if (b->at >= b->rows->len) return;
  const Row *r = row_at(b, b->at);
  g_autofree char *text = isnan(r->value) ? g_strdup_printf("%s, %s", r->name, r->absent ? r->absent : "–")
                                          : g_strdup_printf("%s %.3f", r->name, r->value);
  gtk_accessible_update_property(GTK_ACCESSIBLE(b), GTK_ACCESSIBLE_PROPERTY_VALUE_TEXT, text, -1);
}

static gboolean key(GtkEventControllerKey *k, guint val, guint code, GdkModifierType state, TmScoreBars *b) {
  (void)k;
  (void)code;
  (void)state;
  const guint n = b->rows->len;
  guint to = b->at;
  if (!n) return FALSE;
  if (val == GDK_KEY_Up)
    to = b->at ? b->at - 1 : 0;
  else if (val == GDK_KEY_Down)
    to = MIN(b->at + 1, n - 1);
  else if (val == GDK_KEY_Home)
    to = 0;
  else if (val == GDK_KEY_End)
    to = n - 1;
  else if (val == GDK_KEY_Return || val == GDK_KEY_KP_Enter || val == GDK_KEY_space)
    g_signal_emit(b, signals[ACTIVATED], 0, b->at);
  else
    return FALSE;
  b->at = to;
  name_row(b);
  gtk_widget_queue_draw(GTK_WIDGET(b));
  return TRUE;
}

static void pressed(GtkGestureClick *g, int n, double x, double y, TmScoreBars *b) {
  (void)g;
  (void)n;
  (void)x;
  if (!b->rows->len) return;
  Columns c;
  lay_out(b, gtk_widget_get_width(GTK_WIDGET(b)), gtk_widget_get_height(GTK_WIDGET(b)), &c);
  const guint i = (guint)MAX(y / c.row, 0);
  gtk_widget_grab_focus(GTK_WIDGET(b));
  if (i >= b->rows->len) return;
  b->at = i;
  name_row(b);
  gtk_widget_queue_draw(GTK_WIDGET(b));
  g_signal_emit(b, signals[ACTIVATED], 0, i);
}

static void finalize(GObject *o) {
  g_array_unref(TM_SCORE_BARS(o)->rows);
  G_OBJECT_CLASS(tm_score_bars_parent_class)->finalize(o);
}

static void tm_score_bars_class_init(TmScoreBarsClass *c) {
  G_OBJECT_CLASS(c)->finalize = finalize;
  GTK_WIDGET_CLASS(c)->snapshot = snapshot;
  GTK_WIDGET_CLASS(c)->measure = measure;
  gtk_widget_class_set_accessible_role(GTK_WIDGET_CLASS(c), GTK_ACCESSIBLE_ROLE_IMG);
  signals[ACTIVATED] = g_signal_new("activated", TM_TYPE_SCORE_BARS, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                    G_TYPE_NONE, 1, G_TYPE_UINT);
}

static void tm_score_bars_init(TmScoreBars *b) {
  b->rows = g_array_new(FALSE, TRUE, sizeof(Row));
  g_array_set_clear_func(b->rows, row_clear);
  gtk_widget_set_focusable(GTK_WIDGET(b), TRUE);
  GtkEventController *keys = gtk_event_controller_key_new();
  g_signal_connect(keys, "key-pressed", G_CALLBACK(key), b);
  gtk_widget_add_controller(GTK_WIDGET(b), keys);
  GtkGesture *click = gtk_gesture_click_new();
  g_signal_connect(click, "pressed", G_CALLBACK(pressed), b);
  gtk_widget_add_controller(GTK_WIDGET(b), GTK_EVENT_CONTROLLER(click));
  tm_ink_watch(GTK_WIDGET(b));
}

GtkWidget *tm_score_bars_new(const char *label) {
  GtkWidget *w = g_object_new(TM_TYPE_SCORE_BARS, NULL);
  gtk_accessible_update_property(GTK_ACCESSIBLE(w), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
  return w;
}

char *tm_score_bars_describe(TmScoreBars *b) {
  GString *s = g_string_new(NULL);
  for (guint i = 0; i < b->rows->len; i++) {
    const Row *r = row_at(b, i);
    if (i) g_string_append(s, "; ");
    if (isnan(r->value)) {
      g_string_append_printf(s, "%s %s", r->name, r->absent ? r->absent : "–");
      continue;
    }
    g_string_append_printf(s, "%s %.3f", r->name, r->value);
    if (!isnan(r->other) && fabs(r->value - r->other) >= 0.0005)
      g_string_append_printf(s, r->value > r->other ? _(", up %.3f") : _(", down %.3f"), fabs(r->value - r->other));
  }
  return g_string_free(s, FALSE);
}

void tm_score_bars_set(TmScoreBars *b, const TmScoreRow *rows, guint n) {
  const gboolean same_size = n == b->rows->len;
  g_array_set_size(b->rows, 0);
  for (guint i = 0; i < n; i++)
    g_array_append_vals(b->rows,
                        &(Row){.name = g_strdup(rows[i].name),
                               .absent = g_strdup(rows[i].absent),
                               .rgb = rows[i].rgb,
                               .value = rows[i].value,
                               .other = rows[i].other},
                        1);
  b->at = MIN(b->at, n ? n - 1 : 0);
  g_autofree char *text = tm_score_bars_describe(b);
  gtk_accessible_update_property(GTK_ACCESSIBLE(b), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text, -1);
  if (!same_size) gtk_widget_queue_resize(GTK_WIDGET(b));
  gtk_widget_queue_draw(GTK_WIDGET(b));
}
