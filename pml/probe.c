/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Probing: is a message here that a receive would take now?  A matched probe takes the message
 * out of the channel, so that no other receive can, and wraps it in an object until it is
 * received.
 */
#include "mpi.h"
#include "pml/arrived.h"
#include "pml/failure.h"
#include "pml/recv.h"
#include "runtime/fail.h"

struct message {
    struct object object; /* OBJECT_MESSAGE */
    struct arrived *arrived;
    struct request_pool *pool; /* of its channel */
    void *comm;
};

static struct arrived *probe(struct channel *channel, const struct envelope *from, bool poll)
{
    struct match_arrived *found = match_find(channel->match, envelope_key(from));
    if (found || !poll)
        return (struct arrived *)found;
    pml_take_all();
    return (struct arrived *)match_find(channel->match, envelope_key(from));
}

/* Nothing is here.  Can it still come? */
static int probe_nothing(const struct channel *channel, const struct envelope *from)
{
    struct match_key key = envelope_key(from);
    int world = recv_doomed(channel, &key, NULL);
    return world < 0 ? 0 : failure_fail(world);
}

int pml_iprobe(struct channel *channel, const struct envelope *from, bool poll, bool *found,
               struct result *result)
{
    struct arrived *arrived = probe(channel, from, poll);
    *found = arrived != NULL;
    if (!arrived)
        return probe_nothing(channel, from);
    arrived_result(arrived, result);
    return 0;
}

int pml_improbe(struct channel *channel, const struct envelope *from, bool poll,
                struct message **message, struct result *result)
{
    *message = NULL;
    struct arrived *arrived = probe(channel, from, poll);
    if (!arrived)
        return probe_nothing(channel, from);
    struct message *made = object_new(OBJECT_MESSAGE, sizeof *made);
    if (!made)
        return fail(MPI_ERR_NO_MEM, "no memory for a matched message");
    match_take(channel->match, &arrived->match);
    made->arrived = arrived;
    made->pool = channel->pool;
    arrived_result(arrived, result);
    *message = made;
    return 0;
}

int pml_imrecv(struct message *message, const struct buffer *data, struct request **request)
{
    int error = recv_arrived(message->arrived, message->pool, data, request);
    if (!error)
        object_delete(message);
    return error;
}

void *pml_message_comm(const struct message *message)
{
    return message->comm;
}

void pml_message_set_comm(struct message *message, void *comm)
{
    message->comm = comm;
}
