#include "ui/scrubber.h"

#include <gdk/gdkkeysyms.h>
#include <glib/gi18n.h>

#include "ui/mask_view.h"

enum { PLAY_MS = 250 };

struct _TmScrubber {
  GtkBox parent;
  GtkWidget *play, *scale, *value, *compare, *swipe_row, *swipe_label, *swipe_scale, *keys;
  GtkWidget *key[TM_SCRUBBER_KEYS], *key_view[TM_SCRUBBER_KEYS], *key_label[TM_SCRUBBER_KEYS];
  guint key_epoch[TM_SCRUBBER_KEYS], n_keys;
  GArray *epochs; /* guint */
  guint swipe; /* TM_SCRUBBER_NOW: none */
  gboolean follows; /* shows the newest, whatever comes */
  gboolean quiet;
  guint player;
};

enum { EPOCH_CHOSEN, SWIPE_CHANGED, KEYS_CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(TmScrubber, tm_scrubber, GTK_TYPE_BOX)

static guint epoch_at(TmScrubber *s, guint i) { return g_array_index(s->epochs, guint, i); }

/* The kept epoch nearest to what the slider says. */
static guint place(TmScrubber *s) {
  const double at = gtk_range_get_value(GTK_RANGE(s->scale)) - 1;
  guint best = 0;
  for (guint i = 1; i < s->epochs->len; i++)
    if (ABS(epoch_at(s, i) - at) < ABS(epoch_at(s, best) - at)) best = i;
  return best;
}

guint tm_scrubber_get_epoch(TmScrubber *s) {
  return s->follows || s->epochs->len == 0 ? TM_SCRUBBER_NOW : epoch_at(s, place(s));
}

guint tm_scrubber_get_swipe(TmScrubber *s, double *split) {
  if (split) *split = gtk_range_get_value(GTK_RANGE(s->swipe_scale)) / 100;
  return s->swipe;
}

static void show(TmScrubber *s) {
  const guint n = s->epochs->len, epoch = tm_scrubber_get_epoch(s);
  g_autofree char *text = n == 0                       ? g_strdup("–")
                          : epoch == TM_SCRUBBER_NOW ? g_strdup(_("now"))
                                                     : g_strdup_printf("%u", epoch + 1);
  gtk_label_set_label(GTK_LABEL(s->value), text);
  for (guint i = 0; i < s->n_keys; i++) {
    const gboolean shown = epoch == s->key_epoch[i];
    if (shown)
      gtk_widget_add_css_class(s->key[i], "tm-chosen");
    else
      gtk_widget_remove_css_class(s->key[i], "tm-chosen");
  }
  g_autofree char *other = s->swipe == TM_SCRUBBER_NOW
                               ? g_strdup("")
                               : g_strdup_printf(_("Epoch %u | %s"), s->swipe + 1, text);
  gtk_label_set_label(GTK_LABEL(s->swipe_label), other);
}

static void moved(TmScrubber *s) {
  if (s->quiet || s->epochs->len == 0) return;
  s->follows = place(s) + 1 == s->epochs->len;
  show(s);
  g_signal_emit(s, signals[EPOCH_CHOSEN], 0);
}

static void go(TmScrubber *s, double epoch) { gtk_range_set_value(GTK_RANGE(s->scale), epoch + 1); }

void tm_scrubber_set_epoch(TmScrubber *s, guint epoch) {
  if (s->epochs->len == 0) return;
  go(s, epoch == TM_SCRUBBER_NOW ? epoch_at(s, s->epochs->len - 1) : epoch);
}

/* ---- playing ---- */

static void stop_playing(TmScrubber *s) {
  g_clear_handle_id(&s->player, g_source_remove);
  gtk_button_set_icon_name(GTK_BUTTON(s->play), "media-playback-start-symbolic");
}

static gboolean play_on(gpointer user) {
  TmScrubber *s = user;
  const guint next = place(s) + 1;
  if (next < s->epochs->len) {
    go(s, epoch_at(s, next));
    return G_SOURCE_CONTINUE;
  }
  s->player = 0;
  stop_playing(s);
  return G_SOURCE_REMOVE;
}

static void play_clicked(TmScrubber *s) {
  if (s->player) {
    stop_playing(s);
    return;
  }
  if (s->epochs->len < 2) return;
  if (place(s) + 1 == s->epochs->len) go(s, epoch_at(s, 0));
  gtk_button_set_icon_name(GTK_BUTTON(s->play), "media-playback-pause-symbolic");
  s->player = g_timeout_add(PLAY_MS, play_on, s);
}

/* ---- swiping ---- */

static void swipe_changed(TmScrubber *s) { g_signal_emit(s, signals[SWIPE_CHANGED], 0); }

static void compare_toggled(TmScrubber *s) {
  const gboolean on = gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(s->compare)) && s->epochs->len > 0;
  s->swipe = on ? epoch_at(s, place(s)) : TM_SCRUBBER_NOW;
  gtk_widget_set_visible(s->swipe_row, on);
  show(s);
  swipe_changed(s);
}

