/* class_table.h: the classes of a dataset: name, colour, and how masks write them. Plain data, copied by value; any thread. */
#pragma once

#include <glib.h>
#include <json-glib/json-glib.h>

enum { TM_MAX_CLASSES = 254 };

typedef struct {
  char *name;       /* "Road", UTF-8 */
  guint8 colour[3]; /* drawn on the screen and in overlays */
  gint32 value;     /* in the mask files: a grey or palette value, or 0xRRGGBB when the masks are colour-coded. Predictions are written with it */
} TmClass;

/* One more value of a class: what was another class before the two were merged. */
typedef struct {
  gint32 value;
  guint8 index;
} TmClassAlso;

/* How a mask file's pixels are read. */
typedef enum { TM_MASK_INDEX, TM_MASK_COLOUR } TmMaskCode;

typedef struct {
  TmMaskCode code;
  guint n;            /* classes, 1..TM_MAX_CLASSES: the net's outputs */
  TmClass *classes;
  guint n_also;
  TmClassAlso *also;
  guint n_void;
  gint32 *void_values; /* values (as TmClass.value) that are void: outside loss and metrics */
  char *source;        /* where it came from, a sentence: "label_colors.txt", "CamVid preset: 11 classes, void 11" */
} TmClassTable;

TmClassTable *tm_class_table_new(TmMaskCode code);
TmClassTable *tm_class_table_copy(const TmClassTable *t);
void tm_class_table_free(TmClassTable *t);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmClassTable, tm_class_table_free)

void tm_class_table_add(TmClassTable *t, const char *name, guint32 rgb, gint32 value);
/** A value that is class @index, too. Ignored when the table knows the value already. */
void tm_class_table_add_also(TmClassTable *t, gint32 value, guint index);
/** Nothing happens when the value is void already. */
void tm_class_table_add_void(TmClassTable *t, gint32 value);
/** TRUE when every mask gives the same class indices through both: names and colours may differ. */
gboolean tm_class_table_same_labels(const TmClassTable *a, const TmClassTable *b);
/** CamVid's 11 classes, void 11 and 255, with Tarmac's colours. */
TmClassTable *tm_class_table_camvid(void);
/** The class index of a mask value: 0..n-1, TM_VOID for a void value, -1 for a value the table does not know. */
int tm_class_table_index(const TmClassTable *t, gint32 value);
/** Tarmac's default colour for class @i, 0xRRGGBB: the colour-blind-safe palette, then generated ones. */
guint32 tm_class_default_colour(guint i);

/** Reads "R G B\tName" lines (CamVid's label_colors.txt; tabs, CRLF). Names called Void or Unlabelled become void. */
TmClassTable *tm_class_table_read_colours(const char *path, GError **error);

/** For run.json, project.json and checkpoints. */
JsonNode *tm_class_table_to_json(const TmClassTable *t);
TmClassTable *tm_class_table_from_json(JsonNode *node, GError **error);
