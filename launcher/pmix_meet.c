/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See pmix_meet.h.  A meeting is known by its purpose, name and ranks, packed in one way:
 *
 *     kind | name | other jobs | first, length | first, length | ..        runs of ranks, rising
 *
 * The root of the job counts the hosts of these ranks.  A host all of whose ranks in it have ended is not
 * waited for; then everybody gets PMIX_ERR_PROC_ABORTED.  Where other jobs take part that is the half of it:
 * then it has its part in a union (pmix_union.c), and waits for the others.
 */
#include "launcher/pmix_meet.h"

#include "launcher/mail.h"
#include "launcher/out.h"
#include "launcher/pmix_lib.h"
#include "launcher/pmix_union.h"
#include "launcher/post.h"

#include <stdlib.h>

struct meeting { /* at the root of the job */
    struct meeting *next;
    struct pack what, data;
    bool *members; /* by rank of the job */
    bool *here;    /* by node: arrived, or not expected */
    int left;      /* nodes that are */
    bool away;     /* complete, and waits for other jobs */
    pmix_status_t status;
};

struct waiting { /* on every host */
    struct waiting *next;
    struct pack what;
    struct upcall *upcall;
};

static struct meeting *meetings;
static struct waiting *waiters;
static bool *ended; /* by rank of the job */
static const char *own_name;

static void post_to_root(struct job *job, enum post_kind kind, const struct pack *text)
{
    if (mail_is_root(job))
        post_own(job, kind, text);
    else
        post_send(job, POST_ROOT, kind, text);
}

static bool is_same(const struct pack *a, const char *bytes, size_t n)
{
    return a->n == n && memcmp(a->bytes, bytes, n) == 0;
}

static bool *marks(int n)
{
    bool *list = calloc((size_t)n + 1, sizeof *list);
    if (!list)
        abort();
    return list;
}

/* ---- what it is ---- */

static void pack_members(struct pack *what, const bool *members, int world)
{
    for (int at = 0, end; at < world; at = end) {
        for (end = at; end < world && members[end] == members[at];)
            end++;
        if (members[at]) {
            pack_number(what, at);
            pack_number(what, end - at);
        }
    }
}

static void pack_what(const struct job *job, const struct upcall *u, struct pack *what)
{
    int world = job->plan->world;
    bool *members = marks(world);
    for (size_t i = 0; i < u->nprocs; i++)
        if (strcmp(u->procs[i].nspace, own_name) != 0)
            continue;
        else if (u->procs[i].rank == PMIX_RANK_WILDCARD)
            memset(members, true, (size_t)world * sizeof *members);
        else if (u->procs[i].rank < (pmix_rank_t)world)
            members[u->procs[i].rank] = true;
    pack_number(what, u->kind);
    pack_text(what, u->text);
    struct pack others = { 0 };
    union_pack(u, own_name, &others);
    pack_bytes(what, others.bytes, others.n);
    pack_free(&others);
    pack_members(what, members, world);
    free(members);
}

static bool take_members(struct unpack *what, bool *members, int world)
{
    size_t bytes;
    unpack_number(what);
    unpack_text(what);
    unpack_bytes(what, &bytes);
    while (what->at < what->end && !what->bad) {
        int first = unpack_int(what, 0, world - 1), n = unpack_int(what, 1, world - first);
        for (int i = 0; i < n && !what->bad; i++)
            members[first + i] = true;
    }
    return !what->bad;
}

/* ---- the root ---- */

/* Somebody who has not ended is expected from this node. */
static bool is_awaited(const struct job *job, const struct meeting *m, int node)
{
    const struct plan *plan = job->plan;
    for (int rank = 0; rank < plan->world; rank++)
        if (m->members[rank] && plan->node_of[rank] == node && !(ended && ended[rank]))
            return true;
    return false;
}

static void expect_nodes(const struct plan *plan, struct meeting *m)
{
    memset(m->here, true, (size_t)plan->nnodes * sizeof *m->here);
    for (int rank = 0; rank < plan->world; rank++) {
        bool *here = &m->here[plan->node_of[rank]];
        m->left += m->members[rank] && *here;
        *here &= !m->members[rank];
    }
}

static void expect_no_more(struct meeting *m, int node)
{
    m->here[node] = true;
    m->left--;
    m->status = PMIX_ERR_PROC_ABORTED;
    pack_free(&m->data);
}

static void meeting_free(struct meeting *m)
{
    pack_free(&m->what);
    pack_free(&m->data);
    free(m->members);
    free(m->here);
    free(m);
}

