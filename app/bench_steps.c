#include "app/bench_steps.h"

#include <glib/gi18n.h>
#include <math.h>

#include "app/cli.h"
#include "engine/graph/fused.h"
#include "engine/graph/op.h"

enum { REPEATS = 3 };

static void clear_step(gpointer p) {
  g_free(((TmBenchStep *)p)->name);
}

void tm_bench_steps_free(TmBenchSteps *s) {
  if (!s) return;
  g_array_unref(s->steps);
  g_free(s);
}

static char *name_of(const TmProgram *p, const TmStep *s) {
  const TmNode *n = s->node;
  const char *op = tm_step_op_name(s->op);
  if (n->op != TM_OP_CONV && n->op != TM_OP_CONV_TRANSPOSE && n->op != TM_OP_CONV_DW &&
      n->op != TM_OP_CONV_U8)
    return g_strdup(op);
  const gboolean dw = n->op == TM_OP_CONV_DW;
  const int side = dw ? n->attrs.kernel_h : n->in[1]->shape.h;
  const TmView *from = &p->values[s->in[0]].view, *to = &p->values[dw ? s->in[1] : s->out[0]].view;
  return g_strdup_printf("%s %d×%d %d→%d", op, side, side, from->shape.c, to->shape.c);
}

/* One step as a program of its own; in training weights are packed anew every time, as there. */
static gboolean time_step(TmBackend *b, const TmProgram *p, guint i, gboolean training, double *best,
                          GError **error) {
  TmProgram one = *p;
  one.steps = &p->steps[i];
  one.n_steps = 1;
  one.prepared = b->api->prepare(b, &one, error);
  if (!one.prepared) return FALSE;
  gboolean ok = TRUE;
  *best = INFINITY;
  for (int r = 0; ok && r <= REPEATS; r++) {
    if (training) p->params->version++;
    const gint64 from = g_get_monotonic_time();
    ok = tm_program_run(&one, error) && tm_backend_synchronize(b, error);
    if (r > 0) *best = MIN(*best, (double)MAX(g_get_monotonic_time() - from, 1) * 1e-6);
  }
  b->api->discard(b, one.prepared);
  return ok;
}

static TmBenchStep *row_of(TmBenchSteps *s, char *name) {
  for (guint i = 0; i < s->steps->len; i++) {
    TmBenchStep *row = &g_array_index(s->steps, TmBenchStep, i);
    if (g_str_equal(row->name, name)) {
      g_free(name);
      return row;
    }
  }
  const TmBenchStep fresh = {.name = name};
  g_array_append_val(s->steps, fresh);
  return &g_array_index(s->steps, TmBenchStep, s->steps->len - 1);
}

static int by_seconds(gconstpointer a, gconstpointer b) {
  const double x = ((const TmBenchStep *)a)->seconds, y = ((const TmBenchStep *)b)->seconds;
  return (x < y) - (x > y);
}

TmBenchSteps *tm_bench_steps_new(TmBackend *backend, TmBenchNet *net, TmDType type, gboolean training,
                                 GError **error) {
  g_autoptr(TmBenchSteps) s = g_new0(TmBenchSteps, 1);
  s->steps = g_array_new(FALSE, FALSE, sizeof(TmBenchStep));
  g_array_set_clear_func(s->steps, clear_step);
  g_autoptr(GError) none = NULL;
  if (!tm_backend_peak(backend, type, &s->peak_flops, &s->peak_bytes, &none))
    s->peak_flops = s->peak_bytes = 0;
  const TmProgram *p = tm_bench_net_program(net);
  if (!tm_bench_net_run(net, error)) return NULL; /* that all values are there */
  for (guint i = 0; i < p->n_steps; i++) {
    double seconds;
    if (!time_step(backend, p, i, training, &seconds, error)) return NULL;
    TmBenchStep *row = row_of(s, name_of(p, &p->steps[i]));
    row->calls++;
    row->seconds += seconds;
    row->flops += tm_node_flops(p->steps[i].node);
    row->bytes += tm_program_step_bytes(p, &p->steps[i]);
  }
  g_array_sort(s->steps, by_seconds);
  return g_steal_pointer(&s);
}

static double total(const TmBenchSteps *s) {
  double sum = 0;
  for (guint i = 0; i < s->steps->len; i++) sum += g_array_index(s->steps, TmBenchStep, i).seconds;
  return sum;
}

/* " 93 %", or nothing to compare with. */
static const char *share(double part, double whole, char room[16]) {
  if (whole > 0)
    g_snprintf(room, 16, "%4.0f %%", 100 * part / whole);
  else
    g_strlcpy(room, "     –", 16);
  return room;
}

void tm_bench_steps_print(const TmBenchSteps *s) {
  const double all = total(s);
  char a[16], b[16];
  g_print(_("At best: %.0f GFLOP/s multiplied in registers, %.1f GB/s read and written by a copy\n"),
          s->peak_flops / 1e9, s->peak_bytes / 1e9);
  g_print("%-34s %5s %9s %6s %9s %6s %7s %6s\n", _("step"), _("calls"), _("ms"), _("share"), _("GFLOP/s"), "",
          _("GB/s"), "");
  for (guint i = 0; i < s->steps->len; i++) {
    const TmBenchStep *r = &g_array_index(s->steps, TmBenchStep, i);
    const double flops = r->flops / r->seconds, bytes = r->bytes / r->seconds;
    g_print("%-34s %5u %9.3f %4.1f %% %9.1f %s %7.1f %s\n", r->name, r->calls, r->seconds * 1e3,
            100 * r->seconds / all, flops / 1e9, share(flops, s->peak_flops, a), bytes / 1e9,
            share(bytes, s->peak_bytes, b));
  }
  g_print(_("All steps alone: %.1f ms\n"), all * 1e3);
}

void tm_bench_steps_json(const TmBenchSteps *s, JsonObject *out) {
  tm_cli_json_number(out, "peak_gflops", s->peak_flops / 1e9);
  tm_cli_json_number(out, "peak_gb_s", s->peak_bytes / 1e9);
  JsonArray *rows = json_array_new();
  for (guint i = 0; i < s->steps->len; i++) {
    const TmBenchStep *r = &g_array_index(s->steps, TmBenchStep, i);
    JsonObject *row = json_object_new();
    json_object_set_string_member(row, "step", r->name);
    json_object_set_int_member(row, "calls", r->calls);
    tm_cli_json_number(row, "seconds", r->seconds);
    tm_cli_json_number(row, "gflops", r->flops / r->seconds / 1e9);
    tm_cli_json_number(row, "gb_s", r->bytes / r->seconds / 1e9);
    json_array_add_object_element(rows, row);
  }
  json_object_set_array_member(out, "steps", rows);
}
