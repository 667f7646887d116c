/* dataset_demo.c: the demo roads as a dataset. Validation scenes have numbers of their own, far from the
 * training scenes', so that runs with different numbers of training pictures are scored on the same ones. */
#include <glib/gi18n.h>

#include "engine/data/dataset_private.h"
#include "engine/data/image.h"

enum {
  TRAIN = 400,
  VAL = 60,
  WIDTH = 240,
  HEIGHT = 180,
  SMALLEST = 16,
  MOST_SCENES = 1000000,
  FIRST_VAL = 1 << 24
};

static int either(int wanted, int usual) {
  return wanted ? wanted : usual;
}

static void add(TmDataset *d, int n, guint first, const char *format, TmSplit split) {
  for (int i = 0; i < n; i++) {
    char name[40];
    g_snprintf(name, sizeof name, format, i + 1);
    d->scenes[d->entries->len] = first + (guint)i;
    g_ptr_array_add(d->entries, tm_entry_new(name, NULL, NULL, split));
  }
}

TmDataset *tm_dataset_open_demo(const TmDatasetOptions *o, GError **error) {
  const TmDatasetOptions none = {0};
  if (!o) o = &none;
  const int train = either(o->demo_train, TRAIN), val = either(o->demo_val, VAL);
  const int w = either(o->demo_width, WIDTH), h = either(o->demo_height, HEIGHT);
  if (train < 0 || val < 0 || train > MOST_SCENES || val > MOST_SCENES || w < SMALLEST || h < SMALLEST ||
      (gint64)w * h > TM_IMAGE_MAX_PIXELS) {
    g_set_error(error, TM_ERROR, TM_ERROR_SETTING,
                _("The demo roads have 1 to %d pictures of at least %d×%d pixels; %d and %d of %d×%d were "
                  "asked for."),
                MOST_SCENES, SMALLEST, SMALLEST, train, val, w, h);
    return NULL;
  }
  TmDataset *d = tm_dataset_new("demo", _("Demo roads"), _("Road scenes drawn from a seed"));
  d->classes = o->classes ? tm_class_table_copy(o->classes) : tm_class_table_camvid();
  d->demo = TRUE;
  d->seed = o->seed;
  d->width = w;
  d->height = h;
  d->scenes = g_new0(guint, (gsize)train + (gsize)val + 1);
  add(d, train, 0, "road-%04d", TM_SPLIT_TRAIN);
  add(d, val, FIRST_VAL, "road-val-%04d", TM_SPLIT_VAL);
  tm_dataset_seal(d);
  return d;
}
