/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The owner's side of the flight recorder: names, waits, places.  Before record_open and without
 * a launcher everything goes to a private area, so that nobody has to ask whether there is one;
 * its pages are touched only when used.
 */
#define _GNU_SOURCE 1 /* dl_iterate_phdr */
#include "runtime/printable.h"
#include "runtime/record.h"
#include "runtime/clock.h"
#include "runtime/polling.h"
#include "runtime/trace.h"

#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct record_area own_area;

struct record_area *record_area = &own_area;
_Thread_local struct record_call record_now;
struct record_pen record_pen;
bool (*record_comm_name)(uint64_t context, char *name, size_t room);

/* Looking at the clock would be a good part of what a short message costs.  Only the first event of a row
 * looks: where the row is interrupted, its later events seem to be older than they are. */
enum { SOON_TICKS = 20000, ROW = 16 };

/* The last events of engines that work apart: if they wrote into one ring, each of its lines would come
 * from another CPU. */
enum { ASIDE = 64, ASIDE_ROW = 16 };
static struct {
    uint64_t n, brought; /* events ever; so many of them are in the area, or forgotten */
    uint64_t stamp;
    struct record_event ring[ASIDE];
} __attribute__((aligned(128))) aside[ENGINES];

void record_open(struct record_area *area)
{
    record_area = area ? area : &own_area;
    memset(record_pen.keys, 0, sizeof record_pen.keys);
    record_pen.row = 0;
    memset(aside, 0, sizeof aside);
    polling_forget();
    record_area->ticks_open = cpu_ticks();
    record_area->ns_open = clock_ns();
}

/* ---- names ---- */

_Static_assert(RECORD_NAMES <= 1 << 8, "an event has eight bits for its name");

/* Index 0 is for what finds no place and for work without a call. */
static uint32_t __attribute__((cold, noinline)) name_new(const char *function)
{
    uint32_t first = record_name_hash(function);
    if (!function)
        return 0;
    for (uint32_t k = 0; k < RECORD_NAMES; k++) {
        uint32_t i = (first + k) % RECORD_NAMES;
        if (record_pen.keys[i] == function)
            return i;
        if (record_pen.keys[i] || i == 0)
            continue;
        record_pen.keys[i] = function;
        snprintf(record_area->names[i], RECORD_NAME_CHARS, "%s", function);
        return i;
    }
    return 0;
}

uint32_t record_name(const char *function)
{
    uint32_t i = record_name_hash(function);
    return __builtin_expect(record_pen.keys[i] == function, 1) ? i : name_new(function);
}

/* ---- events ---- */

/* The first of a row.  While there is a trace each is one. */
static void stamp_renew(void)
{
    uint64_t now = cpu_ticks();
    record_pen.row = now - record_pen.stamp < SOON_TICKS && !trace_on ? ROW : 1;
    record_pen.stamp = now;
}

/* The name is new, or the time is old, or there is a trace.  Apart, and the last thing that the usual case
 * may do: so it saves no registers, which would be a third of it. */
static __attribute__((noinline)) void event_rare(uint64_t context, int peer, int tag,
                                                 uint64_t bytes)
{
    if (record_pen.row <= 0)
        stamp_renew();
    record_pen.row--;
    record_event_write(record_name(record_now.function), context, peer, tag, bytes);
    if (trace_on)
        trace_event(context, peer, tag, bytes);
}

void record_event(uint64_t context, int peer, int tag, uint64_t bytes)
{
#ifdef RECORD_NOTHING /* to measure what it costs: bench/recorder.c */
    return;
#endif
    uint32_t name = record_ready();
    if (__builtin_expect(name == 0, 0))
        event_rare(context, peer, tag, bytes);
    else
        record_event_next(name, context, peer, tag, bytes);
}

/* ---- events of engines that work apart ---- */

/* As record_name, but 0 for one that is new. */
static inline uint32_t name_known(const char *function)
{
    uint32_t i = record_name_hash(function);
    for (uint32_t k = 0; k < RECORD_NAMES && record_pen.keys[i] != function; k++) {
        if (!record_pen.keys[i] && i != 0)
            return 0;
        i = (i + 1) % RECORD_NAMES;
    }
    return record_pen.keys[i] == function ? i : 0;
}

bool record_is_known(const char *function)
{
    return name_known(function) != 0;
}

void record_event_solo(int k, uint64_t context, int peer, int tag, uint64_t bytes)
{
    if (aside[k].n % ASIDE_ROW == 0)
        aside[k].stamp = cpu_ticks();
    struct record_event *event = &aside[k].ring[aside[k].n++ % ASIDE];
    event->ticks = aside[k].stamp;
    event->context = context;
    event->peer = peer;
    event->tag = tag;
    event->bytes_name = bytes << 8 | name_known(record_now.function);
}

void record_bring(int k)
{
    if (aside[k].n - aside[k].brought > ASIDE)
        aside[k].brought = aside[k].n - ASIDE;
    while (aside[k].brought != aside[k].n)
        record_area->ring[record_area->head++ % RECORD_EVENTS] =
            aside[k].ring[aside[k].brought++ % ASIDE];
}

/* ---- waits ---- */

void record_name_comm(uint64_t context, char name[RECORD_COMM_CHARS])
{
    name[0] = '\0';
    if (record_comm_name)
        record_comm_name(context, name, RECORD_COMM_CHARS);
    printable_here(name, RECORD_COMM_CHARS);
}

struct record_item *record_item_new(struct record_wait *wait)
{
    if (wait->nitems++ >= RECORD_ITEMS)
        return NULL;
    struct record_item *item = &wait->items[wait->nitems - 1];
    item->peer = item->world = -1;
    item->tag = -2;
    return item;
}

