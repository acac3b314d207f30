/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks may differ in many ways in one collective, and none of them is a mismatch: datatypes of the
 * same signature, counts that are significant elsewhere only, blocks of their own size in the vector
 * forms, MPI_IN_PLACE on some, MPI_BOTTOM on others, functions of the program behind different
 * operations, names and hints of the communicator, which call of the C or the large-count form.
 * Errors are returned and none may come; the data must be right.
 */
#include "check.h"
#include "forms.h"

enum { MOST = 3000 };
static int rank, size;
static MPI_Comm comm;

/* One of four ways to give n integers at `data`; every rank takes another one. */
struct given {
    void *base;
    int count;
    MPI_Datatype type;
    int room[2 * MOST]; /* the integers lie at [i * stride] */
    int stride;
};

static void give(struct given *g, int n, int way)
{
    *g = (struct given){ .base = g->room, .count = 1, .stride = way % 4 == 2 ? 2 : 1 };
    switch (way % 4) {
    case 0:
        g->count = n;
        MPI_Type_dup(MPI_INT, &g->type);
        break;
    case 1:
        MPI_Type_contiguous(n, MPI_INT, &g->type);
        break;
    case 2:
        MPI_Type_vector(n, 1, 2, MPI_INT, &g->type);
        break;
    default: {
        MPI_Aint at;
        MPI_Get_address(g->room, &at);
        MPI_Type_create_hindexed(1, &n, &at, MPI_INT, &g->type);
        g->base = MPI_BOTTOM;
    }
    }
    MPI_Type_commit(&g->type);
}

static void fill(struct given *g, int n, int first)
{
    for (int i = 0; i < n; i++)
        g->room[i * g->stride] = first + i;
}

static int holds(const struct given *g, int n, int first)
{
    for (int i = 0; i < n; i++)
        if (g->room[i * g->stride] != first + i)
            return 0;
    return 1;
}

/* ---- the same signature, otherwise said ---- */

static void test_bcast(enum form form, int n)
{
    static struct given mine;
    for (int root = 0; root < size; root++) {
        give(&mine, n, rank + root);
        if (rank == root)
            fill(&mine, n, 7);
        CHECK_OK(all_bcast(form, mine.base, mine.count, mine.type, root, comm));
        CHECK(holds(&mine, n, 7));
        MPI_Type_free(&mine.type);
    }
}

/* Packed data go with everything, and are neither integers nor numbers. */
static void test_packed(enum form form, int n)
{
    static int data[MOST];
    int packed = rank % 2, bytes = n * (int)sizeof(int);
    for (int root = 0; root < size; root++) {
        for (int i = 0; i < n; i++)
            data[i] = rank == root ? i : -1;
        CHECK_OK(all_bcast(form, data, packed ? bytes : n, packed ? MPI_PACKED : MPI_INT, root,
                           comm));
        CHECK(data[0] == 0 && data[n - 1] == n - 1);
    }
}

static void test_gather_scatter(enum form form, int n)
{
    static struct given mine;
    static int all[MOST * 8];
    for (int root = 0; root < size; root++) {
        give(&mine, n, rank);
        fill(&mine, n, rank * 10);
        /* what is significant at the root only is nonsense elsewhere */
        CHECK_OK(all_gather(form, mine.base, mine.count, mine.type, rank == root ? all : NULL,
                            rank == root ? n : rank + 5,
                            rank == root ? MPI_INT : MPI_DOUBLE_COMPLEX, root, comm));
        for (int r = 0; rank == root && r < size; r++)
            CHECK(all[r * n] == r * 10 && all[r * n + n - 1] == r * 10 + n - 1);
        fill(&mine, n, -1);
        CHECK_OK(all_scatter(form, rank == root ? all : NULL, rank == root ? n : rank + 9,
                             rank == root ? MPI_INT : MPI_CHAR, mine.base, mine.count,
                             mine.type, root, comm));
        CHECK(holds(&mine, n, rank * 10));
        MPI_Type_free(&mine.type);
    }
}

