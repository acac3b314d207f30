/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Alltoallv and alltoallw between ranks of a node.  Only the two ends of a block know how long it is, so each
 * rank writes a letter to each of the others:
 *
 *     slot         places? | letter | letter | ... | cell | cell | ...    to all ranks in their order, but its writer
 *     long part                                    | cell | cell | ...    which the slot has no room for
 *     letter       where its cell is; how long a block is there, or why there is none
 *     cell         place, if one is named | block
 *     place        in the writer's memory: address, bytes
 *
 * Letters of very many ranks lie in the long part, too.
 *
 * How long it is says which way a block goes:
 *
 *     short      in the cell
 *     middling   as a message, which is on its way before anybody is heard
 *     long       (for attach, by the rules of alltoall) its receiver names the place where it belongs, into which the
 *                sender writes, or its sender names the place where it is, which the receiver reads; in one call the
 *                same for all, by what it took before (attach_blocks.c).  Then there is a second round, in which all
 *                say whose blocks they have moved (attach.c).  Whether there is one all have heard
 *
 * What could not be moved follows as a message.  Where the two ends do not agree on the length, one may think of a
 * message where the other does not.  Both see that in their letters, before either waits for a message:
 *
 *     it comes, and nobody awaits it     it is taken all the same, and is told to be too long or short
 *     it is awaited, but in the cell     that is what is told; nobody waits for a message any more
 *     it is awaited, but long            it is sent
 */
#include "coll/attach.h"
#include "coll/rules.h"
#include "coll/tell.h"
#include "coll/tiny_parts.h"
#include "runtime/param.h"

struct letter {
    uint16_t at; /* CELLs from the beginning of the payload, or of the long part's; and flags */
    uint16_t bytes; /* or why there is no block */
};
enum {
    CELL = 8,
    PLACED = 0x8000,  /* a place comes first */
    AWAITED = 0x4000, /* the other's block, as a message */
    FAR = 0x2000,     /* in the long part */
    FLAGS = PLACED | AWAITED | FAR,
    MESSAGE = UINT16_MAX - 1, /* it is on its way as one */
    NO_BLOCK = UINT16_MAX     /* it is to be written or read, or follows as a message */
};

struct place {
    uint64_t address, bytes;
};
_Static_assert((4 * (int)TINY_BYTES / (int)CELL & (int)FLAGS) == 0 &&
                   (int)TINY_LISTED_BYTES < (int)MESSAGE,
               "the numbers of a letter");

/* ---- payloads ---- */

typedef uint32_t places_t; /* flags: */
enum {
    NAMED = 1,  /* a place is */
    TO_READ = 2 /* places are where a block is, not where it belongs */
};

static size_t in_cells(size_t bytes)
{
    return (bytes + CELL - 1) / CELL * CELL;
}

/* Two ranks have everything in their slots. */
static size_t room_for_cells(const struct tiny *t)
{
    const struct letters *l = &t->letters;
    size_t places = sizeof(struct place) * ((size_t)t->n - 1);
    size_t room = t->long_bytes / 2, taken = places + (l->near ? 0 : l->bytes);
    if (t->n == 2) {
        room = t->room;
        taken = places + OFFER_HEAD + l->bytes;
    }
    return room > taken ? room - taken : 0;
}

void tiny_letters_open(struct tiny *t)
{
    struct letters *l = &t->letters;
    size_t others = (size_t)t->n - 1, most = t->n == 2 ? TINY_LISTED_BYTES : TINY_BYTES;
    l->bytes = (uint32_t)in_cells(sizeof(places_t) + sizeof(struct letter) * others);
    l->near = OFFER_HEAD + l->bytes <= t->room;
    size_t each = others > 0 ? room_for_cells(t) / others / CELL * CELL : 0;
    l->most = (uint32_t)(each < most ? each : most);
    struct reach placed =
        rules_attach(COLL_ALLTOALL, (struct node_kind){ t->n, t->crowded, t->reading });
    l->placed_from = placed.from;
    l->placed_to = placed.to;
}

bool tiny_has_letters(const struct tiny *t)
{
    return t->letters.most > 0;
}

size_t tiny_letters_length(const struct tiny *t)
{
    return t->n == 2 ? 0 : t->long_bytes / 2;
}

/* What a rank that has spoken says there. */
static const char *near_of(const struct round *round, int rank)
{
    return slot_of(round->tiny, rank, round->sequence)->payload;
}

static const char *far_of(const struct round *round, int rank)
{
    return tiny_payload(round, rank, slot_of(round->tiny, rank, round->sequence));
}

