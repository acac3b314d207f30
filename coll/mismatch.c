/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks in different collectives that wait for each other.  Where a message or a slot says something
 * else than was expected, whoever receives it knows.  But nobody may say anything:
 *
 *     rank 0   Reduce to rank 0, number 17     waits for rank 1
 *     rank 1   Reduce to rank 1, number 17     waits for rank 0
 *
 * So whoever has waited in a collective for ASK_NS sends those it waits for an empty message with its
 * signature, "I am in this", again after twice that time, and a last time after four times.  Who gets
 * one compares it with what it has said in the collective of that number, or remembers it until it
 * comes to that.
 *
 * Who finds a mismatch in a message or in such a word tells all members, and each gives the channel up
 * (pml/broken.c): what waits ends with an error that says both calls, and so does every collective on
 * this communicator from then on, for nobody knows how far the others are.
 *
 * An ASK that meets a channel that is given up is answered with the reason, and one that meets no channel is
 * dropped, for it may be closed there: who asks may come again.
 *
 * One that has left the communicator is not asked, but has left what it said (last.c): that is looked at as long
 * as the wait goes on, since it may leave at any time.
 *
 * Nothing is sent where nobody waits for so long.  Collectives between two groups are not asked about,
 * since a group need not know which rank of it is the root; nor anything once a process is lost, when
 * survivors give up at different places.
 */
#include "coll/tell.h"

#include "pml/failure.h"
#include "runtime/boot.h"
#include "runtime/clock.h"
#include "runtime/fail.h"
#include "runtime/record.h"
#include "mpi.h"

#include <stdlib.h>
#include <string.h>

enum { STEP_ASK = PML_WORDS, STEP_TELL = PML_WORDS_LAST };
enum { ALL = -1 };

/* A word that comes is a movement, so a deadlock is not one before the last of them. */
static const uint64_t ASK_NS = 200000000, LAST_ASK_NS = 4 * ASK_NS;

static struct finding { /* a mismatch that has not been acted on */
    struct finding *next;
    struct mismatch mismatch;
    bool mine; /* the others are to be told, */
    int whom;  /* or one of them */
} * findings;

static void finding_put(struct finding *f, const struct mismatch *m, bool mine, int whom)
{
    *f = (struct finding){ findings, *m, mine, whom };
    findings = f;
    pml_settle_soon();
}

/* ---- how many bytes ---- */

/* What a rank of this machine has told its flight recorder of a collective; 0: nothing, or it is long ago. */
static uint64_t bytes_recorded(const struct record_area *area, uint64_t context,
                               uint32_t number)
{
    struct record_event event;
    uint64_t n = area ? __atomic_load_n(&area->head, __ATOMIC_ACQUIRE) : 0;
    while (n-- > 0 && record_event_read(area, n, &event))
        if (event.context == context && (uint32_t)event.tag == (number & COLL_NUMBERS))
            return event.bytes_name >> 8;
    return 0;
}

static const struct record_area *recorder_of(const struct channel *channel, int rank)
{
    return rank == channel->rank ? record_area
                                 : boot_recorder(ranks_world(channel->peers, rank));
}

/* `me` may be another one, who has told of it. */
void mismatch_measure(struct mismatch *m)
{
    const struct channel *channel = channel_find(m->context);
    if (!channel)
        return;
    if (!m->my_bytes)
        m->my_bytes = bytes_recorded(recorder_of(channel, m->me), m->context, m->my_number);
    if (!m->their_bytes)
        m->their_bytes =
            bytes_recorded(recorder_of(channel, m->peer), m->context, m->their_number);
}

/* ---- found ---- */

/* Somebody had no memory for a communicator that others may have made on this one; then he is in none of those that
 * were made in that call, or after it.  This one?  As what it is given up. */
static bool was_not_made(const struct channel *channel, const struct channel *parent,
                         const struct mismatch *m, struct mismatch *here)
{
    const struct team *team = team_of(channel);
    if (!channel_is_collective(channel) || channel->broken || team->parent != parent->context ||
        numbers_ahead(team->birth, m->my_number) < 0)
        return false;
    *here = *m;
    here->context = channel->context;
    here->me = here->peer = ranks_find(channel->peers, ranks_world(parent->peers, m->me));
    return here->me >= 0;
}

/* Of two groups one may not have heard of it. */
static void give_up_children(const struct channel *parent, const struct mismatch *m,
                             const char *text)
{
    struct mismatch here;
    for (struct channel *c = channel_next(NULL); c; c = channel_next(c)) {
        struct finding *f = was_not_made(c, parent, m, &here) ? malloc(sizeof *f) : NULL;
        if (!f)
            continue;
        channel_break(c, text);
        team_of(c)->met = here;
        finding_put(f, &here, team_of(c)->split > 0, ALL);
    }
}

