/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Around a function of the program that the library calls: an operation, a copy function, an error handler.  It
 * runs without the engine lock, as it may take its time, or call MPI and wait.  Afterwards this thread is again in
 * the call, and in the collective, that it was in: what is told of its waits, and what functions like
 * MPI_Dist_graph_create say of themselves (coll/served.c), is not that of the call inside.
 */
#ifndef XMPI_OUTSIDE_H
#define XMPI_OUTSIDE_H

#include "runtime/lock.h"
#include "runtime/progress.h"

struct outside {
    int levels;
    struct record_call call;
};

static inline struct outside outside_begin(void)
{
    struct outside outside = { .call = record_now };
    outside.levels = engine_release();
    return outside;
}

static inline void outside_end(const struct outside *outside)
{
    engine_retake(outside->levels);
    record_now = outside->call;
}

#endif
