/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the table of options says to people: the help text, the manual page xmpirun(1), and the
 * option that was probably meant.
 */
#include "launcher/cli.h"

#include "config.h"
#include "runtime/typo.h"

#include <stdlib.h>
#include <string.h>

static const char *const section_titles[SECTION_COUNT] = {
    "What to run", "Environment of the ranks", "Where: hosts",
    "Where: CPUs", "Standard streams",         "Running",
    "Showing",     "Accepted and ignored",
};

static const char summary[] =
    "xmpirun starts the ranks of a parallel program on this machine, passes on their output\n"
    "line by line, and leaves nothing behind.";

void help_version(FILE *to)
{
    fprintf(to, "xmpirun (xmpi) %s\n", PACKAGE_VERSION);
}

/* ---- help ---- */

static const char *dashes(const char *spelling)
{
    return spelling[1] ? "--" : "-";
}

/* "--np, -n, -c N" of the option whose main row is `row`. */
static void spellings(const struct option_row *row, char *text, size_t room)
{
    size_t used = 0;
    for (int i = 0; i < noption_rows; i++) {
        const struct option_row *other = &option_rows[i];
        bool same = other == row || (!other->text && other->id == row->id);
        if (same && used < room)
            used += (size_t)snprintf(text + used, room - used, "%s%s%s", used ? ", " : "",
                                     dashes(other->spelling), other->spelling);
    }
    if (row->metavar && *row->metavar && used < room)
        snprintf(text + used, room - used, " %s", row->metavar);
}

/* Print words with a left margin and lines of at most 96 columns. */
static void print_wrapped(FILE *to, const char *text, int margin)
{
    int column = margin;
    fprintf(to, "%*s", margin, "");
    while (*text) {
        int bytes = (int)strcspn(text, " ");
        if (column > margin && column + 1 + bytes > 96) {
            fprintf(to, "\n%*s", margin, "");
            column = margin;
        }
        column += fprintf(to, "%s%.*s", column > margin ? " " : "", bytes, text);
        text += bytes;
        text += strspn(text, " ");
    }
    fputc('\n', to);
}

static void print_ignored(FILE *to)
{
    char text[4096] = "";
    size_t used = 0;
    for (int i = 0; i < noption_rows; i++)
        if (option_rows[i].section == SECTION_IGNORED && used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s--%s", used ? " " : "",
                                     option_rows[i].spelling);
    print_wrapped(to, text, 2);
}

void help_print(FILE *to)
{
    fprintf(to,
            "usage: xmpirun [options] program [arguments] [: [options] program ...]\n\n%s\n"
            "One or two dashes, `_` or `-`, --name VALUE or --name=VALUE are all the same.\n",
            summary);
    for (enum option_section section = 0; section < SECTION_IGNORED; section++) {
        fprintf(to, "\n%s\n", section_titles[section]);
        for (int i = 0; i < noption_rows; i++) {
            const struct option_row *row = &option_rows[i];
            if (row->section != section)
                continue;
            char text[512];
            spellings(row, text, sizeof text);
            print_wrapped(to, text, 2);
            print_wrapped(to, row->text, 6);
        }
    }
    fprintf(to, "\n%s (-v says why)\n", section_titles[SECTION_IGNORED]);
    print_ignored(to);
}

/* ---- the manual page ---- */

static const char *const codes[][2] = {
    { "0", "every rank ended with 0" },
    { "N",
      "exit code of the first rank that failed (with --keep-going too, whatever becomes of "
      "the others), or the code given to MPI_Abort" },
    { "1",
      "a rank ended with 0 inside MPI, without MPI_Finalize; or what the ranks printed, or "
      "the time line of XMPI_TRACE, could not be written (a full disk, a closed stdout)" },
    { "2", "the command line is wrong" },
    { "124", "the time limit of --timeout was reached" },
    { "126, 127", "the program cannot be executed; was not found" },
    { "128 + N", "the first rank that failed was killed by signal N, or xmpirun itself was" },
};

