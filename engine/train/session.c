#include "engine/train/session.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

enum { LOOKED_AT = 64 };
static const double GIB = 1 << 30;

static void activity(const TmSessionPlan *plan, const char *sentence) {
  if (plan && plan->activity) plan->activity(sentence, plan->user);
}

static gboolean cancelled_error(GError **error) {
  g_set_error_literal(error, TM_ERROR, TM_ERROR_CANCELLED, _("The run was stopped."));
  return FALSE;
}

/* ---- the data ---- */

static gboolean scan_progress(guint done, guint total, gpointer user) {
  const TmSessionPlan *plan = user;
  g_autofree char *text = g_strdup_printf(_("Looking through the pictures: %u of %u"), done, total);
  activity(plan, text);
  return !plan->cancel || g_atomic_int_get(plan->cancel) == 0;
}

static gboolean open_data(TmSession *s, const TmSessionPlan *plan, GError **error) {
  s->all = tm_dataset_ref(plan->data);
  s->scan = plan->scan;
  if (s->settings->picture_cache > 0)
    s->store = tm_picture_store_new(NULL, (guint64)(s->settings->picture_cache * GIB));
  if (!s->scan) {
    activity(plan, _("Looking through the pictures"));
    s->own_scan =
        tm_scan_keep(s->all, s->store, s->settings->loader_threads, scan_progress, (gpointer)plan, error);
    if (!s->own_scan) return FALSE;
    s->scan = s->own_scan;
  }
  s->data =
      s->scan->n_left_out ? tm_dataset_subset(s->all, s->scan->leave_out, NULL) : tm_dataset_ref(s->all);
  const TmClassTable *table = tm_dataset_classes(s->data);
  s->classes = table->n;
  s->judged = tm_sample_cache_new(s->data, tm_session_judged(s->settings), s->store);
  s->class_weights = g_new0(float, table->n);
  for (int i = 0; i < 3; i++) {
    s->mean[i] = isfinite(s->scan->mean[i]) ? s->scan->mean[i] : 127.5;
    s->std[i] = isfinite(s->scan->std[i]) && s->scan->std[i] > 1e-3 ? s->scan->std[i] : 1.0;
  }
  return tm_scan_weights(s->scan, table, s->settings->class_weights, s->class_weights, error);
}

typedef struct {
  int w, h;
  guint n;
} SizeCount;

static void count_size(GArray *sizes, int w, int h) {
  for (guint i = 0; i < sizes->len; i++) {
    SizeCount *c = &g_array_index(sizes, SizeCount, i);
    if (c->w == w && c->h == h) {
      c->n++;
      return;
    }
  }
  const SizeCount c = {w, h, 1};
  g_array_append_val(sizes, c);
}

/* The most common size among evenly spaced train pictures; of equally common ones the smaller. */
static gboolean common_size(const TmDataset *d, int *w, int *h, GError **error) {
  g_autoptr(GArray) train = g_array_new(FALSE, FALSE, sizeof(guint)),
                    sizes = g_array_new(FALSE, FALSE, sizeof(SizeCount));
  for (guint i = 0; i < tm_dataset_n(d); i++)
    if (tm_dataset_entry(d, i)->split == TM_SPLIT_TRAIN) g_array_append_val(train, i);
  const guint look = MIN(train->len, LOOKED_AT);
  g_autoptr(GError) last = NULL;
  for (guint k = 0; k < look; k++) {
    g_auto(TmSample) sample = {0};
    const guint entry = g_array_index(train, guint, (gsize)k * train->len / look);
    g_clear_error(&last);
    if (tm_dataset_read(d, entry, &sample, &last)) count_size(sizes, sample.w, sample.h);
  }
  const SizeCount *best = NULL;
  for (guint i = 0; i < sizes->len; i++) {
    const SizeCount *c = &g_array_index(sizes, SizeCount, i);
    if (!best || c->n > best->n || (c->n == best->n && (gint64)c->w * c->h < (gint64)best->w * best->h))
      best = c;
  }
  if (best) {
    *w = best->w;
    *h = best->h;
  } else if (last) {
    g_propagate_error(error, g_steal_pointer(&last));
  } else {
    g_set_error_literal(error, TM_ERROR, TM_ERROR_DATA, _("There are no pictures with masks to train on."));
  }
  return best != NULL;
}

