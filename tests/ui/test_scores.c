/* test_scores.c: the widgets of the Evaluate page: what they say of their numbers, and that it can be read. */
#include <adwaita.h>
#include <math.h>

#include "ui/confusion_map.h"
#include "ui/confusion_table.h"
#include "ui/error_tile.h"
#include "ui/reliability_plot.h"
#include "ui/score_bars.h"

static TmClassTable *three(void) {
  TmClassTable *t = tm_class_table_new(TM_MASK_INDEX);
  tm_class_table_add(t, "Road", 0x59348e, 0);
  tm_class_table_add(t, "Pavement", 0xab6a9a, 1);
  tm_class_table_add(t, "Pole", 0xdaf7b6, 2);
  return t;
}

/* Of 1000 pixels of road 10 are called pavement; of 200 of pavement 50 are called road; there is no pole. */
static TmConfusion *numbers(void) {
  static const guint64 pixels[9] = {990, 10, 0, 50, 150, 0, 0, 0, 0};
  TmConfusion *c = tm_confusion_new(3);
  memcpy(c->pixels, pixels, sizeof pixels);
  return c;
}

static void test_map(void) {
  g_autoptr(TmClassTable) t = three();
  g_autoptr(TmConfusion) c = numbers();
  TmConfusionMap *m = g_object_ref_sink(TM_CONFUSION_MAP(tm_confusion_map_new()));
  guint truth, call;
  g_assert_false(tm_confusion_map_get_selected(m, &truth, &call));
  tm_confusion_map_set(m, c, t);
  g_assert_true(tm_confusion_map_get_selected(m, &truth, &call));
  g_assert_true(truth == 1 && call == 0); /* the most frequent mistake */
  g_autofree char *of_truth = tm_confusion_map_sentence(m);
  g_assert_cmpstr(of_truth, ==, "25.0 % of Pavement pixels were called Road.");
  tm_confusion_map_set_scale(m, TM_SCALE_CALL);
  g_assert_cmpfloat_with_epsilon(tm_confusion_map_share(m, 1, 0), 50.0 / 1040, 1e-12);
  tm_confusion_map_set_scale(m, TM_SCALE_PIXELS);
  g_assert_cmpfloat_with_epsilon(tm_confusion_map_share(m, 1, 0), 50.0 / 1200, 1e-12);
  tm_confusion_map_set_scale(m, TM_SCALE_TRUTH);
  tm_confusion_map_select(m, 2, 1);
  g_assert_true(isnan(tm_confusion_map_share(m, 2, 1)));
  g_autofree char *none = tm_confusion_map_sentence(m);
  g_assert_cmpstr(none, ==, "There is no pixel of Pole.");
  tm_confusion_map_select(m, 7, 7); /* there is no such cell */
  tm_confusion_map_set(m, c, t);    /* new numbers leave the chosen cell alone */
  g_assert_true(tm_confusion_map_get_selected(m, &truth, &call) && truth == 2 && call == 1);
  tm_confusion_map_set(m, NULL, NULL);
  g_assert_false(tm_confusion_map_get_selected(m, &truth, &call));
  g_object_unref(m);
}

static double linear(float v) {
  return (double)v <= 0.03928 ? (double)v / 12.92 : pow(((double)v + 0.055) / 1.055, 2.4);
}

static double luminance(GdkRGBA c) {
  return 0.2126 * linear(c.red) + 0.7152 * linear(c.green) + 0.0722 * linear(c.blue);
}

/* Numbers can be read on every colour of the scale, and the scale only rises or falls. */
static void test_map_colours(void) {
  for (int dark = 0; dark < 2; dark++) {
    double last = NAN;
    for (int i = 0; i <= 200; i++) {
      const GdkRGBA cell = tm_confusion_colour(i / 200.0, dark), text = tm_confusion_text(&cell);
      const double a = luminance(cell), b = luminance(text);
      g_assert_cmpfloat((MAX(a, b) + 0.05) / (MIN(a, b) + 0.05), >=, 4.5);
      if (!isnan(last)) g_assert_true(dark ? a >= last - 1e-9 : a <= last + 1e-9);
      last = a;
    }
  }
}

