/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two processes copy the pieces of one message, one from the front and one from the back, until
 * they meet.  A word that both can reach says how many pieces each has taken:
 *
 *     generation 32 | from the front 16 | from the back 16
 *
 * A piece is taken by one compare-and-swap and then belongs to who took it.  Words are used
 * again; whoever comes late finds another generation and takes nothing.
 */
#ifndef XMPI_CLAIM_H
#define XMPI_CLAIM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef _Atomic uint64_t claim_word;
enum { CLAIM_WORDS = 4 }; /* that two processes share, for each direction */

/* A quarter of a message, but not too little for a system call nor too much for a look around. */
static inline size_t claim_piece(size_t bytes)
{
    enum { LEAST = 32 << 10, MOST = 256 << 10, PAGE = 4096, PIECES = 4, MOST_PIECES = 1024 };
    size_t piece = bytes / PIECES, most = bytes / MOST_PIECES;
    most = most > MOST ? most : MOST;
    piece = piece < LEAST ? LEAST : piece > most ? most : piece;
    return (piece + PAGE - 1) / PAGE * PAGE;
}

struct claimed {
    size_t offset, bytes;
};

static inline void claim_begin(claim_word *word, uint32_t generation)
{
    atomic_store_explicit(word, (uint64_t)generation << 32, memory_order_release);
}

/* Take a piece of a message of `total` bytes.  False: there is none left. */
static inline bool claim_take(claim_word *word, uint32_t generation, size_t total, bool back,
                              struct claimed *claimed)
{
    size_t piece = claim_piece(total), pieces = (total + piece - 1) / piece, mine;
    uint64_t old = atomic_load_explicit(word, memory_order_acquire);
    do {
        size_t front = old >> 16 & 0xffff, behind = old & 0xffff;
        if (old >> 32 != generation || front + behind >= pieces)
            return false;
        mine = back ? pieces - 1 - behind : front;
    } while (!atomic_compare_exchange_weak(word, &old, old + (back ? 1 : 1 << 16)));
    claimed->offset = mine * piece;
    claimed->bytes = mine == pieces - 1 ? total - claimed->offset : piece;
    return true;
}

#endif