void tm_scrubber_set_split(TmScrubber *s, double split) {
  gtk_range_set_value(GTK_RANGE(s->swipe_scale), split * 100);
}

/* ---- key epochs ---- */

static void key_clicked(GtkButton *b, TmScrubber *s) {
  for (guint i = 0; i < s->n_keys; i++)
    if (GTK_WIDGET(b) == s->key[i]) go(s, s->key_epoch[i]);
}

/* The first, the last, and two evenly between. */
static gboolean choose_keys(TmScrubber *s) {
  const guint n = s->epochs->len, keys = MIN(n, TM_SCRUBBER_KEYS);
  gboolean same = keys == s->n_keys;
  for (guint i = 0; i < keys; i++) {
    const guint epoch = epoch_at(s, keys > 1 ? (i * (n - 1) + (keys - 1) / 2) / (keys - 1) : 0);
    same = same && s->key_epoch[i] == epoch;
    s->key_epoch[i] = epoch;
  }
  s->n_keys = keys;
  return !same;
}

static void show_keys(TmScrubber *s) {
  for (guint i = 0; i < TM_SCRUBBER_KEYS; i++) {
    gtk_widget_set_visible(s->key[i], i < s->n_keys);
    if (i >= s->n_keys) continue;
    g_autofree char *text = g_strdup_printf(_("Epoch %u"), s->key_epoch[i] + 1);
    gtk_label_set_label(GTK_LABEL(s->key_label[i]), text);
    gtk_accessible_update_property(GTK_ACCESSIBLE(s->key[i]), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
  }
  gtk_widget_set_visible(s->keys, s->n_keys > 1);
}

gboolean tm_scrubber_get_key(TmScrubber *s, guint i, guint *epoch) {
  if (i >= s->n_keys) return FALSE;
  *epoch = s->key_epoch[i];
  return TRUE;
}

void tm_scrubber_set_key_scene(TmScrubber *s, guint i, TmScene *scene) {
  if (i < TM_SCRUBBER_KEYS) tm_mask_view_set_scene(TM_MASK_VIEW(s->key_view[i]), scene);
}

static void add_key(TmScrubber *s, guint i) {
  GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 2);
  s->key_view[i] = tm_mask_view_new(TM_VIEW_PREDICTION, _("Prediction of an epoch"));
  tm_mask_view_set_width(TM_MASK_VIEW(s->key_view[i]), 64);
  gtk_widget_set_focusable(s->key_view[i], FALSE);
  gtk_widget_set_can_target(s->key_view[i], FALSE);
  s->key_label[i] = gtk_label_new(NULL);
  gtk_widget_add_css_class(s->key_label[i], "tm-tiny");
  gtk_widget_add_css_class(s->key_label[i], "numeric");
  gtk_box_append(GTK_BOX(box), s->key_view[i]);
  gtk_box_append(GTK_BOX(box), s->key_label[i]);
  s->key[i] = gtk_button_new();
  gtk_button_set_child(GTK_BUTTON(s->key[i]), box);
  gtk_widget_add_css_class(s->key[i], "flat");
  gtk_widget_add_css_class(s->key[i], "tm-key");
  gtk_widget_set_hexpand(s->key[i], TRUE);
  g_signal_connect(s->key[i], "clicked", G_CALLBACK(key_clicked), s);
  gtk_box_append(GTK_BOX(s->keys), s->key[i]);
}

