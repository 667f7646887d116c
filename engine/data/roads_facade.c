#include "engine/data/roads_facade.h"

static const RoadColour bricks[] = {{0.47f, 0.26f, 0.20f}, {0.40f, 0.28f, 0.21f}, {0.62f, 0.53f, 0.38f},
                                    {0.46f, 0.42f, 0.38f}, {0.55f, 0.35f, 0.25f}, {0.36f, 0.22f, 0.19f}};
static const RoadColour renders[] = {{0.83f, 0.82f, 0.78f}, {0.81f, 0.75f, 0.61f}, {0.76f, 0.59f, 0.53f},
                                     {0.56f, 0.64f, 0.69f}, {0.74f, 0.58f, 0.35f}, {0.62f, 0.66f, 0.58f}};
static const RoadColour stones[] = {{0.62f, 0.58f, 0.50f}, {0.54f, 0.51f, 0.47f}, {0.68f, 0.61f, 0.47f}};
static const RoadColour panels[] = {
    {0.56f, 0.55f, 0.53f}, {0.66f, 0.66f, 0.65f}, {0.44f, 0.46f, 0.49f}, {0.60f, 0.55f, 0.48f}};
static const RoadColour doors[] = {{0.45f, 0.08f, 0.09f}, {0.08f, 0.20f, 0.38f}, {0.08f, 0.27f, 0.18f},
                                   {0.09f, 0.09f, 0.10f}, {0.72f, 0.62f, 0.15f}, {0.75f, 0.75f, 0.74f}};
static const RoadColour shops[] = {{0.10f, 0.24f, 0.22f}, {0.42f, 0.09f, 0.10f}, {0.08f, 0.14f, 0.33f},
                                   {0.72f, 0.42f, 0.08f}, {0.10f, 0.10f, 0.11f}, {0.28f, 0.42f, 0.20f},
                                   {0.82f, 0.80f, 0.74f}, {0.45f, 0.12f, 0.34f}, {0.10f, 0.42f, 0.55f}};

#define PICK(list, seed, salt) ((list)[tm_road_hash(seed, salt, 3) % G_N_ELEMENTS(list)])

static float pick_range(guint32 seed, guint32 salt, float lo, float hi) {
  return lo + (hi - lo) * tm_road_rand(seed, salt, 1);
}

static RoadColour vary(RoadColour c, guint32 seed) {
  const float all = pick_range(seed, 90, 0.82f, 1.15f);
  return (RoadColour){c.r * all * pick_range(seed, 91, 0.94f, 1.06f), c.g * all,
                      c.b * all * pick_range(seed, 92, 0.92f, 1.08f)};
}

void tm_facade_design(Facade *f, const Road *rd, int style, guint32 seed, float height) {
  *f = (Facade){.rd = rd, .kind = (FacadeKind)style, .seed = seed, .height = height};
  switch (f->kind) {
  case FACADE_BRICK:
    f->base = PICK(bricks, seed, 1);
    break;
  case FACADE_RENDER:
    f->base = PICK(renders, seed, 1);
    break;
  case FACADE_STONE:
    f->base = PICK(stones, seed, 1);
    break;
  default:
    f->base = PICK(panels, seed, 1);
    break;
  }
  f->base = vary(f->base, seed);
  f->trim =
      tm_road_rand(seed, 2, 1) < 0.7f ? (RoadColour){0.82f, 0.81f, 0.77f} : tm_road_scale(f->base, 0.7f);
  f->frame = tm_road_rand(seed, 3, 1) < 0.75f ? (RoadColour){0.86f, 0.86f, 0.84f}
                                              : (RoadColour){0.16f, 0.15f, 0.15f};
  f->door = PICK(doors, seed, 4);
  f->shop = PICK(shops, seed, 5);
  f->glass = (RoadColour){0.13f, 0.15f, 0.17f};
  const gboolean modern = f->kind == FACADE_PANEL || f->kind == FACADE_GLASS;
  f->storey = pick_range(seed, 6, 2.7f, 3.4f);
  f->ground = f->storey * pick_range(seed, 7, 1.0f, 1.25f);
  f->bay = modern ? pick_range(seed, 8, 1.5f, 3.2f) : pick_range(seed, 8, 1.9f, 3.4f);
  f->window_w = f->bay * (modern ? pick_range(seed, 9, 0.6f, 0.9f) : pick_range(seed, 9, 0.32f, 0.52f));
  f->window_h = f->storey * (modern ? pick_range(seed, 10, 0.45f, 0.7f) : pick_range(seed, 10, 0.42f, 0.6f));
  f->sill = (f->storey - f->window_h) * pick_range(seed, 11, 0.45f, 0.65f);
  f->sash = modern ? 0 : tm_road_floor(pick_range(seed, 12, 0, 2.99f));
  f->lamps = rd->light.dusk * pick_range(seed, 13, 0.1f, 0.6f);
}

