/* conv_plain.c: any convolution, slowly: for builds without oneDNN, and shapes it does not take. */
#include "engine/backend/cpu/conv_way.h"

#include "engine/backend/plain_conv.h"

static gboolean takes(const CpuBackend *b, const CpuConvShape *s, TmDType type) {
  (void)b;
  (void)s;
  return type == TM_F32 || type == TM_BF16;
}

static gboolean prepare(CpuConv *v, const CpuCall *c, GError **error) {
  (void)error;
  v->scratch = tm_plain_conv_work(c->node);
  return TRUE;
}

static gboolean run(CpuConv *v, const CpuCall *c, void *scratch, GError **error) {
  (void)v;
  (void)error;
  tm_plain_conv_run(c->node, c->n_in, c->in, &c->out[0], scratch);
  return TRUE;
}

const CpuConvWay tm_cpu_conv_plain = {
    .name = "plain", .slices = TRUE, .takes = takes, .prepare = prepare, .run = run};
