#include "engine/data/scan_store.h"

#include <locale.h>
#include <string.h>

#include "engine/core/crc32c.h"
#include "engine/data/image.h"
#include "engine/data/picture_key.h"

/* usable, width, height, traits, flat_rgb, pixels by class, pixels, sums, sums of squares, look, unknown values, findings */
#define RECORD "(biiubaut(ttt)(ttt)aya(iu)a(ubs))"
#define RECORDS "a{s" RECORD "}"

/* VERSION goes up whenever a scan would learn other things from the same files. */
enum { VERSION = 1, LARGEST = 256 << 20 };
/* DRAWING goes up whenever the demo roads are drawn otherwise. */
enum { DRAWING = 1 };
static const char magic[8] = "TMscan";

typedef struct {
  char magic[8];
  guint32 crc, version;
} Header;

G_STATIC_ASSERT(sizeof(Header) % 8 == 0); /* what follows is read in place */

struct _TmScanStore {
  const TmDataset *d;
  char *path, *classes;
  GVariant *all;
  GHashTable *at; /* key -> index in all, plus 1 */
};

/* ---- the file ---- */

static char *path_of(const TmDataset *d, const char *classes) {
  g_autofree char *name = g_strdup_printf("%s\n%d %d\n%s\n%s\n%s\n%d", tm_dataset_path(d), d->width, d->height, classes,
                                          TM_VERSION, setlocale(LC_MESSAGES, NULL), G_BYTE_ORDER);
  g_autofree char *hash = g_compute_checksum_for_string(G_CHECKSUM_SHA256, name, -1);
  return g_build_filename(g_get_user_cache_dir(), "tarmac", "scans", hash, NULL);
}

static GVariant *read_file(const char *path) {
  g_autofree char *data = NULL;
  gsize size;
  Header h;
  if (!g_file_get_contents(path, &data, &size, NULL) || size < sizeof h || size > LARGEST) return NULL;
  memcpy(&h, data, sizeof h);
  if (memcmp(h.magic, magic, sizeof magic) != 0 || h.version != VERSION ||
      h.crc != tm_crc32c(data + sizeof h, size - sizeof h))
    return NULL;
  g_autoptr(GBytes) whole = g_bytes_new_take(g_steal_pointer(&data), size),
                    records = g_bytes_new_from_bytes(whole, sizeof h, size - sizeof h);
  return g_variant_ref_sink(g_variant_new_from_bytes(G_VARIANT_TYPE(RECORDS), records, FALSE));
}

TmScanStore *tm_scan_store_new(const TmDataset *d) {
  TmScanStore *s = g_new0(TmScanStore, 1);
  s->d = d;
  s->classes = tm_picture_key_classes(d->classes);
  s->path = path_of(d, s->classes);
  s->at = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  s->all = read_file(s->path);
  for (gsize i = 0; s->all && i < g_variant_n_children(s->all); i++) {
    char *key;
    g_variant_get_child(s->all, i, "{s@" RECORD "}", &key, NULL);
    g_hash_table_insert(s->at, key, GSIZE_TO_POINTER(i + 1));
  }
  return s;
}

void tm_scan_store_free(TmScanStore *s) {
  if (!s) return;
  g_hash_table_unref(s->at);
  if (s->all) g_variant_unref(s->all);
  g_free(s->path);
  g_free(s->classes);
  g_free(s);
}

char *tm_scan_store_key(const TmScanStore *s, guint i) {
  const TmDataset *d = s->d;
  g_autofree char *key = d->demo ? g_strdup_printf("demo %d, %" G_GUINT64_FORMAT " %u, %d %d", DRAWING, d->seed,
                                                   d->scenes[i], d->width, d->height)
                                 : tm_picture_key(tm_dataset_at(d, i), s->classes);
  return key ? g_compute_checksum_for_string(G_CHECKSUM_SHA256, key, -1) : NULL;
}

/* ---- one record ---- */

static gboolean take_pixels(GVariant *pixels, GVariant *look, guint n_classes, TmEntryScan *out) {
  gsize n, cells;
  const guint32 *counts = g_variant_get_fixed_array(pixels, &n, sizeof *counts);
  const guint8 *luma = g_variant_get_fixed_array(look, &cells, 1);
  if (n != n_classes + 1 || cells != sizeof out->look) return FALSE;
  out->pixels = g_memdup2(counts, n * sizeof *counts);
  memcpy(out->look, luma, cells);
  return TRUE;
}

static void take_unknown(GVariant *list, TmEntryScan *out) {
  const gsize n = g_variant_n_children(list);
  if (n) out->unknown = g_array_new(FALSE, FALSE, sizeof(TmUnknown));
  for (gsize k = 0; k < n; k++) {
    TmUnknown u;
    g_variant_get_child(list, k, "(iu)", &u.value, &u.pixels);
    g_array_append_val(out->unknown, u);
  }
}

