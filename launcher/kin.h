/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What xmpirun and the launcher of a spawned job say to each other, over a pair of sockets that keeps
 * messages apart.
 */
#ifndef XMPI_LAUNCHER_KIN_H
#define XMPI_LAUNCHER_KIN_H

#include <stdbool.h>
#include <stddef.h>

enum kin_kind {
    /* from the launcher of the spawned job, in this order */
    KIN_HELLO, /* number: of ranks, code: of programs; with its boot segment: its clients shall be those
                  * of xmpirun's PMIx server */
    KIN_HELLO_SERVES, /* number: of ranks; its clients have PMIx servers of their own */
    KIN_NODE, /* of such ones, number: of ranks on a host, text: its name, code: it is xmpirun's own */
    KIN_PLACE,   /* number: a rank, text: its struct placement */
    KIN_READY,   /* all is told: may the ranks start? */
    KIN_STARTED, /* all ranks run */
    KIN_GONE,    /* number: a rank has ended, code: as from waitpid */
    KIN_ENDED,   /* all have, and their output is on its way */
    /* from xmpirun */
    KIN_VARIABLE, /* text: NAME=VALUE, of every rank */
    KIN_GO,
    KIN_REFUSED, /* text: why */
    KIN_LOST,    /* number: a rank, whose PMIx client has gone without PMIx_Finalize */
    KIN_ABORT, /* number: a rank that has called PMIx_Abort, code: with this, text: and that */
    KIN_STOP,  /* number: the grace in ms */
};

enum { KIN_TEXT = 8192 };

struct kin_message {
    int kind, number, code;
    size_t bytes;
    char text[KIN_TEXT + 1]; /* with a NUL behind its bytes */
};

/* Send the message, and a descriptor unless it is -1.  Waits for room unless `now`.  -1: it has not
 * been sent. */
int kin_send(int socket, const struct kin_message *message, int fd, bool now);

/* The same of a message with a text (NULL: none). */
int kin_say(int socket, enum kin_kind kind, int number, int code, const char *text);

/* 1: a message, and in *fd the descriptor that came with it, or -1; 0: there is none now; -1: there will
 * be no more. */
int kin_receive(int socket, struct kin_message *message, int *fd, bool now);

#endif
