/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The one escape hatch from plans: barrier, bcast and allreduce of up to 48 bytes between ranks
 * that share memory.  Everybody writes one cache line and reads those of the others; nobody
 * waits twice.
 *
 *     block     header | rank 0 even | rank 0 odd | rank 1 even | rank 1 odd | ...
 *     line      sequence, number and signature, payload
 *
 * Operation s writes the line of its parity, then waits until the others' lines say s.  The
 * line of s - 2 may be overwritten only when everybody is through with operation s - 2, that
 * is, when everybody has begun s - 1.  After a barrier or an allreduce that is known; a
 * broadcast does not let the root wait for anybody, so the next writer looks (`known`).
 *
 * Folding goes in rank order on every rank: all get the same bits.
 *
 * Blocks lie in the tiny part of the area of the rank that drew the ticket, one behind the other,
 * each with its length and the number of members that have not left it.  Only the drawer
 * allocates, so nothing is locked; lines == 0 ends the list, and an area of zeros is an empty
 * one.  MPI_COMM_WORLD has the first block of local rank 0, without drawing.
 */
#include "coll/tiny.h"

#include "pml/failure.h"
#include "pml/shm/area.h"
#include "runtime/boot.h"
#include "coll/tell.h"
#include "runtime/fail.h"
#include "runtime/param.h"
#include "mpi.h"

#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 128 };

/* One cache line; processors like to fetch two at once, so the neighbour stays empty. */
struct line {
    _Atomic uint64_t sequence;
    uint64_t said; /* its number on the communicator, above its signature (tell.h) */
    char payload[TINY_BYTES];
    char pad[LINE_BYTES - 64];
};

struct block {
    _Atomic uint32_t members; /* that have not closed it yet */
    uint32_t lines;           /* that follow; 0 = end of the list */
    char pad[LINE_BYTES - 8];
};
_Static_assert(sizeof(struct line) == LINE_BYTES && sizeof(struct block) == LINE_BYTES,
               "a block is counted in lines");

struct tiny {
    struct block *block;
    struct line *line; /* rank r: 2r even, 2r + 1 odd */
    int n, me;
    const struct channel *channel; /* the team's: who may be lost */
    uint64_t sequence;             /* operations begun */
    uint64_t known;                /* everybody has begun this one */
    int late;                      /* the error of a broadcast that was over before */
    struct doorbell *bell[TINY_RANKS];
    int world[TINY_RANKS];
};

/* ---- blocks ---- */

enum { WORLD_LINES = 2 * TINY_RANKS, AREA_LINES = AREA_TINY_BYTES / LINE_BYTES };

static struct block *block_at(int local, uint32_t line)
{
    return (struct block *)(boot_area(local) + AREA_TINY_OFFSET + (size_t)line * LINE_BYTES);
}

/* The first block after MPI_COMM_WORLD's. */
static uint32_t first_line(void)
{
    return boot.local_rank == 0 ? 1 + WORLD_LINES : 0;
}

static bool is_free(const struct block *b)
{
    return atomic_load_explicit(&b->members, memory_order_acquire) == 0;
}

/* Join the free blocks that follow a free one. */
static void join_free(uint32_t at)
{
    struct block *b = block_at(boot.local_rank, at);
    for (uint32_t next; (next = at + 1 + b->lines) < AREA_LINES;) {
        struct block *after = block_at(boot.local_rank, next);
        if (after->lines == 0 || !is_free(after))
            return;
        b->lines += 1 + after->lines;
    }
}

/* Take `lines` from the front of a free block. */
static void split_free(uint32_t at, uint32_t lines)
{
    struct block *b = block_at(boot.local_rank, at);
    if (b->lines <= lines)
        return;
    struct block *rest = block_at(boot.local_rank, at + 1 + lines);
    rest->lines = b->lines - lines - 1;
    atomic_store_explicit(&rest->members, 0, memory_order_relaxed);
    if (rest->lines == 0) /* a header alone would end the list: leave it with the block */
        return;
    b->lines = lines;
}

static bool end_of_list(uint32_t at, uint32_t lines)
{
    struct block *b = block_at(boot.local_rank, at);
    uint32_t end = at + 1 + lines;
    if (b->lines != 0 || end > AREA_LINES)
        return false;
    b->lines = lines;
    if (end < AREA_LINES)
        block_at(boot.local_rank, end)->lines = 0;
    return true;
}

