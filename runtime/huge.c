/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/huge.h"

#include "runtime/clock.h"
#include "runtime/log.h"
#include "runtime/param.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

/* ---- the count ---- */

void huge_begin(struct huge_count *count)
{
    memset(count, 0, sizeof *count);
    count->ns = HUGE_MOST_NS;
}

/* The pages a block must have been reached by, all copies together. */
static uint64_t pages_worth(const struct huge_count *count, const struct huge_block *block)
{
    return (count->ns / HUGE_SAVES_NS / 2) << block->tries;
}

/* Another block's entry is given up when it has lost as many pages as it had. */
struct huge_block *huge_due(struct huge_count *count, uintptr_t number, uint32_t pages)
{
    struct huge_block *block = &count->block[number % HUGE_ENTRIES];
    if (block->number != number) {
        if (block->pages > pages) {
            block->pages -= pages;
            return NULL;
        }
        *block = (struct huge_block){ .number = number };
    }
    block->pages += block->pages < UINT32_MAX - pages ? pages : 0;
    return block->pages >= pages_worth(count, block) ? block : NULL;
}

void huge_tried(struct huge_count *count, struct huge_block *block, enum huge_outcome outcome,
                uint64_t ns)
{
    if (outcome == HUGE_BUSY) { /* again soon */
        block->pages -= block->pages / 4;
        return;
    }
    if (outcome == HUGE_MOVED && block->tries == 0 && ns < count->ns)
        count->ns = ns; /* later tries may find nothing to do */
    block->pages = 0;
    block->tries += block->tries < HUGE_MOST_TRIES ? 4 : 0;
}

/* ---- the memory ---- */

static struct huge_count count;
static enum { NO, UNKNOWN, YES } works; /* NO: also before it is opened */
uint64_t huge_moved;

/* Do pages of this size exist, and are they allowed? */
static bool is_allowed(void)
{
    char text[64] = "";
    size_t size = 0;
    FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "re");
    if (file && fscanf(file, "%zu", &size) != 1)
        size = 0;
    if (file)
        fclose(file);
    file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");
    if (!file || !fgets(text, sizeof text, file))
        size = 0;
    if (file)
        fclose(file);
    return size == HUGE_BLOCK && sysconf(_SC_PAGESIZE) == HUGE_PAGE && !strstr(text, "[never]");
}

void huge_open(void)
{
    huge_begin(&count);
    works = param_number(HUGE_PAGES) ? UNKNOWN : NO;
    huge_moved = 0;
}

void huge_close(void)
{
    if (huge_moved > 0)
        log_at(1,
               "%llu blocks of 2 MiB that others copy were moved to large pages, %llu us each",
               (unsigned long long)huge_moved, (unsigned long long)(count.ns / 1000));
    works = NO;
}

static enum huge_outcome move(const struct huge_block *block)
{
    if (madvise((void *)(block->number * HUGE_BLOCK), HUGE_BLOCK, MADV_COLLAPSE) == 0)
        return HUGE_MOVED;
    return errno == EAGAIN || errno == EBUSY ? HUGE_BUSY : HUGE_NEVER;
}

/* Did it have to be tried? */
static bool reached(uintptr_t number, uint32_t pages)
{
    struct huge_block *block = huge_due(&count, number, pages);
    if (__builtin_expect(!block, 1))
        return false;
    if (works == UNKNOWN)
        works = is_allowed() ? YES : NO;
    if (works == NO)
        return false;
    int error = errno;
    uint64_t began = clock_ns();
    enum huge_outcome outcome = move(block);
    huge_tried(&count, block, outcome, clock_ns() - began);
    huge_moved += outcome == HUGE_MOVED;
    errno = error;
    return true;
}

void huge_reached(const void *memory, size_t bytes)
{
    uintptr_t at = (uintptr_t)memory, end = at + bytes, next;
    int tries = 0;
    for (; at < end && works != NO && tries < HUGE_AT_ONCE; at = next) {
        next = (at / HUGE_BLOCK + 1) * HUGE_BLOCK;
        next = next < end ? next : end;
        tries += reached(at / HUGE_BLOCK, (uint32_t)((next - at + HUGE_PAGE - 1) / HUGE_PAGE));
    }
}
