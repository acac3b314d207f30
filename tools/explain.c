/* SPDX-License-Identifier: BSD-3-Clause
 *
 * xmpi explain: asks the library's own chooser (coll/choose.c) a question made up from the command
 * line, and prints its answer in the words of XMPI_EXPLAIN (coll/explain.c).  XMPI_COLL and
 * XMPI_TUNING are obeyed as in a program.  Nothing is started.
 */
#include "tools/explain.h"

#include "coll/explain.h"
#include "coll/forced.h"
#include "coll/plan.h"
#include "coll/tiny.h"
#include "runtime/amount.h"
#include "runtime/fail.h"
#include "runtime/hw.h"
#include "runtime/param.h"
#include "runtime/reading.h"
#include "tools/names.h"
#include "tools/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void usage(FILE *to)
{
    fputs(
        "usage: xmpi explain COLLECTIVE [BYTES] [-n RANKS] [--nodes NODES] [--cpus CPUS]\n"
        "                    [--noncommutative] [--nonblocking]\n\n"
        "Prints which algorithm would perform the collective, why, and why each of the others\n"
        "lost; as XMPI_EXPLAIN=COLLECTIVE does in a program.\n\n"
        "  BYTES             of the vector (bcast, reductions), of one block (others): 8, 64k, "
        "1MiB;\n"
        "                    not of those that are chosen without regard to them (gatherv, "
        "..)\n"
        "  -n RANKS          ranks, 2 unless said\n"
        "  --nodes NODES     nodes that they are on, 1 unless said\n"
        "  --cpus CPUS       of the node, where it is one: as many as here unless said; rules "
        "for\n"
        "                    more ranks than CPUs are others\n"
        "  --noncommutative  the operation does not commute\n"
        "  --nonblocking     MPI_Iallreduce instead of MPI_Allreduce, and so on\n\n"
        "XMPI_COLL and XMPI_TUNING are obeyed.\n",
        to);
}

static int refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int refuse(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "xmpi explain: ");
    vfprintf(stderr, format, args);
    fputs("\n", stderr);
    va_end(args);
    return 2;
}

/* 0, or an exit code when it was complained. */
static int count_read(const char *option, const char *text, int *n)
{
    long read;
    if (!text)
        return refuse("%s wants a number behind it, as in %s 4", option, option);
    if (!number_read(text, 1, PLAN_RANKS, &read))
        return refuse("%s %s is no number from 1 to %d", option, text, PLAN_RANKS);
    *n = (int)read;
    return 0;
}

/* The shared slots: what tiny_objection says of a predefined operation and a type without gaps. */
static const char *no_tiny(const struct question *q)
{
    if (q->nodes > 1 || q->ranks < 2)
        return TINY_NO_SLOTS;
    if (q->ranks > TINY_RANKS)
        return "it serves 64 ranks at most";
    if (q->mode == NONBLOCKING && q->ranks > TINY_TRACK_RANKS)
        return "it serves 32 ranks at most, unless the call blocks";
    if (q->order_matters)
        return "it takes builtin operations on types without gaps, and vectors of pairs";
    if (q->mode != BLOCKING && (has_known_counts(q->what) || !is_amount_known(q->what)))
        return "of those with counts it serves blocking calls only";
    size_t room = q->mode == NONBLOCKING ? TINY_TRACK_BYTES : TINY_BYTES;
    bool fits = tiny_needs(q->what, q->ranks, q->bytes) <= room;
    return fits ? NULL : "the data do not fit a shared slot";
}

/* Likewise of attach_objection. */
static const char *no_attach(const struct question *q)
{
    if (q->mode == PERSISTENT)
        return "it serves no persistent calls";
    if (q->mode == NONBLOCKING && q->ranks > TINY_TRACK_RANKS)
        return "it serves 32 ranks at most, unless the call blocks";
    if (q->mode == NONBLOCKING && !attach_serves_nonblocking(q->what))
        return "of these it serves blocking calls only";
    if (q->nodes > 1 || q->ranks < 2 || q->ranks > TINY_RANKS)
        return TINY_NO_SLOTS;
    return q->order_matters ? "it takes builtin operations on types without gaps" : NULL;
}

