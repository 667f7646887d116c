#include "engine/backend/ref/ref.h"

#include "engine/backend/builtin.h"
#include "engine/core/tensor.h"

#include <glib/gi18n.h>
#include <unistd.h>

#define ROW(suffix, symbol) [TM_OP_##suffix] = &ref_##symbol
static const RefKernel *const kernels[TM_N_OPS] = {
    ROW(CONV, conv),
    ROW(CONV_TRANSPOSE, conv_transpose),
    ROW(CONV_DW, conv_dw),
    ROW(CONV_U8, conv_u8),
    ROW(WINOGRAD_U8, winograd_u8),
    ROW(CONV_TRANSPOSE_U8, conv_transpose_u8),
    ROW(ARGMAX_U8, argmax_u8),
    ROW(CHANNEL_SUM, channel_sum),
    ROW(BN_STATS, bn_stats),
    ROW(BN_APPLY, bn_apply),
    ROW(BN_INFER, bn_infer),
    ROW(BN_REDUCE, bn_reduce),
    ROW(BN_DX, bn_dx),
    ROW(BN_RUNNING, bn_running),
    ROW(RELU, relu),
    ROW(RELU_DX, relu_dx),
    ROW(SIGMOID, sigmoid),
    ROW(SIGMOID_DX, sigmoid_dx),
    ROW(ADD, add),
    ROW(MUL, mul),
    ROW(SCALE, scale),
    ROW(DROPOUT, dropout),
    ROW(NORMALIZE, normalize),
    ROW(MAX_POOL, max_pool),
    ROW(MAX_POOL_DX, max_pool_dx),
    ROW(UPSAMPLE_NEAREST, upsample_nearest),
    ROW(UPSAMPLE_NEAREST_DX, upsample_nearest_dx),
    ROW(UPSAMPLE_BILINEAR, upsample_bilinear),
    ROW(UPSAMPLE_BILINEAR_DX, upsample_bilinear_dx),
    ROW(CONCAT, concat),
    ROW(SLICE, slice),
    ROW(SLICE_DX, slice_dx),
    ROW(PAD, pad),
    ROW(PAD_DX, pad_dx),
    ROW(CROP, crop),
    ROW(CROP_DX, crop_dx),
    ROW(SOFTMAX, softmax),
    ROW(CROSS_ENTROPY, cross_entropy),
    ROW(CROSS_ENTROPY_DX, cross_entropy_dx),
    ROW(DICE, dice),
    ROW(DICE_DX, dice_dx),
    ROW(FOCAL, focal),
    ROW(FOCAL_DX, focal_dx),
    ROW(ARGMAX, argmax),
    ROW(CONFUSION, confusion),
};
#undef ROW

/* What a program was given: work space for its largest step. */
typedef struct {
  double *work;
  gsize bytes;
} Prepared;

static gboolean available(GError **error) {
  (void)error;
  return TRUE;
}

static TmBackend *open_ref(const TmBackendOptions *options, GError **error) {
  (void)options; /* one thread, always deterministic */
  (void)error;
  return g_new0(TmBackend, 1);
}

static void close_ref(TmBackend *b) {
  g_free(b);
}

static void info(TmBackend *b, TmBackendInfo *out) {
  (void)b;
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  *out = (TmBackendInfo){.name = g_strdup(_("Reference engine")),
                         .detail = g_strdup(_("1 thread, plain C, sums in double")),
                         .memory = pages > 0 && size > 0 ? (gsize)pages * (gsize)size : 0,
                         .threads = 1};
}

static gboolean supports(TmBackend *b, int op, const TmNode *node, TmDType precision) {
  (void)b;
  (void)node;
  return op >= 0 && op < TM_N_OPS && kernels[op] &&
         (precision == TM_F32 || precision == TM_BF16 || precision == TM_F16);
}

static gboolean takes_slice(TmBackend *b, int op, const TmNode *node, int operand, TmDType precision) {
  (void)operand;
  return supports(b, op, node, precision);
}

static void *alloc(TmBackend *b, gsize bytes, GError **error) {
  (void)b;
  void *p = tm_host_alloc(bytes);
  if (!p)
    g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY, _("There is no memory for %.1f MB."),
                (double)bytes / 1e6);
  return p;
}

