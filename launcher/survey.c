/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See survey.h.  A situation travels as it lies in memory, since all hosts of a job have the same
 * xmpi, but for two things that mean nothing elsewhere: addresses, which are looked up here
 * (struct situation: places), and moments, which become ages.  3 KB for a rank that waits, some
 * bytes for one that moves, when nobody asked for more.
 *
 * A host whose ranks have ended says so before it goes: others may wait for them, which nobody could tell
 * if these were not known.
 */
#include "launcher/survey.h"

#include "launcher/job.h"
#include "launcher/post.h"
#include "launcher/status.h"
#include "runtime/clock.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_QUESTIONS = 4 };

struct question {
    bool full;
    const char *why;
    survey_done *done;
};

static struct {
    struct question list[MOST_QUESTIONS]; /* the first one is being asked */
    int n, number;
    struct situation *ranks; /* as far as they are known */
    int known;
    struct { /* of ranks whose hosts do not answer any more, NULL: there are none */
        uint8_t standing;
        int pid;
    } * parted;
} survey;

/* ---- answering ---- */

static void make_ages(struct situation *s, uint64_t now)
{
    s->wait.since = now - s->wait.since;
    for (int i = 0; i + 1 < s->nwaits; i++)
        s->more[i].since = now - s->more[i].since;
}

static size_t bytes_of(const struct situation *s)
{
    size_t more = s->nwaits > 1 ? (size_t)s->nwaits - 1 : 0;
    return offsetof(struct situation, more) + more * sizeof s->more[0];
}

static void pack_rank(struct situation *s, bool full, struct pack *pack)
{
    pack_number(pack, s->rank);
    pack_number(pack, s->moving && !full);
    if (s->moving && !full)
        return;
    status_look_up(s);
    make_ages(s, clock_ns());
    pack_bytes(pack, s, bytes_of(s));
}

/* Who has moved since the last question of this kind. */
static struct situation *look_again(struct job *job)
{
    static struct situation *before;
    struct situation *now = status_read(job->segment), *copy = NULL;
    if (now && before)
        status_compare(now, before, job->nranks);
    for (int i = 0; now && !before && i < job->nranks; i++)
        now[i].moving = true;
    free(before);
    before = now;
    size_t bytes = ((size_t)job->nranks + 1) * sizeof *copy;
    copy = now ? malloc(bytes) : NULL;
    return copy ? memcpy(copy, now, bytes - sizeof *copy) : NULL;
}

static void answer_here(struct job *job, struct unpack *question, struct pack *answer)
{
    int64_t number = unpack_number(question);
    bool full = unpack_int(question, 0, 1);
    struct situation *ranks = NULL;
    if (job->segment && !question->bad)
        ranks = full ? status_look(job->segment) : look_again(job);
    pack_number(answer, number);
    pack_number(answer, ranks ? job->nranks : 0);
    for (int i = 0; ranks && i < job->nranks; i++)
        pack_rank(&ranks[i], full, answer);
    free(ranks);
}

static void asked(struct job *job, int from, struct unpack *question)
{
    struct pack answer = { 0 };
    answer_here(job, question, &answer);
    if (!question->bad)
        post_send(job, from, POST_SEEN, &answer);
    pack_free(&answer);
}

void survey_part(struct job *job)
{
    struct situation *ranks =
        job->segment && job->plan->world <= SURVEY_MOST ? status_read(job->segment) : NULL;
    struct pack news = { 0 };
    pack_number(&news, ranks ? job->nranks : 0);
    for (int i = 0; ranks && i < job->nranks; i++) {
        pack_number(&news, ranks[i].rank);
        pack_number(&news, ranks[i].world_over ? STANDING_FINAL : ranks[i].standing);
        pack_number(&news, ranks[i].pid);
    }
    if (ranks)
        post_send(job, POST_ROOT, POST_PARTED, &news);
    pack_free(&news);
    free(ranks);
}

/* ---- who does not answer any more ---- */

/* Put into the question that is being asked what is known without an answer. */
static void fill_in(int world)
{
    struct situation *s = survey.ranks ? &survey.ranks[world] : NULL;
    if (!s || s->standing != STANDING_UNKNOWN ||
        survey.parted[world].standing == STANDING_UNKNOWN)
        return;
    *s = (struct situation){ .far = true,
                             .rank = world,
                             .standing = survey.parted[world].standing,
                             .pid = survey.parted[world].pid };
    survey.known++;
}

static void note_parted(const struct job *job, int world, enum standing standing, int pid)
{
    if (!survey.parted)
        survey.parted = calloc((size_t)job->plan->world, sizeof *survey.parted);
    if (!survey.parted)
        abort();
    survey.parted[world].standing = standing;
    survey.parted[world].pid = pid;
    fill_in(world);
}

