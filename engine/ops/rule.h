/* rule.h: what the shape rules of the op table share. Private to engine/ops. Pure functions; any thread.
 *
 * Each check returns FALSE with a sentence that starts with the op's name and gives the sizes it saw. */
#pragma once

#include "engine/graph/graph.h"

/** Sets TM_ERROR_SHAPE from "op: sentence". Always FALSE, so that a rule can return it. */
gboolean tm_rule_fail(const TmNode *n, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);
/** The same with TM_ERROR_SETTING: an attribute is wrong, whatever the inputs are. */
gboolean tm_rule_setting(const TmNode *n, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);

/** Input i must be of the kind at letters[i]; the last letter stands for all that follow. 'x' numbers (ACT,
 * STAT, PARAM or STATE), 'l' LABEL, 'p' PIXEL, 'c' COUNT, 'b' numbers or PIXEL. */
gboolean tm_rule_kinds(const TmNode *n, const char *letters, GError **error);

/** Input @i has the shape of input @j. */
gboolean tm_rule_same(const TmNode *n, guint i, guint j, GError **error);
/** Input @i is a vector over @c channels, (1,c,1,1). @c = 1: a scalar. */
gboolean tm_rule_vector(const TmNode *n, guint i, int c, GError **error);
/** Input @i is a plane of labels for the logits at input @j: (N,1,H,W), and the classes fit in a byte beside
 * void. */
gboolean tm_rule_labels(const TmNode *n, guint i, guint j, GError **error);

/** Stores the output's shape; fails when an extent is < 1 or the tensor is too large to address. */
gboolean tm_rule_out(const TmNode *n, gint64 out_n, gint64 c, gint64 h, gint64 w, TmShape *out,
                     GError **error);

/** Elements of the output, and of input @i. */
double tm_rule_count(const TmNode *n);
double tm_rule_count_in(const TmNode *n, guint i);
/** Bytes of one element of the output, ACT elements being @elem bytes. */
gsize tm_rule_elem(const TmNode *n, gsize elem);
