/* random.h: random numbers whose state is four words that a checkpoint can hold.
 *
 * xoshiro256** (Blackman and Vigna, 2018), seeded by splitmix64. tm_random_hash() is the counter-based companion: the
 * same arguments give the same number on every backend, so what a step draws depends only on (seed, step, element). */
#pragma once

#include <glib.h>

typedef struct {
  guint64 s[4];
} TmRandom;

void tm_random_seed(TmRandom *r, guint64 seed);
guint64 tm_random_next(TmRandom *r);

/** Mixes three words into one (splitmix64's finaliser over a running sum). Pure. */
static inline guint64 tm_random_hash(guint64 a, guint64 b, guint64 c) {
  guint64 x = a * 0x9e3779b97f4a7c15u + b * 0xbf58476d1ce4e5b9u + c * 0x94d049bb133111ebu + 0x2545f4914f6cdd1du;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/** Uniform in [0, 1), 24 bits. */
static inline float tm_random_float(TmRandom *r) { return (float)(tm_random_next(r) >> 40) * 0x1p-24f; }
/** Uniform in [a, b). */
static inline float tm_random_range(TmRandom *r, float a, float b) { return a + (b - a) * tm_random_float(r); }
/** Uniform in 0 .. n-1 (n >= 1). */
guint tm_random_int(TmRandom *r, guint n);
/** Standard normal (Box and Muller). */
float tm_random_normal(TmRandom *r);
/** Fisher and Yates, in place. */
void tm_random_shuffle(TmRandom *r, guint *items, guint n);
