/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives on a team.  Blocking, nonblocking and persistent are three ways to run one plan.
 */
#ifndef XMPI_COLL_H
#define XMPI_COLL_H

#include "coll/call.h"
#include "pml/pml.h"

struct tiny;       /* coll/tiny.c: flags in the node segment */
struct plan_cache; /* coll/cache.c */
struct neighbours; /* coll/neighbours.h */
struct places;     /* coll/plan.h */
struct orders;     /* coll/forced.h */
struct memo;       /* coll/choose.c */
struct tracks;     /* coll/later.c */

enum { TEAM_SAID = 32 };        /* collectives of a team that are remembered */
enum { TEAM_OWN = UINT16_MAX }; /* in team->chosen: one that the user wrote */

/* What a collective needs of a communicator.  For an intercommunicator the team is the union of
 * both groups: the group whose leader has the lower world rank comes first. */
struct team {
    struct channel channel; /* the collective context: ranks are team ranks */
    int split;              /* intercommunicator: team ranks below it are the first group;
                                 0 for an intracommunicator */
    uint32_t calls;         /* collectives begun on it, persistent ones when made */
    uint32_t running;       /* of them that are posted and not over */
    uint32_t looked;        /* channel.unexpected when there were no strays, see stray.c */
    bool strays_told;       /* one was found: no more looking */
    bool one_node;
    bool away;    /* while messages do what attach left, as somebody's data are on a device */
    bool crowded; /* on one node that has more ranks than CPUs: all members know alike */
    int reading; /* enum reading of others' memory, likewise; READING_DEAR, 0, on several nodes */
    uint16_t chosen[COLL_KINDS]; /* 1 + which algorithm each collective used last; 0: none */
    struct tiny *tiny;           /* NULL: no shared slots */
    struct tracks *tracks;       /* of nonblocking collectives; NULL: none yet */
    struct plan_cache *cache;
    int nodes;                     /* they are on; at most, where places are not known */
    struct places *places;         /* NULL: all in one place, or not known */
    struct memo *memo;             /* choices made; NULL: none yet */
    uint32_t forgets;              /* how often they were given up, see team_stamp */
    struct orders *orders;         /* algorithms forced on it; NULL: none */
    struct neighbours *neighbours; /* given before the first neighbourhood collective, kept
                                      as long as the team (plans depend on it), freed with it */
    uint64_t said[TEAM_SAID];      /* by the number of the collective, see said_in */
    uint64_t asked; /* what `asker` says of one to come (mismatch.c); 0: nothing */
    int asker;
    struct mismatch met; /* why the channel is given up, if it is */
    uint64_t parent;     /* the channel of the team where it was made; 0: of none, */
    uint32_t birth;      /* and the number of the last collective there by then */
};

/* Of a channel for collectives, which the team begins with. */
static inline struct team *team_of(const struct channel *channel)
{
    return (struct team *)channel;
}

/* Let a call have copies of its arrays of counts and displacements in *arrays, to be freed after it; NULL: it has none.
 * 0 or MPI_ERR_NO_MEM. */
int call_keep_arrays(struct call *call, const struct team *team, void **arrays);

/* What is chosen for a team stays the same as long as this does: a sum of numbers that only grow. */
extern unsigned forced_epoch; /* coll/forced.c */
static inline uint32_t team_stamp(const struct team *team)
{
    return team->forgets + forced_epoch;
}

/* Drawn by one member when a communicator is made, and sent to the others with the agreement
 * that the call needs anyway: no allreduce for context ids. */
struct ticket {
    uint64_t context; /* even; + 1 is the collective channel's */
    uint64_t tiny;    /* where the shared slots are; 0 = none */
};
void ticket_draw(struct ticket *ticket, int size, struct ranks *members);

/* Who has drawn the ticket with this context, a rank of the world, and the how manieth of its was it?  What all
 * members know a communicator by that has no name. */
struct drawn {
    unsigned rank, number;
};
struct drawn ticket_drawn(uint64_t context);

/* The two communicators that exist without agreement: every process makes the same ticket for
 * MPI_COMM_WORLD, and its own for MPI_COMM_SELF. */
void ticket_world(struct ticket *ticket);
void ticket_self(struct ticket *ticket);

int team_open(struct team *team, const struct ticket *ticket, int rank, struct ranks *members,
              int split);
/* A team of the same processes as another one, with what is known of their places. */
int team_open_like(struct team *team, const struct ticket *ticket, const struct team *like);
void team_close(struct team *team); /* nothing may be in flight */

/* This rank leaves the team, as its communicator is freed, or MPI is over: nobody is answered any more.  Later
 * calls for the same team change nothing. */
void last_words(const struct team *team, bool freed);

/* The same of all teams that are open, that of MPI_COMM_WORLD last: it is told as long as others may ask. */
void last_words_everywhere(struct team *world);

/* The lowest of the team's ranks on the node of each; NULL: they are all on one, or not known. */
const int *team_nodes(const struct team *team);

/* Force algorithms on a team from its next collective on, as XMPI_COLL does for the process and
 * before it; the text must be the same on all its ranks.  NULL or "": nothing is forced any more.
 * MPI_ERR_OTHER, and all stays as it was, when the text cannot be understood.  `who` is kept. */
int team_force(struct team *team, const char *text, const char *who);

/* Load a file of the user's own algorithms (script.h), for all teams of this process. */
int team_learn(const char *path);

/* The text that is in force on a team, "" = none. */
const char *team_forced(const struct team *team);

/* Blocking; nonblocking (a request that is in flight); persistent (an inactive request, begun
 * by request->ops->start).  The call and its arrays of counts may go away when these return,
 * the buffers and layouts may not; layouts are held while a request lives. */
int coll_run(struct team *team, const struct call *call);
int coll_start(struct team *team, const struct call *call, struct request **request);
int coll_init(struct team *team, const struct call *call, struct request **request);

/* A function that makes communicators on a team is over with this error, which it returns: if it is that there
 * is no memory, the team is given up, and so is what others have made in this call; who had no memory is told.
 * `before`: team->calls when it began. */
int making_over(struct team *team, uint32_t before, int error);

/* The same of one that is made while the program goes on, in the collective of this number: nothing is left to
 * return. */
void making_failed(const struct team *team, uint32_t number);

/* 0, or an error that says who had no memory for what is being made. */
int making_check(const struct team *team);

/* It has made this one. */
void making_done(struct team *made, const struct team *team, uint32_t number);

/* For call->serves: the function that the program is in, where that is one of the standard's that makes
 * communicators and the like; 0: it is another one. */
uint16_t served_now(void);

/* After those two with their error, which it returns, where the program itself called them and not something
 * that is under way: what they found amiss is told to the others now, as this rank may not come back for long. */
int coll_begun(const struct team *team, int error);

#endif
