/* strip_item.h: one small predicted picture as an item of the film strip. Main thread. */
#pragma once

#include <gtk/gtk.h>

#include "engine/predict/folder_job.h"

#define TM_TYPE_STRIP_ITEM (tm_strip_item_get_type())
G_DECLARE_FINAL_TYPE(TmStripItem, tm_strip_item, TM, STRIP_ITEM, GObject)

/** References @p. */
TmStripItem *tm_strip_item_new(TmFolderPicture *p);
const TmFolderPicture *tm_strip_item_get_picture(TmStripItem *i);
/** The picture with its mask over it, made when it is first asked for. Owned by the item. */
GdkPaintable *tm_strip_item_get_paintable(TmStripItem *i);
