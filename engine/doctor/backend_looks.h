/* backend_looks.h: every back end that Tarmac knows, whether it can be used here, and why not. Opens and closes each; seconds with a
 * GPU. */
#pragma once

#include <glib.h>

typedef struct {
  const char *name; /* "cuda", "cpu", "ref" */
  gboolean usable;
  gboolean bf16; /* native */
  char *device;  /* "AMD EPYC"; NULL when it is not usable */
  char *detail;  /* "2 threads, AVX-512, oneDNN 3.2"; may be NULL */
  char *reason;  /* why not, a sentence; NULL when it is usable */
} TmBackendLook;

/** TmBackendLook, best first. */
GPtrArray *tm_backend_looks_new(void);
/** The best usable one; NULL when there is none. */
const TmBackendLook *tm_backend_looks_best(const GPtrArray *looks);
