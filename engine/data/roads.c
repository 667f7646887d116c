#include "engine/data/roads_private.h"

#include <stdlib.h>
#include <string.h>

/* The own bonnet at the lower edge, with the sky in its lacquer. */
void tm_road_bonnet(Road *rd) {
  const float w = (float)rd->canvas.w, h = (float)rd->canvas.h, rise = tm_road_draw(rd, 0.03f, 0.10f) * h,
              lean = tm_road_draw(rd, -0.06f, 0.06f) * w;
  const RoadColour paint = {tm_road_draw(rd, 0.02f, 0.3f), 0, 0};
  const RoadColour dark = {paint.r, paint.r * 1.02f, paint.r * 1.08f},
                   top = tm_road_mix(dark, rd->light.horizon, 0.45f);
  RoadPoint p[20];
  for (int i = 0; i < 18; i++) {
    const float t = (float)i / 17, arch = 4 * t * (1 - t);
    p[i] = (RoadPoint){t * w, h + 1 - rise * (0.35f + 0.65f * arch) - lean * (t - 0.5f) * 0.2f};
  }
  p[18] = (RoadPoint){w, h + 1};
  p[19] = (RoadPoint){0, h + 1};
  tm_road_flat(&rd->canvas, p, 20, ROAD_VOID, top, tm_road_times(dark, rd->light.ambient), 1);
}

static int farther_first(const void *a, const void *b) {
  const RoadThing *s = a, *t = b;
  if (s->z != t->z) return s->z > t->z ? -1 : 1;
  return s->serial < t->serial ? -1 : 1;
}

/* The order is total, so every machine's qsort gives the same. */
static void draw_things(Road *rd, RoadThings *things) {
  qsort(things->v, things->n, sizeof *things->v, farther_first);
  for (guint i = 0; i < things->n; i++) things->v[i].draw(rd, things->v + i);
}

static void paint(Road *rd) {
  RoadThings things = {0};
  tm_road_plan(rd, &things);
  memset(rd->canvas.labels, ROAD_SKY, (gsize)rd->canvas.w * (gsize)rd->canvas.h);
  tm_road_sky(rd);
  tm_road_backdrop(rd);
  tm_road_ground(rd);
  draw_things(rd, &things);
  if (tm_road_chance(rd, 0.22f)) tm_road_bonnet(rd);
  g_free(things.v);
}

void tm_roads_draw(guint64 seed, guint index, int w, int h, guint8 *rgb, guint8 *labels) {
  g_autofree Road *rd = g_new0(Road, 1);
  g_autofree guint8 *rgbx = g_try_malloc0_n((gsize)w * 2, (gsize)h * 8);
  tm_road_noise_prepare();
  rd->canvas = (RoadCanvas){w, h, rgbx, labels};
  tm_random_seed(&rd->r, tm_random_hash(seed, index, 0x0ad5));
  rd->seed = (guint32)(tm_random_next(&rd->r) >> 32);
  if (rgbx) paint(rd);
  if (!rgbx || !tm_road_develop(rd, rgb)) { /* no memory for a picture: an empty one, all of it unlabelled */
    memset(rgb, 0, (gsize)w * (gsize)h * 3);
    memset(labels, ROAD_VOID, (gsize)w * (gsize)h);
  }
}
