/* layout.h: how datasets lie in folders. Private to data. One file a layout (layout_*.c); each looks at names
 * only, and says found, not found, or found and wrong. dataset.c tries them in the order of the table in
 * layout.c. */
#pragma once

#include "engine/data/dataset.h"
#include "engine/data/folder_tree.h"

typedef struct {
  const TmTree *tree;
  const TmFolder *base; /* where the dataset begins: the root, or a folder that is alone in it */
  GPtrArray *entries;   /* TmEntry*, owned */
  GPtrArray *notes;     /* char*, owned */
  char *sentence;       /* TmDataset's layout */
  gboolean segnet;      /* SegNet's: masks 0..11 are CamVid's classes */
  guint n_unused;       /* masks without a picture, and the first */
  char *unused;
  guint n_normalised; /* pairs found only after Unicode normalisation */
} TmLayout;

typedef enum { TM_LAYOUT_NONE, TM_LAYOUT_FOUND, TM_LAYOUT_WRONG } TmLayoutResult;

/** Fills @l from its tree: TM_ERROR_DATA when nothing is recognised (what was looked for and found) or what
 * is there contradicts itself. */
gboolean tm_layout_find(TmLayout *l, GError **error);
void tm_layout_clear(TmLayout *l);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TmLayout, tm_layout_clear)

TmLayoutResult tm_layout_segnet(TmLayout *l, GError **error);
TmLayoutResult tm_layout_folders(TmLayout *l, GError **error);
TmLayoutResult tm_layout_suffix(TmLayout *l, GError **error);
TmLayoutResult tm_layout_camvid(TmLayout *l, GError **error);

/** For the layouts. @mask may be NULL; paths are copied. */
void tm_layout_add(TmLayout *l, const char *image, const char *mask, TmSplit split);
void tm_layout_note(TmLayout *l, const char *format, ...) G_GNUC_PRINTF(2, 3);
/** "train", "Training", "val", "valid", "test" …: what people call the parts. */
gboolean tm_layout_split_word(const char *word, TmSplit *out);
/** Path of the colour table (label_colors.txt and its like) in the dataset; NULL if there is none. Free it.
 */
char *tm_layout_colour_file(const TmLayout *l);

/** The endings by which masks are told from pictures, NULL-terminated: "_mask", "_L" … */
extern const char *const tm_mask_suffixes[];
/** Adds every picture of @pictures with the mask of the same stem, or stem and ending, in @masks (another
 * folder; NULL: none have one). FALSE and TM_ERROR_DATA when two files share a stem: both are listed. */
gboolean tm_layout_pair(TmLayout *l, const TmFolder *pictures, const TmFolder *masks, TmSplit split,
                        GError **error);
/** The same, where pictures and masks, which end in @suffix, share one folder. */
gboolean tm_layout_pair_within(TmLayout *l, const TmFolder *f, const char *suffix, TmSplit split,
                               GError **error);

/** The name without its last extension. Free it. */
char *tm_stem(const char *name);
