/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups: the set algebra of MPI 5.0, 7.3, as pure functions over rank maps.
 *
 * Every operation turns positions of its arguments into world ranks, and asks of some of them
 * "where is this one in the other group?".  struct finder answers that in O(1): regular maps
 * compute it, long lists get a table indexed by world rank, short lists are searched.  So all
 * operations cost O(n), a table costs one zeroed page per 1024 world ranks it touches, and
 * nothing here talks to another process.
 *
 * A group is immutable.  The empty group is always MPI_GROUP_EMPTY itself.
 */
#include "src/group.h"

#include "mpi.h"
#include "runtime/boot.h"
#include "runtime/fail.h"
#include "src/api/comm.h"

#include <stdlib.h>

static struct ranks no_ranks = { .refs = 1, .stride = 1 };
struct group group_empty = { .object = { .kind = OBJECT_GROUP, .refs = 1 },
                             .ranks = &no_ranks,
                             .rank = MPI_UNDEFINED };

/* ---- objects ---- */

struct group *group_new(struct ranks *ranks)
{
    if (!ranks)
        return NULL;
    if (ranks->n == 0) {
        ranks_drop(ranks);
        return group_hold(&group_empty);
    }
    struct group *group = object_new(OBJECT_GROUP, sizeof *group);
    if (!group) {
        ranks_drop(ranks);
        return NULL;
    }
    int mine = ranks_find(ranks, boot.rank);
    group->ranks = ranks;
    group->rank = mine < 0 ? MPI_UNDEFINED : mine;
    return group;
}

struct group *group_hold(struct group *group)
{
    if (group != &group_empty)
        object_hold(group);
    return group;
}

void group_drop(struct group *group)
{
    if (!group || group == &group_empty || !object_drop(group))
        return;
    ranks_drop(group->ranks);
    object_delete(group);
}

/* Make a group of a map that may be NULL for want of memory. */
static int group_of(struct ranks *ranks, struct group **newgroup)
{
    struct group *group = group_new(ranks);
    if (!group)
        return fail(MPI_ERR_NO_MEM, "no memory for a group");
    *newgroup = group;
    return MPI_SUCCESS;
}

/* What is made of a session's group is the session's. */
static int group_inherit(int rc, struct group **made, const struct group *from)
{
    if (!rc && *made != &group_empty)
        (*made)->session = from->session;
    return rc;
}

static int group_no_memory(int n)
{
    return fail(MPI_ERR_NO_MEM, "no memory for a group operation over %d processes", n);
}

/* ---- finding ---- */

enum { FINDER_SEARCHES = 16 }; /* lists up to here are searched, longer ones get a table */

struct finder {
    const struct ranks *ranks;
    int32_t *position; /* by world rank, plus one; NULL: ask the map */
    int limit;         /* world ranks below it are in the table */
};

static bool finder_open(struct finder *f, const struct ranks *ranks)
{
    *f = (struct finder){ .ranks = ranks };
    if (!ranks->list || ranks->n <= FINDER_SEARCHES)
        return true;
    for (int i = 0; i < ranks->n; i++)
        if (ranks->list[i] >= f->limit)
            f->limit = ranks->list[i] + 1;
    f->position = calloc((size_t)f->limit, sizeof *f->position);
    if (!f->position)
        return false;
    for (int i = 0; i < ranks->n; i++)
        f->position[ranks->list[i]] = i + 1;
    return true;
}

/* Position of a world rank, -1 when it is not there. */
static int finder_find(const struct finder *f, int world)
{
    if (!f->position)
        return ranks_find(f->ranks, world);
    return world < f->limit ? f->position[world] - 1 : -1;
}

static void finder_close(struct finder *f)
{
    free(f->position);
}

/* ---- the set operations ---- */

/* Append to `list` the members of `from` that are (or are not) in `other`, in their order. */
static int sieve(int *list, const struct ranks *from, const struct finder *other, bool wanted)
{
    int n = 0;
    for (int i = 0; i < from->n; i++) {
        int world = ranks_world(from, i);
        if ((finder_find(other, world) >= 0) == wanted)
            list[n++] = world;
    }
    return n;
}

/* The first `head` members of a, then those of `from` that are (or are not) in `other`. */
static int group_sieve(const struct ranks *a, int head, const struct ranks *from,
                       const struct ranks *other, bool wanted, struct group **newgroup)
{
    int *list = malloc(((size_t)head + (size_t)from->n + 1) * sizeof *list);
    struct finder f;
    if (!list || !finder_open(&f, other)) {
        free(list);
        return group_no_memory(head + from->n);
    }
    for (int i = 0; i < head; i++)
        list[i] = ranks_world(a, i);
    int n = head + sieve(list + head, from, &f, wanted);
    finder_close(&f);
    struct ranks *ranks = ranks_list(n, list);
    free(list);
    return group_of(ranks, newgroup);
}

