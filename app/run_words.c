#include "app/run_words.h"

#include <glib/gi18n.h>
#include <math.h>

#include "ui/words.h"

/* The epoch under way, from 1; the last one once the run is through. */
static guint shown_epoch(const TmSnapshot *s) {
  return MIN(s->epoch + 1, MAX(s->epochs, 1u));
}

double tm_run_share_done(const TmSnapshot *s) {
  if (s->state == TM_STATE_FINISHED) return 1;
  return s->share;
}

char *tm_run_subtitle(const TmSnapshot *s) {
  g_autofree char *left = tm_words_left(s->seconds_left);
  switch (s->state) {
  case TM_STATE_IDLE:
    return g_strdup(_("Ready"));
  case TM_STATE_PREPARING:
    return g_strdup(_("Preparing"));
  case TM_STATE_TRAINING:
    if (!left) return g_strdup_printf(_("Epoch %u of %u"), shown_epoch(s), s->epochs);
    return g_strdup_printf(_("Epoch %u of %u · %s"), shown_epoch(s), s->epochs, left);
  case TM_STATE_VALIDATING:
    return g_strdup_printf(_("Epoch %u of %u · validating"), shown_epoch(s), s->epochs);
  case TM_STATE_PAUSED:
    return g_strdup_printf(_("Paused · epoch %u of %u"), shown_epoch(s), s->epochs);
  case TM_STATE_FINISHED:
    if (isnan(s->best_miou)) return g_strdup(_("Finished"));
    return g_strdup_printf(_("Finished · best epoch %u"), s->best_epoch + 1);
  case TM_STATE_STOPPED:
    return g_strdup_printf(_("Stopped at epoch %u"), shown_epoch(s));
  case TM_STATE_FAILED:
    return g_strdup(_("Failed"));
  }
  return g_strdup("");
}

const char *tm_run_go_label(const TmSnapshot *s, const char **icon) {
  gboolean running = s && (s->state == TM_STATE_TRAINING || s->state == TM_STATE_VALIDATING ||
                           s->state == TM_STATE_PREPARING);
  *icon = running ? "media-playback-pause-symbolic" : "media-playback-start-symbolic";
  return running ? _("Pause") : s && s->state == TM_STATE_PAUSED ? _("Go On") : _("Start");
}

static void finished(const TmSnapshot *s, TmRunMessage *m) {
  g_autofree char *spent = tm_words_duration(s->seconds);
  m->icon = "object-select-symbolic";
  m->strong =
      g_strdup_printf(ngettext("Finished after %u epoch.", "Finished after %u epochs.", s->epoch), s->epoch);
  m->rest = isnan(s->best_miou)
                ? g_strdup_printf(_("It took %s of training."), spent)
                : g_strdup_printf(
                      _("Best mean IoU %.3f at epoch %u, in %s of training. The best weights are kept."),
                      s->best_miou, s->best_epoch + 1, spent);
  m->label = _("Show in Files");
  m->action = "train.show-files";
}

static void stopped(const TmSnapshot *s, TmRunMessage *m) {
  m->icon = "media-playback-stop-symbolic";
  m->strong = g_strdup_printf(_("Stopped at epoch %u."), shown_epoch(s));
  m->rest = g_strdup(isnan(s->best_miou)
                         ? _("The run can go on from its last checkpoint.")
                         : _("The best weights are kept, and the run can go on from its last checkpoint."));
  m->label = _("Go On");
  m->action = "train.resume-run";
  m->other_label = _("Show in Files");
  m->other_action = "train.show-files";
}

void tm_run_message(const TmSnapshot *s, TmRunMessage *m) {
  *m = (TmRunMessage){.kind = TM_NOTICE_INFO};
  switch (s->state) {
  case TM_STATE_PAUSED:
    m->icon = "media-playback-pause-symbolic";
    m->strong = g_strdup_printf(_("Paused at epoch %u, step %u of %u."), shown_epoch(s), s->step, s->steps);
    m->rest = g_strdup(s->parked ? _("The device's memory is free for others; the run is kept bit for bit.")
                                 : _("The run is kept bit for bit."));
    m->label = _("Go On");
    m->action = "train.go";
    break;
  case TM_STATE_FINISHED:
    finished(s, m);
    break;
  case TM_STATE_STOPPED:
    stopped(s, m);
    break;
  case TM_STATE_FAILED:
    m->kind = TM_NOTICE_ERROR;
    if (s->lost) {
      m->strong = g_strdup(s->device_uuid ? _("The GPU does not answer any more.") : _("The device does not answer any more."));
      m->rest = g_strdup(s->error);
      m->label = _("Go On on the CPU");
      m->action = "train.resume-cpu";
      m->other_label = _("Stop and Save");
      m->other_action = "train.new";
      break;
    }
    m->strong = g_strdup(_("Training failed."));
    m->rest = g_strdup(s->error ? s->error : _("No reason was given."));
    if (s->total_step > 0) {
      m->label = _("Halve the Rate and Go On");
      m->action = "train.resume-halved";
    }
    break;
  default:
    break;
  }
}

void tm_run_message_clear(TmRunMessage *m) {
  g_clear_pointer(&m->strong, g_free);
  g_clear_pointer(&m->rest, g_free);
}

char *tm_run_badge(const TmSnapshot *s) {
  if (s->state == TM_STATE_IDLE || s->state == TM_STATE_PREPARING || s->state == TM_STATE_FAILED) return NULL;
  guint done = s->state == TM_STATE_FINISHED ? s->epoch : shown_epoch(s);
  return g_strdup_printf("%u/%u", MIN(done, s->epochs), s->epochs);
}
