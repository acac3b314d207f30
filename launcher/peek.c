/* SPDX-License-Identifier: BSD-3-Clause
 *
 * xmpirun --status: looking into jobs that run.  A job's boot segment has no name, but whoever may
 * look into a process of ours finds it among its open files, /proc/PID/fd; the kernel lets in the
 * owner and root and nobody else.  It is mapped to be read only: neither the job nor its
 * xmpirun notices, and it works when they are stuck.  Of a job on several hosts that shows the ranks of
 * this one; xmpirun is asked for all (inquiry.h), and when it does not answer these are shown.
 *
 * What moves shows between two looks, a moment apart: all jobs that are found have the same moment.
 */
#include "launcher/inquiry.h"
#include "launcher/show.h"
#include "launcher/status.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct found {
    struct boot_header *segment;
    size_t bytes;
    ino_t inode;
    struct situation *before; /* at the first look */
};

struct search {
    const char *which; /* a pid or a job id; NULL: all */
    bool is_pid;       /* then nobody else is looked into */
    ino_t *seen;       /* all processes of a job have the same file */
    int nseen, shown;
    struct found *list;
    int n;
    char (*told)[BOOT_JOB_CHARS]; /* jobs whose xmpirun has answered */
    int ntold;
};

/* Room for one more in a list of n; it grows by doubling. */
static void *one_more(void *list, int n, size_t bytes)
{
    bool full = n == 0 || !(n & (n - 1));
    list = full ? realloc(list, (n ? 2 * (size_t)n : 1) * bytes) : list;
    if (!list)
        abort();
    return list;
}

static bool seen_before(struct search *search, ino_t inode)
{
    for (int i = 0; i < search->nseen; i++)
        if (search->seen[i] == inode)
            return true;
    search->seen = one_more(search->seen, search->nseen, sizeof *search->seen);
    search->seen[search->nseen++] = inode;
    return false;
}

static struct boot_header *map_new(const char *path, struct search *search, size_t *bytes,
                                   ino_t *inode)
{
    struct stat file;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    struct boot_header *segment = MAP_FAILED;
    if (fstat(fd, &file) == 0 && !seen_before(search, file.st_ino)) {
        *bytes = (size_t)file.st_size;
        *inode = file.st_ino;
        segment = mmap(NULL, *bytes, PROT_READ, MAP_SHARED, fd, 0);
    }
    close(fd);
    if (segment == MAP_FAILED)
        return NULL;
    if (!bootseg_check(segment, *bytes, NULL))
        return segment;
    munmap(segment, *bytes);
    return NULL;
}

static bool is_asked_for(const struct boot_header *segment, const struct search *search)
{
    return !search->which || search->is_pid || strcmp(search->which, segment->job) == 0;
}

static bool told_before(const struct search *search, const char *job)
{
    for (int i = 0; i < search->ntold; i++)
        if (strcmp(search->told[i], job) == 0)
            return true;
    return false;
}

/* Does this process have the file? */
static bool has_open(int pid, ino_t inode)
{
    char path[300];
    struct stat file;
    bool has = false;
    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    DIR *files = opendir(path);
    for (struct dirent *entry; files && !has && (entry = readdir(files));) {
        snprintf(path, sizeof path, "/proc/%d/fd/%s", pid, entry->d_name);
        has = stat(path, &file) == 0 && file.st_ino == inode;
    }
    if (files)
        closedir(files);
    return has;
}

/* All of a job on several hosts.  Its launcher is asked only if it is what the segment says: others
 * would not survive the question. */
static bool show_all(const struct found *found, struct search *search)
{
    const struct boot_header *segment = found->segment;
    size_t bytes;
    if (told_before(search, segment->job))
        return true;
    char *text = has_open(segment->launcher_pid, found->inode)
                     ? inquiry_ask(segment->launcher_pid, &bytes)
                     : NULL;
    if (!text)
        return false;
    fwrite(text, 1, bytes, stdout);
    free(text);
    search->told = one_more(search->told, search->ntold, sizeof *search->told);
    memcpy(search->told[search->ntold++], segment->job, BOOT_JOB_CHARS);
    search->shown++;
    return true;
}

static void show(struct found *found, struct search *search)
{
    struct boot_header *segment = found->segment;
    struct situation *ranks = status_look_again(segment, found->before);
    found->before = NULL;
    if (!ranks)
        return;
    if (segment->nlocal < segment->world_size)
        printf("job %s (its launcher here is pid %d): %d of its %d ranks are on this host:\n",
               segment->job, segment->launcher_pid, segment->nlocal, segment->world_size);
    else
        printf("job %s (xmpirun is pid %d), %d ranks:\n", segment->job, segment->launcher_pid,
               segment->nlocal);
    /* Who is to blame nobody knows from some of the ranks. */
    bool all = segment->nlocal == segment->world_size;
    status_print(stdout, ranks, segment->nlocal, all ? STATUS_SETTLED : INFINITY);
    free(ranks);
    search->shown++;
}

static void look_into_file(int pid, const char *fd, struct search *search)
{
    char path[300], target[64] = "";
    size_t bytes;
    ino_t inode;
    snprintf(path, sizeof path, "/proc/%d/fd/%s", pid, fd);
    if (readlink(path, target, sizeof target - 1) <= 0 ||
        strncmp(target, "/memfd:xmpi-job", strlen("/memfd:xmpi-job")) != 0)
        return;
    struct boot_header *segment = map_new(path, search, &bytes, &inode);
    if (segment && is_asked_for(segment, search)) {
        search->list = one_more(search->list, search->n, sizeof *search->list);
        search->list[search->n++] = (struct found){ segment, bytes, inode, NULL };
    } else if (segment) {
        munmap(segment, bytes);
    }
}

static void look_into_process(int pid, struct search *search)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    DIR *files = opendir(path);
    for (struct dirent *file; files && (file = readdir(files));)
        if (isdigit((unsigned char)file->d_name[0]))
            look_into_file(pid, file->d_name, search);
    if (files)
        closedir(files);
}

static void show_found(struct search *search)
{
    for (int i = 0; i < search->n; i++)
        search->list[i].before = status_read(search->list[i].segment);
    if (search->n)
        status_pause();
    for (int i = 0; i < search->n; i++) {
        struct found *found = &search->list[i];
        const struct boot_header *segment = found->segment;
        bool spread = segment->nnodes > 1 || segment->nlocal < segment->world_size;
        if (!spread || !show_all(found, search))
            show(found, search);
        free(found->before);
        munmap(found->segment, found->bytes);
    }
    free(search->list);
}

int status_main(const char *which)
{
    struct search search = { .which = which };
    search.is_pid = which && atoi(which) > 0 && !which[strspn(which, "0123456789")];
    if (search.is_pid)
        look_into_process(atoi(which), &search);
    DIR *processes = search.is_pid ? NULL : opendir("/proc");
    for (struct dirent *process; processes && (process = readdir(processes));)
        if (isdigit((unsigned char)process->d_name[0]))
            look_into_process(atoi(process->d_name), &search);
    if (processes)
        closedir(processes);
    show_found(&search);
    free(search.seen);
    free(search.told);
    if (!search.shown && which)
        fprintf(stderr, "xmpirun: there is no job %s that this user may look into\n", which);
    else if (!search.shown)
        fprintf(stderr, "xmpirun: no job of this user is running\n");
    return !search.shown;
}
