#include "engine/data/scan_entry.h"

#include <glib/gi18n.h>
#include <string.h>

#include "engine/data/image.h"
#include "engine/data/mask.h"
#include "engine/core/label.h"

enum {
  MOST_VALUES = 4096, /* a mask with more distinct values is no mask */
  VALUES_KEPT = 16,   /* unknown values kept of a mask */
  VALUES_TOLD = 4,    /* unknown values named in a sentence */
  SMOOTHED_MOST = 20, /* percent of pixels between classes, above which a smoothed mask is left out */
  VOID_TOLD = 50,     /* percent of void, from which a picture is named */
};

void tm_finding_free(gpointer p) {
  g_free(((TmFinding *)p)->text);
  g_free(p);
}

void tm_finding_add(GPtrArray *findings, TmFindingKind kind, guint entry, gboolean leaves_out, char *text) {
  TmFinding *f = g_new(TmFinding, 1);
  *f = (TmFinding){.kind = kind, .entry = entry, .text = text, .leaves_out = leaves_out};
  g_ptr_array_add(findings, f);
}

/* Most entries have none, so the array is made with the first. */
static void entry_finding(TmEntryScan *s, TmFindingKind kind, guint i, gboolean leaves_out, char *text) {
  if (!s->findings) s->findings = g_ptr_array_new_with_free_func(tm_finding_free);
  tm_finding_add(s->findings, kind, i, leaves_out, text);
}

void tm_entry_scan_clear(TmEntryScan *s) {
  g_clear_pointer(&s->findings, g_ptr_array_unref);
  g_clear_pointer(&s->unknown, g_array_unref);
  g_clear_pointer(&s->pixels, g_free);
}

void tm_entry_scan_copy(const TmEntryScan *from, guint n_classes, guint i, TmEntryScan *out) {
  *out = *from;
  out->pixels = g_memdup2(from->pixels, (n_classes + 1) * sizeof *from->pixels);
  out->unknown = from->unknown ? g_array_ref(from->unknown) : NULL; /* not changed any more */
  out->findings = NULL;
  for (guint k = 0; from->findings && k < from->findings->len; k++) {
    const TmFinding *f = from->findings->pdata[k];
    entry_finding(out, f->kind, i, f->leaves_out, g_strdup(f->text));
  }
}

/* Takes the entry out, for the reason in @text. */
static void leave_out(TmEntryScan *s, TmFindingKind kind, guint i, char *text) {
  s->usable = FALSE;
  entry_finding(s, kind, i, TRUE, text);
}

static void add_error(TmEntryScan *s, guint i, GError *e) {
  leave_out(s, TM_FINDING_UNREADABLE, i, g_strdup(e->message));
  g_error_free(e);
}

/* Cell of each pixel column or row: as even as whole pixels let it be; small pictures repeat none. */
static inline int cell(int i, int side) {
  return (int)((gint64)i * TM_LOOK_SIDE / side);
}

static void add_look(TmEntryScan *s, const guint8 *rgb, int w, int h) {
  guint64 sum[TM_LOOK_SIDE * TM_LOOK_SIDE] = {0};
  guint32 count[TM_LOOK_SIDE * TM_LOOK_SIDE] = {0};
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++, rgb += 3) {
      const int k = cell(y, h) * TM_LOOK_SIDE + cell(x, w);
      sum[k] += (guint64)(rgb[0] * 77 + rgb[1] * 151 + rgb[2] * 28) >> 8;
      count[k]++;
    }
  for (int k = 0; k < TM_LOOK_SIDE * TM_LOOK_SIDE; k++)
    s->look[k] = (guint8)(count[k] ? sum[k] / count[k] : 0);
}

static void add_picture(TmEntryScan *s, const guint8 *rgb, int w, int h) {
  const gsize n = (gsize)w * (gsize)h;
  for (gsize i = 0; i < n; i++)
    for (int c = 0; c < 3; c++) {
      const guint v = rgb[3 * i + c];
      s->sum[c] += v;
      s->squares[c] += v * v;
    }
  s->n = n;
  s->w = w;
  s->h = h;
  add_look(s, rgb, w, h);
}

static char *value_text(const TmClassTable *t, gint32 v) {
  if (t->code == TM_MASK_INDEX) return g_strdup_printf(_("value %d"), v);
  if (v < 0) return g_strdup(_("a value without a colour"));
  return g_strdup_printf(_("colour %u %u %u"), (guint)v >> 16 & 0xff, (guint)v >> 8 & 0xff, (guint)v & 0xff);
}

static int by_count_down(gconstpointer a, gconstpointer b) {
  const guint64 x = ((const TmMaskValue *)a)->count, y = ((const TmMaskValue *)b)->count;
  return (x < y) - (x > y);
}