/* From now on nothing begins on the channel; what is under way ends when nobody is in the middle of it
 * (mismatch_settle).  Without memory the next word finds it again, or is answered with it. */
static void found(const struct mismatch *m, bool mine)
{
    struct channel *channel = channel_find(m->context);
    struct finding *f = channel && !channel->broken ? malloc(sizeof *f) : NULL;
    char text[BROKEN_CHARS];
    if (f && mismatch_text(m, text))
        channel_break(channel, text);
    if (!f || !channel->broken) {
        free(f);
        return;
    }
    team_of(channel)->met = *m;
    finding_put(f, m, mine, ALL);
    if (m->their_signature == SIGNATURE_NO_MEMORY)
        give_up_children(channel, m, text);
}

static void end_again(const struct team *team)
{
    struct finding *f = malloc(sizeof *f);
    if (f)
        finding_put(f, &team->met, false, ALL);
}

/* Who asks there has not heard of it.  Without memory: it will ask again. */
static void tell_again(const struct team *team, int whom)
{
    struct finding *f = malloc(sizeof *f);
    if (f)
        finding_put(f, &team->met, true, whom);
}

/* ---- words ---- */

static void word_sent(struct request *request)
{
    free(request->owner);
}

/* What is told is a copy of `m`, freed when it is sent; NULL: nothing. */
static void word_send(struct channel *channel, int rank, const struct envelope *word,
                      const struct mismatch *m)
{
    struct mismatch *copy = m ? malloc(sizeof *copy) : NULL;
    struct buffer data = { copy, copy ? sizeof *copy : 0, &layout_bytes, HERE };
    struct envelope to = *word;
    struct request *request;
    to.peer = rank;
    if (copy)
        *copy = *m;
    if (pml_isend(channel, &data, &to, SEND_STANDARD, &request)) {
        free(copy); /* that rank is lost */
    } else if (request->done) {
        request->ops->release(request);
        free(copy);
    } else {
        request->owner = copy;
        request->orphan = true;
        request->on_done = word_sent;
    }
}

static void tell(struct channel *channel, const struct mismatch *m, int whom)
{
    struct envelope word = { .tag = (int)m->my_number, .step = STEP_TELL };
    for (int r = 0; r < channel->size; r++)
        if (r != channel->rank && (whom == ALL || r == whom) &&
            !last_words_of(channel, r, NULL))
            word_send(channel, r, &word, m);
}

static void found_here(struct mismatch m)
{
    mismatch_measure(&m);
    found(&m, true);
}

/* What this rank has said in that collective, against what somebody says of it.  False: it has not
 * come so far, or has forgotten. */
static bool compare(const struct team *team, int peer, uint64_t theirs)
{
    uint64_t mine = said_in(team, (uint32_t)(theirs >> 32));
    if (mine && words_differ(mine, theirs) && !failures_any())
        found_here((struct mismatch){ .context = team->channel.context,
                                      .me = team->channel.rank,
                                      .peer = peer,
                                      .my_signature = (uint32_t)mine,
                                      .their_signature = (uint32_t)theirs,
                                      .my_number = (uint32_t)(mine >> 32),
                                      .their_number = (uint32_t)(theirs >> 32) });
    return mine != 0;
}

static bool is_to_come(const struct team *team, uint64_t word)
{
    return numbers_ahead((uint32_t)(word >> 32), team->calls) > 0;
}

static void hear(struct team *team, const struct envelope *from)
{
    uint64_t theirs = said_word((uint32_t)from->tag, from->signature);
    if (team->channel.broken) {
        tell_again(team, from->peer);
        return;
    }
    if (compare(team, from->peer, theirs) || !is_to_come(team, theirs))
        return;
    team->asked = theirs;
    team->asker = from->peer;
    stray_look_again(team); /* which comes here */
}

void mismatch_recall(struct team *team)
{
    if (compare(team, team->asker, team->asked) || !is_to_come(team, team->asked))
        team->asked = 0;
}

static void word_arrived(struct channel *channel, const struct envelope *from,
                         const void *payload, size_t bytes)
{
    struct mismatch m;
    if (from->step == STEP_ASK)
        hear(team_of(channel), from);
    if (from->step != STEP_TELL || bytes != sizeof m)
        return;
    memcpy(&m, payload, sizeof m);
    found(&m, false);
}

/* ---- acting ---- */

