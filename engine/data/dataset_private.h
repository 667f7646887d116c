/* dataset_private.h: what a dataset holds. For dataset*.c and scan*.c only. */
#pragma once

#include "engine/data/dataset.h"

struct _TmDataset {
  gint refs;
  char *path, *title, *layout, *hash;
  TmClassTable *classes;
  GPtrArray *entries; /* TmEntry*, by split, then by path */
  guint n_split[TM_N_SPLITS];
  GPtrArray *notes; /* char*, NULL-terminated */
  gboolean demo;
  guint64 seed; /* demo: what the scenes are drawn from */
  int width, height;
  guint *scenes; /* demo: the scene's number, one an entry */
};

static inline TmEntry *tm_dataset_at(const TmDataset *d, guint i) {
  return d->entries->pdata[i];
}

/** The demo roads: @options as in tm_dataset_open(). */
TmDataset *tm_dataset_open_demo(const TmDatasetOptions *options, GError **error);
/** An empty dataset with one reference. */
TmDataset *tm_dataset_new(const char *path, const char *title, const char *layout);
/** Counts the splits and computes the hash, once the entries stand. */
void tm_dataset_seal(TmDataset *d);
TmEntry *tm_entry_new(const char *name, const char *image, const char *mask, TmSplit split);
TmEntry *tm_entry_copy(const TmEntry *e);
void tm_entry_free(gpointer entry);
