/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives on intercommunicators between the even and the odd ranks (groups of different size
 * when the number of processes is odd), in all forms.  One process alone has nobody to talk to.
 */
#include "check.h"
#include "forms.h"

static int world, size, odd;  /* of MPI_COMM_WORLD; which group I am in */
static int mine, here, there; /* rank and size of my group, size of the other */
static MPI_Comm inter;

/* What member `from` of group `group` has for member `to` of the other one. */
static int value(int group, int from, int to, int i)
{
    return group * 1000003 + from * 10007 + to * 101 + i;
}

static int *room(int n)
{
    return calloc((size_t)n + 1, sizeof(int));
}

/* The root argument for a root of rank `root` in group `group`. */
static int root_for(int group, int root)
{
    if (group != odd)
        return root;
    return mine == root ? MPI_ROOT : MPI_PROC_NULL;
}

static void test_rooted(enum form form, int n, int group, int root)
{
    int as = root_for(group, root), good = 1, leaf = group != odd;
    int leaves = leaf ? here : there;
    int *one = room(n), *all = room(n * (here + there));
    if (as == MPI_ROOT)
        for (int i = 0; i < n; i++)
            one[i] = value(group, root, 0, i);
    CHECK(!all_bcast(form, one, n, MPI_INT, as, inter));
    for (int i = 0; leaf && i < n; i++)
        good &= one[i] == value(group, root, 0, i);
    CHECK(good);

    for (int i = 0; i < n; i++)
        one[i] = value(odd, mine, root, i);
    CHECK(!all_gather(form, one, n, MPI_INT, all, n, MPI_INT, as, inter));
    for (int i = 0; as == MPI_ROOT && i < n * leaves; i++)
        good &= all[i] == value(!group, i / n, root, i % n);
    CHECK(good);

    for (int i = 0; as == MPI_ROOT && i < n * leaves; i++)
        all[i] = value(group, root, i / n, i % n);
    CHECK(!all_scatter(form, all, n, MPI_INT, one, n, MPI_INT, as, inter));
    for (int i = 0; leaf && i < n; i++)
        good &= one[i] == value(group, root, mine, i);
    CHECK(good);

    for (int i = 0; i < n; i++)
        one[i] = mine + i;
    CHECK(!all_reduce(form, one, all, n, MPI_INT, MPI_SUM, as, inter));
    for (int i = 0; as == MPI_ROOT && i < n; i++)
        good &= all[i] == leaves * (leaves - 1) / 2 + leaves * i;
    CHECK(good);
    free(one);
    free(all);
}

static void test_vectors(enum form form, int n, int group, int root)
{
    int as = root_for(group, root), good = 1, leaf = group != odd, leaves = leaf ? here : there;
    int *one = room(n + 3), *counts = room(leaves), *displs = room(leaves), total = 0;
    for (int r = 0; r < leaves; r++) {
        counts[r] = n + r % 3;
        displs[r] = ++total;
        total += counts[r];
    }
    int *all = room(total), length = n + mine % 3;
    for (int i = 0; i < length; i++)
        one[i] = value(odd, mine, root, i);
    CHECK(!all_gatherv(form, one, length, MPI_INT, all, counts, displs, MPI_INT, as, inter));
    for (int r = 0; as == MPI_ROOT && r < leaves; r++)
        for (int i = 0; i < counts[r]; i++)
            good &= all[displs[r] + i] == value(!group, r, root, i);
    CHECK(good);
    for (int r = 0; as == MPI_ROOT && r < leaves; r++)
        for (int i = 0; i < counts[r]; i++)
            all[displs[r] + i] = value(group, root, r, i);
    CHECK(!all_scatterv(form, all, counts, displs, MPI_INT, one, length, MPI_INT, as, inter));
    for (int i = 0; leaf && i < length; i++)
        good &= one[i] == value(group, root, mine, i);
    CHECK(good);
    free(one);
    free(counts);
    free(displs);
    free(all);
}

static void test_everybody(enum form form, int n)
{
    int *out = room(n * there), *in = room(n * there), good = 1;
    for (int i = 0; i < n; i++)
        out[i] = value(odd, mine, 0, i);
    CHECK(!all_allgather(form, out, n, MPI_INT, in, n, MPI_INT, inter));
    for (int i = 0; i < n * there; i++)
        good &= in[i] == value(!odd, i / n, 0, i % n);
    CHECK(good);
    for (int i = 0; i < n * there; i++)
        out[i] = value(odd, mine, i / n, i % n);
    CHECK(!all_alltoall(form, out, n, MPI_INT, in, n, MPI_INT, inter));
    for (int i = 0; i < n * there; i++)
        good &= in[i] == value(!odd, i / n, mine, i % n);
    CHECK(good);
    int *counts = room(there), *displs = room(there);
    for (int r = 0; r < there; r++) {
        counts[r] = n;
        displs[r] = r * n;
    }
    for (int i = 0; i < n * there; i++)
        in[i] = -1;
    CHECK(
        !all_alltoallv(form, out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, inter));
    for (int i = 0; i < n * there; i++)
        good &= in[i] == value(!odd, i / n, mine, i % n);
    CHECK(good);
    CHECK(!all_allgatherv(form, out, n, MPI_INT, in, counts, displs, MPI_INT, inter));
    for (int i = 0; i < n * there; i++)
        good &= in[i] == value(!odd, i / n, 0, i % n);
    CHECK(good);
    free(out);
    free(in);
    free(counts);
    free(displs);
}

