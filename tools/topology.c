/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Networks, as routes over numbered links.  What joins a node to its switch is the node's
 * interface, which the simulator has already; links here are those beyond it.
 *
 *     ring          n to n + 1 and back; the shorter way
 *     torus:AxB..   a ring in each dimension, one dimension after the other, the last one first
 *     hypercube     lowest differing bit first
 *     fat-tree:k    three levels of switches with k ports, k*k*k/4 nodes; the way up is chosen by
 *                   the destination, so that its traffic comes down one way
 *     dragonfly:GxAxP    groups of A routers that all know each other, P nodes each; one link
 *                        between any two groups, held by the routers in turn; shortest way
 *     dragonfly+:GxLxSxP groups of L leaves and S spines; P nodes per leaf, links between groups
 *                        at the spines
 *
 * Half of a network of which one side, or the number of groups, is even has half of that; of a fat tree the
 * second half is empty, and a hypercube lacks the highest bit.
 *
 * A fabric looks the same one node, one row, one pod, one group further on, or from the other side
 * of every bit: that is what lets few ranks stand for many (sim.h).
 */
#include "tools/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- ring, torus: dim[] from the slowest on; link (node * ndims + d) * 2 + direction ---- */

static int torus_route(const void *self, int from, int to, int *link)
{
    const struct topology *t = self;
    int hops = 0, stride = 1;
    for (int d = t->ndims - 1; d >= 0; stride *= t->dim[d--]) {
        int n = t->dim[d], at = from / stride % n, away = mod(to / stride % n - at, n);
        int back = away > n - away, left = back ? n - away : away;
        for (; left > 0; left--) {
            link[hops++] = (from * t->ndims + d) * 2 + back;
            int next = mod(at + (back ? -1 : 1), n);
            from += (next - at) * stride;
            at = next;
        }
    }
    return hops;
}

static int torus_fold(const void *self, int link, bool flipped)
{
    const struct topology *t = self;
    (void)flipped;
    return link % (t->fabric.period * t->ndims * 2);
}

static void torus(struct topology *t)
{
    t->fabric.route = torus_route;
    t->fabric.fold = torus_fold;
    t->fabric.nlinks = t->fabric.nodes * t->ndims * 2;
    t->fabric.period = t->fabric.nodes / t->dim[0];
    for (int d = 0; d < t->ndims; d++)
        t->fabric.longest += t->dim[d] / 2;
}

/* ---- hypercube: link node * bits + bit ---- */

static int hypercube_route(const void *self, int from, int to, int *link)
{
    const struct topology *t = self;
    int hops = 0;
    for (int bit = 0; bit < t->dim[0]; bit++)
        if ((from ^ to) >> bit & 1) {
            link[hops++] = from * t->dim[0] + bit;
            from ^= 1 << bit;
        }
    return hops;
}

static int hypercube_fold(const void *self, int link, bool flipped)
{
    const struct topology *t = self;
    (void)flipped;
    return link % t->dim[0];
}

static void hypercube(struct topology *t)
{
    for (t->dim[0] = 0; 1 << t->dim[0] < t->fabric.nodes;)
        t->dim[0]++;
    t->fabric.route = hypercube_route;
    t->fabric.fold = hypercube_fold;
    t->fabric.nlinks = t->fabric.nodes * (t->dim[0] ? t->dim[0] : 1);
    t->fabric.longest = t->dim[0];
    t->fabric.flips = true;
}

/* ---- fat tree: four sets of k^3/4 links, edge up, middle up, middle down, edge down ---- */

static int tree_route(const void *self, int from, int to, int *link)
{
    const struct topology *t = self;
    int half = t->dim[0] / 2, pod = half * half, set = half * pod * 2;
    int middle = to % half, core = to / half % half;
    if (from / half == to / half)
        return 0;
    int hops = 0;
    link[hops++] = from / half * half + middle;
    if (from / pod != to / pod) {
        link[hops++] = set + (from / pod * half + middle) * half + core;
        link[hops++] = 2 * set + (to / pod * half + middle) * half + core;
    }
    link[hops++] = 3 * set + to / half * half + middle;
    return hops;
}

static int tree_fold(const void *self, int link, bool flipped)
{
    const struct topology *t = self;
    int half = t->dim[0] / 2, pod = half * half, set = half * pod * 2;
    return flipped ? link / set : link / set * set + link % set % pod;
}

static void fat_tree(struct topology *t)
{
    int half = t->dim[0] / 2, pod = half * half;
    t->fabric.route = tree_route;
    t->fabric.fold = tree_fold;
    t->fabric.nlinks = 4 * half * pod * 2;
    t->fabric.longest = 4;
    t->fabric.period = t->fabric.nodes % pod == 0 ? pod : 0;
    t->fabric.flips =
        (half & (half - 1)) == 0 && (t->fabric.nodes & (t->fabric.nodes - 1)) == 0;
}

/* ---- dragonfly: in a group link (g * A + i) * A + j, between groups (g, how far the other) ---- */