int xmpi_group_union(group_t group1, group_t group2, group_out_t *newgroup)
{
    const struct ranks *a = group1->ranks;
    int rc = group_sieve(a, a->n, group2->ranks, a, false, newgroup);
    return group_inherit(rc, newgroup, group1);
}

int xmpi_group_intersection(group_t group1, group_t group2, group_out_t *newgroup)
{
    int rc = group_sieve(group1->ranks, 0, group1->ranks, group2->ranks, true, newgroup);
    return group_inherit(rc, newgroup, group1);
}

int xmpi_group_difference(group_t group1, group_t group2, group_out_t *newgroup)
{
    int rc = group_sieve(group1->ranks, 0, group1->ranks, group2->ranks, false, newgroup);
    return group_inherit(rc, newgroup, group1);
}

/* ---- choosing by position ---- */

/* A set of positions of a group, for finding repetitions and for leaving members out. */
static bool *marks_new(const struct group *group)
{
    return calloc((size_t)group->ranks->n + 1, sizeof(bool));
}

static int mark(bool *marks, const struct group *group, int position, const char *what, int i)
{
    int n = group->ranks->n;
    if (position < 0 || position >= n)
        return fail(MPI_ERR_RANK, "%s[%d] names rank %d, the group has ranks 0 to %d", what, i,
                    position, n - 1);
    if (marks[position])
        return fail(MPI_ERR_RANK, "%s[%d] names rank %d, which was named before", what, i,
                    position);
    marks[position] = true;
    return MPI_SUCCESS;
}

static int mark_list(bool *marks, const struct group *group, int n, const int positions[])
{
    for (int i = 0; i < n; i++) {
        int rc = mark(marks, group, positions[i], "ranks", i);
        if (rc)
            return rc;
    }
    return MPI_SUCCESS;
}

/* Everything that is not marked. */
static int group_unmarked(const struct group *group, const bool *marks, struct group **newgroup)
{
    const struct ranks *ranks = group->ranks;
    int *list = malloc(((size_t)ranks->n + 1) * sizeof *list);
    if (!list)
        return group_no_memory(ranks->n);
    int n = 0;
    for (int i = 0; i < ranks->n; i++)
        if (!marks[i])
            list[n++] = ranks_world(ranks, i);
    struct ranks *rest = ranks_list(n, list);
    free(list);
    return group_inherit(group_of(rest, newgroup), newgroup, group);
}

/* The members at these positions, in this order. */
static int group_at(const struct group *group, int n, const int positions[],
                    struct group **newgroup)
{
    int *list = malloc(((size_t)n + 1) * sizeof *list);
    if (!list)
        return group_no_memory(n);
    for (int i = 0; i < n; i++)
        list[i] = ranks_world(group->ranks, positions[i]);
    struct ranks *ranks = ranks_list(n, list);
    free(list);
    return group_inherit(group_of(ranks, newgroup), newgroup, group);
}

int xmpi_group_incl(group_t group, length_t n, const int ranks[], group_out_t *newgroup)
{
    bool *marks = marks_new(group);
    if (!marks)
        return group_no_memory(group->ranks->n);
    int rc = mark_list(marks, group, n, ranks);
    free(marks);
    return rc ? rc : group_at(group, n, ranks, newgroup);
}

int xmpi_group_excl(group_t group, length_t n, const int ranks[], group_out_t *newgroup)
{
    bool *marks = marks_new(group);
    if (!marks)
        return group_no_memory(group->ranks->n);
    int rc = mark_list(marks, group, n, ranks);
    if (!rc)
        rc = group_unmarked(group, marks, newgroup);
    free(marks);
    return rc;
}

/* ---- ranges: first, last, stride ---- */

static int range_check(const struct group *group, const int range[3], int i)
{
    int first = range[0], last = range[1], stride = range[2], n = group->ranks->n;
    if (stride == 0)
        return fail(MPI_ERR_ARG, "ranges[%d] has stride 0", i);
    if (first < 0 || first >= n || last < 0 || last >= n)
        return fail(MPI_ERR_RANK, "ranges[%d] goes from %d to %d, the group has ranks 0 to %d",
                    i, first, last, n - 1);
    if ((stride > 0 && first > last) || (stride < 0 && first < last))
        return fail(MPI_ERR_ARG, "ranges[%d] goes from %d to %d with stride %d: wrong sign", i,
                    first, last, stride);
    return MPI_SUCCESS;
}

