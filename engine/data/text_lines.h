/* text_lines.h: the lines of a small text file, whoever wrote it. Private to data. */
#pragma once

#include <glib.h>

/** Lines as owned char*, without their ends (LF, CRLF, CR), byte order mark and trailing blanks; made valid
 * UTF-8 nowhere, since they may be file names. An unended last line counts. An empty file has no lines.
 * TM_ERROR_FILE or TM_ERROR_DATA names the file. */
GPtrArray *tm_text_lines_read(const char *path, GError **error);
