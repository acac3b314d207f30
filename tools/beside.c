/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See beside.h.  The path comes from the kernel, so it is right whatever PATH and the current
 * directory are.
 */
#include "tools/beside.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool beside_find(const char *who, char self[BESIDE_CHARS], char launcher[BESIDE_CHARS])
{
    static const char *const places[] = { "xmpirun", "../launcher/xmpirun" };
    ssize_t n = readlink("/proc/self/exe", self, PATH_MAX - 1);
    if (n <= 0) {
        perror("xmpi: /proc/self/exe");
        return false;
    }
    self[n] = '\0';
    int folder = (int)(strrchr(self, '/') - self);
    for (int i = 0; i < 2; i++) {
        snprintf(launcher, BESIDE_CHARS, "%.*s/%s", folder, self, places[i]);
        if (access(launcher, X_OK) == 0)
            return true;
    }
    fprintf(stderr, "xmpi %s: there is no xmpirun beside %s\n", who, self);
    return false;
}
