/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The events of a collective, in the order of time.
 *
 *     sender   CPU |o|                        BEGIN    a step's turn has come: nothing it waits
 *              out    |gap + n byte|                   for is left; it takes the CPU
 *     links             |...|  |...|          INJECT   its message takes the way out; HOP, a link
 *     receiver in           |gap + n byte|    ARRIVE   after the latency: the way in
 *              CPU                        |o| LAND     it is there: CPU, fold, complete
 *
 * Messages longer than `eager` wait for their receive and travel two latencies later.  A moment
 * carries its history: how much of it is latency, bandwidth, computing, along the path that
 * made it what it is, because whoever waits takes over the history of what it waited for.
 *
 * One actor may stand for many ranks (cast.h); the actors of a node keep its interface busy as
 * all of its ranks would, and links are folded in the same way.
 *
 * Costs about 100 ns per event on 100 bytes per step.  Not modelled: caches, contention for
 * memory, routing that adapts, noise.
 */
#include "coll/sim.h"

#include "runtime/fail.h"
#include "mpi.h"

#include <stdlib.h>

struct moment {
    double latency, bandwidth, compute;
};

static double clock_of(const struct moment *m)
{
    return m->latency + m->bandwidth + m->compute;
}

static struct moment later(struct moment a, struct moment b)
{
    return clock_of(&a) >= clock_of(&b) ? a : b;
}

enum kind { BEGIN, INJECT, HOP, ARRIVE, LAND };

struct event {
    double at;
    int32_t actor, act;
    enum kind kind;
};

/* What is known of an act so far. */
struct state {
    int32_t nwait;
    bool begun, arrived;
    struct moment ready; /* when it could begin; a message: where it is */
    int *way, hops, hop; /* links that its message takes, how many, how many behind it */
    struct moment other; /* receives: when the message was there, or wanted to come */
};

struct freed {
    int32_t actor, act;
};

struct stage {
    const struct cast *cast;
    const struct price_model *model;
    const struct seats *seats;
    const struct fabric *fabric;
    struct state **state;              /* of each actor's acts */
    struct moment *cpu, *out, *in;     /* when they are free again, by actor */
    struct moment *node_out, *node_in; /* by node */
    struct moment *link;
    int *route;
    struct event *heap;
    size_t nevents, cap;
    struct freed *freed; /* what is to be begun at once, in this order */
    int64_t nfreed, begun;
    struct moment end;
    bool no_memory;
    long long left; /* acts that are not over */
};

/* ---- the queue: a heap by time, then by who comes first in the plan ---- */

static bool before(const struct event *a, const struct event *b)
{
    if (a->at != b->at)
        return a->at < b->at;
    return a->act != b->act ? a->act < b->act : a->actor < b->actor;
}

static void push(struct stage *s, const struct moment *at, int actor, int act, enum kind kind)
{
    if (s->nevents == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 1024;
        struct event *more = realloc(s->heap, cap * sizeof *more);
        if (!more) {
            s->no_memory = true;
            return;
        }
        s->heap = more;
        s->cap = cap;
    }
    struct event e = { clock_of(at), actor, act, kind };
    size_t i = s->nevents++;
    for (; i > 0 && before(&e, &s->heap[(i - 1) / 4]); i = (i - 1) / 4)
        s->heap[i] = s->heap[(i - 1) / 4];
    s->heap[i] = e;
}

static struct event pop(struct stage *s)
{
    struct event first = s->heap[0], last = s->heap[--s->nevents];
    size_t i = 0;
    for (;;) {
        size_t least = 4 * i + 1, end = least + 4 < s->nevents ? least + 4 : s->nevents;
        if (least >= s->nevents)
            break;
        for (size_t k = least + 1; k < end; k++)
            if (before(&s->heap[k], &s->heap[least]))
                least = k;
        if (!before(&s->heap[least], &last))
            break;
        s->heap[i] = s->heap[least];
        i = least;
    }
    s->heap[i] = last;
    return first;
}

/* ---- servers ---- */

/* A server is free at *server; what comes at `at` and keeps it busy is served from then on. */
static struct moment serve(struct moment *server, struct moment at, double gap, double busy)
{
    struct moment from = later(at, *server);
    *server = from;
    server->latency += gap;
    server->bandwidth += busy;
    return from;
}

/* ---- steps ---- */

static void begin(struct stage *s, int actor, int i);

/* A receive takes no CPU before its message is there, so it need not wait for its turn.  What else a
 * CPU has set free itself it does at once, before it looks for messages, as run.c does. */
