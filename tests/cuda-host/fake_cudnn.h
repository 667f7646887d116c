/* What the parts of the stand-in for cuDNN share: descriptors as lists of attributes. Not part of the engine.
 */
#ifndef TM_FAKE_CUDNN_H
#define TM_FAKE_CUDNN_H
#include <cudnn.h>
#include <stdbool.h>
#include <stdint.h>
#include "tm_host.h"

enum { MAX_ATTR = 12, DIMS = 4, MAX_OPS = 8, MAX_UIDS = 16 };

struct attr {
  cudnnBackendAttributeName_t name;
  cudnnBackendAttributeType_t type;
  int64_t n;
  void *v;
};
struct fake {
  cudnnBackendDescriptorType_t type;
  bool done;
  int refs, n;
  struct attr a[MAX_ATTR];
};

#define T(x) CUDNN_BACKEND_##x##_DESCRIPTOR
#define A(x) CUDNN_ATTR_##x

/* cudnn.c */
const struct attr *fake_get(const struct fake *f, cudnnBackendAttributeName_t n);
int64_t *fake_ints(const struct fake *f, cudnnBackendAttributeName_t n);
int fake_number(const struct fake *f, cudnnBackendAttributeName_t n);
struct fake *fake_child(const struct fake *f, cudnnBackendAttributeName_t n);
void fake_drop(struct fake *f);
enum { FWD, DATA, WEIGHT };
int fake_direction(const struct fake *op); /* -1: no convolution */
struct conv {
  struct fake *d, *x, *w, *y;
};
struct conv fake_conv(const struct fake *op);
int64_t fake_dim(const struct fake *t, int i);
bool fake_virtual(const struct fake *t);
int64_t fake_uid(const struct fake *t);
enum { MOST_OPERANDS = 3 };
/* Inputs, then outputs, of which there are *outs; returns how many in all. */
int fake_operands(const struct fake *op, struct fake *t[MOST_OPERANDS], int *outs);

/* cudnn_engines.c */
enum { FAKE_CONFIGS = 4 };
/* Makes the configurations of @mode for a graph in the given descriptors; returns how many. */
int fake_heuristics(struct fake *graph, cudnnBackendHeurMode_t mode, struct fake **configs, int most);
/* Does the engine exist for this graph, with these knobs? */
bool fake_engine_exists(const struct fake *graph, int64_t index);
bool fake_knob_exists(int64_t index, int knob, int64_t value);
int fake_notes(int64_t index, int *notes, int most);
int64_t fake_workspace(int64_t index);
bool fake_rounds_to_tf32(int64_t index);

/* cudnn_math.c */
struct run {
  struct fake *graph;
  bool tf32; /* operands in f32 are rounded on their way in */
  int n;
  int64_t uid[MAX_UIDS];
  void *p[MAX_UIDS];
  struct {
    int64_t uid;
    float *v;
  } virt[MAX_OPS];
  int nvirt;
};
void *fake_pointer(const struct run *r, int64_t id);
void fake_run_graph(void *run);
#endif
