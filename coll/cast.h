/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plans of all ranks of one collective, ready to be counted or performed on a model.
 *
 * Ranks become actors, steps become acts: bytes instead of blocks, and each message knows the act
 * at its other end.  Where all ranks do alike, one role serves all, and an actor stands for many
 * ranks:
 *
 *     SHIFT   the peer of rank r is r + d, for all r: rings, Bruck, spread, dissemination
 *     FLIP    the peer of rank r is r xor m: doubling, halving
 *
 * Actor a of n then is rank a, and ranks a + n, a + 2n, ... (FLIP: all that differ from a in bits
 * above n) do at any time what it does.  That all ranks do alike is tested, not assumed: on all of
 * them when they are few, else on a sample that contains the first, the last and the middle.
 */
#ifndef XMPI_CAST_H
#define XMPI_CAST_H

#include "coll/price.h"

enum symmetry { SYMMETRY_NONE, SYMMETRY_SHIFT, SYMMETRY_FLIP };

struct act {
    uint8_t verb;
    uint8_t
        parts; /* messages it is in truth: ranges that wrap go in two; with symmetry the most of any rank */
    bool
        turns; /* with symmetry: rank r's range begins r blocks further on, so on some it wraps */
    int32_t peer; /* a rank; with symmetry what is added, or the bits that differ; -1: none */
    int32_t partner; /* the act at the other end */
    int32_t nwait, first_next, nnext;
    int32_t first,
        blocks; /* of its range; first -1: in a room that is not one block per rank */
    double bytes;
};

struct role {
    struct act *act;
    int nacts;
    int32_t *next;
    double scratch; /* bytes of TMP */
};

struct cast {
    int p, nactors;
    enum symmetry symmetry;
    struct places places; /* of the query's seats */
    int *group;
    struct role *role; /* one with symmetry, else one per actor */
    int nroles;
    int64_t acts;   /* of all actors */
    double touched; /* blocks that the steps of the plans made so far read or write */
};

/* How ranks may be grouped without changing anything: into actors of `shift` or `flip` ranks.  0:
 * not at all. */
struct grouping {
    int shift, flip;
};

/* Why this has no price; 0: it may have one. */
int cast_objection(const struct price_query *query);

/* `scale` is how many ranks the collective has for each of the query's p: 1, or more when a small
 * one is performed in place of a large one, whose blocks it then has.  0, MPI_ERR_NO_MEM, or
 * MPI_ERR_UNSUPPORTED_OPERATION (price.h), also where all actors together have more than `most` acts,
 * with 0 where they have any.  To be closed either way. */
int cast_open(struct cast *cast, const struct price_query *query, double scale,
              struct grouping grouping, size_t most);
/* The same of ranks that all do alike, however many acts they have; MPI_ERR_UNSUPPORTED_OPERATION also where they do
 * not. */
int cast_open_alike(struct cast *cast, const struct price_query *query, double scale,
                    struct grouping grouping);
void cast_close(struct cast *cast);

/* Does a small one tell what a large one does?  Two groups, tori, what is performed twice and what is
 * throttled are looked at as they are. */
static inline bool cast_scales(const struct price_query *query)
{
    const struct algorithm *a = query->algorithm;
    return !a->inter && !a->sized && !is_neighbourhood(a->what) && !query->throttle;
}

/* ---- one role (role.c) ---- */

/* Of rank `me`, its peers absolute, its messages without their other ends; blocks as in cast_open.  0 or an error of
 * making the plan; what it is counts in cast->touched.  To be freed after 0. */
int role_make(struct cast *cast, const struct price_query *query, double scale, int me,
              struct role *role);
void role_free(struct role *role);

/* The plan of a rank. */
struct plan_key cast_key(const struct cast *cast, const struct price_query *query, int me);

/* Where it goes along edges, those of the key's rank, to be freed when the plan is; else NULL.  False: no memory. */
bool cast_edges(const struct price_query *query, struct plan_key *key,
                struct neighbours **near);

/* MPI_ERR_NO_MEM, with a text. */
int cast_no_memory(const struct cast *cast);

/* What is performed twice, first with sizes in place of blocks (twice.c).  False: no memory; to be freed
 * either way. */
bool role_twice(const struct role *sizes, const struct role *blocks, struct role *both);

/* The role of rank 0 alone, its peers absolute, its messages without their other ends. */
int cast_first(struct cast *cast, const struct price_query *query);

static inline const struct role *cast_role(const struct cast *cast, int actor)
{
    return &cast->role[cast->symmetry ? 0 : actor];
}

/* The rank at the other end of an actor's act. */
static inline int cast_peer(const struct cast *cast, int actor, const struct act *act)
{
    switch (cast->symmetry) {
    case SYMMETRY_SHIFT:
        return mod(actor + act->peer, cast->p);
    case SYMMETRY_FLIP:
        return actor ^ act->peer;
    default:
        return act->peer;
    }
}

#endif
