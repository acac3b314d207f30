/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Algorithms that users wrote (script.h): loaded at run time, known by name, verified before use.
 */
#ifndef XMPI_OWN_H
#define XMPI_OWN_H

#include "coll/rules.h"

/* Load a file, once, whatever path it has; its algorithms are known from then on.  MPI_ERR_OTHER with
 * file:line when it cannot be read, or one has a name that another one or the library's has. */
int own_load(const char *path);

/* NULL: there is none of that name.  XMPI_PLAN is read when first asked. */
const struct algorithm *own_find(enum collective what, const char *name);

/* The i-th of those that are known, NULL after the last; likewise. */
const struct algorithm *own_each(int i);

/* What is wrong with XMPI_PLAN; "": nothing.  Whoever takes an algorithm by its name asks first. */
const char *own_complaint(void);

/* "rank 2 step 5: ..." of a verdict on all ranks, in place or not, gets the line that wrote the step; 0: it
 * names none. */
int own_line(const struct algorithm *algorithm, const struct plan_key *key, bool in_place,
             const char *verdict);

/* Why a require of its text leaves out p ranks, with file:line:column, until it is asked of others; NULL:
 * none does, or it is the library's.  The same on every rank. */
const char *own_objection(const struct algorithm *algorithm, int p);

/* Is the plan of this key right, on all ranks, in place and not?  The symbolic verifier (check.h)
 * says so once; answers are kept.  MPI_ERR_OTHER with file:line, rank and step when it is wrong, or
 * too long to verify. */
int own_verify(const struct algorithm *algorithm, const struct plan_key *key);

#endif
