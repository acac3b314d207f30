/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sender's chunks: 16 to 50 pieces of 16 KiB in its own area (12 or more where ranks are many), for
 * payload that does not fit a ring.  They are made as they are needed.  Nothing is written into a chunk but
 * payload: the receiver reads packets in order and copies at once, so a chunk is free when the receiver has read
 * past the packet that names it.
 *
 * What the receiver has just read lies in its cache, and to take 64 lines away from it while
 * writing costs as much as to send them.  So chunks are used in turn, the one that was read longest
 * ago first: a stream of 4 KiB is a third faster than with the last one first.  But what a receiver on our own CPU
 * has read lies in our cache, so it is the first to be used again: 16 KiB to and fro take 0.7 to 0.95 of the time,
 * windows of 4 KiB 0.8.  And the chunks of the next message are chosen in advance, and fetched by polls that find
 * nothing else to do:
 *
 *     unused (in turn) -> ready (in order) -> in flight -> unused
 *
 * as many as were taken since the last pause.  That makes messages of 4 to 64 KiB a third faster.
 * Not where ranks share processors and so have no pauses, but more memory than caches.  There a chunk that was read on
 * another CPU is filled as fill.h says, and one that was read here the usual way.
 *
 * Short pieces that follow each other share a chunk, which is free when the last of them was read: windows of 512
 * bytes take half of the time, where rows of slots are not the better place, of 2 KiB 0.9.  Longer ones only where
 * ranks share processors, so that more are under way before the next rank has its turn: windows of 4 KiB both ways
 * take 0.85 of the time.
 *
 * A lane may have 16 in flight, or half of all, which is as much as pipelining needs, and leaves some
 * for others while a peer does not read; the last few are for lanes that have none in flight.  When there is
 * none, the link sends small pieces inline.  Those in flight to a rank that died come back.
 */
#define _GNU_SOURCE 1 /* sched_getcpu */
#include "pml/shm/lane.h"

#include "runtime/boot.h"
#include "runtime/clock.h"
#include "runtime/oncpu.h"

#include <sched.h>
#include <sys/mman.h>

static struct {
    uint16_t chunk[CHUNKS]; /* a ring */
    unsigned first, n;
} unused;
static bool
    here[CHUNKS]; /* its last reader was on our CPU and left it in our cache, or it is new */
static unsigned chunks, made; /* how many there may be, and are */
static unsigned used;         /* until all are made */
static struct lane *lanes;
static int nlanes;
static uint32_t most_in_flight; /* of a lane */
static unsigned reserve;        /* for lanes that have none */

enum {
    CHUNKS_FIRST = 16,  /* made at once; the others when those do not suffice, */
    CHUNKS_OFTEN = 40,  /* or so many were used */
    LOOK_AT_TAIL = 4,   /* with so many in flight, see whether older ones are free */
    MOST_PACKED = 2048, /* bytes that share a chunk where ranks have processors of their own */
    MOST_READY = 16,    /* a power of two */
    FETCH_BYTES = 32 * FILL_LINE /* per poll */
};

bool chunks_wanted;

static struct {
    uint16_t chunk[MOST_READY]; /* a ring; the last one may still be being fetched */
    unsigned first, last;
    unsigned taken; /* since the last pause, and not made up for */
    size_t bytes;   /* the longest piece among them */
    size_t fetched; /* of the last one; 0: all that is wanted */
} ready;

static void unused_put(uint16_t chunk)
{
    unused.chunk[(unused.first + unused.n++) % CHUNKS] = chunk;
}

/* The next one to be taken. */
static void unused_put_first(uint16_t chunk)
{
    unused.first = (unused.first + CHUNKS - 1) % CHUNKS;
    unused.chunk[unused.first] = chunk;
    unused.n++;
}

static uint16_t unused_take(void)
{
    uint16_t chunk = unused.chunk[unused.first];
    unused.first = (unused.first + 1) % CHUNKS;
    unused.n--;
    return chunk;
}

/* More of them, whose memory is not there yet.  A page that is written to for the first time takes 4 to 20 us in a
 * virtual machine, one of many that are asked for together 2; and what the first messages cost decides for long how
 * others go (trip.c). */
static void chunks_make(void)
{
    unsigned n = made == 0 && chunks > CHUNKS_FIRST ? CHUNKS_FIRST : chunks - made;
    madvise(area_chunk(boot_area(boot.local_rank), made), n * (size_t)CHUNK_BYTES,
            MADV_POPULATE_WRITE); /* else it is made page by page */
    for (; n > 0; n--) {
        here[made] = true;
        unused_put((uint16_t)made++);
    }
}

void chunks_ready(void)
{
    if (__builtin_expect(made == 0, 0))
        chunks_make();
}

void chunks_open(struct lane *all, int n)
{
    lanes = all;
    nlanes = n;
    ready.first = ready.last = ready.taken = 0;
    unused.first = unused.n = 0;
    chunks = (unsigned)area_chunks(boot.nlocal);
    made = used = 0;
    most_in_flight = chunks / 2 < CHUNKS_IN_FLIGHT ? chunks / 2 : (uint32_t)CHUNKS_IN_FLIGHT;
    reserve = chunks / 12;
}

