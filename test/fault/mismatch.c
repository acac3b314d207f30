/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks in different collectives, pair by pair: rank 0 calls one, all others another one, each pair on a
 * communicator of its own.  Every rank has to get an error that names both calls, from its call or,
 * where that needed nobody, from the next one, and an error from every call after that; nobody may wait
 * for more than PATIENCE.  The same call on all ranks has to work.
 *
 *     mismatch [blocking|nonblocking|persistent|again] [FIRST LAST [short|eager|long|mixed]]
 *     mismatch forms|left [FIRST LAST [short|eager|long|mixed]]
 *     mismatch late|together|computes|overdue|elements
 *
 * FIRST and LAST are numbers of calls for rank 0; without them it takes all.  Again: all have called both,
 * and what comes next, several times before, so that what they are is known.  Forms: all call the same, but
 * rank 0 blocking, nonblocking or persistent and the others not so.  Left: rank 0 leaves the communicator after
 * its call, or without any, and the others call the same of another length.  Late: all call the same, in
 * turn one rank a second after the others, which is no mismatch; then they begin all calls at once and wait
 * for them in orders of their own.  Together: one wait for a mismatch and for what others are late in.
 * Computes: who has found one does not call MPI for long.  Overdue: the last rank has not come to nonblocking calls
 * that the others have given up; their results are there, or an error is.
 * Elements: as many bytes, but rank 0 has ints and the others longs; or the first block is longer there and the
 * last one shorter.
 */
#include <ctype.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE = 40, BEARABLE = 15, MOST_RANKS = 16, SHORT = 2, EAGER = 512, LONG = 1 << 16 };

static int me, size, failures, before; /* before: how often all have called both already */
static double *in, *out;               /* room for LONG of all ranks */
static int counts[MOST_RANKS], displs[MOST_RANKS];

struct call {
    const char *name; /* as it is in the error */
    int what, root, count;
    MPI_Op op;
    MPI_Datatype type;
};

enum what {
    BARRIER,
    BCAST,
    GATHER,
    SCATTER,
    ALLGATHER,
    ALLTOALL,
    REDUCE,
    ALLREDUCE,
    BLOCKS,
    LISTED, /* the first block is `root` longer, the last one shorter */
    SCAN,
    EXSCAN,
    GATHERV,
    SCATTERV,
    ALLGATHERV,
    ALLTOALLV
};

static struct call calls[64];
static int ncalls;

static void add(const char *name, int what, int root, int count, MPI_Op op, MPI_Datatype type)
{
    calls[ncalls++] = (struct call){ name, what, root, count, op, type };
}

static void add_all(int count, MPI_Datatype type)
{
    for (int root = 0; root < 2; root++) {
        add("MPI_Bcast", BCAST, root, count, MPI_OP_NULL, type);
        add("MPI_Gather", GATHER, root, count, MPI_OP_NULL, type);
        add("MPI_Scatter", SCATTER, root, count, MPI_OP_NULL, type);
        add("MPI_Reduce", REDUCE, root, count, MPI_SUM, type);
        add("MPI_Gatherv", GATHERV, root, count, MPI_OP_NULL, type);
        add("MPI_Scatterv", SCATTERV, root, count, MPI_OP_NULL, type);
    }
    add("MPI_Reduce", REDUCE, 0, count, MPI_MAX, type);
    add("MPI_Allreduce", ALLREDUCE, 0, count, MPI_SUM, type);
    add("MPI_Allreduce", ALLREDUCE, 0, count, MPI_MAX, type);
    add("MPI_Allgather", ALLGATHER, 0, count, MPI_OP_NULL, type);
    add("MPI_Alltoall", ALLTOALL, 0, count, MPI_OP_NULL, type);
    add("MPI_Reduce_scatter_block", BLOCKS, 0, count, MPI_SUM, type);
    add("MPI_Scan", SCAN, 0, count, MPI_SUM, type);
    add("MPI_Exscan", EXSCAN, 0, count, MPI_SUM, type);
    add("MPI_Allgatherv", ALLGATHERV, 0, count, MPI_OP_NULL, type);
    add("MPI_Alltoallv", ALLTOALLV, 0, count, MPI_OP_NULL, type);
}

