/* Drawing of the plot, back to front: panes with grid and ticks, markers, curves, rings, direct labels, the
 * cross with its read-out. */
#include <glib/gi18n.h>
#include <math.h>

#include "ui/plot_private.h"
#include "ui/words.h"

enum { TITLE_H = 17, TICK_H = 18, GAP = 8, RIGHT_W = 46, CHIP_H = 19, TICK_GAP = 34, BAR_PX = 3 };

/* Where a direct label may sit: a share of the width, above or below the curve. */
static const double label_places[] = {0.3, 0.45, 0.6, 0.15, 0.75, 0.9};
enum { N_PLACES = 2 * G_N_ELEMENTS(label_places) };

typedef enum { BOLD = 1, RIGHT = 2, CENTRE = 4 } TextFlags;

static PangoLayout *text_layout(TmPlot *p, const char *text, TextFlags flags, int *w, int *h) {
  PangoLayout *l = gtk_widget_create_pango_layout(GTK_WIDGET(p), text);
  PangoAttrList *attrs = pango_attr_list_new();
  pango_attr_list_insert(attrs, pango_attr_font_features_new("tnum"));
  if (flags & BOLD) pango_attr_list_insert(attrs, pango_attr_weight_new(PANGO_WEIGHT_BOLD));
  pango_layout_set_attributes(l, attrs);
  pango_attr_list_unref(attrs);
  pango_layout_get_pixel_size(l, w, h);
  return l;
}

/* Text with its vertical middle at @y; returns its width. */
static int text_at(TmPlot *p, cairo_t *cr, double x, double y, const char *text, TextFlags flags,
                   const GdkRGBA *colour, double alpha) {
  int w, h;
  g_autoptr(PangoLayout) l = text_layout(p, text, flags, &w, &h);
  cairo_move_to(cr, floor(flags & RIGHT ? x - w : flags & CENTRE ? x - w / 2.0 : x), floor(y - h / 2.0));
  tm_ink_set(cr, colour, alpha);
  pango_cairo_show_layout(cr, l);
  return w;
}

static void rounded(cairo_t *cr, double x, double y, double w, double h, double r) {
  cairo_new_sub_path(cr);
  cairo_arc(cr, x + w - r, y + r, r, -G_PI_2, 0);
  cairo_arc(cr, x + w - r, y + h - r, r, 0, G_PI_2);
  cairo_arc(cr, x + r, y + h - r, r, G_PI_2, G_PI);
  cairo_arc(cr, x + r, y + r, r, G_PI, 3 * G_PI_2);
  cairo_close_path(cr);
}

static double y_px(const TmPlotPane *pane, gboolean right, double v) {
  double t = tm_axis_place(right ? &pane->right : &pane->left, v);
  return (double)pane->area.origin.y + (1 - t) * (double)pane->area.size.height;
}

/* Room for the widest label of any left axis. */
static double left_width(TmPlot *p) {
  double widest = 24;
  for (guint i = 0; i < p->n_panes; i++) {
    double ticks[TM_AXIS_MAX_TICKS];
    guint n = tm_axis_ticks(&p->panes[i].left, (guint)MAX(p->panes[i].area.size.height / TICK_GAP, 3), ticks);
    for (guint k = 0; k < n; k++) {
      int w, h;
      g_autofree char *label = tm_axis_label(&p->panes[i].left, ticks[k], n > 1 ? ticks[1] - ticks[0] : 1);
      g_object_unref(text_layout(p, label, 0, &w, &h));
      widest = MAX(widest, w);
    }
  }
  return ceil(widest) + 12;
}

