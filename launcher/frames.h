/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What launchers say to each other, over a wire (wire.h).  "Up" is to the launcher that has started
 * the speaker, "down" to those the speaker has started.
 */
#ifndef XMPI_LAUNCHER_FRAMES_H
#define XMPI_LAUNCHER_FRAMES_H

enum frame {
    /* up */
    FRAME_HELLO = 1, /* number of the host, text version, text host; numbers cores, pus, slots,
                        thousandths of quota, pid, --nnodes or 0; passed on up to xmpirun */
    FRAME_SHAPE, /* number of the host, see shape_pack in remote.h; where FRAME_HOSTS asks for it; passed on up */
    FRAME_OUTPUT, /* number 1 stdout or 2 stderr, bytes: whole lines */
    FRAME_TEXT,   /* bytes: lines of a launcher itself */
    FRAME_FAILED, /* number: exit code, number: 1 when this host stops its ranks, else 0 */
    FRAME_DONE,   /* number: exit code; nobody runs here or below; the last frame */
    FRAME_GOT,    /* the input has been taken here and below; send more */

    /* down */
    FRAME_HOSTS, /* numbers limit of pulses in ms, seconds, fanout, 1: FRAME_SHAPE is wanted; text agent's command, text name, texts: the names of
                     the hosts to start */
    FRAME_JOB,   /* see share_pack in share.c; the same for all hosts */
    FRAME_SIGNAL, /* number */
    FRAME_STOP,   /* number: milliseconds between TERM and KILL */
    FRAME_ACK,    /* number 1 or 2, number: bytes of output that have been written */
    FRAME_INPUT,  /* bytes for the ranks that read stdin; none: the end */
    FRAME_BYE, /* nothing more is to be done; number, text: exit code, and why nothing is run */

    /* both ways; passed on to everybody else */
    FRAME_ENDED, /* numbers: rank of the job, word (enum boot_dead) */
    FRAME_CARDS, /* number n, then n times: rank of the job, bytes of its card; none: it has left MPI */

    /* both ways; passed on to whom it is for (post.h) */
    FRAME_POST, /* numbers to, from, kind; whatever this kind is */
};

#endif
