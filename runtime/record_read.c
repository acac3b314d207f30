/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The readers' side of the flight recorder, for the launcher: libc only.  The owner may go on
 * writing, or have died in the middle of it.
 */
#include "runtime/record.h"
#include "runtime/clock.h"

#include <stdio.h>
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

/* ---- texts ---- */

/* The bytes of the character that begins here, and its number; 0: it is none of UTF-8. */
static size_t utf8_read(const unsigned char *text, uint32_t *number)
{
    size_t n = text[0] < 0x80             ? 1
               : (text[0] & 0xe0) == 0xc0 ? 2
               : (text[0] & 0xf0) == 0xe0 ? 3
               : (text[0] & 0xf8) == 0xf0 ? 4
                                          : 0;
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    *number = n > 1 ? text[0] & (0x7fu >> n) : text[0];
    for (size_t i = 1; i < n; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        *number = *number << 6 | (text[i] & 0x3f);
    }
    return *number < least[n] || *number > 0x10ffff || (*number >> 11) == 0x1b ? 0 : n;
}

/* Controls, and what ends lines or turns their direction. */
static bool is_printable(uint32_t c)
{
    return c >= 0x20 && !(c >= 0x7f && c < 0xa0) && !(c >= 0x2028 && c <= 0x202e) &&
           !(c >= 0x2066 && c <= 0x2069);
}

static size_t shown_as(const unsigned char *text, char shown[20], size_t *taken)
{
    uint32_t c;
    size_t n = utf8_read(text, &c), used = 0;
    *taken = n ? n : 1;
    if (n && is_printable(c)) {
        memcpy(shown, text, n);
        return n;
    }
    if (*text == '\n' || *text == '\t')
        return (size_t)sprintf(shown, "\\%c", *text == '\n' ? 'n' : 't');
    for (size_t i = 0; i < *taken; i++)
        used += (size_t)sprintf(shown + used, "\\x%02x", text[i]);
    return used;
}

static bool is_plain(const char *text, size_t room)
{
    size_t n = 0;
    while (n < room && text[n] >= ' ' && text[n] <= '~')
        n++;
    return n < room && !text[n];
}

void record_text_tame(char *text, size_t room)
{
    enum { MOST = 512 };
    if (is_plain(text, room))
        return;
    unsigned char raw[MOST + 4];
    size_t n = strnlen(text, room < MOST ? room : MOST), used = 0, taken;
    memcpy(raw, text, n);
    memset(raw + n, 0, 4);
    for (size_t at = 0; at < n; at += taken) {
        char shown[20];
        bool is_cut = n + 1 == room && raw[at] >= 0xc0 && at + 4 > n;
        size_t chars = shown_as(raw + at, shown, &taken);
        if (used + chars >= room || (is_cut && taken == 1))
            break;
        memcpy(text + used, shown, chars);
        used += chars;
    }
    text[used] = '\0';
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
