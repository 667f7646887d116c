/* class_edit.h: changes to a class table that a person makes in the project: each gives a new table, so that
 * the old one is there to go back to. Masks stay as they are; only what their values mean changes. Any
 * thread. */
#pragma once

#include "engine/core/error.h"
#include "engine/data/class_table.h"

/** Class @from becomes part of @into, whose name, colour and written value stay. TM_ERROR_SETTING when that
 * would leave fewer than two classes, or both are one. */
TmClassTable *tm_class_table_merge(const TmClassTable *t, guint from, guint into, GError **error);
/** Class @index becomes void, with all its values. The same error. */
TmClassTable *tm_class_table_drop(const TmClassTable *t, guint index, GError **error);
/** A class of its own for @value, named @name, in the next free colour. TM_ERROR_SETTING when the table knows
 * the value or is full. */
TmClassTable *tm_class_table_give(const TmClassTable *t, gint32 value, const char *name, GError **error);
/** All colours as tm_class_default_colour() has them. */
TmClassTable *tm_class_table_safe(const TmClassTable *t);
