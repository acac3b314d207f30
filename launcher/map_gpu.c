/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks and GPUs.  With --map-by gpu the GPU comes first: ranks are dealt to GPUs in turn, and those
 * whose GPUs are near to the same CPUs share these, in equal blocks of neighbours:
 *
 *     2 packages of 8 cores, 2 GPUs each        rank   0    1    2    3    4
 *                                               GPU    0    1    2    3    0
 *                                               cores  0-1  2-4  8-11 12-15  5-7
 *
 * Otherwise the CPUs come first, and each rank that is bound is told a GPU near to them.  The numbers
 * of ranks that GPUs have differ by one at most: four ranks on one of these packages use all GPUs.
 */
#include "launcher/map.h"

#include <stdlib.h>
#include <string.h>

/* ---- the GPU first ---- */

static bool same_cpus(const struct cpuset *a, const struct cpuset *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* The first GPU with the same near CPUs stands for all who share them. */
static int group_of(const struct topology *topology, int gpu)
{
    int group = 0;
    while (!same_cpus(&topology->gpus[group].near, &topology->gpus[gpu].near))
        group++;
    return group;
}

/* Ranks go to GPUs in turn. */
static int gpu_of(const struct topology *topology, const struct map_options *decided, int rank)
{
    return rank / (decided->per ? decided->per : 1) % topology->ngpus;
}

/* Those who share CPUs with a rank: how many, and the rank's number among them. */
struct share {
    int n, number;
};

/* A share per group, to be freed: how many ranks it has, none numbered yet. */
static struct share *shares_of(const struct topology *topology,
                               const struct map_options *decided, int nranks)
{
    struct share *shares = calloc((size_t)topology->ngpus + 1, sizeof *shares);
    if (!shares)
        abort();
    for (int rank = 0; rank < nranks; rank++)
        shares[group_of(topology, gpu_of(topology, decided, rank))].n++;
    return shares;
}

static bool is_near(const struct topology *topology, const struct unit *unit,
                    const struct cpuset *near)
{
    for (int i = unit->first; i < unit->first + unit->npus; i++)
        if (cpuset_has(near, topology->pus[i].cpu))
            return true;
    return false;
}

/* Near units come first in the table; how many, at least one. */
static int units_near(const struct topology *topology, const struct cpuset *near,
                      enum level level, struct unit *units)
{
    int n = map_units(topology, level, units), kept = 0;
    for (int i = 0; i < n; i++)
        if (is_near(topology, &units[i], near))
            units[kept++] = units[i];
    return kept;
}

/* This rank's part of n units: pe of them, or an equal share, of which there may be less than one. */
static void take_share(const struct topology *topology, const struct map_options *decided,
                       struct share share, const struct unit *units, int n, struct cpuset *cpus)
{
    long from = (long)share.number * n / share.n, to = (share.number + 1L) * n / share.n;
    if (decided->pe) {
        from = (long)share.number * decided->pe;
        to = from + (decided->pe < n ? decided->pe : n);
    }
    for (long i = from; i < to || i == from; i++)
        map_widen(topology, &units[i % n], decided->to, cpus);
}

static enum level unit_level(const struct map_options *decided)
{
    return decided->to == LEVEL_HWTHREAD ? LEVEL_HWTHREAD : LEVEL_CORE;
}

struct map_fit map_fit_gpus(const struct topology *topology, const struct map_options *decided,
                            int nranks, bool count_threads)
{
    struct map_fit fit = { 0 };
    struct unit *units = calloc((size_t)topology->npus + 1, sizeof *units);
    struct share *shares = shares_of(topology, decided, nranks);
    if (!units)
        abort();
    for (int gpu = 0; gpu < topology->ngpus; gpu++) {
        int n = units_near(topology, &topology->gpus[gpu].near, unit_level(decided), units);
        int threads = 0;
        for (int i = 0; i < n; i++)
            threads += units[i].npus;
        map_fit_add(&fit, decided, count_threads ? threads : n, shares[gpu].n);
    }
    free(shares);
    free(units);
    return fit;
}

void map_near_gpus(const struct topology *topology, const struct map_options *decided,
                   int nranks, struct placement *placements)
{
    struct unit *units = calloc((size_t)topology->npus + 1, sizeof *units);
    struct share *shares = shares_of(topology, decided, nranks);
    if (!units)
        abort();
    for (int rank = 0; rank < nranks; rank++) {
        struct placement *placement = &placements[rank];
        placement->gpu = gpu_of(topology, decided, rank);
        const struct cpuset *near = &topology->gpus[placement->gpu].near;
        if (decided->to == LEVEL_GPU)
            placement->cpus = *near;
        if (decided->to == LEVEL_GPU || decided->to == LEVEL_NONE)
            continue;
        struct share *share = &shares[group_of(topology, placement->gpu)];
        int n = units_near(topology, near, unit_level(decided), units);
        take_share(topology, decided, *share, units, n, &placement->cpus);
        share->number++;
    }
    free(shares);
    free(units);
}

/* ---- the CPUs first ---- */

enum { NEAR, SAME_PACKAGE, ANYWHERE, DISTANCES };

static bool cpus_meet(const struct cpuset *a, const struct cpuset *b)
{
    for (int i = 0; i < CPUS_WORDS; i++)
        if (a->word[i] & b->word[i])
            return true;
    return false;
}

static bool is_within(const struct topology *topology, const struct placement *placement,
                      const struct gpu *gpu, int within)
{
    if (within == ANYWHERE || cpus_meet(&placement->cpus, &gpu->near))
        return true;
    int package = within == NEAR ? -1 : map_place(topology, &gpu->near).package;
    return package >= 0 && package == placement->place.package;
}

/* Ranks of each GPU.  All GPUs shall have `even` of them, and `more` of the GPUs one more. */
struct seats {
    int *taken;
    int even, more;
};

static bool has_seat(const struct seats *seats, int gpu)
{
    return seats->taken[gpu] < seats->even + (seats->more > 0);
}

/* Of those with a seat within this distance the GPU with the fewest ranks; -1: none. */
static int gpu_within(const struct topology *topology, const struct placement *placement,
                      int within, const struct seats *seats)
{
    int best = -1;
    for (int i = 0; i < topology->ngpus; i++)
        if (has_seat(seats, i) && (best < 0 || seats->taken[i] < seats->taken[best]) &&
            is_within(topology, placement, &topology->gpus[i], within))
            best = i;
    return best;
}

static void take_seat(struct seats *seats, struct placement *placement, int gpu)
{
    placement->gpu = gpu;
    seats->more -= seats->taken[gpu]++ == seats->even;
}

/* First everybody who finds one near, then the others. */
void map_nearest_gpus(const struct topology *topology, int nranks, struct placement *placements)
{
    if (!topology->ngpus)
        return;
    struct seats seats = { calloc((size_t)topology->ngpus, sizeof *seats.taken),
                           nranks / topology->ngpus, nranks % topology->ngpus };
    if (!seats.taken)
        abort();
    for (int within = NEAR; within < DISTANCES; within++)
        for (int rank = 0; rank < nranks; rank++) {
            bool has = placements[rank].gpu >= 0;
            int gpu = has ? -1 : gpu_within(topology, &placements[rank], within, &seats);
            if (gpu >= 0)
                take_seat(&seats, &placements[rank], gpu);
        }
    free(seats.taken);
}
