/* validate.c: the score of the val split: one confusion matrix over all pictures, so that it cannot depend on
 * how they are batched. */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "engine/train/prefetch.h"
#include "engine/train/session.h"

/* What is added up. Pixelwise losses are means over weighted pixels: times their weight they can be added,
 * and the sum is what one giant batch would have given. Dice is a mean over pictures. */
typedef struct {
  TmConfusion *confusion;
  gint32 *counts;
  double pixelwise, weight, dice, dice_n;
  gboolean finite;
} Sum;

/* Pictures of one size waiting to be judged together. */
typedef struct {
  int n, most, w, h;
  guint8 *rgb, *truth;
} Batch;

void tm_score_clear(TmScore *s) {
  tm_confusion_free(s->confusion);
  g_free(s->remark);
  *s = (TmScore){0};
}

/* ---- the average of the weights ---- */

static gboolean copy(TmSession *s, const float *from, float *to, GError **error) {
  s->params->version++;
  return tm_backend_axpby(s->backend, 1, from, 0, to, s->params->n_value, error);
}

gboolean tm_session_judged_begin(TmSession *s, GError **error) {
  return !s->ema || (copy(s, s->params->value, s->held, error) && copy(s, s->ema, s->params->value, error));
}

gboolean tm_session_judged_end(TmSession *s, GError **error) {
  return !s->ema || copy(s, s->held, s->params->value, error);
}

/* ---- one batch ---- */

double tm_session_weight(const TmSession *s, const guint8 *truth, gsize n) {
  gsize pixels[TM_VOID + 1] = {0};
  for (gsize i = 0; i < n; i++) pixels[truth[i]]++;
  double sum = 0;
  for (guint c = 0; c < s->classes; c++) sum += (double)pixels[c] * s->class_weights[c];
  return sum;
}

static gboolean add_loss(TmSession *s, TmEval *e, const guint8 *truth, double pictures, Sum *sum,
                         GError **error) {
  const double weight = tm_session_weight(s, truth, (gsize)e->n * (gsize)e->w * (gsize)e->h);
  if (weight <= 0) return TRUE; /* nothing but void, or classes that count nothing */
  for (guint i = 0; i < e->loss.n; i++) {
    float x = NAN;
    if (!tm_program_read(e->program, e->loss.parts[i], &x, TM_F32, error)) return FALSE;
    sum->finite = sum->finite && isfinite(x);
    if (i == 0 && e->loss.pixelwise) {
      sum->pixelwise += x * weight;
      sum->weight += weight;
    } else {
      sum->dice += x * pictures;
      sum->dice_n += pictures;
    }
  }
  return TRUE;
}

static gboolean judge(TmSession *s, TmEval *e, const guint8 *rgb, const guint8 *truth, double pictures,
                      Sum *sum, GError **error) {
  if (!tm_program_write(e->program, e->picture, rgb, TM_U8, error) ||
      !tm_program_write(e->program, e->truth, truth, TM_U8, error) || !tm_program_run(e->program, error) ||
      !tm_program_read(e->program, e->confusion, sum->counts, TM_I32, error) ||
      !add_loss(s, e, truth, pictures, sum, error))
    return FALSE;
  tm_confusion_add(sum->confusion, sum->counts);
  return TRUE;
}

/* ---- large pictures ---- */

typedef struct {
  const TmSample *sample;
  Sum *sum;
} TileJob;

/* Outside of its own part a tile's truth is void: every pixel counts once. */
static gboolean judge_tile(TmSession *s, TmEval *e, const TmTile *t, const guint8 *rgb, gpointer user,
                           GError **error) {
  const TileJob *job = user;
  const gsize w = (gsize)e->w;
  g_autofree guint8 *truth = g_malloc(w * (gsize)e->h);
  memset(truth, TM_VOID, w * (gsize)e->h);
  for (int y = t->y0; y < t->y1; y++)
    memcpy(truth + (gsize)(y - t->y) * w + (t->x0 - t->x),
           job->sample->labels + (gsize)y * (gsize)job->sample->w + t->x0, (gsize)(t->x1 - t->x0));
  const double share = (double)(t->x1 - t->x0) * (t->y1 - t->y0) / ((double)job->sample->w * job->sample->h);
  return judge(s, e, rgb, truth, share, job->sum, error);
}

/* ---- pictures of one size together ---- */

static void batch_clear(Batch *b) {
  g_free(b->rgb);
  g_free(b->truth);
  *b = (Batch){0};
}

static gboolean batch_begin(const TmSession *s, Batch *b, int w, int h, GError **error) {
  batch_clear(b);
  const gsize pixels = (gsize)w * (gsize)h;
  b->most = (int)CLAMP((gsize)s->eval_pixels / pixels, 1, TM_EVAL_MOST);
  b->w = w;
  b->h = h;
  b->rgb = g_try_malloc_n(pixels, 3 * (gsize)b->most);
  b->truth = g_try_malloc_n(pixels, (gsize)b->most);
  if (b->rgb && b->truth) return TRUE;
  g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY, _("There is no memory for %d pictures of %d×%d."), b->most,
              w, h);
  return FALSE;
}

