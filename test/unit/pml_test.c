/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages between real processes over shared memory, the network, and to oneself: order, every size class,
 * unexpected messages, wildcards, truncation, synchronous sends, probes, cancel, persistent
 * requests, channels opened late, and ends of processes.
 */
#define _GNU_SOURCE
#include "mpi.h"
#include "pml/link.h"
#include "runtime/fail.h"

#include "test/unit/job.h"
#include "test/unit/unit.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>

enum { BIG = 4 << 20 };
static const size_t sizes[] = { 0,     1,     7,     8,     16,    17,     28,      29,
                                63,    64,    88,    89,    500,   975,    976,     977,
                                1000,  4096,  8191,  8192,  8193,  16384,  16385,   40000,
                                65535, 65536, 65537, 70000, 99999, 262144, 1000003, BIG };
enum { NSIZES = sizeof sizes / sizeof sizes[0] };

static unsigned char pattern(size_t i, int salt)
{
    return (unsigned char)(i * 7 + i / 251 + (size_t)salt * 31);
}

static unsigned char *filled(size_t bytes, int salt)
{
    unsigned char *p = malloc(bytes + 1);
    for (size_t i = 0; i < bytes; i++)
        p[i] = pattern(i, salt);
    return p;
}

static void check_filled(const unsigned char *p, size_t bytes, int salt)
{
    for (size_t i = 0; i < bytes; i++)
        if (p[i] != pattern(i, salt))
            ck_abort_msg("byte %zu of %zu is wrong", i, bytes);
}

static size_t count_zeros(const unsigned char *p, size_t bytes)
{
    size_t zeros = 0;
    for (size_t i = 0; i < bytes; i++)
        zeros += p[i] == 0;
    return zeros;
}

static void send_bytes(struct channel *c, void *p, size_t n, int to, int tag)
{
    struct buffer data = job_bytes(p, n);
    struct envelope e = { .peer = to, .tag = tag };
    ck_assert_int_eq(pml_send(c, &data, &e, SEND_STANDARD), 0);
}

static struct request *isend_bytes(struct channel *c, void *p, size_t n, int to, int tag,
                                   enum send_mode mode)
{
    struct buffer data = job_bytes(p, n);
    struct envelope e = { .peer = to, .tag = tag };
    struct request *request = NULL;
    ck_assert_int_eq(pml_isend(c, &data, &e, mode, &request), 0);
    ck_assert(object_is(request, OBJECT_REQUEST));
    return request;
}

static int recv_bytes(struct channel *c, void *p, size_t n, int from, int tag,
                      struct result *result)
{
    struct buffer data = job_bytes(p, n);
    struct envelope e = { .peer = from, .tag = tag };
    return pml_recv(c, &data, &e, result);
}

static struct request *irecv_bytes(struct channel *c, void *p, size_t n, int from, int tag)
{
    struct buffer data = job_bytes(p, n);
    struct envelope e = { .peer = from, .tag = tag };
    struct request *request = NULL;
    ck_assert_int_eq(pml_irecv(c, &data, &e, &request), 0);
    return request;
}

/* Both have come this far. */
static void meet(struct channel *c, int other)
{
    struct request *in = irecv_bytes(c, NULL, 0, other, 9999);
    send_bytes(c, NULL, 0, other, 9999);
    ck_assert_int_eq(request_wait(in, NULL), 0);
}

/* ---- two ranks ---- */

static void every_size(int rank, int n)
{
    struct channel *c = job_world(rank, n);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < NSIZES; i++) {
            unsigned char *p = filled(sizes[i], i + rank);
            if (rank == 0)
                send_bytes(c, p, sizes[i], 1, i);
            memset(p, 0, sizes[i]);
            struct result r;
            ck_assert_int_eq(recv_bytes(c, p, sizes[i], !rank, i, &r), 0);
            check_filled(p, sizes[i], i + !rank);
            ck_assert_uint_eq(r.bytes, sizes[i]);
            ck_assert_int_eq(r.source, !rank);
            ck_assert_int_eq(r.tag, i);
            if (rank == 1) {
                unsigned char *q = filled(sizes[i], i + rank);
                send_bytes(c, q, sizes[i], 0, i);
                free(q);
            }
            free(p);
        }
    channel_close(c);
}
START_TEST(messages_of_every_size)
{
    ck_assert(job_run(2, every_size));
}
END_TEST

static size_t bytes_of_all(void)
{
    size_t bytes = 0;
    for (int i = 0; i < NSIZES; i++)
        bytes += sizes[i];
    return bytes;
}

