#include "ui/cell_item.h"

struct _TmCellItem {
  GObject parent;
  char *truth, *call;
  guint64 pixels;
  double share;
};

G_DEFINE_FINAL_TYPE(TmCellItem, tm_cell_item, G_TYPE_OBJECT)

static void finalize(GObject *o) {
  TmCellItem *i = TM_CELL_ITEM(o);
  g_free(i->truth);
  g_free(i->call);
  G_OBJECT_CLASS(tm_cell_item_parent_class)->finalize(o);
}

static void tm_cell_item_class_init(TmCellItemClass *c) {
  G_OBJECT_CLASS(c)->finalize = finalize;
}

static void tm_cell_item_init(TmCellItem *i) {
  (void)i;
}

TmCellItem *tm_cell_item_new(const char *truth, const char *call, guint64 pixels, double share) {
  TmCellItem *i = g_object_new(TM_TYPE_CELL_ITEM, NULL);
  i->truth = g_strdup(truth);
  i->call = g_strdup(call);
  i->pixels = pixels;
  i->share = share;
  return i;
}

const char *tm_cell_item_get_truth(TmCellItem *i) {
  return i->truth;
}
const char *tm_cell_item_get_call(TmCellItem *i) {
  return i->call;
}
guint64 tm_cell_item_get_pixels(TmCellItem *i) {
  return i->pixels;
}
double tm_cell_item_get_share(TmCellItem *i) {
  return i->share;
}
