/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Placement.  A rank gets `pe` neighbouring units (cores, or hardware threads when they are
 * asked for); which ones is decided by the level of --map-by:
 *
 *     slot, core        units in machine order      rank 0 1 2 3  on cores  0 1 | 2 3
 *     numa, package..   one object after the other  rank 0 1 2 3  on cores  0 2 | 1 3
 *     ppr:2:numa        two on each object          rank 0 1 2 3  on cores  0 1 | 2 3
 *     gpu               see map_gpu.c
 *
 * and --bind-to widens the units to the whole object they lie in.  When ranks run out of units
 * they start again from the first; plan_fit.c refuses what the user did not want so.
 *
 * The default (map_decide) binds only where that cannot hurt: not when ranks exceed cores, not
 * under a CPU quota (others share the cores), not where other hosts of the job are the same machine,
 * and not when the job fills only a part of a host
 * that nobody manages, where several jobs would all crowd on core 0; by GPU such a part gets all CPUs
 * near to it instead.  When it binds, every rank
 * gets an equal share of the cores, so that its threads have room.
 */
#include "launcher/map.h"

#include <stdlib.h>
#include <string.h>

/* ---- words ---- */

static const struct {
    const char *word;
    enum level level;
} level_words[] = {
    { "none", LEVEL_NONE },       { "slot", LEVEL_SLOT },   { "hwthread", LEVEL_HWTHREAD },
    { "core", LEVEL_CORE },       { "l3cache", LEVEL_L3 },  { "numa", LEVEL_NUMA },
    { "package", LEVEL_PACKAGE }, { "gpu", LEVEL_GPU },     { "node", LEVEL_NODE },
    { "socket", LEVEL_PACKAGE },  { "pu", LEVEL_HWTHREAD }, { "thread", LEVEL_HWTHREAD },
    { "l3", LEVEL_L3 },           { "cpu", LEVEL_CORE },    { "machine", LEVEL_NODE },
    { "board", LEVEL_NODE },      { "host", LEVEL_NODE },   { "numanode", LEVEL_NUMA },
    { "rr", LEVEL_SLOT },
};

enum { LEVEL_WORDS = sizeof level_words / sizeof level_words[0] };

const char *level_name(enum level level)
{
    for (int i = 0; i < LEVEL_WORDS; i++)
        if (level_words[i].level == level)
            return level_words[i].word;
    return "default";
}

enum level level_parse(const char *word, size_t bytes)
{
    for (int i = 0; i < LEVEL_WORDS; i++)
        if (strlen(level_words[i].word) == bytes &&
            memcmp(level_words[i].word, word, bytes) == 0)
            return level_words[i].level;
    return LEVEL_UNSET;
}

/* ---- hosts ---- */

/* Hosts that nobody has said slots for share the ranks evenly, unless that is more than some of
 * them can run at once. */
static bool share_evenly(const struct host *hosts, int nhosts, int nranks)
{
    int most = (nranks + nhosts - 1) / nhosts;
    for (int i = 0; i < nhosts; i++)
        if (hosts[i].slots || most > hosts[i].budget.slots ||
            (hosts[i].max_slots && most > hosts[i].max_slots))
            return false;
    return true;
}

/* How many ranks a host takes before it is the next one's turn. */
static int host_share(const struct host *host, const struct map_options *options)
{
    if (host->own_ranks)
        return host->own_ranks;
    if (options->per_host > 0)
        return options->per_host;
    if (host->by_objects)
        return host->by_objects;
    if (options->by == LEVEL_NODE)
        return 1;
    int slots = host->slots > 0 ? host->slots : host->budget.slots;
    return slots > 0 ? slots : 1;
}

/* How many of its share in this round, from 1, other jobs of ours have taken already. */
static int taken_of(const struct host *host, int share, int round)
{
    int taken = host->slots > 0 ? host->taken - (round - 1) * share : 0;
    return taken < 0 ? 0 : taken < share ? taken : share;
}

