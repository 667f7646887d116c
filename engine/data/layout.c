#include "engine/data/layout.h"

#include <glib/gi18n.h>
#include <stdarg.h>
#include <string.h>

#include "engine/data/dataset_private.h"

/* The order of dataset.h. */
static TmLayoutResult (*const layouts[])(TmLayout *, GError **) = {tm_layout_segnet, tm_layout_folders,
                                                                   tm_layout_suffix, tm_layout_camvid};

void tm_layout_add(TmLayout *l, const char *image, const char *mask, TmSplit split) {
  g_autofree char *base = g_path_get_basename(image), *stem = tm_stem(base),
                  *name = g_filename_display_name(stem);
  g_ptr_array_add(l->entries, tm_entry_new(name, image, mask, split));
}

void tm_layout_note(TmLayout *l, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_ptr_array_add(l->notes, g_strdup_vprintf(format, args));
  va_end(args);
}

void tm_layout_clear(TmLayout *l) {
  g_clear_pointer(&l->entries, g_ptr_array_unref);
  g_clear_pointer(&l->notes, g_ptr_array_unref);
  g_clear_pointer(&l->sentence, g_free);
  g_clear_pointer(&l->unused, g_free);
}

gboolean tm_layout_split_word(const char *word, TmSplit *out) {
  static const struct {
    const char *word;
    TmSplit split;
  } words[] = {{"train", TM_SPLIT_TRAIN}, {"training", TM_SPLIT_TRAIN}, {"trn", TM_SPLIT_TRAIN},
               {"val", TM_SPLIT_VAL},     {"valid", TM_SPLIT_VAL},      {"validation", TM_SPLIT_VAL},
               {"dev", TM_SPLIT_VAL},     {"test", TM_SPLIT_TEST},      {"testing", TM_SPLIT_TEST},
               {"tst", TM_SPLIT_TEST}};
  for (guint i = 0; i < G_N_ELEMENTS(words); i++)
    if (g_ascii_strcasecmp(word, words[i].word) == 0) {
      *out = words[i].split;
      return TRUE;
    }
  return FALSE;
}

static char *colour_file_in(const char *folder) {
  static const char *const names[] = {"label_colors.txt", "label_colours.txt", "labels_colors.txt",
                                      "labelmap.txt", "class_dict.csv"};
  g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
  guint best = G_N_ELEMENTS(names);
  g_autofree char *found = NULL;
  for (const char *name; dir && (name = g_dir_read_name(dir));)
    for (guint i = 0; i < best; i++)
      if (g_ascii_strcasecmp(name, names[i]) == 0) {
        best = i;
        g_free(found);
        found = g_strdup(name);
      }
  return found ? g_build_filename(folder, found, NULL) : NULL;
}

char *tm_layout_colour_file(const TmLayout *l) {
  char *found = colour_file_in(l->base->path);
  for (guint i = 0; !found && i < l->tree->folders->len; i++)
    found = colour_file_in(((TmFolder *)l->tree->folders->pdata[i])->path);
  return found;
}

/* A folder with nothing in it but one folder, as archives make, is stepped into. */
static const TmFolder *only_child(const TmTree *t, const TmFolder *f) {
  const TmFolder *only = NULL;
  if (f->files->len) return NULL;
  for (guint i = 0; i < t->folders->len; i++) {
    const TmFolder *c = t->folders->pdata[i];
    if (c->parent < 0 || t->folders->pdata[c->parent] != f) continue;
    if (only) return NULL;
    only = c;
  }
  return only;
}

