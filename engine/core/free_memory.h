/* free_memory.h: how much may be allocated without driving the machine out of memory. */
#pragma once

#include <glib.h>

/** Bytes that are free or can be made free at once; 0 when unknown. Any thread. */
gsize tm_free_memory(void);
