/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Intercommunicators (MPI 5.0, 7.6).  Two groups that know each other: messages go to the other
 * one, collectives run on a team of both, the group with the lower first world rank in front.
 *
 *     local group     0 1 2 3         leaders swap sizes, members and (one way) the ticket
 *                       |             over peer_comm; each tells its own group along a tree
 *     peer_comm         x----x
 *                            |
 *     remote group         0 1 2
 *
 * Once an intercommunicator stands, its team reaches everybody, so merging it, cutting it down
 * and splitting it need only what its two first ranks know.
 */
#include "coll/tell.h"
#include "runtime/fail.h"
#include "src/api/comm.h"
#include "src/context.h"
#include "src/errhan.h"
#include "src/handle.h"
#include "src/inter.h"

#include <stdlib.h>

static int no_memory(int n)
{
    return fail(MPI_ERR_NO_MEM, "no memory for an intercommunicator of %d processes", n);
}

static void ranks_write(const struct ranks *ranks, int *list)
{
    for (int i = 0; i < ranks->n; i++)
        list[i] = ranks_world(ranks, i);
}

static struct group *group_of_list(int n, const int *list)
{
    return group_new(ranks_list(n, list));
}

/* a then b, as one group; NULL when memory is out. */
static struct group *group_join(const struct group *a, const struct group *b)
{
    return group_new(ranks_join(a->ranks, b->ranks));
}

int inter_new(struct comm *parent, struct group *group, struct group *remote, uint32_t step,
              struct comm **newcomm)
{
    bool first = inter_is_first(group, remote);
    struct group *both = group_join(first ? group : remote, first ? remote : group);
    if (!both)
        return no_memory(group->ranks->n + remote->ranks->n);
    struct circle members = circle_of_group(parent, both, 0, step);
    struct ticket ticket;
    members.two_groups = true;
    int rc = circle_draw(&members, &ticket);
    group_drop(both);
    return rc ? rc : comm_new(newcomm, &ticket, group, remote, parent);
}

/* ---- creation: two leaders meet ---- */

struct meeting { /* what the leader learns and its group is told */
    int32_t error;
    int32_t n; /* size of the remote group */
    struct ticket ticket;
};

struct greeting { /* what the leaders tell each other first */
    int32_t n;
    int32_t first; /* world rank of rank 0 */
};

static int check_disjoint(struct group *mine, int n, const int *theirs)
{
    struct group *other = group_of_list(n, theirs), *common = NULL;
    if (!other)
        return no_memory(n);
    int rc = xmpi_group_intersection(mine, other, &common);
    if (!rc && common->ranks->n > 0)
        rc = fail(MPI_ERR_COMM,
                  "process %d of MPI_COMM_WORLD is in both groups of the intercommunicator",
                  ranks_world(common->ranks, 0));
    group_drop(common);
    group_drop(other);
    return rc;
}

/* Tell the other leader who we are, learn who they are; *theirs is allocated. */
static int leaders_swap(struct comm *local, struct comm *peer, int remote, int tag,
                        struct greeting *other, int **theirs)
{
    const struct ranks *mine = local->group->ranks;
    struct greeting hello = { mine->n, ranks_world(mine, 0) };
    struct swap greet = { &hello, other, sizeof hello, sizeof *other };
    int rc = context_swap(&peer->p2p, remote, tag, STEP_INTER_LEADERS, &greet);
    if (rc)
        return rc;
    int *list = malloc((size_t)mine->n * sizeof *list);
    *theirs = malloc((size_t)other->n * sizeof **theirs);
    if (!list || !*theirs) {
        free(list);
        return no_memory(mine->n + other->n);
    }
    ranks_write(mine, list);
    struct swap members = { list, *theirs, (size_t)mine->n * sizeof *list,
                            (size_t)other->n * sizeof **theirs };
    rc = context_swap(&peer->p2p, remote, tag, STEP_INTER_LEADERS, &members);
    free(list);
    return rc;
}

/* The leader of the group that comes first draws the ticket and sends it over. */
static int leaders_draw(struct comm *local, struct comm *peer, int remote, int tag,
                        const struct greeting *other, struct ticket *ticket)
{
    if (ranks_world(local->group->ranks, 0) > other->first)
        return context_receive(&peer->p2p, remote, tag, STEP_INTER_LEADERS, ticket,
                               sizeof *ticket);
    ticket_draw(ticket, local->group->ranks->n + other->n, NULL);
    return context_send(&peer->p2p, remote, tag, STEP_INTER_LEADERS, ticket, sizeof *ticket);
}

