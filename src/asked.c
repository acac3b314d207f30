/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Filling in a collective: which arguments count on this rank, what the entry point could not
 * check (arrays, MPI_IN_PLACE, aliases), and the struct call that coll works from.
 *
 * The rules are those of MPI 5.0, chapter 6: the root's blocks count on the root only, on
 * intercommunicators blocks are counted by the remote group and there is no MPI_IN_PLACE.
 */
#include "src/asked.h"

#include "coll/neighbours.h"
#include "runtime/fail.h"
#include "runtime/gpu.h"
#include "src/asked_check.h"
#include "src/request.h"
#include "src/topo.h"

#include <stdlib.h>

static void asked_open(struct asked *asked, enum collective what, struct comm *comm, int root)
{
    progress_spare();
    asked->comm = comm;
    asked->types[0] = asked->types[1] = NULL;
    asked->memory = NULL;
    asked->block_types = NULL;
    asked->nblock_types = 0;
    asked->call.what = what;
    asked->call.root = root;
    asked->call.in_place = false;
    asked->call.serves = 0;
    asked->call.shape = 0;
    asked->call.staging = NULL;
    asked->call.near = NULL;
    asked->call.why_staged = NULL;
    asked->call.send = asked->call.recv = (struct part){ .base = NULL };
    asked->call.reduction = (struct reduction){ .layout = NULL };
}

/* Member by member: a struct made elsewhere and copied here would have to wait for its halves. */
static void asked_part(struct part *part, const struct side *side)
{
    part->base = (void *)side->buf;
    part->layout = side->type ? side->type->layout : NULL;
    part->count = (size_t)side->count;
    part->vector = side->argument != NULL;
    if (!part->vector)
        return;
    part->counts = side->counts;
    part->displs = side->displs;
}

static void asked_send(struct asked *asked, const struct side *side)
{
    if (side->buf == MPI_IN_PLACE) {
        asked->call.in_place = true;
        return;
    }
    asked->types[0] = side->type;
    asked_part(&asked->call.send, side);
}

static void asked_recv(struct asked *asked, const struct side *side)
{
    if (side->buf == MPI_IN_PLACE) {
        asked->call.in_place = true;
        return;
    }
    asked->types[1] = side->type;
    asked_part(&asked->call.recv, side);
}

/* ---- barrier and broadcast ---- */

int asked_barrier(struct asked *asked, struct comm *comm)
{
    asked_open(asked, COLL_BARRIER, comm, 0);
    return MPI_SUCCESS;
}

int asked_bcast(struct asked *asked, struct comm *comm, struct side *buffer, int root)
{
    asked_open(asked, COLL_BCAST, comm, root);
    if (!buffer->type)
        return MPI_SUCCESS;
    int rc = check_no_in_place(buffer->buf, "buffer");
    if (!rc)
        rc = check_memory(buffer, "buffer");
    asked_recv(asked, buffer);
    return rc;
}

/* Blocks, each with its own count, or one like another; of none nothing is asked. */
static int check_side(const struct side *side, int n, const char *argument, const char *displs)
{
    if (side->argument)
        return check_blocks(side, n, argument, displs);
    return n > 0 ? check_memory(side, argument) : MPI_SUCCESS;
}

/* ---- gather and scatter ---- */

static int check_rooted(struct comm *comm, const struct side *mine, const char *argument,
                        int root)
{
    if (!is_leaf(comm, root))
        return MPI_SUCCESS;
    int rc = is_root(comm, root) ? check_in_place(comm, mine->buf, argument)
                                 : check_no_in_place(mine->buf, argument);
    return rc ? rc : check_memory(mine, argument);
}

/* The root's side has a block for each rank. */
static int check_root_side(const struct asked *asked, const struct side *send,
                           const struct side *recv, const struct side *all,
                           const char *argument)
{
    int rc = check_no_in_place(all->buf, argument);
    if (!rc)
        rc = check_side(all, comm_remote_size(asked->comm), argument, "displs");
    if (!rc && !all->argument)
        rc = check_apart(send, recv, asked->comm);
    return rc ? rc : check_own(send, recv, all, asked->comm);
}

