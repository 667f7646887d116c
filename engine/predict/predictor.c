#include "engine/predict/predictor-private.h"

#include <glib/gi18n.h>
#include <string.h>

#include "engine/predict/infer_graph.h"
#include "engine/predict/quantise.h"
#include "engine/predict/sureness.h"
#include "engine/predict/tiles.h"
#include "engine/run/run_dir.h"

enum { SMALLEST_TILE = 128, NAMES_TOLD = 4 };

/* ---- open ---- */

/* Which tensors of the net the checkpoint lacks or has in another shape: each with what is there and what is
 * wanted. */
static void mismatch(GString *list, guint *n, const TmParam *want, const TmTensor *have) {
  if ((*n)++ >= NAMES_TOLD) return;
  if (list->len) g_string_append(list, ", ");
  if (have)
    g_string_append_printf(list, _("“%s” (%d×%d×%d×%d there, %d×%d×%d×%d wanted)"), want->name, have->shape.n,
                           have->shape.c, have->shape.h, have->shape.w, want->shape.n, want->shape.c,
                           want->shape.h, want->shape.w);
  else
    g_string_append_printf(list, _("“%s” (not there)"), want->name);
}

static const float *input_state(const TmPredictor *p, const TmParam *want, float *three) {
  const double *from = g_str_equal(want->name, "input.mean")  ? p->meta.mean
                       : g_str_equal(want->name, "input.std") ? p->meta.std
                                                              : NULL;
  for (int i = 0; from && i < 3; i++) three[i] = (float)from[i];
  return from ? three : NULL;
}

/* Where the run keeps a running average of its weights, that is what was judged: last.safetensors has it
 * beside the weights. */
static const TmTensor *find_tensor(const TmCheckpoint *c, const TmParam *want) {
  g_autofree char *average = g_strconcat("ema.", want->name, NULL);
  const TmTensor *t = tm_checkpoint_tensor(c, average);
  return t ? t : tm_checkpoint_tensor(c, want->name);
}

static gboolean load_params(TmPredictor *p, const TmCheckpoint *c, GError **error) {
  g_autoptr(GString) wrong = g_string_new(NULL);
  guint n_wrong = 0;
  for (guint i = 0; i < p->params->list->len; i++) {
    const TmParam *want = &g_array_index(p->params->list, TmParam, i);
    float three[3];
    const float *values = input_state(p, want, three);
    const TmTensor *have = values ? NULL : find_tensor(c, want);
    if (!values && (!have || !tm_shape_equal(have->shape, want->shape)))
      mismatch(wrong, &n_wrong, want, have);
    else if (!tm_params_write(p->params, want, values ? values : have->data, error))
      return FALSE;
  }
  if (n_wrong == 0) return TRUE;
  g_autofree char *shown = g_filename_display_name(p->path);
  g_set_error(error, TM_ERROR, TM_ERROR_DATA,
              ngettext("“%s” does not hold the network it describes: %u tensor does not fit: %s. Use a "
                       "checkpoint as Tarmac wrote it.",
                       "“%s” does not hold the network it describes: %u tensors do not fit: %s. Use a "
                       "checkpoint as Tarmac wrote it.",
                       n_wrong),
              shown, n_wrong, wrong->str);
  return FALSE;
}

/* The smallest graph names all parameters; programs for real sizes find them by name. */
static gboolean make_params(TmPredictor *p, const TmCheckpoint *c, GError **error) {
  g_autoptr(TmGraph) g = tm_graph_new();
  tm_infer_graph(g, &p->net, TM_SHAPE(1, 3, 1 << p->net.depth, 1 << p->net.depth), NULL, NULL);
  return tm_graph_check(g, error) && (p->params = tm_params_new(p->backend, g, error)) &&
         load_params(p, c, error);
}

static gboolean read_meta(TmPredictor *p, TmCheckpoint *c, GError **error) {
  g_autoptr(GError) why = NULL;
  tm_settings_defaults(&p->settings);
  if (tm_net_meta_read(tm_checkpoint_meta(c), &p->meta, &why) &&
      tm_settings_from_json(&p->settings, p->meta.settings, &why))
    return TRUE;
  g_autofree char *shown = g_filename_display_name(p->path);
  g_set_error(error, TM_ERROR, TM_ERROR_DATA,
              _("“%s” was not written by Tarmac, or by another version of it: %s"), shown, why->message);
  return FALSE;
}

TmDType tm_predictor_choose_precision(const TmPredictor *p) {
  TmBackendInfo info = {0};
  tm_backend_info(p->backend, &info);
  const gboolean bf16 = info.bf16 && !g_str_equal(p->settings.precision, "f32");
  tm_backend_info_clear(&info);
  return bf16 ? TM_BF16 : TM_F32;
}

