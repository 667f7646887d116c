/* winograd_tiles.h: the transforms that the Winograd kernels of all types share: those of f32 sums. Private
 * to kernels/cpu. */
#pragma once

#include "kernels/cpu/isa.h"

/* The 2x2 outputs of VL channels: A^T m A, A^T = (1 1 1 0; 0 1 -1 -1). @plane: elements from one of the 16
 * products to the next. */
TM_INLINE void winograd_output(const float *m, gsize plane, vf o[4]) {
  vf k[4], l[4];
  for (int j = 0; j < 4; j++) {
    const vf a = v_load(m + (gsize)j * plane), b = v_load(m + (gsize)(4 + j) * plane);
    const vf c = v_load(m + (gsize)(8 + j) * plane), d = v_load(m + (gsize)(12 + j) * plane);
    k[j] = a + (b + c);
    l[j] = (b - c) - d;
  }
  o[0] = k[0] + (k[1] + k[2]);
  o[1] = (k[1] - k[2]) - k[3];
  o[2] = l[0] + (l[1] + l[2]);
  o[3] = (l[1] - l[2]) - l[3];
}

/* g = G^T u G of VL kernels, u being the sums of all threads, each at @at of its work space. */
TM_INLINE void winograd_gradient(const TmTeam *team, int threads, gsize at, gsize plane, vf g[9]) {
  const vf half = v_set(0.5f);
  vf u[16], t[3][4];
  for (gsize f = 0; f < 16; f++) {
    u[f] = v_set(0);
    for (int k = 0; k < threads; k++)
      u[f] =
          u[f] + v_load((const float *)((const char *)team->work + team->stride * (gsize)k) + f * plane + at);
  }
  for (int j = 0; j < 4; j++) {
    const vf s = half * (u[4 + j] + u[8 + j]), d = half * (u[4 + j] - u[8 + j]);
    t[0][j] = u[j] + s;
    t[1][j] = d;
    t[2][j] = s + u[12 + j];
  }
  for (int i = 0; i < 3; i++) {
    const vf s = half * (t[i][1] + t[i][2]), d = half * (t[i][1] - t[i][2]);
    g[3 * i] = t[i][0] + s;
    g[3 * i + 1] = d;
    g[3 * i + 2] = s + t[i][3];
  }
}
