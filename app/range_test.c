#include "app/range_test.h"

#include "ui/main_call.h"

struct _TmRangeTest {
  gatomicrefcount refs;
  TmDataset *dataset;
  TmScan scan; /* a copy without the findings: the project's may go meanwhile */
  gboolean has_scan;
  TmSettings settings;
  gint cancel, pending; /* atomic */
  TmRangeTestFunc changed; /* main thread; NULL: nobody listens any more */
  gpointer user;
  GMutex lock;
  GArray *rates, *losses; /* under lock, as the three below */
  guint total;
  TmLrRange *result;
  GError *error;
  gboolean ended;
};

static void unref(gpointer p) {
  TmRangeTest *t = p;
  if (!g_atomic_ref_count_dec(&t->refs)) return;
  tm_dataset_unref(t->dataset);
  g_free(t->scan.leave_out);
  g_array_unref(t->rates);
  g_array_unref(t->losses);
  tm_lr_range_free(t->result);
  g_clear_error(&t->error);
  g_mutex_clear(&t->lock);
  g_free(t);
}

static gboolean tell_now(gpointer p) {
  TmRangeTest *t = p;
  g_atomic_int_set(&t->pending, 0);
  if (t->changed) t->changed(t, t->user);
  return G_SOURCE_REMOVE;
}

static void tell(TmRangeTest *t) {
  if (!g_atomic_int_compare_and_exchange(&t->pending, 0, 1)) return;
  g_atomic_ref_count_inc(&t->refs);
  tm_main_call(NULL, G_PRIORITY_DEFAULT_IDLE, tell_now, t, unref);
}

static void progress(guint done, guint total, double rate, double loss, double smooth, gpointer user) {
  TmRangeTest *t = user;
  (void)done;
  (void)smooth;
  g_mutex_lock(&t->lock);
  g_array_append_val(t->rates, rate);
  g_array_append_val(t->losses, loss);
  t->total = total;
  g_mutex_unlock(&t->lock);
  tell(t);
}

static gpointer work(gpointer p) {
  TmRangeTest *t = p;
  GError *error = NULL;
  TmLrRange *r =
      tm_lr_range(t->dataset, t->has_scan ? &t->scan : NULL, &t->settings, NULL, &t->cancel, progress, t, &error);
  g_mutex_lock(&t->lock);
  t->result = r;
  t->error = error;
  t->ended = TRUE;
  g_mutex_unlock(&t->lock);
  tell(t);
  unref(t);
  return NULL;
}

TmRangeTest *tm_range_test_new(TmDataset *d, const TmScan *scan, const TmSettings *s, TmRangeTestFunc changed, gpointer user) {
  TmRangeTest *t = g_new0(TmRangeTest, 1);
  g_atomic_ref_count_init(&t->refs);
  g_atomic_ref_count_inc(&t->refs); /* the thread's */
  t->dataset = tm_dataset_ref(d);
  if (scan) {
    t->has_scan = TRUE;
    t->scan = *scan;
    t->scan.findings = NULL;
    t->scan.leave_out = g_memdup2(scan->leave_out, scan->n_entries * sizeof *scan->leave_out);
  }
  t->settings = *s;
  t->changed = changed;
  t->user = user;
  g_mutex_init(&t->lock);
  t->rates = g_array_new(FALSE, FALSE, sizeof(double));
  t->losses = g_array_new(FALSE, FALSE, sizeof(double));
  g_thread_unref(g_thread_new("range-test", work, t));
  return t;
}

void tm_range_test_free(TmRangeTest *t) {
  if (!t) return;
  t->changed = NULL;
  g_atomic_int_set(&t->cancel, 1);
  unref(t);
}

guint tm_range_test_points(TmRangeTest *t, GArray *rates, GArray *losses) {
  g_array_set_size(rates, 0);
  g_array_set_size(losses, 0);
  g_mutex_lock(&t->lock);
  if (t->rates->len) {
    g_array_append_vals(rates, t->rates->data, t->rates->len);
    g_array_append_vals(losses, t->losses->data, t->losses->len);
  }
  const guint total = t->total;
  g_mutex_unlock(&t->lock);
  return total;
}

const TmLrRange *tm_range_test_result(TmRangeTest *t, const GError **error) {
  g_mutex_lock(&t->lock);
  const TmLrRange *r = t->result;
  if (error) *error = t->error;
  g_mutex_unlock(&t->lock);
  return r;
}

gboolean tm_range_test_ended(TmRangeTest *t) {
  g_mutex_lock(&t->lock);
  const gboolean ended = t->ended;
  g_mutex_unlock(&t->lock);
  return ended;
}
