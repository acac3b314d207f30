/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI_Comm_split_type: processes that share something become a colour (MPI 5.0, 7.4.2): the
 * node, a process set, or a part of the hardware that they are bound to.  Who is bound to several
 * such parts, or to none that is known, gets MPI_COMM_NULL; so does everybody when the processes
 * ask for different things, or for something unknown.
 *
 *     rank              0  1  2  3       HW_GUIDED, hwloc://Package:  { 0 2 } { 1 3 }
 *     package           0  1  0  1       HW_UNGUIDED: the same, the outermost part that they
 *     core              0  4  1  5         are not all together on; info says which it is
 *
 * The lowest and the highest of what is asked for go to everybody, since a process that asks for
 * nothing (MPI_UNDEFINED) cannot know what the others ask for; then, when unguided, those of
 * each level's numbers.  The rest is MPI_Comm_split.
 */
#include "runtime/boot.h"
#include "runtime/fail.h"
#include "runtime/hw.h"
#include "src/agree.h"
#include "src/api/comm.h"
#include "src/api/environment.h"
#include "src/info.h"
#include "src/psets.h"
#include "src/split.h"

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
    struct hw_place place = hw_place();
    at[MACHINE] = boot.node;
    at[PACKAGE] = place.package;
    at[NUMA] = place.numa;
    at[L3] = place.l3;
    at[CORE] = place.core;
    at[THREAD] = hw_only_cpu();
}

/* ---- what is asked for ---- */

/* What a process asks for: a level, or one of these. */
enum { ASK_NOBODY = -2, ASK_UNGUIDED, ASK_UNKNOWN = LEVELS, ASK_PSET /* + its number */ };

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
    int number = pset_find(pset);
    return number < 0 ? ASK_UNKNOWN : ASK_PSET + number;
}

static int ask_read(int split_type, const struct info *info, int *ask)
{
    switch (split_type) {
    case MPI_UNDEFINED:
        *ask = ASK_NOBODY;
        return MPI_SUCCESS;
    case MPI_COMM_TYPE_SHARED:
        *ask = MACHINE;
        return MPI_SUCCESS;
    case MPI_COMM_TYPE_HW_GUIDED:
        *ask = ask_level(info);
        return MPI_SUCCESS;
    case MPI_COMM_TYPE_RESOURCE_GUIDED:
        *ask = ask_resource(info);
        return MPI_SUCCESS;
    case MPI_COMM_TYPE_HW_UNGUIDED:
        *ask = ASK_UNGUIDED;
        return MPI_SUCCESS;
    }
    return fail(MPI_ERR_ARG, "argument split_type is %d, which is none of MPI_COMM_TYPE_...",
                split_type);
}

/* ---- agreeing ---- */

/* Numbers and, to have the smallest too, their complements. */
static int lows_and_highs(struct comm *comm, const int32_t *mine, int n, bool counts,
                          int32_t *low, int32_t *high)
{
    int32_t both[2 * LEVELS];
    for (int i = 0; i < n; i++) {
        both[i] = counts ? mine[i] : INT32_MIN;
        both[n + i] = counts ? ~mine[i] : INT32_MIN;
    }
    int rc = team_largest(comm, both, 2 * n);
    for (int i = 0; i < n; i++) {
        high[i] = both[i];
        low[i] = ~both[n + i];
    }
    return rc;
}

/* The outermost level at which the processes that ask are not all together. */
static int level_apart(struct comm *comm, const int32_t at[LEVELS], bool asks, int *level)
{
    int32_t low[LEVELS], high[LEVELS];
    int rc = lows_and_highs(comm, at, LEVELS, asks, low, high);
    for (*level = 0; !rc && *level < LEVELS && low[*level] == high[*level];)
        ++*level;
    return rc;
}

/* What they all ask for; an unguided one becomes a level. */
static int common_ask(struct comm *comm, const int32_t at[LEVELS], int mine, int *ask)
{
    int32_t low, high, me = mine;
    bool asks = mine != ASK_NOBODY;
    int rc = lows_and_highs(comm, &me, 1, asks, &low, &high);
    *ask = low == high ? low : ASK_UNKNOWN; /* nobody asks: low > high */
    return rc || *ask != ASK_UNGUIDED ? rc : level_apart(comm, at, asks, ask);
}

/* The members of a set are one part, alone in mpi://SELF. */
static int pset_color(int number, int32_t *color)
{
    struct ranks *ranks = pset_ranks(number);
    if (!ranks)
        return fail(MPI_ERR_NO_MEM, "no memory for a process set");
    if (ranks_find(ranks, boot.rank) >= 0)
        *color = ranks_world(ranks, 0);
    ranks_drop(ranks);
    return MPI_SUCCESS;
}

/* Places of one machine are fewer than what is left for each of the job's. */
static int32_t level_color(const int32_t at[LEVELS], int ask)
{
    if (ask == MACHINE)
        return at[MACHINE];
    return at[ask] < 0 ? MPI_UNDEFINED : at[MACHINE] * (INT32_MAX / boot.nnodes) + at[ask];
}

static int my_color(const int32_t at[LEVELS], int mine, int ask, int32_t *color)
{
    *color = MPI_UNDEFINED;
    if (mine == ASK_NOBODY || ask == ASK_UNKNOWN)
        return MPI_SUCCESS;
    if (ask >= ASK_PSET)
        return pset_color(ask - ASK_PSET, color);
    *color = level_color(at, ask);
    return MPI_SUCCESS;
}

/* ---- bodies ---- */

static int split_make(struct comm *comm, int split_type, int key, struct info *info,
                      struct comm **newcomm)
{
    int32_t at[LEVELS], color;
    int mine = ASK_UNKNOWN, ask, rc = ask_read(split_type, info, &mine);
    *newcomm = NULL;
    at[MACHINE] = boot.node;
    if (mine == ASK_UNGUIDED || (mine > MACHINE && mine < LEVELS))
        places_fill(at);
    if (!rc)
        rc = common_ask(comm, at, mine, &ask);
    if (!rc)
        rc = my_color(at, mine, ask, &color);
    if (!rc)
        rc = split_by(comm, color, key, newcomm);
    if (!rc && *newcomm && info && split_type == MPI_COMM_TYPE_HW_UNGUIDED &&
        info_set(info, TYPE_KEY, names[ask].name))
        return fail(MPI_ERR_NO_MEM, "no memory for a value of an info object");
    return rc;
}

int xmpi_comm_split_type(comm_t comm, int split_type, int key, info_t info, comm_out_t *newcomm)
{
    uint32_t before = split_begin(comm);
    return split_end(comm, before, split_make(comm, split_type, key, info, newcomm), newcomm);
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
