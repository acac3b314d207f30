/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages among all ranks, drawn by p2p_random.c, and what has to come of them.
 *
 * They stand in a list that all ranks draw alike and walk through in its order.  Those that come to one
 * rank on one communicator are a queue.  What the receives of a queue say of source and tag (both, one or
 * none) is the same for all of them, but for some exact ones that are posted first; so no receive starves
 * another one.  A queue's receives are posted before anything is sent, so that ready sends are right;
 * along with the list; or when all is sent.  Who may block and when follows from that (may_block).
 *
 * Which message a receive had to get follows from its status and from the order of receives (claim).
 */
#ifndef P2P_ORACLE_H
#define P2P_ORACLE_H

#include "random_data.h"

enum { MOST_RANKS = 16, MOST_MESSAGES = 60, MOST_OPS = 2 * MOST_MESSAGES + 4, MOST_TURNS = 3 };
static int seed, rounds, max_bytes, me, n, round_now, turn;

/* ---- communicators ---- */

enum { WORLD, DUP, REVERSED, HALVES, BETWEEN, QUIET, COMMS };
static const char *const comm_names[COMMS] = { "the world",           "a duplicate",
                                               "the world backwards", "even or odd",
                                               "even to odd",         "nobody's" };
static MPI_Comm comms[COMMS];
static int
    ncomms; /* in use: with one rank there is no other group; the last one is of use to nobody */

static void make_comms(void)
{
    MPI_Comm half;
    comms[WORLD] = MPI_COMM_WORLD;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[DUP]));
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &comms[REVERSED]));
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &comms[HALVES]));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[QUIET]));
    ncomms = n > 1 ? QUIET : BETWEEN;
    if (n == 1)
        return;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half));
    CHECK_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - me % 2, 5, &comms[BETWEEN]));
    CHECK_OK(MPI_Comm_free(&half));
}

static void free_comms(void)
{
    for (int c = DUP; c < COMMS; c++)
        if (c < ncomms || c == QUIET)
            CHECK_OK(MPI_Comm_free(&comms[c]));
}

/* May these processes send each other messages there? */
static bool reaches(int comm, int a, int b)
{
    return comm == HALVES ? a % 2 == b % 2 : comm == BETWEEN ? a % 2 != b % 2 : true;
}

static int rank_in(int comm, int process)
{
    switch (comm) {
    case REVERSED:
        return n - 1 - process;
    case HALVES:
        return (n - 1 - process) / 2;
    case BETWEEN:
        return process / 2;
    default:
        return process;
    }
}

static int process_of(int comm, int rank)
{
    for (int p = 0; p < n; p++)
        if (reaches(comm, p, me) && rank_in(comm, p) == rank)
            return p;
    return -1;
}

/* ---- what is drawn by all ranks alike ---- */

enum when { EARLY, ALONG, LATE, WHENS };
enum pattern { EXACT, ANY_TAG, ANY_SOURCE, ANY, PATTERNS };

/* Messages to one process on one communicator. */
static struct queue {
    enum when when;
    enum pattern pattern;
    int base;
} queues[COMMS][MOST_RANKS];

static struct message {
    int comm, from, to, tag, base;
    long units;
} messages[MOST_MESSAGES];
static int nmessages, turns;
static bool apart; /* some receives are from any source: then turns must not meet */
static bool ready; /* all ranks wait for each other when early receives are posted */

static const int limits[] = { 16,   48,    64,    256,    508,     1024,   4096,
                              8192, 16384, 65536, 131072, 1 << 20, 3 << 20 };

static long draw_bytes(uint64_t *state)
{
    int how = draw(state, 8), k = draw(state, sizeof limits / sizeof *limits);
    long bytes;
    if (how == 0)
        return 0;
    if (how < 4)
        return 1 + draw(state, 100);
    if (how < 7) {
        k = how < 6 && limits[k] > 70000 ? draw(state, 9) : k;
        bytes = limits[k] - 16 + draw(state, 33);
    } else
        bytes = draw(state, 30000);
    return bytes > max_bytes ? bytes % max_bytes : bytes;
}

