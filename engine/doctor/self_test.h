/* self_test.h: does a back end compute and keep what it should? For users' machines; the suite's tests are thorough, these are quick.
 * Any thread that owns no back end. */
#pragma once

#include <glib.h>

/** A convolution on @backend ("cpu", "cuda") beside the reference: *@difference, the largest relative to the largest value. FALSE with why
 * it could not be run. Tens of milliseconds on a processor. */
gboolean tm_self_test_convolution(const char *backend, double *difference, GError **error);
/** Differences of f32 up to here are roundings (TF32 units included). */
#define TM_SELF_TEST_BOUND 2e-3

/** Writes a pattern of @bytes into the back end's memory and reads it again: *@wrong, how many of its numbers changed. FALSE with why it
 * could not be run. */
gboolean tm_self_test_memory(const char *backend, gsize bytes, guint64 *wrong, GError **error);
