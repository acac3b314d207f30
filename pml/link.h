/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a link must offer: a way to carry packets to some peers, in order, and to hand arriving
 * packets to pml_arrived.  Links know nothing of matching, requests or datatypes beyond moving
 * the bytes of a struct buffer.
 */
#ifndef XMPI_LINK_H
#define XMPI_LINK_H

#include "pml/wire.h"
#include "runtime/layout.h"

struct link {
    const char *name; /* "self", "shm", "ofi" */

    /* Can this link reach the world rank?  Called once per peer, before the first packet. */
    bool (*reaches)(int world);

    /* Most payload bytes a single packet can carry to a peer. */
    size_t packet_bytes;

    /* Send one packet: header and `bytes` of payload starting at packed offset `skip` of data.
     * Copies; on return the memory may be reused.  False: no room now, try after progress.
     * Never blocks, never calls back. */
    bool (*put)(int world, const struct wire *header, const struct buffer *data, size_t skip,
                size_t bytes);

    /* Take what has arrived and call pml_arrived for each packet, in order per peer.  Returns
     * the number of packets; bounded work. */
    int (*poll)(void);

    int (*open)(void); /* MPI error class */
    void (*close)(void);
};

extern const struct link link_self, link_shm;

/* Called by links.  `payload` (header->bytes of it) is valid during the call only. */
void pml_arrived(int world, const struct wire *header, const char *payload);

#endif
