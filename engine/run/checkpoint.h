/* checkpoint.h: one file that holds all a run needs to go on, or a net to be used: safetensors, written atomically, checked on reading.
 *
 * Tensors keep PyTorch's names and layouts in the file (convolutions O,I,kH,kW; (1,C,1,1) as [C]), so other programs read the weights as they
 * are. Everything else is one JSON object under the header's "__metadata__" key "tarmac"; "crc32" there guards the whole file.
 * A file that was cut, or damaged in any byte, is TM_ERROR_CORRUPT. Any thread. */
#pragma once

#include <json-glib/json-glib.h>

#include "engine/core/tensor.h"

typedef struct _TmCheckpoint TmCheckpoint;

/** Empty; takes nothing. */
TmCheckpoint *tm_checkpoint_new(void);
void tm_checkpoint_free(TmCheckpoint *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmCheckpoint, tm_checkpoint_free)

/** Adds @t (f32, stored order N,H,W,C) under @name ("enc.0.0.weight", "optimizer.m.enc.0.0.weight"); takes it. */
void tm_checkpoint_add(TmCheckpoint *c, const char *name, TmTensor *t);
/* Fills @to with what @from stands for, in stored order. */
typedef gboolean (*TmTensorRead)(gpointer user, gconstpointer from, TmShape shape, float *to, GError **error);
/** The same for a tensor that is fetched only while the file is written, so that a copy of one is in memory at a time. @read and @user
 * are all such tensors' of @c. tm_checkpoint_tensor() has its shape, and NULL as data. */
void tm_checkpoint_add_read(TmCheckpoint *c, const char *name, TmShape shape, gconstpointer from, TmTensorRead read, gpointer user);
/** Borrowed, in stored order; NULL when there is none of that name. */
const TmTensor *tm_checkpoint_tensor(const TmCheckpoint *c, const char *name);
/** Names in file order, NULL-terminated; free with g_strfreev(). */
char **tm_checkpoint_names(const TmCheckpoint *c);
/** The JSON object: created empty, may be filled before writing. Borrowed. */
JsonObject *tm_checkpoint_meta(TmCheckpoint *c);

/** Temporary file in the same folder, write, fsync, rename, fsync of the folder. On a full disk TM_ERROR_NO_SPACE names the folder, the bytes needed and the
 * bytes free there; the old file is untouched and the temporary one gone. */
gboolean tm_checkpoint_write(TmCheckpoint *c, const char *path, GError **error);
/** Header length, offsets and overlaps are checked against the file's size before anything is allocated. Files by other programs (no "tarmac" key) read too;
 * their meta is empty. bf16 and f16 tensors become f32. */
TmCheckpoint *tm_checkpoint_read(const char *path, GError **error);
