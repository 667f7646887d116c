#include "engine/core/random.h"

#include <math.h>

void tm_random_seed(TmRandom *r, guint64 seed) {
  for (int i = 0; i < 4; i++) {
    seed += 0x9e3779b97f4a7c15u;
    guint64 z = seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    r->s[i] = z ^ (z >> 31);
  }
}

static inline guint64 rotl(guint64 x, int k) { return (x << k) | (x >> (64 - k)); }

guint64 tm_random_next(TmRandom *r) {
  guint64 *s = r->s;
  const guint64 result = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = rotl(s[3], 45);
  return result;
}

guint tm_random_int(TmRandom *r, guint n) {
  /* Multiply and shift; the bias of at most n / 2^32 does not matter for shuffles and crops. */
  return (guint)(((tm_random_next(r) >> 32) * (guint64)MAX(n, 1u)) >> 32);
}

float tm_random_normal(TmRandom *r) {
  const float u = ((float)(tm_random_next(r) >> 40) + 1.0f) * 0x1p-24f;
  const float v = tm_random_float(r);
  return sqrtf(-2.0f * logf(u)) * cosf(2.0f * (float)G_PI * v);
}

void tm_random_shuffle(TmRandom *r, guint *items, guint n) {
  for (guint i = n; i > 1; i--) {
    const guint j = tm_random_int(r, i), t = items[i - 1];
    items[i - 1] = items[j];
    items[j] = t;
  }
}
