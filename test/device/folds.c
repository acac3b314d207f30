/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reductions of memory of a device, with a driver that pretends and performs the kernels' own text:
 * the same bits as on the host, and where they are made.
 *     folds bits                 every operation on every type, at all alignments
 *     folds kernels | staged     an allreduce of a mebibyte, by the device or in copies on the host
 *     folds crowded              by a device that has room for one more vector, and no more
 *     folds mean                 MPIX_AVG, with the same plan on both
 */
#include "fake.h"
#include "test/conform/check.h"

#include <mpix.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

static struct {
    unsigned (*launches)(void);
    size_t (*crossed)(void);
    size_t (*pinned)(void);
} driver;

static void *driver_function(const char *name)
{
    void *found = dlsym(dlopen(getenv("XMPI_LIBCUDA"), RTLD_NOW | RTLD_LOCAL), name);
    CHECK(found);
    return found;
}

/* ---- values ---- */

static uint32_t state = 12345;

static uint32_t draw(void)
{
    return state = state * 1664525 + 1013904223, state >> 8;
}

static double draw_real(void)
{
    double scale = draw() % 2 ? 1e-3 : 1e4;
    return ((double)draw() - (1 << 23)) * scale / (1 << 23);
}

enum content { INTEGERS, TRUTH, HALVES, FLOATS, DOUBLES, PAIRS };

static void draw_item(char *at, enum content content, size_t size, size_t value_bytes)
{
    float f = (float)draw_real();
    double d = draw_real();
    for (size_t i = 0; i < size; i++)
        at[i] = (char)draw();
    if (content == TRUTH)
        memset(at, 0, size), at[0] = draw() % 2;
    if (content == HALVES) /* no infinities; subnormals are among them */
        at[1] &= (char)0xbf;
    for (size_t i = 0; content == FLOATS && i < size; i += sizeof f)
        memcpy(at + i, &f, sizeof f);
    for (size_t i = 0; content == DOUBLES && i < size; i += sizeof d)
        memcpy(at + i, &d, sizeof d);
    if (content == PAIRS) /* values that are often equal, also as floats */
        memset(at, 0, value_bytes),
            at[value_bytes == 2 ? 1 : value_bytes - 1] = 64 + draw() % 3;
}

/* ---- every operation on every type ---- */

static const struct {
    MPI_Datatype type;
    enum content content;
    size_t value_bytes; /* of a pair */
} types[] = {
    { MPI_INT8_T, INTEGERS, 0 },
    { MPI_INT16_T, INTEGERS, 0 },
    { MPI_INT32_T, INTEGERS, 0 },
    { MPI_INT64_T, INTEGERS, 0 },
    { MPI_UINT8_T, INTEGERS, 0 },
    { MPI_UINT16_T, INTEGERS, 0 },
    { MPI_UINT32_T, INTEGERS, 0 },
    { MPI_UINT64_T, INTEGERS, 0 },
    { MPI_BYTE, INTEGERS, 0 },
    { MPI_C_BOOL, TRUTH, 0 },
    { MPI_LOGICAL1, TRUTH, 0 },
    { MPI_LOGICAL2, TRUTH, 0 },
    { MPI_LOGICAL, TRUTH, 0 },
    { MPI_LOGICAL8, TRUTH, 0 },
    { MPIX_C_FLOAT16, HALVES, 0 },
    { MPIX_BFLOAT16, HALVES, 0 },
    { MPI_FLOAT, FLOATS, 0 },
    { MPI_DOUBLE, DOUBLES, 0 },
    { MPI_C_FLOAT_COMPLEX, FLOATS, 0 },
    { MPI_C_DOUBLE_COMPLEX, DOUBLES, 0 },
    { MPI_FLOAT_INT, PAIRS, 4 },
    { MPI_DOUBLE_INT, PAIRS, 8 },
    { MPI_LONG_INT, PAIRS, 8 },
    { MPI_2INT, PAIRS, 4 },
    { MPI_SHORT_INT, PAIRS, 2 },
    { MPI_2REAL, PAIRS, 4 },
    { MPI_2DOUBLE_PRECISION, PAIRS, 8 },
};
static const MPI_Op ops[] = { MPI_SUM,  MPI_PROD, MPI_MIN, MPI_MAX,  MPI_BAND,   MPI_BOR,
                              MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_MINLOC, MPI_MAXLOC };
enum { ITEMS = 77, SPAN = ITEMS * 32 };

