/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is shown of texts that may be none.
 */
#include "runtime/printable.h"

#include "test/unit/unit.h"

#include <string.h>

static const char *shown(const char *text)
{
    static char to[200];
    return printable(to, sizeof to, text);
}

START_TEST(text_is_shown_as_it_is)
{
    static const char *const texts[] = { "",
                                         "ring : 5us ~",
                                         "K\xc3\xb6nig",
                                         "\xe2\x86\x92 \xef\xbf\xbd",
                                         "\xed\x9f\xbf\xee\x80\x80",
                                         "\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ck_assert_str_eq(shown(texts[i]), texts[i]);
}
END_TEST

START_TEST(what_a_terminal_obeys_is_not)
{
    ck_assert_str_eq(shown("\x1b[31mred\x07\r\n\x7f"), "\\x1b[31mred\\x07\\x0d\\n\\x7f");
    ck_assert_str_eq(shown("\xc2\x9b"
                           "31m"),
                     "\\xc2\\x9b31m"); /* the same in one character */
}
END_TEST

START_TEST(what_is_no_character_is_not)
{
    ck_assert_str_eq(shown("K\xf6nig"), "K\\xf6nig");
    ck_assert_str_eq(shown("\xff\x80\xc3"), "\\xff\\x80\\xc3");
    ck_assert_str_eq(shown("\xc0\xaf"), "\\xc0\\xaf");
    ck_assert_str_eq(shown("\xe0\x9f\xbf"), "\\xe0\\x9f\\xbf");
    ck_assert_str_eq(shown("\xed\xa0\x80"), "\\xed\\xa0\\x80");
    ck_assert_str_eq(shown("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
    ck_assert_str_eq(shown("\xe2\x86"), "\\xe2\\x86");
    ck_assert_str_eq(shown("\xf0\x9f\x98"), "\\xf0\\x9f\\x98");
}
END_TEST

START_TEST(there_may_be_little_room)
{
    char to[16];
    const char whole[] = "ab\\x01\xe2\x86\x92";
    for (size_t room = 1; room <= sizeof to; room++) {
        memset(to, '!', sizeof to);
        printable(to, room, "ab\x01\xe2\x86\x92");
        ck_assert_uint_eq(strlen(to), room > 9 ? 9 : room > 6 ? 6 : room > 2 ? 2 : room - 1);
        ck_assert_int_eq(strncmp(to, whole, strlen(to)), 0);
    }
}
END_TEST

START_TEST(a_mark_may_be_in_front)
{
    ck_assert_uint_eq(text_mark("\xef\xbb\xbfring"), 3);
    ck_assert_uint_eq(text_mark("\xef\xbb\xbf"), 3);
    ck_assert_uint_eq(text_mark("\xef\xbbring"), 0);
    ck_assert_uint_eq(text_mark("ring\xef\xbb\xbf"), 0);
    ck_assert_uint_eq(text_mark(""), 0);
}
END_TEST

static const char *in_place(const char *text, size_t room)
{
    static char name[64];
    memset(name, 0, sizeof name);
    strcpy(name, text);
    printable_here(name, room);
    return name;
}

START_TEST(names_fit_into_a_line)
{
    ck_assert_str_eq(in_place("", 32), "");
    ck_assert_str_eq(in_place("MPI_COMM_WORLD, too", 32), "MPI_COMM_WORLD, too");
    ck_assert_str_eq(in_place("a\nb\tc\rd", 32), "a\\nb\\tc\\x0dd");
    ck_assert_str_eq(in_place("\033[31mred\177", 32), "\\x1b[31mred\\x7f");
    ck_assert_str_eq(in_place("Gr\xc3\xbc\xc3\x9f"
                              "e \xe2\x82\xac \xf0\x9f\x98\x80",
                              32),
                     "Gr\xc3\xbc\xc3\x9f"
                     "e \xe2\x82\xac \xf0\x9f\x98\x80");
    ck_assert_str_eq(in_place("\xff\xc3(", 32), "\\xff\\xc3(");        /* no UTF-8 */
    ck_assert_str_eq(in_place("\xc0\x8a", 32), "\\xc0\\x8a");          /* a newline, too long */
    ck_assert_str_eq(in_place("\xed\xa0\x80", 32), "\\xed\\xa0\\x80"); /* half of a pair */
    ck_assert_str_eq(in_place("\xf5\x80\x80\x80", 32), "\\xf5\\x80\\x80\\x80");
    ck_assert_str_eq(in_place("\xc2\x9b", 32), "\\xc2\\x9b");          /* a control */
    ck_assert_str_eq(in_place("\xe2\x80\xae", 32), "\\xe2\\x80\\xae"); /* backwards */
    for (int i = 1; i <= 2; i++) { /* twice is as good as once */
        char text[32];
        strcpy(text, in_place("a\nb\xff", 32));
        ck_assert_str_eq(in_place(text, 32), "a\\nb\\xff");
    }
}
END_TEST

START_TEST(names_without_room_are_cut_between_characters)
{
    ck_assert_str_eq(in_place("abc\n\n", 8), "abc\\n\\n");
    ck_assert_str_eq(in_place("abc\n\n", 7), "abc\\n");
    ck_assert_str_eq(in_place("abc\n\n", 5), "abc");
    ck_assert_str_eq(in_place("ab\xe2\x82", 5), "ab"); /* its end had no room before */
    ck_assert_str_eq(in_place("ab\xe2\x82", 9), "ab\\xe2");
    char whole[4] = { 'a', 'b', 'c', 'd' }; /* without an end */
    printable_here(whole, sizeof whole);
    ck_assert_str_eq(whole, "abc");
}
END_TEST

UNIT_MAIN("printable", text_is_shown_as_it_is, what_a_terminal_obeys_is_not,
          what_is_no_character_is_not, there_may_be_little_room, a_mark_may_be_in_front,
          names_fit_into_a_line, names_without_room_are_cut_between_characters)
