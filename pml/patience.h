/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How long a message that no receive wants yet may stay in the memory of its link.
 *
 * There it costs nothing, holds up its sender when that has used up what it may, and goes straight to the
 * buffer of its receive; taken out it is copied once more, into memory that has no bound.  But it is in the way
 * of what the same sender has sent after it, and that may be what is waited for.  So it stays as long as there is
 * something else to do, and for a few rounds in which there is not: the more of them, the more has been taken
 * already, and then few at a time; but all, when it comes to sleeping.
 *
 *     a root that receives from many, of which one is late: the others are some chunks ahead, not more
 *     a receive for the last of 60 messages of one sender: the others are taken as soon as nothing else moves
 */
#ifndef XMPI_PATIENCE_H
#define XMPI_PATIENCE_H

#include <limits.h>
#include <stdbool.h>

enum { PATIENCE_ALL = INT_MAX };

/* How many such messages may be taken from each sender in the round that begins. */
int patience_allows(void);

/* The round is over: it took nothing, and something has stayed that could be taken. */
void patience_round(bool only_stayed);

/* Whatever is here is to be taken, until patience_regain: somebody asks what is here. */
void patience_lose(void);
void patience_regain(void);

#endif
