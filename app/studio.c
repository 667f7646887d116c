#include "app/studio.h"

#include <gtk/gtk.h>
#include <stdio.h>
#include <unistd.h>

#include "app/application.h"

int tm_studio_run(int argc, char **argv) {
  gtk_disable_setlocale(); /* main has set it: numbers keep their point */
  TmApplication *app = tm_application_new();
  const int code = g_application_run(G_APPLICATION(app), argc, argv);
  g_object_unref(app);
  /* Threads that plan or read pictures for a window that is gone may still be at work, and libraries (oneDNN) would take
   * away under them what their destructors free. Whatever had to be kept is written by now. */
  fflush(NULL);
  _exit(code);
}
