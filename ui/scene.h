/* scene.h: one picture with its masks and the classes they speak of, shared by the views that show it.
 * Immutable once made; any thread. */
#pragma once

#include "engine/backend/visible.h"
#include "engine/data/class_table.h"

typedef struct {
  gatomicrefcount refs;
  int w, h;
  guint8 *rgb;    /* h*w*3 */
  guint8 *labels; /* h*w, predicted; may be NULL */
  guint8 *truth;  /* h*w; may be NULL */
  TmClassTable *classes;
  guint32 *colours; /* 0xRRGGBB by class */
  TmVisible *visible; /* the same picture in a device's memory; NULL: it is not there */
  guint64 picture;    /* its number there */
} TmScene;

/** Takes the three planes (each may be NULL but @rgb); copies @classes. */
TmScene *tm_scene_new(int w, int h, guint8 *rgb, guint8 *labels, guint8 *truth, const TmClassTable *classes);
/** It is in a device's memory too (referenced; NULL changes nothing). Before the scene is shown to anybody. */
void tm_scene_set_visible(TmScene *s, TmVisible *v, guint64 picture);
TmScene *tm_scene_ref(TmScene *s);
void tm_scene_unref(TmScene *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmScene, tm_scene_unref)
/** "Road", "Void": static in the scene. */
const char *tm_scene_class_name(const TmScene *s, guint8 label);
/** "Road 32.9, Building 20.9, Tree 18.8 percent" of the three largest classes of @plane (h*w). Free it. */
char *tm_scene_describe(const TmScene *s, const guint8 *plane);
/** Share of each class and, last, of void in @plane; @out holds n + 1. */
void tm_scene_shares(const TmScene *s, const guint8 *plane, double *out);
