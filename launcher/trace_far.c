/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See trace_far.h.  Names cost 10 KB per rank, at xmpirun only.  A host that is lost takes its ranks'
 * part of the time line along, and so does one that gets no answer for PATIENCE_S.
 */
#include "launcher/trace_far.h"

#include "launcher/job.h"
#include "launcher/out.h"
#include "launcher/post.h"
#include "runtime/clock.h"
#include "runtime/record.h"
#include "runtime/trace.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PINGS = 8, PATIENCE_S = 10 };
static const int64_t FARTHEST = INT64_MAX / 4; /* two clocks are no 73 years apart */

typedef char name_table[RECORD_NAMES][RECORD_NAME_CHARS];

static struct {
    int raw;
    /* another host */
    int pings, answered;
    bool more; /* xmpirun has taken what was sent */
    struct far_sample samples[2], best;
    /* xmpirun */
    struct far_clock *clocks;
    name_table **names; /* by rank of the job */
    int nnames;
} far = { .raw = -1 };

/* ---- xmpirun ---- */

static void got_ping(struct job *job, int from, struct unpack *text)
{
    struct pack pong = { 0 };
    pack_number(&pong, unpack_number(text));
    pack_number(&pong, (int64_t)clock_ns());
    post_send(job, from, POST_TRACE_PONG, &pong);
    pack_free(&pong);
}

static struct far_sample take_sample(struct unpack *text)
{
    struct far_sample sample = { .at = unpack_number(text) };
    sample.add = unpack_number(text);
    sample.error = unpack_number(text);
    text->bad |= sample.at < 0 || sample.add < -FARTHEST || sample.add > FARTHEST;
    return sample;
}

static void got_clock(struct job *job, int from, struct unpack *text)
{
    (void)job;
    struct far_sample begin = take_sample(text), end = take_sample(text);
    const char *host = unpack_text(text);
    if (text->bad)
        return;
    struct far_clock *clock = calloc(1, sizeof *clock);
    if (!clock)
        abort();
    clock->number = from;
    clock->begin = begin;
    clock->end = end;
    clock->host = strdup(host);
    clock->next = far.clocks;
    far.clocks = clock;
}

static void got_names(struct job *job, int from, struct unpack *text)
{
    size_t bytes;
    (void)from;
    int rank = unpack_int(text, 0, job->plan->world - 1);
    const char *names = unpack_bytes(text, &bytes);
    text->bad |= bytes > sizeof(name_table);
    if (text->bad)
        return;
    if (!far.names)
        far.names = calloc((size_t)job->plan->world, sizeof *far.names);
    if (!far.names)
        abort();
    far.nnames = job->plan->world;
    free(far.names[rank]);
    far.names[rank] = calloc(1, sizeof(name_table));
    if (!far.names[rank])
        abort();
    memcpy(far.names[rank], names, bytes);
    for (int i = 0; i < RECORD_NAMES; i++)
        (*far.names[rank])[i][RECORD_NAME_CHARS - 1] = '\0';
}

/* Behind all others, as a rank here would put it. */
static bool keep_window(struct job *job, int from, struct trace_window head,
                        const char *records, size_t bytes)
{
    uint64_t at =
        __atomic_fetch_add(&job->segment->trace_used, TRACE_WINDOW_BYTES, __ATOMIC_RELAXED);
    head.from = from + 1;
    return pwrite(far.raw, "", 1, (off_t)(at + TRACE_WINDOW_BYTES - 1)) == 1 &&
           pwrite(far.raw, &head, sizeof head, (off_t)at) == sizeof head &&
           pwrite(far.raw, records, bytes, (off_t)(at + sizeof head)) == (ssize_t)bytes;
}

static void got_window(struct job *job, int from, struct unpack *text)
{
    size_t bytes;
    struct pack more = { 0 };
    struct trace_window head = { .rank = unpack_int(text, 0, job->plan->world - 1) };
    const char *records = unpack_bytes(text, &bytes);
    text->bad |= bytes > TRACE_WINDOW_BYTES - sizeof head || from < 0;
    if (text->bad)
        return;
    if (far.raw >= 0 && !keep_window(job, from, head, records, bytes)) {
        complain("XMPI_TRACE: the time line of other hosts finds no room here");
        far.raw = -1; /* it is not ours to close */
    }
    post_send(job, from, POST_TRACE_MORE, &more);
}

const struct far_clock *trace_far_clock(int number)
{
    const struct far_clock *clock = far.clocks;
    while (clock && clock->number != number)
        clock = clock->next;
    return clock;
}

uint64_t trace_far_time(const struct far_clock *clock, uint64_t ns)
{
    if (!clock)
        return ns;
    int64_t length = clock->end.at - clock->begin.at;
    double passed = length > 0 ? (double)((int64_t)ns - clock->begin.at) / (double)length : 0;
    double drift = (double)(clock->end.add - clock->begin.add) * passed;
    return ns + (uint64_t)(clock->begin.add + (int64_t)drift);
}