static void write_notes(TmLayout *l) {
  const TmTree *t = l->tree;
  if (t->n_broken) {
    g_autofree char *first = g_filename_display_name(t->broken);
    tm_layout_note(
        l, ngettext("%u link leads nowhere: %s.", "%u links lead nowhere; the first: %s.", t->n_broken),
        t->n_broken, first);
  }
  if (t->n_others) {
    g_autofree char *first = g_filename_display_name(t->other);
    tm_layout_note(l,
                   ngettext("%u picture is of a kind that is not read (PNG and JPEG are): %s.",
                            "%u pictures are of kinds that are not read (PNG and JPEG are); the first: %s.",
                            t->n_others),
                   t->n_others, first);
  }
  if (t->n_false)
    tm_layout_note(l,
                   ngettext("%u folder is named like a picture; it is not one.",
                            "%u folders are named like pictures; they are none.", t->n_false),
                   t->n_false);
  if (t->n_denied) {
    g_autofree char *first = g_filename_display_name(t->denied);
    tm_layout_note(
        l,
        ngettext("%u folder may not be read: %s.", "%u folders may not be read; the first: %s.", t->n_denied),
        t->n_denied, first);
  }
  if (t->n_deep)
    tm_layout_note(l,
                   ngettext("%u folder lies too deep or is one too many and was not looked into.",
                            "%u folders lie too deep or are too many and were not looked into.", t->n_deep),
                   t->n_deep);
  if (l->n_unused) {
    g_autofree char *first = g_filename_display_name(l->unused);
    tm_layout_note(
        l, ngettext("%u mask has no picture: %s.", "%u masks have no picture; the first: %s.", l->n_unused),
        l->n_unused, first);
  }
  if (l->n_normalised)
    tm_layout_note(
        l,
        ngettext(
            "%u mask was matched although its name writes accents with other characters than its picture's.",
            "%u masks were matched although their names write accents with other characters than their "
            "pictures'.",
            l->n_normalised),
        l->n_normalised);
}

/* What is there instead, so that the person sees at once which folder is meant wrongly. */
static void set_nothing_found(const TmLayout *l, const char *root, GError **error) {
  const TmTree *t = l->tree;
  g_autofree char *shown = g_filename_display_name(root);
  g_autoptr(GString) seen = g_string_new(NULL);
  guint folders = 0;
  for (guint i = 0; i < t->folders->len; i++) {
    const TmFolder *f = t->folders->pdata[i];
    if (f->files->len == 0 || ++folders > 5) continue;
    g_autofree char *rel = g_filename_display_name(f->rel[0] ? f->rel : ".");
    g_string_append_printf(seen, "%s%s (%u)", seen->len ? ", " : "", rel, f->files->len);
  }
  if (t->n_files == 0)
    g_set_error(error, TM_ERROR, TM_ERROR_DATA,
                t->n_others ? _("No pictures were found in “%s”: there are only pictures of kinds that are "
                                "not read. Convert them to PNG or JPEG.")
                            : _("No pictures were found in “%s”. PNG and JPEG files are read, in this folder "
                                "and those below it."),
                shown);
  else
    g_set_error(error, TM_ERROR, TM_ERROR_DATA,
                _("No masks were found in “%s”. Looked for train.txt or train/ with trainannot/, images/ "
                  "with masks/, pairs like x.jpg and x_mask.png, and "
                  "CamVid's original folders. Pictures are in: %s."),
                shown, seen->str);
}

static gboolean any_mask(const TmLayout *l) {
  for (guint i = 0; i < l->entries->len; i++)
    if (((TmEntry *)l->entries->pdata[i])->mask) return TRUE;
  return FALSE;
}

gboolean tm_layout_find(TmLayout *l, GError **error) {
  const char *root = ((TmFolder *)l->tree->folders->pdata[0])->path;
  l->entries = g_ptr_array_new_with_free_func(tm_entry_free);
  l->notes = g_ptr_array_new_with_free_func(g_free);
  for (l->base = l->tree->folders->pdata[0]; l->base; l->base = only_child(l->tree, l->base))
    for (guint i = 0; i < G_N_ELEMENTS(layouts); i++) {
      const TmLayoutResult r = layouts[i](l, error);
      if (r == TM_LAYOUT_WRONG) return FALSE;
      if (r == TM_LAYOUT_FOUND && any_mask(l)) {
        write_notes(l);
        return TRUE;
      }
      g_ptr_array_set_size(l->notes, 0);
      g_ptr_array_set_size(l->entries, 0); /* pictures without a single mask: another layout may fit */
      g_clear_pointer(&l->sentence, g_free);
      g_clear_pointer(&l->unused, g_free);
      l->n_unused = l->n_normalised = 0;
      l->segnet = FALSE;
    }
  set_nothing_found(l, root, error);
  return FALSE;
}
