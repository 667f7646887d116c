/* layout_camvid.c: CamVid as its makers give it: 701_StillsRaw_full, LabeledApproved_full with x_L.png, and
 * label_colors.txt. */
#include <glib/gi18n.h>
#include <string.h>

#include "engine/data/layout.h"

static TmFolder *folder_with(const TmLayout *l, const char *word) {
  for (guint i = 0; i < l->tree->folders->len; i++) {
    TmFolder *f = l->tree->folders->pdata[i];
    g_autofree char *low = g_ascii_strdown(f->name, -1);
    if (f->files->len && tm_folder_is_below(f, l->base) && strstr(low, word)) return f;
  }
  return NULL;
}

TmLayoutResult tm_layout_camvid(TmLayout *l, GError **error) {
  const TmFolder *pictures = folder_with(l, "stillsraw"), *masks = folder_with(l, "labeledapproved");
  if (!pictures || !masks) return TM_LAYOUT_NONE;
  if (!tm_layout_pair(l, pictures, masks, TM_SPLIT_TRAIN, error)) return TM_LAYOUT_WRONG;
  l->sentence = g_strdup(_("CamVid's original layout: stills and colour-coded labels"));
  return TM_LAYOUT_FOUND;
}
