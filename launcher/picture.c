/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A machine and its ranks as text.  8 ranks bound to cores of two packages with an L3 for two cores
 * each, the first package with four ranks more:
 *
 *     package 0  numa 0  [ 0,8  1,9 | 2,10 3,11 ]
 *     package 1  numa 1  [   4    5 |    6    7 ]
 *
 * A core with more than two ranks shows the first one and how many more: 0+3.  Below are the GPUs with
 * the ranks that should use them:
 *
 *     gpu 0000:1b:00.0  near package 0  ranks 0 4
 */
#include "launcher/show.h"

enum { CELL_CHARS = 28, ROW_CHARS = 96 };

struct picture {
    const struct topology *topology;
    const struct planned *ranks;
    const struct placement *placements; /* NULL: nobody is bound */
    int n;
    int width; /* of a cell */
};

/* Is the rank bound to one of the CPUs from..to of the table? */
static bool is_bound(const struct picture *p, int rank, int from, int to)
{
    for (int i = from; i < to; i++)
        if (cpuset_has(&p->placements[rank].cpus, p->topology->pus[i].cpu))
            return true;
    return false;
}

/* The end of the core that begins at this CPU of the table. */
static int core_end(const struct topology *topology, int from)
{
    int to = from + 1;
    while (to < topology->npus && topology->pus[to].core == topology->pus[from].core)
        to++;
    return to;
}

static int cell_write(const struct picture *p, int from, char *text)
{
    int to = core_end(p->topology, from), found[2] = { 0 }, n = 0;
    for (int i = 0; p->placements && i < p->n; i++) {
        if (!is_bound(p, i, from, to))
            continue;
        if (n < 2)
            found[n] = p->ranks[i].world;
        n++;
    }
    if (n == 0)
        return snprintf(text, CELL_CHARS, ".");
    if (n == 1)
        return snprintf(text, CELL_CHARS, "%d", found[0]);
    if (n == 2)
        return snprintf(text, CELL_CHARS, "%d,%d", found[0], found[1]);
    return snprintf(text, CELL_CHARS, "%d+%d", found[0], n - 1);
}

static bool same_row(const struct pu *a, const struct pu *b)
{
    return a->package == b->package && a->numa == b->numa;
}

/* "    package 0  numa 1  ", without what there is only one of. */
static int row_begin(const struct picture *p, int from, FILE *to)
{
    const struct pu *pu = &p->topology->pus[from];
    int n = fprintf(to, "    ");
    if (p->topology->npackages > 1)
        n += fprintf(to, "package %-3d", pu->package);
    if (p->topology->nnuma > 1)
        n += fprintf(to, "numa %-3d ", pu->numa);
    return n + fprintf(to, "[");
}

/* A row of cells, in several lines where it is long; the CPU after it. */
static int row_draw(const struct picture *p, int from, FILE *to)
{
    const struct pu *pus = p->topology->pus;
    char text[CELL_CHARS];
    int indent = row_begin(p, from, to), used = indent, i = from, before = from;
    for (; i < p->topology->npus && same_row(&pus[from], &pus[i]);
         before = i, i = core_end(p->topology, i)) {
        bool apart = pus[i].l3 != pus[before].l3;
        if (used + p->width + 5 > ROW_CHARS)
            used = indent + 0 * fprintf(to, "\n%*s", indent, "");
        if (apart)
            used += fprintf(to, " |");
        cell_write(p, i, text);
        used += fprintf(to, " %*s", p->width, text);
    }
    fprintf(to, " ]\n");
    return i;
}

/* What of the machine the CPUs near to it are, as far as there are several. */
static int near_write(const struct picture *p, const struct gpu *gpu, FILE *to)
{
    const struct topology *t = p->topology;
    struct boot_place place = map_place(t, &gpu->near);
    if (t->nnuma > 1 && place.numa >= 0)
        return fprintf(to, "  near numa %d", place.numa);
    if (t->npackages > 1 && place.package >= 0)
        return fprintf(to, "  near package %d", place.package);
    return t->nnuma > 1 || t->npackages > 1 ? fprintf(to, "  near all") : 0;
}

static void gpu_draw(const struct picture *p, int gpu, FILE *to)
{
    const char *title = "  ranks";
    int used = fprintf(to, "    gpu %s", p->topology->gpus[gpu].bus);
    used += near_write(p, &p->topology->gpus[gpu], to);
    for (int i = 0; p->placements && i < p->n; i++) {
        if (p->placements[i].gpu != gpu)
            continue;
        if (used > ROW_CHARS - 5)
            used = fprintf(to, "\n       ") - 1;
        used += fprintf(to, "%s %d", title, p->ranks[i].world);
        title = "";
    }
    fputc('\n', to);
}

void picture_draw(const struct topology *topology, const struct planned *ranks,
                  const struct placement *placements, int n, FILE *to)
{
    struct picture p = { topology, ranks, placements, n, 1 };
    char text[CELL_CHARS];
    for (int i = 0; i < topology->npus; i = core_end(topology, i)) {
        int width = cell_write(&p, i, text);
        p.width = width > p.width ? width : p.width;
    }
    for (int i = 0; i < topology->npus;)
        i = row_draw(&p, i, to);
    for (int gpu = 0; gpu < topology->ngpus; gpu++)
        gpu_draw(&p, gpu, to);
}
