#include "ui/viz.h"

#include <glib/gi18n.h>
#include <math.h>

#include "engine/core/error.h"
#include "ui/frame.h"

struct _TmVizSink {
  int w, h;
  TmVizRung rung; /* that @state belongs to */
  gpointer state; /* NULL: none is open */
  TmFrame *frame;
};

typedef struct {
  const TmVizOps *ops;
  gboolean probed;
  char *dropped; /* why it is not used; NULL: usable as far as known */
} Rung;

static Rung rungs[TM_N_VIZ] = {
    [TM_VIZ_GL] = {.ops = &tm_viz_gl_ops}, [TM_VIZ_MEMORY] = {.ops = &tm_viz_memory_ops}};
static char *description; /* of tm_viz_describe(); NULL: to be made again */
static const char letters[TM_N_VIZ + 1] = "ABCD";
static TmVizRung begin_at = TM_VIZ_INTEROP;
static double frame_time = NAN;

void tm_viz_drop(TmVizRung rung, const char *reason) {
  g_return_if_fail(rung < TM_VIZ_MEMORY); /* plain memory has nothing below it */
  rungs[rung].probed = TRUE;
  if (!rungs[rung].dropped) {
    rungs[rung].dropped = g_strdup(reason);
    g_clear_pointer(&description, g_free);
    g_debug("picture path %c is left: %s", letters[rung], reason);
  }
}

void tm_viz_register(TmVizRung rung, const TmVizOps *ops) {
  rungs[rung].ops = ops;
  g_clear_pointer(&description, g_free);
  rungs[rung].probed = FALSE;
  g_clear_pointer(&rungs[rung].dropped, g_free);
}

/* What the person left out on the Devices page, and what the environment leaves out. */
static void leave_out(void) {
  for (int i = 0; i < (int)begin_at; i++) {
    if (rungs[i].dropped) continue;
    rungs[i].probed = TRUE;
    rungs[i].dropped = g_strdup(_("left out on the Devices page"));
  }
  const char *force = g_getenv("TARMAC_VIZ");
  const char *at = force && *force ? strchr(letters, g_ascii_toupper(*force)) : NULL;
  for (int i = 0; at && at > letters + i; i++) {
    if (rungs[i].dropped) continue;
    rungs[i].probed = TRUE;
    rungs[i].dropped = g_strdup_printf(_("left out by TARMAC_VIZ=%s"), force);
  }
}

void tm_viz_reset(void) {
  g_clear_pointer(&description, g_free);
  for (int i = 0; i < TM_N_VIZ; i++) {
    rungs[i].probed = FALSE;
    g_clear_pointer(&rungs[i].dropped, g_free);
  }
}

void tm_viz_begin_at(TmVizRung rung) {
  tm_viz_reset();
  begin_at = rung;
  frame_time = NAN;
}

static gboolean usable(int i) {
  Rung *r = &rungs[i];
  if (!r->probed) {
    r->probed = TRUE;
    g_autoptr(GError) error = NULL;
    if (!r->ops)
      r->dropped = g_strdup(_("no picture comes from a GPU"));
    else if (r->ops->probe && !r->ops->probe(gdk_display_get_default(), &error))
      r->dropped = g_strdup(error->message);
  }
  return !r->dropped;
}

static TmVizRung rung_from(TmVizRung top) {
  leave_out();
  for (int i = (int)top; i < TM_VIZ_MEMORY; i++)
    if (usable(i)) return i;
  return TM_VIZ_MEMORY;
}

TmVizRung tm_viz_rung(void) {
  return rung_from(TM_VIZ_INTEROP);
}

void tm_viz_spare_processor(void) {
  if (g_getenv("GSK_RENDERER") || g_getenv("TARMAC_VIZ")) return;
  if (tm_viz_rung() == TM_VIZ_MEMORY) g_setenv("GSK_RENDERER", "cairo", TRUE);
}

const char *tm_viz_reason(TmVizRung rung) {
  return rungs[rung].dropped;
}

double tm_viz_frame_time(void) {
  return frame_time;
}

char *tm_viz_describe(void) {
  static const char *const names[TM_N_VIZ] = {N_("CUDA–OpenGL interop"), N_("pinned copy"),
                                              N_("OpenGL pixel buffer"), N_("memory texture, no OpenGL")};
  TmVizRung at = tm_viz_rung();
  if (description) return g_strdup(description);
  GString *s = g_string_new(NULL);
  g_string_append_printf(s, "%c, %s", letters[at], _(names[at]));
  g_autofree char *about = rungs[at].ops->about ? rungs[at].ops->about() : NULL;
  if (about) g_string_append_printf(s, " (%s)", about);
  g_string_append_c(s, '.');
  for (int i = 0; i < (int)at; i++) g_string_append_printf(s, " %c: %s.", letters[i], rungs[i].dropped);
  description = g_string_free(s, FALSE);
  return g_strdup(description);
}

