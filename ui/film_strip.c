#include "ui/film_strip.h"

#include <glib/gi18n.h>

#include "ui/strip_item.h"

enum { WIDTH = 92, HEIGHT = 69 };

struct _TmFilmStrip {
  GtkWidget parent;
  GtkWidget *scroller, *view;
  GListStore *items;
  GtkSingleSelection *selection;
  guint shown_class;
  gboolean held;  /* the person chose a picture: the strip stays there */
  gboolean quiet; /* what is selected now, nobody chose */
  guint scroll;   /* to what is selected, before the next frame */
};

enum { SELECTED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(TmFilmStrip, tm_film_strip, GTK_TYPE_WIDGET)

/* What belongs to one cell, kept with its list item. */
typedef struct {
  GtkWidget *picture, *badge, *name;
} Cell;

static void setup(GtkSignalListItemFactory *f, GtkListItem *item, TmFilmStrip *s) {
  (void)f;
  (void)s;
  Cell *c = g_new0(Cell, 1);
  GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 3), *overlay = gtk_overlay_new(),
            *place = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
  gtk_widget_set_size_request(place, WIDTH, HEIGHT);
  c->picture = gtk_picture_new();
  gtk_picture_set_content_fit(GTK_PICTURE(c->picture), GTK_CONTENT_FIT_COVER);
  gtk_widget_set_overflow(c->picture, GTK_OVERFLOW_HIDDEN);
  gtk_widget_add_css_class(c->picture, "tm-thumb");
  c->badge = gtk_label_new(NULL);
  gtk_widget_add_css_class(c->badge, "tm-badge");
  gtk_widget_add_css_class(c->badge, "numeric");
  gtk_widget_set_halign(c->badge, GTK_ALIGN_END);
  gtk_widget_set_valign(c->badge, GTK_ALIGN_END);
  gtk_overlay_set_child(GTK_OVERLAY(overlay), place);
  gtk_overlay_add_overlay(GTK_OVERLAY(overlay), c->picture);
  gtk_overlay_add_overlay(GTK_OVERLAY(overlay), c->badge);
  c->name = gtk_label_new(NULL);
  gtk_label_set_ellipsize(GTK_LABEL(c->name), PANGO_ELLIPSIZE_START); /* the numbers at the end tell them apart */
  gtk_label_set_max_width_chars(GTK_LABEL(c->name), 1);
  gtk_widget_add_css_class(c->name, "tm-tiny");
  gtk_widget_add_css_class(c->name, "tm-dim");
  gtk_box_append(GTK_BOX(box), overlay);
  gtk_box_append(GTK_BOX(box), c->name);
  gtk_list_item_set_child(item, box);
  g_object_set_data_full(G_OBJECT(item), "cell", c, g_free);
}

/* Without what all names of a folder share with their extension. */
static char *stem_of(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot && dot > name ? g_strndup(name, (gsize)(dot - name)) : g_strdup(name);
}

static void bind(GtkSignalListItemFactory *f, GtkListItem *item, TmFilmStrip *s) {
  (void)f;
  const Cell *c = g_object_get_data(G_OBJECT(item), "cell");
  TmStripItem *i = gtk_list_item_get_item(item);
  const TmFolderPicture *p = tm_strip_item_get_picture(i);
  g_autofree char *stem = stem_of(p->name), *share = NULL, *words = NULL;
  gtk_picture_set_paintable(GTK_PICTURE(c->picture), tm_strip_item_get_paintable(i));
  gtk_label_set_label(GTK_LABEL(c->name), stem);
  if (s->shown_class < p->classes->n) {
    const double percent = p->shares[s->shown_class] * 100;
    share = g_strdup_printf("%.0f\u2009%%", percent);
    words = g_strdup_printf(_("%s, %s %.0f percent"), stem, p->classes->classes[s->shown_class].name, percent);
  }
  gtk_widget_set_visible(c->badge, share != NULL);
  gtk_label_set_label(GTK_LABEL(c->badge), share ? share : "");
  gtk_widget_set_tooltip_text(gtk_list_item_get_child(item), p->name);
  gtk_accessible_update_property(GTK_ACCESSIBLE(c->picture), GTK_ACCESSIBLE_PROPERTY_LABEL, words ? words : stem, -1);
}

static void unbind(GtkSignalListItemFactory *f, GtkListItem *item, TmFilmStrip *s) {
  (void)f;
  (void)s;
  const Cell *c = g_object_get_data(G_OBJECT(item), "cell");
  gtk_picture_set_paintable(GTK_PICTURE(c->picture), NULL);
}

static void selection_changed(TmFilmStrip *s) {
  TmStripItem *i = gtk_single_selection_get_selected_item(s->selection);
  if (s->quiet || !i) return;
  /* The last one is the latest: from there on the strip follows again. */
  s->held = gtk_single_selection_get_selected(s->selection) + 1 < tm_film_strip_n(s);
  g_signal_emit(s, signals[SELECTED], 0, s->held ? tm_strip_item_get_picture(i)->index : G_MAXUINT);
}

/* While nobody chose a picture the end stays in view, also when the strip grows or gets another width. */
static void follow(GtkAdjustment *a, TmFilmStrip *s) {
  if (!s->held) gtk_adjustment_set_value(a, gtk_adjustment_get_upper(a) - gtk_adjustment_get_page_size(a));
}

