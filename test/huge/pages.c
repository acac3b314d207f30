/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory that ranks of a node copy again and again lies in large pages afterwards, and holds what it held.
 *
 *     pages probe             exit 0: this kernel moves memory to large pages; else it says why it does not
 *     pages CASE moved        at least one block was, and the kernel says so as well
 *     pages CASE unmoved      none was
 *     pages CASE any
 */
#include "../counted.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

enum { BLOCK = 2 << 20, ROOM = 4 * BLOCK, BYTES = 3 * BLOCK - 12288, TURNS = 24, FEW = 2 };

/* ---- memory ---- */

static char *room(int flags)
{
    char *at = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
    CHECK(at != MAP_FAILED);
    return at;
}

static void fill(char *at, int seed)
{
    for (size_t i = 0; i < BYTES; i++)
        at[i] = (char)byte_of(i, seed);
}

static void check(const char *at, int seed)
{
    for (size_t i = 0; i < BYTES; i += 61) /* some of each page */
        CHECK((unsigned char)at[i] == byte_of(i, seed));
}

/* KiB of this memory in large pages, as the kernel has it; what it has merged with its neighbours counts as a
 * whole. */
static long kernel_says(const char *at)
{
    char line[256];
    unsigned long from, to;
    long kib = 0;
    int is_ours = 0;
    FILE *file = fopen("/proc/self/smaps", "r");
    CHECK(file);
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            is_ours = from < (unsigned long)at + ROOM && (unsigned long)at < to;
        else if (is_ours && strncmp(line, "AnonHugePages:", 14) == 0)
            kib += strtol(line + 14, NULL, 10);
    }
    fclose(file);
    return kib;
}

/* ---- cases: what is reached of a rank, and stays ---- */

