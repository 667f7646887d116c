#include "engine/data/roads_private.h"

/* A car is its side view, pulled across its width: the outline from the rear bumper over the roof to the
 * front, each point with its own half width. Between two points lies a strip (boot, window, roof ...); the
 * sides are the outline below and the windows above the belt. */
typedef enum { STRIP_BODY, STRIP_GLASS, STRIP_ROOF, STRIP_BUMPER } Strip;
typedef struct {
  float z, y, half; /* z: 0 rear .. 1 front; y: metres; half: share of half the width */
  Strip strip;      /* from this point to the next */
} Profile;
enum { MAX_PROFILE = 12 };
typedef struct {
  float length, width;
  int n, belt0, belt1; /* points of the belt line, rear and front: windows lie between */
  float wheel, axle0, axle1;
  Profile p[MAX_PROFILE];
  int windows;
} Model;

static const Model models[] = {
    /* hatchback */
    {3.9f,
     1.70f,
     10,
     2,
     6,
     0.30f,
     0.17f,
     0.80f,
     {{0.00f, 0.30f, 0.93f, STRIP_BUMPER},
      {0.00f, 0.58f, 0.98f, STRIP_BODY},
      {0.01f, 0.93f, 0.96f, STRIP_GLASS},
      {0.12f, 1.42f, 0.76f, STRIP_ROOF},
      {0.30f, 1.48f, 0.75f, STRIP_ROOF},
      {0.52f, 1.44f, 0.75f, STRIP_GLASS},
      {0.74f, 0.95f, 0.92f, STRIP_BODY},
      {0.96f, 0.76f, 0.92f, STRIP_BODY},
      {1.00f, 0.55f, 0.95f, STRIP_BUMPER},
      {1.00f, 0.28f, 0.93f, STRIP_BODY}},
     2},
    /* saloon */
    {4.6f,
     1.78f,
     11,
     3,
     7,
     0.31f,
     0.19f,
     0.81f,
     {{0.00f, 0.30f, 0.93f, STRIP_BUMPER},
      {0.00f, 0.58f, 0.98f, STRIP_BODY},
      {0.01f, 0.92f, 0.95f, STRIP_BODY},
      {0.17f, 0.96f, 0.92f, STRIP_GLASS},
      {0.30f, 1.38f, 0.74f, STRIP_ROOF},
      {0.42f, 1.43f, 0.73f, STRIP_ROOF},
      {0.55f, 1.40f, 0.73f, STRIP_GLASS},
      {0.73f, 0.93f, 0.92f, STRIP_BODY},
      {0.97f, 0.74f, 0.92f, STRIP_BODY},
      {1.00f, 0.52f, 0.95f, STRIP_BUMPER},
      {1.00f, 0.27f, 0.93f, STRIP_BODY}},
     2},
    /* estate or off-roader */
    {4.6f,
     1.86f,
     10,
     2,
     6,
     0.36f,
     0.18f,
     0.80f,
     {{0.00f, 0.38f, 0.93f, STRIP_BUMPER},
      {0.00f, 0.70f, 0.98f, STRIP_BODY},
      {0.00f, 1.08f, 0.96f, STRIP_GLASS},
      {0.05f, 1.66f, 0.80f, STRIP_ROOF},
      {0.30f, 1.74f, 0.79f, STRIP_ROOF},
      {0.56f, 1.70f, 0.79f, STRIP_GLASS},
      {0.72f, 1.12f, 0.93f, STRIP_BODY},
      {0.96f, 0.98f, 0.94f, STRIP_BODY},
      {1.00f, 0.66f, 0.96f, STRIP_BUMPER},
      {1.00f, 0.34f, 0.93f, STRIP_BODY}},
     3},
    /* van */
    {5.2f,
     1.95f,
     10,
     5,
     6,
     0.34f,
     0.18f,
     0.82f,
     {{0.00f, 0.36f, 0.95f, STRIP_BUMPER},
      {0.00f, 0.60f, 1.00f, STRIP_BODY},
      {0.00f, 1.25f, 1.00f, STRIP_BODY},
      {0.01f, 2.15f, 0.92f, STRIP_ROOF},
      {0.40f, 2.22f, 0.92f, STRIP_ROOF},
      {0.76f, 2.15f, 0.90f, STRIP_GLASS},
      {0.90f, 1.22f, 0.95f, STRIP_BODY},
      {0.98f, 1.00f, 0.95f, STRIP_BODY},
      {1.00f, 0.60f, 0.97f, STRIP_BUMPER},
      {1.00f, 0.30f, 0.95f, STRIP_BODY}},
     1},
    /* bus */
    {10.5f,
     2.45f,
     9,
     2,
     5,
     0.48f,
     0.22f,
     0.80f,
     {{0.00f, 0.40f, 0.97f, STRIP_BUMPER},
      {0.00f, 0.70f, 1.00f, STRIP_BODY},
      {0.00f, 1.45f, 1.00f, STRIP_GLASS},
      {0.00f, 2.55f, 0.98f, STRIP_BODY},
      {0.01f, 3.00f, 0.94f, STRIP_ROOF},
      {0.985f, 3.00f, 0.94f, STRIP_BODY},
      {1.00f, 2.60f, 0.98f, STRIP_GLASS},
      {1.00f, 1.05f, 1.00f, STRIP_BODY},
      {1.00f, 0.34f, 0.97f, STRIP_BODY}},
     6},
};
enum { BUS = 4, VAN = 3 };

