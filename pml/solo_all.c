/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What those who had an engine alone have left to who has all: messages that were matched by receives
 * which somebody else has to end, wake-ups, counts.
 */
#include "pml/recv.h"
#include "pml/solo_engine.h"

struct engine engines[ENGINES];
bool solo_is_on;

void solo_open(void)
{
    for (int k = 0; k < ENGINES; k++) {
        engines[k] = (struct engine){ .found = NULL };
        engines[k].bytes = layout_bytes;
        engines[k].eager = send_eager();
    }
}

void solo_close(void)
{
    for (int k = 0; k < ENGINES; k++)
        arrived_free_list(&engines[k].unused);
}

void solo_forget(const struct channel *channel)
{
    for (int k = 0; k < ENGINES; k++)
        if (engines[k].found == channel)
            engines[k].found = NULL;
}

static void counters_gather(struct pml_counters *some)
{
    pml_counters.sent += some->sent;
    pml_counters.received += some->received;
    pml_counters.bytes_sent += some->bytes_sent;
    pml_counters.bytes_received += some->bytes_received;
    pml_counters.unexpected += some->unexpected;
    pml_counters.unexpected_bytes += some->unexpected_bytes;
    *some = (struct pml_counters){ 0 };
}

void pml_count(void)
{
    for (int k = 0; k < ENGINES; k++)
        counters_gather(&engines[k].counters);
}

static int engine_finish(struct engine *engine)
{
    engine->eager = send_eager();
    int events = engine->wake;
    engine->wake = false;
    counters_gather(&engine->counters);
    solo_tell((int)(engine - engines));
    while (engine->over) {
        struct arrived *arrived = engine->over;
        engine->over = arrived->next;
        recv_accept(arrived->recv, arrived->peer, &arrived->header, arrived->data,
                    arrived->have);
        arrived_free(arrived);
        events++;
    }
    return events;
}

int solo_finish(void)
{
    static uint32_t seen;
    uint32_t solos = engine_solos();
    if (__builtin_expect(solos == seen, 1))
        return 0;
    seen = solos;
    int events = 0;
    for (int k = 0; k < ENGINES; k++)
        events += engine_finish(&engines[k]);
    return events;
}
