/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Requests that are freed while active end when MPI does (MPI 5.0, 3.7.3 and 11.2.2): the message of a
 * receive may be sent when its receiver has come to the end already.  Each case is a session; then comes the
 * world, and a session of which one half of the partners has a part already when they leave the world.  Partners are 0 and 1, 2 and 3, ...; the last of an odd number is its own.
 *
 * conform-options: -x XMPI_SHM=0
 * conform-shadow: copies are brought back by the call that ends a request, and nobody ends these
 */
#include "test/conform/check.h"

#include <time.h>

enum { LONG = 40000, SHORT = 5, TAG = 7 };

static int rank, partner, size;
static int from[LONG], to[LONG];

/* The others are at the end of MPI then, or asleep there. */
static void nap(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
}

static void buffers_fill(void)
{
    for (int i = 0; i < LONG; i++) {
        from[i] = 3 * i + rank;
        to[i] = -1;
    }
}

static int has_come(int count)
{
    for (int i = 0; i < count; i++)
        if (to[i] != 3 * i + partner)
            return 0;
    return count == LONG || to[count] == -1;
}

static int has_nothing(void)
{
    return to[0] == -1 && to[LONG - 1] == -1;
}

static void free_active(MPI_Request *request)
{
    CHECK_OK(MPI_Request_free(request));
    CHECK(*request == MPI_REQUEST_NULL);
}

static void receive_freed(int source, int count, MPI_Comm comm)
{
    MPI_Request request;
    CHECK_OK(MPI_Irecv(to, count, MPI_INT, source, TAG, comm, &request));
    free_active(&request);
}

static void send_freed(int count, MPI_Comm comm)
{
    MPI_Request request;
    CHECK_OK(MPI_Isend(from, count, MPI_INT, partner, TAG, comm, &request));
    free_active(&request);
}

/* ---- cases: up to the end, and what is true after it ---- */

static int is_first(void)
{
    return rank % 2 == 0 && rank != partner;
}

static void late(int source, int count, MPI_Comm comm)
{
    if (is_first()) {
        receive_freed(source, count, comm);
    } else if (rank != partner) {
        nap();
        CHECK_OK(MPI_Ssend(from, count, MPI_INT, partner, TAG, comm));
    }
}

static int late_has_come(int count)
{
    return is_first() ? has_come(count) : has_nothing();
}

static void late_long(MPI_Comm comm)
{
    late(partner, LONG, comm);
}

static void late_any(MPI_Comm comm)
{
    late(MPI_ANY_SOURCE, SHORT, comm);
}

static int short_has_come(void)
{
    return late_has_come(SHORT);
}

static int long_has_come(void)
{
    return late_has_come(LONG);
}

/* All is freed, on both sides, and to oneself. */
static void both(MPI_Comm comm)
{
    receive_freed(partner, LONG, comm);
    send_freed(LONG, comm);
}

static int both_have_come(void)
{
    return has_come(LONG);
}

static void persistent(MPI_Comm comm)
{
    MPI_Request request;
    CHECK_OK(MPI_Recv_init(to, LONG, MPI_INT, partner, TAG, comm, &request));
    CHECK_OK(MPI_Start(&request));
    free_active(&request);
    if (!is_first())
        nap();
    send_freed(LONG, comm);
}

static void exchange(MPI_Comm comm)
{
    MPI_Request request;
    CHECK_OK(MPI_Isendrecv(from, LONG, MPI_INT, partner, TAG, to, LONG, MPI_INT, partner, TAG,
                           comm, &request));
    free_active(&request);
}

/* The communicator is freed as well. */
static void without_comm(MPI_Comm comm)
{
    MPI_Comm other;
    CHECK_OK(MPI_Comm_dup(comm, &other));
    late(partner, LONG, other);
    CHECK_OK(MPI_Comm_free(&other));
}

/* Nobody sends; to wait for that would be for ever. */
static void nobody(MPI_Comm comm)
{
    MPI_Request request;
    if (!is_first())
        nap();
    receive_freed(MPI_ANY_SOURCE, LONG, comm);
    CHECK_OK(MPI_Irecv(to, LONG, MPI_INT, partner, TAG + 1, comm, &request));
    free_active(&request);
}

static void in_session(void (*begin)(MPI_Comm comm), int (*is_right)(void))
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    CHECK_OK(
        MPI_Comm_create_from_group(group, "freed", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Comm_size(comm, &size));
    partner = (rank ^ 1) < size ? rank ^ 1 : rank;
    buffers_fill();
    begin(comm);
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Session_finalize(&session));
    CHECK(is_right());
}

/* Nothing is freed. */
static void together(MPI_Comm comm)
{
    CHECK_OK(MPI_Sendrecv(from, LONG, MPI_INT, partner, TAG, to, LONG, MPI_INT, partner, TAG,
                          comm, MPI_STATUS_IGNORE));
}

/* Nobody sends.  Who could is in a session, where it waits for us to come next. */
static void nobody_in_world(void)
{
    static int nothing;
    MPI_Request request;
    if (!is_first())
        return;
    CHECK_OK(MPI_Irecv(&nothing, 1, MPI_INT, partner, TAG + 1, MPI_COMM_WORLD, &request));
    free_active(&request);
}

int main(int argc, char **argv)
{
    MPI_Session stays;
    in_session(late_long, long_has_come);
    in_session(late_any, short_has_come);
    in_session(both, both_have_come);
    in_session(persistent, both_have_come);
    in_session(exchange, both_have_come);
    in_session(without_comm, long_has_come);
    in_session(nobody, has_nothing);
    if (!is_first())
        CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &stays));
    MPI_Init(&argc, &argv);
    if (rank == 0)
        printf("ok\n");
    buffers_fill();
    late(MPI_ANY_SOURCE, LONG, MPI_COMM_WORLD);
    nobody_in_world();
    CHECK_OK(MPI_Finalize());
    CHECK(late_has_come(LONG));
    in_session(together, both_have_come);
    if (!is_first())
        CHECK_OK(MPI_Session_finalize(&stays));
    return 0;
}
