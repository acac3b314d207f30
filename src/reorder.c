/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Mapping a graph onto a machine.  The processes, sorted by where they sit, form a tree: nodes,
 * packages, NUMA nodes, L3 caches, cores.  The graph is cut along it from the outside in, in two
 * each time, between the groups of seats that lie nearest the middle.
 *
 *     sorted seats   | node 0                | node 1                |
 *                    | package 0 | package 1 | package 0 | package 1 |
 *     parts          | 0 1 4 5   | 8 9 12 13 | 2 3 6 7   | 10 11 ..  |    a grid of 4 x 4
 *
 * A grid is cut across its longest side.  In any other graph a region of the right size is grown,
 * which takes in next whatever part it is tied to most and that is tied least to those outside.
 * Small graphs are then improved by exchanging two parts for as long as that helps.  The result
 * is compared with leaving everything as it is and with dealing the parts to the sorted seats in
 * their order; the cheapest wins, the identity among equals.
 *
 * Not done: choosing other processes than the first n of a larger communicator.
 */
#include "src/reorder.h"

#include <stdlib.h>
#include <string.h>

enum { LEVELS = 5, EXCHANGE_PARTS = 256, EXCHANGE_ROUNDS = 16, EXCHANGE_LOOKS = 1 << 26 };

/* ---- cost ---- */

static bool is_shared(int a, int b)
{
    return a == b && a >= 0;
}

int seat_distance(const struct seat *a, const struct seat *b)
{
    if (a->node != b->node)
        return 64;
    if (is_shared(a->core, b->core))
        return 1;
    if (is_shared(a->l3, b->l3))
        return 2;
    if (is_shared(a->numa, b->numa))
        return 4;
    return is_shared(a->package, b->package) ? 8 : 16;
}

int64_t reorder_cost(const struct pattern *pattern, const struct seat *seats, const int *map)
{
    int64_t cost = 0;
    for (size_t i = 0; i < pattern->nbonds; i++) {
        const struct bond *bond = &pattern->bonds[i];
        int a = bond->a, b = bond->b;
        if (a != b)
            cost += (int64_t)bond->weight *
                    seat_distance(&seats[map ? map[a] : a], &seats[map ? map[b] : b]);
    }
    return cost;
}

bool pattern_of_grid(int n, int ndims, const int *dims, const int *periods,
                     struct pattern *pattern)
{
    struct bond *bonds = malloc(((size_t)n * (size_t)ndims + 1) * sizeof *bonds);
    *pattern = (struct pattern){ .n = n, .bonds = bonds, .ndims = ndims, .dims = dims };
    if (!bonds)
        return false;
    for (int place = 0; place < n; place++)
        for (int i = ndims - 1, apart = 1; i >= 0; apart *= dims[i--]) {
            int at = place / apart % dims[i];
            if (at + 1 < dims[i])
                bonds[pattern->nbonds++] = (struct bond){ place, place + apart, 1 };
            else if (periods[i])
                bonds[pattern->nbonds++] = (struct bond){ place, place - at * apart, 1 };
        }
    return true;
}

/* ---- the work ---- */

struct tie { /* to another part */
    int other, weight;
};

struct work {
    int n;
    const struct pattern *pattern;
    const struct seat *seats;
    int *slots;         /* processes, sorted by seat */
    int *parts;         /* parts[i] is for slots[i] */
    int *state;         /* of a part, while the graph is cut */
    int *heap;          /* what the growing region may take next; room for n + 1 numbers */
    int *place, *found; /* of a part: in the heap; the how many-th to be found */
    int64_t *inside, *outside; /* of a part: ties to the region, to what is free */
    size_t *first;             /* of the ties of a part */
    struct tie *ties;
    int *map;
    void *memory;
};

enum { ELSEWHERE, FREE, TAKEN };

static bool is_tie(const struct bond *bond)
{
    return bond->a != bond->b && bond->weight > 0;
}

