/* rates.h: how fast this machine runs the steps of a program: rates measured in a moment, once per machine,
 * and kept under the XDG cache by device, threads, way of convolution and version. Thread: the backend's. */
#pragma once

#include "engine/program/program.h"

typedef struct _TmRates TmRates;

/** @backend outlives it; @convolutions as the backend was told ("auto" or NULL: its choice). */
TmRates *tm_rates_new(TmBackend *backend, const char *convolutions);
/** Keeps what was measured meanwhile. */
void tm_rates_free(TmRates *r);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmRates, tm_rates_free)

/** Were rates asked for that are not known, while other programs used the processor, so that they could not be measured? A usual
 * processor's stood in for them. */
gboolean tm_rates_rough(const TmRates *r);

/** Seconds that step @i of @plan should take: the longer of its arithmetic, at the rate of convolutions of
 * its kind, and of its memory traffic. Rates not known yet are measured. FALSE when that fails. */
gboolean tm_rates_step(TmRates *r, const TmProgram *plan, guint i, double *seconds, GError **error);
/** Seconds for passing over @bytes of memory; likewise. */
gboolean tm_rates_pass(TmRates *r, double bytes, TmDType precision, double *seconds, GError **error);
