/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Packing in the portable representation "external32" (MPI 5.0, 14.5.2): big-endian, without
 * padding, and with sizes of its own; a long has 4 bytes, a wide character 2, a long double is
 * IEEE binary128.
 *
 * A layout knows machine types only, where long and long long are the same, so it is the recipe
 * of a datatype that says which named types its data consist of, in which order.  The bytes
 * themselves pass through a small chunk in the packed form of runtime/layout.h:
 *
 *     user's buffer <--- buffer_pack, buffer_unpack ---> chunk <--- item by item ---> external
 */
#include "runtime/fail.h"
#include "runtime/gpu.h"
#include "runtime/wide.h"
#include "src/api/datatype.h"
#include "src/pack.h"
#include "src/recipe.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

/* ---- one item ---- */

enum change { SAME, TO_INT, TO_UNSIGNED, TO_BINARY128 };

struct part { /* an item is one part, or two: complex numbers, pairs */
    enum change change;
    uint8_t native, external; /* bytes */
};

struct form {
    int parts;
    struct part part[2];
};

static size_t form_external(const struct form *form)
{
    return (size_t)form->part[0].external + (form->parts > 1 ? form->part[1].external : 0);
}

#if LDBL_MANT_DIG == 64
#define LONG_DOUBLE                                                                            \
    {                                                                                          \
        TO_BINARY128, 16, 16                                                                   \
    }
#else
#define LONG_DOUBLE                                                                            \
    {                                                                                          \
        SAME, 16, 16                                                                           \
    }
#endif
#define BYTES(n)                                                                               \
    {                                                                                          \
        SAME, n, n                                                                             \
    }
#define LONG                                                                                   \
    {                                                                                          \
        TO_INT, 8, 4                                                                           \
    }

static const struct form forms[BASIC_COUNT] = {
    [BASIC_LONG_DOUBLE] = { 1, { LONG_DOUBLE } },
    [BASIC_FLOAT16_COMPLEX] = { 2, { BYTES(2), BYTES(2) } },
    [BASIC_FLOAT_COMPLEX] = { 2, { BYTES(4), BYTES(4) } },
    [BASIC_DOUBLE_COMPLEX] = { 2, { BYTES(8), BYTES(8) } },
    [BASIC_LONG_DOUBLE_COMPLEX] = { 2, { LONG_DOUBLE, LONG_DOUBLE } },
    [BASIC_FLOAT128_COMPLEX] = { 2, { BYTES(16), BYTES(16) } },
    [BASIC_FLOAT_INT] = { 2, { BYTES(4), BYTES(4) } },
    [BASIC_DOUBLE_INT] = { 2, { BYTES(8), BYTES(4) } },
    [BASIC_LONG_INT] = { 2, { LONG, BYTES(4) } },
    [BASIC_2INT] = { 2, { BYTES(4), BYTES(4) } },
    [BASIC_SHORT_INT] = { 2, { BYTES(2), BYTES(4) } },
    [BASIC_LONG_DOUBLE_INT] = { 2, { LONG_DOUBLE, BYTES(4) } },
    [BASIC_2FLOAT] = { 2, { BYTES(4), BYTES(4) } },
    [BASIC_2DOUBLE] = { 2, { BYTES(8), BYTES(8) } },
};

static struct form form_of(const struct type *type)
{
    const struct layout *layout = type->layout;
    if (type->recipe && type->recipe->combiner == MPI_COMBINER_VALUE_INDEX)
        return (struct form){ 2,
                              { form_of(type->recipe->types[0]).part[0],
                                form_of(type->recipe->types[1]).part[0] } };
    if (type->handle == MPI_LONG)
        return (struct form){ 1, { LONG } };
    if (type->handle == MPI_UNSIGNED_LONG)
        return (struct form){ 1, { { TO_UNSIGNED, 8, 4 } } };
    if (type->handle == MPI_WCHAR)
        return (struct form){ 1, { { TO_UNSIGNED, 4, 2 } } };
    if (forms[layout->basic].parts)
        return forms[layout->basic];
    return (struct form){ 1, { BYTES((uint8_t)layout->size) } };
}

static void bytes_reverse(char *to, const char *from, size_t n)
{
    uint64_t eight;
    uint32_t four;
    if (n == 8) {
        memcpy(&eight, from, n);
        eight = __builtin_bswap64(eight);
        memcpy(to, &eight, n);
    } else if (n == 4) {
        memcpy(&four, from, n);
        four = __builtin_bswap32(four);
        memcpy(to, &four, n);
    } else {
        for (size_t i = 0; i < n; i++)
            to[i] = from[n - 1 - i];
    }
}

#if LDBL_MANT_DIG == 64
static void long_double_widen(char *to, const char *from)
{
    long double value;
    memcpy(&value, from, sizeof value);
    float128 wide = value;
    memcpy(to, &wide, sizeof wide);
}

