/* setting_options.h: the table of settings as options of the command line: field lr_max becomes --lr-max. */
#pragma once

#include "engine/train/settings.h"

typedef struct _TmSettingOptions TmSettingOptions;

TmSettingOptions *tm_setting_options_new(void);
void tm_setting_options_free(TmSettingOptions *o);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmSettingOptions, tm_setting_options_free)

/** One option group per section of the form, NULL-terminated; the array is @o's, the groups are the option
 * context's once added. */
GOptionGroup **tm_setting_options_groups(TmSettingOptions *o);
/** Applies what was given, in the order given; after the preset, so that an option wins over it. */
gboolean tm_setting_options_apply(const TmSettingOptions *o, TmSettings *s, GError **error);
/** Did the user give any of the settings? */
gboolean tm_setting_options_given(const TmSettingOptions *o);
/** Prints what the table says of --@name. */
gboolean tm_setting_explain(const char *name, GError **error);
