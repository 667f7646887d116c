#include "engine/data/roads_private.h"

static RoadColour seen(const Road *rd, RoadColour c, float facing, float z) {
  return tm_road_fogged(rd, tm_road_lit(rd, c, facing, 1), z);
}

/* Half a width in pixels that stays visible far away: thinner than this nobody could label. */
static float at_least(float half, float px) {
  return tm_road_max(half * px, 0.46f);
}

static void post(Road *rd, float x, float z, float height, float half, RoadColour c) {
  const float px = rd->f / z, r = at_least(half, px);
  const RoadPoint foot = tm_road_project(rd, x, 0, z), top = tm_road_project(rd, x, height, z);
  const RoadColour k = seen(rd, c, 0.4f, z), light = tm_road_scale(k, rd->light.side < 0 ? 1.25f : 0.7f),
                   dark = tm_road_scale(k, rd->light.side < 0 ? 0.7f : 1.25f);
  const RoadPoint p[4] = {{foot.x - r * 1.15f, foot.y},
                          {top.x - r * 0.8f, top.y},
                          {top.x + r * 0.8f, top.y},
                          {foot.x + r * 1.15f, foot.y}};
  tm_road_flat(&rd->canvas, p, 4, ROAD_POLE, k, k, 1);
  const RoadPoint l[4] = {p[0], p[1], {top.x, top.y}, {foot.x, foot.y}},
                  d[4] = {{foot.x, foot.y}, {top.x, top.y}, p[2], p[3]};
  tm_road_flat(&rd->canvas, l, 4, -1, light, light, 0.6f);
  tm_road_flat(&rd->canvas, d, 4, -1, dark, dark, 0.6f);
}

RoadColour tm_road_metal(guint32 seed) {
  static const RoadColour all[] = {{0.48f, 0.50f, 0.51f},
                                   {0.26f, 0.28f, 0.29f},
                                   {0.62f, 0.63f, 0.62f},
                                   {0.13f, 0.20f, 0.17f},
                                   {0.36f, 0.30f, 0.24f}};
  return all[tm_road_hash(seed, 40, 1) % G_N_ELEMENTS(all)];
}

/* style 0 arm over the road, 1 lantern on top, 2 bollard, 3 wooden pole with wires */
void tm_road_lamp(Road *rd, const RoadThing *t) {
  const float px = rd->f / t->z, in = t->side == ROAD_LEFT ? 1 : -1;
  const RoadColour c = t->style == 3 ? (RoadColour){0.34f, 0.27f, 0.20f} : tm_road_metal(t->seed),
                   k = seen(rd, c, 0.4f, t->z);
  post(rd, t->x, t->z, t->height, t->style == 2 ? 0.09f : t->style == 3 ? 0.12f : 0.075f, c);
  const RoadPoint top = tm_road_project(rd, t->x, t->height, t->z);
  const float glow = rd->light.dusk;
  if (t->style == 0) {
    const RoadPoint bend = {top.x + in * 0.5f * px, top.y - 0.45f * px},
                    end = {top.x + in * 1.7f * px, top.y - 0.55f * px};
    tm_road_limb(&rd->canvas, top, at_least(0.05f, px), bend, at_least(0.045f, px), ROAD_POLE, k, k);
    tm_road_limb(&rd->canvas, bend, at_least(0.045f, px), end, at_least(0.045f, px), ROAD_POLE, k, k);
    const RoadPoint tip = {end.x + in * 0.6f * px, end.y + 0.02f * px};
    tm_road_limb(&rd->canvas, end, at_least(0.11f, px), tip, at_least(0.07f, px), ROAD_POLE,
                 tm_road_scale(k, 1.2f), tm_road_scale(k, 0.8f));
    if (glow > 0.3f)
      tm_road_glow(&rd->canvas, tip.x - in * 0.3f * px, tip.y, tm_road_max(1.6f * px, 3),
                   (RoadColour){0.75f * glow, 0.52f * glow, 0.22f * glow});
  } else if (t->style == 1) {
    const float w = 0.2f * px, h = 0.5f * px;
    const RoadColour glass =
        glow > 0.3f ? (RoadColour){1, 0.85f, 0.55f} : tm_road_mix(k, rd->light.horizon, 0.6f);
    const RoadPoint p[4] = {
        {top.x - w * 0.6f, top.y}, {top.x - w, top.y - h}, {top.x + w, top.y - h}, {top.x + w * 0.6f, top.y}};
    tm_road_flat(&rd->canvas, p, 4, ROAD_POLE, glass, glass, 1);
    tm_road_box(&rd->canvas, top.x - w * 1.15f, top.y - h * 1.3f, top.x + w * 1.15f, top.y - h, ROAD_POLE, k,
                k);
    if (glow > 0.3f)
      tm_road_glow(&rd->canvas, top.x, top.y - h * 0.5f, tm_road_max(1.3f * px, 3),
                   (RoadColour){0.6f * glow, 0.45f * glow, 0.2f * glow});
  } else if (t->style == 2) {
    const RoadColour band = seen(rd, (RoadColour){0.9f, 0.9f, 0.88f}, 0.4f, t->z);
    tm_road_box(&rd->canvas, top.x - at_least(0.09f, px), top.y + 0.10f * px, top.x + at_least(0.09f, px),
                top.y + 0.2f * px, -1, band, band);
  } else {
    const float y = top.y + 0.5f * px;
    tm_road_box(&rd->canvas, top.x - 0.8f * px, y - at_least(0.05f, px), top.x + 0.8f * px,
                y + at_least(0.05f, px), ROAD_POLE, k, k);
  }
}

