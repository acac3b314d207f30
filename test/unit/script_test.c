/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Algorithms as text: the examples are right for every number of ranks, mistakes in the text are
 * found when it is read, with line and column, and wrong plans before they are used, with the line
 * that wrote the step.
 */
#include "coll/bind.h"
#include "coll/check.h"
#include "coll/own.h"
#include "coll/script.h"
#include "mpi.h"
#include "runtime/fail.h"

#include "test/unit/unit.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char path[] = "/tmp/xmpi-script.XXXXXX";

static const char *file_with(const char *text)
{
    static int file = -1;
    if (file < 0)
        file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(ftruncate(file, 0), 0);
    ck_assert_int_eq(pwrite(file, text, strlen(text), 0), (int)strlen(text));
    return path;
}

/* The text is refused; the complaint begins with file:place and says `why`. */
static void refused(const char *text, const char *place, const char *why)
{
    struct script scripts[4];
    char begin[80];
    int n;
    ck_assert_int_eq(script_read(file_with(text), scripts, 4, &n), MPI_ERR_OTHER);
    snprintf(begin, sizeof begin, "%s:%s: ", path, place);
    ck_assert_msg(strncmp(fail_text(), begin, strlen(begin)) == 0, "%s", fail_text());
    ck_assert_msg(strstr(fail_text(), why) != NULL, "\"%s\" lacks \"%s\"", fail_text(), why);
}

#define HEAD        "algorithm a for allreduce\nblocks in 1 out 1 tmp 0\n"
#define MOST_NUMBER "(999999999999999999 * 9 + 223372036854775816)"
_Static_assert(999999999999999999 * 9 + 223372036854775816 == LONG_MAX,
               "a long cannot be more");

START_TEST(mistakes_in_the_text_are_found_when_it_is_read)
{
    refused("algoritm a for bcast", "1:1", "expected algorithm, found algoritm");
    refused("\xef\xbb\xbf"
            "algoritm a for bcast",
            "1:1", "expected algorithm, found algoritm");
    refused("\x1b[2J\x07", "1:1", "expected algorithm, found \\x1b");
    refused("algorithm a for bcost", "1:17", "no collective bcost");
    refused("algorithm a for bcast\nblocks in 1", "2:12", "expected out, found the end");
    refused(HEAD "flod out[0] in[0] <- 1 first", "3:1", "expected send, recv, fold");
    refused(HEAD "send in[0 -> 1", "3:11", "expected ], found ->");
    refused(HEAD "send in[0] -> ", "3:15", "expected a number or a name, found the end");
    refused(HEAD "send in[0] <- 1", "3:12", "expected ->, found <-");
    refused(HEAD "send un[0] -> 1", "3:6", "expected in, out or tmp");
    refused(HEAD "recv in[0] <- 1", "3:6", "in is never written");
    refused(HEAD "fold out[0] in[0] <- 1 left", "3:24", "expected first, found left");
    refused(HEAD "if me == 0 { send in[0] -> q }", "3:28", "there is no name q");
    refused(HEAD "let x = p-me", "3:9", "a difference needs blanks");
    refused(HEAD "for i in 0 .. 1 { let x = i }\nlet y = i", "4:9", "there is no name i");
    refused(HEAD "if me { copy out[0] in[0]", "3:26", "expected }, found the end");
    refused(HEAD "call bcast tree (0, p, 1, 0) in in[0] out out[0]", "3:6",
            "no plan tree for bcast");
    refused(HEAD "call allreduce tiny (0, p, 1, 0) in in[0] out out[0]", "3:6", "no plan tiny");
    refused("algorithm a for allgather\nblocks in 1 out p tmp 0\n"
            "call neighbor_allgather direct (0, p, 1, 0) in in[0] out out[0 .. p - 1]",
            "3:6", "no plan direct for neighbor_allgather that could be called");
    refused(HEAD "require p == 9999999999999999999", "3:14",
            "9999999999999999999 is too large a number; 18 digits at most");
#define NEXT "\nalgorithm a for bcast\nblocks in 0 out 1 tmp 0"
    refused(HEAD NEXT NEXT NEXT NEXT, "10:1",
            "one algorithm too many; beside those of other files there is room for 4");
    char deep[1000];
    memset(deep, '(', sizeof deep);
    memcpy(deep, HEAD "let x = ", strlen(HEAD "let x = "));
    deep[sizeof deep - 1] = '\0';
    refused(deep, "3:209", "more than 200 levels");
    unlink(path);
}
END_TEST

