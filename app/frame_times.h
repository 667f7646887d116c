/* frame_times.h: how evenly the window draws, for measuring: with TARMAC_FRAME_TIMES set, every window asks for a frame at every tick of its
 * clock and prints, when it closes, how far apart they came. Main thread. */
#pragma once

#include <gtk/gtk.h>

/** Does nothing unless TARMAC_FRAME_TIMES is set. */
void tm_frame_times_watch(GtkWidget *window);
