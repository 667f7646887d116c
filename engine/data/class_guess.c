#include "engine/data/class_guess.h"

#include <glib/gi18n.h>

#include "engine/data/mask.h"

enum {
  MOST_MASKS = 64,     /* looked at */
  MOST_COLOURS = 40,   /* more distinct colours than this are no classes without a table */
  MOST_VALUES = 65536, /* of one mask */
};

/* What the masks that were looked at hold. */
typedef struct {
  GHashTable *index, *colour; /* value to pixel count (guint64*) */
  GHashTable *soft;           /* as index, with the smoothed masks too */
  gboolean too_many;          /* one mask alone had more values than anybody counts */
  guint n, n_grey, n_palette, n_rgb, n_flat, n_smoothed;
  guint n_colours;      /* of the palette below */
  guint32 palette[256]; /* of the first palette mask */
  GError *first_error;
} Evidence;

static void evidence_clear(Evidence *e) {
  g_clear_pointer(&e->index, g_hash_table_unref);
  g_clear_pointer(&e->colour, g_hash_table_unref);
  g_clear_pointer(&e->soft, g_hash_table_unref);
  g_clear_error(&e->first_error);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Evidence, evidence_clear)

static void add_values(Evidence *e, GHashTable *table, const TmMask *m, TmMaskCode code) {
  g_autoptr(GArray) values = tm_mask_values(m, code, MOST_VALUES);
  if (!values) {
    e->too_many = TRUE;
    return;
  }
  for (guint i = 0; i < values->len; i++) {
    const TmMaskValue *v = &g_array_index(values, TmMaskValue, i);
    guint64 *count = g_hash_table_lookup(table, GINT_TO_POINTER(v->value));
    if (!count) g_hash_table_insert(table, GINT_TO_POINTER(v->value), count = g_new0(guint64, 1));
    *count += v->count;
  }
}

static void look_at(Evidence *e, const TmMask *m) {
  const gboolean flat = tm_mask_is_flat_rgb(m);
  e->n++;
  e->n_grey += m->kind == TM_MASK_GREY;
  e->n_palette += m->kind == TM_MASK_PALETTE;
  e->n_rgb += m->kind == TM_MASK_RGB;
  e->n_flat += flat;
  if (m->kind == TM_MASK_PALETTE && !e->n_colours) {
    e->n_colours = m->n_palette;
    for (guint i = 0; i < m->n_palette; i++) e->palette[i] = m->palette[i];
  }
  if (m->kind != TM_MASK_RGB || flat) {
    const gboolean smoothed = tm_mask_looks_smoothed(m);
    e->n_smoothed += smoothed;
    if (!smoothed) add_values(e, e->index, m, TM_MASK_INDEX);
    add_values(e, e->soft, m, TM_MASK_INDEX);
  }
  add_values(e, e->colour, m, TM_MASK_COLOUR);
}

static void gather(const TmLayout *l, Evidence *e) {
  g_autoptr(GPtrArray) with = g_ptr_array_new();
  for (guint i = 0; i < l->entries->len; i++)
    if (((TmEntry *)l->entries->pdata[i])->mask) g_ptr_array_add(with, l->entries->pdata[i]);
  const guint n = MIN(with->len, MOST_MASKS);
  for (guint k = 0; k < n; k++) {
    const TmEntry *entry = with->pdata[(guint64)k * with->len / n];
    g_auto(TmMask) m = {0};
    if (tm_mask_read(entry->mask, &m, e->first_error ? NULL : &e->first_error)) look_at(e, &m);
  }
}

static int by_number(gconstpointer a, gconstpointer b) {
  return *(const gint32 *)a - *(const gint32 *)b;
}

/* The values, sorted; of smoothed masks only those that cover 1 % of all pixels, the others being steps
 * between them. */
static GArray *sorted_values(GHashTable *table, gboolean only_common) {
  GArray *a = g_array_new(FALSE, FALSE, sizeof(gint32));
  guint64 total = 0;
  GHashTableIter it;
  gpointer key, count;
  for (g_hash_table_iter_init(&it, table); g_hash_table_iter_next(&it, NULL, &count);)
    total += *(guint64 *)count;
  for (g_hash_table_iter_init(&it, table); g_hash_table_iter_next(&it, &key, &count);) {
    const gint32 v = GPOINTER_TO_INT(key);
    if (!only_common || *(guint64 *)count * 100 >= total) g_array_append_val(a, v);
  }
  g_array_sort(a, by_number);
  return a;
}

