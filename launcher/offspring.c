/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See offspring.h.  A launcher that does not take a message is stopped or broken; then it is killed, and
 * its guardian ends its ranks.
 */
#define _GNU_SOURCE 1 /* memfd_create, asprintf */
#include "launcher/offspring.h"

#include "launcher/kin.h"
#include "launcher/letters.h"
#include "launcher/mail.h"
#include "launcher/out.h"
#include "launcher/pack.h"
#include "launcher/proc.h"
#include "launcher/relay.h"
#include "launcher/wish.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum {
    LATE_MS = 2000,    /* for a launcher to end after the grace of its ranks */
    FAR_LATE_MS = 8000 /* .. and for one with other hosts, which it waits for itself */
};

static struct offspring *children;
static int last_number = 1; /* the job of the command line */

bool offspring_run(void)
{
    for (const struct offspring *child = children; child; child = child->next)
        if (child->pid)
            return true;
    return false;
}

static void tell(struct offspring *child, enum kin_kind kind, int number, int code,
                 const char *text)
{
    if (child->pid && child->watch.fd >= 0 &&
        kin_say(child->watch.fd, kind, number, code, text) != 0 && errno != EPIPE)
        kill(child->pid, SIGKILL);
}

void offspring_go(struct offspring *child, char *const *variables)
{
    for (; variables && *variables; variables++)
        tell(child, KIN_VARIABLE, 0, 0, *variables);
    tell(child, KIN_GO, 0, 0, NULL);
}

void offspring_refuse(struct offspring *child, const char *why)
{
    tell(child, KIN_REFUSED, 0, 0, why);
}

void offspring_lost(struct offspring *child, int rank)
{
    tell(child, KIN_LOST, rank, 0, NULL);
}

void offspring_abort(struct offspring *child, int rank, int code, const char *text)
{
    tell(child, KIN_ABORT, rank, code, text);
}

/* ---- what it says ---- */

static bool map_segment(struct offspring *child, int fd)
{
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0)
        return false;
    child->mapped = (size_t)status.st_size;
    void *at =
        mmap(NULL, child->mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (at == MAP_FAILED)
        return false;
    child->job.segment = at;
    child->job.psets = bootseg_psets(at);
    return true;
}

static void hello(struct offspring *child, const struct kin_message *message, int fd)
{
    const struct job *ours = child->watch.owner;
    struct plan *plan = &child->plan;
    size_t n = (size_t)message->number;
    child->introduced = true;
    child->serves = message->kind == KIN_HELLO_SERVES;
    child->job.running = plan->world = message->number;
    if (child->serves)
        return;
    if (!map_segment(child, fd)) {
        complain("cannot take the boot segment of job %d: %s", child->number,
                 fd < 0 ? "it was lost on its way; are there too many open files (ulimit -n)?"
                        : strerror(errno));
        kill(child->pid, SIGKILL);
        return;
    }
    *plan = (struct plan){ .hosts = ours->plan->hosts, .nhosts = 1, .nnodes = 1 };
    plan->nranks = plan->world = message->number;
    plan->ranks = calloc(n + 1, sizeof *plan->ranks);
    if (!plan->ranks)
        abort();
    for (int i = 0; i < message->number; i++)
        plan->ranks[i] = (struct planned){ .world = i,
                                           .local = i,
                                           .app = bootseg_rank(child->job.segment, i)->appnum };
    child->options.napps = message->code;
    child->job.options = &child->options;
    child->job.plan = plan;
    child->job.nranks = message->number;
}

static void add_busy(struct strings *busy, int ranks, const char *host)
{
    char *text;
    if (asprintf(&text, "%d %s", ranks, host) < 0)
        abort();
    strings_add(busy, text);
}

static void node(struct offspring *child, const struct kin_message *message)
{
    add_busy(&child->busy, message->number, message->text);
    child->here += message->code ? message->number : 0;
}

static void place(struct offspring *child, const struct kin_message *message)
{
    struct plan *plan = &child->plan;
    if (message->number >= plan->nranks || message->bytes != sizeof *plan->placements)
        return;
    if (!plan->placements)
        plan->placements = calloc((size_t)plan->nranks, sizeof *plan->placements);
    if (!plan->placements)
        abort();
    memcpy(&plan->placements[message->number], message->text, message->bytes);
}

static void ready(struct offspring *child)
{
    const struct job *ours = child->watch.owner;
    if (!child->job.segment && !child->serves)
        return; /* it has been killed, see hello */
    if (ours->stopping || ours->interrupted)
        offspring_refuse(child, "the job is ending");
    else
        child->events->ready(child);
}

