#include "app/project_words.h"

#include <glib/gi18n.h>
#include <math.h>

#include "ui/words.h"

char *tm_project_words_about(const TmProjectFile *p) {
  g_autofree char *best = NULL, *pictures = tm_words_count(p->n_pictures);
  double miou;
  const guint runs = tm_project_file_runs(p, &best, &miou);
  if (best) return g_strdup_printf(_("%s · mIoU %.3f"), best, miou);
  g_autofree char *all = g_strdup_printf(ngettext("%s picture", "%s pictures", p->n_pictures), pictures);
  if (!runs) return g_steal_pointer(&all);
  return g_strdup_printf(ngettext("%s · %u run", "%s · %u runs", runs), all, runs);
}

/* Days are those of the calendar here, not of 24 hours. */
static int day_of(GDateTime *t) {
  int y, m, d;
  g_date_time_get_ymd(t, &y, &m, &d);
  GDate date;
  g_date_clear(&date, 1);
  g_date_set_dmy(&date, (GDateDay)d, (GDateMonth)m, (GDateYear)y);
  return (int)g_date_get_julian(&date);
}

char *tm_project_words_age(gint64 then, gint64 now) {
  g_autoptr(GDateTime) a = g_date_time_new_from_unix_local(then), b = g_date_time_new_from_unix_local(now);
  if (!a || !b) return g_strdup("–");
  const int days = day_of(b) - day_of(a);
  if (days <= 0) return g_strdup(_("today"));
  if (days == 1) return g_strdup(_("yesterday"));
  if (days < 7) return g_strdup_printf(ngettext("%d day ago", "%d days ago", (gulong)days), days);
  return g_date_time_format(a, g_date_time_get_year(a) == g_date_time_get_year(b) ? _("%-d %B")
                                                                                  : _("%-d %B %Y"));
}
