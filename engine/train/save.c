/* save.c: a run's state to a checkpoint and back, and what run.json says.
 *
 * Tensors: weights and running statistics under PyTorch's names; "optimizer.m.NAME", "optimizer.v.NAME",
 * "ema.NAME" beside them in last.safetensors. The position is the object "train" in the file's JSON. */
#include <glib/gi18n.h>
#include <math.h>

#include "engine/run/net_meta.h"
#include "engine/train/session.h"

/* Normalisation and class weights follow from the file's JSON and the data: only what training moved is kept
 * as a tensor. */
static gboolean kept(const TmParam *p) {
  return p->trained || !(g_str_has_prefix(p->name, "input.") || g_str_equal(p->name, "class_weights") ||
                         g_str_equal(p->name, "loss.scale"));
}

/* ---- arrays ---- */

static TmView view_of(float *array, const TmParam *p) {
  return (TmView){.data = array + p->offset, .dtype = TM_F32, .shape = p->shape, .ld = p->shape.c};
}

static gboolean fetch(gpointer session, gconstpointer from, TmShape shape, float *to, GError **error) {
  const TmSession *s = session;
  const TmView view = {.data = (gpointer)from, .dtype = TM_F32, .shape = shape, .ld = shape.c};
  return tm_backend_read(s->backend, &view, to, TM_F32, error);
}

/* Fetched when it is written: a second copy of all arrays would be the largest thing in memory after the step. */
static void add_later(TmSession *s, TmCheckpoint *c, const char *prefix, float *array, gboolean trained) {
  for (guint i = 0; array && i < s->params->list->len; i++) {
    const TmParam *p = &g_array_index(s->params->list, TmParam, i);
    if (p->trained != trained || !kept(p)) continue;
    g_autofree char *name = g_strconcat(prefix, p->name, NULL);
    tm_checkpoint_add_read(c, name, p->shape, array + p->offset, fetch, s);
  }
}

static gboolean add_array(TmSession *s, TmCheckpoint *c, const char *prefix, float *array, gboolean trained,
                          GError **error) {
  for (guint i = 0; array && i < s->params->list->len; i++) {
    const TmParam *p = &g_array_index(s->params->list, TmParam, i);
    if (p->trained != trained || !kept(p)) continue;
    g_autoptr(TmTensor) t = tm_tensor_new(TM_F32, p->shape, error);
    const TmView view = view_of(array, p);
    if (!t || !tm_backend_read(s->backend, &view, t->data, TM_F32, error)) return FALSE;
    g_autofree char *name = g_strconcat(prefix, p->name, NULL);
    tm_checkpoint_add(c, name, g_steal_pointer(&t));
  }
  return TRUE;
}

static gboolean get_array(TmSession *s, const TmCheckpoint *c, const char *prefix, float *array,
                          gboolean trained, GError **error) {
  for (guint i = 0; array && i < s->params->list->len; i++) {
    const TmParam *p = &g_array_index(s->params->list, TmParam, i);
    if (p->trained != trained || !kept(p)) continue;
    g_autofree char *name = g_strconcat(prefix, p->name, NULL);
    const TmTensor *t = tm_checkpoint_tensor(c, name);
    if (!t || !tm_shape_equal(t->shape, p->shape)) {
      g_set_error(error, TM_ERROR, TM_ERROR_SETTING,
                  t ? _("“%s” in the checkpoint has another size than in this network: the settings or the "
                        "classes differ.")
                    : _("The checkpoint lacks “%s”: the settings differ from those it was written with."),
                  name);
      return FALSE;
    }
    const TmView view = view_of(array, p);
    if (!tm_backend_write(s->backend, &view, t->data, TM_F32, error)) return FALSE;
  }
  return TRUE;
}

/* ---- the position ---- */

static void set_number(JsonObject *o, const char *key, double x) {
  if (isfinite(x))
    json_object_set_double_member(o, key, x);
  else
    json_object_set_null_member(o, key);
}

