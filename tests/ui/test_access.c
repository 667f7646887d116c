/* test_access.c: every page of the window, in light and dark, wide and narrow: can each control be reached by
 * the keyboard, can each text be read (contrast 4.5 : 1 against what is really behind it), and does all of it
 * still fit when text is twice as large? The window is the real one; names are checked from outside, by
 * names.py. */
#include <math.h>
#include <string.h>

#include <adwaita.h>

#include "app/application.h"
#include "app/window.h"

static TmApplication *app;

static gboolean wake(gpointer due) {
  *(gboolean *)due = TRUE;
  return G_SOURCE_REMOVE;
}

static void turn(guint ms) {
  gboolean due = FALSE;
  g_timeout_add(ms, wake, &due);
  while (!due) g_main_context_iteration(NULL, TRUE);
}

static TmWindow *open_window(int width, int height) {
  TmWindow *w = tm_window_new(GTK_APPLICATION(app));
  const TmDatasetOptions o = {
      .val_fraction = 0.2f, .demo_width = 48, .demo_height = 32, .demo_train = 12, .demo_val = 4};
  gtk_window_set_default_size(GTK_WINDOW(w), width, height);
  tm_window_open(w, "demo", &o);
  gtk_window_present(GTK_WINDOW(w));
  return w;
}

static void show_page(TmWindow *w, guint page) {
  gtk_widget_activate_action(GTK_WIDGET(w), "win.page", "s", tm_window_page(page));
  turn(1500); /* what the page looks up is there */
}

static void close_window(TmWindow *w) {
  gtk_window_destroy(GTK_WINDOW(w));
  turn(200);
}

typedef void (*Visit)(GtkWidget *w, gpointer user);

static void visit_mapped(GtkWidget *w, Visit visit, gpointer user) {
  if (!gtk_widget_get_mapped(w)) return;
  visit(w, user);
  for (GtkWidget *c = gtk_widget_get_first_child(w); c; c = gtk_widget_get_next_sibling(c))
    visit_mapped(c, visit, user);
}

/* What a person is told about a widget when something is wrong with it. */
static char *name_of(GtkWidget *w) {
  const char *tip = gtk_widget_get_tooltip_text(w),
             *text = GTK_IS_LABEL(w) ? gtk_label_get_text(GTK_LABEL(w)) : NULL;
  if (GTK_IS_BUTTON(w) && gtk_button_get_label(GTK_BUTTON(w))) text = gtk_button_get_label(GTK_BUTTON(w));
  const char *within = NULL;
  for (GtkWidget *p = gtk_widget_get_parent(w); p && !within; p = gtk_widget_get_parent(p)) {
    if (ADW_IS_PREFERENCES_ROW(p) && !text) text = adw_preferences_row_get_title(ADW_PREFERENCES_ROW(p));
    if (g_str_has_prefix(G_OBJECT_TYPE_NAME(p), "Tm")) within = G_OBJECT_TYPE_NAME(p);
  }
  return g_strdup_printf("%s “%s” in %s", G_OBJECT_TYPE_NAME(w),
                         text  ? text
                         : tip ? tip
                               : "",
                         within ? within : "the window");
}

/* ---- the keyboard ---- */

static gboolean is_control(GtkWidget *w) {
  return GTK_IS_BUTTON(w) || GTK_IS_SWITCH(w) || GTK_IS_SCALE(w) || GTK_IS_SPIN_BUTTON(w) ||
         GTK_IS_DROP_DOWN(w) || GTK_IS_MENU_BUTTON(w) || GTK_IS_ENTRY(w) || GTK_IS_SEARCH_ENTRY(w) ||
         GTK_IS_CHECK_BUTTON(w);
}

/* Parts of a larger control, which has the keyboard's way; the window's own buttons, which the desktop's keys
 * stand for. */
static gboolean is_part(GtkWidget *w) {
  for (GtkWidget *p = gtk_widget_get_parent(w); p; p = gtk_widget_get_parent(p))
    if (GTK_IS_SPIN_BUTTON(p) || GTK_IS_DROP_DOWN(p) || GTK_IS_MENU_BUTTON(p) || GTK_IS_WINDOW_CONTROLS(p) ||
        GTK_IS_SCROLLBAR(p) || GTK_IS_ENTRY(p) || GTK_IS_SEARCH_ENTRY(p) || GTK_IS_GRID_VIEW(p) ||
        GTK_IS_LIST_VIEW(p) || GTK_IS_COLUMN_VIEW(p))
      return TRUE;
  return FALSE;
}

