/* SPDX-License-Identifier: BSD-3-Clause
 *
 * xmpi tune: for each number of ranks, xmpirun starts this program again as `xmpi tune-rank`, which
 * performs the real collectives with every algorithm that can and prints rows; they are put behind
 * a head that says on which machine they were measured.  The file appears at once, when all is
 * measured, under its name; until then the old one stays.  Who is stopped by a signal stops the launcher
 * and removes what was begun.
 */
#include "config.h"
#include "tools/tune.h"

#include "coll/tuning.h"
#include "runtime/amount.h"
#include "runtime/fail.h"
#include "runtime/hw.h"
#include "tools/beside.h"
#include "tools/names.h"
#include "tools/plan.h"
#include "tools/target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_WORDS = 5, LIST_CHARS = 400 }; /* for ranks; names of all collectives */

struct tune_options {
    char *ranks, *collectives; /* lists with commas */
    char *max_bytes, *seconds, *path;
    bool device; /* nothing else */
};

/* What a signal stops. */
static struct {
    volatile sig_atomic_t signal;   /* that came; 0: none did */
    volatile sig_atomic_t launcher; /* its process; 0: none runs */
} stop;

static void on_signal(int number)
{
    stop.signal = number;
    if (stop.launcher)
        kill(stop.launcher, SIGTERM);
}

/* Those that stop programs, unless they are ignored. */
static void signals_set(sigset_t *set)
{
    static const int numbers[] = { SIGHUP, SIGINT, SIGTERM };
    struct sigaction now, mine = { .sa_handler = on_signal };
    sigemptyset(set);
    for (int i = 0; i < 3; i++) {
        sigaddset(set, numbers[i]);
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            sigaction(numbers[i], &mine, NULL);
    }
}

/* All that can be measured. */
static char *list_all(char text[LIST_CHARS], const char *between)
{
    size_t used = 0;
    for (int what = 0; what < COLL_KINDS; what++)
        if (tune_measures((enum collective)what))
            used +=
                (size_t)snprintf(text + used, LIST_CHARS - used, "%s%s", used ? between : "",
                                 collective_name((enum collective)what));
    return text;
}

/* In lines of 80 columns, below the text of an option. */
static void print_words(FILE *to, const char *words)
{
    enum { MARGIN = 20, WIDTH = 80 };
    int column = fprintf(to, "%*s", MARGIN - 1, "");
    while (*words) {
        int n = (int)strcspn(words, " ");
        if (column + 1 + n > WIDTH)
            column = fprintf(to, "\n%*s", MARGIN - 1, "") - 1;
        column += fprintf(to, " %.*s", n, words);
        words += n + (words[n] == ' ');
    }
    fputc('\n', to);
}

static void usage(FILE *to)
{
    char all[LIST_CHARS];
    fputs(
        "usage: xmpi tune [-np N[,N...]] [--colls NAME,...] [--max-bytes BYTES] [--seconds S]\n"
        "                 [--device] [-o FILE]\n\n"
        "Performs the collectives on this machine with every algorithm that can, and writes "
        "which\n"
        "is fastest to a file that programs of this user on this machine obey from then on;\n"
        "with -o, those that are told so by XMPI_TUNING=FILE.\n\n"
        "  -np N,...         numbers of ranks; unless said 2, 4, 8, ... and all CPUs\n"
        "  --colls NAME,...  collectives, all these unless said; others are chosen without "
        "regard\n"
        "                    to bytes:\n",
        to);
    print_words(to, list_all(all, " "));
    fputs("  --max-bytes B     largest vector or block, 1M unless said, 16M at most\n"
          "  --seconds S       how long it may take in all, about; 60 for each number of ranks "
          "unless\n"
          "                    said.  Sizes that there is no time for are left out, and named\n"
          "  --device          only what is about data on a GPU; else that comes last, where "
          "there is "
          "one\n"
          "  -o FILE           another file, or - for the standard output\n\n"
          "Nothing else should run meanwhile.  `xmpi explain` shows what follows from the "
          "file.\n",
          to);
}

static int refuse(const char *format, const char *word)
{
    fputs("xmpi tune: ", stderr);
    fprintf(stderr, format, word);
    fputc('\n', stderr);
    return 2;
}

static bool is_ranks(const char *word)
{
    long n;
    return number_read(word, 2, INT_MAX, &n);
}

static bool is_measured(const char *word)
{
    int what = collective_find(word);
    return what >= 0 && tune_measures((enum collective)what);
}

/* Why not; `word` is none. */
static int refuse_collective(const char *word)
{
    char all[LIST_CHARS], why[2 * LIST_CHARS];
    if (collective_find(word) < 0)
        return refuse("--colls: %s", names_no_collective(word));
    snprintf(why, sizeof why,
             "%s cannot be measured, as it is chosen without regard to bytes; these can: %s",
             word, list_all(all, " "));
    return refuse("--colls: %s", why);
}

