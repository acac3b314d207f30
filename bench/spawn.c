/* SPDX-License-Identifier: BSD-3-Clause
 *
 * spawn - what the kernel alone needs to start N programs and see them end: the lower bound of any
 * launcher on one machine.
 *
 *     ./spawn N program [arguments]         prints nothing; time it from outside
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

extern char **environ;

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: spawn N program [arguments]\n");
        return 2;
    }
    for (int i = atoi(argv[1]); i > 0; i--) {
        pid_t pid;
        if (posix_spawn(&pid, argv[2], NULL, NULL, argv + 2, environ) != 0) {
            perror(argv[2]);
            return 1;
        }
    }
    while (wait(NULL) > 0)
        ;
    return 0;
}