uint64_t tiny_draw(int n)
{
    if (!param_number(TINY) || n < 2 || n > TINY_RANKS)
        return 0;
    uint32_t lines = 2 * (uint32_t)n, at = first_line();
    for (;; at += 1 + block_at(boot.local_rank, at)->lines) {
        if (at >= AREA_LINES)
            return 0;
        struct block *b = block_at(boot.local_rank, at);
        if (b->lines == 0 && !end_of_list(at, lines))
            return 0;
        if (!is_free(b))
            continue;
        join_free(at);
        if (b->lines >= lines)
            break;
    }
    split_free(at, lines);
    struct block *b = block_at(boot.local_rank, at);
    memset(b + 1, 0, (size_t)b->lines * LINE_BYTES);
    atomic_store_explicit(&b->members, (uint32_t)n, memory_order_release);
    return (uint64_t)(boot.local_rank + 1) << 32 | at;
}

uint64_t tiny_world(void)
{
    bool fits = boot.nnodes == 1 && boot.size >= 2 && boot.size <= TINY_RANKS;
    return fits && param_number(TINY) ? 1ull << 32 : 0;
}

struct tiny *tiny_open(uint64_t name, const struct channel *channel)
{
    struct ranks *members = channel->peers;
    struct tiny *tiny = name ? calloc(1, sizeof(*tiny)) : NULL;
    if (!tiny)
        return NULL;
    tiny->block = block_at((int)(name >> 32) - 1, (uint32_t)name);
    tiny->line = (struct line *)(tiny->block + 1);
    tiny->n = members->n;
    tiny->me = channel->rank;
    tiny->channel = channel;
    for (int i = 0; i < tiny->n; i++) {
        tiny->world[i] = ranks_world(members, i);
        tiny->bell[i] = &boot_record(boot_local(tiny->world[i]))->bell;
    }
    return tiny;
}

void tiny_close(struct tiny *tiny)
{
    if (!tiny)
        return;
    if (tiny->block != block_at(0, 0)) /* MPI_COMM_WORLD's is never used again */
        atomic_fetch_sub_explicit(&tiny->block->members, 1, memory_order_release);
    free(tiny);
}

/* ---- lines ---- */

static struct line *line_of(const struct tiny *t, int rank, uint64_t s)
{
    return &t->line[2 * (uint64_t)rank + (s & 1)];
}

static inline bool line_says(const struct line *line, uint64_t s)
{
    return atomic_load_explicit(&line->sequence, memory_order_acquire) >= s;
}

/* Whose lines are awaited, for the flight recorder. */
struct awaited {
    const struct tiny *tiny;
    uint64_t sequence;
    int from; /* this rank alone; -1: all */
};

static void lines_tell(const void *what, struct record_wait *wait)
{
    const struct awaited *a = what;
    for (int r = 0; r < a->tiny->n; r++) {
        if ((a->from >= 0 && r != a->from) || r == a->tiny->me ||
            line_says(line_of(a->tiny, r, a->sequence), a->sequence))
            continue;
        part_tell(wait, r, a->tiny->world[r]);
    }
}

/* MPIX_ERR_PROC_FAILED when somebody is lost before the line says so. */
static int await(const struct tiny *t, const struct line *line, uint64_t s, struct wait *w)
{
    int error = 0;
    while (!line_says(line, s) && !error) {
        wait_idle(w);
        error = channel_check(t->channel);
    }
    return line_says(line, s) ? 0 : error;
}

static int __attribute__((cold, noinline))
mismatch(const struct tiny *t, uint64_t mine, int r, uint64_t theirs)
{
    return mismatch_fail(&(struct mismatch){ .context = t->channel->context,
                                             .me = t->me,
                                             .peer = r,
                                             .my_signature = (uint32_t)mine,
                                             .their_signature = (uint32_t)theirs,
                                             .my_number = (uint32_t)(mine >> 32),
                                             .their_number = (uint32_t)(theirs >> 32) });
}

/* Before the line of s - 2 is overwritten: everybody has begun s - 1.  It was a broadcast, whose root
 * has not looked yet what the others called: `late` keeps what is wrong for the end of s. */
static int await_turn(struct tiny *t, uint64_t s)
{
    int error = 0;
    if (t->known + 1 >= s)
        return 0;
    uint64_t said = line_of(t, t->me, s - 1)->said;
    struct awaited all = { t, s - 1, -1 };
    struct wait w = WAIT_FOR(lines_tell, &all);
    for (int r = 0; r < t->n && !error; r++) {
        const struct line *line = line_of(t, r, s - 1);
        error = r == t->me ? 0 : await(t, line, s - 1, &w);
        if (!error && line->said != said && !t->late)
            t->late = fail_keep(t, mismatch(t, said, r, line->said));
    }
    wait_end(&w);
    t->known = s - 1;
    return error;
}

/* memcpy for sizes that the compiler does not know but that mostly are a word. */
static inline void copy_bytes(void *to, const void *from, size_t bytes)
{
    if (bytes == 8)
        memcpy(to, from, 8);
    else if (bytes == 4)
        memcpy(to, from, 4);
    else
        memcpy(to, from, bytes);
}

