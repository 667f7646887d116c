#include "engine/data/augment_private.h"

#include "engine/core/error.h"
#include "engine/data/resample.h"
#include "engine/core/label.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

enum { MAX_SIDE = 1 << 15 };

/* What was drawn for one sample. Always the same number of draws, so that changing one setting leaves the
 * others' luck alone. */
typedef struct {
  float scale, angle, brightness, offset, contrast, saturation, hue;
  float x, y; /* position of the crop, 0..1 */
  gboolean flip;
} Luck;

void tm_augment_none(TmAugment *a) {
  *a = (TmAugment){.scale_min = 1, .scale_max = 1};
}

static Luck draw(const TmAugment *a, TmRandom *r) {
  Luck l;
  l.scale = tm_random_range(r, a->scale_min, a->scale_max);
  l.x = tm_random_float(r);
  l.y = tm_random_float(r);
  l.flip = tm_random_float(r) < a->flip;
  l.angle = tm_random_range(r, -a->rotate, a->rotate);
  l.brightness = 1 + tm_random_range(r, -a->brightness, a->brightness);
  l.offset = tm_random_range(r, -a->offset, a->offset);
  l.contrast = 1 + tm_random_range(r, -a->contrast, a->contrast);
  l.saturation = 1 + tm_random_range(r, -a->saturation, a->saturation);
  l.hue = tm_random_range(r, -a->hue, a->hue);
  return l;
}

/* Zooming out stops at the crop's size, on each side by itself, so that no picture is padded that need not
 * be. */
static int scaled_side(int side, int crop, float scale) {
  const double s = MAX(floor((double)side * scale + 1e-4), 1.0);
  return (int)MIN(MAX(s, (double)MIN(side, crop)), (double)(1 << 24));
}

/* Where the crop begins: anywhere it fits, or anywhere around a picture that is smaller. */
static int place(int scaled, int crop, float luck) {
  const int room = scaled - crop, span = ABS(room) + 1;
  const int at = MIN((int)((float)span * luck), span - 1);
  return room < 0 ? -at : at;
}

static void mean_colour(const TmSample *in, guint8 mean[3]) {
  guint64 sum[3] = {0};
  const gsize n = (gsize)in->w * (gsize)in->h;
  for (gsize i = 0; i < n; i++)
    for (int c = 0; c < 3; c++) sum[c] += in->rgb[i * 3 + (gsize)c];
  for (int c = 0; c < 3; c++) mean[c] = (guint8)((sum[c] + n / 2) / n);
}

/* A turn about the crop's centre: output pixel to source, in 16.16 of the window that was cut large enough to
 * hold it. */
typedef struct {
  double cos, sin;
  TmWindow box;
} Turn;

static Turn turn_make(const TmWindow *win, float degrees) {
  const double rad = degrees * (G_PI / 180.0);
  Turn t = {.cos = cos(rad), .sin = sin(rad), .box = *win};
  /* A mirrored crop of a turned picture: the window is mirrored first, so the turn is the other way about. */
  t.box.w = (int)ceil(fabs(t.cos) * win->w + fabs(t.sin) * win->h) + 3;
  t.box.h = (int)ceil(fabs(t.sin) * win->w + fabs(t.cos) * win->h) + 3;
  t.box.x = win->x + (win->w - t.box.w) / 2;
  t.box.y = win->y + (win->h - t.box.h) / 2;
  return t;
}

/* Position in the box of output pixel (0, y), pixel centres at whole numbers. */
static void turn_start(const Turn *t, const TmWindow *win, int y, double *u, double *v) {
  const double cx = (win->w - 1) * 0.5, cy = (win->h - 1) * 0.5;
  /* The box's left top corner is a whole number of pixels away; mirrored, it is counted from the other side.
   */
  const int dx = win->x - t->box.x;
  const int left = win->flip ? t->box.w - win->w - dx : dx;
  *u = left + cx + t->cos * -cx - t->sin * (y - cy);
  *v = (win->y - t->box.y) + cy + t->sin * -cx + t->cos * (y - cy);
}

