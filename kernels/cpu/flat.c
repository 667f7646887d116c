/* flat.c: kernels over flat f32 arrays: sums and optimizer steps. Memory-bound: each array is read and
 * written once. */
#include "kernels/cpu/isa.h"

/* Shares are cut at multiples of 64 elements, so that only the very last vector is short. */
TM_INLINE TmRange my_flat_share(gsize n) {
  TmRange r = my_share((n + 63) / 64);
  r.at *= 64;
  r.end = r.end * 64 < n ? r.end * 64 : n;
  return r;
}

TM_INLINE void axpby_lanes(int n, gboolean add, float a, const float *x, float c, float *y) {
  const vf v = v_get(x, 0, TM_F32, n) * v_set(a);
  v_put(y, 0, TM_F32, n, add ? v_fma(v_get(y, 0, TM_F32, n), v_set(c), v) : v);
}

void KERNEL(axpby)(const TmTeam *team, float a, const float *x, float c, float *y, gsize n) {
  TM_PARALLEL(team, n)
  for (TmRange r = my_flat_share(n); r.at < r.end; r.at += VL) {
    const int k = r.end - r.at < VL ? (int)(r.end - r.at) : VL;
    if (c != 0)
      BY_LANES(k, axpby_lanes, TRUE, a, x + r.at, c, y + r.at);
    else
      BY_LANES(k, axpby_lanes, FALSE, a, x + r.at, c, y + r.at);
  }
}

/* In double throughout: the square of 1e30 is a number, and says more than infinity. */
void KERNEL(sum_squares)(const TmTeam *team, const float *x, gsize n, double *sum) {
  enum { SUMS = 16 }; /* side by side, so that they fit vectors */
  clear_sums(team, 1);
  TM_PARALLEL(team, n) {
    double s[SUMS] = {0}, all = 0;
    TmRange r = my_flat_share(n);
    for (; r.at + SUMS <= r.end; r.at += SUMS)
      for (int i = 0; i < SUMS; i++) s[i] += (double)x[r.at + (gsize)i] * (double)x[r.at + (gsize)i];
    for (; r.at < r.end; r.at++) all += (double)x[r.at] * (double)x[r.at];
    for (int i = 0; i < SUMS; i++) all += s[i];
    *(double *)my_work(team) = all;
  }
  *sum = total(team, 0);
}

TM_INLINE void sgd_lanes(int n, const TmUpdateRule *u, gsize i) {
  const vf w = v_get(u->w, i, TM_F32, n);
  const vf g = v_fma(w, v_set(u->weight_decay), v_get(u->g, i, TM_F32, n) * v_set(u->grad_scale));
  const vf m = u->first ? g : v_fma(v_get(u->m, i, TM_F32, n), v_set(u->momentum), g);
  const vf r = v_fma(m, v_set(-u->lr), w);
  v_put(u->m, i, TM_F32, n, m);
  v_put(u->w, i, TM_F32, n, r);
  if (u->ema) v_put(u->ema, i, TM_F32, n, v_fma(v_get(u->ema, i, TM_F32, n) - r, v_set(u->ema_decay), r));
}

TM_INLINE void adam_lanes(int n, const TmUpdateRule *u, gboolean decoupled, gsize i) {
  vf w = v_get(u->w, i, TM_F32, n), g = v_get(u->g, i, TM_F32, n) * v_set(u->grad_scale);
  if (decoupled)
    w = w * v_set(1 - u->lr * u->weight_decay);
  else
    g = v_fma(w, v_set(u->weight_decay), g);
  const vf m0 = v_get(u->m, i, TM_F32, n), v0 = v_get(u->v, i, TM_F32, n);
  const vf m = v_fma(g - m0, v_set(1 - u->beta1), m0), v = v_fma(g * g - v0, v_set(1 - u->beta2), v0);
  const vf r = w - m * v_set(u->lr * u->correct1) / (v_sqrt(v * v_set(u->correct2)) + v_set(u->eps));
  v_put(u->m, i, TM_F32, n, m);
  v_put(u->v, i, TM_F32, n, v);
  v_put(u->w, i, TM_F32, n, r);
  if (u->ema) v_put(u->ema, i, TM_F32, n, v_fma(v_get(u->ema, i, TM_F32, n) - r, v_set(u->ema_decay), r));
}

void KERNEL(update)(const TmTeam *team, const TmUpdateRule *u) {
  TM_PARALLEL(team, u->n)
  for (TmRange r = my_flat_share(u->n); r.at < r.end; r.at += VL) {
    const int n = r.end - r.at < VL ? (int)(r.end - r.at) : VL;
    if (u->rule == TM_RULE_SGD)
      BY_LANES(n, sgd_lanes, u, r.at);
    else if (u->rule == TM_RULE_ADAM)
      BY_LANES(n, adam_lanes, u, FALSE, r.at);
    else
      BY_LANES(n, adam_lanes, u, TRUE, r.at);
  }
}