int mismatch_settle(void)
{
    int n = 0;
    for (struct finding *f; (f = findings); n++) {
        struct channel *channel = channel_find(f->mismatch.context);
        findings = f->next;
        if (channel && f->mine)
            tell(channel, &f->mismatch, f->whom);
        if (channel)
            channel_end(channel);
        free(f);
    }
    if (n > 0)
        pml_spare_fill();
    return n;
}

void mismatch_give_up(const struct team *team, uint64_t word, int error)
{
    int me = team->channel.rank;
    uint32_t number = (uint32_t)(word >> 32);
    if (error != MPI_ERR_NO_MEM || team->channel.broken || failures_any())
        return;
    pml_spare_drop();
    found(&(struct mismatch){ .context = team->channel.context,
                              .me = me,
                              .peer = me,
                              .my_signature = (uint32_t)word,
                              .their_signature = SIGNATURE_NO_MEMORY,
                              .my_number = number,
                              .their_number = number },
          true);
}

int mismatch_keep(const struct team *team, int error, int stray)
{
    if (!error)
        fail_recall(team);
    fail_keep(team, error ? error : stray);
    mismatch_settle();
    fail_recall(team);
    return error ? error : stray;
}

int mismatch_end(const struct team *team, int error, int stray)
{
    mismatch_give_up(team, team->said[team->calls % TEAM_SAID], error);
    return mismatch_keep(team, error, stray);
}

int mismatch_fail(const struct mismatch *m)
{
    char text[BROKEN_CHARS];
    struct mismatch measured = *m;
    mismatch_measure(&measured);
    if (!mismatch_text(&measured, text))
        return 0;
    found(&measured, true);
    return fail(MPI_ERR_OTHER, "%s", text);
}

/* ---- waiting for long ---- */

/* It can be asked no more, but has left word.  Where the channel is given up already, what this rank sends
 * to one that has left since then ends now. */
static void read_last(struct team *team, int peer, uint64_t said)
{
    struct last_words last;
    struct mismatch m = { .context = team->channel.context, .me = team->channel.rank };
    if (!last_words_of(&team->channel, peer, &last) || failures_any())
        return; /* where somebody is lost others give up, and that is no mismatch */
    if (team->channel.broken)
        end_again(team);
    else if (last_words_differ(&last, peer, said, &m))
        found_here(m);
}

/* One thing that a wait waits for: if somebody has to do his part of a collective, tell him which. */
static void ask(const struct record_item *item, uint32_t number, bool by_message)
{
    struct channel *channel = number ? channel_find(item->context) : NULL;
    struct team *team = team_of(channel);
    if (!channel || team->split || item->peer < 0 || item->peer >= channel->size ||
        item->peer == channel->rank)
        return;
    uint64_t said = said_in(team, number);
    struct envelope word = { .tag = (int)(said >> 32),
                             .step = STEP_ASK,
                             .signature = (uint32_t)said };
    if (!said)
        return;
    if (last_words_of(channel, item->peer, NULL))
        read_last(team, item->peer, said);
    else if (by_message && !channel->broken)
        word_send(channel, item->peer, &word, NULL);
}

/* Those whom it waits for, as far as it can tell.  A blocking one may wait for a message by itself. */
static void ask_all(const struct record_wait *wait, bool by_message)
{
    for (int i = 0; i < wait->nitems && i < RECORD_ITEMS; i++) {
        const struct record_item *item = &wait->items[i];
        bool is_part = !item->number && item->context == wait->collective.context;
        ask(item, is_part ? wait->collective.number : item->number, by_message);
    }
}

static void look_at_waits(void)
{
    static struct {
        uint32_t serial;
        uint64_t after; /* this long, it asks */
    } asked[RECORD_WAITS];
    uint64_t now = clock_ns();
    for (int i = 0; i < RECORD_WAITS && !failures_any(); i++) {
        const struct record_wait *wait = &record_area->waits[i];
        if (!wait->serial || !*wait->collective.name)
            continue;
        if (asked[i].serial != wait->serial)
            asked[i].after = ASK_NS;
        asked[i].serial = wait->serial;
        if (now - wait->since < asked[i].after)
            continue;
        bool by_message = asked[i].after <= LAST_ASK_NS;
        asked[i].after += by_message ? asked[i].after : LAST_ASK_NS;
        ask_all(wait, by_message);
    }
}

static const struct pml_judge judge = { mismatch_fail, word_arrived, look_at_waits,
                                        mismatch_settle, last_misses };

void mismatch_open(void)
{
    pml_judge = &judge;
    pml_spare_fill();
}

void mismatch_close(void)
{
    pml_spare_drop();
}
