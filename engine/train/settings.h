/* settings.h: every setting of a run, from one table (options.def). The command line's options, the window's form, run.json and the
 * help text all follow from it. Plain data; any thread. */
#pragma once

#include <json-glib/json-glib.h>

#include "engine/core/error.h"

typedef enum { TM_OPTION_INT, TM_OPTION_FLOAT, TM_OPTION_BOOL, TM_OPTION_CHOICE, TM_OPTION_TEXT } TmOptionType;

typedef struct {
#define TM_INT(field, def, lo, hi, group, label, help) int field;
#define TM_FLOAT(field, def, lo, hi, group, label, help) double field;
#define TM_BOOL(field, def, group, label, help) gboolean field;
#define TM_CHOICE(field, def, choices, group, label, help) const char *field; /* one of the choices, static */
#define TM_TEXT(field, def, pattern, example, group, label, help) const char *field; /* interned */
#include "engine/train/options.def"
#undef TM_INT
#undef TM_FLOAT
#undef TM_BOOL
#undef TM_CHOICE
#undef TM_TEXT
} TmSettings;

typedef struct {
  const char *key;      /* "lr_max": JSON key; the command line writes --lr-max */
  TmOptionType type;
  double def, lo, hi;   /* INT and FLOAT; BOOL: def */
  const char *const *choices; /* CHOICE: names, NULL-terminated; the first is not special */
  const char *def_choice; /* TEXT too */
  const char *pattern;  /* TEXT: a regular expression */
  const char *example;  /* TEXT */
  const char *group;    /* N_("Network"): the form's sections, in order of appearance */
  const char *label;    /* N_("Base width") */
  const char *help;     /* N_(): one or two sentences with a rule of thumb */
  gsize offset;         /* of the field in TmSettings */
} TmOption;

/** The table; @n receives its length. Static. */
const TmOption *tm_options(guint *n);
const TmOption *tm_option_find(const char *key);

void tm_settings_defaults(TmSettings *s);
/** Applies a preset by name: "quick" (small and quick, for the demo roads), "camvid" (the reference recipe: one-cycle AdamW to 3e-3, square root of
 * clipped median-frequency weights, scale 0.75-1.5, flip, brightness, crop 320, batch 8, base 32), "road64". TM_ERROR_SETTING lists the names. */
gboolean tm_settings_preset(TmSettings *s, const char *name, GError **error);
/** Names and one-line descriptions (N_()) of presets, NULL-terminated. */
const char *const *tm_settings_presets(void);
const char *tm_settings_preset_text(const char *name);

/** Sets one from text ("32", "0.003", "true", "adamw"), checked against range and choices. TM_ERROR_SETTING says what is allowed. */
gboolean tm_settings_set(TmSettings *s, const char *key, const char *text, GError **error);
/** Text of one; free it. */
char *tm_settings_get(const TmSettings *s, const char *key);
JsonNode *tm_settings_to_json(const TmSettings *s);
/** Unknown keys are left alone (older or newer files); values out of range are errors. Missing keys keep what @s holds. */
gboolean tm_settings_from_json(TmSettings *s, JsonNode *node, GError **error);