static void test_all(enum form form, int n)
{
    static struct given mine;
    static int all[MOST * 8], from[MOST * 8];
    give(&mine, n, rank + 1);
    fill(&mine, n, rank);
    CHECK_OK(all_allgather(form, mine.base, mine.count, mine.type, all, n, MPI_INT, comm));
    for (int r = 0; r < size; r++)
        CHECK(all[r * n] == r);
    MPI_Type_free(&mine.type);
    MPI_Datatype block;
    MPI_Type_contiguous(n, MPI_INT, &block);
    MPI_Type_commit(&block);
    for (int i = 0; i < n * size; i++)
        from[i] = rank;
    CHECK_OK(all_alltoall(form, from, rank % 2 ? n : 1, rank % 2 ? MPI_INT : block, all,
                          rank % 2 ? 1 : n, rank % 2 ? block : MPI_INT, comm));
    for (int r = 0; r < size; r++)
        CHECK(all[r * n] == r);
    MPI_Type_free(&block);
}

/* ---- in place on some ranks ---- */

static void test_in_place(int n)
{
    static int in[MOST * 8], out[MOST * 8];
    int place = rank % 2, total = size * (size + 1) / 2;
    for (int i = 0; i < n; i++)
        in[i] = out[i] = rank + 1;
    CHECK_OK(MPI_Allreduce(place ? MPI_IN_PLACE : in, out, n, MPI_INT, MPI_SUM, comm));
    CHECK(out[0] == total && out[n - 1] == total);
    for (int i = 0; i < n; i++)
        in[i] = out[i] = rank + 1;
    CHECK_OK(MPI_Scan(place ? MPI_IN_PLACE : in, out, n, MPI_INT, MPI_SUM, comm));
    CHECK(out[0] == (rank + 1) * (rank + 2) / 2);
    for (int root = 0; root < size; root++) {
        for (int i = 0; i < n; i++)
            in[i] = out[i] = rank + 1;
        CHECK_OK(MPI_Reduce(rank == root ? MPI_IN_PLACE : in, rank == root ? out : NULL, n,
                            MPI_INT, MPI_SUM, root, comm));
        CHECK(rank != root || out[n - 1] == total);
        for (int i = 0; i < n; i++)
            in[i] = out[rank * n + i] = rank;
        CHECK_OK(MPI_Gather(rank == root ? MPI_IN_PLACE : in, n, MPI_INT, out, n, MPI_INT, root,
                            comm));
        CHECK(rank != root || out[(size - 1) * n] == size - 1);
        CHECK_OK(MPI_Scatter(out, n, MPI_INT, rank == root ? MPI_IN_PLACE : in, n, MPI_INT,
                             root, comm));
        CHECK(in[0] == rank);
    }
    for (int i = 0; i < n; i++)
        in[i] = out[rank * n + i] = rank;
    CHECK_OK(MPI_Allgather(place ? MPI_IN_PLACE : in, place ? 77 : n,
                           place ? MPI_DATATYPE_NULL : MPI_INT, out, n, MPI_INT, comm));
    CHECK(out[(size - 1) * n] == size - 1);
}

/* ---- blocks of different sizes ---- */

static void test_vectors(enum form form, int n)
{
    static int in[MOST * 40], out[MOST * 40];
    int counts[64], displs[64], mine[64], at[64], total = 0;
    for (int r = 0; r < size; r++) {
        counts[r] = r % 3 * n, displs[r] = total; /* some have nothing at all */
        total += counts[r];
        mine[r] = rank % 3 * n, at[r] = 0;
    }
    for (int i = 0; i < counts[rank]; i++)
        in[i] = rank;
    CHECK_OK(
        all_allgatherv(form, in, counts[rank], MPI_INT, out, counts, displs, MPI_INT, comm));
    for (int r = 0; r < size; r++)
        CHECK(counts[r] == 0 || out[displs[r]] == r);
    CHECK_OK(all_gatherv(form, in, counts[rank], MPI_INT, out, rank ? NULL : counts,
                         rank ? NULL : displs, MPI_INT, 0, comm));
    CHECK_OK(all_scatterv(form, out, rank ? NULL : counts, rank ? NULL : displs, MPI_INT, in,
                          counts[rank], MPI_INT, 0, comm));
    CHECK(counts[rank] == 0 || in[0] == rank);
    CHECK_OK(all_alltoallv(form, in, mine, at, MPI_INT, out, counts, displs, MPI_INT, comm));
    CHECK(counts[size - 1] == 0 || out[displs[size - 1]] == size - 1);
    CHECK_OK(all_reduce_scatter(form, in, out, counts, MPI_INT, MPI_MAX, comm));
}

