/* lr_range.h: the learning-rate range test (Smith 2015, "Cyclical learning rates for training neural
 * networks"): a net of its own is trained while the rate grows from step to step, and the curve of the loss
 * over the rate says which rates are worth trying. Nothing is written; a run of the user is not touched. */
#pragma once

#include "engine/data/scan.h"
#include "engine/train/settings.h"

/* The rates tried: @low, then each the same factor above the one before, up to @high. */
typedef struct {
  double low, high; /* 0 < low < high; 0 and 0: 1e-6 and 1 */
  guint steps;      /* 10 to 10000; 0: 100 */
} TmLrSweep;

/* A curve over log(rate), and what follows from it. */
typedef struct {
  guint n;
  double *rate, *loss; /* of each step that was sound */
  double *smooth;      /* the loss, averaged over the steps on both sides; by tm_lr_range_judge() */
  double diverged;     /* the rate at which the loss was gone; NAN: it held up to the last */
  double suggested;    /* NAN: none, and @reason says why */
  char *reason;        /* a sentence, or NULL */
  double running, running_weight,
      lowest; /* average of the steps so far, before debiasing; the lowest it was */
} TmLrRange;

/** Called after each step. Return nothing: @cancel ends the test. @smooth: the loss averaged over the steps
 * so far. */
typedef void (*TmLrProgress)(guint done, guint total, double rate, double loss, double smooth, gpointer user);

/** Blocks for up to @sweep->steps steps. The net is fresh, with @s's seed; schedule, warm-up and weight
 * average of @s play no part, all else is as in a run. @sweep and @scan may be NULL. @cancel (may be NULL) is
 * atomic: not 0 ends it with TM_ERROR_CANCELLED. @progress may be NULL; it is called on the caller's thread.
 */
TmLrRange *tm_lr_range(TmDataset *d, const TmScan *scan, const TmSettings *s, const TmLrSweep *sweep,
                       const gint *cancel, TmLrProgress progress, gpointer user, GError **error);

TmLrRange *tm_lr_range_new(void);
void tm_lr_range_free(TmLrRange *r);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmLrRange, tm_lr_range_free)

/** The @i-th of the rates. */
double tm_lr_sweep_rate(const TmLrSweep *sweep, guint i);
/** Adds a step. FALSE: the loss is gone, that is not finite, or its running average over four times the
 * lowest it was; @rate is noted as the one that diverged and no step may follow. */
gboolean tm_lr_range_add(TmLrRange *r, double rate, double loss);
/** Smooths the curve and suggests a rate: where the smoothed loss falls most steeply over log(rate), at most
 * a tenth of the rate that diverged. */
void tm_lr_range_judge(TmLrRange *r);
