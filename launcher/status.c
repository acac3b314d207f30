/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What each rank of a job does, from its record in the boot segment, and how that reads:
 *
 *     rank 1 (pid 4712): MPI_Recv from rank 0, tag 6, up to 400 bytes, MPI_COMM_WORLD
 *         for 12.3 s, at wrong.c:17 (main)
 *         a message from rank 0 with tag 5 (400 bytes, MPI_COMM_WORLD) is here and not asked for
 */
#include "launcher/status.h"

#include "runtime/clock.h"
#include "runtime/printable.h"
#include "runtime/system_text.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- reading ---- */

/* Its state, a letter; *threads: how many it has. */
static char process_state(pid_t pid, int *threads)
{
    char path[40], text[512], state = '?';
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    *threads = 0;
    system_text(path, text, sizeof text);
    const char *end = strrchr(text, ')');
    if (!end || sscanf(end + 1,
                       " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d",
                       &state, threads) < 1)
        return '?';
    return state;
}

static double seconds_since(uint64_t ns)
{
    uint64_t now = clock_ns();
    return now > ns ? (double)(now - ns) * 1e-9 : 0;
}

/* Tests that find nothing are a wait as long as they are made. */
static bool still_waits(const struct record_area *area, const struct record_wait *wait)
{
    enum { LATEST_S = 1 };
    return !wait->polled || (wait->head == __atomic_load_n(&area->head, __ATOMIC_ACQUIRE) &&
                             seconds_since(wait->polled) < LATEST_S);
}

void status_tidy(struct record_wait *wait)
{
    wait->call[sizeof wait->call - 1] = 0;
    wait->collective.name[sizeof wait->collective.name - 1] = 0;
    printable_here(wait->collective.comm, sizeof wait->collective.comm);
    printable_here(wait->near.comm, sizeof wait->near.comm);
    for (int i = 0; i < RECORD_ITEMS; i++)
        printable_here(wait->items[i].comm, sizeof wait->items[i].comm);
    if (wait->nitems < 0)
        wait->nitems = 0;
    if (wait->near.found < 0 || wait->near.found > RECORD_ITEMS)
        wait->near.found = 0;
}

/* The longest first. */
static void read_waits(const struct record_area *area, struct situation *s)
{
    struct record_wait copy;
    uint64_t youngest = 0;
    for (int i = 0; i < RECORD_WAITS; i++) {
        if (!record_wait_read(&area->waits[i], &copy) || !still_waits(area, &copy))
            continue;
        status_tidy(&copy);
        uint64_t since = copy.changed > copy.since ? copy.changed : copy.since;
        youngest = since > youngest ? since : youngest;
        if (s->nwaits > 0 && copy.since < s->wait.since) {
            s->more[s->nwaits - 1] = s->wait;
            s->wait = copy;
        } else if (s->nwaits > 0) {
            s->more[s->nwaits - 1] = copy;
        } else {
            s->wait = copy;
        }
        s->nwaits++;
    }
    if (s->nwaits) {
        s->standing = STANDING_WAITING;
        s->seconds = seconds_since(s->wait.since);
        s->least_seconds = seconds_since(youngest);
    }
}

static void read_last(const struct record_area *area, struct situation *s)
{
    uint64_t head = __atomic_load_n(&area->head, __ATOMIC_ACQUIRE);
    s->seconds = -1;
    if (!head || !record_event_read(area, head - 1, &s->last))
        return;
    snprintf(s->last_call, sizeof s->last_call, "%.*s", RECORD_NAME_CHARS - 1,
             area->names[s->last.bytes_name % RECORD_NAMES]);
    s->seconds = seconds_since(record_event_ns(area, &s->last));
    s->last_caller = area->caller;
}

static enum standing standing_of(const struct boot_rank *record)
{
    switch ((enum boot_state)atomic_load(&record->state)) {
    case BOOT_FINALIZED:
        return STANDING_FINAL;
    case BOOT_RESTING:
        return STANDING_RESTING;
    case BOOT_STARTED:
        return STANDING_ABSENT;
    default:
        return atomic_load(&record->dead) ? STANDING_GONE : STANDING_OUTSIDE;
    }
}

bool status_tests(const struct situation *s)
{
    bool does = s->nwaits > 0 && s->wait.polled;
    for (int i = 0; i < s->nwaits - 1; i++)
        does |= s->more[i].polled != 0;
    return does;
}

