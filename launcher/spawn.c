/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Starting the ranks of a job: boot segment, environment, streams, processes.
 *
 * The segment is an anonymous file that every rank inherits; XMPI_BOOT tells its number, and
 * our pid for those whose wrapper has closed it.  What differs between ranks is written into
 * one set of buffers again and again: a child has copied it before proc_start returns.
 */
#define _GNU_SOURCE 1 /* memfd_create */
#include "launcher/environment.h"
#include "launcher/guard.h"
#include "launcher/job.h"
#include "launcher/master.h"
#include "launcher/out.h"
#include "launcher/proc.h"
#include "launcher/program.h"
#include "launcher/psets.h"
#include "launcher/services.h"
#include "runtime/reading.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* ---- the boot segment ---- */

static int anonymous_file(void)
{
    enum { NOEXEC_SEAL = 8 }; /* MFD_NOEXEC_SEAL: not in the headers of older systems */
    int fd = memfd_create("xmpi-job", NOEXEC_SEAL);
    return fd < 0 && errno == EINVAL ? memfd_create("xmpi-job", 0) : fd;
}

/* A limit (ulimit -f) shall be an error that we can name, not a signal that ends us. */
static bool file_stretch(int fd, size_t bytes)
{
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
    bool good = ftruncate(fd, (off_t)bytes) == 0;
    int error = errno;
    signal(SIGXFSZ, before);
    errno = error;
    return good;
}

static void fill_segment(struct job *job)
{
    const struct plan *plan = job->plan;
    struct boot_header *segment = job->segment;
    bootseg_format(segment, job->id, job->nranks, plan->world, job->psets);
    segment->node = plan->node;
    segment->nnodes = plan->nnodes;
    if (plan->node_of)
        memcpy(bootseg_nodes(segment), plan->node_of, (size_t)plan->world * sizeof(int32_t));
    segment->cpus = plan->hosts[0].budget.slots;
    segment->crowded = plan->crowded;
    segment->reading = reading_here(getenv("XMPI_SHM_SINGLE_COPY"), getenv("XMPI_LIBXPMEM"));
    segment->launcher_pid = getpid();
    segment->universe = job->options->universe;
    if (!segment->universe)
        segment->universe = plan->world > segment->cpus ? plan->world : segment->cpus;
    for (int rank = 0; rank < job->nranks; rank++) {
        struct boot_rank *record = bootseg_rank(segment, plan->ranks[rank].local);
        record->world_rank = plan->ranks[rank].world;
        record->appnum = plan->ranks[rank].app;
        if (plan->placements)
            record->place = plan->placements[rank].place;
    }
}

void job_name(char id[BOOT_JOB_CHARS])
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(id, BOOT_JOB_CHARS, "%d-%llx", (int)getpid(),
             (unsigned long long)now.tv_sec * 1000000000ull + (unsigned long long)now.tv_nsec);
}

/* What the user can do about it; "" where the error says it. */
static const char *segment_remedy(bool made, int error)
{
    if (made && error == EFBIG)
        return "; raise the limit with `ulimit -f unlimited`";
    if (!made && (error == EPERM || error == EACCES || error == ENOSYS))
        return "; memfd_create is refused: let the container's filter of system calls "
               "(seccomp) allow it";
    return files_remedy(error);
}

static int make_segment(struct job *job)
{
    if (!job->others) {
        job_name(job->id);
        job->psets = psets_write(job->options, job->plan);
    }
    size_t bytes = bootseg_bytes(job->nranks, job->plan->world, job->psets);
    job->segment_fd = anonymous_file();
    if (job->segment_fd < 0 || !file_stretch(job->segment_fd, bytes))
        goto failed;
    job->segment = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                        job->segment_fd, 0);
    if (job->segment == MAP_FAILED)
        goto failed;
    fill_segment(job);
    return 0;

failed:
    job->segment = NULL;
    complain("cannot make the shared segment of %d ranks (%zu MiB, sparse): %s%s", job->nranks,
             bytes >> 20, strerror(errno), segment_remedy(job->segment_fd >= 0, errno));
    return 1;
}

/* ---- environment ---- */

/* Variables that all ranks of the job share. */
static void common_variables(const struct job *job, struct strings *list)
{
    const struct options *options = job->options;
    char size[16];
    snprintf(size, sizeof size, "%d", job->plan->world);
    strings_add(list, environment_text("WORLD_SIZE", size));
    strings_add(list, environment_text(BOOT_JOB_ENV, job->id));
    snprintf(size, sizeof size, "%d", job->nranks);
    strings_add(list, environment_text("LOCAL_WORLD_SIZE", size));
    master_variables(options, list);
}

/* ---- ranks ---- */

struct prepared { /* a program, ready to be started many times */
    char *path;   /* also in job->programs */
    struct environment env;
};