static void mark(GHashTable *reached, GtkWidget *w) {
  for (; w; w = gtk_widget_get_parent(w)) g_hash_table_add(reached, w);
}

/* Tab after Tab from the beginning of @within to its end. */
static void tab_through(GtkWindow *window, GtkWidget *within, GHashTable *reached) {
  GtkWidget *last = NULL;
  for (int i = 0; i < 500; i++) {
    if (!gtk_widget_child_focus(within, GTK_DIR_TAB_FORWARD)) return;
    GtkWidget *at = gtk_window_get_focus(window);
    if (!at) return;
    if (at == last) {
      g_autofree char *name = name_of(at);
      g_test_message("Tab does not go on after %s", name);
      g_test_fail();
      return;
    }
    last = at;
    mark(reached, at);
  }
}

typedef struct {
  GtkWindow *window;
  GHashTable *reached;
} Walk;

/* The rows of a list are an arrow key apart; from each Tab goes to what is in it. */
static void walk_rows(GtkWidget *w, gpointer user) {
  Walk *k = user;
  if ((!GTK_IS_LIST_BOX_ROW(w) && !GTK_IS_FLOW_BOX_CHILD(w)) ||
      !g_hash_table_contains(k->reached, gtk_widget_get_parent(w)))
    return;
  if (!gtk_widget_get_sensitive(w)) return;
  if (gtk_widget_get_focusable(w)) {
    gtk_widget_grab_focus(w);
    mark(k->reached, w);
  }
  tab_through(k->window, w, k->reached);
}

static void check_reached(GtkWidget *w, gpointer user) {
  Walk *k = user;
  if (!is_control(w) || is_part(w) || !gtk_widget_get_sensitive(w) || g_hash_table_contains(k->reached, w))
    return;
  g_autofree char *name = name_of(w);
  g_test_message("the keyboard does not reach %s", name);
  g_test_fail();
}

static void test_keyboard(void) {
  const int widths[] = {1360, 720, 400};
  for (guint i = 0; i < G_N_ELEMENTS(widths); i++) {
    TmWindow *w = open_window(widths[i], 850);
    for (guint page = 0; tm_window_page(page); page++) {
      show_page(w, page);
      g_autoptr(GHashTable) reached = g_hash_table_new(NULL, NULL);
      Walk k = {GTK_WINDOW(w), reached};
      gtk_window_set_focus(GTK_WINDOW(w), NULL);
      tab_through(GTK_WINDOW(w), GTK_WIDGET(w), reached);
      g_test_message("%s at %d pixels: %u widgets on the way", tm_window_page(page), widths[i],
                     g_hash_table_size(reached));
      g_assert_cmpuint(g_hash_table_size(reached), >, 5);
      visit_mapped(GTK_WIDGET(w), walk_rows, &k);
      visit_mapped(GTK_WIDGET(w), check_reached, &k);
    }
    close_window(w);
  }
}

/* ---- contrast ---- */

typedef struct {
  GtkWidget *window;
  guint8 *pixels; /* BGRA, premultiplied, as Cairo has it */
  int w, h;
  guint labels;
} Picture;

static void take_picture(Picture *p, GtkWidget *window) {
  p->window = window;
  p->w = gtk_widget_get_width(window);
  p->h = gtk_widget_get_height(window);
  p->pixels = g_malloc0((gsize)p->w * p->h * 4);
  GskRenderNode *node = NULL;
  for (int tries = 0; !node && tries < 40; tries++) { /* between two frames there is none */
    g_autoptr(GdkPaintable) paintable = gtk_widget_paintable_new(window);
    GtkSnapshot *snapshot = gtk_snapshot_new();
    gdk_paintable_snapshot(paintable, GDK_SNAPSHOT(snapshot), p->w, p->h);
    node = gtk_snapshot_free_to_node(snapshot);
    if (node) break;
    gtk_widget_queue_draw(window);
    turn(100);
  }
  g_assert_nonnull(node);
  cairo_surface_t *surface =
      cairo_image_surface_create_for_data(p->pixels, CAIRO_FORMAT_ARGB32, p->w, p->h, p->w * 4);
  cairo_t *cr = cairo_create(surface);
  gsk_render_node_draw(node, cr);
  cairo_destroy(cr);
  cairo_surface_finish(surface);
  cairo_surface_destroy(surface);
  gsk_render_node_unref(node);
}

