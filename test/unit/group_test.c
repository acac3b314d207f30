/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The set algebra of groups against a slow and obvious model: lists of world ranks.
 */
#include "src/group.h"

#include "mpi.h"
#include "runtime/boot.h"
#include "runtime/fail.h"
#include "src/api/comm.h"
#include "test/unit/unit.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { WORLD = 200, MOST = 64 };

struct list {
    int n, at[2 * MOST];
};

static struct group *group_of(const struct list *l)
{
    struct group *group = group_new(ranks_list(l->n, l->at));
    ck_assert_ptr_nonnull(group);
    return group;
}

static void same(const struct group *group, const struct list *l)
{
    ck_assert_int_eq(group->ranks->n, l->n);
    for (int i = 0; i < l->n; i++)
        ck_assert_int_eq(ranks_world(group->ranks, i), l->at[i]);
}

static int find(const struct list *l, int world)
{
    for (int i = 0; i < l->n; i++)
        if (l->at[i] == world)
            return i;
    return -1;
}

/* n different world ranks: regular ones (stride > 0), or drawn by lot. */
static struct list make(int n, int first, int stride)
{
    struct list l = { 0 };
    while (l.n < n) {
        int world = stride ? first + l.n * stride : rand() % WORLD;
        if (find(&l, world) < 0)
            l.at[l.n++] = world;
    }
    return l;
}

static struct list keep(const struct list *from, const struct list *other, int wanted)
{
    struct list l = { 0 };
    for (int i = 0; i < from->n; i++)
        if ((find(other, from->at[i]) >= 0) == wanted)
            l.at[l.n++] = from->at[i];
    return l;
}

static void check_pair(const struct list *a, const struct list *b)
{
    struct group *x = group_of(a), *y = group_of(b), *r;
    struct list both = *a, rest = keep(b, a, 0), common = keep(a, b, 1), only = keep(a, b, 0);
    memcpy(both.at + both.n, rest.at, sizeof(int) * (size_t)rest.n);
    both.n += rest.n;
    ck_assert_int_eq(xmpi_group_union(x, y, &r), 0);
    same(r, &both);
    group_drop(r);
    ck_assert_int_eq(xmpi_group_intersection(x, y, &r), 0);
    same(r, &common);
    group_drop(r);
    ck_assert_int_eq(xmpi_group_difference(x, y, &r), 0);
    same(r, &only);
    group_drop(r);
    int result, positions[MOST], found[MOST];
    ck_assert_int_eq(group_compare(x, y, &result), 0);
    int wanted = a->n == b->n && only.n == 0 ? MPI_SIMILAR : MPI_UNEQUAL;
    if (a->n == b->n && !memcmp(a->at, b->at, sizeof(int) * (size_t)a->n))
        wanted = MPI_IDENT;
    ck_assert_int_eq(result, wanted);
    for (int i = 0; i < a->n; i++)
        positions[i] = i;
    ck_assert_int_eq(xmpi_group_translate_ranks(x, a->n, positions, y, found), 0);
    for (int i = 0; i < a->n; i++) {
        int at = find(b, a->at[i]);
        ck_assert_int_eq(found[i], at < 0 ? MPI_UNDEFINED : at);
    }
    ck_assert_int_eq(group_check_inside(x, y), only.n == 0 ? 0 : MPI_ERR_GROUP);
    group_drop(x);
    group_drop(y);
}

START_TEST(test_algebra)
{
    srand(7);
    for (int round = 0; round < 400; round++) {
        struct list a = make(rand() % MOST, rand() % 20, rand() % 3);
        struct list b = round % 5 ? make(rand() % MOST, rand() % 20, rand() % 3) : a;
        if (round % 10 == 0 && b.n > 1) { /* the same members in another order */
            int t = b.at[0];
            b.at[0] = b.at[b.n - 1];
            b.at[b.n - 1] = t;
        }
        check_pair(&a, &b);
    }
}
END_TEST

