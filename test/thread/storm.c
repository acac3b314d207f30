/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Everything at once.  Each thread plays one act after another until the time is over (second
 * argument, seconds; 1 by default), drawn from a table by a generator that is seeded by the thread
 * alone, so thread i of all ranks plays the same acts in the same order on communicator i, while
 * the other threads of its process are anywhere in theirs.  Rank 0 says when it is over.
 *
 * Most acts use the thread's own communicator; those named common_ use one that all threads
 * share, where the tag tells them apart.
 */
#include "test/thread/threads.h"

#include <stdbool.h>

enum { LONG = 40000, FEW = 6, KEYS = 3, ACTS = 20 /* between two looks at the clock */ };

struct player {
    MPI_Comm comm;
    uint64_t seed;
    int me; /* thread */
    int to, from;
    int *out, *in; /* of LONG numbers */
};

static MPI_Comm common;
static double begun, length = 1;

static unsigned draw(struct player *p, unsigned below)
{
    p->seed = p->seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(p->seed >> 33) % below;
}

/* Short mostly; sometimes so long that a message is announced before it is sent. */
static int draw_length(struct player *p)
{
    static const int lengths[] = { 0, 1, 2, 5, 30, 300, 3000, LONG };
    return lengths[draw(p, sizeof lengths / sizeof lengths[0])];
}

static void fill(struct player *p, int n)
{
    for (int i = 0; i < n; i++)
        p->out[i] = 1000 * rank + p->me + i;
    memset(p->in, 0xff, (size_t)n * sizeof *p->in);
}

static void verify(const struct player *p, int source, int n)
{
    for (int i = 0; i < n; i++)
        CHECK(p->in[i] == 1000 * source + p->me + i);
}

static void verify_status(const MPI_Status *status, int source, int tag, int n)
{
    int count;
    CHECK_OK(MPI_Get_count(status, MPI_INT, &count));
    CHECK(count == n && status->MPI_SOURCE == source && status->MPI_TAG == tag);
}

/* ---- messages ---- */

static void ring(struct player *p)
{
    int n = draw_length(p), tag = (int)draw(p, 1000);
    MPI_Status status;
    fill(p, n);
    CHECK_OK(MPI_Sendrecv(p->out, n, MPI_INT, p->to, tag, p->in, n, MPI_INT, MPI_ANY_SOURCE,
                          MPI_ANY_TAG, p->comm, &status));
    verify_status(&status, p->from, tag, n);
    verify(p, p->from, n);
}

static void common_ring(struct player *p)
{
    int n = draw_length(p);
    MPI_Status status;
    MPI_Request request;
    fill(p, n);
    CHECK_OK(MPI_Irecv(p->in, n, MPI_INT, MPI_ANY_SOURCE, p->me, common, &request));
    if (draw(p, 2))
        CHECK_OK(MPI_Send(p->out, n, MPI_INT, p->to, p->me, common));
    else
        CHECK_OK(MPI_Ssend(p->out, n, MPI_INT, p->to, p->me, common));
    CHECK_OK(MPI_Wait(&request, &status));
    verify_status(&status, p->from, p->me, n);
    verify(p, p->from, n);
}

/* Find out by a probe what comes, in one of four ways, and receive it. */
static void probe_and_receive(struct player *p, int way, MPI_Comm comm, int tag)
{
    MPI_Status status;
    MPI_Message message;
    int n, flag = 0;
    if (way == 0)
        CHECK_OK(MPI_Probe(MPI_ANY_SOURCE, tag, comm, &status));
    else if (way == 1)
        CHECK_OK(MPI_Mprobe(MPI_ANY_SOURCE, tag, comm, &message, &status));
    while (way == 2 && !flag)
        CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, tag, comm, &flag, &status));
    while (way == 3 && !flag)
        CHECK_OK(MPI_Improbe(MPI_ANY_SOURCE, tag, comm, &flag, &message, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &n));
    CHECK(n <= LONG && status.MPI_SOURCE == p->from);
    if (way % 2)
        CHECK_OK(MPI_Mrecv(p->in, n, MPI_INT, &message, &status));
    else
        CHECK_OK(MPI_Recv(p->in, n, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, comm, &status));
    verify_status(&status, p->from, p->me, n);
    verify(p, p->from, n);
}

