/* session.h: all a run holds on the trainer's thread: backend, programs, weights, optimizer state, loader,
 * files. trainer.c steers it and tells the world; here is the work. Private to engine/train and its tests.
 * Thread: the one that opened it.
 *
 * Invariants:
 *  1. A step whose loss or gradient is not finite changes neither weights nor optimizer nor running
 * statistics.
 *  2. What the next step does follows from (settings, dataset, what a checkpoint holds): a resumed run is the
 * unbroken one, bit for bit.
 *  3. Between calls params->value holds the trained weights, never the averaged ones.
 *  4. The best checkpoint is only replaced after a validation whose score and loss are finite, and better. */
#pragma once

#include "engine/data/loader.h"
#include "engine/data/sample_cache.h"
#include "engine/run/change.h"
#include "engine/run/run_dir.h"
#include "engine/train/train_graph.h"
#include "engine/train/trainer.h"

enum {
  TM_EVAL_PIXELS = 320 * 480,   /* of a validation batch, about */
  TM_EVAL_MOST = 16,            /* pictures in it */
  TM_TILE_PIXELS = 1280 * 1024, /* larger pictures are judged in tiles */
  TM_JUDGED_BYTES = 256 << 20,  /* of val pictures kept decoded */
  TM_FIRST_LOSS_SCALE = 65536,  /* as torch.amp's GradScaler: halved when the gradient overflows, */
  TM_LOSS_SCALE_STEPS = 2000,   /* doubled after so many steps without */
};

/* Where the run stands: with the arrays, all that a checkpoint holds. */
typedef struct {
  guint epoch, step; /* the next step; step == steps an epoch: the epoch's end is still to be done */
  gint64 ahead;      /* steps made beyond epoch * steps + step: the batch was changed on the way */
  guint64 updates;   /* optimizer updates made: bias correction */
  guint skipped;     /* steps left out */
  guint replaced;    /* pictures that could not be read */
  guint bad_row;     /* steps in a row without a finite gradient, up to now */
  double loss_sum;   /* of the finite steps of this epoch */
  guint loss_n;
  double smooth, smooth_weight; /* smoothed loss before debiasing */
  double seconds;               /* of training */
  double best_miou;             /* NAN: none yet */
  guint best_epoch, since_best;
  double lr_factor;
  double loss_scale;  /* f16: what the loss is multiplied with before the way back */
  guint good_steps;   /* f16: since that last changed */
  guint probe_entry; /* in the dataset given to the trainer */
} TmPosition;

typedef struct {
  TmStepTimes times; /* draw and step are the caller's */
  double loss, grad_norm, lr;
  double loss_scale; /* f16: of this step; else 0 */
  gboolean skipped; /* a number was not finite */
  gboolean overflow; /* only because the loss was scaled too much: halved for the next step */
  guint replaced;   /* pictures that could not be read */
  TmChange *made;    /* the batch was split, because memory ran out; NULL: it was not. Free it */
  char *why;        /* a sentence, when one of these; free it */
} TmStepResult;

typedef struct {
  double loss, miou, accuracy; /* NAN: cannot be told */
  TmConfusion *confusion;      /* NULL when there is no validation */
  guint unreadable;            /* pictures left out */
  char *remark;                /* a class never predicted, and such; a sentence or NULL */
} TmScore;

void tm_score_clear(TmScore *s);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TmScore, tm_score_clear)

/* A net in inference at one picture size: validation and probe. */
typedef struct {
  int n, w, h;
  TmGraph *graph;
  TmProgram *program;
  TmNode *picture, *truth, *labels, *confusion;
  TmLoss loss;
  TmNode *outputs[4];
  guint n_outputs;
  guint64 used; /* for dropping the one unused longest */
} TmEval;

typedef struct _TmSession {
  TmDataset *all;  /* as given: probes */
  TmDataset *data; /* without what the scan left out */
  const TmScan *scan;
  TmScan *own_scan;
  TmSettings now; /* as begun or resumed, and as steered since (steer.c) */
  const TmSettings *settings; /* &now */
  JsonNode *begun;            /* the settings the run began with */
  const gint *cancel; /* atomic: not 0 ends long work early with TM_ERROR_CANCELLED */
  double mean[3], std[3];
  guint classes;
  float *class_weights; /* host copy, one a class */

  TmBackend *backend; /* NULL while parked, as all that is on it */
  TmBackendInfo info;
  const char *backend_name; /* static */
  gsize parameters;         /* trained elements */
  TmDType precision;
  TmTrainGraph train;
  TmParams *params;
  TmProgram *program;
  double device_scale; /* what "loss.scale" holds on the device; 0: not written yet */
  float *m, *v;      /* optimizer; v NULL for SGD */
  float *sum;        /* of the parts' gradients; NULL when a batch is one part */
  float *ema;        /* NULL when off */
  float *held;       /* the weights while the average stands in for them */
  float *kept_state; /* params->state from before the step */
  gboolean state_kept; /* it holds that of the step under way */
  gboolean committed;  /* the step under way has been given to the device with its update: it cannot be done again */
  GPtrArray *evals;  /* TmEval */
  guint64 eval_clock;
  int eval_pixels; /* of a validation batch, about */
  int tile_pixels; /* larger pictures are judged in tiles */

  int crop_w, crop_h;
  TmPictureStore *store; /* decoded pictures on disk; NULL: none */
  TmSampleCache *judged; /* the val pictures: decoded once when they fit */
  TmSample probed;       /* the probe's picture, once read */
  TmVisible *visible;    /* the probe's pictures on the device; NULL: not kept there */
  int visible_w, visible_h;
  guint probed_entry;
  guint kept[TM_MAX_PROBES], n_kept; /* pictures whose masks are kept at every epoch */
  TmLoader *loader;
  const TmBatch *coming; /* the next step's, taken from the loader already; or NULL */
  GError *coming_error;  /* why that failed */
  gboolean staged;       /* it is on its way to the device */
  double last_waited, last_decode, last_augment;
  guint steps; /* an epoch */
  TmRunDir *run;
  TmPosition at;
  int next_batch; /* asked for; from the next epoch on. 0: none */
  TmCheckpoint *parked; /* all of the device's arrays, while it is given back; else NULL */
  char *note; /* what opening noticed; a sentence or NULL */
} TmSession;