static int prepare(const struct job *job, struct prepared *prepared)
{
    struct strings common = { 0 };
    common_variables(job, &common);
    for (int i = 0; i < job->options->napps; i++) {
        const struct app *app = &job->options->apps[i];
        environment_build(&prepared[i].env, job->options, app, &common);
        const char *path = environment_get(&prepared[i].env, "PATH");
        if (!path)
            path = getenv("PATH");
        int status = program_find(app->argv[0], app->path, path ? path : "/usr/bin:/bin",
                                  app->wdir, &prepared[i].path);
        if (status)
            return status;
        job->programs[i] = prepared[i].path;
    }
    return 0;
}

static int start_rank(struct job *job, int number, struct prepared *prepared)
{
    const struct planned *planned = &job->plan->ranks[number];
    const struct app *app = &job->options->apps[planned->app];
    prepared += planned->app;
    char boot[128], rank[32], local[32], gpu[64];
    snprintf(boot, sizeof boot, "%s=%d:%d:%s:%d", BOOT_ENV, (int)getpid(), job->segment_fd,
             job->id, planned->local);
    snprintf(rank, sizeof rank, "RANK=%d", planned->world);
    snprintf(local, sizeof local, "LOCAL_RANK=%d", planned->local);
    environment_reset(&prepared->env);
    environment_add(&prepared->env, boot);
    environment_add(&prepared->env, rank);
    environment_add(&prepared->env, local);
    const char *bus = plan_gpu_of(job->plan, number);
    snprintf(gpu, sizeof gpu, "%s=%s", BOOT_GPU_ENV, bus ? bus : "");
    if (bus && !environment_get(&prepared->env, BOOT_GPU_ENV)) /* not set by -x */
        environment_add(&prepared->env, gpu);
    int status = services_rank_env(job, number, &prepared->env);
    if (status)
        return status;
    struct proc proc = { .path = prepared->path,
                         .argv = app->argv,
                         .envp = prepared->env.list,
                         .wdir = app->wdir,
                         .umask = app->umask,
                         .group = guard_group(number) };
    if (job->plan->placements)
        proc.cpus = &job->plan->placements[number].cpus;
    status = iof_prepare(number, proc.fds);
    if (status)
        return status;
    if (proc_start(&proc) != 0)
        status = program_explain(prepared->path, proc.failed, proc.error, app->wdir);
    iof_started(number, proc.pid);
    if (status)
        return status;
    job->ranks[number].pid = job->ranks[number].group = proc.pid;
    job->running++;
    return 0;
}

int job_check_limits(const struct job *job)
{
    enum { FILES_PER_RANK = 2, OTHER_FILES = 32 }; /* a rank: its stdout and stderr */
    int n = job->nranks, np = job->plan->world, needed = n * FILES_PER_RANK + OTHER_FILES;
    struct rlimit files, processes;
    if (n > BOOT_MOST_RANKS) {
        complain(
            "-np %d: %d ranks on one node are more than the %d that can be; ask for fewer, "
            "or for more hosts with -H or --hostfile",
            np, n, BOOT_MOST_RANKS);
        return EXIT_USAGE;
    }
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_max < (rlim_t)needed) {
        complain(
            "-np %d: %d ranks on one node need %d open files, and the limit is %llu; ask for "
            "fewer ranks, or raise it with `ulimit -n %d`",
            np, n, needed, (unsigned long long)files.rlim_max, needed);
        return EXIT_USAGE;
    }
    if (geteuid() != 0 && getrlimit(RLIMIT_NPROC, &processes) == 0 &&
        processes.rlim_cur < (rlim_t)n) {
        complain("-np %d: %d ranks on one node, and the limit is %llu processes; ask for fewer "
                 "ranks, or raise it with `ulimit -u`",
                 np, n, (unsigned long long)processes.rlim_cur);
        return EXIT_USAGE;
    }
    return 0;
}

/* While many ranks are being started nobody reads our signals.  The exit code of one that asks us to
 * end; 0: none does. */
static int asked_to_end(void)
{
    static const int asking[] = { SIGTERM, SIGINT, SIGHUP };
    sigset_t pending;
    sigpending(&pending);
    for (size_t i = 0; i < sizeof asking / sizeof asking[0]; i++)
        if (sigismember(&pending, asking[i]) == 1)
            return 128 + asking[i];
    return 0;
}

int job_spawn(struct job *job)
{
    struct prepared *prepared = calloc((size_t)job->options->napps, sizeof *prepared);
    job->programs = calloc((size_t)job->options->napps, sizeof *job->programs);
    if (!prepared || !job->programs)
        abort();
    int status = make_segment(job);
    char mark[128];
    snprintf(mark, sizeof mark, "%s=%d:%d:%s:", BOOT_ENV, (int)getpid(), job->segment_fd,
             job->id);
    if (!status)
        status = prepare(job, prepared);
    if (!status)
        status = guard_open(mark, job->nranks);
    if (!status)
        status = services_start(job);
    for (int rank = 0; rank < job->nranks && !status; rank++) {
        status = asked_to_end();
        if (!status)
            status = start_rank(job, rank, prepared);
    }
    for (int i = 0; i < job->options->napps; i++) {
        free(prepared[i].path);
        free(prepared[i].env.list);
    }
    free(prepared);
    free(job->programs);
    job->programs = NULL;
    return status;
}