gboolean tm_session_crop(const TmDataset *d, const TmScan *scan, const TmSettings *s, int *w, int *h,
                         char **note, GError **error) {
  *w = *h = s->crop;
  if (s->crop > 0) return TRUE;
  if (scan->min_w > 0 && scan->min_w == scan->max_w && scan->min_h == scan->max_h) {
    *w = scan->max_w;
    *h = scan->max_h;
    return TRUE;
  }
  if (!common_size(d, w, h, error)) return FALSE;
  if (note && scan->min_w > 0)
    *note = g_strdup_printf(
        _("The pictures have several sizes (%d×%d to %d×%d): larger ones are cut to the most common, %d×%d, "
          "smaller ones padded with void. A crop makes this choice yours."),
        scan->min_w, scan->min_h, scan->max_w, scan->max_h, *w, *h);
  return TRUE;
}

/* With a limit, decoded pictures get a small share: decoding one again takes far less than making a layer's
 * values again. */
enum { JUDGED_SHARE = 32, TRAINED_SHARE = 16 };

static gsize share_of_limit(const TmSettings *s, gsize share) {
  return (gsize)s->memory_limit * 1000000 / share;
}

gsize tm_session_judged(const TmSettings *s) {
  return s->memory_limit > 0 ? MIN((gsize)TM_JUDGED_BYTES, share_of_limit(s, JUDGED_SHARE)) : TM_JUDGED_BYTES;
}

TmLoaderOptions tm_session_loading(const TmSettings *o, int crop_w, int crop_h) {
  return (TmLoaderOptions){
      .split = TM_SPLIT_TRAIN,
      .batch = o->batch,
      .shuffle = TRUE,
      .augment = {.scale_min = (float)o->scale_min,
                  .scale_max = (float)o->scale_max,
                  .flip = (float)o->flip,
                  .rotate = (float)o->rotate,
                  .brightness = (float)o->brightness,
                  .offset = (float)o->offset,
                  .contrast = (float)o->contrast,
                  .saturation = (float)o->saturation,
                  .hue = (float)o->hue,
                  .crop_w = crop_w,
                  .crop_h = crop_h},
      .seed = (guint64)o->seed,
      .threads = o->loader_threads,
      .kept = MIN(share_of_limit(o, TRAINED_SHARE), (gsize)1 << 30),
  };
}

gboolean tm_session_open_loader(TmSession *s, GError **error) {
  TmLoaderOptions options = tm_session_loading(s->settings, s->crop_w, s->crop_h);
  options.store = s->store;
  g_clear_pointer(&s->loader, tm_loader_free); /* its memory first */
  s->coming = NULL;
  s->staged = FALSE;
  g_clear_error(&s->coming_error);
  s->last_waited = s->last_decode = s->last_augment = 0;
  s->loader = tm_loader_new(s->data, &options, s->at.epoch, s->at.step, error);
  if (!s->loader) return FALSE;
  s->steps = tm_loader_steps(s->loader);
  return TRUE;
}

static void add_note(TmSession *s, char *note) {
  if (!note) return;
  char *both = s->note ? g_strconcat(s->note, " ", note, NULL) : g_strdup(note);
  g_free(s->note);
  g_free(note);
  s->note = both;
}

/* ---- the device ---- */

/* Asked with the simplest step there is. */
static gboolean computes_f16(TmBackend *b) {
  g_autoptr(TmGraph) g = tm_graph_new();
  TmNode *x = tm_graph_source(g, TM_OP_INPUT, TM_KIND_ACT, TM_SHAPE(1, 1, 1, 1), "x");
  const TmNode *relu = tm_node(g, TM_OP_RELU, NULL, NULL, x);
  return tm_backend_supports(b, TM_OP_RELU, relu, TM_F16);
}

static TmDType precision_of(const TmSettings *s, const TmBackendInfo *info) {
  if (g_str_equal(s->precision, "f16")) return TM_F16;
  return g_str_equal(s->precision, "bf16") || (g_str_equal(s->precision, "auto") && info->bf16) ? TM_BF16 : TM_F32;
}

