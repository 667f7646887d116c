#include <string.h>

#include "engine/program/passes/compile.h"

enum { ATTEMPTS = 16, ALIGN = 256, GUARD = 64 }; /* bytes; the guard lets a vector load run past a tail without leaving the arena */

gsize tm_value_bytes(const TmValue *v) {
  return tm_shape_pixels(v->view.shape) * (gsize)v->view.ld * tm_dtype_size(v->view.dtype);
}

static TmValue *value(TmCompile *c, guint v) { return &g_array_index(c->values, TmValue, v); }
static gboolean in_arena(const TmValue *v) { return v->home == TM_HOME_ARENA || v->home == TM_HOME_OWN; }

static void find_lifetimes(TmCompile *c) {
  const guint end = c->steps->len;
  for (guint v = 0; v < c->values->len; v++) {
    const gboolean own = value(c, v)->home == TM_HOME_OWN;
    value(c, v)->first = own ? 0 : end;
    value(c, v)->last = own ? end : 0;
  }
  for (guint i = 0; i < end; i++) {
    const TmStep *s = &g_array_index(c->steps, TmStep, i);
    for (guint k = 0; k < s->n_in + s->n_out; k++) {
      TmValue *v = value(c, k < s->n_in ? s->in[k] : s->out[k - s->n_in]);
      v->first = MIN(v->first, i);
      v->last = MAX(v->last, i);
    }
  }
}

/* The operand whose memory output 0 of the step may take over: read and written element by element at the same place. -1: none. */
static int replaces(int op) {
  switch (op) {
  case TM_OP_RELU:
  case TM_OP_RELU_DX:
  case TM_OP_SIGMOID:
  case TM_OP_SIGMOID_DX:
  case TM_OP_ADD:
  case TM_OP_MUL:
  case TM_OP_SCALE:
  case TM_OP_DROPOUT:
  case TM_OP_BN_APPLY:
  case TM_OP_BN_INFER:
  case TM_OP_BN_DX:
  case TM_FUSED_BN_RELU:
  case TM_FUSED_BN_INFER_RELU:
  case TM_FUSED_RELU_DX_BN_REDUCE: return 0;
  case TM_FUSED_POOL_DX_ADD: return 3;
  default: return -1;
  }
}

static void reuse_in_place(TmCompile *c) {
  for (guint i = 0; i < c->steps->len; i++) {
    const TmStep *s = &g_array_index(c->steps, TmStep, i);
    const int k = replaces(s->op);
    if (k < 0) continue;
    const guint in = s->in[k], out = s->out[0], root = c->root[in];
    const TmValue *a = value(c, in), *b = value(c, out);
    if (a->home != TM_HOME_ARENA || b->home != TM_HOME_ARENA || a->last != i || b->first != i) continue;
    if (c->members[in] != 1 && root == in) continue;                /* slices of it may live on */
    if (root != in && c->channel[root] != 0) continue;              /* it is a part of something itself */
    if (c->root[out] != out || c->members[out] != 1) continue;      /* the result has its place already */
    if (a->view.ld != b->view.ld || a->view.dtype != b->view.dtype || !tm_shape_equal(a->view.shape, b->view.shape)) continue;
    gboolean again = FALSE; /* the same value as another operand would be read after it was overwritten */
    for (guint j = 0; j < s->n_in; j++) again |= (int)j != k && s->in[j] == in;
    if (again || value(c, root)->home != TM_HOME_ARENA) continue;
    if (root != in && !tm_shape_equal(value(c, root)->view.shape, a->view.shape)) continue;
    c->root[out] = root;
    c->members[in] = 2; /* its memory goes on under another name */
  }
}

typedef struct {
  guint root, first, last;
  gsize bytes, offset;
} Block;

/* ---- the orders in which blocks are placed: no one is best for every net ---- */

static int by_root(const Block *x, const Block *y) { return (x->root > y->root) - (x->root < y->root); }

static int by_size(gconstpointer a, gconstpointer b) {
  const Block *x = a, *y = b;
  return x->bytes != y->bytes ? (x->bytes > y->bytes ? -1 : 1) : by_root(x, y);
}

static int by_life(gconstpointer a, gconstpointer b) {
  const Block *x = a, *y = b;
  const guint p = x->last - x->first, q = y->last - y->first;
  return p != q ? (p > q ? -1 : 1) : by_size(a, b);
}

static int by_begin(gconstpointer a, gconstpointer b) {
  const Block *x = a, *y = b;
  return x->first != y->first ? (x->first < y->first ? -1 : 1) : by_size(a, b);
}

static int by_offset(gconstpointer a, gconstpointer b) {
  const Block *const *x = a, *const *y = b;
  return (*x)->offset < (*y)->offset ? -1 : (*x)->offset > (*y)->offset;
}

