/* error.h: the one error domain of the engine. Messages are sentences for a person: they name the file or the
 * setting, say what is wrong, and the way out. They are translated. */
#pragma once

#include <glib.h>

#define TM_ERROR (tm_error_quark())

typedef enum {
  TM_ERROR_FAILED,      /* anything without a code of its own */
  TM_ERROR_SHAPE,       /* shapes do not fit */
  TM_ERROR_UNSUPPORTED, /* the backend or format cannot do this */
  TM_ERROR_DATA,        /* a picture, mask, list or class table is wrong */
  TM_ERROR_FILE,        /* reading or writing failed */
  TM_ERROR_CORRUPT,     /* a file of ours is cut or damaged */
  TM_ERROR_NO_SPACE,    /* the disk is full */
  TM_ERROR_NO_MEMORY,   /* host or device memory */
  TM_ERROR_NON_FINITE,  /* loss or gradients are NaN or infinite, persistently */
  TM_ERROR_DEVICE,      /* the device failed */
  TM_ERROR_CANCELLED,
  TM_ERROR_SETTING, /* a setting is unknown or out of range */
} TmErrorCode;

GQuark tm_error_quark(void);