TmBackend *tm_session_device(const TmSettings *s, TmBackendInfo *info, TmDType *precision, GError **error) {
  const TmBackendOptions options = {.threads = s->threads,
                                    .deterministic = TRUE,
                                    .device = g_str_equal(s->device, "first") ? NULL : s->device,
                                    .convolutions = s->convolutions,
                                    .tf32 = g_str_equal(s->precision, "tf32")};
  TmBackend *b = tm_backend_open(s->backend, &options, error);
  if (!b) return NULL;
  tm_backend_info(b, info);
  *precision = precision_of(s, info);
  if ((*precision != TM_F16 || computes_f16(b)) && (!options.tf32 || info->tf32)) return b;
  g_set_error(error, TM_ERROR, TM_ERROR_SETTING,
              _("The %s engine does not compute in %s. Choose bf16 or f32 as precision, or another device."),
              b->api->name, s->precision);
  tm_backend_close(b);
  tm_backend_info_clear(info);
  return NULL;
}

gboolean tm_session_part(const TmSettings *s, int *pictures, GError **error) {
  *pictures = s->batch / s->accumulate;
  if (*pictures * s->accumulate == s->batch) return TRUE;
  g_set_error(error, TM_ERROR, TM_ERROR_SETTING,
              _("A batch of %d pictures cannot be computed in %d equal parts: accumulate must divide batch."), s->batch,
              s->accumulate);
  return FALSE;
}

static gboolean makes_loss(const TmSession *s, const TmStep *step) {
  for (guint i = 0; i < step->n_out; i++)
    for (guint k = 0; k < s->train.loss.n; k++)
      if (s->program->values[step->out[i]].node == s->train.loss.parts[k]) return TRUE;
  return FALSE;
}

/* The first step after the last that makes a part of the loss: from there on it is backward. */
static guint way_back(const TmSession *s) {
  guint at = 0;
  for (guint i = 0; i < s->program->n_steps; i++)
    if (makes_loss(s, &s->program->steps[i])) at = i + 1;
  return at;
}

static float *device_array(TmSession *s, gsize n, GError **error) {
  return tm_backend_alloc(s->backend, MAX(n, 1) * sizeof(float), error);
}

gboolean tm_session_build(TmSession *s, GError **error) {
  const TmSettings *o = s->settings;
  int part;
  if (!tm_session_part(o, &part, error)) return FALSE;
  tm_session_drop_evals(s); /* they lie in its arena */
  g_clear_pointer(&s->program, tm_program_free);
  tm_train_graph_clear(&s->train);
  const gboolean built =
      o->memory_limit > 0
          ? tm_estimate_fit(&s->train, s->backend, s->precision, s->data, s->scan, o, s->crop_w, s->crop_h, error)
          : tm_train_graph_build(&s->train, o, s->classes, part, s->crop_w, s->crop_h, NULL, error);
  if (!built) return FALSE;
  if (!s->params && !(s->params = tm_params_new(s->backend, s->train.graph, error))) return FALSE;
  if (o->accumulate > 1 && !s->sum && !(s->sum = device_array(s, s->params->n_value, error))) return FALSE;
  const TmProgramOptions options = tm_train_graph_options(&s->train, s->precision);
  s->program = tm_program_new(s->backend, s->params, s->train.graph, &options, error);
  if (!s->program) return FALSE;
  s->program->mark = way_back(s);
  return TRUE;
}

static void free_array(TmSession *s, float **p, gsize n) {
  if (*p) tm_backend_release(s->backend, *p, MAX(n, 1) * sizeof(float));
  *p = NULL;
}

static gboolean allocate(TmSession *s, GError **error) {
  const gsize n = s->params->n_value;
  const gboolean adam = !g_str_equal(s->settings->optimizer, "sgd"), ema = s->settings->ema > 0;
  const struct {
    float **array;
    gsize n;
    gboolean wanted;
  } all[] = {{&s->m, n, TRUE}, {&s->v, n, adam}, {&s->ema, n, ema}, {&s->held, n, ema}, {&s->kept_state, s->params->n_state, TRUE}};
  for (guint i = 0; i < G_N_ELEMENTS(all); i++) /* those of an earlier try stay */
    if (all[i].wanted && !*all[i].array && !(*all[i].array = device_array(s, all[i].n, error))) return FALSE;
  return TRUE;
}

static gboolean open_arrays(TmSession *s, GError **error) {
  if (allocate(s, error)) return TRUE;
  g_prefix_error(error, "%s ",
                 _("The weights and what the optimizer keeps of them do not fit. Use a smaller base width."));
  return FALSE;
}

