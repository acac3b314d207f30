/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Attach or messages, whichever is faster.
 *
 * Where reading others' memory is dear (runtime/reading.h) it depends on the program: attach is best with data that
 * nobody looks at, and messages, whose chunks are filled past the caches, with data that were just computed and are
 * used afterwards.  Two CPUs of an AMD EPYC that share no cache, allreduces of 1 MiB: 70 and 110 us in a benchmark,
 * 367 and 237 us in a program.  So blocking calls for which the rules take attach go both ways in turns of 8, and then
 * the better one, as means.h has it:
 *
 *     call 1..8     attach      each rank adds up its own times
 *     call 9        the ranks tell each other these sums; all go by the same number from here on
 *     call 9..16    messages
 *     ...
 *
 * Only where each rank has a CPU: else all wait for CPUs, and a round more is dear.  Reductions have a rival between
 * two ranks alone, where all ways that keep the order of ranks give the same bits: these must not depend on a clock.
 * Orders and tuning files are obeyed; there is no rival then.
 */
#ifndef XMPI_RIVAL_H
#define XMPI_RIVAL_H

#include <stddef.h>
#include <stdint.h>

struct choice;      /* coll/choose.h */
struct means_table; /* runtime/means.h */
struct rivals;      /* of the slots of a team */
struct telling;
struct team;

/* NULL: no memory. */
struct rivals *rivals_new(void);
void rivals_log(const struct rivals *rivals); /* for XMPI_LOG=1; NULL is allowed */

/* Bytes as rules count them: of longer ones learning takes too long, and brings little. */
enum { RIVAL_MOST = 1 << 20 };

struct rival {                 /* one call */
    struct means_table *table; /* NULL: it has none */
    int way;                   /* this time, enum means */
    size_t bytes;
    uint64_t began;
};

/* A blocking call begins for which *choice is attach.  It stays so, or becomes a plan.  The same on every rank.
 * MPIX_ERR_PROC_FAILED, or the error of a rank that is in another collective. */
int rival_begin(struct rival *rival, struct team *team, const struct telling *telling,
                struct choice *choice);

/* It has ended, and went that way as a whole. */
void rival_end(const struct rival *rival);

#endif
