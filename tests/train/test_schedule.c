/* Learning rates against PyTorch 2 (torch.optim.lr_scheduler, float64) and against closed forms. */
#include <math.h>

#include "engine/train/schedule.h"

static TmSettings make(const char *schedule, double lr, double warmup, int epochs) {
  TmSettings s;
  tm_settings_defaults(&s);
  g_assert_true(tm_settings_set(&s, "schedule", schedule, NULL));
  s.lr = lr;
  s.warmup = warmup;
  s.epochs = epochs;
  return s;
}

static void near(double a, double b) {
  g_assert_cmpfloat_with_epsilon(a, b, 1e-12 * MAX(fabs(b), 1e-3));
}

/* OneCycleLR(opt, 3e-3, total_steps=20, pct_start=0.15) */
static void test_one_cycle_20(void) {
  static const double want[20] = {0.00011999999999999988,
                                  0.00156,
                                  0.003,
                                  0.002974459751687255,
                                  0.0028987087492731572,
                                  0.002775326602291607,
                                  0.0026085149417774856,
                                  0.0024039543387610668,
                                  0.002168610859234673,
                                  0.001910498843130184,
                                  0.0016384079855847962,
                                  0.0013616040144152038,
                                  0.001089513156869816,
                                  0.0008314011407653273,
                                  0.0005960576612389338,
                                  0.00039149705822251484,
                                  0.00022468539770839337,
                                  0.00010130325072684287,
                                  2.5552248312745422e-05,
                                  1.2e-08};
  const TmSettings s = make("one-cycle", 3e-3, 0.15, 2);
  for (guint i = 0; i < 20; i++) near(tm_schedule_lr(&s, i, 20), want[i]);
}

/* OneCycleLR(opt, 3e-3, total_steps=552, pct_start=0.15): about the length of the CamVid run. */
static void test_one_cycle_552(void) {
  static const guint at[] = {0, 1, 10, 50, 81, 82, 83, 100, 200, 300, 400, 500, 550, 551};
  static const double want[] = {0.00011999999999999988, 0.00012106187220148898,
                                0.00022490129287106508, 0.002053086395550021,
                                0.0029993203717174773,  0.00299999865505913,
                                0.002999951582381918,   0.002988876318774719,
                                0.0025542511198740027,  0.0016643871856822983,
                                0.0007035410086848734,  8.662027038730211e-05,
                                4.56234011610824e-08,   1.2e-08};
  const TmSettings s = make("one-cycle", 3e-3, 0.15, 12);
  for (guint i = 0; i < G_N_ELEMENTS(at); i++) near(tm_schedule_lr(&s, at[i], 552), want[i]);
}

static void test_one_cycle_30(void) {
  static const double want[10] = {0.0040000000000000036,
                                  0.052000000000000005,
                                  0.1,
                                  0.09504846320134738,
                                  0.0811745653949763,
                                  0.06112620219362893,
                                  0.03887419780637107,
                                  0.0188258346050237,
                                  0.004951936798652629,
                                  4e-07};
  const TmSettings s = make("one-cycle", 0.1, 0.3, 1);
  for (guint i = 0; i < 10; i++) near(tm_schedule_lr(&s, i, 10), want[i]);
}

/* beta1 of the same scheduler (cycle_momentum is PyTorch's default): 0.95, 0.85 at the top, 0.95. */
static void test_beta1(void) {
  const TmSettings s = make("one-cycle", 3e-3, 0.15, 2);
  near(tm_schedule_beta1(&s, 0, 20), 0.95);
  near(tm_schedule_beta1(&s, 1, 20), 0.90);
  near(tm_schedule_beta1(&s, 2, 20), 0.85);
  near(tm_schedule_beta1(&s, 19, 20), 0.95);
  const TmSettings plain = make("cosine", 3e-3, 0.15, 2);
  near(tm_schedule_beta1(&plain, 7, 20), 0.9);
}

/* PolynomialLR(opt, 10, 0.9) */
static void test_poly(void) {
  static const double want[10] = {0.1,
                                  0.09095325760829623,
                                  0.08180521460508584,
                                  0.072541784693722,
                                  0.06314458674893553,
                                  0.05358867312681466,
                                  0.043838329055408694,
                                  0.033838346190164986,
                                  0.023492378861760376,
                                  0.01258925411794167};
  const TmSettings s = make("poly", 0.1, 0, 1);
  for (guint i = 0; i < 10; i++) near(tm_schedule_lr(&s, i, 10), want[i]);
}

