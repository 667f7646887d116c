/* Optimizers in double, element by element: the forms are PyTorch's (see TmUpdate). */
#include "engine/backend/ref/ref.h"

#include <math.h>

/* Gives the new weight and updates the moments. */
static double sgd(const TmUpdate *u, gsize i, double w, double g) {
  g += (double)u->weight_decay * w;
  const double m = u->step == 1 ? g : (double)u->momentum * (double)u->m[i] + g;
  u->m[i] = (float)m;
  return w - (double)u->lr * m;
}

static double adam(const TmUpdate *u, gsize i, double w, double g, double correct1, double correct2) {
  const double b1 = (double)u->beta1, b2 = (double)u->beta2, lr = (double)u->lr;
  if (u->kind == TM_OPTIMIZER_ADAMW)
    w *= 1 - lr * (double)u->weight_decay;
  else
    g += (double)u->weight_decay * w;
  const double m = b1 * (double)u->m[i] + (1 - b1) * g, v = b2 * (double)u->v[i] + (1 - b2) * g * g;
  u->m[i] = (float)m;
  u->v[i] = (float)v;
  return w - lr * (m / correct1) / (sqrt(v / correct2) + (double)u->eps);
}

void ref_update(const TmUpdate *u) {
  const double correct1 = 1 - pow((double)u->beta1, (double)u->step),
               correct2 = 1 - pow((double)u->beta2, (double)u->step);
  const double keep = (double)u->ema_decay;
  for (gsize i = 0; i < u->n; i++) {
    const double g = (double)u->g[i] * (double)u->grad_scale, w = (double)u->w[i];
    u->w[i] = (float)(u->kind == TM_OPTIMIZER_SGD ? sgd(u, i, w, g) : adam(u, i, w, g, correct1, correct2));
    if (u->ema) u->ema[i] = (float)(keep * (double)u->ema[i] + (1 - keep) * (double)u->w[i]);
  }
}
