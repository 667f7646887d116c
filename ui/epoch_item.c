#include "ui/epoch_item.h"

struct _TmEpochItem {
  GObject parent;
  TmEpochRow row;
};

G_DEFINE_FINAL_TYPE(TmEpochItem, tm_epoch_item, G_TYPE_OBJECT)

static void tm_epoch_item_class_init(TmEpochItemClass *c) {
  (void)c;
}
static void tm_epoch_item_init(TmEpochItem *i) {
  (void)i;
}

TmEpochItem *tm_epoch_item_new(const TmEpochRow *row) {
  TmEpochItem *i = g_object_new(TM_TYPE_EPOCH_ITEM, NULL);
  i->row = *row;
  return i;
}

const TmEpochRow *tm_epoch_item_get_row(TmEpochItem *i) {
  return &i->row;
}
