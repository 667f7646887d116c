/* calibrate.h: what a trained net's layers make of some pictures, from which the ranges of its bytes follow;
 * and the file beside the checkpoint that remembers them. */
#pragma once

#include "engine/predict/predictor.h"
#include "engine/predict/quantise.h"

enum { TM_CALIBRATE_PICTURES = 32 };

/** Runs up to TM_CALIBRATE_PICTURES pictures of @d, of the training split where it has one, spread evenly
 * over it, and returns the limit of each layer's numbers: names to double*. Progress as in evaluate. */
GHashTable *tm_calibrate(TmPredictor *p, const TmDataset *d,
                         gboolean (*progress)(guint done, guint total, gpointer user), gpointer user,
                         GError **error);

/** Writes the limits of @weights_sum's weights. */
gboolean tm_calibration_write(const char *path, GHashTable *limits, guint32 weights_sum, GError **error);
/** The limits in @path, or NULL when they are not there, are of other weights, or the file was changed. */
GHashTable *tm_calibration_read(const char *path, guint32 weights_sum);
/** The file that belongs to checkpoint @path: "best.int8.json" beside "best.safetensors". Free it. */
char *tm_calibration_path(const char *path);
