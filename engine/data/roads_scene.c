#include "engine/data/roads_private.h"

enum { FAR_END = 150 };

void tm_road_add(RoadThings *t, RoadThing thing) {
  if (t->n == t->room) {
    t->room = t->room ? t->room * 2 : 64;
    t->v = g_renew(RoadThing, t->v, t->room);
  }
  thing.serial = t->n;
  t->v[t->n++] = thing;
}

static float sign_of(int side) {
  return side == ROAD_LEFT ? -1 : 1;
}
static int pick(Road *rd, int n) {
  return (int)tm_random_int(&rd->r, (guint)n);
}
static guint32 new_seed(Road *rd) {
  return (guint32)(tm_random_next(&rd->r) >> 32);
}
static gboolean in_junction(const Road *rd, float z0, float z1) {
  return z1 > rd->junction[0] - 2 && z0 < rd->junction[1] + 2;
}

static void plan_camera(Road *rd) {
  const float w = (float)rd->canvas.w, h = (float)rd->canvas.h;
  rd->f = tm_road_max(w, h * 1.1f) * tm_road_draw(rd, 0.78f, 1.15f);
  rd->horizon = h * tm_road_draw(rd, 0.36f, 0.54f);
  rd->height = tm_road_draw(rd, 1.15f, 1.75f);
  if (tm_road_chance(rd, 0.12f)) rd->height = tm_road_draw(rd, 1.9f, 2.7f);
  rd->cx = w * (0.5f + tm_road_draw(rd, -0.10f, 0.10f));
  rd->heading = tm_road_draw(rd, -0.05f, 0.05f);
  rd->curve =
      tm_road_chance(rd, 0.5f) ? tm_road_draw(rd, -0.0016f, 0.0016f) : tm_road_draw(rd, -0.0002f, 0.0002f);
  const float lane = rd->half * tm_road_draw(rd, 0.30f, 0.55f);
  rd->x = rd->left_hand ? -lane : lane;
  if (tm_road_chance(rd, 0.08f)) rd->x = (rd->half + 1) * (rd->left_hand ? -1 : 1); /* from the kerb */
}

static void plan_road(Road *rd) {
  static const float shares[ROAD_N_KINDS] = {0.42f, 0.30f, 0.16f, 0.12f};
  float u = tm_random_float(&rd->r);
  rd->kind = ROAD_CITY;
  for (int k = 0; k < ROAD_N_KINDS; k++) {
    if (u < shares[k]) {
      rd->kind = (RoadKind)k;
      break;
    }
    u -= shares[k];
  }
  rd->left_hand = tm_road_chance(rd, 0.6f);
  rd->half = tm_road_draw(rd, 2.9f, 5.6f);
  for (int s = 0; s < 2; s++) {
    rd->pave[s] = tm_road_draw(rd, 1.5f, 3.8f);
    rd->verge[s] = rd->kind != ROAD_CITY && tm_road_chance(rd, 0.5f) ? tm_road_draw(rd, 0.8f, 2.6f) : 0;
    if (rd->kind == ROAD_PARK && tm_road_chance(rd, 0.4f)) rd->pave[s] = 0.3f;
    const float garden = rd->kind == ROAD_CITY     ? tm_road_draw(rd, 0, 0.5f)
                         : rd->kind == ROAD_SUBURB ? tm_road_draw(rd, 2, 6)
                                                   : tm_road_draw(rd, 3, 10);
    rd->line[s] = rd->half + rd->verge[s] + rd->pave[s] + garden;
  }
  if (tm_road_chance(rd, 0.35f)) {
    rd->junction[0] = tm_road_draw(rd, 9, 45);
    rd->junction[1] = rd->junction[0] + tm_road_draw(rd, 6, 12);
  }
  if (rd->junction[1] <= 0 && tm_road_chance(rd, 0.2f)) rd->crossing = tm_road_draw(rd, 5, 25);
}

