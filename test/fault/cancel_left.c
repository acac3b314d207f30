/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A send that was cancelled ends although its receiver has left MPI.   cancel_left WHEN BYTES FILE
 *
 *     before     it is sent when the receiver has left; they have never talked
 *     met        the same after a barrier, so that each knows the address of the other
 *     question   the receiver leaves when it was asked to drop the message, and answers nothing before
 *     race       the receiver takes some of many messages, and leaves: of each one either the receiver says
 *                that it has it, or the sender that it was cancelled
 *     full       so many that there is no room for them all; the first of them need no receiver
 *     session    as before, in a session
 *
 * The receiver lives on until the sender is through; with another word behind FILE it ends at once.  FILE is new,
 * and shared by both.
 */
#include "test/conform/check.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RACES = 40, MANY = 400, MOST = 1 << 20 };

static volatile struct shared {
    int asked, left, through, got[RACES];
} * shared;
static char out[MOST], in[MOST];
static int bytes;
static MPI_Comm comm = MPI_COMM_WORLD;

static int is(const char *when, const char *what)
{
    return strcmp(when, what) == 0;
}

static void await(volatile int *flag)
{
    while (!*flag)
        usleep(1000);
}

/* Who leaves may wait for us to say that we have got what it sent. */
static void await_left(void)
{
    int found;
    while (!shared->left) {
        CHECK_OK(MPI_Iprobe(1, 0, comm, &found, MPI_STATUS_IGNORE));
        usleep(100);
    }
}

static void shared_open(const char *name)
{
    int fd = open(name, O_RDWR | O_CREAT, 0600);
    CHECK(fd >= 0 && ftruncate(fd, sizeof *shared) == 0);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(shared != MAP_FAILED);
}

static int wait_cancelled(MPI_Request *request)
{
    MPI_Status status;
    int cancelled = -1;
    CHECK_OK(MPI_Wait(request, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
    return cancelled;
}

static void send_one(void)
{
    MPI_Request request;
    CHECK_OK(MPI_Issend(out, bytes, MPI_CHAR, 1, 0, comm, &request));
    CHECK_OK(MPI_Cancel(&request));
    usleep(20000);
    shared->asked = 1;
    CHECK(wait_cancelled(&request) == 1);
}

static void send_races(void)
{
    MPI_Request requests[RACES];
    int cancelled[RACES];
    for (int i = 0; i < RACES; i++)
        CHECK_OK(MPI_Issend(out, bytes, MPI_CHAR, 1, i, comm, &requests[i]));
    for (int i = RACES - 1; i >= 0; i--)
        CHECK_OK(MPI_Cancel(&requests[i]));
    for (int i = 0; i < RACES; i++)
        cancelled[i] = wait_cancelled(&requests[i]);
    await_left();
    for (int i = 0; i < RACES; i++)
        CHECK(cancelled[i] + shared->got[i] == 1);
}

static void receive_races(void)
{
    srand((unsigned)getpid());
    for (int i = rand() % (2 * RACES); i >= 0; i--) {
        int found;
        MPI_Status status;
        CHECK_OK(MPI_Iprobe(0, MPI_ANY_TAG, comm, &found, &status));
        if (!found)
            continue;
        CHECK_OK(MPI_Recv(in, bytes, MPI_CHAR, 0, status.MPI_TAG, comm, &status));
        shared->got[status.MPI_TAG] = 1;
    }
}

/* Those that are not synchronous may be with the link, wholly or in part. */
static void send_many(void)
{
    static MPI_Request requests[MANY];
    for (int i = 0; i < MANY; i++)
        if (i < MANY / 2)
            CHECK_OK(MPI_Isend(out, bytes, MPI_CHAR, 1, i, comm, &requests[i]));
        else
            CHECK_OK(MPI_Issend(out, bytes, MPI_CHAR, 1, i, comm, &requests[i]));
    for (int i = 0; i < MANY; i++)
        CHECK_OK(MPI_Cancel(&requests[i]));
    for (int i = 0; i < MANY; i++)
        CHECK(wait_cancelled(&requests[i]) == 1 || i < MANY / 2);
}

static void sender(const char *when)
{
    if (!is(when, "question") && !is(when, "race"))
        await_left();
    if (is(when, "race"))
        send_races();
    else if (is(when, "full"))
        send_many();
    else
        send_one();
}

static void receiver(const char *when)
{
    if (is(when, "question"))
        await(&shared->asked);
    if (is(when, "race"))
        receive_races();
}

static void leave(MPI_Session *session)
{
    if (*session == MPI_SESSION_NULL) {
        CHECK_OK(MPI_Finalize());
        return;
    }
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Session_finalize(session));
}

static void begin(MPI_Session *session)
{
    MPI_Group group;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, session));
    CHECK_OK(MPI_Group_from_session_pset(*session, "mpi://WORLD", &group));
    CHECK_OK(
        MPI_Comm_create_from_group(group, "left", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
    CHECK_OK(MPI_Group_free(&group));
}

int main(int argc, char **argv)
{
    const char *when = argv[1];
    int rank;
    MPI_Session session = MPI_SESSION_NULL;
    bytes = atoi(argv[2]);
    shared_open(argv[3]);
    if (is(when, "session"))
        begin(&session);
    else
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(comm, &rank);
    if (!is(when, "before"))
        CHECK_OK(MPI_Barrier(comm));
    if (rank == 0)
        sender(when);
    else if (rank == 1)
        receiver(when);
    leave(&session);
    if (rank == 1)
        shared->left = 1;
    if (rank == 0)
        shared->through = 1;
    else if (argc < 5)
        await(&shared->through);
    return 0;
}