typedef struct {
  Road *rd;
  const RoadThing *t;
  const Model *m;
  float sin, cos;
  RoadColour paint;
  gboolean ok; /* no point behind the camera */
} Car;

/* From the car's metres (x across, y up, z from its middle to the front) to the picture. */
static RoadPoint at(Car *c, float x, float y, float z) {
  const float wz = c->t->z + z * c->cos - x * c->sin;
  if (wz < 0.7f) c->ok = FALSE;
  return tm_road_project(c->rd, c->t->x + x * c->cos + z * c->sin, y, tm_road_max(wz, 0.7f));
}

static float along(const Car *c, float share) {
  return (share - 0.5f) * c->m->length;
}
static float half(const Car *c) {
  return c->m->width * 0.5f;
}

static float winding(const RoadPoint *p, int n) {
  float a = 0;
  for (int i = 0, j = n - 1; i < n; j = i++) a += p[j].x * p[i].y - p[i].x * p[j].y;
  return a;
}

static RoadColour shaded(const Car *c, RoadColour k, float facing, float light) {
  return tm_road_fogged(c->rd, tm_road_scale(tm_road_lit(c->rd, k, facing, 1), light), c->t->z);
}

static void strip(Car *c, int i) {
  const Profile *a = c->m->p + i, *b = a + 1;
  const float ha = a->half * half(c), hb = b->half * half(c), za = along(c, a->z), zb = along(c, b->z);
  const RoadPoint p[4] = {at(c, -ha, a->y, za), at(c, -hb, b->y, zb), at(c, hb, b->y, zb),
                          at(c, ha, a->y, za)};
  if (!c->ok || winding(p, 4) <= 0) return;
  /* How far the strip looks up, and to the rear (-) or front (+). */
  const float dz = zb - za, dy = b->y - a->y, len = __builtin_sqrtf(dz * dz + dy * dy) + 1e-4f, up = dz / len,
              forward = -dy / len;
  const float facing = tm_road_facing(c->rd, forward * c->sin, forward * c->cos) * (1 - up) + up * 0.6f;
  RoadColour top = shaded(c, c->paint, facing, 0.78f + 0.34f * up), low = tm_road_scale(top, 0.82f);
  if (a->strip == STRIP_GLASS) {
    const RoadColour dark = tm_road_fogged(
        c->rd, tm_road_times((RoadColour){0.10f, 0.12f, 0.14f}, c->rd->light.ambient), c->t->z);
    const RoadColour frame = tm_road_scale(low, 0.9f);
    tm_road_flat(&c->rd->canvas, p, 4, ROAD_CAR, frame, frame, 1);
    RoadPoint in[4];
    for (int k = 0; k < 4; k++) {
      const RoadPoint mid = {(p[0].x + p[1].x + p[2].x + p[3].x) * 0.25f,
                             (p[0].y + p[1].y + p[2].y + p[3].y) * 0.25f};
      in[k] = (RoadPoint){tm_road_lerp(p[k].x, mid.x, 0.09f), tm_road_lerp(p[k].y, mid.y, 0.10f)};
    }
    tm_road_flat(&c->rd->canvas, in, 4, ROAD_CAR, tm_road_mix(dark, c->rd->light.horizon, 0.38f), dark, 1);
    return;
  }
  if (a->strip == STRIP_ROOF) low = top = tm_road_mix(top, c->rd->light.horizon, 0.22f);
  if (a->strip == STRIP_BUMPER) top = tm_road_scale(top, 0.8f), low = tm_road_scale(low, 0.55f);
  tm_road_flat(&c->rd->canvas, p, 4, ROAD_CAR, top, low, 1);
}

