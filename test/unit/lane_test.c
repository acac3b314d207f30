/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The counters of a lane: what an old packet tells about the way back (how far its sender had
 * read) must not be taken for news once 16 bits have gone round.  And slots that nobody has read are left
 * alone, whatever the sender does to have the next ones at hand.  And chunks that go past the caches, which
 * only some machines have.
 */
#define _GNU_SOURCE 1 /* sched_getcpu, CPU_SET */
#include "mpi.h"
#include "pml/shm/area.h"
#include "pml/shm/lane.h"
#include "runtime/oncpu.h"

#include "test/unit/job.h"
#include "test/unit/unit.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum { ROUND = 1 << 16, PACE = 16, BURST = 600, ROOM = 24 };

static void until_received(int n)
{
    while (atomic_load(job_word()) < n)
        sched_yield();
}

static void send_number(struct channel *c, int number)
{
    struct buffer data = job_bytes(&number, sizeof number);
    struct envelope to = { .peer = 1, .tag = 1 };
    ck_assert_int_eq(pml_send(c, &data, &to, SEND_STANDARD), 0);
}

/* Without a single look at what comes in. */
static void send_unseeing(struct channel *c, int n)
{
    for (int i = 0; i < n; i++) {
        send_number(c, i);
        if (i % PACE == PACE - 1)
            until_received(i + 1);
    }
    until_received(n);
}

static void send_burst(struct channel *c)
{
    static int numbers[BURST];
    struct request *requests[BURST];
    struct envelope to = { .peer = 1, .tag = 1 };
    int first = (int)bootseg_slots(2) - ROOM;
    for (int i = 0; i < BURST; i++) {
        numbers[i] = i;
        struct buffer data = job_bytes(&numbers[i], sizeof numbers[i]);
        if (i == first) /* now the old packet is read */
            progress();
        ck_assert_int_eq(pml_isend(c, &data, &to, SEND_STANDARD, &requests[i]), 0);
    }
    atomic_store(job_word(), -1);
    for (int i = 0; i < BURST; i++)
        ck_assert_int_eq(request_wait(requests[i], NULL), 0);
}

static void receive_numbers(struct channel *c, int n, bool count)
{
    for (int i = 0; i < n; i++) {
        int number = -1;
        struct buffer data = job_bytes(&number, sizeof number);
        struct envelope from = { .peer = 0, .tag = 1 };
        ck_assert_int_eq(pml_recv(c, &data, &from, NULL), 0);
        ck_assert_int_eq(number, i);
        if (count)
            atomic_store(job_word(), i + 1);
    }
}

/* The receiver's only packet lies with the sender while the counter goes round but for `short_of`,
 * which is less than what the burst has in the ring when the packet is read at last. */
static void go_round(int rank, int n, int short_of)
{
    struct channel *c = job_world(rank, n);
    if (rank == 0) {
        send_unseeing(c, ROUND - short_of);
        send_burst(c);
    } else {
        struct buffer nothing = job_bytes(NULL, 0);
        struct envelope to = { .peer = 0, .tag = 2 };
        ck_assert_int_eq(pml_send(c, &nothing, &to, SEND_STANDARD), 0);
        receive_numbers(c, ROUND - short_of, true);
        while (atomic_load(job_word()) >= 0)
            sched_yield();
        receive_numbers(c, BURST, false);
    }
    channel_close(c);
}

static void go_round_but_8(int rank, int n)
{
    go_round(rank, n, 8);
}

static void go_round_but_24(int rank, int n)
{
    go_round(rank, n, 24);
}

START_TEST(an_old_packet_is_no_news)
{
    ck_assert(job_run(2, go_round_but_8));
    ck_assert(job_run(2, go_round_but_24));
}
END_TEST

enum { ROUNDS = 40, MORE_THAN_A_RING = 150, LONGEST = 1300 /* beyond a row */ };

static size_t length_of(int i)
{
    return i % 3 ? 4 : (size_t)(i * 37) % LONGEST;
}