/* Was the first chunk in flight read?  Unread are those that end behind `freed`, up to `head`.  To compare with `freed`
 * alone would not do: the last ones may lie here while the positions of messages without chunks go half way round. */
static bool is_read(const struct lane *lane)
{
    uint32_t end = lane->chunk_end[lane->first_chunk % CHUNKS_IN_FLIGHT];
    return end - lane->freed - 1 >= lane->head - lane->freed;
}

/* Is the peer on the CPU that we are on, so that what it has read lies in our own cache? */
static bool shares_cpu(const struct lane *lane)
{
    return boot.crowded && oncpu_is(lane->bell, (unsigned)sched_getcpu());
}

static void lane_reclaim(struct lane *lane)
{
    if (lane->first_chunk == lane->last_chunk || !is_read(lane))
        return;
    bool is_here = shares_cpu(lane);
    void (*put)(uint16_t chunk) = is_here ? unused_put_first : unused_put;
    do {
        uint16_t chunk = lane->chunk[lane->first_chunk++ % CHUNKS_IN_FLIGHT];
        here[chunk] = is_here;
        put(chunk);
    } while (lane->first_chunk != lane->last_chunk && is_read(lane));
}

static void lanes_reclaim(void)
{
    for (int i = 0; i < nlanes; i++)
        if (lanes[i].first_chunk != lanes[i].last_chunk) {
            lane_refresh(&lanes[i]);
            lane_reclaim(&lanes[i]);
        }
}

/* The rest of the last chunk in flight; -1: it is too short for that, or had better be left. */
static int rest_take(const struct lane *lane, size_t bytes)
{
    if (lane->first_chunk == lane->last_chunk || lane->filled + bytes > CHUNK_BYTES ||
        bytes > (boot.crowded ? CHUNK_BYTES : MOST_PACKED))
        return -1;
    return (int)chunk_place(lane->chunk[(lane->last_chunk - 1) % CHUNKS_IN_FLIGHT],
                            lane->filled);
}

bool chunks_wait(struct lane *lane)
{
    if (lane->last_chunk - lane->first_chunk < LOOK_AT_TAIL)
        return false;
    lane_refresh(lane);
    lane_reclaim(lane);
    return lane->last_chunk - lane->first_chunk >= LOOK_AT_TAIL;
}

static int place_take(struct lane *lane, size_t bytes)
{
    lane_reclaim(lane);
    int rest = rest_take(lane, bytes);
    lane->chunk_fetched = false;
    if (rest >= 0)
        return rest;
    chunks_wait(lane);
    if (lane->last_chunk - lane->first_chunk >= most_in_flight)
        return -1;
    lane->chunk_fetched = ready.first != ready.last;
    if (lane->chunk_fetched)
        return ready.chunk[ready.first++ % MOST_READY];
    unsigned others = lane->first_chunk == lane->last_chunk ? 0 : reserve;
    if (unused.n <= others)
        lanes_reclaim();
    if (__builtin_expect(made < chunks, 0) && (unused.n <= others || ++used > CHUNKS_OFTEN))
        chunks_make();
    return unused.n > others ? unused_take() : -1;
}

int chunk_take(struct lane *lane, size_t bytes)
{
    int place = place_take(lane, bytes);
    lane->chunk_here = place >= 0 && here[place % (1 << CHUNK_BITS)];
    return place;
}

void chunks_lose(struct lane *lane)
{
    while (lane->first_chunk != lane->last_chunk)
        unused_put(lane->chunk[lane->first_chunk++ % CHUNKS_IN_FLIGHT]);
}

void chunk_sent(struct lane *lane, int place, size_t bytes, bool wanted)
{
    unsigned parts = (unsigned)((bytes + CHUNK_PART - 1) / CHUNK_PART);
    if (place < 1 << CHUNK_BITS) {
        lane->chunk[lane->last_chunk++ % CHUNKS_IN_FLIGHT] = (uint16_t)place;
        lane->filled = 0;
    }
    lane->chunk_end[(lane->last_chunk - 1) % CHUNKS_IN_FLIGHT] = lane->head;
    lane->filled += parts * CHUNK_PART;
    ready.fetched = 0;
    if (!wanted || lane->fill.past) /* what is stored past the caches need not be here */
        return;
    ready.bytes = ready.taken && ready.bytes > bytes ? ready.bytes : bytes;
    ready.taken++;
    chunks_wanted = !boot.crowded;
}

/* One more chunk, if there is reason and room. */
static bool ready_grow(void)
{
    if (ready.taken == 0 || ready.last - ready.first == MOST_READY || unused.n <= reserve) {
        ready.taken = 0;
        return false;
    }
    ready.taken--;
    ready.chunk[ready.last++ % MOST_READY] = unused_take();
    return true;
}

void chunks_fetch(void)
{
    if (ready.fetched == 0 && !ready_grow()) {
        chunks_wanted = false;
        return;
    }
    unsigned chunk = ready.chunk[(ready.last - 1) % MOST_READY];
    const char *from = area_chunk(boot_area(boot.local_rank), chunk) + ready.fetched;
    for (int i = 0; i < FETCH_BYTES; i += FILL_LINE)
        cpu_want(from + i);
    ready.fetched += FETCH_BYTES;
    if (ready.fetched >= ready.bytes)
        ready.fetched = 0;
}
