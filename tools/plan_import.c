/* SPDX-License-Identifier: BSD-3-Clause
 *
 * xmpi plan import: an algorithm in the XML of MSCCL becomes a script of one's own (coll/script.h),
 * which can be read, changed, and is verified like any other before it runs.
 *
 * Thread blocks that work side by side become one order of steps per rank: all GPUs are performed
 * here, a step of each block in turn, as soon as the step that it waits for is over and its message,
 * the oldest between the two GPUs, has come.  What follows it in a plan may still overtake it:
 * plans infer what has to wait for what.
 *
 *     buffer        allreduce        reduce_scatter     allgather        alltoall
 *     i             in, then out     in, then tmp       in, then tmp     in, then tmp
 *     o             out              out                out              out
 *     s             tmp              -                  tmp              tmp
 *
 * IN is never written, so a chunk of i is in IN until something is written there.  When a vector is
 * cut in n chunks, block b of tmp is as long as chunk b modulo n: scratch finds a place by what it
 * holds.  Not: more than one chunk per rank, where blocks go to ranks; other collectives.
 *
 * Each step says in a comment which line of the XML it comes from, and so does whatever is wrong with
 * it.
 */
#include "tools/plan.h"

#include "tools/draft.h"
#include "tools/msccl.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TMP = 1 << 20 }; /* blocks of a script */

/* Where the chunk is that a place of MSCCL names. */
struct cell {
    enum room room;   /* ROOMS: nowhere */
    int index, holds; /* which chunk of the vector */
};

struct gpu {
    struct cell *cell; /* of i, o and s */
    bool *taken;       /* blocks of tmp */
    FILE *text;
    char *lines;
    size_t size;
};

struct message {
    int from, to, channel, holds;
    bool taken;
};

struct import {
    struct msccl a;
    enum collective what;
    int blocks, ntmp; /* of IN and OUT, as far as they are cut in many; of TMP, at least */
    int most_tmp;
    struct gpu *gpu;
    struct message *message;
    int nmessages, room, oldest;
    bool no_memory;
    const struct msccl_step *step; /* that is performed */
    char wrong[200];
};

static void wrong(struct import *m, const char *why)
{
    if (!m->wrong[0])
        snprintf(m->wrong, sizeof m->wrong, "line %d: %s", m->step ? m->step->line : 1, why);
}

static struct cell *cell_of(struct import *m, int gpu, struct msccl_place place, int j)
{
    int first = 0;
    for (int b = 0; b < (int)place.buffer; b++)
        first += m->a.used[b];
    return &m->gpu[gpu].cell[first + place.chunk + j];
}

/* ---- where things are ---- */

static void name(FILE *f, const struct cell *c)
{
    fprintf(f, " %s[%d]", room_name(c->room), c->index);
}

static void leave(struct import *m, int gpu, struct cell *c)
{
    if (c->room == ROOM_TMP)
        m->gpu[gpu].taken[c->index] = false;
    c->room = ROOMS;
}

/* A block of tmp for chunk `holds`. */
static int tmp_take(struct import *m, int gpu, int holds)
{
    int at = holds % m->blocks;
    while (at < m->most_tmp && m->gpu[gpu].taken[at])
        at += m->blocks;
    if (at >= m->most_tmp) {
        wrong(m, "more scratch than a plan of this collective can have");
        return 0;
    }
    m->gpu[gpu].taken[at] = true;
    m->ntmp = at >= m->ntmp ? at + 1 : m->ntmp;
    return at;
}

/* Something that holds a chunk is to be written there. */
static void settle(struct import *m, int gpu, struct msccl_place place, int j, int holds)
{
    struct cell *c = cell_of(m, gpu, place, j);
    bool vector = m->what == COLL_ALLREDUCE;
    bool fixed = place.buffer == MSCCL_OUT ||
                 (place.buffer == MSCCL_IN && vector && m->a.used[MSCCL_OUT] == 0);
    leave(m, gpu, c);
    if (fixed && vector && holds != place.chunk + j)
        wrong(m, "a chunk is kept in the place of another one, which may be longer");
    c->room = fixed ? ROOM_OUT : ROOM_TMP;
    c->index = fixed ? place.chunk + j : tmp_take(m, gpu, holds);
    c->holds = holds;
}

