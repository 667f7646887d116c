/* score_bars.h: scores from 0 to 1 as bars, one a row: name, bar, a tick where another score stands, the number and the
 * change in words. Up, Down, Home and End move through the rows, Enter activates one. Main thread. */
#pragma once

#include <gtk/gtk.h>

#define TM_TYPE_SCORE_BARS (tm_score_bars_get_type())
G_DECLARE_FINAL_TYPE(TmScoreBars, tm_score_bars, TM, SCORE_BARS, GtkWidget)

typedef struct {
  const char *name;
  guint32 rgb;   /* of swatch and bar; G_MAXUINT32: the interface's own, without a swatch */
  double value;  /* NAN: there is none */
  double other;  /* compared with; NAN: none */
  const char *absent; /* translated: what to say where there is no value */
} TmScoreRow;

/* Signal "activated" (uint row): Enter or a click. */
/** @label: the accessible name, translated. */
GtkWidget *tm_score_bars_new(const char *label);
/** Copies @rows. */
void tm_score_bars_set(TmScoreBars *b, const TmScoreRow *rows, guint n);
/** "Sky 0.950, up 0.010; Road 0.939, …" Free it. */
char *tm_score_bars_describe(TmScoreBars *b);
