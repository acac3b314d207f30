/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/policy.h"
#include "runtime/apart.h"
#include "runtime/param.h"
#include "runtime/partner.h"
#include "runtime/progress.h"

#include <string.h>

enum {
    CROWDED_MOST = 160, /* polls before the first yield, where ranks exceed CPUs */
    CROWDED_GAIN = 4,
    CROWDED_LOSS = 40,
    MOST_LOOKS = 100,
    FAST_YIELD_NS = 700, /* quicker on average: it does not switch to anybody */
    MOST_NAP_NS = 320000000,
    HURRIED_NAP_NS = 100000000,
};
static const uint64_t MICROSECOND = 1000, MILLISECOND = 1000000;

struct policy policy = {
    .spin = 2000, .looks = 1, .awake_ns = 1000000, .impatient_ns = 1000000, .nap_ns = 1000000
};

static struct {
    bool crowded;     /* more ranks than CPUs */
    bool barrier;     /* the kernel has what makes long sleeps safe, see doorbell.c */
    enum apart apart; /* yields do not reach the other ranks */
    bool silent;      /* something rings no bell */
} surroundings = { .barrier = true };

static uint64_t nap_most = MOST_NAP_NS;

/* ---- what waits ask ---- */

void policy_learn(bool missed)
{
    int spin = (int)policy.spin + (missed ? -CROWDED_LOSS : CROWDED_GAIN);
    policy.spin = spin < CROWDED_LEAST  ? CROWDED_LEAST
                  : spin > CROWDED_MOST ? CROWDED_MOST
                                        : (uint32_t)spin;
}

bool policy_is_long(uint64_t idle_ns, uint32_t yields)
{
    if (idle_ns >= policy.awake_ns)
        return true;
    return idle_ns >= policy.impatient_ns && idle_ns < yields * (uint64_t)FAST_YIELD_NS;
}

uint64_t policy_nap_ns(uint32_t naps)
{
    uint64_t ns = policy.nap_ns << policy.nap_growth * (int)naps;
    return ns < nap_most ? ns : nap_most;
}

void policy_ask_who_is_apart(void)
{
    if (surroundings.apart != APART_UNKNOWN || !surroundings.crowded || !surroundings.barrier)
        return;
    surroundings.apart = apart_find();
    if (surroundings.apart == APART_YES) {
        apart_fence(NULL);
        apart_pass_rings();
        partner_is_apart();
        progress_tune();
    }
}

bool policy_all_fence(void)
{
    return doorbells_fence && apart_all_fence();
}

/* ---- choosing ---- */

static void policy_choose(bool polite, bool barrier)
{
    long long spin = param_number(SPIN);
    policy.learns = polite;
    policy.spin = polite             ? CROWDED_LEAST
                  : spin < 0         ? 0
                  : spin > INT32_MAX ? INT32_MAX
                                     : (uint32_t)spin;
    policy.looks = polite ? 0 : policy.spin < MOST_LOOKS ? policy.spin : MOST_LOOKS;
    policy.awake_ns = polite ? 2 * MILLISECOND : MILLISECOND;
    policy.impatient_ns = polite ? 200 * MICROSECOND : MILLISECOND;
    policy.nap_ns = barrier ? 10 * MILLISECOND : MILLISECOND;
    policy.nap_growth = barrier ? 2 : 0;
    policy.apart = polite && surroundings.apart == APART_YES;
    if (policy.apart)
        policy.impatient_ns = 100 * MICROSECOND;
    if (surroundings.silent) {
        policy.nap_ns = (polite ? 200 : 50) * MICROSECOND;
        policy.nap_growth = 1;
    }
}

void progress_naps_short(bool yes)
{
    surroundings.silent = yes;
    progress_tune();
}

void progress_naps_hurry(bool yes)
{
    nap_most = yes ? HURRIED_NAP_NS : MOST_NAP_NS;
}

void progress_tune(void)
{
    const char *wish = param_string(POLITE) ? param_string(POLITE) : "auto";
    bool never = strcmp(wish, "never") == 0;
    bool always = strcmp(wish, "always") == 0;
    policy_choose(always || (surroundings.crowded && !never), surroundings.barrier);
    if (always) { /* who asks for it wants CPUs for others, not the last microsecond */
        policy.awake_ns = 200 * MICROSECOND;
        policy.impatient_ns = 20 * MICROSECOND;
        policy.nap_ns *= 1 + surroundings.silent; /* then a poll costs as much as a yield */
    }
    if (never) { /* after four billion polls, minutes later, it yields all the same */
        policy.spin = UINT32_MAX;
        policy.awake_ns = policy.impatient_ns = UINT64_MAX;
    }
}

void policy_open(bool crowded, bool barrier)
{
    surroundings.crowded = crowded;
    surroundings.barrier = barrier;
    surroundings.apart = APART_UNKNOWN;
    progress_tune();
}
