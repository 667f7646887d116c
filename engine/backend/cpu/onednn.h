/* onednn.h: the engine and stream of oneDNN that a cpu backend holds. Private to engine/backend/cpu. Built
 * without oneDNN there is nothing to hold: own kernels and plain C run everything. */
#pragma once

#include "engine/backend/cpu/cpu.h"

#ifdef TM_HAVE_ONEDNN
/** TM_ERROR_DEVICE when it does not start; what was made is freed by tm_onednn_close(). */
gboolean tm_onednn_open(CpuBackend *b, GError **error);
void tm_onednn_close(CpuBackend *b);
/** TM_ERROR_DEVICE when work given before failed. */
gboolean tm_onednn_wait(CpuBackend *b, GError **error);
/** ", oneDNN 3.2": free it. */
char *tm_onednn_words(void);
#else
static inline gboolean tm_onednn_open(CpuBackend *b, GError **error) {
  (void)b;
  (void)error;
  return TRUE;
}
static inline void tm_onednn_close(CpuBackend *b) {
  (void)b;
}
static inline gboolean tm_onednn_wait(CpuBackend *b, GError **error) {
  (void)b;
  (void)error;
  return TRUE;
}
static inline char *tm_onednn_words(void) {
  return g_strdup("");
}
#endif
