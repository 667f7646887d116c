/* The convolution kernels of every table against loops in double: f32 and bf16, at sizes that leave
 * remainders everywhere, dense and as slices, with guards. Numbers are multiples of 1/8 so that bf16 holds
 * them exactly. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/core/random.h"
#include "kernels/kernels.h"

enum { GUARD = 64, GAP = 3 };

typedef struct {
  int n, in, out, h, w;
  gboolean slices;
} Size;

static const Size sizes[] = {
    {1, 1, 1, 1, 1, FALSE},     {1, 3, 32, 5, 17, FALSE},   {2, 5, 7, 9, 4, TRUE},
    {1, 33, 65, 3, 13, TRUE},   {2, 32, 32, 19, 31, FALSE}, {1, 64, 40, 21, 12, TRUE},
    {3, 17, 11, 26, 25, FALSE}, {1, 130, 64, 11, 5, FALSE}, {1, 8, 8, 40, 300, TRUE},
};

typedef struct {
  const TmKernels *k;
  TmDType type;
} Job;

/* A view in a buffer of its own, the rest of which is NaN. */
typedef struct {
  TmView v;
  guint8 *memory;
  gsize bytes;
} Buffer;

static void buffer_init(Buffer *b, TmDType type, int n, int c, int h, int w, int ld) {
  b->v = (TmView){.dtype = type, .shape = TM_SHAPE(n, c, h, w), .ld = ld};
  b->bytes = (tm_shape_pixels(b->v.shape) * (gsize)ld + 2 * GUARD) * tm_dtype_size(type);
  b->memory = g_malloc(b->bytes);
  memset(b->memory, 0xff, b->bytes);
  b->v.data = b->memory + GUARD * tm_dtype_size(type);
}

static float get(const TmView *v, int n, int h, int w, int c) {
  const gsize i =
      (((gsize)n * (gsize)v->shape.h + (gsize)h) * (gsize)v->shape.w + (gsize)w) * (gsize)v->ld + (gsize)c;
  return v->dtype == TM_BF16 ? tm_bf16_to_f32(((const guint16 *)v->data)[i]) : ((const float *)v->data)[i];
}

static void fill(TmView *v, TmRandom *r) {
  for (gsize p = 0; p < tm_shape_pixels(v->shape); p++)
    for (int c = 0; c < v->shape.c; c++) {
      const float x = (float)((int)tm_random_int(r, 33) - 16) / 8;
      if (v->dtype == TM_BF16)
        ((guint16 *)v->data)[p * (gsize)v->ld + (gsize)c] = tm_f32_to_bf16(x);
      else
        ((float *)v->data)[p * (gsize)v->ld + (gsize)c] = x;
    }
}

/* Nothing but the view's elements was written. */
static void check_guards(const Buffer *b) {
  const gsize size = tm_dtype_size(b->v.dtype), pixel = (gsize)b->v.ld * size,
              used = (gsize)b->v.shape.c * size, first = GUARD * size;
  const gsize end = first + tm_shape_pixels(b->v.shape) * pixel;
  for (gsize i = 0; i < b->bytes; i++)
    if (i < first || i >= end || (i - first) % pixel >= used) g_assert_cmpint(b->memory[i], ==, 0xff);
}

static float *random_weights(gsize n, TmRandom *r) {
  float *w = g_new(float, n);
  for (gsize i = 0; i < n; i++) w[i] = (float)((int)tm_random_int(r, 17) - 8) / 8;
  return w;
}

static TmTeam team_new(gsize stride, gsize shared) {
  TmTeam t = {.threads = 2, .stride = (stride + 63) / 64 * 64};
  t.shared = aligned_alloc(64, (shared + 63) / 64 * 64 + 64);
  memset(t.shared, 0xff, shared);
  t.work = aligned_alloc(64, t.stride * 2);
  memset(t.work, 0xff, t.stride * 2); /* a kernel may not count on zeros */
  return t;
}

