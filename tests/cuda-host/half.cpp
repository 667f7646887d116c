/* Conversions of the 16-bit types for C. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" float tm_host_from16(int half, uint16_t h) {
  return half ? __half2float(__ushort_as_half(h)) : __bfloat162float(__ushort_as_bfloat16(h));
}
extern "C" uint16_t tm_host_to16(int half, float f) {
  return half ? __half_as_ushort(__float2half_rn(f)) : __bfloat16_as_ushort(__float2bfloat16_rn(f));
}
