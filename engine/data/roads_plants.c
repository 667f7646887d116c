#include "engine/data/roads_private.h"

enum { MAX_BLOBS = 14 };

/* A crown of round clumps. Coordinates are pixels; noise is fixed to the tree, so its leaves have a size in
 * metres. */
typedef struct {
  float x, y, per_r, tone;
} Blob;
typedef struct {
  const Road *rd;
  Blob blob[MAX_BLOBS];
  int n;
  float x, y, scale; /* metres per pixel */
  float du, dv;
  float ragged, thin, gaps, speck, leaves; /* how torn the edge is; how far in; holes; how plainly single
                                              leaves are seen; leaves a metre */
  guint32 seed;
  RoadColour leaf;
  float sun_x, z, opacity;
  gboolean bare;
} Crown;

static RoadInk shade_crown(const void *ctx, float x, float y) {
  const Crown *c = ctx;
  float best = -9, nx = 0, ny = 0, tone = 1;
  for (int i = 0; i < c->n; i++) {
    const Blob *b = c->blob + i;
    const float dx = (x - b->x) * b->per_r, dy = (y - b->y) * b->per_r, f = 1 - dx * dx - dy * dy;
    if (f > best) best = f, nx = dx, ny = dy, tone = b->tone;
  }
  if (best < -0.8f) return (RoadInk){0};
  const float u = (x - c->x) * c->scale + c->du, v = (y - c->y) * c->scale + c->dv;
  const float big = tm_road_cloud(u * 0.7f, v * 0.7f) - 0.5f, fine = tm_road_cloud(u * 3.3f, v * 3.3f) - 0.5f;
  const float speck = c->speck * (tm_road_rand(c->seed, (guint32)(int)tm_road_floor(u * c->leaves),
                                               (guint32)(int)tm_road_floor(v * c->leaves)) -
                                  0.5f);
  const float solid = best + c->ragged * (0.5f * big + fine) + 0.5f * speck;
  if (solid < c->thin || (best < 0.6f && fine + big + 0.3f * speck < c->gaps)) return (RoadInk){0};
  const float light = tm_road_clamp(
      0.50f - 0.26f * ny + 0.20f * nx * c->sun_x + 1.3f * fine + 0.5f * big + 0.4f * speck, 0, 1.15f);
  const RoadColour k =
      tm_road_lit(c->rd, tm_road_scale(c->leaf, tone * (0.34f + 0.95f * light)), light, light);
  return tm_road_ink(tm_road_fogged(c->rd, k, c->z), c->opacity);
}

/* A bare crown: mostly sky between twigs, all of it tree. */
static RoadInk shade_bare(const void *ctx, float x, float y) {
  const Crown *c = ctx;
  RoadInk k = shade_crown(ctx, x, y);
  if (k.a <= 0) return k;
  const float u = (x - c->x) * c->scale + c->du, v = (y - c->y) * c->scale + c->dv;
  const float twig = tm_road_abs(tm_road_cloud(u * 1.6f + v * 0.5f, v * 0.9f) - 0.5f),
              other = tm_road_abs(tm_road_cloud(u * 1.3f - v * 0.6f + 20, v * 1.1f) - 0.5f);
  k.a = 0.22f + 0.6f * (1 - tm_road_step(0.0f, 0.05f, tm_road_min(twig, other)));
  return k;
}

static void fill_crown(Road *rd, const Crown *c) {
  float x0 = 1e9f, x1 = -1e9f, y0 = 1e9f, y1 = -1e9f;
  for (int i = 0; i < c->n; i++) {
    const float r = 1.35f / c->blob[i].per_r;
    x0 = tm_road_min(x0, c->blob[i].x - r);
    x1 = tm_road_max(x1, c->blob[i].x + r);
    y0 = tm_road_min(y0, c->blob[i].y - r);
    y1 = tm_road_max(y1, c->blob[i].y + r);
  }
  const RoadPoint box[4] = {{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}};
  RoadPaint paint = {.shade = shade_crown, .ctx = c, .label = ROAD_TREE, .holes = TRUE};
  if (c->bare) {
    paint.shade = shade_bare;
    paint.label = -1;
  }
  tm_road_fill(&rd->canvas, box, 4, &paint);
  if (!c->bare) return;
  const RoadPaint outline = {.shade = shade_crown, .ctx = c, .label = ROAD_TREE, .holes = TRUE};
  tm_road_label(&rd->canvas, box, 4, &outline);
}

