#include "app/side_by_side.h"

#include <glib/gi18n.h>

#include "ui/mask_view.h"
#include "ui/thumbs.h"

enum { SIDE = 2048, WIDTH = 1100, HEIGHT = 560 };

/* Kept with the window. */
typedef struct {
  TmThumbs *pictures;
  TmMaskView *view[2];
} Pair;

static void pair_free(gpointer data) {
  Pair *p = data;
  tm_thumbs_free(p->pictures);
  g_free(p);
}

static void ready(guint entry, TmScene *scene, const GError *error, gpointer user) {
  (void)entry;
  TmMaskView *v = user;
  if (error) tm_mask_view_set_placeholder(v, error->message);
  tm_mask_view_set_scene(v, scene);
}

static GtkWidget *column(Pair *p, int place, TmDataset *d, guint entry, TmViewRole role) {
  static const char *const splits[] = {N_("Training"), N_("Validation"), N_("Test")};
  const TmEntry *e = tm_dataset_entry(d, entry);
  g_autofree char *text = g_strdup_printf("%s · %s", e->name, _(splits[e->split]));
  GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6), *label = gtk_label_new(text);
  gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_MIDDLE);
  gtk_widget_add_css_class(label, "tm-small");
  p->view[place] = TM_MASK_VIEW(tm_mask_view_new(role, e->name));
  gtk_widget_set_vexpand(GTK_WIDGET(p->view[place]), TRUE);
  gtk_widget_set_hexpand(GTK_WIDGET(p->view[place]), TRUE);
  gtk_box_append(GTK_BOX(box), GTK_WIDGET(p->view[place]));
  gtk_box_append(GTK_BOX(box), label);
  guint id;
  g_autoptr(TmScene) kept = tm_thumbs_request(p->pictures, entry, ready, p->view[place], &id);
  if (kept) tm_mask_view_set_scene(p->view[place], kept);
  return box;
}

void tm_side_by_side_present(GtkWindow *parent, TmDataset *d, guint entry, guint other) {
  Pair *p = g_new0(Pair, 1);
  p->pictures = tm_thumbs_new(d, SIDE, (gsize)SIDE * SIDE * 8);
  GtkWidget *window = adw_window_new(), *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0),
            *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
  gtk_box_set_homogeneous(GTK_BOX(row), TRUE);
  gtk_widget_add_css_class(row, "tm-page");
  const gboolean one = other == G_MAXUINT;
  gtk_box_append(GTK_BOX(row), column(p, 0, d, entry, one ? TM_VIEW_INPUT : TM_VIEW_TRUTH));
  gtk_box_append(GTK_BOX(row), column(p, 1, d, one ? entry : other, TM_VIEW_TRUTH));
  gtk_box_append(GTK_BOX(box), adw_header_bar_new());
  gtk_box_append(GTK_BOX(box), row);
  adw_window_set_content(ADW_WINDOW(window), box);
  gtk_window_set_title(GTK_WINDOW(window),
                       one ? tm_dataset_entry(d, entry)->name : _("Two pictures that look alike"));
  gtk_window_set_default_size(GTK_WINDOW(window), WIDTH, HEIGHT);
  gtk_window_set_transient_for(GTK_WINDOW(window), parent);
  gtk_window_set_destroy_with_parent(GTK_WINDOW(window), TRUE);
  g_object_set_data_full(G_OBJECT(window), "pair", p, pair_free);
  GtkEventController *keys = gtk_shortcut_controller_new();
  gtk_shortcut_controller_add_shortcut(
      GTK_SHORTCUT_CONTROLLER(keys),
      gtk_shortcut_new(gtk_keyval_trigger_new(GDK_KEY_Escape, 0), gtk_named_action_new("window.close")));
  gtk_widget_add_controller(window, keys);
  gtk_window_present(GTK_WINDOW(window));
}
