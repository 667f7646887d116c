/* main_call.h: from a worker thread to the thread that owns the widgets. */
#pragma once

#include <glib.h>

/** Has @call run by whoever iterates @context (NULL: the main loop), never on the calling thread, not even
 * when nobody iterates it at the moment, which is where g_main_context_invoke() would run it at once.
 * @destroy frees @data afterwards. Any thread. */
void tm_main_call(GMainContext *context, int priority, GSourceFunc call, gpointer data,
                  GDestroyNotify destroy);