/* Not cut off where the room for it ends, nor taken for an empty one. */
START_TEST(what_cannot_be_read_in_whole_is_refused)
{
    struct script scripts[4];
    int n;
    char *text = malloc((1 << 20) + 2);
    ck_assert_ptr_nonnull(text);
    memset(text, ' ', (1 << 20) + 1);
    text[(1 << 20) + 1] = '\0';
    memcpy(text, HEAD, strlen(HEAD));
    ck_assert_int_eq(script_read(file_with(text), scripts, 4, &n), MPI_ERR_OTHER);
    ck_assert_msg(strstr(fail_text(), "it has more than 1048576 bytes") != NULL, "%s",
                  fail_text());
    text[1 << 20] = '\0';
    ck_assert_int_eq(script_read(file_with(text), scripts, 4, &n), 0);
    free(scripts[0].words);
    free(scripts[0].text);
    free(scripts[0].path);
    free(text);
    unlink(path);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fprintf(f, "algorithm a for bcast\nblocks in 0 out 1 tmp 0%c\nflod out[0]\n", '\0');
    fclose(f);
    ck_assert_int_eq(script_read(path, scripts, 4, &n), MPI_ERR_OTHER);
    ck_assert_msg(strstr(fail_text(), "it has a zero byte, so it is no text") != NULL, "%s",
                  fail_text());
    unlink(path);
    ck_assert_int_eq(script_read("/", scripts, 4, &n), MPI_ERR_OTHER);
    ck_assert_msg(strstr(fail_text(), "cannot read /: Is a directory") != NULL, "%s",
                  fail_text());
}
END_TEST

/* Its complaint has room for the reason all the same. */
START_TEST(a_file_may_have_a_long_path)
{
    enum { FOLDERS = 3, LETTERS = 150 };
    struct script scripts[4];
    char folder[FOLDERS * (LETTERS + 1) + 40] = "/tmp/xmpi-long.XXXXXX",
                                          file[sizeof folder + 8];
    size_t end[FOLDERS + 1];
    int n;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    for (int i = 0; i < FOLDERS; i++) {
        end[i] = strlen(folder);
        folder[end[i]] = '/';
        memset(folder + end[i] + 1, 'f', LETTERS);
        folder[end[i] + 1 + LETTERS] = '\0';
        ck_assert_int_eq(mkdir(folder, 0700), 0);
    }
    snprintf(file, sizeof file, "%s/a.plan", folder);
    FILE *f = fopen(file, "w");
    ck_assert_ptr_nonnull(f);
    fputs("algorithm a for bcost", f);
    fclose(f);
    ck_assert_int_eq(script_read(file, scripts, 4, &n), MPI_ERR_OTHER);
    ck_assert_msg(strstr(fail_text(), "fff/a.plan:1:17: there is no collective bcost") != NULL,
                  "%s", fail_text());
    unlink(file);
    rmdir(folder);
    for (int i = FOLDERS - 1; i >= 0; i--) {
        folder[end[i]] = '\0';
        rmdir(folder);
    }
}
END_TEST

static struct script *one(const char *text)
{
    static struct script scripts[4];
    int n;
    ck_assert_msg(script_read(file_with(text), scripts, 4, &n) == 0, "%s", fail_text());
    ck_assert_int_eq(n, 1);
    return scripts;
}

/* What the plan of rank 0 of 3 complains about. */
static void fails(const char *text, const char *why)
{
    struct plan plan;
    struct plan_key key = { .size = 3, .pieces = 1, .script = one(text) };
    ck_assert_int_eq(plan_make(&plan, &key, script_program), MPI_ERR_OTHER);
    ck_assert_msg(strstr(fail_text(), why) != NULL, "\"%s\" lacks \"%s\"", fail_text(), why);
    plan_free(&plan);
}

