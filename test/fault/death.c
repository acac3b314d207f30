/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A rank is killed while the others are in a call: each of them must come back at once (within 2 s, for busy machines),
 * with MPIX_ERR_PROC_FAILED and the rank in the text.
 *
 * usage: death CALL VICTIM        under xmpirun --keep-going -np 3 or more
 *        DEATH_READY=FILE         is made when all are there, a while before the death
 *
 * The victim joins the others in the warm-up, then dies by SIGKILL 200 ms later; where the call is
 * about messages in progress, it does so between two rounds of progress.  Survivors print
 * `back RANK`; whatever is wrong is printed as `bad ...`, and ends with code 7.
 */
#include "mpix.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LONG = 8 << 20, MOST = 64, KILL_MS = 200, LIMIT_MS = 2000 };

static int rank, size, victim, partner;
static char *room;
static double killed; /* when the victim dies, by everybody's clock */

static void bad(const char *why)
{
    printf("bad %d: %s\n", rank, why);
    fflush(stdout);
    _exit(7);
}

/* ---- the calls: each returns what MPI returned ---- */

static int call_recv(void)
{
    return MPI_Recv(room, 8, MPI_BYTE, victim, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int call_recv_long(void)
{
    return MPI_Recv(room, LONG, MPI_BYTE, victim, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int call_send_long(void)
{
    return MPI_Send(room, LONG, MPI_BYTE, victim, 7, MPI_COMM_WORLD);
}

static int call_ssend(void)
{
    return MPI_Ssend(room, 8, MPI_BYTE, victim, 7, MPI_COMM_WORLD);
}

static int call_flood(void) /* until the ring is full, and on */
{
    int rc = MPI_SUCCESS;
    while (rc == MPI_SUCCESS)
        rc = MPI_Send(room, 4096, MPI_BYTE, victim, 8, MPI_COMM_WORLD);
    return rc;
}

static int call_any(void)
{
    MPI_Status status;
    return MPI_Recv(room, 8, MPI_BYTE, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &status);
}

static int call_any_request(void)
{
    MPI_Request request;
    MPI_Irecv(room, 8, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int call_barrier(void)
{
    return MPI_Barrier(MPI_COMM_WORLD);
}

static int call_allreduce(void)
{
    double in = 1, out;
    return MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static int call_allreduce_long(void)
{
    return MPI_Allreduce(MPI_IN_PLACE, room, LONG / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* One waits, the others begin and then compute for longer than anybody may wait for them. */
static int call_iallreduce_long(void)
{
    MPI_Request request;
    int rc = MPI_Iallreduce(MPI_IN_PLACE, room, LONG / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD,
                            &request);
    if (rc == MPI_SUCCESS && rank != (victim == 0)) {
        usleep((LIMIT_MS + KILL_MS + 500) * 1000);
        killed += (LIMIT_MS + 500) * 1e-3;
    }
    return rc == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : rc;
}

static int call_alltoall_long(void)
{
    int n = LONG / 2 / size;
    return MPI_Alltoall(room, n, MPI_BYTE, room + LONG / 2, n, MPI_BYTE, MPI_COMM_WORLD);
}

static int call_bcast(void)
{
    return MPI_Bcast(room, LONG, MPI_BYTE, victim, MPI_COMM_WORLD);
}

static int call_ibarrier(void)
{
    MPI_Request request;
    int rc = MPI_Ibarrier(MPI_COMM_WORLD, &request);
    return rc ? rc : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Among many requests, one with a living partner, which must be served. */
static int call_waitall(void)
{
    MPI_Request request[4];
    MPI_Status status[4];
    int from = -1;
    MPI_Irecv(room, 8, MPI_BYTE, victim, 10, MPI_COMM_WORLD, &request[0]);
    MPI_Irecv(&from, 1, MPI_INT, partner, 11, MPI_COMM_WORLD, &request[1]);
    MPI_Isend(room + 64, LONG - 64, MPI_BYTE, victim, 12, MPI_COMM_WORLD, &request[2]);
    MPI_Isend(&rank, 1, MPI_INT, partner, 11, MPI_COMM_WORLD, &request[3]);
    int rc = MPI_Waitall(4, request, status), class;
    if (rc != MPI_ERR_IN_STATUS)
        bad("MPI_Waitall does not return MPI_ERR_IN_STATUS");
    MPI_Error_class(status[0].MPI_ERROR, &class);
    if (class != MPIX_ERR_PROC_FAILED || status[2].MPI_ERROR != class)
        bad("the statuses do not say so");
    if (status[1].MPI_ERROR || status[3].MPI_ERROR || from != partner)
        bad("the exchange with a living partner failed");
    return call_recv();
}

static int call_probe(void)
{
    MPI_Status status;
    return MPI_Probe(victim, 13, MPI_COMM_WORLD, &status);
}

static int call_mprobe(void)
{
    MPI_Status status;
    MPI_Message message;
    return MPI_Mprobe(MPI_ANY_SOURCE, 13, MPI_COMM_WORLD, &message, &status);
}

static int call_dup(void) /* it waits for the first process alone */
{
    MPI_Comm dup;
    int rc = MPI_SUCCESS;
    while (rc == MPI_SUCCESS)
        if ((rc = MPI_Comm_dup(MPI_COMM_WORLD, &dup)) == MPI_SUCCESS)
            MPI_Comm_free(&dup);
    return rc;
}

static int call_split(void)
{
    MPI_Comm half;
    return MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
}

/* Those who are left make a communicator of their own, once they know. */
static int call_survivors(void)
{
    MPI_Group all, left;
    MPI_Comm ours;
    int rc = call_barrier();
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_excl(all, 1, &victim, &left);
    if (MPI_Comm_create(MPI_COMM_WORLD, left, &ours) != MPI_SUCCESS)
        bad("no communicator of survivors");
    if (MPI_Barrier(ours) != MPI_SUCCESS)
        bad("no barrier of survivors");
    MPI_Comm_free(&ours);
    MPI_Group_free(&all);
    MPI_Group_free(&left);
    return rc;
}

static int call_sendrecv(void)
{
    return MPI_Sendrecv(room, LONG / 2, MPI_BYTE, victim, 14, room + LONG / 2, LONG / 2,
                        MPI_BYTE, victim, 14, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int call_start(void)
{
    MPI_Request request;
    MPI_Recv_init(room, 8, MPI_BYTE, victim, 15, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    int rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    return rc;
}

/* Its sender has never told what it would send; a second start ends no better. */
static int call_precv(void)
{
    MPI_Request request;
    int rc = MPI_SUCCESS;
    MPI_Precv_init(room, 2, 4, MPI_BYTE, victim, 20, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int start = 0; start < 2; start++) {
        MPI_Start(&request);
        rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (rc == MPI_SUCCESS)
            bad("a partitioned receive ends without an error");
    }
    MPI_Request_free(&request);
    return rc;
}

/* No partition can be sent any more, and the program gives up at the first. */
static int call_pready(void)
{
    MPI_Request request;
    int rc = MPI_SUCCESS;
    MPI_Psend_init(room, 2, 4, MPI_BYTE, victim, 21, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    call_recv();
    for (int start = 0; start < 2; start++) {
        MPI_Start(&request);
        if (MPI_Pready(1, request) == MPI_SUCCESS)
            bad("a partition goes to the dead");
        rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (rc == MPI_SUCCESS)
            bad("a partitioned send ends without an error");
    }
    MPI_Request_free(&request);
    return rc;
}

static int call_test(void)
{
    MPI_Request request;
    int flag = 0, rc = MPI_SUCCESS;
    MPI_Irecv(room, 8, MPI_BYTE, victim, 5, MPI_COMM_WORLD, &request);
    while (!flag && rc == MPI_SUCCESS)
        rc = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    return rc;
}

/* An unmatched long send is in flight when the program gives up. */
static int call_finalize(void)
{
    MPI_Request request;
    MPI_Isend(room, LONG, MPI_BYTE, victim, 16, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    return MPI_SUCCESS;
}

/* Its end waits for messages that receives may still get, as long as somebody can send them. */
static int call_freed(void)
{
    MPI_Request request;
    MPI_Irecv(room, 8, MPI_BYTE, victim, 18, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Irecv(room, 8, MPI_BYTE, MPI_ANY_SOURCE, 19, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    return MPI_SUCCESS;
}

/* A circle: each waits for a living one but the last, who waits for the dead.  Who gets the error
 * leaves, and so frees the one before. */
static int call_chain(void)
{
    int next = (rank + 1) % size;
    return MPI_Recv(room, 8, MPI_BYTE, next, 17, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Computing meanwhile: the error comes with the first call after it. */
static int call_late(void)
{
    usleep(600 * 1000);
    killed += 0.5;
    return MPI_Send(room, 8, MPI_BYTE, victim, 18, MPI_COMM_WORLD) ? call_recv() : call_flood();
}

/* What it sent before is never received: it leaves memory when MPI ends, and then nobody is to be told. */
static int call_unread(void)
{
    return call_recv();
}

static void send_unread(void)
{
    enum { MESSAGES = 48, BYTES = 8192 }; /* more than a quarter of XMPI_OFI_WINDOW */
    for (int i = 0; i < size * MESSAGES; i++)
        if (i % size != rank)
            MPI_Send(room, BYTES, MPI_BYTE, i % size, 19, MPI_COMM_WORLD);
}

/* ---- what has come so often, with the victim, that it goes a shorter way; the others go on with it ---- */

enum { BEFORE = 5 };

static int again_barrier(int time)
{
    (void)time;
    return MPI_Barrier(MPI_COMM_WORLD);
}

static int again_allreduce(int time)
{
    int in = time, most = -1;
    int rc = MPI_Allreduce(&in, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rc == MPI_SUCCESS && (most != time || time >= BEFORE))
        bad("a result without the victim");
    return rc;
}

/* Who sends to others alone runs ahead, as far as there is room, or until they leave. */
static int again_bcast(int time)
{
    int root = (victim + 1) % size, data = rank == root ? time : -1;
    int rc = MPI_Bcast(&data, 1, MPI_INT, root, MPI_COMM_WORLD);
    if (rc == MPI_SUCCESS && data != time)
        bad("other data than the root's");
    return rc;
}

static int again_gather(int time)
{
    int root = (victim + 1) % size, all[MOST];
    int rc = MPI_Gather(&time, 1, MPI_INT, all, 1, MPI_INT, root, MPI_COMM_WORLD);
    if (rc == MPI_SUCCESS && rank == root && time >= BEFORE)
        bad("data without the victim");
    return rc;
}

static const struct again {
    const char *name;
    int (*run)(int time); /* they are counted */
} agains[] = {
    { "again_barrier", again_barrier },
    { "again_allreduce", again_allreduce },
    { "again_bcast", again_bcast },
    { "again_gather", again_gather },
};
static const struct again *again;

static int call_again(void)
{
    int rc = MPI_SUCCESS;
    for (int time = BEFORE; rc == MPI_SUCCESS; time++)
        rc = again->run(time);
    return rc;
}

static const struct call {
    const char *name;
    int (*run)(void);
} calls[] = {
    { "recv", call_recv },
    { "recv_long", call_recv_long },
    { "send_long", call_send_long },
    { "ssend", call_ssend },
    { "flood", call_flood },
    { "any", call_any },
    { "any_request", call_any_request },
    { "barrier", call_barrier },
    { "allreduce", call_allreduce },
    { "allreduce_long", call_allreduce_long },
    { "alltoall_long", call_alltoall_long },
    { "iallreduce_long", call_iallreduce_long },
    { "bcast", call_bcast },
    { "ibarrier", call_ibarrier },
    { "waitall", call_waitall },
    { "probe", call_probe },
    { "mprobe", call_mprobe },
    { "dup", call_dup },
    { "split", call_split },
    { "survivors", call_survivors },
    { "sendrecv", call_sendrecv },
    { "start", call_start },
    { "precv", call_precv },
    { "pready", call_pready },
    { "test", call_test },
    { "finalize", call_finalize },
    { "freed", call_freed },
    { "chain", call_chain },
    { "late", call_late },
    { "unread", call_unread },
};

/* ---- the frame ---- */

static void check(int rc)
{
    char text[MPI_MAX_ERROR_STRING], wanted[32];
    int class = -1, length;
    MPI_Error_class(rc, &class);
    if (class != MPIX_ERR_PROC_FAILED)
        bad(rc ? "another error" : "no error");
    MPI_Error_string(rc, text, &length);
    snprintf(wanted, sizeof wanted, "rank %d ", victim);
    if (!strstr(text, "rank ") || !strstr(text, "pid "))
        bad(text);
    if (getenv("DEATH_SHOW"))
        printf("%d: %s\n", rank, text);
    if (!strstr(text, wanted) && !strstr(text, "has left"))
        bad(text);
}

static void die(void)
{
    while (MPI_Wtime() < killed)
        usleep(1000);
    kill(getpid(), SIGKILL);
}

int main(int argc, char **argv)
{
    static const struct call repeated = { "again", call_again };
    const struct call *call = NULL;
    for (size_t i = 0; argc == 3 && i < sizeof agains / sizeof agains[0]; i++)
        if (strcmp(agains[i].name, argv[1]) == 0) {
            again = &agains[i];
            call = &repeated;
        }
    for (size_t i = 0; argc == 3 && i < sizeof calls / sizeof calls[0]; i++)
        if (strcmp(calls[i].name, argv[1]) == 0)
            call = &calls[i];
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!call || size < 3)
        bad("usage: death CALL VICTIM, with 3 ranks or more");
    victim = atoi(argv[2]);
    int survivors[MOST], n = 0, me = 0;
    for (int i = 0; i < size; i++)
        if (i != victim) {
            me = i == rank ? n : me;
            survivors[n++] = i;
        }
    partner = survivors[me ^ 1] < size && (me ^ 1) < n ? survivors[me ^ 1] : rank;
    room = calloc(1, LONG);
    const char *ready = getenv("DEATH_READY");
    MPI_Barrier(MPI_COMM_WORLD); /* who needs the network opens it, which may take a while */
    killed = MPI_Wtime() + (ready ? 4 * KILL_MS : KILL_MS) * 1e-3;
    MPI_Bcast(&killed, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_BYTE, room, 8, MPI_BYTE, MPI_COMM_WORLD);
    for (int time = 0; again && time < BEFORE; time++)
        if (again->run(time) != MPI_SUCCESS)
            bad("an error before the death");
    if (rank == victim && ready)
        fclose(fopen(ready, "w"));
    if (rank == victim && call->run == call_unread)
        send_unread();
    if (rank == victim)
        die();
    int rc = call->run();
    if (call->run != call_finalize && call->run != call_freed)
        check(rc);
    double late = (MPI_Wtime() - killed) * 1e3;
    MPI_Finalize();
    double end = (MPI_Wtime() - killed) * 1e3;
    if (late > LIMIT_MS || end > LIMIT_MS + 500) {
        static char text[80];
        snprintf(text, sizeof text, "too late: %.0f ms, with MPI_Finalize %.0f ms", late, end);
        bad(text);
    }
    printf("back %d\n", rank);
    return 0;
}