void survey_lost(const struct job *job, int world)
{
    if (job->others && job->host == POST_ROOT && job->plan->world <= SURVEY_MOST)
        note_parted(job, world, STANDING_GONE, 0);
}

/* ---- asking ---- */

static void ask(struct job *job)
{
    struct pack question = { 0 };
    survey.known = 0;
    survey.ranks = calloc((size_t)job->plan->world, sizeof *survey.ranks);
    if (!survey.ranks)
        abort();
    for (int i = 0; survey.parted && i < job->plan->world; i++)
        fill_in(i);
    pack_number(&question, ++survey.number);
    pack_number(&question, survey.list[0].full);
    job_set_deadline(job, DEADLINE_SURVEY, SURVEY_MS);
    post_send(job, POST_ALL, POST_LOOK, &question);
    post_send(job, POST_ROOT, POST_LOOK, &question);
    pack_free(&question);
}

bool survey_begin(struct job *job, bool full, const char *why, survey_done *done)
{
    if (survey.n == MOST_QUESTIONS)
        return false;
    survey.list[survey.n++] = (struct question){ full, why, done };
    if (survey.n == 1)
        ask(job);
    return true;
}

static void finish(struct job *job)
{
    struct question first = survey.list[0];
    struct situation *ranks = survey.ranks;
    job->deadlines[DEADLINE_SURVEY] = 0;
    survey.ranks = NULL;
    first.done(job, first.why, ranks, job->plan->world - survey.known);
    free(ranks);
    survey.n--;
    memmove(survey.list, survey.list + 1, (size_t)survey.n * sizeof survey.list[0]);
    if (survey.n)
        ask(job);
}

void survey_late(struct job *job)
{
    if (survey.ranks)
        finish(job);
}

/* Texts end, numbers are in their ranges: another host is believed, but not with our memory. */
static bool tidy(struct situation *s, size_t bytes)
{
    uint64_t now = clock_ns();
    if (s->standing > STANDING_GONE || s->nwaits < 0 || s->nwaits > RECORD_WAITS ||
        bytes != bytes_of(s))
        return false;
    s->far = true;
    s->last_call[sizeof s->last_call - 1] = 0;
    for (int i = 0; i < RECORD_WAITS; i++)
        s->places[i][sizeof s->places[i] - 1] = 0;
    for (int i = 0; i < RECORD_WAITS; i++) {
        struct record_wait *wait = i ? &s->more[i - 1] : &s->wait;
        wait->since = now - wait->since;
        status_tidy(wait);
    }
    return true;
}

static void take_rank(struct unpack *from, int world)
{
    size_t bytes;
    int rank = unpack_int(from, 0, world - 1);
    bool moving = unpack_int(from, 0, 1);
    struct situation *s = &survey.ranks[rank], new = { .far = true };
    if (moving) {
        new.standing = STANDING_OUTSIDE;
        new.moving = true;
    } else {
        const char *lies = unpack_bytes(from, &bytes);
        from->bad |= bytes < offsetof(struct situation, more) || bytes > sizeof new;
        if (from->bad)
            return;
        memcpy(&new, lies, bytes);
        from->bad |= !tidy(&new, bytes);
    }
    if (from->bad)
        return;
    survey.known += s->standing == STANDING_UNKNOWN;
    new.rank = rank;
    *s = new;
}

static void got_answer(struct job *job, int host, struct unpack *from)
{
    (void)host;
    int world = job->plan->world;
    int64_t number = unpack_number(from);
    if (number != survey.number || !survey.ranks)
        return; /* too late */
    int n = unpack_int(from, 0, world);
    for (int i = 0; i < n && !from->bad; i++)
        take_rank(from, world);
    if (survey.known == world)
        finish(job);
}

static void got_parted(struct job *job, int host, struct unpack *from)
{
    (void)host;
    int n = unpack_int(from, 0, job->plan->world);
    for (int i = 0; i < n && !from->bad; i++) {
        int world = unpack_int(from, 0, job->plan->world - 1);
        int standing = unpack_int(from, STANDING_ABSENT, STANDING_GONE);
        int pid = unpack_int(from, 0, INT_MAX);
        if (!from->bad)
            note_parted(job, world, (enum standing)standing, pid);
    }
    if (survey.ranks && survey.known == job->plan->world)
        finish(job);
}

void survey_open(void)
{
    post_handle(POST_LOOK, asked);
    post_handle(POST_SEEN, got_answer);
    post_handle(POST_PARTED, got_parted);
}

bool survey_is_possible(const struct job *job)
{
    return job->others && job->host == POST_ROOT && job->plan->world <= SURVEY_MOST;
}
