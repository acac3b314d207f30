/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What can be wrong with the arguments of a collective beyond single values.
 */
#include "src/asked_check.h"

#include "runtime/fail.h"

#include <string.h>

int check_in_place(const struct comm *comm, const void *buf, const char *argument)
{
    if (buf != MPI_IN_PLACE || !comm_is_inter(comm))
        return MPI_SUCCESS;
    return fail(MPI_ERR_BUFFER,
                "argument %s: MPI_IN_PLACE has no meaning on an intercommunicator", argument);
}

int check_no_in_place(const void *buf, const char *argument)
{
    if (buf != MPI_IN_PLACE)
        return MPI_SUCCESS;
    return fail(MPI_ERR_BUFFER, "argument %s: MPI_IN_PLACE is not allowed here", argument);
}

int check_memory(const struct side *side, const char *argument)
{
    if (side->buf || side->count == 0 || !side->type || !side->type->predefined)
        return MPI_SUCCESS;
    return fail(MPI_ERR_BUFFER, "argument %s is NULL, but there are %lld elements of %s",
                argument, (long long)side->count, side->type->name);
}

/* The bytes of block i are a number of 63 bits. */
static int check_product(const struct side *side, int i, const struct type *type)
{
    int64_t count = counts_at(side->counts, i), bytes;
    if (!__builtin_mul_overflow(count, (int64_t)type->layout->size, &bytes))
        return MPI_SUCCESS;
    return fail(
        MPI_ERR_COUNT,
        "argument %s[%d] is %lld; that many elements of %zu bytes do not fit into 63 bits",
        side->argument, i, (long long)count, type->layout->size);
}

int check_counts(const struct side *side, int n)
{
    if (n > 0 && counts_missing(side->counts))
        return fail_null(MPI_ERR_ARG, side->argument);
    int rc = MPI_SUCCESS;
    for (int i = 0; !rc && i < n; i++) {
        if (counts_at(side->counts, i) < 0)
            return fail(MPI_ERR_COUNT, "argument %s[%d] is %lld, must not be negative",
                        side->argument, i, (long long)counts_at(side->counts, i));
        if (side->type)
            rc = check_product(side, i, side->type);
    }
    return rc;
}

/* Behind MPI_BOTTOM, which is NULL, a displacement is an address, and none lies in the first page. */
int check_block(const struct side *side, int i, const struct type *type, const char *argument)
{
    int rc = check_product(side, i, type);
    if (rc || side->buf || !type->predefined || counts_at(side->counts, i) == 0)
        return rc;
    int64_t displ = counts_at(side->displs, i);
    if (displ * (side->types ? 1 : type->layout->extent) >= 4096)
        return MPI_SUCCESS;
    return fail(MPI_ERR_BUFFER, "argument %s is NULL, but %s[%d] is %lld", argument,
                side->argument, i, (long long)counts_at(side->counts, i));
}

int check_blocks(const struct side *side, int n, const char *argument, const char *displs)
{
    int rc = check_counts(side, n);
    if (rc)
        return rc;
    if (n > 0 && counts_missing(side->displs))
        return fail_null(MPI_ERR_ARG, displs);
    for (int i = 0; !rc && i < n && !side->buf && side->type; i++)
        rc = check_block(side, i, side->type, argument);
    return rc;
}

static int fail_same(const struct comm *comm)
{
    if (!comm || comm_is_inter(comm))
        return fail(
            MPI_ERR_BUFFER,
            "sendbuf and recvbuf are the same memory: give two buffers, for MPI_IN_PLACE has "
            "no meaning %s",
            comm ? "on an intercommunicator" : "between neighbours");
    return fail(MPI_ERR_BUFFER,
                "sendbuf and recvbuf are the same memory: say MPI_IN_PLACE if that is meant");
}

