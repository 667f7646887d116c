/* What a run does between two commands: steps, scores, saving. */
#include <math.h>
#include <string.h>
#include <utime.h>

#include <glib/gstdio.h>

#include "engine/data/png_write.h"
#include "engine/train/schedule.h"
#include "fixture.h"

typedef struct {
  TmDataset *data;
  TmSettings settings;
  char *folder;
  TmSession *s;
} Run;

static void open_run(Run *r, int train, int val, int w, int h) {
  r->data = fixture_roads(train, val, w, h);
  r->folder = fixture_folder();
  r->s = fixture_session(r->data, &r->settings, r->folder, FALSE);
}

static void close_run(Run *r) {
  tm_session_close(r->s);
  fixture_remove(r->folder);
  tm_dataset_unref(r->data);
}

static TmStepResult step(TmSession *s) {
  TmStepResult r;
  g_autoptr(GError) e = NULL;
  g_assert_true(tm_session_step(s, &r, &e));
  g_assert_no_error(e);
  return r;
}

static void steps(TmSession *s, guint n) {
  for (guint i = 0; i < n; i++) {
    TmStepResult r = step(s);
    g_assert_false(r.skipped);
    g_assert_true(isfinite(r.loss));
  }
}

static void test_learns(void) {
  Run r = {0};
  fixture_settings(&r.settings);
  r.settings.base = 4;
  r.settings.epochs = 60;
  g_assert_true(tm_settings_set(&r.settings, "schedule", "constant", NULL));
  r.settings.warmup = 0;
  open_run(&r, 4, 1, 32, 32);
  const double first = step(r.s).loss;
  double last = first;
  for (guint i = 0; i < 40; i++) {
    if (r.s->at.step == r.s->steps) {
      r.s->at.epoch++;
      r.s->at.step = 0;
    }
    last = step(r.s).loss;
  }
  g_assert_cmpfloat(first, <, 4);
  g_assert_cmpfloat(last, <, 0.7 * first);
  close_run(&r);
}

/* ---- numbers that are not finite (B01) ---- */

static void poison(TmSession *s, float with, float *kept) {
  float *w = fixture_read(s, s->params->value, s->params->n_value);
  *kept = w[0];
  w[0] = with;
  fixture_write(s, s->params->value, w, s->params->n_value);
  g_free(w);
}

static void check_untouched(gconstpointer data) {
  const float with = *(const float *)data;
  Run r = {0};
  fixture_settings(&r.settings);
  r.settings.ema = 0.9;
  open_run(&r, 12, 1, 32, 32);
  TmSession *s = r.s;
  steps(s, 1);
  const gsize n = s->params->n_value;
  float kept;
  poison(s, with, &kept);
  float *arrays[] = {s->params->value, s->params->state, s->m, s->v, s->ema};
  const gsize sizes[] = {n, s->params->n_state, n, n, n};
  float *before[G_N_ELEMENTS(arrays)];
  for (guint i = 0; i < G_N_ELEMENTS(arrays); i++) before[i] = fixture_read(s, arrays[i], sizes[i]);
  const guint64 updates = s->at.updates;
  TmStepResult x = step(s);
  g_assert_true(x.skipped);
  g_assert_nonnull(strstr(x.why, "Step 1 "));
  g_free(x.why);
  for (guint i = 0; i < G_N_ELEMENTS(arrays); i++) {
    g_autofree float *after = fixture_read(s, arrays[i], sizes[i]);
    fixture_same_bytes(after, before[i], sizes[i] * sizeof(float));
    g_free(before[i]);
  }
  g_assert_cmpuint(s->at.updates, ==, updates);
  g_assert_cmpuint(s->at.skipped, ==, 1);
  g_assert_cmpuint(s->at.bad_row, ==, 1);
  /* Once the cause is gone training goes on as if nothing had been. */
  float ignored;
  poison(s, kept, &ignored);
  steps(s, 1);
  g_assert_cmpuint(s->at.bad_row, ==, 0);
  g_assert_cmpuint(s->at.skipped, ==, 1);
  close_run(&r);
}