static void take_findings(GVariant *list, guint entry, TmEntryScan *out) {
  const gsize n = g_variant_n_children(list);
  if (n) out->findings = g_ptr_array_new_with_free_func(tm_finding_free);
  for (gsize k = 0; k < n; k++) {
    guint32 kind;
    gboolean leaves_out;
    char *text;
    g_variant_get_child(list, k, "(ubs)", &kind, &leaves_out, &text);
    tm_finding_add(out->findings, (TmFindingKind)MIN(kind, TM_FINDING_NOTE), entry, leaves_out, text);
  }
}

gboolean tm_scan_store_get(const TmScanStore *s, const char *key, guint i, TmEntryScan *out) {
  const gsize at = GPOINTER_TO_SIZE(g_hash_table_lookup(s->at, key));
  if (!at) return FALSE;
  g_autoptr(GVariant) record = NULL, pixels = NULL, look = NULL, unknown = NULL, findings = NULL;
  g_variant_get_child(s->all, at - 1, "{s@" RECORD "}", NULL, &record);
  *out = (TmEntryScan){0};
  g_variant_get(record, "(biiub@aut(ttt)(ttt)@ay@a(iu)@a(ubs))", &out->usable, &out->w, &out->h, &out->traits,
                &out->flat_rgb, &pixels, &out->n, &out->sum[0], &out->sum[1], &out->sum[2], &out->squares[0],
                &out->squares[1], &out->squares[2], &look, &unknown, &findings);
  if (out->w < 1 || out->h < 1 || out->w > TM_IMAGE_MAX_SIDE || out->h > TM_IMAGE_MAX_SIDE ||
      !take_pixels(pixels, look, s->d->classes->n, out))
    return FALSE;
  take_unknown(unknown, out);
  take_findings(findings, i, out);
  return TRUE;
}

static GVariant *record_of(const TmEntryScan *e, guint n_classes) {
  GVariantBuilder unknown, findings;
  g_variant_builder_init(&unknown, G_VARIANT_TYPE("a(iu)"));
  g_variant_builder_init(&findings, G_VARIANT_TYPE("a(ubs)"));
  for (guint k = 0; e->unknown && k < e->unknown->len; k++) {
    const TmUnknown *u = &g_array_index(e->unknown, TmUnknown, k);
    g_variant_builder_add(&unknown, "(iu)", u->value, u->pixels);
  }
  for (guint k = 0; e->findings && k < e->findings->len; k++) {
    const TmFinding *f = e->findings->pdata[k];
    g_variant_builder_add(&findings, "(ubs)", (guint32)f->kind, f->leaves_out, f->text);
  }
  return g_variant_new("(biiub@aut(ttt)(ttt)@ay@a(iu)@a(ubs))", e->usable, e->w, e->h, e->traits, e->flat_rgb,
                       g_variant_new_fixed_array(G_VARIANT_TYPE_UINT32, e->pixels, n_classes + 1, sizeof *e->pixels),
                       e->n, e->sum[0], e->sum[1], e->sum[2], e->squares[0], e->squares[1], e->squares[2],
                       g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, e->look, sizeof e->look, 1),
                       g_variant_builder_end(&unknown), g_variant_builder_end(&findings));
}

/* What could not be read may be readable next time, though the file did not change: a disk that was away. */
static gboolean lasting(const TmEntryScan *e) {
  for (guint k = 0; e->findings && k < e->findings->len; k++)
    if (((TmFinding *)e->findings->pdata[k])->kind == TM_FINDING_UNREADABLE) return FALSE;
  return e->w > 0;
}

void tm_scan_store_save(TmScanStore *s, guint n, char *const *keys, const TmEntryScan *entries) {
  GVariantBuilder all;
  g_variant_builder_init(&all, G_VARIANT_TYPE(RECORDS));
  for (guint i = 0; i < n; i++)
    if (keys[i] && lasting(&entries[i]))
      g_variant_builder_add(&all, "{s@" RECORD "}", keys[i], record_of(&entries[i], s->d->classes->n));
  g_autoptr(GVariant) records = g_variant_ref_sink(g_variant_builder_end(&all));
  const gsize size = g_variant_get_size(records);
  if (size > LARGEST - sizeof(Header)) return;
  g_autofree char *bytes = g_try_malloc(sizeof(Header) + size), *folder = g_path_get_dirname(s->path);
  if (!bytes || g_mkdir_with_parents(folder, 0700) != 0) return;
  g_variant_store(records, bytes + sizeof(Header));
  Header h = {.crc = tm_crc32c(bytes + sizeof(Header), size), .version = VERSION};
  memcpy(h.magic, magic, sizeof magic);
  memcpy(bytes, &h, sizeof h);
  g_file_set_contents(s->path, bytes, (gssize)(sizeof h + size), NULL);
}
