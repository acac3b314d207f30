/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/huge.h"

#include "runtime/clock.h"
#include "runtime/huge_gap.h"
#include "runtime/huge_heap.h"
#include "runtime/log.h"
#include "runtime/param.h"
#include "runtime/system_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

/* ---- the count ---- */

void huge_begin(struct huge_count *count, bool crowded)
{
    if (count->ns > 0) /* or nothing was counted, and its memory never touched */
        memset(count, 0, sizeof *count);
    count->ns = HUGE_FIRST_NS;
    count->parts = crowded ? HUGE_PARTS_CROWDED : HUGE_PARTS;
}

/* The pages a block must have been reached by, all copies together. */
static uint64_t pages_worth(const struct huge_count *count, const struct huge_block *block)
{
    return (count->ns / HUGE_SAVES_NS * count->parts / HUGE_WHOLE) << block->tries;
}

/* Who hits an entry of another block takes half as many pages from it, and the entry when these run out or when
 * the block was tried.  So of two that are used in turns first the one is moved and then the other. */
static bool entry_is(struct huge_block *block, uintptr_t number, uint32_t pages)
{
    if (block->number == number)
        return true;
    if (block->tries == 0 && block->pages > pages / 2) {
        block->pages -= (pages + 1) / 2;
        return false;
    }
    *block = (struct huge_block){ .number = number };
    return true;
}

struct huge_block *huge_due(struct huge_count *count, uintptr_t number, uint32_t pages)
{
    struct huge_block *block = &count->block[number % HUGE_ENTRIES];
    if (!entry_is(block, number, pages))
        return NULL;
    block->pages += block->pages < UINT32_MAX - pages ? pages : 0;
    bool is_due = block->pages >= pages_worth(count, block);
    return is_due && count->wasted < HUGE_WASTE_NS ? block : NULL;
}

bool huge_may(const struct huge_count *count, uint64_t now)
{
    return now >= count->rests;
}

/* How many times the pages until it is tried again double, where it was tried in vain or moved; a look at what is
 * where it belongs takes a microsecond or two, and halves them. */
static int tries_after(int tries, enum huge_outcome outcome, bool moved)
{
    enum { BUSY = 1, AGAIN = 2, NEVER = 4 };
    if (outcome == HUGE_MOVED && !moved)
        return tries > AGAIN ? tries - 1 : AGAIN;
    tries += outcome == HUGE_BUSY ? BUSY : outcome == HUGE_MOVED ? AGAIN : NEVER;
    return tries < HUGE_MOST_TRIES ? tries : HUGE_MOST_TRIES;
}

bool huge_tried(struct huge_count *count, struct huge_block *block, enum huge_outcome outcome,
                uint64_t ns, uint64_t now)
{
    uint64_t saved = now > HUGE_SAVED_NS ? now - HUGE_SAVED_NS : 0;
    count->rests = (count->rests > saved ? count->rests : saved) + (1 + HUGE_RESTS) * ns;
    bool moved = outcome == HUGE_MOVED && ns >= HUGE_LEAST_NS;
    if (moved)
        count->ns += ((int64_t)ns - (int64_t)count->ns) / HUGE_RECENT;
    if (outcome != HUGE_MOVED)
        count->wasted += ns;
    block->pages = 0;
    block->tries = (uint8_t)tries_after(block->tries, outcome, moved);
    return moved;
}

/* ---- the memory ---- */

static struct huge_count count;
static enum { NO, UNKNOWN, YES } works; /* NO: also before it is opened */
uint64_t huge_moved;

/* Do pages of this size exist, and are they allowed? */
static bool is_allowed(void)
{
    char size[32], text[64];
    system_text("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", size, sizeof size);
    system_text("/sys/kernel/mm/transparent_hugepage/enabled", text, sizeof text);
    return atol(size) == HUGE_BLOCK && sysconf(_SC_PAGESIZE) == HUGE_PAGE && *text &&
           !strstr(text, "[never]");
}

void huge_open(bool crowded)
{
    huge_begin(&count, crowded);
    works = param_number(HUGE_PAGES) ? UNKNOWN : NO;
    huge_moved = 0;
}

void huge_close(void)
{
    if (huge_moved > 0)
        log_line(
            "%llu blocks of 2 MiB that others copy were moved to large pages, %llu us each",
            (unsigned long long)huge_moved, (unsigned long long)(count.ns / 1000));
    works = NO;
}

static enum huge_outcome move(uintptr_t block)
{
    if (madvise((void *)block, HUGE_BLOCK, MADV_COLLAPSE) == 0)
        return HUGE_MOVED;
    return errno == EAGAIN ? HUGE_BUSY : HUGE_NEVER;
}

static enum huge_outcome move_whole(uintptr_t block)
{
    struct huge_gaps gaps;
    enum huge_outcome outcome = move(block);
    if (outcome != HUGE_NEVER)
        return outcome;
    if (huge_heap_fill(block, HUGE_BLOCK))
        return move(block);
    if (!huge_gaps_fill(&gaps, block, HUGE_BLOCK))
        return outcome;
    outcome = move(block);
    if (outcome == HUGE_NEVER)
        huge_gaps_empty(&gaps);
    return outcome;
}

static void try(struct huge_block *block)
{
    if (!huge_may(&count, clock_ns()))
        return;
    uint64_t began = clock_thread_ns();
    int error = errno;
    enum huge_outcome outcome = move_whole(block->number * HUGE_BLOCK);
    huge_moved += huge_tried(&count, block, outcome, clock_thread_ns() - began, clock_ns());
    errno = error;
}

void huge_reached(const void *memory, size_t bytes)
{
    uintptr_t at = (uintptr_t)memory, end = at + bytes, next;
    for (; at < end && works != NO; at = next) {
        next = (at / HUGE_BLOCK + 1) * HUGE_BLOCK;
        next = next < end ? next : end;
        uint32_t pages = (uint32_t)((next - at + HUGE_PAGE - 1) / HUGE_PAGE);
        struct huge_block *due = huge_due(&count, at / HUGE_BLOCK, pages);
        if (__builtin_expect(!due, 1))
            continue;
        if (works == UNKNOWN)
            works = is_allowed() ? YES : NO;
        if (works == YES)
            try(due);
    }
}
