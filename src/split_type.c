/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI_Comm_split_type: processes that share something become a colour (MPI 5.0, 7.4.2): the
 * node, a process set, or a part of the hardware that they are bound to, as the launcher wrote
 * it down.  Who is bound to several such parts, or to none that is known, gets MPI_COMM_NULL;
 * so does everybody when the processes ask for different things, or for something unknown.
 *
 *     rank              0  1  2  3       HW_GUIDED, hwloc://Package:  { 0 2 } { 1 3 }
 *     package           0  1  0  1       HW_UNGUIDED: the same, the outermost part that they
 *     core              0  4  1  5         are not all together on; info says which it is
 *
 * Everybody's ballot goes to everybody, whatever is asked for, since a process that asks for
 * nothing (MPI_UNDEFINED) cannot know what the others ask for.
 */
#include "runtime/boot.h"
#include "runtime/fail.h"
#include "runtime/hw.h"
#include "src/api/comm.h"
#include "src/api/environment.h"
#include "src/info.h"
#include "src/split.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TYPE_KEY "mpi_hw_resource_type"
#define PSET_KEY "mpi_pset_name"

/* ---- the hardware, from the outside in ---- */

enum level { MACHINE, PACKAGE, NUMA, L3, CORE, THREAD, LEVELS };

static const struct name {
    const char *name;
    enum level level;
} names[] = {
    /* the first LEVELS are what we say ourselves */
    { "hwloc://Machine", MACHINE },   { "hwloc://Package", PACKAGE },
    { "hwloc://NUMANode", NUMA },     { "hwloc://L3Cache", L3 },
    { "hwloc://Core", CORE },         { "hwloc://PU", THREAD },
    { "mpi_shared_memory", MACHINE }, { "hwthread", THREAD },
};

static bool is_called(const char *name, const char *text)
{
    static const char scheme[] = "hwloc://";
    size_t n = sizeof scheme - 1;
    return !strcasecmp(name, text) ||
           (!strncmp(name, scheme, n) && !strcasecmp(name + n, text));
}

static int level_named(const char *text)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (is_called(names[i].name, text))
            return (int)names[i].level;
    return -1;
}

static void places_fill(int32_t at[LEVELS])
{
    const struct boot_place *place = &boot_record(boot.local_rank)->place;
    at[MACHINE] = boot.node;
    at[PACKAGE] = place->package;
    at[NUMA] = place->numa;
    at[L3] = place->l3;
    at[CORE] = place->core;
    at[THREAD] = hw_only_cpu();
}

/* ---- ballots ---- */

/* What a process asks for: a level, or one of these. */
enum { ASK_NOBODY = -4, ASK_UNGUIDED, ASK_WORLD, ASK_SELF, ASK_UNKNOWN = LEVELS };

struct ballot {
    int32_t ask, key, rank; /* rank: in MPI_COMM_WORLD */
    int32_t at[LEVELS];     /* -1: unknown, or more than one */
};

static int ask_level(const struct info *info)
{
    const char *type = info_get(info, TYPE_KEY);
    int level = type ? level_named(type) : -1;
    return level < 0 ? ASK_UNKNOWN : level;
}

/* A kind of hardware or, where none is named, a process set. */
static int ask_resource(const struct info *info)
{
    const char *pset = info_get(info, PSET_KEY);
    if (!pset || info_get(info, TYPE_KEY))
        return ask_level(info);
    if (!strcasecmp(pset, "mpi://WORLD"))
        return ASK_WORLD;
    return strcasecmp(pset, "mpi://SELF") ? ASK_UNKNOWN : ASK_SELF;
}

