/* The registry of backends and the functions that stand before every slot: they check what a slot may take
 * for granted. */
#include "engine/backend/backend.h"

#include "engine/backend/builtin.h"
#include "engine/backend/modules.h"

#include <glib/gi18n.h>
#include <string.h>

/* Best first. */
static const char *const names[] = {"cuda", "cpu", "ref", NULL};

const char *const *tm_backend_names(void) {
  return names;
}

static const TmBackendApi *find(const char *name, GError **error) {
  if (strcmp(name, "ref") == 0) return &tm_backend_ref;
  if (strcmp(name, "cuda") == 0) return tm_backend_module_find(name, error);
  if (strcmp(name, "cpu") == 0) return &tm_backend_cpu;
  g_autofree char *known = g_strjoinv(", ", (char **)names);
  g_set_error(error, TM_ERROR, TM_ERROR_SETTING,
              _("There is no engine called “%s”. Known are: %s, and auto for the best."), name, known);
  return NULL;
}

gboolean tm_backend_available(const char *name, GError **error) {
  const TmBackendApi *api = find(name ? name : "", error);
  return api && api->available(error);
}

static TmBackend *open_one(const char *name, const TmBackendOptions *options, GError **error) {
  const TmBackendApi *api = find(name, error);
  if (!api || !api->available(error)) return NULL;
  TmBackend *b = api->open(options, error);
  if (!b) return NULL;
  b->api = api;
  b->owner = g_thread_self();
  return b;
}

TmBackend *tm_backend_open(const char *name, const TmBackendOptions *options, GError **error) {
  const TmBackendOptions plain = {0};
  if (!options) options = &plain;
  if (name && strcmp(name, "auto") != 0) return open_one(name, options, error);
  for (const char *const *n = names; *n; n++) {
    /* Why a better one cannot be used is told by tm_backend_available(); only the last one's reason counts
     * here. */
    g_autoptr(GError) why = NULL;
    TmBackend *b = open_one(*n, options, &why);
    if (b) return b;
    if (!n[1]) g_propagate_error(error, g_steal_pointer(&why));
  }
  return NULL;
}

/* A backend belongs to one thread: another one would race with its work. */
static gboolean mine(const TmBackend *b, GError **error) {
  if (b && b->owner == g_thread_self()) return TRUE;
  g_set_error_literal(error, TM_ERROR, TM_ERROR_FAILED,
                      b ? _("The engine was used by a thread that does not own it.")
                        : _("No engine is open."));
  return FALSE;
}

static gboolean bad_call(const TmBackend *b, const char *what, GError **error) {
  g_set_error(error, TM_ERROR, TM_ERROR_FAILED, _("The %s engine was asked to %s without what that needs."),
              b->api->name, what);
  return FALSE;
}

void tm_backend_close(TmBackend *b) {
  if (!b) return;
  g_return_if_fail(b->owner == g_thread_self());
  b->api->close(b);
}

void tm_backend_info(TmBackend *b, TmBackendInfo *out) {
  *out = (TmBackendInfo){0};
  g_return_if_fail(b && b->owner == g_thread_self());
  b->api->info(b, out);
}

void tm_backend_info_clear(TmBackendInfo *info) {
  g_clear_pointer(&info->name, g_free);
  g_clear_pointer(&info->uuid, g_free);
  g_clear_pointer(&info->detail, g_free);
}

gboolean tm_backend_supports(TmBackend *b, int op, const TmNode *node, TmDType precision) {
  g_return_val_if_fail(b && node, FALSE);
  return b->api->supports(b, op, node, precision);
}

gboolean tm_backend_takes_slice(TmBackend *b, int op, const TmNode *node, int operand, TmDType precision) {
  g_return_val_if_fail(b && node, FALSE);
  return b->api->takes_slice && b->api->takes_slice(b, op, node, operand, precision);
}

void *tm_backend_alloc(TmBackend *b, gsize bytes, GError **error) {
  return mine(b, error) ? b->api->alloc(b, bytes, error) : NULL;
}

void tm_backend_release(TmBackend *b, void *p, gsize bytes) {
  if (!p) return;
  g_return_if_fail(b && b->owner == g_thread_self());
  b->api->release(b, p, bytes);
}

static gboolean usable(const TmView *v) {
  return v && v->data && v->dtype < TM_N_DTYPES && v->shape.n > 0 && v->shape.c > 0 && v->shape.h > 0 &&
         v->shape.w > 0 && v->ld >= v->shape.c;
}

