/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How a chunk is filled.  Its lines were read by the receiver, so the sender's stores must take them from the
 * receiver's cache.  What that costs is a matter of the machine and of which two processors it is:
 *
 *     they share a cache          3 to 7 ns a line, and the receiver finds the data near
 *     they do not, Intel Xeon     4, as lines come ahead
 *     they do not, AMD EPYC       16 to 50, a line after the other: 5 us for 8 KiB.  Stores that go past
 *                                 the caches to memory take 0.2 us, and the receiver reads no slower
 *
 * So now and then the time of taking the lines of a chunk is measured, a store to each and nothing between.
 * When several in a row are slow the next ones go past the caches; and of those one goes the usual way
 * now and then, more and more rarely while it is slow still.
 *
 * Ranks that share processors have both, peers beside and apart, and share chunks among them.  32 KiB that another
 * core has read (AMD EPYC): stores 3.5 us where that shares a cache, 13 where it does not, past the caches 0.8;
 * reading what went past them 2.2, else 0.8 and 2.2.
 *
 * In caches, lines are taken together before the copy, which would take them one by one, unless they were fetched
 * before (chunk.c): then that is 1.1 to 1.2 times as long.  Pure.
 */
#ifndef XMPI_FILL_H
#define XMPI_FILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FILL_LEAST = 256,    /* shorter ones are never better past the caches, */
    FILL_ALONE = 1024,   /* nor single messages that are shorter than this */
    FILL_FIRST_NS = 110, /* a line comes late if it takes so long, */
    FILL_FEW = 16,       /* and each of so many that come at the same time */
    FILL_FEW_NS = 5,     /* so much more, */
    FILL_SLOW_NS = 10,   /* and each further one so much */
    FILL_SURE = 3,       /* so many that are late in a row change it */
    FILL_LOOK = 8,       /* after so many that went the usual way one is timed, */
    FILL_RARELY =
        64, /* or so many, after a brief one: looking at the clock takes as long as that */
    FILL_BRIEF = 2048,
    FILL_COLD = 20,   /* not the first ones of all: nobody has read them */
    FILL_SOON = 256,  /* past the caches before another try, */
    FILL_LATE = 4096, /* and at most */
    FILL_LINE = 64
};

enum fill_how {
    FILL_COPY,
    FILL_OWN,   /* take the lines, then copy */
    FILL_TIMED, /* the same, and tell what taking the lines took */
    FILL_PAST   /* copy past the caches */
};

/* Towards one receiver; see fill_begin.  Chunks serve all receivers in turn: one that another of them has read says
 * what taking lines from that one costs. */
struct fill {
    bool past;
    uint8_t odd;   /* times in a row that speak for the other way */
    uint16_t left; /* chunks until one is timed */
    uint16_t rows; /* of slots, that took the place of a chunk since the last chunk */
    uint16_t wait; /* the next `left` of those that go past */
};

void fill_begin(struct fill *fill);

/* How the next chunk is to be filled, with so many bytes; whether it follows others, and is not an answer;
 * whether its lines have been fetched. */
enum fill_how fill_next(struct fill *fill, size_t bytes, bool follows, bool fetched);

/* Messages behind others may take rows of slots instead.  Not where chunks go past the caches; and one in FILL_RARELY
 * goes by a chunk all the same, or nobody would learn what those cost. */
static inline bool fill_lets_rows(const struct fill *fill, size_t bytes)
{
    return bytes < FILL_LEAST || (!fill->past && fill->rows < FILL_RARELY);
}
static inline void fill_row(struct fill *fill)
{
    fill->rows++;
}

/* The lines of a chunk that was to be timed took so long to take. */
void fill_took(struct fill *fill, size_t bytes, uint64_t ns);

#endif
