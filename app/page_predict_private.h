/* page_predict_private.h: what the files of the Predict page share. */
#pragma once

#include "app/folder_run.h"
#include "app/page_predict.h"
#include "engine/run/run_list.h"
#include "ui/film_strip.h"
#include "ui/notice.h"
#include "ui/share_bars.h"
#include "ui/spark.h"
#include "ui/swipe_view.h"

enum { TM_PREDICT_VIEWS = 4, TM_PREDICT_TRACE = 60 };

struct _TmPagePredict {
  GtkBox parent;
  /* Of the template: */
  GtkWidget *header, *title, *back, *go, *go_icon, *go_label, *stop, *panel_button, *open, *progress, *page_bin, *flap,
      *stack, *empty, *notices, *tools, *views, *view_list, *opacity_label, *opacity_scale, *zooms, *viewer, *waiting,
      *waiting_label, *strip_box, *panel_box, *job_card, *count, *pill, *bar, *left, *skipped, *show_skipped,
      *speed_card, *speed, *times, *share_card, *share_title, *share, *share_words, *network, *from_row, *to_row,
      *watch, *masks, *overlays, *table;
  /* Made here: */
  TmSwipeView *view;
  TmFilmStrip *strip;
  TmNotice *notice;
  TmSpark *speed_spark, *share_spark;
  TmShareBars *bars;
  GtkWidget *view_button[TM_PREDICT_VIEWS];

  TmProject *project;
  TmFolderRun *run;
  GSimpleActionGroup *actions;
  GPtrArray *networks; /* TmRunInfo */
  char *opened;        /* a checkpoint opened by hand; NULL: none */
  guint chosen;        /* place in the list */
  gboolean quiet;      /* the list is being filled */
  char *from, *to;
  gboolean to_chosen;  /* by the person; else it goes with @from */
  TmFolderPicture *shown;
  TmFolderState last_state;
  guint shown_class;   /* whose share is told: Road, where there is one */
  double share_sum, lowest;
  char *lowest_name;
  guint n_shares;
  float share_trace[TM_PREDICT_TRACE], speed_trace[TM_PREDICT_TRACE];
  guint n_speeds;
  gint64 speed_noted;
};

/** The network chosen; NULL: there is none. */
const TmRunInfo *tm_page_predict_network(TmPagePredict *p);
/** Reads the runs again, keeping what is chosen where it is still there. */
void tm_page_predict_fill_networks(TmPagePredict *p);
/** Begins a job with what is chosen. */
void tm_page_predict_begin(TmPagePredict *p);
/** Makes everything shown agree with the job. */
void tm_page_predict_refresh(TmPagePredict *p);
/** Forgets the pictures and traces of the job before. */
void tm_page_predict_clear(TmPagePredict *p);
/** A list of the pictures that could not be predicted, with the reasons. */
void tm_page_predict_show_skipped(TmPagePredict *p);
GtkWindow *tm_page_predict_window(TmPagePredict *p);