START_TEST(mistakes_that_show_later_are_found_then)
{
    fails(HEAD "require p == 8", "3:9: it does not serve 3 ranks");
    fails(HEAD "send in[1] -> 1", ":3:6: rank 0 of 3: in[1 .. 1], but there are 1 blocks");
    fails(HEAD "send in[0] -> p", ":3:15: rank 0 of 3: rank 3 is not there");
    fails(HEAD "send in[0] -> me", "rank 0 is itself");
    fails(HEAD "let x = 1 / me", "division by 0");
    fails(HEAD "let x = 1 mod (0 - 1)", "mod by -1");
    fails(HEAD "for i in 0 .. 10000000 { let x = i }", "statements");
    fails(HEAD "for i in 0 .. 1000000000 { }", "statements");
    fails(HEAD "let low = (1 << 31) * (1 << 31) * 2\nsend in[low .. low - 1] -> 1",
          "but there are 1 blocks");
    fails(HEAD "send in[0 - 1 .. " MOST_NUMBER "] -> 1",
          "in[-1 .. 9223372036854775807], but there are 1 blocks");
    fails("algorithm a for allreduce\nblocks in 0 - 1 out 1 tmp 0", "-1 blocks of in");
    fails("algorithm a for allreduce\nblocks in p out p tmp 0\ncopy out[0 .. 1] in[0]",
          "2 blocks and 1 blocks");
    fails(HEAD "call allreduce ring (0, p, 1, 0) in in[0] out out[0]",
          "ring needs a multiple of 3 blocks of in, not 1");
    fails(HEAD "call bcast binomial (0, 4, 1, 0) in in[0] out out[0]", "no such group");
    unlink(path);
}
END_TEST

/* Numbers: the plan has a step when the expression is 1. */
static void holds(const char *expression)
{
    char text[300];
    struct plan plan;
    snprintf(text, sizeof text, HEAD "if (%s) == 1 { copy out[0] in[0] }", expression);
    struct plan_key key = { .me = 2, .size = 5, .root = 3, .pieces = 1, .script = one(text) };
    ck_assert_int_eq(plan_make(&plan, &key, script_program), 0);
    ck_assert_msg(plan.nsteps == 1, "%s", expression);
    plan_free(&plan);
}

START_TEST(numbers_are_what_they_should_be)
{
    holds("me == 2 and p == 5 and root == 3");
    holds("1 + 2 * 3 == 7 and (1 + 2) * 3 == 9 and 7 / 2 == 3 and 10 - 3 - 2 == 5");
    holds("(0 - 1) mod 5 == 4 and 7 mod 5 == 2 and -1 mod p == 4");
    holds("1234567890 mod 7 == 3 and 4294967296 / 2147483648 == 2");
    holds("1 << 3 == 8 and (5 xor 1) == 4");
    holds("min(3, 4) == 3 and max(3, 4) == 4 and min(4, 3) == 3 and max(4, 3) == 4");
    holds("log2(1) == 0 and log2(2) == 1 and log2(5) == 3 and log2(8) == 3");
    holds("not 0 and not (1 == 2) and (0 or 1) and 2 < 3 and 3 <= 3 and 3 > 2 and 3 != 2");
    unlink(path);
}
END_TEST

/* The last turn is the last, though there is no number after it. */
START_TEST(loops_go_up_to_the_largest_number)
{
    enum { TURNS = 3 };
    struct plan plan;
    struct plan_key key = { .size = 2, .pieces = 1 };
    key.script = one(HEAD "let most = " MOST_NUMBER "\n"
                          "for i in most - 2 .. most { copy out[0] in[0] }\n"
                          "for i in most .. most - 1 { copy out[0] in[0] }");
    ck_assert_msg(plan_make(&plan, &key, script_program) == 0, "%s", fail_text());
    ck_assert_int_eq(plan.nsteps, TURNS);
    plan_free(&plan);
    unlink(path);
}
END_TEST

