/* range_sheet.h: the learning-rate range test over the curves: loss against rate as it grows, the rate that is suggested, and whether to
 * take it. Main thread. */
#pragma once

#include <gtk/gtk.h>

#define TM_TYPE_RANGE_SHEET (tm_range_sheet_get_type())
G_DECLARE_FINAL_TYPE(TmRangeSheet, tm_range_sheet, TM, RANGE_SHEET, GtkBox)

/* Signals: "use" (double): the suggested rate is taken. "closed" (): it is not, or the test is given up. */
GtkWidget *tm_range_sheet_new(void);
/** Back to an empty plot, with words for what is being done. */
void tm_range_sheet_begin(TmRangeSheet *s, const char *words);
/** @n points, of a test of @total steps. @smooth may be NULL. */
void tm_range_sheet_set_points(TmRangeSheet *s, const double *rate, const double *loss, const double *smooth, guint n, guint total);
/** The end: the rate suggested, or NAN and why there is none. */
void tm_range_sheet_end(TmRangeSheet *s, double suggested, const char *reason);
