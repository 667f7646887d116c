#include "engine/train/rates.h"

#include <time.h>

#include "engine/core/machine_cache.h"

/* A run as short as LEAST_S says little; pictures are enlarged until one takes that long, or as large as
 * MOST_SIDE. */
enum {
  FIRST_SIDE = 16,
  MOST_SIDE = 256,
  MOST_CHANNELS = 128,
  LEAST_CHANNELS = 4,
  PASS_CHANNELS = 32,
  RUNS = 3
};
#define LEAST_S 4e-3

/* What a thread of a usual processor does: for as long as this one's own rates cannot be measured. */
static const double rough_flops = 2e11, rough_bytes = 1e10;
enum { LOOK_US = 5000, LOOKS = 2, MOST_SPINNERS = 256, ROUGH_CHANNELS = 4 };

struct _TmRates {
  TmBackend *backend;
  TmMachineCache *known;
  int threads;     /* the backend's on the processor; 0: it computes elsewhere */
  gboolean looked; /* the next is known */
  gboolean busy;   /* other programs use the processor */
  gboolean rough;
};

/* A convolution to be measured, standing for all like it. */
typedef struct {
  TmOp op;
  int kernel, stride, in,
      out; /* channels of the op's first input and of its output (conv_dw: of both inputs) */
  TmDType precision;
} Kind;

TmRates *tm_rates_new(TmBackend *backend, const char *convolutions) {
  TmRates *r = g_new0(TmRates, 1);
  TmBackendInfo info;
  tm_backend_info(backend, &info);
  g_autofree char *machine =
      g_strdup_printf("%s, %s, %d, %s, %s", backend->api->name, info.name ? info.name : "?", info.threads,
                      convolutions ? convolutions : "auto", TM_VERSION);
  r->threads = g_str_equal(backend->api->name, "cuda") ? 0 : CLAMP(info.threads, 1, MOST_SPINNERS);
  tm_backend_info_clear(&info);
  r->backend = backend;
  r->known = tm_machine_cache_new("rates.ini", machine);
  return r;
}

void tm_rates_free(TmRates *r) {
  if (!r) return;
  tm_machine_cache_free(r->known);
  g_free(r);
}

gboolean tm_rates_rough(const TmRates *r) {
  return r->rough;
}

/* ---- is there anything to measure now? ---- */

typedef struct {
  gint64 begin;
  double share; /* of the time since then that the thread was given */
} Spinner;