START_TEST(test_choose)
{
    srand(8);
    for (int round = 0; round < 200; round++) {
        struct list l = make(1 + rand() % (MOST - 1), 3, rand() % 3), in = { 0 }, out = l;
        int picked[MOST], n = 0;
        for (int i = l.n - 1; i >= 0; i--)
            if (rand() % 2) {
                picked[n++] = i;
                in.at[in.n++] = l.at[i];
            }
        out = keep(&l, &in, 0);
        struct group *g = group_of(&l), *r;
        ck_assert_int_eq(xmpi_group_incl(g, n, picked, &r), 0);
        same(r, &in);
        group_drop(r);
        ck_assert_int_eq(xmpi_group_excl(g, n, picked, &r), 0);
        same(r, &out);
        group_drop(r);
        group_drop(g);
    }
}
END_TEST

START_TEST(test_ranges)
{
    struct list l = make(20, 100, 1), wanted = { 6, { 119, 116, 113, 102, 104, 100 } };
    int ranges[][3] = { { 19, 12, -3 }, { 2, 5, 2 }, { 0, 0, 7 } };
    struct group *g = group_of(&l), *r;
    struct list others = keep(&l, &wanted, 0);
    ck_assert_int_eq(xmpi_group_range_incl(g, 3, ranges, &r), 0);
    same(r, &wanted);
    group_drop(r);
    ck_assert_int_eq(xmpi_group_range_excl(g, 3, ranges, &r), 0);
    same(r, &others);
    group_drop(r);
    int backward[][3] = { { 19, 0, -1 } };
    ck_assert_int_eq(xmpi_group_range_incl(g, 1, backward, &r), 0);
    ck_assert_int_eq(ranks_world(r->ranks, 0), 119);
    ck_assert_ptr_null(r->ranks->list); /* regular: no list */
    group_drop(r);
    group_drop(g);
}
END_TEST

START_TEST(test_mistakes)
{
    struct list l = make(5, 0, 1);
    struct group *g = group_of(&l), *r = NULL;
    int twice[] = { 1, 3, 1 }, outside[] = { 5 }, at;
    int still[][3] = { { 1, 3, 0 } }, wrong[][3] = { { 1, 3, -1 } }, far[][3] = { { 0, 5, 1 } };
    int meet[][3] = { { 0, 2, 1 }, { 2, 4, 1 } };
    ck_assert_int_eq(xmpi_group_incl(g, 3, twice, &r), MPI_ERR_RANK);
    ck_assert_ptr_nonnull(strstr(fail_text(), "ranks[2]"));
    ck_assert_int_eq(xmpi_group_excl(g, 1, outside, &r), MPI_ERR_RANK);
    ck_assert_int_eq(xmpi_group_range_incl(g, 1, still, &r), MPI_ERR_ARG);
    ck_assert_int_eq(xmpi_group_range_incl(g, 1, wrong, &r), MPI_ERR_ARG);
    ck_assert_int_eq(xmpi_group_range_excl(g, 1, far, &r), MPI_ERR_RANK);
    ck_assert_int_eq(xmpi_group_range_incl(g, 2, meet, &r), MPI_ERR_RANK);
    ck_assert_ptr_nonnull(strstr(fail_text(), "ranges[1]"));
    ck_assert_int_eq(xmpi_group_translate_ranks(g, 1, outside, g, &at), MPI_ERR_RANK);
    ck_assert_ptr_null(r);
    group_drop(g);
}
END_TEST

START_TEST(test_mine)
{
    boot.rank = 42;
    struct list with = { 3, { 7, 42, 1 } }, without = { 2, { 7, 1 } }, nobody = { 0 };
    struct group *g = group_of(&with);
    ck_assert_int_eq(g->rank, 1);
    group_drop(g);
    g = group_of(&without);
    ck_assert_int_eq(g->rank, MPI_UNDEFINED);
    group_drop(g);
    g = group_of(&nobody);
    ck_assert_ptr_eq(g, &group_empty);
    ck_assert_int_eq(xmpi_group_free(&g), 0);
    ck_assert_ptr_null(g);
    boot.rank = 0;
}
END_TEST

/* ---- groups of a machine's size ---- */

enum { MILLION = 1000000 };
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

/* From here on no table for a million processes can be had, not even of bits. */
static void forbid_tables(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%ld", &pages), 1);
    fclose(file);
    rlim_t bytes = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + 100000;
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &(struct rlimit){ bytes, bytes }), 0);
    ck_assert_ptr_null(malloc(MILLION / 8));
}

