/* probe.c: one chosen picture, as the net sees it now. */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "engine/train/session.h"

enum { DEFAULT_PROBES = 6 };

void tm_probe_free(TmProbe *p) {
  if (!p) return;
  g_free(p->rgb);
  g_free(p->labels);
  g_free(p->truth);
  tm_visible_unref(p->visible);
  g_free(p);
}

static void score(const TmSession *s, TmProbe *p) {
  g_autoptr(TmConfusion) c = tm_confusion_new(s->classes);
  tm_confusion_add_labels(c, p->truth, p->labels, (gsize)p->w * (gsize)p->h);
  p->miou = tm_confusion_miou(c);
  p->wrong = 1.0 - tm_confusion_accuracy(c);
}

/* The picture is looked at again and again: it is kept until another is asked for. */
static gboolean fetch(TmSession *s, guint entry, GError **error) {
  if (s->probed.rgb && s->probed_entry == entry) return TRUE;
  if (entry >= tm_dataset_n(s->all)) {
    g_set_error(error, TM_ERROR, TM_ERROR_DATA, _("There is no picture %u to show the network's view of."),
                entry);
    return FALSE;
  }
  tm_sample_clear(&s->probed);
  s->probed_entry = entry;
  return tm_dataset_read(s->all, entry, &s->probed, error);
}

/* Keeps the picture on the device too, where it can be drawn without coming over. Nothing depends on it: a failure only leaves it out. */
static void keep_visible(TmSession *s, TmProbe *p) {
  const TmVisibleApi *api = tm_backend_visible(s->backend);
  if (!api || tm_session_tiled(s, p->w, p->h)) return;
  TmEval *e = tm_session_eval(s, 1, p->w, p->h, NULL); /* the one that has just predicted */
  if (!e) return;
  if (s->visible && (s->visible_w != p->w || s->visible_h != p->h)) g_clear_pointer(&s->visible, tm_visible_unref);
  if (!s->visible) s->visible = api->make(s->backend, p->w, p->h, NULL);
  s->visible_w = p->w;
  s->visible_h = p->h;
  const TmValue *rgb = tm_program_value(e->program, e->picture), *labels = tm_program_value(e->program, e->labels);
  if (!s->visible || !rgb || !labels) return;
  p->picture = api->put(s->visible, s->backend, &rgb->view, &labels->view, p->truth, NULL);
  if (p->picture) p->visible = tm_visible_ref(s->visible);
}

TmProbe *tm_session_probe(TmSession *s, guint entry, GError **error) {
  if (!fetch(s, entry, error)) return NULL;
  const TmSample *sample = &s->probed;
  const gsize n = (gsize)sample->w * (gsize)sample->h;
  g_autoptr(TmProbe) p = g_new0(TmProbe, 1);
  *p = (TmProbe){.entry = entry,
                 .epoch = s->at.epoch,
                 .step = s->at.step,
                 .w = sample->w,
                 .h = sample->h,
                 .miou = NAN,
                 .wrong = NAN};
  p->rgb = g_try_malloc(n * 3);
  p->labels = g_try_malloc(n);
  p->truth = sample->labels ? g_try_malloc(n) : NULL;
  if (!p->rgb || !p->labels || (sample->labels && !p->truth)) {
    g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY, _("There is no memory for a mask of %d×%d."), sample->w,
                sample->h);
    return NULL;
  }
  if (!tm_session_predict(s, sample, p->labels, error)) return NULL;
  memcpy(p->rgb, sample->rgb, n * 3);
  if (p->truth) {
    memcpy(p->truth, sample->labels, n);
    score(s, p);
  }
  keep_visible(s, p);
  return g_steal_pointer(&p);
}

guint tm_probes_default(TmDataset *d, guint out[TM_MAX_PROBES]) {
  const TmSplit split = tm_dataset_n_split(d, TM_SPLIT_VAL) ? TM_SPLIT_VAL : TM_SPLIT_TRAIN;
  const guint all = tm_dataset_n_split(d, split), n = MIN(all, DEFAULT_PROBES);
  guint seen = 0, taken = 0;
  for (guint i = 0; i < tm_dataset_n(d) && taken < n; i++) {
    if (tm_dataset_entry(d, i)->split != split) continue;
    if (seen++ == (guint)((guint64)taken * all / n)) out[taken++] = i;
  }
  return taken;
}

static gboolean keep(TmSession *s, const TmProbe *p, GError **error) {
  const TmClassTable *table = tm_dataset_classes(s->all);
  g_autofree guint32 *palette = g_new0(guint32, MAX(table->n, 1));
  for (guint i = 0; i < table->n; i++) {
    const guint8 *c = table->classes[i].colour;
    palette[i] = 0xff000000u | (guint32)c[0] << 16 | (guint32)c[1] << 8 | c[2];
  }
  return tm_run_write_probe(s->run, tm_dataset_entry(s->all, p->entry)->name, p->epoch, p->labels, p->w, p->h, palette,
                            table->n, error);
}

/* Not the picture's own fault. */
static gboolean serious(const GError *e) {
  return g_error_matches(e, TM_ERROR, TM_ERROR_DEVICE) || g_error_matches(e, TM_ERROR, TM_ERROR_NO_SPACE) ||
         g_error_matches(e, TM_ERROR, TM_ERROR_CANCELLED);
}

gboolean tm_session_keep_probes(TmSession *s, char **note, GError **error) {
  for (guint i = 0; i < s->n_kept; i++) {
    g_autoptr(GError) e = NULL;
    g_autoptr(TmProbe) p = tm_session_probe(s, s->kept[i], &e);
    if (p && keep(s, p, &e)) continue;
    if (serious(e)) {
      g_propagate_error(error, g_steal_pointer(&e));
      return FALSE;
    }
    if (!*note) *note = g_strdup(e->message);
    s->kept[i--] = s->kept[--s->n_kept];
  }
  return TRUE;
}
