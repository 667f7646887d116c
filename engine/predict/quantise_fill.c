/* quantise_fill.c: the numbers of a net of bytes. With inputs s_c (q_c - z_c), folded weights w and bias b,
 *
 *   sum over c of w_c s_c (q_c - z_c) + b = m (a - sum over c of v_c z_c) + b,    a = sum over c of v_c q_c,
 *
 * where v_c are the whole numbers nearest to w_c s_c / m and m the scale of the output channel.
 *
 * Winograd's tiles have such sums in each plane, of transformed weights and of bytes that stand for steps of
 * 2 from 128, in plane [1,1] for steps of 4 from 0; all the rest goes into plane [1,1], from which it reaches
 * every output alike. */
#include "engine/predict/quantise.h"

#include <glib/gi18n.h>
#include <math.h>

enum { PLANES = 16, ALL_SUMS = 5 };

/* What rounding halves up adds on the average, in steps of 2 and of 4: taken off again. */
static const double up_2 = 0.25, up_4 = 0.125;

/* What a layer is computed from, on the host. All by output or input channel. */
typedef struct {
  float *weights;       /* as stored: O,kH,kW,I or, transposed, I,kH,kW,O */
  float *factor, *bias; /* what normalisation and bias make of the sums */
  double *in_scale, *in_zero;
  int ins, outs, taps;
  gboolean transposed, tiled;
  float *bytes, *scale, *offset, *zero; /* results */
} Layer;

static void layer_clear(Layer *l) {
  float *const all[] = {l->weights, l->factor, l->bias, l->bytes, l->scale, l->offset, l->zero};
  for (guint i = 0; i < G_N_ELEMENTS(all); i++) g_free(all[i]);
  g_free(l->in_scale);
  g_free(l->in_zero);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Layer, layer_clear)

static float *read_node(TmParams *p, const TmNode *n, GError **error) {
  const TmParam *one = tm_params_find(p, n->name);
  g_autofree float *x = one ? g_try_new(float, tm_shape_count(one->shape)) : NULL;
  if (!x) {
    g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY, _("There is no memory for “%s”."), n->name);
    return NULL;
  }
  return tm_params_read(p, one, FALSE, x, error) ? g_steal_pointer(&x) : NULL;
}

static gboolean read_normalisation(Layer *l, const TmNode *norm, TmParams *net, GError **error) {
  g_autofree float *mean = read_node(net, norm->in[1], error);
  g_autofree float *var = mean ? read_node(net, norm->in[2], error) : NULL;
  g_autofree float *gamma = var ? read_node(net, norm->in[3], error) : NULL;
  g_autofree float *beta = gamma ? read_node(net, norm->in[4], error) : NULL;
  if (!beta) return FALSE;
  for (int o = 0; o < l->outs; o++) {
    l->factor[o] = gamma[o] / sqrtf(var[o] + norm->attrs.value);
    l->bias[o] = beta[o] + l->factor[o] * (l->bias[o] - mean[o]);
  }
  return TRUE;
}

static gboolean find_limit(GHashTable *limits, const TmNode *value, double *limit, GError **error) {
  const double *found = g_hash_table_lookup(limits, value->name);
  if (found && *found > 0) {
    *limit = *found;
    return TRUE;
  }
  g_set_error(error, TM_ERROR, TM_ERROR_DATA, _("The range of “%s” was not measured."), value->name);
  return FALSE;
}

/* Behind a ReLU all 255 steps are above 0. */
static double scale_of(double limit, gboolean positive) {
  return limit / (positive ? 255 : 127);
}