static void right(const char *file, enum collective what, const char *name, bool cut)
{
    char place[400];
    snprintf(place, sizeof place, "%s/%s", PLANS, file);
    ck_assert_msg(own_load(place) == 0, "%s", fail_text());
    const struct algorithm *a = own_find(what, name);
    ck_assert_ptr_nonnull(a);
    for (int p = 1; p <= 20; p++)
        for (int root = 0; root < (what == COLL_BCAST ? p : 1); root++)
            for (int pieces = 1; pieces <= (cut ? 2 : 1); pieces++) {
                struct plan_key key = { .size = p, .root = root, .pieces = pieces };
                ck_assert_msg(own_verify(a, &key) == 0, "%s", fail_text());
            }
}

START_TEST(the_examples_are_right)
{
    right("ring.plan", COLL_ALLREDUCE, "my-ring", true);
    right("binomial.plan", COLL_BCAST, "my-tree", true);
    right("two-level.plan", COLL_ALLREDUCE, "my-levels", false);
}
END_TEST

/* Loaded, but wrong: refused for each number of ranks, with the line that wrote the step. */
static void wrong(const char *name, const char *rest, const char *why)
{
    char text[400], file[sizeof path + 8];
    snprintf(text, sizeof text, "algorithm %s for allreduce ordered\n%s", name, rest);
    snprintf(file, sizeof file, "%s", file_with(text));
    char *unique = strdup(file);
    snprintf(file, sizeof file, "%s.%s", path, name); /* a file is loaded once */
    ck_assert_int_eq(rename(unique, file), 0);
    ck_assert_msg(own_load(file) == 0, "%s", fail_text());
    ck_assert_int_eq(rename(file, unique), 0);
    free(unique);
    struct plan_key key = { .size = 3, .pieces = 1 };
    ck_assert_int_eq(own_verify(own_find(COLL_ALLREDUCE, name), &key), MPI_ERR_OTHER);
    ck_assert_msg(strstr(fail_text(), why) != NULL, "\"%s\" lacks \"%s\"", fail_text(), why);
}

START_TEST(wrong_plans_are_refused_before_use)
{
    wrong("w1", "blocks in 1 out 1 tmp 0\ncopy out[0] in[0]\n", ":1: algorithm w1 is wrong");
    wrong("w2", "blocks in 1 out 1 tmp 0\n\nif me == 0 { send in[0] -> 1 }\n",
          ":4: algorithm w2 is wrong");
    wrong("w3",
          "blocks in 1 out 1 tmp 0\nlet other = (me + 1) mod p\nrecv out[0] <- (me - 1) mod p\n"
          "send out[0] -> other\n",
          ":4: algorithm w3 is wrong");
    wrong("w4", "blocks in p + 1 out 1 tmp 0\n", "algorithm w4 is wrong");
    wrong("w5", "blocks in 2 out 1 tmp 0\ncopy out[0] in[0]\n",
          "rank 0 cuts out in other blocks than in");
    wrong("w6", "blocks in 0 out 0 tmp 1\n", "cuts the vector in no block");
    wrong("w8", "blocks in 3 out 3 tmp 1\ncopy tmp[0] in[1]\n",
          "takes part 1 of the vector for part 0");
    wrong("w9", "blocks in 2 out 2 tmp 4\ncopy tmp[1 .. 2] in[0 .. 1]\n",
          "not one behind the other");
    wrong("w7", "blocks in 1 + me out 1 + me tmp 0\n", "other blocks than rank 0");
    unlink(path);
}
END_TEST

/* What the verifier says of a text, of its world. */
static struct verdict verdict_of(const char *text, int p, int pieces, bool in_place)
{
    const struct script *s = one(text);
    const struct world world = { .what = s->what,
                                 .program = script_program,
                                 .p = p,
                                 .pieces = pieces,
                                 .in_place = in_place,
                                 .ordered = s->ordered,
                                 .script = s,
                                 .program_order = true,
                                 .most = 2000000,
                                 .most_blocks = 16000000 };
    struct verdict verdict;
    if (check_world(&world, &verdict))
        ck_assert_str_eq(verdict.text, "");
    return verdict;
}

