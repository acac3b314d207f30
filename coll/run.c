/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The executor.  Each step counts what it waits for; at zero it goes to the list of ready steps;
 * when it is over, the steps after it count down.  Nothing blocks: messages are posted, and go
 * on from the callbacks of their requests, inside progress.
 *
 * A fold has two halves.  Recursive doubling shows why:
 *
 *     rank 0   send out -> 1        fold out <- 1        the fold may not touch `out` before
 *     rank 1   send out -> 0        fold out <- 0        the send has read it
 *
 * If a fold were posted as a whole after its hazards, and the vectors were too long to be sent
 * before they are asked for, both sends would wait for each other's receive.  So the receiving
 * half ignores hazards: it is posted early, into a landing buffer of our own, and only the
 * combining half waits.  Landings are given out in program order, up to LANDINGS and
 * LANDING_BYTES, but always one; the verifier (check.c) proves that one is enough.
 *
 * Of a plan that is rolled up (roll.h) only the steps in a window have tasks; what one of them
 * waits for is found when it enters (window.h).
 *
 * Steps without bytes are over at once: both ends of a message know its length.  The exception
 * is the barrier, whose empty messages say something.
 *
 * After an error the run goes on to its end, for the sake of the others, and reports the first.  Not
 * so when a process is lost, or they are in different collectives: then all of them end
 * (pml/failure.h, mismatch.c), so the steps that are left are passed over without a message.
 */
#include "coll/run.h"

#include "coll/tell.h"
#include "coll/window.h"
#include "pml/failure.h"
#include "runtime/fail.h"
#include "mpix.h"

#include <stdlib.h>

enum { LANDING_BYTES = 4 << 20 };

struct task {
    struct execution *run;
    int32_t step, waits; /* a fold waits for its message as well */
    int16_t landing;     /* of a fold; -1 = none */
    bool heard;          /* its message is over */
};

static const struct step *step_of(const struct execution *run, int i)
{
    return run->window ? window_step(run->window, i) : &run->plan->step[i];
}

static struct task *task_of(const struct execution *run, int i)
{
    return &run->task[run->window ? i % run->window->size : i];
}

/* Steps that may have begun are `oldest` ... `entered` - 1. */
static int oldest(const struct execution *run)
{
    return run->window ? run->window->oldest : 0;
}

static int entered(const struct execution *run)
{
    return run->window ? run->window->entered : run->plan->nsteps;
}

void run_tell(const void *what, struct record_wait *wait)
{
    const struct execution *run = what;
    for (int i = oldest(run); i < entered(run); i++) {
        const struct step *s = step_of(run, i);
        const struct task *task = task_of(run, i);
        bool posted = task->waits <= (s->verb == VERB_FOLD);
        if (step_is_local(s) || task->heard || !posted)
            continue;
        message_tell(wait, &run->team->channel, s->peer, s->verb == VERB_SEND);
    }
}

int run_open(struct execution *run, struct team *team, const struct bound *bound)
{
    bool rolled = bound->plan->roll != NULL;
    size_t n = rolled ? WINDOW_MOST : (size_t)bound->plan->nsteps;
    run->team = team;
    run->plan = bound->plan;
    run->bound = *bound;
    run->window = NULL;
    int error = bind_keep(&run->bound);
    run->task = error ? NULL : malloc(n * (sizeof(*run->task) + sizeof(*run->ready)) + 1);
    if (run->task && rolled)
        run->window = malloc(sizeof(*run->window));
    if (!run->task || (rolled && !run->window)) {
        free(run->task);
        bind_close(&run->bound);
        return error ? error : fail(MPI_ERR_NO_MEM, "no memory to run a plan of %zu steps", n);
    }
    run->ready = (int32_t *)(run->task + n);
    run->ntasks = (int)n;
    return 0;
}

/* Others may be some restarts ahead. */
void run_reserve(struct execution *run)
{
    enum { AHEAD = 8, MOST = 4096 };
    const struct plan *plan = run->plan;
    size_t messages = AHEAD * (size_t)plan->nsteps;
    for (int i = 0; i < plan->nsteps && !plan->roll; i++)
        if (!step_is_local(&plan->step[i]))
            channel_reserve(&run->team->channel, plan->step[i].peer,
                            messages < MOST ? messages : MOST);
}

void run_lighten(struct execution *run)
{
    for (int i = 0; i < LANDINGS; i++)
        if (run->landing[i].memory) {
            call_scratch_give(run->bound.call, run->landing[i].memory);
            run->landing[i] = (struct landing){ .memory = NULL };
        }
}

void run_close(struct execution *run)
{
    run_lighten(run);
    free(run->task);
    free(run->window);
    bind_close(&run->bound);
}

static void give_up(const struct execution *run, int error)
{
    if (error)
        mismatch_give_up(run->team, said_word((uint32_t)run->tag, run->signature), error);
}

