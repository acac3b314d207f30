/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From a recorded machine to a reordered grid, with the pieces that do it: hwloc reads the
 * machine (test/machines, or one line of text), launcher/map places ranks, src/reorder maps
 * grids and graphs onto their seats.  The cost is counted once more here, from the numbers of
 * cores, caches, memory nodes and packages alone.
 */
#include "launcher/map.h"
#include "src/reorder.h"

#include "test/unit/unit.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 256 };

static struct seat seats[MOST];
static struct placement placements[MOST];
static int map[MOST];

/* Seats of n ranks, as many on each of the nodes, which are all like this one. */
static void seats_on(const char *machine, int nodes, enum level by, int n)
{
    struct topology topology;
    struct map_options decided = { .by = by, .pe = 1, .to = LEVEL_CORE };
    const char *why = "", *synthetic = strstr(machine, ".xml") ? NULL : machine;
    char path[512];
    snprintf(path, sizeof path, "%s/%s", MACHINES, machine);
    if (!synthetic)
        setenv("HWLOC_XMLFILE", path, 1);
    ck_assert_msg(topology_synthetic(&topology, synthetic, NULL, &why) == 0, "%s: %s", machine,
                  why);
    unsetenv("HWLOC_XMLFILE");
    ck_assert_int_eq(n % nodes, 0);
    map_cpus(&topology, &decided, n / nodes, placements);
    for (int i = 0; i < n; i++) {
        const struct boot_place *p = &placements[i % (n / nodes)].place;
        seats[i] = (struct seat){ i / (n / nodes), p->package, p->numa, p->l3, p->core };
    }
    topology_free(&topology);
}

/* The hops of src/reorder.h in the words of the machine. */
static int hops(const struct seat *a, const struct seat *b)
{
    if (a->node != b->node)
        return 64;
    if (a->core >= 0 && a->core == b->core)
        return 1;
    if (a->l3 >= 0 && a->l3 == b->l3)
        return 2;
    if (a->numa >= 0 && a->numa == b->numa)
        return 4;
    return a->package >= 0 && a->package == b->package ? 8 : 16;
}

static int64_t counted(const struct pattern *pattern, const int *order)
{
    int64_t sum = 0;
    for (size_t i = 0; i < pattern->nbonds; i++) {
        const struct bond *bond = &pattern->bonds[i];
        if (bond->a == bond->b)
            continue;
        sum += (int64_t)bond->weight * hops(&seats[order ? order[bond->a] : bond->a],
                                            &seats[order ? order[bond->b] : bond->b]);
    }
    return sum;
}

static bool is_identity(int n)
{
    for (int i = 0; i < n; i++)
        if (map[i] != i)
            return false;
    return true;
}

/* Everybody once; cheaper, or nothing changed; and the costs that are shown are true. */
static void check_map(const struct pattern *pattern)
{
    bool seen[MOST] = { false };
    ck_assert(reorder_map(pattern, seats, map));
    for (int i = 0; i < pattern->n; i++) {
        ck_assert(map[i] >= 0 && map[i] < pattern->n && !seen[map[i]]);
        seen[map[i]] = true;
    }
    int64_t before = reorder_cost(pattern, seats, NULL),
            after = reorder_cost(pattern, seats, map);
    ck_assert_int_eq(before, counted(pattern, NULL));
    ck_assert_int_eq(after, counted(pattern, map));
    ck_assert(after < before || is_identity(pattern->n));
}

#define UNEVEN   "uneven.xml"
#define NO_L3    "no_l3.xml"
#define CLUSTERS "package:2 numa:2 l3:1 core:4 pu:1(indexes=2*8:1*2)"
#define POWER    "package:2 numa:1 l3:4 core:2 pu:4"

static const struct row {
    const char *machine;
    int nodes;
    enum level by;
    int n, dims[3];
    bool torus;
    int64_t before, after; /* hop costs; equal: the order stays */
} rows[] = {
    { UNEVEN, 1, LEVEL_PACKAGE, 16, { 4, 4 }, false, 226, 116 },
    { UNEVEN, 1, LEVEL_L3, 24, { 4, 6 }, true, 432, 255 },
    { UNEVEN, 1, LEVEL_SLOT, 28, { 7, 4 }, false, 208, 194 },
    { UNEVEN, 1, LEVEL_SLOT, 28, { 28 }, false, 80, 80 },
    { UNEVEN, 4, LEVEL_PACKAGE, 56, { 8, 7 }, false, 2560, 1512 },
    { NO_L3, 1, LEVEL_NUMA, 48, { 6, 8 }, true, 576, 496 },
    { NO_L3, 1, LEVEL_SLOT, 48, { 48 }, false, 200, 200 },
    { NO_L3, 2, LEVEL_NUMA, 64, { 4, 4, 4 }, false, 1728, 1664 },
    { CLUSTERS, 1, LEVEL_NUMA, 16, { 4, 4 }, true, 224, 224 },
    { CLUSTERS, 4, LEVEL_SLOT, 64, { 8, 8 }, false, 2208, 1536 },
    { CLUSTERS, 2, LEVEL_SLOT, 32, { 32 }, false, 176, 176 },
    { POWER, 1, LEVEL_L3, 16, { 2, 2, 4 }, false, 192, 144 },
    { POWER, 1, LEVEL_PACKAGE, 32, { 4, 8 }, false, 544, 176 },
};

START_TEST(grids_on_recorded_machines)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *row = &rows[i];
        int periods[3] = { row->torus, row->torus, row->torus };
        struct pattern pattern = { 0 };
        seats_on(row->machine, row->nodes, row->by, row->n);
        int ndims = row->dims[2] ? 3 : row->dims[1] ? 2 : 1;
        ck_assert(pattern_of_grid(row->n, ndims, row->dims, periods, &pattern));
        check_map(&pattern);
        int64_t before = counted(&pattern, NULL), after = counted(&pattern, map);
        ck_assert_msg(before == row->before && after <= row->after,
                      "row %zu (%s): %lld to %lld, not %lld to %lld", i, row->machine,
                      (long long)before, (long long)after, (long long)row->before,
                      (long long)row->after);
        ck_assert(row->before != row->after || is_identity(row->n));
        free((void *)pattern.bonds);
    }
}
END_TEST

/* Graphs without a shape: a few random neighbours, and pairs that were torn apart. */
START_TEST(graphs_on_recorded_machines)
{
    static const char *const machines[] = { UNEVEN, NO_L3, CLUSTERS, POWER };
    struct bond bonds[4 * MOST];
    for (size_t m = 0; m < sizeof machines / sizeof machines[0]; m++)
        for (unsigned seed = 1; seed <= 6; seed++) {
            int n = 16;
            size_t nbonds = 0;
            seats_on(machines[m], 1 + seed % 2, seed % 3 ? LEVEL_PACKAGE : LEVEL_CORE, n);
            for (int i = 0; i < n; i++) {
                int far = (int)((unsigned)i * 7 + seed * 5) % n;
                bonds[nbonds++] = (struct bond){ i, (i + n / 2) % n, 3 };
                bonds[nbonds++] = (struct bond){ i, far, (int)seed % 4 };
            }
            check_map(&(struct pattern){ .n = n, .nbonds = nbonds, .bonds = bonds });
        }
}
END_TEST

UNIT_MAIN("shapes", grids_on_recorded_machines, graphs_on_recorded_machines)
