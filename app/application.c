#include "app/application.h"

#include <glib-unix.h>
#include <glib/gi18n.h>
#include <stdio.h>

#include "app/preferences_window.h"
#include "app/window.h"
#include "ui/viz.h"

struct _TmApplication {
  AdwApplication parent;
  guint term, intr;
};

G_DEFINE_FINAL_TYPE(TmApplication, tm_application, ADW_TYPE_APPLICATION)

/* --demo-size and its kin shrink the demo roads, for tests and slow machines. */
static const GOptionEntry options[] = {
    {"demo-size", 0, 0, G_OPTION_ARG_STRING, NULL, N_("Size of the demo roads"), "WxH"},
    {"demo-train", 0, 0, G_OPTION_ARG_INT, NULL, N_("Training pictures of the demo roads"), "N"},
    {"demo-val", 0, 0, G_OPTION_ARG_INT, NULL, N_("Validation pictures of the demo roads"), "N"},
    {"size", 0, 0, G_OPTION_ARG_STRING, NULL, N_("Size of the window"), "WxH"},
    {"page", 0, 0, G_OPTION_ARG_STRING, NULL, N_("Page to begin with: data, train, devices …"), "NAME"},
    {"pictures", 0, 0, G_OPTION_ARG_FILENAME, NULL, N_("Folder of pictures for the page Predict"), "FOLDER"},
    {"dark", 0, 0, G_OPTION_ARG_NONE, NULL, N_("Dark style"), NULL},
    {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, NULL, NULL, N_("[FOLDER|demo]")},
    {NULL},
};

static gboolean parse_size(const char *text, int least, int *w, int *h) {
  int a, b, used = 0;
  if (sscanf(text, "%dx%d%n", &a, &b, &used) != 2 || text[used] || a < least || b < least || a > 16384 ||
      b > 16384)
    return FALSE;
  *w = a;
  *h = b;
  return TRUE;
}

static int refuse(GApplicationCommandLine *c, const char *option, const char *value) {
  g_application_command_line_printerr(c, _("tarmac: --%s %s is not a size like 320x240\n"), option, value);
  return 2;
}

static int command_line(GApplication *app, GApplicationCommandLine *c) {
  GVariantDict *d = g_application_command_line_get_options_dict(c);
  TmDatasetOptions o = {.val_fraction = 0.2f};
  const char *text = NULL, *page = NULL;
  int width = 0, height = 0;
  if (g_variant_dict_lookup(d, "demo-size", "&s", &text) &&
      !parse_size(text, 16, &o.demo_width, &o.demo_height))
    return refuse(c, "demo-size", text);
  if (g_variant_dict_lookup(d, "size", "&s", &text) && !parse_size(text, 200, &width, &height))
    return refuse(c, "size", text);
  g_variant_dict_lookup(d, "demo-train", "i", &o.demo_train);
  g_variant_dict_lookup(d, "demo-val", "i", &o.demo_val);
  if (g_variant_dict_contains(d, "dark"))
    adw_style_manager_set_color_scheme(adw_style_manager_get_default(), ADW_COLOR_SCHEME_PREFER_DARK);
  g_autofree const char **rest = NULL;
  g_variant_dict_lookup(d, G_OPTION_REMAINING, "^a&ay", &rest);
  g_autofree char *path = NULL;
  if (!rest) {
    if (o.demo_train || o.demo_val || o.demo_width) path = g_strdup("demo");
  } else if (strcmp(rest[0], "demo") == 0) {
    path = g_strdup("demo");
  } else {
    g_autoptr(GFile) file = g_application_command_line_create_file_for_arg(c, rest[0]);
    path = g_file_get_path(file);
  }
  TmWindow *w = tm_window_new(GTK_APPLICATION(app));
  if (width) gtk_window_set_default_size(GTK_WINDOW(w), width, height);
  if (path)
    tm_window_open(w, path, &o);
  else
    tm_window_restore(w, !width);
  const char *pictures = NULL;
  if (g_variant_dict_lookup(d, "pictures", "^&ay", &pictures)) {
    g_autoptr(GFile) folder = g_application_command_line_create_file_for_arg(c, pictures);
    g_autofree char *where = g_file_get_path(folder);
    if (where) gtk_widget_activate_action(GTK_WIDGET(w), "predict.from", "^ay", where);
  }
  if (g_variant_dict_lookup(d, "page", "&s", &page))
    gtk_widget_activate_action(GTK_WIDGET(w), "win.page", "s", page);
  gtk_window_present(GTK_WINDOW(w));
  return 0;
}

static void activate(GApplication *app) {
  GtkWindow *w = gtk_application_get_active_window(GTK_APPLICATION(app));
  if (!w) {
    w = GTK_WINDOW(tm_window_new(GTK_APPLICATION(app)));
    tm_window_restore(TM_WINDOW(w), TRUE);
  }
  gtk_window_present(w);
}

static void do_new_window(GSimpleAction *a, GVariant *v, gpointer app) {
  (void)a;
  (void)v;
  TmWindow *w = tm_window_new(GTK_APPLICATION(app));
  gtk_window_present(GTK_WINDOW(w));
}

static void do_show(GSimpleAction *a, GVariant *v, gpointer app) {
  (void)a;
  (void)v;
  activate(G_APPLICATION(app));
}

/* Every window asks for itself when it trains. */
static void do_quit(GSimpleAction *a, GVariant *v, gpointer app) {
  (void)a;
  (void)v;
  g_autoptr(GList) all = g_list_copy(gtk_application_get_windows(GTK_APPLICATION(app)));
  for (GList *l = all; l; l = l->next) gtk_window_close(GTK_WINDOW(l->data));
}

