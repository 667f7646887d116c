#include "ui/timeline.h"

#include <glib/gi18n.h>
#include <math.h>

#include "ui/axis.h"
#include "ui/ink.h"
#include "ui/words.h"

enum { LANE_H = 22, LANE_GAP = 5, LABEL_W = 62, AXIS_H = 18, RADIUS = 3 };

struct _TmTimeline {
  GtkWidget parent;
  TmStepTimes times;
};

G_DEFINE_FINAL_TYPE(TmTimeline, tm_timeline, GTK_TYPE_WIDGET)

typedef struct {
  const char *name; /* N_() */
  TmInk ink;
  gboolean idle, dark_text;
  double seconds;
} Segment;

static void text_at(GtkWidget *w, cairo_t *cr, double x, double y, const char *text, gboolean bold, int align,
                    const GdkRGBA *c) {
  g_autoptr(PangoLayout) l = gtk_widget_create_pango_layout(w, text);
  PangoAttrList *attrs = pango_attr_list_new();
  if (bold) pango_attr_list_insert(attrs, pango_attr_weight_new(PANGO_WEIGHT_BOLD));
  pango_attr_list_insert(attrs, pango_attr_font_features_new("tnum"));
  pango_layout_set_attributes(l, attrs);
  pango_attr_list_unref(attrs);
  int tw, th;
  pango_layout_get_pixel_size(l, &tw, &th);
  cairo_move_to(cr, floor(x - tw * align / 2.0), floor(y - th / 2.0));
  tm_ink_set(cr, c, 1);
  pango_cairo_show_layout(cr, l);
}

static int text_width(GtkWidget *w, const char *text) {
  g_autoptr(PangoLayout) l = gtk_widget_create_pango_layout(w, text);
  int tw, th;
  pango_layout_get_pixel_size(l, &tw, &th);
  return tw + 6; /* bold is a little wider */
}

static void box(cairo_t *cr, double x, double y, double w, double h) {
  double r = MIN((double)RADIUS, w / 2);
  cairo_new_sub_path(cr);
  cairo_arc(cr, x + w - r, y + r, r, -G_PI_2, 0);
  cairo_arc(cr, x + w - r, y + h - r, r, 0, G_PI_2);
  cairo_arc(cr, x + r, y + h - r, r, G_PI_2, G_PI);
  cairo_arc(cr, x + r, y + r, r, G_PI, 3 * G_PI_2);
  cairo_close_path(cr);
}

static void hatch(cairo_t *cr, double x, double y, double w, double h, const GdkRGBA *c) {
  cairo_save(cr);
  box(cr, x, y, w, h);
  cairo_clip(cr);
  tm_ink_set(cr, c, 0.16);
  cairo_paint(cr);
  tm_ink_set(cr, c, 0.55);
  cairo_set_line_width(cr, 1.5);
  for (double i = -h; i < w; i += 7) {
    cairo_move_to(cr, x + i, y + h);
    cairo_line_to(cr, x + i + h, y);
  }
  cairo_stroke(cr);
  cairo_restore(cr);
}

/* One lane: the well, its segments left to right. What does not fit into its segment is said by the sentence
 * and the tooltip. */
