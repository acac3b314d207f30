/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The quick way of short messages: when it says no, and that what goes by it keeps its place among what goes
 * the usual way.
 */
#include "mpi.h"
#include "pml/shm/lane.h"

#include "test/unit/job.h"
#include "test/unit/unit.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum {
    MESSAGES = 600,
    LONGEST = 300,
    WINDOW = 16,
    ROUNDS = 300,
    MOST = 4, /* ranks */
    TAG = 3,
    FULL = 1000000,
    AWHILE = 20,
    ROW = 796,    /* what goes by a row of slots alone, */
    LONG = 1096,  /* behind others, while half of the ring is free, */
    BEHIND = 128, /* and behind others in any case */
    BURST = 400
};

static size_t length_of(int i)
{
    return i % 5 == 4 ? (size_t)(i * 37) % LONGEST : (size_t)i % (SLOT_BODY + 1);
}

static void letters(char *text, int i)
{
    for (size_t k = 0; k < length_of(i); k++)
        text[k] = (char)(i + (int)k);
}

/* By the quick way if it goes; else as usual.  Was it quick? */
static bool begin_send(struct channel *c, const void *data, size_t bytes, int to,
                       struct request **request)
{
    *request = pml_isend_quick(c, data, bytes, &layout_bytes, to, TAG);
    if (*request)
        return true;
    struct buffer buffer = job_bytes((void *)data, bytes);
    struct envelope envelope = { .peer = to, .tag = TAG };
    ck_assert_int_eq(pml_isend(c, &buffer, &envelope, SEND_STANDARD, request), 0);
    return false;
}

static bool begin_recv(struct channel *c, void *data, size_t bytes, int from,
                       struct request **request)
{
    *request = pml_irecv_quick(c, data, bytes, &layout_bytes, from, TAG);
    if (*request)
        return true;
    struct buffer buffer = job_bytes(data, bytes);
    struct envelope envelope = { .peer = from, .tag = TAG };
    ck_assert_int_eq(pml_irecv(c, &buffer, &envelope, request), 0);
    return false;
}

static void wait_all(struct request **requests, int n)
{
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(request_wait(requests[i], NULL), 0);
}

/* All are here: nobody has begun what comes next, and nobody still takes what comes after. */
static void meet(const struct channel *c, int round)
{
    atomic_fetch_add(job_word(), 1);
    while (atomic_load(job_word()) < c->size * (round + 1))
        sched_yield();
}

/* Windows both ways at the same time, all receives first.  Those of the first one have no requests at hand. */
static void exchange(struct channel *c, int rounds)
{
    static char in[WINDOW], out[WINDOW];
    struct request *requests[2 * WINDOW];
    int other = 1 - c->rank, sent = 0, received = 0;
    for (int round = 0; round < rounds; round++) {
        meet(c, round);
        for (int i = 0; i < WINDOW; i++)
            received +=
                begin_recv(c, &in[i], 1, round % 2 ? PML_ANY_SOURCE : other, &requests[i]);
        for (int i = 0; i < WINDOW; i++) {
            out[i] = (char)(round + i);
            sent += begin_send(c, &out[i], 1, other, &requests[WINDOW + i]);
        }
        wait_all(requests, 2 * WINDOW);
        ck_assert_int_eq(memcmp(in, out, WINDOW), 0);
    }
    meet(c, rounds);
    ck_assert_int_eq(received, (rounds - 1) * WINDOW);
    ck_assert_int_gt(sent, rounds);
}

/* A word to each of the others and one of each, asked for in the order of ranks, in whatever order they come. */
static void exchange_all(struct channel *c, int round, int *quick)
{
    int in[MOST], out = round, others = 0;
    struct request *requests[2 * MOST];
    for (int rank = 0; rank < c->size; rank++)
        if (rank != c->rank)
            begin_recv(c, &in[rank], sizeof in[rank], rank, &requests[others++]);
    meet(c, round);
    for (int i = 1, rank; i < c->size; i++) {
        rank = (c->rank + i) % c->size;
        *quick += begin_send(c, &out, sizeof out, rank, &requests[others + i - 1]);
    }
    wait_all(requests, 2 * others);
    for (int rank = 0; rank < c->size; rank++)
        ck_assert(rank == c->rank || in[rank] == round);
}

