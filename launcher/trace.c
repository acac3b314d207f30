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
 * Memory: 40 bytes per message; the records are read where they lie.
 */
#define _GNU_SOURCE 1 /* O_TMPFILE, memfd_create */
#include "launcher/trace.h"

#include "launcher/job.h"
#include "launcher/out.h"
#include "runtime/record.h"
#include "runtime/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int raw = -1; /* what the ranks write into */

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
    const char *bytes; /* of the ranks' file */
    uint64_t size, origin;
    struct messages sent, received;
};

int trace_start(struct job *job)
{
    const char *name = getenv("XMPI_TRACE");
    if (!name || !*name)
        return 0;
    if (job->others) {
        if (!launcher_name) /* xmpirun itself: once is enough */
            complain("XMPI_TRACE=%s: there is no time line of jobs on several hosts yet", name);
        return 0;
    }
    char *copy = strdup(name);
    raw = copy ? open(dirname(copy), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
    if (raw < 0)
        raw = memfd_create("xmpi-trace", MFD_CLOEXEC);
    free(copy);
    if (raw < 0) {
        complain("XMPI_TRACE=%s: cannot make a file for the ranks: %s", name, strerror(errno));
        return 1;
    }
    job->segment->trace_fd = raw;
    return 0;
}

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

static void visit_all(struct line *line, visitor *visit)
{
    const size_t most = TRACE_WINDOW_BYTES / sizeof(struct trace_record);
    for (uint64_t at = 0; at + TRACE_WINDOW_BYTES <= line->size; at += TRACE_WINDOW_BYTES) {
        const struct trace_record *records = (const struct trace_record *)(line->bytes + at);
        int rank = ((const struct trace_window *)(line->bytes + at))->rank;
        if (rank < 0 || rank >= line->job->nranks)
            continue;
        for (size_t i = 1; i < most && records[i].kind != TRACE_END; i++)
            visit(line, rank, &records[i]);
    }
}

static void collect(struct line *line, int rank, const struct trace_record *r)
{
    if (!line->origin || r->begin < line->origin)
        line->origin = r->begin;
    if (r->kind == TRACE_CALL)
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
    return (double)(ns - line->origin) * 1e-3;
}

static void write_call(struct line *line, int rank, const struct trace_record *r)
{
    if (r->kind != TRACE_CALL)
        return;
    int local = line->job->plan->ranks[rank].local;
    const struct record_area *area = bootseg_record(line->job->segment, local);
    fprintf(line->to,
            ",\n{\"ph\":\"X\",\"pid\":%d,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f,\"name\":\"%.*s\"",
            rank, r->thread, microseconds(line, r->begin), (double)(r->end - r->begin) * 1e-3,
            RECORD_NAME_CHARS, area->names[r->name % RECORD_NAMES]);
    if (r->context)
        fprintf(line->to, ",\"args\":{\"%s\":%d,\"%s\":%d,\"bytes\":%llu,\"context\":\"%llx\"}",
                r->context % 2 ? "root" : "peer", r->peer, r->context % 2 ? "number" : "tag",
                r->tag, (unsigned long long)r->bytes, (unsigned long long)r->context);
    fputc('}', line->to);
}

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

static void write_line(struct line *line)
{
    visit_all(line, collect);
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", line->to);
    for (int i = 0; i < line->job->nranks; i++)
        fprintf(
            line->to,
            "%s\n{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_name\",\"args\":{\"name\":\"rank "
            "%d\"}},\n{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_sort_index\",\"args\":"
            "{\"sort_index\":%d}}",
            i ? "," : "", i, i, i, i);
    visit_all(line, write_call);
    write_arrows(line);
    fputs("\n]}\n", line->to);
    free(line->sent.list);
    free(line->received.list);
}

void trace_stop(struct job *job)
{
    const char *name = getenv("XMPI_TRACE");
    if (raw < 0)
        return;
    off_t size = lseek(raw, 0, SEEK_END);
    struct line line = { .job = job, .size = size > 0 ? (uint64_t)size : 0 };
    void *bytes = size > 0 ? mmap(NULL, line.size, PROT_READ, MAP_SHARED, raw, 0) : NULL;
    line.bytes = bytes;
    line.to = bytes == MAP_FAILED ? NULL : fopen(name, "we");
    if (line.to)
        write_line(&line);
    if (!line.to || fclose(line.to) != 0)
        complain("XMPI_TRACE=%s: cannot write the time line: %s", name, strerror(errno));
    close(raw);
    raw = -1;
}
