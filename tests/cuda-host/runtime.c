/* A CUDA runtime on the host, for tests: one device, streams that run their
 * work at once (or lazily), capture and replay, and fault injection. Also
 * compiled against the real cuda_runtime_api.h, to catch drift. Not thread
 * safe: the engine drives CUDA from one thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "tm_host.h"

struct op {
  struct op *next;
  const char *name;
  void (*run)(void *);
  void *arg;
  void (*drop)(void *);
  int refs; /* a captured op is shared by graph and instances */
};
struct list {
  struct op **v;
  size_t n, cap;
};
struct CUstream_st {
  struct CUstream_st *next;
  struct list q; /* lazy: not yet run */
  struct CUgraph_st *capture;
  int invalid; /* the capture was broken */
  int busy;    /* being flushed */
};
struct CUevent_st {
  struct CUstream_st *in;     /* where its latest record is still queued */
  struct CUgraph_st *capture; /* that its latest record is part of */
  long serial, done;
  double t;
  int timing;
};
struct CUgraph_st {
  struct list ops;
};
struct CUgraphExec_st {
  struct list ops;
};

struct block {
  struct block *next;
  char *p;
  size_t n;
  int host;
};

static struct {
  struct CUstream_st null_stream, *streams;
  struct block *blocks;
  size_t used, total;
  long live, calls, fail_at;
  const char *fail_call, *count_call;
  long counted;
  cudaError_t fail_error, last, async;
  const char *fired_call;
  int lazy, fired, sticky, captures;
} rt = {.total = (size_t)8 << 30};

/* --- controls --------------------------------------------------------- */
void tm_host_fail(const char *call, long nth, cudaError_t e) {
  rt.fail_call = call;
  rt.fail_at = nth;
  rt.fail_error = e;
  rt.calls = 0;
  rt.fired = 0;
}
void tm_host_sticky(int on) {
  rt.sticky = on;
}
long tm_host_calls(void) {
  return rt.calls;
}
void tm_host_count(const char *call) {
  rt.count_call = call;
  rt.counted = 0;
}
long tm_host_counted(void) {
  return rt.counted;
}
const char *tm_host_fault_name(void) {
  return rt.fired_call;
}
int tm_host_fault_fired(void) {
  return rt.fired;
}
void tm_host_lazy(int on) {
  rt.lazy = on;
}
void tm_host_device_memory(size_t n) {
  rt.total = n;
}
long tm_host_live(void) {
  return rt.live;
}
/* What a failed kernel leaves behind: every later wait returns it. */
void tm_host_async_error(cudaError_t e) {
  rt.async = e;
}
cudaError_t tm_host_set_error(cudaError_t e) {
  if (e != cudaSuccess) rt.last = e;
  return e;
}

cudaError_t tm_host_fault(const char *name) {
  /* Clean-up calls fail only when named: no caller can do anything about it. */
  if ((!rt.fail_call || (rt.sticky && rt.fired)) && (strstr(name, "Destroy") || strstr(name, "Free"))) return cudaSuccess;
  rt.calls++;
  if (rt.count_call && !strcmp(rt.count_call, name)) rt.counted++;
  if (rt.sticky && rt.fired) return tm_host_set_error(rt.fail_error);
  if (rt.fail_at > 0 && (!rt.fail_call || !strcmp(rt.fail_call, name)) && --rt.fail_at == 0) {
    rt.fired = 1;
    rt.fired_call = name;
    return tm_host_set_error(rt.fail_error);
  }
  return cudaSuccess;
}
#define ENTER()                                                                                              \
  do {                                                                                                       \
    cudaError_t e_ = tm_host_fault(__func__);                                                                \
    if (e_ != cudaSuccess) return e_;                                                                        \
  } while (0)
#define FAIL(e) return tm_host_set_error(e)

