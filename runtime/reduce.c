/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finding a kernel, and applying an operation to vectors of any datatype.
 *
 *     dense                one call of the kernel over all items
 *     pairs with padding   the same: the kernel steps by the C struct
 *     anything else        a walk over the runs, one call per stretch of items
 *
 * The walk serves derived types of one basic type, which accumulate operations allow.  User
 * functions compute inout = in op inout: the second operand is first brought to where the
 * result shall be; only when the result replaces the first operand of an operation that does
 * not commute is there a temporary, of a bounded number of elements.
 */
#include "runtime/reduce.h"
#include "runtime/reduce_kernels.h"
#include "runtime/layout_inside.h"
#include "runtime/fail.h"

#include "mpi.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <stdatomic.h>
#include <stdlib.h>

/* ---- finding ---- */

#if defined(__x86_64__)
/* Not all compilers know the name of the feature. */
static bool cpu_converts_halves(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && c & bit_F16C;
}
#endif

enum reduce_width reduce_width(void)
{
    static enum reduce_width known = REDUCE_WIDTHS;
    if (known == REDUCE_WIDTHS) {
        known = REDUCE_BASELINE;
#if defined(__x86_64__)
        if (__builtin_cpu_supports("avx2") && cpu_converts_halves())
            known = REDUCE_AVX2;
        if (known == REDUCE_AVX2 && __builtin_cpu_supports("avx512f") &&
            __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512vl"))
            known = REDUCE_AVX512;
#endif
    }
    return known;
}

reduce_kernel *reduce_find_wide(enum reduce_op op, enum basic basic, enum reduce_width width)
{
    reduce_kernel *kernel = reduce_find_arith(op, basic, width);
    if (!kernel)
        kernel = reduce_find_half(op, basic, width);
    if (!kernel)
        kernel = reduce_find_logic(op, basic, width);
    if (!kernel)
        kernel = reduce_find_rare(op, basic);
    return kernel ? kernel : reduce_find_loc(op, basic, width);
}

reduce_kernel *reduce_find(enum reduce_op op, enum basic basic)
{
    static _Atomic(reduce_kernel *) found[REDUCE_OPS][BASIC_COUNT];
    reduce_kernel *kernel = atomic_load_explicit(&found[op][basic], memory_order_relaxed);
    if (kernel)
        return kernel;
    kernel = reduce_find_wide(op, basic, reduce_width());
    atomic_store_explicit(&found[op][basic], kernel, memory_order_relaxed);
    return kernel;
}

/* ---- builtin operations on layouts with holes ---- */

struct walk {
    reduce_kernel *kernel;
    char *to;
    const char *a, *b;
    size_t item;    /* bytes of data in an item */
    ptrdiff_t step; /* bytes between the items of an array, as the kernel walks it */
};

/* `count` items, `distance` apart. */
static void walk_items(const struct walk *w, ptrdiff_t at, size_t count, ptrdiff_t distance)
{
    if (count == 1 || distance == w->step) {
        w->kernel(buffer_at(w->to, at), buffer_at(w->a, at), buffer_at(w->b, at), count);
        return;
    }
    for (size_t i = 0; i < count; i++, at += distance)
        w->kernel(buffer_at(w->to, at), buffer_at(w->a, at), buffer_at(w->b, at), 1);
}

static void walk_elements(const struct walk *w, const struct layout *l, ptrdiff_t at,
                          size_t count, ptrdiff_t distance);

static void walk_run(const struct walk *w, const struct run *run, ptrdiff_t at)
{
    at += run->offset;
    size_t items = run->length / w->item;
    if (run->inner) {
        walk_elements(w, run->inner, at, run->count, run->stride);
    } else if (items == 1) {
        walk_items(w, at, run->count, run->stride);
    } else {
        for (size_t i = 0; i < run->count; i++, at += run->stride)
            walk_items(w, at, items, (ptrdiff_t)w->item);
    }
}

/* One item that is not one piece: BASIC_SHORT_INT, which no constructor takes apart. */
static bool layout_is_split_item(const struct layout *l)
{
    return l->nitems == 1 && l->nruns > 1;
}

static void walk_list(const struct walk *w, const struct spot_list *list, ptrdiff_t at)
{
    for (size_t i = 0; i < list->n; i++) {
        size_t bytes = list->at[i + 1].packed - list->at[i].packed;
        walk_items(w, at + list->at[i].offset, bytes / w->item, (ptrdiff_t)w->item);
    }
}

static void walk_element(const struct walk *w, const struct layout *l, ptrdiff_t at)
{
    if (l->list)
        walk_list(w, l->list, at);
    for (size_t i = 0; i < l->nruns; i++)
        walk_run(w, &l->runs[i], at);
}

static void walk_elements(const struct walk *w, const struct layout *l, ptrdiff_t at,
                          size_t count, ptrdiff_t distance)
{
    if (layout_is_split_item(l)) {
        walk_items(w, at, count, distance);
        return;
    }
    for (size_t i = 0; i < count; i++, at += distance)
        walk_element(w, l, at);
}

static void reduce_walk(const struct reduction *r, void *to, const void *a, const void *b,
                        size_t count)
{
    const struct layout *l = r->layout;
    size_t item = l->size / l->nitems, extent = basic_extent(l->basic);
    struct walk w = { .kernel = r->kernel,
                      .to = to,
                      .a = a,
                      .b = b,
                      .item = item,
                      .step = (ptrdiff_t)(extent ? extent : item) };
    struct run all;
    if (l->nruns == 1 && run_repeat(l->runs, count, l->extent, &all))
        walk_run(&w, &all, 0);
    else
        walk_elements(&w, l, 0, count, l->extent);
}

/* ---- user functions ---- */

enum { REDUCE_STACK_BYTES = 4096, REDUCE_HEAP_BYTES = 1 << 16 };

/* to = a op to, where b was brought to `to`; to and a are apart. */
static void user_into(const struct reduction *r, void *to, const void *a, const void *b,
                      size_t count)
{
    if (to != b)
        buffer_copy(&(struct buffer){ to, count, r->layout, HERE },
                    &(struct buffer){ (void *)b, count, r->layout, HERE });
    r->user(r, a, to, count);
}

/* Elements at a time whose span fits into `bytes`, at least one. */
static size_t chunk_elements(const struct layout *l, size_t count, size_t bytes)
{
    ptrdiff_t low;
    size_t one = layout_span(l, 1, &low), two = layout_span(l, 2, &low);
    if (one >= bytes)
        return 1;
    size_t n = two == one ? count : 1 + (bytes - one) / (two - one);
    return n < count ? n : count;
}

/* a = a op b through a temporary inout, `chunk` elements at a time; `origin` is where element 0
 * of the temporary has its origin. */
static void user_by_chunks(const struct reduction *r, char *a, const char *b, size_t count,
                           char *origin, size_t chunk)
{
    for (size_t done = 0; done < count; done += chunk) {
        size_t n = count - done < chunk ? count - done : chunk;
        ptrdiff_t at = (ptrdiff_t)done * r->layout->extent;
        user_into(r, origin, buffer_at(a, at), buffer_at(b, at), n);
        buffer_copy(&(struct buffer){ buffer_at(a, at), n, r->layout, HERE },
                    &(struct buffer){ origin, n, r->layout, HERE });
    }
}

/* One temporary is kept, for the next reduction of whichever thread comes first. */
static _Atomic(void *) kept;

static void *temporary_take(size_t bytes)
{
    if (bytes > REDUCE_HEAP_BYTES)
        return malloc(bytes); /* one element is as long */
    void *memory = atomic_exchange(&kept, NULL);
    return memory ? memory : malloc(REDUCE_HEAP_BYTES);
}

static void temporary_give(void *memory, size_t bytes)
{
    free(bytes <= REDUCE_HEAP_BYTES ? atomic_exchange(&kept, memory) : memory);
}

static int user_in_place(const struct reduction *r, void *a, const void *b, size_t count)
{
    const struct layout *l = r->layout;
    ptrdiff_t low;
    char stack[REDUCE_STACK_BYTES] __attribute__((aligned(64)));
    char *storage = stack;
    size_t chunk = count;
    /* Rounding the origin to 16 keeps the alignment the user's function may count on. */
    size_t bytes = layout_span(l, chunk, &low) + 16;
    if (bytes > sizeof stack) {
        chunk = chunk_elements(l, count, REDUCE_HEAP_BYTES - 16);
        bytes = layout_span(l, chunk, &low) + 16;
        storage = temporary_take(bytes);
        if (!storage)
            return fail(MPI_ERR_NO_MEM, "no memory for a temporary of %zu bytes in a reduction",
                        bytes);
    }
    user_by_chunks(r, a, b, count, buffer_at(storage, -(low & ~(ptrdiff_t)15)), chunk);
    if (storage != stack)
        temporary_give(storage, bytes);
    return MPI_SUCCESS;
}

bool reduce_is_padded(const struct layout *layout)
{
    return layout->nitems == 1 && !layout->dense && layout->true_lb == 0 &&
           (size_t)layout->extent == basic_extent(layout->basic);
}

int reduce_apply(const struct reduction *r, void *to, const void *a, const void *b,
                 size_t count)
{
    const struct layout *l = r->layout;
    if (count == 0 || l->size == 0)
        return MPI_SUCCESS;
    if (r->kernel && l->dense && l->true_lb == 0)
        r->kernel(to, a, b, count * l->nitems);
    else if (r->kernel)
        reduce_walk(r, to, a, b, count);
    else if (to == a && to != b && !r->commutes)
        return user_in_place(r, to, b, count);
    else if (to == a)
        r->user(r, b, to, count);
    else
        user_into(r, to, a, b, count);
    return MPI_SUCCESS;
}
