/* bootstrap.c: how far the mean IoU would move had other pictures been taken. */
#include <math.h>
#include <stdlib.h>

#include "engine/core/random.h"
#include "engine/predict/evaluation.h"

/* What the IoU of a class needs of a picture. */
typedef struct {
  guint64 right, either;
} Part;

static Part *parts_new(const TmEvaluation *e) {
  const gsize classes = e->classes->n, pictures = e->pictures->len;
  if (pictures > G_MAXSSIZE / sizeof(Part) / MAX(classes, 1)) return NULL;
  Part *parts = g_try_malloc0(MAX(pictures * classes, 1) * sizeof *parts);
  for (gsize i = 0; parts && i < pictures; i++) {
    const TmPictureScore *p = e->pictures->pdata[i];
    for (guint k = 0; k < p->cells->len; k++) {
      const TmCell *cell = &g_array_index(p->cells, TmCell, k);
      parts[i * classes + cell->truth].either += cell->pixels;
      if (cell->truth == cell->call)
        parts[i * classes + cell->truth].right += cell->pixels;
      else
        parts[i * classes + cell->call].either += cell->pixels;
    }
  }
  return parts;
}

static double draw(const Part *parts, gsize pictures, gsize classes, TmRandom *random) {
  Part sum[TM_MAX_CLASSES] = {{0, 0}};
  for (gsize k = 0; k < pictures; k++) {
    const Part *one = parts + (gsize)tm_random_int(random, (guint)pictures) * classes;
    for (gsize c = 0; c < classes; c++) {
      sum[c].right += one[c].right;
      sum[c].either += one[c].either;
    }
  }
  double all = 0;
  guint n = 0;
  for (gsize c = 0; c < classes; c++) {
    if (!sum[c].either) continue;
    all += (double)sum[c].right / (double)sum[c].either;
    n++;
  }
  return n ? all / n : NAN;
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

/* Between two neighbours in the order, linearly, as numpy.percentile. */
static double percentile(const double *sorted, guint n, double share) {
  const double at = share * (n - 1);
  const guint i = MIN((guint)at, n - 1), next = MIN(i + 1, n - 1);
  return sorted[i] + (sorted[next] - sorted[i]) * (at - i);
}

gboolean tm_evaluation_interval(const TmEvaluation *e, guint draws, guint64 seed, double *low, double *high) {
  *low = *high = NAN;
  if (e->pictures->len < 2 || draws < 1) return FALSE;
  g_autofree Part *parts = parts_new(e);
  if (!parts) return FALSE;
  g_autofree double *values = g_new(double, draws);
  TmRandom random;
  guint n = 0;
  tm_random_seed(&random, seed);
  for (guint d = 0; d < draws; d++) {
    const double v = draw(parts, e->pictures->len, e->classes->n, &random);
    if (!isnan(v)) values[n++] = v;
  }
  if (!n) return FALSE;
  qsort(values, n, sizeof *values, by_value);
  *low = percentile(values, n, 0.025);
  *high = percentile(values, n, 0.975);
  return TRUE;
}
