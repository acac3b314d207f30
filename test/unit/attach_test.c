/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives in the memory of others when that memory cannot be reached: at all, or from the middle
 * on.  The links are replaced by ones that fail after a number of calls, another number on each rank.  The results are right all the same, all ranks know what happened, and the next call
 * takes another way.  (That all is well when all goes well: coll_test.)  Blocking calls, and those with a
 * request, of which each track of slots (coll/later.c) finds out for itself.
 */
#include "coll/coll.h"
#include "coll/rules.h"
#include "coll/tiny_slot.h"
#include "mpi.h"
#include "runtime/fail.h"

#include "test/unit/fragile.h"
#include "test/unit/job.h"
#include "test/unit/unit.h"

#include <string.h>

enum { BLOCK = 70000 }; /* shorter blocks and vectors go another way where ranks exceed CPUs */

/* ---- calls that check themselves ---- */

static bool later; /* with a request */

static int perform(struct team *team, const struct call *call)
{
    struct request *request;
    if (!later)
        return coll_run(team, call);
    int error = coll_start(team, call, &request);
    return error ? error : request_wait(request, NULL);
}

static struct reduction sum_of_ints(void)
{
    return (struct reduction){ .commutes = true,
                               .layout = ints(),
                               .kernel = reduce_find(REDUCE_SUM, BASIC_UINT32) };
}

/* Blocks of an allgatherv or a reduce_scatter, in elements: the higher the rank, the shorter; none of the last of
 * three.  Behind each other, or as far apart as if they were alike. */
struct blocks {
    int64_t count[4], at[4];
};

static struct blocks blocks_of(int n, size_t longest, bool apart)
{
    struct blocks b = { .at = { 0 } };
    for (int r = 0; r < n; r++) {
        b.count[r] = r == 2 ? 0 : (int64_t)longest - 4000 * r;
        b.at[r] = apart ? r * (int64_t)longest : r == 0 ? 0 : b.at[r - 1] + b.count[r - 1];
    }
    return b;
}

static void gather_listed(struct team *team, bool in_place)
{
    int n = team->channel.size, me = team->channel.rank;
    struct blocks b = blocks_of(n, BLOCK, (me + in_place) % 2);
    uint32_t *in = malloc(BLOCK * 4), *out = calloc((size_t)n * BLOCK, 4);
    uint32_t *own = in_place ? out + b.at[me] : in;
    for (int64_t i = 0; i < b.count[me]; i++)
        own[i] = value(me, 0, (size_t)i);
    struct call call = { .what = COLL_ALLGATHERV, .in_place = in_place };
    if (!in_place)
        call.send = (struct part){ .base = in, .layout = ints(), .count = (size_t)b.count[me] };
    call.recv = (struct part){ .base = out, .layout = ints(), .vector = true };
    call.recv.counts.wide = b.count;
    call.recv.displs.wide = b.at;
    WRONG_UNLESS(perform(team, &call) == 0);
    for (int r = 0, at = 0; r < n; at = (int)(b.at[r] + b.count[r]), r++) {
        for (; at < b.at[r]; at++)
            WRONG_UNLESS(out[at] == 0);
        for (int64_t i = 0; i < b.count[r]; i++)
            WRONG_UNLESS(out[b.at[r] + i] == value(r, 0, (size_t)i));
    }
    free(in);
    free(out);
}

static void sum_listed(struct team *team, bool in_place)
{
    int n = team->channel.size, me = team->channel.rank;
    struct blocks b = blocks_of(n, 2 * BLOCK, false);
    size_t all = (size_t)(b.at[n - 1] + b.count[n - 1]);
    uint32_t *in = malloc(all * 4), *out = malloc(all * 4);
    for (size_t i = 0; i < all; i++)
        in[i] = out[i] = value(me, 0, i);
    struct call call = { .what = COLL_REDUCE_SCATTER,
                         .in_place = in_place,
                         .reduction = sum_of_ints() };
    call.send = (struct part){ .base = in_place ? NULL : in, .layout = ints() };
    call.recv = (struct part){ .base = out, .layout = ints(), .vector = true };
    call.recv.counts.wide = b.count;
    WRONG_UNLESS(perform(team, &call) == 0);
    for (int64_t i = 0; i < b.count[me]; i++) {
        uint32_t sum = 0;
        for (int r = 0; r < n; r++)
            sum += value(r, 0, (size_t)(b.at[me] + i));
        WRONG_UNLESS(out[i] == sum);
    }
    free(in);
    free(out);
}

