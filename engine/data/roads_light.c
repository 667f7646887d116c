#include "engine/data/roads_private.h"

#include <string.h>

/* Kinds of weather: what is fixed about each; the rest is drawn. */
typedef struct {
  float share;
  float sun, cot_lo, cot_hi, cover_lo, cover_hi, haze_lo, haze_hi, dusk, wet;
  RoadColour zenith, horizon, cloud, direct, ambient;
} Weather;

static const Weather weathers[] = {
    /* clear */
    {0.26f,
     1.0f,
     0.6f,
     2.2f,
     0.05f,
     0.55f,
     0.001f,
     0.004f,
     0,
     0,
     {0.20f, 0.42f, 0.76f},
     {0.70f, 0.82f, 0.93f},
     {1.0f, 1.0f, 1.0f},
     {0.72f, 0.66f, 0.55f},
     {0.50f, 0.55f, 0.62f}},
    /* low golden sun */
    {0.15f,
     1.0f,
     2.2f,
     4.5f,
     0.1f,
     0.6f,
     0.002f,
     0.006f,
     0,
     0,
     {0.29f, 0.46f, 0.72f},
     {0.96f, 0.86f, 0.70f},
     {1.0f, 0.93f, 0.84f},
     {0.92f, 0.66f, 0.36f},
     {0.42f, 0.46f, 0.54f}},
    /* bright and white */
    {0.19f,
     0.2f,
     1.0f,
     2.5f,
     0.75f,
     1.0f,
     0.002f,
     0.007f,
     0,
     0.2f,
     {0.80f, 0.84f, 0.90f},
     {0.95f, 0.96f, 0.97f},
     {0.90f, 0.91f, 0.93f},
     {0.40f, 0.39f, 0.36f},
     {0.84f, 0.86f, 0.89f}},
    /* dark and grey */
    {0.13f,
     0.0f,
     1.0f,
     2.0f,
     0.7f,
     1.0f,
     0.003f,
     0.008f,
     0.25f,
     0.3f,
     {0.38f, 0.43f, 0.51f},
     {0.74f, 0.77f, 0.79f},
     {0.30f, 0.33f, 0.38f},
     {0.2f, 0.2f, 0.2f},
     {0.50f, 0.53f, 0.58f}},
    /* dusk */
    {0.10f,
     0.25f,
     4.0f,
     7.0f,
     0.2f,
     0.8f,
     0.002f,
     0.006f,
     1,
     0.2f,
     {0.13f, 0.19f, 0.38f},
     {0.96f, 0.58f, 0.34f},
     {0.50f, 0.32f, 0.38f},
     {0.60f, 0.33f, 0.16f},
     {0.29f, 0.30f, 0.39f}},
    /* fog */
    {0.06f,
     0.0f,
     1.0f,
     2.0f,
     0.9f,
     1.0f,
     0.016f,
     0.034f,
     0.3f,
     0.3f,
     {0.74f, 0.76f, 0.78f},
     {0.80f, 0.81f, 0.82f},
     {0.77f, 0.78f, 0.80f},
     {0.2f, 0.2f, 0.2f},
     {0.68f, 0.70f, 0.72f}},
    /* rain */
    {0.11f,
     0.0f,
     1.0f,
     2.0f,
     0.8f,
     1.0f,
     0.005f,
     0.013f,
     0.45f,
     1,
     {0.42f, 0.46f, 0.52f},
     {0.68f, 0.71f, 0.74f},
     {0.33f, 0.35f, 0.40f},
     {0.2f, 0.2f, 0.2f},
     {0.47f, 0.50f, 0.55f}},
};

static const Weather *choose(Road *rd) {
  float u = tm_random_float(&rd->r);
  for (gsize i = 0; i < G_N_ELEMENTS(weathers); i++) {
    u -= weathers[i].share;
    if (u < 0) return weathers + i;
  }
  return weathers;
}

void tm_road_light(Road *rd) {
  const Weather *w = choose(rd);
  RoadLight *l = &rd->light;
  *l = (RoadLight){.sun = w->sun,
                   .zenith = w->zenith,
                   .horizon = w->horizon,
                   .cloud = w->cloud,
                   .direct = w->direct,
                   .dusk = w->dusk};
  const float turn = tm_road_draw(rd, 0, 1);
  l->side = tm_road_sin(turn);
  l->ahead = tm_road_cos(turn);
  l->cot = tm_road_draw(rd, w->cot_lo, w->cot_hi);
  l->cover = tm_road_draw(rd, w->cover_lo, w->cover_hi);
  l->haze = tm_road_draw(rd, w->haze_lo, w->haze_hi);
  l->ambient = tm_road_scale(w->ambient, tm_road_draw(rd, 0.85f, 1.1f));
  l->wet = tm_road_chance(rd, w->wet) ? 1 : 0;
  l->rain = w->wet >= 1 ? tm_road_draw(rd, 0.3f, 1) : 0;
  if (l->dusk > 0 && l->dusk < 1) l->dusk = tm_road_chance(rd, l->dusk) ? tm_road_draw(rd, 0.2f, 0.6f) : 0;
  l->fog = tm_road_mix(l->horizon, l->ambient, 0.25f);
}