int asked_gather(struct asked *asked, struct comm *comm, struct side *send, struct side *recv,
                 int root)
{
    asked_open(asked, recv->argument ? COLL_GATHERV : COLL_GATHER, comm, root);
    int rc = check_rooted(comm, send, "sendbuf", root);
    if (is_leaf(comm, root))
        asked_send(asked, send);
    if (!is_root(comm, root) || rc)
        return rc;
    rc = check_root_side(asked, send, recv, recv, "recvbuf");
    asked_recv(asked, recv);
    return rc;
}

int asked_scatter(struct asked *asked, struct comm *comm, struct side *send, struct side *recv,
                  int root)
{
    asked_open(asked, send->argument ? COLL_SCATTERV : COLL_SCATTER, comm, root);
    int rc = check_rooted(comm, recv, "recvbuf", root);
    if (is_leaf(comm, root))
        asked_recv(asked, recv);
    if (!is_root(comm, root) || rc)
        return rc;
    rc = check_root_side(asked, send, recv, send, "sendbuf");
    asked_send(asked, send);
    return rc;
}

/* ---- everybody to everybody ---- */

/* What all of them ask of the two buffers. */
static int check_pair(struct comm *comm, const struct side *send, const struct side *recv)
{
    int rc = check_in_place(comm, send->buf, "sendbuf");
    return rc ? rc : check_no_in_place(recv->buf, "recvbuf");
}

int asked_allgather(struct asked *asked, struct comm *comm, struct side *send,
                    struct side *recv)
{
    asked_open(asked, recv->argument ? COLL_ALLGATHERV : COLL_ALLGATHER, comm, 0);
    int rc = check_pair(comm, send, recv);
    if (!rc)
        rc = check_memory(send, "sendbuf");
    if (!rc)
        rc = check_side(recv, comm_remote_size(comm), "recvbuf", "displs");
    if (!rc && !recv->argument)
        rc = check_apart(send, recv, comm);
    if (!rc)
        rc = check_own(send, recv, recv, comm);
    asked_send(asked, send);
    asked_recv(asked, recv);
    return rc;
}

int asked_alltoall(struct asked *asked, struct comm *comm, struct side *send, struct side *recv)
{
    bool listed = recv->argument;
    int n = comm_remote_size(comm);
    asked_open(asked, listed ? COLL_ALLTOALLV : COLL_ALLTOALL, comm, 0);
    int rc = check_pair(comm, send, recv);
    if (!rc && send->buf != MPI_IN_PLACE)
        rc = check_side(send, n, "sendbuf", "sdispls");
    if (!rc)
        rc = check_side(recv, n, "recvbuf", "rdispls");
    if (!rc)
        rc = listed ? check_apart_blocks(send, recv, n, comm) : check_apart(send, recv, comm);
    if (!rc)
        rc = check_own_length(send, recv, comm);
    asked_send(asked, send);
    asked_recv(asked, recv);
    return rc;
}

/* Resolve the n types of one side into the next n places of layouts and types. */
static int asked_blocks(struct asked *asked, const struct side *side, const char *argument,
                        int n, const struct layout **layouts)
{
    for (int i = 0; i < n; i++) {
        struct type *type;
        int rc = check_block_type(side, i, &type);
        if (rc)
            return rc;
        rc = check_block(side, i, type, argument);
        if (rc)
            return rc;
        layouts[i] = type->layout;
        asked->block_types[asked->nblock_types++] = type;
    }
    return MPI_SUCCESS;
}

