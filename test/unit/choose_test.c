/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Choosing: the rules lead to algorithms that exist and can serve, XMPI_COLL overrules them or
 * says clearly why it cannot.
 */
#include "coll/choose.h"
#include "coll/coll.h"
#include "coll/forced.h"
#include "coll/tiny_slot.h"
#include "mpi.h"
#include "runtime/fail.h"
#include "runtime/param.h"
#include "runtime/reading.h"

#include "test/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static struct layout four = { .refs = 1, .size = 4, .extent = 4, .dense = true, .piece = true };

static struct call call_of(enum collective what, size_t count, bool commutes)
{
    static int counts[64];
    struct call call = { .what = what };
    call.send = call.recv = (struct part){ .layout = &four, .count = count };
    for (int i = 0; i < 64; i++)
        counts[i] = (int)count;
    call.send.counts.narrow = call.recv.counts.narrow = counts;
    call.reduction = (struct reduction){ .commutes = commutes, .layout = &four };
    return call;
}

static struct team team_with(int size, int split)
{
    return (struct team){
        .channel = { .size = size }, .split = split, .one_node = true, .nodes = 1
    };
}

START_TEST(every_rule_names_an_algorithm)
{
    for (int what = 0; what < COLL_KINDS; what++)
        for (int inter = 0; inter < 2; inter++) {
            const struct rule *r = rules_of((enum collective)what, inter);
            const struct rule *end = r + MOST_RULES;
            for (; r && r->use; r++) {
                ck_assert(r < end);
                const struct algorithm *a =
                    algorithm_find((enum collective)what, inter, r->use);
                ck_assert_msg(a != NULL, "%s: %s", collective_name((enum collective)what),
                              r->use);
                ck_assert(!r->piece || a->pipelines);
            }
        }
}
END_TEST

/* Which rule speaks for so many bytes; attach could serve. */
static bool is_attached(struct node_kind node, size_t bytes)
{
    const struct rule *r = rules_of(COLL_ALLTOALL, false);
    while (!rule_reaches(bytes, r->bytes) || !rule_reaches((size_t)node.ranks, r->ranks) ||
           (r->crowded && !node.crowded) || r->reads > node.reading)
        r++;
    return strcmp(r->use, "attach") == 0;
}

/* What coll/tiny_letters.c goes by. */
START_TEST(lengths_that_are_attached_are_a_row)
{
    int attached = 0;
    for (int kind = 0; kind < 63 * 6; kind++) {
        struct node_kind node = { 2 + kind / 6, kind % 2, kind / 2 % 3 };
        struct reach row = rules_attach(COLL_ALLTOALL, node);
        for (size_t bytes = 1; bytes < 1 << 22; bytes += bytes < 100 ? 1 : bytes / 100) {
            bool in_row = bytes >= row.from && bytes <= row.to;
            ck_assert_msg(in_row == is_attached(node, bytes),
                          "%d ranks, %zu bytes, crowded: %d, reading: %d", node.ranks, bytes,
                          node.crowded, node.reading);
            attached += in_row;
        }
    }
    ck_assert_int_gt(attached, 0);
}
END_TEST

START_TEST(there_is_always_one_that_serves)
{
    forced_read("");
    for (int what = 0; what < COLL_KINDS; what++)
        for (int ranks = 1; ranks <= 64; ranks *= 2)
            for (size_t count = 0; count < 10000000; count = 3 * count + 1)
                for (int commutes = 0; commutes < 2; commutes++)
                    for (int mode = BLOCKING; mode <= PERSISTENT; mode++) {
                        struct team team = team_with(ranks, 0);
                        struct call call = call_of((enum collective)what, count, commutes);
                        struct choice choice;
                        ck_assert_int_eq(choose(&team, &call, (enum mode)mode, &choice), 0);
                        ck_assert(what < COLL_REDUCE || commutes || choice.algorithm->ordered);
                        ck_assert(choice.pieces >= 1 && choice.pieces <= 64);
                        choose_forget(&team);
                    }
}
END_TEST

/* Less may be mapped than there is, and of that all is taken. */
static void memory_end(void **held, int most)
{
    struct rlimit none;
    getrlimit(RLIMIT_AS, &none);
    none.rlim_cur = 1 << 20;
    setrlimit(RLIMIT_AS, &none);
    for (size_t bytes = 1 << 20; bytes >= 16; bytes /= 2)
        while (most > 0 && (*held = malloc(bytes)) != NULL) {
            held++;
            most--;
        }
}

