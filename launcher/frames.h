/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What xmpirun and the xmpid of another host say to each other, over a wire (wire.h).
 */
#ifndef XMPI_LAUNCHER_FRAMES_H
#define XMPI_LAUNCHER_FRAMES_H

enum frame {
    /* xmpid to xmpirun */
    FRAME_HELLO =
        1, /* text version, text host; numbers cores, pus, slots, thousandths of quota, pid */
    FRAME_OUTPUT, /* number 1 stdout or 2 stderr, bytes: whole lines */
    FRAME_TEXT,   /* text: a line of the launcher itself */
    FRAME_FAILED, /* number: exit code, number: 1 when this host stops its ranks, else 0 */
    FRAME_DONE,   /* number: exit code; the last frame */

    /* xmpirun to xmpid */
    FRAME_JOB,    /* see share_pack in share.c */
    FRAME_SIGNAL, /* number */
    FRAME_STOP,   /* number: milliseconds between TERM and KILL */
    FRAME_ACK,    /* number 1 or 2, number: bytes of output that have been written */
    FRAME_INPUT,  /* bytes for the rank that reads stdin; none: the end */
    FRAME_BYE,    /* nothing more is to be done */

    /* both ways; xmpirun passes on to all others */
    FRAME_ENDED, /* numbers: rank of the job, wait status, word (enum boot_dead) */
    FRAME_CARDS, /* number n, then n times: rank of the job, bytes of its card */

    FRAME_GOT, /* xmpid to xmpirun: the rank has taken the input; send more */
};

#endif
