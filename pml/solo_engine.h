/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What messages of an engine share, for solo.c (they begin and arrive) and solo_wait.c (they are waited for).
 */
#ifndef XMPI_SOLO_ENGINE_H
#define XMPI_SOLO_ENGINE_H

#include "pml/arrived.h"
#include "pml/failure.h"
#include "pml/proto.h"
#include "runtime/lock.h"
#include "runtime/progress.h"

struct engine {
    struct channel *found;  /* the last one */
    struct arrived *unused; /* records for unexpected messages */
    struct arrived *over;   /* matched by receives that have to be ended by who has all */
    bool wake;              /* somebody sleeps who may wait for what has happened */
    uint32_t polls, rounds, refusals;
    uint32_t empty; /* polls in a row that found nothing, of calls that do not wait */
    uint64_t looked;
    size_t eager;                 /* bytes of the longest message, besides what the link says */
    struct pml_counters counters; /* not yet in pml_counters */
    struct layout bytes;          /* of all receives that are posted here */
} __attribute__((aligned(128)));

extern struct engine engines[ENGINES] __attribute__((visibility("hidden")));

/* Nothing goes on that messages have to take notice of: nor a packet that somebody has half taken, whose
 * function of the program runs without the lock. */
static inline bool solo_may(void)
{
    return !trace_on && !progress_polling && failures == 0 && !failures_are_new() &&
           !arrived_is_told();
}

#endif
