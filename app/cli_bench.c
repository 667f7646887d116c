/* cli_bench.c: tarmac bench: times one training step, one prediction, or the loader, on random weights and
 * pictures. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glib/gi18n.h>

#include "app/bench_memory.h"
#include "app/bench_net.h"
#include "app/bench_steps.h"
#include "app/cli.h"
#include "app/interrupt.h"
#include "app/progress.h"
#include "engine/core/free_memory.h"
#include "engine/data/loader.h"

enum { CLASSES = 11, WARM = 3, LARGEST_BASE = 512, LARGEST_BATCH = 4096, MOST_MB = 1048576 };

typedef struct {
  char *size, *precision, *backend, *data, *convolutions;
  int base, batch, steps, threads, depth, memory_limit;
  gboolean json, bilinear, inference;
} Options;

typedef struct {
  double *seconds; /* of each step */
  guint n;
  int batch, height, width;
  double flops; /* 0: not told */
  gsize memory;
  char *device;
  const char *precision;
  TmBenchSteps *steps;         /* kernels */
  TmBenchMemoryReport *memory_report; /* memory */
} Result;

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double quantile(const Result *r, double q) {
  double at = q * (r->n - 1);
  guint low = (guint)at, high = MIN(low + 1, r->n - 1);
  return r->seconds[low] + (at - low) * (r->seconds[high] - r->seconds[low]);
}

static void report(const char *what, const Options *o, Result *r) {
  qsort(r->seconds, r->n, sizeof *r->seconds, compare);
  if (r->steps && !o->json) {
    g_print(_("%s, base %d, batch %d, %d × %d, %s, on %s\n"), o->inference ? "infer" : "step", o->base,
            r->batch, r->height, r->width, r->precision, r->device);
    tm_bench_steps_print(r->steps);
    return;
  }
  if (r->memory_report && !o->json) {
    g_print(_("%s, base %d, batch %d, %d × %d, %s, on %s\n"), what, o->base, r->batch, r->height, r->width,
            r->precision, r->device);
    tm_bench_memory_print(r->memory_report);
    return;
  }
  double median = quantile(r, 0.5), images = r->batch / median, gflops = r->flops / median / 1e9;
  if (!o->json) {
    g_print(_("%s, base %d, batch %d, %d × %d, %s, on %s\n"), what, o->base, r->batch, r->height, r->width,
            r->precision, r->device);
    g_print(_("  %.4f s (median of %u; from %.4f to %.4f), %.2f pictures/s"), median, r->n, r->seconds[0],
            r->seconds[r->n - 1], images);
    if (r->flops > 0)
      g_print(_(", %.1f GFLOP/s, %.1f MiB on the device"), gflops, (double)r->memory / 1048576);
    g_print("\n");
    return;
  }
  JsonObject *out = json_object_new();
  json_object_set_string_member(out, "what", what);
  json_object_set_int_member(out, "base", o->base);
  json_object_set_int_member(out, "batch", r->batch);
  JsonArray *size = json_array_new();
  json_array_add_int_element(size, r->height);
  json_array_add_int_element(size, r->width);
  json_object_set_array_member(out, "size", size);
  json_object_set_string_member(out, "precision", r->precision);
  json_object_set_string_member(out, "device", r->device);
  if (r->steps) {
    tm_bench_steps_json(r->steps, out);
    tm_cli_json_print(out);
    return;
  }
  if (r->memory_report) {
    tm_bench_memory_json(r->memory_report, out);
    tm_cli_json_print(out);
    return;
  }
  json_object_set_int_member(out, "steps", r->n);
  tm_cli_json_number(out, "seconds", median);
  tm_cli_json_number(out, "seconds_low", quantile(r, 0.25));
  tm_cli_json_number(out, "seconds_high", quantile(r, 0.75));
  tm_cli_json_number(out, "images_per_s", images);
  tm_cli_json_number(out, "gflops", r->flops > 0 ? gflops : NAN);
  tm_cli_json_number(out, "device_mb", (double)r->memory / 1048576);
  tm_cli_json_number(out, "peak_rss_mb", tm_cli_peak_rss_mb());
  tm_cli_json_print(out);
}

