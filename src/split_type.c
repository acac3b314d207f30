/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI_Comm_split_type: processes that share something become a colour (MPI 5.0, 7.4.2): the
 * node, a process set, or a place of the hardware that they are bound to, as the launcher wrote
 * it down.  What is not known has no members: those processes get MPI_COMM_NULL.
 *
 * Everybody's ballot goes to everybody, whatever is asked for, since a process that asks for
 * nothing (MPI_UNDEFINED) cannot know what the others ask for.
 */
#include "runtime/boot.h"
#include "runtime/fail.h"
#include "src/api/comm.h"
#include "src/api/environment.h"
#include "src/info.h"
#include "src/split.h"

#include <stdlib.h>
#include <string.h>

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

static int no_memory(int n)
{
    return fail(MPI_ERR_NO_MEM, "no memory to split a communicator of %d processes", n);
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
