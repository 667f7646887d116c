#include "engine/train/estimate.h"

#include <glib/gi18n.h>
#include <string.h>

#include "engine/core/free_memory.h"
#include "engine/train/layers.h"
#include "engine/train/rates.h"
#include "engine/train/recompute.h"
#include "engine/train/session.h"

/* What is being estimated, and with what. */
typedef struct {
  const TmSettings *settings;
  const TmScan *scan;
  TmDataset *data; /* without what the scan left out */
  guint classes;
  TmBackend *backend;
  gboolean borrowed; /* the backend */
  TmRates *rates;
  TmTrainGraph train;
  TmProgram *plan;
  int crop_w, crop_h;
  gsize guests[TM_GUESTS]; /* arenas of the programs that judge and draw */
  guint n_guests;
  TmEstimate *out;
} Job;

static void job_clear(Job *j) {
  tm_program_free(j->plan);
  tm_train_graph_clear(&j->train);
  tm_rates_free(j->rates);
  if (j->backend && !j->borrowed) tm_backend_close(j->backend);
  g_clear_pointer(&j->data, tm_dataset_unref);
  tm_estimate_free(j->out);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Job, job_clear)

/* ---- the layers ---- */

static gboolean count_steps(Job *j, const TmLayers *l, GError **error) {
  for (guint i = 0; i < j->plan->n_steps; i++) {
    const TmNode *n = j->plan->steps[i].node;
    TmEstimateLayer *layer = &j->out->layers[l->of[n->id]];
    double seconds;
    if (!tm_rates_step(j->rates, j->plan, i, &seconds, error)) return FALSE;
    *(n->id < j->train.n_forward ? &layer->forward_s : &layer->backward_s) += seconds;
    layer->flops += tm_node_flops(n);
    j->out->step_s += seconds;
  }
  return TRUE;
}

static gboolean count_layers(Job *j, GError **error) {
  g_autoptr(TmLayers) l = tm_layers_new(&j->train);
  TmEstimate *e = j->out;
  e->n_layers = l->n;
  e->layers = g_new0(TmEstimateLayer, l->n);
  for (guint i = 0; i < l->n; i++) e->layers[i].name = l->names[i];
  for (guint id = 0; id < j->train.n_forward; id++) {
    const TmNode *n = tm_graph_node(j->train.graph, id);
    TmEstimateLayer *layer = &e->layers[l->of[id]];
    if (n->op == TM_OP_PARAM) layer->parameters += tm_shape_count(n->shape);
    if (n->kind == TM_KIND_ACT && n->op != TM_OP_CONCAT && n->op != TM_OP_MAX_POOL) layer->shape = n->shape;
  }
  g_autofree gsize *stored = g_new0(gsize, l->n);
  tm_layers_stored(l, &j->train, j->plan, stored);
  for (guint i = 0; i < l->n; i++) e->layers[i].stored = stored[i];
  return count_steps(j, l, error);
}

/* ---- what surrounds the step ---- */

/* As tm_params_new() and the session lay them out: gaps between tensors are too small to matter. */
static gboolean count_arrays(Job *j, GError **error) {
  TmEstimate *e = j->out;
  const TmSettings *s = j->settings;
  gsize n = 0, states = 0, largest = 0;
  for (guint id = 0; id < j->train.n_forward; id++) {
    const TmNode *node = tm_graph_node(j->train.graph, id);
    if (node->op == TM_OP_PARAM) n += tm_shape_count(node->shape);
    if (node->op == TM_OP_PARAM) largest = MAX(largest, tm_shape_count(node->shape));
    if (node->op == TM_OP_STATE) states += tm_shape_count(node->shape);
  }
  const gsize moments = g_str_equal(s->optimizer, "sgd") ? 1 : 2, averages = s->ema > 0 ? 1 : 0;
  e->weights = (n * (2 + moments + 2 * averages) + 2 * states) * sizeof(float);
  e->checkpoint = 2 * largest * sizeof(float); /* to fetch and to turn one tensor */
  e->resume = (n * (1 + moments + averages) + states) * sizeof(float) + e->checkpoint;
  /* The norm reads the gradient; the update reads and writes weights, moments and average; packing follows.
   */
  if (s->accumulate > 1) e->weights += n * sizeof(float);
  const double passed = (double)n * (double)(1 + 1 + 2 * (1 + moments + averages) + 2) * sizeof(float);
  return tm_rates_pass(j->rates, passed, TM_F32, &e->update_s, error);
}

