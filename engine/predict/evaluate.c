#include "engine/predict/evaluate.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "engine/core/label.h"
#include "engine/predict/boundary.h"
#include "engine/predict/class_match.h"
#include "engine/predict/predictor-private.h"

gboolean tm_predictor_same_classes(const TmClassTable *net, const TmClassTable *data, GError **error) {
  if (net->n != data->n) {
    g_set_error(error, TM_ERROR, TM_ERROR_DATA,
                _("The network knows %u classes (%s) and the dataset has %u (%s). Evaluate it on data with "
                  "the classes it learned."),
                net->n, net->source ? net->source : "", data->n, data->source ? data->source : "");
    return FALSE;
  }
  for (guint i = 0; i < net->n; i++) {
    if (g_utf8_collate(net->classes[i].name, data->classes[i].name) == 0) continue;
    g_set_error(error, TM_ERROR, TM_ERROR_DATA,
                _("Class %u is “%s” in the network and “%s” in the dataset. Evaluate it on data with the "
                  "classes it learned, in their order."),
                i, net->classes[i].name, data->classes[i].name);
    return FALSE;
  }
  return TRUE;
}

/* One evaluation under way. */
typedef struct {
  TmPredictor *p;
  const TmDataset *d;
  const guint8 *match;
  gboolean known[256]; /* with @match: data classes that the net can name */
  TmEvaluation *e;
  TmConfusion *picture; /* of one picture */
  double *f1;           /* by class */
} Job;

static gboolean no_memory(const TmSample *s, GError **error) {
  g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY, _("There is no memory for a mask of %d×%d pixels."), s->w,
              s->h);
  return FALSE;
}

static gboolean predict(Job *j, const TmSample *s, guint8 *labels, float *sure, GError **error) {
  const gint64 begin = g_get_monotonic_time();
  const gboolean ok = sure ? tm_predictor_run_sure(j->p, s->rgb, s->w, s->h, labels, sure, error)
                           : tm_predictor_run(j->p, s->rgb, s->w, s->h, labels, error);
  j->e->seconds += (double)(g_get_monotonic_time() - begin) / G_USEC_PER_SEC;
  return ok;
}

/* Into the data's classes. */
static void translate(const Job *j, guint8 *truth, guint8 *labels, gsize pixels) {
  if (!j->match) return;
  for (gsize i = 0; i < pixels; i++) {
    labels[i] = j->match[labels[i]];
    if (!j->known[truth[i]]) truth[i] = TM_VOID;
  }
}

static GArray *cells_of(const TmConfusion *c) {
  GArray *cells = g_array_new(FALSE, FALSE, sizeof(TmCell));
  for (guint t = 0; t < c->n; t++)
    for (guint k = 0; k < c->n; k++) {
      const guint64 pixels = c->pixels[(gsize)t * c->n + k];
      if (pixels) g_array_append_vals(cells, &(TmCell){(guint8)t, (guint8)k, pixels}, 1);
    }
  return cells;
}

static double add_boundaries(TmEvaluation *e, const double *f1) {
  double sum = 0;
  guint n = 0;
  for (guint c = 0; c < e->classes->n; c++) {
    if (isnan(f1[c])) continue;
    e->boundary_sum[c] += f1[c];
    e->boundary_n[c]++;
    sum += f1[c];
    n++;
  }
  return n ? sum / n : NAN;
}

static gboolean count(Job *j, guint entry, const TmSample *s, const guint8 *labels, const float *sure,
                      GError **error) {
  TmEvaluation *e = j->e;
  const guint n = e->classes->n;
  const gsize pixels = (gsize)s->w * (gsize)s->h;
  if (!tm_boundary_f1(s->labels, labels, s->w, s->h, n, TM_BOUNDARY_BAND, j->f1, error) ||
      !tm_regions_add(s->labels, labels, s->w, s->h, n, e->regions, error))
    return FALSE;
  tm_confusion_clear(j->picture);
  tm_confusion_add_labels(j->picture, s->labels, labels, pixels);
  TmPictureScore *score = g_new0(TmPictureScore, 1);
  score->name = g_strdup(tm_dataset_entry(j->d, entry)->name);
  score->entry = entry;
  score->cells = cells_of(j->picture);
  score->boundary_f1 = add_boundaries(e, j->f1);
  g_ptr_array_add(e->pictures, score);
  for (gsize i = 0; i < (gsize)n * n; i++) e->confusion->pixels[i] += j->picture->pixels[i];
  if (sure) tm_reliability_add(e->bins, s->labels, labels, sure, pixels, n);
  return TRUE;
}

