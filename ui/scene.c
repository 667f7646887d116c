#include "ui/scene.h"

#include <glib/gi18n.h>

TmScene *tm_scene_new(int w, int h, guint8 *rgb, guint8 *labels, guint8 *truth, const TmClassTable *classes) {
  TmScene *s = g_new0(TmScene, 1);
  g_atomic_ref_count_init(&s->refs);
  s->w = w;
  s->h = h;
  s->rgb = rgb;
  s->labels = labels;
  s->truth = truth;
  s->classes = tm_class_table_copy(classes);
  s->colours = g_new(guint32, MAX(classes->n, 1u));
  for (guint i = 0; i < classes->n; i++) {
    const guint8 *c = classes->classes[i].colour;
    s->colours[i] = (guint32)c[0] << 16 | (guint32)c[1] << 8 | c[2];
  }
  return s;
}

void tm_scene_set_visible(TmScene *s, TmVisible *v, guint64 picture) {
  if (!v) return;
  s->visible = tm_visible_ref(v);
  s->picture = picture;
}

TmScene *tm_scene_ref(TmScene *s) {
  g_atomic_ref_count_inc(&s->refs);
  return s;
}

void tm_scene_unref(TmScene *s) {
  if (!s || !g_atomic_ref_count_dec(&s->refs)) return;
  g_free(s->rgb);
  g_free(s->labels);
  g_free(s->truth);
  g_free(s->colours);
  tm_class_table_free(s->classes);
  tm_visible_unref(s->visible);
  g_free(s);
}

const char *tm_scene_class_name(const TmScene *s, guint8 label) {
  return label < s->classes->n ? s->classes->classes[label].name : _("Void");
}

void tm_scene_shares(const TmScene *s, const guint8 *plane, double *out) {
  guint64 count[256] = {0};
  gsize n = (gsize)s->w * s->h;
  for (gsize i = 0; i < n; i++) count[plane[i]]++;
  guint64 known = 0;
  for (guint i = 0; i < s->classes->n; i++) {
    out[i] = (double)count[i] / (double)n;
    known += count[i];
  }
  out[s->classes->n] = (double)(n - known) / (double)n;
}

char *tm_scene_describe(const TmScene *s, const guint8 *plane) {
  g_autofree double *shares = g_new(double, s->classes->n + 1);
  tm_scene_shares(s, plane, shares);
  GString *text = g_string_new(NULL);
  for (int k = 0; k < 3; k++) {
    guint best = 0;
    for (guint i = 1; i < s->classes->n; i++)
      if (shares[i] > shares[best]) best = i;
    if (!s->classes->n || shares[best] <= 0) break;
    g_string_append_printf(text, "%s%s %.1f", k ? ", " : "", s->classes->classes[best].name,
                           shares[best] * 100);
    shares[best] = -1;
  }
  if (text->len) g_string_append_printf(text, " %s", _("percent"));
  return g_string_free(text, FALSE);
}
