/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI_Comm_split and MPI_Comm_split_type: colours, keys, nobody, shared memory, hardware.
 *
 * conform-options: --bind-to core
 */
#include "test/conform/check.h"

static int me, n;

static int rank_of(MPI_Comm comm)
{
    int rank;
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    return rank;
}

static int size_of(MPI_Comm comm)
{
    int size;
    CHECK_OK(MPI_Comm_size(comm, &size));
    return size;
}

/* World rank of every member, as the members say. */
static void members_of(MPI_Comm comm, int *members)
{
    CHECK_OK(MPI_Allgather(&me, 1, MPI_INT, members, 1, MPI_INT, comm));
}

static void test_colors(int colors)
{
    MPI_Comm comm;
    int members[64];
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, me % colors, 0, &comm));
    members_of(comm, members);
    CHECK(size_of(comm) == (n - me % colors + colors - 1) / colors);
    for (int i = 0; i < size_of(comm); i++)
        CHECK(members[i] == me % colors + i * colors);
    CHECK_OK(MPI_Comm_free(&comm));
}

static void test_keys(void)
{
    MPI_Comm comm;
    int members[64];
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 3, -me, &comm));
    members_of(comm, members);
    CHECK(rank_of(comm) == n - 1 - me);
    for (int i = 0; i < n; i++)
        CHECK(members[i] == n - 1 - i);
    CHECK_OK(MPI_Comm_free(&comm));
    /* Equal keys keep the old order; the two halves change places. */
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, me < n / 2 ? 1 : -2147483647 - 1, &comm));
    CHECK(rank_of(comm) == (me < n / 2 ? me + n - n / 2 : me - n / 2));
    CHECK_OK(MPI_Comm_free(&comm));
}

static void test_undefined(void)
{
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, me == 0 ? 2147483647 : MPI_UNDEFINED, 0, &comm));
    CHECK((comm == MPI_COMM_NULL) == (me != 0));
    if (me == 0) {
        CHECK(size_of(comm) == 1);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, &comm));
    CHECK(comm == MPI_COMM_NULL);
}

/* Votes without a pattern, which everybody can make for all: the members that these votes name, in
 * the order of key and rank. */
static int vote(int round, int rank, int *key)
{
    unsigned mix = (unsigned)(rank * 7919 + round * 104729 + 1);
    mix ^= mix << 13;
    mix ^= mix >> 17;
    mix ^= mix << 5;
    *key = (int)(mix >> 8) % 4 - 2;
    return mix % 4 == 3 ? MPI_UNDEFINED : (int)(mix % 4) * 1000;
}

static int expected(int round, int color, int *members)
{
    int key, count = 0;
    for (int wanted = -2; wanted < 2; wanted++)
        for (int i = 0; i < n; i++)
            if (vote(round, i, &key) == color && key == wanted)
                members[count++] = i;
    return count;
}

static void test_random(void)
{
    for (int round = 0; round < 50; round++) {
        MPI_Comm comm;
        int key, color = vote(round, me, &key), members[64], wanted[64];
        CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm));
        CHECK((comm == MPI_COMM_NULL) == (color == MPI_UNDEFINED));
        if (comm == MPI_COMM_NULL)
            continue;
        CHECK(size_of(comm) == expected(round, color, wanted));
        members_of(comm, members);
        CHECK(!memcmp(members, wanted, (size_t)size_of(comm) * sizeof *members));
        CHECK_OK(MPI_Comm_free(&comm));
    }
}

/* Blocks whose colours are any numbers, as a program makes them of the names of hosts. */
static void test_numbers(void)
{
    MPI_Comm comm;
    int mine = me / 2, count = mine * 2 + 1 < n ? 2 : 1;
    for (int up = 0; up < 2; up++) {
        int members[64], key = up ? (1 << 30) + me : -3 * me;
        CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, mine * mine * 7919 % 1000, key, &comm));
        CHECK(size_of(comm) == count);
        members_of(comm, members);
        for (int i = 0; i < count; i++)
            CHECK(members[i] == mine * 2 + (up ? i : count - 1 - i));
        CHECK_OK(MPI_Comm_free(&comm));
    }
}

/* Splits of splits down to single processes, then messages on the way up. */
static void test_nested(void)
{
    MPI_Comm stack[8] = { MPI_COMM_WORLD };
    int depth = 0, sum;
    while (size_of(stack[depth]) > 1) {
        int half = (size_of(stack[depth]) + 1) / 2, rank = rank_of(stack[depth]);
        CHECK_OK(MPI_Comm_split(stack[depth], rank < half, rank, &stack[depth + 1]));
        depth++;
    }
    for (; depth > 0; depth--) {
        int one = 1;
        CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, stack[depth]));
        CHECK(sum == size_of(stack[depth]));
        CHECK_OK(MPI_Comm_free(&stack[depth]));
    }
}