static void memory_again(void **held)
{
    struct rlimit all;
    getrlimit(RLIMIT_AS, &all);
    all.rlim_cur = all.rlim_max;
    setrlimit(RLIMIT_AS, &all);
    while (*held)
        free(*held++);
}

/* Nothing is read where nothing is set; and what could not be read is read again. */
START_TEST(no_memory_is_no_wrong_setting)
{
    enum { HELD = 200000 };
    static void *held[HELD + 1];
    const struct orders *orders;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return; /* these need more than may be limited */
#endif
    memory_end(held, HELD);
    int nothing_set = forced_get(COLL_BARRIER, &orders);
    int set = forced_read("barrier=dissemination");
    memory_again(held);
    ck_assert_int_eq(nothing_set, 0);
    ck_assert_int_eq(set, MPI_ERR_NO_MEM);
    ck_assert_str_eq(fail_text(), "no memory to read XMPI_COLL");
    ck_assert_int_eq(forced_get(COLL_BARRIER, &orders), 0);
}
END_TEST

START_TEST(between_groups_too)
{
    forced_read("allreduce=ring"); /* says nothing about intercommunicators */
    for (int what = 0; what < COLL_SCAN; what++) {
        if (is_neighbourhood((enum collective)what))
            continue;
        struct team team = team_with(5, 2);
        struct call call = call_of((enum collective)what, 10, false);
        struct choice choice;
        ck_assert_int_eq(choose(&team, &call, BLOCKING, &choice), 0);
        ck_assert(choice.algorithm->inter);
    }
}
END_TEST

/* Of a long vector on some ranks the last rule speaks. */
static const char *by_last_rule(enum collective what, bool inter)
{
    struct question q = {
        .what = what, .inter = inter, .ranks = 5, .nodes = 1, .bytes = 2000000
    };
    struct choice choice;
    ck_assert_int_eq(choose_answer(&q, NULL, &choice), 0);
    ck_assert_int_eq(choice.by, BY_RULE);
    return choice.algorithm->name;
}

START_TEST(what_groups_chose_before_changes_nothing)
{
    forced_read("");
    for (int what = 0; what < COLL_KINDS; what++) {
        enum collective c = (enum collective)what;
        if (is_neighbourhood(c) || c == COLL_SCAN || c == COLL_EXSCAN)
            continue;
        by_last_rule(c, true);
        by_last_rule(c, false);
        by_last_rule(c, true);
    }
    ck_assert_str_eq(by_last_rule(COLL_REDUCE, false), "scatter-gather");
    ck_assert_str_eq(by_last_rule(COLL_ALLREDUCE, false), "circulant");
}
END_TEST

static const char *chosen(bool crowded, enum collective what, int ranks, size_t count)
{
    struct team team = team_with(ranks, 0);
    struct call call = call_of(what, count, true);
    struct choice choice;
    team.crowded = crowded;
    forced_read("");
    ck_assert_int_eq(choose(&team, &call, BLOCKING, &choice), 0);
    return choice.algorithm->name;
}

START_TEST(ranks_that_share_cpus_avoid_hops)
{
    static const enum collective whats[] = { COLL_GATHER, COLL_REDUCE, COLL_SCAN, COLL_EXSCAN };
    for (int i = 0; i < 4; i++)
        ck_assert_str_ne(chosen(true, whats[i], 8, 2), chosen(false, whats[i], 8, 2));
    ck_assert_str_eq(chosen(true, COLL_REDUCE, 8, 2), "linear");
    ck_assert_str_eq(chosen(true, COLL_REDUCE, 8, 1 << 20), "scatter-gather");
    ck_assert_str_eq(chosen(true, COLL_ALLTOALL, 8, 2), "spread");
    ck_assert_str_eq(chosen(false, COLL_ALLTOALL, 8, 2), "bruck");
}
END_TEST

static bool is_for_slots(enum collective what, int ranks, size_t bytes)
{
    struct question q = { .what = what, .one_node = true, .ranks = ranks, .nodes = 1 };
    struct choice choice;
    q.bytes = bytes;
    forced_read("");
    ck_assert_int_eq(choose_answer(&q, NULL, &choice), 0);
    return strcmp(choice.algorithm->name, "tiny") == 0;
}

