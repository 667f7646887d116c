/* eval.c: the net in inference while it is trained: programs by picture size, and large pictures in
 * overlapping tiles. */
#include <glib/gi18n.h>
#include <string.h>

#include "engine/predict/infer_graph.h"
#include "engine/predict/tiles.h"
#include "engine/train/session.h"

/* A tile judges its middle; the margin gives the net the surroundings it sees (about 90 pixels at four
 * levels). */
enum { KEPT_EVALS = 4, TILE_MARGIN = 96, SMALLEST_TILE = 256 };

void tm_eval_free(TmEval *e) {
  if (!e) return;
  tm_program_free(e->program);
  tm_graph_free(e->graph);
  g_free(e);
}

void tm_session_drop_evals(TmSession *s) {
  g_ptr_array_set_size(s->evals, 0);
}

gboolean tm_eval_graph(TmEval *e, const TmSettings *s, guint classes, TmDType precision, TmProgramOptions *options,
                       GError **error) {
  TmNode *logits = NULL;
  TmUNet net;
  tm_infer_net(s, classes, &net);
  e->graph = tm_graph_new();
  e->labels = tm_infer_graph(e->graph, &net, TM_SHAPE(e->n, 3, e->h, e->w), &e->picture, &logits);
  e->truth = tm_graph_source(e->graph, TM_OP_INPUT, TM_KIND_LABEL, TM_SHAPE(e->n, 1, e->h, e->w), "truth");
  TmNode *weights = tm_graph_source(e->graph, TM_OP_STATE, TM_KIND_STATE, TM_SHAPE(1, (int)classes, 1, 1),
                                    "class_weights");
  e->loss = tm_loss_build(e->graph, s, logits, e->truth, weights);
  e->confusion = tm_node(e->graph, TM_OP_CONFUSION, "confusion", NULL, logits, e->truth);
  e->outputs[0] = e->labels;
  e->outputs[1] = e->confusion;
  e->n_outputs = 2;
  for (guint i = 0; i < e->loss.n; i++) e->outputs[e->n_outputs++] = e->loss.parts[i];
  *options = (TmProgramOptions){.precision = precision, .n_outputs = e->n_outputs, .outputs = e->outputs};
  return tm_graph_check(e->graph, error);
}

static gboolean build(TmSession *s, TmEval *e, GError **error) {
  TmProgramOptions options;
  if (!tm_eval_graph(e, s->settings, s->classes, s->precision, &options, error)) return FALSE;
  options.host = s->program;
  e->program = tm_program_new(s->backend, s->params, e->graph, &options, error);
  return e->program != NULL;
}

static TmEval *find(TmSession *s, int n, int w, int h) {
  for (guint i = 0; i < s->evals->len; i++) {
    TmEval *e = s->evals->pdata[i];
    if (e->n == n && e->w == w && e->h == h) return e;
  }
  return NULL;
}

static void drop_oldest(TmSession *s) {
  guint oldest = 0;
  for (guint i = 1; i < s->evals->len; i++)
    if (((TmEval *)s->evals->pdata[i])->used < ((TmEval *)s->evals->pdata[oldest])->used) oldest = i;
  g_ptr_array_remove_index_fast(s->evals, oldest);
}

TmEval *tm_session_eval(TmSession *s, int n, int w, int h, GError **error) {
  TmEval *e = find(s, n, w, h);
  if (!e) {
    if (s->evals->len >= KEPT_EVALS) drop_oldest(s);
    e = g_new0(TmEval, 1);
    e->n = n;
    e->w = w;
    e->h = h;
    if (!build(s, e, error)) {
      tm_eval_free(e);
      return NULL;
    }
    g_ptr_array_add(s->evals, e);
  }
  e->used = ++s->eval_clock;
  return e;
}

gboolean tm_session_tiled(const TmSession *s, int w, int h) {
  return (gint64)w * h > s->tile_pixels;
}

/* A multiple of 32, whatever the limit not less than SMALLEST_TILE. */
int tm_eval_tile(int pixels) {
  int side = SMALLEST_TILE;
  while ((side + 32) * (side + 32) <= pixels) side += 32;
  return side;
}

