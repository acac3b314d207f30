/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A sender whose buffer cannot be read.   unreadable none|end|hole BYTES
 *
 *     none    there is nothing where it should be
 *     end     the count runs past its end
 *     hole    some pages in the middle are not for reading
 */
#include "test/conform/check.h"

#include <sys/mman.h>

enum { HOLE = 64 << 10 };

static char *buffer_of(const char *what, size_t bytes)
{
    char *all =
        mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t half = (bytes / 2) & ~(size_t)4095;
    CHECK(all != MAP_FAILED);
    if (strcmp(what, "none") == 0)
        return (char *)0x10000;
    if (strcmp(what, "end") == 0)
        CHECK(mprotect(all + half, 2 * bytes - half, PROT_NONE) == 0);
    if (strcmp(what, "hole") == 0)
        CHECK(mprotect(all + half, HOLE, PROT_NONE) == 0);
    return all;
}

int main(int argc, char **argv)
{
    int bytes = atoi(argv[2]);
    MPI_Init(&argc, &argv);
    if (world_rank() == 0)
        MPI_Send(buffer_of(argv[1], (size_t)bytes), bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(malloc((size_t)bytes), bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    return check_done();
}
