#include "ui/drop_area.h"

#include <glib/gi18n.h>

struct _TmDropArea {
  GtkWidget parent;
  GtkWidget *box, *title, *detail;
};

enum { DROPPED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(TmDropArea, tm_drop_area, GTK_TYPE_WIDGET)

void tm_drop_area_set_state(TmDropArea *a, TmDropState state) {
  static const char *const titles[] = {N_("Drop a dataset folder here"), N_("Let go to open"),
                                       N_("This is not a folder")};
  static const char *const css[] = {NULL, "ready", "refused"};
  gtk_label_set_label(GTK_LABEL(a->title), _(titles[state]));
  for (int i = TM_DROP_READY; i <= TM_DROP_REFUSED; i++) gtk_widget_remove_css_class(GTK_WIDGET(a), css[i]);
  if (css[state]) gtk_widget_add_css_class(GTK_WIDGET(a), css[state]);
}

char *tm_drop_area_folder(GdkFileList *files) {
  GSList *list = gdk_file_list_get_files(files);
  g_autofree char *path = list ? g_file_get_path(list->data) : NULL;
  g_slist_free(list);
  return path && g_file_test(path, G_FILE_TEST_IS_DIR) ? g_steal_pointer(&path) : NULL;
}

static void held(GtkDropTarget *target, GParamSpec *ps, TmDropArea *a) {
  (void)ps;
  const GValue *v = gtk_drop_target_get_value(target);
  if (!v || !G_VALUE_HOLDS(v, GDK_TYPE_FILE_LIST)) {
    tm_drop_area_set_state(a, TM_DROP_IDLE);
    return;
  }
  g_autofree char *folder = tm_drop_area_folder(g_value_get_boxed(v));
  tm_drop_area_set_state(a, folder ? TM_DROP_READY : TM_DROP_REFUSED);
}

static gboolean dropped(GtkDropTarget *target, const GValue *v, double x, double y, TmDropArea *a) {
  (void)target;
  (void)x;
  (void)y;
  tm_drop_area_set_state(a, TM_DROP_IDLE);
  g_autofree char *folder = tm_drop_area_folder(g_value_get_boxed(v));
  if (folder) g_signal_emit(a, signals[DROPPED], 0, folder);
  return folder != NULL;
}

void tm_drop_area_listen(TmDropArea *a, GtkWidget *widget) {
  GtkDropTarget *target = gtk_drop_target_new(GDK_TYPE_FILE_LIST, GDK_ACTION_COPY);
  gtk_drop_target_set_preload(target, TRUE); /* what is held is known before it is let go */
  g_signal_connect_object(target, "notify::value", G_CALLBACK(held), a, 0);
  g_signal_connect_object(target, "drop", G_CALLBACK(dropped), a, 0);
  gtk_widget_add_controller(widget, GTK_EVENT_CONTROLLER(target));
}

static void dispose(GObject *o) {
  g_clear_pointer(&TM_DROP_AREA(o)->box, gtk_widget_unparent);
  G_OBJECT_CLASS(tm_drop_area_parent_class)->dispose(o);
}

static void tm_drop_area_class_init(TmDropAreaClass *c) {
  G_OBJECT_CLASS(c)->dispose = dispose;
  gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(c), GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_css_name(GTK_WIDGET_CLASS(c), "droparea");
  gtk_widget_class_set_accessible_role(GTK_WIDGET_CLASS(c), GTK_ACCESSIBLE_ROLE_GROUP);
  signals[DROPPED] = g_signal_new("dropped", TM_TYPE_DROP_AREA, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                  G_TYPE_NONE, 1, G_TYPE_STRING);
}

static GtkWidget *line(TmDropArea *a, const char *text, const char *css) {
  GtkWidget *l = gtk_label_new(text);
  gtk_label_set_wrap(GTK_LABEL(l), TRUE);
  gtk_label_set_justify(GTK_LABEL(l), GTK_JUSTIFY_CENTER);
  gtk_widget_add_css_class(l, css);
  gtk_box_append(GTK_BOX(a->box), l);
  return l;
}

static void tm_drop_area_init(TmDropArea *a) {
  a->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
  gtk_widget_set_valign(a->box, GTK_ALIGN_CENTER);
  gtk_widget_set_parent(a->box, GTK_WIDGET(a));
  GtkWidget *icon = gtk_image_new_from_icon_name("folder-open-symbolic");
  gtk_image_set_pixel_size(GTK_IMAGE(icon), 40);
  gtk_widget_add_css_class(icon, "tm-dim");
  gtk_box_append(GTK_BOX(a->box), icon);
  a->title = line(a, NULL, "tm-h2");
  a->detail = line(a, _("Pictures and masks in any layout: CamVid, Cityscapes, or two folders"), "tm-small");
  gtk_widget_add_css_class(a->detail, "tm-dim");
  gtk_accessible_update_property(GTK_ACCESSIBLE(a), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                 _("Drop area for a dataset folder"), -1);
  tm_drop_area_set_state(a, TM_DROP_IDLE);
}

GtkWidget *tm_drop_area_new(void) {
  return g_object_new(TM_TYPE_DROP_AREA, NULL);
}
