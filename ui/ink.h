/* ink.h: the interface's own colours, light and dark, by what they stand for. Text, cards and buttons take
 * theirs from the theme. Main thread. */
#pragma once

#include <gtk/gtk.h>

typedef enum {
  TM_INK_TRAINING,
  TM_INK_VALIDATION,
  TM_INK_RATE,
  TM_INK_LIVE,
  TM_INK_GOOD,
  TM_INK_WARNING,
  TM_INK_ERROR,
  TM_INK_LOAD, /* the bars of the step timeline */
  TM_INK_AUGMENT,
  TM_INK_NETWORK,
  TM_INK_UPDATE,
  TM_INK_DRAW,
  TM_N_INKS,
} TmInk;

/** The colour of @ink in the style in force (dark or light). */
GdkRGBA tm_ink(TmInk ink);
/** The widget's text colour at @alpha times its own. */
GdkRGBA tm_ink_text(GtkWidget *w, double alpha);
void tm_ink_set(cairo_t *cr, const GdkRGBA *c, double alpha);
/** TRUE when the theme asks for high contrast: lines a pixel wider, grids stronger, no tints. */
gboolean tm_ink_high_contrast(void);
/** Redraws @w whenever the style changes between light, dark and high contrast. Ends with the widget. */
void tm_ink_watch(GtkWidget *w);
