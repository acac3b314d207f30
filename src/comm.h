/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A communicator: what pml needs (a channel), what coll needs (a team), and what MPI adds.
 */
#ifndef XMPI_COMM_H
#define XMPI_COMM_H

#include "coll/coll.h"
#include "mpi.h"
#include "pml/pml.h"
#include "runtime/object.h"

struct again;      /* src/again.h */
struct attributes; /* src/attr.h */
struct errhandler; /* src/errhan.h */
struct group;      /* src/group.h */
struct info;       /* src/info.h */
struct pool;       /* src/bsend_pool.h */
struct stream;     /* src/stream.h */
struct topology;   /* src/topo.h */

/* Inlined always: the return address has to be the one into the program; and of checks gcc would leave parts apart, out
 * of reach of hot.ld. */
#define ENTRY_INLINE static inline __attribute__((always_inline))

enum { COMM_AGAIN = 32 };

struct comm {
    struct object object; /* OBJECT_COMM */
    struct channel p2p;   /* peers: the group, or the remote group of an intercommunicator */
    struct team team;     /* an intercommunicator's team is the union of both groups */
    struct group *group;  /* mine */
    struct group *remote; /* the other one; NULL for an intracommunicator */
    struct errhandler *errhandler;
    struct attributes *attributes;   /* NULL: none */
    struct topology *topology;       /* NULL: none */
    struct info *info;               /* hints; NULL: none */
    struct stream *stream;           /* of a device; NULL: none */
    struct pool *pool;               /* the buffer attached; NULL: none */
    struct again *again[COMM_AGAIN]; /* calls that come again, or NULL (src/again.h) */
    uint32_t session;                /* see struct group */
    bool freed;                      /* the user's handle is gone; requests may still hold it */
    int orphans;                     /* operations under way that nobody waits for */
    char name[MPI_MAX_OBJECT_NAME];
};

/* Behind MPI_COMM_WORLD, MPI_COMM_SELF. */
extern struct comm comm_world __attribute__((visibility("hidden")));
extern struct comm comm_self __attribute__((visibility("hidden")));

/* The two come and go with the library. */
int world_open(void);
void world_close(void);

/* For the flight recorder: the name of the communicator whose messages have this context, or
 * those of whose collectives. */
bool comm_name_of(uint64_t context, char *name, size_t room);

/* What MPI_Finalize does first: the delete functions of MPI_COMM_SELF's attributes, last set
 * first, then MPI_COMM_WORLD's.  They may still communicate. */
int world_delete_attributes(void);

/* After MPI_Finalize errors go to the initial handler again (MPI 5.0, 9.3). */
void world_forget_handlers(void);

static inline int comm_rank(const struct comm *comm);
static inline int comm_size(const struct comm *comm);        /* of the local group */
static inline int comm_remote_size(const struct comm *comm); /* = comm_size when intra */
static inline bool comm_is_inter(const struct comm *comm)
{
    return comm->remote != NULL;
}

/* What the user holds; MPI_COMM_NULL for NULL. */
MPI_Comm comm_handle(const struct comm *comm);

/* Make a communicator over `group` (I am member `rank`).  Collective over the members only in so
 * far as all need the same ticket: the caller has drawn and distributed it.  Takes a reference of
 * the groups and of the error handler of `like` (NULL: the initial one). */
int comm_new(struct comm **comm, const struct ticket *ticket, struct group *group,
             struct group *remote, const struct comm *like);

/* The same in memory that is there already (the world, SELF; refs is left as it is). */
int comm_open(struct comm *comm, const struct ticket *ticket, struct group *group,
              struct group *remote, const struct comm *like);
void comm_close(struct comm *comm);

/* Give a duplicate of `old` what it has beside the groups; `info` are its hints.  On failure
 * comm_undress takes off what is there. */
int comm_dress(struct comm *made, struct comm *old, const struct info *info);
void comm_undress(struct comm *comm);

/* Nothing is kept of calls that come again (src/again.h). */
void again_forget(struct comm *comm);

/* Communicators hold the stream that they have (src/task.h); NULL is fine. */
void stream_drop(struct stream *stream);

/* The end of its attached buffer, or NULL; the messages in it have kept the communicator till now
 * (src/bsend.c). */
void bsend_close(struct pool *pool);

/* Drop a reference; the last one closes channel and team. */
void comm_dispose(struct comm *comm);
static inline void comm_release(struct comm *comm)
{
    if (__builtin_expect(object_drop(comm), 0))
        comm_dispose(comm);
}

/* Keep of `info` what a communicator understands as a hint. */
int comm_take_hints(struct comm *comm, const struct info *info);

/* Hints and error handler for a communicator that has no parent to inherit from; it is released
 * on failure. */
int comm_adopt(struct comm **comm, const struct info *info, struct errhandler *errhandler);

/* A communicator of the subgroup, whose members are the only ones to take part: *newcomm is NULL
 * for others.  `step` (enum context_step) and `tag` keep concurrent calls apart. */
int comm_of_group(struct comm *parent, struct group *group, int tag, uint32_t step,
                  struct comm **newcomm);

/* The same, where all of the parent call, of whatever group. */
int comm_of_part(struct comm *parent, struct group *group, uint32_t step,
                 struct comm **newcomm);

/* The end of a joining (coll/tell.h) that has made this one, or NULL: with an error there is none. */
struct joining;
int comm_joined(const struct joining *joining, int rc, struct comm **newcomm);

/* The end of each function that makes communicators on `parent` and that all there call: with `rc`, and with
 * *newcomm or NULL if that is 0.  Who has no memory for it tells the others.  `before`: parent->team.calls when
 * it began. */
int comm_made(struct comm *parent, uint32_t before, int rc, struct comm **newcomm);

#include "src/group.h"

static inline int comm_rank(const struct comm *comm)
{
    return comm->p2p.rank;
}

static inline int comm_size(const struct comm *comm)
{
    return comm->group->ranks->n;
}

static inline int comm_remote_size(const struct comm *comm)
{
    return comm->p2p.size;
}

/* ---- who looks at what in a rooted collective (NULL: nobody) ---- */
static inline bool is_root(const struct comm *comm, int root)
{
    return comm && root == (comm_is_inter(comm) ? MPI_ROOT : comm_rank(comm));
}

/* In the root's group of an intercommunicator, and not the root. */
static inline bool is_bystander(const struct comm *comm, int root)
{
    return comm && comm_is_inter(comm) && root == MPI_PROC_NULL;
}

/* Has a block of its own: everybody, but not the root's group of an intercommunicator. */
static inline bool is_leaf(const struct comm *comm, int root)
{
    return comm && !(comm_is_inter(comm) && root < 0);
}

#endif
