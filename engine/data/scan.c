#include "engine/data/scan.h"

#include <glib/gi18n.h>
#include <math.h>

#include "engine/data/dataset_private.h"
#include "engine/data/image.h"
#include "engine/data/picture_key.h"
#include "engine/data/scan_entry.h"
#include "engine/data/scan_store.h"

enum { PROGRESS_GAP_US = 100000, MOST_THREADS = 64 };

/* A picture seen first with something harmless, and how many there are. */
typedef struct {
  guint count, first;
} Tally;

typedef struct {
  const TmDataset *d;
  const TmScan *before; /* (optional) what may be copied instead of read; with @same */
  const guint *same;    /* the entry's index + 1 in @before; 0: it must be read */
  TmScanStore *store;   /* (optional) what earlier scans learned */
  TmPictureStore *pictures; /* (optional) takes what is decoded */
  char *classes;            /* for its keys */
  char **keys;              /* by entry: those of files that can be kept; each set by one thread */
  gint learned;             /* atomic: something that the store does not have */
  gint next, cancelled; /* atomic */
  TmScanProgress progress;
  gpointer user;
  GMutex lock; /* the next two */
  guint done;
  gint64 told;
  TmScan *scan;
  Tally traits[TM_IMAGE_N_TRAITS], flat_rgb;
  guint64 n, sum[3], squares[3]; /* of usable train pictures */
} Job;

TmScan *tm_scan_ref(TmScan *s) {
  g_atomic_int_inc(&s->extra_refs);
  return s;
}

void tm_scan_free(TmScan *s) {
  if (!s || g_atomic_int_add(&s->extra_refs, -1) > 0) return;
  g_ptr_array_unref(s->findings);
  for (guint i = 0; i < s->n_entries; i++) tm_entry_scan_clear(&s->entries[i]);
  g_free(s->entries);
  g_free(s->leave_out);
  g_free(s);
}

/* ---- reading ---- */

static void tell(Job *j) {
  g_mutex_lock(&j->lock);
  j->done++;
  const gint64 now = g_get_monotonic_time();
  if (j->progress && now - j->told >= PROGRESS_GAP_US) {
    j->told = now;
    if (!j->progress(j->done, j->scan->n_entries, j->user)) g_atomic_int_set(&j->cancelled, TRUE);
  }
  g_mutex_unlock(&j->lock);
}

/* Only what was the same before and after is kept, or something in between was decoded. */
static void keep_picture(Job *j, guint i, const char *before, const TmSample *decoded) {
  const TmEntry *e = tm_dataset_at(j->d, i);
  g_autofree char *now = decoded->rgb ? tm_picture_key(e, j->classes) : NULL;
  if (now && g_strcmp0(now, before) == 0) tm_picture_store_put(j->pictures, now, decoded);
}

/* From the store, or else from the files. */
static void learn(Job *j, guint i) {
  TmEntryScan *out = &j->scan->entries[i];
  g_autofree char *key = j->store ? tm_scan_store_key(j->store, i) : NULL;
  if (key && tm_scan_store_get(j->store, key, i, out)) {
    j->keys[i] = g_steal_pointer(&key);
    return;
  }
  g_auto(TmSample) decoded = {0};
  g_autofree char *picture = j->pictures ? tm_picture_key(tm_dataset_at(j->d, i), j->classes) : NULL;
  tm_entry_scan_clear(out);
  tm_entry_scan(j->d, i, picture ? &decoded : NULL, out);
  if (picture) keep_picture(j, i, picture, &decoded);
  g_autofree char *now = key ? tm_scan_store_key(j->store, i) : NULL;
  if (!now || !g_str_equal(now, key)) return;
  j->keys[i] = g_steal_pointer(&key);
  g_atomic_int_set(&j->learned, TRUE);
}

static gpointer work(gpointer data) {
  Job *j = data;
  for (;;) {
    const guint i = (guint)g_atomic_int_add(&j->next, 1);
    if (i >= j->scan->n_entries || g_atomic_int_get(&j->cancelled)) return NULL;
    if (j->same && j->same[i])
      tm_entry_scan_copy(&j->before->entries[j->same[i] - 1], j->d->classes->n, i, &j->scan->entries[i]);
    else
      learn(j, i);
    tell(j);
  }
}

/* The caller's thread works too, so a system that gives no thread only makes it slower. */
static void run_threads(Job *j, int threads) {
  const guint wanted = threads > 0 ? (guint)threads : g_get_num_processors();
  const guint n = MIN(MIN(wanted, MOST_THREADS), MAX(j->scan->n_entries, 1)) - 1;
  GThread *extra[MOST_THREADS] = {NULL};
  for (guint k = 0; k < n; k++) extra[k] = g_thread_try_new("tarmac-scan", work, j, NULL);
  work(j);
  for (guint k = 0; k < n; k++)
    if (extra[k]) g_thread_join(extra[k]);
}

