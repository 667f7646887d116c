#include "app/lr_report.h"

#include <math.h>

#include <glib/gi18n.h>

#include "app/cli.h"
#include "app/interrupt.h"
#include "app/progress.h"
#include "engine/train/lr_range.h"

/* ROWS: of the plot, at most. BAR: characters of its longest bar. */
enum { ROWS = 20, BAR = 40 };

typedef struct {
  TmProgress *progress;
  gint cancel;
} Watch;

static void watch(guint done, guint total, double rate, double loss, double smooth, gpointer user) {
  (void)loss;
  Watch *w = user;
  g_autofree char *tail = g_strdup_printf(_("rate %.2g · loss %.4f"), rate, smooth);
  tm_progress_show(w->progress, (double)done / total, _("Testing learning rates"), tail);
  if (tm_interrupt_caught()) g_atomic_int_set(&w->cancel, 1);
}

static void print_row(const TmLrRange *r, guint from, guint to, double low, double high) {
  const guint at = (from + to - 1) / 2;
  const double share = high > low ? CLAMP((r->smooth[at] - low) / (high - low), 0, 1) : 0;
  const gboolean here = r->suggested >= r->rate[from] && r->suggested <= r->rate[to - 1];
  g_autofree char *bar = g_strnfill((gsize)lrint(share * BAR) + 1, '#');
  g_print("  %8.2e  %9.4f  %s%s\n", r->rate[at], r->smooth[at], bar, here ? " <" : "");
}

/* Bars from the lowest loss to the highest of the first half: where it is gone would flatten all else. */
static void print_plot(const TmLrRange *r) {
  double low = INFINITY, high = -INFINITY;
  for (guint i = 0; i < r->n; i++) {
    low = fmin(low, r->smooth[i]);
    if (i <= r->n / 2) high = fmax(high, r->smooth[i]);
  }
  g_print("  %8s  %9s\n", _("rate"), _("loss"));
  const guint rows = MIN(ROWS, r->n);
  for (guint k = 0; k < rows; k++) print_row(r, k * r->n / rows, (k + 1) * r->n / rows, low, high);
}

static void print_text(const TmLrRange *r) {
  print_plot(r);
  if (isfinite(r->diverged)) g_print(_("The loss was gone at a rate of %.2g.\n"), r->diverged);
  if (isfinite(r->suggested))
    g_print(
        _("Suggested: --lr %.2g (where the loss falls most steeply, at most a tenth of the rate at which it "
          "was gone).\n"),
        r->suggested);
  else
    g_print("%s\n", r->reason);
}

static JsonArray *array_json(const double *x, guint n) {
  JsonArray *a = json_array_new();
  for (guint i = 0; i < n; i++) json_array_add_double_element(a, x[i]);
  return a;
}

static void print_json(const TmLrRange *r) {
  JsonObject *o = json_object_new();
  tm_cli_json_number(o, "suggested", r->suggested);
  tm_cli_json_number(o, "diverged", r->diverged);
  if (r->reason)
    json_object_set_string_member(o, "reason", r->reason);
  else
    json_object_set_null_member(o, "reason");
  json_object_set_array_member(o, "rate", array_json(r->rate, r->n));
  json_object_set_array_member(o, "loss", array_json(r->loss, r->n));
  json_object_set_array_member(o, "smooth", array_json(r->smooth, r->n));
  tm_cli_json_print(o);
}

int tm_lr_report(TmDataset *d, const TmScan *scan, const TmSettings *s, gboolean json) {
  g_autoptr(GError) error = NULL;
  Watch w = {.progress = tm_progress_new(_("Testing learning rates"), _("steps"))};
  g_autoptr(TmLrRange) r = tm_lr_range(d, scan, s, NULL, &w.cancel, watch, &w, &error);
  tm_progress_free(w.progress);
  if (!r)
    return tm_interrupt_caught() ? TM_EXIT_SIGNAL + tm_interrupt_caught()
                                 : tm_cli_fail(error, TM_EXIT_FAILED);
  if (json)
    print_json(r);
  else
    print_text(r);
  return TM_EXIT_OK;
}