/* Splits the height into panes by weight and fits every axis to what is in view. */
static void lay_out(TmPlot *p, int width, int height) {
  double weights = 0, fixed = 0, x0, x1;
  tm_plot_get_range(p, &x0, &x1);
  double top = p->markers->len ? CHIP_H : 0;
  for (guint i = 0; i < p->n_panes; i++) {
    weights += p->panes[i].weight;
    fixed += TITLE_H + TICK_H + (i ? GAP : 0);
  }
  double y = top, room = MAX(height - fixed - top, 20.0 * p->n_panes);
  for (guint i = 0; i < p->n_panes; i++) {
    TmPlotPane *pane = &p->panes[i];
    double h = floor(room * pane->weight / weights);
    y += TITLE_H + (i ? GAP : 0);
    pane->area = GRAPHENE_RECT_INIT(0, (float)y, 1, (float)h);
    y += h + TICK_H;
    TmSpread both[2] = {{.lo = INFINITY, .hi = -INFINITY, .low_positive = INFINITY},
                        {.lo = INFINITY, .hi = -INFINITY}};
    pane->bad = pane->low = 0;
    gboolean ringed = FALSE;
    for (guint c = 0; c < p->n_curves; c++) {
      TmPlotCurve *curve = &p->curves[c];
      if (curve->style.pane != i || curve->hidden) continue;
      ringed |= !isnan(curve->ring) && curve->ring_label;
      guint from = tm_series_find(curve->series, p->unit, x0),
            to = tm_series_find(curve->series, p->unit, x1);
      if (to < tm_series_n(curve->series)) to++;
      TmSpread s;
      tm_series_spread(curve->series, from ? from - 1 : 0, to, &s);
      TmSpread *side = &both[curve->style.right];
      side->lo = MIN(side->lo, s.lo);
      side->hi = MAX(side->hi, s.hi);
      side->low_positive = MIN(side->low_positive, s.low_positive);
      if (curve->style.faint || !curve->style.right) {
        pane->bad = MAX(pane->bad, s.bad);
        pane->low = MAX(pane->low, s.low);
      }
    }
    gboolean log = i == 0 && p->log;
    tm_axis_fit(&pane->left, log ? (double)both[0].low_positive : (double)both[0].lo, (double)both[0].hi,
                log);
    tm_axis_fit(&pane->right, 0, both[1].hi > 0 ? (double)both[1].hi : 1, FALSE);
    if (ringed && !log)
      pane->left.hi += (pane->left.hi - pane->left.lo) * 22 / MAX(h, 60.0); /* room for its words */
  }
  double left = left_width(p);
  for (guint i = 0; i < p->n_panes; i++) {
    p->panes[i].area.origin.x = (float)left;
    p->panes[i].area.size.width = (float)MAX(width - left - RIGHT_W, 20);
  }
}

static void draw_grid(TmPlot *p, cairo_t *cr, TmPlotPane *pane, gboolean last) {
  double ticks[TM_AXIS_MAX_TICKS], x0, x1;
  GdkRGBA text = tm_ink_text(GTK_WIDGET(p), 1), rate = tm_ink(TM_INK_RATE);
  double grid = tm_ink_high_contrast() ? 0.5 : 0.12, ax = (double)pane->area.origin.x,
         ay = (double)pane->area.origin.y;
  double aw = (double)pane->area.size.width, ah = (double)pane->area.size.height;
  text_at(p, cr, 2, ay - TITLE_H + 6, pane->title, BOLD, &text, 1);
  cairo_set_line_width(cr, 1);
  guint n = tm_axis_ticks(&pane->left, (guint)MAX(ah / TICK_GAP, 3), ticks);
  double step = n > 1 ? ticks[1] - ticks[0] : 1;
  for (guint i = 0; i < n; i++) {
    double y = floor(y_px(pane, FALSE, ticks[i])) + 0.5;
    tm_ink_set(cr, &text, grid);
    cairo_move_to(cr, ax, y);
    cairo_line_to(cr, ax + aw, y);
    cairo_stroke(cr);
    g_autofree char *label = tm_axis_label(&pane->left, ticks[i], step);
    text_at(p, cr, ax - 7, y, label, RIGHT, &text, 0.74);
  }
  if (pane->right_title) {
    text_at(p, cr, ax + aw + 8, ay - TITLE_H + 6, pane->right_title, BOLD, &rate, 1);
    n = tm_axis_ticks(&pane->right, 3, ticks);
    step = n > 1 ? ticks[1] - ticks[0] : 1;
    for (guint i = 0; i < n; i++) {
      g_autofree char *label = tm_axis_label(&pane->right, ticks[i], step);
      text_at(p, cr, ax + aw + 8, y_px(pane, TRUE, ticks[i]), label, 0, &rate, 1);
    }
  }
  tm_plot_get_range(p, &x0, &x1);
  TmAxis x = {x0, x1, FALSE};
  n = tm_axis_ticks(&x, (guint)MAX(aw / 56, 2), ticks);
  step = n > 1 ? ticks[1] - ticks[0] : 1;
  for (guint i = 0; i < n; i++) {
    g_autofree char *label = tm_axis_label(&x, ticks[i], step);
    text_at(p, cr, tm_plot_to_px(p, ticks[i]), ay + ah + 11, label, CENTRE, &text, 0.74);
  }
  if (last)
    text_at(p, cr, ax + aw + RIGHT_W - 4, ay + ah + 11, tm_plot_unit_name(p->unit), RIGHT, &text, 0.74);
}

