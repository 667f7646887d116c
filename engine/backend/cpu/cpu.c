/* cpu.c: the slots of the cpu backend. */
#include "engine/backend/cpu/cpu.h"

#include "engine/backend/builtin.h"
#include "engine/backend/cpu/conv.h"
#include "engine/backend/cpu/conv_choose.h"
#include "engine/backend/cpu/onednn.h"
#include "engine/core/tensor.h"

#include <glib/gi18n.h>
#include <math.h>
#include <omp.h>
#include <string.h>
#include <unistd.h>

enum { MAX_THREADS = 1024, LINE = 64, WORK_MB = 256 };

/* What a program was made ready with. */
typedef struct {
  CpuRun run; /* NULL: conv */
  CpuConv *conv;
  gboolean pack_always; /* its weights are computed by the program itself */
  TmTeam team;          /* as many threads as the work space allows */
  CpuCall call;         /* points to team */
} Prepared1;

typedef struct {
  guint n_steps;
  Prepared1 *steps;
  void *work, *scratch; /* of whichever step is running */
  gsize work_bytes, scratch_bytes;
  /* In training weights move between runs: each step packs its own right before it runs, all into one place, which takes
   * no more time than packing all of them once a run. */
  gboolean lends;
  void *lent;
  gsize lent_bytes;
  gboolean packed;
  guint64 version; /* of the parameters when the weights were packed */
} Prepared;

static CpuBackend *of(TmBackend *b) {
  return (CpuBackend *)b;
}

static gboolean available(GError **error) {
  (void)error;
  return TRUE;
}

static gboolean no_memory(gsize bytes, GError **error) {
  g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY, _("There is no memory for %.1f MB."), (double)bytes / 1e6);
  return FALSE;
}

static gboolean team_new(TmTeam *team, int threads, gsize stride, GError **error) {
  *team = (TmTeam){.threads = threads, .stride = stride};
  team->work = tm_host_alloc(stride * (gsize)threads);
  return team->work || no_memory(stride * (gsize)threads, error);
}

static void close_cpu(TmBackend *b) {
  CpuBackend *c = of(b);
  tm_onednn_close(c);
  tm_cpu_conv_choices_clear(c);
  g_free(c->convolutions);
  tm_host_free(c->team.work, c->team.stride * (gsize)c->team.threads);
  g_free(c);
}

/* The variable is for tests and comparisons of whole programs. */
static char *told_convolutions(const TmBackendOptions *options) {
  const char *told = options->convolutions ? options->convolutions : g_getenv("TARMAC_CONVOLUTIONS");
  return told && *told && strcmp(told, "auto") != 0 ? g_strdup(told) : NULL;
}

TmBackend *tm_cpu_open_with(const TmBackendOptions *options, const TmKernels *table, GError **error) {
  CpuBackend *c = g_new0(CpuBackend, 1);
  c->base = (TmBackend){.api = &tm_backend_cpu, .owner = g_thread_self()};
  c->kernels = table;
  c->threads = CLAMP(options->threads > 0 ? options->threads : omp_get_num_procs(), 1, MAX_THREADS);
  omp_set_num_threads(c->threads);
  c->convolutions = told_convolutions(options);
  if (team_new(&c->team, c->threads, LINE, error) && tm_onednn_open(c, error)) return &c->base;
  close_cpu(&c->base);
  return NULL;
}

static TmBackend *open_cpu(const TmBackendOptions *options, GError **error) {
  return tm_cpu_open_with(options, tm_kernels_best(), error);
}

/* The processor's name as Linux tells it. */
static char *processor_name(void) {
  g_autofree char *text = NULL;
  if (!g_file_get_contents("/proc/cpuinfo", &text, NULL, NULL)) return g_strdup(_("Processor"));
  const char *at = strstr(text, "model name"), *colon = at ? strchr(at, ':') : NULL;
  const char *end = colon ? strchr(colon, '\n') : NULL;
  return end ? g_strstrip(g_strndup(colon + 1, (gsize)(end - colon - 1))) : g_strdup(_("Processor"));
}