/* Many in flight, before any receive is posted, then received in another order. */
static void unexpected(int rank, int n)
{
    struct channel *c = job_world(rank, n);
    const struct param *eager = &params[PARAM_ID_EAGER];
    if (rank == 0) {
        struct request *r[NSIZES];
        unsigned char *p[NSIZES];
        for (int i = 0; i < NSIZES; i++) {
            p[i] = filled(sizes[i], i);
            r[i] =
                isend_bytes(c, p[i], sizes[i], 1, i, i % 3 ? SEND_STANDARD : SEND_SYNCHRONOUS);
        }
        meet(c, 1);
        for (int i = 0; i < NSIZES; i++) {
            struct result result;
            ck_assert_int_eq(request_wait(r[i], &result), 0);
            free(p[i]);
        }
    } else {
        size_t before = pml_counters.unexpected_bytes;
        meet(c, 0);
        if (eager->is_set && eager->number >= BIG) /* all of them were sent unasked */
            ck_assert_uint_eq(pml_counters.unexpected_bytes - before, bytes_of_all());
        for (int i = NSIZES - 1; i >= 0; i--) {
            unsigned char *p = malloc(sizes[i] + 1);
            ck_assert_int_eq(recv_bytes(c, p, sizes[i], i % 2 ? PML_ANY_SOURCE : 0, i, NULL),
                             0);
            check_filled(p, sizes[i], i);
            free(p);
        }
        ck_assert_uint_gt(pml_counters.unexpected, NSIZES - 2);
    }
    channel_close(c);
}
START_TEST(messages_before_their_receives)
{
    ck_assert(job_run(2, unexpected));
}
END_TEST

/* 3000 messages with one tag, sizes mixed so that all ways are taken: order must hold. */
static void order(int rank, int n)
{
    enum { MESSAGES = 3000 };
    static const size_t mixed[] = { 8, 70000, 8, 500, 8, 9000, 40, 30000, 8, 8, 2000 };
    struct channel *c = job_world(rank, n);
    static unsigned char p[70000];
    struct request *r[64] = { 0 };
    static unsigned char out[64][70000];
    for (int i = 0; i < MESSAGES; i++) {
        size_t bytes = mixed[i % 11];
        if (rank == 0) {
            if (r[i % 64])
                request_wait(r[i % 64], NULL);
            memcpy(out[i % 64], &i, sizeof i);
            r[i % 64] = isend_bytes(c, out[i % 64], bytes, 1, 5, SEND_STANDARD);
        } else {
            struct result result;
            int number;
            ck_assert_int_eq(recv_bytes(c, p, sizeof p, i % 2 ? PML_ANY_SOURCE : 0,
                                        i % 3 ? PML_ANY_TAG : 5, &result),
                             0);
            memcpy(&number, p, sizeof number);
            ck_assert_int_eq(number, i);
            ck_assert_uint_eq(result.bytes, bytes);
        }
    }
    for (int i = 0; i < 64; i++)
        if (r[i])
            request_wait(r[i], NULL);
    channel_close(c);
}
START_TEST(order_of_equal_messages)
{
    ck_assert(job_run(2, order));
}
END_TEST

/* What does not fit is cut, told, and disturbs neither the sender nor the next message. */
static void truncation(int rank, int n)
{
    struct channel *c = job_world(rank, n);
    for (int late = 0; late < 2; late++)
        for (int i = 1; i < NSIZES; i++) {
            size_t room = sizes[i] / 3;
            unsigned char *p = filled(sizes[i] + 8, i);
            if (rank == 0) {
                struct request *r = isend_bytes(c, p, sizes[i], 1, i, SEND_STANDARD);
                send_bytes(c, p, 8, 1, 100);
                ck_assert_int_eq(request_wait(r, NULL), 0);
            } else {
                struct result result;
                if (late)
                    ck_assert_int_eq(recv_bytes(c, p, 8, 0, 100, NULL), 0);
                memset(p, 0, sizes[i] + 8);
                ck_assert_int_eq(recv_bytes(c, p, room, 0, i, &result), MPI_ERR_TRUNCATE);
                ck_assert_int_eq(result.error, MPI_ERR_TRUNCATE);
                ck_assert_uint_eq(result.bytes, room);
                ck_assert_ptr_nonnull(strstr(fail_text(), "receive buffer holds"));
                check_filled(p, room, i);
                ck_assert_uint_eq(count_zeros(p + room, sizes[i] - room), sizes[i] - room);
                if (!late)
                    ck_assert_int_eq(recv_bytes(c, p, 8, 0, 100, NULL), 0);
            }
            free(p);
        }
    channel_close(c);
}
START_TEST(truncation_is_the_receivers)
{
    ck_assert(job_run(2, truncation));
}
END_TEST

/* A synchronous send is not complete before it is matched. */
static void synchronous(int rank, int n)
{
    struct channel *c = job_world(rank, n);
    static unsigned char p[200000];
    static const size_t bytes[] = { 0, 8, 500, 30000, 200000 };
    for (int i = 0; i < 5; i++) {
        if (rank == 0) {
            struct request *r = isend_bytes(c, p, bytes[i], 1, i, SEND_SYNCHRONOUS);
            meet(c, 1);
            for (int k = 0; k < 200; k++)
                progress();
            ck_assert_int_eq(r->done, 0);
            send_bytes(c, p, 1, 1, 50);
            ck_assert_int_eq(request_wait(r, NULL), 0);
        } else {
            meet(c, 0);
            ck_assert_int_eq(recv_bytes(c, p, 1, 0, 50, NULL), 0);
            ck_assert_int_eq(recv_bytes(c, p, sizeof p, 0, i, NULL), 0);
        }
    }
    channel_close(c);
}
START_TEST(synchronous_waits_for_the_match)
{
    ck_assert(job_run(2, synchronous));
}
END_TEST

