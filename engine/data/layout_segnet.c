/* layout_segnet.c: SegNet's CamVid: train.txt, val.txt, test.txt with "picture mask" on each line, and/or
 * train/ with trainannot/ and so on. The lists that people have hold the absolute paths of whoever made them;
 * what is missing of a path is found once and taken off all of them. */
#include <glib/gi18n.h>
#include <string.h>

#include "engine/data/image.h"
#include "engine/data/layout.h"
#include "engine/data/text_lines.h"

/* Two paths; more is no list, and would take long to cut at every blank. */
enum { LONGEST_LINE = 2 * 4096 + 2 };

typedef struct {
  TmLayout *l;
  char *prefix; /* what was taken off the listed paths; NULL: nothing yet */
  guint n_rebased, n_missing, n_no_mask;
  char *missing; /* a sentence about the first */
} Lists;

/* A line's picture and mask; names may hold blanks, so the cut is where both sides end like pictures. */
static void cut_line(const char *line, char **picture, char **mask) {
  *picture = *mask = NULL;
  if (strlen(line) > LONGEST_LINE) return;
  for (const char *p = line; *p; p++) {
    if (*p != ' ' && *p != '\t' && *p != ',') continue;
    g_autofree char *left = g_strstrip(g_strndup(line, (gsize)(p - line))),
                    *right = g_strstrip(g_strdup(p + 1));
    if (!tm_image_name_is_read(left) || !tm_image_name_is_read(right)) continue;
    *picture = g_steal_pointer(&left);
    *mask = g_steal_pointer(&right);
    return;
  }
  if (tm_image_name_is_read(line)) *picture = g_strdup(line);
}

static char *if_file(char *path) {
  if (g_file_test(path, G_FILE_TEST_IS_REGULAR)) return path;
  g_free(path);
  return NULL;
}

/* The file that @listed means: itself, or what is left of it in the dataset's folder when leading parts are
 * taken off. NULL when there is none. */
static char *resolve(Lists *r, const char *listed) {
  const char *root = r->l->base->path;
  char *found =
      g_path_is_absolute(listed) ? if_file(g_strdup(listed)) : if_file(g_build_filename(root, listed, NULL));
  if (found) return found;
  if (r->prefix && g_str_has_prefix(listed, r->prefix))
    found = if_file(g_build_filename(root, listed + strlen(r->prefix), NULL));
  for (const char *p = listed; !found && *p; p++) {
    if (*p != '/' || !p[1]) continue;
    found = if_file(g_build_filename(root, p + 1, NULL));
    if (found && !r->prefix) r->prefix = g_strndup(listed, (gsize)(p + 1 - listed));
  }
  if (found) r->n_rebased++;
  return found;
}

static void note_missing(Lists *r, const char *list, guint line, const char *listed) {
  if (r->n_missing++ > 0) return;
  g_autofree char *escaped = g_strescape(listed, NULL), *base = g_filename_display_basename(list);
  r->missing = g_strdup_printf(_("“%s”, line %u: “%s” is not there"), base, line, escaped);
}

/* SegNet's other names for trainannot/. */
static TmFolder *mask_folder(const TmLayout *l, TmSplit split) {
  static const char *const ends[] = {"annot", "_annot", "_labels", "labels", "_masks", "_mask", NULL};
  for (guint i = 0; ends[i]; i++) {
    g_autofree char *name = g_strconcat(tm_split_name(split), ends[i], NULL);
    TmFolder *f = tm_tree_child(l->tree, l->base, name);
    if (f) return f;
  }
  return NULL;
}

/* For a list with pictures only: the mask is in the split's mask folder under the picture's stem. */
static char *mask_of(const TmLayout *l, TmSplit split, const char *image) {
  const TmFolder *f = mask_folder(l, split);
  g_autofree char *base = g_path_get_basename(image), *stem = tm_stem(base),
                  *name = g_strconcat(stem, ".png", NULL);
  return f ? if_file(g_build_filename(f->path, name, NULL)) : NULL;
}

static void take_line(Lists *r, TmSplit split, const char *list, guint number, char *line) {
  if (!strchr(line, '/')) g_strdelimit(line, "\\", '/'); /* written on Windows */
  g_autofree char *picture = NULL, *mask = NULL;
  cut_line(line, &picture, &mask);
  if (!picture) { /* a line that is no pair of pictures is a missing file by another name */
    note_missing(r, list, number, line);
    return;
  }
  g_autofree char *image = resolve(r, picture), *label = NULL;
  if (!image) {
    note_missing(r, list, number, picture);
    return;
  }
  label = mask ? resolve(r, mask) : mask_of(r->l, split, image);
  if (!label) r->n_no_mask++;
  tm_layout_add(r->l, image, label, split);
}

