/* recompute.h: which values a training step drops after its way forward and makes again on its way back, so
 * that a run fits a limit (Chen et al. 2016, with the layers chosen by what they cost and save on this
 * machine). Gradients stay the same to the bit. Thread: the backend's. */
#pragma once

#include "engine/train/rates.h"
#include "engine/train/train_graph.h"

/** What a process that has not trained yet will have grown by, besides what is planned: libraries' code as it is
 * first used, the heap's gaps, threads' stacks. Measured: 20 MB for a step, 50 for a whole run, whatever the net. */
enum { TM_PROCESS_GROWS = 48 << 20 };

enum { TM_GUESTS = 2 };

/* How a training graph is built, but for what is recomputed. */
typedef struct {
  const TmSettings *settings;
  guint classes;
  int batch, w, h;
  TmDType precision;
  gsize guests[TM_GUESTS]; /* arenas of programs that lie in the step's where it is large enough; 0: none */
} TmTrainShape;

/** Bytes of those that need an arena of their own beside one of @arena bytes. */
gsize tm_guests_beside(const gsize guests[TM_GUESTS], gsize arena);

/** Builds @t (zeroed before) so that its arena, what `prepare` takes, and the @beside bytes that the run needs
 * otherwise stay within @limit bytes: without recomputing when that fits, else with the cheapest set found.
 * TM_ERROR_NO_MEMORY names the smallest limit that would do. */
gboolean tm_recompute_fit(TmTrainGraph *t, const TmTrainShape *shape, TmBackend *backend, TmRates *rates,
                          gsize limit, gsize beside, GError **error);
