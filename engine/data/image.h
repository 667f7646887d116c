/* image.h: picture files decoded to RGB, and how large a file may be.
 *
 * The kind of a file is decided by its first bytes, never by its name. PNG and JPEG are read. Whatever the
 * file holds becomes 8-bit RGB: grey is repeated, alpha is dropped (colours stay as stored), 16 bits are
 * rounded to 8, palettes are looked up, CMYK is converted as Adobe writes it.
 *
 * Turning (EXIF orientation) follows one policy everywhere, in the window, in training and in prediction: a
 * picture is turned upright as its file says; only where there is a mask whose size fits the stored picture
 * and not the upright one, it is left as stored.
 *
 * Any thread; nothing is shared. No function ends the process or prints; warnings of the decoders are
 * counted. */
#pragma once

#include "engine/core/error.h"

/* The largest picture that is read at all, in pixels, and the longest side. */
enum { TM_IMAGE_MAX_PIXELS = 512 * 1024 * 1024, TM_IMAGE_MAX_SIDE = 1000000 };

typedef enum { TM_IMAGE_PNG, TM_IMAGE_JPEG } TmImageKind;

/* What was converted or noticed. Harmless; the scan counts it. */
typedef enum {
  TM_IMAGE_GREY = 1 << 0,     /* one channel, repeated */
  TM_IMAGE_ALPHA = 1 << 1,    /* alpha dropped */
  TM_IMAGE_DEEP = 1 << 2,     /* 16 bits a channel, rounded to 8 */
  TM_IMAGE_PALETTE = 1 << 3,  /* looked up */
  TM_IMAGE_CMYK = 1 << 4,     /* converted */
  TM_IMAGE_TURNED = 1 << 5,   /* turned or mirrored as the file says */
  TM_IMAGE_UNTURNED = 1 << 6, /* the file says to turn it, but the mask fits it as stored */
  TM_IMAGE_WARNED = 1 << 7,   /* the decoder warned of something that leaves the pixels right */
} TmImageTrait;

enum { TM_IMAGE_N_TRAITS = 8 };

typedef struct {
  TmImageKind kind;
  int w, h;        /* as stored, before turning */
  int orientation; /* EXIF 1..8; 1 when the file does not say */
} TmImageInfo;

typedef struct {
  int w, h;           /* of @rgb */
  int full_w, full_h; /* of the picture after turning, before any reduction */
  guint8 *rgb;        /* h*w*3, row 0 on top */
  guint traits;       /* TmImageTrait bits */
  int orientation;    /* EXIF, as the file says */
} TmPicture;

typedef struct {
  int max_side;       /* 0: full size; else the longer side is reduced to this, JPEG in the decoder */
  int mask_w, mask_h; /* 0: no mask; else the size the picture should have: see the policy above */
} TmPictureOptions;

/** Reads the header only. TM_ERROR_DATA names the file when it is no PNG or JPEG or is too large. */
gboolean tm_image_info(const char *path, TmImageInfo *out, GError **error);
/** Decodes @path; @options may be NULL. Size is read from the header and memory estimated before anything is
 * allocated. TM_ERROR_DATA when the file is cut, damaged, too large or of another kind, TM_ERROR_FILE when it
 * cannot be read. @out is filled only on success; clear it. */
gboolean tm_image_read_picture(const char *path, const TmPictureOptions *options, TmPicture *out,
                               GError **error);
void tm_picture_clear(TmPicture *p);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TmPicture, tm_picture_clear)

/** TRUE when the name ends in an extension of a kind that is read, in any case: png, jpg, jpeg, jpe, jfif. */
gboolean tm_image_name_is_read(const char *name);
/** TRUE for extensions of pictures that are not read (bmp, gif, tif, webp …). */
gboolean tm_image_name_is_other(const char *name);
