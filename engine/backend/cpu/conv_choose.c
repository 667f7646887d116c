/* conv_choose.c: the fastest way by measurement. What is measured is a small picture on one thread, by that
 * thread's own time, which other programs hardly disturb; the ratio between the ways depends on the channels,
 * not on the size of the picture. A way that is not clearly faster than the one before it in the list is not
 * taken, so that a second measurement would say the same. */
#include "engine/backend/cpu/conv_choose.h"

#include "engine/core/tensor.h"

#include <omp.h>
#include <string.h>
#include <time.h>

/* In order of trust: what no measurement decides goes the first way that takes it. */
static const CpuConvWay *const ways[] = {
    &tm_cpu_conv_up2,    &tm_cpu_conv_direct, &tm_cpu_conv_winograd,
#ifdef TM_HAVE_ONEDNN
    &tm_cpu_conv_onednn,
#endif
    &tm_cpu_conv_plain,
};

static const double clearly = 0.9, most_flops = 1e9;
enum { RUNS = 4, LEAST_PIXELS = 64, MOST_SIDE = 64 };

/* ---- measuring ---- */

static double own_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Memory of the operands of a measurement. */
typedef struct {
  void *p[3];
  gsize bytes[3];
} Operands;

static gboolean make_operand(Operands *o, guint i, TmView *v, TmShape shape, TmDType type) {
  *v = (TmView){.dtype = type, .shape = shape, .ld = shape.c};
  o->bytes[i] = tm_shape_count(shape) * tm_dtype_size(type) + 64;
  v->data = o->p[i] = tm_host_alloc(o->bytes[i]);
  if (!v->data) return FALSE;
  if (type == TM_BF16)
    for (gsize k = 0; k < tm_shape_count(shape); k++) ((guint16 *)v->data)[k] = (guint16)(0x3e00 + k % 61);
  else
    for (gsize k = 0; k < tm_shape_count(shape); k++) ((float *)v->data)[k] = 0.01f * (float)(k % 61);
  return TRUE;
}

static gboolean make_call(const CpuConvShape *s, TmDType type, CpuCall *c, Operands *o) {
  TmView *wide = s->op == TM_OP_CONV_TRANSPOSE ? &c->out[0] : &c->in[0];
  TmView *deep = s->op == TM_OP_CONV ? &c->out[0] : s->op == TM_OP_CONV_DW ? &c->in[1] : &c->in[0];
  TmView *weights = s->op == TM_OP_CONV_DW ? &c->out[0] : &c->in[1];
  c->n_in = 2;
  return make_operand(o, 0, wide, s->wide, type) && make_operand(o, 1, deep, s->deep, type) &&
         make_operand(o, 2, weights, s->weights, TM_F32);
}

/* The best of a few runs; -1 when it did not run. */
static double time_runs(CpuConv *v, const CpuCall *c, void *scratch) {
  double best = -1;
  if (!tm_cpu_conv_pack(v, c, NULL)) return best;
  for (int r = 0; r < RUNS; r++) {
    const double from = own_seconds();
    if (!tm_cpu_conv_run(v, c, scratch, NULL)) return -1;
    const double t = own_seconds() - from;
    if (r > 0 && (best < 0 || t < best)) best = t; /* the first run fetches code and data */
  }
  return best;
}

static double time_way(CpuBackend *b, const CpuConvWay *way, const CpuConvShape *s, TmDType type) {
  TmTeam team = {.threads = 1};
  CpuCall call = {.k = b->kernels, .team = &team};
  Operands o = {0};
  double seconds = -1;
  omp_set_num_threads(1); /* oneDNN makes primitives for so many */
  CpuConv *v = make_call(s, type, &call, &o) ? tm_cpu_conv_new_way(b, way, s, s->op, &call, FALSE, NULL) : NULL;
  if (v) {
    team.stride = MAX(tm_kernels_work(MAX(s->wide.c, s->deep.c)), tm_cpu_conv_team_work(v));
    team.work = tm_host_alloc(team.stride);
    void *scratch = tm_host_alloc(MAX(tm_cpu_conv_scratch(v), 64));
    team.shared = scratch;
    if (team.work && scratch) seconds = time_runs(v, &call, scratch);
    tm_host_free(scratch, MAX(tm_cpu_conv_scratch(v), 64));
    tm_host_free(team.work, team.stride);
    tm_cpu_conv_free(v);
  }
  omp_set_num_threads(b->threads);
  for (guint i = 0; i < G_N_ELEMENTS(o.p); i++) tm_host_free(o.p[i], o.bytes[i]);
  return seconds;
}

/* One picture, as large as is quick. Of a weights' gradient more pixels: the gradient is written whatever
 * they are, and would else be all that is measured of wide layers. */
