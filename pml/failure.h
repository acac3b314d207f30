/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Processes that are lost: dead, or gone from MPI after somebody else has died.  What is lost stays
 * lost.  Whatever depends on a lost process ends with MPIX_ERR_PROC_FAILED (docs/failure.md).
 */
#ifndef XMPI_FAILURE_H
#define XMPI_FAILURE_H

#include "pml/pml.h"

struct match_key; /* pml/match.h */

#pragma GCC visibility push(hidden)
extern int failures;            /* processes that are lost, as far as we have looked */
extern int troubles;            /* failures, and open channels that are given up */
extern uint32_t failures_epoch; /* of deaths, up to which we have looked */
extern const _Atomic uint32_t *failures_news; /* the epoch now (runtime/death.h) */
extern bool failures_wanted;   /* there are some, or mismatches, that we have not acted on */
extern uint32_t failures_naps; /* of progress_naps, at the last look */
#pragma GCC visibility pop

static inline bool failures_are_new(void)
{
    return atomic_load_explicit(failures_news, memory_order_acquire) != failures_epoch;
}

/* World rank of the first loss among these processes, -1: none that we know of. */
int failure_among(const struct ranks *ranks);
bool failure_is(int world);

/* The first loss that ends what these processes do together, a message on the channel with this key being part of it;
 * -1: none.  All collectives end with a process that is dead; with one that has left MPI those that it has not
 * begun, its part of the others is done.  failure_ends: this one? */
int failure_of_group(const struct ranks *group, const struct channel *channel,
                     const struct match_key *key);
bool failure_ends(int world, const struct ranks *group, const struct channel *channel,
                  const struct match_key *key);

/* The same of the collective of this number on the channel. */
int failure_of(const struct channel *channel, int number);

/* fail(MPIX_ERR_PROC_FAILED, who and why); -1: somebody. */
int failure_fail(int world);

/* How a request ends for the loss of this process (-1: of somebody), and its end. */
struct result failure_result(int world);
void failure_complete(struct request *request);

/* The error of a request, 0 when all is well; its text becomes that of the thread. */
int failure_recall(const struct request *request);
static inline int request_failure(const struct request *request)
{
    return __builtin_expect(request->result.error, 0) ? failure_recall(request) : 0;
}

/* ---- for collectives ---- */

int channel_examine(const struct channel *channel, int number);

/* Nobody is lost, and no channel is given up: then the next says 0 of all. */
static inline bool channels_are_sound(void)
{
    return __builtin_expect(troubles == 0 && !failures_are_new(), 1);
}

/* 0, or the error of the collective of this number on this channel: a process of it is lost, or the channel is given
 * up (broken.c).  Looks at what the launcher knows now: when one process ends a collective for a loss and
 * then touches memory that another one reads, this one will see the loss after it has read. */
static inline int channel_check_of(const struct channel *channel, int number)
{
    return channels_are_sound() ? 0 : channel_examine(channel, number);
}

/* The same of the latest one, for calls that block. */
static inline int channel_check(const struct channel *channel)
{
    return channel_check_of(channel, COLLECTIVE_LATEST);
}

/* ---- for progress ---- */

void failures_open(void);
void failures_close(void);

/* Has there been a loss, also if it has not been acted on?  Then who leaves says so: those who wait
 * for it shall know. */
static inline bool failures_any(void)
{
    return failures > 0 || failures_are_new();
}

/* For waiting at the end: survivors may have given up at different places, and one would wait for the
 * other for ever.  True when that has lasted for 200 ms since the first call, where *since was 0. */
bool failures_hurry(uint64_t *since);

/* Look for news and end what depends on those who are lost; the number of news. */
int failures_look(void);
static inline int failures_poll(void)
{
    if (__builtin_expect(
            !failures_are_new() && progress_naps == failures_naps && !failures_wanted, 1))
        return 0;
    return failures_look();
}

/* in_vain.c: end what is on its way on a channel that is given up to who has left it. */
void sends_end(const struct channel *channel);

#endif
