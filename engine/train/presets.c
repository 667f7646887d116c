#include <glib/gi18n.h>

#include "engine/train/settings.h"

typedef struct {
  const char *key, *value;
} Change;

typedef struct {
  const char *name, *text;
  const char *parent; /* another preset whose changes come first, or NULL */
  const Change *changes;
} Preset;

/* Whole demo pictures and a narrow net: a step takes a fraction of a second on two cores. A short warm-up and
 * a rate that stays high for long show a recognisable mask after some fifty steps. */
static const Change quick[] = {
    {"base", "8"},          {"depth", "4"},   {"batch", "4"},
    {"crop", "0"},          {"epochs", "30"}, {"class_weights", "sqrt"},
    {"optimizer", "adamw"}, {"lr", "0.005"},  {"schedule", "cosine"},
    {"warmup", "0.02"},     {"flip", "0.5"},  {"brightness", "0.2"},
    {"offset", "20"},       {NULL, NULL},
};

/* The reference recipe for CamVid, number for number: engine and peer are compared by it. */
static const Change camvid[] = {
    {"base", "32"},
    {"depth", "4"},
    {"upsampling", "transposed"},
    {"batch_norm", "true"},
    {"dropout", "0"},
    {"epochs", "12"},
    {"batch", "8"},
    {"crop", "320"},
    {"loss", "cross-entropy"},
    {"class_weights", "sqrt"},
    {"optimizer", "adamw"},
    {"lr", "0.003"},
    {"weight_decay", "0.01"},
    {"schedule", "one-cycle"},
    {"warmup", "0.15"},
    {"clip", "0"},
    {"ema", "0"},
    {"stop_after", "0"},
    {"scale_min", "0.75"},
    {"scale_max", "1.5"},
    {"flip", "0.5"},
    {"rotate", "0"},
    {"brightness", "0.2"},
    {"offset", "20"},
    {"contrast", "0"},
    {"saturation", "0"},
    {"hue", "0"},
    {NULL, NULL},
};

/* The same recipe with the paper's width, for a GPU or a long night: more epochs and an average of the
 * weights. */
static const Change road64[] = {
    {"base", "64"},      {"epochs", "200"},     {"ema", "0.999"}, {"rotate", "3"},
    {"contrast", "0.2"}, {"saturation", "0.2"}, {NULL, NULL},
};

static const Preset presets[] = {
    {"quick", N_("Small and quick: shows something within a minute on any computer"), NULL, quick},
    {"camvid", N_("Road 32: the reference recipe for CamVid, about an hour on two cores for good results"),
     NULL, camvid},
    {"road64", N_("Road 64: the paper's width, for a GPU or a long run"), "camvid", road64},
};

static const Preset *find(const char *name) {
  for (guint i = 0; name && i < G_N_ELEMENTS(presets); i++)
    if (g_str_equal(presets[i].name, name)) return &presets[i];
  return NULL;
}

const char *const *tm_settings_presets(void) {
  static const char *names[G_N_ELEMENTS(presets) + 1];
  static gsize once;
  if (g_once_init_enter(&once)) {
    for (guint i = 0; i < G_N_ELEMENTS(presets); i++) names[i] = presets[i].name;
    g_once_init_leave(&once, 1);
  }
  return names;
}

const char *tm_settings_preset_text(const char *name) {
  const Preset *p = find(name);
  return p ? p->text : NULL;
}

static gboolean apply(TmSettings *s, const Preset *p, GError **error) {
  if (p->parent && !apply(s, find(p->parent), error)) return FALSE;
  for (const Change *c = p->changes; c->key; c++)
    if (!tm_settings_set(s, c->key, c->value, error)) return FALSE;
  return TRUE;
}

gboolean tm_settings_preset(TmSettings *s, const char *name, GError **error) {
  const Preset *p = find(name);
  if (!p) {
    g_autofree char *all = g_strjoinv(", ", (char **)tm_settings_presets());
    g_set_error(error, TM_ERROR, TM_ERROR_SETTING, _("There is no preset “%s”. There are: %s."),
                name ? name : "", all);
    return FALSE;
  }
  return apply(s, p, error);
}