/* A slot of two ranks has the data in it: longer than those of more ranks. */
START_TEST(two_ranks_use_slots_for_longer_data)
{
    static const enum collective rooted[] = { COLL_BCAST, COLL_GATHER, COLL_SCATTER,
                                              COLL_REDUCE };
    for (int i = 0; i < 4; i++) {
        ck_assert(is_for_slots(rooted[i], 2, TINY_BYTES));
        ck_assert(!is_for_slots(rooted[i], 2, TINY_BYTES + 1));
        ck_assert(is_for_slots(rooted[i], 3, 256));
        ck_assert(!is_for_slots(rooted[i], 3, 257));
    }
}
END_TEST

static const char *of_many(enum collective what, size_t bytes, struct node_kind node)
{
    struct question q = { .what = what,
                          .one_node = true,
                          .nodes = 1,
                          .ranks = node.ranks,
                          .crowded = node.crowded,
                          .reading = node.reading,
                          .bytes = bytes };
    struct choice choice;
    q.no_tiny = "too long";
    forced_read("");
    ck_assert_int_eq(choose_answer(&q, NULL, &choice), 0);
    return choice.algorithm->name;
}

static const char *of_a_pair(enum collective what, size_t bytes, int reading)
{
    return of_many(what, bytes, (struct node_kind){ .ranks = 2, .reading = reading });
}

/* Of a short vector two rounds cost more than they save, unless it is looked at in place. */
START_TEST(two_ranks_attach_sooner_where_memory_is_mapped)
{
    ck_assert_str_eq(of_a_pair(COLL_ALLREDUCE, 32 << 10, READING_MAPPED), "attach");
    ck_assert_str_eq(of_a_pair(COLL_ALLREDUCE, 32 << 10, READING_FAIR), "doubling");
    ck_assert_str_eq(of_a_pair(COLL_ALLREDUCE, 128 << 10, READING_FAIR), "attach");
    ck_assert_str_eq(of_a_pair(COLL_ALLREDUCE, 127 << 10, READING_FAIR), "doubling");
}
END_TEST

/* Where ranks share CPUs.  Of reductions this changes nothing: it is measured, and sums shall be the same in every run. */
START_TEST(crowds_attach_later_where_reading_is_dear)
{
    struct node_kind fair = { 8, true, READING_FAIR }, dear = { 8, true, READING_DEAR };
    ck_assert_str_eq(of_many(COLL_ALLGATHER, 32 << 10, fair), "attach");
    ck_assert_str_eq(of_many(COLL_ALLGATHER, 32 << 10, dear), "spread");
    ck_assert_str_eq(of_many(COLL_GATHER, 32 << 10, fair), "attach");
    ck_assert_str_eq(of_many(COLL_GATHER, 32 << 10, dear), "linear");
    ck_assert_str_eq(of_many(COLL_GATHER, 128 << 10, dear), "attach");
    for (int what = 0; what < COLL_KINDS; what++)
        for (size_t bytes = 1; is_reduction((enum collective)what) && bytes < 1 << 22;
             bytes *= 2)
            ck_assert_str_eq(of_many((enum collective)what, bytes, fair),
                             of_many((enum collective)what, bytes, dear));
}
END_TEST

/* Of two; of more than there are CPUs a chain costs fewer copies. */
START_TEST(long_prefix_sums_of_a_pair_are_attached)
{
    ck_assert_str_eq(of_a_pair(COLL_SCAN, 128 << 10, READING_FAIR), "attach");
    ck_assert_str_eq(of_a_pair(COLL_EXSCAN, 8 << 20, READING_FAIR), "attach");
    ck_assert_str_ne(of_a_pair(COLL_SCAN, 127 << 10, READING_FAIR), "attach");
}
END_TEST

START_TEST(long_prefix_sums_are_a_pipeline)
{
    struct team team = team_with(4, 0);
    struct call call = call_of(COLL_SCAN, 1 << 20, true);
    struct choice choice;
    forced_read("");
    ck_assert_int_eq(choose(&team, &call, BLOCKING, &choice), 0);
    ck_assert_str_eq(choice.algorithm->name, "chain");
    ck_assert_int_gt(choice.pieces, 8);
}
END_TEST

