/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tuning files: what is read, which row decides, and that rows which can never decide are refused
 * with file, line and reason.  And what is said of algorithms that were not chosen.
 */
#include "coll/explain.h"
#include "coll/rules.h"
#include "coll/tuning.h"
#include "mpi.h"
#include "runtime/fail.h"
#include "runtime/hw.h"
#include "runtime/param.h"

#include "test/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/xmpi-tuning.XXXXXX", path[64];

static const char *file_with(const char *text)
{
    if (!*path) {
        ck_assert_ptr_nonnull(mkdtemp(folder));
        snprintf(path, sizeof path, "%s/table", folder);
    }
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
    return path;
}

static void file_gone(void)
{
    unlink(path);
    rmdir(folder);
}

static struct question asking(enum collective what, int ranks, size_t bytes)
{
    return (struct question){
        .what = what, .one_node = true, .ranks = ranks, .nodes = 1, .bytes = bytes
    };
}

static const char *text =
    "xmpi-tuning 1   # comment\n"
    "machine 12345678 a machine\n"
    "\n"
    "allreduce nodes=1 ranks=2..4 bytes=..48 : tiny 0.1us, doubling 0.3us\n"
    "allreduce noncommutative bytes=1k.. : spread\n"
    "allreduce ranks=8.. : ring:pieces=4 1e3us, circulant 1001us\n"
    "allreduce nodes=2.. : circulant 12us\n";

static const char *answer(const struct tuning *t, const struct question *q, int *line)
{
    const struct tuned *use = NULL;
    const struct tuning_row *row = tuning_find(t, q, &use);
    *line = row ? row->line : 0;
    return row ? use->use.algorithm->name : "";
}

START_TEST(the_first_row_that_fits_decides)
{
    struct tuning *t;
    int line;
    ck_assert_int_eq(tuning_read(file_with(text), &t), 0);
    ck_assert_int_eq(t->nrows, 4);
    ck_assert_str_eq(t->machine, "12345678");
    ck_assert_int_eq(t->row[2].use[0].use.pieces, 4);
    ck_assert(t->row[2].use[0].us == 1000 && t->row[1].use[0].us < 0);
    struct question q = asking(COLL_ALLREDUCE, 4, 48);
    ck_assert_str_eq(answer(t, &q, &line), "tiny");
    ck_assert_int_eq(line, 4);
    q.bytes = 49;
    ck_assert_str_eq(answer(t, &q, &line), "");
    q.ranks = 8;
    ck_assert_str_eq(answer(t, &q, &line), "ring");
    q.ranks = 5;
    q.nodes = 2;
    ck_assert_str_eq(answer(t, &q, &line), "circulant");
    q = asking(COLL_BCAST, 4, 48);
    ck_assert_str_eq(answer(t, &q, &line), "");
    tuning_free(t);
    file_gone();
}
END_TEST

/* Of a row, the first algorithm that can; a row without one is no answer. */
START_TEST(what_cannot_is_passed_over)
{
    struct tuning *t;
    int line;
    ck_assert_int_eq(tuning_read(file_with(text), &t), 0);
    struct question q = asking(COLL_ALLREDUCE, 2, 8);
    q.no_tiny = "no flags";
    ck_assert_str_eq(answer(t, &q, &line), "doubling");
    q = asking(COLL_ALLREDUCE, 9, 5000);
    q.order_matters = true;
    ck_assert_str_eq(answer(t, &q, &line), "spread");
    q.bytes = 100;
    ck_assert_str_eq(answer(t, &q, &line), "");
    tuning_free(t);
    file_gone();
}
END_TEST

static void refused(const char *row, const char *why)
{
    char all[5000], place[100];
    struct tuning *t = NULL;
    snprintf(all, sizeof all, "xmpi-tuning 1\n# second line\n%s\nbarrier : tiny\n", row);
    ck_assert_int_eq(tuning_read(file_with(all), &t), MPI_ERR_OTHER);
    snprintf(place, sizeof place, "%s:3: ", path);
    ck_assert_msg(strncmp(fail_text(), place, strlen(place)) == 0, "%s", fail_text());
    ck_assert_msg(strstr(fail_text(), why) != NULL, "\"%s\" lacks \"%s\"", fail_text(), why);
}