static void wheel(Car *c, float x, float share) {
  enum { N = 14 };
  RoadPoint tyre[N], hub[N];
  const float z = along(c, share), r = c->m->wheel;
  for (int i = 0; i < N; i++) {
    const float s = tm_road_sin((float)i / N), k = tm_road_cos((float)i / N);
    tyre[i] = at(c, x, r + r * s, z + r * k);
    hub[i] = at(c, x * 1.01f, r + 0.62f * r * s, z + 0.62f * r * k);
  }
  if (!c->ok) return;
  const RoadColour black = shaded(c, (RoadColour){0.06f, 0.06f, 0.065f}, 0, 1),
                   grey = shaded(c, (RoadColour){0.48f, 0.49f, 0.50f}, 0.3f, 0.9f);
  tm_road_flat(&c->rd->canvas, tyre, N, ROAD_CAR, black, black, 1);
  tm_road_flat(&c->rd->canvas, hub, N, ROAD_CAR, grey, tm_road_scale(grey, 0.6f), 1);
}

/* The windows of a side, between belt and roof, with pillars. */
static void side_windows(Car *c, float sign) {
  const Model *m = c->m;
  const Profile *a = m->p + m->belt0, *b = m->p + m->belt1;
  const Profile *ra = a + 1, *rb = b - 1;
  const RoadColour dark =
      tm_road_fogged(c->rd, tm_road_times((RoadColour){0.11f, 0.13f, 0.15f}, c->rd->light.ambient), c->t->z);
  const RoadColour top = tm_road_mix(dark, c->rd->light.horizon, 0.22f);
  for (int i = 0; i < m->windows; i++) {
    const float t0 = (float)i / (float)m->windows + 0.045f, t1 = (float)(i + 1) / (float)m->windows - 0.045f;
    const float zb0 = along(c, tm_road_lerp(a->z, b->z, t0)), zb1 = along(c, tm_road_lerp(a->z, b->z, t1));
    const float zr0 = along(c, tm_road_lerp(ra->z, rb->z, t0)),
                zr1 = along(c, tm_road_lerp(ra->z, rb->z, t1));
    const float yb = a->y + 0.05f, yr = tm_road_min(ra->y, rb->y) - 0.07f, hb = a->half * half(c) * sign,
                hr = ra->half * half(c) * sign;
    const RoadPoint p[4] = {at(c, hb, yb, zb0), at(c, hr, yr, zr0), at(c, hr, yr, zr1), at(c, hb, yb, zb1)};
    if (c->ok) tm_road_flat(&c->rd->canvas, p, 4, ROAD_CAR, top, dark, 1);
  }
}

