/* Wrong and right uses of the descriptors, one status class per line. The
 * host stand-in and the real cuDNN (no GPU needed) must print the same. */
#include <stdbool.h>
#include <stdio.h>
#include <cudnn.h>
typedef cudnnBackendDescriptor_t desc;
static int cls(cudnnStatus_t s) {
  return s < 2000 ? (int)s : (int)s / 1000 * 1000;
}
static desc mk(cudnnBackendDescriptorType_t t) {
  desc d = NULL;
  cudnnBackendCreateDescriptor(t, &d);
  return d;
}
static int set(desc d, int a, int t, int64_t n, const void *v) {
  return cls(cudnnBackendSetAttribute(d, a, t, n, (void *)v));
}
enum { NONE, NO_ID, NO_TYPE, NO_STRIDE, ZERO_DIM, ODD_ALIGN, COUNTS, NO_ALIGN };
static desc tensor(int64_t id, int64_t n, int64_t c, int64_t h, int64_t w, cudnnDataType_t ty, bool virt,
                   int wrong, int *st) {
  desc d = mk(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  int64_t dim[4] = {n, c, h, w}, str[4] = {h * w * c, 1, w * c, c}, al = wrong == ODD_ALIGN ? 12 : 16;
  if (wrong == ZERO_DIM) dim[2] = 0;
  if (wrong != NO_TYPE) set(d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &ty);
  set(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, dim);
  if (wrong != NO_STRIDE) set(d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, wrong == COUNTS ? 3 : 4, str);
  if (wrong != NO_ID) set(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &id);
  if (wrong != NO_ALIGN) set(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &al);
  if (virt) set(d, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &virt);
  int s = cls(cudnnBackendFinalize(d));
  if (st) *st = s;
  return d;
}
static desc conv(int missing, int *st) {
  desc d = mk(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  cudnnDataType_t f = CUDNN_DATA_FLOAT;
  cudnnConvolutionMode_t m = CUDNN_CROSS_CORRELATION;
  int64_t nd = 2, one[2] = {1, 1};
  if (missing != 1) set(d, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &nd);
  if (missing != 2) set(d, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &f);
  if (missing != 3) set(d, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &m);
  if (missing != 4) set(d, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, one);
  if (missing != 5) set(d, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, one);
  if (missing != 6) set(d, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2, one);
  if (missing != 7) set(d, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, one);
  *st = cls(cudnnBackendFinalize(d));
  return d;
}
static int op(desc cd, desc x, desc w, desc y, int missing, desc *out) {
  desc d = mk(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  float a = 1, b = 0;
  int s = set(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &cd);
  if (missing != 1)
    s |= set(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &x);
  if (missing != 2)
    s |= set(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &w);
  if (missing != 3)
    s |= set(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &y);
  if (missing != 4) s |= set(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1, &a);
  if (missing != 5) s |= set(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 1, &b);
  *out = d;
  return s ? s : cls(cudnnBackendFinalize(d));
}
int main(void) {
  cudnnDataType_t h = CUDNN_DATA_BFLOAT16;
  int s = 0;
  desc d, o;
#define SAY(name) printf("%-44s %d\n", name, s)
#define TEN(wrong)                                                                                           \
  tensor(1, 2, 8, 4, 4, h, false, wrong, &s);                                                                \
  SAY("tensor " #wrong)
  TEN(NONE);
  TEN(NO_ID);
  TEN(NO_TYPE);
  TEN(NO_STRIDE);
  TEN(ZERO_DIM);
  TEN(ODD_ALIGN);
  TEN(COUNTS);
  TEN(NO_ALIGN);
  d = mk(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  s = set(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_FLOAT, 1, "abcd");
  SAY("attribute of another type");
  s = set(d, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &s);
  SAY("attribute of another descriptor");
  s = set(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 2, "0123456789abcdef");
  SAY("attribute with two elements for one");
  d = tensor(1, 2, 8, 4, 4, h, false, NONE, &s);
  int64_t id = 5;
  s = set(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &id);
  SAY("set after finalize");
  for (int m = 0; m < 8; m++) {
    char t[40];
    conv(m, &s);
    snprintf(t, sizeof t, "convolution without attribute %d", m);
    SAY(t);
  }
  desc c = conv(0, &s), x = tensor(1, 2, 8, 4, 4, h, false, NONE, &s),
       w = tensor(2, 16, 8, 3, 3, h, false, NONE, &s), y = tensor(3, 2, 16, 4, 4, h, false, NONE, &s);
  for (int m = 0; m < 6; m++) {
    char t[40];
    s = op(c, x, w, y, m, &o);
    snprintf(t, sizeof t, "conv operation without attribute %d", m);
    SAY(t);
  }
  s = op(c, x, tensor(2, 16, 16, 3, 3, h, false, NONE, &s), y, 0, &o);
  SAY("conv: channels of x and w differ");
  s = op(c, x, w, tensor(3, 2, 16, 5, 4, h, false, NONE, &s), 0, &o);
  SAY("conv: wrong output size");
  s = op(c, x, w, tensor(3, 3, 16, 4, 4, h, false, NONE, &s), 0, &o);
  SAY("conv: batch differs");
  s = op(c, x, mk(CUDNN_BACKEND_TENSOR_DESCRIPTOR), y, 0, &o);
  SAY("conv: w not finalized");
  /* Up to here no handle; the graph wants one. */
  desc g = mk(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  s = cls(cudnnBackendFinalize(g));
  SAY("graph without operations");
  desc v = mk(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  int64_t ids[2] = {1, 1};
  void *p[2] = {x, w}, *ws = NULL;
  set(v, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 2, ids);
  set(v, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 2, p);
  set(v, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &ws);
  s = cls(cudnnBackendFinalize(v));
  SAY("variant pack with an id twice");
  ids[1] = 2;
  v = mk(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  set(v, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 2, ids);
  set(v, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 1, p);
  set(v, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &ws);
  s = cls(cudnnBackendFinalize(v));
  SAY("variant pack, more ids than pointers");
  v = mk(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  set(v, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 2, ids);
  set(v, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 2, p);
  s = cls(cudnnBackendFinalize(v));
  SAY("variant pack without workspace");
  return 0;
}