/* A long EAGER message is matched, and its ACK sent, while most of it is not with the link yet:
 * the buffer is the sender's until all of it is. */
static void matched_half_way(int rank, int n)
{
    struct channel *c = job_world(rank, n);
    for (int round = 0; round < 3; round++) {
        unsigned char *p = filled(1000000, round + 1);
        if (rank == 0) {
            meet(c, 1);
            struct request *r = isend_bytes(c, p, 1000000, 1, 1, SEND_SYNCHRONOUS);
            ck_assert_int_eq(request_wait(r, NULL), 0);
            memset(p, 0, 1000000);
            meet(c, 1);
        } else {
            memset(p, 0, 1000000);
            struct request *r = irecv_bytes(c, p, 1000000, 0, 1);
            meet(c, 0);
            while (p[0] == 0)
                progress();
            usleep(5000);
            ck_assert_int_eq(request_wait(r, NULL), 0);
            check_filled(p, 1000000, round + 1);
            meet(c, 0);
        }
        free(p);
    }
    channel_close(c);
}
START_TEST(ack_before_the_last_byte)
{
    params_read();
    params[PARAM_ID_EAGER].number = 8 << 20;
    params[PARAM_ID_EAGER].is_set = true;
    ck_assert(job_run(2, matched_half_way));
}
END_TEST

/* Answers that find the ring full wait, in order, none is lost. */
static void answers(int rank, int n)
{
    enum { EACH = 62 };
    struct channel *c = job_world(rank, n);
    struct request *out[EACH];
    for (int i = 0; i < EACH; i++) /* fills the ring in both directions */
        out[i] = isend_bytes(c, NULL, 0, !rank, rank, rank ? SEND_STANDARD : SEND_SYNCHRONOUS);
    if (rank == 0)
        usleep(5000); /* and does not read meanwhile */
    for (int i = 0; i < EACH; i++)
        ck_assert_int_eq(recv_bytes(c, NULL, 0, !rank, !rank, NULL), 0);
    for (int i = 0; i < EACH; i++)
        ck_assert_int_eq(request_wait(out[i], NULL), 0);
    channel_close(c);
}
START_TEST(answers_wait_for_room)
{
    ck_assert(job_run(2, answers));
}
END_TEST

/* Both stream through chunks at once, so news of what is free comes by two ways. */
static void crossing(int rank, int n)
{
    enum { WINDOW = 40, BYTES = 3000 };
    struct channel *c = job_world(rank, n);
    static unsigned char out[WINDOW][BYTES], in[WINDOW][BYTES];
    for (int round = 0; round < 300; round++) {
        struct request *r[2 * WINDOW];
        for (int i = 0; i < WINDOW; i++)
            r[i] = irecv_bytes(c, in[i], BYTES, !rank, i);
        for (int i = 0; i < WINDOW; i++) {
            memset(out[i], round + i + rank, BYTES);
            r[WINDOW + i] = isend_bytes(c, out[i], BYTES, !rank, i, SEND_STANDARD);
        }
        for (int i = 0; i < 2 * WINDOW; i++)
            ck_assert_int_eq(request_wait(r[i], NULL), 0);
        for (int i = 0; i < WINDOW; i++) {
            memset(out[i], round + i + !rank, BYTES);
            ck_assert_mem_eq(in[i], out[i], BYTES);
        }
    }
    channel_close(c);
}
START_TEST(streams_both_ways)
{
    ck_assert(job_run(2, crossing));
}
END_TEST

static void probes(int rank, int n)
{
    struct channel *c = job_world(rank, n);
    for (int i = 0; i < NSIZES; i++) {
        if (rank == 0) {
            unsigned char *p = filled(sizes[i], i);
            struct request *first = isend_bytes(c, p, sizes[i], 1, i, SEND_STANDARD);
            send_bytes(c, p, sizes[i], 1, i);
            ck_assert_int_eq(request_wait(first, NULL), 0);
            free(p);
            continue;
        }
        struct envelope any = { .peer = PML_ANY_SOURCE, .tag = PML_ANY_TAG };
        struct result r;
        bool found = false;
        while (!found)
            ck_assert_int_eq(pml_iprobe(c, &any, true, &found, &r), 0);
        ck_assert_uint_eq(r.bytes, sizes[i]);
        ck_assert_int_eq(r.tag, i);
        struct message *message = NULL;
        ck_assert_int_eq(pml_improbe(c, &any, true, &message, &r), 0);
        ck_assert(object_is(message, OBJECT_MESSAGE));
        unsigned char *p = malloc(sizes[i] + 1), *q = malloc(sizes[i] + 1);
        ck_assert_int_eq(recv_bytes(c, q, sizes[i], 0, i, NULL), 0); /* the second */
        struct buffer data = job_bytes(p, sizes[i]);
        struct request *request;
        ck_assert_int_eq(pml_imrecv(message, &data, &request), 0);
        ck_assert_int_eq(request_wait(request, &r), 0);
        ck_assert_uint_eq(r.bytes, sizes[i]);
        check_filled(p, sizes[i], i);
        check_filled(q, sizes[i], i);
        free(p);
        free(q);
    }
    channel_close(c);
}
START_TEST(probes_and_matched_receives)
{
    ck_assert(job_run(2, probes));
}
END_TEST

