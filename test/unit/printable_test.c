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
                                         "a\tb",
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
    ck_assert_str_eq(shown("\x1b[31mred\x07\r\n\x7f"), "\\x1b[31mred\\x07\\x0d\\x0a\\x7f");
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
    char to[12];
    for (size_t room = 1; room <= sizeof to; room++) {
        memset(to, '!', sizeof to);
        printable(to, room, "ab\x01\xe2\x86\x92");
        ck_assert_uint_lt(strlen(to), room);
        ck_assert_uint_eq(strlen(to), room > 10  ? 9
                                      : room > 6 ? 6
                                      : room > 5 ? 2
                                      : room > 4 ? room - 4
                                                 : 0);
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

UNIT_MAIN("printable", text_is_shown_as_it_is, what_a_terminal_obeys_is_not,
          what_is_no_character_is_not, there_may_be_little_room, a_mark_may_be_in_front)
