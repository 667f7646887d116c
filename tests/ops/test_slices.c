/* Every op on every backend that is here, once on dense views and once on slices of wider buffers (where the
 * backend takes them) whose gaps and ends hold a pattern that is NaN as a number: reading a gap spoils the
 * result, writing one spoils the pattern. */
#include <string.h>

#include "engine/core/tensor.h"
#include "tests/ops/op_bench.h"

enum { GUARD = 256, PATTERN = 0xff, SEED = 11 };

typedef struct {
  const TmOpCase *op_case;
  const char *backend;
} Test;

typedef struct {
  int from, extra; /* channels before the slice, and in all beside it */
} Layout;

/* A value moved out of the arena into a buffer of its own between two guards. */
typedef struct {
  guint8 *buffer;
  gsize bytes;
  TmView view;
} Moved;

static gboolean takes_slices(const TmProgram *p, guint value) {
  gboolean used = FALSE;
  for (guint i = 0; i < p->n_steps; i++) {
    const TmStep *s = &p->steps[i];
    for (guint k = 0; k < s->n_in + s->n_out; k++) {
      const gboolean in = k < s->n_in;
      if ((in ? s->in[k] : s->out[k - s->n_in]) != value) continue;
      used = TRUE;
      if (!tm_backend_takes_slice(p->backend, s->op, s->node, in ? (int)k : ~(int)(k - s->n_in), p->precision))
        return FALSE;
    }
  }
  return used;
}

static Moved move_value(TmProgram *p, guint value, const Layout *l) {
  g_autoptr(GError) error = NULL;
  TmView *v = &p->values[value].view;
  const gboolean slice = l->extra > 0 && takes_slices(p, value);
  const gsize elem = tm_dtype_size(v->dtype);
  Moved m = {0};
  if (slice) v->ld = v->shape.c + l->extra;
  m.bytes = tm_shape_pixels(v->shape) * (gsize)v->ld * elem + 2 * GUARD;
  m.buffer = tm_backend_alloc(p->backend, m.bytes, &error);
  g_assert_no_error(error);
  memset(m.buffer, PATTERN, m.bytes);
  v->data = m.buffer + GUARD + (slice ? (gsize)l->from * elem : 0);
  m.view = *v;
  return m;
}

static gboolean inside(const Moved *m, gsize byte) {
  const gsize elem = tm_dtype_size(m->view.dtype), start = (gsize)((guint8 *)m->view.data - m->buffer);
  if (byte < start) return FALSE;
  const gsize e = (byte - start) / elem;
  return e / (gsize)m->view.ld < tm_shape_pixels(m->view.shape) &&
         e % (gsize)m->view.ld < (gsize)m->view.shape.c;
}

static void check_pattern(const Moved *m, const TmNode *n) {
  for (gsize i = 0; i < m->bytes; i++)
    if (m->buffer[i] != PATTERN && !inside(m, i)) {
      g_test_fail_printf("%s was written %" G_GSIZE_FORMAT " bytes into its buffer of %" G_GSIZE_FORMAT
                         ", outside of its slice",
                         n->name ? n->name : "a value", i, m->bytes);
      return;
    }
}

static float *run(const Test *t, TmDType precision, const Layout *l, gsize *n) {
  g_autoptr(GError) error = NULL;
  g_autoptr(OpBench) b = op_bench_new(t->backend, t->op_case);
  if (!tm_backend_supports(b->backend, (int)b->out->op, b->out, precision)) return NULL;
  g_autoptr(TmProgram) p = op_bench_program(b, precision, 1, &b->out);
  const TmBackendApi *api = b->backend->api;
  api->discard(b->backend, p->prepared);
  g_autofree Moved *moved = g_new0(Moved, p->n_values);
  for (guint i = 0; i < p->n_values; i++)
    if (p->values[i].home == TM_HOME_OWN || p->values[i].home == TM_HOME_ARENA)
      moved[i] = move_value(p, i, l);
  p->prepared = api->prepare(b->backend, p, &error);
  g_assert_no_error(error);
  tm_op_case_load(t->op_case, p, b->params, b->in, SEED, &error);
  g_assert_no_error(error);
  tm_program_run(p, &error);
  g_assert_no_error(error);
  float *y = op_bench_read(p, b->out);
  *n = tm_shape_count(b->out->shape);
  for (guint i = 0; i < p->n_values; i++) {
    if (!moved[i].buffer) continue;
    check_pattern(&moved[i], p->values[i].node);
    tm_backend_release(b->backend, moved[i].buffer, moved[i].bytes);
  }
  return y;
}

static void test_case(gconstpointer data) {
  const Test *t = data;
  static const TmDType precisions[] = {TM_F32, TM_BF16};
  static const Layout layouts[] = {{0, 0}, {3, 5}, {16, 32}};
  for (guint k = 0; k < G_N_ELEMENTS(precisions); k++) {
    gsize n = 0;
    g_autofree float *dense = run(t, precisions[k], &layouts[0], &n);
    for (guint l = 1; l < G_N_ELEMENTS(layouts) && dense; l++) {
      g_autofree float *sliced = run(t, precisions[k], &layouts[l], &n);
      for (gsize i = 0; i < n; i++) {
        const double a = (double)dense[i], b = (double)sliced[i],
                     unit = precisions[k] == TM_F32 ? 1e-5 : 0x1p-7;
        if (!(ABS(a - b) <= unit * (1 + ABS(a)))) {
          g_test_fail_printf("%s: element %" G_GSIZE_FORMAT " is %g on a slice and %g on a dense view",
                             tm_dtype_name(precisions[k]), i, b, a);
          break;
        }
      }
    }
  }
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  guint n;
  const TmOpCase *cases = tm_op_cases(&n);
  g_autoptr(GPtrArray) tests = g_ptr_array_new_with_free_func(g_free);
  for (const char *const *name = tm_backend_names(); *name; name++) {
    if (!tm_backend_available(*name, NULL)) continue;
    for (guint i = 0; i < n; i++) {
      Test *t = g_new(Test, 1);
      *t = (Test){&cases[i], *name};
      g_ptr_array_add(tests, t);
      g_autofree char *path = g_strdup_printf("/slices/%s/%s", *name, cases[i].name);
      g_test_add_data_func(path, t, test_case);
    }
  }
  return g_test_run();
}