/* A batch that is not full is filled up with void: what the net says there is not counted. */
static gboolean batch_judge(TmSession *s, Batch *b, Sum *sum, GError **error) {
  if (b->n == 0) return TRUE;
  const gsize pixels = (gsize)b->w * (gsize)b->h;
  memset(b->truth + (gsize)b->n * pixels, TM_VOID, (gsize)(b->most - b->n) * pixels);
  memset(b->rgb + (gsize)b->n * pixels * 3, 0, (gsize)(b->most - b->n) * pixels * 3);
  const int n = b->n;
  b->n = 0;
  TmEval *e = tm_session_eval(s, b->most, b->w, b->h, error);
  return e && judge(s, e, b->rgb, b->truth, n, sum, error);
}

static gboolean add_picture(TmSession *s, Batch *b, const TmSample *sample, Sum *sum, GError **error) {
  if (tm_session_tiled(s, sample->w, sample->h)) {
    TileJob job = {sample, sum};
    return tm_session_tiles(s, sample, judge_tile, &job, error);
  }
  if (b->w != sample->w || b->h != sample->h) {
    if (!batch_judge(s, b, sum, error) || !batch_begin(s, b, sample->w, sample->h, error)) return FALSE;
  }
  const gsize pixels = (gsize)b->w * (gsize)b->h;
  memcpy(b->rgb + (gsize)b->n * pixels * 3, sample->rgb, pixels * 3);
  memcpy(b->truth + (gsize)b->n * pixels, sample->labels, pixels);
  return ++b->n < b->most || batch_judge(s, b, sum, error);
}

/* ---- the split ---- */

static GArray *val_entries(const TmSession *s) {
  GArray *list = g_array_new(FALSE, FALSE, sizeof(guint));
  for (guint i = 0; i < tm_dataset_n(s->data); i++)
    if (tm_dataset_entry(s->data, i)->split == TM_SPLIT_VAL) g_array_append_val(list, i);
  return list;
}

static gboolean judge_all(TmSession *s, const GArray *list, Sum *sum, guint *unreadable, GError **error) {
  g_autoptr(TmPrefetch) ahead =
      tm_prefetch_new(s->judged, (const guint *)(const void *)list->data, list->len);
  Batch b = {0};
  gboolean ok = TRUE;
  TmFetched *f;
  while (ok && (f = tm_prefetch_next(ahead))) {
    if (tm_session_cancelled(s)) {
      g_set_error_literal(error, TM_ERROR, TM_ERROR_CANCELLED, _("The run was stopped."));
      ok = FALSE;
    } else if (!f->sample || !f->sample->labels) {
      ++*unreadable;
    } else {
      ok = add_picture(s, &b, f->sample, sum, error);
    }
    tm_fetched_free(f);
  }
  ok = ok && batch_judge(s, &b, sum, error);
  batch_clear(&b);
  return ok;
}

static void sum_clear(Sum *sum) {
  tm_confusion_clear(sum->confusion);
  sum->pixelwise = sum->weight = sum->dice = sum->dice_n = 0;
  sum->finite = TRUE;
}

/* ---- what to tell of it ---- */

static char *remark_of(const TmSession *s, const TmConfusion *c) {
  const TmClassTable *table = tm_dataset_classes(s->data);
  g_autoptr(GString) never = g_string_new(NULL);
  guint called = 0, present = 0, only = 0, missing = 0;
  for (guint i = 0; i < c->n; i++) {
    guint64 truth = 0, calls = 0;
    for (guint k = 0; k < c->n; k++) {
      truth += c->pixels[(gsize)i * c->n + k];
      calls += c->pixels[(gsize)k * c->n + i];
    }
    present += truth > 0;
    called += calls > 0;
    if (calls) only = i;
    if (truth && !calls) g_string_append_printf(never, "%s%s", missing++ ? ", " : "", table->classes[i].name);
  }
  if (called == 1 && present > 1)
    return g_strdup_printf(_("Every pixel of the validation pictures is called %s so far."),
                           table->classes[only].name);
  if (missing)
    return g_strdup_printf(_("Never predicted in the validation pictures so far: %s."), never->str);
  return NULL;
}

static void score_of(const TmSession *s, Sum *sum, TmScore *out) {
  double loss = 0;
  const gboolean some = sum->weight > 0 || sum->dice_n > 0;
  if (sum->weight > 0) loss += sum->pixelwise / sum->weight;
  if (sum->dice_n > 0) loss += sum->dice / sum->dice_n;
  out->loss = some && sum->finite ? loss : NAN;
  out->miou = tm_confusion_miou(sum->confusion);
  out->accuracy = tm_confusion_accuracy(sum->confusion);
  out->remark = remark_of(s, sum->confusion);
  out->confusion = g_steal_pointer(&sum->confusion);
}

static gboolean validate(TmSession *s, const GArray *list, TmScore *out, GError **error) {
  Sum sum = {.confusion = tm_confusion_new(s->classes),
             .counts = g_new0(gint32, (gsize)s->classes * s->classes)};
  g_autoptr(GError) e = NULL;
  gboolean ok;
  do {
    sum_clear(&sum);
    out->unreadable = 0;
    ok = judge_all(s, list, &sum, &out->unreadable, &e);
  } while (!ok && tm_session_less_memory(s, &e));
  if (ok)
    score_of(s, &sum, out);
  else
    g_propagate_error(error, g_steal_pointer(&e));
  tm_confusion_free(sum.confusion);
  g_free(sum.counts);
  return ok;
}

gboolean tm_session_validate(TmSession *s, TmScore *out, GError **error) {
  *out = (TmScore){.loss = NAN, .miou = NAN, .accuracy = NAN};
  g_autoptr(GArray) list = val_entries(s);
  return list->len == 0 || validate(s, list, out, error);
}