static RoadColour masonry(const Facade *f, float u, float v, float fine) {
  const float dirt = tm_road_cloud(u * 0.30f + (float)(f->seed & 63), v * 0.30f),
              streak = tm_road_cloud(u * 1.7f, v * 0.12f + (float)(f->seed >> 6 & 63));
  float tone = 0.87f + 0.16f * dirt + 0.10f * streak;
  if (f->kind == FACADE_BRICK || f->kind == FACADE_STONE) {
    const float bw = f->kind == FACADE_BRICK ? 0.32f : 0.8f, bh = f->kind == FACADE_BRICK ? 0.11f : 0.36f;
    const float row = tm_road_floor(v / bh), shift = (int)row & 1 ? 0.5f : 0,
                col = tm_road_floor(u / bw + shift);
    const float fu = u / bw + shift - col, fv = v / bh - row;
    tone += (f->kind == FACADE_BRICK ? 0.34f : 0.20f) * fine *
            (tm_road_rand(f->seed, (guint32)(int)row, (guint32)(int)col) - 0.5f);
    if (fu * bw < 0.018f || fv * bh < 0.018f) tone += (f->kind == FACADE_BRICK ? 0.22f : -0.20f) * fine;
  } else if (f->kind == FACADE_PANEL) {
    const float fu = u / f->bay, fv = v / f->storey;
    if ((fu - tm_road_floor(fu)) * f->bay < 0.04f || (fv - tm_road_floor(fv)) * f->storey < 0.04f)
      tone -= 0.20f * fine;
  }
  return tm_road_scale(f->base, tone);
}

/* Glass: the sky mirrored, more of it higher up; a dark room, curtains or a lamp behind. */
static RoadColour pane(const Facade *f, float fu, float fv, guint32 id) {
  const RoadLight *l = &f->rd->light;
  const float luck = tm_road_rand(f->seed, id, 21),
              mirror = 0.10f + 0.45f * tm_road_rand(f->seed, id, 22) * fv;
  RoadColour c = f->glass;
  if (luck < 0.35f && (fu < 0.24f || fu > 0.76f)) c = (RoadColour){0.58f, 0.55f, 0.50f};
  if (luck > 0.88f && fv > 0.5f) c = (RoadColour){0.66f, 0.64f, 0.58f}; /* a blind */
  c = tm_road_mix(tm_road_times(c, l->ambient), tm_road_mix(l->horizon, l->zenith, fv), mirror);
  if (tm_road_rand(f->seed, id, 23) < f->lamps)
    c = tm_road_mix(c, (RoadColour){1.0f, 0.80f, 0.46f}, 0.85f - 0.3f * tm_road_abs(fu - 0.5f));
  return c;
}

typedef struct {
  RoadColour c;
  gboolean shines; /* carries its light itself: glass */
} Bit;

static gboolean bars(const Facade *f, float du, float dv) {
  if (f->sash < 1) return FALSE;
  const float half_h = f->window_h / 2;
  if (tm_road_abs(dv) < 0.035f) return TRUE;
  if (f->sash < 2) return FALSE;
  return tm_road_abs(du) < 0.025f || tm_road_abs(tm_road_abs(dv) - half_h / 2) < 0.02f;
}

