/* source.c: values that come from outside the graph. They have no inputs; tm_graph_source() gives them their
 * shape, so their rule only repeats it. */
#include "engine/ops/rule.h"

#include <glib/gi18n.h>

static gboolean source_shape(const TmNode *n, TmShape *out, GError **error) {
  return tm_rule_out(n, n->shape.n, n->shape.c, n->shape.h, n->shape.w, out, error);
}

const TmOpInfo tm_op_input = {
    .name = "input",
    .kind = TM_KIND_ACT,
    .shape = source_shape,
    .explain = N_("An input is what the network is shown: a batch of pictures, the true classes of their "
                  "pixels, or the number of the "
                  "step. It changes at every step and is never trained."),
};

const TmOpInfo tm_op_param = {
    .name = "param",
    .kind = TM_KIND_PARAM,
    .shape = source_shape,
    .explain = N_("A parameter is a table of numbers that training changes: the weights of a convolution, or "
                  "the scale and shift of a "
                  "normalisation. After each step the optimizer moves every parameter a little against its "
                  "gradient. All that the network has "
                  "learnt is in its parameters."),
};

const TmOpInfo tm_op_state = {
    .name = "state",
    .kind = TM_KIND_STATE,
    .shape = source_shape,
    .explain = N_("A state is kept from step to step but has no gradient: the running mean and variance of a "
                  "batch normalisation, the "
                  "weights of the classes, or the mean colour of the data set. It is saved with the network "
                  "because predictions need it."),
};
