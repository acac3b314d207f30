/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/status.h"

#include "test/unit/unit.h"

#include <stdio.h>
#include <string.h>

static struct situation ranks[8];
static struct blame blame;

static void begin(void)
{
    memset(ranks, 0, sizeof ranks);
    for (int i = 0; i < 8; i++)
        ranks[i].standing = STANDING_OUTSIDE;
}

static struct record_item *waits(int rank, const char *call, int kind, int for_whom)
{
    struct situation *s = &ranks[rank];
    struct record_item *item = &s->wait.items[s->wait.nitems++];
    s->standing = STANDING_WAITING;
    s->nwaits = 1;
    s->seconds = 20;
    snprintf(s->wait.call, sizeof s->wait.call, "%s", call);
    item->kind = kind;
    item->world = item->peer = for_whom;
    return item;
}

static void collective(int rank, const char *name, int number, int for_whom)
{
    struct record_collective *c = &ranks[rank].wait.collective;
    waits(rank, name, RECORD_PART, for_whom);
    snprintf(c->name, sizeof c->name, "%s", name);
    snprintf(c->comm, sizeof c->comm, "W");
    c->context = 3;
    c->number = (uint32_t)number;
    c->root = -1;
}

static bool says(int n, const char *words)
{
    blame_find(ranks, n, 10, &blame);
    return strstr(blame.text, words) != NULL;
}

static int stuck(int n)
{
    blame_find(ranks, n, 10, &blame);
    return blame.nstuck;
}

START_TEST(circles)
{
    begin();
    waits(0, "MPI_Send", RECORD_SEND, 1);
    ck_assert_int_eq(stuck(2), 0); /* 1 computes */
    waits(1, "MPI_Send", RECORD_SEND, 0);
    ck_assert_int_eq(stuck(2), 2);
    ck_assert(
        says(2, "0 waits for 1 in MPI_Send, 1 waits for 0 in MPI_Send: both in MPI_Send"));
    begin();
    waits(0, "MPI_Recv", RECORD_RECV, 2); /* outside of the circle */
    waits(1, "MPI_Recv", RECORD_RECV, 2);
    waits(2, "MPI_Recv", RECORD_RECV, 1);
    ck_assert_int_eq(stuck(3), 3);
    ck_assert(says(3, "deadlock: 2 waits for 1 in MPI_Recv, 1 waits for 2") ||
              says(3, "deadlock: 1 waits for 2 in MPI_Recv, 2 waits for 1"));
}
END_TEST

START_TEST(circles_apart)
{
    begin();
    for (int i = 0; i < 4; i++)
        waits(i, "MPI_Recv", RECORD_RECV, i ^ 1);
    waits(4, "MPI_Recv", RECORD_RECV, 5);
    ranks[5].standing = STANDING_FINAL;
    ck_assert(says(6, "deadlock: 0 waits for 1"));
    ck_assert(says(6, "deadlock: 2 waits for 3"));
    ck_assert(says(6, "rank 4 waits in MPI_Recv for rank 5, which has called MPI_Finalize"));
}
END_TEST

/* Of several things that are waited for the advice is about the one that cannot come. */
START_TEST(what_cannot_come)
{
    begin();
    for (int i = 0; i < 2; i++) {
        waits(i, "MPI_Waitall", RECORD_RECV, 2); /* who computes, and may send */
        waits(i, "MPI_Waitall", RECORD_SEND, 1 - i);
    }
    ck_assert(says(3, "such a send ends only when it is received"));
    ranks[0].wait.items[0].tag = 7;
    ranks[0].wait.items[1].kind = RECORD_RECV;
    ranks[0].wait.items[1].tag = 8;
    ranks[0].wait.near = (struct record_near){ .found = 2, .source = 1, .tag = 9, .comm = "W" };
    ck_assert(says(3, "rank 0 asks for tag 8 on ; what came from rank 1 has tag 9 on W"));
}
END_TEST