static void turn_rgb(const Turn *t, const TmWindow *win, const guint8 *box, guint8 *out) {
  const int bw = t->box.w, bh = t->box.h;
  const int du = (int)lrint(t->cos * 65536), dv = (int)lrint(t->sin * 65536);
  for (int y = 0; y < win->h; y++) {
    double u0, v0;
    turn_start(t, win, y, &u0, &v0);
    gint64 u = llrint(u0 * 65536), v = llrint(v0 * 65536);
    for (int x = 0; x < win->w; x++, u += du, v += dv, out += 3) {
      const int iu = CLAMP((int)(u >> 16), 0, bw - 2), iv = CLAMP((int)(v >> 16), 0, bh - 2);
      const int fu = (int)(u >> 8) & 255, fv = (int)(v >> 8) & 255;
      const guint8 *p = box + ((gsize)iv * (gsize)bw + (gsize)iu) * 3, *q = p + (gsize)bw * 3;
      for (int c = 0; c < 3; c++) {
        const int top = p[c] * (256 - fu) + p[c + 3] * fu, low = q[c] * (256 - fu) + q[c + 3] * fu;
        out[c] = (guint8)((top * (256 - fv) + low * fv + (1 << 15)) >> 16);
      }
    }
  }
}

/* Labels go from the mask in one step: nearest of nearest would move edges by a pixel. */
static void turn_labels(const Turn *t, const TmWindow *win, const TmSample *in, guint8 *out) {
  const double rx = (double)in->w / win->sw, ry = (double)in->h / win->sh;
  for (int y = 0; y < win->h; y++) {
    double u, v;
    turn_start(t, win, y, &u, &v);
    for (int x = 0; x < win->w; x++, u += t->cos, v += t->sin, out++) {
      const double bx = t->box.flip ? t->box.w - 1 - u : u;
      const double sx = floor((t->box.x + bx + 0.5) * rx), sy = floor((t->box.y + v + 0.5) * ry);
      const gboolean inside = sx >= 0 && sy >= 0 && sx < in->w && sy < in->h;
      *out = inside && in->labels ? in->labels[(gsize)sy * (gsize)in->w + (gsize)sx] : TM_VOID;
    }
  }
}

/* out = m * in + add, on 0..255. */
typedef struct {
  float m[9], add;
} Colour;

static Colour colour_make(const Luck *l) {
  /* A turn about the grey axis (Rodrigues), then saturation about the luma; both leave grey as it is, so
   * gain, offset and contrast may be folded in. */
  const float rad = l->hue * (float)(G_PI / 180.0), c = cosf(rad), k = (1 - c) / 3,
              s = sinf(rad) * 0.57735027f;
  const float hue[9] = {c + k, k - s, k + s, k + s, c + k, k - s, k - s, k + s, c + k};
  const float luma[3] = {0.299f, 0.587f, 0.114f};
  Colour out = {.add = l->contrast * (l->offset - 128) + 128};
  for (int j = 0; j < 3; j++) {
    float grey = 0;
    for (int i = 0; i < 3; i++) grey += luma[i] * hue[i * 3 + j];
    for (int i = 0; i < 3; i++)
      out.m[i * 3 + j] =
          l->contrast * l->brightness * (l->saturation * hue[i * 3 + j] + (1 - l->saturation) * grey);
  }
  return out;
}

static inline guint8 to_u8(float x) {
  return (guint8)(CLAMP(x, 0.0f, 255.0f) + 0.5f);
}

static void recolour(const Luck *l, guint8 *rgb, gsize n) {
  const Colour c = colour_make(l);
  if (l->hue == 0 && l->saturation == 1) {
    if (l->brightness == 1 && c.add == 0 && l->contrast == 1) return;
    guint8 lut[256];
    for (int i = 0; i < 256; i++) lut[i] = to_u8(l->contrast * l->brightness * (float)i + c.add);
    for (gsize i = 0; i < n * 3; i++) rgb[i] = lut[rgb[i]];
    return;
  }
  for (gsize i = 0; i < n; i++, rgb += 3) {
    const float r = rgb[0], g = rgb[1], b = rgb[2];
    rgb[0] = to_u8(c.m[0] * r + c.m[1] * g + c.m[2] * b + c.add);
    rgb[1] = to_u8(c.m[3] * r + c.m[4] * g + c.m[5] * b + c.add);
    rgb[2] = to_u8(c.m[6] * r + c.m[7] * g + c.m[8] * b + c.add);
  }
}

static gboolean no_memory(int w, int h, GError **error) {
  g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY,
              _("There is no memory for a crop of %d×%d pixels. Choose a smaller crop."), w, h);
  return FALSE;
}

