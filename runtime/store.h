/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A meeting place for the processes of a job whose launcher gave them numbers and an address,
 * MASTER_ADDR and MASTER_PORT, and nothing else.  Rank 0 keeps it in a thread (store_server.c); every
 * rank, itself included, has one connection to it.
 *
 *     all ranks    HELLO          ->  once all have come: TABLE, the node of each rank
 *     first of a node  SEGMENT    ->  passed on to the others of its node
 *     all ranks    READY          ->  once all are: GO
 *     any rank     CARD           kept;   ASK  ->  CARD of another rank, empty when it has none yet
 *     any rank     BYE            nothing is owed any more
 *
 * What is wrong comes as NO with a text.  The store trusts whoever can reach its port while the job
 * gathers, as the launchers do that it is for; afterwards it listens no more.
 */
#ifndef XMPI_STORE_H
#define XMPI_STORE_H

#include "runtime/bootseg.h"

#include <stddef.h>
#include <stdint.h>

#define STORE_MAGIC 0x65726f7473706d78ull /* "xmpstore" */
enum { STORE_VERSION = 1, STORE_HOST_CHARS = 96, STORE_TEXT_CHARS = 400 };

enum store_kind {
    STORE_HELLO = 1, /* a: size of the job, b: pid; payload: the host, as text */
    STORE_TABLE,     /* a: nodes, b: pid of rank 0; payload: int32_t node[size] */
    STORE_SEGMENT,   /* a: pid, b: file */
    STORE_READY,
    STORE_GO,
    STORE_CARD, /* a: whose; payload */
    STORE_ASK,  /* a: whose */
    STORE_BYE,
    STORE_NO, /* payload: text */
};

struct store_word { /* in front of each message, in the byte order of the machine */
    uint64_t magic;
    uint32_t version, kind;
    int32_t rank, a, b;
    uint32_t bytes; /* of the payload */
};

/* The longest payload that a rank may send. */
enum { STORE_PAYLOAD_MOST = BOOT_CONTACT_BYTES };

/* In rank 0: listen on this port and serve from a thread.  store_server_stop waits until every rank
 * has said goodbye or is gone.  MPI_ERR_OTHER with a text. */
int store_server_start(int port, int size, int seconds);
void store_server_stop(void);

/* In every rank: connect, trying for so many seconds.  The connection is kept here. */
int store_connect(const char *address, int port, int seconds);

/* Send (word NULL: nothing), and wait for a message of the kind `answer` (0: none); its payload goes to `to`, of at most
 * `room` bytes, its word to *got.  MPI_ERR_OTHER with the store's own text, or one of ours. */
int store_call(const struct store_word *word, const void *payload, enum store_kind answer,
               struct store_word *got, void *to, size_t room);

void store_disconnect(void);

#endif
