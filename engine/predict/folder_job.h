/* folder_job.h: a folder of pictures predicted on a thread of its own, watched through snapshots.
 *
 *   loading -> asking -> running <-> paused
 *                        running -> waiting -> running        (a watched folder)
 *                        any -> done | stopped | failed
 *
 * The thread owns the predictor and writes the files. Commands go in and act between two pictures. Nothing is written
 * over the input; files that are there already are kept or replaced as asked. Any thread may call the functions. */
#pragma once

#include "engine/core/error.h"
#include "engine/data/class_table.h"

typedef enum {
  TM_FOLDER_LOADING,
  TM_FOLDER_ASKING, /* there are results already: keep, replace or cancel */
  TM_FOLDER_RUNNING,
  TM_FOLDER_PAUSED,
  TM_FOLDER_WAITING, /* for new pictures in the watched folder */
  TM_FOLDER_DONE,
  TM_FOLDER_STOPPED,
  TM_FOLDER_FAILED,
} TmFolderState;

typedef enum { TM_EXISTING_ASK, TM_EXISTING_KEEP, TM_EXISTING_REPLACE } TmExisting;

typedef struct {
  const char *network;  /* a run's folder or a checkpoint */
  gboolean follow;      /* the network is in training: takes its newest weights whenever they are written */
  const char *folder;
  const char *out_dir;  /* NULL: nothing is written */
  gboolean masks, overlays, table;
  gboolean watch;       /* goes on with pictures that come later */
  const char *backend;  /* NULL: auto */
  TmExisting existing;
} TmFolderOptions;

typedef struct {
  TmFolderState state;
  guint done, failed, kept, total; /* kept: left as they were, since their results were there */
  guint masks;                     /* written */
  double seconds, per_second, seconds_left; /* of running; NAN: cannot be told */
  double decode, network, write;   /* seconds a picture, of the last ones; NAN: none yet */
  guint existing;                  /* results that were there */
  char *first_existing;
  gboolean disk_full;              /* why it is paused: choose another folder to write to */
  char *error;                     /* why it failed or is paused by itself */
  guint epoch;                     /* of the network in use */
  char *checkpoint;                /* its path */
} TmFolderSnapshot;

void tm_folder_snapshot_clear(TmFolderSnapshot *s);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TmFolderSnapshot, tm_folder_snapshot_clear)

typedef struct {
  char *name, *reason;
} TmFolderError;

/* One picture and what the network says of it. Immutable; shared. */
typedef struct {
  gatomicrefcount refs;
  guint index; /* in the folder's order */
  char *name;
  int w, h;
  guint8 *rgb, *labels;
  guint8 *sure;    /* 0..255 for 0..1; NULL: not asked for, or the network does not tell */
  double *shares;  /* by class */
  TmClassTable *classes;
} TmFolderPicture;

TmFolderPicture *tm_folder_picture_ref(TmFolderPicture *p);
void tm_folder_picture_unref(TmFolderPicture *p);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmFolderPicture, tm_folder_picture_unref)

enum { TM_FOLDER_THUMB = 184 }; /* longest side of the pictures that tm_folder_job_take() gives */

typedef struct _TmFolderJob TmFolderJob;

/** Begins. @o is copied. @notify is called on the job's thread whenever there is something new, at most 30 times a
 * second and at every change of state; it only schedules. */
TmFolderJob *tm_folder_job_new(const TmFolderOptions *o, void (*notify)(gpointer user), gpointer user);
/** Stops, joins the thread; no call of @notify comes after it. Waits for the picture under way. */
void tm_folder_job_free(TmFolderJob *j);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmFolderJob, tm_folder_job_free)

/* Commands. */
void tm_folder_job_pause(TmFolderJob *j);
void tm_folder_job_resume(TmFolderJob *j);
void tm_folder_job_stop(TmFolderJob *j);
/** The answer to ASKING. */
void tm_folder_job_existing(TmFolderJob *j, TmExisting what);
/** Writes to @out_dir from here on: after the disk was full. Resume follows. */
void tm_folder_job_set_out_dir(TmFolderJob *j, const char *out_dir);
void tm_folder_job_set_watch(TmFolderJob *j, gboolean watch);
/** Whether pictures to look at say how sure the network is. */
void tm_folder_job_set_sure(TmFolderJob *j, gboolean sure);
/** Asks for picture @index to look at; G_MAXUINT: always the latest. */
void tm_folder_job_look(TmFolderJob *j, guint index);

/* Reading; copies. */
void tm_folder_job_snapshot(TmFolderJob *j, TmFolderSnapshot *out);
/** What to look at: the picture asked for, else the latest; NULL when there is none yet, or it is @shown. */
TmFolderPicture *tm_folder_job_picture(TmFolderJob *j, const TmFolderPicture *shown);
/** Small TmFolderPicture of those done since the last call. Free with g_ptr_array_unref(). */
GPtrArray *tm_folder_job_take(TmFolderJob *j);
/** All errors so far: TmFolderError. Free with g_ptr_array_unref(). */
GPtrArray *tm_folder_job_errors(TmFolderJob *j);
