/* layout_folders.c: images/ and masks/ side by side, under whatever names, with split folders above or below
 * them. */
#include <glib/gi18n.h>
#include <string.h>

#include "engine/data/layout.h"

static const char *const picture_words[] = {"images",   "imgs",   "image",  "img", "JPEGImages",
                                            "pictures", "photos", "frames", "raw", "rgb",
                                            "inputs",   "input",  "x",      NULL};
static const char *const mask_words[] = {"masks",
                                         "mask",
                                         "labels",
                                         "label",
                                         "annotations",
                                         "annotation",
                                         "annots",
                                         "annot",
                                         "SegmentationClass",
                                         "segmentation",
                                         "segmentations",
                                         "gt",
                                         "groundtruth",
                                         "ground_truth",
                                         "truth",
                                         "targets",
                                         "target",
                                         "seg",
                                         "lbl",
                                         "y",
                                         NULL};

static TmFolder *child_called(const TmLayout *l, const TmFolder *parent, const char *const *words) {
  for (guint i = 0; words[i]; i++) {
    TmFolder *f = tm_tree_child(l->tree, parent, words[i]);
    if (f) return f;
  }
  return NULL;
}

/* The split named by the first folder below @top, else @fallback. */
static TmSplit split_below(const TmFolder *f, const TmFolder *top, TmSplit fallback) {
  g_auto(GStrv) parts = g_strsplit(tm_folder_below(f, top), "/", 2);
  TmSplit s = fallback;
  return parts[0] && tm_layout_split_word(parts[0], &s) ? s : fallback;
}

static gboolean pair_trees(TmLayout *l, const TmFolder *pictures, const TmFolder *masks, TmSplit split,
                           GError **error) {
  const TmTree *t = l->tree;
  for (guint i = 0; i < t->folders->len; i++) {
    const TmFolder *f = t->folders->pdata[i];
    if (f->files->len == 0 || !tm_folder_is_below(f, pictures) || tm_folder_is_below(f, masks)) continue;
    const char *below = tm_folder_below(f, pictures);
    g_autofree char *rel = *below ? g_build_filename(masks->rel, below, NULL) : g_strdup(masks->rel);
    if (!tm_layout_pair(l, f, tm_tree_find(t, rel), split_below(f, pictures, split), error)) return FALSE;
  }
  return TRUE;
}

TmLayoutResult tm_layout_folders(TmLayout *l, GError **error) {
  TmFolder *pictures = child_called(l, l->base, picture_words), *masks = child_called(l, l->base, mask_words);
  if (pictures && masks) {
    if (!pair_trees(l, pictures, masks, TM_SPLIT_TRAIN, error)) return TM_LAYOUT_WRONG;
    g_autofree char *a = g_filename_display_name(pictures->name), *b = g_filename_display_name(masks->name);
    l->sentence = g_strdup_printf(_("Pictures in %s/, masks in %s/"), a, b);
    return l->entries->len ? TM_LAYOUT_FOUND : TM_LAYOUT_NONE;
  }
  for (guint i = 0; i < l->tree->folders->len; i++) { /* train/images, train/masks, val/images … */
    const TmFolder *f = l->tree->folders->pdata[i];
    TmSplit split;
    if (f->parent < 0 || l->tree->folders->pdata[f->parent] != l->base ||
        !tm_layout_split_word(f->name, &split))
      continue;
    pictures = child_called(l, f, picture_words);
    masks = child_called(l, f, mask_words);
    if (pictures && masks && !pair_trees(l, pictures, masks, split, error)) return TM_LAYOUT_WRONG;
  }
  if (l->entries->len == 0) return TM_LAYOUT_NONE;
  l->sentence = g_strdup(_("A folder for each split, with pictures and masks in folders of their own"));
  return TM_LAYOUT_FOUND;
}
