#include "engine/run/events.h"

#include <string.h>
#include <unistd.h>

#include "engine/core/crc32c.h"
#include "engine/run/log_file.h"

#define PREFIX "events.out.tfevents."

struct _TmEvents {
  TmLogFile *file;
};

/* ---- protocol buffers: a key (field << 3 | wire type), then the value ---- */

enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };
enum { EVENT_TIME = 1, EVENT_STEP = 2, EVENT_VERSION = 3, EVENT_SUMMARY = 5, EVENT_SESSION = 7 };
enum { SUMMARY_VALUE = 1, VALUE_TAG = 1, VALUE_SIMPLE = 2, SESSION_STATUS = 1, SESSION_START = 1 };

static void put_varint(GByteArray *b, guint64 x) {
  guint8 byte;
  for (; x >= 0x80; x >>= 7) {
    byte = (guint8)(x | 0x80);
    g_byte_array_append(b, &byte, 1);
  }
  byte = (guint8)x;
  g_byte_array_append(b, &byte, 1);
}

static void put_number(GByteArray *b, guint field, guint64 x) {
  put_varint(b, field << 3 | WIRE_VARINT);
  put_varint(b, x);
}

static void put_bytes(GByteArray *b, guint field, const void *data, gsize size) {
  put_varint(b, field << 3 | WIRE_BYTES);
  put_varint(b, size);
  g_byte_array_append(b, data, (guint)size);
}

static void put_double(GByteArray *b, guint field, double x) {
  guint64 bits;
  memcpy(&bits, &x, sizeof bits);
  bits = GUINT64_TO_LE(bits);
  put_varint(b, field << 3 | WIRE_64);
  g_byte_array_append(b, (const guint8 *)&bits, sizeof bits);
}

static void put_float(GByteArray *b, guint field, float x) {
  guint32 bits;
  memcpy(&bits, &x, sizeof bits);
  bits = GUINT32_TO_LE(bits);
  put_varint(b, field << 3 | WIRE_32);
  g_byte_array_append(b, (const guint8 *)&bits, sizeof bits);
}

/* ---- events ---- */

static GByteArray *begin_event(guint64 step) {
  GByteArray *b = g_byte_array_new();
  put_double(b, EVENT_TIME, (double)g_get_real_time() / G_USEC_PER_SEC);
  put_number(b, EVENT_STEP, step);
  return b;
}

/* Takes @b. A frame: length, its checksum, the event, its checksum. */
static gboolean put_record(TmEvents *e, GByteArray *b, GError **error) {
  g_autoptr(GByteArray) event = b, frame = g_byte_array_new();
  const guint64 length = GUINT64_TO_LE((guint64)event->len);
  const guint32 length_sum = GUINT32_TO_LE(tm_crc32c_masked(&length, sizeof length));
  const guint32 event_sum = GUINT32_TO_LE(tm_crc32c_masked(event->data, event->len));
  g_byte_array_append(frame, (const guint8 *)&length, sizeof length);
  g_byte_array_append(frame, (const guint8 *)&length_sum, sizeof length_sum);
  g_byte_array_append(frame, event->data, event->len);
  g_byte_array_append(frame, (const guint8 *)&event_sum, sizeof event_sum);
  return tm_log_file_add(e->file, frame->data, frame->len, error);
}

/* Seconds since 1970, or, should the clock have gone back or no second have passed, one more than the newest
 * file's. */
static gint64 next_stamp(const char *folder) {
  gint64 stamp = g_get_real_time() / G_USEC_PER_SEC;
  g_autoptr(GDir) d = g_dir_open(folder, 0, NULL);
  for (const char *name; d && (name = g_dir_read_name(d));) {
    if (!g_str_has_prefix(name, PREFIX)) continue;
    const gint64 other = g_ascii_strtoll(name + strlen(PREFIX), NULL, 10);
    if (other >= stamp && other < 9999999999) stamp = other + 1;
  }
  return stamp;
}

TmEvents *tm_events_open(const char *folder, guint64 step, GError **error) {
  g_autofree char *name = g_strdup_printf(PREFIX "%010" G_GINT64_FORMAT ".%.100s.%d", next_stamp(folder),
                                          g_get_host_name(), (int)getpid());
  g_autofree char *path = g_build_filename(folder, name, NULL);
  g_autoptr(TmEvents) e = g_new0(TmEvents, 1);
  if (!(e->file = tm_log_file_open(path, error))) return NULL;
  GByteArray *version = begin_event(0);
  put_bytes(version, EVENT_VERSION, "brain.Event:2", strlen("brain.Event:2"));
  if (!put_record(e, version, error)) return NULL;
  g_autoptr(GByteArray) session = g_byte_array_new();
  put_number(session, SESSION_STATUS, SESSION_START);
  GByteArray *start = begin_event(step);
  put_bytes(start, EVENT_SESSION, session->data, session->len);
  if (!put_record(e, start, error)) return NULL;
  return g_steal_pointer(&e);
}

void tm_events_close(TmEvents *e) {
  if (!e) return;
  g_clear_pointer(&e->file, tm_log_file_close);
  g_free(e);
}

gboolean tm_events_add(TmEvents *e, guint64 step, guint n, const TmScalar *scalars, GError **error) {
  g_autoptr(GByteArray) summary = g_byte_array_new();
  for (guint i = 0; i < n; i++) {
    g_autoptr(GByteArray) value = g_byte_array_new();
    put_bytes(value, VALUE_TAG, scalars[i].tag, strlen(scalars[i].tag));
    put_float(value, VALUE_SIMPLE, scalars[i].value);
    put_bytes(summary, SUMMARY_VALUE, value->data, value->len);
  }
  GByteArray *event = begin_event(step);
  put_bytes(event, EVENT_SUMMARY, summary->data, summary->len);
  return put_record(e, event, error);
}

gboolean tm_events_flush(TmEvents *e, gboolean sync, GError **error) {
  return tm_log_file_flush(e->file, sync, error);
}