/* The commonest colour in a rectangle: what the text stands on. FALSE where there is none that stands out
 * (text on a picture). */
static gboolean ground(const Picture *p, const graphene_rect_t *r, guint8 out[3]) {
  g_autoptr(GHashTable) count = g_hash_table_new(NULL, NULL);
  const int x0 = MAX((int)r->origin.x, 0), y0 = MAX((int)r->origin.y, 0),
            x1 = MIN((int)(r->origin.x + r->size.width), p->w),
            y1 = MIN((int)(r->origin.y + r->size.height), p->h);
  guint most = 0, all = 0;
  guint32 best = 0;
  for (int y = y0; y < y1; y++)
    for (int x = x0; x < x1; x++) {
      guint32 v;
      memcpy(&v, p->pixels + ((gsize)y * p->w + x) * 4, 4);
      const guint n = GPOINTER_TO_UINT(g_hash_table_lookup(count, GUINT_TO_POINTER(v))) + 1;
      g_hash_table_insert(count, GUINT_TO_POINTER(v), GUINT_TO_POINTER(n));
      all++;
      if (n > most) most = n, best = v;
    }
  for (int c = 0; c < 3; c++) out[c] = (guint8)(best >> (16 - 8 * c) & 255);
  return all > 20 && most * 3 > all && best >> 24 == 255;
}