static const struct cell *read_cell(struct import *m, int gpu, struct msccl_place place, int j)
{
    const struct cell *c = cell_of(m, gpu, place, j);
    static const struct cell nothing = { ROOM_IN, 0, 0 };
    if (c->room != ROOMS)
        return c;
    wrong(m, "reads a chunk that nobody has written");
    return &nothing;
}

/* ---- messages ---- */

static void message_put(struct import *m, const struct msccl_block *b, int holds)
{
    if (m->nmessages == m->room) {
        int room = m->room ? 2 * m->room : 256;
        struct message *more = realloc(m->message, (size_t)room * sizeof *more);
        if (!more) {
            m->no_memory = true;
            return;
        }
        m->message = more;
        m->room = room;
    }
    m->message[m->nmessages++] = (struct message){ b->gpu, b->to, b->channel, holds, false };
}

/* The oldest of the pair, if it comes through the block's channel; NULL: not yet. */
static struct message *message_for(struct import *m, const struct msccl_block *b)
{
    while (m->oldest < m->nmessages && m->message[m->oldest].taken)
        m->oldest++;
    for (int i = m->oldest; i < m->nmessages; i++) {
        struct message *g = &m->message[i];
        if (!g->taken && g->from == b->from && g->to == b->gpu)
            return g->channel == b->channel ? g : NULL;
    }
    return NULL;
}

static int message_take(struct import *m, const struct msccl_block *b)
{
    struct message *g = message_for(m, b);
    if (!g) {
        wrong(m, "takes more chunks than were sent");
        return 0;
    }
    g->taken = true;
    return g->holds;
}

/* ---- steps, chunk by chunk ---- */

static void end_line(const struct import *m, FILE *f)
{
    if (m->step)
        fprintf(f, "%s%d", draft_origin, m->step->line);
    fputc('\n', f);
}

static void send_chunk(struct import *m, const struct msccl_block *b, const struct cell *c)
{
    FILE *f = m->gpu[b->gpu].text;
    fprintf(f, "    send");
    name(f, c);
    fprintf(f, " -> %d", b->to);
    end_line(m, f);
    message_put(m, b, c->holds);
}

static void recv_chunk(struct import *m, const struct msccl_block *b, int j)
{
    FILE *f = m->gpu[b->gpu].text;
    settle(m, b->gpu, m->step->dst, j, message_take(m, b));
    fprintf(f, "    recv");
    name(f, cell_of(m, b->gpu, m->step->dst, j));
    fprintf(f, " <- %d", b->from);
    end_line(m, f);
}

/* Into dst, or, what is kept nowhere, into scratch of the moment, which is sent. */
static void fold_chunk(struct import *m, const struct msccl_block *b, int j)
{
    FILE *f = m->gpu[b->gpu].text;
    struct cell with = *read_cell(m, b->gpu, m->step->src, j), to;
    int holds = message_take(m, b);
    if (holds != with.holds && m->what == COLL_ALLREDUCE)
        wrong(m, "reduces a chunk with another one");
    if (m->step->type == MSCCL_RRS) {
        to = (struct cell){ ROOM_TMP, tmp_take(m, b->gpu, holds), holds };
    } else {
        settle(m, b->gpu, m->step->dst, j, holds);
        to = *cell_of(m, b->gpu, m->step->dst, j);
    }
    fprintf(f, "    fold");
    name(f, &to);
    name(f, &with);
    fprintf(f, " <- %d last", b->from);
    end_line(m, f);
    if (m->step->type != MSCCL_RRC)
        send_chunk(m, b, &to);
    if (m->step->type == MSCCL_RRS)
        leave(m, b->gpu, &to);
}