/* The program for batches of @n pictures; adds what it takes and gives the time of a run. */
static gboolean count_eval(Job *j, int n, int w, int h, double *seconds, GError **error) {
  TmEval eval = {.n = n, .w = w, .h = h};
  TmProgramOptions options;
  gsize needs = 0;
  g_autoptr(TmProgram) plan = NULL;
  gboolean ok = tm_eval_graph(&eval, j->settings, j->classes, j->out->precision, &options, error);
  if (ok) ok = (plan = tm_program_plan(j->backend, eval.graph, &options, error)) != NULL;
  if (ok) ok = tm_backend_needs(j->backend, plan, &needs, error);
  *seconds = 0;
  for (guint i = 0; ok && i < plan->n_steps; i++) {
    double one;
    ok = tm_rates_step(j->rates, plan, i, &one, error);
    if (ok) *seconds += one;
  }
  if (ok) j->out->validation += needs;
  if (ok) j->guests[j->n_guests++] = plan->arena_bytes;
  tm_graph_free(eval.graph);
  return ok;
}

/* Pictures of the largest size: with several sizes there are several programs, each smaller than these. */
static gboolean count_validation(Job *j, GError **error) {
  const guint n_val = tm_dataset_n_split(j->data, TM_SPLIT_VAL);
  const gint64 pixels = (gint64)j->scan->max_w * j->scan->max_h;
  int w = j->scan->max_w, h = j->scan->max_h;
  double tiles = 1, seconds;
  if (pixels < 1) return TRUE;
  if (pixels > TM_TILE_PIXELS) {
    const int side = tm_eval_tile(TM_TILE_PIXELS);
    w = MIN(side, w);
    h = MIN(side, h);
    tiles = MAX(1, (double)pixels / ((double)w * h));
  }
  const int most = (int)CLAMP(TM_EVAL_PIXELS / ((gint64)w * h), 1, TM_EVAL_MOST);
  if (!count_eval(j, 1, w, h, &seconds, error)) return FALSE; /* the probe's */
  if (most > 1 && n_val > 0 && !count_eval(j, most, w, h, &seconds, error)) return FALSE;
  j->out->validation_s = seconds * tiles * ((n_val + (guint)most - 1) / (guint)most);
  return TRUE;
}

/* Decoded pictures, at the mean of the smallest and the largest size. */
static void count_pictures(Job *j) {
  const TmScan *s = j->scan;
  const gsize each = (gsize)((s->min_w + s->max_w) / 2) * (gsize)((s->min_h + s->max_h) / 2) * 4;
  const TmLoaderOptions loading = tm_session_loading(j->settings, j->crop_w, j->crop_h);
  j->out->pictures = tm_loader_memory(&loading, each * tm_dataset_n_split(j->data, TM_SPLIT_TRAIN)) +
                     tm_sample_cache_memory(tm_session_judged(j->settings),
                                            each * tm_dataset_n_split(j->data, TM_SPLIT_VAL));
}

/* ---- all of it ---- */

static gboolean open_job(Job *j, GError **error) {
  const TmSettings *s = j->settings;
  TmBackendInfo info = {0};
  if (!tm_session_crop(j->data, j->scan, s, &j->crop_w, &j->crop_h, NULL, error)) return FALSE;
  if (!(j->backend = tm_session_device(s, &info, &j->out->precision, error))) return FALSE;
  j->out->device = g_strdup_printf("%s: %s, %s", j->backend->api->name, info.name ? info.name : "?",
                                   info.detail ? info.detail : "?");
  tm_backend_info_clear(&info);
  return TRUE;
}

