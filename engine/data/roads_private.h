/* roads_private.h: what the files of the demo roads share. Private to data.
 *
 * World: metres; X to the right of the road's centre line, Y up from the tarmac, Z ahead of the camera. The
 * road's centre lies at tm_road_bend(z), so that everything that follows the road is laid out as if the road
 * were straight. Colours are 0..1 as they appear on the screen.
 *
 * The same bytes on every machine: only + - * / and square roots of floats (IEEE says how they round), no
 * contraction (see meson.build), nothing of libm, and no two draws of random numbers in one expression (C
 * leaves their order open). */
#pragma once

#include "engine/core/random.h"
#include "engine/data/roads.h"

enum {
  ROAD_SKY,
  ROAD_BUILDING,
  ROAD_POLE,
  ROAD_ROAD,
  ROAD_PAVEMENT,
  ROAD_TREE,
  ROAD_SIGN,
  ROAD_FENCE,
  ROAD_CAR,
  ROAD_PEDESTRIAN,
  ROAD_BICYCLIST,
  ROAD_VOID = 255
};
enum { ROAD_LEFT, ROAD_RIGHT };
enum { ROAD_BINS = 280 }; /* half metres of road whose skyline is known, for shadows */

typedef struct {
  float r, g, b;
} RoadColour;
typedef struct {
  float r, g, b, a;
} RoadInk; /* a: opacity */
typedef struct {
  float x, y;
} RoadPoint; /* pixels, x to the right, y down, pixel (0,0) covers 0..1 */

/* Colour at twice the size (each pixel is the mean of four), labels at the pixels' centres. */
typedef struct {
  int w, h;       /* of the picture */
  guint8 *rgbx;   /* 2w * 2h * 4 */
  guint8 *labels; /* w * h */
} RoadCanvas;

/* The colour of a shape at a point of the picture. */
typedef RoadInk (*RoadShade)(const void *ctx, float x, float y);
typedef struct {
  RoadShade shade;
  const void *ctx;
  int label;      /* -1: labels stay, as for a shadow */
  gboolean holes; /* label only where the ink covers more than half */
} RoadPaint;

typedef enum { ROAD_CITY, ROAD_SUBURB, ROAD_PARK, ROAD_YARD, ROAD_N_KINDS } RoadKind;

typedef struct {
  float side;                 /* sun to the left (-1) .. right (1) of the road */
  float ahead;                /* behind (-1) .. ahead (1) */
  float cot;                  /* length of a shadow per height */
  float sun;                  /* 0 overcast .. 1 bright */
  RoadColour direct, ambient; /* light on a surface facing the sun; from all around */
  RoadColour zenith, horizon, cloud, fog;
  float haze;  /* fog a metre */
  float cover; /* of clouds, 0..1 */
  float dusk, wet, rain;
} RoadLight;

/* A tree's shadow on the ground: an ellipse with ragged edges. */
typedef struct {
  float x, z, rx, rz;
} RoadShadow;
/* A mended rectangle of the carriageway, or a manhole when round. */
typedef struct {
  float x, z, w, l, tone;
  gboolean round;
} RoadPatch;
enum { ROAD_SHADOWS = 24, ROAD_PATCHES = 8 };
typedef enum {
  ROAD_LINE_NONE,
  ROAD_LINE_DASHED,
  ROAD_LINE_LONG,
  ROAD_LINE_SOLID,
  ROAD_LINE_DOUBLE,
  ROAD_N_LINES
} RoadLine;

typedef struct {
  RoadColour tarmac, slab, grass, kerb, cycle;
  RoadLine centre, edge[2];
  gboolean yellow;   /* edge lines are */
  float lanes;       /* half as many lanes: lane lines at multiples of half / lanes */
  float cycle_lane;  /* width of a coloured lane at the driver's kerb; 0 none */
  float arrow;       /* Z of a lane arrow; 0 none */
  float grain, worn; /* roughness of the tarmac, wear of the paint, 0..1 */
  float slab_size;   /* 0: the pavement is tarmac too */
  RoadPatch patch[ROAD_PATCHES];
  RoadShadow shadow[ROAD_SHADOWS];
  int n_patches, n_shadows;
} RoadSurface;

typedef struct {
  TmRandom r;
  guint32 seed; /* for noise */
  RoadSurface surface;
  RoadCanvas canvas;
  RoadKind kind;
  RoadLight light;
  float f, cx, horizon, height; /* focal length, vanishing point (pixels), camera above the tarmac */
  float x;                      /* camera's place across the road */
  float heading, curve;
  float half;                  /* half of the carriageway */
  float pave[2], verge[2];     /* widths of pavement, and of the grass between it and the kerb */
  gboolean left_hand;          /* traffic keeps left */
  float junction[2];           /* Z of a crossing road; 0,0 none */
  float crossing;              /* Z of a zebra; 0 none */
  float skyline[2][ROAD_BINS]; /* height of what casts shadows along both sides */
  float line[2];               /* X of the building lines, > 0 */
} Road;

