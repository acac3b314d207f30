/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An attached buffer (a pool) and the messages in it (blocks): who uses what, and who waits for it.
 * The engine lock is held.
 */
#ifndef XMPI_BSEND_POOL_H
#define XMPI_BSEND_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct request;

struct block { /* its payload follows */
    struct block *prev, *next;
    struct pool *pool;
    uint64_t number;         /* which one of its pool's messages, from 0 */
    size_t bytes;            /* of block and payload */
    struct request *request; /* the send; NULL: it has not begun */
} __attribute__((aligned(16)));

static inline char *block_payload(struct block *block)
{
    return (char *)(block + 1);
}

/* Somebody waits for the messages that are in the buffer when it is set: those of later numbers are
 * not its business (MPI 5.0, 3.6), or a sender that never rests would keep it waiting. */
struct mark {
    struct mark *next;
    uint64_t end;            /* the number of the first message after it */
    size_t older;            /* so many of those before are still here */
    struct request *request; /* complete it then; NULL: somebody watches `older` */
};

struct pool {
    bool automatic; /* blocks are allocated, and the user gave no buffer */
    void *user;     /* the buffer as given */
    int64_t size;
    char *start, *end;    /* whole grains of it */
    size_t unused;        /* bytes that are in no block */
    struct block ring;    /* of the blocks by address; itself one of no bytes at `start` */
    struct block *recent; /* the last one placed, or the one before its place */
    size_t blocks;        /* in use */
    uint64_t next_number;
    struct mark *marks; /* the last one first */
};

/* A pool of this buffer; MPI_BUFFER_AUTOMATIC is one without a size. */
int pool_new(struct pool **pool, void *buffer, int64_t size);

/* A block for a message, or NULL: there is no room. */
struct block *block_new(struct pool *pool, size_t payload);
void block_free(struct block *block);

/* Set a mark; with mark->older == 0 it is over at once.  `request` as above. */
void pool_mark(struct pool *pool, struct mark *mark, struct request *request);

/* Wait until nothing is in it.  No other use of the pool may begin. */
void pool_drain(const struct pool *pool);

/* Wait until what is in it now has left. */
void pool_flush(struct pool *pool);

#endif
