/* draw_text.h: one line of text drawn into a widget's picture, in the widget's own font and in shares of its size, so
 * that the large-text setting scales it. Main thread. */
#pragma once

#include <gtk/gtk.h>

typedef enum {
  TM_TEXT_LEFT = 0,
  TM_TEXT_RIGHT = 1 << 0,  /* x is the right end */
  TM_TEXT_CENTRE = 1 << 1, /* x is the middle */
  TM_TEXT_BOLD = 1 << 2,
} TmTextFlags;

#define TM_TEXT_SMALL 0.857
#define TM_TEXT_TINY 0.786

/** The width of @text and, @height not NULL, its height. */
int tm_text_width(GtkWidget *w, const char *text, double scale, TmTextFlags flags, int *height);
/** Draws it with its middle at height @y; @most cuts it with an ellipsis, 0 does not. */
void tm_text_draw(GtkWidget *w, cairo_t *cr, const char *text, double x, double y, double scale, TmTextFlags flags,
                  int most, const GdkRGBA *ink);