static void heard(struct offspring *child, const struct kin_message *message, int fd)
{
    switch (message->kind) {
    case KIN_HELLO:
    case KIN_HELLO_SERVES:
        hello(child, message, fd);
        break;
    case KIN_NODE:
        node(child, message);
        break;
    case KIN_PLACE:
        place(child, message);
        break;
    case KIN_READY:
        ready(child);
        break;
    case KIN_STARTED:
        child->started = true;
        child->events->started(child);
        break;
    case KIN_GONE:
        child->job.running -= child->job.running > 0;
        if (!child->serves)
            child->events->gone(child, message->number, message->code);
        break;
    case KIN_ENDED:
        child->job.running = 0;
        break;
    default:
        break;
    }
    if (fd >= 0)
        close(fd);
}

static void listen_to(struct offspring *child)
{
    struct kin_message message;
    int fd, status = 0;
    while (child->watch.fd >= 0 &&
           (status = kin_receive(child->watch.fd, &message, &fd, true)) > 0)
        heard(child, &message, fd);
    if (status < 0) {
        loop_drop(&child->watch);
        close(child->watch.fd);
        child->watch.fd = -1;
    }
}

static void has_said(struct watch *watch, uint32_t events)
{
    (void)events;
    for (struct offspring *child = children; child; child = child->next)
        if (watch == &child->watch)
            listen_to(child);
}

static void letter_came(struct letters *letters, const struct unpack *letter)
{
    mail_take(letters->owner, letter);
}

bool offspring_letter(int number, const struct pack *letter)
{
    struct offspring *child = children;
    while (child && child->number != number)
        child = child->next;
    if (!child || !child->pid || !child->serves)
        return false;
    letters_send(child->letters, letter);
    return true;
}

/* ---- starting ---- */

static int ranks_here(const struct job *job)
{
    int n = job->running;
    for (const struct offspring *child = children; child; child = child->next)
        n += !child->pid || !child->job.running ? 0
             : child->busy.n                    ? child->here
                                                : child->job.running;
    return n;
}

/* Ranks that each host has, of the first job and of spawned ones on several hosts. */
static void list_busy(const struct plan *plan, struct strings *busy)
{
    for (int node = 0; plan->node_names && node < plan->nnodes; node++) {
        int n = 0;
        for (int rank = 0; rank < plan->world; rank++)
            n += plan->node_of[rank] == node;
        add_busy(busy, n, plan->node_names[node]);
    }
    for (const struct offspring *child = children; child; child = child->next)
        for (int i = 0; child->pid && child->job.running && i < child->busy.n; i++)
            strings_add(busy, strdup(child->busy.text[i]));
}

/* A descriptor of the wish and of our command line, which the child inherits.  Arguments would be for
 * all users to read, and words may come from a file that is not. */
static int write_down(const struct job *job, const struct wish *wish)
{
    struct pack pack = { 0 };
    wish_pack(wish, &pack);
    pack_texts(&pack, job->options->words);
    enum { NOEXEC_SEAL = 8 }; /* MFD_NOEXEC_SEAL: not in the headers of older systems */
    int fd = memfd_create("xmpi-wish", NOEXEC_SEAL);
    if (fd < 0 && errno == EINVAL)
        fd = memfd_create("xmpi-wish", 0);
    bool good = fd >= 0 && write(fd, pack.bytes, pack.n) == (ssize_t)pack.n;
    pack_free(&pack);
    if (!good && fd >= 0)
        close(fd);
    return good ? fd : -1;
}

/* xmpirun --spawned SOCKET,WISH,LETTERS */
static int execute(struct proc *proc, int socket, int wish, int letters)
{
    char where[40], *argv[] = { "xmpirun", "--spawned", where, NULL };
    snprintf(where, sizeof where, "%d,%d,%d", socket, wish, letters);
    proc->argv = argv;
    fcntl(socket, F_SETFD,
          0); /* only this child can inherit it: nobody else starts processes */
    fcntl(letters, F_SETFD, 0);
    int error = proc_start(proc);
    proc->argv = NULL;
    return error;
}

