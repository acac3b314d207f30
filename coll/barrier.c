/* SPDX-License-Identifier: BSD-3-Clause
 *
 * barrier_dissemination - everybody's token reaches everybody.
 *
 * After round k a rank holds the tokens of the 2^k ranks up to itself, and passes all of them
 * on, 2^k to the right:
 *
 *      rank         0      1      2      3      4
 *      round 0      04     10     21     32     43
 *      round 1      0432   1043   2104   3210   4321
 *      round 2      all    all    all    all    all
 *
 * A token is a block without bytes: the messages are empty, yet hazards and the verifier see
 * what each of them says.  ceil(log2 p) rounds; with radix k, to k-1 others in each, log_k p.
 */
#include "coll/algorithms.h"

void barrier_dissemination(struct plan *plan, int me, int p)
{
    int k = plan_radix(plan);

    plan_rooms(plan, 0, 0, p); /* tmp[i] is the token of rank me - i; tmp[0] is there already */
    for (int have = 1; have < p; have *= k) {
        for (int far = have, j = 1; j < k && far < p; j++, far += have)
            plan_send(plan, mod(me + far, p), tmp(0, least(have, p - far)));
        for (int far = have, j = 1; j < k && far < p; j++, far += have)
            plan_recv(plan, mod(me - far, p), tmp(far, least(have, p - far)));
    }
}
