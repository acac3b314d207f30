/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How much memory this process has, for programs that look for leaks.
 */
#ifndef TEST_MEMORY_H
#define TEST_MEMORY_H

#include "test/conform/check.h"

#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 }; /* they keep what was freed */
#else
enum { SANITIZED = 0 };
#endif

/* Resident memory of this process without files and shared segments, in KiB. */
static inline long memory(void)
{
    long pages = 0, resident = 0, shared = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%ld %ld %ld", &pages, &resident, &shared) == 3);
    fclose(file);
    return (resident - shared) * (sysconf(_SC_PAGESIZE) / 1024);
}

#endif
