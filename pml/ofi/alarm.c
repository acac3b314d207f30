/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sleeping while the network is open.  A rank sleeps on its doorbell, a word in shared memory, which a
 * network does not ring; so a thread of ours sleeps on the network and rings it:
 *
 *     main     alarm_set: forget what was told, tell the thread; one more look; sleeps on the doorbell
 *     thread   epoll_wait on the completion queues ............ a packet: ring, and wait to be set again
 *     main                                                      is awake, and polls
 *
 * The thread touches nothing but the two words here and the doorbell, takes no lock, and begins with the
 * first long wait.  While the rank is awake it waits to be set again, so packets do not wake it, but for
 * the first one after a sleep that something else has ended.
 *
 * Completion queues are watched for edges: with "net" of libfabric 1.17 their descriptors are
 * readable for ever once something has completed, but each packet is an event all the same.
 *
 * Not all that is to be done comes with a packet.  What is to be tried again (a peer whose card is not
 * there yet, a provider without room) needs polls, so there is no alarm then; who waits for an answer
 * looks after its peers every now and then (watch.c).
 */
#include "config.h"
#include "pml/ofi/trunk.h"

#include "runtime/log.h"
#include "runtime/progress.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STACK_BYTES = 64 << 10, MOST_EVENTS = NIC_MOST + 1 };
static const uint64_t LOOK_NS = 100000000, SLEEP_NS = 1000000000;

static int queues = -1,
           end = -1; /* an epoll of the completion queues, and of what ends the thread */
static pthread_t thread;
static bool runs;
static _Atomic uint32_t set, ending; /* set: a futex; the rank sleeps, or is about to */

static void futex(int operation, uint32_t value)
{
    syscall(SYS_futex, &set, operation, value, NULL, NULL, 0);
}

static void *watch(void *nothing)
{
    while (!atomic_load(&ending)) {
        struct epoll_event events[MOST_EVENTS];
        if (!atomic_load(&set))
            futex(FUTEX_WAIT_PRIVATE, 0);
        else if (epoll_wait(queues, events, MOST_EVENTS, -1) > 0 && atomic_exchange(&set, 0))
            progress_call();
    }
    return nothing;
}

static void give_up(void)
{
    if (queues >= 0)
        close(queues);
    if (end >= 0)
        close(end);
    queues = end = -1;
}

static bool thread_begin(void)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, &attributes, watch, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (error) {
        log_at(1, "network: no thread that wakes this rank (%s); it naps", strerror(error));
        give_up();
    }
    return runs = !error;
}

/* How long may the rank sleep, since we wake it?  0: we do not. */
static uint64_t alarm_set(void)
{
    bool awaits = false;
    if (queues < 0 || !trunks_rest(&awaits) || !fetches_rest())
        return 0;
    for (int i = 0; i < nnics; i++) {
        struct fid *queue = &nics[i].cq->fid;
        if (fi_trywait(nics[i].fabric, &queue, 1) != 0)
            return 0;
    }
    if (!runs && !thread_begin())
        return 0;
    struct epoll_event events[MOST_EVENTS];
    epoll_wait(queues, events, MOST_EVENTS, 0); /* who sets the alarm looks for what is here */
    if (!atomic_exchange(&set, 1))
        futex(FUTEX_WAKE_PRIVATE, 1);
    return awaits ? LOOK_NS : SLEEP_NS;
}

static int watch_for(int fd)
{
    struct epoll_event event = { .events = EPOLLIN | EPOLLET };
    return epoll_ctl(queues, EPOLL_CTL_ADD, fd, &event);
}

void alarm_open(void)
{
    queues = epoll_create1(EPOLL_CLOEXEC);
    end = eventfd(0, EFD_CLOEXEC);
    bool good = queues >= 0 && end >= 0 && watch_for(end) == 0;
    for (int i = 0; i < nnics && good; i++) {
        int fd;
        good = nics[i].wakes && fi_control(&nics[i].cq->fid, FI_GETWAIT, &fd) == 0 &&
               watch_for(fd) == 0;
    }
    if (!good) {
        log_at(1, "network: the provider wakes nobody, so waits nap");
        give_up();
    }
    progress_alarm(alarm_set);
}

void alarm_close(void)
{
    progress_alarm(NULL);
    if (runs) {
        uint64_t one = 1;
        atomic_store(&ending, 1);
        atomic_store(&set, 1);
        futex(FUTEX_WAKE_PRIVATE, 1);
        if (write(end, &one, sizeof one) == sizeof one)
            pthread_join(thread, NULL);
    }
    runs = false;
    atomic_store(&ending, 0);
    atomic_store(&set, 0);
    give_up();
}
