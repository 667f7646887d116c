#include "ui/hero.h"

#include <glib/gi18n.h>

#include "engine/data/dataset.h"
#include "ui/compose.h"
#include "ui/scene.h"
#include "ui/swatch.h"

enum { WIDTH = 960, HEIGHT = 1000, SCENE = 20, RADIUS = 16, LINE = 5 };

/* Where the cut meets the upper and the lower edge, in shares of the width: the middle of the picture stays
 * in sight however it is cropped. */
#define CUT_TOP 0.61
#define CUT_BOTTOM 0.39

struct _TmHero {
  GtkWidget parent;
  GtkWidget *pills;
  GdkTexture *texture;
};

G_DEFINE_FINAL_TYPE(TmHero, tm_hero, GTK_TYPE_WIDGET)

/* The mask over the right of the picture, a white line between, and shade below, for the names. */
static GdkTexture *compose(const TmSample *s, const TmClassTable *t) {
  const gsize stride = (gsize)s->w * 4;
  guint8 *out = g_malloc(stride * (gsize)s->h);
  guint32 colours[TM_MAX_CLASSES];
  for (guint i = 0; i < t->n; i++) {
    const guint8 *c = t->classes[i].colour;
    colours[i] = (guint32)c[0] << 16 | (guint32)c[1] << 8 | c[2];
  }
  const TmComposition k = {.show = TM_SHOW_MASK,
                           .w = s->w,
                           .h = s->h,
                           .rgb = s->rgb,
                           .labels = s->labels,
                           .colours = colours,
                           .n_classes = t->n,
                           .opacity = 0.8};
  tm_compose(&k, out, s->w, s->h, stride);
  for (int y = 0; y < s->h; y++) {
    const double down = (double)y / s->h;
    const int cut = (int)((CUT_TOP + (CUT_BOTTOM - CUT_TOP) * down) * s->w);
    const int shade = (int)(256 - 130 * CLAMP((down - 0.75) / 0.25, 0, 1));
    guint8 *row = out + (gsize)y * stride;
    for (int x = 0; x < s->w; x++) {
      const guint8 *p = s->rgb + ((gsize)y * (gsize)s->w + (gsize)x) * 3;
      for (int c = 0; c < 3; c++) {
        const int v = x < cut ? p[c] : x < cut + LINE ? 240 : row[x * 4 + c];
        row[x * 4 + c] = (guint8)(v * shade >> 8);
      }
    }
  }
  g_autoptr(GBytes) bytes = g_bytes_new_take(out, stride * (gsize)s->h);
  return gdk_memory_texture_new(s->w, s->h, GDK_MEMORY_R8G8B8A8, bytes, stride);
}

static void draw(GTask *task, gpointer source, gpointer data, GCancellable *cancel) {
  (void)source;
  (void)data;
  (void)cancel;
  const TmDatasetOptions o = {
      .demo_train = SCENE + 1, .demo_val = 1, .demo_width = WIDTH, .demo_height = HEIGHT};
  GError *error = NULL;
  g_autoptr(TmDataset) d = tm_dataset_open("demo", &o, &error);
  g_auto(TmSample) s = {0};
  if (!d || !tm_dataset_read(d, SCENE, &s, &error))
    g_task_return_error(task, error);
  else
    g_task_return_pointer(task, compose(&s, tm_dataset_classes(d)), g_object_unref);
}

static void drawn(GObject *source, GAsyncResult *result, gpointer user) {
  (void)user;
  TmHero *h = TM_HERO(source);
  h->texture = g_task_propagate_pointer(G_TASK(result), NULL);
  gtk_widget_queue_draw(GTK_WIDGET(h));
}

/* The picture covers the widget. */
static void snapshot(GtkWidget *w, GtkSnapshot *s) {
  TmHero *h = TM_HERO(w);
  const float width = (float)gtk_widget_get_width(w), height = (float)gtk_widget_get_height(w);
  GskRoundedRect clip;
  gsk_rounded_rect_init_from_rect(&clip, &GRAPHENE_RECT_INIT(0, 0, width, height), RADIUS);
  gtk_snapshot_push_rounded_clip(s, &clip);
  if (h->texture) {
    const float scale = MAX(width / WIDTH, height / HEIGHT), pw = WIDTH * scale, ph = HEIGHT * scale;
    gtk_snapshot_append_texture(s, h->texture,
                                &GRAPHENE_RECT_INIT((width - pw) / 2, (height - ph) / 2, pw, ph));
  } else {
    gtk_snapshot_append_color(s, &(GdkRGBA){0.5f, 0.5f, 0.5f, 0.15f}, &clip.bounds);
  }
  gtk_snapshot_pop(s);
  GTK_WIDGET_CLASS(tm_hero_parent_class)->snapshot(w, s);
}