static gboolean each_tile(TmSession *s, TmEval *e, const TmSample *sample, const TmSpan *x, const TmSpan *y,
                          guint8 *rgb, TmTileFunc each, gpointer user, GError **error) {
  const TmTile t = {x->from, y->from, x->keep_from, y->keep_from, x->keep_to, y->keep_to};
  const gsize row = (gsize)x->size * 3;
  for (int k = 0; k < y->size; k++)
    memcpy(rgb + (gsize)k * row, sample->rgb + ((gsize)(y->from + k) * (gsize)sample->w + (gsize)x->from) * 3,
           row);
  return each(s, e, &t, rgb, user, error);
}

gboolean tm_session_tiles(TmSession *s, const TmSample *sample, TmTileFunc each, gpointer user,
                          GError **error) {
  const int side = tm_eval_tile(s->tile_pixels), w = MIN(side, sample->w), h = MIN(side, sample->h);
  g_autoptr(GArray) across = tm_tiles_plan(sample->w, side, TILE_MARGIN),
                    down = tm_tiles_plan(sample->h, side, TILE_MARGIN);
  TmEval *e = tm_session_eval(s, 1, w, h, error);
  if (!e) return FALSE;
  g_autofree guint8 *rgb = g_try_malloc((gsize)w * (gsize)h * 3);
  if (!rgb) {
    g_set_error_literal(error, TM_ERROR, TM_ERROR_NO_MEMORY,
                        _("There is no memory for a tile of the picture."));
    return FALSE;
  }
  for (guint j = 0; j < down->len; j++)
    for (guint i = 0; i < across->len; i++)
      if (!each_tile(s, e, sample, &g_array_index(across, TmSpan, i), &g_array_index(down, TmSpan, j), rgb,
                     each, user, error))
        return FALSE;
  return TRUE;
}

/* ---- a picture's mask ---- */

typedef struct {
  const TmSample *sample;
  guint8 *labels; /* of the whole picture */
} Mask;

static gboolean predict_tile(TmSession *s, TmEval *e, const TmTile *t, const guint8 *rgb, gpointer user,
                             GError **error) {
  (void)s;
  const Mask *to = user;
  g_autofree guint8 *tile = g_malloc((gsize)e->w * (gsize)e->h);
  if (!tm_program_write(e->program, e->picture, rgb, TM_U8, error) || !tm_program_run(e->program, error) ||
      !tm_program_read(e->program, e->labels, tile, TM_U8, error))
    return FALSE;
  for (int y = t->y0; y < t->y1; y++)
    memcpy(to->labels + (gsize)y * (gsize)to->sample->w + t->x0,
           tile + (gsize)(y - t->y) * (gsize)e->w + (t->x0 - t->x), (gsize)(t->x1 - t->x0));
  return TRUE;
}

static gboolean predict(TmSession *s, const TmSample *sample, guint8 *labels, GError **error) {
  if (tm_session_tiled(s, sample->w, sample->h)) {
    Mask to = {sample, labels};
    return tm_session_tiles(s, sample, predict_tile, &to, error);
  }
  TmEval *e = tm_session_eval(s, 1, sample->w, sample->h, error);
  return e && tm_program_write(e->program, e->picture, sample->rgb, TM_U8, error) &&
         tm_program_run(e->program, error) && tm_program_read(e->program, e->labels, labels, TM_U8, error);
}

gboolean tm_session_less_memory(TmSession *s, GError **error) {
  if (!g_error_matches(*error, TM_ERROR, TM_ERROR_NO_MEMORY) ||
      s->tile_pixels <= SMALLEST_TILE * SMALLEST_TILE)
    return FALSE;
  tm_session_drop_evals(s);
  s->eval_pixels = 1;
  s->tile_pixels = MAX(s->tile_pixels / 4, SMALLEST_TILE * SMALLEST_TILE);
  g_clear_error(error);
  return TRUE;
}

gboolean tm_session_predict(TmSession *s, const TmSample *sample, guint8 *labels, GError **error) {
  g_autoptr(GError) e = NULL;
  while (!predict(s, sample, labels, &e))
    if (!tm_session_less_memory(s, &e)) {
      g_propagate_error(error, g_steal_pointer(&e));
      return FALSE;
    }
  return TRUE;
}