static void info(TmBackend *b, TmBackendInfo *out) {
  const CpuBackend *c = of(b);
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  *out = (TmBackendInfo){.name = processor_name(),
                         .memory = pages > 0 && size > 0 ? (gsize)pages * (gsize)size : 0,
                         .threads = c->threads,
                         .bf16 = c->kernels->bf16};
  g_autofree char *onednn = tm_onednn_words();
  out->detail = g_strdup_printf(g_dngettext(NULL, "%d thread, %s%s", "%d threads, %s%s", (gulong)c->threads),
                                c->threads, c->kernels->name, onednn);
}

static gboolean supports(TmBackend *b, int op, const TmNode *node, TmDType precision) {
  if (precision != TM_F32 && precision != TM_BF16) return FALSE;
  if (tm_cpu_is_conv(op)) return tm_cpu_conv_supports(of(b), op, node, precision);
  return tm_cpu_step_run(op) != NULL;
}

static gboolean takes_slice(TmBackend *b, int op, const TmNode *node, int operand, TmDType precision) {
  return tm_cpu_is_conv(op) ? tm_cpu_conv_takes_slice(of(b), op, node, operand, precision)
                            : tm_cpu_step_takes_slice(op, operand);
}

static void *alloc(TmBackend *b, gsize bytes, GError **error) {
  (void)b;
  void *p = tm_host_alloc(bytes);
  if (!p) no_memory(bytes, error);
  return p;
}

static void release(TmBackend *b, void *p, gsize bytes) {
  (void)b;
  tm_host_free(p, bytes);
}

static gboolean is_float(TmDType t) {
  return t == TM_F32 || t == TM_BF16;
}

/* Between a view and dense host memory: by all threads where a kernel can, else pixel by pixel. */
static void transfer(CpuBackend *b, const TmView *v, void *host, TmDType host_type, gboolean write) {
  const TmView dense = {.data = host, .dtype = host_type, .shape = v->shape, .ld = v->shape.c};
  if (is_float(v->dtype) && is_float(host_type)) {
    b->kernels->window(&b->team, write ? &dense : v, 0, 0, write ? v : &dense);
    return;
  }
  const gsize runs = tm_view_dense(v) ? 1 : tm_shape_pixels(v->shape), n = tm_shape_count(v->shape) / runs;
  char *mine = v->data, *theirs = host;
  for (gsize r = 0; r < runs;
       r++, mine += (gsize)v->ld * tm_dtype_size(v->dtype), theirs += n * tm_dtype_size(host_type)) {
    if (write)
      tm_convert(mine, v->dtype, theirs, host_type, n);
    else
      tm_convert(theirs, host_type, mine, v->dtype, n);
  }
}

static gboolean write_view(TmBackend *b, const TmView *dst, const void *src, TmDType from, GError **error) {
  (void)error;
  transfer(of(b), dst, (void *)src, from, TRUE);
  return TRUE;
}

static gboolean read_view(TmBackend *b, const TmView *src, void *dst, TmDType to, GError **error) {
  (void)error;
  transfer(of(b), src, dst, to, FALSE);
  return TRUE;
}

static CpuCall call_of(CpuBackend *b, const TmProgram *p, const TmStep *s, const TmTeam *team) {
  CpuCall c = {.k = b->kernels, .team = team, .node = s->node, .n_in = s->n_in};
  for (guint i = 0; i < s->n_in; i++) c.in[i] = p->values[s->in[i]].view;
  for (guint i = 0; i < s->n_out; i++) {
    c.out[i] = p->values[s->out[i]].view;
    c.made[i] = p->values[s->out[i]].node;
  }
  return c;
}

static int widest(const CpuCall *c, guint n_out) {
  int w = 1;
  for (guint i = 0; i < c->n_in; i++) w = MAX(w, c->in[i].shape.c);
  for (guint i = 0; i < n_out; i++) w = MAX(w, c->out[i].shape.c);
  return w;
}

