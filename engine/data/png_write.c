#include "engine/data/png_write.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
  int fd;
  int failed; /* errno of the first write that failed */
  png_structp png;
  png_infop info;
  char message[160];
  int w, h, depth, type;
  const guint8 *rows;
  gsize stride;
  png_color palette[256];
  int n_palette;
} Writer;

static void on_error(png_structp png, png_const_charp text) {
  Writer *w = png_get_error_ptr(png);
  g_strlcpy(w->message, text, sizeof w->message);
  png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp text) {
  (void)png;
  (void)text;
}

static void on_write(png_structp png, png_bytep data, gsize n) {
  Writer *w = png_get_io_ptr(png);
  while (n > 0) {
    const gssize put = write(w->fd, data, n);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      w->failed = put < 0 ? errno : EIO;
      png_error(png, "write");
    }
    data += put;
    n -= (gsize)put;
  }
}

static void on_flush(png_structp png) {
  (void)png;
}

static void body(Writer *w) {
  png_set_write_fn(w->png, w, on_write, on_flush);
  png_set_user_limits(w->png, 0x7fffffff, 0x7fffffff);
  png_set_IHDR(w->png, w->info, (png_uint_32)w->w, (png_uint_32)w->h, w->depth, w->type, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (w->n_palette) {
    png_set_PLTE(w->png, w->info, w->palette, w->n_palette);
    png_set_filter(w->png, 0, PNG_FILTER_NONE); /* neighbouring indices have no smooth relation */
  }
  png_set_compression_level(w->png, w->type == PNG_COLOR_TYPE_RGB ? 4 : 6);
  png_write_info(w->png, w->info);
  if (w->depth == 16 && G_BYTE_ORDER == G_LITTLE_ENDIAN) png_set_swap(w->png);
  for (int y = 0; y < w->h; y++) png_write_row(w->png, w->rows + (gsize)y * w->stride);
  png_write_end(w->png, NULL);
}

static gboolean guarded(Writer *w) {
  if (setjmp(png_jmpbuf(w->png))) return FALSE;
  body(w);
  return TRUE;
}

static gboolean encode(Writer *w) {
  w->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, w, on_error, on_warning);
  w->info = w->png ? png_create_info_struct(w->png) : NULL;
  if (!w->info) g_strlcpy(w->message, g_strerror(ENOMEM), sizeof w->message);
  const gboolean ok = w->info && guarded(w);
  if (w->png) png_destroy_write_struct(&w->png, w->info ? &w->info : NULL);
  return ok;
}

static void set_error(const char *path, int code, const char *message, GError **error) {
  g_autofree char *name = g_filename_display_name(path);
  if (code == ENOSPC || code == EDQUOT || code == EFBIG)
    g_set_error(error, TM_ERROR, TM_ERROR_NO_SPACE,
                _("“%s” cannot be written: the disk is full (%s). Make room or choose another folder."), name,
                g_strerror(code));
  else if (code == ENAMETOOLONG)
    g_set_error(error, TM_ERROR, TM_ERROR_FILE,
                _("“%s” cannot be written: the name is longer than the file system takes. Shorten the "
                  "picture's name."),
                name);
  else
    g_set_error(error, TM_ERROR, TM_ERROR_FILE, _("“%s” cannot be written: %s."), name,
                code ? g_strerror(code) : message);
}

/* A name of its own and short, so that it fits where the final name does. */
static int open_temporary(const char *path, char **out) {
  static gint counter;
  g_autofree char *dir = g_path_get_dirname(path);
  for (int attempt = 0; attempt < 100; attempt++) {
    g_autofree char *base =
        g_strdup_printf(".tarmac-%d-%d.tmp", (int)getpid(), g_atomic_int_add(&counter, 1));
    g_autofree char *tmp = g_build_filename(dir, base, NULL);
    const int fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) {
      *out = g_steal_pointer(&tmp);
      return fd;
    }
    if (errno != EEXIST) break;
  }
  return -1;
}

static gboolean write_file(const char *path, Writer *w, GError **error) {
  g_autofree char *tmp = NULL;
  w->fd = open_temporary(path, &tmp);
  if (w->fd < 0) {
    set_error(path, errno, NULL, error);
    return FALSE;
  }
  gboolean ok = encode(w);
  if (close(w->fd) != 0 && ok) { /* network file systems tell of a full disk only now */
    w->failed = errno;
    ok = FALSE;
  }
  if (ok && rename(tmp, path) != 0) {
    w->failed = errno;
    ok = FALSE;
  }
  if (ok) return TRUE;
  unlink(tmp);
  set_error(path, w->failed, w->message, error);
  return FALSE;
}

static gboolean check_size(const char *path, int w, int h, GError **error) {
  if (w >= 1 && h >= 1) return TRUE;
  g_autofree char *name = g_filename_display_name(path);
  g_set_error(error, TM_ERROR, TM_ERROR_SHAPE,
              _("“%s” cannot be written: a picture of %d×%d pixels has nothing in it."), name, w, h);
  return FALSE;
}

static void fill_palette(Writer *w, const guint8 *labels, const guint32 *palette, guint n) {
  guint last = MIN(n, 256u);
  for (gsize i = 0, pixels = (gsize)w->w * (gsize)w->h; i < pixels; i++) last = MAX(last, labels[i] + 1u);
  w->n_palette = (int)MAX(last, 1u);
  for (guint i = 0; i < last; i++) {
    const guint32 c = i < n ? palette[i] : i * 0x010101u;
    w->palette[i] = (png_color){
        .red = (png_byte)(c >> 16 & 0xff), .green = (png_byte)(c >> 8 & 0xff), .blue = (png_byte)(c & 0xff)};
  }
}

gboolean tm_png_write_index(const char *path, const guint8 *labels, int w, int h, const guint32 *palette,
                            guint n, GError **error) {
  if (!check_size(path, w, h, error)) return FALSE;
  Writer writer = {
      .w = w, .h = h, .depth = 8, .type = PNG_COLOR_TYPE_PALETTE, .rows = labels, .stride = (gsize)w};
  fill_palette(&writer, labels, palette, n);
  return write_file(path, &writer, error);
}

gboolean tm_png_write_grey16(const char *path, const guint16 *values, int w, int h, GError **error) {
  if (!check_size(path, w, h, error)) return FALSE;
  Writer writer = {.w = w,
                   .h = h,
                   .depth = 16,
                   .type = PNG_COLOR_TYPE_GRAY,
                   .rows = (const guint8 *)values,
                   .stride = (gsize)w * 2};
  return write_file(path, &writer, error);
}

gboolean tm_png_write_rgb(const char *path, const guint8 *rgb, int w, int h, GError **error) {
  if (!check_size(path, w, h, error)) return FALSE;
  Writer writer = {
      .w = w, .h = h, .depth = 8, .type = PNG_COLOR_TYPE_RGB, .rows = rgb, .stride = (gsize)w * 3};
  return write_file(path, &writer, error);
}
