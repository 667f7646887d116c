#include "engine/data/picture_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "engine/core/crc32c.h"
#include "engine/data/image.h"

#define SUFFIX ".pixels"
#define UNFINISHED ".new-"
/* DISK_SHARE: one part in so many of the disk's room, what is kept already included. LOOK_AGAIN: one part in
 * so many of what may be kept is written before the folder is looked through again, for what other processes
 * did. STALE: seconds after which an unfinished file was left by a process that is gone. */
enum { DISK_SHARE = 10, LOOK_AGAIN = 16, STALE = 3600, NAME_DIGITS = 40, LONGEST_KEY = 1 << 16 };

static gint serial; /* atomic: tells apart this process's unfinished files */
static const char magic[8] = "TMpixel";
enum { VERSION = 1, BYTE_ORDER_MARK = 0x01020304 };

/* Followed by the key, the RGB and, if there are any, the labels. */
typedef struct {
  char magic[8];
  guint32 version, order;
  guint32 crc; /* of the bytes behind this field */
  guint32 key;
  guint32 w, h, labels, zero;
} Header;

enum { CHECKED_FROM = offsetof(Header, key) };

typedef struct {
  char *name;
  guint64 bytes;
  struct timespec used;
} Old;

struct _TmPictureStore {
  char *path;
  int folder;             /* descriptor; -1: there is none */
  struct timespec opened; /* by the file system's clock */
  guint64 told;           /* the caller's bound */

  GMutex lock;
  guint64 most, used, since_look;
  GArray *old; /* Old, unused longest first */
  guint next_old;
  gboolean full; /* no more is written */
  char *note;
};

/* ---- the folder ---- */

static void old_clear(gpointer p) {
  g_free(((Old *)p)->name);
}

static gint by_use(gconstpointer a, gconstpointer b) {
  const Old *x = a, *y = b;
  if (x->used.tv_sec != y->used.tv_sec) return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
  return (x->used.tv_nsec > y->used.tv_nsec) - (x->used.tv_nsec < y->used.tv_nsec);
}

