/* test_run_dir.c: a run's folder, from its making to its resuming after everything that can happen in
 * between. */
#include "tests/run/run_test.h"

#include <errno.h>
#include <locale.h>
#include <unistd.h>

#include "engine/run/file_ops-private.h"

static char *new_run(const char *root) {
  g_autoptr(GError) error = NULL;
  char *path = tm_run_create(root, NULL, &error);
  g_assert_no_error(error);
  return path;
}

static TmRunDir *open_run(const char *path, guint64 step) {
  g_autoptr(GError) error = NULL;
  TmRunDir *r = tm_run_open(path, step, &error);
  g_assert_no_error(error);
  return r;
}

static void add_steps(TmRunDir *r, guint64 from, guint64 to, float loss) {
  g_autoptr(GError) error = NULL;
  for (guint64 i = from; i < to; i++) {
    const TmStepRow row = {.step = i,
                           .epoch = (float)i / 10.0f,
                           .seconds = 0.1f * (float)i,
                           .loss = loss + 0.1f * (float)i,
                           .lr = 3e-3f,
                           .grad_norm = 1.5f};
    g_assert_true(tm_run_add_step(r, &row, &error));
    g_assert_no_error(error);
  }
}

static void add_epoch(TmRunDir *r, guint epoch, guint64 step, float miou) {
  static const char *const names[] = {"Road", "Sky, \"blue\""};
  const double iou[] = {0.5, (double)NAN};
  const TmEpochRow row = {.epoch = epoch,
                          .step = step,
                          .seconds = 2.5f,
                          .train_loss = 1.0f / 3.0f,
                          .val_loss = NAN,
                          .miou = miou,
                          .accuracy = 0.9f,
                          .best = epoch == 1,
                          .times = {.step = 0.5, .wait = 0.125, .forward = NAN}};
  g_autoptr(GError) error = NULL;
  g_assert_true(tm_run_add_epoch(r, &row, 2, names, iou, &error));
  g_assert_no_error(error);
}

typedef struct {
  GArray *steps, *epochs;
} History;

/* Opens and closes: what a resume does to the files. */
static void reopen_run(const char *path, guint64 step) {
  tm_run_close(open_run(path, step));
}

static History read_history(const char *path) {
  g_autoptr(GError) error = NULL;
  History h = {g_array_new(FALSE, FALSE, sizeof(TmStepRow)), g_array_new(FALSE, FALSE, sizeof(TmEpochRow))};
  g_assert_true(tm_run_read_history(path, h.steps, h.epochs, &error));
  g_assert_no_error(error);
  return h;
}

static void free_history(History *h) {
  g_array_unref(h->steps);
  g_array_unref(h->epochs);
}

#define STEP(h, i) (&g_array_index((h).steps, TmStepRow, i))
#define EPOCH(h, i) (&g_array_index((h).epochs, TmEpochRow, i))

/* ---- making ---- */

static void test_create(void) {
  g_autofree char *folder = rt_folder(), *root = g_build_filename(folder, "new", "runs", NULL);
  g_autoptr(GError) error = NULL;
  g_autofree char *a = tm_run_create(root, "try", &error), *b = tm_run_create(root, "try", &error),
                  *c = tm_run_create(root, NULL, &error);
  g_assert_no_error(error);
  g_assert_true(g_str_has_suffix(a, "/try"));
  g_assert_true(g_str_has_suffix(b, "/try-2"));
  g_assert_nonnull(strstr(c, "/run-20"));
  g_autofree char *part = g_build_filename(b, "checkpoints", NULL);
  g_assert_true(g_file_test(part, G_FILE_TEST_IS_DIR));
  static const char *const wrong[] = {"", ".", "..", "a/b", "../up"};
  for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
    g_autoptr(GError) why = NULL;
    g_assert_null(tm_run_create(root, wrong[i], &why));
    g_assert_error(why, TM_ERROR, TM_ERROR_SETTING);
  }
  rt_remove(folder);
}