/* ---- summing up: in the order of the entries, so that threads change nothing ---- */

static void tally(Tally *t, guint i) {
  t->first = t->count++ == 0 ? i : MIN(t->first, i);
}

static void take_sizes(TmScan *s, const TmEntryScan *e) {
  s->min_w = s->min_w ? MIN(s->min_w, e->w) : e->w;
  s->min_h = s->min_h ? MIN(s->min_h, e->h) : e->h;
  s->max_w = MAX(s->max_w, e->w);
  s->max_h = MAX(s->max_h, e->h);
}

static void take_usable(Job *j, TmSplit split, const TmEntryScan *e) {
  TmScan *s = j->scan;
  const guint n = j->d->classes->n;
  take_sizes(s, e);
  for (guint c = 0; c < n; c++) {
    s->pixels[split][c] += e->pixels[c];
    s->pictures[split][c] += e->pixels[c] > 0;
  }
  s->pixels[split][TM_MAX_CLASSES] += e->pixels[n];
  if (split != TM_SPLIT_TRAIN) return;
  j->n += e->n;
  for (int c = 0; c < 3; c++) {
    j->sum[c] += e->sum[c];
    j->squares[c] += e->squares[c];
  }
}

/* What the project leaves out is settled: its findings are not told again. */
static void take(Job *j, guint i) {
  TmScan *s = j->scan;
  const TmEntryScan *e = &s->entries[i];
  const TmEntry *entry = tm_dataset_at(j->d, i);
  s->leave_out[i] = !e->usable || entry->left_out;
  s->n_left_out += s->leave_out[i];
  if (entry->left_out) return;
  for (guint t = 0; t < TM_IMAGE_N_TRAITS; t++)
    if (e->traits & 1u << t) tally(&j->traits[t], i);
  if (e->flat_rgb) tally(&j->flat_rgb, i);
  for (guint k = 0; e->findings && k < e->findings->len; k++) {
    const TmFinding *f = e->findings->pdata[k];
    tm_finding_add(s->findings, f->kind, f->entry, f->leaves_out, g_strdup(f->text));
  }
  if (e->usable) take_usable(j, entry->split, e);
}

/* The net divides by std, so it is at least one grey level; without pictures the normalisation leaves values
 * as they are. */
static void finish_statistics(const Job *j) {
  for (int c = 0; c < 3; c++) {
    const long double n = j->n, mean = n > 0 ? j->sum[c] / n : 0;
    const long double variance = n > 0 ? j->squares[c] / n - mean * mean : 1;
    j->scan->mean[c] = (double)mean;
    j->scan->std[c] = MAX((double)sqrtl(MAX(variance, 0.0L)), 1.0);
  }
}

static void add_note(TmScan *s, const TmDataset *d, const Tally *t, const char *what) {
  if (t->count == 0) return;
  const TmEntry *e = tm_dataset_at(d, t->first);
  tm_finding_add(s->findings, TM_FINDING_NOTE, t->count == 1 ? t->first : G_MAXUINT, FALSE,
                 t->count == 1
                     ? g_strdup_printf("%s: %s", e->name, what)
                     : g_strdup_printf(_("%u pictures, the first %s: %s"), t->count, e->name, what));
}

static void add_notes(Job *j) {
  const char *const texts[TM_IMAGE_N_TRAITS] = {
      _("grey, the one channel is used for red, green and blue"),
      _("has transparency, which is dropped; colours are used as stored"),
      _("16 bits a channel, rounded to 8"),
      _("palette picture, its colours were looked up"),
      _("CMYK, converted to RGB without a colour profile"),
      _("turned upright as its EXIF orientation says"),
      _("its EXIF orientation is not followed, since the mask fits the picture as stored"),
      _("the decoder warned of something that leaves the pixels right, such as a damaged colour profile"),
  };
  for (guint t = 0; t < TM_IMAGE_N_TRAITS; t++) add_note(j->scan, j->d, &j->traits[t], texts[t]);
  add_note(j->scan, j->d, &j->flat_rgb, _("its mask is RGB with R = G = B and was read as grey values"));
}

