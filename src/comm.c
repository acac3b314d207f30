/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Communicators: made of a ticket and groups, asked, named, given hints, freed (MPI 5.0, 7.4).
 *
 * A communicator holds two channels (messages, collectives) and its groups by reference, so
 * duplicating one costs a few hundred bytes whatever its size.  It lives until its last reference is
 * dropped: the user's handle is one, every request in flight is another.  Freeing is local;
 * tickets are never used again, so nobody needs to wait for the others.
 */
#include "src/comm.h"

#include "runtime/fail.h"
#include "src/api/comm.h"
#include "src/api/process.h"
#include "src/attr.h"
#include "src/errhan.h"
#include "src/info.h"
#include "src/inter.h"
#include "src/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- making and ending ---- */

bool inter_is_first(const struct group *group, const struct group *remote)
{
    return ranks_world(group->ranks, 0) < ranks_world(remote->ranks, 0);
}

/* The team of an intercommunicator is both groups, one after the other; all agree which one is
 * first. */
static int comm_open_team(struct comm *comm, const struct ticket *ticket,
                          const struct comm *like)
{
    struct ranks *mine = comm->group->ranks;
    if (like && comm->remote == like->remote && mine == like->group->ranks)
        return team_open_like(&comm->team, ticket, &like->team);
    if (!comm->remote)
        return team_open(&comm->team, ticket, comm->group->rank, mine, 0);
    struct ranks *theirs = comm->remote->ranks;
    bool first = inter_is_first(comm->group, comm->remote);
    struct ranks *both = first ? ranks_join(mine, theirs) : ranks_join(theirs, mine);
    if (!both)
        return fail(MPI_ERR_NO_MEM, "no memory for an intercommunicator of %d processes",
                    mine->n + theirs->n);
    int rank = first ? comm->group->rank : theirs->n + comm->group->rank;
    int rc = team_open(&comm->team, ticket, rank, both, first ? mine->n : theirs->n);
    ranks_drop(both);
    return rc;
}

int comm_open(struct comm *comm, const struct ticket *ticket, struct group *group,
              struct group *remote, const struct comm *like)
{
    comm->group = group;
    comm->remote = remote;
    struct ranks *peers = remote ? remote->ranks : group->ranks;
    int rc = channel_open(&comm->p2p, ticket->context, group->rank, peers);
    if (rc)
        return rc;
    struct orders *orders = comm->team.orders; /* MPI_Comm_idup gave it these, */
    rc = comm_open_team(comm, ticket, like);
    comm->team.orders = orders;
    if (rc) {
        channel_close(&comm->p2p);
        return rc;
    }
    group_hold(group);
    if (remote)
        group_hold(remote);
    comm->session = group->session ? group->session : like ? like->session : 0;
    comm->p2p.session = comm->session != 0;
    if (!comm->errhandler) /* and this */
        comm->errhandler = errhandler_hold(like ? like->errhandler : errhandler_initial());
    return MPI_SUCCESS;
}

void comm_close(struct comm *comm)
{
    again_forget(comm);
    team_close(&comm->team);
    channel_close(&comm->p2p);
    group_drop(comm->group);
    group_drop(comm->remote);
    errhandler_drop(comm->errhandler);
    stream_drop(comm->stream);
    comm_undress(comm);
    bsend_close(comm->pool);
}

int comm_new(struct comm **comm, const struct ticket *ticket, struct group *group,
             struct group *remote, const struct comm *like)
{
    struct comm *made = object_new(OBJECT_COMM, sizeof *made);
    if (!made)
        return fail(MPI_ERR_NO_MEM, "no memory for a communicator");
    int rc = comm_open(made, ticket, group, remote, like);
    if (rc)
        object_delete(made);
    else
        *comm = made;
    return rc;
}

void comm_dispose(struct comm *comm)
{
    comm_close(comm);
    object_delete(comm);
}

/* ---- names ---- */

