/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Functions that make communicators are collectives, too: rank 0 calls one, all others another one, or a
 * barrier or an allreduce, each pair on a communicator of its own.  Every rank has to get an error that names
 * both functions as they were called, from its call or from the next one.  The same function on all ranks has to
 * work, and so has a mixture of all of them in one order.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE = 40, BEARABLE = 15 };

static int me, size, failures;

static int dup_it(MPI_Comm comm, MPI_Comm *made)
{
    return MPI_Comm_dup(comm, made);
}

static int dup_with_info(MPI_Comm comm, MPI_Comm *made)
{
    return MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, made);
}

static int idup(MPI_Comm comm, MPI_Comm *made)
{
    MPI_Request request;
    int rc = MPI_Comm_idup(comm, made, &request);
    if (rc == MPI_SUCCESS)
        rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rc != MPI_SUCCESS)
        *made = MPI_COMM_NULL;
    return rc;
}

static int create(MPI_Comm comm, MPI_Comm *made)
{
    MPI_Group group;
    MPI_Comm_group(comm, &group);
    int rc = MPI_Comm_create(comm, group, made);
    MPI_Group_free(&group);
    return rc;
}

/* The last rank is not in it. */
static int create_some(MPI_Comm comm, MPI_Comm *made)
{
    MPI_Group group, some;
    int last = size - 1;
    MPI_Comm_group(comm, &group);
    MPI_Group_excl(group, 1, &last, &some);
    int rc = MPI_Comm_create(comm, some, made);
    MPI_Group_free(&group);
    MPI_Group_free(&some);
    return rc;
}

static int split(MPI_Comm comm, MPI_Comm *made)
{
    return MPI_Comm_split(comm, me % 2, -me, made);
}

static int split_type(MPI_Comm comm, MPI_Comm *made)
{
    return MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, made);
}

static int cart(MPI_Comm comm, MPI_Comm *made)
{
    int periodic = 1;
    return MPI_Cart_create(comm, 1, &size, &periodic, 0, made);
}

static int graph(MPI_Comm comm, MPI_Comm *made)
{
    int index[2] = { 1, 2 }, edges[2] = { 1, 0 };
    return MPI_Graph_create(comm, 2, index, edges, 0, made);
}

static int dist_graph(MPI_Comm comm, MPI_Comm *made)
{
    int degree = 1, next = (me + 1) % size;
    return MPI_Dist_graph_create(comm, 1, &me, &degree, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 made);
}

static int dist_graph_adjacent(MPI_Comm comm, MPI_Comm *made)
{
    int next = (me + 1) % size, last = (me + size - 1) % size;
    return MPI_Dist_graph_create_adjacent(comm, 1, &last, MPI_UNWEIGHTED, 1, &next,
                                          MPI_UNWEIGHTED, MPI_INFO_NULL, 0, made);
}

static int barrier(MPI_Comm comm, MPI_Comm *made)
{
    *made = MPI_COMM_NULL;
    return MPI_Barrier(comm);
}

/* Of as much as MPI_Comm_split folds. */
static int allreduce(MPI_Comm comm, MPI_Comm *made)
{
    int in[12] = { 0 }, out[12];
    *made = MPI_COMM_NULL;
    return MPI_Allreduce(in, out, 12, MPI_INT, MPI_MAX, comm);
}

static const struct function {
    const char *name; /* as it is in the error */
    int (*call)(MPI_Comm comm, MPI_Comm *made);
} functions[] = {
    { "MPI_Comm_dup", dup_it },
    { "MPI_Comm_dup_with_info", dup_with_info },
    { "MPI_Comm_idup", idup },
    { "MPI_Comm_create", create },
    { "MPI_Comm_create", create_some },
    { "MPI_Comm_split", split },
    { "MPI_Comm_split_type", split_type },
    { "MPI_Cart_create", cart },
    { "MPI_Graph_create", graph },
    { "MPI_Dist_graph_create", dist_graph },
    { "MPI_Dist_graph_create_adjacent", dist_graph_adjacent },
    { "MPI_Barrier", barrier },
    { "MPI_Allreduce", allreduce },
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static void wrong(const struct function *a, const struct function *b, const char *why,
                  const char *text)
{
    printf("rank %d of %d: %s while others call %s: %s: %s\n", me, size, a->name, b->name, why,
           text);
    fflush(stdout);
    failures++;
}

/* The name as a word of its own: MPI_Comm_dup is not in a text because MPI_Comm_dup_with_info is. */
static int has_word(const char *text, const char *name)
{
    for (const char *at = text; (at = strstr(at, name)); at++) {
        char next = at[strlen(name)];
        if (next == ' ' || next == ',' || next == '\0')
            return 1;
    }
    return 0;
}

static int perform(const struct function *f, MPI_Comm comm)
{
    MPI_Comm made = MPI_COMM_NULL;
    int rc = f->call(comm, &made);
    if (rc == MPI_SUCCESS && made != MPI_COMM_NULL)
        MPI_Comm_free(&made);
    return rc;
}

static void pair(const struct function *a, const struct function *b)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    alarm(PATIENCE);
    double began = MPI_Wtime();
    int rc = perform(me == 0 ? a : b, comm);
    for (int i = 0; i < 2 && rc == MPI_SUCCESS; i++)
        rc = MPI_Barrier(comm);
    double took = MPI_Wtime() - began;
    alarm(0);
    if (rc != MPI_SUCCESS)
        MPI_Error_string(rc, text, &length);
    if (a == b && rc != MPI_SUCCESS)
        wrong(a, b, "an error where all call the same", text);
    if (a != b && !(has_word(text, a->name) && has_word(text, b->name)))
        wrong(a, b, "not both calls", text);
    if (took > BEARABLE)
        wrong(a, b, "too long", text);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
}

static int copied(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *flag)
{
    int rank;
    (void)key, (void)extra, (void)value, (void)copy;
    *flag = 0;
    return MPI_Comm_rank(comm, &rank);
}

/* One rank alone has an attribute, whose copy function calls MPI. */
static void with_an_attribute(void)
{
    static const struct function dups[] = { { "MPI_Comm_dup", dup_it },
                                            { "MPI_Comm_idup", idup } };
    int key;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(copied, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    if (me == 0)
        MPI_Comm_set_attr(comm, key, NULL);
    for (int i = 0; i < 2; i++)
        if (perform(&dups[i], comm) != MPI_SUCCESS || MPI_Barrier(comm) != MPI_SUCCESS)
            wrong(&dups[i], &dups[i], "with an attribute on one rank", "");
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free(&comm);
}

/* Numbers of what all call stay the same on all ranks. */
static void all_in_one_order(void)
{
    for (int i = 0; i < 2 * FUNCTIONS; i++) {
        int rc = perform(&functions[i % FUNCTIONS], MPI_COMM_WORLD);
        if (rc != MPI_SUCCESS)
            wrong(&functions[i % FUNCTIONS], &functions[i % FUNCTIONS], "among others", "");
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int every = argc > 1 ? atoi(argv[1]) : 1; /* pairs that are tried: one in so many */
    all_in_one_order();
    with_an_attribute();
    for (int a = 0; a < FUNCTIONS; a++)
        for (int b = 0; b < FUNCTIONS; b++)
            if ((a * FUNCTIONS + b) % every == 0 || a == b)
                if (a == b || strcmp(functions[a].name, functions[b].name) != 0)
                    pair(&functions[a], &functions[b]);
    MPI_Finalize();
    return failures != 0;
}
