/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The readers' side of the flight recorder, for the launcher: libc only.  The owner may go on
 * writing, or have died in the middle of it.
 */
#include "runtime/record.h"
#include "runtime/clock.h"

#include <string.h>

bool record_wait_read(const struct record_wait *wait, struct record_wait *copy)
{
    enum { TRIES = 100000 };
    for (int i = 0; i < TRIES; i++) {
        uint32_t before = atomic_load_explicit(&wait->version, memory_order_acquire);
        if (before & 1) {
            cpu_pause();
            continue;
        }
        memcpy(copy, wait, sizeof *copy);
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load_explicit(&wait->version, memory_order_relaxed) != before)
            continue;
        copy->call[RECORD_NAME_CHARS - 1] = '\0';
        return copy->serial != 0;
    }
    return false;
}

/* ---- events ---- */

static uint64_t head_of(const struct record_area *area)
{
    return __atomic_load_n(&area->head, __ATOMIC_ACQUIRE);
}

bool record_event_read(const struct record_area *area, uint64_t n, struct record_event *copy)
{
    uint64_t head = head_of(area);
    if (n >= head || head - n >= RECORD_EVENTS)
        return false;
    *copy = area->ring[n % RECORD_EVENTS];
    return head_of(area) - n < RECORD_EVENTS;
}

const struct record_left *record_left_read(const struct record_area *area, uint64_t context)
{
    for (int i = 0; i < RECORD_LEFT; i++)
        if (atomic_load_explicit(&area->left[i].context, memory_order_acquire) == context)
            return &area->left[i];
    return NULL;
}

const struct record_last *record_last_read(const struct record_area *area, uint64_t context)
{
    for (int i = 0; i < RECORD_LAST; i++)
        if (atomic_load_explicit(&area->last[i].context, memory_order_acquire) == context)
            return &area->last[i];
    return NULL;
}

/* Ticks and nanoseconds since the area was opened give the rate. */
uint64_t record_event_ns(const struct record_area *area, const struct record_event *event)
{
    uint64_t ticks = cpu_ticks(), now = clock_ns();
    if (ticks <= area->ticks_open || event->ticks < area->ticks_open)
        return area->ns_open;
    double rate = (double)(now - area->ns_open) / (double)(ticks - area->ticks_open);
    return area->ns_open + (uint64_t)((double)(event->ticks - area->ticks_open) * rate);
}