/* Point-to-point channels are all members of communicators, and so are teams. */
bool comm_name_of(uint64_t context, char *name, size_t room)
{
    struct channel *channel = channel_find(context & ~1ull);
    if (!channel)
        return false;
    const struct comm *comm = (struct comm *)((char *)channel - offsetof(struct comm, p2p));
    struct drawn drawn = ticket_drawn(channel->context);
    if (comm->name[0])
        snprintf(name, room, "%s", comm->name);
    else
        snprintf(name, room, "communicator %u.%u of %d", drawn.rank, drawn.number,
                 comm_size(comm));
    return !comm->session;
}

/* ---- freeing ---- */

int xmpi_comm_free(comm_free_t *comm)
{
    struct comm *old = *comm;
    if (old == &comm_world || old == &comm_self)
        return fail(MPI_ERR_COMM, "%s cannot be freed; MPI_Finalize does that", old->name);
    int rc = attributes_delete(ATTR_COMM, comm_handle(old), &old->attributes);
    if (rc)
        return rc;
    old->freed = true;
    comm_release(old);
    *comm = NULL;
    return MPI_SUCCESS;
}

/* Messages whose requests were freed, and buffered ones. */
static void orphans_wait(const struct comm *comm)
{
    struct wait wait = WAIT_INIT;
    while (comm->orphans > 0)
        wait_poll(&wait);
    wait_end(&wait);
}

/* Collective, unlike freeing: when it returns, everybody has stopped using the communicator and
 * every message has arrived. */
int xmpi_comm_disconnect(comm_free_t *comm)
{
    if (*comm == &comm_world || *comm == &comm_self)
        return fail(MPI_ERR_COMM, "%s cannot be disconnected", (*comm)->name);
    orphans_wait(*comm);
    struct call barrier = { .what = COLL_BARRIER, .serves = served_now() };
    int rc = coll_run(&(*comm)->team, &barrier);
    if (rc)
        return rc;
    bsend_forget(&(*comm)->pool);
    return xmpi_comm_free(comm);
}

/* ---- questions ---- */

int xmpi_comm_size(comm_t comm, int_out_t *size)
{
    *size = comm_size(comm);
    return MPI_SUCCESS;
}

int xmpi_comm_rank(comm_t comm, int_out_t *rank)
{
    *rank = comm_rank(comm);
    return MPI_SUCCESS;
}

int xmpi_comm_remote_size(inter_t comm, int_out_t *size)
{
    *size = comm_remote_size(comm);
    return MPI_SUCCESS;
}

int xmpi_comm_test_inter(comm_t comm, flag_t *flag)
{
    *flag = comm_is_inter(comm);
    return MPI_SUCCESS;
}

/* Processes are not started by others yet: everybody comes from the launcher. */
int xmpi_comm_get_parent(comm_out_t *parent)
{
    *parent = NULL;
    return MPI_SUCCESS;
}

/* The user's handle gets an object of its own: freeing it twice must not hurt ours. */
static int group_give(const struct comm *comm, const struct group *group, struct group **out)
{
    *out = group_new(ranks_hold(group->ranks));
    if (!*out)
        return fail(MPI_ERR_NO_MEM, "no memory for a group");
    if (*out != &group_empty)
        (*out)->session = comm->session;
    return MPI_SUCCESS;
}

int xmpi_comm_group(comm_t comm, group_out_t *group)
{
    return group_give(comm, comm->group, group);
}

int xmpi_comm_remote_group(inter_t comm, group_out_t *group)
{
    return group_give(comm, comm->remote, group);
}

int xmpi_comm_compare(comm_t comm1, comm_t comm2, int_out_t *result)
{
    int remote = MPI_IDENT;
    if (comm1 == comm2) {
        *result = MPI_IDENT;
        return MPI_SUCCESS;
    }
    *result = MPI_UNEQUAL;
    if (comm_is_inter(comm1) != comm_is_inter(comm2))
        return MPI_SUCCESS;
    int local, rc = group_compare(comm1->group, comm2->group, &local);
    if (!rc && comm_is_inter(comm1))
        rc = group_compare(comm1->remote, comm2->remote, &remote);
    if (rc)
        return rc;
    if (local == MPI_UNEQUAL || remote == MPI_UNEQUAL)
        *result = MPI_UNEQUAL;
    else if (local == MPI_SIMILAR || remote == MPI_SIMILAR)
        *result = MPI_SIMILAR;
    else
        *result = MPI_CONGRUENT;
    return MPI_SUCCESS;
}