/* Points that are not numbers: a small cross at the top of their column. */
static void draw_bad(cairo_t *cr, const TmPlotPane *pane, double px) {
  double y = (double)pane->area.origin.y + 6;
  GdkRGBA c = tm_ink(TM_INK_ERROR);
  cairo_save(cr);
  cairo_set_dash(cr, NULL, 0, 0);
  cairo_set_line_width(cr, 1.6);
  tm_ink_set(cr, &c, 1);
  cairo_move_to(cr, px - 3, y - 3);
  cairo_line_to(cr, px + 3, y + 3);
  cairo_move_to(cr, px + 3, y - 3);
  cairo_line_to(cr, px - 3, y + 3);
  cairo_stroke(cr);
  cairo_restore(cr);
}

/* Few points: a line through each, broken where a value cannot be shown. */
static void path_points(TmPlot *p, cairo_t *cr, const TmPlotCurve *c, const TmPlotPane *pane, guint from,
                        guint to) {
  gboolean pen = FALSE;
  for (guint i = from; i < to; i++) {
    double y = y_px(pane, c->style.right, tm_series_y(c->series, i));
    if (!isfinite(y)) {
      pen = FALSE;
      continue;
    }
    double x = tm_plot_to_px(p, tm_series_x(c->series, p->unit, i));
    if (pen)
      cairo_line_to(cr, x, y);
    else
      cairo_move_to(cr, x, y);
    pen = TRUE;
  }
}

/* What a pixel column shows of a curve, from top to bottom. FALSE: nothing. */
static gboolean column_span(const TmPlotCurve *c, const TmPlotPane *pane, const TmColumn *k, double *top, double *bottom) {
  const gboolean log = !c->style.right && pane->left.log;
  const double low = (double)(log ? k->spread.low_positive : k->spread.lo), high = (double)k->spread.hi;
  if (!k->spread.n || !(low <= high) || !isfinite(low)) return FALSE;
  *top = y_px(pane, c->style.right, high);
  *bottom = y_px(pane, c->style.right, low);
  return isfinite(*top) && isfinite(*bottom);
}

/* Many points: what varies within a column is a bar from the least to the greatest, so that no spike is lost; where it hardly does, a line
 * through the columns. (One line in and out of every column says the same, and takes ten times as long to stroke.) */
static void draw_columns(TmPlot *p, cairo_t *cr, const TmPlotCurve *c, const TmPlotPane *pane, double width) {
  const guint n = (guint)pane->area.size.width;
  double x0, x1, last = NAN, top, bottom;
  tm_plot_get_range(p, &x0, &x1);
  g_array_set_size(p->columns, n);
  TmColumn *columns = (TmColumn *)(void *)p->columns->data;
  tm_series_columns(c->series, p->unit, x0, x1, n, columns);
  const double left = floor((double)pane->area.origin.x);
  for (guint i = 0; i < n; i++) { /* bars, each reaching to where the one before ended */
    const gboolean shown = column_span(c, pane, &columns[i], &top, &bottom);
    const double end = shown ? y_px(pane, c->style.right, (double)columns[i].last) : NAN;
    if (shown && bottom - top > BAR_PX) {
      if (!isnan(last)) top = fmin(top, last), bottom = fmax(bottom, last);
      cairo_rectangle(cr, left + i, floor(top - width / 2), 1, ceil(bottom - top + width));
    }
    last = end;
  }
  cairo_fill(cr);
  gboolean pen = FALSE;
  last = NAN;
  for (guint i = 0; i < n; i++) {
    const gboolean shown = column_span(c, pane, &columns[i], &top, &bottom);
    const double y = shown ? (top + bottom) / 2 : NAN;
    if (!shown || bottom - top > BAR_PX) {
      last = shown ? y_px(pane, c->style.right, (double)columns[i].last) : NAN;
      pen = FALSE;
      continue;
    }
    if (!pen) cairo_move_to(cr, left + i - 0.5, isnan(last) ? y : last);
    cairo_line_to(cr, left + i + 0.5, y);
    last = y;
    pen = TRUE;
  }
  cairo_stroke(cr);
}

