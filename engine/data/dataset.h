/* dataset.h: pictures with masks, in splits, from a folder of any known layout or drawn by the demo roads. Immutable once opened, so
 * all reading functions may be called from any thread. Nothing is ever written into the folder. */
#pragma once

#include "engine/core/error.h"
#include "engine/data/class_table.h"
#include "engine/data/sample.h"

typedef enum { TM_SPLIT_TRAIN, TM_SPLIT_VAL, TM_SPLIT_TEST, TM_N_SPLITS } TmSplit;

typedef struct {
  char *name;  /* shown: the picture's stem, valid UTF-8 */
  char *image; /* absolute path in the file system's encoding; NULL for demo roads */
  char *mask;  /* NULL when there is none */
  char *layer; /* pixels the project paints void: a grey PNG of the mask's size, void where it is not 0; NULL: none */
  TmSplit split;
  gboolean left_out; /* by the project: shown, never trained on or scored */
} TmEntry;

typedef struct _TmDataset TmDataset;

typedef struct {
  const TmClassTable *classes; /* (optional) instead of the table found or guessed */
  float val_fraction;          /* where the folder has no split: the last part by name, default 0.2; 0 none */
  guint64 seed;                /* demo roads */
  int demo_train, demo_val;    /* demo roads: pictures; 0 gives 400 and 60 */
  int demo_width, demo_height; /* 0 gives 240 x 180 */
} TmDatasetOptions;

/** "train", "val", "test": static, used in files and on the command line. */
const char *tm_split_name(TmSplit s);
gboolean tm_split_parse(const char *name, TmSplit *out);

/** Opens @path: a folder, or "demo". Recognises, in this order: SegNet's CamVid (train.txt val.txt test.txt and/or train/ trainannot/ …),
 * images/ + masks/ (also imgs, labels, annotations …) with or without train/val/test folders in either nesting, suffix pairs in one
 * folder (x.jpg, x_mask.png, x_L.png), CamVid's original (701_StillsRaw_full + LabeledApproved_full + label_colors.txt, or flat). Only looks
 * at names and, to guess a class table, at a few masks. @options may be NULL. TM_ERROR_DATA says what was looked for and found. */
TmDataset *tm_dataset_open(const char *path, const TmDatasetOptions *options, GError **error);
TmDataset *tm_dataset_ref(TmDataset *d);
void tm_dataset_unref(TmDataset *d);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmDataset, tm_dataset_unref)

const char *tm_dataset_path(const TmDataset *d);   /* as opened; "demo" for the demo roads */
const char *tm_dataset_title(const TmDataset *d);  /* "camvid", "Demo roads" */
const char *tm_dataset_layout(const TmDataset *d); /* a sentence: "SegNet's CamVid layout with list files" */
const TmClassTable *tm_dataset_classes(const TmDataset *d);
guint tm_dataset_n(const TmDataset *d);
guint tm_dataset_n_split(const TmDataset *d, TmSplit s);
const TmEntry *tm_dataset_entry(const TmDataset *d, guint i);
/** What names entry @i in a project's files: the picture's path below the folder, ASCII or UTF-8 with other bytes escaped as in a URI. Free
 * it. */
char *tm_dataset_key(const TmDataset *d, guint i);
/** Things noticed while opening, one sentence each, NULL-terminated: paths rebased, files skipped, names that collide. */
const char *const *tm_dataset_notes(const TmDataset *d);
/** Hash over entries, sizes and times: written to run.json. Static hex string of the dataset. */
const char *tm_dataset_hash(const TmDataset *d);

/** Decodes picture @i and its mask through the class table. Values the table does not know become void here (the scan reports them);
 * a picture and mask of different size is TM_ERROR_DATA. @out is filled only on success; clear it with tm_sample_clear(). */
gboolean tm_dataset_read(const TmDataset *d, guint i, TmSample *out, GError **error);
/** The same, at most @max_side pixels on the longer side (JPEG scaled in the decoder; masks by nearest): thumbnails. */
gboolean tm_dataset_read_small(const TmDataset *d, guint i, int max_side, TmSample *out, GError **error);

/** A new dataset without the entries whose index is set in @leave_out (scan results), and with @classes if not NULL. */
TmDataset *tm_dataset_subset(const TmDataset *d, const gboolean *leave_out, const TmClassTable *classes);
