/* evaluation.h: how a net scored on a split: one confusion matrix over all pixels, what each picture holds of it,
 * outlines, regions and reliability. Made by tm_evaluate(), kept in a run's folder, read again to compare. Plain
 * data; any thread once made. */
#pragma once

#include "engine/data/dataset.h"
#include "engine/predict/regions.h"
#include "engine/predict/reliability.h"
#include "engine/train/metrics.h"

enum {
  TM_BOUNDARY_BAND = 3, /* pixels */
  TM_BOOTSTRAP_DRAWS = 1000,
  TM_BOOTSTRAP_SEED = 1,
};

/* Pixels of one kind in one picture. */
typedef struct {
  guint8 truth, call;
  guint64 pixels;
} TmCell;

typedef struct {
  char *name;
  guint entry;   /* in the dataset */
  GArray *cells; /* TmCell, none of them 0, by truth, then by call */
  double boundary_f1; /* mean over the classes with a boundary here; NAN: none */
} TmPictureScore;

typedef struct {
  char *checkpoint, *precision; /* path; "bf16" */
  guint epoch;
  char *dataset, *dataset_hash; /* path; tm_dataset_hash() */
  TmSplit split;
  TmClassTable *classes; /* of the truth */
  TmConfusion *confusion;
  GPtrArray *pictures;     /* TmPictureScore */
  GPtrArray *unreadable;   /* char*: a sentence for each picture that was left out */
  double *boundary_sum;    /* of the pictures' F1, by class */
  guint *boundary_n;       /* pictures with a boundary of the class */
  TmRegionScore *regions;  /* classes * TM_REGION_SIZES */
  gboolean tells_sureness; /* FALSE: @bins are empty */
  TmReliabilityBin bins[TM_RELIABILITY_BINS];
  double seconds;    /* that the net took for all pictures, without reading them and without counting */
  char *left_out;    /* names of the classes of the data that the net does not know, or NULL */
} TmEvaluation;

TmEvaluation *tm_evaluation_new(const TmClassTable *classes);
void tm_evaluation_free(TmEvaluation *e);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmEvaluation, tm_evaluation_free)

/** Mean over the pictures of each picture's mean over its classes, as Csurka et al. (2013); NAN: none. */
double tm_evaluation_boundary_f1(const TmEvaluation *e);
/** Of one class: the mean over the pictures that have a boundary of it. */
double tm_evaluation_class_boundary_f1(const TmEvaluation *e, guint c);
/** Regions of a size, of class @c or, TM_MAX_CLASSES, of all. */
TmRegionScore tm_evaluation_regions(const TmEvaluation *e, guint c, guint size);

/** Scores of one picture alone; NAN where there is nothing to say. */
double tm_picture_miou(const TmPictureScore *p, guint classes);
double tm_picture_accuracy(const TmPictureScore *p);
double tm_picture_class_iou(const TmPictureScore *p, guint c);
/** Pixels of class @truth called @call in it. */
guint64 tm_picture_pixels(const TmPictureScore *p, guint truth, guint call);
/** The most frequent mistake of the picture; FALSE: it has none. */
gboolean tm_picture_mistake(const TmPictureScore *p, TmCell *out);

/** The confusion matrix without the pictures whose place in e->pictures is set in @leave_out. */
TmConfusion *tm_evaluation_without(const TmEvaluation *e, const gboolean *leave_out);

/** The interval that holds the mean IoU in 95 of 100 draws of as many pictures, with replacement, from these
 * (percentile bootstrap, Efron and Tibshirani 1993). Draw d takes pictures tm_random_int() of a generator seeded by
 * @seed, one draw after the other. FALSE with NANs for fewer than 2 pictures or without memory. */
gboolean tm_evaluation_interval(const TmEvaluation *e, guint draws, guint64 seed, double *low, double *high);

/** Writes evaluation-SPLIT.json, evaluation-SPLIT.csv (classes) and evaluation-SPLIT-pictures.csv into @folder. */
gboolean tm_evaluation_write(const TmEvaluation *e, const char *folder, GError **error);
/** @folder/evaluation-SPLIT.json. Free it. */
char *tm_evaluation_path(const char *folder, TmSplit split);
/** Reads what was written; everything in it is checked. TM_ERROR_FILE when there is none, TM_ERROR_CORRUPT names the
 * file and what is wrong. */
TmEvaluation *tm_evaluation_read(const char *path, GError **error);
/** The tables alone, with their header lines; numbers without a value are empty. Free them. */
char *tm_evaluation_class_csv(const TmEvaluation *e);
char *tm_evaluation_picture_csv(const TmEvaluation *e);
char *tm_evaluation_confusion_csv(const TmEvaluation *e);
