/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Amounts of bytes: what is one, what is none, what follows it.
 */
#include "runtime/amount.h"

#include "unit.h"

#include <stdint.h>

#define AMOUNT(text, wanted)                                                                   \
    {                                                                                          \
        text, wanted                                                                           \
    }

START_TEST(amounts)
{
    static const struct {
        const char *text;
        size_t wanted;
    } table[] = {
        AMOUNT("0", 0),         AMOUNT("4096", 4096),
        AMOUNT("64k", 65536),   AMOUNT("64K", 65536),
        AMOUNT("64KiB", 65536), AMOUNT("64kb", 65536),
        AMOUNT("8B", 8),        AMOUNT("3M", 3 << 20),
        AMOUNT("1t", 1L << 40), AMOUNT("9223372036854775807", PTRDIFF_MAX),
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        size_t bytes = 1;
        ck_assert_msg(amount_read(table[i].text, &bytes), "%s", table[i].text);
        ck_assert_uint_eq(bytes, table[i].wanted);
    }
}
END_TEST

START_TEST(no_amounts)
{
    static const char *const table[] = { "",     "k",    "-1",  " 1",  "1.5k", "nan",   "inf",
                                         "64kx", "64iB", "1kk", "1 k", "0x10", "8192Pi" };
    size_t bytes;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        ck_assert_msg(!amount_read(table[i], &bytes), "%s", table[i]);
}
END_TEST

START_TEST(too_much)
{
    static const char *const table[] = { "9223372036854775808", "99999999999999999999",
                                         "9007199254740992k", "8388608T" };
    size_t bytes;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        ck_assert_ptr_null(amount_begin(table[i], &bytes));
}
END_TEST

START_TEST(what_follows)
{
    size_t bytes;
    ck_assert_str_eq(amount_begin("12k..1M", &bytes), "..1M");
    ck_assert_uint_eq(bytes, 12 << 10);
    ck_assert_str_eq(amount_begin("12KiB,3", &bytes), ",3");
    ck_assert_str_eq(amount_begin("7..", &bytes), "..");
    ck_assert_uint_eq(bytes, 7);
}
END_TEST

UNIT_MAIN("amount", amounts, no_amounts, too_much, what_follows)