static void ties_fill(struct work *w)
{
    const struct bond *bonds = w->pattern->bonds;
    size_t nbonds = w->pattern->nbonds;
    size_t *end = w->first + 1; /* of a part's ties; first[0] stays 0 */
    for (size_t i = 0; i < nbonds; i++)
        if (is_tie(&bonds[i])) {
            end[bonds[i].a]++;
            end[bonds[i].b]++;
        }
    for (int i = 1; i < w->n; i++)
        end[i] += end[i - 1];
    size_t total = w->n > 0 ? end[w->n - 1] : 0;
    for (size_t i = nbonds; i-- > 0;)
        if (is_tie(&bonds[i])) { /* from the back: ends become beginnings */
            w->ties[--end[bonds[i].a]] = (struct tie){ bonds[i].b, bonds[i].weight };
            w->ties[--end[bonds[i].b]] = (struct tie){ bonds[i].a, bonds[i].weight };
        }
    memmove(w->first, end, (size_t)w->n * sizeof *end);
    w->first[w->n] = total;
}

static bool work_open(struct work *w, const struct pattern *pattern, const struct seat *seats)
{
    size_t n = (size_t)pattern->n, nties = 2 * pattern->nbonds;
    *w = (struct work){ .n = pattern->n, .pattern = pattern, .seats = seats };
    w->memory = calloc(1, 2 * n * sizeof(int64_t) + (n + 1) * sizeof(size_t) +
                              nties * sizeof(struct tie) + (7 * n + 1) * sizeof(int));
    if (!w->memory)
        return false;
    w->inside = w->memory;
    w->outside = w->inside + n;
    w->first = (size_t *)(w->outside + n);
    w->ties = (struct tie *)(w->first + n + 1);
    w->slots = (int *)(w->ties + nties);
    w->parts = w->slots + n;
    w->state = w->parts + n;
    w->map = w->state + n;
    w->place = w->map + n;
    w->found = w->place + n;
    w->heap = w->found + n;
    for (int i = 0; i < w->n; i++)
        w->slots[i] = w->parts[i] = i;
    ties_fill(w);
    return true;
}

/* ---- the tree of seats ---- */

static int seat_key(const struct seat *s, int level)
{
    const int keys[LEVELS] = { s->node, s->package, s->numa, s->l3, s->core };
    return keys[level];
}

/* Merge sort, because it has to be stable and needs the seats. */
static void slots_sort(struct work *w, int *slots, int n, int *room)
{
    if (n < 2)
        return;
    int half = n / 2, a = 0, b = half;
    slots_sort(w, slots, half, room);
    slots_sort(w, slots + half, n - half, room);
    for (int i = 0; i < n; i++) {
        bool second = a == half;
        for (int level = 0; a < half && b < n && level < LEVELS; level++) {
            int x = seat_key(&w->seats[slots[a]], level);
            int y = seat_key(&w->seats[slots[b]], level);
            second = y < x;
            if (x != y)
                break;
        }
        room[i] = slots[second ? b++ : a++];
    }
    memcpy(slots, room, (size_t)n * sizeof *slots);
}

/* Where the group of slots that begins at `at` ends. */
static int group_end(const struct work *w, int at, int end, int level)
{
    int key = seat_key(&w->seats[w->slots[at]], level), next = at + 1;
    while (next < end && seat_key(&w->seats[w->slots[next]], level) == key)
        next++;
    return next;
}

/* The end of the group that lies nearest the middle. */
static int middle_end(const struct work *w, int from, int to, int level)
{
    int best = group_end(w, from, to, level);
    for (int at = best; at < to; at = group_end(w, at, to, level)) {
        int off = 2 * at - from - to, best_off = 2 * best - from - to;
        if (abs(off) < abs(best_off))
            best = at;
    }
    return best;
}

/* ---- cutting graphs: a region grows ---- */

/* Of two free parts, which does the region take first?  Who touches it is tied to it; none touches it at the start
 * and where the graph has several pieces: then one at the edge of what is at hand, tied least to the others.  Among
 * equals the one that was found earlier. */
static bool is_better(const struct work *w, int a, int b)
{
    if (w->inside[a] != w->inside[b])
        return w->inside[a] > w->inside[b];
    if (w->outside[a] != w->outside[b])
        return w->outside[a] < w->outside[b];
    return w->found[a] < w->found[b];
}

/* The free parts are a heap, the best one first. */
static void heap_put(struct work *w, int at, int part)
{
    w->heap[at] = part;
    w->place[part] = at;
}

