/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random messages, many under way together, every byte and every status looked at (p2p_oracle.h).
 *
 * Drawn are: senders, receivers and lengths around the limits of protocols; communicators that overlap,
 * one of them between two groups; all modes and forms of sends; receives that block, that do not, that are
 * persistent, with wildcards or by probes; datatypes, which differ at the two ends; some receives that are
 * cancelled, and some that are too short; in which order and by which functions all is completed.
 *
 *     p2p_random SEED ROUNDS MAXBYTES       for long runs, and to repeat what went wrong
 */
#include "p2p_oracle.h"

enum { SEEDS = 4, ROUNDS = 20, MAX_BYTES = 200000 };

/* ---- what this rank will do in a round ---- */

/* The receives of its queues, in order. */
static struct line {
    int n, next, ops[MOST_MESSAGES];
} lines[COMMS];
static int send_op[MOST_MESSAGES];

static struct op *new_op(enum way way, int comm)
{
    CHECK(nops < MOST_OPS);
    requests[nops] = MPI_REQUEST_NULL;
    ops[nops] = (struct op){ .way = way, .comm = comm };
    return &ops[nops++];
}

static void open_send(int message)
{
    const struct message *x = &messages[message];
    const struct queue *q = &queues[x->comm][x->to];
    enum way way;
    bool blocks, isready;
    do {
        way = (enum way)draw(&alone, SENDS);
        blocks = way == SEND || way == SSEND || way == RSEND;
        isready = way % 4 == RSEND;
    } while ((isready && !(ready && q->when == EARLY)) || (blocks && !may_block(q)));
    send_op[message] = nops;
    struct op *o = new_op(way, x->comm);
    o->message = message;
    open_data(o, x->base, x->units, true);
}

static void open_receive(const struct message *x, enum pattern pattern)
{
    int nways = queues[x->comm][me].when == EARLY ? RECV - IRECV : DOOMED - IRECV,
        candidates = 0;
    struct op *o = new_op((enum way)(IRECV + draw(&alone, nways)), x->comm);
    long most = 0;
    bool any_source = pattern == ANY_SOURCE || pattern == ANY;
    o->from = o->said_from = any_source ? MPI_ANY_SOURCE : rank_in(x->comm, x->from);
    o->tag = o->said_tag = pattern == ANY_TAG || pattern == ANY ? MPI_ANY_TAG : x->tag;
    for (int i = 0; i < nmessages; i++)
        if (fits(o, &messages[i])) {
            candidates++;
            most = messages[i].units > most ? messages[i].units : most;
        }
    if (o->way > RECV) /* its buffer is made when the length is known */
        return;
    o->truncates = candidates == 1 && pattern == EXACT && most > GRAIN && one_in(&alone, 8);
    if (o->truncates)
        open_data(o, x->base, most / (2 + draw(&alone, 4)) / GRAIN * GRAIN, true);
    else
        open_data(o, x->base, most, false);
}

static void open_queue(int comm)
{
    const struct queue *q = &queues[comm][me];
    struct line *l = &lines[comm];
    int mine[MOST_MESSAGES], order[MOST_MESSAGES], count = 0;
    for (int i = 0; i < nmessages; i++)
        if (messages[i].comm == comm && messages[i].to == me)
            mine[count++] = i;
    l->n = l->next = 0;
    for (int k = 0; k < count; k++)
        order[k] = k;
    if (q->when != ALONG)
        shuffle(&alone, order, count);
    int exact = q->when == ALONG || one_in(&alone, 2) ? 0 : draw(&alone, count + 1);
    for (int k = 0; k < count; k++) {
        l->ops[l->n++] = nops;
        open_receive(&messages[mine[order[k]]], k < exact ? EXACT : q->pattern);
    }
}

/* ---- calls ---- */

static void finish(int i, const MPI_Status *status, int rc)
{
    struct op *o = &ops[i];
    must(o->pending, o, "completes but was not under way");
    o->pending = false;
    o->status = *status;
    o->rc = rc;
}

