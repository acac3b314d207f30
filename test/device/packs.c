/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Types with gaps in memory of a device, with a driver that pretends and performs the kernels' own text:
 * the same bytes as on the host, and by how many kernels.   packs CASE
 *     packs types      every type of a table, packed and unpacked at all alignments; one rank
 *     packs messages   sent, received, broadcast, gathered; few bytes and many
 *     packs streams    the same in a stream of the device, which nobody waits for
 * With "copies" behind the case no kernel may have run.
 */
#include "../stream/driver.h"

#include <stdbool.h>
#include <stdint.h>

enum { SPAN = 1 << 16, FAR = SPAN / 4 };

static bool by_kernels = true;

static char item(size_t i, unsigned salt)
{
    return (char)((i * 2654435761u + salt * 40503u) >> 11);
}

static void fill(char *at, size_t bytes, unsigned salt)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = item(i, salt);
}

/* ---- types: each of them takes many copies ---- */

static MPI_Datatype indexed(MPI_Datatype of)
{
    int lengths[40], places[40];
    MPI_Datatype type;
    for (int i = 0; i < 40; i++) {
        lengths[i] = 1 + i * i % 5;
        places[i] = 9 * ((i * 7) % 40) + i % 3;
    }
    MPI_Type_indexed(40, lengths, places, of, &type);
    return type;
}

static MPI_Datatype chars(void)
{
    return indexed(MPI_CHAR);
}

static MPI_Datatype shorts(void)
{
    return indexed(MPI_SHORT);
}

static MPI_Datatype ints(void)
{
    return indexed(MPI_INT);
}

static MPI_Datatype doubles(void)
{
    return indexed(MPI_DOUBLE);
}

static MPI_Datatype complexes(void)
{
    return indexed(MPI_C_DOUBLE_COMPLEX);
}

static MPI_Datatype backwards(void)
{
    MPI_Aint places[30];
    MPI_Datatype type;
    for (int i = 0; i < 30; i++)
        places[i] = -8 * i * (i % 4 + 1) - 8 * i * 5;
    MPI_Type_create_hindexed_block(30, 3, places, MPI_SHORT, &type);
    return type;
}

static MPI_Datatype members(void)
{
    MPI_Datatype old[12], type, vector, resized;
    int lengths[12];
    MPI_Aint places[12];
    MPI_Type_vector(3, 2, 5, MPI_SHORT, &vector);
    for (int i = 0; i < 12; i++) {
        old[i] = i % 3 == 0 ? MPI_INT : i % 3 == 1 ? vector : MPI_CHAR;
        lengths[i] = 1 + i % 2;
        places[i] = 100 * i;
    }
    MPI_Type_create_struct(12, lengths, places, old, &type);
    MPI_Type_create_resized(type, -4, 1240, &resized);
    MPI_Type_free(&vector);
    MPI_Type_free(&type);
    return resized;
}

static MPI_Datatype nested(void)
{
    MPI_Datatype row, plane, box, type;
    MPI_Type_vector(3, 1, 4, MPI_INT, &row);
    MPI_Type_create_hvector(4, 1, 56, row, &plane);
    MPI_Type_create_hvector(5, 1, 300, plane, &box);
    MPI_Type_create_hvector(3, 1, 1700, box, &type);
    MPI_Type_free(&row);
    MPI_Type_free(&plane);
    MPI_Type_free(&box);
    return type;
}

static MPI_Datatype cut_out(void)
{
    int sizes[] = { 9, 8, 7, 6 }, part[] = { 4, 3, 5, 2 }, start[] = { 2, 4, 1, 3 };
    MPI_Datatype type;
    MPI_Type_create_subarray(4, sizes, part, start, MPI_ORDER_C, MPI_FLOAT, &type);
    return type;
}

static MPI_Datatype dealt(void)
{
    int sizes[] = { 37, 41 }, how[] = { MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC };
    int blocks[] = { 3, 2 }, grid[] = { 2, 3 };
    MPI_Datatype type;
    MPI_Type_create_darray(6, 4, 2, sizes, how, blocks, grid, MPI_ORDER_FORTRAN, MPI_SHORT,
                           &type);
    return type;
}

/* Types of which the same inner one is a part in many places. */
static MPI_Datatype shared_parts(void)
{
    MPI_Datatype inner = cut_out(), type;
    MPI_Aint places[] = { 0, 12296, 24608 };
    MPI_Type_create_hindexed_block(3, 1, places, inner, &type);
    MPI_Type_free(&inner);
    return type;
}