/* --- work on streams -------------------------------------------------- */
static void unref(struct op *o) {
  if (--o->refs == 0) {
    if (o->drop) o->drop(o->arg);
    free(o);
  }
}
static int add(struct list *l, struct op *o) {
  if (l->n == l->cap) {
    size_t cap = l->cap ? 2 * l->cap : 16;
    struct op **v = realloc(l->v, cap * sizeof *v);
    if (!v) return -1;
    l->v = v;
    l->cap = cap;
  }
  l->v[l->n++] = o;
  o->refs++;
  return 0;
}
static void clear(struct list *l) {
  for (size_t i = 0; i < l->n; i++) unref(l->v[i]);
  free(l->v);
  memset(l, 0, sizeof *l);
}
static struct CUstream_st *str(cudaStream_t s) {
  return s ? s : &rt.null_stream;
}

static void flush_until(struct CUstream_st *s, const struct CUevent_st *e, long serial) {
  if (s->busy) return;
  s->busy = 1;
  while (s->q.n && !(e && e->done >= serial)) {
    struct op *o = s->q.v[0];
    memmove(s->q.v, s->q.v + 1, --s->q.n * sizeof *s->q.v);
    o->run(o->arg);
    unref(o);
  }
  s->busy = 0;
}
static void flush(struct CUstream_st *s) {
  flush_until(s, NULL, 0);
}
static void flush_all(void) {
  flush(&rt.null_stream);
  for (struct CUstream_st *s = rt.streams; s; s = s->next) flush(s);
}

cudaError_t tm_host_submit(cudaStream_t st, const char *name, void (*run)(void *), void *arg,
                           void (*drop)(void *)) {
  struct CUstream_st *s = str(st);
  struct op *o = calloc(1, sizeof *o);
  cudaError_t e = tm_host_fault(name);
  if (e == cudaSuccess && s->capture && s->invalid) e = cudaErrorStreamCaptureInvalidated;
  if (e == cudaSuccess && s == &rt.null_stream && rt.captures) e = cudaErrorStreamCaptureImplicit;
  if (e != cudaSuccess || !o) {
    if (drop) drop(arg);
    free(o);
    FAIL(e ? e : cudaErrorMemoryAllocation);
  }
  *o = (struct op){.name = name, .run = run, .arg = arg, .drop = drop, .refs = 1};
  if (s->capture) {
    if (add(&s->capture->ops, o)) e = cudaErrorMemoryAllocation;
  } else if (rt.lazy) {
    if (add(&s->q, o)) e = cudaErrorMemoryAllocation;
  } else {
    o->run(o->arg);
    e = rt.async; /* eager: a launch failure is seen at once */
  }
  unref(o);
  return tm_host_set_error(e);
}

/* Calls that wait are not allowed while anything captures. */
static cudaError_t no_capture(void) {
  if (!rt.captures) return cudaSuccess;
  for (struct CUstream_st *s = rt.streams; s; s = s->next)
    if (s->capture) s->invalid = 1;
  return tm_host_set_error(cudaErrorStreamCaptureUnsupported);
}
#define NO_CAPTURE()                                                                                         \
  do {                                                                                                       \
    cudaError_t e_ = no_capture();                                                                           \
    if (e_ != cudaSuccess) return e_;                                                                        \
  } while (0)

