/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The header of every packet, on every link.  48 bytes on a network; a ring slot in shared
 * memory carries the same fields in its first 36 (and `request`, `total` only where they say
 * something).
 *
 *   EAGER    a message: all of it, or its first piece when bytes < total
 *   MORE     the next piece of the EAGER message that this peer began last
 *   RTS      asks to send `total` bytes; carries the first piece, or says where they lie;
 *            request = sender's
 *   CTS      the receiver matched it: request = sender's, peer_request = receiver's,
 *            total = bytes it wants (the first piece included); no more than it has: all is done
 *   DATA     a further piece; total = its offset; request = receiver's
 *   WROTE    the sender has written `total` further bytes itself; 0: it cannot; request = receiver's
 *   ACK      a synchronous send was matched; request = sender's
 *   CANCEL     drop the message with this request and context, if nothing has matched it
 *   CANCELLED  it was dropped; request = sender's
 *
 *   WITHDRAWN  it was given up because a process was lost; request = receiver's
 *
 * Besides these EAGER and RTS say context, source, tag, step and signature, CANCEL its context, the others
 * nothing.  `bytes` is the payload of EAGER, MORE, RTS, DATA, and of a CTS that is a wire_grant.
 */
#ifndef XMPI_WIRE_H
#define XMPI_WIRE_H

#include <stddef.h>
#include <stdint.h>

enum wire_kind {
    WIRE_EAGER = 1,
    WIRE_MORE,
    WIRE_RTS,
    WIRE_CTS,
    WIRE_DATA,
    WIRE_WROTE,
    WIRE_ACK,
    WIRE_CANCEL,
    WIRE_CANCELLED,
    WIRE_WITHDRAWN
};
enum wire_flag {
    WIRE_SYNC = 1,    /* EAGER that wants an ACK */
    WIRE_PLAIN = 2,   /* EAGER, RTS: the data are one piece of memory */
    WIRE_ADDRESS = 4, /* RTS: the payload is their address, 8 bytes.  CTS: it is a wire_grant */
    WIRE_DEVICE = 8   /* RTS: the payload is a struct gpu_share */
};

/* The sender may write into the receiver's memory. */
struct wire_grant {
    uint64_t address;
    uint32_t generation, word; /* of claims */
};

struct wire {
    uint8_t kind, flags;
    uint16_t pad;    /* 0 */
    uint32_t source; /* sender's rank on the channel */
    uint64_t context;
    int32_t tag;
    uint32_t step; /* step of a plan, 0 for point-to-point */
    union {
        uint32_t signature;    /* what the sender thinks this message is; 0 = not said */
        uint32_t peer_request; /* CTS */
    };
    uint32_t sequence; /* of a frame to this peer, on a network (ofi); else 0 */
    uint32_t bytes;    /* payload in this packet */
    uint32_t request;  /* id of the sender's (RTS, CTS, ACK, wish for an ACK) or the receiver's
                          request (DATA) */
    uint64_t total; /* bytes of the whole message (EAGER, RTS), wanted (CTS), offset (DATA) */
};
_Static_assert(sizeof(struct wire) == 48, "the wire header has a fixed size");

/* What there is to say of a short message that is all in its packet (EAGER, no flags). */
struct wire_short {
    uint64_t context;
    uint32_t source;
    int32_t tag;
    uint32_t step, signature;
};

/* May it go where there is room for so many bytes?  What says what it is has to be as long as its place. */
static inline bool wire_fits(size_t bytes, size_t room, uint32_t signature)
{
    return bytes == room || (bytes < room && signature == 0);
}

/* The whole header of such a message. */
static inline struct wire wire_of(const struct wire_short *head, size_t bytes)
{
    return (struct wire){ .kind = WIRE_EAGER,
                          .source = head->source,
                          .context = head->context,
                          .tag = head->tag,
                          .step = head->step,
                          .signature = head->signature,
                          .bytes = (uint32_t)bytes,
                          .total = bytes };
}

#endif
