#include "ui/plan_view.h"

#include <glib/gi18n.h>
#include <math.h>

#include "ui/ink.h"
#include "ui/words.h"

enum { BAR_H = 9, N_PARTS = 3 };

struct _TmPlanView {
  GtkBox parent;
  GtkWidget *amount, *bar, *parts, *time, *layers, *table;
  double share[N_PARTS]; /* of the room */
  gboolean tight;
};

G_DEFINE_FINAL_TYPE(TmPlanView, tm_plan_view, GTK_TYPE_BOX)

static void draw(GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer user) {
  TmPlanView *v = user;
  const GdkRGBA ink = tm_ink(v->tight ? TM_INK_LOAD : TM_INK_TRAINING), well = tm_ink_text(GTK_WIDGET(area), 0.08);
  static const double shades[N_PARTS] = {1, 0.7, 0.4};
  tm_ink_set(cr, &well, 1);
  cairo_rectangle(cr, 0, 0, width, height);
  cairo_fill(cr);
  double x = 0;
  for (int i = 0; i < N_PARTS; i++) {
    const double w = fmin(v->share[i] * width, width - x);
    if (w <= 0) continue;
    tm_ink_set(cr, &ink, shades[i]);
    cairo_rectangle(cr, x, 0, fmax(w - 1, 1), height);
    cairo_fill(cr);
    x += w;
  }
}

/* ---- by layer ---- */

static void cell(GtkWidget *grid, int column, int row, const char *text, gboolean head) {
  GtkWidget *l = gtk_label_new(text);
  gtk_label_set_xalign(GTK_LABEL(l), column == 0 ? 0 : 1);
  gtk_widget_add_css_class(l, "tm-small");
  gtk_widget_add_css_class(l, head ? "tm-strong" : "numeric");
  gtk_grid_attach(GTK_GRID(grid), l, column, row, 1, 1);
}

static void fill_table(TmPlanView *v, const TmEstimate *e) {
  GtkWidget *grid = gtk_grid_new();
  gtk_grid_set_column_spacing(GTK_GRID(grid), 18);
  gtk_grid_set_row_spacing(GTK_GRID(grid), 3);
  static const char *const heads[] = {N_("Layer"), N_("Output"), N_("Parameters"), N_("Kept"), N_("Forward"), N_("Backward")};
  for (guint c = 0; c < G_N_ELEMENTS(heads); c++) cell(grid, (int)c, 0, _(heads[c]), TRUE);
  for (guint i = 0; i < e->n_layers; i++) {
    const TmEstimateLayer *l = &e->layers[i];
    g_autofree char *shape = g_strdup_printf("%d × %d × %d", l->shape.c, l->shape.h, l->shape.w), *n = tm_words_count(l->parameters),
                    *kept = tm_words_bytes((double)l->stored), *fw = tm_words_span(l->forward_s), *bw = tm_words_span(l->backward_s);
    const char *const cells[] = {l->name, shape, n, kept, fw, bw};
    for (guint c = 0; c < G_N_ELEMENTS(cells); c++) cell(grid, (int)c, (int)i + 1, cells[c], FALSE);
  }
  gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(v->table), grid);
}

/* ---- the view ---- */

static void tm_plan_view_class_init(TmPlanViewClass *c) { (void)c; }

static GtkWidget *small(GtkWidget *box, gboolean dim) {
  GtkWidget *l = gtk_label_new(NULL);
  gtk_label_set_xalign(GTK_LABEL(l), 0);
  gtk_label_set_wrap(GTK_LABEL(l), TRUE);
  gtk_widget_add_css_class(l, "tm-small");
  gtk_widget_add_css_class(l, "numeric");
  if (dim) gtk_widget_add_css_class(l, "tm-dim");
  gtk_box_append(GTK_BOX(box), l);
  return l;
}

