#include "engine/data/roads_private.h"

/* Crossings of a polygon's edges with the line at @y, sorted. */
static int crossings(const RoadPoint *p, int n, float y, float *x) {
  int k = 0;
  for (int i = 0, j = n - 1; i < n; j = i++) {
    if ((p[i].y <= y) == (p[j].y <= y)) continue;
    const float at = p[j].x + (y - p[j].y) / (p[i].y - p[j].y) * (p[i].x - p[j].x);
    int m = k++;
    for (; m > 0 && x[m - 1] > at; m--) x[m] = x[m - 1];
    x[m] = at;
  }
  return k;
}

/* The first of the samples at (i + 0.5) * @step that lies right of @x, within 0..n. */
static int first_right(float x, float per_pixel, int n) {
  const float at = x * per_pixel - 0.5f;
  if (!(at > 0)) return 0;
  if (at >= (float)n) return n;
  const int i = (int)at;
  return (float)i < at ? i + 1 : i;
}

static void rows_of(const RoadPoint *p, int n, float per_pixel, int rows, int *from, int *to) {
  float lo = p[0].y, hi = p[0].y;
  for (int i = 1; i < n; i++) {
    lo = tm_road_min(lo, p[i].y);
    hi = tm_road_max(hi, p[i].y);
  }
  *from = first_right(lo, per_pixel, rows);
  *to = first_right(hi, per_pixel, rows);
}

static inline void blend(guint8 *p, RoadInk k) {
  if (k.a <= 0) return;
  if (k.a < 1) {
    const float keep = (1 - k.a) * (1.0f / 255);
    k.r = k.r * k.a + p[0] * keep;
    k.g = k.g * k.a + p[1] * keep;
    k.b = k.b * k.a + p[2] * keep;
  }
  tm_road_put(p, (RoadColour){k.r, k.g, k.b});
}

static void fill_colour(RoadCanvas *c, const RoadPoint *p, int n, const RoadPaint *paint) {
  const int w = c->w * 2;
  int from, to;
  rows_of(p, n, 2, c->h * 2, &from, &to);
  for (int j = from; j < to; j++) {
    float x[ROAD_MAX_POINTS];
    const float y = ((float)j + 0.5f) * 0.5f;
    const int k = crossings(p, n, y, x);
    for (int m = 0; m + 1 < k; m += 2) {
      const int end = first_right(x[m + 1], 2, w);
      for (int i = first_right(x[m], 2, w); i < end; i++)
        blend(c->rgbx + ((gsize)j * (gsize)w + (gsize)i) * 4,
              paint->shade(paint->ctx, ((float)i + 0.5f) * 0.5f, y));
    }
  }
}

void tm_road_label(RoadCanvas *c, const RoadPoint *p, int n, const RoadPaint *paint) {
  int from, to;
  rows_of(p, n, 1, c->h, &from, &to);
  for (int j = from; j < to; j++) {
    float x[ROAD_MAX_POINTS];
    const float y = (float)j + 0.5f;
    const int k = crossings(p, n, y, x);
    for (int m = 0; m + 1 < k; m += 2) {
      const int end = first_right(x[m + 1], 1, c->w);
      for (int i = first_right(x[m], 1, c->w); i < end; i++)
        if (!paint->holes || paint->shade(paint->ctx, (float)i + 0.5f, y).a > 0.5f)
          c->labels[j * c->w + i] = (guint8)paint->label;
    }
  }
}

void tm_road_fill(RoadCanvas *c, const RoadPoint *p, int n, const RoadPaint *paint) {
  if (paint->label >= 0) tm_road_label(c, p, n, paint);
  fill_colour(c, p, n, paint);
}

typedef struct {
  RoadColour top, bottom;
  float y, per_y, alpha;
} Flat;

static RoadInk shade_flat(const void *ctx, float x, float y) {
  (void)x;
  const Flat *f = ctx;
  return tm_road_ink(tm_road_mix(f->top, f->bottom, tm_road_clamp((y - f->y) * f->per_y, 0, 1)), f->alpha);
}