static void draw_curve(TmPlot *p, cairo_t *cr, TmPlotCurve *c) {
  TmPlotPane *pane = &p->panes[c->style.pane];
  double x0, x1, aw = (double)pane->area.size.width;
  tm_plot_get_range(p, &x0, &x1);
  guint n = tm_series_n(c->series), from = tm_series_find(c->series, p->unit, x0),
        to = tm_series_find(c->series, p->unit, x1);
  from = from ? from - 1 : 0;
  to = MIN(to + 1, n);
  if (from >= to) return;
  GdkRGBA ink = tm_ink(c->style.ink);
  cairo_save(cr);
  cairo_rectangle(cr, (double)pane->area.origin.x - 1, (double)pane->area.origin.y - 2, aw + 8,
                  (double)pane->area.size.height + 4);
  cairo_clip(cr);
  cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
  cairo_set_line_width(cr, (c->style.faint   ? 1
                            : c->style.right ? 1.5
                                             : 2) +
                               (tm_ink_high_contrast() ? 1 : 0));
  if (c->style.dash[0] > 0) cairo_set_dash(cr, c->style.dash, 2, 0);
  gboolean dense = to - from > 2 * aw;
  tm_ink_set(cr, &ink, c->style.faint ? 0.32 : 1);
  if (dense) {
    draw_columns(p, cr, c, pane, cairo_get_line_width(cr));
  } else {
    path_points(p, cr, c, pane, from, to);
    cairo_stroke(cr);
  }
  if (c->style.dots && (to - from) * 7 < aw) {
    for (guint i = from; i < to; i++) {
      double y = y_px(pane, c->style.right, tm_series_y(c->series, i));
      if (!isfinite(y)) continue;
      cairo_arc(cr, tm_plot_to_px(p, tm_series_x(c->series, p->unit, i)), y, 2.7, 0, 2 * G_PI);
      cairo_fill(cr);
    }
  }
  if (c->style.faint && pane->bad) {
    double last = -10;
    if (dense) {
      const TmColumn *columns = (TmColumn *)(void *)p->columns->data;
      for (guint i = 0; i < p->columns->len; i++)
        if (columns[i].spread.bad && i - last > 7) draw_bad(cr, pane, last = (double)pane->area.origin.x + i);
    } else {
      for (guint i = from; i < to; i++)
        if (!isfinite(tm_series_y(c->series, i)))
          draw_bad(cr, pane, tm_plot_to_px(p, tm_series_x(c->series, p->unit, i)));
    }
  }
  cairo_restore(cr);
}

static void draw_ring(TmPlot *p, cairo_t *cr, TmPlotCurve *c) {
  const TmPlotPane *pane = &p->panes[c->style.pane];
  GdkRGBA ink = tm_ink(c->style.ink);
  guint n = tm_series_n(c->series),
        at = isnan(c->ring) ? n : tm_series_find(c->series, TM_UNIT_STEPS, c->ring);
  double right = (double)(pane->area.origin.x + pane->area.size.width);
  double y_value = NAN;
  if (c->style.end_value && n && isfinite(tm_series_y(c->series, n - 1))) {
    double x = tm_plot_to_px(p, tm_series_x(c->series, p->unit, n - 1));
    y_value = y_px(pane, c->style.right, tm_series_y(c->series, n - 1));
    g_autofree char *value = g_strdup_printf("%.3f", tm_series_y(c->series, n - 1));
    if (x <= right + 1) text_at(p, cr, MIN(x + 10, right + 8), y_value, value, BOLD, &ink, 1);
  }
  if (at >= n) return;
  double x = tm_plot_to_px(p, tm_series_x(c->series, p->unit, at)),
         y = y_px(pane, c->style.right, tm_series_y(c->series, at));
  if (!isfinite(y) || x < (double)pane->area.origin.x - 1 || x > right + 1) return;
  tm_ink_set(cr, &ink, 1);
  cairo_set_line_width(cr, 1.6);
  cairo_new_sub_path(cr);
  cairo_arc(cr, x, y, 6.5, 0, 2 * G_PI);
  cairo_stroke(cr);
  if (!c->ring_label) return;
  int w, h;
  g_autoptr(PangoLayout) l = text_layout(p, c->ring_label, BOLD, &w, &h);
  double lx = CLAMP(x - w / 2.0, (double)pane->area.origin.x + 4, right - w);
  double ly = y - 9 - h >= (double)pane->area.origin.y - 4 ? y - 9 - h : y + 12;
  cairo_move_to(cr, floor(lx), floor(ly));
  pango_cairo_show_layout(cr, l);
}