static void says(const struct verdict *verdict, const char *why)
{
    ck_assert_msg(strstr(verdict->text, why) != NULL, "\"%s\" lacks \"%s\"", verdict->text,
                  why);
}

/* Each message into the same block waits for the one before it. */
START_TEST(a_plan_of_many_steps_is_soon_verified)
{
    clock_t begun = clock();
    struct verdict verdict = verdict_of(
        "algorithm a for bcast\nblocks in 0 out 1 tmp 0\n"
        "for i in 1 .. 200000 { if me == 0 { send out[0] -> 1 } else { recv out[0] <- 0 } }",
        2, 1, false);
    ck_assert_str_eq(verdict.text, "");
    ck_assert_int_lt((clock() - begun) / CLOCKS_PER_SEC, 20);
    unlink(path);
}
END_TEST

/* Refused before any is made, whatever it is of which there is too much. */
START_TEST(a_plan_that_is_too_much_is_soon_refused)
{
    clock_t begun = clock();
    struct verdict verdict = verdict_of(
        "algorithm a for bcast\nblocks in 0 out 1000000 tmp 0\nfor i in 1 .. 200 {\n"
        "if me == 0 { send out[0 .. 999999] -> 1 } else { recv out[0 .. 999999] <- 0 } }",
        2, 1, false);
    ck_assert(verdict.undecided);
    says(&verdict, "more than 16000000 blocks");
    verdict =
        verdict_of("algorithm a for bcast\nblocks in 0 out 1000000 tmp 0\n", 17, 1, false);
    says(&verdict, "more than 16000000 blocks");
    verdict = verdict_of(
        "algorithm a for alltoall\nblocks in p out p tmp p\n"
        "for i in 1 .. 1000000 { call alltoall spread (0, p, 1, 0) in in[0 .. p - 1]\n"
        "out out[0 .. p - 1] tmp tmp[0 .. p - 1] }",
        100, 1, false);
    says(&verdict, "more than 2000000 steps");
    char *text = malloc(300000), *at = text;
    ck_assert_ptr_nonnull(text);
    at = stpcpy(at, "algorithm a for barrier\nblocks in 0 out 0 tmp 0\n"
                    "for i in 1 .. 500000 { if 0 {\n");
    for (int i = 0; i < 20000; i++)
        at = stpcpy(at, "require 1\n");
    strcpy(at, "} }");
    verdict = verdict_of(text, 1, 1, false);
    ck_assert_str_eq(verdict.text, ""); /* what is not taken is not walked through */
    free(text);
    ck_assert_int_lt((clock() - begun) / CLOCKS_PER_SEC, 60);
    unlink(path);
}
END_TEST

/* A broadcast has no operation, even if what it makes is written over. */
START_TEST(only_reductions_add_up)
{
    struct verdict verdict =
        verdict_of("algorithm a for allgather\nblocks in 1 out p tmp 1\n"
                   "copy tmp[0] in[0]\njoin tmp[0] in[0] first\ncopy out[me] in[0]\n"
                   "call allgather spread (0, p, 1, 0) in in[0] out out[0 .. p - 1]",
                   3, 1, false);
    says(&verdict, "rank 0 step 1: adds up, and allgather has no operation");
    verdict =
        verdict_of("algorithm a for bcast\nblocks in 0 out 1 tmp 0\n"
                   "if me != 0 { fold out[0] out[0] <- 0 last\nrecv out[0] <- 0 }\n"
                   "if me == 0 { for i in 1 .. 2 * (p - 1) { send out[0] -> (i + 1) / 2 } }",
                   3, 1, false);
    says(&verdict, "rank 1 step 0: adds up, and bcast has no operation");
    unlink(path);
}
END_TEST

