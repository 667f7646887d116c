#include "engine/data/roads_facade.h"

static RoadColour plain(const Road *rd, RoadColour c, float nx, float nz, float z) {
  return tm_road_fogged(rd, tm_road_lit(rd, c, tm_road_facing(rd, nx, nz), 1), z);
}

static float out_from(int side) {
  return side == ROAD_LEFT ? -1 : 1;
}

static RoadColour slate(guint32 seed) {
  static const RoadColour tiles[] = {{0.30f, 0.31f, 0.34f},
                                     {0.44f, 0.24f, 0.18f},
                                     {0.36f, 0.30f, 0.27f},
                                     {0.25f, 0.26f, 0.28f},
                                     {0.50f, 0.33f, 0.24f}};
  return tiles[tm_road_hash(seed, 50, 1) % G_N_ELEMENTS(tiles)];
}

/* A roof's slope as a texture of courses; its colour follows the screen, which suits a thing seen from below
 * and far. */
typedef struct {
  const Road *rd;
  RoadColour c;
  float z0, z1, x0, x1, rise, eaves;
} Slope;

static RoadInk shade_slope(const void *ctx, float x, float y) {
  const Slope *s = ctx;
  const float t = tm_road_clamp((x - s->x0) / (s->x1 - s->x0 + (s->x1 >= s->x0 ? 1e-3f : -1e-3f)), 0, 1);
  const float z = s->z0 * s->z1 / (s->z1 + (s->z0 - s->z1) * t); /* 1/z runs straight across the screen */
  const float v = s->rd->height - (y - s->rd->horizon) * z / s->rd->f, course = v * 4;
  float tone = 0.86f + 0.3f * tm_road_cloud(z * 0.4f, v * 0.5f);
  if (course - tm_road_floor(course) < 0.3f && z < 40) tone -= 0.12f;
  return tm_road_ink(tm_road_fogged(s->rd, tm_road_scale(s->c, tone), z), 1);
}

static void chimney(Road *rd, float x, float z, float base, guint32 seed) {
  const float top = base + 0.9f + tm_road_rand(seed, 60, 1);
  const RoadPoint a = tm_road_project(rd, x - 0.45f, base - 1, z), b = tm_road_project(rd, x + 0.45f, top, z);
  const RoadColour c = plain(rd, (RoadColour){0.46f, 0.29f, 0.23f}, 0, -1, z);
  tm_road_box(&rd->canvas, a.x, b.y, b.x, a.y, ROAD_BUILDING, c, tm_road_scale(c, 0.85f));
  const float pot = (b.x - a.x) * 0.16f;
  for (int i = 0; i < 2; i++) {
    const float px = a.x + (b.x - a.x) * (0.28f + 0.44f * (float)i);
    tm_road_box(&rd->canvas, px - pot, b.y - pot * 2.4f, px + pot, b.y, ROAD_BUILDING,
                tm_road_scale(c, 0.95f), tm_road_scale(c, 0.8f));
  }
}

/* The slope towards the street, the ridge and the triangle under its near end. */
static void roof(Road *rd, const RoadThing *t, const Facade *f, float out) {
  const float rise = t->depth * (0.30f + 0.25f * tm_road_rand(t->seed, 51, 1)),
              ridge = t->x + out * t->depth * 0.5f;
  const float z0 = tm_road_max(t->z0, 1.2f), z1 = tm_road_max(t->z1, z0 + 0.1f);
  for (int i = 0; i < 2; i++)
    if (tm_road_rand(t->seed, 52, (guint32)i) < 0.6f)
      chimney(rd, ridge, i ? z0 + 0.8f : z1 - 0.8f, t->height + rise, t->seed + (guint32)i);
  const RoadPoint p[4] = {tm_road_project(rd, t->x - out * 0.25f, t->height - 0.05f, z0),
                          tm_road_project(rd, ridge, t->height + rise, z0),
                          tm_road_project(rd, ridge, t->height + rise, z1),
                          tm_road_project(rd, t->x - out * 0.25f, t->height - 0.05f, z1)};
  const RoadColour c =
      tm_road_lit(rd, slate(t->seed), tm_road_max(tm_road_facing(rd, -out * 0.7f, 0), 0.35f), 1);
  const Slope s = {rd, c, z0, z1, p[0].x, p[3].x, rise, t->height};
  const RoadPaint paint = {.shade = shade_slope, .ctx = &s, .label = ROAD_BUILDING};
  const RoadPoint gable[3] = {tm_road_project(rd, t->x, t->height, z0),
                              tm_road_project(rd, ridge, t->height + rise, z0),
                              tm_road_project(rd, t->x + out * t->depth, t->height, z0)};
  const RoadColour g = plain(rd, f->base, 0, -1, z0);
  tm_road_flat(&rd->canvas, gable, 3, ROAD_BUILDING, tm_road_scale(g, 0.9f), g, 1);
  tm_road_fill(&rd->canvas, p, 4, &paint);
}

