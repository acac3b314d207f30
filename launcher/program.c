/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finding programs.  Done once per program, before the first rank starts: a typo costs one
 * message, not one per rank.
 */
#define _GNU_SOURCE 1 /* asprintf */
#include "launcher/program.h"

#include "launcher/foreign.h"
#include "launcher/out.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum found { FOUND, NOT_THERE, NOT_EXECUTABLE, A_DIRECTORY };

static enum found look(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return NOT_THERE;
    if (S_ISDIR(status.st_mode))
        return A_DIRECTORY;
    return access(path, X_OK) == 0 ? FOUND : NOT_EXECUTABLE;
}

/* directory/name as seen from here, when the program will run in wdir. */
static void join(char *to, const char *wdir, const char *directory, const char *name)
{
    const char *slash = *directory ? "/" : "";
    if (wdir && *directory != '/' && *name != '/')
        snprintf(to, PATH_MAX, "%s/%s%s%s", wdir, directory, slash, name);
    else
        snprintf(to, PATH_MAX, "%s%s%s", directory, slash, name);
}

/* Look in each directory of a list a:b:c; the best that was seen, its path in `to`. */
static enum found search(const char *list, const char *wdir, const char *name, char *to)
{
    enum found best = NOT_THERE;
    while (list && best != FOUND) {
        size_t bytes = strcspn(list, ":");
        char directory[PATH_MAX], candidate[PATH_MAX];
        snprintf(directory, sizeof directory, "%.*s", (int)bytes, list);
        join(candidate, wdir, bytes ? directory : ".", name);
        enum found here = look(candidate);
        if (here == FOUND || (here == NOT_EXECUTABLE && best == NOT_THERE)) {
            best = here;
            strcpy(to, candidate);
        }
        list = list[bytes] ? list + bytes + 1 : NULL;
    }
    return best;
}

static int not_executable(const char *path, enum found why)
{
    if (why == A_DIRECTORY)
        complain("cannot run %s: it is a directory", path);
    else
        complain("cannot run %s: the file is not executable (chmod +x, or name its "
                 "interpreter, as in `xmpirun -np 4 python3 %s`)",
                 path, path);
    return EXIT_NOT_EXECUTABLE;
}

static int not_found(const char *name, const char *first, const char *path, const char *wdir)
{
    if (strchr(name, '/'))
        complain("cannot find the program %s%s%s: there is no such file", name,
                 wdir ? " in the working directory " : "", wdir ? wdir : "");
    else
        complain("cannot find the program %s; looked in %s%s%s and the working directory", name,
                 first ? first : "", first ? ":" : "", path);
    return EXIT_NOT_FOUND;
}

/* The child may have another working directory.  Links are not followed: some programs look at
 * the name they were called by. */
static char *absolute(const char *path)
{
    char here[PATH_MAX], *whole;
    while (path[0] == '.' && path[1] == '/' && path[2] != '/')
        path += 2;
    if (*path == '/' || !getcwd(here, sizeof here))
        whole = strdup(path);
    else if (asprintf(&whole, "%s/%s", here, path) < 0)
        whole = NULL;
    if (!whole)
        abort();
    return whole;
}

bool program_is_in(const char *path, const char *name)
{
    char candidate[PATH_MAX];
    return search(path, NULL, name, candidate) == FOUND;
}

int program_find(const char *name, const char *first, const char *path, const char *wdir,
                 char **found)
{
    char candidate[PATH_MAX] = "";
    enum found what;
    if (strchr(name, '/')) {
        join(candidate, wdir, "", name);
        what = look(candidate);
    } else {
        what = first ? search(first, wdir, name, candidate) : NOT_THERE;
        if (what != FOUND)
            what = search(path, wdir, name, candidate);
        if (what != FOUND)
            what = search(".", wdir, name, candidate);
    }
    if (what == NOT_THERE)
        return not_found(name, first, path, wdir);
    if (what != FOUND)
        return not_executable(candidate, what);
    *found = absolute(candidate);
    return 0;
}

int program_explain(const char *path, const char *step, int error, const char *wdir)
{
    bool executing = strcmp(step, "execve") == 0;
    if (strcmp(step, "chdir") == 0) {
        complain("cannot enter the working directory %s: %s", wdir, strerror(error));
        return EXIT_NOT_FOUND;
    }
    if (executing && error == ENOENT) {
        complain("cannot run %s: the file is there, its interpreter (#! line or dynamic "
                 "loader) is not",
                 path);
        return EXIT_NOT_FOUND;
    }
    const char *why = executing && error == ENOEXEC ? foreign_why(path) : NULL;
    if (why) {
        complain("cannot run %s: %s", path, why);
        return EXIT_NOT_EXECUTABLE;
    }
    if (error == EAGAIN || error == ENOMEM) {
        complain("cannot start %s: %s (limit of processes, memory of this machine or its "
                 "container)",
                 path, strerror(error));
        return 1;
    }
    complain("cannot run %s: %s: %s", path, step, strerror(error));
    return executing ? EXIT_NOT_EXECUTABLE : 1;
}
