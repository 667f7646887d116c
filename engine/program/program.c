#include "engine/program/program.h"

#include <glib/gi18n.h>
#include <string.h>

#include "engine/program/passes/compile.h"

static void compile_clear(TmCompile *c) {
  g_free(c->live);
  g_free(c->result);
  g_free(c->uses);
  g_free(c->value_of);
  g_free(c->root);
  g_free(c->channel);
  g_free(c->members);
  g_array_unref(c->steps);
  g_array_unref(c->values);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TmCompile, compile_clear)

static TmCompile compile_begin(TmBackend *backend, const TmGraph *g, const TmProgramOptions *o) {
  const guint n = tm_graph_n_nodes(g);
  return (TmCompile){.backend = backend, .graph = g, .options = o, .n_nodes = n,
                     .live = g_new0(gboolean, n), .result = g_new0(gboolean, n), .uses = g_new0(guint, n), .value_of = g_new0(gint, n),
                     .steps = g_array_new(FALSE, FALSE, sizeof(TmStep)), .values = g_array_new(FALSE, FALSE, sizeof(TmValue))};
}

/* Where a source that belongs to the parameter set, or the gradient of one, lies. NULL with an error when the set lacks it. */
static float *home_in_params(const TmParams *p, const TmValue *v, const char *name, GError **error) {
  const TmParam *one = p && name ? tm_params_find(p, name) : NULL;
  if (!one || !tm_shape_equal(one->shape, v->node->shape)) {
    g_set_error(error, TM_ERROR, TM_ERROR_SHAPE, _("The parameter “%s” is not in the set, or has another size there."), name ? name : "?");
    return NULL;
  }
  return (v->home == TM_HOME_STATE ? p->state : v->home == TM_HOME_GRAD ? p->grad : p->value) + one->offset;
}

static const char *grad_name(const TmProgramOptions *o, const TmNode *grad) {
  for (guint i = 0; i < o->n_grads; i++)
    if (o->grads[i] == grad) return o->params[i]->name;
  return NULL;
}

static gboolean resolve(TmProgram *p, const TmProgramOptions *o, GError **error) {
  for (guint i = 0; i < p->n_values; i++) {
    TmValue *v = &p->values[i];
    if (v->home == TM_HOME_ARENA || v->home == TM_HOME_OWN) {
      v->view.data = (char *)p->arena + GPOINTER_TO_SIZE(v->view.data);
    } else {
      const char *name = v->home == TM_HOME_GRAD ? grad_name(o, v->node) : v->node->name;
      v->view.data = home_in_params(p->params, v, name, error);
      if (!v->view.data) return FALSE;
    }
  }
  return TRUE;
}

static gboolean distinct_grads(const TmProgramOptions *o, GError **error) {
  for (guint i = 0; i < o->n_grads; i++)
    for (guint k = 0; k < i; k++)
      if (o->grads[i] && o->grads[i] == o->grads[k]) {
        g_set_error(error, TM_ERROR, TM_ERROR_SHAPE, _("“%s” and “%s” cannot have one gradient."), o->params[k]->name, o->params[i]->name);
        return FALSE;
      }
  return TRUE;
}

TmProgram *tm_program_plan(TmBackend *backend, const TmGraph *g, const TmProgramOptions *o, GError **error) {
  if (!tm_graph_check(g, error) || !distinct_grads(o, error)) return NULL;
  g_auto(TmCompile) c = compile_begin(backend, g, o);
  tm_pass_live(&c);
  if (!tm_pass_fuse(&c, error)) return NULL;
  tm_pass_place(&c);
  tm_pass_plan(&c);

  TmProgram *p = g_new0(TmProgram, 1);
  p->backend = backend;
  p->precision = o->precision;
  p->arena_bytes = MAX(c.arena_bytes, 64);
  p->n_values = c.values->len;
  p->values = g_memdup2(c.values->data, (gsize)p->n_values * sizeof(TmValue));
  p->n_steps = c.steps->len;
  p->steps = g_memdup2(c.steps->data, (gsize)p->n_steps * sizeof(TmStep));
  return p;
}

TmProgram *tm_program_new(TmBackend *backend, TmParams *params, const TmGraph *g, const TmProgramOptions *o, GError **error) {
  g_autoptr(TmProgram) p = tm_program_plan(backend, g, o, error);
  if (!p) return NULL;
  p->params = params;
  p->guest = o->host && o->host->arena_bytes >= p->arena_bytes;
  p->arena = p->guest ? o->host->arena : tm_backend_alloc(backend, p->arena_bytes, error);
  if (!p->arena) {
    g_prefix_error(error, _("The network's activations need %.0f MB. Use a smaller batch, crop or base width. "), (double)p->arena_bytes / 1e6);
    return NULL;
  }
  if (!resolve(p, o, error)) return NULL;
  p->prepared = backend->api->prepare(backend, p, error);
  return p->prepared ? g_steal_pointer(&p) : NULL;
}

void tm_program_free(TmProgram *p) {
  if (!p) return;
  if (p->prepared) p->backend->api->discard(p->backend, p->prepared);
  if (p->arena && !p->guest) tm_backend_release(p->backend, p->arena, p->arena_bytes);
  g_free(p->values);
  g_free(p->steps);
  g_free(p);
}

TmDType tm_program_dtype(const TmNode *node, TmDType precision) {
  switch (node->kind) {
  case TM_KIND_ACT: return precision;
  case TM_KIND_LABEL:
  case TM_KIND_PIXEL: return TM_U8;
  case TM_KIND_COUNT: return TM_I32;
  default: return TM_F32;
  }
}

double tm_program_step_bytes(const TmProgram *p, const TmStep *s) {
  double bytes = 0;
  for (guint i = 0; i < s->n_in + s->n_out; i++) {
    const TmView *v = &p->values[i < s->n_in ? s->in[i] : s->out[i - s->n_in]].view;
    bytes += (double)tm_shape_count(v->shape) * (double)tm_dtype_size(v->dtype);
  }
  return bytes;
}

const TmValue *tm_program_value(const TmProgram *p, const TmNode *node) {
  guint lo = 0, hi = p->n_values; /* values are in the order of their nodes */
  while (lo < hi) {
    const guint mid = (lo + hi) / 2;
    if (p->values[mid].node->id < node->id) lo = mid + 1;
    else hi = mid;
  }
  return lo < p->n_values && p->values[lo].node == node ? &p->values[lo] : NULL;
}

static const TmValue *readable(const TmProgram *p, const TmNode *node, GError **error) {
  const TmValue *v = tm_program_value(p, node);
  if (v && v->home != TM_HOME_ARENA) return v;
  g_set_error(error, TM_ERROR, TM_ERROR_FAILED, _("The program does not keep “%s”."), node->name ? node->name : tm_op_info(node->op)->name);
  return NULL;
}

gboolean tm_program_write(TmProgram *p, const TmNode *node, const void *src, TmDType from, GError **error) {
  const TmValue *v = readable(p, node, error);
  return v && tm_backend_write(p->backend, &v->view, src, from, error);
}

gboolean tm_program_read(TmProgram *p, const TmNode *node, void *dst, TmDType to, GError **error) {
  const TmValue *v = readable(p, node, error);
  return v && tm_backend_read(p->backend, &v->view, dst, to, error);
}

gboolean tm_program_run(TmProgram *p, GError **error) {
  g_return_val_if_fail(p->backend->owner == g_thread_self(), FALSE);
  return p->backend->api->run(p->backend, p, error);
}