const char *trace_far_name(int rank, uint32_t index)
{
    if (rank >= far.nnames || !far.names[rank])
        return "?";
    return (*far.names[rank])[index % RECORD_NAMES];
}

const struct far_clock *trace_far_clocks(void)
{
    return far.clocks;
}

/* ---- another host: the clock ---- */

static void left_alone(struct job *job, int from, struct unpack *text)
{
    (void)from, (void)text;
    job->alone = true;
}

static void ping(struct job *job)
{
    struct pack text = { 0 };
    far.pings++;
    pack_number(&text, (int64_t)clock_ns());
    post_send(job, POST_ROOT, POST_TRACE_PING, &text);
    pack_free(&text);
}

static void got_pong(struct job *job, int from, struct unpack *text)
{
    int64_t now = (int64_t)clock_ns(), sent = unpack_number(text), there = unpack_number(text);
    (void)from;
    text->bad |= sent < 0 || sent > now || there < 0;
    if (text->bad)
        return;
    struct far_sample sample = { .at = now, .error = (now - sent) / 2 + 1 };
    sample.add = there - (now - (now - sent) / 2);
    if (!far.answered++ || sample.error < far.best.error)
        far.best = sample;
    if (far.pings < PINGS)
        ping(job);
}

void trace_far_begin(struct job *job)
{
    far.pings = far.answered = 0;
    if (far.raw >= 0)
        ping(job);
}

/* ---- another host: the windows ---- */

static void got_more(struct job *job, int from, struct unpack *text)
{
    (void)job, (void)from, (void)text;
    far.more = true;
}

static bool has_all_pongs(void)
{
    return far.answered == PINGS;
}

static bool is_taken(void)
{
    return far.more;
}

/* Turn the loop until something has come, unless nobody is there to send it. */
static bool await(const struct job *job, bool (*has_come)(void))
{
    uint64_t until = clock_ns() + PATIENCE_S * 1000000000ull;
    while (!has_come() && !job->alone && clock_ns() < until)
        loop_turn(20);
    return has_come();
}

static void pack_sample(struct pack *text, const struct far_sample *sample)
{
    pack_number(text, sample->at);
    pack_number(text, sample->add);
    pack_number(text, sample->error);
}

/* If the ranks were too quick for the first measurement, the second one serves for both. */
static void send_clock(struct job *job, const struct far_sample *begin)
{
    struct pack text = { 0 };
    pack_sample(&text, begin);
    pack_sample(&text, &far.best);
    pack_text(&text, job->plan->hosts[0].name);
    post_send(job, POST_ROOT, POST_TRACE_CLOCK, &text);
    pack_free(&text);
}

static void send_names(struct job *job)
{
    for (int i = 0; i < job->nranks; i++) {
        const struct record_area *area =
            bootseg_record(job->segment, job->plan->ranks[i].local);
        struct pack text = { 0 };
        int n = RECORD_NAMES;
        while (n && !area->names[n - 1][0])
            n--;
        pack_number(&text, job_world(job, i));
        pack_bytes(&text, area->names, (size_t)n * RECORD_NAME_CHARS);
        post_send(job, POST_ROOT, POST_TRACE_NAMES, &text);
        pack_free(&text);
    }
}

static bool send_window(struct job *job, const struct trace_record *records)
{
    enum { MOST = TRACE_WINDOW_BYTES / sizeof *records };
    struct pack text = { 0 };
    size_t n = 1;
    while (n < MOST && records[n].kind != TRACE_END)
        n++;
    pack_number(&text, ((const struct trace_window *)records)->rank);
    pack_bytes(&text, records + 1, (n - 1) * sizeof *records);
    far.more = false;
    post_send(job, POST_ROOT, POST_TRACE_WINDOW, &text);
    pack_free(&text);
    return await(job, is_taken);
}

static void send_windows(struct job *job)
{
    off_t size = lseek(far.raw, 0, SEEK_END);
    if (size <= 0)
        return;
    char *bytes = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, far.raw, 0);
    if (bytes == MAP_FAILED)
        return;
    for (off_t at = 0; at + TRACE_WINDOW_BYTES <= size; at += TRACE_WINDOW_BYTES)
        if (!send_window(job, (const struct trace_record *)(bytes + at)))
            break;
    munmap(bytes, (size_t)size);
}

void trace_far_send(struct job *job)
{
    bool measured = has_all_pongs();
    struct far_sample begin = far.best;
    trace_far_begin(job);
    if (!await(job, has_all_pongs))
        return;
    send_clock(job, measured ? &begin : &far.best);
    send_names(job);
    send_windows(job);
}

void trace_far_open(int raw)
{
    far.raw = raw;
    post_handle(POST_TRACE_PING, got_ping);
    post_handle(POST_TRACE_PONG, got_pong);
    post_handle(POST_TRACE_CLOCK, got_clock);
    post_handle(POST_TRACE_NAMES, got_names);
    post_handle(POST_TRACE_WINDOW, got_window);
    post_handle(POST_TRACE_MORE, got_more);
    post_handle(POST_ALONE, left_alone);
}