static void spread(struct team *team, enum collective what, bool in_place)
{
    int n = team->channel.size, me = team->channel.rank, root = n - 1;
    bool all = what == COLL_ALLTOALL, takes = what != COLL_GATHER || me == root;
    bool here = in_place && takes;
    uint32_t *in = calloc((size_t)n * BLOCK, 4), *out = calloc((size_t)n * BLOCK, 4);
    for (int to = 0; to < n; to++)
        for (size_t i = 0; i < BLOCK; i++) {
            uint32_t v = value(me, all ? to : 0, i);
            in[(size_t)to * BLOCK + i] = v;
            if (here && (all || to == me))
                out[(size_t)to * BLOCK + i] = v;
        }
    struct call call = { .what = what, .in_place = here, .root = root };
    if (!here)
        call.send = (struct part){ .base = in, .layout = ints(), .count = BLOCK };
    if (takes)
        call.recv = (struct part){ .base = out, .layout = ints(), .count = BLOCK };
    WRONG_UNLESS(perform(team, &call) == 0);
    for (int from = 0; from < n && takes; from++)
        for (size_t i = 0; i < BLOCK; i++)
            WRONG_UNLESS(out[(size_t)from * BLOCK + i] == value(from, all ? me : 0, i));
    free(in);
    free(out);
}

static void sum(struct team *team, enum collective what, bool in_place)
{
    enum { COUNT = 12 * BLOCK / 2 }; /* in as many blocks as there are ranks, up to 4 */
    int n = team->channel.size, me = team->channel.rank, root = in_place ? 0 : n - 1;
    bool scatters = what == COLL_REDUCE_SCATTER_BLOCK;
    bool takes = what != COLL_REDUCE || me == root, here = in_place && takes;
    int last = what == COLL_SCAN ? me : what == COLL_EXSCAN ? me - 1 : n - 1;
    uint32_t *in = malloc(COUNT * 4), *out = malloc(COUNT * 4);
    for (size_t i = 0; i < COUNT; i++)
        in[i] = out[i] = value(me, 0, i);
    struct reduction op = sum_of_ints();
    size_t count = scatters ? COUNT / (size_t)n : COUNT;
    struct call call = { .what = what, .in_place = here, .root = root, .reduction = op };
    call.send = (struct part){ .base = here ? NULL : in, .layout = ints(), .count = count };
    call.recv = (struct part){ .base = takes ? out : NULL, .layout = ints(), .count = count };
    WRONG_UNLESS(perform(team, &call) == 0);
    for (size_t i = 0; i < count && takes && last >= 0; i++) {
        uint32_t all = 0;
        for (int r = 0; r <= last; r++)
            all += value(r, 0, scatters ? count * (size_t)me + i : i);
        WRONG_UNLESS(out[i] == all);
    }
    free(in);
    free(out);
}

static void call_once(struct team *team, enum collective what, bool in_place)
{
    if (what == COLL_ALLGATHERV)
        gather_listed(team, in_place);
    else if (what == COLL_REDUCE_SCATTER)
        sum_listed(team, in_place);
    else if (is_reduction(what))
        sum(team, what, in_place);
    else
        spread(team, what, in_place);
}

static bool is_attached(const struct team *team, enum collective what)
{
    return team->chosen[what] > 0 && algorithms[team->chosen[what] - 1].attaches;
}

/* ---- the tests ---- */

/* First those that are attached by the rules on more than two ranks; with a request no scans. */
static const enum collective kinds[] = {
    COLL_ALLGATHERV,
    COLL_ALLGATHER,
    COLL_ALLREDUCE,
    COLL_GATHER,
    COLL_ALLTOALL,
    COLL_REDUCE,
    COLL_REDUCE_SCATTER_BLOCK,
    COLL_REDUCE_SCATTER,
    COLL_SCAN,
    COLL_EXSCAN,
};
enum { KINDS = sizeof kinds / sizeof *kinds, ON_MANY = 4 };

static bool serves(enum collective what)
{
    return !later || attach_serves_nonblocking(what);
}
static int good_calls; /* before the first one that fails, on rank 0; on others one more each */