static void discard(TmBackend *b, gpointer prepared) {
  (void)b;
  Prepared *q = prepared;
  for (guint i = 0; i < q->n_steps; i++) tm_cpu_conv_free(q->steps[i].conv);
  tm_host_free(q->work, q->work_bytes);
  tm_host_free(q->scratch, q->scratch_bytes);
  tm_host_free(q->lent, q->lent_bytes);
  g_free(q->steps);
  g_free(q);
}

/* On many cores the gradients of wide layers, summed by each thread for itself, would take gigabytes: fewer
 * threads sum then. */
static TmTeam team_of(const CpuBackend *b, gsize stride) {
  const gsize most = ((gsize)WORK_MB << 20) / stride;
  return (TmTeam){.threads = (int)CLAMP(most, 1, (gsize)b->threads), .stride = stride};
}

static gboolean prepare_step(CpuBackend *b, const TmProgram *p, const TmStep *s, Prepared *q, Prepared1 *one,
                             GError **error) {
  one->call = call_of(b, p, s, &one->team);
  gsize stride = tm_kernels_work(widest(&one->call, s->n_out));
  if (tm_cpu_is_conv(s->op)) {
    const TmHome home = p->values[s->in[1]].home;
    one->pack_always = s->op != TM_OP_CONV_DW && home != TM_HOME_VALUE && home != TM_HOME_STATE;
    one->conv = tm_cpu_conv_new(b, s->op, &one->call, q->lends, error);
    if (!one->conv) return FALSE;
    if (q->lends) q->lent_bytes = MAX(q->lent_bytes, tm_cpu_conv_packed(one->conv));
    stride = MAX(stride, tm_cpu_conv_team_work(one->conv));
    q->scratch_bytes = MAX(q->scratch_bytes, tm_cpu_conv_scratch(one->conv));
  } else {
    one->run = tm_cpu_step_run(s->op);
  }
  one->team = team_of(b, stride);
  q->work_bytes = MAX(q->work_bytes, stride * (gsize)one->team.threads);
  return TRUE;
}

static gboolean allocate_work(Prepared *q, GError **error) {
  q->work = tm_host_alloc(q->work_bytes);
  q->scratch = tm_host_alloc(q->scratch_bytes);
  q->lent = tm_host_alloc(q->lent_bytes);
  if (!q->work || !q->scratch || !q->lent)
    return no_memory(q->work_bytes + q->scratch_bytes + q->lent_bytes, error);
  for (guint i = 0; i < q->n_steps; i++) {
    if (q->lends && q->steps[i].conv) tm_cpu_conv_lend(q->steps[i].conv, q->lent);
    q->steps[i].team.work = q->work;
    q->steps[i].team.shared = q->scratch;
  }
  return TRUE;
}

static gboolean trains(const TmProgram *p) {
  for (guint i = 0; i < p->n_steps; i++)
    if (p->steps[i].op == TM_OP_CONV_DW) return TRUE;
  return FALSE;
}

static gpointer prepare(TmBackend *backend, TmProgram *p, GError **error) {
  CpuBackend *b = of(backend);
  Prepared *q = g_new0(Prepared, 1);
  q->steps = g_new0(Prepared1, p->n_steps);
  q->n_steps = p->n_steps;
  q->lends = trains(p);
  omp_set_num_threads(b->threads); /* oneDNN makes primitives for so many */
  gboolean ok = TRUE;
  for (guint i = 0; ok && i < p->n_steps; i++) ok = prepare_step(b, p, &p->steps[i], q, &q->steps[i], error);
  if (ok && allocate_work(q, error)) return q;
  discard(backend, q);
  return NULL;
}

