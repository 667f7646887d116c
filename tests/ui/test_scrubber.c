/* The slider through a run's epochs: follows the newest until someone looks back, plays, and knows what to swipe against. */
#include <gtk/gtk.h>

#include "ui/scrubber.h"

static GtkWidget *child_of(GtkWidget *w, GType type, const char *label) {
  for (GtkWidget *c = gtk_widget_get_first_child(w); c; c = gtk_widget_get_next_sibling(c)) {
    if (G_TYPE_CHECK_INSTANCE_TYPE(c, type) && (!label || !gtk_test_accessible_check_property(GTK_ACCESSIBLE(c), GTK_ACCESSIBLE_PROPERTY_LABEL, label)))
      return c;
    GtkWidget *deep = child_of(c, type, label);
    if (deep) return deep;
  }
  return NULL;
}

static guint chosen, swiped, keys;
static void count(guint *n) { ++*n; }

static TmScrubber *make(void) {
  TmScrubber *s = g_object_ref_sink(TM_SCRUBBER(tm_scrubber_new()));
  chosen = swiped = keys = 0;
  g_signal_connect_swapped(s, "epoch-chosen", G_CALLBACK(count), &chosen);
  g_signal_connect_swapped(s, "swipe-changed", G_CALLBACK(count), &swiped);
  g_signal_connect_swapped(s, "keys-changed", G_CALLBACK(count), &keys);
  return s;
}

static void test_follows(void) {
  g_autoptr(TmScrubber) s = make();
  const guint epochs[] = {0, 1, 2, 4, 6};
  g_assert_cmpuint(tm_scrubber_get_epoch(s), ==, TM_SCRUBBER_NOW);
  tm_scrubber_set_epochs(s, epochs, 3);
  g_assert_cmpuint(tm_scrubber_get_epoch(s), ==, TM_SCRUBBER_NOW);
  tm_scrubber_set_epochs(s, epochs, 4);
  g_assert_cmpuint(tm_scrubber_get_epoch(s), ==, TM_SCRUBBER_NOW);
  g_assert_cmpuint(chosen, ==, 0); /* nobody chose */
  tm_scrubber_set_epoch(s, 1);
  g_assert_cmpuint(tm_scrubber_get_epoch(s), ==, 1);
  g_assert_cmpuint(chosen, ==, 1);
  tm_scrubber_set_epochs(s, epochs, 5); /* who looks back is left there */
  g_assert_cmpuint(tm_scrubber_get_epoch(s), ==, 1);
  tm_scrubber_set_epoch(s, 3); /* not kept: the nearest */
  g_assert_true(tm_scrubber_get_epoch(s) == 2 || tm_scrubber_get_epoch(s) == 4);
  tm_scrubber_set_epoch(s, TM_SCRUBBER_NOW);
  g_assert_cmpuint(tm_scrubber_get_epoch(s), ==, TM_SCRUBBER_NOW);
  tm_scrubber_set_epochs(s, epochs, 0); /* another run */
  g_assert_cmpuint(tm_scrubber_get_epoch(s), ==, TM_SCRUBBER_NOW);
}

static void test_keys(void) {
  g_autoptr(TmScrubber) s = make();
  guint epochs[30], epoch;
  for (guint i = 0; i < 30; i++) epochs[i] = i;
  tm_scrubber_set_epochs(s, epochs, 2);
  g_assert_true(tm_scrubber_get_key(s, 1, &epoch) && epoch == 1);
  g_assert_false(tm_scrubber_get_key(s, 2, &epoch));
  tm_scrubber_set_epochs(s, epochs, 30);
  g_assert_true(tm_scrubber_get_key(s, 0, &epoch) && epoch == 0);
  g_assert_true(tm_scrubber_get_key(s, 3, &epoch) && epoch == 29);
  guint last = 0;
  for (guint i = 1; i < 4; i++) {
    g_assert_true(tm_scrubber_get_key(s, i, &epoch));
    g_assert_cmpuint(epoch, >, last);
    last = epoch;
  }
  g_assert_cmpuint(keys, ==, 2);
  GtkWidget *b = child_of(GTK_WIDGET(s), GTK_TYPE_BUTTON, "Epoch 1");
  g_assert_nonnull(b);
  g_signal_emit_by_name(b, "clicked");
  g_assert_cmpuint(tm_scrubber_get_epoch(s), ==, 0);
}

static void test_swipe(void) {
  g_autoptr(TmScrubber) s = make();
  const guint epochs[] = {0, 1, 2};
  double split;
  tm_scrubber_set_epochs(s, epochs, 3);
  tm_scrubber_set_epoch(s, 1);
  GtkWidget *compare = child_of(GTK_WIDGET(s), GTK_TYPE_TOGGLE_BUTTON, "Compare Epochs");
  gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(compare), TRUE);
  tm_scrubber_set_epoch(s, 2);
  g_assert_cmpuint(tm_scrubber_get_swipe(s, &split), ==, 1); /* stays what it was put to */
  g_assert_cmpfloat(split, ==, 0.5);
  tm_scrubber_set_split(s, 0.2);
  tm_scrubber_get_swipe(s, &split);
  g_assert_cmpfloat_with_epsilon(split, 0.2, 1e-9);
  g_assert_cmpuint(swiped, ==, 2);
  tm_scrubber_set_epochs(s, epochs, 1); /* nothing to swipe against */
  g_assert_cmpuint(tm_scrubber_get_swipe(s, NULL), ==, TM_SCRUBBER_NOW);
}

static gboolean at_end(gpointer loop) {
  g_main_loop_quit(loop);
  return G_SOURCE_REMOVE;
}

static void test_play(void) {
  g_autoptr(TmScrubber) s = make();
  const guint epochs[] = {0, 1, 2};
  tm_scrubber_set_epochs(s, epochs, 3);
  GtkWidget *play = child_of(GTK_WIDGET(s), GTK_TYPE_BUTTON, "Play Epochs");
  g_signal_emit_by_name(play, "clicked");
  g_assert_cmpuint(tm_scrubber_get_epoch(s), ==, 0); /* from the first on */
  g_autoptr(GMainLoop) loop = g_main_loop_new(NULL, FALSE);
  for (guint i = 0; i < 40 && tm_scrubber_get_epoch(s) != TM_SCRUBBER_NOW; i++) {
    g_timeout_add(100, at_end, loop);
    g_main_loop_run(loop);
  }
  g_assert_cmpuint(tm_scrubber_get_epoch(s), ==, TM_SCRUBBER_NOW);
  g_assert_cmpuint(chosen, ==, 3);
}

int main(int argc, char **argv) {
  gtk_test_init(&argc, &argv, NULL);
  g_test_add_func("/scrubber/follows", test_follows);
  g_test_add_func("/scrubber/keys", test_keys);
  g_test_add_func("/scrubber/swipe", test_swipe);
  g_test_add_func("/scrubber/play", test_play);
  return g_test_run();
}
