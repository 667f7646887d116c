/* The probe pictures of the Train page: as the network sees them now, and as it saw them at every epoch that the run folder has. */
#include <glib/gi18n.h>
#include <math.h>

#include "app/page_train_private.h"
#include "ui/read_scene.h"
#include "engine/run/probe_files.h"

static guint chosen_entry(const TmPageTrain *p) {
  return p->probe_place < p->probes->len ? g_array_index(p->probes, guint, p->probe_place) : G_MAXUINT;
}

static const char *chosen_name(const TmPageTrain *p) {
  return tm_dataset_entry(p->probe_dataset, chosen_entry(p))->name;
}

/* The folder of the run that the pictures are of; NULL: there is none yet. */
static const char *folder_of(const TmPageTrain *p) {
  return p->run && tm_live_run_dataset(p->run) == p->probe_dataset ? tm_live_run_folder(p->run) : NULL;
}

/* ---- one scene ---- */

static void judge(const TmScene *s, double *miou, double *wrong) {
  *miou = *wrong = NAN;
  if (!s->truth || !s->labels) return;
  g_autoptr(TmConfusion) c = tm_confusion_new(s->classes->n);
  tm_confusion_add_labels(c, s->truth, s->labels, (gsize)s->w * (gsize)s->h);
  *miou = tm_confusion_miou(c);
  *wrong = 1 - tm_confusion_accuracy(c);
}

/* The shown picture with the mask of @epoch; NULL where there is none of it. */
static TmScene *scene_of(TmPageTrain *p, guint epoch) {
  const TmScene *b = p->base;
  const char *folder = folder_of(p);
  if (!b || !folder) return NULL;
  guint8 *labels = tm_probe_file_read(folder, chosen_name(p), epoch, b->w, b->h, NULL);
  if (!labels) return NULL;
  const gsize n = (gsize)b->w * (gsize)b->h;
  return tm_scene_new(b->w, b->h, g_memdup2(b->rgb, n * 3), labels, b->truth ? g_memdup2(b->truth, n) : NULL, b->classes);
}

static void show_scene(TmPageTrain *p) {
  const guint epoch = tm_scrubber_get_epoch(tm_probe_card_scrubber(p->probe));
  if (!p->base || chosen_entry(p) == G_MAXUINT) return;
  g_autoptr(TmScene) kept = epoch == TM_SCRUBBER_NOW ? NULL : scene_of(p, epoch);
  TmScene *shown = kept ? kept : p->now ? p->now : p->base;
  double miou, wrong;
  judge(shown, &miou, &wrong);
  tm_probe_card_set_scene(p->probe, shown, chosen_name(p), miou, wrong);
}

static void show_swipe(TmPageTrain *p) {
  const guint epoch = tm_scrubber_get_swipe(tm_probe_card_scrubber(p->probe), NULL);
  if (epoch != p->swipe_epoch) {
    p->swipe_epoch = epoch;
    g_clear_pointer(&p->swipe, tm_scene_unref);
    if (epoch != TM_SCRUBBER_NOW) p->swipe = scene_of(p, epoch);
  }
  tm_probe_card_set_swipe(p->probe, p->swipe);
}

static void show_keys(TmPageTrain *p) {
  TmScrubber *s = tm_probe_card_scrubber(p->probe);
  guint epoch;
  for (guint i = 0; tm_scrubber_get_key(s, i, &epoch); i++) {
    g_autoptr(TmScene) scene = scene_of(p, epoch);
    tm_scrubber_set_key_scene(s, i, scene);
  }
}

/* ---- the epochs there are ---- */

/* Those of a run's future, from before it was taken up again at an earlier one, are none of it. */
static void show_epochs(TmPageTrain *p, const TmSnapshot *s) {
  const char *folder = folder_of(p);
  g_autoptr(GArray) epochs = folder && chosen_entry(p) != G_MAXUINT ? tm_probe_file_epochs(folder, chosen_name(p))
                                                                    : g_array_new(FALSE, FALSE, sizeof(guint));
  const guint known = s ? s->epoch + (tm_live_run_alive(p->run) ? 0 : 1) : 0;
  while (epochs->len && g_array_index(epochs, guint, epochs->len - 1) >= known) g_array_set_size(epochs, epochs->len - 1);
  tm_scrubber_set_epochs(tm_probe_card_scrubber(p->probe), (const guint *)(const void *)epochs->data, epochs->len);
}

