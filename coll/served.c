/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Functions of the standard that all ranks of a communicator call, and that are no collectives of this room:
 * MPI_Comm_dup, MPI_Cart_create and their like.  Some perform collectives, some pass a few messages
 * (src/context.c).  Either way what they say of themselves is their own name, so that an MPI_Comm_split that meets an
 * MPI_Allreduce is found, and told as what the program called.
 */
#include "coll/tell.h"

#include "pml/failure.h"
#include "runtime/fail.h"
#include "runtime/progress.h"
#include "mpi.h"

#include <string.h>

static const char *const names[] = {
    "MPI_Comm_dup",
    "MPI_Comm_dup_with_info",
    "MPI_Comm_idup",
    "MPI_Comm_idup_with_info",
    "MPI_Comm_create",
    "MPI_Comm_split",
    "MPI_Comm_split_type",
    "MPI_Comm_disconnect",
    "MPI_Cart_create",
    "MPI_Cart_sub",
    "MPI_Graph_create",
    "MPI_Dist_graph_create",
    "MPI_Dist_graph_create_adjacent",
    "MPI_Intercomm_create",
    "MPI_Intercomm_merge",
    "MPIX_Stream_comm_create",
};
enum { SERVED = sizeof names / sizeof *names };

uint16_t served_now(void)
{
    const char *function = record_now.function;
    for (uint16_t i = 0; i < SERVED && function; i++)
        if (strcmp(function, names[i]) == 0)
            return (uint16_t)(i + 1);
    return 0;
}

const char *served_name(uint32_t served)
{
    return served > 0 && served <= SERVED ? names[served - 1] : NULL;
}

int joining_begin(struct joining *joining, struct team *team)
{
    joining->call = (struct call){ .what = COLL_BARRIER, .serves = served_now() };
    telling_begin(&joining->telling, team, &joining->call, BLOCKING);
    record_now.inside = &joining->telling.scope;
    joining->stray = stray_check(team, &joining->telling);
    return team->channel.broken ? channel_check(&team->channel)
                                : 0; /* a new one may be of survivors */
}

int making_over(struct team *team, uint32_t before, int error)
{
    if (error != MPI_ERR_NO_MEM)
        return error;
    fail_keep(&before, error);
    if (team->calls == before) { /* the others go on as if this rank had begun */
        struct call call = { .what = COLL_BARRIER, .serves = served_now() };
        struct telling telling;
        telling_begin(&telling, team, &call, BLOCKING);
    }
    fail_recall(&before);
    return mismatch_end(team, error, 0);
}

void making_failed(const struct team *team, uint32_t number)
{
    uint64_t word = said_in(team, number);
    if (word)
        mismatch_give_up(team, word, MPI_ERR_NO_MEM);
}

int making_check(const struct team *team)
{
    bool lacks = team->channel.broken && team->met.their_signature == SIGNATURE_NO_MEMORY;
    return lacks ? channel_fail(&team->channel) : 0;
}

void making_done(struct team *made, const struct team *team, uint32_t number)
{
    made->parent = team->channel.context;
    made->birth = number;
}

/* What surrounds waits is always a telling. */
void joining_sign(const struct channel *channel, struct envelope *message)
{
    const struct telling *telling = (const struct telling *)record_now.inside;
    if (!telling || !telling->call->serves || &telling->team->channel != channel)
        return;
    message->signature = telling->signature;
    message->tag = (int)telling->number;
}

int joining_end(const struct joining *joining, int error)
{
    record_now.inside = NULL;
    return error || joining->stray ? mismatch_keep(joining->telling.team, error, joining->stray)
                                   : 0;
}
