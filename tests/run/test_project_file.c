/* Projects on disk: one for each dataset, wherever it is opened from; whole or not at all; never in the
 * dataset. */
#include "engine/run/project_file.h"

#include <fcntl.h>
#include <unistd.h>

#include "engine/run/run_dir.h"
#include "tests/run/run_test.h"

static TmProjectFile *open_project(const char *path) {
  g_autoptr(GError) error = NULL;
  TmProjectFile *p = tm_project_file_open(path, &error);
  g_assert_no_error(error);
  return p;
}

static void write_project(const TmProjectFile *p) {
  g_autoptr(GError) error = NULL;
  tm_project_file_write(p, &error);
  g_assert_no_error(error);
}

static void test_keep(void) {
  g_autofree char *folder = rt_folder();
  g_autoptr(TmProjectFile) p = open_project(folder);
  g_assert_cmpint(p->opened, ==, 0);
  g_assert_false(g_file_test(p->folder, G_FILE_TEST_EXISTS)); /* looking makes nothing */
  tm_amend_leave_out(p->amend, "images/ü %.png", TRUE);
  g_hash_table_insert(p->amend->splits, g_strdup("images/b.png"), GUINT_TO_POINTER(TM_SPLIT_TEST));
  p->amend->classes = tm_class_table_camvid();
  p->opened = 1234567890;
  p->n_pictures = 7;
  p->options.val_fraction = 0.25f;
  write_project(p);
  g_assert_cmpuint(rt_count(folder), ==, 0); /* nothing in the dataset */
  g_autofree char *detour = g_build_filename(folder, "..", NULL), *base = g_path_get_basename(folder),
                  *again_path = g_build_filename(detour, base, NULL);
  g_autoptr(TmProjectFile) q = open_project(again_path);
  g_assert_cmpstr(q->folder, ==, p->folder);
  g_assert_cmpstr(q->path, ==, folder);
  g_assert_cmpint(q->opened, ==, 1234567890);
  g_assert_cmpuint(q->n_pictures, ==, 7);
  g_assert_cmpfloat(q->options.val_fraction, ==, 0.25f);
  g_assert_true(g_hash_table_contains(q->amend->left_out, "images/ü %.png"));
  g_assert_cmpuint(GPOINTER_TO_UINT(g_hash_table_lookup(q->amend->splits, "images/b.png")), ==,
                   TM_SPLIT_TEST);
  g_assert_cmpuint(q->amend->classes->n, ==, 11);
  g_autofree char *runs = tm_run_default_root(folder, q->title),
                  *own = g_build_filename(q->folder, "runs", NULL);
  g_assert_cmpstr(runs, ==, own); /* runs of the terminal and of the window lie together */
  rt_remove(folder);
}

static void test_demo(void) {
  g_autofree char *here = g_get_current_dir(), *folder = rt_folder();
  g_autoptr(TmProjectFile) a = open_project("demo");
  g_assert_cmpint(g_chdir(folder), ==, 0);
  g_autoptr(TmProjectFile) b = open_project("demo");
  g_assert_cmpint(g_chdir(here), ==, 0);
  g_assert_cmpstr(a->folder, ==, b->folder);
  g_assert_cmpstr(a->path, ==, "demo");
  rt_remove(folder);
}

/* What cannot be read is told by name and left alone. */
static void test_damaged(void) {
  const char *const bad[] = {"",
                             "{",
                             "[]",
                             "{\"version\": 1}",
                             "{\"version\": 2, \"dataset\": \"demo\"}",
                             "{\"version\": 1, \"dataset\": \"http://x\"}",
                             "{\"version\": 1, \"dataset\": \"demo\", \"splits\": 3}"};
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autofree char *folder = rt_folder();
    g_autoptr(TmProjectFile) p = open_project(folder);
    write_project(p);
    g_autofree char *file = g_build_filename(p->folder, "project.json", NULL), *after = NULL;
    g_assert_true(g_file_set_contents(file, bad[i], -1, NULL));
    g_autoptr(GError) error = NULL;
    g_assert_null(tm_project_file_open(folder, &error));
    g_assert_error(error, TM_ERROR, TM_ERROR_CORRUPT);
    g_assert_nonnull(strstr(error->message, file));
    g_clear_error(&error);
    g_assert_null(tm_project_dataset_open(folder, NULL, NULL, &error));
    g_assert_error(error, TM_ERROR, TM_ERROR_CORRUPT);
    g_assert_true(g_file_get_contents(file, &after, NULL, NULL));
    g_assert_cmpstr(after, ==, bad[i]);
    rt_remove(p->folder);
    rt_remove(folder);
  }
}