RoadColour tm_road_lit(const Road *rd, RoadColour c, float facing, float lit) {
  const float k = rd->light.sun * facing * lit;
  const RoadColour a = rd->light.ambient, d = rd->light.direct;
  return (RoadColour){c.r * (a.r + d.r * k), c.g * (a.g + d.g * k), c.b * (a.b + d.b * k)};
}

RoadColour tm_road_fogged(const Road *rd, RoadColour c, float z) {
  return tm_road_mix(rd->light.fog, c, tm_road_fade(z * rd->light.haze));
}

float tm_road_facing(const Road *rd, float nx, float nz) {
  const RoadLight *l = &rd->light;
  return tm_road_max(nx * l->side + nz * l->ahead, 0) * l->cot / __builtin_sqrtf(1 + l->cot * l->cot);
}

float tm_road_sunny(const Road *rd, float x, float y, float z) {
  const RoadLight *l = &rd->light;
  const int side = l->side < 0 ? ROAD_LEFT : ROAD_RIGHT;
  const float across = tm_road_abs(l->side);
  const float d = rd->line[side] - (side == ROAD_LEFT ? -x : x);
  if (across < 0.12f || d <= 0) return 1;
  const float way = d / across, at = (z + way * l->ahead) * 2;
  if (!(at >= 0) || at >= ROAD_BINS) return 1;
  const float over = y + way / l->cot - rd->skyline[side][(int)at];
  return tm_road_step(-0.25f, 0.25f, over);
}

/* Clouds lie on a plane high above; lit from the sun's side. */
static RoadColour sky_colour(const Road *rd, float x, float y, float du, float dv) {
  const RoadLight *l = &rd->light;
  const float e = tm_road_max((rd->horizon - y) / rd->f, 0);
  const float t = tm_road_clamp(e * 1.5f, 0, 1);
  RoadColour c = tm_road_mix(l->horizon, l->zenith, t * (2 - t));
  const float far = 1 / (e + 0.09f), u = (x - rd->cx) / rd->f * far * 0.55f + du, v = far * 0.8f + dv;
  const float d = tm_road_cloud(u, v) * 0.68f + tm_road_cloud(u * 2.9f + 7, v * 2.9f) * 0.32f;
  const float edge = 0.80f - 0.58f * l->cover;
  const float a = tm_road_step(edge, edge + 0.20f, d) * tm_road_step(0.0f, 0.10f, e);
  const float lit = tm_road_clamp(0.5f + 3.2f * (d - tm_road_cloud(u + 0.16f * l->side, v - 0.12f)), 0, 1);
  const RoadColour shade = tm_road_mix(tm_road_scale(l->cloud, 0.76f), l->zenith, 0.18f);
  return tm_road_mix(c, tm_road_mix(shade, l->cloud, lit), a * 0.92f);
}

gboolean tm_road_sun_at(const Road *rd, float *x, float *y) {
  const RoadLight *l = &rd->light;
  if (l->ahead < 0.2f || l->sun < 0.2f) return FALSE;
  *x = rd->cx + rd->f * l->side / l->ahead;
  *y = rd->horizon - rd->f / (l->cot * l->ahead);
  return TRUE;
}

void tm_road_sky(Road *rd) {
  RoadCanvas *c = &rd->canvas;
  const float du = tm_road_draw(rd, 0, 60), dv = tm_road_draw(rd, 0, 60);
  float sx = 0, sy = 0;
  const gboolean sun = tm_road_sun_at(rd, &sx, &sy);
  const int rows = (int)tm_road_clamp(rd->horizon + 2, 1, (float)c->h);
  for (int j = 0; j < rows; j++)
    for (int i = 0; i < c->w; i++) {
      const float x = (float)i + 0.5f, y = (float)j + 0.5f;
      RoadColour k = sky_colour(rd, x, y, du, dv);
      if (sun) {
        const float dx = (x - sx) / rd->f, dy = (y - sy) / rd->f, d2 = dx * dx + dy * dy;
        const float glow = rd->light.sun * (0.22f / (1 + d2 * 14) + 0.9f / (1 + d2 * 500));
        k = (RoadColour){k.r + glow, k.g + glow * 0.93f, k.b + glow * 0.78f};
      }
      guint8 *p = c->rgbx + ((gsize)j * 2 * (gsize)c->w * 2 + (gsize)i * 2) * 4, *q = p + (gsize)c->w * 8;
      tm_road_put(p, k);
      tm_road_put(p + 4, k);
      tm_road_put(q, k);
      tm_road_put(q + 4, k);
    }
  memset(c->labels, ROAD_SKY, (gsize)c->w * (gsize)rows);
}