static void team_free(TmTeam *t) {
  free(t->work);
  free(t->shared);
}

static void *packed_new(gsize bytes) {
  void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);
  memset(p, 0xff, bytes);
  return p;
}

static void expect(float got, double expected, double size, TmDType type) {
  const double allowed = (type == TM_BF16 ? 0x1p-8 : 1e-6) * (fabs(expected) + size);
  if (!(fabs((double)got - expected) <= allowed)) g_error("%.8g instead of %.8g", (double)got, expected);
}

/* y[o](h, w) of the 3x3 convolution, or of its adjoint. */
static double conv3_at(const TmView *x, const float *w, int in, gboolean backward, int n, int h, int c,
                       int o) {
  double s = 0;
  for (int t = 0; t < 9; t++) {
    const int i = h + t / 3 - 1, j = c + t % 3 - 1;
    if (i < 0 || j < 0 || i >= x->shape.h || j >= x->shape.w) continue;
    for (int k = 0; k < x->shape.c; k++) {
      const gsize at = backward ? ((gsize)k * 9 + (gsize)(8 - t)) * (gsize)in + (gsize)o
                                : ((gsize)o * 9 + (gsize)t) * (gsize)in + (gsize)k;
      s += (double)w[at] * (double)get(x, n, i, j, k);
    }
  }
  return s;
}

static void check_conv3(const Job *job, const Size *z, gboolean backward) {
  TmRandom r;
  tm_random_seed(&r, 3);
  Buffer x, y;
  const int from = backward ? z->out : z->in, to = backward ? z->in : z->out, gap = z->slices ? GAP : 0;
  buffer_init(&x, job->type, z->n, from, z->h, z->w, from + gap);
  buffer_init(&y, job->type, z->n, to, z->h, z->w, to + gap);
  fill(&x.v, &r);
  g_autofree float *w = random_weights((gsize)z->out * (gsize)z->in * 9, &r);
  g_autofree float *bias = random_weights((gsize)to, &r);
  g_autofree float *stats = g_new(float, 2 * (gsize)to);
  TmTeam team = team_new(tm_kernels_conv3_work(x.v.shape, job->type),
                         tm_kernels_conv3_shared(x.v.shape, job->type, to));
  void *packed = packed_new(tm_kernels_conv3_packed(z->out, z->in));
  job->k->conv3_pack(&team, w, z->out, z->in, job->type, backward, packed);
  job->k->conv3(&team, &x.v, packed, backward ? NULL : bias, FALSE, &y.v, stats);
  check_guards(&x);
  check_guards(&y);
  for (int o = 0; o < to; o++) {
    double sum = 0, square = 0, pixels = (double)tm_shape_pixels(y.v.shape);
    for (int n = 0; n < z->n; n++)
      for (int h = 0; h < z->h; h++)
        for (int c = 0; c < z->w; c++) {
          const double v = conv3_at(&x.v, w, z->in, backward, n, h, c, o) + (backward ? 0 : (double)bias[o]);
          expect(get(&y.v, n, h, c, o), v, 1, job->type);
          sum += v;
          square += v * v;
        }
    expect(stats[o], sum / pixels, 1, TM_F32);
    expect(stats[to + o], square / pixels - sum / pixels * sum / pixels, 4 * (1 + square / pixels),
           TM_F32); /* squares are added up in f32 along a row */
  }
  job->k->conv3(&team, &x.v, packed, bias, TRUE, &y.v, NULL);
  check_guards(&y);
  for (int n = 0; n < z->n; n++)
    for (int h = 0; h < z->h; h++)
      for (int c = 0; c < z->w; c++)
        for (int o = 0; o < to; o++)
          expect(get(&y.v, n, h, c, o),
                 fmax(0, conv3_at(&x.v, w, z->in, backward, n, h, c, o) + (double)bias[o]), 1, job->type);
  free(packed);
  team_free(&team);
  g_free(x.memory);
  g_free(y.memory);
}

