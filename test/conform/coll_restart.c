/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Starting a persistent collective again allocates nothing: malloc and its relatives are ours here,
 * and they count.  The first starts may: free lists grow until they are long enough.
 *
 * conform-shadow: it counts allocations
 */
#include "check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
enum { COUNTED = 0 };
static const long allocations;
#else
enum { COUNTED = 1 };
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static long allocations;

void *malloc(size_t bytes)
{
    allocations++;
    return __libc_malloc(bytes);
}

void *calloc(size_t n, size_t bytes)
{
    allocations++;
    return __libc_calloc(n, bytes);
}

void *realloc(void *memory, size_t bytes)
{
    allocations++;
    return __libc_realloc(memory, bytes);
}

void *aligned_alloc(size_t to, size_t bytes)
{
    allocations++;
    return __libc_memalign(to, bytes);
}

int posix_memalign(void **memory, size_t to, size_t bytes)
{
    allocations++;
    *memory = __libc_memalign(to, bytes);
    return *memory ? 0 : ENOMEM;
}
#endif

enum { MOST = 8192, RANKS = 64, WARM = 30, COUNTED_STARTS = 15, ROUNDS = 3 };

static int n, me;
static int *from, *to, counts[RANKS], displs[RANKS], bytes[RANKS];
static MPI_Datatype types[RANKS];

/* A barrier after each: roots that only send would otherwise fill the queues of the others. */
static long start_often(MPI_Request *request, int starts)
{
    long made = 0;
    for (int i = 0; i < starts; i++) {
        long before = allocations;
        CHECK(MPI_Start(request) == MPI_SUCCESS);
        CHECK(MPI_Wait(request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        made += allocations - before; /* the barrier may make some */
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return made;
}

/* In the best of some rounds: a queue of early messages may grow once more whenever another rank is
 * further ahead than ever before. */
static void expect_none(const char *name, int count, MPI_Request *request)
{
    start_often(request, WARM);
    long more = start_often(request, COUNTED_STARTS);
    for (int i = 1; i < ROUNDS; i++) {
        long made = start_often(request, COUNTED_STARTS);
        more = made < more ? made : more;
    }
    if (more)
        printf("%s of %d ints: %ld allocations in %d starts on rank %d\n", name, count, more,
               COUNTED_STARTS, me);
    CHECK(more == 0);
    MPI_Request_free(request);
}

#define RESTART(name, ...)                                                                     \
    do {                                                                                       \
        MPI_Request request;                                                                   \
        CHECK(MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &request) == MPI_SUCCESS);         \
        expect_none(#name, count, &request);                                                   \
    } while (0)

static void spread(int count)
{
    for (int i = 0; i < n; i++) {
        counts[i] = count;
        displs[i] = i * (count + 1); /* with gaps */
        bytes[i] = displs[i] * (int)sizeof(int);
        types[i] = MPI_INT;
    }
}

static void test_movement(int count, MPI_Comm comm)
{
    spread(count);
    RESTART(Barrier, comm);
    RESTART(Bcast, from, count, MPI_INT, n - 1, comm);
    RESTART(Gather, from, count, MPI_INT, to, count, MPI_INT, 0, comm);
    RESTART(Gatherv, from, count, MPI_INT, to, counts, displs, MPI_INT, 0, comm);
    RESTART(Scatter, from, count, MPI_INT, to, count, MPI_INT, 0, comm);
    RESTART(Scatterv, from, counts, displs, MPI_INT, to, count, MPI_INT, 0, comm);
    RESTART(Allgather, from, count, MPI_INT, to, count, MPI_INT, comm);
    RESTART(Allgather, MPI_IN_PLACE, 0, MPI_INT, to, count, MPI_INT, comm);
    RESTART(Allgatherv, from, count, MPI_INT, to, counts, displs, MPI_INT, comm);
    RESTART(Alltoall, from, count, MPI_INT, to, count, MPI_INT, comm);
    RESTART(Alltoall, MPI_IN_PLACE, 0, MPI_INT, to, count, MPI_INT, comm);
    RESTART(Alltoallv, from, counts, displs, MPI_INT, to, counts, displs, MPI_INT, comm);
    RESTART(Alltoallw, from, counts, bytes, types, to, counts, bytes, types, comm);
}

static void test_reductions(int count, MPI_Comm comm)
{
    spread(count);
    RESTART(Reduce, from, to, count, MPI_INT, MPI_SUM, 0, comm);
    RESTART(Allreduce, from, to, count, MPI_INT, MPI_SUM, comm);
    RESTART(Allreduce, MPI_IN_PLACE, to, count, MPI_INT, MPI_BXOR, comm);
    RESTART(Reduce_scatter_block, from, to, count, MPI_INT, MPI_MAX, comm);
    RESTART(Reduce_scatter, from, to, counts, MPI_INT, MPI_SUM, comm);
    RESTART(Scan, from, to, count, MPI_INT, MPI_MIN, comm);
    RESTART(Exscan, from, to, count, MPI_INT, MPI_MIN, comm);
}

static void test_neighbours(int count)
{
    MPI_Comm ring;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &n, &(int){ 1 }, 0, &ring);
    RESTART(Neighbor_allgather, from, count, MPI_INT, to, count, MPI_INT, ring);
    RESTART(Neighbor_alltoall, from, count, MPI_INT, to, count, MPI_INT, ring);
    MPI_Comm_free(&ring);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    CHECK(n <= RANKS);
    size_t room = (size_t)(n > 2 ? n : 2) * (MOST + 1);
    from = calloc(room, sizeof *from);
    to = calloc(room, sizeof *to);
    CHECK(!COUNTED || allocations > 0); /* they are ours, and the library's too */
    for (int count = 2; count <= MOST; count *= 16) {
        test_movement(count, MPI_COMM_WORLD);
        test_reductions(count, MPI_COMM_WORLD);
        test_neighbours(count);
    }
    if (!COUNTED && me == 0)
        printf("skip: the sanitizer has its own malloc\n");
    free(from);
    free(to);
    return check_done();
}
