#include "ui/swipe_view.h"

#include <gdk/gdkkeysyms.h>
#include <glib/gi18n.h>
#include <math.h>

#include "ui/compose.h"
#include "ui/draw_text.h"
#include "ui/ink.h"

enum { RADIUS = 8, MOST = 2048, GRIP = 16, STEP = 2, LARGE_STEP = 10, SIDE_GAP = 8 };

struct _TmSwipeView {
  GtkWidget parent;
  TmFolderPicture *picture;
  GdkTexture *plain, *masked, *sure; /* made when they are first shown */
  TmSwipeMode mode;
  double opacity, split;
  double zoom, x, y; /* zoom 1 fits; x, y: the picture's point in the middle, 0..1 */
  double drag_x, drag_y;
  gboolean swiping;
  int px, py; /* under the pointer; -1 */
};

enum { ZOOMED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(TmSwipeView, tm_swipe_view, GTK_TYPE_WIDGET)

/* ---- textures ---- */

static GdkTexture *texture_of(guint8 *pixels, int w, int h) {
  g_autoptr(GBytes) bytes = g_bytes_new_take(pixels, (gsize)w * (gsize)h * 4);
  return gdk_memory_texture_new(w, h, GDK_MEMORY_R8G8B8A8, bytes, (gsize)w * 4);
}

static GdkTexture *compose(TmSwipeView *v, TmShow show) {
  const TmFolderPicture *p = v->picture;
  guint32 colours[TM_MAX_CLASSES];
  int w, h;
  for (guint i = 0; i < p->classes->n; i++) {
    const guint8 *c = p->classes->classes[i].colour;
    colours[i] = (guint32)c[0] << 16 | (guint32)c[1] << 8 | c[2];
  }
  tm_compose_size(p->w, p->h, MOST, &w, &h);
  guint8 *pixels = g_malloc((gsize)w * (gsize)h * 4);
  const TmComposition k = {.show = show,
                           .w = p->w,
                           .h = p->h,
                           .rgb = p->rgb,
                           .labels = p->labels,
                           .colours = colours,
                           .n_classes = p->classes->n,
                           .opacity = v->opacity};
  tm_compose(&k, pixels, w, h, (gsize)w * 4);
  return texture_of(pixels, w, h);
}

/* Sure is dark blue, unsure glows: black, purple, orange, pale yellow. */
static GdkTexture *compose_sure(const TmFolderPicture *p) {
  static const guint8 stops[4][3] = {{252, 253, 191}, {252, 137, 97}, {129, 37, 129}, {20, 14, 54}};
  int w, h;
  tm_compose_size(p->w, p->h, MOST, &w, &h);
  guint8 *pixels = g_malloc((gsize)w * (gsize)h * 4), *out = pixels;
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++, out += 4) {
      const gsize at = (gsize)((gint64)y * p->h / h) * (gsize)p->w + (gsize)((gint64)x * p->w / w);
      const int t = p->sure[at] * 3, i = MIN(t / 255, 2), f = t - i * 255;
      for (int k = 0; k < 3; k++)
        out[k] = (guint8)((stops[i][k] * (255 - f) + stops[i + 1][k] * f) / 255);
      out[3] = 255;
    }
  return texture_of(pixels, w, h);
}

static GdkTexture *plain(TmSwipeView *v) {
  return v->plain ? v->plain : (v->plain = compose(v, TM_SHOW_INPUT));
}

static GdkTexture *masked(TmSwipeView *v) {
  return v->masked ? v->masked : (v->masked = compose(v, TM_SHOW_MASK));
}

static GdkTexture *sure(TmSwipeView *v) {
  if (!v->picture->sure) return NULL;
  return v->sure ? v->sure : (v->sure = compose_sure(v->picture));
}

/* ---- places ---- */

