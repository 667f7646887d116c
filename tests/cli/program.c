#include "program.h"

#include <string.h>
#include <sys/wait.h>

#include <glib/gstdio.h>

static char *program;
static GPtrArray *folders;

static void remove_tree(const char *path) {
  g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
  const char *name;
  while (dir && (name = g_dir_read_name(dir))) {
    g_autofree char *child = g_build_filename(path, name, NULL);
    if (!g_file_test(child, G_FILE_TEST_IS_SYMLINK) && g_file_test(child, G_FILE_TEST_IS_DIR))
      remove_tree(child);
    else
      g_remove(child);
  }
  g_rmdir(path);
}

static void remove_folders(void) {
  for (guint i = 0; i < folders->len; i++) remove_tree(folders->pdata[i]);
}

void program_init(int *argc, char ***argv) {
  g_test_init(argc, argv, NULL);
  g_assert_cmpint(*argc, >=, 2);
  program = (*argv)[1];
  folders = g_ptr_array_new_with_free_func(g_free);
  atexit(remove_folders);
}

const char *program_path(void) {
  return program;
}

Ran program_run_env(const char *const *words, const char *variable, const char *value) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GSubprocessLauncher) launcher =
      g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE);
  if (variable) g_subprocess_launcher_setenv(launcher, variable, value, TRUE);
  g_subprocess_launcher_unsetenv(launcher, "DISPLAY"); /* no word may open a window */
  g_subprocess_launcher_unsetenv(launcher, "WAYLAND_DISPLAY");
  g_autoptr(GPtrArray) argv = g_ptr_array_new();
  g_ptr_array_add(argv, program);
  for (guint i = 0; words[i]; i++) g_ptr_array_add(argv, (gpointer)words[i]);
  g_ptr_array_add(argv, NULL);
  g_autoptr(GSubprocess) process =
      g_subprocess_launcher_spawnv(launcher, (const char *const *)argv->pdata, &error);
  g_assert_no_error(error);
  Ran r = {0};
  g_subprocess_communicate_utf8(process, NULL, NULL, &r.out, &r.err, &error);
  g_assert_no_error(error);
  int status = g_subprocess_get_status(process);
  r.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return r;
}

Ran program_run(const char *word, ...) {
  g_autoptr(GPtrArray) words = g_ptr_array_new();
  va_list args;
  va_start(args, word);
  for (const char *w = word; w; w = va_arg(args, const char *)) g_ptr_array_add(words, (gpointer)w);
  va_end(args);
  g_ptr_array_add(words, NULL);
  return program_run_env((const char *const *)words->pdata, NULL, NULL);
}

void ran_clear(Ran *r) {
  g_free(r->out);
  g_free(r->err);
  memset(r, 0, sizeof *r);
}

JsonObject *ran_json(const Ran *r) {
  g_autofree char *text = g_strchomp(g_strdup(r->out));
  const char *line = strrchr(text, '\n');
  g_autoptr(JsonParser) parser = json_parser_new();
  g_autoptr(GError) error = NULL;
  if (!json_parser_load_from_data(parser, line ? line + 1 : text, -1, &error))
    g_test_message("not JSON: %s", line ? line + 1 : text);
  g_assert_no_error(error);
  g_assert_true(JSON_NODE_HOLDS_OBJECT(json_parser_get_root(parser)));
  return json_object_ref(json_node_get_object(json_parser_get_root(parser)));
}

char *scratch_folder(void) {
  g_autoptr(GError) error = NULL;
  char *path = g_dir_make_tmp("tarmac-cli-XXXXXX", &error);
  g_assert_no_error(error);
  g_ptr_array_add(folders, g_strdup(path));
  return path;
}

void scratch_file(const char *folder, const char *name, const void *data, gsize bytes) {
  g_autofree char *path = g_build_filename(folder, name, NULL);
  g_autoptr(GError) error = NULL;
  g_file_set_contents(path, data, (gssize)bytes, &error);
  g_assert_no_error(error);
}