/* `late` items behind a multiple of 64.  False: the operation is not defined. */
static bool one_fold(int t, MPI_Op op, size_t extent, size_t late)
{
    static char memory[3][SPAN + 64] __attribute__((aligned(64)));
    char *in = memory[0] + late * extent, *inout = memory[1], *expected = memory[2];
    for (int i = 0; i < ITEMS; i++) {
        draw_item(in + (size_t)i * extent, types[t].content, extent, types[t].value_bytes);
        draw_item(inout + (size_t)i * extent, types[t].content, extent, types[t].value_bytes);
    }
    memcpy(expected, inout, SPAN);
    if (MPI_Reduce_local(in, expected, ITEMS, types[t].type, op) != MPI_SUCCESS)
        return false;
    unsigned before = driver.launches();
    CHECK_OK(MPI_Reduce_local(fake_device(in), fake_device(inout), ITEMS, types[t].type, op));
    CHECK(driver.launches() == before + 1);
    CHECK(memcmp(inout, expected, SPAN) == 0);
    return true;
}

static void bits(void)
{
    int defined = 0;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int t = 0; t < (int)(sizeof types / sizeof types[0]); t++)
        for (int o = 0; o < (int)(sizeof ops / sizeof ops[0]); o++) {
            MPI_Aint low, extent;
            MPI_Type_get_extent(types[t].type, &low, &extent);
            for (size_t late = 0; late < 2; late++)
                defined += one_fold(t, ops[o], (size_t)extent, late);
        }
    printf("%d folds\n", defined);
    CHECK(defined == 2 * (8 * 10 + 3 + 3 + 4 * 3 + 4 * 4 + 2 * 2 + 7 * 2));
}

/* ---- an allreduce ---- */

enum { COUNT = 1 << 18 };

static float *vector(void)
{
    float *v = malloc(COUNT * sizeof *v);
    for (int i = 0; v && i < COUNT; i++)
        v[i] = (float)(i % 1000 + world_rank());
    return v;
}

enum way { KERNELS, STAGED, CROWDED };

static void allreduce(enum way way, int first_is_free)
{
    float *in = vector(), *out = vector();
    int p = world_size();
    if (first_is_free) /* the others have not used their GPU yet */
        CHECK_OK(MPI_Allreduce(fake_device(in), fake_device(out), COUNT, MPI_FLOAT, MPI_SUM,
                               MPI_COMM_WORLD));
    for (int round = 0; round < 3; round++) {
        size_t crossed = driver.crossed();
        unsigned launches = driver.launches();
        CHECK_OK(MPI_Allreduce(fake_device(in), fake_device(out), COUNT, MPI_FLOAT, MPI_SUM,
                               MPI_COMM_WORLD));
        for (int i = 0; i < COUNT; i++)
            CHECK(out[i] == (float)(p * (i % 1000) + p * (p - 1) / 2));
        size_t bytes = COUNT * sizeof *in;
        crossed = driver.crossed() - crossed; /* a byte per allocation that is shared */
        CHECK(way == KERNELS ? crossed < 64 : crossed >= (way == STAGED ? 2 * bytes : 64));
        CHECK(way == STAGED ? driver.launches() == launches : driver.launches() > launches);
    }
    CHECK(way == CROWDED ? driver.pinned() > 0 : way == STAGED || driver.pinned() == 0);
    free(in);
    free(out);
}

static void mean(void)
{
    static const MPI_Datatype kinds[] = { MPIX_C_FLOAT16,      MPIX_BFLOAT16,
                                          MPI_FLOAT,           MPI_DOUBLE,
                                          MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX };
    static const enum content contents[] = { HALVES, HALVES, FLOATS, DOUBLES, FLOATS, DOUBLES };
    static char in[SPAN], out[SPAN], expected[SPAN];
    state += (uint32_t)world_rank();
    for (int k = 0; k < 6; k++) {
        int size;
        MPI_Type_size(kinds[k], &size);
        for (int i = 0; i < ITEMS; i++)
            draw_item(in + i * size, contents[k], (size_t)size, 0);
        CHECK_OK(MPI_Allreduce(in, expected, ITEMS, kinds[k], MPIX_AVG, MPI_COMM_WORLD));
        unsigned launches = driver.launches();
        CHECK_OK(MPI_Allreduce(fake_device(in), fake_device(out), ITEMS, kinds[k], MPIX_AVG,
                               MPI_COMM_WORLD));
        CHECK(driver.launches() > launches + 1);
        CHECK(memcmp(out, expected, (size_t)(ITEMS * size)) == 0);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    *(void **)&driver.launches = driver_function("fake_launches");
    *(void **)&driver.crossed = driver_function("fake_crossed");
    *(void **)&driver.pinned = driver_function("fake_pinned");
    if (strcmp(argv[1], "bits") == 0)
        bits();
    else if (strcmp(argv[1], "mean") == 0)
        mean();
    else
        allreduce(strcmp(argv[1], "kernels") == 0   ? KERNELS
                  : strcmp(argv[1], "crowded") == 0 ? CROWDED
                                                    : STAGED,
                  strcmp(argv[1], "turns") == 0);
    return check_done();
}