/* Ranks choose alike, unless somebody told them different things. */
START_TEST(algorithms_that_differ)
{
    begin();
    for (int i = 0; i < 3; i++)
        collective(i, "MPI_Allreduce", 4, i ? i - 1 : 2);
    ck_assert(says(3, "they do not call what belongs together"));
    for (int i = 0; i < 3; i++)
        ranks[i].wait.collective.way = 7;
    ck_assert(says(3, "they do not call what belongs together"));
    ranks[1].wait.collective.way = 0;
    ck_assert(says(3, "they do not call what belongs together"));
    ranks[1].wait.collective.way = 8;
    ck_assert(says(3, "rank 0 and rank 1 perform it by different algorithms; XMPI_COLL, "));
    ck_assert(!says(3, "MPI_IN_PLACE"));
    for (int i = 0; i < 3; i++)
        strcpy(ranks[i].wait.collective.name, "MPI_Alltoallv");
    ck_assert(
        says(3, "different algorithms; MPI_IN_PLACE must be given by all ranks or by none"));
    ranks[2].wait.collective.number = 5;
    ck_assert(!says(3, "different algorithms"));
}
END_TEST

/* All call the same, as far as they have said. */
START_TEST(sends_of_one_collective)
{
    begin();
    for (int i = 0; i < 3; i++) {
        collective(i, "MPI_Neighbor_alltoall", 4, i ? i - 1 : 2);
        ranks[i].wait.items[0].kind = RECORD_SEND;
    }
    ck_assert(
        says(3, "nobody takes what they send; do counts, datatypes and neighbours agree"));
    ck_assert(!says(3, "belongs together"));
}
END_TEST

/* Frames to a rank that has left, or is stopped, are acked by nobody. */
START_TEST(what_nobody_takes_moves_nothing)
{
    begin();
    waits(0, "MPI_Ssend", RECORD_SEND, 1);
    ranks[0].undelivered = 1;
    ranks[0].moves_with[0] = 1;
    ck_assert_int_eq(stuck(2), 0);
    ck_assert(!says(2, "=>"));
    ranks[1].standing = STANDING_FINAL;
    ck_assert(says(2, "rank 0 waits in MPI_Ssend for rank 1, which has called MPI_Finalize"));
    ranks[1].standing = STANDING_RESTING;
    ck_assert_int_eq(stuck(2), 0);
    ranks[1].world_over = true; /* a session of its own may still begin */
    ranks[0].wait.items[0].of_world = 1;
    ck_assert_int_eq(stuck(2), 1);
    ranks[0].undelivered = RECORD_MOVES + 1; /* one of them is not known */
    for (int i = 0; i < RECORD_MOVES; i++)
        ranks[0].moves_with[i] = 1;
    ck_assert_int_eq(stuck(2), 0);
    ranks[0].undelivered = 1;
    ranks[1].standing = STANDING_WAITING;
    ranks[1].world_over = false;
    ranks[1].stopped = true;
    ck_assert(says(2, "one rank waits for rank 1, which is stopped by a signal: kill -CONT"));
}
END_TEST

START_TEST(what_may_still_move_is_not_blamed)
{
    begin();
    waits(0, "MPI_Recv", RECORD_RECV, 1);
    waits(1, "MPI_Recv", RECORD_RECV, 0);
    ranks[1].seconds = 9; /* too young */
    ck_assert_int_eq(stuck(2), 0);
    ranks[1].seconds = 20;
    ranks[1].undelivered = 1; /* it may be what 0 waits for */
    ck_assert_int_eq(stuck(2), 0);
    ranks[1].moves_with[0] = 5; /* not known, so it may take it */
    ck_assert_int_eq(stuck(2), 0);
    ranks[1].undelivered = 0;
    ck_assert_int_eq(stuck(2), 2);
    ranks[1].seconds = 11;
    ranks[1].moving = true;
    ck_assert_int_eq(stuck(2), 0);
    ranks[1].moving = false;
    ranks[0].stopped = true;
    ck_assert_int_eq(stuck(2), 0);
    ranks[0].stopped = false;
    ranks[0].threads_free = true; /* another thread may help */
    ck_assert_int_eq(stuck(2), 0);
    ranks[0].threads_free = false;
    ranks[0].nwaits = 2; /* so may one that waits for something else */
    ranks[0].least_seconds = 20;
    ranks[0].more[0] = ranks[0].wait;
    ck_assert_int_eq(stuck(3), 2);
    ranks[0].more[0].items[0].world = 2;
    ck_assert_int_eq(stuck(3), 0);
    ranks[0].least_seconds = 1;
    ranks[0].more[0] = ranks[0].wait;
    ck_assert_int_eq(stuck(3), 0);
    ranks[0].nwaits = 1;
    ck_assert_int_eq(stuck(2), 2);
    ranks[0].wait.items[0].kind = RECORD_OTHER;
    ck_assert_int_eq(stuck(2), 0);
}
END_TEST

