#include "engine/data/folder_tree.h"

#include <errno.h>
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/data/image.h"

/* Datasets are shallow; these keep a walk over a whole disk, opened by mistake, from taking for ever. */
enum { DEEPEST = 8, MOST_FOLDERS = 20000, MOST_FILES = 4000000 };

/* A link to a folder: followed after all real folders, so that a folder keeps its own name. */
typedef struct {
  int at, depth; /* the folder that holds it */
  char *name;
} Link;

typedef struct {
  TmTree *tree;
  GHashTable *seen; /* "device:inode" of folders */
  GPtrArray *links; /* Link* */
} Walk;

static void folder_free(gpointer p) {
  TmFolder *f = p;
  g_free(f->path);
  g_free(f->rel);
  g_free(f->name);
  g_ptr_array_unref(f->files);
  g_free(f);
}

void tm_tree_free(TmTree *t) {
  if (!t) return;
  g_ptr_array_unref(t->folders);
  g_free(t->broken);
  g_free(t->other);
  g_free(t->denied);
  g_free(t);
}

/* What systems leave in folders without being asked. Names beginning with a dot cover .DS_Store and ._x too.
 */
static gboolean is_junk(const char *name) {
  static const char *const junk[] = {"Thumbs.db", "desktop.ini", "__MACOSX",    "ehthumbs.db",
                                     "@eaDir",    "lost+found",  "$RECYCLE.BIN"};
  if (name[0] == '.') return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS(junk); i++)
    if (g_ascii_strcasecmp(name, junk[i]) == 0) return TRUE;
  return FALSE;
}

static void note(guint *count, char **first, const TmFolder *f, const char *name) {
  if ((*count)++ == 0) *first = f->rel[0] ? g_build_filename(f->rel, name, NULL) : g_strdup(name);
}

static void take_file(Walk *w, TmFolder *f, const char *name) {
  TmTree *t = w->tree;
  if (tm_image_name_is_read(name) && t->n_files < MOST_FILES) {
    g_ptr_array_add(f->files, g_strdup(name));
    t->n_files++;
  } else if (tm_image_name_is_other(name)) {
    note(&t->n_others, &t->other, f, name);
  }
}

static gboolean is_new(Walk *w, const struct stat *st) {
  char key[48];
  g_snprintf(key, sizeof key, "%llu:%llu", (unsigned long long)st->st_dev, (unsigned long long)st->st_ino);
  return g_hash_table_add(w->seen, g_strdup(key));
}

static TmFolder *folder_new(Walk *w, const TmFolder *f, int at, const char *name, const struct stat *st) {
  if (!is_new(w, st)) return NULL;
  TmFolder *child = g_new(TmFolder, 1);
  *child = (TmFolder){.name = g_strdup(name), .files = g_ptr_array_new_with_free_func(g_free), .parent = at};
  child->path = g_build_filename(f->path, name, NULL);
  child->rel = f->rel[0] ? g_build_filename(f->rel, name, NULL) : g_strdup(name);
  return child;
}

static void take_entry(Walk *w, TmFolder *f, int at, int depth, const char *name, GPtrArray *below) {
  TmTree *t = w->tree;
  g_autofree char *path = g_build_filename(f->path, name, NULL);
  struct stat st, own;
  if (is_junk(name)) return;
  if (stat(path, &st) != 0) {
    note(&t->n_broken, &t->broken, f, name);
    return;
  }
  if (S_ISREG(st.st_mode)) {
    take_file(w, f, name);
  } else if (S_ISDIR(st.st_mode)) {
    if (tm_image_name_is_read(name)) t->n_false++;
    if (lstat(path, &own) == 0 && S_ISLNK(own.st_mode)) {
      Link *link = g_new(Link, 1);
      *link = (Link){.at = at, .depth = depth, .name = g_strdup(name)};
      g_ptr_array_add(w->links, link);
      return;
    }
    TmFolder *child = folder_new(w, f, at, name, &st);
    if (child) g_ptr_array_add(below, child);
  }
}