/* The first error counts, and its text. */
static void note(struct execution *run, int error)
{
    if (error && !run->error)
        run->error = fail_keep(run, error);
    give_up(run, error);
    run->broken |= error == MPIX_ERR_PROC_FAILED || (error && run->team->channel.broken);
}

static void note_of(struct execution *run, const struct request *request)
{
    note(run, request_failure(request));
}

static void make_ready(struct execution *run, int i)
{
    run->ready[run->tail++] = i;
    run->nready++;
    if (run->tail == run->ntasks)
        run->tail = 0;
}

static void count_down(struct execution *run, int i)
{
    if (--task_of(run, i)->waits == 0)
        make_ready(run, i);
}

static void begin_task(struct execution *run, int i, int waits)
{
    waits += step_of(run, i)->verb == VERB_FOLD;
    *task_of(run, i) = (struct task){ run, i, waits, -1, false };
}

static void folds_post(struct execution *run);

static void fill_window(struct execution *run)
{
    while (window_has_room(run->window)) {
        int i = run->window->entered;
        begin_task(run, i, window_enter(run->window));
        if (task_of(run, i)->waits == 0)
            make_ready(run, i);
    }
    folds_post(run);
}

static void leave_window(struct execution *run, int i)
{
    uint64_t after = window_leave(run->window, i);
    for (; after; after &= after - 1)
        count_down(run, run->task[__builtin_ctzll(after)].step);
    fill_window(run);
}

static void step_over(struct execution *run, int i)
{
    run->left--;
    if (run->window) {
        leave_window(run, i);
        return;
    }
    const struct step *s = &run->plan->step[i];
    for (int k = 0; k < s->nnext; k++)
        count_down(run, run->plan->next[s->first_next + k]);
}

static void message_over(struct execution *run, int i)
{
    task_of(run, i)->heard = true;
    if (step_of(run, i)->verb == VERB_FOLD)
        count_down(run, i);
    else
        step_over(run, i);
}

/* ---- messages ---- */

static void work(struct execution *run);

static void message_done(struct request *request)
{
    struct task *task = request->owner;
    struct execution *run = task->run;
    note_of(run, request);
    message_over(run, task->step);
    if (!run->busy)
        work(run);
}

static void post(struct execution *run, int i, const struct buffer *data)
{
    const struct step *s = step_of(run, i);
    struct envelope envelope = { .peer = s->peer,
                                 .tag = run->tag,
                                 .step = s->slot,
                                 .signature = run->signature,
                                 .group = run->team->channel.peers };
    struct request *request;
    int error = s->verb == VERB_SEND
                    ? pml_isend(&run->team->channel, data, &envelope, SEND_STANDARD, &request)
                    : pml_irecv(&run->team->channel, data, &envelope, &request);
    if (error) {
        note(run, error);
        message_over(run, i);
    } else if (request->done) {
        note_of(run, request);
        request->ops->release(request);
        message_over(run, i);
    } else {
        request->owner = task_of(run, i);
        request->on_done = message_done;
        request->orphan = true;
    }
}

static bool has_no_message(const struct execution *run, const struct buffer *data)
{
    return buffer_bytes(data) == 0 && run->bound.call->what != COLL_BARRIER;
}

static void begin_message(struct execution *run, int i)
{
    const struct step *s = step_of(run, i);
    struct buffer data;
    struct layout *made;
    if (run->broken) {
        message_over(run, i);
        return;
    }
    int error = bind_span(&run->bound, s->verb == VERB_SEND ? s->from : s->to, &data, &made);
    note(run, error);
    if (error || has_no_message(run, &data))
        message_over(run, i);
    else
        post(run, i, &data);
    layout_drop(made);
}

static void perform_local(struct execution *run, int i)
{
    const struct step *s = step_of(run, i);
    struct buffer to, from;
    struct layout *made[2] = { NULL, NULL };
    int error = bind_span(&run->bound, s->to, &to, &made[0]);
    if (!error)
        error = bind_span(&run->bound, s->from, &from, &made[1]);
    if (!error)
        error = step_perform(&run->bound, s, &to, &from);
    note(run, error);
    layout_drop(made[0]);
    layout_drop(made[1]);
    step_over(run, i);
}

/* ---- folds ---- */

/* A free landing of so many bytes.  False: not now. */
static bool landing_take(struct execution *run, size_t bytes, int *taken)
{
    int free_one = -1, in_use = 0;
    for (int i = 0; i < LANDINGS; i++) {
        in_use += run->landing[i].used;
        if (!run->landing[i].used && (free_one < 0 || run->landing[i].bytes >= bytes))
            free_one = i;
    }
    if (free_one < 0 || (in_use > 0 && run->landing_bytes + bytes > LANDING_BYTES))
        return false;
    struct landing *landing = &run->landing[free_one];
    if (landing->bytes < bytes) {
        char *memory = call_scratch_take(run->bound.call, bytes);
        if (!memory && in_use > 0)
            return false; /* wait until memory comes back */
        if (!memory)
            note(run, fail(MPI_ERR_NO_MEM, "no memory to receive %zu bytes", bytes));
        call_scratch_give(run->bound.call, landing->memory);
        landing->memory = memory;
        landing->bytes = memory ? bytes : 0;
    }
    landing->used = true;
    run->landing_bytes += bytes;
    *taken = free_one;
    return true;
}

