/* machine_cache.h: what was measured on this machine, kept in the user's cache folder from one start to the
 * next: a file of keys under the machine's name. One thread at a time; several programs may use one file. */
#pragma once

#include <glib.h>

typedef struct _TmMachineCache TmMachineCache;

/** @file: its name in the cache folder, "rates.ini". @machine: all that the figures depend on, the program's
 * version included. Reads what is there; a missing or broken file is an empty one. */
TmMachineCache *tm_machine_cache_new(const char *file, const char *machine);
void tm_machine_cache_free(TmMachineCache *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmMachineCache, tm_machine_cache_free)

/** Free with g_free(); NULL when it is not there. */
char *tm_machine_cache_get(const TmMachineCache *c, const char *key);
/** Written at once, beside what other programs have written meanwhile. What cannot be written is known to @c
 * alone. */
void tm_machine_cache_set(TmMachineCache *c, const char *key, const char *value);
