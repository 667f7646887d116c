#include "app/bench_memory.h"

#include <glib/gi18n.h>

#include "app/cli.h"
#include "engine/train/layers.h"

enum { RUNS = 2 };

struct _TmBenchMemoryReport {
  guint n;      /* layers */
  char **names; /* owned: the graph may go first */
  TmShape *gives; /* a layer */
  gsize *stored;  /* bytes a layer keeps for its way back */
  TmBenchMemory predicted, actual;
  gsize peak; /* actual */
};

void tm_bench_memory_free(TmBenchMemoryReport *r) {
  if (!r) return;
  g_strfreev(r->names);
  g_free(r->gives);
  g_free(r->stored);
  g_free(r);
}

static gsize sum(const TmBenchMemory *m) {
  return m->process + m->batch + m->weights + m->values;
}

static void look_at_layers(TmBenchMemoryReport *r, const TmTrainGraph *t, const TmProgram *p) {
  g_autoptr(TmLayers) l = tm_layers_new(t);
  r->n = l->n;
  r->names = g_new0(char *, l->n + 1);
  for (guint i = 0; i < l->n; i++) r->names[i] = g_strdup(l->names[i]);
  r->gives = g_new0(TmShape, l->n);
  r->stored = g_new0(gsize, l->n);
  tm_layers_stored(l, t, p, r->stored);
  for (guint id = 0; id < t->n_forward; id++) {
    const TmNode *n = tm_graph_node(t->graph, id);
    if (n->kind == TM_KIND_ACT && n->op != TM_OP_CONCAT && n->op != TM_OP_MAX_POOL)
      r->gives[l->of[id]] = n->shape;
  }
}

TmBenchMemoryReport *tm_bench_memory_new(TmBackend *backend, TmBenchNet *net, GError **error) {
  g_autoptr(TmBenchMemoryReport) r = g_new0(TmBenchMemoryReport, 1);
  if (g_str_equal(backend->api->name, "cuda")) {
    g_set_error_literal(error, TM_ERROR, TM_ERROR_UNSUPPORTED,
                        _("This measures the memory of the process, and the step is in the GPU's. Choose --backend cpu."));
    return NULL;
  }
  for (int i = 0; i < RUNS; i++)
    if (!tm_bench_net_run(net, error)) return NULL;
  r->peak = (gsize)(tm_cli_peak_rss_mb() * 1048576);
  if (!tm_bench_net_parts(net, &r->predicted, &r->actual, error)) return NULL;
  look_at_layers(r, tm_bench_net_graph(net), tm_bench_net_program(net));
  return g_steal_pointer(&r);
}

/* ---- telling ---- */

static void print_part(const char *what, gsize predicted, gsize actual) {
  g_print("%s%*s %9.1f %9.1f\n", what, (int)MAX(0, 44 - g_utf8_strlen(what, -1)), "", (double)predicted * 1e-6,
          (double)actual * 1e-6);
}

void tm_bench_memory_print(const TmBenchMemoryReport *r) {
  const TmBenchMemory *p = &r->predicted, *a = &r->actual;
  gsize all = 0;
  g_print("%-12s %15s %9s\n", _("layer"), _("gives"), _("kept MB"));
  for (guint i = 0; i < r->n; i++) {
    const TmShape s = r->gives[i];
    g_autofree char *shape = s.c ? g_strdup_printf("%d×%d×%d", s.c, s.h, s.w) : g_strdup("");
    g_print("%-12s %*s%s %9.1f\n", r->names[i], (int)(15 - g_utf8_strlen(shape, -1)), "", shape,
            (double)r->stored[i] * 1e-6);
    all += r->stored[i];
  }
  g_print("%-28s %9.1f\n\n", _("from their way forward to their way back"), (double)all * 1e-6);
  const char *const heads[] = {_("predicted"), _("MB in memory")};
  g_print("%44s %9s %s\n", "", heads[0], heads[1]);
  print_part(_("program and libraries"), p->process, a->process);
  print_part(_("the batch"), p->batch, a->batch);
  print_part(_("weights, gradients, optimizer"), p->weights, a->weights);
  print_part(_("activations, packed weights, work space"), p->values, a->values);
  print_part(_("at most"), sum(p), r->peak);
  g_print(_("Predicted: %+.1f %% of what it took.\n"), 100 * ((double)sum(p) / (double)MAX(r->peak, 1) - 1));
}

static JsonObject *parts_json(const TmBenchMemory *m, gsize peak) {
  JsonObject *o = json_object_new();
  json_object_set_int_member(o, "process", (gint64)m->process);
  json_object_set_int_member(o, "batch", (gint64)m->batch);
  json_object_set_int_member(o, "weights", (gint64)m->weights);
  json_object_set_int_member(o, "values", (gint64)m->values);
  json_object_set_int_member(o, "peak", (gint64)peak);
  return o;
}

void tm_bench_memory_json(const TmBenchMemoryReport *r, JsonObject *out) {
  JsonArray *layers = json_array_new();
  for (guint i = 0; i < r->n; i++) {
    JsonObject *o = json_object_new();
    json_object_set_string_member(o, "name", r->names[i]);
    json_object_set_int_member(o, "stored", (gint64)r->stored[i]);
    json_array_add_object_element(layers, o);
  }
  json_object_set_array_member(out, "layers", layers);
  json_object_set_object_member(out, "predicted", parts_json(&r->predicted, sum(&r->predicted)));
  json_object_set_object_member(out, "actual", parts_json(&r->actual, r->peak));
}
