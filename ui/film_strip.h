/* film_strip.h: the pictures that were predicted, one after the other, each with the share of one class. Holds the last
 * TM_STRIP_MOST. Main thread. */
#pragma once

#include <gtk/gtk.h>

#include "engine/predict/folder_job.h"

#define TM_TYPE_FILM_STRIP (tm_film_strip_get_type())
G_DECLARE_FINAL_TYPE(TmFilmStrip, tm_film_strip, TM, FILM_STRIP, GtkWidget)

enum { TM_STRIP_MOST = 600 };

/* Signal "selected" (uint index): the person chose the picture of that index. */
GtkWidget *tm_film_strip_new(void);
void tm_film_strip_clear(TmFilmStrip *s);
/** Puts @p at the end, in the place of an older one of its index; scrolls there unless the person looks at another. */
void tm_film_strip_add(TmFilmStrip *s, TmFolderPicture *p);
/** The class whose share is shown on each picture. */
void tm_film_strip_set_class(TmFilmStrip *s, guint c);
/** Selects the picture @by places on. */
void tm_film_strip_go(TmFilmStrip *s, int by);
guint tm_film_strip_n(TmFilmStrip *s);
/** The picture at @place, oldest first; owned by the strip. */
const TmFolderPicture *tm_film_strip_picture(TmFilmStrip *s, guint place);
