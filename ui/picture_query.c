#include "ui/picture_query.h"

#include <string.h>

typedef enum { IS_FINDING = 1 << 0, IS_LEFT_OUT = 1 << 1, IS_ALIKE = 1 << 2, IS_PAINTED = 1 << 3 } Is;

struct _TmPictureQuery {
  GPtrArray *names;    /* char*, folded */
  GArray *classes;     /* guint */
  guint splits;        /* bits; 0: any */
  guint is;            /* Is bits */
  GHashTable *entries; /* NULL: any */
  gboolean nothing;    /* a word that no picture can fulfil */
};

static char *fold(const char *text) {
  g_autofree char *valid = g_utf8_make_valid(text, -1);
  return g_utf8_casefold(valid, -1);
}

/* The whole name, else the first that begins so; -1: none. */
static int find_class(const TmClassTable *t, const char *folded) {
  int begins = -1;
  for (guint i = 0; t && i < t->n; i++) {
    g_autofree char *name = fold(t->classes[i].name);
    if (strcmp(name, folded) == 0) return (int)i;
    if (begins < 0 && g_str_has_prefix(name, folded)) begins = (int)i;
  }
  return begins;
}

static gboolean take_is(TmPictureQuery *q, const char *what) {
  static const struct {
    const char *name;
    Is is;
  } all[] = {
      {"finding", IS_FINDING}, {"left-out", IS_LEFT_OUT}, {"alike", IS_ALIKE}, {"painted", IS_PAINTED}};
  for (guint i = 0; i < G_N_ELEMENTS(all); i++)
    if (strcmp(what, all[i].name) == 0) {
      q->is |= all[i].is;
      return TRUE;
    }
  return FALSE;
}

static void take_word(TmPictureQuery *q, const char *word, const TmClassTable *t) {
  g_autofree char *folded = fold(word);
  const char *value = strchr(folded, ':');
  TmSplit split;
  if (g_str_has_prefix(folded, "class:")) {
    const int c = find_class(t, value + 1);
    if (c < 0)
      q->nothing = TRUE;
    else
      tm_picture_query_add_class(q, (guint)c);
  } else if (g_str_has_prefix(folded, "split:")) {
    if (tm_split_parse(value + 1, &split))
      tm_picture_query_set_split(q, split);
    else
      q->nothing = TRUE;
  } else if (g_str_has_prefix(folded, "is:")) {
    q->nothing |= !take_is(q, value + 1);
  } else {
    g_ptr_array_add(q->names, g_steal_pointer(&folded));
  }
}

TmPictureQuery *tm_picture_query_new(const char *text, const TmClassTable *classes) {
  TmPictureQuery *q = g_new0(TmPictureQuery, 1);
  q->names = g_ptr_array_new_with_free_func(g_free);
  q->classes = g_array_new(FALSE, FALSE, sizeof(guint));
  g_autoptr(GString) word = g_string_new(NULL);
  gboolean quoted = FALSE;
  for (const char *p = text ? text : ""; *p || word->len; p += *p != 0) {
    if (*p == '"') {
      quoted = !quoted;
    } else if (*p && (quoted || !g_ascii_isspace(*p))) {
      g_string_append_c(word, *p);
    } else if (word->len) {
      take_word(q, word->str, classes);
      g_string_truncate(word, 0);
    }
  }
  return q;
}

void tm_picture_query_free(TmPictureQuery *q) {
  if (!q) return;
  g_ptr_array_unref(q->names);
  g_array_unref(q->classes);
  if (q->entries) g_hash_table_unref(q->entries);
  g_free(q);
}

void tm_picture_query_add_class(TmPictureQuery *q, guint index) {
  g_array_append_val(q->classes, index);
}

void tm_picture_query_set_split(TmPictureQuery *q, TmSplit split) {
  q->splits |= 1u << split;
}

void tm_picture_query_set_entries(TmPictureQuery *q, const GArray *entries) {
  if (!q->entries) q->entries = g_hash_table_new(NULL, NULL);
  for (guint i = 0; i < entries->len; i++)
    g_hash_table_add(q->entries, GUINT_TO_POINTER(g_array_index(entries, guint, i)));
}

gboolean tm_picture_query_asks(const TmPictureQuery *q) {
  return q->nothing || q->names->len || q->classes->len || q->splits || q->is || q->entries;
}

static gboolean has_name(const TmPictureQuery *q, const TmEntry *e) {
  if (!q->names->len) return TRUE;
  g_autofree char *name = fold(e->name);
  for (guint i = 0; i < q->names->len; i++)
    if (!strstr(name, q->names->pdata[i])) return FALSE;
  return TRUE;
}

static gboolean has_classes(const TmPictureQuery *q, const TmScan *s, guint entry) {
  for (guint i = 0; i < q->classes->len; i++)
    if (!s || !s->entries[entry].pixels[g_array_index(q->classes, guint, i)]) return FALSE;
  return TRUE;
}

gboolean tm_picture_query_matches(const TmPictureQuery *q, const TmDataset *d, const TmScan *scan,
                                  const TmAlikeness *alike, guint i) {
  const TmEntry *e = tm_dataset_entry(d, i);
  if (q->nothing || !e) return FALSE;
  if (q->entries && !g_hash_table_contains(q->entries, GUINT_TO_POINTER(i))) return FALSE;
  if (q->splits && !(q->splits & 1u << e->split)) return FALSE;
  if ((q->is & IS_LEFT_OUT) && !e->left_out) return FALSE;
  if ((q->is & IS_PAINTED) && !e->layer) return FALSE;
  if ((q->is & IS_FINDING) && !(scan && scan->entries[i].findings)) return FALSE;
  if ((q->is & IS_ALIKE) && !(alike && alike->any[i].other != G_MAXUINT)) return FALSE;
  return has_classes(q, scan, i) && has_name(q, e);
}