/* While numbers are not finite, no checkpoint replaces a good one. */
static void test_no_bad_checkpoint(void) {
  Run r = {0};
  fixture_settings(&r.settings);
  open_run(&r, 8, 1, 32, 32);
  g_assert_true(tm_session_save_last(r.s, NULL));
  float kept;
  poison(r.s, NAN, &kept);
  g_autoptr(GError) e = NULL;
  g_assert_false(tm_session_save_last(r.s, &e));
  g_assert_error(e, TM_ERROR, TM_ERROR_NON_FINITE);
  g_assert_false(tm_session_save_best(r.s, NULL));
  g_autoptr(TmCheckpoint) c = tm_run_read_last(r.folder, NULL, NULL);
  g_assert_nonnull(c);
  g_auto(GStrv) names = tm_checkpoint_names(c);
  for (guint i = 0; names[i]; i++) {
    const TmTensor *t = tm_checkpoint_tensor(c, names[i]);
    for (gsize k = 0; k < tm_shape_count(t->shape); k++) g_assert_true(isfinite(((const float *)t->data)[k]));
  }
  close_run(&r);
}

/* ---- clipping and averaging ---- */

static double distance(const float *a, const float *b, gsize n) {
  double sum = 0;
  for (gsize i = 0; i < n; i++) sum += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
  return sqrt(sum);
}

/* Plain SGD moves by lr times the clipped gradient: never further than lr * clip, and just so far when it was
 * longer. */
static void test_clip(void) {
  for (guint k = 0; k < 2; k++) {
    Run r = {0};
    fixture_settings(&r.settings);
    g_assert_true(tm_settings_set(&r.settings, "optimizer", "sgd", NULL) &&
                  tm_settings_set(&r.settings, "schedule", "constant", NULL));
    r.settings.momentum = 0;
    r.settings.weight_decay = 0;
    r.settings.warmup = 0;
    r.settings.lr = 0.5;
    r.settings.clip = k == 0 ? 0.01 : 1e6;
    open_run(&r, 8, 1, 32, 32);
    const gsize n = r.s->params->n_value;
    g_autofree float *before = fixture_read(r.s, r.s->params->value, n);
    const TmStepResult x = step(r.s);
    g_autofree float *after = fixture_read(r.s, r.s->params->value, n);
    const double want = 0.5 * (k == 0 ? 0.01 : x.grad_norm);
    g_assert_cmpfloat_with_epsilon(distance(before, after, n), want, 1e-3 * want);
    g_assert_cmpfloat(x.grad_norm, >, 0.01); /* reported as it was, not as it was cut */
    close_run(&r);
  }
}

static void test_average(void) {
  Run r = {0};
  fixture_settings(&r.settings);
  r.settings.ema = 0.8;
  open_run(&r, 24, 1, 32, 32);
  TmSession *s = r.s;
  const gsize n = s->params->n_value;
  g_autofree float *want = fixture_read(s, s->params->value, n);
  for (guint k = 0; k < 5; k++) {
    steps(s, 1);
    g_autofree float *w = fixture_read(s, s->params->value, n);
    const float d = (float)tm_schedule_ema(0.8, k);
    for (gsize i = 0; i < n; i++) want[i] = d * want[i] + (1 - d) * w[i];
  }
  g_autofree float *average = fixture_read(s, s->ema, n), *before = fixture_read(s, s->params->value, n);
  for (gsize i = 0; i < n; i++) g_assert_cmpfloat_with_epsilon(average[i], want[i], 1e-5);
  /* Judged with the average; trained on with the weights, to the bit. */
  g_assert_true(tm_session_judged_begin(s, NULL));
  g_autofree float *judged = fixture_read(s, s->params->value, n);
  fixture_same_bytes(judged, average, n * sizeof(float));
  g_assert_true(tm_session_judged_end(s, NULL));
  g_autofree float *after = fixture_read(s, s->params->value, n);
  fixture_same_bytes(after, before, n * sizeof(float));
  /* What is saved as best is what was judged. */
  g_assert_true(tm_session_save_best(s, NULL));
  g_autofree char *path = g_build_filename(r.folder, "checkpoints", "best.safetensors", NULL);
  g_autoptr(TmCheckpoint) c = tm_checkpoint_read(path, NULL);
  const TmParam *p = &g_array_index(s->params->list, TmParam, 2);
  for (guint i = 0; !p->trained; i++) p = &g_array_index(s->params->list, TmParam, i);
  const TmTensor *t = tm_checkpoint_tensor(c, p->name);
  fixture_same_bytes(t->data, average + p->offset, tm_tensor_bytes(t));
  close_run(&r);
}

/* ---- validation ---- */

static TmScore validate(TmSession *s) {
  TmScore x;
  g_autoptr(GError) e = NULL;
  g_assert_true(tm_session_validate(s, &x, &e));
  g_assert_no_error(e);
  return x;
}

