/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The checks of arguments that generated entry points call: one small inline function per kind
 * of src/api/kinds.h.  The good case is a compare and a predicted branch; the bad case lies in
 * checks.c, where the text is made.  A check does nothing once a failure is recorded, and the
 * ones that resolve a handle give NULL when it is bad.  configure --disable-checking leaves the
 * comparisons out and keeps the resolving.
 */
#ifndef XMPI_CHECKS_H
#define XMPI_CHECKS_H

#include "config.h"
#include "src/errhan.h"
#include "src/facade.h"
#include "src/handle.h"
#include "src/op.h"
#include "src/type.h"

#define BAD(condition) (XMPI_CHECKING && __builtin_expect(condition, 0))

/* ---- the bad cases: record `class` and a text that names argument and value ----
 * They are not marked cold: gcc would take the good case behind several checks for unlikely too
 * and move it out of the way. */
void bad_number(struct entry *e, int class, const char *name, int64_t value, const char *rule);
void bad_rank(struct entry *e, int class, const char *name, int rank, const struct comm *comm,
              const char *also);
void bad_tag(struct entry *e, const char *name, int tag, const char *also);
void bad_root(struct entry *e, const char *name, int root, const struct comm *comm);
void bad_pointer(struct entry *e, const char *name);
void bad_buffer(struct entry *e, const char *name, const void *data);
void bad_bytes(struct entry *e, const char *name, int64_t count, const struct type *type);
void bad_handle(struct entry *e, int class, const char *name, const void *handle,
                const char *what);
void bad_committed(struct entry *e, MPI_Datatype handle, const struct type *type,
                   const char *name);
struct type *peer_type(struct entry *e, int peer, MPI_Datatype handle, const char *name)
    __attribute__((cold));
void bad_object(struct entry *e, int class, const char *name, const char *rule);

/* ---- numbers ---- */
static inline void check_count(struct entry *e, int64_t count, const char *name)
{
    if (BAD(count < 0))
        bad_number(e, MPI_ERR_COUNT, name, count, "it must not be negative");
}

static inline void check_length(struct entry *e, int64_t length, const char *name)
{
    if (BAD(length < 0))
        bad_number(e, MPI_ERR_ARG, name, length, "it must not be negative");
}

static inline void check_size(struct entry *e, int64_t size, const char *name)
{
    if (BAD(size < 0))
        bad_number(e, MPI_ERR_SIZE, name, size, "it must not be negative");
}

static inline void check_unit(struct entry *e, int64_t unit, const char *name)
{
    if (BAD(unit <= 0))
        bad_number(e, MPI_ERR_DISP, name, unit, "it must be positive");
}

/* ---- ranks and tags ---- */
static inline void check_dest(struct entry *e, const struct comm *comm, int rank,
                              const char *name)
{
    if (BAD(comm && (unsigned)rank >= (unsigned)comm->p2p.size && rank != MPI_PROC_NULL))
        bad_rank(e, MPI_ERR_RANK, name, rank, comm, " or are MPI_PROC_NULL");
}

static inline void check_source(struct entry *e, const struct comm *comm, int rank,
                                const char *name)
{
    if (BAD(comm && (unsigned)rank >= (unsigned)comm->p2p.size && rank != MPI_PROC_NULL &&
            rank != MPI_ANY_SOURCE))
        bad_rank(e, MPI_ERR_RANK, name, rank, comm, " or are MPI_ANY_SOURCE or MPI_PROC_NULL");
}

static inline void check_rank(struct entry *e, const struct comm *comm, int rank,
                              const char *name)
{
    if (BAD(comm && (unsigned)rank >= (unsigned)comm->p2p.size))
        bad_rank(e, MPI_ERR_RANK, name, rank, comm, "");
}

static inline void check_tag(struct entry *e, int tag, const char *name)
{
    if (BAD(tag < 0))
        bad_tag(e, name, tag, "");
}

static inline void check_anytag(struct entry *e, int tag, const char *name)
{
    if (BAD(tag < 0 && tag != MPI_ANY_TAG))
        bad_tag(e, name, tag, " or are MPI_ANY_TAG");
}

/* MPI_PROC_NULL says that another one of my group is the root. */
static inline bool is_root_word(const struct comm *comm, int root)
{
    return comm_is_inter(comm) &&
           (root == MPI_ROOT || (root == MPI_PROC_NULL && comm_size(comm) > 1));
}

static inline void check_root(struct entry *e, const struct comm *comm, int root,
                              const char *name)
{
    if (BAD(comm && (unsigned)root >= (unsigned)comm->p2p.size && !is_root_word(comm, root)))
        bad_root(e, name, root, comm);
}

/* ---- pointers ---- */
static inline void check_pointer(struct entry *e, const void *pointer, const char *name)
{
    if (BAD(!pointer))
        bad_pointer(e, name);
}

static inline void check_array(struct entry *e, int length, const void *array, const char *name)
{
    if (BAD(!array && length > 0))
        bad_pointer(e, name);
}

static inline void check_function(struct entry *e, bool given, const char *name)
{
    if (BAD(!given))
        bad_object(e, MPI_ERR_ARG, name, "NULL; pass a function");
}

