/* step.c: one step of training: a batch in, the gradient, and an update if the gradient is sound. */
#include <glib/gi18n.h>
#include <math.h>

#include "engine/train/schedule.h"
#include "engine/train/session.h"

static double now(void) {
  return (double)g_get_monotonic_time() * 1e-6;
}

static gboolean read_loss(TmSession *s, double *out, GError **error) {
  *out = 0;
  for (guint i = 0; i < s->train.loss.n; i++) {
    float part = NAN;
    if (!tm_program_read(s->program, s->train.loss.parts[i], &part, TM_F32, error)) return FALSE;
    *out += part;
  }
  return TRUE;
}

/* Part @part of the batch. Each part of each step has dropout of its own. */
static gboolean feed(TmSession *s, const TmBatch *b, guint part, GError **error) {
  const guint parts = (guint)s->settings->accumulate;
  const gsize pixels = (gsize)b->n / parts * (gsize)b->w * (gsize)b->h;
  const gint32 tick = (gint32)((tm_session_total(s) * parts + part) & 0x7fffffffu);
  return tm_program_write(s->program, s->train.picture, b->pixels + part * pixels * 3, TM_U8, error) &&
         tm_program_write(s->program, s->train.labels, b->labels + part * pixels, TM_U8, error) &&
         (!s->train.tick || tm_program_write(s->program, s->train.tick, &tick, TM_I32, error));
}

static gboolean copy(TmSession *s, const float *from, float *to, gsize n, GError **error) {
  return n == 0 || tm_backend_axpby(s->backend, 1, from, 0, to, n, error);
}

/* ---- the loss's scale ---- */

static double scale_of(const TmSession *s) {
  return s->train.scale ? s->at.loss_scale : 1;
}

/* Writing it makes the engine pack its weights again: only when it changed. */
static gboolean write_scale(TmSession *s, GError **error) {
  if (!s->train.scale || s->device_scale == s->at.loss_scale) return TRUE;
  const float scale = (float)s->at.loss_scale;
  if (!tm_params_write(s->params, tm_params_find(s->params, "loss.scale"), &scale, error)) return FALSE;
  s->device_scale = s->at.loss_scale;
  return TRUE;
}

/* Micikevicius et al. 2018, with the constants of torch.amp. */
static void adapt_scale(TmSession *s, const TmStepResult *r) {
  TmPosition *p = &s->at;
  if (!s->train.scale) return;
  if (r->overflow) {
    p->loss_scale /= 2;
    p->good_steps = 0;
  } else if (!r->skipped && ++p->good_steps == TM_LOSS_SCALE_STEPS) {
    p->loss_scale *= 2;
    p->good_steps = 0;
  }
}

/* But for its grad_scale. */
static TmUpdate update_of(const TmSession *s, double lr) {
  const TmSettings *o = s->settings;
  return (TmUpdate){
      .kind = g_str_equal(o->optimizer, "sgd")    ? TM_OPTIMIZER_SGD
              : g_str_equal(o->optimizer, "adam") ? TM_OPTIMIZER_ADAM
                                                  : TM_OPTIMIZER_ADAMW,
      .n = s->params->n_value,
      .w = s->params->value,
      .m = s->m,
      .v = s->v,
      .g = s->sum ? s->sum : s->params->grad,
      .lr = (float)lr,
      .beta1 = (float)tm_schedule_beta1(o, tm_session_place(s), tm_session_places(s)),
      .beta2 = 0.999f,
      .eps = 1e-8f,
      .weight_decay = (float)o->weight_decay,
      .momentum = (float)o->momentum,
      .step = (gint64)s->at.updates + 1,
      .ema = s->ema,
      .ema_decay = s->ema ? (float)tm_schedule_ema(o->ema, s->at.updates) : 0,
  };
}

static void updated(TmSession *s) {
  s->params->version++;
  s->at.updates++;
}

static gboolean update(TmSession *s, const TmStepResult *r, GError **error) {
  const double clip = s->settings->clip;
  TmUpdate u = update_of(s, r->lr);
  /* PyTorch's clip_grad_norm_, its 1e-6 included. */
  u.grad_scale = (float)((clip > 0 ? MIN(1.0, clip / (r->grad_norm + 1e-6)) : 1.0) / scale_of(s));
  if (!tm_backend_update(s->backend, &u, error)) return FALSE;
  updated(s);
  return TRUE;
}

static void count(TmSession *s, const TmStepResult *r) {
  s->at.replaced += r->replaced;
  if (r->skipped) {
    s->at.skipped++;
    s->at.bad_row += !r->overflow;
    return;
  }
  s->at.bad_row = 0;
  s->at.loss_sum += r->loss;
  s->at.loss_n++;
  s->at.smooth = 0.95 * s->at.smooth + 0.05 * r->loss;
  s->at.smooth_weight = 0.95 * s->at.smooth_weight + 0.05;
}

