/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What can be watched: counters of pml and runtime, queues of communicators, and, behind them, one
 * counter for each algorithm of coll, "xmpi_coll_allreduce_ring", that says how often it was
 * chosen, and one state for each collective, "xmpi_plan_allreduce", that says which algorithm
 * performed the last one of a communicator.  Names and descriptions of these are written when they
 * are first asked for.
 */
#include "src/tool_pvar.h"

#include "coll/choose.h"
#include "coll/coll.h"
#include "coll/rules.h"
#include "runtime/huge.h"

#include <assert.h>
#include <stdio.h>

static const struct pvar fixed[] = {
    { "xmpi_messages_sent", "Messages that this process has begun to send.",
      MPI_T_PVAR_CLASS_COUNTER, CATEGORY_MESSAGES, &pml_counters.sent, NULL, NULL, 0 },
    { "xmpi_messages_received", "Messages that receives of this process have matched.",
      MPI_T_PVAR_CLASS_COUNTER, CATEGORY_MESSAGES, &pml_counters.received, NULL, NULL, 0 },
    { "xmpi_bytes_sent", "Bytes of data in the messages sent.", MPI_T_PVAR_CLASS_AGGREGATE,
      CATEGORY_MESSAGES, &pml_counters.bytes_sent, NULL, NULL, 0 },
    { "xmpi_bytes_received", "Bytes of data in the messages received.",
      MPI_T_PVAR_CLASS_AGGREGATE, CATEGORY_MESSAGES, &pml_counters.bytes_received, NULL, NULL,
      0 },
    { "xmpi_messages_unexpected", "Messages that arrived before their receive was posted.",
      MPI_T_PVAR_CLASS_COUNTER, CATEGORY_MESSAGES, &pml_counters.unexpected, NULL, NULL, 0 },
    { "xmpi_bytes_unexpected", "Bytes that were kept for receives not yet posted.",
      MPI_T_PVAR_CLASS_AGGREGATE, CATEGORY_MESSAGES, &pml_counters.unexpected_bytes, NULL, NULL,
      0 },
    { "xmpi_bytes_read", "Bytes of messages that were read from the memory of their senders.",
      MPI_T_PVAR_CLASS_AGGREGATE, CATEGORY_MESSAGES, &pml_counters.bytes_read, NULL, NULL, 0 },
    { "xmpi_bytes_read_device",
      "Bytes of messages that were read from the devices of their senders.",
      MPI_T_PVAR_CLASS_AGGREGATE, CATEGORY_MESSAGES, &pml_counters.bytes_read_device, NULL,
      NULL, 0 },
    { "xmpi_bytes_written", "Bytes of messages written to the memory of their receivers.",
      MPI_T_PVAR_CLASS_AGGREGATE, CATEGORY_MESSAGES, &pml_counters.bytes_written, NULL, NULL,
      0 },
    { "xmpi_bytes_mapped",
      "Bytes read from, written to or folded in memory of other processes that is mapped here.",
      MPI_T_PVAR_CLASS_AGGREGATE, CATEGORY_MESSAGES, &pml_counters.bytes_mapped, NULL, NULL,
      0 },
    { "xmpi_blocks_moved",
      "Blocks of 2 MiB that other processes of the node copy and that were moved to large "
      "pages.",
      MPI_T_PVAR_CLASS_COUNTER, CATEGORY_MESSAGES, &huge_moved, NULL, NULL, 0 },
    { "xmpi_unexpected_queue", "Point-to-point messages that wait for a receive now.",
      MPI_T_PVAR_CLASS_LEVEL, CATEGORY_MESSAGES, NULL, channel_unexpected, NULL, 0 },
    { "xmpi_unexpected_queue_bytes",
      "Bytes of data in the messages that wait for a receive now.", MPI_T_PVAR_CLASS_LEVEL,
      CATEGORY_MESSAGES, NULL, channel_unexpected_bytes, NULL, 0 },
    { "xmpi_posted_queue", "Point-to-point receives that wait for a message now.",
      MPI_T_PVAR_CLASS_LEVEL, CATEGORY_MESSAGES, NULL, channel_posted, NULL, 0 },
    { "xmpi_time_idle",
      "Seconds in calls that wait, after the polls (XMPI_SPIN) and a few yields.",
      MPI_T_PVAR_CLASS_TIMER, CATEGORY_WAITING, &progress_idle_ns, NULL, NULL, 0 },
};

