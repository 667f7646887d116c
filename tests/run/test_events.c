/* test_events.c: event files hold what TensorBoard expects, end at a whole record, and a resumed run never
 * goes on with an old one. */
#include "engine/run/events.h"

#include "engine/core/crc32c.h"
#include "tests/run/run_test.h"

/* ---- a reader of our own, so that the format is checked without TensorBoard ---- */

typedef enum { END_WHOLE, END_CUT, END_DAMAGED } End;

static guint32 word(const guint8 *p) {
  return (guint32)p[0] | (guint32)p[1] << 8 | (guint32)p[2] << 16 | (guint32)p[3] << 24;
}

/* Counts whole records; cut and damaged are not the same. */
static guint read_records(const guint8 *p, gsize size, End *end, GPtrArray *records) {
  guint n = 0;
  *end = END_WHOLE;
  for (gsize at = 0; at < size; n++) {
    *end = END_CUT;
    if (size - at < 12) return n;
    const guint64 length = (guint64)word(p + at) | (guint64)word(p + at + 4) << 32;
    if (word(p + at + 8) != tm_crc32c_masked(p + at, 8)) {
      *end = END_DAMAGED;
      return n;
    }
    if (size - at - 12 < length + 4) return n;
    if (word(p + at + 12 + length) != tm_crc32c_masked(p + at + 12, length)) {
      *end = END_DAMAGED;
      return n;
    }
    if (records) g_ptr_array_add(records, g_bytes_new(p + at + 12, length));
    at += length + 16;
    *end = END_WHOLE;
  }
  return n;
}

static char *newest(const char *folder) {
  char *found = NULL;
  g_autoptr(GDir) d = g_dir_open(folder, 0, NULL);
  for (const char *name; (name = g_dir_read_name(d));) {
    g_autofree char *full = g_build_filename(folder, name, NULL);
    if (!found || strcmp(full, found) > 0) {
      g_free(found);
      found = g_steal_pointer(&full);
    }
  }
  return found;
}

static void write_steps(const char *folder, guint64 from, guint64 to, float value) {
  g_autoptr(GError) error = NULL;
  g_autoptr(TmEvents) e = tm_events_open(folder, from, &error);
  g_assert_no_error(error);
  for (guint64 i = from; i < to; i++) {
    g_assert_true(tm_events_add(e, i, 1, &(TmScalar){"loss/train", value + (float)i}, &error));
    g_assert_no_error(error);
  }
}

static void test_crc(void) {
  /* RFC 3720, B.4 */
  guint8 zeros[32] = {0}, ones[32], up[32];
  for (int i = 0; i < 32; i++) {
    ones[i] = 0xff;
    up[i] = (guint8)i;
  }
  g_assert_cmphex(tm_crc32c(zeros, 32), ==, 0x8a9136aa);
  g_assert_cmphex(tm_crc32c(ones, 32), ==, 0x62a8ab43);
  g_assert_cmphex(tm_crc32c(up, 32), ==, 0x46dd794e);
  g_assert_cmphex(tm_crc32c("123456789", 9), ==, 0xe3069283);
  guint8 long_one[300];
  for (guint i = 0; i < sizeof long_one; i++) long_one[i] = (guint8)(i * i + 3);
  for (guint from = 0; from < 9; from++)
    for (guint n = 0; n + from <= sizeof long_one; n += 7)
      g_assert_cmphex(tm_crc32c(long_one + from, n), ==, tm_crc32c_plain(long_one + from, n));
}

static gboolean holds(GBytes *record, const void *bytes, gsize size) {
  return memmem(g_bytes_get_data(record, NULL), g_bytes_get_size(record), bytes, size) != NULL;
}

static void test_records(void) {
  g_autofree char *folder = rt_folder();
  write_steps(folder, 300, 310, 0.5f);
  g_autofree char *path = newest(folder);
  gsize size;
  End end;
  g_autofree char *bytes = rt_read(path, &size);
  g_autoptr(GPtrArray) records = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
  g_assert_cmpuint(read_records((const guint8 *)bytes, size, &end, records), ==, 12);
  g_assert_cmpint(end, ==, END_WHOLE);
  g_assert_true(holds(records->pdata[0],
                      "\x1a\x0d"
                      "brain.Event:2",
                      15));
  g_assert_true(holds(records->pdata[1], "\x10\xac\x02", 3));     /* step 300 as a varint */
  g_assert_true(holds(records->pdata[1], "\x3a\x02\x08\x01", 4)); /* session_log { status: START } */
  g_assert_true(
      holds(records->pdata[2], "\x2a\x13\x0a\x11\x0a\x0aloss/train\x15\x00\x40\x96\x43", 21)); /* 300.5 */
  rt_remove(folder);
}