/* B03: five pictures judged one by one, by two, all together: the same counts and loss. */
static void check_batches(gconstpointer loss) {
  Run r = {0};
  fixture_settings(&r.settings);
  g_assert_true(tm_settings_set(&r.settings, "loss", loss, NULL));
  g_assert_true(tm_settings_set(&r.settings, "class_weights", "sqrt", NULL));
  open_run(&r, 16, 5, 32, 24);
  steps(r.s, 4);
  static const int pixels[] = {1, 2 * 32 * 24, 5 * 32 * 24, 100 * 32 * 24};
  g_auto(TmScore) first = {0};
  for (guint i = 0; i < G_N_ELEMENTS(pixels); i++) {
    r.s->eval_pixels = pixels[i];
    TmScore x = validate(r.s);
    if (i == 0) {
      first = x;
      g_assert_true(isfinite(x.loss) && isfinite(x.miou));
      continue;
    }
    const gsize bytes = sizeof(guint64) * x.confusion->n * x.confusion->n;
    fixture_same_bytes(x.confusion->pixels, first.confusion->pixels, bytes);
    g_assert_cmpfloat_with_epsilon(x.miou, first.miou, 1e-6);
    g_assert_cmpfloat_with_epsilon(x.loss, first.loss, 1e-5);
    tm_score_clear(&x);
  }
  close_run(&r);
}

/* Every judged pixel is counted once, void ones never. */
static void test_counts(void) {
  Run r = {0};
  fixture_settings(&r.settings);
  open_run(&r, 8, 3, 32, 24);
  g_auto(TmScore) x = validate(r.s);
  guint64 judged = 0, counted = 0;
  for (guint i = 0; i < tm_dataset_n(r.data); i++) {
    g_auto(TmSample) sample = {0};
    if (tm_dataset_entry(r.data, i)->split != TM_SPLIT_VAL) continue;
    g_assert_true(tm_dataset_read(r.data, i, &sample, NULL));
    for (gsize k = 0; k < 32 * 24; k++) judged += sample.labels[k] < x.confusion->n;
  }
  for (gsize k = 0; k < (gsize)x.confusion->n * x.confusion->n; k++) counted += x.confusion->pixels[k];
  g_assert_cmpuint(judged, >, 0);
  g_assert_cmpuint(counted, ==, judged);
  close_run(&r);
}

/* B06: a picture too large is judged in tiles: the same pixels, nearly the same answer; the probe's mask too.
 */
static void test_tiles(void) {
  Run r = {0};
  fixture_settings(&r.settings);
  r.settings.base = 1;
  r.settings.crop = 32;
  open_run(&r, 8, 1, 300, 270);
  steps(r.s, 2);
  g_auto(TmScore) whole = validate(r.s);
  g_autoptr(TmProbe) a = tm_session_probe(r.s, 8, NULL);
  r.s->tile_pixels = 256 * 256;
  g_assert_true(tm_session_tiled(r.s, 300, 270));
  g_auto(TmScore) tiled = validate(r.s);
  g_autoptr(TmProbe) b = tm_session_probe(r.s, 8, NULL);
  guint64 n = 0, m = 0;
  guint differ = 0;
  for (gsize k = 0; k < (gsize)whole.confusion->n * whole.confusion->n; k++) {
    n += whole.confusion->pixels[k];
    m += tiled.confusion->pixels[k];
  }
  for (guint i = 0; i < 300 * 270; i++) differ += a->labels[i] != b->labels[i];
  g_assert_cmpuint(n, ==, m);
  g_assert_cmpuint(differ, <, 300 * 270 / 100);
  g_assert_cmpfloat_with_epsilon(whole.loss, tiled.loss, 1e-2);
  g_assert_cmpfloat_with_epsilon(a->wrong, b->wrong, 1e-2);
  close_run(&r);
}