static void probe(struct player *p)
{
    int n = draw_length(p), way = (int)draw(p, 4);
    bool shared = draw(p, 2);
    MPI_Comm comm = shared ? common : p->comm;
    MPI_Request request;
    fill(p, n);
    CHECK_OK(MPI_Isend(p->out, n, MPI_INT, p->to, p->me, comm, &request));
    probe_and_receive(p, way, comm, shared ? p->me : MPI_ANY_TAG);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void buffered(struct player *p)
{
    int n = draw_length(p);
    MPI_Request request;
    fill(p, n);
    if (draw(p, 2)) {
        CHECK_OK(MPI_Bsend(p->out, n, MPI_INT, p->to, 3, p->comm));
    } else {
        CHECK_OK(MPI_Ibsend(p->out, n, MPI_INT, p->to, 3, p->comm, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Recv(p->in, n, MPI_INT, p->from, 3, p->comm, MPI_STATUS_IGNORE));
    verify(p, p->from, n);
}

/* A receive that nobody sends to, beside traffic. */
static void cancelled(struct player *p)
{
    MPI_Request request;
    MPI_Status status;
    int flag;
    CHECK_OK(MPI_Irecv(p->in, 1, MPI_INT, p->from, 2000, p->comm, &request));
    ring(p);
    CHECK_OK(MPI_Cancel(&request));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &flag));
    CHECK(flag);
}

/* ---- requests ---- */

static void complete(int way, int n, MPI_Request requests[])
{
    int index, count = 0, flag = 0, indices[2 * FEW];
    MPI_Status statuses[2 * FEW];
    if (way == 0)
        CHECK_OK(MPI_Waitall(n, requests, statuses));
    for (index = 0; way == 1 && index != MPI_UNDEFINED;)
        CHECK_OK(MPI_Waitany(n, requests, &index, statuses));
    while (way == 2 && count != MPI_UNDEFINED)
        CHECK_OK(MPI_Waitsome(n, requests, &count, indices, statuses));
    while (way == 3 && count != MPI_UNDEFINED)
        CHECK_OK(MPI_Testsome(n, requests, &count, indices, statuses));
    while (way == 4 && !flag)
        CHECK_OK(MPI_Testall(n, requests, &flag, statuses));
}

static void window(struct player *p)
{
    int n = (int)draw(p, LONG / FEW);
    MPI_Request requests[2 * FEW];
    fill(p, n * FEW);
    for (int i = 0; i < FEW; i++)
        CHECK_OK(
            MPI_Irecv(p->in + i * n, n, MPI_INT, p->from, 10 + FEW - i, p->comm, &requests[i]));
    for (int i = FEW - 1; i >= 0; i--)
        CHECK_OK(MPI_Isend(p->out + i * n, n, MPI_INT, p->to, 10 + FEW - i, p->comm,
                           &requests[FEW + i]));
    complete((int)draw(p, 5), 2 * FEW, requests);
    verify(p, p->from, n * FEW);
}

static void persistent(struct player *p)
{
    int n = draw_length(p);
    MPI_Request requests[2];
    CHECK_OK(MPI_Recv_init(p->in, n, MPI_INT, MPI_ANY_SOURCE, 4, p->comm, &requests[0]));
    CHECK_OK(MPI_Send_init(p->out, n, MPI_INT, p->to, 4, p->comm, &requests[1]));
    for (int i = 0; i < 3; i++) {
        fill(p, n);
        CHECK_OK(MPI_Startall(2, requests));
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        verify(p, p->from, n);
    }
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
}

static void partitioned(struct player *p)
{
    int n = 8;
    MPI_Request requests[2];
    CHECK_OK(
        MPI_Psend_init(p->out, n, 4, MPI_INT, p->to, 5, p->comm, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(
        MPI_Precv_init(p->in, n, 4, MPI_INT, p->from, 5, p->comm, MPI_INFO_NULL, &requests[1]));
    fill(p, 4 * n);
    CHECK_OK(MPI_Startall(2, requests));
    for (int i = n - 1; i >= 0; i--)
        CHECK_OK(MPI_Pready(i, requests[0]));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    verify(p, p->from, 4 * n);
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
}

/* ---- collectives ---- */

static void sum_on(struct player *p, MPI_Comm comm)
{
    int mine = p->me + 1, sum, n;
    CHECK_OK(MPI_Comm_size(comm, &n));
    CHECK_OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == n * mine);
}

static void reduction(struct player *p)
{
    int n = draw_length(p);
    MPI_Request request = MPI_REQUEST_NULL;
    fill(p, n);
    if (draw(p, 2))
        CHECK_OK(MPI_Allreduce(p->out, p->in, n, MPI_INT, MPI_MAX, p->comm));
    else
        CHECK_OK(MPI_Iallreduce(p->out, p->in, n, MPI_INT, MPI_MAX, p->comm, &request));
    sum_on(p, p->comm);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    verify(p, size - 1, n);
}

static void broadcast(struct player *p)
{
    int n = draw_length(p), root = (int)draw(p, (unsigned)size);
    fill(p, n);
    CHECK_OK(MPI_Barrier(p->comm));
    CHECK_OK(MPI_Bcast(rank == root ? p->out : p->in, n, MPI_INT, root, p->comm));
    if (rank != root)
        verify(p, root, n);
}

static void everyone(struct player *p)
{
    MPI_Request request;
    fill(p, 2 * size);
    CHECK_OK(MPI_Iallgather(p->out, 2, MPI_INT, p->in, 2, MPI_INT, p->comm, &request));
    ring(&(struct player){ p->comm, p->seed, p->me, p->to, p->from, p->out + LONG / 2,
                           p->in + LONG / 2 });
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < size; i++)
        CHECK(p->in[2 * i] == 1000 * i + p->me);
}

/* ---- communicators ---- */

static void use_and_free(struct player *p, MPI_Comm comm)
{
    sum_on(p, comm);
    CHECK_OK(MPI_Comm_free(&comm));
}

static void duplicate(struct player *p)
{
    MPI_Comm dup;
    MPI_Request request;
    if (draw(p, 2)) {
        CHECK_OK(MPI_Comm_dup(p->comm, &dup));
    } else {
        CHECK_OK(MPI_Comm_idup(p->comm, &dup, &request));
        ring(p);
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    use_and_free(p, dup);
}

static void split(struct player *p)
{
    MPI_Comm part;
    CHECK_OK(MPI_Comm_split(p->comm, rank % 2, -rank, &part));
    use_and_free(p, part);
}

/* On the shared communicator: the tag tells the threads apart. */
static void common_group(struct player *p)
{
    MPI_Group group;
    MPI_Comm made;
    CHECK_OK(MPI_Comm_group(common, &group));
    CHECK_OK(MPI_Comm_create_group(common, group, p->me, &made));
    CHECK_OK(MPI_Group_free(&group));
    use_and_free(p, made);
}

static void session(struct player *p)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    char tag[32];
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    snprintf(tag, sizeof tag, "storm %d", p->me);
    CHECK_OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Group_free(&group));
    use_and_free(p, comm);
    CHECK_OK(MPI_Session_finalize(&session));
}

