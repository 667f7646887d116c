/* settings_form.h: a form made from the option table: presets on top, a section per group, every option with
 * the editor of its type and its help. While locked, every row shows its value and a lock. Main thread. */
#pragma once

#include <adwaita.h>

#include "engine/train/settings.h"

#define TM_TYPE_SETTINGS_FORM (tm_settings_form_get_type())
G_DECLARE_FINAL_TYPE(TmSettingsForm, tm_settings_form, TM, SETTINGS_FORM, GtkBox)

/* Signal "changed": the person changed something. */
GtkWidget *tm_settings_form_new(void);
void tm_settings_form_set(TmSettingsForm *f, const TmSettings *s);
void tm_settings_form_get(TmSettingsForm *f, TmSettings *out);
void tm_settings_form_set_locked(TmSettingsForm *f, gboolean locked);
/** What there is to choose from for the text option @key besides its default: @n values with what a person reads. Its row shows
 * once there are two or more. */
void tm_settings_form_offer(TmSettingsForm *f, const char *key, guint n, const char *const *values,
                            const char *const *labels);
/** The editor of option @key (a GtkSpinButton, GtkSwitch or GtkDropDown), for tests. */
GtkWidget *tm_settings_form_editor(TmSettingsForm *f, const char *key);
/** "AdamW" for "adamw": a choice as a person reads it. Translated, static. */
const char *tm_settings_choice_text(const char *choice);
