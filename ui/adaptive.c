#include "ui/adaptive.h"

struct _TmAdaptive {
  GtkWidget parent;
  GtkWidget *child;
  int least_width, natural_width, narrow_below;
  gboolean narrow, allocated_narrow;
  guint notify_source;
};

enum { PROP_CHILD = 1, PROP_LEAST_WIDTH, PROP_NATURAL_WIDTH, PROP_NARROW_BELOW, PROP_NARROW, N_PROPS };
static GParamSpec *props[N_PROPS];

static void buildable_init(GtkBuildableIface *iface);
static GtkBuildableIface *parent_buildable;

G_DEFINE_FINAL_TYPE_WITH_CODE(TmAdaptive, tm_adaptive, GTK_TYPE_WIDGET,
                              G_IMPLEMENT_INTERFACE(GTK_TYPE_BUILDABLE, buildable_init))

static void add_child(GtkBuildable *b, GtkBuilder *builder, GObject *child, const char *type) {
  if (GTK_IS_WIDGET(child))
    tm_adaptive_set_child(TM_ADAPTIVE(b), GTK_WIDGET(child));
  else
    parent_buildable->add_child(b, builder, child, type);
}

static void buildable_init(GtkBuildableIface *iface) {
  parent_buildable = g_type_interface_peek_parent(iface);
  iface->add_child = add_child;
}

/* What the child needs at least, as it is laid out now. */
static int child_width(TmAdaptive *a) {
  int min = 0;
  gtk_widget_measure(a->child, GTK_ORIENTATION_HORIZONTAL, -1, &min, NULL, NULL, NULL);
  return min;
}

/* Larger text needs more room: limits count in pixels at text scale 1. */
static int scaled(int pixels) {
  int dpi = -1;
  g_object_get(gtk_settings_get_default(), "gtk-xft-dpi", &dpi, NULL);
  return dpi > 0 ? (int)(pixels * CLAMP(dpi / (96.0 * 1024), 0.5, 4.0)) : pixels;
}

static void measure(GtkWidget *w, GtkOrientation o, int for_size, int *min, int *nat, int *min_base,
                    int *nat_base) {
  TmAdaptive *a = TM_ADAPTIVE(w);
  *min = *nat = 0;
  *min_base = *nat_base = -1;
  if (a->child && gtk_widget_should_layout(a->child)) {
    /* A width for a given height is asked for by way of ever larger widths, up to ones at which pictures
     * overflow. */
    for_size = o == GTK_ORIENTATION_VERTICAL && for_size >= 0 ? MAX(for_size, child_width(a)) : -1;
    gtk_widget_measure(a->child, o, for_size, min, nat, NULL, NULL);
  }
  if (o != GTK_ORIENTATION_HORIZONTAL) return;
  if (a->least_width > 0) *min = MIN(*min, a->least_width);
  if (a->natural_width > 0) *nat = MAX(*min, scaled(a->natural_width));
}

/* Changing the layout inside an allocation is too late for it: the change is told right after. */
static gboolean tell(gpointer data) {
  TmAdaptive *a = data;
  a->notify_source = 0;
  if (a->narrow != a->allocated_narrow) {
    a->narrow = a->allocated_narrow;
    g_object_notify_by_pspec(G_OBJECT(a), props[PROP_NARROW]);
  }
  return G_SOURCE_REMOVE;
}

static void size_allocate(GtkWidget *w, int width, int height, int baseline) {
  TmAdaptive *a = TM_ADAPTIVE(w);
  /* Given less than the child's wide layout needs, it is cut off for the one frame until "narrow" has turned
   * it. */
  if (a->child && gtk_widget_should_layout(a->child))
    gtk_widget_allocate(a->child, MAX(width, child_width(a)), height, baseline, NULL);
  a->allocated_narrow = width < scaled(a->narrow_below);
  if (a->narrow != a->allocated_narrow && !a->notify_source)
    a->notify_source = g_idle_add_full(GDK_PRIORITY_REDRAW - 5, tell, a, NULL);
}

