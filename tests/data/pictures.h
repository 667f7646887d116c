/* pictures.h: test pictures made at run time. PNGs are put together chunk by chunk, so that each can be wrong
 * in one chosen way. */
#pragma once

#include <glib.h>

/** A new temporary folder; remove it with its contents by tmp_remove(), which also frees the name. */
char *tmp_new(void);
void tmp_remove(char *dir);
/** dir/name; name may hold folders, which are made. Free it. */
char *tmp_path(const char *dir, const char *name);
void put_bytes(const char *dir, const char *name, const void *data, gsize n);
void put_text(const char *dir, const char *name, const char *text);
/** As put_bytes() of @b, which is freed. */
void put_array(const char *dir, const char *name, GByteArray *b);

enum { GREY = 0, RGB = 2, PALETTE = 3, GREY_ALPHA = 4, RGBA = 6 };

typedef struct {
  guint w, h;
  int depth, type;
  const guint8 *samples; /* h rows of w * channels samples of one byte each (16 bits: of two, big-endian);
                            packed to @depth */
  const guint8 *extra;   /* chunks between IHDR and IDAT, from png_chunk() */
  gsize n_extra;
} PngSpec;

void png_chunk(GByteArray *to, const char *type, const guint8 *data, gsize n);
GByteArray *png_make(const PngSpec *spec);
/** 8-bit grey of one value, or of @values if not NULL. */
void put_grey(const char *dir, const char *name, guint w, guint h, const guint8 *values, guint8 fill);
void put_rgb(const char *dir, const char *name, guint w, guint h, const guint8 *rgb, guint32 fill);
/** A gradient, so that turned and shifted pictures differ. */
void put_picture(const char *dir, const char *name, guint w, guint h);

typedef struct {
  int w, h, components; /* 1 grey, 3 RGB, 4 CMYK as stored (Adobe: 255 is no ink) */
  gboolean progressive, ycck, adobe;
  guint8 fill[4]; /* ignored where gradient */
  gboolean gradient;
} JpegSpec;

GByteArray *jpeg_make(const JpegSpec *spec);
/** An APP1 Exif segment with this orientation, put after SOI. */
void jpeg_add_orientation(GByteArray *jpeg, int orientation);
void put_jpeg(const char *dir, const char *name, int w, int h);