static void letters(char *text, int round, int i)
{
    for (size_t k = 0; k < length_of(i); k++)
        text[k] = (char)(round + i + (int)k);
}

static void send_round(struct channel *c, int round, int messages)
{
    static char text[MORE_THAN_A_RING + ROUNDS][LONGEST];
    struct request *requests[MORE_THAN_A_RING + ROUNDS];
    struct envelope to = { .peer = 1, .tag = 1 };
    for (int i = 0; i < messages; i++) {
        letters(text[i], round, i);
        struct buffer data = job_bytes(text[i], length_of(i));
        ck_assert_int_eq(pml_isend(c, &data, &to, SEND_STANDARD, &requests[i]), 0);
    }
    atomic_store(job_word(), round + 1);
    for (int i = 0; i < messages; i++)
        ck_assert_int_eq(request_wait(requests[i], NULL), 0);
}

static void receive_round(struct channel *c, int round, int messages)
{
    until_received(round + 1);
    for (int i = 0; i < messages; i++) {
        char text[LONGEST] = "", expected[LONGEST] = "";
        struct buffer data = job_bytes(text, sizeof text);
        struct envelope from = { .peer = 0, .tag = 1 };
        struct result result;
        ck_assert_int_eq(pml_recv(c, &data, &from, &result), 0);
        ck_assert_uint_eq(result.bytes, length_of(i));
        letters(expected, round, i);
        ck_assert_int_eq(memcmp(text, expected, sizeof text), 0);
    }
}

/* More than the ring holds is sent before anybody reads; its end comes everywhere in a row of slots. */
static void fill(int rank, int n)
{
    struct channel *c = job_world(rank, n);
    for (int round = 0; round < ROUNDS; round++) {
        if (rank == 0)
            send_round(c, round, MORE_THAN_A_RING + round);
        else
            receive_round(c, round, MORE_THAN_A_RING + round);
    }
    channel_close(c);
}

START_TEST(a_full_ring_is_left_alone)
{
    ck_assert(job_run(2, fill));
}
END_TEST

START_TEST(memory_is_bounded)
{
    ck_assert_int_eq(area_chunks(1), CHUNKS);
    ck_assert_int_eq(area_chunks(CHUNKS_RANKS), CHUNKS);
    for (int ranks = 1; ranks <= AREA_MOST_RANKS; ranks++) {
        ck_assert_int_ge(area_chunks(ranks), CHUNKS_LEAST);
        ck_assert_int_le(area_chunks(ranks), CHUNKS);
    }
    ck_assert_uint_le(areas_bytes(128), 120 << 20);
    /* Rings get shorter, and fewer, before they take more than what the ranks have besides. */
    for (int ranks = 1; ranks <= CHUNKS_RANKS; ranks++) {
        size_t rings = (size_t)ranks * bootseg_pair_bytes(ranks);
        ck_assert_uint_le(rings, BOOT_POOL_BYTES + BOOT_RING_BYTES * 4 * (size_t)ranks);
        ck_assert_uint_eq(bootseg_slots(ranks) & (bootseg_slots(ranks) - 1), 0);
    }
}
END_TEST

/* ---- all chunks in flight ---- */

/* Two pieces fill a chunk, and in all there are not so many. */
enum { SITTERS = 4, EACH = 32, PIECE = 8000, ROWS = 700 };

/* Messages of one piece to ranks that do not look, and what they wait for. */
static void send_to_sitters(struct channel *c, struct request *requests[SITTERS][EACH])
{
    static char text[PIECE];
    struct buffer data = job_bytes(text, PIECE);
    for (int i = 0; i < SITTERS; i++)
        for (int k = 0; k < EACH; k++) {
            struct envelope to = { .peer = 1 + i, .tag = 1 };
            ck_assert_int_eq(pml_isend(c, &data, &to, SEND_STANDARD, &requests[i][k]), 0);
        }
}