static RoadColour tint(Road *rd, RoadColour c, float spread) {
  const float all = tm_road_draw(rd, 1 - spread, 1 + spread), warm = tm_road_draw(rd, -0.05f, 0.05f);
  return (RoadColour){c.r * all * (1 + warm), c.g * all, c.b * all * (1 - warm)};
}

static void plan_patches(Road *rd) {
  RoadSurface *s = &rd->surface;
  s->n_patches = pick(rd, ROAD_PATCHES + 1);
  for (int i = 0; i < s->n_patches; i++) {
    RoadPatch *p = s->patch + i;
    p->round = tm_road_chance(rd, 0.3f);
    p->x = tm_road_draw(rd, -rd->half, rd->half);
    p->z = tm_road_draw(rd, 3, 30);
    p->w = p->round ? 0.33f : tm_road_draw(rd, 0.3f, 1.6f);
    p->l = p->round ? 0.33f : tm_road_draw(rd, 0.6f, 6);
    p->tone = p->round ? tm_road_draw(rd, 0.55f, 0.75f) : tm_road_draw(rd, 0.72f, 1.18f);
  }
}

static void plan_surface(Road *rd) {
  RoadSurface *s = &rd->surface;
  s->tarmac = tint(rd, (RoadColour){0.375f, 0.375f, 0.385f}, 0.28f);
  s->slab_size = tm_road_chance(rd, 0.6f) ? tm_road_draw(rd, 0.45f, 0.95f) : 0;
  /* A pavement of tarmac looks like the road: only its place tells. */
  s->slab = s->slab_size > 0 ? tint(rd, (RoadColour){0.56f, 0.54f, 0.51f}, 0.22f)
                             : tint(rd, (RoadColour){0.43f, 0.42f, 0.42f}, 0.22f);
  if (tm_road_chance(rd, 0.12f)) s->slab = tint(rd, (RoadColour){0.52f, 0.38f, 0.33f}, 0.15f);
  s->kerb = tint(rd, (RoadColour){0.60f, 0.59f, 0.57f}, 0.2f);
  s->grass = tint(rd, (RoadColour){0.31f, 0.40f, 0.17f}, 0.25f);
  s->cycle = tm_road_chance(rd, 0.5f) ? (RoadColour){0.46f, 0.24f, 0.21f} : (RoadColour){0.24f, 0.36f, 0.27f};
  s->centre = (RoadLine)pick(rd, ROAD_N_LINES);
  if (s->centre == ROAD_LINE_NONE && tm_road_chance(rd, 0.6f)) s->centre = ROAD_LINE_DASHED;
  for (int i = 0; i < 2; i++) s->edge[i] = (RoadLine)pick(rd, ROAD_N_LINES);
  s->yellow = tm_road_chance(rd, 0.4f);
  s->lanes = rd->half > 4.6f && tm_road_chance(rd, 0.6f) ? 2 : 1;
  s->cycle_lane = tm_road_chance(rd, 0.12f) ? tm_road_draw(rd, 1.1f, 1.7f) : 0;
  s->arrow = tm_road_chance(rd, 0.15f) ? tm_road_draw(rd, 4, 18) : 0;
  s->grain = tm_road_draw(rd, 0.10f, 0.42f);
  s->worn = tm_road_draw(rd, 0.1f, 0.95f);
  plan_patches(rd);
}

/* Remembers a house for the shadows on the ground and across the road. */
static void raise_skyline(Road *rd, int side, float z0, float z1, float height) {
  const int a = (int)tm_road_clamp(z0 * 2, 0, ROAD_BINS), b = (int)tm_road_clamp(z1 * 2, 0, ROAD_BINS);
  for (int i = a; i < b; i++) rd->skyline[side][i] = tm_road_max(rd->skyline[side][i], height);
}

static int house_style(Road *rd) {
  const float u = tm_random_float(&rd->r);
  if (rd->kind == ROAD_YARD) return u < 0.6f ? 3 : 4;
  if (rd->kind == ROAD_SUBURB) return u < 0.6f ? 0 : 1;
  return u < 0.38f ? 0 : u < 0.62f ? 1 : u < 0.78f ? 2 : u < 0.91f ? 3 : 4;
}

