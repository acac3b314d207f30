/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Receives with wildcards that take the next packet of any sender, against MPI's rule of order: what a
 * receive gets is, of the messages of its sender that it accepts, the first that no earlier receive
 * got.  All ranks draw the same script; the last one receives, from itself as well.
 */
#include "runtime/clock.h"

#include "test/unit/job.h"
#include "test/unit/unit.h"

#include <string.h>

enum { ROUNDS = 1500, MOST_EACH = 4, TAGS = 3, TAG_ANSWER = 9, MOST = 6000, RANKS = 3 };

static uint64_t draws;
static uint32_t draw(uint32_t below)
{
    draws = draws * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(draws >> 33) % below;
}

struct message {
    int tag, number;
    size_t bytes;
};
struct row { /* of one sender, in order */
    int n;
    struct message at[MOST_EACH];
};
static struct row rows[RANKS];

static void rows_draw(int senders)
{
    static const uint32_t most[] = { 1, 24, 60, 480, 580, MOST - 4 };
    static int number;
    for (int source = 0; source < senders; source++) {
        rows[source].n = (int)draw(MOST_EACH + 1);
        if (source == senders - 1 && draw(4)) /* the receiver itself */
            rows[source].n = 0;
        for (int i = 0; i < rows[source].n; i++)
            rows[source].at[i] = (struct message){ .tag = (int)draw(TAGS),
                                                   .number = number++,
                                                   .bytes = 4 + draw(most[draw(6)]) };
    }
}

static char byte_of(int number, size_t at)
{
    return (char)(number * 37 + (int)at * 3 + 1);
}

static void row_send(struct channel *c, int source, int dest)
{
    static char out[MOST_EACH][MOST];
    struct request *request[MOST_EACH];
    for (int i = 0; i < rows[source].n; i++) {
        const struct message *message = &rows[source].at[i];
        for (size_t at = 0; at < message->bytes; at++)
            out[i][at] = byte_of(message->number, at);
        memcpy(out[i], &message->number, sizeof message->number);
        struct buffer data = job_bytes(out[i], message->bytes);
        struct envelope to = { .peer = dest, .tag = message->tag };
        ck_assert_int_eq(pml_isend(c, &data, &to, SEND_STANDARD, &request[i]), 0);
    }
    for (int i = 0; i < rows[source].n; i++)
        ck_assert_int_eq(request_wait(request[i], NULL), 0);
}

/* ---- the receiver ---- */

/* Some message that is still to be received, with or without wildcards. */
static struct envelope wanted_draw(int left)
{
    int which = (int)draw((uint32_t)left), source = 0;
    while (which >= rows[source].n)
        which -= rows[source++].n;
    struct envelope from = { .peer = draw(3) ? PML_ANY_SOURCE : source,
                             .tag = draw(2) ? PML_ANY_TAG : rows[source].at[which].tag };
    return from;
}

/* The receive got the first one that it accepts. */
static void check_got(const struct envelope *from, const char *in, const struct result *r)
{
    if (from->peer >= 0)
        ck_assert_int_eq(r->source, from->peer);
    struct row *row = &rows[r->source];
    int i = 0;
    while (i < row->n && from->tag != PML_ANY_TAG && row->at[i].tag != from->tag)
        i++;
    ck_assert_int_lt(i, row->n);
    struct message first = row->at[i];
    int number;
    memcpy(&number, in, sizeof number);
    ck_assert_int_eq(number, first.number);
    ck_assert_int_eq(r->tag, first.tag);
    ck_assert_uint_eq(r->bytes, first.bytes);
    for (size_t at = sizeof number; at < first.bytes; at++)
        if (in[at] != byte_of(number, at))
            ck_abort_msg("byte %zu of message %d", at, number);
    ck_assert_int_eq(in[first.bytes], 'x');
    memmove(&row->at[i], &row->at[i + 1], (size_t)(--row->n - i) * sizeof row->at[0]);
}

static char in[2][MOST + 1];

static void receive_one(struct channel *c, const struct envelope *from, int which,
                        struct result *r)
{
    struct buffer data = job_bytes(in[which], MOST);
    memset(in[which], 'x', sizeof in[which]);
    ck_assert_int_eq(pml_recv(c, &data, from, r), 0);
}

/* A receive that is posted, and another one that must not overtake it. */
static void receive_two(struct channel *c, int left)
{
    struct envelope first = wanted_draw(left);
    struct envelope second = { .peer = PML_ANY_SOURCE, .tag = PML_ANY_TAG };
    struct buffer data = job_bytes(in[0], MOST);
    struct request *request;
    struct result r[2];
    memset(in[0], 'x', sizeof in[0]);
    ck_assert_int_eq(pml_irecv(c, &data, &first, &request), 0);
    receive_one(c, &second, 1, &r[1]);
    ck_assert_int_eq(request_wait(request, &r[0]), 0);
    check_got(&first, in[0], &r[0]);
    check_got(&second, in[1], &r[1]);
}

static void rows_receive(struct channel *c)
{
    for (;;) {
        int left = rows[0].n + rows[1].n + rows[2].n;
        if (left == 0)
            return;
        if (left > 1 && draw(4) == 0) {
            receive_two(c, left);
            continue;
        }
        struct envelope from = wanted_draw(left);
        struct result r;
        receive_one(c, &from, 0, &r);
        check_got(&from, in[0], &r);
    }
}

static void dawdle(bool yes)
{
    for (int i = 0; yes && i < 300; i++)
        cpu_pause();
}

/* Rounds end together.  What the receiver draws besides is its own. */
static void script(int rank, int n)
{
    struct channel *c = job_world(rank, n);
    progress_open(&boot_record(rank)->bell,
                  false); /* look, though there are more ranks than CPUs */
    int last = n - 1, word = 0;
    struct buffer data = job_bytes(&word, sizeof word);
    for (int round = 0; round < ROUNDS; round++) {
        draws = (uint64_t)round;
        rows_draw(n);
        dawdle(draw(2) == (rank == last));
        row_send(c, rank, last);
        if (rank == last)
            rows_receive(c);
        for (int source = 0; source < last; source++) {
            struct envelope other = { .peer = rank == last ? source : last, .tag = TAG_ANSWER };
            if (rank == last)
                ck_assert_int_eq(pml_send(c, &data, &other, SEND_STANDARD), 0);
            else if (rank == source)
                ck_assert_int_eq(pml_recv(c, &data, &other, NULL), 0);
        }
    }
    ck_assert_uint_eq(channel_posted(c) + channel_unexpected(c), 0);
    channel_close(c);
}

START_TEST(two_ranks)
{
    ck_assert(job_run(2, script));
}
END_TEST

START_TEST(three_ranks)
{
    ck_assert(job_run(3, script));
}
END_TEST

UNIT_MAIN("take_any", two_ranks, three_ranks)