/* NULL: it makes no sense. */
static struct meeting *meeting_new(const struct job *job, const char *what, size_t bytes)
{
    const struct plan *plan = job->plan;
    struct meeting *m = calloc(1, sizeof *m);
    if (!m)
        abort();
    struct unpack from = { what, what + bytes, false };
    pack_raw(&m->what, what, bytes);
    m->members = marks(plan->world);
    m->here = marks(plan->nnodes);
    if (!take_members(&from, m->members, plan->world)) {
        meeting_free(m);
        return NULL;
    }
    expect_nodes(plan, m);
    for (int node = 0; ended && node < plan->nnodes; node++)
        if (!m->here[node] && !is_awaited(job, m, node))
            expect_no_more(m, node);
    return m;
}

/* The first one of this kind that this node has not come to. */
static struct meeting *meeting_of(const struct job *job, int node, const char *what,
                                  size_t bytes)
{
    struct meeting **at = &meetings;
    while (*at && (!is_same(&(*at)->what, what, bytes) || (*at)->away || (*at)->here[node]))
        at = &(*at)->next;
    if (!*at)
        *at = meeting_new(job, what, bytes);
    return *at;
}

static void tell_all(struct job *job, const struct pack *what, const struct pack *rest)
{
    struct pack text = { 0 };
    pack_bytes(&text, what->bytes, what->n);
    pack_raw(&text, rest->bytes, rest->n);
    if (job->others)
        post_send(job, POST_ALL, POST_MET, &text);
    post_to_root(job, POST_MET, &text);
    pack_free(&text);
}

/* Of several jobs: the name is what these have in common. */
static struct unpack union_of(const struct meeting *m)
{
    struct unpack what = { m->what.bytes, m->what.bytes + m->what.n, false }, name = what;
    size_t bytes;
    unpack_number(&what);
    unpack_text(&what);
    unpack_bytes(&what, &bytes);
    name.end = what.at;
    name.bad = !bytes; /* it is none */
    return name;
}

/* Groups of all jobs have different numbers. */
static int64_t next_serial(void)
{
    static int64_t serial;
    return serial++ + ((int64_t)(launcher_job - 1) << 40);
}

static void tell_met(struct job *job, const struct meeting *m)
{
    struct pack rest = { 0 };
    pack_number(&rest, next_serial());
    pack_number(&rest, m->status);
    pack_bytes(&rest, m->data.bytes, m->data.n);
    pack_bytes(&rest, NULL, 0);
    tell_all(job, &m->what, &rest);
    pack_free(&rest);
}

/* All jobs are there. */
static void union_met(struct job *job, struct unpack *name, struct unpack *text)
{
    struct pack rest = { 0 };
    struct meeting **at = &meetings;
    size_t bytes = (size_t)(name->end - name->at);
    while (*at && (!(*at)->away || (*at)->what.n < bytes ||
                   memcmp((*at)->what.bytes, name->at, bytes) != 0))
        at = &(*at)->next;
    struct meeting *m = *at;
    if (!m)
        return;
    *at = m->next;
    pack_rest(&rest, text);
    tell_all(job, &m->what, &rest);
    pack_free(&rest);
    meeting_free(m);
}

static void end_complete(struct job *job)
{
    struct meeting **at = &meetings;
    while (*at && ((*at)->away || (*at)->left > 0))
        at = &(*at)->next;
    struct meeting *m = *at;
    if (!m)
        return;
    struct unpack name = union_of(m);
    if (name.bad) {
        *at = m->next;
        tell_met(job, m);
        meeting_free(m);
    } else { /* until the other jobs are there, which may be now */
        m->away = true;
        union_come(job, &name, m->status, &m->data);
    }
    end_complete(job);
}

static void come(struct job *job, int from, struct unpack *text)
{
    size_t bytes, more;
    int node = unpack_int(text, 0, job->plan->nnodes - 1);
    const char *what = unpack_bytes(text, &bytes), *data;
    int64_t status = unpack_number(text);
    data = unpack_bytes(text, &more);
    (void)from;
    struct meeting *m = text->bad ? NULL : meeting_of(job, node, what, bytes);
    text->bad |= !m;
    if (!m)
        return;
    m->left -= !m->here[node];
    m->here[node] = true;
    if (status != PMIX_SUCCESS)
        m->status = (pmix_status_t)status;
    else if (m->status == PMIX_SUCCESS && !post_fits(m->data.n + more))
        m->status = PMIX_ERR_OUT_OF_RESOURCE;
    if (m->status != PMIX_SUCCESS)
        pack_free(&m->data);
    else if (more)
        pack_raw(&m->data, data, more);
    end_complete(job);
}

