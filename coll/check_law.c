/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The standard's collectives in symbols: buffers, blocks and results.  Between groups each rank
 * hears from the other group; along edges, from its sources.
 *
 * The two groups of an intercommunicator may cut one vector differently; a block then has as
 * many units as both cuts need.
 */
#include "coll/check_law.h"

#include "coll/bind.h"

/* ---- symbols ---- */

static const uint64_t prime = (1ull << 61) - 1,
                      base = 0x1234567887654321ull % ((1ull << 61) - 1);

static uint64_t times(uint64_t a, uint64_t b)
{
    unsigned __int128 x = (unsigned __int128)a * b;
    uint64_t low = (uint64_t)x & prime, high = (uint64_t)(x >> 61), s = low + high;
    return s >= prime ? s - prime : s;
}

/* a op b and b op a have the same bits if op commutes, and if not, hash tells them apart. */
static uint64_t tree_of(uint64_t a, uint64_t b)
{
    uint64_t x = (a ^ b) * 0xff51afd7ed558ccdull + (a + b);
    x = (x ^ (x >> 32)) * 0xc4ceb9fe1a85ec53ull;
    return x ^ (x >> 29);
}

struct symbol symbol_join(struct symbol a, struct symbol b)
{
    if (a.weight == 0 || b.weight == 0)
        return (struct symbol){ 0, 0, 0, 0 };
    uint64_t hash = times(a.hash, b.weight) + b.hash;
    return (struct symbol){ hash >= prime ? hash - prime : hash, times(a.weight, b.weight),
                            a.sum + b.sum, tree_of(a.tree, b.tree) };
}

struct symbol symbol_atom(uint64_t salt, int rank, int unit)
{
    uint64_t x = salt * 0x9e3779b97f4a7c15ull + ((uint64_t)(unsigned)rank << 32) +
                 (uint64_t)(unsigned)unit + 1;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    x ^= x >> 31;
    return (struct symbol){ x % prime, base, x, x };
}

/* ---- the law ---- */

/* The ranks that rank r hears from: everybody, or the other group. */
struct range {
    int first, n;
};
static struct range sources(const struct world *w, int r)
{
    if (w->split == 0)
        return (struct range){ 0, w->p };
    return r < w->split ? (struct range){ w->split, w->p - w->split }
                        : (struct range){ 0, w->split };
}

static struct range own_group(const struct world *w, int r)
{
    if (w->split == 0)
        return (struct range){ 0, w->p };
    return r < w->split ? (struct range){ 0, w->split }
                        : (struct range){ w->split, w->p - w->split };
}

static bool bystander(const struct world *w, int r)
{
    return w->split && is_rooted(w->what) && r != w->root &&
           own_group(w, r).first == own_group(w, w->root).first;
}

bool law_in_place(const struct world *w, int r)
{
    return w->in_place && (!is_rooted(w->what) || r == w->root);
}

bool law_has_room(const struct world *w, int r, enum room room)
{
    bool root = r == w->root;
    if (room == ROOM_TMP)
        return true;
    if (bystander(w, r))
        return false;
    if (w->what == COLL_EXSCAN && r == 0 && room == ROOM_OUT && !law_in_place(w, r))
        return false; /* not significant */
    if (w->what == COLL_BARRIER || (w->what == COLL_BCAST && room == ROOM_IN))
        return false;
    bool root_only =
        (room == ROOM_IN && (w->what == COLL_SCATTER || w->what == COLL_SCATTERV)) ||
        (room == ROOM_OUT &&
         (w->what == COLL_GATHER || w->what == COLL_GATHERV || w->what == COLL_REDUCE));
    if (root_only && !root)
        return false;
    bool remote_root = w->split && root && is_rooted(w->what) && w->what != COLL_BCAST;
    if (remote_root &&
        !root_only) /* the root of an intercommunicator only gives or only takes */
        return false;
    enum alias alias = bind_alias(w->what, law_in_place(w, r));
    return !((room == ROOM_IN && (alias == ALIAS_SAME || alias == ALIAS_MINE)) ||
             (room == ROOM_OUT && alias == ALIAS_INPUT));
}

int law_blocks(const struct world *w, int r, enum room room)
{
    int each = w->pieces, all = sources(w, r).n * w->pieces;
    const struct neighbours *near = w->neighbours ? w->neighbours[r] : NULL;
    if (room == ROOM_TMP || w->what == COLL_BARRIER)
        return 0;
    switch (w->what) {
    case COLL_GATHER:
    case COLL_GATHERV:
    case COLL_ALLGATHER:
    case COLL_ALLGATHERV:
        return room == ROOM_IN ? each : all;
    case COLL_SCATTER:
    case COLL_SCATTERV:
        return room == ROOM_IN ? all : each;
    case COLL_ALLTOALL:
    case COLL_ALLTOALLV:
    case COLL_ALLTOALLW:
        return all;
    case COLL_NEIGHBOR_ALLGATHER:
    case COLL_NEIGHBOR_ALLGATHERV:
        return room == ROOM_IN ? each : near->nsources * each;
    case COLL_NEIGHBOR_ALLTOALL:
    case COLL_NEIGHBOR_ALLTOALLV:
    case COLL_NEIGHBOR_ALLTOALLW:
        return (room == ROOM_IN ? near->ndestinations : near->nsources) * each;
    case COLL_REDUCE_SCATTER:
    case COLL_REDUCE_SCATTER_BLOCK:
        return room == ROOM_IN && !w->split ? all : each;
    default:
        return 0;
    }
}