static JsonObject *position_json(const TmSession *s) {
  const TmPosition *p = &s->at;
  JsonObject *o = json_object_new();
  json_object_set_int_member(o, "epoch", p->epoch);
  json_object_set_int_member(o, "step", p->step);
  json_object_set_int_member(o, "steps", s->steps);
  if (p->ahead) json_object_set_int_member(o, "ahead", p->ahead);
  json_object_set_int_member(o, "updates", (gint64)p->updates);
  json_object_set_int_member(o, "skipped", p->skipped);
  json_object_set_int_member(o, "replaced", p->replaced);
  json_object_set_int_member(o, "bad_row", p->bad_row);
  set_number(o, "loss_sum", p->loss_sum);
  json_object_set_int_member(o, "loss_n", p->loss_n);
  set_number(o, "smooth", p->smooth);
  set_number(o, "smooth_weight", p->smooth_weight);
  set_number(o, "seconds", p->seconds);
  set_number(o, "best_miou", p->best_miou);
  json_object_set_int_member(o, "best_epoch", p->best_epoch);
  json_object_set_int_member(o, "since_best", p->since_best);
  set_number(o, "lr_factor", p->lr_factor);
  if (s->train.scale) {
    set_number(o, "loss_scale", p->loss_scale);
    json_object_set_int_member(o, "good_steps", p->good_steps);
  }
  json_object_set_int_member(o, "probe", p->probe_entry);
  json_object_set_int_member(o, "crop_width", s->crop_w);
  json_object_set_int_member(o, "crop_height", s->crop_h);
  json_object_set_string_member(o, "data", tm_dataset_hash(s->all));
  return o;
}

static double number(JsonObject *o, const char *key, double otherwise) {
  JsonNode *n = json_object_get_member(o, key);
  return n && JSON_NODE_HOLDS_VALUE(n) ? json_node_get_double(n) : otherwise;
}

static JsonObject *position_of(TmCheckpoint *c) {
  JsonObject *meta = tm_checkpoint_meta(c);
  JsonNode *n = json_object_get_member(meta, "train");
  return n && JSON_NODE_HOLDS_OBJECT(n) ? json_node_get_object(n) : NULL;
}

static guint whole(JsonObject *o, const char *key) {
  return (guint)CLAMP(number(o, key, 0), 0, 4294967295.0);
}

static gboolean read_position(TmSession *s, TmCheckpoint *c, GError **error) {
  JsonObject *o = position_of(c);
  if (!o || !json_object_has_member(o, "steps")) {
    g_set_error_literal(error, TM_ERROR, TM_ERROR_DATA,
                        _("The checkpoint holds weights but no place in a run to go on from."));
    return FALSE;
  }
  TmPosition *p = &s->at;
  p->epoch = whole(o, "epoch");
  p->step = whole(o, "step");
  s->steps = whole(o, "steps");
  p->ahead = (gint64)number(o, "ahead", 0);
  p->updates = (guint64)MAX(number(o, "updates", 0), 0);
  p->skipped = whole(o, "skipped");
  p->replaced = whole(o, "replaced");
  p->bad_row = whole(o, "bad_row");
  p->loss_sum = number(o, "loss_sum", 0);
  p->loss_n = whole(o, "loss_n");
  p->smooth = number(o, "smooth", 0);
  p->smooth_weight = number(o, "smooth_weight", 0);
  p->seconds = number(o, "seconds", 0);
  p->best_miou = number(o, "best_miou", NAN);
  p->best_epoch = whole(o, "best_epoch");
  p->since_best = whole(o, "since_best");
  p->lr_factor = number(o, "lr_factor", 1);
  p->loss_scale = number(o, "loss_scale", TM_FIRST_LOSS_SCALE);
  p->good_steps = whole(o, "good_steps");
  p->probe_entry = whole(o, "probe");
  const int w = (int)number(o, "crop_width", s->crop_w), h = (int)number(o, "crop_height", s->crop_h);
  if (w != s->crop_w || h != s->crop_h) {
    g_set_error(error, TM_ERROR, TM_ERROR_SETTING,
                _("The run trained on pieces of %d×%d and would now train on %d×%d. Start a new run."), w, h,
                s->crop_w, s->crop_h);
    return FALSE;
  }
  return TRUE;
}

