/* bf16 and half conversions of the stand-in, printed as a hash; built against
 * both header sets, the outputs must be the same. */
#include <cstdio>
#include <cstring>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#ifndef TM_HOST_CUDA
static inline float fl(unsigned u) {
  float f;
  memcpy(&f, &u, 4);
  return f;
}
#else
static inline float fl(unsigned u) {
  return __uint_as_float(u);
}
#endif
int main() {
  unsigned long long h = 1469598103934665603ull;
  auto eat = [&](unsigned v) { h = (h ^ v) * 1099511628211ull; };
  for (unsigned i = 0; i < 65536; i++) {
    unsigned u;
    float f = __half2float(__ushort_as_half((unsigned short)i));
    memcpy(&u, &f, 4);
    if (f == f) eat(u);
    f = __bfloat162float(__ushort_as_bfloat16((unsigned short)i));
    memcpy(&u, &f, 4);
    eat(u);
  }
  for (unsigned long long i = 0; i < 1ull << 32; i += 251) {
    eat(__half_as_ushort(__float2half_rn(fl((unsigned)i))));
    eat(__bfloat16_as_ushort(__float2bfloat16_rn(fl((unsigned)i))));
  }
  printf("%llx\n", h);
}