/* Runs @work WARM + n times and keeps the times of the last n. */
static gboolean time_it(gboolean (*work)(gpointer, GError **), gpointer user, Result *r, GError **error) {
  g_autoptr(TmProgress) progress = tm_progress_new(_("Timing"), _("runs"));
  for (guint i = 0; i < WARM + r->n; i++) {
    gint64 begin = g_get_monotonic_time();
    if (!work(user, error)) return FALSE;
    if (i >= WARM) r->seconds[i - WARM] = (double)(g_get_monotonic_time() - begin) / 1e6;
    if (tm_interrupt_caught()) {
      g_set_error_literal(error, TM_ERROR, TM_ERROR_CANCELLED, _("Stopped."));
      return FALSE;
    }
    tm_progress_set(progress, i + 1, WARM + r->n);
  }
  return TRUE;
}

/* ---- step and infer ---- */

static gboolean run_net(gpointer user, GError **error) {
  return tm_bench_net_run(user, error);
}

static gboolean bench_net(gboolean training, const char *what, const Options *o, Result *r, GError **error) {
  TmBackendOptions options = {.threads = o->threads, .deterministic = TRUE, .convolutions = o->convolutions};
  tm_process_memory(); /* before the run takes any */
  g_autoptr(TmBackend) backend = tm_backend_open(o->backend, &options, error);
  if (!backend) return FALSE;
  TmBackendInfo info;
  tm_backend_info(backend, &info);
  r->device = g_strdup_printf("%s: %s, %s", backend->api->name, info.name ? info.name : "?",
                              info.detail ? info.detail : "?");
  const char *precision = o->precision ? o->precision : info.bf16 ? "bf16" : "f32";
  tm_backend_info_clear(&info);
  TmSettings s;
  tm_settings_defaults(&s);
  s.base = o->base;
  s.depth = o->depth;
  s.dropout = 0;
  s.memory_limit = o->memory_limit;
  if (o->convolutions && !tm_settings_set(&s, "convolutions", o->convolutions, error)) return FALSE;
  if (o->bilinear && !tm_settings_set(&s, "upsampling", "bilinear", error)) return FALSE;
  TmBenchPlan plan = {.training = training,
                      .batch = r->batch,
                      .height = r->height,
                      .width = r->width,
                      .classes = CLASSES,
                      .precision = strcmp(precision, "bf16") == 0 ? TM_BF16 : TM_F32,
                      .int8 = strcmp(precision, "int8") == 0};
  g_autoptr(TmBenchNet) net = tm_bench_net_new(backend, &s, &plan, error);
  if (!net) return FALSE;
  r->precision = plan.int8 ? "int8" : tm_dtype_name(plan.precision);
  r->flops = tm_bench_net_flops(net);
  r->memory = tm_bench_net_memory(net);
  if (strcmp(what, "memory") == 0)
    return (r->memory_report = tm_bench_memory_new(backend, net, error)) != NULL;
  if (strcmp(what, "kernels") != 0) return time_it(run_net, net, r, error);
  r->steps = tm_bench_steps_new(backend, net, plan.precision, training, error);
  return r->steps != NULL;
}

/* ---- loader ---- */

static gboolean next_batch(gpointer user, GError **error) {
  return tm_loader_next(user, error) != NULL;
}

static gboolean bench_loader(const Options *o, Result *r, GError **error) {
  TmDatasetOptions options = {.val_fraction = 0.2f, .demo_width = r->width, .demo_height = r->height};
  g_autoptr(TmDataset) d = tm_dataset_open(o->data ? o->data : "demo", &options, error);
  if (!d) return FALSE;
  TmLoaderOptions loading = {.split = TM_SPLIT_TRAIN,
                             .batch = r->batch,
                             .shuffle = TRUE,
                             .threads = o->threads,
                             .augment = {.scale_min = 0.75f,
                                         .scale_max = 1.5f,
                                         .flip = 0.5f,
                                         .brightness = 0.2f,
                                         .offset = 20,
                                         .crop_w = r->width,
                                         .crop_h = r->height}};
  g_autoptr(TmLoader) loader = tm_loader_new(d, &loading, 0, 0, error);
  if (!loader) return FALSE;
  r->device = g_strdup(tm_dataset_title(d));
  r->precision = "u8";
  return time_it(next_batch, loader, r, error);
}