/* Others wait, and it makes no difference that there is room by now: they come first. */
static void others_wait(struct channel *c, const char *text)
{
    struct lane *lane = channel_known(c, 1)->peer->lane, before = *lane;
    for (int i = 0; i < 2; i++) {
        ck_assert_ptr_null(pml_isend_quick(c, text, 1, &layout_bytes, 1, TAG));
        ck_assert(!pml_send_quick(c, text, 1, &layout_bytes, 1, TAG));
        ck_assert(!pml_send_quick(c, text, SLOT_BODY + 1, &layout_bytes, 1, TAG));
        lane->freed = lane->head;
        lane->owned = lane->head + 2;
    }
    lane->freed = before.freed;
    lane->owned = before.owned;
}

/* More than the ring holds, before anybody reads. */
static void send_all(struct channel *c)
{
    static char text[MESSAGES][LONGEST];
    struct request *requests[MESSAGES];
    int quick = 0;
    for (int i = 0; i < MESSAGES; i++) {
        letters(text[i], i);
        bool is_quick = begin_send(c, text[i], length_of(i), 1, &requests[i]);
        ck_assert(!is_quick || length_of(i) <= SLOT_BODY);
        quick += is_quick;
    }
    ck_assert_int_gt(quick, 3);
    ck_assert_int_lt(quick, (int)bootseg_slots(2));
    others_wait(c, text[0]);
    atomic_store(job_word(), FULL);
    wait_all(requests, MESSAGES);
}

static void receive_all(struct channel *c)
{
    static char text[MESSAGES][LONGEST];
    struct request *requests[MESSAGES];
    while (atomic_load(job_word()) < FULL)
        sched_yield();
    for (int i = 0; i < AWHILE;
         i++) /* short ones that nobody wants stay where they are at first */
        progress();
    for (int i = 0; i < MESSAGES;
         i++) /* the first of them are here, so that is not for the quick way */
        ck_assert(!begin_recv(c, text[i], LONGEST, 0, &requests[i]) || i > 10);
    wait_all(requests, MESSAGES);
    for (int i = 0; i < MESSAGES; i++) {
        char expected[LONGEST] = "";
        letters(expected, i);
        ck_assert_int_eq(memcmp(text[i], expected, LONGEST), 0);
    }
}

/* What the quick way leaves to others. */
static void refuse(struct channel *c)
{
    static char text[LONGEST];
    struct layout *apart = layout_resized(&layout_bytes, 0, 2);
    struct request *request;
    if (c->rank == 0) {
        begin_send(c, text, 1, 1, &request);
        wait_all(&request, 1);
        ck_assert_ptr_null(pml_isend_quick(c, text, SLOT_BODY + 1, &layout_bytes, 1, TAG));
        ck_assert_ptr_null(pml_isend_quick(c, text, 2, apart, 1, TAG));
        ck_assert_ptr_null(pml_isend_quick(c, text, 1, &layout_bytes, 0, TAG)); /* to oneself */
        params[PARAM_ID_EAGER].number = 3;
        ck_assert_ptr_null(pml_isend_quick(c, text, 4, &layout_bytes, 1, TAG));
    } else {
        begin_recv(c, text, 1, 0, &request);
        wait_all(&request, 1);
    }
    layout_drop(apart);
}

/* ---- blocking sends, which may take a row of slots ---- */

static bool goes(struct channel *c, const void *data, size_t bytes)
{
    return pml_send_quick(c, data, bytes, &layout_bytes, 1 - c->rank, TAG);
}

static size_t received(struct channel *c, void *data, size_t most, int from)
{
    struct buffer buffer = job_bytes(data, most);
    struct envelope envelope = { .peer = from, .tag = TAG };
    struct result result;
    ck_assert_int_eq(pml_recv(c, &buffer, &envelope, &result), 0);
    ck_assert_int_eq(result.source, 1 - c->rank);
    ck_assert_int_eq(result.tag, TAG);
    return result.bytes;
}

/* So that there is a peer to send to. */
static void turn(struct channel *c)
{
    char letter = 0;
    struct buffer buffer = job_bytes(&letter, 1);
    struct envelope envelope = { .peer = 1 - c->rank, .tag = TAG };
    ck_assert_int_eq(pml_send(c, &buffer, &envelope, SEND_STANDARD), 0);
    ck_assert_uint_eq(received(c, &letter, 1, 1 - c->rank), 1);
}