/* The well or, side by side, one half of it. */
static graphene_rect_t well(TmSwipeView *v, int half) {
  const float w = (float)gtk_widget_get_width(GTK_WIDGET(v)), h = (float)gtk_widget_get_height(GTK_WIDGET(v));
  if (v->mode != TM_SWIPE_SIDE) return GRAPHENE_RECT_INIT(0, 0, w, h);
  const float each = MAX((w - SIDE_GAP) / 2, 1);
  return GRAPHENE_RECT_INIT(half ? each + SIDE_GAP : 0, 0, each, h);
}

/* Where the picture is drawn, which may reach out of the well. */
static graphene_rect_t place(TmSwipeView *v, const graphene_rect_t *in) {
  const TmFolderPicture *p = v->picture;
  const double w = (double)in->size.width, h = (double)in->size.height,
               f = MIN(w / p->w, h / p->h) * v->zoom, pw = p->w * f, ph = p->h * f;
  const double x = pw <= w ? (w - pw) / 2 : CLAMP(w / 2 - v->x * pw, w - pw, 0),
               y = ph <= h ? (h - ph) / 2 : CLAMP(h / 2 - v->y * ph, h - ph, 0);
  return GRAPHENE_RECT_INIT(in->origin.x + (float)round(x), in->origin.y + (float)round(y), (float)pw, (float)ph);
}

/* What of the well the picture covers. */
static graphene_rect_t shown(TmSwipeView *v, const graphene_rect_t *in) {
  graphene_rect_t at = place(v, in), cut;
  return graphene_rect_intersection(&at, in, &cut) ? cut : *in;
}

static double split_x(TmSwipeView *v) {
  const graphene_rect_t in = well(v, 0), at = shown(v, &in);
  return (double)at.origin.x + (double)at.size.width * v->split;
}

double tm_swipe_view_get_scale(TmSwipeView *v) {
  if (!v->picture || gtk_widget_get_width(GTK_WIDGET(v)) < 1) return 0;
  const graphene_rect_t in = well(v, 0), at = place(v, &in);
  return (double)at.size.width / v->picture->w;
}

/* ---- drawing ---- */

static void draw_texture(TmSwipeView *v, GtkSnapshot *s, GdkTexture *t, const graphene_rect_t *in,
                         const graphene_rect_t *clip) {
  const graphene_rect_t at = place(v, in);
  gtk_snapshot_push_clip(s, clip);
  gtk_snapshot_append_texture(s, t, &at);
  gtk_snapshot_pop(s);
}

/* White words on a dark pill; @right: x is its right end. Returns its width. */
static double pill(TmSwipeView *v, cairo_t *cr, const char *text, double x, double y, gboolean right, guint32 swatch) {
  static const GdkRGBA white = {1, 1, 1, 1};
  int h;
  const int dot = swatch != G_MAXUINT32 ? 18 : 0,
            w = tm_text_width(GTK_WIDGET(v), text, TM_TEXT_TINY, TM_TEXT_BOLD, &h) + 22 + dot;
  const double left = right ? x - w : x, top = y, height = h + 10, r = 6;
  cairo_new_sub_path(cr);
  cairo_arc(cr, left + w - r, top + r, r, -G_PI / 2, 0);
  cairo_arc(cr, left + w - r, top + height - r, r, 0, G_PI / 2);
  cairo_arc(cr, left + r, top + height - r, r, G_PI / 2, G_PI);
  cairo_arc(cr, left + r, top + r, r, G_PI, 1.5 * G_PI);
  cairo_close_path(cr);
  cairo_set_source_rgba(cr, 0, 0, 0, 0.72);
  cairo_fill(cr);
  if (dot) {
    cairo_arc(cr, left + 16, top + height / 2, 5, 0, 2 * G_PI);
    cairo_set_source_rgb(cr, (swatch >> 16 & 255) / 255.0, (swatch >> 8 & 255) / 255.0, (swatch & 255) / 255.0);
    cairo_fill_preserve(cr);
    cairo_set_source_rgba(cr, 1, 1, 1, 0.7);
    cairo_set_line_width(cr, 1);
    cairo_stroke(cr);
  }
  tm_text_draw(GTK_WIDGET(v), cr, text, left + 11 + dot, top + height / 2, TM_TEXT_TINY, TM_TEXT_BOLD, 0, &white);
  return w;
}