/* Nobody is stuck, but rank 2 keeps the others waiting. */
START_TEST(who_holds_up_the_others)
{
    begin();
    ranks[2].state = 'R';
    waits(0, "MPI_Recv", RECORD_RECV, 2);
    ck_assert_int_eq(stuck(5), 0);
    ck_assert(says(5, "=> one rank waits for rank 2, which computes outside of MPI"));
    waits(1, "MPI_Recv", RECORD_RECV, 0);
    waits(3, "MPI_Send", RECORD_SEND, 2);
    ck_assert(says(5, "=> 3 ranks wait for rank 2, or for one that does, which computes"));
    ck_assert(!says(5, "rank 4"));
    ranks[2].state = 'T';
    ranks[2].pid = 77;
    ck_assert(says(5, "which is stopped by a signal: kill -CONT 77"));
    ranks[2].standing = STANDING_ABSENT;
    ranks[2].state = 'S';
    ck_assert(says(5, "which has not called MPI_Init"));
    ranks[2].standing = STANDING_OUTSIDE;
    ranks[2].state = 'R';
    waits(2, "MPI_Wait", RECORD_OTHER, -1);
    ck_assert(says(5, "=> 3 ranks wait for rank 2, or for one that does, which waits in "
                      "MPI_Wait for what the program itself has to end"));
    for (int i = 0; i < 5; i++)
        ranks[i].seconds = 1; /* of waits that are young nothing is said */
    blame_find(ranks, 5, 10, &blame);
    ck_assert_str_eq(blame.text, "");
}
END_TEST

/* A request that nobody but the program completes holds up its own rank. */
START_TEST(who_waits_outside_alone)
{
    begin();
    waits(1, "MPI_Wait", RECORD_OTHER, -1);
    ck_assert_int_eq(stuck(3), 0);
    ck_assert(says(3, "=> rank 1 waits in MPI_Wait for what the program"));
    ck_assert(says(3, "MPI_Grequest_complete"));
}
END_TEST

START_TEST(any_of_several)
{
    begin();
    waits(0, "MPI_Waitany", RECORD_RECV, 1);
    waits(0, "MPI_Waitany", RECORD_RECV, 2);
    ranks[0].wait.any = 1;
    waits(1, "MPI_Recv", RECORD_RECV, 0);
    ck_assert_int_eq(stuck(3), 0); /* 2 may send */
    ranks[0].wait.any = 0;
    ck_assert_int_eq(stuck(3), 2); /* both are needed, and 1 is in a circle */
    ranks[0].wait.any = 1;
    ranks[2].standing = STANDING_FINAL;
    ck_assert_int_eq(stuck(3), 2);
}
END_TEST

START_TEST(any_source)
{
    begin();
    waits(0, "MPI_Recv", RECORD_RECV, -1);
    ck_assert_int_eq(stuck(2), 0);
    waits(1, "MPI_Recv", RECORD_RECV, -1);
    ck_assert_int_eq(stuck(2), 2);
    ck_assert(says(2, "no rank will send one\n"));
    collective(2, "MPI_Barrier", 4, 0);
    ck_assert(says(3, "no rank will send one; rank 2 waits for it in MPI_Barrier\n"));
}
END_TEST