/* The distance in pixels from a label to everything drawn in its pane: the place with the most room wins. */
static double label_room(TmPlot *p, const TmPlotCurve *c, int slot, int w, int h, double *lx, double *ly) {
  const TmPlotPane *pane = &p->panes[c->style.pane];
  double x0, x1, share = label_places[slot / 2];
  guint n = tm_series_n(c->series);
  tm_plot_get_range(p, &x0, &x1);
  double first = MAX(x0, tm_series_x(c->series, p->unit, 0)),
         last = MIN(x1, tm_series_x(c->series, p->unit, n - 1));
  guint at = tm_series_nearest(c->series, p->unit, first + share * (last - first));
  if (at == G_MAXUINT) return -1;
  double cx = tm_plot_to_px(p, tm_series_x(c->series, p->unit, at)),
         cy = y_px(pane, c->style.right, tm_series_y(c->series, at));
  if (!isfinite(cy)) return -1;
  *lx = cx - w / 2.0;
  *ly = slot % 2 ? cy + 9 : cy - 9 - h;
  const graphene_rect_t *a = &pane->area;
  if (*lx < (double)a->origin.x + 2 || *lx + w > (double)(a->origin.x + a->size.width) ||
      *ly < (double)a->origin.y || *ly + h > (double)(a->origin.y + a->size.height))
    return -1;
  double room = 60;
  for (guint i = 0; i < p->n_curves; i++) {
    const TmPlotCurve *o = &p->curves[i];
    if (o->style.pane != c->style.pane || !tm_series_n(o->series) || o->style.faint || o->hidden) continue;
    for (int k = 0; k <= 6; k++) {
      guint j = tm_series_nearest(o->series, p->unit, tm_plot_from_px(p, *lx + w * k / 6.0));
      if (j == G_MAXUINT) continue;
      double px = tm_plot_to_px(p, tm_series_x(o->series, p->unit, j)),
             py = y_px(pane, o->style.right, tm_series_y(o->series, j));
      double dy = py < *ly ? *ly - py : py > *ly + h ? py - *ly - h : 0;
      double dx = px < *lx ? *lx - px : px > *lx + w ? px - *lx - w : 0;
      room = MIN(room, hypot(dx, dy));
    }
  }
  return room;
}

/* Names stand beside their curves; a place is kept while it has room, so that labels do not jump as values
 * come in. */
static void draw_label(TmPlot *p, cairo_t *cr, TmPlotCurve *c) {
  if (!c->style.name || c->style.end_value || tm_series_n(c->series) < 2) return;
  int w, h, best = -1;
  double lx = 0, ly = 0, most = 2;
  g_autoptr(PangoLayout) l = text_layout(p, c->style.name, BOLD, &w, &h);
  if (c->label_slot >= 0 && label_room(p, c, c->label_slot, w, h, &lx, &ly) >= 5) best = c->label_slot;
  for (int slot = 0; slot < (int)N_PLACES && best < 0; slot++)
    if (label_room(p, c, slot, w, h, &lx, &ly) >= 8.5) best = slot;
  if (best < 0) { /* no place is good: the one with the most room */
    for (int slot = 0; slot < (int)N_PLACES; slot++) {
      double room = label_room(p, c, slot, w, h, &lx, &ly);
      if (room <= most) continue;
      most = room;
      best = slot;
    }
  }
  c->label_slot = best;
  if (best < 0) return;
  label_room(p, c, best, w, h, &lx, &ly);
  GdkRGBA ink = tm_ink(c->style.ink);
  cairo_move_to(cr, floor(lx), floor(ly));
  tm_ink_set(cr, &ink, 1);
  pango_cairo_show_layout(cr, l);
}

