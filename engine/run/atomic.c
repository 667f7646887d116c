#include "engine/run/atomic.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "engine/run/file_ops-private.h"

#define PREFIX ".tarmac-"

TmFileOps tm_file_ops = {.write = write, .fsync = fsync, .rename = rename};

struct _TmAtomic {
  char *path, *folder, *temporary;
  guint64 needed;
  gint64 done;
  int fd;
};

/* The free bytes are asked for after the temporary file is gone, so "needed" and "free" can be compared. */
static void no_space(GError **error, const char *path, guint64 needed) {
  g_autofree char *folder = g_path_get_dirname(path), *shown = g_filename_display_name(folder);
  struct statvfs fs;
  const guint64 have = statvfs(folder, &fs) == 0 ? (guint64)fs.f_bavail * fs.f_frsize : 0;
  if (needed)
    g_set_error(error, TM_ERROR, TM_ERROR_NO_SPACE,
                _("The disk that holds “%s” is full: %" G_GUINT64_FORMAT
                  " bytes are needed there and %" G_GUINT64_FORMAT
                  " are free. Make room there, or choose another folder."),
                shown, needed, have);
  else
    g_set_error(error, TM_ERROR, TM_ERROR_NO_SPACE,
                _("The disk that holds “%s” is full: %" G_GUINT64_FORMAT
                  " bytes are free there. Make room there, or choose another folder."),
                shown, have);
}

void tm_write_error(GError **error, int code, const char *path, guint64 needed) {
  g_autofree char *shown = g_filename_display_name(path);
  if (code == ENOSPC)
    no_space(error, path, needed);
  else if (code == EDQUOT)
    g_set_error(error, TM_ERROR, TM_ERROR_NO_SPACE,
                _("“%s” cannot be written: your quota on that disk is used up. Make room there, or choose "
                  "another folder."),
                shown);
  else if (code == EFBIG)
    g_set_error(error, TM_ERROR, TM_ERROR_NO_SPACE,
                _("“%s” cannot be written: it would be larger than this system allows a file to be (see "
                  "“ulimit -f”)."),
                shown);
  else
    g_set_error(error, TM_ERROR, TM_ERROR_FILE, _("“%s” cannot be written: %s."), shown, g_strerror(code));
}

/* A file size limit sends SIGXFSZ, which ends the program unless it is held back for as long as the write
 * lasts. */
static int write_all(int fd, const char *data, gsize count) {
  sigset_t limit, before;
  sigemptyset(&limit);
  sigaddset(&limit, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &limit, &before);
  int code = 0;
  while (count > 0 && code == 0) {
    const ssize_t n = tm_file_ops.write(fd, data, MIN(count, (gsize)1 << 30));
    if (n > 0) {
      data += n;
      count -= (gsize)n;
    } else if (n < 0 && errno != EINTR) {
      code = errno;
    }
  }
  if (code == EFBIG && !sigismember(&before, SIGXFSZ)) sigtimedwait(&limit, NULL, &(struct timespec){0});
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = code;
  return code ? -1 : 0;
}

int tm_write_at(int fd, const void *data, gsize count, gint64 offset) {
  if (lseek(fd, offset, SEEK_SET) < 0) return -1;
  return write_all(fd, data, count);
}

TmAtomic *tm_atomic_new(const char *path, guint64 needed, GError **error) {
  g_autoptr(TmAtomic) a = g_new0(TmAtomic, 1);
  a->path = g_strdup(path);
  a->folder = g_path_get_dirname(path);
  a->needed = needed;
  a->fd = -1;
  for (int tries = 0; a->fd < 0 && tries < 64; tries++) {
    g_autofree char *name = g_strdup_printf(PREFIX "%08x%08x", g_random_int(), g_random_int());
    g_autofree char *full = g_build_filename(a->folder, name, NULL);
    a->fd = open(full, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (a->fd >= 0)
      a->temporary = g_steal_pointer(&full);
    else if (errno != EEXIST)
      break;
  }
  if (a->fd < 0) {
    tm_write_error(error, errno, path, needed);
    return NULL;
  }
  return g_steal_pointer(&a);
}

static void drop(TmAtomic *a) {
  if (a->fd >= 0) close(a->fd);
  a->fd = -1;
  if (a->temporary) unlink(a->temporary);
  g_clear_pointer(&a->temporary, g_free);
}

static gboolean fail(TmAtomic *a, int code, GError **error) {
  drop(a);
  tm_write_error(error, code, a->path, a->needed);
  return FALSE;
}

gboolean tm_atomic_write(TmAtomic *a, const void *data, gsize count, GError **error) {
  if (tm_write_at(a->fd, data, count, a->done) != 0) return fail(a, errno, error);
  a->done += (gint64)count;
  return TRUE;
}

gboolean tm_atomic_patch(TmAtomic *a, const void *data, gsize count, gint64 offset, GError **error) {
  return tm_write_at(a->fd, data, count, offset) == 0 || fail(a, errno, error);
}

/* The old file gets its second name by a hard link, so that it never lacks its first; where there are no
 * links, by a rename. */
static int keep_old(const TmAtomic *a, const char *keep_as) {
  if (!g_file_test(a->path, G_FILE_TEST_EXISTS)) return 0;
  g_autofree char *link_name = g_strdup_printf("%s-old", a->temporary);
  if (link(a->path, link_name) != 0) return tm_file_ops.rename(a->path, keep_as);
  if (tm_file_ops.rename(link_name, keep_as) == 0) {
    unlink(link_name); /* rename() leaves it when both names already are one file */
    return 0;
  }
  const int code = errno;
  unlink(link_name);
  errno = code;
  return -1;
}

/* Some file systems cannot sync a folder and say so by EINVAL: then there is nothing to be done. */
static int sync_folder(const char *folder) {
  const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return 0; /* a folder may be writable without being readable */
  const int r = tm_file_ops.fsync(fd), code = errno;
  close(fd);
  errno = code;
  return r != 0 && code != EINVAL && code != ENOTSUP ? -1 : 0;
}

gboolean tm_atomic_commit(TmAtomic *a, const char *keep_as, GError **error) {
  if (tm_file_ops.fsync(a->fd) != 0) return fail(a, errno, error);
  const int closed = close(a->fd), code = errno;
  a->fd = -1;
  if (closed != 0) return fail(a, code, error); /* network file systems report a full disk here */
  if (keep_as && keep_old(a, keep_as) != 0) return fail(a, errno, error);
  if (tm_file_ops.rename(a->temporary, a->path) != 0) return fail(a, errno, error);
  g_clear_pointer(&a->temporary, g_free);
  if (sync_folder(a->folder) != 0) return fail(a, errno, error);
  return TRUE;
}

void tm_atomic_free(TmAtomic *a) {
  if (!a) return;
  drop(a);
  g_free(a->path);
  g_free(a->folder);
  g_free(a);
}

gboolean tm_atomic_write_file(const char *path, const void *data, gsize count, GError **error) {
  g_autoptr(TmAtomic) a = tm_atomic_new(path, count, error);
  return a && tm_atomic_write(a, data, count, error) && tm_atomic_commit(a, NULL, error);
}

void tm_atomic_sweep(const char *folder) {
  g_autoptr(GDir) d = g_dir_open(folder, 0, NULL);
  for (const char *name; d && (name = g_dir_read_name(d));) {
    if (!g_str_has_prefix(name, PREFIX)) continue;
    g_autofree char *full = g_build_filename(folder, name, NULL);
    unlink(full);
  }
}
