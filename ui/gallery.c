#include "ui/gallery.h"

#include <glib/gi18n.h>

#include "ui/compose.h"
#include "ui/entry_item.h"
#include "ui/thumbs.h"

enum { SIDE = 224, BUDGET = 96 << 20, WIDTH = 140, HEIGHT = 105, COLUMNS = 8 };

struct _TmGallery {
  GtkWidget parent;
  GtkWidget *scroller, *view;
  GListStore *items;
  GtkSingleSelection *selection;
  TmDataset *dataset;
  TmThumbs *thumbs;
  GHashTable *bound; /* set of GtkListItem */
  gboolean *flagged;
  double opacity;
  TmGalleryFilter wanted;
  gpointer wanted_user;
  gboolean stale; /* to be filled when it comes into view */
};

/* What belongs to one cell, kept with its list item. */
typedef struct {
  TmGallery *gallery;
  GtkWidget *cell, *picture, *badge, *warning, *name;
  guint pending; /* request */
  TmScene *scene;
} Cell;

enum { SELECTED, ACTIVATED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(TmGallery, tm_gallery, GTK_TYPE_WIDGET)

static Cell *cell_of(GtkListItem *item) {
  return g_object_get_data(G_OBJECT(item), "cell");
}

static void paint(Cell *c) {
  const TmScene *s = c->scene;
  if (!s) return;
  gsize stride = (gsize)s->w * 4;
  guint8 *pixels = g_malloc(stride * s->h);
  TmComposition k = {.show = s->truth ? TM_SHOW_MASK : TM_SHOW_INPUT,
                     .w = s->w,
                     .h = s->h,
                     .rgb = s->rgb,
                     .labels = s->truth,
                     .colours = s->colours,
                     .n_classes = s->classes->n,
                     .opacity = c->gallery->opacity};
  tm_compose(&k, pixels, s->w, s->h, stride);
  g_autoptr(GBytes) bytes = g_bytes_new_take(pixels, stride * s->h);
  g_autoptr(GdkTexture) texture = gdk_memory_texture_new(s->w, s->h, GDK_MEMORY_R8G8B8A8, bytes, stride);
  gtk_picture_set_paintable(GTK_PICTURE(c->picture), GDK_PAINTABLE(texture));
}

static void ready(guint entry, TmScene *scene, const GError *error, gpointer user) {
  (void)entry;
  Cell *c = user;
  c->pending = 0;
  if (!scene) {
    gtk_widget_set_visible(c->warning, TRUE);
    gtk_widget_set_tooltip_text(c->cell, error ? error->message : NULL);
    return;
  }
  c->scene = tm_scene_ref(scene);
  paint(c);
}

static void cell_free(gpointer p) {
  Cell *c = p;
  if (c->pending && c->gallery->thumbs) tm_thumbs_cancel(c->gallery->thumbs, c->pending);
  g_clear_pointer(&c->scene, tm_scene_unref);
  g_free(c);
}

static GtkWidget *badge_new(GtkWidget *overlay, GtkWidget *child, GtkAlign h, GtkAlign v) {
  gtk_widget_add_css_class(child, "tm-badge");
  gtk_widget_set_halign(child, h);
  gtk_widget_set_valign(child, v);
  gtk_overlay_add_overlay(GTK_OVERLAY(overlay), child);
  return child;
}

static void setup(GtkSignalListItemFactory *f, GtkListItem *item, TmGallery *g) {
  (void)f;
  Cell *c = g_new0(Cell, 1);
  c->gallery = g;
  c->cell = gtk_box_new(GTK_ORIENTATION_VERTICAL, 3);
  GtkWidget *overlay = gtk_overlay_new();
  c->picture = gtk_picture_new();
  gtk_picture_set_content_fit(GTK_PICTURE(c->picture), GTK_CONTENT_FIT_COVER);
  gtk_widget_set_size_request(c->picture, WIDTH, HEIGHT);
  gtk_widget_set_overflow(c->picture, GTK_OVERFLOW_HIDDEN);
  gtk_widget_add_css_class(c->picture, "tm-thumb");
  gtk_overlay_set_child(GTK_OVERLAY(overlay), c->picture);
  c->badge = badge_new(overlay, gtk_label_new(NULL), GTK_ALIGN_START, GTK_ALIGN_START);
  c->warning = badge_new(overlay, gtk_image_new_from_icon_name("dialog-warning-symbolic"), GTK_ALIGN_END,
                         GTK_ALIGN_END);
  c->name = gtk_label_new(NULL);
  gtk_label_set_ellipsize(GTK_LABEL(c->name), PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_max_width_chars(GTK_LABEL(c->name), 1);
  gtk_widget_add_css_class(c->name, "tm-tiny");
  gtk_widget_add_css_class(c->name, "tm-dim");
  gtk_box_append(GTK_BOX(c->cell), overlay);
  gtk_box_append(GTK_BOX(c->cell), c->name);
  gtk_list_item_set_child(item, c->cell);
  g_object_set_data_full(G_OBJECT(item), "cell", c, cell_free);
}

static const char *split_title(TmSplit s) {
  return s == TM_SPLIT_TRAIN ? _("Train") : s == TM_SPLIT_VAL ? _("Val") : _("Test");
}

static void bind(GtkSignalListItemFactory *f, GtkListItem *item, TmGallery *g) {
  (void)f;
  Cell *c = cell_of(item);
  guint entry = tm_entry_item_get_entry(gtk_list_item_get_item(item));
  const TmEntry *e = tm_dataset_entry(g->dataset, entry);
  g_hash_table_add(g->bound, item);
  gtk_label_set_label(GTK_LABEL(c->badge), e->left_out ? _("Left out") : split_title(e->split));
  gtk_widget_set_opacity(c->cell, e->left_out ? 0.5 : 1);
  gtk_label_set_label(GTK_LABEL(c->name), e->name);
  gboolean flagged = g->flagged && g->flagged[entry];
  gtk_widget_set_visible(c->warning, flagged);
  gtk_widget_set_tooltip_text(c->cell, e->name);
  g_autofree char *label =
      g_strdup_printf("%s, %s%s%s", e->name, split_title(e->split), flagged ? _(", has a finding") : "",
                      e->left_out ? _(", left out") : "");
  gtk_accessible_update_property(GTK_ACCESSIBLE(c->picture), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
  c->scene = tm_thumbs_request(g->thumbs, entry, ready, c, &c->pending);
  paint(c);
}

static void unbind(GtkSignalListItemFactory *f, GtkListItem *item, TmGallery *g) {
  (void)f;
  Cell *c = cell_of(item);
  g_hash_table_remove(g->bound, item);
  if (c->pending && g->thumbs) tm_thumbs_cancel(g->thumbs, c->pending);
  c->pending = 0;
  g_clear_pointer(&c->scene, tm_scene_unref);
  gtk_picture_set_paintable(GTK_PICTURE(c->picture), NULL);
}

static void selection_changed(TmGallery *g) {
  TmEntryItem *item = gtk_single_selection_get_selected_item(g->selection);
  if (item) g_signal_emit(g, signals[SELECTED], 0, tm_entry_item_get_entry(item));
}

static void activated(GtkGridView *v, guint place, TmGallery *g) {
  (void)v;
  g_autoptr(TmEntryItem) item = g_list_model_get_item(G_LIST_MODEL(g->items), place);
  if (item) g_signal_emit(g, signals[ACTIVATED], 0, tm_entry_item_get_entry(item));
}

/* Only while it is on the screen: a hidden page decodes nothing. */
static void fill(TmGallery *g) {
  g->stale = !gtk_widget_get_mapped(GTK_WIDGET(g));
  if (g->stale) return;
  guint n = g->dataset ? tm_dataset_n(g->dataset) : 0, kept = 0;
  g_autofree gpointer *all = g_new(gpointer, MAX(n, 1u));
  for (guint i = 0; i < n; i++)
    if (!g->wanted || g->wanted(i, g->wanted_user)) all[kept++] = tm_entry_item_new(i);
  g_list_store_splice(g->items, 0, g_list_model_get_n_items(G_LIST_MODEL(g->items)), all, kept);
  for (guint i = 0; i < kept; i++) g_object_unref(all[i]);
}

static void map(GtkWidget *w) {
  GTK_WIDGET_CLASS(tm_gallery_parent_class)->map(w);
  if (TM_GALLERY(w)->stale) fill(TM_GALLERY(w));
}

static void dispose(GObject *o) {
  TmGallery *g = TM_GALLERY(o);
  if (g->items) g_list_store_remove_all(g->items);
  g_clear_pointer(&g->thumbs, tm_thumbs_free);
  g_clear_pointer(&g->scroller, gtk_widget_unparent);
  g_clear_object(&g->items);
  g_clear_pointer(&g->dataset, tm_dataset_unref);
  g_clear_pointer(&g->flagged, g_free);
  g_clear_pointer(&g->bound, g_hash_table_unref);
  G_OBJECT_CLASS(tm_gallery_parent_class)->dispose(o);
}

static void tm_gallery_class_init(TmGalleryClass *c) {
  G_OBJECT_CLASS(c)->dispose = dispose;
  GTK_WIDGET_CLASS(c)->map = map;
  gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(c), GTK_TYPE_BIN_LAYOUT);
  signals[SELECTED] = g_signal_new("selected", TM_TYPE_GALLERY, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                   G_TYPE_NONE, 1, G_TYPE_UINT);
  signals[ACTIVATED] = g_signal_new("activated", TM_TYPE_GALLERY, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                    G_TYPE_NONE, 1, G_TYPE_UINT);
}

static void tm_gallery_init(TmGallery *g) {
  g->opacity = 0.55;
  g->bound = g_hash_table_new(NULL, NULL);
  g->items = g_list_store_new(TM_TYPE_ENTRY_ITEM);
  g->selection = gtk_single_selection_new(g_object_ref(G_LIST_MODEL(g->items)));
  g_signal_connect_object(g->selection, "notify::selected-item", G_CALLBACK(selection_changed), g,
                          G_CONNECT_SWAPPED);
  GtkListItemFactory *f = gtk_signal_list_item_factory_new();
  g_signal_connect(f, "setup", G_CALLBACK(setup), g);
  g_signal_connect(f, "bind", G_CALLBACK(bind), g);
  g_signal_connect(f, "unbind", G_CALLBACK(unbind), g);
  g->view = gtk_grid_view_new(GTK_SELECTION_MODEL(g->selection), f);
  gtk_grid_view_set_max_columns(GTK_GRID_VIEW(g->view), COLUMNS);
  gtk_grid_view_set_min_columns(GTK_GRID_VIEW(g->view), 1);
  gtk_widget_add_css_class(g->view, "tm-gallery");
  gtk_accessible_update_property(GTK_ACCESSIBLE(g->view), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Pictures"), -1);
  g_signal_connect(g->view, "activate", G_CALLBACK(activated), g);
  g->scroller = gtk_scrolled_window_new();
  gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(g->scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(g->scroller), g->view);
  gtk_widget_set_parent(g->scroller, GTK_WIDGET(g));
}

GtkWidget *tm_gallery_new(void) {
  return g_object_new(TM_TYPE_GALLERY, NULL);
}

void tm_gallery_set_dataset(TmGallery *g, TmDataset *d) {
  g_list_store_remove_all(g->items);
  g_clear_pointer(&g->thumbs, tm_thumbs_free);
  g_clear_pointer(&g->dataset, tm_dataset_unref);
  g_clear_pointer(&g->flagged, g_free);
  if (!d) return;
  g->dataset = tm_dataset_ref(d);
  g->thumbs = tm_thumbs_new(d, SIDE, BUDGET);
  fill(g);
}

void tm_gallery_set_flagged(TmGallery *g, const gboolean *flagged) {
  g_clear_pointer(&g->flagged, g_free);
  if (flagged && g->dataset) g->flagged = g_memdup2(flagged, tm_dataset_n(g->dataset) * sizeof *flagged);
  GHashTableIter i;
  gpointer item;
  g_hash_table_iter_init(&i, g->bound);
  while (g_hash_table_iter_next(&i, &item, NULL)) {
    guint entry = tm_entry_item_get_entry(gtk_list_item_get_item(item));
    gtk_widget_set_visible(cell_of(item)->warning, g->flagged && g->flagged[entry]);
  }
}

void tm_gallery_set_filter(TmGallery *g, TmGalleryFilter wanted, gpointer user) {
  TmEntryItem *item = gtk_single_selection_get_selected_item(g->selection);
  const guint entry = item ? tm_entry_item_get_entry(item) : G_MAXUINT;
  g->wanted = wanted;
  g->wanted_user = user;
  fill(g);
  tm_gallery_select(g, entry);
}

/* Entries stand in their own order, filtered or not. */
static guint find_place(TmGallery *g, guint entry) {
  guint low = 0, high = g_list_model_get_n_items(G_LIST_MODEL(g->items));
  while (low < high) {
    const guint middle = (low + high) / 2;
    g_autoptr(TmEntryItem) item = g_list_model_get_item(G_LIST_MODEL(g->items), middle);
    if (tm_entry_item_get_entry(item) < entry)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

void tm_gallery_select(TmGallery *g, guint entry) {
  const guint n = g_list_model_get_n_items(G_LIST_MODEL(g->items)), place = find_place(g, entry);
  g_autoptr(TmEntryItem) item = place < n ? g_list_model_get_item(G_LIST_MODEL(g->items), place) : NULL;
  const guint to = item && tm_entry_item_get_entry(item) == entry ? place : 0;
  if (!n) return;
  gtk_widget_activate_action(g->view, "list.scroll-to-item", "u", to);
  gtk_single_selection_set_selected(g->selection, to);
}

void tm_gallery_set_opacity(TmGallery *g, double opacity) {
  g->opacity = opacity;
  GHashTableIter i;
  gpointer item;
  g_hash_table_iter_init(&i, g->bound);
  while (g_hash_table_iter_next(&i, &item, NULL)) paint(cell_of(item));
}

void tm_gallery_go(TmGallery *g, int by) {
  int n = (int)g_list_model_get_n_items(G_LIST_MODEL(g->items)),
      at = (int)gtk_single_selection_get_selected(g->selection);
  if (!n) return;
  guint to = (guint)CLAMP(at + by, 0, n - 1);
  gtk_widget_activate_action(g->view, "list.scroll-to-item", "u", to);
  gtk_single_selection_set_selected(g->selection, to);
}

guint tm_gallery_n_shown(TmGallery *g) {
  return g_list_model_get_n_items(G_LIST_MODEL(g->items));
}
