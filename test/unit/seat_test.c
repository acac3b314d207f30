/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks that share CPUs and move: this process is one of four on a node, and the others say where they are.
 */
#define _GNU_SOURCE 1 /* CPU_SET, sched_getcpu */
#include "runtime/seat.h"
#include "runtime/apart.h"
#include "runtime/clock.h"
#include "runtime/oncpu.h"
#include "test/unit/unit.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

enum { RANKS = 4, WAITS = 1000, ROWS = 20, WORK_NS = 1000000 };
enum { HERE, THERE, CPUS }; /* CPUs */

static struct doorbell bells[RANKS];
static cpu_set_t allowed;
static unsigned cpu; /* that we are on */

/* In place of the C library's: a machine of two CPUs, whose scheduler moves nobody that does not ask. */
int sched_getcpu(void)
{
    return (int)cpu;
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *mask)
{
    ck_assert_int_eq(pid, 0);
    ck_assert_uint_eq(size, sizeof *mask);
    *mask = allowed;
    return 0;
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *mask)
{
    ck_assert_int_eq(pid, 0);
    ck_assert_uint_eq(size, sizeof *mask);
    allowed = *mask;
    if (!CPU_ISSET(cpu, mask))
        cpu = CPU_ISSET(HERE, mask) ? HERE : THERE;
    return 0;
}

/* We are this rank, and may use so many CPUs. */
static void sit(int rank, int cpus)
{
    memset(bells, 0, sizeof bells);
    CPU_ZERO(&allowed);
    for (int i = 0; i < cpus; i++)
        CPU_SET(i, &allowed);
    cpu = HERE;
    seat_open(&bells[rank]);
    apart_neighbours(bells, sizeof bells[0], RANKS);
}

/* Work of our own. */
static void work_and_copy(const struct doorbell *whom)
{
    for (uint64_t end = clock_thread_ns() + WORK_NS; clock_thread_ns() < end;)
        ;
    seat_together(whom);
}

/* So many waits for rank `whom`, the ranks being on these CPUs: do we go to the other one?  Whatever we do, we
 * may use the same CPUs as before. */
static bool goes(void (*wait)(const struct doorbell *), int whom, const unsigned on[RANKS],
                 int waits)
{
    cpu_set_t before = allowed;
    for (int k = 0; k < RANKS; k++)
        oncpu_tell(&bells[k], on[k]);
    for (int i = 0; i < waits && cpu == HERE; i++)
        wait(&bells[whom]);
    ck_assert(CPU_EQUAL(&allowed, &before));
    return cpu != HERE;
}

START_TEST(one_of_two_on_a_cpu_moves)
{
    sit(0, CPUS);
    ck_assert(goes(seat_apart, 1, (unsigned[]){ HERE, HERE, THERE, THERE }, WAITS));
    sit(1, CPUS);
    ck_assert(!goes(seat_apart, 0, (unsigned[]){ HERE, HERE, THERE, THERE }, WAITS));
}
END_TEST

START_TEST(two_who_copy_meet_on_one_cpu)
{
    sit(0, CPUS);
    ck_assert(goes(seat_together, 1, (unsigned[]){ HERE, THERE, HERE, HERE }, WAITS));
    sit(3, CPUS); /* whose CPU has more ranks goes, also if its doorbell is the second */
    ck_assert(goes(seat_together, 1, (unsigned[]){ HERE, THERE, HERE, HERE }, WAITS));
}
END_TEST

START_TEST(of_two_cpus_with_as_many_ranks_the_first_rank_leaves_its_own)
{
    sit(0, CPUS);
    ck_assert(goes(seat_together, 1, (unsigned[]){ HERE, THERE, HERE, THERE }, WAITS));
    sit(2, CPUS);
    ck_assert(!goes(seat_together, 1, (unsigned[]){ HERE, THERE, HERE, THERE }, WAITS));
}
END_TEST

START_TEST(nobody_goes_where_more_are_nor_leaves_a_cpu_empty)
{
    sit(0, CPUS);
    ck_assert(!goes(seat_together, 1, (unsigned[]){ HERE, THERE, THERE, THERE }, WAITS));
}
END_TEST

START_TEST(who_computes_between_copies_stays)
{
    sit(0, CPUS);
    ck_assert(!goes(work_and_copy, 1, (unsigned[]){ HERE, THERE, HERE, HERE }, ROWS));
}
END_TEST

START_TEST(who_is_bound_stays)
{
    sit(0, 1);
    ck_assert(!goes(seat_together, 1, (unsigned[]){ HERE, THERE, HERE, HERE }, WAITS));
    ck_assert(!goes(seat_apart, 1, (unsigned[]){ HERE, HERE, THERE, THERE }, WAITS));
}
END_TEST

/* The first moves are soon, later ones are further apart. */
START_TEST(moves_are_rare)
{
    sit(0, CPUS);
    int moves = 0;
    for (int row = 0; row < 40; row++) {
        cpu = HERE;
        moves += goes(seat_apart, 1, (unsigned[]){ HERE, HERE, HERE, HERE }, WAITS);
        usleep(1000);
    }
    ck_assert_int_ge(moves, 2);
    ck_assert_int_le(moves, 20);
}
END_TEST

START_TEST(without_a_doorbell_nobody_moves)
{
    sit(0, CPUS);
    seat_open(NULL);
    ck_assert(!goes(seat_together, 1, (unsigned[]){ HERE, THERE, HERE, HERE }, WAITS));
    ck_assert(!goes(seat_apart, 1, (unsigned[]){ HERE, HERE, HERE, HERE }, WAITS));
}
END_TEST

UNIT_MAIN("seat", one_of_two_on_a_cpu_moves, two_who_copy_meet_on_one_cpu,
          of_two_cpus_with_as_many_ranks_the_first_rank_leaves_its_own,
          nobody_goes_where_more_are_nor_leaves_a_cpu_empty, who_computes_between_copies_stays,
          who_is_bound_stays, moves_are_rare, without_a_doorbell_nobody_moves)
