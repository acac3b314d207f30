/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A collective, written down before it is performed.
 *
 * A program is a pure function of (me, p) and of the plan's root, split, radix, neighbours or
 * places.  It touches no memory, counts, datatypes or wires; it writes down what rank `me` of `p`
 * does, in a few verbs over blocks.  Blocks have no size and no address: coll/bind.c gives them
 * both, so one program serves every count, datatype and buffer, and the v and w forms too.
 *
 * Program order is the meaning.  Dependencies are never written: plan_infer infers them as a
 * processor infers hazards, block by block.  The messages of each pair are numbered, so that they
 * match whatever order they become ready in.
 *
 * An algorithm includes coll/algorithms.h, which brings this header, and no other one of the house.
 */
#ifndef XMPI_PLAN_H
#define XMPI_PLAN_H

#include "coll/neighbours.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum verb {
    VERB_SEND, /* give `from` to the peer */
    VERB_RECV, /* take `to` from the peer */
    VERB_FOLD, /* take from the peer and combine: to = incoming op from, or from op incoming */
    VERB_COPY, /* to = from, inside the rank */
    VERB_JOIN, /* to = to op from, or from op to, inside the rank */
};

/* What a plan may name: the caller's two buffers and scratch.  IN is never written. */
enum room { ROOM_IN, ROOM_OUT, ROOM_TMP, ROOMS };

/* As texts call it. */
static inline const char *room_name(int room)
{
    return room == ROOM_IN ? "in" : room == ROOM_OUT ? "out" : "tmp";
}

enum side { INCOMING_FIRST, INCOMING_LAST }; /* joins: what is added comes first, or last */

/* Blocks first .. first + n - 1 of a room. */
struct span {
    int32_t room, first, n;
};

struct step {
    uint8_t verb, side;
    int32_t peer;
    uint32_t slot; /* n-th message from the sender to the receiver */
    struct span to, from;
    int32_t nwait;             /* steps this one waits for */
    int32_t first_next, nnext; /* plan->next[]: the steps that wait for this one */
};

static inline bool spans_overlap(struct span a, struct span b)
{
    return a.n && b.n && a.room == b.room && a.first < b.first + b.n && b.first < a.first + a.n;
}

/* Steps of one rank alone; the others are messages. */
static inline bool step_is_local(const struct step *step)
{
    return step->verb >= VERB_COPY;
}

/* In place means that blocks of IN are blocks of OUT.  The translation happens in one function
 * (plan_aliased, which plan_emit calls); programs do not know about it. */
enum alias {
    ALIAS_NONE,
    ALIAS_SAME,  /* IN[b] is OUT[b]: reductions */
    ALIAS_MINE,  /* IN[0] is OUT[me]: gather at the root, allgather */
    ALIAS_INPUT, /* OUT[0] is IN[me]: scatter at the root */
};

/* Which ranks of a team share a cache, a node, a switch.  A group is called by its lowest rank.
 *
 *     level 0    00004444      ranks 0 to 3 share a node: the outermost groups
 *     level 1    00224466      ranks 0 and 1 share a cache, 2 and 3, ...
 *
 * Groups of a level lie inside groups of the level before; groups need not be equally large, nor
 * their ranks consecutive.  The same on all ranks of the team. */
enum { PLACES_LEVELS = 4 };
struct places {
    int levels;                      /* >= 1 */
    int shared;                      /* by how many teams beside the first (coll/places.h) */
    const int *first[PLACES_LEVELS]; /* of the group of each rank: its lowest rank */
    int each[PLACES_LEVELS]; /* groups are so many ranks one behind the other, the last perhaps
                              * fewer; each[0] is 0 where those of some level are others */
};

/* What distinguishes two plans of one program on one team. */
struct plan_key {
    int me, size;
    int root;  /* rooted collectives: a rank; 0 otherwise */
    int split; /* intercommunicators: ranks below it are the first group; 0 otherwise */
    enum alias alias;
    int pieces; /* every block is cut in so many, for pipelining; >= 1 */
    int radix;  /* of programs that have one: how many ways a tree or a round splits; else 0 */
    int throttle; /* at most so many sends at a time, and as many receives; 0: as the program says */
    const struct neighbours *neighbours; /* neighbourhood collectives; the team's, else NULL */
    const struct places *places;         /* where ranks are; the team's, NULL: all together */
    const struct script *script;         /* of a user's own algorithm (script.h), else NULL */
};

struct plan {
    struct plan_key key;
    int root, split, radix; /* the key's, for programs */
    const struct neighbours *neighbours;
    const struct places *places;
    int nblocks[ROOMS];
    struct step *step;
    int nsteps, cap;
    int32_t *next;
    struct roll *roll; /* NULL, or the steps are here instead: see plan_keep */
    int nnext;
    int *member;      /* see plan_members */
    int nfolds, most; /* folds; most blocks in one message */
    int most_steps;   /* more are an error, 0: as many as there is memory for */
    int roll_after;   /* steps from which on it is rolled up if it may be; 0: never */
    bool rolls;     /* may be: steps are written down in about the order of their performance */
    int in_flight;  /* at most so many sends at a time, and as many receives; 0: all at once */
    bool by_rounds; /* then a send also waits for a receive, and a receive for a send */
    bool collects;  /* a tree that collects: on no rank does a fold wait for a send */
    int error;      /* an MPI error class once memory ran out; later verbs do nothing */
};

