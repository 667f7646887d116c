#include "ui/entry_item.h"

struct _TmEntryItem {
  GObject parent;
  guint entry;
};

G_DEFINE_FINAL_TYPE(TmEntryItem, tm_entry_item, G_TYPE_OBJECT)

static void tm_entry_item_class_init(TmEntryItemClass *c) {
  (void)c;
}
static void tm_entry_item_init(TmEntryItem *i) {
  (void)i;
}

TmEntryItem *tm_entry_item_new(guint entry) {
  TmEntryItem *i = g_object_new(TM_TYPE_ENTRY_ITEM, NULL);
  i->entry = entry;
  return i;
}

guint tm_entry_item_get_entry(TmEntryItem *i) {
  return i->entry;
}