static const struct {
    const char *name;
    MPI_Datatype (*make)(void);
    int count;
} types[] = {
    { "indexed chars", chars, 5 },
    { "indexed shorts", shorts, 5 },
    { "indexed ints", ints, 5 },
    { "indexed doubles", doubles, 5 },
    { "indexed complexes", complexes, 2 },
    { "backwards", backwards, 1 },
    { "members", members, 13 },
    { "nested vectors", nested, 2 },
    { "subarray", cut_out, 3 },
    { "darray", dealt, 2 },
    { "shared parts", shared_parts, 1 },
};
enum { TYPES = sizeof types / sizeof types[0] };

static MPI_Datatype type_of(int i)
{
    MPI_Datatype type = types[i].make();
    MPI_Type_commit(&type);
    return type;
}

/* ---- packing ---- */

static unsigned kernels;
static size_t (*driver_crossed)(void);

static void expect_kernels(const char *what)
{
    unsigned now = driver.launches();
    if ((now > kernels) != by_kernels) {
        printf("%s: %u kernels\n", what, now - kernels);
        CHECK(!"the way that was expected");
    }
    kernels = now;
}

static char here[SPAN], away[SPAN], flat[2][SPAN], *pinned;

enum where { PAGEABLE, PINNED, DEVICE };

/* Where the packed form is, `late` bytes behind a multiple of 64. */
static void one_type(int i, int late, int base_late, enum where where)
{
    MPI_Datatype type = type_of(i);
    int bytes, position = 0, n = types[i].count;
    MPI_Type_size(type, &bytes);
    bytes *= n;
    CHECK(bytes + 64 <= SPAN);
    char *host = where == PINNED ? pinned : flat[1];
    char *packed = where == DEVICE ? fake_device(host) : host;
    char *from = here + FAR + base_late, *data = away + FAR + base_late;
    fill(here, SPAN, 1);
    fill(away, SPAN, 1);
    fill(host, SPAN, 2);
    memset(flat[0], 0, SPAN);
    CHECK_OK(MPI_Pack(from, n, type, flat[0], SPAN, &position, MPI_COMM_SELF));
    CHECK(position == bytes);
    position = late;
    CHECK_OK(MPI_Pack(fake_device(data), n, type, packed, SPAN, &position, MPI_COMM_SELF));
    CHECK(position == late + bytes && memcmp(host + late, flat[0], (size_t)bytes) == 0);
    CHECK(host[late + bytes] == item((size_t)(late + bytes), 2));
    expect_kernels(types[i].name);
    fill(host, SPAN, 3);
    fill(flat[0], SPAN, 3);
    position = late;
    CHECK_OK(MPI_Unpack(flat[0], SPAN, &position, from, n, type, MPI_COMM_SELF));
    position = late;
    CHECK_OK(MPI_Unpack(packed, SPAN, &position, fake_device(data), n, type, MPI_COMM_SELF));
    CHECK(memcmp(here, away, SPAN) == 0);
    expect_kernels(types[i].name);
    MPI_Type_free(&type);
}

static void test_types(void)
{
    for (int i = 0; i < TYPES; i++)
        for (int late = 0; late < 24; late += late < 4 ? 1 : 4) {
            one_type(i, late, 0, PAGEABLE);
            one_type(i, late, 16, PINNED);
            one_type(i, 0, late, DEVICE);
        }
}

/* From one layout to another, both on the device, which no byte leaves. */
static void test_between(void)
{
    MPI_Datatype a = doubles(), b, resized;
    int bytes;
    MPI_Type_size(a, &bytes);
    MPI_Type_vector(bytes / 8, 1, 3, MPI_DOUBLE, &b);
    MPI_Type_create_resized(b, 0, bytes * 3 + 4096, &resized);
    MPI_Type_commit(&a);
    MPI_Type_commit(&resized);
    fill(here, SPAN, 5);
    fill(away, SPAN, 5);
    memset(flat, 0, sizeof flat);
    CHECK_OK(MPI_Sendrecv(here, 2, a, 0, 0, flat[0], 2, resized, 0, 0, MPI_COMM_SELF,
                          MPI_STATUS_IGNORE));
    for (int round = 0; round < 2; round++) {
        size_t crossed = driver_crossed();
        CHECK_OK(MPI_Allgather(fake_device(away), 2, a, fake_device(flat[1]), 2, resized,
                               MPI_COMM_SELF));
        CHECK(memcmp(flat[0], flat[1], SPAN) == 0);
        CHECK(round == 0 || driver_crossed() == crossed); /* a table crosses, once */
    }
    expect_kernels("between");
    MPI_Type_free(&a);
    MPI_Type_free(&b);
    MPI_Type_free(&resized);
}