/* ---- other ways to say the same ---- */

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void add_too(void *in, void *inout, int *n, MPI_Datatype *type)
{
    add(in, inout, n, type);
}

static void test_operations(enum form form, int n)
{
    static int in[MOST], out[MOST];
    MPI_Op op;
    MPI_Op_create(rank % 2 ? add : add_too, 1, &op);
    for (int i = 0; i < n; i++)
        in[i] = 1;
    CHECK_OK(all_allreduce(form, in, out, n, MPI_INT, op, comm));
    CHECK(out[0] == size && out[n - 1] == size);
    MPI_Op_free(&op);
    /* the same type by another name */
    CHECK_OK(all_allreduce(form, in, out, n, rank % 2 ? MPI_INT : MPI_INT32_T, MPI_SUM, comm));
    CHECK(out[0] == size);
    if (form == BLOCKING && rank % 2)
        CHECK_OK(MPI_Allreduce_c(in, out, n, MPI_INT, MPI_SUM, comm));
    else if (form == BLOCKING)
        CHECK_OK(MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, comm));
}

/* Nothing at all, given in different ways. */
static void test_nothing(enum form form)
{
    int none[1] = { 0 };
    CHECK_OK(all_bcast(form, rank ? NULL : none, 0, rank % 2 ? MPI_INT : MPI_CHAR, 0, comm));
    CHECK_OK(all_allreduce(form, rank % 2 ? none : NULL, rank % 2 ? &none[0] + 1 : NULL, 0,
                           MPI_INT, MPI_SUM, comm));
    CHECK_OK(all_barrier(form, comm));
}

/* Collectives of several communicators, and messages, between each other: any order is right as long
 * as each communicator has one. */
static void test_order(int n)
{
    static int a[MOST], b[MOST], c[MOST], d[MOST];
    MPI_Comm other;
    MPI_Comm_dup(comm, &other);
    MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN);
    MPI_Request request[2];
    for (int turn = 0; turn < 4; turn++) {
        if ((rank + turn) % 2) {
            CHECK_OK(MPI_Iallreduce(a, b, n, MPI_INT, MPI_SUM, comm, &request[0]));
            CHECK_OK(MPI_Ibcast(c, n, MPI_INT, 0, other, &request[1]));
        } else {
            CHECK_OK(MPI_Ibcast(c, n, MPI_INT, 0, other, &request[1]));
            CHECK_OK(MPI_Iallreduce(a, b, n, MPI_INT, MPI_SUM, comm, &request[0]));
        }
        CHECK_OK(MPI_Allgather(&turn, 1, MPI_INT, d, 1, MPI_INT, comm));
        CHECK_OK(MPI_Barrier(other));
        CHECK_OK(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
    }
    MPI_Comm_free(&other);
}

/* Persistent ones are started in any order, beside others. */
static void test_persistent(int n)
{
    static int a[MOST], b[MOST], c[MOST];
    MPI_Request request[2];
    CHECK_OK(MPI_Allreduce_init(a, b, n, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request[0]));
    CHECK_OK(MPI_Bcast_init(c, n, MPI_INT, 0, comm, MPI_INFO_NULL, &request[1]));
    for (int turn = 0; turn < 4; turn++) {
        MPI_Start(&request[(rank + turn) % 2]);
        CHECK_OK(MPI_Barrier(comm));
        MPI_Start(&request[(rank + turn + 1) % 2]);
        CHECK_OK(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
}

int main(int argc, char **argv)
{
    static const int lengths[] = { 1, 7, 300, MOST };
    char name[20];
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    snprintf(name, sizeof name, "mine %d", rank);
    MPI_Comm_set_name(comm, name);
    if (size > 8) {
        if (rank == 0)
            printf("skip: its rooms hold the blocks of 8 ranks\n");
        return check_done();
    }
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        for (enum form form = BLOCKING; form < FORMS; form++) {
            test_bcast(form, lengths[i]);
            test_packed(form, lengths[i]);
            test_gather_scatter(form, lengths[i]);
            test_all(form, lengths[i]);
            test_vectors(form, lengths[i]);
            test_operations(form, lengths[i]);
            test_nothing(form);
        }
        test_in_place(lengths[i]);
        test_order(lengths[i]);
        test_persistent(lengths[i]);
    }
    MPI_Comm_free(&comm);
    return check_done();
}