static double linear(double v) {
  return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static double luminance(const double c[3]) {
  return 0.2126 * linear(c[0]) + 0.7152 * linear(c[1]) + 0.0722 * linear(c[2]);
}

static double contrast(const double a[3], const double b[3]) {
  const double x = luminance(a), y = luminance(b);
  return (MAX(x, y) + 0.05) / (MIN(x, y) + 0.05);
}

static double opacity_of(GtkWidget *w) {
  double o = 1;
  for (; w; w = gtk_widget_get_parent(w)) o *= gtk_widget_get_opacity(w);
  return o;
}

/* Lists keep cells that they have not placed, and scrolled windows hide what is beyond their edge. */
static gboolean in_sight(GtkWidget *w, GtkWidget *window, const graphene_rect_t *r) {
  for (GtkWidget *p = w; p; p = gtk_widget_get_parent(p)) {
    graphene_rect_t port;
    if (GTK_IS_SCROLLED_WINDOW(p) && gtk_widget_compute_bounds(p, window, &port) &&
        !graphene_rect_contains_rect(&port, r))
      return FALSE;
  }
  return TRUE;
}

static void check_contrast(GtkWidget *w, gpointer user) {
  Picture *p = user;
  graphene_rect_t r;
  if (!GTK_IS_LABEL(w) || !*gtk_label_get_text(GTK_LABEL(w)) || !gtk_widget_get_sensitive(w) ||
      !gtk_widget_compute_bounds(w, p->window, &r))
    return;
  guint8 behind[3];
  if (!in_sight(w, p->window, &r) || !ground(p, &r, behind)) return;
  GdkRGBA c;
  gtk_style_context_get_color(gtk_widget_get_style_context(w), &c);
  const double alpha = (double)c.alpha * opacity_of(w),
               ink[3] = {(double)c.red, (double)c.green, (double)c.blue};
  double text[3], back[3];
  for (int i = 0; i < 3; i++) {
    back[i] = behind[i] / 255.0;
    text[i] = ink[i] * alpha + back[i] * (1 - alpha);
  }
  const double ratio = contrast(text, back);
  p->labels++;
  if (ratio >= 4.5) return;
  g_autofree char *name = name_of(w);
  g_test_message("contrast %.2f of %s (#%02x%02x%02x behind it)", ratio, name, behind[0], behind[1],
                 behind[2]);
  g_test_fail();
}

static void test_contrast(void) {
  const AdwColorScheme schemes[] = {ADW_COLOR_SCHEME_FORCE_LIGHT, ADW_COLOR_SCHEME_FORCE_DARK};
  TmWindow *w = open_window(1360, 850);
  for (guint i = 0; i < G_N_ELEMENTS(schemes); i++) {
    adw_style_manager_set_color_scheme(adw_style_manager_get_default(), schemes[i]);
    for (guint page = 0; tm_window_page(page); page++) {
      show_page(w, page);
      Picture p = {0};
      take_picture(&p, GTK_WIDGET(w));
      visit_mapped(GTK_WIDGET(w), check_contrast, &p);
      g_test_message("%s, %s: %u texts", tm_window_page(page), i ? "dark" : "light", p.labels);
      g_assert_cmpuint(p.labels, >, 5);
      g_free(p.pixels);
    }
  }
  close_window(w);
  adw_style_manager_set_color_scheme(adw_style_manager_get_default(), ADW_COLOR_SCHEME_FORCE_LIGHT);
}

/* The test can fail: grey on grey is seen. */
static void test_contrast_of_known(void) {
  const double black[3] = {0, 0, 0}, white[3] = {1, 1, 1},
               grey[3] = {0x76 / 255.0, 0x76 / 255.0, 0x76 / 255.0};
  g_assert_cmpfloat_with_epsilon(contrast(black, white), 21, 1e-9);
  g_assert_cmpfloat_with_epsilon(contrast(grey, white), 4.54,
                                 0.01); /* the lightest grey that passes on white */
  g_assert_cmpfloat(contrast(grey, grey), ==, 1);
}

/* ---- large text ---- */

typedef struct {
  GtkWidget *window;
  int w, h;
} Frame;

static gboolean can_scroll_to(GtkWidget *w) {
  for (; w; w = gtk_widget_get_parent(w))
    if (GTK_IS_SCROLLED_WINDOW(w) || GTK_IS_VIEWPORT(w)) return TRUE;
  return FALSE;
}

/* Neither off the window nor narrower than it needs to be. */
static void check_fits(GtkWidget *w, gpointer user) {
  const Frame *f = user;
  graphene_rect_t r;
  if ((!is_control(w) && !GTK_IS_LABEL(w)) || is_part(w) || !gtk_widget_compute_bounds(w, f->window, &r) ||
      r.size.width < 1)
    return;
  if (GTK_IS_LABEL(w) && !*gtk_label_get_text(GTK_LABEL(w))) return;
  const double right = (double)(r.origin.x + r.size.width), bottom = (double)(r.origin.y + r.size.height);
  const gboolean off = (double)r.origin.x < -1 || right > f->w + 1 ||
                       (!can_scroll_to(w) && ((double)r.origin.y < -1 || bottom > f->h + 1));
  if (!off) return;
  g_autofree char *name = name_of(w);
  g_test_message("off the window (%.0f to %.0f of %d across, to %.0f of %d down): %s", (double)r.origin.x,
                 right, f->w, bottom, f->h, name);
  g_test_fail();
}

static void test_large_text(void) {
  GtkSettings *s = gtk_settings_get_default();
  int dpi;
  g_object_get(s, "gtk-xft-dpi", &dpi, NULL);
  g_object_set(s, "gtk-xft-dpi", 2 * dpi, NULL);
  const int widths[] = {1360, 720};
  for (guint i = 0; i < G_N_ELEMENTS(widths); i++) {
    TmWindow *w = open_window(widths[i], 850);
    for (guint page = 0; tm_window_page(page); page++) {
      show_page(w, page);
      Frame f = {GTK_WIDGET(w), gtk_widget_get_width(GTK_WIDGET(w)), gtk_widget_get_height(GTK_WIDGET(w))};
      g_test_message("%s: %d x %d", tm_window_page(page), f.w, f.h);
      g_assert_cmpint(f.w, <=, widths[i] + 60); /* text may not push the window off the screen */
      visit_mapped(GTK_WIDGET(w), check_fits, &f);
    }
    close_window(w);
  }
  g_object_set(s, "gtk-xft-dpi", dpi, NULL);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  app = tm_application_new();
  g_application_set_flags(G_APPLICATION(app),
                          G_APPLICATION_NON_UNIQUE | g_application_get_flags(G_APPLICATION(app)));
  g_assert_true(g_application_register(G_APPLICATION(app), NULL, NULL));
  g_application_set_default(G_APPLICATION(app));
  adw_style_manager_set_color_scheme(adw_style_manager_get_default(), ADW_COLOR_SCHEME_FORCE_LIGHT);
  g_test_add_func("/access/contrast-of-known", test_contrast_of_known);
  g_test_add_func("/access/keyboard", test_keyboard);
  g_test_add_func("/access/contrast", test_contrast);
  g_test_add_func("/access/large-text", test_large_text);
  const int code = g_test_run();
  g_object_unref(app);
  return code;
}
