#include "engine/train/lr_range.h"

#include <glib/gi18n.h>
#include <math.h>

#include "engine/train/session.h"

enum { STEPS = 100, LEAST_STEPS = 10, MOST_STEPS = 10000 };

/* KEEP: a step's weight in the average of the next. GONE: times the lowest average at which the loss counts
 * as gone. FELL: share of the first loss that a curve must get below for its slope to mean something. MARGIN:
 * between the rate that diverged and the highest that is suggested. */
static const double KEEP = 0.9, GONE = 4.0, FELL = 0.97, MARGIN = 10.0, LOW = 1e-6, HIGH = 1.0;

/* ---- the curve ---- */

TmLrRange *tm_lr_range_new(void) {
  TmLrRange *r = g_new0(TmLrRange, 1);
  r->rate = g_new(double, MOST_STEPS);
  r->loss = g_new(double, MOST_STEPS);
  r->smooth = g_new0(double, MOST_STEPS);
  r->diverged = r->suggested = NAN;
  r->lowest = INFINITY;
  return r;
}

void tm_lr_range_free(TmLrRange *r) {
  if (!r) return;
  g_free(r->rate);
  g_free(r->loss);
  g_free(r->smooth);
  g_free(r->reason);
  g_free(r);
}

gboolean tm_lr_range_add(TmLrRange *r, double rate, double loss) {
  if (isfinite(loss) && r->n < MOST_STEPS) {
    r->rate[r->n] = rate;
    r->loss[r->n++] = loss;
    r->running = KEEP * r->running + (1 - KEEP) * loss;
    r->running_weight = KEEP * r->running_weight + (1 - KEEP);
    const double average = r->running / r->running_weight;
    r->lowest = fmin(r->lowest, average);
    if (average <= GONE * r->lowest) return TRUE;
  }
  r->diverged = rate;
  return FALSE;
}

/* Averages from both sides alike: one that only looks back would show every slope some steps too late. */
static void smooth(TmLrRange *r) {
  g_autofree double *weight = g_new0(double, r->n);
  double sum = 0, n = 0;
  for (guint i = 0; i < r->n; i++) {
    sum = KEEP * sum + r->loss[i];
    n = KEEP * n + 1;
    r->smooth[i] = sum;
    weight[i] = n;
  }
  sum = n = 0;
  for (guint i = r->n; i-- > 0;) {
    r->smooth[i] = (r->smooth[i] + sum) / (weight[i] + n);
    sum = KEEP * (sum + r->loss[i]);
    n = KEEP * (n + 1);
  }
}

/* The place of the steepest fall before the curve's lowest point; 0 when it does not fall. */
static guint steepest(const TmLrRange *r, guint lowest) {
  guint at = 0;
  double best = 0;
  for (guint i = 1; i + 1 < r->n && i < lowest; i++) {
    const double slope = (r->smooth[i + 1] - r->smooth[i - 1]) / log(r->rate[i + 1] / r->rate[i - 1]);
    if (slope >= best) continue;
    best = slope;
    at = i;
  }
  return at;
}

static void suggest(TmLrRange *r, double rate) {
  if (isfinite(r->diverged) && rate > r->diverged / MARGIN) rate = r->diverged / MARGIN;
  if (rate < r->rate[0]) {
    r->reason = g_strdup_printf(_("The loss was gone at %.2g already, near the lowest rate tried: %.2g. Try "
                                  "again from a lower one."),
                                r->diverged, r->rate[0]);
    return;
  }
  r->suggested = rate;
}

void tm_lr_range_judge(TmLrRange *r) {
  if (r->n < 3) {
    r->reason = g_strdup(isfinite(r->diverged)
                             ? _("The loss was gone after the first steps, so there is no curve to judge.")
                             : _("There are too few steps to judge a curve."));
    return;
  }
  smooth(r);
  guint lowest = 0;
  for (guint i = 1; i < r->n; i++)
    if (r->smooth[i] < r->smooth[lowest]) lowest = i;
  const guint at = steepest(r, lowest);
  if (at > 0 && r->smooth[lowest] < FELL * r->smooth[0])
    suggest(r, r->rate[at]);
  else
    r->reason =
        g_strdup_printf(_("The loss never fell between the rates %.2g and %.2g: more steps, other rates "
                          "or a look at the masks may help."),
                        r->rate[0], r->rate[r->n - 1]);
}

/* ---- the sweep ---- */

double tm_lr_sweep_rate(const TmLrSweep *w, guint i) {
  return w->low * pow(w->high / w->low, (double)i / (double)(w->steps - 1));
}

static gboolean check_sweep(const TmLrSweep *given, TmLrSweep *out, GError **error) {
  *out = given ? *given : (TmLrSweep){0};
  if (out->low == 0 && out->high == 0) {
    out->low = LOW;
    out->high = HIGH;
  }
  if (out->steps == 0) out->steps = STEPS;
  if (out->low > 0 && out->high > out->low && isfinite(out->high) && out->steps >= LEAST_STEPS &&
      out->steps <= MOST_STEPS)
    return TRUE;
  g_set_error(error, TM_ERROR, TM_ERROR_SETTING,
              _("The rates of a test grow from above 0 to a higher one, in %d to %d steps; not from %g to %g "
                "in %u."),
              LEAST_STEPS, MOST_STEPS, out->low, out->high, out->steps);
  return FALSE;
}

/* A constant rate of @low, which the sweep multiplies. */
static TmSettings flat_settings(const TmSettings *s, const TmLrSweep *w) {
  TmSettings flat = *s;
  flat.lr = w->low;
  flat.schedule = "constant";
  flat.warmup = 0;
  flat.ema = 0;
  return flat;
}

static gboolean sweep_rates(TmSession *s, const TmLrSweep *w, TmLrRange *r, TmLrProgress progress,
                            gpointer user, GError **error) {
  for (guint i = 0; i < w->steps; i++) {
    if (tm_session_cancelled(s)) {
      g_set_error_literal(error, TM_ERROR, TM_ERROR_CANCELLED, _("The test of learning rates was stopped."));
      return FALSE;
    }
    TmStepResult step;
    const double rate = tm_lr_sweep_rate(w, i);
    s->at.lr_factor = rate / w->low;
    const gboolean ok = tm_session_step(s, &step, error);
    g_free(step.why);
    if (!ok) return FALSE;
    if (!tm_lr_range_add(r, rate, step.skipped ? NAN : step.loss)) break;
    if (progress) progress(i + 1, w->steps, rate, step.loss, r->running / r->running_weight, user);
  }
  return TRUE;
}

TmLrRange *tm_lr_range(TmDataset *d, const TmScan *scan, const TmSettings *given, const TmLrSweep *sweep,
                       const gint *cancel, TmLrProgress progress, gpointer user, GError **error) {
  TmLrSweep w;
  if (!check_sweep(sweep, &w, error)) return NULL;
  const TmSettings settings = flat_settings(given, &w);
  const TmSessionPlan plan = {.data = d, .scan = scan, .settings = &settings, .cancel = cancel};
  g_autoptr(TmSession) s = tm_session_open(&plan, error);
  if (!s) return NULL;
  g_autoptr(TmLrRange) r = tm_lr_range_new();
  if (!sweep_rates(s, &w, r, progress, user, error)) return NULL;
  tm_lr_range_judge(r);
  return g_steal_pointer(&r);
}
