/* page_predict_state.c: where the job stands, on the Predict page. */
#include <glib/gi18n.h>
#include <math.h>

#include "app/page_predict_private.h"
#include "ui/adaptive.h"
#include "ui/words.h"

/* ---- pictures ---- */

static guint class_to_show(const TmClassTable *t) {
  for (guint i = 0; i < t->n; i++)
    if (g_ascii_strcasecmp(t->classes[i].name, "road") == 0) return i;
  return 0;
}

void tm_page_predict_clear(TmPagePredict *p) {
  tm_film_strip_clear(p->strip);
  tm_swipe_view_set_picture(p->view, NULL);
  g_clear_pointer(&p->shown, tm_folder_picture_unref);
  g_clear_pointer(&p->lowest_name, g_free);
  p->share_sum = 0;
  p->lowest = INFINITY;
  p->n_shares = p->n_speeds = 0;
}

static void note_share(TmPagePredict *p, const TmFolderPicture *one) {
  const double share = one->shares[p->shown_class];
  p->share_trace[p->n_shares++ % TM_PREDICT_TRACE] = (float)share * 100;
  p->share_sum += share;
  if (share >= p->lowest) return;
  p->lowest = share;
  g_free(p->lowest_name);
  p->lowest_name = g_strdup(one->name);
}

static void take_pictures(TmPagePredict *p) {
  g_autoptr(GPtrArray) taken = tm_folder_job_take(tm_folder_run_job(p->run));
  for (guint i = 0; i < taken->len; i++) {
    TmFolderPicture *one = taken->pdata[i];
    if (!p->n_shares) {
      p->shown_class = class_to_show(one->classes);
      tm_film_strip_set_class(p->strip, p->shown_class);
    }
    note_share(p, one);
    tm_film_strip_add(p->strip, one);
  }
  TmFolderPicture *newer = tm_folder_job_picture(tm_folder_run_job(p->run), p->shown);
  if (!newer) return;
  g_clear_pointer(&p->shown, tm_folder_picture_unref);
  p->shown = newer;
  tm_swipe_view_set_picture(p->view, newer);
}

/* ---- traces ---- */

/* The last values of a ring, the newest at the right end of the graph. */
static void show_trace(TmSpark *s, const float *ring, guint n) {
  float ages[TM_PREDICT_TRACE], values[TM_PREDICT_TRACE];
  const guint kept = MIN(n, TM_PREDICT_TRACE);
  for (guint i = 0; i < kept; i++) {
    ages[i] = (float)(kept - 1 - i) * TM_SPARK_SECONDS / TM_PREDICT_TRACE;
    values[i] = ring[(n - kept + i) % TM_PREDICT_TRACE];
  }
  tm_spark_set_points(s, ages, values, kept);
}

static void show_speed(TmPagePredict *p, const TmFolderSnapshot *s) {
  const gint64 now = g_get_monotonic_time();
  if (!isnan(s->per_second) && s->state == TM_FOLDER_RUNNING && now - p->speed_noted > G_USEC_PER_SEC / 2) {
    p->speed_trace[p->n_speeds++ % TM_PREDICT_TRACE] = (float)s->per_second;
    p->speed_noted = now;
  }
  show_trace(p->speed_spark, p->speed_trace, p->n_speeds);
  g_autofree char *speed = isnan(s->per_second) ? g_strdup("–")
                                                : g_strdup_printf(s->per_second < 10 ? _("%.1f img/s") : _("%.0f img/s"),
                                                                  s->per_second);
  gtk_label_set_label(GTK_LABEL(p->speed), speed);
  gtk_accessible_update_property(GTK_ACCESSIBLE(p->speed_spark), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, speed, -1);
  g_autofree char *times =
      isnan(s->network) ? g_strdup("")
                        : g_strdup_printf(_("decode %.1f · network %.1f · write %.1f ms"), s->decode * 1e3,
                                          s->network * 1e3, s->write * 1e3);
  gtk_label_set_label(GTK_LABEL(p->times), times);
}

