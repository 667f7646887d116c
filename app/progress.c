#include "app/progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <glib/gi18n.h>

enum { BAR_CELLS = 24, REDRAW_US = 80000, LINE_US = 10000000 };

struct _TmProgress {
  GMutex lock; /* all below: the scan reports from its workers */
  const char *what, *unit;
  gboolean tty, drawn, whole; /* whole: the end was told */
  gint64 started, last;
};

TmProgress *tm_progress_new(const char *what, const char *unit) {
  TmProgress *p = g_new0(TmProgress, 1);
  g_mutex_init(&p->lock);
  p->what = what;
  p->unit = unit;
  const char *term = g_getenv("TERM");
  p->tty = isatty(STDERR_FILENO) && g_strcmp0(term, "dumb") != 0;
  p->started = g_get_monotonic_time();
  if (!p->tty) p->last = p->started; /* quick work is told once, when it is done */
  return p;
}

gboolean tm_progress_on_terminal(const TmProgress *p) {
  return p->tty;
}

static void clear_bar(TmProgress *p) {
  if (p->drawn) fputs("\r\033[K", stderr);
  p->drawn = FALSE;
}

void tm_progress_free(TmProgress *p) {
  if (!p) return;
  clear_bar(p);
  fflush(stderr);
  g_mutex_clear(&p->lock);
  g_free(p);
}

static guint terminal_width(void) {
  struct winsize size;
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* Eighths of a cell make the bar move smoothly; a terminal without UTF-8 gets signs it has. */
static void append_bar(GString *s, double share) {
  static const char *const eighths[] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  gboolean utf8 = g_get_charset(NULL);
  int parts = (int)lround(CLAMP(share, 0.0, 1.0) * BAR_CELLS * 8);
  g_string_append(s, utf8 ? "▕" : "[");
  for (int i = 0; i < BAR_CELLS; i++, parts -= 8)
    g_string_append(s, !utf8 ? (parts >= 4 ? "=" : " ") : parts >= 8 ? "█" : eighths[MAX(parts, 0)]);
  g_string_append(s, utf8 ? "▏" : "]");
}

/* Cuts to the terminal's width: a wrapped line could not be drawn over. */
static void draw(TmProgress *p, const char *line) {
  guint width = terminal_width();
  g_autofree char *cut =
      g_utf8_strlen(line, -1) >= (glong)width ? g_utf8_substring(line, 0, (glong)width - 1) : g_strdup(line);
  g_autofree char *local = g_locale_from_utf8(cut, -1, NULL, NULL, NULL);
  fprintf(stderr, "\r%s\033[K", local ? local : cut);
  fflush(stderr);
  p->drawn = TRUE;
}

static gboolean due(TmProgress *p, gboolean last) {
  gint64 now = g_get_monotonic_time();
  if (!last && now - p->last < (p->tty ? REDRAW_US : LINE_US)) return FALSE;
  p->last = now;
  return TRUE;
}

char *tm_time_left(double seconds) {
  if (!isfinite(seconds) || seconds < 0) return g_strdup("");
  if (seconds < 59.5) return g_strdup_printf(_("%.0f s left"), seconds);
  long minutes = lround(seconds / 60);
  if (minutes < 60) return g_strdup_printf(_("%ld min left"), minutes);
  return g_strdup_printf(_("%ld h %ld min left"), minutes / 60, minutes % 60);
}

void tm_progress_set(TmProgress *p, guint done, guint total) {
  g_mutex_lock(&p->lock);
  gboolean last = done == total && !p->whole;
  p->whole = p->whole || last;
  if (due(p, last)) {
    double seconds = (double)(g_get_monotonic_time() - p->started) / 1e6;
    double rate = seconds > 0 ? done / seconds : 0;
    g_autofree char *left = tm_time_left(rate > 0 && done < total ? (total - done) / rate : NAN);
    g_autoptr(GString) line = g_string_new(p->what);
    if (p->tty) {
      g_string_append_c(line, ' ');
      append_bar(line, total ? (double)done / total : 1);
    }
    g_string_append_printf(line, " %u/%u · %.1f %s/s%s%s", done, total, rate, p->unit, *left ? " · " : "",
                           left);
    if (p->tty)
      draw(p, line->str);
    else
      fprintf(stderr, "%s\n", line->str);
  }
  g_mutex_unlock(&p->lock);
}

void tm_progress_show(TmProgress *p, double share, const char *head, const char *tail) {
  g_mutex_lock(&p->lock);
  if (p->tty && due(p, FALSE)) {
    g_autoptr(GString) line = g_string_new(head);
    g_string_append_c(line, ' ');
    append_bar(line, share);
    g_string_append_printf(line, " %s", tail);
    draw(p, line->str);
  }
  g_mutex_unlock(&p->lock);
}

void tm_progress_say(TmProgress *p, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_autofree char *text = g_strdup_vprintf(format, args);
  va_end(args);
  g_mutex_lock(&p->lock);
  clear_bar(p);
  g_printerr("%s\n", text);
  g_mutex_unlock(&p->lock);
}
