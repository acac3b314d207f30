/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Communicators made and freed again and again, in every way that there is: neither memory nor
 * numbers run out.  CHURN=1000000 in the environment makes as many of each; the memory of the
 * process must not grow after the first tenth.
 */
#include "test/conform/memory.h"

static int me, n;
static MPI_Comm half; /* one of two */

static void make_dup(MPI_Comm *comm)
{
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, comm));
}

static void make_idup(MPI_Comm *comm)
{
    MPI_Request request;
    CHECK_OK(MPI_Comm_idup(MPI_COMM_WORLD, comm, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void make_split(MPI_Comm *comm)
{
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, me % 3, -me, comm));
}

/* Colours and keys that follow no formula. */
static void make_odd_split(MPI_Comm *comm)
{
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, me * me % 5, me * 7 % 4, comm));
}

static void make_shared(MPI_Comm *comm)
{
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, comm));
}

static MPI_Group group_of_odd(void)
{
    MPI_Group world, odd;
    int range[1][3] = { { n > 1, n - 1, 2 } };
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Group_range_incl(world, 1, range, &odd));
    CHECK_OK(MPI_Group_free(&world));
    return odd;
}

static void make_create(MPI_Comm *comm)
{
    MPI_Group odd = group_of_odd();
    CHECK_OK(MPI_Comm_create(MPI_COMM_WORLD, odd, comm));
    CHECK_OK(MPI_Group_free(&odd));
}

static void make_create_group(MPI_Comm *comm)
{
    MPI_Group odd = group_of_odd();
    CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, odd, 3, comm));
    CHECK_OK(MPI_Group_free(&odd));
}

static void make_cart(MPI_Comm *comm)
{
    int dims[2] = { 0, 0 }, periods[2] = { 1, 0 }, remain[2] = { 0, 1 };
    MPI_Comm grid;
    CHECK_OK(MPI_Dims_create(n, 2, dims));
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid));
    CHECK_OK(MPI_Cart_sub(grid, remain, comm));
    CHECK_OK(MPI_Comm_free(&grid));
}

static void make_graph(MPI_Comm *comm)
{
    int next = (me + 1) % n, before = (me + n - 1) % n;
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, MPI_UNWEIGHTED, 1,
                                            &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 1, comm));
}

static void make_inter(MPI_Comm *comm)
{
    MPI_Comm inter;
    if (n == 1) {
        make_dup(comm);
        return;
    }
    CHECK_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, me % 2 ? 0 : 1, 5, &inter));
    CHECK_OK(MPI_Intercomm_merge(inter, me % 2, comm));
    CHECK_OK(MPI_Comm_free(&inter));
}

#if MPI_VERSION >= 4
static void make_session(MPI_Comm *comm)
{
    MPI_Session session;
    MPI_Group group;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    CHECK_OK(
        MPI_Comm_create_from_group(group, "churn", MPI_INFO_NULL, MPI_ERRORS_RETURN, comm));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Comm_free(comm));
    CHECK_OK(MPI_Session_finalize(&session));
    *comm = MPI_COMM_NULL;
}
#endif

static const struct way {
    const char *name;
    void (*make)(MPI_Comm *comm);
} ways[] = {
    { "dup", make_dup },
    { "idup", make_idup },
    { "split", make_split },
    { "odd split", make_odd_split },
    { "split_type", make_shared },
    { "create", make_create },
    { "create_group", make_create_group },
    { "cart", make_cart },
    { "dist_graph", make_graph },
    { "intercomm", make_inter },
#if MPI_VERSION >= 4
    { "session", make_session },
#endif
};

/* Now and then the new communicator is used, so that what comes with the first use goes, too. */
static void churn(const struct way *way, int cycles)
{
    long before = 0;
    for (int i = 0; i < cycles; i++) {
        MPI_Comm comm;
        if (i == cycles / 10)
            before = memory();
        way->make(&comm);
        if (comm != MPI_COMM_NULL) {
            int one = 1, sum = 0, size;
            if (i % 16 == 0) {
                CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
                CHECK_OK(MPI_Comm_size(comm, &size));
                CHECK(sum == size);
            }
            CHECK_OK(MPI_Comm_free(&comm));
        }
        if (i % 64 == 0) /* nobody runs away and lets messages heap up */
            CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    long after = memory();
    if (getenv("CHURN") && me == 0)
        printf("%-12s %d cycles: %ld KiB, then %ld KiB\n", way->name, cycles, before, after);
    CHECK(SANITIZED || after - before <= 512);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    errors_return();
    me = world_rank();
    n = world_size();
    const char *wanted = getenv("CHURN");
    int cycles = wanted ? atoi(wanted) : SANITIZED ? 200 : 1000;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, me % 2, 0, &half));
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        churn(&ways[i], cycles);
    CHECK_OK(MPI_Comm_free(&half));
    return check_done();
}
