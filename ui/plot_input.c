/* Pointer and keyboard of the plot. */
#include <gdk/gdkkeysyms.h>
#include <math.h>

#include "ui/plot_private.h"

static gboolean in_area(TmPlot *p, double x) {
  const graphene_rect_t *a = &p->panes[0].area;
  return x >= (double)a->origin.x - 4 && x <= (double)(a->origin.x + a->size.width) + 4;
}

static void moved(GtkEventControllerMotion *m, double x, double y, TmPlot *p) {
  (void)m;
  (void)y;
  tm_plot_set_cross(p, in_area(p, x) ? tm_plot_from_px(p, x) : NAN);
}

static void left(GtkEventControllerMotion *m, TmPlot *p) {
  (void)m;
  if (!gtk_widget_has_visible_focus(GTK_WIDGET(p))) tm_plot_set_cross(p, NAN);
}

/* Shows @width from @x0 on, never beyond everything. */
static void pan_to(TmPlot *p, double x0, double width) {
  double all0, all1;
  const double was0 = p->zoom0, was1 = p->zoom1;
  if (!(was0 < was1)) return; /* everything is shown */
  p->zoom0 = p->zoom1 = 0;
  tm_plot_get_range(p, &all0, &all1);
  const double from = CLAMP(x0, all0, MAX(all0, all1 - width));
  tm_plot_zoom(p, from, from + width);
}

static void pan_by(TmPlot *p, double share) {
  double x0, x1;
  tm_plot_get_range(p, &x0, &x1);
  pan_to(p, x0 + share * (x1 - x0), x1 - x0);
}

/* The cross goes to the next live change, and from the last to the first. */
static void next_marker(TmPlot *p) {
  double first = NAN, next = NAN;
  for (guint i = 0; i < p->markers->len; i++) {
    const double x = tm_plot_step_to_x(p, g_array_index(p->markers, TmPlotMarker, i).step);
    if (isnan(first)) first = x;
    if (isnan(next) && (isnan(p->cross) || x > p->cross + 1e-9)) next = x;
  }
  if (!isnan(first)) tm_plot_set_cross(p, isnan(next) ? first : next);
}

static void drag_begin(GtkGestureDrag *g, double x, double y, TmPlot *p) {
  (void)y;
  if (!in_area(p, x)) {
    gtk_gesture_set_state(GTK_GESTURE(g), GTK_EVENT_SEQUENCE_DENIED);
    return;
  }
  gtk_widget_grab_focus(GTK_WIDGET(p));
  p->pan0 = p->pan1 = NAN;
  if (gtk_event_controller_get_current_event_state(GTK_EVENT_CONTROLLER(g)) & GDK_SHIFT_MASK) {
    tm_plot_get_range(p, &p->pan0, &p->pan1);
    return;
  }
  p->drag0 = p->drag1 = tm_plot_from_px(p, x);
}

static void drag_update(GtkGestureDrag *g, double dx, double dy, TmPlot *p) {
  (void)dy;
  double x = 0, y = 0;
  gtk_gesture_drag_get_start_point(g, &x, &y);
  if (!isnan(p->pan0)) {
    pan_to(p, p->pan0 - dx / (double)p->panes[0].area.size.width * (p->pan1 - p->pan0), p->pan1 - p->pan0);
    return;
  }
  p->drag1 = p->cross = tm_plot_from_px(p, x + dx);
  gtk_widget_queue_draw(GTK_WIDGET(p));
}

static void drag_end(GtkGestureDrag *g, double dx, double dy, TmPlot *p) {
  (void)g;
  (void)dy;
  if (!isnan(p->pan0)) {
    p->pan0 = p->pan1 = NAN;
    return;
  }
  double a = MIN(p->drag0, p->drag1), b = MAX(p->drag0, p->drag1);
  p->drag0 = p->drag1 = NAN;
  if (fabs(dx) >= 8 && b > a) tm_plot_zoom(p, a, b);
  gtk_widget_queue_draw(GTK_WIDGET(p));
}

static void pressed(GtkGestureClick *g, int n, double x, double y, TmPlot *p) {
  (void)g;
  (void)x;
  (void)y;
  if (n == 2) tm_plot_zoom(p, 0, 0);
}

