/* SPDX-License-Identifier: BSD-3-Clause
 *
 * cg - solves A x = b by conjugate gradients, A symmetric positive definite from a Matrix Market
 * file.
 *
 *     xmpirun -np 4 ./cg data/poisson.mtx
 *
 * Rank 0 reads the file and deals out blocks of rows.  Each step needs the whole direction vector
 * (MPI_Allgatherv) and two dot products (MPI_Allreduce).  b is chosen so that x = 1 everywhere, and
 * the answer is checked against it.
 */
#include <math.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    int row, column;
    double value;
};

struct matrix { /* my rows, compressed: entries of row i are start[i] .. start[i + 1] - 1 */
    int n, first, rows;
    int *start, *column;
    double *value;
    int *counts, *displs; /* rows of every rank */
};

static void give_up(const char *what, const char *which)
{
    fprintf(stderr, "cg: %s%s\n", what, which);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Read a "matrix coordinate real symmetric|general" file; both triangles are returned. */
static struct entry *read_market(const char *path, int *n, int *entries)
{
    FILE *file = fopen(path, "r");
    char line[1024], symmetry[32] = "", field[32] = "";
    if (!file)
        give_up("cannot open ", path);
    if (!fgets(line, sizeof(line), file) ||
        sscanf(line, "%%%%MatrixMarket matrix coordinate %31s %31s", field, symmetry) != 2)
        give_up("not a Matrix Market coordinate file: ", path);
    if (strcmp(field, "real") && strcmp(field, "integer"))
        give_up("only real matrices are solved here, this one is ", field);
    while (fgets(line, sizeof(line), file) && line[0] == '%')
        ;
    int rows, columns, stored;
    if (sscanf(line, "%d %d %d", &rows, &columns, &stored) != 3 || rows != columns)
        give_up("no square matrix in ", path);
    struct entry *all = malloc(2 * (size_t)stored * sizeof(*all));
    int used = 0, both = strcmp(symmetry, "symmetric") == 0;
    for (int i = 0; i < stored; i++) {
        struct entry e;
        if (fscanf(file, "%d %d %lf", &e.row, &e.column, &e.value) != 3)
            give_up("ends too early: ", path);
        e.row--, e.column--;
        all[used++] = e;
        if (both && e.row != e.column)
            all[used++] = (struct entry){ e.column, e.row, e.value };
    }
    fclose(file);
    *n = rows;
    *entries = used;
    return all;
}

static int by_row(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return x->row != y->row ? (x->row > y->row) - (x->row < y->row)
                            : (x->column > y->column) - (x->column < y->column);
}

/* Deal out the rows: as equal in number as possible, entries by MPI_Scatterv. */
static struct matrix deal(struct entry *all, int n, int entries)
{
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
    struct matrix m = { .n = n };
    m.counts = malloc(2 * (size_t)size * sizeof(int));
    m.displs = m.counts + size;
    for (int r = 0; r < size; r++) {
        m.displs[r] = (int)((long)n * r / size);
        m.counts[r] = (int)((long)n * (r + 1) / size) - m.displs[r];
    }
    m.first = m.displs[rank];
    m.rows = m.counts[rank];

    int *share = calloc(2 * (size_t)size, sizeof(int)), *from = share + size, mine;
    if (rank == 0) {
        qsort(all, (size_t)entries, sizeof(*all), by_row);
        for (int e = 0, owner = 0; e < entries; e++) {
            while (all[e].row >= m.displs[owner] + m.counts[owner])
                owner++;
            share[owner]++;
        }
        for (int r = 1; r < size; r++)
            from[r] = from[r - 1] + share[r - 1];
    }
    MPI_Scatter(share, 1, MPI_INT, &mine, 1, MPI_INT, 0, MPI_COMM_WORLD);

    MPI_Datatype type, exact;
    int lengths[3] = { 1, 1, 1 };
    MPI_Aint at[3] = { offsetof(struct entry, row), offsetof(struct entry, column),
                       offsetof(struct entry, value) };
    MPI_Datatype parts[3] = { MPI_INT, MPI_INT, MPI_DOUBLE };
    MPI_Type_create_struct(3, lengths, at, parts, &exact);
    MPI_Type_create_resized(exact, 0, sizeof(struct entry), &type);
    MPI_Type_commit(&type);
    struct entry *got = malloc(((size_t)mine + 1) * sizeof(*got));
    MPI_Scatterv(all, share, from, type, got, mine, type, 0, MPI_COMM_WORLD);
    MPI_Type_free(&type);
    MPI_Type_free(&exact);

    m.start = calloc((size_t)m.rows + 1, sizeof(int));
    m.column = malloc(((size_t)mine + 1) * sizeof(int));
    m.value = malloc(((size_t)mine + 1) * sizeof(double));
    for (int e = 0; e < mine; e++) {
        m.start[got[e].row - m.first + 1]++;
        m.column[e] = got[e].column;
        m.value[e] = got[e].value;
    }
    for (int i = 0; i < m.rows; i++)
        m.start[i + 1] += m.start[i];
    free(got);
    free(share);
    return m;
}

/* y = A x for my rows; `whole` is room for all of x. */
static void multiply(const struct matrix *m, const double *x, double *whole, double *y)
{
    MPI_Allgatherv(x, m->rows, MPI_DOUBLE, whole, m->counts, m->displs, MPI_DOUBLE,
                   MPI_COMM_WORLD);
    for (int i = 0; i < m->rows; i++) {
        y[i] = 0;
        for (int e = m->start[i]; e < m->start[i + 1]; e++)
            y[i] += m->value[e] * whole[m->column[e]];
    }
}

static double dot(const double *x, const double *y, int n)
{
    double sum = 0, all;
    for (int i = 0; i < n; i++)
        sum += x[i] * y[i];
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* Solve; returns the number of steps.  `work` has room for 3 vectors of my rows. */
static int solve(const struct matrix *m, double *x, const double *b, double *whole,
                 double *work)
{
    int rank, step;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *r = work, *p = work + m->rows, *q = work + 2 * m->rows;
    for (int i = 0; i < m->rows; i++) {
        x[i] = 0;
        r[i] = p[i] = b[i];
    }
    double rr = dot(r, r, m->rows), goal = rr * 1e-20;
    for (step = 0; rr > goal && step < 10 * m->n; step++) {
        multiply(m, p, whole, q);
        double alpha = rr / dot(p, q, m->rows);
        for (int i = 0; i < m->rows; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        double next = dot(r, r, m->rows);
        for (int i = 0; i < m->rows; i++)
            p[i] = r[i] + next / rr * p[i];
        rr = next;
        if (rank == 0 && step % 20 == 0)
            printf("step %4d: |r| = %.3e\n", step, sqrt(rr));
    }
    return step;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, n = 0, entries = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 2)
        give_up("usage: cg FILE.mtx", "");
    struct entry *all = rank == 0 ? read_market(argv[1], &n, &entries) : NULL;
    struct matrix m = deal(all, n, entries);
    free(all);

    double *x = malloc((5 * (size_t)m.rows + (size_t)m.n + 1) * sizeof(double));
    double *b = x + m.rows, *work = b + m.rows, *whole = work + 3 * m.rows;
    for (int i = 0; i < m.rows; i++)
        x[i] = 1;
    multiply(&m, x, whole, b);
    double start = MPI_Wtime();
    int steps = solve(&m, x, b, whole, work);
    double worst = 0, error;
    for (int i = 0; i < m.rows; i++)
        worst = fmax(worst, fabs(x[i] - 1));
    MPI_Allreduce(&worst, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d unknowns: %d steps, %.3f s, largest error %.1e\n", m.n, steps,
               MPI_Wtime() - start, error);
    free(x);
    free(m.start);
    free(m.column);
    free(m.value);
    free(m.counts);
    MPI_Finalize();
    return error < 1e-6 ? 0 : 1;
}
