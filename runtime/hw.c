/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counting CPUs without hwloc: a few system calls.  Quotas are looked up in the group of this
 * process and all groups above it, in both versions of control groups; the tightest holds.
 */
#define _GNU_SOURCE 1 /* CPU_ALLOC and friends */
#include "runtime/hw.h"

#include "runtime/system_text.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_CPUS = 8192, PATH_CHARS = 4096 };

/* ---- the affinity mask ---- */

static int mask_cpus(pid_t pid)
{
    cpu_set_t *mask = CPU_ALLOC(MOST_CPUS);
    if (!mask)
        return 0;
    size_t bytes = CPU_ALLOC_SIZE(MOST_CPUS);
    CPU_ZERO_S(bytes, mask);
    int cpus = sched_getaffinity(pid, bytes, mask) == 0 ? CPU_COUNT_S(bytes, mask) : 0;
    CPU_FREE(mask);
    return cpus;
}

int hw_only_cpu(void)
{
    cpu_set_t *mask = CPU_ALLOC(MOST_CPUS);
    int only = -1;
    if (!mask)
        return -1;
    size_t bytes = CPU_ALLOC_SIZE(MOST_CPUS);
    CPU_ZERO_S(bytes, mask);
    if (sched_getaffinity(0, bytes, mask) == 0 && CPU_COUNT_S(bytes, mask) == 1)
        for (int cpu = 0; cpu < MOST_CPUS && only < 0; cpu++)
            if (CPU_ISSET_S(cpu, bytes, mask))
                only = cpu;
    CPU_FREE(mask);
    return only;
}

/* ---- quotas ---- */

/* "max 100000" or "150000 100000": CPUs, rounded up, or `most`. */
static int quota_v2(const char *folder, int most)
{
    char path[PATH_CHARS + 32], text[64];
    long quota, period;
    snprintf(path, sizeof path, "%s/cpu.max", folder);
    if (!system_text(path, text, sizeof text) ||
        sscanf(text, "%ld %ld", &quota, &period) != 2 || quota <= 0 || period <= 0)
        return most;
    long cpus = (quota + period - 1) / period;
    return cpus < most ? (int)cpus : most;
}

static int quota_v1(const char *folder, int most)
{
    char path[PATH_CHARS + 32], quota[32], period[32];
    snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", folder);
    if (!system_text(path, quota, sizeof quota))
        return most;
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
    if (!system_text(path, period, sizeof period) || atol(quota) <= 0 || atol(period) <= 0)
        return most;
    long cpus = (atol(quota) + atol(period) - 1) / atol(period);
    return cpus < most ? (int)cpus : most;
}

/* Walk from the group `group` below `mount` up to the mount itself. */
static int quota_above(const char *mount, const char *group, int most,
                       int (*quota)(const char *folder, int most))
{
    char folder[PATH_CHARS];
    int used = snprintf(folder, sizeof folder, "%s%s", mount, group);
    if (used < 0 || used >= (int)sizeof folder)
        return most;
    for (;;) {
        most = quota(folder, most);
        char *slash = strrchr(folder, '/');
        if (!slash || slash < folder + strlen(mount))
            return most;
        *slash = '\0';
    }
}

static bool list_has(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = strstr(list, name); at; at = strstr(at + 1, name))
        if ((at == list || at[-1] == ',') && (at[n] == ',' || at[n] == '\0'))
            return true;
    return false;
}

/* Lines of /proc/self/cgroup: "id:controllers:/group"; controllers are empty in version 2. */
static int quota_cpus(int most)
{
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (!file)
        return most;
    char line[PATH_CHARS];
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        if (*++controllers == '\0')
            most = quota_above("/sys/fs/cgroup", group, most, quota_v2);
        else if (list_has(controllers, "cpu"))
            most = quota_above("/sys/fs/cgroup/cpu", group, most, quota_v1);
    }
    fclose(file);
    return most;
}

int hw_usable_cpus(void)
{
    int mine = mask_cpus(0), parents = mask_cpus(getppid());
    int cpus = mine > parents ? mine : parents;
    return quota_cpus(cpus > 0 ? cpus : 1);
}