static struct group *regular(int rc, struct group *made, int n, int first, int stride)
{
    ck_assert_int_eq(rc, 0);
    ck_assert_int_eq(made->ranks->n, n);
    ck_assert_ptr_null(made->ranks->list);
    for (int i = 0; i < n; i += 1 + n / 9)
        ck_assert_int_eq(ranks_world(made->ranks, i), first + i * stride);
    return made;
}

static struct group *range_of(struct group *g, int first, int last, int stride)
{
    struct group *made = NULL;
    int range[1][3] = {
        { first, last, stride },
    };
    int rc = xmpi_group_range_incl(g, 1, range, &made);
    int from = ranks_world(g->ranks, first), step = stride * g->ranks->stride;
    return regular(rc, made, (last - first) / stride + 1, from, step);
}

/* Bytes per group, as malloc counts them (a sanitizer's does not). */
START_TEST(test_memory)
{
    enum { GROUPS = 1000 };
    static struct group *groups[GROUPS];
    struct group *all = group_new(ranks_range(MILLION, 0, 1));
    int range[1][3] = { { 1, MILLION - 1, 2 } };
    size_t before = mallinfo2().uordblks;
    for (int i = 0; i < GROUPS; i++)
        ck_assert_int_eq(xmpi_group_range_incl(all, 1, range, &groups[i]), 0);
    size_t bytes = (mallinfo2().uordblks - before) / GROUPS;
    printf("a group of %d processes takes %zu bytes\n", MILLION / 2, bytes);
    ck_assert_uint_lt(bytes, 200);
    for (int i = 0; i < GROUPS; i++)
        group_drop(groups[i]);
    group_drop(all);
}
END_TEST

/* A regular group is {first, stride, n}, and so is on the way to it. */
START_TEST(test_million)
{
    if (SANITIZED) {
        printf("skip groups without tables: the sanitizer needs address space itself\n");
        return;
    }
    static int even[MILLION / 2];
    struct group *r, *all = group_new(ranks_range(MILLION, 0, 1));
    for (int i = 0; i < MILLION / 2; i++)
        even[i] = 2 * i;
    forbid_tables();
    struct group *low = range_of(all, 0, MILLION / 2 - 1, 1);
    struct group *high = range_of(all, MILLION / 2, MILLION - 1, 1);
    struct group *back = range_of(all, MILLION - 1, 0, -1);
    struct group *thirds = range_of(back, 1, MILLION - 1, 3);
    int rc = xmpi_group_incl(all, MILLION / 2, even, &r);
    struct group *evens = regular(rc, r, MILLION / 2, 0, 2);
    rc = xmpi_group_excl(all, MILLION / 2, even, &r);
    struct group *odds = regular(rc, r, MILLION / 2, 1, 2);
    rc = xmpi_group_union(low, high, &r);
    group_drop(regular(rc, r, MILLION, 0, 1));
    rc = xmpi_group_intersection(evens, high, &r);
    group_drop(regular(rc, r, MILLION / 4, MILLION / 2, 2));
    rc = xmpi_group_difference(all, low, &r);
    group_drop(regular(rc, r, MILLION / 2, MILLION / 2, 1));
    int three[][3] = { { 10, 18, 4 }, { 22, 900022, 4 }, { 900026, 900026, 1 } };
    rc = xmpi_group_range_incl(all, 3, three, &r);
    group_drop(regular(rc, r, 225005, 10, 4));
    int head[][3] = { { 99, 0, -1 } };
    rc = xmpi_group_range_excl(all, 1, head, &r);
    group_drop(regular(rc, r, MILLION - 100, 100, 1));
    int result, positions[] = { 0, 999999, MPI_PROC_NULL }, found[3];
    ck_assert_int_eq(group_compare(all, back, &result), 0);
    ck_assert_int_eq(result, MPI_SIMILAR);
    ck_assert_int_eq(xmpi_group_translate_ranks(all, 3, positions, back, found), 0);
    ck_assert(found[0] == 999999 && found[1] == 0 && found[2] == MPI_PROC_NULL);
    ck_assert_int_eq(group_check_inside(thirds, all), 0);
    struct group *mine[] = { all, low, high, back, thirds, evens, odds };
    for (size_t i = 0; i < sizeof mine / sizeof mine[0]; i++)
        group_drop(mine[i]);
}
END_TEST

UNIT_MAIN("group", test_memory, test_million, test_algebra, test_choose, test_ranges,
          test_mistakes, test_mine)