static void tm_plan_view_init(TmPlanView *v) {
  gtk_orientable_set_orientation(GTK_ORIENTABLE(v), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing(GTK_BOX(v), 4);
  GtkWidget *head = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6), *title = gtk_label_new(_("Memory plan")),
            *popover = gtk_popover_new();
  gtk_widget_add_css_class(title, "tm-small");
  gtk_widget_add_css_class(title, "tm-strong");
  gtk_label_set_xalign(GTK_LABEL(title), 0);
  gtk_widget_set_hexpand(title, TRUE);
  gtk_box_append(GTK_BOX(head), title);
  gtk_box_append(GTK_BOX(v), head);
  v->amount = small(head, FALSE);
  v->bar = gtk_drawing_area_new();
  gtk_widget_set_size_request(v->bar, -1, BAR_H);
  gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(v->bar), draw, v, NULL);
  tm_ink_watch(v->bar);
  gtk_box_append(GTK_BOX(v), v->bar);
  v->parts = small(GTK_WIDGET(v), TRUE);
  v->time = small(GTK_WIDGET(v), TRUE);
  v->table = gtk_scrolled_window_new();
  gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(v->table), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_propagate_natural_height(GTK_SCROLLED_WINDOW(v->table), TRUE);
  gtk_scrolled_window_set_max_content_height(GTK_SCROLLED_WINDOW(v->table), 460);
  gtk_popover_set_child(GTK_POPOVER(popover), v->table);
  v->layers = gtk_menu_button_new();
  gtk_menu_button_set_label(GTK_MENU_BUTTON(v->layers), _("By Layer"));
  gtk_menu_button_set_popover(GTK_MENU_BUTTON(v->layers), popover);
  gtk_widget_set_halign(v->layers, GTK_ALIGN_START);
  gtk_widget_set_tooltip_text(v->layers, _("Memory and time of each layer"));
  gtk_box_append(GTK_BOX(v), v->layers);
  tm_plan_view_set(v, NULL, NULL, 0, 0);
}

GtkWidget *tm_plan_view_new(void) {
  return g_object_new(TM_TYPE_PLAN_VIEW, NULL);
}

static void show_none(TmPlanView *v, const char *why) {
  for (int i = 0; i < N_PARTS; i++) v->share[i] = 0;
  gtk_label_set_label(GTK_LABEL(v->amount), "–");
  gtk_label_set_label(GTK_LABEL(v->parts), why ? why : _("Being estimated"));
  gtk_label_set_label(GTK_LABEL(v->time), "");
  gtk_widget_set_visible(v->layers, FALSE);
  gtk_widget_queue_draw(v->bar);
}

void tm_plan_view_set(TmPlanView *v, const TmEstimate *e, const char *why, guint epochs, gsize room) {
  if (!e) {
    show_none(v, why);
    return;
  }
  const double rest = (double)e->memory - (double)e->weights - (double)e->activations,
               all = room ? (double)room : (double)e->memory * 1.25;
  const double parts[N_PARTS] = {(double)e->weights, (double)e->activations, fmax(rest, 0)};
  for (int i = 0; i < N_PARTS; i++) v->share[i] = parts[i] / all;
  v->tight = room && (double)e->memory > 0.9 * (double)room;
  g_autofree char *memory = tm_words_bytes((double)e->memory), *of = room ? tm_words_bytes((double)room) : NULL,
                  *amount = of ? g_strdup_printf(_("%s of %s"), memory, of) : g_strdup(memory);
  g_autofree char *weights = tm_words_bytes(parts[0]), *values = tm_words_bytes(parts[1]), *work = tm_words_bytes(parts[2]);
  g_autofree char *words = g_strdup_printf(_("weights %s · activations %s · the rest %s"), weights, values, work);
  g_autofree char *step = tm_words_span(e->step_s), *epoch = tm_words_span(e->epoch_s), *whole = tm_words_duration(e->epoch_s * epochs);
  g_autofree char *time = g_strdup_printf(ngettext("%s a step · %s an epoch · %u epoch in %s", "%s a step · %s an epoch · %u epochs in %s", epochs),
                                          step, epoch, epochs, whole);
  gtk_label_set_label(GTK_LABEL(v->amount), amount);
  gtk_label_set_label(GTK_LABEL(v->parts), words);
  gtk_label_set_label(GTK_LABEL(v->time), time);
  g_autofree char *told = g_strdup_printf("%s: %s", amount, words);
  gtk_accessible_update_property(GTK_ACCESSIBLE(v->bar), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Memory plan"),
                                 GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, told, -1);
  gtk_widget_set_visible(v->layers, TRUE);
  fill_table(v, e);
  gtk_widget_queue_draw(v->bar);
}
