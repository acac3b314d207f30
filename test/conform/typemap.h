/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a datatype is by the text of the standard (MPI 5.0, 5.1): a list of basic items and their
 * displacements, and bounds.  Made from the recipe of a type, one item after the other.
 */
#ifndef TYPEMAP_H
#define TYPEMAP_H

#include "random_types.h"

enum { MOST_EXTENT = 40000 };

struct map {
    int n, bytes;
    MPI_Aint lb, ub, true_lb, true_ub, align;
    bool marked; /* bounds were set here or in a part */
    struct item {
        MPI_Aint at;
        int bytes;
    } item[MOST_BYTES];
};

static MPI_Aint least(MPI_Aint a, MPI_Aint b)
{
    return a < b ? a : b;
}

static MPI_Aint most(MPI_Aint a, MPI_Aint b)
{
    return a > b ? a : b;
}

static void map_add(struct map *m, MPI_Aint at, int bytes, MPI_Aint align)
{
    CHECK(m->n < MOST_BYTES);
    m->item[m->n].at = at;
    m->item[m->n].bytes = bytes;
    m->true_lb = m->n ? least(m->true_lb, at) : at;
    m->true_ub = m->n ? most(m->true_ub, at + bytes) : at + bytes;
    m->align = most(m->align, align);
    m->bytes += bytes;
    m->n++;
}

static void map_mark(struct map *m, MPI_Aint lb, MPI_Aint ub)
{
    m->lb = m->marked ? least(m->lb, lb) : lb;
    m->ub = m->marked ? most(m->ub, ub) : ub;
    m->marked = true;
}

/* Elements of `old` one behind the other; `marks`: they bring their bounds along. */
static void map_copy(struct map *m, const struct map *old, MPI_Count count, MPI_Aint at,
                     bool marks)
{
    for (MPI_Count i = 0; i < count; i++, at += old->ub - old->lb) {
        for (int j = 0; j < old->n; j++)
            map_add(m, at + old->item[j].at, old->item[j].bytes, 1);
        m->align = most(m->align, old->align);
        if (marks && old->marked)
            map_mark(m, at + old->lb, at + old->ub);
    }
}

/* Bounds that nobody set. */
static void map_close(struct map *m)
{
    if (m->marked)
        return;
    m->lb = m->true_lb;
    m->ub = m->true_ub;
    while (m->align > 1 && (m->ub - m->lb) % m->align)
        m->ub++;
}

static void map_leaf(struct map *m, MPI_Datatype type)
{
    static const struct {
        MPI_Datatype type;
        int first, second, at;
    } leaves[] = { { MPI_CHAR, 1, 0, 0 },     { MPI_BYTE, 1, 0, 0 },
                   { MPI_SHORT, 2, 0, 0 },    { MPI_INT, 4, 0, 0 },
                   { MPI_DOUBLE, 8, 0, 0 },   { MPI_DOUBLE_INT, 8, 4, 8 },
                   { MPI_SHORT_INT, 2, 4, 4 } };
    size_t i = 0;
    while (leaves[i].type != type)
        CHECK(++i < sizeof leaves / sizeof *leaves);
    map_add(m, 0, leaves[i].first, leaves[i].first);
    if (leaves[i].second)
        map_add(m, leaves[i].at, leaves[i].second, leaves[i].second);
}

/* ---- arrays ---- */

struct grid { /* at most 3 dimensions */
    int dims;
    bool fortran;
    MPI_Count size[3];
    bool mine[3][16]; /* is this index of this dimension part of the type? */
};

/* All cells in the order of the array, and of these the own ones. */
static void map_grid(struct map *m, const struct map *old, const struct grid *g)
{
    MPI_Count cells = 1;
    for (int d = 0; d < g->dims; d++)
        cells *= g->size[d];
    for (MPI_Count c = 0; c < cells; c++) {
        bool own = true;
        MPI_Count rest = c;
        for (int i = 0; i < g->dims; i++) { /* the fastest dimension first */
            int d = g->fortran ? i : g->dims - 1 - i;
            own &= g->mine[d][rest % g->size[d]];
            rest /= g->size[d];
        }
        map_copy(m, old, own, c * (old->ub - old->lb), false);
    }
    map_mark(m, 0, cells * (old->ub - old->lb));
}

static void map_subarray(struct map *m, const struct map *old, const MPI_Count *v)
{
    struct grid g = { .dims = (int)v[0], .fortran = v[1 + 3 * v[0]] == MPI_ORDER_FORTRAN };
    for (int d = 0; d < g.dims; d++) {
        MPI_Count length = v[1 + g.dims + d], start = v[1 + 2 * g.dims + d];
        g.size[d] = v[1 + d];
        for (MPI_Count i = 0; i < g.size[d]; i++)
            g.mine[d][i] = i >= start && i < start + length;
    }
    map_grid(m, old, &g);
}