static void receive_pieces(struct channel *c, int n, size_t bytes, char expected)
{
    for (int i = 0; i < n; i++) {
        char text[PIECE] = "";
        struct buffer data = job_bytes(text, PIECE);
        struct envelope from = { .peer = 0, .tag = 1 };
        ck_assert_int_eq(pml_recv(c, &data, &from, NULL), 0);
        for (size_t k = 0; k < PIECE; k++)
            ck_assert_int_eq(text[k], k < bytes ? expected : 0);
    }
}

static void sit(int rank, int n)
{
    struct channel *c = job_world(rank, n);
    if (rank == 0) {
        static char text[PIECE];
        struct request *requests[SITTERS][EACH];
        struct buffer data = job_bytes(text, PIECE);
        struct envelope to = { .peer = 1 + SITTERS, .tag = 1 };
        send_to_sitters(c, requests);
        memset(text, 'x', PIECE);
        struct buffer rows = job_bytes(text, ROWS);
        struct request *behind;
        ck_assert_int_eq(pml_isend(c, &rows, &to, SEND_STANDARD, &behind), 0);
        ck_assert_int_eq(pml_send(c, &data, &to, SEND_STANDARD), 0);
        ck_assert_int_eq(request_wait(behind, NULL), 0);
        for (int i = 0; i < SITTERS * EACH; i++)
            ck_assert_int_eq(request_wait(requests[i / EACH][i % EACH], NULL), 0);
    } else if (rank <= SITTERS) {
        until_received(1);
        receive_pieces(c, EACH, PIECE, '\0');
    } else {
        receive_pieces(c, 1, ROWS, 'x');
        receive_pieces(c, 1, PIECE, 'x');
        atomic_store(job_word(), 1);
    }
    channel_close(c);
}

/* A message that would fit a chunk comes in pieces. */
START_TEST(without_chunks_there_are_rows)
{
    ck_assert_int_gt(SITTERS * EACH / 2, area_chunks(2 + SITTERS));
    ck_assert(job_run(2 + SITTERS, sit));
}
END_TEST

/* ---- several in one chunk ---- */

static struct lane *lane_of(int rank)
{
    struct peer *peer;
    ck_assert_int_eq(peer_of(rank, &peer), 0);
    return peer->lane;
}

enum { MIXED = 400, MIXED_BYTES = 9000, ALIKE = 32, ALIKE_BYTES = 500 };

static size_t mixed_bytes(int i)
{
    return i < ALIKE    ? ALIKE_BYTES
           : i % 3 == 0 ? (size_t)i * 977 % MIXED_BYTES
                        : (size_t)i * 31 % 2500;
}

static void mixed_send(struct channel *c)
{
    static char text[MIXED][MIXED_BYTES];
    struct request *requests[MIXED];
    struct envelope to = { .peer = 1, .tag = 1 };
    boot.crowded = false;
    for (int i = 0; i < MIXED; i++) {
        struct buffer data = job_bytes(text[i], mixed_bytes(i));
        memset(text[i], i, mixed_bytes(i));
        ck_assert_int_eq(pml_isend(c, &data, &to, SEND_STANDARD, &requests[i]), 0);
        if (i != ALIKE - 1)
            continue;
        const struct lane *lane = lane_of(1);
        ck_assert_uint_eq(lane->last_chunk - lane->first_chunk, 1);
        ck_assert_uint_ge(lane->filled, ALIKE / 2 * 512);
        ck_assert_uint_le(lane->filled, (ALIKE - 2) * 512); /* rows of half a ring go before */
    }
    atomic_store(job_word(), 1);
    for (int i = 0; i < MIXED; i++)
        ck_assert_int_eq(request_wait(requests[i], NULL), 0);
}