static void add_absent(TmScan *s, const TmDataset *d) {
  for (TmSplit split = TM_SPLIT_TRAIN; split <= TM_SPLIT_VAL; split++)
    for (guint c = 0; d->n_split[split] > 0 && c < d->classes->n; c++)
      if (s->pixels[split][c] == 0)
        tm_finding_add(
            s->findings, TM_FINDING_CLASS_ABSENT, G_MAXUINT, FALSE,
            split == TM_SPLIT_TRAIN
                ? g_strdup_printf(_("“%s” has no pixels in the training pictures: it cannot be learned and "
                                    "gets no weight."),
                                  d->classes->classes[c].name)
                : g_strdup_printf(
                      _("“%s” has no pixels in the validation pictures: its score is shown as n/a."),
                      d->classes->classes[c].name));
}

static void add_sizes(TmScan *s) {
  if (s->min_w == s->max_w && s->min_h == s->max_h) return;
  tm_finding_add(
      s->findings, TM_FINDING_NOTE, G_MAXUINT, FALSE,
      g_strdup_printf(
          _("The pictures have several sizes, from %d to %d pixels wide and %d to %d high. Training cuts "
            "crops of one size and pads smaller pictures with void; prediction keeps each size."),
          s->min_w, s->max_w, s->min_h, s->max_h));
}

static int by_entry(gconstpointer a, gconstpointer b) {
  const TmFinding *x = *(TmFinding *const *)a, *y = *(TmFinding *const *)b;
  if (x->entry != y->entry) return x->entry < y->entry ? -1 : 1;
  return (int)x->kind - (int)y->kind;
}

static TmScan *run(Job *j, int threads, GError **error) {
  const TmDataset *d = j->d;
  g_autoptr(TmScan) s = g_new0(TmScan, 1);
  s->n_entries = tm_dataset_n(d);
  s->findings = g_ptr_array_new_with_free_func(tm_finding_free);
  s->leave_out = g_new0(gboolean, MAX(s->n_entries, 1));
  s->entries = g_new0(TmEntryScan, MAX(s->n_entries, 1));
  j->scan = s;
  g_autoptr(TmScanStore) store = j->store = tm_scan_store_new(d);
  g_autoptr(GPtrArray) keys = g_ptr_array_new_full(s->n_entries, g_free);
  g_ptr_array_set_size(keys, (int)s->n_entries);
  j->keys = (char **)keys->pdata;
  g_autofree char *classes = j->classes = j->pictures ? tm_picture_key_classes(d->classes) : NULL;
  g_mutex_init(&j->lock);
  run_threads(j, threads);
  g_mutex_clear(&j->lock);
  if (!g_atomic_int_get(&j->cancelled) && j->progress && !j->progress(s->n_entries, s->n_entries, j->user))
    j->cancelled = TRUE;
  if (j->cancelled) {
    g_set_error(error, TM_ERROR, TM_ERROR_CANCELLED, _("The scan was cancelled."));
    return NULL;
  }
  if (j->learned) tm_scan_store_save(store, s->n_entries, j->keys, s->entries);
  for (guint i = 0; i < s->n_entries; i++) take(j, i);
  finish_statistics(j);
  add_absent(s, d);
  add_sizes(s);
  add_notes(j);
  g_ptr_array_sort(s->findings, by_entry);
  return g_steal_pointer(&s);
}

TmScan *tm_scan_run(const TmDataset *d, int threads, TmScanProgress progress, gpointer user, GError **error) {
  return tm_scan_keep(d, NULL, threads, progress, user, error);
}

TmScan *tm_scan_keep(const TmDataset *d, TmPictureStore *pictures, int threads, TmScanProgress progress,
                     gpointer user, GError **error) {
  Job j = {.d = d, .pictures = pictures, .progress = progress, .user = user};
  return run(&j, threads, error);
}

static guint *find_same(const TmDataset *of, const TmDataset *d) {
  const guint n = tm_dataset_n(d);
  guint *same = g_new0(guint, MAX(n, 1));
  if (!tm_class_table_same_labels(of->classes, d->classes)) return same;
  g_autoptr(GHashTable) by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < tm_dataset_n(of); i++)
    g_hash_table_insert(by_key, tm_dataset_key(of, i), GUINT_TO_POINTER(i + 1));
  for (guint i = 0; i < n; i++) {
    g_autofree char *key = tm_dataset_key(d, i);
    const guint k = GPOINTER_TO_UINT(g_hash_table_lookup(by_key, key));
    if (k && g_strcmp0(tm_dataset_at(of, k - 1)->layer, tm_dataset_at(d, i)->layer) == 0) same[i] = k;
  }
  return same;
}

TmScan *tm_scan_again(const TmScan *before, const TmDataset *of, const TmDataset *d, int threads,
                      TmScanProgress progress, gpointer user, GError **error) {
  g_autofree guint *same = before->entries ? find_same(of, d) : NULL;
  Job j = {.d = d, .before = before, .same = same, .progress = progress, .user = user};
  return run(&j, threads, error);
}
