/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random datatypes, nested, by every constructor in both forms, are taken apart with
 * MPI_Type_get_contents and made again from what it says.  Both must have the same size, extent
 * and true extent, pack the same bytes, and understand each other's messages.  They must also be
 * what the standard says: bounds, packed bytes, external32, received in part, against the plain
 * list of typemap.h.
 */
#include "check.h"

#if MPI_VERSION >= 4
#include "random_types.h"
#include "typemap.h"

/* ---- comparing ---- */

static void check_extents(MPI_Datatype a, MPI_Datatype b)
{
    MPI_Count x[5], y[5];
    CHECK_OK(MPI_Type_size_c(a, &x[0]));
    CHECK_OK(MPI_Type_get_extent_c(a, &x[1], &x[2]));
    CHECK_OK(MPI_Type_get_true_extent_c(a, &x[3], &x[4]));
    CHECK_OK(MPI_Type_size_c(b, &y[0]));
    CHECK_OK(MPI_Type_get_extent_c(b, &y[1], &y[2]));
    CHECK_OK(MPI_Type_get_true_extent_c(b, &y[3], &y[4]));
    CHECK(memcmp(x, y, sizeof x) == 0);
}

/* Both pack the same; what one sends the other receives.  Memory that appears twice in a type is
 * received twice, but with the same bytes. */
static void check_bytes(MPI_Datatype a, MPI_Datatype b)
{
    static char memory[2 * MOST_SPAN], other[2 * MOST_SPAN];
    static char packed[MOST_BYTES], again[MOST_BYTES];
    MPI_Aint low, span;
    int size, at = 0, count;
    MPI_Status status;
    CHECK_OK(MPI_Type_get_true_extent(a, &low, &span));
    CHECK_OK(MPI_Type_size(a, &size));
    for (MPI_Aint i = 0; i < span; i++)
        memory[i] = (char)chance(-128, 127);
    CHECK_OK(MPI_Pack(memory - low, 1, a, packed, MOST_BYTES, &at, MPI_COMM_SELF));
    CHECK(at == size);
    at = 0;
    CHECK_OK(MPI_Pack(memory - low, 1, b, again, MOST_BYTES, &at, MPI_COMM_SELF));
    CHECK(at == size && memcmp(packed, again, (size_t)size) == 0);
    memcpy(other, memory, (size_t)span);
    CHECK_OK(MPI_Sendrecv(memory - low, 1, a, 0, 0, other - low, 1, b, 0, 0, MPI_COMM_SELF,
                          &status));
    CHECK(memcmp(other, memory, (size_t)span) == 0);
    CHECK_OK(MPI_Get_count(&status, b, &count));
    CHECK(count == (size > 0));
    CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK(count == size);
}

/* ---- against the type map ---- */

enum { COUNT = 2 };

struct side { /* memory for COUNT elements; the origin of the first one is at `base` */
    char room[COUNT * (MOST_SPAN + 4 * MOST_EXTENT)], *base;
};
static struct side from, to, wanted;
static size_t span; /* bytes of the rooms that are in use */
static char packed[COUNT * MOST_BYTES], listed[COUNT * MOST_BYTES];

static void sides_open(const struct map *m)
{
    struct side *sides[] = { &from, &to, &wanted };
    span = (size_t)(m->true_ub - m->true_lb + map_step(m));
    MPI_Aint low = m->true_lb + (m->ub < m->lb ? m->ub - m->lb : 0);
    for (int s = 0; s < 3; s++) {
        sides[s]->base = sides[s]->room - low;
        memset(sides[s]->room, 'x', span);
    }
    for (size_t i = 0; i < span; i++)
        from.room[i] = (char)chance(-128, 127);
}

