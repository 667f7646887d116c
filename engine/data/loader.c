#include "engine/data/loader.h"

#include "engine/core/tensor.h"
#include "engine/data/augment_private.h"
#include "engine/core/free_memory.h"
#include "engine/data/sample_cache.h"

#include <glib/gi18n.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Batches are numbered from 0 at the start position. Batch g lives in slot g % n_slots.
 *
 *   first <= next < first + n_slots
 *
 * first: the oldest batch whose slot is in use (borrowed by the trainer, ready, or being made); next: the
 * batch whose samples are handed out. A worker takes one sample at a time, so that several make one batch
 * together and the first batch is there soon. */

/* Workers step back behind the trainer's threads: a batch made too late costs the trainer nothing that a core
 * taken from it would not cost as well. */
enum { WORKER_NICE = 10, AHEAD = 4, MAX_SIDE = 1 << 15 };

typedef struct {
  TmBatch batch;
  guint left;    /* samples not finished yet */
  GError *error; /* of the first sample, in order, that failed */
  guint error_at;
} Slot;

struct _TmLoader {
  TmDataset *dataset;
  TmSampleCache *cache;
  TmLoaderOptions options; /* .augment: under the lock */
  guint *members;          /* the split's entries that have masks, ascending */
  guint n_members;
  guint steps;
  guint64 begin; /* epoch * steps + step of batch 0 */

  GMutex lock;
  GCond work;  /* a slot is free, or it is time to end */
  GCond ready; /* a batch is finished */
  Slot *slots;
  guint n_slots;
  guint64 first, next;
  guint next_sample; /* of batch next */
  gboolean borrowed; /* batch first is the trainer's */
  gboolean ending;
  guint *order; /* permutation of epoch order_epoch */
  guint64 order_epoch;
  double decode, augment;

  double waited; /* trainer's thread only */
  GThread **threads;
  guint n_threads;
};

static guint batch_size(const TmLoader *l, guint64 step) {
  const guint b = (guint)l->options.batch;
  if (l->n_members < b) return b;
  return MIN(b, l->n_members - (guint)step * b);
}

/* The entry that is sample @k of @epoch. Called with the lock. */
static guint member_locked(TmLoader *l, guint64 epoch, guint k) {
  if (l->order_epoch != epoch) {
    memcpy(l->order, l->members, l->n_members * sizeof *l->order);
    if (l->options.shuffle) {
      TmRandom r;
      tm_random_seed(&r, tm_random_hash(l->options.seed, epoch, G_MAXUINT64));
      tm_random_shuffle(&r, l->order, l->n_members);
    }
    l->order_epoch = epoch;
  }
  return l->order[k % l->n_members];
}

typedef struct {
  Slot *slot;
  guint at; /* in the batch */
  guint entry;
  guint64 seed;
  TmAugment augment;
} Task;

static void begin_batch_locked(TmLoader *l, Slot *s) {
  const guint64 position = l->begin + l->next;
  s->batch.epoch = (guint)(position / l->steps);
  s->batch.step = (guint)(position % l->steps);
  s->batch.n = (int)batch_size(l, s->batch.step);
  s->left = (guint)s->batch.n;
  g_clear_error(&s->error);
}

/* Waits until there is a sample to make. FALSE at the end. */
static gboolean take(TmLoader *l, Task *t) {
  g_mutex_lock(&l->lock);
  while (!l->ending && l->next >= l->first + l->n_slots) g_cond_wait(&l->work, &l->lock);
  const gboolean go = !l->ending;
  if (go) {
    Slot *s = l->slots + l->next % l->n_slots;
    if (l->next_sample == 0) begin_batch_locked(l, s);
    const guint k = s->batch.step * (guint)l->options.batch + l->next_sample;
    *t = (Task){.slot = s, .at = l->next_sample, .augment = l->options.augment};
    t->entry = member_locked(l, s->batch.epoch, k);
    t->seed = tm_random_hash(l->options.seed, s->batch.epoch, k);
    if (++l->next_sample == (guint)s->batch.n) {
      l->next_sample = 0;
      l->next++;
    }
  }
  g_mutex_unlock(&l->lock);
  return go;
}

static void make(TmLoader *l, const Task *t, double *decode, double *augment, GError **error) {
  g_auto(TmSample) own = {0};
  const TmSample *in = tm_sample_cache_get(l->cache, t->entry, &own, decode, error);
  if (!in) return;
  TmBatch *b = &t->slot->batch;
  const gsize pixels = (gsize)b->w * (gsize)b->h;
  const gint64 t0 = g_get_monotonic_time();
  TmRandom r;
  tm_random_seed(&r, t->seed);
  tm_augment_into(&t->augment, &r, in, b->pixels + t->at * pixels * 3, b->labels + t->at * pixels, error);
  b->entries[t->at] = t->entry;
  *augment += 1e-6 * (double)(g_get_monotonic_time() - t0);
}

