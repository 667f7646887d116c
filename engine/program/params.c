#include "engine/program/params.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "engine/core/random.h"
#include "engine/core/tensor.h"

enum { ALIGN = 16 }; /* elements: 64 bytes, one AVX-512 register */

static void clear_param(gpointer p) { g_free(((TmParam *)p)->name); }

static gsize padded(gsize n) { return (n + ALIGN - 1) / ALIGN * ALIGN; }

static void collect(TmParams *p, const TmGraph *g) {
  for (guint id = 0; id < tm_graph_n_nodes(g); id++) {
    const TmNode *n = tm_graph_node(g, id);
    if (n->op != TM_OP_PARAM && n->op != TM_OP_STATE) continue;
    const gboolean trained = n->op == TM_OP_PARAM;
    gsize *end = trained ? &p->n_value : &p->n_state;
    const TmParam one = {.name = g_strdup(n->name), .shape = n->shape, .offset = *end, .trained = trained,
                         .fill = n->attrs.value, .fan_in = n->attrs.count};
    *end += padded(tm_shape_count(n->shape));
    g_array_append_val(p->list, one);
  }
}

TmParams *tm_params_new(TmBackend *backend, const TmGraph *g, GError **error) {
  g_autoptr(TmParams) p = g_new0(TmParams, 1);
  p->backend = backend;
  p->list = g_array_new(FALSE, FALSE, sizeof(TmParam));
  g_array_set_clear_func(p->list, clear_param);
  collect(p, g);
  const gsize value_bytes = MAX(p->n_value, 1) * sizeof(float), state_bytes = MAX(p->n_state, 1) * sizeof(float);
  p->value = tm_backend_alloc(backend, value_bytes, error);
  if (!p->value) return NULL;
  p->grad = tm_backend_alloc(backend, value_bytes, error);
  if (!p->grad) return NULL;
  p->state = tm_backend_alloc(backend, state_bytes, error);
  if (!p->state || !tm_params_init(p, 0, error)) return NULL;
  return g_steal_pointer(&p);
}

void tm_params_free(TmParams *p) {
  if (!p) return;
  if (p->value) tm_backend_release(p->backend, p->value, MAX(p->n_value, 1) * sizeof(float));
  if (p->grad) tm_backend_release(p->backend, p->grad, MAX(p->n_value, 1) * sizeof(float));
  if (p->state) tm_backend_release(p->backend, p->state, MAX(p->n_state, 1) * sizeof(float));
  g_array_unref(p->list);
  g_free(p);
}

const TmParam *tm_params_find(const TmParams *p, const char *name) {
  for (guint i = 0; i < p->list->len; i++) {
    const TmParam *one = &g_array_index(p->list, TmParam, i);
    if (strcmp(one->name, name) == 0) return one;
  }
  return NULL;
}

gsize tm_params_count(const TmParams *p) {
  gsize n = 0;
  for (guint i = 0; i < p->list->len; i++) {
    const TmParam *one = &g_array_index(p->list, TmParam, i);
    if (one->trained) n += tm_shape_count(one->shape);
  }
  return n;
}

static TmView view_of(const TmParams *p, const TmParam *which, gboolean grad) {
  float *base = !which->trained ? p->state : grad ? p->grad : p->value;
  return (TmView){.data = base + which->offset, .dtype = TM_F32, .shape = which->shape, .ld = which->shape.c};
}

gboolean tm_params_write(TmParams *p, const TmParam *which, const float *src, GError **error) {
  const TmView v = view_of(p, which, FALSE);
  p->version++;
  return tm_backend_write(p->backend, &v, src, TM_F32, error);
}

gboolean tm_params_read(TmParams *p, const TmParam *which, gboolean grad, float *dst, GError **error) {
  const TmView v = view_of(p, which, grad);
  return tm_backend_read(p->backend, &v, dst, TM_F32, error);
}

gboolean tm_params_init(TmParams *p, guint64 seed, GError **error) {
  for (guint i = 0; i < p->list->len; i++) {
    const TmParam *one = &g_array_index(p->list, TmParam, i);
    g_autoptr(TmTensor) t = tm_tensor_new(TM_F32, one->shape, error);
    if (!t) return FALSE;
    float *x = t->data;
    const gsize n = tm_shape_count(one->shape);
    const float bound = one->fan_in > 0 ? 1 / sqrtf((float)one->fan_in) : 0;
    TmRandom r;
    tm_random_seed(&r, tm_random_hash(seed, i, 0));
    for (gsize k = 0; k < n; k++) x[k] = one->fan_in > 0 ? tm_random_range(&r, -bound, bound) : one->fill;
    if (!tm_params_write(p, one, x, error)) return FALSE;
  }
  return TRUE;
}
