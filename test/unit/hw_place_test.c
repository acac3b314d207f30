/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Places on a machine that is described by files: two packages of eight CPUs, two NUMA nodes and
 * L3 caches in each, cores of two threads that are numbered apart.
 */
#include "runtime/hw.h"

#include "unit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char top[] = "/tmp/xmpi-hw-XXXXXX";

/* Write a line into a file below the top, whose folders are made. */
static void put(const char *line, const char *format, ...)
{
    char path[256];
    int used = snprintf(path, sizeof path, "%s/", top);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(path + used, sizeof path - (size_t)used, format, arguments);
    va_end(arguments);
    for (char *slash = strchr(path + used, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "%s\n", line);
    fclose(file);
}

/* CPUs 0-3 and 8-11 are package 0 (NUMA nodes 0-1,8-9 and 2-3,10-11), 4-7 and 12-15 package 1. */
static void machine(const char *package_name)
{
    static const char *const packages[] = { "0-3,8-11", "4-7,12-15" };
    static const char *const nodes[] = { "0-1,8-9", "2-3,10-11", "4-5,12-13", "6-7,14-15" };
    for (int cpu = 0; cpu < 16; cpu++) {
        char core[16];
        snprintf(core, sizeof core, "%d,%d", cpu % 8, cpu % 8 + 8);
        put(packages[cpu % 8 / 4], "cpu/cpu%d/topology/%s", cpu, package_name);
        put(core, "cpu/cpu%d/topology/core_cpus_list", cpu);
        put(nodes[cpu % 8 / 2], "cpu/cpu%d/cache/index3/shared_cpu_list", cpu);
    }
    put("0-1,3,5", "node/online");
    put("0-1,8-9", "node/node0/cpulist");
    put("2-3,10-11", "node/node1/cpulist");
    put("4-5,12-13", "node/node3/cpulist");
    put("6-7,14-15", "node/node5/cpulist");
}

static void expect(int n, const int *cpus, int package, int numa, int l3, int core)
{
    struct hw_place place = hw_place_of(top, cpus, n);
    ck_assert_int_eq(place.package, package);
    ck_assert_int_eq(place.numa, numa);
    ck_assert_int_eq(place.l3, l3);
    ck_assert_int_eq(place.core, core);
}

static void remove_machine(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", top);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(parts_that_hold_all_cpus)
{
    ck_assert_ptr_nonnull(mkdtemp(top));
    machine("package_cpus_list");
    expect(1, (int[]){ 13 }, 4, 4, 4, 5);
    expect(2, (int[]){ 2, 10 }, 0, 2, 2, 2);
    expect(2, (int[]){ 14, 15 }, 4, 6, 6, -1);
    expect(3, (int[]){ 0, 3, 9 }, 0, -1, -1, -1);
    expect(2, (int[]){ 3, 4 }, -1, -1, -1, -1);
    expect(0, NULL, -1, -1, -1, -1);
    remove_machine();
}
END_TEST

START_TEST(older_kernels_and_less_to_know)
{
    ck_assert_ptr_nonnull(mkdtemp(top));
    machine("core_siblings_list");
    expect(2, (int[]){ 4, 15 }, 4, -1, -1, -1);
    remove_machine();
    ck_assert_int_eq(mkdir(top, 0700), 0);
    expect(1, (int[]){ 0 }, -1, 0, -1, -1);
    put("0-1", "cpu/cpu0/topology/package_cpus_list");
    expect(2, (int[]){ 0, 1 }, 0, 0, -1, -1);
    remove_machine();
}
END_TEST

START_TEST(this_machine)
{
    struct hw_place place = hw_place();
    ck_assert_int_ge(place.package, -1);
    if (hw_only_cpu() >= 0 && place.core >= 0)
        ck_assert_int_le(place.core, hw_only_cpu());
    if (place.core >= 0)
        ck_assert_int_ge(place.package, 0);
}
END_TEST

UNIT_MAIN("hw_place", parts_that_hold_all_cpus, older_kernels_and_less_to_know, this_machine)