static void finish(TmLoader *l, const Task *t, double decode, double augment, GError *error) {
  Slot *s = t->slot;
  g_mutex_lock(&l->lock);
  l->decode += decode;
  l->augment += augment;
  if (error && (!s->error || t->at < s->error_at)) {
    g_clear_error(&s->error);
    s->error = error;
    s->error_at = t->at;
  } else if (error)
    g_error_free(error);
  if (--s->left == 0) g_cond_signal(&l->ready);
  g_mutex_unlock(&l->lock);
}

static gpointer worker(gpointer data) {
  TmLoader *l = data;
  /* Linux takes a thread's id here. Refusal is harmless: the worker then competes as an equal. */
  (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), WORKER_NICE);
  Task t;
  while (take(l, &t)) {
    GError *error = NULL;
    double decode = 0, augment = 0;
    make(l, &t, &decode, &augment, &error);
    finish(l, &t, decode, augment, error);
  }
  return NULL;
}

static gboolean slot_init(Slot *s, const TmLoaderOptions *o) {
  const gsize n = (gsize)o->batch, pixels = (gsize)o->augment.crop_w * (gsize)o->augment.crop_h;
  s->batch.w = o->augment.crop_w;
  s->batch.h = o->augment.crop_h;
  if (n > G_MAXSSIZE / 3 / pixels) return FALSE;
  s->batch.pixels = tm_host_alloc(n * pixels * 3);
  s->batch.labels = tm_host_alloc(n * pixels);
  s->batch.entries = g_try_new0(guint, n);
  return s->batch.pixels && s->batch.labels && s->batch.entries;
}

static void slot_clear(Slot *s, const TmLoaderOptions *o) {
  const gsize bytes = (gsize)o->batch * (gsize)s->batch.w * (gsize)s->batch.h;
  tm_host_free(s->batch.pixels, bytes * 3);
  tm_host_free(s->batch.labels, bytes);
  g_free(s->batch.entries);
  g_clear_error(&s->error);
}

/* Decoding is a small part of a training step; more than half of the cores would only get in the trainer's
 * way. */
static guint choose_threads(const TmLoaderOptions *o) {
  if (o->threads > 0) return (guint)MIN(o->threads, 256);
  return CLAMP(g_get_num_processors() / 2, 1, 8);
}

static gboolean check_options(const TmLoaderOptions *o, GError **error) {
  const TmAugment *a = &o->augment;
  if (o->batch >= 1 && o->batch <= 65536 && o->ahead >= 0 && o->ahead <= 1024 && a->crop_w >= 1 &&
      a->crop_h >= 1 && a->crop_w <= MAX_SIDE && a->crop_h <= MAX_SIDE)
    return TRUE;
  g_set_error(error, TM_ERROR, TM_ERROR_SETTING,
              _("Batches of %d samples of %d×%d pixels cannot be made. The batch must be 1 to 65536, the "
                "crop 1 to %d."),
              o->batch, a->crop_w, a->crop_h, MAX_SIDE);
  return FALSE;
}

static gboolean find_members(TmLoader *l, GError **error) {
  const guint n = tm_dataset_n(l->dataset);
  l->members = g_new(guint, n);
  for (guint i = 0; i < n; i++) {
    const TmEntry *e = tm_dataset_entry(l->dataset, i);
    const gboolean drawn = !e->image; /* the demo roads have masks without files */
    if (e->split == l->options.split && (e->mask || drawn)) l->members[l->n_members++] = i;
  }
  l->order = g_new(guint, MAX(l->n_members, 1u));
  l->order_epoch = G_MAXUINT64;
  if (l->n_members > 0) return TRUE;
  g_set_error(error, TM_ERROR, TM_ERROR_DATA,
              _("“%s” has no pictures with masks in its %s split. Add masks, or choose another split."),
              tm_dataset_path(l->dataset), tm_split_name(l->options.split));
  return FALSE;
}

static gboolean start(TmLoader *l, GError **error) {
  const guint n = choose_threads(&l->options);
  l->threads = g_new0(GThread *, n);
  g_autoptr(GError) failure = NULL;
  while (l->n_threads < n) {
    GThread *t = g_thread_try_new("tm-loader", worker, l, failure ? NULL : &failure);
    if (!t) break;
    l->threads[l->n_threads++] = t;
  }
  if (l->n_threads > 0) return TRUE; /* fewer than asked for is slower, not wrong */
  g_set_error(error, TM_ERROR, TM_ERROR_FAILED, _("The loader's threads could not be started: %s"),
              failure ? failure->message : "");
  return FALSE;
}

/* What is promised by the system but not there ends the process when it is written to, so it is asked for
 * only where there is enough. */