static void show_all(TmPageTrain *p, const TmSnapshot *s) {
  p->swipe_epoch = TM_SCRUBBER_NOW - 1; /* read again */
  show_epochs(p, s);
  show_scene(p);
  show_swipe(p);
  show_keys(p);
}

/* ---- the network's view now ---- */

static void take_probe(TmPageTrain *p) {
  const TmProbe *b = tm_live_run_probe(p->run);
  guint serial = tm_live_run_probe_serial(p->run);
  if (!b || serial == p->shown_probe || !folder_of(p)) return;
  if (b->entry != chosen_entry(p)) return; /* the one asked for comes next */
  p->shown_probe = serial;
  const gsize n = (gsize)b->w * (gsize)b->h;
  g_clear_pointer(&p->now, tm_scene_unref);
  p->now = tm_scene_new(b->w, b->h, g_memdup2(b->rgb, n * 3), b->labels ? g_memdup2(b->labels, n) : NULL,
                        b->truth ? g_memdup2(b->truth, n) : NULL, tm_dataset_classes(p->probe_dataset));
  tm_scene_set_visible(p->now, b->visible, b->picture);
  g_clear_pointer(&p->base, tm_scene_unref);
  p->base = tm_scene_ref(p->now);
  if (tm_scrubber_get_epoch(tm_probe_card_scrubber(p->probe)) == TM_SCRUBBER_NOW) show_scene(p);
}

void tm_page_train_refresh_probe(TmPageTrain *p, const TmSnapshot *s) {
  if (!p->run || !s) {
    if (p->shown_epochs != G_MAXUINT) show_all(p, NULL);
    p->shown_epochs = G_MAXUINT;
    return;
  }
  take_probe(p);
  const guint epochs = s->epoch + (tm_live_run_alive(p->run) ? 0 : 1);
  if (epochs == p->shown_epochs || !folder_of(p) || !p->base) return;
  p->shown_epochs = epochs;
  show_all(p, s);
}

/* ---- the picture itself ---- */

static void picture_read(GObject *source, GAsyncResult *result, gpointer user) {
  (void)user;
  TmPageTrain *p = TM_PAGE_TRAIN(source);
  g_autoptr(GError) error = NULL;
  guint entry;
  g_autoptr(TmScene) scene = tm_read_scene_finish(result, NULL, &entry, &error);
  if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED) || !p->probes) return;
  if (p->run && p->shown_probe && tm_live_run_probe(p->run)->entry == entry) return; /* the run was faster */
  if (!scene) {
    tm_probe_card_set_scene(p->probe, NULL, error->message, NAN, NAN);
    return;
  }
  g_clear_pointer(&p->base, tm_scene_unref);
  p->base = g_steal_pointer(&scene);
  show_all(p, p->run ? tm_live_run_snapshot(p->run) : NULL);
}

void tm_page_train_choose_probe(TmPageTrain *p, guint place) {
  if (place >= p->probes->len) return;
  p->probe_place = place;
  guint entry = chosen_entry(p);
  p->shown_probe = 0;
  p->shown_epochs = G_MAXUINT - 1;
  g_clear_pointer(&p->now, tm_scene_unref);
  g_clear_pointer(&p->base, tm_scene_unref);
  if (folder_of(p)) tm_live_run_set_probe(p->run, entry);
  gboolean alive = p->run && tm_live_run_alive(p->run);
  tm_probe_card_set_placeholder(p->probe, alive    ? _("The network is being asked")
                                          : p->run ? _("The run has ended")
                                                   : _("Appears when training starts"));
  tm_read_scene(G_OBJECT(p), p->probe_dataset, entry, &p->reading, picture_read);
}

/* ---- which pictures ---- */

