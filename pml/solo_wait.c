/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Waiting with one engine alone, and what is left of it to those who have all.
 *
 * Who waits looks at its own engine, and now and then (LOOK_NS) at everything else, when nobody has done
 * that meanwhile: without waiting for other threads, as a rule.  After the time that others take before
 * they sleep it waits like these (runtime/wait.c).
 */
#include "pml/solo.h"

#include "pml/solo_engine.h"
#include "runtime/clock.h"

enum { POLLS_PER_LOOK = 64, YIELDS_PER_CLOCK = 8, MOST_REFUSALS = 20, MOST_RARE = 4 };
static const uint64_t LOOK_NS = 100000;

/* ---- waiting ---- */

bool solo_waits(const struct request *request)
{
    return request_engine(request) == engine_mine + 1 && !request->persistent;
}

/* One round for this engine.  False: there is something to do for one who has all. */
static bool solo_poll(struct engine *engine, int *packets)
{
    if (!solo_may() || pml_has_work() || !link_self.drained(NULL))
        return false;
    engine->polls++;
    return link_shm.poll_solo((int)(engine - engines), packets) && !engine->wake &&
           !engine->over;
}

/* Has anybody looked at everything for a while?  False: this thread has all engines, and has looked. */
static bool solo_look_around(struct engine *engine)
{
    uint64_t now = clock_ns();
    if (now - engine->looked < LOOK_NS)
        return true;
    engine->looked = now;
    uint32_t rounds = progress_rounds();
    if (engine->rounds != rounds) {
        engine->rounds = rounds;
        return true;
    }
    if (++engine->refusals > MOST_REFUSALS)
        engine_join();
    else if (!engine_try_join())
        return true;
    engine->refusals = 0;
    progress_round();
    engine->rounds = progress_rounds();
    return engine_part_solo((int)(engine - engines));
}

enum stay { STAY_DONE, STAY_LONG, STAY_ALL };

/* Until it is done.  Else this thread has all engines: it has taken long, or they are needed. */
static enum stay solo_stay(struct engine *engine, const struct request *request)
{
    uint64_t since = 0;
    uint32_t idle = 0, yields = 0, rare = 0, spins = progress_spins_solo();
    while (!request->done) {
        int packets = 0;
        if (!solo_poll(engine, &packets)) {
            engine_join();
            progress_round();
            if (++rare > MOST_RARE || !engine_part_solo((int)(engine - engines)))
                return STAY_ALL;
            continue;
        }
        if (request->done)
            break;
        if (engine->polls % POLLS_PER_LOOK == 0 && !solo_look_around(engine))
            return STAY_ALL;
        if (packets > 0) {
            idle = 0;
            since = 0;
            continue;
        }
        if (idle++ < spins) {
            cpu_pause();
            if (!engine_breathe_solo())
                return STAY_ALL;
            continue;
        }
        if (!engine_yield_solo())
            return STAY_ALL;
        if (++yields % YIELDS_PER_CLOCK != 0)
            continue;
        uint64_t now = clock_ns();
        if (since == 0) {
            since = now;
        } else if (now - since > progress_awake_ns()) {
            engine_join();
            return STAY_LONG;
        }
    }
    return STAY_DONE;
}

void solo_await(struct request *request)
{
    struct engine *engine = &engines[engine_mine];
    switch (solo_stay(engine, request)) {
    case STAY_DONE:
        return;
    case STAY_LONG:
        progress_sleep_until(request_engine(request), &request->done, request_tell, request);
        return;
    case STAY_ALL:
        request_await(request);
    }
}

void solo_progress(void)
{
    struct engine *engine = &engines[engine_mine];
    int packets = 0;
    if (!solo_poll(engine, &packets)) {
        engine_join();
        progress();
        return;
    }
    if (engine->polls % POLLS_PER_LOOK == 0 && !solo_look_around(engine))
        return;
    if (packets > 0)
        engine->empty = 0;
    else if (++engine->empty > progress_spins_solo())
        engine_yield_solo();
    else
        engine_breathe_solo();
}
