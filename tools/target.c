/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Links are followed by hand, as the last of them may lead to what is not there yet.
 */
#define _GNU_SOURCE 1 /* memfd_create */
#include "tools/target.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_LINKS = 40 };

/* What the link `path` says, seen from where it lies.  0, or an errno. */
static int link_read(char path[PATH_MAX])
{
    char to[PATH_MAX];
    ssize_t n = readlink(path, to, sizeof to);
    const char *slash = strrchr(path, '/');
    size_t folder = n > 0 && to[0] != '/' && slash ? (size_t)(slash - path) + 1 : 0;
    if (n <= 0)
        return n ? errno : ENOENT;
    if (folder + (size_t)n >= PATH_MAX)
        return ENAMETOOLONG;
    memcpy(path + folder, to, (size_t)n);
    path[folder + (size_t)n] = '\0';
    return 0;
}

static int links_follow(char path[PATH_MAX])
{
    struct stat s;
    for (int i = 0; lstat(path, &s) == 0 && S_ISLNK(s.st_mode); i++) {
        int error = i < MOST_LINKS ? link_read(path) : ELOOP;
        if (error)
            return error;
    }
    return 0;
}

/* Is it what this program writes to anyway? */
static bool is_stdout(const struct stat *there)
{
    struct stat s;
    return fstat(STDOUT_FILENO, &s) == 0 && s.st_dev == there->st_dev &&
           s.st_ino == there->st_ino;
}

static int straight_open(struct target *target, bool out)
{
    target->straight = out ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
                           : open(target->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (target->straight < 0)
        return errno;
    target->file = memfd_create("xmpi-target", MFD_CLOEXEC);
    if (target->file >= 0)
        return 0;
    int error = errno;
    close(target->straight);
    return error;
}

/* A file of that mode beside it. */
static int beside_open(struct target *target, mode_t mode)
{
    snprintf(target->unfinished, sizeof target->unfinished, "%s.XXXXXX", target->path);
    target->file = mkostemp(target->unfinished, O_CLOEXEC | O_APPEND);
    if (target->file < 0)
        return errno;
    fchmod(target->file, mode);
    return 0;
}

int target_open(struct target *target, const char *path)
{
    struct stat s;
    *target = (struct target){ .file = -1, .straight = -1 };
    if (strcmp(path, "-") == 0)
        return straight_open(target, true);
    if (!*path || strlen(path) >= PATH_MAX)
        return *path ? ENAMETOOLONG : ENOENT;
    memcpy(target->path, path, strlen(path) + 1);
    bool there = stat(path, &s) == 0;
    if (!there && errno != ENOENT)
        return errno;
    if (there && S_ISDIR(s.st_mode))
        return EISDIR;
    if (there && is_stdout(&s))
        return straight_open(target, true);
    if (there && !S_ISREG(s.st_mode))
        return straight_open(target, false);
    if (there && access(path, W_OK) != 0)
        return errno;
    int error = links_follow(target->path);
    return error ? error : beside_open(target, there ? s.st_mode & 0777 : 0644);
}

/* Who reads a pipe and has gone is an error like others. */
static int write_all(int to, const char *text, size_t bytes)
{
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    int error = 0;
    while (bytes && !error) {
        ssize_t n = write(to, text, bytes);
        error = n < 0 && errno != EINTR ? errno : 0;
        text += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }
    signal(SIGPIPE, before);
    return error;
}

static int straight_write(const struct target *target)
{
    struct stat s;
    if (fstat(target->file, &s) != 0)
        return errno;
    size_t bytes = (size_t)s.st_size;
    void *text = mmap(NULL, bytes ? bytes : 1, PROT_READ, MAP_SHARED, target->file, 0);
    if (text == MAP_FAILED)
        return errno;
    int error = write_all(target->straight, text, bytes);
    munmap(text, bytes ? bytes : 1);
    return error;
}

int target_keep(struct target *target)
{
    int error = 0;
    if (target->straight >= 0) {
        error = straight_write(target);
        if (close(target->straight) != 0 && !error)
            error = errno;
        target->straight = -1;
    } else if (fsync(target->file) != 0 || rename(target->unfinished, target->path) != 0) {
        error = errno;
    }
    if (!error)
        target->unfinished[0] = '\0';
    target_drop(target);
    return error;
}

void target_drop(struct target *target)
{
    close(target->file);
    if (target->straight >= 0)
        close(target->straight);
    if (*target->unfinished)
        unlink(target->unfinished);
}
