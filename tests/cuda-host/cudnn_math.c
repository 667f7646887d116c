/* The arithmetic of the stand-in for cuDNN: operation graphs by plain loops in float. */
#include <stdlib.h>
#include <string.h>
#include "fake_cudnn.h"

/* Both 16-bit types by the runtime's stand-in headers, which are checked against CUDA's bit by bit. */
float tm_host_from16(int half, uint16_t h);
uint16_t tm_host_to16(int half, float f);
void *fake_pointer(const struct run *r, int64_t id) {
  for (int i = 0; i < r->n; i++)
    if (r->uid[i] == id) return r->p[i];
  return NULL;
}
static size_t count(const struct fake *t) {
  return (size_t)(fake_dim(t, 0) * fake_dim(t, 1) * fake_dim(t, 2) * fake_dim(t, 3));
}
/* To and from dense NHWC floats. dir 0 reads, 1 writes. */
static void convert(const struct fake *t, void *p, float *f, int dir) {
  int64_t *d = fake_ints(t, A(TENSOR_DIMENSIONS)), *s = fake_ints(t, A(TENSOR_STRIDES));
  int type = fake_number(t, A(TENSOR_DATA_TYPE));
  bool half = type != CUDNN_DATA_FLOAT;
  for (int64_t n = 0; n < d[0]; n++)
    for (int64_t y = 0; y < d[2]; y++)
      for (int64_t x = 0; x < d[3]; x++)
        for (int64_t c = 0; c < d[1]; c++, f++) {
          size_t at = (size_t)(n * s[0] + y * s[2] + x * s[3] + c);
          if (dir && half)
            ((uint16_t *)p)[at] = tm_host_to16(type == CUDNN_DATA_HALF, *f);
          else if (dir)
            ((float *)p)[at] = *f;
          else
            *f = half ? tm_host_from16(type == CUDNN_DATA_HALF, ((uint16_t *)p)[at]) : ((float *)p)[at];
        }
}
static float *load(struct run *r, const struct fake *t) {
  float *f = malloc(count(t) * sizeof *f);
  if (!f) abort();
  if (!fake_virtual(t)) {
    convert(t, fake_pointer(r, fake_uid(t)), f, 0);
    return f;
  }
  for (int i = 0; i < r->nvirt; i++)
    if (r->virt[i].uid == fake_uid(t)) memcpy(f, r->virt[i].v, count(t) * sizeof *f);
  return f;
}
static void store(struct run *r, const struct fake *t, float *f) { /* takes f */
  if (fake_virtual(t)) {
    r->virt[r->nvirt].uid = fake_uid(t);
    r->virt[r->nvirt++].v = f;
    return;
  }
  convert(t, fake_pointer(r, fake_uid(t)), f, 1);
  free(f);
}
/* 10 bits of mantissa, ties to even. */
static void round_to_tf32(float *x, size_t n) {
  for (size_t i = 0; i < n; i++) {
    uint32_t u;
    memcpy(&u, &x[i], 4);
    if ((u & 0x7f800000u) == 0x7f800000u) continue; /* infinite and NaN stay */
    u = (u + 0xfffu + (u >> 13 & 1)) & ~0x1fffu;
    memcpy(&x[i], &u, 4);
  }
}
/* All three directions visit the same (x, w, y) triples. */
static void run_conv(struct run *r, const struct fake *op) {
  struct conv c = fake_conv(op);
  int dir = fake_direction(op);
  int64_t *pre = fake_ints(c.d, A(CONVOLUTION_PRE_PADDINGS)),
          *st = fake_ints(c.d, A(CONVOLUTION_FILTER_STRIDES)), *dl = fake_ints(c.d, A(CONVOLUTION_DILATIONS));
  int64_t N = fake_dim(c.x, 0), C = fake_dim(c.w, 1), CX = fake_dim(c.x, 1), H = fake_dim(c.x, 2),
          W = fake_dim(c.x, 3), K = fake_dim(c.w, 0), R = fake_dim(c.w, 2), S = fake_dim(c.w, 3),
          OH = fake_dim(c.y, 2), OW = fake_dim(c.y, 3);
  float *x = dir == DATA ? calloc(count(c.x), sizeof *x) : load(r, c.x);
  float *w = dir == WEIGHT ? calloc(count(c.w), sizeof *w) : load(r, c.w);
  float *y = dir == FWD ? calloc(count(c.y), sizeof *y) : load(r, c.y);
  if (!x || !w || !y) abort();
  if (r->tf32 && dir != DATA) round_to_tf32(x, count(c.x));
  if (r->tf32 && dir != WEIGHT) round_to_tf32(w, count(c.w));
  if (r->tf32 && dir != FWD) round_to_tf32(y, count(c.y));
  for (int64_t n = 0; n < N; n++)
    for (int64_t oy = 0; oy < OH; oy++)
      for (int64_t ox = 0; ox < OW; ox++)
        for (int64_t k = 0; k < K; k++) {
          float *py = &y[((n * OH + oy) * OW + ox) * K + k], sum = 0, g = *py;
          for (int64_t i = 0; i < R; i++)
            for (int64_t j = 0; j < S; j++) {
              int64_t iy = oy * st[0] + i * dl[0] - pre[0], ix = ox * st[1] + j * dl[1] - pre[1];
              if (iy < 0 || iy >= H || ix < 0 || ix >= W) continue;
              float *px = &x[((n * H + iy) * W + ix) * CX + k / (K / (CX / C)) * C],
                    *pw = &w[((k * R + i) * S + j) * C];
              if (dir == FWD)
                for (int64_t e = 0; e < C; e++) sum += px[e] * pw[e];
              else if (dir == DATA)
                for (int64_t e = 0; e < C; e++) px[e] += g * pw[e];
              else
                for (int64_t e = 0; e < C; e++) pw[e] += g * px[e];
            }
          if (dir == FWD) *py = sum;
        }
  if (dir == FWD)
    store(r, c.y, y);
  else
    free(y);
  if (dir == DATA)
    store(r, c.x, x);
  else
    free(x);
  if (dir == WEIGHT)
    store(r, c.w, w);
  else
    free(w);
}
static void run_pointwise(struct run *r, const struct fake *op) {
  struct fake *t[MOST_OPERANDS];
  int outs, n = fake_operands(op, t, &outs),
            mode = fake_number(fake_child(op, A(OPERATION_POINTWISE_PW_DESCRIPTOR)), A(POINTWISE_MODE));
  float *in[2] = {load(r, t[0]), n == 3 ? load(r, t[1]) : NULL}, *out = malloc(count(t[n - 1]) * sizeof *out);
  if (!out) abort();
  int64_t *d = fake_ints(t[n - 1], A(TENSOR_DIMENSIONS)), at = 0;
  for (int64_t b = 0; b < d[0]; b++)
    for (int64_t y = 0; y < d[2]; y++)
      for (int64_t x = 0; x < d[3]; x++)
        for (int64_t c = 0; c < d[1]; c++, at++) {
          float v[2] = {0, 0};
          for (int k = 0; k < n - 1; k++) { /* a dimension of 1 broadcasts */
            int64_t *e = fake_ints(t[k], A(TENSOR_DIMENSIONS));
            v[k] = in[k][((b % e[0] * e[2] + y % e[2]) * e[3] + x % e[3]) * e[1] + c % e[1]];
          }
          out[at] = mode == CUDNN_POINTWISE_ADD        ? v[0] + v[1]
                    : mode == CUDNN_POINTWISE_MUL      ? v[0] * v[1]
                    : mode == CUDNN_POINTWISE_RELU_FWD ? (v[0] > 0 ? v[0] : 0)
                                                       : v[0];
        }
  free(in[0]);
  free(in[1]);
  store(r, t[n - 1], out);
}
/* Sums of what was stored, over all pixels of a channel. */
static void run_sums(struct run *r, const struct fake *op) {
  struct fake *t[MOST_OPERANDS];
  int outs;
  fake_operands(op, t, &outs);
  float *x = load(r, t[0]), *sum = calloc(count(t[1]), sizeof *sum),
        *squares = calloc(count(t[2]), sizeof *squares);
  if (!sum || !squares) abort();
  size_t C = (size_t)fake_dim(t[0], 1);
  for (size_t i = 0; i < count(t[0]); i++) {
    sum[i % C] += x[i];
    squares[i % C] += x[i] * x[i];
  }
  free(x);
  store(r, t[1], sum);
  store(r, t[2], squares);
}
void fake_run_graph(void *a) {
  struct run *r = a;
  const struct attr *ops = fake_get(r->graph, A(OPERATIONGRAPH_OPS));
  r->nvirt = 0;
  for (int64_t i = 0; i < ops->n; i++) {
    struct fake *op = ((struct fake **)ops->v)[i];
    if (fake_direction(op) >= 0)
      run_conv(r, op);
    else if (op->type == T(OPERATION_GEN_STATS))
      run_sums(r, op);
    else
      run_pointwise(r, op);
  }
  while (r->nvirt > 0) free(r->virt[--r->nvirt].v);
}