/* It takes the room there is and asks for little. */
static void measure(GtkWidget *w, GtkOrientation o, int for_size, int *min, int *nat, int *min_base,
                    int *nat_base) {
  (void)w;
  *min = o == GTK_ORIENTATION_HORIZONTAL ? 200 : 160;
  *nat = o == GTK_ORIENTATION_HORIZONTAL ? 600 : for_size > 0 ? CLAMP(for_size * 9 / 16, 160, 240) : 340;
  *min_base = *nat_base = -1;
}

static void size_allocate(GtkWidget *w, int width, int height, int baseline) {
  TmHero *h = TM_HERO(w);
  int need;
  (void)baseline;
  gtk_widget_set_child_visible(h->pills, height >= 300);
  gtk_widget_measure(h->pills, GTK_ORIENTATION_VERTICAL, MAX(width - 36, 1), NULL, &need, NULL, NULL);
  gtk_widget_size_allocate(h->pills,
                           &(GtkAllocation){18, MAX(height - need - 14, 0), MAX(width - 36, 1), need}, -1);
}

static GtkSizeRequestMode request_mode(GtkWidget *w) {
  (void)w;
  return GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}

static void dispose(GObject *o) {
  g_clear_pointer(&TM_HERO(o)->pills, gtk_widget_unparent);
  g_clear_object(&TM_HERO(o)->texture);
  G_OBJECT_CLASS(tm_hero_parent_class)->dispose(o);
}

static void tm_hero_class_init(TmHeroClass *c) {
  GtkWidgetClass *wc = GTK_WIDGET_CLASS(c);
  G_OBJECT_CLASS(c)->dispose = dispose;
  wc->snapshot = snapshot;
  wc->measure = measure;
  wc->size_allocate = size_allocate;
  wc->get_request_mode = request_mode;
  gtk_widget_class_set_accessible_role(wc, GTK_ACCESSIBLE_ROLE_IMG);
}

static void add_pill(TmHero *h, const TmClass *k) {
  GtkWidget *pill = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
  gtk_widget_add_css_class(pill, "tm-hero-pill");
  gtk_widget_set_halign(pill, GTK_ALIGN_START);
  gtk_box_append(GTK_BOX(pill),
                 tm_swatch_new((guint32)k->colour[0] << 16 | (guint32)k->colour[1] << 8 | k->colour[2]));
  gtk_box_append(GTK_BOX(pill), gtk_label_new(k->name));
  gtk_flow_box_insert(GTK_FLOW_BOX(h->pills), pill, -1);
  gtk_widget_set_focusable(gtk_widget_get_parent(pill), FALSE);
}

static void tm_hero_init(TmHero *h) {
  static const guint named[] = {3,  4, 8, 9,
                                10, 5, 1}; /* of CamVid's classes, as a road user would count them up */
  g_autoptr(TmClassTable) t = tm_class_table_camvid();
  h->pills = gtk_flow_box_new();
  gtk_flow_box_set_selection_mode(GTK_FLOW_BOX(h->pills), GTK_SELECTION_NONE);
  gtk_widget_set_can_focus(h->pills, FALSE); /* nothing in it takes the keyboard, and a flow box would keep Tab from going on */
  gtk_flow_box_set_max_children_per_line(GTK_FLOW_BOX(h->pills), 7);
  gtk_flow_box_set_column_spacing(GTK_FLOW_BOX(h->pills), 6);
  gtk_flow_box_set_row_spacing(GTK_FLOW_BOX(h->pills), 4);
  gtk_widget_add_css_class(h->pills, "tm-chips");
  gtk_widget_set_parent(h->pills, GTK_WIDGET(h));
  for (guint i = 0; i < G_N_ELEMENTS(named); i++) add_pill(h, &t->classes[named[i]]);
  gtk_accessible_update_property(
      GTK_ACCESSIBLE(h), GTK_ACCESSIBLE_PROPERTY_LABEL, _("A demo road"), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
      _("Left as a photograph, right with every pixel in the colour of its class"), -1);
  g_autoptr(GTask) task = g_task_new(h, NULL, drawn, NULL);
  g_task_run_in_thread(task, draw);
}

GtkWidget *tm_hero_new(void) {
  return g_object_new(TM_TYPE_HERO, NULL);
}