void meet_ended(struct job *job, int world)
{
    if (!ended)
        ended = marks(job->plan->world);
    ended[world] = true;
    int node = job->plan->node_of[world];
    for (struct meeting *m = meetings; m; m = m->next)
        if (m->members[world] && !m->away && !m->here[node] && !is_awaited(job, m, node))
            expect_no_more(m, node);
    end_complete(job);
}

/* ---- every host ---- */

/* What its ranks said about themselves. */
static const pmix_byte_object_t *endpoints_of(const struct upcall *u)
{
    for (size_t i = 0; i < u->ninfo; i++)
        if (info_is(&u->info[i], PMIX_GROUP_ENDPT_DATA) &&
            u->info[i].value.type == PMIX_BYTE_OBJECT)
            return &u->info[i].value.data.bo;
    return NULL;
}

void meet_join(struct job *job, struct upcall *u)
{
    struct waiting *waiting = calloc(1, sizeof *waiting), **end = &waiters;
    struct pack text = { 0 };
    if (!waiting)
        abort();
    waiting->upcall = u;
    pack_what(job, u, &waiting->what);
    while (*end)
        end = &(*end)->next;
    *end = waiting;
    const pmix_byte_object_t *endpoints = u->kind == UPCALL_GROUP ? endpoints_of(u) : NULL;
    size_t bytes = endpoints ? endpoints->size : u->nblob;
    bool fits = post_fits(bytes);
    pack_number(&text, job->plan->node);
    pack_bytes(&text, waiting->what.bytes, waiting->what.n);
    pack_number(&text, fits ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE);
    pack_bytes(&text, endpoints ? endpoints->bytes : u->blob, fits ? bytes : 0);
    free(u->blob);
    u->blob = NULL;
    u->nblob = 0;
    post_to_root(job, POST_MEET, &text);
    pack_free(&text);
}

static char *copy_of(const char *data, size_t bytes)
{
    char *copy = malloc(bytes + 1);
    if (!copy)
        abort();
    memcpy(copy, data, bytes);
    return copy;
}

static void give_group(struct upcall *u, int64_t number, const char *data, size_t bytes)
{
    u->given = calloc(2, sizeof *u->given);
    if (!u->given)
        abort();
    for (size_t i = 0; i < u->ninfo && !u->ngiven; i++)
        if (info_is(&u->info[i], PMIX_GROUP_ASSIGN_CONTEXT_ID))
            u->given[u->ngiven++] = (pmix_info_t){
                .key = PMIX_GROUP_CONTEXT_ID,
                .value = { .type = PMIX_SIZE, .data.size = (size_t)number },
            };
    if (bytes)
        u->given[u->ngiven++] = (pmix_info_t){
            .key = PMIX_GROUP_ENDPT_DATA,
            .value = { .type = PMIX_BYTE_OBJECT,
                       .data.bo = { .bytes = copy_of(data, bytes), .size = bytes } },
        };
}

static void met(struct job *job, int from, struct unpack *text)
{
    size_t bytes, more, jobs_bytes;
    (void)job, (void)from;
    const char *what = unpack_bytes(text, &bytes);
    int64_t number = unpack_number(text), status = unpack_number(text);
    const char *data = unpack_bytes(text, &more);
    struct unpack jobs = { 0 };
    jobs.at = unpack_bytes(text, &jobs_bytes);
    jobs.end = jobs.at + jobs_bytes;
    struct waiting **at = &waiters;
    while (*at && !is_same(&(*at)->what, what, bytes))
        at = &(*at)->next;
    if (text->bad || !*at)
        return;
    union_learn(&jobs);
    struct waiting *done = *at;
    struct upcall *u = done->upcall;
    *at = done->next;
    pack_free(&done->what);
    free(done);
    if (u->kind == UPCALL_GROUP) {
        give_group(u, number, data, more);
    } else if (more) {
        u->blob = copy_of(data, more);
        u->nblob = more;
    }
    upcall_answer(u, (pmix_status_t)status);
}

void meet_open(const char *nspace)
{
    own_name = nspace;
    union_open(nspace, union_met);
    post_handle(POST_MEET, come);
    post_handle(POST_MET, met);
}
