/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What src adds to requests: the communicator whose error handler is asked, and the datatypes
 * that must live as long as a collective.
 *
 *     request->comm    a reference, until the request is finished or, an orphan, done
 *     request->owner   collectives: a struct keep that on_done lets go of; NULL: nothing
 */
#ifndef XMPI_SRC_REQUEST_H
#define XMPI_SRC_REQUEST_H

#include "src/comm.h"
#include "src/type.h"

/* The communicator lives on while the request needs it.  Call right after the request was made.
 * (pml holds the layouts of sends and receives itself.) */
static inline void request_keep(struct request *request, struct comm *comm)
{
    object_hold(comm);
    request->comm = comm;
}

/* Give it back, and then its communicator: releasing a collective needs the team. */
static inline void request_release(struct request *request)
{
    struct comm *comm = request->comm;
    request->comm = NULL;
    request->ops->release(request);
    if (comm)
        comm_release(comm);
}

/* The same for a collective in two steps, so that nothing can go wrong any more once it runs.
 * request_hoard: hold `n` types, of which some may be NULL, and memory to free, which is freed when
 * this fails; *keep is NULL when there is nothing to hold.  request_keep_hoard: hand that over. */
struct keep;
int request_hoard(struct type *const *types, int n, void *memory, struct keep **keep);
void request_hoard_free(struct keep *keep);
void request_keep_hoard(struct request *request, struct comm *comm, struct keep *keep);

/* Nobody will wait for it, which is under way on this communicator (NULL: on none). */
void request_forget(struct request *request, const struct comm *comm);

/* A request that is complete from the beginning, or, persistent, at every start: operations
 * with MPI_PROC_NULL.  `comm` may be NULL.  MPI_ERR_NO_MEM. */
int request_new_over(const struct result *result, struct comm *comm, bool persistent,
                     struct request **request);

/* Is there something to wait for?  Null handles and inactive persistent requests have not. */
static inline bool request_is_live(const struct request *request)
{
    return request && (!request->persistent || request->active);
}

bool request_is_partitioned(const struct request *request);

/* The request behind a handle: NULL for MPI_REQUEST_NULL.  MPI_ERR_REQUEST names the argument:
 * element `index` of array_of_requests, or `request` when index < 0. */
int request_of_none(MPI_Request handle, int index, struct request **request);
static inline int request_of(MPI_Request handle, int index, struct request **request)
{
    if (__builtin_expect(!object_is(handle, OBJECT_REQUEST), 0))
        return request_of_none(handle, index, request);
    *request = (struct request *)handle;
    return MPI_SUCCESS;
}

/* Take the result of a complete request, then give it back (persistent: make it inactive) and
 * set the handle.  Returns the operation's error class and blames its communicator. */
int request_finish(struct request *request, MPI_Request *handle, struct result *result);

/* Is it over and well?  Then nobody has to look at how it ended; request_end is the same as request_finish
 * without a result. */
static inline bool request_is_well(const struct request *request)
{
    return request->done && !request->result.error && !request->ops->query;
}
static inline void request_end(struct request *request, MPI_Request *handle)
{
    if (request->persistent) {
        request->active = false;
        return;
    }
    request_release(request);
    *handle = MPI_REQUEST_NULL;
}

/* The result of a complete request that stays as it is. */
int request_look(struct request *request, struct result *result);

/* The same for a program that asks: a nonblocking collective may be freed from then on. */
int request_report(struct request *request, struct result *result);

/* Release a request that is over. */
void request_discard(struct request *request);

/* A test of this one has found that it is not done; MPI_SUCCESS (runtime/polling.h). */
int request_missed(const struct request *request);

#endif
