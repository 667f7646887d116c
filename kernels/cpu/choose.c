/* choose.c: the tables, and which of them this processor can run. Compiled once, for any processor. */
#include "kernels/conv3.h"
#include "kernels/conv8.h"
#include "kernels/kernels.h"
#include "kernels/winograd.h"

#define TM_KERNEL(name, arguments) void tm_kernel_##name##_plain arguments;
#include "kernels/kernels.def"
#undef TM_KERNEL
static const TmKernels plain_table = {
    .name = "plain C",
    .lanes = 4,
#define TM_KERNEL(name, arguments) .name = tm_kernel_##name##_plain,
#include "kernels/kernels.def"
#undef TM_KERNEL
};

#ifdef TM_KERNELS_X86
#define TM_KERNEL(name, arguments) void tm_kernel_##name##_avx2 arguments;
#include "kernels/kernels.def"
#undef TM_KERNEL
static const TmKernels avx2_table = {
    .name = "AVX2",
    .lanes = 8,
#define TM_KERNEL(name, arguments) .name = tm_kernel_##name##_avx2,
#include "kernels/kernels.def"
#undef TM_KERNEL
};

#define TM_KERNEL(name, arguments) void tm_kernel_##name##_avx512 arguments;
#include "kernels/kernels.def"
#include "kernels/winograd.def"
#undef TM_KERNEL
static const TmKernels avx512_table = {
    .name = "AVX512-BF16",
    .lanes = 16,
    .bf16 = TRUE,
#define TM_KERNEL(name, arguments) .name = tm_kernel_##name##_avx512,
#include "kernels/kernels.def"
#include "kernels/winograd.def"
#undef TM_KERNEL
};
#endif

enum { MAX_TABLES = 3 };
static const TmKernels *usable[MAX_TABLES];
static guint n_usable;

static gpointer find_usable(gpointer unused) {
  (void)unused;
#ifdef TM_KERNELS_X86
  __builtin_cpu_init();
  const gboolean avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vnni"))
    usable[n_usable++] = &avx512_table;
  if (avx2) usable[n_usable++] = &avx2_table;
#endif
  usable[n_usable++] = &plain_table;
  return NULL;
}

const TmKernels *const *tm_kernels_usable(guint *n) {
  static GOnce once = G_ONCE_INIT;
  g_once(&once, find_usable, NULL);
  *n = n_usable;
  return usable;
}

const TmKernels *tm_kernels_best(void) {
  guint n;
  return tm_kernels_usable(&n)[0];
}

/* The widest table sets the sizes. */
enum { LANES = 16, OUTS = 2 * LANES };

static gsize round_up(gsize n, gsize to) {
  return (n + to - 1) / to * to;
}

gsize tm_kernels_work(int channels) {
  const gsize C = (gsize)channels;
  const gsize sums = 4 * C > 256 ? 4 * C : 256; /* doubles */
  return round_up(sums * sizeof(double) + (LANES * C + 256) * sizeof(float), 64);
}

/* As up2.c lays it out: the sums of a thread, then the transposed pixels of x and the paired pixels of dy, of
 * up to four rows. */
gsize tm_kernels_up2_work(TmShape x, int out) {
  const gsize I = round_up((gsize)x.c, 8), O = round_up((gsize)out, OUTS),
              pixels = 4 * round_up((gsize)x.w, 2);
  return round_up(4 * I * O * sizeof(float) + (I * (round_up(pixels, 32) + 64) + O * pixels + 64) * 2, 64);
}

gsize tm_kernels_up2_packed(int in, int out) {
  const gsize forward = 4 * round_up((gsize)out, OUTS) * (gsize)(in + 1),
              backward = 4 * round_up((gsize)in, OUTS) * (gsize)(out + 1);
  return round_up((forward > backward ? forward : backward) * sizeof(float), 64);
}

gsize tm_kernels_conv3_packed(int out, int in) {
  const gsize forward = round_up((gsize)out, OUTS) * (gsize)(in + 1),
              backward = round_up((gsize)in, OUTS) * (gsize)(out + 1);
  return 9 * (forward > backward ? forward : backward) * sizeof(float);
}