/* ---- names ---- */

int xmpi_comm_set_name(comm_t comm, string_t comm_name)
{
    snprintf(comm->name, sizeof comm->name, "%s", comm_name);
    return MPI_SUCCESS;
}

int xmpi_comm_get_name(comm_or_null_t comm, text_out_t comm_name, int_out_t *resultlen)
{
    *resultlen =
        snprintf(comm_name, MPI_MAX_OBJECT_NAME, "%s", comm ? comm->name : "MPI_COMM_NULL");
    return MPI_SUCCESS;
}

/* Windows are not built; MPI_WIN_NULL has a name all the same. */
int xmpi_win_get_name(win_or_null_t win, text_out_t win_name, int_out_t *resultlen)
{
    (void)win;
    *resultlen = snprintf(win_name, MPI_MAX_OBJECT_NAME, "MPI_WIN_NULL");
    return MPI_SUCCESS;
}

/* ---- hints (MPI 5.0, 7.4.4) ---- */

static const char *const hints[] = {
    "mpi_assert_no_any_tag",
    "mpi_assert_no_any_source",
    "mpi_assert_exact_length",
    "mpi_assert_allow_overtaking",
    "mpi_assert_strict_persistent_collective_ordering",
};

static int comm_keep_hint(struct comm *comm, const char *key, const char *value)
{
    if ((!comm->info && !(comm->info = info_new())) || info_set(comm->info, key, value))
        return fail(MPI_ERR_NO_MEM, "no memory for hints");
    comm->info->ours = true;
    return MPI_SUCCESS;
}

/* Which algorithms perform the collectives of this communicator: not a hint but an order, so what
 * cannot be obeyed is an error.  The key xmpi_plan is a file of algorithms to choose from, now or by a
 * later order. */
#define ORDERS_KEY "xmpi_coll"
#define PLAN_KEY   "xmpi_plan"
static int comm_take_orders(struct comm *comm, const char *learn, const char *value)
{
    if ((learn && team_learn(learn)) ||
        (value && team_force(&comm->team, value, "the info key " ORDERS_KEY)))
        return fail(MPI_ERR_INFO_VALUE, "%s", fail_text());
    int rc = learn ? comm_keep_hint(comm, PLAN_KEY, learn) : MPI_SUCCESS;
    return value && !rc ? comm_keep_hint(comm, ORDERS_KEY, value) : rc;
}

int comm_take_hints(struct comm *comm, const struct info *info)
{
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
        const char *value = info_get(info, hints[i]);
        if (!value || (strcmp(value, "true") && strcmp(value, "false")))
            continue;
        int rc = comm_keep_hint(comm, hints[i], value);
        if (rc)
            return rc;
    }
    return comm_take_orders(comm, info_get(info, PLAN_KEY), info_get(info, ORDERS_KEY));
}

int xmpi_comm_set_info(comm_t comm, info_t info)
{
    return comm_take_hints(comm, info);
}

/* Hints that nobody gave have their default values. */
static int hints_complete(struct info *info, const struct comm *comm)
{
    char memory[MPI_MAX_INFO_VAL];
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++)
        if (!info_get(info, hints[i]) && info_set(info, hints[i], "false"))
            return MPI_ERR_NO_MEM;
    memory_kinds(session_info(comm->session), memory, sizeof memory);
    return info_set(info, MEMORY_KINDS_KEY, memory);
}

int xmpi_comm_get_info(comm_t comm, info_out_t *info_used)
{
    *info_used = info_copy(comm->info);
    if (*info_used && !hints_complete(*info_used, comm))
        return MPI_SUCCESS;
    info_delete(*info_used);
    return fail(MPI_ERR_NO_MEM, "no memory for an info object");
}
