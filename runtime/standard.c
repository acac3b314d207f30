/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A stream that was closed becomes /dev/null, opened for reading only.
 */
#include "runtime/standard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void standard_open(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY | O_CLOEXEC) != fd)
            return; /* there is no such device */
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
