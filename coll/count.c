/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counting what plans do: messages and bytes, of one rank of those that do alike, or of all; rounds are
 * counted in rounds.c.
 */
#include "coll/count.h"

#include "coll/steady.h"
#include "coll/wraps.h"
#include "runtime/fail.h"
#include "mpi.h"

#include <math.h>
#include <stdlib.h>

/* ---- amounts ---- */

static void add(struct amount *amount, double one, double ranks)
{
    amount->most = fmax(amount->most, one);
    amount->sum += one * ranks;
}

static void count_role(const struct role *role, double ranks, struct count *c)
{
    double messages = 0, bytes = 0, folds = 0, copies = 0;
    for (int i = 0; i < role->nacts; i++) {
        const struct act *a = &role->act[i];
        messages += a->verb == VERB_SEND ? a->parts : 0;
        bytes += a->verb == VERB_SEND ? a->bytes : 0;
        copies += a->verb == VERB_COPY ? a->bytes : 0;
        folds += a->verb == VERB_FOLD || a->verb > VERB_COPY ? a->bytes : 0;
    }
    add(&c->messages, messages, ranks);
    add(&c->bytes, bytes, ranks);
    add(&c->folds, folds, ranks);
    add(&c->copies, copies, ranks);
    add(&c->scratch, role->scratch, ranks);
}

/* Of ranks that do alike some send a range in two messages that others send in one. */
static int count_wraps(const struct cast *cast, struct count *c)
{
    struct wraps wraps;
    if (!cast->symmetry)
        return 0;
    if (!wraps_count(cast->role, cast->p, &wraps))
        return fail(MPI_ERR_NO_MEM, "no memory to count the messages of %d ranks", cast->p);
    c->messages = (struct amount){ wraps.most, wraps.sum / cast->p };
    return 0;
}

/* Numbers of one rank and numbers of rounds grow evenly with a ring; sums grow faster. */
static int measure(const struct cast *cast, const void *with, double v[STEADY_VALUES])
{
    struct count c = { 0 };
    int rounds;
    (void)with;
    int error = count_rounds(cast, NULL, NULL, &rounds);
    for (int i = 0; i < cast->nroles; i++)
        count_role(&cast->role[i], 1, &c);
    error = error ? error : count_wraps(cast, &c);
    const struct amount *amount[] = { &c.messages, &c.bytes, &c.folds, &c.copies, &c.scratch };
    v[0] = rounds;
    for (int i = 0; i < 5; i++) {
        v[1 + i] = amount[i]->most;
        v[6 + i] = amount[i]->sum;
    }
    return error;
}

int count_of(const struct price_query *query, size_t most, struct count *count)
{
    double v[STEADY_VALUES] = { 0 };
    struct steady how = { 0 };
    bool even = query->p > 0 && (query->p & (query->p - 1)) == 0;
    struct steady_job job = { .query = query,
                              .grouping = { .shift = 1, .flip = even },
                              .most = most,
                              .measure = measure,
                              .certain = STEADY_VALUES };
    int error = steady_run(&job, v, &how);
    double ranks = how.symmetry ? query->p : 1;
    struct amount *amount[] = { &count->messages, &count->bytes, &count->folds, &count->copies,
                                &count->scratch };
    count->rounds = v[0];
    for (int i = 0; i < 5; i++)
        *amount[i] = (struct amount){ v[1 + i], v[6 + i] * ranks };
    return error;
}
