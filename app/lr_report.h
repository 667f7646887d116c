/* lr_report.h: tarmac train --lr-test: runs the learning-rate range test and shows its curve. */
#pragma once

#include "engine/data/scan.h"
#include "engine/train/settings.h"

/** Tests on @d and prints: a small plot and the suggestion, or with @json one line. Ctrl+C ends it. Returns
 * the exit code. Main thread. */
int tm_lr_report(TmDataset *d, const TmScan *scan, const TmSettings *s, gboolean json);
