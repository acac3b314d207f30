/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Through the caches or past them, see fill.h.
 */
#include "pml/shm/fill.h"

void fill_begin(struct fill *fill)
{
    *fill = (struct fill){ .left = FILL_COLD };
}

enum fill_how fill_next(struct fill *fill, size_t bytes, bool follows, bool fetched)
{
    enum fill_how cached = fetched ? FILL_COPY : FILL_OWN;
    if (bytes < (follows ? FILL_LEAST : FILL_ALONE))
        return cached;
    if (fill->left == 0)
        return FILL_TIMED;
    fill->left--;
    return fill->past ? FILL_PAST : cached;
}

bool fill_needs_chunk(struct fill *fill, size_t bytes)
{
    if (bytes < FILL_LEAST)
        return false;
    if (fill->past || fill->left == 0)
        return true;
    fill->left--;
    return false;
}

static void fill_change(struct fill *fill)
{
    fill->past = !fill->past;
    fill->wait = FILL_SOON;
}

void fill_took(struct fill *fill, size_t bytes, uint64_t ns)
{
    bool slow = ns >= FILL_FIRST_NS + bytes / FILL_LINE * FILL_SLOW_NS;
    if (slow != fill->past && ++fill->odd < FILL_SURE)
        return; /* the next one is timed, too */
    if (slow != fill->past)
        fill_change(fill);
    fill->odd = 0;
    fill->left = fill->past ? fill->wait : bytes < FILL_BRIEF ? FILL_RARELY : FILL_LOOK;
    if (fill->past && fill->wait < FILL_LATE)
        fill->wait *= 2;
}