static gboolean read_inputs(Layer *l, const TmQuantised *q, const TmQuantisedLayer *from, TmParams *net,
                            GHashTable *limits, GError **error) {
  int c = 0;
  for (guint i = 0; i < from->n_parts; i++) {
    const TmNode *value = from->parts[i].value;
    g_autofree float *mean = NULL;
    g_autofree float *std = NULL;
    double limit = 0;
    if (value && !find_limit(limits, value, &limit, error)) return FALSE;
    if (!value && (!(mean = read_node(net, q->mean, error)) || !(std = read_node(net, q->std, error))))
      return FALSE;
    const gboolean positive = value && tm_quantised_positive(value);
    for (int k = 0; k < from->parts[i].channels; k++, c++) {
      l->in_scale[c] = value ? scale_of(limit, positive) : 1 / (double)std[k];
      l->in_zero[c] = value ? (positive ? 0 : 128) : (double)mean[k];
    }
  }
  return TRUE;
}

static gsize weight_at(const Layer *l, int o, int t, int c) {
  return l->transposed ? ((gsize)c * (gsize)l->taps + (gsize)t) * (gsize)l->outs + (gsize)o
                       : ((gsize)o * (gsize)l->taps + (gsize)t) * (gsize)l->ins + (gsize)c;
}

/* u = G g G^T, G = (1 0 0; 1/2 1/2 1/2; 1/2 -1/2 1/2; 0 0 1). */
static void transform_kernel(const double g[9], double u[PLANES]) {
  double t[4][3];
  for (int j = 0; j < 3; j++) {
    const double s = (g[j] + g[6 + j]) / 2, m = g[3 + j] / 2;
    t[0][j] = g[j];
    t[1][j] = s + m;
    t[2][j] = s - m;
    t[3][j] = g[6 + j];
  }
  for (int i = 0; i < 4; i++) {
    const double s = (t[i][0] + t[i][2]) / 2, m = t[i][1] / 2;
    u[4 * i] = t[i][0];
    u[4 * i + 1] = s + m;
    u[4 * i + 2] = s - m;
    u[4 * i + 3] = t[i][2];
  }
}

/* One output channel of a layer that runs by tiles; @u has room for PLANES * ins. */
static void round_tiled(Layer *l, int o, double s_out, double z_out, double *u) {
  double zeros = 0; /* of the pixels' own 0 */
  for (int c = 0; c < l->ins; c++) {
    double g[9], one[PLANES];
    for (int t = 0; t < 9; t++)
      g[t] = (double)l->weights[weight_at(l, o, t, c)] * (double)l->factor[o] * l->in_scale[c];
    transform_kernel(g, one);
    for (int p = 0; p < PLANES; p++) u[p * l->ins + c] = one[p] * (p == ALL_SUMS ? 4 : 2);
  }
  for (int p = 0; p < PLANES; p++) {
    const double *w = u + (gsize)p * (gsize)l->ins;
    double top = 0, sum = 0;
    for (int c = 0; c < l->ins; c++) top = MAX(top, fabs(w[c]));
    const double m = top > 0 ? top / 127 : 1;
    for (int c = 0; c < l->ins; c++) {
      const double v = rint(w[c] / m);
      l->bytes[((gsize)o * PLANES + (gsize)p) * (gsize)l->ins + (gsize)c] = (float)v;
      sum += v;
      if (p == ALL_SUMS) zeros += m * v * (l->in_zero[c] + up_4);
    }
    const gsize at = (gsize)p * (gsize)l->outs + (gsize)o;
    l->scale[at] = (float)(m / s_out);
    l->offset[at] = (float)(p == ALL_SUMS ? ((double)l->bias[o] - zeros) / s_out + z_out
                                          : -(128 + up_2) * sum * m / s_out);
  }
}

/* One output channel; the result is s_out (q - z_out). */
static void round_channel(Layer *l, int o, double s_out, double z_out) {
  double top = 0, zeros = 0;
  for (int t = 0; t < l->taps; t++)
    for (int c = 0; c < l->ins; c++) {
      const double w = (double)l->weights[weight_at(l, o, t, c)] * (double)l->factor[o] * l->in_scale[c];
      top = MAX(top, fabs(w));
    }
  const double m = top > 0 ? top / 127 : 1;
  for (int t = 0; t < l->taps; t++)
    for (int c = 0; c < l->ins; c++) {
      const gsize at = weight_at(l, o, t, c);
      const double v = rint((double)l->weights[at] * (double)l->factor[o] * l->in_scale[c] / m);
      l->bytes[at] = (float)v;
      zeros += v * l->in_zero[c];
    }
  l->scale[o] = (float)(m / s_out);
  l->offset[o] = (float)(((double)l->bias[o] - m * zeros) / s_out + z_out);
}