static void show_share(TmPagePredict *p) {
  const TmFolderPicture *one = p->shown;
  gtk_widget_set_visible(p->share_card, one != NULL);
  if (!one) return;
  const char *name = one->classes->classes[p->shown_class].name;
  g_autofree char *title = g_strdup_printf(_("%s share"), name),
                  *share = g_strdup_printf("%.1f\u2009%%", one->shares[p->shown_class] * 100);
  gtk_label_set_label(GTK_LABEL(p->share_title), title);
  gtk_label_set_label(GTK_LABEL(p->share), share);
  gtk_accessible_update_property(GTK_ACCESSIBLE(p->share_spark), GTK_ACCESSIBLE_PROPERTY_LABEL, title,
                                 GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, share, -1);
  show_trace(p->share_spark, p->share_trace, p->n_shares);
  g_autofree char *words = p->n_shares ? g_strdup_printf(_("mean %.1f\u2009%% · lowest %.1f\u2009%% in %s"),
                                                         p->share_sum / p->n_shares * 100, p->lowest * 100,
                                                         p->lowest_name ? p->lowest_name : "")
                                       : g_strdup("");
  gtk_label_set_label(GTK_LABEL(p->share_words), words);
  tm_share_bars_set(p->bars, one->classes, one->shares);
}

/* ---- the job ---- */

static const char *state_words(TmFolderState s) {
  static const char *const words[] = {
      [TM_FOLDER_LOADING] = N_("Loading"), [TM_FOLDER_ASKING] = N_("Waiting"), [TM_FOLDER_RUNNING] = N_("Running"),
      [TM_FOLDER_PAUSED] = N_("Paused"),   [TM_FOLDER_WAITING] = N_("Watching"), [TM_FOLDER_DONE] = N_("Done"),
      [TM_FOLDER_STOPPED] = N_("Stopped"), [TM_FOLDER_FAILED] = N_("Failed")};
  return _(words[s]);
}

static void show_job(TmPagePredict *p, const TmFolderSnapshot *s) {
  const guint past = s->done + s->failed + s->kept;
  g_autofree char *a = tm_words_count(past), *b = tm_words_count(s->total),
                  *count = s->total ? g_strdup_printf(_("%s of %s"), a, b) : g_strdup(_("No pictures yet"));
  gtk_label_set_label(GTK_LABEL(p->count), count);
  gtk_label_set_label(GTK_LABEL(p->pill), state_words(s->state));
  const double share = s->total ? (double)past / s->total : 0;
  gtk_progress_bar_set_fraction(GTK_PROGRESS_BAR(p->bar), share);
  gtk_progress_bar_set_fraction(GTK_PROGRESS_BAR(p->progress), share);
  gtk_widget_set_visible(p->progress, tm_folder_run_is_alive(p->run));
  g_autofree char *left = s->state == TM_FOLDER_RUNNING && past < s->total ? tm_words_left(s->seconds_left) : NULL,
                  *kept = s->kept ? g_strdup_printf(ngettext("%u kept as it was", "%u kept as they were", s->kept), s->kept)
                                  : NULL,
                  *epoch = g_strdup_printf(_("epoch %u"), s->epoch);
  gtk_label_set_label(GTK_LABEL(p->left), left ? left : kept ? kept : s->checkpoint ? epoch : "");
  g_autofree char *skipped = s->failed ? g_strdup_printf(_("%u skipped"), s->failed) : NULL;
  gtk_label_set_label(GTK_LABEL(p->skipped), skipped ? skipped : "");
  gtk_widget_set_visible(p->show_skipped, s->failed > 0);
}

static void show_notice(TmPagePredict *p, const TmFolderSnapshot *s) {
  if (s->state == TM_FOLDER_FAILED) {
    tm_notice_show(p->notice, TM_NOTICE_ERROR, NULL, _("This could not be predicted."), s->error);
    tm_notice_set_buttons(p->notice, NULL, NULL, NULL, NULL);
  } else if (s->state == TM_FOLDER_PAUSED && s->disk_full) {
    tm_notice_show(p->notice, TM_NOTICE_WARNING, NULL, _("The results cannot be written."), s->error);
    tm_notice_set_buttons(p->notice, _("Choose Folder…"), "predict.choose-to", _("Go On"), "predict.go");
  } else if (s->state == TM_FOLDER_DONE && s->masks) {
    g_autofree char *n = tm_words_count(s->masks),
                    *words = g_strdup_printf(ngettext("%s mask written", "%s masks written", s->masks), n);
    tm_notice_show(p->notice, TM_NOTICE_INFO, "object-select-symbolic", words, "");
    tm_notice_set_buttons(p->notice, NULL, NULL, _("Show in Files"), "predict.show-files");
  } else {
    tm_notice_show(p->notice, TM_NOTICE_INFO, NULL, NULL, NULL);
  }
  gtk_widget_set_visible(p->notices, gtk_widget_get_visible(GTK_WIDGET(p->notice)));
}

