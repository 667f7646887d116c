#include "engine/monitor/gpu.h"

#include <glib/gi18n.h>

void tm_gpu_clear(TmGpu *g) {
  g_free(g->name);
  g_free(g->uuid);
  g_free(g->bus);
  *g = (TmGpu){0};
}

void tm_gpu_program_clear(TmGpuProgram *p) {
  g_clear_pointer(&p->name, g_free);
}

char *tm_throttle_text(guint reasons) {
  static const struct {
    guint bits;
    const char *text;
  } causes[] = {
      {TM_THROTTLE_HEAT | TM_THROTTLE_HARDWARE_HEAT, N_("by heat")},
      {TM_THROTTLE_POWER, N_("by its power limit")},
      {TM_THROTTLE_POWER_BRAKE, N_("by its power supply")},
      {TM_THROTTLE_SYNC, N_("to keep in step with other GPUs")},
      {TM_THROTTLE_SET_CLOCKS | TM_THROTTLE_DISPLAY, N_("by clocks that were set for it")},
  };
  g_autoptr(GString) all = g_string_new(NULL);
  for (guint i = 0; i < G_N_ELEMENTS(causes); i++)
    if (reasons & causes[i].bits)
      g_string_append_printf(all, "%s%s", all->len ? ", " : "", _(causes[i].text));
  /* The bit for "hardware" comes with one that says more, where the GPU knows more. */
  if (all->len == 0 && reasons & TM_THROTTLE_HARDWARE) g_string_append(all, _("by its hardware"));
  return all->len ? g_strdup_printf(_("slowed down %s"), all->str) : NULL;
}