#define FORMS(mode, call, request, Name, ...)                                                  \
    (mode == 0   ? MPI_##Name(__VA_ARGS__, comm)                                               \
     : mode == 1 ? MPI_I##call(__VA_ARGS__, comm, request)                                     \
                 : MPI_##Name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, request))

static int begin(const struct call *c, int mode, MPI_Comm comm, MPI_Request *request)
{
    int n = c->count;
    MPI_Datatype t = c->type;
    for (int r = 0; r < size; r++) {
        counts[r] = n;
        displs[r] = r * n;
    }
    switch (c->what) {
    case BCAST:
        return FORMS(mode, bcast, request, Bcast, out, n, t, c->root);
    case GATHER:
        return FORMS(mode, gather, request, Gather, in, n, t, out, n, t, c->root);
    case SCATTER:
        return FORMS(mode, scatter, request, Scatter, in, n, t, out, n, t, c->root);
    case ALLGATHER:
        return FORMS(mode, allgather, request, Allgather, in, n, t, out, n, t);
    case ALLTOALL:
        return FORMS(mode, alltoall, request, Alltoall, in, n, t, out, n, t);
    case REDUCE:
        return FORMS(mode, reduce, request, Reduce, in, out, n, t, c->op, c->root);
    case ALLREDUCE:
        return FORMS(mode, allreduce, request, Allreduce, in, out, n, t, c->op);
    case BLOCKS:
        return FORMS(mode, reduce_scatter_block, request, Reduce_scatter_block, in, out, n, t,
                     c->op);
    case LISTED:
        counts[0] += c->root;
        counts[size - 1] -= c->root;
        return FORMS(mode, reduce_scatter, request, Reduce_scatter, in, out, counts, t, c->op);
    case SCAN:
        return FORMS(mode, scan, request, Scan, in, out, n, t, c->op);
    case EXSCAN:
        return FORMS(mode, exscan, request, Exscan, in, out, n, t, c->op);
    case GATHERV:
        return FORMS(mode, gatherv, request, Gatherv, in, n, t, out, counts, displs, t,
                     c->root);
    case SCATTERV:
        return FORMS(mode, scatterv, request, Scatterv, in, counts, displs, t, out, n, t,
                     c->root);
    case ALLGATHERV:
        counts[0] += c->root;
        counts[size - 1] -= c->root;
        for (int r = 1; r < size; r++)
            displs[r] += c->root;
        return FORMS(mode, allgatherv, request, Allgatherv, in, counts[me], t, out, counts,
                     displs, t);
    case ALLTOALLV:
        return FORMS(mode, alltoallv, request, Alltoallv, in, counts, displs, t, out, counts,
                     displs, t);
    default:
        return mode == 0   ? MPI_Barrier(comm)
               : mode == 1 ? MPI_Ibarrier(comm, request)
                           : MPI_Barrier_init(comm, MPI_INFO_NULL, request);
    }
}

static int perform(const struct call *c, int mode, MPI_Comm comm)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int rc = begin(c, mode, comm, &request);
    if (rc != MPI_SUCCESS || mode == 0)
        return rc;
    if (mode == 2 && (rc = MPI_Start(&request)) != MPI_SUCCESS)
        return rc;
    rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (mode == 2)
        MPI_Request_free(&request);
    return rc;
}

static void describe(const struct call *c, char *text, size_t room)
{
    char type[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Type_get_name(c->type, type, &length);
    snprintf(text, room, "%s root %d, %d %s%s", c->name, c->root, c->count, type,
             c->op == MPI_MAX ? ", max" : "");
}

static void wrong(const struct call *a, const struct call *b, const char *why, const char *text)
{
    char first[160], second[160];
    describe(a, first, sizeof first);
    describe(b, second, sizeof second);
    printf("rank %d of %d: %s while others call %s: %s: %s\n", me, size, first, second, why,
           text);
    fflush(stdout);
    failures++;
}

static void expect(int rc, const struct call *c, const char *when)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (rc == MPI_SUCCESS)
        return;
    MPI_Error_string(rc, text, &length);
    wrong(c, c, when, text);
}

/* As errors name it: MPI_Bcast, MPI_Ibcast, MPI_Bcast_init. */
static const char *name_of(const struct call *c, int mode, char *text, size_t room)
{
    snprintf(text, room,
             mode == 1   ? "MPI_I%s"
             : mode == 2 ? "MPI_%s_init"
                         : "MPI_%s",
             c->name + strlen("MPI_"));
    if (mode == 1)
        text[strlen("MPI_I")] = (char)tolower((unsigned char)text[strlen("MPI_I")]);
    return text;
}

static bool names(const char *text, const struct call *a, int mode_a, const struct call *b,
                  int mode_b)
{
    char name[64];
    return strstr(text, name_of(a, mode_a, name, sizeof name)) &&
           strstr(text, name_of(b, mode_b, name, sizeof name));
}

