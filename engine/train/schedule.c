#include "engine/train/schedule.h"

#include <math.h>

/* PyTorch's constants: div_factor, final_div_factor, base_momentum, max_momentum. */
static const double first_part = 25.0, last_part = 1e4, momentum_low = 0.85, momentum_high = 0.95;

static double anneal(double from, double to, double share) {
  return to + (from - to) / 2.0 * (1.0 + cos(G_PI * share));
}

/* Between @start, @peak at the end of the warm-up, and @end: PyTorch's phases end at steps warmup*total - 1
 * and total - 1, fractions included. */
static double one_cycle(double start, double peak, double end, double warmup, guint64 step, guint64 total) {
  const double x = (double)step, up = warmup * (double)total - 1.0, last = (double)total - 1.0;
  if (up > 0 && x <= up) return anneal(start, peak, x / up);
  return anneal(peak, end, last > up ? (x - up) / (last - up) : 1.0);
}

double tm_schedule_lr(const TmSettings *s, guint64 step, guint64 total) {
  total = MAX(total, 1);
  step = MIN(step, total - 1);
  if (g_str_equal(s->schedule, "one-cycle"))
    return one_cycle(s->lr / first_part, s->lr, s->lr / first_part / last_part, s->warmup, step, total);
  const guint64 warm = (guint64)(s->warmup * (double)total + 0.5);
  if (step < warm) return s->lr * (double)(step + 1) / (double)warm;
  const double p = (double)(step - warm) / (double)(total - warm);
  if (g_str_equal(s->schedule, "poly")) return s->lr * pow(1.0 - p, s->poly_power);
  if (g_str_equal(s->schedule, "cosine")) return s->lr * 0.5 * (1.0 + cos(G_PI * p));
  if (g_str_equal(s->schedule, "step")) {
    const guint64 every = MAX(total / (guint64)MAX(s->epochs, 1), 1) * (guint64)MAX(s->step_epochs, 1);
    return s->lr * pow(s->step_factor, (double)(step / every));
  }
  return s->lr;
}

double tm_schedule_beta1(const TmSettings *s, guint64 step, guint64 total) {
  if (!g_str_equal(s->schedule, "one-cycle")) return 0.9;
  total = MAX(total, 1);
  return one_cycle(momentum_high, momentum_low, momentum_high, s->warmup, MIN(step, total - 1), total);
}

double tm_schedule_ema(double decay, guint64 updates) {
  return MIN(decay, (1.0 + (double)updates) / (10.0 + (double)updates));
}
