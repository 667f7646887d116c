#include "engine/run/checkpoint-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "engine/run/atomic.h"
#include "engine/run/json_text.h"
#include "engine/run/safetensors.h"

/* Tensors are stored here by name and in order; a file of ours is
 *   8 bytes length | {"__metadata__":{"crc32":"…","tarmac":"…"},"name":{…},…}blanks | tensors
 * and the checksum covers all of it, with its own eight digits taken as "00000000". */

enum { META_DEPTH = 64, CRC_DIGITS = 8 };

struct _TmCheckpoint {
  GPtrArray *names;    /* char*, in file order */
  GHashTable *tensors; /* name -> TmTensor */
  GHashTable *from;    /* name -> what @read fetches a tensor without data from */
  TmTensorRead read;
  gpointer user;
  JsonObject *meta;
};

TmCheckpoint *tm_checkpoint_new(void) {
  TmCheckpoint *c = g_new0(TmCheckpoint, 1);
  c->names = g_ptr_array_new_with_free_func(g_free);
  c->tensors = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)tm_tensor_free);
  c->from = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  c->meta = json_object_new();
  return c;
}

void tm_checkpoint_free(TmCheckpoint *c) {
  if (!c) return;
  g_hash_table_unref(c->tensors);
  g_hash_table_unref(c->from);
  g_ptr_array_unref(c->names);
  json_object_unref(c->meta);
  g_free(c);
}

void tm_checkpoint_add(TmCheckpoint *c, const char *name, TmTensor *t) {
  gpointer key;
  if (!g_hash_table_lookup_extended(c->tensors, name, &key, NULL)) {
    key = g_strdup(name);
    g_ptr_array_add(c->names, key);
  }
  g_hash_table_replace(c->tensors, key, t);
}

void tm_checkpoint_add_read(TmCheckpoint *c, const char *name, TmShape shape, gconstpointer from,
                            TmTensorRead read, gpointer user) {
  TmTensor *t = g_new(TmTensor, 1);
  *t = (TmTensor){.dtype = TM_F32, .shape = shape};
  tm_checkpoint_add(c, name, t);
  g_hash_table_replace(c->from, g_strdup(name), (gpointer)from);
  c->read = read;
  c->user = user;
}

const TmTensor *tm_checkpoint_tensor(const TmCheckpoint *c, const char *name) {
  return g_hash_table_lookup(c->tensors, name);
}

char **tm_checkpoint_names(const TmCheckpoint *c) {
  char **names = g_new0(char *, c->names->len + 1);
  for (guint i = 0; i < c->names->len; i++) names[i] = g_strdup(c->names->pdata[i]);
  return names;
}

JsonObject *tm_checkpoint_meta(TmCheckpoint *c) {
  return c->meta;
}

/* ---- writing ---- */

/* A convolution with one output channel has the shape of a vector; PyTorch wants its four axes. A batch
 * norm's weight has running averages beside it. */
static gboolean is_convolution(const TmCheckpoint *c, const char *name) {
  if (!g_str_has_suffix(name, ".weight")) return FALSE;
  g_autofree char *mean = g_strdup_printf("%.*s.running_mean", (int)(strlen(name) - strlen(".weight")), name);
  return !g_hash_table_contains(c->tensors, mean);
}

static GArray *make_entries(const TmCheckpoint *c, guint64 *total) {
  GArray *entries = g_array_new(FALSE, TRUE, sizeof(TmStEntry));
  guint64 at = 0;
  for (guint i = 0; i < c->names->len; i++) {
    const TmTensor *t = tm_checkpoint_tensor(c, c->names->pdata[i]);
    TmStEntry e = {.name = c->names->pdata[i],
                   .type = TM_ST_F32,
                   .begin = at,
                   .end = at + tm_shape_count(t->shape) * sizeof(float)};
    tm_st_set_extent(&e, t->shape, is_convolution(c, e.name));
    at = e.end;
    g_array_append_val(entries, e);
  }
  *total = at;
  return entries;
}