/* All ranks on a communicator whose errors are returned. */
static MPI_Comm world_again(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return comm;
}

static void pair(const struct call *a, const struct call *b, int mode)
{
    static const struct call next = { .name = "MPI_Barrier", .type = MPI_BYTE };
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    MPI_Comm comm = world_again();
    alarm(PATIENCE);
    double began = MPI_Wtime();
    for (int i = 0; i < 3 * before; i++) {
        const struct call *c = i % 3 == 0 ? a : i % 3 == 1 ? b : &next;
        expect(perform(c, mode, comm), c, "before");
    }
    int rc = perform(me == 0 ? a : b, mode, comm);
    int late = rc == MPI_SUCCESS && a != b;
    if (rc != MPI_SUCCESS)
        MPI_Error_string(rc, text, &length);
    for (int i = 0; i < 2; i++) {
        int after = perform(&next, 0, comm);
        if (rc == MPI_SUCCESS && after != MPI_SUCCESS)
            MPI_Error_string(rc = after, text, &length);
    }
    if (a != b && perform(&next, 0, comm) == MPI_SUCCESS)
        wrong(a, b, "no error any more", text);
    double took = MPI_Wtime() - began;
    alarm(0);
    if (getenv("VERBOSE") && a != b)
        printf("%d: %.3f s%s %s\n", me, took, late ? " late" : "", text);
    if (a == b && rc != MPI_SUCCESS)
        wrong(a, b, "an error where all call the same", text);
    if (a != b && rc == MPI_SUCCESS)
        wrong(a, b, "no error", "");
    if (a != b && rc != MPI_SUCCESS && !names(text, a, mode, b, mode))
        wrong(a, b, "not both calls", text);
    if (took > BEARABLE)
        wrong(a, b, "too long", text);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
}

/* Rank 0 calls it in one form, all others in another. */
static void forms(const struct call *c, int mine, int theirs)
{
    static const struct call next = { .name = "MPI_Barrier", .type = MPI_BYTE };
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    MPI_Comm comm = world_again();
    alarm(PATIENCE);
    int rc = perform(c, me == 0 ? mine : theirs, comm);
    for (int i = 0; i < 2 && rc == MPI_SUCCESS; i++)
        rc = perform(&next, 0, comm);
    alarm(0);
    if (rc != MPI_SUCCESS)
        MPI_Error_string(rc, text, &length);
    if (!names(text, c, mine, c, theirs) || !strstr(text, "do not go together"))
        wrong(c, c, "in two forms", text);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
}

static bool all_need_rank_0(const struct call *c)
{
    return c->what == BARRIER || c->what == ALLREDUCE || c->what == SCAN || c->what == EXSCAN ||
           ((c->what == BCAST || c->what == SCATTER) && c->root == 0);
}

/* Rank 0 leaves after its call, in which it perhaps hears nobody: no other one may wait for it for ever. */
static void left(const struct call *c, int mode)
{
    struct call longer = *c;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length, rc = MPI_SUCCESS;
    MPI_Comm comm = world_again();
    longer.count = c->count == LONG ? SHORT : LONG;
    alarm(PATIENCE);
    if (me > 0)
        rc = perform(&longer, mode, comm);
    else if (c->what != BARRIER)
        perform(c, mode, comm);
    MPI_Comm_free(&comm);
    MPI_Barrier(MPI_COMM_WORLD);
    alarm(0);
    if (rc != MPI_SUCCESS)
        MPI_Error_string(rc, text, &length);
    if (me > 0 && all_need_rank_0(c) &&
        (rc == MPI_SUCCESS ||
         !strstr(text, c->what == BARRIER ? "MPI_Comm_free" : "rank 0 called")))
        wrong(c, &longer, "of another length, and rank 0 leaves", text);
}

/* Both are as many bytes of integers. */
static void elements(int bytes)
{
    int longs = bytes / (int)sizeof(long), ints = bytes / (int)sizeof(int);
    struct call a = { "MPI_Allreduce", ALLREDUCE, 0, ints, MPI_SUM, MPI_INT };
    struct call b = { "MPI_Allreduce", ALLREDUCE, 0, longs, MPI_SUM, MPI_LONG };
    struct call even = { "MPI_Reduce_scatter", LISTED, 0, ints, MPI_SUM, MPI_INT },
                uneven = even;
    struct call alike = { "MPI_Allgatherv", ALLGATHERV, 0, ints, MPI_OP_NULL, MPI_INT },
                unlike = alike;
    uneven.root = unlike.root = 1;
    for (int mode = 0; mode < 3; mode++) {
        pair(&a, &b, mode);
        pair(&b, &a, mode);
        pair(&even, &uneven, mode);
        pair(&uneven, &even, mode);
        pair(&uneven, &uneven, mode);
        pair(&alike, &unlike, mode);
        pair(&unlike, &alike, mode);
        pair(&unlike, &unlike, mode);
    }
}

