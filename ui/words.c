#include "ui/words.h"

#include <glib/gi18n.h>
#include <math.h>

#define THIN_SPACE "\u2009"

char *tm_words_count(guint64 n) {
  g_autofree char *digits = g_strdup_printf("%" G_GUINT64_FORMAT, n);
  gsize len = strlen(digits);
  GString *s = g_string_new(NULL);
  for (gsize i = 0; i < len; i++) {
    if (i > 0 && len > 4 && (len - i) % 3 == 0) g_string_append(s, THIN_SPACE);
    g_string_append_c(s, digits[i]);
  }
  return g_string_free(s, FALSE);
}

char *tm_words_value(double v) {
  if (isnan(v)) return g_strdup("–");
  if (isinf(v)) return g_strdup(v > 0 ? "∞" : "−∞");
  double a = fabs(v);
  if (a == 0.0) return g_strdup("0");
  if (a < 1e-5 || a >= 1e7) return g_strdup_printf("%.2e", v);
  int before = (int)floor(log10(a)) + 1;
  int decimals = CLAMP(3 - before, 0, 7);
  char *text = g_strdup_printf("%.*f", decimals, v);
  if (a < 0.01 && strchr(text, '.')) { /* 0.00300 reads better as 0.003 */
    char *end = text + strlen(text) - 1;
    while (*end == '0' && end[-1] != '.') *end-- = 0;
  }
  return text;
}

char *tm_words_duration(double seconds) {
  if (!isfinite(seconds) || seconds < 0) return g_strdup("–");
  guint64 s = (guint64)(seconds + 0.5);
  if (s < 60) return g_strdup_printf(_("%u s"), (guint)s);
  if (s < 600) return g_strdup_printf(_("%u min %u s"), (guint)(s / 60), (guint)(s % 60));
  if (s < 3600) return g_strdup_printf(_("%u min"), (guint)((s + 30) / 60));
  guint64 m = (s + 30) / 60;
  if (m < 48 * 60) return g_strdup_printf(_("%u h %u min"), (guint)(m / 60), (guint)(m % 60));
  return g_strdup_printf(_("%u d %u h"), (guint)(m / 1440), (guint)(m / 60 % 24));
}

char *tm_words_left(double seconds) {
  if (!isfinite(seconds) || seconds < 0) return NULL;
  if (seconds < 59.5) return g_strdup_printf(_("%u s left"), (guint)(seconds + 0.5));
  if (seconds < 3570) return g_strdup_printf(_("%u min left"), (guint)((seconds + 30) / 60));
  g_autofree char *text = tm_words_duration(MAX(seconds, 3600.0));
  return g_strdup_printf(_("%s left"), text);
}

char *tm_words_bytes(double bytes) {
  if (!isfinite(bytes) || bytes < 0) return g_strdup("–");
  if (bytes < 1e6) return g_strdup_printf(_("%.0f kB"), bytes / 1e3);
  if (bytes < 1e9) return g_strdup_printf(_("%.0f MB"), bytes / 1e6);
  return g_strdup_printf(bytes < 100e9 ? _("%.1f GB") : _("%.0f GB"), bytes / 1e9);
}

char *tm_words_span(double seconds) {
  if (!isfinite(seconds) || seconds < 0) return g_strdup("–");
  double ms = seconds * 1e3;
  if (ms < 0.05) return g_strdup(_("0 ms"));
  if (ms < 9.95) return g_strdup_printf(_("%.1f ms"), ms);
  if (ms < 999.5) return g_strdup_printf(_("%.0f ms"), ms);
  return g_strdup_printf(ms < 99950 ? _("%.2f s") : _("%.0f s"), seconds);
}

char *tm_words_percent(double share) {
  if (!isfinite(share)) return g_strdup("–");
  double p = share * 100.0;
  if (p > 0 && p < 0.05) return g_strdup("< 0.1" THIN_SPACE "%");
  return g_strdup_printf(fabs(p) < 9.95 && p != 0.0 ? "%.1f" THIN_SPACE "%%" : "%.0f" THIN_SPACE "%%", p);
}
