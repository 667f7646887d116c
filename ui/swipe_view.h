/* swipe_view.h: a picture and what a network says of it, in one place: split by a handle that swipes, side by side, one
 * over the other, or how sure the network is. Zoomed and moved together; the class under the pointer is named. Left and
 * Right move the handle by 2 percent, with Shift by 10; Ctrl and + − 0 zoom. Main thread. */
#pragma once

#include <gtk/gtk.h>

#include "engine/predict/folder_job.h"

#define TM_TYPE_SWIPE_VIEW (tm_swipe_view_get_type())
G_DECLARE_FINAL_TYPE(TmSwipeView, tm_swipe_view, TM, SWIPE_VIEW, GtkWidget)

typedef enum { TM_SWIPE_SWIPE, TM_SWIPE_SIDE, TM_SWIPE_OVERLAY, TM_SWIPE_SURE } TmSwipeMode;

/* Signal "zoomed": the zoom changed. */
GtkWidget *tm_swipe_view_new(void);
/** References @p; NULL shows an empty well. */
void tm_swipe_view_set_picture(TmSwipeView *v, TmFolderPicture *p);
void tm_swipe_view_set_mode(TmSwipeView *v, TmSwipeMode mode);
/** Of the classes' colours over the picture, 0..1. */
void tm_swipe_view_set_opacity(TmSwipeView *v, double opacity);
/** Where the handle is, 0..1 of the width. */
double tm_swipe_view_get_split(TmSwipeView *v);
void tm_swipe_view_set_split(TmSwipeView *v, double split);
/** Multiplies the zoom about the middle; 0 fits the picture. */
void tm_swipe_view_zoom(TmSwipeView *v, double factor);
/** Screen pixels a picture's pixel, 1 = 100 %; 0 while there is no picture. */
double tm_swipe_view_get_scale(TmSwipeView *v);
/** "Picture 08135. Road 32.9, Building 20.9, Tree 18.8 percent. Split at 43 percent." Free it. */
char *tm_swipe_view_describe(TmSwipeView *v);