/* ---- checkpoints ---- */

static void write_meta(TmSession *s, TmCheckpoint *c) {
  TmNetMeta meta = {.settings = tm_settings_to_json(s->settings),
                    .classes = tm_class_table_copy(tm_dataset_classes(s->data)),
                    .epoch = s->at.epoch + (s->at.step == s->steps),
                    .total_step = tm_session_total(s),
                    .best_miou = s->at.best_miou};
  for (int i = 0; i < 3; i++) {
    meta.mean[i] = s->mean[i];
    meta.std[i] = s->std[i];
  }
  tm_net_meta_write(tm_checkpoint_meta(c), &meta);
  tm_net_meta_clear(&meta);
  json_object_set_object_member(tm_checkpoint_meta(c), "train", position_json(s));
}

/* Weights that are not numbers must not replace ones that are. */
static gboolean sound(TmSession *s, GError **error) {
  double squares = NAN;
  if (!tm_backend_sum_squares(s->backend, s->params->value, s->params->n_value, &squares, error))
    return FALSE;
  if (isfinite(squares) && s->at.bad_row == 0) return TRUE;
  g_set_error_literal(error, TM_ERROR, TM_ERROR_NON_FINITE,
                      _("No checkpoint was written, because the numbers are not finite at present; the last "
                        "good one is kept."));
  return FALSE;
}

TmCheckpoint *tm_session_checkpoint(TmSession *s, GError **error) {
  g_autoptr(TmCheckpoint) c = tm_checkpoint_new();
  write_meta(s, c);
  const gboolean ok = add_array(s, c, "", s->params->value, TRUE, error) &&
                      add_array(s, c, "", s->params->state, FALSE, error) &&
                      add_array(s, c, "optimizer.m.", s->m, TRUE, error) &&
                      add_array(s, c, "optimizer.v.", s->v, TRUE, error) && add_array(s, c, "ema.", s->ema, TRUE, error);
  return ok ? g_steal_pointer(&c) : NULL;
}

/* Of a parked run only what stands beside the arrays can have changed. */
static gboolean save_parked(TmSession *s, GError **error) {
  write_meta(s, s->parked);
  return tm_run_flush(s->run, error) && tm_run_write_last(s->run, s->parked, error);
}

gboolean tm_session_save_last(TmSession *s, GError **error) {
  if (s->parked) return save_parked(s, error);
  if (!sound(s, error)) return FALSE;
  g_autoptr(TmCheckpoint) c = tm_checkpoint_new();
  write_meta(s, c);
  add_later(s, c, "", s->params->value, TRUE);
  add_later(s, c, "", s->params->state, FALSE);
  add_later(s, c, "optimizer.m.", s->m, TRUE);
  add_later(s, c, "optimizer.v.", s->v, TRUE);
  add_later(s, c, "ema.", s->ema, TRUE);
  return tm_run_flush(s->run, error) && tm_run_write_last(s->run, c, error);
}

gboolean tm_session_save_best(TmSession *s, GError **error) {
  if (!sound(s, error)) return FALSE;
  g_autoptr(TmCheckpoint) c = tm_checkpoint_new();
  write_meta(s, c);
  add_later(s, c, "", s->ema ? s->ema : s->params->value, TRUE);
  add_later(s, c, "", s->params->state, FALSE);
  return tm_run_write_best(s->run, c, error);
}

/* Settings that a run cannot change on its way: the net's form, and what says which picture comes at which
 * step. */
static const char *const fixed[] = {"base",  "depth", "upsampling", "batch_norm",
                                    "batch", "crop",  "seed",       NULL};