static void copy_line(const struct import *m, FILE *f, const struct cell *to,
                      const struct cell *from)
{
    if (to->room == from->room && to->index == from->index)
        return;
    fprintf(f, "    copy");
    name(f, to);
    name(f, from);
    end_line(m, f);
}

static void copy_chunk(struct import *m, int gpu, int j)
{
    struct cell from = *read_cell(m, gpu, m->step->src, j);
    settle(m, gpu, m->step->dst, j, from.holds);
    copy_line(m, m->gpu[gpu].text, cell_of(m, gpu, m->step->dst, j), &from);
}

static void reduce_chunk(struct import *m, int gpu, int j)
{
    FILE *f = m->gpu[gpu].text;
    struct cell add = *read_cell(m, gpu, m->step->src, j);
    struct cell was = *read_cell(m, gpu, m->step->dst, j);
    if (was.room == ROOM_IN) { /* which is never written */
        settle(m, gpu, m->step->dst, j, was.holds);
        copy_line(m, f, cell_of(m, gpu, m->step->dst, j), &was);
    }
    fprintf(f, "    join");
    name(f, cell_of(m, gpu, m->step->dst, j));
    name(f, &add);
    fprintf(f, " last");
    end_line(m, f);
}

static void perform(struct import *m, const struct msccl_block *b)
{
    enum msccl_type type = m->step->type;
    for (int j = 0; j < m->step->n && !m->wrong[0]; j++) {
        if (type == MSCCL_SEND)
            send_chunk(m, b, read_cell(m, b->gpu, m->step->src, j));
        else if (type == MSCCL_RECV || type == MSCCL_RCS)
            recv_chunk(m, b, j);
        else if (type >= MSCCL_RRS && type <= MSCCL_RRCS)
            fold_chunk(m, b, j);
        else if (type == MSCCL_COPY)
            copy_chunk(m, b->gpu, j);
        else if (type == MSCCL_REDUCE)
            reduce_chunk(m, b->gpu, j);
    }
    for (int j = 0; type == MSCCL_RCS && j < m->step->n && !m->wrong[0]; j++)
        send_chunk(m, b, read_cell(m, b->gpu, m->step->dst, j));
}

/* ---- one order ---- */

static bool is_over(const struct msccl *a, int gpu, int block, int step)
{
    for (int i = 0; i < a->nblocks; i++)
        if (a->block[i].gpu == gpu && a->block[i].id == block)
            return a->block[i].at > step;
    return false;
}

static bool may_begin(struct import *m, const struct msccl_block *b)
{
    const struct msccl_step *s = m->step;
    if (s->block >= 0 && !is_over(&m->a, b->gpu, s->block, s->of_step))
        return false;
    bool takes = s->type >= MSCCL_RECV && s->type <= MSCCL_RRCS && s->n > 0;
    return !takes || message_for(m, b) != NULL;
}

static void perform_all(struct import *m)
{
    struct msccl *a = &m->a;
    for (bool moved = true; moved && !m->wrong[0] && !m->no_memory;) {
        moved = false;
        for (int i = 0; i < a->nblocks && !m->wrong[0] && !m->no_memory; i++) {
            struct msccl_block *b = &a->block[i];
            m->step = &a->step[b->first + b->at];
            if (b->at == b->n || !may_begin(m, b))
                continue;
            perform(m, b);
            b->at++;
            moved = true;
        }
    }
    for (int i = 0; i < a->nblocks; i++)
        if (a->block[i].at < a->block[i].n) {
            m->step = &a->step[a->block[i].first + a->block[i].at];
            wrong(m, "waits for ever, or for messages in an order that no rank can follow");
        }
}

/* ---- before and after ---- */