/* No team has 0 ranks, and not every algorithm can be asked of them. */
START_TEST(a_reach_may_begin_anywhere)
{
    struct tuning *t = NULL;
    ck_assert_int_eq(tuning_read(file_with("allreduce ranks=..7 : swing\n"), &t), 0);
    tuning_free(t);
    file_gone();
}
END_TEST

START_TEST(rows_that_can_never_decide_are_refused)
{
    refused("allreduce \x1b[2J\xff : ring", "\"\\x1b[2J\\xff\" is no condition");
    refused("allreduce ranks=5..7 : swing", "swing cannot work on so many ranks: the number of "
                                            "ranks is not a power of two; on 4 or 8 it can");
    refused("allgather ranks=3 : neighbour", "the number of ranks is odd; on 2 or 4 it can");
    refused("allreduce ranks=4 ranks=5 : ring", "ranks= is there twice");
    refused("allreduce bytes=1.. bytes=..8 : ring", "bytes= is there twice");
    refused("allreduce bytes=any bytes=8 : ring", "bytes= is there twice");
    refused("device any : CUDA_IPX=1", "CUDA_IPX is not set by devices; there are CUDA_IPC");
    refused("device any : CUDA_IPC=1q", "CUDA_IPC=1q is no number");
    refused("device any : CUDA_IPC", "\"CUDA_IPC\" is no setting");
    refused("device any : CUDA_IPC=1 us", "is no setting");
    refused("device any : CUDA_IPC=1,", "\"\" is no setting");
    refused("device : CUDA_IPC=1", "wants the name of a GPU");
    refused("device any CUDA_IPC=1", "is no row");
    refused("allreduce : rnig", "no algorithm \"rnig\" for allreduce; there are: tiny");
    refused("allreduze : ring", "no collective \"allreduze\"; there are: barrier bcast");
    refused("allreduce noncommutative : ring", "does not fold in rank order");
    refused("bcast noncommutative : chain", "no operation that might not commute");
    refused("allreduce nodes=2..4 : tiny", "several nodes");
    refused("allreduce ranks=65.. : tiny", "64 ranks");
    refused("allreduce bytes=1025.. : tiny", "shared slot");
    refused("barrier bytes=3 : dissemination", "without regard to bytes");
    refused("allreduce ranks=6 : swing", "so many ranks");
    refused("barrier : dissemination:pieces=2", "cannot be cut");
    refused("allreduce nodes=1 ranks=1 : attach 1us",
            "attach works by memory that ranks share");
    refused("allreduce ranks=..1 : tiny", "tiny works by memory that ranks share");
    refused("allreduce ranks=1 : levels",
            "levels works between places, and the row is for one");
    refused("allreduce ranks=1 : factored", "factored works between places");
    refused("alltoall ranks=1 : leaders", "leaders works between places");
    refused("allreduce : ring:pieces=2:pieces=3", "after ring pieces= is there twice");
    refused("allreduce : ring:pieces=2:throttle=1:pieces=2", "pieces= is there twice");
    refused("allreduce : ring:pieces=0", "pieces=n");
    refused("allreduce bytes=5..4 : ring", "N..M");
    refused("allreduce bytes= : ring", "N..M");
    refused("allreduce bytes=.. : ring", "N..M");
    refused("allreduce ranks=4x : ring", "N..M");
    refused("allreduce size=4 : ring", "no condition");
    refused("allreduce : ring 5", "not a time");
    refused("allreduce : ring 5us 6us", "not a time");
    refused("allreduce : ring -5us", "\"-5us\" after ring is not a time");
    refused("allreduce : ring nanus", "not a time");
    refused("allreduce : ring infus", "not a time");
    refused("allreduce ranks=0 : ring", "ranks=0 is never so; give a number from 1 on");
    refused("allreduce nodes=..0 : ring", "nodes=..0 is never so");
    refused("allreduce nodes=4.. ranks=..3 : ring",
            "nodes=4 and more never have so few ranks as 3");
    refused("allreduce : ring 5us,", "missing between commas");
    refused("allreduce ranks=4", "is no row");
    refused("xmpi-tuning 2", "version 2");
    refused("xmpi-tuning 4294967297", "version 4294967297");
    refused("allreduce : ring:pieces=4294967298", "pieces=n with n from 1 to 4096");
    refused("allreduce : ring:throttle=4294967297", "throttle=m with m from 1");
    refused("allreduce : halving:radix=4294967298", "radix=k with k from 2 to 64");
    refused("gatherv bytes=..8 : linear", "without regard to bytes");
    file_gone();
}
END_TEST

