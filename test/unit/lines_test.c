/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/lines.h"
#include "launcher/pattern.h"

#include "test/unit/unit.h"

#include <string.h>

static char seen[1 << 12];
static size_t seen_bytes;
static int calls;

static void record(void *to, const char *text, size_t bytes)
{
    ck_assert_ptr_eq(to, &calls);
    ck_assert_uint_gt(bytes, 0);
    ck_assert_uint_lt(seen_bytes + bytes, sizeof seen);
    memcpy(seen + seen_bytes, text, bytes);
    seen_bytes += bytes;
    seen[seen_bytes] = 0;
    calls++;
}

static struct lines_sink sink(const char *tag)
{
    seen_bytes = 0;
    seen[0] = 0;
    calls = 0;
    return (struct lines_sink){ tag, record, &calls };
}

START_TEST(any_cut_gives_the_same_lines)
{
    static const char text[] = "one\ntwo is longer\n\nfour\nno end";
    static const char tagged[] = "<t> one\n<t> two is longer\n<t> \n<t> four\n<t> no end\n";
    for (int with_tag = 0; with_tag < 2; with_tag++)
        for (size_t a = 0; a < sizeof text; a++)
            for (size_t b = a; b < sizeof text; b++) {
                struct lines lines = { 0 };
                struct lines_sink s = sink(with_tag ? "<t> " : NULL);
                if (a)
                    lines_feed(&lines, &s, text, a);
                if (b > a)
                    lines_feed(&lines, &s, text + a, b - a);
                if (sizeof text - 1 > b)
                    lines_feed(&lines, &s, text + b, sizeof text - 1 - b);
                /* so far only whole lines, and at most one call per piece */
                ck_assert(!seen_bytes || seen[seen_bytes - 1] == '\n');
                ck_assert_int_le(calls, 3);
                lines_flush(&lines, &s, true);
                ck_assert_str_eq(seen, with_tag ? tagged : text);
                lines_free(&lines);
            }
}
END_TEST

START_TEST(a_prompt_gets_one_tag)
{
    struct lines lines = { 0 };
    struct lines_sink s = sink("[0] ");
    lines_feed(&lines, &s, "name? ", 6);
    ck_assert_int_eq(calls, 0);
    lines_flush(&lines, &s, false);
    ck_assert_str_eq(seen, "[0] name? ");
    lines_feed(&lines, &s, "thanks\nnext", 11);
    ck_assert_str_eq(seen, "[0] name? thanks\n");
    lines_flush(&lines, &s, true);
    ck_assert_str_eq(seen, "[0] name? thanks\n[0] next\n");
    lines_free(&lines);
}
END_TEST

START_TEST(a_cut_line_can_be_completed)
{
    struct lines lines = { 0 };
    struct lines_sink s = sink(NULL);
    lines_complete(&lines);
    lines_flush(&lines, &s, true);
    ck_assert_int_eq(calls, 0); /* nothing had begun */
    lines_feed(&lines, &s, "a\nb", 3);
    lines_complete(&lines);
    lines_flush(&lines, &s, true);
    ck_assert_str_eq(seen, "a\nb\n");
    lines_feed(&lines, &s, "c", 1);
    lines_flush(&lines, &s, false);
    lines_complete(&lines);
    lines_flush(&lines, &s, true);
    ck_assert_str_eq(seen, "a\nb\nc\n");
    lines_free(&lines);
}
END_TEST

static void count(void *to, const char *text, size_t bytes)
{
    (void)text;
    *(size_t *)to += bytes;
}

START_TEST(endless_lines_do_not_fill_memory)
{
    struct lines lines = { 0 };
    size_t passed = 0, fed = 0;
    struct lines_sink s = { NULL, count, &passed };
    static char much[1000];
    memset(much, 'x', sizeof much);
    while (fed < 3 * (size_t)LINES_LONGEST) {
        lines_feed(&lines, &s, much, sizeof much);
        fed += sizeof much;
        ck_assert_uint_lt(lines.used, LINES_LONGEST);
        ck_assert_uint_eq(passed + lines.used, fed);
    }
    lines_free(&lines);
}
END_TEST

START_TEST(patterns_are_filled_in)
{
    char text[32];
    struct pattern_words words = { 12, 345, "stderr" };
    pattern_fill("out.%r", &words, text, sizeof text);
    ck_assert_str_eq(text, "out.12");
    pattern_fill("%s-%p-%%-%q%", &words, text, sizeof text);
    ck_assert_str_eq(text, "stderr-345-%-%q%");
    pattern_fill("%r%r%r%r%r", &words, text, 6);
    ck_assert_str_eq(text, "1212");
}
END_TEST

UNIT_MAIN("lines", any_cut_gives_the_same_lines, a_prompt_gets_one_tag,
          a_cut_line_can_be_completed, endless_lines_do_not_fill_memory, patterns_are_filled_in)
