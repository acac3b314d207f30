/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a collective has to do, in symbols: which buffers a rank has, how they are cut, and what
 * must be in them afterwards.  For check.c.
 *
 * A symbol is a fingerprint of the ordered list of contributions in it: (hash, B^length) in the
 * integers modulo 2^61 - 1, where joining two lists is associative and does not commute, so a
 * wrong order, a missing, a doubled and a foreign contribution all show.  Beside it go a plain
 * sum, for algorithms that may fold in any order, and a hash of the tree of operations, which
 * tells whether two sums have the same bits.  B^0 = 0 marks a unit that nobody wrote.
 */
#ifndef XMPI_CHECK_LAW_H
#define XMPI_CHECK_LAW_H

#include "coll/check.h"

struct symbol {
    uint64_t hash, weight, sum, tree;
};

/* The contribution of a rank to a unit; `salt` differs from run to run. */
struct symbol symbol_atom(uint64_t salt, int rank, int unit);
struct symbol symbol_join(struct symbol a, struct symbol b);

struct sum_so_far { /* of ranks first .. first + n - 1 */
    int first, n;
    struct symbol symbol;
};

struct law {
    const struct world *world;
    uint64_t salt;
    struct sum_so_far *sum; /* of each unit of the vector, so that none is made twice */
    int nsums;
};

bool law_in_place(const struct world *w, int r);
bool law_has_room(const struct world *w, int r, enum room room);

/* What is wrong with the numbers of blocks that rank r cuts its rooms in, where rank 0 has those of `first`; NULL:
 * nothing that can be seen so. */
const char *law_complaint(const struct world *w, int r, const int *nblocks, const int *first);

/* How many blocks the standard gives a room, in pieces; 0 = the program may choose. */
int law_blocks(const struct world *w, int r, enum room room);

/* May blocks of OUT be of different length, so that each may only hold what belongs there?  (In reductions,
 * where they may, too, parts of the vector are compared: part_of in check.c.) */
bool law_has_lengths(const struct world *w);

/* Units in a block.  One, but where it cuts blocks: the differing cuts of an intercommunicator. */
bool law_cuts_blocks(const struct world *w);
int law_units(const struct world *w, int r, enum room room, int block);

/* What unit u of rank r's OUT should be.  False: anything. */
bool law_expected(struct law *law, int r, int u, struct symbol *s);

/* Is this what the law wants, as far as the algorithm promises? */
bool law_same(const struct world *w, struct symbol got, struct symbol want);

/* Does every step wait for all that it has to?  If not, *waits should for *for_step, which is left as
 * it is when there is no memory to find out. */
bool check_hazards(const struct plan *plan, int *waits, int *for_step);

#endif
