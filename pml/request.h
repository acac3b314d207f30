/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What send.c, recv.c and probe.c share: memory for requests, and short names under which a
 * request is known to a peer.
 */
#ifndef XMPI_REQUEST_H
#define XMPI_REQUEST_H

#include "pml/pml.h"

enum { REQUEST_BYTES = 320, REQUEST_DONE_BYTES = 128 }; /* see request_new, request_new_done */

/* Used ones are kept by each engine, as one who has it alone makes none; the next one is their owner. */
struct request_pool {
    struct request *requests, *done;
    uint32_t out; /* made by request_new and not freed */
    uint8_t engine;
} __attribute__((aligned(128)));
extern struct request_pool request_pools[ENGINES] __attribute__((visibility("hidden")));

/* All but the object and the engine.  What begins with zeros is one piece, for wide stores. */
static inline void request_clear(struct request *request, const struct request_ops *ops,
                                 int done)
{
    request->done = done;
    request->persistent = request->active = request->collective = false;
    request->orphan = 0;
    request->ops = ops;
    memset((char *)request + offsetof(struct request, on_done), 0,
           sizeof *request - offsetof(struct request, on_done));
}

/* Clear the members of struct request, which may lie on a stack. */
static inline void request_init(struct request *request, const struct request_ops *ops,
                                const struct request_pool *pool)
{
    request_clear(request, ops, 0);
    request->engine = pool->engine;
}

/* One more that is kept.  False: memory is out. */
bool requests_make(struct request_pool *pool) __attribute__((cold));
bool requests_make_done(struct request_pool *pool) __attribute__((cold));

static inline struct request *kept_take(struct request **list)
{
    struct request *request = *list;
    *list = request->owner;
    request->object.kind = OBJECT_REQUEST;
    request->object.refs = 1;
    return request;
}

/* An object of REQUEST_BYTES of this engine, not cleared but for the members of struct request; NULL when
 * memory is out.  Faster than object_new: used ones are kept. */
static inline struct request *request_new(const struct request_ops *ops,
                                          struct request_pool *pool)
{
    if (__builtin_expect(!pool->requests, 0) && !requests_make(pool))
        return NULL;
    struct request *request = kept_take(&pool->requests);
    pool->out++;
    request_clear(request, ops, 0);
    return request;
}
void request_free(struct request *request);

extern const struct request_ops request_done_ops __attribute__((visibility("hidden")));

/* Is there one for request_new_done?  False: memory is out. */
static inline bool request_is_kept_done(struct request_pool *pool)
{
    return __builtin_expect(pool->done != NULL, 1) || requests_make_done(pool);
}

/* A request that was complete when it was made and has nothing to say: an isend whose bytes are
 * with the link already.  Only after request_is_kept_done. */
static inline struct request *request_new_done(struct request_pool *pool)
{
    struct request *request = kept_take(&pool->done);
    request_clear(request, &request_done_ops, 1);
    return request;
}

extern int orphan_receives; /* under way, and to be waited for at the end (orphan.c) */

/* A number for a request that a peer is to mention in its answer, never 0; 0 when memory is
 * out.  request_named: NULL for numbers nobody has. */
uint32_t request_name(void *request);
void *request_named(uint32_t name);
void request_unname(uint32_t name);

/* The data of the request lie on a device, and copying them may have failed. */
void request_check_moves(struct request *request);

/* A message begins: an event of the flight recorder, unless it belongs to a collective, which is
 * one event in all.  Best called after the message has left, when nobody waits for us. */
void send_record(const struct channel *channel, const struct envelope *to, size_t bytes);
void recv_record(const struct channel *channel, const struct envelope *from, size_t bytes);

/* All that have names, NULL after the last; *at begins with 0. */
void *request_next_named(uint32_t *at);

void requests_close(void);

#endif