static void cancelled(int rank, int n)
{
    struct channel *c = job_world(rank, n);
    char a[8] = "aaaaaaa", b[8];
    if (rank == 0) {
        meet(c, 1);
        send_bytes(c, a, 8, 1, 3);
    } else {
        struct request *first = irecv_bytes(c, b, 8, 0, 3);
        struct request *second = irecv_bytes(c, b, 8, PML_ANY_SOURCE, 3);
        ck_assert_int_eq(first->ops->cancel(first), 0);
        meet(c, 0);
        struct result r;
        ck_assert_int_eq(request_wait(first, &r), 0);
        ck_assert(r.cancelled);
        ck_assert_int_eq(request_wait(second, &r), 0);
        ck_assert(!r.cancelled);
        ck_assert_str_eq(a, b);
    }
    channel_close(c);
}
START_TEST(cancel_takes_a_receive_away)
{
    ck_assert(job_run(2, cancelled));
}
END_TEST

static void persistent(int rank, int n)
{
    struct channel *c = job_world(rank, n);
    static const size_t bytes[] = { 8, 500, 20000, 100000 };
    for (int i = 0; i < 4; i++) {
        unsigned char *p = filled(bytes[i], 0);
        struct buffer data = job_bytes(p, bytes[i]);
        struct envelope e = { .peer = !rank, .tag = i };
        struct request *r;
        ck_assert_int_eq(rank == 0 ? pml_send_init(c, &data, &e, SEND_SYNCHRONOUS, &r)
                                   : pml_recv_init(c, &data, &e, &r),
                         0);
        for (int round = 0; round < 20; round++) {
            for (size_t k = 0; k < bytes[i] && rank == 0; k++)
                p[k] = pattern(k, round);
            ck_assert_int_eq(r->ops->start(r), 0);
            struct result result;
            ck_assert_int_eq(request_wait(r, &result), 0);
            ck_assert_uint_eq(result.bytes, bytes[i]);
            check_filled(p, bytes[i], round);
            ck_assert(!r->active && r->done);
        }
        r->ops->release(r);
        free(p);
    }
    channel_close(c);
}
START_TEST(persistent_requests_start_again)
{
    ck_assert(job_run(2, persistent));
}
END_TEST

/* Messages for channels that the receiver opens later. */
static void early(int rank, int n)
{
    struct channel *c = job_world(rank, n), late;
    struct ranks *all = ranks_range(n, 0, 1);
    static unsigned char p[50000];
    for (uint64_t context = 88; context < 94; context++) {
        if (rank == 0) {
            ck_assert_int_eq(channel_open(&late, context, rank, all), 0);
            struct request *r[20];
            for (int i = 0; i < 20; i++)
                r[i] = isend_bytes(&late, p, (size_t)i * 2500, 1, 1, SEND_STANDARD);
            meet(c, 1);
            for (int i = 0; i < 20; i++)
                request_wait(r[i], NULL);
        } else {
            meet(c, 0);
            ck_assert_int_eq(channel_open(&late, context, rank, all), 0);
            for (int i = 0; i < 20; i++) {
                struct result result;
                ck_assert_int_eq(recv_bytes(&late, p, sizeof p, 0, 1, &result), 0);
                ck_assert_uint_eq(result.bytes, (size_t)i * 2500);
            }
        }
        channel_close(&late);
        if (context % 3 == 0) /* else rank 0 may be a channel ahead */
            meet(c, !rank);
    }
    channel_close(c);
    ranks_drop(all);
}
START_TEST(messages_ahead_of_their_channel)
{
    ck_assert(job_run(2, early));
}
END_TEST