/* All but the step itself. */
static gsize beside(const TmEstimate *e) {
  return e->process + e->weights + e->validation + e->pictures + e->checkpoint + e->resume;
}

/* The graph, as it fits the limit. */
static gboolean fit(Job *j, GError **error) {
  const TmSettings *s = j->settings;
  const gsize limit = (gsize)s->memory_limit * 1000000;
  TmTrainShape shape = {s, j->classes, 0, j->crop_w, j->crop_h, j->out->precision};
  if (!tm_session_part(s, &shape.batch, error)) return FALSE;
  j->rates = tm_rates_new(j->backend, s->convolutions);
  if (!tm_train_graph_build(&j->train, s, j->classes, shape.batch, j->crop_w, j->crop_h, NULL, error) ||
      !count_arrays(j, error) || !count_validation(j, error))
    return FALSE;
  count_pictures(j);
  const gsize later = j->out->validation + j->out->pictures + j->out->checkpoint;
  j->out->resume -= MIN(j->out->resume, later);
  if (limit == 0) return TRUE;
  const gsize others = beside(j->out);
  memcpy(shape.guests, j->guests, sizeof shape.guests);
  tm_train_graph_clear(&j->train);
  return tm_recompute_fit(&j->train, &shape, j->backend, j->rates, limit, others, error);
}

static gboolean estimate(Job *j, GError **error) {
  TmEstimate *e = j->out;
  if (!open_job(j, error) || !fit(j, error)) return FALSE;
  const TmProgramOptions options = tm_train_graph_options(&j->train, e->precision);
  if (!(j->plan = tm_program_plan(j->backend, j->train.graph, &options, error)) || !count_layers(j, error) ||
      !tm_backend_needs(j->backend, j->plan, &e->engine, error))
    return FALSE;
  e->activations = j->plan->arena_bytes;
  e->validation += tm_guests_beside(j->guests, e->activations);
  e->memory = beside(e) + e->activations + e->engine;
  e->step_s = e->step_s * j->settings->accumulate + e->update_s;
  e->steps = MAX(tm_dataset_n_split(j->data, TM_SPLIT_TRAIN) / (guint)j->settings->batch, 1);
  e->epoch_s = e->steps * e->step_s + e->validation_s / j->settings->validate_every;
  e->rough = tm_rates_rough(j->rates);
  e->graph = g_steal_pointer(&j->train.graph);
  tm_give_back_memory();
  return TRUE;
}

gboolean tm_estimate_fit(TmTrainGraph *t, TmBackend *backend, TmDType precision, TmDataset *data,
                         const TmScan *scan, const TmSettings *s, int crop_w, int crop_h, GError **error) {
  g_auto(Job) j = {.settings = s,
                   .scan = scan,
                   .classes = tm_dataset_classes(data)->n,
                   .data = tm_dataset_ref(data),
                   .backend = backend,
                   .borrowed = TRUE,
                   .crop_w = crop_w,
                   .crop_h = crop_h,
                   .out = g_new0(TmEstimate, 1)};
  j.out->process = tm_process_memory() + TM_PROCESS_GROWS;
  j.out->precision = precision;
  if (!fit(&j, error)) return FALSE;
  *t = j.train;
  j.train = (TmTrainGraph){0};
  return TRUE;
}

TmEstimate *tm_estimate_new(TmDataset *d, const TmScan *scan, const TmSettings *s, GError **error) {
  g_auto(Job)
      j = {.settings = s, .scan = scan, .classes = tm_dataset_classes(d)->n, .out = g_new0(TmEstimate, 1)};
  j.out->process = tm_process_memory() + TM_PROCESS_GROWS;
  j.data = scan->n_left_out ? tm_dataset_subset(d, scan->leave_out, NULL) : tm_dataset_ref(d);
  return estimate(&j, error) ? g_steal_pointer(&j.out) : NULL;
}

void tm_estimate_free(TmEstimate *e) {
  if (!e) return;
  tm_graph_free(e->graph);
  g_free(e->layers);
  g_free(e->device);
  g_free(e);
}
