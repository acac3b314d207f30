/* SPDX-License-Identifier: BSD-3-Clause
 *
 * CPU sets as text, and the set the kernel lets this process use.
 */
#include "launcher/cpuset.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

void cpuset_allowed(struct cpuset *set)
{
    memset(set, 0, sizeof *set);
    /* The system call, not the wrapper: it tells how much it wrote. */
    long bytes = syscall(SYS_sched_getaffinity, 0, sizeof set->word, set->word);
    if (bytes <= 0 || cpuset_is_empty(set)) {
        long online = sysconf(_SC_NPROCESSORS_ONLN);
        for (int i = 0; i < CPUS_MAX && (i == 0 || i < online); i++)
            cpuset_add(set, i);
    }
}

const char *cpuset_format(const struct cpuset *set, char *text, size_t room)
{
    size_t used = 0;
    text[0] = 0;
    for (int cpu = 0; cpu < CPUS_MAX; cpu++) {
        if (!cpuset_has(set, cpu))
            continue;
        int last = cpu;
        while (cpuset_has(set, last + 1))
            last++;
        const char *comma = used ? "," : "";
        int n = last > cpu ? snprintf(text + used, room - used, "%s%d-%d", comma, cpu, last)
                           : snprintf(text + used, room - used, "%s%d", comma, cpu);
        if (n < 0 || (size_t)n >= room - used) {
            text[used] = 0;
            break;
        }
        used += (size_t)n;
        cpu = last;
    }
    return text;
}

bool cpuset_parse(struct cpuset *set, const char *text)
{
    while (*text && *text != '\n') {
        char *end;
        long first = strtol(text, &end, 10), last = first;
        if (end == text)
            return false;
        if (*end == '-') {
            text = end + 1;
            last = strtol(text, &end, 10);
            if (end == text)
                return false;
        }
        if (first < 0 || last < first || last >= CPUS_MAX)
            return false;
        for (long cpu = first; cpu <= last; cpu++)
            cpuset_add(set, (int)cpu);
        if (*end != ',' && *end != 0 && *end != '\n')
            return false;
        text = *end == ',' ? end + 1 : end;
    }
    return true;
}
