/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Links between the ranks of a test's job that fail after a number of reads and writes, and teams for which they
 * are replaced.
 */
#ifndef XMPI_TEST_FRAGILE_H
#define XMPI_TEST_FRAGILE_H

#include "coll/attach.h"
#include "coll/coll.h"
#include "pml/peer.h"
#include "runtime/boot.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define WRONG_UNLESS(x)                                                                        \
    do {                                                                                       \
        if (!(x)) {                                                                            \
            fprintf(stderr, "%s:%d: rank %d: %s\n", __FILE__, __LINE__, boot.rank, #x);        \
            _exit(20);                                                                         \
        }                                                                                      \
    } while (0)

enum { FOREVER = 1000000 }; /* calls */
static int calls_left;      /* until links fail */
static bool writes_fail;    /* as well */
static struct link fragile;
static struct team *ordered; /* its orders end when it has begun: the rest may go another way */

static inline void orders_end(void)
{
    if (ordered)
        WRONG_UNLESS(team_force(ordered, "", "a test") == 0);
    ordered = NULL;
}

static inline size_t fragile_read(struct peer *peer, void *to, uint64_t from, size_t bytes)
{
    orders_end();
    return calls_left-- > 0 ? link_shm.read(peer, to, from, bytes) : 0;
}

static inline size_t fragile_write(struct peer *peer, uint64_t to, const void *from,
                                   size_t bytes)
{
    orders_end();
    return !writes_fail || calls_left-- > 0 ? link_shm.write(peer, to, from, bytes) : 0;
}

static inline void links_weaken(const struct team *team, int calls)
{
    writes_fail = true;
    fragile = link_shm;
    fragile.read = fragile_read;
    fragile.write = fragile_write;
    for (int r = 0; r < team->channel.size; r++) {
        struct peer *peer;
        if (r != team->channel.rank)
            WRONG_UNLESS(peer_of(r, &peer) == 0);
        if (r != team->channel.rank)
            peer->link = &fragile;
    }
    calls_left = calls;
}

/* From now on blocks of so many bytes are read by who gets them, as that took a quarter of the time. */
static inline void let_takers_read(struct means_table *movers, size_t bytes)
{
    enum { CALLS = 100 };
    for (int i = 0; i < CALLS; i++) {
        enum means means = means_take(movers, bytes);
        means_took(movers, means, bytes, means == TAKER_READS ? bytes : 4 * bytes);
    }
}

static inline uint32_t value(int from, int to, size_t i)
{
    return (uint32_t)from * 2654435761u + (uint32_t)to * 40503u + (uint32_t)i * 2246822519u;
}

static inline const struct layout *ints(void)
{
    static struct layout *layout;
    if (!layout)
        layout = layout_basic(BASIC_UINT32, 4, 4);
    return layout;
}

static inline void world_open(struct team *world, int rank, int n)
{
    struct ranks *all = ranks_range(n, 0, 1);
    struct ticket ticket;
    ticket_world(&ticket);
    WRONG_UNLESS(team_open(world, &ticket, rank, all, 0) == 0);
    ranks_drop(all);
}

/* With slots of its own, so that nothing is known of earlier calls. */
static inline void team_make(struct team *team, struct team *world)
{
    int n = world->channel.size, rank = world->channel.rank;
    struct ranks *all = ranks_range(n, 0, 1);
    struct ticket ticket = { 0, 0 };
    if (rank == 0)
        ticket_draw(&ticket, n, all);
    struct call bcast = { .what = COLL_BCAST, .root = 0 };
    bcast.recv = (struct part){ .base = &ticket, .layout = ints(), .count = sizeof ticket / 4 };
    WRONG_UNLESS(coll_run(world, &bcast) == 0 && ticket.tiny != 0);
    WRONG_UNLESS(team_open(team, &ticket, rank, all, 0) == 0);
    ranks_drop(all);
}

#endif
