#include "engine/data/roads_private.h"

#include <string.h>

/* All there is to know about one line of the picture before its pixels. */
typedef struct {
  float z, bend, metre_per_pixel, along; /* along: metres of Z that a pixel covers */
  float fine;                            /* 1 near, 0 where details are smaller than a pixel */
  float facing, clear;                   /* clear: share that the haze lets through */
  const RoadShadow *shadow[ROAD_SHADOWS];
  int n_shadows;
  gboolean crossing_road;
} Row;

/* The strips of the ground from the middle outwards. */
typedef enum { STRIP_ROAD, STRIP_GUTTER, STRIP_KERB, STRIP_VERGE, STRIP_PAVEMENT, STRIP_PLOT } Strip;

/* How much of a pixel a line of half width @half covers when its middle is @d away. */
static float cover(float d, float half, float pixel) {
  return tm_road_clamp((half - tm_road_abs(d)) / tm_road_max(pixel, 0.004f) + 0.5f, 0, 1) *
         tm_road_min(1, 2 * half / tm_road_max(pixel, 1e-3f));
}

static Row row_at(const Road *rd, float y) {
  Row r = {0};
  r.z = tm_road_min(rd->f * rd->height / tm_road_max(y - rd->horizon, 0.05f), 600);
  r.bend = tm_road_bend(rd, r.z);
  r.metre_per_pixel = r.z / rd->f;
  r.along = r.z * r.z / (rd->f * rd->height);
  r.fine = tm_road_clamp(1.6f - r.metre_per_pixel * 14, 0, 1);
  r.facing = 1 / __builtin_sqrtf(1 + rd->light.cot * rd->light.cot);
  r.clear = tm_road_fade(r.z * rd->light.haze);
  r.crossing_road = r.z > rd->junction[0] && r.z < rd->junction[1];
  for (int i = 0; i < rd->surface.n_shadows; i++) {
    const RoadShadow *s = rd->surface.shadow + i;
    if (tm_road_abs(s->z - r.z) < s->rz * 1.3f) r.shadow[r.n_shadows++] = s;
  }
  return r;
}

static float mark_along(RoadLine kind, float z, float along) {
  if (kind == ROAD_LINE_SOLID || kind == ROAD_LINE_DOUBLE) return 1;
  const float period = kind == ROAD_LINE_LONG ? 9 : 6, dash = kind == ROAD_LINE_LONG ? 6 : 2;
  if (along > period) return dash / period;
  const float t = z - period * tm_road_floor(z / period);
  return cover(t - dash / 2, dash / 2, along);
}

static float line_at(RoadLine kind, float d, const Row *r) {
  if (kind == ROAD_LINE_NONE) return 0;
  const float px = r->metre_per_pixel;
  const float a = kind == ROAD_LINE_DOUBLE
                      ? tm_road_max(cover(d - 0.13f, 0.05f, px), cover(d + 0.13f, 0.05f, px))
                      : cover(d, 0.06f, px);
  return a > 0 ? a * mark_along(kind, r->z, r->along) : 0;
}

/* An arrow painted in the lane, 4 m long. */
static float arrow_at(float dx, float dz, float px) {
  if (dz < 0 || dz > 4) return 0;
  const float half = dz < 2.4f ? 0.08f : (4 - dz) * 0.24f;
  return cover(dx, half, px);
}

