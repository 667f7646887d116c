#include "app/look_window.h"

#include <adwaita.h>
#include <glib/gi18n.h>

#include "ui/mask_view.h"

enum { MOST = 6, SIDE = 1600 };

/* Lives as long as its window. */
typedef struct {
  GtkWidget *window, *grid;
  TmEvaluator *evaluator;
  TmMaskView *view[MOST];
  guint look[2];
} LookWindow;

static void free_window(gpointer data) {
  LookWindow *w = data;
  for (int i = 0; i < 2; i++)
    if (w->look[i]) tm_evaluator_cancel_look(w->evaluator, w->look[i]);
  g_object_unref(w->evaluator);
  g_free(w);
}

static TmMaskView *add_view(LookWindow *w, int place, TmViewRole role, const char *title) {
  GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 4), *label = gtk_label_new(title);
  TmMaskView *v = TM_MASK_VIEW(tm_mask_view_new(role, title));
  gtk_label_set_xalign(GTK_LABEL(label), 0);
  gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_MIDDLE);
  gtk_widget_add_css_class(label, "tm-small");
  gtk_widget_set_hexpand(GTK_WIDGET(v), TRUE);
  gtk_widget_set_vexpand(GTK_WIDGET(v), TRUE);
  tm_mask_view_set_placeholder(v, _("Predicting…"));
  gtk_box_append(GTK_BOX(box), label);
  gtk_box_append(GTK_BOX(box), GTK_WIDGET(v));
  gtk_grid_attach(GTK_GRID(w->grid), box, place % 2, place / 2, 1, 1);
  return w->view[place] = v;
}

static void show(LookWindow *w, int from, int to, TmScene *scene, const GError *error) {
  for (int i = from; i < to; i++) {
    if (!w->view[i]) continue;
    if (error) tm_mask_view_set_placeholder(w->view[i], error->message);
    tm_mask_view_set_scene(w->view[i], scene);
  }
}

static void first_ready(TmScene *scene, const GError *error, gpointer user) {
  LookWindow *w = user;
  w->look[0] = 0;
  show(w, 0, 4, scene, error);
}

static void second_ready(TmScene *scene, const GError *error, gpointer user) {
  LookWindow *w = user;
  w->look[1] = 0;
  show(w, 4, MOST, scene, error);
}

static gboolean escape(GtkWidget *window, GVariant *args, gpointer user) {
  (void)args;
  (void)user;
  gtk_window_close(GTK_WINDOW(window));
  return TRUE;
}

static void make_window(LookWindow *w, GtkWindow *parent, const char *title) {
  w->window = adw_window_new();
  GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
  w->grid = gtk_grid_new();
  gtk_grid_set_row_spacing(GTK_GRID(w->grid), 10);
  gtk_grid_set_column_spacing(GTK_GRID(w->grid), 12);
  gtk_grid_set_row_homogeneous(GTK_GRID(w->grid), TRUE);
  gtk_grid_set_column_homogeneous(GTK_GRID(w->grid), TRUE);
  gtk_widget_add_css_class(w->grid, "tm-page");
  gtk_box_append(GTK_BOX(box), adw_header_bar_new());
  gtk_box_append(GTK_BOX(box), w->grid);
  adw_window_set_content(ADW_WINDOW(w->window), box);
  gtk_window_set_title(GTK_WINDOW(w->window), title);
  gtk_window_set_transient_for(GTK_WINDOW(w->window), parent);
  gtk_window_set_modal(GTK_WINDOW(w->window), TRUE);
  gtk_window_set_default_size(GTK_WINDOW(w->window), 1000, 780);
  GtkEventController *keys = gtk_shortcut_controller_new();
  gtk_shortcut_controller_add_shortcut(
      GTK_SHORTCUT_CONTROLLER(keys),
      gtk_shortcut_new(gtk_shortcut_trigger_parse_string("Escape"), gtk_callback_action_new(escape, NULL, NULL)));
  gtk_widget_add_controller(w->window, keys);
}

void tm_look_window_show(GtkWindow *parent, TmEvaluator *e, TmDataset *d, guint entry, const char *network,
                         const guint8 *match, const char *other, const char *other_name) {
  LookWindow *w = g_new0(LookWindow, 1);
  w->evaluator = g_object_ref(e);
  make_window(w, parent, tm_dataset_entry(d, entry)->name);
  add_view(w, 0, TM_VIEW_INPUT, _("Picture"));
  add_view(w, 1, TM_VIEW_TRUTH, _("Truth"));
  add_view(w, 2, TM_VIEW_PREDICTION, _("Prediction"));
  add_view(w, 3, TM_VIEW_ERRORS, _("Errors"));
  w->look[0] = tm_evaluator_look(e, network, d, entry, SIDE, match, first_ready, w);
  if (other) {
    g_autofree char *prediction = g_strdup_printf(_("Prediction of %s"), other_name),
                    *errors = g_strdup_printf(_("Errors of %s"), other_name);
    add_view(w, 4, TM_VIEW_PREDICTION, prediction);
    add_view(w, 5, TM_VIEW_ERRORS, errors);
    w->look[1] = tm_evaluator_look(e, other, d, entry, SIDE, NULL, second_ready, w);
  }
  g_object_set_data_full(G_OBJECT(w->window), "look", w, free_window);
  gtk_window_present(GTK_WINDOW(w->window));
}
