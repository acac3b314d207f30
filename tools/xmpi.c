/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The command xmpi: a table of subcommands, each a file of its own, and help about them.
 */
#include "config.h"
#include "runtime/standard.h"
#include "tools/doctor.h"
#include "tools/explain.h"
#include "tools/info.h"
#include "tools/plan.h"
#include "tools/status.h"
#include "tools/tune.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static int help_main(int argc, char **argv);

static const struct subcommand {
    const char *name, *arguments, *what;
    int (*main)(int argc, char **argv);
} subcommands[] = {
    { "info", "[--json] [--param NAME] [--grid 4x4]",
      "what this xmpi is: version, build, links, libraries, CPUs, settings, limits",
      info_main },
    { "doctor", "[-H HOST,...] [--json]",
      "what keeps jobs here, or on these hosts, from running well, and what to do",
      doctor_main },
    { "explain", "COLLECTIVE [BYTES] [-n RANKS] [--nodes NODES]",
      "which algorithm a collective takes, and why the others lost", explain_main },
    { "tune", "[-np N,...] [--colls ...] [-o FILE]",
      "measures collectives here and writes which algorithms are fastest", tune_main },
    { "plan", "SUBCOMMAND [NAME -n P]",
      "algorithms as plans: list, show, check, cost, sim, draw, goal, import, volume",
      plan_main },
    { "status", "[JOB]", "what the ranks of jobs that run here wait for, and why nothing moves",
      status_main },
    { "help", "[COMMAND]", "this text, or the help of a command", help_main },
};
enum { SUBCOMMANDS = sizeof subcommands / sizeof subcommands[0] };

static const struct subcommand *find(const char *name)
{
    for (int i = 0; i < SUBCOMMANDS; i++)
        if (!strcmp(subcommands[i].name, name))
            return &subcommands[i];
    return NULL;
}

static void usage(FILE *to)
{
    fputs("usage: xmpi COMMAND [arguments]\n\n", to);
    for (int i = 0; i < SUBCOMMANDS; i++)
        fprintf(to, "  %-8s %-26s %s\n", subcommands[i].name, subcommands[i].arguments,
                subcommands[i].what);
    fputs("\nPrograms are compiled with xmpicc and started with xmpirun.\n", to);
}

static int help_main(int argc, char **argv)
{
    const struct subcommand *about = argc > 1 ? find(argv[1]) : NULL;
    if (argc > 1 && !about) {
        fprintf(stderr, "xmpi: there is no command %s\n", argv[1]);
        return 2;
    }
    if (about && about->main != help_main) {
        char *arguments[] = { argv[1], "--help", NULL };
        return about->main(2, arguments);
    }
    usage(stdout);
    return 0;
}

/* The manual page xmpi(1), for the build. */
static int manual(void)
{
    printf(
        ".TH XMPI 1 \"\" \"xmpi %s\" \"xmpi\"\n.SH NAME\n"
        "xmpi \\- look at an installation of xmpi\n.SH SYNOPSIS\n.B xmpi\nCOMMAND [arguments]\n"
        ".SH COMMANDS\n",
        PACKAGE_VERSION);
    for (int i = 0; i < SUBCOMMANDS; i++)
        printf(".TP\n.B %s\n%s\n.br\n%c%s.\n", subcommands[i].name, subcommands[i].arguments,
               toupper(*subcommands[i].what), subcommands[i].what + 1);
    fputs(
        ".SH NOTES\n"
        "Settings are read from the environment, XMPI_NAME for the setting NAME.\n"
        "A running program tells what it decides with XMPI_LOG=1 (among other things the hop\n"
        "cost of a topology before and after reordering; and at MPI_Finalize the messages,\n"
        "requests and objects that are left behind) and XMPI_EXPLAIN=all (the plan of each\n"
        "collective).\n"
        ".SH \"EXIT CODE\"\n0; 1 when what was asked for is not there, cannot be done or "
        "cannot be\n"
        "written; 2 when the command line is wrong.\n.SH \"SEE ALSO\"\nxmpi-plan(1), "
        "xmpirun(1)\n",
        stdout);
    return 0;
}

static int run(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    const struct subcommand *subcommand = find(name);
    if (subcommand)
        return subcommand->main(argc - 1, argv + 1);
    if (!strcmp(name, "tune-device")) /* started by tune */
        return tune_device_main(argc - 1, argv + 1);
    if (!strcmp(name, "tune-rank"))
        return tune_rank_main(argc - 1, argv + 1);
    if (!strcmp(name, "doctor-rank")) /* started by doctor */
        return doctor_rank_main(argc - 1, argv + 1);
    if (!strcmp(name, "--help") || !strcmp(name, "-h"))
        return help_main(1, argv);
    if (!strcmp(name, "--help=man"))
        return manual();
    if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
        printf("xmpi %s\n", PACKAGE_VERSION);
        return 0;
    }
    if (argc > 1)
        fprintf(stderr, "xmpi: there is no command %s\n\n", name);
    usage(stderr);
    return 2;
}

/* Subcommands print; whether it arrives is seen to here. */
int main(int argc, char **argv)
{
    standard_open();
    return standard_close("xmpi", run(argc, argv));
}
