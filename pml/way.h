/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which way do the bytes of a long message go?  Decided by the receiver, from what earlier messages of about the
 * same length have cost it.  Pure: knows nothing of peers and links, only lengths and times.
 */
#ifndef XMPI_WAY_H
#define XMPI_WAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum way {
    WAY_COPY, /* through the link: the sender copies out, the receiver copies in */
    WAY_READ, /* the receiver reads the sender's memory */
    WAY_BOTH, /* the receiver reads from the front, the sender writes from the back */
    WAYS
};

enum traffic { ONE_WAY, TWO_WAYS, TRAFFICS }; /* do messages come while others are sent? */

enum { WAY_SHORT = 8192 }; /* up to here nothing is as good as a copy, and nobody asks */

/* Forget everything.  Can the memory of others be read? */
void ways_open(bool read);

/* The way of the next message of so many bytes (more than WAY_SHORT); quiet: no other one is in
 * progress. */
enum way way_take(size_t bytes, enum traffic traffic, bool quiet);

/* It took so long; any unit, the same for all. */
struct way_trip {
    size_t bytes;
    enum traffic traffic;
    enum way way;
    bool alone;     /* no other one was going on when it began */
    uint64_t moved; /* bytes that came or went meanwhile */
    uint64_t ticks;
};
void way_took(const struct way_trip *trip);

/* What was learnt, for XMPI_LOG=1. */
void ways_log(void);

/* ---- classes: 8-16 KiB, 16-32 KiB, ... and beyond 4 MiB ---- */

enum { WAY_CLASSES = 10 };

static inline int way_class(size_t bytes)
{
    int log = 64 - __builtin_clzll(bytes - 1) - 14;
    return log < 0 ? 0 : log < WAY_CLASSES ? log : WAY_CLASSES - 1;
}

static inline uint32_t way_bit(size_t bytes)
{
    return 1u << way_class(bytes);
}

#endif