/* --- errors and device ------------------------------------------------ */
cudaError_t cudaGetLastError(void) {
  cudaError_t e = rt.last;
  rt.last = cudaSuccess;
  return e;
}
cudaError_t cudaPeekAtLastError(void) {
  return rt.last;
}
const char *cudaGetErrorName(cudaError_t e) {
  static char s[32];
  snprintf(s, sizeof s, "cudaError%d", (int)e);
  return e == cudaSuccess ? "cudaSuccess" : s;
}
const char *cudaGetErrorString(cudaError_t e) {
  return e == cudaSuccess ? "no error" : "host CUDA error";
}
cudaError_t cudaRuntimeGetVersion(int *v) {
  ENTER();
  *v = CUDART_VERSION;
  return cudaSuccess;
}
/* FAKE_CUDA="error=35 driver=11040": what a machine with another driver, or none, says. */
static int told(const char *key, int otherwise) {
  const char *all = getenv("FAKE_CUDA"), *at = all ? strstr(all, key) : NULL;
  return at ? atoi(at + strlen(key)) : otherwise;
}
cudaError_t cudaDriverGetVersion(int *v) {
  ENTER();
  *v = told("driver=", CUDART_VERSION);
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int *n) {
  ENTER();
  if (told("error=", 0)) FAIL((cudaError_t)told("error=", 0));
  *n = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int *d) {
  ENTER();
  *d = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int d) {
  ENTER();
  if (d) FAIL(cudaErrorInvalidDevice);
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int d) {
  ENTER();
  if (d) FAIL(cudaErrorInvalidDevice);
  memset(p, 0, sizeof *p);
  strcpy(p->name, "Host CUDA");
  for (int i = 0; i < 16; i++) p->uuid.bytes[i] = (char)i;
  p->totalGlobalMem = rt.total;
  p->sharedMemPerBlock = 48 * 1024;
  p->sharedMemPerBlockOptin = 227 * 1024;
  p->warpSize = 32;
  p->maxThreadsPerBlock = 1024;
  p->major = 9;
  p->multiProcessorCount = 4;
  p->l2CacheSize = 1 << 20;
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize(void) {
  ENTER();
  NO_CAPTURE();
  flush_all();
  return tm_host_set_error(rt.async);
}
cudaError_t cudaMemGetInfo(size_t *avail, size_t *total) {
  ENTER();
  *avail = rt.total - rt.used;
  *total = rt.total;
  return cudaSuccess;
}

/* --- memory ------------------------------------------------------------ */
static cudaError_t take(void **p, size_t n, int host) {
  struct block *b = malloc(sizeof *b);
  size_t size = n ? n : 1;
  if (!b || (!host && size > rt.total - rt.used)) {
    free(b);
    FAIL(cudaErrorMemoryAllocation);
  }
  /* Exactly n bytes, so that ASan sees one byte too far. */
  if (posix_memalign((void **)&b->p, 256, size)) {
    free(b);
    FAIL(cudaErrorMemoryAllocation);
  }
  memset(b->p, 0xFF, size); /* poison: NaN, -1 */
  b->n = size;
  b->host = host;
  b->next = rt.blocks;
  rt.blocks = b;
  if (!host) rt.used += size;
  rt.live++;
  *p = b->p;
  return cudaSuccess;
}
static cudaError_t give(void *p, int host) {
  if (!p) return cudaSuccess;
  flush_all();
  for (struct block **l = &rt.blocks; *l; l = &(*l)->next)
    if ((*l)->p == p && (*l)->host == host) {
      struct block *b = *l;
      *l = b->next;
      if (!host) rt.used -= b->n;
      free(b->p);
      free(b);
      rt.live--;
      return cudaSuccess;
    }
  FAIL(cudaErrorInvalidValue);
}
static int where(const void *p, size_t n) { /* 1 device, 2 pinned, 0 other, -1 runs over */
  for (struct block *b = rt.blocks; b; b = b->next) {
    const char *c = p;
    if (c >= b->p && c < b->p + b->n) return n > (size_t)(b->p + b->n - c) ? -1 : b->host ? 2 : 1;
  }
  return 0;
}
int tm_host_check_device(const void *p, size_t n) {
  return where(p, n) == 1 ? 0 : -1;
}

cudaError_t cudaMalloc(void **p, size_t n) {
  ENTER();
  NO_CAPTURE();
  return take(p, n, 0);
}
cudaError_t cudaFree(void *p) {
  ENTER();
  NO_CAPTURE();
  return give(p, 0);
}
cudaError_t cudaHostAlloc(void **p, size_t n, unsigned f) {
  (void)f;
  ENTER();
  NO_CAPTURE();
  return take(p, n, 1);
}
cudaError_t cudaFreeHost(void *p) {
  ENTER();
  NO_CAPTURE();
  return give(p, 1);
}

struct move {
  void *d;
  const void *s;
  size_t n;
  int v;
};
static void run_copy(void *a) {
  struct move *m = a;
  memmove(m->d, m->s, m->n);
}
static void run_set(void *a) {
  struct move *m = a;
  memset(m->d, m->v, m->n);
}

static cudaError_t check_copy(const void *d, const void *s, size_t n, enum cudaMemcpyKind k) {
  int wd = where(d, n), ws = where(s, n);
  if (wd < 0 || ws < 0) return cudaErrorInvalidValue;
  int dd = wd == 1, sd = ws == 1;
  int want = !dd && !sd  ? cudaMemcpyHostToHost
             : dd && !sd ? cudaMemcpyHostToDevice
             : !dd       ? cudaMemcpyDeviceToHost
                         : cudaMemcpyDeviceToDevice;
  return k == cudaMemcpyDefault || (int)k == want ? cudaSuccess : cudaErrorInvalidValue;
}
cudaError_t cudaMemcpy(void *d, const void *s, size_t n, enum cudaMemcpyKind k) {
  ENTER();
  NO_CAPTURE();
  cudaError_t e = check_copy(d, s, n, k);
  if (e != cudaSuccess) FAIL(e);
  flush(&rt.null_stream);
  memmove(d, s, n);
  return cudaSuccess;
}
static cudaError_t put_move(cudaStream_t st, const char *name, struct move m, void (*run)(void *)) {
  struct move *a = malloc(sizeof *a);
  if (!a) FAIL(cudaErrorMemoryAllocation);
  *a = m;
  return tm_host_submit(st, name, run, a, free);
}
cudaError_t cudaMemcpyAsync(void *d, const void *s, size_t n, enum cudaMemcpyKind k, cudaStream_t st) {
  cudaError_t e = check_copy(d, s, n, k);
  if (e != cudaSuccess) FAIL(e);
  /* A recorded copy runs later and again: memory that is not pinned may be gone, and is copied at once. */
  if (str(st)->capture && (!where(d, n) || !where(s, n))) {
    str(st)->invalid = 1;
    FAIL(cudaErrorStreamCaptureUnsupported);
  }
  return put_move(st, __func__, (struct move){d, s, n, 0}, run_copy);
}
cudaError_t cudaMemset(void *d, int v, size_t n) {
  ENTER();
  NO_CAPTURE();
  if (where(d, n) != 1) FAIL(cudaErrorInvalidValue);
  flush(&rt.null_stream);
  memset(d, v, n);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *d, int v, size_t n, cudaStream_t st) {
  if (where(d, n) != 1) FAIL(cudaErrorInvalidValue);
  return put_move(st, __func__, (struct move){d, NULL, n, v}, run_set);
}

/* --- streams and events ------------------------------------------------ */
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags) {
  (void)flags;
  ENTER();
  *s = calloc(1, sizeof **s);
  if (!*s) FAIL(cudaErrorMemoryAllocation);
  (*s)->next = rt.streams;
  rt.streams = *s;
  rt.live++;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t s) {
  ENTER();
  for (struct CUstream_st **l = &rt.streams; *l; l = &(*l)->next)
    if (*l == s) {
      flush(s);
      *l = s->next;
      clear(&s->q);
      if (s->capture) {
        rt.captures--;
        clear(&s->capture->ops);
        free(s->capture);
        rt.live--;
      }
      free(s);
      rt.live--;
      return cudaSuccess;
    }
  FAIL(cudaErrorInvalidResourceHandle);
}
cudaError_t cudaStreamSynchronize(cudaStream_t s) {
  ENTER();
  NO_CAPTURE();
  flush(str(s));
  return tm_host_set_error(rt.async);
}
cudaError_t cudaStreamQuery(cudaStream_t s) {
  ENTER();
  NO_CAPTURE();
  if (!str(s)->q.n) return cudaSuccess;
  flush(str(s)); /* the next query succeeds, so that polling ends */
  return cudaErrorNotReady;
}