gboolean tm_session_check(TmCheckpoint *c, const TmSettings *settings, double mean[3], double std[3],
                          GError **error) {
  g_auto(TmNetMeta) meta = {0};
  if (!tm_net_meta_read(tm_checkpoint_meta(c), &meta, error)) return FALSE;
  TmSettings was;
  tm_settings_defaults(&was);
  if (!tm_settings_from_json(&was, meta.settings, error)) return FALSE;
  for (guint i = 0; fixed[i]; i++) {
    g_autofree char *before = tm_settings_get(&was, fixed[i]), *after = tm_settings_get(settings, fixed[i]);
    if (g_str_equal(before, after)) continue;
    g_set_error(error, TM_ERROR, TM_ERROR_SETTING,
                _("The run was begun with %s = %s and cannot go on with %s. Resume with the old value or "
                  "start a new run."),
                fixed[i], before, after);
    return FALSE;
  }
  for (int i = 0; i < 3; i++) {
    mean[i] = meta.mean[i];
    std[i] = meta.std[i];
  }
  return TRUE;
}

static gboolean has_average(const TmSession *s, const TmCheckpoint *c) {
  for (guint i = 0; i < s->params->list->len; i++) {
    const TmParam *p = &g_array_index(s->params->list, TmParam, i);
    if (!p->trained) continue;
    g_autofree char *name = g_strconcat("ema.", p->name, NULL);
    return tm_checkpoint_tensor(c, name) != NULL;
  }
  return FALSE;
}

gboolean tm_session_load(TmSession *s, TmCheckpoint *c, GError **error) {
  return read_position(s, c, error) && tm_session_load_arrays(s, c, error);
}

gboolean tm_session_load_arrays(TmSession *s, const TmCheckpoint *c, GError **error) {
  if (!get_array(s, c, "", s->params->value, TRUE, error) ||
      !get_array(s, c, "", s->params->state, FALSE, error))
    return FALSE;
  s->params->version++;
  if (s->ema) { /* a run that had no average begins one with the weights it has */
    const gboolean had = has_average(s, c);
    if (had ? !get_array(s, c, "ema.", s->ema, TRUE, error)
            : !tm_backend_axpby(s->backend, 1, s->params->value, 0, s->ema, s->params->n_value, error))
      return FALSE;
  }
  return get_array(s, c, "optimizer.m.", s->m, TRUE, error) &&
         get_array(s, c, "optimizer.v.", s->v, TRUE, error);
}

/* ---- run.json ---- */

static JsonObject *data_json(const TmSession *s) {
  JsonObject *o = json_object_new();
  g_autofree char *path = g_filename_display_name(tm_dataset_path(s->all));
  json_object_set_string_member(o, "path", path);
  json_object_set_string_member(o, "title", tm_dataset_title(s->all));
  json_object_set_string_member(o, "layout", tm_dataset_layout(s->all));
  json_object_set_string_member(o, "hash", tm_dataset_hash(s->all));
  for (TmSplit i = 0; i < TM_N_SPLITS; i++)
    json_object_set_int_member(o, tm_split_name(i), tm_dataset_n_split(s->data, i));
  json_object_set_int_member(o, "left_out", s->scan->n_left_out);
  json_object_set_member(o, "classes", tm_class_table_to_json(tm_dataset_classes(s->all)));
  JsonArray *mean = json_array_new(), *std = json_array_new(), *weights = json_array_new();
  for (int i = 0; i < 3; i++) {
    json_array_add_double_element(mean, s->mean[i]);
    json_array_add_double_element(std, s->std[i]);
  }
  for (guint i = 0; i < s->classes; i++) json_array_add_double_element(weights, s->class_weights[i]);
  json_object_set_array_member(o, "mean", mean);
  json_object_set_array_member(o, "std", std);
  json_object_set_array_member(o, "class_weights", weights);
  return o;
}