static gpointer spin(gpointer data) {
  Spinner *s = data;
  struct timespec t;
  while (g_get_monotonic_time() - s->begin < LOOK_US) continue;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  const double own = (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
  s->share = own / (double)(g_get_monotonic_time() - s->begin);
  return NULL;
}

/* Does each of so many threads get a processor of its own? */
static gboolean alone(int n) {
  g_autofree Spinner *s = g_new0(Spinner, n);
  g_autofree GThread **t = g_new0(GThread *, n);
  gboolean all = TRUE;
  for (int i = 0; i < n; i++) {
    s[i].begin = g_get_monotonic_time();
    t[i] = g_thread_try_new("tarmac-look", spin, &s[i], NULL);
  }
  for (int i = 0; i < n; i++) {
    if (t[i]) g_thread_join(t[i]);
    all &= s[i].share > 0.85;
  }
  return all;
}

/* Where others use the processor a measurement says how busy it is, not how fast, takes long, and would be kept. */
static gboolean is_busy(TmRates *r) {
  if (r->looked || r->threads == 0) return r->busy;
  r->looked = r->busy = TRUE;
  for (int i = 0; i < LOOKS && r->busy; i++) r->busy = !alone(r->threads);
  return r->busy;
}

/* ---- measuring ---- */

/* A graph of one node, compiled. */
typedef struct {
  TmGraph *graph;
  TmParams *params;
  TmProgram *program;
  TmNode *node;
} Probe;

static void probe_clear(Probe *p) {
  tm_program_free(p->program);
  tm_params_free(p->params);
  tm_graph_free(p->graph);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Probe, probe_clear)

static TmNode *source(Probe *p, TmOp op, TmKind kind, TmShape s, const char *name) {
  return tm_graph_source(p->graph, op, kind, s, name);
}

static void build_convolution(Probe *p, const Kind *k, int side) {
  const TmAttrs a = {.stride = k->stride,
                     .pad = k->stride == 1 ? k->kernel / 2 : 0,
                     .kernel_h = k->op == TM_OP_CONV_DW ? k->kernel : 0,
                     .kernel_w = k->op == TM_OP_CONV_DW ? k->kernel : 0};
  const int half = side / k->stride, wide = k->op == TM_OP_CONV_TRANSPOSE ? half : side;
  TmNode *x = source(p, TM_OP_INPUT, TM_KIND_ACT, TM_SHAPE(1, k->in, wide, wide), "x"), *y;
  if (k->op == TM_OP_CONV_DW)
    y = source(p, TM_OP_INPUT, TM_KIND_ACT, TM_SHAPE(1, k->out, half, half), "y");
  else
    y = source(p, TM_OP_PARAM, TM_KIND_PARAM,
               k->op == TM_OP_CONV ? TM_SHAPE(k->out, k->in, k->kernel, k->kernel)
                                   : TM_SHAPE(k->in, k->out, k->kernel, k->kernel),
               "w");
  p->node = tm_node(p->graph, k->op, NULL, &a, x, y);
}

/* What most steps between convolutions do: every element read once and written once. */
static void build_pass(Probe *p, int side) {
  const TmShape vector = TM_SHAPE(1, PASS_CHANNELS, 1, 1);
  const TmAttrs eps = {.value = 1e-5f};
  TmNode *x = source(p, TM_OP_INPUT, TM_KIND_ACT, TM_SHAPE(1, PASS_CHANNELS, side, side), "x");
  TmNode *stats = source(p, TM_OP_STATE, TM_KIND_STATE, TM_SHAPE(1, 2 * PASS_CHANNELS, 1, 1), "stats");
  TmNode *gamma = source(p, TM_OP_PARAM, TM_KIND_PARAM, vector, "gamma");
  TmNode *beta = source(p, TM_OP_PARAM, TM_KIND_PARAM, vector, "beta");
  p->node = tm_node(p->graph, TM_OP_BN_APPLY, NULL, &eps, x, stats, gamma, beta);
}

/* @kind NULL: a pass. */
static gboolean build(TmRates *r, const Kind *kind, TmDType precision, int side, Probe *p, GError **error) {
  p->graph = tm_graph_new();
  if (kind)
    build_convolution(p, kind, side);
  else
    build_pass(p, side);
  if (!tm_graph_check(p->graph, error) || !(p->params = tm_params_new(r->backend, p->graph, error)))
    return FALSE;
  const TmProgramOptions options = {.precision = precision, .n_outputs = 1, .outputs = &p->node};
  p->program = tm_program_new(r->backend, p->params, p->graph, &options, error);
  return p->program != NULL;
}

static gboolean time_run(TmRates *r, Probe *p, double *seconds, GError **error) {
  const gint64 begin = g_get_monotonic_time();
  if (!tm_program_run(p->program, error) || !tm_backend_synchronize(r->backend, error)) return FALSE;
  *seconds = (double)MAX(g_get_monotonic_time() - begin, 1) * 1e-6;
  return TRUE;
}

/* The best of a few runs: other programs may be using the processor too. */
static gboolean time_probe(TmRates *r, Probe *p, double *best, GError **error) {
  double seconds;
  if (!time_run(r, p, best, error)) return FALSE; /* packs weights, fetches code */
  for (int i = 0; i < RUNS; i++) {
    if (!time_run(r, p, &seconds, error)) return FALSE;
    *best = i ? MIN(*best, seconds) : seconds;
  }
  return TRUE;
}

/* Work a second: FLOPs for a convolution, bytes for a pass. */
static gboolean measure(TmRates *r, const Kind *kind, TmDType precision, double *rate, GError **error) {
  for (int side = FIRST_SIDE;; side *= 2) {
    g_auto(Probe) p = {0};
    double seconds;
    if (!build(r, kind, precision, side, &p, error) || !time_probe(r, &p, &seconds, error)) return FALSE;
    if (seconds < LEAST_S && side < MOST_SIDE * (kind ? 1 : 4)) continue;
    *rate = (kind ? tm_node_flops(p.node) : tm_node_bytes(p.node, tm_dtype_size(precision))) / seconds;
    return TRUE;
  }
}

static gboolean rate_of(TmRates *r, const char *key, const Kind *kind, TmDType precision, double *rate,
                        GError **error) {
  g_autofree char *known = tm_machine_cache_get(r->known, key);
  char *end = NULL;
  *rate = known ? g_ascii_strtod(known, &end) : 0;
  if (*rate > 0 && *end == '\0') return TRUE;
  if (is_busy(r)) {
    r->rough = TRUE;
    *rate = kind ? rough_flops * r->threads : rough_bytes * MIN(r->threads, ROUGH_CHANNELS);
    return TRUE;
  }
  if (!measure(r, kind, precision, rate, error)) return FALSE;
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  tm_machine_cache_set(r->known, key, g_ascii_dtostr(text, sizeof text, *rate));
  return TRUE;
}

/* ---- steps ---- */

gboolean tm_rates_pass(TmRates *r, double bytes, TmDType precision, double *seconds, GError **error) {
  g_autofree char *key = g_strdup_printf("pass-%s", tm_dtype_name(precision));
  double rate;
  if (!rate_of(r, key, NULL, precision, &rate, error)) return FALSE;
  *seconds = bytes / rate;
  return TRUE;
}

/* The next power of two: nets differ, their layers' kinds are few. */
static int rounded(int channels) {
  int c = LEAST_CHANNELS;
  while (c < channels && c < MOST_CHANNELS) c *= 2;
  return c;
}

static Kind kind_of(const TmNode *n, TmDType precision) {
  const int out = n->op == TM_OP_CONV_DW ? n->in[1]->shape.c : n->shape.c;
  return (Kind){.op = n->op,
                .kernel = n->op == TM_OP_CONV_DW ? n->attrs.kernel_h : n->in[1]->shape.h,
                .stride = MAX(n->attrs.stride, 1),
                .in = rounded(n->in[0]->shape.c),
                .out = rounded(out),
                .precision = precision};
}

gboolean tm_rates_step(TmRates *r, const TmProgram *plan, guint i, double *seconds, GError **error) {
  const TmStep *s = &plan->steps[i];
  const TmNode *n = s->node;
  double rate;
  if (!tm_rates_pass(r, tm_program_step_bytes(plan, s), plan->precision, seconds, error)) return FALSE;
  if (n->op != TM_OP_CONV && n->op != TM_OP_CONV_TRANSPOSE && n->op != TM_OP_CONV_DW) return TRUE;
  const Kind k = kind_of(n, plan->precision);
  g_autofree char *key = g_strdup_printf("%s-%d-%d-%d-%d-%s", tm_op_info(k.op)->name, k.kernel, k.stride,
                                         k.in, k.out, tm_dtype_name(k.precision));
  if (!rate_of(r, key, &k, k.precision, &rate, error)) return FALSE;
  *seconds = MAX(*seconds, tm_node_flops(n) / rate);
  return TRUE;
}
