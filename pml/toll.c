/* SPDX-License-Identifier: BSD-3-Clause
 *
 * 32 KiB between processes of one machine: reading takes 11000 ticks where a system call and what the kernel does for
 * each page are dear (AMD EPYC, virtual), copying out and in 2200 and 2600; elsewhere reading is the cheaper one.
 *
 * A cost follows smaller samples at once and larger ones slowly: what makes a copy slow is often memory that is touched
 * for the first time, or somebody else who got the processor.
 *
 * Who is advised to copy reads no more, so now and then that is forgotten, and a few messages are read.
 */
#include "pml/toll.h"

#include "pml/way.h"

#include <string.h>

enum {
    CLASSES = 3,     /* up to 16, 32, 64 KiB */
    SHORTEST = 4096, /* piece that tells what its bytes cost */
    ENOUGH = 16,     /* samples */
    SLOWLY = 16,     /* a larger sample counts for one in so many, */
    OUTLIER = 4,     /* and for so many times the usual cost at most */
    AGAIN = 8192,    /* pieces that came until reading is tried again */
    UNIT = 16384     /* 1/16 of a tick per KiB */
};

struct cost {
    uint64_t units;
    int known; /* samples, up to ENOUGH */
};
static struct cost out, in, reading[CLASSES];
static unsigned came; /* pieces */

void tolls_open(void)
{
    out = in = (struct cost){ 0 };
    memset(reading, 0, sizeof reading);
    came = 0;
}

/* Clocks may be coarse: a cost is never 0, and grows by 1 at least. */
static void follow(struct cost *cost, size_t bytes, uint64_t ticks)
{
    uint64_t units = 1 + ticks * UNIT / bytes, most = OUTLIER * cost->units;
    if (cost->known == 0 || units < cost->units)
        cost->units = units;
    else
        cost->units += ((units < most ? units : most) - cost->units + SLOWLY - 1) / SLOWLY;
    cost->known += cost->known < ENOUGH;
}

static void try_again(void)
{
    for (int c = 0; c < CLASSES; c++)
        if (reading[c].known == ENOUGH)
            reading[c].known = ENOUGH / 2;
}

void toll_paid(enum toll toll, size_t bytes, uint64_t ticks)
{
    if (bytes < SHORTEST)
        return;
    if (toll == TOLL_READ) {
        if (way_class(bytes) < CLASSES)
            follow(&reading[way_class(bytes)], bytes, ticks);
        return;
    }
    follow(toll == TOLL_IN ? &in : &out, bytes, ticks);
    if (toll == TOLL_IN && ++came % AGAIN == 0)
        try_again();
}

uint64_t toll_of_out(size_t bytes)
{
    return out.units * bytes / UNIT;
}

static bool is_dear(const struct cost *read)
{
    if (read->known < ENOUGH)
        return false;
    return in.known < ENOUGH || read->units > in.units + (out.known ? out.units : in.units);
}

uint32_t tolls_dear(void)
{
    uint32_t dear = 0;
    for (int c = 0; c < CLASSES; c++)
        dear |= (uint32_t)is_dear(&reading[c]) << c;
    return dear;
}
