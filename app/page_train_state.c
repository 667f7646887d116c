/* What the Train page shows of the dataset and of the run. */
#include <glib/gi18n.h>
#include <math.h>

#include "app/page_train_private.h"
#include "app/run_words.h"
#include "engine/train/step_times.h"
#include "ui/viz.h"
#include "ui/words.h"

static void enable(TmPageTrain *p, const char *name, gboolean on) {
  GAction *a = g_action_map_lookup_action(G_ACTION_MAP(p->actions), name);
  g_simple_action_set_enabled(G_SIMPLE_ACTION(a), on);
}

static void refresh_actions(TmPageTrain *p, const TmSnapshot *s) {
  gboolean alive = p->run && tm_live_run_alive(p->run);
  gboolean data = tm_project_dataset(p->project) != NULL, made = p->run && tm_live_run_folder(p->run);
  enable(p, "go", data || alive);
  enable(p, "step",
         (data && !alive) || (alive && s->state != TM_STATE_PREPARING && s->state != TM_STATE_VALIDATING));
  enable(p, "stop", alive);
  enable(p, "stop-save", alive);
  enable(p, "stop-now", alive);
  enable(p, "range-test", !p->range && (alive ? s->state == TM_STATE_TRAINING || s->state == TM_STATE_PAUSED : data));
  enable(p, "park", alive && !s->parked && (s->state == TM_STATE_TRAINING || s->state == TM_STATE_PAUSED));
  enable(p, "save", alive && made && s->total_step > 0);
  enable(p, "new", p->run && !alive);
  enable(p, "resume-run", p->run && !alive && made);
  enable(p, "resume-halved", p->run && !alive && made);
  enable(p, "resume-cpu", p->run && !alive && made);
  enable(p, "show-files", made);
}

static void refresh_header(TmPageTrain *p, const TmSnapshot *s) {
  const char *icon;
  const char *label = tm_run_go_label(s, &icon);
  gtk_label_set_label(GTK_LABEL(p->go_label), label);
  gtk_image_set_from_icon_name(GTK_IMAGE(p->go_icon), icon);
  g_autofree char *tip = g_strdup_printf("%s (F5)", label);
  gtk_widget_set_tooltip_text(p->go, tip);
  gtk_accessible_update_property(GTK_ACCESSIBLE(p->go), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
  gboolean suggest = !s || !(p->run && tm_live_run_alive(p->run)) || s->state == TM_STATE_PAUSED;
  if (suggest)
    gtk_widget_add_css_class(p->go, "suggested-action");
  else
    gtk_widget_remove_css_class(p->go, "suggested-action");
  const char *name = p->run ? tm_live_run_name(p->run) : NULL;
  adw_window_title_set_title(ADW_WINDOW_TITLE(p->title), name ? name : p->run ? _("New run") : _("Train"));
  TmDataset *d = tm_project_dataset(p->project);
  g_autofree char *subtitle =
      s   ? tm_run_subtitle(s)
      : d ? g_strdup_printf(_("%s · ready to start"), tm_dataset_title(d))
          : g_strdup(tm_project_error(p->project) ? _("No dataset") : _("Opening the dataset"));
  adw_window_title_set_subtitle(ADW_WINDOW_TITLE(p->title), subtitle);
  gtk_progress_bar_set_fraction(GTK_PROGRESS_BAR(p->progress), s ? tm_run_share_done(s) : 0);
}

static void refresh_messages(TmPageTrain *p, const TmSnapshot *s) {
  TmRunMessage m = {0};
  if (s) tm_run_message(s, &m);
  tm_notice_show(p->message, m.kind, m.icon, m.strong, m.rest);
  tm_notice_set_buttons(p->message, m.label, m.action, m.other_label, m.other_action);
  gboolean any = m.strong != NULL;
  tm_run_message_clear(&m);
  const char *told = s && s->notice && s->state != TM_STATE_FAILED ? s->notice : NULL;
  /* The cause in bold, what follows it not. */
  const char *cut = told ? strstr(told, ": ") : NULL, *end = told ? strstr(told, ". ") : NULL;
  if (end && (!cut || end < cut)) cut = end;
  g_autofree char *cause = cut ? g_strndup(told, (gsize)(cut - told) + 1) : g_strdup(told);
  tm_notice_show(p->notice, TM_NOTICE_WARNING, NULL, cause, cut ? cut + 2 : NULL);
  const gboolean split = told && s->parts && s->parts != p->kept_parts;
  tm_notice_set_buttons(p->notice, split ? _("Keep This Split") : NULL, split ? "train.keep-split" : NULL, NULL, NULL);
  const char *error = tm_project_error(p->project);
  tm_notice_show(p->project_notice, TM_NOTICE_ERROR, NULL, error, NULL);
  tm_notice_set_buttons(p->project_notice, _("Open Folder…"), "win.open", _("Demo Roads"), "win.demo");
  gtk_widget_set_visible(p->notices, any || told || error);
}

static void refresh_step(TmPageTrain *p, const TmSnapshot *s) {
  const TmStepTimes none = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN}, t = s ? s->times : none;
  tm_timeline_set(p->timeline, &t);
  g_autofree char *strong = NULL, *rest = NULL;
  gboolean warn = tm_step_times_sentence(&t, &strong, &rest);
  tm_notice_show(p->advice, warn ? TM_NOTICE_WARNING : TM_NOTICE_INFO, NULL, s ? strong : NULL, rest);
  g_autofree char *span = tm_words_span(t.step),
                  *rate = s && s->images_per_s > 0 ? tm_words_value(s->images_per_s) : NULL;
  g_autofree char *speed = rate ? g_strdup_printf(_("%s · %s pictures/s · batch of %d"), span, rate,
                                                  s->settings.batch)
                                : g_strdup(s ? "" : _("begins with the first step"));
  gtk_label_set_label(GTK_LABEL(p->speed), speed);
  gtk_accessible_update_property(GTK_ACCESSIBLE(p->timeline), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, speed, -1);
}

