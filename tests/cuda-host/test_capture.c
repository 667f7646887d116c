/* The stand-in runtime keeps to the rules of recording, so that work which breaks them on a GPU breaks them
 * here: what waits, reserves or frees memory, what copies from memory that is not pinned, and what depends on
 * work outside the recording spoils it, and the end of it says so. */
#include <string.h>
#include <tm_host.h>

#include <glib.h>

typedef struct {
  cudaStream_t stream, other;
  cudaEvent_t outside;
  char *device, *pinned, pageable[64];
} Fixture;

static void set_up(Fixture *f, gconstpointer data) {
  (void)data;
  g_assert_true(cudaStreamCreateWithFlags(&f->stream, cudaStreamNonBlocking) == cudaSuccess &&
                cudaStreamCreateWithFlags(&f->other, cudaStreamNonBlocking) == cudaSuccess &&
                cudaEventCreateWithFlags(&f->outside, cudaEventDisableTiming) == cudaSuccess &&
                cudaMalloc((void **)&f->device, 64) == cudaSuccess &&
                cudaHostAlloc((void **)&f->pinned, 64, cudaHostAllocDefault) == cudaSuccess);
  memset(f->pinned, 1, 64);
  cudaEventRecord(f->outside, f->other);
  g_assert_true(cudaStreamBeginCapture(f->stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
}

static void tear_down(Fixture *f, gconstpointer data) {
  (void)data;
  cudaFree(f->device);
  cudaFreeHost(f->pinned);
  cudaEventDestroy(f->outside);
  cudaStreamDestroy(f->stream);
  cudaStreamDestroy(f->other);
  cudaGetLastError();
  g_assert_cmpint(tm_host_live(), ==, 0);
}

static cudaError_t wait_stream(Fixture *f) {
  return cudaStreamSynchronize(f->stream);
}
static cudaError_t wait_device(Fixture *f) {
  (void)f;
  return cudaDeviceSynchronize();
}
static cudaError_t ask_stream(Fixture *f) {
  return cudaStreamQuery(f->stream);
}
static cudaError_t ask_event(Fixture *f) {
  return cudaEventQuery(f->outside);
}
static cudaError_t reserve(Fixture *f) {
  (void)f;
  void *p = NULL;
  return cudaMalloc(&p, 64);
}
static cudaError_t give_back(Fixture *f) {
  return cudaFree(f->device);
}
static cudaError_t copy_pageable(Fixture *f) {
  return cudaMemcpyAsync(f->device, f->pageable, 64, cudaMemcpyHostToDevice, f->stream);
}
static cudaError_t copy_and_wait(Fixture *f) {
  return cudaMemcpy(f->device, f->pinned, 64, cudaMemcpyHostToDevice);
}
static cudaError_t depend_on_outside(Fixture *f) {
  return cudaStreamWaitEvent(f->stream, f->outside, 0);
}

static const struct {
  const char *name;
  cudaError_t (*call)(Fixture *f);
} broken[] = {{"wait for the stream", wait_stream},
              {"wait for the device", wait_device},
              {"ask the stream", ask_stream},
              {"ask an event", ask_event},
              {"reserve memory", reserve},
              {"free memory", give_back},
              {"copy pageable memory", copy_pageable},
              {"copy and wait", copy_and_wait},
              {"depend on work outside", depend_on_outside}};

static void test_broken(Fixture *f, gconstpointer data) {
  const guint i = GPOINTER_TO_UINT(data);
  cudaGraph_t graph = NULL;
  g_assert_cmpint(broken[i].call(f), !=, cudaSuccess);
  /* All that follows is refused too. */
  g_assert_cmpint(cudaMemsetAsync(f->device, 0, 64, f->stream), ==, cudaErrorStreamCaptureInvalidated);
  g_assert_cmpint(cudaStreamEndCapture(f->stream, &graph), ==, cudaErrorStreamCaptureInvalidated);
  g_assert_null(graph);
}

static void test_kept(Fixture *f, gconstpointer data) {
  (void)data;
  cudaGraph_t graph;
  cudaGraphExec_t run;
  char got[64];
  g_assert_cmpint(cudaMemcpyAsync(f->device, f->pinned, 64, cudaMemcpyHostToDevice, f->stream), ==,
                  cudaSuccess);
  g_assert_cmpint(cudaStreamEndCapture(f->stream, &graph), ==, cudaSuccess);
  g_assert_cmpint(cudaGraphInstantiate(&run, graph, 0), ==, cudaSuccess);
  cudaGraphDestroy(graph);
  memset(f->pinned, 7, 64); /* read when it runs, not when it was recorded */
  g_assert_cmpint(cudaGraphLaunch(run, f->stream), ==, cudaSuccess);
  cudaStreamSynchronize(f->stream);
  cudaMemcpy(got, f->device, 64, cudaMemcpyDeviceToHost);
  g_assert_cmpint(got[63], ==, 7);
  cudaGraphExecDestroy(run);
}

/* Work outside may not wait for what was only recorded. */
static void test_inside_out(Fixture *f, gconstpointer data) {
  (void)data;
  cudaEvent_t inside;
  cudaGraph_t graph;
  g_assert_true(cudaEventCreateWithFlags(&inside, cudaEventDisableTiming) == cudaSuccess);
  g_assert_cmpint(cudaEventRecord(inside, f->stream), ==, cudaSuccess);
  g_assert_cmpint(cudaStreamWaitEvent(f->other, inside, 0), ==, cudaErrorStreamCaptureIsolation);
  g_assert_cmpint(cudaStreamEndCapture(f->stream, &graph), ==, cudaSuccess);
  cudaGraphDestroy(graph);
  cudaEventDestroy(inside);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS(broken); i++) {
    g_autofree char *path = g_strdelimit(g_strconcat("/cuda-host/capture/", broken[i].name, NULL), " ", '-');
    g_test_add(path, Fixture, GUINT_TO_POINTER(i), set_up, test_broken, tear_down);
  }
  g_test_add("/cuda-host/capture/kept", Fixture, NULL, set_up, test_kept, tear_down);
  g_test_add("/cuda-host/capture/inside-out", Fixture, NULL, set_up, test_inside_out, tear_down);
  return g_test_run();
}
