/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Placement on machines of all shapes, made by hwloc from one line of text.
 */
#include "launcher/map.h"
#include "launcher/remote.h"

#include "test/unit/unit.h"

#include <stdio.h>
#include <string.h>

static const char laptop[] = "package:1 core:2 pu:2";
static const char server[] = "package:2 numa:2 l3:1 core:2 pu:1"; /* 8 cores, 4 NUMA nodes */
static const char threads[] = "package:2 numa:1 core:2 pu:2(indexes=0,4,1,5,2,6,3,7)";
static const char plain[] = "pu:2";

/* "0-1|2|any" for the ranks of a job. */
static const char *placed(const char *machine, const struct map_options *decided, int nranks)
{
    static char text[512];
    struct topology topology;
    struct placement placements[64];
    const char *why;
    ck_assert_msg(topology_synthetic(&topology, machine, NULL, &why) == 0, "%s", why);
    map_cpus(&topology, decided, nranks, placements);
    size_t used = 0;
    for (int i = 0; i < nranks; i++) {
        char cpus[128];
        cpuset_format(&placements[i].cpus, cpus, sizeof cpus);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? "|" : "",
                                 *cpus ? cpus : "any");
    }
    topology_free(&topology);
    return text;
}

START_TEST(ranks_go_where_they_should)
{
    static const struct {
        const char *machine;
        struct map_options decided; /* by, per, pe, to, per_host */
        int nranks;
        const char *cpus;
    } rows[] = {
        { laptop, { LEVEL_SLOT, 0, 1, LEVEL_CORE, 0 }, 2, "0-1|2-3" },
        { laptop, { LEVEL_SLOT, 0, 1, LEVEL_CORE, 0 }, 3, "0-1|2-3|0-1" },
        { laptop, { LEVEL_SLOT, 0, 1, LEVEL_HWTHREAD, 0 }, 2, "0|2" },
        { laptop, { LEVEL_HWTHREAD, 0, 1, LEVEL_HWTHREAD, 0 }, 4, "0|1|2|3" },
        { laptop, { LEVEL_SLOT, 0, 1, LEVEL_NONE, 0 }, 2, "any|any" },
        { laptop, { LEVEL_SLOT, 0, 2, LEVEL_CORE, 0 }, 1, "0-3" },
        { server, { LEVEL_SLOT, 0, 1, LEVEL_CORE, 0 }, 4, "0|1|2|3" },
        { server, { LEVEL_NUMA, 0, 1, LEVEL_CORE, 0 }, 6, "0|2|4|6|1|3" },
        { server, { LEVEL_PACKAGE, 0, 1, LEVEL_CORE, 0 }, 4, "0|4|1|5" },
        { server, { LEVEL_PACKAGE, 0, 2, LEVEL_CORE, 0 }, 4, "0-1|4-5|2-3|6-7" },
        { server, { LEVEL_PACKAGE, 0, 1, LEVEL_NUMA, 0 }, 4, "0-1|4-5|0-1|4-5" },
        { server, { LEVEL_PACKAGE, 0, 1, LEVEL_PACKAGE, 0 }, 2, "0-3|4-7" },
        { server, { LEVEL_L3, 0, 1, LEVEL_CORE, 0 }, 4, "0|2|4|6" },
        { server, { LEVEL_NUMA, 2, 1, LEVEL_CORE, 0 }, 8, "0|1|2|3|4|5|6|7" },
        { server, { LEVEL_PACKAGE, 1, 2, LEVEL_CORE, 0 }, 2, "0-1|4-5" },
        { server, { LEVEL_PACKAGE, 2, 1, LEVEL_CORE, 0 }, 6, "0|1|4|5|2|3" },
        { server, { LEVEL_SLOT, 0, 3, LEVEL_CORE, 0 }, 3, "0-2|3-5|0,6-7" },
        { threads, { LEVEL_SLOT, 0, 1, LEVEL_CORE, 0 }, 4, "0,4|1,5|2,6|3,7" },
        { threads, { LEVEL_PACKAGE, 0, 1, LEVEL_HWTHREAD, 0 }, 4, "0|2|1|3" },
        { threads, { LEVEL_CORE, 2, 1, LEVEL_CORE, 0 }, 4, "0,4|0,4|1,5|1,5" },
        { threads, { LEVEL_SLOT, 0, 1, LEVEL_PACKAGE, 0 }, 2, "0-1,4-5|0-1,4-5" },
        { plain, { LEVEL_SLOT, 0, 1, LEVEL_CORE, 0 }, 2, "0|1" },
        { plain, { LEVEL_NUMA, 0, 1, LEVEL_CORE, 0 }, 2, "0|1" },
        { plain, { LEVEL_PACKAGE, 0, 1, LEVEL_L3, 0 }, 1, "0-1" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *cpus = placed(rows[i].machine, &rows[i].decided, rows[i].nranks);
        ck_assert_msg(strcmp(cpus, rows[i].cpus) == 0, "row %zu: %s, not %s", i, cpus,
                      rows[i].cpus);
    }
}
END_TEST

/* Rooms and ranks as map_cpus deals them. */
START_TEST(objects_have_room_for_ranks)
{
    static const struct {
        const char *machine;
        struct map_options decided;
        int nranks;
        bool threads;
        struct map_fit fit;
    } rows[] = {
        { laptop, { LEVEL_SLOT, 0, 1, LEVEL_CORE, 0 }, 3, false, { 2, 2, 3 } },
        { laptop, { LEVEL_SLOT, 0, 1, LEVEL_CORE, 0 }, 3, true, { 4, 4, 3 } },
        { laptop, { LEVEL_HWTHREAD, 0, 1, LEVEL_HWTHREAD, 0 }, 3, true, { 4, 4, 3 } },
        { server, { LEVEL_NUMA, 0, 1, LEVEL_CORE, 0 }, 6, false, { 2, 2, 2 } },
        { server, { LEVEL_NUMA, 0, 1, LEVEL_CORE, 0 }, 1, false, { 2, 2, 1 } },
        { server, { LEVEL_PACKAGE, 2, 1, LEVEL_CORE, 0 }, 7, false, { 4, 4, 4 } },
        { server, { LEVEL_CORE, 2, 1, LEVEL_CORE, 0 }, 16, false, { 1, 1, 2 } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct topology topology;
        const char *why;
        ck_assert_int_eq(topology_synthetic(&topology, rows[i].machine, NULL, &why), 0);
        struct map_fit fit =
            map_fit(&topology, &rows[i].decided, rows[i].nranks, rows[i].threads);
        ck_assert_msg(memcmp(&fit, &rows[i].fit, sizeof fit) == 0, "row %zu: %d, %d for %d", i,
                      fit.fewest, fit.room, fit.ranks);
        topology_free(&topology);
    }
}
END_TEST

START_TEST(places_say_what_is_shared)
{
    struct topology topology;
    const char *why;
    ck_assert_int_eq(topology_synthetic(&topology, server, NULL, &why), 0);
    struct map_options decided = { .by = LEVEL_SLOT, .pe = 1, .to = LEVEL_CORE };
    struct placement p[8];
    map_cpus(&topology, &decided, 8, p);
    ck_assert_int_eq(p[5].place.package, 1);
    ck_assert_int_eq(p[5].place.numa, 2);
    ck_assert_int_eq(p[5].place.l3, 2);
    ck_assert_int_eq(p[5].place.core, 5);
    decided.to = LEVEL_PACKAGE;
    map_cpus(&topology, &decided, 8, p);
    ck_assert_int_eq(p[5].place.package, 1);
    ck_assert_int_eq(p[5].place.numa, -1);
    ck_assert_int_eq(p[5].place.core, -1);
    decided.to = LEVEL_NONE;
    map_cpus(&topology, &decided, 8, p);
    ck_assert_int_eq(p[5].place.package, -1);
    topology_free(&topology);
}
END_TEST

static bool same_topology(const struct topology *a, const struct topology *b)
{
    return a->npus == b->npus && a->ncores == b->ncores && a->nl3 == b->nl3 &&
           a->nnuma == b->nnuma && a->npackages == b->npackages &&
           memcmp(a->pus, b->pus, (size_t)a->npus * sizeof *a->pus) == 0;
}

START_TEST(shapes_travel)
{
    static const char *const machines[] = { laptop, server, threads, plain };
    for (int i = 0; i < 4; i++) {
        struct topology sent, got;
        struct pack pack = { 0 };
        const char *why;
        ck_assert_int_eq(topology_synthetic(&sent, machines[i], NULL, &why), 0);
        shape_pack(&pack, &sent);
        struct unpack from = { pack.bytes, pack.bytes + pack.n, false };
        shape_unpack(&from, &got);
        ck_assert(!from.bad && from.at == from.end);
        ck_assert(same_topology(&sent, &got));
        topology_free(&got);
        for (size_t n = 0; n < pack.n; n++) { /* cut short */
            from = (struct unpack){ pack.bytes, pack.bytes + n, false };
            shape_unpack(&from, &got);
            ck_assert(from.bad && got.npus == 0);
        }
        topology_free(&sent);
        pack_free(&pack);
    }
}
END_TEST

START_TEST(shapes_out_of_range_are_refused)
{
    static const int64_t rows[][6] = {
        { 1, CPUS_MAX, 0, 0, 0, 0 }, { 1, 0, -1, 0, 0, 0 }, { 1, 0, 0, -2, 0, 0 },
        { 1, 0, 0, 0, 1 << 20, 0 },  { -1, 0, 0, 0, 0, 0 }, { 1ll << 40, 0, 0, 0, 0, 0 }
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct pack pack = { 0 };
        for (int j = 0; j < 6; j++)
            pack_number(&pack, rows[i][j]);
        struct unpack from = { pack.bytes, pack.bytes + pack.n, false };
        struct topology got;
        shape_unpack(&from, &got);
        ck_assert(from.bad && got.npus == 0);
        pack_free(&pack);
    }
}
END_TEST

/* ppr on hosts that are not alike. */
START_TEST(each_host_takes_what_its_objects_take)
{
    struct host hosts[] = { { .name = "a", .by_objects = 2 },
                            { .name = "b", .by_objects = 3 } };
    struct map_options map = { .by = LEVEL_NUMA, .per = 1 };
    int host_of[7];
    static const int wanted[7] = { 0, 0, 1, 1, 1, 0, 0 };
    ck_assert_int_eq(map_hosts(hosts, 2, &map, 7, host_of), 7);
    ck_assert_mem_eq(host_of, wanted, sizeof wanted);
}
END_TEST

START_TEST(forbidden_cpus_do_not_exist)
{
    struct cpuset allowed = { { 0 } };
    ck_assert(cpuset_parse(&allowed, "1-2,5-6"));
    struct topology topology;
    const char *why;
    ck_assert_int_eq(topology_synthetic(&topology, server, &allowed, &why), 0);
    ck_assert_int_eq(topology.npus, 4);
    ck_assert_int_eq(topology.ncores, 4);
    ck_assert_int_eq(topology.nnuma, 4);
    ck_assert_int_eq(topology.npackages, 2);
    struct map_options decided = { .by = LEVEL_PACKAGE, .pe = 1, .to = LEVEL_PACKAGE };
    struct placement p[2];
    map_cpus(&topology, &decided, 2, p);
    char text[32];
    ck_assert_str_eq(cpuset_format(&p[1].cpus, text, sizeof text), "5-6");
    topology_free(&topology);
}
END_TEST

START_TEST(the_default_binds_only_when_it_cannot_hurt)
{
    static const struct {
        int cores, slots, nranks;
        bool batch;
        struct map_options wish;
        enum level to, by;
        int pe;
    } rows[] = {
        /* as large as the machine */
        { 8, 8, 8, false, { 0 }, LEVEL_CORE, LEVEL_SLOT, 1 },
        /* a part of it: another job would take the same cores */
        { 8, 8, 4, false, { 0 }, LEVEL_NONE, LEVEL_SLOT, 2 },
        /* unless the cores are ours; then each rank gets its share */
        { 8, 8, 4, true, { 0 }, LEVEL_CORE, LEVEL_SLOT, 2 },
        { 8, 8, 3, true, { 0 }, LEVEL_CORE, LEVEL_SLOT, 2 },
        /* crowded */
        { 8, 8, 9, true, { 0 }, LEVEL_NONE, LEVEL_SLOT, 1 },
        /* a quota: the cores are shared with others */
        { 8, 2, 2, false, { 0 }, LEVEL_NONE, LEVEL_SLOT, 1 },
        /* wishes */
        { 8, 8, 2, false, { .to = LEVEL_CORE }, LEVEL_CORE, LEVEL_SLOT, 1 },
        { 8, 8, 16, false, { .to = LEVEL_CORE }, LEVEL_CORE, LEVEL_SLOT, 1 },
        { 8, 8, 8, false, { .to = LEVEL_NONE }, LEVEL_NONE, LEVEL_SLOT, 1 },
        { 8, 8, 2, false, { .pe = 3 }, LEVEL_CORE, LEVEL_SLOT, 3 },
        { 8, 8, 2, false, { .to = LEVEL_HWTHREAD }, LEVEL_HWTHREAD, LEVEL_HWTHREAD, 1 },
        { 8, 8, 8, false, { .by = LEVEL_NUMA }, LEVEL_CORE, LEVEL_NUMA, 1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct budget budget = { .cores = rows[i].cores,
                                 .pus = rows[i].cores,
                                 .slots = rows[i].slots };
        struct map_options d =
            map_decide(&rows[i].wish, &budget, rows[i].nranks, rows[i].batch);
        ck_assert_msg(d.to == rows[i].to && d.by == rows[i].by && d.pe == rows[i].pe,
                      "row %zu: bind %s, map %s, pe %d", i, level_name(d.to), level_name(d.by),
                      d.pe);
        ck_assert_int_eq(map_is_crowded(&budget, rows[i].nranks),
                         rows[i].nranks > rows[i].slots);
    }
}
END_TEST

START_TEST(hosts_are_filled_in_turn)
{
    static const struct {
        int slots[3], max[3], cores;
        struct map_options options;
        int nranks;
        const char *hosts;
        int taken[3];
    } rows[] = {
        { { 2, 1, 2 }, { 0 }, 8, { 0 }, 5, "00122", { 0 } },
        { { 2, 1, 2 }, { 0 }, 8, { 0 }, 7, "0012200", { 0 } },
        { { 2, 2, 2 }, { 0 }, 8, { .by = LEVEL_NODE }, 5, "01201", { 0 } },
        { { 4, 4, 4 }, { 0 }, 8, { .per_host = 2 }, 6, "001122", { 0 } },
        { { 0, 0, 0 }, { 0 }, 8, { .per_host = 2 }, 7, "0011220", { 0 } },
        /* nobody said slots: equal blocks, the first ones longer */
        { { 0, 0, 0 }, { 0 }, 2, { 0 }, 2, "01", { 0 } },
        { { 0, 0, 0 }, { 0 }, 2, { 0 }, 3, "012", { 0 } },
        { { 0, 0, 0 }, { 0 }, 2, { 0 }, 5, "00112", { 0 } },
        { { 0, 0, 0 }, { 0 }, 2, { 0 }, 6, "001122", { 0 } },
        /* more than cores: host after host, and round again */
        { { 0, 0, 0 }, { 0 }, 1, { 0 }, 4, "0120", { 0 } },
        { { 0, 0, 0 }, { 0 }, 2, { 0 }, 8, "00112200", { 0 } },
        { { 0, 4, 0 }, { 0 }, 2, { 0 }, 8, "00111122", { 0 } },
        /* limits */
        { { 2, 1, 2 }, { 2, 0, 2 }, 8, { 0 }, 7, "0012211", { 0 } },
        { { 2, 1, 2 }, { 3, 1, 2 }, 8, { 0 }, 7, "001220", { 0 } },
        { { 1, 1, 1 }, { 1, 1, 1 }, 8, { .by = LEVEL_NODE }, 5, "012", { 0 } },
        /* other jobs are there: free slots first, then round again */
        { { 2, 2, 2 }, { 0 }, 8, { 0 }, 4, "1220", { 2, 1, 0 } },
        { { 2, 2, 2 }, { 0 }, 8, { 0 }, 5, "00112", { 2, 2, 2 } },
        { { 2, 1, 2 }, { 0 }, 8, { 0 }, 4, "0012", { 2, 1, 2 } },
        { { 2, 2, 2 }, { 2, 3, 2 }, 8, { 0 }, 5, "221", { 2, 2, 0 } },
        { { 2, 2, 2 }, { 0 }, 8, { .by = LEVEL_NODE }, 3, "012", { 2, 0, 0 } },
        { { 0, 0, 0 }, { 0 }, 2, { 0 }, 3, "012", { 2, 0, 0 } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct host hosts[3] = { { 0 } };
        int host_of[8];
        char text[9] = "";
        for (int h = 0; h < 3; h++) {
            hosts[h].slots = rows[i].slots[h];
            hosts[h].max_slots = rows[i].max[h];
            hosts[h].taken = rows[i].taken[h];
            hosts[h].budget.slots = rows[i].cores;
        }
        int placed = map_hosts(hosts, 3, &rows[i].options, rows[i].nranks, host_of);
        for (int r = 0; r < placed; r++)
            text[r] = (char)('0' + host_of[r]);
        ck_assert_msg(strcmp(text, rows[i].hosts) == 0, "row %zu: %s, not %s", i, text,
                      rows[i].hosts);
    }
}
END_TEST

START_TEST(cpu_lists_read_and_print)
{
    static const char *const lists[] = { "0", "0-3", "1,3,5", "0-1,4-5,4095" };
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        struct cpuset set = { { 0 } };
        char text[64];
        ck_assert(cpuset_parse(&set, lists[i]));
        ck_assert_str_eq(cpuset_format(&set, text, sizeof text), lists[i]);
    }
    for (int odd = 0; odd < 2; odd++) { /* the longest ones */
        struct cpuset set = { { 0 } }, read = { { 0 } };
        char text[CPUS_CHARS];
        for (int cpu = odd; cpu < CPUS_MAX; cpu += 2)
            cpuset_add(&set, cpu);
        ck_assert(cpuset_parse(&read, cpuset_format(&set, text, sizeof text)));
        ck_assert_int_eq(cpuset_count(&read), CPUS_MAX / 2);
    }
    static const char *const wrong[] = { "x", "3-1", "4096", "1-", "-1", "1;2" };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct cpuset set = { { 0 } };
        ck_assert_msg(!cpuset_parse(&set, wrong[i]), "%s", wrong[i]);
    }
}
END_TEST

START_TEST(this_machine_has_cpus)
{
    struct budget budget;
    budget_read(&budget, false);
    ck_assert_int_ge(budget.pus, budget.cores);
    ck_assert_int_ge(budget.cores, budget.slots);
    ck_assert_int_ge(budget.slots, 1);
    struct topology topology;
    const char *why;
    ck_assert_msg(topology_load(&topology, &budget.allowed, &why) == 0, "%s", why);
    ck_assert_int_eq(topology.npus, budget.pus);
    ck_assert_int_eq(topology.ncores, budget.cores);
    topology_free(&topology);
    ck_assert_int_eq(topology_synthetic(&topology, "nonsense", NULL, &why), -1);
}
END_TEST

/* Two of four hosts are one machine, and of two others nobody knows what they are. */
START_TEST(hosts_that_share_cpus)
{
    static const int host_of[] = { 0, 0, 1, 2, 3, 3 };
    struct map_options wish = { .by = LEVEL_UNSET, .to = LEVEL_UNSET };
    struct host hosts[4] = { 0 };
    for (int i = 0; i < 4; i++)
        hosts[i].budget = (struct budget){ .cores = 3, .slots = 3, .cpus = i & 1 ? 0 : 7 };
    hosts[2].budget.slots = 2;
    map_others(hosts, 4, 6, host_of);
    ck_assert_int_eq(hosts[0].budget.others, 1);
    ck_assert_int_eq(hosts[2].budget.others, 2);
    ck_assert(!hosts[1].budget.others && !hosts[3].budget.others);
    ck_assert(!map_is_crowded(&hosts[0].budget, 2));
    ck_assert(map_is_crowded(&hosts[2].budget, 1));
    /* As many ranks as cores, but not in one place: they would all be bound to the first ones. */
    ck_assert(map_decide(&wish, &hosts[3].budget, 3, false).to == LEVEL_CORE);
    ck_assert(map_decide(&wish, &hosts[0].budget, 3, true).to == LEVEL_NONE);
}
END_TEST

UNIT_MAIN("map", ranks_go_where_they_should, objects_have_room_for_ranks,
          places_say_what_is_shared, forbidden_cpus_do_not_exist, shapes_travel,
          shapes_out_of_range_are_refused, each_host_takes_what_its_objects_take,
          the_default_binds_only_when_it_cannot_hurt, hosts_are_filled_in_turn,
          hosts_that_share_cpus, cpu_lists_read_and_print, this_machine_has_cpus)