static void close_all(const int *fds, int n)
{
    for (int i = 0; i < n; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

/* The process of its launcher, and our ends of the ways to it; -1 with errno. */
static pid_t start(const struct job *job, const struct wish *wish, int *socket, int *letters)
{
    struct proc proc = { .path = "/proc/self/exe", .envp = environ, .umask = -1 };
    int ends[2] = { -1, -1 }, more[2] = { -1, -1 }, theirs[] = { -1, -1, -1, -1, -1, -1 },
        error = 0;
    if ((theirs[0] = open("/dev/null", O_RDONLY | O_CLOEXEC)) < 0 ||
        (theirs[1] = relay_open(&out_stdout, wish->number)) < 0 ||
        (theirs[2] = relay_open(&out_stderr, wish->number)) < 0 ||
        (theirs[3] = write_down(job, wish)) < 0 ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, more) != 0)
        error = errno;
    theirs[4] = ends[1];
    theirs[5] = more[1];
    memcpy(proc.fds, theirs, sizeof proc.fds);
    if (!error)
        error = execute(&proc, theirs[4], theirs[3], theirs[5]);
    close_all(theirs, 6);
    if (error) {
        close_all(ends, 1);
        close_all(more, 1);
    }
    *socket = ends[0];
    *letters = more[0];
    errno = error;
    return error ? -1 : proc.pid;
}

struct offspring *offspring_start(struct job *job, struct wish *wish,
                                  const struct offspring_events *events, void *owner)
{
    int socket, letters;
    wish->number = last_number + 1;
    wish->beside = ranks_here(job);
    wish->pty = out_stdout.is_tty;
    wish->serves = job->others != NULL;
    list_busy(job->plan, &wish->busy);
    pid_t pid = start(job, wish, &socket, &letters);
    if (pid < 0) {
        complain("cannot start a launcher for a spawned job: %s", strerror(errno));
        relay_ended(wish->number, false);
        return NULL;
    }
    struct offspring *child = calloc(1, sizeof *child);
    if (!child)
        abort();
    *child = (struct offspring){ .next = children,
                                 .events = events,
                                 .owner = owner,
                                 .number = ++last_number,
                                 .pid = pid,
                                 .watch = { .fd = socket, .ready = has_said, .owner = job } };
    children = child;
    iof_share();
    loop_add(&child->watch, EPOLLIN);
    child->letters = calloc(1, sizeof *child->letters);
    if (!child->letters)
        abort();
    *child->letters = (struct letters){ .came = letter_came, .owner = job };
    letters_open(child->letters, letters);
    return child;
}

/* ---- stopping ---- */

void offspring_stop(struct job *job, int grace_ms)
{
    if (!offspring_run())
        return;
    int late_ms = LATE_MS;
    for (struct offspring *child = children; child; child = child->next) {
        tell(child, KIN_STOP, grace_ms, 0, NULL);
        late_ms = child->pid && child->serves ? FAR_LATE_MS : late_ms;
    }
    job_set_deadline(job, DEADLINE_SPAWNED, grace_ms + late_ms);
}

void offspring_signal(struct job *job, int signal)
{
    if (signal == SIGKILL) {
        offspring_stop(job, 0);
        return;
    }
    for (struct offspring *child = children; child; child = child->next)
        if (child->pid && child->introduced) /* before its hello a signal would end it */
            kill(child->pid, signal);
}

/* One whose ranks have ended only waits for the reader of its output, who has all the time. */
void offspring_late(const struct job *job)
{
    for (struct offspring *child = children; child; child = child->next)
        if (child->pid && (child->job.running || !child->started || job->interrupted))
            kill(child->pid, SIGKILL);
}

/* ---- the end ---- */

static void forget(struct offspring *child)
{
    if (child->watch.fd >= 0) {
        loop_drop(&child->watch);
        close(child->watch.fd);
        child->watch.fd = -1;
    }
    /* Its letters are kept: the loop may have an event of them at hand. */
    if (child->job.segment)
        munmap(child->job.segment, child->mapped);
    free(child->plan.ranks);
    free(child->plan.placements);
    for (int i = 0; i < child->busy.n; i++)
        free(child->busy.text[i]);
    free(child->busy.text);
    child->busy = (struct strings){ 0 };
    child->job = (struct job){ 0 };
    child->plan = (struct plan){ 0 };
}

/* One exit policy for all jobs of an xmpirun: what the launcher of a spawned one ends with is its
 * verdict. */
static void judge(struct job *job, const struct offspring *child, int wait_status)
{
    char how[64];
    int code =
        WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
    if (!child->started || !code || job->stopping || job->interrupted)
        return;
    if (WIFSIGNALED(wait_status))
        snprintf(how, sizeof how, "its launcher was killed by signal %d",
                 WTERMSIG(wait_status));
    else
        snprintf(how, sizeof how, "exit code %d", code);
    if (!job->options->keep_going) {
        job_fail(job, code, "job %d, which was spawned, has failed (%s); stopping the others",
                 child->number, how);
        return;
    }
    complain("job %d, which was spawned, has failed (%s); going on", child->number, how);
    if (!job->failed)
        job->exit_code = code;
    job->failed = true;
}

bool offspring_died(struct job *job, pid_t pid, int wait_status)
{
    struct offspring *child = children;
    while (child && child->pid != pid)
        child = child->next;
    if (!child)
        return false;
    listen_to(child); /* its last words */
    letters_finish(child->letters);
    relay_drain();
    relay_ended(child->number, WIFSIGNALED(wait_status));
    child->pid = 0;
    judge(job, child, wait_status);
    child->events->ended(child, wait_status);
    forget(child);
    return true;
}
