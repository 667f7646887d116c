#include "engine/predict/out_names.h"

#include <string.h>

enum { NAME_MOST = 255, STEM_MOST = NAME_MOST - (int)(sizeof TM_OVERLAY_SUFFIX ".png" - 1), HASH = 8 };

static char *stem_of(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot && dot != name ? g_strndup(name, (gsize)(dot - name)) : g_strdup(name);
}

/* Cuts between characters, should the name be UTF-8, and marks the cut with a hash of the whole. */
static char *shortened(const char *stem) {
  if (strlen(stem) <= STEM_MOST) return g_strdup(stem);
  g_autofree char *hash = g_compute_checksum_for_string(G_CHECKSUM_SHA256, stem, -1);
  gsize n = STEM_MOST - 1 - HASH;
  while (n > 0 && ((guchar)stem[n] & 0xc0) == 0x80) n--;
  return g_strdup_printf("%.*s-%.*s", (int)n, stem, HASH, hash);
}

/* Takes @stem when both its outputs are free. */
static gboolean take(GHashTable *taken, const char *stem) {
  g_autofree char *mask = g_strconcat(stem, ".png", NULL),
                  *overlay = g_strconcat(stem, TM_OVERLAY_SUFFIX ".png", NULL);
  if (g_hash_table_contains(taken, mask) || g_hash_table_contains(taken, overlay)) return FALSE;
  g_hash_table_add(taken, g_steal_pointer(&mask));
  g_hash_table_add(taken, g_steal_pointer(&overlay));
  return TRUE;
}

char **tm_out_stems(const char *const *names, guint n) {
  g_autoptr(GHashTable) taken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  char **stems = g_new0(char *, n + 1);
  for (guint i = 0; i < n; i++) {
    g_autofree char *stem = stem_of(names[i]);
    char *s = shortened(stem);
    for (guint k = 1; !take(taken, s); k++) {
      g_autofree char *longer = k == 1 ? g_strdup(names[i]) : g_strdup_printf("%s-%u", names[i], k);
      g_free(s);
      s = shortened(longer);
    }
    stems[i] = s;
  }
  return stems;
}