static void test_list(void) {
  g_autofree char *one = rt_folder(), *two = rt_folder();
  g_autoptr(TmProjectFile) a = open_project(one), b = open_project(two);
  a->opened = 2000000000;
  b->opened = 2000000001;
  b->forgotten = TRUE;
  write_project(a);
  write_project(b);
  g_autofree char *stray = g_build_filename(g_get_user_data_dir(), "tarmac", "projects", "stray", NULL);
  g_mkdir_with_parents(stray, 0755);
  g_autoptr(GPtrArray) all = tm_project_file_list();
  g_assert_cmpuint(all->len, >=, 2);
  TmProjectFile *first = all->pdata[0], *second = all->pdata[1];
  g_assert_cmpstr(first->path, ==, two);
  g_assert_true(first->forgotten);
  g_assert_cmpstr(second->path, ==, one);
  rt_remove(one);
  rt_remove(two);
}

static void test_runs(void) {
  g_autofree char *folder = rt_folder(), *best = NULL;
  g_autoptr(TmProjectFile) p = open_project(folder);
  double miou;
  g_assert_cmpuint(tm_project_file_runs(p, &best, &miou), ==, 0);
  g_assert_true(isnan(miou));
  g_assert_null(best);
  g_autofree char *root = tm_run_default_root(p->path, p->title);
  const char *const names[] = {"run-1", "run-2", "run-3"};
  for (int i = 0; i < 3; i++) {
    g_autoptr(GError) error = NULL;
    g_autofree char *path = tm_run_create(root, names[i], &error);
    g_autoptr(TmRunDir) r = tm_run_open(path, 0, &error);
    g_autoptr(JsonNode) info = json_from_string("{}", NULL);
    g_assert_true(tm_run_write_info(r, info, &error));
    for (guint e = 0; i < 2 && e < 3; e++) { /* the third has no epoch yet */
      const TmEpochRow row = {.epoch = e, .step = e, .miou = e == 1 ? 0.5f + 0.1f * (float)i : 0.25f};
      const char *class = "Road";
      const double iou = 0.5;
      g_assert_true(tm_run_add_epoch(r, &row, 1, &class, &iou, &error));
    }
  }
  g_assert_cmpuint(tm_project_file_runs(p, &best, &miou), ==, 3);
  g_assert_cmpstr(best, ==, "run-2");
  g_assert_cmpfloat(fabs(miou - 0.6), <, 1e-4);
  rt_remove(p->folder);
  rt_remove(folder);
}

/* The terminal's way: what the window changed holds there, and whoever gives a class table means it. */
static void test_dataset(void) {
  g_autoptr(GError) error = NULL;
  g_autofree char *said = NULL;
  const TmDatasetOptions o = {.demo_train = 3, .demo_val = 1, .demo_width = 32, .demo_height = 24};
  g_autoptr(TmDataset) plain = tm_project_dataset_open("demo", &o, &said, &error);
  g_assert_no_error(error);
  g_assert_null(said);
  g_autoptr(TmProjectFile) p = open_project("demo");
  tm_amend_leave_out(p->amend, "road-0002", TRUE);
  p->amend->classes = tm_class_table_camvid();
  g_free(p->amend->classes->classes[3].name);
  p->amend->classes->classes[3].name = g_strdup("Tarmac");
  write_project(p);
  g_autoptr(TmDataset) d = tm_project_dataset_open("demo", &o, &said, &error);
  g_assert_no_error(error);
  g_assert_nonnull(strstr(said, "1 picture left out"));
  g_assert_true(tm_dataset_entry(d, 1)->left_out);
  g_assert_cmpstr(tm_dataset_classes(d)->classes[3].name, ==, "Tarmac");
  g_autoptr(TmClassTable) own = tm_class_table_camvid();
  TmDatasetOptions given = o;
  given.classes = own;
  g_autoptr(TmDataset) e = tm_project_dataset_open("demo", &given, NULL, &error);
  g_assert_cmpstr(tm_dataset_classes(e)->classes[3].name, ==, "Road");
  rt_remove(p->folder);
}

/* A place that cannot be written to is told; what was there stays. */
static void test_no_place(void) {
  g_autofree char *folder = rt_folder(), *file = g_build_filename(folder, "file", NULL);
  g_autoptr(TmProjectFile) p = open_project(folder);
  g_assert_true(g_file_set_contents(file, "x", 1, NULL));
  g_free(p->folder);
  p->folder = g_build_filename(file, "project", NULL);
  g_autoptr(GError) error = NULL;
  g_assert_false(tm_project_file_write(p, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_FILE);
  g_assert_nonnull(strstr(error->message, "file"));
  rt_remove(folder);
}

int main(int argc, char **argv) {
  g_autofree char *home = rt_folder();
  g_setenv("XDG_DATA_HOME", home, TRUE); /* before GLib asks for it */
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/project-file/keep", test_keep);
  g_test_add_func("/project-file/demo", test_demo);
  g_test_add_func("/project-file/damaged", test_damaged);
  g_test_add_func("/project-file/list", test_list);
  g_test_add_func("/project-file/runs", test_runs);
  g_test_add_func("/project-file/dataset", test_dataset);
  g_test_add_func("/project-file/no-place", test_no_place);
  const int code = g_test_run();
  rt_remove(home);
  return code;
}
