/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How the processes of a new communicator learn their ticket, and other small things that one
 * of them knows.
 */
#ifndef XMPI_CONTEXT_H
#define XMPI_CONTEXT_H

#include "src/comm.h"

struct tree; /* src/circle_tree.h */

/* Numbers of our own messages: no collective and no user has steps this high, so they share
 * channels with both and never match.  From PML_APART on not all of a communicator take part.  From
 * 0x80000000 on they number partitions (src/part.c). */
enum context_step {
    STEP_DUP = PML_APART - 0x1000,
    STEP_CREATE,
    STEP_SPLIT,
    STEP_SUBGRID,
    STEP_TOPOLOGY,
    STEP_INTER_LOCAL,
    STEP_INTER_LEADERS,
    STEP_INTER_CREATE,
    STEP_MERGE,
    STEP_PARTITIONED, /* how many partitions will come */
    STEP_ROLES,       /* a topology's parts change hands */
    STEP_CREATE_GROUP = PML_APART,
    STEP_FROM_GROUP = 0x7fff0000,  /* + 16 bits of the tag string's hash */
    STEP_FROM_GROUPS = 0x7ffd0000, /* likewise */
};

/* Processes that share something, and the wire between them. */
struct circle {
    struct channel *channel;
    const struct team *team; /* whose members all are; NULL: not a team */
    struct ranks *members;   /* who, in order; NULL: all peers of the channel */
    int n, rank;             /* how many, and which one I am */
    int root;                /* the member that knows, or that collects */
    bool two_groups; /* they draw for an intercommunicator: its team has no shared slots */
    int tag;
    uint32_t step;
};

/* Everybody in the communicator's team (of an intercommunicator: both groups). */
struct circle circle_of_team(struct comm *comm, enum context_step step);

/* The members of a group that lies inside the communicator's team. */
struct circle circle_of_group(struct comm *comm, const struct group *group, int tag,
                              enum context_step step);

/* The members of any group, for the call that has this tag string. */
struct circle circle_of_string(const struct group *group, const char *string,
                               enum context_step step);

/* The root's bytes reach all: a tree, log2(n) messages deep.  Collective over the circle; calls
 * with equal step, tag and channel must come in the same order everywhere. */
int circle_share(const struct circle *circle, void *data, size_t bytes);

/* Every member's `bytes` reach the root, in order, at `all` (significant there alone). */
int circle_collect(const struct circle *circle, const void *mine, size_t bytes, void *all);

/* For other things that go along it: the circle's tree, to be freed by tree_free. */
int circle_tree(const struct circle *circle, struct tree *tree);

/* The root draws a ticket for a communicator of exactly this circle; all get it. */
int circle_draw(const struct circle *circle, struct ticket *ticket);

/* Messages between two peers of a channel, for exchanges that are no circle. */
int context_send(struct channel *channel, int peer, int tag, uint32_t step, const void *data,
                 size_t bytes);
int context_receive(struct channel *channel, int peer, int tag, uint32_t step, void *data,
                    size_t bytes);

/* A message of at most *bytes, which becomes how many came. */
int context_receive_some(struct channel *channel, int peer, uint32_t step, void *data,
                         size_t *bytes);

/* What two peers do to tell each other something; neither waits for the other to receive. */
struct swap {
    const void *out;
    void *in;
    size_t out_bytes, in_bytes;
};
int context_swap(struct channel *channel, int peer, int tag, uint32_t step,
                 const struct swap *swap);

/* The same, out to one peer and in from another; both may be me. */
int context_pass(struct channel *channel, const int to_from[2], int tag, uint32_t step,
                 const struct swap *swap);

#endif