static void draw_handle(TmSwipeView *v, cairo_t *cr, const graphene_rect_t *at) {
  const double x = split_x(v), y = (double)(at->origin.y + at->size.height / 2);
  cairo_set_source_rgba(cr, 0, 0, 0, 0.35);
  cairo_rectangle(cr, x - 2, (double)at->origin.y, 4, (double)at->size.height);
  cairo_fill(cr);
  cairo_set_source_rgb(cr, 1, 1, 1);
  cairo_rectangle(cr, x - 1, (double)at->origin.y, 2, (double)at->size.height);
  cairo_fill(cr);
  if (gtk_widget_has_visible_focus(GTK_WIDGET(v))) {
    GdkRGBA accent = tm_ink(TM_INK_TRAINING);
    tm_ink_set(cr, &accent, 1);
    cairo_arc(cr, x, y, GRIP + 3, 0, 2 * G_PI);
    cairo_fill(cr);
  }
  cairo_set_source_rgba(cr, 0, 0, 0, 0.35);
  cairo_arc(cr, x, y, GRIP + 0.5, 0, 2 * G_PI);
  cairo_fill(cr);
  cairo_set_source_rgb(cr, 1, 1, 1);
  cairo_arc(cr, x, y, GRIP - 0.5, 0, 2 * G_PI);
  cairo_fill(cr);
  cairo_set_source_rgb(cr, 0.15, 0.15, 0.15);
  cairo_set_line_width(cr, 2);
  for (int side = -1; side <= 1; side += 2) {
    cairo_move_to(cr, x + side * 4, y - 4.5);
    cairo_line_to(cr, x + side * 8.5, y);
    cairo_line_to(cr, x + side * 4, y + 4.5);
  }
  cairo_stroke(cr);
}

static char *class_words(TmSwipeView *v, guint32 *swatch) {
  const TmFolderPicture *p = v->picture;
  if (v->px < 0) return NULL;
  const gsize at = (gsize)v->py * (gsize)p->w + (gsize)v->px;
  const guint8 label = p->labels[at];
  if (label >= p->classes->n) return NULL;
  const TmClass *c = &p->classes->classes[label];
  *swatch = (guint32)c->colour[0] << 16 | (guint32)c->colour[1] << 8 | c->colour[2];
  return v->mode == TM_SWIPE_SURE && p->sure
             ? g_strdup_printf(_("%s, %d\u2009%% sure"), c->name, (p->sure[at] * 100 + 127) / 255)
             : g_strdup_printf("%s %.1f\u2009%%", c->name, p->shares[label] * 100);
}

static void draw_words(TmSwipeView *v, cairo_t *cr, const graphene_rect_t *at) {
  const double left = (double)at->origin.x + 12, right = (double)(at->origin.x + at->size.width) - 12,
               top = (double)at->origin.y + 12, bottom = (double)(at->origin.y + at->size.height) - 38;
  g_autofree char *name = g_strdup_printf("%s  ·  %.0f\u2009%%", v->picture->name, tm_swipe_view_get_scale(v) * 100);
  const gboolean two = v->mode == TM_SWIPE_SWIPE || v->mode == TM_SWIPE_SIDE;
  if (two && (v->mode == TM_SWIPE_SIDE || split_x(v) > left + 60))
    pill(v, cr, _("Picture"), left, top, FALSE, G_MAXUINT32);
  if (v->mode == TM_SWIPE_SWIPE && split_x(v) < right - 70)
    pill(v, cr, _("Prediction"), right, top, TRUE, G_MAXUINT32);
  if (v->mode == TM_SWIPE_SIDE) {
    const graphene_rect_t in = well(v, 1), half = shown(v, &in);
    pill(v, cr, _("Prediction"), (double)half.origin.x + 12, top, FALSE, G_MAXUINT32);
  }
  if (v->mode == TM_SWIPE_SURE)
    pill(v, cr, v->picture->sure ? _("bright: unsure") : _("this network does not tell"), left, top, FALSE,
         G_MAXUINT32);
  pill(v, cr, name, left, bottom, FALSE, G_MAXUINT32);
  guint32 swatch = 0;
  g_autofree char *class = class_words(v, &swatch);
  if (class) pill(v, cr, class, right, bottom, TRUE, swatch);
}