static gboolean write_state(TmSession *s, const char *name, const double *x, const float *f, guint n,
                            GError **error) {
  const TmParam *p = tm_params_find(s->params, name);
  if (!p) return TRUE; /* a net that does not use it */
  g_autofree float *values = g_new(float, n);
  for (guint i = 0; i < n; i++) values[i] = x ? (float)x[i] : f[i];
  return tm_params_write(s->params, p, values, error);
}

gboolean tm_session_write_weights(TmSession *s, GError **error) {
  return write_state(s, "class_weights", NULL, s->class_weights, s->classes, error);
}

static gboolean open_weights(TmSession *s, GError **error) {
  if (!tm_params_init(s->params, (guint64)s->settings->seed, error) ||
      !write_state(s, "input.mean", s->mean, NULL, 3, error) ||
      !write_state(s, "input.std", s->std, NULL, 3, error) ||
      !tm_session_write_weights(s, error))
    return FALSE;
  return !s->ema || tm_backend_axpby(s->backend, 1, s->params->value, 0, s->ema, s->params->n_value, error);
}

/* The program and the arrays, with the batch split where they do not fit otherwise. */
static gboolean open_memory(TmSession *s, GError **error) {
  GError *e = NULL;
  g_autofree char *before = tm_settings_get(&s->now, "accumulate"), *after = NULL;
  gboolean ok = tm_session_build(s, &e) && open_arrays(s, &e);
  while (!ok && tm_session_split(s, &e)) ok = open_arrays(s, &e);
  if (!ok) {
    g_propagate_error(error, e);
    return FALSE;
  }
  after = tm_settings_get(&s->now, "accumulate");
  if (g_str_equal(before, after)) return TRUE;
  add_note(s, tm_session_split_sentence(s, FALSE));
  return tm_session_record(s, "accumulate", before, after, FALSE, NULL, error);
}

static gboolean open_device(TmSession *s, const TmSessionPlan *plan, GError **error) {
  activity(plan, _("Opening the device"));
  if (!(s->backend = tm_session_device(s->settings, &s->info, &s->precision, error))) return FALSE;
  s->backend_name = s->backend->api->name;
  activity(plan, _("Building the network"));
  if (!open_memory(s, error) || !open_weights(s, error)) return FALSE;
  s->parameters = tm_params_count(s->params);
  return TRUE;
}

static void close_device(TmSession *s) {
  tm_session_drop_evals(s);
  g_clear_pointer(&s->program, tm_program_free);
  if (s->params) {
    free_array(s, &s->m, s->params->n_value);
    free_array(s, &s->v, s->params->n_value);
    free_array(s, &s->sum, s->params->n_value);
    free_array(s, &s->ema, s->params->n_value);
    free_array(s, &s->held, s->params->n_value);
    free_array(s, &s->kept_state, s->params->n_state);
  }
  g_clear_pointer(&s->params, tm_params_free);
  tm_train_graph_clear(&s->train);
  tm_backend_info_clear(&s->info);
  g_clear_pointer(&s->backend, tm_backend_close);
  s->device_scale = 0;
}

gboolean tm_session_park(TmSession *s, GError **error) {
  if (s->parked) return TRUE;
  s->parked = tm_session_checkpoint(s, error);
  if (!s->parked) return FALSE;
  close_device(s);
  return TRUE;
}

gboolean tm_session_unpark(TmSession *s, GError **error) {
  if (!s->parked) return TRUE;
  if (!open_device(s, NULL, error) || !tm_session_load_arrays(s, s->parked, error)) {
    close_device(s); /* another program may have taken the memory: it can be tried again */
    return FALSE;
  }
  g_clear_pointer(&s->parked, tm_checkpoint_free);
  return TRUE;
}

/* ---- open and close ---- */

/* What becomes of the pictures that do not fill a batch (the loader's rule). */
static void note_rest(TmSession *s) {
  guint n = 0;
  for (guint i = 0; i < tm_dataset_n(s->data); i++)
    n += tm_dataset_entry(s->data, i)->split == TM_SPLIT_TRAIN;
  const guint batch = (guint)s->settings->batch;
  if (n < batch)
    add_note(s,
             g_strdup_printf(
                 _("There are fewer training pictures (%u) than a batch holds (%u): they repeat within it."),
                 n, batch));
}

