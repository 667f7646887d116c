/* estimate.h: what a run will take, told before it begins: memory at its peak, time a step and an epoch,
 * layer by layer. The programs are only planned; the machine's rates are measured once and kept (rates.h).
 *
 * Time is the network's: batches are decoded beside it, and hold it back only where loader threads are
 * scarce. */
#pragma once

#include "engine/data/dataset.h"
#include "engine/data/scan.h"
#include "engine/program/program.h"
#include "engine/train/settings.h"

typedef struct {
  const char *name;             /* "enc.0.0": a convolution with what follows it */
  TmShape shape;                /* of what it gives */
  gsize parameters;             /* trained elements */
  double flops;                 /* forward and backward; a multiply-add counts two */
  gsize stored;                 /* bytes that stay from its way forward to its way back */
  double forward_s, backward_s; /* seconds a step */
} TmEstimateLayer;

typedef struct {
  TmEstimateLayer *layers;
  guint n_layers;
  /* bytes */
  gsize process;     /* resident before the run begins, and what libraries grow by in it */
  gsize activations; /* of a training step */
  gsize weights;     /* weights, gradients, moments, averages */
  gsize engine;      /* packed weights and work space */
  gsize validation;  /* the programs that judge and draw: of the above what does not lie in the step's */
  gsize pictures;    /* decoded ones, batches on their way */
  gsize checkpoint;  /* while one is written */
  gsize resume;      /* more than the three above, when a run is gone on with: its checkpoint, read before them */
  gsize memory;      /* the peak: all of these */
  /* seconds */
  double update_s; /* of a step: the optimizer */
  double step_s, validation_s, epoch_s;
  guint steps; /* an epoch */
  gboolean rough; /* the seconds are a usual processor's: other programs kept this one too busy to be measured */
  TmDType precision;
  char *device;   /* "cpu: AMD EPYC, 2 threads, AVX512-BF16" */
  TmGraph *graph; /* the names' owner */
} TmEstimate;

/** For a run of @s on @d, scanned. Opens the device on this thread for the moment. May take a second the
 * first time on a machine. TM_ERROR_SETTING and others as the run itself would end with. */
TmEstimate *tm_estimate_new(TmDataset *d, const TmScan *scan, const TmSettings *s, GError **error);
void tm_estimate_free(TmEstimate *e);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmEstimate, tm_estimate_free)