/* What the quick way takes and what it leaves to others; these are not on their way then. */
static void send_some(struct channel *c, const char *text, struct layout *apart)
{
    struct lane *lane = channel_known(c, 1)->peer->lane;
    lane->told = lane->head; /* as if it had looked, and nothing was there */
    boot.crowded = false;
    ck_assert(!goes(c, text, ROW + 1));
    ck_assert(goes(c, text, ROW));
    ck_assert(!goes(c, text, LONG + 1)); /* the first one is not read, or nobody knows */
    ck_assert(goes(c, text, LONG));
    boot.crowded = true; /* the receiver has no processor of its own */
    ck_assert(!goes(c, text, BEHIND + 1));
    boot.crowded = false;
    ck_assert(goes(c, text, BEHIND));
    ck_assert(!pml_send_quick(c, text, 2, apart, 1, TAG));
    ck_assert(!pml_send_quick(c, text, SLOT_BODY + 1, apart, 1, TAG));
    ck_assert(!pml_send_quick(c, text, 1, &layout_bytes, 0, TAG)); /* to oneself */
    ck_assert(!pml_send_quick(c, text, SLOT_BODY + 1, &layout_bytes, 0, TAG));
    struct layout *pair = layout_contiguous(2, &layout_bytes);
    ck_assert(
        !pml_send_quick(c, text, SIZE_MAX / 2 + 1, pair, 1, TAG)); /* too many bytes to count */
    layout_drop(pair);
    gpu_possible = true;
    ck_assert(!goes(c, text, 1));
    ck_assert(!goes(c, text, SLOT_BODY + 1));
    gpu_possible = false;
    params[PARAM_ID_EAGER].number = BEHIND - 1;
    ck_assert(!goes(c, text, BEHIND));
    ck_assert(goes(c, text, BEHIND - 1));
    params[PARAM_ID_EAGER].number = 3;
    ck_assert(!goes(c, text, 4));
    ck_assert(goes(c, text, 3));
}

static void send_oneself(struct channel *c)
{
    char out = 1, in = 0;
    struct request *request;
    struct buffer buffer = job_bytes(&out, 1);
    struct envelope envelope = { .peer = c->rank, .tag = TAG };
    begin_recv(c, &in, 1, c->rank, &request);
    ck_assert_int_eq(pml_send(c, &buffer, &envelope, SEND_STANDARD), 0);
    wait_all(&request, 1);
    ck_assert_int_eq(in, out);
}

static void choose(struct channel *c)
{
    static const size_t taken[] = { ROW, LONG, BEHIND, BEHIND - 1, 3 };
    static char text[LONG + 1], in[LONG + 1];
    struct layout *apart = layout_resized(&layout_bytes, 0, 2);
    for (size_t k = 0; k < sizeof text; k++)
        text[k] = (char)(k * 7);
    if (c->rank == 0)
        ck_assert(!goes(c, text, 1) && !goes(c, text, ROW)); /* never sent to before */
    turn(c);
    send_oneself(c);
    if (c->rank == 0)
        send_some(c, text, apart);
    for (size_t i = 0; i < sizeof taken / sizeof *taken && c->rank == 1; i++) {
        ck_assert_uint_eq(received(c, in, sizeof in, PML_ANY_SOURCE), taken[i]);
        ck_assert_int_eq(memcmp(in, text, taken[i]), 0);
    }
    layout_drop(apart);
}

/* Message i of this rank: of any length that fits slots and a bit more. */
enum { LENGTHS = 1201 };

static void write_long(char *text, int rank, int i, size_t bytes)
{
    for (size_t k = 0; k < bytes; k++)
        text[k] = (char)(rank * 31 + i * 3 + (int)k);
}

