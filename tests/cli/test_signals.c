/* test_signals.c: Ctrl+C and kill while training, and the progress bar, both on a terminal of our own making.
 */
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 60000 };

typedef struct {
  pid_t pid;
  int terminal;
  GString *seen;
} Session;

/* Starts "tarmac train demo …", endless unless stopped, on a terminal 100 columns wide. */
static Session start(const char *runs, const char *name, const char *epochs) {
  Session s = {.seen = g_string_new(NULL)};
  struct winsize size = {.ws_row = 25, .ws_col = 100};
  s.pid = forkpty(&s.terminal, NULL, NULL, &size);
  g_assert_cmpint(s.pid, >=, 0);
  if (s.pid == 0) {
    setenv("TERM", "xterm", 1);
    execl(program_path(), "tarmac", "train", "demo", "--demo-size", "48x32", "--demo-train", "8",
          "--demo-val", "2", "--base", "2", "--depth", "2", "--batch", "2", "--precision", "f32", "--threads",
          "1", "--epochs", epochs, "--out", runs, "--name", name, (char *)NULL);
    _exit(127);
  }
  return s;
}

/* Reads what the program prints until @part is there; FALSE when it ends or the patience does. */
static gboolean wait_for(Session *s, const char *part) {
  gint64 end = g_get_monotonic_time() + PATIENCE_MS * 1000;
  while (!strstr(s->seen->str, part)) {
    struct pollfd p = {.fd = s->terminal, .events = POLLIN};
    char bytes[4096];
    gssize n = -1;
    if (g_get_monotonic_time() < end && poll(&p, 1, 1000) >= 0) {
      if (!(p.revents & (POLLIN | POLLHUP))) continue;
      n = read(s->terminal, bytes, sizeof bytes);
    }
    if (n <= 0) return FALSE;
    g_string_append_len(s->seen, bytes, n);
  }
  return TRUE;
}

/* The rest of its words and its exit code. */
static int finish(Session *s) {
  wait_for(s, "\001 never printed");
  int status = 0;
  while (waitpid(s->pid, &status, 0) < 0 && errno == EINTR) continue;
  close(s->terminal);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void session_clear(Session *s) {
  g_string_free(s->seen, TRUE);
}

#define assert_seen(s, part)                                                                                 \
  do {                                                                                                       \
    if (!wait_for((s), (part))) g_test_message("“%s” was not printed; seen:\n%s", (part), (s)->seen->str);   \
    g_assert_nonnull(strstr((s)->seen->str, (part)));                                                        \
  } while (0)

static void check_saved(int signum, int expected) {
  g_autofree char *runs = scratch_folder(), *run = g_build_filename(runs, "stopped", NULL);
  g_autofree char *last = g_build_filename(run, "checkpoints", "last.safetensors", NULL);
  Session s = start(runs, "stopped", "100000");
  assert_seen(&s, "epoch 2 of 100000");
  kill(s.pid, signum);
  int code = finish(&s);
  if (code != expected) g_test_message("exit code %d; seen:\n%s", code, s.seen->str);
  g_assert_cmpint(code, ==, expected);
  assert_says(s.seen->str, "--resume");
  g_assert_true(g_file_test(last, G_FILE_TEST_IS_REGULAR));
  session_clear(&s);
  /* What was saved is whole: the run can be scored. */
  g_auto(Ran) r = program_run("evaluate", last, "--json", NULL);
  assert_code(r, 0);
}

static void test_sigterm(void) {
  check_saved(SIGTERM, 143);
}
static void test_sigint(void) {
  check_saved(SIGINT, 130);
}

static void test_second_sigint(void) {
  g_autofree char *runs = scratch_folder();
  Session s = start(runs, "hurried", "100000");
  assert_seen(&s, "epoch 1 of 100000");
  kill(s.pid, SIGINT);
  kill(s.pid, SIGINT);
  g_assert_cmpint(finish(&s), ==, 130);
  session_clear(&s);
}

/* On a terminal there is a bar that draws over itself, with a rate and the time left, and none of it stays at
 * the end. */
static void test_bar(void) {
  g_autofree char *runs = scratch_folder();
  Session s = start(runs, "bar", "40");
  assert_seen(&s, "pictures/s");
  assert_seen(&s, " left");
  assert_seen(&s, "\r\033[K");
  assert_seen(&s, "█");
  int code = finish(&s);
  g_assert_cmpint(code, ==, 0);
  assert_says(s.seen->str, "result.png");
  session_clear(&s);
}

int main(int argc, char **argv) {
  program_init(&argc, &argv);
  g_test_add_func("/cli/signals/sigterm-saves", test_sigterm);
  g_test_add_func("/cli/signals/sigint-saves", test_sigint);
  g_test_add_func("/cli/signals/second-sigint-leaves-at-once", test_second_sigint);
  g_test_add_func("/cli/signals/bar", test_bar);
  return g_test_run();
}
