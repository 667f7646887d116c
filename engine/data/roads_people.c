#include "engine/data/roads_private.h"

/* A figure in a plane that faces the camera; all lengths are shares of its height, x to its front when seen
 * from the side. */
typedef struct {
  Road *rd;
  const RoadThing *t;
  RoadPoint foot;
  float px; /* pixels per height */
  int label;
} Figure;

static const RoadColour skins[] = {
    {0.78f, 0.58f, 0.47f}, {0.66f, 0.47f, 0.36f}, {0.42f, 0.28f, 0.20f}, {0.84f, 0.66f, 0.55f}};
static const RoadColour hairs[] = {{0.12f, 0.09f, 0.07f},
                                   {0.30f, 0.20f, 0.12f},
                                   {0.52f, 0.40f, 0.22f},
                                   {0.45f, 0.44f, 0.43f},
                                   {0.07f, 0.07f, 0.08f}};
static const RoadColour tops[] = {{0.12f, 0.12f, 0.14f}, {0.45f, 0.10f, 0.11f}, {0.16f, 0.25f, 0.42f},
                                  {0.72f, 0.71f, 0.68f}, {0.33f, 0.35f, 0.25f}, {0.62f, 0.45f, 0.18f},
                                  {0.30f, 0.18f, 0.33f}, {0.16f, 0.36f, 0.36f}, {0.78f, 0.30f, 0.14f},
                                  {0.42f, 0.36f, 0.30f}};
static const RoadColour legs[] = {{0.13f, 0.16f, 0.25f},
                                  {0.10f, 0.10f, 0.11f},
                                  {0.36f, 0.32f, 0.25f},
                                  {0.22f, 0.26f, 0.36f},
                                  {0.40f, 0.40f, 0.40f}};
#define PICK(list, seed, salt) ((list)[tm_road_hash(seed, salt, 3) % G_N_ELEMENTS(list)])

static RoadPoint at(const Figure *f, float x, float y) {
  return (RoadPoint){f->foot.x + x * f->px, f->foot.y - y * f->px};
}

static void limb(const Figure *f, float x0, float y0, float r0, float x1, float y1, float r1, RoadColour c) {
  const Road *rd = f->rd;
  const RoadColour lit = tm_road_fogged(rd, tm_road_lit(rd, c, 0.75f, 1), f->t->z),
                   dim = tm_road_fogged(rd, tm_road_lit(rd, tm_road_scale(c, 0.75f), 0.1f, 1), f->t->z);
  const gboolean left = rd->light.side < 0;
  tm_road_limb(&f->rd->canvas, at(f, x0, y0), tm_road_max(r0 * f->px, 0.3f), at(f, x1, y1),
               tm_road_max(r1 * f->px, 0.28f), f->label, left ? lit : dim, left ? dim : lit);
}

static void shadow_of(const Figure *f, float half) {
  const RoadLight *l = &f->rd->light;
  const RoadColour black = {0.02f, 0.02f, 0.03f};
  tm_road_ellipse(&f->rd->canvas, f->foot.x, f->foot.y, half * f->px, half * 0.22f * f->px, -1, black, black,
                  0.45f);
  const float lit = tm_road_sunny(f->rd, f->t->x, 0.5f, f->t->z);
  if (l->sun < 0.5f || lit < 0.5f) return;
  const float len = tm_road_min(l->cot, 2.5f) * 1.6f, z = f->t->z - l->ahead * len;
  if (z < 1.5f) return;
  const RoadPoint tip = tm_road_project(f->rd, f->t->x - l->side * len, 0, z);
  const RoadPoint p[4] = {{f->foot.x - 0.06f * f->px, f->foot.y},
                          {tip.x - 0.08f * f->px, tip.y},
                          {tip.x + 0.08f * f->px, tip.y},
                          {f->foot.x + 0.06f * f->px, f->foot.y}};
  tm_road_flat(&f->rd->canvas, p, 4, -1, black, black, 0.36f);
}

