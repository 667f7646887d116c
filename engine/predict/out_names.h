/* out_names.h: what the files of a folder job are called. Pure; any thread. */
#pragma once

#include <glib.h>

#define TM_OVERLAY_SUFFIX "_overlay"

/** For each input name (file names without folder, in order) the stem of its outputs: STEM.png and
 * STEM_overlay.png. Normally the input's own stem; where two inputs would share an output the later ones keep
 * their extension ("a.jpg" beside "a.png" gives "a.jpg"), and a name that would be longer than a file name
 * may be (255 bytes) is cut and told apart by a hash. No two outputs share a name. Free with g_strfreev(). */
char **tm_out_stems(const char *const *names, guint n);