/* What is where at the beginning.  In place a chunk of the output is the input, too. */
static void furnish(struct import *m, int gpu)
{
    int *used = m->a.used, nin = m->what == COLL_ALLGATHER ? 1 : m->blocks;
    for (int i = 0; i < used[MSCCL_IN] + used[MSCCL_OUT] + used[MSCCL_SCRATCH]; i++)
        m->gpu[gpu].cell[i] = (struct cell){ .room = ROOMS };
    for (int i = 0; i < used[MSCCL_IN] && i < nin; i++)
        m->gpu[gpu].cell[i] = (struct cell){ ROOM_IN, i, m->what == COLL_ALLGATHER ? gpu : i };
    if (m->what == COLL_ALLGATHER && used[MSCCL_IN] == 0 && gpu < used[MSCCL_OUT])
        m->gpu[gpu].cell[gpu] = (struct cell){ ROOM_IN, 0, gpu };
}

/* The result goes to OUT, if it is not there. */
static void bring_home(struct import *m, int gpu)
{
    enum msccl_buffer where = m->a.used[MSCCL_OUT] ? MSCCL_OUT : MSCCL_IN;
    bool mine = m->what == COLL_REDUCE_SCATTER && where == MSCCL_IN;
    int n = m->what == COLL_REDUCE_SCATTER ? 1 : m->blocks;
    m->step = NULL;
    for (int i = 0; i < n && !m->wrong[0]; i++) {
        int chunk = mine ? gpu : i;
        if (chunk >= m->a.used[where])
            continue; /* the verifier will say it */
        const struct cell *c = read_cell(m, gpu, (struct msccl_place){ where, chunk }, 0);
        copy_line(m, m->gpu[gpu].text, &(struct cell){ ROOM_OUT, i, i }, c);
    }
}

static bool set_up(struct import *m)
{
    int cells = m->a.used[MSCCL_IN] + m->a.used[MSCCL_OUT] + m->a.used[MSCCL_SCRATCH];
    bool one = m->what == COLL_REDUCE_SCATTER; /* vector of scratch, see coll/bind.c */
    long most = (long)m->blocks * (one ? 1 : cells + 1);
    m->most_tmp = most < MOST_TMP ? (int)most : MOST_TMP;
    m->gpu = calloc((size_t)m->a.gpus, sizeof *m->gpu);
    for (int g = 0; m->gpu && g < m->a.gpus; g++) {
        struct gpu *u = &m->gpu[g];
        u->cell = calloc((size_t)cells + 1, sizeof *u->cell);
        u->taken = calloc((size_t)m->most_tmp + 1, sizeof *u->taken);
        u->text = open_memstream(&u->lines, &u->size);
        if (!u->cell || !u->taken || !u->text)
            return false;
        furnish(m, g);
    }
    return m->gpu != NULL;
}

static void tear_down(struct import *m)
{
    for (int g = 0; m->gpu && g < m->a.gpus; g++) {
        if (m->gpu[g].text)
            fclose(m->gpu[g].text);
        free(m->gpu[g].lines);
        free(m->gpu[g].cell);
        free(m->gpu[g].taken);
    }
    free(m->gpu);
    free(m->message);
    msccl_close(&m->a);
}

/* Names of scripts are words.  A minus joins letters only, as "hop-1" is a subtraction. */
static void script_name(const struct msccl *a, char *to, size_t room)
{
    snprintf(to, room, "%s", a->name);
    for (char *c = to; *c; c++)
        if (!isalpha((unsigned char)*c) && (c == to || !isdigit((unsigned char)*c)))
            *c = isalpha((unsigned char)c[1]) ? '-' : '_';
    if (!isalpha((unsigned char)*to))
        *to = 'x';
}