static void release(TmBackend *b, void *p, gsize bytes) {
  (void)b;
  tm_host_free(p, bytes);
}

/* Pixel by pixel, or all at once when there are no gaps. */
static void transfer(char *view, gsize view_step, TmDType view_type, char *host, TmDType host_type,
                     const TmView *v, gboolean write) {
  const gboolean dense = tm_view_dense(v);
  const gsize rows = dense ? 1 : tm_shape_pixels(v->shape), n = tm_shape_count(v->shape) / rows;
  for (gsize r = 0; r < rows; r++, view += view_step, host += n * tm_dtype_size(host_type)) {
    if (write)
      tm_convert(view, view_type, host, host_type, n);
    else
      tm_convert(host, host_type, view, view_type, n);
  }
}

static gboolean write_view(TmBackend *b, const TmView *dst, const void *src, TmDType from, GError **error) {
  (void)b;
  (void)error;
  transfer(dst->data, (gsize)dst->ld * tm_dtype_size(dst->dtype), dst->dtype, (char *)src, from, dst, TRUE);
  return TRUE;
}

static gboolean read_view(TmBackend *b, const TmView *src, void *dst, TmDType to, GError **error) {
  (void)b;
  (void)error;
  transfer(src->data, (gsize)src->ld * tm_dtype_size(src->dtype), src->dtype, dst, to, src, FALSE);
  return TRUE;
}

static RefCall call_of(const TmProgram *p, const TmStep *s) {
  RefCall c = {.node = s->node, .n_in = s->n_in, .out = p->values[s->out[0]].view};
  c.wide = (gsize)c.out.shape.c;
  for (guint i = 0; i < s->n_in; i++) {
    c.in[i] = p->values[s->in[i]].view;
    c.wide = MAX(c.wide, (gsize)c.in[i].shape.c);
  }
  return c;
}

static gsize work_doubles(const TmProgram *p, const TmStep *s) {
  const RefKernel *k = kernels[s->op];
  return k->rows * call_of(p, s).wide + (k->extra ? k->extra(s->node) : 0);
}

static void discard(TmBackend *b, gpointer prepared) {
  (void)b;
  Prepared *q = prepared;
  tm_host_free(q->work, q->bytes);
  g_free(q);
}

static gpointer prepare(TmBackend *b, TmProgram *p, GError **error) {
  gsize doubles = 1;
  for (guint i = 0; i < p->n_steps; i++) doubles = MAX(doubles, work_doubles(p, &p->steps[i]));
  Prepared *q = g_new0(Prepared, 1);
  q->bytes = doubles * sizeof *q->work;
  q->work = alloc(b, q->bytes, error);
  if (q->work) return q;
  g_free(q);
  return NULL;
}

static gboolean run(TmBackend *b, TmProgram *p, GError **error) {
  (void)b;
  (void)error;
  const Prepared *q = p->prepared;
  for (guint i = 0; i < p->n_steps; i++) {
    const RefKernel *k = kernels[p->steps[i].op];
    RefCall c = call_of(p, &p->steps[i]);
    if (i == p->mark) p->marked = g_get_monotonic_time();
    c.rows = q->work;
    c.extra = q->work + k->rows * c.wide;
    k->run(&c);
  }
  return TRUE;
}

static gboolean sum_squares(TmBackend *b, const float *x, gsize n, double *out, GError **error) {
  (void)b;
  (void)error;
  double sum = 0;
  for (gsize i = 0; i < n; i++) sum += (double)x[i] * (double)x[i];
  *out = sum;
  return TRUE;
}

static gboolean update(TmBackend *b, const TmUpdate *u, GError **error) {
  (void)b;
  (void)error;
  ref_update(u);
  return TRUE;
}

static gboolean axpby(TmBackend *b, float a, const float *x, float c, float *y, gsize n, GError **error) {
  (void)b;
  (void)error;
  for (gsize i = 0; i < n; i++)
    y[i] = (float)((double)a * (double)x[i] + (c != 0 ? (double)c * (double)y[i] : 0));
  return TRUE;
}

const TmBackendApi tm_backend_ref = {
    .version = TM_BACKEND_VERSION,
    .name = "ref",
    .available = available,
    .open = open_ref,
    .close = close_ref,
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
    .sum_squares = sum_squares,
    .update = update,
    .axpby = axpby,
};