/* What an option with a number says; NULL: it is none. */
static int *number_of(const char *option, struct question *q, int *cpus)
{
    if (!strcmp(option, "-n") || !strcmp(option, "-np"))
        return &q->ranks;
    if (!strcmp(option, "--nodes"))
        return &q->nodes;
    return !strcmp(option, "--cpus") ? cpus : NULL;
}

static int question_read(int argc, char **argv, struct question *q, int *cpus)
{
    bool named = false;
    const char *amount = NULL;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *next = i + 1 < argc ? argv[i + 1] : NULL;
        int *number = number_of(word, q, cpus);
        if (number) {
            int wrong = count_read(word, next, number);
            if (wrong)
                return wrong;
            i++;
        } else if (!strcmp(word, "--noncommutative")) {
            q->order_matters = true;
        } else if (!strcmp(word, "--nonblocking")) {
            q->mode = NONBLOCKING;
        } else if (*word == '-') {
            return refuse("%s is not an option; see xmpi explain --help", word);
        } else if (!named) {
            int what = collective_find(word);
            if (what < 0)
                return refuse("%s", names_no_collective(word));
            q->what = (enum collective)what;
            named = true;
        } else if (amount) {
            return refuse(
                "%s and %s: one collective and one number of bytes at a time; ranks are -n",
                amount, word);
        } else if (!amount_read(amount = word, &q->bytes)) {
            return refuse("%s is no number of bytes; as in 8, 64k or 1MiB", word);
        }
    }
    bool counts = q->what != COLL_BARRIER && is_amount_known(q->what);
    if (named && amount && !counts)
        return refuse("%s is chosen without regard to bytes; leave out %s",
                      collective_name(q->what), amount);
    if (!named)
        return refuse("which collective?  As in: xmpi explain allreduce 64k -n 4");
    if (q->nodes > 1 && *cpus != hw_usable_cpus())
        return refuse("--cpus is asked of one node only; leave it out, or --nodes");
    if (q->ranks < q->nodes)
        return refuse(
            "--nodes %d are more nodes than ranks, -n %d; give as many ranks at least",
            q->nodes, q->ranks);
    return 0;
}

/* Of ranks on several nodes it matters that their places are known; the model takes even ones. */
static const struct places several_nodes = { .levels = 1 };

int explain_main(int argc, char **argv)
{
    struct question q = { .ranks = 2, .nodes = 1 };
    int cpus = hw_usable_cpus();
    bool help = false;
    for (int i = 1; i < argc; i++)
        help |= !strcmp(argv[i], "--help") || !strcmp(argv[i], "-h");
    if (argc < 2 || help) {
        usage(help ? stdout : stderr);
        return help ? 0 : 2;
    }
    int wrong = question_read(argc, argv, &q, &cpus);
    if (wrong)
        return wrong;
    params_read();
    q.one_node = q.nodes == 1;
    q.places = q.one_node ? NULL : &several_nodes;
    q.crowded = q.one_node && q.ranks > cpus;
    if (q.one_node)
        q.reading = reading_here(param_string(SHM_SINGLE_COPY), param_string(LIBXPMEM));
    q.order_matters = q.order_matters && is_reduction(q.what);
    q.no_tiny = no_tiny(&q);
    q.no_attach = no_attach(&q);
    patience("xmpi explain: still pricing algorithms for %d ranks on %d nodes, which may take "
             "minutes; fewer ranks (-n) on as many per node are sooner done, Ctrl-C stops it\n",
             q.ranks, q.nodes);
    struct choice choice;
    if (choose_answer(&q, NULL, &choice) || explain_check(&q, &choice)) {
        fprintf(stderr, "xmpi explain: %s\n", fail_text());
        return 1;
    }
    explain_text(stdout, &q, &choice, "");
    return 0;
}