gboolean tm_backend_write(TmBackend *b, const TmView *dst, const void *src, TmDType from, GError **error) {
  if (!mine(b, error)) return FALSE;
  if (!usable(dst) || !src || from >= TM_N_DTYPES) return bad_call(b, "write", error);
  return b->api->write(b, dst, src, from, error);
}

gboolean tm_backend_read(TmBackend *b, const TmView *src, void *dst, TmDType to, GError **error) {
  if (!mine(b, error)) return FALSE;
  if (!usable(src) || !dst || to >= TM_N_DTYPES) return bad_call(b, "read", error);
  return b->api->read(b, src, dst, to, error);
}

gboolean tm_backend_needs(TmBackend *b, const TmProgram *plan, gsize *bytes, GError **error) {
  if (!mine(b, error)) return FALSE;
  if (!plan || !bytes) return bad_call(b, "needs", error);
  *bytes = 0;
  return !b->api->needs || b->api->needs(b, plan, bytes, error);
}

gboolean tm_backend_sum_squares(TmBackend *b, const float *x, gsize n, double *out, GError **error) {
  if (!mine(b, error)) return FALSE;
  if (!out || (n && !x)) return bad_call(b, "sum_squares", error);
  *out = 0;
  return n == 0 || b->api->sum_squares(b, x, n, out, error);
}

gboolean tm_backend_update(TmBackend *b, const TmUpdate *u, GError **error) {
  if (!mine(b, error)) return FALSE;
  if (!u || u->step < 1) return bad_call(b, "update", error);
  if (u->n == 0) return TRUE;
  if (!u->w || !u->g || !u->m || (u->kind != TM_OPTIMIZER_SGD && !u->v)) return bad_call(b, "update", error);
  return b->api->update(b, u, error);
}

gboolean tm_backend_axpby(TmBackend *b, float a, const float *x, float c, float *y, gsize n, GError **error) {
  if (!mine(b, error)) return FALSE;
  if (n && (!x || !y)) return bad_call(b, "axpby", error);
  return n == 0 || b->api->axpby(b, a, x, c, y, n, error);
}

gboolean tm_backend_synchronize(TmBackend *b, GError **error) {
  if (!mine(b, error)) return FALSE;
  return !b->api->synchronize || b->api->synchronize(b, error);
}

gboolean tm_backend_peak(TmBackend *b, TmDType type, double *flops, double *bytes, GError **error) {
  if (!mine(b, error)) return FALSE;
  if (b->api->peak) return b->api->peak(b, type, flops, bytes, error);
  g_set_error(error, TM_ERROR, TM_ERROR_UNSUPPORTED, _("The %s engine has no measure of what it could do at best."),
              b->api->name);
  return FALSE;
}

gboolean tm_backend_trains(TmBackend *b) {
  return b && b->api->train_begin && b->api->train_end && b->api->stage && b->api->fill;
}

static gboolean trains(TmBackend *b, GError **error) {
  if (!mine(b, error)) return FALSE;
  if (tm_backend_trains(b)) return TRUE;
  g_set_error(error, TM_ERROR, TM_ERROR_UNSUPPORTED, _("The %s engine takes no whole training steps."), b->api->name);
  return FALSE;
}

gboolean tm_backend_train_begin(TmBackend *b, TmProgram *program, const TmTrainStep *step, GError **error) {
  if (!trains(b, error)) return FALSE;
  if (!program || !step || step->n_losses > TM_TRAIN_LOSSES || step->update.n == 0 || !(step->loss_scale > 0))
    return bad_call(b, "train_begin", error);
  return b->api->train_begin(b, program, step, error);
}

gboolean tm_backend_train_end(TmBackend *b, TmTrained *out, GError **error) {
  return trains(b, error) && b->api->train_end(b, out, error);
}

gboolean tm_backend_stage(TmBackend *b, guint n, const void *const *src, const gsize *bytes, GError **error) {
  return trains(b, error) && b->api->stage(b, n, src, bytes, error);
}

gboolean tm_backend_fill(TmBackend *b, guint n, const TmView *dst, GError **error) {
  if (!trains(b, error)) return FALSE;
  for (guint i = 0; i < n; i++)
    if (!tm_view_dense(&dst[i])) return bad_call(b, "fill", error);
  return b->api->fill(b, n, dst, error);
}

const TmVisibleApi *tm_backend_visible(TmBackend *b) {
  return b ? b->api->visible : NULL;
}
