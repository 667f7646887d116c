#include "engine/backend/cuda/cudnn_descs.h"

#include "engine/core/error.h"

#include <glib/gi18n.h>

void tm_cudnn_note(CudnnDescs *d, cudnnStatus_t status, const char *what) {
  if (!tm_cudnn_descs_ok(d) || status == CUDNN_STATUS_SUCCESS) return;
  d->failed = status;
  d->what = what;
}

gboolean tm_cudnn_give_up(const CudnnDescs *d, GError **error) {
  char why[256] = "";
  d->api->cudnnGetLastErrorString(why, sizeof why);
  g_set_error(error, TM_ERROR, TM_ERROR_UNSUPPORTED,
              _("cuDNN %zu has no way to run a convolution (%s: %s%s%s)."), d->api->cudnnGetVersion(),
              d->what, d->api->cudnnGetErrorString(d->failed), *why ? ", " : "", why);
  return FALSE;
}

CudnnDesc tm_cudnn_make(CudnnDescs *d, cudnnBackendDescriptorType_t type) {
  CudnnDesc desc = NULL;
  if (!tm_cudnn_descs_ok(d)) return NULL;
  tm_cudnn_note(d,
                d->n < CUDNN_MOST_DESCS ? d->api->cudnnBackendCreateDescriptor(type, &desc)
                                        : CUDNN_STATUS_INTERNAL_ERROR,
                "create");
  if (desc) d->all[d->n++] = desc;
  return desc;
}

void tm_cudnn_set(CudnnDescs *d, CudnnDesc desc, cudnnBackendAttributeName_t name,
                  cudnnBackendAttributeType_t type, gint64 n, const void *value) {
  if (tm_cudnn_descs_ok(d))
    tm_cudnn_note(d, d->api->cudnnBackendSetAttribute(desc, name, type, n, value), "attribute");
}

void tm_cudnn_set_desc(CudnnDescs *d, CudnnDesc desc, cudnnBackendAttributeName_t name, CudnnDesc value) {
  tm_cudnn_set(d, desc, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value);
}

void tm_cudnn_set_ints(CudnnDescs *d, CudnnDesc desc, cudnnBackendAttributeName_t name, gint64 n,
                       const gint64 *value) {
  tm_cudnn_set(d, desc, name, CUDNN_TYPE_INT64, n, value);
}

CudnnDesc tm_cudnn_finish(CudnnDescs *d, CudnnDesc desc, const char *what) {
  if (tm_cudnn_descs_ok(d)) tm_cudnn_note(d, d->api->cudnnBackendFinalize(desc), what);
  return desc;
}

gint64 tm_cudnn_get(CudnnDescs *d, CudnnDesc desc, cudnnBackendAttributeName_t name,
                    cudnnBackendAttributeType_t type, gint64 most, void *value) {
  gint64 n = 0;
  if (tm_cudnn_descs_ok(d))
    tm_cudnn_note(d, d->api->cudnnBackendGetAttribute(desc, name, type, most, &n, value), "attribute");
  return tm_cudnn_descs_ok(d) ? MIN(n, most) : 0;
}

CudnnDesc tm_cudnn_keep(CudnnDescs *d, CudnnDesc desc) {
  for (int i = 0; i < d->n; i++)
    if (d->all[i] == desc) {
      d->all[i] = d->all[--d->n];
      break;
    }
  return desc;
}

void tm_cudnn_clean(CudnnDescs *d) {
  while (d->n > 0) d->api->cudnnBackendDestroyDescriptor(d->all[--d->n]);
}
