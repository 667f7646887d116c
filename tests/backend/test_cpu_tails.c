/* Every kernel of a UNet, and of one of bytes, at every tail: 70 cases each, in which height and width take
 * all sizes from 1 to 40, and channels all numbers from 1 to 70 on both sides, on the cpu backend against
 * ref, with each table of kernels, with gaps between pixels and guards around buffers. */
#include "tests/backend/cpu_bench.h"

enum { CASES = 70, SIDES = 40, GAPS = 3 };

/* One op; the case is made for sizes n, in, out, h, w. */
typedef TmOpCase (*Make)(int in, int out, int h, int w);

static TmOpCaseInput act(int c, int h, int w) {
  return (TmOpCaseInput){TM_SHAPE(1, c, h, w), TM_KIND_ACT, TM_FILL_NORMAL};
}
static TmOpCaseInput distinct(int c, int h, int w) {
  return (TmOpCaseInput){TM_SHAPE(1, c, h, w), TM_KIND_ACT, TM_FILL_DISTINCT};
}
static TmOpCaseInput weights(int o, int i, int side) {
  return (TmOpCaseInput){TM_SHAPE(o, i, side, side), TM_KIND_PARAM, TM_FILL_NORMAL};
}
static TmOpCaseInput vector(int c) {
  return (TmOpCaseInput){TM_SHAPE(1, c, 1, 1), TM_KIND_PARAM, TM_FILL_NORMAL};
}
static TmOpCaseInput state(int c, TmFill fill) {
  return (TmOpCaseInput){TM_SHAPE(1, c, 1, 1), TM_KIND_STATE, fill};
}
static TmOpCaseInput stat(int c) {
  return (TmOpCaseInput){TM_SHAPE(1, 2 * c, 1, 1), TM_KIND_STAT, TM_FILL_NORMAL};
}
static TmOpCaseInput bytes(int c, int h, int w) {
  return (TmOpCaseInput){TM_SHAPE(1, c, h, w), TM_KIND_PIXEL, TM_FILL_PIXEL};
}
static TmOpCaseInput whole(int o, int i, int side) {
  return (TmOpCaseInput){TM_SHAPE(o, i, side, side), TM_KIND_STATE, TM_FILL_WHOLE};
}
static TmOpCaseInput planes(int c, TmFill fill) {
  return (TmOpCaseInput){TM_SHAPE(16, c, 1, 1), TM_KIND_STATE, fill};
}
static const TmOpCaseInput made_stats = {{1, 1, 1, 1}, TM_KIND_STAT, TM_FILL_MADE_STATS},
                           made_pool = {{1, 1, 1, 1}, TM_KIND_ACT, TM_FILL_MADE_POOL};