static void read_process(const struct record_area *area, struct situation *s)
{
    int threads;
    s->state = process_state(s->pid, &threads);
    s->stopped = s->state == 'T';
    /* What a program tests for may depend on what its other threads compute. */
    s->threads_free =
        (area->multiple || status_tests(s)) && threads > s->nwaits + area->helpers;
    s->undelivered = area->undelivered;
    memcpy(s->moves_with, area->moves_with, sizeof s->moves_with);
    s->moves += s->wait.moves;
    for (int i = 0; i < s->nwaits - 1; i++)
        s->moves += s->more[i].moves;
}

struct situation *status_read(struct boot_header *segment)
{
    int n = segment->nlocal;
    struct situation *all = calloc((size_t)n + 1, sizeof *all);
    for (int i = 0; all && i < n; i++) {
        const struct boot_rank *record = bootseg_rank(segment, i);
        const struct record_area *area = bootseg_record(segment, i);
        struct situation *s = &all[i];
        s->rank = record->world_rank;
        s->standing = standing_of(record);
        s->pid = atomic_load(&record->pid);
        s->moves = area->head + area->serial;
        s->world_over = s->standing == STANDING_RESTING && (atomic_load(&record->silent) & 1);
        if (s->standing == STANDING_OUTSIDE || s->standing == STANDING_RESTING) {
            read_last(area, s);
            read_waits(area, s);
            read_process(area, s);
        }
    }
    return all;
}

void status_compare(struct situation *now, const struct situation *before, int n)
{
    for (int i = 0; i < n; i++)
        now[i].moving = now[i].moves != before[i].moves;
}

void status_pause(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
}

struct situation *status_look_again(struct boot_header *segment, struct situation *before)
{
    struct situation *now = status_read(segment);
    if (now && before)
        status_compare(now, before, segment->nlocal);
    free(before);
    return now;
}

struct situation *status_look(struct boot_header *segment)
{
    struct situation *before = status_read(segment);
    status_pause();
    return status_look_again(segment, before);
}

/* ---- one wait as words ---- */

static void print_peer(FILE *to, const struct record_item *item)
{
    if (item->peer < 0 && item->world < 0)
        fputs("any rank", to);
    else if (item->peer < 0)
        fprintf(to, "rank %d", item->world);
    else
        fprintf(to, "rank %d", item->peer);
    if (item->peer >= 0 && item->world != item->peer)
        fprintf(to, " (%d of the job)", item->world);
}

static void print_item(FILE *to, const struct record_item *item)
{
    static const char *const ways[] = {
        [RECORD_OTHER] = "for something outside of MPI",
        [RECORD_SEND] = "to ",
        [RECORD_RECV] = "from ",
        [RECORD_PROBE] = "from ",
        [RECORD_PART] = "for ",
        [RECORD_READY] = "for MPI_Pready of partition ",
    };
    int kind = item->kind < 0 || item->kind > RECORD_READY ? RECORD_OTHER : item->kind;
    if (kind == RECORD_SEND && item->context == 0) {
        fputs("until what was sent is received by ", to);
        print_peer(to, item);
        return;
    }
    fputs(ways[kind], to);
    if (kind == RECORD_OTHER)
        return;
    if (kind == RECORD_READY) {
        fprintf(to, "%llu to rank %d, tag %d, %.*s", (unsigned long long)item->bytes,
                item->peer, item->tag, RECORD_COMM_CHARS, item->comm);
        return;
    }
    print_peer(to, item);
    if (kind == RECORD_PART || item->context == 0 || item->context % 2)
        return; /* tags and bytes of collectives are their own affair */
    if (item->tag == -2)
        fputs(", any tag", to);
    else
        fprintf(to, ", tag %d", item->tag);
    if (kind != RECORD_PROBE)
        fprintf(to, ", %s%llu bytes", kind == RECORD_RECV ? "up to " : "",
                (unsigned long long)item->bytes);
    fprintf(to, ", %.*s", RECORD_COMM_CHARS, item->comm);
}

static void print_collective(FILE *to, const struct record_wait *wait)
{
    const struct record_collective *c = &wait->collective;
    if (strcmp(c->name, wait->call) != 0)
        fprintf(to, " in %s", c->name);
    fprintf(to, ", collective %u on %.*s", c->number, RECORD_COMM_CHARS, c->comm);
    if (c->root >= 0)
        fprintf(to, ", root %d", c->root);
    if (c->bytes)
        fprintf(to, ", %llu bytes", (unsigned long long)c->bytes);
    fputs(";", to);
}

