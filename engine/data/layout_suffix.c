/* layout_suffix.c: pictures and masks in one folder, masks told by the ending of their name. */
#include <glib/gi18n.h>
#include <string.h>

#include "engine/data/layout.h"

static guint count_pairs(const TmFolder *f, const char *suffix) {
  g_autoptr(GHashTable) stems = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < f->files->len; i++) g_hash_table_add(stems, tm_stem(f->files->pdata[i]));
  guint n = 0;
  GHashTableIter it;
  gpointer key;
  g_hash_table_iter_init(&it, stems);
  while (g_hash_table_iter_next(&it, &key, NULL)) {
    g_autofree char *mask = g_strconcat(key, suffix, NULL);
    n += g_hash_table_contains(stems, mask);
  }
  return n;
}

static guint count_all(const TmLayout *l, const char *suffix) {
  guint n = 0;
  for (guint i = 0; i < l->tree->folders->len; i++)
    if (tm_folder_is_below(l->tree->folders->pdata[i], l->base))
      n += count_pairs(l->tree->folders->pdata[i], suffix);
  return n;
}

/* A split folder anywhere on the way from the dataset's folder. */
static TmSplit split_of(const TmLayout *l, const TmFolder *f) {
  g_auto(GStrv) parts = g_strsplit(tm_folder_below(f, l->base), "/", -1);
  TmSplit s = TM_SPLIT_TRAIN;
  for (guint i = 0; parts[i]; i++)
    if (tm_layout_split_word(parts[i], &s)) break;
  return s;
}

TmLayoutResult tm_layout_suffix(TmLayout *l, GError **error) {
  const char *best = NULL;
  guint most = 0;
  for (guint i = 0; tm_mask_suffixes[i]; i++) {
    const guint n = count_all(l, tm_mask_suffixes[i]);
    if (n > most) {
      most = n;
      best = tm_mask_suffixes[i];
    }
  }
  if (!best) return TM_LAYOUT_NONE;
  for (guint i = 0; i < l->tree->folders->len; i++) {
    const TmFolder *f = l->tree->folders->pdata[i];
    if (!tm_folder_is_below(f, l->base) || count_pairs(f, best) == 0) continue;
    if (!tm_layout_pair_within(l, f, best, split_of(l, f), error)) return TM_LAYOUT_WRONG;
  }
  l->sentence = g_strdup_printf(_("Pictures and masks in one folder, masks ending in “%s”"), best);
  return TM_LAYOUT_FOUND;
}
