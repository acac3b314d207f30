/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What can be watched: counters of pml and runtime, queues of communicators, and, behind them, one
 * counter for each algorithm of coll, "xmpi_coll_allreduce_ring", that says how often it was
 * chosen.  Names and descriptions of the latter are written when they are first asked for.
 */
#include "src/tool_pvar.h"

#include "coll/choose.h"

#include <assert.h>
#include <stdio.h>

static const struct pvar fixed[] = {
    { "xmpi_messages_sent", "Messages that this process has begun to send.",
      MPI_T_PVAR_CLASS_COUNTER, CATEGORY_MESSAGES, &pml_counters.sent, NULL },
    { "xmpi_messages_received", "Messages that receives of this process have matched.",
      MPI_T_PVAR_CLASS_COUNTER, CATEGORY_MESSAGES, &pml_counters.received, NULL },
    { "xmpi_bytes_sent", "Bytes of data in the messages sent.", MPI_T_PVAR_CLASS_AGGREGATE,
      CATEGORY_MESSAGES, &pml_counters.bytes_sent, NULL },
    { "xmpi_bytes_received", "Bytes of data in the messages received.",
      MPI_T_PVAR_CLASS_AGGREGATE, CATEGORY_MESSAGES, &pml_counters.bytes_received, NULL },
    { "xmpi_messages_unexpected", "Messages that arrived before their receive was posted.",
      MPI_T_PVAR_CLASS_COUNTER, CATEGORY_MESSAGES, &pml_counters.unexpected, NULL },
    { "xmpi_bytes_unexpected", "Bytes that were kept for receives not yet posted.",
      MPI_T_PVAR_CLASS_AGGREGATE, CATEGORY_MESSAGES, &pml_counters.unexpected_bytes, NULL },
    { "xmpi_bytes_read", "Bytes of messages that were read from the memory of their senders.",
      MPI_T_PVAR_CLASS_AGGREGATE, CATEGORY_MESSAGES, &pml_counters.bytes_read, NULL },
    { "xmpi_bytes_written", "Bytes of messages written to the memory of their receivers.",
      MPI_T_PVAR_CLASS_AGGREGATE, CATEGORY_MESSAGES, &pml_counters.bytes_written, NULL },
    { "xmpi_unexpected_queue", "Point-to-point messages that wait for a receive now.",
      MPI_T_PVAR_CLASS_LEVEL, CATEGORY_MESSAGES, NULL, channel_unexpected },
    { "xmpi_unexpected_queue_bytes",
      "Bytes of data in the messages that wait for a receive now.", MPI_T_PVAR_CLASS_LEVEL,
      CATEGORY_MESSAGES, NULL, channel_unexpected_bytes },
    { "xmpi_posted_queue", "Point-to-point receives that wait for a message now.",
      MPI_T_PVAR_CLASS_LEVEL, CATEGORY_MESSAGES, NULL, channel_posted },
    { "xmpi_time_idle",
      "Seconds in calls that wait, not counting the polls at the beginning (XMPI_SPIN).",
      MPI_T_PVAR_CLASS_TIMER, CATEGORY_WAITING, &progress_idle_ns, NULL },
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
                                   NULL };
    }
    nchosen = n;
}

int tool_pvars(void)
{
    if (!nchosen)
        chosen_fill();
    return FIXED + nchosen;
}

const struct pvar *tool_pvar(int index)
{
    assert(index >= 0 && index < tool_pvars());
    return index < FIXED ? &fixed[index] : &chosen[index - FIXED];
}

int tool_pvar_of_algorithm(int i)
{
    return FIXED + i;
}

enum tool_category tool_pvar_category(int index)
{
    return tool_pvar(index)->category;
}