struct mark {
  struct CUevent_st *e;
  long serial;
};
static void run_record(void *a) {
  struct mark *m = a;
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  if (m->serial > m->e->done) m->e->done = m->serial;
  m->e->t = (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}
static void run_wait(void *a) {
  struct mark *m = a;
  if (m->e->in && m->e->done < m->serial) flush_until(m->e->in, m->e, m->serial);
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned flags) {
  ENTER();
  *e = calloc(1, sizeof **e);
  if (!*e) FAIL(cudaErrorMemoryAllocation);
  (*e)->timing = !(flags & cudaEventDisableTiming);
  rt.live++;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t e) {
  ENTER();
  flush_all();
  free(e);
  rt.live--;
  return cudaSuccess;
}
static cudaError_t put_mark(cudaStream_t s, const char *name, cudaEvent_t e, void (*run)(void *)) {
  struct mark *m = malloc(sizeof *m);
  if (!m) FAIL(cudaErrorMemoryAllocation);
  *m = (struct mark){e, e->serial};
  return tm_host_submit(s, name, run, m, free);
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) {
  e->serial++;
  e->in = str(s);
  e->capture = str(s)->capture;
  return put_mark(s, __func__, e, run_record);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags) {
  (void)flags;
  if (e->capture != str(s)->capture) { /* what is recorded cannot depend on what is not, or the other way about */
    str(s)->invalid = 1;
    FAIL(cudaErrorStreamCaptureIsolation);
  }
  return put_mark(s, __func__, e, run_wait);
}
cudaError_t cudaEventSynchronize(cudaEvent_t e) {
  ENTER();
  NO_CAPTURE();
  if (e->in && e->done < e->serial) flush_until(e->in, e, e->serial);
  return tm_host_set_error(rt.async);
}
cudaError_t cudaEventQuery(cudaEvent_t e) {
  ENTER();
  NO_CAPTURE();
  if (e->done >= e->serial) return cudaSuccess;
  flush_until(e->in, e, e->serial);
  return cudaErrorNotReady;
}
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t a, cudaEvent_t b) {
  ENTER();
  if (!a->timing || !b->timing) FAIL(cudaErrorInvalidResourceHandle);
  if (a->done < a->serial || b->done < b->serial) FAIL(cudaErrorNotReady);
  *ms = (float)(b->t - a->t);
  return cudaSuccess;
}