/* What tm_session_open() is given. */
typedef struct {
  TmDataset *data;
  const TmScan *scan;         /* or NULL */
  const TmSettings *settings;
  const char *run_dir;        /* NULL: nothing is kept, and nothing may be saved */
  gboolean resume;
  const gint *cancel;
  void (*activity)(const char *sentence, gpointer user); /* what is being done now; may be NULL */
  gpointer user;
  GArray *step_rows, *epoch_rows; /* filled with what a resumed run has behind it; may be NULL */
} TmSessionPlan;

TmSession *tm_session_open(const TmSessionPlan *plan, GError **error);
void tm_session_close(TmSession *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmSession, tm_session_close)

static inline gboolean tm_session_cancelled(const TmSession *s) {
  return s->cancel && g_atomic_int_get(s->cancel) != 0;
}
/** Steps made, skipped ones too: the number of the next. */
static inline guint64 tm_session_total(const TmSession *s) {
  return (guint64)((gint64)s->at.epoch * s->steps + s->at.step + s->at.ahead);
}
/** How far the schedule has come, of tm_session_places(): the same share of the run whatever the batch was. */
static inline guint64 tm_session_place(const TmSession *s) { return (guint64)s->at.epoch * s->steps + s->at.step; }
static inline guint64 tm_session_places(const TmSession *s) {
  return (guint64)s->settings->epochs * s->steps;
}
/** Bytes the run holds on the device. */
gsize tm_session_memory(const TmSession *s);

/** The size of the pictures a step sees: the crop, or the pictures' most common size. @note (may be set) says
 * when pictures of several sizes are brought to one. Decodes up to 64 pictures when sizes differ. */
gboolean tm_session_crop(const TmDataset *d, const TmScan *scan, const TmSettings *s, int *w, int *h,
                         char **note, GError **error);

/** Opens the device that @s names, and tells what it computes in. */
TmBackend *tm_session_device(const TmSettings *s, TmBackendInfo *info, TmDType *precision, GError **error);
/** Pictures the program sees at once: a batch's part. TM_ERROR_SETTING when the batch has no such parts. */
gboolean tm_session_part(const TmSettings *s, int *pictures, GError **error);
/** The graph of a step of @s, made to fit its memory limit (estimate.c): as tm_train_graph_build() without one. @data
 * without what the scan left out. */
gboolean tm_estimate_fit(TmTrainGraph *t, TmBackend *backend, TmDType precision, TmDataset *data, const TmScan *scan,
                         const TmSettings *s, int crop_w, int crop_h, GError **error);
/** What the loader of the train split is made with. */
/** Bytes of val pictures kept decoded. */
gsize tm_session_judged(const TmSettings *s);
TmLoaderOptions tm_session_loading(const TmSettings *s, int crop_w, int crop_h);

/** Builds the program of a step of the present settings on the open device. */
gboolean tm_session_build(TmSession *s, GError **error);
/** Starts the loader anew at s->at, with the present settings. */
gboolean tm_session_open_loader(TmSession *s, GError **error);
/** Writes s->class_weights to the device. */
gboolean tm_session_write_weights(TmSession *s, GError **error);
/** Gives back all the session holds on the device, and the device: its arrays wait in host memory, bit for bit. */
gboolean tm_session_park(TmSession *s, GError **error);
/** Takes the device again; no-op when it was not given back. */
gboolean tm_session_unpark(TmSession *s, GError **error);

/* steer.c */
/** Sets @key to @to from the next step on (the batch: from the next epoch on) and records it in the run's steering.jsonl.
 * @made (may be set) says what; it stays NULL for what waits, or changes nothing. On failure all is as before. */
gboolean tm_session_change(TmSession *s, const char *key, const char *to, gboolean undo, TmChange **made, GError **error);
/** Does what waits for an epoch's beginning, if this is one. */
gboolean tm_session_change_waiting(TmSession *s, TmChange **made, GError **error);
/** Of a resumed run: where what holds now is not what the run began with and its changes make of it, that becomes a change at this
 * step: the user gave another setting, or a change was made after the checkpoint at its very step. */
