/* tensor.h: a dense tensor in host memory that owns its elements. */
#pragma once

#include "engine/core/error.h"
#include "engine/core/view.h"

typedef struct {
  TmDType dtype;
  TmShape shape;
  void *data; /* tm_shape_count(shape) elements, stored N,H,W,C, 64-byte aligned */
} TmTensor;

/** Zeroed. NULL and TM_ERROR_NO_MEMORY when there is no room, TM_ERROR_SHAPE when an extent is < 1 or the size overflows. */
TmTensor *tm_tensor_new(TmDType dtype, TmShape shape, GError **error);
void tm_tensor_free(TmTensor *t);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmTensor, tm_tensor_free)

static inline gsize tm_tensor_bytes(const TmTensor *t) { return tm_shape_count(t->shape) * tm_dtype_size(t->dtype); }
static inline TmView tm_tensor_view(const TmTensor *t) {
  return (TmView){.data = t->data, .dtype = t->dtype, .shape = t->shape, .ld = t->shape.c};
}

/** Copies between the stored order N,H,W,C and the order N,C,H,W of other programs' files. @elem is bytes an element.
 * @src and @dst hold tm_shape_count(shape) elements and do not overlap. Any thread. */
void tm_nchw_from_nhwc(void *dst, const void *src, TmShape shape, gsize elem);
void tm_nhwc_from_nchw(void *dst, const void *src, TmShape shape, gsize elem);

/** Converts @n elements between f32, bf16, f16, u8 and i32. To u8 and i32: rounded and clamped. Any thread. */
void tm_convert(void *dst, TmDType to, const void *src, TmDType from, gsize n);

/** 64-byte aligned (2 MiB aligned and advised for huge pages from 4 MiB up), zeroed; NULL when there is no memory.
 * Never aborts. Free with tm_host_free(). */
void *tm_host_alloc(gsize bytes);
void tm_host_free(void *p, gsize bytes);
