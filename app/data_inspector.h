/* data_inspector.h: one picture in large: its mask, the value under the pointer, shares by class, what was found about it, the picture it looks like,
 * and what a person may do with it. Main thread. */
#pragma once

#include <adwaita.h>

#include "app/project.h"

#define TM_TYPE_DATA_INSPECTOR (tm_data_inspector_get_type())
G_DECLARE_FINAL_TYPE(TmDataInspector, tm_data_inspector, TM, DATA_INSPECTOR, GtkBox)

/* Signals: "go" (int by): the next or an earlier picture is wanted; "overlay" (double): another opacity of the mask, 0..1; "read" (): another picture
 * is on the screen. */
TmDataInspector *tm_data_inspector_new(TmProject *project);
/** Shows @entry of the project's dataset; it is read on a thread. */
void tm_data_inspector_show(TmDataInspector *i, guint entry);
/** The one shown; G_MAXUINT: none. */
guint tm_data_inspector_entry(TmDataInspector *i);
/** The picture read for it, borrowed until the next "read"; empty until then. */
TmSample tm_data_inspector_sample(TmDataInspector *i);
/** Keys that act on the picture wherever the focus is on the page: [ ] overlay, o only this class, Shift+o all, Delete leaves out, c compares,
 * 0-9 - = classes. TRUE when it was one. */
gboolean tm_data_inspector_key(TmDataInspector *i, guint key, GdkModifierType state);