static void write_script(struct import *m, FILE *f, const char *path, const char *own)
{
    int out = m->what == COLL_REDUCE_SCATTER ? 1 : m->blocks;
    int copies = (m->ntmp + m->blocks - 1) / m->blocks;
    fprintf(f, "# %s, imported from %s, for %d ranks\n", m->a.name, path, m->a.gpus);
    fprintf(f, "algorithm %s for %s%s%s%d\n", own, collective_name(m->what),
            m->what == COLL_ALLREDUCE ? " cut" : "", draft_origin, m->a.line);
    fprintf(f, "blocks in %d out %d tmp %d\nrequire p == %d\n",
            m->what == COLL_ALLGATHER ? 1 : m->blocks, out, copies * m->blocks, m->a.gpus);
    for (int g = 0; g < m->a.gpus; g++) {
        fflush(m->gpu[g].text);
        fprintf(f, "if me == %d {\n%s}\n", g, m->gpu[g].lines);
    }
}

static bool understand(struct import *m)
{
    static const struct {
        const char *name;
        enum collective what;
    } known[] = { { "allreduce", COLL_ALLREDUCE },
                  { "allgather", COLL_ALLGATHER },
                  { "reducescatter", COLL_REDUCE_SCATTER },
                  { "reduce_scatter", COLL_REDUCE_SCATTER },
                  { "alltoall", COLL_ALLTOALL } };
    m->what = COLL_KINDS;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(m->a.what, known[i].name) == 0)
            m->what = known[i].what;
    const int *used = m->a.used;
    int most = used[MSCCL_IN] > used[MSCCL_OUT] ? used[MSCCL_IN] : used[MSCCL_OUT];
    m->blocks = m->what == COLL_ALLREDUCE ? most : m->a.gpus;
    if (m->what == COLL_KINDS)
        wrong(m, "the coll is none of allreduce, allgather, reducescatter, alltoall");
    else if (most > m->blocks || m->blocks == 0)
        wrong(m, "more than one chunk per rank; a plan has one block, which may be cut later");
    return !m->wrong[0];
}

/* Verified as a program would, and then written. */
static int keep(const struct import *m, const struct plan_args *args, const struct draft *draft)
{
    char why[DRAFT_WHY];
    int line;
    if (!draft_verify(draft, why, &line))
        return line ? plan_cannot("%s: line %d: %s", args->input, line, why)
                    : plan_cannot("%s: %s", args->input, why);
    int error = draft_write(draft, args->output);
    if (error)
        return plan_cannot("cannot write %s: %s", args->output, strerror(error));
    const char *what = collective_name(m->what);
    printf("%s:%s is right on %d ranks; XMPI_PLAN=%s XMPI_COLL=%s=%s uses it\n", what,
           draft->name, draft->ranks, args->output, what, draft->name);
    return 0;
}

static int write_out(struct import *m, const struct plan_args *args)
{
    char own[sizeof m->a.name], *text = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&text, &bytes);
    script_name(&m->a, own, sizeof own);
    if (f)
        write_script(m, f, args->input, own);
    bool whole = f && !ferror(f);
    whole = f && fclose(f) == 0 && whole;
    const struct draft draft = { text, bytes, m->what, own, m->a.gpus };
    int code = whole ? keep(m, args, &draft) : plan_cannot("no memory for %s", own);
    free(text);
    return code;
}

static int import(struct import *m, const struct plan_args *args)
{
    if (!msccl_read(&m->a, args->input))
        return plan_cannot("%s: %s", args->input, m->a.wrong);
    bool memory = !understand(m) || set_up(m);
    if (memory && !m->wrong[0])
        perform_all(m);
    for (int g = 0; g < m->a.gpus && memory && !m->no_memory && !m->wrong[0]; g++)
        bring_home(m, g);
    if (!memory || m->no_memory)
        return plan_cannot("%s: no memory for %d steps", args->input, m->a.nsteps);
    if (m->wrong[0])
        return plan_cannot("%s: %s", args->input, m->wrong);
    return write_out(m, args);
}

int plan_import(const struct plan_args *args)
{
    struct import m = { .ntmp = 0 };
    if (!args->input || !args->output)
        return plan_wrong("from what to what?  As in: xmpi plan import ring.xml -o ring.plan");
    int code = import(&m, args);
    tear_down(&m);
    return code;
}
