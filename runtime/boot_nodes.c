/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which ranks of the segment count as one node: all of them, unless
 *
 *     XMPI_SHM=0        each rank is a node of its own, so every message takes the network
 *     XMPI_NODE=name    ranks with the same name are a node; for ranks that a wrapper puts into
 *                       namespaces or containers of their own on one machine
 *
 * Ranks of a node are neighbours in the segment, so a node is a range of records: boot.first and
 * boot.nlocal; the segment's table says which node each rank of the job is on.  With XMPI_NODE
 * everybody must know the names of all others before anything else, so MPI_Init then waits for
 * all; nothing else does.
 */
#include "runtime/boot_way.h"
#include "runtime/clock.h"
#include "runtime/fail.h"
#include "runtime/param.h"

#include "mpi.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NAP_US = 200, MOST_SECONDS = 60 };

static const char *node_of(int index)
{
    return bootseg_rank(boot.segment, index)->contact.node;
}

static bool same_node(int i, int j)
{
    return strcmp(node_of(i), node_of(j)) == 0;
}

/* All names are there; those of the dead stay empty. */
static int names_wait(void)
{
    uint64_t end = clock_ns() + (uint64_t)MOST_SECONDS * 1000000000u;
    for (int i = 0; i < boot.segment->nlocal; i++) {
        struct boot_rank *record = bootseg_rank(boot.segment, i);
        while (!atomic_load(&record->contact.named) && !atomic_load(&record->dead)) {
            if (clock_ns() > end)
                return fail(MPI_ERR_OTHER,
                            "XMPI_NODE is set, but rank %d has not said in %d s which node it "
                            "is on; all ranks must call MPI_Init",
                            record->world_rank, MOST_SECONDS);
            usleep(NAP_US);
        }
    }
    return MPI_SUCCESS;
}

static int name_tell(const char *name)
{
    struct boot_contact *mine = &boot_record(boot.local_rank)->contact;
    if (strlen(name) >= sizeof mine->node)
        return fail(MPI_ERR_OTHER, "XMPI_NODE=%s is longer than %zu characters", name,
                    sizeof mine->node - 1);
    snprintf(mine->node, sizeof mine->node, "%s", name);
    atomic_store(&mine->named, 1);
    return names_wait();
}

/* Number the nodes, for everybody: each rank writes the same numbers. */
static int number_nodes(void)
{
    int node = 0;
    for (int i = 0; i < boot.segment->nlocal; i++) {
        node += i > 0 && !same_node(i - 1, i);
        int world = bootseg_rank(boot.segment, i)->world_rank;
        __atomic_store_n(&bootseg_nodes(boot.segment)[world], node, __ATOMIC_RELAXED);
    }
    return node + 1;
}

static int divide_by_names(const char *name)
{
    int me = boot.local_rank, n = boot.segment->nlocal;
    int error = name_tell(name);
    if (error)
        return error;
    int first = me, last = me;
    while (first > 0 && same_node(first - 1, me))
        first--;
    while (last + 1 < n && same_node(last + 1, me))
        last++;
    for (int i = 0; i < n; i++)
        if ((i < first || i > last) && same_node(i, me))
            return fail(MPI_ERR_OTHER,
                        "ranks %d and %d are both on XMPI_NODE=%s, but others "
                        "between them are not: give each node consecutive ranks",
                        bootseg_rank(boot.segment, i)->world_rank, boot.rank, name);
    boot.first = first;
    boot.local_rank = me - first;
    boot.nlocal = last - first + 1;
    boot.nnodes = number_nodes();
    boot.node = boot_node(boot.rank);
    return MPI_SUCCESS;
}

int boot_divide(void)
{
    params_read();
    if (!param_number(SHM)) {
        boot.first = boot.local_rank;
        boot.local_rank = 0;
        boot.nlocal = 1;
        boot.node = boot.rank;
        boot.nnodes = boot.size;
        return MPI_SUCCESS;
    }
    const char *name = param_string(NODE);
    if (!name || boot.size == 1)
        return MPI_SUCCESS;
    if (boot.size > boot.segment->nlocal)
        return fail(MPI_ERR_OTHER,
                    "XMPI_NODE=%s divides the ranks of one machine; this job has "
                    "several",
                    name);
    return divide_by_names(name);
}