static void now_free(struct stage *s, int actor, int i)
{
    const struct act *act = &cast_role(s->cast, actor)->act[i];
    const struct moment *ready = &s->state[actor][i].ready;
    if (act->peer >= 0 && act->verb != VERB_SEND)
        begin(s, actor, i);
    else if (clock_of(ready) > clock_of(&s->cpu[actor]))
        push(s, ready, actor, i, BEGIN);
    else
        s->freed[s->nfreed++] = (struct freed){ actor, i };
}

static void done(struct stage *s, int actor, const struct act *act, struct moment at)
{
    const struct role *role = cast_role(s->cast, actor);
    s->end = later(s->end, at);
    s->left--;
    for (int k = 0; k < act->nnext; k++) {
        int next = role->next[act->first_next + k];
        struct state *t = &s->state[actor][next];
        t->ready = later(t->ready, at);
        if (--t->nwait == 0)
            now_free(s, actor, next);
    }
}

/* The receiver's CPU takes it and, when it is to be folded, folds it. */
static void receive(struct stage *s, int actor, int i, enum distance d)
{
    const struct act *act = &cast_role(s->cast, actor)->act[i];
    struct state *t = &s->state[actor][i];
    struct moment at = later(later(t->ready, t->other), s->cpu[actor]);
    at.latency += act->parts * s->model->link[d].overhead;
    if (act->verb == VERB_FOLD)
        at.compute += act->bytes * s->model->fold;
    s->cpu[actor] = at;
    done(s, actor, act, at);
}

static bool waits_for_receive(const struct link_price *link, double bytes)
{
    return link->eager && bytes > (double)link->eager;
}

/* It has asked, at `other` of the receive, and may come: one latency there and one back.  What is to
 * be folded comes at once, into a landing, even if the fold itself still has to wait: two ranks that
 * send what they are about to fold into would otherwise wait for each other. */
static void invite(struct stage *s, int receiver, int i, int sender, enum distance d)
{
    struct state *t = &s->state[receiver][i];
    int k = cast_role(s->cast, receiver)->act[i].partner;
    struct moment asked = t->other;
    asked.latency += s->model->link[d].latency;
    bool lands = cast_role(s->cast, receiver)->act[i].verb == VERB_FOLD;
    struct moment go = lands ? asked : later(asked, t->ready);
    go.latency += s->model->link[d].latency;
    s->state[sender][k].ready = go;
    push(s, &go, sender, k, INJECT);
}

static void begin_local(struct stage *s, int actor, int i)
{
    const struct act *act = &cast_role(s->cast, actor)->act[i];
    struct moment at = later(s->state[actor][i].ready, s->cpu[actor]);
    if (act->verb == VERB_COPY)
        at.bandwidth += act->bytes * s->model->copy;
    else
        at.compute += act->bytes * s->model->fold;
    s->cpu[actor] = at;
    done(s, actor, act, at);
}

static void inject(struct stage *s, int actor, int i);

static void begin_send(struct stage *s, int actor, int i, int peer, enum distance d)
{
    const struct act *act = &cast_role(s->cast, actor)->act[i];
    const struct link_price *link = &s->model->link[d];
    struct state *t = &s->state[actor][i];
    int receiver = peer % s->cast->nactors;
    struct moment at = later(t->ready, s->cpu[actor]);
    at.latency += act->parts * link->overhead;
    s->cpu[actor] = at;
    t->ready = at;
    if (!waits_for_receive(link, act->bytes)) {
        if (d == DISTANCE_NET)
            push(s, &at, actor, i, INJECT);
        else
            inject(s, actor, i); /* nobody else uses this way out */
        done(s, actor, act, at);
        return;
    }
    struct state *r = &s->state[receiver][act->partner];
    bool lands = cast_role(s->cast, receiver)->act[act->partner].verb == VERB_FOLD;
    r->other = at;
    r->arrived = !lands; /* its question; the message follows */
    if (r->begun || lands)
        invite(s, receiver, act->partner, actor, d);
}

static void begin(struct stage *s, int actor, int i)
{
    const struct act *act = &cast_role(s->cast, actor)->act[i];
    if (act->peer < 0) {
        begin_local(s, actor, i);
        return;
    }
    int peer = cast_peer(s->cast, actor, act);
    enum distance d = seats_apart(s->seats, actor, peer);
    if (act->verb == VERB_SEND) {
        begin_send(s, actor, i, peer, d);
        return;
    }
    struct state *t = &s->state[actor][i];
    t->begun = true;
    bool asked = act->verb != VERB_FOLD && waits_for_receive(&s->model->link[d], act->bytes);
    if (t->arrived && asked)
        invite(s, actor, i, peer % s->cast->nactors, d);
    else if (t->arrived)
        receive(s, actor, i, d);
}

