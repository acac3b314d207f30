/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Alltoallv and alltoallw through slots, messages and memory at once (coll/tiny_letters.c): blocks of random lengths,
 * with and without gaps, of which none, some or all can be written; and ends of a block that do not agree.
 */
#include "coll/tiny_slot.h"
#include "mpi.h"
#include "runtime/fail.h"

#include "test/unit/fragile.h"
#include "test/unit/job.h"
#include "test/unit/unit.h"

#include <string.h>

enum { MOST = 20000, MARK = 0x5a5a5a5a, RANKS = 64 };

static const struct layout *gapped(void)
{
    static struct layout *layout;
    if (!layout)
        layout = layout_resized(ints(), 0, 8);
    return layout;
}

/* The same on all ranks. */
static uint32_t chance(uint32_t seed, int from, int to)
{
    uint32_t x = seed * 747796405u + (uint32_t)from * 2891336453u + (uint32_t)to * 277803737u;
    for (int i = 0; i < 3; i++)
        x = (x ^ x >> 15) * 2246822519u;
    return x ^ x >> 13;
}

/* Elements of the block from one to the other: none, in a cell, a message, long enough to be written. */
static int64_t length_of(uint32_t seed, int from, int to, int n)
{
    static const int64_t least[] = { 0, 1, 2, 90, 1100, 9000 },
                         most[] = { 0, 1, 24, 700, 3000, MOST };
    uint32_t x = chance(seed, from, to);
    uint32_t kinds = n > 9 ? 4 : 6;
    uint32_t kind = seed % 8 == 7 ? (x >> 8) % 3 : (x >> 8) % kinds;
    return least[kind] + (int64_t)(x >> 12) % (most[kind] - least[kind] + 1);
}

static bool has_gaps(uint32_t seed, int rank, int other, bool each)
{
    return chance(seed + 99, rank, each ? other : -1) % 3 == 0;
}

/* One side of a call on this rank. */
struct side_of {
    uint32_t *memory;
    size_t bytes;
    int64_t counts[RANKS], displs[RANKS];
    const struct layout *layouts[RANKS];
    struct part part;
};

static void side_open(struct side_of *s, uint32_t seed, int me, int n, bool sends, bool each)
{
    size_t at = 0; /* in elements of 8 bytes */
    for (int i = 0; i < n; i++) {
        int r = sends ? i : n - 1 - i;
        s->counts[r] = sends ? length_of(seed, me, r, n) : length_of(seed, r, me, n);
        bool gaps = has_gaps(seed + sends, me, r, each);
        s->layouts[r] = gaps ? gapped() : ints();
        s->displs[r] = (int64_t)(each ? at * 8 : gaps ? at : at * 2);
        at += (size_t)s->counts[r] + 1;
    }
    s->bytes = at * 8;
    s->memory = malloc(s->bytes);
    memset(s->memory, MARK & 0xff, s->bytes);
    int64_t skip = seed % 3 ? 0 : (int64_t)(at / 2); /* some displacements are negative */
    for (int r = 0; r < n; r++)
        s->displs[r] -= each ? skip * 8 : s->layouts[r]->extent == 8 ? skip : skip * 2;
    s->part = (struct part){ .base = (char *)s->memory + skip * 8,
                             .layout = each ? NULL : s->layouts[0],
                             .vector = true,
                             .layouts = each ? s->layouts : NULL };
    s->part.counts.wide = s->counts;
    s->part.displs.wide = s->displs;
}

static uint32_t *element(const struct side_of *s, int r, int64_t i)
{
    struct buffer block = block_of(&s->part, r);
    return (uint32_t *)((char *)block.base + i * block.layout->extent);
}

static void fill(struct side_of *s, int me, int n, uint32_t seed)
{
    for (int r = 0; r < n; r++)
        for (int64_t i = 0; i < s->counts[r]; i++)
            *element(s, r, i) = value(me, r + (int)seed, (size_t)i);
}

