/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tickets reach the members of a new communicator.
 *
 * A communicator's identity is a 64-bit number that one member draws from a counter of its own
 * (coll/coll.h), so nobody has to agree on anything: the others only have to be told.  They are
 * told by a binomial tree over the members alone, on the parent's collective channel:
 *
 *         0            a message of 16 bytes per edge, ceil(log2 n) deep;
 *       / | \          each process knows its parent and its children from
 *      4  2  1         its position alone
 *     / \  \
 *    6   5  3 ...
 *
 * Numbers are never used twice, so a communicator that is freed here while it is still in use
 * elsewhere does no harm, and 10^6 pairs of dup and free use up 10^6 of 2^39 numbers.
 *
 * Order: two processes that take part in two circles with equal step and tag do so in the same
 * order, because the calls are collective; messages between two processes with equal tag and
 * step keep their order; so circles of different membership on one channel never cross.
 */
#include "src/context.h"

#include "pml/failure.h"

#include <string.h>

struct circle circle_of_team(struct comm *comm, enum context_step step)
{
    struct channel *channel = &comm->team.channel;
    return (struct circle){
        .channel = channel, .n = channel->size, .rank = channel->rank, .step = step
    };
}

struct circle circle_of_group(struct comm *comm, const struct group *group, int tag,
                              enum context_step step)
{
    return (struct circle){ .channel = &comm->team.channel,
                            .members = group->ranks,
                            .n = group->ranks->n,
                            .rank = group->rank,
                            .tag = tag,
                            .step = step };
}

/* A number for a tag string, so that different strings meet in different messages (FNV-1a). */
static uint64_t string_hash(const char *string)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *string; string++)
        hash = (hash ^ (unsigned char)*string) * 0x100000001b3u;
    return hash;
}

struct circle circle_of_string(const struct group *group, const char *string,
                               enum context_step step)
{
    uint64_t hash = string_hash(string);
    return circle_of_group(&comm_world, group, (int)(uint32_t)hash,
                           step + (uint32_t)(hash >> 48));
}

/* The peer that is `place` members after the root. */
static int circle_peer(const struct circle *circle, int place)
{
    int member = (circle->root + place) % circle->n;
    if (!circle->members)
        return member;
    return ranks_find(circle->channel->peers, ranks_world(circle->members, member));
}

int context_send(struct channel *channel, int peer, int tag, uint32_t step, const void *data,
                 size_t bytes)
{
    struct buffer buffer = { (void *)data, bytes, &layout_bytes, HERE };
    struct envelope to = { .peer = peer, .tag = tag, .step = step };
    return pml_send(channel, &buffer, &to, SEND_STANDARD);
}

/* The peer may be waiting for somebody else of the group. */
static int receive_among(struct channel *channel, const struct ranks *group,
                         const struct envelope *from, void *data, size_t bytes)
{
    struct buffer buffer = { data, bytes, &layout_bytes, HERE };
    struct envelope with = *from;
    with.group = group ? group : channel->peers;
    return pml_recv(channel, &buffer, &with, NULL);
}

int context_receive(struct channel *channel, int peer, int tag, uint32_t step, void *data,
                    size_t bytes)
{
    struct envelope from = { .peer = peer, .tag = tag, .step = step };
    return receive_among(channel, NULL, &from, data, bytes);
}

static int circle_receive(const struct circle *circle, int place, void *data, size_t bytes)
{
    struct envelope from = { .peer = circle_peer(circle, place),
                             .tag = circle->tag,
                             .step = circle->step };
    return receive_among(circle->channel, circle->members, &from, data, bytes);
}

/* 0, or that a member is lost: then nobody begins. */
static int circle_check(const struct circle *circle)
{
    int world = failure_among(circle->members ? circle->members : circle->channel->peers);
    return world < 0 ? MPI_SUCCESS : failure_fail(world);
}

int context_swap(struct channel *channel, int peer, int tag, uint32_t step,
                 const struct swap *swap)
{
    struct buffer in = { swap->in, swap->in_bytes, &layout_bytes, HERE };
    struct envelope from = { .peer = peer, .tag = tag, .step = step, .group = channel->peers };
    struct request *receive;
    int rc = pml_irecv(channel, &in, &from, &receive);
    if (rc)
        return rc;
    rc = context_send(channel, peer, tag, step, swap->out, swap->out_bytes);
    int received = request_wait(receive, NULL);
    return rc ? rc : received;
}

int circle_share(const struct circle *circle, void *data, size_t bytes)
{
    int place = (circle->rank - circle->root + circle->n) % circle->n;
    int bit = 1, rc = circle_check(circle);
    while (bit < circle->n && !(place & bit))
        bit <<= 1;
    if (place > 0 && !rc)
        rc = circle_receive(circle, place - bit, data, bytes);
    for (bit >>= 1; bit > 0 && !rc; bit >>= 1)
        if (place + bit < circle->n)
            rc = context_send(circle->channel, circle_peer(circle, place + bit), circle->tag,
                              circle->step, data, bytes);
    return rc;
}

int circle_collect(const struct circle *circle, const void *mine, size_t bytes, void *all)
{
    int rc = circle_check(circle);
    if (rc)
        return rc;
    if (circle->rank != circle->root)
        return context_send(circle->channel, circle_peer(circle, 0), circle->tag, circle->step,
                            mine, bytes);
    memcpy((char *)all + (size_t)circle->rank * bytes, mine, bytes);
    for (int i = 1; i < circle->n && !rc; i++) {
        size_t member = (size_t)((circle->root + i) % circle->n);
        rc = circle_receive(circle, i, (char *)all + member * bytes, bytes);
    }
    return rc;
}

int circle_draw(const struct circle *circle, struct ticket *ticket)
{
    *ticket = (struct ticket){ 0 };
    struct ranks *members = circle->members ? circle->members : circle->channel->peers;
    if (circle->rank == circle->root)
        ticket_draw(ticket, circle->n, circle->two_groups ? NULL : members);
    return circle_share(circle, ticket, sizeof *ticket);
}