static void long_double_narrow(char *to, const char *from)
{
    float128 wide;
    memcpy(&wide, from, sizeof wide);
    long double value = (long double)wide;
    memset(to, 0, sizeof value);
    memcpy(to, &value, 10);
}
#else
static void long_double_widen(char *to, const char *from)
{
    memcpy(to, from, 16);
}

static void long_double_narrow(char *to, const char *from)
{
    memcpy(to, from, 16);
}
#endif

/* The least significant bytes; the bytes left out must say nothing. */
static int integer_narrow(const struct part *part, char *to, const char *from)
{
    char fill = part->change == TO_INT && from[part->external - 1] & 0x80 ? -1 : 0;
    for (int i = part->external; i < part->native; i++)
        if (from[i] != fill)
            return fail(MPI_ERR_CONVERSION,
                        "argument inbuf holds an integer or character that does not fit into "
                        "the %d bytes "
                        "that external32 has for its datatype; use a larger one, such as "
                        "MPI_INT64_T",
                        part->external);
    bytes_reverse(to, from, part->external);
    return MPI_SUCCESS;
}

static int part_pack(const struct part *part, char *to, const char *from)
{
    char wide[16];
    if (part->change == TO_INT || part->change == TO_UNSIGNED)
        return integer_narrow(part, to, from);
    if (part->change == TO_BINARY128) {
        long_double_widen(wide, from);
        from = wide;
    }
    bytes_reverse(to, from, part->external);
    return MPI_SUCCESS;
}

static void part_unpack(const struct part *part, char *to, const char *from)
{
    char wide[16];
    bytes_reverse(wide, from, part->external);
    if (part->change == TO_BINARY128) {
        long_double_narrow(to, wide);
        return;
    }
    bool negative = part->change == TO_INT && from[0] & 0x80;
    memset(wide + part->external, negative ? 255 : 0, sizeof wide - part->external);
    memcpy(to, wide, part->native);
}

/* ---- the bytes that pass by ---- */

enum { CHUNK = 4096 };

struct stream {
    struct buffer user;
    size_t passed;        /* packed bytes of it that are in the chunk or beyond */
    size_t next, filled;  /* in the chunk */
    const char *external; /* unpacking: where items come from */
    char *out;            /* packing: where they go */
    char chunk[CHUNK];
};

/* The next n bytes of the user's data. */
static const char *stream_take(struct stream *stream, size_t n)
{
    size_t left = stream->filled - stream->next;
    if (left < n) {
        memmove(stream->chunk, stream->chunk + stream->next, left);
        size_t more = buffer_bytes(&stream->user) - stream->passed;
        if (more > CHUNK - left)
            more = CHUNK - left;
        buffer_pack(&stream->user, stream->passed, stream->chunk + left, more);
        stream->passed += more;
        stream->filled = left + more;
        stream->next = 0;
    }
    stream->next += n;
    return stream->chunk + stream->next - n;
}

static void stream_flush(struct stream *stream)
{
    buffer_unpack(&stream->user, stream->passed, stream->chunk, stream->next);
    stream->passed += stream->next;
    stream->next = 0;
}

/* Room for the next n bytes. */
static char *stream_room(struct stream *stream, size_t n)
{
    if (stream->next + n > CHUNK)
        stream_flush(stream);
    stream->next += n;
    return stream->chunk + stream->next - n;
}

static int items_pack(struct stream *stream, const struct form *form, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (int p = 0; p < form->parts; p++) {
            const struct part *part = &form->part[p];
            int rc = part_pack(part, stream->out, stream_take(stream, part->native));
            if (rc)
                return rc;
            stream->out += part->external;
        }
    return MPI_SUCCESS;
}

static void items_unpack(struct stream *stream, const struct form *form, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (int p = 0; p < form->parts; p++) {
            const struct part *part = &form->part[p];
            part_unpack(part, stream_room(stream, part->native), stream->external);
            stream->external += part->external;
        }
}

/* ---- the named types in a datatype ---- */

/* How many elements of the only component an element of a derived type holds. */
static size_t type_repeats(const struct type *type)
{
    return type->layout->size / type->recipe->types[0]->layout->size;
}

/* Of a struct: its recipe is the number of blocks, their lengths, their displacements. */
static size_t type_block(const struct type *type, size_t i)
{
    return (size_t)recipe_number(type->recipe, 1, i);
}

static int type_pass(const struct type *type, size_t count, struct stream *stream)
{
    if (count == 0 || type->layout->size == 0)
        return MPI_SUCCESS;
    if (type->predefined) {
        struct form form = form_of(type);
        if (stream->out)
            return items_pack(stream, &form, count);
        items_unpack(stream, &form, count);
        return MPI_SUCCESS;
    }
    const struct recipe *recipe = type->recipe;
    if (recipe->combiner != MPI_COMBINER_STRUCT)
        return type_pass(recipe->types[0], count * type_repeats(type), stream);
    for (size_t n = 0; n < count; n++)
        for (size_t i = 0; i < recipe->ntypes; i++) {
            int rc = type_pass(recipe->types[i], type_block(type, i), stream);
            if (rc)
                return rc;
        }
    return MPI_SUCCESS;
}

