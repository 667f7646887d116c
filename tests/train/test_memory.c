/* Less memory, the same numbers: values made again on the way back, and batches computed in parts. */
#include <math.h>
#include <string.h>

#include "engine/core/free_memory.h"
#include "engine/train/estimate.h"
#include "fixture.h"

typedef struct {
  TmDataset *data;
  TmSettings settings;
} Fixture;

static void set_up(Fixture *f, gconstpointer backend) {
  f->data = fixture_roads(8, 1, 48, 32);
  fixture_settings(&f->settings);
  f->settings.base = 4;
  g_assert_true(tm_settings_set(&f->settings, "backend", backend, NULL));
}

static void tear_down(Fixture *f, gconstpointer data) {
  (void)data;
  tm_dataset_unref(f->data);
}

/* ---- recomputing ---- */

/* The gradient of one step from fixed weights, with what @again says made again, and the arena that took. */
static float *gradient(Fixture *f, TmSession *s, const TmRecompute *again, float **state, gsize *arena,
                       guint *steps) {
  g_autoptr(GError) e = NULL;
  g_auto(TmTrainGraph) t = {0};
  const int batch = f->settings.batch;
  g_assert_true(tm_train_graph_build(&t, &f->settings, s->classes, batch, s->crop_w, s->crop_h, again, &e));
  g_autoptr(TmParams) params = tm_params_new(s->backend, t.graph, &e);
  const TmProgramOptions o = tm_train_graph_options(&t, s->precision);
  g_autoptr(TmProgram) p = tm_program_new(s->backend, params, t.graph, &o, &e);
  g_assert_no_error(e);
  const gsize pixels = (gsize)batch * (gsize)(s->crop_w * s->crop_h);
  g_autofree guint8 *rgb = g_new(guint8, pixels * 3), *labels = g_new(guint8, pixels);
  for (gsize i = 0; i < pixels * 3; i++) rgb[i] = (guint8)(i * 37 % 251);
  for (gsize i = 0; i < pixels; i++) labels[i] = (guint8)(i / 5 % (s->classes + 1));
  const gint32 tick = 3;
  const TmParam *std = tm_params_find(params, "input.std"),
                *weights = tm_params_find(params, "class_weights");
  const float spread[3] = {60, 60, 60};
  g_autofree float *ones = g_new(float, s->classes);
  for (guint i = 0; i < s->classes; i++) ones[i] = 1;
  g_assert_true(tm_params_init(params, 9, NULL) && tm_params_write(params, std, spread, NULL) &&
                tm_params_write(params, weights, ones, NULL));
  g_assert_true(tm_program_write(p, t.picture, rgb, TM_U8, &e) &&
                tm_program_write(p, t.labels, labels, TM_U8, &e));
  if (t.tick) g_assert_true(tm_program_write(p, t.tick, &tick, TM_I32, &e));
  g_assert_true(tm_program_run(p, &e));
  *arena = p->arena_bytes;
  *steps = p->n_steps;
  *state = fixture_read(s, params->state, params->n_state);
  return fixture_read(s, params->grad, params->n_value);
}

static guint n_layers(Fixture *f, TmSession *s) {
  g_auto(TmTrainGraph) t = {0};
  g_assert_true(tm_train_graph_build(&t, &f->settings, s->classes, 1, s->crop_w, s->crop_h, NULL, NULL));
  guint n = 2; /* input, loss */
  for (guint i = 0; i < t.n_forward; i++) {
    const TmOp op = tm_graph_node(t.graph, i)->op;
    n += op == TM_OP_CONV || op == TM_OP_CONV_TRANSPOSE;
  }
  return n;
}

