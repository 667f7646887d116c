#include "app/project.h"

#include <glib/gi18n.h>

#include "engine/data/png_write.h"
#include "ui/compose.h"
#include "ui/main_call.h"
#include "ui/scene.h"

enum { MOST_UNDO = 50, SCAN_THREADS = 1, PICTURE_SIDE = 112 };

/* One opening or scan. The thread fills it; the main thread takes it unless another was begun meanwhile. */
typedef struct {
  gatomicrefcount refs;
  GWeakRef project;
  char *path;
  gboolean has_options;
  TmDatasetOptions options;
  TmDataset *base;     /* given: only apply and scan */
  TmProjectFile *file; /* read by an opening */
  TmAmend *amend;      /* what to apply */
  TmDataset *before;   /* (optional) with @scanned: what may be copied from the scan before */
  TmScan *scanned;
  TmDataset *dataset;
  TmScan *scan;
  TmAlikeness *alike;
  GPtrArray *issues;
  GError *error;
  int cancelled, done, total, pending; /* atomic */
} Job;

struct _TmProject {
  GObject parent;
  TmProjectState state;
  TmProjectFile *file;
  TmDataset *base, *dataset;
  TmScan *scan;
  TmDataset *last_dataset; /* with @last_scan: what is known of the pictures from before the last change */
  TmScan *last_scan;
  TmAlikeness *alike;
  GPtrArray *issues;
  GPtrArray *undo; /* TmAmend*, the newest last */
  char *path, *error;
  Job *job; /* under way; NULL: none */
};