static void mixed(int rank, int n)
{
    struct channel *c = job_world(rank, n);
    if (rank == 0) {
        mixed_send(c);
    } else {
        until_received(1);
        for (int i = 0; i < MIXED; i++) {
            char text[MIXED_BYTES];
            struct buffer data = job_bytes(text, MIXED_BYTES);
            struct envelope from = { .peer = 0, .tag = 1 };
            struct result result;
            ck_assert_int_eq(pml_recv(c, &data, &from, &result), 0);
            ck_assert_uint_eq(result.bytes, mixed_bytes(i));
            for (size_t k = 0; k < result.bytes; k++)
                ck_assert_int_eq(text[k], (char)i);
        }
    }
    channel_close(c);
}

/* Short messages that nobody has read share a chunk; all lengths come through, in order. */
START_TEST(short_pieces_share_chunks)
{
    ck_assert(job_run(2, mixed));
}
END_TEST

/* ---- which chunk is next ---- */

enum { IN_A_ROW = 10, ALL_TWICE = 2 * CHUNKS, ANSWERED_BYTES = 4096 };

/* A message whose answer tells that it was read. */
static void send_and_hear(struct channel *c)
{
    static char text[ANSWERED_BYTES];
    struct buffer data = job_bytes(text, sizeof text), nothing = job_bytes(NULL, 0);
    struct envelope other = { .peer = 1 - c->rank, .tag = 1 };
    if (c->rank == 0)
        ck_assert_int_eq(pml_send(c, &data, &other, SEND_STANDARD), 0);
    ck_assert_int_eq(pml_recv(c, c->rank == 0 ? &nothing : &data, &other, NULL), 0);
    if (c->rank == 1)
        ck_assert_int_eq(pml_send(c, &nothing, &other, SEND_STANDARD), 0);
}

static struct tally {
    int same;  /* how often the chunk of a message is the one of the message before, */
    int asked; /* and it is asked whether it is to be filled past the caches */
} tally;

/* Of so many messages, with a peer on that CPU. */
static void tally_chunks(struct channel *c, unsigned cpu, int messages)
{
    int before = -1;
    tally = (struct tally){ 0 };
    for (int i = 0; i < messages; i++) {
        struct lane *lane = lane_of(1);
        uint16_t left = lane->fill.left;
        oncpu_tell(lane->bell, cpu);
        send_and_hear(c);
        int last = lane->chunk[(lane->last_chunk - 1) % CHUNKS_IN_FLIGHT];
        tally.same += last == before;
        tally.asked += lane->fill.left != left;
        before = last;
    }
}

static void beside_and_apart(int rank, int n)
{
    struct channel *c = job_world(rank, n);
    send_and_hear(c); /* the two are connected */
    if (rank == 1) {
        for (int i = 0; i < IN_A_ROW + 1 + ALL_TWICE; i++)
            send_and_hear(c);
    } else {
        unsigned here = (unsigned)sched_getcpu();
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(here, &one);
        ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
        boot.crowded = true;
        tally_chunks(c, here, IN_A_ROW + 1);
        ck_assert_int_ge(tally.same, IN_A_ROW - 1);
        ck_assert_int_eq(tally.asked, 0);
        tally_chunks(c, here + 1, ALL_TWICE);
        ck_assert_int_le(tally.same, 1);
        ck_assert_int_ge(tally.asked,
                         ALL_TWICE / 2 - IN_A_ROW); /* once each was read over there */
    }
    channel_close(c);
}

/* What was read on our CPU lies in our cache, and is taken next; else the one that was read longest ago. */
START_TEST(the_next_chunk_is_near)
{
    ck_assert(job_run(2, beside_and_apart));
}
END_TEST

/* ---- positions wrap round ---- */

enum { HALF = 1 << 30, AFTER = 100 };

/* As if so many slots more had been used, all of them read. */
static void jump(int rank, uint32_t slots)
{
    struct lane *lane = lane_of(1 - rank);
    if (rank == 0) {
        lane->head += slots;
        lane->freed = lane->owned = lane->told = lane->head;
    } else {
        lane->next += slots;
        lane->published = lane->next;
        atomic_store(&lane->in_ring->tail, lane->next);
    }
}

