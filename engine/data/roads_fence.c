#include "engine/data/roads_private.h"

/* A fence stands on the ground along the road. */
typedef struct {
  const Road *rd;
  RoadWall wall;
  int style;
  guint32 seed;
  RoadColour c;
  float height, facing, x;
} Fence;

/* Share of a repeated bar at @u: 1 on it, 0 between, its mean where bars are finer than pixels. */
static float bar(float u, float period, float width, float pixel) {
  const float blur = tm_road_step(0.35f, 0.8f, pixel / period), t = u - period * tm_road_floor(u / period);
  return tm_road_lerp(t < width ? 1 : 0, width / period, blur);
}

static float fence_cover(const Fence *f, float u, float v, float pixel, float *tone) {
  const float h = f->height;
  *tone = 1;
  switch (f->style) {
  case 0: /* railings: bars between two rails */
    if (tm_road_abs(v - h * 0.94f) < 0.03f || tm_road_abs(v - h * 0.16f) < 0.03f) return 1;
    if (v > h * 0.94f || v < h * 0.16f) return bar(u, 2, 0.08f, pixel);
    return tm_road_max(bar(u, 0.14f, 0.035f, pixel), bar(u, 2, 0.08f, pixel));
  case 1: /* boards */
    *tone = 0.86f + 0.2f * tm_road_rand(f->seed, (guint32)(int)tm_road_floor(u / 0.15f), 3) -
            0.3f * bar(u, 0.15f, 0.015f, pixel) - 0.2f * bar(u, 1.8f, 0.10f, pixel);
    return v < h - 0.08f * tm_road_rand(f->seed, (guint32)(int)tm_road_floor(u / 0.15f), 4) ? 1 : 0;
  case 2: { /* a low wall of brick */
    const float row = tm_road_floor(v / 0.11f), col = tm_road_floor(u / 0.32f + ((int)row & 1 ? 0.5f : 0));
    *tone = 0.85f + 0.3f * tm_road_clamp(1.5f - pixel * 12, 0, 1) *
                        (tm_road_rand(f->seed, (guint32)(int)row, (guint32)(int)col) - 0.3f);
    if (v > h - 0.1f) *tone = 1.25f;
    return 1;
  }
  case 3: /* posts and rails */
    if (tm_road_abs(v - h * 0.85f) < 0.06f || tm_road_abs(v - h * 0.45f) < 0.06f) return 1;
    return bar(u, 2.2f, 0.14f, pixel);
  case 4: /* guard rail */
    *tone = 1 + 0.25f * tm_road_sin((v - h * 0.6f) / (h * 0.4f));
    return v > h * 0.55f ? 1 : bar(u, 2.0f, 0.12f, pixel);
  default: /* pickets */
    if (tm_road_abs(v - h * 0.7f) < 0.04f || tm_road_abs(v - h * 0.25f) < 0.04f) return 1;
    return v < h - 0.1f * tm_road_abs(u * 5 - tm_road_floor(u * 5) - 0.3f) ? bar(u, 0.2f, 0.11f, pixel) : 0;
  }
}

static RoadInk shade_fence(const void *ctx, float x, float y) {
  const Fence *f = ctx;
  float u, v, z, tone;
  tm_road_on_wall(f->rd, &f->wall, x, y, &u, &v, &z);
  const float a = fence_cover(f, u, v, z / f->rd->f, &tone);
  if (a <= 0) return (RoadInk){0};
  tone *= 0.85f + 0.25f * tm_road_cloud(u * 0.8f + (float)(f->seed & 31), v);
  const RoadColour c =
      tm_road_lit(f->rd, tm_road_scale(f->c, tone), f->facing, tm_road_sunny(f->rd, f->x, v, z));
  return tm_road_ink(tm_road_fogged(f->rd, c, z), a);
}

/* A fence of bars counts as fence as a whole, as a person would outline it. */
static RoadInk shade_fence_outline(const void *ctx, float x, float y) {
  const Fence *f = ctx;
  float u, v, z, tone;
  tm_road_on_wall(f->rd, &f->wall, x, y, &u, &v, &z);
  const float a = fence_cover(f, u, v, z / f->rd->f, &tone);
  const gboolean fine = f->style == 0 && v > f->height * 0.1f;
  return (RoadInk){0, 0, 0, a > 0.3f || fine ? 1 : 0};
}

void tm_road_fence(Road *rd, const RoadThing *t) {
  static const RoadColour woods[] = {{0.45f, 0.33f, 0.21f}, {0.52f, 0.44f, 0.34f}, {0.36f, 0.27f, 0.20f}},
                          walls[] = {{0.47f, 0.28f, 0.22f}, {0.58f, 0.50f, 0.38f}, {0.50f, 0.47f, 0.42f}};
  Fence f = {.rd = rd, .style = t->style, .seed = t->seed, .height = t->height, .x = t->x};
  const guint32 pick = tm_road_hash(t->seed, 43, 1);
  f.c = t->style == 2                    ? walls[pick % 3]
        : t->style == 1 || t->style == 3 ? woods[pick % 3]
        : t->style == 5                  ? (RoadColour){0.80f, 0.79f, 0.75f}
                                         : tm_road_metal(t->seed);
  f.facing = tm_road_facing(rd, t->side == ROAD_LEFT ? 1 : -1, 0);
  RoadPoint p[4];
  if (!tm_road_wall(rd, t->x, t->z0, t->x, t->z1, t->height, 0, &f.wall, p)) return;
  const RoadPaint colour = {.shade = shade_fence, .ctx = &f, .label = -1};
  tm_road_fill(&rd->canvas, p, 4, &colour);
  /* Labels by the outline: the empty ink leaves the colours. */
  const RoadPaint outline = {.shade = shade_fence_outline, .ctx = &f, .label = ROAD_FENCE, .holes = TRUE};
  tm_road_label(&rd->canvas, p, 4, &outline);
}
