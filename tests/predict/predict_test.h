/* predict_test.h: a net whose answer is known without running one.
 *
 * Its weights let the picture through: every convolution on the way of the first skip copies its centre, all
 * others are zero. Class 1 wins where red and green and blue together exceed half of white, class 0
 * elsewhere; class 2 never. So a prediction can be checked pixel by pixel. */
#pragma once

#include "engine/predict/infer_graph.h"
#include "engine/predict/predictor-private.h"
#include "engine/core/random.h"
#include "tests/run/run_test.h"

static inline void pt_add(TmCheckpoint *c, const char *name, TmShape shape) {
  g_autoptr(GError) error = NULL;
  TmTensor *t = tm_tensor_new(TM_F32, shape, &error);
  g_assert_no_error(error);
  tm_checkpoint_add(c, name, t);
}

/* Element (o, i, y, x) of stored order O,kH,kW,I. */
static inline void pt_set(TmCheckpoint *c, const char *name, int o, int i, int y, int x, float value) {
  const TmTensor *t = tm_checkpoint_tensor(c, name);
  ((float *)t->data)[((o * t->shape.h + y) * t->shape.w + x) * t->shape.c + i] = value;
}

static inline TmClassTable *pt_classes(void) {
  TmClassTable *t = tm_class_table_new(TM_MASK_INDEX);
  tm_class_table_add(t, "Dark", 0x102030, 3);
  tm_class_table_add(t, "Light, \"bright\"", 0xf0e0d0, 200);
  tm_class_table_add(t, "Never", 0x00ff00, 7);
  return t;
}

/* Fills the tensors the net of @settings needs with zeros, then lets the picture through. */
static inline void pt_weights(TmCheckpoint *c, const TmSettings *settings, guint classes) {
  TmUNet net;
  tm_infer_net(settings, classes, &net);
  g_autoptr(TmGraph) g = tm_graph_new();
  tm_infer_graph(g, &net, TM_SHAPE(1, 3, 32, 32), NULL, NULL);
  for (guint i = 0; i < tm_graph_n_nodes(g); i++) {
    const TmNode *n = tm_graph_node(g, i);
    if ((n->op == TM_OP_PARAM || n->op == TM_OP_STATE) && !g_str_has_prefix(n->name, "input."))
      pt_add(c, n->name, n->shape);
  }
  static const char *const pass[] = {"enc.0.0.weight", "enc.0.3.weight", "dec.0.0.weight", "dec.0.3.weight"};
  for (guint k = 0; k < G_N_ELEMENTS(pass); k++)
    for (int i = 0; i < 3; i++) pt_set(c, pass[k], i, i, 1, 1, 1);
  for (int i = 0; i < 3; i++) pt_set(c, "head.weight", 1, i, 0, 0, 1);
  pt_set(c, "head.bias", 0, 0, 0, 0, 1.5f);
  ((float *)tm_checkpoint_tensor(c, "head.bias")->data)[2] = -1;
}

static inline void pt_settings(TmSettings *s) {
  tm_settings_defaults(s);
  s->base = 3;
  s->depth = 2;
  s->batch_norm = FALSE;
}

static inline TmCheckpoint *pt_checkpoint(const TmClassTable *classes) {
  TmSettings s;
  pt_settings(&s);
  TmCheckpoint *c = tm_checkpoint_new();
  g_auto(TmNetMeta) m = {.settings = tm_settings_to_json(&s),
                         .classes = tm_class_table_copy(classes),
                         .std = {255, 255, 255},
                         .epoch = 5,
                         .best_miou = NAN};
  tm_net_meta_write(tm_checkpoint_meta(c), &m);
  pt_weights(c, &s, classes->n);
  return c;
}

/** Writes the net as @folder/net.safetensors; free the path. */
static inline char *pt_write(const char *folder, const TmClassTable *classes) {
  g_autoptr(TmCheckpoint) c = pt_checkpoint(classes);
  g_autoptr(GError) error = NULL;
  char *path = g_build_filename(folder, "net.safetensors", NULL);
  g_assert_true(tm_checkpoint_write(c, path, &error));
  return path;
}

static inline TmPredictor *pt_open(const char *path) {
  g_autoptr(GError) error = NULL;
  TmPredictor *p = tm_predictor_open(path, "ref", NULL, &error);
  g_assert_no_error(error);
  return p;
}

/** A dark picture with light pixels strewn over it by @seed; @share of 256. w*h*3, free it. */
static inline guint8 *pt_picture(int w, int h, guint share, guint64 seed) {
  guint8 *rgb = g_malloc((gsize)w * (gsize)h * 3);
  for (gsize i = 0; i < (gsize)w * (gsize)h; i++) {
    const guint64 r = tm_random_hash(seed, i, 1);
    const gboolean light = (r & 255) < share;
    for (gsize k = 0; k < 3; k++) rgb[i * 3 + k] = (guint8)((light ? 150 : 0) + (r >> (8 + 8 * k)) % 100);
  }
  return rgb;
}

static inline guint8 pt_truth(const guint8 *rgb) {
  return rgb[0] + rgb[1] + rgb[2] > 382 ? 1 : 0;
}

static inline void pt_assert_labels(const guint8 *rgb, int w, int h, const guint8 *labels) {
  for (gsize i = 0; i < (gsize)w * (gsize)h; i++) g_assert_cmpint(labels[i], ==, pt_truth(rgb + i * 3));
}
