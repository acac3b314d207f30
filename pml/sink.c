/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bytes that somebody takes as they come (pml_recv_into).
 */
#include "pml/recv.h"

#include "runtime/clock.h"

/* About half of the time is not for the copy that is saved: nobody else's message would have taken that, and other
 * messages are to learn from this one which way is fastest. */
bool recv_sinks(struct recv *recv, size_t offset, const char *payload, size_t bytes)
{
    struct sink *sink = recv->sink;
    uint64_t began = cpu_ticks();
    if (offset != sink->taken || recv->request.result.error ||
        !sink->take(sink, payload, bytes))
        return false;
    sink->taken += bytes;
    trip_spare(&recv->trip, (cpu_ticks() - began) / 2);
    return true;
}
