/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Traces, as a service: the ranks of every host write into a nameless file there; at the end other
 * hosts send theirs to xmpirun (trace_far.c), which writes the time line (trace_line.c).
 */
#define _GNU_SOURCE 1 /* O_TMPFILE, memfd_create */
#include "launcher/trace.h"

#include "launcher/job.h"
#include "launcher/out.h"
#include "launcher/post.h"
#include "launcher/trace_far.h"
#include "launcher/trace_line.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int raw = -1; /* what the ranks write into */

/* Whoever waits for the end of a long run would like to know before it.  A pipe may have no reader yet.
 * What an earlier run has left would be taken for ours if we are killed. */
static bool may_be_written(const char *name)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC, 0666);
    if (fd >= 0)
        close(fd);
    return fd >= 0 || errno == ENXIO;
}

/* Is it a time line, of ours? */
static bool is_line(int folder, const char *name)
{
    char begin[sizeof TRACE_LINE_BEGIN] = "";
    struct stat status;
    int fd = openat(folder, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    bool is = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
              read(fd, begin, sizeof begin - 1) == (ssize_t)sizeof begin - 1 &&
              strcmp(begin, TRACE_LINE_BEGIN) == 0;
    if (fd >= 0)
        close(fd);
    return is;
}

/* Jobs that this one spawns write into FILE.2, FILE.3 and so on; what those of an earlier run have left there
 * would be taken for theirs.  Files that somebody else calls so stay. */
static void forget_spawned(const char *name)
{
    char *one = strdup(name), *two = strdup(name);
    const char *folder = one ? dirname(one) : ".", *base = two ? basename(two) : "";
    size_t chars = strlen(base);
    DIR *list = chars ? opendir(folder) : NULL;
    for (struct dirent *entry; list && (entry = readdir(list));) {
        const char *number = entry->d_name + chars + 1;
        if (strncmp(entry->d_name, base, chars) == 0 && entry->d_name[chars] == '.' &&
            *number && !number[strspn(number, "0123456789")] &&
            is_line(dirfd(list), entry->d_name))
            unlinkat(dirfd(list), entry->d_name, 0);
    }
    if (list)
        closedir(list);
    free(one);
    free(two);
}

int trace_start(struct job *job)
{
    const char *name = getenv("XMPI_TRACE");
    if (job->others)
        trace_far_open(-1);
    if (!name || !*name)
        return 0;
    bool writes = !job->others || job->host == POST_ROOT;
    if (writes && !may_be_written(name)) {
        complain("XMPI_TRACE=%s: cannot write the time line: %s", name, strerror(errno));
        return 1;
    }
    if (writes && launcher_job == 1)
        forget_spawned(name);
    char *copy = strdup(name);
    raw = copy ? open(dirname(copy), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
    if (raw < 0)
        raw = memfd_create("xmpi-trace", MFD_CLOEXEC);
    free(copy);
    if (raw < 0) {
        complain("XMPI_TRACE=%s: cannot make a file for the ranks: %s", name, strerror(errno));
        return 1;
    }
    job->segment->trace_fd = raw;
    if (job->others)
        trace_far_open(raw);
    return 0;
}

void trace_started(struct job *job)
{
    if (job->others && job->host != POST_ROOT)
        trace_far_begin(job);
}

static void write_line(struct job *job, const char *name)
{
    off_t size = lseek(raw, 0, SEEK_END);
    uint64_t n = size > 0 ? (uint64_t)size : 0;
    void *bytes = n ? mmap(NULL, n, PROT_READ, MAP_SHARED, raw, 0) : NULL;
    FILE *to = bytes == MAP_FAILED ? NULL : fopen(name, "we");
    if (to)
        trace_line_write(job, bytes, n, to);
    bool good = to && !ferror(to);
    if (to && fclose(to) != 0)
        good = false;
    if (good)
        return;
    complain("XMPI_TRACE=%s: cannot write the time line: %s", name, strerror(errno));
    if (!job->exit_code)
        job->exit_code = 1;
}

void trace_stop(struct job *job)
{
    if (raw < 0)
        return;
    if (job->others && job->host != POST_ROOT)
        trace_far_send(job);
    else
        write_line(job, getenv("XMPI_TRACE"));
    close(raw);
    raw = -1;
}