static void snapshot(GtkWidget *w, GtkSnapshot *s) {
  TmSwipeView *v = TM_SWIPE_VIEW(w);
  const graphene_rect_t whole =
      GRAPHENE_RECT_INIT(0, 0, (float)gtk_widget_get_width(w), (float)gtk_widget_get_height(w));
  if (whole.size.width < 8 || whole.size.height < 8) return;
  const graphene_rect_t in = well(v, 0);
  GskRoundedRect clip;
  if (!v->picture) {
    const GdkRGBA empty = tm_ink_text(w, 0.06);
    gsk_rounded_rect_init_from_rect(&clip, &whole, RADIUS);
    gtk_snapshot_push_rounded_clip(s, &clip);
    gtk_snapshot_append_color(s, &empty, &whole);
    gtk_snapshot_pop(s);
    return;
  }
  const graphene_rect_t at = shown(v, &in);
  const graphene_rect_t round = v->mode == TM_SWIPE_SIDE ? whole : at;
  gsk_rounded_rect_init_from_rect(&clip, &round, RADIUS);
  gtk_snapshot_push_rounded_clip(s, &clip);
  if (v->mode == TM_SWIPE_SIDE) {
    const graphene_rect_t other = well(v, 1), cut = shown(v, &other);
    draw_texture(v, s, plain(v), &in, &at);
    draw_texture(v, s, masked(v), &other, &cut);
  } else if (v->mode == TM_SWIPE_SWIPE) {
    const float x = (float)split_x(v), end = at.origin.x + at.size.width;
    const graphene_rect_t left = GRAPHENE_RECT_INIT(at.origin.x, at.origin.y, x - at.origin.x, at.size.height),
                          right = GRAPHENE_RECT_INIT(x, at.origin.y, end - x, at.size.height);
    draw_texture(v, s, plain(v), &in, &left);
    draw_texture(v, s, masked(v), &in, &right);
  } else {
    GdkTexture *t = v->mode == TM_SWIPE_SURE ? sure(v) : masked(v);
    draw_texture(v, s, t ? t : plain(v), &in, &at);
  }
  gtk_snapshot_pop(s);
  cairo_t *cr = gtk_snapshot_append_cairo(s, &whole);
  draw_words(v, cr, &at);
  if (v->mode == TM_SWIPE_SWIPE) draw_handle(v, cr, &at);
  cairo_destroy(cr);
  if (gtk_widget_has_visible_focus(w) && v->mode != TM_SWIPE_SWIPE)
    gtk_snapshot_render_focus(s, gtk_widget_get_style_context(w), (double)at.origin.x, (double)at.origin.y,
                              (double)at.size.width, (double)at.size.height);
}

static void measure(GtkWidget *w, GtkOrientation o, int for_size, int *min, int *nat, int *min_base, int *nat_base) {
  (void)w;
  (void)for_size;
  *min = o == GTK_ORIENTATION_HORIZONTAL ? 200 : 180;
  *nat = o == GTK_ORIENTATION_HORIZONTAL ? 640 : 420;
  *min_base = *nat_base = -1;
}

/* ---- words ---- */

char *tm_swipe_view_describe(TmSwipeView *v) {
  const TmFolderPicture *p = v->picture;
  if (!p) return g_strdup("");
  g_autofree double *shares = g_memdup2(p->shares, p->classes->n * sizeof *shares);
  g_autoptr(GString) words = g_string_new(NULL);
  for (int k = 0; k < 3; k++) {
    guint best = 0;
    for (guint i = 1; i < p->classes->n; i++)
      if (shares[i] > shares[best]) best = i;
    if (shares[best] <= 0) break;
    g_string_append_printf(words, "%s%s %.1f", k ? ", " : "", p->classes->classes[best].name, shares[best] * 100);
    shares[best] = -1;
  }
  return v->mode == TM_SWIPE_SWIPE ? g_strdup_printf(_("Picture %s. %s percent. Split at %.0f percent."), p->name,
                                                     words->str, v->split * 100)
                                   : g_strdup_printf(_("Picture %s. %s percent."), p->name, words->str);
}

