/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Blocks that are cut in pieces, in the second run: with gaps at one end or at both, in calls that begin
 * again with other data, in place, and along edges to nobody, whose blocks stay as they are whatever the
 * program does with them meanwhile.
 *
 * conform-options: -x XMPI_COLL=gather=binomial:pieces=3,scatter=linear:pieces=2,allgather=ring:pieces=3,allgatherv=spread:pieces=2,alltoall=pairwise:pieces=3,alltoallv=bruck:pieces=2,neighbor_alltoallw=direct:pieces=3,neighbor_alltoall=direct:pieces=2
 * conform-shadow: halos are looked at before the call that ends a request
 */
#include "check.h"

enum { PAIRS = 5, INTS = 2 * PAIRS, MOST = 16, STARTS = 3 };
static int rank, size;
static MPI_Datatype gaps; /* two integers of three, PAIRS times */
static int from[MOST * 3 * PAIRS], to[MOST * 3 * PAIRS];

static int value(int r, int dest, int start, int i)
{
    return r * 100000 + dest * 1000 + start * 100 + i;
}

/* Integer i of block b, of those with gaps or of those without. */
static int *at(int *base, int b, int i, int has_gaps)
{
    return has_gaps ? base + 3 * PAIRS * b + i / 2 * 3 + i % 2 : base + INTS * b + i;
}

static void fill(int blocks, int start, int has_gaps)
{
    memset(to, 0xff, sizeof to);
    for (int b = 0; b < blocks; b++)
        for (int i = 0; i < INTS; i++)
            *at(from, b, i, has_gaps) = value(rank, b, start, i);
}

/* Block b came from rank r, where it was block `dest`; gaps are as they were. */
static void expect(int b, int r, int dest, int start, int has_gaps)
{
    for (int i = 0; i < INTS; i++)
        CHECK(*at(to, b, i, has_gaps) == value(r, dest, start, i));
    for (int i = 0; i < PAIRS && has_gaps; i++)
        CHECK(to[3 * PAIRS * b + 3 * i + 2] == -1);
}

static void run(MPI_Request *request)
{
    CHECK_OK(MPI_Start(request));
    CHECK_OK(MPI_Wait(request, MPI_STATUS_IGNORE));
}

/* What goes to whom: gather and allgather give block 0 to all. */
enum kind { GATHER, SCATTER, ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, KINDS };

static void init(enum kind kind, int out, int in, MPI_Request *request)
{
    static int counts[2][MOST], displs[2][MOST];
    MPI_Datatype types[] = { MPI_INT, gaps };
    int n[] = { INTS, 1 }, root = size - 1;
    MPI_Comm comm = MPI_COMM_WORLD;
    for (int r = 0; r < size; r++)
        for (int k = 0; k < 2; k++) {
            counts[k][r] = n[k];
            displs[k][r] = n[k] * r;
        }
    if (kind == GATHER)
        CHECK_OK(MPI_Gather_init(from, n[out], types[out], to, n[in], types[in], root, comm,
                                 MPI_INFO_NULL, request));
    if (kind == SCATTER)
        CHECK_OK(MPI_Scatter_init(from, n[out], types[out], to, n[in], types[in], root, comm,
                                  MPI_INFO_NULL, request));
    if (kind == ALLGATHER)
        CHECK_OK(MPI_Allgather_init(from, n[out], types[out], to, n[in], types[in], comm,
                                    MPI_INFO_NULL, request));
    if (kind == ALLGATHERV)
        CHECK_OK(MPI_Allgatherv_init(from, n[out], types[out], to, counts[in], displs[in],
                                     types[in], comm, MPI_INFO_NULL, request));
    if (kind == ALLTOALL)
        CHECK_OK(MPI_Alltoall_init(from, n[out], types[out], to, n[in], types[in], comm,
                                   MPI_INFO_NULL, request));
    if (kind == ALLTOALLV)
        CHECK_OK(MPI_Alltoallv_init(from, counts[out], displs[out], types[out], to, counts[in],
                                    displs[in], types[in], comm, MPI_INFO_NULL, request));
}

static void check(enum kind kind, int start, int in)
{
    int root = size - 1;
    if (kind == SCATTER)
        expect(0, root, rank, start, in);
    for (int r = 0; r < size; r++) {
        if ((kind == GATHER && rank == root) || kind == ALLGATHER || kind == ALLGATHERV)
            expect(r, r, 0, start, in);
        if (kind == ALLTOALL || kind == ALLTOALLV)
            expect(r, r, rank, start, in);
    }
}

static void test_kind(enum kind kind, int out, int in)
{
    MPI_Request request;
    init(kind, out, in, &request);
    for (int start = 0; start < STARTS; start++) {
        fill(size, start, out);
        run(&request);
        check(kind, start, in);
    }
    CHECK_OK(MPI_Request_free(&request));
}

/* In place: what comes replaces what goes. */
static void test_in_place(void)
{
    for (int r = 0; r < size; r++)
        for (int i = 0; i < INTS; i++)
            *at(to, r, i, 1) = value(rank, r, 0, i);
    CHECK_OK(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, to, 1, gaps, MPI_COMM_WORLD));
    for (int r = 0; r < size; r++)
        for (int i = 0; i < INTS; i++)
            CHECK(*at(to, r, i, 1) == value(r, rank, 0, i));
}

/* A line of processes.  The first and the last have a neighbour that is nobody: its block of the input
 * cannot be read, and the halo is set by the program while the others come. */
static void test_halo(MPI_Comm line)
{
    MPI_Aint displs[2] = { 0, 3 * PAIRS * (MPI_Aint)sizeof(int) }, far[2] = { 0, displs[1] };
    MPI_Datatype types[2] = { gaps, gaps };
    int counts[2] = { 1, 1 }, left, right;
    MPI_Request request;
    CHECK_OK(MPI_Cart_shift(line, 0, 1, &left, &right));
    fill(2, 0, 1);
    for (int k = 0; k < 2; k++)
        if ((k ? right : left) == MPI_PROC_NULL)
            far[k] = -((MPI_Aint)(size_t)from - 8); /* at address 8 */
    CHECK_OK(MPI_Ineighbor_alltoallw(from, counts, far, types, to, counts, displs, types, line,
                                     &request));
    for (int k = 0; k < 2; k++)
        if ((k ? right : left) == MPI_PROC_NULL)
            *at(to, k, 0, 1) = 42;
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int k = 0; k < 2; k++)
        if ((k ? right : left) == MPI_PROC_NULL)
            CHECK(*at(to, k, 0, 1) == 42);
        else
            expect(k, k ? right : left, 1 - k, 0, 1);
}

int main(int argc, char **argv)
{
    MPI_Datatype narrow;
    MPI_Comm line;
    MPI_Init(&argc, &argv);
    rank = world_rank();
    size = world_size();
    CHECK(size <= MOST);
    MPI_Type_vector(PAIRS, 2, 3, MPI_INT, &narrow);
    MPI_Type_create_resized(narrow, 0, 3 * PAIRS * (MPI_Aint)sizeof(int), &gaps);
    MPI_Type_commit(&gaps);
    for (int kind = 0; kind < KINDS; kind++)
        for (int ends = 0; ends < 4; ends++)
            test_kind((enum kind)kind, ends & 1, ends >> 1);
    test_in_place();
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &(int){ 0 }, 0, &line);
    test_halo(line);
    MPI_Comm_free(&line);
    MPI_Type_free(&gaps);
    MPI_Type_free(&narrow);
    return check_done();
}
