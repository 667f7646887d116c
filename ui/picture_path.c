#include "ui/picture_path.h"

#include <glib/gi18n.h>
#include <math.h>

#include "ui/viz.h"
#include "ui/words.h"

struct _TmPicturePath {
  GtkBox parent;
  GtkWidget *choice;
  GtkWidget *row[TM_N_VIZ], *pill[TM_N_VIZ], *mark[TM_N_VIZ];
};

static const char *const names[TM_N_VIZ] = {N_("CUDA–OpenGL interop"), N_("Pinned copy"),
                                            N_("OpenGL pixel buffer"), N_("Memory texture")};

G_DEFINE_FINAL_TYPE(TmPicturePath, tm_picture_path, GTK_TYPE_BOX)

static void tm_picture_path_class_init(TmPicturePathClass *c) {
  (void)c;
}

static void chosen(TmPicturePath *p) {
  const guint place = gtk_drop_down_get_selected(GTK_DROP_DOWN(p->choice));
  tm_viz_begin_at(place == 0 || place > TM_N_VIZ ? TM_VIZ_INTEROP : (TmVizRung)(place - 1));
  tm_picture_path_update(p);
}

static void add_row(TmPicturePath *p, GtkWidget *list, TmVizRung rung) {
  GtkWidget *row = adw_action_row_new(), *pill = gtk_label_new(_("In use"));
  adw_preferences_row_set_use_markup(ADW_PREFERENCES_ROW(row), FALSE);
  adw_preferences_row_set_title(ADW_PREFERENCES_ROW(row), _(names[rung]));
  gtk_accessible_reset_relation(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_RELATION_LABELLED_BY); /* its title alone */
  p->mark[rung] = gtk_image_new();
  gtk_widget_add_css_class(pill, "tm-pill");
  gtk_widget_set_valign(pill, GTK_ALIGN_CENTER);
  adw_action_row_add_prefix(ADW_ACTION_ROW(row), p->mark[rung]);
  adw_action_row_add_suffix(ADW_ACTION_ROW(row), pill);
  gtk_list_box_append(GTK_LIST_BOX(list), row);
  p->row[rung] = row;
  p->pill[rung] = pill;
}

static void tm_picture_path_init(TmPicturePath *p) {
  gtk_orientable_set_orientation(GTK_ORIENTABLE(p), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing(GTK_BOX(p), 8);
  GtkWidget *head = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8), *title = gtk_label_new(_("Picture path")),
            *list = gtk_list_box_new();
  const char *const choices[] = {_("Automatic"), _("Interop"), _("Pinned copy"),
                                 _("OpenGL"),    _("Memory"),  NULL};
  gtk_label_set_xalign(GTK_LABEL(title), 0);
  gtk_widget_set_hexpand(title, TRUE);
  gtk_widget_add_css_class(title, "tm-h2");
  p->choice = gtk_drop_down_new_from_strings(choices);
  gtk_widget_set_tooltip_text(p->choice,
                              _("The rung to begin at; one that does not work here is left for the next"));
  gtk_accessible_update_property(GTK_ACCESSIBLE(p->choice), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Picture path"),
                                 -1);
  g_signal_connect_swapped(p->choice, "notify::selected", G_CALLBACK(chosen), p);
  gtk_box_append(GTK_BOX(head), title);
  gtk_box_append(GTK_BOX(head), p->choice);
  gtk_list_box_set_selection_mode(GTK_LIST_BOX(list), GTK_SELECTION_NONE);
  gtk_widget_add_css_class(list, "boxed-list");
  gtk_widget_add_css_class(list, "tm-slim");
  gtk_accessible_update_property(GTK_ACCESSIBLE(list), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Picture path"), -1);
  for (int i = 0; i < TM_N_VIZ; i++) add_row(p, list, (TmVizRung)i);
  gtk_box_append(GTK_BOX(p), head);
  gtk_box_append(GTK_BOX(p), list);
}

GtkWidget *tm_picture_path_new(void) {
  TmPicturePath *p = g_object_new(TM_TYPE_PICTURE_PATH, NULL);
  tm_picture_path_update(p);
  return GTK_WIDGET(p);
}

static char *state_of(TmVizRung rung, TmVizRung used) {
  const char *const what[TM_N_VIZ] = {_("Masks stay on the GPU"), _("One copy from the GPU"),
                                      _("Drawn by the processor, shown by OpenGL"),
                                      _("Works everywhere, without OpenGL")};
  const char *reason = tm_viz_reason(rung);
  if (rung < used && reason) return g_strdup(reason);
  const double seconds = rung == used ? tm_viz_frame_time() : NAN;
  if (isnan(seconds)) return g_strdup(what[rung]);
  g_autofree char *span = tm_words_span(seconds);
  return g_strdup_printf(_("%s · %s a frame"), what[rung], span);
}

void tm_picture_path_update(TmPicturePath *p) {
  const TmVizRung used = tm_viz_rung();
  for (int i = 0; i < TM_N_VIZ; i++) {
    g_autofree char *state = state_of((TmVizRung)i, used);
    const gboolean on = i == (int)used;
    adw_action_row_set_subtitle(ADW_ACTION_ROW(p->row[i]), state);
    gtk_widget_set_visible(p->pill[i], on);
    gtk_image_set_from_icon_name(GTK_IMAGE(p->mark[i]), on ? "radio-checked-symbolic" : "radio-symbolic");
    g_autofree char *name =
        g_strdup_printf(on ? _("%s, in use, %s") : _("%s, not in use, %s"), _(names[i]), state);
    gtk_accessible_update_property(GTK_ACCESSIBLE(p->row[i]), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  }
}