#define MAKE(label, OP, attributes, ...)                                                                     \
  static TmOpCase label(int in, int out, int h, int w) {                                                     \
    (void)out;                                                                                               \
    const TmOpCaseInput inputs[] = {__VA_ARGS__};                                                            \
    TmOpCase c = {.name = #label, .op = TM_OP_##OP, .attrs = attributes, .n_in = G_N_ELEMENTS(inputs)};      \
    for (guint i = 0; i < c.n_in; i++) c.in[i] = inputs[i];                                                  \
    return c;                                                                                                \
  }
#define ATTRS(...) ((TmAttrs){__VA_ARGS__})
MAKE(conv3, CONV, ATTRS(.pad = 1), act(in, h, w), weights(out, in, 3))
MAKE(conv3_bias, CONV, ATTRS(.pad = 1), act(in, h, w), weights(out, in, 3), vector(out))
MAKE(conv3_dx, CONV_TRANSPOSE, ATTRS(.pad = 1), act(in, h, w), weights(in, out, 3))
MAKE(conv3_dw, CONV_DW, ATTRS(.pad = 1, .kernel_h = 3, .kernel_w = 3), act(in, h, w), act(out, h, w))
MAKE(head, CONV, ATTRS(.pad = 0), act(in, h, w), weights(out, in, 1), vector(out))
MAKE(up2, CONV_TRANSPOSE, ATTRS(.stride = 2), act(in, h, w), weights(in, out, 2), vector(out))
MAKE(up2_dx, CONV, ATTRS(.stride = 2), act(in, 2 * h, 2 * w), weights(out, in, 2))
MAKE(up2_dw, CONV_DW, ATTRS(.stride = 2, .kernel_h = 2, .kernel_w = 2), act(out, 2 * h, 2 * w), act(in, h, w))
MAKE(channel_sum, CHANNEL_SUM, ATTRS(.pad = 0), act(in, h, w))
MAKE(bn_stats, BN_STATS, ATTRS(.pad = 0), act(in, h, w))
MAKE(bn_apply, BN_APPLY, ATTRS(.value = 1e-3f), act(in, h, w), made_stats, vector(in), vector(in))
MAKE(bn_infer, BN_INFER, ATTRS(.value = 1e-3f), act(in, h, w), state(in, TM_FILL_NORMAL),
     state(in, TM_FILL_POSITIVE), vector(in), vector(in))
MAKE(bn_reduce, BN_REDUCE, ATTRS(.value = 1e-3f), act(in, h, w), act(in, h, w), made_stats)
MAKE(bn_dx, BN_DX, ATTRS(.value = 1e-3f), act(in, h, w), act(in, h, w), made_stats, vector(in), stat(in))
MAKE(relu_dx, RELU_DX, ATTRS(.pad = 0), act(in, h, w), distinct(in, h, w))
MAKE(add, ADD, ATTRS(.pad = 0), act(in, h, w), act(in, h, w))
MAKE(max_pool, MAX_POOL, ATTRS(.factor = 2), distinct(in, h + 1, w + 1))
MAKE(max_pool_dx, MAX_POOL_DX, ATTRS(.factor = 2), act(in, (h + 1) / 2, (w + 1) / 2),
     distinct(in, h + 1, w + 1), made_pool)
MAKE(bilinear, UPSAMPLE_BILINEAR, ATTRS(.factor = 2), act(in, h, w))
MAKE(bilinear_dx, UPSAMPLE_BILINEAR_DX, ATTRS(.factor = 2), act(in, 2 * h, 2 * w))
MAKE(concat, CONCAT, ATTRS(.pad = 0), act(in, h, w), act(out, h, w))
MAKE(softmax, SOFTMAX, ATTRS(.pad = 0), act(in, h, w))
MAKE(argmax, ARGMAX, ATTRS(.pad = 0), distinct(in, h, w))
MAKE(conv_u8, CONV_U8, ATTRS(.pad = 0), bytes(in, h, w), whole(out, in, 3), state(out, TM_FILL_SMALL),
     state(out, TM_FILL_PIXEL), state(in, TM_FILL_PIXEL))
MAKE(winograd_u8, WINOGRAD_U8, ATTRS(.pad = 0), bytes(in, h, w), whole(out, in, 4),
     planes(out, TM_FILL_SMALL), planes(out, TM_FILL_NORMAL), state(in, TM_FILL_PIXEL))
MAKE(up2_u8, CONV_TRANSPOSE_U8, ATTRS(.pad = 0), bytes(in, h, w), whole(in, out, 2),
     state(out, TM_FILL_SMALL), state(out, TM_FILL_PIXEL))
MAKE(argmax_u8, ARGMAX_U8, ATTRS(.pad = 0), bytes(in, h, w), whole(out, in, 1), state(out, TM_FILL_SMALL),
     state(out, TM_FILL_PIXEL))
MAKE(max_pool_u8, MAX_POOL, ATTRS(.factor = 2), bytes(in, h + 1, w + 1))

static const struct {
  const char *name;
  Make make;
} ops[] = {
#define ROW(make)                                                                                            \
  { #make, make }
    ROW(conv3),       ROW(conv3_bias),  ROW(conv3_dx),    ROW(conv3_dw),    ROW(head),     ROW(up2),
    ROW(up2_dx),      ROW(up2_dw),      ROW(channel_sum), ROW(bn_stats),    ROW(bn_apply), ROW(bn_infer),
    ROW(bn_reduce),   ROW(bn_dx),       ROW(relu_dx),     ROW(add),         ROW(max_pool), ROW(max_pool_dx),
    ROW(bilinear),    ROW(bilinear_dx), ROW(concat),      ROW(softmax),     ROW(argmax),   ROW(conv_u8),
    ROW(winograd_u8), ROW(up2_u8),      ROW(argmax_u8),   ROW(max_pool_u8),
};

typedef struct {
  Make make;
  const TmKernels *table;
  TmDType precision;
} Job;

static void test_tails(gconstpointer data) {
  const Job *job = data;
  for (int i = 0; i < CASES; i++) { /* 7 and 23 have no factor in common with 40 */
    const TmOpCase c = job->make(1 + i, CASES - i, 1 + i * 7 % SIDES, 1 + i * 23 % SIDES);
    if (cpu_bench_can(&c, job->table, job->precision))
      cpu_bench_check_case(&c, job->table, job->precision, GAPS);
  }
}

/* Such an op knows no precision. */
static gboolean is_of_bytes(Make make) {
  return make(1, 1, 1, 1).in[0].kind == TM_KIND_PIXEL;
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  guint n_tables;
  const TmKernels *const *tables = tm_kernels_usable(&n_tables);
  for (guint t = 0; t < n_tables; t++)
    for (guint i = 0; i < G_N_ELEMENTS(ops); i++)
      for (int k = 0; k < (is_of_bytes(ops[i].make) ? 1 : 2); k++) {
        const Job job = {.make = ops[i].make, .table = tables[t], .precision = k ? TM_BF16 : TM_F32};
        g_autofree char *path = g_strdup_printf("/backend/cpu/tails/%s/%s/%s", tables[t]->name,
                                                tm_dtype_name(job.precision), ops[i].name);
        g_strdelimit(path, " ", '-');
        g_test_add_data_func_full(path, g_memdup2(&job, sizeof job), test_tails, g_free);
      }
  return g_test_run();
}