enum { CHANGED, AMENDED, TROUBLE, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(TmProject, tm_project, G_TYPE_OBJECT)

static void job_unref(gpointer p) {
  Job *j = p;
  if (!g_atomic_ref_count_dec(&j->refs)) return;
  g_weak_ref_clear(&j->project);
  g_free(j->path);
  g_clear_pointer(&j->base, tm_dataset_unref);
  g_clear_pointer(&j->file, tm_project_file_free);
  g_clear_pointer(&j->amend, tm_amend_free);
  g_clear_pointer(&j->before, tm_dataset_unref);
  g_clear_pointer(&j->scanned, tm_scan_free);
  g_clear_pointer(&j->dataset, tm_dataset_unref);
  g_clear_pointer(&j->scan, tm_scan_free);
  g_clear_pointer(&j->alike, tm_alike_free);
  g_clear_pointer(&j->issues, g_ptr_array_unref);
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

static void clear_scan(TmProject *p) {
  g_clear_pointer(&p->scan, tm_scan_free);
  g_clear_pointer(&p->alike, tm_alike_free);
  g_clear_pointer(&p->issues, g_ptr_array_unref);
}

static void remember(TmProject *p, TmScan *scan, TmDataset *of) {
  g_clear_pointer(&p->last_scan, tm_scan_free);
  g_clear_pointer(&p->last_dataset, tm_dataset_unref);
  p->last_scan = scan ? tm_scan_ref(scan) : NULL;
  p->last_dataset = of ? tm_dataset_ref(of) : NULL;
}

static void keep(TmProject *p) {
  g_autoptr(GError) error = NULL;
  if (!tm_project_file_write(p->file, &error)) g_signal_emit(p, signals[TROUBLE], 0, error->message);
}

/* The project was opened: it is the most recent one now. */
static void take_file(TmProject *p, Job *j) {
  g_clear_pointer(&p->file, tm_project_file_free);
  g_ptr_array_set_size(p->undo, 0);
  p->file = g_steal_pointer(&j->file);
  if (j->has_options) p->file->options = j->options;
  p->file->opened = g_get_real_time() / G_USEC_PER_SEC;
  p->file->forgotten = FALSE;
  p->file->n_pictures = tm_dataset_n(j->dataset);
  remember(p, NULL, NULL);
  keep(p);
}

static gboolean on_opened(gpointer data) {
  Job *j = data;
  g_autoptr(TmProject) p = g_weak_ref_get(&j->project);
  if (!p || p->job != j || p->dataset == j->dataset) return G_SOURCE_REMOVE;
  if (j->file) take_file(p, j);
  g_clear_pointer(&p->base, tm_dataset_unref);
  g_clear_pointer(&p->dataset, tm_dataset_unref);
  clear_scan(p);
  p->base = tm_dataset_ref(j->base);
  p->dataset = tm_dataset_ref(j->dataset);
  p->state = TM_PROJECT_SCANNING;
  emit(p);
  return G_SOURCE_REMOVE;
}

static gboolean on_finished(gpointer data) {
  Job *j = data;
  g_autoptr(TmProject) p = g_weak_ref_get(&j->project);
  if (!p || p->job != j) return G_SOURCE_REMOVE;
  clear_scan(p);
  p->scan = g_steal_pointer(&j->scan);
  if (p->scan) remember(p, p->scan, p->dataset);
  p->alike = g_steal_pointer(&j->alike);
  p->issues = g_steal_pointer(&j->issues);
  g_free(p->error);
  p->error = j->error ? g_strdup(j->error->message) : NULL;
  p->state = j->error ? TM_PROJECT_FAILED : TM_PROJECT_READY;
  g_clear_pointer(&p->job, job_unref);
  emit(p);
  return G_SOURCE_REMOVE;
}

static gboolean open_base(Job *j) {
  if (j->base) return TRUE;
  j->file = tm_project_file_open(j->path, &j->error);
  if (!j->file) return FALSE;
  if (!j->has_options) j->options = j->file->options;
  j->base = tm_dataset_open(j->path, &j->options, &j->error);
  j->amend = tm_amend_copy(j->file->amend);
  return j->base != NULL;
}

/* For lists of projects: the first picture under its mask, small. Without it they only lack a picture. */
static void keep_picture(const Job *j) {
  g_auto(TmSample) s = {0};
  if (!tm_dataset_n(j->dataset) || !tm_dataset_read_small(j->dataset, 0, PICTURE_SIDE, &s, NULL)) return;
  const TmClassTable *t = tm_dataset_classes(j->dataset);
  g_autoptr(TmScene) scene =
      tm_scene_new(s.w, s.h, g_steal_pointer(&s.rgb), NULL, g_steal_pointer(&s.labels), t);
  const TmComposition c = {.show = scene->truth ? TM_SHOW_MASK : TM_SHOW_INPUT,
                           .w = scene->w,
                           .h = scene->h,
                           .rgb = scene->rgb,
                           .labels = scene->truth,
                           .colours = scene->colours,
                           .n_classes = t->n,
                           .opacity = 0.55};
  const gsize n = (gsize)scene->w * (gsize)scene->h;
  g_autofree guint8 *rgba = g_malloc(n * 4), *rgb = g_malloc(n * 3);
  tm_compose(&c, rgba, scene->w, scene->h, (gsize)scene->w * 4);
  for (gsize i = 0; i < n * 3; i++) rgb[i] = rgba[i / 3 * 4 + i % 3];
  g_autofree char *path = g_build_filename(j->file->folder, "picture.png", NULL);
  tm_png_write_rgb(path, rgb, scene->w, scene->h, NULL);
}

static gpointer work(gpointer data) {
  Job *j = data;
  if (open_base(j)) {
    j->dataset = tm_amend_apply(j->amend, j->base);
    if (j->file && g_mkdir_with_parents(j->file->folder, 0777) == 0) keep_picture(j);
    tm_main_call(NULL, G_PRIORITY_DEFAULT, on_opened, job_ref(j), job_unref);
  }
  if (j->dataset && !g_atomic_int_get(&j->cancelled))
    j->scan = j->scanned
                  ? tm_scan_again(j->scanned, j->before, j->dataset, SCAN_THREADS, progress, j, &j->error)
                  : tm_scan_run(j->dataset, SCAN_THREADS, progress, j, &j->error);
  if (j->scan) j->alike = tm_alike_find(j->scan, j->dataset, &j->cancelled);
  if (j->scan) j->issues = tm_scan_issues(j->scan, j->dataset, j->alike);
  tm_main_call(NULL, G_PRIORITY_DEFAULT, on_finished, j, job_unref);
  return NULL;
}

static void begin(TmProject *p, Job *j) {
  drop_job(p);
  g_atomic_ref_count_init(&j->refs);
  g_weak_ref_init(&j->project, p);
  p->job = job_ref(j);
  p->state = j->base ? TM_PROJECT_SCANNING : TM_PROJECT_OPENING;
  g_clear_pointer(&p->error, g_free);
  g_thread_unref(g_thread_new("open", work, j));
  emit(p);
}

static void dispose(GObject *o) {
  TmProject *p = TM_PROJECT(o);
  drop_job(p);
  g_clear_pointer(&p->file, tm_project_file_free);
  g_clear_pointer(&p->base, tm_dataset_unref);
  g_clear_pointer(&p->dataset, tm_dataset_unref);
  clear_scan(p);
  remember(p, NULL, NULL);
  g_clear_pointer(&p->undo, g_ptr_array_unref);
  g_clear_pointer(&p->path, g_free);
  g_clear_pointer(&p->error, g_free);
  G_OBJECT_CLASS(tm_project_parent_class)->dispose(o);
}

static void tm_project_class_init(TmProjectClass *c) {
  G_OBJECT_CLASS(c)->dispose = dispose;
  signals[CHANGED] =
      g_signal_new("changed", TM_TYPE_PROJECT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[AMENDED] = g_signal_new("amended", TM_TYPE_PROJECT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                  G_TYPE_NONE, 1, G_TYPE_STRING);
  signals[TROUBLE] = g_signal_new("trouble", TM_TYPE_PROJECT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                  G_TYPE_NONE, 1, G_TYPE_STRING);
}

static void tm_project_init(TmProject *p) {
  p->undo = g_ptr_array_new_with_free_func((GDestroyNotify)tm_amend_free);
}

TmProject *tm_project_new(void) {
  return g_object_new(TM_TYPE_PROJECT, NULL);
}

void tm_project_open(TmProject *p, const char *path, const TmDatasetOptions *options) {
  Job *j = g_new0(Job, 1);
  j->path = g_strdup(path);
  j->has_options = options != NULL;
  if (options) j->options = *options;
  j->options.classes = NULL;
  g_free(p->path);
  p->path = g_strdup(path);
  begin(p, j);
}

void tm_project_close(TmProject *p) {
  drop_job(p);
  g_clear_pointer(&p->file, tm_project_file_free);
  g_clear_pointer(&p->base, tm_dataset_unref);
  g_clear_pointer(&p->dataset, tm_dataset_unref);
  clear_scan(p);
  remember(p, NULL, NULL);
  g_ptr_array_set_size(p->undo, 0);
  g_clear_pointer(&p->path, g_free);
  g_clear_pointer(&p->error, g_free);
  p->state = TM_PROJECT_EMPTY;
  emit(p);
}

void tm_project_rescan(TmProject *p) {
  if (!p->base) return;
  Job *j = g_new0(Job, 1);
  j->base = tm_dataset_ref(p->base);
  j->amend = tm_amend_copy(p->file->amend);
  begin(p, j);
}

/* The change is on the screen at once; what the scan knew stays until the new one is there. */
static void apply(TmProject *p) {
  Job *j = g_new0(Job, 1);
  j->base = tm_dataset_ref(p->base);
  j->amend = tm_amend_copy(p->file->amend);
  if (p->last_scan) {
    j->before = tm_dataset_ref(p->last_dataset);
    j->scanned = tm_scan_ref(p->last_scan);
  }
  keep(p);
  begin(p, j);
}

TmAmend *tm_project_amendment(TmProject *p) {
  return p->file ? tm_amend_copy(p->file->amend) : NULL;
}

void tm_project_amend(TmProject *p, TmAmend *next, const char *sentence) {
  if (p->undo->len == MOST_UNDO) g_ptr_array_remove_index(p->undo, 0);
  g_ptr_array_add(p->undo, p->file->amend);
  p->file->amend = next;
  apply(p);
  g_signal_emit(p, signals[AMENDED], 0, sentence);
}

gboolean tm_project_undo(TmProject *p) {
  if (!p->undo->len) return FALSE;
  tm_amend_free(p->file->amend);
  p->file->amend = g_ptr_array_steal_index(p->undo, p->undo->len - 1);
  apply(p);
  return TRUE;
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

const TmProjectFile *tm_project_file(TmProject *p) {
  return p->file;
}
TmDataset *tm_project_base(TmProject *p) {
  return p->base;
}
GPtrArray *tm_project_issues(TmProject *p) {
  return p->issues;
}
const TmAlikeness *tm_project_alike(TmProject *p) {
  return p->alike;
}