static gboolean check(const TmAugment *a, const TmSample *in, GError **error) {
  const float all[] = {a->scale_min, a->scale_max, a->flip,       a->rotate, a->brightness,
                       a->offset,    a->contrast,  a->saturation, a->hue};
  gboolean fine = a->scale_min > 0 && a->scale_max >= a->scale_min && a->scale_max <= 64;
  for (gsize i = 0; i < G_N_ELEMENTS(all); i++) fine = fine && isfinite(all[i]) && all[i] >= 0;
  if (!fine) {
    g_set_error(error, TM_ERROR, TM_ERROR_SETTING,
                _("The augmentation has a value out of range: zoom must lie between 0 and 64, everything "
                  "else at 0 or above."));
    return FALSE;
  }
  if (a->crop_w < 0 || a->crop_h < 0 || a->crop_w > MAX_SIDE || a->crop_h > MAX_SIDE) {
    g_set_error(error, TM_ERROR, TM_ERROR_SETTING,
                _("A crop of %d×%d pixels is not possible. Choose 1 to %d."), a->crop_w, a->crop_h, MAX_SIDE);
    return FALSE;
  }
  if (in->w < 1 || in->h < 1 || !in->rgb) {
    g_set_error(error, TM_ERROR, TM_ERROR_DATA, _("An empty picture cannot be augmented."));
    return FALSE;
  }
  return TRUE;
}

/* Does the crop, turned or not, look beyond the picture? Only then is its mean colour wanted. */
static gboolean looks_outside(const TmWindow *win) {
  return win->x < 0 || win->y < 0 || win->x + win->w > win->sw || win->y + win->h > win->sh;
}

static gboolean apply_turned(const TmWindow *win, float angle, const TmSample *in, guint8 *rgb,
                             guint8 *labels) {
  const Turn t = turn_make(win, angle);
  guint8 mean[3] = {0};
  if (looks_outside(&t.box)) mean_colour(in, mean);
  g_autofree guint8 *box = g_try_malloc_n((gsize)t.box.w, (gsize)t.box.h * 3);
  if (!box || !tm_resample_rgb(in, &t.box, mean, box)) return FALSE;
  turn_rgb(&t, win, box, rgb);
  turn_labels(&t, win, in, labels);
  return TRUE;
}

static gboolean apply_straight(const TmWindow *win, const TmSample *in, guint8 *rgb, guint8 *labels) {
  guint8 mean[3] = {0};
  if (looks_outside(win)) mean_colour(in, mean);
  return tm_resample_rgb(in, win, mean, rgb) && tm_resample_labels(in, win, labels);
}

gboolean tm_augment_into(const TmAugment *a, TmRandom *r, const TmSample *in, guint8 *rgb, guint8 *labels,
                         GError **error) {
  if (!check(a, in, error)) return FALSE;
  const Luck l = draw(a, r);
  TmWindow win = {.w = a->crop_w ? a->crop_w : in->w, .h = a->crop_h ? a->crop_h : in->h, .flip = l.flip};
  win.sw = scaled_side(in->w, win.w, l.scale);
  win.sh = scaled_side(in->h, win.h, l.scale);
  win.x = place(win.sw, win.w, l.x);
  win.y = place(win.sh, win.h, l.y);
  const gboolean done =
      l.angle != 0 ? apply_turned(&win, l.angle, in, rgb, labels) : apply_straight(&win, in, rgb, labels);
  if (!done) return no_memory(win.w, win.h, error);
  recolour(&l, rgb, (gsize)win.w * (gsize)win.h);
  return TRUE;
}

gboolean tm_augment_apply(const TmAugment *a, TmRandom *r, const TmSample *in, TmSample *out,
                          GError **error) {
  if (!check(a, in, error)) return FALSE;
  const int w = a->crop_w ? a->crop_w : in->w, h = a->crop_h ? a->crop_h : in->h;
  g_autofree guint8 *rgb = g_try_malloc_n((gsize)w, (gsize)h * 3),
                    *labels = g_try_malloc_n((gsize)w, (gsize)h);
  if (!rgb || !labels) return no_memory(w, h, error);
  if (!tm_augment_into(a, r, in, rgb, labels, error)) return FALSE;
  *out = (TmSample){
      .w = w, .h = h, .rgb = g_steal_pointer(&rgb), .labels = in->labels ? g_steal_pointer(&labels) : NULL};
  return TRUE;
}
