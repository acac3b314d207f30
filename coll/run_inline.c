/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A second reader of the same plans, for blocking calls with small messages: program order, no
 * list, no counters, no requests.  Mostly a small send is over at once, whether or not anybody receives,
 * so each step may simply be done.  It saves about half of the time of an exchange of a few bytes.
 *
 * But a link may be full, or have sent a peer all that it may send unasked (peer->window), and then the
 * send is over when somebody receives, which nobody may wait for before having received himself:
 *
 *     rank 0   send 0 -> 1    recv <- 1        both are full: the receives come first, and
 *     rank 1   send 0 -> 0    recv <- 0        then the sends are over
 *
 * So such a send is kept, and is awaited by the steps that write where it reads, and at the end.  A fold has
 * its message first.  The verifier performs all plans both ways, with sends that are over at
 * once and with sends that are over when they are taken; what lies between waits for less than the latter.
 *
 * Of longer vectors a plan of one step is performed here as well, since who has nothing else to do may wait, as
 * long as it takes: of two ranks that reduce the one sends and the other folds.  What comes through the link
 * is folded where it lies, piece by piece as it comes: 32 KiB take 3.3 us near, and would take 4.3 if they were
 * copied first.
 */
#include "coll/run.h"

#include "coll/scratch.h"
#include "coll/tell.h"

#include "mpi.h"
#include "mpix.h"
#include "pml/failure.h"
#include "runtime/fail.h"
#include "runtime/param.h"

#include <stdlib.h>

enum {
    INLINE_BYTES = 8 << 10,
    SINGLE_BYTES = 64 << 10, /* of a plan of one step */
    ALIGNED = 16             /* for any element */
};

/* Its elements may be folded by the link's packets. */
static bool is_single(const struct bound *bound)
{
    return bound->plan->nsteps == 1 && is_reduction(bound->call->what) &&
           bound->call->reduction.kernel;
}

/* The receiver reads this much from a device, and a send is over when it has. */
static bool sends_wait(const struct bound *bound, size_t bytes)
{
    if (__builtin_expect(!call_is_away(bound->call), 1))
        return false;
    size_t least = (size_t)param_number(CUDA_IPC);
    return least > 0 && bytes >= least;
}

bool run_is_inline(const struct bound *bound)
{
    const struct layout *layout = bound->call->reduction.layout;
    size_t longest = bind_longest(bound);
    bool folds = bound->plan->nfolds > 0;
    if (bound->plan->roll) /* so many steps are better under way together */
        return false;
    if (longest > INLINE_BYTES)
        return longest <= SINGLE_BYTES && is_single(bound) && layout->dense &&
               !bound->call->near;
    return longest <= (size_t)param_number(EAGER) && !sends_wait(bound, longest) &&
           (!folds || (layout->dense && !bound->call->near));
}

struct inlined {
    struct team *team;
    const struct bound *bound;
    int tag;
    uint32_t signature;
    int at;                 /* this step */
    int nkept;              /* sends that were not over at once, */
    struct kept_send *kept; /* NULL until there is one */
};

struct kept_send {
    struct request *request;
    int step;
};

static struct envelope inline_envelope(const struct inlined *r, const struct step *s)
{
    return (struct envelope){ .peer = s->peer,
                              .tag = r->tag,
                              .step = s->slot,
                              .signature = r->signature,
                              .group = r->team->channel.peers };
}

/* ---- sends that are not over at once ---- */

static int keep_send(struct inlined *r, struct request *request)
{
    if (!r->kept)
        r->kept = malloc((size_t)r->bound->plan->nsteps * sizeof *r->kept);
    if (r->kept) {
        r->kept[r->nkept++] = (struct kept_send){ request, r->at };
        return 0;
    }
    int error = fail(MPI_ERR_NO_MEM, "no memory for sends that wait for their receivers");
    mismatch_give_up(r->team, said_word((uint32_t)r->tag, r->signature), error);
    request_wait(request, NULL); /* all of them end */
    return error;
}

/* Those that read where this step writes; at the end all. */
static __attribute__((noinline)) int await_kept(struct inlined *r)
{
    const struct plan *plan = r->bound->plan;
    int first = 0, left = 0;
    for (int k = 0; k < r->nkept; k++) {
        struct kept_send kept = r->kept[k];
        if (r->at < plan->nsteps &&
            !spans_overlap(plan->step[r->at].to, plan->step[kept.step].from)) {
            r->kept[left++] = kept;
            continue;
        }
        int error = request_wait(kept.request, NULL);
        first = first ? first : error;
    }
    r->nkept = left;
    return first;
}

static inline int await_sends(struct inlined *r)
{
    return __builtin_expect(r->nkept > 0, 0) ? await_kept(r) : 0;
}

/* ---- steps ---- */

/* The last step of all may as well wait. */
static int inline_send(struct inlined *r, const struct buffer *data,
                       const struct envelope *envelope)
{
    struct channel *channel = &r->team->channel;
    struct request *request;
    if (r->at + 1 == r->bound->plan->nsteps)
        return pml_send(channel, data, envelope, SEND_STANDARD);
    int error = pml_send_ahead(channel, data, envelope, SEND_STANDARD, &request);
    return __builtin_expect(!request, 1) ? error : keep_send(r, request);
}

