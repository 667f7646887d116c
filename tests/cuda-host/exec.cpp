/* Runs a kernel's grid on the CPU: one block at a time, each CUDA thread a
 * fiber that runs until it blocks in a barrier or a warp operation.
 *
 * Compile this file without sanitizer instrumentation; define TM_ASAN or
 * TM_TSAN so that it tells the sanitizer about the fibers. Under TSan each
 * CUDA thread is a thread of its own to the race detector, ordered only by
 * __syncthreads, __syncwarp and the launch, so that a missing barrier is a
 * reported race whatever the schedule was. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <cuda_runtime.h>

#ifdef TM_ASAN
#include <sanitizer/asan_interface.h>
#endif
#ifdef TM_TSAN
#include <sanitizer/tsan_interface.h>
extern "C" void __tsan_acquire(void *), __tsan_release(void *);
extern "C" void AnnotateBenignRaceSized(const char *, int, void *, size_t, const char *);
#define ACQUIRE(p) __tsan_acquire(p)
#define RELEASE(p) __tsan_release(p)
#else
#define ACQUIRE(p) ((void)0)
#define RELEASE(p) ((void)0)
#endif

enum { MAX_THREADS = 1024, STACK = 256 * 1024, MAX_SMEM = 48 * 1024, MAX_SMEM_OPTIN = 227 * 1024 };
enum state { FRESH, READY, AT_BARRIER, AT_WARP, DONE };

/* --- switching stacks ------------------------------------------------ */
/* Saves the callee-saved registers on the stack, swaps stack pointers. */
#if defined(__x86_64__)
asm(R"(
  .text
  .type tm_switch,@function
tm_switch:
  push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15
  mov %rsp, (%rdi)
  mov %rsi, %rsp
  pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp
  ret
  .size tm_switch,.-tm_switch
)");
enum { SAVED = 6 };
#elif defined(__aarch64__)
asm(R"(
  .text
  .type tm_switch,%function
tm_switch:
  sub sp, sp, #160
  stp x19, x20, [sp]; stp x21, x22, [sp, #16]; stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]; stp x27, x28, [sp, #64]; stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]; stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]; stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp]; ldp x21, x22, [sp, #16]; ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]; ldp x27, x28, [sp, #64]; ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]; ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]; ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
  .size tm_switch,.-tm_switch
)");
#else
#error "port tm_switch, or use swapcontext here"
#endif
extern "C" void tm_switch(void **save, void *load);

struct fiber {
  char *stack;
  size_t size;
  void *sp;
  void *asan; /* ASan's fake stack while switched out */
  void *tsan;
};
struct lane {
  state st;
  uint3 tid;
  fiber *on;
  const char *file; /* where it waits */
  int line;
  int op, arg, width;           /* pending warp operation */
  unsigned barriers, syncwarps; /* passed */
  unsigned mask;
  uint64_t value, result;
};

struct warp {
  unsigned exist, arrived, done;
  char sync[2];
}; /* bits: lanes */

tm_self tm_self_now;
extern "C" { /* the linker's bounds of all __shared__ variables */
extern unsigned char __start_tm_shared[] __attribute__((weak));
extern unsigned char __stop_tm_shared[] __attribute__((weak));
}

static struct {
  fiber pool[MAX_THREADS], *free[MAX_THREADS], main;
  int nfree, made;
  lane lanes[MAX_THREADS];
  unsigned n, live, waiting;               /* threads of the block, not done, at barrier */
  unsigned queue[MAX_THREADS], head, tail; /* ready threads, a ring */
  warp warps[MAX_THREADS / 32];
  /* Barriers take turns in two: who is late from one must not seem to be ordered after who is early at the
   * next. */
  char barrier_sync[2], start_sync, end_sync;
  unsigned char *smem;
  alignas(128) unsigned char arena[MAX_SMEM_OPTIN];
  size_t smem_size;
  lane *cur;
  tm_host_call *call;
  const char *kernel;
  bool failed, between;
  unsigned turn;
  int order;
  unsigned long long rng;
  void (*finding)(const char *);
  struct tm_host_stats stats;
} g;

void tm_host_order(int order, unsigned seed) {
  g.order = order;
  g.rng = seed * 2654435761ull + 1;
}
void tm_host_between_blocks(int on) {
  g.between = on;
#ifdef TM_TSAN
  /* Blocks take turns in one copy of the shared memory, which is no race. */
  if (on) {
    AnnotateBenignRaceSized(__FILE__, __LINE__, __start_tm_shared,
                            (size_t)(__stop_tm_shared - __start_tm_shared), "shared");
    AnnotateBenignRaceSized(__FILE__, __LINE__, g.arena, sizeof g.arena, "shared");
  }
#endif
}
void tm_host_on_finding(void (*fn)(const char *)) {
  g.finding = fn;
}
struct tm_host_stats tm_host_stats(void) {
  return g.stats;
}

static unsigned rnd(unsigned n) {
  g.rng = g.rng * 6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)(((g.rng >> 33) * n) >> 31);
}