/* ---- the command ---- */

static int check(const char *what, Options *o, Result *r) {
  const TmCommand *c = &tm_command_bench;
  const gboolean kernels = strcmp(what, "kernels") == 0;
  static const char *const known[] = {"step", "infer", "kernels", "loader", "memory", NULL};
  if (!g_strv_contains(known, what))
    return tm_cli_usage(c, _("“%s” cannot be measured: it is step, infer, kernels, loader or memory."), what);
  if (o->inference && !kernels)
    return tm_cli_usage(c, "%s", _("--inference is for kernels: a prediction's."));
  const gboolean infer = strcmp(what, "infer") == 0 || o->inference;
  const gboolean int8 = o->precision && strcmp(o->precision, "int8") == 0;
  if (o->precision && !int8 && strcmp(o->precision, "f32") != 0 && strcmp(o->precision, "bf16") != 0)
    return tm_cli_usage(c, _("the precision “%s” is not in this program: it is f32, bf16 or int8."),
                        o->precision);
  if (int8 && !infer)
    return tm_cli_usage(c, "%s", _("int8 is for infer, and kernels --inference: nothing is trained in it."));
  if (o->base < 1 || o->base > LARGEST_BASE)
    return tm_cli_usage(c, _("--base is from 1 to %d."), LARGEST_BASE);
  if (o->depth < 2 || o->depth > 5) return tm_cli_usage(c, "%s", _("--depth is from 2 to 5."));
  if (o->batch < 0 || o->batch > LARGEST_BATCH)
    return tm_cli_usage(c, _("--batch is from 1 to %d."), LARGEST_BATCH);
  if (o->steps < 0 || o->steps > 1000000) return tm_cli_usage(c, "%s", _("--steps is from 1 to 1000000."));
  if (o->memory_limit < 0 || o->memory_limit > MOST_MB)
    return tm_cli_usage(c, _("--memory-limit is from 0 to %d."), MOST_MB);
  if (o->memory_limit && (infer || strcmp(what, "loader") == 0))
    return tm_cli_usage(c, "%s", _("--memory-limit is for step, kernels and memory: only training keeps values for later."));
  if (o->threads < 0) return tm_cli_usage(c, "%s", _("--threads is not negative."));
  const char *size = o->size ? o->size : infer ? "368x480" : "352x480";
  if (!tm_cli_extent(size, &r->height, &r->width))
    return tm_cli_usage(c, _("--size is written 352x480, height first, not “%s”."), size);
  r->batch = o->batch ? o->batch : infer ? 1 : 4;
  r->n = o->steps ? (guint)o->steps : infer ? 20 : 6;
  return TM_EXIT_OK;
}

static int time_and_report(const char *what, const Options *o, Result *r) {
  g_autoptr(GError) error = NULL;
  tm_interrupt_catch();
  r->seconds = g_new0(double, r->n);
  gboolean loader = strcmp(what, "loader") == 0;
  gboolean good = loader ? bench_loader(o, r, &error)
                         : bench_net(strcmp(what, "infer") != 0 && !o->inference, what, o, r, &error);
  if (good) report(what, o, r);
  g_free(r->seconds);
  g_free(r->device);
  tm_bench_steps_free(r->steps);
  tm_bench_memory_free(r->memory_report);
  if (good) return TM_EXIT_OK;
  return tm_interrupt_caught() ? TM_EXIT_SIGNAL + tm_interrupt_caught() : tm_cli_fail(error, TM_EXIT_FAILED);
}