/* Step by step as prepare makes them, each freed before the next. */
static gboolean needs(TmBackend *backend, const TmProgram *p, gsize *bytes, GError **error) {
  CpuBackend *b = of(backend);
  Prepared most = {.lends = trains(p)};
  gsize held = 0;
  omp_set_num_threads(b->threads);
  for (guint i = 0; i < p->n_steps; i++) {
    Prepared1 one = {0};
    const gboolean ok = prepare_step(b, p, &p->steps[i], &most, &one, error);
    if (one.conv) held += tm_cpu_conv_held(one.conv);
    tm_cpu_conv_free(one.conv);
    if (!ok) return FALSE;
  }
  *bytes = held + most.work_bytes + most.scratch_bytes + most.lent_bytes;
  return TRUE;
}

static gboolean run(TmBackend *b, TmProgram *p, GError **error) {
  Prepared *q = p->prepared;
  const gboolean moved = q->lends || !q->packed || (p->params && p->params->version != q->version);
  omp_set_num_threads(of(b)->threads); /* another backend of this thread may have changed it */
  for (guint i = 0; i < q->n_steps; i++) {
    Prepared1 *s = &q->steps[i];
    if (i == p->mark) p->marked = g_get_monotonic_time();
    if (s->run) {
      s->run(&s->call);
      continue;
    }
    if ((moved || s->pack_always) && !tm_cpu_conv_pack(s->conv, &s->call, error)) return FALSE;
    if (!tm_cpu_conv_run(s->conv, &s->call, q->scratch, error)) return FALSE;
  }
  q->packed = TRUE;
  q->version = p->params ? p->params->version : 0;
  return TRUE;
}

static gboolean sum_squares(TmBackend *b, const float *x, gsize n, double *out, GError **error) {
  (void)error;
  of(b)->kernels->sum_squares(&of(b)->team, x, n, out);
  return TRUE;
}

static gboolean update(TmBackend *b, const TmUpdate *u, GError **error) {
  (void)error;
  const TmRule rules[] = {[TM_OPTIMIZER_SGD] = TM_RULE_SGD,
                          [TM_OPTIMIZER_ADAM] = TM_RULE_ADAM,
                          [TM_OPTIMIZER_ADAMW] = TM_RULE_ADAMW};
  const double step = (double)u->step;
  const TmUpdateRule r = {.rule = rules[u->kind],
                          .n = u->n,
                          .w = u->w,
                          .m = u->m,
                          .v = u->v,
                          .g = u->g,
                          .grad_scale = u->grad_scale,
                          .lr = u->lr,
                          .beta1 = u->beta1,
                          .beta2 = u->beta2,
                          .eps = u->eps,
                          .weight_decay = u->weight_decay,
                          .momentum = u->momentum,
                          .correct1 = (float)(1 / (1 - pow((double)u->beta1, step))),
                          .correct2 = (float)(1 / (1 - pow((double)u->beta2, step))),
                          .first = u->step == 1,
                          .ema = u->ema,
                          .ema_decay = u->ema_decay};
  of(b)->kernels->update(&of(b)->team, &r);
  return TRUE;
}

static gboolean axpby(TmBackend *b, float a, const float *x, float c, float *y, gsize n, GError **error) {
  (void)error;
  of(b)->kernels->axpby(&of(b)->team, a, x, c, y, n);
  return TRUE;
}

static gboolean synchronize(TmBackend *b, GError **error) {
  return tm_onednn_wait(of(b), error);
}

const TmBackendApi tm_backend_cpu = {
    .version = TM_BACKEND_VERSION,
    .name = "cpu",
    .available = available,
    .open = open_cpu,
    .close = close_cpu,
    .info = info,
    .supports = supports,
    .takes_slice = takes_slice,
    .alloc = alloc,
    .release = release,
    .write = write_view,
    .read = read_view,
    .prepare = prepare,
    .run = run,
    .discard = discard,
    .needs = needs,
    .sum_squares = sum_squares,
    .update = update,
    .axpby = axpby,
    .synchronize = synchronize,
    .peak = tm_cpu_peak,
};
