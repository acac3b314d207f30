/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Probing, and receiving what was probed (MPI 5.0, 3.8).  A matched message holds a reference
 * to its communicator, which passes on to the request that receives it.
 */
#include "pml/pml.h"

#include "runtime/fail.h"
#include "runtime/polling.h"
#include "src/api/p2p.h"
#include "src/comm.h"
#include "src/facade.h"
#include "src/request.h"
#include "src/status.h"
#include "src/type.h"

/* A blocking probe polls in its wait, which must know when something moves; the others poll here
 * when there is nothing. */
static int look(source_t source, anytag_t tag, comm_t comm, flag_t *flag, status_t status,
                bool poll)
{
    struct result result = result_proc_null;
    bool found = true;
    if (source != MPI_PROC_NULL) {
        struct envelope from = { .peer = source, .tag = tag };
        int rc = pml_iprobe(&comm->p2p, &from, poll, &found, &result);
        if (rc)
            return rc;
    }
    *flag = found;
    if (found)
        status_write(status, &result);
    return MPI_SUCCESS;
}

/* Nothing was there, and the program asks again, perhaps. */
static void nothing(source_t source, anytag_t tag, comm_t comm)
{
    struct probe probe = { &comm->p2p, source, tag };
    uintptr_t from = (uintptr_t)(uint32_t)source << 24 ^ (uintptr_t)(uint32_t)tag;
    polling_missed(probe_tell, &probe, (uintptr_t)comm ^ from << 1 ^ 1);
}

int xmpi_iprobe(source_t source, anytag_t tag, comm_t comm, flag_t *flag, status_t status)
{
    int rc = look(source, tag, comm, flag, status, true);
    if (!rc && !*flag)
        nothing(source, tag, comm);
    return rc;
}

int xmpi_probe(source_t source, anytag_t tag, comm_t comm, status_t status)
{
    struct probe probe = { &comm->p2p, source, tag };
    struct wait wait = WAIT_FOR(probe_tell, &probe);
    int flag = 0;
    int rc = look(source, tag, comm, &flag, status, true);
    while (!rc && !flag) {
        wait_poll(&wait);
        rc = look(source, tag, comm, &flag, status, false);
    }
    wait_end(&wait);
    return rc;
}

/* The same for a message that is taken out of the channel. */
static int take(const struct envelope *from, comm_t comm, flag_t *flag, message_t *message,
                status_t status, bool poll)
{
    struct message *found = (struct message *)MPI_MESSAGE_NO_PROC;
    struct result result = result_proc_null;
    if (from->peer != MPI_PROC_NULL) {
        int rc = pml_improbe(&comm->p2p, from, poll, &found, &result);
        *flag = found != NULL;
        if (!found)
            return rc;
        object_hold(comm);
        pml_message_set_comm(found, comm);
    }
    *flag = 1;
    *message = (MPI_Message)found;
    status_write(status, &result);
    return MPI_SUCCESS;
}

int xmpi_improbe(source_t source, anytag_t tag, comm_t comm, flag_t *flag, message_t *message,
                 status_t status)
{
    struct envelope from = { .peer = source, .tag = tag };
    int rc = take(&from, comm, flag, message, status, true);
    if (!rc && !*flag)
        nothing(source, tag, comm);
    return rc;
}

int xmpi_mprobe(source_t source, anytag_t tag, comm_t comm, message_t *message, status_t status)
{
    struct envelope from = { .peer = source, .tag = tag };
    struct probe probe = { &comm->p2p, source, tag };
    struct wait wait = WAIT_FOR(probe_tell, &probe);
    int flag = 0;
    int rc = take(&from, comm, &flag, message, status, true);
    while (!rc && !flag) {
        wait_poll(&wait);
        rc = take(&from, comm, &flag, message, status, false);
    }
    wait_end(&wait);
    return rc;
}

int xmpi_imrecv(room_t buf, count_t count, committed_t datatype, message_t *message,
                request_out_t *request)
{
    if (*message == MPI_MESSAGE_NO_PROC) {
        *message = MPI_MESSAGE_NULL;
        return request_new_over(&result_proc_null, NULL, false, request);
    }
    if (!object_is(*message, OBJECT_MESSAGE))
        return fail(MPI_ERR_REQUEST,
                    "argument message is %s; MPI_Mprobe and MPI_Improbe give one",
                    *message == MPI_MESSAGE_NULL ? "MPI_MESSAGE_NULL" : "no live message");
    struct message *matched = (struct message *)*message;
    struct comm *comm = pml_message_comm(matched);
    struct buffer data = buffer_user(buf, count, datatype->layout);
    int rc = pml_imrecv(matched, &data, request);
    if (rc) {
        leave_blame(comm);
        return rc;
    }
    *message = MPI_MESSAGE_NULL;
    request_keep(*request, comm);
    comm_release(comm); /* the message's reference */
    return MPI_SUCCESS;
}

int xmpi_mrecv(room_t buf, count_t count, committed_t datatype, message_t *message,
               status_t status)
{
    struct request *request;
    int rc = xmpi_imrecv(buf, count, datatype, message, &request);
    if (rc)
        return rc;
    MPI_Request handle = (MPI_Request)request;
    return xmpi_wait(&handle, status);
}