static int dragonfly_route(const void *self, int from, int to, int *link)
{
    const struct topology *t = self;
    int groups = t->dim[0], routers = t->dim[1], nodes = t->dim[2], hops = 0;
    int g = from / nodes / routers, h = to / nodes / routers;
    int i = from / nodes % routers, j = to / nodes % routers;
    if (g != h) {
        int out = mod(h - g - 1, groups), back = mod(g - h - 1, groups);
        if (i != out % routers)
            link[hops++] = (g * routers + i) * routers + out % routers;
        link[hops++] = groups * routers * routers + g * groups + out;
        i = back % routers;
    }
    if (i != j)
        link[hops++] = (h * routers + i) * routers + j;
    return hops;
}

static int dragonfly_fold(const void *self, int link, bool flipped)
{
    const struct topology *t = self;
    int inside = t->dim[1] * t->dim[1], first = t->dim[0] * inside;
    (void)flipped;
    return link < first ? link % inside : first + (link - first) % t->dim[0];
}

static void dragonfly(struct topology *t)
{
    int groups = t->dim[0], routers = t->dim[1];
    t->fabric.route = dragonfly_route;
    t->fabric.fold = dragonfly_fold;
    t->fabric.nlinks = groups * routers * routers + groups * groups;
    t->fabric.longest = 3;
    t->fabric.period = routers * t->dim[2];
}

/* ---- dragonfly+: up (g * L + leaf) * S + spine, down the same, then between groups ---- */

static int plus_route(const void *self, int from, int to, int *link)
{
    const struct topology *t = self;
    int groups = t->dim[0], leaves = t->dim[1], spines = t->dim[2], nodes = t->dim[3];
    int all = groups * leaves * spines, hops = 0;
    int leaf = from / nodes, other = to / nodes, g = leaf / leaves, h = other / leaves;
    if (leaf == other)
        return 0;
    int out = mod(h - g - 1, groups), back = mod(g - h - 1, groups);
    int up = g == h ? to % spines : out % spines, down = g == h ? up : back % spines;
    link[hops++] = leaf * spines + up;
    if (g != h)
        link[hops++] = 2 * all + g * groups + out;
    link[hops++] = all + other * spines + down;
    return hops;
}

static int plus_fold(const void *self, int link, bool flipped)
{
    const struct topology *t = self;
    int inside = t->dim[1] * t->dim[2], all = t->dim[0] * inside;
    (void)flipped;
    if (link < 2 * all)
        return link / all * all + link % all % inside;
    return 2 * all + (link - 2 * all) % t->dim[0];
}

static void dragonfly_plus(struct topology *t)
{
    int groups = t->dim[0], inside = t->dim[1] * t->dim[2], nodes = t->dim[3];
    t->fabric.route = plus_route;
    t->fabric.fold = plus_fold;
    t->fabric.nlinks = 2 * groups * inside + groups * groups;
    t->fabric.longest = 3;
    t->fabric.period = (t->dim[1] * nodes) % t->dim[2] == 0 ? t->dim[1] * nodes : 0;
}

/* ---- by name ---- */

