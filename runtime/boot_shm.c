/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Booting under xmpirun: everything is in the boot segment, which the process inherited as an
 * open file.  XMPI_BOOT=<launcher pid>:<fd>:<job id>:<local rank> says where.  A wrapper between
 * launcher and rank may have closed the file (Python's subprocess does) or the number may mean
 * another file by now; then the launcher's own is opened through /proc.  No message is sent and
 * nobody is waited for.
 */
#include "runtime/boot_way.h"
#include "runtime/fail.h"
#include "runtime/printable.h"
#include "runtime/record.h"

#include "mpi.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct address {
    int launcher, fd, local_rank;
    char job[BOOT_JOB_CHARS];
};

/* The job id may hold anything but a colon. */
static bool address_read(const char *text, struct address *a)
{
    int used = 0;
    return sscanf(text, "%d:%d:%47[^:]:%d%n", &a->launcher, &a->fd, a->job, &a->local_rank,
                  &used) == 4 &&
           text[used] == '\0' && a->launcher > 0 && a->fd >= 0 && a->local_rank >= 0;
}

/* Map fd if it is the segment of this job; NULL and *why otherwise. */
static struct boot_header *segment_map(int fd, const char *job, const char **why)
{
    struct stat file;
    if (fstat(fd, &file) != 0) {
        *why = strerror(errno);
        return NULL;
    }
    /* A nameless regular file, or it is somebody else's. */
    if (!S_ISREG(file.st_mode) || file.st_nlink != 0) {
        *why = "another file";
        return NULL;
    }
    size_t bytes = (size_t)file.st_size;
    struct boot_header *segment =
        bytes < sizeof *segment ? MAP_FAILED
                                : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (segment == MAP_FAILED) {
        *why = bytes < sizeof *segment ? "too short" : strerror(errno);
        return NULL;
    }
    *why = bootseg_check(segment, bytes, job);
    if (!*why)
        return segment;
    munmap(segment, bytes);
    return NULL;
}

struct boot_header *boot_map(int pid, int fd, const char *job, const char **why)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
    int opened = open(path, O_RDWR | O_CLOEXEC);
    if (opened < 0) {
        *why = strerror(errno);
        return NULL;
    }
    struct boot_header *segment = segment_map(opened, job, why);
    close(opened);
    return segment;
}

static struct boot_header *segment_find(const struct address *a)
{
    const char *why;
    errno = 0;
    struct boot_header *segment = segment_map(a->fd, a->job, &why);
    if (segment)
        return segment;
    if (errno == ENOMEM) {
        fail(MPI_ERR_OTHER,
             "cannot join job %s: no room for what the ranks of this node share: %s; raise the "
             "limit of this process's addresses with `ulimit -v unlimited`",
             a->job, why);
        return NULL;
    }
    char inherited_why[160];
    snprintf(inherited_why, sizeof inherited_why, "%s", why);
    segment = boot_map(a->launcher, a->fd, a->job, &why);
    if (!segment)
        fail(MPI_ERR_OTHER,
             "cannot join job %s: inherited file %d: %s; /proc/%d/fd/%d of xmpirun: %s; was "
             "xmpirun killed, or " BOOT_ENV " kept from an earlier job?",
             a->job, a->fd, inherited_why, a->launcher, a->fd, why);
    return segment;
}

/* The launcher sleeps in epoll, not on a futex: it is called by a signal that does nothing to
 * those who do not expect it (in another PID namespace the number may be a stranger's).  It may be
 * 1: the first process of a container. */
static void ring_launcher(const struct boot_header *segment)
{
    if (segment->launcher_pid > 0)
        kill(segment->launcher_pid, SIGURG);
}

