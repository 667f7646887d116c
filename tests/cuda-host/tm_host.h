/* Controls of the host CUDA stand-in, for tests. Not part of the engine. */
#ifndef TM_HOST_H
#define TM_HOST_H
#include <stddef.h>
#include <cuda_runtime_api.h>
#ifdef __cplusplus
extern "C" {
#endif
/* --- runtime.c ------------------------------------------------------- */
/* The nth (1 = next) call whose name is `call` (NULL: any) returns `e`. */
void tm_host_fail(const char *call, long nth, cudaError_t e);
/* From the failed call on all fail, but those that clean up: a lost device. */
void tm_host_sticky(int on);
long tm_host_calls(void); /* API calls made since the last tm_host_fail */
/* How often one call is made from now on. */
void tm_host_count(const char *call);
long tm_host_counted(void);
int tm_host_fault_fired(void);
const char *tm_host_fault_name(void); /* the call that failed */
/* Lazy streams run nothing until something waits for it, so that host code
 * that forgets to wait reads poison. Default: eager. */
void tm_host_lazy(int on);
void tm_host_device_memory(size_t bytes); /* what cudaMemGetInfo reports */
long tm_host_live(void);                  /* objects not yet freed */
/* Puts work on a stream: run now, queue, or record into a capture. Takes
 * ownership of arg; drop may be NULL. Also used by exec.cpp and cudnn.c. */
cudaError_t tm_host_submit(cudaStream_t s, const char *name, void (*run)(void *), void *arg,
                           void (*drop)(void *));
cudaError_t tm_host_set_error(cudaError_t e);
void tm_host_async_error(cudaError_t e);
/* Counts a call and says whether it is the one to fail; for cudnn.c. */
cudaError_t tm_host_fault(const char *call);
/* 0 when [p, p+n) lies in one live device allocation. */
int tm_host_check_device(const void *p, size_t n);

/* --- exec.cpp -------------------------------------------------------- */
enum { TM_ORDER_UP, TM_ORDER_DOWN, TM_ORDER_RANDOM };
void tm_host_order(int order, unsigned seed);
/* TSan: let blocks race with each other too, in global memory. Races in shared
 * memory then go unseen until the process ends: run tests both ways. */
void tm_host_between_blocks(int on);
/* Findings (divergent barrier and so on) abort the process unless a handler
 * is set; after the handler returns the launch reports LaunchFailure. */
void tm_host_on_finding(void (*fn)(const char *what));
struct tm_host_stats {
  unsigned long long launches, blocks, threads, switches;
};
struct tm_host_stats tm_host_stats(void);
#ifdef __cplusplus
}
#endif
#endif
