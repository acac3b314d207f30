/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two tables: the algorithms there are, and the rules by which one is chosen.
 */
#ifndef XMPI_RULES_H
#define XMPI_RULES_H

#include "coll/call.h"
#include "coll/plan.h"

enum need {
    NEEDS_NOTHING,
    NEEDS_EVEN, /* an even number of ranks */
    NEEDS_POWER_OF_2,
    NEEDS_PLACES, /* ranks that are known to lie apart */
};

struct algorithm {
    enum collective what;
    const char *name;
    program *program; /* NULL: no plan, but coll/tiny.c or coll/attach.c */
    bool ordered;     /* folds in rank order: serves operations that do not commute */
    bool inter;       /* between the groups of an intercommunicator, and only there */
    bool pipelines;   /* in pieces it may be faster, so the model looks in how many */
    bool never_cut;   /* there is nothing to cut, or two ends would cut it differently */
    bool sized;       /* passes on blocks that differ, whose sizes go first (sized.c) */
    bool attaches;    /* is coll/attach.c */
    int radix;        /* has a radix, which is this unless somebody asks for another; 0: none */
    enum need needs;  /* what it cannot do without */
    const struct script *script; /* a user's own (own.h); NULL: the library's */
};

extern const struct algorithm algorithms[]; /* ends with name NULL */

/* May it be cut in pieces? */
static inline bool algorithm_cuts(const struct algorithm *a)
{
    return a->program && !a->never_cut;
}

/* Why it cannot work on p ranks in these places; NULL: it can. */
const char *algorithm_objection(const struct algorithm *algorithm, int p,
                                const struct places *places);

/* The numbers of ranks next to these, which it cannot work on, that it can: "4 or 8"; "" where that is not
 * a matter of numbers. */
void algorithm_ranks_near(const struct algorithm *algorithm, int from, int to, char *text,
                          size_t size);

struct reach { /* from <= x <= to */
    size_t from, to;
};

/* Of a rule, where to = 0 is not written. */
static inline bool rule_reaches(size_t x, struct reach reach)
{
    return x >= reach.from && (reach.to == 0 || x <= reach.to);
}

/* First match wins.  A member that is not written matches everything. */
struct rule {
    bool ordered;  /* only if the operation does not commute */
    bool one_node; /* only if all ranks share memory */
    bool crowded;  /* only if they share memory and are more than the CPUs */
    bool away; /* only if attach found that somebody's device folds: few steps, and no pieces */
    int reads; /* enum reading: only if they share memory, and read others' so well or better */
    struct reach bytes, ranks;
    const char *use; /* name of an algorithm; NULL ends a list */
    size_t piece;    /* cut in pieces of about so many bytes; 0 = whole */
};

enum { MOST_RULES = 16 }; /* in a list */

/* The rules of a collective, within a communicator or between groups. */
const struct rule *rules_of(enum collective what, bool inter);

struct node_kind { /* what rules ask of a team of one node */
    int ranks;
    bool crowded;
    int reading;
};

/* The lengths that the rules of a collective leave to "attach" there; none: from SIZE_MAX on. */
struct reach rules_attach(enum collective what, struct node_kind node);

/* "allreduce", ... */
const char *collective_name(enum collective what);

#endif
