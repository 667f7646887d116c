/* test_tree.c: the shape of the source tree itself: which room may include which, what no file may contain,
 * and that translators see every string. */
#include <string.h>

#include <gio/gio.h>

/* A room and the rooms its files may include, itself first; the longest name that fits a path counts. engine/
 * alone means all of it. */
static const struct {
  const char *room, *may[12];
} rooms[] = {
    {"kernels",
     {"kernels", "engine/core/dtype.h", "engine/core/shape.h", "engine/core/view.h", "engine/core/random.h",
      "engine/core/compose.h"}},
    {"engine/core", {"engine/core"}},
    {"engine/graph", {"engine/graph", "engine/core"}},
    {"engine/ops", {"engine/ops", "engine/graph", "engine/core"}},
    {"engine/backend", {"engine/backend", "engine/graph", "engine/core"}},
    {"engine/program",
     {"engine/program", "engine/backend/backend.h", "engine/ops", "engine/graph", "engine/core"}},
    {"engine/backend/ref",
     {"engine/backend/ref", "engine/backend/backend.h", "engine/backend/builtin.h",
      "engine/backend/plain_conv.h", "engine/program", "engine/graph", "engine/core", "kernels"}},
    {"engine/backend/cpu",
     {"engine/backend/cpu", "engine/backend/backend.h", "engine/backend/builtin.h",
      "engine/backend/plain_conv.h", "engine/program", "engine/graph", "engine/core", "kernels"}},
    {"engine/backend/cuda",
     {"engine/backend/cuda", "engine/backend/backend.h", "engine/program", "engine/graph", "engine/core",
      "kernels"}},
    {"engine/nets", {"engine/nets", "engine/graph", "engine/core"}},
    {"engine/data", {"engine/data", "engine/core", "engine/graph/node.h"}},
    {"engine/run", {"engine/run", "engine/data", "engine/core"}},
    {"engine/monitor", {"engine/monitor", "engine/core"}},
    {"engine/doctor", {"engine"}},
    {"engine/train", {"engine"}},
    {"engine/predict", {"engine"}},
    {"ui", {"ui", "engine"}},
    {"app", {"app", "ui", "engine"}},
};

typedef void (*FileVisitor)(const char *path, const char *text, gpointer user);

static const char *source_root(void) {
  const char *root = g_getenv("TM_SOURCE");
  return root ? root : ".";
}

static gboolean is_source(const char *name) {
  return g_str_has_suffix(name, ".c") || g_str_has_suffix(name, ".h");
}

/* Calls @visit for every file below @folder (relative to the root) whose name passes @wanted, with its text.
 * Returns how many. */
static guint walk(const char *folder, gboolean (*wanted)(const char *name), FileVisitor visit,
                  gpointer user) {
  g_autofree char *full = g_build_filename(source_root(), folder, NULL);
  g_autoptr(GDir) dir = g_dir_open(full, 0, NULL);
  guint n = 0;
  const char *name;
  while (dir && (name = g_dir_read_name(dir))) {
    g_autofree char *path = g_build_filename(folder, name, NULL), *file = g_build_filename(full, name, NULL);
    if (g_file_test(file, G_FILE_TEST_IS_DIR)) {
      n += walk(path, wanted, visit, user);
    } else if (wanted(name)) {
      g_autofree char *text = NULL;
      g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
      visit(path, text, user);
      n++;
    }
  }
  return n;
}

