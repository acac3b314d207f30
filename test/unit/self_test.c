/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages to oneself: which arrive in the call that sends them, and that those keep their place among what
 * waits in the list for the next round.
 */
#include "mpi.h"
#include "pml/link.h"

#include "test/unit/job.h"
#include "test/unit/unit.h"

#include <string.h>

enum { TAG = 3, LONG = 20000, MESSAGES = 3000, TAGS = 3, OPEN = 32 };

static struct request *begin_recv(struct channel *c, void *to, size_t bytes, int tag)
{
    struct buffer buffer = job_bytes(to, bytes);
    struct envelope from = { .peer = 0, .tag = tag };
    struct request *request = NULL;
    ck_assert_int_eq(pml_irecv(c, &buffer, &from, &request), 0);
    return request;
}

static struct request *begin_send(struct channel *c, const void *from, size_t bytes, int tag)
{
    struct buffer buffer = job_bytes((void *)from, bytes);
    struct envelope to = { .peer = 0, .tag = tag };
    struct request *request = NULL;
    ck_assert_int_eq(pml_isend(c, &buffer, &to, SEND_STANDARD, &request), 0);
    return request;
}

static void end(struct request *request)
{
    ck_assert_int_eq(request_wait(request, NULL), 0);
}

/* ---- at once ---- */

static void at_once(int rank, int size)
{
    struct channel *c = job_world(rank, size);
    static char in[4096], out[4096];
    static const size_t sizes[] = { 0, 1, 64, 65, 1000, 4096 };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        memset(out, (int)i + 1, sizeof out);
        struct request *recv = begin_recv(c, in, sizes[i], TAG);
        struct request *send = begin_send(c, out, sizes[i], TAG);
        ck_assert(recv->done && send->done);
        end(send);
        end(recv);
        ck_assert_int_eq(memcmp(in, out, sizes[i]), 0);

        memset(in, 0, sizeof in);
        send = begin_send(c, out, sizes[i], TAG);
        recv = begin_recv(c, in, sizes[i], TAG); /* it is here already */
        ck_assert(recv->done);
        end(send);
        end(recv);
        ck_assert_int_eq(memcmp(in, out, sizes[i]), 0);
    }
    channel_close(c);
}
START_TEST(short_ones_arrive_in_the_call_that_sends)
{
    ck_assert(job_run(1, at_once));
}
END_TEST

static void too_long(int rank, int size)
{
    struct channel *c = job_world(rank, size);
    char in[4] = { 0 }, out[8] = { 1 };
    struct request *recv = begin_recv(c, in, sizeof in, TAG);
    end(begin_send(c, out, sizeof out, TAG));
    ck_assert_int_eq(request_wait(recv, NULL), MPI_ERR_TRUNCATE);
    channel_close(c);
}
START_TEST(a_buffer_that_is_too_short_is_told)
{
    ck_assert(job_run(1, too_long));
}
END_TEST

/* ---- in the list ---- */

/* Of a collective: what its receive sets off may not happen within a send. */
static void of_collective(int rank, int size)
{
    struct channel *world = job_world(rank, size), c;
    ck_assert_int_eq(channel_open(&c, 7, rank, world->peers), 0);
    char in[8] = { 0 }, out[8] = { 1 };
    struct request *recv = begin_recv(&c, in, sizeof in, TAG);
    struct request *send = begin_send(&c, out, sizeof out, TAG);
    ck_assert(!recv->done);
    end(recv);
    end(send);
    channel_close(&c);
    channel_close(world);
}
START_TEST(those_of_collectives_wait_for_a_round)
{
    ck_assert(job_run(1, of_collective));
}
END_TEST