static void loader_times(TmSession *s, TmStepResult *r) {
  double waited, decode, augment;
  tm_loader_times(s->loader, &waited, &decode, &augment);
  r->times.wait = waited - s->last_waited;
  r->times.decode = decode - s->last_decode;
  r->times.augment = augment - s->last_augment;
  s->last_waited = waited;
  s->last_decode = decode;
  s->last_augment = augment;
}

/* Of all parts together: a mean over weighted pixels is the parts' means, weighted by what their pixels
 * weigh. */
static double share_of(const TmSession *s, const TmBatch *b, guint part) {
  const guint parts = (guint)s->settings->accumulate;
  const gsize all = (gsize)b->n * (gsize)b->w * (gsize)b->h, pixels = all / parts;
  if (parts == 1) return 1;
  const double whole = s->train.loss.pixelwise ? tm_session_weight(s, b->labels, all) : 0;
  return whole > 0 ? tm_session_weight(s, b->labels + part * pixels, pixels) / whole : 1.0 / parts;
}

/* One run of the program, with the time it took. */
static gboolean run_part(TmSession *s, const TmBatch *b, guint part, TmStepResult *r, GError **error) {
  const double share = share_of(s, b, part), begin = now();
  double loss;
  if (!feed(s, b, part, error)) return FALSE;
  const double fed = now();
  s->program->marked = 0;
  if (!tm_program_run(s->program, error) || !read_loss(s, &loss, error)) return FALSE;
  r->times.upload += fed - begin;
  r->times.forward += s->program->marked ? (double)s->program->marked * 1e-6 - fed : NAN;
  r->loss += share * loss;
  return !s->sum || tm_backend_axpby(s->backend, (float)share, s->params->grad, part ? 1 : 0, s->sum,
                                     s->params->n_value, error);
}

/* Is the gradient sound, of which @squares is the sum? */
static void judge(TmSession *s, double squares, TmStepResult *r) {
  s->params->version++; /* running statistics have moved */
  r->grad_norm = sqrt(squares) / scale_of(s);
  r->loss_scale = s->train.scale ? s->at.loss_scale : 0;
  r->skipped = !isfinite(r->loss) || !isfinite(squares);
  if (!r->skipped) return;
  g_free(r->why);
  /* Below 1 there is nothing to be had from scaling less: the gradient itself is at fault. */
  r->overflow = s->train.scale && isfinite(r->loss) && s->at.loss_scale >= 1;
  r->why = g_strdup_printf(
      r->overflow         ? _("Step %" G_GUINT64_FORMAT
                              " was skipped: its gradient does not fit into f16. The loss is scaled by half.")
      : isfinite(r->loss) ? _("Step %" G_GUINT64_FORMAT " was skipped: the gradient is not finite.")
                          : _("Step %" G_GUINT64_FORMAT " was skipped: the loss is not finite."),
      tm_session_total(s));
}

/* Forward, backward, the decision and the update, one after the other. */
static gboolean step_by_parts(TmSession *s, const TmBatch *b, TmStepResult *r, GError **error) {
  const double begin = now();
  double squares = NAN;
  if (!write_scale(s, error) || !copy(s, s->params->state, s->kept_state, s->params->n_state, error))
    return FALSE;
  s->state_kept = TRUE;
  r->loss = r->times.upload = r->times.forward = 0;
  for (guint part = 0; part < (guint)s->settings->accumulate; part++)
    if (!run_part(s, b, part, r, error)) return FALSE;
  if (!tm_backend_sum_squares(s->backend, s->sum ? s->sum : s->params->grad, s->params->n_value, &squares,
                              error))
    return FALSE;
  judge(s, squares, r);
  if (r->skipped && !copy(s, s->kept_state, s->params->state, s->params->n_state, error)) return FALSE;
  const double computed = now();
  if (!r->skipped && !update(s, r, error)) return FALSE;
  s->committed = TRUE;
  if (!r->skipped && !tm_backend_synchronize(s->backend, error)) return FALSE;
  r->times.network = computed - begin - r->times.upload;
  r->times.update = now() - computed;
  return TRUE;
}

/* ---- a step as one piece of work of the device ---- */

static const TmView *view_of(const TmSession *s, const TmNode *node) {
  return &tm_program_value(s->program, node)->view;
}

/* The next step's batch sets out while this one is computed. What fails here fails when it is needed. */
static void bring_next(TmSession *s) {
  s->coming = tm_loader_next(s->loader, &s->coming_error);
  if (!s->coming) return;
  const gsize pixels = (gsize)s->coming->n * (gsize)s->coming->w * (gsize)s->coming->h;
  const void *const src[] = {s->coming->pixels, s->coming->labels};
  const gsize bytes[] = {pixels * 3, pixels};
  s->staged = tm_backend_stage(s->backend, 2, src, bytes, &s->coming_error);
  if (g_error_matches(s->coming_error, TM_ERROR, TM_ERROR_NO_MEMORY)) g_clear_error(&s->coming_error); /* it goes another way */
}

