/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names and numbers in short: "n[1-3,07]" and "2(x3),1", as host files and batch systems write
 * them.
 */
#ifndef XMPI_LAUNCHER_RANGES_H
#define XMPI_LAUNCHER_RANGES_H

enum { RANGES_MOST = 1 << 20 }; /* the largest number of slots */

/* The names of a list, in order, each handed to `take` in memory that is only valid for the call;
 * what is not 0 from it ends the walk.  Commas outside of brackets separate, and blanks around them are
 * nothing; several brackets in a name give all combinations, the last one running fastest; leading zeros
 * are kept; brackets with a colon in them hold an IPv6 address.
 * 0, what `take` returned, or -1 with *why in words. */
int ranges_walk(const char *text, int (*take)(void *to, char *name), void *to,
                const char **why);

/* "2(x3),1" is 2 2 2 1: at most `most` positive numbers into `numbers`.  How many; -1 when the text
 * is not of this form. */
int ranges_counts(const char *text, int *numbers, int most);

#endif
