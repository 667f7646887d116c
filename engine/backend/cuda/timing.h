/* timing.h: how long work on a stream takes. */
#pragma once

#include <cuda_runtime_api.h>
#include <glib.h>

/** Milliseconds of one run of @work, which puts itself on @stream: the mean of a few after one that fetches
 * code and data; negative when anything failed. Waits for the stream. */
float tm_cuda_time(cudaStream_t stream, gboolean (*work)(gpointer data), gpointer data);