/* Blocks of OUT may be of different length: what does not belong there may be too long, even for a while. */
START_TEST(out_holds_what_belongs_there)
{
    static const char detour[] =
        "blocks in 1 out p tmp 0\n"
        "call COLLECTIVE spread (0, p, 1, 0) in in[0] out out[0 .. p - 1]\n"
        "if p > 2 and me == 0 { send out[0] -> 1 }\n"
        "if p > 2 and me == 1 { recv out[2] <- 0\nrecv out[2] <- 2 }\n"
        "if p > 2 and me == 2 { send out[2] -> 1 }\n";
    char text[400];
    snprintf(text, sizeof text, "algorithm a for allgather\n%s", detour);
    memcpy(strstr(text, "COLLECTIVE"), "allgather ", 10);
    struct verdict verdict = verdict_of(text, 4, 1, false);
    ck_assert_str_eq(verdict.text, "");
    snprintf(text, sizeof text, "algorithm a for allgatherv\n%s", detour);
    memcpy(strstr(text, "COLLECTIVE"), "allgatherv", 10);
    verdict = verdict_of(text, 4, 1, false);
    says(&verdict, "rank 1 step 7: writes into out what does not belong there");
    verdict = verdict_of("algorithm a for bcast\nblocks in 0 out 2 tmp 0\n"
                         "if me == 0 { send out[1] -> 1\nsend out[0 .. 1] -> 1 }\n"
                         "if me == 1 { recv out[0] <- 0\nrecv out[0 .. 1] <- 0 }\n",
                         2, 1, false);
    says(&verdict, "rank 1 step 0: writes into out what does not belong there");
    verdict = verdict_of("algorithm a for bcast\nblocks in 0 out 2 tmp 0\n"
                         "if me == 0 { send out[1] -> 1\nsend out[0 .. 1] -> 1 }\n"
                         "if me == 1 { recv out[1] <- 0\nrecv out[0 .. 1] <- 0 }\n",
                         2, 3, false);
    ck_assert_str_eq(verdict.text, "");
    unlink(path);
}
END_TEST

#define BARRIER "algorithm a for barrier\nblocks in 0 out 0 tmp "

/* Whatever its blocks say: its messages are empty. */
START_TEST(a_barrier_holds_everybody_back)
{
    for (int p = 1; p <= 70; p += 1 + 4 * (p > 5)) {
        struct verdict verdict =
            verdict_of(BARRIER "1\nif me == 0 { for r in 1 .. p - 1 { recv tmp[0] <- r }\n"
                               "for r in 1 .. p - 1 { send tmp[0] -> r } }\n"
                               "else { send tmp[0] -> 0\nrecv tmp[0] <- 0 }",
                       p, 1, false);
        ck_assert_str_eq(verdict.text, "");
        verdict =
            verdict_of(BARRIER "p\ncall barrier dissemination (0, p, 1, 0) in in[1 .. 0]\n"
                               "out out[1 .. 0] tmp tmp[0 .. p - 1]",
                       p, 1, false);
        ck_assert_str_eq(verdict.text, "");
    }
    struct verdict verdict = /* nothing makes the sends of rank 0 wait */
        verdict_of(BARRIER "p + 1\nif me == 0 { for r in 1 .. p - 1 { recv tmp[r] <- r }\n"
                           "for r in 1 .. p - 1 { send tmp[0] -> r } }\n"
                           "else { send tmp[0] -> 0\nrecv tmp[0] <- 0 }",
                   3, 1, false);
    says(&verdict, "rank 1 may leave before rank 2 has come");
    verdict = verdict_of(BARRIER "0\n", 4, 1, false);
    says(&verdict, "rank 0 may leave before rank 1 has come");
    unlink(path);
}
END_TEST

/* The line of the step that a verdict names. */
static int line_of(const char *text, int pieces, bool in_place)
{
    struct verdict verdict = verdict_of(text, 2, pieces, in_place);
    const struct script *s = one(text);
    const struct algorithm a = { .what = s->what, .program = script_program, .script = s };
    const struct plan_key key = { .size = 2, .pieces = pieces };
    ck_assert_str_ne(verdict.text, "");
    return own_line(&a, &key, in_place, verdict.text);
}

