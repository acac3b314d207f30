/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the bytes of long messages cost the processors: the time of the copies alone, where ranks share processors as
 * that of a message is mostly turns of others, and elsewhere what the sender's copy adds to it (trip.c).  Pure: knows
 * nothing of peers and links, only lengths and times.
 */
#ifndef XMPI_TOLL_H
#define XMPI_TOLL_H

#include <stddef.h>
#include <stdint.h>

enum toll {
    TOLL_OUT, /* copied to the link, */
    TOLL_IN,  /* and from there; pieces of any message of more than WAY_SHORT bytes */
    TOLL_READ /* the sender's memory was read: a whole message */
};

void tolls_open(void); /* forget everything */

/* So many bytes have cost so much; any unit, the same for all. */
void toll_paid(enum toll toll, size_t bytes, uint64_t ticks);

/* What copying so many bytes out costs; 0 before the first was. */
uint64_t toll_of_out(size_t bytes);

/* For which lengths up to 64 KiB is reading dearer than two copies?  Bits of way_bit; none before enough of both is known.
 * Who has only read so far is to be sent copies: else it would never know. */
uint32_t tolls_dear(void);

#endif