static gboolean add_entry(Job *j, guint entry, GError **error) {
  g_auto(TmSample) s = {0};
  if (!tm_dataset_read(j->d, entry, &s, error)) return FALSE;
  if (!s.labels) return TRUE;
  const gsize pixels = (gsize)s.w * (gsize)s.h;
  g_autofree guint8 *labels = g_try_malloc(pixels);
  g_autofree float *sure = j->e->tells_sureness ? g_try_malloc(pixels * sizeof(float)) : NULL;
  if (!labels || (j->e->tells_sureness && !sure)) return no_memory(&s, error);
  if (!predict(j, &s, labels, sure, error)) return FALSE;
  translate(j, s.labels, labels, pixels);
  return count(j, entry, &s, labels, sure, error);
}

/* Demo roads have masks without files. */
static gboolean is_judged(const TmDataset *d, guint i, TmSplit split) {
  const TmEntry *e = tm_dataset_entry(d, i);
  return e->split == split && !e->left_out && (e->mask || !e->image);
}

/* The picture's own fault: the next one may be better. */
static gboolean is_unreadable(const GError *e) {
  return g_error_matches(e, TM_ERROR, TM_ERROR_DATA) || g_error_matches(e, TM_ERROR, TM_ERROR_FILE) ||
         g_error_matches(e, TM_ERROR, TM_ERROR_CORRUPT);
}

static gboolean each_entry(Job *j, TmSplit split, guint total, TmEvaluateProgress progress, gpointer user,
                           GError **error) {
  guint done = 0;
  for (guint i = 0; i < tm_dataset_n(j->d); i++) {
    if (!is_judged(j->d, i, split)) continue;
    g_autoptr(GError) why = NULL;
    if (!add_entry(j, i, &why)) {
      if (!is_unreadable(why)) {
        g_propagate_error(error, g_steal_pointer(&why));
        return FALSE;
      }
      g_ptr_array_add(j->e->unreadable, g_strdup(why->message));
    }
    if (progress && !progress(j->e, ++done, total, user)) {
      g_set_error_literal(error, TM_ERROR, TM_ERROR_CANCELLED, _("The evaluation was stopped."));
      return FALSE;
    }
  }
  if (j->e->pictures->len) return TRUE;
  g_set_error(error, TM_ERROR, TM_ERROR_DATA, _("None of the pictures can be read. The first: %s"),
              j->e->unreadable->len ? (const char *)j->e->unreadable->pdata[0] : "");
  return FALSE;
}

static gboolean set_match(Job *j, const TmEvaluateOptions *o, GError **error) {
  const TmClassTable *net = tm_predictor_classes(j->p), *data = tm_dataset_classes(j->d);
  if (!o->match) return tm_predictor_same_classes(net, data, error);
  for (guint i = 0; i < net->n; i++) {
    if (o->match[i] >= data->n) {
      g_set_error(error, TM_ERROR, TM_ERROR_DATA,
                  _("The network's class “%s” is matched with no class of the data. Choose one."),
                  net->classes[i].name);
      return FALSE;
    }
    j->known[o->match[i]] = TRUE;
  }
  j->match = o->match;
  j->e->left_out = tm_class_match_unknown(data, o->match, net->n);
  return TRUE;
}

static void describe(TmEvaluation *e, const TmPredictor *p, const TmDataset *d, TmSplit split) {
  e->checkpoint = g_strdup(tm_predictor_checkpoint(p));
  e->precision = g_strdup(tm_predictor_precision(p));
  e->epoch = tm_predictor_epoch(p);
  e->dataset = g_filename_display_name(tm_dataset_path(d));
  e->dataset_hash = g_strdup(tm_dataset_hash(d));
  e->split = split;
  e->tells_sureness = tm_predictor_tells_sureness(p);
}

TmEvaluation *tm_evaluate(TmPredictor *p, const TmDataset *d, const TmEvaluateOptions *o,
                          TmEvaluateProgress progress, gpointer user, GError **error) {
  const TmClassTable *classes = tm_dataset_classes(d);
  g_autoptr(TmEvaluation) e = tm_evaluation_new(classes);
  g_autoptr(TmConfusion) picture = tm_confusion_new(classes->n);
  g_autofree double *f1 = g_new(double, MAX(classes->n, 1));
  Job j = {.p = p, .d = d, .e = e, .picture = picture, .f1 = f1};
  describe(e, p, d, o->split);
  if (!set_match(&j, o, error)) return NULL;
  guint total = 0;
  for (guint i = 0; i < tm_dataset_n(d); i++) total += is_judged(d, i, o->split) ? 1 : 0;
  if (total == 0) {
    g_set_error(error, TM_ERROR, TM_ERROR_DATA,
                _("“%s” has no pictures with masks in the split “%s”. Choose another split."),
                tm_dataset_path(d), tm_split_name(o->split));
    return NULL;
  }
  return each_entry(&j, o->split, total, progress, user, error) ? g_steal_pointer(&e) : NULL;
}