static long draw_units(uint64_t *state, int base)
{
    long units = (draw_bytes(state) + base_bytes[base] - 1) / base_bytes[base];
    return one_in(state, 2) ? (units + GRAIN - 1) / GRAIN * GRAIN : units;
}

/* In a round with a `busy` queue most messages go there. */
static void draw_message(struct message *x, bool busy, int comm, int to)
{
    static const int tags[] = { 0, 7, 32767 };
    x->tag = tags[draw(&together, 3)];
    do {
        bool there = busy && !one_in(&together, 4);
        x->comm = there ? comm : draw(&together, ncomms);
        x->from = draw(&together, n);
        x->to = there ? to : draw(&together, n);
    } while (!reaches(x->comm, x->from, x->to));
    x->base = queues[x->comm][x->to].base;
    x->units = draw_units(&together, x->base);
}

static void draw_round(void)
{
    int comm = draw(&together, ncomms), to = draw(&together, n);
    bool busy = draw(&together, 2);
    ready = one_in(&together, 2);
    apart = !one_in(&together, 3);
    turns = 1 + draw(&together, MOST_TURNS);
    for (int c = 0; c < COMMS; c++)
        for (int p = 0; p < n; p++)
            queues[c][p] =
                (struct queue){ (enum when)draw(&together, WHENS),
                                (enum pattern)draw(&together, apart ? PATTERNS : ANY_SOURCE),
                                draw(&together, BASES) };
    nmessages = 1 + draw(&together, MOST_MESSAGES);
    for (int i = 0; i < nmessages; i++)
        draw_message(&messages[i], busy, comm, to);
}

static uint64_t message_key(int message, int from)
{
    return key_of((uint64_t)seed, (uint64_t)round_now, (uint64_t)(message * MOST_TURNS + turn),
                  (uint64_t)from);
}

/* Are all queue's receives posted whatever the senders of it do?  Along with the list that is so if each
 * receive is for the message at its own place and no other one. */
static bool may_block(const struct queue *q)
{
    return q->when == EARLY ||
           (q->when == ALONG && (q->pattern == EXACT || q->pattern == ANY_TAG));
}

/* ---- operations of this rank ---- */

enum way { /* the sends: mode + 4 * form */
           SEND,
           SSEND,
           BSEND,
           RSEND,
           ISEND,
           ISSEND,
           IBSEND,
           IRSEND,
           SEND_INIT,
           SSEND_INIT,
           BSEND_INIT,
           RSEND_INIT,
           SENDS,
           IRECV = SENDS,
           RECV_INIT,
           RECV,
           PROBE,
           IPROBE,
           MPROBE,
           MPROBE_IMRECV,
           IMPROBE,
           DOOMED,
           WAYS
};
static const char *const way_names[WAYS] = {
    "send",           "ssend",          "bsend",
    "rsend",          "isend",          "issend",
    "ibsend",         "irsend",         "send_init",
    "ssend_init",     "bsend_init",     "rsend_init",
    "irecv",          "recv_init",      "recv",
    "probe, recv",    "iprobe, recv",   "mprobe, mrecv",
    "mprobe, imrecv", "improbe, mrecv", "a receive of nothing"
};

static struct op {
    enum way way;
    int comm, message;       /* of sends */
    int said_from, said_tag; /* of receives, and */
    int from, tag;           /* what a probe found, if it was one */
    int posted;              /* in which order */
    bool truncates, pending;
    struct buffer data;
    MPI_Status status;
    int rc;
} ops[MOST_OPS];
static MPI_Request requests[MOST_OPS];
static int nops, nposted;

static void must(bool good, const struct op *o, const char *what)
{
    const struct message *m = &messages[o->message];
    const struct block *b = &o->data.blocks[0];
    if (good)
        return;
    fprintf(stderr,
            "p2p_random %d %d %d, rank %d of %d, round %d, turn %d of %d: %s\n  operation %d: "
            "%s on %s, ",
            seed, rounds, max_bytes, me, n, round_now, turn, turns, what, (int)(o - ops),
            way_names[o->way], comm_names[o->comm]);
    if (o->way < SENDS)
        fprintf(stderr, "message %d, from %d to %d, tag %d, %ld units\n", o->message, m->from,
                m->to, m->tag, m->units);
    else
        fprintf(stderr, "from %d tag %d; status from %d tag %d; error %d\n", o->from, o->tag,
                o->status.MPI_SOURCE, o->status.MPI_TAG, o->rc);
    if (o->data.memory)
        fprintf(stderr, "  buffer: %d of %s, units of %d bytes\n", b->elements, b->layout->name,
                base_bytes[b->base]);
    check_failed(__FILE__, __LINE__, "the operation above does what it should");
}

