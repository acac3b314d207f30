/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Time lines.  The ranks' records (runtime/trace.h) become slices, one per call; messages become
 * arrows.  No message carries a number for this: between two ranks, messages of one communicator
 * and tag are received in the order in which they were sent, so the n-th one sent is the n-th one
 * matched:
 *
 *     sort all SENT and all RECEIVED by (context, tag, sender, receiver), keeping their order
 *     walk both lists side by side; equal keys make an arrow, what is left over was not received
 *
 * Operations in streams of a device, and what the program puts there under a name, have a track for each
 * stream, below those of the rank's threads, whose calls only put them there.
 *
 * Times of other hosts become ours first (trace_far.h).  The file says how far their clocks were off,
 * and how wrong that may be: an arrow between hosts may seem to end that much too early or late.
 *
 * Memory: 40 bytes per message; the records are read where they lie.
 */
#include "launcher/trace_line.h"

#include "launcher/job.h"
#include "launcher/post.h"
#include "launcher/trace_far.h"
#include "runtime/json.h"
#include "runtime/record.h"
#include "runtime/trace.h"

#include <stdlib.h>

struct message {
    uint64_t context, order, time;
    int32_t tag, from, to;
    uint32_t thread;
};

struct messages {
    struct message *list;
    size_t n, room;
};

struct line { /* the time line that is being written */
    FILE *to;
    const struct job *job;
    const char *bytes;
    uint64_t size, origin;
    struct messages sent, received;
    uint64_t *named;                  /* by rank: streams whose track has a name, as bits */
    size_t intervals;                 /* written */
    const struct record_area **areas; /* by rank of the job; NULL: of another host */
};

/* ---- reading ---- */

static void add(struct messages *m, const struct message *message)
{
    if (m->n == m->room) {
        m->room = m->room ? 2 * m->room : 1024;
        m->list = realloc(m->list, m->room * sizeof *m->list);
        if (!m->list)
            abort();
    }
    m->list[m->n++] = *message;
}

typedef void visitor(struct line *line, int rank, const struct trace_record *record);

static void visit_window(struct line *line, const struct trace_record *records, visitor *visit)
{
    const size_t most = TRACE_WINDOW_BYTES / sizeof(struct trace_record);
    const struct trace_window *head = (const struct trace_window *)records;
    if (head->rank < 0 || head->rank >= line->job->plan->world)
        return;
    const struct far_clock *clock = trace_far_clock(head->from - 1);
    for (size_t i = 1; i < most && records[i].kind != TRACE_END; i++) {
        struct trace_record record = records[i];
        record.begin = trace_far_time(clock, record.begin);
        record.end = trace_far_time(clock, record.end);
        visit(line, head->rank, &record);
    }
}

static void visit_all(struct line *line, visitor *visit)
{
    for (uint64_t at = 0; at + TRACE_WINDOW_BYTES <= line->size; at += TRACE_WINDOW_BYTES)
        visit_window(line, (const struct trace_record *)(line->bytes + at), visit);
}

static void collect(struct line *line, int rank, const struct trace_record *r)
{
    if (!line->origin || r->begin < line->origin)
        line->origin = r->begin;
    if (r->kind != TRACE_SENT && r->kind != TRACE_RECEIVED)
        return;
    bool sent = r->kind == TRACE_SENT;
    struct messages *m = sent ? &line->sent : &line->received;
    struct message message = { .context = r->context,
                               .order = m->n,
                               .time = r->begin,
                               .tag = r->tag,
                               .from = sent ? rank : r->peer,
                               .to = sent ? r->peer : rank,
                               .thread = r->thread };
    add(m, &message);
}

/* ---- writing ---- */

static double microseconds(const struct line *line, uint64_t ns)
{
    return (double)(int64_t)(ns - line->origin) * 1e-3;
}

static const char *name_of(const struct line *line, int rank, uint32_t index)
{
    const struct record_area *area = line->areas[rank];
    return area ? area->names[index % RECORD_NAMES] : trace_far_name(rank, index);
}