/* ---- what there is ---- */

void tm_scrubber_set_epochs(TmScrubber *s, const guint *epochs, guint n) {
  if (n == s->epochs->len && (n == 0 || memcmp(epochs, s->epochs->data, n * sizeof *epochs) == 0)) return;
  s->quiet = TRUE;
  const guint before = tm_scrubber_get_epoch(s);
  g_array_set_size(s->epochs, 0);
  if (n) g_array_append_vals(s->epochs, epochs, n);
  const double last = n ? epoch_at(s, n - 1) + 1 : 1;
  gtk_range_set_range(GTK_RANGE(s->scale), 1, MAX(last, 2));
  if (n) go(s, before == TM_SCRUBBER_NOW ? last - 1 : before);
  s->follows = before == TM_SCRUBBER_NOW || (n && place(s) + 1 == n);
  gtk_widget_set_sensitive(s->scale, n > 0);
  gtk_widget_set_sensitive(s->play, n > 1);
  gtk_widget_set_sensitive(s->compare, n > 1);
  if (n < 2 && gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(s->compare)))
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(s->compare), FALSE);
  s->quiet = FALSE;
  const gboolean others = choose_keys(s);
  show_keys(s);
  show(s);
  if (others) g_signal_emit(s, signals[KEYS_CHANGED], 0);
}

/* ---- the type ---- */

static gboolean key(GtkEventControllerKey *k, guint val, guint code, GdkModifierType state, TmScrubber *s) {
  (void)k;
  (void)code;
  if (val != GDK_KEY_p || (state & (GDK_CONTROL_MASK | GDK_ALT_MASK))) return FALSE;
  play_clicked(s);
  return TRUE;
}

static void dispose(GObject *o) {
  TmScrubber *s = TM_SCRUBBER(o);
  g_clear_handle_id(&s->player, g_source_remove);
  g_clear_pointer(&s->epochs, g_array_unref);
  G_OBJECT_CLASS(tm_scrubber_parent_class)->dispose(o);
}