static void test_conv3(gconstpointer data) {
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
    check_conv3(data, &sizes[i], FALSE);
    check_conv3(data, &sizes[i], TRUE);
  }
}

static double conv3_dw_at(const TmView *x, const TmView *dy, int o, int t, int k) {
  double s = 0;
  for (int n = 0; n < x->shape.n; n++)
    for (int h = 0; h < x->shape.h; h++)
      for (int c = 0; c < x->shape.w; c++) {
        const int i = h + t / 3 - 1, j = c + t % 3 - 1;
        if (i >= 0 && j >= 0 && i < x->shape.h && j < x->shape.w)
          s += (double)get(dy, n, h, c, o) * (double)get(x, n, i, j, k);
      }
  return s;
}

static void check_conv3_dw(const Job *job, const Size *z) {
  TmRandom r;
  tm_random_seed(&r, 4);
  Buffer x, dy;
  const int gap = z->slices ? GAP : 0;
  buffer_init(&x, job->type, z->n, z->in, z->h, z->w, z->in + gap);
  buffer_init(&dy, job->type, z->n, z->out, z->h, z->w, z->out + gap);
  fill(&x.v, &r);
  fill(&dy.v, &r);
  const gsize count = (gsize)z->out * 9 * (gsize)z->in;
  g_autofree float *dw = g_new(float, count + GUARD);
  for (gsize i = 0; i < count + GUARD; i++) dw[i] = -77;
  TmTeam team = team_new(tm_kernels_conv3_dw_work(x.v.shape, job->type, z->out), 0);
  job->k->conv3_dw(&team, &x.v, &dy.v, dw);
  for (int o = 0; o < z->out; o++)
    for (int t = 0; t < 9; t++)
      for (int k = 0; k < z->in; k++) {
        const double s = conv3_dw_at(&x.v, &dy.v, o, t, k);
        expect(dw[((gsize)o * 9 + (gsize)t) * (gsize)z->in + (gsize)k], s, sqrt((double)(z->n * z->h * z->w)),
               TM_F32);
      }
  for (int i = 0; i < GUARD; i++) g_assert_cmpfloat(dw[count + (gsize)i], ==, -77);
  team_free(&team);
  g_free(x.memory);
  g_free(dy.memory);
}

static void test_conv3_dw(gconstpointer data) {
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) check_conv3_dw(data, &sizes[i]);
}

static void check_up2(const Job *job, const Size *z) {
  TmRandom r;
  tm_random_seed(&r, 5);
  Buffer x, y;
  const int gap = z->slices ? GAP : 0, H = 2 * z->h, W = 2 * z->w;
  buffer_init(&x, job->type, z->n, z->in, z->h, z->w, z->in + gap);
  buffer_init(&y, job->type, z->n, z->out, H, W, z->out + gap);
  g_autofree float *w = random_weights((gsize)z->out * (gsize)z->in * 4, &r);
  g_autofree float *bias = random_weights((gsize)z->out, &r);
  TmTeam team = team_new(tm_kernels_up2_work(x.v.shape, z->out), 0);
  void *packed = packed_new(tm_kernels_up2_packed(z->in, z->out));
  fill(&x.v, &r);
  job->k->up2_pack(&team, w, z->in, z->out, job->type, FALSE, packed);
  job->k->up2(&team, &x.v, packed, bias, &y.v);
  check_guards(&y);
  for (int n = 0; n < z->n; n++)
    for (int h = 0; h < H; h++)
      for (int c = 0; c < W; c++)
        for (int o = 0; o < z->out; o++) {
          double s = (double)bias[o];
          for (int k = 0; k < z->in; k++)
            s += (double)w[((gsize)k * 4 + (gsize)(h % 2 * 2 + c % 2)) * (gsize)z->out + (gsize)o] *
                 (double)get(&x.v, n, h / 2, c / 2, k);
          expect(get(&y.v, n, h, c, o), s, 1, job->type);
        }
  fill(&y.v, &r);
  job->k->up2_pack(&team, w, z->in, z->out, job->type, TRUE, packed);
  job->k->up2_dx(&team, &y.v, packed, NULL, &x.v);
  check_guards(&x);
  for (int n = 0; n < z->n; n++)
    for (int h = 0; h < z->h; h++)
      for (int c = 0; c < z->w; c++)
        for (int k = 0; k < z->in; k++) {
          double s = 0;
          for (int t = 0; t < 4; t++)
            for (int o = 0; o < z->out; o++)
              s += (double)w[((gsize)k * 4 + (gsize)t) * (gsize)z->out + (gsize)o] *
                   (double)get(&y.v, n, 2 * h + t / 2, 2 * c + t % 2, o);
          expect(get(&x.v, n, h, c, k), s, 1, job->type);
        }
  free(packed);
  team_free(&team);
  g_free(x.memory);
  g_free(y.memory);
}