static char *meta_text(const TmCheckpoint *c) {
  g_autoptr(JsonNode) node = json_node_new(JSON_NODE_OBJECT);
  json_node_set_object(node, c->meta);
  return tm_json_text(node, FALSE);
}

/* The tensor as f32 in N,C,H,W, in @buffer. */
static gboolean to_file_order(const TmCheckpoint *c, const char *name, float *buffer, float *scratch,
                              GError **error) {
  const TmTensor *t = tm_checkpoint_tensor(c, name);
  const float *src = t->data ? t->data : scratch;
  if (!t->data && !c->read(c->user, g_hash_table_lookup(c->from, name), t->shape, scratch, error)) return FALSE;
  if (t->data && t->dtype != TM_F32) {
    tm_convert(scratch, TM_F32, t->data, t->dtype, tm_shape_count(t->shape));
    src = scratch;
  }
  tm_nchw_from_nhwc(buffer, src, t->shape, sizeof(float));
  return TRUE;
}

static gboolean write_tensors(const TmCheckpoint *c, TmAtomic *a, uLong *crc, GError **error) {
  gsize most = 1;
  for (guint i = 0; i < c->names->len; i++)
    most = MAX(most, tm_shape_count(tm_checkpoint_tensor(c, c->names->pdata[i])->shape));
  g_autofree float *buffer = g_try_new(float, most), *scratch = g_try_new(float, most);
  if (!buffer || !scratch) {
    g_set_error_literal(error, TM_ERROR, TM_ERROR_NO_MEMORY,
                        _("There is no memory to write the checkpoint. Close other programs and try again."));
    return FALSE;
  }
  for (guint i = 0; i < c->names->len; i++) {
    const TmTensor *t = tm_checkpoint_tensor(c, c->names->pdata[i]);
    const gsize bytes = tm_shape_count(t->shape) * sizeof(float);
    if (!to_file_order(c, c->names->pdata[i], buffer, scratch, error)) return FALSE;
    *crc = crc32_z(*crc, (const Bytef *)buffer, bytes);
    if (!tm_atomic_write(a, buffer, bytes, error)) return FALSE;
  }
  return TRUE;
}

gboolean tm_checkpoint_write_keep(TmCheckpoint *c, const char *path, const char *keep_as, GError **error) {
  guint64 bytes;
  g_autoptr(GArray) entries = make_entries(c, &bytes);
  g_autofree char *meta = meta_text(c);
  g_autoptr(GString) text = tm_st_header_text(entries, meta);
  const guint64 length = GUINT64_TO_LE((guint64)text->len);
  if (text->len > TM_ST_MAX_HEADER) {
    g_set_error(error, TM_ERROR, TM_ERROR_FILE,
                _("“%s” cannot be written: its description would be larger than 100 MB."), path);
    return FALSE;
  }
  uLong crc = crc32_z(crc32_z(0, (const Bytef *)&length, sizeof length), (const Bytef *)text->str, text->len);
  g_autoptr(TmAtomic) a = tm_atomic_new(path, sizeof length + text->len + bytes, error);
  if (!a || !tm_atomic_write(a, &length, sizeof length, error) ||
      !tm_atomic_write(a, text->str, text->len, error) || !write_tensors(c, a, &crc, error))
    return FALSE;
  char digits[CRC_DIGITS + 1];
  g_snprintf(digits, sizeof digits, "%08lx", crc);
  return tm_atomic_patch(a, digits, CRC_DIGITS, sizeof length + TM_ST_CRC_AT, error) &&
         tm_atomic_commit(a, keep_as, error);
}

gboolean tm_checkpoint_write(TmCheckpoint *c, const char *path, GError **error) {
  return tm_checkpoint_write_keep(c, path, NULL, error);
}

/* ---- reading ---- */

