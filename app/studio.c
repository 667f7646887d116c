#include "app/studio.h"

#include <gtk/gtk.h>

#include "app/application.h"

int tm_studio_run(int argc, char **argv) {
  gtk_disable_setlocale(); /* main has set it: numbers keep their point */
  g_autoptr(TmApplication) app = tm_application_new();
  return g_application_run(G_APPLICATION(app), argc, argv);
}
