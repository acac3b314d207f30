/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Output for a slow reader: all of it comes, in order, and what has been written takes no memory.
 */
#include "launcher/out.h"

#include "test/unit/unit.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PIECE = 1 << 16, ALL = 64 << 20, PERIOD = 251 };

static struct {
    char pattern[PIECE + PERIOD];
    size_t written, read;
} way;

/* Read what is there, at most a piece. */
static void read_piece(int fd)
{
    static char piece[PIECE];
    ssize_t n = recv(fd, piece, sizeof piece, MSG_DONTWAIT);
    ck_assert_int_gt(n, 0);
    ck_assert_mem_eq(piece, way.pattern + way.read % PERIOD, (size_t)n);
    way.read += (size_t)n;
}

/* As other hosts do: more comes as soon as there is room. */
START_TEST(memory_is_bounded)
{
    int ends[2];
    for (int i = 0; i < PIECE + PERIOD; i++)
        way.pattern[i] = (char)(i % PERIOD);
    ck_assert_int_eq(loop_open(), 0);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    struct out out = { .watch.fd = ends[0], .kind = OUT_SOCKET };
    while (way.read < ALL) {
        while (way.written < ALL && !out_is_full(&out)) {
            out_write(&out, NULL, way.pattern + way.written % PERIOD, PIECE);
            way.written += PIECE;
        }
        read_piece(ends[1]);
        out_resume(&out);
    }
    ck_assert(out_is_idle(&out));
    ck_assert_uint_eq(way.read, ALL);
    ck_assert_uint_lt(out.room, 8 << 20);
    free(out.pending);
    close(ends[0]);
    close(ends[1]);
}
END_TEST

UNIT_MAIN("out", memory_is_bounded)
