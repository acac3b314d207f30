/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Is the way to another host still there?  On a connection that has a pulse something is sent every
 * PULSE_MS, and the kernel at the other end acknowledges it, whatever its processes do: a launcher
 * that is stopped, or gets no CPU, is not silent.  What counts is the time for which we
 * have run and asked: who was stopped himself accuses nobody.
 */
#ifndef XMPI_LAUNCHER_PULSE_H
#define XMPI_LAUNCHER_PULSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PULSE_MS = 200 };

struct pulse;

/* How long the way may be silent in ms, 0: as long as TCP bears it; for all pulses of this process.
 * At first it is as XMPI_HOST_TIMEOUT says, -1: that is no number. */
int pulse_limit(void);
void pulse_set_limit(int ms);

/* Of a connected socket.  `beat` is called every PULSE_MS: `silent` says that the way is gone, else
 * something is to be sent.  It may end this and other pulses.  Where the socket is none of TCP, its
 * kernel leaves out of TCP_INFO what we ask about, or the system has no timer for us, nothing is ever
 * silent, and a cut is found when TCP gives up. */
struct pulse *pulse_begin(int fd, void *owner, void (*beat)(void *owner, bool silent));
void pulse_end(struct pulse *pulse); /* NULL: nothing happens */

/* Why: for how long, and what is the matter with our own interface if anything is. */
void pulse_explain(const struct pulse *pulse, char *text, size_t room);

/* What the kernel says of a connection. */
struct pulse_seen {
    bool asked; /* something was sent that is not acknowledged yet */
    int age_ms; /* since anything came from the other end */
};

/* How long it is silent by now, for a look that comes `elapsed_ms` after the last one, when it had
 * been silent for `before_ms`. */
int pulse_judge(int before_ms, int elapsed_ms, const struct pulse_seen *seen);

#endif