/* The position in a packed buffer, which goes in and out. */
static inline int64_t check_position(struct entry *e, const int *position, const char *name)
{
    check_pointer(e, position, name);
    if (position)
        check_length(e, *position, name);
    return position ? *position : 0;
}

static inline int64_t check_position_c(struct entry *e, const MPI_Count *position,
                                       const char *name)
{
    check_pointer(e, position, name);
    if (position)
        check_length(e, *position, name);
    return position ? *position : 0;
}

static inline void check_data(struct entry *e, const void *data, int64_t count,
                              const struct type *type, const char *name)
{
    if (BAD(is_no_data(data, count, type)))
        bad_buffer(e, name, data);
}

/* What `count` elements hold is a number of 63 bits.  type: NULL where nobody looks at it. */
ENTRY_INLINE void check_bytes(struct entry *e, const struct type *type, int64_t count,
                              const char *name)
{
    int64_t bytes;
    if (BAD(type && __builtin_mul_overflow(count, (int64_t)type->layout->size, &bytes)))
        bad_bytes(e, name, count, type);
}

/* ---- objects ---- */
ENTRY_INLINE struct comm *check_comm(struct entry *e, MPI_Comm handle, const char *name)
{
    struct comm *comm = handle_comm(handle);
    if (__builtin_expect(!comm, 0))
        bad_handle(e, MPI_ERR_COMM, name, handle, "communicator");
    return comm;
}

static inline struct comm *check_intra(struct entry *e, MPI_Comm handle, const char *name)
{
    struct comm *comm = check_comm(e, handle, name);
    if (BAD(comm && comm_is_inter(comm)))
        bad_object(e, MPI_ERR_COMM, name,
                   "an intercommunicator; this function needs an "
                   "intracommunicator");
    return comm;
}

static inline struct comm *check_inter(struct entry *e, MPI_Comm handle, const char *name)
{
    struct comm *comm = check_comm(e, handle, name);
    if (BAD(comm && !comm_is_inter(comm)))
        bad_object(e, MPI_ERR_COMM, name,
                   "an intracommunicator; this function needs an "
                   "intercommunicator");
    return comm;
}

static inline struct type *check_type(struct entry *e, MPI_Datatype handle, const char *name)
{
    struct type *type = type_of(handle);
    if (__builtin_expect(!type || handle == MPI_DATATYPE_NULL, 0)) {
        bad_handle(e, MPI_ERR_TYPE, name, handle, "datatype");
        return NULL;
    }
    return type;
}

/* The good case is one test: a committed type is alive, and has data in this build. */
static inline struct type *check_committed(struct entry *e, MPI_Datatype handle,
                                           const char *name)
{
    struct type *type = type_of(handle);
    if (__builtin_expect(type && type->committed, 1))
        return type;
    bad_committed(e, handle, type, name);
    return NULL;
}

/* Of a message: what goes to nobody, MPI_PROC_NULL, may be of no datatype. */
ENTRY_INLINE struct type *check_peer_type(struct entry *e, int peer, MPI_Datatype handle,
                                          const char *name)
{
    struct type *type = type_of(handle);
    if (__builtin_expect(type && type->committed, 1))
        return type;
    return peer_type(e, peer, handle, name);
}

static inline struct op *check_op(struct entry *e, MPI_Op handle, const char *name)
{
    struct op *op = op_of(handle);
    if (__builtin_expect(!op, 0))
        bad_handle(e, MPI_ERR_OP, name, handle, "operation");
    return op;
}

/* Handles that are not on a fast path: one out-of-line function each. */
struct group *check_group(struct entry *e, MPI_Group handle, const char *name);
struct errhandler *check_errhandler(struct entry *e, MPI_Errhandler handle, const char *name);
struct info *check_info(struct entry *e, MPI_Info handle, const char *name);
struct info *check_info_live(struct entry *e, MPI_Info handle, const char *name);
struct session *check_session(struct entry *e, MPI_Session handle, const char *name);
struct win *check_win(struct entry *e, MPI_Win handle, const char *name);
struct file *check_file(struct entry *e, MPI_File handle, const char *name);
struct file *check_file_or_null(struct entry *e, MPI_File handle, const char *name);
struct win *check_win_or_null(struct entry *e, MPI_Win handle, const char *name);
struct comm *check_comm_or_null(struct entry *e, MPI_Comm handle, const char *name);
struct type *check_type_or_null(struct entry *e, MPI_Datatype handle, const char *name);

/* The same behind a pointer. */
struct comm *check_comm_at(struct entry *e, const MPI_Comm *handle, const char *name);
struct group *check_group_at(struct entry *e, const MPI_Group *handle, const char *name);
struct type *check_type_at(struct entry *e, const MPI_Datatype *handle, const char *name);
struct op *check_op_at(struct entry *e, const MPI_Op *handle, const char *name);
struct errhandler *check_errhandler_at(struct entry *e, const MPI_Errhandler *handle,
                                       const char *name);
struct info *check_info_at(struct entry *e, const MPI_Info *handle, const char *name);
struct session *check_session_at(struct entry *e, const MPI_Session *handle, const char *name);
struct win *check_win_at(struct entry *e, const MPI_Win *handle, const char *name);
struct file *check_file_at(struct entry *e, const MPI_File *handle, const char *name);

#endif
