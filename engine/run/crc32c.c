#include "engine/run/crc32c.h"

static guint32 table[256];

static void make_table(void) {
  for (guint32 i = 0; i < 256; i++) {
    guint32 c = i;
    for (int k = 0; k < 8; k++) c = c & 1 ? (c >> 1) ^ 0x82f63b78u : c >> 1;
    table[i] = c;
  }
}

guint32 tm_crc32c(const void *data, gsize size) {
  static gsize made = 0;
  if (g_once_init_enter(&made)) {
    make_table();
    g_once_init_leave(&made, 1);
  }
  const guint8 *p = data;
  guint32 c = 0xffffffffu;
  while (size--) c = table[(c ^ *p++) & 255] ^ (c >> 8);
  return c ^ 0xffffffffu;
}

guint32 tm_crc32c_masked(const void *data, gsize size) {
  const guint32 c = tm_crc32c(data, size);
  return ((c >> 15) | (c << 17)) + 0xa282ead8u;
}
