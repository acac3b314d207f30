/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Network addresses of ranks.  Those that ranks of this host have published and other hosts do not
 * know yet (cards.c), and those that ranks of this host want (ask.c): a rank publishes when it is asked,
 * and not before.
 */
#ifndef XMPI_LAUNCHER_CARDS_H
#define XMPI_LAUNCHER_CARDS_H

#include "launcher/job.h"
#include "launcher/pack.h"

/* Pack those that are new, as FRAME_CARDS wants them; false: there are none. */
bool cards_collect(struct job *job, struct pack *pack);

/* Hand out what another host sends; false when it makes no sense. */
bool cards_hand_out(struct job *job, struct unpack *from);

/* Hear what launchers of other hosts ask, before the job runs. */
void ask_open(const struct job *job);

/* Do ranks here want cards that they have not wanted before?  Then ask for them. */
void ask_look(struct job *job);

#endif
