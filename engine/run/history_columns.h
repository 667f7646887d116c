/* history_columns.h: bringing the rows of a history that another version of the program began under the columns of
 * this one. Private to engine/run. Pure; any thread. */
#pragma once

#include <glib.h>

typedef struct _TmColumns TmColumns;

/** @from, @to: header lines without their ends. NULL when they are the same. Columns are known by their names; those
 * that @to lacks are lost, those that @from lacks stay empty. */
TmColumns *tm_columns_new(const char *from, const char *to);
void tm_columns_free(TmColumns *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmColumns, tm_columns_free)

/** @row, a line without its end, under the new columns; NULL when it has not one cell for each old one. Free it. */
char *tm_columns_move(const TmColumns *c, const char *row);

/** The cells of a line without its end, unquoted (RFC 4180): a GPtrArray of char *, which owns them. */
GPtrArray *tm_columns_cells(const char *line);
