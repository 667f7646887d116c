/* test_atomic.c: whatever fails while a checkpoint is written, the old one or the new one is there, whole. */
#include "tests/run/run_test.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/run/atomic.h"
#include "engine/run/checkpoint-private.h"
#include "engine/run/file_ops-private.h"

/* ---- every call made to fail ---- */

static int fail_at, calls, fail_code; /* the call that fails, from 1; 0 none */

static gboolean failing(void) {
  if (++calls != fail_at) return FALSE;
  errno = fail_code;
  return TRUE;
}

static ssize_t failing_write(int fd, const void *p, size_t n) {
  return failing() ? -1 : write(fd, p, n);
}
static int failing_fsync(int fd) {
  return failing() ? -1 : fsync(fd);
}
static int failing_rename(const char *a, const char *b) {
  return failing() ? -1 : rename(a, b);
}
/* A disk that takes a few bytes at a time, with interruptions. */
static ssize_t slow_write(int fd, const void *p, size_t n) {
  if (++calls % 3 == 0) {
    errno = EINTR;
    return -1;
  }
  return write(fd, p, MIN(n, 5));
}

static const TmFileOps honest = {.write = write, .fsync = fsync, .rename = rename};

static void test_each_call_fails(void) {
  const int codes[] = {ENOSPC, EIO, EDQUOT, EFBIG};
  g_autofree char *folder = rt_folder(), *last = g_build_filename(folder, "last", NULL),
                  *previous = g_build_filename(folder, "previous", NULL);
  g_autoptr(TmCheckpoint) one = rt_checkpoint(1), two = rt_checkpoint(2);
  int n_calls = 0;
  for (guint k = 0; k < G_N_ELEMENTS(codes); k++)
    for (fail_at = 0; fail_at <= n_calls; fail_at++) {
      g_autoptr(GError) error = NULL;
      tm_file_ops = honest;
      rt_remove(folder);
      g_assert_cmpint(g_mkdir(folder, 0700), ==, 0);
      g_assert_true(tm_checkpoint_write(one, last, &error));
      tm_file_ops = (TmFileOps){.write = failing_write, .fsync = failing_fsync, .rename = failing_rename};
      calls = 0;
      fail_code = codes[k];
      const gboolean ok = tm_checkpoint_write_keep(two, last, previous, &error);
      tm_file_ops = honest;
      if (fail_at == 0) {
        n_calls = calls;
        g_assert_true(ok);
        g_assert_cmpint(n_calls, >=,
                        9); /* length, header, three tensors, checksum, sync, two renames, folder */
        g_assert_cmpint(rt_mark(last), ==, 2);
        g_assert_cmpint(rt_mark(previous), ==, 1);
        continue;
      }
      g_assert_false(ok);
      const int wanted = codes[k] == EIO ? TM_ERROR_FILE : TM_ERROR_NO_SPACE;
      g_assert_error(error, TM_ERROR, wanted);
      /* Only after the last rename, when the folder's sync fails, is the new one in place. */
      g_assert_cmpint(rt_mark(last), ==, fail_at == n_calls ? 2 : 1);
      if (g_file_test(previous, G_FILE_TEST_EXISTS)) g_assert_cmpint(rt_mark(previous), ==, 1);
      g_assert_cmpuint(rt_count(folder), ==,
                       g_file_test(previous, G_FILE_TEST_EXISTS) ? 2 : 1); /* no temporary file is left */
    }
  rt_remove(folder);
}

static void test_short_writes(void) {
  g_autofree char *folder = rt_folder(), *path = g_build_filename(folder, "last", NULL);
  g_autoptr(TmCheckpoint) c = rt_checkpoint(3);
  g_autoptr(GError) error = NULL;
  calls = 0;
  tm_file_ops.write = slow_write;
  g_assert_true(tm_checkpoint_write(c, path, &error));
  tm_file_ops = honest;
  g_assert_cmpint(calls, >, 100);
  g_assert_cmpint(rt_mark(path), ==, 3);
  rt_remove(folder);
}

static void test_no_folder(void) {
  g_autofree char *folder = rt_folder(), *path = g_build_filename(folder, "none", "last", NULL);
  g_autoptr(TmCheckpoint) c = rt_checkpoint(3);
  g_autoptr(GError) error = NULL;
  g_assert_false(tm_checkpoint_write(c, path, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_FILE);
  g_assert_nonnull(strstr(error->message, path));
  rt_remove(folder);
}

/* A file size limit (ulimit -f) sends a signal that would end the program. */
static void test_size_limit(void) {
  g_autofree char *folder = rt_folder(), *path = g_build_filename(folder, "last", NULL);
  g_autoptr(TmCheckpoint) small = rt_checkpoint(1), large = rt_checkpoint(2);
  g_autoptr(GError) error = NULL;
  struct rlimit before, limit;
  tm_checkpoint_add(large, "big", rt_tensor(TM_SHAPE(64, 64, 3, 3), 0));
  g_assert_true(tm_checkpoint_write(small, path, &error));
  g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &before), ==, 0);
  limit = before;
  limit.rlim_cur = 65536;
  g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &limit), ==, 0);
  const gboolean ok = tm_checkpoint_write(large, path, &error);
  g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &before), ==, 0);
  g_assert_false(ok);
  g_assert_error(error, TM_ERROR, TM_ERROR_NO_SPACE);
  g_assert_nonnull(strstr(error->message, "ulimit"));
  g_assert_cmpint(rt_mark(path), ==, 1);
  g_assert_cmpuint(rt_count(folder), ==, 1);
  rt_remove(folder);
}