static void do_about(GSimpleAction *a, GVariant *v, gpointer app) {
  (void)a;
  (void)v;
  g_autofree char *viz = tm_viz_describe();
  g_autofree char *debug =
      g_strdup_printf("Tarmac %s\nGTK %u.%u.%u\nlibadwaita %u.%u.%u\nPicture path: %s\n", TM_VERSION,
                      gtk_get_major_version(), gtk_get_minor_version(), gtk_get_micro_version(),
                      adw_get_major_version(), adw_get_minor_version(), adw_get_micro_version(), viz);
  adw_show_about_window(gtk_application_get_active_window(GTK_APPLICATION(app)), "application-name", "Tarmac",
                        "application-icon", "io.github.tarmac.Tarmac", "version", TM_VERSION,
                        "developer-name", _("The Tarmac developers"), "license-type", GTK_LICENSE_GPL_3_0,
                        "comments", _("Teach a network to see the road."), "debug-info", debug,
                        "debug-info-filename", "tarmac-debug.txt", NULL);
}

static void do_preferences(GSimpleAction *a, GVariant *v, gpointer app) {
  (void)a;
  (void)v;
  tm_preferences_window_present(gtk_application_get_active_window(GTK_APPLICATION(app)));
}

static const GActionEntry entries[] = {
    {.name = "new-window", .activate = do_new_window},
    {.name = "show", .activate = do_show},
    {.name = "quit", .activate = do_quit},
    {.name = "preferences", .activate = do_preferences},
    {.name = "about", .activate = do_about},
};

static const struct {
  const char *action;
  const char *keys[3];
} shortcuts[] = {
    {"app.quit", {"<Primary>q"}},
    {"app.preferences", {"<Primary>comma"}},
    {"window.close", {"<Primary>w"}},
    {"win.open", {"<Primary>o", "<Primary><Shift>o"}},
    {"win.rescan", {"<Primary>r"}},
    {"devices.look-again", {"<Primary>r"}},
    {"devices.check", {"<Primary><Shift>r"}},
    {"win.back", {"<Alt>Left"}},
    {"win.panel", {"F9"}},
    {"win.fullscreen", {"F11"}},
    {"win.show-help-overlay", {"<Primary>question"}},
    {"win.go", {"F5"}},
    {"train.step", {"F8"}},
    {"win.stop", {"<Primary>period"}},
    {"train.save", {"<Primary>s"}},
    {"train.new", {"<Primary>n"}},
    {"evaluate.report", {"<Primary>e"}},
    {"train.undo", {"<Primary>z"}},
};

/* Saves every run and leaves: the window closes when its trainer has written. */
static gboolean leave(gpointer app) {
  g_autoptr(GList) all = g_list_copy(gtk_application_get_windows(GTK_APPLICATION(app)));
  for (GList *l = all; l; l = l->next)
    if (TM_IS_WINDOW(l->data)) tm_window_save_and_close(TM_WINDOW(l->data));
  if (!all) g_application_quit(G_APPLICATION(app));
  return G_SOURCE_CONTINUE;
}

static void query_end(GtkApplication *app) {
  leave(app);
}

static void startup(GApplication *app) {
  G_APPLICATION_CLASS(tm_application_parent_class)->startup(app);
  TmApplication *t = TM_APPLICATION(app);
  tm_viz_spare_processor();
  tm_preferences_apply_style();
  gtk_window_set_default_icon_name("io.github.tarmac.Tarmac");
  g_action_map_add_action_entries(G_ACTION_MAP(app), entries, G_N_ELEMENTS(entries), app);
  for (guint i = 0; i < G_N_ELEMENTS(shortcuts); i++)
    gtk_application_set_accels_for_action(GTK_APPLICATION(app), shortcuts[i].action,
                                          (const char *const *)shortcuts[i].keys);
  for (guint i = 0; tm_window_page(i) && i < 9; i++) {
    g_autofree char *action = g_strdup_printf("win.page::%s", tm_window_page(i)),
                    *keys = g_strdup_printf("<Alt>%u", i + 1);
    gtk_application_set_accels_for_action(GTK_APPLICATION(app), action, (const char *[]){keys, NULL});
  }
  t->term = g_unix_signal_add(SIGTERM, leave, app);
  t->intr = g_unix_signal_add(SIGINT, leave, app);
  g_signal_connect(app, "query-end", G_CALLBACK(query_end), NULL);
}

static void shutdown(GApplication *app) {
  TmApplication *t = TM_APPLICATION(app);
  g_clear_handle_id(&t->term, g_source_remove);
  g_clear_handle_id(&t->intr, g_source_remove);
  G_APPLICATION_CLASS(tm_application_parent_class)->shutdown(app);
}

static void tm_application_class_init(TmApplicationClass *c) {
  GApplicationClass *ac = G_APPLICATION_CLASS(c);
  ac->startup = startup;
  ac->shutdown = shutdown;
  ac->activate = activate;
  ac->command_line = command_line;
}

static void tm_application_init(TmApplication *a) {
  g_application_add_main_option_entries(G_APPLICATION(a), options);
  g_application_set_option_context_parameter_string(G_APPLICATION(a), _("— the studio"));
}

TmApplication *tm_application_new(void) {
  return g_object_new(TM_TYPE_APPLICATION, "application-id", "io.github.tarmac.Tarmac", "flags",
                      G_APPLICATION_HANDLES_COMMAND_LINE, "resource-base-path", "/io/github/tarmac/Tarmac",
                      NULL);
}
