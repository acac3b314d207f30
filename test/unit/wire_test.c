/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connections between launchers: what arrives is what was sent, and nothing else is taken.
 */
#include "launcher/wire.h"

#include "test/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const uint8_t secret[KEY_BYTES] = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
};

/* ---- the hash ---- */

START_TEST(hashes)
{
    /* From the reference implementation of its authors: texts 00 01 02 .. */
    static const uint8_t empty_key[KEY_BYTES] = { 0xa3, 0x81, 0x7f, 0x04, 0xba, 0x25,
                                                  0xa8, 0xe6, 0x6d, 0xf6, 0x72, 0x14,
                                                  0xc7, 0x55, 0x02, 0x93 };
    uint8_t made[KEY_BYTES];
    ck_assert_uint_eq(siphash(secret, "", 0), 0x726fdb47dd0e0e31u);
    ck_assert_uint_eq(siphash(secret, secret, 15), 0xa129ca6149be45e5u);
    siphash_key(secret, "", 0, made);
    ck_assert_mem_eq(made, empty_key, KEY_BYTES);
}
END_TEST

/* ---- packing ---- */

START_TEST(packs)
{
    char *texts[] = { "one", "", "three", NULL };
    struct pack pack = { 0 };
    pack_number(&pack, -5);
    pack_text(&pack, "word");
    pack_texts(&pack, texts);
    pack_bytes(&pack, "a\0b", 3);
    struct unpack from = { pack.bytes, pack.bytes + pack.n, false };
    size_t n;
    int ntexts;
    ck_assert_int_eq(unpack_number(&from), -5);
    ck_assert_str_eq(unpack_text(&from), "word");
    char **list = unpack_texts(&from, &ntexts);
    ck_assert_int_eq(ntexts, 3);
    ck_assert_str_eq(list[2], "three");
    ck_assert_ptr_null(list[3]);
    ck_assert_mem_eq(unpack_bytes(&from, &n), "a\0b", 3);
    ck_assert(!from.bad && from.at == from.end && n == 3);
    ck_assert_int_eq(unpack_number(&from), 0);
    ck_assert(from.bad);
    free(list);
    pack_free(&pack);
}
END_TEST

/* Whatever the bytes are, nothing outside of them is read. */
START_TEST(packs_of_garbage)
{
    srand(1);
    for (int i = 0; i < 20000; i++) {
        size_t n = (size_t)rand() % 64;
        unsigned char *bytes = malloc(n + 1); /* for sanitizers: no byte more */
        for (size_t k = 0; k < n; k++)
            bytes[k] = rand() % 3 ? 0 : (unsigned char)rand();
        struct unpack from = { (char *)bytes, (char *)bytes + n, false };
        int ntexts;
        size_t m;
        for (int k = 0; k < 4; k++) {
            unpack_int(&from, 0, 10);
            unpack_text(&from);
            free(unpack_texts(&from, &ntexts));
            unpack_bytes(&from, &m);
        }
        ck_assert(from.at <= from.end);
        free(bytes);
    }
}
END_TEST

/* ---- connections ---- */

static struct {
    int frames, sum;
    char why[200];
} seen;

static void frame(struct wire *wire, int kind, struct unpack *payload)
{
    (void)wire;
    seen.frames++;
    seen.sum += kind + (int)(payload->end - payload->at);
}

static void lost(struct wire *wire, const char *why)
{
    (void)wire;
    snprintf(seen.why, sizeof seen.why, "%s", why);
}

static const struct wire_user user = { frame, lost };

static void turn(void)
{
    for (int i = 0; i < 20; i++)
        loop_turn(0);
}

static void pair(struct wire *root, struct wire *daemon, const uint8_t *daemons_secret)
{
    int ends[2];
    memset(&seen, 0, sizeof seen);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    ck_assert_int_eq(loop_open(), 0);
    *root = *daemon = (struct wire){ .user = &user };
    ck_assert_int_eq(wire_open(root, ends[0], true, 0, secret), 0);
    ck_assert_int_eq(wire_open(daemon, ends[1], false, 7, daemons_secret), 0);
    turn();
}

START_TEST(frames_arrive)
{
    struct wire root, daemon;
    struct pack big = { 0 };
    pair(&root, &daemon, secret);
    ck_assert(root.keyed && daemon.keyed);
    ck_assert_int_eq(root.number, 7);
    for (int i = 0; i < 1 << 17; i++)
        pack_number(&big, i);
    for (int i = 0; i < 3; i++) { /* more than the socket holds */
        wire_send(&root, 1, &big);
        wire_send(&daemon, 2, NULL);
    }
    for (int i = 0; i < 2000 && seen.frames < 6; i++)
        loop_turn(0);
    ck_assert_int_eq(seen.frames, 6);
    ck_assert_int_eq(seen.sum, 3 * (1 + 2) + 3 * (int)big.n);
    wire_close(&daemon);
    turn();
    ck_assert_str_eq(seen.why, "the connection was closed by the other side");
    pack_free(&big);
}
END_TEST