static void try_one(struct team *world, enum collective what, bool in_place)
{
    struct team team;
    int rank = world->channel.rank;
    team_make(&team, world);
    links_weaken(&team, good_calls + rank);
    writes_fail = !in_place || !is_reduction(what);
    call_once(&team, what, in_place);
    bool failed = calls_left < 0, attached = is_attached(&team, what);
    bool another = what == COLL_GATHER && world->channel.size == 2; /* see one_of_two_reaches */
    WRONG_UNLESS(!failed || !attached || another);
    links_weaken(&team, FOREVER);
    for (int i = 1; later && i < team.tiny->tracks; i++) { /* the others know nothing of it */
        call_once(&team, what, in_place);
        WRONG_UNLESS(is_attached(&team, what));
    }
    call_once(&team, what, in_place);
    WRONG_UNLESS(attached == is_attached(&team, what) || (later && another));
    team_close(&team);
}

static void try_all(int rank, int n)
{
    struct team world;
    world_open(&world, rank, n);
    for (int i = 0; i < 2 * (n > 2 ? ON_MANY : KINDS); i++)
        if (serves(kinds[i / 2]))
            try_one(&world, kinds[i / 2], i % 2);
    team_close(&world);
}

static void try_reached(bool with_request)
{
    later = with_request;
    good_calls = FOREVER;
    for (int n = 2; n <= 4; n++)
        ck_assert_msg(job_run(n, try_all), "%d ranks", n);
    later = false;
}

static void try_not_reached(bool with_request)
{
    later = with_request;
    for (int n = 2; n <= 3; n++)
        for (good_calls = 0; good_calls < 7; good_calls++)
            ck_assert_msg(job_run(n, try_all), "%d ranks, %d calls", n, good_calls);
    later = false;
}

START_TEST(memory_is_reached)
{
    try_reached(false);
}
END_TEST

START_TEST(memory_is_not_reached)
{
    try_not_reached(false);
}
END_TEST

START_TEST(memory_is_reached_later)
{
    try_reached(true);
}
END_TEST

START_TEST(memory_is_not_reached_later)
{
    try_not_reached(true);
}
END_TEST

/* ---- blocks that are read by who gets them ---- */

static const enum collective moved[] = { COLL_ALLGATHERV, COLL_ALLGATHER, COLL_ALLTOALL };
enum { MOVED = sizeof moved / sizeof *moved };

/* Blocks of all lengths here. */
static void learn_to_read(struct team *team)
{
    for (size_t bytes = BLOCK; bytes <= 8 * BLOCK; bytes *= 2)
        let_takers_read(&team->tiny->movers[MOVERS_OF_BLOCKS], bytes);
}

static void read_one(struct team *world, enum collective what, bool in_place)
{
    struct team team;
    int rank = world->channel.rank;
    team_make(&team, world);
    learn_to_read(&team);
    links_weaken(&team, good_calls + rank);
    uint64_t read = pml_counters.bytes_read, written = pml_counters.bytes_written;
    call_once(&team, what, in_place);
    bool failed = calls_left < 0, attached = is_attached(&team, what);
    WRONG_UNLESS(!failed || !attached);
    WRONG_UNLESS(!attached || pml_counters.bytes_written == written);
    WRONG_UNLESS(!attached || pml_counters.bytes_read > read);
    links_weaken(&team, FOREVER);
    call_once(&team, what, in_place);
    WRONG_UNLESS(attached == is_attached(&team, what));
    team_close(&team);
}

static void read_all(int rank, int n)
{
    struct team world;
    world_open(&world, rank, n);
    for (int i = 0; i < 2 * MOVED; i++)
        read_one(&world, moved[i / 2], i % 2);
    team_close(&world);
}

START_TEST(blocks_are_read)
{
    good_calls = FOREVER;
    for (int n = 2; n <= 4; n++)
        ck_assert_msg(job_run(n, read_all), "%d ranks", n);
}
END_TEST

START_TEST(blocks_are_not_read)
{
    for (int n = 2; n <= 3; n++)
        for (good_calls = 0; good_calls < 4; good_calls++)
            ck_assert_msg(job_run(n, read_all), "%d ranks, %d calls", n, good_calls);
}
END_TEST

/* It never comes to that, but if one rank would read and another write, all see it, and messages do it all. */
static void differ_all(int rank, int n)
{
    struct team world, team;
    world_open(&world, rank, n);
    for (int i = 0; i < 2 * MOVED; i++) {
        team_make(&team, &world);
        if (rank == i % n)
            learn_to_read(&team);
        call_once(&team, moved[i / 2], i % 2);
        WRONG_UNLESS(!is_attached(&team, moved[i / 2]) || team.tiny->apart);
        team_close(&team);
    }
    team_close(&world);
}