static void call_send(struct op *o)
{
    static int (*const blocking[])(const void *, int, MPI_Datatype, int, int,
                                   MPI_Comm) = { MPI_Send, MPI_Ssend, MPI_Bsend, MPI_Rsend };
    static int (*const others[])(
        const void *, int, MPI_Datatype, int, int, MPI_Comm,
        MPI_Request *) = { MPI_Isend,     MPI_Issend,     MPI_Ibsend,     MPI_Irsend,
                           MPI_Send_init, MPI_Ssend_init, MPI_Bsend_init, MPI_Rsend_init };
    const struct message *x = &messages[o->message];
    const struct block *b = &o->data.blocks[0];
    MPI_Request *r = &requests[o - ops];
    int to = rank_in(x->comm, x->to), rc = 0;
    buffer_blank(&o->data);
    buffer_put(&o->data, 0, message_key(o->message, me), 0, x->units, true);
    if (o->way < ISEND)
        rc = blocking[o->way](o->data.start, b->elements, type_of(b), to, x->tag,
                              comms[o->comm]);
    else if (*r == MPI_REQUEST_NULL)
        rc = others[o->way - ISEND](o->data.start, b->elements, type_of(b), to, x->tag,
                                    comms[o->comm], r);
    must(!rc, o, "the send returns an error");
    if (o->way >= SEND_INIT)
        must(!MPI_Start(r), o, "MPI_Start returns an error");
    o->pending = o->way >= ISEND;
}

/* Receive what was found, by message or by source and tag, with a buffer that is just long enough. */
static void call_found(struct op *o, MPI_Message *message, const MPI_Status *found)
{
    int base = queues[o->comm][me].base, units = 0;
    MPI_Status status = { 0 };
    MPI_Get_count(found, layouts[DENSE].types[base], &units);
    must(units >= 0, o, "the probe's count is no number");
    open_data(o, base, units, one_in(&alone, 2));
    struct block *b = &o->data.blocks[0];
    MPI_Datatype t = type_of(b);
    o->posted = nposted++;
    o->from = found->MPI_SOURCE;
    o->tag = found->MPI_TAG;
    o->pending = true;
    if (message && o->way == MPROBE_IMRECV) {
        must(!MPI_Imrecv(o->data.start, b->elements, t, message, &requests[o - ops]), o,
             "MPI_Imrecv");
    } else {
        int rc = message ? MPI_Mrecv(o->data.start, b->elements, t, message, &status)
                         : MPI_Recv(o->data.start, b->elements, t, o->from, o->tag,
                                    comms[o->comm], &status);
        must(!rc, o, "the receive of what was found returns an error");
        finish((int)(o - ops), &status, rc);
    }
    if (message)
        must(*message == MPI_MESSAGE_NULL, o, "the message is still there");
}

static void call_probe(struct op *o)
{
    MPI_Comm c = comms[o->comm];
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status found = { 0 };
    int flag = 1, rc = 0;
    do {
        if (o->way == PROBE)
            rc = MPI_Probe(o->from, o->tag, c, &found);
        else if (o->way == IPROBE)
            rc = MPI_Iprobe(o->from, o->tag, c, &flag, &found);
        else if (o->way == IMPROBE)
            rc = MPI_Improbe(o->from, o->tag, c, &flag, &message, &found);
        else
            rc = MPI_Mprobe(o->from, o->tag, c, &message, &found);
        must(!rc, o, "the probe returns an error");
    } while (!flag);
    must(o->from == MPI_ANY_SOURCE || o->from == found.MPI_SOURCE, o,
         "the probe found another source");
    must(o->tag == MPI_ANY_TAG || o->tag == found.MPI_TAG, o, "the probe found another tag");
    call_found(o, o->way == PROBE || o->way == IPROBE ? NULL : &message, &found);
}

/* Begin a receive; once more if it was cancelled in time. */
static void call_receive(struct op *o)
{
    struct block *b = &o->data.blocks[0];
    int i = (int)(o - ops), cancelled = 1, rc = 0, where = queues[o->comm][me].when;
    MPI_Comm c = comms[o->comm];
    MPI_Status status = { 0 };
    if (o->way > RECV) {
        call_probe(o);
        return;
    }
    buffer_blank(&o->data);
    if (o->way == RECV) {
        o->pending = true;
        o->posted = nposted++;
        rc = MPI_Recv(o->data.start, b->elements, type_of(b), o->from, o->tag, c, &status);
        finish(i, &status, rc);
        return;
    }
    if (o->way == RECV_INIT && requests[i] == MPI_REQUEST_NULL)
        must(!MPI_Recv_init(o->data.start, b->elements, type_of(b), o->from, o->tag, c,
                            &requests[i]),
             o, "MPI_Recv_init");
    while (cancelled) {
        rc = o->way == RECV_INIT ? MPI_Start(&requests[i])
                                 : MPI_Irecv(o->data.start, b->elements, type_of(b), o->from,
                                             o->tag, c, &requests[i]);
        must(!rc, o, "the receive returns an error");
        o->pending = true;
        o->posted = nposted++;
        cancelled = 0;
        if (where == EARLY || !one_in(&alone, 8))
            return;
        must(!MPI_Cancel(&requests[i]), o, "MPI_Cancel");
        rc = MPI_Wait(&requests[i], &status);
        MPI_Test_cancelled(&status, &cancelled);
        must(!rc || !cancelled, o, "a cancelled receive has an error");
        finish(i, &status, rc);
    }
}

