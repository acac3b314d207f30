/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups: the algebra on the group of MPI_COMM_WORLD, on any number of ranks.
 */
#include "test/conform/check.h"

static MPI_Group world;
static int me, n;

static int size_of(MPI_Group group)
{
    int size;
    CHECK_OK(MPI_Group_size(group, &size));
    return size;
}

static int rank_in(MPI_Group group)
{
    int rank;
    CHECK_OK(MPI_Group_rank(group, &rank));
    return rank;
}

/* World rank of a position. */
static int world_of(MPI_Group group, int position)
{
    int at;
    CHECK_OK(MPI_Group_translate_ranks(group, 1, &position, world, &at));
    return at;
}

static int compare(MPI_Group a, MPI_Group b)
{
    int result;
    CHECK_OK(MPI_Group_compare(a, b, &result));
    return result;
}

static MPI_Group range(int first, int last, int stride)
{
    int triple[1][3] = { { first, last, stride } };
    MPI_Group group;
    CHECK_OK(MPI_Group_range_incl(world, 1, triple, &group));
    return group;
}

static void test_whole(void)
{
    MPI_Group again;
    CHECK(size_of(world) == n && rank_in(world) == me);
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &again));
    CHECK(compare(world, again) == MPI_IDENT);
    CHECK_OK(MPI_Group_free(&again));
    CHECK(again == MPI_GROUP_NULL);
    CHECK(size_of(MPI_GROUP_EMPTY) == 0 && rank_in(MPI_GROUP_EMPTY) == MPI_UNDEFINED);
    CHECK(compare(MPI_GROUP_EMPTY, MPI_GROUP_EMPTY) == MPI_IDENT);
    CHECK(compare(world, MPI_GROUP_EMPTY) == MPI_UNEQUAL);
}

static void test_reversed(void)
{
    MPI_Group backward = range(n - 1, 0, -1);
    CHECK(size_of(backward) == n && rank_in(backward) == n - 1 - me);
    for (int i = 0; i < n; i++)
        CHECK(world_of(backward, i) == n - 1 - i);
    CHECK(compare(world, backward) == (n == 1 ? MPI_IDENT : MPI_SIMILAR));
    MPI_Group_free(&backward);
}

static void test_incl_excl(void)
{
    int picked[] = { n - 1, 0 }, count = n > 1 ? 2 : 1;
    MPI_Group ends, middle, all, none;
    CHECK_OK(MPI_Group_incl(world, count, picked, &ends));
    CHECK_OK(MPI_Group_excl(world, count, picked, &middle));
    CHECK(size_of(ends) == count && size_of(middle) == n - count);
    CHECK(world_of(ends, 0) == n - 1);
    CHECK(n < 2 || world_of(ends, 1) == 0);
    for (int i = 0; i < n - count; i++)
        CHECK(world_of(middle, i) == i + 1);
    CHECK_OK(MPI_Group_union(middle, ends, &all));
    CHECK(compare(all, world) != MPI_UNEQUAL);
    CHECK_OK(MPI_Group_intersection(middle, ends, &none));
    CHECK(none == MPI_GROUP_EMPTY);
    MPI_Group_free(&ends);
    if (middle != MPI_GROUP_EMPTY)
        MPI_Group_free(&middle);
    MPI_Group_free(&all);
    CHECK_OK(MPI_Group_incl(world, 0, NULL, &none));
    CHECK(none == MPI_GROUP_EMPTY);
    CHECK_OK(MPI_Group_excl(world, 0, NULL, &all));
    CHECK(compare(all, world) == MPI_IDENT);
    MPI_Group_free(&all);
}

static void test_sets(void)
{
    MPI_Group even = range(0, (n - 1) / 2 * 2, 2), odd, back = range(n - 1, 0, -1), set;
    int triple[1][3] = { { 0, (n - 1) / 2 * 2, 2 } };
    CHECK_OK(MPI_Group_range_excl(world, 1, triple, &odd));
    CHECK(size_of(even) == (n + 1) / 2 && size_of(odd) == n / 2);
    CHECK_OK(MPI_Group_difference(back, even, &set));
    CHECK(size_of(set) == n / 2);
    for (int i = 0; i + 1 < size_of(set); i++)
        CHECK(world_of(set, i) == world_of(set, i + 1) + 2);
    CHECK(compare(set, odd) != MPI_UNEQUAL);
    if (set != MPI_GROUP_EMPTY)
        MPI_Group_free(&set);
    CHECK_OK(MPI_Group_intersection(back, even, &set));
    CHECK(world_of(set, 0) == (n - 1) / 2 * 2 && compare(set, even) != MPI_UNEQUAL);
    MPI_Group_free(&set);
    CHECK_OK(MPI_Group_union(even, back, &set));
    CHECK(size_of(set) == n && world_of(set, 0) == 0);
    CHECK(n < 2 || world_of(set, (n + 1) / 2) == (n - 1) / 2 * 2 + (n % 2 ? -1 : 1));
    MPI_Group_free(&set);
    MPI_Group_free(&even);
    if (odd != MPI_GROUP_EMPTY)
        MPI_Group_free(&odd);
    MPI_Group_free(&back);
}

static void test_translate(void)
{
    MPI_Group tail = range(n / 2, n - 1, 1);
    int from[3] = { 0, n - 1, MPI_PROC_NULL }, to[3];
    CHECK_OK(MPI_Group_translate_ranks(world, 3, from, tail, to));
    CHECK(to[0] == (n / 2 == 0 ? 0 : MPI_UNDEFINED));
    CHECK(to[1] == n - 1 - n / 2 && to[2] == MPI_PROC_NULL);
    CHECK_OK(MPI_Group_translate_ranks(world, 0, NULL, tail, NULL));
    MPI_Group_free(&tail);
}

static void test_errors(void)
{
    MPI_Group group;
    int twice[2] = { 0, 0 }, beyond = n, negative = -1, at;
    int zero[1][3] = { { 0, 0, 0 } }, wrong[1][3] = { { 0, n, 1 } };
    int overlap[2][3] = { { 0, 0, 1 }, { 0, 0, 1 } };
    CHECK_ERROR(MPI_Group_incl(world, 2, twice, &group), MPI_ERR_RANK);
    CHECK_ERROR(MPI_Group_excl(world, 2, twice, &group), MPI_ERR_RANK);
    CHECK_ERROR(MPI_Group_incl(world, 1, &beyond, &group), MPI_ERR_RANK);
    CHECK_ERROR(MPI_Group_incl(world, 1, &negative, &group), MPI_ERR_RANK);
    CHECK_ERROR(MPI_Group_incl(world, -1, twice, &group), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Group_range_incl(world, 1, zero, &group), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Group_range_incl(world, 1, wrong, &group), MPI_ERR_RANK);
    CHECK_ERROR(MPI_Group_range_incl(world, 2, overlap, &group), MPI_ERR_RANK);
    CHECK_ERROR(MPI_Group_translate_ranks(world, 1, &beyond, world, &at), MPI_ERR_RANK);
    CHECK_ERROR(MPI_Group_size(MPI_GROUP_NULL, &at), MPI_ERR_GROUP);
    CHECK_ERROR(MPI_Group_union(world, MPI_GROUP_NULL, &group), MPI_ERR_GROUP);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    errors_return();
    me = world_rank();
    n = world_size();
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    test_whole();
    test_reversed();
    test_incl_excl();
    test_sets();
    test_translate();
    test_errors();
    MPI_Group_free(&world);
    return check_done();
}
