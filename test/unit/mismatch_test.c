/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two ranks in different collectives, and what must not look like it: words that nobody is there for,
 * numbers that have gone once around, questions to somebody who is late.
 */
#include "coll/tell.h"

#include "mpi.h"
#include "runtime/clock.h"
#include "runtime/fail.h"

#include "test/unit/job.h"
#include "test/unit/unit.h"

#include <string.h>

static const uint64_t LATE_NS = 900000000; /* more than twice as long as nobody asks */

static struct team team;
static uint32_t data[2];

static void open_team(int rank, int n)
{
    struct ranks *all = ranks_range(n, 0, 1);
    team_open(&team, &(struct ticket){ 100, 0 }, rank, all, 0);
    ranks_drop(all);
}

static void poll_for(uint64_t ns)
{
    for (uint64_t begin = clock_ns(); clock_ns() - begin < ns;)
        progress();
}

static struct part part(void *base, int blocks)
{
    return (struct part){ .base = base,
                          .layout = layout_basic(BASIC_UINT32, 4, 4),
                          .count = blocks };
}

static int barrier(void)
{
    return coll_run(&team, &(struct call){ .what = COLL_BARRIER });
}

static int bcast(int root)
{
    return coll_run(&team,
                    &(struct call){ .what = COLL_BCAST, .root = root, .recv = part(data, 1) });
}

/* The root only receives. */
static int gather(int root)
{
    static uint32_t mine;
    struct call call = {
        .what = COLL_GATHER, .root = root, .send = part(&mine, 1), .recv = part(data, 1)
    };
    return coll_run(&team, &call);
}

static void must(bool good, int code)
{
    if (!good)
        _exit(code);
}

/* ---- strays ---- */

static void roots_after_a_question(int rank, int n)
{
    open_team(rank, n);
    for (int root = 0; root < n; root++) { /* all are asked: one that is not would find it */
        if (rank != root)
            poll_for(LATE_NS);
        must(gather(root) == 0, 20);
    }
    bcast(rank);
    int error = barrier();
    error = error ? error : barrier();
    must(error == MPI_ERR_OTHER && strstr(fail_text(), "MPI_Bcast with root"), 21);
    team_close(&team);
}

START_TEST(strays_are_found_after_a_question)
{
    ck_assert(job_run(2, roots_after_a_question));
}
END_TEST

/* ---- numbers ---- */

static struct request *persistent_bcast(void)
{
    struct request *request;
    struct call call = { .what = COLL_BCAST, .root = 0, .recv = part(data, 1) };
    must(coll_init(&team, &call, &request) == 0, 30);
    return request;
}

/* Rank 1 starts it when another collective has the number of its making, but for bits that are not sent. */
static void persistent_of_old(int rank, int n)
{
    open_team(rank, n);
    must(barrier() == 0, 31);
    struct request *request = persistent_bcast();
    team.calls += COLL_NUMBERS;
    for (int i = 0; i < 3; i++) {
        if (rank == 0)
            must(request->ops->start(request) == 0, 32);
        for (int k = 0; k < 3; k++)
            must(barrier() == 0, 33);
        if (rank == 1)
            must(request->ops->start(request) == 0, 34);
        must(request_wait(request, NULL) == 0, 35);
    }
    request->ops->release(request);
    team_close(&team);
}

START_TEST(old_persistent_ones_are_no_strays)
{
    ck_assert(job_run(2, persistent_of_old));
}
END_TEST

static void around(int rank, int n)
{
    static const uint32_t from[] = { 0x3ffffff0, 0x7ffffff0, 0xfffffff0 };
    open_team(rank, n);
    for (int i = 0; i < 3; i++) {
        team.calls = from[i];
        for (int k = 0; k < 40; k++) {
            struct request *request = k % 8 == 0 ? persistent_bcast() : NULL;
            must(barrier() == 0 && bcast(k % 2) == 0, 36);
            must((team.said[team.calls % TEAM_SAID] >> 32 & ~COLL_NUMBERS) == 0, 37);
            if (request)
                request->ops->release(request);
        }
    }
    must(bcast(rank) + barrier() + barrier() != 0, 38);
    must(!strstr(fail_text(), "_init"), 39);
    team_close(&team);
}

START_TEST(numbers_go_around)
{
    ck_assert(job_run(2, around));
}
END_TEST

