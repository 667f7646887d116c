/* net_fixture.h: a UNet's training step, as the tests of nets and programs use it. */
#pragma once

#include "engine/nets/unet.h"
#include "engine/program/program.h"

typedef struct {
  TmGraph *g;
  TmNode *x, *labels, *tick, *weights, *logits, *loss;
  GPtrArray *params, *grads, *effects; /* TmNode */
} TestNet;

/** Input "x" is an ACT of the given size; class weights are all 1; cross-entropy. */
TestNet *test_net_new(const TmUNet *net, TmShape x, gboolean training);
void test_net_free(TestNet *n);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TestNet, test_net_free)

/** Outputs: logits, loss and the effects. NULL with the error. */
TmProgram *test_net_program(TestNet *n, TmBackend *backend, TmParams *params, TmDType precision, gboolean keep_all, gboolean unfused,
                            GError **error);
/** Fills x with a fixed smooth-plus-noise pattern and labels with classes 0..classes-1 and some void. */
void test_net_fill(TestNet *n, TmProgram *p, guint seed);