/* Every other of 8-byte blocks, on either side. */
static void strided(int rank, int n)
{
    struct channel *c = job_world(rank, n);
    static const size_t blocks[] = { 1, 2, 3, 50, 122, 2000, 30000 };
    struct layout *vector = layout_resized(layout_contiguous(8, &layout_bytes), 0, 16);
    for (int i = 0; i < 7; i++)
        for (int way = 0; way < 4; way++) {
            size_t bytes = blocks[i] * 8;
            bool gaps = rank == 0 ? way & 1 : way & 2;
            unsigned char *p = calloc(blocks[i], 16);
            for (size_t k = 0; k < bytes && rank == 0; k++)
                p[gaps ? k / 8 * 16 + k % 8 : k] = pattern(k, way);
            struct buffer data =
                gaps ? (struct buffer){ p, blocks[i], vector, HERE } : job_bytes(p, bytes);
            struct envelope e = { .peer = !rank, .tag = way };
            ck_assert_int_eq(rank == 0 ? pml_send(c, &data, &e, SEND_STANDARD)
                                       : pml_recv(c, &data, &e, NULL),
                             0);
            for (size_t k = 0; k < bytes; k++)
                if (p[gaps ? k / 8 * 16 + k % 8 : k] != pattern(k, way))
                    ck_abort_msg("byte %zu of %zu is wrong", k, bytes);
            for (size_t k = 0; k < blocks[i] && gaps; k++)
                ck_assert_uint_eq(count_zeros(p + k * 16 + 8, 8), 8);
            free(p);
        }
    channel_close(c);
}
START_TEST(layouts_with_gaps)
{
    ck_assert(job_run(2, strided));
}
END_TEST

/* ---- one rank ---- */

static void to_self(int rank, int n)
{
    struct channel *c = job_world(rank, n);
    for (int i = 0; i < NSIZES; i++)
        for (int way = 0; way < 3; way++) {
            unsigned char *p = filled(sizes[i], i), *q = malloc(sizes[i] + 1);
            struct request *r = NULL;
            if (way == 0) { /* receive posted, blocking send */
                r = irecv_bytes(c, q, sizes[i], 0, 1);
                send_bytes(c, p, sizes[i], 0, 1);
            } else {
                r = isend_bytes(c, p, sizes[i], 0, 1,
                                way == 1 ? SEND_STANDARD : SEND_SYNCHRONOUS);
                ck_assert_int_eq(recv_bytes(c, q, sizes[i], 0, PML_ANY_TAG, NULL), 0);
            }
            ck_assert_int_eq(request_wait(r, NULL), 0);
            check_filled(q, sizes[i], i);
            free(p);
            free(q);
        }
    char byte = 1;
    send_bytes(c, &byte, 1, 0, 1); /* buffered up to the eager limit */
    ck_assert_int_eq(recv_bytes(c, &byte, 1, 0, 1, NULL), 0);
    channel_close(c);
}
START_TEST(messages_to_oneself)
{
    ck_assert(job_run(1, to_self));
}
END_TEST

/* ---- more ranks ---- */

static void all_to_all(int rank, int n)
{
    struct channel *c = job_world(rank, n);
    for (int i = 0; i < NSIZES - 1; i++) {
        struct request *r[2 * 16];
        unsigned char *in[16], *out[16];
        for (int peer = 0; peer < n; peer++) {
            in[peer] = malloc(sizes[i] + 1);
            out[peer] = filled(sizes[i], rank * n + peer);
            r[peer] = irecv_bytes(c, in[peer], sizes[i], peer, i);
        }
        for (int peer = 0; peer < n; peer++)
            r[n + peer] = isend_bytes(c, out[peer], sizes[i], peer, i, SEND_STANDARD);
        for (int k = 0; k < 2 * n; k++)
            ck_assert_int_eq(request_wait(r[k], NULL), 0);
        for (int peer = 0; peer < n; peer++) {
            check_filled(in[peer], sizes[i], peer * n + rank);
            free(in[peer]);
            free(out[peer]);
        }
    }
    channel_close(c);
}
START_TEST(all_to_all_of_four)
{
    ck_assert(job_run(4, all_to_all));
}
END_TEST
START_TEST(all_to_all_of_nine)
{
    ck_assert(job_run(9, all_to_all));
}
END_TEST

/* Everybody sends much to rank 0, which takes whatever comes; per source, order holds. */
static void flood(int rank, int n)
{
    enum { EACH = 2000 };
    struct channel *c = job_world(rank, n);
    int seen[16] = { 0 };
    static char p[5000];
    if (rank == 0)
        for (int i = 0; i < EACH * (n - 1); i++) {
            struct result r;
            int number;
            ck_assert_int_eq(recv_bytes(c, p, sizeof p, PML_ANY_SOURCE, PML_ANY_TAG, &r), 0);
            memcpy(&number, p, sizeof number);
            ck_assert_int_eq(number, seen[r.source]++);
        }
    else
        for (int i = 0; i < EACH; i++) {
            memcpy(p, &i, sizeof i);
            send_bytes(c, p, i % 7 == 0 ? 5000 : i % 5 == 0 ? 400 : 8, 0, i);
        }
    channel_close(c);
}
START_TEST(flood_of_one_rank)
{
    ck_assert(job_run(6, flood));
}
END_TEST