/* Whatever is dropped, gradients and running statistics are the same bits. */
static void same_bits(Fixture *f) {
  g_autoptr(FixtureFolder) folder = fixture_folder();
  g_autoptr(TmSession) s = fixture_session(f->data, &f->settings, folder, FALSE);
  const guint n = n_layers(f, s);
  g_autofree gboolean *convolution = g_new0(gboolean, n), *rest = g_new0(gboolean, n);
  const TmRecompute again = {n, convolution, rest};
  gsize arena, least;
  guint steps, more;
  g_autofree float *state = NULL, *grad = gradient(f, s, NULL, &state, &arena, &steps);
  double length = 0;
  for (gsize i = 0; i < s->params->n_value; i++) length += (double)grad[i] * grad[i];
  g_assert_cmpfloat(length, >, 0);
  for (int kind = 0; kind < 4; kind++) {
    for (guint i = 0; i < n; i++) {
      rest[i] = kind != 2;
      convolution[i] = kind == 1 || (kind > 1 && i % 2 == 0);
    }
    g_autofree float *state2 = NULL, *grad2 = gradient(f, s, &again, &state2, &least, &more);
    fixture_same_bytes(grad, grad2, s->params->n_value * sizeof *grad);
    fixture_same_bytes(state, state2, s->params->n_state * sizeof *state);
    /* without batch normalisation the way back needs no convolution's result */
    g_assert_cmpuint(more, >=, steps);
    if (f->settings.batch_norm) g_assert_cmpuint(more, >, steps);
    if (kind == 0 && f->settings.batch_norm) g_assert_cmpuint(least, <, arena * 19 / 20);
  }
}

/* Normalised, rectified values that only convolutions look at are never kept for the way back, and made again
 * no earlier than the convolution's weights ask for them. */
static void test_never_kept(Fixture *f, gconstpointer data) {
  (void)data;
  g_autoptr(FixtureFolder) folder = fixture_folder();
  g_autoptr(TmSession) s = fixture_session(f->data, &f->settings, folder, FALSE);
  g_autofree gboolean *gone = tm_train_graph_dropped(&s->train);
  guint n = 0;
  for (guint id = 0; id < s->train.n_forward; id++) {
    const TmNode *node = tm_graph_node(s->train.graph, id);
    const TmValue *v = tm_program_value(s->program, node);
    if (!gone[id]) continue;
    n += node->op == TM_OP_RELU;
    if (v) g_assert_cmpuint(v->last, <, s->program->mark);
  }
  /* of each pair of convolutions the first, and the second where no skip begins */
  g_assert_cmpint((int)n, ==, 2 * s->settings->depth + 1 + s->settings->depth + 1);
  for (guint i = s->program->mark; i < s->program->n_steps; i++) {
    const TmStep *step = &s->program->steps[i];
    if (step->op == TM_FUSED_BN_RELU) g_assert_cmpint(s->program->steps[i + 1].op, ==, TM_OP_CONV_DW);
  }
}

static void test_same_bits(Fixture *f, gconstpointer data) {
  (void)data;
  same_bits(f);
  f->settings.dropout = 0.3;
  same_bits(f);
  f->settings.dropout = 0;
  f->settings.batch_norm = FALSE;
  same_bits(f);
  f->settings.batch_norm = TRUE;
  g_assert_true(tm_settings_set(&f->settings, "upsampling", "bilinear", NULL));
  same_bits(f);
}

static TmSession *open_limited(Fixture *f, const char *folder, GError **error) {
  const TmSessionPlan plan = {.data = f->data, .settings = &f->settings, .run_dir = folder};
  return tm_session_open(&plan, error);
}

