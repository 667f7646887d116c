/* view.h: a tensor as kernels see it: a pointer, a type, a shape and a pixel stride. It owns nothing.
 *
 * Element (n,c,h,w) is at data[((n*H + h)*W + w)*ld + c]. ld >= C: when ld > C the view is a slice of the channels of a
 * wider buffer (a half of a concat). A view with ld == C is dense. */
#pragma once

#include "engine/core/dtype.h"
#include "engine/core/shape.h"

typedef struct {
  void *data; /* first element; host or device memory, as the backend's */
  TmDType dtype;
  TmShape shape;
  int ld; /* elements from one pixel to the next */
} TmView;

static inline gboolean tm_view_dense(const TmView *v) { return v->ld == v->shape.c; }

/** @count channels from channel @from on. A single pixel is contiguous whatever ld says. */
static inline TmView tm_view_channels(const TmView *v, int from, int count) {
  TmView s = *v;
  s.data = (char *)v->data + (gsize)from * tm_dtype_size(v->dtype);
  s.shape.c = count;
  return s;
}
