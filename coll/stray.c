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
 * finds it, after that one is done.  A message of a persistent collective may be for a later start, so
 * only what it says counts: of that number all ranks made the same one.  Messages that say nothing are
 * passed over, and so is everything once a process is lost.
 */
#include "coll/tell.h"
#include "coll/tiny.h"

#include "pml/failure.h"
#include "runtime/fail.h"
#include "runtime/log.h"

static bool is_past(uint32_t tag, uint32_t number)
{
    return numbers_ahead(number, tag) > 0;
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

/* Nobody will receive it, now that collective `number` begins. */
static bool is_stray(const struct team *team, const struct envelope *message, uint32_t number)
{
    uint32_t tag = (uint32_t)message->tag;
    if (!message->signature || !is_past(tag, number))
        return false;
    uint64_t mine = said_in(team, tag);
    return !(tag & COLL_PERSISTENT) || ((mine >> 32 & COLL_PERSISTENT) &&
                                        signatures_differ((uint32_t)mine, message->signature));
}

void stray_look_again(struct team *team)
{
    team->looked = team->channel.unexpected - 1;
}

int stray_look(struct team *team, uint32_t number)
{
    struct envelope oldest;
    if (team->asked)
        mismatch_recall(team);
    if (team->running > 0 || failures_any())
        return 0;
    if (team->strays_told || !channel_oldest(&team->channel, &oldest)) {
        if (!team->asked)
            team->looked = team->channel.unexpected;
        return 0;
    }
    if (!is_stray(team, &oldest, number))
        return 0;
    /* Equal signatures are no error: it is late, and the next one may be none. */
    int error = fail_keep(team, stray_fail(team, &oldest));
    team->strays_told = error != 0;
    return error;
}

void stray_say(struct team *team)
{
    if (failures_any() || team->channel.broken || team->strays_told || team->running > 0)
        return;
    if (team->channel.unexpected != team->looked && stray_look(team, team->calls + 1))
        say("%s", fail_text());
    else
        tiny_stray_say(team->tiny);
}
