/* history.h: what a run recorded: a row per step and a row per epoch, in history.csv, steps.csv and a
 * TensorBoard event file. */
#pragma once

#include <glib.h>

#include "engine/core/error.h"

typedef struct {
  guint64 step;  /* optimizer step, from 0 */
  float epoch;   /* 3.25: a quarter into the fourth */
  float seconds; /* of training so far */
  float loss;    /* NAN or infinite when the step was skipped */
  float lr, grad_norm;
  float loss_scale; /* f16: what the loss was multiplied with; 0: nothing */
} TmStepRow;

/* Where a step's time goes: seconds a step, a mean. NAN: not measured. step = wait + upload + network + update + draw + what is done
 * besides; decode and augment are the loader's workers', beside it. */
typedef struct {
  double step;            /* wall time of it all */
  double wait;            /* for the loader's batch */
  double decode, augment; /* summed over the workers */
  double upload;          /* the batch into the device's memory */
  double network;         /* forward and backward */
  double forward;         /* of network; NAN where the device does not tell it apart */
  double update, draw;    /* optimizer; the probe */
} TmStepTimes;

typedef struct {
  guint epoch;  /* from 0 */
  guint64 step; /* its last one: one less than the step a run would go on with after it */
  float seconds;
  float train_loss, val_loss, miou, accuracy; /* NAN when there is no validation */
  gboolean best;
  TmStepTimes times; /* of the epoch's steps; NAN in rows that were read back */
} TmEpochRow;
