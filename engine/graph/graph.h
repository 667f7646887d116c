/* graph.h: a list of nodes in an order in which each can be computed. Built by engine/nets, extended by autodiff,
 * compiled by program.h. Shapes are concrete: one graph per input shape. Not thread-safe; any one thread. */
#pragma once

#include "engine/graph/op.h"

/** An empty graph. Free with tm_graph_free(); it owns its nodes. */
TmGraph *tm_graph_new(void);
void tm_graph_free(TmGraph *g);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmGraph, tm_graph_free)

guint tm_graph_n_nodes(const TmGraph *g);
TmNode *tm_graph_node(const TmGraph *g, guint id);
/** The node called @name, or NULL. */
TmNode *tm_graph_find(const TmGraph *g, const char *name);

/** A source: op INPUT, PARAM or STATE (kind PARAM and STATE for the latter two). @name is copied and must be new. The caller may set, on the
 * node returned, attrs.value: what a PARAM or STATE is filled with at first; and attrs.count > 0 on a PARAM: its fan-in, by which
 * tm_params_init() draws it instead. */
TmNode *tm_graph_source(TmGraph *g, TmOp op, TmKind kind, TmShape shape, const char *name);

/** A computed node; @name may be NULL. When the inputs do not fit, the graph keeps the first error, which tm_graph_check()
 * returns, and the call gives a node of shape (1,1,1,1), so that a net can be written without a test after each line. */
TmNode *tm_graph_add(TmGraph *g, TmOp op, const char *name, const TmAttrs *attrs, guint n_in, TmNode *const *in);
#define tm_node(g, op, name, attrs, ...)                                                                               \
  tm_graph_add((g), (op), (name), (attrs), G_N_ELEMENTS(((TmNode *[]){__VA_ARGS__})), (TmNode *[]){__VA_ARGS__})

/** FALSE with the first error any tm_graph_add() met. */
gboolean tm_graph_check(const TmGraph *g, GError **error);

/** Reverse-mode differentiation (Griewank and Walther, 2008, ch. 3): adds the gradient of the scalar @loss by each of @by[0..n-1]
 * and stores the nodes in @grad (NULL where the loss does not depend on it). The seed is 1, scaled by @loss_scale (a
 * STATE scalar) when that is not NULL. Where a value is used more than once its gradients are added. */
void tm_graph_gradients(TmGraph *g, TmNode *loss, TmNode *loss_scale, guint n, TmNode *const *by, TmNode **grad);

/** The same with less memory (Chen et al. 2016): values of nodes with @drop[id] (one a node of @g as it is) are not kept for the way back
 * but made again there, each from what it was made from, right before it is needed. Sources are never dropped; do not drop what has
 * an effect. The gradients are the same bits, for dropout's mask follows from its key and the tick. */
void tm_graph_gradients_again(TmGraph *g, TmNode *loss, TmNode *loss_scale, const gboolean *drop, guint n, TmNode *const *by,
                              TmNode **grad);

/** Sums of flops and bytes over all nodes that @roots need. */
double tm_graph_flops(const TmGraph *g, guint n_roots, TmNode *const *roots);
