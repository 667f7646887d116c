/* page_train_private.h: what the two files of the Train page share. */
#pragma once

#include "app/page_train.h"
#include "app/range_test.h"
#include "ui/adaptive.h"
#include "ui/curves.h"
#include "ui/live_settings.h"
#include "ui/notice.h"
#include "ui/plan_view.h"
#include "ui/probe_card.h"
#include "ui/range_sheet.h"
#include "ui/schedule_view.h"
#include "ui/settings_form.h"
#include "ui/timeline.h"

typedef enum {
  TM_TRAIN_CURVES,
  TM_TRAIN_PROBE,
  TM_TRAIN_SPEED,
  TM_TRAIN_SETTINGS,
  TM_TRAIN_N_VIEWS
} TmTrainView;
enum { TM_TRAIN_MAX_METERS = 6 };

struct _TmPageTrain {
  GtkBox parent;
  /* Of the template: */
  GtkWidget *header, *title, *back, *controls, *go, *go_icon, *go_label, *step, *stop, *more, *menu,
      *panel_button, *save, *progress;
  GtkWidget *page_bin, *flap, *cards_bin, *cards, *notices, *top_row, *meters, *timeline_card, *speed,
      *switcher, *panel, *panel_box, *panel_title;
  /* Made here: */
  TmCurves *curves;
  TmProbeCard *probe;
  TmTimeline *timeline;
  TmNotice *message, *notice, *project_notice, *advice;
  TmSettingsForm *form;
  TmLiveSettings *live;
  GtkWidget *about_run;
  GtkWidget *meter[TM_TRAIN_MAX_METERS];
  guint n_meters;
  GtkWidget *view_button[TM_TRAIN_N_VIEWS];

  TmProject *project;
  TmDataset
      *probe_dataset; /* that the probes are of; owned. The run's while it is alive, else the project's */
  TmLiveRun *run;
  GSimpleActionGroup *actions;
  GArray *probes; /* guint: entries to choose from */
  guint probe_place;
  guint shown_probe;     /* serial of the run's probe on the screen; 0: none */
  GCancellable *reading; /* the probe picture before a run shows it */
  TmTrainerState shown_state;
  guint kept_parts; /* of a split batch, kept for later runs; 0: none */
  gboolean preset_chosen; /* the person or the dataset has set the form */
  GtkWidget *before;      /* of the panel, until a run begins: schedule and plan */
  TmScheduleView *schedule;
  TmPlanView *plan;
  TmRangeSheet *sheet;
  TmRangeTest *range;     /* under way; NULL: none */
  gboolean range_pauses;  /* the run goes on when the test is over */
  guint plan_source;
  gboolean estimating, estimate_again;
  gsize room;             /* bytes a run may take; 0: not known */
  TmScene *base, *now;    /* the probe picture, bare or with any mask; as the network sees it now */
  TmScene *swipe;         /* as at swipe_epoch */
  guint swipe_epoch, shown_epochs;
  guint standing;         /* changes not taken back, in groups */
  guint shown_changes;    /* of the run, on the curves; G_MAXUINT: none yet */
};

void tm_page_train_emit_changed(TmPageTrain *p);
/** Makes everything shown agree with the run's snapshot. */
void tm_page_train_refresh(TmPageTrain *p);
/** Takes the probes to choose from, and the form's first preset, from @d (may be NULL); does nothing when
 * they are of it already. */
void tm_page_train_show_dataset(TmPageTrain *p, TmDataset *d);
/** Shows probe number @place of those to choose from. */
void tm_page_train_choose_probe(TmPageTrain *p, guint place);
/** page_train_live.c: the person sets something while the run goes on, or takes it back. */
void tm_page_train_change(TmPageTrain *p, const char *key, const char *to);
void tm_page_train_undo(TmPageTrain *p);
/** Makes the live settings and the marks agree with the run. */
void tm_page_train_refresh_live(TmPageTrain *p, const TmSnapshot *s);
/** page_train_plan.c */
void tm_page_train_make_plan(TmPageTrain *p);
void tm_page_train_end_plan(TmPageTrain *p);
/** The form or the dataset changed: predicts anew, a moment later. */
void tm_page_train_replan(TmPageTrain *p);
void tm_page_train_test_range(TmPageTrain *p);
/** page_train_probe.c */
void tm_page_train_connect_probe(TmPageTrain *p);
void tm_page_train_refresh_probe(TmPageTrain *p, const TmSnapshot *s);
void tm_page_train_probes_changed(TmPageTrain *p);
/** Tells the run which pictures' masks to keep. */
void tm_page_train_send_probes(TmPageTrain *p);
/** Begins a run with the form's settings; @run_dir: goes on with that one. */
void tm_page_train_begin(TmPageTrain *p, const char *run_dir, const TmSettings *s, TmRunCommand first);
