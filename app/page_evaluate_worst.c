/* page_evaluate_worst.c: the pictures with the worst scores, or those that hold a mistake, each predicted when it comes
 * into view. */
#include <glib/gi18n.h>
#include <math.h>

#include "app/look_window.h"
#include "app/page_evaluate_private.h"
#include "engine/core/label.h"
#include "ui/error_tile.h"
#include "ui/words.h"

enum { SIDE = 224 };

/* A picture and what it is sorted by. */
typedef struct {
  const TmPictureScore *score;
  double key; /* the least first */
} Place;

static int by_key(gconstpointer a, gconstpointer b) {
  const double x = ((const Place *)a)->key, y = ((const Place *)b)->key;
  return x < y ? -1 : x > y;
}

/* The class whose pictures are asked for; the worst one until one was chosen. */
static guint chosen_class(TmPageEvaluate *p) {
  const TmConfusion *c = p->shown->confusion;
  if (p->worst_class < c->n) return p->worst_class;
  guint worst = 0;
  double least = INFINITY;
  for (guint i = 0; i < c->n; i++)
    if (tm_confusion_iou(c, i) < least) {
      least = tm_confusion_iou(c, i);
      worst = i;
    }
  return worst;
}

static double key_of(TmPageEvaluate *p, const TmPictureScore *s, guint order, guint class) {
  if (p->by_cell) {
    const guint64 pixels = tm_picture_pixels(s, p->truth, p->call);
    return pixels ? -(double)pixels : NAN;
  }
  return order == 1   ? s->boundary_f1
         : order == 2 ? tm_picture_class_iou(s, class)
                      : tm_picture_miou(s, p->shown->classes->n);
}

static GArray *sorted(TmPageEvaluate *p, guint order, guint class) {
  GArray *places = g_array_new(FALSE, FALSE, sizeof(Place));
  for (guint i = 0; i < p->shown->pictures->len; i++) {
    const TmPictureScore *s = p->shown->pictures->pdata[i];
    const double key = key_of(p, s, order, class);
    if (!isnan(key)) g_array_append_vals(places, &(Place){s, key}, 1);
  }
  g_array_sort(places, by_key);
  return places;
}

static void ready(TmScene *scene, const GError *error, gpointer user) {
  TmErrorTile *tile = user;
  if (scene)
    tm_error_tile_set_scene(tile, scene);
  else if (error)
    gtk_widget_set_tooltip_text(GTK_WIDGET(tile), error->message);
}

static void clicked(GtkWidget *tile, TmPageEvaluate *p) {
  const guint entry = GPOINTER_TO_UINT(g_object_get_data(G_OBJECT(tile), "entry"));
  const TmRunInfo *chosen = tm_page_evaluate_chosen(p), *compared = p->other ? tm_page_evaluate_compared(p) : NULL;
  GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(p));
  if (!chosen || !p->dataset || entry >= tm_dataset_n(p->dataset)) return;
  tm_look_window_show(GTK_IS_WINDOW(root) ? GTK_WINDOW(root) : NULL, p->evaluator, p->dataset, entry, chosen->path,
                      tm_page_evaluate_match(p), compared ? compared->path : NULL,
                      compared ? compared->name : NULL);
}

static char *score_words(TmPageEvaluate *p, const TmPictureScore *s, guint order, guint class) {
  if (p->by_cell) {
    g_autofree char *pixels = tm_words_count(tm_picture_pixels(s, p->truth, p->call));
    return g_strdup_printf(_("%s px"), pixels);
  }
  const double v = key_of(p, s, order, class);
  return order == 1 ? g_strdup_printf(_("F1 %.2f"), v) : g_strdup_printf(_("IoU %.2f"), v);
}

static void add_tile(TmPageEvaluate *p, const TmPictureScore *s, guint order, guint class) {
  TmCell worst = {.truth = TM_VOID, .call = TM_VOID};
  if (p->by_cell)
    worst = (TmCell){(guint8)p->truth, (guint8)p->call, 1};
  else if (!tm_picture_mistake(s, &worst))
    worst.call = TM_VOID;
  g_autofree char *score = score_words(p, s, order, class);
  GtkWidget *tile = tm_error_tile_new(s->name, score, p->shown->classes, worst.truth, worst.call);
  g_object_set_data(G_OBJECT(tile), "entry", GUINT_TO_POINTER(s->entry));
  g_signal_connect(tile, "clicked", G_CALLBACK(clicked), p);
  gtk_flow_box_insert(GTK_FLOW_BOX(p->worst), tile, -1);
  gtk_widget_set_focusable(gtk_widget_get_parent(tile), FALSE);
  const TmRunInfo *chosen = tm_page_evaluate_chosen(p);
  if (chosen && p->dataset && s->entry < tm_dataset_n(p->dataset))
    tm_evaluator_look(p->evaluator, chosen->path, p->dataset, s->entry, SIDE, tm_page_evaluate_match(p), ready, tile);
}

static char *title_of(TmPageEvaluate *p, guint n) {
  const TmClassTable *t = p->shown->classes;
  g_autofree char *count = tm_words_count(n);
  if (p->by_cell)
    return g_strdup_printf(ngettext("%s picture with %s called %s", "%s pictures with %s called %s", n), count,
                           t->classes[p->truth].name, t->classes[p->call].name);
  return g_strdup(_("prediction and errors"));
}

void tm_page_evaluate_show_worst(TmPageEvaluate *p) {
  /* Tiles that go must not be told any more. */
  tm_evaluator_cancel_looks(p->evaluator);
  for (GtkWidget *child; (child = gtk_widget_get_first_child(p->worst));)
    gtk_flow_box_remove(GTK_FLOW_BOX(p->worst), child);
  gtk_widget_set_visible(p->all_pictures, p->by_cell);
  gtk_widget_set_visible(p->worst_order, !p->by_cell);
  gtk_widget_set_visible(p->more_pictures, FALSE);
  if (!p->shown) {
    gtk_label_set_label(GTK_LABEL(p->worst_words), _("known once the network is scored"));
    return;
  }
  const guint order = gtk_drop_down_get_selected(GTK_DROP_DOWN(p->worst_order)), class = chosen_class(p);
  g_autoptr(GArray) places = sorted(p, order, class);
  g_autofree char *title = !p->by_cell && order == 2
                               ? g_strdup_printf(_("by IoU of %s"), p->shown->classes->classes[class].name)
                               : title_of(p, places->len);
  gtk_label_set_label(GTK_LABEL(p->worst_words), title);
  const guint n = MIN(places->len, p->n_pictures);
  for (guint i = 0; i < n; i++) add_tile(p, g_array_index(places, Place, i).score, order, class);
  if (places->len <= n) return;
  g_autofree char *left = tm_words_count(places->len - n), *more = g_strdup_printf(_("Show More (%s Left)"), left);
  gtk_button_set_label(GTK_BUTTON(p->more_pictures), more);
  gtk_widget_set_visible(p->more_pictures, TRUE);
}