static RoadColour leaf_colour(guint32 seed) {
  static const RoadColour leaves[] = {{0.26f, 0.35f, 0.14f}, {0.20f, 0.30f, 0.15f}, {0.33f, 0.38f, 0.16f},
                                      {0.38f, 0.33f, 0.15f}, {0.22f, 0.31f, 0.20f}, {0.46f, 0.32f, 0.13f},
                                      {0.28f, 0.37f, 0.19f}};
  return leaves[tm_road_hash(seed, 70, 1) % G_N_ELEMENTS(leaves)];
}

static RoadColour bark(const Road *rd, guint32 seed, float k, float z) {
  const RoadColour c = tm_road_mix((RoadColour){0.26f, 0.21f, 0.16f}, (RoadColour){0.42f, 0.39f, 0.34f},
                                   tm_road_rand(seed, 71, 1));
  return tm_road_fogged(rd, tm_road_lit(rd, tm_road_scale(c, k), 0.5f, k), z);
}

/* Branches that fork: the first ones thick, then thinner and steeper outward. */
static void branch(Road *rd, RoadPoint from, float angle, float length, float radius, int depth, guint32 seed,
                   const RoadColour *dark, const RoadColour *pale) {
  const RoadPoint to = {from.x + length * tm_road_sin(angle), from.y - length * tm_road_cos(angle)};
  tm_road_limb(&rd->canvas, from, tm_road_max(radius, 0.18f), to, tm_road_max(radius * 0.65f, 0.15f),
               radius > 0.35f ? ROAD_TREE : -1, *pale, *dark);
  if (depth == 0 || length < 1.2f) return;
  const int n = 2 + (int)(tm_road_rand(seed, 1, 1) * 1.6f);
  for (int i = 0; i < n; i++) {
    const float spread =
        ((float)i - (float)(n - 1) * 0.5f) * 0.13f + (tm_road_rand(seed, 2, (guint32)i) - 0.5f) * 0.10f;
    const float shorter = 0.62f + 0.22f * tm_road_rand(seed, 3, (guint32)i);
    branch(rd, to, angle + spread, length * shorter, radius * 0.62f, depth - 1, seed * 7 + (guint32)i + 1,
           dark, pale);
  }
}

static void plan_crown(Crown *c, const RoadThing *t, float x, float base, float px, float aspect) {
  const float radius = t->width * 0.5f * px, mid = base - (t->height - t->width * 0.5f * aspect) * px;
  c->n = 7 + (int)(tm_road_rand(t->seed, 72, 1) * (MAX_BLOBS - 7));
  for (int i = 0; i < c->n; i++) {
    const float a = (float)i / (float)c->n + 0.1f * tm_road_rand(t->seed, 73, (guint32)i),
                r = i == 0 ? 0 : radius * (0.35f + 0.35f * tm_road_rand(t->seed, 74, (guint32)i));
    const float size = radius * (i == 0 ? 0.72f : 0.38f + 0.24f * tm_road_rand(t->seed, 75, (guint32)i));
    c->blob[i] = (Blob){x + r * tm_road_cos(a), mid + r * aspect * tm_road_sin(a),
                        1 / tm_road_max(size, 0.3f), 0.85f + 0.3f * tm_road_rand(t->seed, 76, (guint32)i)};
  }
  c->x = x;
  c->y = mid;
}

static Crown make_crown(const Road *rd, const RoadThing *t, float px) {
  Crown c = {.rd = rd,
             .scale = 1 / px,
             .z = t->z,
             .leaf = leaf_colour(t->seed),
             .sun_x = rd->light.side,
             .opacity = 1};
  c.du = (float)(t->seed & 63);
  c.dv = (float)(t->seed >> 6 & 63);
  c.seed = t->seed;
  c.speck = tm_road_clamp(1.4f - c.scale * 9, 0.25f, 1);
  c.leaves =
      tm_road_clamp(0.4f / c.scale, 3, 24); /* two or three pixels each: larger ones would look like tiles */
  c.gaps = -0.30f + 0.16f * tm_road_rand(t->seed, 82, 1);
  c.ragged = 1.5f + 1.5f * tm_road_rand(t->seed, 77, 1);
  c.thin = 0.02f + 0.25f * tm_road_rand(t->seed, 78, 1);
  return c;
}