/* Cut anywhere: the whole records before are read, and it is told from damage. */
static void test_cut_and_damaged(void) {
  g_autofree char *folder = rt_folder();
  write_steps(folder, 0, 5, 1);
  g_autofree char *path = newest(folder);
  gsize size;
  End end;
  g_autofree char *bytes = rt_read(path, &size);
  const guint whole = read_records((const guint8 *)bytes, size, &end, NULL);
  g_assert_cmpuint(whole, ==, 7);
  g_assert_cmpuint(read_records((const guint8 *)bytes, size - 7, &end, NULL), ==, whole - 1);
  g_assert_cmpint(end, ==, END_CUT);
  for (gsize i = 0; i < size; i++) {
    bytes[i] = (char)(bytes[i] ^ 0x10);
    g_assert_cmpuint(read_records((const guint8 *)bytes, size, &end, NULL), <, whole);
    g_assert_cmpint(end, ==, END_DAMAGED);
    bytes[i] = (char)(bytes[i] ^ 0x10);
  }
  rt_remove(folder);
}

/* Three openings within one second, and one under a clock that went back: names still sort in order of time.
 */
static void test_names_in_order(void) {
  g_autofree char *folder = rt_folder(), *last = NULL;
  for (int i = 0; i < 3; i++) {
    write_steps(folder, 0, 1, 1);
    g_autofree char *path = newest(folder);
    g_assert_cmpint(g_strcmp0(path, last), >, 0);
    g_free(last);
    last = g_steal_pointer(&path);
  }
  g_autofree char *future = g_build_filename(folder, "events.out.tfevents.5000000000.elsewhere.1", NULL);
  rt_write(future, "", 0);
  write_steps(folder, 0, 1, 1);
  g_autofree char *path = newest(folder);
  g_assert_nonnull(strstr(path, "tfevents.5000000001."));
  g_assert_cmpuint(rt_count(folder), ==, 5);
  rt_remove(folder);
}

static char *tensorboard(const char *python, const char *folder) {
  g_autofree char *script = g_build_filename(g_getenv("TM_SOURCE"), "tests", "run", "read_events.py", NULL);
  return rt_run((const char *[]){python, script, folder, NULL});
}

static guint count_points(const char *text) {
  guint n = 0;
  for (const char *p = text; (p = strchr(p, '\n')); p++) n++;
  return n;
}

static void test_tensorboard_resume(void) {
  g_autofree char *python = rt_python();
  if (!python) return;
  g_autofree char *folder = rt_folder();
  write_steps(folder, 0, 151, 0);      /* killed after 150 */
  write_steps(folder, 101, 200, 1000); /* resumed from 101 */
  g_autofree char *out = tensorboard(python, folder);
  g_assert_cmpuint(count_points(out), ==, 200);
  g_assert_nonnull(strstr(out, "loss/train 100 100.0\n"));
  g_assert_nonnull(strstr(out, "loss/train 101 1101.0\n"));
  g_assert_nonnull(strstr(out, "loss/train 150 1150.0\n"));
  g_assert_null(strstr(out, "loss/train 150 150.0\n"));
  rt_remove(folder);
}

static void test_tensorboard_cut(void) {
  g_autofree char *python = rt_python();
  if (!python) return;
  g_autofree char *folder = rt_folder();
  write_steps(folder, 0, 10, 0);
  g_autofree char *old = newest(folder);
  gsize size, later;
  g_autofree char *bytes = rt_read(old, &size);
  rt_write(old, bytes, size - 7);
  write_steps(folder, 8, 12, 100);
  g_autofree char *unchanged = rt_read(old, &later);
  g_assert_cmpuint(later, ==, size - 7); /* nothing was appended to the cut file */
  g_assert_cmpint(memcmp(bytes, unchanged, later), ==, 0);
  g_autofree char *out = tensorboard(python, folder);
  g_assert_cmpuint(count_points(out), ==, 12);
  g_assert_nonnull(strstr(out, "loss/train 7 7.0\n"));
  g_assert_nonnull(strstr(out, "loss/train 9 109.0\n"));
  rt_remove(folder);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/events/checksum", test_crc);
  g_test_add_func("/events/records", test_records);
  g_test_add_func("/events/cut-and-damaged", test_cut_and_damaged);
  g_test_add_func("/events/names-in-order", test_names_in_order);
  g_test_add_func("/events/tensorboard-sees-no-zigzag", test_tensorboard_resume);
  g_test_add_func("/events/tensorboard-after-a-cut", test_tensorboard_cut);
  return g_test_run();
}
