/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opening, polling and closing the pml.  One round of progress: the links hand over what has
 * arrived, then what waits for room is tried again, then news of losses are looked for.
 */
#include "pml/arrived.h"
#include "pml/failure.h"
#include "pml/proto.h"
#include "pml/pull.h"
#include "pml/request.h"
#include "runtime/boot.h"

static bool network; /* the job has other nodes */

const struct link *link_of_next(void)
{
    return network || !link_self.drained(NULL) ? NULL : &link_shm;
}

bool pml_has_work(void)
{
    return peers_have_work() || pulls_have_work();
}

static int pml_poll(void)
{
    int events = link_shm.poll() + link_self.poll();
    if (__builtin_expect(network, 0))
        events += link_ofi.poll();
    events += peers_flush() + pulls_flush();
    if (__builtin_expect(solo_is_on, 0))
        events += solo_finish();
    return events + failures_poll();
}

int pml_open(void)
{
    int error = peers_open();
    if (error)
        return error;
    error = link_self.open();
    if (error)
        goto close_peers;
    error = link_shm.open();
    if (error)
        goto close_self;
    network = boot.nlocal < boot.size;
    if (network)
        error = link_ofi.open();
    if (error)
        goto close_shm;
    pulls_open();
    failures_open();
    trips_open();
    solo_open();
    progress_add(pml_poll);
    return 0;
close_shm:
    link_shm.close();
close_self:
    link_self.close();
close_peers:
    peers_close();
    return error;
}

/* What this process still owes others must reach their rings, or them.  After a loss they may never take what they
 * have to match; but whoever lives acks what comes over the network, be it when it leaves, too. */
static void flush(bool leaving, uint64_t *since)
{
    struct wait w = WAIT_FOR(flush_tell, NULL);
    bool waiting, quiet = true;
    while ((waiting = peers_waiting()) && !failures_hurry(since)) {
        silence_say(network);
        wait_poll(&w);
    }
    while (network && !(quiet = link_ofi.quiet(leaving)))
        wait_poll(&w);
    wait_end(&w);
    if (waiting)
        peers_forget();
    if (leaving && quiet)
        silence_leave(network);
}

/* What they owe us does not matter any more, but to orphans. */
void pml_flush(void)
{
    uint64_t since = 0;
    silence_begin();
    if (orphan_receives > 0) {
        orphans_meet();
        flush(false, &since);
        orphans_await(network, &since);
    }
    flush(true, &since);
    silence_end(network);
}

void pml_leave_world(void)
{
    silence_of_world(network);
}

int pml_close(void)
{
    pml_flush();
    cancels_close();
    progress_remove(pml_poll);
    trips_close();
    pulls_close();
    link_shm.close();
    link_self.close();
    channels_close();
    solo_close();
    arrived_close();
    if (network)
        link_ofi.close();
    network = false;
    requests_close();
    peers_close();
    failures_close();
    return 0;
}