/* A few smoothed masks among others are left to the scan; where most are, classes have to be found in them.
 */
static gboolean mostly_smoothed(const Evidence *e) {
  return e->n_smoothed * 2 > e->n;
}

static char *list_values(const GArray *values) {
  g_autoptr(GString) s = g_string_new(NULL);
  for (guint i = 0; i < MIN(values->len, 24); i++)
    g_string_append_printf(s, "%s%d", i ? ", " : "", g_array_index(values, gint32, i));
  if (values->len > 24) g_string_append(s, " …");
  return g_strdup(s->str);
}

static gboolean all_within(const GArray *values, gint32 most, gint32 also) {
  for (guint i = 0; i < values->len; i++) {
    const gint32 v = g_array_index(values, gint32, i);
    if (v != also && (v < 0 || v > most)) return FALSE;
  }
  return TRUE;
}

static gint32 largest_below(const GArray *values, gint32 limit) {
  gint32 most = -1;
  for (guint i = 0; i < values->len; i++)
    if (g_array_index(values, gint32, i) < limit) most = g_array_index(values, gint32, i);
  return most;
}

static guint32 class_colour(const Evidence *e, guint class, gint32 value) {
  return e->n_colours > 2 && value < (gint32)e->n_colours ? e->palette[value]
                                                          : tm_class_default_colour(class);
}

static void add_class(TmClassTable *t, guint32 rgb, gint32 named, gint32 value) {
  g_autofree char *name = g_strdup_printf(_("Class %d"), named);
  tm_class_table_add(t, name, rgb, value);
}

static TmClassTable *too_many_values(guint n, GError **error) {
  g_set_error(error, TM_ERROR, TM_ERROR_DATA,
              _("The masks hold %u different values, more than the %d classes a mask can have. They may be "
                "instance numbers; write class numbers into them, or give a class table."),
              n, TM_MAX_CLASSES);
  return NULL;
}

static TmClassTable *from_index_values(TmLayout *l, const Evidence *e, GError **error) {
  g_autoptr(GArray) values =
      mostly_smoothed(e) ? sorted_values(e->soft, TRUE) : sorted_values(e->index, FALSE);
  if (e->too_many || values->len > TM_MAX_CLASSES + 1)
    return too_many_values(e->too_many ? MOST_VALUES : values->len, error);
  if (values->len == 0) return too_many_values(g_hash_table_size(e->soft), error);
  const gint32 most = largest_below(values, 255);
  if (l->segnet && most >= 2 && all_within(values, 11, 255)) return tm_class_table_camvid();
  g_autofree char *shown = list_values(values);
  g_autoptr(TmClassTable) t = tm_class_table_new(TM_MASK_INDEX);
  if (all_within(values, 0, 255) &&
      (values->len == 2 || most < 0)) { /* black and white: 255 is the second class, not void */
    for (gint32 c = 0; c < 2; c++) add_class(t, tm_class_default_colour((guint)c), c, c * 255);
    t->source = g_strdup(_("black and white masks: value 0 is class 0, value 255 is class 1"));
    return g_steal_pointer(&t);
  }
  /* A lone 255 above at least two others is what most datasets write for void. */
  const gboolean has_void =
      values->len > 2 && g_array_index(values, gint32, values->len - 1) == 255 && most < 254;
  const guint n = values->len - (has_void ? 1u : 0u);
  if (n > TM_MAX_CLASSES) return too_many_values(n, error);
  for (guint i = 0; i < n; i++) {
    const gint32 v = g_array_index(values, gint32, i);
    add_class(t, class_colour(e, i, v), v, v);
  }
  if (has_void) tm_class_table_add_void(t, 255);
  t->source = g_strdup_printf(has_void ? _("guessed from the values of %u masks: %s; 255 is void")
                                       : _("guessed from the values of %u masks: %s"),
                              e->n, shown);
  if (g_array_index(values, gint32, n - 1) != (gint32)n - 1)
    tm_layout_note(l,
                   _("The mask values are not 0 to %u: %s become classes 0 to %u in this order, and "
                     "predictions are written with the original values."),
                   n - 1, shown, n - 1);
  return g_steal_pointer(&t);
}

