/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Facts as text and as JSON, byte by byte.
 */
#include "tools/report.h"

#include "unit.h"

#include <string.h>

static char *written;
static size_t length;

static void write_all(bool json)
{
    FILE *to = open_memstream(&written, &length);
    struct report r = report_open(to, json);
    report_group(&r, "first");
    report_text(&r, "text", "%s", "a \"b\" \\ \t");
    report_number(&r, "number", -7);
    report_end(&r);
    report_group(&r, "second");
    report_truth(&r, "truth", true);
    report_end(&r);
    report_group(&r, "none");
    report_end(&r);
    report_close(&r);
    fclose(to);
}

START_TEST(text_is_aligned)
{
    write_all(false);
    ck_assert_str_eq(written, "first\n"
                              "  text                   a \"b\" \\ \t\n"
                              "  number                 -7\n"
                              "\nsecond\n"
                              "  truth                  yes\n"
                              "\nnone\n");
    free(written);
}
END_TEST

START_TEST(json_is_escaped)
{
    write_all(true);
    ck_assert_str_eq(written, "{\n"
                              "  \"first\": {\n"
                              "    \"text\": \"a \\\"b\\\" \\\\ \\u0009\",\n"
                              "    \"number\": -7\n"
                              "  },\n"
                              "  \"second\": {\n"
                              "    \"truth\": true\n"
                              "  },\n"
                              "  \"none\": {\n"
                              "  }\n"
                              "}\n");
    free(written);
}
END_TEST

UNIT_MAIN("report", text_is_aligned, json_is_escaped)