/* Memory that is not there: programs are given back and tiles become smaller, down to the least. */
static void test_less_memory(void) {
  Run r = {0};
  fixture_settings(&r.settings);
  open_run(&r, 8, 2, 32, 24);
  g_auto(TmScore) x = validate(r.s);
  g_assert_cmpuint(r.s->evals->len, ==, 1);
  guint times = 0;
  for (;; times++) {
    g_autoptr(GError) e = g_error_new_literal(TM_ERROR, TM_ERROR_NO_MEMORY, "none");
    if (!tm_session_less_memory(r.s, &e)) break;
    g_assert_no_error(e);
    g_assert_cmpuint(r.s->evals->len, ==, 0);
  }
  g_assert_cmpuint(times, >, 1);
  g_assert_cmpuint(times, <, 10);
  g_autoptr(GError) other = g_error_new_literal(TM_ERROR, TM_ERROR_DEVICE, "lost");
  g_assert_false(tm_session_less_memory(r.s, &other));
  g_auto(TmScore) y = validate(r.s); /* and it still works */
  g_assert_cmpfloat(x.miou, ==, y.miou);
  close_run(&r);
}

/* A31: no validation pictures: told as such, no NaN where a number is promised, nothing fails. */
static void test_no_validation(void) {
  g_autoptr(TmDataset) all = fixture_roads(6, 2, 32, 24);
  g_autofree gboolean *out = g_new0(gboolean, tm_dataset_n(all));
  for (guint i = 0; i < tm_dataset_n(all); i++) out[i] = tm_dataset_entry(all, i)->split == TM_SPLIT_VAL;
  g_autoptr(TmDataset) d = tm_dataset_subset(all, out, NULL);
  g_autoptr(FixtureFolder) folder = fixture_folder();
  TmSettings settings;
  fixture_settings(&settings);
  g_autoptr(TmSession) s = fixture_session(d, &settings, folder, FALSE);
  steps(s, 1);
  g_auto(TmScore) x = validate(s);
  g_assert_null(x.confusion);
  g_assert_true(isnan(x.miou) && isnan(x.loss));
  g_assert_null(x.remark);
}

/* B10: a net that calls everything one class is told of, by the class's name. */
static void test_one_class(void) {
  Run r = {0};
  fixture_settings(&r.settings);
  open_run(&r, 8, 3, 32, 24);
  float *w = fixture_read(r.s, r.s->params->value, r.s->params->n_value);
  memset(w, 0, r.s->params->n_value * sizeof *w);
  fixture_write(r.s, r.s->params->value, w, r.s->params->n_value);
  const TmParam *bias = tm_params_find(r.s->params, "head.bias");
  g_assert_nonnull(bias);
  w[bias->offset + 3] = 1;
  fixture_write(r.s, r.s->params->value, w, r.s->params->n_value);
  g_auto(TmScore) one = validate(r.s);
  g_assert_nonnull(one.remark);
  g_assert_nonnull(strstr(one.remark, tm_dataset_classes(r.data)->classes[3].name));
  g_free(w);
  close_run(&r);
}

/* ---- which settings work ---- */

static void check_setting(gconstpointer data) {
  const char *const *pair = data;
  Run r = {0};
  fixture_settings(&r.settings);
  for (guint i = 0; pair[i]; i += 2) g_assert_true(tm_settings_set(&r.settings, pair[i], pair[i + 1], NULL));
  open_run(&r, 8, 2, 30, 22); /* not a multiple of anything */
  steps(r.s, 2);
  g_auto(TmScore) x = validate(r.s);
  g_assert_true(isfinite(x.loss));
  close_run(&r);
}

static const char *const variants[][12] = {
    {"loss", "cross-entropy"},
    {"loss", "focal"},
    {"loss", "dice"},
    {"loss", "cross-entropy+dice"},
    {"loss", "focal+dice"},
    {"optimizer", "sgd"},
    {"optimizer", "adam"},
    {"class_weights", "median"},
    {"class_weights", "log"},
    {"upsampling", "bilinear"},
    {"batch_norm", "false", "lr", "0.001"},
    {"dropout", "0.3"},
    {"depth", "5"},
    {"batch", "1", "crop", "16", "depth", "4"},
    {"scale_min", "0.5", "scale_max", "2", "rotate", "10", "hue", "20", "crop", "24"},
    {"precision", "auto", "schedule", "poly"},
};

/* B05: fewer pictures than a batch, a bottleneck of one pixel: an epoch still has a step, and it is said. */
static void test_few_pictures(void) {
  Run r = {0};
  fixture_settings(&r.settings);
  r.settings.crop = 16;
  r.settings.depth = 4;
  open_run(&r, 3, 1, 32, 24);
  g_assert_cmpuint(r.s->steps, ==, 1);
  g_assert_nonnull(r.s->note);
  steps(r.s, 1);
  close_run(&r);
}

/* ---- the size of what a step sees ---- */

