#include "engine/data/dataset.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/data/class_guess.h"
#include "engine/data/dataset_private.h"
#include "engine/data/layout.h"

#define DEFAULT_VAL_FRACTION 0.2f

const char *tm_split_name(TmSplit s) {
  static const char *const names[TM_N_SPLITS] = {"train", "val", "test"};
  return names[s];
}

gboolean tm_split_parse(const char *name, TmSplit *out) {
  for (TmSplit s = 0; s < TM_N_SPLITS; s++)
    if (g_strcmp0(name, tm_split_name(s)) == 0) {
      *out = s;
      return TRUE;
    }
  return FALSE;
}

TmEntry *tm_entry_new(const char *name, const char *image, const char *mask, TmSplit split) {
  TmEntry *e = g_new(TmEntry, 1);
  *e = (TmEntry){.name = g_strdup(name), .image = g_strdup(image), .mask = g_strdup(mask), .split = split};
  return e;
}

TmEntry *tm_entry_copy(const TmEntry *e) {
  TmEntry *c = tm_entry_new(e->name, e->image, e->mask, e->split);
  c->layer = g_strdup(e->layer);
  c->left_out = e->left_out;
  return c;
}

void tm_entry_free(gpointer p) {
  TmEntry *e = p;
  g_free(e->name);
  g_free(e->image);
  g_free(e->mask);
  g_free(e->layer);
  g_free(e);
}

TmDataset *tm_dataset_new(const char *path, const char *title, const char *layout) {
  TmDataset *d = g_new0(TmDataset, 1);
  *d = (TmDataset){.refs = 1, .path = g_strdup(path), .title = g_strdup(title), .layout = g_strdup(layout)};
  d->entries = g_ptr_array_new_with_free_func(tm_entry_free);
  d->notes = g_ptr_array_new_with_free_func(g_free);
  return d;
}

TmDataset *tm_dataset_ref(TmDataset *d) {
  g_atomic_int_inc(&d->refs);
  return d;
}

void tm_dataset_unref(TmDataset *d) {
  if (!d || !g_atomic_int_dec_and_test(&d->refs)) return;
  g_ptr_array_unref(d->entries);
  g_ptr_array_unref(d->notes);
  tm_class_table_free(d->classes);
  g_free(d->scenes);
  g_free(d->path);
  g_free(d->title);
  g_free(d->layout);
  g_free(d->hash);
  g_free(d);
}