static void show_title(TmPagePredict *p, const TmFolderSnapshot *s) {
  g_autofree char *from = p->from ? g_filename_display_basename(p->from) : NULL,
                  *to = p->to ? g_filename_display_basename(p->to) : NULL,
                  *words = from && to ? g_strdup_printf("%s → %s", from, to) : g_strdup(from ? from : "");
  adw_window_title_set_title(ADW_WINDOW_TITLE(p->title), s && s->state == TM_FOLDER_WAITING ? _("Waiting for pictures")
                                                                                           : _("Predict"));
  adw_window_title_set_subtitle(ADW_WINDOW_TITLE(p->title), words);
  g_autofree char *from_words = g_markup_escape_text(p->from ? from : _("Choose a folder of pictures"), -1),
                  *to_words = g_markup_escape_text(p->to ? to : _("Nothing is written"), -1);
  adw_action_row_set_subtitle(ADW_ACTION_ROW(p->from_row), from_words);
  adw_action_row_set_subtitle(ADW_ACTION_ROW(p->to_row), to_words);
  gtk_widget_set_tooltip_text(p->from_row, p->from);
  gtk_widget_set_tooltip_text(p->to_row, p->to);
}

static void show_buttons(TmPagePredict *p, const TmFolderSnapshot *s) {
  const gboolean alive = p->run && tm_folder_run_is_alive(p->run), paused = alive && s->state == TM_FOLDER_PAUSED;
  const char *label = !alive ? _("Start") : paused ? _("Go On") : _("Pause");
  gtk_label_set_label(GTK_LABEL(p->go_label), label);
  gtk_image_set_from_icon_name(GTK_IMAGE(p->go_icon), alive && !paused ? "media-playback-pause-symbolic"
                                                                       : "media-playback-start-symbolic");
  gtk_accessible_update_property(GTK_ACCESSIBLE(p->go), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
  const struct {
    const char *name;
    gboolean on;
  } actions[] = {{"go", alive || (p->from && tm_page_predict_network(p))},
                 {"stop", alive},
                 {"show-skipped", p->run != NULL},
                 {"show-files", p->to != NULL}};
  for (guint i = 0; i < G_N_ELEMENTS(actions); i++)
    g_simple_action_set_enabled(
        G_SIMPLE_ACTION(g_action_map_lookup_action(G_ACTION_MAP(p->actions), actions[i].name)), actions[i].on);
  gtk_widget_set_sensitive(p->network, !alive);
  GtkWidget *const parts[] = {p->masks, p->overlays, p->table};
  for (guint i = 0; i < G_N_ELEMENTS(parts); i++) gtk_widget_set_sensitive(parts[i], !alive);
}

/* ---- told once ---- */

static void existing_answered(AdwMessageDialog *dialog, const char *answer, TmPagePredict *p) {
  (void)dialog;
  if (!p->run) return;
  TmFolderJob *j = tm_folder_run_job(p->run);
  if (g_str_equal(answer, "keep"))
    tm_folder_job_existing(j, TM_EXISTING_KEEP);
  else if (g_str_equal(answer, "replace"))
    tm_folder_job_existing(j, TM_EXISTING_REPLACE);
  else
    tm_folder_job_stop(j);
}

static void ask_existing(TmPagePredict *p, const TmFolderSnapshot *s) {
  g_autofree char *n = tm_words_count(s->existing),
                  *title = g_strdup_printf(ngettext("%s Result Is There Already", "%s Results Are There Already", s->existing), n),
                  *body = g_strdup_printf(_("The first is “%s”."), s->first_existing);
  GtkWidget *d = adw_message_dialog_new(tm_page_predict_window(p), title, body);
  adw_message_dialog_add_responses(ADW_MESSAGE_DIALOG(d), "cancel", _("_Cancel"), "replace", _("_Replace"), "keep",
                                   _("_Keep Them"), NULL);
  adw_message_dialog_set_response_appearance(ADW_MESSAGE_DIALOG(d), "replace", ADW_RESPONSE_DESTRUCTIVE);
  adw_message_dialog_set_default_response(ADW_MESSAGE_DIALOG(d), "keep");
  adw_message_dialog_set_close_response(ADW_MESSAGE_DIALOG(d), "cancel");
  g_signal_connect_object(d, "response", G_CALLBACK(existing_answered), p, 0);
  gtk_window_present(GTK_WINDOW(d));
}

static void notify_done(TmPagePredict *p, const TmFolderSnapshot *s) {
  GtkWindow *w = tm_page_predict_window(p);
  GtkApplication *app = w ? gtk_window_get_application(w) : NULL;
  if (!app || gtk_window_is_active(w)) return;
  g_autoptr(GNotification) n = g_notification_new(_("The pictures are predicted"));
  g_autofree char *done = tm_words_count(s->done),
                  *body = g_strdup_printf(ngettext("%s picture", "%s pictures", s->done), done);
  g_notification_set_body(n, body);
  g_notification_set_default_action(n, "app.show");
  g_application_send_notification(G_APPLICATION(app), "predicted", n);
}

static void state_changed(TmPagePredict *p, const TmFolderSnapshot *s) {
  if (s->state == TM_FOLDER_ASKING) ask_existing(p, s);
  if (s->state == TM_FOLDER_DONE) notify_done(p, s);
}

/* ---- all of it ---- */

void tm_page_predict_refresh(TmPagePredict *p) {
  const TmFolderSnapshot *s = p->run ? tm_folder_run_snapshot(p->run) : NULL;
  gtk_stack_set_visible_child_name(GTK_STACK(p->stack), p->from || p->run ? "pictures" : "empty");
  if (s) {
    take_pictures(p);
    show_job(p, s);
    show_speed(p, s);
    show_notice(p, s);
  }
  gtk_widget_set_visible(p->job_card, s != NULL);
  gtk_widget_set_visible(p->speed_card, s != NULL);
  show_share(p);
  show_title(p, s);
  show_buttons(p, s);
  const gboolean loading = s && !p->shown && (s->state == TM_FOLDER_LOADING || s->state == TM_FOLDER_RUNNING),
                 empty = s && !p->shown && s->state == TM_FOLDER_WAITING;
  gtk_widget_set_visible(p->waiting, loading || empty);
  gtk_label_set_label(GTK_LABEL(p->waiting_label), empty ? _("Waiting for pictures") : _("Loading the network"));
  if (s && s->state != p->last_state) {
    p->last_state = s->state;
    state_changed(p, s);
  }
}

void tm_page_predict_show_skipped(TmPagePredict *p) {
  if (!p->run) return;
  g_autoptr(GPtrArray) errors = tm_folder_job_errors(tm_folder_run_job(p->run));
  g_autofree char *title = g_strdup_printf(
      ngettext("%u Picture Could Not Be Predicted", "%u Pictures Could Not Be Predicted", errors->len), errors->len);
  GtkWidget *d = adw_message_dialog_new(tm_page_predict_window(p), title,
                                        _("The job went on without them. Nothing was written for these."));
  GtkWidget *list = gtk_list_box_new(), *scroller = gtk_scrolled_window_new();
  gtk_list_box_set_selection_mode(GTK_LIST_BOX(list), GTK_SELECTION_NONE);
  gtk_widget_add_css_class(list, "boxed-list");
  for (guint i = 0; i < errors->len && i < 500; i++) {
    const TmFolderError *e = errors->pdata[i];
    GtkWidget *row = adw_action_row_new();
    g_autofree char *name = g_markup_escape_text(e->name, -1), *reason = g_markup_escape_text(e->reason, -1);
    adw_preferences_row_set_title(ADW_PREFERENCES_ROW(row), name);
    adw_action_row_set_subtitle(ADW_ACTION_ROW(row), reason);
    adw_action_row_set_icon_name(ADW_ACTION_ROW(row), "image-missing-symbolic");
    gtk_list_box_append(GTK_LIST_BOX(list), row);
  }
  gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_propagate_natural_height(GTK_SCROLLED_WINDOW(scroller), TRUE);
  gtk_scrolled_window_set_max_content_height(GTK_SCROLLED_WINDOW(scroller), 360);
  gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), list);
  adw_message_dialog_set_extra_child(ADW_MESSAGE_DIALOG(d), scroller);
  adw_message_dialog_add_response(ADW_MESSAGE_DIALOG(d), "close", _("_Close"));
  gtk_window_present(GTK_WINDOW(d));
}
