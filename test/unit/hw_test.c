/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE 1 /* CPU_SET */
#include "runtime/hw.h"

#include "test/unit/unit.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

static void bind_to_one(void)
{
    cpu_set_t mask;
    CPU_ZERO(&mask);
    CPU_SET(sched_getcpu(), &mask);
    ck_assert_int_eq(sched_setaffinity(0, sizeof mask, &mask), 0);
}

START_TEST(between_one_and_all)
{
    int cpus = hw_usable_cpus();
    ck_assert_int_ge(cpus, 1);
    ck_assert_int_le(cpus, (int)sysconf(_SC_NPROCESSORS_CONF));
}
END_TEST

/* One bound rank of several: the parent's mask says what they share. */
START_TEST(a_binding_of_one_rank_does_not_count)
{
    int before = hw_usable_cpus();
    bind_to_one();
    ck_assert_int_eq(hw_usable_cpus(), before);
}
END_TEST

START_TEST(a_binding_of_all_counts)
{
    bind_to_one();
    pid_t child = fork();
    if (child == 0)
        _exit(hw_usable_cpus());
    int status;
    waitpid(child, &status, 0);
    ck_assert_int_eq(WEXITSTATUS(status), 1);
}
END_TEST

START_TEST(the_only_cpu_is_known)
{
    cpu_set_t mask;
    ck_assert_int_eq(sched_getaffinity(0, sizeof mask, &mask), 0);
    ck_assert((hw_only_cpu() >= 0) == (CPU_COUNT(&mask) == 1));
    bind_to_one();
    ck_assert_int_eq(sched_getaffinity(0, sizeof mask, &mask), 0);
    ck_assert(CPU_ISSET(hw_only_cpu(), &mask));
}
END_TEST

UNIT_MAIN("hw", between_one_and_all, a_binding_of_one_rank_does_not_count,
          a_binding_of_all_counts, the_only_cpu_is_known)
