/* onednn.c: see onednn.h. */
#include "engine/backend/cpu/onednn.h"

#include <glib/gi18n.h>

/* Whether oneDNN multiplies bf16 here is asked of a convolution like those of a net. */
static gboolean has_bf16(CpuBackend *b) {
  const dnnl_dims_t pictures = {1, 32, 16, 16}, weights = {32, 32, 3, 3}, one = {1, 1}, zero = {0, 0};
  dnnl_memory_desc_t x = NULL, w = NULL;
  dnnl_primitive_desc_t d = NULL;
  if (dnnl_memory_desc_create_with_tag(&x, 4, pictures, dnnl_bf16, dnnl_nhwc) == dnnl_success &&
      dnnl_memory_desc_create_with_tag(&w, 4, weights, dnnl_bf16, dnnl_format_tag_any) == dnnl_success &&
      dnnl_convolution_forward_primitive_desc_create(&d, b->engine, dnnl_forward_training,
                                                     dnnl_convolution_direct, x, w, NULL, x, one, zero, one,
                                                     one, NULL) != dnnl_success)
    d = NULL;
  const gboolean has = d != NULL;
  if (d) dnnl_primitive_desc_destroy(d);
  if (w) dnnl_memory_desc_destroy(w);
  if (x) dnnl_memory_desc_destroy(x);
  return has;
}

gboolean tm_onednn_open(CpuBackend *b, GError **error) {
  if (dnnl_engine_create(&b->engine, dnnl_cpu, 0) != dnnl_success ||
      dnnl_stream_create(&b->stream, b->engine, dnnl_stream_default_flags) != dnnl_success) {
    g_set_error_literal(error, TM_ERROR, TM_ERROR_DEVICE,
                        _("oneDNN did not start on this processor. The ref back end works without it."));
    return FALSE;
  }
  b->bf16_convolutions = has_bf16(b);
  return TRUE;
}

void tm_onednn_close(CpuBackend *b) {
  if (b->stream) dnnl_stream_destroy(b->stream);
  if (b->engine) dnnl_engine_destroy(b->engine);
}

gboolean tm_onednn_wait(CpuBackend *b, GError **error) {
  if (dnnl_stream_wait(b->stream) == dnnl_success) return TRUE;
  g_set_error_literal(error, TM_ERROR, TM_ERROR_DEVICE, _("oneDNN failed while it was working."));
  return FALSE;
}

char *tm_onednn_words(void) {
  const dnnl_version_t *v = dnnl_version();
  return g_strdup_printf(", oneDNN %d.%d", v->major, v->minor);
}
