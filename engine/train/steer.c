/* steer.c: settings changed while a run goes on. A change holds from a step on that is written down, so that the run's bits can be made
 * again: batches that were prepared ahead are made anew, and another batch begins with an epoch. */
#include "engine/train/steer.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "engine/train/session.h"

/* ---- what follows from a setting ---- */

static gboolean nothing(TmSession *s, GError **error) {
  (void)s;
  (void)error;
  return TRUE;
}

static gboolean weigh(TmSession *s, GError **error) {
  return tm_scan_weights(s->scan, tm_dataset_classes(s->data), s->settings->class_weights, s->class_weights, error) &&
         (s->parked || tm_session_write_weights(s, error));
}

static gboolean augment(TmSession *s, GError **error) {
  if (s->settings->scale_min <= s->settings->scale_max) return tm_session_open_loader(s, error);
  g_set_error_literal(error, TM_ERROR, TM_ERROR_SETTING,
                      _("The smallest zoom (scale_min) is larger than the largest (scale_max)."));
  return FALSE;
}

static gboolean split(TmSession *s, GError **error) {
  int part;
  return s->parked ? tm_session_part(s->settings, &part, error) : tm_session_build(s, error);
}

/* Epochs have another number of steps from here on: those made stay made. */
static gboolean batch(TmSession *s, GError **error) {
  const guint before = s->steps;
  if (!split(s, error) || !tm_session_open_loader(s, error)) return FALSE;
  s->at.ahead += (gint64)s->at.epoch * ((gint64)before - s->steps);
  return TRUE;
}

typedef struct {
  const char *key;
  gboolean (*apply)(TmSession *s, GError **error);
} Way;

static const Way ways[] = {
    {"lr", nothing},          {"schedule", nothing},     {"warmup", nothing},   {"step_epochs", nothing},
    {"step_factor", nothing}, {"poly_power", nothing},   {"clip", nothing},     {"weight_decay", nothing},
    {"momentum", nothing},    {"stop_after", nothing},   {"epochs", nothing},   {"class_weights", weigh},
    {"scale_min", augment},   {"scale_max", augment},    {"flip", augment},     {"rotate", augment},
    {"brightness", augment},  {"offset", augment},       {"contrast", augment}, {"saturation", augment},
    {"hue", augment},         {"accumulate", split},     {"batch", batch},
};

static const Way *way_of(const char *key) {
  for (guint i = 0; i < G_N_ELEMENTS(ways); i++)
    if (strcmp(ways[i].key, key) == 0) return &ways[i];
  return NULL;
}

gboolean tm_steerable(const char *key) { return strcmp(key, TM_RATE_FACTOR) == 0 || way_of(key) != NULL; }

/* ---- one change ---- */

gboolean tm_session_record(TmSession *s, const char *key, const char *from, const char *to, gboolean undo, TmChange **made,
                       GError **error) {
  g_autoptr(TmChange) c = tm_change_new(tm_session_total(s), key, from, to, undo);
  const gboolean kept = !s->run || tm_run_add_change(s->run, tm_change_to_json(c), error);
  if (made) *made = g_steal_pointer(&c);
  return kept;
}

static gboolean change_rate(TmSession *s, const char *to, gboolean undo, TmChange **made, GError **error) {
  char *end = NULL, from[G_ASCII_DTOSTR_BUF_SIZE];
  const double factor = g_ascii_strtod(to, &end);
  if (end == to || *end || !isfinite(factor) || factor < 0) {
    g_set_error(error, TM_ERROR, TM_ERROR_SETTING, _("The learning rate cannot be multiplied by “%s”."), to);
    return FALSE;
  }
  if (factor == s->at.lr_factor) return TRUE;
  g_ascii_dtostr(from, sizeof from, s->at.lr_factor);
  s->at.lr_factor = factor;
  return tm_session_record(s, TM_RATE_FACTOR, from, to, undo, made, error);
}

/* Sets and does what follows; goes back to how it was when that fails. */
static gboolean apply(TmSession *s, const Way *way, const TmSettings *next, GError **error) {
  const TmSettings before = s->now;
  const TmPosition at = s->at;
  s->now = *next;
  if (way->apply(s, error)) return TRUE;
  s->now = before;
  s->at = at;
  way->apply(s, NULL); /* it stood before */
  s->at = at;
  return FALSE;
}

gboolean tm_session_change(TmSession *s, const char *key, const char *to, gboolean undo, TmChange **made, GError **error) {
  if (strcmp(key, TM_RATE_FACTOR) == 0) return change_rate(s, to, undo, made, error);
  const Way *way = way_of(key);
  if (!way) {
    g_set_error(error, TM_ERROR, TM_ERROR_SETTING, _("“%s” is fixed for a run and cannot be changed on its way."), key);
    return FALSE;
  }
  TmSettings next = s->now;
  if (!tm_settings_set(&next, key, to, error)) return FALSE;
  if (way->apply == batch) {
    s->next_batch = next.batch == s->now.batch ? 0 : next.batch;
    int part;
    if (!tm_session_part(&next, &part, error)) {
      s->next_batch = 0;
      return FALSE;
    }
    if (s->at.step > 0) return TRUE;
    s->next_batch = 0;
  }
  g_autofree char *from = tm_settings_get(&s->now, key), *value = tm_settings_get(&next, key);
  if (strcmp(from, value) == 0) return TRUE;
  return apply(s, way, &next, error) && tm_session_record(s, key, from, value, undo, made, error);
}

gboolean tm_session_change_waiting(TmSession *s, TmChange **made, GError **error) {
  if (s->next_batch == 0 || s->at.step > 0) return TRUE;
  g_autofree char *to = g_strdup_printf("%d", s->next_batch);
  return tm_session_change(s, "batch", to, FALSE, made, error);
}

/* ---- resuming ---- */

/* How the machine is used leaves the numbers alone. */
static gboolean of_machine(const char *key) {
  static const char *const keys[] = {"threads", "loader_threads", "picture_cache", "memory_limit", "device", NULL};
  return g_strv_contains(keys, key);
}

/* What the run's files say holds now. */
static void told(TmSession *s, TmSettings *settings, double *factor) {
  g_autoptr(GPtrArray) changes = tm_run_read_changes(tm_run_path(s->run));
  tm_settings_defaults(settings);
  tm_settings_from_json(settings, s->begun, NULL);
  *factor = 1;
  for (guint i = 0; i < changes->len; i++) {
    const TmChange *c = changes->pdata[i];
    if (strcmp(c->key, TM_RATE_FACTOR) == 0)
      *factor = g_ascii_strtod(c->to, NULL);
    else
      tm_settings_set(settings, c->key, c->to, NULL);
  }
}

gboolean tm_session_record_differences(TmSession *s, GError **error) {
  guint n;
  TmSettings was;
  double factor;
  const TmOption *options = tm_options(&n);
  told(s, &was, &factor);
  if (factor != s->at.lr_factor) {
    char from[G_ASCII_DTOSTR_BUF_SIZE], to[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_dtostr(from, sizeof from, factor);
    g_ascii_dtostr(to, sizeof to, s->at.lr_factor);
    if (!tm_session_record(s, TM_RATE_FACTOR, from, to, FALSE, NULL, error)) return FALSE;
  }
  for (guint i = 0; i < n; i++) {
    const char *key = options[i].key;
    g_autofree char *from = tm_settings_get(&was, key), *to = tm_settings_get(s->settings, key);
    if (of_machine(key) || strcmp(from, to) == 0) continue;
    if (!tm_session_record(s, key, from, to, FALSE, NULL, error)) return FALSE;
  }
  return TRUE;
}
