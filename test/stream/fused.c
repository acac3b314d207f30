/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups (MPIX_Group_start, MPIX_Group_end): the results are those of the calls one by one, from the
 * host, from the device and in streams, on several communicators at once, and take fewer messages; what
 * is forgotten, waited for too early or different on the ranks is an error.
 */
#include "driver.h"

enum { PIECES = 40, N = 100, BIG = 40000 };

static int rank, size;
static int ints[PIECES][N], sums[PIECES][N], big[BIG];
static double reals[PIECES][N], plain[PIECES][N], fused[PIECES][N];

/* ---- counting ---- */

enum { MOST_WAYS = 64 };
static MPI_T_pvar_session counting;
static MPI_T_pvar_handle counters[MOST_WAYS];
static int ways;

/* There is a counter for each algorithm. */
static void counting_begin(void)
{
    static const char prefix[] = "xmpi_coll_allreduce_";
    int provided, n, verbosity, class, bind, readonly, continuous, atomic, count;
    MPI_Datatype type;
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    CHECK_OK(MPI_T_pvar_session_create(&counting));
    CHECK_OK(MPI_T_pvar_get_num(&n));
    for (int i = 0; i < n; i++) {
        char name[200];
        int room = sizeof name, none = 0;
        CHECK_OK(MPI_T_pvar_get_info(i, name, &room, &verbosity, &class, &type, NULL, NULL,
                                     &none, &bind, &readonly, &continuous, &atomic));
        if (strncmp(name, prefix, sizeof prefix - 1) != 0)
            continue;
        CHECK(ways < MOST_WAYS);
        CHECK_OK(MPI_T_pvar_handle_alloc(counting, i, NULL, &counters[ways], &count));
        CHECK_OK(MPI_T_pvar_start(counting, counters[ways++]));
    }
    CHECK(ways > 0);
}

/* Allreduces until now. */
static unsigned long long counted(void)
{
    unsigned long long sum = 0, value;
    for (int i = 0; i < ways; i++) {
        CHECK_OK(MPI_T_pvar_read(counting, counters[i], &value));
        sum += value;
    }
    return sum;
}

/* ---- results ---- */

static void *at(int away, void *host)
{
    return away ? fake_device(host) : host;
}

static void fill(void)
{
    for (int i = 0; i < PIECES; i++)
        for (int k = 0; k < N; k++) {
            ints[i][k] = i * N + k + rank;
            sums[i][k] = -1;
            reals[i][k] = 1.0 / (1 + i * N + k + rank);
            fused[i][k] = -1;
        }
}

static int sum_of(int i, int k)
{
    return size * (i * N + k) + size * (size - 1) / 2;
}

static void check_sums(int pieces)
{
    for (int i = 0; i < pieces; i++)
        for (int k = 0; k < N; k++)
            CHECK(sums[i][k] == sum_of(i, k));
}

/* Blocking and nonblocking ones, two types, in place and not, one too long, all in one group; some on
 * the device. */
static void test_mixture(MPI_Comm comm, MPI_Comm other, int away)
{
    MPI_Request requests[PIECES];
    int most = rank, n = 0;
    fill();
    for (int i = 0; i < BIG; i++)
        big[i] = i;
    CHECK_OK(MPIX_Group_start());
    for (int i = 0; i < PIECES; i++) {
        void *to = at(away && i % 3, sums[i]), *from = at(away && i % 2, ints[i]);
        MPI_Comm here = i % 4 == 3 ? other : comm;
        if (i % 5 == 0)
            memcpy(sums[i], ints[i], sizeof sums[i]);
        if (i % 5 == 0)
            CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, to, N, MPI_INT, MPI_SUM, here));
        else if (i % 2)
            CHECK_OK(MPI_Allreduce(from, to, N, MPI_INT, MPI_SUM, here));
        else
            CHECK_OK(MPI_Iallreduce(from, to, N, MPI_INT, MPI_SUM, here, &requests[n++]));
        CHECK_OK(MPIX_Group_start()); /* one in the other is one */
        CHECK_OK(MPI_Iallreduce(reals[i], fused[i], 1 + i % N, MPI_DOUBLE, MPI_MAX, comm,
                                &requests[n++]));
        CHECK_OK(MPIX_Group_end());
        CHECK_OK(MPI_Waitall(0, requests, MPI_STATUSES_IGNORE));
        if (n > PIECES - 2) {
            CHECK_OK(MPIX_Group_end());
            CHECK_OK(MPI_Waitall(n, requests, MPI_STATUSES_IGNORE));
            CHECK_OK(MPIX_Group_start());
            n = 0;
        }
    }
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, at(away, big), BIG, MPI_INT, MPI_SUM, comm));
    CHECK(big[BIG - 1] == size * (BIG - 1)); /* too long: it was not put off */
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, comm));
    CHECK(most == rank);
    CHECK_OK(MPIX_Group_end());
    CHECK(most == size - 1);
    CHECK_OK(MPI_Waitall(n, requests, MPI_STATUSES_IGNORE));
    check_sums(PIECES);
    for (int i = 0; i < PIECES; i++)
        CHECK(fused[i][0] == 1.0 / (1 + i * N) && (i + 1 == N || fused[i][1 + i % N] == -1));
}

