#include "engine/monitor/proc.h"

#include <string.h>

char *tm_proc_text(const char *root, const char *path) {
  g_autofree char *full = g_strconcat(root, path, NULL);
  char *text = NULL;
  return g_file_get_contents(full, &text, NULL, NULL) ? text : NULL;
}

char *tm_proc_line(const char *root, const char *path) {
  char *text = tm_proc_text(root, path);
  return text ? g_strchomp(text) : NULL;
}

/* The next line of @text, which may be NULL, that begins with @key. */
static const char *find_line(const char *text, const char *key) {
  for (const char *line = text; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL)
    if (g_str_has_prefix(line, key)) return line;
  return NULL;
}

gboolean tm_proc_number(const char *text, const char *key, guint64 *out) {
  const char *line = find_line(text, key);
  if (!line) return FALSE;
  char *end = NULL;
  const char *number = line + strlen(key);
  *out = g_ascii_strtoull(number, &end, 10);
  return end != number;
}

char *tm_proc_field(const char *text, const char *key) {
  const char *line = find_line(text, key);
  if (!line) return NULL;
  const gsize length = strcspn(line, "\n");
  const char *colon = memchr(line, ':', length);
  if (!colon) return NULL;
  g_autofree char *field = g_strstrip(g_strndup(colon + 1, length - (gsize)(colon + 1 - line)));
  return *field ? g_utf8_make_valid(field, -1) : NULL;
}