/* A limit that cannot be kept is refused, by its own number, with one that could: which then does. */
static void test_refuses(Fixture *f, gconstpointer data) {
  (void)data;
  g_autoptr(GError) e = NULL;
  g_autoptr(FixtureFolder) folder = fixture_folder();
  f->settings.memory_limit = 1;
  g_assert_null(open_limited(f, folder, &e));
  g_assert_error(e, TM_ERROR, TM_ERROR_NO_MEMORY);
  g_assert_nonnull(strstr(e->message, " 1 MB"));
  const char *least = strstr(e->message, "at least ");
  g_assert_nonnull(least);
  const int edge = (int)g_ascii_strtoll(least + strlen("at least "), NULL, 10);
  g_autoptr(TmScan) scan = tm_scan_run(f->data, 1, NULL, NULL, NULL);
  for (int over = -1; over <= 0; over++) { /* who plans and who trains say the same at the edge */
    f->settings.memory_limit = edge + over;
    g_clear_error(&e);
    g_autoptr(TmEstimate) plan = tm_estimate_new(f->data, scan, &f->settings, over ? NULL : &e);
    g_assert_no_error(e);
    g_autoptr(TmSession) s = open_limited(f, folder, over ? NULL : &e);
    g_assert_no_error(e);
    /* What the process takes is read anew each time and may have shrunk by a megabyte: one below may do, too.
     */
    g_assert_true((plan != NULL) == (s != NULL) && (over || s));
    if (plan) g_assert_cmpuint(plan->memory, <=, (gsize)edge * 1000000);
  }
}

/* One that can is kept: with much to spare nothing is made again, just below that something is. */
static void test_limit(Fixture *f, gconstpointer data) {
  (void)data;
  g_autoptr(GError) e = NULL;
  g_autoptr(FixtureFolder) folder = fixture_folder(), other = fixture_folder();
  f->settings.base = 16;
  f->settings.crop = 256;
  f->settings.memory_limit = 1000000;
  g_autoptr(TmSession) wide = open_limited(f, folder, &e);
  g_assert_no_error(e);
  const gsize arena = wide->program->arena_bytes;
  /* What surrounds the step is only known to the planner: go down until it has to drop something. */
  const int resident = (int)(tm_process_memory() / 1000000), step = MAX((int)(arena / 10000000), 1);
  gboolean smaller = FALSE;
  for (int i = 20; i >= -20 && !smaller; i--) {
    f->settings.memory_limit = MAX(resident + i * step, 1);
    g_autoptr(TmSession) s = open_limited(f, other, &e);
    if (!s) break;
    smaller = s->program->arena_bytes < arena;
  }
  g_assert_true(smaller);
}

/* The programs that judge lie in the step's arena, and what they leave there changes no step. */
static void test_judged_between(Fixture *f, gconstpointer data) {
  (void)data;
  g_autoptr(FixtureFolder) a = fixture_folder(), b = fixture_folder();
  g_autoptr(TmSession) plain = fixture_session(f->data, &f->settings, a, FALSE),
                       judged = fixture_session(f->data, &f->settings, b, FALSE);
  judged->eval_pixels = 1; /* a picture at a time: less than a step, in so small a net too */
  for (int i = 0; i < 3; i++) {
    TmStepResult x, y;
    g_auto(TmScore) score = {0};
    g_assert_true(tm_session_step(plain, &x, NULL) && tm_session_step(judged, &y, NULL));
    fixture_same_bytes(&x.loss, &y.loss, sizeof x.loss);
    fixture_same_bytes(&x.grad_norm, &y.grad_norm, sizeof x.grad_norm);
    g_assert_true(tm_session_validate(judged, &score, NULL));
    if (plain->at.step == plain->steps) break; /* the caller's business */
  }
  g_assert_cmpuint(judged->evals->len, >, 0);
  for (guint i = 0; i < judged->evals->len; i++)
    g_assert_true(((TmEval *)judged->evals->pdata[i])->program->arena == judged->program->arena);
  g_assert_cmpuint(tm_session_memory(judged), ==, tm_session_memory(plain));
  /* A step that is built anew, as after a steered batch, takes them along. */
  g_auto(TmScore) score = {0};
  g_assert_true(tm_session_build(judged, NULL));
  g_assert_cmpuint(judged->evals->len, ==, 0);
  g_assert_true(tm_session_validate(judged, &score, NULL));
  g_assert_true(((TmEval *)judged->evals->pdata[0])->program->arena == judged->program->arena);
}

/* ---- accumulating ---- */