/* One bay of one floor: du from its middle, dv from the floor. */
static Bit bay_at(const Facade *f, float du, float dv, guint32 id, Bit wall) {
  const float half = f->window_w / 2, mid = f->sill + f->window_h / 2, a = tm_road_abs(du), b = dv - mid,
              hh = f->window_h / 2;
  if (a < half && tm_road_abs(b) < hh) {
    const float edge = tm_road_min(half - a, hh - tm_road_abs(b));
    if (edge < 0.07f || bars(f, du, b)) return (Bit){f->frame, FALSE};
    RoadColour c = pane(f, du / f->window_w + 0.5f, b / f->window_h + 0.5f, id);
    if (hh - b < 0.28f) c = tm_road_scale(c, 0.72f); /* the reveal's shadow */
    return (Bit){c, TRUE};
  }
  if (a < half + 0.12f && dv < f->sill && dv > f->sill - 0.12f) return (Bit){f->trim, FALSE};
  if (a < half + 0.12f && b > hh && b < hh + 0.20f) return (Bit){tm_road_mix(wall.c, f->trim, 0.6f), FALSE};
  if (a < half && dv < f->sill - 0.12f) wall.c = tm_road_scale(wall.c, 0.93f); /* rain runs off the sill */
  return wall;
}

static Bit shop_at(const Facade *f, float u, float v) {
  const float unit = f->bay * 2, n = tm_road_floor(u / unit), fu = u - n * unit;
  const guint32 id = (guint32)(int)n + 4000;
  const float fascia = f->ground - 0.75f;
  if (v > f->ground - 0.12f) return (Bit){f->trim, FALSE};
  if (v > fascia) {
    /* Letters: blocks of two sizes on the sign. */
    const float m = (v - fascia) / 0.63f, t = fu * 3.2f, cell = tm_road_floor(t);
    const gboolean ink = m > 0.28f && m < 0.74f && fu > 0.5f && fu < unit * 0.8f && t - cell < 0.72f &&
                         tm_road_rand(f->seed, id, (guint32)(int)cell) > 0.25f;
    return (Bit){
        ink ? tm_road_mix((RoadColour){0.93f, 0.90f, 0.80f}, f->shop, f->shop.g > 0.6f ? 0.9f : 0.05f)
            : f->shop,
        FALSE};
  }
  if (fu < 0.28f || fu > unit - 0.28f) return (Bit){tm_road_scale(f->shop, 0.85f), FALSE};
  if (v < 0.45f) return (Bit){tm_road_scale(f->shop, 0.6f), FALSE};
  const float door = unit * 0.68f;
  if (tm_road_abs(fu - door) < 0.06f || tm_road_abs(fu - door - 0.95f) < 0.06f ||
      tm_road_abs(v - 2.15f) < 0.05f)
    return (Bit){tm_road_scale(f->shop, 0.9f), FALSE};
  RoadColour c = pane(f, fu / unit, v / fascia, id);
  /* Goods in the window. */
  const float gu = tm_road_floor(fu * 3), gv = tm_road_floor(v * 2.4f);
  const guint32 g = tm_road_hash(f->seed + id, (guint32)(int)gu, (guint32)(int)gv);
  if (v < 1.9f && (g & 3) == 0)
    c = tm_road_mix(c,
                    (RoadColour){0.2f + (float)(g >> 8 & 255) / 600, 0.2f + (float)(g >> 16 & 255) / 600,
                                 0.2f + (float)(g >> 24) / 600},
                    0.35f);
  if (f->rd->light.dusk > 0.5f) c = tm_road_mix(c, (RoadColour){1, 0.88f, 0.62f}, 0.55f);
  return (Bit){c, TRUE};
}

static Bit ground_floor(const Facade *f, float u, float v, Bit wall) {
  if (f->shopfront) return shop_at(f, u, v);
  const float n = tm_road_floor(u / f->bay), du = u - (n + 0.5f) * f->bay;
  const gboolean door = tm_road_hash(f->seed, (guint32)(int)n, 31) % 3 == 0;
  if (!door) return bay_at(f, du, v - (f->ground - f->storey), (guint32)(int)n + 2000, wall);
  const float a = tm_road_abs(du);
  if (a < 0.5f && v < 2.05f) {
    const gboolean panel = a > 0.12f && a < 0.36f && ((v > 0.3f && v < 0.9f) || (v > 1.1f && v < 1.8f));
    return (Bit){tm_road_scale(f->door, panel ? 0.8f : 1.0f), FALSE};
  }
  if (a < 0.5f && v < 2.4f) return (Bit){pane(f, 0.5f, 0.5f, 77), TRUE};
  if (a < 0.66f && v < 2.55f) return (Bit){f->trim, FALSE};
  return wall;
}

