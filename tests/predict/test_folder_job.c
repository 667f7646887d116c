/* test_folder_job.c: a folder predicted on a thread: paused, stopped, watched, with results that are there already, with
 * pictures that cannot be read, on a full disk, and with weights that change meanwhile. */
#include <signal.h>
#include <sys/resource.h>

#include "engine/data/image.h"
#include "engine/data/png_write.h"
#include "engine/predict/folder_job.h"
#include "tests/predict/predict_test.h"

enum { PATIENCE = 60 * G_USEC_PER_SEC };

typedef struct {
  char *root, *in, *out, *net;
  TmFolderOptions o;
  int told; /* atomic */
} Place;

static void set_up(Place *x, gconstpointer data) {
  (void)data;
  g_autoptr(TmClassTable) classes = pt_classes();
  x->root = rt_folder();
  x->net = pt_write(x->root, classes);
  x->in = g_build_filename(x->root, "in", NULL);
  x->out = g_build_filename(x->root, "out", NULL);
  g_assert_cmpint(g_mkdir(x->in, 0700), ==, 0);
  x->o = (TmFolderOptions){.network = x->net,
                           .folder = x->in,
                           .out_dir = x->out,
                           .masks = TRUE,
                           .overlays = TRUE,
                           .table = TRUE,
                           .backend = "ref"};
}

static void tear_down(Place *x, gconstpointer data) {
  (void)data;
  rt_remove(x->root);
  g_free(x->root);
  g_free(x->in);
  g_free(x->out);
  g_free(x->net);
}

static void notify(gpointer user) {
  g_atomic_int_inc(&((Place *)user)->told);
}

static void add_picture(const Place *x, const char *name, int w, int h, guint64 seed) {
  g_autofree char *path = g_build_filename(x->in, name, NULL), *part = g_strconcat(path, ".part", NULL);
  g_autofree guint8 *rgb = pt_picture(w, h, 90, seed);
  g_assert_true(tm_png_write_rgb(part, rgb, w, h, NULL));
  g_assert_cmpint(g_rename(part, path), ==, 0);
}

static void add_pictures(const Place *x, guint n) {
  for (guint i = 0; i < n; i++) {
    g_autofree char *name = g_strdup_printf("p%02u.png", i);
    add_picture(x, name, 40 + (int)i, 30, i);
  }
}

/* Waits for @state; the snapshot then is in @s. */
static void wait_for(TmFolderJob *j, TmFolderState state, TmFolderSnapshot *s) {
  const gint64 end = g_get_monotonic_time() + PATIENCE;
  while (TRUE) {
    tm_folder_snapshot_clear(s);
    tm_folder_job_snapshot(j, s);
    if (s->state == state) return;
    if (s->state == TM_FOLDER_FAILED) g_error("failed: %s", s->error);
    if (g_get_monotonic_time() > end) g_error("state %d instead of %d", s->state, state);
    g_usleep(2000);
  }
}

static void wait_done(TmFolderJob *j, guint done, TmFolderSnapshot *s) {
  const gint64 end = g_get_monotonic_time() + PATIENCE;
  do {
    g_usleep(2000);
    tm_folder_snapshot_clear(s);
    tm_folder_job_snapshot(j, s);
    if (g_get_monotonic_time() > end) g_error("%u done instead of %u, state %d", s->done, done, s->state);
  } while (s->done < done);
}

static gboolean is_there(const Place *x, const char *name) {
  g_autofree char *path = g_build_filename(x->out, name, NULL);
  return g_file_test(path, G_FILE_TEST_EXISTS);
}

static void test_whole(Place *x, gconstpointer data) {
  (void)data;
  add_pictures(x, 5);
  g_autoptr(TmFolderJob) j = tm_folder_job_new(&x->o, notify, x);
  g_auto(TmFolderSnapshot) s = {0};
  wait_for(j, TM_FOLDER_DONE, &s);
  g_assert_cmpuint(s.done, ==, 5);
  g_assert_cmpuint(s.total, ==, 5);
  g_assert_cmpuint(s.masks, ==, 5);
  g_assert_cmpuint(s.epoch, ==, 5);
  g_assert_cmpfloat(s.per_second, >, 0);
  g_assert_cmpint(g_atomic_int_get(&x->told), >, 1);
  g_assert_cmpuint(rt_count(x->out), ==, 11);
  g_autoptr(GPtrArray) taken = tm_folder_job_take(j);
  g_assert_cmpuint(taken->len, ==, 5);
  for (guint i = 0; i < taken->len; i++) {
    const TmFolderPicture *p = taken->pdata[i];
    g_autofree guint8 *rgb = pt_picture(40 + (int)i, 30, 90, i);
    double light = 0;
    for (int k = 0; k < p->w * 30; k++) light += pt_truth(rgb + k * 3);
    g_assert_cmpuint(p->index, ==, i);
    g_assert_cmpfloat_with_epsilon(p->shares[1], light / (p->w * 30), 1e-12);
    pt_assert_labels(rgb, p->w, p->h, p->labels); /* smaller than a thumbnail: as it is */
  }
  g_autofree char *table = g_build_filename(x->out, "classes.csv", NULL), *text = rt_read(table, NULL);
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  g_assert_cmpuint(g_strv_length(lines), ==, 7);
  g_assert_true(g_str_has_prefix(lines[1], "p00.png,p00.png,"));
}

