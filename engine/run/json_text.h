/* json_text.h: JSON kept valid on the way out and survivable on the way in. Any thread. */
#pragma once

#include <json-glib/json-glib.h>

#include "engine/core/error.h"

/** Compact (or with line breaks, @pretty) text of @node, with null for NaN and infinities, which JSON does
 * not know. Free it. */
char *tm_json_text(JsonNode *node, gboolean pretty);
/** Parses @text of @size bytes from a file nobody vouches for: UTF-8, nested at most @depth deep, at most a
 * million values. NaN and Infinity, as other programs write them, are read as null. TM_ERROR_CORRUPT without
 * a file name: prefix it. */
JsonNode *tm_json_parse(const char *text, gsize size, int depth, GError **error);