static void write_pair(const char *folder, const char *name, int w, int h) {
  g_autofree guint8 *labels = g_malloc0((gsize)w * (gsize)h);
  for (int i = 0; i < w * h; i++) labels[i] = i % w > w / 2;
  static const guint32 palette[2] = {0xff203040u, 0xffe0d0c0u};
  static const char *const parts[] = {"images", "masks"};
  for (guint i = 0; i < 2; i++) {
    g_autofree char *dir = g_build_filename(folder, parts[i], NULL),
                    *path = g_build_filename(dir, name, NULL);
    g_assert_cmpint(g_mkdir_with_parents(dir, 0777), ==, 0);
    g_autoptr(GError) e = NULL;
    g_assert_true(tm_png_write_index(path, labels, w, h, palette, 2, &e));
    g_assert_no_error(e);
  }
}

/* The weights after some steps on the pictures of @data; @cache as the setting. Free them. */
static float *trained(TmDataset *d, double cache, gsize *n) {
  g_autoptr(FixtureFolder) folder = fixture_folder();
  TmSettings settings;
  fixture_settings(&settings);
  settings.batch = 2;
  settings.picture_cache = cache;
  g_autoptr(TmSession) s = fixture_session(d, &settings, folder, FALSE);
  steps(s, 2);
  g_assert_cmpint(s->store != NULL, ==, cache > 0);
  if (s->store) g_assert_cmpuint(tm_picture_store_used(s->store), >, 0);
  *n = s->params->n_value;
  return fixture_read(s, s->params->value, *n);
}

/* Pictures decoded, kept, and read back from the disk train the same net, bit for bit. */
static void test_picture_cache(void) {
  g_autoptr(FixtureFolder) data = fixture_folder();
  for (guint i = 0; i < 6; i++) {
    g_autofree char *name = g_strdup_printf("p%u.png", i);
    write_pair(data, name, 32, 24);
    static const char *const parts[] = {"images", "masks"};
    for (guint k = 0; k < 2; k++) { /* what was written this very moment is not kept */
      g_autofree char *path = g_build_filename(data, parts[k], name, NULL);
      g_assert_cmpint(g_utime(path, &(struct utimbuf){.actime = 1000000, .modtime = 1000000}), ==, 0);
    }
  }
  const TmDatasetOptions o = {.val_fraction = 0.2f};
  g_autoptr(GError) e = NULL;
  g_autoptr(TmDataset) d = tm_dataset_open(data, &o, &e);
  g_assert_no_error(e);
  gsize n, more;
  g_autofree float *without = trained(d, 0, &n);
  for (guint i = 0; i < 2; i++) {
    g_autofree float *with = trained(d, 1, &more);
    g_assert_cmpuint(more, ==, n);
    fixture_same_bytes(with, without, n * sizeof(float));
  }
}

/* A33: several sizes and no crop: the most common one, and it is said. */
static void test_sizes(void) {
  g_autoptr(FixtureFolder) data = fixture_folder();
  static const int sizes[][2] = {{40, 24}, {24, 40}, {40, 24}, {50, 50}, {40, 24}, {24, 40}};
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
    g_autofree char *name = g_strdup_printf("p%u.png", i);
    write_pair(data, name, sizes[i][0], sizes[i][1]);
  }
  const TmDatasetOptions o = {.val_fraction = 0.2f};
  g_autoptr(GError) e = NULL;
  g_autoptr(TmDataset) d = tm_dataset_open(data, &o, &e);
  g_assert_no_error(e);
  g_autoptr(FixtureFolder) folder = fixture_folder();
  TmSettings settings;
  fixture_settings(&settings);
  settings.batch = 2;
  g_autoptr(TmSession) s = fixture_session(d, &settings, folder, FALSE);
  g_assert_cmpint(s->crop_w, ==, 40);
  g_assert_cmpint(s->crop_h, ==, 24);
  g_assert_nonnull(s->note);
  g_assert_nonnull(strstr(s->note, "40×24"));
  steps(s, 2);
  g_auto(TmScore) x = validate(s);
  g_assert_true(isfinite(x.miou));
}

/* ---- opening that fails ---- */

static void refuse(TmDataset *d, const TmSettings *s, const char *folder, gboolean resume, int code,
                   const char *part) {
  const TmSessionPlan plan = {.data = d, .settings = s, .run_dir = folder, .resume = resume};
  g_autoptr(GError) e = NULL;
  g_assert_null(tm_session_open(&plan, &e));
  g_assert_error(e, TM_ERROR, code);
  if (!strstr(e->message, part)) g_test_message("%s", e->message);
  g_assert_nonnull(strstr(e->message, part));
}