/* Both sides of an exchange with a type per block: nsend of them (0 in place), nrecv. */
static int asked_typed(struct asked *asked, const struct side *send, int nsend,
                       const struct side *recv, int nrecv)
{
    size_t n = (size_t)nsend + (size_t)nrecv;
    asked->memory = malloc(2 * n * sizeof(void *) + 1);
    if (!asked->memory)
        return fail(MPI_ERR_NO_MEM, "no memory left for %zu datatypes", n);
    asked->block_types = asked->memory;
    const struct layout **layouts = (const struct layout **)asked->memory + n;
    int rc = asked_blocks(asked, send, "sendbuf", nsend, layouts);
    if (!rc)
        rc = asked_blocks(asked, recv, "recvbuf", nrecv, layouts + nsend);
    asked_send(asked, send);
    asked_recv(asked, recv);
    asked->call.send.layouts = asked->call.in_place ? NULL : layouts;
    asked->call.recv.layouts = layouts + nsend;
    return rc;
}

int asked_alltoallw(struct asked *asked, struct comm *comm, struct side *send,
                    struct side *recv)
{
    asked_open(asked, COLL_ALLTOALLW, comm, 0);
    int n = comm_remote_size(comm);
    bool in_place = send->buf == MPI_IN_PLACE;
    int rc = check_pair(comm, send, recv);
    if (!rc && !in_place)
        rc = check_blocks(send, n, "sendbuf", "sdispls");
    if (!rc)
        rc = check_blocks(recv, n, "recvbuf", "rdispls");
    if (!rc)
        rc = asked_typed(asked, send, in_place ? 0 : n, recv, n);
    if (!rc)
        rc = check_apart_blocks(send, recv, n, comm);
    return rc ? rc : check_own_length(send, recv, comm);
}

/* ---- between neighbours ---- */

int asked_neighbor(struct asked *asked, enum collective what, struct comm *comm,
                   struct side *send, struct side *recv)
{
    asked_open(asked, what, comm, 0);
    int rc = topology_neighbours(comm);
    if (rc)
        return rc;
    int in = comm->team.neighbours->nsources, out = comm->team.neighbours->ndestinations;
    rc = check_no_in_place(send->buf, "sendbuf");
    if (!rc)
        rc = check_no_in_place(recv->buf, "recvbuf");
    if (!rc)
        rc = check_side(send, out, "sendbuf", "sdispls");
    if (!rc)
        rc = check_side(recv, in, "recvbuf",
                        what == COLL_NEIGHBOR_ALLGATHERV ? "displs" : "rdispls");
    if (rc)
        return rc;
    if (what == COLL_NEIGHBOR_ALLTOALLW)
        return asked_typed(asked, send, out, recv, in);
    asked_send(asked, send);
    asked_recv(asked, recv);
    return in > 0 && out > 0 && !recv->argument ? check_apart(send, recv, NULL) : MPI_SUCCESS;
}

/* ---- reductions ---- */

int asked_reduce(struct asked *asked, struct comm *comm, const void *sendbuf, struct side *recv,
                 const struct op *op, int root)
{
    asked_open(asked, COLL_REDUCE, comm, root);
    if (!op)
        return MPI_SUCCESS; /* MPI_PROC_NULL on an intercommunicator */
    int rc = op_bind(op, recv->type, &asked->call.reduction);
    struct side *send = side(sendbuf, recv->count, recv->type);
    if (!rc)
        rc = check_rooted(comm, send, "sendbuf", root);
    if (is_leaf(comm, root))
        asked_send(asked, send);
    if (!is_root(comm, root))
        recv->buf = NULL;
    else if (!rc)
        rc = check_no_in_place(recv->buf, "recvbuf");
    if (!rc && is_root(comm, root))
        rc = check_memory(recv, "recvbuf");
    if (!rc && is_root(comm, root))
        rc = check_apart(send, recv, comm);
    asked_recv(asked, recv);
    return rc;
}