/* The lowest gap of @b's size among the placed blocks that live at the same time. */
static gsize first_fit(const GArray *blocks, guint n_placed, const Block *b, GPtrArray *beside) {
  g_ptr_array_set_size(beside, 0);
  for (guint i = 0; i < n_placed; i++) {
    Block *o = &g_array_index(blocks, Block, i);
    if (o->first <= b->last && b->first <= o->last) g_ptr_array_add(beside, o);
  }
  g_ptr_array_sort(beside, by_offset);
  gsize at = 0;
  for (guint i = 0; i < beside->len; i++) {
    const Block *o = beside->pdata[i];
    if (o->offset >= at + b->bytes) break;
    at = MAX(at, o->offset + o->bytes);
  }
  return at;
}

static GArray *collect_blocks(TmCompile *c) {
  const guint n = c->values->len;
  g_autofree gint *block_of = g_new(gint, n);
  GArray *blocks = g_array_new(FALSE, FALSE, sizeof(Block));
  for (guint v = 0; v < n; v++) {
    block_of[v] = -1;
    if (c->root[v] != v || !in_arena(value(c, v))) continue;
    const gsize bytes = (tm_value_bytes(value(c, v)) + GUARD + ALIGN - 1) / ALIGN * ALIGN;
    const Block b = {.root = v, .first = G_MAXUINT, .last = 0, .bytes = bytes};
    block_of[v] = (gint)blocks->len;
    g_array_append_val(blocks, b);
  }
  for (guint v = 0; v < n; v++) {
    if (block_of[c->root[v]] < 0) continue;
    Block *b = &g_array_index(blocks, Block, block_of[c->root[v]]);
    b->first = MIN(b->first, value(c, v)->first);
    b->last = MAX(b->last, value(c, v)->last);
  }
  return blocks;
}

/* Places the blocks in their order; the bytes that takes, and the block at the top. */
static gsize place_all(GArray *blocks, GPtrArray *beside, guint *highest) {
  gsize top = 0;
  for (guint i = 0; i < blocks->len; i++) {
    Block *b = &g_array_index(blocks, Block, i);
    b->offset = first_fit(blocks, i, b, beside);
    if (b->offset + b->bytes <= top) continue;
    top = b->offset + b->bytes;
    *highest = i;
  }
  return top;
}

/* In an order, and in those that follow from it when whichever block ends up at the top may go first. @best keeps the best. */
static void try_order(const GArray *blocks, GCompareFunc order, gsize floor, GArray *best, gsize *least) {
  g_autoptr(GArray) now = g_array_copy((GArray *)blocks);
  g_autoptr(GPtrArray) beside = g_ptr_array_new();
  g_array_sort(now, order);
  for (int i = 0; i < ATTEMPTS && *least > floor; i++) {
    guint highest = 0;
    const gsize top = place_all(now, beside, &highest);
    if (top < *least) {
      *least = top;
      memcpy(best->data, now->data, now->len * sizeof(Block));
    }
    const Block b = g_array_index(now, Block, highest);
    if (highest == 0) return;
    g_array_remove_index(now, highest);
    g_array_prepend_val(now, b);
  }
}

/* No plan can take less than what is alive at once. */
static gsize most_alive(const GArray *blocks, guint n_steps) {
  g_autofree gsize *alive = g_new0(gsize, (gsize)n_steps + 1);
  gsize most = 0;
  for (guint i = 0; i < blocks->len; i++) {
    const Block *b = &g_array_index(blocks, Block, i);
    for (guint k = b->first; k <= MIN(b->last, n_steps); k++) alive[k] += b->bytes;
  }
  for (guint k = 0; k <= n_steps; k++) most = MAX(most, alive[k]);
  return most;
}

/* In the best order found; the bytes that takes. */
static gsize pack(GArray *blocks, guint n_steps) {
  static const GCompareFunc orders[] = {by_life, by_size, by_begin};
  g_autoptr(GArray) all = g_array_copy(blocks);
  const gsize floor = most_alive(blocks, n_steps);
  gsize least = G_MAXSIZE;
  if (blocks->len == 0) return 0;
  for (guint i = 0; i < G_N_ELEMENTS(orders) && least > floor; i++) try_order(all, orders[i], floor, blocks, &least);
  return least;
}

void tm_pass_plan(TmCompile *c) {
  find_lifetimes(c);
  if (!c->options->unfused && !c->options->keep_all) reuse_in_place(c);
  g_autoptr(GArray) blocks = collect_blocks(c);
  c->arena_bytes = pack(blocks, c->steps->len);
  for (guint i = 0; i < blocks->len; i++) {
    const Block *b = &g_array_index(blocks, Block, i);
    /* the offset travels in the pointer until the arena is there */
    value(c, b->root)->view.data = GSIZE_TO_POINTER(b->offset);
  }
  for (guint v = 0; v < c->values->len; v++) {
    TmValue *x = value(c, v);
    if (c->root[v] == v || !in_arena(x)) continue;
    const gsize base = GPOINTER_TO_SIZE(value(c, c->root[v])->view.data);
    x->view.data = GSIZE_TO_POINTER(base + (gsize)c->channel[v] * tm_dtype_size(x->view.dtype));
  }
}
