/* application.h: the studio as an application: windows, shortcuts, About, and a clean end when the system
 * asks for one. Main thread. */
#pragma once

#include <adwaita.h>

#define TM_TYPE_APPLICATION (tm_application_get_type())
G_DECLARE_FINAL_TYPE(TmApplication, tm_application, TM, APPLICATION, AdwApplication)

TmApplication *tm_application_new(void);
