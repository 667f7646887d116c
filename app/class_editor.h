/* class_editor.h: a window in which the classes of the project are named, coloured, merged and made void. Nothing of it reaches the masks. Main thread. */
#pragma once

#include <adwaita.h>

#include "app/project.h"

void tm_class_editor_present(GtkWindow *parent, TmProject *project);
