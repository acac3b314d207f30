/* SPDX-License-Identifier: BSD-3-Clause
 *
 * xmpi info --grid 4x4: started by xmpirun in place of a program, it shows what MPI_Cart_create
 * with reorder would do for a grid (--torus: with all ends joined) on the ranks as they are
 * bound: the hop cost in the order of the ranks and after reordering, and who gets which place.
 *
 *     xmpirun -np 16 --map-by package --bind-to core xmpi info --grid 4x4
 *
 * Each rank tells where it sits as it would tell its address (boot_publish), on whatever hosts;
 * rank 0 computes what src/remap.c computes.  Ranks that are not bound have no seat within their
 * node, so nothing changes among them.
 */
#include "tools/grid.h"

#include "mpi.h"
#include "runtime/boot.h"
#include "runtime/clock.h"
#include "runtime/fail.h"
#include "src/seat.h"
#include "tools/report.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_DIMS = 16, NAP_US = 200, MOST_SECONDS = 60 };

struct grid {
    int ndims, places;
    int dims[MOST_DIMS], periods[MOST_DIMS];
};

static bool shape_read(const char *shape, bool periodic, struct grid *grid)
{
    *grid = (struct grid){ .places = 1 };
    for (const char *at = shape; grid->ndims < MOST_DIMS; at++) {
        char *end;
        long size = strtol(at, &end, 10);
        if (end == at || size < 1 || size > 1 << 20 || grid->places > (1 << 20) / size)
            return false;
        grid->places *= (int)size;
        grid->periods[grid->ndims] = periodic;
        grid->dims[grid->ndims++] = (int)size;
        at = end;
        if (*at != 'x')
            return *at == '\0';
    }
    return false;
}

static int complain(const char *shape, const struct grid *grid)
{
    if (boot.size == 1)
        fprintf(stderr,
                "xmpi info: --grid %s wants %d ranks: xmpirun -np %d xmpi info --grid %s\n",
                shape, grid->places, grid->places, shape);
    else
        fprintf(stderr, "xmpi info: --grid %s has %d places, the job %d ranks\n", shape,
                grid->places, boot.size);
    return 2;
}

/* What that rank has told; waits until it has. */
static int seat_ask(int world, struct seat *seat)
{
    uint64_t end = clock_ns() + (uint64_t)MOST_SECONDS * 1000000000u;
    char card[BOOT_CONTACT_BYTES];
    size_t bytes = 0;
    boot_ask(world);
    for (;;) {
        int error = boot_contact(world, card, &bytes);
        if (error)
            return error;
        if (bytes == sizeof *seat) {
            memcpy(seat, card, bytes);
            return 0;
        }
        if (bytes || clock_ns() > end)
            return fail(MPI_ERR_OTHER, "rank %d has not told where it sits", world);
        usleep(NAP_US);
    }
}

static void report(const struct pattern *pattern, const struct seat *seats, const int *map,
                   bool json)
{
    struct report r = report_open(stdout, json);
    size_t room = (size_t)pattern->n * 12 + 1;
    char *text = malloc(room), *end = text;
    if (text)
        *text = '\0';
    for (int i = 0; text && i < pattern->n; i++)
        end += snprintf(end, room - (size_t)(end - text), "%s%d", i ? " " : "", map[i]);
    report_group(&r, "grid");
    report_number(&r, "places", pattern->n);
    report_number(&r, "hop cost", reorder_cost(pattern, seats, NULL));
    report_number(&r, "hop cost reordered", reorder_cost(pattern, seats, map));
    report_text(&r, "rank at each place", "%s", text ? text : "");
    report_end(&r);
    report_close(&r);
    free(text);
}

static int compute(const struct grid *grid, bool json)
{
    struct pattern pattern = { 0 };
    size_t n = (size_t)grid->places;
    struct seat *seats = malloc(n * sizeof *seats);
    int *map = malloc(n * sizeof *map);
    bool good = seats && map &&
                pattern_of_grid(grid->places, grid->ndims, grid->dims, grid->periods, &pattern);
    if (!good)
        fail(MPI_ERR_NO_MEM, "no memory for a grid of %d places", grid->places);
    for (int i = 0; good && i < grid->places; i++)
        good = seat_ask(i, &seats[i]) == 0;
    if (good && !(good = reorder_map(&pattern, seats, map)))
        fail(MPI_ERR_NO_MEM, "no memory to reorder %d places", grid->places);
    if (good)
        report(&pattern, seats, map, json);
    else
        fprintf(stderr, "xmpi info: %s\n", fail_text());
    free((void *)pattern.bonds);
    free(seats);
    free(map);
    return good ? 0 : 1;
}

int grid_show(const char *shape, bool periodic, bool json)
{
    struct grid grid;
    if (!shape_read(shape, periodic, &grid)) {
        fprintf(stderr, "xmpi info: %s is no grid; as in 4x4 or 2x3x4\n", shape);
        return 2;
    }
    if (boot_open()) {
        fprintf(stderr, "xmpi info: %s\n", fail_text());
        return 1;
    }
    struct seat mine = seat_here();
    int code = boot_publish(&mine, sizeof mine);
    if (code)
        fprintf(stderr, "xmpi info: %s\n", fail_text());
    else if (boot.rank == 0)
        code = grid.places > boot.size ? complain(shape, &grid) : compute(&grid, json);
    boot_close();
    return code;
}
