/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tickets reach the members of a new communicator.
 *
 * A communicator's identity is a 64-bit number that one member draws from a counter of its own
 * (coll/coll.h), so nobody has to agree on anything: the others only have to be told.  They are
 * told by a tree over the members alone (src/circle_tree.c), on the parent's collective channel: a message
 * of 16 bytes per edge, one to each node, ceil(log2 n) deep or a step more.  Each process knows
 * its parent and its children by itself, from the list of members and where they are.
 *
 * Numbers are never used twice, so a communicator that is freed here while it is still in use
 * elsewhere does no harm, and 10^6 pairs of dup and free use up 10^6 of 2^39 numbers.
 *
 * Order: two processes that take part in two circles with equal step and tag do so in the same
 * order, because the calls are collective; messages between two processes with equal tag and
 * step keep their order; so circles of different membership on one channel never cross.
 */
#include "src/context.h"

#include "coll/places.h"
#include "coll/tell.h"
#include "pml/failure.h"
#include "runtime/fail.h"
#include "src/circle_tree.h"

#include <stdlib.h>
#include <string.h>

struct circle circle_of_team(struct comm *comm, enum context_step step)
{
    struct channel *channel = &comm->team.channel;
    return (struct circle){ .channel = channel,
                            .team = &comm->team,
                            .n = channel->size,
                            .rank = channel->rank,
                            .step = step };
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

int circle_tree(const struct circle *circle, struct tree *tree)
{
    if (circle->team)
        return tree_make(tree, team_nodes(circle->team), circle->n, circle->rank, circle->root);
    int *first, rc = nodes_find(circle->members, &first);
    if (!rc)
        rc = tree_make(tree, first, circle->n, circle->rank, circle->root);
    free(first);
    return rc;
}

static int circle_peer(const struct circle *circle, int member)
{
    if (!circle->members)
        return member;
    return ranks_find(circle->channel->peers, ranks_world(circle->members, member));
}

int context_send(struct channel *channel, int peer, int tag, uint32_t step, const void *data,
                 size_t bytes)
{
    struct buffer buffer = { (void *)data, bytes, &layout_bytes, HERE };
    struct envelope to = { .peer = peer, .tag = tag, .step = step };
    joining_sign(channel, &to);
    return pml_send(channel, &buffer, &to, SEND_STANDARD);
}

/* The peer may be waiting for somebody else of the group. */
static int receive_among(struct channel *channel, const struct ranks *group,
                         const struct envelope *from, void *data, size_t *bytes)
{
    struct buffer buffer = { data, *bytes, &layout_bytes, HERE };
    struct envelope with = *from;
    struct result result = { 0 };
    with.group = group ? group : channel->peers;
    joining_sign(channel, &with);
    int rc = pml_recv(channel, &buffer, &with, &result);
    *bytes = result.bytes;
    return rc;
}

int context_receive(struct channel *channel, int peer, int tag, uint32_t step, void *data,
                    size_t bytes)
{
    struct envelope from = { .peer = peer, .tag = tag, .step = step };
    return receive_among(channel, NULL, &from, data, &bytes);
}

int context_receive_some(struct channel *channel, int peer, uint32_t step, void *data,
                         size_t *bytes)
{
    struct envelope from = { .peer = peer, .step = step };
    return receive_among(channel, NULL, &from, data, bytes);
}

static int circle_receive(const struct circle *circle, int member, void *data, size_t bytes)
{
    struct envelope from = { .peer = circle_peer(circle, member),
                             .tag = circle->tag,
                             .step = circle->step };
    return receive_among(circle->channel, circle->members, &from, data, &bytes);
}

static int circle_send(const struct circle *circle, int member, const void *data, size_t bytes)
{
    return context_send(circle->channel, circle_peer(circle, member), circle->tag, circle->step,
                        data, bytes);
}

/* 0, or that a member is lost: then nobody begins. */
static int circle_check(const struct circle *circle)
{
    int world = circle->members ? failure_among(circle->members)
                                : failure_of(circle->channel, COLLECTIVE_LATEST);
    return world < 0 ? MPI_SUCCESS : failure_fail(world);
}

int context_pass(struct channel *channel, const int to_from[2], int tag, uint32_t step,
                 const struct swap *swap)
{
    struct buffer in = { swap->in, swap->in_bytes, &layout_bytes, HERE };
    struct envelope from = {
        .peer = to_from[1], .tag = tag, .step = step, .group = channel->peers
    };
    struct request *receive;
    joining_sign(channel, &from);
    int rc = pml_irecv(channel, &in, &from, &receive);
    if (rc)
        return rc;
    rc = context_send(channel, to_from[0], tag, step, swap->out, swap->out_bytes);
    int received = request_wait(receive, NULL);
    return rc ? rc : received;
}

int context_swap(struct channel *channel, int peer, int tag, uint32_t step,
                 const struct swap *swap)
{
    return context_pass(channel, (const int[]){ peer, peer }, tag, step, swap);
}

static int circle_down(const struct circle *circle, const struct tree *tree, void *data,
                       size_t bytes)
{
    int rc = MPI_SUCCESS;
    if (tree->parent >= 0)
        rc = circle_receive(circle, tree->parent, data, bytes);
    for (int i = tree->branches - 1; i >= 0 && !rc; i--)
        rc = circle_send(circle, tree->branch[i].member, data, bytes);
    return rc;
}

/* A record of each member, in the order of the tree: `records` has room for those below me, mine is
 * in front. */
static int circle_up(const struct circle *circle, const struct tree *tree, void *records,
                     size_t bytes)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < tree->branches && !rc; i++) {
        const struct tree_branch *branch = &tree->branch[i];
        rc =
            circle_receive(circle, branch->member, (char *)records + (size_t)branch->at * bytes,
                           (size_t)branch->members * bytes);
    }
    if (tree->parent >= 0 && !rc)
        rc = circle_send(circle, tree->parent, records, (size_t)tree->members * bytes);
    return rc;
}

int circle_share(const struct circle *circle, void *data, size_t bytes)
{
    struct tree tree;
    int rc = circle_check(circle);
    if (rc || (rc = circle_tree(circle, &tree)))
        return rc;
    rc = circle_down(circle, &tree, data, bytes);
    tree_free(&tree);
    return rc;
}

static int collect(const struct circle *circle, const struct tree *tree, const void *mine,
                   size_t bytes, char *all)
{
    char *records = malloc((size_t)tree->members * bytes);
    if (!records)
        return fail(MPI_ERR_NO_MEM, "no memory for what %d processes say", tree->members);
    memcpy(records, mine, bytes);
    int rc = circle_up(circle, tree, records, bytes);
    for (int i = 0; i < circle->n && tree->parent < 0 && !rc; i++)
        memcpy(all + (size_t)tree_member(tree, i) * bytes, records + (size_t)i * bytes, bytes);
    free(records);
    return rc;
}

int circle_collect(const struct circle *circle, const void *mine, size_t bytes, void *all)
{
    struct tree tree;
    int rc = circle_check(circle);
    if (rc || (rc = circle_tree(circle, &tree)))
        return rc;
    rc = collect(circle, &tree, mine, bytes, all);
    tree_free(&tree);
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