static const char *letters_of(const struct round *round, int rank)
{
    return round->tiny->letters.near ? near_of(round, rank) + OFFER_HEAD : far_of(round, rank);
}

static size_t letter_at(int from, int to)
{
    return sizeof(places_t) + among_others(from, to) * sizeof(struct letter);
}

static struct letter letter_of(const struct round *round, int from, int to)
{
    struct letter letter;
    memcpy(&letter, letters_of(round, from) + letter_at(from, to), sizeof letter);
    return letter;
}

static const char *cell_of_letter(const struct round *round, int from, struct letter letter)
{
    const char *payload = letter.at & FAR ? far_of(round, from) : near_of(round, from);
    return payload + (size_t)(letter.at & ~FLAGS) * CELL;
}

static const char *block_in(const struct round *round, int from, struct letter letter)
{
    size_t skip = letter.at & PLACED ? sizeof(struct place) : 0;
    return cell_of_letter(round, from, letter) + skip;
}

static places_t places_of(const struct round *round, int rank)
{
    places_t places;
    memcpy(&places, letters_of(round, rank), sizeof places);
    return places;
}

/* ---- which way ---- */

static bool is_long(size_t bytes, const struct tiny *t, enum collective what)
{
    const struct letters *l = &t->letters;
    return !(t->apart >> what & 1) && bytes >= l->placed_from && bytes <= l->placed_to;
}

static bool is_middling(size_t bytes, const struct tiny *t, enum collective what)
{
    return bytes > t->letters.most && !is_long(bytes, t, what);
}

/* ---- the first round ---- */

struct writing {
    char *near, *far;         /* payloads; two ranks have none that is far */
    size_t near_at, near_end; /* where the next cell goes */
    size_t far_at;
    places_t places;
    const struct tiny *tiny;
    enum collective what;
};

/* Room for a cell; its address in a letter. */
static uint16_t take_cell(struct writing *w, size_t bytes, char **cell)
{
    bool is_near = w->near_at + bytes <= w->near_end;
    size_t *at = is_near ? &w->near_at : &w->far_at;
    uint16_t address = (uint16_t)(*at / CELL) | (is_near ? 0 : FAR);
    *cell = (is_near ? w->near : w->far) + *at;
    *at += bytes;
    return address;
}

/* Where this block is, if it is to be moved from or to there. */
static struct place place_for(const struct writing *w, const struct buffer *block)
{
    size_t bytes = buffer_bytes(block);
    char *flat = is_long(bytes, w->tiny, w->what) ? buffer_flat(block) : NULL;
    attach_share(flat, bytes);
    return (struct place){ (uintptr_t)flat, bytes };
}

static struct letter write_to(struct writing *w, const struct buffer *out,
                              const struct buffer *in)
{
    size_t bytes = buffer_bytes(out);
    bool is_short = bytes <= w->tiny->letters.most;
    struct place place = place_for(w, w->tiny->letters.read ? out : in);
    size_t skip = place.address ? sizeof place : 0;
    char *cell;
    struct letter letter;
    letter.at = take_cell(w, skip + (is_short ? in_cells(bytes) : 0), &cell);
    letter.bytes = is_short                               ? (uint16_t)bytes
                   : is_middling(bytes, w->tiny, w->what) ? MESSAGE
                                                          : NO_BLOCK;
    if (place.address) {
        memcpy(cell, &place, sizeof place);
        letter.at |= PLACED;
        w->places |= NAMED;
    }
    if (is_middling(buffer_bytes(in), w->tiny, w->what))
        letter.at |= AWAITED;
    if (is_short)
        pack(cell + skip, out, bytes);
    return letter;
}

/* Only its ends know the length of a block, so what is learnt is for all lengths. */
enum { ANY_BYTES = 8 << 10 };

void tiny_say_letters(struct round *round, const struct call *call)
{
    struct tiny *t = round->tiny;
    t->letters.read = means_take(&t->movers[MOVERS_OF_LETTERS], ANY_BYTES) == TAKER_READS;
    bool near = t->letters.near;
    struct writing w = { .near = round->mine->payload,
                         .far = round->payload,
                         .near_at = OFFER_HEAD + (near ? t->letters.bytes : 0),
                         .near_end = t->room,
                         .far_at = near ? 0 : t->letters.bytes,
                         .places = t->letters.read ? TO_READ : 0,
                         .tiny = t,
                         .what = call->what };
    char *letters = near ? w.near + OFFER_HEAD : w.far;
    for (int r = 0; r < t->n; r++) {
        struct buffer out = block_of(&call->send, r), in = block_of(&call->recv, r);
        if (r == t->me)
            continue;
        struct letter letter = write_to(&w, &out, &in);
        memcpy(letters + letter_at(t->me, r), &letter, sizeof letter);
    }
    memcpy(letters, &w.places, sizeof w.places);
    attach_stay(round);
    round->bytes = w.near_at;
}