/* "value 255 on 2048 pixels (first at 32, 0)", the most frequent first. */
static char *list_unknown(const TmClassTable *t, GArray *unknown) {
  g_autoptr(GString) s = g_string_new(NULL);
  g_array_sort(unknown, by_count_down);
  for (guint k = 0; k < MIN(unknown->len, VALUES_TOLD); k++) {
    const TmMaskValue *v = &g_array_index(unknown, TmMaskValue, k);
    g_autofree char *value = value_text(t, v->value);
    g_string_append_printf(s,
                           ngettext("%s%s on %llu pixel (at x %d, y %d)",
                                    "%s%s on %llu pixels (first at x %d, y %d)", (gulong)v->count),
                           k ? ", " : "", value, (unsigned long long)v->count, v->x, v->y);
  }
  if (unknown->len > VALUES_TOLD) g_string_append_printf(s, _(" and %u more"), unknown->len - VALUES_TOLD);
  return g_strdup(s->str);
}

/* For whoever wants to give the values a meaning: enough of them to be useful, few enough to be kept. */
static void keep_unknown(TmEntryScan *s, GArray *unknown) {
  g_array_sort(unknown, by_count_down);
  s->unknown = g_array_new(FALSE, FALSE, sizeof(TmUnknown));
  for (guint k = 0; k < MIN(unknown->len, VALUES_KEPT); k++) {
    const TmMaskValue *v = &g_array_index(unknown, TmMaskValue, k);
    g_array_append_val(s->unknown, ((TmUnknown){v->value, (guint)v->count}));
  }
}

static void report_unknown(TmEntryScan *s, const TmDataset *d, guint i, GArray *unknown) {
  g_autofree char *name = g_filename_display_name(tm_dataset_at(d, i)->mask),
                  *list = list_unknown(d->classes, unknown);
  char *text;
  keep_unknown(s, unknown);
  if (d->classes->code == TM_MASK_INDEX)
    text = g_strdup_printf(_("“%s” holds %s, which the class table does not know; read as void. Give the "
                             "value to a class, or list it as void."),
                           name, list);
  else
    text = g_strdup_printf(
        _("“%s” holds %s, which the colour table does not know; read as void, since the nearest colour might "
          "be another class. Correct the mask, or add the colour to the table."),
        name, list);
  entry_finding(s, TM_FINDING_UNKNOWN, i, FALSE, text);
}

static void report_smoothed(TmEntryScan *s, const TmDataset *d, guint i, guint n_values,
                            double unknown_percent) {
  g_autofree char *name = g_filename_display_name(tm_dataset_at(d, i)->mask);
  const gboolean out = unknown_percent > SMOOTHED_MOST;
  char *text = g_strdup_printf(
      out ? _("“%s” holds %u different values and looks anti-aliased or lossily compressed: %.1f %% of its "
              "pixels are between classes, so it is left out. Save masks without smoothing, as PNG.")
          : _("“%s” holds %u different values and looks anti-aliased or lossily compressed: %.1f %% of its "
              "pixels are between classes and are read as void. Save masks without smoothing, as PNG."),
      name, n_values, unknown_percent);
  if (out)
    leave_out(s, TM_FINDING_ANTIALIASED, i, text);
  else
    entry_finding(s, TM_FINDING_ANTIALIASED, i, FALSE, text);
}

/* Sorts the mask's values into the classes' counts and returns those the table does not know. */
static GArray *count_classes(TmEntryScan *s, const TmClassTable *t, const GArray *values,
                             guint64 *n_unknown) {
  GArray *unknown = g_array_new(FALSE, FALSE, sizeof(TmMaskValue));
  for (guint k = 0; k < values->len; k++) {
    const TmMaskValue *v = &g_array_index(values, TmMaskValue, k);
    const int c = tm_class_table_index(t, v->value);
    if (c < 0) {
      g_array_append_val(unknown, *v);
      *n_unknown += v->count;
    }
    s->pixels[c < 0 || c == TM_VOID ? t->n : (guint)c] += (guint32)v->count;
  }
  return unknown;
}

static void report_void(TmEntryScan *s, const TmDataset *d, guint i, guint64 total) {
  const TmEntry *e = tm_dataset_at(d, i);
  const guint64 empty = s->pixels[d->classes->n];
  if (empty * 100 < total * VOID_TOLD) return;
  g_autofree char *name = e->mask ? g_filename_display_name(e->mask) : g_strdup(e->name);
  if (empty == total)
    leave_out(s, TM_FINDING_ALL_VOID, i,
              g_strdup_printf(_("“%s” is void everywhere: there is nothing to learn from it."), name));
  else
    entry_finding(s, TM_FINDING_ALL_VOID, i, FALSE,
                  g_strdup_printf(_("“%s” is void on %.1f %% of its pixels."), name,
                                  100.0 * (double)empty / (double)total));
}