static void changed(TmSwipeView *v) {
  g_autofree char *text = tm_swipe_view_describe(v);
  gtk_accessible_update_property(GTK_ACCESSIBLE(v), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text, -1);
  gtk_widget_queue_draw(GTK_WIDGET(v));
}

/* ---- pointer and keyboard ---- */

double tm_swipe_view_get_split(TmSwipeView *v) {
  return v->split;
}

void tm_swipe_view_set_split(TmSwipeView *v, double split) {
  v->split = CLAMP(split, 0.0, 1.0);
  changed(v);
}

void tm_swipe_view_zoom(TmSwipeView *v, double factor) {
  v->zoom = factor > 0 ? CLAMP(v->zoom * factor, 1.0, 32.0) : 1;
  if (v->zoom <= 1.0) v->x = v->y = 0.5;
  changed(v);
  g_signal_emit(v, signals[ZOOMED], 0);
}

static gboolean key(GtkEventControllerKey *k, guint val, guint code, GdkModifierType state, TmSwipeView *v) {
  (void)k;
  (void)code;
  if (state & (GDK_CONTROL_MASK | GDK_ALT_MASK)) return FALSE;
  const double step = (state & GDK_SHIFT_MASK ? LARGE_STEP : STEP) / 100.0;
  if (val == GDK_KEY_Left)
    tm_swipe_view_set_split(v, v->split - step);
  else if (val == GDK_KEY_Right)
    tm_swipe_view_set_split(v, v->split + step);
  else if (val == GDK_KEY_Home)
    tm_swipe_view_set_split(v, 0);
  else if (val == GDK_KEY_End)
    tm_swipe_view_set_split(v, 1);
  else
    return FALSE;
  return TRUE;
}

static void drag_begin(GtkGestureDrag *g, double x, double y, TmSwipeView *v) {
  (void)g;
  (void)y;
  gtk_widget_grab_focus(GTK_WIDGET(v));
  if (!v->picture) return;
  /* Where nothing can be moved, dragging anywhere swipes. */
  v->swiping = v->mode == TM_SWIPE_SWIPE && (v->zoom <= 1.0 || fabs(x - split_x(v)) < 2 * GRIP);
  v->drag_x = v->x;
  v->drag_y = v->y;
}

static void drag_update(GtkGestureDrag *g, double dx, double dy, TmSwipeView *v) {
  double x, y;
  if (!v->picture || !gtk_gesture_drag_get_start_point(g, &x, &y)) return;
  const graphene_rect_t in = well(v, 0), at = place(v, &in), cut = shown(v, &in);
  if (v->swiping) {
    tm_swipe_view_set_split(v, (x + dx - (double)cut.origin.x) / (double)cut.size.width);
  } else if (v->zoom > 1.0) {
    v->x = CLAMP(v->drag_x - dx / (double)at.size.width, 0.0, 1.0);
    v->y = CLAMP(v->drag_y - dy / (double)at.size.height, 0.0, 1.0);
    changed(v);
  }
}

static gboolean scroll(GtkEventControllerScroll *c, double dx, double dy, TmSwipeView *v) {
  (void)dx;
  if (!(gtk_event_controller_get_current_event_state(GTK_EVENT_CONTROLLER(c)) & GDK_CONTROL_MASK)) return FALSE;
  tm_swipe_view_zoom(v, dy < 0 ? 1.25 : 0.8);
  return TRUE;
}

