/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reduce-scatter and allgather on a circulant graph (Traeff): any number of ranks, the fewest
 * rounds, ceil(log2 p), and the fewest bytes, n(p-1)/p.
 *
 * Count blocks from one's own: R[i] is block me + i, modulo p.  Each round halves what a rank
 * still cares for, rounding up: it gives the far part R[s .. had) to the rank s further on, to
 * whom these are R[0 ..), and folds the like from s back into its near part:
 *
 *     p = 5     had 5, s 3   give R[3] R[4]  fold into R[0] R[1]
 *               had 3, s 2   give R[2]       fold into R[0]
 *               had 2, s 1   give R[1]       fold into R[0]: block me, complete
 *
 * Factored: ranks that are dealt out to N nodes in turn first halve whole tours of the nodes, and
 * so stay on their node, then go from node to node with p / N-th parts of the data: the least that
 * can cross, 2n(N-1)/N per node for an allreduce, in one more round at most.  Any N is right.
 *
 * The allgather runs the same rounds backwards.  Contributions meet in ring order, so only for
 * operations that commute.  A range that passes block p - 1 goes as two messages.
 */
#include "coll/algorithms.h"

/* How far the next round goes: half, rounded up; as long as possible, whole tours of the nodes. */
static int nearer(int had, int nodes)
{
    if (nodes > 1 && had > nodes) {
        int tours = (had + nodes - 1) / nodes;
        return nodes * ((tours + 1) / 2);
    }
    return (had + 1) / 2;
}

void circulant_fold(struct plan *plan, int me, int p, enum room room, struct span last)
{
    enum room from = ROOM_IN;
    int nodes = plan->radix;
    if (p == 1)
        plan_copy(plan, last, in(0, 1));
    for (int had = p, s; had > 1; had = s) {
        s = nearer(had, nodes);
        for (int k = 0; k < 2; k++)
            plan_send(plan, mod(me + s, p), wrap(from, me + s, had - s, p).part[k]);
        for (int k = 0; k < 2; k++) {
            struct span with = wrap(from, me, had - s, p).part[k];
            struct span to = s == 1 ? last : blocks(room, with.first, with.n);
            to.n = with.n;
            plan_fold(plan, mod(me - s, p), to, with, INCOMING_LAST);
        }
        for (int i = had - s; from == ROOM_IN && i < s; i++) { /* these met nobody yet */
            int b = mod(me + i, p);
            plan_copy(plan, blocks(room, b, 1), in(b, 1));
        }
        from = room;
    }
}

void circulant_spread(struct plan *plan, int me, int p)
{
    int skip[32], n = 0;
    for (int had = p; had > 1; had = nearer(had, plan->radix))
        skip[n++] = had;
    for (int have = 1; n > 0; have = skip[n]) {
        int more = skip[--n] - have;
        for (int k = 0; k < 2; k++)
            plan_send(plan, mod(me - have, p), wrap(ROOM_OUT, me, more, p).part[k]);
        for (int k = 0; k < 2; k++)
            plan_recv(plan, mod(me + have, p), wrap(ROOM_OUT, me + have, more, p).part[k]);
    }
}