/* It may be any text of the program's (MPIX_Trace_begin). */
static void write_name(struct line *line, int rank, uint32_t index)
{
    char name[RECORD_NAME_CHARS + 1];
    snprintf(name, sizeof name, "%.*s", RECORD_NAME_CHARS, name_of(line, rank, index));
    fputs("\"name\":\"", line->to);
    json_text(line->to, name);
    fputc('"', line->to);
}

static void write_call(struct line *line, int rank, const struct trace_record *r)
{
    if (r->kind != TRACE_CALL)
        return;
    fprintf(line->to, ",\n{\"ph\":\"X\",\"pid\":%d,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f,", rank,
            r->thread, microseconds(line, r->begin), (double)(r->end - r->begin) * 1e-3);
    write_name(line, rank, r->name);
    if (r->context)
        fprintf(line->to, ",\"args\":{\"%s\":%d,\"%s\":%d,\"bytes\":%llu,\"context\":\"%llx\"}",
                r->context % 2 ? "root" : "peer", r->peer, r->context % 2 ? "number" : "tag",
                r->tag, (unsigned long long)r->bytes, (unsigned long long)r->context);
    fputc('}', line->to);
}

/* ---- streams ---- */

enum { STREAM_TRACKS = 1000 /* the first one's number, above those of threads */, NAMED = 64 };

/* The program's own name for it, or NULL. */
static void name_track(struct line *line, int rank, uint32_t stream, const char *name)
{
    uint64_t bit = (uint64_t)1 << stream % NAMED;
    if (stream >= NAMED || line->named[rank] & bit)
        return;
    line->named[rank] |= bit;
    fprintf(
        line->to,
        ",\n{\"ph\":\"M\",\"pid\":%d,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":"
        "\"stream %u%s",
        rank, STREAM_TRACKS + stream, stream, name ? ": " : "");
    json_text(line->to, name ? name : "");
    fputs("\"}}", line->to);
}

static void write_track(struct line *line, int rank, const struct trace_record *r)
{
    char name[RECORD_NAME_CHARS + 1];
    if (r->kind != TRACE_TRACK)
        return;
    snprintf(name, sizeof name, "%.*s", RECORD_NAME_CHARS, name_of(line, rank, r->name));
    name_track(line, rank, r->thread, name);
}

static void write_stream_end(struct line *line, int rank, const struct trace_record *r)
{
    write_name(line, rank, r->name);
    fputs(",\"cat\":\"stream\"", line->to);
    if (r->bytes)
        fprintf(line->to, ",\"args\":{\"bytes\":%llu}", (unsigned long long)r->bytes);
    fputc('}', line->to);
}

/* One that the stream waits for is a slice; those that may overlap are intervals with a begin and an
 * end. */
static void write_stream(struct line *line, int rank, const struct trace_record *r)
{
    if (r->kind != TRACE_STREAM)
        return;
    name_track(line, rank, r->thread, NULL);
    double begin = microseconds(line, r->begin), end = microseconds(line, r->end);
    unsigned track = STREAM_TRACKS + r->thread;
    if (!r->beside) {
        fprintf(line->to, ",\n{\"ph\":\"X\",\"pid\":%d,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f,",
                rank, track, begin, end - begin);
        write_stream_end(line, rank, r);
        return;
    }
    line->intervals++;
    for (int i = 0; i < 2; i++) {
        fprintf(line->to, ",\n{\"ph\":\"%s\",\"id\":%zu,\"pid\":%d,\"tid\":%u,\"ts\":%.3f,",
                i ? "e" : "b", line->intervals, rank, track, i ? end : begin);
        write_stream_end(line, rank, r);
    }
}

/* ---- messages ---- */

static int compare_keys(const struct message *a, const struct message *b)
{
    if (a->context != b->context)
        return a->context < b->context ? -1 : 1;
    if (a->tag != b->tag)
        return a->tag < b->tag ? -1 : 1;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return a->to == b->to ? 0 : a->to < b->to ? -1 : 1;
}

static int compare(const void *a, const void *b)
{
    const struct message *x = a, *y = b;
    int keys = compare_keys(x, y);
    return keys ? keys : x->order < y->order ? -1 : 1;
}

