/* class_guess.h: the class table of a dataset that comes without one, from its colour file or its masks.
 * Private to data. */
#pragma once

#include "engine/data/layout.h"

/** Looks at a few masks (all of them in a small dataset) and at the dataset's colour file. Never fails for a
 * single bad mask; TM_ERROR_DATA when no mask can be read, the colour file is wrong, or the values are too
 * many to be classes. Adds a note where the choice needs to be seen. */
TmClassTable *tm_class_guess(TmLayout *l, GError **error);

/** As tm_class_table_read_colours(), for index masks beside a colour file: the value of a class is its line's
 * number among the lines, from 0. */
TmClassTable *tm_class_table_read_names(const char *path, GError **error);