int check_apart(const struct side *send, const struct side *recv, const struct comm *comm)
{
    if (send->buf != recv->buf || !send->buf || !send->type || !recv->type)
        return MPI_SUCCESS;
    if (send->type->layout->true_lb != recv->type->layout->true_lb)
        return MPI_SUCCESS; /* they may lie between each other */
    if (send->count == 0 || recv->count == 0 || !send->type->layout->size)
        return MPI_SUCCESS;
    return fail_same(comm);
}

/* The type of block i; NULL where none is known, or what is given is not significant. */
static const struct type *type_at(const struct side *side, int i)
{
    if (side->buf == MPI_IN_PLACE)
        return NULL;
    return side->types ? type_of(side->types[i]) : side->type;
}

/* Where the data of block i of a side begins, NULL where it has no data or none that is known. */
static const char *block_at(const struct side *side, int i)
{
    const struct type *type = side->buf ? type_at(side, i) : NULL;
    bool vector = side->argument != NULL;
    if (!type || !type->layout->size)
        return NULL;
    if ((vector ? counts_at(side->counts, i) : side->count) == 0)
        return NULL;
    int64_t place = vector ? counts_at(side->displs, i) : i * side->count;
    return (const char *)side->buf + place * (side->types ? 1 : type->layout->extent) +
           type->layout->true_lb;
}

int check_apart_blocks(const struct side *send, const struct side *recv, int n,
                       const struct comm *comm)
{
    for (int i = 0; i < n && send->buf == recv->buf; i++)
        if (block_at(send, i) && block_at(send, i) == block_at(recv, i))
            return fail_same(comm);
    return MPI_SUCCESS;
}

static int check_own_block(const struct side *mine, const struct side *all,
                           const struct comm *comm)
{
    if (comm_is_inter(comm) || !block_at(mine, 0))
        return MPI_SUCCESS;
    return block_at(mine, 0) == block_at(all, comm_rank(comm)) ? fail_same(comm) : MPI_SUCCESS;
}

/* False: nothing is known of it, or it is not significant. */
static bool bytes_of(const struct side *side, int i, int64_t *bytes)
{
    const struct type *type = type_at(side, i);
    if (!type)
        return false;
    *bytes = (side->argument ? counts_at(side->counts, i) : side->count) *
             (int64_t)type->layout->size;
    return true;
}

int check_own_length(const struct side *send, const struct side *recv, const struct comm *comm)
{
    int me = comm_rank(comm);
    int64_t bytes, room;
    if (comm_is_inter(comm) || !bytes_of(send, me, &bytes) || !bytes_of(recv, me, &room) ||
        __builtin_expect(bytes == room, 1))
        return MPI_SUCCESS;
    if (bytes < room)
        return pml_too_short((size_t)bytes, me, (size_t)room);
    return fail(MPI_ERR_TRUNCATE,
                "block of %lld bytes from rank %d, this rank, to itself, where %lld bytes "
                "belong; the counts and "
                "datatypes of sendbuf and recvbuf must make the same number of bytes",
                (long long)bytes, me, (long long)room);
}

int check_own(const struct side *send, const struct side *recv, const struct side *all,
              const struct comm *comm)
{
    int rc = check_own_block(all == recv ? send : recv, all, comm);
    return rc ? rc : check_own_length(send, recv, comm);
}

int check_block_type(const struct side *side, int i, struct type **type)
{
    const char *argument = strcmp(side->argument, "sendcounts") ? "recvtypes" : "sendtypes";
    if (!side->types)
        return fail_null(MPI_ERR_ARG, argument);
    *type = type_of(side->types[i]);
    if (!*type)
        return fail(MPI_ERR_TYPE, "argument %s[%d] is %s", argument, i,
                    side->types[i] == MPI_DATATYPE_NULL ? "MPI_DATATYPE_NULL" : "no datatype");
    if (!(*type)->committed)
        return fail(MPI_ERR_TYPE, "argument %s[%d] is not committed: call MPI_Type_commit",
                    argument, i);
    return MPI_SUCCESS;
}