static float *step_gradient(Fixture *f, int accumulate, double *loss) {
  g_autoptr(FixtureFolder) folder = fixture_folder();
  f->settings.accumulate = accumulate;
  g_autoptr(TmSession) s = fixture_session(f->data, &f->settings, folder, FALSE);
  TmStepResult r;
  g_assert_true(tm_session_step(s, &r, NULL));
  g_assert_false(r.skipped);
  *loss = r.loss;
  return fixture_read(s, s->sum ? s->sum : s->params->grad, s->params->n_value);
}

/* Without batch normalisation the parts' gradients add up to the whole batch's; void weighs nothing. */
static void test_accumulates(Fixture *f, gconstpointer data) {
  (void)data;
  f->settings.batch_norm = FALSE;
  f->settings.scale_min = f->settings.scale_max = 0.6; /* smaller than the crop: the rest is void */
  g_assert_true(tm_settings_set(&f->settings, "class_weights", "sqrt", NULL));
  double whole, parts;
  for (int n = 2; n <= 4; n += 2) {
    g_autofree float *a = step_gradient(f, 1, &whole), *b = step_gradient(f, n, &parts);
    g_autoptr(FixtureFolder) folder = fixture_folder();
    g_autoptr(TmSession) s = fixture_session(f->data, &f->settings, folder, FALSE);
    double top = 0, most = 0;
    for (gsize i = 0; i < s->params->n_value; i++) {
      top = fmax(top, fabsf(a[i]));
      most = fmax(most, fabsf(a[i] - b[i]));
    }
    g_assert_cmpfloat(top, >, 0);
    g_assert_cmpfloat(most / top, <, 1e-5);
    g_assert_cmpfloat(fabs(whole - parts), <, 1e-5 * whole);
  }
}

static void test_accumulate_takes_less(Fixture *f, gconstpointer data) {
  (void)data;
  g_autoptr(FixtureFolder) a = fixture_folder(), b = fixture_folder();
  g_autoptr(TmSession) whole = fixture_session(f->data, &f->settings, a, FALSE);
  f->settings.accumulate = 4;
  g_autoptr(TmSession) parts = fixture_session(f->data, &f->settings, b, FALSE);
  g_assert_cmpuint(parts->program->arena_bytes, <, whole->program->arena_bytes / 2);
  g_assert_cmpuint(parts->steps, ==, whole->steps);
}

static void test_parts_must_divide(Fixture *f, gconstpointer data) {
  (void)data;
  g_autoptr(GError) e = NULL;
  g_autoptr(FixtureFolder) folder = fixture_folder();
  f->settings.accumulate = 3;
  g_assert_null(open_limited(f, folder, &e));
  g_assert_error(e, TM_ERROR, TM_ERROR_SETTING);
  g_assert_nonnull(strstr(e->message, "accumulate"));
}

int main(int argc, char **argv) {
  g_autoptr(FixtureFolder) cache = fixture_folder();
  g_setenv("XDG_CACHE_HOME", cache, TRUE);
  g_test_init(&argc, &argv, NULL);
  static const char *const backends[] = {"ref", "cpu"};
  for (guint i = 0; i < G_N_ELEMENTS(backends); i++) {
#define ADD(name, function)                                                                                  \
  {                                                                                                          \
    g_autofree char *path = g_strdup_printf("/memory/%s/%s", backends[i], name);                             \
    g_test_add(path, Fixture, backends[i], set_up, function, tear_down);                                     \
  }
    ADD("same bits", test_same_bits)
    ADD("never kept", test_never_kept)
    ADD("judged between", test_judged_between)
    ADD("refuses", test_refuses)
    ADD("accumulates", test_accumulates)
    ADD("accumulate takes less", test_accumulate_takes_less)
    ADD("parts must divide", test_parts_must_divide)
  }
  g_test_add("/memory/cpu/limit", Fixture, "cpu", set_up, test_limit, tear_down);
  return g_test_run();
}