START_TEST(verdicts_get_the_line_that_wrote_the_step)
{
    static const char lost[] =
        "algorithm a for allreduce cut\nblocks in 1 out 1 tmp 0\n"
        "copy out[0] in[0]\nif me == 0 {\nsend in[0] -> 1\nsend in[0] -> 1\n"
        "} else {\nfold out[0] in[0] <- 0 last\n}\n";
    static const char late[] =
        "algorithm a for bcast cut\nblocks in 0 out 1 tmp 0\n"
        "if me == 0 {\nsend out[0] -> 1\nsend out[0] -> 1\nsend out[0] -> 1\n"
        "} else {\nrecv out[0] <- 0\nrecv out[0] <- 0\n}\n";
    ck_assert_int_eq(line_of(lost, 1, false), 6);
    ck_assert_int_eq(line_of(lost, 1, true), 6);
    ck_assert_int_eq(line_of(lost, 2, false), 6);
    for (int pieces = 1; pieces <= 5; pieces++)
        ck_assert_int_eq(line_of(late, pieces, false), 6);
    unlink(path);
}
END_TEST

START_TEST(a_text_may_have_many_else_ifs)
{
    static const char head[] = HEAD "if p == 0 {\n}", tail[] = " else { copy out[0] in[0] }";
    static const char other[] = "else if 0{}";
    enum { TIMES = 90000 };
    char *text = malloc(sizeof head + sizeof tail + TIMES * sizeof other), *at = text;
    ck_assert_ptr_nonnull(text);
    at = stpcpy(at, head);
    for (int i = 0; i < TIMES; i++)
        at = stpcpy(at, other);
    strcpy(at, tail);
    struct rlimit before;
    getrlimit(RLIMIT_STACK, &before);
    setrlimit(RLIMIT_STACK, &(struct rlimit){ 1 << 20, before.rlim_max });
    struct plan plan;
    struct plan_key key = { .size = 1, .pieces = 1, .script = one(text) };
    ck_assert_msg(plan_make(&plan, &key, script_program) == 0, "%s", fail_text());
    ck_assert_int_eq(plan.nsteps, 1);
    plan_free(&plan);
    setrlimit(RLIMIT_STACK, &before);
    free(text);
    holds("p == 5");
    fails(HEAD "if p == 3 { } else if 1 { require 0 }\nif p == 2 { require 0 } else if p == 3 "
               "{ let x = 1 / 0 }",
          "4:");
    unlink(path);
}
END_TEST

/* One that is cut off would not be found by its name. */
START_TEST(a_name_may_not_be_too_long)
{
    static const char longest[] = "a-name-of-fortyseven-letters-which-are-the-most";
    char text[120];
    snprintf(text, sizeof text, "algorithm %s for bcast\nblocks in 0 out 1 tmp 0", longest);
    ck_assert_str_eq(one(text)->name, longest);
    snprintf(text, sizeof text, "algorithm %sx for bcast\nblocks in 0 out 1 tmp 0", longest);
    refused(text, "1:11", "a name of 48 letters; 47 at most");
    unlink(path);
}
END_TEST

/* In the words of those who write plans. */
START_TEST(verdicts_name_rooms_verbs_and_orders)
{
    struct verdict verdict = verdict_of(
        "algorithm a for bcast\nblocks in 1 out 1 tmp 0\ncopy out[0] in[0]", 1, 1, false);
    says(&verdict, "in place 0: rank 0 step 0: uses in, which it does not have");
    verdict = verdict_of("algorithm a for gather\nblocks in 1 out 1 tmp 0\ncopy out[0] in[0]",
                         2, 1, false);
    says(&verdict, "rank 0 cuts out in 1 blocks instead of 2");
    verdict =
        verdict_of("algorithm a for allgather\nblocks in 1 out p tmp 0\ncopy out[me] in[0]\n"
                   "recv out[1 - me] <- 1 - me\nsend in[0] -> 1 - me\n",
                   2, 1, false);
    says(&verdict,
         "in place 0, in program order: deadlock: rank 0 waits at step 1, recv from 1");
    /* Where a link is full nobody is ever first: the copy waits for 0, which waits for 1, which waits for what
     * is behind the copy. */
    verdict =
        verdict_of("algorithm a for barrier\nblocks in 0 out 0 tmp 9\nrequire p == 3\n"
                   "for r in 1 .. 2 { send tmp[0] -> (me + r) mod 3 }\n"
                   "for r in 1 .. 2 { recv tmp[r] <- (me + r) mod 3 }\n"
                   "if me == 0 { send tmp[3] -> 1 recv tmp[3] <- 2 }\n"
                   "if me == 1 { recv tmp[4] <- 2 recv tmp[5] <- 0 }\n"
                   "if me == 2 { send tmp[3] -> 0 copy tmp[3] tmp[4] send tmp[5] -> 1 }\n",
                   3, 1, false);
    says(
        &verdict,
        "in program order, sends over when taken: deadlock: rank 0 waits at step 4, send to 1");
    unlink(path);
}
END_TEST

