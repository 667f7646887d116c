#include "ui/mask_view.h"

#include <gdk/gdkkeysyms.h>
#include <glib/gi18n.h>
#include <math.h>

#include "ui/compose.h"
#include "ui/ink.h"
#include "ui/viz_cuda.h"

enum { RADIUS = 8, MOST = 2048 };

struct _TmMaskView {
  GtkWidget parent;
  TmViewRole role;
  TmScene *scene;
  TmVizSink *sink;
  PangoLayout *placeholder;
  gboolean hidden[TM_MAX_CLASSES + 1];
  guint n_hidden;
  double opacity;
  TmScene *other; /* left of the split; NULL: no swipe */
  double split;
  guint8 *merged; /* scratch: the labels of both */
  guint tick; /* composes before the next frame */
  int px, py; /* pointed pixel; -1 */
  gint64 described;
  int width; /* asked for; 0: free */
};

enum { POINTED, SWIPED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(TmMaskView, tm_mask_view, GTK_TYPE_WIDGET)

static gboolean swipes(const TmMaskView *v) {
  return v->other && v->scene && v->other->w == v->scene->w && v->other->h == v->scene->h && v->other->labels &&
         v->scene->labels;
}

static int split_px(const TmMaskView *v) { return (int)lround(CLAMP(v->split, 0, 1) * v->scene->w); }

/* The labels on the screen: one scene's, or both's on either side of the split. */
static const guint8 *labels_of(TmMaskView *v) {
  const TmScene *s = v->scene;
  if (!swipes(v)) return s->labels;
  const gsize w = (gsize)s->w, left = (gsize)split_px(v);
  if (!v->merged) v->merged = g_malloc(w * (gsize)s->h);
  for (gsize y = 0; y < (gsize)s->h; y++) {
    memcpy(v->merged + y * w, v->other->labels + y * w, left);
    memcpy(v->merged + y * w + left, s->labels + y * w + left, w - left);
  }
  return v->merged;
}

static TmComposition composition(TmMaskView *v) {
  const TmScene *s = v->scene;
  TmComposition c = {.w = s->w,
                     .h = s->h,
                     .rgb = s->rgb,
                     .colours = s->colours,
                     .n_classes = s->classes->n,
                     .hidden = v->n_hidden > s->classes->n ? v->hidden : NULL,
                     .opacity = v->opacity};
  c.show = v->role == TM_VIEW_INPUT    ? TM_SHOW_INPUT
           : v->role == TM_VIEW_ERRORS ? TM_SHOW_ERRORS
                                       : TM_SHOW_MASK;
  c.labels = v->role == TM_VIEW_TRUTH ? s->truth : labels_of(v);
  c.truth = s->truth;
  return c;
}

static void compose(const TmVizMap *map, int w, int h, gpointer user) {
  const TmComposition c = composition(user);
  tm_compose(&c, map->pixels, w, h, map->stride);
}

static gboolean compose_on_device(const TmVizMap *map, int w, int h, gpointer user, GError **error) {
  TmMaskView *v = user;
  const TmComposition c = composition(v);
  TmCompose plain = tm_composition_plain(&c, w, h);
  if (v->role == TM_VIEW_TRUTH) plain.labels = NULL; /* draws the truth */
  return tm_viz_cuda_draw(map, v->scene->visible, v->scene->picture, &plain, error);
}

static gboolean draw(TmMaskView *v) {
  /* Two pictures at once are put together by the processor. */
  if (!v->scene->visible || swipes(v)) return tm_viz_sink_draw(v->sink, compose, v);
  tm_viz_cuda_offer(v->scene->visible);
  return tm_viz_sink_draw_device(v->sink, compose_on_device, compose, v);
}

/* What the view is about; NULL when the scene lacks it. */
static const guint8 *plane(TmMaskView *v) {
  if (!v->scene) return NULL;
  if (v->role == TM_VIEW_INPUT) return v->scene->rgb;
  if (v->role == TM_VIEW_TRUTH) return v->scene->truth;
  return v->role == TM_VIEW_ERRORS && !v->scene->truth ? NULL : v->scene->labels;
}

static void describe(TmMaskView *v) {
  gint64 now = g_get_monotonic_time();
  if (now - v->described < G_USEC_PER_SEC) return;
  v->described = now;
  const guint8 *labels =
      v->role == TM_VIEW_TRUTH || v->role == TM_VIEW_INPUT ? v->scene->truth : v->scene->labels;
  g_autofree char *text = labels ? tm_scene_describe(v->scene, labels) : g_strdup("");
  gtk_accessible_update_property(GTK_ACCESSIBLE(v), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text, -1);
}

static gboolean refresh(GtkWidget *w, GdkFrameClock *clock, gpointer user) {
  (void)clock;
  (void)user;
  TmMaskView *v = TM_MASK_VIEW(w);
  v->tick = 0;
  if (!plane(v)) {
    gtk_widget_queue_draw(w);
    return G_SOURCE_REMOVE;
  }
  int ow, oh;
  tm_compose_size(v->scene->w, v->scene->h, MOST, &ow, &oh);
  if (v->sink && (tm_viz_sink_width(v->sink) != ow || tm_viz_sink_height(v->sink) != oh))
    g_clear_pointer(&v->sink, tm_viz_sink_free);
  if (!v->sink) {
    v->sink = tm_viz_sink_new(ow, oh);
    g_signal_connect_object(tm_viz_sink_paintable(v->sink), "invalidate-contents",
                            G_CALLBACK(gtk_widget_queue_draw), v, G_CONNECT_SWAPPED);
  }
  if (!draw(v)) return G_SOURCE_REMOVE;
  describe(v);
  return G_SOURCE_REMOVE;
}

static void queue(TmMaskView *v) {
  if (!v->tick) v->tick = gtk_widget_add_tick_callback(GTK_WIDGET(v), refresh, NULL, NULL);
}

/* The picture's rectangle inside the widget. */
static graphene_rect_t place(TmMaskView *v) {
  float w = (float)gtk_widget_get_width(GTK_WIDGET(v)), h = (float)gtk_widget_get_height(GTK_WIDGET(v));
  if (!v->scene) return GRAPHENE_RECT_INIT(0, 0, w, h);
  float f = MIN(w / (float)v->scene->w, h / (float)v->scene->h);
  float pw = (float)v->scene->w * f, ph = (float)v->scene->h * f;
  return GRAPHENE_RECT_INIT(roundf((w - pw) / 2), roundf((h - ph) / 2), pw, ph);
}

static void draw_cross(TmMaskView *v, GtkSnapshot *s, const graphene_rect_t *r) {
  float x = r->origin.x + ((float)v->px + 0.5f) / (float)v->scene->w * r->size.width;
  float y = r->origin.y + ((float)v->py + 0.5f) / (float)v->scene->h * r->size.height;
  static const GdkRGBA dark = {0, 0, 0, 0.6f}, light = {1, 1, 1, 1};
  for (int pass = 0; pass < 2; pass++) {
    float o = pass ? 0 : 1; /* a dark rim keeps it visible on white */
    const GdkRGBA *c = pass ? &light : &dark;
    gtk_snapshot_append_color(s, c, &GRAPHENE_RECT_INIT(x - 8 - o, y - 0.5f - o, 6 + 2 * o, 1 + 2 * o));
    gtk_snapshot_append_color(s, c, &GRAPHENE_RECT_INIT(x + 2 - o, y - 0.5f - o, 6 + 2 * o, 1 + 2 * o));
    gtk_snapshot_append_color(s, c, &GRAPHENE_RECT_INIT(x - 0.5f - o, y - 8 - o, 1 + 2 * o, 6 + 2 * o));
    gtk_snapshot_append_color(s, c, &GRAPHENE_RECT_INIT(x - 0.5f - o, y + 2 - o, 1 + 2 * o, 6 + 2 * o));
  }
}

static void draw_split(TmMaskView *v, GtkSnapshot *s, const graphene_rect_t *r) {
  const float x = roundf(r->origin.x + (float)CLAMP(v->split, 0, 1) * r->size.width);
  static const GdkRGBA dark = {0, 0, 0, 0.5f}, light = {1, 1, 1, 1};
  gtk_snapshot_append_color(s, &dark, &GRAPHENE_RECT_INIT(x - 2, r->origin.y, 4, r->size.height));
  gtk_snapshot_append_color(s, &light, &GRAPHENE_RECT_INIT(x - 1, r->origin.y, 2, r->size.height));
}

static void draw_placeholder(TmMaskView *v, GtkSnapshot *s, const graphene_rect_t *r) {
  if (!v->placeholder) return;
  int w, h;
  pango_layout_set_width(v->placeholder, (int)MAX(r->size.width - 16, 20) * PANGO_SCALE);
  pango_layout_get_pixel_size(v->placeholder, &w, &h);
  GdkRGBA text = tm_ink_text(GTK_WIDGET(v), 0.74);
  gtk_snapshot_save(s);
  gtk_snapshot_translate(
      s, &GRAPHENE_POINT_INIT(r->origin.x + 8, roundf(r->origin.y + (r->size.height - (float)h) / 2)));
  gtk_snapshot_append_layout(s, v->placeholder, &text);
  gtk_snapshot_restore(s);
}

static void snapshot(GtkWidget *w, GtkSnapshot *s) {
  TmMaskView *v = TM_MASK_VIEW(w);
  graphene_rect_t r = place(v);
  if (r.size.width < 1 || r.size.height < 1) return;
  GskRoundedRect clip;
  gsk_rounded_rect_init_from_rect(&clip, &r, MIN((float)RADIUS, r.size.height / 4));
  gtk_snapshot_push_rounded_clip(s, &clip);
  if (v->sink && plane(v)) {
    gtk_snapshot_save(s);
    gtk_snapshot_translate(s, &r.origin);
    gdk_paintable_snapshot(tm_viz_sink_paintable(v->sink), s, (double)r.size.width, (double)r.size.height);
    gtk_snapshot_restore(s);
    if (swipes(v)) draw_split(v, s, &r);
    if (v->px >= 0 && gtk_widget_has_visible_focus(w)) draw_cross(v, s, &r);
  } else {
    GdkRGBA well = tm_ink_text(w, 0.06);
    gtk_snapshot_append_color(s, &well, &r);
    draw_placeholder(v, s, &r);
  }
  gtk_snapshot_pop(s);
  if (gtk_widget_has_visible_focus(w))
    gtk_snapshot_render_focus(s, gtk_widget_get_style_context(w), (double)r.origin.x, (double)r.origin.y,
                              (double)r.size.width, (double)r.size.height);
}

static void measure(GtkWidget *w, GtkOrientation o, int for_size, int *min, int *nat, int *min_base,
                    int *nat_base) {
  TmMaskView *v = TM_MASK_VIEW(w);
  double ratio = v->scene ? CLAMP((double)v->scene->h / v->scene->w, 0.2, 1.2) : 0.75;
  *min_base = *nat_base = -1;
  if (o == GTK_ORIENTATION_HORIZONTAL) {
    *min = v->width ? v->width : 64;
    *nat = v->width ? v->width : 172;
  } else {
    *min = *nat = (int)lround((for_size > 0 ? for_size : v->width ? v->width : 172) * ratio);
  }
}

static GtkSizeRequestMode request_mode(GtkWidget *w) {
  (void)w;
  return GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}

static gboolean pixel_at(TmMaskView *v, double x, double y, int *px, int *py) {
  graphene_rect_t r = place(v);
  if (!plane(v) || !graphene_rect_contains_point(&r, &GRAPHENE_POINT_INIT((float)x, (float)y))) return FALSE;
  *px = CLAMP((int)((x - (double)r.origin.x) / (double)r.size.width * v->scene->w), 0, v->scene->w - 1);
  *py = CLAMP((int)((y - (double)r.origin.y) / (double)r.size.height * v->scene->h), 0, v->scene->h - 1);
  return TRUE;
}

static void point(TmMaskView *v, int x, int y) {
  if (x == v->px && y == v->py) return;
  v->px = x;
  v->py = y;
  gtk_widget_queue_draw(GTK_WIDGET(v));
  g_signal_emit(v, signals[POINTED], 0, x, y);
}

static void dragged(GtkGestureDrag *g, double dx, double dy, TmMaskView *v) {
  (void)dy;
  double x, y;
  if (!swipes(v) || !gtk_gesture_drag_get_start_point(g, &x, &y)) return;
  const graphene_rect_t r = place(v);
  gtk_gesture_set_state(GTK_GESTURE(g), GTK_EVENT_SEQUENCE_CLAIMED);
  g_signal_emit(v, signals[SWIPED], 0, CLAMP((x + dx - (double)r.origin.x) / (double)r.size.width, 0.0, 1.0));
}

/* "Road called Pavement · x 12, y 34" */
static char *reading(TmMaskView *v, int x, int y) {
  const TmScene *s = v->scene;
  gsize at = (gsize)y * s->w + x;
  g_autofree char *what = NULL;
  if (v->role == TM_VIEW_INPUT)
    what = g_strdup_printf("%u %u %u", s->rgb[at * 3], s->rgb[at * 3 + 1], s->rgb[at * 3 + 2]);
  else if (v->role == TM_VIEW_ERRORS && s->truth && s->labels && s->truth[at] < s->classes->n &&
           s->truth[at] != s->labels[at])
    what = g_strdup_printf(_("%s called %s"), tm_scene_class_name(s, s->truth[at]),
                           tm_scene_class_name(s, s->labels[at]));
  else
    what = g_strdup(tm_scene_class_name(s, v->role == TM_VIEW_PREDICTION ? labels_of(v)[at]
                                           : s->truth                    ? s->truth[at]
                                                                         : 255));
  return g_strdup_printf("%s · x %d, y %d", what, x, y);
}

static gboolean query_tooltip(GtkWidget *w, int x, int y, gboolean keyboard, GtkTooltip *tip) {
  TmMaskView *v = TM_MASK_VIEW(w);
  int px = v->px, py = v->py;
  if (keyboard ? px < 0 : !pixel_at(v, x, y, &px, &py)) return FALSE;
  g_autofree char *text = reading(v, px, py);
  gtk_tooltip_set_text(tip, text);
  return TRUE;
}

static void moved(GtkEventControllerMotion *m, double x, double y, TmMaskView *v) {
  (void)m;
  int px = -1, py = -1;
  if (!pixel_at(v, x, y, &px, &py)) px = py = -1;
  point(v, px, py);
  gtk_widget_trigger_tooltip_query(GTK_WIDGET(v));
}

static void left(GtkEventControllerMotion *m, TmMaskView *v) {
  (void)m;
  point(v, -1, -1);
}

static gboolean key(GtkEventControllerKey *k, guint val, guint code, GdkModifierType state, TmMaskView *v) {
  (void)k;
  (void)code;
  if (!plane(v) || (state & (GDK_CONTROL_MASK | GDK_ALT_MASK))) return FALSE;
  int step = state & GDK_SHIFT_MASK ? 10 : 1, dx = 0, dy = 0;
  if (val == GDK_KEY_Left)
    dx = -step;
  else if (val == GDK_KEY_Right)
    dx = step;
  else if (val == GDK_KEY_Up)
    dy = -step;
  else if (val == GDK_KEY_Down)
    dy = step;
  else
    return FALSE;
  if (v->px < 0)
    point(v, v->scene->w / 2, v->scene->h / 2);
  else
    point(v, CLAMP(v->px + dx, 0, v->scene->w - 1), CLAMP(v->py + dy, 0, v->scene->h - 1));
  g_autofree char *text = reading(v, v->px, v->py);
  gtk_accessible_update_property(GTK_ACCESSIBLE(v), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text, -1);
  return TRUE;
}

/* GL objects end with the surface they were made for. */
static void unrealize(GtkWidget *w) {
  g_clear_pointer(&TM_MASK_VIEW(w)->sink, tm_viz_sink_free);
  GTK_WIDGET_CLASS(tm_mask_view_parent_class)->unrealize(w);
}

static void map(GtkWidget *w) {
  GTK_WIDGET_CLASS(tm_mask_view_parent_class)->map(w);
  queue(TM_MASK_VIEW(w));
}

static void dispose(GObject *o) {
  TmMaskView *v = TM_MASK_VIEW(o);
  if (v->tick) gtk_widget_remove_tick_callback(GTK_WIDGET(v), v->tick);
  v->tick = 0;
  g_clear_pointer(&v->sink, tm_viz_sink_free);
  g_clear_pointer(&v->scene, tm_scene_unref);
  g_clear_object(&v->placeholder);
  g_clear_pointer(&v->other, tm_scene_unref);
  g_clear_pointer(&v->merged, g_free);
  G_OBJECT_CLASS(tm_mask_view_parent_class)->dispose(o);
}

static void tm_mask_view_class_init(TmMaskViewClass *c) {
  GtkWidgetClass *wc = GTK_WIDGET_CLASS(c);
  G_OBJECT_CLASS(c)->dispose = dispose;
  wc->snapshot = snapshot;
  wc->measure = measure;
  wc->get_request_mode = request_mode;
  wc->query_tooltip = query_tooltip;
  wc->unrealize = unrealize;
  wc->map = map;
  gtk_widget_class_set_accessible_role(wc, GTK_ACCESSIBLE_ROLE_IMG);
  signals[POINTED] = g_signal_new("pointed", TM_TYPE_MASK_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                  G_TYPE_NONE, 2, G_TYPE_INT, G_TYPE_INT);
  signals[SWIPED] = g_signal_new("swiped", TM_TYPE_MASK_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1,
                                 G_TYPE_DOUBLE);
}

static void tm_mask_view_init(TmMaskView *v) {
  v->opacity = 0.55;
  v->px = v->py = -1;
  gtk_widget_set_focusable(GTK_WIDGET(v), TRUE);
  gtk_widget_set_has_tooltip(GTK_WIDGET(v), TRUE);
  gtk_widget_add_css_class(GTK_WIDGET(v), "tm-small");
  GtkEventController *motion = gtk_event_controller_motion_new(), *keys = gtk_event_controller_key_new();
  g_signal_connect(motion, "motion", G_CALLBACK(moved), v);
  g_signal_connect(motion, "leave", G_CALLBACK(left), v);
  g_signal_connect(keys, "key-pressed", G_CALLBACK(key), v);
  gtk_widget_add_controller(GTK_WIDGET(v), motion);
  gtk_widget_add_controller(GTK_WIDGET(v), keys);
  GtkGesture *drag = gtk_gesture_drag_new();
  g_signal_connect(drag, "drag-update", G_CALLBACK(dragged), v);
  gtk_widget_add_controller(GTK_WIDGET(v), GTK_EVENT_CONTROLLER(drag));
  tm_ink_watch(GTK_WIDGET(v));
}

GtkWidget *tm_mask_view_new(TmViewRole role, const char *label) {
  TmMaskView *v = g_object_new(TM_TYPE_MASK_VIEW, NULL);
  v->role = role;
  gtk_accessible_update_property(GTK_ACCESSIBLE(v), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
  return GTK_WIDGET(v);
}

void tm_mask_view_set_scene(TmMaskView *v, TmScene *scene) {
  if (v->scene == scene) return;
  gboolean resize = !v->scene || !scene || v->scene->w != scene->w || v->scene->h != scene->h;
  if (scene) tm_scene_ref(scene);
  g_clear_pointer(&v->scene, tm_scene_unref);
  v->scene = scene;
  if (resize) {
    g_clear_pointer(&v->merged, g_free);
    v->px = v->py = -1;
    gtk_widget_queue_resize(GTK_WIDGET(v));
  }
  queue(v);
}

TmScene *tm_mask_view_get_scene(TmMaskView *v) {
  return v->scene;
}

void tm_mask_view_set_placeholder(TmMaskView *v, const char *text) {
  g_clear_object(&v->placeholder);
  if (text) {
    v->placeholder = gtk_widget_create_pango_layout(GTK_WIDGET(v), text);
    pango_layout_set_alignment(v->placeholder, PANGO_ALIGN_CENTER);
    pango_layout_set_wrap(v->placeholder, PANGO_WRAP_WORD_CHAR);
  }
  gtk_widget_queue_draw(GTK_WIDGET(v));
}

void tm_mask_view_set_swipe(TmMaskView *v, TmScene *other, double split) {
  if (other) tm_scene_ref(other);
  g_clear_pointer(&v->other, tm_scene_unref);
  v->other = other;
  v->split = split;
  queue(v);
}

void tm_mask_view_set_opacity(TmMaskView *v, double opacity) {
  v->opacity = opacity;
  queue(v);
}

void tm_mask_view_set_hidden(TmMaskView *v, const gboolean *hidden, guint n) {
  v->n_hidden = MIN(n, (guint)G_N_ELEMENTS(v->hidden));
  memcpy(v->hidden, hidden, v->n_hidden * sizeof *hidden);
  queue(v);
}

void tm_mask_view_set_width(TmMaskView *v, int width) {
  v->width = width;
  gtk_widget_queue_resize(GTK_WIDGET(v));
}
