#include "engine/data/file_bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Larger than any picture within the pixel limit needs to be; keeps sizes within what the decoders count in.
 */
#define LARGEST_FILE ((gint64)G_MAXINT32)

void tm_file_bytes_clear(TmFileBytes *b) {
  g_free(b->data);
  *b = (TmFileBytes){0};
}

static void set_read_error(const char *path, int code, GError **error) {
  g_autofree char *name = g_filename_display_name(path);
  g_set_error(error, TM_ERROR, TM_ERROR_FILE, _("“%s” cannot be read: %s."), name, g_strerror(code));
}

/* What fstat says must be right before a byte is allocated. */
static gboolean check_stat(const char *path, const struct stat *st, GError **error) {
  g_autofree char *name = g_filename_display_name(path);
  if (!S_ISREG(st->st_mode)) {
    g_set_error(error, TM_ERROR, TM_ERROR_FILE, _("“%s” is a folder or a device, not a file."), name);
    return FALSE;
  }
  if (st->st_size == 0) {
    g_set_error(error, TM_ERROR, TM_ERROR_DATA, _("“%s” is empty (0 bytes). Copy it again from its source."),
                name);
    return FALSE;
  }
  if (st->st_size > LARGEST_FILE) {
    g_set_error(error, TM_ERROR, TM_ERROR_DATA,
                _("“%s” has %.1f GB; files up to %.1f GB are read. Cut it into tiles."), name,
                (double)st->st_size / 1e9, (double)LARGEST_FILE / 1e9);
    return FALSE;
  }
  return TRUE;
}

static gboolean read_all(int fd, const char *path, gsize size, TmFileBytes *out, GError **error) {
  guint8 *data = g_try_malloc(size);
  if (!data) {
    g_autofree char *name = g_filename_display_name(path);
    g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY, _("There is no memory to read “%s” (%.1f MB)."), name,
                (double)size / 1e6);
    return FALSE;
  }
  gsize n = 0;
  while (n < size) {
    const gssize got = read(fd, data + n, size - n);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      set_read_error(path, errno, error);
      g_free(data);
      return FALSE;
    }
    if (got == 0) break; /* cut while it was read: the decoder will say so */
    n += (gsize)got;
  }
  *out = (TmFileBytes){.data = data, .size = n};
  return TRUE;
}

gboolean tm_file_bytes_read(const char *path, TmFileBytes *out, GError **error) {
  /* Without O_NONBLOCK opening a named pipe would wait for a writer for ever. */
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    set_read_error(path, errno, error);
    return FALSE;
  }
  struct stat st;
  gboolean ok = FALSE;
  if (fstat(fd, &st) != 0)
    set_read_error(path, errno, error);
  else
    ok = check_stat(path, &st, error) && read_all(fd, path, (gsize)st.st_size, out, error);
  close(fd);
  return ok;
}

gboolean tm_file_bytes_changed(const char *path, const TmFileBytes *first) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return FALSE;
  posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED); /* or the page cache would give the same bytes again */
  close(fd);
  g_auto(TmFileBytes) second = {0};
  if (!tm_file_bytes_read(path, &second, NULL)) return FALSE;
  return second.size != first->size || memcmp(second.data, first->data, first->size) != 0;
}
