#include "app/welcome.h"

#include <gdk/gdkkeysyms.h>
#include <glib/gi18n.h>

#include "app/project_words.h"
#include "ui/adaptive.h"
#include "ui/drop_area.h"
#include "ui/hero.h"

enum { MOST_RECENT = 8, THUMB_WIDTH = 56, THUMB_HEIGHT = 42 };

struct _TmWelcome {
  GtkBox parent;
  GtkWidget *header, *back, *menu, *narrow_bin, *medium_bin, *columns, *scroller, *column, *drop_bin,
      *buttons, *demo, *open, *error, *error_text, *note, *note_text, *recent_box, *other, *recent, *device,
      *device_text, *hero_bin;
  char *forgotten; /* path of the project that left the list last */
};

enum { OPEN, SAY, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(TmWelcome, tm_welcome, GTK_TYPE_BOX)

/* ---- the list of projects, read on a thread: it looks into every run ---- */

typedef struct {
  char *path, *title, *about, *age, *picture;
} Recent;

static void recent_free(gpointer data) {
  Recent *r = data;
  g_free(r->path);
  g_free(r->title);
  g_free(r->about);
  g_free(r->age);
  g_free(r->picture);
  g_free(r);
}

static void read_list(GTask *task, gpointer source, gpointer data, GCancellable *cancel) {
  (void)source;
  (void)data;
  (void)cancel;
  g_autoptr(GPtrArray) all = tm_project_file_list();
  GPtrArray *out = g_ptr_array_new_with_free_func(recent_free);
  for (guint i = 0; i < all->len && out->len < MOST_RECENT; i++) {
    const TmProjectFile *p = all->pdata[i];
    if (p->forgotten || !p->opened) continue;
    Recent *r = g_new0(Recent, 1);
    r->path = g_strdup(p->path);
    r->title = g_strdup(p->title);
    r->about = tm_project_words_about(p);
    r->age = tm_project_words_age(p->opened, g_get_real_time() / G_USEC_PER_SEC);
    r->picture = g_build_filename(p->folder, "picture.png", NULL);
    g_ptr_array_add(out, r);
  }
  g_task_return_pointer(task, out, (GDestroyNotify)g_ptr_array_unref);
}

static void forget(TmWelcome *w, const char *path) {
  g_autoptr(GError) error = NULL;
  g_autoptr(TmProjectFile) p = tm_project_file_open(path, &error);
  if (p) {
    p->forgotten = TRUE;
    if (tm_project_file_write(p, &error)) {
      g_free(w->forgotten);
      w->forgotten = g_strdup(path);
      g_autofree char *text = g_strdup_printf(_("“%s” left the list; its runs stay"), p->title);
      g_signal_emit(w, signals[SAY], 0, text);
    }
  }
  tm_welcome_set_error(w, error ? error->message : NULL);
  tm_welcome_refresh(w);
}

void tm_welcome_undo(TmWelcome *w) {
  g_autoptr(TmProjectFile) p = w->forgotten ? tm_project_file_open(w->forgotten, NULL) : NULL;
  if (!p) return;
  p->forgotten = FALSE;
  g_autoptr(GError) error = NULL;
  if (!tm_project_file_write(p, &error)) tm_welcome_set_error(w, error->message);
  g_clear_pointer(&w->forgotten, g_free);
  tm_welcome_refresh(w);
}

static void forget_clicked(GtkButton *b, TmWelcome *w) {
  g_autofree char *path = g_strdup(g_object_get_data(G_OBJECT(b), "path"));
  forget(w, path);
}

static gboolean row_key(GtkEventControllerKey *k, guint val, guint code, GdkModifierType state,
                        TmWelcome *w) {
  (void)code;
  if ((val != GDK_KEY_Delete && val != GDK_KEY_KP_Delete) || (state & (GDK_CONTROL_MASK | GDK_ALT_MASK)))
    return FALSE;
  GtkWidget *row = gtk_event_controller_get_widget(GTK_EVENT_CONTROLLER(k));
  g_autofree char *path = g_strdup(g_object_get_data(G_OBJECT(row), "path"));
  forget(w, path);
  return TRUE;
}

static void row_activated(AdwActionRow *row, TmWelcome *w) {
  g_autofree char *path = g_strdup(g_object_get_data(G_OBJECT(row), "path"));
  g_signal_emit(w, signals[OPEN], 0, path);
}

static GtkWidget *recent_picture(const char *file) {
  g_autoptr(GdkTexture) texture = gdk_texture_new_from_filename(file, NULL);
  GtkWidget *p = gtk_picture_new_for_paintable(GDK_PAINTABLE(texture));
  gtk_picture_set_content_fit(GTK_PICTURE(p), GTK_CONTENT_FIT_COVER);
  gtk_widget_set_size_request(p, THUMB_WIDTH, THUMB_HEIGHT);
  gtk_widget_set_overflow(p, GTK_OVERFLOW_HIDDEN);
  gtk_widget_set_valign(p, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class(p, "tm-thumb-small");
  gtk_accessible_update_property(GTK_ACCESSIBLE(p), GTK_ACCESSIBLE_PROPERTY_LABEL, _("First picture"), -1);
  return p;
}

static void add_row(TmWelcome *w, const Recent *r) {
  GtkWidget *row = adw_action_row_new(), *age = gtk_label_new(r->age),
            *remove = gtk_button_new_from_icon_name("window-close-symbolic");
  g_autofree char *title = g_markup_escape_text(r->title, -1), *about = g_markup_escape_text(r->about, -1),
                  *name = g_strdup_printf("%s, %s, %s", r->title, r->about, r->age),
                  *drop = g_strdup_printf(_("Remove %s from the list"), r->title);
  adw_preferences_row_set_title(ADW_PREFERENCES_ROW(row), title);
  adw_action_row_set_subtitle(ADW_ACTION_ROW(row), about);
  adw_action_row_add_prefix(ADW_ACTION_ROW(row), recent_picture(r->picture));
  gtk_widget_add_css_class(age, "tm-small");
  gtk_widget_add_css_class(age, "tm-dim");
  adw_action_row_add_suffix(ADW_ACTION_ROW(row), age);
  gtk_widget_add_css_class(remove, "flat");
  gtk_widget_add_css_class(remove, "tm-row-close");
  gtk_widget_set_valign(remove, GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text(remove, _("Remove from the list (Delete)"));
  gtk_accessible_update_property(GTK_ACCESSIBLE(remove), GTK_ACCESSIBLE_PROPERTY_LABEL, drop, -1);
  adw_action_row_add_suffix(ADW_ACTION_ROW(row), remove);
  adw_action_row_add_suffix(ADW_ACTION_ROW(row), gtk_image_new_from_icon_name("go-next-symbolic"));
  gtk_list_box_row_set_activatable(GTK_LIST_BOX_ROW(row), TRUE);
  gtk_widget_set_tooltip_text(row, r->path);
  gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  g_object_set_data_full(G_OBJECT(row), "path", g_strdup(r->path), g_free);
  g_object_set_data_full(G_OBJECT(remove), "path", g_strdup(r->path), g_free);
  GtkEventController *keys = gtk_event_controller_key_new();
  g_signal_connect(keys, "key-pressed", G_CALLBACK(row_key), w);
  gtk_widget_add_controller(row, keys);
  g_signal_connect(row, "activated", G_CALLBACK(row_activated), w);
  g_signal_connect(remove, "clicked", G_CALLBACK(forget_clicked), w);
  gtk_list_box_append(GTK_LIST_BOX(w->recent), row);
}

static void list_read(GObject *source, GAsyncResult *result, gpointer user) {
  (void)user;
  TmWelcome *w = TM_WELCOME(source);
  g_autoptr(GPtrArray) all = g_task_propagate_pointer(G_TASK(result), NULL);
  if (!w->recent) return;
  for (GtkWidget *row; (row = gtk_widget_get_first_child(w->recent));)
    gtk_list_box_remove(GTK_LIST_BOX(w->recent), row);
  for (guint i = 0; all && i < all->len; i++) add_row(w, all->pdata[i]);
  gtk_widget_set_visible(w->recent_box, all && all->len);
}

void tm_welcome_refresh(TmWelcome *w) {
  g_autoptr(GTask) task = g_task_new(w, NULL, list_read, NULL);
  g_task_run_in_thread(task, read_list);
}

/* ---- the rest ---- */

void tm_welcome_set_error(TmWelcome *w, const char *sentence) {
  gtk_label_set_label(GTK_LABEL(w->error_text), sentence ? sentence : "");
  gtk_widget_set_visible(w->error, sentence != NULL);
}

void tm_welcome_set_machine(TmWelcome *w, const TmMachine *m) {
  const char *name = m->gpu ? m->gpu : m->cpu;
  if (!name) return;
  g_autofree char *text = g_strdup_printf(_("%s is ready"), name);
  gtk_label_set_label(GTK_LABEL(w->device_text), text);
  gtk_widget_set_visible(w->device, TRUE);
}

static void dropped(TmDropArea *a, const char *path, TmWelcome *w) {
  (void)a;
  g_signal_emit(w, signals[OPEN], 0, path);
}

/* The hero stands beside the column, shrinks with the window, goes, and comes back as a strip on top. */
static void lay_out(TmWelcome *w) {
  const gboolean narrow = tm_adaptive_get_narrow(TM_ADAPTIVE(w->narrow_bin)),
                 medium = tm_adaptive_get_narrow(TM_ADAPTIVE(w->medium_bin));
  gtk_orientable_set_orientation(GTK_ORIENTABLE(w->columns),
                                 narrow ? GTK_ORIENTATION_VERTICAL : GTK_ORIENTATION_HORIZONTAL);
  gtk_box_reorder_child_after(GTK_BOX(w->columns), narrow ? w->scroller : w->hero_bin,
                              narrow ? w->hero_bin : w->scroller);
  gtk_widget_set_visible(w->hero_bin, narrow || !medium);
  gtk_widget_set_vexpand(w->hero_bin, !narrow);
  gtk_widget_set_hexpand(w->scroller, narrow || medium);
  gtk_orientable_set_orientation(GTK_ORIENTABLE(w->buttons),
                                 narrow ? GTK_ORIENTATION_VERTICAL : GTK_ORIENTATION_HORIZONTAL);
  if (narrow)
    gtk_widget_add_css_class(GTK_WIDGET(w), "narrow");
  else
    gtk_widget_remove_css_class(GTK_WIDGET(w), "narrow");
}

static void map(GtkWidget *widget) {
  GTK_WIDGET_CLASS(tm_welcome_parent_class)->map(widget);
  tm_welcome_refresh(TM_WELCOME(widget));
  gtk_widget_grab_focus(TM_WELCOME(widget)->demo);
}

static void dispose(GObject *o) {
  TmWelcome *w = TM_WELCOME(o);
  w->recent = NULL;
  g_clear_pointer(&w->forgotten, g_free);
  gtk_widget_dispose_template(GTK_WIDGET(o), TM_TYPE_WELCOME);
  G_OBJECT_CLASS(tm_welcome_parent_class)->dispose(o);
}

static void tm_welcome_class_init(TmWelcomeClass *c) {
  GtkWidgetClass *wc = GTK_WIDGET_CLASS(c);
  G_OBJECT_CLASS(c)->dispose = dispose;
  wc->map = map;
  g_type_ensure(TM_TYPE_ADAPTIVE);
  gtk_widget_class_set_template_from_resource(wc, "/io/github/tarmac/Tarmac/welcome.ui");
#define BIND(name) gtk_widget_class_bind_template_child(wc, TmWelcome, name)
  BIND(header), BIND(back), BIND(menu), BIND(narrow_bin), BIND(medium_bin), BIND(columns), BIND(scroller),
      BIND(column), BIND(drop_bin);
  BIND(buttons), BIND(demo), BIND(open), BIND(error), BIND(error_text), BIND(note), BIND(note_text),
      BIND(recent_box), BIND(other);
  BIND(recent), BIND(device), BIND(device_text), BIND(hero_bin);
#undef BIND
  signals[OPEN] = g_signal_new("open", TM_TYPE_WELCOME, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE,
                               1, G_TYPE_STRING);
  signals[SAY] = g_signal_new("say", TM_TYPE_WELCOME, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1,
                              G_TYPE_STRING);
}

static void tm_welcome_init(TmWelcome *w) {
  gtk_widget_init_template(GTK_WIDGET(w));
  GtkWidget *drop = tm_drop_area_new(), *hero = tm_hero_new();
  gtk_widget_set_hexpand(drop, TRUE);
  gtk_widget_set_hexpand(hero, TRUE);
  gtk_box_append(GTK_BOX(w->drop_bin), drop);
  gtk_box_append(GTK_BOX(w->hero_bin), hero);
  tm_drop_area_listen(TM_DROP_AREA(drop), GTK_WIDGET(w));
  gtk_label_set_label(GTK_LABEL(w->note_text),
                      _("Offline, no account. The demo roads are drawn by Tarmac itself."));
  g_signal_connect(drop, "dropped", G_CALLBACK(dropped), w);
  g_signal_connect_swapped(w->narrow_bin, "notify::narrow", G_CALLBACK(lay_out), w);
  g_signal_connect_swapped(w->medium_bin, "notify::narrow", G_CALLBACK(lay_out), w);
  lay_out(w);
}

TmWelcome *tm_welcome_new(GMenuModel *menu) {
  TmWelcome *w = g_object_new(TM_TYPE_WELCOME, NULL);
  gtk_menu_button_set_menu_model(GTK_MENU_BUTTON(w->menu), menu);
  return w;
}

void tm_welcome_set_can_go_back(TmWelcome *w, gboolean can) {
  gtk_widget_set_visible(w->back, can);
}