/* ---- objects that stay at home ---- */

static int copied(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm;
    (void)keyval;
    ++*(int *)extra;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int deleted(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm;
    (void)keyval;
    (void)value;
    --*(int *)extra;
    return MPI_SUCCESS;
}

static void attributes(struct player *p)
{
    int keys[KEYS], alive = KEYS, flag;
    void *value;
    MPI_Comm dup;
    for (int i = 0; i < KEYS; i++) {
        CHECK_OK(MPI_Comm_create_keyval(copied, deleted, &keys[i], &alive));
        CHECK_OK(MPI_Comm_set_attr(p->comm, keys[i], p));
    }
    CHECK_OK(MPI_Comm_dup(p->comm, &dup));
    CHECK(alive == 2 * KEYS);
    for (int i = 0; i < KEYS; i++) {
        CHECK_OK(MPI_Comm_get_attr(dup, keys[i], &value, &flag));
        CHECK(flag && value == p);
        CHECK_OK(MPI_Comm_delete_attr(p->comm, keys[i]));
        CHECK_OK(MPI_Comm_free_keyval(&keys[i]));
    }
    use_and_free(p, dup);
    CHECK(alive == 0);
}

/* Every second number; the type is freed while the messages are on their way. */
static void datatype(struct player *p)
{
    int n = (int)draw(p, 2000) + 1;
    MPI_Datatype strided;
    MPI_Request requests[2];
    fill(p, 2 * n);
    CHECK_OK(MPI_Type_vector(n, 1, 2, MPI_INT, &strided));
    CHECK_OK(MPI_Type_commit(&strided));
    CHECK_OK(MPI_Irecv(p->in, 1, strided, p->from, 6, p->comm, &requests[0]));
    CHECK_OK(MPI_Isend(p->out, 1, strided, p->to, 6, p->comm, &requests[1]));
    CHECK_OK(MPI_Type_free(&strided));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 2 * n; i += 2)
        CHECK(p->in[i] == 1000 * p->from + p->me + i);
}

