/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A right program that uses a bit of everything, looks at every byte it gets and frees all it makes: what
 * watches memory (Valgrind, AddressSanitizer) has nothing to say about it.  What it gets lies in memory that
 * nobody has written before.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

static int rank, size;
static long wrong;

static int *fresh(int count)
{
    return malloc((size_t)count * sizeof(int));
}

static int *numbers(int count, int first)
{
    int *made = fresh(count);
    for (int i = 0; i < count; i++)
        made[i] = first + i;
    return made;
}

static void expect(const int *got, int count, int first, int step)
{
    for (int i = 0; i < count; i++)
        wrong += got[i] != first + step * i;
}

static void messages(int count, MPI_Comm comm)
{
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    int *out = numbers(count, rank), *in = fresh(count);
    MPI_Sendrecv(out, count, MPI_INT, right, 1, in, count, MPI_INT, left, 1, comm,
                 MPI_STATUS_IGNORE);
    expect(in, count, left, 1);
    free(in);
    in = fresh(count);
    MPI_Request request[2];
    MPI_Irecv(in, count, MPI_INT, MPI_ANY_SOURCE, 2, comm, &request[0]);
    MPI_Issend(out, count, MPI_INT, right, 2, comm, &request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    expect(in, count, left, 1);
    free(in);
    free(out);
}

static void spaced(int count, MPI_Comm comm)
{
    MPI_Datatype second;
    MPI_Type_vector(count / 2, 1, 2, MPI_INT, &second);
    MPI_Type_commit(&second);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    int *out = numbers(count, rank), *in = fresh(count / 2);
    MPI_Sendrecv(out, 1, second, right, 3, in, count / 2, MPI_INT, left, 3, comm,
                 MPI_STATUS_IGNORE);
    expect(in, count / 2, left, 2);
    MPI_Type_free(&second);
    free(in);
    free(out);
}

static void collectives(int count, MPI_Comm comm)
{
    int ranks = size * (size - 1) / 2;
    int *out = numbers(count, rank), *in = fresh(count), *all = fresh(size * count);
    MPI_Allreduce(out, in, count, MPI_INT, MPI_SUM, comm);
    expect(in, count, ranks, size);
    MPI_Reduce(out, in, count, MPI_INT, MPI_MAX, size - 1, comm);
    if (rank == size - 1)
        expect(in, count, size - 1, 1);
    MPI_Bcast(in, count, MPI_INT, size - 1, comm);
    expect(in, count, size - 1, 1);
    MPI_Allgather(out, count, MPI_INT, all, count, MPI_INT, comm);
    for (int r = 0; r < size; r++)
        expect(all + r * count, count, r, 1);
    MPI_Request request;
    MPI_Iscan(out, in, count, MPI_INT, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(in, count, rank * (rank + 1) / 2, rank + 1);
    MPI_Allreduce_init(out, in, count, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request);
    for (int turn = 0; turn < 3; turn++) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect(in, count, ranks, size);
    }
    MPI_Request_free(&request);
    free(all);
    free(in);
    free(out);
}

static void use(MPI_Comm comm)
{
    static const int counts[] = { 1, 12, 300, 5000, 40000, 300000 };
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        messages(counts[i], comm);
        spaced(counts[i] + 1, comm);
        collectives(counts[i], comm);
    }
    MPI_Barrier(comm);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm twin, half;
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Comm_split(twin, rank % 2, 0, &half);
    use(twin);
    MPI_Barrier(half);
    MPI_Comm_free(&half);
    MPI_Comm_free(&twin);
    if (wrong)
        fprintf(stderr, "rank %d: %ld numbers are wrong\n", rank, wrong);
    MPI_Finalize();
    return wrong != 0;
}