struct record_item *record_item_in(struct record_wait *wait, enum record_kind kind,
                                   uint64_t context)
{
    struct record_item *item = record_item_new(wait);
    if (!item)
        return NULL;
    item->kind = kind;
    item->context = context;
    record_name_comm(context, item->comm);
    return item;
}

static int slot_take(void)
{
    struct record_area *area = record_area;
    for (int i = 0; i < RECORD_WAITS; i++) {
        struct record_wait *wait = &area->waits[i];
        if (wait->serial)
            continue;
        if (++area->serial == 0) /* 0 marks a free slot */
            area->serial = 1;
        wait->serial = area->serial;
        wait->since = clock_ns();
        return i + 1;
    }
    return 0;
}

/* The version is odd in between. */
static void wait_open(struct record_wait *wait)
{
    uint32_t version = atomic_load_explicit(&wait->version, memory_order_relaxed);
    atomic_store_explicit(&wait->version, version + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
}

static void wait_close(struct record_wait *wait)
{
    uint32_t version = atomic_load_explicit(&wait->version, memory_order_relaxed);
    atomic_store_explicit(&wait->version, version + 1, memory_order_release);
}

static void items_find_world(struct record_wait *wait)
{
    char name[RECORD_COMM_CHARS];
    for (int i = 0; i < wait->nitems && i < RECORD_ITEMS && record_comm_name; i++)
        wait->items[i].of_world = wait->items[i].context &&
                                  record_comm_name(wait->items[i].context, name, sizeof name);
}

static void wait_write(struct record_wait *wait, const struct record_call *call,
                       record_teller *tell, const void *what)
{
    wait->caller = (uint64_t)(uintptr_t)call->caller;
    snprintf(wait->call, sizeof wait->call, "%s", call->function ? call->function : "");
    memset(&wait->nitems, 0, sizeof *wait - offsetof(struct record_wait, nitems));
    if (call->inside)
        call->inside->tell(call->inside, wait);
    if (tell)
        tell(what, wait);
    items_find_world(wait);
}

void record_wait_tell(int *slot, const struct record_call *call, record_teller *tell,
                      const void *what)
{
    if (!*slot && !(*slot = slot_take()))
        return;
    struct record_wait *wait = &record_area->waits[*slot - 1];
    wait_open(wait);
    wait_write(wait, call, tell, what);
    wait_close(wait);
}

void record_wait_moves(int slot)
{
    struct record_wait *wait = &record_area->waits[slot - 1];
    __atomic_store_n(&wait->moves, wait->moves + 1, __ATOMIC_RELAXED);
}

void record_wait_over(int slot)
{
    struct record_wait *wait = &record_area->waits[slot - 1];
    wait_open(wait);
    wait->serial = 0;
    wait_close(wait);
}

/* ---- tests that find nothing ---- */

void record_tests_tell(int *slot, uint64_t since, record_teller *tell, const void *what)
{
    if (!*slot && !(*slot = slot_take()))
        return;
    struct record_wait *wait = &record_area->waits[*slot - 1];
    wait_open(wait);
    wait_write(wait, &record_now, tell, what);
    wait->since = since;
    wait->head = record_area->head;
    wait->polled = wait->changed = clock_ns();
    wait_close(wait);
}

void record_tests_add(int slot, record_teller *tell, const void *what)
{
    static struct record_wait more;
    struct record_wait *wait = &record_area->waits[slot - 1];
    memset(&more, 0, sizeof more);
    if (tell)
        tell(what, &more);
    int before = wait->nitems;
    wait_open(wait);
    wait->any = 1;
    wait->changed = clock_ns();
    for (int i = 0; i < more.nitems && i < RECORD_ITEMS; i++) {
        struct record_item *item = record_item_new(wait);
        if (item)
            *item = more.items[i];
    }
    if (!tell && wait->nitems <= RECORD_ITEMS)
        wait->nitems = RECORD_ITEMS + 1;
    if (more.near.found && !wait->near.found && before + more.near.found <= RECORD_ITEMS) {
        wait->near = more.near;
        wait->near.found += before;
    }
    items_find_world(wait);
    wait_close(wait);
}

void record_tests_go_on(int slot, uint64_t now)
{
    __atomic_store_n(&record_area->waits[slot - 1].polled, now, __ATOMIC_RELAXED);
}

void record_tests_sleep(int slot, bool sleeps)
{
    __atomic_store_n(&record_area->waits[slot - 1].sleeps, sleeps, __ATOMIC_RELAXED);
}

/* ---- places ---- */

struct search {
    uintptr_t address;
    char *text;
    size_t room;
};

static int look_in(struct dl_phdr_info *module, size_t bytes, void *data)
{
    (void)bytes;
    struct search *search = data;
    for (int i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &module->dlpi_phdr[i];
        uintptr_t start = module->dlpi_addr + part->p_vaddr;
        if (part->p_type != PT_LOAD || search->address - start >= part->p_memsz)
            continue;
        char program[256] = ""; /* has no name in this list */
        const char *name = module->dlpi_name;
        if ((!name || !*name) && readlink("/proc/self/exe", program, sizeof program - 1) > 0)
            name = program;
        snprintf(search->text, search->room, "%s+0x%lx", name,
                 (unsigned long)(search->address - module->dlpi_addr));
        return 1;
    }
    return 0;
}

void record_place(const void *address, char *text, size_t room)
{
    struct search search = { (uintptr_t)address, text, room };
    *text = '\0';
    if (address)
        dl_iterate_phdr(look_in, &search);
}
