/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A send in the most usual case: short, of plain memory, to a process of this node that was sent to
 * of late, with a free slot at hand.  As pml/quick.c: what pml_isend and lane_put_short do then, in one piece.
 */
#include "pml/request.h"
#include "pml/shm/put.h"
#include "runtime/param.h"
#include "runtime/partner.h"
#include "runtime/record.h"

/* What comes up now and then.  Apart, so that nobody saves registers for it. */
static __attribute__((noinline)) struct request *
followed(struct request *request, struct channel *channel, int dest, int tag, size_t bytes)
{
    record_event(channel->context, dest, tag, bytes);
    lane_follow(channel_known(channel, dest)->peer->lane);
    return request;
}

struct request *pml_isend_quick(struct channel *channel, const void *base, size_t count,
                                const struct layout *layout, int dest, int tag)
{
    const struct peer_known *known = channel_known(channel, dest);
    struct peer *peer = known->peer;
    size_t bytes;
    if (__builtin_mul_overflow(count, layout->size, &bytes))
        return NULL;
    if (known->rank != dest + 1 || peer->link != &link_shm || peer->queue.first ||
        !layout->dense || bytes > SLOT_BODY || bytes > (size_t)param_number(EAGER) ||
        !channel->pool->done || gpu_possible)
        return NULL;
    struct lane *lane = peer->lane;
    if ((int32_t)(lane->owned - lane->head) <= 0 || lane->head - lane->freed > lane->last)
        return NULL; /* chunks leave `owned` behind, after 2^31 slots as far as it looks ahead */
    lane_write(lane,
               &(struct wire_short){
                   .context = channel->context, .source = (uint32_t)channel->rank, .tag = tag },
               buffer_at(base, layout->true_lb), bytes);
    partner_is(lane->bell);
    pml_counters.sent++;
    pml_counters.bytes_sent += bytes;
    struct request *request = request_new_done(channel->pool);
    uint32_t name = record_ready();
    if (__builtin_expect(name == 0 || lane->head == lane->owned || doorbell_sleeps(lane->bell),
                         0))
        return followed(request, channel, dest, tag, bytes);
    record_event_next(name, channel->context, dest, tag, bytes);
    return request;
}