/* Mark what the ranges name and write it to `positions`; *count becomes how many. */
static int ranges_expand(const struct group *group, int n, int ranges[][3], bool *marks,
                         int *positions, int *count)
{
    *count = 0;
    for (int i = 0; i < n; i++) {
        int rc = range_check(group, ranges[i], i);
        if (rc)
            return rc;
        int64_t stride = ranges[i][2], steps = (ranges[i][1] - ranges[i][0]) / stride;
        for (int64_t k = 0; k <= steps; k++) {
            int position = (int)(ranges[i][0] + k * stride);
            rc = mark(marks, group, position, "ranges", i);
            if (rc)
                return rc;
            positions[(*count)++] = position;
        }
    }
    return MPI_SUCCESS;
}

static int group_ranges(const struct group *group, int n, int ranges[][3], bool include,
                        struct group **newgroup)
{
    bool *marks = marks_new(group);
    int *positions = malloc(((size_t)group->ranks->n + 1) * sizeof *positions);
    int count = 0, rc;
    if (!marks || !positions)
        rc = group_no_memory(group->ranks->n);
    else
        rc = ranges_expand(group, n, ranges, marks, positions, &count);
    if (!rc)
        rc = include ? group_at(group, count, positions, newgroup)
                     : group_unmarked(group, marks, newgroup);
    free(positions);
    free(marks);
    return rc;
}

int xmpi_group_range_incl(group_t group, length_t n, int ranges[][3], group_out_t *newgroup)
{
    return group_ranges(group, n, ranges, true, newgroup);
}

int xmpi_group_range_excl(group_t group, length_t n, int ranges[][3], group_out_t *newgroup)
{
    return group_ranges(group, n, ranges, false, newgroup);
}

/* ---- questions ---- */

int xmpi_group_size(group_t group, int_out_t *size)
{
    *size = group->ranks->n;
    return MPI_SUCCESS;
}

int xmpi_group_rank(group_t group, int_out_t *rank)
{
    *rank = group->rank;
    return MPI_SUCCESS;
}

int xmpi_group_translate_ranks(group_t group1, length_t n, const int ranks1[], group_t group2,
                               int ranks2[])
{
    struct finder f;
    if (!finder_open(&f, group2->ranks))
        return group_no_memory(group2->ranks->n);
    int rc = MPI_SUCCESS, size = group1->ranks->n;
    for (int i = 0; i < n && !rc; i++) {
        if (ranks1[i] == MPI_PROC_NULL) {
            ranks2[i] = MPI_PROC_NULL;
        } else if (ranks1[i] < 0 || ranks1[i] >= size) {
            rc = fail(MPI_ERR_RANK, "ranks1[%d] is %d, group1 has ranks 0 to %d", i, ranks1[i],
                      size - 1);
        } else {
            int at = finder_find(&f, ranks_world(group1->ranks, ranks1[i]));
            ranks2[i] = at < 0 ? MPI_UNDEFINED : at;
        }
    }
    finder_close(&f);
    return rc;
}

static bool ranks_are_equal(const struct ranks *a, const struct ranks *b)
{
    if (a == b)
        return true;
    for (int i = 0; i < a->n; i++)
        if (ranks_world(a, i) != ranks_world(b, i))
            return false;
    return true;
}

int group_compare(const struct group *a, const struct group *b, int *result)
{
    struct finder f;
    *result = MPI_UNEQUAL;
    if (a->ranks->n != b->ranks->n)
        return MPI_SUCCESS;
    if (ranks_are_equal(a->ranks, b->ranks)) {
        *result = MPI_IDENT;
        return MPI_SUCCESS;
    }
    if (!finder_open(&f, b->ranks))
        return group_no_memory(b->ranks->n);
    bool same = true;
    for (int i = 0; i < a->ranks->n && same; i++)
        same = finder_find(&f, ranks_world(a->ranks, i)) >= 0;
    finder_close(&f);
    *result = same ? MPI_SIMILAR : MPI_UNEQUAL;
    return MPI_SUCCESS;
}

int group_check_inside(const struct group *part, const struct group *whole)
{
    struct finder f;
    if (!finder_open(&f, whole->ranks))
        return group_no_memory(whole->ranks->n);
    int missing = -1;
    for (int i = 0; i < part->ranks->n && missing < 0; i++)
        if (finder_find(&f, ranks_world(part->ranks, i)) < 0)
            missing = i;
    finder_close(&f);
    if (missing >= 0)
        return fail(MPI_ERR_GROUP,
                    "rank %d of group (process %d of MPI_COMM_WORLD) is not in the "
                    "communicator's group",
                    missing, ranks_world(part->ranks, missing));
    return MPI_SUCCESS;
}

int xmpi_group_compare(group_t group1, group_t group2, int_out_t *result)
{
    return group_compare(group1, group2, result);
}

int xmpi_group_free(group_free_t *group)
{
    group_drop(*group);
    *group = NULL;
    return MPI_SUCCESS;
}