/* ---- messages ---- */

struct mail {
    struct round *round;
    const struct call *call;
    struct request *out[TINY_RANKS], *in[TINY_RANKS]; /* of each rank; NULL: none */
};

static struct channel *channel_of(const struct mail *mail)
{
    return (struct channel *)mail->round->tiny->channel;
}

/* The first error is that of the collective; the others wait for us all the same. */
static void note(const struct mail *mail, int error)
{
    struct unfit *unfit = mail->round->unfit;
    unfit->error = unfit->error ? unfit->error : error;
}

static void await_message(struct mail *mail, int r)
{
    struct buffer in = block_of(&mail->call->recv, r);
    struct envelope from = telling_envelope(mail->round->telling, r);
    note(mail, pml_irecv(channel_of(mail), &in, &from, &mail->in[r]));
}

/* Nobody sends it. */
static void await_no_more(struct mail *mail, int r)
{
    struct result result;
    struct request *in = mail->in[r];
    mail->in[r] = NULL;
    if (!in)
        return;
    in->ops->cancel(in);
    request_wait(in, &result);
}

/* A short one is over when pml_send returns, whether or not anybody receives. */
static bool is_soon_over(const struct buffer *out)
{
    enum { SOON_BYTES = 8 << 10 };
    size_t bytes = buffer_bytes(out);
    return bytes <= SOON_BYTES && bytes <= (size_t)param_number(EAGER) && out->where == HERE;
}

static void send_message(struct mail *mail, int r)
{
    struct buffer out = block_of(&mail->call->send, r);
    struct envelope to = telling_envelope(mail->round->telling, r);
    note(mail, is_soon_over(&out)
                   ? pml_send(channel_of(mail), &out, &to, SEND_STANDARD)
                   : pml_isend(channel_of(mail), &out, &to, SEND_STANDARD, &mail->out[r]));
}

/* Those that wait for no letter. */
static void mail_open(struct mail *mail, struct round *round, const struct call *call)
{
    int n = round->tiny->n, me = round->tiny->me;
    mail->round = round;
    mail->call = call;
    for (int r = 0; r < n; r++) {
        mail->out[r] = mail->in[r] = NULL;
        if (r != me && letter_of(round, me, r).at & AWAITED)
            await_message(mail, r);
    }
    for (int turn = 1; turn < n; turn++) {
        int r = (me + turn) % n;
        if (letter_of(round, me, r).bytes == MESSAGE)
            send_message(mail, r);
    }
}

static void mail_close(struct mail *mail)
{
    struct result result;
    for (int r = 0; r < mail->round->tiny->n; r++) {
        if (mail->in[r])
            note(mail, request_wait(mail->in[r], &result));
        if (mail->out[r])
            note(mail, request_wait(mail->out[r], &result));
    }
}

/* ---- hearing ---- */

/* Ranks (bits) to whom there is something to be sent, and of whom there is something to be got. */
struct left {
    uint64_t out, in;
    places_t places; /* of all: is any named? */
    bool mixed;      /* not all take places for the same: they are left alone */
};

static uint64_t bit(int r)
{
    return (uint64_t)1 << r;
}

/* Of the blocks between this rank and that one; see the beginning of this file. */
static void pass(struct mail *mail, int r, struct left *left)
{
    const struct round *round = mail->round;
    int me = round->tiny->me;
    struct letter mine = letter_of(round, me, r), theirs = letter_of(round, r, me);
    struct buffer in = block_of(&mail->call->recv, r);
    if (theirs.bytes < MESSAGE) {
        await_no_more(mail, r);
        tiny_land(&in, block_in(round, r, theirs), theirs.bytes, r, round->unfit);
    } else if (!(mine.at & AWAITED) && theirs.bytes == MESSAGE) {
        await_message(mail, r);
    } else if (!(mine.at & AWAITED)) {
        left->in |= bit(r);
    }
    if (mine.bytes == NO_BLOCK && theirs.at & AWAITED)
        send_message(mail, r);
    else if (mine.bytes == NO_BLOCK)
        left->out |= bit(r);
    left->places |= places_of(round, r) & NAMED;
    left->mixed |= (places_of(round, r) ^ places_of(round, me)) & TO_READ;
}

