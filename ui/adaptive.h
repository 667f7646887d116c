/* adaptive.h: a bin that says how wide it would like to be, whatever its child asks for, and tells when it is
 * given less than a limit. libadwaita 1.2 has no breakpoints; leaflets and flaps fold by natural widths,
 * which this sets, and pages flip their boxes when "narrow" changes. Main thread. */
#pragma once

#include <gtk/gtk.h>

#define TM_TYPE_ADAPTIVE (tm_adaptive_get_type())
G_DECLARE_FINAL_TYPE(TmAdaptive, tm_adaptive, TM, ADAPTIVE, GtkWidget)

/* Properties: child (GtkWidget), least-width (int: accepts to be this narrow although the child's present
 * layout needs more; 0: the child's), natural-width (int, 0: the child's), narrow-below (int; both
 * count in pixels at text scale 1 and grow with the text), narrow
 * (gboolean, read only). */
GtkWidget *tm_adaptive_new(void);
void tm_adaptive_set_child(TmAdaptive *a, GtkWidget *child);
gboolean tm_adaptive_get_narrow(TmAdaptive *a);