/* Tests that find nothing are waits, but for a server's that looks for anybody now and then. */
START_TEST(tests_again_and_again)
{
    begin();
    waits(0, "MPI_Test", RECORD_RECV, 1);
    waits(1, "MPI_Recv", RECORD_RECV, 0);
    ranks[0].wait.polled = 1;
    ranks[0].least_seconds = 3; /* has asked for something else meanwhile */
    ck_assert_int_eq(stuck(2), 0);
    ranks[0].least_seconds = 20;
    ck_assert_int_eq(stuck(2), 2);
    ck_assert_int_eq(blame.ntest, 1);
    ck_assert(says(2, "=> perhaps a deadlock: "));
    ranks[0].wait.sleeps = 1;
    ck_assert_int_eq(stuck(2), 2);
    ranks[0].wait.items[0].world = ranks[0].wait.items[0].peer = -1;
    ck_assert_int_eq(stuck(2), 0);
    ranks[0].wait.sleeps = 0;
    ck_assert_int_eq(stuck(2), 2);
    ranks[0].threads_free = true; /* they compute what it will send */
    ck_assert_int_eq(stuck(2), 0);
}
END_TEST

START_TEST(ends)
{
    begin();
    waits(0, "MPI_Ssend", RECORD_SEND, 0);
    ck_assert(says(1, "rank 0 waits for itself in MPI_Ssend"));
    begin();
    waits(0, "MPI_Waitall", RECORD_RECV, 1); /* who computes, and may send */
    waits(0, "MPI_Waitall", RECORD_READY, 0)->bytes = 3;
    ck_assert(says(2, "rank 0 waits in MPI_Waitall until partition 3 is sent"));
    begin();
    waits(1, "MPI_Recv", RECORD_RECV, 0);
    ranks[0].standing = STANDING_FINAL;
    ck_assert(says(2, "rank 1 waits in MPI_Recv for rank 0, which has called MPI_Finalize"));
    ranks[0].standing = STANDING_GONE;
    ck_assert(says(2, "which has died"));
    ranks[0].standing = STANDING_RESTING;
    ck_assert_int_eq(stuck(2), 0);
    ranks[0].world_over = true;
    ck_assert_int_eq(stuck(2), 0); /* it may begin a session, and this is of one */
    ranks[1].wait.items[0].of_world = 1;
    ck_assert(says(2, "rank 1 waits in MPI_Recv for rank 0, which has called MPI_Finalize"));
    ranks[1].wait.items[0].world = ranks[1].wait.items[0].peer = -1;
    ck_assert_int_eq(stuck(3), 0); /* rank 2 computes */
    ck_assert(says(2, "no rank will send"));
}
END_TEST

START_TEST(collectives)
{
    begin();
    collective(0, "MPI_Bcast", 4, 1);
    collective(1, "MPI_Barrier", 4, 0);
    ck_assert(says(2, "collective 4 on W is not the same everywhere: rank 0 is in MPI_Bcast; "
                      "rank 1 is in MPI_Barrier"));
    begin();
    collective(0, "MPI_Barrier", 4, 1);
    waits(1, "MPI_Recv", RECORD_RECV, 0);
    ck_assert(says(2, "rank 1 has to call MPI_Barrier on W, too"));
    begin();
    collective(0, "MPI_Barrier", 4, 1);
    collective(1, "MPI_Barrier", 5, 0); /* it is ahead: not the same place */
    ck_assert(!says(2, "not the same everywhere"));
}
END_TEST

/* Whoever is past the collective of another one is not to call it, and a persistent one is to be started. */
START_TEST(collectives_of_circles)
{
    begin();
    collective(0, "MPI_Barrier", 5, 1);
    collective(1, "MPI_Comm_create", 4, 0);
    ck_assert(says(2, "rank 0 is through with MPI_Comm_create, collective 4 on W; do the "
                      "arguments of both agree?"));
    begin();
    waits(0, "MPI_Recv", RECORD_RECV, 1);
    collective(1, "MPI_Allreduce_init", 4, 0);
    ck_assert(says(2, "rank 0 has to call MPI_Allreduce_init on W and MPI_Start, too"));
    begin();
    for (int i = 0; i < 2; i++) {
        collective(i, "MPI_Intercomm_create", 1, 1 - i);
        ranks[i].wait.collective.context = (uint64_t)(3 + 2 * i);
    }
    ck_assert(says(2,
                   "do the leaders, the peer communicator and the tag that rank 0 and rank 1 "
                   "name agree?"));
    ranks[0].wait.collective.name[4] = 'X';
    ck_assert(says(2, "both have to call them in the same order"));
}
END_TEST