static CpuConvShape small(const CpuConvShape *s) {
  CpuConvShape z = *s;
  const int pictures = s->op == TM_OP_CONV_DW ? 4 : 1;
  const double pixels = most_flops / (2.0 * (double)tm_shape_count(s->weights));
  int side = 16;
  while (side < MOST_SIDE && (double)(side * 2) * (side * 2) <= pixels) side *= 2;
  z.wide = (TmShape){side < MOST_SIDE ? pictures : 1, s->wide.c, side, side};
  z.deep = (TmShape){z.wide.n, s->deep.c, side, side};
  return z;
}

/* ---- remembering ---- */

/* Read when the first choice is made: most programs never make one. */
static TmMachineCache *cache_of(CpuBackend *b) {
  if (b->measured) return b->measured;
  TmBackendInfo info;
  tm_backend_info(&b->base, &info);
  g_autofree char *machine = g_strdup_printf("%s, %s, %s", info.name, b->kernels->name, TM_VERSION);
  tm_backend_info_clear(&info);
  return b->measured = tm_machine_cache_new("convolutions.ini", machine);
}

static char *key_of(const CpuConvShape *s, TmDType type) {
  static const char *const names[] = {
      [TM_OP_CONV] = "forward", [TM_OP_CONV_TRANSPOSE] = "backward", [TM_OP_CONV_DW] = "gradient"};
  return g_strdup_printf("%s-%d-%d-%s%s", names[s->op], s->wide.c, s->deep.c, tm_dtype_name(type),
                         s->bias ? "-bias" : "");
}

static const CpuConvWay *remembered(CpuBackend *b, const CpuConvShape *s, TmDType type, const char *key) {
  g_autofree char *text = tm_machine_cache_get(cache_of(b), key);
  if (!text) return NULL;
  text[strcspn(text, " ")] = '\0';
  for (guint i = 0; i < G_N_ELEMENTS(ways); i++)
    if (strcmp(ways[i]->name, text) == 0 && ways[i]->takes(b, s, type)) return ways[i];
  return NULL;
}

/* ---- choosing ---- */

/* Remembered as "winograd of direct 2.05 winograd 1.23 onednn 2.31 ms". */
static const CpuConvWay *measure(CpuBackend *b, const CpuConvShape *s, TmDType type, const char *key) {
  const CpuConvShape z = small(s);
  const CpuConvWay *best = NULL;
  double least = 0;
  g_autoptr(GString) others = g_string_new(NULL);
  for (guint i = 0; i < G_N_ELEMENTS(ways); i++) {
    if (ways[i] == &tm_cpu_conv_plain || !ways[i]->takes(b, &z, type)) continue;
    const double t = time_way(b, ways[i], &z, type);
    if (t < 0) continue;
    if (!best || t < clearly * least) {
      best = ways[i];
      least = t;
    }
    g_string_append_printf(others, " %s %.4f", ways[i]->name, t * 1e3);
  }
  if (!best) return NULL;
  g_autofree char *text = g_strdup_printf("%s of%s ms", best->name, others->str);
  tm_machine_cache_set(cache_of(b), key, text);
  return best;
}

/* The first way, the one the backend was told before all others. */
static const CpuConvWay *first(const CpuBackend *b, const CpuConvShape *s, TmDType type, const char *told,
                               guint *n) {
  const CpuConvWay *found = NULL;
  *n = 0;
  for (guint i = 0; i < G_N_ELEMENTS(ways); i++) {
    if (!ways[i]->takes(b, s, type)) continue;
    if (ways[i] != &tm_cpu_conv_plain) ++*n;
    if (!found || (told && strcmp(ways[i]->name, told) == 0)) found = ways[i];
  }
  return found;
}

const CpuConvWay *tm_cpu_conv_choose(CpuBackend *b, const CpuConvShape *s, TmDType type) {
  guint n;
  const CpuConvWay *way = first(b, s, type, b->convolutions, &n);
  if (n < 2 || b->convolutions || !tm_cpu_conv_is_3x3(s) || tm_shape_pixels(s->deep) < LEAST_PIXELS)
    return way;
  if (!b->choices) b->choices = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_autofree char *key = key_of(s, type);
  const CpuConvWay *known = g_hash_table_lookup(b->choices, key);
  if (known) return known;
  known = remembered(b, s, type, key);
  if (!known) known = measure(b, s, type, key);
  if (!known) known = way;
  g_hash_table_insert(b->choices, g_steal_pointer(&key), (gpointer)known);
  return known;
}

void tm_cpu_conv_choices_clear(CpuBackend *b) {
  g_clear_pointer(&b->choices, g_hash_table_unref);
  g_clear_pointer(&b->measured, tm_machine_cache_free);
}