static void house(Road *rd, RoadThings *things, int side, float z0, float z1, float storeys) {
  RoadThing t = {.draw = tm_road_building, .side = side, .z = z1, .z0 = z0, .z1 = z1};
  t.x = sign_of(side) * rd->line[side];
  t.style = house_style(rd);
  t.height = storeys * tm_road_draw(rd, 2.7f, 3.3f);
  t.height += tm_road_draw(rd, 0.4f, 1.2f);
  t.depth = tm_road_draw(rd, 6, 12);
  t.seed = new_seed(rd);
  raise_skyline(rd, side, z0, z1, t.height + (t.style < 2 ? t.depth * 0.3f : 0));
  tm_road_add(things, t);
}

static void plan_houses(Road *rd, RoadThings *things, int side) {
  float z = tm_road_draw(rd, -12, 2);
  const float common = rd->kind == ROAD_CITY ? tm_road_draw(rd, 2, 4.5f) : 2,
              open = rd->kind == ROAD_CITY     ? 0.10f
                     : rd->kind == ROAD_SUBURB ? 0.35f
                     : rd->kind == ROAD_PARK   ? 0.86f
                                               : 0.45f;
  while (z < FAR_END) {
    const float len = rd->kind == ROAD_YARD   ? tm_road_draw(rd, 14, 34)
                      : rd->kind == ROAD_CITY ? tm_road_draw(rd, 6, 18)
                                              : tm_road_draw(rd, 7, 13);
    const float storeys = tm_road_max(1, tm_road_floor(common + tm_road_draw(rd, -1.2f, 1.4f)));
    const gboolean gap = tm_road_chance(rd, open);
    if (!gap && !in_junction(rd, z, z + len) && z + len > 1) house(rd, things, side, z, z + len, storeys);
    z += len;
    if (rd->kind != ROAD_CITY) z += tm_road_draw(rd, 1.5f, 7);
  }
}

static void plan_end(Road *rd, RoadThings *things) {
  /* A street that ends on houses: at a T-junction near by, or far off. */
  const gboolean near = rd->junction[1] > 0 && tm_road_chance(rd, 0.3f) && rd->kind != ROAD_PARK;
  const float z = near ? rd->junction[1] + tm_road_draw(rd, 2, 5) : tm_road_draw(rd, 120, FAR_END);
  float x = -60;
  while (x < 60) {
    RoadThing t = {.draw = tm_road_building,
                   .z = z + (near ? 0 : 10),
                   .z0 = z,
                   .z1 = z,
                   .x = x,
                   .width = tm_road_draw(rd, 7, 16)};
    t.height = tm_road_draw(rd, 5, near ? 11 : 14);
    t.style = house_style(rd);
    t.seed = new_seed(rd);
    x += t.width;
    if (near || tm_road_chance(rd, 0.7f)) tm_road_add(things, t);
  }
  if (!near) return;
  /* Nothing beyond the houses can be seen. */
  guint n = 0;
  for (guint i = 0; i < things->n; i++)
    if (things->v[i].z <= z + 1) things->v[n++] = things->v[i];
  things->n = n;
}

static void tree_shadow(Road *rd, const RoadThing *t) {
  RoadSurface *s = &rd->surface;
  if (s->n_shadows == ROAD_SHADOWS || rd->light.sun < 0.5f) return;
  const float high = t->height - t->width * 0.5f, r = t->width * 0.55f, stretch = 1 + 0.4f * rd->light.cot;
  s->shadow[s->n_shadows++] = (RoadShadow){t->x - rd->light.side * rd->light.cot * high,
                                           t->z - rd->light.ahead * rd->light.cot * high,
                                           r * (1 + (stretch - 1) * tm_road_abs(rd->light.side)),
                                           r * (1 + (stretch - 1) * tm_road_abs(rd->light.ahead))};
}