static void tm_scrubber_class_init(TmScrubberClass *c) {
  static const char *const names[N_SIGNALS] = {"epoch-chosen", "swipe-changed", "keys-changed"};
  G_OBJECT_CLASS(c)->dispose = dispose;
  for (int i = 0; i < N_SIGNALS; i++)
    signals[i] = g_signal_new(names[i], TM_TYPE_SCRUBBER, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static GtkWidget *icon_button(GtkWidget *b, const char *icon, const char *tip, const char *name) {
  gtk_button_set_icon_name(GTK_BUTTON(b), icon);
  gtk_widget_set_tooltip_text(b, tip);
  gtk_widget_set_valign(b, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class(b, "flat");
  gtk_accessible_update_property(GTK_ACCESSIBLE(b), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  return b;
}

static void make_line(TmScrubber *s) {
  GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 4);
  s->play = icon_button(gtk_button_new(), "media-playback-start-symbolic", _("Play the epochs (P)"), _("Play Epochs"));
  s->scale = gtk_scale_new_with_range(GTK_ORIENTATION_HORIZONTAL, 1, 2, 1);
  gtk_scale_set_draw_value(GTK_SCALE(s->scale), FALSE);
  gtk_range_set_round_digits(GTK_RANGE(s->scale), 0);
  gtk_widget_set_hexpand(s->scale, TRUE);
  gtk_widget_set_tooltip_text(s->scale, _("Epoch of the prediction"));
  gtk_accessible_update_property(GTK_ACCESSIBLE(s->scale), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Epoch of the prediction"), -1);
  s->value = gtk_label_new(NULL);
  gtk_label_set_width_chars(GTK_LABEL(s->value), 4);
  gtk_label_set_xalign(GTK_LABEL(s->value), 1);
  gtk_widget_add_css_class(s->value, "tm-small");
  gtk_widget_add_css_class(s->value, "tm-strong");
  gtk_widget_add_css_class(s->value, "numeric");
  s->compare = icon_button(gtk_toggle_button_new(), "tm-split-symbolic", _("Swipe between this epoch and another"),
                           _("Compare Epochs"));
  gtk_box_append(GTK_BOX(line), s->play);
  gtk_box_append(GTK_BOX(line), s->scale);
  gtk_box_append(GTK_BOX(line), s->value);
  gtk_box_append(GTK_BOX(line), s->compare);
  gtk_box_append(GTK_BOX(s), line);
}

static void make_swipe(TmScrubber *s) {
  s->swipe_row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
  s->swipe_label = gtk_label_new(NULL);
  gtk_widget_add_css_class(s->swipe_label, "tm-small");
  gtk_widget_add_css_class(s->swipe_label, "numeric");
  s->swipe_scale = gtk_scale_new_with_range(GTK_ORIENTATION_HORIZONTAL, 0, 100, 2);
  gtk_scale_set_draw_value(GTK_SCALE(s->swipe_scale), FALSE);
  gtk_range_set_value(GTK_RANGE(s->swipe_scale), 50);
  gtk_widget_set_hexpand(s->swipe_scale, TRUE);
  gtk_accessible_update_property(GTK_ACCESSIBLE(s->swipe_scale), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                 _("Swipe between the two epochs"), -1);
  gtk_widget_set_visible(s->swipe_row, FALSE);
  gtk_box_append(GTK_BOX(s->swipe_row), s->swipe_label);
  gtk_box_append(GTK_BOX(s->swipe_row), s->swipe_scale);
  gtk_box_append(GTK_BOX(s), s->swipe_row);
}

static void tm_scrubber_init(TmScrubber *s) {
  gtk_orientable_set_orientation(GTK_ORIENTABLE(s), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing(GTK_BOX(s), 2);
  s->epochs = g_array_new(FALSE, FALSE, sizeof(guint));
  s->swipe = TM_SCRUBBER_NOW;
  s->follows = TRUE;
  make_line(s);
  make_swipe(s);
  s->keys = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
  gtk_box_set_homogeneous(GTK_BOX(s->keys), TRUE);
  for (guint i = 0; i < TM_SCRUBBER_KEYS; i++) add_key(s, i);
  gtk_box_append(GTK_BOX(s), s->keys);
  show_keys(s);
  GtkEventController *keys = gtk_event_controller_key_new();
  g_signal_connect(keys, "key-pressed", G_CALLBACK(key), s);
  gtk_widget_add_controller(GTK_WIDGET(s), keys);
  g_signal_connect_swapped(s->play, "clicked", G_CALLBACK(play_clicked), s);
  g_signal_connect_swapped(s->scale, "value-changed", G_CALLBACK(moved), s);
  g_signal_connect_swapped(s->compare, "toggled", G_CALLBACK(compare_toggled), s);
  g_signal_connect_swapped(s->swipe_scale, "value-changed", G_CALLBACK(swipe_changed), s);
  gtk_widget_set_sensitive(s->scale, FALSE);
  gtk_widget_set_sensitive(s->play, FALSE);
  gtk_widget_set_sensitive(s->compare, FALSE);
  show(s);
}

GtkWidget *tm_scrubber_new(void) {
  return g_object_new(TM_TYPE_SCRUBBER, NULL);
}
