#include "app/project_card.h"

#include <glib/gi18n.h>

#include "ui/mask_view.h"
#include "ui/thumbs.h"
#include "ui/words.h"

struct _TmProjectCard {
  GtkBox parent;
  GtkWidget *button, *title, *subtitle;
  TmMaskView *picture;
  TmProject *project;
  TmDataset *shown; /* only compared */
  TmThumbs *thumbs;
};

G_DEFINE_FINAL_TYPE(TmProjectCard, tm_project_card, GTK_TYPE_BOX)

static void thumb_ready(guint entry, TmScene *scene, const GError *error, gpointer user) {
  (void)entry;
  (void)error;
  tm_mask_view_set_scene(TM_PROJECT_CARD(user)->picture, scene);
}

static void show_picture(TmProjectCard *c, TmDataset *d) {
  if (d == c->shown) return;
  c->shown = d;
  tm_mask_view_set_scene(c->picture, NULL);
  g_clear_pointer(&c->thumbs, tm_thumbs_free);
  if (!d || !tm_dataset_n(d)) return;
  c->thumbs = tm_thumbs_new(d, 96, 1 << 20);
  guint id;
  g_autoptr(TmScene) kept G_GNUC_UNUSED = tm_thumbs_request(c->thumbs, 0, thumb_ready, c, &id);
}

static void changed(TmProjectCard *c) {
  TmDataset *d = tm_project_dataset(c->project);
  const char *title = d ? tm_dataset_title(d) : _("No dataset");
  gtk_label_set_label(GTK_LABEL(c->title), title);
  g_autofree char *n = d ? tm_words_count(tm_dataset_n(d)) : NULL;
  guint classes = d ? tm_dataset_classes(d)->n : 0;
  g_autofree char *text =
      d ? g_strdup_printf(ngettext("%s pictures · %u class", "%s pictures · %u classes", classes), n, classes)
        : g_strdup(tm_project_state(c->project) == TM_PROJECT_OPENING ? _("Opening…") : _("Open a folder"));
  gtk_label_set_label(GTK_LABEL(c->subtitle), text);
  g_autofree char *name = g_strdup_printf(_("Project %s, %s"), title, text);
  gtk_accessible_update_property(GTK_ACCESSIBLE(c->button), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  show_picture(c, d);
}

void tm_project_card_set_project(TmProjectCard *c, TmProject *project, GMenuModel *menu) {
  g_assert(!c->project);
  c->project = g_object_ref(project);
  g_signal_connect_swapped(project, "changed", G_CALLBACK(changed), c);
  gtk_menu_button_set_menu_model(GTK_MENU_BUTTON(c->button), menu);
  changed(c);
}

static void dispose(GObject *o) {
  TmProjectCard *c = TM_PROJECT_CARD(o);
  g_clear_pointer(&c->thumbs, tm_thumbs_free);
  if (c->project) g_signal_handlers_disconnect_by_data(c->project, c);
  g_clear_object(&c->project);
  G_OBJECT_CLASS(tm_project_card_parent_class)->dispose(o);
}

static void tm_project_card_class_init(TmProjectCardClass *c) {
  G_OBJECT_CLASS(c)->dispose = dispose;
}

static GtkWidget *line(void) {
  GtkWidget *label = gtk_label_new(NULL);
  gtk_label_set_xalign(GTK_LABEL(label), 0);
  gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
  return label;
}

static GtkWidget *make_words(TmProjectCard *c) {
  GtkWidget *words = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
  gtk_widget_set_valign(words, GTK_ALIGN_CENTER);
  gtk_widget_set_hexpand(words, TRUE);
  c->title = line();
  gtk_widget_add_css_class(c->title, "tm-small");
  gtk_widget_add_css_class(c->title, "tm-strong");
  c->subtitle = line();
  gtk_widget_add_css_class(c->subtitle, "tm-tiny");
  gtk_widget_add_css_class(c->subtitle, "tm-dim");
  gtk_widget_add_css_class(c->subtitle, "numeric");
  gtk_box_append(GTK_BOX(words), c->title);
  gtk_box_append(GTK_BOX(words), c->subtitle);
  return words;
}

static void tm_project_card_init(TmProjectCard *c) {
  GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 10);
  c->picture = TM_MASK_VIEW(tm_mask_view_new(TM_VIEW_TRUTH, _("First picture")));
  tm_mask_view_set_width(c->picture, 40);
  gtk_widget_set_focusable(GTK_WIDGET(c->picture), FALSE);
  gtk_widget_set_valign(GTK_WIDGET(c->picture), GTK_ALIGN_CENTER);
  gtk_box_append(GTK_BOX(box), GTK_WIDGET(c->picture));
  gtk_box_append(GTK_BOX(box), make_words(c));
  gtk_box_append(GTK_BOX(box), gtk_image_new_from_icon_name("pan-down-symbolic"));
  c->button = gtk_menu_button_new();
  gtk_menu_button_set_child(GTK_MENU_BUTTON(c->button), box);
  gtk_widget_set_halign(gtk_widget_get_parent(box), GTK_ALIGN_FILL); /* a menu button centres its child */
  gtk_widget_set_hexpand(c->button, TRUE);
  gtk_widget_set_tooltip_text(c->button, _("Open another dataset (Ctrl+O)"));
  gtk_widget_add_css_class(c->button, "flat");
  gtk_widget_set_margin_start(c->button, 6);
  gtk_widget_set_margin_end(c->button, 6);
  gtk_box_append(GTK_BOX(c), c->button);
}