static const RoadColour red = {0.74f, 0.10f, 0.11f}, white = {0.93f, 0.93f, 0.91f},
                        blue = {0.07f, 0.26f, 0.58f}, green = {0.04f, 0.36f, 0.22f},
                        yellow = {0.90f, 0.70f, 0.08f}, black = {0.07f, 0.07f, 0.07f},
                        brown = {0.36f, 0.21f, 0.12f};

static void disc(Road *rd, float x, float y, float r, RoadColour c, float z) {
  const RoadColour k = seen(rd, c, 0.5f, z);
  tm_road_ellipse(&rd->canvas, x, y, r, r, ROAD_SIGN, k, tm_road_scale(k, 0.9f), 1);
}

static void polygon(Road *rd, float x, float y, float r, int n, float turn, RoadColour c, float z) {
  RoadPoint p[8];
  for (int i = 0; i < n; i++) {
    const float t = turn + (float)i / (float)n;
    p[i] = (RoadPoint){x + r * tm_road_sin(t), y - r * tm_road_cos(t)};
  }
  const RoadColour k = seen(rd, c, 0.5f, z);
  tm_road_flat(&rd->canvas, p, n, ROAD_SIGN, k, tm_road_scale(k, 0.9f), 1);
}

static void plate(Road *rd, float x, float y, float w, float h, RoadColour c, RoadColour ink, int lines,
                  float z) {
  const RoadColour k = seen(rd, c, 0.5f, z), i = seen(rd, ink, 0.5f, z);
  tm_road_box(&rd->canvas, x - w, y - h, x + w, y + h, ROAD_SIGN, i, i);
  tm_road_box(&rd->canvas, x - w * 0.94f, y - h * 0.94f, x + w * 0.94f, y + h * 0.94f, ROAD_SIGN, k,
              tm_road_scale(k, 0.92f));
  for (int l = 0; l < lines; l++) {
    const float ly = y - h * 0.65f + 1.4f * h * ((float)l + 0.3f) / (float)lines,
                lh = 0.42f * h / (float)lines;
    tm_road_box(&rd->canvas, x - w * 0.8f, ly,
                x + w * (0.2f + 0.55f * tm_road_rand((guint32)l, (guint32)lines, 5)), ly + lh, ROAD_SIGN, i,
                i);
  }
}

/* A poster: two colours, a picture of sorts, and a line of words. */
static void poster(Road *rd, float x, float y, float w, float h, guint32 seed, float z) {
  const RoadColour a = {tm_road_rand(seed, 1, 7), tm_road_rand(seed, 2, 7), tm_road_rand(seed, 3, 7)},
                   b = {tm_road_rand(seed, 4, 7), tm_road_rand(seed, 5, 7), tm_road_rand(seed, 6, 7)};
  plate(rd, x, y, w, h, tm_road_mix(a, white, 0.2f), black, 0, z);
  const RoadColour kb = seen(rd, tm_road_mix(b, white, 0.15f), 0.5f, z), kw = seen(rd, white, 0.5f, z);
  tm_road_ellipse(&rd->canvas, x - w * 0.1f, y - h * 0.1f, w * 0.6f, h * 0.4f, ROAD_SIGN, kb,
                  tm_road_scale(kb, 0.8f), 1);
  tm_road_box(&rd->canvas, x - w * 0.75f, y + h * 0.55f, x + w * 0.6f, y + h * 0.72f, ROAD_SIGN, kw, kw);
}

