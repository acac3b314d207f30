/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The last words of a rank.  Who only sends in a collective may be the first to leave:
 *
 *     rank 0   Scan of 8 bytes: its slot, and it is through      MPI_Finalize
 *     rank 1   Scan of 1 MiB, which goes another way             waits for rank 0, which answers nobody
 *
 * So whoever leaves a communicator, by MPI_Finalize or by freeing it, writes down in its record area what it has
 * said in the last collectives there.  Those of its machine who have waited for long read it, as if it had answered
 * (mismatch.c).  It may also have left too early, and never called what they wait for.
 *
 * Once somebody is lost, ranks leave where they like, and that is no mismatch.  Then what counts is how many
 * collectives a rank had begun: those it has done its part of, and the others may still be in them; of later ones it
 * is lost (pml/failure.h).
 *
 * Costs nothing before a rank leaves.
 */
#include "coll/tell.h"

#include "pml/failure.h"
#include "runtime/boot.h"
#include "runtime/log.h"
#include "runtime/record.h"

#include <stddef.h>
#include <string.h>

_Static_assert((int)TEAM_SAID == (int)RECORD_SAID, "all that a team remembers is written down");
_Static_assert(sizeof(struct mismatch) <= RECORD_MET_BYTES, "why it was given up as well");
_Static_assert(sizeof(struct mismatch) % sizeof(uint64_t) == 0, "in words");
_Static_assert(offsetof(struct record_last, met) % sizeof(uint64_t) == 0, "in words");

/* ---- written once more while somebody reads it ---- */

/* The writer takes the context away, fences, writes, and puts the next context there; a reader copies, fences, and
 * looks whether the context is still the same.  Hence words, written and read as atomics: a copy may be of two
 * communicators, but then it is not used. */
typedef uint64_t __attribute__((may_alias)) word;

static void words_write(void *to, const void *from, size_t bytes)
{
    for (size_t i = 0; i < bytes / sizeof(word); i++)
        __atomic_store_n((word *)to + i, ((const word *)from)[i], __ATOMIC_RELAXED);
}

static void words_read(void *to, const void *from, size_t bytes)
{
    for (size_t i = 0; i < bytes / sizeof(word); i++)
        ((word *)to)[i] = __atomic_load_n((const word *)from + i, __ATOMIC_RELAXED);
}

static void said_write(struct record_last *last, const struct team *team)
{
    static const struct mismatch none;
    atomic_store_explicit(&last->context, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release); /* that of left_read */
    words_write(last->said, team->said, sizeof team->said);
    words_write(last->met, team->channel.broken ? &team->met : &none, sizeof team->met);
    atomic_store_explicit(&last->context, team->channel.context, memory_order_release);
}

void last_words(const struct team *team, bool freed)
{
    const struct channel *channel = &team->channel;
    struct record_area *area = record_area;
    if (channel->size < 2 || record_left_read(area, channel->context))
        return;
    uint32_t n = area->lefts++;
    struct record_left *left = &area->left[n % RECORD_LEFT];
    atomic_store_explicit(&left->context, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release); /* that of left_read */
    __atomic_store_n(&left->calls, team->calls & COLL_NUMBERS, __ATOMIC_RELAXED);
    __atomic_store_n(&left->freed, (int16_t)freed, __ATOMIC_RELAXED);
    __atomic_store_n(&left->losses, (int16_t)failures_any(), __ATOMIC_RELAXED);
    said_write(&area->last[n % RECORD_LAST], team);
    atomic_store_explicit(&left->context, channel->context, memory_order_release);
}

/* Both are copied before either is looked at again: the fence here is for those of last_words and said_write. */
static bool left_read(const struct record_area *area, uint64_t context, struct last_words *copy)
{
    const struct record_left *left = record_left_read(area, context);
    const struct record_last *last = left ? record_last_read(area, context) : NULL;
    if (!left || __atomic_load_n(&left->losses, __ATOMIC_RELAXED))
        return false;
    memset(copy, 0, sizeof *copy);
    copy->calls = __atomic_load_n(&left->calls, __ATOMIC_RELAXED);
    copy->freed = __atomic_load_n(&left->freed, __ATOMIC_RELAXED);
    if (last) {
        words_read(copy->said, last->said, sizeof copy->said);
        words_read(&copy->met, last->met, sizeof copy->met);
    }
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&left->context, memory_order_relaxed) == context &&
           (!last || atomic_load_explicit(&last->context, memory_order_relaxed) == context);
}

