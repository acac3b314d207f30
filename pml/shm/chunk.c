/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sender's chunks: 51 pieces of 16 KiB in its own area, for payload that does not fit a
 * ring.  Nothing is written into a chunk but payload: the receiver reads packets in order and
 * copies at once, so a chunk is free when the receiver has read past the packet that names it.
 *
 * Free chunks are a stack, so a ping-pong uses one chunk again and again and it stays in both
 * caches.  A lane may have 16 in flight, which is as much as pipelining needs, and leaves some
 * for others while a peer does not read.  When there is none, the link sends small pieces inline.
 */
#include "pml/shm/lane.h"

static uint16_t unused[CHUNKS];
static int nunused;
static struct lane *lanes;
static int nlanes;

enum { LOOK_AT_TAIL = 4 }; /* with so many in flight, see whether older ones are free */

void chunks_open(struct lane *all, int n)
{
    lanes = all;
    nlanes = n;
    nunused = CHUNKS;
    for (int i = 0; i < CHUNKS; i++)
        unused[i] = (uint16_t)(CHUNKS - 1 - i);
}

static void lane_reclaim(struct lane *lane)
{
    while (lane->first_chunk != lane->last_chunk) {
        uint32_t i = lane->first_chunk % CHUNKS_IN_FLIGHT;
        if ((int32_t)(lane->freed - lane->chunk_end[i]) < 0)
            return;
        unused[nunused++] = lane->chunk[i];
        lane->first_chunk++;
    }
}

static void lanes_reclaim(void)
{
    for (int i = 0; i < nlanes; i++)
        if (lanes[i].first_chunk != lanes[i].last_chunk) {
            lane_refresh(&lanes[i]);
            lane_reclaim(&lanes[i]);
        }
}

int chunk_take(struct lane *lane)
{
    lane_reclaim(lane);
    if (lane->last_chunk - lane->first_chunk >= LOOK_AT_TAIL) {
        lane_refresh(lane);
        lane_reclaim(lane);
    }
    if (nunused == 0)
        lanes_reclaim();
    if (nunused == 0 || lane->last_chunk - lane->first_chunk == CHUNKS_IN_FLIGHT)
        return -1;
    return unused[--nunused];
}

void chunk_sent(struct lane *lane, int chunk, uint32_t end)
{
    uint32_t i = lane->last_chunk++ % CHUNKS_IN_FLIGHT;
    lane->chunk[i] = (uint16_t)chunk;
    lane->chunk_end[i] = end;
}