START_TEST(a_name_overrules_the_rules)
{
    struct team team = team_with(4, 0);
    struct call call = call_of(COLL_ALLREDUCE, 2, true);
    struct choice choice;
    ck_assert_int_eq(forced_read("bcast=chain:pieces=8,allreduce=ring:pieces=3"), 0);
    ck_assert_int_eq(choose(&team, &call, BLOCKING, &choice), 0);
    ck_assert_str_eq(choice.algorithm->name, "ring");
    ck_assert_int_eq(choice.pieces, 3);
    ck_assert_int_eq(choice.radix, 0);
    call.what = COLL_REDUCE;
    ck_assert_int_eq(choose(&team, &call, BLOCKING, &choice), 0);
    ck_assert_int_eq(choice.by, BY_RULE);
}
END_TEST

static void expect_complaint(const char *text, const char *word)
{
    struct team team = team_with(4, 0);
    struct call call = call_of(COLL_ALLREDUCE, 100, false);
    struct choice choice;
    forced_read(text);
    ck_assert_int_eq(choose(&team, &call, BLOCKING, &choice), MPI_ERR_OTHER);
    ck_assert_msg(strstr(fail_text(), word) != NULL, "\"%s\" lacks \"%s\"", fail_text(), word);
}

START_TEST(what_cannot_be_is_an_error_that_helps)
{
    expect_complaint("allreduce", "collective=algorithm");
    expect_complaint("allreduze=ring", "there are: barrier bcast");
    expect_complaint("allreduce=rnig", "doubling spread circulant knomial ring");
    expect_complaint("allreduce=ring:pieces=0", "pieces=n");
    expect_complaint("allreduce=ring:slices=2", "pieces=n");
    expect_complaint("allreduce=ring:pieces=2:pieces=3", "after ring pieces= is there twice");
    expect_complaint("allreduce=ring:pieces=4294967298", "pieces=n with n from 1 to 4096");
    expect_complaint("allreduce=ring",
                     "the operation does not commute; these can: doubling spread");
    expect_complaint("allreduce=tiny", "no shared slots");
    forced_read("barrier=dissemination:pieces=2");
    struct team team = team_with(4, 0);
    struct call call = call_of(COLL_BARRIER, 0, false);
    struct choice choice;
    ck_assert_int_eq(choose(&team, &call, BLOCKING, &choice), MPI_ERR_OTHER);
    ck_assert(strstr(fail_text(), "cannot be cut") != NULL);
}
END_TEST

START_TEST(a_team_may_have_orders_of_its_own)
{
    struct team team = team_with(4, 0), other = team_with(4, 0);
    struct call call = call_of(COLL_ALLREDUCE, 2, true);
    struct choice choice;
    forced_read("allreduce=ring");
    ck_assert_int_eq(team_force(&team, "allreduce=circulant", "the test"), 0);
    ck_assert_int_eq(choose(&team, &call, BLOCKING, &choice), 0);
    ck_assert_str_eq(choice.algorithm->name, "circulant");
    ck_assert_str_eq(choice.who, "the test");
    ck_assert_str_eq(team_forced(&team), "allreduce=circulant");
    ck_assert_int_eq(choose(&other, &call, BLOCKING, &choice), 0);
    ck_assert_str_eq(choice.algorithm->name, "ring");
    ck_assert_int_eq(team_force(&team, "allreduce=nonsense", "the test"), MPI_ERR_OTHER);
    ck_assert(strstr(fail_text(), "the test: there is no algorithm") != NULL);
    ck_assert_str_eq(team_forced(&team), "allreduce=circulant");
    ck_assert_int_eq(team_force(&team, "", "the test"), 0);
    ck_assert_int_eq(choose(&team, &call, BLOCKING, &choice), 0);
    ck_assert_str_eq(choice.algorithm->name, "ring");
    choose_forget(&team);
    choose_forget(&other);
}
END_TEST

/* Kept choices are those of the same question. */
START_TEST(what_was_chosen_before_is_chosen_again)
{
    struct team team = team_with(6, 0);
    struct choice kept, anew;
    forced_read("");
    for (int round = 0; round < 3; round++)
        for (int what = 0; what < COLL_KINDS; what++)
            for (size_t count = 0; count < 3000000; count = 7 * count + 1)
                for (int k = 0; k < 4; k++) {
                    struct call call = call_of((enum collective)what, count, k & 1);
                    enum mode mode = k & 2 ? PERSISTENT : BLOCKING;
                    struct question q = question_of(&team, &call, mode);
                    ck_assert_int_eq(choose(&team, &call, mode, &kept), 0);
                    ck_assert_int_eq(choose_answer(&q, NULL, &anew), 0);
                    ck_assert_ptr_eq(kept.algorithm, anew.algorithm);
                    ck_assert_int_eq(kept.pieces, anew.pieces);
                }
    choose_forget(&team);
}
END_TEST

