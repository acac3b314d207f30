/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The event loop of the launcher: one epoll set, one thread, no locks.  Whoever has a file
 * descriptor to wait for embeds a `struct watch` and gets a call when something happens.
 */
#ifndef XMPI_LAUNCHER_LOOP_H
#define XMPI_LAUNCHER_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

struct watch {
    int fd; /* -1: watches nothing */
    void (*ready)(struct watch *watch, uint32_t events);
    void *owner;     /* whatever `ready` wants to find here */
    uint32_t events; /* EPOLLIN, EPOLLOUT asked for at the moment */
    bool added;
};

/* Errors of the system calls below are broken invariants, but for two: loop_add returns false
 * when the descriptor cannot be polled (a regular file) or the system is out of memory. */
int loop_open(void); /* once or more; 0 or -1 with errno */
bool loop_add(struct watch *watch, uint32_t events);
void loop_set(struct watch *watch, uint32_t events);
void loop_drop(struct watch *watch); /* stop watching; does not close */

/* Wait at most so many milliseconds (-1: for ever) and hand out what happened. */
void loop_turn(int timeout_ms);

#endif
