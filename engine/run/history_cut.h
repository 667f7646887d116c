/* history_cut.h: reading a run's histories back and cutting them where a resumed run takes over. Private to
 * engine/run. Any thread. */
#pragma once

#include "engine/run/history.h"

/** Cuts steps.csv, history.csv (rows with step >= @step) and steering.jsonl (changes after @step) of the run
 * at @path, and whatever half or damaged line a killed process left. Rows under another version's columns
 * are brought under this one's (history_columns.h). A file that needs nothing is not touched; the others are replaced
 * atomically. */
gboolean tm_history_cut(const char *path, guint64 step, GError **error);
/** @name as a file name's part: separators, control characters and leading dots become "_", at most @most
 * bytes, whole characters. Free it. */
char *tm_run_safe_name(const char *name, gsize most);