static void tree(Road *rd, RoadThings *things, float x, float z, gboolean bare) {
  RoadThing t = {.draw = tm_road_tree, .x = x, .z = z};
  t.height = tm_road_draw(rd, 4.5f, 12);
  t.width = t.height * tm_road_draw(rd, 0.5f, 0.85f);
  t.style = bare ? 2 : pick(rd, 4);
  if (t.style == 1) t.width *= 0.6f;
  if (t.style == 3) t.width *= 0.55f;
  if (!bare && t.style == 2) t.style = 0;
  t.seed = new_seed(rd);
  if (t.style != 2) tree_shadow(rd, &t);
  tm_road_add(things, t);
}

static void bush(Road *rd, RoadThings *things, float x, float z) {
  RoadThing t = {.draw = tm_road_tree, .x = x, .z = z, .style = 4};
  t.height = tm_road_draw(rd, 0.8f, 2.2f);
  t.width = t.height * tm_road_draw(rd, 1.2f, 1.8f);
  t.seed = new_seed(rd);
  tm_road_add(things, t);
}

static void plan_trees(Road *rd, RoadThings *things, int side) {
  static const float density[ROAD_N_KINDS] = {0.25f, 0.6f, 0.95f, 0.35f};
  const gboolean winter = tm_road_chance(rd, 0.22f),
                 avenue = tm_road_chance(rd, rd->kind == ROAD_CITY ? 0.3f : 0.45f);
  const float s = sign_of(side), inner = rd->half + tm_road_max(rd->verge[side] * 0.5f, 0.7f),
              spacing = tm_road_draw(rd, 6, 13);
  for (float z = tm_road_draw(rd, 3, 12); z < 110; z += spacing) {
    if (in_junction(rd, z, z)) continue;
    const float jitter = tm_road_draw(rd, -0.4f, 0.4f), luck = tm_random_float(&rd->r);
    if (avenue && luck < 0.8f) tree(rd, things, s * (inner + 0.2f), z + jitter, winter);
    if (!tm_road_chance(rd, density[rd->kind])) continue;
    const float out =
        rd->line[side] + tm_road_draw(rd, rd->kind == ROAD_CITY ? 3 : -1.5f, rd->kind == ROAD_PARK ? 5 : 9);
    const float off = tm_road_draw(rd, -3, 3), in = tm_road_draw(rd, 0, 2);
    tree(rd, things, s * out, z + off, winter && tm_road_chance(rd, 0.7f));
    if (tm_road_chance(rd, 0.3f)) bush(rd, things, s * (out - in), z - off);
  }
  if (rd->kind == ROAD_PARK || tm_road_chance(rd, 0.3f))
    for (int i = 0; i < 14; i++) {
      const float out = rd->line[side] + tm_road_draw(rd, 6, 22);
      tree(rd, things, s * out, tm_road_draw(rd, 18, 140), winter);
    }
}

/* Garden walls, fences and hedges where houses stand back. */
static void plan_borders(Road *rd, RoadThings *things, int side) {
  const gboolean rails = tm_road_chance(rd, 0.32f) && rd->pave[side] > 1;
  if (rails) { /* a guard between pavement and road */
    RoadThing t = {.draw = tm_road_fence, .side = side, .style = tm_road_chance(rd, 0.7f) ? 0 : 4};
    t.x = sign_of(side) * (rd->half + 0.35f);
    t.z0 = tm_road_draw(rd, 2, 25);
    t.z1 = t.z0 + tm_road_draw(rd, 6, 22);
    t.height = t.style == 4 ? 0.75f : 1.05f;
    t.z = t.z1;
    t.seed = new_seed(rd);
    if (!in_junction(rd, t.z0, t.z1)) tm_road_add(things, t);
  }
  const float depth = rd->line[side] - rd->half - rd->verge[side] - rd->pave[side];
  if (depth < 1) return;
  float z = tm_road_draw(rd, -6, 3);
  while (z < 90) {
    const float len = tm_road_draw(rd, 5, 14);
    RoadThing t = {.side = side,
                   .x = sign_of(side) * (rd->half + rd->verge[side] + rd->pave[side] + 0.1f),
                   .z0 = z,
                   .z1 = z + len,
                   .z = z + len};
    const float luck = tm_random_float(&rd->r);
    t.seed = new_seed(rd);
    t.draw = luck < 0.33f ? tm_road_hedge : tm_road_fence;
    t.style = luck < 0.33f ? pick(rd, 2) : pick(rd, 6);
    t.height = luck < 0.33f ? tm_road_draw(rd, 0.8f, 2.2f) : tm_road_draw(rd, 0.8f, 1.8f);
    if (t.style == 2) t.height = tm_road_min(t.height, 1.3f);
    if (luck < 0.78f && !in_junction(rd, z, z + len) && z + len > 1) tm_road_add(things, t);
    z += len + (tm_road_chance(rd, 0.4f) ? tm_road_draw(rd, 1, 3) : 0);
  }
}

