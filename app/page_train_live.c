/* What is changed on the Train page while a run goes on. */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "app/live_changes.h"
#include "app/page_train_private.h"
#include "engine/train/schedule.h"
#include "engine/train/steer.h"

static guint64 place_of(const TmSnapshot *s) { return (guint64)s->epoch * s->steps + s->step; }
static guint64 places_of(const TmSnapshot *s) { return (guint64)s->epochs * s->steps; }

void tm_page_train_change(TmPageTrain *p, const char *key, const char *to) {
  if (!p->run || !tm_live_run_alive(p->run)) return;
  if (strcmp(key, "rate") != 0) {
    tm_live_run_change(p->run, key, to, FALSE);
    return;
  }
  const TmSnapshot *s = tm_live_run_snapshot(p->run);
  const double factor = tm_live_changes_factor(&s->settings, place_of(s), places_of(s), g_ascii_strtod(to, NULL));
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  if (isfinite(factor))
    tm_live_run_change(p->run, TM_RATE_FACTOR, g_ascii_formatd(text, sizeof text, "%.4g", factor), FALSE);
}

/* What waits is taken back first. */
void tm_page_train_undo(TmPageTrain *p) {
  if (!p->run || !tm_live_run_alive(p->run)) return;
  const TmSnapshot *s = tm_live_run_snapshot(p->run);
  if (s->next_batch) {
    g_autofree char *now = g_strdup_printf("%d", s->settings.batch);
    tm_live_run_change(p->run, "batch", now, TRUE);
    return;
  }
  g_autoptr(GPtrArray) all = tm_live_run_changes(p->run), groups = tm_live_changes_standing(all);
  if (groups->len == 0) return;
  const GPtrArray *last = groups->pdata[groups->len - 1];
  for (guint i = last->len; i-- > 0;) {
    const TmChange *c = last->pdata[i];
    tm_live_run_change(p->run, c->key, c->from, TRUE);
  }
}

static void show_marks(TmPageTrain *p, const GPtrArray *all) {
  g_autoptr(GPtrArray) marks = tm_live_changes_marks(all);
  tm_curves_clear_marks(p->curves);
  for (guint i = 0; i < marks->len; i++) {
    const GPtrArray *group = marks->pdata[i];
    g_autofree char *words = tm_live_changes_words(group);
    tm_curves_mark(p->curves, (double)((TmChange *)group->pdata[0])->step, words);
  }
}

/* "rate ÷ 2 at step 120" */
static char *last_words(const GPtrArray *standing) {
  if (standing->len == 0) return NULL;
  const GPtrArray *last = standing->pdata[standing->len - 1];
  g_autofree char *words = tm_live_changes_words(last);
  return g_strdup_printf(_("%s at step %" G_GUINT64_FORMAT), words, ((TmChange *)last->pdata[0])->step);
}

void tm_page_train_refresh_live(TmPageTrain *p, const TmSnapshot *s) {
  const gboolean alive = p->run && tm_live_run_alive(p->run);
  GAction *undo = g_action_map_lookup_action(G_ACTION_MAP(p->actions), "undo");
  gtk_widget_set_visible(GTK_WIDGET(p->live), alive);
  if (s && s->n_changes != p->shown_changes) {
    p->shown_changes = s->n_changes;
    g_autoptr(GPtrArray) all = tm_live_run_changes(p->run), standing = tm_live_changes_standing(all);
    g_autofree char *note = last_words(standing);
    show_marks(p, all);
    p->standing = standing->len;
    tm_live_settings_set_note(p->live, note, standing->len);
  }
  g_simple_action_set_enabled(G_SIMPLE_ACTION(undo), alive && (p->standing > 0 || s->next_batch > 0));
  if (alive)
    tm_live_settings_show(p->live, &s->settings,
                          s->steps ? tm_schedule_lr(&s->settings, place_of(s), places_of(s)) * s->lr_factor : NAN,
                          s->lr_factor, s->next_batch, s->steps ? s->share : NAN);
}
