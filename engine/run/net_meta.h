/* net_meta.h: what a checkpoint says of its net besides the tensors: enough to rebuild it and use it on a
 * picture, with no other file.
 *
 * Keys in the checkpoint's JSON object: "settings" (tm_settings_to_json), "classes" (tm_class_table_to_json),
 * "mean" and "std" (three numbers, 0..255 scale), "epoch", "total_step", "best_miou" (null: none yet),
 * "version". A trainer may add keys of its own; they are left alone. The settings stay JSON here, so that run
 * folders need to know nothing of training. Plain data; any thread. */
#pragma once

#include <json-glib/json-glib.h>

#include "engine/core/error.h"
#include "engine/data/class_table.h"

typedef struct {
  JsonNode *settings;     /* an object; owned */
  TmClassTable *classes;  /* owned */
  double mean[3], std[3]; /* of the train pictures' RGB, 0..255: the net's normalisation; std > 0 */
  guint epoch;            /* epochs done when it was written */
  guint64 total_step;     /* optimizer steps done */
  double best_miou;       /* best so far; NAN before the first validation (null in the file) */
  char *version;          /* of Tarmac; owned; tm_net_meta_write() puts this program's own where it is NULL */
} TmNetMeta;

/** Frees what @m owns and zeroes it. */
void tm_net_meta_clear(TmNetMeta *m);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TmNetMeta, tm_net_meta_clear)

/** Writes the keys above into @o, replacing those that are there. Takes nothing. */
void tm_net_meta_write(JsonObject *o, const TmNetMeta *m);
/** Reads them into @m (filled only on success; tm_net_meta_clear() it). TM_ERROR_DATA names the key that is
 * missing or wrong: a file by another program has none of them. */
gboolean tm_net_meta_read(JsonObject *o, TmNetMeta *m, GError **error);
