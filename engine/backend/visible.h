/* visible.h: pictures that stay in a device's memory until they are on the screen: a back end that can do it
 * has a table of these functions (TmBackendApi.visible).
 *
 * The trainer puts a picture with its mask into a TmVisible, which holds the last two; whoever draws (the
 * main thread) makes a canvas of an OpenGL buffer, or of the device's own memory, and draws the picture into
 * it with the colours of the moment. No pixel passes through the processor on the first way, each once on the
 * second. The two threads share nothing but the TmVisible, whose functions lock. */
#pragma once

#include "engine/core/compose.h"
#include "engine/core/error.h"
#include "engine/core/view.h"

typedef struct _TmBackend TmBackend;
typedef struct _TmVisible TmVisible;
typedef struct _TmCanvas TmCanvas;

typedef struct {
  /* Room for two pictures of w x h. The back end's thread. NULL with TM_ERROR_NO_MEMORY or TM_ERROR_DEVICE.
   */
  TmVisible *(*make)(TmBackend *b, int w, int h, GError **error);
  /* Copies a picture (u8, three channels), its labels (u8) and, from the host, its truth (may be NULL) in
   * stream order, over the older of the two. The back end's thread. Returns a number for it, 0 on failure,
   * after which what was put before is still there. */
  guint64 (*put)(TmVisible *v, TmBackend *b, const TmView *rgb, const TmView *labels, const guint8 *truth,
                 GError **error);
  /* When the last reference goes; any thread, also after the back end was closed. */
  void (*free)(TmVisible *v);

  /* Where pictures of @v's device can be drawn, @bytes large: the OpenGL buffer @buffer, if it is not 0,
   * whose context is current now and at every later call; else memory of the device. One thread. NULL with
   * the reason: then the next way is to be taken. */
  TmCanvas *(*canvas)(TmVisible *v, guint buffer, gsize bytes, GError **error);
  /* Lends the canvas for drawing; OpenGL must leave the buffer alone until `finish`. */
  gboolean (*begin)(TmCanvas *c, GError **error);
  /* Draws picture number @picture of @v as @how says, whose pointers are only looked at for being NULL: the
   * planes are the device's. A MASK without labels but with truth draws the truth. FALSE without an error:
   * the picture was overwritten since. */
  gboolean (*draw)(TmCanvas *c, TmVisible *v, guint64 picture, const TmCompose *how, GError **error);
  /* Ends the drawing. An OpenGL buffer is then OpenGL's again; of the other kind *@pixels is the host's copy,
   * good until the next `begin`. */
  gboolean (*finish)(TmCanvas *c, const void **pixels, GError **error);
  void (*canvas_free)(TmCanvas *c);
} TmVisibleApi;

struct _TmVisible {
  const TmVisibleApi *api;
  gatomicrefcount refs;
  /* the implementation's fields follow */
};

static inline TmVisible *tm_visible_ref(TmVisible *v) {
  g_atomic_ref_count_inc(&v->refs);
  return v;
}
static inline void tm_visible_unref(TmVisible *v) {
  if (v && g_atomic_ref_count_dec(&v->refs)) v->api->free(v);
}
