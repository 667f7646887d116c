#include <glib/gi18n.h>
#include <string.h>

#include "engine/core/label.h"
#include "engine/data/codec.h"
#include "engine/data/dataset_private.h"
#include "engine/data/mask.h"
#include "engine/data/resample.h"
#include "engine/data/roads.h"

static gboolean allocate(TmSample *s, int w, int h, gboolean labels, const char *name, GError **error) {
  const guint64 n = (guint64)w * (guint64)h;
  *s = (TmSample){.w = w, .h = h};
  s->rgb = tm_codec_alloc(name, n * 3, error);
  if (s->rgb && labels) s->labels = tm_codec_alloc(name, n, error);
  return s->rgb && (s->labels || !labels);
}

static void give(TmSample *from, TmSample *out) {
  *out = *from;
  *from = (TmSample){0};
}

/* @whole reduced to w x h: pictures by area, masks by nearest pixel. */
static gboolean reduce_labels(const TmSample *whole, TmSample *small, GError **error) {
  const TmWindow win = {.sw = small->w, .sh = small->h, .w = small->w, .h = small->h};
  if (tm_resample_labels(whole, &win, small->labels)) return TRUE;
  g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY, _("There is no memory to reduce a mask of %d×%d pixels."),
              whole->w, whole->h);
  return FALSE;
}

/* The scenes' labels are CamVid's; a project's table may have merged or dropped some of them. */
static void translate(const TmClassTable *t, guint8 *labels, gsize n) {
  guint8 lut[256];
  if (t->code != TM_MASK_INDEX) return;
  for (int v = 0; v < 256; v++) {
    const int c = tm_class_table_index(t, v);
    lut[v] = (guint8)(c < 0 ? TM_VOID : c);
  }
  for (gsize i = 0; i < n; i++) labels[i] = lut[labels[i]];
}

/* Over the labels of the whole mask, void where the project painted it. */
static gboolean paint_layer(const TmEntry *e, TmSample *whole, GError **error) {
  if (!e->layer) return TRUE;
  g_auto(TmMask) m = {0};
  if (!tm_mask_read(e->layer, &m, error)) return FALSE;
  if (m.w != whole->w || m.h != whole->h || m.bytes != 1) {
    g_autofree char *layer = g_filename_display_name(e->layer);
    g_set_error(error, TM_ERROR, TM_ERROR_DATA,
                _("The void painted over “%s” is kept in “%s”, which has %d×%d pixels and not %d×%d: the mask "
                  "has changed since. Remove that file to go on without it."),
                e->name, layer, m.w, m.h, whole->w, whole->h);
    return FALSE;
  }
  const gsize n = (gsize)m.w * (gsize)m.h;
  for (gsize i = 0; i < n; i++)
    if (m.px[i]) whole->labels[i] = TM_VOID;
  return TRUE;
}

static gboolean draw_scene(const TmDataset *d, guint i, int max_side, TmSample *out, GError **error) {
  const char *name = tm_dataset_at(d, i)->name;
  g_auto(TmSample) s = {0}, small = {0};
  if (!allocate(&s, d->width, d->height, TRUE, name, error)) return FALSE;
  tm_roads_draw(d->seed, d->scenes[i], s.w, s.h, s.rgb, s.labels);
  translate(d->classes, s.labels, (gsize)s.w * (gsize)s.h);
  if (!paint_layer(tm_dataset_at(d, i), &s, error)) return FALSE;
  const int side = MAX(s.w, s.h);
  if (max_side <= 0 || side <= max_side) {
    give(&s, out);
    return TRUE;
  }
  const int w = MAX((int)((gint64)s.w * max_side / side), 1),
            h = MAX((int)((gint64)s.h * max_side / side), 1);
  const TmWindow win = {.sw = w, .sh = h, .w = w, .h = h};
  const guint8 black[3] = {0};
  if (!allocate(&small, w, h, TRUE, name, error) || !reduce_labels(&s, &small, error)) return FALSE;
  if (!tm_resample_rgb(&s, &win, black, small.rgb)) {
    g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY, _("There is no memory to reduce “%s”."), name);
    return FALSE;
  }
  give(&small, out);
  return TRUE;
}

static gboolean check_sizes(const TmEntry *e, const TmPicture *p, const TmMask *m, GError **error) {
  if (p->full_w == m->w && p->full_h == m->h) return TRUE;
  g_autofree char *image = g_filename_display_name(e->image), *mask = g_filename_display_name(e->mask);
  g_set_error(error, TM_ERROR, TM_ERROR_DATA,
              _("“%s” has %d×%d pixels and its mask “%s” %d×%d. They must be equal; nothing is stretched."),
              image, p->full_w, p->full_h, mask, m->w, m->h);
  return FALSE;
}

/* The mask's labels at the picture's size, which is the mask's or a reduction of it. */
static gboolean take_labels(const TmDataset *d, const TmEntry *e, const TmMask *m, TmSample *s,
                            GError **error) {
  g_autofree char *name = g_filename_display_name(e->mask);
  g_auto(TmSample) whole = {.w = m->w, .h = m->h};
  whole.labels = tm_codec_alloc(name, (guint64)m->w * (guint64)m->h, error);
  if (!whole.labels || !tm_mask_labels(m, d->classes, e->mask, whole.labels, error) ||
      !paint_layer(e, &whole, error))
    return FALSE;
  if (s->w == m->w && s->h == m->h) {
    s->labels = g_steal_pointer(&whole.labels);
    return TRUE;
  }
  s->labels = tm_codec_alloc(name, (guint64)s->w * (guint64)s->h, error);
  return s->labels && reduce_labels(&whole, s, error);
}

static gboolean read_files(const TmDataset *d, guint i, int max_side, TmSample *out, GError **error) {
  const TmEntry *e = tm_dataset_at(d, i);
  g_auto(TmMask) m = {0};
  g_auto(TmPicture) p = {0};
  if (e->mask && !tm_mask_read(e->mask, &m, error)) return FALSE;
  const TmPictureOptions o = {.max_side = max_side, .mask_w = m.w, .mask_h = m.h};
  if (!tm_image_read_picture(e->image, &o, &p, error)) return FALSE;
  if (e->mask && !check_sizes(e, &p, &m, error)) return FALSE;
  g_auto(TmSample) s = {.w = p.w, .h = p.h, .rgb = g_steal_pointer(&p.rgb)};
  if (e->mask && !take_labels(d, e, &m, &s, error)) return FALSE;
  give(&s, out);
  return TRUE;
}

static gboolean read_entry(const TmDataset *d, guint i, int max_side, TmSample *out, GError **error) {
  if (i >= d->entries->len) {
    g_set_error(error, TM_ERROR, TM_ERROR_DATA, _("There is no picture %u in this dataset of %u."), i,
                d->entries->len);
    return FALSE;
  }
  return d->demo ? draw_scene(d, i, max_side, out, error) : read_files(d, i, max_side, out, error);
}

gboolean tm_dataset_read(const TmDataset *d, guint i, TmSample *out, GError **error) {
  return read_entry(d, i, 0, out, error);
}

gboolean tm_dataset_read_small(const TmDataset *d, guint i, int max_side, TmSample *out, GError **error) {
  return read_entry(d, i, MAX(max_side, 1), out, error);
}