static JsonObject *machine_json(const TmSession *s) {
  JsonObject *o = json_object_new();
  json_object_set_string_member(o, "host", g_get_host_name());
  json_object_set_string_member(o, "backend", s->backend_name);
  if (!s->parked) {
    json_object_set_string_member(o, "device", s->info.name ? s->info.name : "");
    json_object_set_string_member(o, "detail", s->info.detail ? s->info.detail : "");
    json_object_set_int_member(o, "threads", s->info.threads);
  }
  json_object_set_string_member(o, "precision", tm_dtype_name(s->precision));
  json_object_set_boolean_member(o, "deterministic", TRUE);
  return o;
}

JsonNode *tm_session_begun(const char *run_dir) {
  g_autoptr(JsonNode) info = tm_run_read_info(run_dir, NULL);
  JsonNode *n = info && JSON_NODE_HOLDS_OBJECT(info)
                    ? json_object_get_member(json_node_get_object(info), "settings")
                    : NULL;
  return n ? json_node_copy(n) : NULL;
}

gboolean tm_run_settings(const char *run_dir, gboolean begun, TmSettings *out, GError **error) {
  char *note = NULL;
  g_autoptr(TmCheckpoint) c = begun ? NULL : tm_run_read_last(run_dir, &note, NULL);
  g_free(note);
  g_auto(TmNetMeta) meta = {0};
  tm_settings_defaults(out);
  if (c && tm_net_meta_read(tm_checkpoint_meta(c), &meta, NULL))
    return tm_settings_from_json(out, meta.settings, error);
  g_autoptr(JsonNode) settings = tm_session_begun(run_dir);
  if (settings) return tm_settings_from_json(out, settings, error);
  g_autofree char *shown = g_filename_display_name(run_dir);
  g_set_error(error, TM_ERROR, TM_ERROR_CORRUPT, _("“%s” holds no settings, so the run cannot go on."), shown);
  return FALSE;
}

gboolean tm_session_write_info(TmSession *s, const char *result, GError **error) {
  g_autoptr(JsonNode) root = json_node_new(JSON_NODE_OBJECT);
  JsonObject *o = json_object_new();
  json_node_take_object(root, o);
  g_autoptr(GDateTime) now = g_date_time_new_now_local();
  g_autofree char *time = g_date_time_format_iso8601(now);
  json_object_set_string_member(o, "program", "tarmac");
  json_object_set_string_member(o, "version", TM_VERSION);
  json_object_set_string_member(o, "glib",
                                G_STRINGIFY(GLIB_MAJOR_VERSION) "." G_STRINGIFY(GLIB_MINOR_VERSION));
  json_object_set_string_member(o, "written", time);
  json_object_set_member(o, "settings", json_node_copy(s->begun));
  json_object_set_int_member(o, "seed", s->settings->seed);
  json_object_set_object_member(o, "data", data_json(s));
  json_object_set_object_member(o, "machine", machine_json(s));
  json_object_set_int_member(o, "parameters", (gint64)s->parameters);
  json_object_set_int_member(o, "crop_width", s->crop_w);
  json_object_set_int_member(o, "crop_height", s->crop_h);
  json_object_set_int_member(o, "steps_per_epoch", s->steps);
  json_object_set_string_member(o, "state", result ? result : "running");
  if (result) {
    JsonObject *r = json_object_new();
    set_number(r, "best_miou", s->at.best_miou);
    json_object_set_int_member(r, "best_epoch", s->at.best_epoch);
    json_object_set_int_member(r, "epochs", s->at.epoch);
    json_object_set_int_member(r, "steps", (gint64)tm_session_total(s));
    json_object_set_int_member(r, "skipped", s->at.skipped);
    json_object_set_int_member(r, "replaced", s->at.replaced);
    set_number(r, "seconds", s->at.seconds);
    json_object_set_object_member(o, "result", r);
  }
  return tm_run_write_info(s->run, root, error);
}
