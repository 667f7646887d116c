/* predictor-private.h: the predictor's parts, for its files and tests. */
#pragma once

#include "engine/nets/unet.h"
#include "engine/predict/predictor.h"
#include "engine/program/program.h"
#include "engine/run/net_meta.h"

enum {
  TM_PREDICT_PROGRAMS = 3,
  TM_PREDICT_TILE = 1024,
  TM_PREDICT_OVERLAP = 64,
  TM_PREDICT_WHOLE_PIXELS = 16 << 20,
  TM_PREDICT_SURE_PIXELS = 2 << 20 /* where the scores of all classes are read back, too */
};

/* The net compiled for one picture size. */
typedef struct {
  int w, h; /* 0: free */
  guint64 used;
  TmGraph *graph;
  TmProgram *program;
  TmNode *picture, *labels;
  TmNode *logits; /* NULL: only labels can be read */
} TmPredictProgram;

struct _TmPredictor {
  char *path; /* of the checkpoint */
  TmBackend *backend;
  TmSettings settings;
  TmNetMeta meta; /* classes, mean, std, epoch */
  TmUNet net;
  TmDType precision; /* of the trained net's activations */
  TmParams *params;
  GHashTable *limits; /* of its layers' numbers, see calibrate.h; NULL: not known yet */
  TmParams *bytes;    /* of the net of bytes; NULL: not int8 */
  TmPredictProgram programs[TM_PREDICT_PROGRAMS];
  guint64 clock;
};

/** What the backend and the checkpoint's settings suggest. */
TmDType tm_predictor_choose_precision(const TmPredictor *p);
/** Forgets the programs made so far. */
void tm_predictor_forget_programs(TmPredictor *p);

/** The picture in one piece. @sure may be NULL. */
gboolean tm_predictor_run_whole(TmPredictor *p, const guint8 *rgb, int w, int h, guint8 *labels, float *sure,
                                GError **error);
/** In tiles of @tile with @overlap. */
gboolean tm_predictor_run_tiled(TmPredictor *p, const guint8 *rgb, int w, int h, int tile, int overlap,
                                guint8 *labels, float *sure, GError **error);