/* Chunks, then for long none, then chunks again. */
static void half_way_round(int rank, int n)
{
    static char text[PIECE];
    struct channel *c = job_world(rank, n);
    struct buffer data = job_bytes(text, PIECE);
    struct envelope other = { .peer = 1 - rank, .tag = 1 };
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(rank == 0 ? pml_send(c, &data, &other, SEND_STANDARD)
                                   : pml_recv(c, &data, &other, NULL),
                         0);
    if (rank == 0)
        until_received(1);
    jump(rank, 2u * HALF);
    atomic_store(job_word(), 1);
    for (int i = 0; i < AFTER; i++)
        ck_assert_int_eq(rank == 0 ? pml_send(c, &data, &other, SEND_STANDARD)
                                   : pml_recv(c, &data, &other, NULL),
                         0);
    channel_close(c);
}

START_TEST(chunks_come_back_after_any_time)
{
    ck_assert(job_run(2, half_way_round));
}
END_TEST

/* ---- past the caches ---- */

enum { MOST_BYTES = 100001 };

/* As if lines of chunks had been slow to take; how one of them is to be filled. */
static bool fills_past(void)
{
    struct peer *peer;
    ck_assert_int_eq(peer_of(1, &peer), 0);
    struct fill *fill = &((struct lane *)peer->lane)->fill;
    *fill = (struct fill){ .past = true, .left = 1000, .wait = 1000 };
    return fill_next(&(struct fill){ .past = true, .left = 1000 }, MOST_BYTES, false, false) ==
           FILL_PAST;
}

/* `size` bytes of memory of which the layout takes some, and the bytes it leaves out. */
static void send_past(struct channel *c, const struct layout *layout, size_t count, size_t size)
{
    int rank = c->rank;
    unsigned char *p = malloc(size);
    struct buffer data = { p, count, layout, HERE };
    for (size_t i = 0; i < size; i++)
        p[i] = rank ? 0 : (unsigned char)(i * 7 + i / 251);
    if (rank == 0) {
        struct envelope to = { .peer = 1, .tag = 1 };
        send_number(c, 0); /* the two are connected */
        ck_assert(fills_past());
        ck_assert_int_eq(pml_send(c, &data, &to, SEND_STANDARD), 0);
    } else {
        struct envelope from = { .peer = 0, .tag = 1 };
        receive_numbers(c, 1, false);
        ck_assert_int_eq(pml_recv(c, &data, &from, NULL), 0);
        for (size_t i = 0; i < size; i++) {
            bool is_data = layout == &layout_bytes || i % 24 < 8;
            ck_assert_int_eq(p[i], is_data ? (unsigned char)(i * 7 + i / 251) : 0);
        }
    }
    free(p);
}

static void bytes_past(int rank, int n)
{
    static const size_t sizes[] = { 1200, 8191, CHUNK_BYTES, CHUNK_BYTES + 1, MOST_BYTES };
    struct channel *c = job_world(rank, n);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        send_past(c, &layout_bytes, sizes[i], sizes[i]);
    channel_close(c);
}

static void gaps_past(int rank, int n)
{
    struct layout *every_third = layout_resized(layout_contiguous(8, &layout_bytes), 0, 24);
    struct channel *c = job_world(rank, n);
    for (size_t count = 150; count < 20000; count = count * 3 + 1)
        send_past(c, every_third, count, count * 24);
    channel_close(c);
    layout_drop(every_third);
}

START_TEST(chunks_go_past_the_caches)
{
    params_read();
    params[PARAM_ID_SHM_SINGLE_COPY].string = "none";
    ck_assert(job_run(2, bytes_past));
    ck_assert(job_run(2, gaps_past));
}
END_TEST

UNIT_MAIN("lane", memory_is_bounded, an_old_packet_is_no_news, a_full_ring_is_left_alone,
          without_chunks_there_are_rows, short_pieces_share_chunks, the_next_chunk_is_near,
          chunks_come_back_after_any_time, chunks_go_past_the_caches)