/* CosineAnnealingLR(opt, 10) */
static void test_cosine(void) {
  static const double want[10] = {0.1,
                                  0.09755282581475769,
                                  0.09045084971874738,
                                  0.07938926261462367,
                                  0.06545084971874739,
                                  0.05000000000000001,
                                  0.03454915028125264,
                                  0.020610737385376353,
                                  0.009549150281252635,
                                  0.002447174185242324};
  const TmSettings s = make("cosine", 0.1, 0, 1);
  for (guint i = 0; i < 10; i++) near(tm_schedule_lr(&s, i, 10), want[i]);
}

/* StepLR(opt, 3, 0.5), one step an epoch */
static void test_step(void) {
  static const double want[10] = {0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.025, 0.025, 0.025, 0.0125};
  TmSettings s = make("step", 0.1, 0, 10);
  s.step_epochs = 3;
  s.step_factor = 0.5;
  for (guint i = 0; i < 10; i++) near(tm_schedule_lr(&s, i, 10), want[i]);
  for (guint i = 0; i < 70; i++) near(tm_schedule_lr(&s, i, 70), want[i / 7]); /* seven steps an epoch */
}

static void test_warmup(void) {
  static const char *const names[] = {"constant", "poly", "cosine"};
  for (guint k = 0; k < G_N_ELEMENTS(names); k++) {
    const TmSettings s = make(names[k], 0.2, 0.25, 1);
    for (guint i = 0; i < 10; i++) near(tm_schedule_lr(&s, i, 40), 0.2 * (i + 1) / 10);
    near(tm_schedule_lr(&s, 10, 40), 0.2);
  }
  const TmSettings constant = make("constant", 0.2, 0, 1);
  for (guint i = 0; i < 40; i++) near(tm_schedule_lr(&constant, i, 40), 0.2);
}

/* No schedule may ever give a rate that is negative, above the highest, or not a number, at any length of
 * run. */
static void test_bounds(void) {
  static const char *const names[] = {"constant", "step", "poly", "cosine", "one-cycle"};
  static const double warmups[] = {0, 0.01, 0.15, 0.5, 0.9};
  static const guint totals[] = {0, 1, 2, 3, 7, 100};
  for (guint k = 0; k < G_N_ELEMENTS(names); k++)
    for (guint w = 0; w < G_N_ELEMENTS(warmups); w++)
      for (guint n = 0; n < G_N_ELEMENTS(totals); n++) {
        const TmSettings s = make(names[k], 0.5, warmups[w], 3);
        for (guint i = 0; i < totals[n] + 5; i++) {
          const double lr = tm_schedule_lr(&s, i, totals[n]), beta = tm_schedule_beta1(&s, i, totals[n]);
          g_assert_true(isfinite(lr) && lr >= 0 && lr <= 0.5 * (1 + 1e-12));
          g_assert_true(isfinite(beta) && beta >= 0.85 - 1e-12 && beta <= 0.95 + 1e-12);
        }
      }
}

static void test_past_the_end(void) {
  const TmSettings s = make("cosine", 0.1, 0, 1);
  near(tm_schedule_lr(&s, 1000, 10), tm_schedule_lr(&s, 9, 10));
}

static void test_ema(void) {
  near(tm_schedule_ema(0.999, 0), 0.1);
  near(tm_schedule_ema(0.999, 90), 0.91);
  near(tm_schedule_ema(0.999, 1000000), 0.999);
  near(tm_schedule_ema(0.05, 0), 0.05);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/schedule/one-cycle-20", test_one_cycle_20);
  g_test_add_func("/schedule/one-cycle-552", test_one_cycle_552);
  g_test_add_func("/schedule/one-cycle-30", test_one_cycle_30);
  g_test_add_func("/schedule/beta1", test_beta1);
  g_test_add_func("/schedule/poly", test_poly);
  g_test_add_func("/schedule/cosine", test_cosine);
  g_test_add_func("/schedule/step", test_step);
  g_test_add_func("/schedule/warmup", test_warmup);
  g_test_add_func("/schedule/bounds", test_bounds);
  g_test_add_func("/schedule/past-the-end", test_past_the_end);
  g_test_add_func("/schedule/ema", test_ema);
  return g_test_run();
}
