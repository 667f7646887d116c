/* amend.h: what a project changes about its dataset without touching the dataset: another class table, other
 * splits, pictures left out, pixels painted void. Applied to a dataset it gives another one, which the
 * loader, the scan and the scores take as they take any. Entries are named by tm_dataset_key(), so that files
 * may come and go. Plain data; one thread at a time. */
#pragma once

#include <json-glib/json-glib.h>

#include "engine/data/dataset.h"

typedef struct {
  TmClassTable *classes; /* owned; NULL: the dataset's own */
  GHashTable *left_out;  /* set of keys (char*) */
  GHashTable *splits;    /* key to TmSplit, where it is not the dataset's own */
  GHashTable *painted;   /* key to the version (from 1) of the layer painted over its mask: a new file each
                            time, so that going back is possible */
  char *layers;          /* folder of the painted layers, absolute; NULL: none. Not part of the JSON */
} TmAmend;

/** Changes nothing. */
TmAmend *tm_amend_new(const char *layers);
TmAmend *tm_amend_copy(const TmAmend *a);
void tm_amend_free(TmAmend *a);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmAmend, tm_amend_free)

/** A new dataset: @base as @a has it, entries by split, then by path. Keys that name nothing are ignored: the
 * file may come back. */
TmDataset *tm_amend_apply(const TmAmend *a, const TmDataset *base);

void tm_amend_leave_out(TmAmend *a, const char *key, gboolean out);
/** The whole split of @d, one an entry of @d, kept where it differs from @base's. */
void tm_amend_set_splits(TmAmend *a, const TmDataset *base, const TmDataset *d, const TmSplit *splits);
/** Takes @classes; NULL: the dataset's own again. */
void tm_amend_set_classes(TmAmend *a, TmClassTable *classes);
/** Where @version of the void painted over the entry with this key is kept. NULL without a folder. Free it.
 */
char *tm_amend_layer(const TmAmend *a, const char *key, guint version);

/** "classes" (absent: the dataset's own), "left_out" (an array of keys), "painted" (an object, key to
 * version), "splits" (an object of arrays of keys). */
void tm_amend_to_json(const TmAmend *a, JsonObject *o);
/** TM_ERROR_CORRUPT when a part is of the wrong kind. */
TmAmend *tm_amend_from_json(JsonObject *o, const char *layers, GError **error);