static void moved(GtkEventControllerMotion *m, double x, double y, TmSwipeView *v) {
  (void)m;
  const int had = v->px;
  v->px = v->py = -1;
  for (int half = 0; v->picture && half < (v->mode == TM_SWIPE_SIDE ? 2 : 1); half++) {
    const graphene_rect_t in = well(v, half), cut = shown(v, &in), at = place(v, &in);
    if (!graphene_rect_contains_point(&cut, &GRAPHENE_POINT_INIT((float)x, (float)y))) continue;
    v->px = CLAMP((int)((x - (double)at.origin.x) / (double)at.size.width * v->picture->w), 0, v->picture->w - 1);
    v->py = CLAMP((int)((y - (double)at.origin.y) / (double)at.size.height * v->picture->h), 0, v->picture->h - 1);
  }
  if (v->px >= 0 || had >= 0) gtk_widget_queue_draw(GTK_WIDGET(v));
}

static void left(TmSwipeView *v) {
  v->px = v->py = -1;
  gtk_widget_queue_draw(GTK_WIDGET(v));
}

/* ---- the type ---- */

static void forget(TmSwipeView *v) {
  g_clear_object(&v->plain);
  g_clear_object(&v->masked);
  g_clear_object(&v->sure);
}

static void dispose(GObject *o) {
  forget(TM_SWIPE_VIEW(o));
  g_clear_pointer(&TM_SWIPE_VIEW(o)->picture, tm_folder_picture_unref);
  G_OBJECT_CLASS(tm_swipe_view_parent_class)->dispose(o);
}

static void tm_swipe_view_class_init(TmSwipeViewClass *c) {
  G_OBJECT_CLASS(c)->dispose = dispose;
  GTK_WIDGET_CLASS(c)->snapshot = snapshot;
  GTK_WIDGET_CLASS(c)->measure = measure;
  gtk_widget_class_set_accessible_role(GTK_WIDGET_CLASS(c), GTK_ACCESSIBLE_ROLE_IMG);
  signals[ZOOMED] =
      g_signal_new("zoomed", TM_TYPE_SWIPE_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void tm_swipe_view_init(TmSwipeView *v) {
  GtkWidget *w = GTK_WIDGET(v);
  v->opacity = 0.55;
  v->split = v->x = v->y = 0.5;
  v->zoom = 1;
  v->px = v->py = -1;
  gtk_widget_set_focusable(w, TRUE);
  gtk_accessible_update_property(GTK_ACCESSIBLE(v), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                 _("Swipe between picture and prediction"), -1);
  GtkEventController *keys = gtk_event_controller_key_new(), *motion = gtk_event_controller_motion_new(),
                     *wheel = gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_VERTICAL);
  GtkGesture *drag = gtk_gesture_drag_new();
  g_signal_connect(keys, "key-pressed", G_CALLBACK(key), v);
  g_signal_connect(motion, "motion", G_CALLBACK(moved), v);
  g_signal_connect_swapped(motion, "leave", G_CALLBACK(left), v);
  g_signal_connect(wheel, "scroll", G_CALLBACK(scroll), v);
  g_signal_connect(drag, "drag-begin", G_CALLBACK(drag_begin), v);
  g_signal_connect(drag, "drag-update", G_CALLBACK(drag_update), v);
  gtk_widget_add_controller(w, keys);
  gtk_widget_add_controller(w, motion);
  gtk_widget_add_controller(w, wheel);
  gtk_widget_add_controller(w, GTK_EVENT_CONTROLLER(drag));
  tm_ink_watch(w);
}

GtkWidget *tm_swipe_view_new(void) {
  return g_object_new(TM_TYPE_SWIPE_VIEW, NULL);
}

void tm_swipe_view_set_picture(TmSwipeView *v, TmFolderPicture *p) {
  if (p == v->picture) return;
  if (p) tm_folder_picture_ref(p);
  forget(v);
  g_clear_pointer(&v->picture, tm_folder_picture_unref);
  v->picture = p;
  v->px = v->py = -1;
  changed(v);
}

void tm_swipe_view_set_mode(TmSwipeView *v, TmSwipeMode mode) {
  v->mode = mode;
  changed(v);
}

void tm_swipe_view_set_opacity(TmSwipeView *v, double opacity) {
  v->opacity = opacity;
  g_clear_object(&v->masked);
  changed(v);
}
