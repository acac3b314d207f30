/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who watches whom: ranks find a neighbour's death without a launcher, also of one that came to MPI
 * when they were watching another one already.
 */
#include "test/unit/unit.h"

#include "runtime/boot.h"
#include "runtime/death.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 3, LOOK_MS = 210, LOOKS = 5 };

static pid_t child_begin(void)
{
    pid_t pid = fork();
    if (pid == 0)
        for (;;)
            pause();
    return pid;
}

static void child_die(pid_t pid)
{
    kill(pid, SIGKILL);
    siginfo_t info;
    waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT); /* nobody reaps it */
}

/* A node of three ranks, of which we are the first. */
static void node_open(void)
{
    size_t bytes = bootseg_bytes(RANKS, RANKS, NULL);
    boot.segment = aligned_alloc(64, (bytes + 63) / 64 * 64);
    ck_assert_ptr_nonnull(boot.segment);
    memset((void *)boot.segment, 0, bytes);
    bootseg_format(boot.segment, "death_test", RANKS, RANKS, NULL);
    boot.first = boot.local_rank = 0;
    for (int i = 0; i < RANKS; i++)
        bootseg_rank(boot.segment, i)->namespace = 1;
}

static void node_close(void)
{
    death_close();
    free((void *)boot.segment);
    boot.segment = NULL;
}

static void rank_comes(int index, pid_t pid)
{
    bootseg_rank(boot.segment, index)->pid = pid;
    bootseg_rank(boot.segment, index)->state = BOOT_INITED;
}

static bool rank_is_dead(int index)
{
    return bootseg_rank(boot.segment, index)->dead != 0;
}

static void look(int times)
{
    for (int i = 0; i < times; i++) {
        death_watch();
        usleep(LOOK_MS * 1000);
    }
}

START_TEST(a_neighbour_dies)
{
    node_open();
    pid_t pid = child_begin();
    rank_comes(1, pid);
    look(1);
    ck_assert(!rank_is_dead(1));
    child_die(pid);
    look(LOOKS);
    ck_assert(rank_is_dead(1));
    node_close();
    waitpid(pid, NULL, 0);
}
END_TEST

START_TEST(one_that_came_later_dies)
{
    node_open();
    pid_t far = child_begin(), near = child_begin();
    rank_comes(2, far);
    look(1);
    rank_comes(1, near);
    look(1);
    child_die(near);
    look(LOOKS);
    ck_assert(rank_is_dead(1));
    ck_assert(!rank_is_dead(2));
    child_die(far);
    look(LOOKS);
    ck_assert(rank_is_dead(2));
    node_close();
    waitpid(near, NULL, 0);
    waitpid(far, NULL, 0);
}
END_TEST

UNIT_MAIN("death", a_neighbour_dies, one_that_came_later_dies)
