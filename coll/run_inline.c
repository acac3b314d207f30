/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A second reader of the same plans, for blocking calls with small messages: program order, no
 * list, no counters, no requests.  A small send is over when pml_send returns, whether or not
 * anybody receives, so each step may simply be done; the verifier performs all plans this way
 * too.  It saves about half of the time of an exchange of a few bytes.
 */
#include "coll/run.h"

#include "mpix.h"
#include "pml/failure.h"
#include "runtime/param.h"

enum { INLINE_BYTES = 8 << 10 };

bool run_is_inline(const struct bound *bound)
{
    const struct layout *layout = bound->call->reduction.layout;
    size_t longest = bind_longest(bound);
    bool folds = bound->plan->nfolds > 0;
    return longest <= INLINE_BYTES && longest <= (size_t)param_number(EAGER) &&
           (!folds || (layout->dense && !bound->call->near));
}

struct inlined {
    struct team *team;
    const struct bound *bound;
    int tag;
    uint32_t signature;
};

static int inline_message(const struct inlined *r, const struct step *s,
                          const struct buffer *data)
{
    struct channel *channel = &r->team->channel;
    struct envelope envelope = { .peer = s->peer,
                                 .tag = r->tag,
                                 .step = s->slot,
                                 .signature = r->signature,
                                 .group = channel->peers };
    if (buffer_bytes(data) == 0 && r->bound->call->what != COLL_BARRIER)
        return 0;
    if (s->verb == VERB_SEND)
        return pml_send(channel, data, &envelope, SEND_STANDARD);
    return pml_recv(channel, data, &envelope, NULL);
}

static int inline_fold(const struct inlined *r, const struct step *s, const struct buffer *to,
                       const struct buffer *with)
{
    char landing[INLINE_BYTES] __attribute__((aligned(64)));
    void *incoming = buffer_at(landing, -r->bound->call->reduction.layout->true_lb);
    struct buffer data = { incoming, to->count, to->layout, HERE };
    int error = inline_message(r, s, &data);
    if (error || to->count == 0)
        return error;
    return step_fold(r->bound, s, to, with->base, incoming);
}

static int inline_step(const struct inlined *r, const struct step *s)
{
    struct buffer to, from;
    struct layout *made[2] = { NULL, NULL };
    int error = 0;
    if (s->to.n)
        error = bind_span(r->bound, s->to, &to, &made[0]);
    if (s->from.n && !error)
        error = bind_span(r->bound, s->from, &from, &made[1]);
    if (!error && step_is_local(s))
        error = step_perform(r->bound, s, &to, &from);
    else if (!error && s->verb == VERB_FOLD)
        error = inline_fold(r, s, &to, &from);
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

int run_inline(struct team *team, const struct bound *bound, int tag, uint32_t signature)
{
    struct inlined r = { team, bound, tag, signature };
    struct step space;
    int first = 0;
    bind_begin(bound);
    for (int i = 0; i < bound->plan->nsteps; i++) {
        int error = inline_step(&r, plan_step(bound->plan, i, &space));
        if (__builtin_expect(error == 0, 1))
            continue;
        first = first ? first : error;
        if (is_given_up(team, error))
            break;
    }
    bind_end(bound);
    return first ? first : channel_check(&team->channel);
}
