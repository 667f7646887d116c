#include "app/frame_times.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct {
  GArray *gaps; /* microseconds from frame to frame */
  gint64 last;  /* 0: none yet */
} FrameTimes;

static gboolean tick(GtkWidget *window, GdkFrameClock *clock, gpointer data) {
  FrameTimes *f = data;
  (void)window;
  (void)clock;
  const gint64 now = g_get_monotonic_time();
  if (f->last) {
    const gint64 gap = now - f->last;
    g_array_append_val(f->gaps, gap);
  }
  f->last = now;
  return G_SOURCE_CONTINUE;
}

static int in_order(const void *a, const void *b) {
  const gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
  return (x > y) - (x < y);
}

static double share(const GArray *sorted, double q) {
  const guint at = MIN((guint)(q * sorted->len), sorted->len - 1);
  return (double)g_array_index(sorted, gint64, at) / 1000;
}

static void print(gpointer data) {
  FrameTimes *f = data;
  if (f->gaps->len) {
    guint late = 0;
    for (guint i = 0; i < f->gaps->len; i++) late += g_array_index(f->gaps, gint64, i) > 33333;
    qsort(f->gaps->data, f->gaps->len, sizeof(gint64), in_order);
    fprintf(stderr,
            "frame times of %u frames in ms: median %.1f, 95 %% %.1f, 99 %% %.1f, longest %.1f; %.2f %% over "
            "33 ms\n",
            f->gaps->len, share(f->gaps, 0.5), share(f->gaps, 0.95), share(f->gaps, 0.99), share(f->gaps, 1),
            100.0 * late / f->gaps->len);
  }
  g_array_unref(f->gaps);
  g_free(f);
}

void tm_frame_times_watch(GtkWidget *window) {
  if (!g_getenv("TARMAC_FRAME_TIMES")) return;
  FrameTimes *f = g_new0(FrameTimes, 1);
  f->gaps = g_array_new(FALSE, FALSE, sizeof(gint64));
  gtk_widget_add_tick_callback(window, tick, f, print);
}
