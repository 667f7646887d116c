/* mask_view.h: one picture on the screen: bare, with its prediction or its truth over it, or with its errors.
 * Goes through the ladder of viz.h. The class under the pointer is read from the full-size mask, whatever
 * size is drawn; with the keyboard, arrows move the cross by one pixel, Shift by ten. Main thread. */
#pragma once

#include <gtk/gtk.h>

#include "ui/scene.h"

#define TM_TYPE_MASK_VIEW (tm_mask_view_get_type())
G_DECLARE_FINAL_TYPE(TmMaskView, tm_mask_view, TM, MASK_VIEW, GtkWidget)

typedef enum { TM_VIEW_INPUT, TM_VIEW_PREDICTION, TM_VIEW_TRUTH, TM_VIEW_ERRORS } TmViewRole;

/* Signal "pointed" (int x, int y): the picture's pixel under the pointer; -1, -1 when there is none. */
GtkWidget *tm_mask_view_new(TmViewRole role, const char *label);
/** NULL shows an empty well with @placeholder (translated; may be NULL). */
void tm_mask_view_set_scene(TmMaskView *v, TmScene *scene);
TmScene *tm_mask_view_get_scene(TmMaskView *v);
/** Left of @split (0..1 of the width) the prediction of @other, a scene of the same picture, stands in for the view's own; NULL takes it
 * away. Dragging in the picture emits "swiped" (double). */
void tm_mask_view_set_swipe(TmMaskView *v, TmScene *other, double split);
void tm_mask_view_set_placeholder(TmMaskView *v, const char *text);
void tm_mask_view_set_opacity(TmMaskView *v, double opacity);
/** By class, then void; copied. */
void tm_mask_view_set_hidden(TmMaskView *v, const gboolean *hidden, guint n);
/** The width it asks for, at least and by choice; its height follows from the picture. */
void tm_mask_view_set_width(TmMaskView *v, int width);
