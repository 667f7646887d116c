#include "engine/backend/cuda/timing.h"

enum { RUNS = 3 };

static float between(cudaStream_t stream, cudaEvent_t begin, cudaEvent_t end, gboolean (*work)(gpointer),
                     gpointer data) {
  float ms = -1;
  if (!work(data) || cudaEventRecord(begin, stream) != cudaSuccess) return -1;
  for (int i = 0; i < RUNS; i++)
    if (!work(data)) return -1;
  if (cudaEventRecord(end, stream) != cudaSuccess || cudaEventSynchronize(end) != cudaSuccess ||
      cudaEventElapsedTime(&ms, begin, end) != cudaSuccess)
    return -1;
  return ms / RUNS;
}

float tm_cuda_time(cudaStream_t stream, gboolean (*work)(gpointer), gpointer data) {
  cudaEvent_t begin = NULL, end = NULL;
  float ms = -1;
  if (cudaEventCreateWithFlags(&begin, cudaEventDefault) == cudaSuccess &&
      cudaEventCreateWithFlags(&end, cudaEventDefault) == cudaSuccess)
    ms = between(stream, begin, end, work, data);
  if (begin) cudaEventDestroy(begin);
  if (end) cudaEventDestroy(end);
  cudaGetLastError(); /* what failed here only cost the measurement */
  return ms;
}