/* Of MPI_Reduce_scatter everybody gives all blocks and has one. */
static int check_scattered(const struct side *send, const struct side *recv,
                           const struct comm *comm)
{
    int rc = check_counts(recv, comm_size(comm));
    struct side all = *send, mine = *recv;
    for (int i = 0; !rc && i < comm_size(comm); i++)
        all.count += counts_at(recv->counts, i);
    if (!rc)
        rc = check_memory(&all, "sendbuf");
    if (!rc)
        mine.count = counts_at(recv->counts, comm_rank(comm));
    return rc ? rc : check_memory(&mine, "recvbuf");
}

int asked_fold(struct asked *asked, enum collective what, struct comm *comm,
               const void *sendbuf, struct side *recv, const struct op *op)
{
    asked_open(asked, what, comm, 0);
    bool vector = what == COLL_REDUCE_SCATTER;
    int rc = op_bind(op, recv->type, &asked->call.reduction);
    struct side *send = side(sendbuf, recv->count, recv->type);
    if (!rc)
        rc = check_pair(comm, send, recv);
    if (what == COLL_EXSCAN && comm_rank(comm) == 0 && sendbuf != MPI_IN_PLACE)
        recv->buf = NULL; /* not significant */
    else if (!rc && !vector)
        rc = check_memory(recv, "recvbuf");
    if (!rc && !vector)
        rc = check_memory(send, "sendbuf");
    if (!rc && vector)
        rc = check_scattered(send, recv, comm);
    asked_send(asked, send);
    asked_recv(asked, recv);
    if (!rc && vector) /* of the result a rank has its own block */
        send->count = recv->count = counts_at(recv->counts, comm_rank(comm));
    return rc ? rc : check_apart(send, recv, comm);
}

/* ---- performing ---- */

/* Where a part lies.  Behind MPI_BOTTOM each block may lie elsewhere: then all of them are moved in
 * the way that can do anything. */
static void part_locate(struct part *part)
{
    if (part->base || !part->vector)
        part->where = buffer_where(part->base, part->layout);
    else if (gpu_is_here())
        part->where = AWAY;
}

static void asked_locate(struct asked *asked)
{
    if (__builtin_expect(!gpu_possible, 1))
        return;
    part_locate(&asked->call.send);
    part_locate(&asked->call.recv);
}

int asked_run(struct asked *asked, int rc)
{
    if (!rc)
        asked_locate(asked);
    if (!rc)
        rc = coll_run(&asked->comm->team, &asked->call);
    free(asked->memory);
    return rc;
}

/* Hold types and memory for a request to come. */
static int asked_hoard(struct asked *asked, int rc, struct keep **keep)
{
    if (rc) {
        free(asked->memory);
        return rc;
    }
    struct type *const *types = asked->block_types ? asked->block_types : asked->types;
    int n = asked->block_types ? asked->nblock_types : 2;
    return request_hoard(types, n, asked->memory, keep);
}

static int asked_keep(struct asked *asked, int rc, struct keep *keep, struct request **request)
{
    if (rc)
        request_hoard_free(keep);
    else
        request_keep_hoard(*request, asked->comm, keep);
    return rc;
}

static int asked_begun(struct asked *asked, int rc, struct keep *keep, struct request **request)
{
    rc = asked_keep(asked, rc, keep, request);
    return coll_begun(&asked->comm->team, rc);
}

int asked_start(struct asked *asked, int rc, struct request **request)
{
    struct keep *keep;
    if (!rc)
        asked_locate(asked);
    rc = asked_hoard(asked, rc, &keep);
    if (rc)
        return rc;
    rc = coll_start(&asked->comm->team, &asked->call, request);
    return asked_begun(asked, rc, keep, request);
}

int asked_init(struct asked *asked, int rc, struct request **request)
{
    struct keep *keep;
    if (!rc)
        asked_locate(asked);
    rc = asked_hoard(asked, rc, &keep);
    if (rc)
        return rc;
    rc = coll_init(&asked->comm->team, &asked->call, request);
    return asked_begun(asked, rc, keep, request);
}
