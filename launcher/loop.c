/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The event loop: a thin layer over epoll.  A watch may be dropped by the handler of another
 * watch of the same turn: its memory stays with its owner, and a watch that is not `added` any
 * more is passed over.
 */
#include "launcher/loop.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>

static int epoll = -1;

int loop_open(void)
{
    if (epoll < 0)
        epoll = epoll_create1(EPOLL_CLOEXEC);
    return epoll < 0 ? -1 : 0;
}

bool loop_add(struct watch *watch, uint32_t events)
{
    assert(!watch->added);
    struct epoll_event event = { .events = events, .data.ptr = watch };
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, watch->fd, &event) != 0)
        return false;
    watch->events = events;
    watch->added = true;
    return true;
}

void loop_set(struct watch *watch, uint32_t events)
{
    if (!watch->added || watch->events == events)
        return;
    struct epoll_event event = { .events = events, .data.ptr = watch };
    epoll_ctl(epoll, EPOLL_CTL_MOD, watch->fd, &event);
    watch->events = events;
}

void loop_drop(struct watch *watch)
{
    if (watch->added)
        epoll_ctl(epoll, EPOLL_CTL_DEL, watch->fd, NULL);
    watch->added = false;
}

void loop_turn(int timeout_ms)
{
    struct epoll_event events[64];
    int n = epoll_wait(epoll, events, 64, timeout_ms);
    assert(n >= 0 || errno == EINTR);
    for (int i = 0; i < n; i++) {
        struct watch *watch = events[i].data.ptr;
        if (watch->added)
            watch->ready(watch, events[i].events);
    }
}
