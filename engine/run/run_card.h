/* run_card.h: what a person has written on a run (card.json in its folder: title, note, star), which leaves the folder's name alone; and
 * runs put aside, so that they can come back. Any thread. */
#pragma once

#include "engine/core/error.h"

/** Each may be NULL. @title is NULL where there is none, @note then "". Free them. */
void tm_run_card_read(const char *run, char **title, char **note, gboolean *star);
/** Keeps them; an empty or NULL title is the folder's name again. */
gboolean tm_run_card_write(const char *run, const char *title, const char *note, gboolean star, GError **error);

/** Puts the run at @path aside. */
gboolean tm_run_remove(const char *path, GError **error);
/** Takes it back to @path. */
gboolean tm_run_restore(const char *path, GError **error);
/** Deletes for good what was put aside under @root. */
void tm_run_purge(const char *root);