/* Bytes of one element in external32.  Never more than the native ones, which fit. */
static size_t type_external(const struct type *type)
{
    if (type->layout->size == 0)
        return 0;
    if (type->predefined) {
        struct form form = form_of(type);
        return form_external(&form);
    }
    const struct recipe *recipe = type->recipe;
    if (recipe->combiner != MPI_COMBINER_STRUCT)
        return type_repeats(type) * type_external(recipe->types[0]);
    size_t bytes = 0;
    for (size_t i = 0; i < recipe->ntypes; i++)
        bytes += type_block(type, i) * type_external(recipe->types[i]);
    return bytes;
}

/* ---- bodies ---- */

static int external_bytes(const char *datarep, int64_t count, const struct type *type,
                          MPI_Aint *bytes)
{
    if (strcmp(datarep, "external32") != 0)
        return fail(MPI_ERR_ARG, "argument datarep is \"%s\", must be \"external32\"", datarep);
    size_t each = type_external(type);
    if (!__builtin_mul_overflow(count, (int64_t)each, bytes))
        return MPI_SUCCESS;
    return fail(MPI_ERR_COUNT, "%lld elements of %zu bytes do not fit into 63 bits",
                (long long)count, each);
}

/* The external bytes of a call: those of the user, or where these are on a device a copy. */
struct outside {
    struct buffer user, here;
};

static int outside_open(struct outside *outside, const void *at, MPI_Aint bytes)
{
    outside->user = outside->here = buffer_user(at, bytes, &layout_bytes);
    if (outside->user.where == HERE)
        return MPI_SUCCESS;
    outside->here =
        (struct buffer){ malloc((size_t)bytes), (size_t)bytes, &layout_bytes, HERE };
    if (outside->here.base)
        return MPI_SUCCESS;
    return fail(MPI_ERR_NO_MEM, "no memory for a copy of %lld bytes on a device",
                (long long)bytes);
}

static void outside_close(struct outside *outside)
{
    if (outside->user.where == AWAY)
        free(outside->here.base);
}

/* Convert what is in the stream's user's buffer, or will be. */
static int stream_run(struct stream *stream, const struct type *type, bool pack,
                      struct outside *outside)
{
    stream->passed = stream->next = stream->filled = 0;
    stream->external = pack ? NULL : outside->here.base;
    stream->out = pack ? outside->here.base : NULL;
    bool copied = outside->user.where == AWAY;
    if (copied && !pack)
        buffer_copy(&outside->here, &outside->user);
    int rc = type_pass(type, stream->user.count, stream);
    if (!pack)
        stream_flush(stream);
    else if (copied)
        buffer_copy(&outside->user, &outside->here);
    return rc || (!copied && stream->user.where == HERE) ? rc : gpu_check();
}

int xmpi_pack_external(string_t datarep, data_t inbuf, count_t incount, committed_t datatype,
                       out_t outbuf, extent_t outsize, extent_out_t *position)
{
    MPI_Aint bytes;
    struct outside outside;
    int rc = external_bytes(datarep, incount, datatype, &bytes);
    if (!rc)
        rc = pack_check(outbuf, *position, bytes, outsize, "outbuf", "outsize");
    if (!rc && bytes > 0)
        rc = outside_open(&outside, (char *)outbuf + *position, bytes);
    if (rc || bytes == 0)
        return rc;
    struct stream stream;
    stream.user = buffer_user(inbuf, incount, datatype->layout);
    rc = stream_run(&stream, datatype, true, &outside);
    outside_close(&outside);
    if (!rc)
        *position += bytes;
    return rc;
}

int xmpi_unpack_external(string_t datarep, in_t inbuf, extent_t insize, extent_out_t *position,
                         room_t outbuf, count_t outcount, committed_t datatype)
{
    MPI_Aint bytes;
    struct outside outside;
    int rc = external_bytes(datarep, outcount, datatype, &bytes);
    if (!rc)
        rc = pack_check(inbuf, *position, bytes, insize, "inbuf", "insize");
    if (!rc && bytes > 0)
        rc = outside_open(&outside, (const char *)inbuf + *position, bytes);
    if (rc || bytes == 0)
        return rc;
    struct stream stream;
    stream.user = buffer_user(outbuf, outcount, datatype->layout);
    rc = stream_run(&stream, datatype, false, &outside);
    outside_close(&outside);
    *position += bytes;
    return rc;
}

int xmpi_pack_external_size(string_t datarep, count_t incount, committed_t datatype,
                            extent_out_t *size)
{
    return external_bytes(datarep, incount, datatype, size);
}