/* style 0 broadleaf, 1 slender, 2 bare, 3 conifer, 4 bush without a trunk */
void tm_road_tree(Road *rd, const RoadThing *t) {
  const float px = rd->f / t->z;
  const RoadPoint foot = tm_road_project(rd, t->x, 0, t->z);
  Crown c = make_crown(rd, t, px);
  const float aspect = t->style == 1 ? 1.7f : t->style == 3 ? 2.1f : t->style == 4 ? 0.7f : 0.95f;
  plan_crown(&c, t, foot.x + (tm_road_rand(t->seed, 79, 1) - 0.5f) * 0.6f * px, foot.y, px, aspect);
  const RoadColour dark = bark(rd, t->seed, 0.6f, t->z), pale = bark(rd, t->seed, 1.05f, t->z);
  const float lean = (tm_road_rand(t->seed, 80, 1) - 0.5f) * 0.03f, thick = t->width * 0.035f + 0.06f;
  if (t->style == 3)
    for (int i = 0; i < c.n; i++) { /* a cone of clumps */
      const float k = (float)i / (float)(c.n - 1);
      c.blob[i].x = foot.x + (tm_road_rand(t->seed, 81, (guint32)i) - 0.5f) * t->width * 0.35f * k * px;
      c.blob[i].y = foot.y - t->height * (1 - 0.85f * k) * px;
      c.blob[i].per_r = 1 / tm_road_max(t->width * (0.10f + 0.38f * k) * px, 0.4f);
    }
  if (t->style != 4) {
    const float trunk = (t->style == 3 ? 0.3f : t->height - t->width * 0.5f * aspect) * px;
    const RoadPoint top = {foot.x + lean * trunk * 4, foot.y - trunk};
    tm_road_limb(&rd->canvas, foot, tm_road_max(thick * px * 1.25f, 0.5f), top,
                 tm_road_max(thick * px * 0.8f, 0.35f), ROAD_TREE, pale, dark);
    const int depth = t->style == 2 ? (px > 9 ? 5 : 4) : 2;
    if (t->style != 3)
      for (int i = 0; i < 3; i++)
        branch(rd, top, lean * 3 + ((float)i - 1) * 0.09f, t->width * (t->style == 2 ? 0.34f : 0.25f) * px,
               thick * px * 0.62f, depth, t->seed + (guint32)i * 99, &dark, &pale);
  }
  c.bare = t->style == 2;
  if (c.bare) {
    c.leaf = (RoadColour){0.30f, 0.25f, 0.20f};
    c.thin = -0.1f;
    c.ragged = 1.8f;
    c.gaps = -1;
  }
  fill_crown(rd, &c);
}

/* A hedge: an upright sheet of leaves with an uneven upper edge. */
typedef struct {
  const Road *rd;
  RoadWall wall;
  RoadColour leaf;
  float height, x, facing, du;
  gboolean clipped;
} Hedge;

static RoadInk shade_hedge(const void *ctx, float x, float y) {
  const Hedge *h = ctx;
  float u, v, z;
  tm_road_on_wall(h->rd, &h->wall, x, y, &u, &v, &z);
  const float big = tm_road_cloud(u * 0.35f + h->du, v * 0.3f),
              fine = tm_road_cloud(u * 3.3f + h->du, v * 3.3f);
  const float top = h->height * (h->clipped ? 0.95f : 0.62f + 0.5f * big) + 0.25f * (fine - 0.5f);
  if (v > top) return (RoadInk){0};
  const float up = tm_road_clamp(v / h->height, 0, 1),
              tone = 0.40f + 0.45f * up + 1.5f * (fine - 0.45f) + 0.25f * (big - 0.5f);
  const RoadColour c = tm_road_lit(h->rd, tm_road_scale(h->leaf, tone), tm_road_max(h->facing, 0.3f * up),
                                   tm_road_sunny(h->rd, h->x, v, z));
  return tm_road_ink(tm_road_fogged(h->rd, c, z), 1);
}

void tm_road_hedge(Road *rd, const RoadThing *t) {
  Hedge h = {.rd = rd,
             .leaf = leaf_colour(t->seed),
             .height = t->height,
             .x = t->x,
             .du = (float)(t->seed & 63),
             .clipped = t->style == 1};
  h.facing = tm_road_facing(rd, t->side == ROAD_LEFT ? 1 : -1, 0);
  RoadPoint p[4];
  if (!tm_road_wall(rd, t->x, t->z0, t->x, t->z1, t->height * 1.25f, 0, &h.wall, p)) return;
  const RoadPaint paint = {.shade = shade_hedge, .ctx = &h, .label = ROAD_TREE, .holes = TRUE};
  tm_road_fill(&rd->canvas, p, 4, &paint);
}