static void errors(struct player *p)
{
    char text[MPI_MAX_ERROR_STRING];
    int n, rc = MPI_Send(p->out, 1, MPI_INT, size, 0, p->comm);
    CHECK_OK(MPI_Error_string(rc, text, &n));
    CHECK(rc != MPI_SUCCESS && strstr(text, "MPI_Send"));
    CHECK_ERROR(MPI_Send(p->out, 1, MPI_INT, 0, -7, p->comm), MPI_ERR_TAG);
    CHECK_ERROR(MPI_Bcast(p->out, -1, MPI_INT, 0, p->comm), MPI_ERR_COUNT);
}

static void notes(struct player *p)
{
    MPI_Info info, back;
    char name[MPI_MAX_OBJECT_NAME];
    int n, flag, room = sizeof name;
    snprintf(name, sizeof name, "of thread %d", p->me);
    CHECK_OK(MPI_Comm_set_name(p->comm, name));
    CHECK_OK(MPI_Comm_get_name(p->comm, name, &n));
    CHECK(atoi(name + sizeof "of thread" - 1) == p->me);
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "xmpi_test_who", name));
    CHECK_OK(MPI_Info_dup(info, &back));
    CHECK_OK(MPI_Info_get_string(back, "xmpi_test_who", &room, name, &flag));
    CHECK(flag && strstr(name, "of thread"));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Info_free(&back));
}

/* ---- the play ---- */

static const struct act {
    void (*play)(struct player *p);
    int share; /* of 100 */
} acts[] = {
    { ring, 12 },     { common_ring, 12 }, { probe, 12 },     { buffered, 5 },
    { cancelled, 4 }, { window, 10 },      { persistent, 7 }, { partitioned, 4 },
    { reduction, 7 }, { broadcast, 5 },    { everyone, 4 },   { duplicate, 3 },
    { split, 2 },     { common_group, 2 }, { session, 1 },    { attributes, 2 },
    { datatype, 4 },  { errors, 2 },       { notes, 2 },
};

static void play_one(struct player *p)
{
    int lot = (int)draw(p, 100);
    for (const struct act *act = acts;; act++)
        if ((lot -= act->share) < 0) {
            act->play(p);
            return;
        }
}

static void work(int me)
{
    struct player p = { .me = me, .seed = 12345u + 77u * (unsigned)me };
    int go_on = 1;
    p.to = (rank + 1) % size;
    p.from = (rank + size - 1) % size;
    p.out = malloc(2 * LONG * sizeof *p.out);
    p.in = malloc(2 * LONG * sizeof *p.in);
    CHECK(p.out && p.in);
    MPI_Group everybody;
    CHECK_OK(MPI_Comm_group(common, &everybody));
    CHECK_OK(MPI_Comm_create_group(common, everybody, me, &p.comm));
    CHECK_OK(MPI_Group_free(&everybody));
    while (go_on) {
        for (int i = 0; i < ACTS; i++)
            play_one(&p);
        go_on = seconds() - begun < length;
        CHECK_OK(MPI_Bcast(&go_on, 1, MPI_INT, 0, p.comm));
    }
    CHECK_OK(MPI_Comm_free(&p.comm));
    free(p.out);
    free(p.in);
}

int main(int argc, char **argv)
{
    threads_begin(&argc, &argv);
    if (argc > 2 && atof(argv[2]) > 0)
        length = atof(argv[2]);
    int room = nthreads * ACTS * (LONG * (int)sizeof(int) + MPI_BSEND_OVERHEAD);
    void *buffer = malloc((size_t)room);
    CHECK(buffer);
    CHECK_OK(MPI_Buffer_attach(buffer, room));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &common));
    begun = seconds();
    threads_run(work);
    CHECK_OK(MPI_Comm_free(&common));
    CHECK_OK(MPI_Buffer_detach(&buffer, &room));
    free(buffer);
    return check_done();
}
