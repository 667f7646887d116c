#include "engine/run/log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "engine/run/atomic.h"
#include "engine/run/file_ops-private.h"

enum { WAITING_MOST = 64 << 10 };
static const gint64 wait_longest = 2 * G_USEC_PER_SEC;

struct _TmLogFile {
  char *path;
  int fd;
  gint64 size; /* of whole records in the file */
  GString *waiting;
  gint64 flushed; /* g_get_monotonic_time() */
};

TmLogFile *tm_log_file_open(const char *path, GError **error) {
  const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  const gint64 size = fd >= 0 ? lseek(fd, 0, SEEK_END) : -1;
  if (size < 0) {
    tm_write_error(error, errno, path, 0);
    if (fd >= 0) close(fd);
    return NULL;
  }
  TmLogFile *f = g_new0(TmLogFile, 1);
  *f = (TmLogFile){.path = g_strdup(path),
                   .fd = fd,
                   .size = size,
                   .waiting = g_string_new(NULL),
                   .flushed = g_get_monotonic_time()};
  return f;
}

void tm_log_file_close(TmLogFile *f) {
  if (!f) return;
  tm_log_file_flush(f, FALSE, NULL);
  close(f->fd);
  g_string_free(f->waiting, TRUE);
  g_free(f->path);
  g_free(f);
}

gboolean tm_log_file_is_empty(const TmLogFile *f) {
  return f->size == 0 && f->waiting->len == 0;
}

gboolean tm_log_file_add(TmLogFile *f, const void *record, gsize size, GError **error) {
  g_string_append_len(f->waiting, record, (gssize)size);
  if (f->waiting->len < WAITING_MOST && g_get_monotonic_time() - f->flushed < wait_longest) return TRUE;
  return tm_log_file_flush(f, FALSE, error);
}

gboolean tm_log_file_flush(TmLogFile *f, gboolean sync, GError **error) {
  f->flushed = g_get_monotonic_time();
  if (f->waiting->len > 0) {
    if (tm_write_at(f->fd, f->waiting->str, f->waiting->len, f->size) != 0) {
      const int code = errno;
      /* If even this fails the next write starts at the same place and covers the half record. */
      if (ftruncate(f->fd, f->size) != 0) g_debug("%s: not cut back: %s", f->path, g_strerror(errno));
      tm_write_error(error, code, f->path, f->waiting->len);
      return FALSE;
    }
    f->size += (gint64)f->waiting->len;
    g_string_truncate(f->waiting, 0);
  }
  if (sync && tm_file_ops.fsync(f->fd) != 0 && errno != EINVAL) {
    tm_write_error(error, errno, f->path, 0);
    return FALSE;
  }
  return TRUE;
}