static void head(const Figure *f, float x, float y, guint32 seed, gboolean back, gboolean helmet) {
  const RoadColour skin = PICK(skins, seed, 1), hair = helmet ? PICK(tops, seed, 9) : PICK(hairs, seed, 2);
  limb(f, x, y - 0.075f, 0.022f, x, y - 0.04f, 0.022f, skin);
  limb(f, x, y - 0.012f, 0.045f, x, y + 0.020f, 0.045f, back ? hair : skin);
  limb(f, x, y + 0.030f, helmet ? 0.052f : 0.046f, x, y + 0.042f, 0.036f, hair);
  if (!back && !helmet && tm_road_rand(seed, 8, 8) < 0.4f)
    limb(f, x - 0.038f, y - 0.05f, 0.014f, x - 0.042f, y + 0.02f, 0.016f, hair);
}

static void walk(const Figure *f, const RoadThing *t, float stride, gboolean sideways) {
  const RoadColour cloth = PICK(legs, t->seed, 4), shoe = {0.10f, 0.09f, 0.09f};
  const gboolean skirt = tm_road_rand(t->seed, 5, 5) < 0.18f;
  const RoadColour leg = skirt ? PICK(skins, t->seed, 1) : cloth;
  const float hip = sideways ? 0.0f : 0.042f, reach = sideways ? 0.13f : 0.028f;
  for (int i = 0; i < 2; i++) {
    const float s = i ? 1 : -1, swing = stride * s, lift = tm_road_max(swing, 0) * (sideways ? 0.02f : 0.05f);
    const float fx = hip * s + reach * swing,
                knee = hip * s * 0.95f + reach * 0.55f * swing + (sideways ? 0.025f : 0);
    limb(f, hip * s, 0.50f, 0.054f, knee, 0.27f, 0.043f, leg);
    limb(f, knee, 0.27f, 0.040f, fx, 0.035f + lift, 0.026f, leg);
    limb(f, fx, 0.022f + lift, 0.022f, fx + (sideways ? 0.05f : 0), 0.018f + lift, 0.018f, shoe);
  }
  if (skirt) {
    limb(f, -0.02f, 0.48f, 0.075f, -0.02f, 0.38f, 0.09f, cloth);
    limb(f, 0.03f, 0.48f, 0.07f, 0.03f, 0.38f, 0.085f, cloth);
  }
}

static void arms(const Figure *f, float stride, gboolean sideways, RoadColour sleeve, RoadColour skin) {
  for (int i = 0; i < 2; i++) {
    const float s = i ? 1 : -1, swing = -stride * s;
    const float shoulder = sideways ? 0 : 0.105f * s,
                elbow = shoulder + (sideways ? 0.06f * swing : 0.028f * s),
                hand = elbow + (sideways ? 0.07f * swing + 0.02f : 0.004f * s);
    limb(f, shoulder, 0.79f, 0.034f, elbow, 0.63f, 0.029f, sleeve);
    limb(f, elbow, 0.63f, 0.028f, hand, 0.50f, 0.020f, sleeve);
    limb(f, hand, 0.49f, 0.019f, hand, 0.475f, 0.019f, skin);
  }
}

