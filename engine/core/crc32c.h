/* crc32c.h: the Castagnoli checksum (RFC 3720, appendix B.4), as TFRecord files use it and the decoded
 * pictures on disk. By the processor's own instruction where it has it. Pure; any thread. */
#pragma once

#include <glib.h>

guint32 tm_crc32c(const void *data, gsize size);
/** As TFRecord stores it: rotated and offset, so that a checksum over data that hold checksums stays good. */
guint32 tm_crc32c_masked(const void *data, gsize size);
/** The checksum by the table alone: what every processor gives. */
guint32 tm_crc32c_plain(const void *data, gsize size);