static void plan_furniture(Road *rd, RoadThings *things, int side) {
  const float s = sign_of(side), kerb = rd->half + 0.45f;
  const int lamps = pick(rd, 4);
  float z = tm_road_draw(rd, 5, 20);
  const float gap = tm_road_draw(rd, 14, 30);
  for (; z < 95; z += gap) {
    RoadThing t = {.draw = tm_road_lamp,
                   .side = side,
                   .x = s * kerb,
                   .z = z,
                   .style = lamps == 2 ? 0 : lamps,
                   .height = lamps == 1   ? 3.8f
                             : lamps == 3 ? 7.5f
                                          : 7.0f,
                   .seed = new_seed(rd)};
    if (!in_junction(rd, z, z) && tm_road_chance(rd, 0.8f)) tm_road_add(things, t);
  }
  const int signs = pick(rd, rd->kind == ROAD_PARK ? 3 : 5);
  for (int i = 0; i < signs; i++) {
    RoadThing t = {.draw = tm_road_sign, .side = side, .x = s * (kerb + tm_road_draw(rd, 0, 1.2f))};
    t.z = tm_road_draw(rd, 5, 38);
    t.style = tm_road_chance(rd, 0.14f) ? 10 + pick(rd, 2) : pick(rd, 10);
    t.height = tm_road_draw(rd, 2.1f, 2.9f);
    t.seed = new_seed(rd);
    if (!in_junction(rd, t.z, t.z)) tm_road_add(things, t);
  }
  if ((rd->junction[1] > 0 && tm_road_chance(rd, 0.6f)) || (rd->crossing > 0 && tm_road_chance(rd, 0.5f))) {
    RoadThing t = {
        .draw = tm_road_signal, .side = side, .x = s * (kerb + 0.2f), .style = pick(rd, 2), .height = 2.7f};
    t.seed = new_seed(rd);
    t.z = (rd->junction[1] > 0 ? rd->junction[0] : rd->crossing) - 0.8f;
    tm_road_add(things, t);
  }
  if (tm_road_chance(rd, 0.25f)) { /* bollards along the kerb */
    const float z0 = tm_road_draw(rd, 4, 20);
    for (int i = 0; i < 8; i++) {
      RoadThing t = {.draw = tm_road_lamp,
                     .side = side,
                     .x = s * (rd->half + 0.35f),
                     .z = z0 + 1.6f * (float)i,
                     .style = 2,
                     .height = 0.95f,
                     .seed = rd->seed};
      if (!in_junction(rd, t.z, t.z)) tm_road_add(things, t);
    }
  }
  const int bins = pick(rd, 3);
  for (int i = 0; i < bins; i++) {
    RoadThing t = {.draw = tm_road_clutter, .x = s * (kerb + tm_road_draw(rd, 0.2f, 2))};
    t.style = pick(rd, 4);
    t.seed = new_seed(rd);
    t.z = tm_road_draw(rd, 5, 35);
    tm_road_add(things, t);
  }
}