static int ballot_fill(struct ballot *ballot, int split_type, int key, const struct info *info)
{
    *ballot = (struct ballot){ .key = key, .rank = boot.rank };
    places_fill(ballot->at);
    switch (split_type) {
    case MPI_UNDEFINED:
        ballot->ask = ASK_NOBODY;
        return MPI_SUCCESS;
    case MPI_COMM_TYPE_SHARED:
        ballot->ask = MACHINE;
        return MPI_SUCCESS;
    case MPI_COMM_TYPE_HW_GUIDED:
        ballot->ask = ask_level(info);
        return MPI_SUCCESS;
    case MPI_COMM_TYPE_RESOURCE_GUIDED:
        ballot->ask = ask_resource(info);
        return MPI_SUCCESS;
    case MPI_COMM_TYPE_HW_UNGUIDED:
        ballot->ask = ASK_UNGUIDED;
        return MPI_SUCCESS;
    }
    return fail(MPI_ERR_ARG, "split_type is %d, which is none of MPI_COMM_TYPE_...",
                split_type);
}

/* ---- counting ---- */

/* The outermost level at which the processes that ask are not all together. */
static int level_apart(const struct ballot *ballots, int n)
{
    for (int level = 0; level < LEVELS; level++) {
        const struct ballot *first = NULL;
        for (int i = 0; i < n; i++) {
            if (ballots[i].ask == ASK_NOBODY)
                continue;
            if (first && ballots[i].at[level] != first->at[level])
                return level;
            first = first ? first : &ballots[i];
        }
    }
    return ASK_UNKNOWN;
}

/* What they all ask for; an unguided one has become a level. */
static int common_ask(const struct ballot *ballots, int n)
{
    int ask = ASK_NOBODY;
    for (int i = 0; i < n; i++) {
        if (ballots[i].ask == ASK_NOBODY)
            continue;
        if (ask != ASK_NOBODY && ballots[i].ask != ask)
            return ASK_UNKNOWN;
        ask = ballots[i].ask;
    }
    return ask == ASK_UNGUIDED ? level_apart(ballots, n) : ask;
}

static int ballot_color(const struct ballot *ballot, int ask)
{
    if (ballot->ask == ASK_NOBODY || ask == ASK_UNKNOWN || ask == ASK_NOBODY)
        return MPI_UNDEFINED;
    if (ask == ASK_WORLD)
        return 0;
    if (ask == ASK_SELF)
        return ballot->rank;
    int node = ballot->at[MACHINE], at = ballot->at[ask];
    if (ask == MACHINE)
        return node;
    return at < 0 ? MPI_UNDEFINED : node * 32768 + at;
}

static int ballots_count(const struct ballot *ballots, int n, struct vote *votes)
{
    int ask = common_ask(ballots, n);
    for (int i = 0; i < n; i++)
        votes[i] = (struct vote){ ballot_color(&ballots[i], ask), ballots[i].key };
    return ask;
}

/* ---- bodies ---- */

static int no_memory(int n)
{
    return fail(MPI_ERR_NO_MEM, "no memory to split a communicator of %d processes", n);
}

int xmpi_comm_split_type(intra_t comm, int split_type, int key, info_t info,
                         comm_out_t *newcomm)
{
    struct ballot mine;
    int n = comm_size(comm), level, rc = ballot_fill(&mine, split_type, key, info);
    if (rc)
        return rc;
    struct ballot *ballots = malloc((size_t)n * sizeof *ballots);
    struct vote *votes = malloc((size_t)n * sizeof *votes);
    *newcomm = NULL;
    rc = ballots && votes ? team_allgather(comm, &mine, sizeof mine, ballots) : no_memory(n);
    if (!rc) {
        level = ballots_count(ballots, n, votes);
        rc = split_count(comm, votes, newcomm);
        if (!rc && *newcomm && info && split_type == MPI_COMM_TYPE_HW_UNGUIDED)
            rc = info_set(info, TYPE_KEY, names[level].name) ? no_memory(n) : MPI_SUCCESS;
    }
    free(ballots);
    free(votes);
    return rc;
}

int xmpi_get_hw_resource_info(info_out_t *hw_info)
{
    int32_t at[LEVELS];
    struct info *info = info_new();
    int rc = info ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    places_fill(at);
    for (int i = 0; i < LEVELS && !rc; i++)
        rc = info_set(info, names[i].name, at[names[i].level] >= 0 ? "true" : "false");
    if (rc) {
        info_delete(info);
        return fail(MPI_ERR_NO_MEM, "no memory for an info object");
    }
    *hw_info = info;
    return MPI_SUCCESS;
}