/* A buffer for so many units, or some more. */
static void open_data(struct op *o, int base, long units, bool exactly)
{
    const struct layout *l =
        exactly ? draw_layout(&alone, units) : &layouts[draw(&alone, LAYOUTS)];
    long elements =
        exactly ? units / l->units : (units + l->units - 1) / l->units + draw(&alone, 3);
    o->data.n = 1;
    o->data.blocks[0] = (struct block){ l, base, (int)elements, 0 };
    buffer_open(&o->data);
    buffer_blank(&o->data);
}

/* Would this receive take that message? */
static bool fits(const struct op *o, const struct message *x)
{
    return x->comm == o->comm && x->to == me && (o->tag == MPI_ANY_TAG || o->tag == x->tag) &&
           (o->from == MPI_ANY_SOURCE || o->from == rank_in(x->comm, x->from));
}

/* ---- verification ---- */

static bool claimed[MOST_MESSAGES];

/* The message that this receive had to get: the oldest of its source that it fits and no receive before
 * it has got. */
static int claim(const struct op *o)
{
    int from = process_of(o->comm, o->status.MPI_SOURCE);
    for (int i = 0; i < nmessages; i++)
        if (!claimed[i] && fits(o, &messages[i]) && messages[i].from == from) {
            claimed[i] = true;
            return i;
        }
    must(false, o, "receives what nobody sent");
    return -1;
}

static void compare(struct op *o)
{
    char what[200];
    if (!buffer_good(&o->data, what, sizeof what))
        must(false, o, what);
}

static void check_counts(const struct op *o, long units)
{
    const struct block *b = &o->data.blocks[0];
    int count = -5, elements = -5, cancelled = 1;
    MPI_Get_count(&o->status, type_of(b), &count);
    MPI_Get_elements(&o->status, type_of(b), &elements);
    MPI_Test_cancelled(&o->status, &cancelled);
    must(elements == units, o, "MPI_Get_elements");
    must(count == (units % b->layout->units ? MPI_UNDEFINED : units / b->layout->units), o,
         "MPI_Get_count");
    must(!cancelled, o, "cancelled");
}

static void check_receive(struct op *o)
{
    int message = claim(o), class = 0;
    const struct message *x = &messages[message];
    long room = units_in(&o->data.blocks[0]);
    must(o->status.MPI_TAG == x->tag, o, "another tag");
    MPI_Error_class(o->rc, &class);
    must(class == (o->truncates ? MPI_ERR_TRUNCATE : MPI_SUCCESS), o, "another error");
    if (!o->truncates)
        check_counts(o, x->units);
    buffer_put(&o->data, 0, message_key(message, x->from), 0, x->units < room ? x->units : room,
               false);
    if (o->truncates)
        buffer_accept(&o->data, 0, 0, room);
    compare(o);
}

static void check_doomed(struct op *o)
{
    int cancelled = 0;
    MPI_Test_cancelled(&o->status, &cancelled);
    must(cancelled && !o->rc, o, "was not cancelled");
    compare(o);
}

static void check_turn(void)
{
    static int order[4 * MOST_OPS]; /* receives as they were posted */
    memset(claimed, 0, sizeof claimed);
    CHECK(nposted <= 4 * MOST_OPS);
    memset(order, -1, sizeof order);
    for (int i = 0; i < nops; i++) {
        must(!ops[i].pending, &ops[i], "is not done");
        if (ops[i].way < SENDS)
            compare(&ops[i]);
        else if (ops[i].way == DOOMED)
            check_doomed(&ops[i]);
        else
            order[ops[i].posted] = i;
    }
    for (int p = 0; p < nposted; p++)
        if (order[p] >= 0)
            check_receive(&ops[order[p]]);
}

#endif