START_TEST(movers_that_differ_are_seen)
{
    for (int n = 2; n <= 4; n++)
        ck_assert_msg(job_run(n, differ_all), "%d ranks", n);
}
END_TEST

/* Everybody's next calls go the faster way, and change it together: the results of all are right. */
static void exchange_often(int rank, int n)
{
    enum { CALLS = 150 };
    struct team world, team;
    world_open(&world, rank, n);
    team_make(&team, &world);
    uint64_t read = pml_counters.bytes_read, written = pml_counters.bytes_written;
    for (int i = 0; i < CALLS; i++)
        call_once(&team, i % 3 ? COLL_ALLGATHER : COLL_ALLGATHERV, i % 2);
    WRONG_UNLESS(pml_counters.bytes_read > read && pml_counters.bytes_written > written);
    WRONG_UNLESS(is_attached(&team, COLL_ALLGATHER));
    for (int i = 0; i < CALLS; i++) /* of two ranks both have a part, whose shares change */
        call_once(&team, COLL_GATHER, i % 2);
    WRONG_UNLESS(is_attached(&team, COLL_GATHER));
    team_close(&team);
    team_close(&world);
}

START_TEST(both_ways_are_tried)
{
    for (int with_request = 0; with_request < 2; with_request++) {
        later = with_request;
        for (int n = 2; n <= 4; n++)
            ck_assert_msg(job_run(n, exchange_often), "%d ranks", n);
    }
    later = false;
}
END_TEST

/* ---- scans of more than two ranks, where it is no rule that chooses attach ---- */

static const char *const scans_attached = "scan=attach,exscan=attach";

static void scan_one(struct team *world, enum collective what, bool in_place)
{
    struct team team;
    team_make(&team, world);
    WRONG_UNLESS(team_force(&team, scans_attached, "attach_test") == 0);
    links_weaken(&team, good_calls + world->channel.rank);
    writes_fail = !in_place;
    ordered = &team;
    sum(&team, what, in_place);
    WRONG_UNLESS(!ordered && (calls_left >= 0 || team.tiny->apart != 0));
    WRONG_UNLESS(good_calls < FOREVER || (team.tiny->apart == 0 && is_attached(&team, what)));
    links_weaken(&team, FOREVER);
    sum(&team, what, in_place);
    team_close(&team);
}

static void scan_all(int rank, int n)
{
    struct team world;
    world_open(&world, rank, n);
    for (int i = 0; i < 4; i++)
        scan_one(&world, i % 2 ? COLL_SCAN : COLL_EXSCAN, i / 2);
    team_close(&world);
}

START_TEST(prefixes_of_many)
{
    good_calls = FOREVER;
    for (int n = 2; n <= 5; n++)
        ck_assert_msg(job_run(n, scan_all), "%d ranks", n);
    for (good_calls = 0; good_calls < 9; good_calls++)
        ck_assert_msg(job_run(3, scan_all), "3 ranks, %d calls", good_calls);
}
END_TEST

/* The same bits as those of a chain of messages, whatever is rounded. */
static const struct rounding {
    enum basic basic;
    bool mean, in_place;
} roundings[] = { { BASIC_FLOAT, false, false },
                  { BASIC_FLOAT, true, true },
                  { BASIC_FLOAT16, false, true },
                  { BASIC_FLOAT16, true, false } };

static void scan_with(struct team *team, enum collective what, const struct rounding *as,
                      const char *by, uint16_t *out)
{
    size_t bytes = as->basic == BASIC_FLOAT ? 4 : 2;
    struct layout *layout = layout_basic(as->basic, bytes, bytes);
    uint16_t *in = as->in_place ? out : malloc(BLOCK * bytes);
    for (size_t i = 0; i < BLOCK * bytes / 2; i++) /* from 1 up, so exponents differ */
        in[i] = (uint16_t)(0x3c00 + (value(team->channel.rank, 0, i) & 0x7ff));
    struct reduction op = { .commutes = true,
                            .layout = layout,
                            .kernel = reduce_find(REDUCE_SUM, as->basic),
                            .in_float = folding_in_float(REDUCE_SUM, as->basic),
                            .mean = as->mean };
    struct call call = { .what = what, .in_place = as->in_place, .reduction = op };
    call.send = (struct part){ .base = in, .layout = layout, .count = BLOCK };
    call.recv = (struct part){ .base = out, .layout = layout, .count = BLOCK };
    WRONG_UNLESS(team_force(team, by, "attach_test") == 0 && coll_run(team, &call) == 0);
    if (!as->in_place)
        free(in);
    layout_drop(layout);
}