typedef struct {
  const char *shown; /* the file's name for a person */
  int fd;
  guint64 size;
  uLong crc;
} Reader;

static gboolean corrupt(const Reader *r, const char *what, GError **error) {
  g_set_error(error, TM_ERROR, TM_ERROR_CORRUPT,
              _("“%s” is cut or damaged: %s Use another checkpoint of the run, or a copy."), r->shown, what);
  return FALSE;
}

static gboolean read_all(Reader *r, void *data, gsize count, GError **error) {
  char *p = data;
  for (gsize left = count; left > 0;) {
    const ssize_t n = read(r->fd, p, MIN(left, (gsize)1 << 30));
    if (n == 0) return corrupt(r, _("It ends too early."), error);
    if (n < 0 && errno != EINTR) {
      g_set_error(error, TM_ERROR, TM_ERROR_FILE, _("“%s” cannot be read: %s."), r->shown, g_strerror(errno));
      return FALSE;
    }
    if (n > 0) {
      p += n;
      left -= (gsize)n;
    }
  }
  return TRUE;
}

static gboolean open_file(Reader *r, const char *path, GError **error) {
  struct stat st;
  /* O_NONBLOCK: opening a named pipe must not wait for a writer */
  r->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (r->fd < 0 || fstat(r->fd, &st) != 0) {
    g_set_error(error, TM_ERROR, TM_ERROR_FILE, _("“%s” cannot be read: %s."), r->shown, g_strerror(errno));
    return FALSE;
  }
  if (!S_ISREG(st.st_mode)) {
    g_set_error(error, TM_ERROR, TM_ERROR_FILE,
                _("“%s” is not a file. Give a checkpoint, which ends in “.safetensors”."), r->shown);
    return FALSE;
  }
  r->size = (guint64)st.st_size;
  return TRUE;
}

static TmStHeader *read_header(Reader *r, GError **error) {
  guint64 length;
  if (r->size < sizeof length) {
    corrupt(r, _("It is too short for a checkpoint."), error);
    return NULL;
  }
  if (!read_all(r, &length, sizeof length, error)) return NULL;
  const guint64 size = GUINT64_FROM_LE(length);
  if (size > TM_ST_MAX_HEADER || size > r->size - sizeof length) {
    corrupt(r, _("Its header would be longer than the file."), error);
    return NULL;
  }
  g_autofree char *text = g_try_malloc(size + 1);
  if (!text) {
    g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY, _("There is no memory to read “%s”."), r->shown);
    return NULL;
  }
  if (!read_all(r, text, size, error)) return NULL;
  g_autoptr(GError) why = NULL;
  TmStHeader *h = tm_st_header_parse(text, size, r->size - sizeof length - size, &why);
  if (!h && g_error_matches(why, TM_ERROR, TM_ERROR_CORRUPT))
    corrupt(r, why->message, error);
  else if (!h)
    g_set_error(error, TM_ERROR, why->code, _("“%s” cannot be used: %s"), r->shown, why->message);
  if (h && h->crc32) {
    if (size > TM_ST_CRC_AT + CRC_DIGITS) memset(text + TM_ST_CRC_AT, '0', CRC_DIGITS);
    r->crc = crc32_z(crc32_z(0, (const Bytef *)&length, sizeof length), (const Bytef *)text, size);
  }
  return h;
}

#define FROM(type)                                                                                           \
  for (gsize i = 0; i < n; i++) {                                                                            \
    type v;                                                                                                  \
    memcpy(&v, src + i * sizeof v, sizeof v);                                                                \
    dst[i] = (float)v;                                                                                       \
  }                                                                                                          \
  break

