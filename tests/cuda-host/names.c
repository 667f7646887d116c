/* Prints every constant of the stand-in headers. Built against the stand-ins
 * and against the real headers, the two outputs must be the same. */
#include <stdio.h>
#include <cuda_runtime_api.h>
#define P(x) printf("%s %d\n", #x, (int)x)
int main(void) {
  P(cudaSuccess);
  P(cudaErrorInvalidValue);
  P(cudaErrorMemoryAllocation);
  P(cudaErrorInitializationError);
  P(cudaErrorInvalidConfiguration);
  P(cudaErrorInvalidMemcpyDirection);
  P(cudaErrorInsufficientDriver);
  P(cudaErrorNoDevice);
  P(cudaErrorInvalidDevice);
  P(cudaErrorMapBufferObjectFailed);
  P(cudaErrorUnmapBufferObjectFailed);
  P(cudaErrorAlreadyMapped);
  P(cudaErrorNotMapped);
  P(cudaErrorNotMappedAsPointer);
  P(cudaErrorOperatingSystem);
  P(cudaErrorInvalidResourceHandle);
  P(cudaErrorNotReady);
  P(cudaErrorIllegalAddress);
  P(cudaErrorLaunchFailure);
  P(cudaErrorStreamCaptureUnsupported);
  P(cudaErrorStreamCaptureInvalidated);
  P(cudaErrorStreamCaptureUnmatched);
  P(cudaErrorStreamCaptureImplicit);
  P(cudaErrorUnknown);
  P(cudaMemcpyHostToHost);
  P(cudaMemcpyHostToDevice);
  P(cudaMemcpyDeviceToHost);
  P(cudaMemcpyDeviceToDevice);
  P(cudaMemcpyDefault);
  P(cudaStreamCaptureModeGlobal);
  P(cudaStreamCaptureModeThreadLocal);
  P(cudaStreamCaptureModeRelaxed);
  P(cudaStreamCaptureStatusNone);
  P(cudaStreamCaptureStatusActive);
  P(cudaStreamCaptureStatusInvalidated);
  P(cudaStreamNonBlocking);
  P(cudaEventDisableTiming);
  P(cudaHostAllocDefault);
  return 0;
}
