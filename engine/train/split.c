/* split.c: what to do when the memory does not suffice for a step: the batch is computed in more parts, one
 * after the other, and stays the batch it was. */
#include <glib/gi18n.h>

#include "engine/train/session.h"

enum { MOST_PARTS = 64 }; /* of the setting */

/* At least twice as many parts as now, such that the batch divides by them; 0: there are none. */
static int more_parts(const TmSettings *s) {
  for (int parts = 2 * s->accumulate; parts <= MIN(s->batch, MOST_PARTS); parts++)
    if (s->batch % parts == 0) return parts;
  return 0;
}

gboolean tm_session_split(TmSession *s, GError **error) {
  const int before = s->now.accumulate;
  for (int parts;
       g_error_matches(*error, TM_ERROR, TM_ERROR_NO_MEMORY) && (parts = more_parts(&s->now)) > 0;) {
    s->now.accumulate = parts;
    tm_session_drop_evals(s);
    g_clear_error(error);
    if (tm_session_build(s, error)) return TRUE;
  }
  s->now.accumulate = before;
  return FALSE;
}

char *tm_session_split_sentence(const TmSession *s, gboolean begun) {
  const int batch = s->now.batch, parts = s->now.accumulate;
  if (!begun)
    return g_strdup_printf(_("The memory is too small for the whole batch at once: it is computed in parts, "
                             "%d × %d = %d stays."),
                           parts, batch / parts, batch);
  return g_strdup_printf(
      s->info.uuid
          ? _("The GPU ran out of memory at step %" G_GUINT64_FORMAT
              ". The step was rolled back and the batch split: %d × %d = %d stays. Training goes on.")
          : _("The memory ran out at step %" G_GUINT64_FORMAT
              ". The step was rolled back and the batch split: %d × %d = %d stays. Training goes on."),
      tm_session_total(s), parts, batch / parts, batch);
}