static void wall(Road *rd, Facade *f, float x0, float z0, float x1, float z1, float top) {
  RoadPoint p[4];
  if (!tm_road_wall(rd, x0, z0, x1, z1, top, 0, &f->wall, p)) return;
  const RoadPaint paint = {.shade = tm_facade_shade, .ctx = f, .label = ROAD_BUILDING};
  tm_road_fill(&rd->canvas, p, 4, &paint);
}

static void awning(Road *rd, const RoadThing *t, const Facade *f, float out) {
  const float reach = 1.3f, high = f->ground - 0.8f, low = high - 0.55f, z0 = tm_road_max(t->z0 + 0.5f, 1.5f),
              z1 = tm_road_min(t->z1 - 0.5f, z0 + 5);
  if (z1 - z0 < 1) return;
  const RoadColour c = plain(rd, f->shop, -out, 0, z0),
                   white = plain(rd, (RoadColour){0.85f, 0.83f, 0.78f}, -out, 0, z0);
  const int stripes = 8;
  for (int i = 0; i < stripes; i++) {
    const float a = z1 + (z0 - z1) * (float)i / (float)stripes,
                b = z1 + (z0 - z1) * (float)(i + 1) / (float)stripes;
    const RoadPoint p[4] = {tm_road_project(rd, t->x, high, a), tm_road_project(rd, t->x, high, b),
                            tm_road_project(rd, t->x - out * reach, low, b),
                            tm_road_project(rd, t->x - out * reach, low, a)};
    const RoadColour k = i & 1 ? white : c;
    tm_road_flat(&rd->canvas, p, 4, ROAD_BUILDING, k, tm_road_scale(k, 0.9f), 1);
  }
}

static void across(Road *rd, const RoadThing *t) {
  Facade f;
  tm_facade_design(&f, rd, t->style, t->seed, t->height);
  f.facing = tm_road_facing(rd, 0, -1);
  f.shopfront = rd->kind == ROAD_CITY && tm_road_rand(t->seed, 14, 1) < 0.6f;
  f.shade_x = 0;
  if (t->style != FACADE_PANEL && t->style != FACADE_GLASS) {
    const RoadPoint p[4] = {tm_road_project(rd, t->x, t->height, t->z0),
                            tm_road_project(rd, t->x + 1, t->height + 2.6f, t->z0 + 3),
                            tm_road_project(rd, t->x + t->width - 1, t->height + 2.6f, t->z0 + 3),
                            tm_road_project(rd, t->x + t->width, t->height, t->z0)};
    const RoadColour c = plain(rd, slate(t->seed), 0, -0.7f, t->z0);
    tm_road_flat(&rd->canvas, p, 4, ROAD_BUILDING, tm_road_scale(c, 1.08f), c, 1);
  }
  wall(rd, &f, t->x, t->z0, t->x + t->width, t->z0, t->height);
}

