/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Frames of every kind with payloads that make no sense, as a launcher gets them from below and from
 * above: refused or without effect, never a read or a write where nothing is.  The bytes come from
 * a generator with a seed; a fuzzer may choose them instead:
 *
 *     clang -g -DFUZZED -fsanitize=fuzzer,address,undefined -I. -Iinclude -IBUILD -IBUILD/include \
 *         test/unit/frames_test.c BUILD/launcher/.libs/liblauncher.a -ldl -o fuzz && ./fuzz
 *
 * where BUILD was configured with CC=clang and -fsanitize=fuzzer-no-link,address,undefined; without the first
 * of these the fuzzer does not see where its bytes lead.
 */
#include "launcher/frames.h"
#include "launcher/inquiry.h"
#include "launcher/job.h"
#include "launcher/others.h"
#include "launcher/out.h"
#include "launcher/pmix_far.h"
#include "launcher/post.h"
#include "launcher/status.h"
#include "launcher/survey.h"
#include "launcher/trace_far.h"
#include "launcher/uplink.h"

#include "test/unit/unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WORLD = 6, NODES = 3, HERE = 7, LONGEST = 512 };

static struct remote remote_list[2] = { { .number = 0, .n = 2, .name = "a", .here = true },
                                        { .number = 2, .n = 1, .name = "b", .here = true } };
static int32_t node_of_rank[WORLD] = { 0, 0, 1, 1, 2, 2 };
static const int32_t node_of_host[] = { 1, -1, 2, NODES_END };
static struct planned ranks[2] = { { 0, 0, 0, 0 }, { 1, 0, 0, 1 } };
static struct host host = { .name = "here", .is_local = true };
static struct options options;
static struct plan plan = { .hosts = &host,
                            .nhosts = 1,
                            .nranks = 2,
                            .world = WORLD,
                            .nnodes = NODES,
                            .node_of = node_of_rank,
                            .ranks = ranks };
static struct rank rank_list[2];
static struct job job;

static void up_nowhere(int kind, const struct pack *payload)
{
    (void)kind, (void)payload;
}

static const struct others others = { .stopping = remote_stopping,
                                      .signalled = remote_signalled,
                                      .send = remote_send,
                                      .host_of = remote_host_of };

static void surveyed(struct job *ours, const char *why, const struct situation *of_ranks,
                     int missing)
{
    (void)ours, (void)why, (void)of_ranks, (void)missing;
}

/* A job at the root or in the middle of a tree, whose neighbours are not connected. */
static void begin(bool root)
{
    size_t bytes = bootseg_bytes(plan.nranks, WORLD, NULL);
    if (!job.segment) {
        job.segment = calloc(1, bytes);
        if (!job.segment)
            abort();
        bootseg_format(job.segment, "1-2", plan.nranks, WORLD, NULL);
    }
    struct boot_header *segment = job.segment;
    job = (struct job){ .options = &options,
                        .plan = &plan,
                        .others = &others,
                        .host = root ? POST_ROOT : HERE,
                        .nranks = plan.nranks,
                        .ranks = rank_list,
                        .segment = segment };
    out_stdout.broken = out_stderr.broken = true;
    complaints_wanted = false;
    remotes.list = remote_list;
    remotes.n = 2;
    up.job = &job;
    for (int i = 0; i < 2; i++)
        remote_list[i].done = remote_list[i].fed = false;
    remote_begin(&job, node_of_host, root ? NULL : up_nowhere);
    survey_open();
    inquiry_open();
    trace_far_open(-1);
    far_open(false, "xmpi-1-2", "xmpi-1-2");
    if (root)
        survey_begin(&job, false, "", surveyed);
}

/* One frame; the payload lies at the end of its memory. */
static void try_frame(const uint8_t *data, size_t n, bool from_above, int kind)
{
    char *payload = malloc(n + !n);
    if (!payload)
        abort();
    if (n)
        memcpy(payload, data, n);
    struct unpack from = { payload, payload + n, false };
    if (from_above)
        uplink_said(kind, &from);
    else
        remotes.said(&remote_list[n % 2], kind, &from);
    free(payload);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    begin(n % 2);
    while (n >= 2) { /* which way and what, bytes, payload */
        size_t bytes = data[1] < n - 2 ? data[1] : n - 2;
        try_frame(data + 2, bytes, data[0] & 1, data[0] >> 1);
        data += 2 + bytes;
        n -= 2 + bytes;
    }
    return 0;
}

#ifndef FUZZED

static uint64_t state = 1;

static unsigned any(unsigned below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % below;
}

/* Numbers as payloads have them, most of them small, some at an end of what there is. */
static size_t number(uint8_t *to)
{
    static const int64_t odd[] = { -1, INT64_MAX, INT64_MIN, 1ll << 31, 1ll << 32, 320, 321 };
    int64_t value = any(4) ? (int64_t)any(8) : odd[any(sizeof odd / sizeof odd[0])];
    for (int i = 0; i < 8; i++)
        to[i] = (uint8_t)((uint64_t)value >> 8 * i);
    return 8;
}

