/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "runtime/huge_gap.h"
#include "runtime/system_text.h"

#include <stdio.h>
#include <sys/mman.h>

static uintptr_t mapped; /* bytes, of all gaps */
static int looks; /* at what the process has mapped, ever: each reads a file, and others wait */

bool huge_gap_map(uintptr_t from, uintptr_t to)
{
    if (from >= to)
        return true;
    void *wanted = (void *)from;
    void *got = mmap(wanted, to - from, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (got != MAP_FAILED && got != wanted) /* a kernel that does not know the flag */
        munmap(got, to - from);
    return got == wanted;
}

/* The one mapping that has a part of these bytes. */
struct mapping {
    uintptr_t first, end;
};

static bool mapping_find(struct mapping *only, uintptr_t block, uintptr_t bytes)
{
    struct system_lines maps;
    char rights[5], name[2];
    uintptr_t first, end;
    unsigned long inode;
    int found = 0;
    system_lines_open(&maps, "/proc/self/maps");
    for (const char *line; (line = system_line(&maps));) {
        int n = sscanf(line, "%lx-%lx %4s %*s %*s %lu %1s", &first, &end, rights, &inode, name);
        if (n < 4 || end <= block || first >= block + bytes)
            continue;
        bool is_plain = n == 4 && inode == 0 && rights[1] == 'w' && rights[3] == 'p';
        *only = (struct mapping){ first, end };
        found += is_plain ? 1 : 2;
    }
    system_lines_close(&maps);
    return found == 1;
}

bool huge_gaps_fill(struct huge_gaps *gaps, uintptr_t block, uintptr_t bytes)
{
    struct mapping only;
    uintptr_t end = block + bytes;
    *gaps = (struct huge_gaps){ { 0, 0 }, { 0, 0 } };
    if (mapped >= HUGE_GAPS_MOST || looks++ >= HUGE_GAP_LOOKS ||
        !mapping_find(&only, block, bytes))
        return false;
    uintptr_t below = only.first > block ? only.first : block;
    uintptr_t above = only.end < end ? only.end : end;
    if ((below == block && above == end) ||
        mapped + (below - block) + (end - above) > HUGE_GAPS_MOST)
        return false;
    if (!huge_gap_map(block, below))
        return false;
    gaps->below.from = block, gaps->below.to = below;
    bool is_whole = huge_gap_map(above, end);
    gaps->above.from = above, gaps->above.to = is_whole ? end : above;
    mapped += below - block + (is_whole ? end - above : 0);
    if (!is_whole)
        huge_gaps_empty(gaps);
    return is_whole;
}

void huge_gaps_empty(struct huge_gaps *gaps)
{
    uintptr_t below = gaps->below.to - gaps->below.from;
    uintptr_t above = gaps->above.to - gaps->above.from;
    if (below > 0)
        munmap((void *)gaps->below.from, below);
    if (above > 0)
        munmap((void *)gaps->above.from, above);
    mapped -= below + above;
    *gaps = (struct huge_gaps){ { 0, 0 }, { 0, 0 } };
}
