/* safetensors.h: the container format: eight bytes of header length (little endian), a JSON header, the
 * tensors' bytes.
 *
 * Only the header's text is handled here; nothing reads or writes files. A header from a file is checked
 * completely before anything is allocated by its numbers: types, extents, products, and that the tensors lie
 * one after the other and fill the file exactly. Any thread. */
#pragma once

#include <glib.h>

#include "engine/core/error.h"
#include "engine/core/shape.h"

enum { TM_ST_MAX_HEADER = 100000000, TM_ST_MAX_RANK = 4 };

typedef enum {
  TM_ST_F64,
  TM_ST_F32,
  TM_ST_F16,
  TM_ST_BF16,
  TM_ST_I64,
  TM_ST_U64,
  TM_ST_I32,
  TM_ST_U32,
  TM_ST_I16,
  TM_ST_U16,
  TM_ST_I8,
  TM_ST_U8,
  TM_ST_BOOL,
  TM_ST_N_TYPES
} TmStType;

typedef struct {
  char *name;
  TmStType type;
  int rank;
  gint64 extent[TM_ST_MAX_RANK];
  guint64 begin, end; /* bytes from the end of the header */
} TmStEntry;

typedef struct {
  GArray *entries; /* TmStEntry, by offset */
  char *tarmac;    /* our JSON text; NULL when there is none */
  char *crc32;     /* our checksum's text; NULL when there is none */
} TmStHeader;

/* What a header of ours begins with, and so where its checksum stands: eight hex digits follow. */
#define TM_ST_CRC_PREFIX "{\"__metadata__\":{\"crc32\":\""
#define TM_ST_CRC_AT (sizeof TM_ST_CRC_PREFIX - 1)

gsize tm_st_type_size(TmStType t);

/** Parses @text of @size bytes; @data_size: bytes of the file after the header. TM_ERROR_CORRUPT or (types
 * and ranks we cannot hold) TM_ERROR_UNSUPPORTED with a sentence that does not name the file. */
TmStHeader *tm_st_header_parse(const char *text, gsize size, guint64 data_size, GError **error);
void tm_st_header_free(TmStHeader *h);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmStHeader, tm_st_header_free)

/** The header text of @entries (in order, offsets set) with our JSON and an empty checksum ("00000000"),
 * padded by blanks to a multiple of 8. */
GString *tm_st_header_text(const GArray *entries, const char *tarmac);

/** How an extent list reads as a shape: [] and [1] are scalars, [C] is (1,C,1,1), [A,B] is (A,B,1,1), [N,H,W]
 * pictures of one channel. */
TmShape tm_st_shape(const TmStEntry *e);
/** The other way: (1,C,1,1) is [C] unless @four_axes, anything else has four axes. */
void tm_st_set_extent(TmStEntry *e, TmShape s, gboolean four_axes);
