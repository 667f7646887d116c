#include "engine/backend/ref/ref.h"

#include "engine/core/tensor.h"

enum { CHUNK = 64 };

/* Types without an inline conversion go through floats on the stack. */
static void get_converted(const char *src, TmDType t, int count, double *dst) {
  float part[CHUNK];
  for (int c = 0; c < count; c += CHUNK) {
    const int n = MIN(count - c, CHUNK);
    tm_convert(part, TM_F32, src + (gsize)c * tm_dtype_size(t), t, (gsize)n);
    for (int k = 0; k < n; k++) dst[c + k] = (double)part[k];
  }
}

static void put_converted(char *dst, TmDType t, int count, const double *src) {
  float part[CHUNK];
  for (int c = 0; c < count; c += CHUNK) {
    const int n = MIN(count - c, CHUNK);
    for (int k = 0; k < n; k++) part[k] = (float)src[c + k];
    tm_convert(dst + (gsize)c * tm_dtype_size(t), t, part, TM_F32, (gsize)n);
  }
}

void ref_get(const TmView *v, gsize pixel, int c0, int count, double *dst) {
  const gsize at = pixel * (gsize)v->ld + (gsize)c0;
  switch (v->dtype) {
  case TM_F32: {
    const float *x = (const float *)v->data + at;
    for (int c = 0; c < count; c++) dst[c] = (double)x[c];
    break;
  }
  case TM_BF16: {
    const guint16 *x = (const guint16 *)v->data + at;
    for (int c = 0; c < count; c++) dst[c] = (double)tm_bf16_to_f32(x[c]);
    break;
  }
  default:
    get_converted((const char *)v->data + at * tm_dtype_size(v->dtype), v->dtype, count, dst);
    break;
  }
}

void ref_put(const TmView *v, gsize pixel, int c0, int count, const double *src) {
  const gsize at = pixel * (gsize)v->ld + (gsize)c0;
  switch (v->dtype) {
  case TM_F32: {
    float *x = (float *)v->data + at;
    for (int c = 0; c < count; c++) x[c] = (float)src[c];
    break;
  }
  case TM_BF16: {
    guint16 *x = (guint16 *)v->data + at;
    for (int c = 0; c < count; c++) x[c] = tm_f32_to_bf16((float)src[c]);
    break;
  }
  default:
    put_converted((char *)v->data + at * tm_dtype_size(v->dtype), v->dtype, count, src);
    break;
  }
}

double ref_get_scalar(const TmView *v) {
  double x;
  ref_get(v, 0, 0, 1, &x);
  return x;
}

void ref_put_scalar(const TmView *v, double x) {
  ref_put(v, 0, 0, 1, &x);
}