/* The other group's values are summed; both groups must have the same number in total. */
static void test_reductions(enum form form, int n)
{
    int total = n * here * there, good = 1; /* a multiple of both sizes */
    int *out = room(total), *in = room(total), *counts = room(here);
    for (int i = 0; i < total; i++)
        out[i] = mine + i;
    CHECK(!all_allreduce(form, out, in, n, MPI_INT, MPI_SUM, inter));
    for (int i = 0; i < n; i++)
        good &= in[i] == there * (there - 1) / 2 + there * i;
    CHECK(good);
    CHECK(!all_reduce_scatter_block(form, out, in, n * there, MPI_INT, MPI_SUM, inter));
    for (int i = 0; i < n * there; i++)
        good &= in[i] == there * (there - 1) / 2 + there * (n * there * mine + i);
    CHECK(good);
    for (int r = 0; r < here; r++)
        counts[r] = n * there;
    CHECK(!all_reduce_scatter(form, out, in, counts, MPI_INT, MPI_SUM, inter));
    for (int i = 0; i < n * there; i++)
        good &= in[i] == there * (there - 1) / 2 + there * (n * there * mine + i);
    CHECK(good);
    free(counts);
    free(out);
    free(in);
}

/* Who is alone in its group cannot say that another one of it is the root. */
static void test_nobody_is_root(MPI_Comm alone, int peer)
{
    MPI_Comm pair;
    int data = 1, into = 0, class;
    if (world > 1)
        return;
    MPI_Intercomm_create(alone, 0, MPI_COMM_WORLD, peer, 13, &pair);
    MPI_Comm_set_errhandler(pair, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Bcast(&data, 1, MPI_INT, MPI_PROC_NULL, pair), &class);
    CHECK(class == MPI_ERR_ROOT);
    MPI_Error_class(MPI_Reduce(&data, &into, 1, MPI_INT, MPI_SUM, MPI_PROC_NULL, pair), &class);
    CHECK(class == MPI_ERR_ROOT);
    MPI_Error_class(MPI_Gather(&data, 1, MPI_INT, &into, 1, MPI_INT, MPI_PROC_NULL, pair),
                    &class);
    CHECK(class == MPI_ERR_ROOT);
    CHECK(!MPI_Bcast(&data, 1, MPI_INT, world == 0 ? MPI_ROOT : 0, pair));
    MPI_Comm_free(&pair);
}

/* Reductions between groups, of two ranks, and then of all, who must perform them alike. */
static void test_reductions_of_two(MPI_Comm alone, int is_one)
{
    enum { LONG = 10000 };
    int *from = room(LONG), *to = room(LONG), one = 1, sum = 0, good = 1;
    MPI_Comm pair;
    if (is_one) {
        CHECK(!MPI_Intercomm_create(alone, 0, MPI_COMM_WORLD, !world, 13, &pair));
        CHECK(!MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, pair));
        CHECK(!MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, world ? MPI_ROOT : 0, pair));
        CHECK(sum == 1);
        MPI_Comm_free(&pair);
    }
    for (int i = 0; i < LONG; i++)
        from[i] = i + world;
    for (enum form form = BLOCKING; form < FORMS; form++) {
        CHECK(!all_allreduce(form, from, to, LONG, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        for (int i = 0; i < LONG; i++)
            good &= to[i] == size * i + size * (size - 1) / 2;
        CHECK(!all_reduce(form, from, to, LONG, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD));
        for (int i = 0; world == 0 && i < LONG; i++)
            good &= to[i] == i + size - 1;
        CHECK(good);
    }
    free(from);
    free(to);
}

int main(int argc, char **argv)
{
    static const int counts[] = { 0, 1, 5, 300, 9000 };
    MPI_Init(&argc, &argv);
    world = world_rank();
    size = world_size();
    if (size > 1) {
        MPI_Comm half;
        test_reductions_of_two(MPI_COMM_SELF, world < 2);
        odd = world % 2;
        MPI_Comm_split(MPI_COMM_WORLD, odd, world, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !odd, 12, &inter);
        MPI_Comm_rank(inter, &mine);
        MPI_Comm_size(inter, &here);
        MPI_Comm_remote_size(inter, &there);
        for (enum form form = BLOCKING; form < FORMS; form++) {
            CHECK(!all_barrier(form, inter));
            for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
                for (int group = 0; group < 2; group++)
                    for (int root = 0; root < (group == odd ? here : there); root++) {
                        test_rooted(form, counts[k], group, root);
                        test_vectors(form, counts[k], group, root);
                    }
                test_everybody(form, counts[k]);
                test_reductions(form, counts[k]);
            }
        }
        test_nobody_is_root(MPI_COMM_SELF, !world);
        MPI_Comm_free(&inter);
        MPI_Comm_free(&half);
    }
    return check_done();
}
