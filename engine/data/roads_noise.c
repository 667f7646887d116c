#include "engine/data/roads_private.h"

enum { TILE = 256, MASK = TILE - 1, PER_UNIT = 4 };

guint32 tm_road_hash(guint32 a, guint32 b, guint32 c) {
  guint32 h = a * 0x9e3779b1u + b * 0x85ebca77u + c * 0xc2b2ae3du + 0x27d4eb2fu;
  h = (h ^ (h >> 15)) * 0x2c1b3c6du;
  h = (h ^ (h >> 12)) * 0x297a2d39u;
  return h ^ (h >> 15);
}

float tm_road_rand(guint32 a, guint32 b, guint32 c) { return (float)(tm_road_hash(a, b, c) >> 8) * 0x1p-24f; }

float tm_road_floor(float x) {
  const float t = (float)(int)x;
  return t > x ? t - 1 : t;
}

float tm_road_sin(float turns) {
  float t = turns - tm_road_floor(turns); /* 0..1 */
  const gboolean second = t >= 0.5f;
  if (second) t -= 0.5f;
  /* Bhaskara's rational form on the half circle, error below 0.2 % */
  const float q = t * (0.5f - t) * 4; /* x (pi - x) with x = 2 pi t, over pi squared */
  const float s = 16 * q / (5 - 4 * q);
  return second ? -s : s;
}

float tm_road_fade(float x) {
  const float a = 1 / (1 + x * 0.125f), b = a * a, c = b * b;
  return c * c;
}

/* Smooth noise on a torus of @period cells. */
static float lattice(guint32 seed, guint32 period, float u, float v) {
  const float fu = tm_road_floor(u), fv = tm_road_floor(v);
  const guint32 x = (guint32)(int)fu % period, y = (guint32)(int)fv % period, x1 = (x + 1) % period, y1 = (y + 1) % period;
  float s = u - fu, t = v - fv;
  s = s * s * (3 - 2 * s);
  t = t * t * (3 - 2 * t);
  const float a = tm_road_lerp(tm_road_rand(seed, x, y), tm_road_rand(seed, x1, y), s);
  const float b = tm_road_lerp(tm_road_rand(seed, x, y1), tm_road_rand(seed, x1, y1), s);
  return tm_road_lerp(a, b, t);
}

static float tile[TILE * TILE];

static gpointer make_tile(gpointer unused) {
  (void)unused;
  for (int y = 0; y < TILE; y++)
    for (int x = 0; x < TILE; x++) {
      float sum = 0, gain = 0.5f;
      for (guint32 o = 0, period = 16; period <= TILE; o++, period *= 2, gain *= 0.55f) {
        const float scale = (float)period / TILE;
        sum += gain * (lattice(o + 1, period, (float)x * scale, (float)y * scale) - 0.5f);
      }
      tile[y * TILE + x] = tm_road_clamp(0.5f + sum * 1.25f, 0, 1);
    }
  return NULL;
}

float tm_road_cloud(float u, float v) {
  static GOnce once = G_ONCE_INIT;
  g_once(&once, make_tile, NULL);
  u *= PER_UNIT;
  v *= PER_UNIT;
  const float fu = tm_road_floor(u), fv = tm_road_floor(v);
  const int x = (int)fu & MASK, y = (int)fv & MASK, x1 = (x + 1) & MASK, y1 = (y + 1) & MASK;
  const float s = u - fu, t = v - fv;
  const float a = tm_road_lerp(tile[y * TILE + x], tile[y * TILE + x1], s);
  const float b = tm_road_lerp(tile[y1 * TILE + x], tile[y1 * TILE + x1], s);
  return tm_road_lerp(a, b, t);
}