/* ---- messages ---- */

/* A buffer of some elements with this type's gaps, the same on host and device. */
struct data {
    MPI_Datatype type;
    int count;
    char *here, *away; /* where elements begin */
    char *memory[2];
    size_t span;
};

static struct data data_of(int i, int times, unsigned salt)
{
    struct data d = { .type = type_of(i), .count = times * types[i].count };
    MPI_Aint low, extent, data_low, data_extent;
    MPI_Type_get_extent(d.type, &low, &extent);
    MPI_Type_get_true_extent(d.type, &data_low, &data_extent);
    d.span = (size_t)(d.count * extent + data_extent + FAR);
    size_t before = data_low < 0 ? (size_t)-data_low : 0;
    for (int k = 0; k < 2; k++) {
        d.memory[k] = malloc(d.span + before);
        CHECK(d.memory[k]);
        fill(d.memory[k], d.span + before, salt);
    }
    d.here = d.memory[0] + before;
    d.away = d.memory[1] + before;
    d.span += before;
    return d;
}

static void data_check(struct data *d)
{
    CHECK(memcmp(d->memory[0], d->memory[1], d->span) == 0);
    free(d->memory[0]);
    free(d->memory[1]);
    MPI_Type_free(&d->type);
}

static void exchange(const struct data *out, const struct data *in, int away)
{
    int rank = world_rank(), size = world_size();
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    CHECK_OK(MPI_Sendrecv(away ? fake_device(out->away) : out->here, out->count, out->type,
                          right, 1, away ? fake_device(in->away) : in->here, in->count,
                          in->type, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void collectives(const struct data *one, const struct data *all, int away)
{
    void *mine = away ? fake_device(one->away) : one->here;
    void *others = away ? fake_device(all->away) : all->here;
    CHECK_OK(MPI_Bcast(mine, one->count, one->type, 0, MPI_COMM_WORLD));
    CHECK_OK(MPI_Allgather(mine, one->count, one->type, others, one->count, one->type,
                           MPI_COMM_WORLD));
}

static void test_messages(int times)
{
    unsigned salt = 7 + (unsigned)world_rank();
    for (int i = 0; i < TYPES; i++) {
        struct data out = data_of(i, times, salt), in = data_of(i, times, salt + 50);
        struct data all = data_of(i, times * world_size(), salt + 90);
        for (int away = 0; away < 2; away++) {
            exchange(&out, &in, away);
            collectives(&out, &all, away);
        }
        expect_kernels(types[i].name);
        data_check(&out);
        data_check(&in);
        data_check(&all);
    }
}

/* ---- streams ---- */

static void test_streams(void)
{
    cuda_stream stream = stream_new();
    MPI_Comm comm = comm_with(stream);
    int rank = world_rank(), size = world_size();
    for (int i = 0; i < TYPES; i++) {
        struct data out = data_of(i, 1, (unsigned)rank), in = data_of(i, 1, 99);
        exchange(&out, &in, 0);
        for (int round = 0; round < 2; round++) {
            unsigned waits = driver.waits();
            MPI_Request request;
            CHECK_OK(MPIX_Irecv_enqueue(fake_device(in.away), in.count, in.type,
                                        (rank + size - 1) % size, 2, comm, &request));
            CHECK_OK(MPIX_Send_enqueue(fake_device(out.away), out.count, out.type,
                                       (rank + 1) % size, 2, comm));
            CHECK_OK(MPIX_Wait_enqueue(&request, MPI_STATUS_IGNORE));
            CHECK(round == 0 || driver.waits() == waits); /* a table is awaited, once */
            CHECK(driver.stream_synchronize(stream) == 0);
        }
        expect_kernels(types[i].name);
        data_check(&out);
        data_check(&in);
    }
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
    driver_open();
    driver_find(&driver_crossed, "fake_crossed");
    cuda_mem_host_alloc *pin;
    driver_find(&pin, "cuMemHostAlloc");
    CHECK(pin((void **)&pinned, SPAN, 0) == 0);
    by_kernels = argc < 3;
    if (strcmp(argv[1], "types") == 0) {
        test_types();
        test_between();
    } else if (strcmp(argv[1], "messages") == 0) {
        test_messages(1);
        test_messages(25);
    } else {
        test_streams();
    }
    return check_done();
}