static void dispose(GObject *o) {
  TmFilmStrip *s = TM_FILM_STRIP(o);
  if (s->scroll) gtk_widget_remove_tick_callback(GTK_WIDGET(s), s->scroll);
  s->scroll = 0;
  g_clear_pointer(&s->scroller, gtk_widget_unparent);
  g_clear_object(&s->items);
  G_OBJECT_CLASS(tm_film_strip_parent_class)->dispose(o);
}

static void tm_film_strip_class_init(TmFilmStripClass *c) {
  G_OBJECT_CLASS(c)->dispose = dispose;
  gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(c), GTK_TYPE_BIN_LAYOUT);
  signals[SELECTED] = g_signal_new("selected", TM_TYPE_FILM_STRIP, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                   G_TYPE_NONE, 1, G_TYPE_UINT);
}

static void tm_film_strip_init(TmFilmStrip *s) {
  s->items = g_list_store_new(TM_TYPE_STRIP_ITEM);
  s->selection = gtk_single_selection_new(g_object_ref(G_LIST_MODEL(s->items)));
  gtk_single_selection_set_autoselect(s->selection, FALSE);
  GtkListItemFactory *f = gtk_signal_list_item_factory_new();
  g_signal_connect(f, "setup", G_CALLBACK(setup), s);
  g_signal_connect(f, "bind", G_CALLBACK(bind), s);
  g_signal_connect(f, "unbind", G_CALLBACK(unbind), s);
  g_signal_connect_object(s->selection, "notify::selected-item", G_CALLBACK(selection_changed), s, G_CONNECT_SWAPPED);
  s->view = gtk_list_view_new(GTK_SELECTION_MODEL(s->selection), f);
  gtk_orientable_set_orientation(GTK_ORIENTABLE(s->view), GTK_ORIENTATION_HORIZONTAL);
  gtk_list_view_set_single_click_activate(GTK_LIST_VIEW(s->view), FALSE);
  gtk_widget_add_css_class(s->view, "tm-strip-list");
  gtk_accessible_update_property(GTK_ACCESSIBLE(s->view), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Predicted pictures"), -1);
  s->scroller = gtk_scrolled_window_new();
  gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(s->scroller), GTK_POLICY_AUTOMATIC, GTK_POLICY_NEVER);
  gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(s->scroller), s->view);
  gtk_widget_set_parent(s->scroller, GTK_WIDGET(s));
  g_signal_connect(gtk_scrolled_window_get_hadjustment(GTK_SCROLLED_WINDOW(s->scroller)), "changed", G_CALLBACK(follow), s);
}

GtkWidget *tm_film_strip_new(void) {
  return g_object_new(TM_TYPE_FILM_STRIP, NULL);
}

guint tm_film_strip_n(TmFilmStrip *s) {
  return g_list_model_get_n_items(G_LIST_MODEL(s->items));
}

const TmFolderPicture *tm_film_strip_picture(TmFilmStrip *s, guint place) {
  g_autoptr(TmStripItem) i = g_list_model_get_item(G_LIST_MODEL(s->items), place);
  return i ? tm_strip_item_get_picture(i) : NULL;
}

void tm_film_strip_clear(TmFilmStrip *s) {
  s->quiet = TRUE;
  g_list_store_remove_all(s->items);
  s->quiet = FALSE;
  s->held = FALSE;
}

/* A row can be scrolled to once it has been given a place, which is with the next frame. */
static gboolean scroll_now(GtkWidget *w, GdkFrameClock *clock, gpointer user) {
  (void)clock;
  (void)user;
  TmFilmStrip *s = TM_FILM_STRIP(w);
  const guint place = gtk_single_selection_get_selected(s->selection);
  s->scroll = 0;
  if (place != GTK_INVALID_LIST_POSITION)
    gtk_widget_activate_action(s->view, "list.scroll-to-item", "u", place);
  return G_SOURCE_REMOVE;
}

static void select_place(TmFilmStrip *s, guint place) {
  gtk_single_selection_set_selected(s->selection, place);
  if (!s->scroll) s->scroll = gtk_widget_add_tick_callback(GTK_WIDGET(s), scroll_now, NULL, NULL);
}

void tm_film_strip_add(TmFilmStrip *s, TmFolderPicture *p) {
  g_autoptr(TmStripItem) item = tm_strip_item_new(p);
  s->quiet = TRUE; /* a strip that follows is not told what it selects */
  for (guint i = tm_film_strip_n(s); i > 0; i--)
    if (tm_film_strip_picture(s, i - 1)->index == p->index) g_list_store_remove(s->items, i - 1);
  g_list_store_append(s->items, item);
  if (tm_film_strip_n(s) > TM_STRIP_MOST) g_list_store_remove(s->items, 0);
  if (!s->held) select_place(s, tm_film_strip_n(s) - 1);
  s->quiet = FALSE;
}

void tm_film_strip_set_class(TmFilmStrip *s, guint c) {
  if (s->shown_class == c) return;
  s->shown_class = c;
  const guint n = tm_film_strip_n(s);
  if (n) g_list_model_items_changed(G_LIST_MODEL(s->items), 0, n, n);
}

void tm_film_strip_go(TmFilmStrip *s, int by) {
  const int n = (int)tm_film_strip_n(s), at = (int)gtk_single_selection_get_selected(s->selection);
  if (n) select_place(s, (guint)CLAMP(at + by, 0, n - 1));
}