/* A peer that does not read sits on chunks; messages to others go through all the same. */
static void deaf(int rank, int n)
{
    struct channel *c = job_world(rank, n);
    static char p[60000];
    if (rank == 0) {
        struct request *r[5 * 20];
        for (int i = 0; i < 20; i++)
            for (int peer = 2; peer < n; peer++)
                r[i * (n - 2) + peer - 2] = isend_bytes(c, p, sizeof p, peer, 1, SEND_STANDARD);
        for (int i = 0; i < 50; i++)
            send_bytes(c, p, sizeof p, 1, 1);
        for (int peer = 2; peer < n; peer++) {
            while (atomic_load(&boot_record(peer)->pid) == 0)
                usleep(100);
            kill(boot_record(peer)->pid, SIGUSR1);
        }
        for (int i = 0; i < 20 * (n - 2); i++)
            request_wait(r[i], NULL);
    } else {
        if (rank > 1) {
            int number;
            sigset_t set;
            sigemptyset(&set);
            sigaddset(&set, SIGUSR1);
            sigprocmask(SIG_BLOCK, &set, NULL);
            boot_record(rank)->pid = getpid();
            send_bytes(c, NULL, 0, 1, 2);
            sigwait(&set, &number);
        } else {
            for (int peer = 2; peer < n; peer++)
                recv_bytes(c, NULL, 0, peer, 2, NULL);
        }
        for (int i = 0; i < (rank == 1 ? 50 : 20); i++)
            ck_assert_int_eq(recv_bytes(c, p, sizeof p, 0, 1, NULL), 0);
    }
    channel_close(c);
}
START_TEST(peers_that_do_not_read)
{
    ck_assert(job_run(7, deaf));
}
END_TEST

/* ---- anything ---- */

static uint64_t draws;
static uint32_t draw(uint32_t below)
{
    draws = draws * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(draws >> 33) % below;
}

enum { SCRIPT = 60 };
struct line { /* one message of a script that all ranks draw alike */
    int from, to, mode, way;
    size_t bytes, room; /* room: of the receive buffer */
    struct request *send, *recv;
    unsigned char *out, *in;
};

static void line_draw(struct line *m, int n)
{
    static const uint32_t most[] = { 1, 30, 60, 600, 1500, 10000, 70000, 300000 };
    *m = (struct line){ .from = (int)draw((uint32_t)n),
                        .to = (int)draw((uint32_t)n),
                        .mode = draw(4) == 0 ? SEND_SYNCHRONOUS : SEND_STANDARD,
                        .way = (int)draw(3),
                        .bytes = draw(most[draw(8)]) };
    m->room = draw(5) == 0 ? m->bytes / 2 : m->bytes + draw(3);
}

static void line_post(struct channel *c, struct line *m, int tag)
{
    m->in = calloc(1, m->room + 1);
    m->recv = irecv_bytes(c, m->in, m->room, m->way == 1 ? PML_ANY_SOURCE : m->from, tag);
}

static void line_check(struct line *m, int tag)
{
    struct result r;
    bool cut = m->bytes > m->room;
    size_t landed = cut ? m->room : m->bytes;
    ck_assert_int_eq(request_wait(m->recv, &r), cut ? MPI_ERR_TRUNCATE : 0);
    ck_assert_uint_eq(r.bytes, landed);
    ck_assert_int_eq(r.source, m->from);
    ck_assert_int_eq(r.tag, tag);
    check_filled(m->in, landed, tag);
    free(m->in);
}

/* Some receives are posted before, some after the sends, in different orders. */
static void script_play(struct channel *c, struct line *script, int rank, int tag)
{
    for (int i = SCRIPT - 1; i >= 0; i--)
        if (script[i].to == rank && script[i].way < 2)
            line_post(c, &script[i], tag + i);
    for (int i = 0; i < SCRIPT; i++) {
        struct line *m = &script[i];
        if (m->from != rank)
            continue;
        m->out = filled(m->bytes, tag + i);
        m->send = isend_bytes(c, m->out, m->bytes, m->to, tag + i, (enum send_mode)m->mode);
    }
    for (int i = 0; i < SCRIPT; i++)
        if (script[i].to == rank && script[i].way == 2)
            line_post(c, &script[i], tag + i);
    for (int i = 0; i < SCRIPT; i++) {
        if (script[i].to == rank)
            line_check(&script[i], tag + i);
        if (script[SCRIPT - 1 - i].from == rank) {
            ck_assert_int_eq(request_wait(script[SCRIPT - 1 - i].send, NULL), 0);
            free(script[SCRIPT - 1 - i].out);
        }
    }
}

static void anything(int rank, int n)
{
    struct channel *c = job_world(rank, n);
    static struct line script[SCRIPT];
    draws = 42;
    for (int round = 0; round < 60; round++) {
        for (int i = 0; i < SCRIPT; i++)
            line_draw(&script[i], n);
        script_play(c, script, rank, round * SCRIPT);
    }
    channel_close(c);
}
START_TEST(random_scripts)
{
    for (int n = 1; n <= 5; n++)
        ck_assert(job_run(n, anything));
}
END_TEST