/* Its last link is behind it, or there was none. */
static void leave(struct stage *s, int actor, int i, enum distance d)
{
    const struct act *act = &cast_role(s->cast, actor)->act[i];
    struct moment *at = &s->state[actor][i].ready;
    at->latency += s->model->link[d].latency;
    push(s, at, cast_peer(s->cast, actor, act) % s->cast->nactors, act->partner, ARRIVE);
}

/* The links that it will take, folded as the ranks are. */
static bool find_way(struct stage *s, int actor, int i, int peer)
{
    const struct fabric *f = s->fabric;
    struct state *t = &s->state[actor][i];
    t->hops =
        f->route(f->self, seats_node(s->seats, actor), seats_node(s->seats, peer), s->route);
    t->way = t->hops ? malloc((size_t)t->hops * sizeof *t->way) : NULL;
    s->no_memory = s->no_memory || (t->hops && !t->way);
    for (int k = 0; t->way && k < t->hops; k++)
        t->way[k] = s->cast->symmetry
                        ? f->fold(f->self, s->route[k], s->cast->symmetry == SYMMETRY_FLIP)
                        : s->route[k];
    return t->way != NULL;
}

/* A message passes links as a worm does, its end no faster than the slowest of its ways: where links are slower than
 * interfaces, it is there so much later. */
static double lag_of(const struct stage *s, double bytes)
{
    double slower = s->fabric->byte - s->model->link[DISTANCE_NET].byte;
    return slower > 0 ? bytes * slower : 0;
}

static void hop(struct stage *s, int actor, int i)
{
    struct state *t = &s->state[actor][i];
    double bytes = cast_role(s->cast, actor)->act[i].bytes;
    struct moment at = serve(&s->link[t->way[t->hop++]], t->ready, 0, bytes * s->fabric->byte);
    at.latency += s->fabric->hop;
    t->ready = at;
    if (t->hop < t->hops) {
        push(s, &at, actor, i, HOP);
        return;
    }
    free(t->way);
    t->way = NULL;
    t->ready.bandwidth += lag_of(s, bytes);
    leave(s, actor, i, DISTANCE_NET);
}

static void inject(struct stage *s, int actor, int i)
{
    const struct act *act = &cast_role(s->cast, actor)->act[i];
    int peer = cast_peer(s->cast, actor, act);
    enum distance d = seats_apart(s->seats, actor, peer);
    const struct link_price *link = &s->model->link[d];
    double gap = act->parts * link->gap, busy = act->bytes * link->byte;
    struct moment at = s->state[actor][i].ready;
    bool net = d == DISTANCE_NET;
    at = serve(net ? &s->node_out[seats_node(s->seats, actor)] : &s->out[actor], at, gap, busy);
    s->state[actor][i].ready = at;
    if (net && s->fabric && find_way(s, actor, i, peer))
        push(s, &at, actor, i, HOP);
    else
        leave(s, actor, i, d);
}

static void arrive(struct stage *s, int actor, int i)
{
    const struct role *role = cast_role(s->cast, actor);
    const struct act *act = &role->act[i];
    int peer = cast_peer(s->cast, actor, act), sender = peer % s->cast->nactors;
    enum distance d = seats_apart(s->seats, actor, peer);
    const struct link_price *link = &s->model->link[d];
    double gap = act->parts * link->gap, busy = act->bytes * link->byte;
    struct state *t = &s->state[actor][i];
    struct moment *way =
        d == DISTANCE_NET ? &s->node_in[seats_node(s->seats, actor)] : &s->in[actor];
    struct moment at = serve(way, s->state[sender][act->partner].ready, gap, busy);
    at.latency += gap;
    at.bandwidth += busy;
    t->other = at;
    if (waits_for_receive(link, act->bytes))
        done(s, sender, &cast_role(s->cast, sender)->act[act->partner], at);
    push(s, &at, actor, i, LAND);
}

static void land(struct stage *s, int actor, int i)
{
    const struct act *act = &cast_role(s->cast, actor)->act[i];
    struct state *t = &s->state[actor][i];
    t->arrived = true;
    if (t->begun)
        receive(s, actor, i, seats_apart(s->seats, actor, cast_peer(s->cast, actor, act)));
}

/* ---- the stage ---- */

