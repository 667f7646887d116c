/* folder_tree.h: the picture files below a folder, found once. Private to data.
 *
 * Each folder is visited once, however many links lead to it, so a loop of links ends. Hidden files, "._x",
 * Thumbs.db, desktop.ini and the like are passed over in silence; links that lead nowhere, folders named like
 * pictures and pictures of kinds that are not read are counted. */
#pragma once

#include "engine/core/error.h"

typedef struct {
  char *path;       /* absolute, file system's encoding */
  char *rel;        /* below the root, "" for the root, "train/images" */
  char *name;       /* last part of rel; "" for the root */
  GPtrArray *files; /* char*: names of picture files, sorted by bytes */
  int parent;       /* index in the tree's folders, -1 for the root */
} TmFolder;

typedef struct {
  GPtrArray *folders; /* TmFolder*, the root first, parents before children, sorted by rel */
  guint n_files;
  guint n_broken, n_others, n_false; /* links leading nowhere; kinds not read; folders named like pictures */
  guint n_denied, n_deep;        /* folders that may not be read; that lie too deep or come after too many */
  char *broken, *other, *denied; /* the first of each, relative */
} TmTree;

/** Walks @root. TM_ERROR_FILE when it is no folder or may not be read. */
TmTree *tm_tree_walk(const char *root, GError **error);
void tm_tree_free(TmTree *t);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmTree, tm_tree_free)

/** The folder with the relative path @rel, NULL if there is none. */
TmFolder *tm_tree_find(const TmTree *t, const char *rel);
/** Like tm_tree_find() for @name below @parent, without regard to case. */
TmFolder *tm_tree_child(const TmTree *t, const TmFolder *parent, const char *name);
/** TRUE when @f is @top or lies below it. */
gboolean tm_folder_is_below(const TmFolder *f, const TmFolder *top);
/** The part of @f's path below @top: "" when they are the same. Borrowed. */
const char *tm_folder_below(const TmFolder *f, const TmFolder *top);
