/* welcome.h: what there is before a dataset is open: a place to drop one, the demo roads, and the projects
 * opened last. Main thread. */
#pragma once

#include <adwaita.h>

#include "engine/monitor/monitor.h"

#define TM_TYPE_WELCOME (tm_welcome_get_type())
G_DECLARE_FINAL_TYPE(TmWelcome, tm_welcome, TM, WELCOME, GtkBox)

/* Signals: "open" (const char *path): a project or folder was chosen; "say" (const char *sentence): a project
 * left the list, which tm_welcome_undo() takes back. The buttons are win.open and win.demo. */
TmWelcome *tm_welcome_new(GMenuModel *menu);
/** Reads the list of projects again. */
void tm_welcome_refresh(TmWelcome *w);
/** Why a folder could not be opened; NULL: nothing to tell. */
void tm_welcome_set_error(TmWelcome *w, const char *sentence);
void tm_welcome_set_machine(TmWelcome *w, const TmMachine *m);
/** Puts the project that left the list last back. */
void tm_welcome_undo(TmWelcome *w);
/** A project is open behind it. */
void tm_welcome_set_can_go_back(TmWelcome *w, gboolean can);
