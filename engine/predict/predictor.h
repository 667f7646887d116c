/* predictor.h: a trained net and what it needs to turn a picture of any size into a mask of the same size. */
#pragma once

#include "engine/backend/backend.h"
#include "engine/data/dataset.h"
#include "engine/train/metrics.h"
#include "engine/train/settings.h"

typedef struct _TmPredictor TmPredictor;

/** Opens a run's folder (its best checkpoint, else its last) or a checkpoint file. Network, class table and normalisation come from the checkpoint.
 * The calling thread owns it. TM_ERROR_FILE or TM_ERROR_CORRUPT names the file. */
TmPredictor *tm_predictor_open(const char *path, const char *backend, const TmBackendOptions *options, GError **error);
void tm_predictor_free(TmPredictor *p);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmPredictor, tm_predictor_free)

const TmClassTable *tm_predictor_classes(const TmPredictor *p);
const TmSettings *tm_predictor_settings(const TmPredictor *p);
const char *tm_predictor_checkpoint(const TmPredictor *p); /* path of the file in use */
guint tm_predictor_epoch(const TmPredictor *p);

/** Computes in "f32", "bf16" or "int8" from now on, or in what the engine and the checkpoint's settings suggest, "auto", as
 * after opening. int8 needs the ranges of the network's numbers: see below. TM_ERROR_SETTING names another word,
 * TM_ERROR_DATA says that the ranges are missing, TM_ERROR_UNSUPPORTED what int8 cannot do. */
gboolean tm_predictor_set_precision(TmPredictor *p, const char *precision, GError **error);
/** "f32", "bf16" or "int8". */
const char *tm_predictor_precision(const TmPredictor *p);
/** Are the ranges of this checkpoint known, from the file beside it or from calibrating? */
gboolean tm_predictor_is_calibrated(TmPredictor *p);
/** Measures them on pictures of @d, TM_CALIBRATE_PICTURES at most, and remembers them beside the checkpoint, where that can be
 * written; progress as in the scan (NULL allowed). */
gboolean tm_predictor_calibrate(TmPredictor *p, const TmDataset *d, gboolean (*progress)(guint done, guint total, gpointer user),
                                gpointer user, GError **error);

/** Predicts @rgb (h*w*3) into @labels (h*w class indices). Programs for the last few sizes are kept. */
gboolean tm_predictor_run(TmPredictor *p, const guint8 *rgb, int w, int h, guint8 *labels, GError **error);
/** The same, and into @sure (h*w) how sure the net is of each: see sureness.h. TM_ERROR_UNSUPPORTED where tm_predictor_tells_sureness() is FALSE. */
gboolean tm_predictor_run_sure(TmPredictor *p, const guint8 *rgb, int w, int h, guint8 *labels, float *sure, GError **error);
/** FALSE for a net of bytes, which names classes without saying how sure it is. */
gboolean tm_predictor_tells_sureness(const TmPredictor *p);
/** FALSE with TM_ERROR_DATA and the first difference when a mask of one table means something else in the other. */
gboolean tm_predictor_same_classes(const TmClassTable *net, const TmClassTable *data, GError **error);

typedef struct {
  guint done, failed;
  double seconds;
  GPtrArray *errors; /* sentences, one a failed file */
} TmFolderResult;

/** Predicts every picture of @folder (not its subfolders) into @out_dir: NAME.png index masks in the original label values (palette PNG),
 * NAME_overlay.png, and classes.csv with class shares. @out_dir must not be @folder or lie in a dataset; existing files are replaced only if @replace. */
gboolean tm_predictor_folder(TmPredictor *p, const char *folder, const char *out_dir, gboolean replace, TmFolderResult *out,
                             gboolean (*progress)(guint done, guint total, gpointer user), gpointer user, GError **error);
void tm_folder_result_clear(TmFolderResult *r);
