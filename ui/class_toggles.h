/* class_toggles.h: one toggle per class and one for void: what of the masks is shown. As chips that wrap, or
 * as a list with shares and eyes. Main thread. */
#pragma once

#include <gtk/gtk.h>

#include "engine/data/class_table.h"

#define TM_TYPE_CLASS_TOGGLES (tm_class_toggles_get_type())
G_DECLARE_FINAL_TYPE(TmClassToggles, tm_class_toggles, TM, CLASS_TOGGLES, GtkBox)

/* Signal "changed": what is hidden changed. */
GtkWidget *tm_class_toggles_new(gboolean chips);
/** Shows every class of @t; NULL empties. */
void tm_class_toggles_set_classes(TmClassToggles *c, const TmClassTable *t);
/** By class, then void; @n receives the length. Owned by the widget, changes with it. */
const gboolean *tm_class_toggles_hidden(TmClassToggles *c, guint *n);
/** Shows only @label (TM_VOID: only void), or all when it is G_MAXUINT. */
void tm_class_toggles_only(TmClassToggles *c, guint label);
/** Hides or shows one class (n: void), as a click does. */
void tm_class_toggles_flip(TmClassToggles *c, guint index);
/** Shares by class, then void, as text in the list; NULL takes them away. */
void tm_class_toggles_set_shares(TmClassToggles *c, const double *shares);