/* One way or another.  Was it quick? */
static bool send_one(struct channel *c, int i, size_t bytes, struct request **begun)
{
    static char kept[LENGTHS][LENGTHS];
    char *text = kept[i % LENGTHS];
    struct buffer buffer = job_bytes(text, bytes);
    struct envelope envelope = { .peer = 1 - c->rank, .tag = TAG };
    write_long(text, c->rank, i, bytes);
    *begun = NULL;
    if (i % 5 == 3)
        ck_assert_int_eq(pml_isend(c, &buffer, &envelope, SEND_STANDARD, begun), 0);
    else if (i % 5 == 1)
        ck_assert_int_eq(pml_send(c, &buffer, &envelope, SEND_STANDARD), 0);
    else if (goes(c, text, bytes))
        return true;
    else
        ck_assert_int_eq(pml_send(c, &buffer, &envelope, SEND_STANDARD), 0);
    return false;
}

static void receive_one(struct channel *c, int i, size_t bytes)
{
    static char in[LENGTHS + 1], expected[LENGTHS + 1];
    memset(in, 0, sizeof in);
    memset(expected, 0, sizeof expected);
    write_long(expected, 1 - c->rank, i, bytes);
    ck_assert_uint_eq(received(c, in, sizeof in, i % 2 ? PML_ANY_SOURCE : 1 - c->rank), bytes);
    ck_assert_int_eq(memcmp(in, expected, sizeof in), 0);
}

/* All lengths, in turn or at the same time; then so many at once, by both, that rings are full before anybody reads. */
static void exchange_lengths(struct channel *c)
{
    struct request *requests[BURST];
    int quick = 0;
    for (int i = 0; i < LENGTHS; i++) {
        bool answers = c->rank == 1 && i % 4 < 2;
        if (answers)
            receive_one(c, i, (size_t)i);
        quick += send_one(c, i, (size_t)i, &requests[0]);
        if (!answers)
            receive_one(c, i, (size_t)i);
        if (requests[0])
            wait_all(requests, 1);
    }
    ck_assert_int_gt(quick, BEHIND / 2);
    for (int round = 0; round < 5; round++) {
        int begun = 0, n = BURST + round;
        for (int i = 0; i < BURST; i++) {
            send_one(c, n + i, (size_t)((n + i) * 37 % LENGTHS), &requests[begun]);
            begun += requests[begun] != NULL;
        }
        for (int i = 0; i < BURST; i++)
            receive_one(c, n + i, (size_t)((n + i) * 37 % LENGTHS));
        wait_all(requests, begun);
        meet(c, round);
    }
}

/* Until no slot is free, by lengths that take one or several; nobody reads. */
static int fill_ring(struct channel *c, size_t bytes)
{
    static char text[BEHIND];
    int n = 0;
    for (write_long(text, 0, n, bytes); goes(c, text, bytes); write_long(text, 0, n, bytes))
        ck_assert_int_lt(++n, FULL);
    return n;
}

static void fill_rows(struct channel *c)
{
    static const size_t lengths[] = { BEHIND, SLOT_BODY + 1, 1, SLOT_BODY };
    int slots = (int)bootseg_slots(2), n[4];
    turn(c);
    meet(c, 0);
    for (int i = 0; i < 4 && c->rank == 0; i++)
        n[i] = fill_ring(c, lengths[i]);
    if (c->rank == 0) {
        ck_assert_int_gt(n[0], 3);
        ck_assert_int_le(n[0] * 3 + n[1] * 2 + n[2] + n[3], slots);
        ck_assert_int_ge(n[0] * 3 + n[1] * 2 + n[2] + n[3], slots - 2);
        ck_assert_int_eq(n[3], 0);
        memcpy((void *)(job_word() + 1), n, sizeof n);
    }
    meet(c, 1);
    memcpy(n, (const void *)(job_word() + 1), sizeof n);
    for (int i = 0; i < 4 && c->rank == 1; i++)
        for (int k = 0; k < n[i]; k++) {
            char in[BEHIND + 1], expected[BEHIND];
            write_long(expected, 0, k, lengths[i]);
            ck_assert_uint_eq(received(c, in, sizeof in, 0), lengths[i]);
            ck_assert_int_eq(memcmp(in, expected, lengths[i]), 0);
        }
}

static void chosen(int rank, int n)
{
    struct channel *c = job_world(rank, n);
    gpu_possible = false; /* as nobody has looked */
    choose(c);
    channel_close(c);
}