static void test_create_under_file(void) {
  g_autofree char *folder = rt_folder(), *file = g_build_filename(folder, "file", NULL);
  g_autoptr(GError) error = NULL;
  rt_write(file, "x", 1);
  g_assert_null(tm_run_create(file, NULL, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_FILE);
  g_assert_nonnull(strstr(error->message, file));
  rt_remove(folder);
}

/* Nothing is ever written into a dataset: the default is elsewhere, one place for each dataset, whatever its
 * title. */
static void test_default_root(void) {
  g_autofree char *a = tm_run_default_root("/data/camvid", "camvid"),
                  *again = tm_run_default_root("/data/../data/camvid/", "camvid");
  g_autofree char *other = tm_run_default_root("/more/camvid", "camvid"),
                  *odd = tm_run_default_root("/data/x", "../a/b\n");
  g_autofree char *none = tm_run_default_root("/data/x", "");
  g_assert_true(g_str_has_prefix(a, g_get_user_data_dir()));
  g_assert_cmpstr(a, ==, again);
  g_assert_cmpstr(a, !=, other);
  g_assert_null(strstr(odd, ".."
                            "/"));
  g_assert_true(g_str_has_suffix(odd, "/runs"));
  g_assert_nonnull(strstr(none, "/run-"));
  g_autofree char *name = g_strnfill(300, 'x'), *wide = g_strdup_printf("%s道", name),
                  *root = tm_run_default_root("/data/x", wide);
  g_auto(GStrv) parts = g_strsplit(root, "/", -1);
  for (guint i = 0; parts[i]; i++) g_assert_cmpuint(strlen(parts[i]), <=, 255);
}

/* ---- histories ---- */

static void test_history(void) {
  g_autofree char *folder = rt_folder(), *path = new_run(folder);
  g_autoptr(GError) error = NULL;
  {
    g_autoptr(TmRunDir) r = open_run(path, 0);
    g_assert_cmpstr(tm_run_path(r), ==, path);
    add_steps(r, 0, 20, 0.1f);
    const TmStepRow odd[] = {{.step = 20, .loss = NAN, .lr = 1e-30f, .grad_norm = INFINITY},
                             {.step = 21, .loss = -INFINITY, .lr = 1e30f, .loss_scale = 65536}};
    for (guint i = 0; i < 2; i++) g_assert_true(tm_run_add_step(r, &odd[i], &error));
    add_epoch(r, 0, 9, NAN);
    add_epoch(r, 1, 19, 0.25f);
  }
  History h = read_history(path);
  g_assert_cmpuint(h.steps->len, ==, 22);
  g_assert_cmpuint(h.epochs->len, ==, 2);
  g_assert_cmpfloat(STEP(h, 7)->loss, ==, 0.1f + 0.1f * 7.0f); /* every bit */
  g_assert_true(isnan(STEP(h, 20)->loss));
  g_assert_cmpfloat(STEP(h, 20)->grad_norm, ==, INFINITY);
  g_assert_cmpfloat(STEP(h, 20)->lr, ==, 1e-30f);
  g_assert_cmpfloat(STEP(h, 21)->loss, ==, -INFINITY);
  g_assert_cmpfloat(STEP(h, 21)->loss_scale, ==, 65536);
  g_assert_cmpfloat(STEP(h, 20)->loss_scale, ==, 0);
  g_assert_true(isnan(EPOCH(h, 0)->miou));
  g_assert_true(isnan(EPOCH(h, 0)->val_loss));
  g_assert_cmpfloat(EPOCH(h, 1)->miou, ==, 0.25f);
  g_assert_cmpfloat(EPOCH(h, 1)->train_loss, ==, 1.0f / 3.0f);
  g_assert_true(EPOCH(h, 1)->best && !EPOCH(h, 0)->best);
  g_assert_cmpuint(EPOCH(h, 1)->step, ==, 19);
  g_autofree char *csv = g_build_filename(path, "history.csv", NULL), *text = rt_read(csv, NULL);
  g_assert_true(g_str_has_prefix(
      text, "epoch,step,seconds,train_loss,val_loss,miou,accuracy,best,iou Road,\"iou Sky, \"\"blue\"\"\","
            "step_s,wait_s,decode_s,augment_s,upload_s,network_s,forward_s,update_s,draw_s\n"
            "0,9,2.5,0.333333343,,,0.899999976,0,0.5,,0.5,0.125,0,0,0,0,,0,0\n"));
  free_history(&h);
  rt_remove(folder);
}

static void test_info(void);

/* A locale that writes 0,5: one of the system's, or one made in @folder. */
static gboolean comma_locale(const char *folder) {
  static const char *const known[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE"};
  for (guint i = 0; i < G_N_ELEMENTS(known); i++)
    if (setlocale(LC_ALL, known[i])) return TRUE;
  g_autofree char *made = g_build_filename(folder, "de_DE.UTF-8", NULL),
                  *tool = g_find_program_in_path("localedef");
  if (!tool || !g_spawn_sync(NULL, (char *[]){tool, "-c", "-i", "de_DE", "-f", "UTF-8", made, NULL}, NULL,
                             G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, NULL, NULL,
                             NULL, NULL))
    return FALSE;
  g_setenv("LOCPATH", folder, TRUE);
  return setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
}

static void test_locale(void) {
  g_autofree char *folder = rt_folder(), *before = g_strdup(setlocale(LC_ALL, NULL));
  if (!comma_locale(folder)) {
    g_test_skip("no locale with a decimal comma is installed, and none can be made");
  } else {
    g_autofree char *half = g_strdup_printf("%.1f", 0.5);
    g_assert_cmpstr(half, ==, "0,5");
    test_history();
    test_info();
  }
  setlocale(LC_ALL, before);
  rt_remove(folder);
}

/* The rows before the step stay byte for byte, those from it on go, and the next run's follow. */
static void test_resume_cuts(void) {
  g_autofree char *folder = rt_folder(), *path = new_run(folder),
                  *steps_path = g_build_filename(path, "steps.csv", NULL);
  {
    g_autoptr(TmRunDir) r = open_run(path, 0);
    add_steps(r, 0, 151, 0);
    for (guint e = 0; e < 15; e++) add_epoch(r, e, e * 10 + 9, 0.1f * (float)e);
  }
  g_autofree char *before = rt_read(steps_path, NULL);
  {
    g_autoptr(TmRunDir) r = open_run(path, 100);
    History h = read_history(path);
    g_assert_cmpuint(h.steps->len, ==, 100);
    g_assert_cmpuint(STEP(h, 99)->step, ==, 99);
    g_assert_cmpuint(h.epochs->len, ==, 10);
    free_history(&h);
    add_steps(r, 100, 120, 50);
    add_epoch(r, 10, 109, 0.5f);
  }
  g_autofree char *after = rt_read(steps_path, NULL);
  const char *at = strstr(before, "\n100,");
  g_assert_cmpint(strncmp(before, after, (gsize)(at - before) + 1), ==, 0);
  History h = read_history(path);
  g_assert_cmpuint(h.steps->len, ==, 120);
  for (guint i = 0; i < h.steps->len; i++) g_assert_cmpuint(STEP(h, i)->step, ==, i); /* no zigzag */
  g_assert_cmpfloat(STEP(h, 100)->loss, ==, 50 + 0.1f * 100.0f);
  g_assert_cmpuint(h.epochs->len, ==, 11);
  free_history(&h);
  reopen_run(path, 0);
  History none = read_history(path);
  g_assert_cmpuint(none.steps->len, ==, 0);
  g_assert_cmpuint(none.epochs->len, ==, 0);
  free_history(&none);
  rt_remove(folder);
}

/* A run begun by a version with fewer, more or other columns goes on under this one's, with its numbers where they
 * belong; until then its numbers are found by their columns' names. */
static void test_other_columns(void) {
  static const char steps[] = "step,loss,epoch,colour,seconds,lr,grad_norm\n"
                              "0,1.5,0.25,red,2,0.003,7\n1,1.25,0.5,\"a, b\",3,0.003,8\n2,1,0.75,,4,0.003,9\n";
  static const char epochs[] = "epoch,step,seconds,train_loss,val_loss,miou,accuracy,best,iou Road,"
                               "\"iou Sky, \"\"blue\"\"\",step_s,wait_s\n0,1,9,1.5,,0.25,0.5,1,0.75,,0.125,0.5\n";
  g_autofree char *folder = rt_folder(), *path = new_run(folder),
                  *steps_path = g_build_filename(path, "steps.csv", NULL),
                  *epochs_path = g_build_filename(path, "history.csv", NULL);
  rt_write(steps_path, steps, strlen(steps));
  rt_write(epochs_path, epochs, strlen(epochs));
  for (int resumed = 0; resumed < 2; resumed++) {
    History h = read_history(path);
    g_assert_cmpuint(h.steps->len, ==, resumed ? 2 : 3);
    g_assert_cmpfloat(STEP(h, 1)->loss, ==, 1.25f);
    g_assert_cmpfloat(STEP(h, 1)->epoch, ==, 0.5f);
    g_assert_cmpfloat(STEP(h, 1)->grad_norm, ==, 8);
    g_assert_cmpuint(h.epochs->len, ==, 1);
    g_assert_cmpfloat(EPOCH(h, 0)->miou, ==, 0.25f);
    free_history(&h);
    reopen_run(path, 2);
  }
  {
    g_autoptr(TmRunDir) r = open_run(path, 2);
    add_steps(r, 2, 3, 0);
    add_epoch(r, 1, 2, 0.5f);
  }
  g_autofree char *now = rt_read(steps_path, NULL), *then = rt_read(epochs_path, NULL);
  g_assert_true(g_str_has_prefix(now, "step,epoch,seconds,loss,lr,grad_norm,loss_scale\n0,0.25,2,1.5,0.003,7,\n"));
  g_auto(GStrv) lines = g_strsplit(then, "\n", -1);
  g_assert_nonnull(strstr(lines[0], ",best,iou Road,\"iou Sky, \"\"blue\"\"\",step_s,wait_s,decode_s,"));
  g_assert_true(g_str_has_prefix(lines[1], "0,1,9,1.5,,0.25,0.5,1,0.75,,0.125,0.5,,"));
  for (int i = 1; i <= 2; i++) { /* cells; the header has a comma within quotes */
    g_auto(GStrv) names = g_strsplit(lines[0], ",", -1), cells = g_strsplit(lines[i], ",", -1);
    g_assert_cmpuint(g_strv_length(cells), ==, g_strv_length(names) - 1);
  }
  rt_remove(folder);
}

/* A line that was cut at any length is dropped, and what is appended later is not glued to it. */
static void test_cut_line(void) {
  g_autofree char *folder = rt_folder(), *path = new_run(folder),
                  *steps_path = g_build_filename(path, "steps.csv", NULL);
  {
    g_autoptr(TmRunDir) r = open_run(path, 0);
    add_steps(r, 0, 3, 0);
  }
  gsize size;
  g_autofree char *whole = rt_read(steps_path, &size);
  for (gsize n = 0; n <= size; n++) {
    rt_write(steps_path, whole, n);
    guint lines = 0;
    for (gsize i = 0; i < n; i++) lines += whole[i] == '\n';
    const guint rows = lines ? lines - 1 : 0;
    History cut = read_history(path);
    g_assert_cmpuint(cut.steps->len, ==, rows);
    free_history(&cut);
    g_autoptr(TmRunDir) r = open_run(path, 3);
    add_steps(r, 3, 4, 0);
    g_clear_pointer(&r, tm_run_close);
    History h = read_history(path);
    g_assert_cmpuint(h.steps->len, ==, rows + 1);
    g_assert_cmpuint(STEP(h, rows)->step, ==, 3);
    free_history(&h);
  }
  rt_remove(folder);
}

/* Damage in the middle costs that line only; zero bytes, as a crashed file system leaves them, are no rows.
 */
static void test_damaged_line(void) {
  static const char text[] = "step,epoch,seconds,loss,lr,grad_norm\n0,0,0,1,0.1,1\n1,0,0,x,0.1,"
                             "1\n\0\0\0\0\n2,0,0,3,0.1,1\n3,0,0\n-4,0,0,3,0.1,1\n5,0,0,3,0.1,1,7,8\n";
  g_autofree char *folder = rt_folder(), *path = new_run(folder),
                  *steps_path = g_build_filename(path, "steps.csv", NULL);
  rt_write(steps_path, text, sizeof text - 1);
  History h = read_history(path);
  g_assert_cmpuint(h.steps->len, ==, 2);
  g_assert_cmpuint(STEP(h, 1)->step, ==, 2);
  free_history(&h);
  reopen_run(path, 3);
  g_autofree char *kept = rt_read(steps_path, NULL);
  g_assert_cmpstr(kept, ==, "step,epoch,seconds,loss,lr,grad_norm,loss_scale\n0,0,0,1,0.1,1,\n2,0,0,3,0.1,1,\n");
  rt_remove(folder);
}

static void test_no_history(void) {
  g_autofree char *folder = rt_folder();
  History h = read_history(folder);
  g_assert_cmpuint(h.steps->len + h.epochs->len, ==, 0);
  free_history(&h);
  rt_remove(folder);
}

/* ---- a disk that fills up and is cleared again ---- */

/* Three bytes still fit, then none. */
static ssize_t full_write(int fd, const void *p, size_t n) {
  static int calls;
  if (calls++ % 2 == 0) return write(fd, p, MIN(n, 3));
  errno = ENOSPC;
  return -1;
}

static void test_history_on_full_disk(void) {
  g_autofree char *folder = rt_folder(), *path = new_run(folder),
                  *steps_path = g_build_filename(path, "steps.csv", NULL);
  g_autoptr(TmRunDir) r = open_run(path, 0);
  g_autoptr(GError) error = NULL;
  add_steps(r, 0, 10, 0);
  g_assert_true(tm_run_flush(r, &error));
  gsize size, now;
  g_autofree char *before = rt_read(steps_path, &size);
  tm_file_ops.write = full_write;
  add_steps(r, 10, 20, 0);
  g_assert_false(tm_run_flush(r, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_NO_SPACE);
  g_assert_nonnull(strstr(error->message, path));
  g_autofree char *during = rt_read(steps_path, &now);
  g_assert_cmpuint(now, ==, size); /* no half record is left */
  g_assert_cmpstr(during, ==, before);
  tm_file_ops.write = write;
  g_clear_error(&error);
  add_steps(r, 20, 30, 0);
  g_assert_true(tm_run_flush(r, &error));
  History h = read_history(path);
  g_assert_cmpuint(h.steps->len, ==, 30);
  for (guint i = 0; i < 30; i++) g_assert_cmpuint(STEP(h, i)->step, ==, i);
  free_history(&h);
  rt_remove(folder);
}

/* ---- run.json ---- */

static void test_info(void) {
  g_autofree char *folder = rt_folder(), *path = new_run(folder),
                  *file = g_build_filename(path, "run.json", NULL);
  g_autoptr(GError) error = NULL;
  g_autoptr(TmRunDir) r = open_run(path, 0);
  g_autoptr(JsonNode) info = json_from_string("{\"seed\":1,\"list\":[1.5]}", &error);
  json_object_set_double_member(json_node_get_object(info), "best", -(double)INFINITY);
  json_object_set_double_member(json_node_get_object(info), "loss", (double)NAN);
  g_assert_true(tm_run_write_info(r, info, &error));
  g_autofree char *text = rt_read(file, NULL);
  g_assert_null(strstr(text, "nan"));
  g_assert_null(strstr(text, "inf"));
  g_autoptr(JsonNode) back = tm_run_read_info(path, &error);
  g_assert_no_error(error);
  g_assert_true(json_object_get_null_member(json_node_get_object(back), "best"));
  g_assert_true(json_object_get_null_member(json_node_get_object(back), "loss"));
  g_assert_cmpint(json_object_get_int_member(json_node_get_object(back), "seed"), ==, 1);
  rt_write(file, "{\"best\": -Infinity, \"x\": NaN, \"seed\": 2}", 40);
  g_autoptr(JsonNode) old = tm_run_read_info(path, &error);
  g_assert_no_error(error);
  g_assert_cmpint(json_object_get_int_member(json_node_get_object(old), "seed"), ==, 2);
  rt_write(file, "{\"best\":", 8);
  g_assert_null(tm_run_read_info(path, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_CORRUPT);
  g_assert_nonnull(strstr(error->message, file));
  g_clear_error(&error);
  g_unlink(file);
  g_assert_null(tm_run_read_info(path, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_FILE);
  rt_remove(folder);
}

static void add_change(TmRunDir *r, gint64 step, double lr) {
  g_autoptr(GError) error = NULL;
  JsonObject *o = json_object_new();
  json_object_set_int_member(o, "step", step);
  json_object_set_double_member(o, "lr_factor", lr);
  g_assert_true(tm_run_add_change(r, o, &error));
  g_assert_no_error(error);
}

static void test_steering(void) {
  g_autofree char *folder = rt_folder(), *path = new_run(folder),
                  *file = g_build_filename(path, "steering.jsonl", NULL);
  {
    g_autoptr(TmRunDir) r = open_run(path, 0);
    add_change(r, 5, 0.5);
    add_change(r, 10, (double)NAN);
    add_change(r, 15, 2);
  }
  g_autofree char *text = rt_read(file, NULL);
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  g_assert_cmpuint(g_strv_length(lines), ==, 4);
  for (guint i = 0; i < 3; i++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(JsonNode) n = json_from_string(lines[i], &error);
    g_assert_no_error(error);
    g_autoptr(GDateTime) time =
        g_date_time_new_from_iso8601(json_object_get_string_member(json_node_get_object(n), "time"), NULL);
    g_assert_nonnull(time);
  }
  reopen_run(path, 10);
  g_autofree char *kept = rt_read(file, NULL);
  g_assert_nonnull(strstr(kept, "\"step\":10,"));
  g_assert_null(strstr(kept, "\"step\":15,"));
  rt_remove(folder);
}

/* ---- checkpoints ---- */

static char *checkpoint_path(const char *run, const char *name) {
  return g_build_filename(run, "checkpoints", name, NULL);
}

static void write_last(TmRunDir *r, int mark) {
  g_autoptr(TmCheckpoint) c = rt_checkpoint(mark);
  g_autoptr(GError) error = NULL;
  g_assert_true(tm_run_write_last(r, c, &error));
  g_assert_no_error(error);
}

static int read_mark(const char *path, char **note) {
  g_autoptr(GError) error = NULL;
  g_autoptr(TmCheckpoint) c = tm_run_read_last(path, note, &error);
  g_assert_no_error(error);
  return (int)json_object_get_int_member(tm_checkpoint_meta(c), "mark");
}

static void test_last_and_previous(void) {
  g_autofree char *folder = rt_folder(), *path = new_run(folder), *note = NULL;
  g_autofree char *last = checkpoint_path(path, "last.safetensors"),
                  *previous = checkpoint_path(path, "previous.safetensors");
  g_autoptr(GError) error = NULL;
  g_assert_null(tm_run_read_last(path, &note, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_FILE);
  g_assert_nonnull(strstr(error->message, path));
  g_autoptr(TmRunDir) r = open_run(path, 0);
  write_last(r, 1);
  g_assert_false(g_file_test(previous, G_FILE_TEST_EXISTS));
  write_last(r, 2);
  write_last(r, 3);
  g_assert_cmpint(rt_mark(last), ==, 3);
  g_assert_cmpint(rt_mark(previous), ==, 2);
  g_assert_cmpint(read_mark(path, &note), ==, 3);
  g_assert_null(note);
  /* cut to half: the one before, and it says so */
  gsize size;
  g_autofree char *bytes = rt_read(last, &size);
  rt_write(last, bytes, size / 2);
  g_assert_cmpint(read_mark(path, &note), ==, 2);
  g_assert_nonnull(note);
  g_assert_nonnull(strstr(note, last));
  g_clear_pointer(&note, g_free);
  g_unlink(last);
  g_assert_cmpint(read_mark(path, &note), ==, 2);
  g_assert_nonnull(note);
  /* both damaged: the newer one's error */
  rt_write(last, bytes, size / 2);
  rt_write(previous, "x", 1);
  g_clear_error(&error);
  g_clear_pointer(&note, g_free);
  g_assert_null(tm_run_read_last(path, &note, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_CORRUPT);
  g_assert_null(note);
  rt_remove(folder);
}

static void test_best_path(void) {
  g_autofree char *folder = rt_folder(), *path = new_run(folder);
  g_autofree char *last = checkpoint_path(path, "last.safetensors"),
                  *best = checkpoint_path(path, "best.safetensors");
  g_autoptr(GError) error = NULL;
  g_assert_null(tm_run_best_path(path, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_FILE);
  g_clear_error(&error);
  g_autoptr(TmRunDir) r = open_run(path, 0);
  write_last(r, 1);
  g_autofree char *only = tm_run_best_path(path, &error);
  g_assert_cmpstr(only, ==, last);
  g_autoptr(TmCheckpoint) c = rt_checkpoint(9);
  g_assert_true(tm_run_write_best(r, c, &error));
  g_autofree char *now = tm_run_best_path(path, &error), *file = tm_run_best_path(last, &error);
  g_assert_cmpstr(now, ==, best);
  g_assert_cmpstr(file, ==, last);
  g_assert_null(tm_run_best_path("/none/such", &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_FILE);
  rt_remove(folder);
}

/* ---- opening ---- */

static void test_lock(void) {
  g_autofree char *folder = rt_folder(), *path = new_run(folder);
  g_autoptr(TmRunDir) r = open_run(path, 0);
  g_autoptr(GError) error = NULL;
  g_assert_null(tm_run_open(path, 0, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_FILE);
  g_clear_pointer(&r, tm_run_close);
  reopen_run(path, 0);
  rt_remove(folder);
}

static void test_sweeps(void) {
  g_autofree char *folder = rt_folder(), *path = new_run(folder),
                  *left = checkpoint_path(path, ".tarmac-0123456789abcdef");
  rt_write(left, "half", 4);
  reopen_run(path, 0);
  g_assert_false(g_file_test(left, G_FILE_TEST_EXISTS));
  rt_remove(folder);
}

static void test_not_there(void) {
  g_autoptr(GError) error = NULL;
  g_assert_null(tm_run_open("/none/such", 0, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_FILE);
  g_assert_nonnull(strstr(error->message, "/none/such"));
}

static void test_probe(void) {
  g_autofree char *folder = rt_folder(), *path = new_run(folder),
                  *file = g_build_filename(path, "probes", "a_b-epoch-0007.png", NULL);
  g_autoptr(TmRunDir) r = open_run(path, 0);
  g_autoptr(GError) error = NULL;
  const guint8 labels[6] = {0, 1, 2, 0, 255, 1};
  const guint32 palette[3] = {0xff0000, 0x00ff00, 0x0000ff};
  g_assert_true(tm_run_write_probe(r, "a/b", 7, labels, 3, 2, palette, 3, &error));
  g_assert_no_error(error);
  gsize size;
  g_autofree char *png = rt_read(file, &size);
  g_assert_cmpint(memcmp(png, "\x89PNG", 4), ==, 0);
  rt_remove(folder);
}

static void test_tensorboard(void) {
  g_autofree char *python = rt_python();
  if (!python) return;
  g_autofree char *folder = rt_folder(), *path = new_run(folder);
  g_autofree char *script = g_build_filename(g_getenv("TM_SOURCE"), "tests", "run", "read_events.py", NULL);
  {
    g_autoptr(TmRunDir) r = open_run(path, 0);
    add_steps(r, 0, 15, 0);
    add_epoch(r, 0, 9, 0.25f);
  }
  {
    g_autoptr(TmRunDir) r = open_run(path, 10);
    add_steps(r, 10, 20, 100);
    add_epoch(r, 1, 19, 0.5f);
  }
  g_autofree char *out = rt_run((const char *[]){python, script, path, NULL});
  g_assert_nonnull(strstr(out, "miou 9 0.25\nmiou 19 0.5\n"));
  g_assert_nonnull(strstr(out, "iou/Road 19 0.5\n"));
  g_assert_nonnull(strstr(out, "loss/train 12 101."));
  g_assert_null(strstr(out, "loss/train 12 1."));
  g_assert_nonnull(strstr(out, "grad_norm 19 1.5\n"));
  g_assert_null(strstr(out, "iou/Sky")); /* n/a is no number */
  rt_remove(folder);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/run/create", test_create);
  g_test_add_func("/run/create-under-a-file", test_create_under_file);
  g_test_add_func("/run/default-root", test_default_root);
  g_test_add_func("/run/history", test_history);
  g_test_add_func("/run/history-under-a-comma-locale", test_locale);
  g_test_add_func("/run/resume-cuts", test_resume_cuts);
  g_test_add_func("/run/other-columns", test_other_columns);
  g_test_add_func("/run/cut-line", test_cut_line);
  g_test_add_func("/run/damaged-line", test_damaged_line);
  g_test_add_func("/run/no-history-yet", test_no_history);
  g_test_add_func("/run/history-on-a-full-disk", test_history_on_full_disk);
  g_test_add_func("/run/info-is-json", test_info);
  g_test_add_func("/run/steering", test_steering);
  g_test_add_func("/run/last-and-previous", test_last_and_previous);
  g_test_add_func("/run/best-path", test_best_path);
  g_test_add_func("/run/one-writer", test_lock);
  g_test_add_func("/run/sweeps-after-a-kill", test_sweeps);
  g_test_add_func("/run/not-there", test_not_there);
  g_test_add_func("/run/probe", test_probe);
  g_test_add_func("/run/tensorboard", test_tensorboard);
  return g_test_run();
}