typedef void program(struct plan *plan, int me, int p);

/* ---- for programs ---- */

static inline int mod(int a, int p)
{
    int r = a % p;
    return r < 0 ? r + p : r;
}
static inline int least(int a, int b)
{
    return a < b ? a : b;
}
static inline int plan_radix(const struct plan *plan)
{
    return plan->radix > 2 ? plan->radix : 2;
}
static inline struct span in(int first, int n)
{
    return (struct span){ ROOM_IN, first, n };
}
static inline struct span out(int first, int n)
{
    return (struct span){ ROOM_OUT, first, n };
}
static inline struct span tmp(int first, int n)
{
    return (struct span){ ROOM_TMP, first, n };
}
static inline struct span blocks(enum room room, int first, int n)
{
    return (struct span){ (int32_t)room, first, n };
}

/* How many blocks the program cuts each room in.  The first thing a program says. */
void plan_rooms(struct plan *plan, int nin, int nout, int ntmp);

/* The verbs.  Spans of no blocks write nothing down. */
void plan_send(struct plan *plan, int to, struct span from);
void plan_recv(struct plan *plan, int from, struct span to);
void plan_fold(struct plan *plan, int from, struct span to, struct span with, enum side side);
void plan_copy(struct plan *plan, struct span to, struct span from);
void plan_join(struct plan *plan, struct span to, struct span add, enum side side);

/* Some of the plan's ranks: first, first + stride, ..., or those listed; I am member `me`. */
struct group {
    int first, stride, n, me, root, radix;
    const int *member;
    int deputy; /* + 1: whatever is said above member `root` is this rank; 0: it is not */
};
/* Memory for a list of n members, until the next call of this or the end of the program.  NULL:
 * there is none, and the plan is broken. */
int *plan_members(struct plan *plan, int n);

struct homes { /* where the called program's rooms lie in the caller's */
    struct span in, out, tmp;
};
/* Another program as a step: its ranks become the group's, its blocks are cut from the homes. */
void plan_call(struct plan *plan, const struct group *group, const struct homes *homes,
               program *f);

/* Whole programs made of an allgather or bcast without scratch, turned round so that it collects
 * (mirror.c): of an allgather a reduce_scatter, of a bcast of so many blocks a reduce, of either an
 * allreduce.  A program for plan_mirror_all or plan_mirror_hand_over may begin with any block, another one
 * on each rank; of a reduce_scatter this rank then hands the sum of block `kept` to rank `kept`, and gets
 * its own from `keeper`. */
void plan_mirror_scatter(struct plan *plan, int me, int p, program *f);
void plan_mirror_hand_over(struct plan *plan, int p, int kept, int keeper, program *f);
void plan_mirror_all(struct plan *plan, int me, int nblocks, program *f);
void plan_mirror_root(struct plan *plan, int me, int nblocks, program *f);

/* n blocks from `first` on, counted modulo p: what lies before the end and what wraps round.
 * Both ends of a message cut it alike. */
struct wrapped {
    struct span part[2];
};
static inline struct wrapped wrap(enum room room, int first, int n, int p)
{
    int start = mod(first, p), here = least(n, p - start);
    return (struct wrapped){ { blocks(room, start, here), blocks(room, 0, n - here) } };
}

/* ---- for everybody else ---- */

/* Run the program for the key, cut in pieces, infer hazards.  0, MPI_ERR_NO_MEM, or MPI_ERR_INTERN where
 * the program names blocks that are not there; the plan is to be freed either way. */
int plan_make(struct plan *plan, const struct plan_key *key, program *f);

/* As plan_make, for a plan that is performed and kept: where it is long and regular it is rolled up
 * (roll.h), steps are asked for one by one, and what waits for what is not in it. */
int plan_keep(struct plan *plan, const struct plan_key *key, program *f);

/* Step i of any plan; `space` is for one that is rolled up. */
struct step roll_step(const struct plan *plan, int i);
static inline const struct step *plan_step(const struct plan *plan, int i, struct step *space)
{
    if (!plan->roll)
        return &plan->step[i];
    *space = roll_step(plan, i);
    return space;
}

/* Bytes that the plan takes. */
size_t plan_bytes(const struct plan *plan);

void plan_free(struct plan *plan);

/* Append a step; the alias is applied here (plan.c, for shape.c). */
void plan_emit(struct plan *plan, const struct step *step);

/* Where a span is once the alias is applied. */
struct span plan_aliased(const struct plan *plan, struct span span);

/* Number the message of a step among those with its peer, and note what the executor wants to know; local
 * steps have neither.  A step that names blocks that are not there breaks the plan (plan.c, for roll.c). */
struct talks;
void plan_number(struct plan *plan, struct talks *talks, struct step *step);

/* Notes that memory is out, unless something else was first; plan->error (plan.c). */
int plan_no_memory(struct plan *plan);

/* Cut every block in k and every step, its message numbered, with it (shape.c). */
void plan_segment(struct plan *plan, int k);

/* Which step of a plan that is not cut becomes step i when it is cut in k (shape.c). */
int plan_uncut(const struct plan *plan, int k, int i);

/* Infer dependencies (plan.c).  plan_make calls it. */
void plan_infer(struct plan *plan);

/* One line per step, of a plan that is rolled up one per step of a loop; to be freed by the caller,
 * NULL when memory is out (text.c). */
char *plan_text(const struct plan *plan);

#endif
