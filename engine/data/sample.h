/* sample.h: one picture and its mask in memory: what decoding gives and augmentation takes. */
#pragma once

#include <glib.h>

typedef struct {
  int w, h;
  guint8 *rgb;    /* h*w*3, row 0 on top */
  guint8 *labels; /* h*w class indices, TM_VOID (255) for void; NULL when there is no mask */
} TmSample;

void tm_sample_clear(TmSample *s);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TmSample, tm_sample_clear)