static int hear_letters(struct mail *mail, struct left *left)
{
    struct round *round = mail->round;
    for (int r = 0; r < round->tiny->n; r++) {
        const struct slot *slot;
        int lost = r == round->tiny->me ? 0 : tiny_hear(round, r, &slot);
        if (lost)
            return lost;
        if (r != round->tiny->me && !round->error)
            pass(mail, r, left);
    }
    return 0;
}

/* ---- the second round ---- */

/* The place that one names to the other, if it does. */
static bool place_of(const struct round *round, int from, int to, struct place *place)
{
    struct letter letter = letter_of(round, from, to);
    if (letter.at & PLACED)
        memcpy(place, cell_of_letter(round, from, letter), sizeof *place);
    return letter.at & PLACED;
}

static bool move_block(const struct attached *a, int r, struct place place, char *flat)
{
    return a->tiny->letters.read ? attach_read(a, r, flat, place.address, place.bytes)
                                 : attach_write(a, r, place.address, flat, place.bytes);
}

/* Those for which there are places; what is done are bits of ranks, and this rank's own where one could not be
 * moved. */
static struct told move_blocks(const struct attached *a, const struct call *call,
                               const struct left *left)
{
    int n = a->tiny->n, me = a->tiny->me;
    bool read = a->tiny->letters.read;
    uint64_t wanted = read ? left->in : left->out;
    struct told told = { .ticks = cpu_ticks() };
    for (int turn = 1; turn < n; turn++) {
        int r = (me + turn) % n; /* nobody is written to, or read from, by two at once */
        struct place place;
        struct buffer block = block_of(read ? &call->recv : &call->send, r);
        char *flat = buffer_flat(&block);
        if (!(wanted & bit(r)) || !flat || !place_of(&a->met, r, me, &place) ||
            place.bytes != buffer_bytes(&block))
            continue;
        told.done |= bit(move_block(a, r, place, flat) ? r : me);
        told.moved += place.bytes;
    }
    told.ticks = cpu_ticks() - told.ticks;
    return told;
}

/* What all bytes took that were moved; none may have been, as where they are to go has gaps. */
static void mover_learn(const struct attached *a)
{
    enum means mover = a->tiny->letters.read ? TAKER_READS : GIVER_WRITES;
    if (a->moved > 0)
        means_took(&a->tiny->movers[MOVERS_OF_LETTERS], mover, ANY_BYTES,
                   a->ticks * ANY_BYTES / a->moved);
}

static int move_round(struct round *round, const struct call *call, struct left *left)
{
    struct tiny *t = round->tiny;
    struct attached a = {
        .tiny = t, .said = round->said, .before = round->before, .met = *round
    };
    attach_fence();
    int error = attach_end(&a, move_blocks(&a, call, left));
    if (error)
        return error;
    mover_learn(&a);
    uint64_t *ours = t->letters.read ? &left->in : &left->out;
    uint64_t *theirs = t->letters.read ? &left->out : &left->in;
    *ours &= ~a.done[t->me];
    for (int r = 0; r < t->n; r++) {
        if (a.done[r] & bit(t->me))
            *theirs &= ~bit(r);
        if (a.done[r] & bit(r))
            t->apart |= 1u << call->what;
    }
    round->sequence = a.over.sequence;
    return 0;
}

/* ---- both ---- */

static void exchange_left(struct mail *mail, const struct left *left)
{
    if (!(left->out | left->in))
        return;
    for (int r = 0; r < mail->round->tiny->n; r++) {
        if (left->in & bit(r))
            await_message(mail, r);
        if (left->out & bit(r))
            send_message(mail, r);
    }
}

int tiny_take_letters(struct round *round, const struct call *call)
{
    int me = round->tiny->me;
    struct buffer to = block_of(&call->recv, me), from = block_of(&call->send, me);
    struct mail mail;
    mail_open(&mail, round, call);
    buffer_copy(&to, &from);
    struct left left = { .places = places_of(round, me) & NAMED };
    bool names = left.places;
    int lost = hear_letters(&mail, &left);
    if (lost || round->error)
        attach_leave(round, names);
    else if (left.places && !left.mixed)
        lost = move_round(round, call, &left);
    if (lost || round->error)
        mismatch_settle(); /* then messages end that somebody will not send or take */
    else
        exchange_left(&mail, &left);
    mail_close(&mail);
    return lost;
}