/* All that was sent is there, and nothing else is touched. */
static void check(struct side_of *s, int me, int n, uint32_t seed)
{
    for (int r = 0; r < n; r++)
        for (int64_t i = 0; i < s->counts[r]; i++) {
            WRONG_UNLESS(*element(s, r, i) == value(r, me + (int)seed, (size_t)i));
            *element(s, r, i) = MARK;
        }
    for (size_t i = 0; i < s->bytes / 4; i++)
        WRONG_UNLESS(s->memory[i] == MARK);
}

static void exchange(struct team *team, uint32_t seed, bool each)
{
    int n = team->channel.size, me = team->channel.rank;
    static struct side_of out, in;
    side_open(&out, seed, me, n, true, each);
    side_open(&in, seed, me, n, false, each);
    fill(&out, me, n, seed);
    struct call call = { .what = each ? COLL_ALLTOALLW : COLL_ALLTOALLV };
    call.send = out.part;
    call.recv = in.part;
    WRONG_UNLESS(coll_run(team, &call) == 0);
    check(&in, me, n, seed);
    free(out.memory);
    free(in.memory);
}

/* ---- the tests ---- */

static int good_calls; /* before the first that fails, on rank 0; on others one more each */

/* Everybody has given up writing, or nobody. */
static void apart_alike(struct team *team)
{
    uint32_t apart = team->tiny->apart;
    struct call bcast = { .what = COLL_BCAST, .root = 0 };
    bcast.recv = (struct part){ .base = &apart, .layout = ints(), .count = 1 };
    WRONG_UNLESS(coll_run(team, &bcast) == 0 && apart == team->tiny->apart);
}

static bool crowded = true; /* so that more than two write */
static bool differs;        /* rank 0 would take places for something else than the others do */

static void exchange_all(int rank, int n)
{
    struct team world, team;
    world_open(&world, rank, n);
    team_make(&team, &world);
    team.tiny->crowded = crowded;
    tiny_letters_open(team.tiny); /* what is long depends on it */
    if (differs && rank == 0)
        let_takers_read(&team.tiny->movers[MOVERS_OF_LETTERS], 8192);
    links_weaken(&team, good_calls + rank);
    uint64_t written = pml_counters.bytes_written, read = pml_counters.bytes_read;
    for (uint32_t seed = 0; seed < (differs ? 6 : n < 4 ? 80 : 24); seed++) {
        exchange(&team, seed + (uint32_t)n * 1000, seed % 2);
        apart_alike(&team);
    }
    bool wrote = pml_counters.bytes_written > written, fails = calls_left < 0;
    bool has_read = pml_counters.bytes_read > read; /* messages are; places are, now and then */
    WRONG_UNLESS(good_calls < FOREVER || n > 9 || differs || wrote == (crowded || n == 2));
    WRONG_UNLESS(good_calls < FOREVER || n > 9 || !wrote || has_read);
    WRONG_UNLESS(!fails || team.tiny->apart != 0);
    team_close(&team);
    team_close(&world);
}

START_TEST(all_are_written)
{
    good_calls = FOREVER;
    for (int n = 2; n <= 9; n++)
        ck_assert_msg(job_run(n, exchange_all), "%d ranks", n);
    crowded = false;
    for (int n = 3; n <= 5; n++)
        ck_assert_msg(job_run(n, exchange_all), "%d ranks, not crowded", n);
}
END_TEST

/* It never comes to that; but then places are left alone, and messages do it all. */
START_TEST(places_are_left_where_ranks_differ)
{
    good_calls = FOREVER;
    differs = true;
    for (int n = 2; n <= 5; n++)
        ck_assert_msg(job_run(n, exchange_all), "%d ranks", n);
    differs = false;
}
END_TEST

START_TEST(some_are_written)
{
    for (int n = 2; n <= 5; n++)
        for (good_calls = 0; good_calls < 5; good_calls++)
            ck_assert_msg(job_run(n, exchange_all), "%d ranks, %d calls", n, good_calls);
}
END_TEST

/* Letters that slots have no room for, and more ranks than have room for cells. */
START_TEST(very_many_ranks)
{
    good_calls = FOREVER;
    static const int sizes[] = { 16, 19, 21, 33, RANKS };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        ck_assert_msg(job_run(sizes[i], exchange_all), "%d ranks", sizes[i]);
}
END_TEST