/* Deal ranks out, round by round; a host that has all it may have is passed over. */
static int deal_to_hosts(const struct host *hosts, int nhosts,
                         const struct map_options *options, int nranks, int *host_of, int *has)
{
    bool in_turn =
        options->by == LEVEL_NODE || options->per_host || hosts->by_objects || hosts->own_ranks;
    int rank = 0;
    bool room = true;
    for (int round = 1; rank < nranks && room; round++) {
        room = false;
        for (int i = 0; i < nhosts; i++) {
            int share = host_share(&hosts[i], options), most = hosts[i].max_slots;
            if (most && share > most - hosts[i].taken - has[i])
                share = most - hosts[i].taken - has[i];
            share = share > 0 ? share : 0;
            room |= share > 0;
            share -= in_turn ? 0 : taken_of(&hosts[i], share, round);
            for (int dealt = 0; dealt < share && rank < nranks; dealt++, has[i]++)
                host_of[rank++] = i;
        }
    }
    return rank;
}

int map_hosts(const struct host *hosts, int nhosts, const struct map_options *options,
              int nranks, int *host_of)
{
    bool in_turn =
        options->by == LEVEL_NODE || options->per_host || hosts->by_objects || hosts->own_ranks;
    if (!in_turn && share_evenly(hosts, nhosts, nranks)) {
        int most = nranks / nhosts, longer = nranks % nhosts; /* so many hosts have one more */
        for (int rank = 0; rank < nranks; rank++)
            host_of[rank] =
                rank < longer * (most + 1) ? rank / (most + 1) : (rank - longer) / most;
        return nranks;
    }
    int *has = calloc((size_t)nhosts, sizeof *has);
    if (!has)
        abort();
    int placed = deal_to_hosts(hosts, nhosts, options, nranks, host_of, has);
    free(has);
    return placed;
}

/* ---- hosts that are the same machine ---- */

struct cpus_use { /* of a host */
    uint64_t cpus;
    int ranks, host;
};

static int by_cpus(const void *left, const void *right)
{
    const struct cpus_use *a = left, *b = right;
    return (a->cpus > b->cpus) - (a->cpus < b->cpus);
}

void map_others(struct host *hosts, int nhosts, int nranks, const int *host_of)
{
    struct cpus_use *uses = calloc((size_t)nhosts, sizeof *uses);
    if (!uses)
        abort();
    for (int i = 0; i < nhosts; i++)
        uses[i] = (struct cpus_use){ hosts[i].budget.cpus, 0, i };
    for (int i = 0; i < nranks; i++)
        uses[host_of[i]].ranks++;
    qsort(uses, (size_t)nhosts, sizeof *uses, by_cpus);
    for (int at = 0, end; at < nhosts; at = end) {
        int sum = 0;
        for (end = at; end < nhosts && uses[end].cpus == uses[at].cpus; end++)
            sum += uses[end].ranks;
        for (int i = at; i < end && uses[at].cpus; i++)
            hosts[uses[i].host].budget.others = sum - uses[i].ranks;
    }
    free(uses);
}

/* ---- the policy ---- */

bool map_is_crowded(const struct budget *budget, int nranks)
{
    return nranks + budget->others > budget->slots;
}

static bool binding_is_harmless(const struct budget *budget, int nranks, bool batch)
{
    if (map_is_crowded(budget, nranks) || budget->slots < budget->cores || budget->others)
        return false;
    return nranks == budget->slots || batch;
}

