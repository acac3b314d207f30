/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages whose receiver takes the bytes as they come: all of them, some, or none.
 */
#include "mpi.h"
#include "pml/pml.h"

#include "test/unit/job.h"
#include "test/unit/unit.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 20 };
static const size_t sizes[] = { 0,    1,     8,     64,    500,   1000,  4096,  8192,
                                8193, 16384, 16385, 32768, 40000, 65536, 70000, MOST };
enum { NSIZES = sizeof sizes / sizeof sizes[0] };
static unsigned char all[MOST];

static void fill(void)
{
    for (size_t i = 0; i < MOST; i++)
        all[i] = (unsigned char)(i * 7 + i / 251 + 1);
}

static struct request *isend(struct channel *c, size_t bytes, int tag)
{
    struct buffer data = job_bytes(all, bytes);
    struct envelope to = { .peer = 1, .tag = tag };
    struct request *request = NULL;
    ck_assert_int_eq(pml_isend(c, &data, &to, SEND_STANDARD, &request), 0);
    return request;
}

/* Both have come this far. */
static void meet(struct channel *c, int other)
{
    struct buffer none = job_bytes(NULL, 0);
    struct envelope e = { .peer = other, .tag = 9999 };
    struct request *in;
    ck_assert_int_eq(pml_irecv(c, &none, &e, &in), 0);
    ck_assert_int_eq(pml_send(c, &none, &e, SEND_STANDARD), 0);
    ck_assert_int_eq(request_wait(in, NULL), 0);
}

/* Takes what comes as long as it may, and no more. */
struct taker {
    struct sink sink;
    unsigned char *to;
    size_t most;
};

static bool take_some(struct sink *sink, const char *payload, size_t bytes)
{
    struct taker *taker = (struct taker *)sink;
    if (sink->taken + bytes > taker->most)
        return false;
    memcpy(taker->to + sink->taken, payload, bytes);
    return true;
}

/* What was taken and what landed is all of the message, and nothing of it landed as well. */
static size_t recv_taking(struct channel *c, size_t bytes, size_t most, struct envelope from)
{
    unsigned char *landed = calloc(1, bytes + 1), landed_too = 0;
    struct taker taker = { { take_some, 0 }, calloc(1, bytes + 1), most };
    struct buffer data = job_bytes(landed, bytes);
    ck_assert_int_eq(pml_recv_into(c, &data, &from, &taker.sink), 0);
    size_t taken = taker.sink.taken;
    ck_assert_uint_le(taken, most < bytes ? most : bytes);
    for (size_t i = 0; i < taken; i++)
        landed_too |= landed[i];
    ck_assert(!landed_too);
    memcpy(taker.to + taken, landed + taken, bytes - taken);
    ck_assert(memcmp(taker.to, all, bytes) == 0);
    free(taker.to);
    free(landed);
    return taken;
}

static void taken_as_it_comes(int rank, int n)
{
    struct channel *c = job_world(rank, n);
    static const size_t most[] = { 0, 24000, MOST };
    size_t taken = 0;
    fill();
    for (int i = 0; i < NSIZES; i++)
        for (int k = 0; k < 6; k++) {
            struct envelope from = { .peer = 0, .tag = i };
            struct request *sent = rank == 0 ? isend(c, sizes[i], i) : NULL;
            if (k % 2) /* it is here before it is received */
                meet(c, !rank);
            if (rank == 1)
                taken += recv_taking(c, sizes[i], most[k / 2], from);
            else
                ck_assert_int_eq(request_wait(sent, NULL), 0);
        }
    ck_assert(rank == 0 || taken > 0);
    channel_close(c);
}
START_TEST(messages_taken_as_they_come)
{
    ck_assert(job_run(2, taken_as_it_comes));
}
END_TEST

START_TEST(the_same_without_reading_memory)
{
    setenv("XMPI_SHM_SINGLE_COPY", "none", 1);
    ck_assert(job_run(2, taken_as_it_comes));
}
END_TEST

static void too_long_to_take(int rank, int n)
{
    struct channel *c = job_world(rank, n);
    static unsigned char to[8000], landed[5000];
    struct envelope from = { .peer = 0, .tag = 1 };
    struct taker taker = { { take_some, 0 }, to, sizeof to };
    struct buffer data = job_bytes(landed, sizeof landed);
    if (rank == 0)
        ck_assert_int_eq(request_wait(isend(c, sizeof to, 1), NULL), 0);
    else
        ck_assert_int_eq(pml_recv_into(c, &data, &from, &taker.sink), MPI_ERR_TRUNCATE);
    ck_assert_uint_eq(taker.sink.taken, 0);
    channel_close(c);
}
START_TEST(what_is_too_long_is_not_taken)
{
    ck_assert(job_run(2, too_long_to_take));
}
END_TEST

UNIT_MAIN("sink", messages_taken_as_they_come, the_same_without_reading_memory,
          what_is_too_long_is_not_taken)
