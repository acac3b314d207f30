/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Partitioning a communicator: MPI_Comm_split (MPI 5.0, 7.4.2).
 *
 * Everybody learns everybody's colour and key (one allgather of 8 bytes each), picks out those
 * of its own colour, sorts them by key and old rank, and the first of them draws the ticket.
 *
 *     rank    0  1  2  3  4  5        colour 7:  1 3 5     ranks in between are regular
 *     colour  4  7  4  7  4  7        colour 4:  0 2 4     and need no list
 *
 * Cost: O(n) time and 8 n bytes for a moment.  Keys that are in order already are not sorted;
 * a single colour in the old order shares the parent's group.
 */
#include "src/split.h"

#include "runtime/fail.h"
#include "src/api/comm.h"
#include "src/context.h"
#include "src/inter.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(int n)
{
    return fail(MPI_ERR_NO_MEM, "no memory to split a communicator of %d processes", n);
}

/* ---- gathering ---- */

int team_allgather(struct comm *comm, const void *mine, size_t bytes, void *all)
{
    if (comm_is_inter(comm)) {
        struct circle circle = circle_of_team(comm, STEP_SPLIT);
        int rc = circle_collect(&circle, mine, bytes, all);
        return rc ? rc : circle_share(&circle, all, bytes * (size_t)circle.n);
    }
    struct call call = {
        .what = COLL_ALLGATHER,
        .send = { .base = (void *)mine, .layout = &layout_bytes, .count = bytes },
        .recv = { .base = all, .layout = &layout_bytes, .count = bytes },
    };
    return coll_run(&comm->team, &call);
}

/* ---- choosing ---- */

struct member {
    int32_t key, rank; /* team rank */
};

static int member_order(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Those of [first, end) with this colour, in the order of the new group; *moved says that the
 * order is not the old one. */
static int members_choose(const struct vote *votes, int first, int end, int color,
                          struct member *members, bool *moved)
{
    int n = 0;
    *moved = false;
    for (int i = first; i < end; i++)
        if (votes[i].color == color) {
            *moved = *moved || (n > 0 && members[n - 1].key > votes[i].key);
            members[n++] = (struct member){ votes[i].key, i };
        }
    if (*moved)
        qsort(members, (size_t)n, sizeof *members, member_order);
    return n;
}

/* The new group among the members of `old`, whose team ranks begin with `first`. */
static int group_choose(struct comm *comm, const struct vote *votes, int first,
                        struct group *old, int color, struct group **made)
{
    int end = first + old->ranks->n;
    struct member *members = malloc((size_t)old->ranks->n * sizeof *members);
    int *list = malloc((size_t)old->ranks->n * sizeof *list);
    *made = NULL;
    if (members && list) {
        bool moved;
        int n = members_choose(votes, first, end, color, members, &moved);
        for (int i = 0; i < n; i++)
            list[i] = ranks_world(comm->team.channel.peers, members[i].rank);
        *made = n == end - first && !moved ? group_hold(old) : group_new(ranks_list(n, list));
    }
    free(members);
    free(list);
    return *made ? MPI_SUCCESS : no_memory(old->ranks->n);
}

/* ---- splitting ---- */

static int split_intra(struct comm *comm, const struct vote *votes, int color,
                       struct comm **newcomm)
{
    struct group *group;
    int rc = group_choose(comm, votes, 0, comm->group, color, &group);
    if (rc)
        return rc;
    rc = comm_of_group(comm, group, 0, STEP_SPLIT, newcomm);
    group_drop(group);
    return rc;
}

static int split_inter(struct comm *comm, const struct vote *votes, int color,
                       struct comm **newcomm)
{
    bool first = inter_is_first(comm->group, comm->remote);
    int split = comm->team.split;
    struct group *group, *remote;
    int rc = group_choose(comm, votes, first ? 0 : split, comm->group, color, &group);
    if (rc)
        return rc;
    rc = group_choose(comm, votes, first ? split : 0, comm->remote, color, &remote);
    if (!rc && remote->ranks->n > 0)
        rc = inter_new(comm, group, remote, STEP_SPLIT, newcomm);
    group_drop(remote);
    group_drop(group);
    return rc;
}

int split_count(struct comm *comm, const struct vote *votes, struct comm **newcomm)
{
    int color = votes[comm->team.channel.rank].color;
    if (color == MPI_UNDEFINED)
        return MPI_SUCCESS;
    return comm_is_inter(comm) ? split_inter(comm, votes, color, newcomm)
                               : split_intra(comm, votes, color, newcomm);
}

int xmpi_comm_split(comm_t comm, int color, int key, comm_out_t *newcomm)
{
    if (color < 0 && color != MPI_UNDEFINED)
        return fail(MPI_ERR_ARG, "color is %d, it must be 0 or more, or MPI_UNDEFINED", color);
    struct vote mine = { color, key };
    int n = comm->team.channel.size;
    struct vote *votes = malloc((size_t)n * sizeof *votes);
    *newcomm = NULL;
    if (!votes)
        return no_memory(n);
    int rc = team_allgather(comm, &mine, sizeof mine, votes);
    if (!rc)
        rc = split_count(comm, votes, newcomm);
    free(votes);
    return rc;
}