/* Rank 0 has left MPI. */
static void left_for_good(void)
{
    struct call barrier = { .name = "MPI_Barrier", .type = MPI_BYTE };
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    alarm(PATIENCE);
    if (me == 0)
        return;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int rc = perform(&barrier, 0, MPI_COMM_WORLD);
    if (rc != MPI_SUCCESS)
        MPI_Error_string(rc, text, &length);
    if (!strstr(text, "rank 0 called MPI_Finalize while"))
        wrong(&barrier, &barrier, "rank 0 has left", text);
}

/* Both kinds of waiting for somebody who is late: as a rank that hears all, and as one that hears one. */
static void all_late(void)
{
    static MPI_Request requests[64];
    MPI_Comm comm = world_again(), other = world_again();
    for (int late = 0; late < size; late++) {
        if (me == late)
            sleep(1);
        for (int a = 0; a < ncalls; a++)
            expect(perform(&calls[a], 0, comm), &calls[a], "late");
        for (int a = 0; a < ncalls && a < 20; a++) { /* no buffer is in two */
            if (calls[a].what != BARRIER)
                continue;
            expect(begin(&calls[a], 1, comm, &requests[0]), &calls[a], "begun");
            expect(begin(&calls[a], 1, other, &requests[1]), &calls[a], "begun");
            expect(begin(&calls[a], 1, comm, &requests[2]), &calls[a], "begun");
            if (me == late)
                sleep(1);
            for (int i = 0; i < 3; i++)
                expect(MPI_Wait(&requests[(i * (me % 2 ? 1 : 2) + me) % 3], MPI_STATUS_IGNORE),
                       &calls[a], "waited for");
        }
    }
    MPI_Comm_free(&comm);
    MPI_Comm_free(&other);
}

/* Nobody receives anything of the mismatch, and it is not the last that is waited for: behind it are one of
 * the same communicator and one of a smaller one, in which rank 0 is not. */
static void all_together(void)
{
    struct call mine = { "MPI_Reduce", REDUCE, me > 0, LONG, MPI_SUM, MPI_DOUBLE };
    MPI_Request requests[3] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    MPI_Status statuses[3];
    MPI_Comm comm, some;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_split(MPI_COMM_WORLD, me > 0, 0, &some);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    alarm(PATIENCE);
    begin(&mine, 1, comm, &requests[0]);
    MPI_Ibarrier(comm, &requests[1]);
    if (me == size - 1)
        sleep(1);
    MPI_Ibarrier(some, &requests[2]);
    int rc = MPI_Waitall(3, requests, statuses);
    if (rc == MPI_SUCCESS && me < 2) /* the others only send */
        wrong(&mine, &mine, "no error", "");
    if (rc != MPI_SUCCESS && statuses[2].MPI_ERROR != MPI_SUCCESS)
        wrong(&mine, &mine, "an error of another communicator", "");
    if (MPI_Barrier(comm) == MPI_SUCCESS)
        wrong(&mine, &mine, "no error later", "");
    alarm(0);
    MPI_Comm_free(&some);
    MPI_Comm_free(&comm);
}

/* Rank 0 finds it as it begins, and computes for long: rank 2, which waits for rank 0, is told before that is
 * over.  Rank 1, which only sends, asks nobody. */
