/* picture_key.h: the name under which a decoded picture is kept: all that its bytes depend on. Private to
 * data. */
#pragma once

#include "engine/data/dataset.h"

/** What of @t decides how masks are read, as a short text. Free it. */
char *tm_picture_key_classes(const TmClassTable *t);
/** Paths, sizes and times of @e's files, the decoders, and @classes from above. NULL when it cannot be kept:
 * its files are not there, it has none (the demo roads), or one was written so lately that a further change
 * might not show in its time. Free it. Any thread. */
char *tm_picture_key(const TmEntry *e, const char *classes);
