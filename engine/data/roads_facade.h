/* roads_facade.h: what the front of a house is made of. Private to the demo roads. */
#pragma once

#include "engine/data/roads_private.h"

typedef enum { FACADE_BRICK, FACADE_RENDER, FACADE_STONE, FACADE_PANEL, FACADE_GLASS, FACADE_N } FacadeKind;

typedef struct {
  const Road *rd;
  RoadWall wall;
  FacadeKind kind;
  guint32 seed;
  RoadColour base, trim, frame, door, shop, glass;
  float height, ground, storey; /* metres: eaves, ground floor, each floor above */
  float bay, window_w, window_h, sill;
  gboolean shopfront, blind; /* blind: an end wall, few windows */
  float facing;              /* to the sun */
  float shade_x;             /* X of the wall, for shadows from across the road */
  float lamps;               /* share of windows with a light on */
  float sash;                /* bars in the windows: 0 none, 1 cross, 2 many */
} Facade;

/** Draws the materials and proportions of a house from its seed. */
void tm_facade_design(Facade *f, const Road *rd, int style, guint32 seed, float height);
/** RoadShade of a facade; @ctx is a Facade. */
RoadInk tm_facade_shade(const void *ctx, float x, float y);