/* One split's list; FALSE when it is there and cannot be read. */
static gboolean read_list(Lists *r, TmSplit split, const char *list, GError **error) {
  g_autoptr(GPtrArray) lines = tm_text_lines_read(list, error);
  if (!lines) return FALSE;
  for (guint i = 0; i < lines->len; i++)
    if (*g_strchug(lines->pdata[i])) take_line(r, split, list, i + 1, lines->pdata[i]);
  return TRUE;
}

/* A list of SegNet's kind names pictures; a list of bare names belongs to another layout. */
static gboolean is_list(const char *path) {
  g_autoptr(GPtrArray) lines =
      g_file_test(path, G_FILE_TEST_IS_REGULAR) ? tm_text_lines_read(path, NULL) : NULL;
  for (guint i = 0; lines && i < lines->len; i++) {
    g_autofree char *picture = NULL, *mask = NULL;
    cut_line(g_strstrip(lines->pdata[i]), &picture, &mask);
    if (picture) return TRUE;
  }
  return FALSE;
}

static gboolean take_folders(TmLayout *l, TmSplit split, GError **error) {
  const TmFolder *pictures = tm_tree_child(l->tree, l->base, tm_split_name(split)),
                 *masks = mask_folder(l, split);
  return !pictures || !masks || tm_layout_pair(l, pictures, masks, split, error);
}

static void write_notes(Lists *r) {
  TmLayout *l = r->l;
  g_autofree char *root = g_filename_display_name(l->base->path);
  if (r->prefix) {
    g_autofree char *prefix = g_strescape(r->prefix, NULL);
    tm_layout_note(
        l, _("The lists name files under “%s”, which is not there; %u of them were found in “%s” instead."),
        prefix, r->n_rebased, root);
  }
  if (r->n_missing)
    tm_layout_note(l,
                   ngettext("%u listed file is missing: %s.", "%u listed files are missing; the first: %s.",
                            r->n_missing),
                   r->n_missing, r->missing);
  if (r->n_no_mask)
    tm_layout_note(l,
                   ngettext("The mask of %u listed picture is missing.",
                            "The masks of %u listed pictures are missing.", r->n_no_mask),
                   r->n_no_mask);
}

static gboolean read_splits(Lists *r, guint *n_lists, GError **error) {
  for (TmSplit s = 0; s < TM_N_SPLITS; s++) {
    g_autofree char *file = g_strconcat(tm_split_name(s), ".txt", NULL),
                    *list = g_build_filename(r->l->base->path, file, NULL);
    const guint before = r->l->entries->len;
    if (is_list(list)) {
      if (!read_list(r, s, list, error)) return FALSE;
      if (r->l->entries->len > before) ++*n_lists;
    }
    /* A list that led nowhere does not hide the folders beside it. */
    if (r->l->entries->len == before && !take_folders(r->l, s, error)) return FALSE;
  }
  return TRUE;
}

TmLayoutResult tm_layout_segnet(TmLayout *l, GError **error) {
  Lists r = {.l = l};
  guint n_lists = 0;
  TmLayoutResult result = TM_LAYOUT_WRONG;
  if (read_splits(&r, &n_lists, error)) {
    result = l->entries->len ? TM_LAYOUT_FOUND : TM_LAYOUT_NONE;
    if (result == TM_LAYOUT_NONE && r.n_missing) {
      g_autofree char *root = g_filename_display_name(l->base->path);
      g_set_error(error, TM_ERROR, TM_ERROR_DATA,
                  _("None of the files that the lists in “%s” name is there. %s. Put the pictures beside the "
                    "list or correct its paths."),
                  root, r.missing);
      result = TM_LAYOUT_WRONG;
    }
  }
  if (result == TM_LAYOUT_FOUND) {
    l->segnet = TRUE;
    l->sentence = g_strdup(n_lists ? _("SegNet's CamVid layout with list files")
                                   : _("SegNet's CamVid layout by its folders"));
    write_notes(&r);
  }
  g_free(r.prefix);
  g_free(r.missing);
  return result;
}
