#include "app/plan_words.h"

#include <glib/gi18n.h>

#include "app/cli.h"

static char *memory_text(gsize bytes) {
  return bytes < 995000000 ? g_strdup_printf(_("%.0f MB"), (double)bytes * 1e-6)
                           : g_strdup_printf(_("%.2f GB"), (double)bytes * 1e-9);
}

static char *time_text(double seconds) {
  if (seconds < 0.995) return g_strdup_printf(_("%.0f ms"), seconds * 1e3);
  if (seconds < 99.5) return g_strdup_printf(_("%.2f s"), seconds);
  return g_strdup_printf(_("%.0f min"), seconds / 60);
}

/* ---- the table ---- */

static void print_layers(const TmEstimate *e) {
  g_print("%-12s %15s %11s %9s %9s %10s %10s\n", _("layer"), _("gives"), _("parameters"), _("GFLOP"),
          _("kept MB"), _("forward ms"), _("back ms"));
  for (guint i = 0; i < e->n_layers; i++) {
    const TmEstimateLayer *l = &e->layers[i];
    g_autofree char *shape = g_strdup_printf("%d×%d×%d", l->shape.c, l->shape.h, l->shape.w);
    g_print("%-12s %s%*s %11" G_GSIZE_FORMAT " %9.2f %9.1f %10.2f %10.2f\n", l->name, l->shape.c ? shape : "",
            (int)(l->shape.c ? 15 - g_utf8_strlen(shape, -1) : 15), "", l->parameters, l->flops * 1e-9,
            (double)l->stored * 1e-6, l->forward_s * 1e3, l->backward_s * 1e3);
  }
}

static void print_memory(const char *what, gsize bytes) {
  g_autofree char *text = memory_text(bytes);
  g_print("  %s%*s %10s\n", what, (int)MAX(0, 44 - g_utf8_strlen(what, -1)), "", text);
}

static void print_time(const char *what, double seconds) {
  g_autofree char *text = time_text(seconds);
  g_print("  %s%*s %10s\n", what, (int)MAX(0, 44 - g_utf8_strlen(what, -1)), "", text);
}

void tm_plan_print(const TmEstimate *e) {
  g_print(_("On %s, in %s.\n"), e->device, tm_dtype_name(e->precision));
  print_layers(e);
  g_print("\n%s\n", _("Memory"));
  print_memory(_("program and libraries"), e->process);
  print_memory(_("activations of a step"), e->activations);
  print_memory(_("weights, gradients, optimizer"), e->weights);
  print_memory(_("packed weights, work space"), e->engine);
  print_memory(_("validation and probe"), e->validation);
  print_memory(_("pictures and batches"), e->pictures);
  print_memory(_("while a checkpoint is written"), e->checkpoint);
  if (e->resume) print_memory(_("more when a run is resumed"), e->resume);
  print_memory(_("at most"), e->memory);
  g_print("\n%s\n", _("Time"));
  if (e->rough) g_print("  %s\n", _("a guess: other programs keep the processor too busy to be measured"));
  print_time(_("optimizer"), e->update_s);
  print_time(_("a step"), e->step_s);
  print_time(_("validation"), e->validation_s);
  g_autofree char *epoch =
      g_strdup_printf(ngettext("an epoch of %u step", "an epoch of %u steps", e->steps), e->steps);
  print_time(epoch, e->epoch_s);
}

/* ---- sentences ---- */

char *tm_plan_sentence(const TmEstimate *e) {
  g_autofree char *memory = memory_text(e->memory), *step = time_text(e->step_s),
                  *epoch = time_text(e->epoch_s);
  if (e->rough)
    return g_strdup_printf(_("Predicted: %s of memory at most. How long it takes cannot be told while other programs "
                             "keep the processor busy."),
                           memory);
  return g_strdup_printf(_("Predicted: %s of memory at most, %s a step, %s an epoch."), memory, step, epoch);
}

char *tm_plan_outcome(const TmEstimate *e, const TmStepTimes *times, gsize peak) {
  g_autofree char *memory = memory_text(e->memory), *was = memory_text(peak), *step = time_text(e->step_s),
                  *took = time_text(times->upload + times->network + times->update);
  if (e->rough)
    return peak ? g_strdup_printf(_("Memory: %s at most, predicted %s. The network's step: %s."), was, memory, took)
                : g_strdup_printf(_("The network's step: %s."), took);
  return peak ? g_strdup_printf(_("Memory: %s at most, predicted %s. The network's step: %s, predicted %s."),
                                was, memory, took, step)
              : g_strdup_printf(_("The network's step: %s, predicted %s."), took, step);
}

/* ---- JSON ---- */

static void add_bytes(JsonObject *o, const char *member, gsize bytes) {
  json_object_set_int_member(o, member, (gint64)bytes);
}

static JsonObject *layer_json(const TmEstimateLayer *l) {
  JsonObject *o = json_object_new();
  json_object_set_string_member(o, "name", l->name);
  add_bytes(o, "parameters", l->parameters);
  tm_cli_json_number(o, "flops", l->flops);
  add_bytes(o, "stored", l->stored);
  tm_cli_json_number(o, "forward", l->forward_s);
  tm_cli_json_number(o, "backward", l->backward_s);
  return o;
}

JsonObject *tm_plan_json(const TmEstimate *e) {
  JsonObject *o = json_object_new();
  json_object_set_string_member(o, "device", e->device);
  json_object_set_string_member(o, "precision", tm_dtype_name(e->precision));
  add_bytes(o, "memory", e->memory);
  add_bytes(o, "process", e->process);
  add_bytes(o, "activations", e->activations);
  add_bytes(o, "weights", e->weights);
  add_bytes(o, "engine", e->engine);
  add_bytes(o, "validation", e->validation);
  add_bytes(o, "pictures", e->pictures);
  add_bytes(o, "checkpoint", e->checkpoint);
  add_bytes(o, "resume", e->resume);
  tm_cli_json_number(o, "step_seconds", e->step_s);
  tm_cli_json_number(o, "validation_seconds", e->validation_s);
  tm_cli_json_number(o, "epoch_seconds", e->epoch_s);
  json_object_set_boolean_member(o, "rough", e->rough);
  json_object_set_int_member(o, "steps", e->steps);
  JsonArray *layers = json_array_new();
  for (guint i = 0; i < e->n_layers; i++) json_array_add_object_element(layers, layer_json(&e->layers[i]));
  json_object_set_array_member(o, "layers", layers);
  return o;
}
