/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A set of CPUs by their number in the operating system: a fixed bitmap, so that it can live in
 * tables and be handed to sched_setaffinity as it is, between fork and exec.
 */
#ifndef XMPI_LAUNCHER_CPUSET_H
#define XMPI_LAUNCHER_CPUSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    CPUS_MAX = 4096,
    CPUS_WORDS = CPUS_MAX / 64,
    CPUS_CHARS = CPUS_MAX / 2 * 5 + 1 /* room for every list: "1,3,..,4095" is the longest */
};

struct cpuset {
    uint64_t word[CPUS_WORDS];
};

static inline void cpuset_add(struct cpuset *set, int cpu)
{
    set->word[cpu / 64] |= 1ull << (cpu % 64);
}

static inline bool cpuset_has(const struct cpuset *set, int cpu)
{
    return cpu >= 0 && cpu < CPUS_MAX && (set->word[cpu / 64] >> (cpu % 64) & 1);
}

static inline int cpuset_count(const struct cpuset *set)
{
    int n = 0;
    for (int i = 0; i < CPUS_WORDS; i++)
        n += __builtin_popcountll(set->word[i]);
    return n;
}

static inline bool cpuset_is_empty(const struct cpuset *set)
{
    for (int i = 0; i < CPUS_WORDS; i++)
        if (set->word[i])
            return false;
    return true;
}

/* The CPUs this process may run on; at least one. */
void cpuset_allowed(struct cpuset *set);

/* The kernel's list form, "0-3,8"; CPUS_CHARS are room enough.  Returns `text`. */
const char *cpuset_format(const struct cpuset *set, char *text, size_t room);

/* Add the CPUs of a list ("0-3,8"); false when it is not one. */
bool cpuset_parse(struct cpuset *set, const char *text);

#endif