static gboolean before(const struct timespec *a, const struct timespec *b) {
  return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

static void look_at(TmPictureStore *s, const char *name) {
  struct stat st;
  if (fstatat(s->folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode)) return;
  if (g_str_has_prefix(name, UNFINISHED)) {
    if (st.st_mtim.tv_sec + STALE < s->opened.tv_sec) unlinkat(s->folder, name, 0);
    return;
  }
  if (!g_str_has_suffix(name, SUFFIX)) return;
  s->used += (guint64)st.st_size;
  if (!before(&st.st_mtim, &s->opened)) return;
  const Old old = {.name = g_strdup(name), .bytes = (guint64)st.st_size, .used = st.st_mtim};
  g_array_append_val(s->old, old);
}

/* What is there, and how much there may be. */
static void look_locked(TmPictureStore *s) {
  s->used = s->since_look = 0;
  s->next_old = 0;
  g_array_set_size(s->old, 0);
  const int fd = openat(s->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
  if (!dir) {
    if (fd >= 0) close(fd);
    return;
  }
  for (struct dirent *e; (e = readdir(dir));) look_at(s, e->d_name);
  closedir(dir);
  g_array_sort(s->old, by_use);
  struct statvfs v;
  const guint64 room = fstatvfs(s->folder, &v) == 0 ? (guint64)v.f_bavail * v.f_frsize : 0;
  s->most = MIN(s->told, (room + s->used) / DISK_SHARE);
}

static void cannot_keep_locked(TmPictureStore *s, int code) {
  if (s->full) return;
  s->full = TRUE;
  g_autofree char *shown = g_filename_display_name(s->path);
  s->note =
      g_strdup_printf(_("Decoded pictures cannot be kept in “%s” (%s), so each run decodes them again."),
                      shown, g_strerror(code));
}

/* The time that files get now, which need not be this machine's. */
static void read_clock(TmPictureStore *s) {
  const int fd = openat(s->folder, UNFINISHED "clock", O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  struct stat st;
  if (fd >= 0 && futimens(fd, NULL) == 0 && fstat(fd, &st) == 0)
    s->opened = st.st_mtim;
  else
    clock_gettime(CLOCK_REALTIME, &s->opened);
  if (fd >= 0) close(fd);
}

TmPictureStore *tm_picture_store_new(const char *folder, guint64 most) {
  TmPictureStore *s = g_new0(TmPictureStore, 1);
  g_mutex_init(&s->lock);
  s->path = folder ? g_strdup(folder) : g_build_filename(g_get_user_cache_dir(), "tarmac", "pictures", NULL);
  s->told = most;
  s->old = g_array_new(FALSE, FALSE, sizeof(Old));
  g_array_set_clear_func(s->old, old_clear);
  const int made = g_mkdir_with_parents(s->path, 0700) == 0 ? 0 : errno;
  s->folder = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (s->folder < 0) {
    cannot_keep_locked(s, made ? made : errno);
    return s;
  }
  read_clock(s);
  look_locked(s);
  return s;
}

void tm_picture_store_free(TmPictureStore *s) {
  if (!s) return;
  if (s->folder >= 0) close(s->folder);
  g_array_unref(s->old);
  g_mutex_clear(&s->lock);
  g_free(s->path);
  g_free(s->note);
  g_free(s);
}

char *tm_picture_store_note(TmPictureStore *s) {
  g_mutex_lock(&s->lock);
  char *note = g_steal_pointer(&s->note);
  g_mutex_unlock(&s->lock);
  return note;
}

guint64 tm_picture_store_used(TmPictureStore *s) {
  g_mutex_lock(&s->lock);
  const guint64 used = s->used;
  g_mutex_unlock(&s->lock);
  return used;
}

static char *name_of(const char *key) {
  char *name = g_compute_checksum_for_string(G_CHECKSUM_SHA256, key, -1);
  name[NAME_DIGITS] = '\0';
  char *file = g_strconcat(name, SUFFIX, NULL);
  g_free(name);
  return file;
}

/* ---- reading ---- */

void tm_stored_picture_clear(TmStoredPicture *p) {
  if (p->map) munmap(p->map, p->bytes);
  *p = (TmStoredPicture){0};
}

/* Is a file of @size bytes the picture under @key? Only then is anything of it used. */
static gboolean check(const guint8 *map, gsize size, const char *key, Header *h) {
  memcpy(h, map, sizeof *h);
  const gsize length = strlen(key);
  if (memcmp(h->magic, magic, sizeof magic) != 0 || h->version != VERSION || h->order != BYTE_ORDER_MARK ||
      h->key != length || h->labels > 1 || h->w < 1 || h->h < 1 || h->w > TM_IMAGE_MAX_SIDE ||
      h->h > TM_IMAGE_MAX_SIDE || (guint64)h->w * h->h > TM_IMAGE_MAX_PIXELS)
    return FALSE;
  if (size != sizeof *h + length + (gsize)h->w * h->h * (3 + h->labels)) return FALSE;
  return memcmp(map + sizeof *h, key, length) == 0 &&
         tm_crc32c(map + CHECKED_FROM, size - CHECKED_FROM) == h->crc;
}

static gboolean map_file(int fd, const char *key, TmStoredPicture *out) {
  struct stat st;
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < (gint64)sizeof(Header)) return FALSE;
  out->bytes = (gsize)st.st_size;
  out->map = mmap(NULL, out->bytes, PROT_READ, MAP_SHARED, fd, 0);
  Header h;
  if (out->map == MAP_FAILED) {
    *out = (TmStoredPicture){0};
    return FALSE;
  }
  if (!check(out->map, out->bytes, key, &h)) {
    tm_stored_picture_clear(out);
    return FALSE;
  }
  guint8 *pixels = (guint8 *)out->map + sizeof h + h.key;
  out->sample = (TmSample){.w = (int)h.w, .h = (int)h.h, .rgb = pixels};
  if (h.labels) out->sample.labels = pixels + (gsize)h.w * h.h * 3;
  return TRUE;
}

gboolean tm_picture_store_get(TmPictureStore *s, const char *key, TmStoredPicture *out) {
  *out = (TmStoredPicture){0};
  if (s->folder < 0) return FALSE;
  g_autofree char *name = name_of(key);
  const int fd = openat(s->folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return FALSE;
  const gboolean good = map_file(fd, key, out);
  if (good)
    (void)futimens(fd, NULL); /* used now; a folder that cannot be written to does without */
  else
    unlinkat(s->folder, name, 0);
  close(fd);
  return good;
}

/* ---- writing ---- */

/* Another process may have used it meanwhile. */
static void drop_locked(TmPictureStore *s, const Old *o) {
  struct stat st;
  if (fstatat(s->folder, o->name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
    if (!before(&st.st_mtim, &s->opened)) return;
    if (unlinkat(s->folder, o->name, 0) != 0) return;
  }
  s->used -= MIN(s->used, o->bytes);
}

static gboolean make_room_locked(TmPictureStore *s, guint64 bytes) {
  if (s->full || s->folder < 0) return FALSE;
  if (s->since_look > s->most / LOOK_AGAIN) look_locked(s);
  while (s->used + bytes > s->most && s->next_old < s->old->len)
    drop_locked(s, &g_array_index(s->old, Old, s->next_old++));
  if (s->used + bytes > s->most) return FALSE;
  s->used += bytes;
  s->since_look += bytes;
  return TRUE;
}

/* 0 or errno. */
static int write_all(int fd, const void *data, gsize n) {
  for (const guint8 *p = data; n > 0;) {
    const gssize done = write(fd, p, n);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return done < 0 ? errno : EIO;
    p += done;
    n -= (gsize)done;
  }
  return 0;
}

/* A limit on the size of files sends a signal that would end the process. */
static int write_unsignalled(int fd, const void *data, gsize n) {
  sigset_t limit, before;
  sigemptyset(&limit);
  sigaddset(&limit, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &limit, &before);
  const int code = write_all(fd, data, n);
  if (code == EFBIG && !sigismember(&before, SIGXFSZ)) sigtimedwait(&limit, NULL, &(struct timespec){0});
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return code;
}

/* Not synced: a file that a power cut leaves half written fails its check. 0 or errno. */
static int write_file(TmPictureStore *s, const char *name, const guint8 *bytes, gsize n) {
  char unfinished[64];
  g_snprintf(unfinished, sizeof unfinished, UNFINISHED "%d-%d", (int)getpid(), g_atomic_int_add(&serial, 1));
  const int fd = openat(s->folder, unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return errno;
  int code = write_unsignalled(fd, bytes, n);
  if (close(fd) != 0 && !code) code = errno;
  if (!code && renameat(s->folder, unfinished, s->folder, name) != 0) code = errno;
  if (code) unlinkat(s->folder, unfinished, 0);
  return code;
}

/* The file's bytes; NULL when there is no memory for them. */
static guint8 *compose(const char *key, const TmSample *in, gsize size) {
  const gsize length = strlen(key), pixels = (gsize)in->w * (gsize)in->h;
  guint8 *bytes = g_try_malloc(size);
  if (!bytes) return NULL;
  Header h = {.version = VERSION,
              .order = BYTE_ORDER_MARK,
              .key = (guint32)length,
              .w = (guint32)in->w,
              .h = (guint32)in->h,
              .labels = in->labels != NULL};
  memcpy(h.magic, magic, sizeof magic);
  memcpy(bytes, &h, sizeof h);
  memcpy(bytes + sizeof h, key, length);
  memcpy(bytes + sizeof h + length, in->rgb, pixels * 3);
  if (in->labels) memcpy(bytes + sizeof h + length + pixels * 3, in->labels, pixels);
  h.crc = tm_crc32c(bytes + CHECKED_FROM, size - CHECKED_FROM);
  memcpy(bytes + offsetof(Header, crc), &h.crc, sizeof h.crc);
  return bytes;
}

void tm_picture_store_put(TmPictureStore *s, const char *key, const TmSample *in) {
  const gsize length = strlen(key);
  if (length > LONGEST_KEY) return;
  const gsize size = sizeof(Header) + length + (gsize)in->w * (gsize)in->h * (in->labels ? 4 : 3);
  g_mutex_lock(&s->lock);
  const gboolean room = make_room_locked(s, size);
  g_mutex_unlock(&s->lock);
  if (!room) return;
  g_autofree guint8 *bytes = compose(key, in, size);
  g_autofree char *name = name_of(key);
  const int code = bytes ? write_file(s, name, bytes, size) : ENOMEM;
  if (!code) return;
  g_mutex_lock(&s->lock);
  s->used -= MIN(s->used, size);
  if (code != ENOMEM) cannot_keep_locked(s, code);
  g_mutex_unlock(&s->lock);
}
