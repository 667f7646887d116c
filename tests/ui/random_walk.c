/* random_walk.c: does what nobody would do on purpose: opens windows and then, at random, switches pages,
 * presses buttons, moves sliders, starts, pauses and stops runs, opens and closes dialogs, resizes, and
 * closes in the middle of it. Nothing may be critical, nothing may hang, and under AddressSanitizer nothing
 * may be used after its end or be left over.
 *
 *   random_walk [--sequences N] [--seed S] [--first I]
 *
 * Every sequence has a seed of its own, S and its number, so --first I --sequences 1 repeats one. The suite
 * runs a few; a hundred are meson test -C build-asan --benchmark "random walk, long"  */
#include <stdlib.h>
#include <string.h>

#include <adwaita.h>

#include "app/application.h"
#include "app/window.h"

enum { STEPS = 16, LONGEST_PAUSE_MS = 300, END_S = 90, HANG_S = 120 };

static int n_sequences = 5, seed = 1, first = 0;
static int sequence, step; /* where it is now; read by the watchdog */
static gint beats;         /* atomic: counts while the main loop turns */
static guint criticals;
static char *doing;

/* Criticals of the toolkit's own making. */
static const char *const not_ours[] = {
    "GTK_IS_TREE_SORTABLE", /* GTK 4.8's file chooser, closed while it reads a folder */
    "GDK_IS_MONITOR", /* GDK 4.8 on X11: a menu opened where the window, which no manager keeps on the screen,
                         is off it */
};

static gboolean is_ours(const GLogField *fields, gsize n) {
  for (gsize i = 0; i < n; i++)
    for (gsize k = 0; k < G_N_ELEMENTS(not_ours); k++)
      if (strcmp(fields[i].key, "MESSAGE") == 0 && strstr(fields[i].value, not_ours[k])) return FALSE;
  return TRUE;
}

static GLogWriterOutput note_log(GLogLevelFlags level, const GLogField *fields, gsize n, gpointer user) {
  (void)user;
  if (level & (G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_ERROR) && is_ours(fields, n)) {
    criticals++;
    g_printerr("# sequence %d, step %d, %s:\n", sequence, step, doing ? doing : "?");
    if (g_getenv("TM_WALK_TRAP")) G_BREAKPOINT(); /* for a debugger */
  }
  if (!(level & (G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_ERROR | G_LOG_LEVEL_WARNING)))
    return G_LOG_WRITER_HANDLED;
  return g_log_writer_standard_streams(level, fields, n, NULL);
}

static gpointer watch(gpointer data) {
  (void)data;
  for (int last = -1, still = 0;; g_usleep(G_USEC_PER_SEC)) {
    const int now = g_atomic_int_get(&beats);
    still = now == last ? still + 1 : 0;
    last = now;
    if (still < HANG_S) continue;
    g_printerr("Bail out! the window hangs: seed %d, sequence %d, step %d\n", seed, sequence, step);
    abort();
  }
  return NULL;
}

static gboolean wake(gpointer due) {
  *(gboolean *)due = TRUE;
  return G_SOURCE_REMOVE;
}

/* Lets the main loop turn for @ms. */
static void turn(guint ms) {
  gboolean due = FALSE;
  g_timeout_add(ms, wake, &due);
  while (!due) {
    g_atomic_int_inc(&beats);
    g_main_context_iteration(NULL, TRUE);
  }
}

static void say(const char *what, const char *which) {
  g_free(doing);
  doing = g_strdup_printf("%s %s", what, which ? which : "");
  if (g_getenv("TM_WALK_TALKS")) g_printerr("# %d.%d %s\n", sequence, step, doing);
}

/* ---- what can be pressed ---- */

static gboolean is_control(GtkWidget *w) {
  return GTK_IS_BUTTON(w) || GTK_IS_SWITCH(w) || GTK_IS_RANGE(w) || GTK_IS_SPIN_BUTTON(w) ||
         GTK_IS_DROP_DOWN(w) || GTK_IS_LIST_BOX_ROW(w) || GTK_IS_MENU_BUTTON(w) || GTK_IS_EXPANDER(w);
}

