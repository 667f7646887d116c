#include "app/live_changes.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "engine/train/schedule.h"
#include "engine/train/steer.h"
#include "ui/settings_form.h"

static gboolean of_augmentation(const TmChange *c) {
  const TmOption *o = tm_option_find(c->key), *hue = tm_option_find("hue");
  return o && strcmp(o->group, hue->group) == 0;
}

/* The one that @c takes back: the newest of its key. */
static guint taken_back(const GPtrArray *standing, const TmChange *c) {
  for (guint i = standing->len; i-- > 0;)
    if (strcmp(((TmChange *)standing->pdata[i])->key, c->key) == 0) return i;
  return G_MAXUINT;
}

static gboolean together(const GPtrArray *group, const TmChange *c) {
  const TmChange *first = group->pdata[0];
  return first->step == c->step && first->undo == c->undo && of_augmentation(first) && of_augmentation(c);
}

static GPtrArray *grouped(const GPtrArray *list) {
  GPtrArray *groups = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
  for (guint i = 0; i < list->len; i++) {
    GPtrArray *last = groups->len ? groups->pdata[groups->len - 1] : NULL;
    if (!last || !together(last, list->pdata[i])) {
      last = g_ptr_array_new();
      g_ptr_array_add(groups, last);
    }
    g_ptr_array_add(last, list->pdata[i]);
  }
  return groups;
}

GPtrArray *tm_live_changes_standing(const GPtrArray *all) {
  g_autoptr(GPtrArray) standing = g_ptr_array_new();
  for (guint i = 0; i < all->len; i++) {
    TmChange *c = all->pdata[i];
    const guint at = c->undo ? taken_back(standing, c) : G_MAXUINT;
    if (at != G_MAXUINT)
      g_ptr_array_remove_index(standing, at);
    else if (!c->undo)
      g_ptr_array_add(standing, c);
  }
  return grouped(standing);
}

GPtrArray *tm_live_changes_marks(const GPtrArray *all) {
  g_autoptr(GPtrArray) marks = g_ptr_array_new();
  for (guint i = 0; i < all->len; i++) {
    TmChange *c = all->pdata[i];
    const guint at = c->undo ? taken_back(marks, c) : G_MAXUINT;
    if (at != G_MAXUINT && ((TmChange *)marks->pdata[at])->step == c->step)
      g_ptr_array_remove_index(marks, at); /* it never held */
    else
      g_ptr_array_add(marks, c);
  }
  return grouped(marks);
}

static char *rate_words(const TmChange *c) {
  const double ratio = g_ascii_strtod(c->to, NULL) / g_ascii_strtod(c->from, NULL);
  g_autofree char *by = g_strdup_printf("%.3g", ratio < 1 ? 1 / ratio : ratio);
  if (!isfinite(ratio) || ratio <= 0) return g_strdup(_("rate"));
  return ratio < 1 ? g_strdup_printf(_("rate ÷ %s"), by) : g_strdup_printf(_("rate × %s"), by);
}

/* Compares what says most of how strong it is. */
static char *augmentation_words(const GPtrArray *group) {
  double up = 0;
  for (guint i = 0; i < group->len; i++) {
    const TmChange *c = group->pdata[i];
    const double by = g_ascii_strtod(c->to, NULL) - g_ascii_strtod(c->from, NULL);
    if (strcmp(c->key, "flip") == 0 && group->len == 1) return g_strdup(by > 0 ? _("flips on") : _("flips off"));
    up += strcmp(c->key, "scale_min") == 0 ? -by : by;
  }
  return g_strdup(up > 0 ? _("more augmentation") : _("less augmentation"));
}

char *tm_live_changes_words(const GPtrArray *group) {
  const TmChange *c = group->pdata[0];
  const TmOption *o = tm_option_find(c->key);
  if (c->undo) return g_strdup(_("undo"));
  if (strcmp(c->key, TM_RATE_FACTOR) == 0) return rate_words(c);
  if (of_augmentation(c)) return augmentation_words(group);
  if (strcmp(c->key, "batch") == 0) return g_strdup_printf(_("batch %s"), c->to);
  if (strcmp(c->key, "class_weights") == 0) return g_strdup_printf(_("weights: %s"), tm_settings_choice_text(c->to));
  if (strcmp(c->key, "schedule") == 0) return g_strdup_printf(_("schedule: %s"), tm_settings_choice_text(c->to));
  if (strcmp(c->key, "stop_after") == 0) return g_strdup(strcmp(c->to, "0") ? _("stops early") : _("to the end"));
  return g_strdup_printf("%s %s", o ? _(o->label) : c->key, c->to);
}

double tm_live_changes_factor(const TmSettings *s, guint64 place, guint64 places, double wanted) {
  const double rate = tm_schedule_lr(s, place, places);
  return rate > 0 && wanted >= 0 ? wanted / rate : NAN;
}
