#include "engine/train/step_times.h"

#include <glib/gi18n.h>
#include <math.h>

/* Shares of a step from which its waiting, and drawing the probe, are worth a word. */
#define WAIT_TOLD 0.15
#define DRAW_TOLD 0.10

void tm_step_sum_add(TmStepSum *s, const TmStepTimes *one) {
  s->n++;
  s->sum.step += one->step;
  s->sum.wait += one->wait;
  s->sum.decode += one->decode;
  s->sum.augment += one->augment;
  s->sum.upload += one->upload;
  s->sum.network += one->network;
  s->sum.update += one->update;
  s->sum.draw += one->draw;
  if (isnan(one->forward)) return;
  s->sum.forward += one->forward;
  s->n_forward++;
}

TmStepTimes tm_step_sum_mean(const TmStepSum *s) {
  const double n = s->n ? (double)s->n : NAN, told = s->n_forward ? (double)s->n_forward : NAN;
  const TmStepTimes *x = &s->sum;
  return (TmStepTimes){.step = x->step / n,
                       .wait = x->wait / n,
                       .decode = x->decode / n,
                       .augment = x->augment / n,
                       .upload = x->upload / n,
                       .network = x->network / n,
                       .forward = x->forward / told,
                       .update = x->update / n,
                       .draw = x->draw / n};
}

/* "82 ms", "1.24 s" */
static char *span(double seconds) {
  return seconds < 0.9995 ? g_strdup_printf(seconds < 0.00995 ? _("%.1f ms") : _("%.0f ms"), seconds * 1e3)
                          : g_strdup_printf(_("%.2f s"), seconds);
}

/* "62 %", "4.2 %" below ten. */
static char *percent(double share) {
  return g_strdup_printf(share < 0.0995 ? _("%.1f %%") : _("%.0f %%"), share * 100);
}

gboolean tm_step_times_sentence(const TmStepTimes *m, char **strong, char **rest) {
  *rest = g_strdup("");
  if (!(m->step > 0)) {
    *strong = g_strdup(_("The first steps are being measured."));
    return FALSE;
  }
  const double wait = fmax(m->wait, 0) / m->step, draw = fmax(m->draw, 0) / m->step;
  g_autofree char *share = percent(wait > WAIT_TOLD   ? wait
                                   : draw > DRAW_TOLD ? draw
                                                      : fmax(m->network, 0) / m->step),
                  *lost = span(m->wait);
  if (wait > WAIT_TOLD) {
    *strong = g_strdup_printf(_("Loading holds the network back %s of each step."), share);
    g_free(*rest);
    *rest = g_strdup_printf(
        m->decode > m->augment
            ? _("Decoding takes the most: more loader threads, or smaller pictures, should save up to %s.")
            : _("Augmentation takes the most: more loader threads should save up to %s."),
        lost);
    return TRUE;
  }
  if (draw > DRAW_TOLD) {
    *strong = g_strdup_printf(_("Predicting the probe takes %s of each step."), share);
    return TRUE;
  }
  *strong = g_strdup(_("The network sets the pace:"));
  g_free(*rest);
  *rest = g_strdup_printf(_("forward and backward take %s of each step, pictures arrive in time."), share);
  return FALSE;
}