/* How much of the place is white paint, and how much yellow. */
static void paint_at(const Road *rd, const Row *r, float x, float *white, float *yellow) {
  const RoadSurface *s = &rd->surface;
  const float px = r->metre_per_pixel, lane = rd->half / s->lanes, ax = tm_road_abs(x);
  float a = line_at(s->centre, x, r);
  for (float l = lane; l < rd->half - 0.5f; l += lane)
    a = tm_road_max(a, line_at(ROAD_LINE_DASHED, ax - l, r));
  const float edge = line_at(s->edge[x < 0 ? ROAD_LEFT : ROAD_RIGHT], ax - rd->half + 0.35f, r);
  *yellow = s->yellow ? edge : 0;
  if (!s->yellow) a = tm_road_max(a, edge);
  if (s->cycle_lane > 0)
    a = tm_road_max(
        a, line_at(ROAD_LINE_DASHED, (rd->left_hand ? x + rd->half : rd->half - x) - s->cycle_lane, r));
  if (s->arrow > 0)
    a = tm_road_max(a, arrow_at(x - (rd->left_hand ? -lane / 2 : lane / 2), r->z - s->arrow, px));
  const float zebra = r->z - rd->crossing;
  if (rd->crossing > 0 && zebra > 0 && zebra < 3 && ax < rd->half - 0.2f) {
    const float t = x - 1.2f * tm_road_floor(x / 1.2f);
    a = tm_road_max(a, cover(t - 0.6f, 0.3f, px));
  }
  /* Stop lines before a crossing road and a zebra. */
  const float stop = rd->junction[1] > 0 ? rd->junction[0] : rd->crossing;
  if (stop > 0 && (rd->left_hand ? x < 0 : x > 0) && ax < rd->half - 0.2f)
    a = tm_road_max(a, cover(r->z - stop + 1.2f, 0.15f, r->along));
  *white = a;
}

static RoadColour tarmac_at(const Road *rd, const Row *r, float x) {
  const RoadSurface *s = &rd->surface;
  const float big = tm_road_cloud(x * 0.35f, r->z * 0.05f) - 0.5f,
              mid = tm_road_cloud(x * 1.9f + 9, r->z * 0.5f) - 0.5f;
  float tone = 1 + 0.30f * big + 0.22f * mid * (0.4f + 0.6f * r->fine);
  if (r->fine > 0) {
    const guint32 ix = (guint32)(int)tm_road_floor(x * 34), iz = (guint32)(int)tm_road_floor(r->z * 24);
    tone += s->grain * r->fine * (tm_road_rand(rd->seed, ix, iz) - 0.5f);
    const float crack = tm_road_abs(tm_road_cloud(x * 0.8f + 31, r->z * 0.5f) - 0.5f);
    if (crack < 0.006f && big > 0.02f) tone -= 0.30f * r->fine * s->worn;
  }
  /* Where the tyres run it is polished and darker, between them lies dust and oil. */
  const float lane = rd->half / s->lanes, t = x - lane * tm_road_floor(x / lane) - lane / 2;
  tone -= 0.07f * (1 - tm_road_step(0.1f, 0.5f, tm_road_abs(tm_road_abs(t) - 0.75f)));
  for (int i = 0; i < s->n_patches; i++) {
    const RoadPatch *p = s->patch + i;
    const float dx = (x - p->x) / p->w, dz = (r->z - p->z) / p->l;
    if (p->round ? dx * dx + dz * dz < 1 : tm_road_abs(dx) < 1 && tm_road_abs(dz) < 1) tone *= p->tone;
  }
  RoadColour c = s->tarmac;
  if (s->cycle_lane > 0 && (rd->left_hand ? x + rd->half : rd->half - x) < s->cycle_lane) c = s->cycle;
  return tm_road_scale(c, tone);
}

static RoadColour carriageway(const Road *rd, const Row *r, float x) {
  RoadColour c = tarmac_at(rd, r, x);
  if (r->crossing_road) return c;
  float white, yellow;
  paint_at(rd, r, x, &white, &yellow);
  if (white <= 0 && yellow <= 0) return c;
  const float worn = 1 - rd->surface.worn * tm_road_step(0.42f, 0.62f, tm_road_cloud(x * 3 + 5, r->z * 1.3f));
  c = tm_road_mix(c, (RoadColour){0.70f, 0.56f, 0.17f}, yellow * worn);
  return tm_road_mix(c, (RoadColour){0.84f, 0.84f, 0.81f}, white * worn);
}