/* Only what is asked for is written, and nothing without a place to write. */
static void test_only_looked_at(Place *x, gconstpointer data) {
  (void)data;
  add_pictures(x, 3);
  x->o.out_dir = NULL;
  g_autoptr(TmFolderJob) j = tm_folder_job_new(&x->o, NULL, NULL);
  g_auto(TmFolderSnapshot) s = {0};
  wait_for(j, TM_FOLDER_DONE, &s);
  g_assert_cmpuint(s.done, ==, 3);
  g_assert_cmpuint(s.masks, ==, 0);
  g_assert_false(g_file_test(x->out, G_FILE_TEST_EXISTS));
  x->o.out_dir = x->out;
  x->o.overlays = x->o.table = FALSE;
  g_autoptr(TmFolderJob) k = tm_folder_job_new(&x->o, NULL, NULL);
  wait_for(k, TM_FOLDER_DONE, &s);
  g_assert_cmpuint(rt_count(x->out), ==, 3);
}

static void test_existing(Place *x, gconstpointer data) {
  (void)data;
  add_pictures(x, 3);
  g_assert_cmpint(g_mkdir(x->out, 0700), ==, 0);
  g_autofree char *mask = g_build_filename(x->out, "p01.png", NULL),
                  *overlay = g_build_filename(x->out, "p01_overlay.png", NULL),
                  *table = g_build_filename(x->out, "classes.csv", NULL);
  rt_write(mask, "mine", 4);
  rt_write(overlay, "mine", 4);
  rt_write(table, "mine", 4);
  g_auto(TmFolderSnapshot) s = {0};
  {
    g_autoptr(TmFolderJob) j = tm_folder_job_new(&x->o, NULL, NULL);
    wait_for(j, TM_FOLDER_ASKING, &s);
    g_assert_cmpuint(s.existing, ==, 2);
    g_assert_nonnull(strstr(s.first_existing, "p01.png"));
    g_assert_cmpuint(rt_count(x->out), ==, 3); /* nothing before the answer */
    tm_folder_job_existing(j, TM_EXISTING_KEEP);
    wait_for(j, TM_FOLDER_DONE, &s);
  }
  g_assert_cmpuint(s.done, ==, 2);
  g_assert_cmpuint(s.kept, ==, 1);
  g_autofree char *kept = rt_read(mask, NULL), *kept_table = rt_read(table, NULL);
  g_assert_cmpstr(kept, ==, "mine");
  g_assert_cmpstr(kept_table, ==, "mine");
  g_assert_true(is_there(x, "classes-2.csv"));
  x->o.existing = TM_EXISTING_REPLACE;
  g_autoptr(TmFolderJob) j = tm_folder_job_new(&x->o, NULL, NULL);
  wait_for(j, TM_FOLDER_DONE, &s);
  g_assert_cmpuint(s.done, ==, 3);
  TmImageInfo info;
  g_assert_true(tm_image_info(mask, &info, NULL));
}

static void test_cancelled_while_asking(Place *x, gconstpointer data) {
  (void)data;
  add_pictures(x, 1);
  g_assert_cmpint(g_mkdir(x->out, 0700), ==, 0);
  g_autofree char *mask = g_build_filename(x->out, "p00.png", NULL);
  rt_write(mask, "mine", 4);
  g_auto(TmFolderSnapshot) s = {0};
  g_autoptr(TmFolderJob) j = tm_folder_job_new(&x->o, NULL, NULL);
  wait_for(j, TM_FOLDER_ASKING, &s);
  tm_folder_job_stop(j);
  wait_for(j, TM_FOLDER_STOPPED, &s);
  g_assert_cmpuint(rt_count(x->out), ==, 1);
}