static void some_kernel(void *to, const void *a, const void *b, size_t n)
{
    (void)to, (void)a, (void)b, (void)n;
}

START_TEST(operations_that_do_not_commute_are_told_from_others)
{
    struct team team = team_with(4, 0);
    struct call call = call_of(COLL_ALLREDUCE, 1 << 20, true);
    struct choice choice;
    call.reduction.kernel = some_kernel;
    forced_read("");
    for (int i = 0; i < 4; i++) {
        call.reduction.commutes = i % 2 == 0;
        ck_assert_int_eq(choose(&team, &call, BLOCKING, &choice), 0);
        ck_assert_int_eq(choice.algorithm->ordered, i % 2);
    }
    choose_forget(&team);
}
END_TEST

/* The answer for a usual call is found without the question: not that for another one of as many
 * bytes. */
START_TEST(the_usual_call_is_told_from_others)
{
    struct tiny slots = { .n = 2, .room = TINY_BYTES };
    struct team team = team_with(2, 0);
    struct call usual = call_of(COLL_ALLREDUCE, 2, true), own = usual;
    struct choice choice;
    team.tiny = &slots;
    usual.reduction.kernel = some_kernel;
    forced_read("");
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(choose(&team, &usual, BLOCKING, &choice), 0);
        ck_assert_str_eq(choice.algorithm->name, "tiny");
        ck_assert_int_eq(choose(&team, &own, BLOCKING, &choice), 0);
        ck_assert_ptr_nonnull(choice.algorithm->program);
        ck_assert_int_eq(choose(&team, &usual, NONBLOCKING, &choice), 0);
        ck_assert_ptr_nonnull(choice.algorithm->program); /* there are no tracks */
    }
    team.away = true;
    usual.recv.count = 1 << 20;
    ck_assert_int_eq(choose(&team, &usual, BLOCKING, &choice), 0);
    ck_assert(!choice.algorithm->attaches);
    team.away = false;
    ck_assert_int_eq(choose(&team, &usual, BLOCKING, &choice), 0);
    ck_assert(choice.algorithm->attaches);
    choose_forget(&team);
}
END_TEST

START_TEST(lists_are_searched_by_whole_words)
{
    ck_assert(list_has("bcast,allreduce", "allreduce"));
    ck_assert(list_has("bcast", "bcast"));
    ck_assert(!list_has("iallreduce,reduce_scatter", "reduce"));
    ck_assert(!list_has("", "reduce"));
}
END_TEST

/* Slots of two ranks are longer than what folding has room for. */
START_TEST(a_slot_takes_so_much_and_no_more)
{
    struct tiny slots = { .n = 2, .room = TINY_BYTES + 96 };
    struct team team = { .tiny = &slots };
    struct call call = { .what = COLL_BCAST };
    ck_assert_ptr_null(tiny_objection(&team, &call, false, TINY_BYTES));
    ck_assert_ptr_nonnull(tiny_objection(&team, &call, false, TINY_BYTES + 1));
}
END_TEST

UNIT_MAIN("choose", every_rule_names_an_algorithm, lengths_that_are_attached_are_a_row,
          there_is_always_one_that_serves, no_memory_is_no_wrong_setting, between_groups_too,
          what_groups_chose_before_changes_nothing, ranks_that_share_cpus_avoid_hops,
          two_ranks_use_slots_for_longer_data, two_ranks_attach_sooner_where_memory_is_mapped,
          crowds_attach_later_where_reading_is_dear, long_prefix_sums_of_a_pair_are_attached,
          long_prefix_sums_are_a_pipeline, a_name_overrules_the_rules,
          what_cannot_be_is_an_error_that_helps, a_team_may_have_orders_of_its_own,
          what_was_chosen_before_is_chosen_again, the_usual_call_is_told_from_others,
          operations_that_do_not_commute_are_told_from_others,
          lists_are_searched_by_whole_words, a_slot_takes_so_much_and_no_more)