static void side(Car *c, float sign) {
  const Model *m = c->m;
  /* The whole outline as one shape: each point at its own half width. */
  RoadPoint p[MAX_PROFILE];
  for (int i = 0; i < m->n; i++) p[i] = at(c, sign * m->p[i].half * half(c), m->p[i].y, along(c, m->p[i].z));
  if (!c->ok || winding(p, m->n) * sign >= 0) return;
  const float facing = tm_road_facing(c->rd, sign * c->cos, -sign * c->sin);
  const RoadColour k = shaded(c, c->paint, facing, 0.92f);
  tm_road_flat(&c->rd->canvas, p, m->n, ROAD_CAR, tm_road_mix(k, c->rd->light.horizon, 0.16f),
               tm_road_scale(k, 0.62f), 1);
  /* A sill, a crease with the sky in it, and door gaps. */
  const float x = sign * half(c) * 0.985f, belt = m->p[m->belt0].y;
  const RoadPoint crease[4] = {
      at(c, x, belt * 0.80f, along(c, 0.03f)), at(c, x, belt * 0.86f, along(c, 0.03f)),
      at(c, x, belt * 0.82f, along(c, 0.95f)), at(c, x, belt * 0.77f, along(c, 0.95f))};
  if (c->ok) tm_road_flat(&c->rd->canvas, crease, 4, -1, tm_road_scale(k, 1.25f), k, 0.6f);
  side_windows(c, sign);
  const RoadColour gap = tm_road_scale(k, 0.45f);
  for (int i = 0; i < 2 && m != models + BUS; i++) {
    const float z = along(c, 0.44f + 0.22f * (float)i);
    const RoadPoint door[4] = {at(c, x, 0.38f, z), at(c, x, belt, z), at(c, x, belt, z + 0.035f),
                               at(c, x, 0.38f, z + 0.035f)};
    if (c->ok) tm_road_flat(&c->rd->canvas, door, 4, -1, gap, gap, 0.7f);
  }
  wheel(c, sign * half(c) * 0.98f, m->axle0);
  wheel(c, sign * half(c) * 0.98f, m->axle1);
}

static void lamp(Car *c, float x0, float x1, float y0, float y1, float z, RoadColour k, float glow) {
  const RoadPoint p[4] = {at(c, x0, y0, z), at(c, x0, y1, z), at(c, x1, y1, z), at(c, x1, y0, z)};
  if (!c->ok) return;
  tm_road_flat(&c->rd->canvas, p, 4, ROAD_CAR, k, tm_road_scale(k, 0.85f), 1);
  if (glow > 0) {
    const float px = c->rd->f / c->t->z;
    tm_road_glow(&c->rd->canvas, (p[0].x + p[2].x) * 0.5f, (p[0].y + p[2].y) * 0.5f,
                 tm_road_max(0.5f * px, 2), tm_road_scale(k, glow));
  }
}

/* Lamps and plate of the end that is seen. */
static void end(Car *c, gboolean front) {
  const Model *m = c->m;
  const Profile *p = front ? m->p + m->n - 2 : m->p + 1;
  const float z = along(c, front ? 1.0f : 0.0f) + (front ? 0.01f : -0.01f), w = half(c) * p->half, y = p->y;
  const float dusk = c->rd->light.dusk, high = m == models + BUS ? 0.25f : 0.16f;
  const gboolean lit = dusk > 0.15f || c->t->seed % 5 == 0;
  const float yl = front ? y : y + 0.04f, yh = front ? y + high : y + high + 0.12f;
  const RoadColour k =
      front ? (lit ? (RoadColour){1, 0.97f, 0.86f} : shaded(c, (RoadColour){0.80f, 0.82f, 0.84f}, 0.4f, 1))
      : lit ? (RoadColour){0.92f, 0.10f, 0.07f}
            : shaded(c, (RoadColour){0.55f, 0.07f, 0.07f}, 0.4f, 1);
  const float glow = lit ? (front ? 0.35f + 0.6f * dusk : 0.15f + 0.45f * dusk) : 0;
  const float sign = front ? -1 : 1; /* keeps the quads' corners in order */
  lamp(c, -sign * w * 0.97f, -sign * w * 0.66f, yl, yh, z, k, glow);
  lamp(c, sign * w * 0.66f, sign * w * 0.97f, yl, yh, z, k, glow);
  const RoadColour plate =
      shaded(c, front ? (RoadColour){0.85f, 0.85f, 0.82f} : (RoadColour){0.86f, 0.74f, 0.22f}, 0.4f, 1);
  lamp(c, -0.26f * sign, 0.26f * sign, y - 0.17f, y - 0.05f, z, plate, 0);
  if (front)
    lamp(c, -w * 0.55f * sign, w * 0.55f * sign, y + 0.02f, y + 0.13f, z,
         shaded(c, (RoadColour){0.10f, 0.10f, 0.11f}, 0, 1), 0);
}

