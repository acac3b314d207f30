/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages of a thread that has one engine alone.  What cannot be done so is done by the usual bodies,
 * when it has all of them.
 */
#include "src/solo.h"

#include "pml/solo.h"
#include "runtime/lock.h"
#include "src/comm.h"
#include "src/request.h"
#include "src/status.h"
#include "src/type.h"

/* ---- beginning ---- */

static struct buffer buffer_of(const void *buf, int64_t count, const struct type *type)
{
    return buffer_user(buf, count, type->layout);
}

int xmpi_send_solo(data_t buf, count_t count, committed_t datatype, dest_t dest, tag_t tag,
                   comm_t comm)
{
    struct buffer data = buffer_of(buf, count, datatype);
    struct envelope to = { .peer = dest, .tag = tag };
    if (dest != MPI_PROC_NULL && solo_send(&comm->p2p, &data, &to))
        return MPI_SUCCESS;
    engine_join();
    return xmpi_send(buf, count, datatype, dest, tag, comm);
}

int xmpi_recv_solo(room_t buf, count_t count, committed_t datatype, source_t source,
                   anytag_t tag, comm_t comm, status_t status)
{
    struct buffer data = buffer_of(buf, count, datatype);
    struct envelope from = { .peer = source, .tag = tag };
    struct result result;
    int rc;
    if (source != MPI_PROC_NULL && solo_recv(&comm->p2p, &data, &from, &result, &rc)) {
        status_write(status, &result);
        return rc;
    }
    engine_join();
    return xmpi_recv(buf, count, datatype, source, tag, comm, status);
}

int xmpi_isend_solo(data_t buf, count_t count, committed_t datatype, dest_t dest, tag_t tag,
                    comm_t comm, request_out_t *request)
{
    struct buffer data = buffer_of(buf, count, datatype);
    struct envelope to = { .peer = dest, .tag = tag };
    if (dest != MPI_PROC_NULL && solo_isend(&comm->p2p, &data, &to, request)) {
        request_keep(*request, comm);
        return MPI_SUCCESS;
    }
    engine_join();
    return xmpi_isend(buf, count, datatype, dest, tag, comm, request);
}

int xmpi_irecv_solo(room_t buf, count_t count, committed_t datatype, source_t source,
                    anytag_t tag, comm_t comm, request_out_t *request)
{
    struct buffer data = buffer_of(buf, count, datatype);
    struct envelope from = { .peer = source, .tag = tag };
    if (source != MPI_PROC_NULL && solo_irecv(&comm->p2p, &data, &from, request)) {
        request_keep(*request, comm);
        return MPI_SUCCESS;
    }
    engine_join();
    return xmpi_irecv(buf, count, datatype, source, tag, comm, request);
}

/* ---- ending ---- */

struct set {
    int n;
    MPI_Request *handles;
};

/* NULL for MPI_REQUEST_NULL.  False: it is not for one who has an engine alone, or no request. */
static inline bool set_request(const struct set *set, int i, struct request **request)
{
    *request = NULL;
    if (set->handles[i] == MPI_REQUEST_NULL)
        return true;
    if (!object_is(set->handles[i], OBJECT_REQUEST))
        return false;
    *request = (struct request *)set->handles[i];
    return solo_waits(*request);
}

/* And the last reference of its communicator is perhaps not that of the request. */
static bool request_may_end(const struct request *request)
{
    const struct comm *comm = request->comm;
    return request->done && solo_ends(request) && !(comm && comm->freed);
}

/* False: somebody else has to wait, or to look why not. */
static bool set_await(const struct set *set)
{
    for (int i = 0; i < set->n; i++) {
        struct request *request;
        if (!set_request(set, i, &request))
            return false;
        if (request && !request->done)
            solo_await(request);
        if (!engine_is_solo())
            return false;
    }
    return true;
}

/* All of them are done, and end well.  Nothing else happens in the engine between this and their end. */
static bool set_may_end(const struct set *set)
{
    for (int i = 0; i < set->n; i++) {
        struct request *request;
        if (!set_request(set, i, &request) || (request && !request_may_end(request)))
            return false;
    }
    return true;
}

static void set_end(const struct set *set, MPI_Status *statuses)
{
    for (int i = 0; i < set->n; i++) {
        struct request *request = (struct request *)set->handles[i];
        bool live = set->handles[i] != MPI_REQUEST_NULL;
        if (statuses && live)
            status_write(&statuses[i], &request->result);
        else if (statuses)
            status_write_empty(&statuses[i]);
        if (live)
            request_end(request, &set->handles[i]);
    }
}

/* True: done, and ended.  False: this thread has all engines. */
static bool set_wait(const struct set *set, MPI_Status *statuses)
{
    bool ends = set_await(set) && set_may_end(set);
    if (ends)
        set_end(set, statuses);
    else
        engine_join();
    return ends;
}

int xmpi_wait_solo(request_t *request, status_t status)
{
    struct set set = { 1, request };
    return set_wait(&set, status) ? MPI_SUCCESS : xmpi_wait(request, status);
}

int xmpi_waitall_solo(n_t count, MPI_Request array_of_requests[], MPI_Status *array_of_statuses)
{
    struct set set = { count, array_of_requests };
    if (set_wait(&set, array_of_statuses))
        return MPI_SUCCESS;
    return xmpi_waitall(count, array_of_requests, array_of_statuses);
}

enum progress { ALL_DONE, NOT_DONE, NOT_ALONE };

static enum progress set_look(const struct set *set)
{
    for (int i = 0; i < set->n; i++) {
        struct request *request;
        if (!set_request(set, i, &request))
            return NOT_ALONE;
        if (request && !request->done)
            return NOT_DONE;
    }
    return ALL_DONE;
}

/* True: *flag says whether they are done, and have ended.  False: this thread has all engines. */
static bool set_test(const struct set *set, int *flag, MPI_Status *statuses)
{
    enum progress seen = set_look(set);
    if (seen == NOT_DONE) {
        solo_progress();
        seen = engine_is_solo() ? set_look(set) : NOT_ALONE;
    }
    *flag = seen == ALL_DONE;
    if (seen == NOT_DONE)
        return true;
    if (seen == ALL_DONE && set_may_end(set)) {
        set_end(set, statuses);
        return true;
    }
    engine_join();
    return false;
}

int xmpi_test_solo(request_t *request, flag_t *flag, status_t status)
{
    struct set set = { 1, request };
    return set_test(&set, flag, status) ? MPI_SUCCESS : xmpi_test(request, flag, status);
}

int xmpi_testall_solo(n_t count, MPI_Request array_of_requests[], flag_t *flag,
                      MPI_Status *array_of_statuses)
{
    struct set set = { count, array_of_requests };
    if (set_test(&set, flag, array_of_statuses))
        return MPI_SUCCESS;
    return xmpi_testall(count, array_of_requests, flag, array_of_statuses);
}
