/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a program leaves behind: messages that nobody received, requests that nobody waited for, and
 * communicators, datatypes, operations, groups, info objects and error handlers that were not freed.
 * None of it keeps MPI_Finalize from its end, so a program that loses a message ends as if it were right;
 * who asks by XMPI_LOG=1 is told.
 *
 *     a message     is told by the rank it came to, if it had come by then
 *     a request     is one that the program holds: it has a communicator, and was not freed
 *     a group       is one that has more holders than communicators account for
 *     what may be freed after MPI_Finalize (info objects, error handlers) is told as well, but not while
 *     a session is open, which it may belong to
 */
#include "src/comm.h"
#include "src/errhan.h"
#include "src/info.h"
#include "src/library.h"
#include "src/type.h"

#include "pml/pml.h"
#include "runtime/log.h"
#include "runtime/object.h"
#include "runtime/param.h"

#include <stdio.h>
#include <string.h>

enum { NAME_CHARS = 160, KINDS = 8 };

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

/* ---- messages ---- */

static void messages_log(const struct channel *channel)
{
    size_t n = channel_unexpected(channel);
    struct envelope oldest;
    char name[NAME_CHARS];
    if (n == 0 || !channel_oldest(channel, &oldest))
        return;
    comm_name_of(channel->context, name, sizeof name);
    log_line("left behind on %s: %zu message%s that this rank did not receive; the oldest is "
             "from rank %d, tag %d",
             name, n, plural(n), oldest.peer, oldest.tag);
}

/* ---- requests ---- */

struct kind {
    const char *name;
    size_t n;
};

static void request_count(const struct request *request, struct kind kinds[KINDS])
{
    int k = 0;
    while (k < KINDS - 1 && kinds[k].name && strcmp(kinds[k].name, request->ops->name) != 0)
        k++;
    if (!kinds[k].name)
        kinds[k].name = k < KINDS - 1 ? request->ops->name : "other";
    kinds[k].n++;
}

static void requests_log(void)
{
    struct kind kinds[KINDS] = { 0 };
    char text[NAME_CHARS] = "";
    size_t n = 0;
    for (const void *at = NULL; (at = object_next(at, OBJECT_REQUEST)) != NULL;) {
        const struct request *request = at;
        if (!request->comm || request->orphan)
            continue;
        request_count(request, kinds);
        n++;
    }
    for (int k = 0; k < KINDS && kinds[k].name; k++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%zu %s", used ? ", " : "", kinds[k].n,
                 kinds[k].name);
    }
    if (n > 0)
        log_line("left behind: %zu request%s neither waited for nor freed (%s)", n, plural(n),
                 text);
}

/* ---- objects ---- */

/* MPI_COMM_WORLD and MPI_COMM_SELF lie elsewhere. */
static void comms_log(void)
{
    size_t n = 0;
    char name[NAME_CHARS] = "";
    for (const void *at = NULL; (at = object_next(at, OBJECT_COMM)) != NULL;) {
        const struct comm *comm = at;
        if (comm->freed || comm->session)
            continue;
        if (n++ == 0)
            comm_name_of(comm->p2p.context, name, sizeof name);
    }
    if (n > 0)
        log_line("left behind: %zu communicator%s not freed, %s%s", n, plural(n), name,
                 n > 1 ? " among them" : "");
}

static int holds(const struct comm *comm, const struct group *group)
{
    return (comm->group == group) + (comm->remote == group);
}

/* Does the program have a handle?  The group may well live on in communicators made of it. */
static bool group_is_left(const struct group *group)
{
    int held = holds(&comm_world, group) + holds(&comm_self, group);
    for (const void *at = NULL; (at = object_next(at, OBJECT_COMM)) != NULL;)
        held += holds(at, group);
    return group->object.refs > held && !group->session;
}

/* Predefined operations and error handlers lie elsewhere. */
static bool is_left(const struct object *object)
{
    const struct type *type = (const struct type *)object;
    switch (object->kind) {
    case OBJECT_TYPE:
        return !type->predefined && !type->freed;
    case OBJECT_GROUP:
        return group_is_left((const struct group *)object);
    case OBJECT_INFO:
        return !((const struct info *)object)->ours;
    case OBJECT_ERRHANDLER:
        return ((const struct errhandler *)object)->handles > 0;
    default:
        return true; /* an operation: nobody else holds it by now */
    }
}

static void objects_log(enum object_kind kind, const char *name)
{
    size_t n = 0;
    for (const void *at = NULL; (at = object_next(at, kind)) != NULL;)
        n += is_left(at);
    if (n > 0)
        log_line("left behind: %zu %s%s not freed", n, name, plural(n));
}

void left_behind_log(void)
{
    if (param_number(LOG) < 1)
        return;
    pml_take_all();
    for (struct channel *channel = NULL; (channel = channel_next(channel));)
        if (!channel_is_collective(channel))
            messages_log(channel);
    requests_log();
    comms_log();
    objects_log(OBJECT_TYPE, "datatype");
    objects_log(OBJECT_OP, "operation");
    objects_log(OBJECT_GROUP, "group");
    if (library_sessions > 0)
        return;
    objects_log(OBJECT_INFO, "info object");
    objects_log(OBJECT_ERRHANDLER, "error handler");
}
