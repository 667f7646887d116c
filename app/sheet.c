#include "app/sheet.h"

#include <string.h>

#include <glib/gi18n.h>

#include "engine/core/view.h"
#include "engine/data/png_write.h"

enum { GAP = 4, BACKGROUND = 0xf4, LARGEST_SIDE = 8192 };

typedef struct {
  int cell_w, cell_h, w, h;
  guint8 *rgb; /* w*h*3 */
} Sheet;

static void put_pixel(guint8 *to, const TmClassTable *classes, guint8 label) {
  static const guint8 void_colour[3] = {0x3a, 0x3a, 0x3e};
  memcpy(to, label < classes->n ? classes->classes[label].colour : void_colour, 3);
}

/* A picture larger than the cell is cut, a smaller one leaves background. */
static void put_cell(Sheet *s, int row, int column, const TmSample *sample, const guint8 *labels,
                     const TmClassTable *classes) {
  int x0 = GAP + column * (s->cell_w + GAP), y0 = GAP + row * (s->cell_h + GAP);
  for (int y = 0; y < MIN(sample->h, s->cell_h); y++)
    for (int x = 0; x < MIN(sample->w, s->cell_w); x++) {
      guint8 *to = s->rgb + ((gsize)(y0 + y) * (gsize)s->w + (gsize)(x0 + x)) * 3;
      gsize from = (gsize)y * (gsize)sample->w + (gsize)x;
      if (labels)
        put_pixel(to, classes, labels[from]);
      else
        memcpy(to, sample->rgb + from * 3, 3);
    }
}

static gboolean allocate(Sheet *s, const TmSample *first, guint rows, GError **error) {
  s->cell_w = MIN(first->w, LARGEST_SIDE / 3 - 2 * GAP);
  s->cell_h = MIN(first->h, LARGEST_SIDE / (int)rows - 2 * GAP);
  s->w = 3 * (s->cell_w + GAP) + GAP;
  s->h = (int)rows * (s->cell_h + GAP) + GAP;
  gsize bytes = (gsize)s->w * (gsize)s->h * 3;
  s->rgb = g_try_malloc(bytes);
  if (s->rgb)
    memset(s->rgb, BACKGROUND, bytes);
  else
    g_set_error_literal(error, TM_ERROR, TM_ERROR_NO_MEMORY,
                        _("There is no memory for the picture of the result."));
  return s->rgb != NULL;
}

static gboolean put_row(Sheet *s, guint row, guint rows, TmPredictor *p, const TmDataset *d, guint entry,
                        GError **error) {
  g_auto(TmSample) sample = {0};
  if (!tm_dataset_read(d, entry, &sample, error)) return FALSE;
  if (!s->rgb && !allocate(s, &sample, rows, error)) return FALSE;
  g_autofree guint8 *labels = g_try_malloc((gsize)sample.w * (gsize)sample.h);
  if (!labels) {
    g_set_error_literal(error, TM_ERROR, TM_ERROR_NO_MEMORY,
                        _("There is no memory for the picture of the result."));
    return FALSE;
  }
  if (!tm_predictor_run(p, sample.rgb, sample.w, sample.h, labels, error)) return FALSE;
  const TmClassTable *classes = tm_predictor_classes(p);
  put_cell(s, (int)row, 0, &sample, NULL, classes);
  put_cell(s, (int)row, 1, &sample, labels, classes);
  if (sample.labels) put_cell(s, (int)row, 2, &sample, sample.labels, classes);
  return TRUE;
}

gboolean tm_sheet_write(TmPredictor *p, const TmDataset *d, TmSplit split, guint rows, const char *path,
                        GError **error) {
  g_autoptr(GArray) entries = g_array_new(FALSE, FALSE, sizeof(guint));
  for (guint i = 0; i < tm_dataset_n(d); i++)
    if (tm_dataset_entry(d, i)->split == split) g_array_append_val(entries, i);
  rows = MIN(rows, entries->len);
  if (rows == 0) return FALSE;
  Sheet s = {0};
  gboolean done = TRUE;
  for (guint row = 0; done && row < rows; row++) {
    guint pick = (2 * row + 1) * entries->len / (2 * rows);
    done = put_row(&s, row, rows, p, d, g_array_index(entries, guint, pick), error);
  }
  done = done && tm_png_write_rgb(path, s.rgb, s.w, s.h, error);
  g_free(s.rgb);
  return done;
}