static void collect(GtkWidget *w, GPtrArray *all) {
  if (!gtk_widget_get_mapped(w) || !gtk_widget_get_sensitive(w)) return;
  if (is_control(w)) g_ptr_array_add(all, w);
  for (GtkWidget *c = gtk_widget_get_first_child(w); c; c = gtk_widget_get_next_sibling(c)) collect(c, all);
}

/* What leaves the program: the file manager, a browser; and the file chooser, which GTK 4.8 makes a critical
 * of when it is closed while it reads a folder. */
static gboolean leads_outside(GtkWidget *w) {
  const char *action = GTK_IS_ACTIONABLE(w) ? gtk_actionable_get_action_name(GTK_ACTIONABLE(w)) : NULL;
  return GTK_IS_LINK_BUTTON(w) || (action && (strstr(action, "show-files") || strstr(action, "open")));
}

static void press(GtkWidget *w, GRand *r) {
  say("presses", G_OBJECT_TYPE_NAME(w));
  if (GTK_IS_SPIN_BUTTON(w)) {
    gtk_spin_button_spin(GTK_SPIN_BUTTON(w),
                         g_rand_boolean(r) ? GTK_SPIN_STEP_FORWARD : GTK_SPIN_PAGE_BACKWARD, 0);
  } else if (GTK_IS_RANGE(w)) {
    GtkAdjustment *a = gtk_range_get_adjustment(GTK_RANGE(w));
    const double lo = gtk_adjustment_get_lower(a), hi = gtk_adjustment_get_upper(a);
    if (hi > lo) gtk_range_set_value(GTK_RANGE(w), g_rand_double_range(r, lo, hi));
  } else if (GTK_IS_DROP_DOWN(w)) {
    GListModel *m = gtk_drop_down_get_model(GTK_DROP_DOWN(w));
    const guint n = m ? g_list_model_get_n_items(m) : 0;
    if (n) gtk_drop_down_set_selected(GTK_DROP_DOWN(w), (guint)g_rand_int_range(r, 0, (gint32)n));
  } else {
    gtk_widget_activate(w);
  }
}

static GtkWindow *any_window(GRand *r) {
  GListModel *all = gtk_window_get_toplevels();
  const guint n = g_list_model_get_n_items(all);
  if (!n) return NULL;
  g_autoptr(GtkWindow) w = g_list_model_get_item(all, (guint)g_rand_int_range(r, 0, (gint32)n));
  return w; /* the toolkit holds it */
}

static void press_anything(GRand *r) {
  GtkWindow *w = any_window(r);
  g_autoptr(GPtrArray) all = g_ptr_array_new();
  if (w) collect(GTK_WIDGET(w), all);
  if (!all->len) return;
  GtkWidget *one = all->pdata[g_rand_int_range(r, 0, (gint32)all->len)];
  if (!leads_outside(one)) press(one, r);
}

/* ---- the steps ---- */

static void act(TmWindow *w, const char *action) {
  say("does", action);
  gtk_widget_activate_action(GTK_WIDGET(w), action, NULL);
}

static void switch_page(TmWindow *w, GRand *r) {
  guint n = 0;
  while (tm_window_page(n)) n++;
  const char *page = tm_window_page((guint)g_rand_int_range(r, 0, (gint32)n));
  say("shows", page);
  gtk_widget_activate_action(GTK_WIDGET(w), "win.page", "s", page);
}

static void steer(TmWindow *w, GRand *r) {
  static const char *const actions[] = {"train.go",       "train.go",   "train.go",
                                        "train.step",     "train.stop", "train.stop-save",
                                        "train.stop-now", "train.save", "train.new"};
  act(w, actions[g_rand_int_range(r, 0, G_N_ELEMENTS(actions))]);
}

static void open_dialog(TmWindow *w, GRand *r) {
  static const char *const actions[] = {"app.about",          "app.preferences", "win.show-help-overlay",
                                        "win.open",           "window.close",    "win.panel",
                                        "win.fullscreen",     "win.rescan",      "devices.table",
                                        "devices.look-again", "win.demo"};
  act(w, actions[g_rand_int_range(r, 0, G_N_ELEMENTS(actions))]);
}

