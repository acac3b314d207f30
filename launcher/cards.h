/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Network addresses that ranks of this host have published and other hosts do not know yet.
 */
#ifndef XMPI_LAUNCHER_CARDS_H
#define XMPI_LAUNCHER_CARDS_H

#include "launcher/job.h"
#include "launcher/pack.h"

/* Pack those that are new, as FRAME_CARDS wants them; false: there are none. */
bool cards_collect(struct job *job, struct pack *pack);

/* Hand out what another host sends; false when it makes no sense. */
bool cards_hand_out(struct job *job, struct unpack *from);

#endif