/* A thing to draw, in order from far to near. */
typedef struct _RoadThing RoadThing;
struct _RoadThing {
  float z;      /* order */
  guint serial; /* order among equals */
  void (*draw)(Road *rd, const RoadThing *t);
  int side;
  float x, z0, z1, height, width, depth, angle;
  int style;
  guint32 seed;
};
typedef struct {
  RoadThing *v;
  guint n, room;
} RoadThings;

/* roads_noise.c */
static inline guint32 tm_road_hash(guint32 a, guint32 b, guint32 c) {
  guint32 h = a * 0x9e3779b1u + b * 0x85ebca77u + c * 0xc2b2ae3du + 0x27d4eb2fu;
  h = (h ^ (h >> 15)) * 0x2c1b3c6du;
  h = (h ^ (h >> 12)) * 0x297a2d39u;
  return h ^ (h >> 15);
}
/** 0..1 from three whole numbers. */
static inline float tm_road_rand(guint32 a, guint32 b, guint32 c) {
  return (float)(tm_road_hash(a, b, c) >> 8) * 0x1p-24f;
}
/** Must have returned once before anything else of the roads is called. */
void tm_road_noise_prepare(void);
enum { ROAD_TILE = 256 };
extern float tm_road_tile[ROAD_TILE * ROAD_TILE];
/** Sine of @turns full circles. */
float tm_road_sin(float turns);
static inline float tm_road_cos(float turns) {
  return tm_road_sin(turns + 0.25f);
}
/** e to the -x, x >= 0, near enough. */
static inline float tm_road_fade(float x) {
  const float a = 1 / (1 + x * 0.125f), b = a * a, c = b * b;
  return c * c;
}
static inline float tm_road_floor(float x) {
  const float t = (float)(int)x;
  return t > x ? t - 1 : t;
}
static inline float tm_road_clamp(float x, float lo, float hi) {
  return x < lo ? lo : x > hi ? hi : x;
}
static inline float tm_road_abs(float x) {
  return x < 0 ? -x : x;
}
static inline float tm_road_min(float a, float b) {
  return a < b ? a : b;
}
static inline float tm_road_max(float a, float b) {
  return a > b ? a : b;
}
static inline float tm_road_step(float lo, float hi, float x) {
  const float t = tm_road_clamp((x - lo) / (hi - lo), 0, 1);
  return t * t * (3 - 2 * t);
}
static inline float tm_road_lerp(float a, float b, float t) {
  return a + (b - a) * t;
}
/** Clouds, dirt and leaves: 0..1, mean about 0.5, smooth, repeats every 64 units; largest lumps 4 units,
 * smallest a quarter. */
static inline float tm_road_cloud(float u, float v) {
  const float a = u * 4, b = v * 4, fa = tm_road_floor(a), fb = tm_road_floor(b), s = a - fa, t = b - fb;
  const int x = (int)fa & (ROAD_TILE - 1), y = ((int)fb & (ROAD_TILE - 1)) * ROAD_TILE;
  const int x1 = (x + 1) & (ROAD_TILE - 1), y1 = (y + ROAD_TILE) & (ROAD_TILE * ROAD_TILE - 1);
  const float *n = tm_road_tile;
  return tm_road_lerp(tm_road_lerp(n[y + x], n[y + x1], s), tm_road_lerp(n[y1 + x], n[y1 + x1], s), t);
}
static inline RoadColour tm_road_mix(RoadColour a, RoadColour b, float t) {
  return (RoadColour){a.r + (b.r - a.r) * t, a.g + (b.g - a.g) * t, a.b + (b.b - a.b) * t};
}
static inline RoadColour tm_road_scale(RoadColour a, float s) {
  return (RoadColour){a.r * s, a.g * s, a.b * s};
}
static inline RoadColour tm_road_times(RoadColour a, RoadColour b) {
  return (RoadColour){a.r * b.r, a.g * b.g, a.b * b.b};
}
static inline RoadInk tm_road_ink(RoadColour c, float a) {
  return (RoadInk){c.r, c.g, c.b, a};
}

/* roads_canvas.c */
enum { ROAD_MAX_POINTS = 40 };
void tm_road_fill(RoadCanvas *c, const RoadPoint *p, int n, const RoadPaint *paint);
/** The labels alone: for shapes whose outline is judged otherwise than their colour. */
void tm_road_label(RoadCanvas *c, const RoadPoint *p, int n, const RoadPaint *paint);
/** A plain or top-to-bottom coloured shape. */
void tm_road_flat(RoadCanvas *c, const RoadPoint *p, int n, int label, RoadColour top, RoadColour bottom,
                  float alpha);
