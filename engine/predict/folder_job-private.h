/* folder_job-private.h: the job's parts, for its two files. */
#pragma once

#include <gio/gio.h>

#include "engine/predict/folder_job.h"
#include "engine/predict/folder_work.h"
#include "engine/predict/predictor.h"

enum { TM_FOLDER_TIMES = 32 };

struct _TmFolderJob {
  /* Set once. */
  char *network, *backend;
  gboolean follow;
  void (*notify)(gpointer user);
  gpointer user;
  GThread *thread;
  GMainContext *context; /* of the thread, which waits in it */

  GMutex mutex; /* guards what follows */
  gboolean pause, stop, close, watch, sure; /* close: the job is being freed */
  TmExisting existing;
  char *new_out_dir; /* to be taken over */
  guint look;        /* G_MAXUINT: the latest */
  gboolean look_asked;
  TmFolderSnapshot snap;
  TmFolderPicture *picture;
  GPtrArray *taken;  /* TmFolderPicture, small */
  GPtrArray *errors; /* TmFolderError */

  /* The thread's own. */
  TmFolderWork work;
  TmPredictor *p;
  gint64 weights_time; /* of the checkpoint's file, when it was read */
  GFileMonitor *monitor;
  GQueue come;         /* char*: names of pictures that came while it ran */
  gboolean gone;       /* the folder */
  double times[TM_FOLDER_TIMES][3];
  guint n_times;
  gint64 notified, began;
};

/** Reads, predicts and, unless @only_look, writes picture @i, and shows it. The thread. */
gboolean tm_folder_job_do(TmFolderJob *j, guint i, gboolean only_look, GError **error);
/** Opens the network, or its newer weights where it is in training. */
gboolean tm_folder_job_load(TmFolderJob *j, GError **error);
void tm_folder_job_reload(TmFolderJob *j);
/** Tells the world, at once with @now. */
void tm_folder_job_tell(TmFolderJob *j, gboolean now);
