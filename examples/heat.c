/* SPDX-License-Identifier: BSD-3-Clause
 *
 * heat - heat spreads over a picture.
 *
 *     xmpicc -O2 heat.c -o heat -lpng -lm && xmpirun -np 4 ./heat in.png out.png [steps]
 *
 * Any PNG is read as a plate: brightness is temperature.  The brightest pixels (>= 250) are heated
 * and the edge is cooled, both keep their temperature; everywhere else du/dt = laplace(u), five
 * points, explicit.  The plate is cut in blocks by a Cartesian communicator; every step exchanges
 * the four edges of the blocks (rows contiguous, columns as a vector type) and computes the inside
 * while they travel.  The result is a PNG in colours.
 */
#include <math.h>
#include <mpi.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NORTH, SOUTH, WEST, EAST };

struct block { /* my part of the plate, with a rim of one cell for the neighbours' edges */
    MPI_Comm grid;
    int dims[2], coords[2];
    int rows, columns, first_row, first_column; /* without the rim */
    int neighbour[4];
    MPI_Datatype column;
    float *now, *next;
    unsigned char *fixed;
};

struct plate { /* the whole picture, on rank 0 */
    int rows, columns;
    float *heat;
};

static void give_up(const char *what, const char *which)
{
    fprintf(stderr, "heat: %s%s\n", what, which);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static struct plate read_picture(const char *path)
{
    png_image image = { .version = PNG_IMAGE_VERSION };
    if (!png_image_begin_read_from_file(&image, path))
        give_up("cannot read a PNG from ", path);
    image.format = PNG_FORMAT_GRAY;
    unsigned char *bytes = malloc(PNG_IMAGE_SIZE(image));
    if (!png_image_finish_read(&image, NULL, bytes, 0, NULL))
        give_up("broken PNG: ", path);
    struct plate plate = { (int)image.height, (int)image.width, NULL };
    size_t cells = (size_t)plate.rows * (size_t)plate.columns;
    plate.heat = malloc(cells * sizeof(float));
    for (size_t i = 0; i < cells; i++)
        plate.heat[i] = bytes[i];
    free(bytes);
    return plate;
}

/* Black, violet, red, orange, yellow, white. */
static void colour(float heat, unsigned char *rgb)
{
    static const float stops[6][3] = { { 0, 0, 8 },      { 80, 15, 110 },  { 200, 40, 60 },
                                       { 250, 130, 20 }, { 250, 220, 90 }, { 255, 255, 240 } };
    float at = fminf(fmaxf(heat / 255, 0), 1) * 4.999f;
    int low = (int)at;
    for (int c = 0; c < 3; c++)
        rgb[c] = (unsigned char)(stops[low][c] +
                                 (at - (float)low) * (stops[low + 1][c] - stops[low][c]));
}

static void write_picture(const char *path, const struct plate *plate)
{
    size_t cells = (size_t)plate->rows * (size_t)plate->columns;
    unsigned char *rgb = malloc(3 * cells);
    for (size_t i = 0; i < cells; i++)
        colour(plate->heat[i], rgb + 3 * i);
    png_image image = { .version = PNG_IMAGE_VERSION,
                        .width = (png_uint_32)plate->columns,
                        .height = (png_uint_32)plate->rows,
                        .format = PNG_FORMAT_RGB };
    if (!png_image_write_to_file(&image, path, 0, rgb, 0, NULL))
        give_up("cannot write ", path);
    free(rgb);
}

static int cut(int n, int parts, int i) /* where part i of n cells begins */
{
    return (int)((long)n * i / parts);
}

/* The block of the plate that the rank with these coordinates owns, as {row, column, rows,
 * columns}. */
static void block_of(const struct block *b, const struct plate *p, const int at[2], int box[4])
{
    box[0] = cut(p->rows, b->dims[0], at[0]);
    box[1] = cut(p->columns, b->dims[1], at[1]);
    box[2] = cut(p->rows, b->dims[0], at[0] + 1) - box[0];
    box[3] = cut(p->columns, b->dims[1], at[1] + 1) - box[1];
}

static void open_block(struct block *b, struct plate *plate)
{
    int size, periods[2] = { 0, 0 }, shape[2] = { plate->rows, plate->columns };
    MPI_Bcast(shape, 2, MPI_INT, 0, MPI_COMM_WORLD);
    plate->rows = shape[0];
    plate->columns = shape[1];
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    b->dims[0] = b->dims[1] = 0;
    MPI_Dims_create(size, 2, b->dims);
    if (b->dims[0] > shape[0] || b->dims[1] > shape[1])
        give_up("more ranks than the picture has rows or columns", "");
    /* No reordering: rank 0 of the grid must be the one that read the picture. */
    MPI_Cart_create(MPI_COMM_WORLD, 2, b->dims, periods, 0, &b->grid);
    int rank, box[4];
    MPI_Comm_rank(b->grid, &rank);
    MPI_Cart_coords(b->grid, rank, 2, b->coords);
    MPI_Cart_shift(b->grid, 0, 1, &b->neighbour[NORTH], &b->neighbour[SOUTH]);
    MPI_Cart_shift(b->grid, 1, 1, &b->neighbour[WEST], &b->neighbour[EAST]);
    block_of(b, plate, b->coords, box);
    b->first_row = box[0], b->first_column = box[1], b->rows = box[2], b->columns = box[3];
    size_t cells = (size_t)(b->rows + 2) * (size_t)(b->columns + 2);
    b->now = calloc(cells, sizeof(float));
    b->next = calloc(cells, sizeof(float));
    b->fixed = calloc(cells, 1);
    MPI_Type_vector(b->rows, 1, b->columns + 2, MPI_FLOAT, &b->column);
    MPI_Type_commit(&b->column);
}

/* Rank 0 and the owners of the blocks swap data: out = 1 deals the plate out, 0 collects it. */
static void move_blocks(const struct block *b, struct plate *plate, int out)
{
    int rank, size, inside[2] = { b->rows + 2, b->columns + 2 },
                    mine[2] = { b->rows, b->columns };
    int at[2] = { 1, 1 }, whole[2] = { plate->rows, plate->columns };
    MPI_Comm_rank(b->grid, &rank);
    MPI_Comm_size(b->grid, &size);
    MPI_Datatype here;
    MPI_Type_create_subarray(2, inside, mine, at, MPI_ORDER_C, MPI_FLOAT, &here);
    MPI_Type_commit(&here);
    MPI_Request own;
    if (out)
        MPI_Irecv(b->now, 1, here, 0, 0, b->grid, &own);
    else
        MPI_Isend(b->now, 1, here, 0, 0, b->grid, &own);
    for (int r = 0; rank == 0 && r < size; r++) {
        int coords[2], box[4];
        MPI_Cart_coords(b->grid, r, 2, coords);
        block_of(b, plate, coords, box);
        MPI_Datatype there;
        MPI_Type_create_subarray(2, whole, box + 2, box, MPI_ORDER_C, MPI_FLOAT, &there);
        MPI_Type_commit(&there);
        if (out)
            MPI_Send(plate->heat, 1, there, r, 0, b->grid);
        else
            MPI_Recv(plate->heat, 1, there, r, 0, b->grid, MPI_STATUS_IGNORE);
        MPI_Type_free(&there);
    }
    MPI_Wait(&own, MPI_STATUS_IGNORE);
    MPI_Type_free(&here);
}

static void fix_cells(struct block *b, const struct plate *plate)
{
    int width = b->columns + 2;
    for (int i = 1; i <= b->rows; i++)
        for (int j = 1; j <= b->columns; j++) {
            int row = b->first_row + i - 1, column = b->first_column + j - 1;
            int edge = row == 0 || column == 0 || row == plate->rows - 1 ||
                       column == plate->columns - 1;
            if (edge)
                b->now[i * width + j] = 0;
            b->fixed[i * width + j] = edge || b->now[i * width + j] >= 250;
        }
    memcpy(b->next, b->now, (size_t)(b->rows + 2) * (size_t)width * sizeof(float));
}

static void swap_edges(struct block *b, MPI_Request requests[8])
{
    int width = b->columns + 2, n = b->rows;
    float *u = b->now;
    float *edge[4] = { u + width + 1, u + n * width + 1, u + width + 1,
                       u + width + b->columns };
    float *rim[4] = { u + 1, u + (n + 1) * width + 1, u + width, u + width + b->columns + 1 };
    for (int side = 0; side < 4; side++) {
        MPI_Datatype type = side < WEST ? MPI_FLOAT : b->column;
        int count = side < WEST ? b->columns : 1;
        /* What I send north is what my northern neighbour receives from the south. */
        MPI_Irecv(rim[side], count, type, b->neighbour[side], side ^ 1, b->grid,
                  &requests[2 * side]);
        MPI_Isend(edge[side], count, type, b->neighbour[side], side, b->grid,
                  &requests[2 * side + 1]);
    }
}

/* One step over a box of cells; returns the largest change. */
static float spread(struct block *b, int top, int bottom, int left, int right)
{
    int width = b->columns + 2;
    float most = 0;
    for (int i = top; i <= bottom; i++)
        for (int j = left; j <= right; j++) {
            int c = i * width + j;
            float laplace = b->now[c - width] + b->now[c + width] + b->now[c - 1] +
                            b->now[c + 1] - 4 * b->now[c];
            float change = b->fixed[c] ? 0 : 0.24f * laplace;
            b->next[c] = b->now[c] + change;
            most = fmaxf(most, fabsf(change));
        }
    return most;
}

static float step(struct block *b)
{
    MPI_Request requests[8];
    swap_edges(b, requests);
    float most = spread(b, 2, b->rows - 1, 2, b->columns - 1); /* the inside needs nobody */
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    most = fmaxf(most, spread(b, 1, 1, 1, b->columns));
    most = fmaxf(most, spread(b, b->rows, b->rows, 1, b->columns));
    most = fmaxf(most, spread(b, 1, b->rows, 1, 1));
    most = fmaxf(most, spread(b, 1, b->rows, b->columns, b->columns));
    float *old = b->now;
    b->now = b->next;
    b->next = old;
    return most;
}

static void run(struct block *b, int steps)
{
    int rank, every = steps / 20 > 0 ? steps / 20 : 1;
    MPI_Comm_rank(b->grid, &rank);
    double start = MPI_Wtime();
    for (int s = 1; s <= steps; s++) {
        float mine = step(b), most;
        if (s % every && s != steps)
            continue;
        MPI_Allreduce(&mine, &most, 1, MPI_FLOAT, MPI_MAX, b->grid);
        if (rank == 0) {
            char bar[] = "....................";
            memset(bar, '#', (size_t)(20L * s / steps));
            printf("[%s] step %5d of %d, change %.4f, %.2f s\n", bar, s, steps, (double)most,
                   MPI_Wtime() - start);
            fflush(stdout);
        }
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc < 3)
        give_up("usage: heat IN.png OUT.png [steps]", "");
    int rank, steps = argc > 3 ? atoi(argv[3]) : 2000;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct plate plate = { 0, 0, NULL };
    if (rank == 0)
        plate = read_picture(argv[1]);
    struct block block;
    open_block(&block, &plate);
    if (rank == 0)
        printf("%d x %d cells in %d x %d blocks, %d steps\n", plate.rows, plate.columns,
               block.dims[0], block.dims[1], steps);
    move_blocks(&block, &plate, 1);
    fix_cells(&block, &plate);
    run(&block, steps);
    move_blocks(&block, &plate, 0);
    if (rank == 0) {
        write_picture(argv[2], &plate);
        printf("wrote %s\n", argv[2]);
    }
    MPI_Type_free(&block.column);
    MPI_Comm_free(&block.grid);
    free(block.now);
    free(block.next);
    free(block.fixed);
    free(plate.heat);
    MPI_Finalize();
    return 0;
}