/* What cannot be read is told with its name and reason, and the others are done. */
static void test_errors(Place *x, gconstpointer data) {
  (void)data;
  add_pictures(x, 3);
  g_autofree char *bad = g_build_filename(x->in, "p00a.jpg", NULL), *empty = g_build_filename(x->in, "p01a.png", NULL);
  rt_write(bad, "no picture", 10);
  rt_write(empty, "", 0);
  g_auto(TmFolderSnapshot) s = {0};
  g_autoptr(TmFolderJob) j = tm_folder_job_new(&x->o, NULL, NULL);
  wait_for(j, TM_FOLDER_DONE, &s);
  g_assert_cmpuint(s.done, ==, 3);
  g_assert_cmpuint(s.failed, ==, 2);
  g_autoptr(GPtrArray) errors = tm_folder_job_errors(j);
  g_assert_cmpuint(errors->len, ==, 2);
  g_assert_cmpstr(((TmFolderError *)errors->pdata[0])->name, ==, "p00a.jpg");
  g_assert_cmpuint(strlen(((TmFolderError *)errors->pdata[1])->reason), >, 10);
  g_assert_false(is_there(x, "p00a.png"));
}

static void test_paused_and_stopped(Place *x, gconstpointer data) {
  (void)data;
  for (guint i = 0; i < 40; i++) {
    g_autofree char *name = g_strdup_printf("p%02u.png", i);
    add_picture(x, name, 160, 120, i);
  }
  g_auto(TmFolderSnapshot) s = {0};
  g_autoptr(TmFolderJob) j = tm_folder_job_new(&x->o, NULL, NULL);
  wait_done(j, 2, &s);
  tm_folder_job_pause(j);
  wait_for(j, TM_FOLDER_PAUSED, &s);
  const guint done = s.done;
  g_assert_true(is_there(x, "classes.csv")); /* of what was done so far */
  g_usleep(50000);
  tm_folder_snapshot_clear(&s);
  tm_folder_job_snapshot(j, &s);
  g_assert_cmpuint(s.done, ==, done);
  tm_folder_job_resume(j);
  wait_done(j, done + 1, &s);
  tm_folder_job_stop(j);
  wait_for(j, TM_FOLDER_STOPPED, &s);
  g_assert_cmpuint(s.done, <, 40);
  /* A stopped job can be looked at. */
  g_autoptr(TmFolderPicture) last = tm_folder_job_picture(j, NULL);
  g_assert_nonnull(last);
  tm_folder_job_set_sure(j, TRUE);
  tm_folder_job_look(j, 39);
  const gint64 end = g_get_monotonic_time() + PATIENCE;
  g_autoptr(TmFolderPicture) p = NULL;
  while (!(p = tm_folder_job_picture(j, last)) && g_get_monotonic_time() < end) g_usleep(2000);
  g_assert_nonnull(p);
  g_assert_cmpuint(p->index, ==, 39);
  g_assert_nonnull(p->sure);
  g_assert_false(is_there(x, "p39.png")); /* looking writes nothing */
}

static void test_watched(Place *x, gconstpointer data) {
  (void)data;
  x->o.watch = TRUE; /* an empty folder is no fault then */
  g_auto(TmFolderSnapshot) s = {0};
  g_autoptr(TmFolderJob) j = tm_folder_job_new(&x->o, NULL, NULL);
  wait_for(j, TM_FOLDER_WAITING, &s);
  add_pictures(x, 2);
  g_autofree char *note = g_build_filename(x->in, "note.txt", NULL);
  rt_write(note, "no picture", 10);
  wait_done(j, 2, &s);
  wait_for(j, TM_FOLDER_WAITING, &s);
  g_assert_cmpuint(s.failed, ==, 0);
  g_assert_cmpuint(s.total, ==, 2);
  g_assert_true(is_there(x, "p00.png") && is_there(x, "p01.png"));
  add_picture(x, "p00.png", 40, 30, 99); /* again: another picture of that name */
  wait_done(j, 3, &s);
  tm_folder_job_set_watch(j, FALSE);
  wait_for(j, TM_FOLDER_DONE, &s);
  g_autofree char *table = g_build_filename(x->out, "classes.csv", NULL), *text = rt_read(table, NULL);
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  g_assert_cmpuint(g_strv_length(lines), ==, 4); /* one line a picture */
}

