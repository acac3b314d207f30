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

/* The lane to a process of this node, if nothing is in the way of a short message there; else NULL. */
static inline __attribute__((always_inline)) struct lane *
lane_quick(struct channel *channel, const struct layout *layout, size_t bytes, int dest)
{
    const struct peer_known *known = channel_known(channel, dest);
    const struct peer *peer = known->peer;
    if (known->rank != dest + 1 || peer->link != &link_shm || peer->queue.first ||
        !layout->dense || bytes > (size_t)param_number(EAGER) || gpu_possible)
        return NULL;
    return peer->lane;
}

static inline struct wire_short head_quick(const struct channel *channel, int tag)
{
    return wire_head(channel, &(struct envelope){ .tag = tag });
}

static inline void count_quick(size_t bytes)
{
    pml_counters.sent++;
    pml_counters.bytes_sent += bytes;
}

/* Into one slot.  False: it needs more, or none is at hand. */
static inline __attribute__((always_inline)) bool put_quick(struct lane *lane,
                                                            const struct channel *channel,
                                                            const char *from, size_t bytes,
                                                            int tag)
{
    if (bytes > SLOT_BODY || (int32_t)(lane->owned - lane->head) <= 0 ||
        lane->head - lane->freed > lane->last)
        return false; /* chunks leave `owned` behind, after 2^31 slots as far as it looks ahead */
    struct wire_short head = head_quick(channel, tag);
    lane_write(lane, &head, from, bytes);
    partner_is(lane->bell);
    count_quick(bytes);
    return true;
}

/* The name of this function for the recorder; 0: first there is something to do for the lane, or the recorder does
 * not know it. */
static inline uint32_t name_quick(const struct lane *lane)
{
    uint32_t name = record_ready();
    return lane->head == lane->owned || doorbell_sleeps(lane->bell) ? 0 : name;
}

/* What comes up now and then.  Apart, so that nobody saves registers for it. */
static __attribute__((noinline)) void follow(struct channel *channel, int dest, int tag,
                                             size_t bytes)
{
    record_event(channel->context, dest, tag, bytes);
    lane_follow(channel_known(channel, dest)->peer->lane);
}

static __attribute__((noinline)) struct request *
followed(struct request *request, struct channel *channel, int dest, int tag, size_t bytes)
{
    follow(channel, dest, tag, bytes);
    return request;
}

struct request *pml_isend_quick(struct channel *channel, const void *base, size_t count,
                                const struct layout *layout, int dest, int tag)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, layout->size, &bytes) || !channel->pool->done)
        return NULL;
    struct lane *lane = lane_quick(channel, layout, bytes, dest);
    if (!lane || !put_quick(lane, channel, buffer_at(base, layout->true_lb), bytes, tag))
        return NULL;
    struct request *request = request_new_done(channel->pool);
    uint32_t name = name_quick(lane);
    if (__builtin_expect(name == 0, 0))
        return followed(request, channel, dest, tag, bytes);
    record_event_next(name, channel->context, dest, tag, bytes);
    return request;
}

/* A longer one, which takes a row of slots. */
static __attribute__((noinline)) bool send_row(struct lane *lane, struct channel *channel,
                                               const char *from, size_t bytes, int dest,
                                               int tag)
{
    struct wire_short head = head_quick(channel, tag);
    if (!lane_put_row(lane, &head, from, bytes))
        return false;
    count_quick(bytes);
    record_event(channel->context, dest, tag, bytes);
    return true;
}

bool pml_send_quick(struct channel *channel, const void *base, size_t count,
                    const struct layout *layout, int dest, int tag)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, layout->size, &bytes))
        return false;
    struct lane *lane = lane_quick(channel, layout, bytes, dest);
    if (!lane)
        return false;
    const char *from = buffer_at(base, layout->true_lb);
    if (!put_quick(lane, channel, from, bytes, tag))
        return bytes > SLOT_BODY && bytes <= ROW_BYTES &&
               send_row(lane, channel, from, bytes, dest, tag);
    uint32_t name = name_quick(lane);
    if (__builtin_expect(name == 0, 0))
        follow(channel, dest, tag, bytes);
    else
        record_event_next(name, channel->context, dest, tag, bytes);
    return true;
}
