#include "engine/data/text_lines.h"

#include <glib/gi18n.h>
#include <string.h>

#include "engine/data/file_bytes.h"

enum { LARGEST_LIST = 256 << 20 };

GPtrArray *tm_text_lines_read(const char *path, GError **error) {
  g_auto(TmFileBytes) b = {0};
  if (!tm_file_bytes_read(path, &b, error)) return NULL;
  g_autofree char *name = g_filename_display_name(path);
  if (b.size > LARGEST_LIST || memchr(b.data, 0, b.size)) {
    g_set_error(error, TM_ERROR, TM_ERROR_DATA, _("“%s” is not a text file. Save it as plain text (UTF-8)."),
                name);
    return NULL;
  }
  GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
  const char *p = (const char *)b.data, *end = p + b.size;
  if (b.size >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) p += 3;
  while (p < end) {
    const char *stop = p;
    while (stop < end && *stop != '\n' && *stop != '\r') stop++;
    g_ptr_array_add(lines, g_strchomp(g_strndup(p, (gsize)(stop - p))));
    if (stop + 1 < end && stop[0] == '\r' && stop[1] == '\n') stop++;
    p = stop + 1;
  }
  return lines;
}