struct map_options map_decide(const struct map_options *wish, const struct budget *budget,
                              int nranks, bool batch)
{
    struct map_options decided = *wish;
    if (decided.to == LEVEL_UNSET && wish->pe > 1)
        decided.to = LEVEL_CORE; /* cores per rank mean nothing without binding */
    bool harmless = binding_is_harmless(budget, nranks, batch);
    if (decided.to == LEVEL_UNSET && decided.by == LEVEL_GPU && !harmless)
        decided.to = map_is_crowded(budget, nranks) ? LEVEL_NONE : LEVEL_GPU;
    if (decided.to == LEVEL_UNSET)
        decided.to = harmless ? LEVEL_CORE : LEVEL_NONE;
    if (decided.by == LEVEL_UNSET && decided.to == LEVEL_GPU)
        decided.by = LEVEL_GPU;
    if (decided.by == LEVEL_UNSET)
        decided.by = decided.to == LEVEL_HWTHREAD ? LEVEL_HWTHREAD : LEVEL_SLOT;
    bool linear = decided.by == LEVEL_SLOT && !decided.per;
    if (decided.pe == 0 && decided.by != LEVEL_GPU)
        decided.pe = wish->to == LEVEL_UNSET && linear && nranks < budget->slots
                         ? budget->slots / nranks
                         : 1;
    return decided;
}

/* ---- units: what a rank occupies ---- */

static int object_of(const struct pu *pu, enum level level)
{
    switch (level) {
    case LEVEL_CORE:
        return pu->core;
    case LEVEL_L3:
        return pu->l3;
    case LEVEL_NUMA:
        return pu->numa;
    case LEVEL_PACKAGE:
        return pu->package;
    case LEVEL_HWTHREAD:
        return pu->cpu;
    default:
        return 0; /* the whole machine */
    }
}

int map_units(const struct topology *topology, enum level level, struct unit *units)
{
    int n = 0;
    for (int i = 0; i < topology->npus; i++) {
        const struct pu *pu = &topology->pus[i];
        if (i && object_of(pu, level) == object_of(pu - 1, level))
            units[n - 1].npus++;
        else
            units[n++] = (struct unit){ i, 1 };
    }
    return n;
}

/* The objects that ranks are dealt to, as ranges of units. */
struct deal {
    const struct topology *topology;
    struct unit *units, *objects; /* objects: first, npus count units */
    int nunits, nobjects;
    int per, pe;
};

static void objects_cut(struct deal *deal, enum level level)
{
    deal->nobjects = 0;
    for (int i = 0; i < deal->nunits; i++) {
        const struct pu *pu = &deal->topology->pus[deal->units[i].first];
        const struct pu *before = i ? &deal->topology->pus[deal->units[i - 1].first] : NULL;
        if (before && object_of(pu, level) == object_of(before, level))
            deal->objects[deal->nobjects - 1].npus++;
        else
            deal->objects[deal->nobjects++] = (struct unit){ i, 1 };
    }
}

/* The j-th unit of this rank. */
static const struct unit *unit_of(const struct deal *deal, int rank, int j)
{
    int round = rank / deal->per, within = rank % deal->per;
    const struct unit *object = &deal->objects[round % deal->nobjects];
    long index = ((long)round / deal->nobjects * deal->per + within) * deal->pe + j;
    return &deal->units[object->first + index % object->npus];
}

void map_widen(const struct topology *topology, const struct unit *unit, enum level level,
               struct cpuset *cpus)
{
    if (level == LEVEL_HWTHREAD) {
        cpuset_add(cpus, topology->pus[unit->first].cpu);
        return;
    }
    for (int i = 0; i < topology->npus; i++)
        if (object_of(&topology->pus[i], level) ==
            object_of(&topology->pus[unit->first], level))
            cpuset_add(cpus, topology->pus[i].cpu);
}

struct boot_place map_place(const struct topology *topology, const struct cpuset *cpus)
{
    struct boot_place place = { -1, -1, -1, -1 };
    bool anywhere = cpuset_is_empty(cpus), first = true;
    for (int i = 0; i < topology->npus; i++) {
        const struct pu *pu = &topology->pus[i];
        if (!anywhere && !cpuset_has(cpus, pu->cpu))
            continue;
        struct boot_place here = { (int16_t)pu->package, (int16_t)pu->numa, (int16_t)pu->l3,
                                   (int16_t)pu->core };
        if (first)
            place = here;
        first = false;
        place.package = place.package == here.package ? here.package : -1;
        place.numa = place.numa == here.numa ? here.numa : -1;
        place.l3 = place.l3 == here.l3 ? here.l3 : -1;
        place.core = place.core == here.core ? here.core : -1;
    }
    return place;
}

