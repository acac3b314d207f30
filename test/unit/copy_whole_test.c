/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/copy.h"

#include "test/unit/files.h"

#include <stdint.h>

#define CPU "sys/devices/system/cpu/cpu"

enum { MIB = 1 << 20 };

/* Processor 0 is of another kind than 9; nothing is known of 5, and little of 6. */
static void machine_make(void)
{
    strcpy(root, "/tmp/xmpi-copy-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    put(CPU "0/cache/index3/size", "8192K\n");
    put(CPU "0/cache/index3/shared_cpu_map", "00000000,0000000f\n");
    put(CPU "9/cache/index3/size", "32768K\n");
    put(CPU "9/cache/index3/shared_cpu_map", "00000001,00003300\n");
    put(CPU "5/cache/index2/size", "1024K\n");
    put(CPU "6/cache/index3/size", "65536K\n");
    put(CPU "7/cache/index3/size", "");
}

START_TEST(the_share_of_a_rank)
{
    static const struct {
        int cpu, ranks;
        size_t limit;
    } rows[] = {
        { 9, 1, 16 * MIB },
        { 9, 0, 16 * MIB }, /* one rank that no launcher has started */
        { 9, 2, 8 * MIB },
        { 9, 3, (size_t)(32 * MIB) / 6 },
        { 9, 5, (size_t)(32 * MIB) / 10 },
        { 9, 64, (size_t)(32 * MIB) / 10 }, /* five CPUs share it, whoever else is there */
        { 0, 1, 4 * MIB },
        { 0, 2, 2 * MIB },
        { 0, 4, 2 * MIB }, /* never less */
        { 6, 1, 32 * MIB },
        { 6, 8, 4 * MIB },
        { 5, 4, SIZE_MAX },
        { 7, 4, SIZE_MAX },
        { 8, 4, SIZE_MAX },
    };
    char command[96];
    machine_make();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ck_assert_msg(copy_limit(root, rows[i].cpu, rows[i].ranks) == rows[i].limit,
                      "row %zu: %zu, not %zu", i, copy_limit(root, rows[i].cpu, rows[i].ranks),
                      rows[i].limit);
    snprintf(command, sizeof command, "rm -r %s", root);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

/* On both sides of the limit, also where the two sides overlap. */
START_TEST(bytes_arrive)
{
    enum { BYTES = 4 * MIB + 77 };
    char *memory = malloc(3 * (size_t)BYTES), *plain = malloc(3 * (size_t)BYTES);
    static const size_t lengths[] = { 0, 1, 2 * MIB - 1, 2 * MIB, 2 * MIB + 1, BYTES };
    static const size_t distances[] = { 1, 64, 2 * MIB, BYTES, BYTES + 5 };
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        for (size_t k = 0; k < 2 * sizeof distances / sizeof distances[0]; k++) {
            size_t d = distances[k / 2], to = k % 2 ? d : 0, from = k % 2 ? 0 : d;
            for (size_t b = 0; b < 3 * (size_t)BYTES; b++)
                memory[b] = plain[b] = (char)(b * 2654435761u >> 13);
            copy_whole(memory + to, memory + from, lengths[i]);
            memmove(plain + to, plain + from, lengths[i]);
            ck_assert(memcmp(memory, plain, 3 * (size_t)BYTES) == 0);
        }
    free(memory);
    free(plain);
}
END_TEST

/* By lines: what is behind the last one stays as it is. */
START_TEST(lines_arrive)
{
    enum { MOST = 5 * COPY_LINE };
    static _Alignas(COPY_LINE) char to[MOST + COPY_LINE];
    static char from[MOST + COPY_LINE];
    for (size_t b = 0; b < sizeof from; b++)
        from[b] = (char)(b * 2654435761u >> 13);
    for (size_t bytes = 0; bytes <= MOST; bytes++) {
        const char *begin = from + bytes % 7;
        memset(to, '+', sizeof to);
        copy_streamed_lines(to, begin, bytes);
        ck_assert(memcmp(to, begin, bytes) == 0);
        for (size_t b = (bytes + COPY_LINE - 1) / COPY_LINE * COPY_LINE; b < sizeof to; b++)
            ck_assert_int_eq(to[b], '+');
    }
}
END_TEST

UNIT_MAIN("copy_whole", the_share_of_a_rank, bytes_arrive, lines_arrive)