static int leader_check(struct comm *peer, int remote, int tag)
{
    if (!peer)
        return fail(MPI_ERR_COMM,
                    "argument peer_comm is no communicator, and this is the leader");
    if (remote < 0 || remote >= comm_remote_size(peer))
        return fail(MPI_ERR_RANK, "argument remote_leader is %d, peer_comm has ranks 0 to %d",
                    remote, comm_remote_size(peer) - 1);
    if (tag < 0)
        return fail(MPI_ERR_TAG, "argument tag is %d, tags are 0 or more", tag);
    return MPI_SUCCESS;
}

static int leaders_meet(struct comm *local, struct comm *peer, int remote, int tag,
                        struct meeting *meeting, int **theirs)
{
    int rc = leader_check(peer, remote, tag);
    if (rc)
        return rc;
    struct greeting other;
    rc = leaders_swap(local, peer, remote, tag, &other, theirs);
    if (rc)
        return rc;
    meeting->n = other.n;
    rc = check_disjoint(local->group, other.n, *theirs);
    return rc ? rc : leaders_draw(local, peer, remote, tag, &other, &meeting->ticket);
}

/* The leader's group learns what the leader knows; *theirs is allocated where it was not. */
static int meeting_share(struct circle *mine, struct meeting *meeting, int **theirs)
{
    int rc = circle_share(mine, meeting, sizeof *meeting);
    if (rc)
        return rc;
    if (meeting->error)
        return mine->rank == mine->root
                   ? meeting->error
                   : fail(meeting->error, "local_leader %d could not meet the remote leader",
                          mine->root);
    size_t bytes = (size_t)meeting->n * sizeof **theirs;
    if (!*theirs && !(*theirs = malloc(bytes)))
        return no_memory(meeting->n);
    return circle_share(mine, *theirs, bytes);
}

/* Everybody of the group learns the outcome and makes the communicator. */
static int meeting_end(struct circle *mine, struct meeting *meeting, int **theirs,
                       struct group *local, struct comm *like, struct comm **newcomm)
{
    int rc = meeting_share(mine, meeting, theirs);
    struct group *remote = rc ? NULL : group_of_list(meeting->n, *theirs);
    free(*theirs);
    if (rc)
        return rc;
    if (!remote)
        return no_memory(meeting->n);
    rc = comm_new(newcomm, &meeting->ticket, local, remote, like);
    group_drop(remote);
    return rc;
}

int xmpi_intercomm_create(intra_t local_comm, rank_t local_leader, MPI_Comm peer_comm,
                          int remote_leader, int tag, comm_out_t *newintercomm)
{
    struct circle mine = circle_of_team(local_comm, STEP_INTER_LOCAL);
    struct meeting meeting = { 0 };
    struct joining joining;
    uint32_t before = local_comm->team.calls;
    int *theirs = NULL, rc = joining_begin(&joining, &local_comm->team);
    mine.root = local_leader;
    *newintercomm = NULL;
    if (mine.rank == local_leader) /* whatever this side has found: the other one waits */
        meeting.error = leaders_meet(local_comm, handle_comm(peer_comm), remote_leader, tag,
                                     &meeting, &theirs);
    if (!rc)
        rc = meeting_end(&mine, &meeting, &theirs, local_comm->group, local_comm, newintercomm);
    else
        free(theirs);
    rc = comm_joined(&joining, rc, newintercomm);
    return comm_made(local_comm, before, rc, newintercomm);
}

/* ---- creation without a communicator to begin with ---- */

/* The leaders know each other already: the one of the first group draws. */
static int leaders_draw_directly(const struct circle *mine, const struct group *local,
                                 const struct group *remote, int leader, struct ticket *ticket)
{
    int other = ranks_world(remote->ranks, leader); /* the circle's channel is the world's */
    if (!inter_is_first(local, remote))
        return context_receive(mine->channel, other, mine->tag, mine->step, ticket,
                               sizeof *ticket);
    ticket_draw(ticket, local->ranks->n + remote->ranks->n, NULL);
    return context_send(mine->channel, other, mine->tag, mine->step, ticket, sizeof *ticket);
}

static int groups_meet(const struct circle *mine, struct group *local, struct group *remote,
                       int leader, struct meeting *meeting, int **theirs)
{
    int n = remote->ranks->n;
    if (leader < 0 || leader >= n)
        return fail(MPI_ERR_RANK,
                    "argument remote_leader is %d, remote_group has ranks 0 to %d", leader,
                    n - 1);
    *theirs = malloc((size_t)n * sizeof **theirs);
    if (!*theirs)
        return no_memory(n);
    ranks_write(remote->ranks, *theirs);
    int rc = check_disjoint(local, n, *theirs);
    meeting->n = n;
    return rc ? rc : leaders_draw_directly(mine, local, remote, leader, &meeting->ticket);
}