static void scan_twice(int rank, int n)
{
    struct team team;
    world_open(&team, rank, n);
    uint16_t *one = calloc(BLOCK, 4), *other = calloc(BLOCK, 4);
    for (size_t i = 0; i < 2 * sizeof roundings / sizeof *roundings; i++) {
        enum collective what = i % 2 ? COLL_SCAN : COLL_EXSCAN;
        scan_with(&team, what, &roundings[i / 2], scans_attached, one);
        scan_with(&team, what, &roundings[i / 2], "scan=chain,exscan=chain", other);
        WRONG_UNLESS((what == COLL_EXSCAN && rank == 0) || memcmp(one, other, BLOCK * 4) == 0);
    }
    WRONG_UNLESS(one[0] != 0 || rank == 0);
    team_close(&team);
    free(one);
    free(other);
}

START_TEST(prefixes_are_those_of_a_chain)
{
    for (int n = 2; n <= 4; n++)
        ck_assert_msg(job_run(n, scan_twice), "%d ranks", n);
}
END_TEST

/* Only one of two may reach the other: it does all of a gather, whoever is the root; and what both are
 * needed for goes by messages, without an end to gathers. */
static int able; /* that one; -1: none */

static void gather_to(struct team *team, int root)
{
    int me = team->channel.rank;
    uint32_t *in = calloc(BLOCK, 4), *out = calloc(BLOCK, 8);
    for (size_t i = 0; i < BLOCK; i++)
        in[i] = value(me, root, i);
    struct call call = { .what = COLL_GATHER, .root = root };
    call.send = (struct part){ .base = in, .layout = ints(), .count = BLOCK };
    if (me == root)
        call.recv = (struct part){ .base = out, .layout = ints(), .count = BLOCK };
    WRONG_UNLESS(perform(team, &call) == 0);
    for (size_t i = 0; i < 2 * BLOCK && me == root; i++)
        WRONG_UNLESS(out[i] == value((int)(i / BLOCK), root, i % BLOCK));
    free(in);
    free(out);
}

static void one_side(int rank, int n)
{
    struct team world, team;
    world_open(&world, rank, n);
    for (int first = 0; first < 2; first++) {
        team_make(&team, &world);
        links_weaken(&team, rank == able ? FOREVER : 0);
        uint64_t before = pml_counters.bytes_read + pml_counters.bytes_written;
        for (int i = 0; i < 4; i++)
            gather_to(&team, (first + i) % 2);
        uint64_t moved = pml_counters.bytes_read + pml_counters.bytes_written - before;
        WRONG_UNLESS(moved >= (rank == able ? 4 * BLOCK * 4 : 0) &&
                     (rank == able || moved == 0));
        WRONG_UNLESS((team.tiny->apart == 0) == (able >= 0));
        if (able >= 0) {
            call_once(&team, COLL_ALLGATHER, false);
            WRONG_UNLESS(team.tiny->apart == 1u << COLL_ALLGATHER);
            gather_to(&team, first);
            WRONG_UNLESS(is_attached(&team, COLL_GATHER));
        }
        team_close(&team);
    }
    team_close(&world);
}

START_TEST(one_of_two_reaches)
{
    for (able = -1; able < 2; able++)
        ck_assert_msg(job_run(2, one_side), "rank %d can", able);
}
END_TEST

/* ---- bcast and scatter, which only the root and those that cannot read know to have failed ---- */

static void deal(struct team *team, enum collective what, int root, bool in_place)
{
    int n = team->channel.size, me = team->channel.rank;
    bool each = what == COLL_SCATTER, gives = me == root;
    uint32_t *in = calloc((size_t)n * BLOCK, 4), *out = calloc(BLOCK, 4);
    for (size_t i = 0; i < (each ? (size_t)n : 1) * BLOCK; i++)
        in[i] = gives ? value(root, (int)(i / BLOCK), i % BLOCK) : 0;
    struct call call = { .what = what, .root = root, .in_place = each && gives && in_place };
    if (each && gives)
        call.send = (struct part){ .base = in, .layout = ints(), .count = BLOCK };
    if (!call.in_place)
        call.recv = (struct part){ .base = each ? out : in, .layout = ints(), .count = BLOCK };
    WRONG_UNLESS(coll_run(team, &call) == 0);
    const uint32_t *got = !each ? in : call.in_place ? in + (size_t)me * BLOCK : out;
    for (size_t i = 0; i < BLOCK; i++)
        WRONG_UNLESS(got[i] == value(root, each ? me : 0, i));
    free(in);
    free(out);
}