/* The limit between EAGER and rendezvous moves; nothing else may. */
START_TEST(other_eager_limits)
{
    static const int limits[] = { 10, 400, 20000, 8 << 20 };
    params_read();
    for (int i = 0; i < 4; i++) {
        params[PARAM_ID_EAGER].number = limits[i];
        params[PARAM_ID_EAGER].is_set = i % 2;
        ck_assert(job_run(2, every_size));
        ck_assert(job_run(2, unexpected));
        ck_assert(job_run(2, truncation));
        ck_assert(job_run(3, anything));
    }
}
END_TEST

/* ---- single copy ---- */

static void with_wish(const char *wish, int n, job_body *body)
{
    params_read();
    params[PARAM_ID_SHM_SINGLE_COPY].string = wish;
    ck_assert(job_run(n, body));
}

START_TEST(every_way_of_long_messages)
{
    static const char *const wishes[] = { "none", "cma", "both", "auto" };
    static job_body *const bodies[] = { every_size,  unexpected, order,   truncation,
                                        synchronous, probes,     strided, persistent };
    for (int i = 0; i < 4; i++) {
        for (size_t k = 0; k < sizeof bodies / sizeof bodies[0]; k++)
            with_wish(wishes[i], 2, bodies[k]);
        with_wish(wishes[i], 1, to_self);
        with_wish(wishes[i], 4, all_to_all);
        with_wish(wishes[i], 3, anything);
    }
}
END_TEST

/* Windows of messages, long enough that every way is learnt and taken. */
static void windows(int rank, int n)
{
    enum { WINDOW = 24 };
    static const size_t lengths[] = { 12000, 50000, 300000, 1500000 };
    struct channel *c = job_world(rank, n);
    for (int i = 0; i < 4; i++) {
        size_t bytes = lengths[i];
        unsigned char *out = malloc(bytes * WINDOW), *in = malloc(bytes * WINDOW);
        for (int round = 0; round < 20; round++) {
            struct request *r[2 * WINDOW];
            for (int k = 0; k < WINDOW; k++) {
                memset(in + bytes * (size_t)k, 0, bytes);
                r[k] = irecv_bytes(c, in + bytes * (size_t)k, bytes, !rank, k);
            }
            for (int k = 0; k < WINDOW; k++) {
                unsigned char *p = out + bytes * (size_t)k;
                memset(p, 1 + rank + k + round, bytes);
                r[WINDOW + k] = isend_bytes(c, p, bytes, !rank, k, SEND_STANDARD);
            }
            for (int k = 0; k < 2 * WINDOW; k++)
                ck_assert_int_eq(request_wait(r[k], NULL), 0);
            for (int k = 0; k < WINDOW; k++) {
                unsigned char *p = in + bytes * (size_t)k;
                ck_assert_int_eq(p[0], 1 + !rank + k + round);
                ck_assert_mem_eq(p, p + 1, bytes - 1); /* all alike */
            }
        }
        free(out);
        free(in);
    }
    channel_close(c);
}
START_TEST(windows_of_long_messages)
{
    with_wish("both", 2, windows);
    with_wish("auto", 2, windows);
}
END_TEST

static uint64_t well_known = 42;
static bool memory_may_be_read(void)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        uint64_t seen = 0;
        struct iovec here = { &seen, sizeof seen }, there = { &well_known, sizeof seen };
        _exit(process_vm_readv(getppid(), &here, 1, &there, 1, 0) == sizeof seen ? 0 : 1);
    }
    return waitpid(pid, &status, 0) == pid && status == 0;
}

/* A sender that computes is not needed: its message arrives, its request completes later. */
static void absent(int rank, int n)
{
    struct channel *c = job_world(rank, n);
    static unsigned char p[400000];
    _Atomic int *received = job_word();
    if (rank == 0) {
        unsigned char *q = filled(sizeof p, 1);
        struct request *r = isend_bytes(c, q, sizeof p, 1, 1, SEND_STANDARD);
        /* not before the receiver says so, and without a single look */
        while (atomic_load(received) == 0)
            usleep(100);
        ck_assert_int_eq(request_wait(r, NULL), 0);
        free(q);
    } else {
        ck_assert_int_eq(recv_bytes(c, p, sizeof p, 0, 1, NULL), 0);
        check_filled(p, sizeof p, 1);
        ck_assert_uint_eq(pml_counters.bytes_read, sizeof p);
        atomic_store(received, 1);
    }
    channel_close(c);
}
START_TEST(the_sender_may_be_away)
{
    if (!memory_may_be_read())
        return; /* then he may not */
    with_wish("cma", 2, absent);
    with_wish("both", 2, absent);
}
END_TEST