static void test_table(void) {
  g_autoptr(TmClassTable) t = three();
  g_autoptr(TmConfusion) c = numbers();
  TmConfusionTable *table = g_object_ref_sink(TM_CONFUSION_TABLE(tm_confusion_table_new()));
  tm_confusion_table_set(table, c, t);
  g_autofree char *csv = tm_confusion_table_csv(table);
  g_assert_cmpstr(csv, ==,
                  "truth,called,pixels,share_of_truth\nPavement,Road,50,0.25\nRoad,Pavement,10,0.01\n"
                  "Road,Road,990,0.99\nPavement,Pavement,150,0.75\n");
  g_object_unref(table);
}

static void test_bars(void) {
  TmScoreBars *b = g_object_ref_sink(TM_SCORE_BARS(tm_score_bars_new("IoU by class")));
  const TmScoreRow rows[] = {{"Road", 0x59348e, 0.939, 0.916, NULL},
                             {"Pole", 0xdaf7b6, 0.122, 0.2, NULL},
                             {"Sign", 0xf7dc13, NAN, 0.5, "not in this split"},
                             {"Car", 0x4b5de6, 0.5, NAN, NULL}};
  tm_score_bars_set(b, rows, G_N_ELEMENTS(rows));
  g_autofree char *text = tm_score_bars_describe(b);
  g_assert_cmpstr(text, ==, "Road 0.939, up 0.023; Pole 0.122, down 0.078; Sign not in this split; Car 0.500");
  gtk_test_accessible_assert_role(b, GTK_ACCESSIBLE_ROLE_IMG);
  tm_score_bars_set(b, rows, 0);
  g_object_unref(b);
}

static GdkPaintable *picture_of(GtkWidget *w) {
  return gtk_widget_paintable_new(w);
}

/* All of them draw, empty and full, small and large, without a complaint. */
static void test_drawn(void) {
  g_autoptr(TmClassTable) t = three();
  g_autoptr(TmConfusion) c = numbers();
  TmReliabilityBin bins[TM_RELIABILITY_BINS] = {{0}};
  for (guint i = 0; i < TM_RELIABILITY_BINS; i += 2) bins[i] = (TmReliabilityBin){100, 60 + i, 100 * (i + 0.5) / TM_RELIABILITY_BINS};
  GtkWidget *window = gtk_window_new(), *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
  TmConfusionMap *m = TM_CONFUSION_MAP(tm_confusion_map_new());
  TmScoreBars *b = TM_SCORE_BARS(tm_score_bars_new("IoU"));
  TmReliabilityPlot *r = TM_RELIABILITY_PLOT(tm_reliability_plot_new());
  gtk_box_append(GTK_BOX(box), GTK_WIDGET(m));
  gtk_box_append(GTK_BOX(box), GTK_WIDGET(b));
  gtk_box_append(GTK_BOX(box), GTK_WIDGET(r));
  gtk_box_append(GTK_BOX(box), tm_error_tile_new("p1", "IoU 0.5", t, 1, 0));
  gtk_window_set_child(GTK_WINDOW(window), box);
  gtk_window_present(GTK_WINDOW(window));
  for (int k = 0; k < 3; k++) {
    const TmScoreRow row = {"Road", 0x59348e, 0.9, 0.8, NULL};
    tm_confusion_map_set(m, k ? c : NULL, k ? t : NULL);
    tm_confusion_map_set_compact(m, k == 2);
    tm_score_bars_set(b, &row, k ? 1 : 0);
    tm_reliability_plot_set(r, k ? bins : NULL);
    const gint64 end = g_get_monotonic_time() + 300000;
    while (g_get_monotonic_time() < end) g_main_context_iteration(NULL, FALSE);
    g_autoptr(GdkPaintable) p = picture_of(box);
    GtkSnapshot *s = gtk_snapshot_new();
    gdk_paintable_snapshot(p, s, 400, 400);
    g_autoptr(GskRenderNode) node = gtk_snapshot_free_to_node(s);
    g_assert_nonnull(node);
  }
  gtk_window_destroy(GTK_WINDOW(window));
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  if (!gtk_init_check()) {
    g_print("1..0 # SKIP no display\n");
    return 0;
  }
  adw_init();
  g_test_add_func("/ui/scores/map", test_map);
  g_test_add_func("/ui/scores/map-colours", test_map_colours);
  g_test_add_func("/ui/scores/table", test_table);
  g_test_add_func("/ui/scores/bars", test_bars);
  g_test_add_func("/ui/scores/drawn", test_drawn);
  return g_test_run();
}