/* style: 0 seen from behind, 1 from the front, 2 and 3 from a side */
void tm_road_pedestrian(Road *rd, const RoadThing *t) {
  Figure f = {.rd = rd,
              .t = t,
              .foot = tm_road_project(rd, t->x, 0, t->z),
              .px = t->height * rd->f / t->z,
              .label = ROAD_PEDESTRIAN};
  const gboolean sideways = t->style >= 2;
  const float stride = tm_road_sin(tm_road_rand(t->seed, 6, 6));
  const RoadColour top = PICK(tops, t->seed, 3), skin = PICK(skins, t->seed, 1);
  shadow_of(&f, 0.14f);
  walk(&f, t, stride, sideways);
  const float broad = sideways ? 0.062f : 0.078f, hem = tm_road_rand(t->seed, 7, 7) < 0.35f ? 0.40f : 0.50f;
  if (tm_road_rand(t->seed, 10, 1) < 0.25f && t->style == 0)
    limb(&f, 0, 0.60f, 0.09f, 0, 0.72f, 0.09f, PICK(tops, t->seed, 11));
  arms(&f, stride, sideways, tm_road_scale(top, 0.88f), skin);
  if (!sideways) {
    limb(&f, -0.040f, hem, broad * 0.85f, -0.046f, 0.77f, broad * 0.78f, top);
    limb(&f, 0.040f, hem, broad * 0.85f, 0.046f, 0.77f, broad * 0.78f, top);
  }
  limb(&f, 0, hem, broad, 0, 0.76f, broad * 1.05f, top);
  if (tm_road_rand(t->seed, 10, 1) < 0.25f && t->style == 0)
    limb(&f, 0, 0.60f, 0.085f, 0, 0.72f, 0.085f, PICK(tops, t->seed, 11));
  if (tm_road_rand(t->seed, 12, 1) < 0.3f)
    limb(&f, sideways ? 0.02f : 0.14f, 0.46f, 0.045f, sideways ? 0.02f : 0.14f, 0.38f, 0.055f,
         PICK(tops, t->seed, 13));
  head(&f, sideways ? 0.015f : 0, 0.925f, t->seed, t->style == 0, FALSE);
}

static void wheel(const Figure *f, float x, float rx, float r, RoadColour c) {
  /* A thin ring; between the spokes one sees through, but it is the bicycle all the same. */
  enum { N = 16 };
  RoadPoint disc[N], ring[2 * N + 2];
  const float thick = tm_road_max(0.022f, 0.45f / f->px);
  for (int i = 0; i < N; i++)
    disc[i] = at(f, x + rx * tm_road_cos((float)i / N), r + r * tm_road_sin((float)i / N));
  const RoadColour k = tm_road_fogged(f->rd, tm_road_lit(f->rd, c, 0.3f, 1), f->t->z),
                   spoke = tm_road_scale(k, 1.6f);
  tm_road_flat(&f->rd->canvas, disc, N, f->label, spoke, spoke, 0.22f);
  for (int i = 0; i <= N; i++) {
    const float s = tm_road_sin((float)i / N), q = tm_road_cos((float)i / N), in = tm_road_max(rx - thick, 0);
    ring[i] = at(f, x + rx * q, r + r * s);
    ring[2 * N + 1 - i] = at(f, x + in * q, r + (r - thick) * s);
  }
  tm_road_flat(&f->rd->canvas, ring, 2 * N + 2, -1, k, k, 1);
}

static void rider_sideways(const Figure *f, guint32 seed, float way) {
  const RoadColour frame = PICK(tops, seed, 20), tyre = {0.09f, 0.09f, 0.09f}, cloth = PICK(legs, seed, 4),
                   top = PICK(tops, seed, 3), skin = PICK(skins, seed, 1);
  const float r = 0.20f, back = -0.32f * way, front = 0.32f * way;
  wheel(f, back, r, r, tyre);
  wheel(f, front, r, r, tyre);
  const float crank_x = -0.03f * way, crank_y = 0.20f, seat_x = -0.12f * way, seat_y = 0.56f,
              bar_x = 0.25f * way, bar_y = 0.57f;
  const float tube = 0.013f;
  limb(f, back, r, tube, crank_x, crank_y, tube, frame);
  limb(f, back, r, tube, seat_x, seat_y - 0.1f, tube, frame);
  limb(f, crank_x, crank_y, tube, seat_x, seat_y, tube, frame);
  limb(f, crank_x, crank_y, tube, bar_x, bar_y - 0.1f, tube, frame);
  limb(f, seat_x, seat_y - 0.1f, tube, bar_x, bar_y - 0.07f, tube, frame);
  limb(f, front, r, tube, bar_x, bar_y, tube, frame);
  const float turn = tm_road_rand(seed, 21, 1);
  for (int i = 0; i < 2; i++) {
    const float a = turn + 0.5f * (float)i, px = crank_x + 0.085f * tm_road_cos(a),
                py = crank_y + 0.085f * tm_road_sin(a);
    const float kx = (seat_x + px) * 0.5f + 0.13f * way, ky = (seat_y + py) * 0.5f + 0.10f;
    limb(f, seat_x, seat_y + 0.03f, 0.05f, kx, ky, 0.04f, cloth);
    limb(f, kx, ky, 0.036f, px, py + 0.02f, 0.024f, cloth);
  }
  const float sx = 0.07f * way, sy = 0.84f;
  limb(f, seat_x, seat_y + 0.06f, 0.062f, sx, sy, 0.062f, top);
  limb(f, sx, sy - 0.01f, 0.030f, bar_x, bar_y + 0.03f, 0.022f, tm_road_scale(top, 0.85f));
  limb(f, bar_x, bar_y + 0.02f, 0.020f, bar_x, bar_y, 0.020f, skin);
  head(f, sx + 0.05f * way, 0.96f, seed, FALSE, tm_road_rand(seed, 22, 1) < 0.6f);
}

