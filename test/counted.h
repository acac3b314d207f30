/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Programs that look whether the library did what it should by one of its own counters: test/xpmem, test/huge.
 */
#ifndef XMPI_COUNTED_H
#define XMPI_COUNTED_H

#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

static int me, n;

#define CHECK(x)                                                                               \
    do {                                                                                       \
        if (!(x)) {                                                                            \
            fprintf(stderr, "%s:%d: rank %d: %s\n", __FILE__, __LINE__, me, #x);               \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                      \
        }                                                                                      \
    } while (0)

/* ---- the counter ---- */

static MPI_T_pvar_session session;
static MPI_T_pvar_handle counter;

static void counter_open(const char *name, int class)
{
    int index, count, provided;
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == 0);
    CHECK(MPI_T_pvar_get_index(name, class, &index) == 0);
    CHECK(MPI_T_pvar_session_create(&session) == 0);
    CHECK(MPI_T_pvar_handle_alloc(session, index, NULL, &counter, &count) == 0);
    CHECK(MPI_T_pvar_start(session, counter) == 0);
}

/* Of all ranks, since it was opened. */
static unsigned long long counted(void)
{
    unsigned long long mine = 0, all = 0;
    CHECK(MPI_T_pvar_read(session, counter, &mine) == 0);
    MPI_Allreduce(&mine, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static void counter_close(void)
{
    CHECK(MPI_T_pvar_handle_free(session, &counter) == 0);
    CHECK(MPI_T_pvar_session_free(&session) == 0);
    CHECK(MPI_T_finalize() == 0);
}

/* ---- data ---- */

static unsigned char byte_of(size_t i, int seed)
{
    return (unsigned char)(i * 7 + i / 251 + (size_t)seed * 31);
}

#endif