int xmpi_intercomm_create_from_groups(group_t local_group, int local_leader,
                                      group_t remote_group, int remote_leader,
                                      string_t stringtag, info_t info, errhandler_t errhandler,
                                      comm_out_t *newintercomm)
{
    int n = local_group->ranks->n, rc = errhandler_check(errhandler, ERRHANDLER_COMM);
    if (rc)
        return rc;
    if (local_group->rank == MPI_UNDEFINED)
        return fail(MPI_ERR_GROUP, "this process is not in local_group");
    if (local_leader < 0 || local_leader >= n)
        return fail(MPI_ERR_RANK, "argument local_leader is %d, local_group has ranks 0 to %d",
                    local_leader, n - 1);
    struct circle mine = circle_of_string(local_group, stringtag, STEP_FROM_GROUPS);
    struct meeting meeting = { 0 };
    int *theirs = NULL;
    mine.root = local_leader;
    if (mine.rank == local_leader)
        meeting.error =
            groups_meet(&mine, local_group, remote_group, remote_leader, &meeting, &theirs);
    rc = meeting_end(&mine, &meeting, &theirs, local_group, NULL, newintercomm);
    return rc ? rc : comm_adopt(newintercomm, info, errhandler);
}

/* ---- merging ---- */

/* The first ranks of both groups tell everybody something; both[0] is the first group's. */
static int sides_share(struct comm *comm, int mine, int both[2], uint32_t step)
{
    struct circle all = circle_of_team(comm, step);
    struct channel *channel = &comm->team.channel;
    int split = comm->team.split, rc = MPI_SUCCESS;
    both[0] = mine;
    if (all.rank == split)
        rc = context_send(channel, 0, 0, step, &mine, sizeof mine);
    if (all.rank == 0)
        rc = context_receive(channel, split, 0, step, &both[1], sizeof both[1]);
    return rc ? rc : circle_share(&all, both, 2 * sizeof both[0]);
}

static int merge(struct comm *intercomm, int high, struct comm **newintracomm)
{
    int highs[2];
    int rc = sides_share(intercomm, high != 0, highs, STEP_MERGE);
    if (rc)
        return rc;
    struct group *mine = intercomm->group, *theirs = intercomm->remote;
    bool first = inter_is_first(mine, theirs);
    bool low = highs[0] == highs[1] ? first : !highs[first ? 0 : 1];
    struct group *both = group_join(low ? mine : theirs, low ? theirs : mine);
    if (!both)
        return no_memory(mine->ranks->n + theirs->ranks->n);
    rc = comm_of_group(intercomm, both, 0, STEP_MERGE, newintracomm);
    group_drop(both);
    return rc;
}

int xmpi_intercomm_merge(inter_t intercomm, int high, comm_out_t *newintracomm)
{
    struct joining joining;
    uint32_t before = intercomm->team.calls;
    int rc = joining_begin(&joining, &intercomm->team);
    *newintracomm = NULL;
    rc = comm_joined(&joining, rc ? rc : merge(intercomm, high, newintracomm), newintracomm);
    return comm_made(intercomm, before, rc, newintracomm);
}

/* ---- cutting down: MPI_Comm_create ---- */

/* Everybody learns the members of both subgroups, of sizes n[0] and n[1]. */
static int members_share(struct comm *comm, const struct group *group, const int n[2],
                         int *members)
{
    struct circle all = circle_of_team(comm, STEP_INTER_CREATE);
    struct channel *channel = &comm->team.channel;
    int split = comm->team.split, rc = MPI_SUCCESS;
    if (all.rank == 0)
        ranks_write(group->ranks, members);
    if (all.rank == split) {
        ranks_write(group->ranks, members + n[0]);
        rc = context_send(channel, 0, 0, STEP_INTER_CREATE, members + n[0],
                          (size_t)n[1] * sizeof *members);
    }
    if (all.rank == 0)
        rc = context_receive(channel, split, 0, STEP_INTER_CREATE, members + n[0],
                             (size_t)n[1] * sizeof *members);
    return rc ? rc
              : circle_share(&all, members, ((size_t)n[0] + (size_t)n[1]) * sizeof *members);
}

int inter_create(struct comm *comm, struct group *group, struct comm **newcomm)
{
    int n[2];
    *newcomm = NULL;
    int rc = sides_share(comm, group->ranks->n, n, STEP_INTER_CREATE);
    if (rc || n[0] == 0 || n[1] == 0)
        return rc;
    int *members = malloc(((size_t)n[0] + (size_t)n[1]) * sizeof *members);
    if (!members)
        return no_memory(n[0] + n[1]);
    rc = members_share(comm, group, n, members);
    bool first = inter_is_first(comm->group, comm->remote);
    struct group *remote =
        rc ? NULL : group_of_list(first ? n[1] : n[0], first ? members + n[0] : members);
    free(members);
    if (rc)
        return rc;
    if (!remote)
        return no_memory(n[0] + n[1]);
    if (group->rank != MPI_UNDEFINED)
        rc = inter_new(comm, group, remote, STEP_INTER_CREATE, newcomm);
    group_drop(remote);
    return rc;
}