/* Answers or closes what stands over the window. */
static void close_dialogs(TmWindow *w, GRand *r) {
  for (guint tries = 0; tries < 8; tries++) {
    GListModel *all = gtk_window_get_toplevels();
    GtkWindow *over = NULL;
    for (guint i = 0; !over && i < g_list_model_get_n_items(all); i++) {
      g_autoptr(GtkWindow) one = g_list_model_get_item(all, i);
      if (one != GTK_WINDOW(w) && gtk_widget_get_visible(GTK_WIDGET(one))) over = one;
    }
    if (!over) return;
    say("closes", G_OBJECT_TYPE_NAME(over));
    if (ADW_IS_MESSAGE_DIALOG(over) && g_rand_boolean(r))
      adw_message_dialog_response(ADW_MESSAGE_DIALOG(over),
                                  adw_message_dialog_get_close_response(ADW_MESSAGE_DIALOG(over)));
    else
      gtk_window_close(over);
    turn(60);
  }
}

static void resize(TmWindow *w, GRand *r) {
  say("resizes", NULL);
  gtk_window_set_default_size(GTK_WINDOW(w), g_rand_int_range(r, 360, 1440), g_rand_int_range(r, 400, 900));
}

static void take_step(TmWindow *w, GRand *r) {
  const int kind = g_rand_int_range(r, 0, 12);
  if (kind < 3)
    switch_page(w, r);
  else if (kind < 6)
    steer(w, r);
  else if (kind < 7)
    open_dialog(w, r);
  else if (kind < 8)
    close_dialogs(w, r);
  else if (kind < 9)
    resize(w, r);
  else
    press_anything(r);
}

static gboolean ended(TmWindow **w) {
  for (int i = 0; *w && i < END_S * 10; i++) turn(100);
  return *w == NULL;
}

static gboolean walk(GtkApplication *app, GRand *r) {
  TmWindow *w = tm_window_new(app);
  g_object_add_weak_pointer(G_OBJECT(w), (gpointer *)&w);
  const TmDatasetOptions o = {
      .val_fraction = 0.2f, .demo_width = 48, .demo_height = 32, .demo_train = 12, .demo_val = 4};
  tm_window_open(w, "demo", &o);
  gtk_window_present(GTK_WINDOW(w));
  for (step = 0; w && step < STEPS; step++) {
    turn((guint)g_rand_int_range(r, 0, LONGEST_PAUSE_MS));
    if (w) take_step(w, r);
  }
  if (w) close_dialogs(w, r);
  if (w) {
    say("saves and closes", NULL);
    tm_window_save_and_close(w);
  }
  if (ended(&w)) return TRUE;
  g_printerr("# sequence %d: the window does not close\n", sequence);
  return FALSE;
}

int main(int argc, char **argv) {
  const GOptionEntry entries[] = {{"sequences", 0, 0, G_OPTION_ARG_INT, &n_sequences, "How many", "N"},
                                  {"seed", 0, 0, G_OPTION_ARG_INT, &seed, "Seed of all of them", "S"},
                                  {"first", 0, 0, G_OPTION_ARG_INT, &first, "Number of the first", "I"},
                                  {NULL}};
  g_autoptr(GOptionContext) context = g_option_context_new(NULL);
  g_option_context_add_main_entries(context, entries, NULL);
  if (!g_option_context_parse(context, &argc, &argv, NULL)) return 2;
  g_log_set_writer_func(note_log, NULL, NULL);
  g_autoptr(TmApplication) app = tm_application_new();
  g_application_set_flags(G_APPLICATION(app),
                          G_APPLICATION_NON_UNIQUE | g_application_get_flags(G_APPLICATION(app)));
  if (!g_application_register(G_APPLICATION(app), NULL, NULL)) return 2;
  g_application_set_default(G_APPLICATION(app));
  g_thread_unref(g_thread_new("watchdog", watch, NULL));
  g_print("1..%d\n# seed %d\n", n_sequences, seed);
  int bad = 0;
  for (sequence = first; sequence < first + n_sequences; sequence++) {
    g_autoptr(GRand) r = g_rand_new_with_seed_array((const guint32[]){(guint32)seed, (guint32)sequence}, 2);
    const guint before = criticals;
    const gboolean good = walk(GTK_APPLICATION(app), r) && criticals == before;
    bad += !good;
    g_print("%sok %d - sequence %d\n", good ? "" : "not ", sequence - first + 1, sequence);
  }
  turn(500); /* what was pending is freed */
  g_free(doing);
  return bad ? 1 : 0;
}