/* One vector, which all cut alike, or messages would be of other lengths at their ends. */
static const char *vector_complaint(const struct world *w, int r, const int *nblocks,
                                    const int *first)
{
    enum room room = w->what == COLL_BCAST ? ROOM_OUT : ROOM_IN;
    if (nblocks[room] < 1)
        return "cuts the vector in no block; one at least";
    if (nblocks[room] != first[room])
        return "cuts the vector in other blocks than rank 0";
    if (w->what == COLL_BCAST)
        return nblocks[ROOM_TMP] ? "has blocks of tmp, which a bcast has not" : NULL;
    if (law_has_room(w, r, ROOM_OUT) && nblocks[ROOM_OUT] != nblocks[ROOM_IN])
        return "cuts out in other blocks than in";
    return NULL;
}

const char *law_complaint(const struct world *w, int r, const int *nblocks, const int *first)
{
    if (w->split || w->what == COLL_BARRIER)
        return NULL;
    if (is_reduce_scatter(w->what))
        return nblocks[ROOM_TMP] > nblocks[ROOM_IN] ? "has more blocks of tmp than of in"
                                                    : NULL;
    bool is_vector = w->what == COLL_BCAST || is_reduction(w->what);
    return is_vector ? vector_complaint(w, r, nblocks, first) : NULL;
}

bool law_has_lengths(const struct world *w)
{
    return has_sized_scratch(w->what) || w->what == COLL_BCAST;
}

bool law_cuts_blocks(const struct world *w)
{
    return w->split && is_reduce_scatter(w->what);
}

int law_units(const struct world *w, int r, enum room room, int block)
{
    if (!law_cuts_blocks(w))
        return 1;
    int whole = w->split * (w->p - w->split), part = whole / own_group(w, r).n;
    return room == ROOM_OUT || (room == ROOM_TMP && block >= 2) ? part : whole;
}

/* The sum over some ranks in their order; each is made by adding to the one asked for last. */
static struct symbol summed(struct law *law, struct range who, int unit)
{
    struct sum_so_far *sum = &law->sum[unit];
    if (sum->n == 0 || sum->first != who.first || sum->n > who.n)
        *sum = (struct sum_so_far){ who.first, 1, symbol_atom(law->salt, who.first, unit) };
    for (; sum->n < who.n; sum->n++)
        sum->symbol =
            symbol_join(sum->symbol, symbol_atom(law->salt, who.first + sum->n, unit));
    return sum->symbol;
}

/* What comes along the edge that ends in unit u of rank r: the k-th edge from a rank is the
 * k-th that this rank has to here.  Nothing along an edge from nobody. */
static struct symbol along_edge(const struct law *law, int r, int u)
{
    const struct world *w = law->world;
    const struct neighbours *near = w->neighbours[r];
    int at = 0, k = 0, b = u / w->pieces;
    while (near->source[at].block != b)
        at++;
    int peer = near->source[at].peer;
    if (peer < 0)
        return (struct symbol){ 0, 0, 0, 0 };
    for (int i = 0; i < at; i++)
        k += near->source[i].peer == peer;
    const struct edge *e = w->neighbours[peer]->destination;
    while (e->peer != r || k-- > 0)
        e++;
    bool alike = w->what == COLL_NEIGHBOR_ALLGATHER || w->what == COLL_NEIGHBOR_ALLGATHERV;
    return symbol_atom(law->salt, peer, (alike ? 0 : e->block) * w->pieces + u % w->pieces);
}

bool law_expected(struct law *law, int r, int u, struct symbol *s)
{
    const struct world *w = law->world;
    struct range from = sources(w, r), own = own_group(w, r);
    int k = w->pieces, index = r - own.first;
    switch (w->what) {
    case COLL_BCAST:
        *s = symbol_atom(law->salt, w->root, u);
        return true;
    case COLL_GATHER:
    case COLL_GATHERV:
    case COLL_ALLGATHER:
    case COLL_ALLGATHERV:
        *s = symbol_atom(law->salt, from.first + u / k, u % k);
        return true;
    case COLL_SCATTER:
    case COLL_SCATTERV:
        *s = symbol_atom(law->salt, w->root, index * k + u);
        return true;
    case COLL_ALLTOALL:
    case COLL_ALLTOALLV:
    case COLL_ALLTOALLW:
        *s = symbol_atom(law->salt, from.first + u / k, index * k + u % k);
        return true;
    case COLL_NEIGHBOR_ALLGATHER:
    case COLL_NEIGHBOR_ALLGATHERV:
    case COLL_NEIGHBOR_ALLTOALL:
    case COLL_NEIGHBOR_ALLTOALLV:
    case COLL_NEIGHBOR_ALLTOALLW:
        *s = along_edge(law, r, u);
        return true;
    case COLL_REDUCE:
    case COLL_ALLREDUCE:
        *s = summed(law, from, u);
        return true;
    case COLL_REDUCE_SCATTER:
    case COLL_REDUCE_SCATTER_BLOCK:
        if (w->split)
            k = w->split * (w->p - w->split) / own.n;
        *s = summed(law, from, index * k + u);
        return true;
    case COLL_SCAN:
        *s = summed(law, (struct range){ 0, r + 1 }, u);
        return true;
    case COLL_EXSCAN:
        *s = summed(law, (struct range){ 0, r }, u);
        return r > 0;
    default:
        return false;
    }
}

bool law_same(const struct world *w, struct symbol got, struct symbol want)
{
    if (got.weight != want.weight || got.sum != want.sum)
        return false;
    return got.hash == want.hash || (is_reduction(w->what) && !w->ordered);
}
