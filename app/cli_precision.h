/* cli_precision.h: the option --precision of the commands that predict. */
#pragma once

#include "engine/predict/predictor.h"

/** Sets what @p computes in: NULL is "auto". For int8 the ranges that are missing are measured on @d or,
 * NULL, on the pictures of the run at @run, with a line of progress. */
gboolean tm_cli_set_precision(TmPredictor *p, const char *precision, const char *run, const TmDataset *d,
                              GError **error);
