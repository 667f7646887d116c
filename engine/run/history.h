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
} TmStepRow;

typedef struct {
  guint epoch;  /* from 0 */
  guint64 step; /* its last one: one less than the step a run would go on with after it */
  float seconds;
  float train_loss, val_loss, miou, accuracy; /* NAN when there is no validation */
  gboolean best;
} TmEpochRow;