static void heap_rise(struct work *w, int part)
{
    int at = w->place[part];
    for (int above; at > 0 && is_better(w, part, w->heap[above = (at - 1) / 2]); at = above)
        heap_put(w, at, w->heap[above]);
    heap_put(w, at, part);
}

static void heap_sink(struct work *w, int at, int n)
{
    int part = w->heap[at];
    for (int below; (below = 2 * at + 1) < n; at = below) {
        if (below + 1 < n && is_better(w, w->heap[below + 1], w->heap[below]))
            below++;
        if (!is_better(w, w->heap[below], part))
            break;
        heap_put(w, at, w->heap[below]);
    }
    heap_put(w, at, part);
}

static void heap_make(struct work *w, int from, int to)
{
    int n = to - from;
    for (int i = 0; i < n; i++) {
        heap_put(w, i, w->parts[from + i]);
        w->found[w->parts[from + i]] = i;
    }
    for (int at = n / 2; at-- > 0;)
        heap_sink(w, at, n);
}

/* The best of n. */
static int heap_take(struct work *w, int n)
{
    int part = w->heap[0];
    heap_put(w, 0, w->heap[n - 1]);
    if (n > 1)
        heap_sink(w, 0, n - 1);
    return part;
}

/* Move a part from what is free into the region; its free neighbours are the better for it. */
static void region_add(struct work *w, int part, int *nfound)
{
    w->state[part] = TAKEN;
    for (size_t i = w->first[part]; i < w->first[part + 1]; i++) {
        struct tie tie = w->ties[i];
        if (w->state[tie.other] != FREE)
            continue;
        if (w->inside[tie.other] == 0)
            w->found[tie.other] = (*nfound)++;
        w->inside[tie.other] += tie.weight;
        w->outside[tie.other] -= tie.weight;
        heap_rise(w, tie.other);
    }
}

/* Ties of the parts at hand among themselves; all of them are free. */
static void parts_free(struct work *w, int from, int to)
{
    for (int i = from; i < to; i++)
        w->state[w->parts[i]] = FREE;
    for (int i = from; i < to; i++) {
        int part = w->parts[i];
        w->inside[part] = w->outside[part] = 0;
        for (size_t t = w->first[part]; t < w->first[part + 1]; t++)
            if (w->state[w->ties[t].other] == FREE)
                w->outside[part] += w->ties[t].weight;
    }
}

/* Those of the region first, in the old order otherwise. */
static void parts_gather(struct work *w, int from, int to)
{
    int *at = w->heap, n = 0;
    for (int state = TAKEN; state >= FREE; state--)
        for (int i = from; i < to; i++)
            if (w->state[w->parts[i]] == state)
                at[n++] = w->parts[i];
    memcpy(w->parts + from, at, (size_t)n * sizeof(int));
    for (int i = from; i < to; i++)
        w->state[w->parts[i]] = ELSEWHERE;
}

static void graph_cut(struct work *w, int from, int middle, int to)
{
    int nfound = 0;
    parts_free(w, from, to);
    heap_make(w, from, to);
    for (int i = from; i < middle; i++)
        region_add(w, heap_take(w, to - i), &nfound);
    parts_gather(w, from, to);
}

/* ---- cutting grids: sort along the longest side ---- */

static int grid_coordinate(const struct pattern *p, int part, int dim)
{
    for (int i = p->ndims - 1; i > dim; i--)
        part /= p->dims[i];
    return part % p->dims[dim];
}

/* The lowest coordinate of the parts at hand, and how many there are from there on. */
static int grid_extent(const struct work *w, int from, int to, int dim, int *low)
{
    int high = *low = grid_coordinate(w->pattern, w->parts[from], dim);
    for (int i = from + 1; i < to; i++) {
        int at = grid_coordinate(w->pattern, w->parts[i], dim);
        *low = at < *low ? at : *low;
        high = at > high ? at : high;
    }
    return high - *low + 1;
}

