/* look_window.h: one picture in large: as it is, as the network sees it, as it truly is, where they differ, and the same
 * of a second network. Main thread. */
#pragma once

#include <gtk/gtk.h>

#include "app/evaluator.h"

/** Shows picture @entry over @parent until Escape. @other: a second network, named @other_name, or NULL. */
void tm_look_window_show(GtkWindow *parent, TmEvaluator *e, TmDataset *d, guint entry, const char *network,
                         const guint8 *match, const char *other, const char *other_name);
