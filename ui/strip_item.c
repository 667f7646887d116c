#include "ui/strip_item.h"

#include "ui/compose.h"

struct _TmStripItem {
  GObject parent;
  TmFolderPicture *picture;
  GdkTexture *texture;
};

G_DEFINE_FINAL_TYPE(TmStripItem, tm_strip_item, G_TYPE_OBJECT)

static void dispose(GObject *o) {
  TmStripItem *i = TM_STRIP_ITEM(o);
  g_clear_pointer(&i->picture, tm_folder_picture_unref);
  g_clear_object(&i->texture);
  G_OBJECT_CLASS(tm_strip_item_parent_class)->dispose(o);
}

static void tm_strip_item_class_init(TmStripItemClass *c) {
  G_OBJECT_CLASS(c)->dispose = dispose;
}

static void tm_strip_item_init(TmStripItem *i) {
  (void)i;
}

TmStripItem *tm_strip_item_new(TmFolderPicture *p) {
  TmStripItem *i = g_object_new(TM_TYPE_STRIP_ITEM, NULL);
  i->picture = tm_folder_picture_ref(p);
  return i;
}

const TmFolderPicture *tm_strip_item_get_picture(TmStripItem *i) {
  return i->picture;
}

GdkPaintable *tm_strip_item_get_paintable(TmStripItem *i) {
  if (i->texture) return GDK_PAINTABLE(i->texture);
  const TmFolderPicture *p = i->picture;
  guint32 colours[TM_MAX_CLASSES];
  for (guint k = 0; k < p->classes->n; k++) {
    const guint8 *c = p->classes->classes[k].colour;
    colours[k] = (guint32)c[0] << 16 | (guint32)c[1] << 8 | c[2];
  }
  const gsize stride = (gsize)p->w * 4;
  guint8 *pixels = g_malloc(stride * (gsize)p->h);
  const TmComposition k = {.show = TM_SHOW_MASK,
                           .w = p->w,
                           .h = p->h,
                           .rgb = p->rgb,
                           .labels = p->labels,
                           .colours = colours,
                           .n_classes = p->classes->n,
                           .opacity = 0.55};
  tm_compose(&k, pixels, p->w, p->h, stride);
  g_autoptr(GBytes) bytes = g_bytes_new_take(pixels, stride * (gsize)p->h);
  i->texture = gdk_memory_texture_new(p->w, p->h, GDK_MEMORY_R8G8B8A8, bytes, stride);
  return GDK_PAINTABLE(i->texture);
}