static size_t make_frames(uint8_t *to)
{
    size_t n = 0;
    for (unsigned frames = 1 + any(4); frames; frames--) {
        size_t head = n;
        to[n] = (uint8_t)any(2 * (FRAME_POST + 2));
        n += 2;
        for (unsigned parts = any(6); parts; parts--) {
            if (any(3))
                n += number(to + n);
            else
                to[n++] = (uint8_t)any(3);
        }
        to[head + 1] = (uint8_t)(n - head - 2);
    }
    return n;
}

START_TEST(frames_of_garbage)
{
    uint8_t bytes[LONGEST];
    for (int i = 0; i < 300000; i++)
        LLVMFuzzerTestOneInput(bytes, make_frames(bytes));
}
END_TEST

/* Two ranks that wait for each other for ever, and whose records somebody has written over. */
static void write_over(struct record_wait *wait, int for_whom)
{
    memset(wait, 'x', sizeof *wait);
    wait->version = 0;
    wait->since = wait->polled = wait->changed = 0;
    wait->any = 0;
    wait->nitems = 1;
    wait->items[0].kind = RECORD_RECV;
    wait->items[0].world = wait->items[0].peer = for_whom;
    memset(&wait->collective, 0, sizeof wait->collective);
}

static int stuck;

static void explain_all(struct job *ours, const char *why, const struct situation *of_ranks,
                        int missing)
{
    static struct blame blame;
    (void)why, (void)missing;
    blame_find(of_ranks, ours->plan->world, 0, &blame);
    stuck = blame.nstuck;
}

START_TEST(wild_records_here)
{
    begin(false);
    for (int i = 0; i < 2; i++) {
        atomic_store(&bootseg_rank(job.segment, i)->state, BOOT_INITED);
        bootseg_rank(job.segment, i)->world_rank = i;
        write_over(&bootseg_record(job.segment, i)->waits[0], 1 - i);
    }
    struct situation *of_ranks = status_read(job.segment);
    struct blame blame;
    blame_find(of_ranks, 2, 0, &blame);
    ck_assert_int_eq(blame.nstuck, 2);
    free(of_ranks);
}
END_TEST

START_TEST(wild_records_elsewhere)
{
    struct pack frame = { 0 };
    begin(false);
    job.host = POST_ROOT;
    ck_assert(
        survey_begin(&job, true, "", explain_all)); /* the first one; ranks 0 and 1 answer */
    pack_number(&frame, POST_ROOT);
    pack_number(&frame, 0);
    pack_number(&frame, POST_SEEN);
    pack_number(&frame, 1);
    pack_number(&frame, 4);
    for (int rank = 2; rank < WORLD; rank++) {
        struct situation s = { .standing = STANDING_WAITING, .rank = rank, .nwaits = 1 };
        write_over(&s.wait, rank % 2 ? rank - 1 : rank + 1);
        s.seconds = 20;
        pack_number(&frame, rank);
        pack_number(&frame, 0);
        pack_bytes(&frame, &s, offsetof(struct situation, more));
    }
    struct unpack from = { frame.bytes, frame.bytes + frame.n, false };
    remotes.said(&remote_list[0], FRAME_POST, &from);
    ck_assert(!from.bad);
    ck_assert_int_eq(stuck, 4);
    pack_free(&frame);
}
END_TEST

/* What stands on the doorstep: any bytes at all, or an opening and then any bytes. */
static void lost(struct wire *wire, const char *why)
{
    (void)why;
    *(bool *)wire->owner = true;
}

static void frame(struct wire *wire, int kind, struct unpack *payload)
{
    (void)wire, (void)payload;
    ck_abort_msg("frame %d was taken", kind);
}

START_TEST(openings_of_garbage)
{
    static const struct wire_user user = { frame, lost };
    static const uint8_t secret[KEY_BYTES] = { 7 };
    ck_assert_int_eq(loop_open(), 0);
    for (int i = 0; i < 20000; i++) {
        uint8_t bytes[LONGEST] = "xmpiwire\2";
        size_t n = any(3) ? 40 + any(200) : any(LONGEST);
        for (size_t at = any(20) ? 40 : any(10); at < n; at++)
            bytes[at] = any(4) ? 0 : (uint8_t)any(256);
        int ends[2];
        bool gone = false;
        struct wire wire = { .user = &user, .owner = &gone };
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        ck_assert_int_eq(wire_open(&wire, ends[0], true, 0, secret), 0);
        ck_assert_int_eq(write(ends[1], bytes, n), (ssize_t)n);
        close(ends[1]);
        for (int turns = 0; turns < 10 && !gone; turns++)
            loop_turn(0);
        ck_assert(gone);
    }
}
END_TEST

UNIT_MAIN("frames", frames_of_garbage, openings_of_garbage, wild_records_here,
          wild_records_elsewhere)

#endif