static int car_style(Road *rd) {
  const float u = tm_random_float(&rd->r);
  return u < 0.36f ? 0 : u < 0.62f ? 1 : u < 0.82f ? 2 : u < 0.94f ? 3 : 4;
}

/* Two cars, or a rider and a car, do not stand in the same place. */
static gboolean taken(const RoadThings *things, float x, float z, float length) {
  for (guint i = 0; i < things->n; i++) {
    const RoadThing *t = things->v + i;
    if (t->draw != tm_road_car) continue;
    const float room = length + (t->style == 4 ? 5.4f : 2.5f);
    if (tm_road_abs(t->x - x) < 1.75f && tm_road_abs(t->z - z) < room) return TRUE;
  }
  return FALSE;
}

static void car(Road *rd, RoadThings *things, float x, float z, float angle, int style) {
  RoadThing t = {.draw = tm_road_car, .x = x, .z = z, .angle = angle, .style = style, .seed = new_seed(rd)};
  /* The slope of the road's bend turns the car with it. */
  t.angle += (rd->heading + 2 * rd->curve * tm_road_min(z, 90)) * 0.159f;
  const gboolean along = tm_road_abs(tm_road_sin(angle)) < 0.5f;
  if (!along || !taken(things, x, z, style == 4 ? 5.4f : 2.5f)) tm_road_add(things, t);
}

static void plan_parked(Road *rd, RoadThings *things, int side) {
  if (!tm_road_chance(rd, rd->kind == ROAD_PARK ? 0.2f : 0.55f)) return;
  const float x = sign_of(side) * (rd->half - 1.0f), full = tm_road_draw(rd, 0.3f, 0.95f);
  const gboolean away = tm_road_chance(rd, 0.5f);
  for (float z = tm_road_draw(rd, 5.5f, 12); z < 75; z += tm_road_draw(rd, 5.4f, 6.5f)) {
    if (!tm_road_chance(rd, full) || in_junction(rd, z - 3, z + 3)) continue;
    const float off = tm_road_draw(rd, -0.12f, 0.12f), turn = tm_road_draw(rd, -0.008f, 0.008f);
    const int style = pick(rd, 4);
    car(rd, things, x + off, z, (away ? 0 : 0.5f) + turn, style);
  }
}

/* Parked cars beyond the pavement, nose or tail towards the road. */
static void plan_row(Road *rd, RoadThings *things, int side) {
  const float x = sign_of(side) * (rd->half + rd->verge[side] + rd->pave[side] + 2.4f);
  for (float z = tm_road_draw(rd, 6, 12); z < 50; z += 2.7f) {
    const float turn = tm_road_draw(rd, -0.01f, 0.01f);
    const int style = pick(rd, 4);
    const gboolean nose = tm_road_chance(rd, 0.5f);
    if (tm_road_chance(rd, 0.6f)) car(rd, things, x, z, (nose ? 0.25f : 0.75f) + turn, style);
  }
}

static void plan_traffic(Road *rd, RoadThings *things) {
  const float lane = rd->half * 0.5f, own = rd->left_hand ? -lane : lane;
  float z = tm_road_draw(rd, 7, 26);
  const int ahead = pick(rd, 4), coming = pick(rd, 4);
  for (int i = 0; i < ahead; i++, z += tm_road_draw(rd, 9, 28)) {
    const int style = car_style(rd);
    car(rd, things, own + tm_road_draw(rd, -0.3f, 0.3f), style == 4 ? z + 5 : z, 0, style);
  }
  z = tm_road_draw(rd, 8, 30);
  for (int i = 0; i < coming; i++, z += tm_road_draw(rd, 10, 30)) {
    const int style = car_style(rd);
    car(rd, things, -own + tm_road_draw(rd, -0.3f, 0.3f), style == 4 ? z + 6 : z, 0.5f, style);
  }
  if (rd->junction[1] > 0 && tm_road_chance(rd, 0.35f)) { /* one crosses */
    const gboolean left = tm_road_chance(rd, 0.5f);
    const float x = tm_road_draw(rd, -8, 8), mid = (rd->junction[0] + rd->junction[1]) * 0.5f;
    const float turn = tm_road_draw(rd, -0.02f, 0.02f);
    car(rd, things, x, mid + (left ? 1.2f : -1.2f), (left ? 0.75f : 0.25f) + turn, pick(rd, 4));
  }
  if (rd->kind == ROAD_YARD)
    for (int s = 0; s < 2; s++) plan_row(rd, things, s);
}

