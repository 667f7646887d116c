#include "engine/core/crc32c.h"

#include <string.h>

static guint32 table[256];

static void make_table(void) {
  for (guint32 i = 0; i < 256; i++) {
    guint32 c = i;
    for (int k = 0; k < 8; k++) c = c & 1 ? (c >> 1) ^ 0x82f63b78u : c >> 1;
    table[i] = c;
  }
}

guint32 tm_crc32c_plain(const void *data, gsize size) {
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

#ifdef __x86_64__
__attribute__((target("sse4.2"))) static guint32 by_instruction(const guint8 *p, gsize size) {
  guint64 c = 0xffffffffu;
  for (; size >= 8; p += 8, size -= 8) {
    guint64 word;
    memcpy(&word, p, sizeof word);
    c = __builtin_ia32_crc32di(c, word);
  }
  guint32 low = (guint32)c;
  while (size--) low = __builtin_ia32_crc32qi(low, *p++);
  return low ^ 0xffffffffu;
}
#endif

guint32 tm_crc32c(const void *data, gsize size) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("sse4.2")) return by_instruction(data, size);
#endif
  return tm_crc32c_plain(data, size);
}

guint32 tm_crc32c_masked(const void *data, gsize size) {
  const guint32 c = tm_crc32c(data, size);
  return ((c >> 15) | (c << 17)) + 0xa282ead8u;
}
