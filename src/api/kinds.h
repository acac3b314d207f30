/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The kinds of arguments.  A chapter header declares a function of the standard as the C
 * prototype of its body; the types of the parameters are the kinds below, and they tell
 * src/gen_api.py what the entry point MPI_X (and its large-count twin MPI_X_c) has to check and
 * convert before it calls the body.  A kind is written exactly as here; whatever is no kind is
 * handed through as it is.
 *
 * Words in front of a prototype:
 *     later    not built yet: the entry point raises MPI_ERR_UNSUPPORTED_OPERATION with the
 *              function's name, and no body is expected.  Whoever writes the body removes the
 *              word in the same commit; nothing else has to change.
 *     manual   the entry point itself is written by hand in src/manual.c (the parameters are the
 *              user's, not kinds); only prototypes and the man page are generated.
 *     solo     there is a second body, xmpi_x_solo (src/solo.c), for a thread that has the engine of the
 *              communicator or of the requests alone.
 *     quick    most calls are done by xmpi_x_quick (src/quick_p2p.h) with the arguments as the user gave them; when
 *              it returns QUICK_NOT nothing has happened.
 *     recalled a call that comes again is found by xmpi_x_recalled (src/recall.h) from the arguments as the user gave
 *              them; NULL is any other.
 *     anytime  may be called before initialisation and after finalisation (MPI 5.0, 11.4.1).
 *
 * `python3 src/gen_api.py --missing` lists the bodies that are expected and not written.
 * `python3 src/gen_api.py --out src/generated` writes the entry points and mpi_functions.h;
 * a program that includes mpi.h from the source tree needs -Iinclude -Isrc/generated.
 */
#ifndef XMPI_API_KINDS_H
#define XMPI_API_KINDS_H

#include "mpi.h"
#include "runtime/layout.h"

#define later
#define manual
#define anytime
#define solo
#define quick
#define recalled

struct comm;
struct errhandler;
struct file;
struct group;
struct info;
struct op;
struct request;
struct session;
struct stream; /* an extension: mpix.h */
struct type;
struct win;

/* ---- buffers ---- */
typedef const void *in_t;   /* read; NULL, MPI_BOTTOM and MPI_IN_PLACE pass */
typedef void *out_t;        /* written, likewise */
typedef void *inout_t;      /* read and written, likewise */
typedef const void *data_t; /* read; NULL is MPI_ERR_BUFFER when the count and datatype that
                               follow it say there is data and the type is predefined */
typedef void *room_t;       /* written, likewise */

/* ---- numbers; MPI_X has int where MPI_X_c has MPI_Count, unless said otherwise ---- */
typedef int64_t count_t;        /* >= 0, else MPI_ERR_COUNT */
typedef int64_t whole_count_t;  /* >= 0, else MPI_ERR_COUNT; MPI_Count in MPI_X, too */
typedef int64_t bytes_t;        /* a size in bytes, >= 0, else MPI_ERR_ARG */
typedef int64_t wide_t;         /* any value */
typedef int64_t count_out_t;    /* count_out_t *: int *, MPI_UNDEFINED when it does not fit */
typedef int64_t position_t;     /* position_t *: int *, in and out, 0 or more */
typedef struct counts counts_t; /* const int[] / const MPI_Count[], elements not checked */
typedef struct counts displs_t; /* const int[] / const MPI_Aint[], elements not checked */
typedef MPI_Aint extent_t;      /* MPI_Aint / MPI_Count: a distance in bytes */
typedef MPI_Aint extent_out_t;  /* extent_out_t *: MPI_Aint * / MPI_Count * */
typedef const MPI_Aint *extents_t; /* const MPI_Aint[] / const MPI_Count[] */
typedef MPI_Aint unit_t;           /* int / MPI_Aint: a displacement unit, > 0 */
typedef MPI_Aint unit_out_t;       /* unit_out_t *: int * / MPI_Aint * */
/* Parameters that only MPI_X_c has; called from MPI_X the body gets 0 and NULL. */
typedef MPI_Count large_t;
typedef MPI_Count *large_out_t;
typedef MPI_Count *large_array_t;
typedef bool is_large_t; /* a parameter that neither has: was MPI_X_c called? */

/* ---- numbers that are the same in both forms ---- */
typedef int length_t;             /* int >= 0, else MPI_ERR_ARG */
typedef const int *ints_t;        /* int[]; NULL only if the length_t before it is 0 */
typedef int *ints_out_t;          /* written, likewise */
typedef int (*ranges_t)[3];       /* int[][3], likewise */
typedef int n_t;                  /* how many requests: int >= 0, else MPI_ERR_COUNT */
typedef MPI_Aint aint_t;          /* any value */
typedef MPI_Aint size_arg_t;      /* MPI_Aint >= 0, else MPI_ERR_SIZE */
typedef MPI_Aint aint_out_t;      /* aint_out_t *: not NULL */
typedef MPI_Count large_result_t; /* large_result_t *: MPI_Count *, not NULL */
typedef MPI_Offset offset_out_t;  /* offset_out_t *: not NULL */
typedef int int_out_t;            /* int_out_t *: not NULL */
typedef int flag_t;               /* flag_t *: int *, not NULL; the body writes 0 or 1 */

/* ---- ranks and tags, checked against the communicator of the call ---- */
typedef int dest_t;   /* a rank of the (remote) group or MPI_PROC_NULL */
typedef int source_t; /* the same or MPI_ANY_SOURCE */
typedef int
    root_t; /* 0 .. size - 1; intercommunicator: a remote rank, MPI_ROOT, MPI_PROC_NULL */
typedef int rank_t;        /* 0 .. size - 1 */
typedef int target_rank_t; /* of the window's group, or MPI_PROC_NULL; the body checks */
typedef int tag_t;         /* 0 .. the value of MPI_TAG_UB */
typedef int anytag_t;      /* the same or MPI_ANY_TAG */

/* ---- objects: the body gets them resolved and alive ---- */
typedef struct comm *comm_t;
typedef struct comm *intra_t;     /* an intracommunicator */
typedef struct comm *inter_t;     /* an intercommunicator */
typedef struct type *type_t;      /* any live datatype */
typedef struct type *committed_t; /* one that may be used in communication; to or from
                                     MPI_PROC_NULL also MPI_DATATYPE_NULL */
typedef struct type *type_at_t;   /* MPI_Datatype *: pointer checked and handle resolved */
typedef struct op *op_t;
typedef struct group *group_t;
typedef struct errhandler *errhandler_t;
typedef struct info *info_t;      /* NULL for MPI_INFO_NULL */
typedef struct info *info_live_t; /* MPI_INFO_NULL is an error */
typedef struct session *session_t;
typedef struct win *win_t;
typedef struct file *file_t;
typedef struct stream *stream_t;
typedef struct stream *stream_or_null_t; /* NULL for MPIX_STREAM_NULL */
typedef struct file *file_or_null_t;     /* NULL for MPI_FILE_NULL */
typedef struct comm *comm_or_null_t;     /* NULL for MPI_COMM_NULL */
typedef struct win *win_or_null_t;       /* NULL for MPI_WIN_NULL */
typedef struct type *type_or_null_t;     /* NULL for MPI_DATATYPE_NULL */

/* Collectives look at some arguments on some processes only; elsewhere the body gets 0 or NULL
 * and nothing is checked.
 *   mine_  the caller's own block: not when its buffer (the parameter before it) is MPI_IN_PLACE,
 *          not in the root's group of an intercommunicator
 *   root_  the root's blocks: on the root only
 *   part_  not where the root is MPI_PROC_NULL */
typedef int64_t mine_count_t;
typedef int64_t root_count_t;
typedef int64_t part_count_t;
typedef struct type *mine_type_t;
typedef struct type *root_type_t;
typedef struct type *part_type_t;
typedef struct op *part_op_t;

/* ---- handles that are handed through ---- */
typedef MPI_Request request_t;         /* request_t *: pointer checked, handle not */
typedef MPI_Message message_t;         /* message_t *: likewise */
typedef MPI_Status *status_t;          /* may be MPI_STATUS_IGNORE */
typedef const MPI_Status *status_in_t; /* not NULL */
typedef MPI_Status *status_out_t;      /* not NULL */

/* ---- results: X_out_t * is struct X **, turned into a handle by the entry point ---- */
typedef struct comm *comm_out_t;
typedef struct group *group_out_t;
typedef struct type *type_out_t;
typedef struct op *op_out_t;
typedef struct info *info_out_t;
typedef struct errhandler *errhandler_out_t;
typedef struct session *session_out_t;
typedef struct win *win_out_t;
typedef struct file *file_out_t;
typedef struct stream *stream_out_t;
typedef struct request *request_out_t;

/* ---- X_free_t *: MPI_X *, pointer and handle checked, passed as struct X **.  The body sets it
 * to NULL; after success the entry point writes MPI_X_NULL. ---- */
typedef struct comm *comm_free_t;
typedef struct group *group_free_t;
typedef struct type *type_free_t;
typedef struct op *op_free_t;
typedef struct info *info_free_t;
typedef struct errhandler *errhandler_free_t;
typedef struct session *session_free_t;
typedef struct win *win_free_t;
typedef struct file *file_free_t;
typedef struct stream *stream_free_t;

/* ---- strings and other pointers ---- */
typedef const char *string_t;     /* not NULL */
typedef char *text_out_t;         /* not NULL */
typedef const void *pointer_in_t; /* not NULL */
typedef void *pointer_out_t;      /* a place for a pointer or an attribute's value: not NULL */

/* ---- user functions that have two forms ---- */
struct user_function {
    MPI_User_function *narrow;
    MPI_User_function_c *wide; /* used when not NULL */
};
typedef struct user_function user_function_t; /* not NULL */
struct conversion_function {
    MPI_Datarep_conversion_function *narrow;
    MPI_Datarep_conversion_function_c *wide;
};
typedef struct conversion_function conversion_t; /* MPI_CONVERSION_FN_NULL passes */

#endif
