#include "engine/core/tensor.h"

#include <glib/gi18n.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/core/free_memory.h"

enum { HUGE_PAGE = 2 << 20, HUGE_FROM = 4 << 20, ASK_FROM = 64 << 20 };

/* Linux promises memory it does not have and ends the process that touches it: large blocks are asked for only where there is room. */
static gboolean has_room(gsize bytes) {
  if (bytes < ASK_FROM) return TRUE;
  const gsize have = tm_free_memory();
  return have == 0 || bytes <= have;
}

void *tm_host_alloc(gsize bytes) {
  const gboolean huge = bytes >= HUGE_FROM;
  const gsize align = huge ? HUGE_PAGE : 64;
  if (bytes == 0) bytes = align;
  if (bytes > G_MAXSIZE - align || !has_room(bytes)) return NULL;
  const gsize size = (bytes + align - 1) / align * align;
  void *p = aligned_alloc(align, size);
  if (!p) return NULL;
  if (huge) madvise(p, size, MADV_HUGEPAGE);
  memset(p, 0, size);
  return p;
}

void tm_host_free(void *p, gsize bytes) {
  (void)bytes; /* kept in the interface so that an allocator over mmap needs no header of its own */
  free(p);
}

TmTensor *tm_tensor_new(TmDType dtype, TmShape s, GError **error) {
  const gsize limit = G_MAXSSIZE / 8;
  gsize n = tm_dtype_size(dtype);
  const int extent[4] = {s.n, s.c, s.h, s.w};
  for (int i = 0; i < 4; i++) {
    if (extent[i] < 1 || n > limit / (gsize)extent[i]) {
      g_set_error(error, TM_ERROR, TM_ERROR_SHAPE, _("A tensor of %d×%d×%d×%d elements cannot be made."), s.n, s.c, s.h, s.w);
      return NULL;
    }
    n *= (gsize)extent[i];
  }
  void *data = tm_host_alloc(n);
  if (!data) {
    g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY, _("There is no memory for a tensor of %.1f MB."), (double)n / 1e6);
    return NULL;
  }
  TmTensor *t = g_new(TmTensor, 1);
  *t = (TmTensor){.dtype = dtype, .shape = s, .data = data};
  return t;
}

void tm_tensor_free(TmTensor *t) {
  if (!t) return;
  tm_host_free(t->data, tm_tensor_bytes(t));
  g_free(t);
}

/* Both directions are one copy of a (rows x cols) matrix to its transpose, picture by picture. */
static void transpose(char *dst, const char *src, gsize rows, gsize cols, gsize elem) {
  for (gsize r = 0; r < rows; r++)
    for (gsize c = 0; c < cols; c++) memcpy(dst + (c * rows + r) * elem, src + (r * cols + c) * elem, elem);
}

void tm_nchw_from_nhwc(void *dst, const void *src, TmShape s, gsize elem) {
  const gsize pixels = (gsize)s.h * (gsize)s.w, one = pixels * (gsize)s.c * elem;
  for (int n = 0; n < s.n; n++)
    transpose((char *)dst + (gsize)n * one, (const char *)src + (gsize)n * one, pixels, (gsize)s.c, elem);
}

void tm_nhwc_from_nchw(void *dst, const void *src, TmShape s, gsize elem) {
  const gsize pixels = (gsize)s.h * (gsize)s.w, one = pixels * (gsize)s.c * elem;
  for (int n = 0; n < s.n; n++)
    transpose((char *)dst + (gsize)n * one, (const char *)src + (gsize)n * one, (gsize)s.c, pixels, elem);
}

static float f16_to_f32(guint16 h) {
  const int sign = h >> 15, e = (h >> 10) & 31, m = h & 1023;
  float f = e == 31 ? (m ? NAN : INFINITY) : e ? ldexpf((float)(m + 1024), e - 25) : ldexpf((float)m, -24);
  return sign ? -f : f;
}

static guint16 f32_to_f16(float f) {
  union { float f; guint32 u; } v = {.f = f};
  const guint32 sign = (v.u >> 16) & 0x8000u, a = v.u & 0x7fffffffu;
  if (a > 0x7f800000u) return (guint16)(sign | 0x7e00u);
  if (a >= 0x477ff000u) return (guint16)(sign | 0x7c00u); /* rounds to infinity */
  if (a < 0x38800000u) {                                   /* subnormal: the unit is 2^-24 */
    union { guint32 u; float f; } m = {.u = a};
    return (guint16)(sign | (guint32)lrintf(ldexpf(m.f, 24)));
  }
  return (guint16)(sign | ((a - 0x38000000u + 0xfffu + ((a >> 13) & 1u)) >> 13));
}

static float load(const void *p, TmDType t, gsize i) {
  switch (t) {
  case TM_F32: return ((const float *)p)[i];
  case TM_BF16: return tm_bf16_to_f32(((const guint16 *)p)[i]);
  case TM_F16: return f16_to_f32(((const guint16 *)p)[i]);
  case TM_U8: return (float)((const guint8 *)p)[i];
  default: return (float)((const gint32 *)p)[i];
  }
}

static void store(void *p, TmDType t, gsize i, float f) {
  switch (t) {
  case TM_F32: ((float *)p)[i] = f; break;
  case TM_BF16: ((guint16 *)p)[i] = tm_f32_to_bf16(f); break;
  case TM_F16: ((guint16 *)p)[i] = f32_to_f16(f); break;
  case TM_U8: ((guint8 *)p)[i] = f > 0 ? (guint8)lrintf(MIN(f, 255.0f)) : 0; break;
  default: ((gint32 *)p)[i] = f != f ? 0 : (gint32)lrint(CLAMP((double)f, -2147483648.0, 2147483647.0)); break;
  }
}

void tm_convert(void *dst, TmDType to, const void *src, TmDType from, gsize n) {
  if (to == from) {
    memcpy(dst, src, n * tm_dtype_size(to));
    return;
  }
  for (gsize i = 0; i < n; i++) store(dst, to, i, load(src, from, i));
}