static void shift(char *out, char *in, int turn)
{
    int to = (me + 1) % n, from = (me + n - 1) % n;
    fill(out, me + turn);
    MPI_Sendrecv(out, BYTES, MPI_BYTE, to, 0, in, BYTES, MPI_BYTE, from, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    check(in, from + turn);
    check(out, me + turn);
}

static long messages_in(int flags)
{
    char *out = room(flags), *in = room(flags);
    for (int turn = 0; turn < TURNS; turn++)
        shift(out, in, turn);
    return kernel_says(out) + kernel_says(in);
}

static long messages(void)
{
    return messages_in(MAP_PRIVATE);
}

static long in_shared_memory(void)
{
    return messages_in(MAP_SHARED);
}

static long from_one_address(void)
{
    char *out = room(MAP_PRIVATE), *in = room(MAP_PRIVATE);
    for (int turn = 0; turn < TURNS; turn++) {
        CHECK(mmap(out, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                   -1, 0) == out);
        shift(out, in, turn);
    }
    return 1;
}

static long with_children(void)
{
    char *out = room(MAP_PRIVATE), *in = room(MAP_PRIVATE);
    for (int turn = 0; turn < TURNS; turn++) {
        fill(in, 99);
        pid_t child = turn % 8 == 4 ? fork() : -1;
        if (child == 0) {
            int good = 1;
            for (int i = 0; i < 20; i++, usleep(1000))
                for (size_t k = 0; k < BYTES; k += 4096)
                    good &= (unsigned char)in[k] == byte_of(k, 99);
            _exit(good ? 0 : 1);
        }
        shift(out, in, turn);
        int status = 0;
        CHECK(child < 0 || (waitpid(child, &status, 0) == child && status == 0));
    }
    return 1;
}

static long collectives(void)
{
    char *out = room(MAP_PRIVATE), *in = room(MAP_PRIVATE);
    int block = BYTES / n / 4 * 4;
    for (int turn = 0; turn < TURNS; turn++) {
        fill(out, me + turn);
        MPI_Alltoall(out, block, MPI_BYTE, in, block, MPI_BYTE, MPI_COMM_WORLD);
        for (int r = 0; r < n; r++)
            for (int i = 0; i < block; i += 61)
                CHECK((unsigned char)in[r * block + i] ==
                      byte_of((size_t)(me * block + i), r + turn));
        MPI_Allreduce(out, in, BYTES, MPI_BYTE, MPI_BXOR, MPI_COMM_WORLD);
        for (size_t i = 0; i < BYTES; i += 61) {
            unsigned char all = 0;
            for (int r = 0; r < n; r++)
                all ^= byte_of(i, r + turn);
            CHECK((unsigned char)in[i] == all);
        }
        check(out, me + turn);
        MPI_Bcast(out, BYTES, MPI_BYTE, turn % n, MPI_COMM_WORLD);
        check(out, turn % n + turn);
    }
    return kernel_says(out) + kernel_says(in);
}

/* Does the block in which the heap begins hold anything else? */
static int is_heap_alone(void)
{
    char line[256];
    unsigned long from, to, before = 0;
    int alone = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    CHECK(file);
    while (fgets(line, sizeof line, file) && sscanf(line, "%lx-%lx ", &from, &to) == 2) {
        if (strstr(line, "[heap]"))
            alone = before <= from / BLOCK * BLOCK;
        before = to;
    }
    fclose(file);
    return alone;
}

/* Short buffers between the program's own memory, in a heap whose ends are no ends of blocks. */
static long in_heap(void)
{
    enum { SHORT = 50000, TIMES = 3000, OTHERS = 80 };
    char *other[OTHERS], *out, *in;
    int to = (me + 1) % n, from = (me + n - 1) % n, first = is_heap_alone() ? OTHERS : 0;
    for (int i = first; i < OTHERS; i++)
        CHECK((other[i] = malloc(SHORT)));
    CHECK((out = malloc(SHORT)) && (in = malloc(SHORT)));
    for (int turn = 0; turn < TIMES; turn++) {
        memset(out, me + turn, SHORT);
        MPI_Sendrecv(out, SHORT, MPI_BYTE, to, 0, in, SHORT, MPI_BYTE, from, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        for (size_t i = 0; i < SHORT; i += 61)
            CHECK(in[i] == (char)(from + turn) && out[i] == (char)(me + turn));
        if (turn % 100 == 99 && first < OTHERS) { /* malloc does as ever */
            memset(other[first], turn, SHORT);
            free(other[first++]);
        }
    }
    for (int i = first; i < OTHERS; i++)
        free(other[i]);
    for (int i = 0; i < OTHERS; i++)
        CHECK((other[i] = malloc(SHORT)) && memset(other[i], i, SHORT));
    for (int i = 0; i < OTHERS; i++) {
        CHECK(other[i][0] == i && other[i][SHORT - 1] == i);
        free(other[i]);
    }
    return kernel_says(out);
}

static long few_times(void)
{
    char *out = room(MAP_PRIVATE), *in = room(MAP_PRIVATE);
    for (int turn = 0; turn < FEW; turn++)
        shift(out, in, turn);
    return 0;
}

static const struct {
    const char *name;
    long (*perform)(void); /* KiB of large pages at this rank */
} cases[] = { { "messages", messages },
              { "collectives", collectives },
              { "shared", in_shared_memory },
              { "one-address", from_one_address },
              { "children", with_children },
              { "few", few_times },
              { "heap", in_heap } };

/* ---- */

static int probe(void)
{
    char *at = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char text[64] = "";
    FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
    if (!file || !fgets(text, sizeof text, file) || strstr(text, "[never]")) {
        printf("the kernel has no transparent huge pages, or may not use them\n");
        return 1;
    }
    fclose(file);
    if (strstr(text, "[always]")) {
        printf("the kernel uses large pages anyway\n");
        return 1;
    }
    memset(at, 1, ROOM);
    unsigned long first = ((unsigned long)at + BLOCK - 1) / BLOCK * BLOCK;
    if (madvise((void *)first, BLOCK, MADV_COLLAPSE) != 0)
        printf("MADV_COLLAPSE: %s\n", strerror(errno));
    return kernel_says(at) < BLOCK / 1024;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "probe") == 0)
        return probe();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    CHECK(argc == 3);
    counter_open("xmpi_blocks_moved", MPI_T_PVAR_CLASS_COUNTER);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (strcmp(argv[1], cases[i].name) == 0) {
            long kib = cases[i].perform(), all_kib = 0;
            unsigned long long blocks = counted();
            MPI_Allreduce(&kib, &all_kib, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
            CHECK(strcmp(argv[2], "moved") != 0 || (blocks > 0 && all_kib > 0));
            CHECK(strcmp(argv[2], "unmoved") != 0 || blocks == 0);
            counter_close();
            return MPI_Finalize();
        }
    CHECK(!"no such case");
}