static const struct kind {
    const char *name, *example;
    int least, most; /* numbers behind the colon */
    void (*open)(struct topology *t);
    int halved; /* of its numbers, the first so many may be halved; 0: fewer nodes are the same network */
} kinds[] = {
    { "wires", "wires", 0, 0, NULL, 0 },
    { "ring", "ring", 0, 0, torus, 1 },
    { "torus", "torus:4x4", 1, TOPOLOGY_DIMS, torus, TOPOLOGY_DIMS },
    { "hypercube", "hypercube", 0, 0, hypercube, 0 },
    { "fat-tree", "fat-tree:8", 1, 1, fat_tree, 0 },
    { "dragonfly", "dragonfly:9x4x2", 3, 3, dragonfly, 1 },
    { "dragonfly+", "dragonfly+:9x4x4x4", 4, 4, dragonfly_plus, 1 },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

enum { MOST_SIDE = 1 << 20, MOST_NODES = 1 << 24 };

/* False: `wrong` names a limit, or is empty, as the text is no such list. */
static bool read_dims(struct topology *t, const char *text, char wrong[TOPOLOGY_WRONG])
{
    long long all = 1;
    for (char *end; t->ndims < TOPOLOGY_DIMS; text = end + 1) {
        long n = strtol(text, &end, 10);
        if (end == text || n < 1)
            return false;
        if (n > MOST_SIDE || (all *= n) > MOST_NODES) {
            snprintf(wrong, TOPOLOGY_WRONG, "a network has %d nodes at most, and %d on a side",
                     MOST_NODES, MOST_SIDE);
            return false;
        }
        t->dim[t->ndims++] = (int)n;
        if (*end != 'x')
            return *end == '\0';
    }
    return false;
}

/* The numbers behind the colon, as many as networks of the kind have; `text` NULL: there is none. */
static bool numbers_read(struct topology *t, const struct kind *kind, const char *text,
                         char wrong[TOPOLOGY_WRONG])
{
    wrong[0] = '\0';
    bool read = !text || read_dims(t, text, wrong);
    if (read && t->ndims >= kind->least && t->ndims <= kind->most)
        return true;
    if (!wrong[0] && kind->most == TOPOLOGY_DIMS && t->ndims == TOPOLOGY_DIMS)
        snprintf(wrong, TOPOLOGY_WRONG, "a %s has %d dimensions at most", kind->name,
                 TOPOLOGY_DIMS);
    else if (!wrong[0])
        snprintf(wrong, TOPOLOGY_WRONG, "%s is written as in %s", kind->name, kind->example);
    return false;
}

/* How many nodes it has by its numbers; 0: as many as one likes; -1: such numbers cannot be. */
static long long size_of(const struct topology *t, const char *kind)
{
    long long all = 1, k = t->dim[0];
    for (int d = 0; d < t->ndims; d++)
        all *= t->dim[d];
    if (!strcmp(kind, "fat-tree"))
        return k % 2 || k > 256 ? -1 : k * k * k / 4;
    if (!strcmp(kind, "dragonfly+"))
        return all / t->dim[2];
    return t->ndims ? all : 0;
}

/* Links of those that have many more than nodes: routers of a group, and groups, all know each other. */
static long long links_of(const struct topology *t, const char *kind)
{
    long long groups = t->dim[0];
    if (!strcmp(kind, "dragonfly"))
        return groups * t->dim[1] * t->dim[1] + groups * groups;
    if (!strcmp(kind, "dragonfly+"))
        return 2 * groups * t->dim[1] * t->dim[2] + groups * groups;
    return 0;
}

static bool fits(const struct topology *t, const char *kind, char wrong[TOPOLOGY_WRONG])
{
    enum { MOST_LINKS = 1 << 28 };
    long long size = size_of(t, kind);
    bool tree = !strcmp(kind, "fat-tree"); /* may be filled in part */
    bool power = (t->fabric.nodes & (t->fabric.nodes - 1)) == 0;
    if (!strcmp(kind, "hypercube") && !power)
        snprintf(wrong, TOPOLOGY_WRONG, "a hypercube has a power of two nodes, not %d",
                 t->fabric.nodes);
    else if (size < 0)
        snprintf(wrong, TOPOLOGY_WRONG, "a fat tree has an even number of ports up to 256");
    else if (size > 0 && (tree ? t->fabric.nodes > size : t->fabric.nodes != size))
        snprintf(wrong, TOPOLOGY_WRONG, "this %s has %lld nodes, not %d; change --nodes", kind,
                 size, t->fabric.nodes);
    else if (links_of(t, kind) > MOST_LINKS)
        snprintf(
            wrong, TOPOLOGY_WRONG,
            "this %s has %lld links, more than %d; take fewer groups or fewer routers in each",
            kind, links_of(t, kind), MOST_LINKS);
    else
        return true;
    return false;
}

/* The longest side becomes half as long.  False: there is none that could. */
static bool halve(struct topology *t, const struct kind *kind)
{
    int longest = -1;
    if (t->fabric.nodes < 4 || (kind->halved && t->fabric.nodes % 2))
        return false;
    for (int d = 0; d < kind->halved && d < t->ndims; d++)
        if (t->dim[d] % 2 == 0 && (longest < 0 || t->dim[d] > t->dim[longest]))
            longest = d;
    if (kind->halved && longest < 0)
        return false;
    if (longest >= 0)
        t->dim[longest] /= 2;
    t->fabric.nodes /= 2;
    return true;
}

/* The network, and the smaller ones as far as there is memory for them. */
static void build(struct topology *t, const struct kind *kind)
{
    struct topology smaller = *t;
    t->fabric.self = t;
    kind->open(t);
    if (!halve(&smaller, kind) || !(t->half = malloc(sizeof *t->half)))
        return;
    *t->half = smaller;
    t->fabric.half = &t->half->fabric;
    build(t->half, kind);
}

void topology_close(struct topology *t)
{
    for (struct topology *half = t->half, *next; half; half = next) {
        next = half->half;
        free(half);
    }
    t->half = NULL;
}

bool topology_open(struct topology *t, const char *name, int nodes, char wrong[TOPOLOGY_WRONG])
{
    const char *colon = strchr(name, ':');
    size_t length = colon ? (size_t)(colon - name) : strlen(name);
    *t = (struct topology){ .fabric = { .nodes = nodes } };
    for (int i = 0; i < KINDS; i++) {
        if (strlen(kinds[i].name) != length || strncmp(kinds[i].name, name, length) != 0)
            continue;
        if (!numbers_read(t, &kinds[i], colon ? colon + 1 : NULL, wrong) ||
            !fits(t, kinds[i].name, wrong))
            return false;
        if (t->ndims == 0)
            t->dim[t->ndims++] = nodes; /* a ring is a torus of one dimension */
        if (kinds[i].open)
            build(t, &kinds[i]);
        return true;
    }
    snprintf(wrong, TOPOLOGY_WRONG,
             "there is wires, ring, torus:4x4, hypercube, fat-tree:8, dragonfly:9x4x2, "
             "dragonfly+:9x4x4x4");
    return false;
}
