/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Letters of all lengths arrive whole and in order, also those that no socket holds at once; and mail to a
 * launcher itself.
 */
#include "launcher/letters.h"
#include "launcher/job.h"
#include "launcher/mail.h"

#include "test/unit/unit.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const size_t lengths[] = { 0, 1, 7, 8, 70000, 3, 5000000, 65536, 2 };
enum { LETTERS = sizeof lengths / sizeof lengths[0] };

static int came;

static char byte_of(int letter, size_t at)
{
    return (char)(letter * 31 + (int)(at % 251));
}

static void take(struct letters *letters, const struct unpack *letter)
{
    (void)letters;
    ck_assert_int_lt(came, LETTERS);
    ck_assert_uint_eq((size_t)(letter->end - letter->at), lengths[came]);
    for (size_t at = 0; at < lengths[came]; at++)
        ck_assert_int_eq(letter->at[at], byte_of(came, at));
    came++;
}

START_TEST(letters_arrive_whole)
{
    struct letters from = { .came = take }, to = { .came = take };
    int ends[2];
    ck_assert_int_eq(loop_open(), 0);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    letters_open(&from, ends[0]);
    letters_open(&to, ends[1]);
    for (int i = 0; i < LETTERS; i++) {
        struct pack letter = { 0 };
        for (size_t at = 0; at < lengths[i]; at++) {
            char byte = byte_of(i, at);
            pack_raw(&letter, &byte, 1);
        }
        letters_send(&from, &letter);
        pack_free(&letter);
    }
    for (int turns = 0; came < LETTERS && turns < 100000; turns++)
        loop_turn(1000);
    ck_assert_int_eq(came, LETTERS);
    letters_close(&from);
    for (int turns = 0; to.watch.fd >= 0 && turns < 10; turns++)
        loop_turn(1000);
    ck_assert_int_eq(to.watch.fd, -1);
    letters_send(&to, &(struct pack){ 0 }); /* nothing happens */
}
END_TEST

static size_t taken;

static void count(struct letters *letters, const struct unpack *letter)
{
    (void)letters;
    taken += (size_t)(letter->end - letter->at);
}

/* What has been sent takes no memory, though there is always more. */
START_TEST(memory_is_bounded)
{
    enum { PIECE = 1 << 16, AHEAD = 1 << 20, ALL = 64 << 20 };
    static char zeros[PIECE];
    struct letters from = { .came = count }, to = { .came = count };
    struct pack letter = { .bytes = zeros, .n = PIECE };
    int ends[2];
    size_t sent = 0;
    ck_assert_int_eq(loop_open(), 0);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    letters_open(&from, ends[0]);
    letters_open(&to, ends[1]);
    while (sent < ALL) {
        for (; sent - taken < AHEAD; sent += PIECE)
            letters_send(&from, &letter);
        loop_turn(0);
    }
    ck_assert_uint_lt(from.out.room, 8 * AHEAD);
    letters_close(&from);
    letters_close(&to);
}
END_TEST

/* Who has ended has sent all; and nobody needs a turn of the loop to take what is there. */
START_TEST(last_letters_are_not_lost)
{
    enum { LARGE = 6 };
    struct letters to = { .came = take };
    int ends[2];
    came = 0;
    ck_assert_int_eq(loop_open(), 0);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    pid_t child = fork();
    if (child == 0) {
        struct letters from = { .watch = { .fd = ends[1] } };
        struct pack letter = { 0 };
        close(ends[0]);
        for (int i = 0; i <= LARGE; i++) {
            letter.n = 0;
            for (size_t at = 0; at < lengths[i]; at++) {
                char byte = byte_of(i, at);
                pack_raw(&letter, &byte, 1);
            }
            letters_send(&from, &letter);
        }
        letters_flush(&from, 100000);
        _exit(0);
    }
    close(ends[1]);
    letters_open(&to, ends[0]);
    while (came < LARGE)
        loop_turn(1000);
    while (waitpid(child, NULL, WNOHANG) == 0)
        loop_turn(1);
    letters_finish(&to);
    ck_assert_int_eq(came, LARGE + 1);
    ck_assert_int_eq(to.watch.fd, -1);
}
END_TEST

static int heard, asked_job;

static void hear(struct job *job, struct address from, struct unpack *text)
{
    (void)job;
    ck_assert_int_eq(from.job, 1);
    ck_assert_int_eq(from.host, mail_xmpirun.host);
    heard = unpack_int(text, 0, 100);
}

static bool some_way(int to_job, const struct pack *letter)
{
    (void)letter;
    asked_job = to_job;
    return to_job == 3;
}

/* xmpirun with a job on one host: what is for itself, for a job with mail, and for one without. */
START_TEST(mail_finds_its_way)
{
    struct plan plan = { .world = 4, .nnodes = 1 };
    struct job job = { .plan = &plan };
    struct pack text = { 0 };
    pack_number(&text, 42);
    mail_handle(MAIL_GET, hear, NULL);
    mail_handle(MAIL_GOT, hear, NULL);
    mail_letter = some_way;
    mail_send(&job, mail_xmpirun, MAIL_GET, &text);
    ck_assert_int_eq(heard, 42);
    heard = 0;
    mail_send(&job, (struct address){ 1, mail_host_of(3) }, MAIL_GET, &text);
    ck_assert_int_eq(heard, 42);
    heard = 0;
    mail_send(&job, (struct address){ 3, mail_host_of(0) }, MAIL_GET, &text);
    ck_assert_int_eq(heard, 0);
    ck_assert_int_eq(asked_job, 3);
    mail_send(&job, (struct address){ 2, mail_host_of(0) }, MAIL_GET, &text);
    ck_assert_int_eq(heard, 42);
    heard = 0;
    mail_send(&job, (struct address){ 2, mail_host_of(0) }, MAIL_GOT, &text);
    ck_assert_int_eq(heard, 0); /* an answer for another job is not for us */
    mail_send(&job, (struct address){ 1, -2 }, MAIL_GET, &text);
    ck_assert_int_eq(heard, 0); /* no launcher has such a number */
    text.n = (size_t)64 << 20;
    ck_assert(!mail_send(&job, mail_xmpirun, MAIL_GET, &text));
    ck_assert_int_eq(heard, 0); /* no wire would take it */
    pack_free(&text);
}
END_TEST

UNIT_MAIN("letters", letters_arrive_whole, memory_is_bounded, last_letters_are_not_lost,
          mail_finds_its_way)
