#include "engine/data/roads_private.h"

float tm_road_tile[ROAD_TILE * ROAD_TILE];

float tm_road_sin(float turns) {
  float t = turns - tm_road_floor(turns); /* 0..1 */
  const gboolean second = t >= 0.5f;
  if (second) t -= 0.5f;
  /* Bhaskara's rational form on the half circle, error below 0.2 % */
  const float q = t * (0.5f - t) * 4; /* x (pi - x) with x = 2 pi t, over pi squared */
  const float s = 16 * q / (5 - 4 * q);
  return second ? -s : s;
}

/* Smooth noise on a torus of @period cells. */
static float lattice(guint32 seed, guint32 period, float u, float v) {
  const float fu = tm_road_floor(u), fv = tm_road_floor(v);
  const guint32 x = (guint32)(int)fu % period, y = (guint32)(int)fv % period, x1 = (x + 1) % period,
                y1 = (y + 1) % period;
  float s = u - fu, t = v - fv;
  s = s * s * (3 - 2 * s);
  t = t * t * (3 - 2 * t);
  const float a = tm_road_lerp(tm_road_rand(seed, x, y), tm_road_rand(seed, x1, y), s);
  const float b = tm_road_lerp(tm_road_rand(seed, x, y1), tm_road_rand(seed, x1, y1), s);
  return tm_road_lerp(a, b, t);
}

static gpointer make_tile(gpointer unused) {
  (void)unused;
  for (int y = 0; y < ROAD_TILE; y++)
    for (int x = 0; x < ROAD_TILE; x++) {
      float sum = 0, gain = 0.5f;
      for (guint32 o = 0, period = 16; period <= ROAD_TILE; o++, period *= 2, gain *= 0.55f) {
        const float scale = (float)period / ROAD_TILE;
        sum += gain * (lattice(o + 1, period, (float)x * scale, (float)y * scale) - 0.5f);
      }
      tm_road_tile[y * ROAD_TILE + x] = tm_road_clamp(0.5f + sum * 1.25f, 0, 1);
    }
  return NULL;
}

void tm_road_noise_prepare(void) {
  static GOnce once = G_ONCE_INIT;
  g_once(&once, make_tile, NULL);
}