void tm_road_building(Road *rd, const RoadThing *t) {
  if (t->width > 0) {
    across(rd, t);
    return;
  }
  const float out = out_from(t->side);
  Facade f;
  tm_facade_design(&f, rd, t->style, t->seed, t->height);
  f.shopfront = rd->kind == ROAD_CITY && tm_road_rand(t->seed, 14, 1) < 0.62f;
  f.facing = tm_road_facing(rd, -out, 0);
  f.shade_x = t->x;
  if (t->style == FACADE_BRICK || t->style == FACADE_RENDER || (t->style == FACADE_STONE && t->height < 12))
    roof(rd, t, &f, out);
  /* The near end, then the front. */
  if (t->z0 > 1.5f) {
    Facade end = f;
    end.blind = TRUE;
    end.facing = tm_road_facing(rd, 0, -1);
    wall(rd, &end, t->x, t->z0, t->x + out * t->depth, t->z0, t->height);
  }
  wall(rd, &f, t->x, t->z0, t->x, t->z1, t->height);
  if (f.shopfront && tm_road_rand(t->seed, 15, 1) < 0.3f) awning(rd, t, &f, out);
}

/* What closes the view far away: woods and roofs in the haze. */
typedef struct {
  const Road *rd;
  float z;
  guint32 seed;
} Far;

static gboolean far_is_wood(const Far *f, float x) {
  return tm_road_cloud(x * 0.013f + (float)(f->seed & 63), 3.3f) > (f->rd->kind == ROAD_CITY ? 0.58f : 0.44f);
}

static float far_height(const Far *f, float x) {
  if (far_is_wood(f, x)) return 5 + 9 * tm_road_cloud(x * 0.05f, 9) + 3 * tm_road_cloud(x * 0.6f, 1);
  const float lot = tm_road_floor(x / 11);
  return 5 + 10 * tm_road_rand(f->seed, (guint32)(int)lot, 8);
}

static RoadColour far_colour(const Far *f, float x, float v) {
  if (far_is_wood(f, x))
    return tm_road_scale((RoadColour){0.22f, 0.27f, 0.17f}, 0.6f + 0.8f * tm_road_cloud(x * 0.5f, v * 0.5f));
  const guint32 lot = (guint32)(int)tm_road_floor(x / 11);
  const RoadColour c = tm_road_mix((RoadColour){0.50f, 0.40f, 0.33f}, (RoadColour){0.66f, 0.65f, 0.62f},
                                   tm_road_rand(f->seed, lot, 2));
  const float fu = x * 0.4f - tm_road_floor(x * 0.4f), fv = v * 0.33f - tm_road_floor(v * 0.33f);
  return fu > 0.35f && fu < 0.7f && fv > 0.3f && fv < 0.75f ? tm_road_scale(c, 0.55f) : c;
}

void tm_road_backdrop(Road *rd) {
  RoadCanvas *c = &rd->canvas;
  const Far f = {rd, 190, rd->seed + 9};
  const float metre = f.z / rd->f;
  const int w = c->w * 2;
  for (int i = 0; i < w; i++) {
    const float x = (((float)i + 0.5f) * 0.5f - rd->cx) * metre, high = far_height(&f, x);
    const int top = (int)tm_road_clamp((rd->horizon - (high - rd->height) / metre) * 2, 0, (float)(c->h * 2));
    const int end = (int)tm_road_clamp((rd->horizon + rd->height / metre) * 2 + 2, 0, (float)(c->h * 2));
    for (int j = top; j < end; j++) {
      const float v = rd->height + (rd->horizon - ((float)j + 0.5f) * 0.5f) * metre;
      const RoadColour k = tm_road_lit(rd, far_colour(&f, x, v), 0.5f, 1);
      tm_road_put(c->rgbx + ((gsize)j * (gsize)w + (gsize)i) * 4, tm_road_fogged(rd, k, f.z));
    }
  }
  for (int i = 0; i < c->w; i++) {
    const float x = ((float)i + 0.5f - rd->cx) * metre, high = far_height(&f, x);
    for (int j = 0; j < c->h; j++) {
      const float v = rd->height + (rd->horizon - ((float)j + 0.5f)) * metre;
      if (v < high && v > 0) c->labels[j * c->w + i] = far_is_wood(&f, x) ? ROAD_TREE : ROAD_BUILDING;
    }
  }
}