static void check_up2_dw(const Job *job, const Size *z) {
  TmRandom r;
  tm_random_seed(&r, 6);
  Buffer x, dy;
  const int gap = z->slices ? GAP : 0;
  buffer_init(&x, job->type, z->n, z->in, z->h, z->w, z->in + gap);
  buffer_init(&dy, job->type, z->n, z->out, 2 * z->h, 2 * z->w, z->out + gap);
  fill(&x.v, &r);
  fill(&dy.v, &r);
  const gsize count = (gsize)z->out * 4 * (gsize)z->in;
  g_autofree float *dw = g_new(float, count + GUARD);
  for (gsize i = 0; i < count + GUARD; i++) dw[i] = -77;
  TmTeam team = team_new(tm_kernels_up2_work(x.v.shape, z->out), 0);
  job->k->up2_dw(&team, &x.v, &dy.v, dw);
  for (int k = 0; k < z->in; k++)
    for (int t = 0; t < 4; t++)
      for (int o = 0; o < z->out; o++) {
        double s = 0;
        for (int n = 0; n < z->n; n++)
          for (int h = 0; h < z->h; h++)
            for (int c = 0; c < z->w; c++)
              s += (double)get(&x.v, n, h, c, k) * (double)get(&dy.v, n, 2 * h + t / 2, 2 * c + t % 2, o);
        expect(dw[((gsize)k * 4 + (gsize)t) * (gsize)z->out + (gsize)o], s,
               sqrt((double)(z->n * z->h * z->w)), TM_F32);
      }
  for (int i = 0; i < GUARD; i++) g_assert_cmpfloat(dw[count + (gsize)i], ==, -77);
  team_free(&team);
  g_free(x.memory);
  g_free(dy.memory);
}

static void test_up2(gconstpointer data) {
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) check_up2(data, &sizes[i]);
}
static void test_up2_dw(gconstpointer data) {
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) check_up2_dw(data, &sizes[i]);
}

/* ---- Winograd: sums of rounded sums are noisier than the direct kernels. Against rms, the noise of one
 * output is a few times 2^-9, of all together less than 2^-7; a wrong tile or channel is as wrong as the
 * value itself. ---- */

static const Size winograd_sizes[] = {
    {1, 32, 32, 1, 1, FALSE},  {2, 32, 64, 5, 7, TRUE},    {1, 64, 32, 22, 30, FALSE},
    {3, 96, 32, 9, 33, TRUE},  {1, 32, 96, 2, 300, FALSE}, {2, 160, 64, 13, 4, FALSE},
    {1, 32, 32, 40, 41, TRUE}, {2, 256, 288, 3, 7, TRUE},
};

typedef struct {
  double square, error, worst;
} Noise;

static void add_noise(Noise *z, double got, double expected) {
  const double e = got - expected;
  z->square += expected * expected;
  z->error += e * e;
  z->worst = MAX(z->worst, fabs(e));
  if (!isfinite(got)) g_error("not a number");
}