static void write_arrow(struct line *line, size_t id, const struct message *sent,
                        const struct message *received)
{
    uint64_t begin = sent->time < received->time ? sent->time : received->time;
    fprintf(
        line->to,
        ",\n{\"ph\":\"s\",\"id\":%zu,\"pid\":%d,\"tid\":%u,\"ts\":%.3f,\"cat\":\"message\","
        "\"name\":\"message\"},\n{\"ph\":\"f\",\"bp\":\"e\",\"id\":%zu,\"pid\":%d,\"tid\":%u,"
        "\"ts\":%.3f,\"cat\":\"message\",\"name\":\"message\"}",
        id, sent->from, sent->thread, microseconds(line, begin), id, received->to,
        received->thread, microseconds(line, received->time));
}

static void write_arrows(struct line *line)
{
    struct messages *s = &line->sent, *r = &line->received;
    if (!s->n || !r->n)
        return;
    qsort(s->list, s->n, sizeof *s->list, compare);
    qsort(r->list, r->n, sizeof *r->list, compare);
    for (size_t i = 0, k = 0; i < s->n && k < r->n;) {
        int order = compare_keys(&s->list[i], &r->list[k]);
        if (order == 0)
            write_arrow(line, i + 1, &s->list[i], &r->list[k]);
        i += order <= 0;
        k += order >= 0;
    }
}

/* ---- what is who ---- */

/* Of a rank elsewhere; NULL: nothing has come from there. */
static const char *host_of(const struct job *job, int rank)
{
    const struct far_clock *clock =
        trace_far_clock(post_of_node(job, job->plan->node_of[rank]));
    return clock ? clock->host : NULL;
}

static void write_names(const struct line *line)
{
    const struct job *job = line->job;
    for (int i = 0; i < job->plan->world; i++) {
        const char *host = line->areas[i] ? NULL : host_of(job, i);
        fprintf(line->to,
                "%s\n{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_name\",\"args\":{\"name\":"
                "\"rank %d%s",
                i ? "," : "", i, i, host ? " on " : "");
        json_text(line->to, host ? host : "");
        fprintf(line->to,
                "\"}},\n{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_sort_index\","
                "\"args\":{\"sort_index\":%d}}",
                i, i);
    }
}

static void write_clocks(FILE *to)
{
    const struct far_clock *first = trace_far_clocks();
    for (const struct far_clock *c = first; c; c = c->next) {
        int64_t ns = c->end.at - c->begin.at;
        double drift = ns > 0 ? (double)(c->end.add - c->begin.add) / (double)ns : 0;
        fputs(c == first ? "\n{\"host\":\"" : ",\n{\"host\":\"", to);
        json_text(to, c->host);
        fprintf(to,
                "\",\"offset_us\":%.3f,\"error_us\":%.3f,"
                "\"offset_at_end_us\":%.3f,\"error_at_end_us\":%.3f,\"drift_ppm\":%.3f}",
                (double)-c->begin.add * 1e-3, (double)c->begin.error * 1e-3,
                (double)-c->end.add * 1e-3, (double)c->end.error * 1e-3, -drift * 1e6);
    }
}

void trace_line_write(const struct job *job, const char *bytes, uint64_t size, FILE *to)
{
    struct line line = { .job = job, .bytes = bytes, .size = size, .to = to };
    line.areas = calloc((size_t)job->plan->world, sizeof *line.areas);
    line.named = calloc((size_t)job->plan->world, sizeof *line.named);
    if (!line.areas || !line.named)
        abort();
    for (int i = 0; i < job->nranks; i++)
        line.areas[job_world(job, i)] = bootseg_record(job->segment, job->plan->ranks[i].local);
    visit_all(&line, collect);
    fputs(TRACE_LINE_BEGIN, to);
    write_clocks(to);
    fputs("]},\"traceEvents\":[", to);
    write_names(&line);
    visit_all(&line, write_call);
    visit_all(&line, write_track);
    visit_all(&line, write_stream);
    write_arrows(&line);
    fputs("\n]}\n", to);
    free(line.sent.list);
    free(line.received.list);
    free(line.areas);
    free(line.named);
}
