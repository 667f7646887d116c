#include "ui/confusion_map.h"

#include <adwaita.h>
#include <gdk/gdkkeysyms.h>
#include <glib/gi18n.h>
#include <math.h>

#include "ui/draw_text.h"
#include "ui/ink.h"
#include "ui/words.h"

enum { CELL_LEAST = 18, CELL_MOST = 38, NUMBER_LEAST = 20, AIR = 6 };

struct _TmConfusionMap {
  GtkWidget parent;
  TmConfusion *confusion;
  TmClassTable *classes;
  guint64 *rows, *columns, all; /* sums */
  TmConfusionScale scale;
  gboolean compact, chosen; /* chosen: by the person */
  guint truth, call;
};

enum { SELECTED, ACTIVATED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(TmConfusionMap, tm_confusion_map, GTK_TYPE_WIDGET)

static guint n_of(TmConfusionMap *m) {
  return m->confusion ? m->confusion->n : 0;
}

static guint64 pixels_at(TmConfusionMap *m, guint truth, guint call) {
  return m->confusion->pixels[(gsize)truth * m->confusion->n + call];
}

double tm_confusion_map_share(TmConfusionMap *m, guint truth, guint call) {
  if (truth >= n_of(m) || call >= n_of(m)) return NAN;
  const guint64 whole = m->scale == TM_SCALE_TRUTH  ? m->rows[truth]
                        : m->scale == TM_SCALE_CALL ? m->columns[call]
                                                    : m->all;
  return whole ? (double)pixels_at(m, truth, call) / (double)whole : NAN;
}

static const char *name_of(TmConfusionMap *m, guint c) {
  return m->classes->classes[c].name;
}

/* ---- colours ---- */

GdkRGBA tm_confusion_colour(double share, gboolean dark) {
  static const guint32 stops[2][4] = {{0xffffff, 0x99c2f2, 0x1c70d9, 0x0d296b},
                                      {0x3d3d3d, 0x2b5182, 0x4a94ee, 0xc4e0ff}};
  const double t = isnan(share) ? 0 : sqrt(CLAMP(share, 0.0, 1.0)) * 3;
  const int i = MIN((int)t, 2);
  float c[3];
  for (int k = 0; k < 3; k++) {
    const int shift = 16 - 8 * k;
    const double a = stops[dark][i] >> shift & 255, b = stops[dark][i + 1] >> shift & 255;
    c[k] = (float)((a + (b - a) * (t - i)) / 255);
  }
  return (GdkRGBA){c[0], c[1], c[2], 1};
}

static double linear(float v) {
  return (double)v <= 0.03928 ? (double)v / 12.92 : pow(((double)v + 0.055) / 1.055, 2.4);
}

/* Black or white, whichever stands out more (WCAG's relative luminance). */
GdkRGBA tm_confusion_text(const GdkRGBA *c) {
  const double l = 0.2126 * linear(c->red) + 0.7152 * linear(c->green) + 0.0722 * linear(c->blue);
  return (l + 0.05) / 0.05 > 1.05 / (l + 0.05) ? (GdkRGBA){0, 0, 0, 1} : (GdkRGBA){1, 1, 1, 1};
}

/* ---- places ---- */

typedef struct {
  double x, y, cell, names; /* left and top of the cells; width of the names at the left */
} Places;

static char *short_name(TmConfusionMap *m, guint c) {
  return m->compact ? g_strdup_printf("%u", c) : g_strdup(name_of(m, c));
}

static void lay_out(TmConfusionMap *m, double w, double h, Places *p) {
  int names = 0;
  for (guint i = 0; i < n_of(m); i++) {
    g_autofree char *name = short_name(m, i);
    names = MAX(names, tm_text_width(GTK_WIDGET(m), name, TM_TEXT_TINY, TM_TEXT_BOLD, NULL));
  }
  names = MIN(names, (int)(w * 0.26));
  /* Names across are turned by 45 degrees and lean out at the right. */
  const double lean = m->compact ? 0 : names * 0.71, head = m->compact ? 18 : lean + 14;
  const double n = MAX(n_of(m), 1);
  p->names = names;
  p->cell = floor(CLAMP(MIN((w - names - AIR - lean) / n, (h - head - 2) / n), m->compact ? 12 : CELL_LEAST, CELL_MOST));
  p->x = floor(names + AIR + MAX(0, (w - names - AIR - lean - p->cell * n) / 2));
  p->y = floor(head);
}

static gboolean cell_at(TmConfusionMap *m, double x, double y, guint *truth, guint *call) {
  Places p;
  lay_out(m, gtk_widget_get_width(GTK_WIDGET(m)), gtk_widget_get_height(GTK_WIDGET(m)), &p);
  if (x < p.x || y < p.y) return FALSE;
  *call = (guint)((x - p.x) / p.cell);
  *truth = (guint)((y - p.y) / p.cell);
  return *call < n_of(m) && *truth < n_of(m);
}

/* ---- drawing ---- */

static void rounded(cairo_t *cr, double x, double y, double side) {
  const double r = 3;
  cairo_new_sub_path(cr);
  cairo_arc(cr, x + side - r, y + r, r, -G_PI / 2, 0);
  cairo_arc(cr, x + side - r, y + side - r, r, 0, G_PI / 2);
  cairo_arc(cr, x + r, y + side - r, r, G_PI / 2, G_PI);
  cairo_arc(cr, x + r, y + r, r, G_PI, 1.5 * G_PI);
  cairo_close_path(cr);
}

static void draw_cell(TmConfusionMap *m, cairo_t *cr, const Places *p, guint truth, guint call) {
  GtkWidget *w = GTK_WIDGET(m);
  const gboolean dark = adw_style_manager_get_dark(adw_style_manager_get_default());
  const double share = tm_confusion_map_share(m, truth, call), x = p->x + p->cell * call, y = p->y + p->cell * truth;
  GdkRGBA fill = tm_confusion_colour(share, dark), rim = tm_ink_text(w, tm_ink_high_contrast() ? 0.5 : 0.12);
  rounded(cr, x + 1, y + 1, p->cell - 2);
  tm_ink_set(cr, &fill, 1);
  cairo_fill_preserve(cr);
  tm_ink_set(cr, &rim, 1);
  cairo_set_line_width(cr, 1);
  cairo_stroke(cr);
  if (isnan(share) || share < 0.015 || p->cell < NUMBER_LEAST) return;
  g_autofree char *text = g_strdup_printf("%.0f", share * 100);
  GdkRGBA ink = tm_confusion_text(&fill);
  tm_text_draw(w, cr, text, x + p->cell / 2, y + p->cell / 2, TM_TEXT_TINY,
               TM_TEXT_CENTRE | (truth == call ? TM_TEXT_BOLD : 0), 0, &ink);
}

static void draw_selected(TmConfusionMap *m, cairo_t *cr, const Places *p) {
  const gboolean dark = adw_style_manager_get_dark(adw_style_manager_get_default());
  GdkRGBA orange = dark ? (GdkRGBA){1, 0.64f, 0.28f, 1} : (GdkRGBA){0.78f, 0.27f, 0, 1};
  rounded(cr, p->x + p->cell * m->call, p->y + p->cell * m->truth, p->cell);
  tm_ink_set(cr, &orange, 1);
  cairo_set_line_width(cr, gtk_widget_has_visible_focus(GTK_WIDGET(m)) ? 3.5 : 2.2);
  cairo_stroke(cr);
}

static void draw_names(TmConfusionMap *m, cairo_t *cr, const Places *p) {
  GtkWidget *w = GTK_WIDGET(m);
  GdkRGBA text = tm_ink_text(w, 1), dim = tm_ink_text(w, 0.74);
  for (guint i = 0; i < n_of(m); i++) {
    g_autofree char *name = short_name(m, i);
    const gboolean row = i == m->truth, column = i == m->call;
    tm_text_draw(w, cr, name, p->x - AIR, p->y + p->cell * (i + 0.5), TM_TEXT_TINY,
                 TM_TEXT_RIGHT | (row ? TM_TEXT_BOLD : 0), (int)p->names, row ? &text : &dim);
    cairo_save(cr);
    cairo_translate(cr, p->x + p->cell * (i + 0.5), p->y - 4);
    if (!m->compact) cairo_rotate(cr, -G_PI / 4);
    tm_text_draw(w, cr, name, 0, m->compact ? -6 : 0, TM_TEXT_TINY,
                 (m->compact ? TM_TEXT_CENTRE : 0) | (column ? TM_TEXT_BOLD : 0), (int)p->names,
                 column ? &text : &dim);
    cairo_restore(cr);
  }
  if (m->compact) return;
  tm_text_draw(w, cr, _("Called →"), p->x - AIR, p->y - 24, TM_TEXT_TINY, TM_TEXT_RIGHT, 0, &dim);
  tm_text_draw(w, cr, _("Truth ↓"), p->x - AIR, p->y - 9, TM_TEXT_TINY, TM_TEXT_RIGHT, 0, &dim);
}

static void snapshot(GtkWidget *w, GtkSnapshot *s) {
  TmConfusionMap *m = TM_CONFUSION_MAP(w);
  const int width = gtk_widget_get_width(w), height = gtk_widget_get_height(w);
  if (!n_of(m) || width < 1 || height < 1) return;
  Places p;
  lay_out(m, width, height, &p);
  cairo_t *cr = gtk_snapshot_append_cairo(s, &GRAPHENE_RECT_INIT(0, 0, (float)width, (float)height));
  for (guint t = 0; t < n_of(m); t++)
    for (guint c = 0; c < n_of(m); c++) draw_cell(m, cr, &p, t, c);
  draw_names(m, cr, &p);
  draw_selected(m, cr, &p);
  cairo_destroy(cr);
}

static void measure(GtkWidget *w, GtkOrientation o, int for_size, int *min, int *nat, int *min_base, int *nat_base) {
  (void)for_size;
  TmConfusionMap *m = TM_CONFUSION_MAP(w);
  const int n = (int)MAX(n_of(m), 4), least = m->compact ? 12 : CELL_LEAST;
  *min = o == GTK_ORIENTATION_HORIZONTAL ? n * least + (m->compact ? 30 : 130) : n * least + (m->compact ? 24 : 80);
  *nat = n * 30 + (o == GTK_ORIENTATION_HORIZONTAL ? 140 : 84);
  *min_base = *nat_base = -1;
}

/* ---- selecting ---- */

char *tm_confusion_map_sentence(TmConfusionMap *m) {
  if (!n_of(m)) return g_strdup("");
  const double share = tm_confusion_map_share(m, m->truth, m->call);
  const char *truth = name_of(m, m->truth), *call = name_of(m, m->call);
  g_autofree char *percent = isnan(share) ? NULL : g_strdup_printf(share > 0 && share < 0.001 ? "< 0.1" : "%.1f", share * 100);
  if (!percent)
    return g_strdup_printf(m->scale == TM_SCALE_CALL ? _("No pixel was called %s.") : _("There is no pixel of %s."),
                           m->scale == TM_SCALE_CALL ? call : truth);
  if (m->scale == TM_SCALE_CALL)
    return g_strdup_printf(_("%s %% of the pixels called %s truly are %s."), percent, call, truth);
  if (m->scale == TM_SCALE_PIXELS)
    return g_strdup_printf(_("%s %% of all pixels are %s called %s."), percent, truth, call);
  return g_strdup_printf(_("%s %% of %s pixels were called %s."), percent, truth, call);
}

static void name_cell(TmConfusionMap *m) {
  g_autofree char *text = NULL;
  if (n_of(m)) {
    const double share = tm_confusion_map_share(m, m->truth, m->call);
    text = g_strdup_printf(_("%s called %s, %.1f percent"), name_of(m, m->truth), name_of(m, m->call),
                           isnan(share) ? 0 : share * 100);
  }
  gtk_accessible_update_property(GTK_ACCESSIBLE(m), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text ? text : "", -1);
}

static void select_cell(TmConfusionMap *m, guint truth, guint call) {
  m->truth = truth;
  m->call = call;
  name_cell(m);
  gtk_widget_queue_draw(GTK_WIDGET(m));
  g_signal_emit(m, signals[SELECTED], 0, truth, call);
}

void tm_confusion_map_select(TmConfusionMap *m, guint truth, guint call) {
  if (truth >= n_of(m) || call >= n_of(m)) return;
  m->chosen = TRUE;
  select_cell(m, truth, call);
}

gboolean tm_confusion_map_get_selected(TmConfusionMap *m, guint *truth, guint *call) {
  *truth = m->truth;
  *call = m->call;
  return n_of(m) > 0;
}

static gboolean key(GtkEventControllerKey *k, guint val, guint code, GdkModifierType state, TmConfusionMap *m) {
  (void)k;
  (void)code;
  (void)state;
  const guint n = n_of(m);
  guint t = m->truth, c = m->call;
  if (!n) return FALSE;
  switch (val) {
  case GDK_KEY_Up:
    t = t ? t - 1 : 0;
    break;
  case GDK_KEY_Down:
    t = MIN(t + 1, n - 1);
    break;
  case GDK_KEY_Left:
    c = c ? c - 1 : 0;
    break;
  case GDK_KEY_Right:
    c = MIN(c + 1, n - 1);
    break;
  case GDK_KEY_Home:
    c = 0;
    break;
  case GDK_KEY_End:
    c = n - 1;
    break;
  case GDK_KEY_Return:
  case GDK_KEY_KP_Enter:
  case GDK_KEY_space:
    g_signal_emit(m, signals[ACTIVATED], 0, t, c);
    return TRUE;
  default:
    return FALSE;
  }
  tm_confusion_map_select(m, t, c);
  return TRUE;
}

static void pressed(GtkGestureClick *g, int n, double x, double y, TmConfusionMap *m) {
  (void)g;
  guint t, c;
  gtk_widget_grab_focus(GTK_WIDGET(m));
  if (!cell_at(m, x, y, &t, &c)) return;
  tm_confusion_map_select(m, t, c);
  if (n == 2) g_signal_emit(m, signals[ACTIVATED], 0, t, c);
}

static gboolean query_tooltip(GtkWidget *w, int x, int y, gboolean keyboard, GtkTooltip *tip) {
  TmConfusionMap *m = TM_CONFUSION_MAP(w);
  guint t = m->truth, c = m->call;
  if (!keyboard && !cell_at(m, x, y, &t, &c)) return FALSE;
  if (!n_of(m)) return FALSE;
  const double share = tm_confusion_map_share(m, t, c);
  g_autofree char *pixels = tm_words_count(pixels_at(m, t, c)),
                  *text = g_strdup_printf(_("%s called %s: %.2f %%, %s pixels"), name_of(m, t), name_of(m, c),
                                          isnan(share) ? 0 : share * 100, pixels);
  gtk_tooltip_set_text(tip, text);
  return TRUE;
}

/* ---- the type ---- */

static void clear(TmConfusionMap *m) {
  g_clear_pointer(&m->confusion, tm_confusion_free);
  g_clear_pointer(&m->classes, tm_class_table_free);
  g_clear_pointer(&m->rows, g_free);
  g_clear_pointer(&m->columns, g_free);
}

static void finalize(GObject *o) {
  clear(TM_CONFUSION_MAP(o));
  G_OBJECT_CLASS(tm_confusion_map_parent_class)->finalize(o);
}

static void tm_confusion_map_class_init(TmConfusionMapClass *c) {
  GtkWidgetClass *w = GTK_WIDGET_CLASS(c);
  G_OBJECT_CLASS(c)->finalize = finalize;
  w->snapshot = snapshot;
  w->measure = measure;
  w->query_tooltip = query_tooltip;
  gtk_widget_class_set_accessible_role(w, GTK_ACCESSIBLE_ROLE_IMG);
  for (int i = 0; i < N_SIGNALS; i++)
    signals[i] = g_signal_new(i == SELECTED ? "selected" : "activated", TM_TYPE_CONFUSION_MAP, G_SIGNAL_RUN_LAST, 0,
                              NULL, NULL, NULL, G_TYPE_NONE, 2, G_TYPE_UINT, G_TYPE_UINT);
}

static void tm_confusion_map_init(TmConfusionMap *m) {
  GtkWidget *w = GTK_WIDGET(m);
  gtk_widget_set_focusable(w, TRUE);
  gtk_widget_set_has_tooltip(w, TRUE);
  gtk_accessible_update_property(GTK_ACCESSIBLE(m), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Confusion"), -1);
  GtkEventController *keys = gtk_event_controller_key_new();
  g_signal_connect(keys, "key-pressed", G_CALLBACK(key), m);
  gtk_widget_add_controller(w, keys);
  GtkGesture *click = gtk_gesture_click_new();
  g_signal_connect(click, "pressed", G_CALLBACK(pressed), m);
  gtk_widget_add_controller(w, GTK_EVENT_CONTROLLER(click));
  tm_ink_watch(w);
}

GtkWidget *tm_confusion_map_new(void) {
  return g_object_new(TM_TYPE_CONFUSION_MAP, NULL);
}

static void select_worst(TmConfusionMap *m) {
  const guint n = n_of(m);
  double most = -1;
  guint truth = 0, call = n > 1;
  for (guint t = 0; t < n; t++)
    for (guint c = 0; c < n; c++) {
      const double share = t == c || !m->all ? -1 : (double)pixels_at(m, t, c) / (double)m->all;
      if (share <= most) continue;
      most = share;
      truth = t;
      call = c;
    }
  select_cell(m, truth, call);
}

void tm_confusion_map_set(TmConfusionMap *m, const TmConfusion *c, const TmClassTable *classes) {
  const guint before = n_of(m);
  clear(m);
  if (c) {
    const guint n = c->n;
    m->confusion = tm_confusion_new(n);
    memcpy(m->confusion->pixels, c->pixels, (gsize)n * n * sizeof *c->pixels);
    m->classes = tm_class_table_copy(classes);
    m->rows = g_new0(guint64, MAX(n, 1));
    m->columns = g_new0(guint64, MAX(n, 1));
    m->all = 0;
    for (guint i = 0; i < n; i++) {
      m->rows[i] = tm_confusion_truth(c, i);
      m->columns[i] = tm_confusion_called(c, i);
      m->all += m->rows[i];
    }
  }
  if (before != n_of(m)) {
    m->chosen = FALSE;
    gtk_widget_queue_resize(GTK_WIDGET(m));
  }
  if (n_of(m) && !m->chosen)
    select_worst(m);
  else if (n_of(m))
    select_cell(m, m->truth, m->call);
  else
    name_cell(m);
  gtk_widget_queue_draw(GTK_WIDGET(m));
}

void tm_confusion_map_set_scale(TmConfusionMap *m, TmConfusionScale scale) {
  m->scale = scale;
  if (n_of(m)) select_cell(m, m->truth, m->call);
}

void tm_confusion_map_set_compact(TmConfusionMap *m, gboolean compact) {
  if (m->compact == compact) return;
  m->compact = compact;
  gtk_widget_queue_resize(GTK_WIDGET(m));
}
