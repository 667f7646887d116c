/* scan_entry.h: what the scan learns from one picture and its mask. Private to data. */
#pragma once

#include "engine/data/dataset_private.h"
#include "engine/data/scan.h"

typedef struct {
  gboolean usable;                    /* can be trained on */
  int w, h;                           /* of the picture; 0 when it could not be read */
  guint traits;                       /* TmImageTrait bits */
  gboolean flat_rgb;                  /* the mask is RGB with R = G = B, read as grey */
  guint64 pixels[TM_MAX_CLASSES + 1]; /* by class; the last is void */
  guint64 n, sum[3], squares[3];      /* of the picture's RGB */
  GPtrArray *findings;                /* TmFinding*, owned */
} TmEntryScan;

/** Reads entry @i of @d. Never fails: what is wrong becomes a finding. */
void tm_entry_scan(const TmDataset *d, guint i, TmEntryScan *out);
void tm_entry_scan_clear(TmEntryScan *s);

/** @text is taken over. */
void tm_finding_add(GPtrArray *findings, TmFindingKind kind, guint entry, gboolean leaves_out, char *text);
void tm_finding_free(gpointer finding);