static gboolean feed_staged(TmSession *s, GError **error) {
  const gint32 tick = (gint32)(tm_session_total(s) & 0x7fffffffu);
  const TmView dst[] = {*view_of(s, s->train.picture), *view_of(s, s->train.labels)};
  s->staged = FALSE;
  return tm_backend_fill(s->backend, 2, dst, error) &&
         (!s->train.tick || tm_program_write(s->program, s->train.tick, &tick, TM_I32, error));
}

static TmTrainStep train_step(const TmSession *s, double lr) {
  TmTrainStep t = {.update = update_of(s, lr),
                   .clip = s->settings->clip,
                   .loss_scale = scale_of(s),
                   .n_losses = s->train.loss.n,
                   .state = s->params->state,
                   .kept = s->kept_state,
                   .n_state = s->params->n_state};
  for (guint i = 0; i < t.n_losses; i++) t.losses[i] = view_of(s, s->train.loss.parts[i])->data;
  return t;
}

static gboolean step_whole(TmSession *s, const TmBatch *b, TmStepResult *r, GError **error) {
  const double begin = now();
  TmTrained done;
  if (!write_scale(s, error) || !(s->staged ? feed_staged(s, error) : feed(s, b, 0, error))) return FALSE;
  const double fed = now();
  const TmTrainStep t = train_step(s, r->lr);
  if (!tm_backend_train_begin(s->backend, s->program, &t, error)) return FALSE;
  s->committed = TRUE; /* and the loader is about to go on */
  bring_next(s);
  if (!tm_backend_train_end(s->backend, &done, error)) return FALSE;
  r->loss = done.loss;
  judge(s, done.squares, r);
  if (!r->skipped) updated(s);
  r->times.upload = fed - begin;
  r->times.forward = NAN;
  r->times.network = now() - fed;
  return TRUE;
}

/* This step's batch: brought along by the step before, or the loader's next. */
static const TmBatch *take_batch(TmSession *s, GError **error) {
  const TmBatch *b = g_steal_pointer(&s->coming);
  if (s->coming_error) {
    g_propagate_error(error, g_steal_pointer(&s->coming_error));
    return NULL;
  }
  return b ? b : tm_loader_next(s->loader, error);
}

static void tell_replaced(const TmBatch *b, TmStepResult *r) {
  r->replaced = b->replaced;
  if (b->replaced)
    r->why = g_strdup_printf(ngettext("%s Another picture stands in for it.",
                                      "%s It and others (%u in this batch) are replaced by other pictures.",
                                      b->replaced),
                             b->why, b->replaced);
}

/* Weights only change at the end of a step, running statistics within it. */
static gboolean roll_back(TmSession *s, GError **error) {
  if (!s->state_kept) return TRUE;
  s->params->version++;
  return copy(s, s->kept_state, s->params->state, s->params->n_state, error);
}

/* @error: why a step failed. TRUE: it can be done again, in smaller parts. */
static gboolean make_room(TmSession *s, TmStepResult *r, GError **error) {
  if (!g_error_matches(*error, TM_ERROR, TM_ERROR_NO_MEMORY) || s->committed) return FALSE;
  g_autofree char *before = tm_settings_get(s->settings, "accumulate"), *after = NULL;
  g_autoptr(GError) other = NULL;
  if (!roll_back(s, &other) || !tm_session_split(s, error)) {
    if (other) g_clear_error(error), g_propagate_error(error, g_steal_pointer(&other));
    return FALSE;
  }
  after = tm_settings_get(s->settings, "accumulate");
  g_free(r->why);
  r->why = tm_session_split_sentence(s, TRUE);
  g_clear_pointer(&r->made, tm_change_free);
  /* A disk that is full shows at the next checkpoint; the run goes on. */
  tm_session_record(s, "accumulate", before, after, FALSE, &r->made, NULL);
  return TRUE;
}

/* In one piece where the device can do that, and the batch is one. */
static gboolean attempt(TmSession *s, const TmBatch *b, TmStepResult *r, GError **error) {
  const gboolean whole = tm_backend_trains(s->backend) && s->settings->accumulate == 1;
  s->state_kept = s->committed = FALSE;
  return (whole ? step_whole : step_by_parts)(s, b, r, error);
}

gboolean tm_session_step(TmSession *s, TmStepResult *r, GError **error) {
  *r = (TmStepResult){.loss = NAN, .grad_norm = NAN};
  const double begin = now();
  r->lr = tm_schedule_lr(s->settings, tm_session_place(s), tm_session_places(s)) * s->at.lr_factor;
  const TmBatch *b = take_batch(s, error);
  if (!b) return FALSE;
  loader_times(s, r);
  tell_replaced(b, r);
  if (!r->why && s->store) r->why = tm_picture_store_note(s->store);
  GError *e = NULL;
  while (!attempt(s, b, r, &e))
    if (!make_room(s, r, &e)) {
      g_propagate_error(error, e);
      return FALSE;
    }
  count(s, r);
  adapt_scale(s, r);
  s->at.step++;
  s->at.seconds += now() - begin;
  return TRUE;
}