/* Each rank is the root once, in turn, and reads as often as try_one lets it: could one rank not read
 * from this root? */
static bool fails_with(int root, int n)
{
    for (int r = 0; r < n; r++)
        if (r != root && root - (r < root) >= good_calls + r)
            return true;
    return false;
}

static void deal_one(struct team *world, enum collective what, bool in_place)
{
    struct team team;
    int n = world->channel.size, rank = world->channel.rank;
    team_make(&team, world);
    WRONG_UNLESS(team_force(&team, what == COLL_BCAST ? "bcast=attach" : "scatter=attach",
                            "attach_test") == 0);
    links_weaken(&team, good_calls + rank);
    for (int root = 0; root < n; root++)
        deal(&team, what, root, in_place);
    WRONG_UNLESS(team.tiny->unread == fails_with(rank, n) && is_attached(&team, what));
    WRONG_UNLESS(team_force(&team, "", "attach_test") == 0);
    team.crowded = true; /* so that it is a rule that chooses attach, while all can be read */
    deal(&team, what, n - 1, in_place);
    WRONG_UNLESS(is_attached(&team, what) == !fails_with(n - 1, n));
    deal(&team, what, 0, in_place);
    WRONG_UNLESS(is_attached(&team, what) == !fails_with(n - 1, n));
    team_close(&team);
}

static void deal_all(int rank, int n)
{
    struct team world;
    world_open(&world, rank, n);
    for (int in_place = 0; in_place < 2; in_place++) {
        deal_one(&world, COLL_BCAST, in_place);
        deal_one(&world, COLL_SCATTER, in_place);
    }
    team_close(&world);
}

START_TEST(some_read)
{
    good_calls = FOREVER;
    for (int n = 2; n <= 4; n++)
        ck_assert_msg(job_run(n, deal_all), "%d ranks", n);
    for (int n = 2; n <= 3; n++)
        for (good_calls = 0; good_calls < 2; good_calls++)
            ck_assert_msg(job_run(n, deal_all), "%d ranks, %d calls", n, good_calls);
}
END_TEST

/* Two ranks in different collectives: both are told. */
static const struct crossing {
    enum collective of[2]; /* what the ranks call */
    const char *names[2];
} crossings[] = {
    { { COLL_ALLTOALL, COLL_ALLGATHER }, { "MPI_Alltoall", "MPI_Allgather" } },
    { { COLL_BCAST, COLL_ALLGATHER }, { "MPI_Bcast", "MPI_Allgather" } }, /* by the root */
    { { COLL_ALLGATHER, COLL_BCAST }, { "MPI_Allgather", "MPI_Bcast" } },
    { { COLL_SCAN, COLL_ALLTOALL }, { "MPI_Scan", "MPI_Alltoall" } },
    { { COLL_ALLGATHER, COLL_EXSCAN }, { "MPI_Allgather", "MPI_Exscan" } },
}, *crossing;

static void cross(int rank, int n)
{
    struct team world;
    world_open(&world, rank, n);
    uint32_t *in = calloc((size_t)n * BLOCK, 4), *out = calloc((size_t)n * BLOCK, 4);
    WRONG_UNLESS(team_force(&world, "bcast=attach", "attach_test") == 0);
    struct call call = { .what = crossing->of[rank], .reduction = sum_of_ints() };
    call.send = (struct part){ .base = in, .layout = ints(), .count = BLOCK };
    call.recv = (struct part){ .base = out, .layout = ints(), .count = BLOCK };
    WRONG_UNLESS(coll_run(&world, &call) == MPI_ERR_OTHER);
    for (int i = 0; i < 2; i++)
        WRONG_UNLESS(strstr(fail_text(), crossing->names[i]));
    team_close(&world);
    free(in);
    free(out);
}

START_TEST(mismatches_are_told)
{
    for (size_t i = 0; i < sizeof crossings / sizeof *crossings; i++) {
        crossing = &crossings[i];
        ck_assert_msg(job_run(2, cross), "%s, %s", crossing->names[0], crossing->names[1]);
    }
}
END_TEST

UNIT_MAIN("attach", memory_is_reached, memory_is_not_reached, memory_is_reached_later,
          memory_is_not_reached_later, prefixes_of_many, prefixes_are_those_of_a_chain,
          one_of_two_reaches, some_read, mismatches_are_told, blocks_are_read,
          blocks_are_not_read, movers_that_differ_are_seen, both_ways_are_tried)