enum { FIXED = sizeof fixed / sizeof *fixed, NAME_CHARS = 64, TEXT_CHARS = 128 };

static struct pvar chosen[MOST_ALGORITHMS];
static int nchosen;

/* The table of coll, once; the caller holds the engine lock. */
static void chosen_fill(void)
{
    static char names[MOST_ALGORITHMS][NAME_CHARS], texts[MOST_ALGORITHMS][TEXT_CHARS];
    int n = algorithms_count();
    for (int i = 0; i < n; i++) {
        const struct algorithm *a = &algorithms[i];
        snprintf(names[i], NAME_CHARS, "xmpi_coll_%s%s_%s", collective_name(a->what),
                 a->inter ? "_inter" : "", a->name);
        snprintf(texts[i], TEXT_CHARS, "Calls of %s%s for which the algorithm %s was chosen.",
                 collective_name(a->what), a->inter ? " between groups" : "", a->name);
        chosen[i] = (struct pvar){ names[i],
                                   texts[i],
                                   MPI_T_PVAR_CLASS_COUNTER,
                                   CATEGORY_ALGORITHMS,
                                   &algorithms_chosen[i],
                                   NULL,
                                   NULL,
                                   0 };
    }
    nchosen = n;
}

/* ---- which algorithm a communicator used last ---- */

enum { MOST_STATES = 40 };
_Static_assert(MOST_STATES <= UINT8_MAX, "a state is kept in 8 bits");
static struct pvar plans[COLL_KINDS];
static struct tool_enum plan_enums[COLL_KINDS];
static const char *plan_items[COLL_KINDS][MOST_STATES];
static uint8_t
    plan_state[MOST_ALGORITHMS]; /* of each algorithm, in the enum of its collective */

static void plans_fill(void)
{
    static char names[COLL_KINDS][NAME_CHARS], texts[COLL_KINDS][TEXT_CHARS];
    for (int what = 0; what < COLL_KINDS; what++) {
        const char *name = collective_name((enum collective)what);
        snprintf(names[what], NAME_CHARS, "xmpi_plan_%s", name);
        snprintf(texts[what], TEXT_CHARS,
                 "The algorithm that performed the last %s of a communicator.", name);
        plan_items[what][0] = "none";
        plan_enums[what] = (struct tool_enum){ names[what], 1, plan_items[what] };
        plans[what] = (struct pvar){
            names[what], texts[what], MPI_T_PVAR_CLASS_STATE, CATEGORY_ALGORITHMS,
            NULL,        NULL,        &plan_enums[what],      (enum collective)what
        };
    }
    for (int i = 0; algorithms[i].name; i++) {
        struct tool_enum *e = &plan_enums[algorithms[i].what];
        assert(e->n < MOST_STATES - 1);
        plan_state[i] = (uint8_t)e->n;
        plan_items[algorithms[i].what][e->n++] = algorithms[i].name;
    }
    for (int what = 0; what < COLL_KINDS; what++)
        plan_items[what][plan_enums[what].n++] = "own";
}

int tool_plan_state(const struct pvar *pvar, const struct team *team)
{
    int chosen = team->chosen[pvar->what];
    if (chosen == TEAM_OWN)
        return pvar->plans->n - 1;
    return chosen ? plan_state[chosen - 1] : 0;
}

bool tool_pvar_has_enum(const struct tool_enum *wanted)
{
    for (int what = 0; what < COLL_KINDS; what++)
        if (wanted == &plan_enums[what])
            return plan_enums[what].n > 0;
    return false;
}

/* ---- all of them ---- */

int tool_pvars(void)
{
    if (!nchosen) {
        chosen_fill();
        plans_fill();
    }
    return FIXED + nchosen + COLL_KINDS;
}

const struct pvar *tool_pvar(int index)
{
    assert(index >= 0 && index < tool_pvars());
    if (index < FIXED)
        return &fixed[index];
    index -= FIXED;
    return index < nchosen ? &chosen[index] : &plans[index - nchosen];
}

int tool_pvar_of_algorithm(int i)
{
    return FIXED + i;
}

enum tool_category tool_pvar_category(int index)
{
    return tool_pvar(index)->category;
}
