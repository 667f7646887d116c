#include "ui/spark.h"

#include <math.h>

struct _TmSpark {
  GtkWidget parent;
  TmInk ink;
  double full;
  GArray *points; /* graphene_point_t: age, value */
};

G_DEFINE_FINAL_TYPE(TmSpark, tm_spark, GTK_TYPE_WIDGET)

static double top_value(TmSpark *s) {
  if (s->full > 0) return s->full;
  double top = 0;
  for (guint i = 0; i < s->points->len; i++)
    top = fmax(top, (double)g_array_index(s->points, graphene_point_t, i).y);
  return top > 0 ? top * 1.2 : 1;
}

/* One stretch without gaps, from point @from to @to. */
static void draw_stretch(TmSpark *s, cairo_t *cr, guint from, guint to, double w, double h, double top,
                         const GdkRGBA *ink) {
  double x0 = 0, x = 0;
  for (guint i = from; i <= to; i++) {
    const graphene_point_t *p = &g_array_index(s->points, graphene_point_t, i);
    x = w - (double)p->x / TM_SPARK_SECONDS * w;
    double y = h - 1.5 - CLAMP((double)p->y / top, 0.0, 1.0) * (h - 3);
    if (i == from) {
      x0 = x;
      cairo_move_to(cr, x, y);
    } else {
      cairo_line_to(cr, x, y);
    }
  }
  cairo_path_t *line = cairo_copy_path(cr);
  cairo_line_to(cr, x, h);
  cairo_line_to(cr, x0, h);
  cairo_close_path(cr);
  tm_ink_set(cr, ink, 0.22);
  cairo_fill(cr);
  cairo_append_path(cr, line);
  cairo_path_destroy(line);
  cairo_set_line_width(cr, 1.5);
  cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
  tm_ink_set(cr, ink, 1);
  cairo_stroke(cr);
}

static void snapshot(GtkWidget *widget, GtkSnapshot *snap) {
  TmSpark *s = TM_SPARK(widget);
  int w = gtk_widget_get_width(widget), h = gtk_widget_get_height(widget);
  if (w < 1 || h < 1) return;
  GskRoundedRect well;
  gsk_rounded_rect_init_from_rect(&well, &GRAPHENE_RECT_INIT(0, 0, (float)w, (float)h), 6);
  GdkRGBA tint = tm_ink_text(widget, tm_ink_high_contrast() ? 0 : 0.05),
          grid = tm_ink_text(widget, tm_ink_high_contrast() ? 0.5 : 0.1);
  gtk_snapshot_push_rounded_clip(snap, &well);
  gtk_snapshot_append_color(snap, &tint, &well.bounds);
  for (int t = 10; t < TM_SPARK_SECONDS; t += 10)
    gtk_snapshot_append_color(snap, &grid,
                              &GRAPHENE_RECT_INIT(roundf((float)(w * t) / TM_SPARK_SECONDS), 0, 1, (float)h));
  for (int q = 1; q < 4 && h >= 60; q++) /* quarters, where there is room to read them */
    gtk_snapshot_append_color(snap, &grid, &GRAPHENE_RECT_INIT(0, roundf((float)(h * q) / 4), (float)w, 1));
  cairo_t *cr = gtk_snapshot_append_cairo(snap, &well.bounds);
  GdkRGBA ink = tm_ink(s->ink);
  double top = top_value(s);
  guint from = 0, n = s->points->len;
  for (guint i = 0; i <= n; i++) {
    if (i < n && !isnan(g_array_index(s->points, graphene_point_t, i).y)) continue;
    if (i > from + 1) draw_stretch(s, cr, from, i - 1, w, h, top, &ink);
    from = i + 1;
  }
  cairo_destroy(cr);
  gtk_snapshot_pop(snap);
}

static void measure(GtkWidget *w, GtkOrientation o, int for_size, int *min, int *nat, int *min_base,
                    int *nat_base) {
  (void)w;
  (void)for_size;
  *min = o == GTK_ORIENTATION_HORIZONTAL ? 32 : 18;
  *nat = o == GTK_ORIENTATION_HORIZONTAL ? 46 : 32;
  *min_base = *nat_base = -1;
}

static void finalize(GObject *o) {
  g_array_unref(TM_SPARK(o)->points);
  G_OBJECT_CLASS(tm_spark_parent_class)->finalize(o);
}

static void tm_spark_class_init(TmSparkClass *c) {
  G_OBJECT_CLASS(c)->finalize = finalize;
  GTK_WIDGET_CLASS(c)->snapshot = snapshot;
  GTK_WIDGET_CLASS(c)->measure = measure;
  gtk_widget_class_set_accessible_role(GTK_WIDGET_CLASS(c), GTK_ACCESSIBLE_ROLE_IMG);
}

static void tm_spark_init(TmSpark *s) {
  s->points = g_array_new(FALSE, FALSE, sizeof(graphene_point_t));
  tm_ink_watch(GTK_WIDGET(s));
}

GtkWidget *tm_spark_new(TmInk ink) {
  TmSpark *s = g_object_new(TM_TYPE_SPARK, NULL);
  s->ink = ink;
  return GTK_WIDGET(s);
}

void tm_spark_set_full(TmSpark *s, double full) {
  s->full = full;
  gtk_widget_queue_draw(GTK_WIDGET(s));
}

void tm_spark_set_points(TmSpark *s, const float *ages, const float *values, guint n) {
  g_array_set_size(s->points, n);
  for (guint i = 0; i < n; i++)
    g_array_index(s->points, graphene_point_t, i) = GRAPHENE_POINT_INIT(ages[i], values[i]);
  gtk_widget_queue_draw(GTK_WIDGET(s));
}