static Bit curtain_wall(const Facade *f, float u, float v) {
  const float n = tm_road_floor(u / f->bay), m = tm_road_floor(v / f->storey), fu = u - n * f->bay,
              fv = v - m * f->storey;
  if (fu < 0.08f || fv < 0.08f) return (Bit){{0.35f, 0.37f, 0.40f}, FALSE};
  if (fv < 0.8f) return (Bit){f->base, FALSE};
  const RoadLight *l = &f->rd->light;
  const guint32 id = tm_road_hash((guint32)(int)n, (guint32)(int)m, f->seed);
  const float wave = tm_road_cloud(u * 0.2f + (float)(id & 7), v * 0.25f);
  RoadColour c = tm_road_mix(tm_road_times((RoadColour){0.16f, 0.22f, 0.26f}, l->ambient),
                             tm_road_mix(l->horizon, l->zenith, wave), 0.35f + 0.3f * wave);
  if (tm_road_rand(f->seed, id, 23) < f->lamps) c = tm_road_mix(c, (RoadColour){1, 0.92f, 0.72f}, 0.6f);
  return (Bit){c, TRUE};
}

static Bit facade_at(const Facade *f, float u, float v, float fine) {
  Bit wall = {masonry(f, u, v, fine), FALSE};
  if (f->blind) {
    const float n = tm_road_floor(u / 3.1f);
    if (tm_road_hash(f->seed, (guint32)(int)n, 5) % 4 || v < f->ground) return wall;
    const float m = tm_road_floor((v - f->ground) / f->storey);
    return v > f->height - 0.6f ? wall
                                : bay_at(f, u - (n + 0.5f) * 3.1f, v - f->ground - m * f->storey,
                                         3000 + (guint32)(int)m, wall);
  }
  if (v > f->height - 0.35f)
    return (Bit){v > f->height - 0.12f ? tm_road_scale(f->trim, 0.8f) : f->trim, FALSE};
  if (v > f->height - 0.6f) wall.c = tm_road_scale(wall.c, 0.78f); /* under the eaves */
  if (v < f->ground) {
    Bit b = f->kind == FACADE_GLASS && !f->shopfront ? curtain_wall(f, u, v) : ground_floor(f, u, v, wall);
    if (v < 0.35f && !b.shines) b.c = tm_road_scale(b.c, 0.62f + v);
    return b;
  }
  if (f->kind == FACADE_GLASS) return curtain_wall(f, u, v);
  const float m = tm_road_floor((v - f->ground) / f->storey), n = tm_road_floor(u / f->bay),
              dv = v - f->ground - m * f->storey;
  if (v - dv + f->sill + f->window_h > f->height - 0.45f)
    return wall; /* no room for a window under the eaves */
  return bay_at(f, u - (n + 0.5f) * f->bay, dv, (guint32)(int)(n * 37 + m), wall);
}

RoadInk tm_facade_shade(const void *ctx, float x, float y) {
  const Facade *f = ctx;
  const Road *rd = f->rd;
  float u, v, z;
  tm_road_on_wall(rd, &f->wall, x, y, &u, &v, &z);
  const float pixel = z / rd->f, fine = tm_road_clamp(1.5f - pixel * 12, 0, 1);
  const Bit b = facade_at(f, u, v, fine);
  RoadColour c = b.c;
  if (!b.shines) {
    const float lit = f->facing > 0.02f && rd->light.sun > 0.05f ? tm_road_sunny(rd, f->shade_x, v, z) : 0;
    /* Less of the sky reaches the foot of a wall. */
    c = tm_road_scale(tm_road_lit(rd, c, f->facing, lit), 0.80f + 0.20f * tm_road_clamp(v / 6, 0, 1));
  }
  return tm_road_ink(tm_road_fogged(rd, c, z), 1);
}