static gboolean open_run(TmSession *s, const TmSessionPlan *plan, TmCheckpoint *c, GError **error) {
  const guint64 from = tm_session_total(s);
  if (!plan->run_dir) return TRUE;
  if (!(s->run = tm_run_open(plan->run_dir, from, error))) return FALSE;
  if (!tm_session_record_differences(s, error)) return FALSE;
  if (c && plan->step_rows && plan->epoch_rows &&
      !tm_run_read_history(plan->run_dir, plan->step_rows, plan->epoch_rows, error))
    return FALSE;
  return tm_session_write_info(s, NULL, error);
}

static gboolean open_all(TmSession *s, const TmSessionPlan *plan, GError **error) {
  g_autoptr(TmCheckpoint) c = NULL;
  if (!open_data(s, plan, error)) return FALSE;
  char *note = NULL;
  if (plan->resume) {
    c = tm_run_read_last(plan->run_dir, &note, error);
    add_note(s, g_steal_pointer(&note));
    if (!c || !tm_session_check(c, s->settings, s->mean, s->std, error)) return FALSE;
    s->begun = tm_session_begun(plan->run_dir);
  }
  if (!s->begun) s->begun = tm_settings_to_json(s->settings);
  if (tm_session_cancelled(s)) return cancelled_error(error);
  if (!tm_session_crop(s->data, s->scan, s->settings, &s->crop_w, &s->crop_h, &note, error)) return FALSE;
  add_note(s, note);
  if (!open_device(s, plan, error)) return FALSE;
  if (c && !tm_session_load(s, c, error)) return FALSE;
  if (tm_session_cancelled(s)) return cancelled_error(error);
  activity(plan, _("Reading the first pictures"));
  const guint steps = s->steps; /* as the checkpoint has it */
  if (!tm_session_open_loader(s, error)) return FALSE;
  if (c && steps != s->steps) {
    g_set_error(error, TM_ERROR, TM_ERROR_SETTING,
                _("The run had %u steps an epoch and would now have %u: the pictures or the batch have "
                  "changed. Start a new run."),
                steps, s->steps);
    return FALSE;
  }
  note_rest(s);
  s->n_kept = tm_probes_default(s->all, s->kept);
  return open_run(s, plan, c, error);
}

TmSession *tm_session_open(const TmSessionPlan *plan, GError **error) {
  TmSession *s = g_new0(TmSession, 1);
  s->now = *plan->settings;
  s->settings = &s->now;
  s->cancel = plan->cancel;
  s->eval_pixels = TM_EVAL_PIXELS;
  s->tile_pixels = TM_TILE_PIXELS;
  s->evals = g_ptr_array_new_with_free_func((GDestroyNotify)tm_eval_free);
  s->at.best_miou = NAN;
  s->at.lr_factor = 1.0;
  s->at.loss_scale = TM_FIRST_LOSS_SCALE;
  s->at.probe_entry = G_MAXUINT;
  if (open_all(s, plan, error)) return s;
  tm_session_close(s);
  return NULL;
}

void tm_session_close(TmSession *s) {
  if (!s) return;
  tm_loader_free(s->loader);
  g_clear_error(&s->coming_error);
  tm_sample_cache_free(s->judged);
  tm_picture_store_free(s->store);
  tm_sample_clear(&s->probed);
  tm_visible_unref(s->visible);
  tm_run_close(s->run);
  close_device(s);
  g_clear_pointer(&s->evals, g_ptr_array_unref);
  tm_checkpoint_free(s->parked);
  g_clear_pointer(&s->begun, json_node_unref);
  g_clear_pointer(&s->data, tm_dataset_unref);
  g_clear_pointer(&s->all, tm_dataset_unref);
  tm_scan_free(s->own_scan);
  g_free(s->class_weights);
  g_free(s->note);
  g_free(s);
}

gsize tm_session_memory(const TmSession *s) {
  if (s->parked || !s->program) return 0; /* given back, or lost on the way to less */
  const gsize n = s->params->n_value;
  const gsize arrays =
      n * (gsize)(2 + (s->m != NULL) + (s->v != NULL) + (s->sum != NULL) + (s->ema != NULL) + (s->held != NULL));
  gsize bytes = (arrays + 2 * s->params->n_state) * sizeof(float) + s->program->arena_bytes;
  for (guint i = 0; i < s->evals->len; i++) {
    const TmProgram *p = ((TmEval *)s->evals->pdata[i])->program;
    if (!p->guest) bytes += p->arena_bytes;
  }
  return bytes;
}
