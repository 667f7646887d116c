/* gallery.h: the pictures of a dataset as a grid of thumbnails with their masks. Cells decode when they come
 * into view and stop when they leave it. Main thread. */
#pragma once

#include <gtk/gtk.h>

#include "engine/data/dataset.h"

#define TM_TYPE_GALLERY (tm_gallery_get_type())
G_DECLARE_FINAL_TYPE(TmGallery, tm_gallery, TM, GALLERY, GtkWidget)

/* Signals "selected" (uint entry): a picture was chosen; "activated" (uint entry): Enter or a double click.
 */
GtkWidget *tm_gallery_new(void);
/** NULL empties. */
void tm_gallery_set_dataset(TmGallery *g, TmDataset *d);
/** Marks entries with a warning; @flagged has one per entry (copied); NULL clears. */
void tm_gallery_set_flagged(TmGallery *g, const gboolean *flagged);
/** Shows only the entries that @wanted says TRUE of; called for every entry, now and with every dataset. NULL: all. The selected picture stays selected
 * where it is among them. */
typedef gboolean (*TmGalleryFilter)(guint entry, gpointer user);
void tm_gallery_set_filter(TmGallery *g, TmGalleryFilter wanted, gpointer user);
/** Selects @entry and scrolls to it, where it is shown; else the first. */
void tm_gallery_select(TmGallery *g, guint entry);
void tm_gallery_set_opacity(TmGallery *g, double opacity);
/** Selects the picture @by places after (before) the selected one among those shown, and scrolls to it. */
void tm_gallery_go(TmGallery *g, int by);
guint tm_gallery_n_shown(TmGallery *g);
