/* split_editor.h: a window in which the pictures are parted into training, validation and test: shares, and by drive or by chance. Main thread. */
#pragma once

#include <adwaita.h>

#include "app/project.h"

void tm_split_editor_present(GtkWindow *parent, TmProject *project);
