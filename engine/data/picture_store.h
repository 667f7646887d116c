/* picture_store.h: decoded pictures on disk, so that PNG and JPEG are decoded once over all runs.
 *
 * One file a picture in one folder of the user's (XDG cache), named by a hash of its key, mapped into memory
 * when read. A file is written under another name and renamed when it is whole, and never changed after, so
 * that any number of processes may use the folder at once, and one that was deleted stays readable for who
 * has it mapped. Nothing in a file is believed before size, key and checksum are right; one that is wrong is
 * deleted. A store that cannot write goes on reading, one that cannot read finds nothing: both only cost
 * time.
 *
 * Bounded: by what it is told, and a tenth of the disk's room. The files unused longest go first, but none
 * that was used since this store was opened: with every picture wanted once an epoch, throwing those out
 * would leave nothing to find in the next one. */
#pragma once

#include "engine/data/sample.h"

typedef struct _TmPictureStore TmPictureStore;

/** @folder (made when missing); NULL: tarmac/pictures in the user's cache. @most: bytes it may take. Never
 * fails. */
TmPictureStore *tm_picture_store_new(const char *folder, guint64 most);
void tm_picture_store_free(TmPictureStore *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmPictureStore, tm_picture_store_free)

/* A picture in a mapped file: @sample points into it. */
typedef struct {
  TmSample sample;
  gpointer map;
  gsize bytes;
} TmStoredPicture;

void tm_stored_picture_clear(TmStoredPicture *p);

/** FALSE when there is none under @key. Any thread. */
gboolean tm_picture_store_get(TmPictureStore *s, const char *key, TmStoredPicture *out);
/** Keeps a copy of @sample, if there is room. Any thread. */
void tm_picture_store_put(TmPictureStore *s, const char *key, const TmSample *sample);
/** Why pictures are not kept, a sentence, the first time it is asked for after that began; else NULL. Free
 * it. Any thread. */
char *tm_picture_store_note(TmPictureStore *s);
/** Bytes of the files in the folder, as far as this store knows. Any thread. */
guint64 tm_picture_store_used(TmPictureStore *s);