static RoadColour grass(const Road *rd, const Row *r, float x) {
  const float big = tm_road_cloud(x * 0.4f + 3, r->z * 0.15f), fine = tm_road_cloud(x * 4, r->z * 2.2f);
  RoadColour c =
      tm_road_scale(rd->surface.grass, 0.62f + 0.5f * big + 0.45f * fine * (0.35f + 0.65f * r->fine));
  return tm_road_mix(c, (RoadColour){0.42f, 0.35f, 0.24f}, tm_road_step(0.58f, 0.75f, big) * 0.6f);
}

static RoadColour slabs(const Road *rd, const Row *r, float x) {
  const RoadSurface *s = &rd->surface;
  float tone = 0.9f + 0.24f * tm_road_cloud(x * 0.7f + 17, r->z * 0.3f);
  if (s->slab_size > 0) {
    const float u = x / s->slab_size, v = r->z / s->slab_size, iu = tm_road_floor(u), iv = tm_road_floor(v);
    const float k = r->fine * tm_road_clamp(1.5f - r->along / s->slab_size, 0, 1);
    tone += 0.14f * k * (tm_road_rand(rd->seed + 5, (guint32)(int)iu, (guint32)(int)iv) - 0.5f);
    const float joint = tm_road_max(cover((u - iu) * s->slab_size, 0.012f, r->metre_per_pixel),
                                    cover((v - iv) * s->slab_size, 0.012f, r->along));
    tone -= 0.30f * joint * r->fine;
  } else if (r->fine > 0)
    tone +=
        0.12f * r->fine *
        (tm_road_rand(rd->seed, (guint32)(int)tm_road_floor(x * 30), (guint32)(int)tm_road_floor(r->z * 20)) -
         0.5f);
  return tm_road_scale(s->slab, tone);
}

static Strip strip_at(const Road *rd, const Row *r, float x) {
  const float d = tm_road_abs(x) - rd->half;
  const int side = x < 0 ? ROAD_LEFT : ROAD_RIGHT;
  if (d < 0 || r->crossing_road) return STRIP_ROAD;
  if (d < 0.20f) return d < 0.06f ? STRIP_GUTTER : STRIP_KERB;
  return d < rd->verge[side]                    ? STRIP_VERGE
         : d < rd->verge[side] + rd->pave[side] ? STRIP_PAVEMENT
                                                : STRIP_PLOT;
}

static int label_of(const Road *rd, Strip strip) {
  if (strip == STRIP_ROAD) return ROAD_ROAD;
  const gboolean paved_plot = rd->kind == ROAD_CITY || rd->kind == ROAD_YARD;
  return strip == STRIP_VERGE || (strip == STRIP_PLOT && !paved_plot) ? ROAD_TREE : ROAD_PAVEMENT;
}

static RoadColour material_at(const Road *rd, const Row *r, float x, Strip strip) {
  switch (strip) {
  case STRIP_ROAD:
    return carriageway(rd, r, x);
  case STRIP_GUTTER:
    return tm_road_scale(rd->surface.kerb, 0.62f);
  case STRIP_KERB:
    return tm_road_scale(rd->surface.kerb, r->z - tm_road_floor(r->z) < 0.04f ? 0.8f : 1.0f);
  case STRIP_VERGE:
    return grass(rd, r, x);
  case STRIP_PAVEMENT:
    return slabs(rd, r, x);
  default:
    if (rd->kind == ROAD_CITY) return tm_road_scale(slabs(rd, r, x), 0.93f);
    return rd->kind == ROAD_YARD ? tm_road_scale(tarmac_at(rd, r, x), 1.08f) : grass(rd, r, x);
  }
}

