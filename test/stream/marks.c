/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Work of the program in time lines (MPIX_Trace_begin, MPIX_Trace_end): a kernel of 20 ms under a name, within
 * a longer piece of work, while nobody waits; a second stream that its device never comes to; a thread's
 * work; and what is an error.  test/streams.sh looks at the time line.
 */
#include "driver.h"

#include <sched.h>
#include <time.h>

static int gate;

static void work(void *argument)
{
    (void)argument;
    nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
}

static void wait_at_gate(void *argument)
{
    (void)argument;
    while (!__atomic_load_n(&gate, __ATOMIC_ACQUIRE))
        sched_yield();
}

static void test_streams(MPIX_Stream one, cuda_stream stream, MPIX_Stream other,
                         cuda_stream stuck)
{
    unsigned waits = driver.waits();
    CHECK_OK(MPIX_Trace_begin("never", other));
    CHECK(driver.launch(stuck, wait_at_gate, NULL) == 0);
    CHECK_OK(MPIX_Trace_end(other));
    CHECK_OK(MPIX_Trace_begin("all", one));
    for (int i = 0; i < 2; i++) {
        CHECK_OK(MPIX_Trace_begin("a \"kernel\"", one));
        CHECK(driver.launch(stream, work, NULL) == 0);
        CHECK_OK(MPIX_Trace_end(one));
    }
    CHECK_OK(MPIX_Trace_end(one));
    CHECK(driver.waits() == waits);
    CHECK(driver.stream_synchronize(stream) == 0);
}

static void test_thread(void)
{
    CHECK_OK(MPIX_Trace_begin("forty bytes or more are too long: cut \xc3\xa4\xc3\xa4",
                              MPIX_STREAM_NULL));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPIX_Trace_end(MPIX_STREAM_NULL));
}

static void test_errors(MPIX_Stream one)
{
    MPIX_Stream plain;
    CHECK_OK(MPIX_Stream_create(MPI_INFO_NULL, &plain));
    CHECK_ERROR(MPIX_Trace_begin("x", plain), MPI_ERR_ARG);
    CHECK_OK(MPIX_Stream_free(&plain));
    CHECK_ERROR(MPIX_Trace_end(one), MPI_ERR_ARG);
    CHECK_ERROR(MPIX_Trace_end(MPIX_STREAM_NULL), MPI_ERR_ARG);
    for (int i = 0; i < 32; i++)
        CHECK_OK(MPIX_Trace_begin("deep", one));
    CHECK_ERROR(MPIX_Trace_begin("deep", one), MPI_ERR_OTHER);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    errors_return();
    driver_open();
    cuda_stream stream = stream_new(), stuck = stream_new();
    MPIX_Stream one = stream_for_mpi(stream), other = stream_for_mpi(stuck);
    test_streams(one, stream, other, stuck);
    test_thread();
    test_errors(one);
    CHECK_OK(MPIX_Stream_free(&one)); /* while work of it has no end */
    CHECK_OK(MPIX_Stream_free(&other));
    int rc = check_done();
    __atomic_store_n(&gate, 1, __ATOMIC_RELEASE);
    return rc;
}
