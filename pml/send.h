/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A send, from the call to the last byte with the link (and the answers it waits for).
 */
#ifndef XMPI_SEND_H
#define XMPI_SEND_H

#include "pml/peer.h"
#include "pml/request.h"

struct send {
    struct request request; /* first: a send is a request */
    struct peer *peer;
    struct channel *channel;
    struct send *next;   /* in one of the peer's lists */
    struct send *before; /* unless it is the first one */
    struct buffer data;
    size_t offset;             /* bytes handed to the link */
    size_t granted;            /* rendezvous: the receiver wants so many */
    struct wire first;         /* header of the first packet, kept for starting again */
    struct wire header;        /* of the next packet */
    uint32_t name;             /* known to the receiver, or 0 */
    bool begun;                /* the first packet is with the link */
    bool acked;                /* synchronous: it was matched, or will never be */
    bool cancelling;           /* nobody need receive it (cancel.c) */
    bool session;              /* of the channel */
    bool writing;              /* in the peer's list of writes */
    struct wire_grant grant;   /* what we may write there */
    const struct ranks *group; /* of the envelope */
    char *plain; /* the data, if they are one piece that the peer may read, or NULL */
    struct link_offer *offer; /* the link's, while the peer may read them */
    struct stage *stage;      /* of long data on a device, once they are being sent */
};
_Static_assert(sizeof(struct send) <= REQUEST_BYTES, "a send fits a request");

static inline void send_append(struct send_list *list, struct send *send)
{
    send->next = NULL;
    send->before = list->last;
    if (list->first)
        list->last->next = send;
    else
        list->first = send;
    list->last = send;
}

static inline void send_remove(struct send_list *list, struct send *send)
{
    if (list->first == send)
        list->first = send->next;
    else
        send->before->next = send->next;
    if (send->next)
        send->next->before = send->before;
    if (list->last == send)
        list->last = send->before;
}

/* Hand packets of a message to the link: as much as there is room for.  True when the message
 * needs no place in the queue any more; the caller takes it out and calls send_pushed, which may
 * complete and thereby release it. */
bool send_push(struct send *send);
void send_pushed(struct send *send);

/* The same for the DATA pieces of a granted rendezvous, a few per call; *pieces grows by those
 * sent.  True: the caller takes it off the list and calls send_done. */
bool send_stream(struct send *send, int *pieces);
void send_done(struct send *send);

/* It ends without having begun: what it was to cost the peer's memory is not spent. */
void send_unspend(const struct send *send);

/* The peer may not read the data any more, and its answer finds nobody. */
void send_forget(struct send *send);

/* Write a piece into the receiver's memory.  False: there is none left to be written. */
bool send_write(struct send *send);

/* Data on a device (away.c): the kind of the first packet; that packet, when it names the memory; a
 * piece; and what was ahead of it is not needed any more. */
void send_choose_away(struct send *send);
bool send_share(struct send *send);
long send_put_away(struct send *send, size_t bytes);
void send_unstage(struct send *send);

/* Answers of the receiver. */
void send_granted(struct send *send, const struct wire *cts, const char *payload);
void send_matched(struct send *send);
void send_cancelled(struct send *send);

int send_cancel(struct request *request);

/* doom.c: who is lost of those that a send like this depends on, as a world rank, or -1. */
int send_doomed(const struct send *send);

/* A persistent one has begun again, for traces. */
void started_record(const struct send *send);

/* What it waits for, for the flight recorder. */
void send_tell(const struct request *request, struct record_wait *wait);

bool request_is_send(const struct request *request);

#endif
