/* SPDX-License-Identifier: BSD-3-Clause
 *
 * XMPI_ASYNC=1: messages and collectives go on while nobody calls MPI, and the program gets the
 * level of threads that it asked for.  Then many of them with calls in between.
 *
 * conform-shadow: it looks at data before it asks whether they are there
 */
#include "check.h"

#include <time.h>

enum { LONG_ONE = 3 << 20, MANY = 300, SECONDS = 30 };

static char in[LONG_ONE], out[LONG_ONE];

/* Without MPI, until the last byte is there. */
static void look_at(const volatile char *last)
{
    time_t begin = time(NULL);
    const struct timespec moment = { 0, 20000 };
    while (!*last && time(NULL) < begin + SECONDS)
        nanosleep(&moment, NULL);
    CHECK(*last);
}

static void test_messages(void)
{
    int rank = world_rank(), size = world_size();
    for (size_t bytes = 8; bytes <= LONG_ONE; bytes *= 8) {
        MPI_Request r[2];
        memset(in, 0, bytes);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Irecv(in, (int)bytes, MPI_CHAR, (rank + 1) % size, 0, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(out, (int)bytes, MPI_CHAR, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                  &r[1]);
        look_at(&in[bytes - 1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        CHECK(memcmp(in, out, bytes) == 0);
    }
}

static void test_collectives(void)
{
    MPI_Request r;
    memset(in, 0, sizeof in);
    MPI_Iallreduce(out, in, LONG_ONE, MPI_SIGNED_CHAR, MPI_MAX, MPI_COMM_WORLD, &r);
    look_at(&in[LONG_ONE - 1]);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(memcmp(in, out, LONG_ONE) == 0);
}

static void test_calls_between(void)
{
    int rank = world_rank(), size = world_size();
    for (int i = 0; i < MANY; i++) {
        MPI_Request r[2];
        int bytes = 1 + i * i * 7, flag;
        memset(in, 0, (size_t)bytes);
        MPI_Irecv(in, bytes, MPI_CHAR, (rank + 1) % size, i, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(out, bytes, MPI_CHAR, (rank + size - 1) % size, i, MPI_COMM_WORLD, &r[1]);
        if (i % 3 == 0)
            MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE);
        if (i % 5 == 0)
            MPI_Barrier(MPI_COMM_WORLD);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        CHECK(memcmp(in, out, (size_t)bytes) == 0);
    }
}

int main(int argc, char **argv)
{
    int level;
    setenv("XMPI_ASYNC", "1", 1);
    MPI_Init(&argc, &argv);
    MPI_Query_thread(&level);
    CHECK(level == MPI_THREAD_SINGLE);
    memset(out, 7, sizeof out);
    test_messages();
    test_collectives();
    test_calls_between();
    return check_done();
}