static int shm_open_segment(void)
{
    const char *text = getenv(BOOT_ENV);
    struct address a;
    if (!address_read(text, &a))
        return fail(MPI_ERR_OTHER,
                    BOOT_ENV "=%s is not of the form pid:fd:job:rank; it is set by xmpirun and "
                             "not meant to be set by hand",
                    text);
    struct boot_header *segment = segment_find(&a);
    if (!segment)
        return MPI_ERR_OTHER;
    if (a.local_rank >= segment->nlocal) {
        int nlocal = segment->nlocal;
        munmap(segment, segment->bytes);
        return fail(MPI_ERR_OTHER, BOOT_ENV "=%s names local rank %d, but the job has %d here",
                    text, a.local_rank, nlocal);
    }
    int error = boot_join(segment, a.local_rank);
    if (error)
        munmap(segment, segment->bytes);
    else if (getppid() != segment->launcher_pid)
        ring_launcher(segment); /* a wrapper between: the launcher does not know us yet */
    return error;
}

static void shm_close(void)
{
    munmap(boot.segment, boot.segment->bytes);
}

/* The text of the one who was first is there, or its writer was killed within it. */
static void await_text(struct boot_header *segment)
{
    enum { ROUNDS = 1000, ROUND_US = 1000 };
    for (int i = 0; i < ROUNDS && atomic_load(&segment->abort_state) != 2; i++)
        usleep(ROUND_US);
}

/* In one line: it may name a communicator. */
static void abort_words(char to[BOOT_TEXT_CHARS], const char *text)
{
    char line[BOOT_TEXT_CHARS];
    size_t n = strlen(text);
    while (n && text[n - 1] == '\n')
        n--;
    snprintf(line, sizeof line, "%.*s", (int)n, text);
    printable(to, BOOT_TEXT_CHARS, line);
}

/* The first one to abort leaves code and text; the launcher prints it once and ends the rest.  Who
 * comes second must not be gone before the text is there: the launcher would take its end for the
 * cause. */
static void shm_abort(int code, const char *text)
{
    struct boot_header *segment = boot.segment;
    uint32_t nobody = 0;
    if (!atomic_compare_exchange_strong(&segment->abort_state, &nobody, 1)) {
        await_text(segment);
        return;
    }
    segment->abort_rank = boot.rank;
    segment->abort_code = code;
    record_place(record_now.caller, segment->abort_place, sizeof segment->abort_place);
    abort_words(segment->abort_text, text ? text : "");
    atomic_store(&segment->abort_state, 2);
    doorbell_wake(&segment->launcher);
    ring_launcher(segment);
}

/* ---- how the network reaches a process ---- */

/* It lies in the record; launchers exchange what is in the records. */
static int shm_publish(const void *card, size_t bytes)
{
    (void)card, (void)bytes;
    ring_launcher(boot.segment);
    return MPI_SUCCESS;
}

static int shm_contact(int world, void *card, size_t *bytes)
{
    struct boot_other *other = bootseg_other(boot.segment, world);
    *bytes = atomic_load_explicit(&other->bytes, memory_order_acquire);
    memcpy(card, other->card, *bytes);
    return MPI_SUCCESS;
}

/* The launcher looks for new bits, and tells the launcher of that rank. */
static void shm_ask(int world)
{
    _Atomic uint64_t *word = bootseg_asked(boot.segment) + world / 64;
    uint64_t bit = 1ull << world % 64;
    if (!(atomic_fetch_or(word, bit) & bit))
        ring_launcher(boot.segment);
}

static bool shm_left(int world)
{
    return atomic_load(&bootseg_other(boot.segment, world)->left);
}

static void shm_leave(void)
{
    ring_launcher(boot.segment);
}

static uint32_t shm_dead(int world)
{
    return atomic_load(&bootseg_other(boot.segment, world)->dead);
}

const struct boot_way boot_shm = {
    .name = "launcher",
    .open = shm_open_segment,
    .close = shm_close,
    .abort = shm_abort,
    .publish = shm_publish,
    .contact = shm_contact,
    .ask = shm_ask,
    .left = shm_left,
    .leave = shm_leave,
    .dead = shm_dead,
};
