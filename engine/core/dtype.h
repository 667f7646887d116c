/* dtype.h: the element types a tensor can have. */
#pragma once

#include <glib.h>

typedef enum { TM_F32, TM_BF16, TM_F16, TM_U8, TM_I32, TM_N_DTYPES } TmDType;

/** Bytes of one element. */
static inline gsize tm_dtype_size(TmDType t) {
  return t == TM_U8 ? 1 : t == TM_BF16 || t == TM_F16 ? 2 : 4;
}

/** "f32", "bf16", "f16", "u8", "i32": static, never translated (used in files and on the command line). */
static inline const char *tm_dtype_name(TmDType t) {
  static const char *const names[TM_N_DTYPES] = {"f32", "bf16", "f16", "u8", "i32"};
  return t >= 0 && t < TM_N_DTYPES ? names[t] : "?";
}

/** bfloat16 to float: exact. */
static inline float tm_bf16_to_f32(guint16 x) {
  union { guint32 u; float f; } v = {.u = (guint32)x << 16};
  return v.f;
}

/** float to bfloat16, round to nearest even; NaN stays NaN (quiet). */
static inline guint16 tm_f32_to_bf16(float f) {
  union { float f; guint32 u; } v = {.f = f};
  if ((v.u & 0x7fffffffu) > 0x7f800000u) return (guint16)((v.u >> 16) | 0x40u);
  return (guint16)((v.u + 0x7fffu + ((v.u >> 16) & 1u)) >> 16);
}