/* Pairs have gaps; a function of the program gets what it expects. */
static void first_wins(void *from, void *to, int *n, MPI_Datatype *type)
{
    CHECK(*type == MPI_INT);
    memcpy(to, from, (size_t)*n * sizeof(int));
}

static void test_operations(MPI_Comm comm)
{
    struct {
        double value;
        int where;
    } pairs[2][3];
    MPI_Op op;
    int one[2] = { rank + 1, rank + 5 }, seen[2];
    for (int i = 0; i < 6; i++) {
        pairs[i / 3][i % 3].value = rank == i % size ? -1 : i;
        pairs[i / 3][i % 3].where = rank;
    }
    CHECK_OK(MPI_Op_create(first_wins, 0, &op));
    CHECK_OK(MPIX_Group_start());
    for (int i = 0; i < 2; i++) {
        CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, pairs[i], 3, MPI_DOUBLE_INT, MPI_MINLOC, comm));
        CHECK_OK(MPI_Allreduce(&one[i], &seen[i], 1, MPI_INT, op, comm));
    }
    CHECK_OK(MPI_Op_free(&op));
    CHECK_OK(MPIX_Group_end());
    CHECK(seen[0] == 1 && seen[1] == 5);
    for (int i = 0; i < 6; i++)
        CHECK(pairs[i / 3][i % 3].value == -1 && pairs[i / 3][i % 3].where == i % size);
}

/* ---- bits and messages ---- */

static unsigned long long sums_of_reals(MPI_Comm comm, double to[PIECES][N], int together)
{
    unsigned long long before = counted();
    if (together)
        CHECK_OK(MPIX_Group_start());
    for (int i = 0; i < PIECES; i++)
        CHECK_OK(MPI_Allreduce(reals[i], to[i], N, MPI_DOUBLE, MPI_SUM, comm));
    if (together)
        CHECK_OK(MPIX_Group_end());
    return counted() - before;
}

/* With one algorithm, which combines alike whatever the length, not a bit differs; and as it takes as
 * many messages for each, few of it are few messages. */
static void test_bits_and_messages(void)
{
    MPI_Comm comm;
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "xmpi_coll", "allreduce=doubling"));
    CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
    CHECK_OK(MPI_Info_free(&info));
    fill();
    unsigned long long apart = sums_of_reals(comm, plain, 0),
                       together = sums_of_reals(comm, fused, 1);
    CHECK(!memcmp(plain, fused, sizeof plain));
    CHECK(together == 1 && apart == PIECES);
    CHECK_OK(MPI_Comm_free(&comm));
}

/* ---- streams ---- */