static GtkSizeRequestMode request_mode(GtkWidget *w) {
  (void)w;
  return GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}

static void get_property(GObject *o, guint id, GValue *v, GParamSpec *ps) {
  TmAdaptive *a = TM_ADAPTIVE(o);
  switch (id) {
  case PROP_CHILD:
    g_value_set_object(v, a->child);
    break;
  case PROP_LEAST_WIDTH:
    g_value_set_int(v, a->least_width);
    break;
  case PROP_NATURAL_WIDTH:
    g_value_set_int(v, a->natural_width);
    break;
  case PROP_NARROW_BELOW:
    g_value_set_int(v, a->narrow_below);
    break;
  case PROP_NARROW:
    g_value_set_boolean(v, a->narrow);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID(o, id, ps);
  }
}

static void set_property(GObject *o, guint id, const GValue *v, GParamSpec *ps) {
  TmAdaptive *a = TM_ADAPTIVE(o);
  switch (id) {
  case PROP_CHILD:
    tm_adaptive_set_child(a, g_value_get_object(v));
    break;
  case PROP_LEAST_WIDTH:
    a->least_width = g_value_get_int(v);
    break;
  case PROP_NATURAL_WIDTH:
    a->natural_width = g_value_get_int(v);
    break;
  case PROP_NARROW_BELOW:
    a->narrow_below = g_value_get_int(v);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID(o, id, ps);
  }
}

static void dispose(GObject *o) {
  TmAdaptive *a = TM_ADAPTIVE(o);
  g_clear_handle_id(&a->notify_source, g_source_remove);
  g_clear_pointer(&a->child, gtk_widget_unparent);
  G_OBJECT_CLASS(tm_adaptive_parent_class)->dispose(o);
}

static void tm_adaptive_class_init(TmAdaptiveClass *c) {
  GObjectClass *oc = G_OBJECT_CLASS(c);
  GtkWidgetClass *wc = GTK_WIDGET_CLASS(c);
  oc->dispose = dispose;
  oc->get_property = get_property;
  oc->set_property = set_property;
  wc->measure = measure;
  wc->size_allocate = size_allocate;
  wc->get_request_mode = request_mode;
  const GParamFlags rw = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;
  props[PROP_CHILD] = g_param_spec_object("child", NULL, NULL, GTK_TYPE_WIDGET, rw);
  props[PROP_LEAST_WIDTH] = g_param_spec_int("least-width", NULL, NULL, 0, G_MAXINT, 0, rw);
  props[PROP_NATURAL_WIDTH] = g_param_spec_int("natural-width", NULL, NULL, 0, G_MAXINT, 0, rw);
  props[PROP_NARROW_BELOW] = g_param_spec_int("narrow-below", NULL, NULL, 0, G_MAXINT, 0, rw);
  props[PROP_NARROW] =
      g_param_spec_boolean("narrow", NULL, NULL, FALSE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties(oc, N_PROPS, props);
}

static void tm_adaptive_init(TmAdaptive *a) {
  g_signal_connect_object(gtk_settings_get_default(), "notify::gtk-xft-dpi",
                          G_CALLBACK(gtk_widget_queue_resize), a, G_CONNECT_SWAPPED);
  gtk_widget_set_overflow(GTK_WIDGET(a), GTK_OVERFLOW_HIDDEN);
}

GtkWidget *tm_adaptive_new(void) {
  return g_object_new(TM_TYPE_ADAPTIVE, NULL);
}

void tm_adaptive_set_child(TmAdaptive *a, GtkWidget *child) {
  if (a->child == child) return;
  g_clear_pointer(&a->child, gtk_widget_unparent);
  a->child = child;
  if (child) gtk_widget_set_parent(child, GTK_WIDGET(a));
  g_object_notify_by_pspec(G_OBJECT(a), props[PROP_CHILD]);
}

gboolean tm_adaptive_get_narrow(TmAdaptive *a) {
  return a->narrow;
}
