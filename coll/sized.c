/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A tree that gathers blocks of different sizes has ranks in it that have never heard of the blocks
 * they pass on.  So the plan is performed twice: first every block is a number, its size, and
 * when that is over the sizes of all blocks of TMP lie where the blocks will lie.
 *
 *     gatherv, rank 2 of 0 <- 2 <- 3     TMP, first time    | 40 | 7 |
 *                                        TMP, second time   |  40 bytes  | 7 bytes |
 *
 * No second program, no message whose form somebody has to know: whatever a plan does with blocks it
 * does with their sizes.  Nonuniform Bruck and TuNA's alltoallv (two phases a round) are Bruck's
 * alltoall performed this way.
 *
 * Costs as many messages again, of 8 bytes per block; a persistent one at its first start only.
 */
#include "coll/run.h"

#include "pml/failure.h"
#include "runtime/fail.h"
#include "mpi.h"

#include <stdlib.h>
#include <string.h>

/* A room's blocks in bytes, as far as this rank has that room. */
static int note_sizes(const struct bound *bound, enum room room, int64_t *sizes)
{
    int error = 0;
    for (int i = 0; i < bound->plan->nblocks[room] && !error; i++) {
        struct buffer block = { .layout = NULL };
        struct layout *made;
        if (bound->room[room].how != CUT_NOTHING)
            error = bind_span(bound, blocks(room, i, 1), &block, &made);
        sizes[i] = block.layout ? (int64_t)buffer_bytes(&block) : 0;
    }
    return error;
}

static enum collective evenly(enum collective what)
{
    return what == COLL_GATHERV      ? COLL_GATHER
           : what == COLL_SCATTERV   ? COLL_SCATTER
           : what == COLL_ALLGATHERV ? COLL_ALLGATHER
                                     : COLL_ALLTOALL;
}

/* One per piece of a block. */
static struct part numbers(int64_t *base, int pieces)
{
    return (struct part){ .base = base,
                          .layout = &layout_bytes,
                          .count = sizeof *base * (size_t)pieces };
}

int sized_open(struct sized *sized, struct team *team, const struct bound *bound, int tag,
               uint32_t signature)
{
    static const struct request_ops ops = { .name = "collective" };
    const struct plan *plan = bound->plan;
    size_t nin = (size_t)plan->nblocks[ROOM_IN], nout = (size_t)plan->nblocks[ROOM_OUT];
    sized->known = false;
    int64_t *sizes = sized->sizes = calloc(nin + nout + 1, sizeof *sizes);
    if (!sizes)
        return fail(MPI_ERR_NO_MEM, "no memory for the sizes of %zu blocks", nin + nout);
    sized->call = (struct call){ .what = evenly(bound->call->what),
                                 .root = bound->call->root,
                                 .send = numbers(sizes, plan->key.pieces),
                                 .recv = numbers(sizes + nin, plan->key.pieces) };
    sized->run =
        (struct execution){ .request = { .ops = &ops }, .tag = tag, .signature = signature };
    struct bound first;
    int error = note_sizes(bound, ROOM_IN, sizes);
    if (!error)
        error = note_sizes(bound, ROOM_OUT, sizes + nin);
    if (!error)
        error = bind_open(&first, plan, &sized->call);
    if (!error && first.scratch) /* blocks of TMP that no step writes have no size */
        memset(first.scratch, 0, (size_t)plan->nblocks[ROOM_TMP] * sizeof *sizes);
    if (!error)
        error = run_open(&sized->run, team, &first);
    if (error)
        free(sizes);
    return error;
}

void sized_close(struct sized *sized)
{
    run_close(&sized->run);
    free(sized->sizes);
}

int sized_take(struct sized *sized, struct bound *bound)
{
    int error = request_failure(&sized->run.request);
    return error ? error : bind_sizes(bound, (const int64_t *)(void *)sized->run.bound.scratch);
}

int sized_run(struct team *team, struct bound *bound, int tag, uint32_t signature)
{
    struct sized sized;
    int error = sized_open(&sized, team, bound, tag, signature);
    if (error)
        return error;
    run_begin(&sized.run);
    progress_until(&sized.run.request.done, run_tell, &sized.run);
    error = sized_take(&sized, bound);
    sized_close(&sized);
    return error;
}