static gboolean layer_init(Layer *l, const TmQuantisedLayer *from, TmParams *net, GError **error) {
  const TmNode *conv = from->conv;
  const TmShape k = conv->in[1]->shape;
  l->transposed = conv->op == TM_OP_CONV_TRANSPOSE;
  l->ins = l->transposed ? k.n : k.c;
  l->outs = l->transposed ? k.c : k.n;
  l->taps = k.h * k.w;
  l->weights = read_node(net, conv->in[1], error);
  if (!l->weights) return FALSE;
  l->tiled = from->tiled;
  const gsize planes = l->tiled ? PLANES : 1, each = l->tiled ? PLANES : (gsize)l->taps;
  l->bytes = g_try_new(float, (gsize)l->ins *(gsize)l->outs *each);
  if (!l->bytes) {
    g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY, _("There is no memory for “%s”."), conv->name);
    return FALSE;
  }
  l->factor = g_new(float, (gsize)l->outs);
  l->scale = g_new(float, planes *(gsize)l->outs);
  l->offset = g_new(float, planes *(gsize)l->outs);
  l->zero = g_new(float, (gsize)l->ins);
  l->in_scale = g_new(double, (gsize)l->ins);
  l->in_zero = g_new(double, (gsize)l->ins);
  for (int o = 0; o < l->outs; o++) l->factor[o] = 1;
  l->bias = conv->n_in == 3 ? read_node(net, conv->in[2], error) : g_new0(float, (gsize)l->outs);
  return l->bias && (!from->norm || read_normalisation(l, from->norm, net, error));
}

static gboolean write_part(TmParams *bytes, const TmNode *conv, const char *part, const float *values,
                           GError **error) {
  g_autofree char *name = g_strconcat(conv->name, part, NULL);
  const TmParam *p = tm_params_find(bytes, name);
  return !p ||
         tm_params_write(bytes, p, values, error); /* only convolutions of a picture's size have a zero */
}

static gboolean fill_layer(const TmQuantised *q, const TmQuantisedLayer *from, TmParams *bytes, TmParams *net,
                           GHashTable *limits, GError **error) {
  g_auto(Layer) l = {0};
  double limit = 0;
  if (!layer_init(&l, from, net, error) || !read_inputs(&l, q, from, net, limits, error) ||
      (from->out && !find_limit(limits, from->out, &limit, error)))
    return FALSE;
  const gboolean positive = from->out && tm_quantised_positive(from->out);
  const double s_out = from->out ? scale_of(limit, positive) : 1, z_out = from->out && !positive ? 128 : 0;
  g_autofree double *u = l.tiled ? g_new(double, PLANES *(gsize)l.ins) : NULL;
  for (int o = 0; o < l.outs; o++) {
    if (l.tiled)
      round_tiled(&l, o, s_out, z_out, u);
    else
      round_channel(&l, o, s_out, z_out);
  }
  for (int c = 0; c < l.ins; c++) l.zero[c] = (float)rint(CLAMP(l.in_zero[c], 0, 255));
  return write_part(bytes, from->conv, ".bytes", l.bytes, error) &&
         write_part(bytes, from->conv, ".scale", l.scale, error) &&
         write_part(bytes, from->conv, ".offset", l.offset, error) &&
         write_part(bytes, from->conv, ".zero", l.zero, error);
}

gboolean tm_quantised_fill(const TmQuantised *q, TmParams *bytes, TmParams *net, GHashTable *limits,
                           GError **error) {
  for (guint i = 0; i < q->layers->len; i++)
    if (!fill_layer(q, &g_array_index(q->layers, TmQuantisedLayer, i), bytes, net, limits, error))
      return FALSE;
  return TRUE;
}