static void rider_along(const Figure *f, guint32 seed, gboolean back) {
  const RoadColour tyre = {0.09f, 0.09f, 0.09f}, cloth = PICK(legs, seed, 4), top = PICK(tops, seed, 3),
                   skin = PICK(skins, seed, 1);
  const float knee = 0.04f * tm_road_sin(tm_road_rand(seed, 21, 1));
  wheel(f, 0, 0.028f, 0.20f, tyre);
  for (int i = 0; i < 2; i++) {
    const float s = i ? 1 : -1, lift = 0.09f + knee * s * 2;
    limb(f, 0.045f * s, 0.55f, 0.055f, 0.075f * s, 0.36f + knee * s, 0.042f, cloth);
    limb(f, 0.075f * s, 0.36f + knee * s, 0.038f, 0.06f * s, lift + 0.05f, 0.026f, cloth);
    limb(f, 0.06f * s, lift + 0.03f, 0.026f, 0.065f * s, lift, 0.024f, (RoadColour){0.12f, 0.12f, 0.12f});
  }
  const RoadColour metal = {0.3f, 0.3f, 0.32f};
  limb(f, -0.13f, 0.56f, 0.014f, 0.13f, 0.56f, 0.014f, metal);
  limb(f, -0.04f, 0.58f, 0.07f, -0.045f, 0.82f, 0.062f, top);
  limb(f, 0.04f, 0.58f, 0.07f, 0.045f, 0.82f, 0.062f, top);
  for (int i = 0; i < 2; i++) {
    const float s = i ? 1 : -1;
    limb(f, 0.10f * s, 0.83f, 0.034f, 0.155f * s, 0.68f, 0.028f, tm_road_scale(top, 0.88f));
    limb(f, 0.155f * s, 0.68f, 0.026f, 0.125f * s, 0.575f, 0.020f, skin);
  }
  if (back && tm_road_rand(seed, 23, 1) < 0.4f)
    limb(f, 0, 0.64f, 0.085f, 0, 0.78f, 0.085f, PICK(tops, seed, 11));
  head(f, 0, 0.955f, seed, back, tm_road_rand(seed, 22, 1) < 0.6f);
}

/* style: 0 from behind, 1 from the front, 2 to the left, 3 to the right */
void tm_road_bicyclist(Road *rd, const RoadThing *t) {
  const Figure f = {.rd = rd,
                    .t = t,
                    .foot = tm_road_project(rd, t->x, 0, t->z),
                    .px = t->height * rd->f / t->z,
                    .label = ROAD_BICYCLIST};
  shadow_of(&f, t->style >= 2 ? 0.45f : 0.12f);
  if (t->style >= 2)
    rider_sideways(&f, t->seed, t->style == 2 ? -1 : 1);
  else
    rider_along(&f, t->seed, t->style == 0);
}
