/* proc.h: small readers of the kernel's text files. Private to monitor. Any thread. */
#pragma once

#include <glib.h>

/** The text of @path below @root ("" for this machine), or NULL. Free it. */
char *tm_proc_text(const char *root, const char *path);
/** The same without blanks at its end: for files of one line. */
char *tm_proc_line(const char *root, const char *path);
/** The number after "@key" at the beginning of a line of @text (NULL: no text). */
gboolean tm_proc_number(const char *text, const char *key, guint64 *out);
/** What stands behind the colon of the first line of @text that begins with @key, without blanks; NULL when there is none. Free it. */
char *tm_proc_field(const char *text, const char *key);
