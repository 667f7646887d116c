#include "app/train_watch.h"

#include <math.h>
#include <string.h>

#include <glib/gi18n.h>

#include "app/interrupt.h"
#include "app/progress.h"

enum { POLL_US = 100000, LINE_US = 30000000 };

typedef struct {
  TmTrainer *trainer;
  TmProgress *progress;
  GArray *epochs; /* TmEpochRow, new ones */
  guint told_epochs;
  char *notice, *activity; /* last one told */
  gboolean told_device, stopping;
  gint64 last_line;
} Watch;

/* Tells @text once: as often as it changes. */
static void tell_change(Watch *w, char **last, const char *text) {
  if (!text || g_strcmp0(*last, text) == 0) return;
  tm_progress_say(w->progress, "%s", text);
  g_free(*last);
  *last = g_strdup(text);
}

static void append_number(GString *line, const char *what, double value, const char *format) {
  if (isnan(value)) return;
  g_autofree char *number = g_strdup_printf(format, value);
  g_string_append_printf(line, " · %s %s", what, number);
}

static void tell_epochs(Watch *w, const TmSnapshot *s) {
  guint n = tm_trainer_epochs(w->trainer, w->told_epochs, w->epochs);
  for (guint i = 0; i < w->epochs->len; i++) {
    const TmEpochRow *row = &g_array_index(w->epochs, TmEpochRow, i);
    g_autoptr(GString) line = g_string_new(NULL);
    g_string_append_printf(line, _("epoch %u of %u"), row->epoch + 1, s->epochs);
    append_number(line, _("loss"), row->train_loss, "%.4f");
    append_number(line, _("validation loss"), row->val_loss, "%.4f");
    append_number(line, _("mean IoU"), row->miou, "%.4f");
    append_number(line, _("accuracy"), row->accuracy, "%.4f");
    g_string_append_printf(line, " · %.0f s", row->seconds);
    if (row->best) g_string_append(line, _(" · best so far"));
    tm_progress_say(w->progress, "%s", line->str);
    w->last_line = g_get_monotonic_time();
  }
  w->told_epochs = n;
}

static char *rate_text(const TmSnapshot *s) {
  g_autofree char *left = tm_time_left(s->seconds_left);
  g_autoptr(GString) line = g_string_new(NULL);
  append_number(line, _("loss"), s->smooth_loss, "%.4f");
  if (s->images_per_s > 0) g_string_append_printf(line, " · %.1f %s/s", s->images_per_s, _("pictures"));
  if (*left) g_string_append_printf(line, " · %s", left);
  return g_strdup(g_str_has_prefix(line->str, " · ") ? line->str + strlen(" · ") : line->str);
}

static void tell_progress(Watch *w, const TmSnapshot *s) {
  if (s->state != TM_STATE_TRAINING && s->state != TM_STATE_VALIDATING) return;
  g_autofree char *rates = rate_text(s);
  g_autofree char *head = g_strdup_printf(_("epoch %u of %u"), MIN(s->epoch + 1, s->epochs), s->epochs);
  const char *tail = s->state == TM_STATE_VALIDATING ? _("validating") : rates;
  tm_progress_show(w->progress, s->steps ? (double)s->step / s->steps : 0, head, tail);
  gint64 now = g_get_monotonic_time();
  if (tm_progress_on_terminal(w->progress) || now - w->last_line < LINE_US) return;
  tm_progress_say(w->progress, _("%s, step %u of %u · %s"), head, s->step, s->steps, rates);
  w->last_line = now;
}

static gboolean over(TmTrainerState state) {
  return state == TM_STATE_FINISHED || state == TM_STATE_STOPPED || state == TM_STATE_FAILED;
}

static gboolean look(Watch *w) {
  TmSnapshot s;
  tm_trainer_snapshot(w->trainer, &s);
  if (!w->told_device && s.device && s.state >= TM_STATE_TRAINING) {
    tm_progress_say(w->progress, _("Training on %s, %s."), s.device, tm_dtype_name(s.precision));
    w->told_device = TRUE;
  }
  if (s.state == TM_STATE_PREPARING && tm_progress_on_terminal(w->progress))
    tell_change(w, &w->activity, s.activity);
  tell_change(w, &w->notice, s.notice);
  tell_epochs(w, &s);
  tell_progress(w, &s);
  gboolean end = over(s.state);
  tm_snapshot_clear(&s);
  return end;
}

void tm_train_watch(TmTrainer *t) {
  Watch w = {.trainer = t, .epochs = g_array_new(FALSE, FALSE, sizeof(TmEpochRow))};
  w.progress = tm_progress_new(_("Training"), _("pictures"));
  w.last_line = g_get_monotonic_time();
  tm_trainer_start(t);
  while (!look(&w)) {
    if (tm_interrupt_caught() && !w.stopping) {
      tm_progress_say(w.progress, "%s", _("Saving, then stopping (once more leaves at once) …"));
      tm_trainer_stop_now(t, TRUE);
      w.stopping = TRUE;
    }
    g_usleep(POLL_US);
  }
  tm_progress_free(w.progress);
  g_array_unref(w.epochs);
  g_free(w.notice);
  g_free(w.activity);
}