static void check_bounds(MPI_Datatype type, const struct map *m)
{
    MPI_Count size, lb, extent, true_lb, true_extent;
    CHECK_OK(MPI_Type_size_c(type, &size));
    CHECK_OK(MPI_Type_get_extent_c(type, &lb, &extent));
    CHECK_OK(MPI_Type_get_true_extent_c(type, &true_lb, &true_extent));
    CHECK(size == m->bytes && lb == m->lb && extent == m->ub - m->lb);
    CHECK(true_lb == m->true_lb && true_extent == m->true_ub - m->true_lb);
}

static void check_packing(MPI_Datatype type, const struct map *m)
{
    int at = 0, all = COUNT * m->bytes;
    CHECK_OK(MPI_Pack(from.base, COUNT, type, packed, sizeof packed, &at, MPI_COMM_SELF));
    map_pack(m, COUNT, from.base, listed, false);
    CHECK(at == all && memcmp(packed, listed, (size_t)all) == 0);
    at = 0;
    CHECK_OK(MPI_Unpack(packed, all, &at, to.base, COUNT, type, MPI_COMM_SELF));
    map_unpack(m, all, packed, wanted.base);
    CHECK(at == all && memcmp(to.room, wanted.room, span) == 0);
}

/* Some bytes of two elements arrive: where they belong, and they are counted. */
static void check_part(MPI_Datatype type, const struct map *m)
{
    MPI_Status status;
    MPI_Count elements, count, parts;
    int bytes = map_cut(m, COUNT, &parts);
    sides_open(m);
    CHECK_OK(MPI_Sendrecv(packed, bytes, MPI_PACKED, 0, 0, to.base, COUNT, type, 0, 0,
                          MPI_COMM_SELF, &status));
    map_unpack(m, bytes, packed, wanted.base);
    CHECK(memcmp(to.room, wanted.room, span) == 0);
    CHECK_OK(MPI_Get_elements_c(&status, type, &elements));
    CHECK_OK(MPI_Get_count_c(&status, type, &count));
    CHECK(elements == parts);
    CHECK(count == (bytes == 0 ? 0 : bytes % m->bytes == 0 ? bytes / m->bytes : MPI_UNDEFINED));
}

static void check_external(MPI_Datatype type, const struct map *m)
{
    MPI_Count at = 0, all = COUNT * m->bytes;
    sides_open(m);
    CHECK_OK(
        MPI_Pack_external_c("external32", from.base, COUNT, type, packed, sizeof packed, &at));
    map_pack(m, COUNT, from.base, listed, true);
    CHECK(at == all && memcmp(packed, listed, (size_t)all) == 0);
    at = 0;
    CHECK_OK(MPI_Unpack_external_c("external32", packed, all, &at, to.base, COUNT, type));
    map_pack(m, COUNT, to.base, packed, true);
    CHECK(memcmp(packed, listed, (size_t)all) == 0);
}

static void check_map(MPI_Datatype type)
{
    struct map *m = map_of(type);
    check_bounds(type, m);
    if (m->bytes > 0 && map_step(m) <= MOST_EXTENT) {
        sides_open(m);
        check_packing(type, m);
        check_part(type, m);
        check_external(type, m);
    }
    free(m);
}

static void check_type(void)
{
    MPI_Datatype type = random_type(4);
    MPI_Datatype small = made_again(type, false), large = made_again(type, true);
    MPI_Datatype all[3] = { type, small, large };
    for (int i = 0; i < 3; i++)
        CHECK_OK(MPI_Type_commit(&all[i]));
    check_map(type);
    check_extents(type, small);
    check_extents(type, large);
    check_bytes(type, small);
    check_bytes(large, type);
    types_free(all, 3);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const char *seed = getenv("XMPI_TEST_SEED");
    state = 2 * (seed ? strtoull(seed, NULL, 0) : (uint64_t)time(NULL) << 8) + 1 +
            2 * (uint64_t)world_rank();
    printf("XMPI_TEST_SEED=%llu\n", (unsigned long long)(state / 2));
    for (int i = 0; i < 2000; i++)
        check_type();
    return check_done();
}

#else
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    return check_done();
}
#endif