TmPredictor *tm_predictor_open(const char *path, const char *backend, const TmBackendOptions *options,
                               GError **error) {
  static const TmBackendOptions defaults = {0};
  g_autoptr(TmPredictor) p = g_new0(TmPredictor, 1);
  if (!(p->path = tm_run_best_path(path, error))) return NULL;
  g_autoptr(TmCheckpoint) c = tm_checkpoint_read(p->path, error);
  if (!c || !read_meta(p, c, error) ||
      !(p->backend = tm_backend_open(backend, options ? options : &defaults, error)))
    return NULL;
  tm_infer_net(&p->settings, p->meta.classes->n, &p->net);
  p->precision = tm_predictor_choose_precision(p);
  return make_params(p, c, error) ? g_steal_pointer(&p) : NULL;
}

static void clear_program(TmPredictProgram *s) {
  g_clear_pointer(&s->program, tm_program_free);
  g_clear_pointer(&s->graph, tm_graph_free);
  *s = (TmPredictProgram){0};
}

void tm_predictor_forget_programs(TmPredictor *p) {
  for (guint i = 0; i < TM_PREDICT_PROGRAMS; i++) clear_program(&p->programs[i]);
}

void tm_predictor_free(TmPredictor *p) {
  if (!p) return;
  tm_predictor_forget_programs(p);
  g_clear_pointer(&p->limits, g_hash_table_unref);
  g_clear_pointer(&p->bytes, tm_params_free);
  g_clear_pointer(&p->params, tm_params_free);
  g_clear_pointer(&p->backend, tm_backend_close);
  tm_net_meta_clear(&p->meta);
  g_free(p->path);
  g_free(p);
}

const TmClassTable *tm_predictor_classes(const TmPredictor *p) {
  return p->meta.classes;
}
const TmSettings *tm_predictor_settings(const TmPredictor *p) {
  return &p->settings;
}
const char *tm_predictor_checkpoint(const TmPredictor *p) {
  return p->path;
}
guint tm_predictor_epoch(const TmPredictor *p) {
  return p->meta.epoch;
}

/* ---- run ---- */

static gboolean to_bytes(TmPredictProgram *s, GError **error) {
  g_autoptr(TmQuantised) q = tm_quantised_new(s->graph, s->labels, error);
  if (!q) return FALSE;
  tm_graph_free(s->graph);
  s->graph = g_steal_pointer(&q->graph);
  s->picture = q->picture;
  s->labels = q->labels;
  return TRUE;
}

static gboolean compile(TmPredictor *p, TmPredictProgram *s, int w, int h, gboolean sure, GError **error) {
  TmNode *logits;
  s->graph = tm_graph_new();
  s->labels = tm_infer_graph(s->graph, &p->net, TM_SHAPE(1, 3, h, w), &s->picture, &logits);
  if (!tm_graph_check(s->graph, error) || (p->bytes && !to_bytes(s, error))) return FALSE;
  s->logits = sure ? logits : NULL;
  TmNode *outputs[] = {s->labels, s->logits};
  const TmProgramOptions options = {
      .precision = p->bytes ? TM_F32 : p->precision, .n_outputs = sure ? 2 : 1, .outputs = outputs};
  TmParams *params = p->bytes ? p->bytes : p->params;
  if (!(s->program = tm_program_new(p->backend, params, s->graph, &options, error))) return FALSE;
  s->w = w;
  s->h = h;
  return TRUE;
}

/* The program for this size: one of those kept, or a new one in the place of the one unused longest. */
static TmPredictProgram *program_for(TmPredictor *p, int w, int h, gboolean sure, GError **error) {
  TmPredictProgram *oldest = &p->programs[0];
  for (guint i = 0; i < TM_PREDICT_PROGRAMS; i++) {
    TmPredictProgram *s = &p->programs[i];
    if (s->w == w && s->h == h && (s->logits != NULL) == sure) {
      s->used = ++p->clock;
      return s;
    }
    if (s->used < oldest->used) oldest = s;
  }
  clear_program(oldest);
  g_autoptr(GError) why = NULL;
  if (!compile(p, oldest, w, h, sure, &why)) {
    clear_program(oldest);
    if (!g_error_matches(why, TM_ERROR, TM_ERROR_NO_MEMORY)) {
      g_propagate_error(error, g_steal_pointer(&why));
      return NULL;
    }
    /* Programs of other sizes may hold what is missing. */
    tm_predictor_forget_programs(p);
    if (!compile(p, oldest, w, h, sure, error)) {
      clear_program(oldest);
      return NULL;
    }
  }
  oldest->used = ++p->clock;
  return oldest;
}

static gboolean read_sureness(TmPredictor *p, TmPredictProgram *s, float *sure, GError **error) {
  const gsize pixels = (gsize)s->w * (gsize)s->h, classes = p->meta.classes->n;
  g_autofree float *logits = g_try_malloc(pixels * classes * sizeof *logits);
  if (!logits) {
    g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY,
                _("There is no memory for the scores of %d×%d pixels in %u classes."), s->w, s->h,
                (guint)classes);
    return FALSE;
  }
  if (!tm_program_read(s->program, s->logits, logits, TM_F32, error)) return FALSE;
  tm_sureness(logits, pixels, (guint)classes, sure);
  return TRUE;
}

