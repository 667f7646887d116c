#include "app/project.h"

#include <glib/gi18n.h>

#include "ui/main_call.h"

/* One opening or scan. The thread fills it; the main thread takes it unless another was begun meanwhile. */
typedef struct {
  gatomicrefcount refs;
  GWeakRef project;
  char *path;
  TmDatasetOptions options;
  TmDataset *dataset; /* given: only scan */
  TmScan *scan;
  GError *error;
  int cancelled, done, total, pending; /* atomic */
} Job;

struct _TmProject {
  GObject parent;
  TmProjectState state;
  TmDataset *dataset;
  TmScan *scan;
  char *path, *error;
  Job *job; /* under way; NULL: none */
};

enum { CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(TmProject, tm_project, G_TYPE_OBJECT)

static void job_unref(gpointer p) {
  Job *j = p;
  if (!g_atomic_ref_count_dec(&j->refs)) return;
  g_weak_ref_clear(&j->project);
  g_free(j->path);
  g_clear_pointer(&j->dataset, tm_dataset_unref);
  g_clear_pointer(&j->scan, tm_scan_free);
  g_clear_error(&j->error);
  g_free(j);
}

static Job *job_ref(Job *j) {
  g_atomic_ref_count_inc(&j->refs);
  return j;
}

static void emit(TmProject *p) {
  g_signal_emit(p, signals[CHANGED], 0);
}

static void drop_job(TmProject *p) {
  if (!p->job) return;
  g_atomic_int_set(&p->job->cancelled, 1);
  g_clear_pointer(&p->job, job_unref);
}

static gboolean on_progress(gpointer data) {
  Job *j = data;
  g_atomic_int_set(&j->pending, 0);
  g_autoptr(TmProject) p = g_weak_ref_get(&j->project);
  if (p && p->job == j) emit(p);
  return G_SOURCE_REMOVE;
}

/* On one of the scan's threads. */
static gboolean progress(guint done, guint total, gpointer user) {
  Job *j = user;
  g_atomic_int_set(&j->done, (int)done);
  g_atomic_int_set(&j->total, (int)total);
  if (g_atomic_int_compare_and_exchange(&j->pending, 0, 1))
    tm_main_call(NULL, G_PRIORITY_DEFAULT_IDLE, on_progress, job_ref(j), job_unref);
  return !g_atomic_int_get(&j->cancelled);
}

static gboolean on_opened(gpointer data) {
  Job *j = data;
  g_autoptr(TmProject) p = g_weak_ref_get(&j->project);
  if (!p || p->job != j || p->dataset == j->dataset) return G_SOURCE_REMOVE;
  g_clear_pointer(&p->dataset, tm_dataset_unref);
  g_clear_pointer(&p->scan, tm_scan_free);
  p->dataset = tm_dataset_ref(j->dataset);
  p->state = TM_PROJECT_SCANNING;
  emit(p);
  return G_SOURCE_REMOVE;
}

static gboolean on_finished(gpointer data) {
  Job *j = data;
  g_autoptr(TmProject) p = g_weak_ref_get(&j->project);
  if (!p || p->job != j) return G_SOURCE_REMOVE;
  g_clear_pointer(&p->scan, tm_scan_free);
  p->scan = g_steal_pointer(&j->scan);
  g_free(p->error);
  p->error = j->error ? g_strdup(j->error->message) : NULL;
  p->state = j->error ? TM_PROJECT_FAILED : TM_PROJECT_READY;
  g_clear_pointer(&p->job, job_unref);
  emit(p);
  return G_SOURCE_REMOVE;
}

static gpointer work(gpointer data) {
  Job *j = data;
  if (!j->dataset) {
    j->dataset = tm_dataset_open(j->path, &j->options, &j->error);
    if (j->dataset) tm_main_call(NULL, G_PRIORITY_DEFAULT, on_opened, job_ref(j), job_unref);
  }
  if (j->dataset && !g_atomic_int_get(&j->cancelled))
    j->scan = tm_scan_run(j->dataset, 1, progress, j, &j->error);
  tm_main_call(NULL, G_PRIORITY_DEFAULT, on_finished, j, job_unref);
  return NULL;
}

static void begin(TmProject *p, Job *j) {
  drop_job(p);
  g_atomic_ref_count_init(&j->refs);
  g_weak_ref_init(&j->project, p);
  p->job = job_ref(j);
  p->state = j->dataset ? TM_PROJECT_SCANNING : TM_PROJECT_OPENING;
  g_clear_pointer(&p->error, g_free);
  g_thread_unref(g_thread_new("open", work, j));
  emit(p);
}

static void dispose(GObject *o) {
  TmProject *p = TM_PROJECT(o);
  drop_job(p);
  g_clear_pointer(&p->dataset, tm_dataset_unref);
  g_clear_pointer(&p->scan, tm_scan_free);
  g_clear_pointer(&p->path, g_free);
  g_clear_pointer(&p->error, g_free);
  G_OBJECT_CLASS(tm_project_parent_class)->dispose(o);
}

static void tm_project_class_init(TmProjectClass *c) {
  G_OBJECT_CLASS(c)->dispose = dispose;
  signals[CHANGED] =
      g_signal_new("changed", TM_TYPE_PROJECT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void tm_project_init(TmProject *p) {
  (void)p;
}

TmProject *tm_project_new(void) {
  return g_object_new(TM_TYPE_PROJECT, NULL);
}

void tm_project_open(TmProject *p, const char *path, const TmDatasetOptions *options) {
  Job *j = g_new0(Job, 1);
  j->path = g_strdup(path);
  j->options = options ? *options : (TmDatasetOptions){.val_fraction = 0.2f};
  j->options.classes = NULL;
  g_free(p->path);
  p->path = g_strdup(path);
  begin(p, j);
}

void tm_project_rescan(TmProject *p) {
  if (!p->dataset) return;
  Job *j = g_new0(Job, 1);
  j->dataset = tm_dataset_ref(p->dataset);
  begin(p, j);
}

void tm_project_cancel(TmProject *p) {
  if (!p->job) return;
  drop_job(p);
  p->state = p->dataset ? TM_PROJECT_READY : TM_PROJECT_EMPTY;
  emit(p);
}

TmProjectState tm_project_state(TmProject *p) {
  return p->state;
}
TmDataset *tm_project_dataset(TmProject *p) {
  return p->dataset;
}
const TmScan *tm_project_scan(TmProject *p) {
  return p->scan;
}
const char *tm_project_error(TmProject *p) {
  return p->error;
}
const char *tm_project_path(TmProject *p) {
  return p->path;
}

void tm_project_progress(TmProject *p, guint *done, guint *total) {
  *done = p->job ? (guint)g_atomic_int_get(&p->job->done) : 0;
  *total = p->job ? (guint)g_atomic_int_get(&p->job->total) : 0;
}