static void grid_cut(struct work *w, int from, int to)
{
    int longest = 0, length = 0, low = 0;
    for (int dim = 0; dim < w->pattern->ndims; dim++) {
        int first, extent = grid_extent(w, from, to, dim, &first);
        if (extent > length) {
            longest = dim;
            length = extent;
            low = first;
        }
    }
    int *start = w->heap, *sorted = w->state; /* counting sort, stable */
    memset(start, 0, ((size_t)length + 1) * sizeof *start);
    for (int i = from; i < to; i++)
        start[grid_coordinate(w->pattern, w->parts[i], longest) - low + 1]++;
    for (int i = 0; i < length; i++)
        start[i + 1] += start[i];
    for (int i = from; i < to; i++)
        sorted[start[grid_coordinate(w->pattern, w->parts[i], longest) - low]++] = w->parts[i];
    memcpy(w->parts + from, sorted, (size_t)(to - from) * sizeof *sorted);
}

/* ---- cutting along the tree ---- */

static void cut(struct work *w, int from, int to, int level)
{
    if (level == LEVELS || to - from < 2)
        return;
    int middle = middle_end(w, from, to, level);
    if (middle == to) {
        cut(w, from, to, level + 1);
        return;
    }
    if (w->pattern->ndims > 0)
        grid_cut(w, from, to);
    else
        graph_cut(w, from, middle, to);
    cut(w, from, middle, level);
    cut(w, middle, to, level);
}

/* ---- exchanging ---- */

/* What the ties of a part cost when it sits at `seat`; `but` moves too and does not count. */
static int64_t part_cost(const struct work *w, int part, int slot, int but)
{
    int64_t cost = 0;
    for (size_t i = w->first[part]; i < w->first[part + 1]; i++)
        if (w->ties[i].other != but)
            cost += (int64_t)w->ties[i].weight *
                    seat_distance(&w->seats[slot], &w->seats[w->map[w->ties[i].other]]);
    return cost;
}

static bool exchange(struct work *w, int a, int b)
{
    int x = w->map[a], y = w->map[b];
    int64_t now = part_cost(w, a, x, b) + part_cost(w, b, y, a);
    if (part_cost(w, a, y, b) + part_cost(w, b, x, a) >= now)
        return false;
    w->map[a] = y;
    w->map[b] = x;
    return true;
}

/* So many rounds as may be: in one each part looks at all ties. */
static size_t exchange_rounds(const struct work *w)
{
    size_t looks = (size_t)w->n * w->first[w->n];
    if (w->n > EXCHANGE_PARTS || looks > EXCHANGE_LOOKS)
        return 0;
    return looks * EXCHANGE_ROUNDS > EXCHANGE_LOOKS ? EXCHANGE_LOOKS / looks : EXCHANGE_ROUNDS;
}

static void exchange_all(struct work *w)
{
    size_t rounds = exchange_rounds(w);
    bool moved = true;
    for (size_t round = 0; moved && round < rounds; round++) {
        moved = false;
        for (int a = 0; a < w->n; a++)
            for (int b = a + 1; b < w->n; b++)
                moved = exchange(w, a, b) || moved;
    }
}

/* ---- choosing ---- */

/* The parts as they are dealt to the slots, improved: let that be *map when it costs less. */
static void try(struct work *w, int64_t *cost, int *map)
{
    for (int i = 0; i < w->n; i++)
        w->map[w->parts[i]] = w->slots[i];
    exchange_all(w);
    int64_t here = reorder_cost(w->pattern, w->seats, w->map);
    if (here >= *cost)
        return;
    *cost = here;
    memcpy(map, w->map, (size_t)w->n * sizeof *map);
}

/* On seats that do not differ no order is better than another. */
static bool seats_differ(const struct work *w)
{
    for (int level = 0; level < LEVELS; level++)
        if (w->n > 0 && group_end(w, 0, w->n, level) < w->n)
            return true;
    return false;
}

bool reorder_map(const struct pattern *pattern, const struct seat *seats, int *map)
{
    struct work w;
    for (int i = 0; i < pattern->n; i++)
        map[i] = i;
    if (!work_open(&w, pattern, seats))
        return false;
    if (seats_differ(&w)) {
        int64_t cost = reorder_cost(pattern, seats, map);
        try(&w, &cost, map);
        slots_sort(&w, w.slots, w.n, w.heap);
        try(&w, &cost, map);
        cut(&w, 0, w.n, 0);
        try(&w, &cost, map);
    }
    free(w.memory);
    return true;
}
