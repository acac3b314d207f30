/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The last rank has no more memory in a function that makes communicators, and has again afterwards.  It is told so;
 * the others are told who had none and where, by that function or by the first use of what they have got, and
 * nobody waits for what does not come.  The communicator that was not asked for it goes on.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { HELD = 200000 };

static int rank, size;
static const char *making = "";

static void need(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "rank %d, %s: not true: %s\n", rank, making, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- memory ---- */

static void *held[HELD];
static int nheld;
static struct rlimit before;

static void memory_end(void)
{
    struct rlimit none;
    getrlimit(RLIMIT_AS, &before);
    none = before;
    none.rlim_cur = 1 << 20; /* less than there is: no more */
    need(setrlimit(RLIMIT_AS, &none) == 0, "memory can be limited");
    for (size_t bytes = 1 << 20; bytes >= 16; bytes /= 2)
        while (nheld < HELD && (held[nheld] = malloc(bytes)) != NULL)
            nheld++;
}

static void memory_again(void)
{
    need(setrlimit(RLIMIT_AS, &before) == 0, "memory is back");
    while (nheld > 0)
        free(held[--nheld]);
}

/* ---- functions ---- */

static int duplicate(MPI_Comm comm, MPI_Comm *made)
{
    return MPI_Comm_dup(comm, made);
}

static int idup(MPI_Comm comm, MPI_Comm *made)
{
    MPI_Request request;
    int error = MPI_Comm_idup(comm, made, &request);
    return error ? error : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int split(MPI_Comm comm, MPI_Comm *made)
{
    return MPI_Comm_split(comm, 0, rank, made);
}

static int sorted(MPI_Comm comm, MPI_Comm *made)
{
    return MPI_Comm_split(comm, 0, -rank * rank, made);
}

static int shared(MPI_Comm comm, MPI_Comm *made)
{
    return MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, made);
}

static int create(MPI_Comm comm, MPI_Comm *made)
{
    static MPI_Group group = MPI_GROUP_NULL; /* asked for while there is memory */
    if (made)
        return MPI_Comm_create(comm, group, made);
    return MPI_Comm_group(comm, &group);
}

static int grid(MPI_Comm comm, MPI_Comm *made)
{
    int once = 1;
    return MPI_Cart_create(comm, 1, &size, &once, 0, made);
}

static int graph(MPI_Comm comm, MPI_Comm *made)
{
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    return MPI_Dist_graph_create_adjacent(comm, 1, &last, MPI_UNWEIGHTED, 1, &next,
                                          MPI_UNWEIGHTED, MPI_INFO_NULL, 1, made);
}

static const struct {
    const char *name;
    int (*make)(MPI_Comm, MPI_Comm *);
} functions[] = {
    { "MPI_Comm_dup", duplicate },     { "MPI_Comm_idup", idup },
    { "MPI_Comm_split", split },       { "MPI_Comm_split", sorted },
    { "MPI_Comm_split_type", shared }, { "MPI_Comm_create", create },
    { "MPI_Cart_create", grid },       { "MPI_Dist_graph_create_adjacent", graph }
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* ---- what is said ---- */

static int says_who(int error)
{
    char text[MPI_MAX_ERROR_STRING], who[100];
    int length;
    MPI_Error_string(error, text, &length);
    snprintf(who, sizeof who, "rank %d could not do its part of %s", size - 1, making);
    return strstr(text, who) && strstr(text, "out of memory");
}

static int use(MPI_Comm comm)
{
    int one = 1, sum = 0;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
}

static void fail_in(int (*make)(MPI_Comm, MPI_Comm *), MPI_Comm comm)
{
    MPI_Comm made = MPI_COMM_NULL;
    int class, failed;
    if (rank == size - 1)
        memory_end();
    int error = make(comm, &made);
    if (rank == size - 1)
        memory_again();
    MPI_Error_class(error, &class);
    need(rank < size - 1 || !error || class == MPI_ERR_NO_MEM, "who has no memory is told so");
    if (!error)
        error = use(made);
    failed = error != MPI_SUCCESS;
    need(!failed || rank == size - 1 || says_who(error), "the others hear who, where and why");
    MPI_Bcast(&failed, 1, MPI_INT, size - 1, MPI_COMM_WORLD);
    need(failed == (error != MPI_SUCCESS), "all have it, or nobody");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < FUNCTIONS; i++) {
        MPI_Comm comm;
        making = functions[i].name;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        MPI_Barrier(comm);
        if (functions[i].make == create)
            create(comm, NULL);
        fail_in(functions[i].make, comm);
    }
    MPI_Finalize();
    return 0;
}
