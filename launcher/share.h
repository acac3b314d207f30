/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A job as a row of bytes, from which every host takes its share.
 */
#ifndef XMPI_LAUNCHER_SHARE_H
#define XMPI_LAUNCHER_SHARE_H

#include "launcher/job.h"
#include "launcher/pack.h"

/* Give the job its id and process sets, which are the same on all hosts. */
void share_begin(struct job *job, const struct plan *whole);

/* The node of each host that is not this machine, by its number (remote.h); -1: nobody runs there.
 * To be freed. */
int32_t *share_nodes(const struct plan *whole);

/* Pack the job, alike for all hosts: who runs where, and our command line, environment and directory.
 * A run of ranks costs 24 bytes: O(hosts) where ranks fill host after host or go round. */
void share_pack(const struct job *job, const struct plan *whole, const int32_t *node_of_other,
                struct pack *pack);

struct share_wish {
    const char *name;              /* of this host */
    int number;                    /* likewise */
    const int32_t **node_of_other; /* set */
    const struct options
        *own; /* the command line, environment and directory stay ours; or NULL */
};

/* Take our share out of it: the plan, and the job's id and process sets; `words` become the command
 * line, and the environment and directory of this process change.  Everything points into the bytes.
 * 0, or an exit status after a complaint. */
int share_take(struct unpack *from, const struct share_wish *wish, struct job *job,
               struct plan *plan, struct options *options);

#endif