gboolean tm_session_record_differences(TmSession *s, GError **error);

/** Writes such a change into the run's steering.jsonl, where there is a run. @made (may be set) says it again. */
gboolean tm_session_record(TmSession *s, const char *key, const char *from, const char *to, gboolean undo, TmChange **made,
                           GError **error);

/* split.c */
/** After TM_ERROR_NO_MEMORY in @error: builds the program of a step anew for a smaller part of the batch, which stays the batch it was. FALSE when
 * that fails too, or @error was another, or the batch cannot be cut finer; then there may be no program any more. Records nothing. */
gboolean tm_session_split(TmSession *s, GError **error);
/** What happened, for a person; @begun: in the midst of training. Free it. */
char *tm_session_split_sentence(const TmSession *s, gboolean begun);

/** One step at s->at, which moves on. TRUE with r->skipped when it was left out; FALSE: the run cannot go on. Where memory
 * runs out the step is rolled back, the batch split, and the step done again. */
gboolean tm_session_step(TmSession *s, TmStepResult *r, GError **error);

/** The weights' average takes the weights' place (no-op without one) until tm_session_judged_end(). */
gboolean tm_session_judged_begin(TmSession *s, GError **error);
gboolean tm_session_judged_end(TmSession *s, GError **error);
/** What @n labels weigh together: the sum of their classes' weights, by which pixelwise losses are means. */
double tm_session_weight(const TmSession *s, const guint8 *truth, gsize n);
/** Scores the val split, with the average when there is one. One confusion matrix over all pictures. */
gboolean tm_session_validate(TmSession *s, TmScore *out, GError **error);
/** Predicts @sample into @labels (h*w). */
gboolean tm_session_predict(TmSession *s, const TmSample *sample, guint8 *labels, GError **error);
TmProbe *tm_session_probe(TmSession *s, guint entry, GError **error);
/** Keeps a mask in the run folder of each of s->kept, as the net sees them now. One that cannot be read is kept no longer, and @note (may be
 * set) says so. FALSE when the device or the disk fails. */
gboolean tm_session_keep_probes(TmSession *s, char **note, GError **error);

/* eval.c */
/** Its graph for e->n pictures of e->w x e->h, and what it is to be compiled with; borrows from @e. */
gboolean tm_eval_graph(TmEval *e, const TmSettings *s, guint classes, TmDType precision, TmProgramOptions *options,
                       GError **error);
void tm_eval_free(TmEval *e);
/** The program for batches of @n pictures of w x h: made, or kept from before. Borrowed until the next call.
 */
TmEval *tm_session_eval(TmSession *s, int n, int w, int h, GError **error);
/** Forgets all of them: before memory is asked for again. */
void tm_session_drop_evals(TmSession *s);
/** The side of a square tile of at most @pixels. */
int tm_eval_tile(int pixels);
/** Is a picture of this size predicted in tiles? */
gboolean tm_session_tiled(const TmSession *s, int w, int h);
/* What each tile of a large picture is given to, in a fixed order: x, y, the tile's corner in the picture;
 * the tile judges [x0,x1) x [y0,y1) of the picture. FALSE from @each ends it. */
typedef struct {
  int x, y, x0, y0, x1, y1;
} TmTile;
typedef gboolean (*TmTileFunc)(TmSession *s, TmEval *e, const TmTile *tile, const guint8 *rgb, gpointer user,
                               GError **error);
/** After TM_ERROR_NO_MEMORY in @error: gives back the programs, cuts smaller tiles from now on, clears the
 * error. FALSE when there is nothing left to give. */
gboolean tm_session_less_memory(TmSession *s, GError **error);
gboolean tm_session_tiles(TmSession *s, const TmSample *sample, TmTileFunc each, gpointer user,
                          GError **error);

/* save.c */
/** All that a run needs to go on, read from the device. */
TmCheckpoint *tm_session_checkpoint(TmSession *s, GError **error);
gboolean tm_session_save_last(TmSession *s, GError **error);
gboolean tm_session_save_best(TmSession *s, GError **error);
/** Puts a checkpoint's arrays and position into @s. */
gboolean tm_session_load(TmSession *s, TmCheckpoint *c, GError **error);
/** The arrays alone. */
gboolean tm_session_load_arrays(TmSession *s, const TmCheckpoint *c, GError **error);
/** The settings that the run at @run_dir began with; NULL when its run.json does not tell. */
JsonNode *tm_session_begun(const char *run_dir);
/** Settings, data, machine; @result: state's name and the best so far, when the run has ended, or NULL. */
gboolean tm_session_write_info(TmSession *s, const char *result, GError **error);
/** Does the checkpoint's net fit @settings? TM_ERROR_SETTING names the first that differs. Fills mean and
 * std. */
gboolean tm_session_check(TmCheckpoint *c, const TmSettings *settings, double mean[3], double std[3],
                          GError **error);