START_TEST(a_line_is_so_long_at_most)
{
    char row[4200];
    struct tuning *t = NULL;
    memset(row, ' ', sizeof row - 1);
    row[sizeof row - 1] = '\0';
    memcpy(row, "allreduce\t:\tring", strlen("allreduce\t:\tring"));
    refused(row, "a line has 4000 characters at most");
    row[4000] = '\0'; /* and the last one need not end */
    ck_assert_int_eq(tuning_read(file_with(row), &t), 0);
    ck_assert_int_eq(t->nrows, 1);
    tuning_free(t);
    file_gone();
}
END_TEST

/* Where two ends of a message need not agree on its length they cut it differently. */
START_TEST(pieces_of_what_may_be_short_are_refused)
{
    struct tuning *t = NULL;
    ck_assert_int_eq(tuning_read(file_with("gatherv : linear:pieces=4\n"), &t), 0);
    tuning_free(t);
    setenv("XMPI_SHORT_BLOCKS", "1", 1);
    params_read();
    refused("gatherv : linear:pieces=4",
            "linear cannot be cut in pieces with XMPI_SHORT_BLOCKS=1");
    ck_assert_int_eq(tuning_read(file_with("bcast : chain:pieces=4\n"), &t), 0);
    tuning_free(t);
    file_gone();
}
END_TEST

START_TEST(a_file_that_is_named_must_be_right)
{
    struct question q = asking(COLL_ALLREDUCE, 2, 100);
    struct choice choice;
    setenv("XMPI_TUNING", "/nowhere/at/all", 1);
    params_read();
    ck_assert_int_eq(choose_answer(&q, NULL, &choice), MPI_ERR_OTHER);
    ck_assert(strstr(fail_text(), "XMPI_TUNING: cannot read /nowhere/at/all") != NULL);
}
END_TEST

START_TEST(zero_bytes_are_no_text)
{
    struct tuning *t = NULL;
    FILE *f = fopen(file_with(""), "w");
    ck_assert_ptr_nonnull(f);
    fprintf(f, "# one\nallreduce : ring%c 5us\n", '\0');
    fclose(f);
    ck_assert_int_ne(tuning_read(path, &t), 0);
    ck_assert_msg(strstr(fail_text(), "table:2: it has a zero byte, so it is no text"), "%s",
                  fail_text());
    file_gone();
}
END_TEST

/* As some editors write it. */
START_TEST(a_byte_order_mark_is_skipped)
{
    struct tuning *t = NULL;
    ck_assert_int_eq(tuning_read(file_with("\xef\xbb\xbf"
                                           "xmpi-tuning 1\nbarrier : dissemination\n"),
                                 &t),
                     0);
    ck_assert_int_eq(t->nrows, 1);
    tuning_free(t);
    file_gone();
}
END_TEST

/* It is told where it differs from this one. */
START_TEST(the_machine_is_shown)
{
    struct tuning *t = NULL;
    ck_assert_int_eq(
        tuning_read(file_with("machine 12\x1b[2J\xc3\nbarrier : dissemination\n"), &t), 0);
    ck_assert_str_eq(t->machine, "12\\x1b[2J\\xc3");
    tuning_free(t);
    file_gone();
}
END_TEST

START_TEST(a_folder_is_no_file)
{
    struct tuning *t = NULL;
    ck_assert_int_eq(tuning_read("/", &t), MPI_ERR_OTHER);
    ck_assert_msg(strstr(fail_text(), "cannot read /: Is a directory") != NULL, "%s",
                  fail_text());
}
END_TEST

