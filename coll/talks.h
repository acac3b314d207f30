/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How many messages a rank has sent to and taken from each of its peers: what numbers them.
 * A table by peer that grows with the peers, not with the ranks or the messages.
 */
#ifndef XMPI_COLL_TALKS_H
#define XMPI_COLL_TALKS_H

#include <stdbool.h>
#include <stdint.h>

struct talk {     /* with one peer */
    int32_t peer; /* + 1; 0: nobody */
    uint32_t sent, got;
};

struct talks { /* all zero: nobody has said anything */
    struct talk *talk;
    uint32_t size, peers; /* size: a power of two, at most half full */
};

/* With this peer; NULL: there is no memory. */
struct talk *talk_with(struct talks *talks, int peer);
void talks_close(struct talks *talks);

#endif