static void fails_in_place(const char *text, enum collective what, const char *why)
{
    struct plan plan;
    struct plan_key key = {
        .me = 2, .size = 3, .pieces = 1, .script = one(text), .alias = bind_alias(what, true)
    };
    ck_assert_int_eq(plan_make(&plan, &key, script_program), MPI_ERR_OTHER);
    ck_assert_msg(strstr(fail_text(), why) != NULL, "\"%s\" lacks \"%s\"", fail_text(), why);
    plan_free(&plan);
}

START_TEST(in_place_blocks_are_looked_for_where_they_are)
{
    fails_in_place(
        "algorithm a for allgather\nblocks in 999999 out p tmp 1\ncopy tmp[0] in[999998]",
        COLL_ALLGATHER, ":3:13: rank 2 of 3: in place in[999998] is block 1000000 of 3");
    fails_in_place(
        "algorithm a for allreduce\nblocks in 999999 out 1 tmp 1\ncopy tmp[0] in[999998]",
        COLL_ALLREDUCE, "in place in[999998] is block 999998 of 1");
    fails_in_place(
        "algorithm a for scatter\nblocks in p out 999999 tmp 0\ncopy out[999998] in[0]",
        COLL_SCATTER, "in place out[999998] is block 1000000 of 3");
    unlink(path);
}
END_TEST

/* Up and down among themselves; bytes with gaps are copied piece by piece. */
START_TEST(blocks_are_not_copied_over_each_other)
{
    static const char text[] =
        "algorithm a for allgather\nblocks in 1 out p tmp p\n"
        "call allgather spread (0, p, 1, 0) in in[0] out out[0 .. p - 1]\n"
        "copy tmp[0 .. p - 1] out[0 .. p - 1]\n"
        "copy tmp[1 .. p - 1] tmp[0 .. p - 2]\n"
        "copy tmp[0 .. p - 2] tmp[1 .. p - 1]\n"
        "copy tmp[0 .. p - 1] tmp[0 .. p - 1]\n"
        "copy out[0 .. p - 2] tmp[0 .. p - 2]\n";
    struct verdict verdict = verdict_of(text, 5, 1, false);
    ck_assert_str_eq(verdict.text, "");
    struct plan plan;
    struct plan_key key = { .size = 5, .pieces = 1, .script = one(text) };
    ck_assert_int_eq(plan_make(&plan, &key, script_program), 0);
    for (int i = 0; i < plan.nsteps; i++)
        ck_assert(plan.step[i].verb != VERB_COPY || plan.step[i].to.room != ROOM_TMP ||
                  plan.step[i].from.room != ROOM_TMP || plan.step[i].to.n == 1);
    plan_free(&plan);
    unlink(path);
}
END_TEST

UNIT_MAIN("script", what_cannot_be_read_in_whole_is_refused, a_file_may_have_a_long_path,
          mistakes_in_the_text_are_found_when_it_is_read,
          mistakes_that_show_later_are_found_then, numbers_are_what_they_should_be,
          loops_go_up_to_the_largest_number, the_examples_are_right,
          wrong_plans_are_refused_before_use, a_plan_of_many_steps_is_soon_verified,
          a_plan_that_is_too_much_is_soon_refused, only_reductions_add_up,
          out_holds_what_belongs_there, a_barrier_holds_everybody_back,
          verdicts_get_the_line_that_wrote_the_step, a_text_may_have_many_else_ifs,
          a_name_may_not_be_too_long, verdicts_name_rooms_verbs_and_orders,
          in_place_blocks_are_looked_for_where_they_are, blocks_are_not_copied_over_each_other)