static int by_text(gconstpointer a, gconstpointer b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static void enter(Walk *w, TmFolder *f, int depth);

static void walk(Walk *w, int at, int depth) {
  TmTree *t = w->tree;
  TmFolder *f = t->folders->pdata[at];
  g_autoptr(GDir) dir = g_dir_open(f->path, 0, NULL);
  if (!dir) {
    note(&t->n_denied, &t->denied, f, ".");
    return;
  }
  /* Names first and sorted, so that of two ways to one folder it is always the same that counts. */
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free), below = g_ptr_array_new();
  for (const char *name; (name = g_dir_read_name(dir));) g_ptr_array_add(names, g_strdup(name));
  g_clear_pointer(&dir, g_dir_close);
  g_ptr_array_sort(names, by_text);
  for (guint i = 0; i < names->len; i++) take_entry(w, f, at, depth, names->pdata[i], below);
  for (guint i = 0; i < below->len; i++) enter(w, below->pdata[i], depth + 1);
}

static void enter(Walk *w, TmFolder *f, int depth) {
  TmTree *t = w->tree;
  if (depth > DEEPEST || t->folders->len >= MOST_FOLDERS) {
    t->n_deep++;
    folder_free(f);
    return;
  }
  g_ptr_array_add(t->folders, f);
  walk(w, (int)t->folders->len - 1, depth);
}

static void follow_links(Walk *w) {
  for (guint i = 0; i < w->links->len; i++) { /* grows while it runs */
    const Link *link = w->links->pdata[i];
    const TmFolder *f = w->tree->folders->pdata[link->at];
    g_autofree char *path = g_build_filename(f->path, link->name, NULL);
    struct stat st;
    TmFolder *child = stat(path, &st) == 0 ? folder_new(w, f, link->at, link->name, &st) : NULL;
    if (child) enter(w, child, link->depth + 1);
  }
}

static void link_free(gpointer p) {
  g_free(((Link *)p)->name);
  g_free(p);
}

TmTree *tm_tree_walk(const char *root, GError **error) {
  g_autofree char *shown = g_filename_display_name(root);
  struct stat st;
  if (stat(root, &st) != 0) {
    g_set_error(error, TM_ERROR, TM_ERROR_FILE, _("The folder “%s” cannot be opened: %s."), shown,
                g_strerror(errno));
    return NULL;
  }
  if (!S_ISDIR(st.st_mode)) {
    g_set_error(error, TM_ERROR, TM_ERROR_FILE,
                _("“%s” is a file. Choose the folder that holds the pictures; unpack an archive first."),
                shown);
    return NULL;
  }
  g_autoptr(TmTree) t = g_new0(TmTree, 1);
  t->folders = g_ptr_array_new_with_free_func(folder_free);
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr(GPtrArray) links = g_ptr_array_new_with_free_func(link_free);
  Walk w = {.tree = t, .seen = seen, .links = links};
  TmFolder *f = g_new(TmFolder, 1);
  *f = (TmFolder){.path = g_strdup(root),
                  .rel = g_strdup(""),
                  .name = g_strdup(""),
                  .files = g_ptr_array_new_with_free_func(g_free),
                  .parent = -1};
  g_ptr_array_add(t->folders, f);
  is_new(&w, &st);
  walk(&w, 0, 0);
  follow_links(&w);
  if (!t->denied || strcmp(t->denied, ".") != 0) return g_steal_pointer(&t);
  g_set_error(error, TM_ERROR, TM_ERROR_FILE, _("The folder “%s” may not be read. Check its permissions."),
              shown);
  return NULL;
}

TmFolder *tm_tree_find(const TmTree *t, const char *rel) {
  for (guint i = 0; i < t->folders->len; i++) {
    TmFolder *f = t->folders->pdata[i];
    if (strcmp(f->rel, rel) == 0) return f;
  }
  return NULL;
}

TmFolder *tm_tree_child(const TmTree *t, const TmFolder *parent, const char *name) {
  for (guint i = 0; i < t->folders->len; i++) {
    TmFolder *f = t->folders->pdata[i];
    if (f->parent >= 0 && t->folders->pdata[f->parent] == parent && g_ascii_strcasecmp(f->name, name) == 0)
      return f;
  }
  return NULL;
}

gboolean tm_folder_is_below(const TmFolder *f, const TmFolder *top) {
  const gsize n = strlen(top->rel);
  return n == 0 || (strncmp(f->rel, top->rel, n) == 0 && (f->rel[n] == 0 || f->rel[n] == '/'));
}

const char *tm_folder_below(const TmFolder *f, const TmFolder *top) {
  const gsize n = strlen(top->rel);
  if (n == 0) return f->rel;
  return f->rel[n] == '/' ? f->rel + n + 1 : f->rel + n;
}
