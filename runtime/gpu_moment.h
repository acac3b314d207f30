/* SPDX-License-Identifier: BSD-3-Clause
 *
 * When a stream of the program comes to some place, by the clock of the host, while nobody waits.  All of it
 * under the engine lock, which calls of the driver let go of.
 */
#ifndef XMPI_GPU_MOMENT_H
#define XMPI_GPU_MOMENT_H

#include "runtime/gpu_stream.h"

struct gpu_epoch; /* from which a stream's moments are counted */

struct gpu_moment {
    void *event; /* NULL: none */
    struct gpu_epoch *since;
};

/* The moment at which the stream has done what is in it now.  *epoch is NULL for the first one of a
 * stream, and kept for the next one.  False: it cannot be told. */
bool gpu_moment_set(struct gpu_moment *moment, const struct gpu_stream *stream,
                    struct gpu_epoch **epoch);

/* Has the stream come there, and when?  GPU_NEVER: nobody will know. */
enum gpu_told { GPU_TOLD, GPU_NOT_YET, GPU_NEVER };
enum gpu_told gpu_moment_ask(const struct gpu_moment *moment, uint64_t *ns);

/* Of no use any more; NULL and moments that are none may be dropped, too. */
void gpu_moment_drop(struct gpu_moment *moment);
void gpu_epoch_drop(struct gpu_epoch *epoch);

#endif