static void test_stream(void)
{
    cuda_stream stream = stream_new();
    MPI_Comm comm = comm_with(stream);
    fill();
    unsigned waits = driver.waits();
    unsigned long long before = counted();
    CHECK_OK(MPIX_Group_start());
    for (int i = 0; i < PIECES; i++)
        CHECK_OK(MPIX_Allreduce_enqueue(at(i % 2, ints[i]), at(i % 3, sums[i]), N, MPI_INT,
                                        MPI_SUM, comm));
    CHECK(sums[0][0] == -1);
    CHECK_OK(MPIX_Group_end());
    CHECK(driver.waits() == waits);
    CHECK(driver.stream_synchronize(stream) == 0);
    check_sums(PIECES);
    CHECK(counted() - before == 1);
    CHECK_OK(MPIX_Group_start()); /* a single one */
    CHECK_OK(
        MPIX_Allreduce_enqueue(MPI_IN_PLACE, fake_device(ints[1]), N, MPI_INT, MPI_SUM, comm));
    CHECK_OK(MPIX_Group_end());
    CHECK(driver.stream_synchronize(stream) == 0);
    CHECK(ints[1][5] == sum_of(1, 5));
    CHECK_OK(MPIX_Group_start());
    CHECK_ERROR(MPIX_Allreduce_enqueue(ints[0], sums[0], N, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
                MPI_ERR_COMM);
    CHECK_OK(MPIX_Group_end());
    MPI_Comm_free(&comm);
    CHECK(driver.stream_destroy(stream) == 0);
}

/* ---- errors ---- */

static void test_errors(void)
{
    MPI_Request request, kept;
    MPI_Session session;
    int flag;
    fill();
    CHECK_ERROR(MPIX_Group_end(), MPI_ERR_OTHER);
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPIX_Group_start());
    CHECK_ERROR(MPI_Allreduce(ints[0], sums[0], -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
                MPI_ERR_COUNT);
    CHECK_OK(MPI_Iallreduce(ints[0], sums[0], N, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Iallreduce(ints[1], sums[1], N, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &kept));
    CHECK_ERROR(MPI_Request_free(&kept), MPI_ERR_REQUEST);
    CHECK_ERROR(MPI_Cancel(&kept), MPI_ERR_REQUEST);
    CHECK_ERROR(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    CHECK(request == MPI_REQUEST_NULL);
    CHECK_ERROR(MPI_Session_finalize(&session), MPI_ERR_OTHER);
    CHECK_ERROR(MPI_Finalize(), MPI_ERR_OTHER);
    CHECK_OK(MPIX_Group_end());
    CHECK_OK(MPI_Wait(&kept, MPI_STATUS_IGNORE));
    check_sums(2);
    CHECK_OK(MPI_Session_finalize(&session));
}

/* Rank 0 puts other things together than its partner does, of the same length in all; then one more
 * than it has. */
static void test_mismatch(void)
{
    MPI_Comm pair;
    MPI_Request request;
    char text[MPI_MAX_ERROR_STRING];
    int length, counts[2][3] = { { 8, 40, 52 }, { 40, 8, 52 } };
    if (size < 2)
        return;
    for (int extra = 0; extra < 2; extra++) {
        CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, 0, &pair));
        if (rank >= 2)
            continue;
        CHECK_OK(MPI_Comm_set_errhandler(pair, MPI_ERRORS_RETURN));
        CHECK_OK(MPIX_Group_start());
        for (int i = 0; i < 3; i++)
            CHECK_OK(MPI_Allreduce(ints[i], sums[i], counts[!extra && rank][i], MPI_INT,
                                   MPI_SUM, pair));
        CHECK_OK(MPI_Iallreduce(reals[0], fused[0], 1 + (extra && rank), MPI_DOUBLE, MPI_SUM,
                                pair, &request));
        int rc = MPIX_Group_end();
        CHECK_ERROR(rc, MPI_ERR_OTHER);
        MPI_Error_string(rc, text, &length);
        CHECK(strstr(text, "MPIX_Group_end") && strstr(text, "while rank"));
        CHECK_ERROR(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
        CHECK_OK(MPI_Comm_free(&pair));
    }
}

int main(int argc, char **argv)
{
    MPI_Comm other;
    MPI_Init(&argc, &argv);
    errors_return();
    counting_begin();
    driver_open();
    rank = world_rank();
    size = world_size();
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    for (int away = 0; away < 2; away++)
        test_mixture(MPI_COMM_WORLD, other, away);
    test_operations(other);
    test_bits_and_messages();
    test_errors();
    test_mismatch();
    test_stream();
    MPI_Comm_free(&other);
    return check_done();
}
