/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A partitioned operation (part.c) and its messages (part_messages.c).
 */
#ifndef XMPI_PART_H
#define XMPI_PART_H

#include "src/request.h"

struct hello {
    uint32_t id; /* unique among those of the sender */
    uint32_t partitions;
    uint64_t bytes; /* of one partition */
};

/* The hello on its way.  It may outlive the receiver's request, because it is matched even so. */
struct note {
    struct hello hello;
    struct comm *comm;
    struct partitioned *part; /* the receiver, NULL: nobody waits for it */
};

struct piece { /* one partition of the sender */
    struct partitioned *part;
    bool over;   /* sent from: handed over by MPI_Pready; received: here */
    char *loose; /* received into this first */
};

struct partitioned {
    struct request request;
    bool receives;
    int peer, tag, partitions;
    struct buffer data;   /* all partitions */
    struct note *note;    /* receiver: hello has not come yet */
    struct hello hello;   /* valid without note */
    struct piece *pieces; /* hello.partitions of them */
    size_t left;          /* pieces that are not complete */
    struct result lost;   /* with an error: how each start ends, as the other side is lost */
};

static inline size_t part_bytes(const struct partitioned *part)
{
    return part->partitions ? buffer_bytes(&part->data) / (size_t)part->partitions : 0;
}

/* Send the hello, or receive it. */
int note_pass(struct partitioned *part, struct comm *comm);

/* Of a request that knows how many. */
int pieces_new(struct partitioned *part);

/* Post all.  What cannot be posted counts as over, so that the request ends, with an error. */
void pieces_receive(struct partitioned *part);

int piece_send(struct partitioned *part, size_t i);

/* The other side is lost, as this request says: what is not under way ends, now and after each start. */
void part_give_up(struct partitioned *part, const struct result *how);

#endif
