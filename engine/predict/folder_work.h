/* folder_work.h: what is read from and written to by a folder of pictures becoming a folder of masks: names, places,
 * the table of class shares. Private to engine/predict. One thread. */
#pragma once

#include "engine/data/class_table.h"
#include "engine/data/image.h"

typedef struct {
  char *folder, *out_dir; /* out_dir NULL: nothing is written */
  gboolean masks, overlays, table;
  GPtrArray *names;     /* char*, in order; NULL-terminated is not needed */
  char **stems;         /* of the outputs, one a name */
  GHashTable *rows;     /* of the table: name to line */
  char *table_path;     /* chosen when it is first written */
} TmFolderWork;

void tm_folder_work_clear(TmFolderWork *w);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TmFolderWork, tm_folder_work_clear)

/** Fills the names with the pictures of the folder, by name, and their stems, and checks that @out_dir may be
 * written to (out_dir.h). TM_ERROR_FILE or, without pictures and unless @may_be_empty, TM_ERROR_DATA. */
gboolean tm_folder_work_list(TmFolderWork *w, gboolean may_be_empty, GError **error);
/** The place of picture @name, which is added when it is new. */
guint tm_folder_work_add(TmFolderWork *w, const char *name);
/** How many results are there already, and the first of them (free it; NULL allowed). */
guint tm_folder_work_existing(const TmFolderWork *w, char **first);
/** TRUE when all that would be written for picture @i is there. */
gboolean tm_folder_work_has(const TmFolderWork *w, guint i);
/** Makes @out_dir and chooses where the table goes: classes.csv or, when one is there and @replace is FALSE, the first
 * of classes-2.csv, classes-3.csv … that is not. */
gboolean tm_folder_work_begin(TmFolderWork *w, gboolean replace, GError **error);
/** Writes what is asked for of picture @i and notes its line of the table. */
gboolean tm_folder_work_save(TmFolderWork *w, guint i, const TmClassTable *t, const TmPicture *p,
                             const guint8 *labels, const double *shares, GError **error);
/** Writes the table of all lines so far, in the order of the names. */
gboolean tm_folder_work_write_table(TmFolderWork *w, const TmClassTable *t, GError **error);
/** The share of each class, @t->n of them. */
void tm_folder_shares(const TmClassTable *t, const guint8 *labels, gsize pixels, double *shares);
/** TRUE for what would fail with the next picture too. */
gboolean tm_folder_ends_job(const GError *e);
