/* layout_pairs.c: which mask belongs to which picture. Stems are compared whole, never as prefixes: "train1"
 * is not "train10". */
#include <glib/gi18n.h>
#include <string.h>

#include "engine/data/layout.h"

const char *const tm_mask_suffixes[] = {
    "_mask", "_L",     "_label",  "_labels", "_masks", "_gt",           "_seg",  "_annot",
    "-mask", "-label", "_target", "_lbl",    "_truth", "_segmentation", ".mask", NULL};

/* Files of one folder by stem. */
typedef struct {
  GHashTable *exact;      /* stem to file name (borrowed from the folder) */
  GHashTable *normalised; /* NFC of the stem to file name; "" when several files share it */
  GHashTable *used;       /* file names that were matched */
} Stems;

char *tm_stem(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot && dot != name ? g_strndup(name, (gsize)(dot - name)) : g_strdup(name);
}

static char *nfc(const char *stem) {
  char *n = g_utf8_validate(stem, -1, NULL) ? g_utf8_normalize(stem, -1, G_NORMALIZE_NFC) : NULL;
  return n ? n : g_strdup(stem);
}

static gboolean stems_init(Stems *s, const TmFolder *f, GError **error) {
  *s = (Stems){.exact = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
               .normalised = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
               .used = g_hash_table_new(g_str_hash, g_str_equal)};
  for (guint i = 0; i < f->files->len; i++) {
    const char *name = f->files->pdata[i];
    char *stem = tm_stem(name), *key = nfc(stem);
    const char *other = g_hash_table_lookup(s->exact, stem);
    if (other) {
      g_autofree char *where = g_filename_display_name(f->path), *a = g_filename_display_name(other),
                      *b = g_filename_display_name(name);
      g_set_error(error, TM_ERROR, TM_ERROR_DATA,
                  _("In “%s” the files “%s” and “%s” have one name but for the extension, so their mask "
                    "cannot be told. Rename or remove one."),
                  where, a, b);
      g_free(stem);
      g_free(key);
      return FALSE;
    }
    g_hash_table_insert(s->exact, stem, (gpointer)name);
    const gboolean twice = g_hash_table_contains(s->normalised, key);
    g_hash_table_insert(s->normalised, key, twice ? (gpointer) "" : (gpointer)name);
  }
  return TRUE;
}

static void stems_clear(Stems *s) {
  g_clear_pointer(&s->exact, g_hash_table_unref);
  g_clear_pointer(&s->normalised, g_hash_table_unref);
  g_clear_pointer(&s->used, g_hash_table_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Stems, stems_clear)

static const char *lookup(GHashTable *table, const char *stem, const char *suffix) {
  g_autofree char *key = g_strconcat(stem, suffix, NULL);
  const char *found = g_hash_table_lookup(table, key);
  return found && *found ? found : NULL;
}

/* The mask of @stem: first as the names are written, then as Unicode says they are the same. */
static const char *match(TmLayout *l, Stems *masks, const char *stem) {
  const char *found = lookup(masks->exact, stem, "");
  for (guint i = 0; !found && tm_mask_suffixes[i]; i++)
    found = lookup(masks->exact, stem, tm_mask_suffixes[i]);
  if (!found) {
    g_autofree char *key = nfc(stem);
    found = lookup(masks->normalised, key, "");
    for (guint i = 0; !found && tm_mask_suffixes[i]; i++)
      found = lookup(masks->normalised, key, tm_mask_suffixes[i]);
    if (found) l->n_normalised++;
  }
  if (found) g_hash_table_add(masks->used, (gpointer)found);
  return found;
}

static void count_unused(TmLayout *l, const TmFolder *f, GHashTable *used) {
  for (guint i = 0; i < f->files->len; i++) {
    if (g_hash_table_contains(used, f->files->pdata[i])) continue;
    if (l->n_unused++ == 0) l->unused = g_build_filename(f->rel, f->files->pdata[i], NULL);
  }
}

gboolean tm_layout_pair(TmLayout *l, const TmFolder *pictures, const TmFolder *masks, TmSplit split,
                        GError **error) {
  g_auto(Stems) own = {0}, other = {0};
  if (!stems_init(&own, pictures, error) || (masks && !stems_init(&other, masks, error))) return FALSE;
  for (guint i = 0; i < pictures->files->len; i++) {
    const char *name = pictures->files->pdata[i];
    g_autofree char *stem = tm_stem(name), *image = g_build_filename(pictures->path, name, NULL);
    const char *found = masks ? match(l, &other, stem) : NULL;
    g_autofree char *mask = found ? g_build_filename(masks->path, found, NULL) : NULL;
    tm_layout_add(l, image, mask, split);
  }
  if (masks) count_unused(l, masks, other.used);
  return TRUE;
}

/* The picture whose mask @stem is: its stem less an ending, if that picture is there. */
static gboolean is_mask_of_any(const Stems *s, const char *stem, const char *suffix) {
  if (!g_str_has_suffix(stem, suffix)) return FALSE;
  g_autofree char *base = g_strndup(stem, strlen(stem) - strlen(suffix));
  g_autofree char *key = nfc(base);
  return g_hash_table_contains(s->exact, base) || g_hash_table_contains(s->normalised, key);
}

gboolean tm_layout_pair_within(TmLayout *l, const TmFolder *f, const char *suffix, TmSplit split,
                               GError **error) {
  g_auto(Stems) s = {0};
  if (!stems_init(&s, f, error)) return FALSE;
  guint other = 0;
  for (guint i = 0; i < f->files->len; i++) {
    const char *name = f->files->pdata[i];
    g_autofree char *stem = tm_stem(name), *key = nfc(stem);
    if (is_mask_of_any(&s, stem, suffix)) continue;
    gboolean second = FALSE; /* another kind of mask of the same picture */
    for (guint k = 0; !second && tm_mask_suffixes[k]; k++)
      second = is_mask_of_any(&s, stem, tm_mask_suffixes[k]);
    if (second) {
      other++;
      continue;
    }
    const char *found = lookup(s.exact, stem, suffix);
    if (!found && (found = lookup(s.normalised, key, suffix))) l->n_normalised++;
    g_autofree char *image = g_build_filename(f->path, name, NULL),
                    *mask = found ? g_build_filename(f->path, found, NULL) : NULL;
    tm_layout_add(l, image, mask, split);
  }
  if (other)
    tm_layout_note(l,
                   ngettext("%u file is a second mask of a picture that has a “%s” mask; it is not used.",
                            "%u files are second masks of pictures that have a “%s” mask; they are not used.",
                            other),
                   other, suffix);
  return TRUE;
}
