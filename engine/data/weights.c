/* weights.c: class weights. A class's frequency is its share of all training pixels, void counted in the
 * whole. */
#include <glib/gi18n.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/core/error.h"
#include "engine/data/scan.h"

#define RATIO_LEAST 0.2
#define RATIO_MOST 5.0
#define LOG_OFFSET 1.1

typedef enum { RULE_NONE, RULE_MEDIAN, RULE_SQRT, RULE_LOG, N_RULES } Rule;

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Of the classes that are there; of an even number the mean of the two in the middle. */
static double median_present(const double *frequency, guint n) {
  double sorted[TM_MAX_CLASSES];
  guint k = 0;
  for (guint c = 0; c < n; c++)
    if (frequency[c] > 0) sorted[k++] = frequency[c];
  if (k == 0) return 0;
  qsort(sorted, k, sizeof sorted[0], by_size);
  return k % 2 ? sorted[k / 2] : (sorted[k / 2 - 1] + sorted[k / 2]) / 2;
}

static double weight(Rule rule, double frequency, double median) {
  if (frequency <= 0) return 0;
  switch (rule) {
  case RULE_MEDIAN:
    return median / frequency;
  case RULE_SQRT:
    return sqrt(CLAMP(median / frequency, RATIO_LEAST, RATIO_MOST));
  case RULE_LOG:
    return 1 / log(LOG_OFFSET + frequency);
  default:
    return 1;
  }
}

static gboolean parse_rule(const char *name, Rule *out, GError **error) {
  static const char *const names[N_RULES] = {"none", "median", "sqrt", "log"};
  for (Rule r = 0; r < N_RULES; r++)
    if (g_strcmp0(name, names[r]) == 0) {
      *out = r;
      return TRUE;
    }
  g_set_error(error, TM_ERROR, TM_ERROR_SETTING,
              _("“%s” is no rule for class weights; there are none, median, sqrt and log."),
              name ? name : "");
  return FALSE;
}

gboolean tm_scan_weights(const TmScan *s, const TmClassTable *t, const char *rule, float *out,
                         GError **error) {
  Rule r;
  if (!parse_rule(rule, &r, error)) return FALSE;
  const guint64 *pixels = s->pixels[TM_SPLIT_TRAIN];
  guint64 total = 0;
  for (guint c = 0; c <= TM_MAX_CLASSES; c++) total += pixels[c];
  if (total == pixels[TM_MAX_CLASSES]) {
    g_set_error(error, TM_ERROR, TM_ERROR_DATA,
                _("No training picture has a labelled pixel, so there are no class weights. See the findings "
                  "of the scan."));
    return FALSE;
  }
  double frequency[TM_MAX_CLASSES];
  for (guint c = 0; c < t->n; c++) frequency[c] = (double)pixels[c] / (double)total;
  const double median = median_present(frequency, t->n);
  for (guint c = 0; c < t->n; c++) out[c] = (float)weight(r, frequency[c], median);
  return TRUE;
}