/* One wait as words: "MPI_Recv from rank 1, tag 5, ..". */
static void print_words(FILE *to, const struct record_wait *wait)
{
    fputs(*wait->call ? wait->call : "MPI", to);
    if (*wait->collective.name)
        print_collective(to, wait);
    int shown = wait->nitems < RECORD_ITEMS ? wait->nitems : RECORD_ITEMS;
    for (int i = 0; i < shown; i++) {
        fputs(i == 0 ? " " : wait->any ? "; or " : "; and ", to);
        if (i == 0 && *wait->collective.name && wait->items[i].kind != RECORD_PART)
            fputs("message ", to);
        print_item(to, &wait->items[i]);
    }
    if (wait->nitems > shown)
        fprintf(to, "; and %d more", wait->nitems - shown);
}

/* ---- all ranks ---- */

static void print_near(FILE *to, const struct record_near *near)
{
    fprintf(
        to,
        "        a message from rank %d with tag %d (%llu bytes, %.*s) is here and not asked "
        "for\n",
        near->source, near->tag, (unsigned long long)near->bytes, RECORD_COMM_CHARS,
        near->comm);
}

/* Of wait number i, where it has some. */
static const char *place_in(const struct situation *s, int i)
{
    if (s->far)
        return s->places[i];
    if (s->standing != STANDING_WAITING)
        return place_of(s->pid, s->last_caller);
    return place_of(s->pid, i ? s->more[i - 1].caller : s->wait.caller);
}

void status_look_up(struct situation *s)
{
    int n = s->standing == STANDING_WAITING ? s->nwaits : s->standing == STANDING_OUTSIDE;
    for (int i = 0; i < n; i++)
        snprintf(s->places[i], sizeof s->places[i], "%s", place_in(s, i));
}

static void print_wait(FILE *to, const struct situation *s, int i)
{
    const struct record_wait *wait = i ? &s->more[i - 1] : &s->wait;
    print_words(to, wait);
    const char *place = place_in(s, i);
    fprintf(to, "\n        %sfor %.1f s%s%s", wait->polled ? "asked for again and again " : "",
            seconds_since(wait->since), *place ? ", at " : "", place);
    if (s->stopped)
        fputs("; stopped by a signal", to);
    if (i == 0 && s->undelivered > 0)
        fprintf(to, "; the network still moves its messages to or from %d rank%s",
                s->undelivered, s->undelivered == 1 ? "" : "s");
    fputc('\n', to);
    if (wait->near.found)
        print_near(to, &wait->near);
}

static void print_waiting(FILE *to, const struct situation *s)
{
    print_wait(to, s, 0);
    for (int i = 1; i < s->nwaits; i++) {
        fputs("        another thread: ", to);
        print_wait(to, s, i);
    }
}

static void print_outside(FILE *to, const struct situation *s)
{
    char state = s->state;
    fprintf(to, "outside of MPI%s",
            state == 'R'   ? ", computing"
            : state == 'T' ? ", stopped by a signal"
            : state == 'S' ? ", asleep"
                           : "");
    if (s->seconds >= 0 && *s->last_call) {
        const char *place = place_in(s, 0);
        fprintf(to, "; its last was %s, %.1f s ago%s%s", s->last_call, s->seconds,
                *place ? ", at " : "", place);
    }
    fputc('\n', to);
}

void status_print(FILE *to, const struct situation *ranks, int n, double settled)
{
    static const char *const words[] = {
        [STANDING_ABSENT] = "has not called MPI_Init",
        [STANDING_RESTING] = "has ended its last session",
        [STANDING_FINAL] = "has called MPI_Finalize",
        [STANDING_GONE] = "has died",
    };
    for (int i = 0; i < n; i++) {
        if (ranks[i].standing == STANDING_UNKNOWN)
            continue;
        fprintf(to, "    rank %d", ranks[i].rank);
        if (ranks[i].pid)
            fprintf(to, " (pid %d)", (int)ranks[i].pid);
        fputs(": ", to);
        if (ranks[i].standing == STANDING_WAITING)
            print_waiting(to, &ranks[i]);
        else if (ranks[i].standing == STANDING_OUTSIDE)
            print_outside(to, &ranks[i]);
        else
            fprintf(to, "%s\n",
                    words[ranks[i].world_over ? STANDING_FINAL : ranks[i].standing]);
    }
    struct blame blame;
    blame_find(ranks, n, settled, &blame);
    fputs(blame.text, to);
}
