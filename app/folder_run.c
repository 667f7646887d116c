#include "app/folder_run.h"

#include "ui/main_call.h"

/* What the job's thread may touch: it outlives the run until the job is joined. */
typedef struct {
  gatomicrefcount refs;
  GWeakRef run;
  int pending; /* atomic: a main-loop callback is under way */
} Link;

struct _TmFolderRun {
  GObject parent;
  TmFolderJob *job;
  Link *link;
  TmFolderSnapshot snap;
};

enum { CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(TmFolderRun, tm_folder_run, G_TYPE_OBJECT)

static void link_unref(gpointer data) {
  Link *l = data;
  if (!g_atomic_ref_count_dec(&l->refs)) return;
  g_weak_ref_clear(&l->run);
  g_free(l);
}

static void read_now(TmFolderRun *r) {
  tm_folder_snapshot_clear(&r->snap);
  tm_folder_job_snapshot(r->job, &r->snap);
  g_signal_emit(r, signals[CHANGED], 0);
}

static gboolean on_notify(gpointer data) {
  Link *l = data;
  g_atomic_int_set(&l->pending, 0); /* before reading: what comes after is told again */
  g_autoptr(TmFolderRun) r = g_weak_ref_get(&l->run);
  if (r && r->job) read_now(r);
  return G_SOURCE_REMOVE;
}

/* On the job's thread. */
static void notify(gpointer user) {
  Link *l = user;
  if (!g_atomic_int_compare_and_exchange(&l->pending, 0, 1)) return;
  g_atomic_ref_count_inc(&l->refs);
  tm_main_call(NULL, G_PRIORITY_DEFAULT_IDLE, on_notify, l, link_unref);
}

/* Joins the job away from the main loop: it may be in the middle of a picture. */
typedef struct {
  TmFolderJob *job;
  Link *link;
} Burial;

static gpointer bury(gpointer data) {
  Burial *b = data;
  tm_folder_job_free(b->job);
  link_unref(b->link);
  g_free(b);
  return NULL;
}

static void dispose(GObject *o) {
  TmFolderRun *r = TM_FOLDER_RUN(o);
  if (r->job) {
    Burial *b = g_new(Burial, 1);
    b->job = g_steal_pointer(&r->job);
    b->link = g_steal_pointer(&r->link);
    g_thread_unref(g_thread_new("end-predict", bury, b));
  }
  tm_folder_snapshot_clear(&r->snap);
  G_OBJECT_CLASS(tm_folder_run_parent_class)->dispose(o);
}

static void tm_folder_run_class_init(TmFolderRunClass *c) {
  G_OBJECT_CLASS(c)->dispose = dispose;
  signals[CHANGED] =
      g_signal_new("changed", TM_TYPE_FOLDER_RUN, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void tm_folder_run_init(TmFolderRun *r) {
  r->link = g_new0(Link, 1);
  g_atomic_ref_count_init(&r->link->refs);
  g_weak_ref_init(&r->link->run, r);
}

TmFolderRun *tm_folder_run_new(const TmFolderOptions *o) {
  TmFolderRun *r = g_object_new(TM_TYPE_FOLDER_RUN, NULL);
  r->job = tm_folder_job_new(o, notify, r->link);
  tm_folder_job_snapshot(r->job, &r->snap);
  return r;
}

TmFolderJob *tm_folder_run_job(TmFolderRun *r) {
  return r->job;
}

const TmFolderSnapshot *tm_folder_run_snapshot(TmFolderRun *r) {
  return &r->snap;
}

gboolean tm_folder_run_is_alive(TmFolderRun *r) {
  return r->snap.state < TM_FOLDER_DONE;
}