void tm_road_flat(RoadCanvas *c, const RoadPoint *p, int n, int label, RoadColour top, RoadColour bottom,
                  float alpha) {
  float lo = p[0].y, hi = p[0].y;
  for (int i = 1; i < n; i++) {
    lo = tm_road_min(lo, p[i].y);
    hi = tm_road_max(hi, p[i].y);
  }
  const Flat f = {top, bottom, lo, 1 / tm_road_max(hi - lo, 1e-3f), alpha};
  const RoadPaint paint = {.shade = shade_flat, .ctx = &f, .label = label};
  tm_road_fill(c, p, n, &paint);
}

void tm_road_box(RoadCanvas *c, float x0, float y0, float x1, float y1, int label, RoadColour top,
                 RoadColour bottom) {
  const RoadPoint p[4] = {{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}};
  tm_road_flat(c, p, 4, label, top, bottom, 1);
}

void tm_road_ellipse(RoadCanvas *c, float x, float y, float rx, float ry, int label, RoadColour top,
                     RoadColour bottom, float alpha) {
  enum { N = 18 };
  RoadPoint p[N];
  for (int i = 0; i < N; i++) {
    const float t = (float)i / N;
    p[i] = (RoadPoint){x + rx * tm_road_cos(t), y + ry * tm_road_sin(t)};
  }
  tm_road_flat(c, p, N, label, top, bottom, alpha);
}

typedef struct {
  RoadPoint a;
  float nx, ny, per_r; /* unit normal */
  RoadColour left, right;
} Limb;

static RoadInk shade_limb(const void *ctx, float x, float y) {
  const Limb *l = ctx;
  const float t = ((x - l->a.x) * l->nx + (y - l->a.y) * l->ny) * l->per_r;
  return tm_road_ink(tm_road_mix(l->left, l->right, tm_road_clamp(t * 0.5f + 0.5f, 0, 1)), 1);
}

void tm_road_limb(RoadCanvas *c, RoadPoint a, float ra, RoadPoint b, float rb, int label, RoadColour left,
                  RoadColour right) {
  enum { CAP = 6 };
  float dx = b.x - a.x, dy = b.y - a.y;
  const float len = __builtin_sqrtf(dx * dx + dy * dy);
  if (len < 1e-3f)
    dx = 0, dy = 1;
  else
    dx /= len, dy /= len;
  RoadPoint p[2 * CAP];
  for (int i = 0; i < CAP; i++) {
    /* Half circles: about b from one side to the other, about a back. */
    const float t = (float)i / (2 * (CAP - 1)) - 0.25f, s = tm_road_sin(t), k = tm_road_cos(t);
    p[i] = (RoadPoint){b.x + rb * (dx * k - dy * s), b.y + rb * (dy * k + dx * s)};
    p[CAP + i] = (RoadPoint){a.x - ra * (dx * k - dy * s), a.y - ra * (dy * k + dx * s)};
  }
  /* "Left" is towards smaller x, or up for a limb that lies flat. */
  float nx = -dy, ny = dx;
  if (nx < 0 || (nx == 0 && ny < 0)) nx = -nx, ny = -ny;
  const Limb l = {a, nx, ny, 1 / tm_road_max(tm_road_max(ra, rb), 0.2f), left, right};
  const RoadPaint paint = {.shade = shade_limb, .ctx = &l, .label = label};
  tm_road_fill(c, p, 2 * CAP, &paint);
}

void tm_road_glow(RoadCanvas *c, float x, float y, float radius, RoadColour light) {
  const int w = c->w * 2, h = c->h * 2;
  const int x0 = first_right(x - radius, 2, w), x1 = first_right(x + radius, 2, w);
  const int y0 = first_right(y - radius, 2, h), y1 = first_right(y + radius, 2, h);
  const float scale = 1 / (radius * radius);
  for (int j = y0; j < y1; j++)
    for (int i = x0; i < x1; i++) {
      const float dx = ((float)i + 0.5f) * 0.5f - x, dy = ((float)j + 0.5f) * 0.5f - y;
      const float t = 1 - (dx * dx + dy * dy) * scale;
      if (t <= 0) continue;
      guint8 *p = c->rgbx + ((gsize)j * (gsize)w + (gsize)i) * 4;
      const float k = t * t * t;
      tm_road_put(p, (RoadColour){p[0] * (1.0f / 255) + light.r * k, p[1] * (1.0f / 255) + light.g * k,
                                  p[2] * (1.0f / 255) + light.b * k});
    }
}
