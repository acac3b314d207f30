/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A mismatch that nobody meets: two ranks call MPI_Bcast, each with itself as the root.  Both send and
 * neither receives, so no signatures are compared.  But a message stays behind:
 *
 *     rank 0   Bcast root 0, number 17    Barrier, number 18    <- a message of number 17 is here
 *     rank 1   Bcast root 1, number 17    Barrier, number 18    <- likewise
 *
 * When a blocking collective begins and none is under way, all with lower numbers are over, and their
 * messages received.  One that is left is told once per team, as the error of the collective that
 * finds it, after that one is done.  Messages of persistent collectives may be for a later start and
 * are passed over, like messages that say nothing; so is everything once a process is lost.
 */
#include "coll/tell.h"

#include "pml/failure.h"
#include "runtime/fail.h"
#include "runtime/log.h"

static const uint32_t told = UINT32_MAX; /* of team->looked: no more looking */

static bool is_past(uint32_t tag, uint32_t number)
{
    return ((number - tag - 1) & COLL_NUMBERS) < COLL_NUMBERS / 2;
}

static int stray_fail(const struct team *team, const struct envelope *stray)
{
    return mismatch_fail(
        &(struct mismatch){ .context = team->channel.context,
                            .me = team->channel.rank,
                            .peer = stray->peer,
                            .my_signature = (uint32_t)said_in(team, (uint32_t)stray->tag),
                            .their_signature = stray->signature,
                            .my_number = (uint32_t)stray->tag,
                            .their_number = (uint32_t)stray->tag });
}

int stray_look(struct team *team, uint32_t number)
{
    struct envelope oldest;
    if (team->looked == told || team->running > 0 || failures_any())
        return 0;
    if (!channel_oldest(&team->channel, &oldest)) {
        team->looked = team->channel.unexpected;
        return 0;
    }
    uint32_t tag = (uint32_t)oldest.tag;
    if (!oldest.signature || tag & COLL_PERSISTENT || !is_past(tag, number))
        return 0;
    team->looked = told;
    return fail_keep(team, stray_fail(team, &oldest));
}

void stray_say(struct team *team)
{
    if (team->channel.unexpected != team->looked && stray_look(team, team->calls + 1))
        say("%s", fail_text());
}