static void refresh_settings(TmPageTrain *p, const TmSnapshot *s) {
  gboolean alive = p->run && tm_live_run_alive(p->run);
  tm_settings_form_set_locked(p->form, alive);
  gtk_widget_set_visible(p->before, !alive);
  gtk_label_set_label(GTK_LABEL(p->panel_title), alive ? _("Fixed for this run") : _("Settings"));
  g_autofree char *viz = tm_viz_describe(),
                  *memory = s && s->memory ? tm_words_bytes((double)s->memory) : NULL;
  GString *text = g_string_new(NULL);
  if (s && s->device)
    g_string_append_printf(text, _("Trained on %s, %s."), s->device, tm_dtype_name(s->precision));
  if (memory) g_string_append_printf(text, _(" Network and optimizer hold %s."), memory);
  if (s && s->run_dir) g_string_append_printf(text, _("\nRun folder: %s"), s->run_dir);
  g_string_append_printf(text, _("%sPictures: %s"), text->len ? "\n" : "", viz);
  if (strcmp(gtk_label_get_label(GTK_LABEL(p->about_run)), text->str) != 0)
    gtk_label_set_label(GTK_LABEL(p->about_run), text->str);
  g_string_free(text, TRUE);
}

static void refresh_curves(TmPageTrain *p, const TmSnapshot *s) {
  g_autoptr(GArray) steps = tm_live_run_take_steps(p->run), epochs = tm_live_run_take_epochs(p->run);
  tm_curves_add_steps(p->curves, (TmStepRow *)(void *)steps->data, steps->len);
  tm_curves_add_epochs(p->curves, (TmEpochRow *)(void *)epochs->data, epochs->len);
  gboolean busy = s->state == TM_STATE_PREPARING;
  tm_curves_set_activity(p->curves, busy ? (s->activity ? s->activity : _("Preparing")) : NULL);
}

static void show_badge(TmPageTrain *p, const TmSnapshot *s) {
  g_autofree char *badge = s ? tm_run_badge(s) : NULL, *sub = s ? tm_run_subtitle(s) : NULL;
  g_autofree char *name = sub ? g_strdup_printf(_("Train, %s"), sub) : g_strdup(_("Train"));
  tm_page_badge(TM_PAGE(p), badge, name, FALSE);
}

void tm_page_train_refresh(TmPageTrain *p) {
  const TmSnapshot *s = p->run ? tm_live_run_snapshot(p->run) : NULL;
  refresh_actions(p, s);
  refresh_header(p, s);
  refresh_messages(p, s);
  refresh_step(p, s);
  refresh_settings(p, s);
  tm_page_train_refresh_live(p, s);
  tm_page_train_refresh_probe(p, s);
  if (p->run) {
    refresh_curves(p, s);
  } else {
    tm_curves_set_activity(p->curves, NULL);
  }
  show_badge(p, s);
  tm_page_train_emit_changed(p);
}
