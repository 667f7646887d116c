#include "engine/ops/rule.h"

#include "engine/graph/op.h"

#include <glib/gi18n.h>
#include <string.h>

static gboolean G_GNUC_PRINTF(4, 0)
    fail(const TmNode *n, GError **error, TmErrorCode code, const char *format, va_list args) {
  if (!error) return FALSE;
  *error = g_error_new_valist(TM_ERROR, code, format, args);
  g_prefix_error(error, "%s: ", tm_op_info(n->op)->name);
  return FALSE;
}

gboolean tm_rule_fail(const TmNode *n, GError **error, const char *format, ...) {
  va_list args;
  va_start(args, format);
  fail(n, error, TM_ERROR_SHAPE, format, args);
  va_end(args);
  return FALSE;
}

gboolean tm_rule_setting(const TmNode *n, GError **error, const char *format, ...) {
  va_list args;
  va_start(args, format);
  fail(n, error, TM_ERROR_SETTING, format, args);
  va_end(args);
  return FALSE;
}

static gboolean kind_fits(TmKind kind, char letter) {
  switch (letter) {
  case 'l':
    return kind == TM_KIND_LABEL;
  case 'p':
    return kind == TM_KIND_PIXEL;
  case 'c':
    return kind == TM_KIND_COUNT;
  case 'b':
    return kind != TM_KIND_LABEL && kind != TM_KIND_COUNT;
  default:
    return kind != TM_KIND_LABEL && kind != TM_KIND_PIXEL && kind != TM_KIND_COUNT;
  }
}

static const char *kind_name(char letter) {
  switch (letter) {
  case 'l':
    return _("class labels");
  case 'p':
    return _("picture bytes");
  case 'c':
    return _("whole counts");
  default:
    return _("real numbers");
  }
}

gboolean tm_rule_kinds(const TmNode *n, const char *letters, GError **error) {
  const gsize last = strlen(letters) - 1;
  for (guint i = 0; i < n->n_in; i++) {
    const char letter = letters[MIN(i, last)];
    if (!kind_fits(n->in[i]->kind, letter))
      return tm_rule_fail(n, error, _("input %u must hold %s."), i, kind_name(letter));
  }
  return TRUE;
}

gboolean tm_rule_same(const TmNode *n, guint i, guint j, GError **error) {
  const TmShape a = n->in[i]->shape, b = n->in[j]->shape;
  if (tm_shape_equal(a, b)) return TRUE;
  return tm_rule_fail(n, error, _("input %u is %d×%d×%d×%d and input %u is %d×%d×%d×%d; they must be alike."),
                      i, a.n, a.c, a.h, a.w, j, b.n, b.c, b.h, b.w);
}

gboolean tm_rule_vector(const TmNode *n, guint i, int c, GError **error) {
  const TmShape s = n->in[i]->shape;
  if (tm_shape_equal(s, TM_SHAPE(1, c, 1, 1))) return TRUE;
  return tm_rule_fail(n, error, _("input %u is %d×%d×%d×%d; it must be a vector of %d, 1×%d×1×1."), i, s.n,
                      s.c, s.h, s.w, c, c);
}

gboolean tm_rule_labels(const TmNode *n, guint i, guint j, GError **error) {
  const TmShape s = n->in[i]->shape, logits = n->in[j]->shape;
  if (logits.c > TM_VOID)
    return tm_rule_fail(n, error, _("%d classes do not fit in a byte beside void; %d is the most."), logits.c,
                        TM_VOID);
  if (tm_shape_equal(s, TM_SHAPE(logits.n, 1, logits.h, logits.w))) return TRUE;
  return tm_rule_fail(n, error,
                      _("the labels are %d×%d×%d×%d; logits of %d×%d×%d×%d need labels of %d×1×%d×%d."), s.n,
                      s.c, s.h, s.w, logits.n, logits.c, logits.h, logits.w, logits.n, logits.h, logits.w);
}

gboolean tm_rule_out(const TmNode *n, gint64 out_n, gint64 c, gint64 h, gint64 w, TmShape *out,
                     GError **error) {
  const gint64 extent[4] = {out_n, c, h, w};
  gint64 count = 1;
  for (int i = 0; i < 4; i++) {
    if (extent[i] < 1)
      return tm_rule_fail(n, error,
                          _("the result would be %" G_GINT64_FORMAT "×%" G_GINT64_FORMAT "×%" G_GINT64_FORMAT
                            "×%" G_GINT64_FORMAT ": the input is too small."),
                          out_n, c, h, w);
    if (extent[i] > G_MAXINT || count > G_MAXSSIZE / 16 / extent[i])
      return tm_rule_fail(n, error, _("the result would be too large to address."));
    count *= extent[i];
  }
  *out = TM_SHAPE((int)out_n, (int)c, (int)h, (int)w);
  return TRUE;
}

double tm_rule_count(const TmNode *n) {
  return (double)tm_shape_count(n->shape);
}
double tm_rule_count_in(const TmNode *n, guint i) {
  return (double)tm_shape_count(n->in[i]->shape);
}
gsize tm_rule_elem(const TmNode *n, gsize elem) {
  return n->kind == TM_KIND_ACT ? elem : n->kind == TM_KIND_PIXEL ? 1 : 4;
}
