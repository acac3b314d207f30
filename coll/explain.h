/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Why an algorithm was chosen and the others were not, in words: for XMPI_EXPLAIN and for the command
 * `xmpi explain`.
 */
#ifndef XMPI_EXPLAIN_H
#define XMPI_EXPLAIN_H

#include "coll/choose.h"

#include <stdio.h>

/* What a user wrote is refused by the call that would perform it if it is wrong.  0, or that error. */
int explain_check(const struct question *question, const struct choice *choice);

/* The question, the choice, its reason, and every other algorithm of the collective with the reason
 * why it lost; `amount` stands for the bytes where the question does not know them, "" otherwise. */
void explain_text(FILE *f, const struct question *question, const struct choice *choice,
                  const char *amount);

#endif
