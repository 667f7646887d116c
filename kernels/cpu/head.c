/* head.c: the last convolution of a net, 1x1, whose results are only compared: a row of them at a time lies
 * in the cache and is never stored. */
#include "kernels/cpu/head.h"
#include "kernels/cpu/micro.h"

void KERNEL(head_pack)(const TmTeam *team, const float *w, int out, int in, TmDType type, void *packed) {
  (void)team; /* small */
  const gsize block = micro_block(type, 1, in);
  memset(packed, 0, (gsize)((out + MICRO_OUT - 1) / MICRO_OUT) * block);
  for (int o = 0; o < out; o++)
    for (int k = 0; k < in; k++)
      micro_put(type, (char *)packed + (gsize)(o / MICRO_OUT) * block, in, 0, k, o % MICRO_OUT,
                w[(gsize)o * (gsize)in + (gsize)k]);
}

/* Scores of @width pixels from @x on: @ld floats a pixel. */
static void score_row(const TmView *x, const char *from, const void *packed, const float *bias, int classes,
                      int width, float *scores, gsize ld) {
  const gsize size = tm_dtype_size(x->dtype), block = micro_block(x->dtype, 1, x->shape.c);
  const gssize tap = 0;
  for (int o = 0; o < classes; o += MICRO_OUT) {
    const int outs = classes - o < MICRO_OUT ? classes - o : MICRO_OUT;
    float start[MICRO_OUT] = {0};
    for (int i = 0; bias && i < outs; i++) start[i] = bias[o + i];
    const Micro q = {.x = from,
                     .ldx = (gsize)x->ld * size,
                     .taps = &tap,
                     .n_taps = 1,
                     .depth = x->shape.c,
                     .b = (const char *)packed + (gsize)(o / MICRO_OUT) * block,
                     .start = start,
                     .y = scores + o,
                     .ldy = ld * sizeof(float),
                     .outs = outs};
    KERNEL(micro_row)(x->dtype, TM_F32, &q, width);
  }
}

void KERNEL(head)(const TmTeam *team, const TmView *x, const void *packed, const float *bias, int classes,
                  int top, int left, const TmView *labels) {
  const gsize H = (gsize)labels->shape.h, W = (gsize)labels->shape.w, size = tm_dtype_size(x->dtype);
  gsize next = 0;
  TM_PARALLEL(team, view_count(x))
  for (TmRange r; take(&next, view_rows(labels), 4, &r);)
    for (; r.at < r.end; r.at++) {
      const gsize row = r.at / H * (gsize)x->shape.h + r.at % H + (gsize)top, ld = head_ld(classes);
      float *scores = my_work(team);
      score_row(x, (const char *)x->data + view_at(x, row, left) * size, packed, bias, classes, (int)W,
                scores, ld);
      best_of_row(scores, ld, classes, (int)W, (guint8 *)labels->data + r.at * W);
    }
}
