/* test_swipe.c: the Predict page's view and strip: what they say, what they keep. */
#include <adwaita.h>

#include "ui/film_strip.h"
#include "ui/swipe_view.h"

static TmFolderPicture *picture(guint index, int w, int h, gboolean sure) {
  TmFolderPicture *p = g_new0(TmFolderPicture, 1);
  g_atomic_ref_count_init(&p->refs);
  p->index = index;
  p->name = g_strdup_printf("p%u.png", index);
  p->w = w;
  p->h = h;
  p->rgb = g_malloc0((gsize)w * (gsize)h * 3);
  p->labels = g_malloc0((gsize)w * (gsize)h);
  if (sure) p->sure = g_malloc0((gsize)w * (gsize)h);
  p->classes = tm_class_table_new(TM_MASK_INDEX);
  tm_class_table_add(p->classes, "Road", 0x59348e, 0);
  tm_class_table_add(p->classes, "Tree", 0x0f4839, 1);
  p->shares = g_new0(double, 2);
  p->shares[0] = 0.75;
  p->shares[1] = 0.25;
  return p;
}

static void spin(void) {
  const gint64 end = g_get_monotonic_time() + 200000;
  while (g_get_monotonic_time() < end) g_main_context_iteration(NULL, FALSE);
}

static void test_view(void) {
  GtkWidget *window = gtk_window_new();
  TmSwipeView *v = TM_SWIPE_VIEW(tm_swipe_view_new());
  gtk_window_set_child(GTK_WINDOW(window), GTK_WIDGET(v));
  gtk_window_set_default_size(GTK_WINDOW(window), 400, 300);
  gtk_window_present(GTK_WINDOW(window));
  spin();
  g_assert_cmpfloat(tm_swipe_view_get_scale(v), ==, 0);
  /* Wide, high, one pixel, larger than a texture is made: all are shown in every mode. */
  static const int sizes[][2] = {{80, 60}, {900, 7}, {3, 500}, {1, 1}, {5000, 20}};
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++)
    for (int mode = 0; mode <= TM_SWIPE_SURE; mode++) {
      g_autoptr(TmFolderPicture) p = picture(i, sizes[i][0], sizes[i][1], i % 2);
      tm_swipe_view_set_picture(v, p);
      tm_swipe_view_set_mode(v, (TmSwipeMode)mode);
      tm_swipe_view_set_opacity(v, mode * 0.3);
      tm_swipe_view_zoom(v, mode == 2 ? 8 : 0);
      spin();
      g_assert_cmpfloat(tm_swipe_view_get_scale(v), >, 0);
    }
  tm_swipe_view_set_mode(v, TM_SWIPE_SWIPE);
  tm_swipe_view_set_split(v, 0.43);
  g_autofree char *text = tm_swipe_view_describe(v);
  g_assert_cmpstr(text, ==, "Picture p4.png. Road 75.0, Tree 25.0 percent. Split at 43 percent.");
  tm_swipe_view_set_split(v, 7);
  g_assert_cmpfloat(tm_swipe_view_get_split(v), ==, 1);
  tm_swipe_view_set_picture(v, NULL);
  spin();
  gtk_window_destroy(GTK_WINDOW(window));
}

static void note(TmFilmStrip *s, guint index, guint *last) {
  (void)s;
  *last = index;
}

/* The strip keeps the last of them, each once, and tells only what a person chose. */
static void test_strip(void) {
  GtkWidget *window = gtk_window_new();
  TmFilmStrip *s = TM_FILM_STRIP(tm_film_strip_new());
  guint told = 12345;
  g_signal_connect(s, "selected", G_CALLBACK(note), &told);
  gtk_window_set_child(GTK_WINDOW(window), GTK_WIDGET(s));
  gtk_window_set_default_size(GTK_WINDOW(window), 500, 120);
  gtk_window_present(GTK_WINDOW(window));
  for (guint i = 0; i < TM_STRIP_MOST + 20; i++) {
    g_autoptr(TmFolderPicture) p = picture(i, 8, 6, FALSE);
    tm_film_strip_add(s, p);
  }
  spin();
  g_assert_cmpuint(told, ==, 12345);
  g_assert_cmpuint(tm_film_strip_n(s), ==, TM_STRIP_MOST);
  g_assert_cmpuint(tm_film_strip_picture(s, 0)->index, ==, 20);
  tm_film_strip_go(s, -1);
  g_assert_cmpuint(told, ==, TM_STRIP_MOST + 18);
  g_autoptr(TmFolderPicture) again = picture(30, 8, 6, FALSE);
  tm_film_strip_add(s, again);
  g_assert_cmpuint(tm_film_strip_n(s), ==, TM_STRIP_MOST);
  g_assert_cmpuint(told, ==, TM_STRIP_MOST + 18); /* it stays where the person is */
  tm_film_strip_go(s, 1000);
  g_assert_cmpuint(told, ==, G_MAXUINT); /* at the end it follows again */
  tm_film_strip_set_class(s, 1);
  tm_film_strip_clear(s);
  g_assert_cmpuint(tm_film_strip_n(s), ==, 0);
  spin();
  gtk_window_destroy(GTK_WINDOW(window));
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  if (!gtk_init_check()) {
    g_print("1..0 # SKIP no display\n");
    return 0;
  }
  adw_init();
  g_test_add_func("/ui/predict/view", test_view);
  g_test_add_func("/ui/predict/strip", test_strip);
  return g_test_run();
}
