/* sheet.h: a picture of what a net can do: some pictures, each beside its prediction and its truth. */
#pragma once

#include "engine/predict/predictor.h"

/** Predicts up to @rows pictures of @split, spread evenly over it, and writes them to @path as a PNG of three
 * columns: picture, prediction, truth. FALSE without an error when the split has no picture with a mask. */
gboolean tm_sheet_write(TmPredictor *p, const TmDataset *d, TmSplit split, guint rows, const char *path,
                        GError **error);
