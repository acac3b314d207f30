/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A stdout that was closed becomes /dev/null, opened for reading only.
 */
#define _GNU_SOURCE 1 /* dup3 */
#include "runtime/standard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool was_closed;

void standard_open(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        bool out = fd == STDOUT_FILENO;
        if (fcntl(fd, F_GETFD) >= 0)
            continue;
        was_closed |= out;
        if (open("/dev/null", (out ? O_RDONLY : O_RDWR) | O_CLOEXEC) != fd)
            return; /* there is no such device */
    }
}

void standard_discard(void)
{
    int fd = was_closed ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    dup3(fd, STDOUT_FILENO, O_CLOEXEC);
    close(fd);
}

int standard_close(const char *who, int code)
{
    errno = 0;
    bool lost = fflush(stdout) != 0 || ferror(stdout);
    int why = errno;
    if (!lost)
        return code;
    fprintf(stderr, "%s: cannot write%s%s\n", who, why ? ": " : "", why ? strerror(why) : "");
    return code ? code : 1;
}