static void sign_face(Road *rd, int style, float x, float y, float px, guint32 seed, float z) {
  const float r = (0.34f + 0.10f * tm_road_rand(seed, 41, 1)) * px;
  const RoadColour ink = seen(rd, black, 0.5f, z);
  switch (style) {
  case 0: /* limit */
    disc(rd, x, y, r, red, z);
    disc(rd, x, y, r * 0.76f, white, z);
    tm_road_box(&rd->canvas, x - r * 0.45f, y - r * 0.33f, x - r * 0.08f, y + r * 0.33f, ROAD_SIGN, ink, ink);
    tm_road_box(&rd->canvas, x + r * 0.08f, y - r * 0.33f, x + r * 0.45f, y + r * 0.33f, ROAD_SIGN, ink, ink);
    break;
  case 1: /* warning */
    polygon(rd, x, y, r * 1.25f, 3, 0, red, z);
    polygon(rd, x, y + r * 0.04f, r * 0.84f, 3, 0, white, z);
    tm_road_box(&rd->canvas, x - r * 0.09f, y - r * 0.35f, x + r * 0.09f, y + r * 0.3f, ROAD_SIGN, ink, ink);
    break;
  case 2:
    polygon(rd, x, y, r * 1.1f, 8, 0.0625f, white, z);
    polygon(rd, x, y, r, 8, 0.0625f, red, z);
    plate(rd, x, y, r * 0.6f, r * 0.16f, white, white, 0, z);
    break;
  case 3: { /* keep this way */
    disc(rd, x, y, r, white, z);
    disc(rd, x, y, r * 0.93f, blue, z);
    const RoadColour w = seen(rd, white, 0.5f, z);
    tm_road_limb(&rd->canvas, (RoadPoint){x + r * 0.45f, y - r * 0.45f}, r * 0.12f,
                 (RoadPoint){x - r * 0.35f, y + r * 0.35f}, r * 0.12f, ROAD_SIGN, w, w);
    break;
  }
  case 4:
    polygon(rd, x, y, r * 1.3f, 3, 0.5f, red, z);
    polygon(rd, x, y, r * 0.85f, 3, 0.5f, white, z);
    break;
  case 5:
    disc(rd, x, y, r, red, z);
    plate(rd, x, y, r * 0.7f, r * 0.18f, white, white, 0, z);
    break;
  case 6:
    plate(rd, x, y, r * 2.3f, r * 1.2f, seed & 1 ? blue : green, white, 3, z);
    break;
  case 7:
    plate(rd, x, y, r * 1.0f, r * 1.0f, seed & 1 ? blue : yellow, white, 1, z);
    break;
  case 8:
    plate(rd, x, y, r * 1.5f, r * 0.6f, seed & 1 ? brown : white, seed & 1 ? white : black, 1, z);
    break;
  default:
    polygon(rd, x, y, r * 1.15f, 4, 0, white, z);
    polygon(rd, x, y, r * 0.85f, 4, 0, yellow, z);
    break;
  }
}

/* styles 0..9 on a post; 10 poster stand; 11 tall totem */
void tm_road_sign(Road *rd, const RoadThing *t) {
  const float px = rd->f / t->z;
  if (t->style >= 10) {
    const float w = (t->style == 10 ? 0.62f : 0.5f) * px, h = (t->style == 10 ? 0.95f : 1.5f) * px;
    post(rd, t->x, t->z, 0.6f, 0.1f, tm_road_metal(t->seed));
    const RoadPoint c = tm_road_project(rd, t->x, t->style == 10 ? 1.5f : 1.9f, t->z);
    poster(rd, c.x, c.y, w, h, t->seed, t->z);
    return;
  }
  post(rd, t->x, t->z, t->height, 0.035f, tm_road_metal(t->seed));
  const RoadPoint c = tm_road_project(rd, t->x, t->height - 0.35f, t->z);
  sign_face(rd, t->style, c.x, c.y, px, t->seed, t->z);
  if (tm_road_rand(t->seed, 42, 1) < 0.3f && t->style < 6)
    plate(rd, c.x, c.y + 0.62f * px, 0.3f * px, 0.16f * px, white, black, 1, t->z);
}

