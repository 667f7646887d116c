#include "engine/run/run_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "engine/run/atomic.h"
#include "engine/run/checkpoint-private.h"
#include "engine/run/events.h"
#include "engine/run/history_csv.h"
#include "engine/run/history_cut.h"
#include "engine/run/json_text.h"
#include "engine/run/log_file.h"
#include "engine/run/probe_files.h"
#include "engine/run/run_names.h"

struct _TmRunDir {
  char *path;
  int lock; /* the folder, held with flock(): ends with the process, leaves no file behind */
  TmLogFile *steps, *epochs, *changes;
  TmEvents *events;
};

static gboolean file_error(const char *path, int code, GError **error) {
  g_autofree char *shown = g_filename_display_name(path);
  g_set_error(error, TM_ERROR, TM_ERROR_FILE, _("“%s” cannot be opened: %s."), shown, g_strerror(code));
  return FALSE;
}

/* ---- open and close ---- */

/* Two programs that write one run would spoil it. File systems without locks are let pass. */
static gboolean take_lock(TmRunDir *r, GError **error) {
  r->lock = open(r->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (r->lock < 0) return file_error(r->path, errno, error);
  if (flock(r->lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return TRUE;
  g_autofree char *shown = g_filename_display_name(r->path);
  g_set_error(error, TM_ERROR, TM_ERROR_FILE,
              _("The run “%s” is being written by another Tarmac. Wait for it or stop it there."), shown);
  return FALSE;
}

static gboolean make_folder(const char *path, const char *name, gboolean sweep, GError **error) {
  g_autofree char *full = g_build_filename(path, name, NULL);
  if (g_mkdir(full, 0777) != 0 && errno != EEXIST) {
    tm_write_error(error, errno, full, 0);
    return FALSE;
  }
  if (sweep) tm_atomic_sweep(full);
  return TRUE;
}

static TmLogFile *open_log(const char *path, const char *name, GError **error) {
  g_autofree char *full = g_build_filename(path, name, NULL);
  return tm_log_file_open(full, error);
}

static gboolean open_parts(TmRunDir *r, guint64 resume_step, GError **error) {
  if (!take_lock(r, error) || !make_folder(r->path, TM_RUN_CHECKPOINTS, TRUE, error) ||
      !make_folder(r->path, TM_RUN_PROBES, TRUE, error))
    return FALSE;
  tm_atomic_sweep(r->path);
  if (!tm_history_cut(r->path, resume_step, error) || !(r->steps = open_log(r->path, TM_RUN_STEPS, error)) ||
      !(r->epochs = open_log(r->path, TM_RUN_EPOCHS, error)) ||
      !(r->changes = open_log(r->path, TM_RUN_CHANGES, error)))
    return FALSE;
  if (tm_log_file_is_empty(r->steps) &&
      !tm_log_file_add(r->steps, TM_STEPS_HEADER, strlen(TM_STEPS_HEADER), error))
    return FALSE;
  r->events = tm_events_open(r->path, resume_step, error);
  return r->events != NULL;
}

TmRunDir *tm_run_open(const char *path, guint64 resume_step, GError **error) {
  g_autoptr(TmRunDir) r = g_new0(TmRunDir, 1);
  r->path = g_strdup(path);
  r->lock = -1;
  return open_parts(r, resume_step, error) ? g_steal_pointer(&r) : NULL;
}

void tm_run_close(TmRunDir *r) {
  if (!r) return;
  tm_log_file_close(r->steps);
  tm_log_file_close(r->epochs);
  tm_log_file_close(r->changes);
  tm_events_close(r->events);
  if (r->lock >= 0) close(r->lock);
  g_free(r->path);
  g_free(r);
}

const char *tm_run_path(const TmRunDir *r) {
  return r->path;
}

/* ---- run.json ---- */

gboolean tm_run_write_info(TmRunDir *r, JsonNode *info, GError **error) {
  g_autofree char *text = tm_json_text(info, TRUE), *path = g_build_filename(r->path, TM_RUN_INFO, NULL);
  g_autofree char *line = g_strconcat(text, "\n", NULL);
  return tm_atomic_write_file(path, line, strlen(line), error);
}

JsonNode *tm_run_read_info(const char *path, GError **error) {
  g_autofree char *full = g_build_filename(path, TM_RUN_INFO, NULL), *shown = g_filename_display_name(full),
                  *text = NULL;
  g_autoptr(GError) why = NULL;
  gsize size;
  if (!g_file_get_contents(full, &text, &size, &why)) {
    g_set_error(error, TM_ERROR, TM_ERROR_FILE, _("“%s” cannot be read: %s. Choose the folder of a run."),
                shown, why->message);
    return NULL;
  }
  JsonNode *node = tm_json_parse(text, size, 64, &why);
  if (!node) g_set_error(error, TM_ERROR, TM_ERROR_CORRUPT, _("“%s” is damaged: %s"), shown, why->message);
  return node;
}

/* ---- history ---- */

gboolean tm_run_add_step(TmRunDir *r, const TmStepRow *row, GError **error) {
  g_autoptr(GString) line = g_string_new(NULL);
  const TmScalar scalars[] = {{"loss/train", row->loss},
                              {"lr", row->lr},
                              {"grad_norm", row->grad_norm},
                              {"loss_scale", row->loss_scale}};
  const guint n = (guint)G_N_ELEMENTS(scalars) - (row->loss_scale > 0 ? 0 : 1);
  tm_csv_step(line, row);
  const gboolean kept = tm_log_file_add(r->steps, line->str, line->len, error);
  return tm_events_add(r->events, row->step, n, scalars, kept ? error : NULL) && kept;
}

static gboolean add_epoch_event(TmRunDir *r, const TmEpochRow *row, guint n_classes, const char *const *names,
                                const double *iou, GError **error) {
  g_autoptr(GArray) scalars = g_array_new(FALSE, FALSE, sizeof(TmScalar));
  g_autoptr(GPtrArray) tags = g_ptr_array_new_with_free_func(g_free);
  const TmStepTimes *t = &row->times;
  const TmScalar whole[] = {{"loss/validation", row->val_loss},
                            {"miou", row->miou},
                            {"accuracy", row->accuracy},
                            {"seconds/step", (float)t->step},
                            {"seconds/wait", (float)t->wait},
                            {"seconds/decode", (float)t->decode},
                            {"seconds/augment", (float)t->augment},
                            {"seconds/upload", (float)t->upload},
                            {"seconds/network", (float)t->network},
                            {"seconds/forward", (float)t->forward},
                            {"seconds/update", (float)t->update},
                            {"seconds/draw", (float)t->draw}};
  for (guint i = 0; i < G_N_ELEMENTS(whole); i++)
    if (!isnan(whole[i].value)) g_array_append_val(scalars, whole[i]);
  for (guint i = 0; i < n_classes; i++) {
    if (isnan(iou[i])) continue;
    char *tag = g_strdup_printf("iou/%s", names[i]);
    g_ptr_array_add(tags, tag);
    g_array_append_val(scalars, ((TmScalar){tag, (float)iou[i]}));
  }
  return scalars->len == 0 ||
         tm_events_add(r->events, row->step, scalars->len, (const TmScalar *)scalars->data, error);
}

gboolean tm_run_add_epoch(TmRunDir *r, const TmEpochRow *row, guint n_classes, const char *const *names,
                          const double *iou, GError **error) {
  g_autoptr(GString) line = g_string_new(NULL);
  if (tm_log_file_is_empty(r->epochs)) tm_csv_epoch_header(line, n_classes, names);
  tm_csv_epoch(line, row, n_classes, iou);
  const gboolean kept = tm_log_file_add(r->epochs, line->str, line->len, error);
  return add_epoch_event(r, row, n_classes, names, iou, kept ? error : NULL) && kept &&
         tm_run_flush(r, error);
}

gboolean tm_run_flush(TmRunDir *r, GError **error) {
  return tm_log_file_flush(r->epochs, TRUE, error) && tm_log_file_flush(r->steps, TRUE, error) &&
         tm_log_file_flush(r->changes, TRUE, error) && tm_events_flush(r->events, FALSE, error);
}

gboolean tm_run_add_change(TmRunDir *r, JsonObject *change, GError **error) {
  g_autoptr(JsonNode) node = json_node_new(JSON_NODE_OBJECT);
  json_node_take_object(node, change);
  if (!json_object_has_member(change, "time")) {
    g_autoptr(GDateTime) now = g_date_time_new_now_utc();
    g_autofree char *text = g_date_time_format_iso8601(now);
    json_object_set_string_member(change, "time", text);
  }
  g_autofree char *text = tm_json_text(node, FALSE), *line = g_strconcat(text, "\n", NULL);
  return tm_log_file_add(r->changes, line, strlen(line), error) &&
         tm_log_file_flush(r->changes, FALSE, error);
}

/* ---- checkpoints and probes ---- */

gboolean tm_run_write_last(TmRunDir *r, TmCheckpoint *c, GError **error) {
  g_autofree char *last = g_build_filename(r->path, TM_RUN_CHECKPOINTS, TM_RUN_LAST, NULL);
  g_autofree char *previous = g_build_filename(r->path, TM_RUN_CHECKPOINTS, TM_RUN_PREVIOUS, NULL);
  return tm_checkpoint_write_keep(c, last, previous, error);
}

gboolean tm_run_write_best(TmRunDir *r, TmCheckpoint *c, GError **error) {
  g_autofree char *best = g_build_filename(r->path, TM_RUN_CHECKPOINTS, TM_RUN_BEST, NULL);
  return tm_checkpoint_write(c, best, error);
}

gboolean tm_run_write_probe(TmRunDir *r, const char *name, guint epoch, const guint8 *labels, int w, int h,
                            const guint32 *palette, guint n, GError **error) {
  return tm_probe_file_write(r->path, name, epoch, labels, w, h, palette, n, error);
}