gboolean tm_predictor_run_whole(TmPredictor *p, const guint8 *rgb, int w, int h, guint8 *labels, float *sure,
                                GError **error) {
  TmPredictProgram *s = program_for(p, w, h, sure != NULL, error);
  return s && tm_program_write(s->program, s->picture, rgb, TM_U8, error) &&
         tm_program_run(s->program, error) && tm_program_read(s->program, s->labels, labels, TM_U8, error) &&
         (!sure || read_sureness(p, s, sure, error));
}

/* What one tile is cut from and written to. */
typedef struct {
  const guint8 *rgb;
  int w;
  guint8 *labels, *tile_rgb, *tile_labels;
  float *sure, *tile_sure; /* may be NULL */
} Tiling;

static gboolean run_tile(TmPredictor *p, const Tiling *t, const TmSpan *x, const TmSpan *y, GError **error) {
  const gsize size = (gsize)x->size, kept = (gsize)(x->keep_to - x->keep_from);
  for (int r = 0; r < y->size; r++)
    memcpy(t->tile_rgb + (gsize)r * size * 3,
           t->rgb + ((gsize)(y->from + r) * (gsize)t->w + (gsize)x->from) * 3, size * 3);
  if (!tm_predictor_run_whole(p, t->tile_rgb, x->size, y->size, t->tile_labels, t->tile_sure, error))
    return FALSE;
  for (int r = y->keep_from; r < y->keep_to; r++) {
    const gsize to = (gsize)r * (gsize)t->w + (gsize)x->keep_from,
                from = (gsize)(r - y->from) * size + (gsize)(x->keep_from - x->from);
    memcpy(t->labels + to, t->tile_labels + from, kept);
    if (t->sure) memcpy(t->sure + to, t->tile_sure + from, kept * sizeof(float));
  }
  return TRUE;
}

gboolean tm_predictor_run_tiled(TmPredictor *p, const guint8 *rgb, int w, int h, int tile, int overlap,
                                guint8 *labels, float *sure, GError **error) {
  const gsize pixels = (gsize)tile * (gsize)tile;
  g_autoptr(GArray) across = tm_tiles_plan(w, tile, overlap), down = tm_tiles_plan(h, tile, overlap);
  g_autofree guint8 *tile_rgb = g_try_malloc(pixels * 3), *tile_labels = g_try_malloc(pixels);
  g_autofree float *tile_sure = sure ? g_try_malloc(pixels * sizeof(float)) : NULL;
  if (!tile_rgb || !tile_labels || (sure && !tile_sure)) {
    g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY, _("There is no memory for a tile of %d×%d pixels."),
                tile, tile);
    return FALSE;
  }
  const Tiling t = {rgb, w, labels, tile_rgb, tile_labels, sure, tile_sure};
  for (guint j = 0; j < down->len; j++)
    for (guint i = 0; i < across->len; i++)
      if (!run_tile(p, &t, &g_array_index(across, TmSpan, i), &g_array_index(down, TmSpan, j), error))
        return FALSE;
  return TRUE;
}

static gboolean run(TmPredictor *p, const guint8 *rgb, int w, int h, guint8 *labels, float *sure,
                    GError **error) {
  if (w < 1 || h < 1) {
    g_set_error(error, TM_ERROR, TM_ERROR_SHAPE, _("A picture of %d×%d pixels cannot be predicted."), w, h);
    return FALSE;
  }
  g_autoptr(GError) why = NULL;
  if ((gint64)w * h <= (sure ? TM_PREDICT_SURE_PIXELS : TM_PREDICT_WHOLE_PIXELS)) {
    if (tm_predictor_run_whole(p, rgb, w, h, labels, sure, &why)) return TRUE;
    if (!g_error_matches(why, TM_ERROR, TM_ERROR_NO_MEMORY)) goto failed;
  }
  for (int tile = TM_PREDICT_TILE; tile >= SMALLEST_TILE; tile /= 2) {
    if (tile >= w && tile >= h) continue; /* that was the whole */
    g_clear_error(&why);
    if (tm_predictor_run_tiled(p, rgb, w, h, tile, MIN(TM_PREDICT_OVERLAP, tile / 4), labels, sure, &why))
      return TRUE;
    if (!g_error_matches(why, TM_ERROR, TM_ERROR_NO_MEMORY)) break;
  }
failed:
  g_propagate_error(error, g_steal_pointer(&why));
  return FALSE;
}

gboolean tm_predictor_run(TmPredictor *p, const guint8 *rgb, int w, int h, guint8 *labels, GError **error) {
  return run(p, rgb, w, h, labels, NULL, error);
}

gboolean tm_predictor_tells_sureness(const TmPredictor *p) {
  return p->bytes == NULL;
}

gboolean tm_predictor_run_sure(TmPredictor *p, const guint8 *rgb, int w, int h, guint8 *labels, float *sure,
                               GError **error) {
  if (tm_predictor_tells_sureness(p)) return run(p, rgb, w, h, labels, sure, error);
  g_set_error_literal(error, TM_ERROR, TM_ERROR_UNSUPPORTED,
                      _("A network of bytes (int8) does not say how sure it is. Choose bf16 or f32."));
  return FALSE;
}