/* Its units are to be freed. */
static struct deal deal_begin(const struct topology *topology,
                              const struct map_options *decided)
{
    size_t n = (size_t)topology->npus;
    struct unit *memory = calloc(2 * n + 1, sizeof *memory);
    if (!memory)
        abort();
    bool threads = decided->by == LEVEL_HWTHREAD;
    struct deal deal = { .topology = topology, .units = memory, .objects = memory + n };
    deal.nunits = map_units(topology, threads ? LEVEL_HWTHREAD : LEVEL_CORE, deal.units);
    /* Single cores and threads dealt in turn are the machine in order. */
    bool linear = decided->by <= LEVEL_CORE && !decided->per;
    objects_cut(&deal, linear ? LEVEL_NODE : decided->by);
    deal.per = decided->per ? decided->per : 1;
    deal.pe = decided->pe ? decided->pe : 1;
    return deal;
}

static void deal_units(const struct topology *topology, const struct map_options *decided,
                       int nranks, struct placement *placements)
{
    struct deal deal = deal_begin(topology, decided);
    for (int rank = 0; rank < nranks; rank++)
        for (int j = 0; decided->to != LEVEL_NONE && j < deal.pe && j < deal.nunits; j++)
            map_widen(topology, unit_of(&deal, rank, j), decided->to, &placements[rank].cpus);
    free(deal.units);
}

/* ---- do they fit? ---- */

void map_fit_add(struct map_fit *fit, const struct map_options *decided, int room, int ranks)
{
    long pe = decided->pe ? decided->pe : 1;
    if (!ranks)
        return;
    if (!fit->ranks || room < fit->fewest)
        fit->fewest = room;
    if (!fit->ranks || room - ranks * pe < fit->room - fit->ranks * pe) {
        fit->room = room;
        fit->ranks = ranks;
    }
}

/* So many ranks are dealt to object number i. */
static int ranks_on(const struct deal *deal, int i, int nranks)
{
    long round = (long)deal->per * deal->nobjects;
    long rest = nranks % round - (long)i * deal->per; /* in the last round */
    rest = rest < 0 ? 0 : rest < deal->per ? rest : deal->per;
    return (int)(nranks / round * deal->per + rest);
}

struct map_fit map_fit(const struct topology *topology, const struct map_options *decided,
                       int nranks, bool count_threads)
{
    struct map_fit fit = { 0 };
    if (decided->by == LEVEL_GPU)
        return map_fit_gpus(topology, decided, nranks, count_threads);
    struct deal deal = deal_begin(topology, decided);
    for (int i = 0; i < deal.nobjects; i++) {
        const struct unit *object = &deal.objects[i];
        int threads = 0;
        for (int j = object->first; j < object->first + object->npus; j++)
            threads += deal.units[j].npus;
        map_fit_add(&fit, decided, count_threads ? threads : object->npus,
                    ranks_on(&deal, i, nranks));
    }
    free(deal.units);
    return fit;
}

void map_cpus(const struct topology *topology, const struct map_options *decided, int nranks,
              struct placement *placements)
{
    for (int rank = 0; rank < nranks; rank++)
        placements[rank] = (struct placement){ .gpu = -1 };
    if (decided->by == LEVEL_GPU)
        map_near_gpus(topology, decided, nranks, placements);
    else
        deal_units(topology, decided, nranks, placements);
    for (int rank = 0; rank < nranks; rank++)
        placements[rank].place = map_place(topology, &placements[rank].cpus);
    if (decided->by != LEVEL_GPU && decided->to != LEVEL_NONE)
        map_nearest_gpus(topology, nranks, placements);
}