static void put_payload(struct line *line, const struct buffer *data)
{
    const char *flat = buffer_flat(data);
    if (flat)
        copy_bytes(line->payload, flat, buffer_bytes(data));
    else
        buffer_pack(data, 0, line->payload, buffer_bytes(data));
}

/* Write one's line of operation s and wake who sleeps. */
static inline int publish(struct tiny *t, uint64_t s, uint64_t said, const struct buffer *data)
{
    struct line *mine = line_of(t, t->me, s);
    int error = await_turn(t, s);
    if (error)
        return error;
    mine->said = said;
    if (data)
        put_payload(mine, data);
    atomic_store_explicit(&mine->sequence, s, memory_order_release);
    for (int r = 0; r < t->n; r++)
        if (r != t->me)
            doorbell_ring(t->bell[r]);
    return 0;
}

/* ---- the three collectives ---- */

static int tiny_barrier(struct tiny *t, uint64_t s, uint64_t said)
{
    struct awaited all = { t, s, -1 };
    struct wait w = WAIT_FOR(lines_tell, &all);
    int error = 0, lost = publish(t, s, said, NULL);
    for (int r = 0; r < t->n && !lost; r++) {
        const struct line *line = line_of(t, r, s);
        lost = await(t, line, s, &w);
        if (!lost && line->said != said && !error)
            error = mismatch(t, said, r, line->said);
    }
    wait_end(&w);
    if (lost)
        return lost;
    t->known = s;
    return error;
}

static int tiny_allreduce(struct tiny *t, uint64_t s, uint64_t said, const struct call *call)
{
    const struct part *from = call->in_place ? &call->recv : &call->send;
    struct buffer data = { from->base, call->recv.count, call->reduction.layout };
    struct buffer result = { call->recv.base, call->recv.count, call->reduction.layout };
    size_t items = data.count * data.layout->nitems;
    char sum[TINY_BYTES] __attribute__((aligned(16)));
    struct awaited all = { t, s, -1 };
    struct wait w = WAIT_FOR(lines_tell, &all);
    int error = 0, lost = publish(t, s, said, &data);
    for (int r = 0; r < t->n && !lost; r++) {
        const struct line *line = line_of(t, r, s);
        lost = await(t, line, s, &w);
        if (lost)
            break;
        if (line->said != said && !error)
            error = mismatch(t, said, r, line->said);
        if (r == 0)
            memcpy(sum, line->payload, TINY_BYTES);
        else
            call->reduction.kernel(sum, sum, line->payload, items);
    }
    wait_end(&w);
    if (lost)
        return lost;
    t->known = s;
    if (call->reduction.mean)
        reduce_divide(&call->reduction, sum, data.count, t->n);
    copy_bytes(buffer_flat(&result), sum, buffer_bytes(&result));
    return error;
}

static int tiny_bcast(struct tiny *t, uint64_t s, uint64_t said, const struct call *call)
{
    struct buffer data = { call->recv.base, call->recv.count, call->recv.layout };
    bool root = call->root == t->me;
    int error = publish(t, s, said, root ? &data : NULL);
    if (error || root)
        return error;
    const struct line *line = line_of(t, call->root, s);
    struct awaited root_alone = { t, s, call->root };
    struct wait w = WAIT_FOR(lines_tell, &root_alone);
    error = await(t, line, s, &w);
    wait_end(&w);
    if (error)
        return error;
    if (line->said != said)
        return mismatch(t, said, call->root, line->said);
    buffer_unpack(&data, 0, line->payload, buffer_bytes(&data));
    return 0;
}

const char *tiny_objection(const struct team *team, const struct call *call, size_t bytes)
{
    const struct reduction *op = &call->reduction;
    if (!team->tiny)
        return "the ranks have no shared flags";
    if (bytes > TINY_BYTES)
        return "the message exceeds 48 bytes";
    if (call->what == COLL_ALLREDUCE && (!op->kernel || !op->layout->dense))
        return "it takes builtin operations on types without gaps";
    return NULL;
}

static int perform(struct tiny *tiny, const struct call *call, uint64_t s, uint64_t said)
{
    switch (call->what) {
    case COLL_BARRIER:
        return tiny_barrier(tiny, s, said);
    case COLL_BCAST:
        return tiny_bcast(tiny, s, said, call);
    default:
        return tiny_allreduce(tiny, s, said, call);
    }
}

int tiny_run(struct tiny *tiny, const struct telling *telling)
{
    uint64_t said = (uint64_t)telling->number << 32 | telling->signature;
    int error = perform(tiny, telling->call, ++tiny->sequence, said), late = tiny->late;
    if (__builtin_expect(late == 0, 1))
        return error;
    tiny->late = 0;
    fail_recall(tiny);
    return late;
}
