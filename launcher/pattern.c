/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names with the rank in them, and the files that carry them.  A pattern without %r names one
 * file for all ranks: they append to it.
 */
#include "launcher/pattern.h"

#include "launcher/out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The replacement for %letter, or NULL. */
static const char *word(char letter, const struct pattern_words *words, char *scratch,
                        size_t room)
{
    switch (letter) {
    case 'r':
        snprintf(scratch, room, "%d", words->rank);
        return scratch;
    case 'p':
        snprintf(scratch, room, "%d", words->pid);
        return scratch;
    case 'h':
        if (launcher_name)
            return launcher_name; /* as the user called it */
        return gethostname(scratch, room) == 0 ? scratch : "localhost";
    case 's':
        return words->stream;
    case '%':
        return "%";
    default:
        return NULL;
    }
}

void pattern_fill(const char *pattern, const struct pattern_words *words, char *text,
                  size_t room)
{
    size_t used = 0;
    for (const char *p = pattern; *p; p++) {
        char scratch[256], plain[2] = { *p, 0 };
        const char *piece = *p == '%' ? word(p[1], words, scratch, sizeof scratch) : NULL;
        if (piece)
            p++;
        else
            piece = plain;
        size_t bytes = strlen(piece);
        if (used + bytes >= room)
            break;
        memcpy(text + used, piece, bytes);
        used += bytes;
    }
    text[used] = 0;
}

static int create_parents(const char *path)
{
    char part[4096];
    snprintf(part, sizeof part, "%s", path);
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return -1;
        *slash = '/';
    }
    return 0;
}

bool pattern_is_shared(const char *pattern)
{
    for (const char *p = pattern; *p; p++) {
        if (*p == '%' && p[1] == 'r')
            return false;
        p += *p == '%' && p[1];
    }
    return true;
}

int pattern_create(const char *path, bool append)
{
    int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (append ? 0 : O_TRUNC);
    int fd = open(path, flags, 0666);
    if (fd < 0 && errno == ENOENT && create_parents(path) == 0)
        fd = open(path, flags, 0666);
    if (fd < 0)
        complain("cannot create the output file %s: %s", path, strerror(errno));
    return fd;
}