START_TEST(probes)
{
    begin();
    waits(0, "MPI_Probe", RECORD_PROBE, 1);
    waits(1, "MPI_Recv", RECORD_RECV, 0);
    ck_assert(says(2, "both receive, and nobody sends"));
    collective(1, "MPI_Barrier", 4, 0);
    ranks[1].wait.items[0].kind = RECORD_PART;
    ck_assert(says(2, "rank 0 has to call MPI_Barrier on W, too, or rank 1 has to send it"));
}
END_TEST

/* In the same call, in another thread, or in a call that is over: nobody is told that nobody sends. */
START_TEST(what_is_sent_is_not_awaited)
{
    const char *words = "both in MPI_Waitall, and what was sent is not what is waited for";
    for (int way = 0; way < 3; way++) {
        begin();
        for (int i = 0; i < 2; i++)
            waits(i, "MPI_Waitall", RECORD_RECV, 1 - i);
        ck_assert(says(2, "both in MPI_Waitall, and nobody sends"));
        if (way == 0)
            waits(1, "MPI_Waitall", RECORD_SEND, 0);
        else if (way == 1)
            ranks[1].wait.near = (struct record_near){ .found = 1, .source = 0, .tag = 9 };
        else {
            ranks[1].nwaits = 2;
            ranks[1].least_seconds = 20;
            ranks[1].more[0] = ranks[1].wait;
            ranks[1].more[0].items[0].kind = RECORD_SEND;
        }
        bool told = says(2, words);
        ck_assert_msg(told, "%d: %s", way, blame.text);
    }
}
END_TEST

/* They may send, so nobody is stuck; who asks is told what holds if they do not. */
START_TEST(threads_outside)
{
    begin();
    for (int i = 0; i < 2; i++) {
        waits(i, "MPI_Recv", RECORD_RECV, 1 - i);
        ranks[i].threads_free = true;
    }
    ck_assert_int_eq(stuck(2), 0);
    ck_assert(says(2, "unless threads of these ranks that are outside of MPI now call it:\n"
                      "  => deadlock: 0 waits for 1 in MPI_Recv, 1 waits for 0"));
    ranks[1].seconds = 9;
    ck_assert(!says(2, "unless"));
}
END_TEST

/* However many ranks: the text ends, and what is stuck is counted. */
START_TEST(many_ranks)
{
    enum { MANY = 500 };
    static struct situation many[MANY];
    for (int i = 0; i < MANY; i++) {
        begin();
        waits(0, "MPI_Recv", RECORD_RECV, (i + 1) % MANY);
        ranks[0].wait.near = (struct record_near){ .found = 1, .source = (i + 1) % MANY };
        many[i] = ranks[0];
    }
    blame_find(many, MANY, 10, &blame);
    ck_assert_int_eq(blame.nstuck, MANY);
    ck_assert_ptr_nonnull(strstr(blame.text, "and so on through 500 ranks back to 0"));
    ck_assert_ptr_nonnull(strstr(blame.text, "and so do 496 more ranks"));
    ck_assert_int_eq(blame.text[strlen(blame.text) - 1], '\n');
}
END_TEST

/* Nobody waits in vain while the end of the pipeline computes.  A pass over all for each of them would take long. */
START_TEST(long_pipelines)
{
    enum { LONG = 1 << 15 };
    struct situation *line = calloc(LONG, sizeof *line);
    ck_assert(line);
    for (int step = -1; step <= 1; step += 2) {
        for (int i = 0; i < LONG; i++) {
            begin();
            waits(0, "MPI_Recv", RECORD_RECV, i + step);
            line[i] = ranks[0];
        }
        line[step < 0 ? 0 : LONG - 1] = ranks[1]; /* outside of MPI */
        blame_find(line, LONG, 10, &blame);
        ck_assert_int_eq(blame.nstuck, 0);
    }
    free(line);
}
END_TEST

UNIT_MAIN("blame", circles, circles_apart, what_cannot_come, algorithms_that_differ,
          sends_of_one_collective, what_nobody_takes_moves_nothing,
          what_may_still_move_is_not_blamed, who_holds_up_the_others, who_waits_outside_alone,
          any_of_several, any_source, tests_again_and_again, ends, collectives,
          collectives_of_circles, probes, what_is_sent_is_not_awaited, threads_outside,
          many_ranks, long_pipelines)