static void finding(const lane *l, const char *what) {
  char s[512];
  snprintf(s, sizeof s, "%s: block (%u,%u,%u) thread (%u,%u,%u): %s at %s:%d", g.kernel, tm_self_now.block.x,
           tm_self_now.block.y, tm_self_now.block.z, l->tid.x, l->tid.y, l->tid.z, what,
           l->file ? l->file : "end of kernel", l->line);
  g.failed = true;
  if (!g.finding) {
    fprintf(stderr, "%s\n", s);
    abort();
  }
  g.finding(s);
}

/* --- scheduling ------------------------------------------------------ */
static void push(unsigned i) {
  g.queue[g.tail++ % MAX_THREADS] = i;
}

static void shuffle_queue() {
  if (g.order != TM_ORDER_RANDOM) return;
  for (unsigned k = g.tail - g.head; k > 1; k--) {
    unsigned a = (g.head + k - 1) % MAX_THREADS, b = (g.head + rnd(k)) % MAX_THREADS, t = g.queue[a];
    g.queue[a] = g.queue[b];
    g.queue[b] = t;
  }
}

static void go(fiber *from, fiber *to, [[maybe_unused]] bool dying) {
  g.stats.switches++;
#ifdef TM_ASAN
  __sanitizer_start_switch_fiber(dying ? nullptr : &from->asan, to->stack, to->size);
#endif
#ifdef TM_TSAN
  __tsan_switch_to_fiber(to->tsan, 1); /* 1: this orders nothing */
#endif
  tm_switch(&from->sp, to->sp);
#ifdef TM_ASAN
  __sanitizer_finish_switch_fiber(from->asan, nullptr, nullptr);
#endif
}

static void fiber_main();