static void behind(int rank, int size)
{
    struct channel *c = job_world(rank, size);
    static char big[LONG], first[LONG];
    char small = 2, second = 0;
    memset(big, 1, sizeof big);
    struct request *recvs[] = { begin_recv(c, first, sizeof first, TAG),
                                begin_recv(c, &second, 1, TAG) };
    struct request *sends[] = { begin_send(c, big, sizeof big, TAG),
                                begin_send(c, &small, 1, TAG) };
    ck_assert(!recvs[1]->done);
    for (int i = 0; i < 2; i++) {
        end(recvs[i]);
        end(sends[i]);
    }
    ck_assert_int_eq(first[LONG - 1], 1);
    ck_assert_int_eq(second, 2);
    channel_close(c);
}
START_TEST(a_short_one_waits_behind_a_long_one)
{
    ck_assert(job_run(1, behind));
}
END_TEST

/* In mid-round: some that were in the list are not yet where they belong. */
static struct channel *during_c;
static bool during_sent;

static int send_during(void)
{
    if (!during_sent)
        end(begin_send(during_c, &(char){ 9 }, 1, TAG));
    during_sent = true;
    return 0;
}

static void during(int rank, int size)
{
    during_c = job_world(rank, size);
    char in = 0;
    struct request *recv = begin_recv(during_c, &in, 1, TAG);
    progress_add(send_during);
    progress_round();
    ck_assert(during_sent && !recv->done);
    progress_remove(send_during);
    end(recv);
    ck_assert_int_eq(in, 9);
    channel_close(during_c);
}
START_TEST(what_is_sent_in_mid_round_waits_for_the_next_one)
{
    ck_assert(job_run(1, during));
}
END_TEST

/* ---- order ---- */

static size_t length_of(int i)
{
    return i % 11 == 10 ? LONG : i % 5 == 4 ? 3000 : 4;
}

static struct request *sent[MESSAGES], *received[MESSAGES];
static char *room[MESSAGES];
static int begun[TAGS]; /* receives of each tag */

static void receive_next(struct channel *c, int tag)
{
    int i = tag + TAGS * begun[tag]++;
    if (i >= MESSAGES)
        return;
    room[i] = calloc(1, LONG);
    received[i] = begin_recv(c, room[i], LONG, tag);
}

static void check_numbers(void)
{
    for (int i = 0; i < MESSAGES; i++) {
        struct result result;
        int number;
        ck_assert_int_eq(request_wait(received[i], &result), 0);
        end(sent[i]);
        memcpy(&number, room[i], sizeof number);
        ck_assert_int_eq(number, i);
        ck_assert_uint_eq(result.bytes, length_of(i));
        free(room[i]);
    }
}

/* Of each tag message n is for receive n, whichever was first and which way it went. */
static void in_order(int rank, int size)
{
    struct channel *c = job_world(rank, size);
    static char out[OPEN][LONG];
    unsigned dice = 1;
    for (int i = 0; i < MESSAGES; i++) {
        if (i >= OPEN) { /* its memory is used again */
            while (begun[i % TAGS] * TAGS <= i - OPEN)
                receive_next(c, i % TAGS);
            while (!sent[i - OPEN]->done)
                progress();
        }
        memcpy(out[i % OPEN], &i, sizeof i);
        sent[i] = begin_send(c, out[i % OPEN], length_of(i), i % TAGS);
        dice = dice * 1103515245 + 12345;
        for (unsigned n = dice >> 16 & 3; n > 0; n--)
            receive_next(c, (int)(dice >> 20) % TAGS);
        if ((dice >> 24) % 8 == 0)
            progress();
    }
    for (int tag = 0; tag < TAGS; tag++)
        while (begun[tag] < MESSAGES / TAGS)
            receive_next(c, tag);
    check_numbers();
    channel_close(c);
}
START_TEST(order_is_kept_whichever_way_they_go)
{
    ck_assert(job_run(1, in_order));
}
END_TEST

UNIT_MAIN("self", short_ones_arrive_in_the_call_that_sends, a_buffer_that_is_too_short_is_told,
          those_of_collectives_wait_for_a_round, a_short_one_waits_behind_a_long_one,
          what_is_sent_in_mid_round_waits_for_the_next_one, order_is_kept_whichever_way_they_go)