static TmClassTable *from_colours(const Evidence *e, GError **error) {
  g_autoptr(GArray) values = sorted_values(e->colour, FALSE);
  if (e->too_many || values->len > MOST_COLOURS) {
    g_set_error(error, TM_ERROR, TM_ERROR_DATA,
                _("The masks are colour-coded and hold more than %d colours, so their classes cannot be "
                  "guessed. Add a label_colors.txt with lines “R G B name” to the folder."),
                MOST_COLOURS);
    return NULL;
  }
  g_autoptr(TmClassTable) t = tm_class_table_new(TM_MASK_COLOUR);
  for (guint i = 0; i < values->len; i++)
    if (g_array_index(values, gint32, i) >= 0)
      add_class(t, (guint32)g_array_index(values, gint32, i), (gint32)t->n, g_array_index(values, gint32, i));
  t->source = g_strdup_printf(_("guessed from the colours of %u masks: %u colours"), e->n, t->n);
  return g_steal_pointer(&t);
}

static gboolean colours_are_known(const Evidence *e, const TmClassTable *t) {
  GHashTableIter it;
  gpointer key, count;
  guint64 known = 0, total = 0;
  for (g_hash_table_iter_init(&it, e->colour); g_hash_table_iter_next(&it, &key, &count);
       total += *(guint64 *)count)
    if (tm_class_table_index(t, GPOINTER_TO_INT(key)) >= 0) known += *(guint64 *)count;
  return known * 2 > total;
}

static void note_order(TmLayout *l, const TmClassTable *t, const char *path) {
  g_autofree char *file = g_filename_display_basename(path);
  g_autoptr(GString) order = g_string_new(NULL);
  for (guint i = 0; i < t->n; i++)
    g_string_append_printf(order, "%s%u %s", i ? ", " : "", i, t->classes[i].name);
  tm_layout_note(l, _("The classes come from “%s”, in its order: %s."), file, order->str);
}

/* A colour file beside masks of colours gives their colours; beside masks of small numbers it gives the
 * numbers' names. */
static TmClassTable *from_file(TmLayout *l, const Evidence *e, const char *path, GError **error) {
  g_autoptr(TmClassTable) t = tm_class_table_read_colours(path, error);
  if (!t) return NULL;
  const gint32 lines = (gint32)(t->n + t->n_void);
  g_autoptr(GArray) values = sorted_values(e->index, FALSE);
  const gboolean indices = e->n_rgb == e->n_flat && all_within(values, lines - 1, 255);
  if (indices && !(e->n_palette && colours_are_known(e, t))) {
    g_clear_pointer(&t, tm_class_table_free);
    t = tm_class_table_read_names(path, error);
    if (t && tm_class_table_index(t, 255) < 0) tm_class_table_add_void(t, 255);
  }
  if (t) note_order(l, t, path);
  return g_steal_pointer(&t);
}

static void note_kinds(TmLayout *l, const Evidence *e) {
  if (e->n_flat)
    tm_layout_note(l, _("%u of %u masks looked at are RGB with R = G = B; they are read as grey values."),
                   e->n_flat, e->n);
  if ((e->n_grey > 0) + (e->n_palette > 0) + (e->n_rgb > 0) > 1)
    tm_layout_note(l, _("The masks are of several kinds: %u grey, %u palette, %u RGB of %u looked at."),
                   e->n_grey, e->n_palette, e->n_rgb, e->n);
  if (mostly_smoothed(e))
    tm_layout_note(l,
                   _("%u of %u masks looked at hold many values and look smoothed or lossily compressed; "
                     "only values on at least 1 %% of the pixels were taken as classes."),
                   e->n_smoothed, e->n);
  else if (e->n_smoothed)
    tm_layout_note(l,
                   _("%u of %u masks looked at hold many values and look smoothed or lossily compressed; "
                     "the classes were taken from the others."),
                   e->n_smoothed, e->n);
}

TmClassTable *tm_class_guess(TmLayout *l, GError **error) {
  g_auto(Evidence) e = {.index = g_hash_table_new_full(NULL, NULL, NULL, g_free),
                        .soft = g_hash_table_new_full(NULL, NULL, NULL, g_free),
                        .colour = g_hash_table_new_full(NULL, NULL, NULL, g_free)};
  gather(l, &e);
  if (e.n == 0) {
    g_propagate_prefixed_error(error, g_steal_pointer(&e.first_error), "%s ",
                               _("No mask could be read. The first:"));
    return NULL;
  }
  note_kinds(l, &e);
  g_autofree char *file = tm_layout_colour_file(l);
  if (file) return from_file(l, &e, file, error);
  return e.n_rgb > e.n_flat ? from_colours(&e, error) : from_index_values(l, &e, error);
}
