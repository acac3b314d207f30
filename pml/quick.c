/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A receive in the most usual case: no message is here, nobody is lost, and nothing is asked about the
 * memory.  What pml_irecv does then, in one piece: layers that hand over buffers and envelopes cost as much as
 * the work itself, by saving registers, writing structures and reading them back.  It begins with all that
 * may be in the way, and ends with the only call there is.  Sends: shm/quick.c.
 */
#include "pml/failure.h"
#include "pml/recv.h"
#include "runtime/record.h"

/* Apart, so that nobody saves registers for it. */
static __attribute__((noinline)) struct request *recorded(struct request *request,
                                                          const struct channel *channel,
                                                          int source, int tag, size_t bytes)
{
    record_event(channel->context, source, tag, bytes);
    return request;
}

struct request *pml_irecv_quick(struct channel *channel, void *base, size_t count,
                                const struct layout *layout, int source, int tag)
{
    struct request_pool *pool = channel->pool;
    int64_t bytes;
    if (gpu_possible || troubles > 0 || !match_takes_row(channel->match) || !pool->requests ||
        __builtin_mul_overflow((int64_t)count, (int64_t)layout->size, &bytes))
        return NULL;
    struct recv *recv = (struct recv *)request_new(&recv_ops, pool);
    layout_hold((struct layout *)layout);
    recv_bind(recv, channel, &(struct buffer){ base, count, layout, HERE },
              &(struct envelope){ .peer = source, .tag = tag });
    recv->waiting = true;
    match_post_row(channel->match, &recv->posted, recv->key);
    uint32_t name = record_ready();
    if (__builtin_expect(name == 0, 0))
        return recorded(&recv->request, channel, source, tag, (size_t)bytes);
    record_event_next(name, channel->context, source, tag, (size_t)bytes);
    return &recv->request;
}