static void ground_shadow(Car *c) {
  const float w = half(c) * 1.08f, l = c->m->length * 0.5f;
  const RoadLight *li = &c->rd->light;
  const RoadColour black = {0.02f, 0.02f, 0.025f};
  const RoadPoint p[4] = {at(c, -w, 0, -l - 0.12f), at(c, -w, 0, l + 0.1f), at(c, w, 0, l + 0.1f),
                          at(c, w, 0, -l - 0.12f)};
  if (!c->ok) return;
  if (li->sun > 0.5f) { /* the cast shadow leans away from the sun */
    const float s = tm_road_min(li->cot, 2.5f) * 0.9f, dx = -li->side * s, dz = -li->ahead * s;
    const float lx = dx * c->cos - dz * c->sin, lz = dx * c->sin + dz * c->cos;
    const RoadPoint q[4] = {at(c, -w + lx, 0, -l + lz), at(c, -w + lx, 0, l + lz), at(c, w + lx, 0, l + lz),
                            at(c, w + lx, 0, -l + lz)};
    if (c->ok) tm_road_flat(&c->rd->canvas, q, 4, -1, black, black, 0.38f);
    c->ok = TRUE;
  }
  tm_road_flat(&c->rd->canvas, p, 4, -1, black, black, 0.72f);
}

static RoadColour paint_of(guint32 seed) {
  static const RoadColour paints[] = {{0.60f, 0.61f, 0.62f}, {0.10f, 0.10f, 0.11f}, {0.80f, 0.80f, 0.79f},
                                      {0.45f, 0.07f, 0.07f}, {0.07f, 0.13f, 0.32f}, {0.30f, 0.32f, 0.34f},
                                      {0.10f, 0.22f, 0.17f}, {0.66f, 0.13f, 0.09f}, {0.45f, 0.53f, 0.62f},
                                      {0.58f, 0.54f, 0.44f}, {0.13f, 0.30f, 0.50f}, {0.78f, 0.62f, 0.12f},
                                      {0.36f, 0.25f, 0.19f}};
  return paints[tm_road_hash(seed, 30, 1) % G_N_ELEMENTS(paints)];
}

/* style: model; angle: turns, 0 driving away, 0.5 coming */
void tm_road_car(Road *rd, const RoadThing *t) {
  Car c = {.rd = rd,
           .t = t,
           .m = models + t->style,
           .sin = tm_road_sin(t->angle),
           .cos = tm_road_cos(t->angle),
           .paint = paint_of(t->seed),
           .ok = TRUE};
  if (t->style == VAN && t->seed % 3) c.paint = (RoadColour){0.82f, 0.82f, 0.80f};
  ground_shadow(&c);
  if (!c.ok) return;
  /* Under the body it is dark. */
  const float w = half(&c) * 0.94f, l = c.m->length * 0.5f;
  const float near = c.cos >= 0 ? -l : l;
  const RoadColour under = shaded(&c, (RoadColour){0.03f, 0.03f, 0.03f}, 0, 1);
  const RoadPoint u[4] = {at(&c, -w, 0.10f, near * 0.97f), at(&c, -w, 0.42f, near * 0.97f),
                          at(&c, w, 0.42f, near * 0.97f), at(&c, w, 0.10f, near * 0.97f)};
  tm_road_flat(&rd->canvas, u, 4, ROAD_CAR, under, under, 1);
  for (int k = 0; k < 2; k++) { /* the far wheels under the near end */
    const float x = (k ? 0.80f : -0.80f) * half(&c),
                z = along(&c, c.cos >= 0 ? c.m->axle0 : c.m->axle1) * 0.98f;
    const RoadPoint p[4] = {at(&c, x - 0.11f, 0.0f, z), at(&c, x - 0.11f, 0.4f, z),
                            at(&c, x + 0.11f, 0.4f, z), at(&c, x + 0.11f, 0.0f, z)};
    tm_road_flat(&rd->canvas, p, 4, ROAD_CAR, under, under, 1);
  }
  /* Sides first, then the strips from the far end to the near one. */
  side(&c, -1);
  side(&c, 1);
  const int n = c.m->n - 1;
  for (int i = 0; i < n; i++) strip(&c, c.cos >= 0 ? n - 1 - i : i);
  end(&c, c.cos < 0);
}