static void check_mask(TmEntryScan *s, const TmDataset *d, guint i, const TmMask *m) {
  const TmClassTable *t = d->classes;
  g_autofree char *name = g_filename_display_name(tm_dataset_at(d, i)->mask);
  s->flat_rgb = t->code == TM_MASK_INDEX && tm_mask_is_flat_rgb(m);
  if (t->code == TM_MASK_INDEX && m->kind == TM_MASK_RGB && !s->flat_rgb) {
    leave_out(s, TM_FINDING_UNREADABLE, i,
              g_strdup_printf(_("“%s” is a colour-coded mask, and the classes of this dataset are given by "
                                "grey values. Add a label_colors.txt with “R G B name” lines."),
                              name));
    return;
  }
  g_autoptr(GArray) values = tm_mask_values(m, t->code, MOST_VALUES);
  if (!values) {
    leave_out(s, TM_FINDING_ANTIALIASED, i,
              g_strdup_printf(_("“%s” holds more than %d different values: it is a picture or lossily "
                                "compressed, and no mask. It is left out."),
                              name, MOST_VALUES));
    return;
  }
  const guint64 total = (guint64)m->w * (guint64)m->h;
  guint64 n_unknown = 0;
  g_autoptr(GArray) unknown = count_classes(s, t, values, &n_unknown);
  if (unknown->len && tm_mask_looks_smoothed(m))
    report_smoothed(s, d, i, values->len, 100.0 * (double)n_unknown / (double)total);
  else if (unknown->len)
    report_unknown(s, d, i, unknown);
  if (s->usable) report_void(s, d, i, total);
}

/* What the project painted void counts as void. */
static void count_painted(TmEntryScan *s, const TmDataset *d, guint i, TmSample *decoded) {
  g_auto(TmSample) sample = {0};
  GError *e = NULL;
  if (!tm_dataset_read(d, i, &sample, &e)) {
    add_error(s, i, e);
    return;
  }
  memset(s->pixels, 0, (d->classes->n + 1) * sizeof *s->pixels);
  const gsize n = (gsize)sample.w * (gsize)sample.h;
  for (gsize k = 0; k < n; k++) s->pixels[MIN(sample.labels[k], d->classes->n)]++;
  if (!decoded) return;
  *decoded = sample;
  sample = (TmSample){0};
}

/* The picture and its mask as they are trained on. */
static void give_decoded(const TmDataset *d, guint i, TmPicture *p, const TmMask *m, TmSample *decoded) {
  const char *mask = tm_dataset_at(d, i)->mask;
  g_autofree guint8 *labels = g_try_malloc((gsize)m->w * (gsize)m->h);
  if (!labels || !tm_mask_labels(m, d->classes, mask, labels, NULL)) return;
  *decoded = (TmSample){.w = p->w, .h = p->h, .rgb = g_steal_pointer(&p->rgb), .labels = g_steal_pointer(&labels)};
}

static void scan_scene(const TmDataset *d, guint i, TmEntryScan *s) {
  g_auto(TmSample) sample = {0};
  GError *e = NULL;
  if (!tm_dataset_read(d, i, &sample, &e)) {
    add_error(s, i, e);
    return;
  }
  add_picture(s, sample.rgb, sample.w, sample.h);
  const gsize n = (gsize)sample.w * (gsize)sample.h;
  for (gsize k = 0; k < n; k++) s->pixels[MIN(sample.labels[k], d->classes->n)]++;
  report_void(s, d, i, n);
}

static void scan_files(const TmDataset *d, guint i, TmSample *decoded, TmEntryScan *s) {
  const TmEntry *entry = tm_dataset_at(d, i);
  g_auto(TmMask) m = {0};
  g_auto(TmPicture) p = {0};
  g_autofree char *image = g_filename_display_name(entry->image);
  GError *e = NULL;
  if (!entry->mask)
    leave_out(s, TM_FINDING_NO_MASK, i,
              g_strdup_printf(_("“%s” has no mask; it is left out of training."), image));
  else if (!tm_mask_read(entry->mask, &m, &e))
    add_error(s, i, e);
  const TmPictureOptions o = {.mask_w = m.w, .mask_h = m.h};
  e = NULL;
  if (!tm_image_read_picture(entry->image, &o, &p, &e)) {
    add_error(s, i, e);
    return;
  }
  s->traits = p.traits | (m.warned ? (guint)TM_IMAGE_WARNED : 0u);
  add_picture(s, p.rgb, p.w, p.h);
  if (!m.px) return;
  if (p.w == m.w && p.h == m.h) {
    check_mask(s, d, i, &m);
    if (s->usable && entry->layer)
      count_painted(s, d, i, decoded);
    else if (s->usable && decoded)
      give_decoded(d, i, &p, &m, decoded);
    return;
  }
  g_autofree char *mask = g_filename_display_name(entry->mask);
  leave_out(s, TM_FINDING_SIZE, i,
            g_strdup_printf(
                _("“%s” has %d×%d pixels and its mask “%s” %d×%d; nothing is stretched, so it is left out."),
                image, p.w, p.h, mask, m.w, m.h));
}

void tm_entry_scan(const TmDataset *d, guint i, TmSample *decoded, TmEntryScan *out) {
  memset(out, 0, sizeof *out);
  out->usable = TRUE;
  out->pixels = g_new0(guint32, d->classes->n + 1);
  if (d->demo)
    scan_scene(d, i, out);
  else
    scan_files(d, i, decoded, out);
}