static void draw_markers(TmPlot *p, cairo_t *cr) {
  GdkRGBA ink = tm_ink(TM_INK_LIVE);
  const TmPlotPane *bottom = &p->panes[p->n_panes - 1];
  const graphene_rect_t *a = &p->panes[0].area;
  double end = -1e9;
  for (guint i = 0; i < p->markers->len; i++) {
    TmPlotMarker *m = &g_array_index(p->markers, TmPlotMarker, i);
    double x = tm_plot_to_px(p, tm_plot_step_to_x(p, m->step));
    if (!isfinite(x) || x < (double)a->origin.x || x > (double)(a->origin.x + a->size.width)) continue;
    x = floor(x) + 0.5;
    cairo_save(cr);
    cairo_set_dash(cr, (double[]){3, 3}, 2, 0);
    cairo_set_line_width(cr, 1.5);
    tm_ink_set(cr, &ink, 1);
    cairo_move_to(cr, x, (double)a->origin.y - 2);
    cairo_line_to(cr, x, (double)(bottom->area.origin.y + bottom->area.size.height));
    cairo_stroke(cr);
    cairo_restore(cr);
    int w, h;
    g_autoptr(PangoLayout) l G_GNUC_UNUSED = text_layout(p, m->label, BOLD, &w, &h);
    double left = x - w / 2.0 - 10;
    if (left < end + 4) continue; /* chips never cover each other; the line stays */
    rounded(cr, left, (double)a->origin.y - TITLE_H - 3, w + 20, CHIP_H - 1, 9);
    tm_ink_set(cr, &ink, 0.16);
    cairo_fill(cr);
    text_at(p, cr, x, (double)a->origin.y - TITLE_H - 3 + CHIP_H / 2.0 - 0.5, m->label, BOLD | CENTRE, &ink,
            1);
    end = x + w / 2.0 + 10;
  }
}

static void draw_notes(TmPlot *p, cairo_t *cr) {
  TmPlotPane *pane = &p->panes[0];
  GdkRGBA c = tm_ink(TM_INK_ERROR), text = tm_ink_text(GTK_WIDGET(p), 1);
  double right = (double)(pane->area.origin.x + pane->area.size.width), y = (double)pane->area.origin.y + 8;
  if (pane->bad) {
    g_autofree char *s = g_strdup_printf(
        ngettext("%u value is not a number", "%u values are not numbers", pane->bad), pane->bad);
    text_at(p, cr, right - 4, y, s, RIGHT | BOLD, &c, 1);
    y += 15;
  }
  if (pane->low && pane->left.log) {
    g_autofree char *s = g_strdup_printf(
        ngettext("%u value of 0 or less left out", "%u values of 0 or less left out", pane->low), pane->low);
    text_at(p, cr, right - 4, y, s, RIGHT, &text, 0.74);
  }
}

typedef struct {
  GdkRGBA ink;
  const char *name;
  char *value;
} Row;

static void draw_readout(TmPlot *p, cairo_t *cr, double x, const Row *rows, guint n, const char *title) {
  const graphene_rect_t *a = &p->panes[0].area;
  int w = 0, h = 0, tw, th;
  for (guint i = 0; i < n; i++) {
    int nw, vw;
    g_object_unref(text_layout(p, rows[i].name, 0, &nw, &h));
    g_object_unref(text_layout(p, rows[i].value, BOLD, &vw, &h));
    w = MAX(w, nw + vw + 16 + 22);
  }
  g_object_unref(text_layout(p, title, BOLD, &tw, &th));
  w = MAX(w, tw) + 20;
  double line = 17, height = 26 + line * n, left = x - w - 8, top = (double)a->origin.y + 4;
  if (left < (double)a->origin.x) left = x + 8;
  static const GdkRGBA shade = {0.11f, 0.11f, 0.12f, 0.95f}, white = {1, 1, 1, 1};
  rounded(cr, left, top, w, height, 6);
  tm_ink_set(cr, &shade, 1);
  cairo_fill(cr);
  text_at(p, cr, left + 10, top + 14, title, BOLD, &white, 1);
  for (guint i = 0; i < n; i++) {
    double y = top + 31 + line * i;
    tm_ink_set(cr, &rows[i].ink, 1);
    cairo_arc(cr, left + 14, y, 4, 0, 2 * G_PI);
    cairo_fill(cr);
    text_at(p, cr, left + 25, y, rows[i].name, 0, &white, 0.85);
    text_at(p, cr, left + w - 10, y, rows[i].value, BOLD | RIGHT, &white, 1);
  }
}

/* Inks of the dark style: the read-out is dark in both. */
static GdkRGBA readout_ink(TmInk ink) {
  GdkRGBA c = tm_ink(ink);
  double lift = 0.35;
  c.red += (float)((1 - (double)c.red) * lift);
  c.green += (float)((1 - (double)c.green) * lift);
  c.blue += (float)((1 - (double)c.blue) * lift);
  return c;
}