/* More memory than there is: a sentence with advice, before anything large is asked for. */
static void test_too_large(void) {
  g_autoptr(TmDataset) d = fixture_roads(4, 1, 32, 24);
  g_autoptr(FixtureFolder) folder = fixture_folder();
  TmSettings s;
  fixture_settings(&s);
  s.batch = 1024;
  s.crop = 8192;
  s.base = 256;
  refuse(d, &s, folder, FALSE, TM_ERROR_NO_MEMORY, "smaller batch");
}

/* B13's kind: what cannot change in a run is named when it did. */
static void test_changed(void) {
  Run r = {0};
  fixture_settings(&r.settings);
  open_run(&r, 8, 1, 32, 24);
  steps(r.s, 1);
  g_assert_true(tm_session_save_last(r.s, NULL));
  tm_session_close(r.s);
  r.s = NULL;
  static const char *const changes[][2] = {
      {"base", "3"},  {"depth", "3"}, {"upsampling", "bilinear"}, {"batch_norm", "false"}, {"batch", "2"},
      {"crop", "16"}, {"seed", "6"}};
  for (guint i = 0; i < G_N_ELEMENTS(changes); i++) {
    TmSettings other = r.settings;
    g_assert_true(tm_settings_set(&other, changes[i][0], changes[i][1], NULL));
    refuse(r.data, &other, r.folder, TRUE, TM_ERROR_SETTING, changes[i][0]);
  }
  g_autoptr(TmDataset) more = fixture_roads(16, 1, 32, 24);
  refuse(more, &r.settings, r.folder, TRUE, TM_ERROR_SETTING, "steps");
  close_run(&r);
}

/* E01: who chose the processor gets it, whatever is wrong with the GPU's driver. */
static void test_chosen_device(void) {
  Run r = {0};
  fixture_settings(&r.settings);
  g_setenv("CUDA_VISIBLE_DEVICES", "", TRUE);
  open_run(&r, 4, 1, 32, 24);
  g_assert_cmpstr(r.s->backend->api->name, ==, "ref");
  g_autoptr(JsonNode) info = tm_run_read_info(r.folder, NULL);
  g_assert_nonnull(info);
  JsonObject *machine = json_object_get_object_member(json_node_get_object(info), "machine");
  g_assert_cmpstr(json_object_get_string_member(machine, "backend"), ==, "ref");
  close_run(&r);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  static const float bad[] = {NAN, INFINITY, -INFINITY};
  g_test_add_func("/session/learns", test_learns);
  g_test_add_data_func("/session/not-finite/nan", &bad[0], check_untouched);
  g_test_add_data_func("/session/not-finite/infinity", &bad[1], check_untouched);
  g_test_add_data_func("/session/not-finite/minus-infinity", &bad[2], check_untouched);
  g_test_add_func("/session/not-finite/no-checkpoint", test_no_bad_checkpoint);
  g_test_add_func("/session/clip", test_clip);
  g_test_add_func("/session/average", test_average);
  g_test_add_data_func("/session/validation/batches/cross-entropy", "cross-entropy", check_batches);
  g_test_add_data_func("/session/validation/batches/focal", "focal", check_batches);
  g_test_add_func("/session/validation/counts", test_counts);
  g_test_add_func("/session/validation/tiles", test_tiles);
  g_test_add_func("/session/validation/less-memory", test_less_memory);
  g_test_add_func("/session/validation/none", test_no_validation);
  g_test_add_func("/session/validation/one-class", test_one_class);
  for (guint i = 0; i < G_N_ELEMENTS(variants); i++) {
    g_autoptr(GString) path = g_string_new("/session/settings/");
    for (guint k = 0; variants[i][k]; k++) g_string_append_printf(path, "%s%s", k ? "-" : "", variants[i][k]);
    g_test_add_data_func(path->str, variants[i], check_setting);
  }
  g_test_add_func("/session/few-pictures", test_few_pictures);
  g_test_add_func("/session/picture-cache", test_picture_cache);
  g_test_add_func("/session/sizes", test_sizes);
  g_test_add_func("/session/too-large", test_too_large);
  g_test_add_func("/session/changed", test_changed);
  g_test_add_func("/session/chosen-device", test_chosen_device);
  return g_test_run();
}
