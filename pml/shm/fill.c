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
    fill->rows = 0;
    if (fill->left == 0)
        return FILL_TIMED;
    fill->left--;
    return fill->past ? FILL_PAST : cached;
}

static void fill_change(struct fill *fill)
{
    fill->past = !fill->past;
    fill->wait = FILL_SOON;
}

/* Are so many lines late that took so long together? */
static bool is_late(size_t lines, uint64_t ns)
{
    size_t few = lines < FILL_FEW ? lines : FILL_FEW;
    return ns >= FILL_FIRST_NS + few * FILL_FEW_NS + (lines - few) * FILL_SLOW_NS;
}

void fill_took(struct fill *fill, size_t bytes, uint64_t ns)
{
    bool slow = is_late(bytes / FILL_LINE, ns);
    if (slow != fill->past && ++fill->odd < FILL_SURE)
        return; /* the next one is timed, too */
    if (slow != fill->past)
        fill_change(fill);
    fill->odd = 0;
    fill->left = fill->past ? fill->wait : bytes <= FILL_BRIEF ? FILL_RARELY : FILL_LOOK;
    if (fill->past && fill->wait < FILL_LATE)
        fill->wait *= 2;
}