/* No rights: at first, or all of a sudden.  Everything is copied then. */
static void forbidden(int rank, int n)
{
    struct channel *c = job_world(rank, n);
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        _exit(77);
    prctl(PR_SET_DUMPABLE, 1);
    meet(c, !rank);
    for (int round = 0; round < 4; round++) {
        if (round == 2 && rank == 1)
            prctl(PR_SET_DUMPABLE, 0);
        meet(c, !rank);
        struct request *r[2 * NSIZES];
        unsigned char *in[NSIZES], *out[NSIZES];
        for (int i = 0; i < NSIZES; i++) {
            in[i] = malloc(sizes[i] + 1);
            out[i] = filled(sizes[i], i + rank);
            r[i] = irecv_bytes(c, in[i], sizes[i], !rank, i);
        }
        for (int i = 0; i < NSIZES; i++)
            r[NSIZES + i] = isend_bytes(c, out[i], sizes[i], !rank, i, SEND_STANDARD);
        for (int i = 0; i < 2 * NSIZES; i++)
            ck_assert_int_eq(request_wait(r[i], NULL), 0);
        for (int i = 0; i < NSIZES; i++) {
            check_filled(in[i], sizes[i], i + !rank);
            free(in[i]);
            free(out[i]);
        }
    }
    channel_close(c);
}
START_TEST(memory_that_may_not_be_read)
{
    with_wish("auto", 2, forbidden);
    with_wish("cma", 2, forbidden);
    with_wish("both", 2, forbidden);
}
END_TEST

/* ---- over the network ---- */

static void apart(int n, job_body *body)
{
    params_read();
    job_apart = true;
    ck_assert(job_run(n, body));
}

START_TEST(the_same_over_the_network)
{
    if (!link_ofi.put)
        return; /* not built */
    static job_body *const bodies[] = { every_size,  unexpected, order,   truncation,
                                        synchronous, probes,     strided, persistent };
    for (size_t k = 0; k < sizeof bodies / sizeof bodies[0]; k++)
        apart(2, bodies[k]);
    apart(4, all_to_all);
    apart(3, anything);
}
END_TEST

/* Less may come unasked than one message is long, or than a burst of small ones. */
START_TEST(small_windows_over_the_network)
{
    static const long long windows[] = { 1, 300, 70000 };
    for (int i = 0; i < 3 && link_ofi.put; i++) {
        params_read();
        params[PARAM_ID_OFI_WINDOW].number = windows[i];
        apart(2, every_size);
        apart(2, unexpected);
        apart(3, anything);
    }
}
END_TEST

/* ---- ends ---- */

static void unread(int rank, int n)
{
    struct channel *c = job_world(rank, n);
    static char p[100000];
    if (rank == 0) { /* freed while in flight: close must bring them to the other side */
        for (int i = 0; i < 100; i++) {
            struct request *r = isend_bytes(c, p, 1000 * (size_t)i, 1, 1, SEND_STANDARD);
            if (r->done)
                r->ops->release(r);
            else
                r->orphan = true;
        }
    } else {
        usleep(20000);
        for (int i = 0; i < 100; i++)
            ck_assert_int_eq(recv_bytes(c, p, sizeof p, 0, 1, NULL), 0);
    }
    channel_close(c);
}
START_TEST(close_delivers_what_was_freed)
{
    ck_assert(job_run(2, unread));
}
END_TEST

static void abandoned(int rank, int n)
{
    struct channel *c = job_world(rank, n);
    static char p[100000];
    if (rank == 0)
        for (int i = 0; i < 100; i++)
            isend_bytes(c, p, sizeof p, 1, 1, SEND_STANDARD)->orphan = true;
    else
        usleep(20000); /* leaves without receiving anything */
    channel_close(c);
}
START_TEST(close_does_not_wait_for_the_gone)
{
    ck_assert(job_run(2, abandoned));
}
END_TEST

/* The peer ends without a word; the launcher (here: job_run) marks it dead. */
static void vanished(int rank, int n)
{
    static char p[100000];
    if (rank == 1)
        _exit(0);
    struct channel *c = job_world(rank, n);
    for (int i = 0; i < 100; i++)
        isend_bytes(c, p, sizeof p, 1, 1, SEND_STANDARD)->orphan = true;
    channel_close(c);
}
START_TEST(close_does_not_wait_for_the_dead)
{
    ck_assert(job_run(2, vanished));
}
END_TEST

UNIT_MAIN("pml", ack_before_the_last_byte, answers_wait_for_room, streams_both_ways,
          messages_of_every_size, messages_before_their_receives, order_of_equal_messages,
          truncation_is_the_receivers, synchronous_waits_for_the_match,
          probes_and_matched_receives, cancel_takes_a_receive_away,
          persistent_requests_start_again, messages_ahead_of_their_channel, layouts_with_gaps,
          messages_to_oneself, all_to_all_of_four, all_to_all_of_nine, flood_of_one_rank,
          peers_that_do_not_read, random_scripts, other_eager_limits,
          every_way_of_long_messages, windows_of_long_messages, the_sender_may_be_away,
          memory_that_may_not_be_read, the_same_over_the_network,
          small_windows_over_the_network, close_delivers_what_was_freed,
          close_does_not_wait_for_the_gone, close_does_not_wait_for_the_dead)