/* roff reads a dash as a hyphen and a leading dot or quote as a command. */
static void print_roff(FILE *to, const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", to);
    for (; *text; text++) {
        if (*text == '-')
            fputs("\\-", to);
        else if (*text == '\\')
            fputs("\\e", to);
        else
            fputc(*text, to);
    }
    fputc('\n', to);
}

static const char gpus[] =
    ".SH GPUS\nWhere ranks are mapped by gpu or bound to CPUs, on hosts with NVIDIA's driver, "
    "each "
    "rank has XMPI_GPU in its environment: the place on PCI of the GPU that it should use, "
    "such as "
    "0000:1b:00.0, as cudaDeviceGetByPCIBusId takes it.  MPIX_Query_cuda_device (mpix.h) makes "
    "CUDA's number of it, or, where there is none, of LOCAL_RANK; a value given with \\-x "
    "stays.  "
    "Only GPUs are used that CUDA_VISIBLE_DEVICES names, by UUIDs or by numbers in the order "
    "of "
    "PCI (CUDA_DEVICE_ORDER=PCI_BUS_ID, or all GPUs alike); it is passed on as it is, so that "
    "ranks of a host can reach each other's memory.\n";

void help_manual(FILE *to)
{
    fprintf(to,
            ".TH XMPIRUN 1 \"\" \"xmpi %s\" \"xmpi\"\n.SH NAME\n"
            "xmpirun \\- start a parallel program\n.SH SYNOPSIS\n"
            ".B xmpirun\n[options] program [arguments] [: [options] program ...]\n"
            ".SH DESCRIPTION\n%s\n",
            PACKAGE_VERSION, summary);
    for (enum option_section section = 0; section < SECTION_COUNT; section++) {
        fprintf(to, ".SH \"%s\"\n", section_titles[section]);
        for (int i = 0; i < noption_rows; i++) {
            const struct option_row *row = &option_rows[i];
            if (row->section != section)
                continue;
            char text[512];
            spellings(row, text, sizeof text);
            fputs(".TP\n", to);
            print_roff(to, text);
            print_roff(to, row->text);
        }
    }
    fputs(".SH SIGNALS\n.TP\nINT\npassed on to the ranks, and told of when some still run "
          "after 2 seconds; the "
          "second one kills them\n"
          ".TP\nQUIT\n(Ctrl-\\e) prints what each rank waits for, since when, from which line, "
          "and "
          "why nothing moves; the job goes on.  Twice within a second: passed on like INT\n"
          ".TP\nTERM, HUP\npassed on; after 5 seconds the ranks are killed\n"
          ".SH DEADLOCKS\nWhen ranks have waited for each other for 10 seconds "
          "(XMPI_HANG=SECONDS, "
          "0: never) the same is printed once.  With XMPI_HANG set it is also printed when no "
          "rank "
          "has called or received anything for so long.  The job is not ended; that is what "
          "\\-\\-timeout is for.\n"
          ".PP\nWith XMPI_EAGER=0 in the environment every send waits for its receive, so that "
          "what "
          "ends only since short messages are buffered waits here, too, and is explained.\n",
          to);
    fputs(gpus, to);
    fputs(".SH \"EXIT CODE\"\n", to);
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        fprintf(to, ".TP\n%s\n%s\n", codes[i][0], codes[i][1]);
}

/* ---- typos ---- */

const char *option_nearest(const char *typed)
{
    char bare[64];
    snprintf(bare, sizeof bare, "%s", typed + strspn(typed, "-"));
    bare[strcspn(bare, "=")] = 0;
    for (char *p = bare; *p; p++)
        *p = *p == '_' ? '-' : *p;
    const char *best = NULL;
    int best_distance = 1 + (int)strlen(bare) / 3;
    for (int i = 0; i < noption_rows; i++) {
        int d = typo_distance(bare, strlen(bare), option_rows[i].spelling);
        if (d < best_distance || (d == best_distance && !best)) {
            best = option_rows[i].spelling;
            best_distance = d;
        }
    }
    return best;
}