/* --- capture and graphs -------------------------------------------------- */
cudaError_t cudaStreamBeginCapture(cudaStream_t s, enum cudaStreamCaptureMode m) {
  (void)m;
  ENTER();
  if (!s) FAIL(cudaErrorStreamCaptureUnsupported);
  if (s->capture) FAIL(cudaErrorInvalidValue);
  s->capture = calloc(1, sizeof *s->capture);
  if (!s->capture) FAIL(cudaErrorMemoryAllocation);
  s->invalid = 0;
  rt.captures++;
  rt.live++;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *g) {
  const cudaError_t fault = tm_host_fault(__func__);
  *g = NULL;
  if (!s || !s->capture) FAIL(fault ? fault : cudaErrorInvalidValue);
  struct CUgraph_st *c = s->capture;
  s->capture = NULL; /* a failure ends the capture too */
  rt.captures--;
  if (s->invalid || fault) {
    clear(&c->ops);
    free(c);
    rt.live--;
    FAIL(fault ? fault : cudaErrorStreamCaptureInvalidated);
  }
  *g = c;
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t s, enum cudaStreamCaptureStatus *st) {
  ENTER();
  *st = !str(s)->capture ? cudaStreamCaptureStatusNone
        : s->invalid     ? cudaStreamCaptureStatusInvalidated
                         : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *x, cudaGraph_t g, unsigned long long flags) {
  (void)flags;
  ENTER();
  *x = calloc(1, sizeof **x);
  if (!*x) FAIL(cudaErrorMemoryAllocation);
  for (size_t i = 0; i < g->ops.n; i++)
    if (add(&(*x)->ops, g->ops.v[i])) {
      clear(&(*x)->ops);
      free(*x);
      FAIL(cudaErrorMemoryAllocation);
    }
  rt.live++;
  return cudaSuccess;
}
static void run_graph(void *a) {
  struct CUgraphExec_st *x = a;
  for (size_t i = 0; i < x->ops.n; i++) x->ops.v[i]->run(x->ops.v[i]->arg);
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t x, cudaStream_t s) {
  return tm_host_submit(s, __func__, run_graph, x, NULL);
}
cudaError_t cudaGraphDestroy(cudaGraph_t g) {
  ENTER();
  clear(&g->ops);
  free(g);
  rt.live--;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t x) {
  ENTER();
  flush_all();
  clear(&x->ops);
  free(x);
  rt.live--;
  return cudaSuccess;
}
