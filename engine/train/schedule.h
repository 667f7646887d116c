/* schedule.h: the learning rate at each step. Pure functions of (settings, step, total): a resumed run has
 * the rate an unbroken one would have, whatever happened before. Any thread.
 *
 * One-cycle: Smith and Topin 2018 in PyTorch's form (cosine, from lr/25 up to lr, down to lr/25/1e4). The
 * others rise linearly over the warm-up share, then: constant; step: times step_factor every step_epochs;
 * poly: (1 - p)^poly_power; cosine: (1 + cos(pi p)) / 2, p from 0 to 1 over what follows the warm-up. */
#pragma once

#include "engine/train/settings.h"

/** The rate of step @step of @total (all epochs), from 0. Steps past the end have the last one's. */
double tm_schedule_lr(const TmSettings *s, guint64 step, guint64 total);

/** Adam's beta1 at the step: 0.9, but under one-cycle from 0.95 down to 0.85 at the highest rate and back, as
 * PyTorch's does. */
double tm_schedule_beta1(const TmSettings *s, guint64 step, guint64 total);

/** The weight average's decay after @updates updates: min(decay, (1 + n) / (10 + n)), so that a young average
 * is not all initial weights. */
double tm_schedule_ema(double decay, guint64 updates);
