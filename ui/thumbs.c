#include "ui/thumbs.h"

#include <glib/gi18n.h>

#include "ui/main_call.h"

/* What the pool's threads share with the front: outlives it while decodes run. */
typedef struct {
  gatomicrefcount refs;
  TmDataset *dataset;
  int side;
  GMainContext *context;
  TmThumbs *front; /* NULL once it is freed. Main thread only */
} Back;

typedef struct {
  Back *back;
  guint id, entry;
  int cancelled;      /* atomic */
  TmThumbReady ready; /* main thread only, as are the next two */
  gpointer user;
  TmScene *scene;
  GError *error;
} Job;

typedef struct {
  guint entry;
  gsize size;
  TmScene *scene;
  GList link; /* in the order of use, newest first */
} Kept;

struct _TmThumbs {
  Back *back;
  GThreadPool *pool;
  GHashTable *jobs; /* id -> Job, pending */
  GHashTable *kept; /* entry -> Kept */
  GQueue order;
  gsize size, budget;
  guint last_id;
};

static void back_unref(Back *b) {
  if (!g_atomic_ref_count_dec(&b->refs)) return;
  tm_dataset_unref(b->dataset);
  g_main_context_unref(b->context);
  g_free(b);
}

static void job_free(gpointer p) {
  Job *j = p;
  g_clear_pointer(&j->scene, tm_scene_unref);
  g_clear_error(&j->error);
  back_unref(j->back);
  g_free(j);
}

static void kept_free(gpointer p) {
  Kept *k = p;
  tm_scene_unref(k->scene);
  g_free(k);
}

static void keep(TmThumbs *t, guint entry, TmScene *scene) {
  if (g_hash_table_contains(t->kept, GUINT_TO_POINTER(entry))) return;
  Kept *k = g_new0(Kept, 1);
  k->entry = entry;
  k->size = (gsize)scene->w * scene->h * 4;
  k->scene = tm_scene_ref(scene);
  k->link.data = k;
  g_hash_table_insert(t->kept, GUINT_TO_POINTER(entry), k);
  g_queue_push_head_link(&t->order, &k->link);
  t->size += k->size;
  while (t->size > t->budget && t->order.length > 1) {
    Kept *last = t->order.tail->data;
    g_queue_unlink(&t->order, &last->link);
    t->size -= last->size;
    g_hash_table_remove(t->kept, GUINT_TO_POINTER(last->entry));
  }
}

static gboolean deliver(gpointer data) {
  Job *j = data;
  TmThumbs *t = j->back->front;
  if (!t) return G_SOURCE_REMOVE;
  if (j->scene) keep(t, j->entry, j->scene);
  if (g_hash_table_steal(t->jobs, GUINT_TO_POINTER(j->id)) && !g_atomic_int_get(&j->cancelled))
    j->ready(j->entry, j->scene, j->error, j->user);
  return G_SOURCE_REMOVE;
}

static void work(gpointer data, gpointer user) {
  (void)user;
  Job *j = data;
  if (!g_atomic_int_get(&j->cancelled)) {
    TmSample s = {0};
    if (tm_dataset_read_small(j->back->dataset, j->entry, j->back->side, &s, &j->error))
      j->scene = tm_scene_new(s.w, s.h, g_steal_pointer(&s.rgb), NULL, g_steal_pointer(&s.labels),
                              tm_dataset_classes(j->back->dataset));
    tm_sample_clear(&s);
  }
  tm_main_call(j->back->context, G_PRIORITY_DEFAULT_IDLE, deliver, j, job_free);
}

TmThumbs *tm_thumbs_new(TmDataset *d, int side, gsize budget) {
  TmThumbs *t = g_new0(TmThumbs, 1);
  t->back = g_new0(Back, 1);
  g_atomic_ref_count_init(&t->back->refs);
  t->back->dataset = tm_dataset_ref(d);
  t->back->side = side;
  t->back->context = g_main_context_ref_thread_default();
  t->back->front = t;
  t->pool = g_thread_pool_new(work, NULL, 2, FALSE, NULL);
  t->jobs = g_hash_table_new(NULL, NULL);
  t->kept = g_hash_table_new_full(NULL, NULL, NULL, kept_free);
  g_queue_init(&t->order);
  t->budget = budget;
  return t;
}

void tm_thumbs_free(TmThumbs *t) {
  if (!t) return;
  t->back->front = NULL;
  GHashTableIter i;
  gpointer job;
  g_hash_table_iter_init(&i, t->jobs);
  while (g_hash_table_iter_next(&i, NULL, &job)) g_atomic_int_set(&((Job *)job)->cancelled, 1);
  g_thread_pool_free(t->pool, FALSE, FALSE); /* what is queued runs through as cancelled */
  g_hash_table_unref(t->jobs);
  g_hash_table_unref(t->kept);
  back_unref(t->back);
  g_free(t);
}

TmScene *tm_thumbs_request(TmThumbs *t, guint entry, TmThumbReady ready, gpointer user, guint *id) {
  *id = 0;
  Kept *k = g_hash_table_lookup(t->kept, GUINT_TO_POINTER(entry));
  if (k) {
    g_queue_unlink(&t->order, &k->link);
    g_queue_push_head_link(&t->order, &k->link);
    return tm_scene_ref(k->scene);
  }
  Job *j = g_new0(Job, 1);
  j->back = t->back;
  g_atomic_ref_count_inc(&t->back->refs);
  j->id = *id = ++t->last_id;
  j->entry = entry;
  j->ready = ready;
  j->user = user;
  g_hash_table_insert(t->jobs, GUINT_TO_POINTER(j->id), j);
  g_thread_pool_push(t->pool, j, NULL);
  return NULL;
}

void tm_thumbs_cancel(TmThumbs *t, guint id) {
  Job *j = g_hash_table_lookup(t->jobs, GUINT_TO_POINTER(id));
  if (!j) return;
  g_atomic_int_set(&j->cancelled, 1);
  g_hash_table_steal(t->jobs, GUINT_TO_POINTER(id));
}

gsize tm_thumbs_size(TmThumbs *t) {
  return t->size;
}