START_TEST(a_file_that_is_named_decides)
{
    struct question q = asking(COLL_ALLREDUCE, 9, 100);
    struct choice choice;
    setenv("XMPI_TUNING", file_with(text), 1);
    params_read();
    ck_assert_int_eq(choose_answer(&q, NULL, &choice), 0);
    ck_assert_str_eq(choice.algorithm->name, "ring");
    ck_assert_int_eq(choice.by, BY_TUNING);
    ck_assert_int_eq(choice.row, 6);
    char *said = NULL;
    size_t size;
    FILE *f = open_memstream(&said, &size);
    explain_text(f, &q, &choice, "");
    fclose(f);
    ck_assert_msg(strstr(said, "table:6)") && strstr(said, "slower by 0 %"), "%s", said);
    ck_assert_msg(strstr(said, "not measured") && strstr(said, "1000.00 us"), "%s", said);
    free(said);
    tuning_forget();
    file_gone();
}
END_TEST

/* The one in its usual place: of this machine only, and only for ranks of one node. */
START_TEST(a_file_that_lies_about_decides_on_one_node)
{
    struct question q = asking(COLL_ALLREDUCE, 9, 100);
    struct choice choice;
    char all[500], usual[300];
    file_with("");
    setenv("XDG_CONFIG_HOME", folder, 1);
    unsetenv("XMPI_TUNING");
    params_read();
    tuning_default_path(usual, sizeof usual);
    ck_assert(strncmp(usual, folder, strlen(folder)) == 0);
    snprintf(all, sizeof all, "%s/xmpi", folder);
    ck_assert_int_eq(mkdir(all, 0700), 0);
    snprintf(all, sizeof all, "xmpi-tuning 1\nmachine %08x\nallreduce : ring\n",
             hw_machine_number());
    ck_assert_int_eq(rename(file_with(all), usual), 0);
    ck_assert_int_eq(choose_answer(&q, NULL, &choice), 0);
    ck_assert_str_eq(choice.algorithm->name, "ring");
    q.one_node = false;
    ck_assert_int_eq(choose_answer(&q, NULL, &choice), 0);
    ck_assert_int_eq(choice.by, BY_RULE);
    q.one_node = true;
    ck_assert_int_eq(rename(file_with("machine 0\nallreduce : ring\n"), usual), 0);
    tuning_forget();
    ck_assert_int_eq(choose_answer(&q, NULL, &choice), 0);
    ck_assert_int_eq(choice.by, BY_RULE);
    unlink(usual);
    snprintf(all, sizeof all, "%s/xmpi", folder);
    rmdir(all);
    file_gone();
}
END_TEST

/* An allreduce of 4 KiB on a node, chosen by rule 8: what is said of others? */
static void is_told(bool order_matters, const char *why)
{
    struct question q = asking(COLL_ALLREDUCE, 4, 4096);
    struct choice choice;
    char *said = NULL;
    size_t size;
    FILE *f = open_memstream(&said, &size);
    q.order_matters = order_matters;
    ck_assert(choose_by_rule(&q, &choice));
    ck_assert_str_eq(choice.algorithm->name, "doubling");
    explain_text(f, &q, &choice, "");
    fclose(f);
    ck_assert_msg(strstr(said, why) != NULL, "\"%s\" lacks \"%s\"", said, why);
    free(said);
}

/* Rule 9 is for operations that do not commute, 12 for longer data, 11 and 13 name the same algorithm. */
START_TEST(later_rules_are_those_that_hold)
{
    is_told(false, "another case: rule 9, the operation does not commute");
    is_told(true, "a later rule: rule 9, the operation does not commute");
    is_told(false, "another case: rule 12, from 4194304 bytes on");
    is_told(false, "a later rule: rule 13\n");
}
END_TEST

UNIT_MAIN("tuning", later_rules_are_those_that_hold, the_first_row_that_fits_decides,
          what_cannot_is_passed_over, a_reach_may_begin_anywhere,
          rows_that_can_never_decide_are_refused, a_line_is_so_long_at_most,
          pieces_of_what_may_be_short_are_refused, a_file_that_is_named_must_be_right,
          a_folder_is_no_file, zero_bytes_are_no_text, a_byte_order_mark_is_skipped,
          the_machine_is_shown, a_file_that_is_named_decides,
          a_file_that_lies_about_decides_on_one_node)
