/* page_evaluate_private.h: what the files of the Evaluate page share. */
#pragma once

#include "app/evaluator.h"
#include "app/page_evaluate.h"
#include "engine/run/run_list.h"
#include "ui/confusion_map.h"
#include "ui/confusion_table.h"
#include "ui/notice.h"
#include "ui/reliability_plot.h"
#include "ui/score_bars.h"

typedef enum {
  TM_EVALUATE_SCORES,
  TM_EVALUATE_CLASSES,
  TM_EVALUATE_CONFUSION,
  TM_EVALUATE_WORST,
  TM_EVALUATE_N_VIEWS
} TmEvaluateView;

enum { TM_EVALUATE_TILES = 5, TM_EVALUATE_PICTURES = 5 };

typedef struct {
  GtkWidget *value, *change, *caption;
} TmScoreTile;

struct _TmPageEvaluate {
  GtkBox parent;
  /* Of the template: */
  GtkWidget *header, *title, *back, *go, *go_icon, *go_label, *choices_place, *choices, *run, *compared_label,
      *compare, *more, *report, *split, *progress, *stack, *page_bin, *scroller, *cards_bin, *cards, *notices, *tiles,
      *middle, *bars_card, *tick_label, *order, *map_card, *scale_words, *scale, *table_button, *map_stack, *sentence,
      *sentence_box, *show_pictures, *worst_card, *worst_title, *worst_words, *all_pictures, *worst_order, *worst,
      *more_pictures, *bottom, *sizes_card, *sizes_words, *calibration_card, *calibration_words, *switcher;
  /* Made here: */
  TmScoreTile tile[TM_EVALUATE_TILES];
  TmScoreBars *bars, *sizes;
  TmConfusionMap *map;
  TmConfusionTable *table;
  TmReliabilityPlot *calibration;
  TmNotice *notice;
  GtkWidget *view_button[TM_EVALUATE_N_VIEWS];

  TmProject *project;
  TmDataset *dataset; /* shown; owned */
  TmEvaluator *evaluator;
  GSimpleActionGroup *actions;
  GPtrArray *networks; /* TmRunInfo: what can be chosen, the same in both lists */
  char *opened;        /* a checkpoint opened by hand; NULL: none */
  TmSplit splits[TM_N_SPLITS];
  guint n_splits;
  gboolean quiet;      /* lists are being filled: a choice is no choice */
  GCancellable *reading;

  TmEvaluation *shown, *other; /* of the chosen network and of the one it is compared with; NULL: not scored yet */
  gboolean stale;              /* the network was trained on since it was scored */
  GArray *class_order;         /* guint: the class of each bar */
  guint8 match[256];
  char *matched; /* the network that @match is for; NULL: none */
  TmClassTable *net_classes; /* of a network whose classes are not the data's, */
  char *foreign;             /* and which that is; NULL: none */

  gboolean by_cell; /* only pictures that hold the selected cell */
  guint truth, call;
  guint worst_class;
  guint n_pictures; /* tiles asked for */
};

/** The chosen network and the one to compare with; NULL: none. */
const TmRunInfo *tm_page_evaluate_chosen(TmPageEvaluate *p);
const TmRunInfo *tm_page_evaluate_compared(TmPageEvaluate *p);
TmSplit tm_page_evaluate_split(TmPageEvaluate *p);
/** How the chosen network's classes are matched with the data's; NULL: they are the same. */
const guint8 *tm_page_evaluate_match(TmPageEvaluate *p);

/** Makes everything shown agree with what is there. */
void tm_page_evaluate_refresh(TmPageEvaluate *p);
/** Reads the runs again, keeping what is chosen where it is still there; then their scores. */
void tm_page_evaluate_fill_networks(TmPageEvaluate *p);
void tm_page_evaluate_fill_splits(TmPageEvaluate *p);
/** Reads the kept scores of what is chosen, on a thread, and shows them. */
void tm_page_evaluate_read_scores(TmPageEvaluate *p);
/** Fills tiles, bars, map, sizes, calibration from what is shown, or from @so_far while it is counted. */
void tm_page_evaluate_show(TmPageEvaluate *p, const TmConfusion *so_far);
/** Fills the worst pictures. */
void tm_page_evaluate_show_worst(TmPageEvaluate *p);
/** The sentence under the map, and the button beside it. */
void tm_page_evaluate_show_sentence(TmPageEvaluate *p);
/** Makes the tiles. */
void tm_page_evaluate_make_tiles(TmPageEvaluate *p);
/** Asks where to, and writes the report there. */
void tm_page_evaluate_report(TmPageEvaluate *p);
