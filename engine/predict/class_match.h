/* class_match.h: which class of the data each class of a net means, where the two tables differ. Pure; any
 * thread. */
#pragma once

#include "engine/data/class_table.h"

enum { TM_NO_MATCH = 255 };

/** Fills @match, one of @data's classes or TM_NO_MATCH for each of @net's, by their names, case and blanks aside.
 * Returns how many have no match. */
guint tm_class_match_by_name(const TmClassTable *net, const TmClassTable *data, guint8 *match);
/** Names, separated by commas, of the classes of @data that no class of the net means; NULL: none. Free it. */
char *tm_class_match_unknown(const TmClassTable *data, const guint8 *match, guint n);
