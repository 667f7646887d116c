#include "engine/data/roads_private.h"

enum { NEAR_CM = 60 };

gboolean tm_road_wall(const Road *rd, float x0, float z0, float x1, float z1, float top, float bottom,
                      RoadWall *wall, RoadPoint *out) {
  const float near = NEAR_CM * 0.01f;
  if (z0 < near && z1 < near) return FALSE;
  RoadWall *w = wall;
  w->xa = x0 + tm_road_bend(rd, z0) - rd->x;
  w->za = z0;
  w->dx = x1 + tm_road_bend(rd, z1) - rd->x - w->xa;
  w->dz = z1 - z0;
  w->length = __builtin_sqrtf(w->dx * w->dx + w->dz * w->dz);
  if (w->length < 1e-4f) return FALSE;
  /* The part in front of the camera. */
  float t0 = 0, t1 = 1;
  if (z0 < near) t0 = (near - z0) / w->dz;
  if (z1 < near) t1 = (near - z0) / w->dz;
  for (int i = 0; i < 2; i++) {
    const float t = i ? t1 : t0, z = w->za + t * w->dz, s = rd->f / z, x = rd->cx + (w->xa + t * w->dx) * s;
    out[i] = (RoadPoint){x, rd->horizon + (rd->height - top) * s};
    out[3 - i] = (RoadPoint){x, rd->horizon + (rd->height - bottom) * s};
  }
  return TRUE;
}

void tm_road_on_wall(const Road *rd, const RoadWall *w, float x, float y, float *u, float *v, float *z) {
  const float k = (x - rd->cx) / rd->f;
  float den = w->dx - k * w->dz;
  if (tm_road_abs(den) < 1e-5f) den = 1e-5f;
  /* A sample at a wall's very end may lie a hair beyond it. */
  const float t = tm_road_clamp((k * w->za - w->xa) / den, -0.02f, 1.02f);
  *z = tm_road_max(w->za + t * w->dz, 0.3f);
  *u = t * w->length;
  *v = rd->height - (y - rd->horizon) * *z / rd->f;
}
