#include "ui/read_scene.h"

typedef struct {
  TmDataset *dataset;
  guint entry;
} Reading;

static void reading_free(gpointer data) {
  Reading *r = data;
  tm_dataset_unref(r->dataset);
  g_free(r);
}

static void read_picture(GTask *task, gpointer source, gpointer data, GCancellable *cancel) {
  (void)source;
  (void)cancel;
  Reading *r = data;
  if (g_task_return_error_if_cancelled(task)) return; /* the person went on before its turn came */
  g_auto(TmSample) s = {0};
  GError *error = NULL;
  if (!tm_dataset_read(r->dataset, r->entry, &s, &error)) {
    g_task_return_error(task, error);
    return;
  }
  TmScene *scene = tm_scene_new(s.w, s.h, g_steal_pointer(&s.rgb), NULL, g_steal_pointer(&s.labels),
                                tm_dataset_classes(r->dataset));
  g_task_return_pointer(task, scene, (GDestroyNotify)tm_scene_unref);
}

void tm_read_scene_cancel(GCancellable **reading) {
  if (*reading) g_cancellable_cancel(*reading);
  g_clear_object(reading);
}

void tm_read_scene(GObject *source, TmDataset *d, guint entry, GCancellable **reading,
                   GAsyncReadyCallback done) {
  tm_read_scene_cancel(reading);
  *reading = g_cancellable_new();
  Reading *r = g_new(Reading, 1);
  *r = (Reading){.dataset = tm_dataset_ref(d), .entry = entry};
  g_autoptr(GTask) task = g_task_new(source, *reading, done, NULL);
  g_task_set_task_data(task, r, reading_free);
  g_task_run_in_thread(task, read_picture);
}

TmScene *tm_read_scene_finish(GAsyncResult *result, TmDataset **d, guint *entry, GError **error) {
  const Reading *r = g_task_get_task_data(G_TASK(result));
  if (d) *d = r->dataset;
  *entry = r->entry;
  return g_task_propagate_pointer(G_TASK(result), error);
}