static gboolean below(const char *path, const char *room) {
  gsize n = strlen(room);
  return strncmp(path, room, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

static const char *const *allowed(const char *path, const char **room) {
  const char *const *may = NULL;
  gsize longest = 0;
  for (guint i = 0; i < G_N_ELEMENTS(rooms); i++)
    if (below(path, rooms[i].room) && strlen(rooms[i].room) > longest) {
      longest = strlen(rooms[i].room);
      may = rooms[i].may;
      *room = rooms[i].room;
    }
  return may;
}

/* ---- includes ---- */

static void check_include(const char *path, const char *target) {
  const char *room = NULL;
  const char *const *may = allowed(path, &room);
  g_autofree char *file = g_build_filename(source_root(), target, NULL);
  if (!g_file_test(file, G_FILE_TEST_EXISTS) && strchr(target, '/')) {
    /* Made by the build (a resource's header) or missing: the compiler tells. */
    return;
  }
  for (guint i = 0; may[i]; i++)
    if (below(target, may[i])) return;
  g_test_message("%s includes \"%s\", which %s/ may not", path, target, room);
  g_test_fail();
}

static void visit_includes(const char *path, const char *text, gpointer user) {
  const char *wanted = user, *room = NULL;
  if (!allowed(path, &room) || strcmp(room, wanted) != 0) return;
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  for (guint i = 0; lines[i]; i++) {
    if (!g_str_has_prefix(lines[i], "#include \"")) continue;
    const char *begin = lines[i] + strlen("#include \""), *end = strchr(begin, '"');
    if (!end) continue;
    g_autofree char *target = g_strndup(begin, (gsize)(end - begin));
    check_include(path, target);
  }
}

static void test_layers(gconstpointer data) {
  g_assert_cmpuint(walk(data, is_source, visit_includes, (gpointer)data), >, 0);
}

/* GTK, GL and their kin stay out of all that the terminal alone can run. */
static void visit_toolkits(const char *path, const char *text, gpointer user) {
  static const char *const kin[] = {"#include <gtk/",    "#include <gdk/",   "#include <gsk/",
                                    "#include <adwaita", "#include <epoxy/", "#include <cairo"};
  for (guint i = 0; i < G_N_ELEMENTS(kin); i++)
    if (strstr(text, kin[i])) {
      g_test_message("%s has %s", path, kin[i]);
      g_test_fail();
    }
  (void)user;
}

static void test_no_toolkit(void) {
  g_assert_cmpuint(walk("engine", is_source, visit_toolkits, NULL), >, 50);
  walk("kernels", is_source, visit_toolkits, NULL);
}

/* Kernels take pointers and shapes: they neither allocate nor report by other means than a return value. */
static void visit_kernel(const char *path, const char *text, gpointer user) {
  static const char *const calls[] = {"g_malloc", "g_new",  "g_error(",      "abort(",
                                      "exit(",    "GError", "#include <gio/"};
  for (guint i = 0; i < G_N_ELEMENTS(calls); i++)
    if (strstr(text, calls[i])) {
      g_test_message("%s has %s", path, calls[i]);
      g_test_fail();
    }
  (void)user;
}

static void test_kernels(void) {
  walk("kernels", is_source, visit_kernel, NULL);
}

/* ---- what no file may contain ---- */

static gboolean is_text(const char *name) {
  static const char *const endings[] = {".c",    ".h",  ".def", ".build", ".txt", ".md",
                                        ".py",   ".sh", ".css", ".blp",   ".ui",  ".xml",
                                        ".json", ".po", ".pot", ".in",    ".cu",  ".svg"};
  for (guint i = 0; i < G_N_ELEMENTS(endings); i++)
    if (g_str_has_suffix(name, endings[i])) return TRUE;
  return FALSE;
}

/* Written in two halves, or this file would be its own finding. */
static const char *const banned[] = {"TO"
                                     "DO",
                                     "FIX"
                                     "ME",
                                     "XX"
                                     "X ",
                                     "HA"
                                     "CK:",
                                     "/wo"
                                     "rk/",
                                     "/ro"
                                     "ot/",
                                     "/tmp"
                                     "/b-",
                                     "/ho"
                                     "me/"};

static void visit_words(const char *path, const char *text, gpointer user) {
  if (g_str_has_prefix(path, "./build") || g_str_has_prefix(path, "./.")) return;
  for (guint i = 0; i < G_N_ELEMENTS(banned); i++)
    if (strstr(text, banned[i])) {
      g_test_message("%s has “%s”", path, banned[i]);
      g_test_fail();
    }
  (void)user;
}

static void test_words(void) {
  static const char *const folders[] = {"app", "assets", "engine", "kernels", "po", "tests", "ui"};
  for (guint i = 0; i < G_N_ELEMENTS(folders); i++) walk(folders[i], is_text, visit_words, NULL);
  static const char *const files[] = {"bootstrap", "README.md", "CONTRIBUTING.md", "meson.build", ".ci/run"};
  for (guint i = 0; i < G_N_ELEMENTS(files); i++) {
    g_autofree char *file = g_build_filename(source_root(), files[i], NULL), *text = NULL;
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    visit_words(files[i], text, NULL);
  }
}

enum { LONGEST_FILE = 650 };

static void visit_length(const char *path, const char *text, gpointer user) {
  guint lines = 0;
  for (const char *c = text; *c; c++) lines += *c == '\n';
  if (lines > LONGEST_FILE) {
    g_test_message("%s has %u lines; one thing a file, about 600 at most", path, lines);
    g_test_fail();
  }
  (void)user;
}

static void test_length(void) {
  static const char *const folders[] = {"app", "engine", "kernels", "ui"};
  for (guint i = 0; i < G_N_ELEMENTS(folders); i++) walk(folders[i], is_source, visit_length, NULL);
}

/* ---- translations ---- */

static gboolean may_hold_strings(const char *name) {
  return g_str_has_suffix(name, ".c") || g_str_has_suffix(name, ".h") || g_str_has_suffix(name, ".def") ||
         g_str_has_suffix(name, ".blp") || g_str_has_suffix(name, ".ui");
}

static gboolean has_strings(const char *path, const char *text) {
  if (g_str_has_suffix(path, ".ui")) return strstr(text, "translatable=") != NULL;
  return strstr(text, "_(\"") || strstr(text, "ngettext(");
}

static GHashTable *listed_files(void) {
  g_autofree char *file = g_build_filename(source_root(), "po", "POTFILES", NULL), *text = NULL;
  g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
  GHashTable *listed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  for (guint i = 0; lines[i]; i++)
    if (*g_strstrip(lines[i]) && lines[i][0] != '#') g_hash_table_add(listed, g_strdup(lines[i]));
  return listed;
}

static void visit_strings(const char *path, const char *text, gpointer user) {
  if (!has_strings(path, text) || g_hash_table_contains(user, path)) return;
  g_test_message("%s has strings for people but is not in po/POTFILES; po/update lists it", path);
  g_test_fail();
}

static void test_potfiles(void) {
  g_autoptr(GHashTable) listed = listed_files();
  static const char *const folders[] = {"app", "engine", "ui"};
  for (guint i = 0; i < G_N_ELEMENTS(folders); i++) walk(folders[i], may_hold_strings, visit_strings, listed);
  GHashTableIter iter;
  gpointer path;
  g_hash_table_iter_init(&iter, listed);
  while (g_hash_table_iter_next(&iter, &path, NULL)) {
    g_autofree char *file = g_build_filename(source_root(), path, NULL);
    if (g_file_test(file, G_FILE_TEST_EXISTS)) continue;
    g_test_message("po/POTFILES lists %s, which does not exist; po/update mends it", (char *)path);
    g_test_fail();
  }
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS(rooms); i++) {
    g_autofree char *folder = g_build_filename(source_root(), rooms[i].room, NULL);
    g_autofree char *name = g_strconcat("/tree/layers/", rooms[i].room, NULL);
    if (g_file_test(folder, G_FILE_TEST_IS_DIR)) g_test_add_data_func(name, rooms[i].room, test_layers);
  }
  g_test_add_func("/tree/no-toolkit-in-the-engine", test_no_toolkit);
  g_test_add_func("/tree/kernels-only-compute", test_kernels);
  g_test_add_func("/tree/words", test_words);
  g_test_add_func("/tree/length", test_length);
  g_test_add_func("/tree/potfiles", test_potfiles);
  return g_test_run();
}