static void of_all_lengths(int rank, int n)
{
    struct channel *c = job_world(rank, n);
    gpu_possible = false; /* as nobody has looked */
    turn(c);
    exchange_lengths(c);
    channel_close(c);
}

static void rows(int rank, int n)
{
    struct channel *c = job_world(rank, n);
    gpu_possible = false; /* as nobody has looked */
    fill_rows(c);
    channel_close(c);
}

static void ordered(int rank, int n)
{
    struct channel *c = job_world(rank, n);
    gpu_possible = false; /* as nobody has looked */
    exchange(c, 3);       /* so that there are requests at hand */
    if (rank == 0)
        send_all(c);
    else
        receive_all(c);
    channel_close(c);
}

static void both_ways(int rank, int n)
{
    struct channel *c = job_world(rank, n);
    gpu_possible = false; /* as nobody has looked */
    exchange(c, ROUNDS);
    channel_close(c);
}

static void neighbours(int rank, int n)
{
    struct channel *c = job_world(rank, n);
    gpu_possible = false; /* as nobody has looked */
    int quick = 0;
    for (int round = 0; round < ROUNDS; round++)
        exchange_all(c, round, &quick);
    ck_assert_int_gt(quick, ROUNDS * (n - 1) / 2);
    meet(c, ROUNDS);
    channel_close(c);
}

/* 2^31 slots of what does not look for free lines, as chunks, and the lines that were free before
 * look as if they were again.  The ring is full all the same. */
static void fill_all(struct channel *c)
{
    static char text[MESSAGES];
    struct request *requests[MESSAGES];
    int quick = 0;
    struct lane *lane = channel_known(c, 1)->peer->lane;
    lane->owned = lane->head + INT32_MAX;
    for (int i = 0; i < MESSAGES; i++) {
        text[i] = (char)i;
        if (begin_send(c, &text[i], 1, 1, &requests[i - quick]))
            wait_all(&requests[i - quick++], 1); /* so that there is always one at hand */
    }
    ck_assert_int_gt(quick, 3);
    ck_assert_int_lt(quick, (int)bootseg_slots(2));
    atomic_store(job_word(), FULL);
    wait_all(requests, MESSAGES - quick);
}

static void empty_all(struct channel *c)
{
    struct request *request;
    while (atomic_load(job_word()) < FULL)
        sched_yield();
    for (int i = 0; i < MESSAGES; i++) {
        char letter;
        begin_recv(c, &letter, 1, 0, &request);
        wait_all(&request, 1);
        ck_assert_int_eq(letter, (char)i);
    }
}

static void full(int rank, int n)
{
    struct channel *c = job_world(rank, n);
    gpu_possible = false; /* as nobody has looked */
    exchange(c, 3);
    if (rank == 0)
        fill_all(c);
    else
        empty_all(c);
    channel_close(c);
}

static void refused(int rank, int n)
{
    struct channel *c = job_world(rank, n);
    gpu_possible = false; /* as nobody has looked */
    refuse(c);
    channel_close(c);
}

START_TEST(messages_keep_their_order)
{
    ck_assert(job_run(2, ordered));
}
END_TEST

START_TEST(windows_are_quick_both_ways)
{
    ck_assert(job_run(2, both_ways));
}
END_TEST

START_TEST(several_neighbours_are_quick)
{
    ck_assert(job_run(MOST, neighbours));
}
END_TEST

START_TEST(a_full_ring_is_full)
{
    ck_assert(job_run(2, full));
}
END_TEST

START_TEST(other_messages_are_refused)
{
    ck_assert(job_run(2, refused));
}
END_TEST

START_TEST(blocking_sends_take_what_fits)
{
    ck_assert(job_run(2, chosen));
}
END_TEST

START_TEST(blocking_sends_of_all_lengths_keep_their_order)
{
    ck_assert(job_run(2, of_all_lengths));
}
END_TEST

START_TEST(rows_fill_a_ring)
{
    ck_assert(job_run(2, rows));
}
END_TEST

UNIT_MAIN("quick", messages_keep_their_order, windows_are_quick_both_ways,
          several_neighbours_are_quick, a_full_ring_is_full, other_messages_are_refused,
          blocking_sends_take_what_fits, blocking_sends_of_all_lengths_keep_their_order,
          rows_fill_a_ring)
