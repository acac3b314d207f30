/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mesh - the communicators of a training job: every rank belongs to a tensor-parallel, a
 * pipeline-parallel and a data-parallel group, the lines of a 3-D grid along its axes.
 *
 *     xmpirun -np 16 ./mesh            4 x 2 x 2 (dp x pp x tp)
 *     xmpirun -np 16 ./mesh 4 1 4      data 4, pipeline 1, tensor 4: a 4 x 4 mesh
 *
 * Tensor parallelism talks most, so its axis is the last: neighbours in rank, hence on one node.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DP, PP, TP, AXES };
static const char *const axis_name[AXES] = { "dp", "pp", "tp" };

static void choose_dims(int argc, char **argv, int size, int dims[AXES])
{
    dims[DP] = dims[PP] = dims[TP] = 0;
    for (int a = 0; a < AXES && a + 1 < argc; a++)
        dims[a] = atoi(argv[a + 1]);
    MPI_Dims_create(size, AXES, dims);
}

/* "0 4 8 12": the world ranks of a line of the grid. */
static void members(MPI_Comm line, char *text, size_t room)
{
    int n, world, all[1024];
    MPI_Comm_size(line, &n);
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    MPI_Allgather(&world, 1, MPI_INT, all, 1, MPI_INT, line);
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < n && used < room; i++)
        used += (size_t)snprintf(text + used, room - used, "%s%d", i ? " " : "", all[i]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int size, rank, dims[AXES], periods[AXES] = { 1, 0, 1 }, coords[AXES];
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    choose_dims(argc, argv, size, dims);

    MPI_Comm grid, line[AXES];
    MPI_Cart_create(MPI_COMM_WORLD, AXES, dims, periods, 1, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, AXES, coords);
    char row[512], lists[AXES][96];
    for (int a = 0; a < AXES; a++) {
        int keep[AXES] = { a == DP, a == PP, a == TP };
        MPI_Cart_sub(grid, keep, &line[a]);
        MPI_Comm_set_name(line[a], axis_name[a]);
        members(line[a], lists[a], sizeof(lists[a]));
    }

    /* What each group is for: gradients over dp, activations along pp, partial sums over tp. */
    float gradient = (float)(rank + 1), partial = 1, sum, whole;
    MPI_Allreduce(&gradient, &sum, 1, MPI_FLOAT, MPI_SUM, line[DP]);
    MPI_Allreduce(&partial, &whole, 1, MPI_FLOAT, MPI_SUM, line[TP]);
    int before, after;
    MPI_Cart_shift(grid, PP, 1, &before, &after);
    snprintf(row, sizeof(row), "%4d  (%d,%d,%d)  %-20s %-12s %-20s %5d %5d %9.0f", rank,
             coords[DP], coords[PP], coords[TP], lists[DP], lists[PP], lists[TP],
             before == MPI_PROC_NULL ? -1 : before, after == MPI_PROC_NULL ? -1 : after, sum);
    char *table = rank == 0 ? malloc((size_t)size * sizeof(row)) : NULL;
    MPI_Gather(row, sizeof(row), MPI_CHAR, table, sizeof(row), MPI_CHAR, 0, grid);
    if (rank == 0) {
        printf("%d ranks = dp %d x pp %d x tp %d\n", size, dims[DP], dims[PP], dims[TP]);
        printf("rank  (d,p,t)  %-20s %-12s %-20s %5s %5s %9s\n", "data-parallel group",
               "pipeline", "tensor group", "prev", "next", "gradient");
        for (int r = 0; r < size; r++)
            puts(table + (size_t)r * sizeof(row));
    }
    free(table);
    for (int a = 0; a < AXES; a++)
        MPI_Comm_free(&line[a]);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return whole == (float)dims[TP] ? 0 : 1;
}