static int bench(int argc, char **argv) {
  Options o = {.base = 32, .depth = 4};
  const GOptionEntry entries[] = {
      {"base", 0, 0, G_OPTION_ARG_INT, &o.base, N_("Channels of the first level: 32 unless said"), N_("N")},
      {"depth", 0, 0, G_OPTION_ARG_INT, &o.depth, N_("Levels: 4 unless said"), N_("N")},
      {"bilinear", 0, 0, G_OPTION_ARG_NONE, &o.bilinear,
       N_("Bilinear upsampling instead of transposed convolutions"), NULL},
      {"batch", 0, 0, G_OPTION_ARG_INT, &o.batch, N_("Pictures at once: step and loader 4, infer 1"),
       N_("N")},
      {"size", 0, 0, G_OPTION_ARG_STRING, &o.size,
       N_("Height and width: step and loader 352x480, infer 368x480"), N_("HxW")},
      {"precision", 0, 0, G_OPTION_ARG_STRING, &o.precision,
       N_("f32, bf16 or, infer, int8; else what the processor is best at"), N_("TYPE")},
      {"steps", 0, 0, G_OPTION_ARG_INT, &o.steps,
       N_("Runs that are timed, after 3 that are not: step 6, infer 20"), N_("N")},
      {"backend", 0, 0, G_OPTION_ARG_STRING, &o.backend, N_("auto, cuda, cpu or ref"), N_("NAME")},
      {"convolutions", 0, 0, G_OPTION_ARG_STRING, &o.convolutions,
       N_("cpu: auto, direct, winograd or onednn, where they can"), N_("WAY")},
      {"memory-limit", 0, 0, G_OPTION_ARG_INT, &o.memory_limit,
       N_("step, kernels, memory: megabytes it may take, recomputing to stay within them; 0 is no limit"), N_("MB")},
      {"threads", 0, 0, G_OPTION_ARG_INT, &o.threads, N_("Processor threads; 0 uses all"), N_("N")},
      {"data", 0, 0, G_OPTION_ARG_FILENAME, &o.data, N_("loader: this folder instead of the demo roads"),
       N_("DIR")},
      {"inference", 0, 0, G_OPTION_ARG_NONE, &o.inference, N_("kernels: those of a prediction"), NULL},
      {"json", 0, 0, G_OPTION_ARG_NONE, &o.json, N_("End with one line of JSON on standard output"), NULL},
      {NULL},
  };
  g_auto(GStrv) words = NULL;
  int code = TM_EXIT_OK;
  Result r = {0};
  if (tm_cli_parse(&tm_command_bench, entries, NULL, argc, argv, 1, 1, &words, &code)) {
    code = check(words[0], &o, &r);
    if (code == TM_EXIT_OK) code = time_and_report(words[0], &o, &r);
  }
  g_free(o.size);
  g_free(o.precision);
  g_free(o.convolutions);
  g_free(o.backend);
  g_free(o.data);
  return code;
}

const TmCommand tm_command_bench = {
    .name = "bench",
    .operands = N_("step|infer|kernels|loader|memory"),
    .summary = N_("measure a training step, a prediction, their kernels, the loader or the memory"),
    .detail =
        N_("Times a UNet of 11 classes with random weights on random pictures. step: all the trainer does in "
           "a step but for decoding;\n"
           "infer: picture in, class indices out; loader: decode and augment. The figure is the median.\n"
           "kernels: where the time of a step goes, beside what the device multiplies and copies at best;\n"
           "memory: what a training step was said to take, by layer, beside what it took.\n\n"
           "Examples:\n"
           "  tarmac bench step --base 32 --batch 4 --size 352x480 --precision bf16\n"
           "  tarmac bench infer --precision int8 --steps 50 --json\n"
           "  tarmac bench memory --memory-limit 800\n"
           "  tarmac bench kernels --precision bf16\n"
           "  tarmac bench loader --data camvid --batch 8 --size 320x320"),
    .run = bench,
};
