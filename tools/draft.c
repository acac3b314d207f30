/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The library reads scripts from files, so a draft is read from one without a name.
 */
#define _GNU_SOURCE 1 /* memfd_create */
#include "tools/draft.h"

#include "coll/own.h"
#include "runtime/fail.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const char draft_origin[] = "  # line ";

/* Of a line of the text. */
static int origin_of(const char *text, int line)
{
    int origin;
    for (; text && line > 1; line--)
        text = (text = strchr(text, '\n')) ? text + 1 : NULL;
    const char *end = text && line > 0 ? strchr(text, '\n') : NULL;
    const char *at = end ? strstr(text, draft_origin) : NULL;
    bool says = at && at < end && sscanf(at + strlen(draft_origin), "%d", &origin) == 1;
    return says ? origin : 0;
}

/* "PATH:LINE:COLUMN: why", where nobody knows the path: the line, and why. */
static void complaint_read(const char *path, char why[DRAFT_WHY], int *line)
{
    const char *text = fail_text();
    size_t n = strlen(path);
    int column, used = 0;
    *line = 0;
    if (strncmp(text, path, n) == 0 && sscanf(text + n, ":%d:%n", line, &used) == 1 && used) {
        text += n + (size_t)used;
        used = 0;
        if (sscanf(text, "%d:%n", &column, &used) == 1)
            text += used;
        text += *text == ' ';
    }
    snprintf(why, DRAFT_WHY, "%s", text);
}

static bool write_all(int file, const char *text, size_t bytes)
{
    while (bytes) {
        ssize_t n = write(file, text, bytes);
        if (n < 0 && errno != EINTR)
            return false;
        text += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

bool draft_verify(const struct draft *draft, char why[DRAFT_WHY], int *origin)
{
    const struct plan_key key = { .size = draft->ranks, .pieces = 1 };
    char path[40];
    int line;
    int file = memfd_create("xmpi-draft", MFD_CLOEXEC);
    *origin = 0;
    if (file < 0 || !write_all(file, draft->text, draft->bytes)) {
        snprintf(why, DRAFT_WHY, "no memory to verify %s: %s", draft->name, strerror(errno));
        if (file >= 0)
            close(file);
        return false;
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    bool good =
        own_load(path) == 0 && own_verify(own_find(draft->what, draft->name), &key) == 0;
    if (!good) {
        complaint_read(path, why, &line);
        *origin = origin_of(draft->text, line);
    }
    close(file);
    return good;
}

int draft_write(const struct draft *draft, const char *path)
{
    FILE *f = fopen(path, "we");
    struct stat s;
    if (!f)
        return errno;
    bool good = fwrite(draft->text, 1, draft->bytes, f) == draft->bytes;
    int error = good ? 0 : errno;
    if (fclose(f) != 0 && !error)
        error = errno;
    if (error && stat(path, &s) == 0 && S_ISREG(s.st_mode))
        unlink(path);
    return error;
}
