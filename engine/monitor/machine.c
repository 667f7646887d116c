#include "engine/monitor/host.h"
#include "engine/monitor/monitor.h"
#include "engine/monitor/nvml.h"

void tm_machine_read(TmMachine *out) {
  *out = (TmMachine){
      .cpu = tm_host_cpu_name(""), .cores = (int)g_get_num_processors(), .memory = tm_host_memory("")};
  g_autoptr(GError) error = NULL;
  g_autoptr(TmNvml) gpu = tm_nvml_open(&error);
  if (gpu)
    tm_nvml_machine(gpu, out);
  else
    out->gpu_reason = g_strdup(error->message);
}

void tm_machine_clear(TmMachine *m) {
  g_free(m->cpu);
  g_free(m->gpu);
  g_free(m->gpu_uuid);
  for (guint i = 0; i < m->n_gpus; i++) tm_gpu_clear(&m->gpus[i]);
  g_free(m->gpus);
  g_free(m->gpu_reason);
  g_free(m->driver);
  g_free(m->cuda);
  *m = (TmMachine){0};
}
