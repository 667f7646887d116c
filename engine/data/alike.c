#include "engine/data/alike.h"

#include <math.h>

#include "engine/data/dataset_private.h"

enum { CELLS = TM_LOOK_SIDE * TM_LOOK_SIDE, BITS_APART = 14, ASKED_EVERY = 256 };

const float tm_alike_least = 0.92f;

typedef struct {
  guint entry;
  const guint8 *luma; /* CELLS */
  float mean, length; /* of luma; the length of what is left without the mean */
} Look;

/* Bit (y, x): the luma rises from cell x to x + 1 of an 9 x 8 grid, which is drawn from the 16 x 16 one: rows
 * in pairs, columns at nine even places. */
static guint64 hash_of(const guint8 *look) {
  guint64 hash = 0;
  for (int y = 0; y < 8; y++)
    for (int x = 0; x < 8; x++) {
      const guint8 *row = look + 2 * y * TM_LOOK_SIDE;
      const int a = x * (TM_LOOK_SIDE - 1) / 8, b = (x + 1) * (TM_LOOK_SIDE - 1) / 8;
      hash = hash << 1 | (row[b] + row[b + TM_LOOK_SIDE] > row[a] + row[a + TM_LOOK_SIDE]);
    }
  return hash;
}

static Look look_at(const guint8 *luma, guint entry) {
  guint sum = 0, squares = 0;
  for (int k = 0; k < CELLS; k++) {
    sum += luma[k];
    squares += (guint)luma[k] * luma[k];
  }
  const float mean = (float)sum / CELLS;
  return (Look){entry, luma, mean, sqrtf(MAX((float)squares - CELLS * mean * mean, 0))};
}

/* A flat picture, black or fogged in, is like nothing. */
static float correlation(const Look *a, const Look *b) {
  guint sum = 0;
  for (int k = 0; k < CELLS; k++) sum += (guint)a->luma[k] * b->luma[k];
  const float lengths = a->length * b->length;
  return lengths > 0 ? ((float)sum - CELLS * a->mean * b->mean) / lengths : 0;
}

static void better(TmAlike *a, guint other, float alike) {
  if (alike > a->alike) *a = (TmAlike){other, alike};
}

static void compare(TmAlikeness *a, const TmDataset *d, const Look *x, const Look *y) {
  const float alike = correlation(x, y);
  if (alike < tm_alike_least) return;
  better(&a->any[x->entry], y->entry, alike);
  better(&a->any[y->entry], x->entry, alike);
  const gboolean x_learned = tm_dataset_at(d, x->entry)->split == TM_SPLIT_TRAIN,
                 y_learned = tm_dataset_at(d, y->entry)->split == TM_SPLIT_TRAIN;
  if (x_learned == y_learned) return;
  better(&a->across[x->entry], y->entry, alike);
  better(&a->across[y->entry], x->entry, alike);
}

TmAlikeness *tm_alike_find(const TmScan *s, const TmDataset *d, const gint *cancel) {
  g_autoptr(TmAlikeness) a = g_new0(TmAlikeness, 1);
  a->n = s->n_entries;
  a->any = g_new(TmAlike, MAX(a->n, 1));
  a->across = g_new(TmAlike, MAX(a->n, 1));
  g_autofree Look *looks = g_new(Look, MAX(a->n, 1));
  g_autofree guint64 *hashes =
      g_new(guint64, MAX(a->n, 1)); /* apart, since they are all that most pairs need */
  guint n = 0;
  for (guint i = 0; i < a->n; i++) {
    a->any[i] = a->across[i] = (TmAlike){.other = G_MAXUINT};
    if (s->leave_out[i]) continue;
    hashes[n] = hash_of(s->entries[i].look);
    looks[n++] = look_at(s->entries[i].look, i);
  }
  for (guint i = 0; i < n; i++) {
    if (cancel && i % ASKED_EVERY == 0 && g_atomic_int_get(cancel)) return NULL;
    for (guint k = i + 1; k < n; k++)
      if (__builtin_popcountll(hashes[i] ^ hashes[k]) <= BITS_APART) compare(a, d, &looks[i], &looks[k]);
  }
  for (guint i = 0; i < a->n; i++)
    a->n_across += a->across[i].other != G_MAXUINT && tm_dataset_at(d, i)->split != TM_SPLIT_TRAIN;
  return g_steal_pointer(&a);
}

void tm_alike_free(TmAlikeness *a) {
  if (!a) return;
  g_free(a->any);
  g_free(a->across);
  g_free(a);
}
