#include "ui/main_call.h"

void tm_main_call(GMainContext *context, int priority, GSourceFunc call, gpointer data,
                  GDestroyNotify destroy) {
  g_autoptr(GSource) source = g_idle_source_new();
  g_source_set_priority(source, priority);
  g_source_set_callback(source, call, data, destroy);
  g_source_attach(source, context);
}
