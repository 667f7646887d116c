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

/* PATIENT_NICE: about a quarter of a core beside one busy thread. Enough to get a sample that was begun done
 * before its batch is due, little enough to leave the trainer's threads alone.
 * LOW_WATER: finished batches below which the urgent workers step in. */
enum { PATIENT_NICE = 5, AHEAD = 4, LOW_WATER = 2, MAX_SIDE = 1 << 15 };

/* What went wrong with a batch's samples: the first in order is told, whoever was quicker. */
typedef struct {
  GError *error;
  guint at;
} Fault;

typedef struct {
  TmBatch batch;
  guint left;     /* samples not finished yet */
  Fault replaced; /* why batch.replaced is not 0 */
  Fault failed;   /* the batch cannot be had */
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
  GCond work;   /* a slot is free, or it is time to end */
  GCond urgent; /* the ring is nearly empty, or it is time to end */
  GCond ready;  /* a batch is finished */
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
  guint at;     /* in the batch */
  guint number; /* in the epoch */
  guint entry;
  guint64 seed;
  TmAugment augment;
} Task;

static void begin_batch_locked(TmLoader *l, Slot *s) {
  const guint64 position = l->begin + l->next;
  s->batch.epoch = (guint)(position / l->steps);
  s->batch.step = (guint)(position % l->steps);
  s->batch.n = (int)batch_size(l, s->batch.step);
  s->batch.replaced = 0;
  s->batch.why = NULL;
  s->left = (guint)s->batch.n;
  g_clear_error(&s->replaced.error);
  g_clear_error(&s->failed.error);
}

static gboolean finished_locked(const TmLoader *l, guint64 batch) {
  return l->next > batch && l->slots[batch % l->n_slots].left == 0;
}

/* Are so few batches finished that the trainer may soon have to wait? */
static gboolean low_locked(const TmLoader *l) {
  const guint64 begin = l->first + (l->borrowed ? 1 : 0);
  const guint enough = MIN(LOW_WATER, l->n_slots - 1);
  for (guint i = 0; i < enough; i++)
    if (!finished_locked(l, begin + i)) return TRUE;
  return FALSE;
}

/* Is there a sample to begin for a worker of this kind? */
static gboolean wanted_locked(const TmLoader *l, gboolean urgent) {
  return l->next < l->first + l->n_slots && (!urgent || low_locked(l));
}

