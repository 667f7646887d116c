#include "engine/doctor/backend_looks.h"

#include <string.h>

#include <glib/gi18n.h>

#include "engine/backend/backend.h"

static void look_free(gpointer p) {
  TmBackendLook *b = p;
  g_free(b->device);
  g_free(b->detail);
  g_free(b->reason);
  g_free(b);
}

/* Why a back end that this build does not have is not there. */
static char *absence(const char *name) {
  if (strcmp(name, "cpu") == 0)
    return g_strdup(_("Built without oneDNN 3: ./bootstrap build fetches it and builds with it."));
  return g_strdup(_("This build has no CUDA back end."));
}

static TmBackendLook *look_at(const char *name) {
  TmBackendLook *b = g_new0(TmBackendLook, 1);
  b->name = name;
  if (!g_strv_contains(tm_backend_names(), name)) {
    b->reason = absence(name);
    return b;
  }
  g_autoptr(GError) error = NULL;
  g_autoptr(TmBackend) opened =
      tm_backend_available(name, &error) ? tm_backend_open(name, &(TmBackendOptions){0}, &error) : NULL;
  b->usable = opened != NULL;
  if (!opened) {
    b->reason = g_strdup(error->message);
    return b;
  }
  TmBackendInfo info;
  tm_backend_info(opened, &info);
  b->device = g_strdup(info.name ? info.name : name);
  b->detail = g_strdup(info.detail);
  b->bf16 = info.bf16;
  tm_backend_info_clear(&info);
  return b;
}

GPtrArray *tm_backend_looks_new(void) {
  static const char *const known[] = {"cuda", "cpu", "ref"};
  GPtrArray *all = g_ptr_array_new_with_free_func(look_free);
  for (guint i = 0; i < G_N_ELEMENTS(known); i++) g_ptr_array_add(all, look_at(known[i]));
  return all;
}

const TmBackendLook *tm_backend_looks_best(const GPtrArray *looks) {
  for (guint i = 0; i < looks->len; i++)
    if (((TmBackendLook *)looks->pdata[i])->usable) return looks->pdata[i];
  return NULL;
}
