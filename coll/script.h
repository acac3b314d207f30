/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Algorithms as text, for those who write their own.  One for any number of ranks:
 *
 *     algorithm my-ring for allreduce cut       # cut: may be cut in pieces; ordered: folds in rank
 *     blocks in p out p tmp 0                   # order.  Blocks of each room, as in coll/plan.h
 *     let right = (me + 1) mod p
 *     for hop in 0 .. p - 2 {
 *         let give = (me - hop) mod p
 *         if hop == 0 { send in[give] -> right } else { send out[give] -> right }
 *         fold out[(give - 1) mod p] in[(give - 1) mod p] <- (me - 1) mod p first
 *     }
 *     ...
 *
 *     send SPAN -> RANK          recv SPAN <- RANK          fold TO WITH <- RANK first|last
 *     copy TO FROM               join TO ADD first|last
 *     require NUMBER    must not be 0, or the algorithm does not serve: require p == 8
 *     call COLLECTIVE NAME (FIRST, COUNT, STRIDE, ROOT) in SPAN out SPAN tmp SPAN
 *          an algorithm of the library as a step, by COUNT ranks FIRST, FIRST + STRIDE, ...
 *
 * A step waits for those before it that touch a block in common, one of the two writing.  All must go on in
 * program order, too, where sends are over at once (who receives before he sends has to be sent to) and where
 * they are over when they are taken.  The blocks of a barrier, of tmp, have no bytes: which steps wait for which is
 * all that counts.
 *
 *     SPAN     in[3]  out[a .. b]  tmp[0]       b included; nothing when b < a
 *     numbers  me, p, root, names of let and for, + - * / mod << xor, == != < <= > >= and or not,
 *              min(a, b), max(a, b), log2(a) rounded up
 *     names    letters, digits, _ and - before a letter, so a difference is a - b, with blanks
 */
#ifndef XMPI_SCRIPT_H
#define XMPI_SCRIPT_H

#include "coll/plan.h"
#include "coll/rules.h"

enum { SCRIPT_WHY = 400 };

struct word;
struct script {
    char *path, *text;  /* of the whole file, shared by its scripts; the first one owns them */
    struct word *words; /* of the whole file, likewise */
    int body, line;     /* first word behind the head; where it begins */
    char name[48];
    enum collective what;
    bool ordered, cut;
    bool scratch; /* it has blocks of tmp */
};

/* Read a file of scripts, at most `most`.  *n: how many.  MPI_ERR_OTHER with file:line:column and
 * what was expected. */
int script_read(const char *path, struct script *scripts, int most, int *n);

/* A struct plan's program: performs plan->key.script.  Mistakes that show only now (a rank or block
 * that does not exist) become plan->error, with file:line:column. */
void script_program(struct plan *plan, int me, int p);

/* The line that wrote step `step` of the plan of this key, 0: unknown. */
int script_line(const struct plan_key *key, int step);

/* Does a require of the script leave out the ranks of this key?  Then `why` says which. */
bool script_excludes(const struct plan_key *key, char why[SCRIPT_WHY]);

#endif
