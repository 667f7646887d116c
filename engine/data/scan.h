/* scan.h: reads every picture and mask once before training and says by name what is wrong. */
#pragma once

#include "engine/data/dataset.h"
#include "engine/data/picture_store.h"

typedef enum {
  TM_FINDING_UNREADABLE,   /* cannot be decoded: cut, empty, not a picture, too large */
  TM_FINDING_SIZE,         /* picture and mask differ in size */
  TM_FINDING_UNKNOWN,      /* mask values the class table does not know; read as void */
  TM_FINDING_ANTIALIASED,  /* very many values: looks like a smoothed mask */
  TM_FINDING_NO_MASK,
  TM_FINDING_ALL_VOID,     /* or above the share that leaves nothing to learn */
  TM_FINDING_CLASS_ABSENT, /* a class with no pixels in the train or val split; no file */
  TM_FINDING_NOTE,         /* harmless: grey picture made RGB, alpha dropped, orientation applied */
} TmFindingKind;

typedef struct {
  TmFindingKind kind;
  guint entry;      /* index in the dataset; G_MAXUINT when it is about the whole */
  char *text;       /* a sentence with the file's name, the value, its count and first x,y */
  gboolean leaves_out; /* the entry cannot be trained on and is left out */
} TmFinding;

/* A mask value that the class table does not know. */
typedef struct {
  gint32 value;
  guint pixels;
} TmUnknown;

enum { TM_LOOK_SIDE = 16 };

/* What the scan knows of one entry. */
typedef struct {
  gboolean usable;       /* can be trained on */
  int w, h;              /* of the picture; 0 when it could not be read */
  guint traits;          /* TmImageTrait bits */
  gboolean flat_rgb;     /* the mask is RGB with R = G = B, read as grey */
  guint32 *pixels;       /* by class; the last, at n classes, is void */
  guint64 n, sum[3], squares[3]; /* of the picture's RGB */
  guint8 look[TM_LOOK_SIDE * TM_LOOK_SIDE]; /* its luma in cells, for alike.h */
  GArray *unknown;       /* TmUnknown, the most frequent first; NULL: none */
  GPtrArray *findings;   /* TmFinding*; NULL: none */
} TmEntryScan;

typedef struct {
  GPtrArray *findings;             /* TmFinding*, owned */
  gboolean *leave_out;             /* one per entry */
  guint n_entries, n_left_out;
  guint64 pixels[TM_N_SPLITS][TM_MAX_CLASSES + 1]; /* by class; the last is void */
  guint64 pictures[TM_N_SPLITS][TM_MAX_CLASSES];   /* pictures that hold the class */
  double mean[3], std[3];          /* of the train pictures' RGB, 0..255: the net's normalisation; std at least 1; without pictures 0 and 1 */
  int min_w, min_h, max_w, max_h;
  gint extra_refs;                 /* atomic */
  TmEntryScan *entries;            /* n_entries of them; NULL in a copy that is only trained with */
} TmScan;

/** Progress: may be called from any of the scan's threads, at most 10 times a second. Return FALSE to cancel. */
typedef gboolean (*TmScanProgress)(guint done, guint total, gpointer user);

/** Blocks; @threads 0 = all. TM_ERROR_CANCELLED when @progress said so. Free with tm_scan_free(). What was learned of files that have
 * not changed since is not read again (scan_store.h). */
TmScan *tm_scan_run(const TmDataset *d, int threads, TmScanProgress progress, gpointer user, GError **error);
/** The same; pictures that are decoded for it are kept in @pictures (or NULL), so that training need not decode them again. */
TmScan *tm_scan_keep(const TmDataset *d, TmPictureStore *pictures, int threads, TmScanProgress progress, gpointer user, GError **error);
/** The scan of @d when @before is that of @of, the same pictures before a project changed something: only what the change concerns is read
 * again, which is nothing for splits, names and pictures left out. Files are taken to be as they were. */
TmScan *tm_scan_again(const TmScan *before, const TmDataset *of, const TmDataset *d, int threads, TmScanProgress progress, gpointer user,
                      GError **error);
/** Scans do not change; tm_scan_free() gives one reference back. */
TmScan *tm_scan_ref(TmScan *s);
void tm_scan_free(TmScan *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmScan, tm_scan_free)

/** Class weights from the train split: "none": 1; "median": median frequency / frequency; "sqrt": its square root, clipped to frequency
 * ratios 0.2..5 first, as the CamVid recipe; "log": 1/ln(1.1 + share). Absent classes get 0. Writes n_classes floats. */
gboolean tm_scan_weights(const TmScan *s, const TmClassTable *t, const char *rule, float *out, GError **error);