TmVizSink *tm_viz_sink_new(int w, int h) {
  TmVizSink *s = g_new0(TmVizSink, 1);
  s->w = w;
  s->h = h;
  s->frame = tm_frame_new(w, h);
  return s;
}

static void close_state(TmVizSink *s) {
  if (s->state) rungs[s->rung].ops->close(s->state);
  s->state = NULL;
}

void tm_viz_sink_free(TmVizSink *s) {
  if (!s) return;
  tm_frame_set_texture(s->frame, NULL);
  close_state(s);
  g_object_unref(s->frame);
  g_free(s);
}

int tm_viz_sink_width(const TmVizSink *s) {
  return s->w;
}
int tm_viz_sink_height(const TmVizSink *s) {
  return s->h;
}
GdkPaintable *tm_viz_sink_paintable(TmVizSink *s) {
  return GDK_PAINTABLE(s->frame);
}

/* Opens the sink on the first rung from @top on that works; steps down while opening fails. */
static gboolean open_state(TmVizSink *s, TmVizRung top, GError **error) {
  TmVizRung want = rung_from(top);
  if (s->state && s->rung == want) return TRUE;
  close_state(s);
  for (;;) {
    g_autoptr(GError) local = NULL;
    s->rung = want;
    s->state = rungs[want].ops->open(s->w, s->h, &local);
    if (s->state) return TRUE;
    if (want == TM_VIZ_MEMORY) {
      g_propagate_error(error, g_steal_pointer(&local));
      return FALSE;
    }
    tm_viz_drop(want, local->message);
    want = rung_from(top);
  }
}

typedef struct {
  TmVizDeviceDraw on_device;
  TmVizDraw draw;
  gpointer user;
} Painter;

typedef enum { SHOWN, LEFT_OUT, GONE, FAILED } Outcome;

/* One frame by the rung that is open. */
static Outcome draw_frame(TmVizSink *s, const Painter *p, GError **error) {
  const TmVizOps *ops = rungs[s->rung].ops;
  TmVizMap map = {0};
  GError *failed = NULL;
  if (!ops->map(s->state, &map, &failed)) {
    if (failed) g_propagate_error(error, failed);
    return failed ? FAILED : LEFT_OUT;
  }
  gboolean drawn = TRUE;
  if (map.kind == TM_VIZ_HOST)
    p->draw(&map, s->w, s->h, p->user);
  else
    drawn = p->on_device(&map, s->w, s->h, p->user, &failed);
  /* What was lent goes back in any case. */
  g_autoptr(GdkTexture) texture = ops->unmap(s->state, failed ? NULL : &failed);
  if (failed) {
    g_propagate_error(error, failed);
    return FAILED;
  }
  if (drawn) tm_frame_set_texture(s->frame, texture);
  return drawn ? SHOWN : GONE;
}

static gboolean draw_from(TmVizSink *s, TmVizRung top, const Painter *p) {
  for (int tries = 0; tries < TM_N_VIZ; tries++) {
    g_autoptr(GError) error = NULL;
    if (!open_state(s, top, &error)) return FALSE;
    const gint64 begin = g_get_monotonic_time();
    const Outcome o = draw_frame(s, p, &error);
    if (o == SHOWN) {
      const double took = (double)(g_get_monotonic_time() - begin) / 1e6;
      frame_time = isnan(frame_time) ? took : frame_time + (took - frame_time) / 8;
    }
    if (o == SHOWN || o == LEFT_OUT) return o == SHOWN;
    if (o == GONE) {
      top = TM_VIZ_GL;
      continue;
    }
    if (s->rung == TM_VIZ_MEMORY) return FALSE; /* nothing below plain memory */
    tm_viz_drop(s->rung, error->message);
  }
  return FALSE;
}

gboolean tm_viz_sink_draw(TmVizSink *s, TmVizDraw draw, gpointer user) {
  return draw_from(s, TM_VIZ_GL, &(Painter){.draw = draw, .user = user});
}

gboolean tm_viz_sink_draw_device(TmVizSink *s, TmVizDeviceDraw on_device, TmVizDraw draw, gpointer user) {
  return draw_from(s, TM_VIZ_INTEROP, &(Painter){on_device, draw, user});
}