/* ---- wrong programs ---- */

/* Every rank sends so many to the next one, or only rank 0 does, which expects others: who expects them is told. */
static int64_t sent, expected;
static bool all_disagree;

static void disagree(int rank, int n)
{
    struct team team;
    world_open(&team, rank, n);
    team.tiny->crowded = true;
    tiny_letters_open(team.tiny); /* what is long depends on it */
    int next = (rank + 1) % n, before = (rank + n - 1) % n;
    bool told = all_disagree || rank == 1;
    uint32_t *in = calloc(MOST, 8), *out = calloc(MOST, 8);
    int64_t counts[2][RANKS] = { { 0 } }, displs[RANKS] = { 0 };
    counts[0][next] = all_disagree || rank == 0 ? sent : 100;
    counts[1][before] = told ? expected : 100;
    for (int64_t i = 0; i < MOST; i++)
        out[i] = value(rank, next, (size_t)i);
    struct call call = { .what = COLL_ALLTOALLV };
    call.send = (struct part){ .base = out, .layout = ints(), .vector = true };
    call.recv = (struct part){ .base = in, .layout = ints(), .vector = true };
    call.send.counts.wide = counts[0];
    call.recv.counts.wide = counts[1];
    call.send.displs.wide = call.recv.displs.wide = displs;
    WRONG_UNLESS((coll_run(&team, &call) != 0) == told);
    WRONG_UNLESS(!told || strstr(fail_text(), "bytes"));
    for (int64_t i = 0; i < 100 && !told; i++)
        WRONG_UNLESS(in[i] == value(before, rank, (size_t)i));
    for (int64_t i = told ? expected : 100; i < MOST; i++)
        WRONG_UNLESS(in[i] == 0);
    team_close(&team);
    free(in);
    free(out);
}

START_TEST(ends_disagree)
{
    static const int64_t lengths[] = { 0, 1, 100, 1000, 3000, 8000, MOST };
    enum { N = sizeof lengths / sizeof *lengths };
    for (int i = 0; i < 4 * N * N; i++) {
        sent = lengths[i / N % N];
        expected = lengths[i % N];
        all_disagree = i / N / N % 2;
        if (sent != expected)
            ck_assert_msg(job_run(2 + i / N / N / 2, disagree), "%lld for %lld, %s",
                          (long long)sent, (long long)expected, all_disagree ? "all" : "one");
    }
}
END_TEST

/* Rank 2 is in a barrier; of the others only rank 0 names a place, and nobody waits for ever. */
static void cross(int rank, int n)
{
    struct team team;
    world_open(&team, rank, n);
    team.tiny->crowded = true;
    tiny_letters_open(team.tiny); /* what is long depends on it */
    uint32_t *in = calloc(MOST, 4), *out = calloc(MOST, 4);
    int64_t counts[2][3] = { { 0 } }, displs[3] = { 0 };
    counts[0][0] = rank == 1 ? MOST : 0;
    counts[1][1] = rank == 0 ? MOST : 0;
    struct call call = { .what = rank == 2 ? COLL_BARRIER : COLL_ALLTOALLV };
    call.send = (struct part){ .base = out, .layout = ints(), .vector = true };
    call.recv = (struct part){ .base = in, .layout = ints(), .vector = true };
    call.send.counts.wide = counts[0];
    call.recv.counts.wide = counts[1];
    call.send.displs.wide = call.recv.displs.wide = displs;
    WRONG_UNLESS(coll_run(&team, &call) == MPI_ERR_OTHER);
    WRONG_UNLESS(strstr(fail_text(), "MPI_Alltoallv") && strstr(fail_text(), "MPI_Barrier"));
    team_close(&team);
    free(in);
    free(out);
}

START_TEST(another_collective)
{
    ck_assert(job_run(3, cross));
}
END_TEST

UNIT_MAIN("tiny_letters", all_are_written, some_are_written, places_are_left_where_ranks_differ,
          very_many_ranks, ends_disagree, another_collective)