/* ---- a disk that is full ---- */

/* In a namespace of its own, with a 64 kB disk on @folder. */
static int full_disk_child(const char *folder) {
  g_autofree char *path = g_build_filename(folder, "last", NULL);
  g_autoptr(TmCheckpoint) small = rt_checkpoint(1), large = rt_checkpoint(2);
  g_autoptr(GError) error = NULL;
  tm_checkpoint_add(large, "big", rt_tensor(TM_SHAPE(64, 64, 3, 3), 0)); /* 147 kB */
  g_assert_true(tm_checkpoint_write(small, path, &error));
  g_assert_false(tm_checkpoint_write(large, path, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_NO_SPACE);
  g_assert_cmpint(rt_mark(path), ==, 1);
  g_assert_cmpuint(rt_count(folder), ==, 1);
  g_print("%s\n", error->message);
  return 0;
}

static const char *self;

static void test_full_disk(void) {
  g_autofree char *folder = rt_folder();
  int status = 0;
  if (!g_spawn_sync(
          NULL,
          (char *[]){"unshare", "-rm", "sh", "-c", "mount -t tmpfs -o size=64k none \"$0\"", folder, NULL},
          NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
          NULL, NULL, &status, NULL) ||
      status != 0) {
    g_test_skip("this system does not let a user mount a small disk (unshare -rm)");
    rt_remove(folder);
    return;
  }
  static const char script[] = "mount -t tmpfs -o size=64k none \"$1\" && exec \"$0\" --full-disk \"$1\"";
  g_autofree char *out = rt_run((const char *[]){"unshare", "-rm", "sh", "-c", script, self, folder, NULL});
  /* Needed: eight bytes, header, tensors; free: of the small disk, not of any other. */
  guint64 needed = 0, have = 0;
  const char *at = strstr(out, "full: ");
  g_assert_nonnull(at);
  g_assert_cmpint(
      sscanf(at, "full: %" G_GUINT64_FORMAT " bytes are needed there and %" G_GUINT64_FORMAT " are free",
             &needed, &have),
      ==, 2);
  g_assert_cmpuint(needed, >, 64 * 64 * 9 * 4);
  g_assert_cmpuint(needed, <, 64 * 64 * 9 * 4 + 4096);
  g_assert_cmpuint(have, >, 32768);
  g_assert_cmpuint(have, <, 65536);
  g_assert_nonnull(strstr(out, folder));
  rt_remove(folder);
}

/* ---- kill -9 ---- */

G_GNUC_NORETURN static void write_for_ever(const char *last, const char *previous, const char *folder) {
  for (int mark = 2;; mark++) {
    g_autoptr(TmCheckpoint) c = rt_checkpoint(mark);
    tm_checkpoint_add(c, "big", rt_tensor(TM_SHAPE(64, 64, 3, 3), 0));
    if (!tm_checkpoint_write_keep(c, last, previous, NULL)) _exit(1);
    if (!g_file_test(folder, G_FILE_TEST_IS_DIR)) _exit(0);
  }
}

static void test_kill(void) {
  g_autofree char *folder = rt_folder(), *last = g_build_filename(folder, "last", NULL),
                  *previous = g_build_filename(folder, "previous", NULL);
  g_autoptr(TmCheckpoint) first = rt_checkpoint(1);
  g_autoptr(GError) error = NULL;
  g_assert_true(tm_checkpoint_write(first, last, &error));
  int most = 1;
  for (int i = 0; i < 50; i++) {
    const pid_t child = fork();
    g_assert_cmpint(child, >=, 0);
    if (child == 0) write_for_ever(last, previous, folder);
    g_usleep((gulong)g_test_rand_int_range(500, 20000));
    int status = 0;
    g_assert_cmpint(kill(child, SIGKILL), ==, 0);
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    g_assert_true(WIFSIGNALED(status));
    most = MAX(most, rt_mark(last));
    if (g_file_test(previous, G_FILE_TEST_EXISTS)) g_assert_cmpint(rt_mark(previous), >=, 1);
  }
  g_assert_cmpint(most, >, 2); /* it did write */
  tm_atomic_sweep(folder);
  g_assert_cmpuint(rt_count(folder), ==, 2);
  rt_remove(folder);
}

int main(int argc, char **argv) {
  if (argc == 3 && g_str_equal(argv[1], "--full-disk")) return full_disk_child(argv[2]);
  self = argv[0];
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/atomic/each-call-fails", test_each_call_fails);
  g_test_add_func("/atomic/short-writes", test_short_writes);
  g_test_add_func("/atomic/no-folder", test_no_folder);
  g_test_add_func("/atomic/file-size-limit", test_size_limit);
  g_test_add_func("/atomic/full-disk", test_full_disk);
  g_test_add_func("/atomic/kill-while-writing", test_kill);
  return g_test_run();
}