/** A limb, pole or branch: a line with two radii (pixels) and round ends. */
void tm_road_limb(RoadCanvas *c, RoadPoint a, float ra, RoadPoint b, float rb, int label, RoadColour left,
                  RoadColour right);
void tm_road_ellipse(RoadCanvas *c, float x, float y, float rx, float ry, int label, RoadColour top,
                     RoadColour bottom, float alpha);
void tm_road_box(RoadCanvas *c, float x0, float y0, float x1, float y1, int label, RoadColour top,
                 RoadColour bottom);
/** Lightens a round area, falling off to its edge. */
void tm_road_glow(RoadCanvas *c, float x, float y, float radius, RoadColour light);
static inline void tm_road_put(guint8 *p, RoadColour c) {
  p[0] = (guint8)(tm_road_clamp(c.r, 0, 1) * 255 + 0.5f);
  p[1] = (guint8)(tm_road_clamp(c.g, 0, 1) * 255 + 0.5f);
  p[2] = (guint8)(tm_road_clamp(c.b, 0, 1) * 255 + 0.5f);
}

/* roads_light.c */
void tm_road_light(Road *rd);
/** @c in the light: @facing 0..1 how squarely it meets the sun, @lit 0..1 how much of the sun gets there. */
RoadColour tm_road_lit(const Road *rd, RoadColour c, float facing, float lit);
RoadColour tm_road_fogged(const Road *rd, RoadColour c, float z);
/** How squarely the sun meets a wall with this normal (X, Z), 0..1. */
float tm_road_facing(const Road *rd, float nx, float nz);
/** 0..1: does the sun reach (@x across the road, @y up, @z)? */
float tm_road_sunny(const Road *rd, float x, float y, float z);
/** Where the sun stands in the picture; FALSE when it is behind, or behind clouds. */
gboolean tm_road_sun_at(const Road *rd, float *x, float *y);
void tm_road_sky(Road *rd);

/* roads_camera.c */
/** After everything: rain, glare, and what a camera does and adds; writes the picture. FALSE when there is no
 * memory. */
gboolean tm_road_develop(Road *rd, guint8 *rgb);

/* roads_scene.c */
void tm_road_plan(Road *rd, RoadThings *things);
static inline float tm_road_bend(const Road *rd, float z) {
  /* A circle's arc, then straight on. */
  const float near = z < 90 ? z : 90;
  return rd->heading * z + rd->curve * near * (near + 2 * (z - near));
}
static inline RoadPoint tm_road_project(const Road *rd, float x, float y, float z) {
  const float s = rd->f / z;
  return (RoadPoint){rd->cx + (x + tm_road_bend(rd, z) - rd->x) * s, rd->horizon + (rd->height - y) * s};
}
void tm_road_add(RoadThings *t, RoadThing thing);

/* roads_ground.c */
void tm_road_ground(Road *rd);

/* Painters, one file each. */
void tm_road_backdrop(Road *rd);
void tm_road_building(Road *rd, const RoadThing *t);
void tm_road_tree(Road *rd, const RoadThing *t);
void tm_road_hedge(Road *rd, const RoadThing *t);
void tm_road_fence(Road *rd, const RoadThing *t);
RoadColour tm_road_metal(guint32 seed);
void tm_road_lamp(Road *rd, const RoadThing *t);
void tm_road_sign(Road *rd, const RoadThing *t);
void tm_road_signal(Road *rd, const RoadThing *t);
void tm_road_clutter(Road *rd, const RoadThing *t);
void tm_road_car(Road *rd, const RoadThing *t);
void tm_road_pedestrian(Road *rd, const RoadThing *t);
void tm_road_bicyclist(Road *rd, const RoadThing *t);
void tm_road_bonnet(Road *rd);

static inline float tm_road_draw(Road *rd, float lo, float hi) {
  return tm_random_range(&rd->r, lo, hi);
}
static inline gboolean tm_road_chance(Road *rd, float p) {
  return tm_random_float(&rd->r) < p;
}

/* A wall that stands upright on two points; turns a place on the screen into metres along it and up it. */
typedef struct {
  float xa, za, dx, dz, length; /* camera's metres; the wall is A + t * d */
} RoadWall;
/** Corners on the ground at (@x0, @z0) and (@x1, @z1) of the road; FALSE when it is all behind the camera.
 * @out has 4 points. */
gboolean tm_road_wall(const Road *rd, float x0, float z0, float x1, float z1, float top, float bottom,
                      RoadWall *wall, RoadPoint *out);
void tm_road_on_wall(const Road *rd, const RoadWall *w, float x, float y, float *u, float *v, float *z);