/* A receive that nothing will match, unless it is cancelled before. */
static void open_doomed(void)
{
    bool quiet = one_in(&alone, 2);
    struct op *o = new_op(DOOMED, quiet ? QUIET : draw(&alone, ncomms));
    o->said_from = MPI_ANY_SOURCE;
    o->said_tag = quiet && one_in(&alone, 2) ? MPI_ANY_TAG : 31 /* of no message */;
    open_data(o, BYTES, draw_bytes(&alone), false);
}

static void call_doomed(struct op *o)
{
    struct block *b = &o->data.blocks[0];
    buffer_blank(&o->data);
    must(!MPI_Irecv(o->data.start, b->elements, type_of(b), o->from, o->tag, comms[o->comm],
                    &requests[o - ops]),
         o, "MPI_Irecv");
    o->pending = true;
}

/* ---- completion ---- */

static bool any_pending(void)
{
    for (int i = 0; i < nops; i++)
        if (ops[i].pending)
            return true;
    return false;
}

/* What was said of several. */
static void finish_said(int i, const MPI_Status *status, int rc)
{
    must(rc == MPI_SUCCESS || rc == MPI_ERR_IN_STATUS, &ops[i], "another error of several");
    finish(i, status, rc ? status->MPI_ERROR : 0);
}

/* One call that tests or awaits some of the operations, neighbours in the list. */
static void complete_some(bool wait)
{
    static MPI_Status statuses[MOST_OPS];
    static int indices[MOST_OPS];
    int from = draw(&alone, nops), count = 1 + draw(&alone, nops - from), flag = 1, at, rc;
    MPI_Request *r = requests + from;
    MPI_Status s = { 0 };
    bool any = false;
    for (int k = 0; k < count; k++)
        any |= ops[from + k].pending;
    switch (draw(&alone, 4)) {
    case 0:
        rc = wait ? MPI_Wait(r, &s) : MPI_Test(r, &flag, &s);
        if (flag && ops[from].pending)
            finish(from, &s, rc);
        return;
    case 1:
        rc = wait ? MPI_Waitany(count, r, &at, &s) : MPI_Testany(count, r, &at, &flag, &s);
        must(any || (flag && at == MPI_UNDEFINED), &ops[from], "there was nothing to wait for");
        if (flag && at != MPI_UNDEFINED)
            finish(from + at, &s, rc);
        return;
    case 2:
        rc = wait ? MPI_Waitsome(count, r, &at, indices, statuses)
                  : MPI_Testsome(count, r, &at, indices, statuses);
        must(any == (at != MPI_UNDEFINED), &ops[from],
             "there was something to wait for, or not");
        for (int k = 0; k < at; k++)
            finish_said(from + indices[k], &statuses[k], rc);
        return;
    default:
        rc = wait ? MPI_Waitall(count, r, statuses) : MPI_Testall(count, r, &flag, statuses);
        must(any || flag, &ops[from], "there was nothing to wait for");
        for (int k = 0; k < count && flag; k++)
            if (ops[from + k].pending)
                finish_said(from + k, &statuses[k], rc);
    }
}

/* What has been said to be over stays so. */
static void look_at(int i)
{
    MPI_Status s = { 0 }, again = { 0 };
    int flag, rc = MPI_Request_get_status(requests[i], &flag, &s);
    if (!flag || !ops[i].pending)
        return;
    must(MPI_Test(&requests[i], &flag, &again) == rc && flag, &ops[i], "it was over before");
    must(again.MPI_SOURCE == s.MPI_SOURCE && again.MPI_TAG == s.MPI_TAG, &ops[i],
         "another status");
    finish(i, &again, rc);
}