START_TEST(numbers_are_ahead_across_the_end)
{
    enum { HALF = COLL_NUMBERS / 2 };
    ck_assert_int_eq(numbers_ahead(7, 7), 0);
    ck_assert_int_eq(numbers_ahead(8, 7), 1);
    ck_assert_int_eq(numbers_ahead(7, 9), -2);
    ck_assert_int_eq(numbers_ahead(0, COLL_NUMBERS), 1);
    ck_assert_int_eq(numbers_ahead(COLL_NUMBERS, 0), -1);
    ck_assert_int_eq(numbers_ahead(3, COLL_NUMBERS - 3), 7);
    ck_assert_int_eq(numbers_ahead(HALF, 0), HALF);
    ck_assert_int_eq(numbers_ahead(0, HALF), -HALF);
    ck_assert_int_eq(numbers_ahead(COLL_PERSISTENT | 5, 4), 1);
    ck_assert_int_eq(numbers_ahead(5, UINT32_MAX), 6); /* team->calls is not cut */
}
END_TEST

/* ---- words ---- */

static int words;

static void word_count(struct channel *channel, const struct envelope *from,
                       const void *payload, size_t bytes)
{
    (void)channel, (void)from, (void)payload, (void)bytes;
    words++;
}
static void nothing(void)
{
}
static int nothing_settled(void)
{
    return 0;
}
static int no_fail(const struct mismatch *m)
{
    (void)m;
    return 0;
}
static const struct pml_judge counter = { no_fail, word_count, nothing, nothing_settled, NULL };

static void word_to(struct channel *channel, int peer, uint32_t step)
{
    struct buffer none = job_bytes(NULL, 0);
    must(pml_send(channel, &none, &(struct envelope){ .peer = peer, .step = step },
                  SEND_STANDARD) == 0,
         40);
}

static void words_ahead(int rank, int n)
{
    static struct channel other;
    struct ranks *all = ranks_range(n, 0, 1);
    struct channel *world = job_world(rank, n);
    pml_judge = &counter;
    if (rank == 0) {
        channel_open(&other, 60, rank, all);
        word_to(&other, 1, PML_WORDS);
        word_to(&other, 1, PML_WORDS_LAST);
        word_to(world, 1, 0);
    } else {
        struct buffer none = job_bytes(NULL, 0);
        must(pml_recv(world, &none, &(struct envelope){ .peer = 0 }, NULL) == 0, 41);
        channel_open(&other, 60, rank, all);
        must(words == 1 && channel_unexpected(&other) == 0, 42);
    }
    channel_close(&other);
    channel_close(world);
    ranks_drop(all);
}

START_TEST(questions_do_not_wait_for_a_channel)
{
    ck_assert(job_run(2, words_ahead));
}
END_TEST

/* Rank 1 has given up, and what it told got lost. */
static void not_told(int rank, int n)
{
    open_team(rank, n);
    if (rank == 0) {
        must(gather(0) == MPI_ERR_OTHER && strstr(fail_text(), "MPI_Barrier"), 50);
    } else {
        struct mismatch m = { .context = team.channel.context, .me = 1, .my_number = 1 };
        m.their_number = 1;
        m.my_signature = (COLL_BARRIER + 1u) << 25;
        m.their_signature = (COLL_GATHER + 1u) << 25;
        struct envelope from = { .peer = 0, .step = PML_WORDS_LAST };
        pml_judge->word(&team.channel, &from, &m, sizeof m);
        poll_for(3 * LATE_NS);
    }
    team_close(&team);
}

START_TEST(who_asks_the_given_up_is_told)
{
    ck_assert(job_run(2, not_told));
}
END_TEST

/* ---- a channel that is given up ---- */

static void given_up(int rank, int n)
{
    static char byte;
    struct channel *world = job_world(rank, n);
    struct buffer one = job_bytes(&byte, 1);
    struct envelope in = { .peer = 0, .step = 3 }, apart = { .peer = 0, .step = PML_APART };
    struct request *lost, *kept, *late;
    pml_judge = &counter;
    word_to(world, 0, PML_APART + 1);
    must(pml_irecv(world, &one, &in, &lost) == 0, 60);
    must(pml_irecv(world, &one, &apart, &kept) == 0, 60);
    channel_break(world, "why");
    channel_end(world);
    must(lost->done && lost->result.error == MPI_ERR_OTHER && !kept->done, 61);
    apart.step++;
    must(pml_irecv(world, &one, &apart, &late) == 0 && request_wait(late, NULL) == 0, 62);
    word_to(world, 0, PML_APART);
    must(request_wait(kept, NULL) == 0, 63);
    request_wait(lost, NULL);
    channel_close(world);
}

START_TEST(those_apart_go_on)
{
    ck_assert(job_run(1, given_up));
}
END_TEST

UNIT_MAIN("mismatch", strays_are_found_after_a_question, old_persistent_ones_are_no_strays,
          numbers_go_around, numbers_are_ahead_across_the_end,
          questions_do_not_wait_for_a_channel, who_asks_the_given_up_is_told, those_apart_go_on)