/* Waits until there is a sample to make. FALSE at the end. */
static gboolean take(TmLoader *l, gboolean urgent, Task *t) {
  g_mutex_lock(&l->lock);
  while (!l->ending && !wanted_locked(l, urgent)) g_cond_wait(urgent ? &l->urgent : &l->work, &l->lock);
  const gboolean go = !l->ending;
  if (go) {
    Slot *s = l->slots + l->next % l->n_slots;
    if (l->next_sample == 0) begin_batch_locked(l, s);
    const guint k = s->batch.step * (guint)l->options.batch + l->next_sample;
    *t = (Task){.slot = s, .at = l->next_sample, .number = k, .augment = l->options.augment};
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

/* What became of a sample. */
typedef struct {
  double decode, augment;   /* seconds */
  GError *replaced, *error; /* the picture's own fault; why there is no sample at all */
} Made;

/* The entry @ahead places behind the task's own in the epoch's order; FALSE when all were tried, or at the
 * end. */
static gboolean another(TmLoader *l, const Task *t, guint ahead, guint *entry) {
  g_mutex_lock(&l->lock);
  const gboolean go = !l->ending && ahead < l->n_members;
  if (go) *entry = member_locked(l, t->slot->batch.epoch, (t->number + ahead) % l->n_members);
  g_mutex_unlock(&l->lock);
  return go;
}

static void none_readable(const TmLoader *l, const GError *first, GError **error) {
  g_set_error(error, TM_ERROR, TM_ERROR_DATA, _("No picture of the %s split can be read (%u were tried). %s"),
              tm_split_name(l->options.split), l->n_members, first->message);
}

/* The task's picture or, when that cannot be read, the next of the epoch that can: t->entry says which. */
static const TmSample *read_one(TmLoader *l, Task *t, TmSample *own, Made *made) {
  GError *fault = NULL;
  const TmSample *in = tm_sample_cache_get(l->cache, t->entry, own, &made->decode, &made->replaced);
  for (guint ahead = 1; !in && another(l, t, ahead, &t->entry); ahead++) {
    in = tm_sample_cache_get(l->cache, t->entry, own, &made->decode, &fault);
    g_clear_error(&fault);
  }
  if (!in) none_readable(l, made->replaced, &made->error);
  return in;
}

static void make(TmLoader *l, Task *t, Made *made) {
  g_auto(TmSample) own = {0};
  const TmSample *in = read_one(l, t, &own, made);
  if (!in) return;
  TmBatch *b = &t->slot->batch;
  const gsize pixels = (gsize)b->w * (gsize)b->h;
  const gint64 t0 = g_get_monotonic_time();
  TmRandom r;
  tm_random_seed(&r, t->seed);
  tm_augment_into(&t->augment, &r, in, b->pixels + t->at * pixels * 3, b->labels + t->at * pixels,
                  &made->error);
  b->entries[t->at] = t->entry;
  made->augment = 1e-6 * (double)(g_get_monotonic_time() - t0);
}

static void add_fault(Fault *f, guint at, GError *error) {
  if (!error) return;
  if (f->error && f->at < at) {
    g_error_free(error);
    return;
  }
  g_clear_error(&f->error);
  *f = (Fault){.error = error, .at = at};
}

static void finish(TmLoader *l, const Task *t, const Made *made) {
  Slot *s = t->slot;
  g_mutex_lock(&l->lock);
  l->decode += made->decode;
  l->augment += made->augment;
  s->batch.replaced += made->replaced != NULL;
  add_fault(&s->replaced, t->at, made->replaced);
  add_fault(&s->failed, t->at, made->error);
  if (--s->left == 0) g_cond_signal(&l->ready);
  g_mutex_unlock(&l->lock);
}

static void work(TmLoader *l, gboolean urgent) {
  Task t;
  while (take(l, urgent, &t)) {
    Made made = {0};
    make(l, &t, &made);
    finish(l, &t, &made);
  }
}

static gpointer patient_worker(gpointer loader) {
  /* Linux takes a thread's id here. Refusal is harmless: the worker then competes as an equal. */
  (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), PATIENT_NICE);
  work(loader, FALSE);
  return NULL;
}

static gpointer urgent_worker(gpointer loader) {
  work(loader, TRUE);
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
  g_clear_error(&s->replaced.error);
  g_clear_error(&s->failed.error);
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
    if (e->split == l->options.split && !e->left_out && (e->mask || drawn)) l->members[l->n_members++] = i;
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
  const guint n = 2 * choose_threads(&l->options);
  l->threads = g_new0(GThread *, n);
  g_autoptr(GError) failure = NULL;
  while (l->n_threads <
         n) { /* a patient one first: with one thread alone there must be no low water to wait for */
    GThread *t = g_thread_try_new("tm-loader", l->n_threads % 2 ? urgent_worker : patient_worker, l,
                                  failure ? NULL : &failure);
    if (!t) break;
    l->threads[l->n_threads++] = t;
  }
  if (l->n_threads > 0) return TRUE; /* fewer than asked for is slower, not wrong */
  g_set_error(error, TM_ERROR, TM_ERROR_FAILED, _("The loader's threads could not be started: %s"),
              failure ? failure->message : "");
  return FALSE;
}

static guint slots_of(const TmLoaderOptions *o) {
  return (guint)(o->ahead ? o->ahead : AHEAD) + 1; /* one is borrowed by the trainer */
}

static double ring_bytes(const TmLoaderOptions *o) {
  return 4.0 * o->augment.crop_w * o->augment.crop_h * o->batch * slots_of(o);
}

gsize tm_loader_memory(const TmLoaderOptions *o, gsize pictures) {
  return (gsize)ring_bytes(o) + tm_sample_cache_memory(o->kept, pictures);
}

/* What is promised by the system but not there ends the process when it is written to, so it is asked for
 * only where there is enough. */
static gboolean make_ring(TmLoader *l) {
  const TmLoaderOptions *o = &l->options;
  const double bytes = ring_bytes(o);
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
  l->n_slots = slots_of(o);
  if (!make_ring(l)) {
    g_set_error(
        error, TM_ERROR, TM_ERROR_NO_MEMORY,
        _("There is no memory for %u batches of %d samples of %d×%d pixels. Choose a smaller batch or crop."),
        l->n_slots, o->batch, o->augment.crop_w, o->augment.crop_h);
    return FALSE;
  }
  l->cache = tm_sample_cache_new(l->dataset, o->kept, o->store);
  return start(l, error);
}

TmLoader *tm_loader_new(TmDataset *d, const TmLoaderOptions *o, guint epoch, guint step, GError **error) {
  if (!check_options(o, error)) return NULL;
  g_autoptr(TmLoader) l = g_new0(TmLoader, 1);
  l->dataset = tm_dataset_ref(d);
  l->options = *o;
  g_mutex_init(&l->lock);
  g_cond_init(&l->work);
  g_cond_init(&l->urgent);
  g_cond_init(&l->ready);
  return prepare(l, epoch, step, error) ? g_steal_pointer(&l) : NULL;
}

void tm_loader_free(TmLoader *l) {
  if (!l) return;
  g_mutex_lock(&l->lock);
  l->ending = TRUE;
  g_cond_broadcast(&l->work);
  g_cond_broadcast(&l->urgent);
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
  g_cond_clear(&l->urgent);
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
  if (low_locked(l)) g_cond_broadcast(&l->urgent);
}

const TmBatch *tm_loader_next(TmLoader *l, GError **error) {
  g_mutex_lock(&l->lock);
  release_locked(l);
  if (!finished_locked(l, l->first)) {
    const gint64 t0 = g_get_monotonic_time();
    while (!finished_locked(l, l->first)) g_cond_wait(&l->ready, &l->lock);
    l->waited += 1e-6 * (double)(g_get_monotonic_time() - t0);
  }
  Slot *s = l->slots + l->first % l->n_slots;
  l->borrowed = TRUE;
  if (low_locked(l)) g_cond_broadcast(&l->urgent);
  if (s->replaced.error) s->batch.why = s->replaced.error->message;
  const gboolean failed = s->failed.error != NULL;
  if (failed) {
    g_propagate_error(error, g_steal_pointer(&s->failed.error));
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
