#include "engine/data/split.h"

#include <math.h>
#include <string.h>

#include "engine/core/random.h"
#include "engine/data/dataset_private.h"

#define JOINS "_-. "

/* "08043", "f00900", "frame7": at most letters, then digits. */
static gboolean is_number(const char *from, const char *end) {
  while (from < end && g_ascii_isalpha(*from)) from++;
  const char *digits = from;
  while (from < end && g_ascii_isdigit(*from)) from++;
  return from == end && from > digits;
}

char *tm_sequence_name(const char *name) {
  const char *end = name + strlen(name);
  for (;;) {
    const char *word = end;
    while (word > name && !strchr(JOINS, word[-1])) word--;
    if (is_number(word, end)) {
      while (word > name && strchr(JOINS, word[-1])) word--;
      return g_strndup(name, (gsize)(word - name));
    }
    if (word == name) return g_strdup(name); /* no number at all: a drive of one picture */
    end = word - 1;
  }
}

/* Pictures of one name in two folders are two drives. */
static char *drive(const TmEntry *e) {
  g_autofree char *sequence = tm_sequence_name(e->name);
  if (*sequence || !e->image) return g_steal_pointer(&sequence);
  return g_path_get_dirname(e->image);
}

typedef struct {
  char *name;
  GArray *entries; /* guint */
} Drive;

static void drive_free(gpointer p) {
  Drive *v = p;
  g_free(v->name);
  g_array_unref(v->entries);
  g_free(v);
}

static int by_length(gconstpointer a, gconstpointer b) {
  const Drive *x = *(Drive *const *)a, *y = *(Drive *const *)b;
  return x->entries->len != y->entries->len ? (x->entries->len < y->entries->len ? 1 : -1)
                                            : strcmp(x->name, y->name);
}

static GPtrArray *drives(const TmDataset *d) {
  GPtrArray *all = g_ptr_array_new_with_free_func(drive_free);
  g_autoptr(GHashTable) by_name = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; i < tm_dataset_n(d); i++) {
    g_autofree char *name = drive(tm_dataset_at(d, i));
    Drive *v = g_hash_table_lookup(by_name, name);
    if (!v) {
      v = g_new(Drive, 1);
      *v = (Drive){.name = g_steal_pointer(&name), .entries = g_array_new(FALSE, FALSE, sizeof(guint))};
      g_ptr_array_add(all, v);
      g_hash_table_insert(by_name, v->name, v);
    }
    g_array_append_val(v->entries, i);
  }
  g_ptr_array_sort(all, by_length);
  return all;
}

guint tm_sequence_count(const TmDataset *d) {
  g_autoptr(GPtrArray) all = drives(d);
  return all->len;
}

static int by_name(gconstpointer a, gconstpointer b, gpointer data) {
  const TmDataset *d = data;
  const guint i = *(const guint *)a, j = *(const guint *)b;
  const int order = strcmp(tm_dataset_at(d, i)->name, tm_dataset_at(d, j)->name);
  return order ? order : (i > j) - (i < j);
}

/* How many of @n a share is: none for 0, else at least one, and training keeps one. */
static void counts(guint n, double val, double test, guint out[TM_N_SPLITS]) {
  const double share[TM_N_SPLITS] = {0, CLAMP(val, 0, 1), CLAMP(test, 0, 1)};
  guint left = n;
  for (int s = TM_SPLIT_VAL; s < TM_N_SPLITS; s++) {
    const guint most = left > 1 ? left - 1 : 0;
    out[s] = share[s] > 0 ? MIN(MAX((guint)lround(share[s] * n), 1), most) : 0;
    left -= out[s];
  }
  out[TM_SPLIT_TRAIN] = left;
}

/* Entries in @order: first training, then validation, then test. */
static void cut(TmSplit *out, const guint *order, guint n, const guint size[TM_N_SPLITS]) {
  for (guint k = 0; k < n; k++)
    out[order[k]] = k < size[TM_SPLIT_TRAIN]                        ? TM_SPLIT_TRAIN
                    : k < size[TM_SPLIT_TRAIN] + size[TM_SPLIT_VAL] ? TM_SPLIT_VAL
                                                                    : TM_SPLIT_TEST;
}

static guint *all_entries(guint n) {
  guint *order = g_new(guint, MAX(n, 1));
  for (guint i = 0; i < n; i++) order[i] = i;
  return order;
}

TmSplit *tm_split_by_sequence(const TmDataset *d, double val, double test) {
  const guint n = tm_dataset_n(d);
  TmSplit *out = g_new0(TmSplit, MAX(n, 1));
  guint size[TM_N_SPLITS];
  counts(n, val, test, size);
  guint used = 0;
  for (int s = 0; s < TM_N_SPLITS; s++) used += size[s] > 0;
  g_autoptr(GPtrArray) all = drives(d);
  if (all->len < used || used < 2) {
    g_autofree guint *order = all_entries(n);
    g_qsort_with_data(order, (int)n, sizeof *order, by_name, (gpointer)d);
    cut(out, order, n, size);
    return out;
  }
  double missing[TM_N_SPLITS];
  guint given[TM_N_SPLITS] = {0};
  for (int s = 0; s < TM_N_SPLITS; s++) missing[s] = size[s];
  for (guint k = 0; k < all->len; k++) {
    const Drive *v = all->pdata[k];
    guint empty = 0;
    for (int s = 0; s < TM_N_SPLITS; s++) empty += size[s] > 0 && given[s] == 0;
    int best = -1;
    for (int s = 0; s < TM_N_SPLITS; s++) {
      if (size[s] == 0 || (empty >= all->len - k && given[s] > 0))
        continue; /* the last ones go where nothing is yet */
      if (best < 0 || missing[s] > missing[best]) best = s;
    }
    for (guint i = 0; i < v->entries->len; i++) out[g_array_index(v->entries, guint, i)] = (TmSplit)best;
    missing[best] -= v->entries->len;
    given[best]++;
  }
  return out;
}

TmSplit *tm_split_by_chance(const TmDataset *d, double val, double test, guint64 seed) {
  const guint n = tm_dataset_n(d);
  TmSplit *out = g_new0(TmSplit, MAX(n, 1));
  guint size[TM_N_SPLITS];
  counts(n, val, test, size);
  g_autofree guint *order = all_entries(n);
  g_qsort_with_data(order, (int)n, sizeof *order, by_name,
                    (gpointer)d); /* so that the present split has no say */
  TmRandom r;
  tm_random_seed(&r, seed);
  tm_random_shuffle(&r, order, n);
  cut(out, order, n, size);
  return out;
}
