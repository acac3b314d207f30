/* SPDX-License-Identifier: BSD-3-Clause
 *
 * xmpi plan: algorithms looked at without running them.  A table of its subcommands and their
 * help; the command line is in plan_args.c.
 */
#include "tools/plan.h"

#include "coll/plan.h"
#include "runtime/param.h"
#include "runtime/printable.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *what;
    int (*run)(const struct plan_args *args);
} subcommands[] = {
    { "list", "[COLLECTIVE]: the algorithms there are", plan_list },
    { "show", "NAME -n P [--rank R]: the steps of one rank", plan_show },
    { "check", "NAME -n A..B: prove that it works on A to B ranks", plan_check },
    { "cost", "NAME -n P --bytes N: rounds, messages, bytes; a price", plan_cost },
    { "sim", "NAME -n P --nodes K --topology T: time on a model of a machine", plan_sim },
    { "draw", "NAME -n P -o FILE.svg: a picture", plan_draw },
    { "goal", "NAME -n P --bytes N -o FILE: a GOAL schedule, for LogGOPSim", plan_goal },
    { "import", "FILE.xml -o FILE.plan: MSCCL's XML as an algorithm of one's own",
      plan_import },
};
enum { SUBCOMMANDS = sizeof subcommands / sizeof subcommands[0] };

static const char *current = "";

/* It may quote a file that is no text. */
static void complain(const char *format, va_list args)
{
    char text[4000], shown[sizeof text];
    vsnprintf(text, sizeof text, format, args);
    fprintf(stderr, "xmpi plan%s%s: %s\n", *current ? " " : "", current,
            printable(shown, sizeof shown, text));
}

int plan_wrong(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain(format, args);
    va_end(args);
    return 2;
}

int plan_cannot(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain(format, args);
    va_end(args);
    return 1;
}

static void usage(FILE *to)
{
    fputs("usage: xmpi plan SUBCOMMAND [arguments]\n\n"
          "Looks at collective algorithms as plans; NAME is as in allreduce:ring, or in a file "
          "that\n"
          "XMPI_PLAN names.\n\n",
          to);
    for (int i = 0; i < SUBCOMMANDS; i++)
        fprintf(to, "  %-6s %s\n", subcommands[i].name, subcommands[i].what);
    fputs(
        "  volume --dp 8 --tp 4 ...: bytes per step of a parallel training (volume --help)\n\n"
        "  -n P              ranks, up to 16777216; check takes a range, 1..64\n"
        "  --bytes N         cost, sim, goal: the vector, or one block of what moves\n"
        "                    blocks: 8, 64k, 1MiB\n"
        "  --root R          of rooted collectives (0); check tries all\n"
        "  --pieces K        every block cut in K, up to 4096, for pipelining (1)\n"
        "  --radix K         of algorithms that have one\n"
        "  --throttle K      at most K sends at a time, and as many receives (all)\n"
        "  --nodes K         ranks are spread over K nodes in blocks (1)\n"
        "  --topology T      sim: between nodes wires (each pair has its own), ring,\n"
        "                    hypercube, torus:4x4x8, fat-tree:K (K ports per switch),\n"
        "                    dragonfly:GROUPSxROUTERSxNODES,\n"
        "                    dragonfly+:GROUPSxLEAVESxSPINESxNODES\n"
        "  --split S         between two groups, the first of S ranks; half of them for what "
        "works "
        "only\n"
        "                    between two groups\n"
        "  --dims AxB        between neighbours: on a torus (a ring of all)\n"
        "  --machine FILE    the model's parameters; without it, a machine of today\n"
        "  --set 'LINE'      a line of such a file, as in --set 'net latency=2us byte=0.1ns'\n"
        "  --rank R          show: of which rank (0)\n"
        "  --expand          show: all steps, not only the first 40\n"
        "  --in-place        show: as with MPI_IN_PLACE\n"
        "  --graph           draw: who sends to whom, as a tree or a ring, instead of when\n"
        "  -o FILE           draw, goal, import: where to\n\n"
        "Times are those of a model, never measured.\n",
        to);
}

static bool is_subcommand(const char *name)
{
    for (int i = 0; i < SUBCOMMANDS; i++)
        if (strcmp(name, subcommands[i].name) == 0)
            return true;
    return false;
}

/* To be said if it takes long: what is done, and what helps. */
static void announce(const struct plan_args *args)
{
    const struct algorithm *a = args->algorithm;
    if (a)
        patience(
            "xmpi plan %s: still at work on %s:%s, %d ranks, which may take minutes; fewer "
            "ranks (-n) are sooner done, Ctrl-C stops it\n",
            current, collective_name(a->what), a->name, args->to);
}

int plan_main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    if (!strcmp(name, "--help") || !strcmp(name, "-h") || !*name) {
        usage(*name ? stdout : stderr);
        return *name ? 0 : 2;
    }
    if (!strcmp(name, "--help=man"))
        return plan_manual();
    current = name;
    params_read();
    if (!strcmp(name, "volume"))
        return volume_main(argc - 1, argv + 1);
    for (int i = 2; i < argc && is_subcommand(name); i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            usage(stdout);
            return 0;
        }
    for (int i = 0; i < SUBCOMMANDS; i++) {
        if (strcmp(name, subcommands[i].name) != 0)
            continue;
        struct plan_args args = { .subcommand = name };
        int code = plan_args_read(&args, argc - 1, argv + 1);
        if (code == 0) {
            announce(&args);
            code = subcommands[i].run(&args);
        }
        return code;
    }
    current = "";
    plan_wrong("there is no subcommand %s", name);
    usage(stderr);
    return 2;
}