bool last_words_of(const struct channel *channel, int peer, struct last_words *copy)
{
    struct last_words unread;
    const struct record_area *area = boot_recorder(ranks_world(channel->peers, peer));
    return area && left_read(area, channel->context, copy ? copy : &unread);
}

bool last_words_differ(const struct last_words *last, int peer, uint64_t mine,
                       struct mismatch *m)
{
    uint32_t number = (uint32_t)(mine >> 32);
    uint64_t theirs = said_of(last->said, number);
    if (last->met.context) {
        *m = last->met;
        return true;
    }
    m->peer = peer;
    m->my_signature = (uint32_t)mine;
    m->my_number = m->their_number = number;
    if (numbers_ahead(number, last->calls) > 0) {
        m->their_signature = last->freed ? SIGNATURE_FREED : SIGNATURE_FINALIZED;
        return true;
    }
    m->their_signature = (uint32_t)theirs;
    m->their_number = (uint32_t)(theirs >> 32);
    return theirs && words_differ(mine, theirs);
}

/* ---- after a loss ---- */

/* A persistent one may be started again, and how often it was nobody knows. */
bool last_misses(const struct channel *channel, int world, int number)
{
    const struct team *team = team_of(channel);
    const struct record_area *area = boot_recorder(world);
    const struct record_left *left = area ? record_left_read(area, channel->context) : NULL;
    bool latest = number == COLLECTIVE_LATEST;
    if (!left || number == 0 || (!latest && number & COLL_PERSISTENT))
        return true;
    return numbers_ahead(latest ? team->calls : (uint32_t)number,
                         __atomic_load_n(&left->calls, __ATOMIC_RELAXED)) > 0;
}

/* ---- at the end ---- */

/* In the same collective, one of those that both remember, they have said what does not go together. */
static bool words_met(const struct team *team, const struct last_words *last,
                      struct mismatch *m)
{
    uint32_t number = last->calls;
    for (int back = 0; back < RECORD_SAID; back++, number = (number - 1) & COLL_NUMBERS) {
        uint64_t mine = said_in(team, number), theirs = said_of(last->said, number);
        if (!mine || !theirs || !words_differ(mine, theirs))
            continue;
        m->my_signature = (uint32_t)mine;
        m->their_signature = (uint32_t)theirs;
        m->my_number = m->their_number = number;
        return true;
    }
    return false;
}

/* One has ended with more collectives than the other. */
static bool calls_missing(const struct team *team, const struct last_words *last,
                          struct mismatch *m)
{
    int ahead = numbers_ahead(team->calls, last->calls);
    bool is_mine = ahead > 0;
    uint32_t number = ((is_mine ? last->calls : team->calls) + 1) & COLL_NUMBERS;
    uint64_t word = is_mine ? said_in(team, number) : said_of(last->said, number);
    if (ahead == 0 || !word)
        return false;
    m->my_signature = is_mine ? (uint32_t)word : SIGNATURE_FINALIZED;
    m->their_signature = is_mine ? SIGNATURE_FINALIZED : (uint32_t)word;
    m->my_number = m->their_number = number;
    return true;
}

/* Somebody of this machine has ended who called other collectives on this communicator than this rank, or
 * more or less of them, and nobody waited for anybody.  False: not this peer, or it cannot be told. */
static bool calls_differ(const struct team *team, int peer, struct mismatch *m)
{
    struct last_words last;
    if (!last_words_of(&team->channel, peer, &last) || last.freed || last.met.context)
        return false;
    *m = (struct mismatch){ .context = team->channel.context,
                            .me = team->channel.rank,
                            .peer = peer };
    return words_met(team, &last, m) || calls_missing(team, &last, m);
}

static void last_calls_say(struct team *team)
{
    struct mismatch m;
    char text[BROKEN_CHARS];
    bool differ = false;
    if (team->channel.broken || team->strays_told || failures_any())
        return;
    atomic_thread_fence(
        memory_order_seq_cst); /* of two that leave at the same time one sees the other */
    for (int peer = 0; peer < team->channel.size && !differ; peer++)
        differ = peer != team->channel.rank && calls_differ(team, peer, &m);
    if (differ)
        mismatch_measure(&m);
    team->strays_told = differ && mismatch_text(&m, text);
    if (team->strays_told)
        say("%s", text);
}

void last_words_everywhere(struct team *world)
{
    for (struct channel *channel = NULL; (channel = channel_next(channel));)
        if (channel_is_collective(channel) && channel != &world->channel)
            last_words(team_of(channel), false);
    last_words(world, false);
    last_calls_say(world);
}
