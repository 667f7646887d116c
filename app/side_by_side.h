/* side_by_side.h: a window with two pictures in large: one with and without its mask, or one and another that looks like it. Main thread. */
#pragma once

#include <adwaita.h>

#include "engine/data/dataset.h"

/** @other G_MAXUINT: @entry without and with its mask. */
void tm_side_by_side_present(GtkWindow *parent, TmDataset *d, guint entry, guint other);