/* @unit: 2^-7 in bf16, 2^-18 in f32. */
static void check_noise(const Noise *z, gsize n, double unit) {
  const double rms = sqrt(z->square / (double)n);
  g_assert_cmpfloat(sqrt(z->error / (double)n), <=, unit * rms);
  g_assert_cmpfloat(z->worst, <=, 8 * unit * rms);
}
static double unit_of(TmDType type) {
  return type == TM_BF16 ? 0x1p-7 : 0x1p-18;
}

/* With bias, and with ReLU when @relu. */
static void check_winograd_after(const TmKernels *k, const TmTeam *team, const Buffer *x, const void *packed,
                                 const float *w, const Size *z, gboolean backward, gboolean relu, Buffer *y) {
  TmRandom r;
  tm_random_seed(&r, 15);
  const int to = y->v.shape.c;
  g_autofree float *bias = random_weights((gsize)to, &r);
  Noise noise = {0};
  (x->v.dtype == TM_F32 ? k->winograd_f32 : k->winograd)(team, &x->v, packed, bias, relu, &y->v, NULL);
  check_guards(y);
  for (int n = 0; n < z->n; n++)
    for (int h = 0; h < z->h; h++)
      for (int c = 0; c < z->w; c++)
        for (int o = 0; o < to; o++) {
          const double v = conv3_at(&x->v, w, z->in, backward, n, h, c, o) + (double)bias[o];
          add_noise(&noise, (double)get(&y->v, n, h, c, o), relu ? fmax(0, v) : v);
        }
  check_noise(&noise, tm_shape_count(y->v.shape), unit_of(x->v.dtype));
}

static void check_winograd(const TmKernels *k, const Size *z, TmDType type, gboolean backward) {
  TmRandom r;
  tm_random_seed(&r, 13);
  Buffer x, y;
  const int from = backward ? z->out : z->in, to = backward ? z->in : z->out, gap = z->slices ? GAP : 0;
  buffer_init(&x, type, z->n, from, z->h, z->w, from + gap);
  buffer_init(&y, type, z->n, to, z->h, z->w, to + gap);
  fill(&x.v, &r);
  g_autofree float *w = random_weights((gsize)z->out * (gsize)z->in * 9, &r);
  g_autofree float *stats = g_new(float, 2 * (gsize)to);
  TmTeam team =
      team_new(tm_kernels_winograd_work(x.v.shape, type), tm_kernels_winograd_shared(x.v.shape, type, to));
  void *packed = packed_new(tm_kernels_winograd_packed(z->out, z->in, type));
  (type == TM_F32 ? k->winograd_f32_pack : k->winograd_pack)(&team, w, z->out, z->in, backward, packed);
  (type == TM_F32 ? k->winograd_f32 : k->winograd)(&team, &x.v, packed, NULL, FALSE, &y.v, stats);
  check_guards(&x);
  check_guards(&y);
  Noise noise = {0}, means = {0}, variances = {0};
  for (int o = 0; o < to; o++) {
    double sum = 0, square = 0, pixels = (double)tm_shape_pixels(y.v.shape);
    for (int n = 0; n < z->n; n++)
      for (int h = 0; h < z->h; h++)
        for (int c = 0; c < z->w; c++) {
          const double v = conv3_at(&x.v, w, z->in, backward, n, h, c, o),
                       got = (double)get(&y.v, n, h, c, o);
          add_noise(&noise, got, v);
          sum += got;
          square += got * got;
        }
    add_noise(&means, (double)stats[o], sum / pixels);
    add_noise(&variances, (double)stats[to + o], square / pixels - sum / pixels * sum / pixels);
  }
  check_noise(&noise, tm_shape_count(y.v.shape), unit_of(type));
  if (z->h * z->w > 1) { /* statistics are of y before it is rounded */
    check_noise(&means, (gsize)to, unit_of(type));
    check_noise(&variances, (gsize)to, unit_of(type));
  }
  check_winograd_after(k, &team, &x, packed, w, z, backward, FALSE, &y);
  check_winograd_after(k, &team, &x, packed, w, z, backward, TRUE, &y);
  free(packed);
  team_free(&team);
  g_free(x.memory);
  g_free(y.memory);
}