static gboolean make_ring(TmLoader *l) {
  const TmLoaderOptions *o = &l->options;
  const double bytes = 4.0 * o->augment.crop_w * o->augment.crop_h * o->batch * l->n_slots;
  const gsize room = tm_free_memory();
  if (room && bytes > (double)room) return FALSE;
  l->slots = g_new0(Slot, l->n_slots);
  for (guint i = 0; i < l->n_slots; i++)
    if (!slot_init(l->slots + i, o)) return FALSE;
  return TRUE;
}

static gboolean prepare(TmLoader *l, guint epoch, guint step, GError **error) {
  const TmLoaderOptions *o = &l->options;
  if (!find_members(l, error)) return FALSE;
  const guint b = (guint)o->batch;
  l->steps = MAX(o->last == TM_LAST_KEEP ? (l->n_members + b - 1) / b : l->n_members / b, 1);
  l->begin = (guint64)epoch * l->steps + step;
  l->n_slots = (guint)(o->ahead ? o->ahead : AHEAD) + 1; /* one is borrowed by the trainer */
  if (!make_ring(l)) {
    g_set_error(
        error, TM_ERROR, TM_ERROR_NO_MEMORY,
        _("There is no memory for %u batches of %d samples of %d×%d pixels. Choose a smaller batch or crop."),
        l->n_slots, o->batch, o->augment.crop_w, o->augment.crop_h);
    return FALSE;
  }
  l->cache = tm_sample_cache_new(l->dataset, 0);
  return start(l, error);
}

TmLoader *tm_loader_new(TmDataset *d, const TmLoaderOptions *o, guint epoch, guint step, GError **error) {
  if (!check_options(o, error)) return NULL;
  g_autoptr(TmLoader) l = g_new0(TmLoader, 1);
  l->dataset = tm_dataset_ref(d);
  l->options = *o;
  g_mutex_init(&l->lock);
  g_cond_init(&l->work);
  g_cond_init(&l->ready);
  return prepare(l, epoch, step, error) ? g_steal_pointer(&l) : NULL;
}

void tm_loader_free(TmLoader *l) {
  if (!l) return;
  g_mutex_lock(&l->lock);
  l->ending = TRUE;
  g_cond_broadcast(&l->work);
  g_mutex_unlock(&l->lock);
  for (guint i = 0; i < l->n_threads; i++) g_thread_join(l->threads[i]);
  for (guint i = 0; l->slots && i < l->n_slots; i++) slot_clear(l->slots + i, &l->options);
  g_free(l->threads);
  g_free(l->slots);
  g_free(l->members);
  g_free(l->order);
  tm_sample_cache_free(l->cache);
  g_mutex_clear(&l->lock);
  g_cond_clear(&l->work);
  g_cond_clear(&l->ready);
  tm_dataset_unref(l->dataset);
  g_free(l);
}

guint tm_loader_steps(const TmLoader *l) {
  return l->steps;
}

static void release_locked(TmLoader *l) {
  if (!l->borrowed) return;
  l->borrowed = FALSE;
  l->first++;
  g_cond_broadcast(&l->work);
}

/* Is batch first finished? It is begun once next has reached or passed it. */
static gboolean finished_locked(const TmLoader *l) {
  return l->next > l->first && l->slots[l->first % l->n_slots].left == 0;
}

const TmBatch *tm_loader_next(TmLoader *l, GError **error) {
  g_mutex_lock(&l->lock);
  release_locked(l);
  if (!finished_locked(l)) {
    const gint64 t0 = g_get_monotonic_time();
    while (!finished_locked(l)) g_cond_wait(&l->ready, &l->lock);
    l->waited += 1e-6 * (double)(g_get_monotonic_time() - t0);
  }
  Slot *s = l->slots + l->first % l->n_slots;
  l->borrowed = TRUE;
  const gboolean failed = s->error != NULL;
  if (failed) {
    g_propagate_error(error, g_steal_pointer(&s->error));
    release_locked(l);
  }
  g_mutex_unlock(&l->lock);
  return failed ? NULL : &s->batch;
}

void tm_loader_set_augment(TmLoader *l, const TmAugment *a) {
  g_mutex_lock(&l->lock);
  const int w = l->options.augment.crop_w,
            h = l->options.augment.crop_h; /* the ring's buffers have this size */
  l->options.augment = *a;
  l->options.augment.crop_w = w;
  l->options.augment.crop_h = h;
  g_mutex_unlock(&l->lock);
}

void tm_loader_times(TmLoader *l, double *waited, double *decode, double *augment) {
  g_mutex_lock(&l->lock);
  if (waited) *waited = l->waited;
  if (decode) *decode = l->decode;
  if (augment) *augment = l->augment;
  g_mutex_unlock(&l->lock);
}