static gboolean offered(TmDataset *d, guint i) {
  return tm_dataset_entry(d, i)->split == (tm_dataset_n_split(d, TM_SPLIT_VAL) ? TM_SPLIT_VAL : TM_SPLIT_TRAIN);
}

/* Fills the chooser: the pictures of a split by name, and which of them are probes. */
static void offer(TmPageTrain *p, TmDataset *d) {
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  g_autoptr(GArray) chosen = g_array_new(FALSE, FALSE, sizeof(guint));
  for (guint i = 0; d && i < tm_dataset_n(d); i++) {
    if (!offered(d, i)) continue;
    const guint at = names->len;
    for (guint k = 0; k < p->probes->len; k++)
      if (g_array_index(p->probes, guint, k) == i) g_array_append_val(chosen, at);
    g_ptr_array_add(names, (gpointer)tm_dataset_entry(d, i)->name);
  }
  g_ptr_array_add(names, NULL);
  tm_probe_card_set_choices(p->probe, (const char *const *)names->pdata, (const guint *)(const void *)chosen->data, chosen->len);
}

void tm_page_train_probes_changed(TmPageTrain *p) {
  if (!p->probe_dataset) return;
  g_autoptr(GArray) chosen = tm_probe_card_get_choices(p->probe);
  const guint before = chosen_entry(p);
  guint at = 0, k = 0, place = 0;
  g_array_set_size(p->probes, 0);
  for (guint i = 0; i < tm_dataset_n(p->probe_dataset) && k < chosen->len; i++) {
    if (!offered(p->probe_dataset, i) || at++ != g_array_index(chosen, guint, k)) continue;
    if (i == before) place = p->probes->len;
    g_array_append_val(p->probes, i);
    k++;
  }
  tm_probe_card_set_choice(p->probe, place, p->probes->len);
  tm_page_train_send_probes(p);
  if (place < p->probes->len && g_array_index(p->probes, guint, place) == before)
    p->probe_place = place;
  else
    tm_page_train_choose_probe(p, 0);
}

void tm_page_train_send_probes(TmPageTrain *p) {
  if (folder_of(p) || (p->run && tm_live_run_dataset(p->run) == p->probe_dataset))
    tm_live_run_set_probes(p->run, (const guint *)(const void *)p->probes->data, p->probes->len);
}

void tm_page_train_show_dataset(TmPageTrain *p, TmDataset *d) {
  if (d == p->probe_dataset) return;
  g_clear_pointer(&p->probe_dataset, tm_dataset_unref);
  if (d) p->probe_dataset = tm_dataset_ref(d);
  guint entries[TM_MAX_PROBES];
  const guint n = d ? tm_probes_default(d, entries) : 0;
  g_array_set_size(p->probes, 0);
  g_array_append_vals(p->probes, entries, n);
  p->probe_place = 0;
  tm_probe_card_set_choice(p->probe, 0, n);
  tm_probe_card_set_classes(p->probe, d ? tm_dataset_classes(d) : NULL);
  offer(p, d);
  tm_page_train_choose_probe(p, 0);
  if (!d || p->preset_chosen) return;
  TmSettings s;
  tm_settings_defaults(&s);
  if (tm_settings_preset(&s, strcmp(tm_dataset_path(d), "demo") == 0 ? "quick" : "camvid", NULL))
    tm_settings_form_set(p->form, &s);
}

void tm_page_train_connect_probe(TmPageTrain *p) {
  TmScrubber *s = tm_probe_card_scrubber(p->probe);
  p->shown_epochs = G_MAXUINT;
  p->swipe_epoch = TM_SCRUBBER_NOW;
  g_signal_connect_swapped(s, "epoch-chosen", G_CALLBACK(show_scene), p);
  g_signal_connect_swapped(s, "swipe-changed", G_CALLBACK(show_swipe), p);
  g_signal_connect_swapped(s, "keys-changed", G_CALLBACK(show_keys), p);
  g_signal_connect_swapped(p->probe, "probes-changed", G_CALLBACK(tm_page_train_probes_changed), p);
}