static void check_winograd_dw(const TmKernels *k, const Size *z, TmDType type) {
  TmRandom r;
  tm_random_seed(&r, 14);
  Buffer x, dy;
  const int gap = z->slices ? GAP : 0;
  buffer_init(&x, type, z->n, z->in, z->h, z->w, z->in + gap);
  buffer_init(&dy, type, z->n, z->out, z->h, z->w, z->out + gap);
  fill(&x.v, &r);
  fill(&dy.v, &r);
  const gsize count = (gsize)z->out * 9 * (gsize)z->in;
  g_autofree float *dw = g_new(float, count + GUARD);
  for (gsize i = 0; i < count + GUARD; i++) dw[i] = -77;
  TmTeam team = team_new(tm_kernels_winograd_dw_work(x.v.shape, type, z->out),
                         tm_kernels_winograd_dw_shared(x.v.shape, type, z->out));
  (type == TM_F32 ? k->winograd_f32_dw : k->winograd_dw)(&team, &x.v, &dy.v, dw);
  Noise noise = {0};
  for (int o = 0; o < z->out; o++)
    for (int t = 0; t < 9; t++)
      for (int i = 0; i < z->in; i++)
        add_noise(&noise, (double)dw[((gsize)o * 9 + (gsize)t) * (gsize)z->in + (gsize)i],
                  conv3_dw_at(&x.v, &dy.v, o, t, i));
  check_noise(&noise, count, unit_of(type));
  for (int i = 0; i < GUARD; i++) g_assert_cmpfloat(dw[count + (gsize)i], ==, -77);
  team_free(&team);
  g_free(x.memory);
  g_free(dy.memory);
}

static void winograd_of(const TmKernels *k, TmDType type) {
  for (guint i = 0; i < G_N_ELEMENTS(winograd_sizes); i++) {
    check_winograd(k, &winograd_sizes[i], type, FALSE);
    check_winograd(k, &winograd_sizes[i], type, TRUE);
    check_winograd_dw(k, &winograd_sizes[i], type);
  }
}
static void test_winograd(gconstpointer data) {
  winograd_of(data, TM_BF16);
}
static void test_winograd_f32(gconstpointer data) {
  winograd_of(data, TM_F32);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  static const struct {
    const char *name;
    GTestDataFunc run;
  } tests[] = {
      {"conv3", test_conv3}, {"conv3_dw", test_conv3_dw}, {"up2", test_up2}, {"up2_dw", test_up2_dw}};
  guint n;
  const TmKernels *const *tables = tm_kernels_usable(&n);
  static Job jobs[6];
  for (guint i = 0; i < n; i++) {
    g_autofree char *path = g_strdup_printf("/kernels/%s/winograd_f32", tables[i]->name);
    g_strdelimit(path, " ", '-');
    g_test_add_data_func(path, tables[i], test_winograd_f32);
  }
  for (guint i = 0; i < 2 * n; i++) {
    jobs[i] = (Job){.k = tables[i / 2], .type = i % 2 ? TM_BF16 : TM_F32};
    for (guint t = 0; t < G_N_ELEMENTS(tests); t++) {
      g_autofree char *path =
          g_strdup_printf("/kernels/%s/%s/%s", jobs[i].k->name, tm_dtype_name(jobs[i].type), tests[t].name);
      g_strdelimit(path, " ", '-');
      g_test_add_data_func(path, &jobs[i], tests[t].run);
    }
  }
  if (tables[0]->winograd) g_test_add_data_func("/kernels/winograd", tables[0], test_winograd);
  return g_test_run();
}
