#include "engine/data/roads_private.h"

static void rain(Road *rd) {
  RoadCanvas *c = &rd->canvas;
  const int n = (int)(rd->light.rain * (float)c->w * 0.9f);
  const float slant = tm_road_draw(rd, -0.25f, 0.25f);
  for (int i = 0; i < n; i++) {
    const float x = tm_road_draw(rd, 0, (float)c->w), y = tm_road_draw(rd, -10, (float)c->h);
    const float len = tm_road_draw(rd, 0.015f, 0.06f) * (float)c->h, wide = tm_road_draw(rd, 0.2f, 0.5f);
    const RoadPoint p[4] = {
        {x, y}, {x + wide, y}, {x + wide + slant * len, y + len}, {x + slant * len, y + len}};
    tm_road_flat(c, p, 4, -1, rd->light.horizon, rd->light.horizon, tm_road_draw(rd, 0.10f, 0.30f));
  }
}

/* The four samples of each pixel, summed; returns their mean brightness, 0..1. */
static float gather(const RoadCanvas *c, guint16 *sums) {
  guint64 all = 0;
  for (int j = 0; j < c->h; j++) {
    const guint8 *p = c->rgbx + (gsize)j * (gsize)c->w * 16, *q = p + (gsize)c->w * 8;
    for (int i = 0; i < c->w; i++, p += 8, q += 8)
      for (int k = 0; k < 3; k++) {
        *sums = (guint16)(p[k] + p[k + 4] + q[k] + q[k + 4]);
        all += *sums++;
      }
  }
  return (float)((double)all / (3.0 * 4 * 255 * (double)c->w * (double)c->h));
}

/* What a camera does: exposure, white balance, contrast; and adds: a darker rim, a veil around the sun,
 * softness, grain. */
typedef struct {
  RoadColour gain;
  float lift, contrast, rim, grain, soft;
  float sun_x, sun_y, glare;
} Camera;

static Camera draw_camera(Road *rd, float brightness) {
  Camera k;
  /* It measures the light as cameras do, not quite rightly, and leaves dusk dark. */
  const float wanted = tm_road_draw(rd, 0.38f, 0.50f) * (1 - 0.38f * rd->light.dusk);
  const float exposure =
      tm_road_clamp(tm_road_lerp(1, wanted / tm_road_max(brightness, 0.02f), 0.8f), 0.6f, 2.1f);
  const float warm = tm_road_draw(rd, -0.05f, 0.05f);
  k.gain = (RoadColour){exposure * (1 + warm), exposure, exposure * (1 - warm)};
  k.lift = tm_road_draw(rd, -0.02f, 0.05f);
  k.contrast = tm_road_draw(rd, 0.0f, 0.55f);
  k.rim = tm_road_draw(rd, 0.0f, 0.22f);
  k.grain = (tm_road_draw(rd, 0.005f, 0.018f) + 0.014f * rd->light.dusk) * tm_road_max(exposure, 0.8f);
  k.soft = tm_road_draw(rd, 0.0f, 0.45f);
  k.glare = tm_road_draw(rd, 0.05f, 0.35f) * rd->light.sun;
  k.sun_x = k.sun_y = 0;
  if (!tm_road_sun_at(rd, &k.sun_x, &k.sun_y)) k.glare = 0;
  return k;
}

static inline float curve(float x, float contrast) {
  x = tm_road_clamp(x, 0, 1);
  return x + contrast * (x * x * (3 - 2 * x) - x);
}

/* One row: a soft lens mixes in the four neighbours. */
static void develop_row(const Road *rd, const Camera *k, const guint16 *sums, int j, guint8 *rgb) {
  const int w = rd->canvas.w, h = rd->canvas.h, row = 3 * w;
  const guint16 *up = sums - (j > 0 ? row : 0), *down = sums + (j + 1 < h ? row : 0);
  const float size = 1 / (float)(w * w + h * h), own = (1 - k->soft) / (4 * 255),
              other = k->soft / (16 * 255);
  const float dy = (float)(2 * j - h), gy = (float)j - k->sun_y;
  for (int i = 0; i < w; i++, rgb += 3) {
    const int m = i * 3, l = i > 0 ? m - 3 : m, r = i + 1 < w ? m + 3 : m;
    const float dx = (float)(2 * i - w), gx = (float)i - k->sun_x;
    const float rim = 1 - k->rim * (dx * dx + dy * dy) * size,
                veil = k->lift + k->glare / (1 + 36 * (gx * gx + gy * gy) * size);
    const guint32 n = tm_road_hash(rd->seed, (guint32)(j * w + i), 77);
    const float g = k->grain * (1.0f / 128), grain = g * ((float)(n & 255) + (float)(n >> 8 & 255) - 255),
                tint = 0.6f * g * ((float)(n >> 16 & 255) - 127.5f);
    float c[3];
    for (int b = 0; b < 3; b++)
      c[b] = (float)sums[m + b] * own + (float)(up[m + b] + down[m + b] + sums[l + b] + sums[r + b]) * other;
    tm_road_put(rgb, (RoadColour){curve(c[0] * k->gain.r * rim + veil, k->contrast) + grain + tint,
                                  curve(c[1] * k->gain.g * rim + veil, k->contrast) + grain,
                                  curve(c[2] * k->gain.b * rim + veil * 0.94f, k->contrast) + grain - tint});
  }
}

gboolean tm_road_develop(Road *rd, guint8 *rgb) {
  const int w = rd->canvas.w, h = rd->canvas.h;
  if (rd->light.rain > 0) rain(rd);
  g_autofree guint16 *sums = g_try_malloc_n((gsize)w * 3, (gsize)h * sizeof *sums);
  if (!sums) return FALSE;
  const Camera k = draw_camera(rd, gather(&rd->canvas, sums));
  for (int j = 0; j < h; j++)
    develop_row(rd, &k, sums + (gsize)j * (gsize)w * 3, j, rgb + (gsize)j * (gsize)w * 3);
  return TRUE;
}
