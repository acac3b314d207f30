/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which part of the machine this process is bound to, as the kernel tells in /sys: each CPU has
 * lists of the CPUs that share its package, its NUMA node, its L3 cache, its core.  A process
 * whose CPUs are all in one such list runs there.  The part's number is its lowest CPU, so all
 * processes of a node count alike, however they were started and bound.
 *
 *     may run on 4 5       package 0-7   NUMA node 4-7   L3 4-7   core 4 and core 5
 *     place                        0               4        4             -1
 *
 * Cost: the affinity mask and four small files, 50 us; one more file per NUMA node.
 */
#define _GNU_SOURCE 1 /* CPU_ALLOC and friends */
#include "runtime/hw.h"

#include "runtime/system_text.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_CPUS = 8192, PATH_CHARS = 512, LIST_CHARS = 8192 };

/* ---- lists of CPUs: "0-3,8-11" ---- */

static bool list_read(const char *folder, const char *name, int number, char *list)
{
    char path[PATH_CHARS], file_name[PATH_CHARS / 2];
    snprintf(file_name, sizeof file_name, name, number);
    int chars = snprintf(path, sizeof path, "%s/%s", folder, file_name);
    return chars < (int)sizeof path && system_text(path, list, LIST_CHARS);
}

/* The next range of a list; false at its end. */
static bool list_next(const char **at, int *first, int *last)
{
    char *end;
    *first = *last = (int)strtol(*at, &end, 10);
    if (end == *at)
        return false;
    if (*end == '-')
        *last = (int)strtol(end + 1, &end, 10);
    *at = end + (*end == ',');
    return true;
}

static bool list_has(const char *list, int cpu)
{
    int first, last;
    while (list_next(&list, &first, &last))
        if (cpu >= first && cpu <= last)
            return true;
    return false;
}

/* The lowest CPU of a list that has all of these; -1: it has not. */
static int list_covers(const char *list, const int *cpus, int n)
{
    for (int i = 0; i < n; i++)
        if (!list_has(list, cpus[i]))
            return -1;
    return atoi(list);
}

/* ---- places ---- */

static int place_among(const char *folder, const char *const names[], const int *cpus, int n)
{
    char list[LIST_CHARS];
    for (int i = 0; names[i]; i++)
        if (list_read(folder, names[i], cpus[0], list))
            return list_covers(list, cpus, n);
    return -1;
}

/* Without folders of nodes the machine is one. */
static int place_numa(const char *folder, const int *cpus, int n)
{
    char nodes[LIST_CHARS], list[LIST_CHARS];
    if (!list_read(folder, "node/online", 0, nodes))
        return 0;
    const char *at = nodes;
    for (int first, last; list_next(&at, &first, &last);)
        for (int node = first; node <= last; node++)
            if (list_read(folder, "node/node%d/cpulist", node, list) && list_has(list, cpus[0]))
                return list_covers(list, cpus, n);
    return -1;
}

struct hw_place hw_place_of(const char *folder, const int *cpus, int n)
{
    static const char *const package[] = { "cpu/cpu%d/topology/package_cpus_list",
                                           "cpu/cpu%d/topology/core_siblings_list", NULL };
    static const char *const l3[] = { "cpu/cpu%d/cache/index3/shared_cpu_list", NULL };
    static const char *const core[] = { "cpu/cpu%d/topology/core_cpus_list",
                                        "cpu/cpu%d/topology/thread_siblings_list", NULL };
    struct hw_place nowhere = { -1, -1, -1, -1 };
    if (n == 0)
        return nowhere;
    return (struct hw_place){ .package = place_among(folder, package, cpus, n),
                              .numa = place_numa(folder, cpus, n),
                              .l3 = place_among(folder, l3, cpus, n),
                              .core = place_among(folder, core, cpus, n) };
}

struct hw_place hw_place(void)
{
    static const char system[] = "/sys/devices/system";
    cpu_set_t *mask = CPU_ALLOC(MOST_CPUS);
    int *cpus = malloc(MOST_CPUS * sizeof *cpus), n = 0;
    size_t bytes = CPU_ALLOC_SIZE(MOST_CPUS);
    if (mask && cpus && sched_getaffinity(0, bytes, mask) == 0)
        for (int cpu = 0; cpu < MOST_CPUS; cpu++)
            if (CPU_ISSET_S(cpu, bytes, mask))
                cpus[n++] = cpu;
    struct hw_place place = hw_place_of(system, cpus, n);
    free(cpus);
    CPU_FREE(mask);
    return place;
}