static void draw_lane(GtkWidget *w, cairo_t *cr, double x, double y, double width, double seconds,
                      const char *label, const Segment *s, guint n) {
  GdkRGBA well = tm_ink_text(w, 0.05), dim = tm_ink_text(w, 0.74);
  static const GdkRGBA white = {1, 1, 1, 1}, black = {0, 0, 0, 0.87f};
  text_at(w, cr, 0, y + LANE_H / 2.0, label, FALSE, 0, &dim);
  box(cr, x, y, width, LANE_H);
  tm_ink_set(cr, &well, 1);
  cairo_fill(cr);
  double at = x;
  for (guint i = 0; i < n; i++) {
    if (!(s[i].seconds > 0)) continue;
    double px = s[i].seconds / seconds * width, gap = px > 4 ? 1.5 : 0;
    GdkRGBA ink = s[i].idle ? tm_ink(TM_INK_VALIDATION) : tm_ink(s[i].ink);
    if (s[i].idle) {
      hatch(cr, at, y, px - gap, LANE_H, &ink);
    } else {
      box(cr, at, y, MAX(px - gap, 1), LANE_H);
      tm_ink_set(cr, &ink, 1);
      cairo_fill(cr);
    }
    g_autofree char *span = tm_words_span(s[i].seconds);
    g_autofree char *full = g_strdup_printf("%s %s", _(s[i].name), span);
    const char *shown = text_width(w, full) + 14 <= px           ? full
                        : text_width(w, _(s[i].name)) + 12 <= px ? _(s[i].name)
                                                                 : NULL;
    if (shown && s[i].idle) { /* a plate keeps the words clear of the hatching */
      double tw = text_width(w, shown) + 12;
      box(cr, at + px / 2 - tw / 2, y + 3, tw, LANE_H - 6);
      GdkRGBA plate = tm_ink_text(w, 1);
      plate = (double)plate.red > 0.5 ? (GdkRGBA){0.21f, 0.21f, 0.21f, 1} : white;
      tm_ink_set(cr, &plate, 1);
      cairo_fill(cr);
      text_at(w, cr, at + px / 2, y + LANE_H / 2.0, shown, TRUE, 1, &ink);
    } else if (shown) {
      text_at(w, cr, at + 8, y + LANE_H / 2.0, shown, TRUE, 0, s[i].dark_text ? &black : &white);
    }
    at += px;
  }
}

static void snapshot(GtkWidget *w, GtkSnapshot *snap) {
  TmTimeline *t = TM_TIMELINE(w);
  int width = gtk_widget_get_width(w), height = gtk_widget_get_height(w);
  if (width <= LABEL_W + 20 || height < 1) return;
  cairo_t *cr = gtk_snapshot_append_cairo(snap, &GRAPHENE_RECT_INIT(0, 0, (float)width, (float)height));
  const TmStepTimes *m = &t->times;
  double engine = m->step > 0 ? m->step : 0, loader = fmax(m->decode, 0) + fmax(m->augment, 0);
  double parts =
      fmax(m->wait, 0) + fmax(m->upload, 0) + fmax(m->network, 0) + fmax(m->update, 0) + fmax(m->draw, 0);
  double all = fmax(fmax(engine, parts), loader);
  if (!(all > 0)) all = 0.1;
  double x = LABEL_W, inner = width - LABEL_W - 2;
  const Segment load[] = {{N_("Load and decode"), TM_INK_LOAD, FALSE, TRUE, m->decode},
                          {N_("Augment"), TM_INK_AUGMENT, FALSE, FALSE, m->augment}};
  double rest = engine - parts;
  gboolean apart = !isnan(m->forward); /* as the device tells them */
  const Segment run[] = {{N_("Waiting for pictures"), TM_INK_VALIDATION, TRUE, FALSE, m->wait},
                         {N_("Upload"), TM_INK_LOAD, FALSE, TRUE, m->upload},
                         {apart ? N_("Forward") : N_("Forward and backward"), TM_INK_NETWORK, FALSE, FALSE,
                          apart ? m->forward : m->network},
                         {N_("Backward"), TM_INK_NETWORK, FALSE, FALSE, apart ? m->network - m->forward : 0},
                         {N_("Update"), TM_INK_UPDATE, FALSE, FALSE, m->update},
                         {N_("Draw"), TM_INK_DRAW, FALSE, FALSE, m->draw},
                         {N_("Other"), TM_INK_AUGMENT, FALSE, FALSE, rest > all * 0.01 ? rest : 0}};
  draw_lane(w, cr, x, 0, inner, all, _("Loader"), load, G_N_ELEMENTS(load));
  draw_lane(w, cr, x, LANE_H + LANE_GAP, inner, all, _("Engine"), run, G_N_ELEMENTS(run));
  GdkRGBA dim = tm_ink_text(w, 0.74);
  double ticks[TM_AXIS_MAX_TICKS];
  gboolean slow = all > 2; /* a big net on a small machine: whole seconds read better */
  double unit = slow ? 1 : 1e-3;
  TmAxis axis = {0, all / unit, FALSE};
  guint n = m->step > 0 ? tm_axis_ticks(&axis, (guint)MAX(inner / 110, 2.0), ticks) : 0;
  for (guint i = 0; i < n; i++) {
    g_autofree char *number = tm_axis_label(&axis, ticks[i], n > 1 ? ticks[1] - ticks[0] : 1);
    g_autofree char *label = g_strdup_printf(slow ? _("%s s") : _("%s ms"), number);
    double px = x + ticks[i] * unit / all * inner, half = text_width(w, label) / 2.0;
    text_at(w, cr, CLAMP(px, x + half - 3, width - half), 2 * LANE_H + LANE_GAP + 10, label, FALSE, 1, &dim);
  }
  cairo_destroy(cr);
}