/* The first word of a list that is none of its kind, to be freed; NULL: all are. */
static char *first_wrong(const char *list, bool (*is_right)(const char *word))
{
    char *words = strdup(list), *rest = words, *wrong = NULL;
    for (char *word; !wrong && (word = strsep(&rest, ","));)
        wrong = is_right(word) ? NULL : strdup(word);
    free(words);
    return wrong;
}

static bool has_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += n)
        if ((at == list || at[-1] == ',') && (at[n] == ',' || !at[n]))
            return true;
    return false;
}

/* What is there twice is measured once.  A number is the same however it is written. */
static void drop_twins(char *list, bool numbers)
{
    char number[24], *copy = strdup(list), *rest = copy, *end = list;
    for (char *word; copy && (word = strsep(&rest, ","));) {
        snprintf(number, sizeof number, "%d", atoi(word));
        const char *name = numbers ? number : word;
        if (end > list && has_word(list, name))
            continue;
        end += sprintf(end, "%s%s", end > list ? "," : "", name);
    }
    free(copy);
}

/* All that can be seen before minutes have been spent. */
static int options_check(const struct tune_options *o)
{
    char rest, *wrong;
    double seconds;
    size_t bytes;
    if (o->seconds && (sscanf(o->seconds, "%lf%c", &seconds, &rest) != 1 || !(seconds > 0)))
        return refuse("--seconds %s is no number above 0", o->seconds);
    if (!amount_read(o->max_bytes, &bytes) || bytes == 0 || bytes > TUNE_MOST_BYTES)
        return refuse("--max-bytes %s is no number of bytes from 1 to 16M", o->max_bytes);
    int code = 0;
    if (o->ranks && (wrong = first_wrong(o->ranks, is_ranks))) {
        code = refuse("-np: \"%s\" is no number of ranks, 2 or more", wrong);
        free(wrong);
    } else if ((wrong = first_wrong(o->collectives, is_measured))) {
        code = refuse_collective(wrong);
        free(wrong);
    }
    if (!code && o->ranks)
        drop_twins(o->ranks, true);
    if (!code)
        drop_twins(o->collectives, false);
    return code;
}

static int options_read(int argc, char **argv, struct tune_options *o)
{
    static const char *const names[] = { "-np", "--colls", "--max-bytes", "--seconds", "-o" };
    char **const places[] = { &o->ranks, &o->collectives, &o->max_bytes, &o->seconds,
                              &o->path };
    for (int i = 1; i < argc; i += 2) {
        int k = 0;
        if (strcmp(argv[i], "--device") == 0) {
            o->device = true;
            i--;
            continue;
        }
        while (k < 5 && strcmp(argv[i], names[k]) != 0)
            k++;
        if (k == 5 || i + 1 == argc)
            return refuse(k == 5 ? "%s is not an option" : "%s wants a value", argv[i]);
        *places[k] = argv[i + 1];
    }
    return options_check(o);
}

/* 2, 4, 8, ... and all CPUs */
static char *usual_ranks(char *text, size_t room)
{
    int cpus = hw_usable_cpus();
    size_t used = 0;
    for (int n = 2; n < cpus; n *= 2)
        used += (size_t)snprintf(text + used, room - used, "%d,", n);
    snprintf(text + used, room - used, "%d", cpus < 2 ? 2 : cpus);
    return text;
}

int tune_run(const char *ranks, char *const words[], int file)
{
    char self[BESIDE_CHARS], launcher[BESIDE_CHARS];
    int status = 0;
    if (!beside_find("tune", self, launcher))
        return 1;
    sigset_t ours, before;
    signals_set(&ours);
    sigprocmask(SIG_BLOCK, &ours, &before); /* until it is known whom to stop */
    pid_t child = stop.signal ? -1 : fork();
    if (child == 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        char *arguments[MOST_WORDS + 5] = { launcher, "-np", (char *)ranks, self };
        for (int i = 0; i < MOST_WORDS && words[i]; i++)
            arguments[4 + i] = words[i];
        dup2(file, STDOUT_FILENO);
        setenv("XMPI_TUNING", "none", 1);
        unsetenv("XMPI_COLL");
        execv(launcher, arguments);
        _exit(127);
    }
    int failed = errno;
    stop.launcher = child > 0 ? child : 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    stop.launcher = 0;
    if (stop.signal)
        fprintf(stderr, "xmpi tune: stopped by %s\n", strsignal(stop.signal));
    else if (child < 0)
        fprintf(stderr, "xmpi tune: cannot start a process: %s\n", strerror(failed));
    else if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    else
        fprintf(stderr, "xmpi tune: the measurement on %s ranks failed\n", ranks);
    return 1;
}