static void pedestrian(Road *rd, RoadThings *things, float x, float z, int style) {
  RoadThing t = {.draw = tm_road_pedestrian, .x = x, .z = z, .style = style, .seed = new_seed(rd)};
  t.height = tm_road_chance(rd, 0.12f) ? tm_road_draw(rd, 1.05f, 1.4f) : tm_road_draw(rd, 1.55f, 1.92f);
  tm_road_add(things, t);
}

static void plan_people(Road *rd, RoadThings *things) {
  const int most = rd->kind == ROAD_CITY ? 10 : 5, n = pick(rd, most);
  for (int i = 0; i < n; i++) {
    const int side = pick(rd, 2);
    const float u = tm_random_float(&rd->r), z = 4.5f + 38 * u * u,
                at = tm_road_draw(rd, 0.5f, tm_road_max(rd->pave[side] - 0.3f, 0.6f));
    const float x = sign_of(side) * (rd->half + rd->verge[side] + at);
    const int style = tm_road_chance(rd, 0.7f) ? pick(rd, 2) : 2;
    pedestrian(rd, things, x, z, style);
    const float dx = tm_road_draw(rd, 0.5f, 0.7f), dz = tm_road_draw(rd, -0.3f, 0.3f);
    if (tm_road_chance(rd, 0.25f)) pedestrian(rd, things, x + dx, z + dz, style);
  }
  if (tm_road_chance(rd, rd->crossing > 0 ? 0.6f : 0.10f)) {
    const float z = rd->crossing > 0 ? rd->crossing + 1.5f : tm_road_draw(rd, 7, 25);
    const int walkers = 1 + pick(rd, 3);
    for (int i = 0; i < walkers; i++) {
      const float x = tm_road_draw(rd, -rd->half, rd->half), dz = tm_road_draw(rd, -1, 1);
      if (!taken(things, x, z + dz, 0.4f)) pedestrian(rd, things, x, z + dz, 2);
    }
  }
  const int riders = tm_road_chance(rd, 0.42f) ? 1 + pick(rd, 3) : 0;
  for (int i = 0; i < riders; i++) {
    RoadThing t = {.draw = tm_road_bicyclist, .height = tm_road_draw(rd, 1.65f, 1.9f)};
    t.seed = new_seed(rd);
    const gboolean own = tm_road_chance(rd, 0.65f);
    const float u = tm_random_float(&rd->r), kerb = rd->half - tm_road_draw(rd, 0.5f, 1.1f);
    t.z = 5 + 32 * u * u;
    t.x = (rd->left_hand == own) ? -kerb : kerb;
    t.style = own ? 0 : 1;
    if (tm_road_chance(rd, 0.2f)) {
      t.style = 2 + pick(rd, 2);
      t.x = tm_road_draw(rd, -rd->half, rd->half);
    }
    if (!taken(things, t.x, t.z, 1)) tm_road_add(things, t);
  }
}

void tm_road_plan(Road *rd, RoadThings *things) {
  plan_road(rd);
  plan_camera(rd);
  tm_road_light(rd);
  plan_surface(rd);
  for (int s = 0; s < 2; s++) {
    plan_houses(rd, things, s);
    plan_trees(rd, things, s);
    plan_borders(rd, things, s);
    plan_furniture(rd, things, s);
    plan_parked(rd, things, s);
  }
  plan_traffic(rd, things);
  plan_people(rd, things);
  plan_end(rd, things);
}
