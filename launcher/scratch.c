/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One directory, made for what insists on files: the PMIx library and foreign MPI programs.  Ours
 * are removed in three ways, so that none is left behind:
 *
 *     the job ends             scratch_remove
 *     the launcher exits       atexit, when it gave up on the way
 *     the launcher is killed   the guardian, which reads the name in its shared page
 *
 * Places, in this order: XDG_RUNTIME_DIR, /dev/shm, TMPDIR, /tmp; for tools the last two.
 */
#define _GNU_SOURCE 1 /* O_DIRECTORY, syscall */
#include "launcher/scratch.h"

#include "launcher/bare.h"
#include "launcher/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DEEPEST = 64 }; /* of nested directories that are removed */

static char path[PATH_MAX];

/* ---- removing ---- */

static bool is_dots(const char *name)
{
    return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

static void remove_content(int directory, int depth);

static void remove_entry(int directory, const char *name, int depth)
{
    if (unlinkat(directory, name, 0) == 0 || (errno != EISDIR && errno != EPERM))
        return;
    int inner = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner >= 0) {
        remove_content(inner, depth + 1);
        close(inner);
    }
    unlinkat(directory, name, AT_REMOVEDIR);
}

/* Removing entries may hide others from the reader, so it starts over until a walk finds as few
 * as the one before. */
static void remove_content(int directory, int depth)
{
    char entries[4096] __attribute__((aligned(8)));
    int before = INT_MAX, found = 0;
    do {
        before = found ? found : before;
        found = 0;
        lseek(directory, 0, SEEK_SET);
        long n;
        while (depth < DEEPEST && (n = directory_read(directory, entries, sizeof entries)) > 0)
            for (long at = 0; at < n;) {
                struct directory_entry *entry = (struct directory_entry *)(entries + at);
                at += entry->bytes;
                if (is_dots(entry->name))
                    continue;
                remove_entry(directory, entry->name, depth);
                found++;
            }
    } while (found && found < before);
}

void scratch_remove_tree(const char *root)
{
    int directory = open(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory < 0)
        return;
    remove_content(directory, 0);
    close(directory);
    rmdir(root);
}

/* ---- making ---- */

static bool make_in(const char *place, const char *id)
{
    if (!place || *place != '/')
        return false;
    int n = snprintf(path, sizeof path, "%s/xmpi-%s", place, id);
    if (n < (int)sizeof path) {
        guard_scratch(path); /* first: we may be killed any time */
        if (mkdir(path, 0700) == 0)
            return true;
    }
    path[0] = 0;
    guard_scratch("");
    return false;
}

const char *scratch_make(const char *id, bool tools)
{
    static bool promised;
    const char *const places[] = { getenv("XDG_RUNTIME_DIR"), "/dev/shm", getenv("TMPDIR"),
                                   "/tmp" };
    size_t i = tools ? 2 : 0;
    while (i < sizeof places / sizeof places[0] && !make_in(places[i], id))
        i++;
    if (!path[0])
        return NULL;
    if (!promised)
        atexit(scratch_remove);
    promised = true;
    return path;
}

void scratch_remove(void)
{
    if (!path[0])
        return;
    scratch_remove_tree(path);
    path[0] = 0;
    guard_scratch("");
}
