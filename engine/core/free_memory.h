/* free_memory.h: how much may be allocated without driving the machine out of memory, and how much is in use. */
#pragma once

#include <glib.h>

/** Bytes that are free or can be made free at once; 0 when unknown. Any thread. */
gsize tm_free_memory(void);
/** Bytes of this process that are in memory now; 0 when unknown. Any thread. */
gsize tm_resident_memory(void);
/** Gives back to the system what the heap holds unused: before much is asked for. Any thread. */
void tm_give_back_memory(void);
/** Resident bytes when this was first asked: all who plan a run in this process reckon with it, so that they agree. Any
 * thread. */
gsize tm_process_memory(void);