static void all_but_one_wait(int mode)
{
    struct call mine = { "MPI_Bcast", BCAST, me == 1, EAGER, MPI_OP_NULL, MPI_DOUBLE };
    struct call other = { "MPI_Reduce", REDUCE, 0, EAGER, MPI_SUM, MPI_DOUBLE };
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm comm = world_again();
    alarm(PATIENCE);
    if (me == 0)
        MPI_Recv(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int rc = begin(me == 0 ? &other : &mine, mode, comm, &request);
    if (rc == MPI_SUCCESS && mode == 2)
        rc = MPI_Start(&request);
    if (me == 1)
        MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    if (me == 0)
        sleep(3);
    double back = MPI_Wtime();
    if (rc == MPI_SUCCESS)
        rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    double over = MPI_Wtime();
    MPI_Bcast(&back, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (me != 1 && rc == MPI_SUCCESS)
        wrong(&mine, &other, "no error", "");
    if (me == 2 && over > back)
        wrong(&mine, &other, "told when rank 0 is back", "");
    alarm(0);
    if (request != MPI_REQUEST_NULL)
        MPI_Request_free(&request);
    MPI_Comm_free(&comm);
}

static void call_mpi_for(double seconds)
{
    int flag;
    for (double end = MPI_Wtime() + seconds; MPI_Wtime() < end;)
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

/* More gathers of much data are begun than there are tracks for, and the root is slow.  The others are through
 * with those that came first, have said their words of the next ones, and then are in different collectives. */
static void last_is_behind(void)
{
    enum { GATHERS = 17 };
    MPI_Request requests[GATHERS];
    double *results[GATHERS];
    bool slow = me == size - 1;
    int lost = 0, errors = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    alarm(PATIENCE);
    for (int i = 0; i < LONG; i++)
        in[i] = me + 1;
    for (int i = 0; i < GATHERS; i++) {
        results[i] = calloc((size_t)LONG * (size_t)size, sizeof(double));
        MPI_Igather(in, LONG, MPI_DOUBLE, results[i], LONG, MPI_DOUBLE, size - 1,
                    MPI_COMM_WORLD, &requests[i]);
    }
    if (slow) {
        call_mpi_for(1);
        sleep(3);
    } else {
        usleep(1500000);
        call_mpi_for(1);
        if (me == 0)
            MPI_Barrier(MPI_COMM_WORLD);
        else
            MPI_Allreduce(in, out, SHORT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    for (int i = 0; i < GATHERS; i++) {
        bool good = MPI_Wait(&requests[i], MPI_STATUS_IGNORE) == MPI_SUCCESS;
        for (int k = 0; slow && good && k < LONG * size; k++)
            lost += results[i][k] != k / LONG + 1;
        errors += !good;
        free(results[i]);
    }
    alarm(0);
    if (lost > 0 || errors == 0) {
        printf("rank %d: %d results missing, %d errors\n", me, lost, errors);
        failures++;
    }
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    in = calloc((size_t)LONG * (size_t)size, sizeof *in);
    out = calloc((size_t)LONG * (size_t)size, sizeof *out);
    const char *form = argc > 1 ? argv[1] : "blocking", *sizes = argc > 4 ? argv[4] : "mixed";
    int mode = form[0] == 'b' || form[0] == 'a' ? 0 : form[0] == 'n' ? 1 : 2;
    before = form[0] == 'a' ? 4 : 0;
    add("MPI_Barrier", BARRIER, 0, 0, MPI_OP_NULL, MPI_BYTE);
    bool mixed = strcmp(sizes, "mixed") == 0;
    if (mixed || strcmp(sizes, "short") == 0)
        add_all(SHORT, MPI_DOUBLE);
    if (mixed || strcmp(sizes, "long") == 0)
        add_all(LONG, MPI_DOUBLE);
    if (strcmp(sizes, "eager") == 0)
        add_all(EAGER, MPI_DOUBLE);
    add("MPI_Bcast", BCAST, 0, 4, MPI_OP_NULL, MPI_INT);
    add("MPI_Bcast", BCAST, 0, 3, MPI_OP_NULL, MPI_DOUBLE);
    int first = argc > 2 ? atoi(argv[2]) : 0, last = argc > 3 ? atoi(argv[3]) : ncalls - 1;
    if (strcmp(form, "late") == 0)
        all_late();
    if (form[0] == 't')
        all_together();
    for (int how = 1; form[0] == 'c' && how <= 2; how++)
        all_but_one_wait(how);
    if (form[0] == 'o')
        last_is_behind();
    if (form[0] == 'e') {
        elements(SHORT * (int)sizeof(double));
        elements(LONG * (int)sizeof(double));
    }
    for (int a = first; a <= last && a < ncalls && strchr("bnpa", form[0]); a++)
        for (int b = 0; b < ncalls; b++)
            pair(&calls[a], &calls[b], mode);
    for (int a = first; a <= last && a < ncalls && form[0] == 'f'; a++)
        for (int i = 0; i < 6; i++)
            forms(&calls[a], i / 2, (i / 2 + i % 2 + 1) % 3);
    for (int a = first; a <= last && a < ncalls && strcmp(form, "left") == 0; a++)
        for (int how = 0; how < 3; how++)
            left(&calls[a], how);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0)
        printf("%d calls, %d wrong\n", ncalls, failures);
    if (strcmp(form, "left") == 0)
        left_for_good();
    MPI_Finalize();
    return failures > 0;
}