gsize tm_kernels_conv3_work(TmShape x, TmDType type) {
  const gsize rows = (gsize)tm_conv3_rows(x, type) + 2, columns = (gsize)x.w + 2;
  return round_up(rows * columns * tm_conv3_depth(x.c) * tm_dtype_size(type), 64);
}

gsize tm_kernels_conv3_shared(TmShape x, TmDType type, int out) {
  const gsize rows = (gsize)tm_conv3_rows(x, type), blocks = ((gsize)x.h + rows - 1) / rows;
  return round_up((gsize)x.n * blocks * 2 * (gsize)out * sizeof(float), 64);
}

/* The sums of a thread, then (bf16) x turned and dy in pairs. */
gsize tm_kernels_conv3_dw_work(TmShape x, TmDType type, int out) {
  const gsize in = round_up((gsize)x.c, 4), wide = round_up((gsize)out, OUTS), width = tm_conv3_dw_width(x);
  const gsize rows = (gsize)tm_conv3_dw_rows(x, type, out),
              turned = in * (round_up((rows + 2) * width, 32) + 96), paired = wide * rows * width;
  return round_up(9 * in * wide * sizeof(float) + (turned + paired) * 2, 64);
}

gsize tm_kernels_head_packed(int out, int in) {
  return round_up((gsize)out, OUTS) * (gsize)(in + 1) * sizeof(float);
}

gsize tm_kernels_head_work(int width, int out) {
  return round_up((gsize)width * round_up((gsize)out, LANES) * sizeof(float), 64);
}

gsize tm_kernels_conv8_packed(int out, int in, int taps) {
  const gsize depth = tm_conv8_depth(in);
  return (gsize)taps * round_up((gsize)out, OUTS) * depth + round_up(depth, 64);
}

gsize tm_kernels_conv8_work(TmShape x, int side) {
  const gsize rows = (gsize)tm_conv8_rows(x, side) + (gsize)side - 1, columns = (gsize)x.w + (gsize)side - 1;
  return round_up(rows * columns * tm_conv8_depth(x.c), 64);
}

gsize tm_kernels_winograd8_work(TmShape x) {
  x.c = (int)tm_conv8_depth(x.c);
  const TmWinogradCut c = tm_winograd_cut(x, TM_U8);
  return round_up(16 * (round_up(c.plane, 64) + c.product * sizeof(float)), 64);
}

gsize tm_kernels_winograd_packed(int out, int in, TmDType type) {
  return 16 * tm_dtype_size(type) * (gsize)out * (gsize)in;
}

gsize tm_kernels_winograd_work(TmShape x, TmDType type) {
  const TmWinogradCut c = tm_winograd_cut(x, type);
  return round_up(16 * (c.plane * tm_dtype_size(type) + c.product * sizeof(float)), 64);
}

gsize tm_kernels_winograd_shared(TmShape x, TmDType type, int out) {
  const TmWinogradCut c = tm_winograd_cut(x, type);
  return round_up(tm_winograd_pieces(&c, x) * 2 * (gsize)out * sizeof(float), 64);
}

static gsize winograd_dw_tiles(const TmWinogradDwCut *c, TmDType type, int out) {
  return 16 * (c->plane + (gsize)out / TM_WINOGRAD_OUT * c->deep) * tm_dtype_size(type);
}

/* The sums and, unless all work together, the tiles of x and those of dy. */
gsize tm_kernels_winograd_dw_work(TmShape x, TmDType type, int out) {
  const TmWinogradDwCut c = tm_winograd_dw_cut(x, out, type);
  const gsize sums = 16 * (gsize)x.c * sizeof(float);
  return c.together ? sums * TM_WINOGRAD_OUT : sums * (gsize)out + winograd_dw_tiles(&c, type, out);
}

gsize tm_kernels_winograd_dw_shared(TmShape x, TmDType type, int out) {
  const TmWinogradDwCut c = tm_winograd_dw_cut(x, out, type);
  return c.together ? winograd_dw_tiles(&c, type, out) : 0;
}