static int inline_message(struct inlined *r, const struct step *s, const struct buffer *data)
{
    struct channel *channel = &r->team->channel;
    struct envelope envelope = inline_envelope(r, s);
    if (buffer_bytes(data) == 0 && r->bound->call->what != COLL_BARRIER)
        return 0;
    if (s->verb == VERB_SEND)
        return inline_send(r, data, &envelope);
    return pml_recv(channel, data, &envelope, NULL);
}

static int inline_fold(struct inlined *r, const struct step *s, const struct buffer *to,
                       const struct buffer *with)
{
    char landing[INLINE_BYTES] __attribute__((aligned(64)));
    void *incoming = buffer_at(landing, -r->bound->call->reduction.layout->true_lb);
    struct buffer data = { incoming, to->count, to->layout, HERE };
    int error = inline_message(r, s, &data);
    if (!error)
        error = await_sends(r);
    if (error || to->count == 0)
        return error;
    return step_fold(r->bound, s, to, with->base, incoming);
}

/* ---- the same for a longer vector ---- */

struct fold {
    struct sink sink; /* first */
    const struct inlined *r;
    const struct step *step;
    const struct buffer *to, *with;
};

/* So many bytes of what comes, behind those that were taken. */
static int fold_next(const struct fold *f, const void *incoming, size_t bytes)
{
    const struct layout *layout = f->r->bound->call->reduction.layout;
    ptrdiff_t at = (ptrdiff_t)f->sink.taken;
    struct buffer to = { buffer_at(f->to->base, at), bytes / layout->size, layout, HERE };
    return step_fold(f->r->bound, f->step, &to, buffer_at(f->with->base, at),
                     buffer_at((void *)(uintptr_t)incoming, -layout->true_lb));
}

static bool fold_take(struct sink *sink, const char *payload, size_t bytes)
{
    const struct fold *f = (const struct fold *)sink;
    size_t size = f->r->bound->call->reduction.layout->size;
    if (bytes % size != 0 || (uintptr_t)payload % ALIGNED != 0)
        return false;
    return fold_next(f, payload, bytes) == 0;
}

static int inline_fold_long(const struct inlined *r, const struct step *s,
                            const struct buffer *to, const struct buffer *with)
{
    struct fold f = { { fold_take, 0 }, r, s, to, with };
    size_t bytes = buffer_bytes(to);
    char *landing = scratch_take(bytes);
    if (!landing)
        return scratch_fail(bytes);
    struct buffer data = { landing, bytes, &layout_bytes, HERE };
    struct envelope envelope = inline_envelope(r, s);
    int error = pml_recv_into(&r->team->channel, &data, &envelope, &f.sink);
    if (!error && f.sink.taken < bytes)
        error = fold_next(&f, landing + f.sink.taken, bytes - f.sink.taken);
    scratch_give(landing);
    return error;
}

static int inline_step(struct inlined *r, const struct step *s)
{
    struct buffer to, from;
    struct layout *made[2] = { NULL, NULL };
    int error = s->verb == VERB_FOLD ? 0 : await_sends(r);
    if (s->to.n && !error)
        error = bind_span(r->bound, s->to, &to, &made[0]);
    if (s->from.n && !error)
        error = bind_span(r->bound, s->from, &from, &made[1]);
    if (!error && step_is_local(s))
        error = step_perform(r->bound, s, &to, &from);
    else if (!error && s->verb == VERB_FOLD)
        error = buffer_bytes(&to) > INLINE_BYTES ? inline_fold_long(r, s, &to, &from)
                                                 : inline_fold(r, s, &to, &from);
    else if (!error)
        error = inline_message(r, s, s->verb == VERB_SEND ? &from : &to);
    layout_drop(made[0]);
    layout_drop(made[1]);
    return error;
}

/* All of them end, so none waits for the messages that are left. */
static inline bool is_given_up(const struct team *team, int error)
{
    return error == MPIX_ERR_PROC_FAILED || team->channel.broken;
}

static int inline_error(const struct inlined *r, int first, int error)
{
    mismatch_give_up(r->team, said_word((uint32_t)r->tag, r->signature), error);
    return first ? first : error;
}

int run_inline(struct team *team, const struct bound *bound, int tag, uint32_t signature)
{
    struct inlined r = { .team = team, .bound = bound, .tag = tag, .signature = signature };
    struct step space;
    int first = 0, n = bound->plan->nsteps;
    bind_begin(bound);
    for (; r.at < n; r.at++) {
        int error = inline_step(&r, plan_step(bound->plan, r.at, &space));
        if (__builtin_expect(error == 0, 1))
            continue;
        first = inline_error(&r, first, error);
        if (is_given_up(team, error))
            break;
    }
    if (__builtin_expect(r.kept != NULL, 0)) {
        r.at = n;
        first = inline_error(&r, first, await_kept(&r));
        free(r.kept);
    }
    bind_end(bound);
    return first ? first : channel_check_of(&team->channel, tag);
}
