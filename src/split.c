/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Partitioning a communicator: MPI_Comm_split and MPI_Comm_split_type (MPI 5.0, 7.4.2).
 *
 * Everybody learns everybody's colour and key (one allgather of 8 bytes each), picks out those
 * of its own colour, sorts them by key and old rank, and the first of them draws the ticket.
 *
 *     rank    0  1  2  3  4  5        colour 7:  1 3 5     ranks in between are regular
 *     colour  4  7  4  7  4  7        colour 4:  0 2 4     and need no list
 *
 * Cost: O(n) time and 8 n bytes for a moment.  Keys that are in order already are not sorted;
 * a single colour in the old order shares the parent's group.
 *
 * split_type turns what processes share into a colour: the node, or a place of the hardware
 * that this process is bound to.
 */
#include "runtime/boot.h"
#include "runtime/fail.h"
#include "src/api/comm.h"
#include "src/api/environment.h"
#include "src/context.h"
#include "src/info.h"
#include "src/inter.h"

#include <stdlib.h>
#include <string.h>

struct vote {
    int32_t color, key;
};

static int no_memory(int n)
{
    return fail(MPI_ERR_NO_MEM, "no memory to split a communicator of %d processes", n);
}

/* ---- gathering ---- */

/* Every team member's record, in team order. */
static int team_allgather(struct comm *comm, const void *mine, size_t bytes, void *all)
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

/* All votes are known: join the processes of my colour. */
static int split_count(struct comm *comm, const struct vote *votes, struct comm **newcomm)
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

/* ---- by what is shared ---- */

/* The levels of the hardware, from the outside in, with the names that programs use. */
static const struct level {
    const char *name;
    size_t offset; /* in struct boot_place */
} levels[] = {
    { "hwloc://Package", offsetof(struct boot_place, package) },
    { "hwloc://NUMANode", offsetof(struct boot_place, numa) },
    { "hwloc://L3Cache", offsetof(struct boot_place, l3) },
    { "hwloc://Core", offsetof(struct boot_place, core) },
};
enum { LEVELS = sizeof levels / sizeof levels[0] };

static int place_at(int level)
{
    const struct boot_place *place = &boot_record(boot.local_rank)->place;
    int16_t at;
    memcpy(&at, (const char *)place + levels[level].offset, sizeof at);
    return at;
}

/* What one process says about itself. */
struct ballot {
    struct vote vote;
    bool unguided;          /* the colour follows from all ballots */
    int32_t at[1 + LEVELS]; /* the node, then every level; -1: unknown, or more than one */
};

static int ballot_color(const struct ballot *ballot, int level)
{
    int node = ballot->at[0], at = ballot->at[level];
    if (level == 0)
        return node;
    return at < 0 ? MPI_UNDEFINED : node * 32768 + at;
}

/* MPI_COMM_TYPE_HW_GUIDED: the caller names the level.  Unknown ones have no members. */
static int guided_color(const struct ballot *ballot, const struct info *info)
{
    const char *type = info_get(info, "mpi_hw_resource_type");
    if (!type)
        return MPI_UNDEFINED;
    if (!strcmp(type, "mpi_shared_memory") || !strcmp(type, "hwloc://Machine"))
        return ballot_color(ballot, 0);
    for (int i = 0; i < LEVELS; i++)
        if (!strcmp(type, levels[i].name))
            return ballot_color(ballot, 1 + i);
    return MPI_UNDEFINED;
}

/* MPI_COMM_TYPE_RESOURCE_GUIDED: the same, or a process set: of all, or of just me. */
static int resource_color(const struct ballot *ballot, const struct info *info)
{
    const char *pset = info_get(info, "mpi_pset_name");
    if (!pset)
        return guided_color(ballot, info);
    if (!strcmp(pset, "mpi://WORLD"))
        return 0;
    return strcmp(pset, "mpi://SELF") ? MPI_UNDEFINED : boot.rank;
}

static int ballot_fill(struct ballot *ballot, int split_type, int key, const struct info *info)
{
    *ballot = (struct ballot){ .vote = { MPI_UNDEFINED, key }, .at = { boot.node } };
    for (int i = 0; i < LEVELS; i++)
        ballot->at[1 + i] = place_at(i);
    switch (split_type) {
    case MPI_UNDEFINED:
        return MPI_SUCCESS;
    case MPI_COMM_TYPE_SHARED:
        ballot->vote.color = ballot_color(ballot, 0);
        return MPI_SUCCESS;
    case MPI_COMM_TYPE_HW_GUIDED:
        ballot->vote.color = guided_color(ballot, info);
        return MPI_SUCCESS;
    case MPI_COMM_TYPE_RESOURCE_GUIDED:
        ballot->vote.color = resource_color(ballot, info);
        return MPI_SUCCESS;
    case MPI_COMM_TYPE_HW_UNGUIDED:
        ballot->unguided = true;
        return MPI_SUCCESS;
    }
    return fail(MPI_ERR_ARG, "split_type is %d, which is none of MPI_COMM_TYPE_...",
                split_type);
}

/* MPI_COMM_TYPE_HW_UNGUIDED: the outermost level at which the processes that ask for it are not
 * all together; -1 when they are together everywhere. */
static int unguided_level(const struct ballot *ballots, int n)
{
    for (int level = 0; level <= LEVELS; level++) {
        const struct ballot *first = NULL;
        for (int i = 0; i < n; i++) {
            if (ballots[i].unguided && first && ballots[i].at[level] != first->at[level])
                return level;
            if (ballots[i].unguided && !first)
                first = &ballots[i];
        }
    }
    return -1;
}

static void ballots_count(struct ballot *ballots, int n, struct vote *votes)
{
    int level = unguided_level(ballots, n);
    for (int i = 0; i < n; i++) {
        votes[i] = ballots[i].vote;
        if (ballots[i].unguided && level >= 0)
            votes[i].color = ballot_color(&ballots[i], level);
    }
}

int xmpi_comm_split_type(intra_t comm, int split_type, int key, info_t info,
                         comm_out_t *newcomm)
{
    struct ballot mine;
    int n = comm_size(comm), rc = ballot_fill(&mine, split_type, key, info);
    if (rc)
        return rc;
    struct ballot *ballots = malloc((size_t)n * sizeof *ballots);
    struct vote *votes = malloc((size_t)n * sizeof *votes);
    *newcomm = NULL;
    rc = ballots && votes ? team_allgather(comm, &mine, sizeof mine, ballots) : no_memory(n);
    if (!rc) {
        ballots_count(ballots, n, votes);
        rc = split_count(comm, votes, newcomm);
    }
    free(ballots);
    free(votes);
    return rc;
}

int xmpi_get_hw_resource_info(info_out_t *hw_info)
{
    struct info *info = info_new();
    int rc = info ? info_set(info, "hwloc://Machine", "true") : MPI_ERR_NO_MEM;
    for (int i = 0; i < LEVELS && !rc; i++)
        rc = info_set(info, levels[i].name, place_at(i) >= 0 ? "true" : "false");
    if (rc) {
        info_delete(info);
        return fail(MPI_ERR_NO_MEM, "no memory for an info object");
    }
    *hw_info = info;
    return MPI_SUCCESS;
}