static void zoom_around(TmPlot *p, double factor) {
  double x0, x1;
  tm_plot_get_range(p, &x0, &x1);
  double at = isnan(p->cross) ? (x0 + x1) / 2 : p->cross;
  double a = at - (at - x0) * factor, b = at + (x1 - at) * factor;
  if (factor > 1) { /* never beyond everything */
    double all0, all1;
    tm_plot_zoom(p, 0, 0);
    tm_plot_get_range(p, &all0, &all1);
    a = MAX(a, all0);
    b = MIN(b, all1);
    if (a <= all0 && b >= all1) return;
  }
  if (b - a > 1e-9 * (fabs(a) + fabs(b))) tm_plot_zoom(p, a, b);
}

static void step_cross(TmPlot *p, double share) {
  double x0, x1;
  tm_plot_get_range(p, &x0, &x1);
  double at = isnan(p->cross) ? (share < 0 ? x1 : x0) : p->cross + share * (x1 - x0);
  tm_plot_set_cross(p, CLAMP(at, x0, x1));
}

static gboolean key(GtkEventControllerKey *k, guint val, guint code, GdkModifierType state, TmPlot *p) {
  (void)k;
  (void)code;
  double x0, x1, share = state & GDK_SHIFT_MASK ? 0.1 : 0.01;
  if (state & (GDK_CONTROL_MASK | GDK_ALT_MASK)) return FALSE;
  tm_plot_get_range(p, &x0, &x1);
  switch (val) {
  case GDK_KEY_Left:
    step_cross(p, -share);
    return TRUE;
  case GDK_KEY_Right:
    step_cross(p, share);
    return TRUE;
  case GDK_KEY_Home:
    tm_plot_set_cross(p, x0);
    return TRUE;
  case GDK_KEY_End:
    tm_plot_set_cross(p, x1);
    return TRUE;
  case GDK_KEY_plus:
  case GDK_KEY_equal:
  case GDK_KEY_KP_Add:
    zoom_around(p, 0.5);
    return TRUE;
  case GDK_KEY_minus:
  case GDK_KEY_KP_Subtract:
    zoom_around(p, 2.0);
    return TRUE;
  case GDK_KEY_Page_Up:
    pan_by(p, -0.5);
    return TRUE;
  case GDK_KEY_Page_Down:
    pan_by(p, 0.5);
    return TRUE;
  case GDK_KEY_m:
    next_marker(p);
    return TRUE;
  case GDK_KEY_0:
  case GDK_KEY_KP_0:
    tm_plot_zoom(p, 0, 0);
    return TRUE;
  case GDK_KEY_Escape:
    if (isnan(p->cross)) return FALSE;
    tm_plot_set_cross(p, NAN);
    return TRUE;
  default:
    return FALSE;
  }
}

static gboolean scroll(GtkEventControllerScroll *s, double dx, double dy, TmPlot *p) {
  (void)dx;
  /* Only with Ctrl, so that the page still scrolls over the plot. */
  if (!(gtk_event_controller_get_current_event_state(GTK_EVENT_CONTROLLER(s)) & GDK_CONTROL_MASK))
    return FALSE;
  zoom_around(p, dy < 0 ? 0.8 : 1.25);
  return TRUE;
}

void tm_plot_add_input(TmPlot *p) {
  GtkWidget *w = GTK_WIDGET(p);
  GtkEventController *motion = gtk_event_controller_motion_new();
  g_signal_connect(motion, "motion", G_CALLBACK(moved), p);
  g_signal_connect(motion, "leave", G_CALLBACK(left), p);
  gtk_widget_add_controller(w, motion);

  GtkGesture *drag = gtk_gesture_drag_new();
  g_signal_connect(drag, "drag-begin", G_CALLBACK(drag_begin), p);
  g_signal_connect(drag, "drag-update", G_CALLBACK(drag_update), p);
  g_signal_connect(drag, "drag-end", G_CALLBACK(drag_end), p);
  gtk_widget_add_controller(w, GTK_EVENT_CONTROLLER(drag));

  GtkGesture *click = gtk_gesture_click_new();
  g_signal_connect(click, "pressed", G_CALLBACK(pressed), p);
  gtk_widget_add_controller(w, GTK_EVENT_CONTROLLER(click));
  gtk_gesture_group(click, drag);

  GtkEventController *keys = gtk_event_controller_key_new();
  g_signal_connect(keys, "key-pressed", G_CALLBACK(key), p);
  gtk_widget_add_controller(w, keys);

  GtkEventController *wheel = gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_VERTICAL);
  g_signal_connect(wheel, "scroll", G_CALLBACK(scroll), p);
  gtk_widget_add_controller(w, wheel);
}