/* Size and time of a file, so that a changed file changes the hash; where it lies must not matter. */
static void hash_file(GChecksum *sum, const TmDataset *d, const char *path) {
  struct stat st = {0};
  const gboolean there = path && stat(path, &st) == 0;
  const gsize n = strlen(d->path);
  const char *rel = path && strncmp(path, d->path, n) == 0 ? path + n : path ? path : "";
  g_autofree char *line = g_strdup_printf("%s\n%d %lld %lld.%09ld\n", rel, there, (long long)st.st_size,
                                          (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
  g_checksum_update(sum, (const guchar *)line, -1);
}

static void hash_entry(GChecksum *sum, const TmDataset *d, guint i) {
  const TmEntry *e = tm_dataset_at(d, i);
  g_autofree char *line =
      d->demo ? g_strdup_printf("%u %d\n", d->scenes[i], e->split) : g_strdup_printf("%d\n", e->split);
  g_checksum_update(sum, (const guchar *)line, -1);
  if (e->left_out) g_checksum_update(sum, (const guchar *)"out\n", -1);
  if (e->layer) hash_file(sum, d, e->layer);
  if (d->demo) return;
  hash_file(sum, d, e->image);
  hash_file(sum, d, e->mask);
}

void tm_dataset_seal(TmDataset *d) {
  g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
  memset(d->n_split, 0, sizeof d->n_split);
  if (d->demo) {
    g_autofree char *head =
        g_strdup_printf("demo %llu %d %d\n", (unsigned long long)d->seed, d->width, d->height);
    g_checksum_update(sum, (const guchar *)head, -1);
  }
  for (guint i = 0; i < d->entries->len; i++) {
    d->n_split[tm_dataset_at(d, i)->split]++;
    hash_entry(sum, d, i);
  }
  g_free(d->hash);
  d->hash = g_strdup(g_checksum_get_string(sum));
  if (d->notes->len == 0 || d->notes->pdata[d->notes->len - 1]) g_ptr_array_add(d->notes, NULL);
}

static int by_split_and_path(gconstpointer a, gconstpointer b) {
  const TmEntry *x = *(TmEntry *const *)a, *y = *(TmEntry *const *)b;
  return x->split != y->split ? (int)x->split - (int)y->split : strcmp(x->image, y->image);
}

/* A picture listed twice counts once in its split; the same picture in two splits flatters the score and is
 * told. */
static void drop_doubles(TmLayout *l) {
  g_autoptr(GHashTable) split_of = g_hash_table_new(g_str_hash, g_str_equal); /* path to split + 1 */
  guint twice = 0, shared = 0;
  for (guint i = 0; i < l->entries->len;) {
    TmEntry *e = l->entries->pdata[i];
    const guint seen = GPOINTER_TO_UINT(g_hash_table_lookup(split_of, e->image));
    if (seen == e->split + 1u) {
      twice++;
      g_ptr_array_remove_index(l->entries, i);
      continue;
    }
    shared += seen != 0;
    g_hash_table_insert(split_of, e->image, GUINT_TO_POINTER(e->split + 1u));
    i++;
  }
  if (twice)
    tm_layout_note(l,
                   ngettext("%u picture is listed twice; it counts once.",
                            "%u pictures are listed twice; they count once.", twice),
                   twice);
  if (shared)
    tm_layout_note(
        l,
        ngettext("%u picture is in more than one split, so scores will look better than they are.",
                 "%u pictures are in more than one split, so scores will look better than they are.", shared),
        shared);
}

/* Without a validation split the last part of the training pictures, by name, becomes one. By name and not by
 * chance, since neighbouring pictures of a video look alike: a random picture's neighbours would all be in
 * training. Training always keeps at least one. */
static void split_tail(TmLayout *l, float fraction) {
  guint usable = 0, val = 0;
  for (guint i = 0; i < l->entries->len; i++) {
    const TmEntry *e = l->entries->pdata[i];
    usable += e->split == TM_SPLIT_TRAIN && e->mask;
    val += e->split == TM_SPLIT_VAL;
  }
  if (val > 0 || usable == 0 || !(fraction > 0)) return;
  if (usable == 1) {
    tm_layout_note(l, _("There is only one picture with a mask: training goes on without validation, and its "
                        "scores are shown as none."));
    return;
  }
  const guint n = CLAMP((guint)lroundf(MIN(fraction, 1.0f) * (float)usable), 1u, usable - 1u);
  guint left = n;
  for (guint i = l->entries->len; i > 0 && left > 0; i--) {
    TmEntry *e = l->entries->pdata[i - 1];
    if (e->split != TM_SPLIT_TRAIN || !e->mask) continue;
    e->split = TM_SPLIT_VAL;
    left--;
  }
  tm_layout_note(l,
                 _("The folder has no validation split: of %u pictures with masks the last %u by name are "
                   "used for validation."),
                 usable, n);
  g_ptr_array_sort(l->entries, by_split_and_path);
}

static TmDataset *from_layout(const char *root, TmLayout *l, const TmDatasetOptions *o, GError **error) {
  g_ptr_array_sort(l->entries, by_split_and_path);
  drop_doubles(l);
  split_tail(l, o ? o->val_fraction : DEFAULT_VAL_FRACTION);
  TmClassTable *classes = o && o->classes ? tm_class_table_copy(o->classes) : tm_class_guess(l, error);
  if (!classes) return NULL;
  g_autofree char *title = g_filename_display_basename(root);
  TmDataset *d = tm_dataset_new(root, title, l->sentence);
  d->classes = classes;
  g_clear_pointer(&d->entries, g_ptr_array_unref);
  g_clear_pointer(&d->notes, g_ptr_array_unref);
  d->entries = g_steal_pointer(&l->entries);
  d->notes = g_steal_pointer(&l->notes);
  tm_dataset_seal(d);
  return d;
}

TmDataset *tm_dataset_open(const char *path, const TmDatasetOptions *options, GError **error) {
  if (strcmp(path, "demo") == 0) return tm_dataset_open_demo(options, error);
  g_autofree char *root = g_canonicalize_filename(path, NULL);
  g_autoptr(TmTree) tree = tm_tree_walk(root, error);
  if (!tree) return NULL;
  g_auto(TmLayout) l = {.tree = tree};
  return tm_layout_find(&l, error) ? from_layout(root, &l, options, error) : NULL;
}

TmDataset *tm_dataset_subset(const TmDataset *d, const gboolean *leave_out, const TmClassTable *classes) {
  TmDataset *s = tm_dataset_new(d->path, d->title, d->layout);
  s->classes = tm_class_table_copy(classes ? classes : d->classes);
  s->demo = d->demo;
  s->seed = d->seed;
  s->width = d->width;
  s->height = d->height;
  if (d->demo) s->scenes = g_new0(guint, MAX(d->entries->len, 1));
  for (guint i = 0; i < d->entries->len; i++) {
    const TmEntry *e = tm_dataset_at(d, i);
    if (leave_out && leave_out[i]) continue;
    if (d->demo) s->scenes[s->entries->len] = d->scenes[i];
    g_ptr_array_add(s->entries, tm_entry_copy(e));
  }
  for (guint i = 0; d->notes->pdata[i]; i++) g_ptr_array_add(s->notes, g_strdup(d->notes->pdata[i]));
  tm_dataset_seal(s);
  return s;
}

const char *tm_dataset_path(const TmDataset *d) {
  return d->path;
}
const char *tm_dataset_title(const TmDataset *d) {
  return d->title;
}
const char *tm_dataset_layout(const TmDataset *d) {
  return d->layout;
}
const TmClassTable *tm_dataset_classes(const TmDataset *d) {
  return d->classes;
}
guint tm_dataset_n(const TmDataset *d) {
  return d->entries->len;
}
guint tm_dataset_n_split(const TmDataset *d, TmSplit s) {
  return d->n_split[s];
}
const TmEntry *tm_dataset_entry(const TmDataset *d, guint i) {
  return i < d->entries->len ? tm_dataset_at(d, i) : NULL;
}
char *tm_dataset_key(const TmDataset *d, guint i) {
  const TmEntry *e = tm_dataset_at(d, i);
  if (!e->image) return g_strdup(e->name);
  const gsize n = strlen(d->path);
  const char *rel = strncmp(e->image, d->path, n) == 0 && e->image[n] == '/' ? e->image + n + 1 : e->image;
  return g_uri_escape_string(rel, " !$&'()*+,;=:@/[]", TRUE);
}

const char *const *tm_dataset_notes(const TmDataset *d) {
  return (const char *const *)d->notes->pdata;
}
const char *tm_dataset_hash(const TmDataset *d) {
  return d->hash;
}