/* What is under way is bounded by who sends, and so is the memory for it, though there is always more. */
START_TEST(memory_is_bounded)
{
    enum { PIECE = 1 << 16, AHEAD = 1 << 20, ALL = 64 << 20 };
    struct wire root, daemon;
    struct pack piece = { 0 };
    static char zeros[PIECE];
    int sent = 0;
    pair(&root, &daemon, secret);
    pack_raw(&piece, zeros, PIECE);
    while (sent < ALL) {
        for (; sent - seen.sum < AHEAD; sent += PIECE)
            wire_send(&root, 0x100, &piece);
        seen.sum -= seen.frames * 0x100; /* the kinds */
        seen.frames = 0;
        loop_turn(0);
    }
    ck_assert_uint_lt(root.out.room, 8 * AHEAD);
    wire_close(&daemon);
    wire_close(&root);
    pack_free(&piece);
}
END_TEST

/* Who has dialled waits for an answer, and must find out that there is no way for it any more. */
START_TEST(pulses)
{
    struct wire root, daemon;
    pair(&root, &daemon, secret);
    ck_assert(daemon.pulse && !root.pulse);
    wire_send(&daemon, 1, NULL);
    turn();
    ck_assert(root.pulse);
    wire_close(&daemon);
    wire_close(&root);
}
END_TEST

START_TEST(wrong_key)
{
    static const uint8_t other[KEY_BYTES];
    struct wire root, daemon;
    pair(&root, &daemon, other);
    wire_send(&daemon, 1, NULL);
    turn();
    ck_assert_int_eq(seen.frames, 0);
    ck_assert_int_eq(root.watch.fd, -1);
}
END_TEST

static void pass_on(int from, int to, char *bytes, int n)
{
    ck_assert_int_eq(read(from, bytes, (size_t)n), n);
    ck_assert_int_eq(write(to, bytes, (size_t)n), n);
    turn();
}

/* Who changes the number in an opening on its way does not make one host out of another. */
START_TEST(another_number)
{
    struct wire root = { .user = &user }, daemon = root;
    int a[2], b[2];
    char bytes[40];
    memset(&seen, 0, sizeof seen);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, a), 0);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, b), 0);
    ck_assert_int_eq(loop_open(), 0);
    ck_assert_int_eq(wire_open(&root, a[0], true, 0, secret), 0);
    ck_assert_int_eq(wire_open(&daemon, b[0], false, 7, secret), 0);
    pass_on(a[1], b[1], bytes, 40);
    ck_assert_int_eq(read(b[1], bytes, 40), 40);
    bytes[12] ^= 1;
    ck_assert_int_eq(write(a[1], bytes, 40), 40);
    turn();
    ck_assert(root.keyed && daemon.keyed);
    ck_assert_int_eq(root.number, 6);
    wire_send(&daemon, 1, NULL);
    pass_on(b[1], a[1], bytes, 16);
    ck_assert_int_eq(seen.frames, 0);
    ck_assert_str_eq(seen.why, "wrong key");
    wire_close(&daemon);
    close(a[1]);
    close(b[1]);
}
END_TEST

START_TEST(held)
{
    struct wire root, daemon;
    pair(&root, &daemon, secret);
    wire_hold(&daemon);
    wire_send(&root, 1, NULL);
    turn();
    ck_assert_int_eq(seen.frames, 0);
    wire_release(&daemon);
    ck_assert_int_eq(seen.frames, 1);
    wire_close(&root);
    wire_close(&daemon);
}
END_TEST

/* What a stranger may say: texts of all kinds, our own opening with nonsense behind it, openings of
 * another version. */
START_TEST(strangers)
{
    srand(2);
    for (int i = 0; i < 3000; i++) {
        int ends[2];
        char text[200];
        struct wire root = { .user = &user };
        memset(&seen, 0, sizeof seen);
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        ck_assert_int_eq(loop_open(), 0);
        ck_assert_int_eq(wire_open(&root, ends[0], true, 0, secret), 0);
        for (size_t k = 0; k < sizeof text; k++)
            text[k] = (char)rand();
        if (i % 3)
            memcpy(text, "xmpiwire", 8);
        if (i % 3 == 1)
            memcpy(text + 8, "\1\0\0\0", 4); /* the version */
        if (i % 6 == 1)
            memset(text + 40 + 2, 0, 2); /* a frame that is not long */
        ck_assert_int_eq(write(ends[1], text, sizeof text), sizeof text);
        close(ends[1]);
        turn();
        ck_assert_int_eq(seen.frames, 0);
        ck_assert_int_eq(root.watch.fd, -1);
        ck_assert_str_ne(seen.why, "");
    }
}
END_TEST

/* Each byte of a right frame is changed in turn. */
START_TEST(damaged_frames)
{
    for (int at = 0; at < 16 + 24; at++) {
        struct wire root, daemon;
        struct pack pack = { 0 };
        char bytes[40];
        int ends[2];
        pair(&root, &daemon, secret);
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        int fd = dup(daemon.watch.fd);
        dup2(ends[0], daemon.watch.fd); /* what it sends comes to us */
        for (int i = 0; i < 3; i++)
            pack_number(&pack, i);
        wire_send(&daemon, 3, &pack);
        ck_assert_int_eq(read(ends[1], bytes, sizeof bytes), sizeof bytes);
        bytes[at] ^= 4;
        ck_assert_int_eq(write(fd, bytes, sizeof bytes), sizeof bytes);
        close(fd);
        turn();
        ck_assert_int_eq(seen.frames, 0);
        pack_free(&pack);
        wire_close(&root);
        wire_close(&daemon);
        close(ends[0]);
        close(ends[1]);
    }
}
END_TEST

UNIT_MAIN("wire", hashes, packs, packs_of_garbage, frames_arrive, memory_is_bounded, pulses,
          wrong_key, another_number, held, strangers, damaged_frames)
