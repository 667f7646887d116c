/* class_colours.c: colours that can be told apart. The first eleven are the palette chosen by hand for four
 * kinds of sight; the rest follow by farthest point: each new colour is the one of a fixed grid whose nearest
 * neighbour among all before it is farthest away, in CIE L*a*b*. */
#include <math.h>

#include "engine/data/class_table.h"

enum { N_CHOSEN = 11, STEPS = 12, N_GRID = STEPS * STEPS * STEPS };

static const guint32 chosen[N_CHOSEN] = {0x94bbf7, 0x919270, 0xdaf7b6, 0x59348e, 0xab6a9a, 0x0f4839,
                                         0xf7dc13, 0x903810, 0x4b5de6, 0xf65e19, 0x55f0e2};
static guint32 table[TM_MAX_CLASSES];

typedef struct {
  double l, a, b;
} Lab;

static double linear(guint32 v) {
  const double s = v / 255.0;
  return s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4);
}

static double lab_f(double t) {
  return t > 216.0 / 24389.0 ? cbrt(t) : (24389.0 / 27.0 * t + 16.0) / 116.0;
}

static Lab lab_of(guint32 rgb) {
  const double r = linear(rgb >> 16 & 0xff), g = linear(rgb >> 8 & 0xff), b = linear(rgb & 0xff);
  const double x = lab_f((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047);
  const double y = lab_f(0.2126729 * r + 0.7151522 * g + 0.0721750 * b);
  const double z = lab_f((0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / 1.08883);
  return (Lab){116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

static double distance2(Lab p, Lab q) {
  return (p.l - q.l) * (p.l - q.l) + (p.a - q.a) * (p.a - q.a) + (p.b - q.b) * (p.b - q.b);
}

static guint32 grid_colour(guint i) {
  const guint32 r = i / (STEPS * STEPS), g = i / STEPS % STEPS, b = i % STEPS;
  return r * 255 / (STEPS - 1) << 16 | g * 255 / (STEPS - 1) << 8 | b * 255 / (STEPS - 1);
}

/* Void is drawn near black, and white is the window's own: both count as taken. */
static void fill_table(void) {
  static Lab grid[N_GRID];
  static double nearest[N_GRID];
  const Lab taken[2] = {lab_of(0x28282c), lab_of(0xffffff)};
  for (guint i = 0; i < N_GRID; i++) {
    grid[i] = lab_of(grid_colour(i));
    nearest[i] = MIN(distance2(grid[i], taken[0]), distance2(grid[i], taken[1]));
  }
  for (guint k = 0; k < TM_MAX_CLASSES; k++) {
    guint best = 0;
    for (guint i = 1; i < N_GRID; i++)
      if (nearest[i] > nearest[best]) best = i;
    table[k] = k < N_CHOSEN ? chosen[k] : grid_colour(best);
    const Lab new = lab_of(table[k]);
    for (guint i = 0; i < N_GRID; i++) nearest[i] = MIN(nearest[i], distance2(grid[i], new));
  }
}

guint32 tm_class_default_colour(guint i) {
  static gsize ready;
  if (g_once_init_enter(&ready)) {
    fill_table();
    g_once_init_leave(&ready, 1);
  }
  return table[i % TM_MAX_CLASSES];
}