static bool set_up(struct stage *s)
{
    const struct cast *cast = s->cast;
    size_t n = (size_t)cast->nactors, nodes = 1;
    if (s->seats->per_node)
        nodes = (n + (size_t)s->seats->per_node - 1) / (size_t)s->seats->per_node;
    s->state = calloc(n + 1, sizeof *s->state);
    s->cpu = calloc(3 * n + 2 * nodes, sizeof *s->cpu);
    if (s->fabric) {
        s->link = calloc((size_t)s->fabric->nlinks, sizeof *s->link);
        s->route = malloc(((size_t)s->fabric->longest + 1) * sizeof *s->route);
    }
    struct state *all = calloc((size_t)cast->acts + 1, sizeof *all);
    s->freed = malloc(((size_t)cast->acts + 1) * sizeof *s->freed);
    if (!s->state || !s->cpu || !s->freed || !all || (s->fabric && !(s->link && s->route))) {
        free(all);
        return false;
    }
    s->out = s->cpu + n;
    s->in = s->out + n;
    s->node_out = s->in + n;
    s->node_in = s->node_out + nodes;
    for (int a = 0; a < cast->nactors; a++) {
        const struct role *role = cast_role(cast, a);
        s->state[a] = all;
        for (int i = 0; i < role->nacts; i++)
            all[i].nwait = role->act[i].nwait;
        all += role->nacts;
    }
    return true;
}

static void strike(struct stage *s)
{
    if (s->state && s->state[0]) {
        for (int64_t i = 0; s->fabric && i < s->cast->acts; i++)
            free(s->state[0][i].way);
        free(s->state[0]);
    }
    free(s->state);
    free(s->cpu);
    free(s->link);
    free(s->route);
    free(s->heap);
    free(s->freed);
}

static void begin_freed(struct stage *s)
{
    while (s->begun < s->nfreed) {
        struct freed next = s->freed[s->begun++];
        begin(s, next.actor, next.act);
    }
    s->begun = s->nfreed = 0;
}

static void play(struct stage *s)
{
    static void (*const perform[])(struct stage *, int, int) = {
        [BEGIN] = begin, [INJECT] = inject, [HOP] = hop, [ARRIVE] = arrive, [LAND] = land
    };
    for (int a = 0; a < s->cast->nactors; a++)
        for (int i = 0; i < cast_role(s->cast, a)->nacts; i++)
            if (cast_role(s->cast, a)->act[i].nwait == 0)
                now_free(s, a, i);
    begin_freed(s);
    while (s->nevents > 0 && !s->no_memory) {
        struct event e = pop(s);
        perform[e.kind](s, e.actor, e.act);
        begin_freed(s);
    }
}

int sim_perform(const struct cast *cast, const struct price_model *model,
                const struct seats *seats, const struct fabric *fabric, struct price *price)
{
    struct stage s = { .cast = cast, .model = model, .seats = seats, .fabric = fabric };
    s.no_memory = !set_up(&s);
    s.left = (long long)cast->acts;
    if (!s.no_memory)
        play(&s);
    int error = 0;
    if (s.no_memory)
        error = fail(MPI_ERR_NO_MEM, "no memory to perform %lld steps", (long long)cast->acts);
    else if (s.left > 0) /* somebody's own plan, that is wrong */
        error = fail(MPI_ERR_OTHER, "%lld of %lld steps wait for each other", s.left,
                     (long long)cast->acts);
    *price = (struct price){ s.end.latency, s.end.bandwidth, s.end.compute };
    strike(&s);
    return error;
}

double sim_least(const struct cast *first, const struct price_model *model,
                 const struct seats *seats)
{
    double cpu = 0, out[2] = { 0 }, in[2] = { 0 };
    for (int i = 0; i < first->role->nacts; i++) {
        const struct act *act = &first->role->act[i];
        if (act->verb == VERB_FOLD || act->verb == VERB_JOIN)
            cpu += act->bytes * model->fold;
        if (act->verb == VERB_COPY)
            cpu += act->bytes * model->copy;
        if (act->peer < 0)
            continue;
        enum distance d = seats_apart(seats, 0, act->peer);
        const struct link_price *link = &model->link[d];
        double busy = act->parts * link->gap + act->bytes * link->byte;
        cpu += act->parts * link->overhead;
        (act->verb == VERB_SEND ? out : in)[d == DISTANCE_NET] += busy;
    }
    double most = cpu, ways[] = { out[0], out[1], in[0], in[1] };
    for (int i = 0; i < 4; i++)
        most = ways[i] > most ? ways[i] : most;
    return most;
}