/* A disk without room holds the job; with another folder it goes on with the very picture. */
static void test_disk_full(Place *x, gconstpointer data) {
  (void)data;
  add_pictures(x, 4);
  struct rlimit before, little;
  g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &before), ==, 0);
  little = before;
  little.rlim_cur = 64;
  signal(SIGXFSZ, SIG_IGN);
  g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &little), ==, 0);
  g_auto(TmFolderSnapshot) s = {0};
  g_autoptr(TmFolderJob) j = tm_folder_job_new(&x->o, NULL, NULL);
  wait_for(j, TM_FOLDER_PAUSED, &s);
  g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &before), ==, 0);
  g_assert_true(s.disk_full);
  g_assert_nonnull(strstr(s.error, "out"));
  tm_folder_job_set_out_dir(j, x->in); /* never over the input */
  tm_folder_job_resume(j);
  const gint64 end = g_get_monotonic_time() + PATIENCE;
  do {
    g_usleep(2000);
    tm_folder_snapshot_clear(&s);
    tm_folder_job_snapshot(j, &s);
  } while ((s.state != TM_FOLDER_PAUSED || !strstr(s.error, "read from there")) && g_get_monotonic_time() < end);
  g_assert_nonnull(strstr(s.error, "read from there"));
  g_autofree char *other = g_build_filename(x->root, "other", NULL);
  tm_folder_job_set_out_dir(j, other);
  tm_folder_job_resume(j);
  wait_for(j, TM_FOLDER_DONE, &s);
  g_assert_false(s.disk_full);
  g_assert_cmpuint(s.done, ==, 4);
  g_assert_cmpuint(rt_count(other), ==, 9);
}

/* The network is in training: its newest weights are taken without a stop. */
static void test_follows_training(Place *x, gconstpointer data) {
  (void)data;
  g_autoptr(GError) error = NULL;
  g_autoptr(TmClassTable) classes = pt_classes();
  g_autofree char *run = tm_run_create(x->root, "r", &error);
  g_autoptr(TmRunDir) r = tm_run_open(run, 0, &error);
  g_autoptr(TmCheckpoint) c = pt_checkpoint(classes);
  g_assert_true(tm_run_write_last(r, c, &error));
  x->o.network = run;
  x->o.follow = x->o.watch = TRUE;
  g_auto(TmFolderSnapshot) s = {0};
  g_autoptr(TmFolderJob) j = tm_folder_job_new(&x->o, NULL, NULL);
  wait_for(j, TM_FOLDER_WAITING, &s);
  g_assert_cmpuint(s.epoch, ==, 5);
  g_assert_true(g_str_has_suffix(s.checkpoint, "last.safetensors"));
  json_object_set_int_member(tm_checkpoint_meta(c), "epoch", 6);
  g_assert_true(tm_run_write_last(r, c, &error));
  add_pictures(x, 1);
  wait_done(j, 1, &s);
  g_assert_cmpuint(s.epoch, ==, 6);
}

static void fails(Place *x, const char *words) {
  const gint64 end = g_get_monotonic_time() + PATIENCE;
  g_auto(TmFolderSnapshot) s = {0};
  g_autoptr(TmFolderJob) j = tm_folder_job_new(&x->o, NULL, NULL);
  do {
    g_usleep(2000);
    tm_folder_snapshot_clear(&s);
    tm_folder_job_snapshot(j, &s);
  } while (s.state != TM_FOLDER_FAILED && g_get_monotonic_time() < end);
  g_assert_cmpint(s.state, ==, TM_FOLDER_FAILED);
  if (!strstr(s.error, words)) g_printerr("%s\n", s.error);
  g_assert_nonnull(strstr(s.error, words));
}

static void test_cannot_begin(Place *x, gconstpointer data) {
  (void)data;
  fails(x, "holds no pictures");
  add_pictures(x, 1);
  x->o.out_dir = x->in;
  fails(x, "read from there");
  x->o.out_dir = x->out;
  x->o.network = "nowhere.safetensors";
  fails(x, "nowhere.safetensors");
  rt_write(x->net, "no network", 10);
  x->o.network = x->net;
  fails(x, "net.safetensors");
  x->o.folder = "nowhere";
  fails(x, "nowhere");
  g_assert_false(g_file_test(x->out, G_FILE_TEST_EXISTS));
}

/* Freed in any state, at once. */
static void test_freed_early(Place *x, gconstpointer data) {
  (void)data;
  add_pictures(x, 6);
  x->o.existing = TM_EXISTING_REPLACE;
  for (int i = 0; i < 40; i++) {
    g_autoptr(TmFolderJob) j = tm_folder_job_new(&x->o, notify, x);
    if (i % 4 == 1) tm_folder_job_pause(j);
    if (i % 4 == 2) tm_folder_job_look(j, 3);
    g_usleep((gulong)(i % 10) * 1500);
  }
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
#define ADD(name, func) g_test_add("/folder-job/" name, Place, NULL, set_up, func, tear_down)
  ADD("whole", test_whole);
  ADD("only-looked-at", test_only_looked_at);
  ADD("existing", test_existing);
  ADD("cancelled-while-asking", test_cancelled_while_asking);
  ADD("errors", test_errors);
  ADD("paused-and-stopped", test_paused_and_stopped);
  ADD("watched", test_watched);
  ADD("disk-full", test_disk_full);
  ADD("follows-training", test_follows_training);
  ADD("cannot-begin", test_cannot_begin);
  ADD("freed-early", test_freed_early);
  return g_test_run();
}
