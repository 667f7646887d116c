#include "ui/frame.h"

struct _TmFrame {
  GObject parent;
  GdkTexture *texture;
  int w, h;
};

static void snapshot(GdkPaintable *p, GdkSnapshot *snapshot, double width, double height) {
  TmFrame *f = TM_FRAME(p);
  if (f->texture) gdk_paintable_snapshot(GDK_PAINTABLE(f->texture), snapshot, width, height);
}

static int intrinsic_width(GdkPaintable *p) {
  return TM_FRAME(p)->w;
}
static int intrinsic_height(GdkPaintable *p) {
  return TM_FRAME(p)->h;
}

static GdkPaintable *current_image(GdkPaintable *p) {
  TmFrame *f = TM_FRAME(p);
  return f->texture ? g_object_ref(GDK_PAINTABLE(f->texture)) : gdk_paintable_new_empty(f->w, f->h);
}

static GdkPaintableFlags flags(GdkPaintable *p) {
  (void)p;
  return GDK_PAINTABLE_STATIC_SIZE;
}

static void paintable_init(GdkPaintableInterface *i) {
  i->snapshot = snapshot;
  i->get_intrinsic_width = intrinsic_width;
  i->get_intrinsic_height = intrinsic_height;
  i->get_current_image = current_image;
  i->get_flags = flags;
}

G_DEFINE_FINAL_TYPE_WITH_CODE(TmFrame, tm_frame, G_TYPE_OBJECT,
                              G_IMPLEMENT_INTERFACE(GDK_TYPE_PAINTABLE, paintable_init))

static void dispose(GObject *o) {
  g_clear_object(&TM_FRAME(o)->texture);
  G_OBJECT_CLASS(tm_frame_parent_class)->dispose(o);
}

static void tm_frame_class_init(TmFrameClass *c) {
  G_OBJECT_CLASS(c)->dispose = dispose;
}
static void tm_frame_init(TmFrame *f) {
  (void)f;
}

TmFrame *tm_frame_new(int w, int h) {
  TmFrame *f = g_object_new(TM_TYPE_FRAME, NULL);
  f->w = w;
  f->h = h;
  return f;
}

void tm_frame_set_texture(TmFrame *f, GdkTexture *texture) {
  if (g_set_object(&f->texture, texture)) gdk_paintable_invalidate_contents(GDK_PAINTABLE(f));
}

GdkTexture *tm_frame_get_texture(TmFrame *f) {
  return f->texture;
}