static int measure(const struct tune_options *o, const char *ranks, double seconds, int file)
{
    char text[40];
    snprintf(text, sizeof text, "%.3f", seconds);
    char *const words[] = { "tune-rank", (char *)o->collectives, (char *)o->max_bytes, text,
                            NULL };
    return tune_run(ranks, words, file);
}

/* 0, or an errno. */
static int head_write(int file)
{
    char machine[320], day[40] = "";
    time_t now = time(NULL);
    struct tm parts;
    hw_machine(machine, sizeof machine);
    if (localtime_r(&now, &parts))
        strftime(day, sizeof day, "%Y-%m-%d", &parts);
    int n = dprintf(
        file,
        "xmpi-tuning 1\n"
        "# Written by xmpi tune (xmpi %s) on %s; may be edited.  A row: collective,\n"
        "# conditions, a colon, algorithms and their measured times, best first.  The first\n"
        "# row that fits decides.\n"
        "machine %08x %s\n",
        PACKAGE_VERSION, day, hw_machine_number(), machine);
    return n < 0 ? errno : 0;
}

/* The folders of a path, as far as they are missing. */
static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0777); /* what fails here fails when the file is opened */
        *slash = '/';
    }
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int measure_all(const struct tune_options *o, int file)
{
    char *list = strdup(o->ranks), *rest = list;
    int code = list ? 0 : 1, left = 1;
    for (const char *c = o->ranks; *c; c++)
        left += *c == ',';
    double end = now() + (o->seconds ? atof(o->seconds) : 60.0 * left);
    int error = head_write(file);
    if (error) {
        fprintf(stderr, "xmpi tune: cannot write: %s\n", strerror(error));
        code = 1;
    }
    for (char *ranks; !o->device && !code && (ranks = strsep(&rest, ",")); left--)
        code = measure(o, ranks, (end - now()) / left, file);
    free(list);
    if (!code && tune_device_is_here())
        code = tune_device(file);
    return code;
}

static int no_target(const char *path, int error)
{
    fprintf(stderr, "xmpi tune: cannot write %s: %s; give another file with -o\n", path,
            strerror(error));
    return 1;
}

/* What was measured, if it says anything, goes to its place. */
static int keep(const struct tune_options *o, struct target *target, const char *path)
{
    char made[40];
    struct tuning *tuning;
    snprintf(made, sizeof made, "/proc/self/fd/%d", target->file);
    if (tuning_read(made, &tuning)) {
        fprintf(stderr, "xmpi tune: %s\n", fail_text());
        target_drop(target);
        return 1;
    }
    int rows = tuning->nrows + tuning->ndevices;
    tuning_free(tuning);
    if (rows == 0) {
        fprintf(stderr, "xmpi tune: nothing was measured in %s s: give a longer --seconds\n",
                o->seconds);
        target_drop(target);
        return 1;
    }
    int error = target_keep(target);
    if (error)
        return no_target(path, error);
    fprintf(stderr, "xmpi tune: %d rows in %s\n", rows, path);
    return 0;
}

static int tune(const struct tune_options *o, const char *path)
{
    struct target target;
    int error = target_open(&target, path);
    if (error)
        return no_target(path, error);
    int code = measure_all(o, target.file);
    if (!code)
        return keep(o, &target, path);
    target_drop(&target);
    return code;
}

/* Where programs look for it; its folders are made.  False: nobody knows, and it was said. */
static bool usual_path(char *path, size_t room)
{
    tuning_default_path(path, room);
    if (*path)
        make_folders(path);
    else
        fprintf(stderr, "xmpi tune: neither HOME nor XDG_CONFIG_HOME is set; say -o FILE\n");
    return *path;
}

int tune_main(int argc, char **argv)
{
    char usual[200], all[LIST_CHARS], path[PATH_MAX];
    struct tune_options o = { .collectives = list_all(all, ","),
                              .max_bytes = (char[]){ "1M" } };
    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        usage(stdout);
        return 0;
    }
    int code = options_read(argc, argv, &o);
    if (code)
        return code;
    if (o.device && !tune_device_is_here()) {
        fprintf(stderr, "xmpi tune: --device: there is no GPU that CUDA shows\n");
        return 1;
    }
    if (!o.ranks)
        o.ranks = usual_ranks(usual, sizeof usual);
    if (!o.path && !usual_path(path, sizeof path))
        return 2;
    code = tune(&o, o.path ? o.path : path);
    if (stop.signal) { /* the end that whoever sent it expects */
        signal(stop.signal, SIG_DFL);
        raise(stop.signal);
    }
    return code;
}