static void measure(GtkWidget *w, GtkOrientation o, int for_size, int *min, int *nat, int *min_base,
                    int *nat_base) {
  (void)w;
  (void)for_size;
  *min = o == GTK_ORIENTATION_HORIZONTAL ? 200 : 2 * LANE_H + LANE_GAP + AXIS_H;
  *nat = o == GTK_ORIENTATION_HORIZONTAL ? 600 : *min;
  *min_base = *nat_base = -1;
}

static gboolean query_tooltip(GtkWidget *w, int x, int y, gboolean keyboard, GtkTooltip *tip) {
  (void)x;
  (void)y;
  (void)keyboard;
  const TmStepTimes *m = &TM_TIMELINE(w)->times;
  if (!(m->step > 0)) return FALSE;
  g_autofree char *step = tm_words_span(m->step), *wait = tm_words_span(m->wait),
                  *decode = tm_words_span(m->decode), *augment = tm_words_span(m->augment),
                  *upload = tm_words_span(m->upload), *network = tm_words_span(m->network),
                  *forward = tm_words_span(m->forward), *update = tm_words_span(m->update),
                  *draw = tm_words_span(m->draw);
  g_autofree char *text = g_strdup_printf(
      _("One step: %s\nWaiting for pictures: %s\nUpload: %s\nForward and backward: %s (forward %s)\nUpdate: "
        "%s\nDrawing the probe: %s\n"
        "Load and decode, of worker time: %s\nAugment, of worker time: %s"),
      step, wait, upload, network, forward, update, draw, decode, augment);
  gtk_tooltip_set_text(tip, text);
  return TRUE;
}

static void tm_timeline_class_init(TmTimelineClass *c) {
  GTK_WIDGET_CLASS(c)->snapshot = snapshot;
  GTK_WIDGET_CLASS(c)->measure = measure;
  GTK_WIDGET_CLASS(c)->query_tooltip = query_tooltip;
  gtk_widget_class_set_accessible_role(GTK_WIDGET_CLASS(c), GTK_ACCESSIBLE_ROLE_IMG);
}

static void tm_timeline_init(TmTimeline *t) {
  t->times = (TmStepTimes){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
  gtk_widget_add_css_class(GTK_WIDGET(t), "tm-tiny");
  gtk_widget_set_has_tooltip(GTK_WIDGET(t), TRUE);
  gtk_accessible_update_property(GTK_ACCESSIBLE(t), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Step timeline"), -1);
  tm_ink_watch(GTK_WIDGET(t));
}

GtkWidget *tm_timeline_new(void) {
  return g_object_new(TM_TYPE_TIMELINE, NULL);
}

void tm_timeline_set(TmTimeline *t, const TmStepTimes *times) {
  t->times = *times;
  gtk_widget_queue_draw(GTK_WIDGET(t));
}