static void test_shared(void)
{
    MPI_Comm node, nobody;
    char name[MPI_MAX_PROCESSOR_NAME] = "", first[MPI_MAX_PROCESSOR_NAME];
    int length;
    CHECK_OK(
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -me, MPI_INFO_NULL, &node));
    CHECK_OK(MPI_Get_processor_name(name, &length));
    memcpy(first, name, sizeof first);
    CHECK_OK(MPI_Bcast(first, sizeof first, MPI_CHAR, 0, node));
    CHECK(!strcmp(name, first));
    int members[64];
    members_of(node, members);
    for (int i = 0; i + 1 < size_of(node); i++)
        CHECK(members[i] > members[i + 1]);
    CHECK_OK(MPI_Comm_free(&node));
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL, &nobody));
    CHECK(nobody == MPI_COMM_NULL);
    CHECK_ERROR(MPI_Comm_split_type(MPI_COMM_SELF, 12345, 0, MPI_INFO_NULL, &nobody),
                MPI_ERR_ARG);
}

#if MPI_VERSION >= 4
/* The value of a key, "" without one. */
static void value_of(MPI_Info info, const char *key, char value[64])
{
    int length = 64, flag;
    value[0] = '\0';
    CHECK_OK(MPI_Info_get_string(info, key, &length, value, &flag));
}

static void test_unguided(void)
{
    MPI_Comm part, again;
    MPI_Info info;
    char type[64];
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL,
                                 &part));
    if (part != MPI_COMM_NULL) {
        CHECK(size_of(part) < n);
        CHECK_OK(MPI_Comm_free(&part));
    }
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, 0, info, &part));
    value_of(info, "mpi_hw_resource_type", type);
    CHECK((part != MPI_COMM_NULL) == (type[0] != '\0'));
    int result, got = part != MPI_COMM_NULL, all;
    MPI_Allreduce(&got, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (all) { /* asked for by its name, it is the same part */
        CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &again));
        CHECK_OK(MPI_Comm_compare(part, again, &result));
        CHECK(result == MPI_CONGRUENT);
        CHECK_OK(MPI_Comm_free(&again));
    }
    if (got)
        CHECK_OK(MPI_Comm_free(&part));
    CHECK_OK(MPI_Info_free(&info));
}

/* The size of the part that a resource type or process set gives, 0 for MPI_COMM_NULL. */
static int part_size(int split_type, const char *key, const char *value)
{
    MPI_Comm part;
    MPI_Info info;
    int size = 0;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, key, value));
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, split_type, 0, info, &part));
    if (part != MPI_COMM_NULL) {
        size = size_of(part);
        CHECK_OK(MPI_Comm_free(&part));
    }
    CHECK_OK(MPI_Info_free(&info));
    return size;
}

static void test_guided(void)
{
    static const char key[] = "mpi_hw_resource_type";
    MPI_Comm part;
    CHECK(part_size(MPI_COMM_TYPE_HW_GUIDED, key, "no such thing") == 0);
    CHECK(part_size(MPI_COMM_TYPE_HW_GUIDED, "something else", "mpi_shared_memory") == 0);
    CHECK_OK(
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, MPI_INFO_NULL, &part));
    CHECK(part == MPI_COMM_NULL);
    CHECK(part_size(MPI_COMM_TYPE_HW_GUIDED, key, "mpi_shared_memory") > 0);
    /* Different wishes are none. */
    CHECK(n == 1 || part_size(MPI_COMM_TYPE_HW_GUIDED, key,
                              me == 0 ? "mpi_shared_memory" : "no such thing") == 0);
}

#if MPI_VERSION >= 5 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
static void test_resource(void)
{
    static const char set[] = "mpi_pset_name", type[] = "mpi_hw_resource_type";
    CHECK(part_size(MPI_COMM_TYPE_RESOURCE_GUIDED, set, "mpi://WORLD") == n);
    CHECK(part_size(MPI_COMM_TYPE_RESOURCE_GUIDED, set, "mpi://SELF") == 1);
    CHECK(part_size(MPI_COMM_TYPE_RESOURCE_GUIDED, set, "mpi://nobody") == 0);
    CHECK(part_size(MPI_COMM_TYPE_RESOURCE_GUIDED, type, "no such thing") == 0);
    CHECK(part_size(MPI_COMM_TYPE_RESOURCE_GUIDED, type, "mpi_shared_memory") ==
          part_size(MPI_COMM_TYPE_HW_GUIDED, type, "mpi_shared_memory"));
}

/* Each type that the process is bound to one of gives a part that it is in, each other does not;
 * a part lies in the part of the type around it. */
static void test_types(void)
{
    MPI_Info hardware;
    int nkeys;
    CHECK_OK(MPI_Get_hw_resource_info(&hardware));
    CHECK_OK(MPI_Info_get_nkeys(hardware, &nkeys));
    for (int i = 0; i < nkeys; i++) {
        char key[MPI_MAX_INFO_KEY], value[64];
        CHECK_OK(MPI_Info_get_nthkey(hardware, i, key));
        value_of(hardware, key, value);
        CHECK(!strcmp(value, "true") || !strcmp(value, "false"));
        int size = part_size(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", key);
        CHECK((size > 0) == !strcmp(value, "true"));
    }
    CHECK_OK(MPI_Info_free(&hardware));
}
#endif
#endif

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    errors_return();
    me = world_rank();
    n = world_size();
    for (int colors = 1; colors <= n; colors++)
        test_colors(colors);
    test_keys();
    test_undefined();
    test_random();
    test_numbers();
    test_nested();
    test_shared();
#if MPI_VERSION >= 4
    test_unguided();
    test_guided();
#if MPI_VERSION >= 5 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    test_resource();
    test_types();
#endif
#endif
    return check_done();
}