static void poke(void)
{
    MPI_Status s;
    int flag, comm = draw(&alone, ncomms), how = draw(&alone, 3);
    if (how == 0 || nops == 0)
        CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comms[comm], &flag, &s));
    else if (how == 1)
        complete_some(false);
    else
        look_at(draw(&alone, nops));
}

/* ---- rounds ---- */

static void receive_next(int comm)
{
    struct line *l = &lines[comm];
    call_receive(&ops[l->ops[l->next++]]);
}

/* All receives of queues that are early or late, queue with queue mixed. */
static void receive_all(enum when when)
{
    int open = 1;
    while (open) {
        open = 0;
        for (int c = 0; c < ncomms; c++) {
            bool due = queues[c][me].when == when;
            if (due && lines[c].next < lines[c].n && one_in(&alone, 2))
                receive_next(c);
            open += due && lines[c].next < lines[c].n;
        }
        if (when == LATE)
            poke();
    }
}

static void walk(int message)
{
    const struct message *x = &messages[message];
    struct line *l = &lines[x->comm];
    bool receives = x->to == me && queues[x->comm][me].when == ALONG, sends = x->from == me;
    struct op *out = sends ? &ops[send_op[message]] : NULL;
    bool send_first = receives && sends && ops[l->ops[l->next]].way >= RECV;
    if (send_first && (out->way == SEND || out->way == SSEND)) /* to itself */
        out->way = out->way == SEND ? ISEND : ISSEND;
    if (send_first)
        call_send(out);
    if (receives)
        receive_next(x->comm);
    if (sends && !send_first)
        call_send(out);
}

static void play_turn(void)
{
    nposted = 0;
    for (int c = 0; c < ncomms; c++)
        lines[c].next = 0;
    for (int i = 0; i < nops; i++) {
        ops[i].from = ops[i].said_from;
        ops[i].tag = ops[i].said_tag;
        if (ops[i].way == DOOMED)
            call_doomed(&ops[i]);
    }
    receive_all(EARLY);
    if (ready)
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < nmessages; i++) {
        walk(i);
        if (one_in(&alone, 3))
            poke();
    }
    receive_all(LATE);
    for (int i = 0; i < nops; i++)
        if (ops[i].way == DOOMED)
            CHECK_OK(MPI_Cancel(&requests[i]));
    while (any_pending())
        complete_some(one_in(&alone, 2));
    check_turn();
    if (apart)
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < nops; i++)
        if (ops[i].way > RECV && ops[i].way < DOOMED)
            buffer_close(&ops[i].data);
}

static void play_round(void)
{
    long buffered = 1000;
    int size;
    void *pool = MPI_BUFFER_AUTOMATIC, *detached = NULL;
    draw_round();
    nops = 0;
    for (int i = 0; i < nmessages; i++)
        if (messages[i].from == me) {
            open_send(i);
            buffered +=
                turns * (messages[i].units * base_bytes[messages[i].base] + MPI_BSEND_OVERHEAD);
        }
    for (int c = 0; c < ncomms; c++)
        open_queue(c);
    for (int k = draw(&alone, 4); k > 0; k--)
        open_doomed();
    if (one_in(&alone, 2))
        pool = malloc((size_t)buffered);
    CHECK_OK(MPI_Buffer_attach(pool, (int)buffered));
    for (turn = 0; turn < turns; turn++)
        play_turn();
    for (int i = 0; i < nops; i++) {
        if (requests[i] != MPI_REQUEST_NULL)
            CHECK_OK(MPI_Request_free(&requests[i]));
        buffer_close(&ops[i].data);
    }
    CHECK_OK(MPI_Buffer_detach(&detached, &size));
    CHECK(detached == pool);
    if (pool != MPI_BUFFER_AUTOMATIC)
        free(pool);
}

static void play(void)
{
    seed_chance(seed);
    for (round_now = 0; round_now < rounds; round_now++)
        play_round();
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    errors_return();
    me = world_rank();
    n = world_size();
    CHECK(n <= MOST_RANKS);
    make_layouts();
    make_comms();
    rounds = ROUNDS;
    max_bytes = MAX_BYTES;
    play_seeds(argc, argv, (struct game){ &seed, &rounds, &max_bytes, SEEDS, play });
    free_layouts();
    free_comms();
    return check_done();
}