/* Post the receiving half of fold i if a landing is free. */
static bool fold_post(struct execution *run, int i)
{
    const struct layout *layout = run->bound.call->reduction.layout;
    struct buffer data;
    struct layout *made; /* reductions are not scattered: nothing is made */
    ptrdiff_t low;
    int landing;
    bind_span(&run->bound, step_of(run, i)->to, &data, &made);
    task_of(run, i)->landing = -1;
    if (run->broken || has_no_message(run, &data)) {
        message_over(run, i);
        return true;
    }
    size_t bytes = layout_span(layout, data.count, &low);
    if (!landing_take(run, bytes, &landing))
        return false;
    task_of(run, i)->landing = (int16_t)landing;
    data.base = buffer_at(run->landing[landing].memory, -low);
    if (run->landing[landing].memory)
        post(run, i, &data);
    else
        message_over(run, i);
    return true;
}

static void folds_post(struct execution *run)
{
    for (; run->next_fold < entered(run); run->next_fold++)
        if (step_of(run, run->next_fold)->verb == VERB_FOLD && !fold_post(run, run->next_fold))
            return;
}

static void fold(struct execution *run, int i)
{
    const struct step *s = step_of(run, i);
    const struct layout *layout = run->bound.call->reduction.layout;
    int landing = task_of(run, i)->landing;
    struct buffer to, with;
    struct layout *made;
    bind_span(&run->bound, s->to, &to, &made);
    bind_span(&run->bound, s->from, &with, &made);
    if (landing >= 0) {
        struct landing *l = &run->landing[landing];
        ptrdiff_t low;
        size_t bytes = layout_span(layout, to.count, &low);
        void *incoming = buffer_at(l->memory, -low);
        if (l->memory && !run->broken)
            note(run, step_fold(&run->bound, s, &to, with.base, incoming));
        l->used = false;
        run->landing_bytes -= bytes;
    }
    step_over(run, i);
    folds_post(run);
}

/* ---- the loop ---- */

static void finish(struct execution *run)
{
    const struct channel *channel = &run->team->channel;
    run->team->running--;
    bind_end(&run->bound);
    note(run, staging_check(run->bound.call));
    note(run, channel_check_of(channel, run->tag));
    if (run->error == MPI_ERR_OTHER && channel->broken)
        fail_keep(run, channel_fail(channel)); /* its messages' errors are more than are kept */
    run->request.result.error = run->error;
    if (run->broken)
        run->request.result.lost = (unsigned)(failure_of(channel, run->tag) + 1);
    request_complete(&run->request); /* may be the end of the run's memory */
}

static void work(struct execution *run)
{
    run->busy = true;
    while (run->nready > 0) {
        int i = run->ready[run->head++];
        run->nready--;
        if (run->head == run->ntasks)
            run->head = 0;
        switch ((enum verb)step_of(run, i)->verb) {
        case VERB_SEND:
        case VERB_RECV:
            begin_message(run, i);
            break;
        case VERB_COPY:
        case VERB_JOIN:
            perform_local(run, i);
            break;
        case VERB_FOLD:
            fold(run, i);
            break;
        }
    }
    run->busy = false;
    if (run->left == 0)
        finish(run);
}

/* Receives that wait for nothing are posted first, so that messages find them. */
static void begin_all(struct execution *run)
{
    const struct plan *plan = run->plan;
    for (int i = 0; i < plan->nsteps; i++)
        begin_task(run, i, plan->step[i].nwait);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < plan->nsteps; i++)
            if (run->task[i].waits == 0 && (plan->step[i].verb == VERB_RECV) == (round == 0))
                make_ready(run, i);
    folds_post(run);
}

void run_fail(struct execution *run, int error)
{
    run->request.result = (struct result){ .error = fail_keep(run, error) };
    give_up(run, error);
    request_complete(&run->request);
}

void run_begin(struct execution *run)
{
    run->head = run->tail = run->nready = run->next_fold = 0;
    run->left = run->plan->nsteps;
    run->error = 0;
    run->broken = false;
    run->request.result = (struct result){ .error = 0 };
    run->team->running++;
    bind_begin(&run->bound);
    run->busy = true;
    if (run->window) {
        window_begin(run->window, run->plan);
        fill_window(run);
    } else {
        begin_all(run);
    }
    work(run);
}
