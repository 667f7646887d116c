/* change.h: what was changed while a run went on: a line each of its steering.jsonl,
 * {"step":120,"time":"…","change":"lr_factor","from":1.0,"to":0.5}. With run.json they say how to make the
 * run's bits again. Plain data; any thread. */
#pragma once

#include <json-glib/json-glib.h>

#include "engine/core/error.h"

typedef struct {
  guint64 step;    /* the first step it holds for */
  char *key;       /* a setting's, or "lr_factor" */
  char *from, *to; /* as tm_settings_get() writes values; @from may be "" where it is not known */
  gboolean undo;   /* it takes an earlier one back */
} TmChange;

TmChange *tm_change_new(guint64 step, const char *key, const char *from, const char *to, gboolean undo);
TmChange *tm_change_copy(const TmChange *c);
void tm_change_free(TmChange *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmChange, tm_change_free)

/** The line's object, without a time. */
JsonObject *tm_change_to_json(const TmChange *c);
/** NULL when it is none: lines by later versions may say other things. */
TmChange *tm_change_from_json(JsonNode *node);
/** All of a run's, in order; none where the file is not there or cannot be read. Free with
 * g_ptr_array_unref(). */
GPtrArray *tm_run_read_changes(const char *path);