static fiber *take_fiber([[maybe_unused]] unsigned i) {
#ifdef TM_TSAN
  /* One stack and one identity per CUDA thread. Between blocks the identities
   * turn, or thread 3 of two blocks would be one thread to TSan. */
  fiber *f = &g.pool[(i + g.turn) % MAX_THREADS];
#else
  fiber *f = g.nfree ? g.free[--g.nfree] : &g.pool[g.made++];
#endif
  if (!f->stack) {
    f->stack = (char *)mmap(nullptr, STACK, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (f->stack == MAP_FAILED) {
      perror("mmap");
      abort();
    }
    mprotect(f->stack, 4096, PROT_NONE);
    f->size = STACK;
  }
#ifdef TM_ASAN
  __asan_unpoison_memory_region(f->stack, STACK); /* if its last thread was abandoned */
#endif
  void **sp = (void **)(f->stack + STACK);
#if defined(__x86_64__)
  *--sp = nullptr; /* the stack is 8 off a multiple of 16 on entry */
  *--sp = (void *)fiber_main;
  sp -= SAVED;
#else
  sp -= 20;
  sp[11] = (void *)fiber_main; /* x30 */
#endif
  f->sp = sp;
  return f;
}

/* Gives the CPU to the next ready thread, or back to run_block. */
static void next(lane *me, bool dying) {
  fiber *from = me ? me->on : &g.main, *to = &g.main;
  if (g.head != g.tail) {
    unsigned i = g.queue[g.head++ % MAX_THREADS];
    lane *l = &g.lanes[i];
    if (l == me) {
      l->st = READY;
      return;
    }
    if (l->st == FRESH) l->on = take_fiber(i);
    l->st = READY;
    g.cur = l;
    tm_self_now.thread = l->tid;
    tm_self_now.linear = i;
    to = l->on;
  } else {
    g.cur = nullptr;
    if (!me) return;
  }
  go(from, to, dying);
}

static void fiber_main() {
  lane *me = g.cur;
#ifdef TM_ASAN
  const void *b;
  size_t n;
  __sanitizer_finish_switch_fiber(nullptr, &b, &n);
  if (!g.main.stack) {
    g.main.stack = (char *)b;
    g.main.size = n;
  }
#endif
  ACQUIRE(&g.start_sync);
  g.call->run();
  RELEASE(&g.end_sync);
  me->st = DONE;
  g.live--;
  unsigned i = (unsigned)(me - g.lanes);
  g.warps[i >> 5].done |= 1u << (i & 31);
  fiber *f = me->on;
#ifndef TM_TSAN
  g.free[g.nfree++] = f;
#endif
  me->on = f;
  next(me, true);
  __builtin_unreachable();
}

/* --- barriers and warp operations ------------------------------------ */
void tm_host_barrier(const char *file, int line) {
  lane *me = g.cur;
  [[maybe_unused]] char *sync = &g.barrier_sync[me->barriers++ & 1];
  RELEASE(sync);
  me->file = file;
  me->line = line;
  me->st = AT_BARRIER;
  if (++g.waiting == g.n) {
    g.waiting = 0;
    for (unsigned k = 0; k < g.n; k++) {
      lane *l = &g.lanes[g.order == TM_ORDER_DOWN ? g.n - 1 - k : k];
      if (l->file != file || l->line != line) finding(l, "divergent __syncthreads, other threads elsewhere");
      push((unsigned)(l - g.lanes));
    }
    shuffle_queue();
  }
  next(me, false);
  ACQUIRE(sync);
}

static int source(const lane *l, int k) { /* the lane whose value l reads */
  int seg = k & ~(l->width - 1), end = seg + l->width, src = k;
  switch (l->op) {
  case TM_SHFL:
    return seg + (l->arg & (l->width - 1));
  case TM_UP:
    src = k - l->arg;
    break;
  case TM_DOWN:
    src = k + l->arg;
    break;
  case TM_XOR:
    src = k ^ l->arg;
    break;
  }
  return src < seg || src >= end ? k : src;
}

uint64_t tm_host_warp(int op, unsigned mask, uint64_t value, int arg, int width, const char *file, int line) {
  lane *me = g.cur;
  unsigned i = (unsigned)(me - g.lanes), base = i & ~31u, self = 1u << (i & 31u);
  lane *w = &g.lanes[base];
  warp *wp = &g.warps[base >> 5];
  me->op = op;
  me->mask = mask;
  me->value = value;
  me->arg = arg;
  me->width = width;
  me->file = file;
  me->line = line;
  me->st = AT_WARP;
  if (!(mask & self)) finding(me, "warp operation whose mask leaves out the caller");
  if (mask & ~wp->exist) finding(me, "mask names a lane beyond the block");
  if (mask & wp->done) finding(me, "mask names a lane that has returned");
  mask &= wp->exist & ~wp->done;
  [[maybe_unused]] char *sync = &wp->sync[op == TM_SYNCWARP ? me->syncwarps++ & 1 : 0];
  if (op == TM_SYNCWARP) RELEASE(sync);
  wp->arrived |= self;
  if ((wp->arrived & mask) == mask) { /* the last to arrive does it for all */
    wp->arrived &= ~mask;
    unsigned ballot = 0;
    for (unsigned k = 0; k < 32; k++) {
      if (!(mask >> k & 1)) continue;
      if (w[k].op != op || w[k].mask != me->mask || w[k].line != line || w[k].file != file)
        finding(&w[k], "lanes of one mask in different warp operations");
      if (w[k].value) ballot |= 1u << k;
    }
    for (unsigned k = 0; k < 32; k++) {
      if (!(mask >> k & 1)) continue;
      int src = op == TM_BALLOT ? (int)k : source(&w[k], (int)k);
      if (!(mask >> src & 1)) finding(&w[k], "shuffle reads a lane outside the mask");
      w[k].result = op == TM_BALLOT ? ballot : mask >> src & 1 ? w[src].value : ~0ull;
      w[k].st = READY;
      push(base + k);
    }
    shuffle_queue();
  }
  next(me, false);
  if (op == TM_SYNCWARP) ACQUIRE(sync);
  return me->result;
}

void *tm_host_dyn_shared(size_t) {
  return g.smem;
}

/* --- a grid ---------------------------------------------------------- */
/* Volatile, or the compiler makes it a memset, which the sanitizers watch: it
 * would stop at the red zones between shared variables. */
static void poison(unsigned char *from, size_t n) {
  volatile unsigned char *p = from, *end = from + n;
  for (; p != end && (uintptr_t)p % 8; p++) *p = 0xFF;
  for (; end - p >= 8; p += 8) *(volatile uint64_t *)p = ~0ull;
  for (; p != end; p++) *p = 0xFF;
}

static void run_block() {
  g.stats.blocks++;
  g.stats.threads += g.n;
  poison(__start_tm_shared, (size_t)(__stop_tm_shared - __start_tm_shared));
  poison(g.smem, g.smem_size);
  g.live = g.n;
  g.waiting = 0;
  g.head = g.tail = 0;
  unsigned bx = tm_self_now.block_dim.x, by = tm_self_now.block_dim.y;
  for (unsigned k = 0; k < g.n; k++) {
    unsigned i = g.order == TM_ORDER_DOWN ? g.n - 1 - k : k;
    lane *l = &g.lanes[i];
    l->st = FRESH;
    l->file = nullptr;
    l->line = 0;
    l->barriers = l->syncwarps = 0;
    l->tid = uint3{i % bx, i / bx % by, i / bx / by};
    if (i % 32 == 0) g.warps[i / 32] = warp{g.n - i >= 32 ? ~0u : (1u << (g.n - i)) - 1, 0, 0, {}};
    push(i);
  }
  shuffle_queue();
#ifdef TM_TSAN
  /* Made here, since making one orders it after its maker. */
  for (unsigned i = 0; i < g.n; i++) {
    fiber *f = &g.pool[(i + g.turn) % MAX_THREADS];
    if (!f->tsan) f->tsan = __tsan_create_fiber(0);
  }
#endif
  RELEASE(&g.start_sync);
  next(nullptr, false);
  if (!g.between)
    ACQUIRE(&g.end_sync);
  else
    g.turn += 37;
  if (g.live) { /* nobody can go on: say where each kind of waiter is */
    for (unsigned i = 0; i < g.n; i++)
      if (g.lanes[i].st == AT_BARRIER || g.lanes[i].st == AT_WARP) {
        finding(&g.lanes[i], g.lanes[i].st == AT_BARRIER ? "__syncthreads that some threads never reach"
                                                         : "warp operation that some lanes never reach");
        break;
      }
    for (unsigned i = 0; i < g.n; i++) /* abandon the stuck fibers */
      if (g.lanes[i].st != DONE && g.lanes[i].on) {
#ifndef TM_TSAN
        g.free[g.nfree++] = g.lanes[i].on;
#endif
      }
  }
}

struct launch {
  tm_host_call *call;
  const char *name;
  dim3 grid, block;
  size_t smem;
};

static void run_grid(void *p) {
  launch *l = (launch *)p;
  g.stats.launches++;
  g.kernel = l->name;
  g.call = l->call;
  g.n = l->block.x * l->block.y * l->block.z;
  g.smem_size = l->smem;
  g.smem = g.between ? g.arena : nullptr;
  if (!g.between && l->smem && posix_memalign((void **)&g.smem, 128, l->smem)) abort(); /* exact, for ASan */
  g.failed = false;
#ifdef TM_TSAN
  g.main.tsan = __tsan_get_current_fiber();
#endif
  tm_self_now.block_dim = l->block;
  tm_self_now.grid_dim = l->grid;
  unsigned long long n = (unsigned long long)l->grid.x * l->grid.y * l->grid.z;
  /* Random order visits blocks k*step mod n with step coprime to n. */
  unsigned long long step = 1, at = 0;
  if (g.order == TM_ORDER_RANDOM && n > 2) {
    auto gcd = [](unsigned long long a, unsigned long long b) {
      while (b) {
        auto t = a % b;
        a = b;
        b = t;
      }
      return a;
    };
    do step = 1 + rnd((unsigned)(n - 1));
    while (gcd(step, n) != 1);
    at = rnd((unsigned)n);
  } else if (g.order == TM_ORDER_DOWN) {
    step = n - 1;
    at = n - 1;
  }
  for (unsigned long long k = 0; k < n && !g.failed; k++, at = (at + step) % n) {
    tm_self_now.block = uint3{(unsigned)(at % l->grid.x), (unsigned)(at / l->grid.x % l->grid.y),
                              (unsigned)(at / l->grid.x / l->grid.y)};
    run_block();
  }
  ACQUIRE(&g.end_sync);
  if (!g.between) free(g.smem);
  g.smem = nullptr;
  if (g.failed) tm_host_async_error(cudaErrorLaunchFailure);
}

static void drop_grid(void *p) {
  launch *l = (launch *)p;
  delete l->call;
  delete l;
}

cudaError_t tm_host_launch(const char *name, dim3 grid, dim3 block, size_t smem, cudaStream_t s,
                           tm_host_call *call) {
  unsigned long long n = (unsigned long long)block.x * block.y * block.z;
  size_t fixed = (size_t)(__stop_tm_shared - __start_tm_shared);
  if (n == 0 || n > MAX_THREADS || block.z > 64 || grid.x == 0 || grid.y == 0 || grid.z == 0 ||
      grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535 || smem > MAX_SMEM_OPTIN ||
      (smem > MAX_SMEM && fixed > MAX_SMEM_OPTIN)) {
    delete call;
    return tm_host_set_error(cudaErrorInvalidConfiguration);
  }
  cudaError_t e = tm_host_submit(s, name, run_grid, new launch{call, name, grid, block, smem}, drop_grid);
  return e;
}