static void draw_cross(TmPlot *p, cairo_t *cr) {
  double px = tm_plot_to_px(p, p->cross);
  const graphene_rect_t *a = &p->panes[0].area;
  const TmPlotPane *bottom = &p->panes[p->n_panes - 1];
  if (!isfinite(px) || px < (double)a->origin.x - 1 || px > (double)(a->origin.x + a->size.width) + 1) return;
  GdkRGBA text = tm_ink_text(GTK_WIDGET(p), 1);
  cairo_set_line_width(cr, 1);
  tm_ink_set(cr, &text, 0.74);
  cairo_move_to(cr, floor(px) + 0.5, (double)a->origin.y);
  cairo_line_to(cr, floor(px) + 0.5, (double)(bottom->area.origin.y + bottom->area.size.height));
  cairo_stroke(cr);
  Row rows[TM_PLOT_MAX_SERIES];
  guint n = 0, near = G_MAXUINT;
  const TmSeries *longest = NULL;
  for (guint i = 0; i < p->n_curves; i++) {
    const TmPlotCurve *c = &p->curves[i];
    if (!c->style.name || c->hidden) continue;
    guint at = tm_series_nearest(c->series, p->unit, p->cross);
    if (at == G_MAXUINT) continue;
    if (!longest || tm_series_n(c->series) > tm_series_n(longest)) {
      longest = c->series;
      near = at;
    }
    rows[n++] = (Row){readout_ink(c->style.ink), c->style.name, tm_words_value(tm_series_y(c->series, at))};
    double cx = tm_plot_to_px(p, tm_series_x(c->series, p->unit, at));
    double y = y_px(&p->panes[c->style.pane], c->style.right, tm_series_y(c->series, at));
    if (!isfinite(y) || fabs(cx - px) > 12 || c->style.right) continue;
    GdkRGBA ink = tm_ink(c->style.ink);
    static const GdkRGBA white = {1, 1, 1, 1};
    cairo_new_sub_path(cr);
    cairo_arc(cr, cx, y, 4.5, 0, 2 * G_PI);
    tm_ink_set(cr, &white, 1);
    cairo_fill_preserve(cr);
    tm_ink_set(cr, &ink, 1);
    cairo_set_line_width(cr, 2);
    cairo_stroke(cr);
  }
  if (!n) return;
  g_autofree char *step = tm_words_count((guint64)tm_series_x(longest, TM_UNIT_STEPS, near));
  g_autofree char *title =
      g_strdup_printf(_("Epoch %.1f · step %s"), tm_series_x(longest, TM_UNIT_EPOCHS, near), step);
  draw_readout(p, cr, px, rows, n, title);
  for (guint i = 0; i < n; i++) g_free(rows[i].value);
}

static void draw_drag(TmPlot *p, cairo_t *cr) {
  GdkRGBA ink = tm_ink(TM_INK_TRAINING);
  double a = tm_plot_to_px(p, MIN(p->drag0, p->drag1)), b = tm_plot_to_px(p, MAX(p->drag0, p->drag1));
  for (guint i = 0; i < p->n_panes; i++) {
    const graphene_rect_t *r = &p->panes[i].area;
    cairo_rectangle(cr, a, (double)r->origin.y, b - a, (double)r->size.height);
  }
  tm_ink_set(cr, &ink, 0.15);
  cairo_fill(cr);
}

void tm_plot_draw(TmPlot *p, cairo_t *cr, int width, int height) {
  if (!p->n_panes) return;
  lay_out(p, width, height);
  for (guint i = 0; i < p->n_panes; i++) draw_grid(p, cr, &p->panes[i], i + 1 == p->n_panes);
  draw_markers(p, cr);
  static void (*const passes[])(TmPlot *, cairo_t *, TmPlotCurve *) = {draw_curve, draw_ring, draw_label};
  for (guint k = 0; k < G_N_ELEMENTS(passes); k++)
    for (guint i = 0; i < p->n_curves; i++)
      if (!p->curves[i].hidden) passes[k](p, cr, &p->curves[i]);
  draw_notes(p, cr);
  if (!isnan(p->drag0) && p->drag1 != p->drag0) draw_drag(p, cr);
  if (!isnan(p->cross)) draw_cross(p, cr);
}