static void map_darray(struct map *m, const struct map *old, const MPI_Count *v)
{
    struct grid g = { .dims = (int)v[2], .fortran = v[3 + 4 * v[2]] == MPI_ORDER_FORTRAN };
    MPI_Count rank = v[1];
    for (int d = g.dims - 1; d >= 0; d--) { /* processes are always in the order of C */
        MPI_Count deal = v[3 + g.dims + d], argument = v[3 + 2 * g.dims + d];
        MPI_Count processes = v[3 + 3 * g.dims + d], me = rank % processes;
        g.size[d] = v[3 + d];
        if (argument == MPI_DISTRIBUTE_DFLT_DARG)
            argument =
                deal == MPI_DISTRIBUTE_CYCLIC ? 1 : (g.size[d] + processes - 1) / processes;
        for (MPI_Count i = 0; i < g.size[d]; i++)
            g.mine[d][i] = deal == MPI_DISTRIBUTE_NONE || i / argument % processes == me;
        rank /= processes;
    }
    map_grid(m, old, &g);
}

/* ---- all constructors ---- */

static struct map *map_of(MPI_Datatype type);

static void map_blocks(struct map *m, struct map *const *old, const struct recipe *r)
{
    const MPI_Count *v = r->value;
    bool same =
        r->combiner == MPI_COMBINER_INDEXED_BLOCK || r->combiner == MPI_COMBINER_HINDEXED_BLOCK;
    bool scaled =
        r->combiner == MPI_COMBINER_INDEXED || r->combiner == MPI_COMBINER_INDEXED_BLOCK;
    for (int i = 0; i < (int)v[0]; i++) {
        const struct map *of = old[r->combiner == MPI_COMBINER_STRUCT ? i : 0];
        MPI_Count length = v[same ? 1 : 1 + i], place = v[same ? 2 + i : 1 + v[0] + i];
        map_copy(m, of, length, place * (scaled ? of->ub - of->lb : 1), true);
    }
}

static void map_combine(struct map *m, struct map *const *old, const struct recipe *r)
{
    const MPI_Count *v = r->value;
    MPI_Aint step = r->combiner == MPI_COMBINER_VECTOR ? old[0]->ub - old[0]->lb : 1;
    switch (r->combiner) {
    case MPI_COMBINER_CONTIGUOUS:
        map_copy(m, old[0], v[0], 0, true);
        break;
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
        for (MPI_Count i = 0; i < v[0]; i++)
            map_copy(m, old[0], v[1], i * v[2] * step, true);
        break;
    case MPI_COMBINER_SUBARRAY:
        map_subarray(m, old[0], v);
        break;
    case MPI_COMBINER_DARRAY:
        map_darray(m, old[0], v);
        break;
    case MPI_COMBINER_RESIZED:
        map_copy(m, old[0], 1, 0, false);
        map_mark(m, v[0], v[0] + v[1]);
        break;
    case MPI_COMBINER_DUP:
        map_copy(m, old[0], 1, 0, true);
        break;
    default:
        map_blocks(m, old, r);
    }
}

static struct map *map_of(MPI_Datatype type)
{
    struct map *m = calloc(1, sizeof *m), *old[MOST_TYPES];
    struct recipe r = { 0 };
    if (is_named(type)) {
        map_leaf(m, type);
    } else {
        recipe_read(type, true, &r);
        for (int i = 0; i < r.children; i++)
            old[i] = map_of(r.child[i]);
        map_combine(m, old, &r);
        for (int i = 0; i < r.children; i++)
            free(old[i]);
        types_free(r.child, r.children);
    }
    map_close(m);
    return m;
}

/* ---- bytes ---- */

/* From one element to the next, without the sign. */
static MPI_Aint map_step(const struct map *m)
{
    return m->ub < m->lb ? m->lb - m->ub : m->ub - m->lb;
}

/* Item by item; in external32 with the most significant byte first. */
static void map_pack(const struct map *m, int count, const char *base, char *packed,
                     bool swapped)
{
    for (int e = 0; e < count; e++, base += m->ub - m->lb)
        for (int i = 0; i < m->n; packed += m->item[i++].bytes)
            for (int b = 0; b < m->item[i].bytes; b++)
                packed[b] = base[m->item[i].at + (swapped ? m->item[i].bytes - 1 - b : b)];
}

static void map_unpack(const struct map *m, int bytes, const char *packed, char *base)
{
    for (; bytes > 0; base += m->ub - m->lb)
        for (int i = 0; i < m->n; i++)
            for (int b = 0; b < m->item[i].bytes && bytes > 0; b++, bytes--)
                base[m->item[i].at + b] = *packed++;
}

/* Some bytes of `count` elements, at most all, and how many items they are; half of the time they
 * end where an item does. */
static int map_cut(const struct map *m, int count, MPI_Count *items)
{
    int bytes = chance(0, count * m->bytes), end = 0;
    bool whole = chance(0, 1);
    *items = 0;
    for (int i = 0; end < bytes; i++) {
        int next = end + m->item[i % m->n].bytes;
        if (next > bytes && whole)
            bytes = end;
        else if (next > bytes)
            return *items = MPI_UNDEFINED, bytes;
        else
            end = next, ++*items;
    }
    return bytes;
}

#endif