static float dappled(const Row *r, float x) {
  float lit = 1;
  for (int i = 0; i < r->n_shadows; i++) {
    const RoadShadow *s = r->shadow[i];
    const float dx = (x - s->x) / s->rx, dz = (r->z - s->z) / s->rz, in = 1 - dx * dx - dz * dz;
    if (in < -0.4f) continue;
    const float n = tm_road_cloud(x * 1.1f + s->z, r->z * 0.55f) - 0.5f;
    lit = tm_road_min(lit, 1 - tm_road_step(0, 0.22f, in + 2.2f * n));
  }
  return lit;
}

static RoadColour wetted(const Road *rd, const Row *r, float x, RoadColour c) {
  const float pool = tm_road_step(0.50f, 0.62f, tm_road_cloud(x * 0.28f + 50, r->z * 0.07f));
  const float grazing = tm_road_clamp(r->z * 0.03f, 0, 0.55f);
  return tm_road_mix(tm_road_scale(c, 0.72f), rd->light.horizon, (0.10f + 0.35f * pool) * (0.35f + grazing));
}

static RoadColour ground_colour(const Road *rd, const Row *r, float x) {
  const Strip strip = strip_at(rd, r, x);
  float lit = 1;
  if (rd->light.sun > 0.05f) {
    lit = tm_road_sunny(rd, x, 0, r->z);
    if (lit > 0 && r->n_shadows) lit = tm_road_min(lit, dappled(r, x));
  }
  RoadColour c = tm_road_lit(rd, material_at(rd, r, x, strip), r->facing, lit);
  if (rd->light.wet > 0 && label_of(rd, strip) != ROAD_TREE) c = wetted(rd, r, x, c);
  return tm_road_mix(rd->light.fog, c, r->clear);
}

static inline float across(const Road *rd, const Row *r, float x) {
  return (x - rd->cx) * r->metre_per_pixel + rd->x - r->bend;
}

static void put_four(const Road *rd, const Row *upper, const Row *lower, float x, guint8 *p, guint8 *q) {
  for (int k = 0; k < 2; k++) {
    const float at = x + 0.25f + 0.5f * (float)k;
    tm_road_put(p + 4 * k, ground_colour(rd, upper, across(rd, upper, at)));
    tm_road_put(q + 4 * k, ground_colour(rd, lower, across(rd, lower, at)));
  }
}

/* Only where strips meet are four colours a pixel worth their time; lines of paint soften their own edges. */
static void ground_row(Road *rd, int j) {
  RoadCanvas *c = &rd->canvas;
  const Row upper = row_at(rd, (float)j + 0.25f), lower = row_at(rd, (float)j + 0.75f),
            middle = row_at(rd, (float)j + 0.5f);
  guint8 *p = c->rgbx + (gsize)j * (gsize)c->w * 16, *q = p + (gsize)c->w * 8,
         *label = c->labels + (gsize)j * (gsize)c->w;
  const gboolean turns = upper.crossing_road != lower.crossing_road;
  Strip left = strip_at(rd, &upper, across(rd, &upper, 0)),
        left_low = strip_at(rd, &lower, across(rd, &lower, 0));
  for (int i = 0; i < c->w; i++, p += 8, q += 8) {
    const float x = (float)i, mid = across(rd, &middle, x + 0.5f);
    const Strip right = strip_at(rd, &upper, across(rd, &upper, x + 1)),
                right_low = strip_at(rd, &lower, across(rd, &lower, x + 1));
    label[i] = (guint8)label_of(rd, strip_at(rd, &middle, mid));
    if (turns || left != right || left_low != right_low || left != left_low)
      put_four(rd, &upper, &lower, x, p, q);
    else {
      tm_road_put(p, ground_colour(rd, &middle, mid));
      memcpy(p + 4, p, 4);
      memcpy(q, p, 8);
    }
    left = right;
    left_low = right_low;
  }
}

void tm_road_ground(Road *rd) {
  for (int j = (int)tm_road_clamp(rd->horizon, 0, (float)rd->canvas.h); j < rd->canvas.h; j++)
    ground_row(rd, j);
}