/* @n elements of a file, of any alignment, as f32. */
static void to_f32(float *dst, const guint8 *src, TmStType type, gsize n) {
  switch (type) {
  case TM_ST_F32:
    memcpy(dst, src, n * sizeof(float));
    break;
  case TM_ST_F16:
    tm_convert(dst, TM_F32, src, TM_F16, n);
    break;
  case TM_ST_BF16:
    tm_convert(dst, TM_F32, src, TM_BF16, n);
    break;
  case TM_ST_F64:
    FROM(double);
  case TM_ST_I64:
    FROM(gint64);
  case TM_ST_U64:
    FROM(guint64);
  case TM_ST_I32:
    FROM(gint32);
  case TM_ST_U32:
    FROM(guint32);
  case TM_ST_I16:
    FROM(gint16);
  case TM_ST_U16:
    FROM(guint16);
  case TM_ST_I8:
    FROM(gint8);
  default:
    FROM(guint8);
  }
}

/* @raw and @flat hold the largest tensor, as in the file and as f32. */
static gboolean read_tensor(Reader *r, TmCheckpoint *c, const TmStEntry *e, guint8 *raw, float *flat,
                            GError **error) {
  const TmShape shape = tm_st_shape(e);
  g_autoptr(TmTensor) t = tm_tensor_new(TM_F32, shape, error);
  if (!t) {
    g_prefix_error(error, _("“%s”, tensor “%s”: "), r->shown, e->name);
    return FALSE;
  }
  if (!read_all(r, raw, e->end - e->begin, error)) return FALSE;
  r->crc = crc32_z(r->crc, raw, e->end - e->begin);
  to_f32(flat, raw, e->type, tm_shape_count(shape));
  tm_nhwc_from_nchw(t->data, flat, shape, sizeof(float));
  tm_checkpoint_add(c, e->name, g_steal_pointer(&t));
  return TRUE;
}

static gboolean read_tensors(Reader *r, TmCheckpoint *c, const TmStHeader *h, GError **error) {
  guint64 most_bytes = 1, most = 1;
  for (guint i = 0; i < h->entries->len; i++) {
    const TmStEntry *e = &g_array_index(h->entries, TmStEntry, i);
    most_bytes = MAX(most_bytes, e->end - e->begin);
    most = MAX(most, (e->end - e->begin) / tm_st_type_size(e->type));
  }
  g_autofree guint8 *raw = g_try_malloc(most_bytes);
  g_autofree float *flat = g_try_new(float, most);
  if (!raw || !flat) {
    g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY, _("There is no memory to read “%s”."), r->shown);
    return FALSE;
  }
  for (guint i = 0; i < h->entries->len; i++)
    if (!read_tensor(r, c, &g_array_index(h->entries, TmStEntry, i), raw, flat, error)) return FALSE;
  return TRUE;
}

static gboolean read_meta(Reader *r, TmCheckpoint *c, const TmStHeader *h, GError **error) {
  char digits[CRC_DIGITS + 1];
  if (!h->tarmac) return TRUE;
  g_snprintf(digits, sizeof digits, "%08lx", r->crc);
  if (!g_str_equal(digits, h->crc32)) return corrupt(r, _("Its checksum is wrong."), error);
  g_autoptr(JsonNode) node = tm_json_parse(h->tarmac, strlen(h->tarmac), META_DEPTH, NULL);
  if (!node || !JSON_NODE_HOLDS_OBJECT(node)) return corrupt(r, _("Its description cannot be read."), error);
  json_object_unref(c->meta);
  c->meta = json_node_dup_object(node);
  return TRUE;
}

TmCheckpoint *tm_checkpoint_read(const char *path, GError **error) {
  g_autofree char *shown = g_filename_display_name(path);
  g_autoptr(TmCheckpoint) c = tm_checkpoint_new();
  g_autoptr(TmStHeader) h = NULL;
  Reader r = {.shown = shown, .fd = -1};
  const gboolean ok = open_file(&r, path, error) && (h = read_header(&r, error)) &&
                      read_tensors(&r, c, h, error) && read_meta(&r, c, h, error);
  if (r.fd >= 0) close(r.fd);
  return ok ? g_steal_pointer(&c) : NULL;
}