/* Traffic lights: a black head with three lamps, one of them on. */
void tm_road_signal(Road *rd, const RoadThing *t) {
  const float px = rd->f / t->z, h = 0.46f * px, w = 0.19f * px;
  post(rd, t->x, t->z, t->height, 0.06f, tm_road_metal(t->seed));
  const RoadPoint c = tm_road_project(rd, t->x, t->height - 0.1f, t->z);
  const RoadColour k = seen(rd, black, 0.4f, t->z),
                   edge = seen(rd, (RoadColour){0.5f, 0.5f, 0.48f}, 0.4f, t->z);
  if (t->style & 1)
    tm_road_box(&rd->canvas, c.x - w * 1.5f, c.y - h * 1.2f, c.x + w * 1.5f, c.y + h * 1.2f, ROAD_SIGN, edge,
                edge);
  tm_road_box(&rd->canvas, c.x - w * 1.25f, c.y - h * 1.1f, c.x + w * 1.25f, c.y + h * 1.1f, ROAD_SIGN, k, k);
  static const RoadColour lamps[3] = {{0.98f, 0.16f, 0.10f}, {1.0f, 0.66f, 0.10f}, {0.20f, 0.95f, 0.62f}};
  const int on = (int)(t->seed % 3);
  for (int i = 0; i < 3; i++) {
    const float y = c.y + ((float)i - 1) * h * 0.68f;
    const RoadColour l = i == on ? lamps[i] : tm_road_scale(lamps[i], 0.16f);
    tm_road_ellipse(&rd->canvas, c.x, y, w * 0.72f, w * 0.72f, ROAD_SIGN, l, l, 1);
    if (i == on)
      tm_road_glow(&rd->canvas, c.x, y, w * 2.4f, tm_road_scale(lamps[i], 0.35f + 0.5f * rd->light.dusk));
  }
}

/* Things of no class: bins, cones, a hydrant, a pile under a sheet. */
void tm_road_clutter(Road *rd, const RoadThing *t) {
  const float px = rd->f / t->z;
  const RoadPoint foot = tm_road_project(rd, t->x, 0, t->z);
  RoadCanvas *c = &rd->canvas;
  tm_road_ellipse(c, foot.x, foot.y, 0.45f * px, 0.08f * px, -1, black, black, 0.35f);
  if (t->style == 0) {
    static const RoadColour bins[] = {{0.10f, 0.12f, 0.12f}, {0.12f, 0.28f, 0.16f}, {0.16f, 0.22f, 0.42f}};
    const RoadColour k = seen(rd, bins[t->seed % 3], 0.4f, t->z);
    const RoadPoint p[4] = {{foot.x - 0.27f * px, foot.y},
                            {foot.x - 0.33f * px, foot.y - 1.0f * px},
                            {foot.x + 0.33f * px, foot.y - 1.0f * px},
                            {foot.x + 0.27f * px, foot.y}};
    tm_road_flat(c, p, 4, ROAD_VOID, tm_road_scale(k, 1.2f), k, 1);
    tm_road_box(c, foot.x - 0.36f * px, foot.y - 1.09f * px, foot.x + 0.36f * px, foot.y - 0.98f * px,
                ROAD_VOID, tm_road_scale(k, 1.5f), k);
  } else if (t->style == 1) {
    const RoadColour k = seen(rd, (RoadColour){0.92f, 0.33f, 0.10f}, 0.5f, t->z),
                     w = seen(rd, white, 0.5f, t->z);
    const RoadPoint p[3] = {
        {foot.x - 0.2f * px, foot.y}, {foot.x, foot.y - 0.75f * px}, {foot.x + 0.2f * px, foot.y}};
    tm_road_flat(c, p, 3, ROAD_VOID, k, k, 1);
    tm_road_box(c, foot.x - 0.12f * px, foot.y - 0.42f * px, foot.x + 0.12f * px, foot.y - 0.27f * px,
                ROAD_VOID, w, w);
  } else if (t->style == 2) { /* a letter box */
    const RoadColour k = seen(rd, red, 0.4f, t->z);
    tm_road_limb(c, (RoadPoint){foot.x, foot.y - 0.12f * px}, 0.22f * px,
                 (RoadPoint){foot.x, foot.y - 1.28f * px}, 0.22f * px, ROAD_VOID, k, tm_road_scale(k, 0.65f));
  } else
    for (int i = 0; i < 3; i++) { /* sacks put out for collection */
      const float x = foot.x + ((float)i - 1) * 0.36f * px,
                  r = (0.20f + 0.08f * tm_road_rand(t->seed, (guint32)i, 44)) * px;
      const RoadColour k =
          seen(rd, t->seed & 1 ? (RoadColour){0.10f, 0.10f, 0.11f} : (RoadColour){0.42f, 0.40f, 0.30f}, 0.4f,
               t->z);
      tm_road_limb(c, (RoadPoint){x, foot.y - r * 0.8f}, r, (RoadPoint){x + r * 0.2f, foot.y - r * 1.6f},
                   r * 0.45f, ROAD_VOID, k, tm_road_scale(k, 0.6f));
    }
}
